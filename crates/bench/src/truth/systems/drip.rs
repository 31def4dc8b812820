//! A server whose replies come in pieces: each takes longer than the time limit, while its pauses are much shorter.

use std::io::{self, Write};
use std::thread;
use std::time::{Duration, Instant};

use super::{Agenda, BenchMessage, Health, SystemBehaviour};

/// The specification, which the correct system meets on every wire.
pub(super) const MODEL: &str = "
model Drip {
    input ASK(n: 0..9)
    output SLOW_ANSWER(n: int)
    var asked: int = 0
    state idle { on ASK { asked = n } -> busy }
    state busy { emit SLOW_ANSWER(n: asked) -> idle }
}";
/// The planted fault, for the table.
pub(super) const FAULT: &str = "one less is answered to questions above 6";

/// The number of pieces of a reply: with the pauses it takes 1.76 seconds, longer than the time limit.
const PIECES: usize = 16;
/// The pause after each piece: far below the time limit, though the whole reply takes longer than it.
const PAUSE: Duration = Duration::from_millis(110);
/// The time limit of the tester: shorter than a reply, and thirteen times as long as a pause.
pub(super) const LIMIT: Duration = Duration::from_millis(1_500);

pub(super) struct Drip {
    health: Health,
}

impl Drip {
    /// Makes a system; it keeps no state.
    pub(super) fn new(health: Health) -> Self {
        Self { health }
    }
}

impl SystemBehaviour for Drip {
    fn take(&mut self, input: &BenchMessage, now: Instant) -> Agenda {
        let n = input.n.unwrap_or(0);
        let n = if self.health == Health::Faulty && n > 6 { n - 1 } else { n };
        vec![(now, BenchMessage::with("SLOW_ANSWER", n))]
    }
}

/// Writes `bytes` in pieces, with a pause after each.
pub(super) fn write(writer: &mut impl Write, bytes: &[u8]) -> io::Result<()> {
    for piece in bytes.chunks(bytes.len().div_ceil(PIECES).max(1)) {
        writer.write_all(piece)?;
        writer.flush()?;
        thread::sleep(PAUSE);
    }
    Ok(())
}
