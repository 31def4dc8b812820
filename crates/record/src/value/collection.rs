//! Lists, sets and maps in JSON.

use ioxide_model::collection::{CollectionValue, Items};
use ioxide_model::sort::{CollectionId, CollectionKind, CollectionSort, Sort};
use ioxide_model::term::TermPool;
use ioxide_model::value::Value;
use serde_json::{Map, Value as Json};

use super::{CodecError, JsonProblem, shorten_json, value_from_json, value_to_json};
use crate::limits::{Excess, max_items};

/// `value` in JSON.
pub(super) fn collection_to_json(pool: &TermPool, value: &CollectionValue) -> Json {
    match &value.items {
        Items::List(items) | Items::Set(items) => {
            Json::Array(items.iter().map(|item| value_to_json(pool, item)).collect())
        }
        Items::Map(entries) if is_member_name(pool, pool.collection(value.sort).key) => {
            let entry = |(key, item): &(Value, Value)| match value_to_json(pool, key) {
                Json::String(name) => (name, value_to_json(pool, item)),
                other => (other.to_string(), value_to_json(pool, item)),
            };
            Json::Object(entries.iter().map(entry).collect())
        }
        Items::Map(entries) => {
            let entry = |(key, item): &(Value, Value)| {
                Json::Array(vec![value_to_json(pool, key), value_to_json(pool, item)])
            };
            Json::Array(entries.iter().map(entry).collect())
        }
    }
}

/// Returns whether values of `sort` are strings in JSON, so that they can be member names of an object.
#[must_use]
pub fn is_member_name(pool: &TermPool, sort: Sort) -> bool {
    match sort {
        Sort::Str => true,
        Sort::Data(data) => pool.data(data).is_enumeration(),
        _ => false,
    }
}

/// The collection that `json` writes.
pub(super) fn from_json(pool: &TermPool, id: CollectionId, json: &Json) -> Result<Value, CodecError> {
    let of = pool.collection(id);
    let found = json.as_array().map_or_else(|| json.as_object().map_or(0, Map::len), Vec::len);
    let limit = max_items();
    if found > limit {
        return Err(CodecError::new(JsonProblem::Excess(Excess::Items { found, limit })));
    }
    match (of.kind, json) {
        (CollectionKind::List, Json::Array(items)) => {
            Ok(Value::Collection(CollectionValue::list(id, items_from_json(pool, of.item, items)?)))
        }
        (CollectionKind::Set, Json::Array(items)) => {
            let set = CollectionValue::set(id, items_from_json(pool, of.item, items)?);
            if set.len() < items.len() {
                return Err(CodecError::new(JsonProblem::Twice("an item of a set".into())));
            }
            Ok(Value::Collection(set))
        }
        (CollectionKind::Map, _) => map_from_json(pool, id, of, json),
        _ => Err(collection_mismatch(pool, id, json)),
    }
}

/// Reads all items; an error names the position.
fn items_from_json(pool: &TermPool, sort: Sort, items: &[Json]) -> Result<Vec<Value>, CodecError> {
    let item = |(at, item): (usize, &Json)| {
        value_from_json(pool, sort, item).map_err(|error| error.with_place(&at.to_string()))
    };
    (0..items.len()).zip(items).map(item).collect()
}

fn map_from_json(
    pool: &TermPool,
    id: CollectionId,
    of: CollectionSort,
    json: &Json,
) -> Result<Value, CodecError> {
    let entries = match json {
        Json::Object(object) if is_member_name(pool, of.key) => {
            let entry = |(name, item): (&String, &Json)| {
                let key = value_from_json(pool, of.key, &Json::String(name.clone()))?;
                Ok((key, value_from_json(pool, of.item, item).map_err(|error| error.with_place(name))?))
            };
            object.iter().map(entry).collect::<Result<Vec<_>, CodecError>>()?
        }
        Json::Array(pairs) => {
            let entry = |pair: &Json| match pair.as_array().map(Vec::as_slice) {
                Some([key, item]) => {
                    Ok((value_from_json(pool, of.key, key)?, value_from_json(pool, of.item, item)?))
                }
                _ => Err(collection_mismatch(pool, id, pair)),
            };
            pairs.iter().map(entry).collect::<Result<Vec<_>, CodecError>>()?
        }
        _ => return Err(collection_mismatch(pool, id, json)),
    };
    let n = entries.len();
    let map = CollectionValue::map(id, entries);
    if map.len() < n {
        return Err(CodecError::new(JsonProblem::Twice("a key of a map".into())));
    }
    Ok(Value::Collection(map))
}

/// Returns the error about JSON that is no value of the collection.
fn collection_mismatch(pool: &TermPool, id: CollectionId, json: &Json) -> CodecError {
    CodecError::new(JsonProblem::Shape {
        expected: pool.show_sort(Sort::Collection(id)),
        found: shorten_json(json),
    })
}
