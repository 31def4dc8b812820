//! Simpler values for a value, of its own sort; nothing here knows of runs.
//!
//! *Promises.* Every value given is simpler by [`simplicity`], so a search that continues with one of them ends. The
//! list is short and starts with the simplest: a search that takes the first that fails gets there in few steps.
//! Numbers get the simplest ones, those at half of the way left again and again, and the next one; texts lose every
//! single letter, and every letter gets simpler.

use std::cmp::Ordering;

use ioxide_model::collection::{CollectionValue, Items};
use ioxide_model::number::{Int, Rational};
use ioxide_model::sort::Sort;
use ioxide_model::term::TermPool;
use ioxide_model::value::{DataValue, Value};

use super::order::simplicity;

/// So far from the simplest number all are given. Chosen by feel: off by one, and one more.
const NEAR: i64 = 2;
/// Items of a collection that are looked at one by one. Chosen by feel: every one is a run.
const MAX_ITEMS: usize = 64;
/// Letters of a text that are looked at one by one. Chosen by feel: every one is a run.
const MAX_LETTERS: usize = 64;

/// Simpler values of `sort` than `value`, simplest first.
pub(super) fn simpler(pool: &TermPool, sort: Sort, value: &Value) -> Vec<Value> {
    let candidates = match value {
        Value::Bool(_) => vec![Value::Bool(false)],
        Value::Int(n) => integers(pool, sort, n).into_iter().map(Value::Int).collect(),
        Value::Real(r) => rationals(pool, r).into_iter().map(Value::Real).collect(),
        Value::Str(text) => texts(text),
        Value::Data(data) => constructed(pool, data),
        Value::Collection(items) => collections(pool, items),
    };
    // Candidates are made freely and filtered here, so that the promise holds whatever the functions below return.
    let is_simpler = |other: &Value| simplicity(other, value) == Ordering::Less && pool.has_sort(other, sort);
    let mut simpler: Vec<Value> = candidates.into_iter().filter(is_simpler).collect();
    simpler.sort_by(simplicity);
    simpler.dedup();
    simpler
}

/// Returns numbers on the way to the simplest of the sort: half of the way is left each time.
fn integers(pool: &TermPool, sort: Sort, n: &Int) -> Vec<Int> {
    let Value::Int(origin) = pool.default_value(sort) else { return Vec::new() };
    let near = (-NEAR..=NEAR).map(|step| &origin + Int::from(step));
    let two = Int::from(2);
    let whole = n - &origin;
    let ways = std::iter::successors(Some(whole), |way| Some(toward_zero(way, &two)))
        .take_while(|way| !way.is_zero());
    // As a bisection would: if every number from a bound on fails, one of these is near the bound, and the next round
    // starts from it. The opposite number is one that people read more easily if `n` is negative.
    near.chain(ways.map(|way| n - &way)).chain([-n]).collect()
}

/// Returns `n` divided by `by`, rounded toward zero.
fn toward_zero(n: &Int, by: &Int) -> Int {
    let size = n.abs().div(by);
    if n.is_negative() { -&size } else { size }
}

/// Returns candidates for a real number: whole numbers, then halves and tenths.
fn rationals(pool: &TermPool, r: &Rational) -> Vec<Rational> {
    if r.is_integer() {
        return integers(pool, Sort::Int, r.numer()).into_iter().map(Rational::from).collect();
    }
    let cut = |parts: i64| {
        let parts = Rational::from(parts);
        Rational::from((r * &parts).floor()).div(&parts)
    };
    // Rounded to whole numbers, halves and tenths: shorter to read, and near enough to fail where the value does.
    vec![Rational::ZERO, Rational::from(1), cut(1), r.ceil().into(), cut(2), cut(10), -r]
}

/// Returns texts that are simpler: empty, halves, of one letter, without one letter.
fn texts(text: &str) -> Vec<Value> {
    let letters: Vec<char> = text.chars().collect();
    let half = letters.len() / 2;
    let mut texts = vec![Vec::new(), letters[..half].to_vec(), letters[half..].to_vec()];
    // The length alone may be what fails, or that there is a letter at all.
    texts.push(vec!['a'; letters.len()]);
    texts.push(vec!['a'; letters.len().min(1)]);
    for at in 0..letters.len().min(MAX_LETTERS) {
        let without = [&letters[..at], &letters[at + 1..]].concat();
        let mut plain = letters.clone();
        plain[at] = 'a';
        texts.extend([without, plain]);
    }
    texts.into_iter().map(|letters| Value::str(&letters.into_iter().collect::<String>())).collect()
}

/// Returns the constructors with the simplest fields, and the same constructor with a simpler field.
fn constructed(pool: &TermPool, value: &DataValue) -> Vec<Value> {
    let ctors = &pool.data(value.data).ctors;
    let made =
        |ctor: u32, args: Vec<Value>| Value::Data(DataValue { data: value.data, ctor, args: args.into() });
    let simplest = (0..).zip(ctors).map(|(ctor, shape)| {
        made(ctor, shape.fields.iter().map(|field| pool.default_value(field.sort)).collect())
    });
    let fields = ctors.get(value.ctor as usize).map_or(&[][..], |ctor| &ctor.fields);
    let same = value.args.iter().zip(fields).enumerate().flat_map(|(at, (arg, field))| {
        simpler(pool, field.sort, arg).into_iter().map(move |arg| {
            let mut args = value.args.to_vec();
            args[at] = arg;
            made(value.ctor, args)
        })
    });
    simplest.chain(same).collect()
}

/// Returns shorter collections, by halves and by single items, and those with one simpler item.
fn collections(pool: &TermPool, value: &CollectionValue) -> Vec<Value> {
    let of = pool.collection(value.sort);
    match &value.items {
        Items::List(items) | Items::Set(items) => {
            let items: Vec<Value> = items.iter().cloned().collect();
            let made = |items: Vec<Value>| {
                Value::Collection(match &value.items {
                    Items::Set(_) => CollectionValue::set(value.sort, items),
                    Items::List(_) | Items::Map(_) => CollectionValue::list(value.sort, items),
                })
            };
            let mut all: Vec<Value> = shorter(&items).into_iter().map(made).collect();
            for (at, item) in items.iter().enumerate().take(MAX_ITEMS) {
                all.extend(
                    simpler(pool, of.item, item).into_iter().map(|item| made(replaced(&items, at, item))),
                );
            }
            all
        }
        Items::Map(entries) => {
            let entries: Vec<(Value, Value)> = entries.iter().cloned().collect();
            let made = |entries| Value::Collection(CollectionValue::map(value.sort, entries));
            let mut all: Vec<Value> = shorter(&entries).into_iter().map(made).collect();
            for (at, (key, item)) in entries.iter().enumerate().take(MAX_ITEMS) {
                let values = simpler(pool, of.item, item).into_iter().map(|item| (key.clone(), item));
                let keys = simpler(pool, of.key, key).into_iter().map(|key| (key, item.clone()));
                all.extend(values.chain(keys).map(|entry| made(replaced(&entries, at, entry))));
            }
            all
        }
    }
}

/// Returns the list empty, its halves, and without each one of its items.
fn shorter<T: Clone>(items: &[T]) -> Vec<Vec<T>> {
    let half = items.len() / 2;
    let mut all = vec![Vec::new(), items[..half].to_vec(), items[half..].to_vec()];
    all.extend((0..items.len().min(MAX_ITEMS)).map(|at| [&items[..at], &items[at + 1..]].concat()));
    all
}

/// Returns `items` with another item at a position.
fn replaced<T: Clone>(items: &[T], at: usize, item: T) -> Vec<T> {
    let mut items = items.to_vec();
    items[at] = item;
    items
}
