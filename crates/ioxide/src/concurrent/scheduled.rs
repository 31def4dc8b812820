//! Executions under the scheduler of `shuttle`: one thread at a time runs, and it is interrupted where it uses a type
//! of `shuttle`.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use ioxide_history::{History, HistoryBuilder, HistoryConfig, HistoryError, HistoryVerdict, judge_history};
use ioxide_model::label::Label;
use ioxide_model::sts::Model;
use ioxide_run::concurrent::{
    ClientFailure, ClientRun, ClientVerdict, ConcurrentConfig, ConcurrentOutcome, FailureCause,
    InconclusiveCause, RunPlanner, run_seed,
};
use ioxide_wire::adapter::AdapterError;
use shuttle::scheduler::RandomScheduler;
use shuttle::{Config, MaxSteps, Runner};

use super::{CheckedSystem, MakeSystem};
use crate::bench::{label_of, words};
use crate::panics::catch;
use crate::system::{GivenInput, InProcess, Outputs, TestMistake};

/// The greatest number of interruptions of an execution, after which it is given up. Chosen by feel: a run of short
/// operations needs a few hundred; one that waits in a loop for another thread could go on forever.
const MAX_STEPS: usize = 100_000;

/// The stack of a thread, in bytes. Chosen by feel: that of `shuttle` is too small for systems that write JSON.
const STACK_SIZE: usize = 1 << 20;

/// One run: bursts with one list of inputs for every client.
type RunPlan = Vec<Vec<Vec<Label>>>;

/// Tests the system with the scheduler of `shuttle`.
pub(super) fn test_scheduled(
    system: &mut CheckedSystem<'_, '_>,
    config: &ConcurrentConfig,
) -> ConcurrentOutcome {
    let start = Instant::now();
    let mut outcome = ConcurrentOutcome::default();
    let mut planner = RunPlanner::new(system.cx, system.sequential, config.seed);
    for number in 1..=config.runs.unwrap_or(u64::MAX) {
        if config.time.is_some_and(|time| start.elapsed() >= time) {
            break;
        }
        let begun = Instant::now();
        let plan = planner.plan_run(system.cx, system.sequential, number, config.clients, config.operations);
        let plan = Arc::new(plan);
        let Execution { history, end } = execute(system, &plan, run_seed(config.seed, number));
        let verdict = match judge(system, config, &history, end) {
            Ok(verdict) => verdict,
            Err(error) => {
                outcome.error = Some(error);
                break;
            }
        };
        let (result, unknown) = match &verdict {
            ExecutionVerdict::Passed => (ClientVerdict::Passed, None),
            ExecutionVerdict::Failed(_) => (ClientVerdict::Failed, None),
            ExecutionVerdict::Unknown(cause) => (ClientVerdict::Inconclusive, Some(*cause)),
        };
        outcome.runs.push(ClientRun {
            number,
            verdict: result,
            operations: history.operations.len(),
            open: history.count_open(),
            faults: 0,
            time: begun.elapsed(),
            unknown,
        });
        if let ExecutionVerdict::Failed(cause) = verdict {
            let failure =
                ClientFailure { run: number, history, cause: *cause, reproduced: 0, of: 0, workload: None };
            outcome.failure = Some(repeat(system, config, &plan, failure));
            break;
        }
        outcome.last = Some(history);
    }
    outcome.elapsed = start.elapsed();
    outcome
}

/// Repeats a run that failed with other interleavings: returns the failure with the fewest operations in its core.
fn repeat(
    system: &mut CheckedSystem<'_, '_>,
    config: &ConcurrentConfig,
    plan: &Arc<RunPlan>,
    mut failure: ClientFailure,
) -> ClientFailure {
    for at in 0..config.repetitions {
        let Execution { history, end } =
            execute(system, plan, run_seed(config.seed, failure.run + 1 + u64::from(at)));
        let Ok(verdict) = judge(system, config, &history, end) else { break };
        failure.of += 1;
        if let ExecutionVerdict::Failed(cause) = verdict {
            failure.reproduced += 1;
            if cause.core_size() < failure.cause.core_size() {
                (failure.history, failure.cause) = (history, *cause);
            }
        }
    }
    failure
}

/// An execution that has ended.
struct Execution {
    history: History,
    end: ExecutionEnd,
}

/// The end of an execution.
enum ExecutionEnd {
    /// All operations were done.
    Complete,
    /// It was given up after [`MAX_STEPS`].
    CutOff,
    /// Something happened that no order explains.
    Failed(Box<FailureCause>),
    /// The test made a mistake.
    Trouble(AdapterError),
}

/// The verdict on an execution.
enum ExecutionVerdict {
    Passed,
    Failed(Box<FailureCause>),
    Unknown(InconclusiveCause),
}

/// Judges an execution.
fn judge(
    system: &mut CheckedSystem<'_, '_>,
    config: &ConcurrentConfig,
    history: &History,
    end: ExecutionEnd,
) -> Result<ExecutionVerdict, AdapterError> {
    let is_complete = match end {
        ExecutionEnd::Complete => true,
        ExecutionEnd::CutOff => false,
        ExecutionEnd::Failed(cause) => return Ok(ExecutionVerdict::Failed(cause)),
        ExecutionEnd::Trouble(error) => return Err(error),
    };
    if history.operations.iter().all(|operation| operation.answer.is_none()) {
        return Ok(ExecutionVerdict::Unknown(InconclusiveCause::NoAnswer));
    }
    let settings =
        HistoryConfig { consistency: config.consistency, limits: config.limits.clone(), skips_core: false };
    let judged = judge_history(system.cx, system.sequential, history, &settings);
    Ok(match &judged.verdict {
        HistoryVerdict::Inconsistent(_) => {
            ExecutionVerdict::Failed(Box::new(FailureCause::Inconsistent(Box::new(judged))))
        }
        HistoryVerdict::Unknown(cause) => ExecutionVerdict::Unknown(InconclusiveCause::Search(*cause)),
        HistoryVerdict::Consistent(_) | HistoryVerdict::Unspecified(_) if is_complete => {
            ExecutionVerdict::Passed
        }
        HistoryVerdict::Consistent(_) | HistoryVerdict::Unspecified(_) => {
            ExecutionVerdict::Unknown(InconclusiveCause::Unfinished)
        }
    })
}

/// Carries out a run with the interleaving of this seed.
fn execute(system: &CheckedSystem<'_, '_>, plan: &Arc<RunPlan>, seed: u64) -> Execution {
    let log = Arc::new(Mutex::new(ExecutionLog::default()));
    let clients = plan.first().map_or(0, Vec::len);
    let scene = Scene {
        model: Arc::clone(system.model),
        make: Arc::clone(&system.make),
        plan: Arc::clone(plan),
        log: Arc::clone(&log),
        clients,
    };
    let mut config = Config::new();
    config.stack_size = STACK_SIZE;
    config.max_steps = MaxSteps::ContinueAfter(MAX_STEPS);
    config.failure_persistence = shuttle::FailurePersistence::None;
    let runner = Runner::new(RandomScheduler::new_from_seed(seed, 1), config);
    // A panic of the system ends the whole execution, and so does a deadlock, which `shuttle` reports by a panic.
    let panic = catch(move || runner.run(move || scene.play())).err();
    let log = std::mem::take(&mut *log.lock().unwrap_or_else(PoisonError::into_inner));
    let end = match (panic, log.end) {
        (Some(panic), _) => match panic.payload.downcast::<TestMistake>() {
            Ok(mistake) => ExecutionEnd::Trouble(AdapterError::Mistake(mistake.0)),
            Err(payload) => {
                let how = format!("it panicked: {}", words(&*payload));
                ExecutionEnd::Failed(Box::new(FailureCause::Ended(how)))
            }
        },
        (None, Some(end)) => end,
        (None, None) => ExecutionEnd::CutOff,
    };
    Execution { history: log.builder.finish(), end }
}

/// The events of an execution. Only one thread runs at a time, so their order is that in which they happened.
#[derive(Default)]
struct ExecutionLog {
    builder: HistoryBuilder,
    end: Option<ExecutionEnd>,
}

/// The system, the operations and the log of an execution.
struct Scene {
    model: Arc<Model>,
    make: MakeSystem,
    plan: Arc<RunPlan>,
    log: Arc<Mutex<ExecutionLog>>,
    clients: usize,
}

impl Scene {
    /// Plays the plan once, in an order that the scheduler chooses.
    fn play(&self) {
        let connect = (self.make)();
        let barrier = Arc::new(shuttle::sync::Barrier::new(self.clients));
        let start = |client: usize| {
            let (connect, barrier) = (Arc::clone(&connect), Arc::clone(&barrier));
            let (model, plan, log) = (Arc::clone(&self.model), Arc::clone(&self.plan), Arc::clone(&self.log));
            let clients = self.clients;
            shuttle::thread::spawn(move || {
                let mut client =
                    ScheduledClient { model, log, handle: connect(), number: client + 1, clients };
                for burst in &*plan {
                    barrier.wait();
                    burst[client.number_in_plan()].iter().for_each(|input| client.ask(input));
                }
            })
        };
        let threads: Vec<_> = (0..self.clients).map(start).collect();
        for thread in threads {
            // A thread that panics ends the execution, so there is no error to handle here.
            thread.join().ok();
        }
        let mut log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        log.end.get_or_insert(ExecutionEnd::Complete);
    }
}

/// A thread with its handle.
struct ScheduledClient {
    model: Arc<Model>,
    log: Arc<Mutex<ExecutionLog>>,
    handle: Box<dyn InProcess>,
    /// The number under which operations are recorded, from 1; another one after each open operation.
    number: usize,
    clients: usize,
}

impl ScheduledClient {
    fn number_in_plan(&self) -> usize {
        (self.number - 1) % self.clients
    }

    /// Does one operation and records it.
    fn ask(&mut self, input: &Label) {
        let name = self.number.to_string();
        self.record(|log| log.builder.call(&name, input.clone(), None));
        let mut outputs = Outputs::default();
        // No lock of the log is held here: the scheduler may go on with another thread.
        self.handle.take(&GivenInput::new(&self.model, input), &mut outputs);
        let model = Arc::clone(&self.model);
        let mut said = outputs.said.into_iter().map(|(output, fields)| label_of(&model, output, fields));
        let misbehaved = |error| FailureCause::Misbehaved { client: name.clone(), error };
        match (said.next(), said.next()) {
            (None, _) => {
                self.record(|log| log.builder.leave_open(&name));
                self.number += self.clients;
            }
            (Some(Ok(answer)), None) => self.record(|log| log.builder.answer(&name, answer, None)),
            (Some(Ok(_)), Some(Ok(output))) => {
                self.fail(FailureCause::Unasked { client: name.clone(), output });
            }
            (Some(Err(error)), _) | (Some(Ok(_)), Some(Err(error))) => self.fail(misbehaved(error)),
        }
    }

    /// Notes something in the log, unless the execution has ended; an error ends it.
    fn record(&self, note: impl FnOnce(&mut ExecutionLog) -> Result<(), HistoryError>) {
        let mut log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        if log.end.is_none()
            && let Err(error) = note(&mut log)
        {
            log.end = Some(ExecutionEnd::Trouble(AdapterError::Broken(error.to_string())));
        }
    }

    /// Ends the execution as failed, unless it has ended before.
    fn fail(&self, cause: FailureCause) {
        let mut log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        log.end.get_or_insert(ExecutionEnd::Failed(Box::new(cause)));
    }
}
