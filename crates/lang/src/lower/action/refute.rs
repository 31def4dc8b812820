//! Contradictions among conditions that are seen at once, so that paths that cannot be taken are left out.
//!
//! Looks at comparisons of one term with constants only: bounds that leave no number, two values for one term, a value
//! that is excluded. *One-sided*: conditions that are not refuted may still be contradictory; `check --deep` asks the
//! solver.
//!
//! The same knowledge drops redundant bounds: `n >= 1 && n >= 2` is `n >= 2`, and a variable is within its type.

use ioxide_model::number::Int;
use ioxide_model::sort::Sort;
use ioxide_model::term::{Term, TermNode, TermPool};
use ioxide_model::value::Value;
use rustc_hash::FxHashMap;

/// Returns whether no values satisfy all `conditions`, judged by their comparisons with constants.
pub(super) fn is_refuted(pool: &TermPool, conditions: impl Iterator<Item = Term>) -> bool {
    let mut known = KnownFacts { pool, about: FxHashMap::default() };
    // Negations are asked at the end, when everything that holds is known.
    let mut excluded = Vec::new();
    for condition in conditions {
        for part in pool.conjuncts(condition) {
            match pool.node(part) {
                TermNode::Not(inner) => excluded.push(*inner),
                _ if !known.assume(part) => return true,
                _ => {}
            }
        }
    }
    excluded.into_iter().any(|inner| known.implies(inner))
}

/// Returns `conditions` without bounds that follow from the others or from the sort of the term.
pub(super) fn tighten(pool: &TermPool, conditions: &[Term], others: &[Term]) -> Vec<Term> {
    let mut known = KnownFacts { pool, about: FxHashMap::default() };
    let parts = |conditions: &[Term]| -> Vec<Term> {
        conditions.iter().flat_map(|condition| pool.conjuncts(*condition)).collect()
    };
    let own = parts(conditions);
    // Everything is assumed first, because a bound may be made needless by one that stands behind it.
    own.iter().copied().chain(parts(others)).for_each(|part| _ = known.assume(part));
    own.into_iter().filter(|part| known.needs(*part)).collect()
}

/// The known bounds and value of a term. Numbers have no limit, so a bound that is not known is none, not a large one.
#[derive(Clone, Debug)]
struct TermKnowledge {
    lo: Option<Int>,
    hi: Option<Int>,
    value: Option<Value>,
}

impl TermKnowledge {
    fn is_empty(&self) -> bool {
        matches!((&self.lo, &self.hi), (Some(lo), Some(hi)) if lo > hi)
    }
}

/// The side of a term on which a limit lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LimitSide {
    Below,
    Above,
}

/// A comparison of a whole number with a constant: `limit <= term`, or `term <= limit`.
struct ConstantLimit {
    term: Term,
    limit: Int,
    side: LimitSide,
}

impl ConstantLimit {
    fn holds_at(&self, n: &Int) -> bool {
        match self.side {
            LimitSide::Below => self.limit <= *n,
            LimitSide::Above => *n <= self.limit,
        }
    }
}

struct KnownFacts<'p> {
    pool: &'p TermPool,
    about: FxHashMap<Term, TermKnowledge>,
}

impl KnownFacts<'_> {
    /// Assumes `part`; returns whether it agrees with what was assumed before.
    fn assume(&mut self, part: Term) -> bool {
        match *self.pool.node(part) {
            TermNode::Eq(a, b) => match (self.pool.as_value(a), self.pool.as_value(b)) {
                (None, Some(value)) => self.note_equal(a, value.clone()),
                (Some(value), None) => self.note_equal(b, value.clone()),
                _ => true,
            },
            _ => self.limit_of(part).is_none_or(|limit| self.assume_limit(limit)),
        }
    }

    /// Returns the limits that the sort of `term` sets.
    fn sort_limits(&self, term: Term) -> (Option<Int>, Option<Int>) {
        match self.pool.sort(term) {
            Sort::Range { lo, hi } => (Some(Int::from(lo)), Some(Int::from(hi))),
            _ => (None, None),
        }
    }

    /// Returns the limit that `part` says, if it compares a whole number with a constant.
    fn limit_of(&self, part: Term) -> Option<ConstantLimit> {
        let (a, b, gap) = match *self.pool.node(part) {
            TermNode::Le(a, b) => (a, b, Int::ZERO),
            // On whole numbers a strict bound is a bound one further. On other numbers it is none that this
            // table can hold.
            TermNode::Lt(a, b) if self.pool.sort(a).base() == Sort::Int => (a, b, Int::ONE),
            _ => return None,
        };
        match (self.pool.as_value(a), self.pool.as_value(b)) {
            (Some(n), None) => {
                Some(ConstantLimit { term: b, limit: n.as_int()? + &gap, side: LimitSide::Below })
            }
            (None, Some(n)) => {
                Some(ConstantLimit { term: a, limit: n.as_int()? - &gap, side: LimitSide::Above })
            }
            _ => None,
        }
    }

    fn knowledge_of(&mut self, term: Term) -> &mut TermKnowledge {
        let (lo, hi) = self.sort_limits(term);
        // The sort of a term is its first bound.
        self.about.entry(term).or_insert(TermKnowledge { lo, hi, value: None })
    }

    /// Notes that `term` equals `value`; returns whether that can be true.
    fn note_equal(&mut self, term: Term, value: Value) -> bool {
        let about = self.knowledge_of(term);
        if let Some(n) = value.as_int() {
            // A value is both bounds at once, so that limits and equations contradict each other in one
            // place.
            about.lo = about.lo.take().max(Some(n.clone()));
            about.hi = Some(about.hi.take().map_or_else(|| n.clone(), |hi| hi.min(n.clone())));
        }
        let agrees = about.value.as_ref().is_none_or(|other| *other == value);
        about.value = Some(value);
        agrees && !about.is_empty()
    }

    /// Assumes a limit; returns whether the limits leave a number.
    fn assume_limit(&mut self, ConstantLimit { term, limit, side }: ConstantLimit) -> bool {
        let about = self.knowledge_of(term);
        match side {
            LimitSide::Below => about.lo = about.lo.take().max(Some(limit)),
            LimitSide::Above => {
                about.hi = Some(about.hi.take().map_or_else(|| limit.clone(), |hi| hi.min(limit.clone())));
            }
        }
        !about.is_empty()
    }

    /// Returns whether `part` has to be said: it is no limit, or it does not hold at the value that is known, or no
    /// value is known and it is the tightest on its side.
    ///
    /// A limit that contradicts a known value is needed: [`is_refuted`] does not look at every path.
    fn needs(&self, part: Term) -> bool {
        let Some(limit) = self.limit_of(part) else { return true };
        let Some(about) = self.about.get(&limit.term) else { return true };
        if let Some(n) = about.value.as_ref().and_then(Value::as_int) {
            return !limit.holds_at(n);
        }
        let (lo, hi) = self.sort_limits(limit.term);
        let (tightest, of_sort) = match limit.side {
            LimitSide::Below => (&about.lo, lo),
            LimitSide::Above => (&about.hi, hi),
        };
        tightest.as_ref() == Some(&limit.limit) && of_sort.as_ref() != Some(&limit.limit)
    }

    /// Returns whether `inner`, which must not hold, is known to hold.
    fn implies(&self, inner: Term) -> bool {
        // Only equations. In normal form the negation of a comparison of numbers is a comparison, and was
        // assumed above.
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
