//! A server that works on two questions at a time and answers the one that is ready first.

use std::time::{Duration, Instant};

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use super::{Agenda, BenchMessage, Health, SystemBehaviour};

/// The specification, which the correct system meets on every wire.
pub(super) const MODEL: &str = "
model Disorder {
    input ASK(n: 0..9)
    output ANSWER(n: int)
    var first: int = 0
    var second: int = 0
    state idle { on ASK { first = n } -> one }
    state one { on ASK { second = n } -> two  emit ANSWER(n: first) -> idle }
    state two { emit ANSWER(n: first) { first = second } -> one  emit ANSWER(n: second) -> one }
}";
/// The planted fault, for the table.
pub(super) const FAULT: &str = "the second of two open questions gets the answer of the first";

/// The longest time of work, in milliseconds; chosen by feel, so that answers overtake each other.
const MAX_WORK_MS: u64 = 60;

pub(super) struct Disorder {
    health: Health,
    choices: StdRng,
    /// The last question, and the instant of its answer.
    last: Option<(Instant, i64)>,
}

impl Disorder {
    /// Makes a system whose choices, and so the order of its answers, are drawn with `seed`.
    pub(super) fn new(health: Health, seed: u64) -> Self {
        Self { health, choices: StdRng::seed_from_u64(seed), last: None }
    }
}

impl SystemBehaviour for Disorder {
    fn take(&mut self, input: &BenchMessage, now: Instant) -> Agenda {
        let asked = input.n.unwrap_or(0);
        let due = now + Duration::from_millis(self.choices.random_range(0..=MAX_WORK_MS));
        let open = self.last.filter(|(due, _)| *due > now).map(|(_, n)| n);
        self.last = Some((due, asked));
        let answer = match (self.health, open) {
            (Health::Faulty, Some(other)) => other,
            _ => asked,
        };
        vec![(due, BenchMessage::with("ANSWER", answer))]
    }
}
