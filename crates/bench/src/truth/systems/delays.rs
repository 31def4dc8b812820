//! A server whose answers take 0 to 300 ms: longer than most time-outs for quiescence.

use std::time::{Duration, Instant};

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use super::{Agenda, BenchMessage, Health, SystemBehaviour};

/// The specification, which the correct system meets on every wire.
pub(super) const MODEL: &str = "
model Delays {
    input ASK(n: 0..9)
    output ANSWER(n: int)
    var asked: int = 0
    state idle { on ASK { asked = n } -> busy }
    state busy { emit ANSWER(n: asked) -> idle }
}";
/// The planted fault, for the table.
pub(super) const FAULT: &str = "no answer to questions above 6";

/// The longest time of an answer, in milliseconds; chosen by feel.
const MAX_ANSWER_MS: u64 = 300;

pub(super) struct Delays {
    health: Health,
    choices: StdRng,
}

impl Delays {
    /// Makes a system whose delays are drawn with `seed`.
    pub(super) fn new(health: Health, seed: u64) -> Self {
        Self { health, choices: StdRng::seed_from_u64(seed) }
    }
}

impl SystemBehaviour for Delays {
    fn take(&mut self, input: &BenchMessage, now: Instant) -> Agenda {
        let n = input.n.unwrap_or(0);
        if self.health == Health::Faulty && n > 6 {
            return Vec::new();
        }
        let pause = Duration::from_millis(self.choices.random_range(0..=MAX_ANSWER_MS));
        vec![(now + pause, BenchMessage::with("ANSWER", n))]
    }
}
