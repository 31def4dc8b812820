//! Random values: of a sort, near values of interest, in random patterns of equality.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use ioxide_model::number::{Int, Rational};
use ioxide_model::sort::Sort;
use ioxide_model::term::{Node, TermPool, VarId};
use ioxide_model::valuation::Valuation;
use ioxide_model::value::{DataValue, Value};

use super::Wish;

/// `fixed` with a random value for every field of `open`.
pub(super) fn draw(
    pool: &TermPool,
    rng: &mut ChaCha8Rng,
    open: &[VarId],
    fixed: &Valuation,
    wish: &Wish<'_>,
) -> Valuation {
    let interesting = interesting(pool, wish);
    let mut drawn = fixed.clone();
    let mut groups: Vec<(Sort, Vec<Value>)> = Vec::new();
    for &field in open {
        let sort = pool.var_info(field).sort;
        let at = groups.iter().position(|(base, _)| *base == sort.base()).unwrap_or_else(|| {
            groups.push((sort.base(), Vec::new()));
            groups.len() - 1
        });
        let group = &mut groups[at].1;
        let chosen = rng.random_range(0..=group.len());
        if chosen == group.len() {
            group.push(any_value(pool, rng, sort, &interesting));
        }
        drawn.set(field, group[chosen].clone());
    }
    drawn
}

/// The constants of the guard and the values of the state.
fn interesting(pool: &TermPool, wish: &Wish<'_>) -> Vec<Value> {
    let constant = |term| if let Node::Value(value) = pool.node(term) { Some(value.clone()) } else { None };
    let mut found: Vec<Value> =
        pool.subterms(&[wish.guard], |_| true).into_iter().filter_map(constant).collect();
    found.extend(wish.state.iter().map(|(_, value)| value.clone()));
    found
}

/// A random value of `sort`: one of `interesting` or beside it half of the time, if any is of that sort.
pub fn any_value(pool: &TermPool, rng: &mut ChaCha8Rng, sort: Sort, interesting: &[Value]) -> Value {
    if rng.random_bool(0.5) {
        let fitting: Vec<&Value> =
            interesting.iter().filter(|value| value.base_sort() == sort.base()).collect();
        if !fitting.is_empty() {
            let chosen = fitting[rng.random_range(0..fitting.len())];
            let near = beside(rng, chosen);
            if pool.has_sort(&near, sort) {
                return near;
            }
        }
    }
    plain(pool, rng, sort)
}

/// `value` or, if it is a number, one of its neighbours.
fn beside(rng: &mut ChaCha8Rng, value: &Value) -> Value {
    let step = rng.random_range(-1..=1i64);
    match value {
        Value::Int(n) => Value::Int(n.add(&Int::from(step))),
        Value::Real(r) => Value::Real(r.add(&Rational::from(step))),
        Value::Bool(_) | Value::Str(_) | Value::Data(_) => value.clone(),
    }
}

fn plain(pool: &TermPool, rng: &mut ChaCha8Rng, sort: Sort) -> Value {
    match sort {
        Sort::Bool => Value::Bool(rng.random()),
        Sort::Int => Value::int(small_or_large(rng)),
        Sort::Range { lo, hi } => in_range(rng, lo, hi),
        Sort::Real => {
            let denom = [1, 1, 2, 10][rng.random_range(0..4usize)];
            let number = Rational::new(Int::from(small_or_large(rng)), Int::from(denom));
            Value::Real(number.unwrap_or(Rational::ZERO))
        }
        Sort::Str => Value::str(&text(rng)),
        Sort::Data(data) => {
            let ctors = &pool.data(data).ctors;
            let ctor = rng.random_range(0..ctors.len());
            let args = ctors[ctor].fields.iter().map(|field| plain(pool, rng, field.sort)).collect();
            Value::Data(DataValue { data, ctor: u32::try_from(ctor).unwrap_or(0), args })
        }
    }
}

/// Mostly -4..=12, now and then of any magnitude up to 2^40.
fn small_or_large(rng: &mut ChaCha8Rng) -> i64 {
    if rng.random_ratio(7, 8) {
        return rng.random_range(-4..=12);
    }
    let magnitude = 1i64 << rng.random_range(4..40u32);
    rng.random_range(-magnitude..=magnitude)
}

/// An end of the range one time in four, else anywhere in it.
fn in_range(rng: &mut ChaCha8Rng, lo: i64, hi: i64) -> Value {
    let hi = hi.max(lo);
    Value::int(match rng.random_range(0..8u32) {
        0 => lo,
        1 => hi,
        _ => rng.random_range(lo..=hi),
    })
}

/// Up to six characters of a small alphabet, so that equal and related texts come up.
fn text(rng: &mut ChaCha8Rng) -> String {
    const ALPHABET: [char; 8] = ['a', 'b', 'c', 'A', '0', '1', ' ', 'é'];
    let length = rng.random_range(0..=6usize);
    (0..length).map(|_| ALPHABET[rng.random_range(0..ALPHABET.len())]).collect()
}
