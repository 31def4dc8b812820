//! One campaign of `bench truth`: a system behind a slow connection, tested as `ioxide test` would.

use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use ioxide_model::sts::Model;
use ioxide_record::reporter::{EventSink, SilentReporter};
use ioxide_run::campaign::{CampaignConfig, CampaignOutcome, OnFailure, campaign};
use ioxide_run::clock::MonotonicClock;
use ioxide_run::clock::patience::Patience;
use ioxide_run::run::{RunConfig, RunSetup};
use ioxide_smt::solver::Solver;
use ioxide_symex::Ctx;
use ioxide_testgen::tester::random::{RandomConfig, RandomTester};
use ioxide_wire::adapter::{Adapter, AdapterError, RemoteConnection};
use thiserror::Error;

use super::child::{ChildPlace, command};
use super::pair;
use super::proxy::{self, Lag};
use super::restarted::RestartedSystem;
use super::server::{self, Listener, ServedSystem};
use super::systems::{Health, SystemKind};
use super::wire::{BenchWire, SystemPlace, adapter};

/// The time limit for an input, a greeting or an HTTP answer; chosen by feel, far above any delay, so that a busy
/// machine does not reach it.
const MESSAGE_TIMEOUT: Duration = Duration::from_secs(5);

/// The system to test, its connection, and the size of the campaign.
#[derive(Clone, Copy, Debug)]
pub struct TruthTrial {
    /// The kind of the system.
    pub kind: SystemKind,
    /// Its health: correct, or with the fault of its kind.
    pub health: Health,
    /// The wire.
    pub wire: BenchWire,
    /// The delay of the connection.
    pub lag: Lag,
    /// The seed of all choices.
    pub seed: u64,
    /// The greatest number of runs; a campaign on a faulty system ends with the first failure.
    pub runs: u64,
}

/// The reason why a campaign of a trial gave no outcome.
#[derive(Debug, Error)]
pub enum TrialError {
    /// The system could not be started, or the campaign not written down.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The system could not be reached.
    #[error(transparent)]
    Adapter(#[from] AdapterError),
    /// The campaign with this seed panicked.
    #[error("a bug: the campaign with seed {0} broke off")]
    Panicked(u64),
}

/// A system under test with the listeners in front of it.
struct ReachedSystem {
    place: SystemPlace,
    _listeners: Vec<Listener>,
}

impl TruthTrial {
    /// Tests the system against `model`.
    pub fn run(&self, model: &Model, solver: &mut dyn Solver) -> Result<CampaignOutcome, TrialError> {
        let interface = Arc::new(model.clone());
        let limit = self.kind.limit().unwrap_or(MESSAGE_TIMEOUT);
        let connection = RemoteConnection { limit, seed: Some(self.seed), ..RemoteConnection::default() };
        if self.kind.is_restarted() {
            let mut restarted = RestartedSystem::start(self, &interface, connection)?;
            return self.test(model, solver, &mut restarted.adapter);
        }
        let reached = self.reach()?;
        let mut adapter = adapter(self.kind, self.wire, &reached.place, &interface, connection)?;
        self.test(model, solver, &mut *adapter)
    }

    /// Tests the system behind `adapter` against `model`.
    fn test(
        &self,
        model: &Model,
        solver: &mut dyn Solver,
        adapter: &mut dyn Adapter,
    ) -> Result<CampaignOutcome, TrialError> {
        let mut spec = model.clone();
        let stop = AtomicBool::new(false);
        let mut bench = RunSetup { cx: &mut Ctx::new(&mut spec, solver), adapter, stop: &stop };
        let mut tester = RandomTester::new(
            RandomConfig { steps: self.kind.steps(), ..RandomConfig::default() },
            self.seed,
        );
        let (mut silent, mut clock) = (SilentReporter, MonotonicClock::start());
        let sink = EventSink::new(&mut silent, &mut clock);
        Ok(campaign(&mut bench, &mut tester, &self.config(), &sink)?)
    }

    /// Returns the campaign of the trial; the first failure of a faulty system ends it.
    fn config(&self) -> CampaignConfig {
        let on_failure = match self.health {
            Health::Correct => OnFailure::GoOn,
            Health::Faulty => OnFailure::Stop,
        };
        let run = RunConfig { patience: Patience::new_calibrated(), ..RunConfig::default() };
        let (runs, seed) = (self.runs, self.seed);
        CampaignConfig { runs, seed, on_failure, run, replays: 0, shrink: None, ..CampaignConfig::default() }
    }

    /// Starts the system and the proxy; a child process contains both.
    fn reach(&self) -> io::Result<ReachedSystem> {
        let Self { kind, health, wire, lag, seed, .. } = *self;
        if wire == BenchWire::Stdio {
            let place = SystemPlace::Command(command(self, &ChildPlace::Once)?);
            return Ok(ReachedSystem { place, _listeners: Vec::new() });
        }
        if matches!(wire, BenchWire::Pair | BenchWire::Three) {
            let mut listeners = pair::start(ServedSystem { kind, health, seed })?;
            let mut addresses = Vec::new();
            for (at, name) in kind.clients().iter().enumerate() {
                // The first client is near, so that the others hear later what was said earlier.
                let lag = if at == 0 { Lag(Duration::ZERO) } else { lag };
                let proxy = proxy::start(listeners[at].address, lag, seed.rotate_left(at as u32))?;
                addresses.push((*name, proxy.address));
                listeners.push(proxy);
            }
            let place = SystemPlace::Addresses(addresses);
            return Ok(ReachedSystem { place, _listeners: listeners });
        }
        let system = server::start(ServedSystem { kind, health, seed }, wire)?;
        let proxy = proxy::start(system.address, lag, seed)?;
        Ok(ReachedSystem { place: SystemPlace::Address(proxy.address), _listeners: vec![system, proxy] })
    }
}
