//! Coverage as a tester: the purposes one after the other, the longest first.
//!
//! \[BT19] sec. 4 to 7. A run follows one purpose, but all those still to come are watched: where the system goes
//! another way that is on one of them, the run goes on with that one, so that several purposes can be executed in one
//! run. A purpose that could not be executed to its end is tried again after the others, a bounded number of times;
//! then the next round begins, with other data. Coverage *a posteriori* counts the items on purposes that passed:
//! conservatively a switch only if it lies on every explanation of the run (the paper: if the specification could be in
//! one state then, |C| = 1, though several paths may lead to it), liberally always.

use std::collections::{BTreeSet, VecDeque};

use ioxide_model::sts::{GateKind, LocId, SwitchId};
use ioxide_model::trace::Trace;
use ioxide_symex::{Belief, Ctx, Monitor, PathItem};

use super::purpose::{InputChoice, PurposeGuided};
use super::{Tester, TesterMove, TesterStop};
use crate::purpose::{PurposeItem, PurposeSet};

/// The greatest number of tries of a purpose in one round. Chosen by feel: a system that chooses gets the other
/// purposes in between.
const MAX_TRIES: usize = 3;

/// Runs all purposes of a set.
#[derive(Clone, Debug)]
pub struct CoverTester {
    testers: Vec<PurposeGuided>,
    /// The items that each of them covers.
    items: Vec<BTreeSet<PurposeItem>>,
    tally: Vec<PurposeTally>,
    /// The purposes in the order of a round.
    order: Vec<usize>,
    /// The purposes still to run in this round.
    queue: VecDeque<usize>,
    current: Option<usize>,
    /// The purposes still to run whose path the run has followed so far.
    watched: BTreeSet<usize>,
    /// The ends of the purposes of this run so far.
    ended: Vec<TesterStop>,
    rounds: CoverRounds,
    begun: usize,
    conservative: BTreeSet<PurposeItem>,
    liberal: BTreeSet<PurposeItem>,
    /// The locations in which the system was certainly silent in this run.
    silent: BTreeSet<LocId>,
}

/// The order of the purposes in a round.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PurposeOrder {
    /// The longest first, as in \[BT19] sec. 6: it is likely to find difficult faults.
    LongestFirst,
    /// The longest first, then always the one with the most new items per step.
    /// Items that are quick to cover are covered before another long path over switches that are mostly covered.
    #[default]
    LongestThenNew,
}

/// The number of rounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CoverRounds {
    /// Every purpose is executed this many times, with other data each time.
    Bounded(usize),
    /// No bound: the campaign ends the runs.
    Endless,
}

/// The results of a purpose.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PurposeTally {
    /// The number of runs begun.
    pub runs: usize,
    /// The number of runs in which it was executed to its end and nothing forbidden was observed.
    pub passed: usize,
    /// The number of runs in which it could not be executed to its end.
    pub missed: usize,
    /// The reason of the last such run.
    pub reason: Option<String>,
    /// The number of tries in this round.
    tries: usize,
}

impl CoverTester {
    /// Makes a tester for all purposes of `set`.
    #[must_use]
    pub fn new(set: &PurposeSet, rounds: CoverRounds, order: PurposeOrder) -> Self {
        let testers: Vec<PurposeGuided> =
            set.purposes.iter().map(|purpose| PurposeGuided::new(purpose.clone(), 0)).collect();
        Self {
            tally: vec![PurposeTally::default(); testers.len()],
            testers,
            items: set.items.clone(),
            order: in_order(set, order),
            queue: VecDeque::new(),
            current: None,
            watched: BTreeSet::new(),
            ended: Vec::new(),
            rounds,
            begun: 0,
            conservative: BTreeSet::new(),
            liberal: BTreeSet::new(),
            silent: BTreeSet::new(),
        }
    }

    /// Sets how values are chosen.
    #[must_use]
    pub fn choosing(mut self, choice: InputChoice) -> Self {
        self.testers.iter_mut().for_each(|tester| tester.choose(choice));
        self
    }

    /// Prefers values with which the path can be followed whatever the system answers.
    #[must_use]
    pub fn for_any_answer(mut self) -> Self {
        self.testers.iter_mut().for_each(PurposeGuided::prefer_any_answer);
        self
    }

    /// Returns the greatest number of runs that `rounds` rounds take, all tries counted.
    #[must_use]
    pub fn max_runs(&self, rounds: usize) -> usize {
        self.testers.len().saturating_mul(rounds).saturating_mul(MAX_TRIES)
    }

    /// Returns the results of every purpose, in order.
    #[must_use]
    pub fn tally(&self) -> &[PurposeTally] {
        &self.tally
    }

    /// Returns the items on purposes that passed which every explanation of the run has.
    #[must_use]
    pub fn conservative(&self) -> &BTreeSet<PurposeItem> {
        &self.conservative
    }

    /// Returns the items on purposes that passed.
    #[must_use]
    pub fn liberal(&self) -> &BTreeSet<PurposeItem> {
        &self.liberal
    }

    /// Returns the number of rounds that are over: every purpose was executed or given up.
    #[must_use]
    pub fn rounds_done(&self) -> usize {
        self.begun - usize::from(self.begun > 0 && (!self.queue.is_empty() || self.current.is_some()))
    }

    /// Leaves out of all rounds the purposes whose items are all in `met`; called before the first run.
    pub fn skip_met(&mut self, met: &BTreeSet<PurposeItem>) {
        let items = &self.items;
        self.order.retain(|&at| !items[at].is_subset(met));
    }

    /// Executes the first purpose once more before the others.
    pub(super) fn repeat_first(&mut self) {
        self.order.first().into_iter().for_each(|&first| self.queue.push_front(first));
    }

    /// Leaves out of this round the purposes whose items are all in `met`.
    pub(super) fn leave_out(&mut self, met: &BTreeSet<PurposeItem>) {
        let items = &self.items;
        self.queue.retain(|&at| !items[at].is_subset(met));
    }

    /// Adds the results of another worker.
    pub fn absorb(&mut self, other: &Self) {
        for (mine, theirs) in self.tally.iter_mut().zip(&other.tally) {
            mine.runs += theirs.runs;
            mine.passed += theirs.passed;
            mine.missed += theirs.missed;
            // `tries` is left alone: it counts within a round of one worker.
            mine.reason = mine.reason.take().or_else(|| theirs.reason.clone());
        }
        self.conservative.extend(&other.conservative);
        self.liberal.extend(&other.liberal);
    }

    /// Returns the purpose of the next run; a new round begins if the last one is over.
    fn take_turn(&mut self) -> Option<usize> {
        if self.queue.is_empty() && self.has_next_round() {
            self.begun += 1;
            self.queue = self.order.iter().copied().collect();
            self.tally.iter_mut().for_each(|tally| tally.tries = 0);
        }
        self.queue.pop_front()
    }

    fn has_next_round(&self) -> bool {
        match self.rounds {
            CoverRounds::Bounded(rounds) => self.begun < rounds,
            CoverRounds::Endless => true,
        }
    }

    /// Makes purpose `at` lead the run from now on.
    fn lead(&mut self, at: usize) {
        self.current = Some(at);
        let tally = &mut self.tally[at];
        tally.runs += 1;
        tally.tries += 1;
    }

    /// Returns a purpose of this round whose path the run has followed so far, if there is one; it leads from now on.
    fn heir(&mut self) -> Option<usize> {
        // The first one of the round that goes on from here: it needs no reset of the system.
        let position = self.queue.iter().position(|at| self.watched.contains(at))?;
        let at = self.queue.remove(position)?;
        self.watched.remove(&at);
        self.lead(at);
        Some(at)
    }

    /// Drops the purposes whose path the run has left.
    fn watch(&mut self, cx: &mut Ctx<'_>, trace: &Trace) {
        let testers = &mut self.testers;
        self.watched.retain(|&at| testers[at].follow_trace(cx, trace));
    }

    /// Returns the end of a run: met if one of its purposes was.
    fn end_of_run(&mut self) -> TesterStop {
        let mut ended = std::mem::take(&mut self.ended);
        let met = ended.iter().filter(|stop| matches!(stop, TesterStop::GoalMet(_))).count();
        match ended.iter().position(|stop| matches!(stop, TesterStop::GoalMet(_))) {
            Some(_) if met > 1 => TesterStop::GoalMet(format!("{met} purposes were executed")),
            Some(first) => ended.swap_remove(first),
            None if ended.is_empty() => {
                TesterStop::Inconclusive("there is no purpose left to execute".into())
            }
            None => ended.swap_remove(0),
        }
    }

    /// Records the end of purpose `at`.
    fn record_end(&mut self, cx: &Ctx<'_>, monitor: &Monitor, at: usize, stop: &TesterStop) {
        let (items, tally) = (&self.items[at], &mut self.tally[at]);
        match stop {
            TesterStop::GoalMet(_) => {
                tally.passed += 1;
                self.liberal.extend(items);
                let certain = items.iter().filter(|&&item| is_certain(cx, monitor, &self.silent, item));
                self.conservative.extend(certain);
            }
            TesterStop::GoalMissed(reason) | TesterStop::Inconclusive(reason) => {
                tally.missed += 1;
                tally.reason = Some(reason.clone());
                // The system may have taken another allowed way; at the end of the round it gets another chance.
                if tally.tries < MAX_TRIES {
                    self.queue.push_back(at);
                }
            }
        }
    }
}

/// Returns whether every explanation of the run has `item`; `silent` are the locations in which the system was
/// certainly silent.
fn is_certain(cx: &Ctx<'_>, monitor: &Monitor, silent: &BTreeSet<LocId>, item: PurposeItem) -> bool {
    let sts = cx.sts;
    let is_taken = |id: SwitchId| monitor.is_certain(PathItem::Switch(id));
    // Who takes a switch has been at both of its ends.
    let is_visited = |loc: LocId| {
        let mut ends = sts.switches.iter_enumerated().filter(|(_, it)| it.source == loc || it.target == loc);
        ends.any(|(id, _)| is_taken(id))
    };
    match item {
        PurposeItem::Switch(id) if sts.kind_of(&sts.switches[id]) == GateKind::Internal => {
            // Nobody sees an internal step; where it is the only way to a place, who was there has taken it.
            let target = sts.switches[id].target;
            let ways = sts.switches.iter().filter(|switch| switch.target == target).count();
            ways == 1 && target != sts.initial && is_visited(target)
        }
        PurposeItem::Switch(id) => is_taken(id),
        PurposeItem::Location(loc) => is_visited(loc),
        // A purpose that was executed had all its messages.
        PurposeItem::Gate(_) => true,
        PurposeItem::Silence(loc) => silent.contains(&loc),
    }
}

/// Returns the location of all states of `belief`; `None` if there are several.
fn only_location(belief: &Belief) -> Option<LocId> {
    let mut locations: BTreeSet<LocId> = match belief {
        Belief::Concrete(states) => states.iter().map(|state| state.loc).collect(),
        Belief::Symbolic(states) => states.iter().map(|state| state.loc).collect(),
        Belief::Unspecified => return None,
    };
    locations.pop_first().filter(|_| locations.is_empty())
}

/// The number of purposes above which they are not compared with each other, which takes quadratic time: they keep
/// their order.
const MAX_COMPARED: usize = 1000;

/// The positions of the purposes of `set` in the wanted order.
fn in_order(set: &PurposeSet, order: PurposeOrder) -> Vec<usize> {
    let mut left: Vec<usize> = (0..set.purposes.len()).collect();
    if order == PurposeOrder::LongestFirst || left.len() > MAX_COMPARED {
        return left;
    }
    let mut ordered: Vec<usize> = left.drain(..left.len().min(1)).collect();
    let mut covered: BTreeSet<PurposeItem> = ordered.iter().flat_map(|&at| &set.items[at]).copied().collect();
    while !left.is_empty() {
        let is_better = |a: usize, b: usize| {
            let new = |at: usize| set.items[at].difference(&covered).count();
            let length = |at: usize| set.purposes[at].steps.len();
            // New items per step, without dividing.
            new(a) * length(b) > new(b) * length(a)
        };
        // Only a strictly better one replaces the best, so that among equal ones the longest stays first.
        let best = (1..left.len()).fold(0, |best, k| if is_better(left[k], left[best]) { k } else { best });
        let at = left.remove(best);
        covered.extend(&set.items[at]);
        ordered.push(at);
    }
    ordered
}

impl Tester for CoverTester {
    fn start(&mut self, seed: u64) {
        self.current = self.take_turn();
        self.ended.clear();
        self.silent.clear();
        self.watched = self.queue.iter().copied().collect();
        // At the start of a run, every purpose of the round is on its path: none has a step behind it.
        for &at in self.watched.iter().chain(&self.current) {
            self.testers[at].restart(seed, self.tally[at].runs);
        }
        if let Some(at) = self.current {
            self.watched.remove(&at);
            self.lead(at);
        }
    }

    fn goal(&self) -> Option<String> {
        self.current.map(|at| format!("purpose {}", self.testers[at].purpose().name))
    }

    fn next(&mut self, cx: &mut Ctx<'_>, monitor: &Monitor, trace: &Trace) -> TesterMove {
        if trace.ends_in_silence() {
            self.silent.extend(only_location(monitor.belief()));
        }
        self.watch(cx, trace);
        let mut leading = self.current.take();
        while let Some(at) = leading {
            match self.testers[at].next(cx, monitor, trace) {
                TesterMove::Stop(stop) => {
                    self.record_end(cx, monitor, at, &stop);
                    self.ended.push(stop);
                    leading = self.heir();
                }
                other => {
                    self.current = leading;
                    return other;
                }
            }
        }
        TesterMove::Stop(self.end_of_run())
    }

    fn share(&mut self, worker: usize, jobs: usize) {
        // In turn rather than in blocks, so that every worker gets long and short purposes.
        let mine = self.order.iter().enumerate().filter(|(at, _)| at % jobs.max(1) == worker);
        self.order = mine.map(|(_, &purpose)| purpose).collect();
    }

    fn is_done(&self) -> bool {
        self.order.is_empty() || self.queue.is_empty() && !self.has_next_round()
    }
}
