//! Threads of the operating system: each has a handle, and all of them begin a burst at the same instant.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};

use ioxide_model::sts::Model;
use ioxide_run::concurrent::{ConcurrentConfig, ConcurrentOutcome, ConcurrentSetup, test_clients};
use ioxide_wire::adapter::shared::{ClientConnector, SystemControl};
use ioxide_wire::adapter::{Adapter, AdapterError, StartProblem};

use super::{CheckedSystem, Connect, MakeSystem};
use crate::bench::{LocalFactory, words};
use crate::panics::catch;

/// Tests the system with threads.
pub(super) fn test_threads(
    system: &mut CheckedSystem<'_, '_>,
    config: &ConcurrentConfig,
) -> ConcurrentOutcome {
    let current = CurrentSystem(Arc::default());
    let mut control = LocalControl { make: Arc::clone(&system.make), current: current.clone() };
    let connector = LocalConnector { model: Arc::clone(system.model), current };
    let mut setup = ConcurrentSetup {
        cx: system.cx,
        model: system.sequential,
        control: &mut control,
        connector: &connector,
        stop: &AtomicBool::new(false),
    };
    test_clients(&mut setup, config, &mut |_| ())
}

/// The way to the system of the current run.
#[derive(Clone)]
struct CurrentSystem(Arc<Mutex<Option<Connect>>>);

impl CurrentSystem {
    fn set(&self, connect: Connect) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(connect);
    }

    fn get(&self) -> Option<Connect> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Makes a new system for every run.
struct LocalControl {
    make: MakeSystem,
    current: CurrentSystem,
}

impl SystemControl for LocalControl {
    fn reset(&mut self) -> Result<(), AdapterError> {
        let made = catch(|| (self.make)()).map_err(|panic| AdapterError::Start {
            what: "the system".into(),
            reason: StartProblem::NotReady(format!("it panicked: {}", words(&*panic.payload))),
        })?;
        self.current.set(made);
        Ok(())
    }
}

/// Gives every thread its handle.
struct LocalConnector {
    model: Arc<Model>,
    current: CurrentSystem,
}

impl ClientConnector for LocalConnector {
    fn connect(&self) -> Result<Box<dyn Adapter>, AdapterError> {
        let connect = self.current.get().ok_or(AdapterError::Closed)?;
        let mut adapter = LocalFactory::new(Arc::clone(&self.model), move || connect());
        adapter.reset()?;
        Ok(Box::new(adapter))
    }
}
