//! Messages as people type them: `coin`, `inX(p: 3)`, `SET(key: k1, value: 5)`.
//!
//! Values are written as in models, constants only: numbers, `true`, strings in quotes,
//! names of enum values, `none`, `some(3)`, `Point(x: 1, y: 2)`.

use std::sync::Arc;

use ioxide_model::collection::CollectionValue;
use ioxide_model::label::Label;
use ioxide_model::sort::{CollectionId, CollectionKind, Constructor, DataKind, Sort};
use ioxide_model::sts::{GateId, Sts};
use ioxide_model::term::TermPool;
use ioxide_model::value::{DataValue, Value};
use thiserror::Error;

use crate::limits::max_digits;
use crate::value::error::list_names;

/// A gate, and a value for each field that was written.
#[derive(Debug, PartialEq, Eq)]
pub struct TypedMessage {
    /// The gate.
    pub gate: GateId,
    /// One for each field, in order.
    pub values: Vec<Option<Value>>,
}

/// The reason why a typed text is not a message.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum BadTypedMessage {
    /// The model has no such message.
    #[error("there is no message `{name}`; there is {}", list_names(.names))]
    NoMessage {
        /// The name.
        name: String,
        /// The names there are.
        names: Vec<String>,
    },
    /// The name is followed by something other than fields in brackets.
    #[error("`{0}` should be `(field: value, ...)`")]
    NoBrackets(String),
    /// The message has no such field.
    #[error("`{message}` has no field `{field}`; it has {}", list_names(.names))]
    NoField {
        /// The message.
        message: String,
        /// The field.
        field: String,
        /// The fields it has.
        names: Vec<String>,
    },
    /// The text is no pair of a name and a value.
    #[error("`{found}` should be `{form}: value`")]
    NotNamed {
        /// The text that stands there.
        found: String,
        /// The kind of name that must stand before the colon.
        form: String,
    },
    /// The text is no constant of the sort.
    #[error("`{text}` is not a value of type {sort}")]
    NoValue {
        /// The text that stands there.
        text: String,
        /// The sort.
        sort: String,
    },
    /// A number takes too long to be read.
    #[error("a number of {0} digits is too long")]
    TooLong(usize),
    /// A value has too many or too few fields.
    #[error("`{name}` has {fields} fields, not {found}")]
    Fields {
        /// The name of the record or case.
        name: String,
        /// The number of fields it has.
        fields: usize,
        /// The number of fields that were given.
        found: usize,
    },
}

impl TypedMessage {
    /// The label, if every field has a value.
    #[must_use]
    pub fn label(&self, sts: &Sts) -> Option<Label> {
        Label::message(sts, self.gate, self.values.iter().cloned().collect::<Option<_>>()?)
    }
}

/// Reads a message; `?` and `!` in front are allowed.
///
/// # Errors
/// Returns what is wrong with the message.
pub fn read_message(pool: &TermPool, sts: &Sts, text: &str) -> Result<TypedMessage, BadTypedMessage> {
    let text = text.trim().trim_start_matches(['?', '!']);
    let (name, rest) = split_name(text);
    let gate =
        sts.gate_named(name).filter(|gate| *gate != Sts::TAU).ok_or_else(|| unknown_message(sts, name))?;
    let inner = match rest.trim() {
        "" => "",
        rest => rest
            .strip_prefix('(')
            .and_then(|rest| rest.strip_suffix(')'))
            .ok_or_else(|| BadTypedMessage::NoBrackets(rest.to_owned()))?,
    };
    let fields = &sts.gates[gate].fields;
    let mut values = vec![None; fields.len()];
    for part in split_arguments(inner) {
        let (field, value) = part.split_once(':').ok_or_else(|| not_named(part, "field"))?;
        let field = field.trim().trim_matches('`');
        let at = fields.iter().position(|var| &*pool.var_info(*var).name == field).ok_or_else(|| {
            let names = fields.iter().map(|var| pool.var_info(*var).name.to_string()).collect();
            BadTypedMessage::NoField { message: name.to_owned(), field: field.to_owned(), names }
        })?;
        values[at] = Some(value_of(pool, pool.var_info(fields[at]).sort, value.trim())?);
    }
    Ok(TypedMessage { gate, values })
}

/// Splits a text into the name in front and what follows it; a name in backquotes may contain anything else.
fn split_name(text: &str) -> (&str, &str) {
    let quoted = text.strip_prefix('`').and_then(|text| text.split_once('`'));
    let (name, rest) = quoted.unwrap_or_else(|| text.split_at(text.find('(').unwrap_or(text.len())));
    (name.trim(), rest)
}

fn unknown_message(sts: &Sts, name: &str) -> BadTypedMessage {
    let names = sts.gates.iter().skip(1).map(|gate| gate.name.to_string()).collect();
    BadTypedMessage::NoMessage { name: name.to_owned(), names }
}

fn not_named(found: &str, form: &str) -> BadTypedMessage {
    BadTypedMessage::NotNamed { found: found.to_owned(), form: form.to_owned() }
}

/// The places of `sign` outside brackets and quotes.
fn places_outside(text: &str, sign: char) -> Vec<usize> {
    let (mut depth, mut quoted, mut escaped) = (0i32, false, false);
    let mut places = Vec::new();
    for (at, c) in text.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            _ if quoted => (),
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            c if c == sign && depth == 0 => places.push(at),
            _ => (),
        }
    }
    places
}

/// Splits at commas that stand outside brackets and quotes.
fn split_arguments(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut start = 0;
    for at in places_outside(text, ',') {
        parts.push(&text[start..at]);
        start = at + 1;
    }
    parts.push(&text[start..]);
    parts.retain(|part| !part.trim().is_empty());
    parts
}

/// Reads a constant of `sort`.
fn value_of(pool: &TermPool, sort: Sort, text: &str) -> Result<Value, BadTypedMessage> {
    let wrong = || BadTypedMessage::NoValue { text: text.to_owned(), sort: pool.show_sort(sort) };
    let value = match sort {
        Sort::Bool => Value::Bool(text.parse().map_err(|_| wrong())?),
        Sort::Int | Sort::Range { .. } => Value::Int(short(text)?.parse().map_err(|_| wrong())?),
        Sort::Real => Value::Real(short(text)?.parse().map_err(|_| wrong())?),
        Sort::Str => Value::str(&unquote(text).ok_or_else(wrong)?),
        Sort::Collection(id) => {
            let inner = inside_brackets(pool.collection(id).kind, text).ok_or_else(wrong)?;
            Value::Collection(collection_of(pool, id, inner)?)
        }
        Sort::Data(data) => {
            let info = pool.data(data);
            let (head, rest) = split_name(text);
            let found = info.ctors.iter().position(|ctor| &*ctor.name == head).ok_or_else(wrong)?;
            let args = parse_arguments(pool, &info.ctors[found], info.kind, rest.trim())?;
            Value::Data(DataValue { data, ctor: found as u32, args })
        }
    };
    if pool.has_sort(&value, sort) { Ok(value) } else { Err(wrong()) }
}

/// Returns the text between `[` and `]` for a list, between `{` and `}` for a set or a map.
fn inside_brackets(kind: CollectionKind, text: &str) -> Option<&str> {
    let (open, close) = if kind == CollectionKind::List { ('[', ']') } else { ('{', '}') };
    text.strip_prefix(open)?.strip_suffix(close)
}

/// Reads `1, 2` of a list or a set, or `"a": 1` of a map.
fn collection_of(pool: &TermPool, id: CollectionId, inner: &str) -> Result<CollectionValue, BadTypedMessage> {
    let of = pool.collection(id);
    let item = |text: &str| value_of(pool, of.item, text.trim());
    let entry = |part: &str| {
        let (key, value) = split_at_colon(part).ok_or_else(|| not_named(part, "key"))?;
        Ok((value_of(pool, of.key, key.trim())?, item(value)?))
    };
    let parts = split_arguments(inner).into_iter();
    Ok(match of.kind {
        CollectionKind::List => CollectionValue::list(id, parts.map(item).collect::<Result<Vec<_>, _>>()?),
        CollectionKind::Set => CollectionValue::set(id, parts.map(item).collect::<Result<Vec<_>, _>>()?),
        CollectionKind::Map => CollectionValue::map(id, parts.map(entry).collect::<Result<Vec<_>, _>>()?),
    })
}

/// The two sides of the first colon outside brackets and quotes.
fn split_at_colon(text: &str) -> Option<(&str, &str)> {
    let at = *places_outside(text, ':').first()?;
    Some((&text[..at], &text[at + 1..]))
}

/// Returns `text`, the digits of a number, unless it is too long to be read in reasonable time.
fn short(text: &str) -> Result<&str, BadTypedMessage> {
    if text.len() <= max_digits() { Ok(text) } else { Err(BadTypedMessage::TooLong(text.len())) }
}

/// Returns the text of a string in quotes, its escapes replaced: those of models (`\n`, `\u{1b}`) and of JSON
/// (`\u001b`). `None` if it is no such string.
fn unquote(text: &str) -> Option<String> {
    let inner = text.strip_prefix('"')?.strip_suffix('"')?;
    let mut out = String::with_capacity(inner.len());
    let mut rest = inner.chars();
    while let Some(c) = rest.next() {
        match c {
            '"' => return None,
            '\\' => match rest.next()? {
                'n' => out.push('\n'),
                'r' => out.push('\r'),
                't' => out.push('\t'),
                'b' => out.push('\u{8}'),
                'f' => out.push('\u{c}'),
                'u' => out.push(code_point(&mut rest)?),
                other @ ('"' | '\\' | '/') => out.push(other),
                _ => return None,
            },
            c => out.push(c),
        }
    }
    Some(out)
}

/// The character after `\u`: `{1b}`, or four digits.
fn code_point(rest: &mut std::str::Chars<'_>) -> Option<char> {
    let digits = match rest.as_str().strip_prefix('{') {
        Some(braced) => {
            let digits = braced.split_once('}')?.0;
            rest.nth(digits.chars().count() + 1)?;
            digits
        }
        None => {
            let digits = rest.as_str().get(..4)?;
            rest.nth(3)?;
            digits
        }
    };
    char::from_u32(u32::from_str_radix(digits, 16).ok()?)
}

/// Reads the arguments of a constructor from `(a, b)`.
fn parse_arguments(
    pool: &TermPool,
    ctor: &Constructor,
    kind: DataKind,
    text: &str,
) -> Result<Arc<[Value]>, BadTypedMessage> {
    let inner = text.strip_prefix('(').and_then(|text| text.strip_suffix(')')).unwrap_or("");
    let parts = split_arguments(inner);
    if parts.len() != ctor.fields.len() {
        let (name, fields) = (ctor.name.to_string(), ctor.fields.len());
        return Err(BadTypedMessage::Fields { name, fields, found: parts.len() });
    }
    let mut values = Vec::with_capacity(parts.len());
    for (field, part) in ctor.fields.iter().zip(parts) {
        let text = match (kind, part.split_once(':')) {
            (DataKind::Record | DataKind::Enum, Some((name, value))) if name.trim() == &*field.name => value,
            (DataKind::Record | DataKind::Enum, _) => {
                return Err(not_named(part, &field.name));
            }
            _ => part,
        };
        values.push(value_of(pool, field.sort, text.trim())?);
    }
    Ok(values.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use ioxide_lang::{LoadOptions, load};
    use ioxide_model::source::Sources;
    use ioxide_model::sts::Model;

    fn model() -> Model {
        let text = "model M { enum Key { k1, k2 } record P { x: int, y: real }\n\
            input A(key: Key, n: 0..9, s: string, p: P, o: int?) input B output C(b: bool)\n\
            state s { a: on A b: on B c: emit C } }";
        let mut sources = Sources::new();
        let file = sources.add("m.iox", text);
        let loaded = load(&sources, file, &LoadOptions::default());
        loaded.model.unwrap_or_else(|| panic!("{:?}", loaded.diagnostics))
    }

    #[test]
    fn messages_read_back_as_they_are_shown() {
        let model = model();
        for text in [
            "?A(key: k2, n: 7, s: \"a, (\\\"\", p: P(x: -1, y: 0.5), o: some(3))",
            "?A(key: k1, n: 0, s: \"\", p: P(x: 1, y: 2.0), o: none)",
            "?B",
            "!C(b: true)",
        ] {
            let typed = read_message(&model.pool, &model.sts, text).expect(text);
            let label = typed.label(&model.sts).expect("all fields have values");
            assert_eq!(label.show(&model.pool, &model.sts), text);
        }
    }

    #[test]
    fn fields_may_be_left_open() {
        let model = model();
        let typed = read_message(&model.pool, &model.sts, "A(n: 3)").expect("a message");
        assert_eq!(typed.values.iter().filter(|value| value.is_some()).count(), 1);
        assert_eq!(typed.label(&model.sts), None);
    }

    #[test]
    fn mistakes_are_named() {
        let model = model();
        let problem = |text: &str| read_message(&model.pool, &model.sts, text).expect_err(text);
        insta::assert_snapshot!(problem("D"), @"there is no message `D`; there is `A`, `B`, `C`");
        insta::assert_snapshot!(problem("C(x: 1)"), @"`C` has no field `x`; it has `b`");
        insta::assert_snapshot!(problem("A(n: 10)"), @"`10` is not a value of type 0..9");
        insta::assert_snapshot!(problem("A(key: k3)"), @"`k3` is not a value of type Key");
        insta::assert_snapshot!(problem("A(n"), @"`(n` should be `(field: value, ...)`");
        insta::assert_snapshot!(problem("internal"), @"there is no message `internal`; there is `A`, `B`, `C`");
    }
}
