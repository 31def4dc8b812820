//! Lists, sets and maps that provoke faults: empty, of one item, of many, with duplicates, and one change away from a
//! known one.

use rand::RngExt;
use rand::seq::IndexedRandom;
use rand_chacha::ChaCha8Rng;

use ioxide_model::collection::{CollectionValue, Items};
use ioxide_model::sort::{CollectionId, CollectionKind, Sort};
use ioxide_model::term::TermPool;
use ioxide_model::value::Value;

/// The number of items of a known collection that are values to draw near to. Chosen by feel: enough for the small
/// collections of tests.
const MAX_KNOWN_ITEMS: usize = 12;

/// Adds `value` and its parts to `found`: the first items of its collections, the last item of its lists, the fields of
/// its data.
pub(super) fn with_parts(value: &Value, found: &mut Vec<Value>) {
    found.push(value.clone());
    match value {
        Value::Data(data) => data.args.iter().for_each(|arg| with_parts(arg, found)),
        Value::Collection(items) => {
            let parts: Vec<&Value> = items.parts().take(MAX_KNOWN_ITEMS).collect();
            parts.into_iter().for_each(|part| with_parts(part, found));
            if let Some(last) = items.as_list().and_then(|list| list.get(list.len().wrapping_sub(1))) {
                with_parts(last, found);
            }
        }
        Value::Bool(_) | Value::Int(_) | Value::Real(_) | Value::Str(_) => {}
    }
}

/// Draws a number of items: mostly none to three, now and then up to 8 or, outside other values, up to 39.
fn length(rng: &mut ChaCha8Rng, depth: u32) -> usize {
    match rng.random_range(0..16u32) {
        0..=2 => 0,
        3..=6 => 1,
        7..=9 => 2,
        10..=12 => 3,
        13..=14 => rng.random_range(4..9),
        _ if depth == 0 => rng.random_range(9..40),
        _ => 1,
    }
}

/// Draws a collection of items from `item`; now and then an item occurs twice.
pub(super) fn draw_fresh(
    pool: &TermPool,
    rng: &mut ChaCha8Rng,
    sort: CollectionId,
    depth: u32,
    item: &mut dyn FnMut(&mut ChaCha8Rng, Sort) -> Value,
) -> Value {
    let of = pool.collection(sort);
    let n = if depth > 3 { 0 } else { length(rng, depth) };
    if of.kind == CollectionKind::Map {
        let entries: Vec<(Value, Value)> = (0..n).map(|_| (item(rng, of.key), item(rng, of.item))).collect();
        return Value::Collection(CollectionValue::map(sort, entries));
    }
    let mut items: Vec<Value> = Vec::with_capacity(n);
    for _ in 0..n {
        let again = rng.random_ratio(1, 5);
        let next = match items.choose(rng) {
            Some(known) if again => known.clone(),
            _ => item(rng, of.item),
        };
        items.push(next);
    }
    Value::Collection(match of.kind {
        CollectionKind::Set => CollectionValue::set(sort, items),
        CollectionKind::List | CollectionKind::Map => CollectionValue::list(sort, items),
    })
}

/// Draws a collection one change away from `base`: an item left out, repeated or moved, the rest cut off, or an item of
/// `other` added.
pub(super) fn draw_neighbour(
    rng: &mut ChaCha8Rng,
    base: &CollectionValue,
    other: Option<&CollectionValue>,
) -> Value {
    let other = other.filter(|other| other.sort == base.sort);
    Value::Collection(match (&base.items, other.map(|other| &other.items)) {
        (Items::List(items), other) => {
            let mut items: Vec<Value> = items.iter().cloned().collect();
            let more = match other {
                Some(Items::List(more)) => more.iter().cloned().collect(),
                _ => Vec::new(),
            };
            change_items(rng, &mut items, &more);
            CollectionValue::list(base.sort, items)
        }
        (Items::Set(items), other) => {
            let mut items: Vec<Value> = items.iter().cloned().collect();
            let more = match other {
                Some(Items::Set(more)) => more.iter().cloned().collect(),
                _ => Vec::new(),
            };
            change_items(rng, &mut items, &more);
            CollectionValue::set(base.sort, items)
        }
        (Items::Map(entries), other) => {
            let mut entries: Vec<(Value, Value)> = entries.iter().cloned().collect();
            let more = match other {
                Some(Items::Map(more)) => more.iter().cloned().collect(),
                _ => Vec::new(),
            };
            change_items(rng, &mut entries, &more);
            CollectionValue::map(base.sort, entries)
        }
    })
}

/// Changes a list at random: drops, repeats, swaps, replaces or adds an item.
fn change_items<T: Clone>(rng: &mut ChaCha8Rng, items: &mut Vec<T>, more: &[T]) {
    let at = if items.is_empty() { 0 } else { rng.random_range(0..items.len()) };
    match rng.random_range(0..6u32) {
        0 if !items.is_empty() => drop(items.remove(at)),
        1 if !items.is_empty() => items.push(items[at].clone()),
        2 if !items.is_empty() => {
            let last = items.len() - 1;
            items.swap(at, last);
        }
        3 => items.extend(more.choose(rng).cloned()),
        4 => items.truncate(at),
        _ => {}
    }
}
