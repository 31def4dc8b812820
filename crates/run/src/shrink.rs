//! Failing runs made smaller, on the reset system.
//!
//! Delta debugging (Zeller, Hildebrandt, "Simplifying and isolating failure-inducing input", 2002) over the moves
//! of the run, inputs and looks alike, and over the values of its inputs, arranged like the shrinker of Hypothesis
//! (MacIver, Donaldson, "Test-case reduction via test-case generation", 2020): one order says what *smaller* is
//! ([`order`]), and passes offer smaller candidates, round after round, until a whole round changes nothing. So moves
//! are left out again after values became simpler, and the other way round.
//!
//! Before anything is left out, [short runs are planned](planning) with the model.
//!
//! *A price per try.* While it searches, a missing reply is waited for only as long as replies take on this system, times
//! a factor; the smallest run is confirmed with the full wait. Silences are left out first, and no candidate is tried
//! on a live system whose last input the model does not take after the replies of the recorded run.
//!
//! *Contract of a pass.* It offers candidates that depend on the best plan and nothing else, each smaller than that
//! plan; one that fails in the same way becomes the best, and the pass goes on from there. It returns when it has
//! nothing more to offer, or [`BudgetSpent`] if it may not go on.
//!
//! *Promises.* The trace returned was seen, and fails in the same way ([`FailureSign`]) as the first one. Every candidate
//! is observed after its last move, so that nothing it caused is charged to the next one. A smaller run is returned only
//! if it failed again when it was repeated; if none did, the run that was to be made smaller is. Only a
//! failure that happened again is made smaller: [`shrink`] takes a [`ConfirmedFailure`], which nothing but
//! [`repeat`] makes. [`ShrunkRun::minimal`] says that the run is 1-minimal: every single move was left out, and every
//! single value was replaced by each of its [simpler](simpler) ones, a reference by the simplest literals, in the run that is returned, and no smaller run
//! failed. One try each shows that of a system that does the same every time; where the repeated runs differed each has
//! [`TRIES`].

mod failure_sign;
mod order;
mod planning;
mod rerun;
mod simpler;
mod steps;
#[cfg(test)]
mod tests;
mod values;

use std::cmp::Ordering as Order;
use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use ioxide_model::label::Label;
use ioxide_model::sts::{GateKind, Sts};
use ioxide_model::trace::Trace;
use ioxide_symex::Monitor;
use ioxide_testgen::tester::replay::{
    PlannedMove, ReplyFlow, Unmentioned, plan_by_meaning, without_lost_references,
};
use ioxide_wire::adapter::AdapterError;

use crate::run::{FirstReplyWait, RunConfig, RunEnd, RunResult, RunSetup};

pub use self::failure_sign::FailureSign;
pub use self::rerun::{ConfirmedFailure, RerunResult, UnexpectedRerun, UnmadeReason, repeat};

use self::rerun::run_again;

/// The number of times a candidate is tried on a system that does not do the same every time. Chosen by feel: a
/// failure that comes every third time is missed in 4 of 100 cases.
pub const TRIES: u32 = 8;
/// Runs in a row that cannot even begin, after which the system is left alone. Chosen by feel: once may be an
/// accident.
const MAX_UNREACHED: u32 = 3;
/// The factor by which a missing reply is waited for longer than silence while searching; chosen by feel. A reply that
/// is later than that is missed here and found when the smallest run is confirmed.
const SEARCH_CONFIRM: u32 = 2;

/// The budget of the search for a smaller run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShrinkConfig {
    /// The number of runs, at most.
    pub attempts: u32,
    /// The time limit of the search, the repetitions at the end included, but for the step under way; `None` for no
    /// limit.
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
    /// The observed trace; that of the run that was to be made smaller if no smaller one was found.
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
    /// The number of smaller runs that failed once and not again: they are not what is returned.
    pub unconfirmed: u32,
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

/// The progress of a search for a smaller run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShrinkStatus {
    /// The number of runs tried.
    pub attempts: u32,
    /// The number of moves of the smallest failing run so far.
    pub steps: usize,
    /// The time that is left; `None` if there is no limit.
    pub left: Option<Duration>,
}

/// A callback for the progress of a search.
pub type ShrinkProgress<'p> = &'p mut dyn FnMut(ShrinkStatus);

/// Makes a failing run smaller that failed again.
pub fn shrink(
    setup: &mut RunSetup<'_, '_>,
    config: &RunConfig,
    failure: &ConfirmedFailure<'_>,
    budget: &ShrinkConfig,
    progress: ShrinkProgress<'_>,
) -> ShrunkRun {
    let mut search = ShrinkSearch::new(setup, config, failure, budget, progress);
    let mut minimal = search.rounds();
    let mut again = search.confirm(failure, budget.replays);
    // A run that was given up was tried already, so every round has fewer candidates left than the one before.
    while search.early().is_none() && (search.tries < TRIES && !again.is_steady || !again.is_first_choice) {
        search.tries = TRIES;
        minimal = search.rounds();
        again = search.confirm(failure, budget.replays);
    }
    let early = search.early();
    let ShrinkSearch { left, best, unconfirmed, .. } = search;
    let attempts = budget.attempts - left;
    let Confirmation { reproduced, of, is_first_choice, .. } = again;
    let minimal = minimal && is_first_choice;
    let SmallerRun { trace, signature, .. } = best;
    ShrunkRun { trace, signature, attempts, minimal, early, reproduced, of, unconfirmed }
}

/// Returns the observations of `trace` after its input `number`, or before its first input, up to the next input.
fn replies_after(sts: &Sts, trace: &Trace, number: Option<usize>) -> VecDeque<Label> {
    let is_ours =
        |label: &Label| matches!(label, Label::Input(gate, _) if sts.gates[*gate].kind == GateKind::Input);
    let start = match number {
        None => 0,
        Some(number) => {
            let inputs = trace.labels.iter().enumerate().filter(|(_, label)| is_ours(label));
            inputs.map(|(at, _)| at + 1).nth(number).unwrap_or(trace.len())
        }
    };
    trace.labels[start..].iter().take_while(|label| !is_ours(label)).cloned().collect()
}

/// A failing run that a search has found.
#[derive(Clone, Debug)]
struct SmallerRun {
    trace: Trace,
    plan: Vec<PlannedMove>,
    /// The text that is the same for failures of its kind; empty for the run that the search began with.
    signature: String,
}

/// The result of repeating the smallest run of a search.
#[derive(Clone, Copy, Debug)]
struct Confirmation {
    reproduced: u32,
    of: u32,
    is_steady: bool,
    /// False if a smaller run did not fail again.
    is_first_choice: bool,
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
    setup: &'s mut RunSetup<'b, 'm>,
    /// The settings of tries.
    config: RunConfig,
    /// The settings of repetitions, which wait as long as the campaign does.
    full: RunConfig,
    flow: ReplyFlow,
    progress: ShrinkProgress<'p>,
    attempts: u32,
    left: u32,
    deadline: Option<Instant>,
    sign: FailureSign,
    tries: u32,
    /// The smallest failing run so far.
    best: SmallerRun,
    /// The runs that were the smallest before, the first one first.
    before: Vec<SmallerRun>,
    /// The number of smaller runs that failed once and not again.
    unconfirmed: u32,
    /// The number of times a new best run was found.
    changes: u32,
    /// The number of times each candidate was tried, by its [meaning](order::meaning).
    tried: HashMap<Vec<PlannedMove>, u32>,
    unreached: u32,
}

impl<'s, 'b, 'm, 'p> ShrinkSearch<'s, 'b, 'm, 'p> {
    fn new(
        setup: &'s mut RunSetup<'b, 'm>,
        config: &RunConfig,
        failure: &ConfirmedFailure<'_>,
        budget: &ShrinkConfig,
        progress: ShrinkProgress<'p>,
    ) -> Self {
        let deadline = budget.time.and_then(|time| Instant::now().checked_add(time));
        let deadline = deadline.into_iter().chain(config.deadline).min();
        let trace = failure.trace().clone();
        let flow = ReplyFlow::new(setup.cx.pool, setup.cx.sts);
        let plan = plan_by_meaning(&flow, setup.cx.sts, &trace);
        Self {
            flow,
            // The last word on the smallest run is that of `confirm`, which awaits replies to their limit.
            config: RunConfig {
                first_reply: FirstReplyWait::Learnt,
                deadline,
                patience: config.patience.by_answers_seen(),
                confirm: config.confirm.min(SEARCH_CONFIRM),
                ..config.clone()
            },
            full: RunConfig { deadline, ..config.clone() },
            progress,
            attempts: budget.attempts,
            left: budget.attempts,
            deadline,
            sign: failure.sign(),
            tries: if failure.is_steady() { 1 } else { TRIES },
            best: SmallerRun { trace, plan, signature: String::new() },
            before: Vec::new(),
            unconfirmed: 0,
            changes: 0,
            tried: HashMap::new(),
            unreached: 0,
            setup,
        }
    }

    /// Repeats the passes until nothing changes; returns whether the best run is 1-minimal.
    fn rounds(&mut self) -> bool {
        // What is cheap and removes much comes once, before the rounds.
        if self.all(&[planning::planned_runs, steps::silences, steps::halves]).is_err() {
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

    /// Repeats the smallest run, and if it does not fail again, larger ones, back to the run that the search began with.
    fn confirm(&mut self, failure: &ConfirmedFailure<'_>, times: u32) -> Confirmation {
        let mut stride = 1;
        let mut is_first_choice = true;
        while !self.before.is_empty() {
            let again = repeat(self.setup, &self.full, &self.best.trace, self.sign, times);
            // If nothing could be repeated, nothing speaks against a run that failed when it was found.
            if again.failed > 0 || again.of == 0 {
                let (reproduced, of, is_steady) = (again.failed, again.of, again.is_steady());
                return Confirmation { reproduced, of, is_steady, is_first_choice };
            }
            is_first_choice = false;
            self.go_back(stride);
            // What one run in a row of smaller ones shows, its neighbours mostly show too.
            stride *= 2;
        }
        let (reproduced, of) = failure.reproduced();
        Confirmation { reproduced, of, is_steady: failure.is_steady(), is_first_choice }
    }

    /// Gives up the last `n` runs that were found, at most all of them.
    fn go_back(&mut self, n: usize) {
        let at = self.before.len().saturating_sub(n);
        self.unconfirmed += u32::try_from(self.before.len() - at).unwrap_or(u32::MAX);
        let mut gone = self.before.drain(at..);
        if let Some(larger) = gone.next() {
            self.best = larger;
        }
    }

    /// Does each pass once, until the budget is spent.
    fn all(&mut self, passes: &[ShrinkPass]) -> Result<(), BudgetSpent> {
        passes.iter().try_for_each(|pass| pass(self))
    }

    /// Returns the reason why no further run may be made; `None` if one may.
    fn early(&self) -> Option<ShrinkCutOff> {
        let is_late = self.deadline.is_some_and(|deadline| Instant::now() >= deadline);
        match () {
            () if self.setup.stop.load(Ordering::Relaxed) => Some(ShrinkCutOff::Stopped),
            () if self.unreached >= MAX_UNREACHED => Some(ShrinkCutOff::Unreached),
            () if self.left == 0 => Some(ShrinkCutOff::Attempts),
            () if is_late => Some(ShrinkCutOff::Time),
            () => None,
        }
    }

    /// Tries `plan`, unless it was tried; keeps it if it gives a smaller run that fails in the same way.
    fn offer(&mut self, mut plan: Vec<PlannedMove>) -> Result<CandidateFate, BudgetSpent> {
        // What the last input causes is seen only by whoever looks, and would else be charged to the next candidate.
        if !matches!(plan.last(), Some(PlannedMove::Look | PlannedMove::LookFor(_))) {
            plan.push(PlannedMove::Look);
        }
        if order::compare(&plan, &self.best.plan) != Order::Less {
            return Ok(CandidateFate::Refused);
        }
        let plan = without_lost_references(&self.flow, self.setup.cx.sts, &self.best.trace, plan);
        let meaning = order::meaning(&plan);
        if self.is_refuted_by_model(&plan) {
            return Ok(CandidateFate::Refused);
        }
        for _ in self.tried.get(&meaning).copied().unwrap_or(0)..self.tries {
            self.spend()?;
            *self.tried.entry(meaning.clone()).or_default() += 1;
            if self.attempt(&plan) == CandidateFate::Taken {
                return Ok(CandidateFate::Taken);
            }
        }
        Ok(CandidateFate::Refused)
    }

    /// Takes one try from the budget and reports the progress.
    fn spend(&mut self) -> Result<(), BudgetSpent> {
        if self.early().is_some() {
            return Err(BudgetSpent);
        }
        self.left -= 1;
        let left = self.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        let (attempts, steps) = (self.attempts - self.left, self.best.plan.len());
        (self.progress)(ShrinkStatus { attempts, steps, left });
        Ok(())
    }

    /// Tries a plan on the system; the run becomes the best one if it fails in the same way and is smaller.
    fn attempt(&mut self, plan: &[PlannedMove]) -> CandidateFate {
        let finished = run_again(self.setup, &self.config, plan, Unmentioned::Skip);
        if self.keep_if_smaller(finished) { CandidateFate::Taken } else { CandidateFate::Refused }
    }

    /// Makes a run the best one if it fails in the same way and is smaller; returns whether it did.
    fn keep_if_smaller(&mut self, finished: Option<RunResult>) -> bool {
        let Some(found) = finished.and_then(|finished| self.smaller_failure(finished)) else { return false };
        if self.sign.is_breakdown() && !self.breaks_again(&found.plan) {
            self.unconfirmed += 1;
            return false;
        }
        self.before.push(std::mem::replace(&mut self.best, found));
        self.changes += 1;
        true
    }

    /// Returns whether the model does not take the last input of `plan`, if the system replies as it did in the best run.
    /// Other inputs that it does not take are skipped, as the run skips them.
    ///
    /// Only where a run costs more than asking the model; and an answer of the system that the model does not allow after
    /// these moves, or that was not recorded, ends the question.
    fn is_refuted_by_model(&mut self, plan: &[PlannedMove]) -> bool {
        if self.setup.adapter.knows_silence() || self.setup.cx.sts.is_timed() {
            return false;
        }
        let cx = &mut *self.setup.cx;
        let mut monitor = Monitor::new(cx);
        let mut replies = replies_after(cx.sts, &self.best.trace, None);
        let last = plan.iter().rposition(|planned| planned.input().is_some());
        for (at, planned) in plan.iter().enumerate() {
            let label = match planned.input() {
                Some(input) => {
                    // What nobody looked for comes before the next input all the same.
                    while !monitor.accepts(cx, &input.label) {
                        let Some(label) = replies.pop_front() else { break };
                        if monitor.observe(cx, &label).is_err() {
                            return false;
                        }
                    }
                    replies = replies_after(cx.sts, &self.best.trace, Some(input.number));
                    if !monitor.accepts(cx, &input.label) {
                        if Some(at) == last {
                            return monitor.count_doubts() == 0;
                        }
                        replies.clear();
                        continue;
                    }
                    input.label.clone()
                }
                None => match replies.pop_front() {
                    Some(label) => label,
                    // A look after an input that was skipped sees silence or nothing new.
                    None => continue,
                },
            };
            if monitor.observe(cx, &label).is_err() {
                return false;
            }
        }
        false
    }

    /// Returns a run if it fails in the same way and is smaller than the best.
    fn smaller_failure(&mut self, finished: RunResult) -> Option<SmallerRun> {
        let is_unreached = matches!(finished.end, RunEnd::Error(AdapterError::Start { .. }));
        self.unreached = if is_unreached { self.unreached + 1 } else { 0 };
        let plan = plan_by_meaning(&self.flow, self.setup.cx.sts, &finished.trace);
        let is_smaller = order::compare(&plan, &self.best.plan) == Order::Less;
        let is_alike = FailureSign::of(&finished) == Some(self.sign);
        let signature = finished.signature.unwrap_or_default();
        (is_alike && is_smaller).then_some(SmallerRun { trace: finished.trace, plan, signature })
    }

    /// Returns whether the system breaks again with these moves: the first time it may still have been breaking because
    /// of the run before.
    fn breaks_again(&mut self, plan: &[PlannedMove]) -> bool {
        if self.early().is_some() {
            return false;
        }
        self.left -= 1;
        let again = run_again(self.setup, &self.config, plan, Unmentioned::Skip);
        again.is_some_and(|again| FailureSign::of(&again) == Some(self.sign))
    }
}
