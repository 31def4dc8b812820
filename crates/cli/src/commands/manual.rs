//! `ioxide completions` and `ioxide man`: made from the definitions of the commands, so they are never out of date.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use clap::Command;
use clap_mangen::Man;

use ioxide_campaign::whole_file::{FileReaders, write_whole};

use crate::args::{CompletionsArgs, ManPages, command_line};
use crate::exit::{CliError, ExitStatus};
use crate::write;

/// Writes the completions of a shell.
pub fn completions(args: &CompletionsArgs) -> Result<ExitStatus, CliError> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command_line(), "ioxide", &mut script);
    io::stdout().lock().write_all(&script)?;
    Ok(ExitStatus::Success)
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
