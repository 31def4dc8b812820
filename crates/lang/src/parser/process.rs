//! Parsing of states, transitions, purposes, properties and tests.

use ioxide_model::code::Code;
use ioxide_model::diag::Diagnostic;
use ioxide_model::source::Span;

use super::{ParseResult, Parser};
use crate::ast::{
    DeclMeta, Expr, ItemKind, LetExpr, MessagePattern, ModelItem, Name, ObserverDecl, PinDecl, Property,
    PropertyKind, PurposeDecl, PurposeGoal, ResponseDecl, StateDecl, StepDecl, StepKind, TestDecl,
    TransitionDecl, Update, UpdateKind, Verb,
};
use crate::lexer::TokenKind;
use crate::parser::habit;
use crate::suggest;
use crate::words::DECLARATION_WORDS;

impl Parser<'_> {
    /// `state name { transitions }`.
    pub(crate) fn parse_state(&mut self, meta: DeclMeta) -> ParseResult<StateDecl> {
        let start = self.span();
        self.bump();
        let name = self.heading_name("the name of a state")?;
        let transitions = self.parse_transitions()?;
        Ok(StateDecl { meta, name, transitions, span: self.span_since(start) })
    }

    /// `any { transitions }`.
    pub(crate) fn parse_any(&mut self) -> ParseResult<Vec<TransitionDecl>> {
        self.bump();
        self.parse_transitions()
    }

    /// Parses the transitions of a state up to its closing brace; after an error it goes on with the next.
    fn parse_transitions(&mut self) -> ParseResult<Vec<TransitionDecl>> {
        let open = self.span();
        self.expect(TokenKind::OpenBrace)?;
        let level = self.braces;
        let mut transitions = Vec::new();
        while !self.at_block_end() {
            if self.leaves_block(open) {
                // As if the brace had been closed: the declaration that follows belongs to the model.
                self.braces = level.saturating_sub(1);
                return Ok(transitions);
            }
            let parsed = self.parse_meta().and_then(|meta| self.parse_transition(meta));
            match parsed {
                Ok(transition) => transitions.push(transition),
                Err(_) => {
                    // What was read of it stays, so that its label, message and target count as used and
                    // declared.
                    if let Some(ItemKind::Transition(half)) = self.half.take() {
                        transitions.push(half);
                    }
                    self.recover_here(level);
                }
            }
        }
        self.close_block(open);
        Ok(transitions)
    }

    /// Returns whether a declaration of the model follows, so that a closing brace is missing; if so, reports it.
    fn leaves_block(&mut self, open: Span) -> bool {
        let starts = self.token(0).first_on_line
            && DECLARATION_WORDS.iter().any(|word| self.at_word(word))
            && matches!(self.kind_after(1), TokenKind::Name | TokenKind::OpenBrace | TokenKind::Str);
        if starts {
            let fix = self.span_behind();
            let message = format!("`{{` is not closed before this `{}`", self.slice());
            let span = self.span();
            self.report(
                Diagnostic::new(Code::UnclosedDelimiter, span, message)
                    .caret("belongs to the model, not to a state")
                    .label(open, "opened here")
                    .help("close the block with `}`")
                    .fix(fix, " }"),
            );
        }
        starts
    }

    /// `label: verb gate(pins) when guard { updates } -> target`.
    pub(crate) fn parse_transition(&mut self, meta: DeclMeta) -> ParseResult<TransitionDecl> {
        let start = self.span();
        // No other transition starts with a name and a colon, so two tokens decide.
        let label = if self.is_at(TokenKind::Name) && self.kind_after(1) == TokenKind::Colon {
            let label = self.expect_name("a label")?;
            self.bump();
            Some(label)
        } else {
            None
        };
        let verb_span = self.span();
        let verb = self.parse_verb()?;
        let gate = match verb {
            Verb::On | Verb::Emit => Some(self.message_name()?),
            Verb::Internal | Verb::Quiet => None,
        };
        let (pins, lets, updates) = (Vec::new(), Vec::new(), Vec::new());
        let (guard, target, span, broken) = (None, None, start, None);
        let mut transition = TransitionDecl {
            meta,
            label,
            verb,
            verb_span,
            gate,
            pins,
            lets,
            guard,
            updates,
            target,
            span,
            broken,
        };
        // The transition is filled in place: after an error, the clauses before it are there.
        let read = self.parse_clauses(&mut transition);
        transition.span = self.span_since(start);
        match read {
            Ok(()) => Ok(transition),
            Err(why) => {
                self.half = Some(ItemKind::Transition(TransitionDecl { broken: Some(why), ..transition }));
                Err(why)
            }
        }
    }

    /// Reads the clauses behind the message; those read before an error are kept.
    fn parse_clauses(&mut self, transition: &mut TransitionDecl) -> ParseResult<()> {
        let mut pins = Ok(());
        if transition.gate.is_some() {
            match self.parse_pins() {
                Ok(read) => transition.pins = read,
                // The clauses behind wrong pins are read as well, for their own errors. The error of the pins
                // comes back at the end.
                Err(why) if self.skip_pins() => pins = Err(why),
                Err(why) => return Err(why),
            }
        }
        self.parse_condition(transition)?;
        if self.is_at(TokenKind::OpenBrace) {
            transition.updates = self.parse_updates()?;
        }
        if self.eat(TokenKind::Arrow) {
            transition.target = Some(self.expect_name("the name of a state")?);
        }
        // A clause in the wrong place would otherwise be reported as a broken next transition, far from the
        // cause.
        self.check_order()?;
        pins
    }

    /// Skips the rest of the pins on this line, so that the clauses behind them are read; returns whether a closing
    /// bracket was found.
    fn skip_pins(&mut self) -> bool {
        let is_over = |token: TokenKind| {
            matches!(token, TokenKind::End | TokenKind::OpenBrace | TokenKind::CloseBrace | TokenKind::Arrow)
        };
        while !is_over(self.kind()) && !self.token(0).first_on_line {
            if self.bump().kind == TokenKind::CloseParen {
                return true;
            }
        }
        false
    }

    /// Parses the word that begins a transition; near misses are reported with the word that is meant.
    fn parse_verb(&mut self) -> ParseResult<Verb> {
        let found = Verb::ALL.into_iter().find(|(_, word)| self.at_word(word));
        if let Some((verb, _)) = found {
            self.bump();
            return Ok(verb);
        }
        if !self.is_at(TokenKind::Name) {
            return self.report_unexpected("a transition: `on`, `emit` or `internal`");
        }
        let name = Name { text: self.slice().to_owned(), span: self.span() };
        let message = format!("expected `on`, `emit` or `internal`, found `{}`", name.text);
        let diagnostic = Diagnostic::new(Code::UnexpectedToken, name.span, message);
        let words = Verb::ALL.into_iter().map(|(_, word)| word);
        // Words of other tools first, because a near miss by letters would propose something else for them.
        let diagnostic = match name.text.as_str() {
            "receive" | "input" | "recv" | "send" | "output" => self.propose_verb(diagnostic, &name),
            "tau" => diagnostic.help("the system acts unseen with `internal`").fix(name.span, "internal"),
            text => match habit(text) {
                Some(help) => diagnostic.help(help),
                None => suggest::suggest_nearest(diagnostic, &name, words),
            },
        };
        Err(self.report(
            diagnostic.help("a transition reads `label: on message when condition { updates } -> state`"),
        ))
    }

    /// Adds the verb that is meant by `name`: the direction of the message decides, where it is declared.
    fn propose_verb(&self, diagnostic: Diagnostic, name: &Name) -> Diagnostic {
        let message = self.slice_at(1);
        let receives = matches!(name.text.as_str(), "receive" | "input" | "recv");
        let (help, verb) = if receives && self.is_declared_as("output", message) {
            (format!("`{message}` is an output, which the system sends with `emit`"), "emit")
        } else if receives {
            ("the system receives with `on`".to_owned(), "on")
        } else if self.is_declared_as("input", message) {
            (format!("`{message}` is an input, which the system receives with `on`"), "on")
        } else {
            ("the system sends with `emit`".to_owned(), "emit")
        };
        diagnostic.help(help).fix(name.span, verb)
    }

    /// Checks that a new part follows a complete transition; clauses out of order are named.
    fn check_order(&mut self) -> ParseResult<()> {
        let clause = match self.kind() {
            TokenKind::When => "`when`",
            TokenKind::OpenBrace => "the updates",
            TokenKind::OpenParen => "the pins",
            TokenKind::Arrow => "`->`",
            TokenKind::Name | TokenKind::At | TokenKind::Doc | TokenKind::CloseBrace | TokenKind::End => {
                return Ok(());
            }
            // A new line starts something new; the block around it reports what it is not.
            _ if self.token(0).first_on_line => return Ok(()),
            _ => return self.report_unexpected("the next transition"),
        };
        self.unexpected_with("the next transition", |d| {
            d.note(format!("{clause} is in the wrong place"))
                .help("the order is `label: verb message(pins) when guard { updates } -> state`")
        })
    }

    /// Parses the pins behind a message, if there are some.
    pub(super) fn parse_pins(&mut self) -> ParseResult<Vec<PinDecl>> {
        let open = self.span();
        if !self.eat(TokenKind::OpenParen) {
            return Ok(Vec::new());
        }
        self.parse_list(TokenKind::CloseParen, open, Self::parse_pin)
    }

    /// Parses a pin, `field: value`.
    fn parse_pin(&mut self) -> ParseResult<PinDecl> {
        if !(self.is_at(TokenKind::Name) && self.kind_after(1) == TokenKind::Colon) {
            return self.unexpected_with("a pin such as `field: value`", |d| {
                d.help(
                    "fields are pinned by name; an unpinned field may be left out and constrained in `when`",
                )
            });
        }
        let field = self.expect_name("a field")?;
        self.bump();
        Ok(PinDecl { field, value: self.parse_expr()? })
    }

    /// Parses the guard behind `when`, if there is one.
    fn parse_guard(&mut self) -> ParseResult<Option<Expr>> {
        if self.eat(TokenKind::When) { self.parse_expr().map(Some) } else { Ok(None) }
    }

    /// `when let pattern = value && condition`; either may be missing.
    fn parse_condition(&mut self, transition: &mut TransitionDecl) -> ParseResult<()> {
        if self.eat(TokenKind::When) {
            transition.guard = self.lets_and_guard(&mut transition.lets)?;
        }
        Ok(())
    }

    /// Reads `let pattern = value && condition`, either of which may be missing. The patterns are added to `lets`, up
    /// to an error.
    pub(crate) fn lets_and_guard(&mut self, lets: &mut Vec<LetExpr>) -> ParseResult<Option<Expr>> {
        while self.at_word("let") {
            self.bump();
            let pattern = self.parse_pattern()?;
            self.expect(TokenKind::Eq)?;
            // Not a whole expression: the `&&` behind it joins the next condition and does not belong to the
            // value.
            let value = self.parse_comparison()?;
            lets.push(LetExpr { pattern, value });
            if !self.eat(TokenKind::AndAnd) {
                return Ok(None);
            }
        }
        self.parse_expr().map(Some)
    }

    /// Parses the updates between braces; a semicolon between them is reported and read as a comma.
    fn parse_updates(&mut self) -> ParseResult<Vec<Update>> {
        let open = self.span();
        self.bump();
        let mut updates = Vec::new();
        while !self.is_at(TokenKind::CloseBrace) {
            updates.push(self.parse_update()?);
            // Reported and read on: a semicolon suggests an order, which the note denies.
            if self.is_at(TokenKind::Semicolon) {
                let span = self.span();
                self.report(
                    Diagnostic::new(Code::UnexpectedToken, span, "updates are separated by commas")
                        .note("they happen all at once, not one after the other")
                        .help("write `,`")
                        .fix(span, ","),
                );
                self.bump();
            } else if !self.eat(TokenKind::Comma) {
                break;
            }
        }
        self.close(TokenKind::CloseBrace, open)?;
        Ok(updates)
    }

    /// `[key]` behind the variable of an update.
    pub(crate) fn update_key(&mut self) -> ParseResult<Option<Expr>> {
        let open = self.span();
        if !self.eat(TokenKind::OpenBracket) {
            return Ok(None);
        }
        let key = self.parse_expr()?;
        self.close(TokenKind::CloseBracket, open)?;
        Ok(Some(key))
    }

    /// Parses a reset, an assignment, or an assignment to one key.
    fn parse_update(&mut self) -> ParseResult<Update> {
        let start = self.span();
        // `reset = 1` assigns to a variable of that name.
        if self.at_word("reset") && self.kind_after(1) == TokenKind::Name {
            self.bump();
            let clock = self.expect_name("the name of a clock")?;
            return Ok(Update { kind: UpdateKind::Reset(clock), span: self.span_since(start) });
        }
        let target = self.expect_name("the name of a variable")?;
        let key = self.update_key()?;
        // Other signs of assignment are understood and read on, so that the value gets its own errors.
        match self.kind() {
            TokenKind::Eq => _ = self.bump(),
            TokenKind::ColonEq | TokenKind::EqEq => {
                let span = self.span();
                self.report(
                    Diagnostic::new(
                        Code::UnexpectedToken,
                        span,
                        format!("expected `=`, found {}", self.describe_next_token()),
                    )
                    .help("an update is written `variable = value`")
                    .fix(span, "="),
                );
                self.bump();
            }
            TokenKind::Dot
                if self.kind_after(1) == TokenKind::Name && self.kind_after(2) == TokenKind::OpenParen =>
            {
                let help = collection_update(&target.text, self.slice_at(1));
                return self.unexpected_with("`=`", |d| d.help(help));
            }
            TokenKind::Dot => {
                return self.unexpected_with("`=`", |d| {
                    d.help("a record is replaced as a whole: `p = Point(x: 1, y: p.y)`")
                });
            }
            _ => return self.report_unexpected("`=`"),
        }
        let value = self.parse_expr()?;
        let kind = match key {
            Some(key) => UpdateKind::Put(target, key, value),
            None => UpdateKind::Assign(target, value),
        };
        Ok(Update { kind, span: self.span_since(start) })
    }

    /// `purpose name: r1, r2`, `purpose name: reach state when condition` or
    /// `purpose name { state ... }`.
    pub(crate) fn parse_purpose(&mut self) -> ParseResult<PurposeDecl> {
        self.bump();
        let name = self.expect_name("the name of a purpose")?;
        if self.is_at(TokenKind::OpenBrace) {
            let observer = self.parse_observer()?;
            return Ok(PurposeDecl { name, goal: PurposeGoal::Observer(observer) });
        }
        if !self.eat(TokenKind::Colon) {
            return self.report_unexpected("`:` or `{`");
        }
        // A label may be called `reach`; then neither a name nor `when` follows.
        let reaches =
            self.at_word("reach") && matches!(self.kind_after(1), TokenKind::Name | TokenKind::When);
        if !reaches {
            let mut path = vec![self.label_name()?];
            while self.eat(TokenKind::Comma) {
                path.push(self.label_name()?);
            }
            return Ok(PurposeDecl { name, goal: PurposeGoal::Path(path) });
        }
        self.bump();
        let state =
            if self.is_at(TokenKind::Name) { Some(self.expect_name("the name of a state")?) } else { None };
        Ok(PurposeDecl { name, goal: PurposeGoal::Reach { state, when: self.parse_guard()? } })
    }

    /// `{ var ... clock ... state ... }`; declarations come before the states.
    fn parse_observer(&mut self) -> ParseResult<ObserverDecl> {
        let open = self.span();
        self.bump();
        let level = self.braces;
        let mut observer = ObserverDecl { items: Vec::new(), states: Vec::new() };
        while !self.at_block_end() {
            if self.observer_part(&mut observer).is_err() {
                self.recover_here(level);
            }
        }
        self.close_block(open);
        Ok(observer)
    }

    fn observer_part(&mut self, observer: &mut ObserverDecl) -> ParseResult<()> {
        let start = self.span();
        let meta = self.parse_meta()?;
        if self.at_word("state") {
            let state = self.parse_state(meta)?;
            // The span includes the doc comment and attributes, which were read before the state.
            observer.states.push(StateDecl { span: start.to(state.span), ..state });
            return Ok(());
        }
        if !observer.states.is_empty() {
            return self.unexpected_with("`state`", |d| {
                d.help("the variables and clocks of an observer come before its states")
            });
        }
        let kind = if self.at_word("var") {
            ItemKind::Var(self.parse_var()?)
        } else if self.at_word("clock") {
            self.bump();
            ItemKind::Clock(self.expect_name("the name of a clock")?)
        } else {
            return self.report_unexpected("`state`, `var` or `clock`");
        };
        observer.items.push(ModelItem { meta, kind, span: self.span_since(start) });
        Ok(())
    }

    /// `always condition`, `sometimes condition` or `assume condition`.
    pub(crate) fn parse_property(&mut self, label: Option<Name>) -> ParseResult<Property> {
        let kind = match self.slice() {
            "always" => PropertyKind::Always,
            "assume" => PropertyKind::Assume,
            _ => PropertyKind::Sometimes,
        };
        self.bump();
        Ok(Property { label, kind, condition: self.parse_expr()? })
    }

    /// `every message is followed by message within time`.
    pub(crate) fn parse_response(&mut self, label: Option<Name>) -> ParseResult<ResponseDecl> {
        self.bump();
        let trigger = self.message_pattern()?;
        for word in ["is", "followed", "by"] {
            if !self.at_word(word) {
                return self.unexpected_with(&format!("`{word}`"), |d| {
                    d.help("write `every request is followed by reply`, perhaps with `within 2s`")
                });
            }
            self.bump();
        }
        let answer = self.message_pattern()?;
        let within = if self.at_word("within") {
            self.bump();
            Some(self.parse_expr()?)
        } else {
            None
        };
        Ok(ResponseDecl { label, trigger, answer, within })
    }

    /// `test "name" { steps }`.
    pub(crate) fn parse_test(&mut self) -> ParseResult<TestDecl> {
        self.bump();
        let name_span = self.span();
        if !self.is_at(TokenKind::Str) {
            return self.unexpected_with("the name of the test as a string", |d| {
                d.help("write `test \"name\" { ... }`")
            });
        }
        let name = self.parse_string()?;
        let open = self.span();
        self.expect(TokenKind::OpenBrace)?;
        let level = self.braces;
        let mut steps = Vec::new();
        while !self.at_block_end() {
            if self.leaves_block(open) {
                self.braces = level.saturating_sub(1);
                return Ok(TestDecl { name, name_span, steps });
            }
            match self.parse_step() {
                Ok(step) => steps.push(step),
                Err(_) => self.recover_here(level),
            }
            // Steps stand on lines of their own; a semicolon behind one does no harm.
            while self.eat(TokenKind::Semicolon) {}
        }
        self.close_block(open);
        Ok(TestDecl { name, name_span, steps })
    }

    fn parse_step(&mut self) -> ParseResult<StepDecl> {
        let start = self.span();
        let kind = if self.eat_word("send") {
            StepKind::Send(self.message_pattern()?)
        } else if self.eat_word("expect") {
            StepKind::Expect(self.message_pattern()?)
        } else if self.eat_word("quiet") {
            StepKind::Quiet(if self.starts_duration() { Some(self.parse_expr()?) } else { None })
        } else {
            return self.unexpected_with("a step: `send`, `expect` or `quiet`", |d| {
                d.help(
                    "a step reads `send message(field: value)`, `expect message(field: value)` or `quiet 1s`",
                )
            });
        };
        Ok(StepDecl { kind, span: self.span_since(start) })
    }

    fn starts_duration(&self) -> bool {
        let next = self.token(0);
        match next.kind {
            TokenKind::Number | TokenKind::OpenParen | TokenKind::Minus => true,
            // A name on the same line is a constant duration, unless it is the word that begins the next
            // step.
            TokenKind::Name => !next.first_on_line && !["send", "expect", "quiet"].contains(&self.slice()),
            _ => false,
        }
    }

    fn message_pattern(&mut self) -> ParseResult<MessagePattern> {
        let gate = self.message_name()?;
        Ok(MessagePattern { gate, pins: self.parse_pins()?, guard: self.parse_guard()? })
    }
}

/// Returns advice for a function of a collection that is called to change it, as in other languages: `m.remove(k)`.
fn collection_update(target: &str, function: &str) -> String {
    let example = match function {
        "insert" | "put" | "set" => {
            format!("{target}[key] = value`, or for a set `{target} = {target} + {{x}}")
        }
        "push" | "append" | "add" => {
            format!("{target} = {target} + [x]`, or for a set `{target} = {target} + {{x}}")
        }
        "pop" | "shift" | "dequeue" => format!("{target} = {target}.drop(1)"),
        "clear" => format!("{target} = []`, or for a map or set `{target} = {{}}"),
        _ => format!("{target} = {target}.without(x)"),
    };
    format!("values do not change, variables do: `{example}`")
}
