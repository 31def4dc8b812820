//! Equivalence by induction: no exploration, a few questions for each mutant.
//!
//! A mutant conforms if every state that it reaches is one that the specification reaches, and shows nothing else
//! there. That holds if in every state that satisfies the invariants of the specification
//!
//! - the changed switch takes only steps that some switch of the specification takes, to the same state;
//! - the mutant takes every input that the specification takes, unless it has an internal step;
//! - the mutant is silent only where the specification is.
//!
//! The induction is over the steps of a run of the mutant. Before a step both systems are in the same state, which the
//! specification reaches, so its invariants hold; by the first condition the same is true after the step. The mutant
//! thus takes some of the steps of the specification. Only a state without internal steps ignores what it refuses; by
//! the second condition that is no input that is specified, and so the completion of the mutant with inputs that change
//! nothing adds no trace of the specification. By the third it adds no silence. An input that the specification does
//! not take may do anything.
//!
//! If the specification may be in several states after a trace, the mutant is in one of them. That is enough for
//! outputs and silence, which one state of the specification has to allow. It is enough for inputs if the states agree
//! on what they take ([`InputAgreement`]), as an input that only another state takes would have to be followed too.
//!
//! *Promises.* True only if the solver says `Unsat` to every question; the invariants are proved for values of any
//! size.

use std::ops::ControlFlow;

use ioxide_model::sts::{GateKind, LocId, Sts, Switch};
use ioxide_model::term::{Term, VarId};
use ioxide_model::valuation::Valuation;
use ioxide_smt::solver::{SolverAnswer, SolverDecision};
use ioxide_symex::{
    Ctx, ExploreConfig, ExploreLimits, InductionProver, Invariants, decide_by_sizes, explore,
    quiescence_condition,
};

use super::agreement::{InputAgreement, stability_condition};
use crate::conform::SearchEffort;
use crate::mutate::Edit;

/// The number of states explored for examples against wrong invariants. Chosen by feel; what they miss the induction
/// drops.
const SAMPLED_STATES: usize = 1_000;
/// The number for each location, of which no more than 40 are looked at.
const SAMPLED_STATES_PER_LOCATION: usize = 100;
/// The number of invariants by which a question grows each time. Chosen by feel: most questions need one or two.
const INVARIANTS_PER_QUESTION: usize = 4;

/// Returns invariants of the system of `cx`; `None` if `watch` ends the exploration.
pub(super) fn find_invariants(
    cx: &mut Ctx<'_>,
    watch: &mut dyn FnMut(&SearchEffort) -> ControlFlow<()>,
) -> Option<Invariants> {
    let max_states = SAMPLED_STATES.min(SAMPLED_STATES_PER_LOCATION * cx.sts.locations.len());
    let limits = ExploreLimits { max_states, max_depth: u32::MAX };
    let config = ExploreConfig { limits, ..ExploreConfig::default() };
    let mut is_ended = false;
    let exploration = explore(cx, &config, &mut |_| {
        let flow = watch(&SearchEffort::default());
        is_ended |= flow.is_break();
        flow
    });
    if is_ended {
        return None;
    }
    Some(InductionProver::new(cx, &exploration, &[]).invariants().clone())
}

/// Returns whether the mutant `imp` with this change is shown to conform to the system of `cx`.
pub(super) fn is_unseen(
    cx: &mut Ctx<'_>,
    invariants: &Invariants,
    agreement: InputAgreement,
    edit: &Edit,
    imp: &Sts,
) -> bool {
    let Some((id, after)) = edit.switch() else { return false };
    let before = &cx.sts.switches[id];
    let question = ChangeQuestion { invariants, agreement, imp, before, after };
    if agreement == InputAgreement::Unknown {
        false
    } else if cx.sts.is_timed() {
        question.is_same_switch(cx)
    } else {
        question.is_only_less(cx)
    }
}

/// A changed switch of an otherwise equal system.
struct ChangeQuestion<'q> {
    invariants: &'q Invariants,
    agreement: InputAgreement,
    imp: &'q Sts,
    /// The switch in the specification.
    before: &'q Switch,
    /// The switch in the mutant.
    after: &'q Switch,
}

impl ChangeQuestion<'_> {
    /// Returns whether the switch can be taken at the same times and does the same, in every state that satisfies the
    /// invariants. This also holds for the states that time leads to, since only facts about data are used.
    fn is_same_switch(&self, cx: &mut Ctx<'_>) -> bool {
        let (before, after) = (self.before, self.after);
        let is_same_place = before.source == after.source
            && before.gate == after.gate
            && before.target == after.target
            && before.resets == after.resets;
        if !is_same_place {
            return false;
        }
        let (old_only, new_only) = (cx.pool.not(after.guard), cx.pool.not(before.guard));
        let same_values = same_update(cx, before, after);
        let other_values = cx.pool.not(same_values);
        self.is_impossible(cx, before.source, &[before.guard, old_only])
            && self.is_impossible(cx, before.source, &[after.guard, new_only])
            && self.is_impossible(cx, before.source, &[before.guard, other_values])
    }

    /// Returns whether the mutant takes only steps of the specification, takes the same inputs and is silent only where
    /// the specification is.
    fn is_only_less(&self, cx: &mut Ctx<'_>) -> bool {
        self.takes_only_specified_steps(cx)
            && self.takes_specified_inputs(cx)
            && self.is_no_more_silent(cx)
            && self.ignores_no_more(cx)
    }

    fn takes_only_specified_steps(&self, cx: &mut Ctx<'_>) -> bool {
        let after = self.after;
        let specified: Vec<Term> = cx
            .sts
            .switches_from(after.source)
            .filter(|(_, switch)| {
                switch.gate == after.gate && switch.target == after.target && switch.resets == after.resets
            })
            .map(|(_, switch)| {
                let same_values = same_update(cx, switch, after);
                cx.pool.and([switch.guard, same_values])
            })
            .collect();
        let specified = cx.pool.or(specified);
        let unspecified = cx.pool.not(specified);
        let mut facts = vec![after.guard, unspecified];
        if cx.sts.kind_of(after).is_input() && self.agreement == InputAgreement::Everywhere {
            // No trace of the specification goes on with an input that this state does not take, so what the mutant
            // does then is free.
            let guards = cx.sts.switches_from(after.source).filter(|(_, switch)| switch.gate == after.gate);
            let guards: Vec<Term> = guards.map(|(_, switch)| switch.guard).collect();
            facts.push(cx.pool.or(guards));
        }
        self.is_impossible(cx, after.source, &facts)
    }

    fn takes_specified_inputs(&self, cx: &mut Ctx<'_>) -> bool {
        let before = self.before;
        if !cx.sts.kind_of(before).is_input() {
            return true;
        }
        let taken = self.imp.switches_from(before.source).filter(|(_, switch)| switch.gate == before.gate);
        let taken: Vec<Term> = taken.map(|(_, switch)| switch.guard).collect();
        let taken = cx.pool.or(taken);
        let refused = cx.pool.not(taken);
        // A state with an internal step ignores nothing: where it refuses the input, the traces of the mutant end that
        // the specification goes on with.
        let stable = stability_condition(&mut cx.with_system(self.imp), before.source);
        self.is_impossible(cx, before.source, &[before.guard, refused, stable])
    }

    fn is_no_more_silent(&self, cx: &mut Ctx<'_>) -> bool {
        let loc = self.before.source;
        if !matches!(cx.sts.kind_of(self.before), GateKind::Output | GateKind::Internal) {
            return true;
        }
        let silent_mutant = quiescence_condition(&mut cx.with_system(self.imp), loc);
        let silent = quiescence_condition(cx, loc);
        let speaks = cx.pool.not(silent);
        self.is_impossible(cx, loc, &[silent_mutant, speaks])
    }

    /// Returns whether the mutant is without internal steps only where the specification is, if that matters: a state
    /// with internal steps does not ignore inputs, and may refuse what others of its belief take.
    fn ignores_no_more(&self, cx: &mut Ctx<'_>) -> bool {
        let loc = self.before.source;
        if self.agreement == InputAgreement::Everywhere || cx.sts.kind_of(self.before) != GateKind::Internal {
            return true;
        }
        let stable_mutant = stability_condition(&mut cx.with_system(self.imp), loc);
        let stable = stability_condition(cx, loc);
        let unstable = cx.pool.not(stable);
        self.is_impossible(cx, loc, &[stable_mutant, unstable])
    }

    /// Returns whether `facts` are shown to contradict the invariants of `loc`.
    fn is_impossible(&self, cx: &mut Ctx<'_>, loc: LocId, facts: &[Term]) -> bool {
        let is_clock = |var: &VarId| cx.sts.clocks.iter().any(|clock| clock.var == *var);
        let of_data: Vec<Term> = {
            let all = self.invariants.of(loc).iter().copied();
            all.filter(|&term| !cx.pool.free_vars(term).iter().any(is_clock)).collect()
        };
        find_contradiction(cx, &of_data, facts) == InvariantConflict::Shown
    }
}

/// The result of asking whether facts contradict invariants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum InvariantConflict {
    /// They do.
    Shown,
    /// They do not: these values satisfy both.
    Refuted(Valuation),
    /// It is not known.
    Open,
}

/// Asks whether `facts` contradict `invariants`, of which there may be hundreds: only those are given to the solver
/// that its values for the facts violate.
pub(super) fn find_contradiction(cx: &mut Ctx<'_>, invariants: &[Term], facts: &[Term]) -> InvariantConflict {
    let mut asked = facts.to_vec();
    let defaults = default_values(cx, &[invariants, facts].concat());
    let mut left: Vec<Term> = invariants.to_vec();
    loop {
        if decide_by_sizes(cx, &asked) == SolverDecision::Unsat {
            return InvariantConflict::Shown;
        }
        let values = match cx.check(&asked) {
            SolverAnswer::Sat(values) => values,
            SolverAnswer::Unsat => return InvariantConflict::Shown,
            SolverAnswer::Unknown(_) => return InvariantConflict::Open,
        };
        let is_broken = |term: &Term| cx.pool.holds(*term, &(&values, &defaults)) != Ok(true);
        let broken: Vec<Term> =
            left.iter().copied().filter(is_broken).take(INVARIANTS_PER_QUESTION).collect();
        if broken.is_empty() {
            return InvariantConflict::Refuted(values);
        }
        // Every round asks about one invariant more at least, so this ends.
        left.retain(|term| !broken.contains(term));
        asked.extend(broken);
    }
}

/// Returns a value for every variable of `terms`, for those that an answer leaves out.
fn default_values(cx: &Ctx<'_>, terms: &[Term]) -> Valuation {
    let default = |var: VarId| (var, cx.pool.default_value(cx.pool.var_info(var).sort));
    cx.pool.free_vars_of(terms).into_iter().map(default).collect()
}

/// Returns the formula that two switches give every variable the same value.
fn same_update(cx: &mut Ctx<'_>, one: &Switch, other: &Switch) -> Term {
    let value = |cx: &mut Ctx<'_>, switch: &Switch, var: VarId| {
        let assigned = switch.update.iter().find(|(it, _)| *it == var).map(|(_, term)| *term);
        assigned.unwrap_or_else(|| cx.pool.var(var))
    };
    let vars: Vec<VarId> = cx.sts.vars.iter().map(|var| var.var).collect();
    let mut same = Vec::new();
    for var in vars {
        let (a, b) = (value(cx, one, var), value(cx, other, var));
        if a != b {
            same.push(cx.pool.eq(a, b));
        }
    }
    cx.pool.and(same)
}
