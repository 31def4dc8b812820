//! Parsing of expressions, types, patterns and literals.
//!
//! From weak to strong: `=>` (from the right), `||`, `&&`, comparisons (chained),
//! `+ -`, `* / %`, prefix `! -`, then `.field`, `.function(...)`, `[index]` and calls. `if`, `exists`,
//! `forall` and `count` reach as far to the right as they can.

use ioxide_model::code::Code;
use ioxide_model::diag::Diagnostic;
use ioxide_model::source::Span;

use super::{MAX_NESTING, ParseResult, Parser};
use crate::ast::{
    AddOp, ArgExpr, CmpOp, Expr, ExprKind, MatchArm, MulOp, Name, OverWord, PatternExpr, PatternKind,
    Quantifier, Type, TypeKind,
};
use crate::lexer::TokenKind;
use crate::literal;
use crate::words::is_beginning;

impl Parser<'_> {
    /// An expression.
    pub(crate) fn parse_expr(&mut self) -> ParseResult<Expr> {
        // The count of nested parts is for one whole expression: it starts again with each outermost one.
        if self.nesting == 0 {
            self.parts = 0;
        }
        self.with_nesting(Self::parse_implication)
    }

    /// Runs `parse` one level deeper, or reports that the text is too deep.
    fn with_nesting<T>(&mut self, parse: impl FnOnce(&mut Self) -> ParseResult<T>) -> ParseResult<T> {
        if self.nesting >= MAX_NESTING {
            return self.too_deep();
        }
        self.nesting += 1;
        let result = parse(self);
        self.nesting -= 1;
        result
    }

    fn too_deep<T>(&mut self) -> ParseResult<T> {
        let span = self.span();
        Err(self.report(
            Diagnostic::new(
                Code::NestingTooDeep,
                span,
                format!("this is nested more than {MAX_NESTING} deep"),
            )
            .help("name the inner part with `fn`"),
        ))
    }

    /// Parses `a => b`, the operator that binds least.
    fn parse_implication(&mut self) -> ParseResult<Expr> {
        self.parse_chain(TokenKind::FatArrow, Self::parse_disjunction, ExprKind::Implies)
    }

    /// Parses `a || b`.
    fn parse_disjunction(&mut self) -> ParseResult<Expr> {
        self.parse_chain(TokenKind::OrOr, Self::parse_conjunction, ExprKind::Or)
    }

    /// Parses `a && b`.
    fn parse_conjunction(&mut self) -> ParseResult<Expr> {
        self.parse_chain(TokenKind::AndAnd, Self::parse_comparison, ExprKind::And)
    }

    /// Operands joined by `sign`: one node for the whole chain.
    fn parse_chain(
        &mut self,
        sign: TokenKind,
        operand: impl Fn(&mut Self) -> ParseResult<Expr>,
        node: impl FnOnce(Vec<Expr>) -> ExprKind,
    ) -> ParseResult<Expr> {
        let start = self.span();
        let first = operand(self)?;
        if !self.is_at(sign) {
            return Ok(first);
        }
        // One node for the chain, not a tree as deep as the chain is long: a guard of a thousand conjuncts is
        // not nested.
        let mut operands = vec![first];
        while self.eat(sign) {
            operands.push(operand(self)?);
        }
        Ok(Expr { kind: node(operands), span: self.span_since(start) })
    }

    /// Parses a chain of comparisons such as `0 <= n < 10`.
    pub(crate) fn parse_comparison(&mut self) -> ParseResult<Expr> {
        let start = self.span();
        let first = self.parse_sum()?;
        let mut rest = Vec::new();
        while let Some(op) = self.comparison_sign() {
            let sign = self.span();
            self.bump();
            let operand = self.parse_sum()?;
            self.check_direction(&rest, op, sign);
            rest.push((op, operand));
        }
        // Behind an operand `in` has no meaning. Reading on gives one clear error and not one for each token.
        if self.is_at(TokenKind::In) {
            return self.parse_membership(start);
        }
        // `a < b is c` is left to the caller to report: a truth value has no cases.
        if rest.is_empty() && self.at_case_test() {
            return self.parse_case_test(first, start);
        }
        if rest.is_empty() {
            return Ok(first);
        }
        Ok(Expr { kind: ExprKind::Compare(Box::new(first), rest), span: self.span_since(start) })
    }

    /// Returns whether `is Case` follows. `is` is a name like any other elsewhere; two names never follow each other.
    fn at_case_test(&self) -> bool {
        // `every ask when n > 2 is followed by answer`: the guard ends before `is`.
        let ends_response = self.slice_at(1) == "followed" && self.slice_at(2) == "by";
        self.at_word("is")
            && !ends_response
            && matches!(self.kind_after(1), TokenKind::Name | TokenKind::None | TokenKind::Some)
    }

    /// Parses `is Case` behind `value`.
    fn parse_case_test(&mut self, value: Expr, start: Span) -> ParseResult<Expr> {
        self.bump();
        let case = match self.kind() {
            TokenKind::None | TokenKind::Some => {
                let case = Name { text: self.slice().to_owned(), span: self.span() };
                self.bump();
                case
            }
            _ => self.expect_name("a case")?,
        };
        if self.is_at(TokenKind::OpenParen) {
            let message = "`is` asks which case a value is; it has no fields";
            let place = self.span();
            return Err(self
                .report(Diagnostic::new(Code::UnexpectedToken, place, message).help(
                    "compare the whole value with `==`, or use `match` or `when let` to look inside",
                )));
        }
        Ok(Expr { kind: ExprKind::Is(Box::new(value), case), span: self.span_since(start) })
    }

    /// Reports `x in xs`, which other languages have, with the way to write it here, and reads it.
    fn parse_membership(&mut self, start: Span) -> ParseResult<Expr> {
        let item = self.span_since(start);
        self.bump();
        let from = self.span();
        self.parse_sum()?;
        let (whole, all) = (self.span_since(start), self.span_since(from));
        let (item, all) = (self.text_of(item).to_owned(), self.text_of(all).to_owned());
        let message = "`in` is only allowed after `exists`, `forall`, `count` and `for`";
        let diagnostic = Diagnostic::new(Code::UnexpectedToken, whole, message);
        // `count(x in xs: p)`: only the parentheses are wrong.
        let diagnostic = if self.eat(TokenKind::Colon) {
            self.parse_expr()?;
            diagnostic.help(format!(
                "write `count {item} in {all}: ...`, without parentheses after `count`, `exists` or `forall`"
            ))
        } else {
            diagnostic
                .help(format!("write `{all}.has({item})`, or `{all}.contains({item})` for a list"))
                .fix(whole, format!("{all}.has({item})"))
        };
        Ok(Expr { kind: ExprKind::Error(self.report(diagnostic)), span: whole })
    }

    /// The comparison sign that comes next; a single `=` is reported and read as `==`.
    fn comparison_sign(&mut self) -> Option<CmpOp> {
        match self.kind() {
            TokenKind::EqEq => Some(CmpOp::Eq),
            TokenKind::NotEq => Some(CmpOp::Ne),
            TokenKind::Lt => Some(CmpOp::Lt),
            TokenKind::Le => Some(CmpOp::Le),
            TokenKind::Gt => Some(CmpOp::Gt),
            TokenKind::Ge => Some(CmpOp::Ge),
            TokenKind::Eq => {
                let span = self.span();
                self.report(
                    Diagnostic::new(Code::AssignmentInExpression, span, "`=` does not compare")
                        .help("write `==` to compare")
                        .fix(span, "=="),
                );
                Some(CmpOp::Eq)
            }
            _ => None,
        }
    }

    fn check_direction(&mut self, before: &[(CmpOp, Expr)], op: CmpOp, sign: Span) {
        let direction = |op: CmpOp| match op {
            CmpOp::Lt | CmpOp::Le => Some(CmpOp::Lt),
            CmpOp::Gt | CmpOp::Ge => Some(CmpOp::Gt),
            CmpOp::Eq => None,
            CmpOp::Ne => Some(CmpOp::Ne),
        };
        // A chain is read as one claim, `a < b <= c`. `!=` in it suggests that all are different, which it
        // does not say.
        let Some(&(last, _)) = before.last() else { return };
        let earlier = before.iter().rev().find_map(|&(op, _)| direction(op));
        let clash =
            op == CmpOp::Ne || last == CmpOp::Ne || earlier.zip(direction(op)).is_some_and(|(a, b)| a != b);
        if clash {
            self.report(
                Diagnostic::new(Code::MixedChain, sign, "a chained comparison goes in one direction")
                    .caret("changes direction")
                    .help("join the comparisons with `&&`"),
            );
        }
    }

    /// Parses a sum; the signs are kept with the operands.
    fn parse_sum(&mut self) -> ParseResult<Expr> {
        let start = self.span();
        let first = self.parse_product()?;
        let mut rest = Vec::new();
        loop {
            let op = match self.kind() {
                TokenKind::Plus => AddOp::Add,
                TokenKind::Minus => AddOp::Sub,
                _ => break,
            };
            self.bump();
            rest.push((op, self.parse_product()?));
        }
        if rest.is_empty() {
            return Ok(first);
        }
        Ok(Expr { kind: ExprKind::Sum(Box::new(first), rest), span: self.span_since(start) })
    }

    /// Parses a product; `*`, `/` and `%` bind alike.
    fn parse_product(&mut self) -> ParseResult<Expr> {
        let start = self.span();
        let first = self.parse_prefix()?;
        let mut rest = Vec::new();
        loop {
            let op = match self.kind() {
                TokenKind::Star => MulOp::Mul,
                TokenKind::Slash => MulOp::Div,
                TokenKind::Percent => MulOp::Rem,
                _ => break,
            };
            self.bump();
            rest.push((op, self.parse_prefix()?));
        }
        if rest.is_empty() {
            return Ok(first);
        }
        Ok(Expr { kind: ExprKind::Product(Box::new(first), rest), span: self.span_since(start) })
    }

    /// Parses `!a` and `-a`.
    fn parse_prefix(&mut self) -> ParseResult<Expr> {
        let start = self.span();
        let node: fn(Box<Expr>) -> ExprKind = match self.kind() {
            TokenKind::Not => ExprKind::Not,
            TokenKind::Minus => ExprKind::Neg,
            _ => return self.parse_postfix(),
        };
        self.bump();
        // Each sign is one level: `- - - x` would otherwise overflow the stack without a single bracket.
        let operand = self.with_nesting(Self::parse_prefix)?;
        Ok(Expr { kind: node(Box::new(operand)), span: self.span_since(start) })
    }

    /// Parses an operand with the fields, calls and indices behind it.
    fn parse_postfix(&mut self) -> ParseResult<Expr> {
        let start = self.span();
        // The longest row of parts counts, not the sum of all: rows beside each other are not nested in each
        // other.
        let outside = std::mem::take(&mut self.parts);
        let mut expr = self.parse_primary()?;
        while self.is_at(TokenKind::Dot) || self.at_index() {
            self.parts += 1;
            if self.parts > MAX_NESTING {
                return self.too_deep();
            }
            if self.is_at(TokenKind::OpenBracket) {
                expr = self.parse_index(expr, start)?;
                continue;
            }
            self.bump();
            let name = self.expect_name("the name of a field or function")?;
            let receiver = Box::new(expr);
            let open = self.span();
            let kind = if self.eat(TokenKind::OpenParen) {
                ExprKind::Method(
                    receiver,
                    name,
                    self.parse_list(TokenKind::CloseParen, open, Self::parse_expr)?,
                )
            } else {
                ExprKind::Field(receiver, name)
            };
            expr = Expr { kind, span: self.span_since(start) };
        }
        self.parts = self.parts.max(outside);
        Ok(expr)
    }

    /// Returns whether an index follows on the same line; a bracket on the next line may start a list.
    fn at_index(&self) -> bool {
        self.is_at(TokenKind::OpenBracket) && !self.token(0).first_on_line
    }

    /// Parses `[key]` behind `receiver`.
    fn parse_index(&mut self, receiver: Expr, start: Span) -> ParseResult<Expr> {
        let open = self.span();
        self.bump();
        let key = self.parse_expr()?;
        self.close(TokenKind::CloseBracket, open)?;
        Ok(Expr { kind: ExprKind::Index(Box::new(receiver), Box::new(key)), span: self.span_since(start) })
    }

    /// Parses a literal, a name, a call, or an expression in brackets.
    fn parse_primary(&mut self) -> ParseResult<Expr> {
        let start = self.span();
        let kind = match self.kind() {
            TokenKind::True | TokenKind::False => ExprKind::Bool(self.bump().kind == TokenKind::True),
            TokenKind::Number => self.parse_number(),
            TokenKind::Str => ExprKind::Str(self.parse_string()?),
            TokenKind::None => {
                self.bump();
                ExprKind::None
            }
            TokenKind::Some => self.parse_some()?,
            TokenKind::OpenParen => {
                self.bump();
                let inner = self.parse_expr()?;
                self.close(TokenKind::CloseParen, start)?;
                ExprKind::Paren(Box::new(inner))
            }
            TokenKind::If => self.parse_conditional()?,
            TokenKind::Match => self.match_expr()?,
            TokenKind::Exists | TokenKind::Forall => self.parse_quantifier()?,
            TokenKind::OpenBracket => self.list_value()?,
            TokenKind::OpenBrace => self.set_or_map()?,
            TokenKind::Name if self.at_count() => self.parse_quantifier()?,
            TokenKind::Name if self.at_late_pattern() => return self.report_late_pattern(),
            // Words of the language can be names, so the token behind decides whether this is one or the
            // start of the next declaration.
            TokenKind::Name if !self.at_next_part() => self.name_or_call()?,
            _ => return self.report_unexpected("an expression"),
        };
        Ok(Expr { kind, span: self.span_since(start) })
    }

    /// True if `let some(x) = e` stands behind another condition. A variable may be called `let`; then neither `some`
    /// nor a name with a parenthesis or `=` can follow.
    fn at_late_pattern(&self) -> bool {
        self.slice() == "let"
            && match self.kind_after(1) {
                TokenKind::Some => true,
                TokenKind::Name => matches!(self.kind_after(2), TokenKind::OpenParen | TokenKind::Eq),
                _ => false,
            }
    }

    /// Reports a pattern behind another condition.
    fn report_late_pattern<T>(&mut self) -> ParseResult<T> {
        let span = self.span();
        Err(self.error(|| {
            Diagnostic::new(Code::UnexpectedToken, span, "a pattern stands before all other conditions")
                .help("write the patterns first: `when let some(x) = e && condition`")
        }))
    }

    /// Returns whether the next word starts the next part of the model, so that the expression before it is missing:
    /// two names never follow each other in one.
    fn at_next_part(&self) -> bool {
        self.kind_after(1) == TokenKind::Name && is_beginning(self.slice()) && self.slice_at(1) != "is"
    }

    /// Returns whether `count x in xs: p` starts here; `count` alone is a name like any other.
    fn at_count(&self) -> bool {
        self.slice() == "count"
            && self.kind_after(1) == TokenKind::Name
            && self.kind_after(2) == TokenKind::In
    }

    /// `[a, b]` or `[e for x in xs if p]`.
    fn list_value(&mut self) -> ParseResult<ExprKind> {
        let open = self.span();
        self.bump();
        if self.is_at(TokenKind::CloseBracket) {
            self.bump();
            return Ok(ExprKind::List(Vec::new()));
        }
        let first = self.parse_expr()?;
        // Only behind the first item it shows whether this is a literal or a comprehension.
        if self.at_word("for") {
            return self.parse_comprehension(false, first, open, TokenKind::CloseBracket);
        }
        let mut items = vec![first];
        if self.eat(TokenKind::Comma) {
            items.extend(self.parse_list(TokenKind::CloseBracket, open, Self::parse_expr)?);
        } else {
            self.close(TokenKind::CloseBracket, open)?;
        }
        Ok(ExprKind::List(items))
    }

    /// `{}`, `{a, b}`, `{e for x in xs if p}` or `{k: v}`.
    fn set_or_map(&mut self) -> ParseResult<ExprKind> {
        let open = self.span();
        self.bump();
        if self.is_at(TokenKind::CloseBrace) {
            self.bump();
            return Ok(ExprKind::Set(Vec::new()));
        }
        let first = self.parse_expr()?;
        if self.at_word("for") {
            return self.parse_comprehension(true, first, open, TokenKind::CloseBrace);
        }
        if self.eat(TokenKind::Colon) {
            let mut entries = vec![(first, self.parse_expr()?)];
            if self.eat(TokenKind::Comma) {
                entries.extend(self.parse_list(TokenKind::CloseBrace, open, |parser| {
                    let key = parser.parse_expr()?;
                    parser.expect(TokenKind::Colon)?;
                    Ok((key, parser.parse_expr()?))
                })?);
            } else {
                self.close(TokenKind::CloseBrace, open)?;
            }
            return Ok(ExprKind::Map(entries));
        }
        let mut items = vec![first];
        if self.eat(TokenKind::Comma) {
            items.extend(self.parse_list(TokenKind::CloseBrace, open, Self::parse_expr)?);
        } else {
            self.close(TokenKind::CloseBrace, open)?;
        }
        Ok(ExprKind::Set(items))
    }

    /// `for x in xs if p` and what closes it, behind the value.
    fn parse_comprehension(
        &mut self,
        set: bool,
        item: Expr,
        open: Span,
        end: TokenKind,
    ) -> ParseResult<ExprKind> {
        self.bump();
        let var = self.expect_name("a name for the items")?;
        self.expect(TokenKind::In)?;
        // A collection has no truth value, so it is read as a sum. The `if` behind it starts the condition
        // and is no conditional.
        let of = Box::new(self.with_nesting(Self::parse_items)?);
        let keep = if self.eat(TokenKind::If) { Some(Box::new(self.parse_expr()?)) } else { None };
        self.close(end, open)?;
        Ok(ExprKind::Comprehension { set, item: Box::new(item), var, of, keep })
    }

    /// Parses what a comprehension or `count` goes through: a collection, or a range `lo..hi`.
    fn parse_items(&mut self) -> ParseResult<Expr> {
        let start = self.span();
        let first = self.parse_sum()?;
        if !matches!(self.kind(), TokenKind::DotDot | TokenKind::DotDotEq) {
            return Ok(first);
        }
        self.range_sign()?;
        let last = self.parse_sum()?;
        let kind = ExprKind::Range(Box::new(first), Box::new(last));
        Ok(Expr { kind, span: self.span_since(start) })
    }

    fn name_or_call(&mut self) -> ParseResult<ExprKind> {
        let name = self.expect_name("an expression")?;
        let open = self.span();
        if !self.eat(TokenKind::OpenParen) {
            return Ok(ExprKind::Name(name.text));
        }
        let args = self.parse_list(TokenKind::CloseParen, open, Self::parse_argument)?;
        Ok(ExprKind::Call(name, args))
    }

    /// Parses an argument, with or without the name of its field.
    fn parse_argument(&mut self) -> ParseResult<ArgExpr> {
        // Two tokens decide; a name alone may be the value.
        let is_named = self.is_at(TokenKind::Name) && self.kind_after(1) == TokenKind::Colon;
        let name = if is_named { Some(self.expect_name("a field")?) } else { None };
        if is_named {
            self.expect(TokenKind::Colon)?;
        }
        Ok(ArgExpr { name, value: self.parse_expr()? })
    }

    fn parse_some(&mut self) -> ParseResult<ExprKind> {
        self.bump();
        let open = self.span();
        self.expect(TokenKind::OpenParen)?;
        let inner = self.parse_expr()?;
        self.close(TokenKind::CloseParen, open)?;
        Ok(ExprKind::Some(Box::new(inner)))
    }

    /// Parses `if .. then .. else if .. else ..`; the last `else` is required.
    fn parse_conditional(&mut self) -> ParseResult<ExprKind> {
        let mut arms = Vec::new();
        while self.eat(TokenKind::If) {
            let condition = self.parse_expr()?;
            self.expect(TokenKind::Then)?;
            arms.push((condition, self.parse_expr()?));
            if !self.eat(TokenKind::Else) {
                return self
                    .unexpected_with("`else`", |d| d.help("an `if` has a value, so it needs an `else`"));
            }
        }
        Ok(ExprKind::If(arms, Box::new(self.parse_expr()?)))
    }

    fn match_expr(&mut self) -> ParseResult<ExprKind> {
        self.bump();
        let scrutinee = self.parse_expr()?;
        let open = self.span();
        self.expect(TokenKind::OpenBrace)?;
        let arms = self.parse_list(TokenKind::CloseBrace, open, Self::parse_arm)?;
        Ok(ExprKind::Match(Box::new(scrutinee), arms))
    }

    /// Parses an arm of a `match`.
    fn parse_arm(&mut self) -> ParseResult<MatchArm> {
        let pattern = self.parse_pattern()?;
        self.expect(TokenKind::FatArrow)?;
        Ok(MatchArm { pattern, value: self.parse_expr()? })
    }

    /// `[]`, `[a, b]` or `[first, ..rest]`.
    fn list_pattern(&mut self) -> ParseResult<PatternKind> {
        let open = self.span();
        self.bump();
        let (mut items, mut rest) = (Vec::new(), None);
        while !self.is_at(TokenKind::CloseBracket) {
            if self.eat(TokenKind::DotDot) {
                rest = Some(self.expect_name("a name for the other items, or `_`")?);
                break;
            }
            items.push(self.expect_name("a name for the item, or `_`")?);
            if !self.eat(TokenKind::Comma) {
                break;
            }
        }
        self.close(TokenKind::CloseBracket, open)?;
        Ok(PatternKind::List(items, rest))
    }

    /// Parses a pattern of a `match` or a `let`.
    pub(crate) fn parse_pattern(&mut self) -> ParseResult<PatternExpr> {
        let start = self.span();
        let kind = match self.kind() {
            TokenKind::Name => {
                let name = self.expect_name("a pattern")?;
                let open = self.span();
                if name.text == "_" {
                    PatternKind::Any
                } else if self.eat(TokenKind::OpenParen) {
                    let part = |parser: &mut Self| parser.expect_name("a name for the field, or `_`");
                    PatternKind::Case(name.text, self.parse_list(TokenKind::CloseParen, open, part)?)
                } else {
                    PatternKind::Name(name.text)
                }
            }
            TokenKind::None => {
                self.bump();
                PatternKind::None
            }
            TokenKind::Some => {
                self.bump();
                let open = self.span();
                self.expect(TokenKind::OpenParen)?;
                let name = self.expect_name("a name for the value")?;
                self.close(TokenKind::CloseParen, open)?;
                PatternKind::Some(name)
            }
            TokenKind::Number | TokenKind::Minus | TokenKind::Str | TokenKind::True | TokenKind::False => {
                // With its sign, as an expression: whether it is a number shows when it is typed.
                PatternKind::Literal(Box::new(self.parse_prefix()?))
            }
            TokenKind::OpenBracket => self.list_pattern()?,
            _ => {
                return self
                    .report_unexpected("a pattern: a value, `none`, `some(x)`, `[first, ..rest]` or `_`");
            }
        };
        Ok(PatternExpr { kind, span: self.span_since(start) })
    }

    fn parse_quantifier(&mut self) -> ParseResult<ExprKind> {
        let word = match self.bump().kind {
            TokenKind::Exists => OverWord::Exists,
            TokenKind::Forall => OverWord::Forall,
            _ => OverWord::Count,
        };
        let var = self.expect_name("a name for the values")?;
        self.expect(TokenKind::In)?;
        let quantifier = match word {
            OverWord::Exists => Quantifier::Exists,
            OverWord::Forall => Quantifier::Forall,
            OverWord::Count => {
                let of = Box::new(self.with_nesting(Self::parse_items)?);
                return self.parse_over(word, var, of);
            }
        };
        // Read as the start of a range or as a collection; the token behind decides.
        let lo = Box::new(self.with_nesting(Self::parse_sum)?);
        if !matches!(self.kind(), TokenKind::DotDot | TokenKind::DotDotEq) {
            return self.parse_over(word, var, lo);
        }
        self.range_sign()?;
        let hi = Box::new(self.with_nesting(Self::parse_sum)?);
        self.expect(TokenKind::Colon)?;
        let body = Box::new(self.parse_expr()?);
        Ok(ExprKind::Quantified { quantifier, var, lo, hi, body })
    }

    /// `: body` behind `exists x in xs`.
    fn parse_over(&mut self, word: OverWord, var: Name, of: Box<Expr>) -> ParseResult<ExprKind> {
        if !self.is_at(TokenKind::Colon) {
            let (expected, help) = match word {
                OverWord::Exists | OverWord::Forall => (
                    "`:` and a condition, or `..` and the end of a range",
                    "write `exists i in 0..9: condition` or `exists x in items: condition`",
                ),
                OverWord::Count => (
                    "`:` and a condition",
                    "write `count x in items: condition` or `count i in 0..9: condition`",
                ),
            };
            return self.unexpected_with(expected, |d| d.help(help));
        }
        self.bump();
        let body = Box::new(self.parse_expr()?);
        Ok(ExprKind::Over { word, var, of, body })
    }

    /// `..`; Rust's `..=` is reported and read the same.
    fn range_sign(&mut self) -> ParseResult<()> {
        if self.is_at(TokenKind::DotDotEq) {
            let span = self.span();
            self.report(
                Diagnostic::new(Code::UnexpectedToken, span, "a range is written with `..`")
                    .help("`a..b` includes both ends")
                    .fix(span, ".."),
            );
            self.bump();
            return Ok(());
        }
        self.expect(TokenKind::DotDot).map(|_| ())
    }

    // Literals.

    fn parse_number(&mut self) -> ExprKind {
        let span = self.span();
        let text = self.slice();
        let kind = match literal::parse_number(text) {
            // The text is kept, so that the formatter prints what was written.
            Ok(_) => ExprKind::Number(text.to_owned()),
            Err(wrong) => ExprKind::Error(self.report(wrong.diagnostic(text, span))),
        };
        self.bump();
        kind
    }

    /// The string literal that comes next, its escapes resolved.
    pub(crate) fn parse_string(&mut self) -> ParseResult<String> {
        if !self.is_at(TokenKind::Str) {
            return self.report_unexpected("a string");
        }
        let token = self.token(0);
        let (text, bad) = literal::unescape(self.slice());
        for (at, len) in bad {
            let start = token.start as usize + at;
            let span = Span::new(self.file, start, start + len);
            // Each wrong escape is reported at its own place, and the string is kept, so that no error
            // follows from it.
            let escape = self.text.get(span.range()).unwrap_or("");
            let help = "escapes are `\\n`, `\\r`, `\\t`, `\\\\`, `\\\"`, `\\0` and `\\u{HEX}`; a backslash \
                        itself is `\\\\`";
            self.sink.push(
                Diagnostic::new(Code::BadEscape, span, format!("strings have no escape `{escape}`"))
                    .help(help),
            );
        }
        self.bump();
        Ok(text)
    }

    // Types.

    /// A type.
    pub(crate) fn parse_type(&mut self) -> ParseResult<Type> {
        self.with_nesting(Self::ty_inside)
    }

    fn ty_inside(&mut self) -> ParseResult<Type> {
        let start = self.span();
        // A name may be a type or the first part of a bound, as in `N - 1..9`.
        let named = self.is_at(TokenKind::Name) && !self.kind_after(1).continues_bound();
        let collection = named && self.kind_after(1) == TokenKind::Lt;
        let kind = if collection {
            let name = self.expect_name("a type")?;
            let open = self.span();
            self.bump();
            let mut of = vec![self.parse_type()?];
            while self.eat(TokenKind::Comma) {
                of.push(self.parse_type()?);
            }
            self.close(TokenKind::Gt, open)?;
            TypeKind::Collection(name, of)
        } else if self.at_bracketed_type() {
            let open = self.span();
            self.bump();
            let inner = self.parse_type()?;
            self.close(TokenKind::CloseParen, open)?;
            TypeKind::Paren(Box::new(inner))
        } else if named {
            TypeKind::Named(self.expect_name("a type")?.text)
        } else if self.starts_bound() {
            let lo = Box::new(self.parse_sum()?);
            self.range_sign()?;
            TypeKind::Range(lo, Box::new(self.parse_sum()?))
        } else if self.is_at(TokenKind::Str) {
            return self.unexpected_with("a type", |diagnostic| {
                diagnostic.help(
                    "one of several words is an `enum`: `enum Size { small, large }`; any text is a `string`",
                )
            });
        } else {
            return self.report_unexpected("a type");
        };
        let mut ty = Type { kind, span: self.span_since(start) };
        // `int????` nests types without recursion here, but later passes walk down into them.
        let mut n_options = 0;
        while self.eat(TokenKind::Question) {
            n_options += 1;
            if self.nesting + n_options > MAX_NESTING {
                return self.too_deep();
            }
            ty = Type { kind: TypeKind::Option(Box::new(ty)), span: self.span_since(start) };
        }
        Ok(ty)
    }

    /// Returns whether a type in brackets starts here, as in `(0..2)?`, and not a bound, as in `(N + 1)..9`:
    /// the text behind the closing bracket decides.
    fn at_bracketed_type(&self) -> bool {
        if !self.is_at(TokenKind::OpenParen) {
            return false;
        }
        let mut n_open = 0usize;
        for ahead in 0..self.tokens.len() - self.position {
            match self.kind_after(ahead) {
                TokenKind::OpenParen => n_open += 1,
                TokenKind::CloseParen => n_open -= 1,
                TokenKind::End => return false,
                _ => {}
            }
            if n_open == 0 {
                return !self.kind_after(ahead + 1).continues_bound();
            }
        }
        false
    }

    fn starts_bound(&self) -> bool {
        matches!(self.kind(), TokenKind::Number | TokenKind::Minus | TokenKind::OpenParen | TokenKind::Name)
    }

    /// A name followed by `:` and a type.
    pub(crate) fn parse_field(&mut self) -> ParseResult<crate::ast::FieldDecl> {
        let name: Name = self.expect_name("the name of a field")?;
        self.expect(TokenKind::Colon)?;
        Ok(crate::ast::FieldDecl { docs: Vec::new(), name, ty: self.parse_type()? })
    }

    /// A field that may have a doc comment.
    pub(crate) fn documented_field(&mut self) -> ParseResult<crate::ast::FieldDecl> {
        let docs = self.parse_docs()?;
        Ok(crate::ast::FieldDecl { docs, ..self.parse_field()? })
    }
}

impl TokenKind {
    /// Returns whether a name before the token is the bound of a range.
    fn continues_bound(self) -> bool {
        use TokenKind::{DotDot, DotDotEq, Minus, Percent, Plus, Slash, Star};
        matches!(self, DotDot | DotDotEq | Plus | Minus | Star | Slash | Percent)
    }
}
