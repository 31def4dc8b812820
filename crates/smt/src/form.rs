//! Facts as the layers see them: linear atoms under and/or, the rest opaque.
//!
//! A *slot* stands for a variable, or for a numeric term that is not linear (then only
//! its bounds are used). A truth value is a whole number, 0 or 1.

use std::sync::Arc;

use ioxide_model::sort::Sort;
use ioxide_model::term::{Node, Term, TermPool, VarId};
use ioxide_model::value::Value;
use rustc_hash::FxHashMap;

use crate::small::Small;

/// Deeper facts are opaque.
const MAX_DEPTH: u32 = 24;
/// Facts with more parts are opaque.
const MAX_PARTS: u32 = 512;

/// What a fact says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// A linear relation.
    Atom(Atom),
    /// All of these; of none it is true.
    All(Vec<Form>),
    /// Any of these; of none it is false.
    Any(Vec<Form>),
    /// The term, or its negation, has to be evaluated.
    Opaque(Term, bool),
}

impl Form {
    /// Adds the slots of its atoms. Recursion is as deep as forms are, which is bounded.
    fn slots(&self, slots: &mut Vec<usize>) {
        match self {
            Self::Atom(atom) => slots.extend(atom.terms.iter().map(|term| term.0)),
            Self::All(parts) | Self::Any(parts) => parts.iter().for_each(|part| part.slots(slots)),
            Self::Opaque(..) => (),
        }
    }
}

/// `Σ coefficient · slot + constant` related to zero.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Atom {
    pub(crate) terms: Vec<(usize, Small)>,
    pub(crate) constant: Small,
    pub(crate) relation: Relation,
}

/// How a sum is related to zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Relation {
    /// At most.
    Le,
    /// Below; only over reals.
    Lt,
    /// Equal.
    Eq,
    /// Not equal.
    Ne,
}

/// A variable, or a numeric term that is not linear.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SlotKind {
    Var(VarId),
    Term(Term),
}

/// What a slot stands for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slot {
    pub(crate) kind: SlotKind,
    pub(crate) sort: Sort,
    /// Whether only whole numbers are possible.
    pub(crate) whole: bool,
}

/// A fact that was read.
#[derive(Debug)]
pub(crate) struct Fact {
    pub(crate) term: Term,
    pub(crate) form: Form,
    /// The slots it mentions, each once: its free variables, and the terms its atoms are about.
    pub(crate) slots: Vec<usize>,
}

/// The slots of a layer, and the facts it has read.
#[derive(Debug, Default)]
pub(crate) struct Forms {
    pub(crate) slots: Vec<Slot>,
    by_term: FxHashMap<Term, usize>,
    by_var: FxHashMap<VarId, usize>,
    facts: FxHashMap<Term, Arc<Fact>>,
    /// How many parts the fact being read may still have.
    budget: u32,
}

impl Forms {
    /// What `term` says; read once.
    pub(crate) fn fact(&mut self, pool: &TermPool, term: Term) -> Arc<Fact> {
        if let Some(fact) = self.facts.get(&term) {
            return Arc::clone(fact);
        }
        self.budget = MAX_PARTS;
        let form = self.read(pool, term, true, MAX_DEPTH).unwrap_or(Form::Opaque(term, true));
        let mut slots: Vec<usize> =
            pool.free_vars(term).iter().map(|&var| self.var_slot(pool, var)).collect();
        form.slots(&mut slots);
        slots.sort_unstable();
        slots.dedup();
        let fact = Arc::new(Fact { term, form, slots });
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
        if let Node::Var(var) = pool.node(term) {
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
        self.slots.push(Slot { kind, sort, whole: sort != Sort::Real });
        self.slots.len() - 1
    }

    /// `fact`, or its negation if not `positive`; none if it is too deep or too wide.
    fn read(&mut self, pool: &TermPool, fact: Term, positive: bool, depth: u32) -> Option<Form> {
        let depth = depth.checked_sub(1)?;
        self.budget = self.budget.checked_sub(1)?;
        Some(match pool.node(fact) {
            Node::Value(value) => constant(value.as_bool()? == positive),
            Node::Var(var) => {
                let slot = self.var_slot(pool, *var);
                Form::Atom(truth(slot, positive))
            }
            Node::Not(a) => self.read(pool, *a, !positive, depth)?,
            Node::And(list) => self.junction(pool, list, positive, positive, depth)?,
            Node::Or(list) => self.junction(pool, list, !positive, positive, depth)?,
            Node::Eq(a, b) if pool.sort(*a) == Sort::Bool => {
                let both = |this: &mut Self, left, right| {
                    Some(Form::All(vec![
                        this.read(pool, *a, left, depth)?,
                        this.read(pool, *b, right, depth)?,
                    ]))
                };
                Form::Any(vec![both(self, true, positive)?, both(self, false, !positive)?])
            }
            Node::Eq(a, b) if pool.sort(*a).is_numeric() => {
                let relation = if positive { Relation::Eq } else { Relation::Ne };
                self.relation(pool, *a, *b, relation).unwrap_or(Form::Opaque(fact, positive))
            }
            Node::Lt(a, b) => {
                let (a, b, relation) = if positive { (a, b, Relation::Lt) } else { (b, a, Relation::Le) };
                self.relation(pool, *a, *b, relation).unwrap_or(Form::Opaque(fact, positive))
            }
            Node::Le(a, b) => {
                let (a, b, relation) = if positive { (a, b, Relation::Le) } else { (b, a, Relation::Lt) };
                self.relation(pool, *a, *b, relation).unwrap_or(Form::Opaque(fact, positive))
            }
            Node::Ite(cond, a, b) => {
                let arm = |this: &mut Self, test, branch| {
                    Some(Form::All(vec![
                        this.read(pool, *cond, test, depth)?,
                        this.read(pool, branch, positive, depth)?,
                    ]))
                };
                Form::Any(vec![arm(self, true, *a)?, arm(self, false, *b)?])
            }
            _ => Form::Opaque(fact, positive),
        })
    }

    fn junction(
        &mut self,
        pool: &TermPool,
        list: &[Term],
        all: bool,
        positive: bool,
        depth: u32,
    ) -> Option<Form> {
        let parts = list.iter().map(|&part| self.read(pool, part, positive, depth)).collect::<Option<_>>()?;
        Some(if all { Form::All(parts) } else { Form::Any(parts) })
    }

    /// `a - b` related to zero; none if a number does not fit.
    fn relation(&mut self, pool: &TermPool, a: Term, b: Term, relation: Relation) -> Option<Form> {
        let mut atom = Atom { terms: Vec::new(), constant: Small::ZERO, relation };
        self.sum(pool, a, Small::ONE, &mut atom)?;
        self.sum(pool, b, Small::ONE.neg(), &mut atom)?;
        atom.collect()?;
        let whole = atom.terms.iter().all(|&(slot, _)| self.slots[slot].whole);
        Some(match atom.tightened(whole)? {
            Tight::Atom(atom) => Form::Atom(atom),
            Tight::Constant(holds) => constant(holds),
        })
    }

    /// Adds `factor · term`. Terms that [`TermPool`] built are sums of monomials of atoms.
    fn sum(&mut self, pool: &TermPool, term: Term, factor: Small, atom: &mut Atom) -> Option<()> {
        let parts = if let Node::Add(list) = pool.node(term) { list } else { std::slice::from_ref(&term) };
        parts.iter().try_for_each(|&part| self.monomial(pool, part, factor, atom))
    }

    fn monomial(&mut self, pool: &TermPool, term: Term, factor: Small, atom: &mut Atom) -> Option<()> {
        if let Some(value) = pool.as_value(term) {
            atom.constant = atom.constant.add(number(value)?.mul(factor)?)?;
            return Some(());
        }
        let (factor, inner) = match pool.node(term) {
            Node::Mul(list) if list.len() == 2 && pool.as_value(list[0]).is_some() => {
                (factor.mul(number(pool.as_value(list[0])?)?)?, list[1])
            }
            _ => (factor, term),
        };
        // An integer as a real is the same number.
        let inner = if let Node::ToReal(whole) = pool.node(inner) { *whole } else { inner };
        let slot = self.term_slot(pool, inner);
        atom.terms.push((slot, factor));
        Some(())
    }
}

enum Tight {
    Atom(Atom),
    Constant(bool),
}

impl Atom {
    /// Each slot once, in order.
    fn collect(&mut self) -> Option<()> {
        self.terms.sort_by_key(|term| term.0);
        let mut terms: Vec<(usize, Small)> = Vec::with_capacity(self.terms.len());
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

    /// The sharpest form over whole numbers: coefficients without common divisor, no `<`.
    fn tightened(mut self, whole: bool) -> Option<Tight> {
        if self.terms.is_empty() {
            return Some(Tight::Constant(self.relation.holds(self.constant)));
        }
        if !whole {
            return Some(Tight::Atom(self));
        }
        self.scale_to_whole()?;
        if self.relation == Relation::Lt {
            self.relation = Relation::Le;
            // A whole sum below zero is at most -1; beside a fraction, rounding up says so.
            self.constant =
                if self.constant.is_whole() { self.constant.add(Small::ONE)? } else { self.constant.ceil() };
        }
        match self.relation {
            Relation::Le | Relation::Lt => self.constant = self.constant.ceil(),
            Relation::Eq if !self.constant.is_whole() => return Some(Tight::Constant(false)),
            Relation::Ne if !self.constant.is_whole() => return Some(Tight::Constant(true)),
            Relation::Eq | Relation::Ne => (),
        }
        Some(Tight::Atom(self))
    }

    /// Scales so that the coefficients are whole and have no common divisor.
    fn scale_to_whole(&mut self) -> Option<()> {
        let mut scale = Small::ZERO;
        for &(_, factor) in &self.terms {
            scale = common(scale, factor)?;
        }
        for term in &mut self.terms {
            term.1 = term.1.div(scale)?;
        }
        self.constant = self.constant.div(scale)?;
        Some(())
    }
}

/// The greatest fraction of which both are multiples; above zero.
fn common(a: Small, b: Small) -> Option<Small> {
    let (mut a, mut b) = (a, b);
    while !b.is_zero() {
        let quotient = a.div(b)?.floor();
        (a, b) = (b, a.sub(quotient.mul(b)?)?);
    }
    Some(if a.is_negative() { a.neg() } else { a })
}

impl Relation {
    /// Whether `sum` is so related to zero.
    pub(crate) fn holds(self, sum: Small) -> bool {
        match self {
            Self::Le => sum <= Small::ZERO,
            Self::Lt => sum < Small::ZERO,
            Self::Eq => sum.is_zero(),
            Self::Ne => !sum.is_zero(),
        }
    }
}

/// True or false.
fn constant(holds: bool) -> Form {
    if holds { Form::All(Vec::new()) } else { Form::Any(Vec::new()) }
}

/// A truth value is 0 or 1.
fn truth(slot: usize, positive: bool) -> Atom {
    let constant = if positive { Small::ONE.neg() } else { Small::ZERO };
    Atom { terms: vec![(slot, Small::ONE)], constant, relation: Relation::Eq }
}

/// The number `value` is, or stands for; none if it is none or too big.
pub(crate) fn number(value: &Value) -> Option<Small> {
    match value {
        Value::Bool(b) => Some(if *b { Small::ONE } else { Small::ZERO }),
        Value::Int(n) => Small::int(n.to_i64()?),
        Value::Real(n) => Small::from_rational(n),
        Value::Str(_) | Value::Data(_) | Value::Collection(_) => None,
    }
}

/// The value of `sort` that `n` stands for.
pub(crate) fn value(n: Small, sort: Sort) -> Option<Value> {
    match sort {
        Sort::Bool => Some(Value::Bool(!n.is_zero())),
        Sort::Int | Sort::Range { .. } => n.to_i64().map(Value::int),
        Sort::Real => Some(Value::Real(n.to_rational())),
        Sort::Str | Sort::Data(_) | Sort::Collection(_) => None,
    }
}
