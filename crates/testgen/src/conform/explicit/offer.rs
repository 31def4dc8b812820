//! The messages a switch may carry in a concrete state, one by one.
//!
//! A field that the guard equates with a term over variables is computed; the others take every value between the
//! bounds of their sort and of the guard. Where a field has no such bounds it is *open*, and takes the values that
//! represent all others (see [`free`](super::free)); without those, the messages cannot be listed.

use std::collections::BTreeSet;

use ioxide_model::concrete::ConcreteState;
use ioxide_model::sort::Sort;
use ioxide_model::sts::{Sts, Switch};
use ioxide_model::term::{Term, TermNode, TermPool, VarId};
use ioxide_model::value::Value;
use ioxide_smt::layers::interval::variable_bounds;

/// The number of messages of one switch above which they are not listed. Chosen by feel: every one is tried in every
/// state.
const MAX_MESSAGES: usize = 10_000;

/// The number of values at each end of a list of which a few are tried. Chosen by feel: an edge and its neighbour.
const SAMPLED_ENDS: usize = 2;

/// The source of the values of a field.
#[derive(Clone, Debug)]
pub(super) enum FieldSource {
    /// The value in the state of this term, which reads no field.
    Computed(Term),
    /// Each of these values.
    Listed(Vec<Value>),
    /// Representatives, of the field at this position.
    Open(usize),
}

/// The messages of a switch.
#[derive(Clone, Debug)]
pub(crate) struct MessageList {
    fields: Vec<FieldSource>,
}

impl MessageList {
    /// Returns the sources of the fields of `switch`, of which those that are true in `open` take representatives;
    /// `None` if another field has no finite source, or there are too many messages.
    pub fn new(pool: &TermPool, sts: &Sts, switch: &Switch, open: &[bool]) -> Option<Self> {
        Self::with_source(sts, switch, open, &|field| source(pool, sts, switch, field))
    }

    /// Returns the sources as [`new`](Self::new) does, but a field of many values takes a few of them: the least and
    /// the greatest, and their neighbours.
    pub fn sampled(pool: &TermPool, sts: &Sts, switch: &Switch, open: &[bool]) -> Option<Self> {
        let few = |field| match source(pool, sts, switch, field) {
            Some(FieldSource::Listed(values)) => Some(FieldSource::Listed(ends_of(values))),
            // What cannot be sampled has no messages: whoever samples proves nothing anyway.
            None => Some(FieldSource::Listed(sampled_range(pool, switch, field).unwrap_or_default())),
            source => source,
        };
        Self::with_source(sts, switch, open, &few)
    }

    fn with_source(
        sts: &Sts,
        switch: &Switch,
        open: &[bool],
        source: &dyn Fn(VarId) -> Option<FieldSource>,
    ) -> Option<Self> {
        let fields = sts.gates[switch.gate].fields.iter().enumerate();
        let source = |(at, &field): (usize, &VarId)| match source(field) {
            // Open for one switch is open for all: both sides must be tried with the same representatives.
            Some(FieldSource::Listed(_)) | None if open.get(at) == Some(&true) => Some(FieldSource::Open(at)),
            source => source,
        };
        let fields = fields.map(source).collect::<Option<Vec<FieldSource>>>()?;
        // An open field counts as one: the number of its representatives depends on the pair, and `in_state` counts
        // again.
        let size = |field: &FieldSource| match field {
            FieldSource::Computed(_) | FieldSource::Open(_) => 1,
            FieldSource::Listed(values) => values.len(),
        };
        let total = fields.iter().try_fold(1usize, |total, field| total.checked_mul(size(field)))?;
        (total <= MAX_MESSAGES).then_some(Self { fields })
    }

    /// Returns whether a field takes representatives.
    pub fn is_open(&self) -> bool {
        self.fields.iter().any(|field| matches!(field, FieldSource::Open(_)))
    }

    /// The messages in `state`, whether or not the guard holds, with the representatives that `open` returns for a
    /// position; `None` if a value cannot be computed, or there are too many messages.
    pub fn in_state<'v>(
        &self,
        pool: &TermPool,
        state: &ConcreteState,
        open: impl Fn(usize) -> Option<&'v [Value]>,
    ) -> Option<Vec<Vec<Value>>> {
        let mut messages: Vec<Vec<Value>> = vec![Vec::with_capacity(self.fields.len())];
        for field in &self.fields {
            match field {
                FieldSource::Computed(term) => {
                    let value = pool.eval(*term, &state.values).ok()?;
                    messages.iter_mut().for_each(|message| message.push(value.clone()));
                }
                FieldSource::Listed(values) => messages = with_each(&messages, values)?,
                FieldSource::Open(at) => messages = with_each(&messages, open(*at)?)?,
            }
        }
        Some(messages)
    }
}

/// Every one of `messages` with every one of `values` at its end; `None` if these are too many.
fn with_each(messages: &[Vec<Value>], values: &[Value]) -> Option<Vec<Vec<Value>>> {
    messages.len().checked_mul(values.len()).filter(|n| *n <= MAX_MESSAGES)?;
    let with = |message: &Vec<Value>, value: &Value| {
        let mut longer = message.clone();
        longer.push(value.clone());
        longer
    };
    let longer = |message| values.iter().map(move |value| with(message, value));
    Some(messages.iter().flat_map(longer).collect())
}

/// The finite source of the values of `field` in messages of `switch`, if it has one.
pub(super) fn source(pool: &TermPool, sts: &Sts, switch: &Switch, field: VarId) -> Option<FieldSource> {
    let fields = &sts.gates[switch.gate].fields;
    let guard = pool.conjuncts(switch.guard);
    let computed = guard.iter().find_map(|&fact| equal_to(pool, fact, field, fields));
    computed.map(FieldSource::Computed).or_else(|| list_values(pool, &guard, field).map(FieldSource::Listed))
}

/// The term without fields that `fact` says `field` equals.
fn equal_to(pool: &TermPool, fact: Term, field: VarId, fields: &[VarId]) -> Option<Term> {
    let TermNode::Eq(a, b) = *pool.node(fact) else { return None };
    let other = match (pool.node(a), pool.node(b)) {
        (TermNode::Var(var), _) if *var == field => b,
        (_, TermNode::Var(var)) if *var == field => a,
        _ => return None,
    };
    // Fields are computed from the state alone, in no particular order, so a term over another field does not help.
    let reads = pool.free_vars(other);
    fields.iter().all(|field| !reads.contains(field)).then_some(other)
}

/// Returns a few values from both ends of a list.
fn ends_of(values: Vec<Value>) -> Vec<Value> {
    if values.len() <= 2 * SAMPLED_ENDS {
        return values;
    }
    let (first, last) = (&values[..SAMPLED_ENDS], &values[values.len() - SAMPLED_ENDS..]);
    [first, last].concat()
}

/// Returns a few values from both ends of a range that is too long to be listed, or near zero if it has no ends; `None`
/// for other sorts.
fn sampled_range(pool: &TermPool, switch: &Switch, field: VarId) -> Option<Vec<Value>> {
    let (lo, hi) = match pool.var_info(field).sort {
        Sort::Range { lo, hi } => (Some(lo), Some(hi)),
        Sort::Int => (None, None),
        _ => return None,
    };
    let bounds = variable_bounds(pool, &pool.conjuncts(switch.guard), &[field])[0];
    let ends = i64::try_from(SAMPLED_ENDS).ok()?;
    let (lo, hi) = match (bounds.0.or(lo), bounds.1.or(hi)) {
        (Some(lo), Some(hi)) => (lo, hi),
        (Some(lo), None) => (lo, lo.checked_add(ends)?),
        (None, Some(hi)) => (hi.checked_sub(ends)?, hi),
        (None, None) => (-1, 1),
    };
    let values: BTreeSet<i64> =
        (lo..=hi).take(SAMPLED_ENDS).chain((lo..=hi).rev().take(SAMPLED_ENDS)).collect();
    Some(values.into_iter().map(Value::int).collect())
}

/// The values of the sort of `field`, or the whole numbers between the bounds of the guard.
fn list_values(pool: &TermPool, guard: &[Term], field: VarId) -> Option<Vec<Value>> {
    let sort = pool.var_info(field).sort;
    if !matches!(sort, Sort::Int | Sort::Range { .. }) {
        return pool.finite_domain(sort);
    }
    let (Some(lo), Some(hi)) = variable_bounds(pool, guard, &[field])[0] else {
        return pool.finite_domain(sort);
    };
    // Bounds that exclude each other list nothing: the switch is never taken.
    let size = usize::try_from(hi.checked_sub(lo)?.checked_add(1)?.max(0)).ok()?;
    (size <= MAX_MESSAGES).then(|| (lo..=hi).map(Value::int).collect())
}
