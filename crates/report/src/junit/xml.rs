//! Text inside XML 1.0.

use crate::control_characters::{excerpt, show_control_characters};

/// The number of characters of an attribute. Chosen by feel: programs that show such files show less.
const MAX_ATTRIBUTE: usize = 500;

/// `text` as the value of an attribute in double quotes.
pub(super) fn attribute_value(text: &str) -> String {
    escape(&excerpt(text, MAX_ATTRIBUTE))
}

/// One line of text between tags.
pub(super) fn text_line(text: &str) -> String {
    escape(&show_control_characters(text))
}

/// Returns `text` with the characters of markup escaped.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            c => out.push(c),
        }
    }
    out
}
