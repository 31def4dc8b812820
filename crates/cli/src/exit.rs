//! The end of the program: an exit code for scripts, and a last message for people.

use std::any::Any;
use std::io;
use std::process::ExitCode;

use ioxide_args::SuiteChoiceError;
use ioxide_project::ProjectError;

/// The documented exit codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExitStatus {
    /// Passed, goals met.
    Success = 0,
    /// A conformance failure was found.
    Failure = 1,
    /// The command line or the configuration is wrong.
    Usage = 2,
    /// The model does not compile.
    Model = 3,
    /// There is nothing to run.
    Nothing = 4,
    /// Goals not met, or only inconclusive runs.
    Inconclusive = 5,
    /// Trouble with the adapter or the system under test; safe to retry.
    Infrastructure = 6,
    /// A bug in ioxide.
    Internal = 70,
    /// Interrupted; what was done is written.
    Interrupted = 130,
}

impl ExitStatus {
    /// Returns the status of a campaign in a word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Success => "passed",
            Self::Failure => "failed",
            Self::Inconclusive => "inconclusive",
            Self::Interrupted => "interrupted",
            Self::Usage | Self::Model | Self::Nothing | Self::Infrastructure | Self::Internal => {
                "has an error"
            }
        }
    }
}

/// The error of a command that stopped early: a status, a message, and a help.
#[derive(Debug)]
pub struct CliError {
    status: ExitStatus,
    message: String,
    help: Option<String>,
}

impl CliError {
    /// Stops with `status` and says why.
    pub fn new(status: ExitStatus, message: impl Into<String>) -> Self {
        Self { status, message: message.into(), help: None }
    }

    /// The command line or the configuration is wrong.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(ExitStatus::Usage, message)
    }

    /// Adds a help: the next thing to do.
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Returns the message and the help in one line.
    pub fn to_line(&self) -> String {
        match &self.help {
            Some(help) => format!("{}; {help}", self.message),
            None => self.message.clone(),
        }
    }

    /// Returns the message without the help.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The exit status it leads to.
    pub fn status(&self) -> ExitStatus {
        self.status
    }

    /// Returns an end without a message, where everything was printed already.
    pub fn quiet(status: ExitStatus) -> Self {
        Self::new(status, "")
    }
}

impl From<ProjectError> for CliError {
    fn from(error: ProjectError) -> Self {
        Self { status: ExitStatus::Usage, message: error.to_string(), help: error.help().map(str::to_owned) }
    }
}

impl From<SuiteChoiceError> for CliError {
    fn from(error: SuiteChoiceError) -> Self {
        Self { status: ExitStatus::Usage, message: error.to_string(), help: error.help() }
    }
}

impl From<io::Error> for CliError {
    /// Turns a reader that went away (as `head` does) into a silent success, anything else into an error.
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::quiet(ExitStatus::Success),
            _ => Self::usage(format!("cannot write: {error}")),
        }
    }
}

/// Writes the error of a command that stopped early to stderr, and returns the exit code; a panic is a bug.
pub fn finish(outcome: Result<Result<ExitStatus, CliError>, Box<dyn Any + Send>>) -> ExitCode {
    let status = match outcome {
        Ok(Ok(status)) => status,
        Ok(Err(stop)) => {
            print_error(&stop);
            stop.status
        }
        Err(_) => {
            eprintln!("error: this is a bug in ioxide; please report it with the command and the files used");
            ExitStatus::Internal
        }
    };
    ExitCode::from(status as u8)
}

/// Warns that results could not be written, unless the reader went away.
pub fn unheard(error: &io::Error) {
    if error.kind() != io::ErrorKind::BrokenPipe {
        eprintln!("warning: not everything could be shown: {error}");
    }
}

/// Returns the status of a verdict that was to be shown: unchanged, unless it is a success that could not be written.
pub fn status_after_output(status: ExitStatus, told: io::Result<()>) -> Result<ExitStatus, CliError> {
    match told {
        Err(error) if status == ExitStatus::Success && error.kind() != io::ErrorKind::BrokenPipe => {
            Err(error.into())
        }
        Err(error) => {
            unheard(&error);
            Ok(status)
        }
        Ok(()) => Ok(status),
    }
}

/// Returns the status of a verdict with a file that was to be written: unchanged, unless it is a success without that
/// file.
pub fn status_after_save(status: ExitStatus, saved: Result<(), CliError>) -> Result<ExitStatus, CliError> {
    match saved {
        Err(stop) if status == ExitStatus::Success => Err(stop),
        Err(stop) => {
            eprintln!("warning: {}", stop.to_line());
            Ok(status)
        }
        Ok(()) => Ok(status),
    }
}

/// Writes the error of a part of a command to stderr, and returns its status.
pub fn report(stop: &CliError) -> ExitStatus {
    print_error(stop);
    stop.status
}

/// Ends the program before a command began.
pub fn end_with(stop: &CliError) -> ! {
    print_error(stop);
    std::process::exit(stop.status as i32)
}

/// Writes the message and the help of a command that stopped early to stderr.
pub fn print_error(stop: &CliError) {
    if !stop.message.is_empty() {
        eprintln!("error: {}", stop.message);
    }
    if let Some(help) = &stop.help {
        eprintln!("  help: {help}");
    }
}
