//! The JSON of a system where it is not the JSON of the protocol: other names, members that may be missing, values
//! without the name of their case.
//!
//! *Promises.* Reading what was written gives the same value, as long as no two cases of an untagged enum have the same
//! JSON. Reading looks at the shape only, as everywhere.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};

use ioxide_model::collection::Items;
use ioxide_model::number::Rational;
use ioxide_model::sort::{CollectionKind, Constructor, DataField, DataId, DataKind, DataSort, Sort};
use ioxide_model::sts::Model;
use ioxide_model::term::TermPool;
use ioxide_model::value::{DataValue, Value};
use serde_json::{Map, Value as Json};
use thiserror::Error;

use super::{CodecError, JsonProblem, collection, is_option, short, shown, value_from_json, value_to_json};
use crate::limits::Excess;

/// The JSON form of the types of a model, as configured. A place is `RECORD.FIELD`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JsonFormConfig {
    /// Members that no record has are let through, and options may be missing or `null`.
    pub open: bool,
    /// Records that have their members and no others all the same.
    pub closed: Vec<String>,
    /// Enums whose cases have one field and are written as its value alone.
    pub untagged: Vec<String>,
    /// Records of one string that stand for any JSON, by its text.
    pub text: Vec<String>,
    /// Places of options that are missing where they are `none`, and never `null`.
    pub absent: Vec<String>,
    /// Places of options that are `null` where they are `none`, and never missing.
    pub null: Vec<String>,
    /// Places and the names of their members.
    pub names: Vec<(String, String)>,
    /// Cases of enums and the JSON they are written as.
    pub cases: Vec<(String, String)>,
}

/// The number of attempts to recognise untagged cases in one value.
const MAX_TRIES: usize = 100_000;

/// A name or a text in a [`JsonFormConfig`] that means nothing.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum BadJsonForm {
    /// The model has no such record, enum, field or case.
    #[error("the model has no {kind} `{name}`")]
    Unknown {
        /// The kind of the name: a record, an enum, a field or a case.
        kind: &'static str,
        /// The name.
        name: String,
    },
    /// An untagged case has not just one field, or a record for any JSON has not just one string.
    #[error("`{0}` must have one field{1}")]
    NotOneField(String, &'static str),
    /// The text of a case is no JSON.
    #[error("`{0}` is written as `{1}`, which is no JSON")]
    NoJson(String, String),
}

/// The JSON form of the values of a model.
#[derive(Clone, Debug, Default)]
pub struct JsonForm {
    is_open: bool,
    closed: BTreeSet<String>,
    untagged: BTreeSet<String>,
    text: BTreeSet<String>,
    absent: BTreeSet<String>,
    null: BTreeSet<String>,
    names: BTreeMap<String, String>,
    cases: BTreeMap<String, Json>,
}

impl JsonForm {
    /// Reads a description, whose names must be those of `model`.
    ///
    /// # Errors
    /// The first name or text that means nothing.
    pub fn new(config: &JsonFormConfig, model: &Model) -> Result<Self, BadJsonForm> {
        check_names(config, &model.pool)?;
        let set = |names: &[String]| names.iter().cloned().collect();
        let case = |(name, text): &(String, String)| {
            let json =
                serde_json::from_str(text).map_err(|_| BadJsonForm::NoJson(name.clone(), text.clone()));
            json.map(|json| (name.clone(), json))
        };
        Ok(Self {
            is_open: config.open,
            closed: set(&config.closed),
            untagged: set(&config.untagged),
            text: set(&config.text),
            absent: set(&config.absent),
            null: set(&config.null),
            names: config.names.iter().cloned().collect(),
            cases: config.cases.iter().map(case).collect::<Result<_, _>>()?,
        })
    }

    /// `value` in JSON.
    #[must_use]
    pub fn write(&self, pool: &TermPool, value: &Value) -> Json {
        match value {
            Value::Data(data) => self.write_data(pool, data),
            Value::Collection(items) => match &items.items {
                Items::List(all) | Items::Set(all) => {
                    Json::Array(all.iter().map(|item| self.write(pool, item)).collect())
                }
                Items::Map(entries) if collection::is_name(pool, pool.collection(items.sort).key) => {
                    let entry = |(key, item): &(Value, Value)| (self.key(pool, key), self.write(pool, item));
                    Json::Object(entries.iter().map(entry).collect())
                }
                Items::Map(_) => value_to_json(pool, value),
            },
            other => value_to_json(pool, other),
        }
    }

    /// The value of `sort` that `json` writes, its range not checked.
    ///
    /// # Errors
    /// If `json` has another shape; the error names the place inside.
    pub fn read(&self, pool: &TermPool, sort: Sort, json: &Json) -> Result<Value, CodecError> {
        let reading = FormReading { form: self, tries: Cell::new(0) };
        value_from_json(pool, sort, &reading.normal(pool, sort, json)?)
    }

    fn key(&self, pool: &TermPool, key: &Value) -> String {
        match self.write(pool, key) {
            Json::String(name) => name,
            other => other.to_string(),
        }
    }

    fn write_data(&self, pool: &TermPool, value: &DataValue) -> Json {
        let data = pool.data(value.data);
        let Some(ctor) = data.ctors.get(value.ctor as usize) else { return Json::Null };
        match (data.kind, &*value.args) {
            (DataKind::Option, [inner, ..]) if !matches!(inner, Value::Data(inner) if pool.data(inner.data).kind == DataKind::Option) => {
                self.write(pool, inner)
            }
            (DataKind::Record, [Value::Str(text)]) if self.text.contains(&*data.name) => {
                serde_json::from_str(text).unwrap_or_else(|_| Json::String(text.to_string()))
            }
            (DataKind::Record, args) => Json::Object(
                ctor.fields
                    .iter()
                    .zip(args)
                    .filter_map(|(field, arg)| self.member(pool, data, field, arg))
                    .collect(),
            ),
            (DataKind::Enum, [inner]) if self.untagged.contains(&*data.name) => self.write(pool, inner),
            (DataKind::Enum, []) => {
                let written = self.cases.get(&*ctor.name).cloned();
                written.unwrap_or_else(|| value_to_json(pool, &Value::Data(value.clone())))
            }
            _ => value_to_json(pool, &Value::Data(value.clone())),
        }
    }

    /// Returns the member of a record for a field; `None` for an option that is `none`, unless it is written as `null`.
    fn member(
        &self,
        pool: &TermPool,
        data: &DataSort,
        field: &DataField,
        value: &Value,
    ) -> Option<(String, Json)> {
        let place = format!("{}.{}", data.name, field.name);
        let is_none =
            is_option(pool, field.sort) && matches!(value, Value::Data(value) if value.args.is_empty());
        let is_left_out = self.absent.contains(&place) || self.is_open && !self.null.contains(&place);
        let name = self.names.get(&place).cloned().unwrap_or_else(|| field.name.to_string());
        (!is_none || !is_left_out).then(|| (name, self.write(pool, value)))
    }
}

/// A value on its way through a form.
struct FormReading<'f> {
    form: &'f JsonForm,
    /// The number of attempts to recognise an untagged case so far; cases may be nested, so attempts multiply.
    tries: Cell<usize>,
}

impl FormReading<'_> {
    /// Returns `json` in the form of the protocol.
    fn normal(&self, pool: &TermPool, sort: Sort, json: &Json) -> Result<Json, CodecError> {
        match (sort, json) {
            (Sort::Data(id), _) => self.normal_data(pool, id, json),
            (Sort::Collection(id), Json::Array(items)) if pool.collection(id).kind != CollectionKind::Map => {
                let item = |(at, item): (usize, &Json)| {
                    let item = self.normal(pool, pool.collection(id).item, item);
                    item.map_err(|error| error.inside(&at.to_string()))
                };
                items.iter().enumerate().map(item).collect::<Result<_, _>>().map(Json::Array)
            }
            (Sort::Collection(id), Json::Object(entries))
                if pool.collection(id).kind == CollectionKind::Map =>
            {
                let of = pool.collection(id);
                let entry = |(name, item): (&String, &Json)| {
                    let key = match self.normal(pool, of.key, &Json::String(name.clone()))? {
                        Json::String(key) => key,
                        other => other.to_string(),
                    };
                    Ok((key, self.normal(pool, of.item, item).map_err(|error| error.inside(name))?))
                };
                entries.iter().map(entry).collect::<Result<_, CodecError>>().map(Json::Object)
            }
            _ => Ok(json.clone()),
        }
    }

    fn normal_data(&self, pool: &TermPool, id: DataId, json: &Json) -> Result<Json, CodecError> {
        let data = pool.data(id);
        let Some(first) = data.ctors.first() else { return Ok(json.clone()) };
        match (data.kind, json) {
            (DataKind::Option, Json::Null) => Ok(Json::Null),
            (DataKind::Option, _) => match data.ctors.get(1).and_then(|some| some.fields.first()) {
                Some(field) if !is_option(pool, field.sort) => self.normal(pool, field.sort, json),
                _ => Ok(json.clone()),
            },
            (DataKind::Record, _) if self.form.text.contains(&*data.name) => {
                let name = first.fields.first().map(|field| field.name.to_string()).unwrap_or_default();
                Ok(Json::Object(Map::from_iter([(name, Json::String(json.to_string()))])))
            }
            (DataKind::Record, Json::Object(members)) => self.normal_record(pool, data, first, members),
            (DataKind::Record, _) => Ok(json.clone()),
            (DataKind::Enum, _) if self.form.untagged.contains(&*data.name) => {
                self.untagged_case(pool, id, json)
            }
            (DataKind::Enum, _) => self.named_case(data, json),
        }
    }

    fn normal_record(
        &self,
        pool: &TermPool,
        data: &DataSort,
        ctor: &Constructor,
        members: &Map<String, Json>,
    ) -> Result<Json, CodecError> {
        let mut normal = Map::new();
        let mut known = BTreeSet::new();
        for field in &ctor.fields {
            let place = format!("{}.{}", data.name, field.name);
            let name = self.form.names.get(&place).map_or(&*field.name, String::as_str);
            known.insert(name.to_owned());
            let may_miss = is_option(pool, field.sort) && !self.form.null.contains(&place);
            let value = match members.get(name) {
                None if may_miss && (self.form.is_open || self.form.absent.contains(&place)) => Json::Null,
                None => return Err(CodecError::new(JsonProblem::MissingField(name.to_owned()))),
                Some(Json::Null) if self.form.absent.contains(&place) => {
                    let expected = pool.show_sort(field.sort).trim_end_matches('?').to_owned();
                    let problem = JsonProblem::Shape { expected, found: "null".into() };
                    return Err(CodecError::new(problem).inside(name));
                }
                Some(found) => self.normal(pool, field.sort, found).map_err(|error| error.inside(name))?,
            };
            normal.insert(field.name.to_string(), value);
        }
        let lets_through = self.form.is_open && !self.form.closed.contains(&*data.name);
        match members.keys().find(|key| !lets_through && !known.contains(*key)) {
            Some(extra) => Err(CodecError::new(JsonProblem::UnknownField(extra.clone()))),
            None => Ok(Json::Object(normal)),
        }
    }

    /// The first case that `json` has the shape of.
    fn untagged_case(&self, pool: &TermPool, id: DataId, json: &Json) -> Result<Json, CodecError> {
        let data = pool.data(id);
        self.tries.set(self.tries.get() + 1);
        if self.tries.get() > MAX_TRIES {
            return Err(CodecError::new(JsonProblem::Excess(Excess::Tries { limit: MAX_TRIES })));
        }
        for ctor in &data.ctors {
            let Some(field) = ctor.fields.first() else {
                if self.form.cases.get(&*ctor.name).is_some_and(|written| is_same(written, json)) {
                    return Ok(Json::String(ctor.name.to_string()));
                }
                continue;
            };
            let inner = self.normal(pool, field.sort, json);
            let inner = inner.and_then(|inner| value_from_json(pool, field.sort, &inner).map(|_| inner));
            match inner {
                Ok(inner) => {
                    let fields = Json::Object(Map::from_iter([(field.name.to_string(), inner)]));
                    return Ok(Json::Object(Map::from_iter([(ctor.name.to_string(), fields)])));
                }
                // It may be this case: what is not read is not another one.
                Err(excess @ CodecError { problem: JsonProblem::Excess(_), .. }) => return Err(excess),
                Err(_) => (),
            }
        }
        let problem = JsonProblem::Shape { expected: pool.show_sort(Sort::Data(id)), found: shown(json) };
        Err(CodecError::new(problem))
    }

    /// Returns the case that is written `json`, if cases have notations of their own.
    fn named_case(&self, data: &DataSort, json: &Json) -> Result<Json, CodecError> {
        let written = |ctor: &&Constructor| self.form.cases.get(&*ctor.name);
        if !data.ctors.iter().any(|ctor| written(&ctor).is_some()) {
            return Ok(json.clone());
        }
        match data.ctors.iter().find(|ctor| written(ctor).is_some_and(|written| is_same(written, json))) {
            Some(ctor) => Ok(Json::String(ctor.name.to_string())),
            None => {
                let names =
                    data.ctors.iter().map(|ctor| written(&ctor).map_or_else(|| ctor.name.to_string(), plain));
                let found = plain(json);
                Err(CodecError::new(JsonProblem::NoSuchName { found, names: names.collect() }))
            }
        }
    }
}

/// Text as it is, anything else as JSON.
fn plain(json: &Json) -> String {
    json.as_str().map_or_else(|| shown(json), str::to_owned)
}

/// Returns whether two JSON values are equal; numbers are compared by value, not by notation.
fn is_same(one: &Json, other: &Json) -> bool {
    match (one, other) {
        (Json::Number(one), Json::Number(other)) => {
            let number = |text: String| short(&text).ok().and_then(|text| text.parse::<Rational>().ok());
            match (number(one.to_string()), number(other.to_string())) {
                (Some(one), Some(other)) => one == other,
                _ => one == other,
            }
        }
        _ => one == other,
    }
}

fn check_names(config: &JsonFormConfig, pool: &TermPool) -> Result<(), BadJsonForm> {
    let of_kind = |name: &str, kind: DataKind| {
        pool.data_types().map(|(_, data)| data).find(|data| data.kind == kind && *data.name == *name)
    };
    let unknown = |kind, name: &str| BadJsonForm::Unknown { kind, name: name.to_owned() };
    for name in config.closed.iter().chain(&config.text) {
        let record = of_kind(name, DataKind::Record).ok_or_else(|| unknown("record", name))?;
        let is_text = matches!(record.ctors.first().map(|ctor| &*ctor.fields), Some([field]) if field.sort == Sort::Str);
        if config.text.contains(name) && !is_text {
            return Err(BadJsonForm::NotOneField(name.clone(), ", a string"));
        }
    }
    for name in &config.untagged {
        let of = of_kind(name, DataKind::Enum).ok_or_else(|| unknown("enum", name))?;
        if let Some(bad) = of.ctors.iter().find(|ctor| ctor.fields.len() > 1) {
            return Err(BadJsonForm::NotOneField(bad.name.to_string(), " at most"));
        }
    }
    for place in config.absent.iter().chain(&config.null).chain(config.names.iter().map(|(place, _)| place)) {
        let (name, field) = place.split_once('.').unwrap_or((place, ""));
        let record = of_kind(name, DataKind::Record).and_then(|record| record.ctors.first());
        if !record.is_some_and(|record| record.fields.iter().any(|other| *other.name == *field)) {
            return Err(unknown("field of a record", place));
        }
    }
    let has_case = |name: &str| {
        let enums = pool.data_types().map(|(_, data)| data).filter(|data| data.kind == DataKind::Enum);
        enums.flat_map(|data| &data.ctors).any(|ctor| *ctor.name == *name)
    };
    match config.cases.iter().find(|(name, _)| !has_case(name)) {
        Some((name, _)) => Err(unknown("case of an enum", name)),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests;
