//! Purposes that observe silence in every location: the switch labelled δ of \[BT19] sec. 7.
//!
//! One shortest path per location in which the model may be silent, longest first; silences of other locations are put
//! in on the way, as long as the rest of the path stays possible.
//!
//! *Promises.* A location is called never silent only if the solver refuted quiescence there: for all values of the
//! variables, or in every state of the complete graph.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::ops::ControlFlow;

use ioxide_model::goal::PathStep;
use ioxide_model::sts::{LocId, Sts};
use ioxide_smt::solver::SolverDecision;
use ioxide_symex::{
    Ctx, Exploration, ExploreConfig, ExploreLimits, ExploreStats, ExploredId, StopReason, SwitchStep,
    explore, quiescence_condition, take_step,
};

use super::TestPurpose;
use super::coverage::{Criterion, MAX_PATHS, PurposeItem, PurposeSet, Unreached, WhyUnreached};

/// The number of states of the first search; each further one may explore four times as many. As for goals.
const FIRST_STATES: usize = 256;

/// Returns purposes that observe silence in every location. The search ends as soon as every location has one, or is
/// never silent.
pub(super) fn silence_coverage(
    cx: &mut Ctx<'_>,
    limits: ExploreLimits,
    watch: &mut dyn FnMut(&ExploreStats) -> ControlFlow<()>,
) -> PurposeSet {
    let criterion = Criterion::Silences;
    let mut max_states = FIRST_STATES.min(limits.max_states);
    let (exploration, mut aims) = loop {
        let config =
            ExploreConfig { limits: ExploreLimits { max_states, ..limits }, ..ExploreConfig::default() };
        let exploration = explore(cx, &config, watch);
        let places: Vec<LocId> = cx.sts.locations.ids().collect();
        let aims: Vec<SilentPlace> =
            places.into_iter().map(|loc| find_silence(cx, &exploration, loc)).collect();
        let is_found = |aim: &SilentPlace| {
            aim.is_never || aim.purpose.as_ref().is_some_and(|purpose| purpose.doubt.is_none())
        };
        // The search is done again with a larger limit only if the limit was what ended it.
        if exploration.stop != StopReason::MaxStates
            || max_states >= limits.max_states
            || aims.iter().all(is_found)
        {
            break (exploration, aims);
        }
        max_states = max_states.saturating_mul(4).min(limits.max_states);
    };
    // Long paths first: they can observe the silences of short ones on their way.
    aims.sort_by_key(|aim| Reverse(aim.purpose.as_ref().map_or(0, |purpose| purpose.steps.len())));
    let (mut purposes, mut items, mut covered) = (Vec::new(), Vec::new(), BTreeSet::new());
    for aim in &aims {
        // A location that a longer path observes on its way needs no purpose of its own.
        let Some(purpose) = aim.purpose.as_ref().filter(|_| !covered.contains(&aim.loc)) else { continue };
        let purpose = with_silences(cx, purpose.clone(), &covered);
        let places = silent_places(cx.sts, purpose.path());
        items.push(places.iter().copied().map(PurposeItem::Silence).collect());
        if purpose.doubt.is_none() {
            covered.extend(places);
        }
        purposes.push(purpose);
    }
    aims.sort_by_key(|aim| aim.loc);
    let unreached = aims.into_iter().filter(|aim| !covered.contains(&aim.loc)).map(|aim| {
        let doubt = aim.purpose.and_then(|purpose| purpose.doubt);
        let why = match (doubt, exploration.stop) {
            _ if aim.is_never => WhyUnreached::Loud,
            (Some(why), _) => WhyUnreached::Doubt(why),
            (None, StopReason::Exhausted) if aim.is_settled => WhyUnreached::Never(exploration.stats.states),
            (None, stop) => WhyUnreached::Cut(stop),
        };
        Unreached { item: PurposeItem::Silence(aim.loc), why }
    });
    PurposeSet {
        criterion,
        purposes,
        items,
        at_start: BTreeSet::new(),
        unreached: unreached.collect(),
        total: cx.sts.locations.len(),
        stats: exploration.stats,
    }
}

/// A location, and a way to a silence in it.
struct SilentPlace {
    loc: LocId,
    /// The purpose that observes it; one in doubt only if there is no other.
    purpose: Option<TestPurpose>,
    /// True if silence was refuted in every state of the location that was found.
    is_settled: bool,
    /// True if silence was refuted for all values of the variables.
    is_never: bool,
}

/// Searches for a shortest path that ends with silence at `loc`.
fn find_silence(cx: &mut Ctx<'_>, exploration: &Exploration, loc: LocId) -> SilentPlace {
    let graph = &exploration.graph;
    let nodes: Vec<ExploredId> =
        graph.nodes.iter_enumerated().filter(|(_, state)| state.loc == loc).map(|(node, _)| node).collect();
    let quiet = quiescence_condition(cx, loc);
    // For all values at once: if this refutes silence, the states below need no queries.
    let is_never = cx.decide(&[quiet]) == SolverDecision::Unsat;
    let mut found = SilentPlace { loc, purpose: None, is_settled: true, is_never };
    if is_never {
        return found;
    }
    let mut tries = 0;
    for node in nodes {
        if tries == MAX_PATHS || cx.halt_reason().is_some() {
            break;
        }
        if take_step(cx, &graph.nodes[node], PathStep::Quiet) == SwitchStep::Refuted {
            continue;
        }
        // Silence was not refuted here, so "never silent" cannot be said of the location any more.
        (tries, found.is_settled) = (tries + 1, false);
        let mut path = PathStep::taking(&graph.path_to(node));
        path.push(PathStep::Quiet);
        let name = format!("silence at {}", cx.sts.locations[loc].name);
        match TestPurpose::from_path(cx, name, &path) {
            Ok(purpose) if purpose.doubt.is_none() => {
                found.purpose = Some(purpose);
                break;
            }
            Ok(purpose) => found.purpose = found.purpose.or(Some(purpose)),
            // Only a state in doubt has a way to it that does not exist.
            Err(_) => (),
        }
    }
    found.is_settled &= cx.halt_reason().is_none();
    found
}

/// Returns `purpose` with a silence at the first visit of every other location that is not `covered`, where that is
/// possible.
fn with_silences(cx: &mut Ctx<'_>, purpose: TestPurpose, covered: &BTreeSet<LocId>) -> TestPurpose {
    let mut longer = purpose;
    let mut met: BTreeSet<LocId> = silent_places(cx.sts, longer.path());
    met.extend(covered);
    let (mut loc, mut at) = (cx.sts.initial, 0);
    while at < longer.steps.len() && longer.doubt.is_none() && cx.halt_reason().is_none() {
        if met.insert(loc) {
            let mut path: Vec<PathStep> = longer.path().collect();
            path.insert(at, PathStep::Quiet);
            if let Ok(found) = TestPurpose::from_path(cx, longer.name.clone(), &path)
                && found.doubt.is_none()
            {
                longer = found;
            }
        }
        if let PathStep::Take(switch) = longer.steps[at].step {
            loc = cx.sts.switches[switch].target;
        }
        at += 1;
    }
    longer
}

/// Returns the locations at which `path`, from the initial one on, observes silence.
pub(super) fn silent_places(sts: &Sts, path: impl Iterator<Item = PathStep>) -> BTreeSet<LocId> {
    let mut loc = sts.initial;
    let mut found = BTreeSet::new();
    for step in path {
        match step {
            PathStep::Take(switch) => loc = sts.switches[switch].target,
            PathStep::Quiet => _ = found.insert(loc),
        }
    }
    found
}
