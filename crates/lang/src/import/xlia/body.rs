//! States and transitions of XLIA: statements in sequence become one guard and one simultaneous update.

use ioxide_model::code::Code;
use ioxide_model::diag::Diagnostic;
use ioxide_model::source::Span;

use super::XliaReader;
use crate::ast::{
    ArgExpr, CmpOp, DeclMeta, Expr, ExprKind, Name, PinDecl, StateDecl, TransitionDecl, Update, UpdateKind,
    Verb,
};
use crate::lexer::TokenKind;
use crate::parser::ParseResult;
use crate::sink::Reported;

/// The combined effect of the statements of a transition so far.
#[derive(Default)]
struct Effect {
    message: Option<(Verb, Name)>,
    pins: Vec<PinDecl>,
    guards: Vec<Expr>,
    /// The new values, in terms of those before the transition and of the fields.
    values: Vec<(Name, Expr)>,
}

impl XliaReader<'_> {
    /// `state< start > name { @init { … } transition … }` or `state name;`
    pub(super) fn parse_state(&mut self) -> ParseResult<()> {
        let start = self.parser.span();
        self.expect_word("state")?;
        let mut is_start = false;
        if self.parser.eat(TokenKind::Lt) {
            // Only `start` matters; other kinds of states are read and dropped.
            while self.parser.is_at(TokenKind::Name) {
                let kind = self.parser.expect_name("a kind of state")?.text;
                is_start |= matches!(kind.as_str(), "start" | "initial");
                while self.parser.eat(TokenKind::Comma) || self.parser.eat(TokenKind::Bar) {}
            }
            self.parser.expect(TokenKind::Gt)?;
        }
        let name = self.parser.expect_name("the name of a state")?;
        // A second name, for people.
        self.parser.eat(TokenKind::Str);
        let mut transitions = Vec::new();
        if !self.parser.eat(TokenKind::Semicolon) {
            self.parser.expect(TokenKind::OpenBrace)?;
            if self.parser.eat(TokenKind::At) {
                self.init()?;
            }
            while self.parser.at_word("transition") {
                transitions.push(self.parse_transition(&name.text)?);
            }
            self.parser.expect(TokenKind::CloseBrace)?;
        }
        let span = self.parser.span_since(start);
        self.machine
            .states
            .push((is_start, StateDecl { meta: DeclMeta::default(), name, transitions, span }));
        Ok(())
    }

    /// `init { x := 0; }`
    fn init(&mut self) -> ParseResult<()> {
        self.expect_word("init")?;
        self.parser.expect(TokenKind::OpenBrace)?;
        while self.parser.is_at(TokenKind::Name) {
            if self.parser.at_word("guard") {
                let span = self.parser.span();
                return Err(self.report_unsupported(
                    span,
                    "a condition on unknown start values",
                    "write the values that the variables start with: `x := 3;`",
                ));
            }
            let (name, value) = self.parse_assignment()?;
            // Clocks start at 0.
            if !self.machine.clocks.contains(&name.text) {
                self.machine.init.push((name, value));
            }
        }
        self.parser.expect(TokenKind::CloseBrace)?;
        Ok(())
    }

    /// Parses `name := value;`.
    fn parse_assignment(&mut self) -> ParseResult<(Name, Expr)> {
        let name = self.parser.expect_name("the name of a variable")?;
        self.assign_sign()?;
        let value = self.parser.parse_expr()?;
        self.parser.expect(TokenKind::Semicolon)?;
        Ok((name, value))
    }

    /// `transition name --> target { statements }`, also without a name
    fn parse_transition(&mut self, from: &str) -> ParseResult<TransitionDecl> {
        let start = self.parser.span();
        self.expect_word("transition")?;
        let label = match self.parser.kind() {
            TokenKind::Minus => None,
            _ => Some(self.parser.expect_name("the name of a transition")?),
        };
        self.parser.expect(TokenKind::Minus)?;
        self.parser.expect(TokenKind::Arrow)?;
        let target = self.parser.expect_name("the name of a state")?;
        let mut label =
            label.unwrap_or_else(|| Name { text: format!("{from}_{}", target.text), span: target.span });
        label.text = self.unused_label(&label.text);
        let mut effect = Effect::default();
        if !self.parser.eat(TokenKind::Semicolon) {
            self.parser.expect(TokenKind::OpenBrace)?;
            while self.parser.is_at(TokenKind::Name) {
                self.parse_statement(&mut effect)?;
            }
            self.parser.expect(TokenKind::CloseBrace)?;
        }
        let span = self.parser.span_since(start);
        let updates =
            effect.values.into_iter().flat_map(|(name, value)| self.make_update(name, value)).collect();
        let (verb, gate) = match effect.message {
            Some((verb, gate)) => (verb, Some(gate)),
            None => (Verb::Internal, None),
        };
        let guard = match effect.guards.len() {
            0 => None,
            _ => Some(Expr { kind: ExprKind::And(effect.guards), span }),
        };
        Ok(TransitionDecl {
            meta: DeclMeta::default(),
            label: Some(label),
            verb,
            verb_span: start,
            gate,
            pins: effect.pins,
            lets: Vec::new(),
            guard,
            updates,
            target: Some(target),
            span,
            broken: None,
        })
    }

    /// `label`, with a number if a transition before has it.
    fn unused_label(&mut self, label: &str) -> String {
        let numbered = (2..).map(|n| format!("{label}_{n}"));
        let mut names = std::iter::once(label.to_owned()).chain(numbered);
        let unused = names.find(|name| !self.machine.labels.contains(name)).unwrap_or_default();
        self.machine.labels.insert(unused.clone());
        unused
    }

    /// Parses a statement of a transition and adds it to `effect`.
    fn parse_statement(&mut self, effect: &mut Effect) -> ParseResult<()> {
        if self.parser.eat_word("guard") || self.parser.eat_word("tguard") {
            let guard = self.parser.parse_expr()?;
            // Statements happen in order: behind an assignment, a guard reads the new value.
            effect.guards.push(effect.substitute_current(&guard));
            self.parser.expect(TokenKind::Semicolon)?;
            return Ok(());
        }
        if self.parser.at_word("input") || self.parser.at_word("output") {
            return self.parse_message(effect);
        }
        let (name, value) = self.parse_assignment()?;
        let value = effect.substitute_current(&value);
        effect.set_value(name, value);
        Ok(())
    }

    /// `input In( x );` or `output Out( x + 1 );`
    fn parse_message(&mut self, effect: &mut Effect) -> ParseResult<()> {
        let verb = if self.parser.eat_word("input") { Verb::On } else { Verb::Emit };
        if verb == Verb::Emit {
            self.expect_word("output")?;
        }
        let port = self.parser.expect_name("the name of a port")?;
        let mut args = Vec::new();
        if self.parser.eat(TokenKind::OpenParen) {
            while !self.parser.is_at(TokenKind::CloseParen) {
                args.push(self.parser.parse_expr()?);
                if !self.parser.eat(TokenKind::Comma) {
                    break;
                }
            }
            self.parser.expect(TokenKind::CloseParen)?;
        }
        self.parser.expect(TokenKind::Semicolon)?;
        if effect.message.is_some() {
            self.report_unsupported(
                port.span,
                "a transition with two messages",
                "split it with a state between",
            );
            return Ok(());
        }
        for (n, arg) in (1..).zip(args) {
            let name = self.field_name(&port.text, n, &self.machine.ports);
            let field = Name { text: name, span: arg.span };
            match verb {
                Verb::On => self.receive(effect, &port, n, field, &arg),
                _ => effect.pins.push(PinDecl { field, value: effect.substitute_current(&arg) }),
            }
        }
        effect.message = Some((verb, port));
        Ok(())
    }

    /// The variable `arg` gets the value of `field`.
    fn receive(&mut self, effect: &mut Effect, port: &Name, n: usize, field: Name, arg: &Expr) {
        let value = Expr { kind: ExprKind::Name(field.text), span: arg.span };
        let declared = self.machine.ports.iter().find(|known| known.name.text == port.text);
        // The field has a signed type, so what the unsigned one demands becomes a part of the guard.
        if declared.and_then(|port| port.types.get(n - 1)).is_some_and(|typed| typed.unsigned) {
            let zero = Expr { kind: ExprKind::Number("0".into()), span: arg.span };
            let compared = vec![(CmpOp::Ge, zero)];
            let kind = ExprKind::Compare(Box::new(value.clone()), compared);
            effect.guards.push(Expr { kind, span: arg.span });
        }
        match &arg.kind {
            ExprKind::Name(var) => {
                self.machine.received.push((port.text.clone(), n, var.clone()));
                effect.set_value(Name { text: var.clone(), span: arg.span }, value);
            }
            _ => {
                _ = self.report_unsupported(
                    arg.span,
                    "an input that is not received in a variable",
                    "name a variable",
                )
            }
        }
    }

    /// The update, or the reset of a clock.
    fn make_update(&mut self, name: Name, value: Expr) -> ParseResult<Update> {
        let span = name.span;
        if !self.machine.clocks.contains(&name.text) {
            return Ok(Update { kind: UpdateKind::Assign(name, value), span });
        }
        let mut plain = &value;
        while let ExprKind::Paren(inner) = &plain.kind {
            plain = inner;
        }
        if !matches!(&plain.kind, ExprKind::Number(text) if text.trim_matches(['0', '.']).is_empty()) {
            return Err(self.report_unsupported(
                span,
                "a clock set to something other than 0",
                "write `:= 0`",
            ));
        }
        Ok(Update { kind: UpdateKind::Reset(name), span })
    }

    /// Reports a construct of XLIA that is not read.
    fn report_unsupported(&mut self, span: Span, what: &str, help: &'static str) -> Reported {
        let message = format!("{what} is not supported");
        self.parser.error(|| Diagnostic::new(Code::XliaSyntax, span, message).help(help))
    }
}

impl Effect {
    /// Sets the value that `name` has from here on.
    fn set_value(&mut self, name: Name, value: Expr) {
        // The update has the last value of a variable only. Earlier ones are inside of the values that have
        // read them.
        self.values.retain(|(known, _)| known.text != name.text);
        self.values.push((name, value));
    }

    /// Returns `expr` with the current values of variables in place of their names.
    fn substitute_current(&self, expr: &Expr) -> Expr {
        let one = |inner: &Expr| Box::new(self.substitute_current(inner));
        let all = |list: &[Expr]| list.iter().map(|part| self.substitute_current(part)).collect::<Vec<_>>();
        let kind = match &expr.kind {
            ExprKind::Name(name) => match self.values.iter().find(|(known, _)| known.text == *name) {
                // In brackets, because the operators around the name may bind tighter than those in its
                // value.
                Some((_, value)) => ExprKind::Paren(Box::new(value.clone())),
                None => expr.kind.clone(),
            },
            ExprKind::Paren(inner) => ExprKind::Paren(one(inner)),
            ExprKind::Not(inner) => ExprKind::Not(one(inner)),
            ExprKind::Neg(inner) => ExprKind::Neg(one(inner)),
            ExprKind::Some(inner) => ExprKind::Some(one(inner)),
            ExprKind::Sum(first, rest) => ExprKind::Sum(one(first), self.substitute_pairs(rest)),
            ExprKind::Product(first, rest) => ExprKind::Product(one(first), self.substitute_pairs(rest)),
            ExprKind::Compare(first, rest) => ExprKind::Compare(one(first), self.substitute_pairs(rest)),
            ExprKind::And(list) => ExprKind::And(all(list)),
            ExprKind::Or(list) => ExprKind::Or(all(list)),
            ExprKind::Implies(list) => ExprKind::Implies(all(list)),
            ExprKind::If(arms, other) => ExprKind::If(
                arms.iter().map(|(c, v)| (self.substitute_current(c), self.substitute_current(v))).collect(),
                one(other),
            ),
            ExprKind::Call(name, args) => {
                let arg = |arg: &ArgExpr| ArgExpr {
                    name: arg.name.clone(),
                    value: self.substitute_current(&arg.value),
                };
                ExprKind::Call(name.clone(), args.iter().map(arg).collect())
            }
            ExprKind::Method(inner, name, args) => ExprKind::Method(one(inner), name.clone(), all(args)),
            ExprKind::Field(inner, name) => ExprKind::Field(one(inner), name.clone()),
            // XLIA has no such expressions; the checker says what is wrong with their names.
            ExprKind::Match(..) | ExprKind::Quantified { .. } | ExprKind::Over { .. } => expr.kind.clone(),
            ExprKind::Comprehension { .. } | ExprKind::Range(..) | ExprKind::Map(_) => expr.kind.clone(),
            ExprKind::Is(inner, case) => ExprKind::Is(one(inner), case.clone()),
            ExprKind::List(items) => ExprKind::List(all(items)),
            ExprKind::Set(items) => ExprKind::Set(all(items)),
            ExprKind::Index(inner, key) => ExprKind::Index(one(inner), one(key)),
            ExprKind::Error(_)
            | ExprKind::Bool(_)
            | ExprKind::Number(_)
            | ExprKind::Str(_)
            | ExprKind::None => expr.kind.clone(),
        };
        Expr { kind, span: expr.span }
    }

    /// Returns the operands with the current values put in for the variables.
    fn substitute_pairs<Op: Copy>(&self, list: &[(Op, Expr)]) -> Vec<(Op, Expr)> {
        list.iter().map(|(op, part)| (*op, self.substitute_current(part))).collect()
    }
}
