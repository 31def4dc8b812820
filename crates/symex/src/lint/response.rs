//! Responses: every message `a` is followed by a message `b`, perhaps within some time.
//!
//! An observer is built into the model: `pending` holds from the first unanswered `a` until the next `b`, and a clock
//! measures it. Two things can break a response without a time limit:
//!
//! - silence: a state in which the answer is owed and the model allows that nothing comes any more. That is a claim
//!   about states, explored or proved by induction like any other.
//! - endless activity: steps of the system alone that repeat while the answer is owed. Without cycles of such steps, or
//!   with a measure that they decrease, there is none.
//!
//! Inputs that never end are not taken for a violation: a proof assumes that the tester pauses. With a time limit, a
//! state breaks the response in which the model allows to wait beyond it.

use ioxide_model::goal::{Goal, ResponseGoal};
use ioxide_model::label::readable;
use ioxide_model::sort::Sort;
use ioxide_model::sts::{Clock, GateKind, LocId, StateVar, Sts, Switch, SwitchId};
use ioxide_model::term::{Term, VarId};

use super::claim::GoalClaim;
use super::property::{
    ClaimKind, ProofBasis, PropertyResult, PropertyStatus, ViolationSearch, find_violation, is_settled,
    unclear_status, why_not_explored,
};
use super::{Findings, ranking};
use crate::concrete_run::{ConcreteRun, find_concrete_run};
use crate::cx::Ctx;
use crate::explore::{Exploration, ExploreConfig, IgnoreDead, explore};
use crate::induction::{InductionOutcome, InductionProver};
use crate::quiescence::quiescence_condition;
use crate::symmetry::Symmetry;

/// A model with an observer for one response.
pub(super) struct ObservedSystem {
    /// The model with the observer.
    pub sts: Sts,
    /// True while an answer is owed.
    pub pending: VarId,
    /// The time since the oldest unanswered message.
    since: Option<VarId>,
}

/// Settles one response.
pub(super) fn settle_response(
    cx: &mut Ctx<'_>,
    goal: &Goal,
    response: &ResponseGoal,
    config: &ExploreConfig,
    findings: &mut Findings,
) -> PropertyResult {
    let observed = observe_response(cx, goal, response);
    let cx = &mut cx.with_system(&observed.sts);
    let exploration = explore(cx, &observed_config(config), &mut |_| std::ops::ControlFlow::Continue(()));
    let n_open = findings.open;
    let claim = late_claim(cx, &observed, response);
    let status = match find_violation(cx, &exploration, &claim, findings) {
        ViolationSearch::Found(run) => PropertyStatus::Refuted(Some(with_silence(run, response))),
        ViolationSearch::Unclear => unclear_status(),
        ViolationSearch::None => match find_endless_run(cx, &observed, &exploration, response) {
            Some(run) => PropertyStatus::Refuted(Some(run)),
            None => prove_response(cx, &observed, &exploration, response, &claim, findings, n_open),
        },
    };
    PropertyResult { name: goal.name.clone(), kind: ClaimKind::Response, span: goal.span, status }
}

/// Searches the states that `config` allows for a run that breaks the response.
pub(super) fn refute_response(
    cx: &mut Ctx<'_>,
    goal: &Goal,
    response: &ResponseGoal,
    config: &ExploreConfig,
    findings: &mut Findings,
) -> Option<ConcreteRun> {
    let observed = observe_response(cx, goal, response);
    let cx = &mut cx.with_system(&observed.sts);
    let exploration = explore(cx, &observed_config(config), &mut |_| std::ops::ControlFlow::Continue(()));
    let claim = late_claim(cx, &observed, response);
    match find_violation(cx, &exploration, &claim, findings) {
        ViolationSearch::Found(run) => Some(with_silence(run, response)),
        ViolationSearch::Unclear => None,
        ViolationSearch::None => find_endless_run(cx, &observed, &exploration, response),
    }
}

/// Returns how a system with an observer is explored. The observer belongs to no part: every variable is compared, and
/// no parts are swapped.
fn observed_config(config: &ExploreConfig) -> ExploreConfig {
    ExploreConfig { ignore_dead: IgnoreDead::No, symmetry: Symmetry::default(), ..config.clone() }
}

fn with_silence(run: ConcreteRun, response: &ResponseGoal) -> ConcreteRun {
    let ending = match &response.within {
        None => "then silence".to_owned(),
        Some(limit) => format!("then more than {}s without the answer", readable(limit)),
    };
    ConcreteRun { ending: Some(ending), ..run }
}

/// Builds the observer into the system.
fn observe_response(cx: &mut Ctx<'_>, goal: &Goal, response: &ResponseGoal) -> ObservedSystem {
    let mut sts = cx.sts.clone();
    let pending = cx.pool.declare(&format!("{} is pending", goal.name), Sort::Bool);
    let init = Some(cx.pool.ff());
    sts.vars.push(StateVar { var: pending, init, span: goal.span });
    let since =
        response.within.as_ref().map(|_| cx.pool.declare(&format!("time of {}", goal.name), Sort::Real));
    sts.clocks.extend(since.map(|var| Clock { var, span: goal.span }));
    let mut switches = Vec::new();
    for switch in &cx.sts.switches {
        switches.extend(observed_variants(cx, switch, response, pending, since));
    }
    sts.switches = switches.into_iter().collect();
    // The goals of the model are settled without the observer.
    sts.goals = Vec::new();
    ObservedSystem { sts, pending, since }
}

/// Returns the switches that `switch` becomes: one for each thing that the observer sees in it.
fn observed_variants(
    cx: &mut Ctx<'_>,
    switch: &Switch,
    response: &ResponseGoal,
    pending: VarId,
    since: Option<VarId>,
) -> Vec<Switch> {
    let is_pending = cx.pool.var(pending);
    let not_pending = cx.pool.not(is_pending);
    let mut rest = switch.guard;
    let mut found = Vec::new();
    let mut add = |cx: &mut Ctx<'_>, guard: Term, value: bool, resets: Option<VarId>| {
        if !cx.pool.is_false(guard) {
            let mut variant = Switch { guard, ..switch.clone() };
            let value = cx.pool.bool(value);
            variant.update.push((pending, value));
            variant.resets.extend(resets);
            found.push(variant);
        }
    };
    // The guard is divided into disjoint cases, so that every step of the model is exactly one step here: `rest` is
    // what no case has taken.
    // A message that is both an answer and a new request answers first, and is owed an answer itself.
    if switch.gate == response.trigger.0 {
        let starts = cx.pool.and([rest, response.trigger.1]);
        let differs = cx.pool.not(response.trigger.1);
        let answers = switch.gate == response.answer.0;
        let (first, again) = (cx.pool.and([starts, not_pending]), cx.pool.and([starts, is_pending]));
        match since {
            // The clock runs from the oldest message that is not answered.
            Some(_) if !answers => {
                add(cx, first, true, since);
                add(cx, again, true, None);
            }
            _ => add(cx, starts, true, since),
        }
        rest = cx.pool.and([rest, differs]);
    }
    if switch.gate == response.answer.0 {
        let answers = cx.pool.and([rest, response.answer.1]);
        let differs = cx.pool.not(response.answer.1);
        add(cx, answers, false, None);
        rest = cx.pool.and([rest, differs]);
    }
    if !cx.pool.is_false(rest) {
        found.push(Switch { guard: rest, ..switch.clone() });
    }
    found
}

/// Returns the claim that no answer is owed where the model allows silence for ever, or beyond the limit.
fn late_claim(cx: &mut Ctx<'_>, observed: &ObservedSystem, response: &ResponseGoal) -> GoalClaim {
    let locations: Vec<LocId> = cx.sts.locations.ids().collect();
    let is_pending = cx.pool.var(observed.pending);
    let mut bad = std::collections::BTreeMap::new();
    for loc in locations {
        let quiet = quiescence_condition(cx, loc);
        // With a limit two things are bad: silence for ever, and a reaction that is still possible beyond the
        // limit.
        let late = match (&response.within, observed.since) {
            (Some(limit), Some(since)) => {
                let overdue = reaction_later_than(cx, loc, since, limit);
                cx.pool.or([quiet, overdue])
            }
            _ => quiet,
        };
        bad.insert(loc, cx.pool.and([is_pending, late]));
    }
    GoalClaim::about_states(bad)
}

/// Returns the condition that something that the tester does not send is possible more than `limit` after the message.
fn reaction_later_than(
    cx: &mut Ctx<'_>,
    loc: LocId,
    since: VarId,
    limit: &ioxide_model::number::Rational,
) -> Term {
    let limit = cx.pool.number(limit.clone(), Sort::Real);
    let since = cx.pool.var(since);
    let is_late = cx.pool.lt(limit, since);
    // The clock of the observer advances with the others, so the guard may ask for its value at the same instant.
    let sts = cx.sts.clone();
    let mut late = Vec::new();
    for (_, switch) in sts.switches_from(loc) {
        if sts.kind_of(switch) != GateKind::Input {
            let guard = cx.pool.and([switch.guard, is_late]);
            late.push(crate::quiescence::can_react(cx, &Switch { guard, ..switch.clone() }));
        }
    }
    cx.pool.or(late)
}

/// Returns a run into a loop of steps of the system alone, in states without unknown values, while an answer is owed.
fn find_endless_run(
    cx: &mut Ctx<'_>,
    observed: &ObservedSystem,
    exploration: &Exploration,
    response: &ResponseGoal,
) -> Option<ConcreteRun> {
    if response.within.is_some() || cx.sts.is_timed() {
        return None;
    }
    let graph = &exploration.graph;
    let is_owed = |cx: &Ctx<'_>, state: &crate::state::SymState| {
        let term = state.store.get(cx.sts, observed.pending);
        // Only states with known values and no condition: there a cycle in the graph is a cycle of the model, while
        // merged states could close a cycle that no run has.
        term.is_some_and(|term| cx.pool.is_true(term))
            && state.path.facts().is_empty()
            && state.store.terms().iter().all(|&term| cx.pool.as_value(term).is_some())
    };
    let owed: Vec<bool> = graph.nodes.iter().map(|state| is_owed(cx, state)).collect();
    let at = |id: crate::graph::ExploredId| ioxide_model::index::Idx::index(id);
    let own = graph.edges.iter().filter(|edge| {
        let kind = cx.sts.kind_of(&cx.sts.switches[edge.switch]);
        matches!(kind, GateKind::Output | GateKind::Internal) && owed[at(edge.from)] && owed[at(edge.to)]
    });
    let edges: Vec<(usize, usize, SwitchId)> =
        own.map(|edge| (at(edge.from), at(edge.to), edge.switch)).collect();
    let cycle = ranking::find_cycle(&edges, graph.nodes.len())?;
    let start = graph.nodes.ids().nth(cycle.start)?;
    let tt = cx.pool.tt();
    let run = find_concrete_run(cx, &graph.path_to(start), tt)?;
    let labels: Vec<String> =
        cycle.switches.iter().map(|id| cx.sts.switches[*id].label.to_string()).collect();
    Some(ConcreteRun { ending: Some(format!("then {} for ever", labels.join(", "))), ..run })
}

fn prove_response(
    cx: &mut Ctx<'_>,
    observed: &ObservedSystem,
    exploration: &Exploration,
    response: &ResponseGoal,
    claim: &GoalClaim,
    findings: &Findings,
    n_open: usize,
) -> PropertyStatus {
    // Silence first. If all states were explored and none is bad, that is proved; otherwise the claim is an
    // invariant to prove by induction.
    let is_explored = is_settled(exploration, findings, n_open);
    let open = |why: String, counterexample| PropertyStatus::Open { why, counterexample };
    let claims: Vec<_> = claim.as_invariant(cx).into_iter().collect();
    let needs_prover = !is_explored || response.within.is_none();
    let prover = needs_prover.then(|| InductionProver::new(cx, exploration, &claims));
    let basis = match &prover {
        _ if is_explored => ProofBasis::Exploration { states: exploration.stats.states },
        Some(prover) => match prover.prove(cx, &claim.safety) {
            InductionOutcome::Proved { steps, invariants } => ProofBasis::Induction { steps, invariants },
            InductionOutcome::Refuted(_) => return open(why_not_explored(exploration, findings), None),
            InductionOutcome::Open { doubt, counterexample } => {
                let why =
                    doubt.map_or_else(|| why_not_explored(exploration, findings), |why| why.to_string());
                return open(why, counterexample);
            }
        },
        None => return open(why_not_explored(exploration, findings), None),
    };
    let mut assumptions = Vec::new();
    if let (None, Some(prover)) = (&response.within, &prover) {
        // Then endless activity: some measure decreases with every step of the system while the answer is owed. A
        // limit makes this superfluous, since time cannot pass for ever without breaking it.
        if !ranking::always_ends(cx, observed, prover.invariants()) {
            return open("steps of the system alone may repeat while the answer is owed".to_owned(), None);
        }
        assumptions.push("inputs do not come for ever before the answer".to_owned());
        if cx.sts.is_timed() {
            assumptions.push("an answer that may still come is not postponed for ever".to_owned());
        }
    }
    PropertyStatus::Proved { basis, assumptions }
}
