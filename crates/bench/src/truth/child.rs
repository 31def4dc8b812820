//! A system of `bench truth` as a child of the measurement: this program, called in another way.
//!
//! The child serves the system as over TCP, and relays its standard streams there and back as a proxy does; or it
//! listens at a port until it is ended.

use std::io;
use std::net::TcpStream;
use std::path::PathBuf;
use std::str::FromStr;
use std::thread;
use std::time::Duration;

use thiserror::Error;

use super::proxy::{self, Lag};
use super::restarted::next_seed;
use super::server::{self, ServedSystem};
use super::systems::{Health, SystemKind};
use super::trial::TruthTrial;
use super::wire::BenchWire;

/// The system that a child runs, written `KIND,correct|faulty,LAG_MS,SEED` or, for one that is started again and again,
/// `KIND,correct|faulty,LAG_MS,SEED,WIRE,PORT,STARTS`.
#[derive(Clone, Debug)]
pub struct Child {
    system: ServedSystem,
    lag: Lag,
    place: ChildPlace,
}

/// The way in which a child is spoken to, and the file that counts its starts where it has several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChildPlace {
    /// Its standard streams; it is started once.
    Once,
    /// Its standard streams.
    Streams {
        /// The file that counts its starts.
        starts: PathBuf,
    },
    /// A port of this machine.
    Port {
        /// The file that counts its starts.
        starts: PathBuf,
        /// The protocol.
        wire: BenchWire,
        /// The port.
        port: u16,
    },
}

/// A text that names no system of the measurement.
#[derive(Debug, Error)]
#[error("`{0}` is no system: expected KIND,correct|faulty,LAG_MS,SEED and maybe WIRE,PORT,STARTS")]
pub struct BadChild(String);

/// Returns the command that starts the system of `trial` at `place`.
pub fn command(trial: &TruthTrial, place: &ChildPlace) -> io::Result<String> {
    let program = std::env::current_exe()?;
    let health = match trial.health {
        Health::Correct => "correct",
        Health::Faulty => "faulty",
    };
    let place = match place {
        ChildPlace::Once => String::new(),
        ChildPlace::Streams { starts } => format!(",{},0,{}", BenchWire::Stdio.name(), starts.display()),
        ChildPlace::Port { starts, wire, port } => format!(",{},{port},{}", wire.name(), starts.display()),
    };
    let (kind, lag, seed) = (trial.kind.name(), trial.lag.0.as_millis(), trial.seed);
    let system = quote_for_shell(&format!("{kind},{health},{lag},{seed}{place}"));
    Ok(format!("exec {} bench truth --system {system}", quote_for_shell(&program.display().to_string())))
}

/// Returns `text` as one word of a shell.
fn quote_for_shell(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

impl FromStr for Child {
    type Err = BadChild;

    fn from_str(text: &str) -> Result<Self, BadChild> {
        let bad = || BadChild(text.to_owned());
        let words: Vec<&str> = text.splitn(7, ',').collect();
        let (&[kind, health, lag, seed], place) = words.split_first_chunk().ok_or_else(bad)?;
        let health = match health {
            "correct" => Health::Correct,
            "faulty" => Health::Faulty,
            _ => return Err(bad()),
        };
        let kind = SystemKind::from_name(kind).ok_or_else(bad)?;
        let (lag, seed) = (lag.parse().map_err(|_| bad())?, seed.parse().map_err(|_| bad())?);
        let place = match *place {
            [] => ChildPlace::Once,
            [wire, port, starts] => {
                let (starts, port) = (PathBuf::from(starts), port.parse().map_err(|_| bad())?);
                match BenchWire::from_name(wire).ok_or_else(bad)? {
                    BenchWire::Stdio => ChildPlace::Streams { starts },
                    wire => ChildPlace::Port { starts, wire, port },
                }
            }
            _ => return Err(bad()),
        };
        let (system, lag) = (ServedSystem { kind, health, seed }, Lag(Duration::from_millis(lag)));
        Ok(Self { system, lag, place })
    }
}

impl Child {
    /// Runs the system until its input ends, or for ever at a port.
    pub fn run(&self) -> io::Result<()> {
        let seed = match &self.place {
            ChildPlace::Once => self.system.seed,
            ChildPlace::Streams { starts } | ChildPlace::Port { starts, .. } => {
                next_seed(self.system.seed, starts)?
            }
        };
        let system = ServedSystem { seed, ..self.system };
        match &self.place {
            ChildPlace::Once | ChildPlace::Streams { .. } => relay_streams(system, self.lag),
            ChildPlace::Port { wire, port, .. } => {
                let _listener = server::start_at(*port, system, *wire)?;
                loop {
                    thread::park();
                }
            }
        }
    }
}

/// Relays the standard streams of this process to `system` until its input ends.
fn relay_streams(system: ServedSystem, lag: Lag) -> io::Result<()> {
    let listener = server::start(system, BenchWire::Stdio)?;
    let stream = TcpStream::connect(listener.address)?;
    stream.set_nodelay(true)?;
    let to_system = stream.try_clone()?;
    thread::spawn(move || proxy::relay(io::stdin(), &to_system, lag, system.seed));
    proxy::deliver(&proxy::under_way(stream, lag, !system.seed), io::stdout());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_child_reads_what_the_measurement_writes() {
        let starts = PathBuf::from("/tmp/a, b/starts");
        let port = ChildPlace::Port { starts: starts.clone(), wire: BenchWire::Http, port: 7 };
        for (text, place) in [
            ("cold,correct,5,3", ChildPlace::Once),
            ("cold,correct,5,3,stdio,0,/tmp/a, b/starts", ChildPlace::Streams { starts }),
            ("cold,correct,5,3,http,7,/tmp/a, b/starts", port),
        ] {
            let child: Child = text.parse().expect("a child");
            assert_eq!((child.place, child.system.kind, child.system.seed), (place, SystemKind::Cold, 3));
        }
        for bad in ["cold", "cold,right,5,3", "cold,correct,5,3,http", "cold,correct,5,3,pigeon,0,x"] {
            assert!(bad.parse::<Child>().is_err(), "{bad}");
        }
    }
}
