//! Files that a command writes for its user: without secrets, and with an error that says what to do.

use std::fs::{File, TryLockError};
use std::io::{self, BufWriter, Write};
use std::path::Path;

use ioxide_campaign::whole_file::{FileReaders, write_whole};

use crate::exit::CliError;
use crate::redaction::RedactedWriter;

/// Writes what `fill` writes, without secrets, to a file, and says so on stderr, or (`-`) to stdout.
pub fn write_named(file: &str, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), CliError> {
    if file == "-" {
        let mut out = RedactedWriter::new(BufWriter::new(io::stdout().lock()));
        return Ok(fill(&mut out).and_then(|()| out.flush())?);
    }
    let redacted = |out: &mut dyn Write| {
        let mut out = RedactedWriter::new(out);
        fill(&mut out).and_then(|()| out.flush())
    };
    write_whole(Path::new(file), FileReaders::Usual, redacted).map_err(|error| write_error(file, &error))?;
    eprintln!("wrote {file}");
    Ok(())
}

/// Keeps other processes from writing to `file`, which is called `name`, until it is closed.
///
/// On a file system without locks there is none to take.
pub fn lock_for_writing(file: &File, name: &str) -> Result<(), CliError> {
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => Err(lock_error(Path::new(name))),
        Err(TryLockError::Error(_)) | Ok(()) => Ok(()),
    }
}

/// Returns the error of a file that another process writes to.
pub fn lock_error(path: &Path) -> CliError {
    CliError::usage(format!("another ioxide is writing to `{}`", path.display()))
        .help("wait until it has ended, or use another name")
}

/// Returns the error of a file that cannot be written, with a help.
pub fn write_error(path: impl AsRef<Path>, error: &io::Error) -> CliError {
    CliError::usage(format!("cannot write `{}`: {error}", path.as_ref().display()))
        .help("check that the folder exists, can be written to, and has free space")
}
