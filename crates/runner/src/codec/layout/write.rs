//! Fields become bytes.

use super::{
    FieldExtent, FieldForm, LayoutItem, LayoutValue, LengthOf, MessageLayout, NumberLayout, NumberRole, Width,
};

/// Values of fields, by name.
type NamedFields<'f> = [(&'f str, LayoutValue)];

/// How long a message is, and what is left of it after an item.
#[derive(Clone, Copy)]
struct LayoutSizes {
    total: usize,
    rest: usize,
}

impl MessageLayout {
    /// The bytes of a message with these fields.
    ///
    /// # Errors
    /// If a field is missing or does not fit into its place.
    pub fn encode(&self, fields: &NamedFields<'_>) -> Result<Vec<u8>, String> {
        let lengths = self.sizes_of(fields)?;
        let total = lengths.iter().sum();
        let mut bytes = Vec::with_capacity(total);
        for (item, length) in self.items.iter().zip(&lengths) {
            let sizes = LayoutSizes { total, rest: total - bytes.len() - length };
            item.write(fields, sizes, &mut bytes)?;
        }
        Ok(bytes)
    }

    /// How many bytes each item has; from the last to the first, for a length may be as long as it says.
    fn sizes_of(&self, fields: &NamedFields<'_>) -> Result<Vec<usize>, String> {
        let (mut lengths, mut rest) = (Vec::new(), 0);
        for item in self.items.iter().rev() {
            let length = item.length(fields, rest)?;
            rest += length;
            lengths.push(length);
        }
        lengths.reverse();
        Ok(lengths)
    }
}

impl LayoutItem {
    fn length(&self, fields: &NamedFields<'_>, rest: usize) -> Result<usize, String> {
        match (self.fixed(), self) {
            (Some(length), _) => Ok(length),
            // No length of the whole message has a length that varies.
            (None, Self::Number(number, what)) => {
                written(*number, what, fields, LayoutSizes { total: 0, rest }).map(|b| b.len())
            }
            (None, Self::Bytes { field, extent: FieldExtent::Until(mark), .. }) => {
                Ok(bytes_of(fields, field)?.len() + mark.len())
            }
            (None, Self::Bytes { field, .. }) => Ok(bytes_of(fields, field)?.len()),
            (None, _) => Ok(0),
        }
    }

    fn write(&self, fields: &NamedFields<'_>, sizes: LayoutSizes, bytes: &mut Vec<u8>) -> Result<(), String> {
        match self {
            Self::Const(fixed) => bytes.extend(fixed),
            Self::Number(number, what) => bytes.extend(written(*number, what, fields, sizes)?),
            Self::Bits(number, parts) => bytes.extend(bits(*number, parts, fields, sizes)?),
            Self::Bytes { field, form, extent } => {
                let value = bytes_of(fields, field)?;
                fits(*form, extent, value).map_err(|problem| format!("`{field}` {problem}"))?;
                bytes.extend(value);
                match extent {
                    FieldExtent::Counted | FieldExtent::Rest => (),
                    FieldExtent::Fixed(count) => bytes.resize(bytes.len() + count - value.len(), 0),
                    FieldExtent::Until(mark) => bytes.extend(mark),
                }
            }
            Self::Check(check, endian) => {
                let number =
                    NumberLayout { width: Width::Bytes(check.width()), is_signed: false, endian: *endian };
                let sum = check.of(bytes);
                bytes.extend(number.bytes(sum.into())?);
            }
            Self::Skip(count) => bytes.resize(bytes.len() + count, 0),
        }
        Ok(())
    }
}

/// Whether a value can be told again from the bytes of its place.
fn fits(form: FieldForm, extent: &FieldExtent, value: &[u8]) -> Result<(), String> {
    match (extent, form) {
        (FieldExtent::Counted | FieldExtent::Rest, _) => Ok(()),
        (FieldExtent::Fixed(count), FieldForm::Hex) if value.len() != *count => {
            Err(format!("has {} bytes, not {count}", value.len()))
        }
        (FieldExtent::Fixed(count), FieldForm::Text) if value.len() > *count => {
            Err(format!("has {} bytes, more than {count}", value.len()))
        }
        (FieldExtent::Fixed(_), FieldForm::Text) if value.ends_with(&[0]) => Err("ends with a zero".into()),
        (FieldExtent::Fixed(_), _) => Ok(()),
        (FieldExtent::Until(mark), _) => {
            // The mark may begin inside the value.
            let whole = [value, mark].concat();
            match whole.windows(mark.len()).position(|window| window == mark) {
                Some(at) if at == value.len() => Ok(()),
                _ => Err("holds its own end mark".into()),
            }
        }
    }
}

/// The bytes of a number.
fn written(
    number: NumberLayout,
    what: &NumberRole,
    fields: &NamedFields<'_>,
    sizes: LayoutSizes,
) -> Result<Vec<u8>, String> {
    number.bytes(what.value(fields, sizes)?).map_err(|problem| format!("{}: {problem}", what.shown()))
}

/// The bytes of numbers of some bits each.
fn bits(
    number: NumberLayout,
    parts: &[(u32, NumberRole)],
    fields: &NamedFields<'_>,
    sizes: LayoutSizes,
) -> Result<Vec<u8>, String> {
    let mut all = 0i128;
    for (count, what) in parts {
        let value = what.value(fields, sizes)?;
        if !(0..1 << count).contains(&value) {
            return Err(format!("{}: {value} does not fit into {count} bits", what.shown()));
        }
        all = all << count | value;
    }
    number.bytes(all)
}

impl NumberRole {
    /// The number to be written.
    fn value(&self, fields: &NamedFields<'_>, sizes: LayoutSizes) -> Result<i128, String> {
        match self {
            Self::Const(value) => Ok(*value),
            Self::Len(LengthOf::Message, plus) => Ok(sizes.total as i128 + plus),
            Self::Len(LengthOf::Rest, plus) => Ok(sizes.rest as i128 + plus),
            Self::Len(LengthOf::Field(name), plus) => Ok(bytes_of(fields, name)?.len() as i128 + plus),
            Self::Field(name, _) => match datum(fields, name)? {
                LayoutValue::Number(value) => Ok(*value),
                LayoutValue::Bytes(_) => Err(format!("`{name}` is no number")),
            },
        }
    }

    /// What it is, for people.
    pub(super) fn shown(&self) -> String {
        match self {
            Self::Const(value) => format!("the constant {value}"),
            Self::Len(LengthOf::Message, _) => "the length of the message".into(),
            Self::Len(LengthOf::Rest, _) => "the length of the rest".into(),
            Self::Len(LengthOf::Field(name), _) => format!("the length of `{name}`"),
            Self::Field(name, _) => format!("`{name}`"),
        }
    }
}

fn datum<'f>(fields: &'f NamedFields<'_>, name: &str) -> Result<&'f LayoutValue, String> {
    let found = fields.iter().find(|(other, _)| *other == name);
    found.map(|(_, datum)| datum).ok_or_else(|| format!("`{name}` has no value"))
}

fn bytes_of<'f>(fields: &'f NamedFields<'_>, name: &str) -> Result<&'f [u8], String> {
    match datum(fields, name)? {
        LayoutValue::Bytes(bytes) => Ok(bytes),
        LayoutValue::Number(_) => Err(format!("`{name}` has no bytes")),
    }
}
