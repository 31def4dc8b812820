//! `ioxide completions` and `ioxide man`: made from the definitions of the commands, so they are never out of date.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use clap::Command;
use clap::builder::StyledStr;
use clap_complete::Shell;
use clap_mangen::Man;

use ioxide_args::{CompletionsArgs, ManPages, command_line};
use ioxide_campaign::whole_file::{FileReaders, write_whole};

use crate::exit::{CliError, ExitStatus};
use crate::write;

/// Writes the completions of a shell.
pub fn completions(args: &CompletionsArgs) -> Result<ExitStatus, CliError> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut shorten_helps(command_line()), "ioxide", &mut script);
    let script = complete_systems(args.shell, &String::from_utf8_lossy(&script));
    io::stdout().lock().write_all(script.as_bytes())?;
    Ok(ExitStatus::Success)
}

/// The greatest number of characters of a help in completions, which stands in one line beside the option. Chosen by
/// feel, for terminals of a usual width.
const MAX_HELP: usize = 70;

/// The shell command that prints the names of the systems in `ioxide.toml`.
const LIST_SYSTEMS: &str = r"sed -n 's/^\[sut\.\([A-Za-z0-9_-]*\)\].*/\1/p' ioxide.toml 2>/dev/null";

/// Leaves the first words in the help of every option and value.
fn shorten_helps(command: Command) -> Command {
    let shorten = |help: &StyledStr| first_words(&help.to_string());
    let command = command.mut_args(|arg| match arg.get_help().map(shorten) {
        Some(short) => arg.help(short),
        None => arg,
    });
    let command = match command.get_about().map(shorten) {
        Some(short) => command.about(short),
        None => command,
    };
    command.mut_subcommands(shorten_helps)
}

/// Returns the beginning of a help up to its first colon, semicolon or bracket, or as many words as fit.
fn first_words(help: &str) -> String {
    let line = help.lines().next().unwrap_or_default();
    let end = [": ", "; ", " [", " ("].iter().filter_map(|mark| line.find(mark)).min().unwrap_or(line.len());
    let mut short = String::new();
    for word in line[..end].split(' ') {
        if !short.is_empty() && short.chars().count() + word.chars().count() > MAX_HELP {
            return short + " ...";
        }
        short.push_str(if short.is_empty() { "" } else { " " });
        short.push_str(word);
    }
    short
}

/// Returns the script with the systems of `ioxide.toml` as values of `--sut`, in the shells that people use most.
fn complete_systems(shell: Shell, script: &str) -> String {
    match shell {
        Shell::Bash => {
            let files = "--sut)\n                    COMPREPLY=($(compgen -f \"${cur}\"))";
            let systems = format!(
                "--sut)\n                    COMPREPLY=($(compgen -W \"$({LIST_SYSTEMS})\" -- \"${{cur}}\"))"
            );
            script.replace(files, &systems)
        }
        Shell::Fish => {
            format!("{script}complete -c ioxide -l sut -x -a \"({})\"\n", LIST_SYSTEMS.replace('\\', "\\\\"))
        }
        Shell::Zsh => {
            let function = format!("_ioxide_systems() {{ compadd -- $({LIST_SYSTEMS}) }}\n\n");
            let start = script.find("_ioxide()").unwrap_or(script.len());
            format!(
                "{}{function}{}",
                &script[..start],
                script[start..].replace(":SUT:_default", ":SUT:_ioxide_systems")
            )
        }
        _ => script.to_owned(),
    }
}

/// Writes the page of the program, or with `--out` the pages of all commands.
pub fn man(args: &ManPages) -> Result<ExitStatus, CliError> {
    let mut program = command_line();
    program.build();
    let Some(folder) = &args.out else {
        io::stdout().lock().write_all(&page(program)?)?;
        return Ok(ExitStatus::Success);
    };
    let folder = Path::new(folder);
    fs::create_dir_all(folder).map_err(|error| write::write_error(folder, &error))?;
    let count = pages(folder, program)?;
    writeln!(io::stdout().lock(), "{count} pages in {}", folder.display())?;
    Ok(ExitStatus::Success)
}

/// The page of `command` and those of the commands below it; how many.
fn pages(folder: &Path, command: Command) -> Result<usize, CliError> {
    let inner: Vec<Command> =
        command.get_subcommands().filter(|inner| !inner.is_hide_set()).cloned().collect();
    let name = command.get_display_name().unwrap_or_else(|| command.get_name()).to_owned();
    let path = folder.join(format!("{name}.1"));
    let text = page(command)?;
    write_whole(&path, FileReaders::Usual, |out| out.write_all(&text))
        .map_err(|error| write::write_error(&path, &error))?;
    inner
        .into_iter()
        .filter(|inner| inner.get_name() != "help")
        .try_fold(1, |count, inner| Ok(count + pages(folder, inner)?))
}

/// Returns the manual page of a command.
fn page(command: Command) -> io::Result<Vec<u8>> {
    let mut page = Vec::new();
    Man::new(command).render(&mut page)?;
    Ok(page)
}
