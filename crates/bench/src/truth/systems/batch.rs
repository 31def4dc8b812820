//! A server that collects its answers for a moment and sends them in one write.

use std::time::{Duration, Instant};

use super::{Agenda, BenchMessage, Health, SystemBehaviour};

/// The specification, which the correct system meets on every wire.
pub(super) const MODEL: &str = "
model Batch {
    input PUT(n: 0..9)
    output DONE(n: int)
    var first: int = 0
    var second: int = 0
    state idle { on PUT { first = n } -> one }
    state one { on PUT { second = n } -> two  emit DONE(n: first) -> idle }
    state two { emit DONE(n: first) { first = second } -> one }
}";
/// The planted fault, for the table.
pub(super) const FAULT: &str = "two different answers in one write are in the wrong order";

/// The time for which answers are collected; chosen by feel.
const BATCH_TIME: Duration = Duration::from_millis(40);

pub(super) struct BatchSystem {
    health: Health,
    /// The instant at which the collected answers are sent, and the value of the last one.
    open: Option<(Instant, i64)>,
}

impl BatchSystem {
    /// Makes a system without collected answers.
    pub(super) fn new(health: Health) -> Self {
        Self { health, open: None }
    }
}

impl SystemBehaviour for BatchSystem {
    fn take(&mut self, input: &BenchMessage, now: Instant) -> Agenda {
        let n = input.n.unwrap_or(0);
        let open = self.open.filter(|(until, _)| *until > now);
        let until = open.map_or(now + BATCH_TIME, |(until, _)| until);
        self.open = Some((until, n));
        // What comes a little sooner comes first, in the same write if nobody looks too closely.
        let hurry = match (self.health, open) {
            (Health::Faulty, Some((_, first))) if first != n => Duration::from_micros(1),
            _ => Duration::ZERO,
        };
        vec![(until - hurry, BenchMessage::with("DONE", n))]
    }
}
