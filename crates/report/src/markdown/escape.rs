//! Escaping of untrusted text for Markdown.

use crate::control_characters::excerpt;

/// The number of characters of a code span.
const MAX_SPAN: usize = 200;

/// `text` as a code span.
pub(super) fn code(text: &str) -> String {
    let text = excerpt(text, MAX_SPAN);
    if text.trim().is_empty() {
        return "–".to_owned();
    }
    let fence = "`".repeat(longest_run(&text) + 1);
    let pad = if text.starts_with(['`', ' ']) || text.ends_with(['`', ' ']) { " " } else { "" };
    format!("{fence}{pad}{text}{pad}{fence}")
}

/// `text` as a code span in a cell of a table.
pub(super) fn cell(text: &str) -> String {
    code(text).replace('|', "\\|")
}

/// Lines as a fenced block.
pub(super) fn block(language: &str, lines: &[String]) -> String {
    let longest = lines.iter().map(|line| longest_run(line)).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}{language}\n{}\n{fence}\n", lines.join("\n"))
}

/// `text` as one word of a shell command.
pub(super) fn word(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,@%+".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', "'\\''"))
    }
}

/// The most backticks in a row.
fn longest_run(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_span_is_longer_than_what_it_holds() {
        assert_eq!(code("a"), "`a`");
        assert_eq!(code("a `b` c"), "``a `b` c``");
        assert_eq!(code("``b"), "``` ``b ```");
        assert_eq!(code(" \n"), "–");
        assert_eq!(cell("a|b"), "`a\\|b`");
    }

    #[test]
    fn a_block_is_longer_than_what_it_holds() {
        assert_eq!(block("text", &["````".into(), "x".into()]), "`````text\n````\nx\n`````\n");
    }

    #[test]
    fn a_word_stays_one_word() {
        assert_eq!(word("model:a/b.iox"), "model:a/b.iox");
        assert_eq!(word("stdio:it's"), "'stdio:it'\\''s'");
        assert_eq!(word(""), "''");
    }
}
