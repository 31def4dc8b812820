//! Statistics of the values sent: a fold over events, in bounded memory.
//!
//! For every field of every input: how often it was sent, how many different values it had,
//! and the smallest and largest number or the most frequent values. A tester that sends the
//! same three values for hours is seen at once.
//!
//! *Promises.* Memory does not grow with the number of steps: of values beyond [`MAX_DISTINCT`] per field only the
//! number is kept, fields beyond [`MAX_FIELDS`] are not counted, and the result says so.

use std::collections::BTreeMap;

use ioxide_model::number::Rational;
use ioxide_record::event::{LabelKind, LabelRecord};
use serde_json::Value as Json;

use crate::control_characters::excerpt;
use crate::values::shape::{ValueShape, shorten_value};

mod shape;

pub use self::shape::ShapeRecord;

/// The number of different values kept of one field. Chosen by feel, as are the limits below: they bound the memory
/// of a campaign of any length. Beyond it, "at least" is reported.
pub const MAX_DISTINCT: usize = 500;
/// The number of fields and messages kept, together. Chosen by feel: it bounds the memory.
pub const MAX_FIELDS: usize = 200;
/// The number of characters shown of a value. Chosen by feel: more is not read.
const MAX_TEXT: usize = 40;
/// The number of characters above which values are distinguished by their beginning, length and a check sum. Chosen by
/// feel: it bounds the memory.
const MAX_KEY: usize = 120;
/// The number of characters above which a number is not compared. Chosen by feel: it bounds the time.
const MAX_DIGITS: usize = 60;

/// The values of inputs sent so far.
#[derive(Clone, Debug, Default)]
pub struct SentValues {
    messages: BTreeMap<String, MessageSummary>,
    n_fields: usize,
    /// True if some field or message was not counted.
    is_full: bool,
}

#[derive(Clone, Debug, Default)]
struct MessageSummary {
    sent: u64,
    fields: BTreeMap<String, FieldSummary>,
}

/// The values of one field.
#[derive(Clone, Debug, Default)]
struct FieldSummary {
    sent: u64,
    seen: BTreeMap<String, SentValue>,
    /// The number of times a value was sent that is not in `seen`.
    beyond: u64,
    range: ValueRange,
    shape: ValueShape,
}

/// The frequency of a value.
#[derive(Clone, Debug)]
struct SentValue {
    n: u64,
    /// The text shown, shortened.
    shown: String,
}

/// The smallest and the largest value, as long as all values are numbers.
#[derive(Clone, Debug, Default)]
enum ValueRange {
    #[default]
    Empty,
    Within(Rational, Rational),
    NotNumbers,
}

/// The statistics of one field, or of a message without fields.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValueRow {
    /// The message.
    pub message: String,
    /// The field; `None` for a message without fields.
    pub field: Option<String>,
    /// The number of times the field or message was sent.
    pub sent: u64,
    /// The number of different values kept.
    pub distinct: usize,
    /// True if there were further values, which were not kept.
    pub is_more: bool,
    /// The smallest and the largest value; `None` unless all are numbers.
    pub range: Option<(String, String)>,
    /// The lengths or constructors of the values; `None` unless they are collections or of a sum type with fields.
    pub shape: Option<ShapeRecord>,
    /// The most frequent values of those kept, each with the number of times it was sent.
    pub frequent: Vec<(String, u64)>,
}

/// The frequency of each value of a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValueCounts<'v> {
    /// The message.
    pub message: &'v str,
    /// The field.
    pub field: &'v str,
    /// True if all values are numbers, which are then in ascending order; else the most frequent come first.
    pub are_numbers: bool,
    /// The lengths or constructors of the values; `None` unless they are collections or of a sum type with fields.
    pub shape: Option<ShapeRecord>,
    /// The values as JSON, each with the number of times it was sent; long ones are shortened.
    pub values: Vec<(&'v str, u64)>,
    /// The number of times a value was sent that was not kept.
    pub beyond: u64,
}

impl SentValues {
    /// Counts the fields of a label; labels other than inputs do not count.
    pub fn count_fields(&mut self, label: &LabelRecord) {
        if label.kind != LabelKind::Input {
            return;
        }
        let is_room = self.n_fields < MAX_FIELDS;
        let name = excerpt(&label.label, MAX_KEY);
        if !self.messages.contains_key(&name) {
            if !is_room {
                self.is_full = true;
                return;
            }
            self.n_fields += 1;
        }
        let message = self.messages.entry(name).or_default();
        message.sent += 1;
        for (name, value) in &label.args {
            let name = excerpt(name, MAX_KEY);
            if !message.fields.contains_key(&name) {
                if self.n_fields >= MAX_FIELDS {
                    self.is_full = true;
                    continue;
                }
                self.n_fields += 1;
            }
            message.fields.entry(name).or_default().count_value(value);
        }
    }

    /// Returns whether some field or message was not counted, since too many came before it.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.is_full
    }

    /// Returns the statistics by message and field, in the order of their names.
    #[must_use]
    pub fn rows(&self) -> Vec<ValueRow> {
        let mut rows = Vec::new();
        for (name, message) in &self.messages {
            if message.fields.is_empty() {
                rows.push(ValueRow::without_field(name, message.sent));
            }
            rows.extend(message.fields.iter().map(|(field, told)| told.value_row(name, field)));
        }
        rows
    }

    /// Returns the frequency of each value, by message and field.
    pub fn counts(&self) -> impl Iterator<Item = ValueCounts<'_>> {
        self.messages.iter().flat_map(|(name, message)| {
            message.fields.iter().map(move |(field, told)| told.value_counts(name, field))
        })
    }
}

impl FieldSummary {
    fn value_counts<'v>(&'v self, message: &'v str, field: &'v str) -> ValueCounts<'v> {
        let mut values: Vec<(&str, u64)> =
            self.seen.iter().map(|(value, sent)| (value.as_str(), sent.n)).collect();
        let are_numbers = matches!(self.range, ValueRange::Within(..));
        if are_numbers {
            values.sort_by_cached_key(|(value, _)| value.parse::<Rational>().ok())
        } else {
            values.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)))
        }
        ValueCounts {
            message,
            field,
            are_numbers,
            shape: self.shape.description(),
            values,
            beyond: self.beyond,
        }
    }

    fn count_value(&mut self, value: &Json) {
        self.sent += 1;
        self.range.extend_range(value);
        self.shape.add_value(value);
        let text = value.to_string();
        let key = value_key(&text);
        let is_room = self.seen.len() < MAX_DISTINCT;
        match self.seen.get_mut(&key) {
            Some(sent) => sent.n += 1,
            None if is_room => {
                self.seen.insert(key, SentValue { n: 1, shown: shorten_value(value, &text, MAX_TEXT) });
            }
            None => self.beyond += 1,
        }
    }

    fn value_row(&self, message: &str, field: &str) -> ValueRow {
        /// Values named one by one. Chosen by feel: more is not read.
        const SHOWN: usize = 3;
        let mut frequent: Vec<(&String, &SentValue)> = self.seen.iter().collect();
        frequent.sort_by(|a, b| b.1.n.cmp(&a.1.n).then(a.0.cmp(b.0)));
        ValueRow {
            message: message.to_owned(),
            field: Some(field.to_owned()),
            sent: self.sent,
            distinct: self.seen.len(),
            is_more: self.beyond > 0,
            range: match &self.range {
                ValueRange::Within(least, most) => Some((number_text(least), number_text(most))),
                ValueRange::Empty | ValueRange::NotNumbers => None,
            },
            shape: self.shape.description(),
            frequent: frequent
                .into_iter()
                .take(SHOWN)
                .map(|(_, sent)| (sent.shown.clone(), sent.n))
                .collect(),
        }
    }
}

impl ValueRange {
    fn extend_range(&mut self, value: &Json) {
        let Some(number) = parse_number(value) else {
            *self = Self::NotNumbers;
            return;
        };
        match self {
            Self::Empty => *self = Self::Within(number.clone(), number),
            Self::Within(least, _) if number < *least => *least = number,
            Self::Within(_, most) if number > *most => *most = number,
            Self::Within(..) | Self::NotNumbers => (),
        }
    }
}

impl ValueRow {
    fn without_field(message: &str, sent: u64) -> Self {
        let (message, frequent) = (message.to_owned(), Vec::new());
        Self { message, field: None, sent, distinct: 0, is_more: false, range: None, shape: None, frequent }
    }

    /// `message.field`, or the message.
    #[must_use]
    pub fn name(&self) -> String {
        match &self.field {
            Some(field) => format!("{}.{field}", self.message),
            None => self.message.clone(),
        }
    }

    /// Returns the number of different values in words; empty for a message without fields.
    #[must_use]
    pub fn distinct_text(&self) -> String {
        match (&self.field, self.is_more) {
            (None, _) => String::new(),
            (Some(_), false) => format!("{} distinct", self.distinct),
            (Some(_), true) => format!("more than {} distinct", self.distinct),
        }
    }

    /// Returns the range, or the most frequent values, in words.
    #[must_use]
    pub fn values_text(&self) -> String {
        match &self.range {
            Some((least, most)) if least == most => format!("always {least}"),
            Some((least, most)) => format!("{least} to {most}"),
            None if self.frequent.len() == 1 && self.distinct == 1 => {
                format!("always {}", self.frequent[0].0)
            }
            None => {
                let named: Vec<String> =
                    self.frequent.iter().map(|(value, n)| format!("{value} ×{n}")).collect();
                let more = if self.distinct > self.frequent.len() { ", …" } else { "" };
                let named = format!("{}{more}", named.join(", "));
                match &self.shape {
                    Some(shape @ ShapeRecord::Lengths(..)) => format!("{}; {named}", shape.text()),
                    Some(shape @ ShapeRecord::Cases(_)) => shape.text(),
                    None => named,
                }
            }
        }
    }
}

/// Returns the number that `value` is; `None` if it is not a number, too long, or has an exponent.
fn parse_number(value: &Json) -> Option<Rational> {
    let text = match value {
        Json::Number(number) => number.to_string(),
        _ => return None,
    };
    if text.len() > MAX_DIGITS || text.contains(['e', 'E']) { None } else { text.parse().ok() }
}

/// Returns a number as it was sent, a whole one without decimals.
fn number_text(number: &Rational) -> String {
    if number.is_integer() { number.numer().to_string() } else { number.to_string() }
}

/// Returns the key that distinguishes values: the text, or its beginning, length and check sum if it is long.
fn value_key(text: &str) -> String {
    match text.char_indices().nth(MAX_KEY) {
        Some((at, _)) => format!("{}… ({} bytes, {:x})", &text[..at], text.len(), check_sum(text)),
        None => text.to_owned(),
    }
}

/// Returns the check sum FNV-1a, by Fowler, Noll and Vo.
fn check_sum(text: &str) -> u64 {
    text.bytes()
        .fold(0xcbf2_9ce4_8422_2325, |sum, byte| (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests;
