//! The hunting tester: first every switch by purposes, then walks that look for trouble until the budget is spent.
//!
//! Taking every switch once (\[BT19]'s criterion) finds faults in the control of a system. Faults in its data, its
//! order, its memory and its time need more: values in a relation to earlier ones, many pending elements, a long
//! history, one sequence out of many. So the purposes of switch coverage come first, one round of them, and then walks.
//! A walk changes its preferences (`WalkPreferences`) every few inputs: the inputs that are likely
//! (swarm testing: not all of them together), the repetition of one input or the alternation of two, the preference for
//! new sequences, the kinds of values, the frequency of looks. Walks are long and short in turn: the long ones grow, so
//! that there are few resets but some, the short ones begin in a rare state (`StartStates`). After a while every
//! second walk drifts (`drift`): it holds one input until a variable is past the end of a machine word. Between two
//! walks a purpose is executed again with other data. A run that has executed its purpose walks on from there for a
//! while, and a walk that seems trapped (`RareSwitches`) ends.
//!
//! *Promises.* The same seed makes the same moves on the same system, as long as its looks (`priced_looks`) take the
//! same time. No move is made beyond the budget, in whichever phase it is spent, and the last one is an observation
//! where a message may come. The purposes are looked for with a bounded amount of work,
//! counted and not timed: little before the first step, and more only as the labels of the runs earn it. A search that
//! finds nothing that walks have not covered is the last one.

pub mod drift;
pub mod priced_looks;
pub mod rare;
pub mod starts;
mod walk;
mod walk_preferences;

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::time::Duration;

use ioxide_model::label::certain_switch;
use ioxide_model::sts::{GateKind, Sts, SwitchId};
use ioxide_model::term::{Term, TermNode, TermOp, TermPool};
use ioxide_model::trace::Trace;
use ioxide_smt::halt::Halt;
use ioxide_symex::{Ctx, ExploreLimits, ExploreStats, Monitor};

use self::drift::LabelBudget;
use self::walk::{FIRST_WALK, RandomWalks};
use super::cover::{CoverRounds, CoverTester, PurposeOrder, PurposeTally};
use super::random::Interaction;
use super::{MethodFinding, Tester, TesterMove, TesterStop, has_room_for_input, labels_of_a_look, share_of};
use crate::purpose::{Criterion, PurposeItem, PurposeSet, coverage, with_detours};

/// The work of the search before the first step, in the units of [`work_of`]. Measured on the models of the examples: a
/// tenth of a second at most, and enough for all but two of them.
const FIRST_WORK: usize = 10_000;
/// The factor by which the work of a search grows that was cut. Chosen by feel: a cut search starts afresh, and a
/// factor of four repeats at most a third of the work.
const WORK_GROWTH: usize = 4;
/// The greatest work of one search. Chosen by feel: a larger model is walked at random where the search has not been.
const MAX_WORK: usize = 2_000_000;
/// The work that every label of a run earns. Measured on models that are played in the same process, the fastest
/// systems there are: a label takes four times as long as this work, so searches take at most a quarter of the time.
const WORK_PER_LABEL: usize = 10;
/// The work of a state that is expanded; the second number if queries are expensive. Chosen by feel, in the unit of
/// [`FIRST_WORK`]: if it is too small, a search takes longer than planned; if it is too large, it is cut sooner.
const STATE_WORK: (usize, usize) = (40, 400);
/// The work of a query that the solver leaves open: it has tried all it can. Chosen by feel, as much as an expensive
/// state.
const DOUBT_WORK: usize = 400;
/// One run in this many executes a purpose again. Chosen by feel: purposes lead far into the model, walks find what no
/// purpose asks for.
const PURPOSE_ONE_IN: usize = 2;
/// The number of labels that a run goes on after the first purpose, and after others. Chosen by feel: the first run
/// explores at length where resets may be slow.
const GO_ON: (usize, usize) = (320, 24);
/// The greatest number of executions of the first purpose before anything else. Chosen by feel: a system that never
/// lets it succeed must not hold up the rest.
const MAX_FIRST: usize = 3;

/// The least length of runs, as a multiple of the steps that a reset costs: a fifth of the time goes to resets then.
/// Chosen by feel: shorter runs are easier to shrink and begin more often in a rare state.
const STEPS_PER_RESET: usize = 4;

/// The parameters of a hunt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HuntConfig {
    /// The greatest number of labels of all runs together, silence included.
    pub steps: usize,
    /// The greatest number of labels of a run.
    pub walk: usize,
    /// The coverage criterion of the purposes.
    pub criterion: Criterion,
    /// The eagerness of walks to give inputs: as their preferences say, or eager always.
    pub interaction: Interaction,
}

impl Default for HuntConfig {
    /// Ten thousand labels, purposes for every switch.
    fn default() -> Self {
        Self {
            steps: 10_000,
            walk: usize::MAX,
            criterion: Criterion::Switches,
            interaction: Interaction::Fair,
        }
    }
}

/// A tester that executes purposes, then walks.
#[derive(Clone, Debug)]
pub struct HuntTester {
    config: HuntConfig,
    /// The purposes found so far, with the effort of the search; `None` before they are searched for.
    set: Option<PurposeSet>,
    cover: Option<CoverTester>,
    search: PurposeSearch,
    /// The work of all searches.
    searched: usize,
    walk: RandomWalks,
    /// The switches that were certainly taken.
    taken: BTreeSet<SwitchId>,
    /// The messages since the last move, each with its switch if that is certain.
    fresh: Vec<Option<SwitchId>>,
    phase: HuntPhase,
    seed: u64,
    /// The number of runs begun.
    runs: usize,
    /// The number of labels of the runs before this one, and of this one.
    spent: usize,
    here: usize,
    /// The greatest number of labels that an observation takes.
    look: usize,
    share: (usize, usize),
    /// The number of runs of the first purpose before anything else: several if a message on it has patterns of equal
    /// fields.
    first: usize,
    /// The items of the criterion that were certainly covered.
    met: BTreeSet<PurposeItem>,
    /// The items that others have certainly covered before: no purpose is executed for them alone.
    known: BTreeSet<PurposeItem>,
    /// The end of the purpose of this run, if it has ended.
    ended: Option<TesterStop>,
    /// The least number of labels of a run, where resets cost time; zero where they do not.
    least: usize,
}

/// The state of the search for purposes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PurposeSearch {
    /// The next search may do this much work once this many labels are spent.
    Pending { work: usize, from: usize },
    /// No further search: nothing more to find, or not within the limits.
    Over,
}

/// The kind of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum HuntPhase {
    /// Not chosen before the first move.
    Open,
    Purpose,
    Walk,
}

impl HuntTester {
    /// Makes a hunt with the parameters of `config`.
    #[must_use]
    pub fn new(config: HuntConfig) -> Self {
        Self {
            config,
            set: None,
            cover: None,
            search: PurposeSearch::Pending { work: FIRST_WORK, from: 0 },
            searched: 0,
            walk: RandomWalks::new(config.interaction),
            taken: BTreeSet::new(),
            fresh: Vec::new(),
            phase: HuntPhase::Open,
            seed: 0,
            runs: 0,
            spent: 0,
            here: 0,
            look: 1,
            share: (0, 1),
            first: 1,
            met: BTreeSet::new(),
            known: BTreeSet::new(),
            ended: None,
            least: 0,
        }
    }

    /// Adds purposes that were found before, in the same pool; none are searched for then.
    #[must_use]
    pub fn with_purposes(mut self, set: PurposeSet) -> Self {
        self.search = PurposeSearch::Over;
        self.adopt(set);
        self
    }

    /// Declares switches that others have certainly taken before; called before the first run.
    pub fn declare_taken(&mut self, sts: &Sts, taken: &[SwitchId]) {
        self.taken.extend(taken);
        self.known = self.config.criterion.covered_along(sts, taken.iter().copied());
        if let Some(cover) = &mut self.cover {
            cover.skip_met(&self.known);
        }
    }

    /// The purposes found; `None` if they were not searched for.
    #[must_use]
    pub fn purposes(&self) -> Option<&PurposeSet> {
        self.set.as_ref()
    }

    /// Returns the results of every purpose, in order.
    #[must_use]
    pub fn tally(&self) -> &[PurposeTally] {
        self.cover.as_ref().map_or(&[], CoverTester::tally)
    }

    /// Returns whether an item is neither on a purpose beyond doubt nor proved unreachable; true if no purposes were
    /// searched for.
    #[must_use]
    pub fn was_cut(&self) -> bool {
        self.set.as_ref().is_none_or(|set| !set.is_settled())
    }

    /// The greatest number of labels of all runs together.
    #[must_use]
    pub fn budget(&self) -> usize {
        self.config.steps
    }

    /// The work of all searches for purposes, in units that do not depend on the machine: at most a fixed amount before
    /// the first step, and in proportion to [`Self::spent`] later.
    #[must_use]
    pub fn search_work(&self) -> usize {
        self.searched
    }

    /// The number of labels of all runs.
    #[must_use]
    pub fn n_steps_used(&self) -> usize {
        self.spent + self.here
    }

    /// Adds the results of another worker.
    pub fn absorb(&mut self, other: &Self) {
        self.taken.extend(&other.taken);
        self.spent += other.n_steps_used();
        match (&mut self.cover, &other.cover) {
            (Some(mine), Some(theirs)) => mine.absorb(theirs),
            (None, Some(_)) => (self.set, self.cover) = (other.set.clone(), other.cover.clone()),
            (_, None) => (),
        }
    }

    /// Goes on with the purposes of `set`; those that are met already are skipped.
    fn adopt(&mut self, set: PurposeSet) {
        let mut cover = CoverTester::new(&set, CoverRounds::Endless, PurposeOrder::default());
        cover.skip_met(&self.known);
        cover.share(self.share.0, self.share.1);
        (self.cover, self.set) = (Some(cover), Some(set));
    }

    /// Searches for purposes, with more work than the last time.
    fn search(&mut self, cx: &mut Ctx<'_>) {
        let PurposeSearch::Pending { work, .. } = self.search else { return };
        let is_dear = is_dear(cx.pool, cx.sts);
        if is_dear && self.has_all(cx.sts) {
            self.search = PurposeSearch::Over;
            return;
        }
        // Where exploring is expensive, walks come first: they may take every switch without a search.
        let earned_by = |work: usize| work / WORK_PER_LABEL;
        if is_dear && self.searched == 0 && self.spent < earned_by(work) {
            self.search = PurposeSearch::Pending { work, from: earned_by(work) };
            return;
        }
        let set = self.search_within(cx, work, if is_dear { STATE_WORK.1 } else { STATE_WORK.0 });
        let covered = set.covered_items();
        let is_new = |item: &PurposeItem| !self.met.contains(item) && !set.at_start.contains(item);
        let helps = self.spent == 0 || covered.iter().any(is_new);
        let is_over = set.is_settled() || work >= MAX_WORK || !helps || self.has_all(cx.sts);
        self.search = if is_over || cx.halt_reason().is_some() {
            PurposeSearch::Over
        } else {
            let work = work.saturating_mul(WORK_GROWTH).min(MAX_WORK);
            PurposeSearch::Pending { work, from: earned_by(self.searched + work) }
        };
        // New purposes start their rounds again, so they are adopted only if they cover more.
        if self.set.as_ref().is_none_or(|known| known.covered_items().len() < covered.len()) {
            self.adopt(set);
        }
    }

    /// Returns the purposes found with so much work.
    fn search_within(&mut self, cx: &mut Ctx<'_>, work: usize, state_work: usize) -> PurposeSet {
        let limits = ExploreLimits { max_states: work / state_work, max_depth: u32::MAX };
        // A search may explore several times, and counts from zero each time.
        let (mut before, mut last) = (0, 0);
        let set = coverage(cx, self.config.criterion, limits, &mut |stats| {
            let here = work_of(stats, state_work);
            before += if here < last { last } else { 0 };
            last = here;
            if before + here > work { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        self.searched += before + last;
        with_detours(cx, set)
    }

    /// Returns whether every observable switch was certainly taken.
    fn has_all(&self, sts: &Sts) -> bool {
        sts.switches.ids().all(|id| !sts.is_seen(&sts.switches[id]) || self.taken.contains(&id))
    }

    /// Takes the messages since the last move into account.
    fn notice(&mut self, sts: &Sts, monitor: &Monitor, trace: &Trace) {
        // Of several messages at once, it is not known which led where.
        let fresh = if let [only] = self.fresh[..] { only } else { None };
        self.fresh.clear();
        self.walk.record_labels(monitor, trace, fresh);
        self.taken.extend(fresh);
        self.met.extend(fresh.map(|id| self.config.criterion.covered_by(sts, id)));
    }

    /// Returns whether a search for purposes is due.
    fn is_search_due(&self) -> bool {
        matches!(self.search, PurposeSearch::Pending { from, .. } if self.spent >= from)
    }

    /// Returns the greatest number of labels of this run.
    fn limit(&self) -> usize {
        self.config.steps.saturating_sub(self.spent).min(self.config.walk)
    }

    /// Returns the next move of the purpose of this run. A run whose purpose has ended goes on as a walk, and `None` is
    /// returned: a purpose leads to where little was observed, and that is where to explore.
    fn purpose(&mut self, cx: &mut Ctx<'_>, monitor: &Monitor, trace: &Trace) -> Option<TesterMove> {
        let (HuntPhase::Purpose, Some(cover)) = (self.phase, &mut self.cover) else { return None };
        let mut next = cover.next(cx, monitor, trace);
        // The look after the last switch of a purpose; asked again, the purpose ends without it.
        if next == TesterMove::Observe && !self.walk.is_last_look_worth(cx, monitor, trace) {
            next = cover.next(cx, monitor, trace);
        }
        match next {
            // The first purpose is repeated whole, each time with another pattern of equal fields, before anything
            // walks on from it.
            TesterMove::Stop(stop) if self.runs < self.first => Some(TesterMove::Stop(stop)),
            TesterMove::Stop(stop) => {
                self.phase = HuntPhase::Walk;
                self.ended = Some(stop);
                let more = if self.runs == self.first { GO_ON.0 } else { GO_ON.1 };
                self.walk.take_over((trace.len() + more).max(self.least));
                None
            }
            other => Some(other),
        }
    }

    /// Returns `next`; a run that ends, ends with the result of its purpose, if it had one.
    fn end_with_purpose(&mut self, next: TesterMove) -> TesterMove {
        match (next, self.ended.take()) {
            (TesterMove::Stop(_), Some(stop)) => TesterMove::Stop(stop),
            (next, ended) => {
                self.ended = ended;
                next
            }
        }
    }

    /// Returns the next move of the purpose or the walk of this run.
    fn choose_move(&mut self, cx: &mut Ctx<'_>, monitor: &Monitor, trace: &Trace) -> TesterMove {
        if self.phase == HuntPhase::Open {
            self.search(cx);
            self.choose_phase();
        }
        // Only now are the purposes known: they may have been searched for in this very call.
        if self.runs == 1 && trace.is_empty() {
            self.first = self.set.as_ref().map_or(1, |set| patterns(cx, set));
        }
        self.here = trace.len();
        self.notice(cx.sts, monitor, trace);
        let limit = self.limit();
        self.look = labels_of_a_look(cx.sts);
        if !has_room_for_input(cx.sts, trace.len(), limit) {
            let next = self.walk.last_move(cx, monitor, trace);
            return self.end_with_purpose(next);
        }
        match self.purpose(cx, monitor, trace) {
            Some(next) => next,
            None => {
                let budget = LabelBudget { left: limit, spent: self.spent, total: self.config.steps };
                let next = self.walk.next_move(cx, monitor, trace, budget);
                self.end_with_purpose(next)
            }
        }
    }

    /// Makes runs as long as that at least.
    fn note_least(&mut self, least: usize) {
        self.least = self.least.max(least);
        self.walk.lengthen_to(self.least);
    }

    /// Chooses the kind of this run.
    fn choose_phase(&mut self) {
        self.runs += 1;
        let Some(cover) = &mut self.cover else {
            self.phase = HuntPhase::Walk;
            return;
        };
        // In the first round each purpose is executed for what is not covered yet; the later ones try the same
        // ways with other data.
        if self.runs > 1 && cover.rounds_done() == 0 {
            cover.leave_out(&self.met);
        }
        if self.runs > 1 && self.runs <= self.first {
            cover.repeat_first();
        }
        let is_first_round = cover.rounds_done() == 0;
        let is_turn = self.runs.is_multiple_of(PURPOSE_ONE_IN);
        self.phase = if !cover.is_done() && (is_first_round || is_turn) {
            cover.start(self.seed);
            HuntPhase::Purpose
        } else {
            HuntPhase::Walk
        };
    }
}

/// Returns the number of executions of the first purpose in a row: faults in data often depend on which fields of a
/// message are equal, and each run tries another pattern. From three fields of a sort on there are mixed patterns.
fn patterns(cx: &Ctx<'_>, set: &PurposeSet) -> usize {
    let alike = |id: SwitchId| {
        let gate = &cx.sts.gates[cx.sts.switches[id].gate];
        let sorts = gate.fields.iter().map(|&field| cx.pool.var_info(field).sort.base());
        let is_input = gate.kind == GateKind::Input;
        if is_input {
            sorts.clone().map(|sort| sorts.clone().filter(|&it| it == sort).count()).max()
        } else {
            None
        }
    };
    let most = set.purposes.first().and_then(|purpose| purpose.switches().filter_map(alike).max());
    if most.unwrap_or(0) >= MAX_FIRST { MAX_FIRST } else { 1 }
}

/// Returns the work of a search: terms built, states expanded, queries left open. These are the same on every machine,
/// which time is not.
fn work_of(stats: &ExploreStats, state_work: usize) -> usize {
    stats.terms + stats.expanded * state_work + stats.doubtful * DOUBT_WORK
}

/// Returns whether queries are expensive: guards ask about texts, or collections hold structured values.
fn is_dear(pool: &TermPool, sts: &Sts) -> bool {
    let is_nested = |sort| pool.collection_of(sort).is_some_and(|of| pool.has_shape(of.item));
    asks_about_texts(pool, sts) || sts.vars.iter().any(|held| is_nested(pool.var_info(held.var).sort))
}

/// Returns whether inputs demand members of collections, and the model says which inputs it wants more often: what a
/// run has gathered is lost at its end, so short runs reach little.
fn gathers_members(pool: &TermPool, sts: &Sts) -> bool {
    let inputs = || sts.switches.iter().filter(|switch| sts.kind_of(switch) == GateKind::Input);
    let is_lookup = |term: Term| matches!(pool.node(term), TermNode::Apply(TermOp::Has, _));
    inputs().any(|switch| switch.weight != 1)
        && inputs().any(|switch| pool.conjuncts(switch.guard).into_iter().any(is_lookup))
}

fn asks_about_texts(pool: &TermPool, sts: &Sts) -> bool {
    let guards: Vec<_> = sts.switches.iter().map(|switch| switch.guard).collect();
    let is_text = |term| {
        matches!(
            pool.node(term),
            TermNode::Matches(..)
                | TermNode::Contains(..)
                | TermNode::Prefix(..)
                | TermNode::Suffix(..)
                | TermNode::TextLe(..)
                | TermNode::Length(_)
        )
    };
    pool.subterms(&guards, |_| true).into_iter().any(is_text)
}

impl Tester for HuntTester {
    fn start(&mut self, seed: u64) {
        self.spent += self.here;
        self.here = 0;
        self.seed = seed;
        self.phase = HuntPhase::Open;
        self.ended = None;
        self.walk.start_run(seed);
        self.fresh.clear();
        if !self.is_search_due() {
            self.choose_phase();
        }
    }

    fn prepare(&mut self, cx: &mut Ctx<'_>) {
        if gathers_members(cx.pool, cx.sts) {
            self.note_least(FIRST_WALK);
        }
        self.search(cx);
    }

    fn limit_choices(&mut self, halt_after: fn(Option<Duration>) -> Halt) {
        self.walk.limit_choices(halt_after);
    }

    fn goal(&self) -> Option<String> {
        match self.phase {
            HuntPhase::Purpose => self.cover.as_ref().and_then(CoverTester::goal),
            HuntPhase::Open | HuntPhase::Walk => None,
        }
    }

    fn next(&mut self, cx: &mut Ctx<'_>, monitor: &Monitor, trace: &Trace) -> TesterMove {
        let next = self.choose_move(cx, monitor, trace);
        self.walk.begin_move(monitor, trace, &next);
        next
    }

    fn note_move_time(&mut self, time: Duration, is_silent: bool) {
        self.walk.end_move(time, is_silent);
    }

    fn step_limit(&self) -> Option<usize> {
        Some(self.limit())
    }

    fn finding(&mut self, cx: &mut Ctx<'_>, trace: &Trace) -> Option<MethodFinding> {
        // A run that has no room for a look is never asked for a move.
        self.look = labels_of_a_look(cx.sts);
        // Messages that had arrived when the run was stopped belong to it.
        self.here = self.here.max(trace.len());
        None
    }

    fn explained(&mut self, switches: &[SwitchId]) {
        self.fresh.push(certain_switch(switches).copied());
    }

    fn share(&mut self, worker: usize, jobs: usize) {
        self.share = (worker, jobs.max(1));
        self.config.steps = share_of(self.config.steps, worker, jobs);
        if let Some(cover) = &mut self.cover {
            cover.share(worker, jobs);
        }
    }

    fn note_free_time(&mut self) {
        self.walk.note_free_time();
    }

    fn note_free_silence(&mut self) {
        self.walk.note_free_silence();
    }

    fn note_reset_cost(&mut self, steps: usize) {
        self.note_least(steps.saturating_mul(STEPS_PER_RESET));
    }

    fn is_done(&self) -> bool {
        // What is left must be enough for a look: a run without one shows nothing. Where looks cost time, a run without
        // an input may have none, and then nothing would ever be spent.
        let least = if self.walk.looks_cost_time() { 2 * self.look } else { self.look };
        self.n_steps_used().saturating_add(least) > self.config.steps
    }
}
