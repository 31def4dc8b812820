//! Readers: text to [`MachineListing`], never a panic, an error with its place otherwise.
//!
//! Four forms are known: the DOT dialects of the public benchmark collections,
//! KISS2, and tables of four columns (`state input output next`) with names or
//! with numbers only.

#[doc(hidden)]
pub mod dot;
mod kiss;
mod table;

pub use dot::read_dot;
pub use kiss::read_kiss2;
pub use table::{read_numbers, read_table};

use std::ops::Range;

use crate::error::ReadError;
use crate::mealy::MachineListing;

/// Bytes of a text.
pub type TextPlace = Range<usize>;

/// A machine, and the places of its parts in the text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MachineText {
    /// The name of the machine; only DOT has one.
    pub name: Option<String>,
    /// The machine.
    pub listing: MachineListing,
    /// For each of `listing.states` the place where it is first named; in a table of numbers the row.
    pub states: Vec<TextPlace>,
    /// For each of `listing.rows` its place.
    pub rows: Vec<TextPlace>,
}

/// A text form of machines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MachineFormat {
    /// Graphviz, edges labelled `input/output`.
    Dot,
    /// Berkeley KISS2.
    Kiss2,
    /// Four columns of names; the first state is initial.
    Table,
    /// Four columns of numbers; state 0 is initial.
    Numbers,
}

impl MachineFormat {
    /// The form that files with this extension have.
    #[must_use]
    pub fn from_extension(extension: &str) -> Option<Self> {
        match extension {
            "dot" | "gv" => Some(Self::Dot),
            "kiss" | "kiss2" => Some(Self::Kiss2),
            "txt" => Some(Self::Table),
            "fsm" => Some(Self::Numbers),
            _ => None,
        }
    }
}

/// Reads `text` as `form`.
pub fn read(form: MachineFormat, text: &str) -> Result<MachineListing, ReadError> {
    match read_with_places(form, text) {
        Ok(reading) => Ok(reading.listing),
        Err(mut wrong) => Err(wrong.swap_remove(0)),
    }
}

/// Reads `text` as `form`, with the places.
///
/// # Errors
/// If it is not of the form: what is wrong, at least one thing, in the order of the text.
pub fn read_with_places(form: MachineFormat, text: &str) -> Result<MachineText, Vec<ReadError>> {
    match form {
        MachineFormat::Dot => return dot::read_dot_with_places(text),
        MachineFormat::Kiss2 => kiss::read_kiss2_with_places(text),
        MachineFormat::Table => table::read_table_with_places(text),
        MachineFormat::Numbers => table::read_numbers_with_places(text),
    }
    .map_err(|error| vec![error])
}

/// A line of columns, up to a `#`.
struct ColumnLine<'t> {
    fields: Vec<&'t str>,
    /// The bytes from the first column to the last.
    place: TextPlace,
}

/// The lines of `text` that are not empty.
fn non_empty_lines(text: &str) -> impl Iterator<Item = ColumnLine<'_>> {
    text.split('\n').filter_map(|line| {
        let content = line.split('#').next().unwrap_or("").trim();
        let fields: Vec<&str> = content.split_whitespace().collect();
        (!fields.is_empty()).then(|| ColumnLine { fields, place: place_of(text, content) })
    })
}

/// Returns the bytes that `part`, a slice of `text`, has in it.
fn place_of(text: &str, part: &str) -> TextPlace {
    let start = part.as_ptr() as usize - text.as_ptr() as usize;
    start..start + part.len()
}
