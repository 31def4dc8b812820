//! Interval propagation: refutes facts whose bounds leave no room.
//!
//! Every number has a lower and an upper bound, from its sort and from the linear facts
//! that mention it; a fact moves the bounds of one number as far as the bounds of the
//! others allow, until nothing moves. A disjunction with one arm left is that arm.
//!
//! Not a layer of its own: the [witness layer](super::witness) refutes with these bounds, and looks for values within
//! them.
//!
//! *Promises* that a refutation is a proof. It never finds anything satisfiable.

use std::sync::Arc;

use ioxide_model::sort::Sort;
use ioxide_model::term::{Term, TermNode, TermPool, VarId};
use ioxide_model::value::Value;

use crate::form::{FormSlot, LinearAtom, LinearFact, LinearForm, LinearForms, SlotKind, SumRelation};
use crate::small_fraction::SmallFraction;

/// The number of facts looked at after which bounds that still move are left where they are: `x < y, y < x` moves them
/// one by one for ever. Stopping early only misses refutations. Chosen by feel.
const MAX_FACT_VISITS: usize = 400;

/// One end of an interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct IntervalEnd {
    pub(crate) at: SmallFraction,
    /// True if the end itself is outside.
    pub(crate) strict: bool,
}

/// The numbers between two bounds; `None` is no bound.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Interval {
    pub(crate) lo: Option<IntervalEnd>,
    pub(crate) hi: Option<IntervalEnd>,
}

impl Interval {
    fn from_bounds(lo: i64, hi: i64) -> Self {
        let bound = |n| SmallFraction::from_int(n).map(|at| IntervalEnd { at, strict: false });
        Self { lo: bound(lo), hi: bound(hi) }
    }

    fn is_empty(self) -> bool {
        match (self.lo, self.hi) {
            (Some(lo), Some(hi)) => lo.at > hi.at || (lo.at == hi.at && (lo.strict || hi.strict)),
            _ => false,
        }
    }

    /// The one number inside, if there is only one.
    pub(crate) fn single_value(self) -> Option<SmallFraction> {
        match (self.lo, self.hi) {
            (Some(lo), Some(hi)) if lo.at == hi.at && !lo.strict && !hi.strict => Some(lo.at),
            _ => None,
        }
    }

    /// The first and the last whole number inside, if there are finitely many.
    pub(crate) fn whole_numbers(self) -> Option<(i64, i64)> {
        let (lo, hi) = (self.lo?, self.hi?);
        let (first, last) = (lo.at.ceil().to_i64()?, hi.at.floor().to_i64()?);
        let first = if lo.strict && lo.at.is_whole() { first.checked_add(1)? } else { first };
        let last = if hi.strict && hi.at.is_whole() { last.checked_sub(1)? } else { last };
        Some((first, last))
    }

    /// Returns whether `n` is inside.
    pub(crate) fn contains(self, n: SmallFraction) -> bool {
        self.lo.is_none_or(|lo| lo.at < n || (lo.at == n && !lo.strict))
            && self.hi.is_none_or(|hi| n < hi.at || (hi.at == n && !hi.strict))
    }
}

/// Bounds of all slots under a list of facts that grows and shrinks at its end.
#[derive(Debug, Default)]
pub struct SlotBounds {
    pub(crate) forms: LinearForms,
    pub(crate) levels: Vec<BoundLevel>,
    intervals: Vec<Interval>,
    /// Per slot, the levels whose facts mention it.
    pub(crate) mentions: Vec<Vec<usize>>,
}

/// One fact of the list, with the changes it made to the bounds.
#[derive(Debug)]
pub(crate) struct BoundLevel {
    pub(crate) fact: Arc<LinearFact>,
    /// Intervals as they were before this fact.
    undo: Vec<(usize, Interval)>,
    /// True if the facts up to this one are refuted.
    pub(crate) refuted: bool,
}

/// The error that a slot has no value left: the facts are refuted.
struct EmptyBounds;

impl SlotBounds {
    /// Brings the list to `facts` and returns the number of leading facts that it shared with the previous list.
    pub fn sync_facts(&mut self, pool: &TermPool, facts: &[Term]) -> usize {
        // Questions of a search share their beginning, so only the end of the list is taken back and added again.
        let shared =
            self.levels.iter().zip(facts).take_while(|(level, fact)| level.fact.term == **fact).count();
        while self.levels.len() > shared {
            self.pop_fact();
        }
        for &fact in &facts[shared..] {
            self.push_fact(pool, fact);
        }
        shared
    }

    /// Returns whether the list is refuted.
    pub fn is_refuted(&self) -> bool {
        self.levels.last().is_some_and(|level| level.refuted)
    }

    /// Returns the numbers `slot` can have; unbounded if no fact mentions it.
    pub fn interval(&self, slot: usize) -> Interval {
        self.intervals.get(slot).copied().unwrap_or_default()
    }

    fn pop_fact(&mut self) {
        let Some(level) = self.levels.pop() else { return };
        // Backwards, because a slot may have moved several times and the oldest value is the one to restore.
        for (slot, interval) in level.undo.into_iter().rev() {
            self.intervals[slot] = interval;
        }
        for &slot in &level.fact.slots {
            let level = self.mentions[slot].pop();
            debug_assert_eq!(level, Some(self.levels.len()), "levels leave in the order in which they came");
        }
    }

    fn push_fact(&mut self, pool: &TermPool, term: Term) {
        let fact = self.forms.linear_fact(pool, term);
        self.add_missing_slots(pool);
        let at = self.levels.len();
        for &slot in &fact.slots {
            self.mentions[slot].push(at);
        }
        let before = self.is_refuted();
        // A refuted beginning refutes every longer list: nothing is propagated any more, and nothing has to be undone.
        self.levels.push(BoundLevel { fact, undo: Vec::new(), refuted: before });
        if !before && self.propagate(at).is_err() {
            self.levels[at].refuted = true;
        }
    }

    fn add_missing_slots(&mut self, pool: &TermPool) {
        for slot in &self.forms.slots[self.intervals.len()..] {
            self.intervals.push(initial_bounds(pool, slot));
            self.mentions.push(Vec::new());
        }
    }

    /// Moves bounds until nothing moves, starting with the fact at level `first`.
    fn propagate(&mut self, first: usize) -> Result<(), EmptyBounds> {
        let mut queue = std::collections::VecDeque::from([first]);
        for _ in 0..MAX_FACT_VISITS {
            let Some(level) = queue.pop_front() else { return Ok(()) };
            let fact = Arc::clone(&self.levels[level].fact);
            let mut moved = Vec::new();
            self.apply_form(&fact.form, &mut moved)?;
            for slot in moved {
                for &other in &self.mentions[slot] {
                    // A fact that waits already will see the new bounds.
                    if !queue.contains(&other) {
                        queue.push_back(other);
                    }
                }
            }
        }
        Ok(())
    }

    fn apply_form(&mut self, form: &LinearForm, moved: &mut Vec<usize>) -> Result<(), EmptyBounds> {
        match form {
            LinearForm::Atom(atom) => self.apply_atom(atom, moved),
            LinearForm::All(parts) => parts.iter().try_for_each(|part| self.apply_form(part, moved)),
            LinearForm::Any(parts) => {
                // Unit propagation: arms that the bounds rule out are dropped, and the last one left must hold.
                let mut open = parts.iter().filter(|part| self.is_possible(part));
                match (open.next(), open.next()) {
                    (None, _) => Err(EmptyBounds),
                    (Some(only), None) => {
                        let only = only.clone();
                        self.apply_form(&only, moved)
                    }
                    _ => Ok(()),
                }
            }
            LinearForm::Opaque(..) => Ok(()),
        }
    }

    /// Returns whether the bounds leave room for `form`, looked at alone.
    fn is_possible(&self, form: &LinearForm) -> bool {
        match form {
            LinearForm::Atom(atom) => match atom.relation {
                SumRelation::Le | SumRelation::Lt => self.can_be_at_most_zero(atom, SumSide::Plain),
                SumRelation::Eq => {
                    self.can_be_at_most_zero(atom, SumSide::Plain)
                        && self.can_be_at_most_zero(atom, SumSide::Negated)
                }
                SumRelation::Ne => self.fixed_sum(atom).is_none_or(|sum| !sum.is_zero()),
            },
            LinearForm::All(parts) => parts.iter().all(|part| self.is_possible(part)),
            LinearForm::Any(parts) => parts.iter().any(|part| self.is_possible(part)),
            LinearForm::Opaque(..) => true,
        }
    }

    fn can_be_at_most_zero(&self, atom: &LinearAtom, side: SumSide) -> bool {
        let Some(least) = self.least_sum(atom, side, None) else { return true };
        if least.strict || atom.relation == SumRelation::Lt {
            least.at < SmallFraction::ZERO
        } else {
            least.at <= SmallFraction::ZERO
        }
    }

    fn fixed_sum(&self, atom: &LinearAtom) -> Option<SmallFraction> {
        atom.terms.iter().try_fold(atom.constant, |sum, &(slot, factor)| {
            sum.add(factor.mul(self.intervals[slot].single_value()?)?)
        })
    }

    /// The least value of the sum (or of its negation), without the term of `except`.
    fn least_sum(&self, atom: &LinearAtom, side: SumSide, except: Option<usize>) -> Option<IntervalEnd> {
        let start = IntervalEnd { at: side.apply_sign(atom.constant), strict: false };
        atom.terms.iter().filter(|term| Some(term.0) != except).try_fold(start, |sum, &(slot, factor)| {
            let factor = side.apply_sign(factor);
            let interval = self.intervals[slot];
            // A negative factor turns the interval round: the least product comes from its upper end.
            let end = if factor.is_negative() { interval.hi } else { interval.lo }?;
            Some(IntervalEnd { at: sum.at.add(factor.mul(end.at)?)?, strict: sum.strict || end.strict })
        })
    }

    fn apply_atom(&mut self, atom: &LinearAtom, moved: &mut Vec<usize>) -> Result<(), EmptyBounds> {
        match atom.relation {
            SumRelation::Le | SumRelation::Lt => self.tighten_by_sum(atom, SumSide::Plain, moved),
            SumRelation::Eq => {
                self.tighten_by_sum(atom, SumSide::Plain, moved)?;
                self.tighten_by_sum(atom, SumSide::Negated, moved)
            }
            SumRelation::Ne => self.apply_disequation(atom, moved),
        }
    }

    /// Moves each bound as far as the others allow for `sum <= 0` (or `-sum <= 0`).
    fn tighten_by_sum(
        &mut self,
        atom: &LinearAtom,
        side: SumSide,
        moved: &mut Vec<usize>,
    ) -> Result<(), EmptyBounds> {
        if !self.can_be_at_most_zero(atom, side) {
            return Err(EmptyBounds);
        }
        for &(slot, factor) in &atom.terms {
            let factor = side.apply_sign(factor);
            let Some(rest) = self.least_sum(atom, side, Some(slot)) else { continue };
            // `factor · x + rest <= 0` with the least rest: no `x` beyond `-rest / factor` can satisfy it. A number
            // that does not fit is no bound, which is always safe.
            let Some(at) = rest.at.neg().div(factor) else { continue };
            let strict = rest.strict || atom.relation == SumRelation::Lt;
            self.tighten_bound(slot, IntervalEnd { at, strict }, factor.is_negative(), moved)?;
        }
        Ok(())
    }

    /// Applies `sum != 0` with all but one number known: that number avoids a value.
    fn apply_disequation(&mut self, atom: &LinearAtom, moved: &mut Vec<usize>) -> Result<(), EmptyBounds> {
        let mut free = atom.terms.iter().filter(|term| self.intervals[term.0].single_value().is_none());
        let (Some(&(slot, factor)), None) = (free.next(), free.next()) else {
            return match self.fixed_sum(atom) {
                Some(sum) if sum.is_zero() => Err(EmptyBounds),
                _ => Ok(()),
            };
        };
        let rest = atom
            .terms
            .iter()
            .filter(|term| term.0 != slot)
            .try_fold(atom.constant, |sum, &(slot, factor)| {
                sum.add(factor.mul(self.intervals[slot].single_value()?)?)
            });
        let Some(hole) = rest.and_then(|rest| rest.neg().div(factor)) else { return Ok(()) };
        // An interval cannot have a hole inside, so only a value at one of its ends is excluded.
        let interval = self.intervals[slot];
        let bound = IntervalEnd { at: hole, strict: true };
        if interval.lo.is_some_and(|lo| lo.at == hole) {
            self.tighten_bound(slot, bound, true, moved)?;
        }
        if interval.hi.is_some_and(|hi| hi.at == hole) {
            self.tighten_bound(slot, bound, false, moved)?;
        }
        Ok(())
    }

    /// Sets `bound` as the lower or upper end of `slot`, if it is sharper.
    fn tighten_bound(
        &mut self,
        slot: usize,
        bound: IntervalEnd,
        lower: bool,
        moved: &mut Vec<usize>,
    ) -> Result<(), EmptyBounds> {
        let bound = if self.forms.slots[slot].is_integer { round_inwards(bound, lower) } else { Some(bound) };
        let Some(bound) = bound else { return Ok(()) };
        let old = self.intervals[slot];
        let mut new = old;
        if lower {
            if old.lo.is_some_and(|lo| (lo.at, lo.strict) >= (bound.at, bound.strict)) {
                return Ok(());
            }
            new.lo = Some(bound);
        } else {
            if old.hi.is_some_and(|hi| hi.at < bound.at || (hi.at == bound.at && hi.strict >= bound.strict)) {
                return Ok(());
            }
            new.hi = Some(bound);
        }
        // On the last level, whichever fact moved the bound: it moved because the last fact was added.
        if let Some(level) = self.levels.last_mut() {
            level.undo.push((slot, old));
        }
        self.intervals[slot] = new;
        moved.push(slot);
        if new.is_empty() { Err(EmptyBounds) } else { Ok(()) }
    }
}

/// The sum itself, or its negation.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SumSide {
    Plain,
    Negated,
}

impl SumSide {
    fn apply_sign(self, n: SmallFraction) -> SmallFraction {
        if self == Self::Plain { n } else { n.neg() }
    }
}

/// Returns the bound for whole numbers: rounded inwards, never strict.
fn round_inwards(bound: IntervalEnd, lower: bool) -> Option<IntervalEnd> {
    let IntervalEnd { at, strict } = bound;
    let at = match (lower, strict && at.is_whole()) {
        (true, false) => at.ceil(),
        (false, false) => at.floor(),
        (true, true) => at.add(SmallFraction::ONE)?,
        (false, true) => at.sub(SmallFraction::ONE)?,
    };
    Some(IntervalEnd { at, strict: false })
}

/// Returns the bounds of a slot that follow from its sort or from the structure of its term.
fn initial_bounds(pool: &TermPool, slot: &FormSlot) -> Interval {
    match (slot.sort, slot.kind) {
        (Sort::Bool, _) => Interval::from_bounds(0, 1),
        (Sort::Range { lo, hi }, _) => Interval::from_bounds(lo, hi),
        (_, SlotKind::Term(term)) => initial_term_bounds(pool, term),
        (_, SlotKind::Var(_)) => Interval::default(),
    }
}

fn initial_term_bounds(pool: &TermPool, term: Term) -> Interval {
    match pool.node(term) {
        TermNode::Length(_) => Interval { hi: None, ..Interval::from_bounds(0, 0) },
        TermNode::Rem(_, divisor) => {
            let divisor = pool.as_value(*divisor).and_then(Value::as_int).and_then(|n| n.abs().to_i64());
            divisor.filter(|&n| n > 0).map_or_else(Interval::default, |n| Interval::from_bounds(0, n - 1))
        }
        _ => Interval::default(),
    }
}

/// Returns the least and the greatest whole number each of `vars` can have under `facts`, as far as bounds show; `None`
/// if no bound is known or the variable is not a number.
#[must_use]
pub fn variable_bounds(pool: &TermPool, facts: &[Term], vars: &[VarId]) -> Vec<(Option<i64>, Option<i64>)> {
    let mut bounds = SlotBounds::default();
    bounds.sync_facts(pool, facts);
    let of = |var: &VarId| {
        let slot = bounds.forms.slot_of(*var);
        let interval = slot.map_or_else(Interval::default, |slot| bounds.interval(slot));
        let lo = interval.lo.and_then(|lo| round_inwards(lo, true)).and_then(|lo| lo.at.to_i64());
        let hi = interval.hi.and_then(|hi| round_inwards(hi, false)).and_then(|hi| hi.at.to_i64());
        (lo, hi)
    };
    vars.iter().map(of).collect()
}
