//! Text for people without control characters: nothing invisible, nothing that reorders what is read.
//!
//! Names and comments come from files of unknown origin. Control characters could drive
//! a terminal, and Unicode's bidirectional marks could make a guard read as another one
//! (Boucher and Anderson, "Trojan Source", USENIX Security 2023). Both are written as
//! `\u{…}`, and line breaks and tabs become spaces.

/// `text` on one line, with control characters and bidirectional marks written out.
#[must_use]
pub fn show_control_characters(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\r' | '\t' => out.push(' '),
            c if is_hidden(c) => out.push_str(&format!("\\u{{{:x}}}", c as u32)),
            c => out.push(c),
        }
    }
    out
}

/// Returns the first `max` characters of `text`, as [`show_control_characters`] writes them, with an ellipsis if there
/// are more.
#[must_use]
pub fn excerpt(text: &str, max: usize) -> String {
    match text.char_indices().nth(max) {
        Some((at, _)) => format!("{}…", show_control_characters(&text[..at])),
        None => show_control_characters(text),
    }
}

/// Returns whether `c` is a control character, a bidirectional mark, a line separator or a character XML cannot hold.
pub(crate) fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200e}' | '\u{200f}' | '\u{061c}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
        || matches!(c, '\u{feff}' | '\u{fffe}' | '\u{ffff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_characters_are_written_out_and_others_stay() {
        check("x + π", "x + π");
        check("a\nb\tc", "a b c");
        check("\u{1b}[2J", "\\u{1b}[2J");
        check("a\u{202e}b", "a\\u{202e}b");
        check("\u{ffff}", "\\u{ffff}");
        check("<b>&", "<b>&");
    }

    #[test]
    fn an_excerpt_ends_with_an_ellipsis_only_if_something_is_missing() {
        assert_eq!(excerpt("abc", 3), "abc");
        assert_eq!(excerpt("äbcd\n", 3), "äbc…");
    }

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(show_control_characters(text), expected);
    }
}
