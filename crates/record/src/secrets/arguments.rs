//! Messages in texts, without what they say.
//!
//! The value of a marked field may be too short to be found in a text, or not known yet when the text is shown. So a
//! message that has marked fields is recognised by its name, wherever it stands: `?login(pin: 47)`.

use std::borrow::Cow;
use std::collections::BTreeSet;

use super::{HIDDEN, Secrets};

impl Secrets {
    /// Returns `text` without the values of messages that have marked fields: `?login(pin: 47)` is `?login(***)`.
    pub(super) fn without_arguments<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let messages: BTreeSet<&str> = self.fields().map(|(message, _)| message).collect();
        if messages.is_empty() {
            return text.into();
        }
        let begins = |at: usize| {
            let rest = text[at..].strip_prefix(['?', '!'])?;
            let is_it = |name: &&&str| rest.strip_prefix(**name).is_some_and(|rest| rest.starts_with('('));
            messages.iter().find(is_it).map(|name| at + 1 + name.len() + 1)
        };
        let (mut shown, mut at) = (String::with_capacity(text.len()), 0);
        for (start, _) in text.match_indices(['?', '!']) {
            if let Some(inside) = begins(start).filter(|_| start >= at) {
                shown.push_str(&text[at..inside]);
                shown.push_str(HIDDEN);
                at = closing(text, inside);
            }
        }
        (shown + &text[at..]).into()
    }
}

/// Returns the position of the parenthesis that closes one before `from`; the end of the text if there is none.
/// Parentheses in quotes do not count.
fn closing(text: &str, from: usize) -> usize {
    let (mut depth, mut is_quoted, mut is_escaped) = (1, false, false);
    for (at, letter) in text[from..].char_indices() {
        match letter {
            _ if is_escaped => is_escaped = false,
            '\\' if is_quoted => is_escaped = true,
            '"' => is_quoted = !is_quoted,
            '(' if !is_quoted => depth += 1,
            ')' if !is_quoted => depth -= 1,
            _ => (),
        }
        if depth == 0 {
            return from + at;
        }
    }
    text.len()
}
