//! Equivalence by a simulation: a mutant may hold other values than the specification where nothing ever shows them.
//!
//! A relation between states of the mutant and states of the specification is a simulation (Milner, 1971) if whatever
//! the mutant does in one of two related states, the specification does in the other, and related states follow. The
//! mutant then conforms if both also refuse the same inputs and are silent together, as in
//! [`inductive`](super::inductive), where related states are equal ones.
//!
//! The relation is found by counterexamples. It begins with equality, which the changed switch may break: a variable
//! that then has two values is equal only under conditions from the guards of the model, all of them at first, and
//! those are dropped that some switch breaks, until none is broken (Houdini; Flanagan and Leino, 2001). Every switch of
//! the mutant is answered by the same switch of the specification, or by another with the same message.
//!
//! *Promises.* True only if the solver says `Unsat` to every question about the final relation.

use std::collections::{BTreeMap, BTreeSet};

use ioxide_model::sts::{GateId, GateKind, LocId, Sts, Switch, SwitchId};
use ioxide_model::term::{Substitution, Term, VarId};
use ioxide_model::valuation::Valuation;
use ioxide_symex::{Ctx, Invariants, quiescence_condition, switch_effect};

use super::agreement::{InputAgreement, acceptance_condition, stability_condition, state_conditions};
use super::inductive::{InvariantConflict, find_contradiction};

/// The number of conditions under which variables may be equal. Chosen by feel: every counterexample evaluates all of
/// them for each variable that differs.
const MAX_CONDITIONS: usize = 150;
/// The number of variables that may differ. Chosen by feel: a change that spreads further mostly shows.
const MAX_DIFFERING: usize = 4;
/// The number of questions about one mutant. Chosen by feel: about a second for the solver.
const MAX_QUESTIONS: usize = 300;

/// The terms that the relations of all mutants of a model are made of.
#[derive(Clone, Debug)]
pub(super) struct RelationTerms {
    /// A variable of the mutant for each variable of the specification.
    copies: Vec<(VarId, VarId)>,
    /// Conditions on the state of the specification, with their negations.
    conditions: Vec<Term>,
    /// Values for variables that a counterexample leaves open.
    defaults: Valuation,
}

impl RelationTerms {
    /// Makes the terms for the system of `cx`.
    pub fn new(cx: &mut Ctx<'_>) -> Self {
        let mut copies = Vec::new();
        for var in cx.sts.vars.iter().map(|var| var.var) {
            let (name, sort) = (cx.pool.var_info(var).name.clone(), cx.pool.var_info(var).sort);
            copies.push((var, cx.pool.declare(&name, sort)));
        }
        let mut conditions = state_conditions(cx);
        conditions.truncate(MAX_CONDITIONS);
        let mut negated = Vec::new();
        for &condition in &conditions {
            negated.push(cx.pool.not(condition));
        }
        negated.retain(|term| !conditions.contains(term));
        conditions.extend(negated);
        let fields = cx.sts.gates.iter().flat_map(|gate| gate.fields.iter().copied());
        let all = copies.iter().flat_map(|&(one, other)| [one, other]).chain(fields);
        let default = |var: VarId| (var, cx.pool.default_value(cx.pool.var_info(var).sort));
        let defaults = all.map(default).collect();
        Self { copies, conditions, defaults }
    }

    fn copy_of(&self, var: VarId) -> Option<VarId> {
        self.copies.iter().find(|(it, _)| *it == var).map(|(_, copy)| *copy)
    }
}

/// A fact about a state of the mutant and a state of the specification.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum RelationFact {
    /// The variable has the same value in both.
    Same(VarId),
    /// It has, if the condition holds in the state of the specification.
    SameIf(VarId, Term),
    /// The condition holds in both or in neither.
    Agree(Term),
}

/// The relation of states at one location: equality, but for these variables.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct LocationRelation {
    differing: BTreeSet<VarId>,
    facts: BTreeSet<RelationFact>,
}

/// The way in which the search for a relation failed.
struct NoRelation;

/// The search for a simulation of one mutant.
pub(super) struct SimulationSearch<'q> {
    invariants: &'q Invariants,
    agreement: InputAgreement,
    terms: &'q RelationTerms,
    imp: &'q Sts,
    changed: SwitchId,
    relations: BTreeMap<LocId, LocationRelation>,
    n_questions: usize,
}

/// A pair of values of terms: in the mutant, and in the specification.
struct RelatedPair {
    ours: Substitution,
    /// The terms of the variables before a step, for what a step of the mutant computes.
    names: Substitution,
    theirs: Substitution,
}

impl RelatedPair {
    /// Returns the formula that `fact` holds.
    fn formula(&self, cx: &mut Ctx<'_>, fact: RelationFact) -> Term {
        match fact {
            RelationFact::Same(var) => self.same(cx, var),
            RelationFact::SameIf(var, condition) => {
                let condition = cx.pool.substitute(condition, &self.theirs);
                let (otherwise, same) = (cx.pool.not(condition), self.same(cx, var));
                cx.pool.or([otherwise, same])
            }
            RelationFact::Agree(condition) => {
                let ours = self.ours(cx, condition);
                let theirs = cx.pool.substitute(condition, &self.theirs);
                cx.pool.eq(ours, theirs)
            }
        }
    }

    fn same(&self, cx: &mut Ctx<'_>, var: VarId) -> Term {
        let term = cx.pool.var(var);
        let ours = self.ours(cx, term);
        let theirs = cx.pool.substitute(term, &self.theirs);
        cx.pool.eq(ours, theirs)
    }

    fn ours(&self, cx: &mut Ctx<'_>, term: Term) -> Term {
        let after = cx.pool.substitute(term, &self.ours);
        cx.pool.substitute(after, &self.names)
    }
}

/// An answer of the specification to a switch of the mutant.
struct AnsweringStep {
    guard: Term,
    /// The facts about the states after it, with their formulas; those that always hold are left out.
    facts: Vec<(RelationFact, Term)>,
    after: RelatedPair,
}

impl<'q> SimulationSearch<'q> {
    /// Makes a search that relates equal states.
    pub fn new(
        invariants: &'q Invariants,
        agreement: InputAgreement,
        terms: &'q RelationTerms,
        (imp, changed): (&'q Sts, SwitchId),
    ) -> Self {
        Self { invariants, agreement, terms, imp, changed, relations: BTreeMap::new(), n_questions: 0 }
    }

    /// Returns whether a relation was found by which the mutant conforms to the system of `cx`, which has no clocks.
    pub fn run(&mut self, cx: &mut Ctx<'_>) -> bool {
        debug_assert!(!cx.sts.is_timed(), "related states would have to wait together");
        self.agreement != InputAgreement::Unknown && self.relate(cx).is_ok()
    }

    fn relate(&mut self, cx: &mut Ctx<'_>) -> Result<(), NoRelation> {
        let (before, after) = (&cx.sts.switches[self.changed], &self.imp.switches[self.changed]);
        self.answer(cx, self.changed)?;
        // A weaker relation at a location may break what was shown about the switches from it.
        loop {
            let known = self.relations.clone();
            let weak: Vec<LocId> = known.keys().copied().collect();
            for loc in weak {
                let ids: Vec<SwitchId> = self.imp.switches_from(loc).map(|(id, _)| id).collect();
                for id in ids {
                    self.answer(cx, id)?;
                }
            }
            self.answer(cx, self.changed)?;
            if known == self.relations {
                break;
            }
        }
        let touched = [before.source, after.source];
        let places: BTreeSet<LocId> = self.relations.keys().copied().chain(touched).collect();
        places.into_iter().try_for_each(|loc| self.compare_offers(cx, loc))
    }

    /// Weakens the relation until the specification answers this switch of the mutant in all related states.
    fn answer(&mut self, cx: &mut Ctx<'_>, id: SwitchId) -> Result<(), NoRelation> {
        let after = &self.imp.switches[id];
        let mut is_wide = id == self.changed;
        loop {
            let steps = self.answering_steps(cx, id, is_wide);
            let mut answered = Vec::new();
            for step in &steps {
                let facts = step.facts.iter().map(|(_, formula)| *formula);
                answered.push(cx.pool.and([step.guard].into_iter().chain(facts).collect::<Vec<_>>()));
            }
            let answered = cx.pool.or(answered);
            let guard = self.guard_of(cx, after);
            let unanswered = cx.pool.not(answered);
            let mut facts = vec![guard, unanswered];
            if cx.sts.kind_of(after).is_input() && self.agreement == InputAgreement::Everywhere {
                // No trace of the specification goes on with an input that this state does not take, so what the
                // mutant does then is free.
                facts.push(acceptance_condition(cx, after.source, after.gate));
            }
            let Some(values) = self.counterexample(cx, after.source, &facts)? else { return Ok(()) };
            let values = (&values, &self.terms.defaults);
            let taken = steps.iter().find(|step| cx.pool.holds(step.guard, &values) == Ok(true));
            match taken {
                Some(step) => self.weaken(cx, after.target, step, &values)?,
                // Another switch with the same message may answer it.
                None if !is_wide => is_wide = true,
                None => return Err(NoRelation),
            }
        }
    }

    /// Returns the steps by which the specification may answer a switch of the mutant: by the same switch, and if
    /// `is_wide` by others with its message, or without a step if nobody sees it.
    fn answering_steps(&self, cx: &mut Ctx<'_>, id: SwitchId, is_wide: bool) -> Vec<AnsweringStep> {
        let sts = cx.sts;
        let after = &self.imp.switches[id];
        let fits = |switch: &Switch| {
            switch.source == after.source
                && switch.gate == after.gate
                && switch.target == after.target
                && switch.resets == after.resets
        };
        let same = Some(&sts.switches[id]).filter(|switch| fits(switch));
        let others = sts.switches_from(after.source).filter(|(it, switch)| *it != id && fits(switch));
        let others = others.map(|(_, switch)| switch).filter(|_| is_wide);
        let is_internal = sts.kind_of(after) == GateKind::Internal;
        let rests = is_wide && is_internal && after.source == after.target;
        let steps = same.into_iter().chain(others).map(Some).chain(rests.then_some(None));
        steps.map(|switch| self.answering_step(cx, after, switch)).collect()
    }

    fn answering_step(&self, cx: &mut Ctx<'_>, ours: &Switch, theirs: Option<&Switch>) -> AnsweringStep {
        let guard = theirs.map_or_else(|| cx.pool.tt(), |switch| switch.guard);
        let theirs = theirs.map_or_else(Substitution::new, |switch| switch_effect(cx.pool, switch));
        let names = self.names(cx, ours.source);
        let after = RelatedPair { ours: switch_effect(cx.pool, ours), names, theirs };
        let mut facts = Vec::new();
        for fact in self.facts_at(cx, ours.target) {
            let formula = after.formula(cx, fact);
            if !cx.pool.is_true(formula) {
                facts.push((fact, formula));
            }
        }
        AnsweringStep { guard, facts, after }
    }

    /// Drops the facts that do not hold after `step` in a counterexample.
    fn weaken(
        &mut self,
        cx: &mut Ctx<'_>,
        target: LocId,
        step: &AnsweringStep,
        values: &(&Valuation, &Valuation),
    ) -> Result<(), NoRelation> {
        let holds = |cx: &Ctx<'_>, formula: Term| cx.pool.holds(formula, values) == Ok(true);
        let broken: Vec<RelationFact> =
            step.facts.iter().filter(|(_, formula)| !holds(cx, *formula)).map(|(fact, _)| *fact).collect();
        if broken.is_empty() {
            return Err(NoRelation);
        }
        let mut relation = self.relations.remove(&target).unwrap_or_default();
        for fact in &broken {
            let RelationFact::Same(var) = *fact else {
                relation.facts.remove(fact);
                continue;
            };
            relation.differing.insert(var);
            // Whatever holds here too takes the place of equality.
            for &condition in &self.terms.conditions {
                let same = RelationFact::SameIf(var, condition);
                let agree = RelationFact::Agree(condition);
                let is_about = cx.pool.mentions(condition, var);
                for fact in [Some(same), is_about.then_some(agree)].into_iter().flatten() {
                    let formula = step.after.formula(cx, fact);
                    if holds(cx, formula) {
                        relation.facts.insert(fact);
                    }
                }
            }
        }
        let n_differing = relation.differing.len();
        self.relations.insert(target, relation);
        if n_differing > MAX_DIFFERING { Err(NoRelation) } else { Ok(()) }
    }

    /// Shows that in related states at `loc` the mutant refuses no input that the specification takes, and is silent
    /// and without internal steps only where the specification is.
    fn compare_offers(&mut self, cx: &mut Ctx<'_>, loc: LocId) -> Result<(), NoRelation> {
        let imp = self.imp;
        let names = self.names(cx, loc);
        let stable = stability_condition(&mut cx.with_system(imp), loc);
        let stable = cx.pool.substitute(stable, &names);
        let of_loc = cx.sts.switches_from(loc).filter(|(_, switch)| cx.sts.kind_of(switch).is_input());
        let gates: BTreeSet<GateId> = of_loc.map(|(_, switch)| switch.gate).collect();
        for gate in gates {
            let theirs = acceptance_condition(cx, loc, gate);
            let ours = acceptance_condition(&mut cx.with_system(imp), loc, gate);
            let ours = cx.pool.substitute(ours, &names);
            // Only a state without internal steps ignores what it refuses; another one comes to an end there.
            let refused = cx.pool.not(ours);
            self.exclude(cx, loc, (ours, theirs), &[theirs, refused, stable])?;
        }
        let ours = quiescence_condition(&mut cx.with_system(imp), loc);
        let ours = cx.pool.substitute(ours, &names);
        let theirs = quiescence_condition(cx, loc);
        let speaks = cx.pool.not(theirs);
        self.exclude(cx, loc, (ours, theirs), &[ours, speaks])?;
        if self.agreement == InputAgreement::Everywhere {
            return Ok(());
        }
        // A state with internal steps may refuse what others of its belief take.
        let theirs = stability_condition(cx, loc);
        let unstable = cx.pool.not(theirs);
        self.exclude(cx, loc, (stable, theirs), &[stable, unstable])
    }

    /// Shows that `facts` contradict the relation at `loc`; `same` are two conditions that, if they are one, do.
    fn exclude(
        &mut self,
        cx: &mut Ctx<'_>,
        loc: LocId,
        same: (Term, Term),
        facts: &[Term],
    ) -> Result<(), NoRelation> {
        if same.0 == same.1 {
            return Ok(());
        }
        match self.counterexample(cx, loc, facts)? {
            None => Ok(()),
            Some(_) => Err(NoRelation),
        }
    }

    /// Returns related states at `loc` in which `facts` hold; `None` if there are none.
    fn counterexample(
        &mut self,
        cx: &mut Ctx<'_>,
        loc: LocId,
        facts: &[Term],
    ) -> Result<Option<Valuation>, NoRelation> {
        if facts.iter().any(|&fact| cx.pool.is_false(fact)) {
            return Ok(None);
        }
        self.n_questions += 1;
        if self.n_questions > MAX_QUESTIONS || cx.halt_reason().is_some() {
            return Err(NoRelation);
        }
        let related = self.related(cx, loc);
        let all = [facts, &related].concat();
        match find_contradiction(cx, self.invariants.of(loc), &all) {
            InvariantConflict::Shown => Ok(None),
            InvariantConflict::Refuted(values) => Ok(Some(values)),
            InvariantConflict::Open => Err(NoRelation),
        }
    }

    /// Returns the names of the mutant's variables at `loc`: its own, where they may differ.
    fn names(&self, cx: &mut Ctx<'_>, loc: LocId) -> Substitution {
        let mut names = Substitution::new();
        for &var in self.relations.get(&loc).iter().flat_map(|relation| &relation.differing) {
            if let Some(copy) = self.terms.copy_of(var) {
                names.set(var, cx.pool.var(copy));
            }
        }
        names
    }

    /// Returns the facts about related states at `loc`.
    fn facts_at(&self, cx: &Ctx<'_>, loc: LocId) -> Vec<RelationFact> {
        let vars = cx.sts.vars.iter().map(|var| var.var);
        match self.relations.get(&loc) {
            None => vars.map(RelationFact::Same).collect(),
            Some(relation) => {
                let same = vars.filter(|var| !relation.differing.contains(var)).map(RelationFact::Same);
                same.chain(relation.facts.iter().copied()).collect()
            }
        }
    }

    /// Returns the formulas of the relation at `loc`, in which variables that cannot differ have one name.
    fn related(&self, cx: &mut Ctx<'_>, loc: LocId) -> Vec<Term> {
        let Some(relation) = self.relations.get(&loc) else { return Vec::new() };
        let (ours, theirs) = (Substitution::new(), Substitution::new());
        let pair = RelatedPair { ours, names: self.names(cx, loc), theirs };
        relation.facts.iter().map(|&fact| pair.formula(cx, fact)).collect()
    }

    /// Returns the guard of a switch in the names of the mutant.
    fn guard_of(&self, cx: &mut Ctx<'_>, switch: &Switch) -> Term {
        let names = self.names(cx, switch.source);
        cx.pool.substitute(switch.guard, &names)
    }
}
