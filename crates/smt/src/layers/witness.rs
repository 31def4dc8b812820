//! Reuse of valuations: tries those of neighbouring questions, and repairs them, before asking a solver.
//!
//! In a search the next question is the last one with a fact more or less, so a
//! valuation that satisfied the shared facts often satisfies all, or does after one or
//! two variables change. The layer keeps the [bounds](super::interval) of the facts too:
//! they refute, and they tell a repair which values are worth trying.
//!
//! *Promises* that a valuation it finds itself was evaluated on every fact beyond those that a valuation from behind
//! already satisfies.

use std::collections::VecDeque;
use std::sync::Arc;

use ioxide_model::sort::Sort;
use ioxide_model::term::{Term, TermNode, TermPool, VarId};
use ioxide_model::valuation::{Assignment, Valuation};
use ioxide_model::value::Value;

use super::interval::{Interval, SlotBounds};
use super::pigeons;
use crate::form::{
    LinearAtom, LinearForm, LinearForms, SlotKind, SumRelation, number_of_value, value_of_number,
};
use crate::small_fraction::SmallFraction;
use crate::solver::{Solver, SolverAnswer, SolverDecision};
use crate::tally::{AnswerCounts, SolverTally};

/// The number of rounds of repair over all broken facts; chosen by feel, as is the next.
const REPAIR_ROUNDS: usize = 3;
/// The number of valuations of other branches that are kept. Chosen by feel: it bounds the time.
const MAX_RECENT: usize = 4;

/// The layer that reuses valuations.
#[derive(Debug)]
pub struct WitnessLayer<S> {
    inner: S,
    bounds: SlotBounds,
    /// For each fact of the last question, values that satisfy the facts up to it.
    found: Vec<Option<SlotValues>>,
    recent: VecDeque<SlotValues>,
    refuted: AnswerCounts,
    witnessed: AnswerCounts,
}

/// A value per slot; slots of later facts are missing at the end.
type SlotValues = Arc<Vec<Value>>;

impl<S: Solver> WitnessLayer<S> {
    /// Makes a layer that answers for `inner` where a known valuation, or bounds, suffice.
    pub fn new(inner: S) -> Self {
        Self {
            inner,
            bounds: SlotBounds::default(),
            found: Vec::new(),
            recent: VecDeque::new(),
            refuted: AnswerCounts::default(),
            witnessed: AnswerCounts::default(),
        }
    }

    /// Returns values that satisfy `facts`, found here or by the inner solver.
    fn find_values(&mut self, pool: &mut TermPool, facts: &[Term]) -> Result<SlotValues, SolverDecision> {
        // Questions come as a search walks: facts are pushed and popped at the end, so most of the last question is the
        // beginning of this one, and what was found for that beginning still holds.
        let shared = self.bounds.sync_facts(pool, facts);
        self.found.truncate(shared);
        self.found.resize(facts.len(), None);
        if self.bounds.is_refuted() {
            self.refuted.unsat += 1;
            return Err(SolverDecision::Unsat);
        }
        if let Some(values) = self.try_known_values(pool) {
            self.witnessed.sat += 1;
            return Ok(self.keep_recent(values));
        }
        // Dearer than trying what is known, cheaper than asking.
        if pigeons::is_refuted_by_counting(&self.bounds) {
            self.refuted.unsat += 1;
            return Err(SolverDecision::Unsat);
        }
        match self.inner.check(pool, facts) {
            SolverAnswer::Sat(valuation) => {
                let values = self.values_by_slot(pool, &valuation);
                Ok(self.keep_recent(Arc::new(values)))
            }
            SolverAnswer::Unsat => Err(SolverDecision::Unsat),
            SolverAnswer::Unknown(why) => Err(SolverDecision::Unknown(why)),
        }
    }

    fn keep_recent(&mut self, values: SlotValues) -> SlotValues {
        if let Some(last) = self.found.last_mut() {
            *last = Some(Arc::clone(&values));
        }
        // The same values often answer several questions in a row; they are kept once, or they would push out the
        // others.
        if self.recent.front().is_none_or(|front| !Arc::ptr_eq(front, &values)) {
            self.recent.truncate(MAX_RECENT - 1);
            self.recent.push_front(Arc::clone(&values));
        }
        values
    }

    fn try_known_values(&self, pool: &TermPool) -> Option<SlotValues> {
        let search = WitnessSearch { pool, bounds: &self.bounds };
        // *Invariant.* `found[at]` satisfies the facts 0 to `at`, so only those behind it are evaluated.
        let ancestor = self.found.iter().rposition(Option::is_some);
        if let Some(at) = ancestor
            && let Some(values) = &self.found[at]
        {
            let values = search.complete_shared(values);
            if search.do_levels_hold_from(&values, at + 1) {
                return Some(values);
            }
        }
        let near = ancestor.and_then(|at| self.found[at].clone());
        let mut tried: Vec<SlotValues> = near.into_iter().collect();
        for other in &self.recent {
            if tried.iter().any(|known| Arc::ptr_eq(known, other)) {
                continue;
            }
            tried.push(Arc::clone(other));
            let values = search.complete_shared(other);
            if search.do_levels_hold_from(&values, 0) {
                return Some(values);
            }
        }
        // Far branches seldom repair well: the nearest valuation, the latest, and a plain one.
        tried.truncate(2);
        tried.push(Arc::default());
        tried
            .iter()
            .find_map(|start| search.repair_values(search.extend_with_plain_values(start)))
            .map(Arc::new)
    }

    /// Returns the values of a valuation by slot, plain ones for the other slots.
    fn values_by_slot(&self, pool: &TermPool, valuation: &Valuation) -> Vec<Value> {
        let slots = &self.bounds.forms.slots;
        let given = |kind| if let SlotKind::Var(var) = kind { valuation.get(var).cloned() } else { None };
        slots.iter().map(|slot| given(slot.kind).unwrap_or_else(|| pool.default_value(slot.sort))).collect()
    }

    /// Returns the valuation of the variables of the facts.
    fn to_valuation(&self, values: &[Value]) -> Valuation {
        let mut vars: Vec<(VarId, usize)> = Vec::new();
        for slot in self.bounds.levels.iter().flat_map(|level| &level.fact.slots) {
            if let SlotKind::Var(var) = self.bounds.forms.slots[*slot].kind {
                vars.push((var, *slot));
            }
        }
        vars.sort_unstable();
        vars.dedup();
        vars.into_iter().map(|(var, slot)| (var, values[slot].clone())).collect()
    }
}

impl<S: Solver> Solver for WitnessLayer<S> {
    fn check(&mut self, pool: &mut TermPool, facts: &[Term]) -> SolverAnswer {
        match self.find_values(pool, facts) {
            Ok(values) => SolverAnswer::Sat(self.to_valuation(&values)),
            Err(SolverDecision::Unsat) => SolverAnswer::Unsat,
            Err(SolverDecision::Unknown(why)) => SolverAnswer::Unknown(why),
            Err(SolverDecision::Sat) => unreachable!("satisfiable facts come with values"),
        }
    }

    fn decide(&mut self, pool: &mut TermPool, facts: &[Term]) -> SolverDecision {
        self.find_values(pool, facts).map_or_else(|decision| decision, |_| SolverDecision::Sat)
    }

    fn add_to_tally(&self, tally: &mut SolverTally) {
        tally.add_layer("witness", self.witnessed);
        tally.add_layer("interval", self.refuted);
        self.inner.add_to_tally(tally);
    }
}

/// Values by slot, with look-up by variable.
struct SlotView<'a> {
    forms: &'a LinearForms,
    values: &'a [Value],
}

impl Assignment for SlotView<'_> {
    fn value_of(&self, var: VarId) -> Option<&Value> {
        self.values.get(self.forms.slot_of(var)?)
    }
}

/// Evaluates and repairs values under the facts of `bounds`.
struct WitnessSearch<'a> {
    pool: &'a TermPool,
    bounds: &'a SlotBounds,
}

impl WitnessSearch<'_> {
    /// Returns whether the facts from level `first` on hold; the last ones, likeliest to fail, are evaluated first.
    fn do_levels_hold_from(&self, values: &[Value], first: usize) -> bool {
        (first..self.bounds.levels.len()).rev().all(|level| self.does_level_hold(values, level))
    }

    fn does_level_hold(&self, values: &[Value], level: usize) -> bool {
        let fact = &self.bounds.levels[level].fact;
        self.does_form_hold(values, &fact.form).unwrap_or_else(|| self.does_term_hold(values, fact.term))
    }

    /// Returns whether `term` holds; false if it cannot be evaluated.
    fn does_term_hold(&self, values: &[Value], term: Term) -> bool {
        self.pool.holds(term, &self.view(values)) == Ok(true)
    }

    /// Returns `values` as an assignment of the variables.
    fn view<'v>(&'v self, values: &'v [Value]) -> SlotView<'v> {
        SlotView { forms: &self.bounds.forms, values }
    }

    /// Returns whether `form` holds; `None` if a number is too big to say.
    fn does_form_hold(&self, values: &[Value], form: &LinearForm) -> Option<bool> {
        match form {
            LinearForm::Atom(atom) => Some(atom.relation.holds(self.sum_of_atom(values, atom, None)?)),
            LinearForm::All(parts) => {
                for part in parts {
                    if !self.does_form_hold(values, part)? {
                        return Some(false);
                    }
                }
                Some(true)
            }
            LinearForm::Any(parts) => {
                for part in parts {
                    if self.does_form_hold(values, part)? {
                        return Some(true);
                    }
                }
                Some(false)
            }
            LinearForm::Opaque(term, positive) => {
                self.pool.holds(*term, &self.view(values)).ok().map(|holds| holds == *positive)
            }
        }
    }

    /// The sum of `atom` without the term of slot `except`.
    fn sum_of_atom(
        &self,
        values: &[Value],
        atom: &LinearAtom,
        except: Option<usize>,
    ) -> Option<SmallFraction> {
        atom.terms
            .iter()
            .filter(|term| Some(term.0) != except)
            .try_fold(atom.constant, |sum, &(slot, factor)| {
                sum.add(factor.mul(self.slot_number(values, slot)?)?)
            })
    }

    fn slot_number(&self, values: &[Value], slot: usize) -> Option<SmallFraction> {
        match self.bounds.forms.slots[slot].kind {
            SlotKind::Var(_) => number_of_value(&values[slot]),
            SlotKind::Term(term) => number_of_value(&self.pool.eval(term, &self.view(values)).ok()?),
        }
    }

    /// `values` with all slots, shared if they were complete already.
    fn complete_shared(&self, values: &SlotValues) -> SlotValues {
        let complete = values.len() >= self.bounds.forms.slots.len();
        if complete { Arc::clone(values) } else { Arc::new(self.extend_with_plain_values(values)) }
    }

    /// Returns `values` with a plain value, inside its bounds, for every slot that has none.
    fn extend_with_plain_values(&self, values: &[Value]) -> Vec<Value> {
        let slots = &self.bounds.forms.slots;
        let plain = |slot: usize| {
            let sort = slots[slot].sort;
            let near = nearest_to_zero(self.bounds.interval(slot), slots[slot].is_integer)
                .and_then(|n| value_of_number(n, sort));
            near.unwrap_or_else(|| self.pool.default_value(sort))
        };
        values.iter().cloned().chain((values.len()..slots.len()).map(plain)).collect()
    }

    /// Changes one variable at a time while that breaks fewer facts than before.
    fn repair_values(&self, mut values: Vec<Value>) -> Option<Vec<Value>> {
        for _ in 0..REPAIR_ROUNDS {
            let broken: Vec<usize> = (0..self.bounds.levels.len())
                .filter(|&level| !self.does_level_hold(&values, level))
                .collect();
            if broken.is_empty() {
                return Some(values);
            }
            // An earlier repair of this round may have mended a later fact: that is progress too.
            let mut progress = false;
            for level in broken {
                progress |= self.does_level_hold(&values, level) || self.repair_level(&mut values, level);
            }
            if !progress {
                return None;
            }
        }
        self.do_levels_hold_from(&values, 0).then_some(values)
    }

    /// Makes the fact at `level` hold by the change that breaks the fewest others.
    fn repair_level(&self, values: &mut [Value], level: usize) -> bool {
        let mut moves = Vec::new();
        self.collect_moves(values, &self.bounds.levels[level].fact.form, &mut moves);
        let mut best: Option<(usize, usize, Value)> = None;
        for (slot, candidate) in moves {
            // Only facts that mention the slot can change; a move must mend more of them than it breaks, so that the
            // rounds come to an end and never go in circles.
            let before = self.count_broken(values, slot);
            let old = std::mem::replace(&mut values[slot], candidate);
            let after = self.count_broken(values, slot);
            let good = after < before && self.does_level_hold(values, level);
            let candidate = std::mem::replace(&mut values[slot], old);
            if good && best.as_ref().is_none_or(|(least, ..)| after < *least) {
                best = Some((after, slot, candidate));
                if after == 0 {
                    break;
                }
            }
        }
        let Some((_, slot, candidate)) = best else { return false };
        values[slot] = candidate;
        true
    }

    fn count_broken(&self, values: &[Value], slot: usize) -> usize {
        self.bounds.mentions[slot].iter().filter(|&&level| !self.does_level_hold(values, level)).count()
    }

    /// Changes of one variable that could make `form` hold.
    fn collect_moves(&self, values: &[Value], form: &LinearForm, moves: &mut Vec<(usize, Value)>) {
        match form {
            LinearForm::Atom(atom) => self.collect_atom_moves(values, atom, moves),
            LinearForm::All(parts) | LinearForm::Any(parts) => {
                for part in parts {
                    if self.does_form_hold(values, part) == Some(false) {
                        self.collect_moves(values, part, moves);
                    }
                }
            }
            LinearForm::Opaque(term, positive) => self.collect_opaque_moves(values, *term, *positive, moves),
        }
    }

    fn collect_atom_moves(&self, values: &[Value], atom: &LinearAtom, moves: &mut Vec<(usize, Value)>) {
        for &(slot, factor) in &atom.terms {
            let form_slot = self.bounds.forms.slots[slot];
            let SlotKind::Var(_) = form_slot.kind else { continue };
            let interval = self.bounds.interval(slot);
            // `factor · x + rest ⋈ 0` changes its truth at `x = -rest / factor`, and turns round where the factor is
            // negative.
            let Some(edge) =
                self.sum_of_atom(values, atom, Some(slot)).and_then(|rest| rest.neg().div(factor))
            else {
                continue;
            };
            for target in
                target_values(edge, atom.relation, factor.is_negative(), interval, form_slot.is_integer)
            {
                if interval.contains(target) && (target.is_whole() || !form_slot.is_integer) {
                    moves.extend(value_of_number(target, form_slot.sort).map(|value| (slot, value)));
                }
            }
        }
    }

    /// An equation sets a variable to the other side; a string takes what is asked of it.
    fn collect_opaque_moves(
        &self,
        values: &[Value],
        term: Term,
        positive: bool,
        moves: &mut Vec<(usize, Value)>,
    ) {
        let pool = self.pool;
        let slot = |term: Term| match pool.node(term) {
            TermNode::Var(var) => self.bounds.forms.slot_of(*var),
            _ => None,
        };
        let mut set = |to: Term, from: Term| {
            if let (Some(slot), Ok(value)) = (slot(to), pool.eval(from, &self.view(values)))
                && pool.has_sort(&value, self.bounds.forms.slots[slot].sort)
            {
                moves.push((slot, value));
            }
        };
        match (positive, pool.node(term)) {
            (true, TermNode::Eq(a, b)) => {
                set(*a, *b);
                set(*b, *a);
            }
            (true, TermNode::Contains(whole, part)) => set(*whole, *part),
            (true, TermNode::Prefix(part, whole) | TermNode::Suffix(part, whole)) => set(*whole, *part),
            (true, TermNode::TextLe(a, b)) => {
                set(*a, *b);
                set(*b, *a);
            }
            // `b` comes before `a`: the empty text comes before all others, and a longer text behind its beginning.
            (false, TermNode::TextLe(a, b)) => {
                moves.extend(slot(*b).map(|slot| (slot, Value::str(""))));
                if let (Some(slot), Ok(Value::Str(text))) = (slot(*a), pool.eval(*b, &self.view(values))) {
                    moves.push((slot, Value::str(&format!("{text}a"))));
                }
            }
            (false, TermNode::Eq(a, b)) if pool.sort(*a) == Sort::Str => {
                // Four texts are enough to differ from three others; a question that needs more goes to the solver.
                let texts = ["", "a", "b", "c"].map(Value::str);
                let slots = [slot(*a), slot(*b)];
                moves.extend(
                    slots.into_iter().flatten().flat_map(|slot| texts.clone().map(|text| (slot, text))),
                );
            }
            _ => (),
        }
    }
}

/// Values of a variable on the right side of `edge`, nearest first.
fn target_values(
    edge: SmallFraction,
    relation: SumRelation,
    lower: bool,
    interval: Interval,
    is_integer: bool,
) -> Vec<SmallFraction> {
    let step =
        |n: SmallFraction, up: bool| if up { n.add(SmallFraction::ONE) } else { n.sub(SmallFraction::ONE) };
    let inward = if lower { edge.ceil() } else { edge.floor() };
    match relation {
        SumRelation::Eq => vec![edge],
        SumRelation::Ne => [step(edge, true), step(edge, false)].into_iter().flatten().collect(),
        SumRelation::Le if is_integer => vec![inward],
        SumRelation::Le => vec![edge],
        SumRelation::Lt => {
            let far = if lower { interval.hi } else { interval.lo };
            let middle = far
                .and_then(|far| far.at.add(edge))
                .and_then(|sum| sum.div(SmallFraction::ONE.add(SmallFraction::ONE)?));
            [step(edge, lower), middle].into_iter().flatten().collect()
        }
    }
}

/// The number of the interval nearest to zero, or one inside if there is none nearest.
fn nearest_to_zero(interval: Interval, is_integer: bool) -> Option<SmallFraction> {
    if interval.contains(SmallFraction::ZERO) {
        return Some(SmallFraction::ZERO);
    }
    let (bound, up) = match (interval.lo, interval.hi) {
        (Some(lo), _) if !lo.at.is_negative() => (lo, true),
        (_, Some(hi)) => (hi, false),
        (Some(lo), None) => (lo, true),
        (None, None) => return Some(SmallFraction::ZERO),
    };
    if !bound.strict {
        return Some(if !is_integer {
            bound.at
        } else if up {
            bound.at.ceil()
        } else {
            bound.at.floor()
        });
    }
    let other = if up { interval.hi } else { interval.lo };
    match other {
        Some(other) => bound.at.add(other.at)?.div(SmallFraction::ONE.add(SmallFraction::ONE)?),
        None if up => bound.at.add(SmallFraction::ONE),
        None => bound.at.sub(SmallFraction::ONE),
    }
}
