//! Contradictions among conditions that are seen at once, so that paths that cannot be taken are left out.
//!
//! Looks at comparisons of one term with constants only: bounds that leave no number, two values for one term, a value
//! that is excluded. *One-sided*: conditions that are not refuted may still be contradictory; `check --deep` asks the
//! solver.
//!
//! The same knowledge drops redundant bounds: `n >= 1 && n >= 2` is `n >= 2`, and a variable is within its type.

use ioxide_model::sort::Sort;
use ioxide_model::term::{Term, TermNode, TermPool};
use ioxide_model::value::Value;
use rustc_hash::FxHashMap;

/// Returns whether no values satisfy all `conditions`, judged by their comparisons with constants.
pub(super) fn is_refuted(pool: &TermPool, conditions: impl Iterator<Item = Term>) -> bool {
    let mut known = KnownFacts { pool, about: FxHashMap::default() };
    let mut excluded = Vec::new();
    for condition in conditions {
        for part in pool.conjuncts(condition) {
            match pool.node(part) {
                TermNode::Not(inner) => excluded.push(*inner),
                _ if !known.learn(part) => return true,
                _ => {}
            }
        }
    }
    excluded.into_iter().any(|inner| known.implies(inner))
}

/// Returns `conditions` without bounds that follow from the others or from the sort of the term.
pub(super) fn tightened(pool: &TermPool, conditions: &[Term], others: &[Term]) -> Vec<Term> {
    let mut known = KnownFacts { pool, about: FxHashMap::default() };
    let parts = |conditions: &[Term]| -> Vec<Term> {
        conditions.iter().flat_map(|condition| pool.conjuncts(*condition)).collect()
    };
    let own = parts(conditions);
    own.iter().copied().chain(parts(others)).for_each(|part| _ = known.learn(part));
    own.into_iter().filter(|part| known.needs(*part)).collect()
}

/// The known bounds and value of a term.
#[derive(Clone, Debug)]
struct TermKnowledge {
    lo: i64,
    hi: i64,
    value: Option<Value>,
}

struct KnownFacts<'p> {
    pool: &'p TermPool,
    about: FxHashMap<Term, TermKnowledge>,
}

impl KnownFacts<'_> {
    /// Assumes `part`; returns whether it agrees with what was assumed before.
    fn learn(&mut self, part: Term) -> bool {
        match *self.pool.node(part) {
            TermNode::Eq(a, b) => match (self.pool.as_value(a), self.pool.as_value(b)) {
                (None, Some(value)) => self.equals(a, value.clone()),
                (Some(value), None) => self.equals(b, value.clone()),
                _ => true,
            },
            TermNode::Le(a, b) => self.bounded(a, b, 0),
            TermNode::Lt(a, b) if self.pool.sort(a).base() == Sort::Int => self.bounded(a, b, 1),
            _ => true,
        }
    }

    fn of(&mut self, term: Term) -> &mut TermKnowledge {
        let (lo, hi) = match self.pool.sort(term) {
            Sort::Range { lo, hi } => (lo, hi),
            _ => (i64::MIN, i64::MAX),
        };
        self.about.entry(term).or_insert(TermKnowledge { lo, hi, value: None })
    }

    fn equals(&mut self, term: Term, value: Value) -> bool {
        let number = value.as_int().and_then(|n| n.to_i64());
        let about = self.of(term);
        if let Some(n) = number {
            (about.lo, about.hi) = (about.lo.max(n), about.hi.min(n));
        }
        let agrees = about.value.as_ref().is_none_or(|other| *other == value);
        about.value = Some(value);
        agrees && about.lo <= about.hi
    }

    /// Assumes `a + gap <= b` for whole numbers; returns whether the bounds leave a number.
    fn bounded(&mut self, a: Term, b: Term, gap: i64) -> bool {
        let number = |term| self.pool.as_value(term).and_then(|value| value.as_int()?.to_i64());
        match (number(a), number(b)) {
            (Some(n), None) => {
                let about = self.of(b);
                about.lo = about.lo.max(n.saturating_add(gap));
                about.lo <= about.hi
            }
            (None, Some(n)) => {
                let about = self.of(a);
                about.hi = about.hi.min(n.saturating_sub(gap));
                about.lo <= about.hi
            }
            _ => true,
        }
    }

    /// Returns whether `part` is no bound, or the tightest of its kind and not implied by a known value.
    fn needs(&self, part: Term) -> bool {
        let (a, b, gap) = match *self.pool.node(part) {
            TermNode::Le(a, b) => (a, b, 0),
            TermNode::Lt(a, b) if self.pool.sort(a).base() == Sort::Int => (a, b, 1),
            _ => return true,
        };
        let number = |term| self.pool.as_value(term).and_then(|value| value.as_int()?.to_i64());
        let sort = |term| match self.pool.sort(term) {
            Sort::Range { lo, hi } => (lo, hi),
            _ => (i64::MIN, i64::MAX),
        };
        let about = |term| self.about.get(&term);
        match (number(a), number(b)) {
            (Some(n), None) => about(b).is_none_or(|it| {
                let n = n.saturating_add(gap);
                it.value.is_none() && n == it.lo && n > sort(b).0
            }),
            (None, Some(n)) => about(a).is_none_or(|it| {
                let n = n.saturating_sub(gap);
                it.value.is_none() && n == it.hi && n < sort(a).1
            }),
            _ => true,
        }
    }

    /// Returns whether `inner`, which must not hold, is known to hold.
    fn implies(&self, inner: Term) -> bool {
        let TermNode::Eq(a, b) = *self.pool.node(inner) else { return false };
        let is_known = |term: &Term, value: &Value| {
            self.about.get(term).is_some_and(|about| about.value.as_ref() == Some(value))
        };
        match (self.pool.as_value(a), self.pool.as_value(b)) {
            (None, Some(value)) => is_known(&a, value),
            (Some(value), None) => is_known(&b, value),
            _ => false,
        }
    }
}
