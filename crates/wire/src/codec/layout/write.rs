//! Fields become bytes.

use thiserror::Error;

use super::{
    FieldExtent, FieldForm, LayoutItem, LayoutValue, LengthOf, MessageLayout, NumberLayout,
    NumberOutOfBounds, NumberRole, Width,
};

/// The reason why values have no bytes in a layout.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum LayoutUnfit {
    /// A number without a name exceeds its bounds.
    #[error(transparent)]
    Bounds(#[from] NumberOutOfBounds),
    /// A number exceeds its bounds.
    #[error("{what}: {problem}")]
    Number {
        /// The meaning of the number, for people.
        what: String,
        /// The number and the bounds it exceeds.
        problem: NumberOutOfBounds,
    },
    /// A number has more bits than its place.
    #[error("{what}: {value} does not fit into {count} bits")]
    Bits {
        /// The meaning of the number, for people.
        what: String,
        /// The number.
        value: i128,
        /// The number of bits of its place.
        count: u32,
    },
    /// Bytes do not fit into their place.
    #[error("`{field}` {problem}")]
    Bytes {
        /// The field.
        field: String,
        /// The reason why the bytes do not fit.
        problem: ExtentUnfit,
    },
    /// Bytes stand where a number must.
    #[error("`{0}` is not a number")]
    NotANumber(String),
    /// A number stands where bytes must.
    #[error("`{0}` has no bytes")]
    NoBytes(String),
    /// A field is missing.
    #[error("`{0}` has no value")]
    NoValue(String),
}

/// The reason why bytes could not be read back from their place.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ExtentUnfit {
    /// The place has another size.
    #[error("has {found} bytes, not {size}")]
    Size {
        /// The number of bytes of the value.
        found: usize,
        /// The number of bytes of the place.
        size: usize,
    },
    /// The place is too small.
    #[error("has {found} bytes, more than {size}")]
    TooLong {
        /// The number of bytes of the value.
        found: usize,
        /// The largest number of bytes in the place.
        size: usize,
    },
    /// The value ends with a zero, and the place is filled up with zeros.
    #[error("ends with a zero")]
    TrailingZero,
    /// The value contains the mark that ends the place.
    #[error("holds its own end mark")]
    OwnMark,
}

/// Values of fields, by name.
type NamedFields<'f> = [(&'f str, LayoutValue)];

/// The size of a message and of the part after an item, in bytes.
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
    pub fn encode(&self, fields: &NamedFields<'_>) -> Result<Vec<u8>, LayoutUnfit> {
        let lengths = self.sizes_of(fields)?;
        let total = lengths.iter().sum();
        let mut bytes = Vec::with_capacity(total);
        for (item, length) in self.items.iter().zip(&lengths) {
            // The lengths were computed before anything is written, since a length stands before the bytes that it
            // counts.
            let sizes = LayoutSizes { total, rest: total - bytes.len() - length };
            item.write(fields, sizes, &mut bytes)?;
        }
        debug_assert_eq!(bytes.len(), total, "every item has the size that was computed for it");
        Ok(bytes)
    }

    /// Returns the size of each item in bytes; computed from the last to the first, because the size of a length may
    /// depend on its value.
    fn sizes_of(&self, fields: &NamedFields<'_>) -> Result<Vec<usize>, LayoutUnfit> {
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
    /// Returns the number of bytes that the item takes with these values.
    fn length(&self, fields: &NamedFields<'_>, rest: usize) -> Result<usize, LayoutUnfit> {
        match (self.fixed_size(), self) {
            (Some(length), _) => Ok(length),
            // No length of the whole message has a length that varies.
            (None, Self::Number(number, what)) => {
                write_number(*number, what, fields, LayoutSizes { total: 0, rest }).map(|b| b.len())
            }
            (None, Self::Bytes { field, extent: FieldExtent::Until(mark), .. }) => {
                Ok(bytes_of(fields, field)?.len() + mark.len())
            }
            (None, Self::Bytes { field, .. }) => Ok(bytes_of(fields, field)?.len()),
            // Only numbers and fields have a size that varies; the other items were answered by their fixed size.
            (None, _) => Ok(0),
        }
    }

    /// Appends the bytes of the item.
    fn write(
        &self,
        fields: &NamedFields<'_>,
        sizes: LayoutSizes,
        bytes: &mut Vec<u8>,
    ) -> Result<(), LayoutUnfit> {
        match self {
            Self::Const(fixed) => bytes.extend(fixed),
            Self::Number(number, what) => bytes.extend(write_number(*number, what, fields, sizes)?),
            Self::Bits(number, parts) => bytes.extend(write_bits(*number, parts, fields, sizes)?),
            Self::Bytes { field, form, extent } => {
                let value = bytes_of(fields, field)?;
                let wrong = |problem| LayoutUnfit::Bytes { field: field.clone(), problem };
                check_extent(*form, extent, value).map_err(wrong)?;
                bytes.extend(value);
                match extent {
                    FieldExtent::Counted | FieldExtent::Rest => (),
                    FieldExtent::Fixed(count) => bytes.resize(bytes.len() + count - value.len(), 0),
                    FieldExtent::Until(mark) => bytes.extend(mark),
                }
            }
            // What is written so far is what the reader has read so far, so both sum up the same bytes.
            Self::Check(check, endian) => {
                let number =
                    NumberLayout { width: Width::Bytes(check.width()), is_signed: false, endian: *endian };
                let sum = check.compute(bytes);
                bytes.extend(number.bytes(sum.into())?);
            }
            Self::Skip(count) => bytes.resize(bytes.len() + count, 0),
        }
        Ok(())
    }
}

/// Checks that a value can be read back from the bytes of its place.
fn check_extent(form: FieldForm, extent: &FieldExtent, value: &[u8]) -> Result<(), ExtentUnfit> {
    let found = value.len();
    match (extent, form) {
        (FieldExtent::Counted | FieldExtent::Rest, _) => Ok(()),
        // Bytes may end with zeros of their own, so they must fill their place; a text may be shorter, and the zeros
        // that fill its place are dropped when it is read.
        (&FieldExtent::Fixed(size), FieldForm::Hex) if found != size => {
            Err(ExtentUnfit::Size { found, size })
        }
        (&FieldExtent::Fixed(size), FieldForm::Text) if found > size => {
            Err(ExtentUnfit::TooLong { found, size })
        }
        (FieldExtent::Fixed(_), FieldForm::Text) if value.ends_with(&[0]) => Err(ExtentUnfit::TrailingZero),
        (FieldExtent::Fixed(_), _) => Ok(()),
        (FieldExtent::Until(mark), _) => {
            // The mark may begin inside the value.
            let whole = [value, mark].concat();
            match whole.windows(mark.len()).position(|window| window == mark) {
                Some(at) if at == found => Ok(()),
                _ => Err(ExtentUnfit::OwnMark),
            }
        }
    }
}

/// The bytes of a number.
fn write_number(
    number: NumberLayout,
    what: &NumberRole,
    fields: &NamedFields<'_>,
    sizes: LayoutSizes,
) -> Result<Vec<u8>, LayoutUnfit> {
    let wrong = |problem| LayoutUnfit::Number { what: what.role_text(), problem };
    number.bytes(what.number_to_write(fields, sizes)?).map_err(wrong)
}

/// The bytes of numbers of some bits each.
fn write_bits(
    number: NumberLayout,
    parts: &[(u32, NumberRole)],
    fields: &NamedFields<'_>,
    sizes: LayoutSizes,
) -> Result<Vec<u8>, LayoutUnfit> {
    let mut all = 0i128;
    for (count, what) in parts {
        let value = what.number_to_write(fields, sizes)?;
        // A part that is too large would change the part before it.
        if !(0..1 << count).contains(&value) {
            return Err(LayoutUnfit::Bits { what: what.role_text(), value, count: *count });
        }
        all = all << count | value;
    }
    Ok(number.bytes(all)?)
}

impl NumberRole {
    /// The number to be written.
    fn number_to_write(&self, fields: &NamedFields<'_>, sizes: LayoutSizes) -> Result<i128, LayoutUnfit> {
        match self {
            Self::Const(value) => Ok(*value),
            Self::Len(LengthOf::Message, plus) => Ok(sizes.total as i128 + plus),
            Self::Len(LengthOf::Rest, plus) => Ok(sizes.rest as i128 + plus),
            Self::Len(LengthOf::Field(name), plus) => Ok(bytes_of(fields, name)?.len() as i128 + plus),
            Self::Field(name, _) => match datum(fields, name)? {
                LayoutValue::Number(value) => Ok(*value),
                LayoutValue::Bytes(_) => Err(LayoutUnfit::NotANumber(name.clone())),
            },
        }
    }

    /// Returns the meaning of the number, for people.
    pub(super) fn role_text(&self) -> String {
        match self {
            Self::Const(value) => format!("the constant {value}"),
            Self::Len(LengthOf::Message, _) => "the length of the message".into(),
            Self::Len(LengthOf::Rest, _) => "the length of the rest".into(),
            Self::Len(LengthOf::Field(name), _) => format!("the length of `{name}`"),
            Self::Field(name, _) => format!("`{name}`"),
        }
    }
}

/// Returns the value of a field.
fn datum<'f>(fields: &'f NamedFields<'_>, name: &str) -> Result<&'f LayoutValue, LayoutUnfit> {
    let found = fields.iter().find(|(other, _)| *other == name);
    found.map(|(_, datum)| datum).ok_or_else(|| LayoutUnfit::NoValue(name.to_owned()))
}

fn bytes_of<'f>(fields: &'f NamedFields<'_>, name: &str) -> Result<&'f [u8], LayoutUnfit> {
    match datum(fields, name)? {
        LayoutValue::Bytes(bytes) => Ok(bytes),
        LayoutValue::Number(_) => Err(LayoutUnfit::NoBytes(name.to_owned())),
    }
}
