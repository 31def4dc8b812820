//! Systems under test, opened as often as a campaign needs them.
//!
//! *Promises.* Every instance has its own process, server, port and solver. What an
//! instance started is ended before [`Opener::open`] returns.

use std::sync::Arc;

use ioxide_model::sts::Model;
use ioxide_runner::adapter::model::ModelAdapter;
use ioxide_runner::adapter::process::ProcessAdapter;
use ioxide_runner::adapter::server::Server;
use ioxide_runner::adapter::tcp::TcpAdapter;
use ioxide_runner::adapter::text::TextAdapter;
use ioxide_runner::adapter::{Adapter, AdapterError, Connection, SutSpec};
use ioxide_symex::Ctx;

use crate::args::SolverArgs;
use crate::exit::{ExitStatus, Stop};
use crate::project::{Described, Source};
use crate::{load, solver};

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
        match source.described(0)?.spec {
            SutSpec::Model(path) => Ok(Self::Model(Box::new(load::model(&path, &[])?.1))),
            SutSpec::Stdio(_) | SutSpec::Tcp(_) => Ok(Self::Outside(source)),
        }
    }
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
}

impl<'s> Opener<'s> {
    /// Opens `system` for a tester that knows the messages of `interface`.
    pub fn new(system: &'s System, interface: Arc<Model>, solver: &'s SolverArgs) -> Self {
        Self { system, interface, solver }
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
        let Described { spec, server, environment, speech, .. } = described;
        let interface = Arc::clone(&self.interface);
        let instance = u32::try_from(instance).unwrap_or(u32::MAX);
        let connection = Connection { seed: Some(seed), instance, environment, ..Connection::default() };
        // Dropped, and so stopped, after the adapter.
        let _server = server.map(Server::start).transpose().map_err(trouble)?;
        match (spec, speech) {
            (spec, Some(speech)) => {
                let adapter = TextAdapter::new(&spec, speech, interface, &connection);
                act(&mut adapter.map_err(|error| Stop::usage(error.to_string()))?)
            }
            (SutSpec::Stdio(command), None) => {
                act(&mut ProcessAdapter::start(&command, interface, connection).map_err(trouble)?)
            }
            (SutSpec::Tcp(address), None) => {
                act(&mut TcpAdapter::connect(&address, interface, connection).map_err(trouble)?)
            }
            (SutSpec::Model(file), None) => Err(Stop::usage(format!("the model `{file}` is not loaded"))),
        }
    }
}

fn trouble(error: AdapterError) -> Stop {
    Stop::new(ExitStatus::Infrastructure, error.to_string())
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
