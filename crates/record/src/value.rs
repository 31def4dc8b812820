//! Values and labels in JSON, and back.
//!
//! | sort | JSON |
//! | --- | --- |
//! | bool, string | `true`, `"text"` |
//! | int, range | a number of any size, exact |
//! | real | a number if its decimals end, else a string such as `"1/3"` |
//! | enum | its name as a string; with fields `{"Name": {"field": ..}}` |
//! | record | an object |
//! | option | `null` or the value; `{"some": ..}` where the value is an option itself |
//! | list, set | an array; of a set without duplicates |
//! | map | an object if its keys are strings or plain enums, else an array of pairs |
//!
//! *Promises.* Reading what was written gives the same value. Reading looks at the shape
//! only: a number outside its range is a value the monitor can judge, not a broken message.

mod collection;
pub(crate) mod error;
mod label;
#[cfg(test)]
mod tests;

use ioxide_model::number::{Int, Rational};
use ioxide_model::sort::{Constructor, DataField, DataId, DataKind, Sort};
use ioxide_model::term::TermPool;
use ioxide_model::value::{DataValue, Value};
use serde_json::{Map, Number, Value as Json};

use crate::limits::{Excess, max_digits};

pub use self::collection::is_member_name;
pub use self::error::{CodecError, JsonProblem};
pub use self::label::{WireMessage, args_to_json, label_from_json, label_to_json};

/// `value` in JSON.
#[must_use]
pub fn value_to_json(pool: &TermPool, value: &Value) -> Json {
    match value {
        Value::Bool(b) => Json::Bool(*b),
        Value::Int(n) => json_number(&n.to_string()),
        Value::Real(r) => json_number(&r.to_string()),
        Value::Str(text) => Json::String(text.to_string()),
        Value::Data(value) => data_to_json(pool, value),
        Value::Collection(value) => collection::collection_to_json(pool, value),
    }
}

/// The value of `sort` that `json` writes, its range not checked.
///
/// # Errors
/// If `json` has another shape; the error names the place inside.
pub fn value_from_json(pool: &TermPool, sort: Sort, json: &Json) -> Result<Value, CodecError> {
    let expected =
        || CodecError::new(JsonProblem::Shape { expected: pool.show_sort(sort), found: shorten_json(json) });
    match (sort, json) {
        (Sort::Bool, Json::Bool(b)) => Ok(Value::Bool(*b)),
        (Sort::Int | Sort::Range { .. }, Json::Number(n)) => {
            as_integer(&number_of(n)?).map(Value::Int).ok_or_else(expected)
        }
        (Sort::Real, Json::Number(n)) => number_of(n).map(Value::Real),
        (Sort::Real, Json::String(text)) => {
            check_digits(text)?.parse().map(Value::Real).map_err(|_| expected())
        }
        (Sort::Str, Json::String(text)) => Ok(Value::str(text)),
        (Sort::Data(data), _) => data_from_json(pool, data, json),
        (Sort::Collection(id), _) => collection::from_json(pool, id, json),
        _ => Err(expected()),
    }
}

/// The JSON number written `text`; a fraction, which JSON lacks, stays a string.
fn json_number(text: &str) -> Json {
    text.parse::<Number>().map_or_else(|_| Json::String(text.to_owned()), Json::Number)
}

/// Returns the number that JSON writes; a number that cannot be read exceeds the limit of digits.
fn number_of(n: &Number) -> Result<Rational, CodecError> {
    let too_long = |_| CodecError::new(JsonProblem::Excess(Excess::digits()));
    check_digits(&n.to_string())?.parse().map_err(too_long)
}

/// Returns `text`, the digits of a number, unless it is too long to be read in reasonable time.
///
/// # Errors
/// If there are more digits than [`max_digits`] allows.
pub fn check_digits(text: &str) -> Result<&str, CodecError> {
    if text.len() <= max_digits() {
        Ok(text)
    } else {
        Err(CodecError::new(JsonProblem::Excess(Excess::digits())))
    }
}

/// Returns a number as an integer, if it is one.
fn as_integer(value: &Rational) -> Option<Int> {
    value.is_integer().then(|| value.numer().clone())
}

fn data_to_json(pool: &TermPool, value: &DataValue) -> Json {
    let data = pool.data(value.data);
    let Some(ctor) = data.ctors.get(value.ctor as usize) else { return Json::Null };
    match data.kind {
        DataKind::Record => fields_to_json(pool, ctor, value),
        DataKind::Option => match &*value.args {
            [] => Json::Null,
            [inner, ..] => some_to_json(pool, ctor, inner),
        },
        DataKind::Enum if ctor.fields.is_empty() => Json::String(ctor.name.to_string()),
        DataKind::Enum => wrap_in_object(&ctor.name, fields_to_json(pool, ctor, value)),
    }
}

fn fields_to_json(pool: &TermPool, ctor: &Constructor, value: &DataValue) -> Json {
    let field = |(field, arg): (&DataField, &Value)| (field.name.to_string(), value_to_json(pool, arg));
    Json::Object(ctor.fields.iter().zip(&*value.args).map(field).collect())
}

fn some_to_json(pool: &TermPool, ctor: &Constructor, inner: &Value) -> Json {
    let json = value_to_json(pool, inner);
    match ctor.fields.first() {
        Some(field) if is_option(pool, field.sort) => wrap_in_object(&ctor.name, json),
        _ => json,
    }
}

/// Returns the object with `json` as its only member, called `name`.
#[must_use]
pub fn wrap_in_object(name: &str, json: Json) -> Json {
    Json::Object(Map::from_iter([(name.to_owned(), json)]))
}

/// Returns whether values of `sort` are options.
#[must_use]
pub fn is_option(pool: &TermPool, sort: Sort) -> bool {
    matches!(sort, Sort::Data(data) if pool.data(data).kind == DataKind::Option)
}

fn data_from_json(pool: &TermPool, data: DataId, json: &Json) -> Result<Value, CodecError> {
    match pool.data(data).kind {
        DataKind::Record => construct(pool, data, 0, json),
        DataKind::Option => option_from_json(pool, data, json),
        DataKind::Enum => enum_from_json(pool, data, json),
    }
}

fn option_from_json(pool: &TermPool, data: DataId, json: &Json) -> Result<Value, CodecError> {
    let made = |ctor, args: Vec<Value>| Ok(Value::Data(DataValue { data, ctor, args: args.into() }));
    let fields = pool.data(data).ctors.get(1).map_or(&[][..], |some| &some.fields);
    let (Some(field), false) = (fields.first(), json.is_null()) else { return made(0, Vec::new()) };
    if !is_option(pool, field.sort) {
        return made(1, vec![value_from_json(pool, field.sort, json)?]);
    }
    match json.as_object().filter(|object| object.len() == 1).and_then(|object| object.get("some")) {
        Some(inner) => {
            made(1, vec![value_from_json(pool, field.sort, inner).map_err(|e| e.with_place("some"))?])
        }
        None => Err(data_mismatch(pool, data, json)),
    }
}

fn enum_from_json(pool: &TermPool, data: DataId, json: &Json) -> Result<Value, CodecError> {
    let (name, fields) = match json {
        Json::String(name) => (name, None),
        Json::Object(object) => match object.iter().next() {
            Some((name, fields)) if object.len() == 1 => (name, Some(fields)),
            _ => return Err(data_mismatch(pool, data, json)),
        },
        _ => return Err(data_mismatch(pool, data, json)),
    };
    let ctors = &pool.data(data).ctors;
    let Some(ctor) = ctors.iter().position(|ctor| *ctor.name == **name) else {
        let names = ctors.iter().map(|ctor| ctor.name.to_string()).collect();
        return Err(CodecError::new(JsonProblem::NoSuchName { found: name.clone(), names }));
    };
    let nothing = Json::Object(Map::new());
    construct(pool, data, ctor, fields.unwrap_or(&nothing)).map_err(|error| error.inside_if(fields, name))
}

/// Constructor `ctor` of `data` with the fields of the object `json`.
fn construct(pool: &TermPool, data: DataId, ctor: usize, json: &Json) -> Result<Value, CodecError> {
    let Json::Object(object) = json else { return Err(data_mismatch(pool, data, json)) };
    let fields = &pool.data(data).ctors[ctor].fields;
    let sorts = fields.iter().map(|field| (&*field.name, field.sort));
    let args = named_values(pool, sorts, object)?;
    let ctor = u32::try_from(ctor).map_err(|_| data_mismatch(pool, data, json))?;
    Ok(Value::Data(DataValue { data, ctor, args: args.into() }))
}

/// Returns the values of `object` in the order of `fields`; fails if a field is missing or unknown.
fn named_values<'a>(
    pool: &TermPool,
    fields: impl Iterator<Item = (&'a str, Sort)>,
    object: &Map<String, Json>,
) -> Result<Vec<Value>, CodecError> {
    let mut values = Vec::new();
    let mut names = Vec::new();
    for (name, sort) in fields {
        let json =
            object.get(name).ok_or_else(|| CodecError::new(JsonProblem::MissingField(name.to_owned())))?;
        values.push(value_from_json(pool, sort, json).map_err(|error| error.with_place(name))?);
        names.push(name);
    }
    match object.keys().find(|key| !names.contains(&key.as_str())) {
        Some(extra) => Err(CodecError::new(JsonProblem::UnknownField(extra.clone()))),
        None => Ok(values),
    }
}

/// Returns the error about JSON that is no value of the type.
fn data_mismatch(pool: &TermPool, data: DataId, json: &Json) -> CodecError {
    CodecError::new(JsonProblem::Shape {
        expected: pool.show_sort(Sort::Data(data)),
        found: shorten_json(json),
    })
}

/// `json` as text, cut where it gets long.
#[must_use]
pub fn shorten_json(json: &Json) -> String {
    crate::line::cut(&json.to_string(), 60)
}
