//! One step of hit and run: from a valuation, in a random direction, to another.

use ioxide_model::number::{Int, Rational};
use ioxide_model::sort::Sort;
use ioxide_model::term::{Term, TermPool, VarId};
use ioxide_model::valuation::Valuation;
use ioxide_model::value::Value;
use rand::RngExt as _;
use rand_chacha::ChaCha8Rng;

/// The number of doublings in the search for the edge: a step goes at most 2^20 far. Chosen by feel.
const MAX_DOUBLINGS: u32 = 20;

/// Returns another valuation of `facts`, or `None` if the step hit nothing.
///
/// Numbers move along a line: through all of them, through a few, or towards another valuation, on which every linear
/// equation holds that holds at both. Other variables take another value now and then. The end of the facts on that
/// line is found by doubling and halving, and the step ends at a random point before it; a point outside in between is
/// not taken.
pub(super) fn random_step(
    pool: &TermPool,
    facts: &[Term],
    vars: &[VarId],
    (at, other): (&Valuation, Option<&Valuation>),
    rng: &mut ChaCha8Rng,
) -> Option<Valuation> {
    let along = other.filter(|_| rng.random_range(0..2) == 0).and_then(|other| step_towards(at, other));
    let direction = along.unwrap_or_else(|| random_direction(pool, vars, rng));
    // Where another text or case breaks a fact, the step starts at the old valuation: it must start inside.
    let base = flip_some_values(pool, vars, at, rng);
    let base = if do_facts_hold(pool, facts, &base) { base } else { at.clone() };
    let back = count_valid_steps(pool, facts, &base, &direction, -1);
    let ahead = count_valid_steps(pool, facts, &base, &direction, 1);
    let length = rng.random_range(-back..=ahead);
    let next = move_along(pool, &base, &direction, length)?;
    (next != *at && do_facts_hold(pool, facts, &next)).then_some(next)
}

fn do_facts_hold(pool: &TermPool, facts: &[Term], valuation: &Valuation) -> bool {
    facts.iter().all(|&fact| pool.holds(fact, valuation) == Ok(true))
}

/// Returns the smallest whole step from `at` in the direction of `other`; `None` unless all numbers that differ are
/// whole.
fn step_towards(at: &Valuation, other: &Valuation) -> Option<Vec<(VarId, i64)>> {
    let mut steps = Vec::new();
    for (var, value) in at.iter() {
        match (value, other.get(var)?) {
            (Value::Int(a), Value::Int(b)) if a != b => steps.push((var, b - a)),
            (a, b) if a == b => (),
            (Value::Real(_), _) => return None,
            _ => (),
        }
    }
    // Divided by the greatest common divisor, so that whole points between the two are not jumped over.
    let common = steps.iter().fold(Int::from(0), |common, (_, by)| common.gcd(by));
    if common.is_zero() {
        return None;
    }
    steps.into_iter().map(|(var, by)| Some((var, by.div(&common).to_i64()?))).collect()
}

/// Returns a random direction: one number by one, or a few by small amounts of either sign, since sums often have to
/// stay.
fn random_direction(pool: &TermPool, vars: &[VarId], rng: &mut ChaCha8Rng) -> Vec<(VarId, i64)> {
    let numbers: Vec<VarId> =
        vars.iter().copied().filter(|&var| pool.var_info(var).sort.is_numeric()).collect();
    if numbers.is_empty() {
        return Vec::new();
    }
    let pick = |rng: &mut ChaCha8Rng| numbers[rng.random_range(0..numbers.len())];
    match rng.random_range(0..4) {
        0 => vec![(pick(rng), 1)],
        1 | 2 => vec![(pick(rng), 1), (pick(rng), if rng.random_range(0..2) == 0 { 1 } else { -1 })],
        _ => numbers.iter().map(|&var| (var, rng.random_range(-2..=2))).collect(),
    }
}

/// Returns `at`, in which sometimes a variable of few values has another one.
fn flip_some_values(pool: &TermPool, vars: &[VarId], at: &Valuation, rng: &mut ChaCha8Rng) -> Valuation {
    let mut next = at.clone();
    for &var in vars {
        let sort = pool.var_info(var).sort;
        if sort.is_numeric() || rng.random_range(0..3) != 0 {
            continue;
        }
        let choices = pool.finite_domain(sort).unwrap_or_else(|| sample_texts(sort));
        if !choices.is_empty() {
            next.set(var, choices[rng.random_range(0..choices.len())].clone());
        }
    }
    next
}

/// Returns short strings to try.
fn sample_texts(sort: Sort) -> Vec<Value> {
    if sort == Sort::Str {
        ["", "a", "b", "ab", "0", "A", "hello"].map(Value::str).into()
    } else {
        Vec::new()
    }
}

/// Returns the number of steps along `direction` for which the facts hold, as found by doubling and halving.
fn count_valid_steps(
    pool: &TermPool,
    facts: &[Term],
    base: &Valuation,
    direction: &[(VarId, i64)],
    sign: i64,
) -> i64 {
    let fits = |length: i64| {
        move_along(pool, base, direction, sign * length).is_some_and(|it| do_facts_hold(pool, facts, &it))
    };
    if direction.is_empty() || !fits(1) {
        return 0;
    }
    let mut inside = 1;
    for _ in 0..MAX_DOUBLINGS {
        if !fits(inside * 2) {
            break;
        }
        inside *= 2;
    }
    // `inside` fits, and `outside` does not or was not tried. Where the facts have holes this finds some edge, not the
    // farthest.
    let mut outside = inside * 2;
    while outside - inside > 1 {
        let middle = inside + (outside - inside) / 2;
        *(if fits(middle) { &mut inside } else { &mut outside }) = middle;
    }
    inside
}

/// Returns `base` moved by `length` along `direction`; `None` if a value leaves its sort.
fn move_along(
    pool: &TermPool,
    base: &Valuation,
    direction: &[(VarId, i64)],
    length: i64,
) -> Option<Valuation> {
    let mut next = base.clone();
    for &(var, slope) in direction {
        let by = Int::from(slope) * Int::from(length);
        let value = match next.get(var)? {
            Value::Int(n) => Value::Int(n + &by),
            Value::Real(n) => Value::Real(n + half_of(&by)),
            other => other.clone(),
        };
        if !pool.has_sort(&value, pool.var_info(var).sort) {
            return None;
        }
        next.set(var, value);
    }
    Some(next)
}

/// Returns half of `n`: reals move in halves, so that they are readable and not all whole.
fn half_of(n: &Int) -> Rational {
    Rational::new(n.clone(), Int::from(2)).unwrap_or(Rational::ZERO)
}
