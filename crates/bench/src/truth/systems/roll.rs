//! Three clients, each on a connection of its own, that draw tickets from one roll. Their answers cross, so a ticket is
//! often seen before the one that was drawn earlier: it is held until that one comes.

use std::time::{Duration, Instant};

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use super::{Agenda, BenchMessage, Health, SystemBehaviour};

/// The specification, which the correct system meets on every wire.
pub(super) const MODEL: &str = "
model Roll {
    input ANN
    input BOB
    input CAY
    output ANN_TICKET(n: int)
    output BOB_TICKET(n: int)
    output CAY_TICKET(n: int)
    var ann: bool = false
    var bob: bool = false
    var cay: bool = false
    var last: int = 0
    state open {
        on ANN when !ann { ann = true } -> open
        on BOB when !bob { bob = true } -> open
        on CAY when !cay { cay = true } -> open
        emit ANN_TICKET(n: last + 1) when ann { ann = false, last = last + 1 } -> open
        emit BOB_TICKET(n: last + 1) when bob { bob = false, last = last + 1 } -> open
        emit CAY_TICKET(n: last + 1) when cay { cay = false, last = last + 1 } -> open
    }
}";
/// The planted fault, for the table.
pub(super) const FAULT: &str = "every second ticket of bob has a number that is not on the roll";
/// The clients, by the beginning of the names of their messages.
pub(super) const CLIENTS: [&str; 3] = ["ANN", "BOB", "CAY"];
/// The message that the fault spoils.
pub(super) const BLAMED: &str = "BOB_TICKET";

/// The longest time of work, in milliseconds; chosen by feel, so that the clients overtake each other.
const MAX_WORK_MS: u64 = 30;
/// The difference between a wrong number and the right one: no ticket of a run is so far down the roll.
const OFF_THE_ROLL: i64 = 1_000;

pub(super) struct Roll {
    health: Health,
    choices: StdRng,
    open: Vec<(Instant, &'static str)>,
    last: i64,
    /// The number of tickets that bob has drawn.
    of_bob: u64,
}

impl Roll {
    /// Makes a system without open questions; its choices are drawn with `seed`.
    pub(super) fn new(health: Health, seed: u64) -> Self {
        Self { health, choices: StdRng::seed_from_u64(seed), open: Vec::new(), last: 0, of_bob: 0 }
    }
}

impl SystemBehaviour for Roll {
    fn take(&mut self, input: &BenchMessage, now: Instant) -> Agenda {
        let ticket = match input.name.as_str() {
            "ANN" => "ANN_TICKET",
            "BOB" => BLAMED,
            _ => "CAY_TICKET",
        };
        let due = now + Duration::from_millis(self.choices.random_range(0..=MAX_WORK_MS));
        self.open.push((due, ticket));
        self.open.sort();
        Vec::new()
    }

    fn next_word(&self) -> Option<Instant> {
        self.open.first().map(|(due, _)| *due)
    }

    fn word(&mut self, _now: Instant) -> Option<BenchMessage> {
        let (_, ticket) = (!self.open.is_empty()).then(|| self.open.remove(0))?;
        self.last += 1;
        self.of_bob += u64::from(ticket == BLAMED);
        let is_wrong = self.health == Health::Faulty && ticket == BLAMED && self.of_bob.is_multiple_of(2);
        Some(BenchMessage::with(ticket, if is_wrong { self.last + OFF_THE_ROLL } else { self.last }))
    }
}
