//! Layouts as people write them.

use ioxide_record::limits::max_message;
use ioxide_record::line::cut;
use thiserror::Error;

use super::{
    Checksum, Endian, FieldExtent, FieldForm, LayoutItem, LengthOf, MessageLayout, NumberLayout,
    NumberOutOfBounds, NumberRole, Width,
};

/// An error in the text of a layout.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("`{item}` (item {number}): {problem}")]
pub struct BadLayout {
    /// The number of the item, from 1.
    pub number: usize,
    /// The item.
    pub item: String,
    /// The problem with the item.
    pub problem: BadLayoutItem,
}

/// The problem with an item of a layout.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum BadLayoutItem {
    /// A field has two places.
    #[error("`{0}` occurs twice")]
    Twice(String),
    /// A length counts a field that has a size or an end mark already.
    #[error("the length of `{0}` is given twice")]
    LengthTwice(String),
    /// A length counts a number.
    #[error("`{0}` has no length: it is a number")]
    LengthOfNumber(String),
    /// A length stands behind the field it counts.
    #[error("the length of `{0}` must come before it")]
    LengthBehind(String),
    /// There is no item.
    #[error("a layout has at least one item")]
    Empty,
    /// An item whose size varies follows a field that goes to the end.
    #[error(
        "the end of `{0}` is not known; write its length before it, its size in brackets, or `until 0x..` \
         after it"
    )]
    NoEnd(String),
    /// A length counts a field that the layout does not have.
    #[error("there is no text or hex field `{0}`")]
    NoBytesField(String),
    /// The fixed parts alone exceed the limit of a message.
    #[error("the message is too long")]
    TooLong,
    /// The item begins with no known word.
    #[error(
        "there is no such item; there is u8 to u64, i8 to i64 (with le or be), varint, bits, text, hex, skip, \
         0x.., '..', sum8, xor8, crc16, crc16modbus, crc32"
    )]
    NoSuchItem,
    /// The item should be a `skip` with a size.
    #[error("write `skip(BYTES)`")]
    SkipForm,
    /// A checksum is followed by something.
    #[error("a checksum has no name")]
    ChecksumName,
    /// A constant does not fit.
    #[error(transparent)]
    Bounds(#[from] NumberOutOfBounds),
    /// The length of the message stands in a number whose size depends on it.
    #[error("the length of the message needs a fixed size; use `len(rest)`")]
    VaryingLength,
    /// The names of a number and their values should follow it.
    #[error("write `parse_name(a = 1, b = 2)`")]
    NamesForm,
    /// A text in the list of names is no pair of a name and its number.
    #[error("`{0}` should be `name = 1`")]
    PairForm(String),
    /// Two names, or two numbers, are the same.
    #[error("`{name} = {value}` is not the only one with this name or number")]
    NotTheOnlyOne {
        /// The name.
        name: String,
        /// Its number.
        value: i128,
    },
    /// The item should be a list of bits.
    #[error("write `parse_bits(3 mode, 5 = 0)`")]
    BitsForm,
    /// A text in the list of bits begins with no number of bits.
    #[error("`{0}` should begin with a number of bits, 1 to 64")]
    BitCount(String),
    /// A constant does not fit into its bits.
    #[error("{value} does not fit into {count} bits")]
    BitBounds {
        /// The constant.
        value: i128,
        /// The number of bits of its place.
        count: u32,
    },
    /// The bits together are no whole number of bytes.
    #[error("these are {0} bits; 8, 16, 24 and so on up to 64 make whole bytes")]
    BitSum(u32),
    /// A field has both a size and an end mark.
    #[error("its size is given already")]
    SizeGiven,
    /// An end mark is empty.
    #[error("an end mark has at least one byte")]
    EmptyMark,
    /// The size is not a number.
    #[error("`{0}` is not a number of bytes")]
    Size(String),
    /// A name is missing.
    #[error("a name is missing")]
    NameMissing,
    /// The text is not a name.
    #[error("`{0}` is not a name")]
    Name(String),
    /// No hexadecimal bytes follow `0x`.
    #[error("write an even number of hexadecimal digits after `0x`")]
    Hexadecimal,
    /// The text is not a number.
    #[error("`{0}` is not a number of at most 64 bits")]
    Integer(String),
}

impl MessageLayout {
    /// Reads a layout; numbers that do not say so have their bytes in the order `endian`.
    ///
    /// # Errors
    /// Returns the first wrong item and its problem.
    pub fn parse(text: &str, endian: Endian) -> Result<Self, BadLayout> {
        let mut layout = Self { items: Vec::new() };
        for (n, part) in split_items(text).into_iter().enumerate() {
            let part = part.trim();
            let wrong = |problem| BadLayout { number: n + 1, item: cut(part, 40), problem };
            // Items are placed one after the other, because a length decides how a field behind it is read.
            let item = parse_item(part, endian).and_then(|item| layout.place_item(item));
            layout.items.push(item.map_err(wrong)?);
        }
        layout.check_items().map_err(|(number, problem)| BadLayout {
            number: number + 1,
            item: split_items(text).get(number).map_or_else(String::new, |part| cut(part.trim(), 40)),
            problem,
        })?;
        Ok(layout)
    }

    /// Returns `item` as it stands after the items so far: counted, if a length before it counts it.
    fn place_item(&self, mut item: LayoutItem) -> Result<LayoutItem, BadLayoutItem> {
        // A field that has two places would have two values.
        for (name, _) in item.fields() {
            if self.fields().any(|(other, _)| other == name) {
                return Err(BadLayoutItem::Twice(name.to_owned()));
            }
        }
        let counted = |name: &str| self.lengths().any(|other| other == name);
        match &mut item {
            LayoutItem::Bytes { field, extent, .. } if counted(field) => match extent {
                // A field without a size reads to the end of the message unless a length before it counts it.
                FieldExtent::Rest => *extent = FieldExtent::Counted,
                _ => return Err(BadLayoutItem::LengthTwice(field.clone())),
            },
            _ => {
                if let Some((name, _)) = item.fields().into_iter().find(|(name, _)| counted(name)) {
                    return Err(BadLayoutItem::LengthOfNumber(name.to_owned()));
                }
            }
        }
        // The reader goes from left to right: a length behind its field comes too late to say where the field ends.
        if let Some(name) = item.lengths().find(|name| self.fields().any(|(field, _)| field == *name)) {
            return Err(BadLayoutItem::LengthBehind(name.to_owned()));
        }
        Ok(item)
    }

    /// Returns the fields that a length counts.
    fn lengths(&self) -> impl Iterator<Item = &str> {
        self.items.iter().flat_map(LayoutItem::lengths)
    }

    /// Checks the conditions on all items together; an error has the number of the wrong item, from 0.
    fn check_items(&self) -> Result<(), (usize, BadLayoutItem)> {
        if self.items.is_empty() {
            return Err((0, BadLayoutItem::Empty));
        }
        for (n, item) in self.items.iter().enumerate() {
            // What goes to the end leaves as many bytes as the items behind it have, so these must have a fixed size.
            if let LayoutItem::Bytes { field, extent: FieldExtent::Rest, .. } = item
                && self.items[n + 1..].iter().any(|item| item.fixed_size().is_none())
            {
                return Err((n, BadLayoutItem::NoEnd(field.clone())));
            }
            let is_field = |name: &str| {
                self.items.iter().any(|item| matches!(item, LayoutItem::Bytes { field, .. } if field == name))
            };
            if let Some(name) = item.lengths().find(|name| !is_field(name)) {
                return Err((n, BadLayoutItem::NoBytesField(name.to_owned())));
            }
        }
        // Adding up without overflow: sizes come from a text that anybody may have written.
        let size = self.items.iter().filter_map(LayoutItem::fixed_size).fold(0, usize::saturating_add);
        if size > max_message() {
            return Err((0, BadLayoutItem::TooLong));
        }
        Ok(())
    }
}

impl LayoutItem {
    /// Returns the fields whose length it is.
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
fn split_items(text: &str) -> Vec<&str> {
    let (mut parts, mut depth, mut quoted, mut start) = (Vec::new(), 0i32, false, 0);
    for (at, c) in text.char_indices() {
        match c {
            // A comma inside a quoted constant or inside brackets belongs to the item.
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

/// Parses one item of a layout.
fn parse_item(text: &str, endian: Endian) -> Result<LayoutItem, BadLayoutItem> {
    if let Some(quoted) = text.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\'')) {
        return Ok(LayoutItem::Const(quoted.as_bytes().to_vec()));
    }
    if text.starts_with("0x") {
        return parse_bytes(text).map(LayoutItem::Const);
    }
    let (word, rest) = text.split_at(text.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(text.len()));
    let rest = rest.trim();
    if let Some(number) = NumberLayout::from_word(word, endian) {
        return parse_role(rest, number).map(|what| LayoutItem::Number(number, what));
    }
    match word {
        "bits" => parse_bits(rest, Endian::Big),
        "bitsle" => parse_bits(rest, Endian::Little),
        "text" => parse_field(rest, FieldForm::Text),
        "hex" => parse_field(rest, FieldForm::Hex),
        "skip" => match split_brackets(rest) {
            Some((inside, "")) => parse_size(inside).map(LayoutItem::Skip),
            _ => Err(BadLayoutItem::SkipForm),
        },
        _ => parse_checksum(word, rest, endian),
    }
}

/// Parses the name of a checksum, with or without its byte order.
fn parse_checksum(word: &str, rest: &str, endian: Endian) -> Result<LayoutItem, BadLayoutItem> {
    let named = |name: &str, endian| Checksum::from_name(name).map(|check| LayoutItem::Check(check, endian));
    let suffixed = |suffix, endian| word.strip_suffix(suffix).and_then(|name| named(name, endian));
    let item = named(word, endian)
        .or_else(|| suffixed("le", Endian::Little))
        .or_else(|| suffixed("be", Endian::Big))
        .ok_or(BadLayoutItem::NoSuchItem)?;
    if rest.is_empty() { Ok(item) } else { Err(BadLayoutItem::ChecksumName) }
}

/// Reads the meaning of a number: `= 3`, `len(name) + 2`, `name`, `parse_name(a = 1, b = 2)`.
fn parse_role(text: &str, number: NumberLayout) -> Result<NumberRole, BadLayoutItem> {
    if let Some(value) = text.strip_prefix('=') {
        return Ok(NumberRole::Const(number.fitting(parse_integer(value)?)?));
    }
    if let Some((of, plus)) = text.strip_prefix("len").and_then(|rest| split_brackets(rest.trim_start())) {
        let of = match of.trim() {
            // The size of this number would depend on the length of the message, which depends on the size of this
            // number.
            "message" if number.width == Width::Varint => {
                return Err(BadLayoutItem::VaryingLength);
            }
            "message" => LengthOf::Message,
            "rest" => LengthOf::Rest,
            of => LengthOf::Field(parse_name(of)?),
        };
        let digits: String = plus.split_whitespace().collect();
        let plus = if digits.is_empty() { 0 } else { parse_integer(digits.trim_start_matches('+'))? };
        return Ok(NumberRole::Len(of, plus));
    }
    let (field, names) = match text.find('(') {
        Some(at) => (&text[..at], text[at..].trim()),
        None => (text, ""),
    };
    let names = match (names, split_brackets(names)) {
        ("", _) => Vec::new(),
        (_, Some((inside, ""))) => {
            split_items(inside).into_iter().map(parse_pair).collect::<Result<Vec<_>, _>>()?
        }
        _ => return Err(BadLayoutItem::NamesForm),
    };
    // Names and numbers stand for each other in both directions, so neither may occur twice.
    for (n, (name, value)) in names.iter().enumerate() {
        number.fitting(*value)?;
        if names[..n].iter().any(|(other, number)| other == name || number == value) {
            return Err(BadLayoutItem::NotTheOnlyOne { name: name.clone(), value: *value });
        }
    }
    Ok(NumberRole::Field(parse_name(field)?, names))
}

/// Parses `name = number`.
fn parse_pair(text: &str) -> Result<(String, i128), BadLayoutItem> {
    let (left, right) =
        text.split_once('=').ok_or_else(|| BadLayoutItem::PairForm(text.trim().to_owned()))?;
    Ok((parse_name(left)?, parse_integer(right)?))
}

/// Reads bits: `(3 mode, 1 on, 4 = 0)`.
fn parse_bits(text: &str, endian: Endian) -> Result<LayoutItem, BadLayoutItem> {
    let Some((inside, "")) = split_brackets(text) else { return Err(BadLayoutItem::BitsForm) };
    let (mut parts, mut sum) = (Vec::new(), 0);
    for part in split_items(inside) {
        let part = part.trim();
        let (count, rest) = part.split_at(part.find(|c: char| !c.is_ascii_digit()).unwrap_or(part.len()));
        let count: u32 = count
            .parse()
            .ok()
            .filter(|count| (1..=64).contains(count))
            .ok_or_else(|| BadLayoutItem::BitCount(part.to_owned()))?;
        // A number of this many bits; only its bounds are asked for.
        let what =
            parse_role(rest.trim(), NumberLayout { width: Width::Bytes(8), is_signed: false, endian })?;
        if let NumberRole::Const(value) = what
            && value >= 1 << count
        {
            return Err(BadLayoutItem::BitBounds { value, count });
        }
        parts.push((count, what));
        sum += count;
    }
    match sum {
        8..=64 if sum % 8 == 0 => Ok(LayoutItem::Bits(
            NumberLayout { width: Width::Bytes(sum as usize / 8), is_signed: false, endian },
            parts,
        )),
        _ => Err(BadLayoutItem::BitSum(sum)),
    }
}

/// Reads a field of bytes: `name`, `(8) name`, `name until 0x00`.
fn parse_field(text: &str, form: FieldForm) -> Result<LayoutItem, BadLayoutItem> {
    let (extent, rest) = match split_brackets(text) {
        Some((inside, rest)) => (FieldExtent::Fixed(parse_size(inside)?), rest),
        None => (FieldExtent::Rest, text),
    };
    let (field, extent) = match (rest.split_once(" until "), extent) {
        (Some((field, mark)), FieldExtent::Rest) => (field, FieldExtent::Until(parse_mark(mark.trim())?)),
        (Some(_), _) => return Err(BadLayoutItem::SizeGiven),
        (None, extent) => (rest, extent),
    };
    Ok(LayoutItem::Bytes { field: parse_name(field)?, form, extent })
}

fn parse_mark(text: &str) -> Result<Vec<u8>, BadLayoutItem> {
    match text.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\'')) {
        Some("") => Err(BadLayoutItem::EmptyMark),
        Some(quoted) => Ok(quoted.as_bytes().to_vec()),
        None => parse_bytes(text),
    }
}

/// Returns the text in the brackets at the front and the text after them; `None` if there are none.
fn split_brackets(text: &str) -> Option<(&str, &str)> {
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

/// Parses a number of bytes, at least 1 and at most a message.
fn parse_size(text: &str) -> Result<usize, BadLayoutItem> {
    let size = text.trim().parse().ok().filter(|size| (1..=max_message()).contains(size));
    size.ok_or_else(|| BadLayoutItem::Size(text.trim().to_owned()))
}

/// Parses the name of a field.
fn parse_name(text: &str) -> Result<String, BadLayoutItem> {
    let text = text.trim();
    // A name of the model, so that a field of a message can have it.
    let is_name = text.chars().all(|c| c.is_alphanumeric() || c == '_');
    match text {
        "" => Err(BadLayoutItem::NameMissing),
        _ if is_name && !text.starts_with(|c: char| c.is_numeric()) => Ok(text.to_owned()),
        _ => Err(BadLayoutItem::Name(cut(text, 40))),
    }
}

/// Reads bytes: `0x0a0b`.
fn parse_bytes(text: &str) -> Result<Vec<u8>, BadLayoutItem> {
    let digits: String = text.strip_prefix("0x").unwrap_or_default().split_whitespace().collect();
    let bytes = super::unhex(&digits).filter(|bytes| !bytes.is_empty());
    bytes.ok_or(BadLayoutItem::Hexadecimal)
}

/// Reads a number; `0x` stands in front of hexadecimal digits.
fn parse_integer(text: &str) -> Result<i128, BadLayoutItem> {
    let text = text.trim();
    let value = match text.strip_prefix("0x") {
        Some(digits) => i128::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    };
    let value = value.filter(|value: &i128| value.unsigned_abs() <= u64::MAX.into());
    value.ok_or_else(|| BadLayoutItem::Integer(cut(text, 40)))
}
