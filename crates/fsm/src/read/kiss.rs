//! KISS2: `.i .o .s .p .r` headers, then rows `input state next output`.
//!
//! A `-` in an input stands for both bits, and a row with such inputs is a row
//! for each input it covers. A next state `*` or `-` leaves the answer open.
//! Without `.r` the state of the first row is initial.

use super::{ColumnLine, MachineText, TextPlace, non_empty_lines, place_of};
use crate::error::{ReadError, ReadErrorKind};
use crate::mealy::{MachineListing, TransitionRow};

/// Rows with more open input bits than this are refused: they would stand for
/// more than 65,536 inputs each.
const MAX_OPEN_BITS: usize = 16;

/// The greatest number of rows of a machine after its open bits are written out. Chosen by feel: it bounds the memory.
const MAX_ROWS: usize = 1 << 22;

/// Reads a KISS2 machine.
pub fn read_kiss2(text: &str) -> Result<MachineListing, ReadError> {
    Ok(read_kiss2_with_places(text)?.listing)
}

/// As [`read_kiss2`], with the places.
pub(super) fn read_kiss2_with_places(text: &str) -> Result<MachineText, ReadError> {
    let mut reading = MachineText::default();
    let mut reset = None;
    for ColumnLine { fields, place } in non_empty_lines(text) {
        match fields[..] {
            [".e" | ".end", ..] => break,
            [".r", state] => reset = Some((place_of(text, state), state.to_owned())),
            [directive, ..] if directive.starts_with('.') => (),
            [input, from, to, output] => push_rows(&mut reading, text, place, [input, from, to, output])?,
            _ => {
                let message = format!("expected 4 columns, found {}", fields.len());
                return Err(ReadError::new(text, place, message)
                    .with_hint("a row is `input state next-state output`"));
            }
        }
    }
    let listing = &mut reading.listing;
    let Some(first) = listing.rows.first() else {
        return Err(ReadError::new(text, 0..0, "no transition found")
            .with_kind(ReadErrorKind::Empty)
            .with_hint("write rows like `01 s0 s1 1`"));
    };
    listing.initial = first.from.clone();
    if let Some((place, state)) = reset {
        if !listing.rows.iter().any(|row| row.from == state || row.to == state) {
            return Err(ReadError::new(text, place, format!("reset state `{state}` has no transition"))
                .with_kind(ReadErrorKind::Empty));
        }
        listing.initial = state;
    }
    Ok(reading)
}

fn push_rows(
    reading: &mut MachineText,
    text: &str,
    place: TextPlace,
    [input, from, to, output]: [&str; 4],
) -> Result<(), ReadError> {
    let wrong = |message: String| ReadError::new(text, place_of(text, input), message);
    if let Some(bit) = input.chars().find(|bit| !matches!(bit, '0' | '1' | '-')) {
        return Err(wrong(format!("input `{input}` has `{bit}`, expected bits `0`, `1` or `-`"))
            .with_hint("the order is `input state next-state output`"));
    }
    let open = input.chars().filter(|&bit| bit == '-').count();
    if open > MAX_OPEN_BITS {
        let message =
            format!("input `{input}` leaves {open} bits open, at most {MAX_OPEN_BITS} can be expanded");
        return Err(wrong(message));
    }
    // Asked before the rows are made, since one line may stand for 65,536 of them.
    if reading.rows.len() + (1 << open) > MAX_ROWS {
        return Err(wrong(format!("the machine has more than {MAX_ROWS} transitions")));
    }
    // Behind the checks, so that a wrong input is reported even where the answer is left open.
    if matches!(to, "*" | "-") {
        return Ok(());
    }
    for choice in 0..1_usize << open {
        let row = TransitionRow {
            from: from.into(),
            input: fill_open_bits(input, choice),
            output: output.into(),
            to: to.into(),
        };
        reading.listing.rows.push(row);
        reading.rows.push(place.clone());
    }
    Ok(())
}

/// `input` with its open bits taken from `choice`, first open bit lowest.
fn fill_open_bits(input: &str, mut choice: usize) -> String {
    let mut bit = |bit| {
        if bit != '-' {
            return bit;
        }
        let chosen = if choice & 1 == 1 { '1' } else { '0' };
        choice >>= 1;
        chosen
    };
    input.chars().map(&mut bit).collect()
}
