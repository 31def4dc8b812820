//! Binary messages by layout: the position and form of each field in the bytes of a message.
//!
//! A layout is a list of items, read from left to right:
//!
//! | item | bytes |
//! | --- | --- |
//! | `0x0103`, `'OK'` | these |
//! | `u16 level`, `i32le t`, `varint n` | a number: 1 to 8 bytes, or seven bits a byte, least first |
//! | `u8 colour(red = 1, blue = 4)` | a number that stands for a name |
//! | `u8 = 3` | a number that is always the same |
//! | `u16 len(name)`, `u16 len(rest) + 2` | a length in bytes: of a field, of all that follows, of the `message` |
//! | `bits(3 mode, 1 on, 4 = 0)` | bits, most significant first; `bitsle` for the least significant byte first |
//! | `text name`, `hex key` | as many bytes as a length before says, else all that is left |
//! | `text(8) name` | this many; text is filled up with zeros |
//! | `text name until 0x00` | up to these, which follow it |
//! | `skip(4)` | anything; zeros where we write |
//! | `sum8`, `xor8`, `crc16`, `crc16modbus`, `crc32` | a checksum of all bytes before it |
//!
//! *Promises.* What was written is read back as it was. Bytes are a message only if all of them are
//! used and every constant, length and checksum is right. No bytes and no layout text panic.

mod checksum;
mod number;
mod overlap;
mod parse;
mod read;
#[cfg(test)]
mod tests;
mod write;

use std::fmt;

use ioxide_record::event::ScriptValuePlace;

pub use self::checksum::Checksum;
pub use self::number::{Endian, NumberLayout, NumberOutOfBounds, Width};
pub use self::parse::{BadLayout, BadLayoutItem};
pub use self::write::{ExtentUnfit, LayoutUnfit};

/// The layout of a binary message: the items of its bytes in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessageLayout {
    items: Vec<LayoutItem>,
}

/// A part of a layout.
#[derive(Clone, Debug, PartialEq, Eq)]
enum LayoutItem {
    Const(Vec<u8>),
    Number(NumberLayout, NumberRole),
    /// Bits of a number, most significant first.
    Bits(NumberLayout, Vec<(u32, NumberRole)>),
    Bytes {
        field: String,
        form: FieldForm,
        extent: FieldExtent,
    },
    Check(Checksum, Endian),
    Skip(usize),
}

/// The meaning of a number in a layout.
#[derive(Clone, Debug, PartialEq, Eq)]
enum NumberRole {
    Field(String, Vec<(String, i128)>),
    Const(i128),
    Len(LengthOf, i128),
}

/// The bytes that a length counts.
#[derive(Clone, Debug, PartialEq, Eq)]
enum LengthOf {
    Field(String),
    Message,
    Rest,
}

/// The notation of the bytes of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldForm {
    /// UTF-8.
    Text,
    /// Bytes, two hexadecimal digits each.
    Hex,
}

/// The rule that says where the bytes of a field end.
#[derive(Clone, Debug, PartialEq, Eq)]
enum FieldExtent {
    Fixed(usize),
    /// After as many bytes as a length before it says.
    Counted,
    Until(Vec<u8>),
    /// At the items after it, which have a fixed size.
    Rest,
}

/// A value as layouts know it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LayoutValue {
    /// A number.
    Number(i128),
    /// Bytes.
    Bytes(Vec<u8>),
}

/// The kind of place that a field has in a layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldShape<'l> {
    /// A number, which may stand for a name.
    Number(&'l [(String, i128)]),
    /// Bytes.
    Bytes(FieldForm),
}

/// The reason why bytes are not a message of a layout.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LayoutMismatch {
    /// The position in the bytes, from 0.
    pub at: usize,
    /// The problem at that position.
    pub problem: String,
}

impl fmt::Display for LayoutMismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "at byte {}: {}", self.at, self.problem)
    }
}

impl MessageLayout {
    /// The fields and how they are written, in order.
    pub fn fields(&self) -> impl Iterator<Item = (&str, FieldShape<'_>)> {
        self.items.iter().flat_map(LayoutItem::fields)
    }
}

impl MessageLayout {
    /// Returns the bytes that every message begins with.
    #[must_use]
    pub fn constant_prefix(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for item in &self.items {
            match item {
                LayoutItem::Const(more) => bytes.extend(more),
                LayoutItem::Number(number, NumberRole::Const(n)) => match number.bytes(*n) {
                    Ok(more) => bytes.extend(more),
                    // A constant that has no bytes was refused when the layout was read.
                    Err(_) => break,
                },
                _ => break,
            }
        }
        bytes
    }

    /// Returns the place of a field whose position is the same in every message; `None` for others.
    #[must_use]
    pub fn place_of(&self, field: &str) -> Option<ScriptValuePlace> {
        // A script has no reader of layouts: it takes a value out of a reply by its position, counted from the start,
        // or for the end of a field from the end of the message. So everything before the field must have a fixed size,
        // and everything behind it too where its own size varies.
        let (mut at, mut items) = (0, self.items.iter());
        while let Some(item) = items.next() {
            match item {
                LayoutItem::Number(number, NumberRole::Field(name, names)) if name == field => {
                    // A varint, and a number that stands for a name, would need code that a script does not have.
                    let Width::Bytes(width) = number.width else { return None };
                    let (little, signed) = (number.endian == Endian::Little, number.is_signed);
                    return names.is_empty().then_some(ScriptValuePlace::Number {
                        at,
                        width,
                        little,
                        signed,
                    });
                }
                LayoutItem::Bytes { field: name, form, extent } if name == field => {
                    let hex = *form == FieldForm::Hex;
                    let tail = items.map(LayoutItem::fixed_size).sum::<Option<usize>>();
                    return match extent {
                        FieldExtent::Fixed(count) => {
                            Some(ScriptValuePlace::Bytes { at, tail: None, count: Some(*count), hex })
                        }
                        FieldExtent::Rest | FieldExtent::Counted => {
                            Some(ScriptValuePlace::Bytes { at, tail: Some(tail?), count: None, hex })
                        }
                        FieldExtent::Until(mark) => Some(ScriptValuePlace::Bytes {
                            at,
                            tail: Some(tail? + mark.len()),
                            count: None,
                            hex,
                        }),
                    };
                }
                other => at += other.fixed_size()?,
            }
        }
        None
    }
}

impl NumberRole {
    /// Returns the field that the number holds, if it holds one.
    fn field(&self) -> Option<(&str, FieldShape<'_>)> {
        match self {
            Self::Field(name, names) => Some((name, FieldShape::Number(names))),
            Self::Const(_) | Self::Len(..) => None,
        }
    }
}

impl LayoutItem {
    /// Returns the fields that the item holds.
    fn fields(&self) -> Vec<(&str, FieldShape<'_>)> {
        match self {
            Self::Number(_, what) => what.field().into_iter().collect(),
            Self::Bits(_, parts) => parts.iter().filter_map(|(_, what)| what.field()).collect(),
            Self::Bytes { field, form, .. } => vec![(field, FieldShape::Bytes(*form))],
            Self::Const(_) | Self::Check(..) | Self::Skip(_) => Vec::new(),
        }
    }

    /// Returns the size in bytes; `None` if it varies.
    fn fixed_size(&self) -> Option<usize> {
        match self {
            Self::Const(bytes) => Some(bytes.len()),
            // Only a varint, and a field that is counted or goes up to a mark or to the end, has a size that varies.
            Self::Number(number, _) | Self::Bits(number, _) => number.fixed_size(),
            Self::Bytes { extent: FieldExtent::Fixed(count), .. } | Self::Skip(count) => Some(*count),
            Self::Bytes { .. } => None,
            Self::Check(check, _) => Some(check.width()),
        }
    }
}

/// Bytes as hexadecimal digits.
#[must_use]
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns the bytes of hexadecimal digits, two each; `None` if they are no such digits.
#[must_use]
pub fn unhex(digits: &str) -> Option<Vec<u8>> {
    if !digits.len().is_multiple_of(2) || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    let pairs = digits.as_bytes().chunks(2);
    pairs.map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()).collect()
}
