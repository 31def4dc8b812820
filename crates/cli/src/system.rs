//! Systems under test, opened as often as a campaign needs them.
//!
//! *Promises.* Every instance has its own process, server, port and solver. What an
//! instance started is ended before [`Opener::open`] returns.

use std::sync::Arc;

use ioxide_model::sts::Model;
use ioxide_runner::adapter::http::HttpAdapter;
use ioxide_runner::adapter::managed::{Make, Managed};
use ioxide_runner::adapter::model::ModelAdapter;
use ioxide_runner::adapter::process::ProcessAdapter;
use ioxide_runner::adapter::server::Server;
use ioxide_runner::adapter::tcp::TcpAdapter;
use ioxide_runner::adapter::text::TextAdapter;
use ioxide_runner::adapter::tls::Tls;
use ioxide_runner::adapter::{Adapter, AdapterError, ClockKind, Connection, Interrupt, SutSpec};
use ioxide_runner::clock::patience::Patience;
use ioxide_runner::secrets::Secrets;
use ioxide_symex::Ctx;

use crate::args::SolverArgs;
use crate::commands::mutate;
use crate::exit::{ExitStatus, Stop};
use crate::project::{Described, FILE, Source, Speech};
use crate::session::STOP;
use crate::solver;

/// A system under test, ready to be opened.
pub enum System {
    /// A model played in this process.
    Model(Box<Model>),
    /// A system outside, as typed or as the project file describes it.
    Outside(Source),
}

impl System {
    /// The system `text` names; a model is loaded, a description checked.
    pub fn named(text: &str) -> Result<Self, Stop> {
        let source = Source::find(text)?;
        warn(&source)?;
        match source.described(0)?.spec {
            SutSpec::Model(path) => Ok(Self::Model(Box::new(mutate::played(&path)?))),
            SutSpec::Stdio(_) | SutSpec::Tcp(_) => Ok(Self::Outside(source)),
        }
    }

    /// What must not be shown.
    pub fn secrets(&self) -> Result<Secrets, Stop> {
        match self {
            Self::Model(_) => Ok(Secrets::none()),
            Self::Outside(source) => Ok(source.described(0)?.secrets),
        }
    }

    /// How long silence must last at the messages and states of `spec`; `default` where the project file
    /// says nothing else.
    pub fn times(&self, spec: &Model, default: Patience) -> Result<Patience, Stop> {
        match self {
            Self::Model(_) => Ok(default),
            Self::Outside(source) => source.described(0)?.quiescence.resolved(spec, default),
        }
    }
}

/// A field that is marked as secret must be one, or it would be shown for a slip of the pen.
fn has_fields(spec: &Model, secrets: &Secrets) -> Result<(), Stop> {
    let is_there = |(message, field): &(&str, &str)| {
        let mut gates = spec.sts.gates.iter().filter(|gate| *gate.name == **message);
        gates.any(|gate| gate.fields.iter().any(|&it| *spec.pool.var_info(it).name == **field))
    };
    match secrets.fields().find(|field| !is_there(field)) {
        Some((message, field)) => {
            Err(Stop::usage(format!("`{FILE}`: secrets: the model has no field `{message}.{field}`")))
        }
        None => Ok(()),
    }
}

/// Says what may be a mistake in the description of a system.
pub fn warn(source: &Source) -> Result<(), Stop> {
    for warning in source.warnings()? {
        eprintln!("warning: {warning}");
    }
    Ok(())
}

/// Opens instances of one system.
///
/// It can be shared by threads. An adapter of a played model borrows its solver and stays in its thread, so
/// [`open`](Self::open) is called in the thread that uses the instance.
pub struct Opener<'s> {
    system: &'s System,
    /// The specification, whose messages are spoken.
    interface: Arc<Model>,
    solver: &'s SolverArgs,
    clock: ClockKind,
}

impl<'s> Opener<'s> {
    /// Opens `system` for a tester that knows the messages of `interface`.
    pub fn new(system: &'s System, interface: Arc<Model>, solver: &'s SolverArgs) -> Self {
        Self { system, interface, solver, clock: ClockKind::default() }
    }

    /// The same with this clock in timed models.
    pub fn on(self, clock: ClockKind) -> Self {
        Self { clock, ..self }
    }

    /// Opens instance number `instance` and lets `act` have it.
    pub fn open<T>(
        &self,
        instance: usize,
        seed: u64,
        act: impl FnOnce(&mut dyn Adapter) -> Result<T, Stop>,
    ) -> Result<T, Stop> {
        match self.system {
            System::Model(model) => self.play(model, seed, act),
            System::Outside(source) => self.reach(source.described(instance)?, instance, seed, act),
        }
    }

    fn play<T>(
        &self,
        model: &Model,
        seed: u64,
        act: impl FnOnce(&mut dyn Adapter) -> Result<T, Stop>,
    ) -> Result<T, Stop> {
        let (mut model, mut solver) = (model.clone(), solver::make(self.solver)?);
        let adapter = ModelAdapter::new(&self.interface, Ctx::new(&mut model, &mut *solver), seed);
        let cannot = |error| Stop::usage(format!("this model cannot be played: {error}"));
        act(&mut adapter.map_err(cannot)?)
    }

    fn reach<T>(
        &self,
        described: Described,
        instance: usize,
        seed: u64,
        act: impl FnOnce(&mut dyn Adapter) -> Result<T, Stop>,
    ) -> Result<T, Stop> {
        let instance = u32::try_from(instance).unwrap_or(u32::MAX);
        let clock = self.clock;
        let connection = Connection { seed: Some(seed), instance, clock, ..connection(&described)? };
        let secrets = described.secrets.clone();
        let mut adapter = managed(described, Arc::clone(&self.interface), connection)?;
        let result = act(&mut adapter);
        if let Some(how) = adapter.ended_by_itself() {
            let how = secrets.hide(&how);
            eprintln!("note: {how}; it was started again, and no run has seen it");
        }
        result
    }
}

/// How to talk to the system.
pub fn connection(described: &Described) -> Result<Connection, Stop> {
    let environment = described.environment.clone();
    let interrupt = Interrupt::by(&STOP);
    let tls = described.tls.as_ref().map(Tls::new).transpose();
    let tls = tls.map_err(|problem| Stop::usage(format!("`{FILE}`: tls: {problem}")))?;
    let reach = described.reach;
    let connection = Connection { environment, interrupt, reach, tls, ..Connection::default() };
    Ok(match described.limit {
        Some(limit) => Connection { limit, ..connection },
        None => connection,
    })
}

/// The system with what it needs, started and reached.
pub fn managed(described: Described, interface: Arc<Model>, connection: Connection) -> Result<Managed, Stop> {
    // Mistakes in the description are told before anything is started.
    match &described.speech {
        Speech::Own(own) => own.words.check(&interface),
        Speech::Http(http) => http.check(&interface),
        Speech::Protocol => Ok(()),
    }
    .map_err(|bad| described.located(&bad))?;
    has_fields(&interface, &described.secrets)?;
    let Described { spec, server, speech, renewal, secrets, .. } = described;
    make_once(&spec, &speech, &interface, &connection)?;
    let server = server.map(|server| Server::start(server, connection.interrupt)).transpose();
    let make = maker(spec, speech, interface, connection.clone());
    let managed = server.and_then(|server| Managed::new(server, renewal, &connection, make));
    managed.map_err(|error| trouble(&error, &secrets))
}

/// Whether an adapter that reaches the system later can be made at all.
fn make_once(
    spec: &SutSpec,
    speech: &Speech,
    interface: &Arc<Model>,
    connection: &Connection,
) -> Result<(), Stop> {
    let made = match speech {
        Speech::Own(own) => {
            TextAdapter::new(spec, (**own).clone(), Arc::clone(interface), connection).map(drop)
        }
        Speech::Http(http) => HttpAdapter::new(http, Arc::clone(interface), connection).map(drop),
        Speech::Protocol => Ok(()),
    };
    made.map_err(|error| Stop::usage(error.to_string()))
}

/// Makes the adapter, as often as it is wanted.
fn maker(spec: SutSpec, speech: Speech, interface: Arc<Model>, connection: Connection) -> Make {
    Box::new(move || {
        let interface = Arc::clone(&interface);
        Ok(match (&spec, &speech) {
            (_, Speech::Own(text)) => {
                Box::new(TextAdapter::new(&spec, (**text).clone(), interface, &connection)?)
            }
            (_, Speech::Http(http)) => Box::new(HttpAdapter::new(http, interface, &connection)?),
            (SutSpec::Stdio(command), Speech::Protocol) => {
                Box::new(ProcessAdapter::start(command, interface, connection.clone())?)
            }
            (SutSpec::Tcp(address), Speech::Protocol) => {
                Box::new(TcpAdapter::connect(address, interface, connection.clone())?)
            }
            (SutSpec::Model(file), Speech::Protocol) => {
                let reason = "a model is played, not reached".into();
                return Err(AdapterError::Start { what: file.clone(), reason });
            }
        })
    })
}

/// Trouble on the way to the system, or the wish of the user to stop waiting for it.
pub fn trouble(error: &AdapterError, secrets: &Secrets) -> Stop {
    if *error == AdapterError::Interrupted {
        return Stop::new(ExitStatus::Interrupted, "interrupted before the system was reached");
    }
    Stop::new(ExitStatus::Infrastructure, secrets.hide(&error.to_string()))
        .help("no verdict: check that the system starts and speaks the adapter protocol")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_opener_is_shared_by_threads() {
        fn shared<T: Sync>() {}
        shared::<Opener<'static>>();
    }
}
