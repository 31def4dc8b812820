//! Tables: one transition per line, `state input output next`; `#` starts a comment.

use super::{ColumnLine, MachineText, TextPlace, non_empty_lines, place_of};
use crate::error::{ReadError, ReadErrorKind};
use crate::mealy::{MachineListing, TransitionRow};

/// Reads a table of names; the state of the first row is initial.
pub fn read_table(text: &str) -> Result<MachineListing, ReadError> {
    Ok(read_table_with_places(text)?.listing)
}

/// As [`read_table`], with the places.
pub(super) fn read_table_with_places(text: &str) -> Result<MachineText, ReadError> {
    let mut reading = read_rows(text)?;
    let Some(first) = reading.listing.rows.first() else {
        return Err(ReadError::new(text, 0..0, "no transition found")
            .with_kind(ReadErrorKind::Empty)
            .with_hint("write lines like `s1 a 0 s2`"));
    };
    reading.listing.initial.clone_from(&first.from);
    Ok(reading)
}

/// Reads a table of numbers; state 0 is initial.
pub fn read_numbers(text: &str) -> Result<MachineListing, ReadError> {
    Ok(read_numbers_with_places(text)?.listing)
}

/// As [`read_numbers`], with the places.
pub(super) fn read_numbers_with_places(text: &str) -> Result<MachineText, ReadError> {
    for ColumnLine { fields, .. } in non_empty_lines(text) {
        if let Some(field) = fields.iter().find(|field| field.parse::<u32>().is_err()) {
            let message = format!("`{field}` is not a number");
            return Err(ReadError::new(text, place_of(text, field), message)
                .with_hint("this form names everything by number"));
        }
    }
    let mut reading = read_rows(text)?;
    if !reading.listing.rows.iter().any(|row| row.from == "0") {
        return Err(ReadError::new(text, 0..0, "state 0, the initial state, has no transition")
            .with_kind(ReadErrorKind::Empty));
    }
    reading.listing.initial = "0".to_owned();
    sort_symbols(&mut reading);
    Ok(reading)
}

/// Rows in numeric order, so that ids follow the numbers wherever they are dense.
fn sort_symbols(reading: &mut MachineText) {
    let number = |field: &String| field.parse::<u32>().unwrap_or(u32::MAX);
    let listing = &mut reading.listing;
    let mut rows: Vec<(TransitionRow, TextPlace)> =
        std::mem::take(&mut listing.rows).into_iter().zip(std::mem::take(&mut reading.rows)).collect();
    rows.sort_by_key(|(row, _)| {
        (number(&row.from), number(&row.input), number(&row.output), number(&row.to))
    });
    let mut states: Vec<(String, TextPlace)> = rows
        .iter()
        .flat_map(|(row, place)| [(row.from.clone(), place.clone()), (row.to.clone(), place.clone())])
        .collect();
    states.sort_by_key(|(state, place)| (number(state), place.start));
    states.dedup_by(|later, first| later.0 == first.0);
    (listing.states, reading.states) = states.into_iter().unzip();
    (listing.rows, reading.rows) = rows.into_iter().unzip();
}

fn read_rows(text: &str) -> Result<MachineText, ReadError> {
    let mut reading = MachineText::default();
    for ColumnLine { fields, place } in non_empty_lines(text) {
        let [from, input, output, to] = fields[..] else {
            let message = format!("expected 4 columns, found {}", fields.len());
            return Err(
                ReadError::new(text, place, message).with_hint("a row is `state input output next-state`")
            );
        };
        let row =
            TransitionRow { from: from.into(), input: input.into(), output: output.into(), to: to.into() };
        reading.listing.rows.push(row);
        reading.rows.push(place);
    }
    Ok(reading)
}
