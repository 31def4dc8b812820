//! Tests of [`ioxide_model::source`].

use ioxide_model::source::{LineColumn, Sources, Span};

#[test]
fn line_and_column_count_characters_from_one() {
    let mut sources = Sources::new();
    let file = sources.add("m.iox", "ab\nπ = c\n");
    let place = |start| sources.line_column(Span::new(file, start, start + 1));
    assert_eq!(place(0), LineColumn { line: 1, column: 1 });
    assert_eq!(place(3), LineColumn { line: 2, column: 1 });
    assert_eq!(place(6), LineColumn { line: 2, column: 3 });
    assert_eq!(place(10), LineColumn { line: 3, column: 1 });
}

#[test]
fn a_span_that_does_not_fit_is_empty_text() {
    let mut sources = Sources::new();
    let file = sources.add("m.iox", "π");
    assert_eq!(sources.slice(Span::new(file, 1, 2)), "");
    assert_eq!(sources.slice(Span::new(file, 0, 9)), "");
    assert_eq!(sources.slice(Span::new(file, 0, 2)), "π");
}
