//! The lexer: text to tokens. Total: every byte of the text is in a token, a comment or white space.
//!
//! Only the words that expressions are made of are reserved. All other words of the language (`state`, `on`, `type`,
//! ...) are plain names here and are keywords by their position, so a message may have a field called `type`.

use logos::Logos;

use crate::ast::Comment;

/// The kinds of tokens.
#[derive(Logos, Clone, Copy, Debug, PartialEq, Eq)]
#[logos(skip r"[ \t\r\n\f\u{feff}]+")]
pub enum TokenKind {
    /// An identifier, or any other name in backquotes.
    #[regex(r"[A-Za-z_][A-Za-z0-9_]*")]
    #[regex(r"`[^`\x00-\x1f\x7f]+`")]
    Name,
    #[regex(r"[0-9][0-9_]*(\.[0-9][0-9_]*)?[A-Za-z0-9_]*")]
    Number,
    #[regex(r#""([^"\\\n]|\\[^\n])*""#)]
    Str,
    /// A string that its line does not close.
    #[regex(r#""([^"\\\n]|\\[^\n])*"#)]
    OpenStr,
    #[regex(r"///?/?[^\n]*", allow_greedy = true)]
    Comment,
    /// A comment that documents what follows: three slashes, not four.
    Doc,

    #[token("if")]
    If,
    #[token("then")]
    Then,
    #[token("else")]
    Else,
    #[token("match")]
    Match,
    #[token("exists")]
    Exists,
    #[token("forall")]
    Forall,
    #[token("in")]
    In,
    #[token("true")]
    True,
    #[token("false")]
    False,
    #[token("none")]
    None,
    #[token("some")]
    Some,
    #[token("when")]
    When,

    #[token("{")]
    OpenBrace,
    #[token("}")]
    CloseBrace,
    #[token("(")]
    OpenParen,
    #[token(")")]
    CloseParen,
    #[token("[")]
    OpenBracket,
    #[token("]")]
    CloseBracket,
    #[token(",")]
    Comma,
    #[token(":")]
    Colon,
    #[token(";")]
    Semicolon,
    #[token(".")]
    Dot,
    #[token("..")]
    DotDot,
    #[token("..=")]
    DotDotEq,
    #[token("?")]
    Question,
    #[token("@")]
    At,
    #[token("=")]
    Eq,
    #[token(":=")]
    ColonEq,
    #[token("==")]
    EqEq,
    #[token("!=")]
    NotEq,
    #[token("!")]
    Not,
    #[token("<")]
    Lt,
    #[token("<=")]
    Le,
    #[token(">")]
    Gt,
    #[token(">=")]
    Ge,
    #[token("+")]
    Plus,
    #[token("-")]
    Minus,
    #[token("*")]
    Star,
    #[token("/")]
    Slash,
    #[token("%")]
    Percent,
    #[token("&&")]
    AndAnd,
    #[token("||")]
    OrOr,
    #[token("|")]
    Bar,
    #[token("=>")]
    FatArrow,
    #[token("->")]
    Arrow,

    /// Characters that no token contains.
    Unknown,
    /// The end of the text.
    End,
}

/// A token and its place.
#[derive(Clone, Copy, Debug)]
pub struct Token {
    pub kind: TokenKind,
    pub(crate) start: u32,
    pub(crate) end: u32,
    /// True if it is the first token of its line.
    pub(crate) first_on_line: bool,
}

/// The tokens of a text, closed by [`TokenKind::End`], and its comments.
pub struct Lexed {
    pub tokens: Vec<Token>,
    pub(crate) comments: Vec<Comment>,
}

/// Splits `text` into tokens and comments.
pub fn lex(text: &str) -> Lexed {
    let mut lexed = Lexed { tokens: Vec::new(), comments: Vec::new() };
    let mut last_end = 0;
    let mut first_on_line = true;
    let mut lexer = TokenKind::lexer(text);
    while let Some(result) = lexer.next() {
        let range = lexer.span();
        let kind = result.unwrap_or(TokenKind::Unknown);
        let breaks = text.get(last_end..range.start).is_some_and(|gap| gap.contains('\n'));
        first_on_line |= breaks;
        last_end = range.end;
        match kind {
            TokenKind::Comment if !is_doc(lexer.slice()) => {
                let text = lexer.slice().trim_end().to_owned();
                lexed.comments.push(Comment { text, start: offset(range.start), own_line: first_on_line });
            }
            TokenKind::Comment => lexed.push(TokenKind::Doc, range, first_on_line),
            TokenKind::Unknown if lexed.extends_unknown(range.start) => lexed.extend_last(range.end),
            kind => lexed.push(kind, range, first_on_line),
        }
        first_on_line = false;
    }
    lexed.push(TokenKind::End, text.len()..text.len(), true);
    lexed
}

impl Lexed {
    /// Appends a token.
    fn push(&mut self, kind: TokenKind, range: std::ops::Range<usize>, first_on_line: bool) {
        self.tokens.push(Token { kind, start: offset(range.start), end: offset(range.end), first_on_line });
    }

    /// Returns whether an unknown character at `start` continues an unknown token.
    fn extends_unknown(&self, start: usize) -> bool {
        self.tokens.last().is_some_and(|last| last.kind == TokenKind::Unknown && last.end == offset(start))
    }

    fn extend_last(&mut self, end: usize) {
        if let Some(last) = self.tokens.last_mut() {
            last.end = offset(end);
        }
    }
}

fn is_doc(comment: &str) -> bool {
    comment.starts_with("///") && !comment.starts_with("////")
}

/// Returns `n` as an offset; one beyond 4 GB is clamped.
fn offset(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

impl TokenKind {
    /// Returns the description of the token for messages.
    pub(crate) fn describe(self) -> &'static str {
        match self {
            Self::Name => "a name",
            Self::Number => "a number",
            Self::Str => "a string",
            Self::OpenStr => "an open string",
            Self::Comment | Self::Doc => "a doc comment",
            Self::If => "`if`",
            Self::Then => "`then`",
            Self::Else => "`else`",
            Self::Match => "`match`",
            Self::Exists => "`exists`",
            Self::Forall => "`forall`",
            Self::In => "`in`",
            Self::True => "`true`",
            Self::False => "`false`",
            Self::None => "`none`",
            Self::Some => "`some`",
            Self::When => "`when`",
            Self::OpenBrace => "`{`",
            Self::CloseBrace => "`}`",
            Self::OpenParen => "`(`",
            Self::CloseParen => "`)`",
            Self::OpenBracket => "`[`",
            Self::CloseBracket => "`]`",
            Self::Comma => "`,`",
            Self::Colon => "`:`",
            Self::Semicolon => "`;`",
            Self::Dot => "`.`",
            Self::DotDot => "`..`",
            Self::DotDotEq => "`..=`",
            Self::Question => "`?`",
            Self::At => "`@`",
            Self::Eq => "`=`",
            Self::ColonEq => "`:=`",
            Self::EqEq => "`==`",
            Self::NotEq => "`!=`",
            Self::Not => "`!`",
            Self::Lt => "`<`",
            Self::Le => "`<=`",
            Self::Gt => "`>`",
            Self::Ge => "`>=`",
            Self::Plus => "`+`",
            Self::Minus => "`-`",
            Self::Star => "`*`",
            Self::Slash => "`/`",
            Self::Percent => "`%`",
            Self::AndAnd => "`&&`",
            Self::OrOr => "`||`",
            Self::Bar => "`|`",
            Self::FatArrow => "`=>`",
            Self::Arrow => "`->`",
            Self::Unknown => "an unknown character",
            Self::End => "the end of the text",
        }
    }

    /// Returns whether it is a word that cannot be a name.
    pub(crate) fn is_reserved(self) -> bool {
        use TokenKind::{Else, Exists, False, Forall, If, In, Match, None, Some, Then, True, When};
        matches!(self, If | Then | Else | Match | Exists | Forall | In | True | False | None | Some | When)
    }
}
