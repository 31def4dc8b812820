//! Commands around the work: `doctor`, `watch`, `completions`, `man`, `schema`.

use clap::Args as ClapArgs;
use clap_complete::Shell;

/// Arguments of `doctor`.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:\n  ioxide doctor\n  ioxide doctor --json\n\n\
    Exit code 2 if something keeps ioxide from doing its work; what only some commands want is told and no more.")]
pub struct DoctorArgs {
    /// The folder that campaigns are to be recorded in.
    #[arg(long, default_value = "runs", value_name = "DIR")]
    pub report: String,
    /// Prints what was found as JSON.
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `watch`.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:\n  ioxide watch examples/adder.iox\n  \
    ioxide watch examples/adder.iox --sut model:examples/adder.iox -- --runs 5\n  \
    ioxide watch model.iox --sut 'stdio:python3 system.py' --also system.py\n\n\
    The files that a system uses and `ioxide.toml` are watched too. Ctrl-C ends it; the exit code is that of the last\n\
    round.")]
pub struct WatchArgs {
    /// The models.
    #[arg(required = true)]
    pub files: Vec<String>,
    /// Tests this system when the models are good, as `ioxide test --sut` does.
    #[arg(long, value_name = "SUT")]
    pub sut: Option<String>,
    /// A file or folder whose changes count too, such as the code of the system.
    #[arg(long, value_name = "PATH")]
    pub also: Vec<String>,
    /// Adds the lints that need the solver.
    #[arg(long)]
    pub deep: bool,
    /// Ends after so many rounds.
    #[arg(long, value_name = "N")]
    pub rounds: Option<u64>,
    /// Further arguments for `ioxide test`.
    #[arg(last = true, value_name = "TEST ARGUMENTS", requires = "sut")]
    pub more: Vec<String>,
}

/// Arguments of `completions`.
#[derive(Debug, ClapArgs)]
#[command(
    after_help = "Examples:\n  ioxide completions bash > ~/.local/share/bash-completion/completions/ioxide\n  \
    ioxide completions zsh > ~/.zfunc/_ioxide\n  \
    ioxide completions fish > ~/.config/fish/completions/ioxide.fish"
)]
pub struct CompletionsArgs {
    /// The shell.
    #[arg(value_enum)]
    pub shell: Shell,
}

/// Arguments of `man`.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:\n  ioxide man | man -l -\n  ioxide man --out ~/.local/share/man/man1")]
pub struct ManPages {
    /// Writes the pages of all commands into this folder.
    #[arg(long, value_name = "DIR")]
    pub out: Option<String>,
}

/// Arguments of `schema`.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:\n  ioxide schema\n  ioxide schema record > record.schema.json")]
pub struct SchemaArgs {
    /// The kind of file; lists all kinds if left out.
    pub name: Option<String>,
}
