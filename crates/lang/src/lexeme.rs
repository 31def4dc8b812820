//! The lexemes of a text for editors: words, signs and comments. Total, also on texts with errors.

use crate::lexer::{TokenKind, lex};

/// The kind of a lexeme.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LexemeKind {
    /// A name, or a word that is a keyword by its position (`state`, `on`).
    Name,
    /// A word that cannot be a name (`when`, `if`).
    Reserved,
    /// A number, with its unit if it has one.
    Number,
    /// A string, closed or not.
    Text,
    /// A comment that documents nothing.
    Comment,
    /// A comment that documents what follows.
    Doc,
    /// Brackets, operators, separators.
    Sign,
    /// Text that no token is made of.
    Unknown,
}

/// A lexeme and its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextLexeme {
    /// Its kind.
    pub kind: LexemeKind,
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
    /// True if it is the first of its line.
    pub first_on_line: bool,
}

/// Returns the lexemes of an `.iox` text, in order.
#[must_use]
pub fn lexemes(text: &str) -> Vec<TextLexeme> {
    let lexed = lex(text);
    let tokens = lexed.tokens.iter().filter(|token| token.kind != TokenKind::End).map(|token| TextLexeme {
        kind: kind_of(token.kind),
        start: token.start,
        end: token.end,
        first_on_line: token.first_on_line,
    });
    let comments = lexed.comments.iter().map(|comment| TextLexeme {
        kind: LexemeKind::Comment,
        start: comment.start,
        end: comment.start + u32::try_from(comment.text.len()).unwrap_or(0),
        first_on_line: comment.own_line,
    });
    let mut all: Vec<TextLexeme> = tokens.chain(comments).collect();
    all.sort_by_key(|lexeme| lexeme.start);
    all
}

/// Returns the kind under which editors colour a token.
fn kind_of(token: TokenKind) -> LexemeKind {
    match token {
        TokenKind::Name => LexemeKind::Name,
        TokenKind::Number => LexemeKind::Number,
        TokenKind::Str | TokenKind::OpenStr => LexemeKind::Text,
        TokenKind::Doc | TokenKind::Comment => LexemeKind::Doc,
        TokenKind::Unknown => LexemeKind::Unknown,
        token if token.is_reserved() => LexemeKind::Reserved,
        _ => LexemeKind::Sign,
    }
}
