//! Templates of invariants: bounds, orders, differences and sums of numbers, conditions, and pairs of conditions.

use std::collections::{BTreeMap, BTreeSet};

use ioxide_model::index::IndexVec;
use ioxide_model::number::Rational;
use ioxide_model::sort::Sort;
use ioxide_model::sts::LocId;
use ioxide_model::term::{Term, VarId};

use super::atoms::{self, StateSamples};
use super::houdini::Candidates;
use crate::cx::Ctx;

/// The greatest number of constants that bound a number. Chosen by feel; the constants below too: they bound the size
/// of one question, and larger models still get the templates of their first numbers and conditions.
const MAX_CONSTANTS: usize = 40;
/// The greatest number of numbers that are bounded.
const MAX_BOUNDED: usize = 24;
/// The greatest number of numbers whose differences and sums are bounded.
const MAX_RELATED: usize = 8;
/// The greatest number of conditions of which pairs are made.
const MAX_PAIRED: usize = 28;

/// Returns the candidates of every location: the templates, and `claims`.
pub(super) fn candidates(
    cx: &mut Ctx<'_>,
    samples: &StateSamples,
    claims: &[BTreeMap<LocId, Term>],
) -> Candidates {
    let claimed: Vec<Term> = claims.iter().flat_map(|claim| claim.values().copied()).collect();
    let mut shared = Vec::new();
    add_bounds(cx, &claimed, samples, &mut shared);
    add_clock_facts(cx, &mut shared);
    add_conditions(cx, &claimed, &mut shared);
    let mut seen = BTreeSet::new();
    shared.retain(|&term| !cx.pool.is_true(term) && !cx.pool.is_false(term) && seen.insert(term));
    let mut all: Candidates = IndexVec::from_elem(shared, cx.sts.locations.len());
    let never = cx.pool.ff();
    for loc in cx.sts.locations.ids() {
        // A location in which nothing was seen may be one that nothing reaches.
        if samples[loc].is_empty() {
            all[loc].push(never);
        }
        let here = claims.iter().filter_map(|claim| claim.get(&loc)).copied();
        let conjuncts: Vec<Term> = here.flat_map(|claim| cx.pool.conjuncts(claim)).collect();
        all[loc].extend(conjuncts.into_iter().filter(|term| !seen.contains(term)));
    }
    all
}

/// Adds bounds of numbers, and of the differences and sums of two.
fn add_bounds(cx: &mut Ctx<'_>, claims: &[Term], samples: &StateSamples, found: &mut Vec<Term>) {
    let mut numbers = atoms::whole_numbers(cx);
    numbers.truncate(MAX_BOUNDED);
    let constants = atoms::constants_of_claims(cx, claims, samples, MAX_CONSTANTS);
    for &number in &numbers {
        add_range(cx, number, &constants, found);
    }
    numbers.truncate(MAX_RELATED);
    // At most nine: the pairs of numbers are quadratic, and every constant bounds the difference and the sum
    // of each. No reason for the number is recorded.
    let few = &constants[..constants.len().min(9)];
    for (at, &a) in numbers.iter().enumerate() {
        for &b in &numbers[at + 1..] {
            let (difference, sum) = (cx.pool.sub(a, b), cx.pool.add([a, b]));
            add_range(cx, difference, few, found);
            add_range(cx, sum, few, found);
        }
    }
    let reals = atoms::real_numbers(cx);
    for real in reals {
        for &constant in few {
            let bound = cx.pool.number(Rational::from(constant), Sort::Real);
            found.extend([cx.pool.le(real, bound), cx.pool.le(bound, real)]);
        }
    }
}

fn add_range(cx: &mut Ctx<'_>, number: Term, constants: &[i64], found: &mut Vec<Term>) {
    for &constant in constants {
        let bound = cx.pool.int(constant);
        found.extend([cx.pool.le(number, bound), cx.pool.le(bound, number)]);
    }
}

/// Adds that clocks are not negative, and the orders between them.
fn add_clock_facts(cx: &mut Ctx<'_>, found: &mut Vec<Term>) {
    let clocks: Vec<VarId> = cx.sts.clocks.iter().map(|clock| clock.var).collect();
    let clocks: Vec<Term> = clocks.into_iter().map(|clock| cx.pool.var(clock)).collect();
    let zero = cx.pool.number(Rational::ZERO, Sort::Real);
    for &clock in &clocks {
        found.push(cx.pool.le(zero, clock));
        for &other in clocks.iter().filter(|&&other| other != clock) {
            found.push(cx.pool.le(clock, other));
        }
    }
}

/// Adds conditions, their negations, and what two of them say together.
fn add_conditions(cx: &mut Ctx<'_>, claims: &[Term], found: &mut Vec<Term>) {
    let conditions = atoms::conditions(cx, claims);
    let mut literals = Vec::new();
    for &condition in &conditions {
        let negated = cx.pool.not(condition);
        literals.push([condition, negated]);
        found.extend([condition, negated]);
    }
    literals.truncate(MAX_PAIRED);
    for (at, first) in literals.iter().enumerate() {
        for second in &literals[at + 1..] {
            for (&a, &b) in first.iter().flat_map(|a| second.iter().map(move |b| (a, b))) {
                found.push(cx.pool.or([a, b]));
            }
        }
    }
}
