//! Escaping of untrusted text for Markdown.

use crate::control_characters::excerpt;

/// The number of characters of a code span. Chosen by feel, for one line of a comment.
const MAX_SPAN: usize = 200;

/// `text` as a code span.
pub(super) fn code_span(text: &str) -> String {
    let text = excerpt(text, MAX_SPAN);
    if text.trim().is_empty() {
        return "–".to_owned();
    }
    let fence = "`".repeat(longest_run(&text) + 1);
    let pad = if text.starts_with(['`', ' ']) || text.ends_with(['`', ' ']) { " " } else { "" };
    format!("{fence}{pad}{text}{pad}{fence}")
}

/// `text` as a code span in a cell of a table.
pub(super) fn table_cell(text: &str) -> String {
    code_span(text).replace('|', "\\|")
}

/// Lines as a fenced block.
pub(super) fn fenced_block(language: &str, lines: &[String]) -> String {
    let longest = lines.iter().map(|line| longest_run(line)).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}{language}\n{}\n{fence}\n", lines.join("\n"))
}

/// `text` as one word of a shell command.
pub(super) fn shell_word(text: &str) -> String {
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
        assert_eq!(code_span("a"), "`a`");
        assert_eq!(code_span("a `b` c"), "``a `b` c``");
        assert_eq!(code_span("``b"), "``` ``b ```");
        assert_eq!(code_span(" \n"), "–");
        assert_eq!(table_cell("a|b"), "`a\\|b`");
    }

    #[test]
    fn a_block_is_longer_than_what_it_holds() {
        assert_eq!(fenced_block("text", &["````".into(), "x".into()]), "`````text\n````\nx\n`````\n");
    }

    #[test]
    fn a_word_stays_one_word() {
        assert_eq!(shell_word("model:a/b.iox"), "model:a/b.iox");
        assert_eq!(shell_word("stdio:it's"), "'stdio:it'\\''s'");
        assert_eq!(shell_word(""), "''");
    }
}
