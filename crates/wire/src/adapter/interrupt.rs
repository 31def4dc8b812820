//! The interruption of waits by a flag.

use std::sync::atomic::{AtomicBool, Ordering};
#[cfg(feature = "external")]
use std::sync::mpsc::{Receiver, RecvTimeoutError};
#[cfg(feature = "external")]
use std::time::{Duration, Instant};

use super::AdapterError;

/// The longest wait between two looks at the flag. Chosen by feel: an interrupt is noticed this late at most.
#[cfg(feature = "external")]
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// A flag that ends every wait of an adapter with [`AdapterError::Interrupted`], soon after it is set.
#[derive(Clone, Copy, Debug, Default)]
pub struct Interrupt(Option<&'static AtomicBool>);

impl Interrupt {
    /// Returns an interrupt that is set by `flag`.
    #[must_use]
    pub const fn from_flag(flag: &'static AtomicBool) -> Self {
        Self(Some(flag))
    }

    /// Returns an interrupt that is never set.
    #[must_use]
    pub const fn never() -> Self {
        Self(None)
    }

    /// Returns whether the flag is set; false if there is none.
    #[must_use]
    pub fn is_set(self) -> bool {
        self.0.is_some_and(|flag| flag.load(Ordering::Relaxed))
    }

    /// Fails once the flag is set.
    ///
    /// # Errors
    /// [`AdapterError::Interrupted`].
    pub fn check(self) -> Result<(), AdapterError> {
        if self.is_set() { Err(AdapterError::Interrupted) } else { Ok(()) }
    }
}

#[cfg(feature = "external")]
impl Interrupt {
    /// Returns the time to wait before the flag is looked at again, at most until `deadline`.
    pub(super) fn next_wait(deadline: Instant) -> Duration {
        deadline.saturating_duration_since(Instant::now()).min(POLL_INTERVAL)
    }

    /// Returns the next item of another thread before `deadline`; `None` at the deadline or if that thread is gone.
    pub(super) fn receive<T>(self, from: &Receiver<T>, deadline: Instant) -> Result<Option<T>, AdapterError> {
        loop {
            match from.recv_timeout(Self::next_wait(deadline)) {
                Ok(item) => return Ok(Some(item)),
                Err(RecvTimeoutError::Disconnected) => return Ok(None),
                Err(RecvTimeoutError::Timeout) if Instant::now() >= deadline => return Ok(None),
                Err(RecvTimeoutError::Timeout) => self.check()?,
            }
        }
    }
}
