//! Systems under test, opened as often as a campaign needs them.
//!
//! *Promises.* Every instance has its own process, server, port and solver. What an
//! instance started is ended before [`SystemOpener::open`] returns.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::thread;

use ioxide_model::sts::{GateId, Model};
use ioxide_project::connect::ConnectError;
use ioxide_project::{DescribedSystem, Instances, Project, SpecSource, SystemSource};
use ioxide_record::event::OperationRecord;
use ioxide_record::secrets::Secrets;
use ioxide_run::clock::patience::Patience;
use ioxide_symex::Ctx;
use ioxide_wire::adapter::model::ModelAdapter;
use ioxide_wire::adapter::played::share_played;
use ioxide_wire::adapter::shared::{ClientConnector, FaultKind, SystemControl};
use ioxide_wire::adapter::{Adapter, AdapterError, ClockKind, Interrupt, RemoteConnection, SutSpec};

use crate::exit::{CliError, ExitStatus};
use crate::interrupt::STOP;
use crate::mutant_file;
use crate::project_file;
use crate::redaction;
use crate::solver::SolverRequest;

/// A system under test, ready to be opened.
pub enum SystemUnderTest {
    /// A model played in this process.
    Model(Box<Model>),
    /// A system outside, as typed or as the project file describes it.
    Outside(Box<OutsideSystem>),
}

/// A system outside.
pub struct OutsideSystem {
    source: SystemSource,
    /// Its settings. No port was taken for them, and nothing started.
    settings: DescribedSystem,
}

impl OutsideSystem {
    /// Returns the settings of the system.
    pub fn settings(&self) -> &DescribedSystem {
        &self.settings
    }
}

impl SystemUnderTest {
    /// The system `name` of a project file with this content.
    pub fn from_project(content: String, name: &str) -> Result<Self, CliError> {
        let source = SystemSource::from_project(Arc::new(Project::parse(content)?), name);
        let settings = source.describe(&Instances::default())?;
        Ok(Self::Outside(Box::new(OutsideSystem { source, settings })))
    }

    /// The system `text` names, to be compared with `spec`; a model is loaded, a description checked.
    pub fn from_name(text: &str, spec: SpecSource<'_>) -> Result<Self, CliError> {
        let source = project_file::find_system(text)?;
        warn(&source)?;
        let settings = source.describe(&Instances::default())?;
        redaction::add_secrets(&settings.secrets);
        match &settings.spec {
            SutSpec::Model(path) => Ok(Self::Model(Box::new(mutant_file::load_played(path, spec)?))),
            _ => Ok(Self::Outside(Box::new(OutsideSystem { source, settings }))),
        }
    }

    /// Returns the settings of a system outside; `None` for a played model.
    pub fn settings(&self) -> Option<&DescribedSystem> {
        match self {
            Self::Model(_) => None,
            Self::Outside(system) => Some(system.settings()),
        }
    }

    /// Returns the values that must not be shown; a played model has none.
    pub fn secrets(&self) -> Secrets {
        self.settings().map_or_else(Secrets::none, |settings| settings.secrets.clone())
    }

    /// Returns the operations of a system that is asked by HTTP; empty for others.
    pub fn operations(&self, spec: &Model) -> Vec<OperationRecord> {
        self.settings().map(|settings| settings.find_operations(spec)).unwrap_or_default()
    }

    /// Returns the outputs of `spec` that say nothing but that the system refused an input; a played model has none.
    pub fn refusals(&self, spec: &Model) -> Result<BTreeSet<GateId>, CliError> {
        Ok(self.settings().map(|settings| settings.find_refusals(spec)).transpose()?.unwrap_or_default())
    }

    /// Returns the quiescence times at the messages and states of `spec`; `default` where the project file has no
    /// other.
    pub fn times(&self, spec: &Model, default: Patience) -> Result<Patience, CliError> {
        match self.settings() {
            None => Ok(default),
            Some(settings) => {
                let times = settings.quiescence.resolve(spec)?;
                let after = |patience: Patience, &(gate, time): &_| patience.with_time_after(gate, time);
                let within = |patience: Patience, &(place, time): &_| patience.with_time_at(place, time);
                Ok(times.within.iter().fold(times.after.iter().fold(default, after), within))
            }
        }
    }
}

/// Warns of possible mistakes in the description of a system.
pub fn warn(source: &SystemSource) -> Result<(), CliError> {
    for warning in source.warnings()? {
        eprintln!("warning: {warning}");
    }
    Ok(())
}

/// Opens instances of one system.
///
/// It can be shared by threads. An adapter of a played model borrows its solver and stays in its thread, so
/// [`open`](Self::open) is called in the thread that uses the instance.
pub struct SystemOpener<'s> {
    system: &'s SystemUnderTest,
    /// The specification, whose messages are spoken.
    interface: Arc<Model>,
    solver: SolverRequest<'s>,
    clock: ClockKind,
}

impl<'s> SystemOpener<'s> {
    /// Opens `system` for a tester that knows the messages of `interface`.
    pub fn new(system: &'s SystemUnderTest, interface: Arc<Model>, solver: SolverRequest<'s>) -> Self {
        Self { system, interface, solver, clock: ClockKind::default() }
    }

    /// Sets the clock for timed models.
    pub fn on(self, clock: ClockKind) -> Self {
        Self { clock, ..self }
    }

    /// Opens instance number `instance` and lets `act` have it.
    pub fn open<T>(
        &self,
        instance: usize,
        seed: u64,
        act: impl FnOnce(&mut dyn Adapter) -> Result<T, CliError>,
    ) -> Result<T, CliError> {
        match self.system {
            SystemUnderTest::Model(model) => self.play(model, seed, |adapter| act(adapter)),
            SystemUnderTest::Outside(system) => self.reach(
                system.source.describe_instance(instance, &Instances::of_model(&self.interface))?,
                instance,
                seed,
                act,
            ),
        }
    }

    /// Opens the system for several clients that may suffer `faults`, and lets `act` have it.
    pub fn open_shared<T>(
        &self,
        seed: u64,
        faults: &[FaultKind],
        act: impl FnOnce(&mut dyn SystemControl, &dyn ClientConnector) -> Result<T, CliError>,
    ) -> Result<T, CliError> {
        let system = match self.system {
            SystemUnderTest::Model(model) => return self.play_shared(model, seed, faults, act),
            SystemUnderTest::Outside(system) => system,
        };
        let described = system.source.describe_instance(0, &Instances::of_model(&self.interface))?;
        let connection = described.connection(Interrupt::from_flag(&STOP))?;
        let connection = RemoteConnection { seed: Some(seed), clock: self.clock, ..connection };
        let secrets = described.secrets.clone();
        let started = described.start_shared(Arc::clone(&self.interface), connection, faults);
        let (mut control, connector) = started.map_err(|error| connect_error(error, &secrets))?;
        act(&mut control, &connector)
    }

    /// Plays `model` in a thread of its own for several clients, and lets `act` have it.
    fn play_shared<T>(
        &self,
        model: &Model,
        seed: u64,
        faults: &[FaultKind],
        act: impl FnOnce(&mut dyn SystemControl, &dyn ClientConnector) -> Result<T, CliError>,
    ) -> Result<T, CliError> {
        if let Some(fault) = faults.first() {
            let problem = format!("`--faults {fault}`: a model that ioxide simulates has no faults");
            return Err(CliError::usage(problem).help("give a system that ioxide starts, or connects to"));
        }
        if model.sts.is_timed() {
            return Err(CliError::usage("`--clients`: a simulated model with clocks has one client")
                .help("give a model without clocks, or a system"));
        }
        let (mut control, connector, tasks) = share_played();
        let (ready, started) = channel();
        thread::scope(|scope| {
            // The player belongs to its thread, so it is made there. It ends when nobody can ask it any more.
            scope.spawn(move || {
                let played = self.play(model, seed, |adapter| {
                    ready.send(Ok(())).ok();
                    tasks.serve(adapter);
                    Ok(())
                });
                if let Err(error) = played {
                    ready.send(Err(error)).ok();
                }
            });
            let begun =
                started.recv().unwrap_or_else(|_| Err(CliError::usage("the model cannot be simulated")));
            let result = begun.and_then(|()| act(&mut control, &connector));
            drop((control, connector));
            result
        })
    }

    /// Plays `model` as the system and gives it to `act`.
    fn play<T>(
        &self,
        model: &Model,
        seed: u64,
        act: impl FnOnce(&mut ModelAdapter<'_>) -> Result<T, CliError>,
    ) -> Result<T, CliError> {
        let (mut model, mut solver) = (model.clone(), self.solver.make()?);
        let adapter = ModelAdapter::new(&self.interface, Ctx::new(&mut model, &mut *solver), seed);
        let cannot = |error| CliError::usage(format!("this model cannot be simulated: {error}"));
        act(&mut adapter.map_err(cannot)?)
    }

    /// Connects to a system outside and gives it to `act`.
    fn reach<T>(
        &self,
        described: DescribedSystem,
        instance: usize,
        seed: u64,
        act: impl FnOnce(&mut dyn Adapter) -> Result<T, CliError>,
    ) -> Result<T, CliError> {
        let instance = u32::try_from(instance).unwrap_or(u32::MAX);
        let clock = self.clock;
        let connection = described.connection(Interrupt::from_flag(&STOP))?;
        let connection = RemoteConnection { seed: Some(seed), instance, clock, ..connection };
        let secrets = described.secrets.clone();
        let started = described.start(Arc::clone(&self.interface), connection);
        let mut adapter = started.map_err(|error| connect_error(error, &secrets))?;
        let result = act(&mut adapter);
        if let Some(how) = adapter.ended_by_itself() {
            let how = secrets.hide(&how);
            eprintln!("note: {how}; it was started again between two runs");
        }
        result
    }
}

/// Returns the error of a system that could not be started or reached.
pub fn connect_error(error: ConnectError, secrets: &Secrets) -> CliError {
    match error {
        ConnectError::Project(mistake) => mistake.into(),
        ConnectError::Adapter(error) => system_error(&error, secrets),
    }
}

/// Trouble on the way to the system, or the wish of the user to stop waiting for it.
pub fn system_error(error: &AdapterError, secrets: &Secrets) -> CliError {
    if *error == AdapterError::Interrupted {
        return CliError::new(ExitStatus::Interrupted, "interrupted before the system was reached");
    }
    CliError::new(ExitStatus::Infrastructure, secrets.hide(&error.to_string()))
        .help("no verdict: check that the system starts and uses the adapter protocol")
}
