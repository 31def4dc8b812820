//! Engines, which start a worker for each batch and report how it ended.
//!
//! A worker is the program itself, with the command of the campaign and the units of the batch; its results are a part.
//! An engine knows nothing of units: what is done is read from the part.

pub mod local;
pub mod print;
pub mod ray;
pub mod slurm;

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use thiserror::Error;

/// The order to a worker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkOrder {
    /// The number of the batch.
    pub id: u64,
    /// The directory of its part.
    pub part: PathBuf,
    /// The command line after the name of the program, without the option that names the part.
    pub args: Vec<String>,
    /// Environment variables that are set beside those of the engine.
    pub env: Vec<(String, String)>,
    /// Files that its arguments name, to be sent along where workers have no files in common with this machine.
    pub files: Vec<PathBuf>,
}

impl WorkOrder {
    /// Returns the arguments with the option that names the part.
    #[must_use]
    pub fn with_part(&self) -> Vec<String> {
        let part = ["--part".to_owned(), self.part.display().to_string()];
        self.args.iter().cloned().chain(part).collect()
    }

    /// Returns the path of the worker's log, which has its standard error.
    #[must_use]
    pub fn log(&self) -> PathBuf {
        self.part.with_extension("log")
    }
}

/// The end of a worker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WorkerEnd {
    /// The worker ended with this exit code.
    Exit(i32),
    /// The worker was killed or its machine was lost, with what is known about it.
    Died(String),
}

/// The reason why an engine cannot go on.
#[derive(Debug, Error)]
pub enum EngineError {
    /// A program cannot be started.
    #[error("cannot start `{program}`: {error}")]
    Start {
        /// The program.
        program: String,
        /// The error of the operating system.
        error: io::Error,
    },
    /// A file cannot be read or written.
    #[error("`{}`: {error}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        error: io::Error,
    },
    /// A setting is missing from the recipe.
    #[error("{0}")]
    Unsaid(&'static str),
    /// The scheduler behind the engine refused, or has ended.
    #[error("{0}")]
    Refused(String),
}

impl EngineError {
    /// Returns a function that makes an error about `path` of an I/O error.
    fn at_file(path: &Path) -> impl Fn(io::Error) -> Self + '_ {
        |error| Self::File { path: path.to_path_buf(), error }
    }
}

/// Carries batches to workers.
pub trait CampaignEngine {
    /// Starts a worker.
    ///
    /// # Errors
    /// If none can be started at all; a worker that dies at once is no error.
    fn submit(&mut self, order: WorkOrder) -> Result<(), EngineError>;

    /// Returns the workers that have ended, by batch, after waiting at most `wait` for one.
    ///
    /// # Errors
    /// If the engine cannot go on.
    fn poll(&mut self, wait: Duration) -> Result<Vec<(u64, WorkerEnd)>, EngineError>;

    /// Asks all workers to end soon, with what they have done written.
    fn stop(&mut self);

    /// Ends all workers at once.
    fn kill(&mut self);
}

/// Text in single quotes for a shell, unless it needs none.
#[must_use]
pub fn quote_for_shell(text: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./:=,@%+".contains(letter);
    if !text.is_empty() && text.chars().all(is_plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', "'\\''"))
    }
}

/// A command line for a shell.
#[must_use]
pub fn command_line(env: &[(String, String)], program: &str, args: &[String]) -> String {
    let env = env.iter().map(|(name, value)| format!("{name}={}", quote_for_shell(value)));
    let words =
        std::iter::once(quote_for_shell(program)).chain(args.iter().map(|word| quote_for_shell(word)));
    env.chain(words).collect::<Vec<_>>().join(" ")
}

/// Returns the last three non-empty lines of a log as one, cut to 400 characters; `None` if there are none.
#[must_use]
pub fn last_words(log: &Path) -> Option<String> {
    let text = String::from_utf8_lossy(&std::fs::read(log).ok()?).into_owned();
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let tail = lines[lines.len().saturating_sub(3)..].join("; ");
    (!tail.is_empty()).then(|| tail.chars().take(400).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_reads_back_what_is_quoted() {
        for text in ["plain", "", "it's", "$HOME `x` \"y\"", "a b\tc", "*", "-n\\"] {
            let told = std::process::Command::new("sh")
                .args(["-c", &format!("printf %s {}", quote_for_shell(text))])
                .output()
                .unwrap();
            assert_eq!(String::from_utf8_lossy(&told.stdout), text);
        }
    }
}
