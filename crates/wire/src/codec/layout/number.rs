//! Numbers in bytes.

use std::str::FromStr;

use thiserror::Error;

/// A number that has no bytes in its place.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{value} does not fit: it is not in {least}..{greatest}")]
pub struct NumberOutOfBounds {
    /// The number.
    pub value: i128,
    /// The least that fits.
    pub least: i128,
    /// The greatest that fits.
    pub greatest: i128,
}

/// The layout of a number in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NumberLayout {
    /// The size.
    pub width: Width,
    /// True if the number is in two's complement and may be negative.
    pub is_signed: bool,
    /// The order of the bytes.
    pub endian: Endian,
}

/// The size of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Width {
    /// A fixed number of bytes, 1 to 8.
    Bytes(usize),
    /// Seven bits a byte, the least significant first; all but the last have their highest bit set.
    Varint,
}

/// The order of bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Endian {
    /// The most significant byte first.
    #[default]
    Big,
    /// The least significant byte first.
    Little,
}

impl FromStr for Endian {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        match text {
            "big" => Ok(Self::Big),
            "little" => Ok(Self::Little),
            _ => Err(()),
        }
    }
}

/// The most bytes of a number with 64 bits, seven in each.
const MAX_VARINT: usize = 10;

impl NumberLayout {
    /// The number that a word such as `u8`, `i16le` or `varint` names.
    #[must_use]
    pub fn from_word(word: &str, default: Endian) -> Option<Self> {
        if word == "varint" {
            return Some(Self { width: Width::Varint, is_signed: false, endian: Endian::Little });
        }
        let is_signed = word.starts_with('i');
        let rest = word.strip_prefix(['u', 'i'])?;
        let (digits, endian) = match (rest.strip_suffix("le"), rest.strip_suffix("be")) {
            (Some(digits), _) => (digits, Endian::Little),
            (_, Some(digits)) => (digits, Endian::Big),
            (None, None) => (rest, default),
        };
        let bits = digits.parse::<usize>().ok().filter(|_| !digits.starts_with(['0', '+']))?;
        // Whole bytes only; `bits(..)` is for numbers that are smaller than a byte or lie across bytes.
        let is_known = bits % 8 == 0 && (8..=64).contains(&bits);
        is_known.then_some(Self { width: Width::Bytes(bits / 8), is_signed, endian })
    }

    /// Returns the size in bytes; `None` if it varies.
    #[must_use]
    pub const fn fixed_size(self) -> Option<usize> {
        match self.width {
            Width::Bytes(count) => Some(count),
            Width::Varint => None,
        }
    }

    /// The least and the greatest number that fits.
    #[must_use]
    pub fn bounds(self) -> (i128, i128) {
        // A varint holds up to 64 bits.
        let bits = self.fixed_size().unwrap_or(8) * 8;
        if self.is_signed { (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) } else { (0, (1 << bits) - 1) }
    }

    /// Returns `value` if it is within the bounds.
    ///
    /// # Errors
    /// If it does not fit.
    pub fn fitting(self, value: i128) -> Result<i128, NumberOutOfBounds> {
        let (least, greatest) = self.bounds();
        if (least..=greatest).contains(&value) {
            Ok(value)
        } else {
            Err(NumberOutOfBounds { value, least, greatest })
        }
    }

    /// The bytes of `value`.
    ///
    /// # Errors
    /// If it does not fit.
    pub fn bytes(self, value: i128) -> Result<Vec<u8>, NumberOutOfBounds> {
        let value = self.fitting(value)?;
        let Width::Bytes(count) = self.width else { return Ok(varint(value as u64)) };
        // Two's complement: the low bytes of a negative `i128` are those of the narrower number.
        let all = value.to_be_bytes();
        let mut bytes = all[all.len() - count..].to_vec();
        if self.endian == Endian::Little {
            bytes.reverse();
        }
        Ok(bytes)
    }

    /// Returns the number at the front of `bytes` and its size in bytes; `None` if more must arrive.
    #[must_use]
    pub fn read_number(self, bytes: &[u8]) -> Option<(i128, usize)> {
        let Width::Bytes(count) = self.width else { return read_varint(bytes) };
        let mut bytes = bytes.get(..count)?.to_vec();
        if self.endian == Endian::Little {
            bytes.reverse();
        }
        // Read as unsigned first; a value above the greatest that fits is a negative number in two's complement.
        let value = bytes.iter().fold(0i128, |sum, &byte| sum * 256 + i128::from(byte));
        let (_, greatest) = self.bounds();
        Some((if value > greatest { value - (1 << (8 * count)) } else { value }, count))
    }

    /// Reads a number as [`read_number`](Self::read_number) does, as unsigned.
    #[must_use]
    pub fn read_unsigned(self, bytes: &[u8]) -> Option<(u64, usize)> {
        let (value, count) = Self { is_signed: false, ..self }.read_number(bytes)?;
        Some((u64::try_from(value).unwrap_or(u64::MAX), count))
    }
}

/// Returns a number in groups of seven bits, the lowest first.
fn varint(mut value: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
    bytes
}

/// Reads a varint; one of more than [`MAX_VARINT`] bytes counts as larger than any that fits.
fn read_varint(bytes: &[u8]) -> Option<(i128, usize)> {
    let mut value = 0i128;
    for (n, &byte) in bytes.iter().take(MAX_VARINT).enumerate() {
        value |= i128::from(byte & 0x7f) << (7 * n);
        if byte & 0x80 == 0 {
            return Some((value, n + 1));
        }
    }
    // After ten bytes no further one can help: the number is too large, and waiting for its end would never end.
    (bytes.len() >= MAX_VARINT).then_some((i128::MAX, MAX_VARINT))
}
