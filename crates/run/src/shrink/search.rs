//! The search for a smaller run: candidates are tried, best first, and one that fails in the same way is the next best.
//!
//! Where the campaign has several copies of the system, the next candidates are tried at once: those that would be
//! tried one after the other if each were refused. The first of them that fails in the same way is taken, and what the
//! later ones showed is dropped, so the runs that are taken are the same as with one copy.

use std::cmp::Ordering as Order;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use ioxide_model::label::Label;
use ioxide_model::number::Rational;
use ioxide_model::sts::Sts;
use ioxide_model::trace::Trace;
use ioxide_testgen::tester::replay::{
    PlannedMove, ReplyFlow, Unmentioned, plan_by_meaning, with_distances, without_lost_references,
};

use ioxide_record::event::HttpExchange;
use ioxide_wire::adapter::AdapterError;

use super::copies::IdleSystems;
use super::edit::{EditClass, EditQueues, PlanEdit, QueuedEdit};
use super::failure_sign::FailureSign;
use super::price::{EditChances, TryPrices};
use super::related::is_own_input;
use super::rerun::{ConfirmedFailure, UnmadeReason, repeat, run_again};
use super::steps::{segments, without};
use super::{
    MAX_UNREACHED, SEARCH_CONFIRM, ShrinkConfig, ShrinkCutOff, ShrinkProgress, ShrinkStatus, TRIES, order,
    planning, refute, shortcuts, steps, values,
};
use crate::clock::halt::halt_at;
use crate::run::{FirstReplyWait, RunConfig, RunEnd, RunResult, RunSetup};

/// The number of repetitions that must fail before a smaller run that fails only sometimes is accepted. Chosen by feel:
/// one failure may be another fault, and three in ten are hardly chance.
pub(super) const MIN_CONFIRMED: u32 = 3;
/// The number of repetitions of a smaller run that does not fail every time; [`MIN_CONFIRMED`] of them must fail.
/// Chosen by feel: more would accept runs that fail more rarely, and take longer.
const FLAKY_REPLAYS: u32 = 10;
/// The greatest share of the time of the search that is kept for the repetitions at its end, as a divisor. Chosen by
/// feel: with less, the smallest run may be left unconfirmed; with more, it is less small.
const CONFIRMATION_SHARE: u32 = 4;

/// Returns the longest time in seconds that is no wait on a real clock: a twentieth. Chosen by feel: a busy machine
/// takes a few hundredths between a message and the next input, and no person sees the difference.
fn shortest_wait() -> Rational {
    Rational::from(1).div(&Rational::from(20))
}

/// Returns the moves that made a failing run, up to its failure. Observations after the forbidden label only showed
/// that nothing explains it, and a replay waits for them by itself; inputs after it may have been needed to see that.
fn plan_of_failure(flow: &ReplyFlow, sts: &Sts, trace: &Trace) -> Vec<PlannedMove> {
    let has_input = |labels: &[Label]| labels.iter().any(|label| is_own_input(sts, label));
    match trace.forbidden_at.filter(|at| *at < trace.len() && !has_input(&trace.labels[*at..])) {
        Some(at) => {
            let labels = trace.labels[..=at].to_vec();
            plan_by_meaning(flow, sts, &Trace { labels, ..trace.clone() })
        }
        None => plan_by_meaning(flow, sts, trace),
    }
}

/// A failing run that a search has found.
#[derive(Clone, Debug)]
pub(super) struct SmallerRun {
    pub(super) trace: Trace,
    pub(super) plan: Vec<PlannedMove>,
    /// The text that is the same for failures of its kind; empty for the run that the search began with.
    pub(super) signature: String,
    /// Its requests by HTTP, with their answers; empty for the run that the search began with.
    pub(super) exchanges: Vec<HttpExchange>,
}

/// The result of repeating the smallest run of a search.
#[derive(Clone, Copy, Debug)]
pub(super) struct Confirmation {
    pub(super) reproduced: u32,
    pub(super) of: u32,
    /// The number of times a candidate has to be tried before it is refused.
    pub(super) tries: u32,
    /// False if a smaller run did not fail again often enough.
    pub(super) is_first_choice: bool,
}

/// The sign that the search may not go on: its budget is spent, it was stopped, or the system is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BudgetSpent;

/// The result of a try.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TryOutcome {
    /// It failed in the same way and is the smallest run now.
    Smaller,
    /// It failed in the same way, but is not smaller than the smallest run.
    NotSmaller,
    /// It did not fail in the same way.
    NoFailure,
}

/// A candidate that is being tried.
struct Candidate {
    edit: QueuedEdit,
    plan: Vec<PlannedMove>,
    meaning: Vec<PlannedMove>,
    /// The number of tries that are left.
    left: u32,
    /// The chances when it was picked, as if all before it were refused.
    chances: EditChances,
}

/// The search for a smaller run.
pub(super) struct ShrinkSearch<'s, 'b, 'm, 'p> {
    pub(super) setup: &'s mut RunSetup<'b, 'm>,
    /// The settings of tries.
    pub(super) config: RunConfig,
    /// The settings of repetitions, which wait as long as the campaign does.
    full: RunConfig,
    flow: ReplyFlow,
    copies: Option<&'s IdleSystems>,
    progress: ShrinkProgress<'p>,
    attempts: u32,
    pub(super) left: u32,
    pub(super) deadline: Option<Instant>,
    /// The time that it may take; `None` if there is no limit.
    limit: Option<Duration>,
    /// The time before the deadline that is kept for the repetitions at the end.
    reserve: Duration,
    pub(super) sign: FailureSign,
    pub(super) tries: u32,
    /// The smallest failing run so far.
    pub(super) best: SmallerRun,
    /// The runs that were the smallest before, the first one first.
    before: Vec<SmallerRun>,
    /// The number of smaller runs that failed once and not again.
    pub(super) unconfirmed: u32,
    /// The number of times each candidate was tried, by its [meaning](order::meaning).
    tried: HashMap<Vec<PlannedMove>, u32>,
    prices: TryPrices,
    chances: EditChances,
    /// The place of the last edit that was taken, by class.
    sweeps: BTreeMap<EditClass, usize>,
    unreached: u32,
    /// The seconds of a wait that is none: on a real clock every input comes a moment after the last message.
    least_wait: Rational,
}

impl<'s, 'b, 'm, 'p> ShrinkSearch<'s, 'b, 'm, 'p> {
    /// Prepares the search for a run smaller than `failure`. It ends at the earlier of both deadlines, and reserves a
    /// part of its time for the repetitions at the end.
    pub(super) fn new(
        setup: &'s mut RunSetup<'b, 'm>,
        config: &RunConfig,
        failure: &ConfirmedFailure<'_>,
        budget: &ShrinkConfig,
        copies: Option<&'s IdleSystems>,
        progress: ShrinkProgress<'p>,
    ) -> Self {
        let deadline = budget.time.and_then(|time| Instant::now().checked_add(time));
        let deadline = deadline.into_iter().chain(config.deadline).min();
        let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        let repetitions = failure.duration().saturating_mul(budget.replays.min(MIN_CONFIRMED));
        let reserve = left.map_or(Duration::ZERO, |left| repetitions.min(left / CONFIRMATION_SHARE));
        let trace = failure.trace().clone();
        let flow = ReplyFlow::new(setup.cx.pool, setup.cx.sts);
        let plan = plan_of_failure(&flow, setup.cx.sts, &trace);
        Self {
            flow,
            // The last word on the smallest run is that of `confirm`, which awaits replies to their limit.
            config: RunConfig {
                first_reply: FirstReplyWait::Learnt,
                deadline,
                patience: config.patience.for_search(),
                confirm: config.confirm.min(SEARCH_CONFIRM),
                ..config.clone()
            },
            full: RunConfig { deadline, ..config.clone() },
            copies,
            progress,
            attempts: budget.attempts,
            left: budget.attempts,
            deadline,
            limit: left.map(|left| left.saturating_sub(reserve)),
            reserve,
            sign: failure.sign(),
            tries: failure.tries_needed(),
            best: SmallerRun { trace, plan, signature: String::new(), exchanges: Vec::new() },
            before: Vec::new(),
            unconfirmed: 0,
            tried: HashMap::new(),
            prices: TryPrices::default(),
            chances: EditChances::default(),
            sweeps: BTreeMap::new(),
            unreached: 0,
            least_wait: if setup.adapter.has_virtual_time() { Rational::ZERO } else { shortest_wait() },
            setup,
        }
    }

    /// Searches until no candidate is left; returns whether the best run is 1-minimal.
    ///
    /// Questions about the model end with the time for tries as well: a single one about a long run of a timed model
    /// may take longer than all runs together.
    pub(super) fn run(&mut self) -> bool {
        let end = self.deadline.and_then(|deadline| deadline.checked_sub(self.reserve));
        let outer = end.map(|end| self.setup.cx.add_halt(&halt_at(end)));
        let is_minimal = self.search();
        if let Some(outer) = outer {
            self.setup.cx.restore_halt(outer);
        }
        is_minimal
    }

    fn search(&mut self) -> bool {
        self.report_progress();
        if planning::planned_runs(self).is_err() {
            return false;
        }
        loop {
            let mut queues = self.queue_edits();
            let mut pending = VecDeque::new();
            match self.try_edits(&mut queues, &mut pending) {
                Ok(true) => (),
                Ok(false) => return true,
                Err(BudgetSpent) => {
                    let left = pending.into_iter().map(|candidate| candidate.edit);
                    let left: Vec<QueuedEdit> = left.chain(queues.take_essential()).collect();
                    return !left.into_iter().any(|edit| self.is_untried(edit));
                }
            }
        }
    }

    /// Returns all edits of the best plan.
    fn queue_edits(&mut self) -> EditQueues {
        let (trace, plan) = (&self.best.trace, &self.best.plan);
        let is_timed = self.setup.cx.sts.is_timed();
        // Without delays there is a move for every label.
        let labels = trace.labels.iter().map(|label| !is_timed && *label == Label::Quiescence);
        let silent: Vec<bool> = labels.chain(std::iter::repeat(false)).take(plan.len()).collect();
        let mut edits = shortcuts::edits(self.setup.cx, &self.config.tolerance, trace, plan, self.sign);
        edits.extend(steps::edits(plan, &silent));
        edits.extend(values::edits(self.setup.cx.pool, self.setup.cx.sts, plan, &self.least_wait));
        edits.extend(self.distance_edits());
        EditQueues::new(edits, silent, &self.sweeps)
    }

    /// Leaves out a segment, while integers keep their distance from the latest reply that is left: a revision before
    /// the current one stays that.
    fn distance_edits(&self) -> Vec<QueuedEdit> {
        let SmallerRun { trace, plan, .. } = &self.best;
        let Some(by_distance) = with_distances(&self.flow, self.setup.cx.sts, trace, plan) else {
            return Vec::new();
        };
        let cut = |gap: std::ops::Range<usize>| QueuedEdit {
            class: EditClass::Distance,
            place: plan.len() - gap.end,
            edit: PlanEdit::Replace(without(&by_distance, gap)),
        };
        segments(plan).into_iter().map(cut).collect()
    }

    /// Tries edits until one gives a smaller run; returns false if none does.
    fn try_edits(
        &mut self,
        queues: &mut EditQueues,
        pending: &mut VecDeque<Candidate>,
    ) -> Result<bool, BudgetSpent> {
        loop {
            if self.cut_off_reason().is_some() {
                return Err(BudgetSpent);
            }
            let tries = self.pick(queues, pending);
            if tries.is_empty() {
                return Ok(false);
            }
            for finished in self.run_all(&tries) {
                // The order of the results is that of the tries, and the first candidate has the first ones.
                self.spend()?;
                let Some(candidate) = pending.front_mut() else { break };
                candidate.left -= 1;
                *self.tried.entry(candidate.meaning.clone()).or_default() += 1;
                let is_last = candidate.left == 0;
                let n_tried = self.tried[&candidate.meaning];
                let outcome = self.accept_if_smaller(finished);
                if outcome == TryOutcome::Smaller {
                    if let Some(Candidate { edit, chances, .. }) = pending.pop_front() {
                        self.chances = chances;
                        self.chances.record_try(edit.class, true);
                        self.sweeps.insert(edit.class, edit.place);
                    }
                    return Ok(true);
                }
                // The failure is there, but the system went a longer way to it, and may go a shorter one.
                if outcome == TryOutcome::NotSmaller && is_last && 1 < self.tries && n_tried < TRIES {
                    if let Some(candidate) = pending.front_mut() {
                        candidate.left = 1;
                    }
                    // Results of later candidates would be taken for further ones of this one.
                    break;
                }
                if is_last {
                    pending.pop_front();
                }
            }
        }
    }

    /// Returns the plans of the next tries, as many as there are copies of the system; the candidates that they are
    /// tries of are added to `pending`.
    fn pick(&mut self, queues: &mut EditQueues, pending: &mut VecDeque<Candidate>) -> Vec<Vec<PlannedMove>> {
        let most = self.copies.map_or(1, IdleSystems::n_free).min(self.left.max(1) as usize);
        let planned = |pending: &VecDeque<Candidate>| -> usize {
            pending.iter().map(|candidate| candidate.left as usize).sum()
        };
        while planned(pending) < most {
            let Some(edit) = queues.pop_best(&self.chances, &self.prices) else { break };
            let chances = self.chances.clone();
            let candidate = self.candidate(edit, chances);
            // One of the same meaning that is pending would have been refused before this one is looked at.
            let is_pending = |new: &Candidate| pending.iter().any(|other| other.meaning == new.meaning);
            if let Some(candidate) = candidate.filter(|candidate| !is_pending(candidate)) {
                // Refused, until its run says otherwise.
                self.chances.record_try(candidate.edit.class, false);
                pending.push_back(candidate);
            }
        }
        let all = pending.iter().flat_map(|candidate| (0..candidate.left).map(|_| candidate.plan.clone()));
        all.take(most).collect()
    }

    /// Returns whether a run is not 1-minimal before this edit is tried.
    fn is_untried(&mut self, edit: QueuedEdit) -> bool {
        edit.class.is_essential() && self.candidate(edit, EditChances::default()).is_some()
    }

    /// Returns the candidate that an edit makes; `None` if it is not smaller, was tried, or cannot get there.
    fn candidate(&mut self, edit: QueuedEdit, chances: EditChances) -> Option<Candidate> {
        let mut plan = edit.edit.apply(&self.best.plan);
        // The effect of the last input shows only if the system is observed; otherwise it would be charged to the next
        // candidate.
        if !matches!(plan.last(), Some(PlannedMove::Observe | PlannedMove::ObserveFor(_))) {
            plan.push(PlannedMove::Observe);
        }
        if order::compare(&plan, &self.best.plan) != Order::Less {
            return None;
        }
        let plan = without_lost_references(&self.flow, self.setup.cx.sts, &self.best.trace, plan);
        let meaning = order::meaning(&plan, &self.least_wait);
        let left = self.tries.saturating_sub(self.tried.get(&meaning).copied().unwrap_or(0));
        // Only where a run costs more than asking the model.
        let may_ask = !self.setup.adapter.knows_silence() && !self.setup.cx.sts.is_timed();
        if left == 0 || may_ask && refute::is_refuted(self.setup.cx, &self.best.trace, &plan) {
            return None;
        }
        Some(Candidate { edit, plan, meaning, left, chances })
    }

    /// Carries out plans: the first one on the system of this search, the others on copies of it, where there are any.
    fn run_all(&mut self, plans: &[Vec<PlannedMove>]) -> Vec<Option<RunResult>> {
        let finished = match (self.copies, plans) {
            (Some(copies), [_, _, ..]) => copies.run_all(self.setup, &self.config, plans),
            _ => plans
                .iter()
                .map(|plan| run_again(self.setup, &self.config, plan, Unmentioned::Skip))
                .collect(),
        };
        finished.iter().flatten().for_each(|finished| self.record_price(finished));
        finished
    }

    /// Counts the time that a run took; a model that is played here takes none, whatever the clock says.
    pub(super) fn record_price(&mut self, finished: &RunResult) {
        if !self.setup.adapter.knows_silence() {
            let silences = finished.trace.labels.iter().filter(|label| **label == Label::Quiescence);
            self.prices.record_run(finished.spent, finished.trace.n_steps(), silences.count());
        }
    }

    /// Repeats the smallest run, and if it does not fail again, larger ones, back to the run that the search began
    /// with.
    pub(super) fn confirm(&mut self, failure: &ConfirmedFailure<'_>, times: u32) -> Confirmation {
        let mut stride = 1;
        let mut is_first_choice = true;
        while !self.before.is_empty() {
            let mut again = repeat(self.setup, &self.full, &self.best.trace, self.sign, times);
            if again.failed < again.of && times > 0 {
                let more = FLAKY_REPLAYS.saturating_sub(times);
                again.add_runs(repeat(self.setup, &self.full, &self.best.trace, self.sign, more));
            }
            // If nothing could be repeated, nothing speaks against a run that failed when it was found; but one whose
            // repetitions all went another way is not shown to fail again.
            let is_detour = again.of == 0 && again.unmade == Some(UnmadeReason::OtherWay);
            let is_enough = again.failed == again.of && !is_detour || again.failed >= MIN_CONFIRMED;
            if is_enough {
                let (reproduced, of, tries) = (again.failed, again.of, again.tries_needed());
                return Confirmation { reproduced, of, tries, is_first_choice };
            }
            is_first_choice = false;
            self.go_back(stride);
            // What one run in a row of smaller ones shows, its neighbours mostly show too.
            stride *= 2;
        }
        let (reproduced, of) = failure.reproduced();
        Confirmation { reproduced, of, tries: failure.tries_needed(), is_first_choice }
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

    /// Returns the reason why no further run may be made; `None` if one may.
    pub(super) fn cut_off_reason(&self) -> Option<ShrinkCutOff> {
        if self.setup.stop.load(Ordering::Relaxed) {
            Some(ShrinkCutOff::Stopped)
        } else if self.unreached >= MAX_UNREACHED {
            Some(ShrinkCutOff::Unreached)
        } else if self.left == 0 {
            Some(ShrinkCutOff::Attempts)
        } else if self.time_left().is_some_and(|left| left.is_zero()) {
            Some(ShrinkCutOff::Time)
        } else {
            None
        }
    }

    /// Returns the time that is left for tries; `None` if there is no limit.
    pub(super) fn time_left(&self) -> Option<Duration> {
        let left = self.deadline?.saturating_duration_since(Instant::now());
        Some(left.saturating_sub(self.reserve))
    }

    /// Takes one try from the budget and reports the progress.
    pub(super) fn spend(&mut self) -> Result<(), BudgetSpent> {
        if self.left == 0 {
            return Err(BudgetSpent);
        }
        self.left -= 1;
        self.report_progress();
        Ok(())
    }

    fn report_progress(&mut self) {
        let (attempts, steps, left) = (self.attempts - self.left, self.best.plan.len(), self.time_left());
        (self.progress)(ShrinkStatus { attempts, steps, limit: self.limit, left });
    }

    /// Makes a run the best one if it fails in the same way, also when it is repeated where that may be chance, and is
    /// smaller.
    pub(super) fn accept_if_smaller(&mut self, finished: Option<RunResult>) -> TryOutcome {
        let Some(finished) = finished else { return TryOutcome::NoFailure };
        let is_alike = self.sign.is_shown_by(&finished);
        let Some(found) = self.smaller_failure(finished) else {
            return if is_alike { TryOutcome::NotSmaller } else { TryOutcome::NoFailure };
        };
        // On a real clock a busy machine is late now and then, and a run that fails for that would lead the search
        // astray.
        let is_by_clock = self.setup.cx.sts.is_timed() && !self.setup.adapter.has_virtual_time();
        if (self.sign.is_breakdown() || is_by_clock) && !self.breaks_again(&found.plan) {
            self.unconfirmed += 1;
            return TryOutcome::NoFailure;
        }
        self.before.push(std::mem::replace(&mut self.best, found));
        TryOutcome::Smaller
    }

    /// Returns a run if it fails in the same way and is smaller than the best.
    fn smaller_failure(&mut self, finished: RunResult) -> Option<SmallerRun> {
        let is_unreached = matches!(finished.end, RunEnd::Error(AdapterError::Start { .. }));
        self.unreached = if is_unreached { self.unreached + 1 } else { 0 };
        let plan = plan_of_failure(&self.flow, self.setup.cx.sts, &finished.trace);
        let best = &self.best.plan;
        let is_smaller = order::compare(&plan, best) == Order::Less || order::is_sooner(&plan, best);
        let is_alike = self.sign.is_shown_by(&finished);
        let signature = finished.signature.clone().unwrap_or_default();
        let RunResult { trace, exchanges, .. } = finished;
        (is_alike && is_smaller).then_some(SmallerRun { trace, plan, signature, exchanges })
    }

    /// Returns whether the system fails again with these moves: the first time it may still have been breaking
    /// because of the run before.
    fn breaks_again(&mut self, plan: &[PlannedMove]) -> bool {
        if self.cut_off_reason().is_some() {
            return false;
        }
        self.left -= 1;
        let again = run_again(self.setup, &self.config, plan, Unmentioned::Skip);
        again.is_some_and(|again| self.sign.is_shown_by(&again))
    }
}
