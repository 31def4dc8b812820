//! Action systems, files `*.as`: the syntax of \[AT15] Fig. 2.
//!
//! ```text
//! def Counter {
//!     types { Small = [0..3]  Mode = [Off | On] }
//!     state { n: Small  mode: Mode }
//!     init { n := 0  mode := Off }
//!     actions {
//!         ?inc(by: Small) if mode == On && n + by < 4 then { n := n + by }
//!         !value(v: Small) if v == n then { }
//!         tick() if mode == Off then { mode := On }
//!     }
//! }
//! ```
//!
//! Types may be collections, records and cases with fields (see [`types`]), guards may start with
//! `let some(x) = e`, and `m[k] := v` changes one item.
//!
//! The system has one location. Each visible action has exactly one definition and becomes
//! a message and a switch with its name; internal actions have no parameters and may share
//! a name. Expressions are those of the ioxide language, with `True` and `False`; commas and
//! semicolons between parts may be left out. Sections `constants { MAX = 3 }` and `functions { fn ... }` may stand
//! behind the types.
//!
//! Bodies may be more than one simultaneous assignment: nested choices and guarded commands, sequences, local variables
//! and loops (see [`body`]). Such a body is a finite set of *paths*; each becomes a switch of the action's message,
//! with a guard over the state before and the parameters, and one simultaneous update (see `lower::action`).
//!
//! *Does* the checks of \[AT15] Def. 2.1 and builds the same tree as the parser of `*.iox`
//! files, so names, types and everything behind them are handled once.

mod body;
mod order;
pub(crate) mod tree;
mod types;

use ioxide_model::code::Code;
use ioxide_model::diag::Diagnostic;
use ioxide_model::source::{FileId, Span};
use ioxide_model::sts::Model;
use rustc_hash::{FxHashMap, FxHashSet};

use self::order::OrderDoubt;
use self::tree::{ActionDecl, StatementBlock, StatementKind};
use crate::ast::{
    ConstDecl, DeclMeta, DirectionDecl, Expr, ExprKind, FieldDecl, ItemKind, MessageDecl, ModelDecl,
    ModelItem, Name, TransitionDecl, Type, Update, VarDecl, Verb,
};
use crate::lexer::{TokenKind, lex};
use crate::parser::{ParseResult, Parser};
use crate::sink::{FindingSink, Reported};
use crate::{LoadOptions, lower};

/// The model of an action system.
pub(crate) fn load_action_system(
    text: &str,
    file: FileId,
    options: &LoadOptions,
    sink: &mut FindingSink,
) -> Result<Model, Reported> {
    let lexed = lex(text);
    let parser = Parser::new(text, file, &lexed, sink).with_syntax(Code::ActionSyntax);
    let (mut system, mut actions) = ActionReader::new(parser).parse_system()?;
    check_definitions(&mut system.items, &mut actions, sink);
    Ok(lower::action::lower(&system, &actions, options, sink))
}

/// A state variable, before its initial value is known.
struct Declared {
    name: Name,
    ty: Type,
    meta: DeclMeta,
    span: Span,
}

struct ActionReader<'a> {
    parser: Parser<'a>,
    items: Vec<ModelItem>,
    actions: Vec<ActionDecl>,
    /// Names whose declarations could not be read.
    broken: Vec<(String, Reported)>,
    /// The number of open blocks.
    blocks: usize,
    /// Findings about assignments of the current action that read what a neighbour changes, until the form of its body
    /// is known.
    doubts: Vec<OrderDoubt>,
}

impl<'a> ActionReader<'a> {
    /// Makes a reader that has read nothing yet.
    fn new(parser: Parser<'a>) -> Self {
        let (items, actions, broken) = (Vec::new(), Vec::new(), Vec::new());
        Self { parser, items, actions, broken, blocks: 0, doubts: Vec::new() }
    }

    /// `def Name { types {...} state {...} init {...} actions {...} }`
    fn parse_system(mut self) -> ParseResult<(ModelDecl, Vec<ActionDecl>)> {
        let start = self.parser.span();
        let meta = self.parser.parse_meta()?;
        if !self.parser.eat_word("def") {
            return self
                .parser
                .unexpected_with("`def`", |d| d.help("an action system starts with `def Name {`"));
        }
        let name = self.parser.expect_name("the name of the system")?;
        self.parser.expect(TokenKind::OpenBrace)?;
        // Declared as constants, so that nothing behind the parser has to know these words.
        self.truth_values(name.span);
        if self.parser.at_word("types") {
            self.parse_section("types", Self::type_decl)?;
        }
        if self.parser.at_word("constants") {
            self.parse_section("constants", Self::parse_constant)?;
        }
        if self.parser.at_word("functions") {
            self.parse_section("functions", Self::parse_function)?;
        }
        // Variables and their initial values stand in different sections. They are put together before the
        // first action is read.
        let mut variables = Vec::new();
        self.parse_section("state", |reader| {
            reader.parse_variable().map(|variable| variables.push(variable))
        })?;
        let mut initial: Vec<(Name, Expr)> = Vec::new();
        self.parse_section("init", |reader| {
            reader.parse_assignment().map(|assignment| initial.push(assignment))
        })?;
        self.initialise(variables, initial);
        self.parse_section("actions", Self::parse_action)?;
        self.parser.expect(TokenKind::CloseBrace)?;
        if !self.parser.is_at(TokenKind::End) {
            self.parser.report_unexpected::<()>("the end of the text")?;
        }
        let span = self.parser.span_since(start);
        Ok((ModelDecl { meta, name, items: self.items, broken: self.broken, span }, self.actions))
    }

    /// `True` and `False` are constants.
    fn truth_values(&mut self, span: Span) {
        for (text, value) in [("True", true), ("False", false)] {
            let name = Name { text: text.into(), span };
            let value = Expr { kind: ExprKind::Bool(value), span };
            self.push(DeclMeta::default(), ItemKind::Const(ConstDecl { name, ty: None, value }), span);
        }
    }

    /// Appends an item to the model that is built.
    fn push(&mut self, meta: DeclMeta, kind: ItemKind, span: Span) {
        self.items.push(ModelItem { meta, kind, span });
    }

    /// `word { part part ... }`; a part that cannot be read is skipped.
    fn parse_section(
        &mut self,
        word: &str,
        mut part: impl FnMut(&mut Self) -> ParseResult<()>,
    ) -> ParseResult<()> {
        if !self.parser.eat_word(word) {
            return self.parser.unexpected_with(&format!("`{word} {{`"), |d| {
                d.help("the sections are `types`, `state`, `init` and `actions`, in this order")
                    .help("`constants` and `functions` may follow `types`")
            });
        }
        let open = self.parser.span();
        self.parser.expect(TokenKind::OpenBrace)?;
        let level = self.parser.braces();
        while !matches!(self.parser.kind(), TokenKind::CloseBrace | TokenKind::End) {
            let before = self.parser.position();
            // The name that could not be declared is noted, so that its uses are not reported as well.
            if let Err(why) = part(self) {
                self.broken.extend(self.parser.name_declared_at(before).map(|name| (name, why)));
                self.skip(level, before);
            }
            while self.parser.eat(TokenKind::Comma) || self.parser.eat(TokenKind::Semicolon) {}
        }
        self.parser.close(TokenKind::CloseBrace, open)
    }

    /// Skips to the next part of a section, at least one token from `before`.
    fn skip(&mut self, level: usize, before: usize) {
        // At least one token is skipped, so the loop over parts ends.
        if self.parser.position() == before {
            self.parser.bump();
        }
        self.parser.skip_to(level, |parser, inside| {
            let next = parser.kind_after(1);
            let starts = match parser.kind() {
                TokenKind::Question | TokenKind::Not => next == TokenKind::Name,
                TokenKind::Name => {
                    matches!(
                        next,
                        TokenKind::Eq | TokenKind::Colon | TokenKind::ColonEq | TokenKind::OpenParen
                    )
                }
                _ => false,
            };
            // Inside of a block the same tokens start assignments, not parts of the section.
            (starts || parser.at_word("fn")) && !inside
        });
    }

    /// `NAME = value` or `NAME: Type = value`.
    fn parse_constant(&mut self) -> ParseResult<()> {
        let start = self.parser.span();
        let meta = self.parser.parse_meta()?;
        let name = self.parser.expect_name("the name of a constant")?;
        let ty = if self.parser.eat(TokenKind::Colon) { Some(self.parse_type()?) } else { None };
        self.parser.expect(TokenKind::Eq)?;
        let value = self.parser.parse_expr()?;
        let span = self.parser.span_since(start);
        self.push(meta, ItemKind::Const(ConstDecl { name, ty, value }), span);
        Ok(())
    }

    /// `fn name(parameter: Type) -> Type = value`.
    fn parse_function(&mut self) -> ParseResult<()> {
        let start = self.parser.span();
        let meta = self.parser.parse_meta()?;
        if !self.parser.at_word("fn") {
            return self
                .parser
                .unexpected_with("`fn`", |d| d.help("a function is `fn twice(n: int) -> int = n + n`"));
        }
        let mut function = self.parser.parse_function()?;
        types::plain_truths(&mut function);
        let span = self.parser.span_since(start);
        self.push(meta, ItemKind::Fn(function), span);
        Ok(())
    }

    /// `name: Type`.
    fn parse_variable(&mut self) -> ParseResult<Declared> {
        let start = self.parser.span();
        let meta = self.parser.parse_meta()?;
        let FieldDecl { name, ty, .. } = self.parse_field()?;
        Ok(Declared { name, ty, meta, span: self.parser.span_since(start) })
    }

    /// `name := value`.
    fn parse_assignment(&mut self) -> ParseResult<(Name, Expr)> {
        let name = self.parser.expect_name("the name of a variable")?;
        self.parser.expect(TokenKind::ColonEq)?;
        Ok((name, self.parser.parse_expr()?))
    }

    /// Gives each variable its initial value, exactly one.
    fn initialise(&mut self, variables: Vec<Declared>, initial: Vec<(Name, Expr)>) {
        let declared: FxHashSet<String> =
            variables.iter().map(|variable| variable.name.text.clone()).collect();
        let broken: FxHashSet<String> = self.broken.iter().map(|(name, _)| name.clone()).collect();
        let mut values: FxHashMap<String, Option<Expr>> = FxHashMap::default();
        for (name, value) in initial {
            let known = declared.contains(&name.text);
            // The declaration has an error of its own.
            if broken.contains(&name.text) {
                continue;
            }
            let twice = values.insert(name.text.clone(), Some(value));
            let message = match (known, twice) {
                (false, _) => format!("there is no state variable `{}`", name.text),
                (true, Some(_)) => format!("`{}` has two initial values", name.text),
                (true, None) => continue,
            };
            let names = variables.iter().map(|variable| variable.name.text.as_str()).filter(|_| !known);
            self.parser.error(|| {
                crate::suggest::suggest_nearest(
                    Diagnostic::new(Code::ActionInit, name.span, message),
                    &name,
                    names,
                )
            });
        }
        for Declared { name, ty, meta, span } in variables {
            // Taken out of the table: of two variables of one name only the first gets the value.
            let init = values.get_mut(&name.text).and_then(Option::take);
            if init.is_none() {
                let message = format!("state variable `{}` has no initial value", name.text);
                self.parser.error(|| {
                    Diagnostic::new(Code::ActionInit, name.span, message)
                        .help(format!("add `{} := ...` to the `init` section", name.text))
                });
            }
            self.push(meta, ItemKind::Var(VarDecl { name, ty, init }), span);
        }
    }

    /// `?name(parameters) if guard then { statements }`; before the guard may stand `let pattern = value &&`.
    fn parse_action(&mut self) -> ParseResult<()> {
        self.doubts.clear();
        let start = self.parser.span();
        let meta = self.parser.parse_meta()?;
        let verb_span = self.parser.span();
        let direction = match self.parser.kind() {
            TokenKind::Question => Some(DirectionDecl::Input),
            TokenKind::Not => Some(DirectionDecl::Output),
            _ => None,
        };
        if direction.is_some() {
            self.parser.bump();
        }
        let name = self.parser.expect_name("the name of an action")?;
        let fields = self.parse_parameters()?;
        self.parser.expect(TokenKind::If)?;
        let mut lets = Vec::new();
        let guard = self.parser.lets_and_guard(&mut lets)?;
        self.parser.expect(TokenKind::Then)?;
        let (updates, body) = self.parse_body()?;
        let span = self.parser.span_since(start);
        let (verb, gate) = match direction {
            Some(DirectionDecl::Output) => (Verb::Emit, Some(name.clone())),
            Some(_) => (Verb::On, Some(name.clone())),
            None => (Verb::Internal, None),
        };
        match direction {
            Some(direction) => {
                let message = MessageDecl { direction, name: name.clone(), fields };
                // The documentation belongs to the message as well; requirements and weights belong to the
                // transition alone.
                let documented = DeclMeta { docs: meta.docs.clone(), ..DeclMeta::default() };
                self.push(documented, ItemKind::Message(message), span);
            }
            None => self.check_internal(&fields, &name),
        }
        let head = TransitionDecl {
            meta: DeclMeta::default(),
            label: Some(name),
            verb,
            verb_span,
            gate,
            pins: Vec::new(),
            lets,
            guard,
            updates,
            target: None,
            span,
            broken: None,
        };
        self.actions.push(ActionDecl { meta, head, body });
        Ok(())
    }

    /// Reads a body: one simultaneous assignment, or more than that.
    fn parse_body(&mut self) -> ParseResult<(Vec<Update>, Option<StatementBlock>)> {
        let mut body = self.parse_block()?;
        // Behind a block, these tokens look like a choice or a sequence of blocks. As the start of the next
        // action they would give a riddle.
        if matches!(self.parser.kind(), TokenKind::OpenBracket | TokenKind::Then) {
            let expected = "the next action or `}`";
            return self.parser.unexpected_with(expected, |d| {
                d.help("the body of an action is one block: `then { { ... } [] { ... } }`")
            });
        }
        let is_plain = match &body.statements[..] {
            [] => true,
            [only] => matches!(only.kind, StatementKind::Assign(_)),
            _ => false,
        };
        // Only the whole body tells whether an assignment that reads its neighbour is suspicious.
        for doubt in std::mem::take(&mut self.doubts) {
            if order::is_told(&doubt, is_plain) {
                self.parser.warn(doubt.1);
            }
        }
        if !is_plain {
            return Ok((Vec::new(), Some(body)));
        }
        // A plain body is an update like those of `*.iox` files, so it needs no paths.
        let only = body.statements.pop().map(|statement| statement.kind);
        Ok((if let Some(StatementKind::Assign(updates)) = only { updates } else { Vec::new() }, None))
    }

    fn check_internal(&mut self, fields: &[FieldDecl], name: &Name) {
        if let Some(field) = fields.first() {
            let message = format!("internal action `{}` has parameters", name.text);
            let why = self.parser.error(|| {
                Diagnostic::new(Code::ActionParameters, field.name.span, message)
                    .help("write `?` or `!` before the name to make it an input or output")
            });
            self.broken.extend(fields.iter().map(|field| (field.name.text.clone(), why)));
        }
    }
}

/// Reports and removes further definitions of a visible action.
fn check_definitions(items: &mut Vec<ModelItem>, actions: &mut Vec<ActionDecl>, sink: &mut FindingSink) {
    let mut first: FxHashMap<String, Span> = FxHashMap::default();
    // By place: an action keeps its message exactly if it is the first of its name, and `is_first` asks the
    // same of the actions.
    items.retain(|item| {
        let ItemKind::Message(MessageDecl { name, .. }) = &item.kind else { return true };
        let earlier = *first.entry(name.text.clone()).or_insert(name.span);
        if earlier != name.span {
            let message = format!("action `{}` is defined twice", name.text);
            sink.push(
                Diagnostic::new(Code::ActionDefinedTwice, name.span, message)
                    .label(earlier, "first defined here")
                    .help("make them branches of one: `if True then { when c { ... } [] when d { ... } }`"),
            );
        }
        earlier == name.span
    });
    let is_first = |gate: &Name| first.get(&gate.text) == Some(&gate.span);
    actions.retain(|action| action.head.gate.as_ref().is_none_or(is_first));
}
