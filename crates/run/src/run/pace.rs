//! The time of a run: none, that of this machine, or that of the system.
//!
//! *Promises.* Instants never go back. On the clock of this machine a message has the instant at which its
//! bytes arrived, not the one at which somebody looked; in virtual time the one the system gives it.

use std::time::{Duration, Instant};

use ioxide_wire::adapter::{Adapter, AdapterError, ArrivedOutput, Observation, VirtualDelay};

/// The longest sleep between two looks at the system and at requests to end. Chosen by feel: below what a user notices.
const MAX_NAP: Duration = Duration::from_millis(20);

/// The time of a run.
#[derive(Debug)]
pub(super) enum RunPace {
    /// The model has no clocks.
    Untimed,
    /// The clock of this machine.
    Wall(WallClock),
    /// The virtual time of the system, which passes on request.
    Virtual(Duration),
}

/// The clock of this machine.
#[derive(Debug)]
pub(super) struct WallClock {
    /// The instant at which the run began.
    start: Instant,
}

impl WallClock {
    /// Returns the time from `before` to the beginning of the run; zero if `before` is later.
    pub(super) fn time_since(&self, before: Instant) -> Duration {
        self.start.saturating_duration_since(before)
    }
}

impl RunPace {
    /// The time of a run on a system that has just been reset.
    pub(super) fn start(is_timed: bool, adapter: &dyn Adapter) -> Self {
        match (is_timed, adapter.has_virtual_time()) {
            (false, _) => Self::Untimed,
            (true, false) => Self::Wall(WallClock { start: Instant::now() }),
            (true, true) => Self::Virtual(Duration::ZERO),
        }
    }

    /// Returns the time since the reset; zero in a model without clocks.
    pub(super) fn now(&self) -> Duration {
        match self {
            Self::Untimed => Duration::ZERO,
            Self::Wall(wall) => wall.start.elapsed(),
            Self::Virtual(now) => *now,
        }
    }

    /// Returns the instant at which bytes arrived, as the time since the reset; now if `arrived` is `None` or time is
    /// not that of this machine.
    pub(super) fn time_at(&self, arrived: Option<Instant>) -> Duration {
        match (self, arrived) {
            (Self::Wall(wall), Some(arrived)) => arrived.saturating_duration_since(wall.start),
            _ => self.now(),
        }
    }

    /// Lets time pass up to `until`, or to the next message.
    pub(super) fn pass_until(
        &mut self,
        adapter: &mut dyn Adapter,
        until: Duration,
    ) -> Result<VirtualDelay, AdapterError> {
        if let Self::Virtual(now) = self {
            let passed = adapter.advance(until)?;
            *now = passed.now;
            return Ok(passed);
        }
        if let Some(message) = adapter.poll()? {
            return Ok(self.delay_until(message));
        }
        let left = until.saturating_sub(self.now());
        if left.is_zero() {
            return Ok(VirtualDelay { now: self.now(), message: None });
        }
        match adapter.observe(left)? {
            Observation::Output(message) => Ok(self.delay_until(message)),
            Observation::Quiet => {
                // An adapter that knows that nothing comes does not wait, and the time must pass all the same.
                if adapter.knows_silence() {
                    std::thread::sleep(until.saturating_sub(self.now()).min(MAX_NAP));
                }
                Ok(VirtualDelay { now: self.now(), message: None })
            }
        }
    }

    fn delay_until(&self, message: ArrivedOutput) -> VirtualDelay {
        VirtualDelay { now: self.time_at(message.at), message: Some(message) }
    }
}
