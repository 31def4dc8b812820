//! A system of `bench truth` that is brought back to its initial state by a restart, as `reset = "restart"` does: every
//! run begins with a new process.
//!
//! *Promises.* The choices of the n-th process follow from the seed of the trial and n. Processes end with the trial.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use ioxide_model::sts::Model;
use ioxide_run::campaign::run_seed;
use ioxide_wire::adapter::managed::{ManagedAdapter, SystemRenewal};
use ioxide_wire::adapter::server::{ServerConfig, ServerReadiness, SystemServer};
use ioxide_wire::adapter::{Interrupt, ListenAddress, RemoteConnection};
use tempfile::TempDir;

use super::child::{self, ChildPlace};
use super::proxy;
use super::server::Listener;
use super::trial::{TrialError, TruthTrial};
use super::wire::{BenchWire, SystemPlace, adapter};

/// The time limit for the system to listen: starting many processes at once takes its time.
const READY_TIMEOUT: Duration = Duration::from_secs(60);
/// The first port that is given to a system: below those that the kernel gives to connections, so that none of them
/// takes the port of a system between two starts.
const FIRST_PORT: u32 = 20_000;
/// The number of ports that are given to systems: the last one is still below those of the kernel.
const N_PORTS: u32 = 12_000;
/// The file that counts the starts of a system.
const STARTS: &str = "starts";

/// A system that is restarted, with what it needs.
pub struct RestartedSystem {
    /// The way to it; dropped first.
    pub adapter: ManagedAdapter,
    _proxy: Option<Listener>,
    _folder: TempDir,
}

impl RestartedSystem {
    /// Starts the system of `trial`.
    pub fn start(
        trial: &TruthTrial,
        model: &Arc<Model>,
        connection: RemoteConnection,
    ) -> Result<Self, TrialError> {
        let folder = tempfile::tempdir()?;
        let starts = folder.path().join(STARTS);
        let (server, proxy, place) = match trial.wire {
            BenchWire::Stdio => {
                let command = child::command(trial, &ChildPlace::Streams { starts })?;
                (None, None, SystemPlace::Command(command))
            }
            wire => {
                let port = free_port()?;
                let command = child::command(trial, &ChildPlace::Port { starts, wire, port })?;
                let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
                let server = SystemServer::start(server_config(command, address), Interrupt::never())?;
                let proxy = proxy::start(address, trial.lag, trial.seed)?;
                let place = SystemPlace::Address(proxy.address);
                (Some(server), Some(proxy), place)
            }
        };
        let (kind, wire) = (trial.kind, trial.wire);
        let (interface, settings) = (Arc::clone(model), connection.clone());
        let make = Box::new(move || adapter(kind, wire, &place, &interface, settings.clone()));
        let adapter = ManagedAdapter::new(server, SystemRenewal::Restart, &connection, make)?;
        Ok(Self { adapter, _proxy: proxy, _folder: folder })
    }
}

/// Returns a free port that was not given out before in this process.
fn free_port() -> io::Result<u16> {
    static GIVEN: AtomicU32 = AtomicU32::new(0);
    // Measurements side by side begin at different places.
    let start = std::process::id().wrapping_mul(101);
    for _ in 0..N_PORTS {
        let n = start.wrapping_add(GIVEN.fetch_add(1, Ordering::Relaxed));
        let port = u16::try_from(FIRST_PORT + n % N_PORTS).map_err(io::Error::other)?;
        if TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok() {
            return Ok(port);
        }
    }
    Err(io::Error::other("there is no free port"))
}

fn server_config(start: String, address: SocketAddr) -> ServerConfig {
    let address = ListenAddress::Tcp(address.to_string());
    ServerConfig {
        start,
        ready: ServerReadiness::Port(address.clone()),
        limit: READY_TIMEOUT,
        address: Some(address),
        ..ServerConfig::default()
    }
}

/// Returns the seed of a process that starts now, and counts the start in the file `starts`.
pub fn next_seed(seed: u64, starts: &Path) -> io::Result<u64> {
    let before = match std::fs::read_to_string(starts) {
        Ok(text) => text.trim().parse().map_err(io::Error::other)?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => 0,
        Err(error) => return Err(error),
    };
    std::fs::write(starts, (before + 1).to_string())?;
    Ok(run_seed(seed, before + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_start_has_a_seed_of_its_own_and_the_same_one_again() {
        let seeds = || {
            let folder = tempfile::tempdir().expect("a folder");
            let starts = folder.path().join(STARTS);
            (0..5).map(|_| next_seed(3, &starts).expect("a seed")).collect::<Vec<u64>>()
        };
        let mut all = seeds();
        assert_eq!(all, seeds());
        all.dedup();
        assert_eq!(all.len(), 5);
    }
}
