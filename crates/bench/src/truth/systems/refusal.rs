//! A server whose state outlives its connections, and whose reset is refused now and then.

use std::time::Instant;

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use super::{Agenda, BenchMessage, Health, SystemBehaviour};

/// The specification, which the correct system meets on every wire.
pub(super) const MODEL: &str = "
model Refusal {
    input ADD(n: 1..9)
    output SUM(n: int)
    var sum: int = 0
    state idle { on ADD { sum = sum + n } -> busy }
    state busy { emit SUM(n: sum) -> idle }
}";
/// The planted fault, for the table.
pub(super) const FAULT: &str = "the third number is added twice";

/// The message that resets the system.
pub(super) const RESET: &str = "RESET";
/// The answer to a reset that was done.
pub(super) const DONE: &str = "DONE";
/// The answer to a reset that was refused and is to be repeated.
const BUSY: &str = "BUSY";
/// The number of times in a row that a reset is refused at most; chosen by feel.
const MAX_REFUSALS: u32 = 3;

pub(super) struct Refusal {
    health: Health,
    choices: StdRng,
    refusals: u32,
    sum: i64,
    taken: u32,
}

impl Refusal {
    /// Makes a system with the sum 0; its choices are drawn with `seed`.
    pub(super) fn new(health: Health, seed: u64) -> Self {
        Self { health, choices: StdRng::seed_from_u64(seed), refusals: 0, sum: 0, taken: 0 }
    }

    /// Refuses a reset as busy at random, a few times at most.
    fn reset(&mut self) -> BenchMessage {
        if self.refusals < MAX_REFUSALS && self.choices.random_bool(0.5) {
            self.refusals += 1;
            return BenchMessage::plain(BUSY);
        }
        (self.refusals, self.sum, self.taken) = (0, 0, 0);
        BenchMessage::plain(DONE)
    }
}

impl SystemBehaviour for Refusal {
    fn take(&mut self, input: &BenchMessage, now: Instant) -> Agenda {
        if input.name == RESET {
            return vec![(now, self.reset())];
        }
        self.taken += 1;
        let times = if self.health == Health::Faulty && self.taken == 3 { 2 } else { 1 };
        self.sum += input.n.unwrap_or(0) * times;
        vec![(now, BenchMessage::with("SUM", self.sum))]
    }
}
