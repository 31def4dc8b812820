//! The statements of action bodies: the larger language of \[AT15] sec. 5, whose models have nested guarded commands.
//!
//! ```text
//! x := e  y := f                       at once: both read the values before
//! a := e then b := a                   one after the other: `b` reads the new `a`
//! { ... } [] { ... }                   one of the branches, whichever the system likes
//! when c { ... }                       a branch that is enabled only where `c` holds
//! slow: { ... } [] fast: { ... }       branches with names, which reports show
//! if c then { ... } else { ... }       no choice; without `else` nothing happens
//! let x = e    var y: Type := e        names to the end of the block
//! for x in [a, b] { ... }              once for each item, in order; also `for i in 1..3`
//! ```
//!
//! Neighbouring assignments happen at once, as they do in Fig. 2, with or without commas and semicolons between them;
//! every other statement sees the effects of those before it. [`lower::action`](crate::lower) defines the meaning.

use ioxide_model::code::Code;
use ioxide_model::diag::Diagnostic;

use super::tree::{BlockName, ChoiceBranch, Condition, LoopRange, Statement, StatementBlock, StatementKind};
use super::{ActionReader, order};
use crate::ast::{Update, UpdateKind};
use crate::lexer::TokenKind;
use crate::parser::ParseResult;

/// The greatest nesting depth of blocks. Chosen by feel: the parser is recursive, and people write far less.
const MAX_BLOCKS: usize = 32;

/// The separator between two assignments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Separator {
    Nothing,
    Comma,
    Semicolon,
}

impl ActionReader<'_> {
    /// `{ statement statement ... }`.
    pub(super) fn parse_block(&mut self) -> ParseResult<StatementBlock> {
        if self.blocks == MAX_BLOCKS {
            return self.too_deep();
        }
        self.blocks += 1;
        let block = self.block_inside();
        self.blocks -= 1;
        block
    }

    fn too_deep<T>(&mut self) -> ParseResult<T> {
        let span = self.parser.span();
        let message = format!("blocks are nested more than {MAX_BLOCKS} deep");
        Err(self.parser.report(
            Diagnostic::new(Code::NestingTooDeep, span, message).help("split the action into several"),
        ))
    }

    fn block_inside(&mut self) -> ParseResult<StatementBlock> {
        let open = self.parser.span();
        if !self.parser.eat(TokenKind::OpenBrace) {
            return self.parser.unexpected_with("`{`", |d| d.help("statements are in braces: `{ x := e }`"));
        }
        let mut statements = Vec::new();
        self.separator();
        while !matches!(self.parser.kind(), TokenKind::CloseBrace | TokenKind::End) {
            let start = self.parser.span();
            let kind = self.parse_statement()?;
            statements.push(Statement { kind, span: self.parser.span_since(start) });
            self.separator();
            if self.parser.eat(TokenKind::Then) && self.parser.is_at(TokenKind::CloseBrace) {
                return self.parser.report_unexpected("a statement");
            }
        }
        self.parser.close(TokenKind::CloseBrace, open)?;
        Ok(StatementBlock { statements })
    }

    /// Commas and semicolons, which may be left out.
    fn separator(&mut self) -> Separator {
        let mut found = Separator::Nothing;
        loop {
            found = match self.parser.kind() {
                TokenKind::Comma => Separator::Comma,
                TokenKind::Semicolon => Separator::Semicolon,
                _ => return found,
            };
            self.parser.bump();
        }
    }

    /// Parses one statement of the body of an action.
    fn parse_statement(&mut self) -> ParseResult<StatementKind> {
        match self.parser.kind() {
            TokenKind::If => self.parse_conditional(),
            TokenKind::OpenBrace | TokenKind::When => self.parse_choice(),
            TokenKind::Name if self.parser.kind_after(1) == TokenKind::Colon => self.parse_choice(),
            TokenKind::Name if self.at_local() => self.parse_local().map(StatementKind::Local),
            TokenKind::Name if self.at_loop() => self.parse_repetition(),
            TokenKind::Name => self.parse_assignments().map(StatementKind::Assign),
            TokenKind::OpenBracket if self.parser.kind_after(1) == TokenKind::CloseBracket => {
                self.parser.unexpected_with("a statement", |d| {
                    d.help("`[]` separates branches in braces: `{ ... } [] when c { ... }`")
                })
            }
            _ => self.parser.unexpected_with("a statement", |d| {
                d.help(
                    "statements are `x := e`, `if c then { ... }`, `when c { ... }`, `{ ... } [] { ... }`, \
                     `let x = e`, `var x := e` and `for x in xs { ... }`",
                )
            }),
        }
    }

    /// Neighbouring assignments.
    fn parse_assignments(&mut self) -> ParseResult<Vec<Update>> {
        let mut group = vec![self.parse_update()?];
        let mut changed = order::ChangedNames::default();
        loop {
            let separator = self.separator();
            if !self.at_assignment() {
                return Ok(group);
            }
            group.iter().last().into_iter().for_each(|update| changed.add(update));
            let next = self.parse_update()?;
            self.doubts.extend(changed.doubt(&next, separator));
            group.push(next);
        }
    }

    fn at_assignment(&self) -> bool {
        self.parser.is_at(TokenKind::Name)
            && self.parser.kind_after(1) != TokenKind::Colon
            && !self.at_local()
            && !self.at_loop()
    }

    /// `name := value` or `name[key] := value`.
    fn parse_update(&mut self) -> ParseResult<Update> {
        let start = self.parser.span();
        let name = self.parser.expect_name("the name of a variable")?;
        let key = self.parser.update_key()?;
        self.parser.expect(TokenKind::ColonEq)?;
        let value = self.parser.parse_expr()?;
        let kind = match key {
            Some(key) => UpdateKind::Put(name, key, value),
            None => UpdateKind::Assign(name, value),
        };
        Ok(Update { kind, span: self.parser.span_since(start) })
    }

    /// Branches with `[]` between them.
    fn parse_choice(&mut self) -> ParseResult<StatementKind> {
        let mut branches = vec![self.parse_branch()?];
        while self.parser.is_at(TokenKind::OpenBracket) {
            self.parser.bump();
            self.parser.expect(TokenKind::CloseBracket)?;
            branches.push(self.parse_branch()?);
        }
        Ok(StatementKind::Choice(branches))
    }

    /// `name: when c { ... }`; name and condition may be missing.
    fn parse_branch(&mut self) -> ParseResult<ChoiceBranch> {
        let name = match self.parser.kind_after(1) {
            TokenKind::Colon => Some(self.parser.expect_name("the name of a branch")?),
            _ => None,
        };
        if name.is_some() {
            self.parser.bump();
        }
        let when = if self.parser.eat(TokenKind::When) { Some(self.parse_condition()?) } else { None };
        if !self.parser.is_at(TokenKind::OpenBrace) {
            let expected = if when.is_some() { "`{`" } else { "`{` or `when`" };
            return self.parser.unexpected_with(expected, |d| match name {
                Some(_) if when.is_none() => d.help("a variable of this block is `var x: Type := e`"),
                _ => d.help("a branch is `{ ... }` or `when c { ... }`"),
            });
        }
        Ok(ChoiceBranch { name, when, body: self.parse_block()? })
    }

    /// Parses a condition with the `let`s before it.
    fn parse_condition(&mut self) -> ParseResult<Condition> {
        let start = self.parser.span();
        let mut lets = Vec::new();
        let guard = self.parser.lets_and_guard(&mut lets)?;
        Ok(Condition { lets, guard, span: self.parser.span_since(start) })
    }

    /// `if c then { ... } else if d then { ... } else { ... }`.
    fn parse_conditional(&mut self) -> ParseResult<StatementKind> {
        let mut arms = Vec::new();
        loop {
            self.parser.expect(TokenKind::If)?;
            let condition = self.parse_condition()?;
            self.parser.expect(TokenKind::Then)?;
            arms.push((condition, self.parse_block()?));
            if !self.parser.eat(TokenKind::Else) {
                return Ok(StatementKind::If(arms, None));
            }
            if !self.parser.is_at(TokenKind::If) {
                return Ok(StatementKind::If(arms, Some(self.parse_block()?)));
            }
        }
    }

    /// Returns whether `let` or `var` stands here as a keyword, not as the name of a variable.
    fn at_local(&self) -> bool {
        let next = self.parser.kind_after(1);
        self.parser.at_word("var") && next == TokenKind::Name
            || self.parser.at_word("let")
                && matches!(next, TokenKind::Name | TokenKind::Some | TokenKind::None)
    }

    /// `let x = e`, `let x: Type = e`, `var x := e` or `var x: Type := e`.
    fn parse_local(&mut self) -> ParseResult<BlockName> {
        let is_variable = self.parser.at_word("var");
        self.parser.bump();
        if !self.parser.is_at(TokenKind::Name) || self.parser.kind_after(1) == TokenKind::OpenParen {
            return self.parser.unexpected_with("a name", |d| {
                d.help(
                    "test a value that may be missing: `when let some(x) = e { ... }` or `if let some(x) = \
                        e then { ... }`",
                )
            });
        }
        let name = self.parser.expect_name("the name of a variable")?;
        let ty = if self.parser.eat(TokenKind::Colon) { Some(self.parse_type()?) } else { None };
        self.sign_of_local(is_variable)?;
        Ok(BlockName { name, ty, value: self.parser.parse_expr()?, is_variable })
    }

    /// Reads `:=` behind a variable or `=` behind a name; the wrong one of the two is reported and read.
    fn sign_of_local(&mut self, is_variable: bool) -> ParseResult<()> {
        let (sign, other) = if is_variable {
            (TokenKind::ColonEq, TokenKind::Eq)
        } else {
            (TokenKind::Eq, TokenKind::ColonEq)
        };
        if self.parser.is_at(other) {
            let (span, right) = (self.parser.span(), sign.describe());
            let message = format!("expected {right}, found {}", other.describe());
            self.parser.report(
                Diagnostic::new(Code::ActionSyntax, span, message)
                    .help("`let x = e` names a value, `var x := e` declares a variable that may change")
                    .fix(span, right.trim_matches('`')),
            );
            self.parser.bump();
            return Ok(());
        }
        self.parser.expect(sign).map(|_| ())
    }

    /// Returns whether `for` stands here as a keyword, not as the name of a variable.
    fn at_loop(&self) -> bool {
        self.parser.at_word("for") && self.parser.kind_after(1) == TokenKind::Name
    }

    /// `for x in xs { ... }` or `for i in 1..3 { ... }`.
    fn parse_repetition(&mut self) -> ParseResult<StatementKind> {
        self.parser.bump();
        let name = self.parser.expect_name("a name for the item")?;
        self.parser.expect(TokenKind::In)?;
        let first = self.parser.parse_expr()?;
        let range = if self.parser.eat(TokenKind::DotDot) {
            LoopRange::Numbers(first, self.parser.parse_expr()?)
        } else {
            LoopRange::Items(first)
        };
        Ok(StatementKind::For(name, range, self.parse_block()?))
    }
}
