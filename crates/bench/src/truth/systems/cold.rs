//! A server that is slow with its first reply after every start, as programs are whose caches are cold, and answers at
//! once from then on.

use std::time::{Duration, Instant};

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use super::{Agenda, BenchMessage, Health, SystemBehaviour};

/// The specification, which the correct system meets on every wire.
pub(super) const MODEL: &str = "
model Cold {
    input PING(n: 0..9)
    output PONG(n: int)
    var last: int = 0
    state idle { on PING { last = n } -> busy }
    state busy { emit PONG(n: last) -> idle }
}";
/// The planted fault, for the table.
pub(super) const FAULT: &str = "the first question after a start is lost";

/// The time limit for a message, with room for the longest first reply: what `ioxide test` has by default.
pub(super) const MESSAGE_TIMEOUT: Duration = Duration::from_secs(10);
/// The longest time of a first reply, in milliseconds: half of the time limit for a message.
const MAX_FIRST_REPLY_MS: u64 = 5_000;

pub(super) struct Cold {
    health: Health,
    /// The time of the first reply; `None` once a question was taken.
    first_reply: Option<Duration>,
}

impl Cold {
    /// Makes a freshly started system; `seed` decides how long its first reply takes.
    pub(super) fn new(health: Health, seed: u64) -> Self {
        Self { health, first_reply: Some(first_reply(seed)) }
    }
}

/// Returns the time of a first reply: 0 to 5 s, short ones more often, so that a campaign has time for many starts.
fn first_reply(seed: u64) -> Duration {
    let draw = StdRng::seed_from_u64(seed).random_range(0..=MAX_FIRST_REPLY_MS);
    Duration::from_millis(draw * draw / MAX_FIRST_REPLY_MS)
}

impl SystemBehaviour for Cold {
    fn take(&mut self, input: &BenchMessage, now: Instant) -> Agenda {
        let wait = match (self.first_reply.take(), self.health) {
            (Some(_), Health::Faulty) => return Vec::new(),
            (wait, _) => wait.unwrap_or_default(),
        };
        vec![(now + wait, BenchMessage::with("PONG", input.n.unwrap_or(0)))]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_replies_take_up_to_five_seconds_and_later_ones_nothing() {
        let times: Vec<Duration> = (0..2_000).map(first_reply).collect();
        assert!(times.iter().any(|time| *time < Duration::from_millis(100)));
        assert!(times.iter().any(|time| *time > Duration::from_millis(4_500)));
        let (mut system, now) = (Cold::new(Health::Correct, 7), Instant::now());
        let ping = BenchMessage::with("PING", 3);
        assert_eq!(system.take(&ping, now)[0].0, now + first_reply(7));
        assert_eq!(system.take(&ping, now)[0].0, now);
    }
}
