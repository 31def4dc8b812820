//! A system of `bench truth` as a child of the measurement: this program, called in another way.
//!
//! The child serves the system as over TCP, and relays its standard streams there and back as a proxy does.

use std::io;
use std::net::TcpStream;
use std::str::FromStr;
use std::thread;
use std::time::Duration;

use thiserror::Error;

use super::proxy::{self, Lag};
use super::server::{self, ServedSystem};
use super::systems::{Health, SystemKind};
use super::trial::TruthTrial;
use super::wire::BenchWire;

/// The system that a child runs, written `KIND,correct|faulty,LAG_MS,SEED`.
#[derive(Clone, Copy, Debug)]
pub struct Child {
    system: ServedSystem,
    lag: Lag,
}

/// A text that names no system of the measurement.
#[derive(Debug, Error)]
#[error("`{0}` is no system: expected KIND,correct|faulty,LAG_MS,SEED")]
pub struct BadChild(String);

/// Returns the command that starts the system of `trial`.
pub fn command(trial: &TruthTrial) -> io::Result<String> {
    let program = std::env::current_exe()?;
    let health = match trial.health {
        Health::Correct => "correct",
        Health::Faulty => "faulty",
    };
    let (kind, lag, seed) = (trial.kind.name(), trial.lag.0.as_millis(), trial.seed);
    let program = program.display().to_string().replace('\'', r"'\''");
    Ok(format!("exec '{program}' bench truth --system {kind},{health},{lag},{seed}"))
}

impl FromStr for Child {
    type Err = BadChild;

    fn from_str(text: &str) -> Result<Self, BadChild> {
        let bad = || BadChild(text.to_owned());
        let [kind, health, lag, seed] = text.split(',').collect::<Vec<_>>()[..] else { return Err(bad()) };
        let health = match health {
            "correct" => Health::Correct,
            "faulty" => Health::Faulty,
            _ => return Err(bad()),
        };
        let kind = SystemKind::named(kind).ok_or_else(bad)?;
        let (lag, seed) = (lag.parse().map_err(|_| bad())?, seed.parse().map_err(|_| bad())?);
        Ok(Self { system: ServedSystem { kind, health, seed }, lag: Lag(Duration::from_millis(lag)) })
    }
}

impl Child {
    /// Runs the system until its input ends.
    pub fn run(&self) -> io::Result<()> {
        let Self { system, lag } = *self;
        let listener = server::start(system, BenchWire::Stdio)?;
        let stream = TcpStream::connect(listener.address)?;
        stream.set_nodelay(true)?;
        let to_system = stream.try_clone()?;
        thread::spawn(move || proxy::relay(io::stdin(), &to_system, lag, system.seed));
        proxy::deliver(&proxy::under_way(stream, lag, !system.seed), io::stdout());
        Ok(())
    }
}
