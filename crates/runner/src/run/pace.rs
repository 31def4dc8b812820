//! Which time a run has: none, that of this machine, or that of the system.
//!
//! *Promises.* Instants never go back. On the clock of this machine a message has the instant at which its
//! bytes arrived, not the one at which somebody looked; in virtual time the one the system gives it.

use std::time::{Duration, Instant};

use ioxide_model::label::Label;

use crate::adapter::{Adapter, AdapterError, Observation, Passed};

/// The time of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pace {
    /// The model has no clocks.
    Untimed,
    /// The clock of this machine, from this instant.
    Wall(Instant),
    /// The time of the system, which passes when it is told to.
    Virtual(Duration),
}

impl Pace {
    /// The time of a run on a system that has just been reset.
    pub(super) fn start(is_timed: bool, adapter: &dyn Adapter) -> Self {
        match (is_timed, adapter.has_virtual_time()) {
            (false, _) => Self::Untimed,
            (true, false) => Self::Wall(Instant::now()),
            (true, true) => Self::Virtual(Duration::ZERO),
        }
    }

    /// How late it is, since the reset.
    pub(super) fn now(self) -> Duration {
        match self {
            Self::Untimed => Duration::ZERO,
            Self::Wall(start) => start.elapsed(),
            Self::Virtual(now) => now,
        }
    }

    /// The instant at which bytes arrived.
    pub(super) fn at(self, arrived: Option<Instant>) -> Duration {
        match (self, arrived) {
            (Self::Wall(start), Some(arrived)) => arrived.saturating_duration_since(start),
            _ => self.now(),
        }
    }

    /// Lets time pass up to `until`, or to the next message.
    pub(super) fn pass(
        &mut self,
        adapter: &mut dyn Adapter,
        until: Duration,
    ) -> Result<Passed, AdapterError> {
        if let Self::Virtual(now) = self {
            let passed = adapter.advance(until)?;
            *now = passed.now;
            return Ok(passed);
        }
        if let Some(message) = adapter.poll()? {
            return Ok(self.seen(adapter, message));
        }
        let left = until.saturating_sub(self.now());
        if left.is_zero() {
            return Ok(Passed { now: self.now(), message: None });
        }
        match adapter.observe(left)? {
            Observation::Output(message) => Ok(self.seen(adapter, message)),
            Observation::Quiet => Ok(Passed { now: self.now(), message: None }),
        }
    }

    fn seen(self, adapter: &dyn Adapter, message: Label) -> Passed {
        Passed { now: self.at(adapter.arrived()), message: Some(message) }
    }
}
