//! Tokens: values that stand for "the value of one of these operations" in states.
//!
//! Token 3 for the second carried field is a value of the same sort that occurs nowhere else. States are *canonical*:
//! their tokens are numbered in the order in which they occur, so states that differ in nothing else are one.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use ioxide_model::collection::{CollectionValue, Items};
use ioxide_model::concrete::ConcreteState;
use ioxide_model::sort::Sort;
use ioxide_model::sts::Sts;
use ioxide_model::value::{DataValue, Value};

/// The first number that is a token: a number that no system has by chance. Histories with numbers from here on are
/// searched without tokens.
const FIRST: i64 = -6_148_914_691_236_517_206;

/// The number of codes for tokens that are numbers. An operation whose code would lie beyond them gets no
/// token.
const COUNT: i64 = 1 << 32;

/// The beginning of texts that are tokens: a character that is not text.
const MARK: char = '\u{10ffff}';

/// The greatest number of carried fields of an operation. Chosen by feel.
pub(crate) const MAX_FIELDS: usize = 8;

/// Returns token `number` for the carried field `field`; `None` for a sort that carries none.
pub(crate) fn token_value(sort: Sort, number: u32, field: usize) -> Option<Value> {
    // Number and field in one code, so that a value tells both without a table.
    let code = i64::from(number) * MAX_FIELDS as i64 + field as i64;
    match sort {
        Sort::Int if code < COUNT => Some(Value::int(FIRST + code)),
        Sort::Str => Some(Value::str(&format!("{MARK}{code}"))),
        _ => None,
    }
}

/// Returns the token and the field that a value stands for.
pub(crate) fn token_of(value: &Value) -> Option<(u32, usize)> {
    let code = match value {
        Value::Int(n) => n.to_i64()?.checked_sub(FIRST).filter(|code| (0..COUNT).contains(code))?,
        Value::Str(text) => text.strip_prefix(MARK)?.parse().ok()?,
        _ => return None,
    };
    let number = u32::try_from(code / MAX_FIELDS as i64).ok()?;
    Some((number, usize::try_from(code % MAX_FIELDS as i64).ok()?))
}

/// Returns whether a token is inside of a value.
pub(crate) fn has_token(value: &Value) -> bool {
    match value {
        Value::Data(data) => data.args.iter().any(has_token),
        Value::Collection(collection) => match &collection.items {
            Items::List(items) | Items::Set(items) => items.iter().any(has_token),
            Items::Map(items) => items.iter().any(|(key, value)| has_token(key) || has_token(value)),
        },
        value => token_of(value).is_some(),
    }
}

/// Returns the tokens of a state in the order in which they occur.
pub(crate) fn tokens_of(sts: &Sts, state: &ConcreteState) -> Vec<u32> {
    let mut found = Vec::new();
    for var in &sts.vars {
        if let Some(value) = state.values.get(var.var) {
            collect_tokens(value, &mut found);
        }
    }
    found
}

fn collect_tokens(value: &Value, found: &mut Vec<u32>) {
    match value {
        Value::Data(data) => data.args.iter().for_each(|inner| collect_tokens(inner, found)),
        Value::Collection(collection) => match &collection.items {
            Items::List(items) | Items::Set(items) => {
                items.iter().for_each(|item| collect_tokens(item, found))
            }
            // Keys are compared, so they are never carried and hold no tokens.
            Items::Map(items) => items.iter().for_each(|(_, value)| collect_tokens(value, found)),
        },
        value => {
            if let Some((token, _)) = token_of(value)
                && !found.contains(&token)
            {
                found.push(token);
            }
        }
    }
}

/// Returns the state with other values for its tokens.
pub(crate) fn replace_tokens(
    sts: &Sts,
    state: &ConcreteState,
    value: &dyn Fn(u32, usize, &Value) -> Value,
) -> ConcreteState {
    let mut replaced = state.clone();
    for var in &sts.vars {
        if let Some(held) = state.values.get(var.var) {
            let mut found = Vec::new();
            collect_tokens(held, &mut found);
            if !found.is_empty() {
                replaced.values.set(var.var, replace_in(held, value));
            }
        }
    }
    replaced
}

fn replace_in(held: &Value, value: &dyn Fn(u32, usize, &Value) -> Value) -> Value {
    match held {
        Value::Data(data) => {
            let args: Arc<[Value]> = data.args.iter().map(|inner| replace_in(inner, value)).collect();
            Value::Data(DataValue { data: data.data, ctor: data.ctor, args })
        }
        Value::Collection(collection) => {
            let items = match &collection.items {
                Items::List(items) => Items::List(items.iter().map(|item| replace_in(item, value)).collect()),
                Items::Set(items) => {
                    debug_assert!(
                        !items.iter().any(has_token),
                        "items of sets are compared and never carried"
                    );
                    Items::Set(items.clone())
                }
                Items::Map(items) => Items::Map(
                    items.iter().map(|(key, held)| (key.clone(), replace_in(held, value))).collect(),
                ),
            };
            Value::Collection(CollectionValue { sort: collection.sort, items })
        }
        plain => match token_of(plain) {
            Some((token, field)) => value(token, field, plain),
            None => plain.clone(),
        },
    }
}

/// The values that an answer shows of tokens.
pub(crate) type ShownValues = FxHashMap<(u32, usize), Value>;

/// Compares what the model answers with what was answered: returns the values of the tokens, `None` if the two differ
/// otherwise.
pub(crate) fn match_values(allowed: &[Value], seen: &[Value]) -> Option<ShownValues> {
    let mut shown = ShownValues::default();
    let is_equal = allowed.len() == seen.len()
        && allowed.iter().zip(seen).all(|(allowed, seen)| match_value(allowed, seen, &mut shown));
    is_equal.then_some(shown)
}

fn match_value(allowed: &Value, seen: &Value, shown: &mut ShownValues) -> bool {
    if let Some(token) = token_of(allowed) {
        // A token that is shown twice has one value.
        return shown.entry(token).or_insert_with(|| seen.clone()) == seen;
    }
    match (allowed, seen) {
        (Value::Data(allowed), Value::Data(seen)) => {
            (allowed.data, allowed.ctor, allowed.args.len()) == (seen.data, seen.ctor, seen.args.len())
                && allowed
                    .args
                    .iter()
                    .zip(seen.args.iter())
                    .all(|(one, other)| match_value(one, other, shown))
        }
        (Value::Collection(allowed), Value::Collection(seen)) => match (&allowed.items, &seen.items) {
            (Items::List(allowed), Items::List(seen)) => {
                allowed.len() == seen.len()
                    && allowed.iter().zip(seen.iter()).all(|(one, other)| match_value(one, other, shown))
            }
            (Items::Map(allowed), Items::Map(seen)) => {
                allowed.len() == seen.len()
                    && allowed.iter().zip(seen.iter()).all(|((key, one), (other_key, other))| {
                        key == other_key && match_value(one, other, shown)
                    })
            }
            (allowed, seen) => allowed == seen,
        },
        (allowed, seen) => allowed == seen,
    }
}
