//! Two desks, each on a connection of its own, that draw tickets from one roll, whose numbers show which answer was
//! first.

use std::time::{Duration, Instant};

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use super::{Agenda, BenchMessage, Health, SystemBehaviour};

/// The specification, which the correct system meets on every wire.
pub(super) const MODEL: &str = "
model Desks {
    input LEFT
    input RIGHT
    output LEFT_TICKET(n: int)
    output RIGHT_TICKET(n: int)
    var last: int = 0
    state idle { on LEFT -> left  on RIGHT -> right }
    state left { on RIGHT -> both  emit LEFT_TICKET(n: last + 1) { last = last + 1 } -> idle }
    state right { on LEFT -> both  emit RIGHT_TICKET(n: last + 1) { last = last + 1 } -> idle }
    state both {
        emit LEFT_TICKET(n: last + 1) { last = last + 1 } -> right
        emit RIGHT_TICKET(n: last + 1) { last = last + 1 } -> left
    }
}";
/// The planted fault, for the table.
pub(super) const FAULT: &str = "a ticket drawn at once after one of the other desk has its number";

/// The longest time of work, in milliseconds; chosen by feel, so that the work of two desks overlaps.
const MAX_WORK_MS: u64 = 30;
/// The time within which tickets count as drawn at once; chosen by feel, the fault then shows in some runs and not in
/// all.
const DRAWN_TOGETHER: Duration = Duration::from_millis(20);

pub(super) struct Desks {
    health: Health,
    choices: StdRng,
    open: Vec<(Instant, &'static str)>,
    /// The last ticket: its number, its desk, and the instant at which it was drawn.
    last: (i64, &'static str, Option<Instant>),
}

impl Desks {
    /// Makes a system without open questions; its choices are drawn with `seed`.
    pub(super) fn new(health: Health, seed: u64) -> Self {
        let choices = StdRng::seed_from_u64(seed);
        Self { health, choices, open: Vec::new(), last: (0, "", None) }
    }
}

impl SystemBehaviour for Desks {
    fn take(&mut self, input: &BenchMessage, now: Instant) -> Agenda {
        let desk = if input.name == "LEFT" { "LEFT_TICKET" } else { "RIGHT_TICKET" };
        let due = now + Duration::from_millis(self.choices.random_range(0..=MAX_WORK_MS));
        self.open.push((due, desk));
        self.open.sort();
        Vec::new()
    }

    fn next_word(&self) -> Option<Instant> {
        self.open.first().map(|(due, _)| *due)
    }

    fn word(&mut self, now: Instant) -> Option<BenchMessage> {
        let (_, desk) = (!self.open.is_empty()).then(|| self.open.remove(0))?;
        let (number, before, drawn) = self.last;
        let is_at_once =
            before != desk && drawn.is_some_and(|drawn| now.duration_since(drawn) < DRAWN_TOGETHER);
        let is_twice = self.health == Health::Faulty && is_at_once;
        let number = if is_twice { number } else { number + 1 };
        self.last = (number, desk, Some(now));
        Some(BenchMessage::with(desk, number))
    }
}
