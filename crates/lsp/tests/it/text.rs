//! Tests of `text`.

use lsp_types::{Position, Range};

use ioxide_lsp::text::DocumentText;

#[test]
fn columns_count_utf16_units() {
    let text = DocumentText::new("a𝄞b\nπ c\n".into());
    assert_eq!(text.position(5), Position::new(0, 3));
    assert_eq!(text.offset(Position::new(0, 3)), 5);
    assert_eq!(text.position(9), Position::new(1, 1));
    assert_eq!(text.offset(Position::new(1, 1)), 9);
}

#[test]
fn places_outside_the_text_are_its_edges() {
    let text = DocumentText::new("ab\nc".into());
    assert_eq!(text.offset(Position::new(0, 99)), 2);
    assert_eq!(text.offset(Position::new(9, 0)), 4);
    assert_eq!(text.position(99), Position::new(1, 1));
    assert_eq!(DocumentText::new(String::new()).position(3), Position::new(0, 0));
}

#[test]
fn edits_are_those_of_the_editor() {
    let text = DocumentText::new("one\ntwo\n".into());
    let range = Range::new(Position::new(1, 0), Position::new(1, 3));
    assert_eq!(text.replace_range(Some(range), "2").as_str(), "one\n2\n");
    assert_eq!(text.replace_range(None, "all").as_str(), "all");
}
