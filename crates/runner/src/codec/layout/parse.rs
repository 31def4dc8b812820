//! Layouts as people write them.

use thiserror::Error;

use super::{
    Checksum, Endian, FieldExtent, FieldForm, LayoutItem, LengthOf, MessageLayout, NumberLayout, NumberRole,
    Width,
};
use crate::limits::max_message;
use crate::line::cut;

/// What is wrong with the text of a layout.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("`{item}` (item {number}): {problem}")]
pub struct BadLayout {
    /// Which item, from 1.
    pub number: usize,
    /// The item.
    pub item: String,
    /// What is wrong with it.
    pub problem: String,
}

impl MessageLayout {
    /// Reads a layout; numbers that do not say so have their bytes in the order `endian`.
    ///
    /// # Errors
    /// What is wrong with which item.
    pub fn parse(text: &str, endian: Endian) -> Result<Self, BadLayout> {
        let mut layout = Self { items: Vec::new() };
        for (n, part) in split(text).into_iter().enumerate() {
            let part = part.trim();
            let wrong = |problem| BadLayout { number: n + 1, item: cut(part, 40), problem };
            let item = item(part, endian).and_then(|item| layout.placed(item));
            layout.items.push(item.map_err(wrong)?);
        }
        layout.whole().map_err(|(number, problem)| BadLayout {
            number: number + 1,
            item: split(text).get(number).map_or_else(String::new, |part| cut(part.trim(), 40)),
            problem,
        })?;
        Ok(layout)
    }

    /// `item` where it stands: after a length that counts it, or not.
    fn placed(&self, mut item: LayoutItem) -> Result<LayoutItem, String> {
        for (name, _) in item.fields() {
            if self.fields().any(|(other, _)| other == name) {
                return Err(format!("`{name}` stands twice"));
            }
        }
        let counted = |name: &str| self.lengths().any(|other| other == name);
        match &mut item {
            LayoutItem::Bytes { field, extent, .. } if counted(field) => match extent {
                FieldExtent::Rest => *extent = FieldExtent::Counted,
                _ => return Err(format!("the length of `{field}` is told twice")),
            },
            _ => {
                if let Some((name, _)) = item.fields().into_iter().find(|(name, _)| counted(name)) {
                    return Err(format!("`{name}` has no length: it is a number"));
                }
            }
        }
        if let Some(name) = item.lengths().find(|name| self.fields().any(|(field, _)| field == *name)) {
            return Err(format!("the length of `{name}` must stand before it"));
        }
        Ok(item)
    }

    /// The fields whose length is told.
    fn lengths(&self) -> impl Iterator<Item = &str> {
        self.items.iter().flat_map(LayoutItem::lengths)
    }

    /// What can be said only of all items; the number of the one that is wrong comes with it.
    fn whole(&self) -> Result<(), (usize, String)> {
        if self.items.is_empty() {
            return Err((0, "a layout has at least one item".into()));
        }
        for (n, item) in self.items.iter().enumerate() {
            if let LayoutItem::Bytes { field, extent: FieldExtent::Rest, .. } = item
                && self.items[n + 1..].iter().any(|item| item.fixed().is_none())
            {
                let help = "write its length before it, its size in brackets, or `until 0x..` after it";
                return Err((n, format!("nobody can tell where `{field}` ends; {help}")));
            }
            let is_field = |name: &str| {
                self.items.iter().any(|item| matches!(item, LayoutItem::Bytes { field, .. } if field == name))
            };
            if let Some(name) = item.lengths().find(|name| !is_field(name)) {
                return Err((n, format!("there is no text or hex field `{name}`")));
            }
        }
        let size = self.items.iter().filter_map(LayoutItem::fixed).fold(0, usize::saturating_add);
        if size > max_message() {
            return Err((0, "the message is too long".into()));
        }
        Ok(())
    }
}

impl LayoutItem {
    /// The fields whose length it tells.
    fn lengths(&self) -> impl Iterator<Item = &str> {
        let whats: Vec<&NumberRole> = match self {
            Self::Number(_, what) => vec![what],
            Self::Bits(_, parts) => parts.iter().map(|(_, what)| what).collect(),
            Self::Const(_) | Self::Bytes { .. } | Self::Check(..) | Self::Skip(_) => Vec::new(),
        };
        whats.into_iter().filter_map(|what| match what {
            NumberRole::Len(LengthOf::Field(name), _) => Some(name.as_str()),
            NumberRole::Len(..) | NumberRole::Field(..) | NumberRole::Const(_) => None,
        })
    }
}

/// Splits at commas outside brackets and quotes.
fn split(text: &str) -> Vec<&str> {
    let (mut parts, mut depth, mut quoted, mut start) = (Vec::new(), 0i32, false, 0);
    for (at, c) in text.char_indices() {
        match c {
            '\'' => quoted = !quoted,
            _ if quoted => (),
            '(' => depth += 1,
            ')' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(&text[start..at]);
                start = at + 1;
            }
            _ => (),
        }
    }
    if !text[start..].trim().is_empty() || !parts.is_empty() {
        parts.push(&text[start..]);
    }
    // A comma after the last item is no item.
    if parts.len() > 1 && parts.last().is_some_and(|part| part.trim().is_empty()) {
        parts.pop();
    }
    parts
}

fn item(text: &str, endian: Endian) -> Result<LayoutItem, String> {
    if let Some(quoted) = text.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\'')) {
        return Ok(LayoutItem::Const(quoted.as_bytes().to_vec()));
    }
    if text.starts_with("0x") {
        return bytes(text).map(LayoutItem::Const);
    }
    let (word, rest) = text.split_at(text.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(text.len()));
    let rest = rest.trim();
    if let Some(number) = NumberLayout::named(word, endian) {
        return what(rest, number).map(|what| LayoutItem::Number(number, what));
    }
    match word {
        "bits" => bits(rest, Endian::Big),
        "bitsle" => bits(rest, Endian::Little),
        "text" => field(rest, FieldForm::Text),
        "hex" => field(rest, FieldForm::Hex),
        "skip" => match bracketed(rest) {
            Some((inside, "")) => size(inside).map(LayoutItem::Skip),
            _ => Err("write `skip(BYTES)`".into()),
        },
        _ => check(word, rest, endian).unwrap_or_else(|| {
            let there = "u8 to u64, i8 to i64 (with le or be), varint, bits, text, hex, skip, 0x.., '..', \
                         sum8, xor8, crc16, crc16modbus, crc32";
            Err(format!("there is no such item; there is {there}"))
        }),
    }
}

fn check(word: &str, rest: &str, endian: Endian) -> Option<Result<LayoutItem, String>> {
    let named = |name: &str, endian| Checksum::named(name).map(|check| LayoutItem::Check(check, endian));
    let suffixed = |suffix, endian| word.strip_suffix(suffix).and_then(|name| named(name, endian));
    let item = named(word, endian)
        .or_else(|| suffixed("le", Endian::Little))
        .or_else(|| suffixed("be", Endian::Big))?;
    Some(if rest.is_empty() { Ok(item) } else { Err("a checksum has no name".into()) })
}

/// What a number is: `= 3`, `len(name) + 2`, `name`, `name(a = 1, b = 2)`.
fn what(text: &str, number: NumberLayout) -> Result<NumberRole, String> {
    let (least, greatest) = number.bounds();
    let fits = |value: i128| {
        if (least..=greatest).contains(&value) {
            Ok(value)
        } else {
            Err(format!("{value} does not fit: it is not in {least}..{greatest}"))
        }
    };
    if let Some(value) = text.strip_prefix('=') {
        return integer(value).and_then(fits).map(NumberRole::Const);
    }
    if let Some((of, plus)) = text.strip_prefix("len").and_then(|rest| bracketed(rest.trim_start())) {
        let of = match of.trim() {
            "message" if number.width == Width::Varint => {
                return Err("the length of the message needs a fixed size; use `len(rest)`".into());
            }
            "message" => LengthOf::Message,
            "rest" => LengthOf::Rest,
            of => LengthOf::Field(name(of)?),
        };
        let digits: String = plus.split_whitespace().collect();
        let plus = if digits.is_empty() { 0 } else { integer(digits.trim_start_matches('+'))? };
        return Ok(NumberRole::Len(of, plus));
    }
    let (field, names) = match text.find('(') {
        Some(at) => (&text[..at], text[at..].trim()),
        None => (text, ""),
    };
    let names = match (names, bracketed(names)) {
        ("", _) => Vec::new(),
        (_, Some((inside, ""))) => split(inside).into_iter().map(pair).collect::<Result<Vec<_>, _>>()?,
        _ => return Err("write `name(a = 1, b = 2)`".into()),
    };
    for (n, (name, value)) in names.iter().enumerate() {
        fits(*value)?;
        if names[..n].iter().any(|(other, number)| other == name || number == value) {
            return Err(format!("`{name} = {value}` is not the only one with this name or number"));
        }
    }
    Ok(NumberRole::Field(name(field)?, names))
}

fn pair(text: &str) -> Result<(String, i128), String> {
    let (left, right) =
        text.split_once('=').ok_or_else(|| format!("`{}` should be `name = 1`", text.trim()))?;
    Ok((name(left)?, integer(right)?))
}

/// `(3 mode, 1 on, 4 = 0)`.
fn bits(text: &str, endian: Endian) -> Result<LayoutItem, String> {
    let Some((inside, "")) = bracketed(text) else { return Err("write `bits(3 mode, 5 = 0)`".into()) };
    let (mut parts, mut sum) = (Vec::new(), 0);
    for part in split(inside) {
        let part = part.trim();
        let (count, rest) = part.split_at(part.find(|c: char| !c.is_ascii_digit()).unwrap_or(part.len()));
        let count: u32 = count
            .parse()
            .ok()
            .filter(|count| (1..=64).contains(count))
            .ok_or_else(|| format!("`{part}` should begin with a number of bits, 1 to 64"))?;
        // A number of so many bits; only its bounds are asked for.
        let what = what(rest.trim(), NumberLayout { width: Width::Bytes(8), is_signed: false, endian })?;
        if let NumberRole::Const(value) = what
            && value >= 1 << count
        {
            return Err(format!("{value} does not fit into {count} bits"));
        }
        parts.push((count, what));
        sum += count;
    }
    match sum {
        8..=64 if sum % 8 == 0 => Ok(LayoutItem::Bits(
            NumberLayout { width: Width::Bytes(sum as usize / 8), is_signed: false, endian },
            parts,
        )),
        _ => Err(format!("these are {sum} bits; 8, 16, 24 and so on up to 64 make whole bytes")),
    }
}

/// `name`, `(8) name`, `name until 0x00`.
fn field(text: &str, form: FieldForm) -> Result<LayoutItem, String> {
    let (extent, rest) = match bracketed(text) {
        Some((inside, rest)) => (FieldExtent::Fixed(size(inside)?), rest),
        None => (FieldExtent::Rest, text),
    };
    let (field, extent) = match (rest.split_once(" until "), extent) {
        (Some((field, mark)), FieldExtent::Rest) => (field, FieldExtent::Until(mark_of(mark.trim())?)),
        (Some(_), _) => return Err("its size is told already".into()),
        (None, extent) => (rest, extent),
    };
    Ok(LayoutItem::Bytes { field: name(field)?, form, extent })
}

fn mark_of(text: &str) -> Result<Vec<u8>, String> {
    match text.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\'')) {
        Some("") => Err("an end mark has at least one byte".into()),
        Some(quoted) => Ok(quoted.as_bytes().to_vec()),
        None => bytes(text),
    }
}

/// What stands in the brackets at the front, and what follows them.
fn bracketed(text: &str) -> Option<(&str, &str)> {
    let inside = text.strip_prefix('(')?;
    let mut depth = 1;
    let end = inside.char_indices().find(|(_, c)| {
        depth += match c {
            '(' => 1,
            ')' => -1,
            _ => 0,
        };
        depth == 0
    })?;
    Some((&inside[..end.0], inside[end.0 + 1..].trim()))
}

fn size(text: &str) -> Result<usize, String> {
    let size = text.trim().parse().ok().filter(|size| (1..=max_message()).contains(size));
    size.ok_or_else(|| format!("`{}` is no number of bytes", text.trim()))
}

fn name(text: &str) -> Result<String, String> {
    let text = text.trim();
    let is_name = text.chars().all(|c| c.is_alphanumeric() || c == '_');
    match text {
        "" => Err("a name is missing".into()),
        _ if is_name && !text.starts_with(|c: char| c.is_numeric()) => Ok(text.to_owned()),
        _ => Err(format!("`{}` is no name", cut(text, 40))),
    }
}

/// The bytes of `0x0a0b`.
fn bytes(text: &str) -> Result<Vec<u8>, String> {
    let digits: String = text.strip_prefix("0x").unwrap_or_default().split_whitespace().collect();
    let bytes = super::unhex(&digits).filter(|bytes| !bytes.is_empty());
    bytes.ok_or_else(|| "write an even number of hexadecimal digits after `0x`".into())
}

/// A number, `0x` in front of hexadecimal digits.
fn integer(text: &str) -> Result<i128, String> {
    let text = text.trim();
    let value = match text.strip_prefix("0x") {
        Some(digits) => i128::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    };
    let value = value.filter(|value: &i128| value.unsigned_abs() <= u64::MAX.into());
    value.ok_or_else(|| format!("`{}` is no number of at most 64 bits", cut(text, 40)))
}
