//! A ticker: between start and stop it sends on its own, so its messages cross those of the tester.

use std::time::{Duration, Instant};

use super::{Agenda, BenchMessage, Health, SystemBehaviour};

/// The specification, which the correct system meets on every wire.
pub(super) const MODEL: &str = "
model Ticker {
    input START
    input STOP
    output STARTED
    output TICK
    output STOPPED
    state idle { on START -> starting }
    state starting { emit STARTED -> running }
    state running { emit TICK -> running  on STOP -> stopping }
    state stopping { emit STOPPED -> idle }
}";
/// The planted fault, for the table.
pub(super) const FAULT: &str = "one more tick after STOPPED";

/// The time between two ticks: with a delay of 50 ms several come while an input is on its way.
const TICK_INTERVAL: Duration = Duration::from_millis(12);

pub(super) struct Ticker {
    health: Health,
    /// The instant of the next tick; `None` if there is none.
    next: Option<Instant>,
    is_running: bool,
}

impl Ticker {
    /// Makes a ticker that is stopped.
    pub(super) fn new(health: Health) -> Self {
        Self { health, next: None, is_running: false }
    }
}

impl SystemBehaviour for Ticker {
    fn take(&mut self, input: &BenchMessage, now: Instant) -> Agenda {
        match (&*input.name, self.is_running) {
            ("START", false) => {
                (self.is_running, self.next) = (true, Some(now + TICK_INTERVAL));
                vec![(now, BenchMessage::plain("STARTED"))]
            }
            ("STOP", true) => {
                self.is_running = false;
                if self.health == Health::Correct {
                    self.next = None;
                }
                vec![(now, BenchMessage::plain("STOPPED"))]
            }
            _ => Vec::new(),
        }
    }

    fn next_word(&self) -> Option<Instant> {
        self.next
    }

    fn word(&mut self, now: Instant) -> Option<BenchMessage> {
        self.next = self.is_running.then_some(now + TICK_INTERVAL);
        Some(BenchMessage::plain("TICK"))
    }
}
