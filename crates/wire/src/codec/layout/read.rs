//! Bytes become fields.

use super::{
    Checksum, Endian, FieldExtent, FieldForm, LayoutItem, LayoutMismatch, LayoutValue, LengthOf,
    MessageLayout, NumberLayout, NumberRole, Width, hex,
};

impl MessageLayout {
    /// The fields of the message that `bytes` are.
    ///
    /// # Errors
    /// If they are not a message of this layout.
    pub fn decode(&self, bytes: &[u8]) -> Result<Vec<(&str, LayoutValue)>, LayoutMismatch> {
        let mut reading = LayoutReader { bytes, at: 0, lengths: Vec::new(), fields: Vec::new() };
        for (n, item) in self.items.iter().enumerate() {
            // Only the fixed sizes behind an item are known before it is read. That is enough: `check_items` refuses a
            // field that goes to the end if an item of varying size follows it.
            let after = self.items[n + 1..].iter().filter_map(LayoutItem::fixed_size).sum();
            reading.item(item, after)?;
        }
        match bytes.len() - reading.at {
            0 => Ok(reading.fields),
            more => Err(reading.mismatch(format!("{more} bytes more than the layout has"))),
        }
    }
}

/// A message that is read.
struct LayoutReader<'b, 'l> {
    bytes: &'b [u8],
    /// The number of bytes read so far.
    at: usize,
    /// Lengths of fields that follow.
    lengths: Vec<(&'l str, usize)>,
    fields: Vec<(&'l str, LayoutValue)>,
}

impl<'l> LayoutReader<'_, 'l> {
    /// Returns the error about the current byte.
    fn mismatch(&self, problem: String) -> LayoutMismatch {
        LayoutMismatch { at: self.at, problem }
    }

    fn remaining_bytes(&self) -> &[u8] {
        &self.bytes[self.at..]
    }

    /// Takes the next `count` bytes.
    fn take_bytes(&mut self, count: usize) -> Result<&[u8], LayoutMismatch> {
        let left = self.remaining_bytes().len();
        if count > left {
            return Err(self.mismatch(format!("{count} bytes are needed, {left} are there")));
        }
        self.at += count;
        Ok(&self.bytes[self.at - count..self.at])
    }

    /// Reads an item; those after it have `after` bytes, as far as that is fixed.
    fn item(&mut self, item: &'l LayoutItem, after: usize) -> Result<(), LayoutMismatch> {
        match item {
            LayoutItem::Const(expected) => self.constant(expected),
            LayoutItem::Number(number, what) => {
                let (value, width) = self.read_number(*number)?;
                self.take_number(what, value, width)
            }
            LayoutItem::Bits(number, parts) => self.bits(*number, parts),
            LayoutItem::Bytes { field, form, extent } => self.read_bytes_field(field, *form, extent, after),
            LayoutItem::Check(check, endian) => self.read_checksum(*check, *endian),
            LayoutItem::Skip(count) => self.take_bytes(*count).map(drop),
        }
    }

    /// Reads bytes that must be `expected`.
    fn constant(&mut self, expected: &[u8]) -> Result<(), LayoutMismatch> {
        let start = self.at;
        let found = self.take_bytes(expected.len())?;
        if found == expected {
            return Ok(());
        }
        let problem = format!("0x{} is expected, not 0x{}", hex(expected), hex(found));
        Err(LayoutMismatch { at: start, problem })
    }

    /// A number and how many bytes it has.
    fn read_number(&mut self, number: NumberLayout) -> Result<(i128, usize), LayoutMismatch> {
        let Some((value, width)) = number.read_number(self.remaining_bytes()) else {
            return Err(self.mismatch("the message ends inside a number".into()));
        };
        if value > number.bounds().1 {
            return Err(self.mismatch("a number has more than 64 bits".into()));
        }
        self.at += width;
        Ok((value, width))
    }

    /// Takes a number of `width` bytes in its meaning.
    fn take_number(&mut self, what: &'l NumberRole, value: i128, width: usize) -> Result<(), LayoutMismatch> {
        let (at, total, rest) = (self.at - width, self.bytes.len(), self.remaining_bytes().len());
        let must_be = |expected: i128| {
            if value == expected {
                Ok(())
            } else {
                Err(LayoutMismatch {
                    at,
                    problem: format!("{} is {expected} here, not {value}", what.role_text()),
                })
            }
        };
        match what {
            NumberRole::Const(expected) => must_be(*expected),
            // A length of the message or of the rest chooses nothing here, since all bytes are there already; it is
            // only checked.
            NumberRole::Len(LengthOf::Message, plus) => must_be(total as i128 + plus),
            NumberRole::Len(LengthOf::Rest, plus) => must_be(rest as i128 + plus),
            NumberRole::Len(LengthOf::Field(name), plus) => {
                let length = usize::try_from(value - plus);
                let length = length.map_err(|_| LayoutMismatch {
                    at,
                    problem: format!("{} cannot be {value}", what.role_text()),
                })?;
                self.lengths.push((name, length));
                Ok(())
            }
            NumberRole::Field(name, _) => {
                self.fields.push((name, LayoutValue::Number(value)));
                Ok(())
            }
        }
    }

    /// Reads a number and takes it apart, the highest bits first.
    fn bits(&mut self, number: NumberLayout, parts: &'l [(u32, NumberRole)]) -> Result<(), LayoutMismatch> {
        // The parts of one number share its bytes, so an error about any of them names the first byte of the number.
        let (value, width) = self.read_number(number)?;
        let mut left: u32 = parts.iter().map(|(count, _)| count).sum();
        for (count, what) in parts {
            left -= count;
            self.take_number(what, value >> left & ((1 << count) - 1), width)?;
        }
        Ok(())
    }

    /// Reads a field of bytes up to where its extent says it ends.
    fn read_bytes_field(
        &mut self,
        name: &'l str,
        form: FieldForm,
        extent: &FieldExtent,
        after: usize,
    ) -> Result<(), LayoutMismatch> {
        let start = self.at;
        let bytes = match extent {
            FieldExtent::Fixed(count) => {
                let bytes = self.take_bytes(*count)?;
                // Zeros at the end of a text only fill its place; bytes may really end with zeros.
                let filling = bytes.iter().rev().take_while(|&&byte| byte == 0).count();
                let kept = if form == FieldForm::Text { count - filling } else { *count };
                bytes[..kept].to_vec()
            }
            FieldExtent::Counted => {
                // `place_item` makes a field counted only behind its length, so the length was read before.
                let length =
                    self.lengths.iter().find(|(other, _)| *other == name).map_or(0, |(_, length)| *length);
                self.take_bytes(length)?.to_vec()
            }
            FieldExtent::Rest => {
                self.take_bytes(self.remaining_bytes().len().saturating_sub(after))?.to_vec()
            }
            FieldExtent::Until(mark) => {
                let end = self.remaining_bytes().windows(mark.len()).position(|window| window == mark);
                let end =
                    end.ok_or_else(|| self.mismatch(format!("`{name}` does not end with 0x{}", hex(mark))))?;
                let bytes = self.take_bytes(end)?.to_vec();
                self.take_bytes(mark.len())?;
                bytes
            }
        };
        if form == FieldForm::Text && std::str::from_utf8(&bytes).is_err() {
            return Err(LayoutMismatch { at: start, problem: format!("`{name}` is not UTF-8") });
        }
        self.fields.push((name, LayoutValue::Bytes(bytes)));
        Ok(())
    }

    /// Reads a checksum and compares it with that of the bytes before it.
    fn read_checksum(&mut self, check: Checksum, endian: Endian) -> Result<(), LayoutMismatch> {
        // A checksum covers all bytes before it, those of constants and lengths too.
        let (start, expected) = (self.at, i128::from(check.compute(&self.bytes[..self.at])));
        let number = NumberLayout { width: Width::Bytes(check.width()), is_signed: false, endian };
        match self.read_number(number)? {
            (found, _) if found == expected => Ok(()),
            (found, _) => {
                let problem = format!("the checksum is {expected:#x} here, not {found:#x}");
                Err(LayoutMismatch { at: start, problem })
            }
        }
    }
}
