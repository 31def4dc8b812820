//! Values of enums with fields and of records in texts: the name, and the fields in the order of their declaration, as
//! TorXakis writes them: `Enq(3)`, `Cons(1,Nil)`, `Job("a b",True)`.

use ioxide_model::sort::{Constructor, DataKind, DataSort, Sort};
use ioxide_model::term::{TermPool, string_literal};
use ioxide_model::value::Value;
use serde_json::{Map, Value as Json};

use super::super::UnwritableMessage;
use super::super::template::plain_text;
use super::value_json;

/// The nesting of values above which a text is not read. As deep as JSON is read; it bounds the stack.
const MAX_DEPTH: usize = 128;

/// The notation of values in texts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ValueNotation {
    /// The words for true and false.
    pub(super) truth: [String; 2],
}

impl Default for ValueNotation {
    fn default() -> Self {
        Self { truth: ["true".into(), "false".into()] }
    }
}

impl ValueNotation {
    /// Returns the text of a value: a string as it is, a case with fields by its name and its fields.
    pub(super) fn write(&self, pool: &TermPool, value: &Value) -> Result<String, UnwritableMessage> {
        match value {
            // The word for true comes first.
            Value::Bool(b) => Ok(self.truth[usize::from(!b)].clone()),
            Value::Data(data) => {
                let sort = pool.data(data.data);
                match (sort.kind, &*data.args) {
                    (DataKind::Option, [inner]) => self.write(pool, inner),
                    (DataKind::Record | DataKind::Enum, args) if !args.is_empty() => {
                        let args: Result<Vec<String>, _> =
                            args.iter().map(|arg| self.write_field(pool, arg)).collect();
                        Ok(format!("{}({})", sort.ctors[data.ctor as usize].name, args?.join(",")))
                    }
                    _ => plain_text(pool, value),
                }
            }
            _ => plain_text(pool, value),
        }
    }

    /// Returns a field of a case; a string is quoted there, since it may contain commas and brackets.
    fn write_field(&self, pool: &TermPool, value: &Value) -> Result<String, UnwritableMessage> {
        match value {
            Value::Str(text) => Ok(string_literal(text)),
            _ => self.write(pool, value),
        }
    }

    /// Returns the JSON of the value of `sort` that `text` writes, where `None` is an absent text; `None` if the text
    /// is no such value.
    pub(super) fn read(&self, pool: &TermPool, sort: Sort, text: Option<&str>) -> Option<Json> {
        let Some(written) = text else { return value_json(pool, sort, None) };
        match sort {
            Sort::Bool => self.read_truth(written),
            Sort::Data(id) if pool.data(id).kind == DataKind::Option => {
                let inner = pool.data(id).ctors.get(1)?.fields.first()?.sort;
                self.read(pool, inner, text)
            }
            // Only values with fields need the brackets to be followed; a plain enum is a word like any other.
            Sort::Data(id) if !pool.data(id).is_enumeration() => {
                let mut reading = ConstructorReading { notation: self, pool, rest: written.trim() };
                let json = reading.read_value(sort, 0)?;
                // All of the text or none of it: what is left over would be lost.
                reading.rest.is_empty().then_some(json)
            }
            _ => value_json(pool, sort, text),
        }
    }

    fn read_truth(&self, text: &str) -> Option<Json> {
        let at = self.truth.iter().position(|word| word == text)?;
        Some(Json::Bool(at == 0))
    }
}

/// A text of nested constructors, read from the left.
struct ConstructorReading<'r> {
    notation: &'r ValueNotation,
    pool: &'r TermPool,
    rest: &'r str,
}

impl ConstructorReading<'_> {
    /// Takes `mark` and the space around it; returns whether it was there.
    fn eat(&mut self, mark: char) -> bool {
        let found = self.rest.trim_start().strip_prefix(mark);
        if let Some(rest) = found {
            self.rest = rest.trim_start();
        }
        found.is_some()
    }

    /// Takes the text up to the comma or bracket that ends a field.
    fn take_word(&mut self) -> &str {
        // An opening bracket ends a word too: it is the name of a case.
        let end = self.rest.find([',', ')', '(']).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        word.trim()
    }

    fn read_value(&mut self, sort: Sort, depth: usize) -> Option<Json> {
        if depth > MAX_DEPTH {
            return None;
        }
        match sort {
            Sort::Data(id) => self.read_data(self.pool.data(id), depth),
            Sort::Str if self.rest.starts_with('"') => self.take_string().map(Json::String),
            Sort::Bool => {
                let notation = self.notation;
                notation.read_truth(self.take_word())
            }
            _ => {
                let pool = self.pool;
                value_json(pool, sort, Some(self.take_word()))
            }
        }
    }

    fn read_data(&mut self, data: &DataSort, depth: usize) -> Option<Json> {
        if data.kind == DataKind::Option {
            // A case may be called `none_left`: the word must end here.
            let is_end = |rest: &&str| rest.is_empty() || rest.starts_with([',', ')']);
            let none = self.rest.strip_prefix("none").map(str::trim_start).filter(is_end);
            if let Some(rest) = none {
                self.rest = rest;
                return Some(Json::Null);
            }
            let inner = data.ctors.get(1)?.fields.first()?.sort;
            // `some` is written as its value alone, as `write` does.
            return self.read_value(inner, depth + 1);
        }
        let name = self.take_word().to_owned();
        let ctor = data.ctors.iter().find(|ctor| *ctor.name == *name)?;
        if ctor.fields.is_empty() {
            return Some(Json::String(name));
        }
        let fields = Json::Object(self.read_fields(ctor, depth)?);
        match data.kind {
            DataKind::Enum => Some(Json::Object(Map::from_iter([(name, fields)]))),
            DataKind::Record | DataKind::Option => Some(fields),
        }
    }

    fn read_fields(&mut self, ctor: &Constructor, depth: usize) -> Option<Map<String, Json>> {
        if !self.eat('(') {
            return None;
        }
        let mut fields = Map::new();
        for (at, field) in ctor.fields.iter().enumerate() {
            if at > 0 && !self.eat(',') {
                return None;
            }
            fields.insert(field.name.to_string(), self.read_value(field.sort, depth + 1)?);
        }
        self.eat(')').then_some(fields)
    }

    /// Takes a string in quotes, its escapes replaced.
    fn take_string(&mut self) -> Option<String> {
        let mut text = String::new();
        // The opening quote is skipped; `read_value` has seen it. Positions stay those in `rest`.
        let mut chars = self.rest.char_indices().skip(1);
        while let Some((at, c)) = chars.next() {
            match c {
                '"' => {
                    self.rest = &self.rest[at + 1..];
                    return Some(text);
                }
                '\\' => text.push(match chars.next()?.1 {
                    'n' => '\n',
                    'r' => '\r',
                    't' => '\t',
                    '0' => '\0',
                    // A quote and a backslash stand for themselves, and so does any other character.
                    other => other,
                }),
                c => text.push(c),
            }
        }
        None
    }
}
