//! The signal that tells engines when to stop.
//!
//! A command has one [`Halt`]. Once it says stop, the solver of the command refuses questions; earlier questions get no
//! more time than is left, and engines ask it between two pieces of work (a context of symbolic execution has the one
//! of its solver). Only the outermost crates read a clock, so they provide the [`Signal`].
//!
//! *Promises.* An engine that was stopped reports it: what was not looked at is *unknown*, with the reason.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crate::solver::UnknownReason;

/// A source of the decision to stop.
pub trait Signal: Send + Sync {
    /// Returns the reason to stop now, if there is one. Once there is one, there always is.
    fn halt_reason(&self) -> Option<Halted>;

    /// Returns the time that is left; `None` if there is no limit.
    fn time_left(&self) -> Option<Duration>;
}

/// The reason to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Halted {
    /// The time limit of the command was reached.
    Time,
    /// The user interrupted the command.
    Interrupted,
}

impl From<Halted> for UnknownReason {
    fn from(halted: Halted) -> Self {
        match halted {
            Halted::Time => Self::Limit,
            Halted::Interrupted => Self::Interrupted,
        }
    }
}

impl fmt::Display for Halted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Time => "the time limit was reached",
            Self::Interrupted => "interrupted",
        })
    }
}

/// A [`Signal`] that many share; by default one that never says stop.
#[derive(Clone, Default)]
pub struct Halt(pub Option<Arc<dyn Signal>>);

impl Halt {
    /// Makes a halt that stops when `signal` says so.
    pub fn new(signal: impl Signal + 'static) -> Self {
        Self(Some(Arc::new(signal)))
    }

    /// Returns a halt that stops as soon as either of the two does.
    #[must_use]
    pub fn either(&self, other: &Self) -> Self {
        // A side that never stops adds nothing, so it is left out.
        match (&self.0, &other.0) {
            (None, _) => other.clone(),
            (_, None) => self.clone(),
            (Some(_), Some(_)) => Self::new(EitherSignal(self.clone(), other.clone())),
        }
    }

    /// Returns the reason to stop now, if there is one.
    #[must_use]
    pub fn halt_reason(&self) -> Option<Halted> {
        self.0.as_ref().and_then(|signal| signal.halt_reason())
    }

    /// Returns the time that is left, if there is a limit.
    #[must_use]
    pub fn time_left(&self) -> Option<Duration> {
        self.0.as_ref().and_then(|signal| signal.time_left())
    }

    /// Returns the shorter of `time` and the time left.
    #[must_use]
    pub fn limit_time(&self, time: Duration) -> Duration {
        self.time_left().map_or(time, |left| left.min(time))
    }
}

/// A signal that stops as soon as either of two does.
struct EitherSignal(Halt, Halt);

impl Signal for EitherSignal {
    fn halt_reason(&self) -> Option<Halted> {
        self.0.halt_reason().or_else(|| self.1.halt_reason())
    }

    fn time_left(&self) -> Option<Duration> {
        match (self.0.time_left(), self.1.time_left()) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        }
    }
}

/// A [`Halt`] that can be replaced while others hold the cell.
#[derive(Clone, Debug, Default)]
pub(crate) struct HaltCell(pub Arc<Mutex<Halt>>);

impl HaltCell {
    /// Makes a cell that holds `halt`.
    pub fn new(halt: Halt) -> Self {
        Self(Arc::new(Mutex::new(halt)))
    }

    /// Returns the halt in force.
    pub(crate) fn get(&self) -> Halt {
        // A copy, so that the lock is not held while the signal is asked. A poisoned cell holds a whole halt
        // all the same, because it is only ever replaced.
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Puts `halt` in force and returns the one before.
    pub(crate) fn replace(&self, halt: Halt) -> Halt {
        std::mem::replace(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner), halt)
    }
}

impl Signal for HaltCell {
    fn halt_reason(&self) -> Option<Halted> {
        self.get().halt_reason()
    }

    fn time_left(&self) -> Option<Duration> {
        self.get().time_left()
    }
}

impl fmt::Debug for Halt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Halt({:?})", self.halt_reason())
    }
}

impl PartialEq for Halt {
    /// Returns whether both are the same signal.
    fn eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Some(one), Some(other)) => Arc::ptr_eq(one, other),
            (None, None) => true,
            _ => false,
        }
    }
}

impl Eq for Halt {}

/// A signal that stops after it was asked a number of times: a clock for tests.
#[derive(Debug)]
pub struct AfterAsks {
    left: std::sync::atomic::AtomicUsize,
}

impl AfterAsks {
    /// Makes a signal that lets `asks` questions pass.
    #[must_use]
    pub fn new(asks: usize) -> Self {
        Self { left: asks.into() }
    }
}

impl Signal for AfterAsks {
    fn halt_reason(&self) -> Option<Halted> {
        use std::sync::atomic::Ordering::Relaxed;
        // It stays at zero: a signal that has said stop once says so always.
        let before = self.left.fetch_update(Relaxed, Relaxed, |left| Some(left.saturating_sub(1)));
        (before == Ok(0)).then_some(Halted::Time)
    }

    fn time_left(&self) -> Option<Duration> {
        None
    }
}
