//! The standard error of a process as a stream of messages, beside its standard output.
//!
//! Two connections share one process: the one that starts it publishes its error stream, the other one reads it.

use std::fmt;
use std::io::{self, Read};
use std::process::ChildStderr;
use std::sync::{Arc, Mutex, PoisonError};

use super::process::ErrorTail;
use super::source::PipeSource;

/// The place where a process leaves its error stream for another connection.
#[derive(Clone, Default)]
pub struct ErrorStreamHub(Arc<Mutex<Option<PipeSource>>>);

impl fmt::Debug for ErrorStreamHub {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ErrorStreamHub").finish_non_exhaustive()
    }
}

impl ErrorStreamHub {
    /// Leaves the error stream of a process that was started; its end is still kept in `tail`.
    pub(super) fn publish(&self, stderr: ChildStderr, tail: ErrorTail) {
        let source = PipeSource::new(KeptStream { stderr, tail });
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(source);
    }

    /// Takes the error stream of the process that was started last; `None` if it was taken.
    pub(super) fn take(&self) -> Option<PipeSource> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// An error stream whose end is kept while it is read.
struct KeptStream {
    stderr: ChildStderr,
    tail: ErrorTail,
}

impl Read for KeptStream {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        let n = self.stderr.read(room)?;
        self.tail.push(&room[..n]);
        Ok(n)
    }
}
