//! The parser: tokens to syntax tree, by recursive descent that survives errors.
//!
//! A function that cannot go on reports why and returns [`Reported`]; the nearest block
//! then skips to the next place where one of its parts can start ([`Parser::recover`])
//! and continues. So one run reports many errors, and always ends: every loop either
//! consumes a token or leaves.
//!
//! Depth is bounded by [`MAX_NESTING`], so no text can overflow the stack here or in
//! any later pass over the tree. Work is linear in the text.

mod decl;
mod expr;
mod process;
mod system;

use ioxide_model::code::Code;
use ioxide_model::diag::Diagnostic;
use ioxide_model::source::{FileId, Span};

use crate::ast::{Attr, AttrKind, DeclMeta, Expr, ExprKind, ItemKind, Name, SyntaxFile};
use crate::lexer::{Lexed, Token, TokenKind, lex};
use crate::sink::{FindingSink, Reported};
use crate::suggest;
use crate::words::is_beginning;

/// The greatest nesting depth of expressions and types. Chosen so that the recursive parser stays within the stack of
/// a thread, with room to spare; people write far less.
pub(crate) const MAX_NESTING: usize = 128;

/// The syntax tree of `text`, with findings in `sink`.
pub(crate) fn parse_text(text: &str, file: FileId, sink: &mut FindingSink) -> SyntaxFile {
    let lexed = lex(text);
    let mut parser = Parser::new(text, file, &lexed, sink);
    let preamble = parser.parse_preamble();
    let (model, system) = parser.parse_file(!preamble.is_empty());
    SyntaxFile { preamble, model, system, comments: lexed.comments }
}

/// A part of the tree, or the proof that the parser reported why there is none.
pub(crate) type ParseResult<T> = Result<T, Reported>;

/// The state of parsing one text.
pub(crate) struct Parser<'a> {
    text: &'a str,
    file: FileId,
    tokens: &'a [Token],
    position: usize,
    /// The number of open braces among the consumed tokens.
    braces: usize,
    nesting: usize,
    /// The greatest number of nested `.part`s in the current expression.
    parts: usize,
    sink: &'a mut FindingSink,
    /// The token position of the last error, so that one place has one error.
    last_error: Option<(usize, Reported)>,
    /// The code for text that does not follow the grammar.
    syntax: Code,
    /// A declaration whose value could not be read, until its block collects it.
    half: Option<ItemKind>,
    /// The span of everything, if the text is a part of another format's file.
    whole: Option<Span>,
}

impl<'a> Parser<'a> {
    /// Makes a parser at the first token. `lexed` must be the tokens of `text`.
    pub(crate) fn new(text: &'a str, file: FileId, lexed: &'a Lexed, sink: &'a mut FindingSink) -> Self {
        let tokens = &lexed.tokens;
        Self {
            text,
            file,
            tokens,
            position: 0,
            braces: 0,
            nesting: 0,
            parts: 0,
            sink,
            last_error: None,
            syntax: Code::UnexpectedToken,
            half: None,
            whole: None,
        }
    }

    /// Reports text that does not follow the grammar as `code`.
    pub(crate) fn with_syntax(self, code: Code) -> Self {
        Self { syntax: code, ..self }
    }

    /// Places everything at `span`.
    pub(crate) fn placed_at(self, span: Span) -> Self {
        Self { whole: Some(span), ..self }
    }

    // Looking.

    /// Returns the token `ahead` of the cursor; the last one is the end of the text.
    fn token(&self, ahead: usize) -> Token {
        // The list of tokens is never empty: it ends with the end of the text.
        let last = self.tokens.len() - 1;
        self.tokens[(self.position + ahead).min(last)]
    }

    /// Returns the kind of the next token.
    pub(crate) fn kind(&self) -> TokenKind {
        self.token(0).kind
    }

    pub(crate) fn kind_after(&self, ahead: usize) -> TokenKind {
        self.token(ahead).kind
    }

    pub(crate) fn is_at(&self, kind: TokenKind) -> bool {
        self.kind() == kind
    }

    fn slice_at(&self, ahead: usize) -> &'a str {
        let token = self.token(ahead);
        self.text.get(token.start as usize..token.end as usize).unwrap_or("")
    }

    /// Returns the text at `span`, which covers consumed tokens.
    pub(crate) fn text_of(&self, span: Span) -> &'a str {
        self.text.get(span.start as usize..span.end as usize).unwrap_or("")
    }

    /// Returns whether somewhere in the text `message` stands behind the word `direction`, as in a declaration.
    fn is_declared_as(&self, direction: &str, message: &str) -> bool {
        let text = |token: &Token| self.text.get(token.start as usize..token.end as usize);
        self.tokens
            .windows(2)
            .any(|pair| text(&pair[0]) == Some(direction) && text(&pair[1]) == Some(message))
    }

    /// Returns the text of the next token.
    pub(crate) fn slice(&self) -> &'a str {
        self.slice_at(0)
    }

    /// Returns whether the next token is the word `word`, used as a keyword and not as a label.
    pub(crate) fn at_word(&self, word: &str) -> bool {
        self.is_at(TokenKind::Name) && self.slice() == word && self.kind_after(1) != TokenKind::Colon
    }

    /// Returns the place of the next token.
    pub(crate) fn span(&self) -> Span {
        self.span_of(self.token(0))
    }

    fn span_of(&self, token: Token) -> Span {
        if let Some(whole) = self.whole {
            return whole;
        }
        Span::new(self.file, token.start as usize, token.end as usize)
    }

    /// From `start` to the last consumed token.
    pub(crate) fn span_since(&self, start: Span) -> Span {
        let last = self.position.checked_sub(1).map_or(start, |last| self.span_of(self.tokens[last]));
        // Nothing was consumed since `start`.
        if last.end < start.start { start } else { start.to(last) }
    }

    /// Just behind the last consumed token, where something missing should stand.
    fn span_behind(&self) -> Span {
        let end = self.position.checked_sub(1).map_or(0, |last| self.tokens[last].end as usize);
        Span::new(self.file, end, end)
    }

    // Moving.

    /// Takes the next token and counts braces; the end is never passed.
    pub(crate) fn bump(&mut self) -> Token {
        let token = self.token(0);
        match token.kind {
            TokenKind::OpenBrace => self.braces += 1,
            // A text may close more than it opens.
            TokenKind::CloseBrace => self.braces = self.braces.saturating_sub(1),
            _ => {}
        }
        if token.kind != TokenKind::End {
            self.position += 1;
        }
        token
    }

    /// Takes a token of this kind if it is next; returns whether it was.
    pub(crate) fn eat(&mut self, kind: TokenKind) -> bool {
        let found = self.is_at(kind);
        if found {
            self.bump();
        }
        found
    }

    pub(crate) fn eat_word(&mut self, word: &str) -> bool {
        let found = self.at_word(word);
        if found {
            self.bump();
        }
        found
    }

    /// Takes a token of this kind, or reports that it is missing.
    pub(crate) fn expect(&mut self, kind: TokenKind) -> ParseResult<Token> {
        if self.is_at(kind) { Ok(self.bump()) } else { self.report_unexpected(kind.describe()) }
    }

    /// The closing partner of the bracket at `open`.
    pub(crate) fn close(&mut self, kind: TokenKind, open: Span) -> ParseResult<()> {
        if self.eat(kind) {
            return Ok(());
        }
        let opened = match kind {
            TokenKind::CloseParen => "(",
            TokenKind::CloseBracket => "[",
            _ => "{",
        };
        // The author forgot the bracket, if the text ends or goes on with a new line; otherwise something
        // inside the brackets cannot be read.
        let ended = matches!(self.kind(), TokenKind::End | TokenKind::CloseBrace | TokenKind::Arrow)
            || self.token(0).first_on_line;
        if !ended {
            let expected = format!("`,` or {}", kind.describe());
            return self.unexpected_with(&expected, |d| d.label(open, format!("to close this `{opened}`")));
        }
        let found = self.describe_next_token();
        let message = format!("`{opened}` is not closed: expected {}, found {found}", kind.describe());
        let place = self.span();
        let fix = self.span_behind();
        Err(self.report(
            Diagnostic::new(Code::UnclosedDelimiter, place, message)
                .caret(format!("expected {}", kind.describe()))
                .label(open, "opened here")
                .help(format!("close it with {}", kind.describe()))
                .fix(fix, kind.describe().trim_matches('`')),
        ))
    }

    /// Takes a name, or reports that `what` is missing; a reserved word is named as such.
    pub(crate) fn expect_name(&mut self, what: &str) -> ParseResult<Name> {
        if self.is_at(TokenKind::Name) {
            let name = Name { text: strip_backquotes(self.slice()).to_owned(), span: self.span() };
            self.bump();
            return Ok(name);
        }
        if self.kind().is_reserved() {
            return Err(self.report(self.reserved_word_finding(what)));
        }
        self.report_unexpected(what)
    }

    /// Returns the finding that a reserved word stands in the place of a name.
    fn reserved_word_finding(&self, what: &str) -> Diagnostic {
        let (word, span) = (self.slice(), self.span());
        let message = format!("`{word}` is a word of the language, expected {what}");
        Diagnostic::new(Code::ReservedWord, span, message)
            .caret("cannot be a name")
            .help(format!("pick another name, such as `{word}_`, or write the word in backquotes"))
            .fix(span, format!("{word}_"))
    }

    /// Returns whether a reserved word stands here where only a name can: `none: on a`, `some[i in 1..3]: Part`,
    /// `if.message -> part.message`.
    fn is_reserved_name(&self) -> bool {
        let is_named =
            matches!(self.kind_after(1), TokenKind::Colon | TokenKind::OpenBracket | TokenKind::Dot);
        self.kind().is_reserved() && is_named
    }

    // Reporting.

    /// Returns whether the current token has an error already.
    fn has_error_here(&self) -> bool {
        self.last_error.is_some_and(|(place, _)| place == self.position)
    }

    /// Reports `diagnostic`, unless this place has an error already.
    pub(crate) fn report(&mut self, diagnostic: Diagnostic) -> Reported {
        // One place has one error: what fails at a token usually fails in several functions on the way out.
        let reported = match self.last_error {
            Some((place, reported)) if place == self.position => reported,
            _ => self.sink.report(diagnostic),
        };
        self.last_error = Some((self.position, reported));
        reported
    }

    /// Reports the diagnostic of `make`, which is not about the current token.
    pub(crate) fn error(&mut self, make: impl FnOnce() -> Diagnostic) -> Reported {
        self.sink.error(make)
    }

    /// Adds a finding that is no error.
    pub(crate) fn warn(&mut self, warning: Diagnostic) {
        self.sink.push(warning);
    }

    /// Returns the description of the next token for messages.
    fn describe_next_token(&self) -> String {
        match self.kind() {
            TokenKind::Name | TokenKind::Number => format!("`{}`", strip_backquotes(self.slice())),
            kind => kind.describe().to_owned(),
        }
    }

    pub(crate) fn report_unexpected<T>(&mut self, expected: &str) -> ParseResult<T> {
        self.unexpected_with(expected, |diagnostic| diagnostic)
    }

    pub(crate) fn unexpected_with<T>(
        &mut self,
        expected: &str,
        more: impl FnOnce(Diagnostic) -> Diagnostic,
    ) -> ParseResult<T> {
        let diagnostic = self.unexpected_diagnostic(expected);
        Err(self.report(more(diagnostic)))
    }

    fn unexpected_diagnostic(&self, expected: &str) -> Diagnostic {
        let span = self.span();
        match self.kind() {
            _ if self.is_reserved_name() => self.reserved_word_finding(expected),
            TokenKind::Unknown => self.unknown_character(span),
            TokenKind::OpenStr => {
                Diagnostic::new(Code::UnterminatedString, span, "the string is not closed on its line")
                    .help("close it with `\"`, and write `\\n` for a line break")
            }
            TokenKind::Doc => Diagnostic::new(Code::MisplacedDoc, span, "this doc comment documents nothing")
                .caret(format!("expected {expected}"))
                .help("use `//` for a remark")
                .fix(Span::new(self.file, span.start as usize, span.start as usize + 3), "//"),
            _ => {
                let message = format!("expected {expected}, found {}", self.describe_next_token());
                let diagnostic =
                    Diagnostic::new(self.syntax, span, message).caret(format!("expected {expected}"));
                let assignment = expected == "`=`" && matches!(self.slice(), "+" | "-" | "*" | "/");
                match if assignment { habit("+=") } else { habit(self.slice()) } {
                    Some(help) => diagnostic.help(help),
                    None => diagnostic,
                }
            }
        }
    }

    fn unknown_character(&self, span: Span) -> Diagnostic {
        let text = self.slice();
        let shown: String =
            text.chars().take(8).map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect();
        let diagnostic = Diagnostic::new(
            Code::UnexpectedCharacter,
            span,
            format!("`{shown}` is not part of the language"),
        );
        match text.chars().next() {
            Some('\'') => diagnostic.help("strings use double quotes"),
            Some('`') => {
                diagnostic.help("a name in backquotes is not empty and ends on its line: `` `INIT-CHLO` ``")
            }
            Some('#') => diagnostic.help("comments start with `//`"),
            Some('&') => diagnostic.help("and is written `&&`").fix(span, "&&"),
            Some('≤') => diagnostic.help("write `<=`").fix(span, "<="),
            Some('≥') => diagnostic.help("write `>=`").fix(span, ">="),
            Some('≠') => diagnostic.help("write `!=`").fix(span, "!="),
            _ => diagnostic,
        }
    }

    // Surviving.

    /// Skips to the next token that can start a part of the block at brace level `level`,
    /// or to the brace that closes the block.
    ///
    /// A part starts at the first token of a line. A heading that occurs in no inner
    /// block (`state x {`, `label: on`) ends the search even inside open braces: the author
    /// forgot to close them.
    pub(crate) fn recover(&mut self, level: usize) {
        self.skip_to(level, |parser, inside| parser.at_strong_start() || !inside && parser.at_part_start());
    }

    /// Skips to the first token of a line at which `is_start` returns true, or to the brace that closes the block at
    /// brace level `level`. The second argument of `is_start` is true if braces above `level` are open.
    pub(crate) fn skip_to(&mut self, level: usize, is_start: impl Fn(&Self, bool) -> bool) {
        loop {
            let token = self.token(0);
            let inside = self.braces > level;
            match token.kind {
                TokenKind::End => break,
                TokenKind::CloseBrace if !inside => break,
                _ if token.first_on_line && is_start(self, inside) => break,
                _ => _ = self.bump(),
            }
        }
        // The braces that were skipped over are forgotten: the caller's block goes on as if they had been
        // closed.
        self.braces = level;
    }

    /// Returns the number of open braces among the consumed tokens.
    pub(crate) fn braces(&self) -> usize {
        self.braces
    }

    /// Returns the number of consumed tokens.
    pub(crate) fn position(&self) -> usize {
        self.position
    }

    fn at_part_start(&self) -> bool {
        match self.kind() {
            TokenKind::Doc | TokenKind::At => true,
            TokenKind::Name => {
                // Two names at the start of a line: a declaration, perhaps with its word misspelt.
                matches!(self.kind_after(1), TokenKind::Colon | TokenKind::Name)
                    || (is_beginning(self.slice()) && !self.kind_after(1).is_operator())
            }
            _ => false,
        }
    }

    fn at_strong_start(&self) -> bool {
        if self.is_at(TokenKind::Name) && self.kind_after(1) == TokenKind::Colon {
            return self.kind_after(2) == TokenKind::Name
                && matches!(
                    self.slice_at(2),
                    "on" | "emit" | "internal" | "always" | "sometimes" | "assume" | "every"
                );
        }
        self.at_word("state")
            && self.kind_after(1) == TokenKind::Name
            && self.kind_after(2) == TokenKind::OpenBrace
            || self.at_word("any") && self.kind_after(1) == TokenKind::OpenBrace
            || self.at_word("test") && self.kind_after(1) == TokenKind::Str
            || self.is_heading(0)
    }

    /// Returns the name that the unreadable declaration at token `start` would declare, if it has one.
    pub(crate) fn name_declared_at(&self, start: usize) -> Option<String> {
        let kept = |token: &&Token| token.kind == TokenKind::Name;
        // A declaration has its name among its first words; further away it would be a guess.
        let end = self.tokens.len().min(start + 12);
        let text = |token: &Token| self.text.get(token.start as usize..token.end as usize).unwrap_or("");
        let words =
            self.tokens[start..end].iter().skip_while(|token| token.kind != TokenKind::Name).take_while(kept);
        words.map(text).find(|word| !is_beginning(word)).map(|word| strip_backquotes(word).to_owned())
    }

    // Parts that many declarations share.

    /// Doc comments and attributes.
    pub(crate) fn parse_meta(&mut self) -> ParseResult<DeclMeta> {
        let mut meta = DeclMeta::default();
        loop {
            match self.kind() {
                TokenKind::Doc => meta.docs.push(self.doc_line()),
                TokenKind::At => meta.attrs.extend(self.parse_attribute()?),
                TokenKind::CloseBrace | TokenKind::End if !meta.docs.is_empty() => {
                    return self.doc_for_nothing();
                }
                _ => return Ok(meta),
            }
        }
    }

    /// The doc comment of a part of a declaration.
    pub(crate) fn parse_docs(&mut self) -> ParseResult<Vec<String>> {
        let mut docs = Vec::new();
        while self.is_at(TokenKind::Doc) {
            docs.push(self.doc_line());
        }
        let is_at_the_end =
            matches!(self.kind(), TokenKind::CloseBrace | TokenKind::CloseParen | TokenKind::End);
        if is_at_the_end && !docs.is_empty() { self.doc_for_nothing() } else { Ok(docs) }
    }

    /// One line of a doc comment, without its slashes.
    fn doc_line(&mut self) -> String {
        let line = self.slice().trim_end();
        let line = line.strip_prefix("///").unwrap_or(line);
        let line = line.strip_prefix(' ').unwrap_or(line).to_owned();
        self.bump();
        line
    }

    fn doc_for_nothing<T>(&mut self) -> ParseResult<T> {
        let last = self.tokens[..self.position].iter().rposition(|token| token.kind == TokenKind::Doc);
        let span = last.map_or_else(|| self.span(), |last| self.span_of(self.tokens[last]));
        let slashes = Span { end: (span.start + 3).min(span.end), ..span };
        Err(self.report(
            Diagnostic::new(Code::MisplacedDoc, span, "this doc comment documents nothing")
                .help("use `//` for a remark")
                .fix(slashes, "//"),
        ))
    }

    /// `@req("R-12")` or `@weight(5)`; an unknown one is reported and skipped.
    fn parse_attribute(&mut self) -> ParseResult<Option<Attr>> {
        let start = self.span();
        self.bump();
        let name = self.expect_name("the name of an attribute")?;
        let open = self.span();
        self.expect(TokenKind::OpenParen)?;
        let kind = match (name.text.as_str(), self.kind()) {
            ("req", TokenKind::Str) => Some(AttrKind::Req(self.parse_string()?)),
            ("req", _) => return self.report_unexpected("the requirement as a string, such as `\"R-12\"`"),
            ("weight", TokenKind::Number) => self.parse_weight(),
            ("weight", _) => return self.report_unexpected("a whole number"),
            _ => {
                let diagnostic = Diagnostic::new(
                    Code::BadAttribute,
                    name.span,
                    format!("there is no attribute `@{}`", name.text),
                );
                let diagnostic = suggest::suggest_nearest(diagnostic, &name, ["req", "weight"].into_iter());
                self.report(diagnostic.help("attributes are `@req(\"R-12\")` and `@weight(5)`"));
                // The rest of the unknown attribute is skipped, so that it is one error and the transition
                // behind it is read.
                while !matches!(self.kind(), TokenKind::CloseParen | TokenKind::End)
                    && !self.token(0).first_on_line
                {
                    self.bump();
                }
                None
            }
        };
        self.close(TokenKind::CloseParen, open)?;
        Ok(kind.map(|kind| Attr { kind, span: self.span_since(start) }))
    }

    /// Returns the weight of an attribute; a bad one is reported.
    fn parse_weight(&mut self) -> Option<AttrKind> {
        let weight = self.slice().parse::<u32>().ok().filter(|&weight| weight <= 1_000_000);
        if weight.is_none() {
            let span = self.span();
            let message = format!("`{}` is not a weight", self.slice());
            self.report(
                Diagnostic::new(Code::BadAttribute, span, message)
                    .help("a weight is a whole number from 0 to 1000000"),
            );
        }
        self.bump();
        weight.map(AttrKind::Weight)
    }

    /// Keeps a declaration that was read up to its value, which cannot be read.
    pub(crate) fn keep_half<T>(
        &mut self,
        why: Reported,
        half: impl FnOnce(Expr) -> ItemKind,
    ) -> ParseResult<T> {
        // An expression that stands for the error: the name is declared, and uses of it are not reported
        // again.
        let value = Expr { kind: ExprKind::Error(why), span: self.span_behind() };
        self.half = Some(half(value));
        Err(why)
    }

    /// Items separated by commas up to `end`; a comma may close the list.
    pub(crate) fn parse_list<T>(
        &mut self,
        end: TokenKind,
        open: Span,
        mut item: impl FnMut(&mut Self) -> ParseResult<T>,
    ) -> ParseResult<Vec<T>> {
        let mut items = Vec::new();
        // Asked again after each comma, so a comma before the closing bracket is allowed.
        while !self.is_at(end) {
            items.push(item(self)?);
            if !self.eat(TokenKind::Comma) {
                break;
            }
        }
        self.close(end, open)?;
        Ok(items)
    }
}

/// Returns the name that a token stands for: without its backquotes, if it has them.
fn strip_backquotes(slice: &str) -> &str {
    slice.strip_prefix('`').and_then(|rest| rest.strip_suffix('`')).unwrap_or(slice)
}

impl TokenKind {
    /// Returns whether the token continues an expression, so that a word before it is a name.
    fn is_operator(self) -> bool {
        use TokenKind::{
            AndAnd, CloseParen, Colon, ColonEq, Comma, Dot, DotDot, Eq, EqEq, FatArrow, Ge, Gt, Le, Lt,
            Minus, NotEq, OrOr, Percent, Plus, Slash, Star,
        };
        matches!(
            self,
            AndAnd
                | CloseParen
                | Colon
                | ColonEq
                | Comma
                | Dot
                | DotDot
                | Eq
                | EqEq
                | FatArrow
                | Ge
                | Gt
                | Le
                | Lt
                | Minus
                | NotEq
                | OrOr
                | Percent
                | Plus
                | Slash
                | Star
        )
    }
}

/// Returns advice for a word or sign that other languages have; `None` for all others.
pub(crate) fn habit(text: &str) -> Option<&'static str> {
    match text {
        "and" => Some("and is written `&&`"),
        "or" => Some("or is written `||`"),
        "not" => Some("not is written `!`"),
        "if" => Some("a guard starts with `when`; a choice between values is `if c then a else b`"),
        ";" => Some("declarations and transitions end with their line; updates are separated by commas"),
        "+=" | "-=" | "*=" | "/=" => Some("write the whole assignment: `n = n + 1`"),
        "++" | "--" => Some("write `n = n + 1`"),
        "<>" => Some("unequal is written `!=`"),
        ":=" => Some("an assignment is written `=`"),
        "let" | "mut" => Some("a variable is declared with `var`"),
        "/" | "*" => Some("comments start with `//` and end with the line"),
        _ => None,
    }
}
