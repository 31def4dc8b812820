//! The search through symbolic states: its order, its limits, and its result.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::ops::ControlFlow;

use ioxide_model::sts::SwitchId;
use ioxide_model::term::VarId;
use ioxide_smt::halt::Halted;
use ioxide_smt::solver::UnknownReason;

use crate::cx::Ctx;
use crate::frontier::Frontier;
use crate::graph::{ExecGraph, ExploredEdge, ExploredId};
use crate::live::LiveVars;
use crate::merge::{RegionMatch, RegionRevisit, SeenRegions};
use crate::split::{StateCase, split_cases};
use crate::state::SymState;
use crate::step::{SwitchStep, take_switch};
use crate::symmetry::Symmetry;

/// The order in which states are expanded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExploreOrder {
    /// The state found first: paths are shortest.
    BreadthFirst,
    /// Breadth-first until `patience` states in a row had no new switch; from then on, in turn, also the state found
    /// last and the state behind the switch taken least. If many parts move independently, short paths are too many to
    /// try, and most of them lead nowhere new.
    Restless {
        /// The number of states without a new switch.
        patience: usize,
    },
    /// The state found last.
    DepthFirst,
}

/// The limits of an exploration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExploreLimits {
    /// The greatest number of states.
    pub max_states: usize,
    /// The greatest number of steps from the initial state.
    pub max_depth: u32,
}

/// The configuration of an exploration.
#[derive(Clone, Debug)]
pub struct ExploreConfig {
    /// The order in which states are expanded.
    pub order: ExploreOrder,
    /// The treatment of states that an explored one covers.
    pub revisit: RegionRevisit,
    /// The variables that are ignored when states are compared.
    pub ignore_dead: IgnoreDead,
    /// The limits of an exploration.
    pub limits: ExploreLimits,
    /// The interchangeable parts: of states that differ only by a permutation of them, one is kept.
    pub symmetry: Symmetry,
    /// The switches that are tried; all if `None`. A search without some finds paths, but does not prove anything
    /// unreachable.
    pub only: Option<BTreeSet<SwitchId>>,
}

/// The variables that are compared when states are merged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IgnoreDead {
    /// Every variable is compared (\[AT15] Def. 2.5 to the letter).
    No,
    /// The live variables are compared, and these.
    Except(Vec<VarId>),
}

impl Default for ExploreConfig {
    /// Returns the default: breadth-first, merging as much as is sound, up to 100,000 states.
    fn default() -> Self {
        Self {
            order: ExploreOrder::BreadthFirst,
            revisit: RegionRevisit::MergeSubsumed,
            ignore_dead: IgnoreDead::Except(Vec::new()),
            limits: ExploreLimits { max_states: 100_000, max_depth: u32::MAX },
            symmetry: Symmetry::default(),
            only: None,
        }
    }
}

/// The reason why a search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopReason {
    /// Nothing is left to explore: the graph is a fixed point.
    Exhausted,
    /// States at the depth limit were not expanded.
    MaxDepth,
    /// The number of states reached its limit.
    MaxStates,
    /// States with values that grow beyond what is computed were not expanded.
    TooLarge,
    /// The caller of the search stopped it.
    Stopped,
    /// The command has to end, for this reason.
    Halted(Halted),
}

impl fmt::Display for StopReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exhausted => f.write_str("everything was explored"),
            Self::MaxDepth => f.write_str("the limit of depth was reached"),
            Self::MaxStates => f.write_str("the limit of states was reached"),
            Self::TooLarge => f.write_str("values become too large to compute"),
            Self::Stopped => f.write_str("the search was stopped"),
            Self::Halted(halted) => halted.fmt(f),
        }
    }
}

/// The effort of a search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ExploreStats {
    /// States in the graph.
    pub states: usize,
    /// States whose switches have been tried.
    pub expanded: usize,
    /// Steps that led to a state equivalent to an explored one.
    pub merged: usize,
    /// Steps that led to a state that an explored one subsumes.
    pub subsumed: usize,
    /// Switches that a proof excluded.
    pub refuted: usize,
    /// Switches the solver could not decide; they were taken in doubt.
    pub doubtful: usize,
    /// The greatest number of steps from the initial state.
    pub depth: u32,
    /// Different switches taken beyond doubt.
    pub switches: usize,
    /// The number of terms built, a measure of the work that does not depend on the machine.
    pub terms: usize,
}

/// The result of a search.
#[derive(Clone, Debug)]
pub struct Exploration {
    /// The states and the steps between them.
    pub graph: ExecGraph,
    /// The reason why it ended.
    pub stop: StopReason,
    /// The effort that it took.
    pub stats: ExploreStats,
    /// The reason why switches were taken in doubt, if some were.
    pub doubt: Option<UnknownReason>,
}

impl Exploration {
    /// Returns whether the graph shows all behaviour, with a proof for everything left out.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.stop == StopReason::Exhausted
    }

    /// The switches taken somewhere, beyond doubt or not.
    #[must_use]
    pub fn taken_switches(&self) -> BTreeSet<SwitchId> {
        self.graph.edges.iter().map(|edge| edge.switch).collect()
    }
}

/// Explores the system of `cx`; `watch` gets the progress after every state and may stop the search.
pub fn explore(
    cx: &mut Ctx<'_>,
    config: &ExploreConfig,
    watch: &mut dyn FnMut(&ExploreStats) -> ControlFlow<()>,
) -> Exploration {
    let initial = SymState::initial(cx);
    let mut search = ExploreSearch::new(cx, config, initial);
    let stop = search.run_search(cx, config, watch, &mut |_, _| false);
    Exploration { graph: search.graph, stop, stats: search.stats, doubt: search.doubt }
}

/// Explores from `start` until a switch is taken that `is_wanted`, whose second argument is true if the switch is taken
/// beyond doubt. The last edge of the graph then takes it, and the search ends as [`StopReason::Stopped`].
pub fn explore_until(
    cx: &mut Ctx<'_>,
    config: &ExploreConfig,
    start: SymState,
    is_wanted: &mut dyn FnMut(SwitchId, bool) -> bool,
) -> Exploration {
    let mut search = ExploreSearch::new(cx, config, start);
    let stop = search.run_search(cx, config, &mut |_| ControlFlow::Continue(()), is_wanted);
    Exploration { graph: search.graph, stop, stats: search.stats, doubt: search.doubt }
}

struct ExploreSearch {
    graph: ExecGraph,
    seen: SeenRegions,
    frontier: Frontier,
    stats: ExploreStats,
    taken: BTreeMap<SwitchId, usize>,
    /// The reason why states were left out, if some were.
    cut: Option<StopReason>,
    /// The reason why switches were taken in doubt, if some were.
    doubt: Option<UnknownReason>,
}

impl ExploreSearch {
    /// Makes a search in which only `initial` is known and waits to be expanded.
    fn new(cx: &mut Ctx<'_>, config: &ExploreConfig, initial: SymState) -> Self {
        let live = match &config.ignore_dead {
            IgnoreDead::No => LiveVars::all_live(cx.sts),
            IgnoreDead::Except(vars) => LiveVars::compute(cx.pool, cx.sts, vars),
        };
        let mut seen = SeenRegions::new(config.revisit, live, config.symmetry.clone());
        let mut graph = ExecGraph::default();
        // The initial state is recorded like any other, so that a search that comes back to it ends there.
        let initial = match seen.find_or_record(cx, initial.clone(), graph.nodes.next_id()) {
            RegionMatch::New(summary) => summary,
            RegionMatch::Equivalent(_) | RegionMatch::Subsumed(_) => initial,
        };
        let root = graph.add_state(initial, None);
        let stats = ExploreStats { states: 1, ..ExploreStats::default() };
        let frontier = Frontier::new(config.order, root);
        Self { graph, seen, frontier, stats, taken: BTreeMap::new(), cut: None, doubt: None }
    }

    fn run_search(
        &mut self,
        cx: &mut Ctx<'_>,
        config: &ExploreConfig,
        watch: &mut dyn FnMut(&ExploreStats) -> ControlFlow<()>,
        is_wanted: &mut dyn FnMut(SwitchId, bool) -> bool,
    ) -> StopReason {
        let n_terms = cx.pool.len();
        while let Some(node) = self.frontier.next() {
            if self.graph.nodes[node].depth >= config.limits.max_depth {
                // Left out, not forgotten: the result of a search that cut anything is not a proof.
                self.cut = self.cut.or(Some(StopReason::MaxDepth));
                continue;
            }
            if let ControlFlow::Break(reason) = self.expand_node(cx, node, config, is_wanted) {
                return reason;
            }
            self.stats.terms = cx.pool.len() - n_terms;
            if watch(&self.stats).is_break() {
                return StopReason::Stopped;
            }
        }
        self.cut.unwrap_or(StopReason::Exhausted)
    }

    /// Tries every switch of `node`.
    fn expand_node(
        &mut self,
        cx: &mut Ctx<'_>,
        node: ExploredId,
        config: &ExploreConfig,
        is_wanted: &mut dyn FnMut(SwitchId, bool) -> bool,
    ) -> ControlFlow<StopReason> {
        self.stats.expanded += 1;
        let state = self.graph.nodes[node].clone();
        let is_tried = |id: &SwitchId| config.only.as_ref().is_none_or(|only| only.contains(id));
        let switches: Vec<SwitchId> =
            cx.sts.switches_from(state.loc).map(|(id, _)| id).filter(is_tried).collect();
        for switch in switches {
            if let Some(halted) = cx.halt_reason() {
                return ControlFlow::Break(StopReason::Halted(halted));
            }
            let next = take_switch(cx, &state, switch);
            // Only now: a search whose last switches are all refuted is complete at the limit.
            if !matches!(next, SwitchStep::Refuted) && self.graph.nodes.len() >= config.limits.max_states {
                return ControlFlow::Break(StopReason::MaxStates);
            }
            match next {
                SwitchStep::Refuted => self.stats.refuted += 1,
                SwitchStep::Taken(next) => {
                    // A collection of undecided length is many shapes at once, and states of different shapes are
                    // never compared; so they are distinguished before they are looked up.
                    for next in split_cases(cx, next) {
                        match next {
                            StateCase::State(next) => self.add_reached(cx, node, switch, next),
                            StateCase::Doubtful(next) => self.add_doubtful(cx, node, switch, next),
                        }
                    }
                    // After the edge was added: the caller reads the way back from it.
                    if is_wanted(switch, true) {
                        return ControlFlow::Break(StopReason::Stopped);
                    }
                }
                SwitchStep::Doubtful(next, why) => {
                    self.stats.doubtful += 1;
                    // The reasons of all doubtful switches are joined, for the report.
                    self.doubt = Some(self.doubt.take().map_or(why.clone(), |known| known.and(why)));
                    self.add_doubtful(cx, node, switch, next);
                    if is_wanted(switch, false) {
                        return ControlFlow::Break(StopReason::Stopped);
                    }
                }
            }
        }
        ControlFlow::Continue(())
    }

    fn add_reached(&mut self, cx: &mut Ctx<'_>, from: ExploredId, switch: SwitchId, next: SymState) {
        *self.taken.entry(switch).or_default() += 1;
        if self.taken.len() > self.stats.switches {
            self.stats.switches = self.taken.len();
            self.frontier.is_fruitful();
        }
        debug_assert_eq!(self.stats.states, self.graph.nodes.len(), "every state is counted once");
        match self.seen.find_or_record(cx, next, self.graph.nodes.next_id()) {
            RegionMatch::New(next) => self.push(cx, from, switch, next),
            RegionMatch::Equivalent(to) => {
                self.stats.merged += 1;
                self.graph.edges.push(ExploredEdge { from, switch, to });
            }
            RegionMatch::Subsumed(to) => {
                self.stats.subsumed += 1;
                self.graph.edges.push(ExploredEdge { from, switch, to });
            }
        }
    }

    /// Adds a state that may not exist: an explored state may cover it, but it must not cover others.
    fn add_doubtful(&mut self, cx: &mut Ctx<'_>, from: ExploredId, switch: SwitchId, next: SymState) {
        match self.seen.find_covering(cx, &next) {
            Some(to) => {
                self.stats.subsumed += 1;
                self.graph.edges.push(ExploredEdge { from, switch, to });
            }
            None => self.push(cx, from, switch, next),
        }
    }

    /// Adds a state to the graph and queues it, unless its terms are too large to go on from.
    fn push(&mut self, cx: &Ctx<'_>, from: ExploredId, switch: SwitchId, next: SymState) {
        self.stats.depth = self.stats.depth.max(next.depth);
        // The state is in the graph, as it was reached; but computing on from it may not end.
        let too_large = next.store.terms().iter().any(|&term| cx.pool.is_too_heavy(term));
        let node = self.graph.add_state(next, Some((from, switch)));
        self.stats.states += 1;
        if too_large {
            self.cut = Some(StopReason::TooLarge)
        } else {
            self.frontier.push(node, self.taken.get(&switch).copied().unwrap_or(0))
        }
    }
}
