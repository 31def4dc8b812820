//! The JSON of a system where it is not the JSON of the protocol: other names, members that may be missing, values
//! without the name of their case.
//!
//! *Promises.* Reading what was written gives the same value, as long as no two cases of an untagged enum have the same
//! JSON. Reading looks at the shape only, as everywhere.

mod names;
mod reading;

use std::collections::{BTreeMap, BTreeSet};

use ioxide_model::collection::Items;
use ioxide_model::sort::{Constructor, DataField, DataKind, DataSort, Sort};
use ioxide_model::sts::Model;
use ioxide_model::term::TermPool;
use ioxide_model::value::{DataValue, Value};
use ioxide_record::value::{
    CodecError, is_member_name, is_option, value_from_json, value_to_json, wrap_in_object,
};
use serde_json::Value as Json;
use thiserror::Error;

use super::encoding::FieldEncodings;

use self::names::check_names;
use self::reading::FormReading;

/// The JSON form of the types of a model, as configured. A place is `RECORD.FIELD` or, in an enum, `CASE.FIELD`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JsonFormConfig {
    /// Members that no record and no case has are let through, and options may be missing or `null`.
    pub open: bool,
    /// Records, enums and cases that have their members and no others all the same.
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
    /// Numbers are written as strings, and read from strings and numbers.
    pub numbers_as_text: bool,
    /// The encodings of fields.
    pub encodings: FieldEncodings,
}

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
    /// The text of a case is not JSON.
    #[error("`{0}` is written as `{1}`, which is not JSON")]
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
    numbers_as_text: bool,
    encodings: FieldEncodings,
}

impl JsonForm {
    /// Reads a description, whose names must be those of `model`.
    ///
    /// # Errors
    /// The first name or text that means nothing.
    pub fn new(config: &JsonFormConfig, model: &Model) -> Result<Self, BadJsonForm> {
        // A name that the model does not have is a mistake in the project file; unchecked, it would change nothing.
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
            numbers_as_text: config.numbers_as_text,
            encodings: config.encodings.clone(),
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
                Items::Map(entries) if is_member_name(pool, pool.collection(items.sort).key) => {
                    let entry = |(key, item): &(Value, Value)| (self.key(pool, key), self.write(pool, item));
                    Json::Object(entries.iter().map(entry).collect())
                }
                Items::Map(entries) => {
                    let entry = |(key, item): &(Value, Value)| {
                        Json::Array(vec![self.write(pool, key), self.write(pool, item)])
                    };
                    Json::Array(entries.iter().map(entry).collect())
                }
            },
            other => match value_to_json(pool, other) {
                Json::Number(number) if self.numbers_as_text => Json::String(number.to_string()),
                json => json,
            },
        }
    }

    /// Returns the encodings of fields.
    #[cfg(feature = "external")]
    pub(super) fn encodings(&self) -> &FieldEncodings {
        &self.encodings
    }

    /// The value of `sort` that `json` writes, its range not checked.
    ///
    /// # Errors
    /// If `json` has another shape; the error names the place inside.
    pub fn read_value(&self, pool: &TermPool, sort: Sort, json: &Json) -> Result<Value, CodecError> {
        let reading = FormReading::new(self);
        value_from_json(pool, sort, &reading.normal(pool, sort, json)?)
    }

    /// The value of `sort` that `json`, made of XML, writes; its range is not checked.
    ///
    /// # Errors
    /// If it has another shape; the error names the place inside.
    #[cfg(feature = "external")]
    pub(super) fn read_xml_value(
        &self,
        pool: &TermPool,
        sort: Sort,
        json: &Json,
    ) -> Result<Value, CodecError> {
        let reading = FormReading::of_xml(self);
        value_from_json(pool, sort, &reading.normal(pool, sort, json)?)
    }

    /// Returns a key of a map as the name of a JSON member.
    fn key(&self, pool: &TermPool, key: &Value) -> String {
        member_name(&self.write(pool, key))
    }

    fn write_data(&self, pool: &TermPool, value: &DataValue) -> Json {
        let data = pool.data(value.data);
        let Some(ctor) = data.ctors.get(value.ctor as usize) else { return Json::Null };
        match (data.kind, &*value.args) {
            (DataKind::Option, [inner, ..]) => {
                // `null` cannot say which of two nested options is `none`, so the inner one stands in an object:
                // `{"some": ..}`.
                let is_nested = ctor.fields.first().is_some_and(|field| is_option(pool, field.sort));
                let inner = self.write(pool, inner);
                if is_nested { wrap_in_object(&ctor.name, inner) } else { inner }
            }
            (DataKind::Record, [Value::Str(text)]) if self.text.contains(&*data.name) => {
                // The value stands for any JSON. A model can also choose a text that is none: it is sent as a
                // string.
                serde_json::from_str(text).unwrap_or_else(|_| Json::String(text.to_string()))
            }
            (DataKind::Record, args) => self.write_members(pool, data, ctor, args),
            // `check_names` ensures that the cases of an untagged enum have at most one field.
            (DataKind::Enum, [inner]) if self.untagged.contains(&*data.name) => self.write(pool, inner),
            (DataKind::Enum, []) => {
                let written = self.cases.get(&*ctor.name).cloned();
                written.unwrap_or_else(|| value_to_json(pool, &Value::Data(value.clone())))
            }
            (DataKind::Enum, args) => wrap_in_object(&ctor.name, self.write_members(pool, data, ctor, args)),
            (DataKind::Option, []) => Json::Null,
        }
    }

    /// Returns the object that holds the fields of a record or of a case.
    fn write_members(&self, pool: &TermPool, data: &DataSort, ctor: &Constructor, args: &[Value]) -> Json {
        let fields = ctor.fields.iter().zip(args);
        let members =
            fields.filter_map(|(field, arg)| self.member(pool, place_of(data, ctor, field), field, arg));
        Json::Object(members.collect())
    }

    /// Returns the member for the field at `place`; `None` for an option that is `none`, unless it is written as
    /// `null`.
    fn member(
        &self,
        pool: &TermPool,
        place: String,
        field: &DataField,
        value: &Value,
    ) -> Option<(String, Json)> {
        let is_none =
            is_option(pool, field.sort) && matches!(value, Value::Data(value) if value.args.is_empty());
        // `null` and `absent` speak of one place and beat `open`, which speaks of all.
        let is_left_out = self.absent.contains(&place) || self.is_open && !self.null.contains(&place);
        let name = self.names.get(&place).cloned().unwrap_or_else(|| field.name.to_string());
        // What an encoding cannot write is written without it, for the system to refuse.
        let written = |value: &Value| match self.encodings.encode(pool, &place, value) {
            Ok(encoded) if self.encodings.has_encoding(&place) => self.write(pool, &encoded),
            _ => self.write(pool, value),
        };
        (!is_none || !is_left_out).then(|| (name, written(value)))
    }
}

/// Returns the place of a field as the project file names it: `RECORD.FIELD`, or `CASE.FIELD` in an enum.
fn place_of(data: &DataSort, ctor: &Constructor, field: &DataField) -> String {
    let owner = if data.kind == DataKind::Enum { &ctor.name } else { &data.name };
    format!("{owner}.{}", field.name)
}

/// Returns the name of a member that stands for a key written `json`.
fn member_name(json: &Json) -> String {
    json.as_str().map_or_else(|| json.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests;
