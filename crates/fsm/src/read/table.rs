//! Tables: one transition per line, `state input output next`; `#` starts a comment.

use crate::error::ReadError;
use crate::mealy::{Listing, Row};

/// Reads a table of names; the state of the first row is initial.
pub fn table(text: &str) -> Result<Listing, ReadError> {
    let mut listing = Listing::default();
    for (_, row) in rows(text) {
        let row = row?;
        if listing.rows.is_empty() {
            listing.initial.clone_from(&row.from);
        }
        listing.rows.push(row);
    }
    if listing.rows.is_empty() {
        return Err(ReadError::new(1, "no transition found").hint("write lines like `s1 a 0 s2`"));
    }
    Ok(listing)
}

/// Reads a table of numbers; state 0 is initial.
pub fn numbers(text: &str) -> Result<Listing, ReadError> {
    let mut listing = Listing { initial: "0".to_owned(), ..Listing::default() };
    for (line, row) in rows(text) {
        let row = row?;
        for field in [&row.from, &row.input, &row.output, &row.to] {
            if field.parse::<u32>().is_err() {
                let message = format!("`{field}` is not a number");
                return Err(ReadError::new(line, message).hint("this form names everything by number"));
            }
        }
        listing.rows.push(row);
    }
    if !listing.rows.iter().any(|row| row.from == "0") {
        return Err(ReadError::new(1, "state 0, the initial state, has no transition"));
    }
    sort_symbols(&mut listing);
    Ok(listing)
}

/// Rows in numeric order, so that ids follow the numbers wherever they are dense.
fn sort_symbols(listing: &mut Listing) {
    let number = |field: &String| field.parse::<u32>().unwrap_or(u32::MAX);
    listing
        .rows
        .sort_by_key(|row| (number(&row.from), number(&row.input), number(&row.output), number(&row.to)));
    listing.states = listing.rows.iter().flat_map(|row| [row.from.clone(), row.to.clone()]).collect();
    listing.states.sort_by_key(number);
    listing.states.dedup();
}

fn rows(text: &str) -> impl Iterator<Item = (usize, Result<Row, ReadError>)> {
    text.lines().enumerate().filter_map(|(i, line)| {
        let content = line.split('#').next().unwrap_or("").trim();
        (!content.is_empty()).then(|| (i + 1, row(i + 1, content)))
    })
}

fn row(line: usize, content: &str) -> Result<Row, ReadError> {
    let fields: Vec<&str> = content.split_whitespace().collect();
    let [from, input, output, to] = fields[..] else {
        let message = format!("expected 4 columns, found {}", fields.len());
        return Err(ReadError::new(line, message).hint("a row is `state input output next-state`"));
    };
    Ok(Row { from: from.into(), input: input.into(), output: output.into(), to: to.into() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_row_names_the_initial_state() {
        let listing = table("# two states\ns2 a 0 s1 # go\n\ns1 a 1 s2\n").unwrap();
        assert_eq!((listing.initial.as_str(), listing.rows.len()), ("s2", 2));
    }

    #[test]
    fn errors_name_the_line() {
        let text = |error: ReadError| error.to_string();
        assert_eq!(
            text(table("s a 0 s\ns a 0").unwrap_err()),
            "line 2: expected 4 columns, found 3 (help: a row is `state input output next-state`)"
        );
        assert_eq!(
            text(numbers("0 0 x 0").unwrap_err()),
            "line 1: `x` is not a number (help: this form names everything by number)"
        );
        assert_eq!(
            text(numbers("1 0 0 1").unwrap_err()),
            "line 1: state 0, the initial state, has no transition"
        );
    }
}
