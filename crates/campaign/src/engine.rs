//! Engines: whoever starts a worker for a batch and says how it ended.
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

/// What a worker is to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkOrder {
    /// The batch.
    pub id: u64,
    /// The directory of its part.
    pub part: PathBuf,
    /// The command after the name of the program, without its part.
    pub args: Vec<String>,
    /// Its environment, beside that of the engine.
    pub env: Vec<(String, String)>,
    /// Files that its arguments name, to be sent along where workers have no files in common with this machine.
    pub files: Vec<PathBuf>,
}

impl WorkOrder {
    /// The command with its part.
    #[must_use]
    pub fn with_part(&self) -> Vec<String> {
        let part = ["--part".to_owned(), self.part.display().to_string()];
        self.args.iter().cloned().chain(part).collect()
    }

    /// What the worker said beside its results.
    #[must_use]
    pub fn log(&self) -> PathBuf {
        self.part.with_extension("log")
    }
}

/// How a worker ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WorkerEnd {
    /// With this exit code.
    Exit(i32),
    /// It died, or its machine was lost.
    Died(String),
}

/// Why an engine cannot go on.
#[derive(Debug, Error)]
pub enum EngineError {
    /// A program cannot be started.
    #[error("cannot start `{program}`: {error}")]
    Start {
        /// The program.
        program: String,
        /// Why not.
        error: io::Error,
    },
    /// A file cannot be written.
    #[error("`{}`: {error}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why not.
        error: io::Error,
    },
    /// Something must be said first.
    #[error("{0}")]
    Unsaid(&'static str),
    /// The scheduler behind the engine says no.
    #[error("{0}")]
    Refused(String),
}

impl EngineError {
    fn file(path: &Path) -> impl Fn(io::Error) -> Self + '_ {
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

    /// The workers that have ended, after waiting for one for at most so long.
    ///
    /// # Errors
    /// If the engine is of no more use.
    fn poll(&mut self, wait: Duration) -> Result<Vec<(u64, WorkerEnd)>, EngineError>;

    /// Asks all workers to end soon, with what they have done written.
    fn stop(&mut self);

    /// Ends all workers at once.
    fn kill(&mut self);
}

/// Text in single quotes for a shell, unless it needs none.
#[must_use]
pub fn quoted(text: &str) -> String {
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
    let env = env.iter().map(|(name, value)| format!("{name}={}", quoted(value)));
    let words = std::iter::once(quoted(program)).chain(args.iter().map(|word| quoted(word)));
    env.chain(words).collect::<Vec<_>>().join(" ")
}

/// The last words of a log, in one line.
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
                .args(["-c", &format!("printf %s {}", quoted(text))])
                .output()
                .unwrap();
            assert_eq!(String::from_utf8_lossy(&told.stdout), text);
        }
    }
}
