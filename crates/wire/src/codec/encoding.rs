//! Encodings of single fields: a number as text, a string in base64, a date as the seconds since 1970.
//!
//! The model has the meaning (a number of seconds, a text), the system has the notation. An encoding applies to the
//! field itself, to the value inside an option, and to every item of a list or set.
//!
//! *Promises.* Reading what was written gives the same value; a fraction of a second that an `int` cannot hold is cut
//! off. A text that does not have the encoding is an error, never another value.

mod bytes;
mod time;

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use base64::Engine as _;
use base64::engine::GeneralPurpose;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD};
use ioxide_model::collection::{CollectionValue, Items};
use ioxide_model::label::Label;
use ioxide_model::number::Rational;
use ioxide_model::sort::{CollectionKind, DataKind, Sort};
use ioxide_model::sts::Model;
use ioxide_model::term::TermPool;
use ioxide_model::value::{DataValue, Value};
use ioxide_record::line::cut;
use ioxide_record::secrets::percent_encode;
use ioxide_record::value::check_digits;
use serde_json::Value as Json;
use thiserror::Error;

use super::UnwritableMessage;

/// The notation of a field in messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldEncoding {
    /// A number or truth value as a string: `"5"`, `"true"`.
    Text,
    /// A string in base64, with padding (RFC 4648, 4).
    Base64,
    /// A string in base64 for addresses, without padding (RFC 4648, 5).
    Base64Url,
    /// A string as two hexadecimal digits for each byte.
    Hex,
    /// A string with percent signs before all but unreserved characters (RFC 3986).
    Percent,
    /// Seconds since 1970 as a date with time: `2026-11-18T10:00:00Z` (RFC 3339).
    Rfc3339,
    /// Seconds as a number of milliseconds.
    Milliseconds,
    /// Seconds as a number with a unit: `1.5s`; also `300ms` and `1h30m` are read.
    Duration,
    /// Seconds as a duration of ISO 8601: `PT1M30S`.
    IsoDuration,
}

impl FieldEncoding {
    /// Every encoding with its name in the project file.
    pub const ALL: [(Self, &'static str); 9] = [
        (Self::Text, "text"),
        (Self::Base64, "base64"),
        (Self::Base64Url, "base64url"),
        (Self::Hex, "hex"),
        (Self::Percent, "percent"),
        (Self::Rfc3339, "rfc3339"),
        (Self::Milliseconds, "milliseconds"),
        (Self::Duration, "duration"),
        (Self::IsoDuration, "iso8601"),
    ];

    /// Returns the name of the encoding in a project file.
    fn name(self) -> &'static str {
        Self::ALL.into_iter().find(|(encoding, _)| *encoding == self).map_or("", |(_, name)| name)
    }

    /// Returns whether values of `sort` can have the encoding.
    fn fits(self, pool: &TermPool, sort: Sort) -> bool {
        match (sort, self) {
            (Sort::Data(id), _) => {
                let data = pool.data(id);
                // An option has the cases `none` and `some`, in this order; the encoding is for the value in
                // `some`.
                let inner = data.ctors.get(1).and_then(|some| some.fields.first());
                data.kind == DataKind::Option && inner.is_some_and(|field| self.fits(pool, field.sort))
            }
            // Nothing would say whether it is for the keys or the values of a map.
            (Sort::Collection(id), _) if pool.collection(id).kind == CollectionKind::Map => false,
            (Sort::Collection(id), _) => self.fits(pool, pool.collection(id).item),
            (Sort::Str, Self::Base64 | Self::Base64Url | Self::Hex | Self::Percent) => true,
            (Sort::Str, _) => false,
            (Sort::Bool, encoding) => encoding == Self::Text,
            (_, Self::Base64 | Self::Base64Url | Self::Hex | Self::Percent) => false,
            (Sort::Int | Sort::Range { .. } | Sort::Real, _) => true,
        }
    }

    /// Returns the value that stands for `value` in a message.
    fn encode(self, pool: &TermPool, value: &Value) -> Result<Value, UnwritableMessage> {
        let seconds = || value.to_rational().unwrap_or(Rational::ZERO);
        Ok(match (value, self) {
            (Value::Data(data), _) if pool.data(data.data).kind == DataKind::Option => {
                let args = data.args.iter().map(|arg| self.encode(pool, arg)).collect::<Result<_, _>>()?;
                // `none` has no arguments and stays as it is.
                Value::Data(DataValue { args, ..data.clone() })
            }
            (Value::Collection(items), _) => self.encode_items(pool, items)?,
            (Value::Bool(b), Self::Text) => Value::str(&b.to_string()),
            (Value::Int(_) | Value::Real(_), Self::Text) => Value::str(&decimal(&seconds())?),
            (Value::Str(text), Self::Base64) => Value::str(&STANDARD.encode(&**text)),
            (Value::Str(text), Self::Base64Url) => Value::str(&URL_SAFE_NO_PAD.encode(&**text)),
            (Value::Str(text), Self::Hex) => Value::str(&bytes::hex(text.as_bytes())),
            (Value::Str(text), Self::Percent) => Value::str(&percent_encode(text)),
            (_, Self::Rfc3339) => {
                let date = time::rfc3339(&seconds());
                Value::str(&date.ok_or_else(|| UnwritableMessage::NoDate(seconds().to_string()))?)
            }
            (_, Self::Milliseconds) => {
                let n = &seconds() * &Rational::from(1000);
                // A whole number is written without `.0`: many services read an integer here and refuse a fraction.
                if n.is_integer() { Value::Int(n.floor()) } else { Value::Real(n) }
            }
            (_, Self::Duration) => Value::str(&format!("{}s", decimal(&seconds())?)),
            (_, Self::IsoDuration) => Value::str(&time::iso_duration(&decimal(&seconds())?)),
            // `fits` let through no other pair of sort and encoding, so this is a value that needs none.
            (other, _) => other.clone(),
        })
    }

    fn encode_items(self, pool: &TermPool, items: &CollectionValue) -> Result<Value, UnwritableMessage> {
        let all = |list: &ioxide_model::sequence::Sequence<Value>| {
            list.iter().map(|item| self.encode(pool, item)).collect::<Result<_, _>>()
        };
        let items = match &items.items {
            Items::List(list) => CollectionValue { sort: items.sort, items: Items::List(all(list)?) },
            Items::Set(list) => CollectionValue { sort: items.sort, items: Items::Set(all(list)?) },
            // A map has no encoding, see `fits`.
            Items::Map(_) => items.clone(),
        };
        Ok(Value::Collection(items))
    }

    /// Returns `json`, as the system wrote it, as the JSON of a value of `sort`.
    fn decode(self, pool: &TermPool, sort: Sort, json: &Json) -> Result<Json, BadEncoding> {
        // The result is JSON in the form of the model, which `JsonForm` reads as if the system had written it so:
        // shapes inside options, lists and sets are decoded first, one encoding for all items.
        let wrong = || BadEncoding { encoding: self.name(), found: cut(&plain(json), 60) };
        match (sort, json) {
            (Sort::Data(_), Json::Null) => return Ok(Json::Null),
            (Sort::Data(id), _) => {
                let inner = pool.data(id).ctors.get(1).and_then(|some| some.fields.first());
                return inner.map_or(Ok(json.clone()), |field| self.decode(pool, field.sort, json));
            }
            (Sort::Collection(id), Json::Array(items)) => {
                let item = pool.collection(id).item;
                let all = items.iter().map(|one| self.decode(pool, item, one)).collect::<Result<_, _>>()?;
                return Ok(Json::Array(all));
            }
            _ => {}
        }
        let text = json.as_str();
        let string =
            |bytes: Option<Vec<u8>>| bytes.and_then(|bytes| String::from_utf8(bytes).ok()).map(Json::String);
        let number = |seconds: Option<Rational>| seconds.and_then(|n| number_json(sort, &n));
        // From here on `sort` is a plain one, and whatever is `None` in the end did not have the encoding.
        let found = match self {
            Self::Text if sort == Sort::Bool => text.and_then(|text| text.parse().ok()).map(Json::Bool),
            // `check_digits` bounds the length of a number before anything computes with it.
            Self::Text => text.and_then(|text| check_digits(text).ok()?.parse().ok()).map(Json::Number),
            Self::Base64 => string(text.and_then(|text| decode_base64(text, [STANDARD, STANDARD_NO_PAD]))),
            Self::Base64Url => string(text.and_then(|text| decode_base64(text, [URL_SAFE, URL_SAFE_NO_PAD]))),
            Self::Hex => string(text.and_then(bytes::unhex)),
            Self::Percent => string(text.and_then(bytes::percent_decode)),
            Self::Rfc3339 => number(text.and_then(time::read_rfc3339)),
            Self::Milliseconds => {
                let written = json.as_number().map(ToString::to_string);
                let n = written.and_then(|text| check_digits(&text).ok()?.parse::<Rational>().ok());
                number(n.map(|n| n.div(&Rational::from(1000))))
            }
            Self::Duration => number(text.and_then(time::read_duration)),
            Self::IsoDuration => number(text.and_then(time::read_iso_duration)),
        };
        found.ok_or_else(wrong)
    }
}

impl FromStr for FieldEncoding {
    type Err = UnknownEncoding;

    fn from_str(name: &str) -> Result<Self, UnknownEncoding> {
        let known = Self::ALL.into_iter().find(|(_, known)| *known == name).map(|(encoding, _)| encoding);
        known.ok_or_else(|| UnknownEncoding(name.to_owned()))
    }
}

/// A name that is no encoding.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub struct UnknownEncoding(String);

impl fmt::Display for UnknownEncoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = FieldEncoding::ALL.into_iter().map(|(_, name)| name).collect();
        write!(f, "there is no encoding `{}`; there is {}", self.0, names.join(", "))
    }
}

/// A value of a message that does not have the encoding it should have.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("`{found}` is not written as {encoding}")]
pub struct BadEncoding {
    encoding: &'static str,
    found: String,
}

/// A place in the project file that has no such encoding.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum BadEncodingPlace {
    /// The model has no such field.
    #[error("the model has no field `{0}`; write MESSAGE.FIELD, RECORD.FIELD or CASE.FIELD")]
    NoField(String),
    /// The field has another type.
    #[error("`{place}` is {sort}, which cannot be written as {encoding}")]
    Sort {
        /// The place.
        place: String,
        /// The sort of the field.
        sort: String,
        /// The encoding.
        encoding: &'static str,
    },
}

/// The encodings of fields, by place: `MESSAGE.FIELD`, `RECORD.FIELD` or, in an enum, `CASE.FIELD`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldEncodings(BTreeMap<String, FieldEncoding>);

impl FieldEncodings {
    /// Makes the encodings of these places.
    #[must_use]
    pub fn new(places: impl IntoIterator<Item = (String, FieldEncoding)>) -> Self {
        Self(places.into_iter().collect())
    }

    /// Checks that the places are fields of `model` whose values can have their encodings.
    ///
    /// # Errors
    /// The first place that is wrong.
    pub fn check(&self, model: &Model) -> Result<(), BadEncodingPlace> {
        for (place, encoding) in &self.0 {
            let sorts = field_sorts(model, place);
            if sorts.is_empty() {
                return Err(BadEncodingPlace::NoField(place.clone()));
            }
            if let Some(&sort) = sorts.iter().find(|&&sort| !encoding.fits(&model.pool, sort)) {
                return Err(BadEncodingPlace::Sort {
                    place: place.clone(),
                    sort: model.pool.show_sort(sort),
                    encoding: encoding.name(),
                });
            }
        }
        Ok(())
    }

    /// Returns the value that stands for `value` at `place`.
    ///
    /// # Errors
    /// If the encoding cannot write the value.
    pub(super) fn encode(
        &self,
        pool: &TermPool,
        place: &str,
        value: &Value,
    ) -> Result<Value, UnwritableMessage> {
        match self.0.get(place) {
            Some(encoding) => encoding.encode(pool, value),
            None => Ok(value.clone()),
        }
    }

    /// Returns a message with the values that stand for those of its fields.
    ///
    /// # Errors
    /// If an encoding cannot write its value.
    pub(super) fn encode_label(&self, model: &Model, label: &Label) -> Result<Label, UnwritableMessage> {
        let Label::Input(gate, values) = label else { return Ok(label.clone()) };
        // Most protocols have no encodings; a message is then not taken apart.
        if self.0.is_empty() {
            return Ok(label.clone());
        }
        let message = &model.sts.gates[*gate];
        let encoded = message.fields.iter().zip(values).map(|(&field, value)| {
            let place = format!("{}.{}", message.name, model.pool.var_info(field).name);
            self.encode(&model.pool, &place, value)
        });
        Ok(Label::Input(*gate, encoded.collect::<Result<_, _>>()?))
    }

    /// Returns whether the field at `place` has an encoding.
    pub(super) fn has_encoding(&self, place: &str) -> bool {
        self.0.contains_key(place)
    }

    /// Returns what the system wrote at `place` as the JSON of a value of `sort`.
    ///
    /// # Errors
    /// If it does not have the encoding.
    pub(super) fn decode(
        &self,
        pool: &TermPool,
        place: &str,
        sort: Sort,
        json: &Json,
    ) -> Result<Json, BadEncoding> {
        match self.0.get(place) {
            Some(encoding) => encoding.decode(pool, sort, json),
            None => Ok(json.clone()),
        }
    }
}

/// Returns the sorts of the fields that `place` names: of a message in either direction, of a record, of a case.
fn field_sorts(model: &Model, place: &str) -> Vec<Sort> {
    let Some((owner, field)) = place.rsplit_once('.') else { return Vec::new() };
    let messages = model.sts.gates.iter().filter(|gate| *gate.name == *owner).flat_map(|gate| &gate.fields);
    let messages = messages.map(|&var| model.pool.var_info(var)).filter(|info| *info.name == *field);
    // The name of a record stands for the record, in an enum that of a case does; options have no names of their
    // own.
    let owners = model.pool.data_types().flat_map(|(_, data)| {
        let is_owner = move |name: &str| match data.kind {
            DataKind::Record => *data.name == *owner,
            DataKind::Enum => name == owner,
            DataKind::Option => false,
        };
        data.ctors.iter().filter(move |ctor| is_owner(&ctor.name))
    });
    let fields = owners.flat_map(|ctor| &ctor.fields).filter(|it| *it.name == *field).map(|it| it.sort);
    messages.map(|info| info.sort).chain(fields).collect()
}

/// Returns a number with all its decimals; one with endless decimals cannot be written.
fn decimal(n: &Rational) -> Result<String, UnwritableMessage> {
    let text = n.to_string();
    if text.contains('/') {
        return Err(UnwritableMessage::EndlessDecimals(text));
    }
    Ok(text.strip_suffix(".0").unwrap_or(&text).to_owned())
}

/// Returns a number as JSON; an `int` has no fraction.
fn number_json(sort: Sort, n: &Rational) -> Option<Json> {
    // The promise above: a fraction of a second that an `int` cannot hold is cut off.
    let text = if sort == Sort::Real { decimal(n).ok()? } else { n.floor().to_string() };
    text.parse().ok().map(Json::Number)
}

/// Returns a JSON value as text, a string without quotes.
fn plain(json: &Json) -> String {
    json.as_str().map_or_else(|| json.to_string(), str::to_owned)
}

/// Returns the bytes of a base64 text, with or without its padding; digits of the other alphabet, half a padding and
/// bits behind the last byte are errors.
fn decode_base64(text: &str, [padded, unpadded]: [GeneralPurpose; 2]) -> Option<Vec<u8>> {
    let engine = if text.ends_with('=') { padded } else { unpadded };
    engine.decode(text).ok()
}

#[cfg(test)]
mod tests;
