//! Commands around the work: `doctor`, `watch`, `completions`, `man`, `schema`.

use clap::Args as ClapArgs;
use clap_complete::Shell;

/// Arguments of `doctor`.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:\n  ioxide doctor\n  ioxide doctor --json\n\n\
                        The exit code is 2 if ioxide cannot work. It is 0 if something is missing that only \
                        some commands need.")]
pub struct DoctorArgs {
    /// The folder for recorded campaigns, checked for write access.
    #[arg(long, default_value = "runs", value_name = "DIR")]
    pub report: String,
    /// Prints the findings as JSON instead of text.
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `watch`.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:\n  ioxide watch examples/adder.iox\n  \
    ioxide watch examples/adder.iox --sut model:examples/adder.iox -- --runs 5\n  \
    ioxide watch model.iox --sut 'stdio:python3 system.py' --also system.py\n\n\
    It also watches `ioxide.toml` and the files that a system uses. Ctrl-C ends it; the exit code is that of the last\n\
    round.")]
pub struct WatchArgs {
    /// The model files.
    #[arg(required = true)]
    pub files: Vec<String>,
    /// Tests this system if the models have no errors, as `ioxide test --sut` does.
    #[arg(long, value_name = "SUT")]
    pub sut: Option<String>,
    /// Another file or folder to watch, such as the code of the system; can be repeated.
    #[arg(long, value_name = "PATH")]
    pub also: Vec<String>,
    /// Checks models as `check --deep` does.
    #[arg(long)]
    pub deep: bool,
    /// Ends after this many rounds [default: never].
    #[arg(long, value_name = "N")]
    pub rounds: Option<u64>,
    /// More options for `ioxide test`, after `--`.
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
    /// Writes the manual pages of all commands to this folder.
    #[arg(long, value_name = "DIR")]
    pub out: Option<String>,
}

/// Arguments of `schema`.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:\n  ioxide schema\n  ioxide schema record > record.schema.json")]
pub struct SchemaArgs {
    /// The kind of file [default: lists all kinds].
    pub name: Option<String>,
}
