//! A program that needs a while before it listens, as interpreters do, and answers at once from then on.

use std::time::{Duration, Instant};

use super::{Agenda, BenchMessage, Health, SystemBehaviour};

/// The specification, which the correct system meets on every wire.
pub(super) const MODEL: &str = "
model SlowStart {
    input PING(n: 0..9)
    output PONG(n: int)
    var last: int = 0
    state idle { on PING { last = n } -> busy }
    state busy { emit PONG(n: last) -> idle }
}";
/// The planted fault, for the table.
pub(super) const FAULT: &str = "the first question is lost";

/// The time before the system listens; chosen by feel.
pub(super) const WARM_UP: Duration = Duration::from_millis(400);

pub(super) struct SlowStart {
    health: Health,
    taken: u32,
}

impl SlowStart {
    /// Makes a system that has received no question yet.
    pub(super) fn new(health: Health) -> Self {
        Self { health, taken: 0 }
    }
}

impl SystemBehaviour for SlowStart {
    fn take(&mut self, input: &BenchMessage, now: Instant) -> Agenda {
        self.taken += 1;
        match self.health {
            Health::Faulty if self.taken == 1 => Vec::new(),
            _ => vec![(now, BenchMessage::with("PONG", input.n.unwrap_or(0)))],
        }
    }
}
