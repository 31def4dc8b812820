//! The systems of `bench truth`: kinds that are correct, and the same with one fault each.
//!
//! A system is defined by its [`SystemBehaviour`]; the [servers](super::server) carry its messages. Random choices come
//! from a seed.
//!
//! *Promises.* Without its fault every system conforms to its model, whatever the time its messages take.

mod batch;
mod cold;
mod delays;
mod desks;
mod disorder;
mod drip;
mod refusal;
mod roll;
mod slow_start;
mod ticker;

use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::wire::BenchWire;

/// A message: its name and its field `n`, if it has one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BenchMessage {
    /// Its name.
    pub name: String,
    /// The value of its field.
    pub n: Option<i64>,
}

impl BenchMessage {
    /// A message without a field.
    pub fn plain(name: &str) -> Self {
        Self { name: name.to_owned(), n: None }
    }

    /// A message with its field.
    pub fn with(name: &str, n: i64) -> Self {
        Self { name: name.to_owned(), n: Some(n) }
    }
}

/// The messages a system will send, each with its instant; those due at the same time are sent in one piece.
pub type Agenda = Vec<(Instant, BenchMessage)>;

/// The reactions of a system to messages and to time.
pub trait SystemBehaviour: Send {
    /// Takes an input, and returns the messages it causes.
    fn take(&mut self, input: &BenchMessage, now: Instant) -> Agenda;

    /// Returns the instant of the next message that no input causes; `None` if there is none.
    fn next_word(&self) -> Option<Instant> {
        None
    }

    /// Returns the message that no input causes; called at the instant of [`next_word`](Self::next_word).
    fn word(&mut self, _now: Instant) -> Option<BenchMessage> {
        None
    }
}

/// A system that several connections share.
impl SystemBehaviour for Arc<Mutex<Box<dyn SystemBehaviour>>> {
    fn take(&mut self, input: &BenchMessage, now: Instant) -> Agenda {
        self.lock().unwrap_or_else(PoisonError::into_inner).take(input, now)
    }
}

/// The kinds of systems.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SystemKind {
    /// A system that sends on its own between start and stop.
    Ticker,
    /// A system that answers after 0 to 300 ms.
    Delays,
    /// A system that sends several answers in one write.
    Batch,
    /// A system that answers two questions in any order.
    Disorder,
    /// A system that answers on two connections, in an order that its answers show.
    Desks,
    /// A system that answers three clients, with numbers from one roll.
    Roll,
    /// A system that needs time before its first answer.
    SlowStart,
    /// A system whose replies come in pieces.
    Drip,
    /// A system that refuses its reset now and then.
    Refusal,
    /// A system that needs up to 5 s for its first answer after every start, and is reset by a restart.
    Cold,
}

/// The health of a system: correct, or with the fault of its kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Health {
    /// The system is correct.
    Correct,
    /// The system has the fault of its kind.
    Faulty,
}

impl SystemKind {
    /// All of them.
    pub const ALL: [Self; 10] = [
        Self::Ticker,
        Self::Delays,
        Self::Batch,
        Self::Disorder,
        Self::Desks,
        Self::Roll,
        Self::SlowStart,
        Self::Drip,
        Self::Refusal,
        Self::Cold,
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ticker => "ticker",
            Self::Delays => "delays",
            Self::Batch => "batch",
            Self::Disorder => "disorder",
            Self::Desks => "desks",
            Self::Roll => "roll",
            Self::SlowStart => "slow-start",
            Self::Drip => "drip",
            Self::Refusal => "refusal",
            Self::Cold => "cold",
        }
    }

    /// Returns the kind of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Returns the text of its model.
    pub fn model(self) -> &'static str {
        match self {
            Self::Ticker => ticker::MODEL,
            Self::Delays => delays::MODEL,
            Self::Batch => batch::MODEL,
            Self::Disorder => disorder::MODEL,
            Self::Desks => desks::MODEL,
            Self::Roll => roll::MODEL,
            Self::SlowStart => slow_start::MODEL,
            Self::Drip => drip::MODEL,
            Self::Refusal => refusal::MODEL,
            Self::Cold => cold::MODEL,
        }
    }

    /// Returns its fault in a few words.
    pub fn fault(self) -> &'static str {
        match self {
            Self::Ticker => ticker::FAULT,
            Self::Delays => delays::FAULT,
            Self::Batch => batch::FAULT,
            Self::Disorder => disorder::FAULT,
            Self::Desks => desks::FAULT,
            Self::Roll => roll::FAULT,
            Self::SlowStart => slow_start::FAULT,
            Self::Drip => drip::FAULT,
            Self::Refusal => refusal::FAULT,
            Self::Cold => cold::FAULT,
        }
    }

    /// Returns the wires it can be tested over: over HTTP there are no unsolicited messages, nor two answers in one
    /// write.
    pub fn wires(self) -> &'static [BenchWire] {
        match self {
            Self::Ticker | Self::Batch => &[BenchWire::Stdio, BenchWire::Tcp, BenchWire::Text],
            Self::Delays | Self::Disorder | Self::SlowStart | Self::Drip | Self::Cold => &BenchWire::ALL,
            // Adapters confirm their resets, so it is only refused in the words of the system.
            Self::Refusal => &[BenchWire::Text, BenchWire::Http],
            Self::Desks => &[BenchWire::Pair],
            Self::Roll => &[BenchWire::Three],
        }
    }

    /// Returns the clients of a system that has several, by the beginning of the names of their messages.
    pub fn clients(self) -> &'static [&'static str] {
        match self {
            Self::Desks => &["LEFT", "RIGHT"],
            Self::Roll => &roll::CLIENTS,
            Self::Ticker
            | Self::Delays
            | Self::Batch
            | Self::Disorder
            | Self::SlowStart
            | Self::Drip
            | Self::Refusal
            | Self::Cold => &[],
        }
    }

    /// Returns the message that its fault spoils, where messages of several connections could be blamed.
    pub fn spoiled_message(self) -> Option<&'static str> {
        match self {
            Self::Roll => Some(roll::BLAMED),
            Self::Ticker
            | Self::Delays
            | Self::Batch
            | Self::Disorder
            | Self::Desks
            | Self::SlowStart
            | Self::Drip
            | Self::Refusal
            | Self::Cold => None,
        }
    }

    /// Returns a system of this kind in its initial state.
    pub fn start(self, health: Health, seed: u64) -> Box<dyn SystemBehaviour> {
        match self {
            Self::Ticker => Box::new(ticker::Ticker::new(health)),
            Self::Delays => Box::new(delays::Delays::new(health, seed)),
            Self::Batch => Box::new(batch::BatchSystem::new(health)),
            Self::Desks => Box::new(desks::Desks::new(health, seed)),
            Self::Roll => Box::new(roll::Roll::new(health, seed)),
            Self::Disorder => Box::new(disorder::Disorder::new(health, seed)),
            Self::SlowStart => Box::new(slow_start::SlowStart::new(health)),
            Self::Drip => Box::new(drip::Drip::new(health)),
            Self::Refusal => Box::new(refusal::Refusal::new(health, seed)),
            Self::Cold => Box::new(cold::Cold::new(health, seed)),
        }
    }

    /// Returns the number of labels of a run: enough for unsolicited messages and a few exchanges besides.
    pub fn steps(self) -> usize {
        match self {
            Self::Ticker => 40,
            Self::Desks => 20,
            Self::Delays | Self::Batch | Self::Disorder | Self::SlowStart | Self::Refusal => 10,
            // Each of their replies takes long, or the first of every run does; what comes after it is not measured.
            Self::Drip | Self::Cold => 4,
            Self::Roll => 30,
        }
    }

    /// Returns the time before it listens.
    pub fn warm_up(self) -> Duration {
        match self {
            Self::SlowStart => slow_start::WARM_UP,
            Self::Ticker
            | Self::Delays
            | Self::Batch
            | Self::Disorder
            | Self::Desks
            | Self::Roll
            | Self::Drip
            | Self::Refusal
            | Self::Cold => Duration::ZERO,
        }
    }

    /// Returns whether its state outlives a connection; it is then reset by [`reset`](Self::reset).
    pub fn outlives_connections(self) -> bool {
        self.reset().is_some()
    }

    /// Returns the words of its reset and the answer they must have, if it is reset by words.
    pub fn reset(self) -> Option<(&'static str, &'static str)> {
        (self == Self::Refusal).then_some((refusal::RESET, refusal::DONE))
    }

    /// Returns the time limit for a message of it; `None` for the usual one.
    pub fn limit(self) -> Option<Duration> {
        match self {
            Self::Drip => Some(drip::LIMIT),
            Self::Cold => Some(cold::MESSAGE_TIMEOUT),
            _ => None,
        }
    }

    /// Writes `bytes` as a system of this kind does: at once, or in pieces.
    pub fn write(self, writer: &mut impl Write, bytes: &[u8]) -> io::Result<()> {
        match self {
            Self::Drip => drip::write(writer, bytes),
            _ => writer.write_all(bytes),
        }
    }

    /// Returns whether it is brought back to its initial state by a new start of its process.
    pub fn is_restarted(self) -> bool {
        self == Self::Cold
    }
}
