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

/// The names of control characters behind a backslash; no name stands before a longer one that it begins.
const CONTROL_NAMES: [(&str, char); 34] = [
    ("NUL", '\0'),
    ("SOH", '\u{1}'),
    ("STX", '\u{2}'),
    ("ETX", '\u{3}'),
    ("EOT", '\u{4}'),
    ("ENQ", '\u{5}'),
    ("ACK", '\u{6}'),
    ("BEL", '\u{7}'),
    ("BS", '\u{8}'),
    ("HT", '\u{9}'),
    ("LF", '\u{a}'),
    ("VT", '\u{b}'),
    ("FF", '\u{c}'),
    ("CR", '\u{d}'),
    ("SO", '\u{e}'),
    ("SI", '\u{f}'),
    ("DLE", '\u{10}'),
    ("DC1", '\u{11}'),
    ("DC2", '\u{12}'),
    ("DC3", '\u{13}'),
    ("DC4", '\u{14}'),
    ("NAK", '\u{15}'),
    ("SYN", '\u{16}'),
    ("ETB", '\u{17}'),
    ("CAN", '\u{18}'),
    ("EM", '\u{19}'),
    ("SUB", '\u{1a}'),
    ("ESC", '\u{1b}'),
    ("FS", '\u{1c}'),
    ("GS", '\u{1d}'),
    ("RS", '\u{1e}'),
    ("US", '\u{1f}'),
    ("SP", ' '),
    ("DEL", '\u{7f}'),
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

    /// Takes the number of a character: `10`, `o12` or `x0a`. `None` if there is none.
    fn numeric_escape(&mut self) -> Option<char> {
        let rest = self.remaining_text();
        let (n_skipped, radix) = match rest.chars().next()? {
            'x' | 'X' => (1, 16),
            'o' | 'O' => (1, 8),
            _ => (0, 10),
        };
        let digits = &rest[n_skipped..];
        let end = digits.find(|c: char| !c.is_digit(radix)).unwrap_or(digits.len());
        let found = u32::from_str_radix(&digits[..end], radix).ok().and_then(char::from_u32)?;
        self.at += n_skipped + end;
        Some(found)
    }

    /// Reads the character behind a backslash and appends the one it stands for.
    fn read_escape(&mut self, taken: &mut String, sink: &mut FindingSink) {
        let start = self.at - 1;
        // As in Haskell, from which TorXakis has its texts: names of control characters and numbers too.
        if let Some((name, c)) =
            CONTROL_NAMES.iter().find(|(name, _)| self.remaining_text().starts_with(name))
        {
            self.at += name.len();
            return taken.push(*c);
        }
        if let Some(c) = self.numeric_escape() {
            return taken.push(c);
        }
        let Some(c) = self.remaining_text().chars().next() else { return };
        self.at += c.len_utf8();
        match c {
            'n' => taken.push('\n'),
            't' => taken.push('\t'),
            'r' => taken.push('\r'),
            'a' => taken.push('\u{7}'),
            'b' => taken.push('\u{8}'),
            'v' => taken.push('\u{b}'),
            'f' => taken.push('\u{c}'),
            // Nothing: it ends a number in front of a digit.
            '&' => {}
            '\\' | '"' | '\'' => taken.push(c),
            _ => {
                let span = self.span_since(start);
                sink.error(|| {
                    Diagnostic::new(Code::BadEscape, span, format!("texts have no escape `\\{c}`"))
                        .help("there are `\\\"`, `\\\\`, `\\n`, `\\t`, `\\r`, and numbers such as `\\10` and `\\x0a`")
                });
            }
        }
    }
}
