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

use crate::limits::max_digits;

/// A gate, and a value for each field that was written.
#[derive(Debug, PartialEq, Eq)]
pub struct TypedMessage {
    /// The gate.
    pub gate: GateId,
    /// One for each field, in order.
    pub values: Vec<Option<Value>>,
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
/// What is wrong with it, for people.
pub fn read(pool: &TermPool, sts: &Sts, text: &str) -> Result<TypedMessage, String> {
    let text = text.trim().trim_start_matches(['?', '!']);
    let (name, rest) = text.split_at(text.find('(').unwrap_or(text.len()));
    let name = name.trim();
    let gate = sts.gate_named(name).filter(|gate| *gate != Sts::TAU).ok_or_else(|| unknown(sts, name))?;
    let inner = match rest.trim() {
        "" => "",
        rest => rest
            .strip_prefix('(')
            .and_then(|rest| rest.strip_suffix(')'))
            .ok_or_else(|| format!("`{rest}` should be `(field: value, ...)`"))?,
    };
    let fields = &sts.gates[gate].fields;
    let mut values = vec![None; fields.len()];
    for part in split(inner) {
        let (field, value) =
            part.split_once(':').ok_or_else(|| format!("`{part}` should be `field: value`"))?;
        let at =
            fields.iter().position(|var| &*pool.var_info(*var).name == field.trim()).ok_or_else(|| {
                let names: Vec<String> =
                    fields.iter().map(|var| format!("`{}`", pool.var_info(*var).name)).collect();
                format!("`{name}` has no field `{}`; it has {}", field.trim(), list(&names))
            })?;
        values[at] = Some(value_of(pool, pool.var_info(fields[at]).sort, value.trim())?);
    }
    Ok(TypedMessage { gate, values })
}

fn unknown(sts: &Sts, name: &str) -> String {
    let names: Vec<String> = sts.gates.iter().skip(1).map(|gate| format!("`{}`", gate.name)).collect();
    format!("there is no message `{name}`; there is {}", list(&names))
}

fn list(names: &[String]) -> String {
    if names.is_empty() { "none".into() } else { names.join(", ") }
}

/// The places of `sign` outside brackets and quotes.
fn outside(text: &str, sign: char) -> Vec<usize> {
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
fn split(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut start = 0;
    for at in outside(text, ',') {
        parts.push(&text[start..at]);
        start = at + 1;
    }
    parts.push(&text[start..]);
    parts.retain(|part| !part.trim().is_empty());
    parts
}

/// Reads a constant of `sort`.
fn value_of(pool: &TermPool, sort: Sort, text: &str) -> Result<Value, String> {
    let wrong = || format!("`{text}` is not a value of type {}", pool.show_sort(sort));
    let value = match sort {
        Sort::Bool => Value::Bool(text.parse().map_err(|_| wrong())?),
        Sort::Int | Sort::Range { .. } => Value::Int(short(text)?.parse().map_err(|_| wrong())?),
        Sort::Real => Value::Real(short(text)?.parse().map_err(|_| wrong())?),
        Sort::Str => Value::str(&unquoted(text).ok_or_else(wrong)?),
        Sort::Collection(id) => Value::Collection(collection_of(pool, id, text).ok_or_else(wrong)??),
        Sort::Data(data) => {
            let info = pool.data(data);
            let head = text.split('(').next().unwrap_or(text).trim();
            let found = info.ctors.iter().position(|ctor| &*ctor.name == head).ok_or_else(wrong)?;
            let args = arguments(pool, &info.ctors[found], info.kind, text[head.len()..].trim())?;
            Value::Data(DataValue { data, ctor: found as u32, args })
        }
    };
    if pool.has_sort(&value, sort) { Ok(value) } else { Err(wrong()) }
}

/// Reads `[1, 2]`, `{1, 2}` or `{"a": 1}`; none if the brackets are missing.
fn collection_of(pool: &TermPool, id: CollectionId, text: &str) -> Option<Result<CollectionValue, String>> {
    let of = pool.collection(id);
    let (open, close) = if of.kind == CollectionKind::List { ('[', ']') } else { ('{', '}') };
    let inner = text.strip_prefix(open)?.strip_suffix(close)?;
    let parts = split(inner);
    let item = |text: &str| value_of(pool, of.item, text.trim());
    Some(match of.kind {
        CollectionKind::List => parts
            .into_iter()
            .map(item)
            .collect::<Result<Vec<_>, _>>()
            .map(|items| CollectionValue::list(id, items)),
        CollectionKind::Set => parts
            .into_iter()
            .map(item)
            .collect::<Result<Vec<_>, _>>()
            .map(|items| CollectionValue::set(id, items)),
        CollectionKind::Map => {
            let entry = |part: &str| {
                let (key, value) =
                    split_at_colon(part).ok_or_else(|| format!("`{part}` should be `key: value`"))?;
                Ok((value_of(pool, of.key, key.trim())?, item(value)?))
            };
            let entries = parts.into_iter().map(entry).collect::<Result<Vec<_>, String>>();
            entries.map(|entries| CollectionValue::map(id, entries))
        }
    })
}

/// The two sides of the first colon outside brackets and quotes.
fn split_at_colon(text: &str) -> Option<(&str, &str)> {
    let at = *outside(text, ':').first()?;
    Some((&text[..at], &text[at + 1..]))
}

/// Text of a number that is read in reasonable time.
fn short(text: &str) -> Result<&str, String> {
    if text.len() <= max_digits() {
        Ok(text)
    } else {
        Err(format!("a number of {} digits is too long", text.len()))
    }
}

/// A string in quotes, its escapes replaced: those of models (`\n`, `\u{1b}`) and of JSON (`\u001b`).
fn unquoted(text: &str) -> Option<String> {
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

fn arguments(
    pool: &TermPool,
    ctor: &Constructor,
    kind: DataKind,
    text: &str,
) -> Result<Arc<[Value]>, String> {
    let inner = text.strip_prefix('(').and_then(|text| text.strip_suffix(')')).unwrap_or("");
    let parts = split(inner);
    if parts.len() != ctor.fields.len() {
        return Err(format!("`{}` has {} fields, not {}", ctor.name, ctor.fields.len(), parts.len()));
    }
    let mut values = Vec::with_capacity(parts.len());
    for (field, part) in ctor.fields.iter().zip(parts) {
        let text = match (kind, part.split_once(':')) {
            (DataKind::Record | DataKind::Enum, Some((name, value))) if name.trim() == &*field.name => value,
            (DataKind::Record | DataKind::Enum, _) => {
                return Err(format!("`{part}` should be `{}: value`", field.name));
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
            let typed = read(&model.pool, &model.sts, text).expect(text);
            let label = typed.label(&model.sts).expect("all fields have values");
            assert_eq!(label.show(&model.pool, &model.sts), text);
        }
    }

    #[test]
    fn fields_may_be_left_open() {
        let model = model();
        let typed = read(&model.pool, &model.sts, "A(n: 3)").expect("a message");
        assert_eq!(typed.values.iter().filter(|value| value.is_some()).count(), 1);
        assert_eq!(typed.label(&model.sts), None);
    }

    #[test]
    fn mistakes_are_named() {
        let model = model();
        let problem = |text: &str| read(&model.pool, &model.sts, text).expect_err(text);
        insta::assert_snapshot!(problem("D"), @"there is no message `D`; there is `A`, `B`, `C`");
        insta::assert_snapshot!(problem("C(x: 1)"), @"`C` has no field `x`; it has `b`");
        insta::assert_snapshot!(problem("A(n: 10)"), @"`10` is not a value of type 0..9");
        insta::assert_snapshot!(problem("A(key: k3)"), @"`k3` is not a value of type Key");
        insta::assert_snapshot!(problem("A(n"), @"`(n` should be `(field: value, ...)`");
        insta::assert_snapshot!(problem("internal"), @"there is no message `internal`; there is `A`, `B`, `C`");
    }
}
