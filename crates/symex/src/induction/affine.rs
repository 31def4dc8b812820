//! Equalities between the numbers of a state: the affine hull of the reachable states of every location.
//!
//! The least fixed point over affine spaces, computed with the solver: a space starts as the points seen; while some
//! step leads from a state on the space of its source to one off the space of its target, that point is added. Every
//! point adds a dimension, so this ends. It finds `sent == received + length(queue)` without being told.

use ioxide_model::index::IndexVec;
use ioxide_model::number::{Int, Rational};
use ioxide_model::sort::Sort;
use ioxide_model::sts::{LocId, SwitchId};
use ioxide_model::term::Term;
use ioxide_model::valuation::Valuation;
use ioxide_smt::solver::SolverAnswer;

use super::atoms::{self, StateSamples};
use super::houdini::step_from_anywhere;
use super::sizes;
use crate::concrete_run::evaluate;
use crate::cx::Ctx;

/// The greatest number of numbers that are related. Chosen by feel: the cost grows with its cube.
const MAX_NUMBERS: usize = 24;

/// The smallest affine space that contains some points.
#[derive(Clone, Debug, Default)]
struct AffineSpace {
    /// The points with a leading 1, in reduced row echelon form.
    rows: Vec<Vec<Rational>>,
    /// True if nothing is known about the points any more.
    is_everything: bool,
}

/// Returns the equalities that hold in every reachable state, by location.
pub(super) fn equalities(cx: &mut Ctx<'_>, samples: &StateSamples) -> IndexVec<LocId, Vec<Term>> {
    let mut found = IndexVec::from_elem(Vec::new(), cx.sts.locations.len());
    let (whole, real) = (atoms::whole_numbers(cx), atoms::real_numbers(cx));
    for (numbers, sort) in [(whole, Sort::Int), (real, Sort::Real)] {
        // A single number can still be constant.
        if numbers.is_empty() || numbers.len() > MAX_NUMBERS {
            continue;
        }
        let spaces = find_spaces(cx, &numbers, sort, samples);
        for (loc, space) in spaces.iter_enumerated() {
            found[loc].extend(equality_terms(cx, space, &numbers, sort));
        }
    }
    found
}

fn find_spaces(
    cx: &mut Ctx<'_>,
    numbers: &[Term],
    sort: Sort,
    samples: &StateSamples,
) -> IndexVec<LocId, AffineSpace> {
    let mut spaces = IndexVec::from_elem(AffineSpace::default(), cx.sts.locations.len());
    for (loc, states) in samples.iter_enumerated() {
        for state in states {
            match point_of(cx, numbers, state) {
                Some(point) => _ = spaces[loc].add_point(&point),
                // A value that cannot be computed is no point, so nothing is claimed about its location.
                None => spaces[loc].is_everything = true,
            }
        }
    }
    // Every switch once, and again when the space of its source has grown: it does so at most once for every
    // coordinate, and once to everything.
    let mut todo: Vec<SwitchId> = cx.sts.switches.iter_enumerated().map(|(id, _)| id).collect();
    while let Some(id) = todo.pop() {
        let switch = &cx.sts.switches[id];
        let (source, target) = (switch.source, switch.target);
        let is_reached = spaces[source].is_everything || !spaces[source].rows.is_empty();
        if !is_reached || spaces[target].is_everything {
            continue;
        }
        if grow_target(cx, numbers, sort, &mut spaces, id) {
            todo.extend(cx.sts.switches_from(target).map(|(id, _)| id));
        }
    }
    spaces
}

/// Adds to the space of the target what the switch leads to from the space of its source. Returns whether it grew.
fn grow_target(
    cx: &mut Ctx<'_>,
    numbers: &[Term],
    sort: Sort,
    spaces: &mut IndexVec<LocId, AffineSpace>,
    id: SwitchId,
) -> bool {
    let next = step_from_anywhere(cx, id);
    let names = next.store.substitution(cx.sts);
    let mut facts = next.path.facts().to_vec();
    // The state before the switch lies on the space of its source.
    facts.extend(equality_terms(cx, &spaces[cx.sts.switches[id].source].clone(), numbers, sort));
    let n_facts = facts.len();
    facts.extend(numbers.iter().map(|&number| cx.pool.substitute(number, &names)).collect::<Vec<_>>());
    // All at once, so that the same collection has the same size everywhere.
    let sized = sizes::sized_terms(cx, &facts);
    let after = sized.terms[n_facts..].to_vec();
    let facts: Vec<Term> = sized.terms[..n_facts].iter().copied().chain(sized.facts).collect();
    let mut has_grown = false;
    loop {
        let space = spaces[next.loc].clone();
        let equalities = equality_terms(cx, &space, &after, sort);
        // Without equalities the space is all there is, and nothing lies outside.
        if space.is_everything || (equalities.is_empty() && !space.rows.is_empty()) {
            return has_grown;
        }
        let inside = cx.pool.and(equalities);
        // A location of which no point is known yet: any state is one.
        let outside = if space.rows.is_empty() { cx.pool.tt() } else { cx.pool.not(inside) };
        let mut question = facts.clone();
        question.push(outside);
        let has_added = match cx.check(&question) {
            SolverAnswer::Unsat => return has_grown,
            SolverAnswer::Sat(valuation) => {
                let point = point_of(cx, &after, &valuation);
                point.is_some_and(|point| spaces[next.loc].add_point(&point))
            }
            SolverAnswer::Unknown(_) => false,
        };
        has_grown = true;
        // Nothing can be said any more: neither an unknown answer nor a value that is not computed is a point.
        spaces[next.loc].is_everything = !has_added;
    }
}

/// Returns the values of `numbers` with a leading 1.
fn point_of(cx: &Ctx<'_>, numbers: &[Term], values: &Valuation) -> Option<Vec<Rational>> {
    let one = std::iter::once(Some(Rational::from(1)));
    one.chain(numbers.iter().map(|&number| evaluate(cx, number, values)?.to_rational())).collect()
}

impl AffineSpace {
    /// Adds a point; returns whether it was outside.
    fn add_point(&mut self, point: &[Rational]) -> bool {
        let mut rest = point.to_vec();
        for row in &self.rows {
            // Gauss: take from the point what the rows explain.
            let pivot = row.iter().position(|value| !value.is_zero()).expect("rows are not zero");
            if !rest[pivot].is_zero() {
                let factor = rest[pivot].clone();
                rest = subtract(&rest, row, &factor);
            }
        }
        let Some(pivot) = rest.iter().position(|value| !value.is_zero()) else { return false };
        // The rest is a new direction: normalised, and its column cleared in the other rows, so that the form stays
        // reduced.
        let lead = rest[pivot].clone();
        rest.iter_mut().for_each(|value| *value = value.div(&lead));
        for row in &mut self.rows {
            let factor = row[pivot].clone();
            *row = subtract(row, &rest, &factor);
        }
        self.rows.push(rest);
        debug_assert!(
            self.rows.len() <= point.len(),
            "a space has at most as many dimensions as coordinates"
        );
        true
    }

    /// Returns a basis of the equalities `c0 + c1 x1 + ... = 0`, with whole coefficients.
    fn equalities(&self, width: usize) -> Vec<Vec<Rational>> {
        if self.is_everything || self.rows.is_empty() {
            return Vec::new();
        }
        let pivots: Vec<usize> = self
            .rows
            .iter()
            .map(|row| row.iter().position(|value| !value.is_zero()).expect("rows are not zero"))
            .collect();
        let mut found = Vec::new();
        // The null space of the rows: with the form reduced, every column without a pivot gives one equality, in
        // which the pivot columns have the negated entries of that column.
        for free in (0..width).filter(|column| !pivots.contains(column)) {
            let mut equality = vec![Rational::ZERO; width];
            equality[free] = Rational::from(1);
            for (row, &pivot) in self.rows.iter().zip(&pivots) {
                equality[pivot] = &Rational::ZERO - &row[free];
            }
            found.push(with_whole_coefficients(equality));
        }
        found
    }
}

/// Returns `from` minus `factor` times `row`.
fn subtract(from: &[Rational], row: &[Rational], factor: &Rational) -> Vec<Rational> {
    from.iter().zip(row).map(|(value, other)| value - &(factor * other)).collect()
}

fn with_whole_coefficients(equality: Vec<Rational>) -> Vec<Rational> {
    let mut factor = Int::from(1);
    for value in &equality {
        let common = factor.gcd(value.denom());
        factor = &factor * &value.denom().div(&common);
    }
    let factor = Rational::from(factor);
    equality.into_iter().map(|value| &value * &factor).collect()
}

/// Returns the equalities of `space` as formulas over `numbers`: positive terms on the left, negative ones on the
/// right.
fn equality_terms(cx: &mut Ctx<'_>, space: &AffineSpace, numbers: &[Term], sort: Sort) -> Vec<Term> {
    let mut found = Vec::new();
    for equality in space.equalities(numbers.len() + 1) {
        let mut sides = [Vec::new(), Vec::new()];
        let one = cx.pool.number(Rational::from(1), sort);
        for (coefficient, &number) in equality.iter().zip(std::iter::once(&one).chain(numbers)) {
            if coefficient.is_zero() {
                continue;
            }
            let side = usize::from(coefficient.is_negative());
            let size = if side == 1 { &Rational::ZERO - coefficient } else { coefficient.clone() };
            let size = cx.pool.number(size, sort);
            sides[side].push(cx.pool.mul([size, number]));
        }
        let zero = cx.pool.number(Rational::ZERO, sort);
        let [left, right] = sides.map(|side| cx.pool.add(side.into_iter().chain([zero])));
        found.push(cx.pool.eq(left, right));
    }
    found
}
