//! Concurrent clients against one system: is what all of them saw together explained by some order of operations?
//!
//! A campaign consists of runs. Before each one the system is reset; then the clients get *bursts* of operations that
//! start together and use few keys. A call is dated right before its input is sent, a return right after its answer
//! was received, so every operation took effect between the two. After every burst nothing is under way, and what
//! happened is judged ([`LiveHistory`](ioxide_history::LiveHistory)); an operation without an answer stays open, and
//! then the run is judged at its end.
//!
//! *Promises.* A run fails only if no order explains it, or the system broke down without a fault. An operation without
//! an answer is never blamed. If a limit was reached, or nothing was answered, the run is inconclusive. Every fault is
//! ended before the campaign returns.

mod client;
mod faults;
mod plan;
mod round;
mod shrink;
#[cfg(test)]
mod tests;
mod workload;

use std::fmt;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use ioxide_history::{
    Consistency, History, HistoryJudgement, HistoryPartition, HistoryVerdict, SearchLimits, SequentialModel,
    ShrunkWorkload, UnknownCause, WorkloadSize,
};
use ioxide_model::label::Label;
use ioxide_model::sts::Model;
use ioxide_symex::Ctx;
use ioxide_wire::adapter::AdapterError;
use ioxide_wire::adapter::shared::{ClientConnector, FaultKind, SystemControl};

pub use self::plan::RunPlanner;

use self::client::ClientPool;
use self::round::{BurstSource, ClientRound, RoundVerdict};
use self::shrink::{FailureRate, Repetition, WorkloadShrinker};
use self::workload::{PlannedBurst, Workload};

/// The number of operations of a run, if none is given. Chosen by feel: enough for clients to get into each other's
/// way, and so few that a failure is judged and explained at once.
pub const DEFAULT_OPERATIONS: usize = 120;

/// The time limit for an answer, if none is given. Chosen by feel: a busy system answers much sooner, and the injected
/// faults are shorter.
pub const DEFAULT_REPLY_TIMEOUT: Duration = Duration::from_secs(2);

/// The time limit for repeating a failed run. Chosen by feel: the rate is a help, not a verdict.
const REPETITION_TIME: Duration = Duration::from_secs(10);

/// The time limit for making the workload of a failed run smaller. Chosen by feel: a smaller one is a help, and
/// somebody waits for it.
const SHRINK_TIME: Duration = Duration::from_secs(10);

/// The settings of a campaign with concurrent clients.
#[derive(Clone)]
pub struct ConcurrentConfig {
    /// The number of clients.
    pub clients: usize,
    /// The seed of all choices.
    pub seed: u64,
    /// The greatest number of runs; `None` for no limit.
    pub runs: Option<u64>,
    /// The time after which no further burst begins; `None` for no limit.
    pub time: Option<Duration>,
    /// The number of operations of a run.
    pub operations: usize,
    /// The time limit for an answer; an operation without one is open.
    pub reply_timeout: Duration,
    /// The consistency that is asked for.
    pub consistency: Consistency,
    /// The limits of every judgement.
    pub limits: SearchLimits,
    /// The faults to inject.
    pub faults: Vec<FaultKind>,
    /// The number of times that a failed run is repeated.
    pub repetitions: u32,
    /// True if a workload that fails is made smaller. Not for systems in this process: a smaller one could wait forever
    /// for a client that is left out, and no connection could be given up.
    pub shrinks: bool,
    /// True if clients wait for the begin of a burst without sleeping, so that operations of less than a microsecond
    /// overlap.
    pub spins: bool,
}

impl Default for ConcurrentConfig {
    fn default() -> Self {
        Self {
            clients: 2,
            seed: 1,
            runs: None,
            time: None,
            operations: DEFAULT_OPERATIONS,
            reply_timeout: DEFAULT_REPLY_TIMEOUT,
            consistency: Consistency::default(),
            limits: SearchLimits::default(),
            faults: Vec::new(),
            repetitions: 5,
            shrinks: false,
            spins: false,
        }
    }
}

/// The parts of a campaign: the model, and the system with the way to it.
pub struct ConcurrentSetup<'a, 'm> {
    /// The context of the model.
    pub cx: &'a mut Ctx<'m>,
    /// The model, which was proved to be sequential.
    pub model: &'a SequentialModel,
    /// The control over the system.
    pub control: &'a mut dyn SystemControl,
    /// The way by which clients connect.
    pub connector: &'a dyn ClientConnector,
    /// True once the campaign is to end; what was done is kept.
    pub stop: &'a AtomicBool,
}

/// The verdict on one run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClientVerdict {
    /// Some order explains it.
    Passed,
    /// No order explains it, or the system broke down.
    Failed,
    /// Neither is known.
    Inconclusive,
}

/// A run in a few words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientRun {
    /// The number of the run, from 1.
    pub number: u64,
    /// The verdict.
    pub verdict: ClientVerdict,
    /// The number of operations.
    pub operations: usize,
    /// The number of operations without an answer.
    pub open: usize,
    /// The number of faults.
    pub faults: usize,
    /// The time that it took.
    pub time: Duration,
    /// The reason why the verdict is inconclusive.
    pub unknown: Option<InconclusiveCause>,
}

/// The reason why a run is inconclusive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InconclusiveCause {
    /// The search for an order did not decide it.
    Search(UnknownCause),
    /// No operation was answered.
    NoAnswer,
    /// The run was cut off before all operations were done, as one in which clients wait for each other in a loop.
    Unfinished,
}

impl fmt::Display for InconclusiveCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Search(cause) => cause.fmt(f),
            Self::NoAnswer => f.write_str("no operation was answered"),
            Self::Unfinished => f.write_str("the run was cut off before all operations were done"),
        }
    }
}

/// The result of a campaign.
#[derive(Debug, Default)]
pub struct ConcurrentOutcome {
    /// The runs, in order.
    pub runs: Vec<ClientRun>,
    /// The failure, after which the campaign ended.
    pub failure: Option<ClientFailure>,
    /// The history of the last run, if none failed.
    pub last: Option<History>,
    /// The trouble on the way to the system that ended the campaign.
    pub error: Option<AdapterError>,
    /// True if the campaign was stopped.
    pub is_interrupted: bool,
    /// The time that it took.
    pub elapsed: Duration,
}

impl ConcurrentOutcome {
    /// Returns the reason of the first run that is inconclusive.
    #[must_use]
    pub fn find_inconclusive(&self) -> Option<InconclusiveCause> {
        self.runs.iter().find_map(|run| run.unknown)
    }

    /// Returns the number of runs with this verdict.
    #[must_use]
    pub fn count(&self, verdict: ClientVerdict) -> usize {
        self.runs.iter().filter(|run| run.verdict == verdict).count()
    }
}

/// A run that failed.
#[derive(Debug)]
pub struct ClientFailure {
    /// The number of the run, from 1.
    pub run: u64,
    /// The operations: those of the repetition with the fewest operations in its core, if one has fewer than the run.
    pub history: History,
    /// The cause.
    pub cause: FailureCause,
    /// The number of repetitions that failed as well.
    pub reproduced: u32,
    /// The number of repetitions.
    pub of: u32,
    /// A smaller workload that fails as well.
    pub workload: Option<ShrunkWorkload>,
}

/// The cause of a failure.
#[derive(Debug)]
pub enum FailureCause {
    /// No order explains the operations.
    Inconsistent(Box<HistoryJudgement>),
    /// A client got a message that answers nothing.
    Unasked {
        /// The client.
        client: String,
        /// The message.
        output: Label,
    },
    /// A client got an answer that is not a message of the model, or an exception.
    Misbehaved {
        /// The client.
        client: String,
        /// The error.
        error: AdapterError,
    },
    /// The system ended by itself.
    Ended(String),
}

impl FailureCause {
    /// Returns the sentence about a system that broke down; `None` if its operations are inconsistent.
    #[must_use]
    pub fn describe_breakdown(&self, model: &Model) -> Option<String> {
        match self {
            Self::Inconsistent(_) => None,
            Self::Unasked { client, output } => {
                let output = output.show(&model.pool, &model.sts);
                Some(format!("client {client} received {output} without a request"))
            }
            Self::Misbehaved { client, error } => Some(format!("client {client}: {error}")),
            Self::Ended(how) => Some(format!("the system ended by itself: {how}")),
        }
    }

    /// Returns the number of operations that contradict each other; a breakdown counts as one.
    #[must_use]
    pub fn core_size(&self) -> usize {
        match self {
            Self::Inconsistent(judged) => match &judged.verdict {
                HistoryVerdict::Inconsistent(core) => core.operations.len(),
                _ => usize::MAX,
            },
            Self::Unasked { .. } | Self::Misbehaved { .. } | Self::Ended(_) => 1,
        }
    }
}

/// Tests the system with several clients until a run fails, or the runs or the time are used up. `observe` is told of
/// every run that ended.
pub fn test_clients(
    setup: &mut ConcurrentSetup<'_, '_>,
    config: &ConcurrentConfig,
    observe: &mut dyn FnMut(&ClientRun),
) -> ConcurrentOutcome {
    let partition = HistoryPartition::derive(setup.cx, setup.model);
    let workload = Workload::new(setup.cx, setup.model, &partition);
    let (connector, stop) = (setup.connector, setup.stop);
    let start = Instant::now();
    // The clients are threads of this scope: whatever ends the campaign, none of them outlives it.
    let mut outcome = std::thread::scope(|scope| {
        let pool = ClientPool::start(scope, connector, config, stop);
        let mut campaign = ConcurrentCampaign { setup, config, pool, workload, partition, start };
        campaign.run(observe)
    });
    outcome.elapsed = start.elapsed();
    outcome
}

/// A campaign that is running.
struct ConcurrentCampaign<'c, 'a, 'm> {
    setup: &'c mut ConcurrentSetup<'a, 'm>,
    config: &'c ConcurrentConfig,
    pool: ClientPool,
    workload: Workload,
    partition: HistoryPartition,
    start: Instant,
}

impl ConcurrentCampaign<'_, '_, '_> {
    /// Does runs until one fails, or the runs or the time are used up.
    fn run(&mut self, observe: &mut dyn FnMut(&ClientRun)) -> ConcurrentOutcome {
        let mut outcome = ConcurrentOutcome::default();
        let deadline = self.config.time.and_then(|time| self.start.checked_add(time));
        for number in 1.. {
            if self.config.runs.is_some_and(|runs| number > runs) || is_over(deadline) {
                break;
            }
            let seed = run_seed(self.config.seed, number);
            let started_at = Instant::now();
            let round = self.round(BurstSource::Drawn { seed }, deadline);
            let is_over = is_over(deadline);
            if self
                .add_round(&mut outcome, (number, started_at.elapsed(), is_over), round, observe)
                .is_break()
            {
                break;
            }
        }
        outcome
    }

    /// Adds run `number`, which took `time`, to the outcome; a break if the campaign ends with it.
    fn add_round(
        &mut self,
        outcome: &mut ConcurrentOutcome,
        (number, time, is_over): (u64, Duration, bool),
        round: ClientRound,
        observe: &mut dyn FnMut(&ClientRun),
    ) -> ControlFlow<()> {
        let ClientRound { verdict, history, plan } = round;
        let (result, unknown) = match &verdict {
            RoundVerdict::Passed => (ClientVerdict::Passed, None),
            RoundVerdict::Failed(_) => (ClientVerdict::Failed, None),
            RoundVerdict::Unknown(cause) => (ClientVerdict::Inconclusive, Some(*cause)),
            RoundVerdict::Trouble(AdapterError::Interrupted) => {
                outcome.is_interrupted = true;
                return ControlFlow::Break(());
            }
            RoundVerdict::Trouble(error) => {
                outcome.error = Some(error.clone());
                return ControlFlow::Break(());
            }
        };
        let run = ClientRun {
            number,
            verdict: result,
            operations: history.operations.len(),
            open: history.count_open(),
            faults: history.faults.len(),
            time,
            unknown,
        };
        observe(&run);
        // A run that the end of the time cut off before its first answer says nothing about the system. It is counted
        // all the same if it is the only one that sent anything, so that a campaign is never empty without a word.
        let is_cut_off = unknown == Some(InconclusiveCause::NoAnswer) && is_over;
        if !is_cut_off || outcome.runs.is_empty() && !history.operations.is_empty() {
            outcome.runs.push(run);
        }
        if let RoundVerdict::Failed(cause) = verdict {
            outcome.failure = Some(self.settle_failure(number, history, cause, plan));
            return ControlFlow::Break(());
        }
        outcome.last = Some(history);
        if self.setup.stop.load(Ordering::Relaxed) {
            outcome.is_interrupted = true;
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }

    /// Repeats a failing run and makes it smaller.
    fn settle_failure(
        &mut self,
        run: u64,
        history: History,
        cause: FailureCause,
        plan: Vec<PlannedBurst>,
    ) -> ClientFailure {
        let failure = ClientFailure { run, history, cause, reproduced: 0, of: 0, workload: None };
        // Repeated first: shrinking takes the number of its tries from the rate that is measured here.
        let mut failure = self.repeat(&plan, failure);
        if self.config.shrinks {
            self.shrink(plan, &mut failure);
        }
        failure
    }

    /// Does one run.
    fn round(&mut self, source: BurstSource<'_>, deadline: Option<Instant>) -> ClientRound {
        round::run_round(self.setup, self.config, &mut self.pool, &mut self.workload, source, deadline)
    }

    /// Repeats a run that failed: returns the failure with the fewest operations in its core, and how many repetitions
    /// failed.
    fn repeat(&mut self, plan: &[PlannedBurst], mut failure: ClientFailure) -> ClientFailure {
        let deadline = Instant::now() + REPETITION_TIME;
        while failure.of < self.config.repetitions {
            match self.repeat_once(plan, deadline, &mut failure) {
                Repetition::Failed => failure.reproduced += 1,
                Repetition::Passed => (),
                Repetition::Ended => break,
            }
            failure.of += 1;
        }
        failure
    }

    /// Does one run with these bursts, unless the time is over. Its operations become those of the failure if the core
    /// is smaller.
    fn repeat_once(
        &mut self,
        plan: &[PlannedBurst],
        deadline: Instant,
        failure: &mut ClientFailure,
    ) -> Repetition {
        if is_over(Some(deadline)) || self.setup.stop.load(Ordering::Relaxed) {
            return Repetition::Ended;
        }
        let ClientRound { verdict, history, .. } = self.round(BurstSource::Repeated(plan), None);
        match verdict {
            RoundVerdict::Failed(cause) => {
                // History and cause change together, so that the cause is always about the history.
                if cause.core_size() < failure.cause.core_size() {
                    (failure.history, failure.cause) = (history, cause);
                }
                Repetition::Failed
            }
            // A repetition that was not decided counts against the rate: it is a lower bound.
            RoundVerdict::Passed | RoundVerdict::Unknown(_) => Repetition::Passed,
            RoundVerdict::Trouble(_) => Repetition::Ended,
        }
    }

    /// Looks for a smaller workload that fails as well.
    fn shrink(&mut self, plan: Vec<PlannedBurst>, failure: &mut ClientFailure) {
        let deadline = Instant::now() + SHRINK_TIME;
        let rate = FailureRate { failed: failure.reproduced, of: failure.of };
        let partition = self.partition.clone();
        let before = WorkloadSize::measure(plan.iter().map(|burst| &burst.inputs[..]));
        let mut repeat = |smaller: &[PlannedBurst]| self.repeat_once(smaller, deadline, failure);
        let part_of = |input: &Label| partition.part_of(input);
        let shrunk = WorkloadShrinker::new(plan, rate, part_of, &mut repeat).shrink();
        failure.workload = shrunk.map(|(plan, rate)| ShrunkWorkload {
            bursts: plan.into_iter().map(PlannedBurst::describe).collect(),
            before,
            reproduced: rate.failed,
            of: rate.of,
        });
    }
}

/// Returns the seed of a run of a campaign with this seed.
#[must_use]
pub fn run_seed(seed: u64, run: u64) -> u64 {
    // Campaigns with neighbouring seeds have no run in common before the millionth. The factor is part of what a seed
    // means: another one would change every run.
    seed.wrapping_mul(1_000_003).wrapping_add(run)
}

fn is_over(deadline: Option<Instant>) -> bool {
    deadline.is_some_and(|deadline| Instant::now() >= deadline)
}
