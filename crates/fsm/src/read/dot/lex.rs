//! The words of a DOT text, each with its place.
//!
//! The lexical rules are those of the DOT language reference of Graphviz: names, numerals,
//! strings in quotes (`\"` is a quote, `\\` a backslash, a backslash at the end of a line joins
//! lines, `"a" + "b"` is `"ab"`), HTML-like strings in angle brackets, comments as in C++, and lines
//! that start with `#`. A little more is let through, since no other meaning is lost: a `#` after a
//! space starts a comment anywhere, and names may hold `$ @ ? ! '`.

use super::TextPlace;

/// A word of a DOT text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum DotToken {
    /// A name or numeral as it stands there; it may be a keyword.
    Bare(String),
    /// A string; never a keyword.
    Quoted(String),
    Arrow,
    /// `--`, which only undirected graphs have.
    Line,
    Mark(char),
    /// A string or comment that does not end.
    Open(&'static str),
    End,
}

/// The tokens of `text`, closed by [`DotToken::End`].
pub(super) fn tokenize(text: &str) -> Vec<(DotToken, TextPlace)> {
    let mut tokens: Vec<(DotToken, TextPlace)> = Vec::new();
    // As if behind a line break, so that `#` at the start of the text is a comment.
    let mut before = '\n';
    let mut at = 0;
    while let Some(first) = text[at..].chars().next() {
        let (token, len) = next_token(&text[at..], first, before);
        let end = at + len;
        before = text[at..end].chars().next_back().unwrap_or(before);
        tokens.extend(token.map(|token| (token, at..end)));
        join_strings(&mut tokens);
        at = end;
    }
    tokens.push((DotToken::End, text.len()..text.len()));
    tokens
}

/// The token at the start of `rest`, if it is one, and its length; `before` is the character before it.
fn next_token(rest: &str, first: char, before: char) -> (Option<DotToken>, usize) {
    let line = || rest.find('\n').unwrap_or(rest.len());
    let two = rest.get(..2).unwrap_or("");
    match first {
        '#' if before.is_whitespace() => (None, line()),
        '/' if two == "//" => (None, line()),
        '/' if two == "/*" => match rest[2..].find("*/") {
            Some(end) => (None, end + 4),
            None => (Some(DotToken::Open("comment")), 2),
        },
        '-' if two == "->" => (Some(DotToken::Arrow), 2),
        '-' if two == "--" => (Some(DotToken::Line), 2),
        '"' => read_quoted(rest),
        '<' => read_html(rest),
        '-' if rest[1..].starts_with(|c: char| c.is_ascii_digit() || c == '.') => read_unquoted(rest, 1),
        c if is_name(c) => read_unquoted(rest, 0),
        c if c.is_whitespace() || c == '\u{feff}' => (None, c.len_utf8()),
        c => (Some(DotToken::Mark(c)), c.len_utf8()),
    }
}

fn is_name(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '.' | '$' | '@' | '?' | '!' | '\'')
}

/// A name or numeral whose first `sign` bytes are a sign.
fn read_unquoted(rest: &str, sign: usize) -> (Option<DotToken>, usize) {
    let len = rest[sign..].find(|c| !is_name(c)).map_or(rest.len(), |end| sign + end);
    (Some(DotToken::Bare(rest[..len].to_owned())), len)
}

fn read_quoted(rest: &str) -> (Option<DotToken>, usize) {
    let mut value = String::new();
    let mut chars = rest.char_indices().skip(1);
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return (Some(DotToken::Quoted(value)), at + 1),
            '\\' => match chars.next() {
                Some((_, '\n')) | None => (),
                Some((_, escaped @ ('"' | '\\'))) => value.push(escaped),
                Some((_, other)) => value.extend(['\\', other]),
            },
            c => value.push(c),
        }
    }
    (Some(DotToken::Open("string")), rest.len())
}

/// `<…>` with balanced brackets.
fn read_html(rest: &str) -> (Option<DotToken>, usize) {
    let mut depth = 0_usize;
    for (at, c) in rest.char_indices() {
        match c {
            '<' => depth += 1,
            '>' => depth -= 1,
            _ => (),
        }
        if depth == 0 {
            return (Some(DotToken::Quoted(rest[1..at].to_owned())), at + 1);
        }
    }
    // The bracket alone, so that the text behind it is still read.
    (Some(DotToken::Open("string")), 1)
}

/// `"a" + "b"` at the end of `tokens` becomes one string.
fn join_strings(tokens: &mut Vec<(DotToken, TextPlace)>) {
    if let [.., (DotToken::Quoted(left), from), (DotToken::Mark('+'), _), (DotToken::Quoted(right), to)] =
        &tokens[..]
    {
        let joined = (DotToken::Quoted(format!("{left}{right}")), from.start..to.end);
        tokens.truncate(tokens.len() - 3);
        tokens.push(joined);
    }
}
