//! A text as words, signs and comments, for editors. Total, and good for texts with errors too.

use crate::lexer::{TokenKind, lex};

/// What a piece of text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LexemeKind {
    /// A name, or a word that has its meaning from its place (`state`, `on`).
    Name,
    /// A word that cannot be a name (`when`, `if`).
    Reserved,
    /// A number, with its unit if it has one.
    Number,
    /// A string, closed or not.
    Text,
    /// A remark.
    Comment,
    /// A comment that documents what follows.
    Doc,
    /// Brackets, operators, separators.
    Sign,
    /// What no token is made of.
    Unknown,
}

/// A piece of text and its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextLexeme {
    /// What it is.
    pub kind: LexemeKind,
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
    /// Whether it is the first of its line.
    pub first_on_line: bool,
}

/// The pieces of an `.iox` text, in order.
#[must_use]
pub fn lexemes(text: &str) -> Vec<TextLexeme> {
    let lexed = lex(text);
    let tokens = lexed.tokens.iter().filter(|token| token.kind != TokenKind::End).map(|token| TextLexeme {
        kind: kind(token.kind),
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

fn kind(token: TokenKind) -> LexemeKind {
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
