//! The words that are keywords by their position and names elsewhere; reserved words are not among them.
//!
//! Parser, language server and editors take them from here.

/// Words that begin declarations of a model.
pub const DECLARATION_WORDS: &[&str] = &[
    "input",
    "observed",
    "output",
    "var",
    "clock",
    "const",
    "type",
    "enum",
    "record",
    "fn",
    "state",
    "any",
    "purpose",
    "always",
    "sometimes",
    "assume",
    "every",
    "test",
];
/// Words that begin transitions.
pub const TRANSITION_WORDS: &[&str] = &["on", "emit", "internal"];
/// Words that begin the steps of a test.
pub const TEST_WORDS: &[&str] = &["send", "expect", "quiet"];
/// Words that begin the parts of a system; constants are declared there too.
pub const SYSTEM_WORDS: &[&str] = &["use", "hide", "expose"];
/// Words that begin a file.
const FILE_WORDS: &[&str] = &["model", "system"];
/// Words within declarations and transitions.
const INNER_WORDS: &[&str] = &[
    "reach", "reset", "let", "from", "as", "between", "and", "for", "count", "is", "followed", "by", "within",
];

/// Returns whether `word` begins a property of states.
pub(crate) fn is_property(word: &str) -> bool {
    matches!(word, "always" | "sometimes" | "assume")
}

/// The words that begin declarations, transitions and steps.
pub fn beginnings() -> impl Iterator<Item = &'static str> {
    let all = [DECLARATION_WORDS, TRANSITION_WORDS, TEST_WORDS, FILE_WORDS, SYSTEM_WORDS];
    all.into_iter().flatten().copied()
}

/// Returns whether `word` begins a declaration, a transition or a step.
#[must_use]
pub fn is_beginning(word: &str) -> bool {
    beginnings().any(|it| it == word)
}

/// Returns all words that are keywords by their position.
pub fn place_words() -> impl Iterator<Item = &'static str> {
    beginnings().chain(INNER_WORDS.iter().copied())
}
