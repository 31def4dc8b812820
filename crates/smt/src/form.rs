//! The form in which the layers read facts: linear atoms under and/or, the rest opaque.
//!
//! A *slot* stands for a variable, or for a numeric term that is not linear (then only
//! its bounds are used). A truth value is a whole number, 0 or 1.

use std::sync::Arc;

use ioxide_model::sort::Sort;
use ioxide_model::term::{Term, TermNode, TermPool, VarId};
use ioxide_model::value::Value;
use rustc_hash::FxHashMap;

use crate::small_fraction::SmallFraction;

/// The depth beyond which a fact is opaque. Recursion follows it; chosen by feel, as is the next.
const MAX_DEPTH: u32 = 24;
/// The number of parts beyond which a fact is opaque. Chosen by feel: it bounds the time.
const MAX_PARTS: u32 = 512;

/// A fact as a formula over linear atoms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum LinearForm {
    /// A linear relation.
    Atom(LinearAtom),
    /// Conjunction; true if empty.
    All(Vec<LinearForm>),
    /// Disjunction; false if empty.
    Any(Vec<LinearForm>),
    /// The term, or its negation if `false`, that has to be evaluated.
    Opaque(Term, bool),
}

impl LinearForm {
    /// Adds the slots of its atoms. Recursion is as deep as forms are, which is bounded.
    fn collect_slots(&self, slots: &mut Vec<usize>) {
        match self {
            Self::Atom(atom) => slots.extend(atom.terms.iter().map(|term| term.0)),
            Self::All(parts) | Self::Any(parts) => parts.iter().for_each(|part| part.collect_slots(slots)),
            Self::Opaque(..) => (),
        }
    }
}

/// `Σ coefficient · slot + constant` related to zero.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LinearAtom {
    pub(crate) terms: Vec<(usize, SmallFraction)>,
    pub(crate) constant: SmallFraction,
    pub(crate) relation: SumRelation,
}

/// The relation of a sum to zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SumRelation {
    /// The sum is at most zero.
    Le,
    /// The sum is below zero; only over reals.
    Lt,
    /// The sum is zero.
    Eq,
    /// The sum is not zero.
    Ne,
}

/// A variable, or a numeric term that is not linear.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SlotKind {
    Var(VarId),
    Term(Term),
}

/// A variable or numeric term that facts constrain, with its sort.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FormSlot {
    pub(crate) kind: SlotKind,
    pub(crate) sort: Sort,
    /// True if only whole numbers are possible.
    pub(crate) is_integer: bool,
}

/// A fact that was read, with its linear form.
#[derive(Debug)]
pub(crate) struct LinearFact {
    pub(crate) term: Term,
    pub(crate) form: LinearForm,
    /// The slots it mentions, each once: its free variables, and the terms its atoms are about.
    pub(crate) slots: Vec<usize>,
}

/// The slots of a layer, and the facts it has read.
#[derive(Debug, Default)]
pub(crate) struct LinearForms {
    pub(crate) slots: Vec<FormSlot>,
    by_term: FxHashMap<Term, usize>,
    by_var: FxHashMap<VarId, usize>,
    facts: FxHashMap<Term, Arc<LinearFact>>,
    /// The number of parts that the fact being read may still have.
    budget: u32,
}

impl LinearForms {
    /// Returns the linear form of `term`, which is read only once.
    pub(crate) fn linear_fact(&mut self, pool: &TermPool, term: Term) -> Arc<LinearFact> {
        if let Some(fact) = self.facts.get(&term) {
            return Arc::clone(fact);
        }
        self.budget = MAX_PARTS;
        // Opaque as a whole if it is too deep or too wide: a part of a fact may say something else than the
        // fact.
        let form = self.read_fact(pool, term, true, MAX_DEPTH).unwrap_or(LinearForm::Opaque(term, true));
        let mut slots: Vec<usize> =
            pool.free_vars(term).iter().map(|&var| self.var_slot(pool, var)).collect();
        form.collect_slots(&mut slots);
        slots.sort_unstable();
        slots.dedup();
        let fact = Arc::new(LinearFact { term, form, slots });
        self.facts.insert(term, Arc::clone(&fact));
        fact
    }

    /// The slot of `var`, if a fact mentioned it.
    pub(crate) fn slot_of(&self, var: VarId) -> Option<usize> {
        self.by_var.get(&var).copied()
    }

    /// The slot of the variable `var`.
    pub(crate) fn var_slot(&mut self, pool: &TermPool, var: VarId) -> usize {
        if let Some(&slot) = self.by_var.get(&var) {
            return slot;
        }
        let slot = self.add_slot(SlotKind::Var(var), pool.var_info(var).sort);
        self.by_var.insert(var, slot);
        slot
    }

    fn term_slot(&mut self, pool: &TermPool, term: Term) -> usize {
        if let TermNode::Var(var) = pool.node(term) {
            return self.var_slot(pool, *var);
        }
        if let Some(&slot) = self.by_term.get(&term) {
            return slot;
        }
        let slot = self.add_slot(SlotKind::Term(term), pool.sort(term).base());
        self.by_term.insert(term, slot);
        slot
    }

    fn add_slot(&mut self, kind: SlotKind, sort: Sort) -> usize {
        self.slots.push(FormSlot { kind, sort, is_integer: sort != Sort::Real });
        self.slots.len() - 1
    }

    /// Reads `fact`, or its negation if not `positive`; `None` if it is too deep or too wide.
    fn read_fact(&mut self, pool: &TermPool, fact: Term, positive: bool, depth: u32) -> Option<LinearForm> {
        let depth = depth.checked_sub(1)?;
        // "Both or neither" doubles the parts at every level; the budget makes such a fact opaque instead.
        self.budget = self.budget.checked_sub(1)?;
        Some(match pool.node(fact) {
            TermNode::Value(value) => constant_form(value.as_bool()? == positive),
            TermNode::Var(var) => {
                let slot = self.var_slot(pool, *var);
                LinearForm::Atom(truth_atom(slot, positive))
            }
            // Negation is pushed down as the fact is read, so forms need no "not": "and" and "or" change places.
            TermNode::Not(a) => self.read_fact(pool, *a, !positive, depth)?,
            TermNode::And(list) => self.read_junction(pool, list, positive, positive, depth)?,
            TermNode::Or(list) => self.read_junction(pool, list, !positive, positive, depth)?,
            // `a == b` is "both or neither"; negated, "one of the two".
            TermNode::Eq(a, b) if pool.sort(*a) == Sort::Bool => {
                let both = |this: &mut Self, left, right| {
                    Some(LinearForm::All(vec![
                        this.read_fact(pool, *a, left, depth)?,
                        this.read_fact(pool, *b, right, depth)?,
                    ]))
                };
                LinearForm::Any(vec![both(self, true, positive)?, both(self, false, !positive)?])
            }
            TermNode::Eq(a, b) if pool.sort(*a).is_numeric() => {
                let relation = if positive { SumRelation::Eq } else { SumRelation::Ne };
                self.read_relation(pool, *a, *b, relation).unwrap_or(LinearForm::Opaque(fact, positive))
            }
            TermNode::Lt(a, b) => {
                let (a, b, relation) =
                    if positive { (a, b, SumRelation::Lt) } else { (b, a, SumRelation::Le) };
                self.read_relation(pool, *a, *b, relation).unwrap_or(LinearForm::Opaque(fact, positive))
            }
            TermNode::Le(a, b) => {
                let (a, b, relation) =
                    if positive { (a, b, SumRelation::Le) } else { (b, a, SumRelation::Lt) };
                self.read_relation(pool, *a, *b, relation).unwrap_or(LinearForm::Opaque(fact, positive))
            }
            TermNode::Ite(cond, a, b) => {
                let arm = |this: &mut Self, test, branch| {
                    Some(LinearForm::All(vec![
                        this.read_fact(pool, *cond, test, depth)?,
                        this.read_fact(pool, branch, positive, depth)?,
                    ]))
                };
                LinearForm::Any(vec![arm(self, true, *a)?, arm(self, false, *b)?])
            }
            _ => LinearForm::Opaque(fact, positive),
        })
    }

    fn read_junction(
        &mut self,
        pool: &TermPool,
        list: &[Term],
        all: bool,
        positive: bool,
        depth: u32,
    ) -> Option<LinearForm> {
        let parts =
            list.iter().map(|&part| self.read_fact(pool, part, positive, depth)).collect::<Option<_>>()?;
        Some(if all { LinearForm::All(parts) } else { LinearForm::Any(parts) })
    }

    /// Returns the relation of `a - b` to zero; `None` if a number does not fit.
    fn read_relation(
        &mut self,
        pool: &TermPool,
        a: Term,
        b: Term,
        relation: SumRelation,
    ) -> Option<LinearForm> {
        let mut atom = LinearAtom { terms: Vec::new(), constant: SmallFraction::ZERO, relation };
        self.add_sum(pool, a, SmallFraction::ONE, &mut atom)?;
        self.add_sum(pool, b, SmallFraction::ONE.neg(), &mut atom)?;
        atom.merge_terms()?;
        // Rounding is right only if every number of the sum is whole.
        let whole = atom.terms.iter().all(|&(slot, _)| self.slots[slot].is_integer);
        Some(match atom.tighten(whole)? {
            TightenedSum::Atom(atom) => LinearForm::Atom(atom),
            TightenedSum::Constant(holds) => constant_form(holds),
        })
    }

    /// Adds `factor · term`. Terms that [`TermPool`] built are sums of monomials of atoms.
    fn add_sum(
        &mut self,
        pool: &TermPool,
        term: Term,
        factor: SmallFraction,
        atom: &mut LinearAtom,
    ) -> Option<()> {
        let parts =
            if let TermNode::Add(list) = pool.node(term) { list } else { std::slice::from_ref(&term) };
        parts.iter().try_for_each(|&part| self.add_monomial(pool, part, factor, atom))
    }

    fn add_monomial(
        &mut self,
        pool: &TermPool,
        term: Term,
        factor: SmallFraction,
        atom: &mut LinearAtom,
    ) -> Option<()> {
        if let Some(value) = pool.as_value(term) {
            atom.constant = atom.constant.add(number_of_value(value)?.mul(factor)?)?;
            return Some(());
        }
        let (factor, inner) = match pool.node(term) {
            TermNode::Mul(list) if list.len() == 2 && pool.as_value(list[0]).is_some() => {
                (factor.mul(number_of_value(pool.as_value(list[0])?)?)?, list[1])
            }
            _ => (factor, term),
        };
        // An integer as a real is the same number.
        let inner = if let TermNode::ToReal(whole) = pool.node(inner) { *whole } else { inner };
        let slot = self.term_slot(pool, inner);
        atom.terms.push((slot, factor));
        Some(())
    }
}

enum TightenedSum {
    Atom(LinearAtom),
    Constant(bool),
}

impl LinearAtom {
    /// Adds up the coefficients of each slot and sorts by slot.
    fn merge_terms(&mut self) -> Option<()> {
        self.terms.sort_by_key(|term| term.0);
        let mut terms: Vec<(usize, SmallFraction)> = Vec::with_capacity(self.terms.len());
        for &(slot, factor) in &self.terms {
            match terms.last_mut() {
                Some(last) if last.0 == slot => last.1 = last.1.add(factor)?,
                _ => terms.push((slot, factor)),
            }
        }
        terms.retain(|term| !term.1.is_zero());
        self.terms = terms;
        Some(())
    }

    /// Returns the sharpest form if all variables are `whole`: coefficients without common divisor, no `<`; a constant
    /// if the truth is known. `None` if a number does not fit its machine word.
    fn tighten(mut self, is_integer: bool) -> Option<TightenedSum> {
        if self.terms.is_empty() {
            return Some(TightenedSum::Constant(self.relation.holds(self.constant)));
        }
        if !is_integer {
            return Some(TightenedSum::Atom(self));
        }
        // After scaling the terms add up to any whole number at most, so the constant can be rounded: `2x <= 5` is `x
        // <= 2`.
        self.scale_to_whole()?;
        if self.relation == SumRelation::Lt {
            self.relation = SumRelation::Le;
            // A whole sum below zero is at most -1; beside a fraction, rounding up says so.
            self.constant = if self.constant.is_whole() {
                self.constant.add(SmallFraction::ONE)?
            } else {
                self.constant.ceil()
            };
        }
        match self.relation {
            SumRelation::Le | SumRelation::Lt => self.constant = self.constant.ceil(),
            SumRelation::Eq if !self.constant.is_whole() => return Some(TightenedSum::Constant(false)),
            SumRelation::Ne if !self.constant.is_whole() => return Some(TightenedSum::Constant(true)),
            SumRelation::Eq | SumRelation::Ne => (),
        }
        Some(TightenedSum::Atom(self))
    }

    /// Scales so that the coefficients are whole and have no common divisor.
    fn scale_to_whole(&mut self) -> Option<()> {
        let mut scale = SmallFraction::ZERO;
        for &(_, factor) in &self.terms {
            scale = common_divisor(scale, factor)?;
        }
        for term in &mut self.terms {
            term.1 = term.1.div(scale)?;
        }
        self.constant = self.constant.div(scale)?;
        Some(())
    }
}

/// Returns the greatest fraction of which both are multiples; above zero.
fn common_divisor(a: SmallFraction, b: SmallFraction) -> Option<SmallFraction> {
    // Euclid's algorithm, which works for fractions as for whole numbers.
    let (mut a, mut b) = (a, b);
    while !b.is_zero() {
        let quotient = a.div(b)?.floor();
        (a, b) = (b, a.sub(quotient.mul(b)?)?);
    }
    Some(if a.is_negative() { a.neg() } else { a })
}

impl SumRelation {
    /// Returns whether `sum` is in this relation to zero.
    pub(crate) fn holds(self, sum: SmallFraction) -> bool {
        match self {
            Self::Le => sum <= SmallFraction::ZERO,
            Self::Lt => sum < SmallFraction::ZERO,
            Self::Eq => sum.is_zero(),
            Self::Ne => !sum.is_zero(),
        }
    }
}

/// Returns the form that is always true, or always false.
fn constant_form(holds: bool) -> LinearForm {
    if holds { LinearForm::All(Vec::new()) } else { LinearForm::Any(Vec::new()) }
}

/// Returns the atom that the truth value of `slot` is `positive`.
fn truth_atom(slot: usize, positive: bool) -> LinearAtom {
    let constant = if positive { SmallFraction::ONE.neg() } else { SmallFraction::ZERO };
    LinearAtom { terms: vec![(slot, SmallFraction::ONE)], constant, relation: SumRelation::Eq }
}

/// Returns `value` as a number, with 0 and 1 for truth values; `None` if it is another value or too big.
pub(crate) fn number_of_value(value: &Value) -> Option<SmallFraction> {
    match value {
        Value::Bool(b) => Some(if *b { SmallFraction::ONE } else { SmallFraction::ZERO }),
        Value::Int(n) => SmallFraction::from_int(n.to_i64()?),
        Value::Real(n) => SmallFraction::from_rational(n),
        Value::Str(_) | Value::Data(_) | Value::Collection(_) => None,
    }
}

/// Returns the value of `sort` that `n` stands for.
pub(crate) fn value_of_number(n: SmallFraction, sort: Sort) -> Option<Value> {
    match sort {
        Sort::Bool => Some(Value::Bool(!n.is_zero())),
        Sort::Int | Sort::Range { .. } => n.to_i64().map(Value::int),
        Sort::Real => Some(Value::Real(n.to_rational())),
        Sort::Str | Sort::Data(_) | Sort::Collection(_) => None,
    }
}
