//! The signal that ends work on a model at an instant.

use std::time::{Duration, Instant};

use ioxide_smt::halt::{Halt, Halted, Signal};

/// Says to stop from an instant on.
struct InstantSignal(Instant);

impl Signal for InstantSignal {
    fn halt_reason(&self) -> Option<Halted> {
        (Instant::now() >= self.0).then_some(Halted::Time)
    }

    fn time_left(&self) -> Option<Duration> {
        Some(self.0.saturating_duration_since(Instant::now()))
    }
}

/// Returns a signal that says to stop from `deadline` on.
pub(crate) fn halt_at(deadline: Instant) -> Halt {
    Halt::new(InstantSignal(deadline))
}
