//! The touring tester: many goals in one run, few resets.
//!
//! Whenever a goal is met, the nearest switch that covers a new item is searched for from the current state of the
//! system, with its current values, and the shortest path there becomes the next purpose (executed as [`PurposeGuided`]
//! does). If the system goes another way, the next path starts from there. The run ends when all items are covered or
//! no new one is within reach; the rest is for the next run, which starts at the initial state.
//!
//! *Promises.* An item counts as covered only if the specification could have taken one switch only. Like every tester
//! this one looks once more after the last switch of every path.

use std::collections::BTreeSet;

use ioxide_model::concrete::ConcreteState;
use ioxide_model::goal::PathStep;
use ioxide_model::label::certain_switch;
use ioxide_model::sts::SwitchId;
use ioxide_model::trace::Trace;
use ioxide_symex::{
    Belief, Ctx, ExploreConfig, ExploreLimits, Monitor, StopReason, SymState, explaining_switches,
    explore_until,
};

use super::cover::CoverRounds;
use super::purpose::PurposeGuided;
use super::{Tester, TesterMove, TesterStop};
use crate::purpose::{Criterion, PurposeItem, PurposeSet, TestPurpose};

/// The number of paths in a row without a new item before a run ends. Chosen by feel: a fresh start often reaches
/// what this run cannot.
const MAX_IDLE: usize = 10;

/// The number of paths tried to a new item. Chosen by feel, as for purposes.
const MAX_PATHS: usize = 8;

/// A tester that covers all items in as few runs as it can.
#[derive(Clone, Debug)]
pub struct TourTester {
    criterion: Criterion,
    /// The items that some purpose covers.
    goals: BTreeSet<PurposeItem>,
    /// The items covered in this round.
    this_round: BTreeSet<PurposeItem>,
    /// The items covered in any round.
    covered: BTreeSet<PurposeItem>,
    limits: ExploreLimits,
    rounds: CoverRounds,
    round: usize,
    seed: u64,
    run: TourRun,
    /// True if the last run covered no new item.
    is_stuck: bool,
}

/// A run under way.
#[derive(Clone, Debug, Default)]
struct TourRun {
    plan: Option<PurposeGuided>,
    /// The monitor before the labels not yet taken into account.
    before: Option<Monitor>,
    seen: usize,
    /// The number of items that are new in this run.
    fresh: usize,
    /// The number of paths since the last new item.
    idle: usize,
    paths: u64,
}

impl TourTester {
    /// Makes a tour of the items that the purposes of `set` cover; a path is searched for among `limits` states.
    #[must_use]
    pub fn new(set: &PurposeSet, rounds: CoverRounds, limits: ExploreLimits) -> Self {
        Self {
            criterion: set.criterion,
            goals: set.aims(),
            this_round: BTreeSet::new(),
            covered: BTreeSet::new(),
            limits,
            rounds,
            round: 0,
            seed: 0,
            run: TourRun::default(),
            is_stuck: false,
        }
    }

    /// Returns the items covered in all rounds together.
    #[must_use]
    pub fn covered_items(&self) -> &BTreeSet<PurposeItem> {
        &self.covered
    }

    /// Leaves out the items in `met`; called before the first run.
    pub fn skip_met(&mut self, met: &BTreeSet<PurposeItem>) {
        self.goals.retain(|goal| !met.contains(goal));
    }

    /// Adds the results of another worker.
    pub fn absorb(&mut self, other: &Self) {
        self.covered.extend(&other.covered);
    }

    /// Counts the items that the labels since the last move have covered.
    fn catch_up(&mut self, cx: &mut Ctx<'_>, monitor: &Monitor, trace: &Trace) {
        let mut before = self.run.before.take().unwrap_or_else(|| Monitor::new(cx));
        for label in &trace.labels[self.run.seen.min(trace.len())..] {
            if let Some(&only) = certain_switch(&explaining_switches(cx, before.belief(), label)) {
                self.record_item(self.criterion.covered_by(cx.sts, only));
            }
            // What is forbidden ends the run, and the run loop knows.
            let _ = before.observe(cx, label);
        }
        self.run.seen = trace.len();
        // Racing labels may have been judged in several orders: the run's own monitor is right.
        self.run.before = Some(monitor.clone());
    }

    fn record_item(&mut self, item: PurposeItem) {
        if self.goals.contains(&item) {
            self.covered.insert(item);
            if self.this_round.insert(item) {
                self.run.fresh += 1;
                self.run.idle = 0;
            }
        }
    }

    /// Returns the way to a new item, if there is one.
    fn plan(&mut self, cx: &mut Ctx<'_>, monitor: &Monitor, seen: usize) -> Option<PurposeGuided> {
        let start = current_state(cx, monitor)?;
        // First the paths after which the item is covered beyond doubt, from the nearest on; only if none of them works
        // out, the nearest one that covers it perhaps.
        let certain = (0..MAX_PATHS).map(|others| (others, true));
        let purpose = certain.chain([(0, false)]).find_map(|(others, is_certain)| {
            let (path, name) = self.nearest_goal(cx, &start, others, is_certain)?;
            Some(TestPurpose::with_state(cx, name, start.clone(), &PathStep::taking(&path)).ok()?.0)
        })?;
        self.run.paths += 1;
        let seed = self.seed.wrapping_add(self.run.paths);
        Some(PurposeGuided::new(purpose, seed).from_here(seen, self.round))
    }

    /// Returns the shortest path from `start` that covers a new item, with the name of that item, after `others` such
    /// paths: where states were merged, the way found to one of them need not be a way to all that it stands for.
    fn nearest_goal(
        &self,
        cx: &mut Ctx<'_>,
        start: &SymState,
        mut others: usize,
        is_certain: bool,
    ) -> Option<(Vec<SwitchId>, String)> {
        let sts = cx.sts;
        let mut is_new = |switch, beyond_doubt| {
            let item = self.criterion.covered_by(sts, switch);
            let is_new = self.goals.contains(&item)
                && !self.this_round.contains(&item)
                && (beyond_doubt || !is_certain);
            // The search stops at the first switch for which this returns true: those before number `others` are passed
            // by.
            let is_other = is_new && others > 0;
            others -= usize::from(is_other);
            is_new && !is_other
        };
        let config = ExploreConfig { limits: self.limits, ..ExploreConfig::default() };
        let found = explore_until(cx, &config, start.clone(), &mut is_new);
        if found.stop != StopReason::Stopped {
            return None;
        }
        let last = found.graph.edges.last()?;
        let mut path = found.graph.path_to(last.from);
        path.push(last.switch);
        let name = self.criterion.covered_by(sts, last.switch).name(sts).to_owned();
        Some((path, name))
    }

    /// Returns the next move towards a new item, or the end of the run.
    fn advance(&mut self, cx: &mut Ctx<'_>, monitor: &Monitor, trace: &Trace) -> TesterMove {
        loop {
            if let Some(plan) = &mut self.run.plan {
                match plan.next(cx, monitor, trace) {
                    // Met or missed, the next path starts where the system is now; `catch_up` has counted what was
                    // covered.
                    TesterMove::Stop(_) => self.run.plan = None,
                    other => return other,
                }
            }
            if self.goals.is_subset(&self.this_round) || self.run.idle >= MAX_IDLE {
                return self.end_round();
            }
            // `record_item` sets it back as soon as an item is new.
            self.run.idle += 1;
            self.run.plan = self.plan(cx, monitor, trace.len());
            if self.run.plan.is_none() {
                return self.end_round();
            }
        }
    }

    fn end_round(&mut self) -> TesterMove {
        let (covered, total) = (self.this_round.intersection(&self.goals).count(), self.goals.len());
        self.is_stuck = self.run.fresh == 0;
        let told = format!("{covered} of {total} {} covered", self.criterion);
        if covered == total || self.is_stuck {
            self.round += 1;
            self.this_round.clear();
        }
        TesterMove::Stop(if self.is_stuck {
            TesterStop::Inconclusive(format!("nothing new was reached: {told}"))
        } else {
            TesterStop::GoalMet(told)
        })
    }
}

/// Returns the state to start from: the only one or the first one of a concrete belief.
fn current_state(cx: &mut Ctx<'_>, monitor: &Monitor) -> Option<SymState> {
    match monitor.belief() {
        Belief::Concrete(states) => {
            // With several states any choice may be wrong; the items are counted by `catch_up` from the whole belief.
            let state: &ConcreteState = states.first()?;
            SymState::from_concrete(cx, state)
        }
        Belief::Symbolic(_) | Belief::Unspecified => None,
    }
}

impl Tester for TourTester {
    fn start(&mut self, seed: u64) {
        self.seed = seed;
        self.run = TourRun::default();
    }

    fn goal(&self) -> Option<String> {
        Some(format!("tour of {} {}", self.goals.len(), self.criterion))
    }

    fn next(&mut self, cx: &mut Ctx<'_>, monitor: &Monitor, trace: &Trace) -> TesterMove {
        self.record_item(PurposeItem::Location(cx.sts.initial));
        self.catch_up(cx, monitor, trace);
        self.advance(cx, monitor, trace)
    }

    fn share(&mut self, worker: usize, jobs: usize) {
        let mut at = 0;
        self.goals.retain(|_| {
            // In turn, like purposes: neighbours among the items tend to be neighbours in the model.
            at += 1;
            (at - 1) % jobs.max(1) == worker
        });
    }

    fn is_done(&self) -> bool {
        match self.rounds {
            CoverRounds::Bounded(rounds) => self.goals.is_empty() || self.round >= rounds,
            CoverRounds::Endless => self.goals.is_empty(),
        }
    }
}
