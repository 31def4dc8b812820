//! Bytes become fields.

use super::{Check, Datum, Endian, Extent, Form, Item, Layout, Misfit, Number, Of, What, Width, hex};

impl Layout {
    /// The fields of the message that `bytes` are.
    ///
    /// # Errors
    /// If they are not a message of this layout.
    pub fn decode(&self, bytes: &[u8]) -> Result<Vec<(&str, Datum)>, Misfit> {
        let mut reading = Reading { bytes, at: 0, lengths: Vec::new(), fields: Vec::new() };
        for (n, item) in self.items.iter().enumerate() {
            let after = self.items[n + 1..].iter().filter_map(Item::fixed).sum();
            reading.item(item, after)?;
        }
        match bytes.len() - reading.at {
            0 => Ok(reading.fields),
            more => Err(reading.wrong(format!("{more} bytes more than the layout has"))),
        }
    }
}

/// A message that is read.
struct Reading<'b, 'l> {
    bytes: &'b [u8],
    /// How many bytes are used.
    at: usize,
    /// Lengths of fields that follow.
    lengths: Vec<(&'l str, usize)>,
    fields: Vec<(&'l str, Datum)>,
}

impl<'l> Reading<'_, 'l> {
    fn wrong(&self, problem: String) -> Misfit {
        Misfit { at: self.at, problem }
    }

    fn rest(&self) -> &[u8] {
        &self.bytes[self.at..]
    }

    /// So many bytes.
    fn take(&mut self, count: usize) -> Result<&[u8], Misfit> {
        let left = self.rest().len();
        if count > left {
            return Err(self.wrong(format!("{count} bytes are needed, {left} are there")));
        }
        self.at += count;
        Ok(&self.bytes[self.at - count..self.at])
    }

    /// Reads an item; those after it have `after` bytes, as far as that is fixed.
    fn item(&mut self, item: &'l Item, after: usize) -> Result<(), Misfit> {
        match item {
            Item::Const(expected) => self.constant(expected),
            Item::Number(number, what) => {
                let (value, width) = self.number(*number)?;
                self.what(what, value, width)
            }
            Item::Bits(number, parts) => self.bits(*number, parts),
            Item::Bytes { field, form, extent } => self.field(field, *form, extent, after),
            Item::Check(check, endian) => self.check(*check, *endian),
            Item::Skip(count) => self.take(*count).map(drop),
        }
    }

    fn constant(&mut self, expected: &[u8]) -> Result<(), Misfit> {
        let start = self.at;
        let found = self.take(expected.len())?;
        if found == expected {
            return Ok(());
        }
        let problem = format!("0x{} is expected, not 0x{}", hex(expected), hex(found));
        Err(Misfit { at: start, problem })
    }

    /// A number and how many bytes it has.
    fn number(&mut self, number: Number) -> Result<(i128, usize), Misfit> {
        let Some((value, width)) = number.read(self.rest()) else {
            return Err(self.wrong("the message ends inside a number".into()));
        };
        if value > number.bounds().1 {
            return Err(self.wrong("a number has more than 64 bits".into()));
        }
        self.at += width;
        Ok((value, width))
    }

    /// Takes a number of `width` bytes for what it is.
    fn what(&mut self, what: &'l What, value: i128, width: usize) -> Result<(), Misfit> {
        let (at, total, rest) = (self.at - width, self.bytes.len(), self.rest().len());
        let must_be = |expected: i128| {
            if value == expected {
                Ok(())
            } else {
                Err(Misfit { at, problem: format!("{} is {expected} here, not {value}", what.shown()) })
            }
        };
        match what {
            What::Const(expected) => must_be(*expected),
            What::Len(Of::Message, plus) => must_be(total as i128 + plus),
            What::Len(Of::Rest, plus) => must_be(rest as i128 + plus),
            What::Len(Of::Field(name), plus) => {
                let length = usize::try_from(value - plus);
                let length = length
                    .map_err(|_| Misfit { at, problem: format!("{} cannot be {value}", what.shown()) })?;
                self.lengths.push((name, length));
                Ok(())
            }
            What::Field(name, _) => {
                self.fields.push((name, Datum::Number(value)));
                Ok(())
            }
        }
    }

    fn bits(&mut self, number: Number, parts: &'l [(u32, What)]) -> Result<(), Misfit> {
        let (value, width) = self.number(number)?;
        let mut left: u32 = parts.iter().map(|(count, _)| count).sum();
        for (count, what) in parts {
            left -= count;
            self.what(what, value >> left & ((1 << count) - 1), width)?;
        }
        Ok(())
    }

    fn field(&mut self, name: &'l str, form: Form, extent: &Extent, after: usize) -> Result<(), Misfit> {
        let start = self.at;
        let bytes = match extent {
            Extent::Fixed(count) => {
                let bytes = self.take(*count)?;
                let filling = bytes.iter().rev().take_while(|&&byte| byte == 0).count();
                let kept = if form == Form::Text { count - filling } else { *count };
                bytes[..kept].to_vec()
            }
            Extent::Counted => {
                let length =
                    self.lengths.iter().find(|(other, _)| *other == name).map_or(0, |(_, length)| *length);
                self.take(length)?.to_vec()
            }
            Extent::Rest => self.take(self.rest().len().saturating_sub(after))?.to_vec(),
            Extent::Until(mark) => {
                let end = self.rest().windows(mark.len()).position(|window| window == mark);
                let end =
                    end.ok_or_else(|| self.wrong(format!("`{name}` does not end with 0x{}", hex(mark))))?;
                let bytes = self.take(end)?.to_vec();
                self.take(mark.len())?;
                bytes
            }
        };
        if form == Form::Text && std::str::from_utf8(&bytes).is_err() {
            return Err(Misfit { at: start, problem: format!("`{name}` is not UTF-8") });
        }
        self.fields.push((name, Datum::Bytes(bytes)));
        Ok(())
    }

    fn check(&mut self, check: Check, endian: Endian) -> Result<(), Misfit> {
        let (start, expected) = (self.at, i128::from(check.of(&self.bytes[..self.at])));
        let number = Number { width: Width::Bytes(check.width()), is_signed: false, endian };
        match self.number(number)? {
            (found, _) if found == expected => Ok(()),
            (found, _) => {
                let problem = format!("the checksum is {expected:#x} here, not {found:#x}");
                Err(Misfit { at: start, problem })
            }
        }
    }
}
