//! Failing runs made smaller, on the reset system.
//!
//! Delta debugging (Zeller, Hildebrandt, "Simplifying and isolating failure-inducing input", 2002) over the moves
//! of the run, inputs and looks alike, and over the values of its inputs, arranged like the shrinker of Hypothesis
//! (MacIver, Donaldson, "Test-case reduction via test-case generation", 2020): one order says what *smaller* is
//! ([`order`]), and passes offer smaller candidates, round after round, until a whole round changes nothing. So moves
//! are left out again after values became simpler, and the other way round.
//!
//! *Contract of a pass.* It offers candidates that depend on the best plan and nothing else, each smaller than that
//! plan; one that fails in the same way becomes the best, and the pass goes on from there. It returns when it has
//! nothing more to offer, or [`BudgetSpent`] if it may not go on.
//!
//! *Promises.* The trace returned was seen, and fails in the same way ([`FailureSign`]) as the first one. Only a
//! failure that happened again is made smaller: [`shrink`] takes a [`ConfirmedFailure`], which nothing but
//! [`repeat`] makes. [`ShrunkRun::minimal`] says that the run is 1-minimal: every single move was left out, and every
//! single value was replaced by each of its [simpler](simpler) ones, in the run that is returned, and no smaller run
//! failed. One try each shows that of a system that does the same every time; where the repeated runs differed each has
//! [`TRIES`].

mod failure_sign;
mod order;
mod rerun;
mod simpler;
mod steps;
#[cfg(test)]
mod tests;
mod values;

use std::cmp::Ordering as Order;
use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use ioxide_model::trace::Trace;
use ioxide_testgen::tester::replay::{PlannedMove, Unmentioned, plan_of};

use crate::adapter::AdapterError;
use crate::run::{FirstReplyWait, RunConfig, RunEnd, RunSetup};

pub use self::failure_sign::FailureSign;
pub use self::rerun::{ConfirmedFailure, RerunResult, UnexpectedRerun, UnmadeReason, repeat};

use self::rerun::run_again;

/// The number of times a candidate is tried on a system that does not do the same every time.
pub const TRIES: u32 = 8;
/// Runs in a row that cannot even begin, after which the system is left alone.
const MAX_UNREACHED: u32 = 3;

/// The budget of the search for a smaller run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShrinkConfig {
    /// The number of runs, at most.
    pub attempts: u32,
    /// The time limit of the search, not counting the run under way at its end; `None` for no limit.
    pub time: Option<Duration>,
    /// The number of times the smallest run is repeated at the end.
    pub replays: u32,
    /// The failure that is to be made smaller; any if `None`.
    pub only: Option<FailureSign>,
}

impl Default for ShrinkConfig {
    /// A thousand runs, no time limit, and five repetitions at the end.
    fn default() -> Self {
        Self { attempts: 1_000, time: None, replays: 5, only: None }
    }
}

/// A smaller failing run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShrunkRun {
    /// The observed trace; its last label is the forbidden one.
    pub trace: Trace,
    /// The text that is the same for failures of its kind; empty if no smaller run was found.
    pub signature: String,
    /// The number of runs the search took.
    pub attempts: u32,
    /// True if no single move can be left out and no single value be simpler, as far as the attempts show.
    pub minimal: bool,
    /// The reason why the search ended early; `None` if it came to its end.
    pub early: Option<ShrinkCutOff>,
    /// The number of repetitions that failed again, in the same way.
    pub reproduced: u32,
    /// The number of repetitions that were made.
    pub of: u32,
}

/// The reason why a search for a smaller run ended early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShrinkCutOff {
    /// The budget of runs is spent.
    Attempts,
    /// The time limit is exceeded.
    Time,
    /// The search was stopped by request.
    Stopped,
    /// The system cannot be started or reached any more.
    Unreached,
}

impl fmt::Display for ShrinkCutOff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Attempts => "it has had its runs",
            Self::Time => "it has had its time",
            Self::Stopped => "it was stopped",
            Self::Unreached => "the system cannot be reached any more",
        })
    }
}

/// A callback for the progress of a search: the number of runs tried, and of the moves of the smallest failing run.
pub type ShrinkProgress<'p> = &'p mut dyn FnMut(u32, usize);

/// Makes a failing run smaller that failed again.
pub fn shrink(
    bench: &mut RunSetup<'_, '_>,
    config: &RunConfig,
    failure: &ConfirmedFailure<'_>,
    budget: &ShrinkConfig,
    progress: ShrinkProgress<'_>,
) -> ShrunkRun {
    let mut search = ShrinkSearch::new(bench, config, failure, budget, progress);
    let mut minimal = search.rounds();
    let mut again = search.again(budget.replays);
    if search.tries < TRIES && !again.is_steady() {
        search.tries = TRIES;
        minimal = search.rounds();
        again = search.again(budget.replays);
    }
    let early = search.early();
    let ShrinkSearch { left, best, signature, .. } = search;
    let attempts = budget.attempts - left;
    let (reproduced, of) = (again.failed, again.of);
    ShrunkRun { trace: best, signature, attempts, minimal, early, reproduced, of }
}

/// The sign that the search may not go on: its budget is spent, it was stopped, or the system is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct BudgetSpent;

/// The result of trying a candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CandidateFate {
    /// The candidate failed in the same way, and is now the best.
    Taken,
    /// The candidate gives no smaller run that fails in the same way.
    Refused,
}

/// A pass; the module says what it must keep to.
type ShrinkPass = fn(&mut ShrinkSearch<'_, '_, '_, '_>) -> Result<(), BudgetSpent>;

/// The passes after which the run is 1-minimal, if they change nothing.
const ESSENTIAL: [ShrinkPass; 3] = [steps::singles, values::alone, values::sooner];
/// The passes that find more than single changes do; they come when single changes find nothing more.
const FURTHER: [ShrinkPass; 4] = [values::together, steps::blocks, steps::pairs, steps::fewer_for_less];

/// The search for a smaller run.
struct ShrinkSearch<'s, 'b, 'm, 'p> {
    bench: &'s mut RunSetup<'b, 'm>,
    config: RunConfig,
    progress: ShrinkProgress<'p>,
    attempts: u32,
    left: u32,
    deadline: Option<Instant>,
    sign: FailureSign,
    tries: u32,
    /// The smallest failing run so far, its plan, and its signature.
    best: Trace,
    plan: Vec<PlannedMove>,
    signature: String,
    /// The number of times a new best run was found.
    changes: u32,
    /// The number of times each candidate was tried.
    tried: HashMap<Vec<PlannedMove>, u32>,
    unreached: u32,
}

impl<'s, 'b, 'm, 'p> ShrinkSearch<'s, 'b, 'm, 'p> {
    fn new(
        bench: &'s mut RunSetup<'b, 'm>,
        config: &RunConfig,
        failure: &ConfirmedFailure<'_>,
        budget: &ShrinkConfig,
        progress: ShrinkProgress<'p>,
    ) -> Self {
        Self {
            // The last word on the smallest run is that of `again`, which awaits a first reply to its limit.
            config: RunConfig { first_reply: FirstReplyWait::Learnt, ..config.clone() },
            progress,
            attempts: budget.attempts,
            left: budget.attempts,
            deadline: budget.time.and_then(|time| Instant::now().checked_add(time)),
            sign: failure.sign(),
            tries: if failure.is_steady() { 1 } else { TRIES },
            best: failure.trace().clone(),
            plan: plan_of(bench.cx.sts, failure.trace()),
            signature: String::new(),
            changes: 0,
            tried: HashMap::new(),
            unreached: 0,
            bench,
        }
    }

    /// Repeats the passes until nothing changes; returns whether the best run is 1-minimal.
    fn rounds(&mut self) -> bool {
        // What is cheap and removes much comes once, before the rounds.
        if steps::halves(self).is_err() {
            return false;
        }
        let mut minimal_at = None;
        loop {
            let before = self.changes;
            if self.all(&ESSENTIAL).is_err() {
                break;
            }
            if self.changes != before {
                continue;
            }
            minimal_at = Some(before);
            if self.all(&FURTHER).is_err() || self.changes == before {
                break;
            }
        }
        minimal_at == Some(self.changes)
    }

    /// Repeats the best run.
    fn again(&mut self, times: u32) -> RerunResult {
        repeat(self.bench, &self.config, &self.best, self.sign, times)
    }

    fn all(&mut self, passes: &[ShrinkPass]) -> Result<(), BudgetSpent> {
        passes.iter().try_for_each(|pass| pass(self))
    }

    /// Returns the reason why no further run may be made; `None` if one may.
    fn early(&self) -> Option<ShrinkCutOff> {
        let is_late = self.deadline.is_some_and(|deadline| Instant::now() >= deadline);
        match () {
            () if self.bench.stop.load(Ordering::Relaxed) => Some(ShrinkCutOff::Stopped),
            () if self.unreached >= MAX_UNREACHED => Some(ShrinkCutOff::Unreached),
            () if self.left == 0 => Some(ShrinkCutOff::Attempts),
            () if is_late => Some(ShrinkCutOff::Time),
            () => None,
        }
    }

    /// Tries `plan`, unless it was tried; keeps it if it gives a smaller run that fails in the same way.
    fn offer(&mut self, plan: Vec<PlannedMove>) -> Result<CandidateFate, BudgetSpent> {
        if order::compare(&plan, &self.plan) != Order::Less {
            return Ok(CandidateFate::Refused);
        }
        for _ in self.tried.get(&plan).copied().unwrap_or(0)..self.tries {
            if self.early().is_some() {
                return Err(BudgetSpent);
            }
            self.left -= 1;
            (self.progress)(self.attempts - self.left, self.plan.len());
            *self.tried.entry(plan.clone()).or_default() += 1;
            if self.attempt(&plan) == CandidateFate::Taken {
                return Ok(CandidateFate::Taken);
            }
        }
        Ok(CandidateFate::Refused)
    }

    fn attempt(&mut self, plan: &[PlannedMove]) -> CandidateFate {
        let Some(finished) = run_again(self.bench, &self.config, plan, Unmentioned::Skip) else {
            return CandidateFate::Refused;
        };
        let is_unreached = matches!(finished.end, RunEnd::Error(AdapterError::Start { .. }));
        self.unreached = if is_unreached { self.unreached + 1 } else { 0 };
        let plan = plan_of(self.bench.cx.sts, &finished.trace);
        let is_smaller = order::compare(&plan, &self.plan) == Order::Less;
        if FailureSign::of(&finished) != Some(self.sign) || !is_smaller {
            return CandidateFate::Refused;
        }
        (self.plan, self.best) = (plan, finished.trace);
        self.signature = finished.signature.unwrap_or_default();
        self.changes += 1;
        CandidateFate::Taken
    }
}
