//! Names as the modelling language writes them: an identifier as it is, any other name in backquotes.
//!
//! Protocols call their messages `INIT-CHLO` or `ServerHello & Certificate`. Such a name is used as it is everywhere
//! but in the text of a model, where it stands in backquotes.

use std::borrow::Cow;

/// The words that cannot be names unless they stand in backquotes.
pub const RESERVED_WORDS: [&str; 12] =
    ["if", "then", "else", "match", "exists", "forall", "in", "true", "false", "none", "some", "when"];

/// Returns `name` as a declaration writes it: in backquotes unless it is an identifier and no reserved word.
#[must_use]
pub fn source_name(name: &str) -> Cow<'_, str> {
    if is_identifier(name) && !RESERVED_WORDS.contains(&name) {
        return Cow::Borrowed(name);
    }
    quote_name(name)
}

/// Returns `name` for a formula in a report: as [`source_name`], but the names that parts of a system give their
/// variables and states (`client[2].draft`, `busy/ask`, `name|age`) stay as they are.
#[must_use]
pub fn shown_name(name: &str) -> Cow<'_, str> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_.:[]()<>+#@/?|'".contains(c);
    if name.chars().all(is_plain) && !RESERVED_WORDS.contains(&name) {
        return Cow::Borrowed(name);
    }
    quote_name(name)
}

/// Returns whether backquotes can hold `name`: it is not empty and has no backquote and no control character.
#[must_use]
pub fn is_quotable(name: &str) -> bool {
    !name.is_empty() && !name.chars().any(|c| c == '`' || c.is_control())
}

fn is_identifier(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// Returns `name` in backquotes; a name that they cannot hold stays as it is, for the caller to refuse.
fn quote_name(name: &str) -> Cow<'_, str> {
    if is_quotable(name) { Cow::Owned(format!("`{name}`")) } else { Cow::Borrowed(name) }
}
