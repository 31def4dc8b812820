//! The inputs of a belief: all states that a specification may be in after one trace take the same, or not.
//!
//! The completion of an implementation lets it ignore an input where it has no transition. A nondeterministic
//! specification may be in another state by then, which takes the input and must be followed: what is right in one
//! state of the belief is wrong in the belief, and the specification does not even conform to itself. Where all states
//! of a belief take the same inputs that cannot happen, and single states can be compared instead of beliefs.
//!
//! Shown by induction over pairs of states after the same trace, as information flow is shown by self-composition
//! (Barthe, D'Argenio and Rezk, "Secure information flow by self-composition", 2004). The candidates are terms on which
//! two such states may agree: variables, and conditions of guards. All are assumed, and those dropped that some pair of
//! steps with the same label breaks, until none is broken. An internal step is taken by one of the two alone.
//!
//! *Promises.* Every answer but [`InputAgreement::Unknown`] rests on `Unsat` answers of the solver alone.

use std::collections::{BTreeMap, BTreeSet};

use ioxide_model::sort::Sort;
use ioxide_model::sts::{GateId, GateKind, LocId, Switch, SwitchId};
use ioxide_model::term::{Substitution, Term, VarId};
use ioxide_smt::solver::{SolverAnswer, SolverDecision};
use ioxide_symex::{Ctx, Invariants, can_react, decide_by_sizes, switch_effect};

/// The number of terms on which two states may agree. Chosen by feel: variables come first, then small conditions.
const MAX_CANDIDATES: usize = 120;
/// The number of pairs of locations above which nothing is shown. Chosen by feel: all pairs of switches are asked
/// about.
const MAX_LOCATION_PAIRS: usize = 60;

/// The inputs that are possible in the states of one belief, over all traces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum InputAgreement {
    /// Nothing is shown.
    Unknown,
    /// A state without internal steps takes every input that some state of the belief takes.
    Stable,
    /// All states of a belief take the same inputs.
    Everywhere,
}

impl InputAgreement {
    /// Shows what can be shown about the system of `cx`, which has no clocks.
    pub fn find(cx: &mut Ctx<'_>, invariants: &Invariants) -> Self {
        debug_assert!(!cx.sts.is_timed(), "pairs of states would have to wait together");
        let mut induction = PairInduction::new(cx, invariants);
        if !induction.run(cx) {
            return Self::Unknown;
        }
        let pairs: Vec<_> = induction.agreements.keys().copied().collect();
        let both = pairs.iter().flat_map(|&(one, other)| [(one, other), (other, one)]);
        both.fold(Self::Everywhere, |known, pair| match known {
            Self::Unknown => known,
            _ => known.min(induction.agreement_of(cx, pair)),
        })
    }
}

/// The terms that have the same value in both states of a pair.
///
/// *Invariant.* The first location of a pair is not greater than the second; agreement is symmetric.
struct PairInduction<'q> {
    invariants: &'q Invariants,
    candidates: Vec<Term>,
    agreements: BTreeMap<(LocId, LocId), Vec<Term>>,
    /// The pairs whose steps have not been asked about since a term was dropped.
    open: BTreeSet<(LocId, LocId)>,
    /// The variables of the second state.
    second: Substitution,
}

/// A pair of states after a step.
struct PairStep {
    target: (LocId, LocId),
    /// The agreements before the step, and the guards, in terms of both states.
    facts: Vec<Term>,
    /// The invariants of both.
    invariants: Vec<Term>,
    /// The assignments of both.
    effects: [Substitution; 2],
}

impl<'q> PairInduction<'q> {
    fn new(cx: &mut Ctx<'_>, invariants: &'q Invariants) -> Self {
        let mut second = Substitution::new();
        for var in cx.sts.vars.iter().map(|var| var.var) {
            let (name, sort) = (cx.pool.var_info(var).name.clone(), cx.pool.var_info(var).sort);
            let copy = cx.pool.declare(&name, sort);
            second.set(var, cx.pool.var(copy));
        }
        let candidates = candidates(cx);
        // Two states before the first label differ in the values that are not known.
        let unknown: Vec<VarId> =
            cx.sts.vars.iter().filter(|var| var.init.is_none()).map(|var| var.var).collect();
        let is_known = |term: &Term| !cx.pool.free_vars(*term).iter().any(|var| unknown.contains(var));
        let start = (cx.sts.initial, cx.sts.initial);
        let agreed = candidates.iter().copied().filter(is_known).collect();
        Self { invariants, candidates, agreements: [(start, agreed)].into(), open: [start].into(), second }
    }

    /// Drops terms until none is broken; returns false if it gives up.
    fn run(&mut self, cx: &mut Ctx<'_>) -> bool {
        while let Some(pair) = self.open.pop_first() {
            for (first, second) in step_pairs(cx, pair) {
                if cx.halt_reason().is_some() || self.agreements.len() > MAX_LOCATION_PAIRS {
                    return false;
                }
                let step = self.step(cx, pair, [first, second]);
                self.drop_broken(cx, &step);
            }
        }
        true
    }

    /// Returns the step of both states of `pair` by these switches; `None` stands for no step of one of them.
    fn step(&self, cx: &mut Ctx<'_>, pair: (LocId, LocId), switches: [Option<SwitchId>; 2]) -> PairStep {
        let sts = cx.sts;
        let [first, second] = switches.map(|id| id.map(|id| &sts.switches[id]));
        let (mut facts, invariants) = (self.gather_agreements(cx, pair), self.invariants_of(cx, pair));
        facts.extend(first.map(|switch| switch.guard));
        facts.extend(second.map(|switch| cx.pool.substitute(switch.guard, &self.second)));
        let mut effect =
            |switch: Option<&Switch>| switch.map_or_else(Substitution::new, |it| switch_effect(cx.pool, it));
        let effects = [effect(first), effect(second)];
        let target = |switch: Option<&Switch>, loc| switch.map_or(loc, |switch| switch.target);
        PairStep { target: (target(first, pair.0), target(second, pair.1)), facts, invariants, effects }
    }

    /// Returns the invariants of two states of `pair`.
    fn invariants_of(&self, cx: &mut Ctx<'_>, pair: (LocId, LocId)) -> Vec<Term> {
        let mut facts = self.invariants.of(pair.0).to_vec();
        for &term in self.invariants.of(pair.1) {
            facts.push(cx.pool.substitute(term, &self.second));
        }
        facts
    }

    /// Returns the facts on which two states of `pair` agree.
    fn gather_agreements(&self, cx: &mut Ctx<'_>, pair: (LocId, LocId)) -> Vec<Term> {
        let mut facts = Vec::new();
        for &term in &self.agreements[&sort_pair(pair)] {
            let other = cx.pool.substitute(term, &self.second);
            facts.push(cx.pool.eq(term, other));
        }
        facts
    }

    /// Drops the terms that may differ after `step`.
    fn drop_broken(&mut self, cx: &mut Ctx<'_>, step: &PairStep) {
        let target = sort_pair(step.target);
        let before = self.agreements.get(&target).unwrap_or(&self.candidates).clone();
        let is_new = !self.agreements.contains_key(&target);
        let mut open: Vec<(Term, Term)> = Vec::new();
        for &term in &before {
            let ours = cx.pool.substitute(term, &step.effects[0]);
            let theirs = cx.pool.substitute(term, &step.effects[1]);
            let theirs = cx.pool.substitute(theirs, &self.second);
            let same = cx.pool.eq(ours, theirs);
            if !cx.pool.is_true(same) && !step.facts.contains(&same) {
                open.push((term, same));
            }
        }
        if !is_new && open.is_empty() || decide_by_sizes(cx, &step.facts) == SolverDecision::Unsat {
            return;
        }
        // Most steps break nothing whatever the invariants are, and these are many.
        let suspects = broken_terms(cx, &step.facts, open.clone());
        open.retain(|(term, _)| suspects.contains(term));
        let facts = [&step.facts[..], &step.invariants].concat();
        if is_new && decide_by_sizes(cx, &facts) == SolverDecision::Unsat {
            return;
        }
        let broken = broken_terms(cx, &facts, open);
        if is_new || !broken.is_empty() {
            let kept = before.into_iter().filter(|term| !broken.contains(term)).collect();
            self.agreements.insert(target, kept);
            self.open.insert(target);
        }
    }

    /// Returns whether the second state of `pair` takes every input that the first one takes.
    fn agreement_of(&self, cx: &mut Ctx<'_>, pair: (LocId, LocId)) -> InputAgreement {
        let gates: BTreeSet<GateId> = input_gates(cx, pair.0);
        let stable = stability_condition(cx, pair.1);
        let stable = cx.pool.substitute(stable, &self.second);
        let known = [self.gather_agreements(cx, pair), self.invariants_of(cx, pair)].concat();
        let mut found = InputAgreement::Everywhere;
        for gate in gates {
            let taken = acceptance_condition(cx, pair.0, gate);
            let other = acceptance_condition(cx, pair.1, gate);
            let other = cx.pool.substitute(other, &self.second);
            let refused = cx.pool.not(other);
            let facts = [&known[..], &[taken, refused]].concat();
            if decide_by_sizes(cx, &facts) == SolverDecision::Unsat {
                continue;
            }
            found = InputAgreement::Stable;
            if decide_by_sizes(cx, &[&facts[..], &[stable]].concat()) != SolverDecision::Unsat {
                return InputAgreement::Unknown;
            }
        }
        found
    }
}

fn sort_pair((one, other): (LocId, LocId)) -> (LocId, LocId) {
    (one.min(other), one.max(other))
}

/// Returns the terms on which two states may agree: variables, then conditions of guards without fields, small ones
/// first.
fn candidates(cx: &mut Ctx<'_>) -> Vec<Term> {
    let mut found: Vec<Term> = cx.sts.vars.iter().map(|var| cx.pool.var(var.var)).collect();
    let conditions = state_conditions(cx);
    found.extend(conditions.into_iter().filter(|term| !found.contains(term)).collect::<Vec<_>>());
    found.truncate(MAX_CANDIDATES);
    found
}

/// Returns the conditions of guards without fields, small ones first.
pub(super) fn state_conditions(cx: &Ctx<'_>) -> Vec<Term> {
    let vars: BTreeSet<VarId> = cx.sts.vars.iter().map(|var| var.var).collect();
    let guards: Vec<Term> = cx.sts.switches.iter().map(|switch| switch.guard).collect();
    let is_of_state = |term: Term| {
        let free = cx.pool.free_vars(term);
        !free.is_empty() && free.iter().all(|var| vars.contains(var))
    };
    let mut conditions = cx.pool.subterms(&guards, |_| true);
    conditions.retain(|&term| cx.pool.sort(term) == Sort::Bool && is_of_state(term));
    conditions.sort_by_key(|&term| cx.pool.size(term));
    conditions
}

/// Returns the steps of two states that leave the same trace: both take the same message, or one an internal step.
fn step_pairs(cx: &Ctx<'_>, pair: (LocId, LocId)) -> Vec<(Option<SwitchId>, Option<SwitchId>)> {
    let sts = cx.sts;
    let is_internal = |switch: &Switch| sts.kind_of(switch) == GateKind::Internal;
    let mut steps = Vec::new();
    for (first, ours) in sts.switches_from(pair.0) {
        if is_internal(ours) {
            steps.push((Some(first), None));
            continue;
        }
        let same = sts.switches_from(pair.1).filter(|(_, theirs)| theirs.gate == ours.gate);
        // Two states of one location: the mirror image of a pair says the same.
        let same = same.filter(|(second, _)| pair.0 != pair.1 || first <= *second);
        steps.extend(same.map(|(second, _)| (Some(first), Some(second))));
    }
    if pair.0 != pair.1 {
        let theirs = sts.switches_from(pair.1).filter(|(_, switch)| is_internal(switch));
        steps.extend(theirs.map(|(second, _)| (None, Some(second))));
    }
    steps
}

/// Returns the terms that may differ; those about which the solver does not decide are among them.
fn broken_terms(cx: &mut Ctx<'_>, facts: &[Term], mut open: Vec<(Term, Term)>) -> BTreeSet<Term> {
    let mut broken = BTreeSet::new();
    while !open.is_empty() {
        let all = cx.pool.and(open.iter().map(|(_, same)| *same).collect::<Vec<_>>());
        let some_broken = cx.pool.not(all);
        let asked = [facts, &[some_broken]].concat();
        if decide_by_sizes(cx, &asked) == SolverDecision::Unsat {
            return broken;
        }
        let n_open = open.len();
        if let SolverAnswer::Sat(values) = cx.check(&asked) {
            // A counterexample mostly breaks several at once.
            open.retain(|&(term, same)| {
                let is_kept = cx.pool.holds(same, &values) != Ok(false);
                if !is_kept {
                    broken.insert(term);
                }
                is_kept
            });
        }
        if open.len() == n_open {
            for (term, same) in open.drain(..) {
                let differs = cx.pool.not(same);
                if decide_by_sizes(cx, &[facts, &[differs]].concat()) != SolverDecision::Unsat {
                    broken.insert(term);
                }
            }
        }
    }
    broken
}

fn input_gates(cx: &Ctx<'_>, loc: LocId) -> BTreeSet<GateId> {
    let inputs = cx.sts.switches_from(loc).filter(|(_, switch)| cx.sts.kind_of(switch).is_input());
    inputs.map(|(_, switch)| switch.gate).collect()
}

/// Returns the condition over variables and fields that a state at `loc` takes a message of `gate`.
pub(super) fn acceptance_condition(cx: &mut Ctx<'_>, loc: LocId, gate: GateId) -> Term {
    let of_gate = cx.sts.switches_from(loc).filter(|(_, switch)| switch.gate == gate);
    let guards: Vec<Term> = of_gate.map(|(_, switch)| switch.guard).collect();
    cx.pool.or(guards)
}

/// Returns the condition that a state at `loc` has no internal step.
pub(super) fn stability_condition(cx: &mut Ctx<'_>, loc: LocId) -> Term {
    let sts = cx.sts;
    let internal = sts.switches_from(loc).filter(|(_, switch)| sts.kind_of(switch) == GateKind::Internal);
    let steps: Vec<Term> = internal.map(|(_, switch)| can_react(cx, switch)).collect();
    let unstable = cx.pool.or(steps);
    cx.pool.not(unstable)
}
