//! The lexer of TorXakis texts.
//!
//! Comments are `-- to the end of the line` and `{- nested -}`. Signs are taken as long as possible from
//! a fixed list, so `>->` is one sign and `[[` too.

use ioxide_model::code::Code;
use ioxide_model::diag::Diagnostic;
use ioxide_model::source::{FileId, Span};

use crate::sink::FindingSink;

/// A word or sign.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Lexeme {
    /// A name or a keyword.
    Word(String),
    /// A whole number without sign.
    Number(String),
    /// A text between double quotes, without them.
    Text(String),
    /// A regular expression between single quotes, without them.
    Quoted(String),
    /// One of [`SIGNS`].
    Sign(&'static str),
    /// The end of the text.
    End,
}

/// A word or sign with its place.
#[derive(Clone, Debug)]
pub(super) struct TxsToken {
    pub(super) lexeme: Lexeme,
    pub(super) span: Span,
}

/// The signs; no sign stands before a longer one that it begins.
const SIGNS: [&str; 44] = [
    "::=", ">->", ">>>", "=>>", "[>>", "[><", "|||", "\\|/", "::", ":=", "[[", "]]", "|[", "]|", "||", "##",
    "->", "<-", "==", "<>", "<=", ">=", "=>", "/\\", "\\/", "++", "<", ">", "|", "#", "+", "-", "*", "/",
    "%", "=", "!", "?", "(", ")", "[", "]", "{", "}",
];

/// Signs that separate.
const SEPARATORS: [&str; 2] = [",", ";"];

/// The words and signs of `text`, the last is [`Lexeme::End`].
pub(super) fn lex(text: &str, file: FileId, sink: &mut FindingSink) -> Vec<TxsToken> {
    Scanner { text, file, at: 0 }.scan_tokens(sink)
}

struct Scanner<'a> {
    text: &'a str,
    file: FileId,
    at: usize,
}

impl Scanner<'_> {
    fn scan_tokens(mut self, sink: &mut FindingSink) -> Vec<TxsToken> {
        let mut tokens = Vec::new();
        loop {
            self.skip_space(sink);
            let start = self.at;
            let Some(lexeme) = self.next(sink) else { continue };
            let is_end = lexeme == Lexeme::End;
            tokens.push(TxsToken { lexeme, span: self.span_since(start) });
            if is_end {
                return tokens;
            }
        }
    }

    fn remaining_text(&self) -> &str {
        &self.text[self.at..]
    }

    fn span_since(&self, start: usize) -> Span {
        Span::new(self.file, start, self.at)
    }

    /// Skips white space and comments.
    fn skip_space(&mut self, sink: &mut FindingSink) {
        loop {
            let rest = self.remaining_text();
            let space = rest.len() - rest.trim_start().len();
            if space > 0 {
                self.at += space;
            } else if rest.starts_with("--") {
                self.at += rest.find('\n').unwrap_or(rest.len());
            } else if rest.starts_with("{-") {
                self.block_comment(sink);
            } else {
                return;
            }
        }
    }

    fn block_comment(&mut self, sink: &mut FindingSink) {
        let start = self.at;
        let mut depth = 0usize;
        while self.at < self.text.len() {
            if self.remaining_text().starts_with("{-") {
                depth += 1;
                self.at += 2;
            } else if self.remaining_text().starts_with("-}") {
                depth -= 1;
                self.at += 2;
                if depth == 0 {
                    return;
                }
            } else {
                self.at += self.remaining_text().chars().next().map_or(1, char::len_utf8);
            }
        }
        let span = Span::new(self.file, start, start + 2);
        sink.error(|| Diagnostic::new(Code::UnclosedDelimiter, span, "this comment is not closed"));
    }

    /// Returns the next word or sign; `None` if a character was skipped.
    fn next(&mut self, sink: &mut FindingSink) -> Option<Lexeme> {
        let Some(first) = self.remaining_text().chars().next() else { return Some(Lexeme::End) };
        if first.is_alphabetic() || first == '_' {
            let word = self.take_while(|c| c.is_alphanumeric() || c == '_' || c == '\'');
            return Some(Lexeme::Word(word));
        }
        if first.is_ascii_digit() {
            return Some(Lexeme::Number(self.take_while(|c| c.is_ascii_digit())));
        }
        if first == '"' || first == '\'' {
            return Some(self.read_quoted(first, sink));
        }
        let signs = SIGNS.iter().chain(&SEPARATORS);
        if let Some(sign) = signs.into_iter().find(|sign| self.remaining_text().starts_with(**sign)) {
            self.at += sign.len();
            return Some(Lexeme::Sign(sign));
        }
        let start = self.at;
        self.at += first.len_utf8();
        let span = self.span_since(start);
        sink.error(|| {
            Diagnostic::new(
                Code::UnexpectedCharacter,
                span,
                format!("`{first}` means nothing in TorXakis texts"),
            )
        });
        None
    }

    fn take_while(&mut self, fits: impl Fn(char) -> bool) -> String {
        let rest = self.remaining_text();
        let end = rest.find(|c| !fits(c)).unwrap_or(rest.len());
        let taken = rest[..end].to_owned();
        self.at += end;
        taken
    }

    /// A text, with the escapes `\"`, `\\`, `\n`, `\t`, `\r`, or a regular expression, taken as it stands.
    fn read_quoted(&mut self, quote: char, sink: &mut FindingSink) -> Lexeme {
        let start = self.at;
        self.at += 1;
        let mut taken = String::new();
        while let Some(c) = self.remaining_text().chars().next() {
            self.at += c.len_utf8();
            if c == quote {
                return if quote == '"' { Lexeme::Text(taken) } else { Lexeme::Quoted(taken) };
            }
            if c == '\n' {
                break;
            }
            match (c, quote) {
                ('\\', '"') => self.read_escape(&mut taken, sink),
                _ => taken.push(c),
            }
        }
        let span = self.span_since(start);
        sink.error(|| Diagnostic::new(Code::UnterminatedString, span, "this text is not closed on its line"));
        if quote == '"' { Lexeme::Text(taken) } else { Lexeme::Quoted(taken) }
    }

    /// Reads the character behind a backslash and appends the one it stands for.
    fn read_escape(&mut self, taken: &mut String, sink: &mut FindingSink) {
        let start = self.at - 1;
        let Some(c) = self.remaining_text().chars().next() else { return };
        self.at += c.len_utf8();
        match c {
            'n' => taken.push('\n'),
            't' => taken.push('\t'),
            'r' => taken.push('\r'),
            '\\' | '"' | '\'' => taken.push(c),
            _ => {
                let span = self.span_since(start);
                sink.error(|| {
                    Diagnostic::new(Code::BadEscape, span, format!("texts have no escape `\\{c}`"))
                        .help("there are `\\\"`, `\\\\`, `\\n`, `\\t` and `\\r`")
                });
            }
        }
    }
}
