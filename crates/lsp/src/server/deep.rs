//! Deep checks in the background: those of `ioxide check --deep`, within a time limit, dropped when the text changes.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use ioxide_model::diag::Diagnostic;
use ioxide_smt::halt::{Halt, Halted, Signal};
use ioxide_smt::stack::{BackendChoice, SolverConfig, build_stack};
use ioxide_symex::{Ctx, ExploreConfig, ExploreLimits, lint};

use super::ServerEnvironment;
use crate::analysis::TextCheckup;

/// The time limit of a deep check. Long enough for most models, short enough that the findings still concern the text;
/// chosen by feel.
const DEEP_CHECK_LIMIT: Duration = Duration::from_secs(20);
/// The number of symbolic states a deep check explores. Chosen by feel.
const MAX_EXPLORED_STATES: usize = 2_000;

/// A signal that is raised when the text has changed, or when the time is up.
struct OvertakenSignal {
    changed: Arc<AtomicBool>,
    deadline: Halt,
}

impl Signal for OvertakenSignal {
    fn halt_reason(&self) -> Option<Halted> {
        if self.changed.load(Ordering::Relaxed) {
            Some(Halted::Interrupted)
        } else {
            self.deadline.halt_reason()
        }
    }

    fn time_left(&self) -> Option<Duration> {
        Some(self.deadline.limit_time(DEEP_CHECK_LIMIT))
    }
}

/// A deep check of one version of a text.
pub struct DeepCheck {
    changed: Arc<AtomicBool>,
    found: Arc<Mutex<Vec<Diagnostic>>>,
}

impl DeepCheck {
    /// Begins a check; `tell` receives the findings, unless the text has changed by then. A lock keeps the text from
    /// changing between that test and the call.
    pub fn start(
        checkup: TextCheckup,
        host: &Arc<dyn ServerEnvironment>,
        tell: impl FnOnce(&TextCheckup, &[Diagnostic]) + Send + 'static,
    ) -> Self {
        let changed = Arc::new(AtomicBool::new(false));
        let found = Arc::new(Mutex::new(Vec::new()));
        let check = Self { changed: Arc::clone(&changed), found: Arc::clone(&found) };
        let deadline = host.deadline(DEEP_CHECK_LIMIT);
        let work = move || {
            let mut checkup = checkup;
            let findings = deep_findings(&mut checkup, Arc::clone(&changed), deadline);
            let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
            if !changed.load(Ordering::Relaxed) {
                tell(&checkup, &findings);
                *found = findings;
            }
        };
        // Without a thread there is no deep check, and nothing else is lost.
        let _ = thread::Builder::new().name("deep check".into()).stack_size(16 << 20).spawn(work);
        check
    }

    /// Returns the findings; empty until the check has ended.
    pub fn findings(&self) -> Vec<Diagnostic> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Drop for DeepCheck {
    /// Marks the check as overtaken; waits for the lock at most as long as a message takes to be sent.
    fn drop(&mut self) {
        let _found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        self.changed.store(true, Ordering::Relaxed);
    }
}

fn deep_findings(checkup: &mut TextCheckup, changed: Arc<AtomicBool>, deadline: Halt) -> Vec<Diagnostic> {
    let Some(model) = &mut checkup.loaded.model else { return Vec::new() };
    let halt = Halt::new(OvertakenSignal { changed, deadline });
    let mut solver = build_stack(&SolverConfig {
        backend: BackendChoice::Auto,
        halt: halt.clone(),
        ..SolverConfig::default()
    });
    let limits = ExploreLimits { max_states: MAX_EXPLORED_STATES, max_depth: u32::MAX };
    let config = ExploreConfig { limits, ..ExploreConfig::default() };
    let mut cx = Ctx::new(model, &mut solver);
    let mut go_on = |_: &_| match halt.halt_reason() {
        Some(_) => ControlFlow::Break(()),
        None => ControlFlow::Continue(()),
    };
    lint(&mut cx, &config, &mut go_on).findings
}
