//! Several threads that use one object at the same time, in an ordinary `#[test]`.
//!
//! The model says what each operation does when nothing else runs. [`check`] lets threads call one [`SharedSystem`] in
//! bursts that start together, and looks for one order of all operations that explains every answer: is the object
//! *linearizable*? The operations come from the model: few keys, values that are written once, reads in between. A
//! failure is a panic with the fewest operations that contradict each other.
//!
//! ```
//! use std::collections::HashMap;
//! use std::sync::Mutex;
//!
//! use ioxide::concurrent::{self, SharedSystem};
//! use ioxide::{GivenInput, ModelFile, Outputs, json};
//!
//! #[derive(Default)]
//! struct Counters(Mutex<HashMap<String, i64>>);
//!
//! impl SharedSystem for Counters {
//!     fn take(&self, input: &GivenInput<'_>, outputs: &mut Outputs) {
//!         let key = input.get("key");
//!         let mut counters = self.0.lock().expect("no thread panics");
//!         let n = counters.entry(key).or_insert(0);
//!         if input.name() == "add" {
//!             *n += 1;
//!         }
//!         outputs.emit("total", json!({ "n": *n }));
//!     }
//! }
//!
//! let model = ModelFile::text(
//!     "model Counters {
//!         input add(key: string)
//!         input read(key: string)
//!         output total(n: int)
//!         var counters: map<string, int> = {}
//!         var sum: int = 0
//!         fn count(held: int?) -> int = match held { none => 0, some(n) => n }
//!         state idle {
//!             on add { counters[key] = count(counters.get(key)) + 1, sum = count(counters.get(key)) + 1 } -> busy
//!             on read { sum = count(counters.get(key)) } -> busy
//!         }
//!         state busy { emit total(n: sum) -> idle }
//!     }",
//! );
//! let passed = concurrent::check(&model, Counters::default).clients(3).runs(20).run();
//! assert_eq!(passed.runs(), 20);
//! ```
//!
//! - **One handle for each thread**, as a connection or the sender of a channel: [`check_handles`].
//! - **Collisions are a matter of chance** with real threads, so a race may need many runs, and the same seed may find
//!   it once and not again. With the feature `shuttle` and a system that uses the types of the crate `shuttle`
//!   (`shuttle::sync::Mutex` for `std::sync::Mutex`), `ConcurrentCheck::run_with_shuttle` lets its scheduler choose
//!   the interleavings: then the seed decides everything.
//! - **Operations that never return** keep [`ConcurrentCheck::run`] waiting, as any test with a deadlock; with
//!   `shuttle` a deadlock is a failure.
//! - The model must be sequential: every input has exactly one answer. `ioxide check --sequential` proves it.

#[cfg(feature = "shuttle")]
mod scheduled;
mod threads;

use std::sync::Arc;
use std::time::Duration;

use ioxide_history::{Consistency, SequentialModel, prove_sequential};
use ioxide_model::sts::Model;
use ioxide_report::clients::{ClientCampaignView, ClientFailureCause, ClientFailureView};
use ioxide_run::concurrent::{
    ClientFailure, ClientVerdict, ConcurrentConfig, ConcurrentOutcome, FailureCause,
};
use ioxide_smt::stack::{SolverConfig, build_stack};
use ioxide_symex::Ctx;

use crate::check::parse_env;
use crate::failure::CheckFailure;
use crate::model::ModelFile;
use crate::system::{GivenInput, InProcess, Outputs};

/// The number of threads, if none is given. Chosen by feel: most races need two threads, some three.
const DEFAULT_CLIENTS: usize = 3;

/// The number of runs, if neither it nor a time is given. Chosen by feel: less than a second for a simple model.
const DEFAULT_RUNS: u64 = 100;

/// The number of operations of a run, if none is given. Chosen by feel: every run begins with a new system, and short
/// ones are judged and explained at once.
const DEFAULT_OPERATIONS: usize = 40;

/// A system that several threads use at the same time. Every run begins with a new one.
pub trait SharedSystem: Send + Sync {
    /// Does one operation: handles the input and emits the one output that answers it.
    fn take(&self, input: &GivenInput<'_>, outputs: &mut Outputs);
}

/// Makes the handle of one thread.
type Connect = Arc<dyn Fn() -> Box<dyn InProcess> + Send + Sync>;

/// Makes the system of one run.
type MakeSystem = Arc<dyn Fn() -> Connect + Send + Sync>;

/// The handle of one thread to a shared system.
struct SharedHandle<S>(Arc<S>);

impl<S: SharedSystem> InProcess for SharedHandle<S> {
    fn take(&mut self, input: &GivenInput<'_>, outputs: &mut Outputs) {
        self.0.take(input, outputs);
    }
}

/// A check of concurrent threads with its settings; [`run`](Self::run) carries it out.
#[must_use = "nothing is checked before `run`"]
pub struct ConcurrentCheck<'m> {
    model: &'m ModelFile,
    make: MakeSystem,
    clients: usize,
    operations: usize,
    runs: Option<u64>,
    time: Option<Duration>,
    seed: Option<u64>,
    consistency: Consistency,
}

/// Returns a check of the systems that `make` makes: all threads use the same one.
pub fn check<S: SharedSystem + 'static>(
    model: &ModelFile,
    make: impl Fn() -> S + Send + Sync + 'static,
) -> ConcurrentCheck<'_> {
    check_handles(model, move || {
        let system = Arc::new(make());
        move || SharedHandle(Arc::clone(&system))
    })
}

/// Returns a check of systems that give every thread a handle of its own.
///
/// For each run, `make` makes the system and returns a function, which every thread calls once for its handle. The
/// handle answers every input with one output.
///
/// ```
/// use std::sync::Arc;
/// use std::sync::atomic::{AtomicI64, Ordering};
///
/// use ioxide::concurrent;
/// use ioxide::{GivenInput, InProcess, ModelFile, Outputs, json};
///
/// struct Client(Arc<AtomicI64>);
///
/// impl InProcess for Client {
///     fn take(&mut self, _input: &GivenInput<'_>, outputs: &mut Outputs) {
///         outputs.emit("total", json!({ "n": self.0.fetch_add(1, Ordering::SeqCst) + 1 }));
///     }
/// }
///
/// let model = ModelFile::text(
///     "model Counter {
///         input add
///         output total(n: int)
///         var sum: int = 0
///         state idle { on add { sum = sum + 1 } -> busy }
///         state busy { emit total(n: sum) -> idle }
///     }",
/// );
/// let make = || {
///     let counter = Arc::new(AtomicI64::new(0));
///     move || Client(Arc::clone(&counter))
/// };
/// concurrent::check_handles(&model, make).runs(10).run();
/// ```
pub fn check_handles<C, H>(
    model: &ModelFile,
    make: impl Fn() -> H + Send + Sync + 'static,
) -> ConcurrentCheck<'_>
where
    C: InProcess + 'static,
    H: Fn() -> C + Send + Sync + 'static,
{
    let make: MakeSystem = Arc::new(move || {
        let connect = make();
        let boxed: Connect = Arc::new(move || Box::new(connect()));
        boxed
    });
    ConcurrentCheck {
        model,
        make,
        clients: DEFAULT_CLIENTS,
        operations: DEFAULT_OPERATIONS,
        runs: None,
        time: None,
        seed: None,
        consistency: Consistency::Linearizable,
    }
}

/// The result of a check of concurrent threads without a failure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConcurrentPassed {
    runs: usize,
    operations: usize,
    open: usize,
    inconclusive: usize,
}

impl ConcurrentPassed {
    /// Returns the number of runs.
    #[must_use]
    pub fn runs(&self) -> usize {
        self.runs
    }

    /// Returns the number of operations of all runs.
    #[must_use]
    pub fn operations(&self) -> usize {
        self.operations
    }

    /// Returns the number of operations that were not answered.
    #[must_use]
    pub fn open(&self) -> usize {
        self.open
    }

    /// Returns the number of runs without a verdict, because the search for an order was given up or the run was cut
    /// off.
    #[must_use]
    pub fn inconclusive(&self) -> usize {
        self.inconclusive
    }
}

impl ConcurrentCheck<'_> {
    /// Sets the number of threads, 3 without it; at least 2.
    pub fn clients(mut self, clients: usize) -> Self {
        self.clients = clients;
        self
    }

    /// Sets the number of operations of a run, 40 without it.
    pub fn operations(mut self, operations: usize) -> Self {
        self.operations = operations;
        self
    }

    /// Limits the number of runs; without it 100, or no limit if [`time`](Self::time) is given.
    pub fn runs(mut self, runs: u64) -> Self {
        self.runs = Some(runs);
        self
    }

    /// Limits the duration of the check: once `time` has passed, no other burst begins.
    pub fn time(mut self, time: Duration) -> Self {
        self.time = Some(time);
        self
    }

    /// Sets the seed that the operations derive from, instead of `IOXIDE_SEED` or 1.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = Some(seed);
        self
    }

    /// Asks for sequential consistency instead of linearizability: only the order of each thread's own operations
    /// counts, not which operation returned before another was called.
    pub fn sequentially_consistent(mut self) -> Self {
        self.consistency = Consistency::Sequential;
        self
    }

    /// Carries out the check with threads of the operating system.
    ///
    /// # Panics
    /// If no order explains the answers of some run, or the system cannot be tested.
    #[track_caller]
    pub fn run(self) -> ConcurrentPassed {
        // In a closure, the place of the panic would not be that of the caller.
        match self.try_run() {
            Ok(passed) => passed,
            Err(failure) => panic!("{failure}"),
        }
    }

    /// Makes the check with threads of the operating system.
    ///
    /// # Errors
    /// If no order explains the answers of some run, or the system cannot be tested.
    pub fn try_run(self) -> Result<ConcurrentPassed, CheckFailure> {
        self.check_with(threads::test_threads)
    }

    /// Carries out the check with the scheduler of `shuttle`: each run is one execution with an interleaving that the
    /// seed decides. The system must use the types of `shuttle`, or it is never interrupted. A deadlock is a failure.
    ///
    /// # Panics
    /// If no order explains the answers of some run, or the system cannot be tested.
    #[cfg(feature = "shuttle")]
    #[track_caller]
    pub fn run_with_shuttle(self) -> ConcurrentPassed {
        match self.try_run_with_shuttle() {
            Ok(passed) => passed,
            Err(failure) => panic!("{failure}"),
        }
    }

    /// Makes the check with the scheduler of `shuttle`, as [`run_with_shuttle`](Self::run_with_shuttle) does.
    ///
    /// # Errors
    /// If no order explains the answers of some run, or the system cannot be tested.
    #[cfg(feature = "shuttle")]
    pub fn try_run_with_shuttle(self) -> Result<ConcurrentPassed, CheckFailure> {
        self.check_with(scheduled::test_scheduled)
    }

    /// Makes the check; `test` carries out the runs.
    fn check_with(
        self,
        test: impl FnOnce(&mut CheckedSystem<'_, '_>, &ConcurrentConfig) -> ConcurrentOutcome,
    ) -> Result<ConcurrentPassed, CheckFailure> {
        let seed = self.seed.map_or_else(|| parse_env("IOXIDE_SEED"), |seed| Ok(Some(seed)));
        let seed = seed.map_err(|bad| CheckFailure::without_verdict(bad.to_string(), 1))?.unwrap_or(1);
        let trouble = |story: String| CheckFailure::without_verdict(story, seed);
        if self.clients < 2 {
            return Err(trouble("a check of concurrent threads needs at least 2 clients".to_owned()));
        }
        let mut model = self.model.model.clone();
        let shown = Arc::new(model.clone());
        let mut solver = build_stack(&SolverConfig::default());
        let mut cx = Ctx::new(&mut model, &mut solver);
        let sequential = prove_sequential(&mut cx)
            .map_err(|why| trouble(format!("the model is not sequential: {}", why.describe(&cx))))?;
        let config = ConcurrentConfig {
            clients: self.clients,
            seed,
            runs: self.runs.or_else(|| self.time.is_none().then_some(DEFAULT_RUNS)),
            time: self.time,
            operations: self.operations,
            consistency: self.consistency,
            spins: true,
            ..ConcurrentConfig::default()
        };
        let mut system =
            CheckedSystem { cx: &mut cx, sequential: &sequential, model: &shown, make: self.make };
        let outcome = test(&mut system, &config);
        if let Some(failure) = &outcome.failure {
            let parts = match &failure.cause {
                FailureCause::Inconsistent(judged) => judged.partition.describe(&cx),
                _ => String::new(),
            };
            let story = describe_failure(self.model, &shown, &config, failure, &parts);
            return Err(CheckFailure::with_verdict(story, seed));
        }
        conclude(&outcome).map_err(trouble)
    }
}

/// The system of a check, and what is known about it.
struct CheckedSystem<'a, 'm> {
    cx: &'a mut Ctx<'m>,
    sequential: &'a SequentialModel,
    model: &'a Arc<Model>,
    make: MakeSystem,
}

/// Returns the result of runs of which none failed; an error if nothing is known of the system.
fn conclude(outcome: &ConcurrentOutcome) -> Result<ConcurrentPassed, String> {
    if let Some(error) = &outcome.error {
        return Err(error.to_string());
    }
    if outcome.count(ClientVerdict::Passed) == 0 {
        let reason = outcome.find_inconclusive();
        return Err(reason.map_or_else(|| "nothing was run".to_owned(), |cause| cause.to_string()));
    }
    Ok(ConcurrentPassed {
        runs: outcome.runs.len(),
        operations: outcome.runs.iter().map(|run| run.operations).sum(),
        open: outcome.runs.iter().map(|run| run.open).sum(),
        inconclusive: outcome.count(ClientVerdict::Inconclusive),
    })
}

/// Returns the text about a failure: its core, the longest order that works, how often it came back.
fn describe_failure(
    file: &ModelFile,
    model: &Model,
    config: &ConcurrentConfig,
    failure: &ClientFailure,
    parts: &str,
) -> String {
    let breakdown = failure.cause.describe_breakdown(model).unwrap_or_default();
    let cause = match &failure.cause {
        FailureCause::Inconsistent(judged) => ClientFailureCause::Inconsistent { judged, parts },
        _ => ClientFailureCause::Breakdown(&breakdown),
    };
    let ClientFailure { run, history, reproduced, of, workload, .. } = failure;
    let (run, reproduced, of, workload) = (*run, *reproduced, *of, workload.as_ref());
    let view = ClientCampaignView {
        model,
        file: &file.name,
        sut: "the system in this process",
        seed: config.seed,
        clients: config.clients,
        consistency: config.consistency,
        runs: &[],
        failure: Some(ClientFailureView { run, history, cause, reproduced, of, workload }),
        error: None,
        is_interrupted: false,
        time_ns: 0,
    };
    view.failure_lines().join("\n")
}
