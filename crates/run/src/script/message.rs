//! The places of variables in a message, found by markers.
//!
//! The message is written twice by the codec of the connection: as it was, and with a marker, a text or number that
//! nothing else contains, in the place of every value that came from a reply. The marker becomes the variable. So this
//! works with every template and every body without knowing them; what a codec computes from a value (a length, a
//! checksum) would stay that of the marker, and is found by filling the recorded values in again.

use ioxide_model::label::Label;
use ioxide_model::value::Value;
use ioxide_testgen::tester::replay::{ReplyReference, leaf_at, with_leaf};

use super::{ScriptMaker, replaced_text, used_part};
use ioxide_record::event::{ScriptMessage, ScriptPart, UsedValue, ValueSpelling};
use ioxide_record::secrets::percent_encode;
use ioxide_wire::adapter::notation::{body_spelling, replace_marker};
use ioxide_wire::codec::layout::{hex, unhex};

/// A value of a message that becomes a use of a variable.
struct BoundValue {
    /// The text or number in its place while the places are searched.
    marker: String,
    /// The text it had in the recorded run.
    recorded: String,
    is_number: bool,
    used: UsedValue,
}

impl ScriptMaker<'_> {
    /// Returns an input as it is sent, with variables where its references are; the step is for notes.
    pub(super) fn bound_message(
        &mut self,
        label: &Label,
        references: &[ReplyReference],
        step: usize,
    ) -> Option<ScriptMessage> {
        let written = self.notation.write(label)?;
        let Label::Input(gate, _) = label else { return Some(written) };
        if references.is_empty() {
            return Some(written);
        }
        let bound = match &written {
            ScriptMessage::Bytes(_) => self.bind_bytes(label, references, &written),
            _ => self.bind_texts(label, references, &written),
        };
        match bound {
            Some(message) => Some(message),
            None => {
                references.iter().for_each(|reference| self.note_literal(reference, *gate, step));
                Some(written)
            }
        }
    }

    /// Binds all references of a message of texts; `None` if one of them cannot be.
    fn bind_texts(
        &mut self,
        label: &Label,
        references: &[ReplyReference],
        written: &ScriptMessage,
    ) -> Option<ScriptMessage> {
        let Label::Input(gate, values) = label else { return None };
        let mut marked = values.clone();
        let mut bound = Vec::new();
        // From the last to the first, so that the bytes of earlier parts of a text stay where they are.
        for (at, reference) in references.iter().enumerate().rev() {
            let (field, inside) = reference.place.split_first()?;
            let is_number = matches!(leaf_at(values.get(*field)?, inside)?, Value::Int(_));
            let recorded = replaced_text(values, reference)?;
            let mut marker = if is_number { format!("77007700{at:04}") } else { format!("zqRef{at}qz") };
            // A length that is written too must become another one, so that it is noticed.
            if marker.len() == recorded.len() {
                marker.push('7');
            }
            marked[*field] = with_leaf(&marked[*field], inside, &|old| match (old, &reference.span) {
                (Value::Str(text), Some(span)) => {
                    Some(Value::str(&format!("{}{marker}{}", text.get(..span.start)?, text.get(span.end..)?)))
                }
                (Value::Str(_), None) => Some(Value::str(&marker)),
                (Value::Int(_), None) => marker.parse().ok().map(Value::Int),
                _ => None,
            })?;
            let variable = self.variable(reference)?.name;
            let part = used_part(&reference.part)?;
            let used = UsedValue { variable, part, spelling: ValueSpelling::Plain };
            bound.push(BoundValue { marker, recorded, is_number, used });
        }
        let message = with_variables(self.notation.write(&Label::Input(*gate, marked))?, &bound);
        (fill_recorded(&message, &bound)? == texts(written)?).then_some(message)
    }

    /// Binds all references of a message of bytes; `None` if one of them cannot be.
    fn bind_bytes(
        &mut self,
        label: &Label,
        references: &[ReplyReference],
        written: &ScriptMessage,
    ) -> Option<ScriptMessage> {
        let bytes = bytes_of(written)?;
        let mut places = Vec::new();
        for reference in references {
            let (at, length, spelling) = self.place_in_bytes(label, reference, &bytes)?;
            let used = UsedValue {
                variable: self.variable(reference)?.name,
                part: used_part(&reference.part)?,
                spelling,
            };
            places.push((at, length, used));
        }
        places.sort_by_key(|(at, ..)| *at);
        let (mut parts, mut from) = (Vec::new(), 0);
        for (at, length, used) in places {
            parts.push(ScriptPart::Literal(hex(bytes.get(from..at)?)));
            parts.push(ScriptPart::Value(used));
            from = at + length;
        }
        parts.push(ScriptPart::Literal(hex(bytes.get(from..)?)));
        Some(ScriptMessage::Bytes(parts))
    }

    /// Returns the position, length and notation of a value in the bytes of a message, found by writing other values;
    /// `None` if other bytes change with it.
    fn place_in_bytes(
        &self,
        label: &Label,
        reference: &ReplyReference,
        bytes: &[u8],
    ) -> Option<(usize, usize, ValueSpelling)> {
        let Label::Input(gate, values) = label else { return None };
        let (field, inside) = reference.place.split_first()?;
        let write_with = |new: Value| -> Option<Vec<u8>> {
            let mut values = values.clone();
            values[*field] = with_leaf(&values[*field], inside, &|_| Some(new.clone()))?;
            bytes_of(&self.notation.write(&Label::Input(*gate, values))?)
        };
        // A marker could break a layout of bytes, so here the value itself is written otherwise: where all bytes
        // but one place stay the same, and the place holds the other value, the value is found.
        match (leaf_at(values.get(*field)?, inside)?, &reference.span) {
            (Value::Int(n), None) => {
                let old: i128 = n.to_string().parse().ok()?;
                // Neighbours, and numbers that change every byte of a small one.
                let others = [old + 1, old - 1, old ^ 0x55, old ^ 0x2a];
                let samples: Vec<(i128, Vec<u8>)> = others
                    .into_iter()
                    .filter_map(|other| {
                        Some((other, write_with(Value::Int(other.to_string().parse().ok()?))?))
                    })
                    .collect();
                let kinds = (1..=8).flat_map(|width| [(width, false), (width, true)]);
                let places = kinds.flat_map(|kind| (0..bytes.len()).map(move |at| (kind, at)));
                // The number as it was, and in every sample the other number in its place with all other bytes as
                // they were.
                let is_it = |(width, little): (usize, bool), at: usize| {
                    number_bytes(old, width, little).is_some_and(|digits| bytes[at..].starts_with(&digits))
                        && samples.iter().all(|(other, sample)| {
                            number_bytes(*other, width, little).is_some_and(|digits| {
                                *sample == [&bytes[..at], &digits, &bytes[at + width..]].concat()
                            })
                        })
                };
                // The widest number that fits is the right one: a narrower one is a part of it.
                let fits = places.filter(|(kind, at)| samples.len() >= 2 && is_it(*kind, *at));
                let ((width, little), at) = fits.max_by_key(|((width, _), _)| *width)?;
                Some((at, width, ValueSpelling::Number { width, little }))
            }
            (Value::Str(text), None) if !text.is_empty() => {
                // A digit, since the text may be hexadecimal, and another one in every place.
                let other: String = text.chars().map(|c| if c == '7' { '8' } else { '7' }).collect();
                if other.len() != text.len() {
                    return None;
                }
                let sample = write_with(Value::str(&other))?;
                let as_text = (text.as_bytes().to_vec(), other.as_bytes().to_vec(), ValueSpelling::Hex);
                let as_digits = unhex(text).zip(unhex(&other));
                let as_digits = as_digits.map(|(old, new)| (old, new, ValueSpelling::Plain));
                [Some(as_text), as_digits].into_iter().flatten().find_map(|(old, new, spelling)| {
                    let is_there = |at: &usize| {
                        bytes[*at..].starts_with(&old)
                            && sample == [&bytes[..*at], &new, &bytes[*at + old.len()..]].concat()
                    };
                    (0..bytes.len()).find(is_there).map(|at| (at, old.len(), spelling))
                })
            }
            _ => None,
        }
    }
}

/// Returns a number in this many bytes; `None` if it does not fit.
fn number_bytes(number: i128, width: usize, little: bool) -> Option<Vec<u8>> {
    let bits = 8 * width;
    // With a sign or without: the layout says which, and does not matter here.
    let fits = number >= -(1i128 << (bits - 1)) && number < (1i128 << bits);
    let mut bytes: Vec<u8> = number.to_be_bytes()[16 - width..].to_vec();
    if little {
        bytes.reverse();
    }
    fits.then_some(bytes)
}

fn bytes_of(message: &ScriptMessage) -> Option<Vec<u8>> {
    match message {
        ScriptMessage::Bytes(parts) => match &parts[..] {
            [ScriptPart::Literal(digits)] => unhex(digits),
            _ => None,
        },
        _ => None,
    }
}

/// Returns the message with variables in the place of markers.
fn with_variables(message: ScriptMessage, bound: &[BoundValue]) -> ScriptMessage {
    let replaced = |parts: Vec<ScriptPart>, spelling: ValueSpelling| {
        bound.iter().fold(parts, |parts, value| {
            // Digits are written alike everywhere.
            let spelling = if value.is_number { ValueSpelling::Plain } else { spelling };
            replace_marker(parts, &value.marker, &UsedValue { spelling, ..value.used.clone() })
        })
    };
    match message {
        ScriptMessage::Request { method, path, headers, body } => {
            let plain = |(name, parts): &(String, Vec<ScriptPart>)| match &parts[..] {
                [ScriptPart::Literal(text)] => Some((name.clone(), text.clone())),
                _ => None,
            };
            let in_body = body_spelling(&headers.iter().filter_map(plain).collect::<Vec<_>>());
            ScriptMessage::Request {
                method,
                path: replaced(path, ValueSpelling::Percent),
                headers: headers
                    .into_iter()
                    .map(|(name, parts)| (name, replaced(parts, ValueSpelling::Plain)))
                    .collect(),
                body: body.map(|parts| replaced(parts, in_body)),
            }
        }
        ScriptMessage::Open { name, path, headers } => ScriptMessage::Open {
            name,
            path: replaced(path, ValueSpelling::Percent),
            headers: headers
                .into_iter()
                .map(|(name, parts)| (name, replaced(parts, ValueSpelling::Plain)))
                .collect(),
        },
        ScriptMessage::Frame { over, text } => {
            ScriptMessage::Frame { over, text: replaced(text, ValueSpelling::Json) }
        }
        ScriptMessage::Text(parts) => ScriptMessage::Text(replaced(parts, ValueSpelling::Plain)),
        ScriptMessage::Json(parts) => ScriptMessage::Json(replaced(parts, ValueSpelling::Json)),
        ScriptMessage::Bytes(parts) => ScriptMessage::Bytes(parts),
    }
}

/// Returns the texts of a message with the values of the recorded run for its variables; `None` if one is not used at
/// all.
fn fill_recorded(message: &ScriptMessage, bound: &[BoundValue]) -> Option<Vec<String>> {
    let mut filled = message.clone();
    let mut uses: Vec<&UsedValue> = Vec::new();
    let recorded = |used: &UsedValue| {
        let is_it =
            |value: &&BoundValue| (&value.used.variable, &value.used.part) == (&used.variable, &used.part);
        bound.iter().find(is_it)
    };
    filled.for_each_part(&mut |part| {
        if let ScriptPart::Value(used) = part
            && let Some(value) = recorded(used)
        {
            uses.push(&value.used);
            *part = ScriptPart::Literal(spell(&value.recorded, used.spelling));
        }
    });
    let is_used = |value: &BoundValue| uses.contains(&&value.used);
    // A value that is used nowhere was lost in the codec, and the script would not depend on the reply.
    if bound.iter().all(is_used) { texts(&filled) } else { None }
}

/// Returns a text as it is written inside a message of this spelling.
fn spell(text: &str, spelling: ValueSpelling) -> String {
    match spelling {
        ValueSpelling::Percent => percent_encode(text),
        ValueSpelling::Json => {
            let quoted = serde_json::Value::from(text).to_string();
            quoted[1..quoted.len() - 1].to_owned()
        }
        ValueSpelling::Plain | ValueSpelling::Hex | ValueSpelling::Number { .. } => text.to_owned(),
    }
}

/// Returns the texts of a message one after the other; captured values, which are variables too, by their names.
fn texts(message: &ScriptMessage) -> Option<Vec<String>> {
    let joined = |parts: &[ScriptPart]| {
        let text = |part: &ScriptPart| match part {
            ScriptPart::Literal(text) => text.clone(),
            ScriptPart::Value(used) => format!("${{{}}}", used.variable),
            ScriptPart::Environment(name) => format!("${{{name}}}"),
        };
        parts.iter().map(text).collect::<String>()
    };
    Some(match message {
        ScriptMessage::Request { method, path, headers, body } => {
            let headers = headers.iter().flat_map(|(name, parts)| [name.clone(), joined(parts)]);
            let body = body.iter().map(|parts| joined(parts));
            [method.clone(), joined(path)].into_iter().chain(headers).chain(body).collect()
        }
        ScriptMessage::Open { name, path, headers } => {
            let headers = headers.iter().flat_map(|(name, parts)| [name.clone(), joined(parts)]);
            [name.clone(), joined(path)].into_iter().chain(headers).collect()
        }
        ScriptMessage::Frame { over, text } => vec![over.clone(), joined(text)],
        ScriptMessage::Text(parts) | ScriptMessage::Json(parts) | ScriptMessage::Bytes(parts) => {
            vec![joined(parts)]
        }
    })
}
