//! Test purposes: paths of the symbolic execution graph worth executing.
//!
//! 000 Def. 16: a trace of switches with its path condition. Switch coverage takes one
//! shortest path per switch (breadth-first over the graph with merged states), longest first,
//! and drops those whose switches are on a kept one. A priori coverage counts the switches of
//! the purposes.
//!
//! *Promises.* A switch is called unreachable only if the graph is complete and none of its
//! steps takes it: every switch left out there was refuted. A path the solver could not
//! decide keeps the benefit of the doubt (000 Def. 12) and says so in [`Purpose::doubt`].

mod goal;
mod observer;

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use ioxide_model::sts::{GateKind, Sts, SwitchId};
use ioxide_model::term::Term;
use ioxide_smt::solver::Why;
use ioxide_symex::{
    Ctx, Edge, Exploration, ExploreConfig, Limits, Stats, Step, StopReason, SymState, explore, step,
};

pub use self::goal::{NoPurpose, of_goal};

/// Paths tried to a switch before one in doubt is taken.
const MAX_PATHS: usize = 8;

/// A path to follow, with what must hold on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Purpose {
    /// What it is for: the switch at its end, or the name of a goal.
    pub name: String,
    /// Its steps, first to last.
    pub steps: Vec<PurposeStep>,
    /// What must hold in the end besides, over the fields of the steps.
    pub end: Vec<Term>,
    /// The solver did not show that the path can be taken.
    pub doubt: Option<Why>,
}

/// One step of a purpose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PurposeStep {
    /// The switch to take.
    pub switch: SwitchId,
    /// What this step adds to the path condition; fields are numbered by step, from 1.
    pub facts: Vec<Term>,
}

/// The purposes of switch coverage.
#[derive(Clone, Debug)]
pub struct PurposeSet {
    /// Longest first.
    pub purposes: Vec<Purpose>,
    /// The switches on no purpose, in order.
    pub unreached: Vec<Unreached>,
    /// How many switches there are.
    pub total: usize,
    /// What the search did.
    pub stats: Stats,
}

/// A switch no purpose takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreached {
    /// The switch.
    pub switch: SwitchId,
    /// What is known about it.
    pub why: WhyUnreached,
}

/// Why no purpose takes a switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhyUnreached {
    /// Proved: all symbolic states, this many, were explored and none enables it.
    Never(usize),
    /// Not known: the search ended before it had seen everything.
    Cut(StopReason),
}

impl Purpose {
    /// The switches of its path.
    pub fn path(&self) -> impl Iterator<Item = SwitchId> + '_ {
        self.steps.iter().map(|step| step.switch)
    }

    /// How many inputs and outputs it takes; internal steps are none.
    #[must_use]
    pub fn n_messages(&self, sts: &Sts) -> usize {
        self.path().filter(|&id| sts.kind_of(&sts.switches[id]) != GateKind::Internal).count()
    }

    /// The purpose `name` along `path`, which starts at the initial state.
    ///
    /// # Errors
    /// If a step cannot be taken: its position. That is a proof.
    pub fn along(cx: &mut Ctx<'_>, name: String, path: &[SwitchId]) -> Result<Self, usize> {
        Ok(Self::with_state(cx, name, path)?.0)
    }

    /// As [`along`](Self::along), with the symbolic state at the end.
    fn with_state(cx: &mut Ctx<'_>, name: String, path: &[SwitchId]) -> Result<(Self, SymState), usize> {
        let mut state = SymState::initial(cx);
        let mut purpose = Self { name, steps: Vec::with_capacity(path.len()), end: Vec::new(), doubt: None };
        for (position, &switch) in path.iter().enumerate() {
            let (next, doubt) = match step(cx, &state, switch) {
                Step::Taken(next) => (next, None),
                Step::Doubtful(next, why) => (next, Some(why)),
                Step::Refuted => return Err(position),
            };
            let facts = next.path.facts()[state.path.facts().len()..].to_vec();
            purpose.steps.push(PurposeStep { switch, facts });
            // What counts is whether the whole path is in doubt.
            purpose.doubt = doubt;
            state = next;
        }
        Ok((purpose, state))
    }
}

impl PurposeSet {
    /// The switches on some purpose: a priori coverage.
    #[must_use]
    pub fn covered(&self) -> BTreeSet<SwitchId> {
        self.purposes.iter().flat_map(Purpose::path).collect()
    }

    /// Whether every switch is on a purpose or proved unreachable.
    #[must_use]
    pub fn is_settled(&self) -> bool {
        self.unreached.iter().all(|unreached| matches!(unreached.why, WhyUnreached::Never(_)))
    }
}

impl WhyUnreached {
    /// Whether it is a proof.
    #[must_use]
    pub fn is_proof(self) -> bool {
        matches!(self, Self::Never(_))
    }
}

impl std::fmt::Display for WhyUnreached {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Never(states) => {
                write!(f, "proved unreachable: all {states} symbolic states were explored, none enables it")
            }
            Self::Cut(StopReason::MaxStates) => f.write_str("unknown: the limit of states was reached"),
            Self::Cut(StopReason::MaxDepth) => f.write_str("unknown: the limit of depth was reached"),
            Self::Cut(StopReason::Stopped) => f.write_str("unknown: the search was stopped"),
            Self::Cut(StopReason::Exhausted) => f.write_str("unknown: no path found could be confirmed"),
        }
    }
}

/// The purposes of switch coverage; `watch` sees the progress of the search and may stop it.
///
/// The search ends as soon as every switch has been taken: later paths are no shorter.
pub fn switch_coverage(
    cx: &mut Ctx<'_>,
    limits: Limits,
    watch: &mut dyn FnMut(&Stats) -> ControlFlow<()>,
) -> PurposeSet {
    let total = cx.sts.switches.len();
    let config = ExploreConfig { limits, ..ExploreConfig::default() };
    let exploration = explore(cx, &config, &mut |stats| {
        if stats.switches == total { ControlFlow::Break(()) } else { watch(stats) }
    });
    let found: Vec<Purpose> =
        cx.sts.switches.ids().filter_map(|switch| shortest(cx, &exploration, switch)).collect();
    let purposes = without_covered(found);
    let mut set = PurposeSet { purposes, unreached: Vec::new(), total, stats: exploration.stats };
    let covered = set.covered();
    let left = cx.sts.switches.ids().filter(|switch| !covered.contains(switch));
    set.unreached =
        left.map(|switch| Unreached { switch, why: why_unreached(&exploration, switch) }).collect();
    set
}

/// A shortest path that ends with `switch`; one beyond doubt if there is one among the first few.
fn shortest(cx: &mut Ctx<'_>, exploration: &Exploration, switch: SwitchId) -> Option<Purpose> {
    let graph = &exploration.graph;
    let mut uses: Vec<&Edge> = graph.edges.iter().filter(|edge| edge.switch == switch).collect();
    uses.sort_by_key(|edge| graph.nodes[edge.from].depth);
    let mut in_doubt = None;
    for edge in uses.into_iter().take(MAX_PATHS) {
        let mut path = graph.path_to(edge.from);
        path.push(switch);
        let name = cx.sts.switches[switch].label.to_string();
        match Purpose::along(cx, name, &path) {
            Ok(purpose) if purpose.doubt.is_none() => return Some(purpose),
            Ok(purpose) => in_doubt = in_doubt.or(Some(purpose)),
            // Only a state in doubt has a way to it that does not exist.
            Err(_) => (),
        }
    }
    in_doubt
}

/// Longest first, without those whose switches are all on the ones kept.
fn without_covered(mut purposes: Vec<Purpose>) -> Vec<Purpose> {
    purposes.sort_by_key(|purpose| std::cmp::Reverse(purpose.steps.len()));
    let mut covered = BTreeSet::new();
    purposes.retain(|purpose| {
        let before = covered.len();
        covered.extend(purpose.path());
        covered.len() > before
    });
    purposes
}

fn why_unreached(exploration: &Exploration, switch: SwitchId) -> WhyUnreached {
    let is_taken = exploration.graph.edges.iter().any(|edge| edge.switch == switch);
    match exploration.stop {
        StopReason::Exhausted if !is_taken => WhyUnreached::Never(exploration.stats.states),
        stop => WhyUnreached::Cut(stop),
    }
}
