//! The room that a text needs, estimated without knowing the font that will be used.
//!
//! Labels are set in a monospaced font, in which a character is at most 0.61 of the font
//! size wide in every common one; node names in a proportional one, measured by the widest
//! common design (bold DejaVu Sans, Verdana). Characters outside ASCII may come from any
//! fallback font and are taken as full squares, so boxes are sooner too wide than too narrow.

use crate::layout::BoxSize;

/// The number of characters in a line of a label, where it can be broken. Chosen by eye, as are all sizes below,
/// which are in characters, lines or pixels; nothing but the looks depends on them.
const LABEL_COLUMNS: usize = 36;
/// The number of lines of one label; the tooltip has them all. Chosen by eye: a taller label hides its edge.
const LABEL_LINES: usize = 12;
/// The number of characters in a line of a node. Chosen by eye.
const NODE_COLUMNS: usize = 26;
/// The number of lines of one node. Chosen by eye.
const NODE_LINES: usize = 4;
/// The indentation of the continuation of a broken line, in characters.
pub const INDENT: usize = 2;

/// The font size of labels. In pixels, chosen by eye.
pub const LABEL_FONT: f64 = 11.0;
/// The distance from one line of a label to the next. In pixels, chosen by eye.
pub const LABEL_LINE: f64 = 14.5;
/// The font size of node names. In pixels, chosen by eye.
pub const NODE_FONT: f64 = 13.0;
/// The distance from one line of a node to the next. In pixels, chosen by eye.
pub const NODE_LINE: f64 = 17.0;
/// The room around the text of a label.
pub const LABEL_PADDING: BoxSize = BoxSize { width: 6.0, height: 3.5 };
/// The room around the text of a node.
pub const NODE_PADDING: BoxSize = BoxSize { width: 14.0, height: 9.0 };

/// The width of `text` in a monospaced font.
pub fn mono_width(text: &str) -> f64 {
    let cells = text.chars().map(|c| if c.is_ascii() { 0.61 } else { char_width(c) });
    cells.sum::<f64>() * LABEL_FONT
}

/// The width of `text` in a bold proportional font.
pub fn name_width(text: &str) -> f64 {
    let cell = |c: char| match c {
        'i' | 'j' | 'l' | '.' | ',' | ':' | ';' | '\'' | '!' | '|' | ' ' => 0.42,
        'm' | 'w' => 1.06,
        'M' | 'W' | '@' | '%' => 1.14,
        'f' | 't' | 'r' | '(' | ')' | '[' | ']' => 0.52,
        'A'..='Z' => 0.84,
        c if c.is_ascii() => 0.73,
        c => char_width(c) + 0.1,
    };
    text.chars().map(cell).sum::<f64>() * NODE_FONT
}

/// Returns the width of a character in units of the font size: 0 for marks that combine with the one before, else a
/// square.
fn char_width(c: char) -> f64 {
    if matches!(c, '\u{300}'..='\u{36f}' | '\u{200b}'..='\u{200d}' | '\u{fe00}'..='\u{fe0f}') {
        0.0
    } else {
        1.05
    }
}

/// A line of text in a label or node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextRow {
    /// The text.
    pub text: String,
    /// True if the row continues a broken line.
    pub continues: bool,
}

/// `text` broken into rows of a label.
pub fn label_rows(text: &str) -> Vec<TextRow> {
    wrap_rows(text, LABEL_COLUMNS, LABEL_LINES)
}

/// `text` broken into rows of a node.
pub fn node_rows(text: &str) -> Vec<TextRow> {
    wrap_rows(text, NODE_COLUMNS, NODE_LINES)
}

/// Breaks after commas and before connectives, at other spaces only where that is not enough,
/// and inside a word only if it does not fit a row of its own.
fn wrap_rows(text: &str, columns: usize, max_rows: usize) -> Vec<TextRow> {
    let mut rows: Vec<String> = Vec::new();
    let mut row = String::new();
    for phrase in split_phrases(text) {
        let room = if rows.is_empty() { columns } else { columns - INDENT };
        if fits_in_row(&row, &phrase, room) {
            push_word(&mut row, &phrase);
            continue;
        }
        if !row.is_empty() && phrase.chars().count() <= columns - INDENT {
            rows.push(std::mem::replace(&mut row, phrase));
            continue;
        }
        for word in phrase.split(' ').flat_map(|word| chop_word(word, columns)) {
            let room = if rows.is_empty() { columns } else { columns - INDENT };
            if !row.is_empty() && !fits_in_row(&row, &word, room) {
                rows.push(std::mem::take(&mut row));
            }
            push_word(&mut row, &word);
        }
    }
    if !row.is_empty() {
        rows.push(row);
    }
    if rows.len() > max_rows {
        rows.truncate(max_rows);
        rows.iter_mut().last().into_iter().for_each(|last| last.push_str(" …"));
    }
    rows.into_iter().enumerate().map(|(n, text)| TextRow { text, continues: n > 0 }).collect()
}

/// Returns `text` in pieces that read well alone: up to a comma, from a connective on.
fn split_phrases(text: &str) -> Vec<String> {
    let mut phrases: Vec<String> = Vec::new();
    let mut ended = true;
    for word in text.split(' ') {
        match phrases.last_mut() {
            Some(phrase) if !ended && !matches!(word, "&&" | "||") => push_word(phrase, word),
            _ => phrases.push(word.to_owned()),
        }
        ended = word.ends_with(',');
    }
    phrases
}

fn fits_in_row(row: &str, word: &str, room: usize) -> bool {
    let n_row = if row.is_empty() { 0 } else { row.chars().count() + 1 };
    n_row + word.chars().count() <= room
}

fn push_word(row: &mut String, word: &str) {
    if !row.is_empty() {
        row.push(' ');
    }
    row.push_str(word);
}

/// `word` in pieces of at most `columns - INDENT` characters.
fn chop_word(word: &str, columns: usize) -> Vec<String> {
    let chars: Vec<char> = word.chars().collect();
    let pieces = chars.chunks(columns - INDENT).map(|piece| piece.iter().collect());
    pieces.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_break_at_spaces_and_cut_what_is_too_long() {
        check("a bb ccc", 6, &["a bb", "ccc"]);
        check("", 6, &[]);
        check("abcdefgh", 6, &["abcd", "efgh"]);
        check("one two three four five six seven", 9, &["one two", "three", "four …"]);
        check("ππππππ", 6, &["ππππππ"]);
        check("πππππππ", 6, &["ππππ", "πππ"]);
        check("f(a: 1, b: 2, c)", 12, &["f(a: 1,", "b: 2, c)"]);
        check("[aaa < b && c]", 12, &["[aaa < b", "&& c]"]);
    }

    #[track_caller]
    fn check(text: &str, columns: usize, expected: &[&str]) {
        let rows: Vec<String> = wrap_rows(text, columns, 3).into_iter().map(|row| row.text).collect();
        assert_eq!(rows, expected);
    }

    #[test]
    fn widths_grow_with_the_text() {
        assert!(mono_width("ab") > mono_width("a"));
        assert!(mono_width("漢") > mono_width("a"));
        assert!(name_width("WW") > name_width("ii"));
        assert_eq!(mono_width(""), 0.0);
    }
}
