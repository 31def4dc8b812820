//! XLIA models, files `*.xlia`: the part of the language that timed state machines use.
//!
//! ```text
//! @xlia< system , 1.0 >:
//! timed system S { @composite: statemachine M {
//!     @public:  port input In( urational ); port output Out( int );
//!     @private: var int x; var clock urational cl; const int MAX = 3;
//!     @region:
//!         state< start > a {
//!             @init { x := 0; }
//!             transition t --> b { input In( x ); guard ( x <= MAX ); cl := 0; }
//!         }
//!         state< terminal > b;
//!     @com: connect< env > { input In; output Out; }
//! } }
//! ```
//!
//! The statements of a transition happen one after the other: a received or assigned value is seen by those behind it.
//! Fields without names are `p1`, `p2` and so on. Constants without a value are unknown, and a label that occurs twice
//! gets a number. A value received at an unsigned type is not negative. A transition with neither input nor output is
//! internal.
//!
//! A rational field that is only received in whole variables is whole: no other value is accepted.
//!
//! *Builds* the same tree as the parser of `*.iox` files, so names, types and everything behind them are
//! handled once. *Lacks* several machines, structures, arrays, quantifiers, and statements other than these.

mod body;

use std::collections::BTreeSet;

use ioxide_model::code::Code;
use ioxide_model::diag::Diagnostic;
use ioxide_model::source::{FileId, Span};
use ioxide_model::sts::Model;

use crate::ast::{
    ConstDecl, DeclMeta, DirectionDecl, Expr, FieldDecl, ItemKind, MessageDecl, ModelDecl, ModelItem, Name,
    StateDecl, Type, TypeKind, VarDecl,
};
use crate::lexer::{TokenKind, lex};
use crate::parser::{ParseResult, Parser};
use crate::sink::{FindingSink, Reported};
use crate::{LintLevel, LoadOptions, lower};

/// The model of an XLIA system.
pub(crate) fn load_xlia(
    text: &str,
    file: FileId,
    options: &LoadOptions,
    sink: &mut FindingSink,
) -> Result<Model, Reported> {
    // The lexer has line comments only. Replaced by as many bytes, so that every place of the file stays
    // right.
    let text = &without_block_comments(text);
    let lexed = lex(text);
    let parser = Parser::new(text, file, &lexed, sink).with_syntax(Code::XliaSyntax);
    let system = XliaReader { parser, machine: XliaMachine::default() }.parse_system()?;
    Ok(lower::lower(&system, options, LintLevel::Off, sink))
}

/// Returns `text` with blanks for comments between `/*` and `*/`, so that all positions stay the same.
fn without_block_comments(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = next_comment(rest) {
        let (before, comment) = rest.split_at(at);
        let end = comment.find("*/").map_or(comment.len(), |end| end + 2);
        kept.push_str(before);
        kept.extend(comment[..end].bytes().map(|byte| if byte == b'\n' { '\n' } else { ' ' }));
        rest = &comment[end..];
    }
    kept + rest
}

/// Returns the start of the next block comment that is neither in a line comment nor in a string.
fn next_comment(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at + 1 < bytes.len() {
        match &bytes[at..at + 2] {
            b"/*" => return Some(at),
            b"//" => at += text[at..].find('\n')?,
            [b'"', _] => at += text[at + 1..].find('"')? + 2,
            _ => at += 1,
        }
    }
    None
}

/// The declarations read so far.
#[derive(Default)]
struct XliaMachine {
    items: Vec<ModelItem>,
    ports: Vec<XliaPort>,
    vars: Vec<XliaVar>,
    clocks: Vec<String>,
    states: Vec<(bool, StateDecl)>,
    /// The labels of transitions so far.
    labels: BTreeSet<String>,
    /// Initial values, by variable.
    init: Vec<(Name, Expr)>,
    /// The port, the number of the field and the variable of every value that is received.
    received: Vec<(String, usize, String)>,
}

/// A port: a message whose fields need no names.
struct XliaPort {
    name: Name,
    direction: DirectionDecl,
    types: Vec<XliaType>,
    /// The names of the fields; `None` for those without.
    names: Vec<Option<String>>,
    span: Span,
}

/// A type; `unsigned` is true if its values are not negative.
#[derive(Clone)]
struct XliaType {
    ty: Type,
    unsigned: bool,
}

struct XliaVar {
    name: Name,
    ty: Type,
    init: Option<Expr>,
    span: Span,
}

struct XliaReader<'a> {
    parser: Parser<'a>,
    machine: XliaMachine,
}

impl XliaReader<'_> {
    /// `@xlia< … >: timed system Name { @composite: statemachine Name { … } }`
    fn parse_system(mut self) -> ParseResult<ModelDecl> {
        let start = self.parser.span();
        self.heading()?;
        self.parser.eat_word("timed");
        self.expect_word("system")?;
        self.skip_kind()?;
        self.parser.expect_name("the name of the system")?;
        self.parser.expect(TokenKind::OpenBrace)?;
        loop {
            let section = self.section_name()?;
            if matches!(section.as_str(), "composite" | "machine") {
                break;
            }
            self.parse_section(&section)?;
        }
        if !self.parser.eat_word("lifeline") || self.parser.at_word("statemachine") {
            self.expect_word("statemachine")?;
        }
        self.skip_kind()?;
        let name = self.parser.expect_name("the name of the state machine")?;
        self.parser.expect(TokenKind::OpenBrace)?;
        while self.parser.is_at(TokenKind::At) {
            let section = self.section_name()?;
            self.parse_section(&section)?;
        }
        self.parser.expect(TokenKind::CloseBrace)?;
        self.parser.expect(TokenKind::CloseBrace)?;
        if !self.parser.is_at(TokenKind::End) {
            self.parser.report_unexpected::<()>("the end of the text")?;
        }
        let span = self.parser.span_since(start);
        let items = self.into_items();
        Ok(ModelDecl { meta: DeclMeta::default(), name, items, broken: Vec::new(), span })
    }

    /// `@xlia< system , 1.0 >:`
    fn heading(&mut self) -> ParseResult<()> {
        if !(self.parser.is_at(TokenKind::At) && self.parser.kind_after(1) == TokenKind::Name) {
            return self.parser.unexpected_with("`@xlia< system , 1.0 >:`", |d| {
                d.help("an XLIA file starts with this line")
            });
        }
        self.parser.bump();
        self.expect_word("xlia")?;
        self.parser.expect(TokenKind::Lt)?;
        self.expect_word("system")?;
        self.parser.expect(TokenKind::Comma)?;
        self.parser.expect(TokenKind::Number)?;
        self.parser.expect(TokenKind::Gt)?;
        self.parser.expect(TokenKind::Colon)?;
        Ok(())
    }

    /// Skips `< kind >`, which matters to several machines only.
    fn skip_kind(&mut self) -> ParseResult<()> {
        if self.parser.eat(TokenKind::Lt) {
            self.parser.expect_name("a kind of machine")?;
            self.parser.expect(TokenKind::Gt)?;
        }
        Ok(())
    }

    fn expect_word(&mut self, word: &str) -> ParseResult<()> {
        if self.parser.eat_word(word) { Ok(()) } else { self.parser.report_unexpected(&format!("`{word}`")) }
    }

    /// `@name:`
    fn section_name(&mut self) -> ParseResult<String> {
        self.parser.expect(TokenKind::At)?;
        let name = self.parser.expect_name("the name of a section")?;
        self.parser.expect(TokenKind::Colon)?;
        Ok(name.text)
    }

    /// Parses a section of a machine: declarations, or a region with states.
    fn parse_section(&mut self, name: &str) -> ParseResult<()> {
        match name {
            "public" | "private" | "property" => {
                while self.parser.is_at(TokenKind::Name) {
                    self.declaration()?;
                }
                Ok(())
            }
            "region" => {
                while self.parser.at_word("state") {
                    self.parse_state()?;
                }
                Ok(())
            }
            "com" => self.parse_connections(),
            _ => self.parser.unexpected_with("`@public`, `@private`, `@region` or `@com`", |d| {
                d.help("other sections of XLIA are not read")
            }),
        }
    }

    /// A port, a variable, a clock or a constant.
    fn declaration(&mut self) -> ParseResult<()> {
        let start = self.parser.span();
        while self.parser.eat_word("public") || self.parser.eat_word("private") {}
        if self.parser.at_word("port") || self.parser.at_word("input") || self.parser.at_word("output") {
            self.port(start)?;
        } else if self.parser.eat_word("var") {
            self.parse_var(start)?;
        } else if self.parser.eat_word("const") {
            self.parse_constant(start)?;
        } else {
            return self.parser.report_unexpected("`port`, `var` or `const`");
        }
        self.parser.expect(TokenKind::Semicolon)?;
        Ok(())
    }

    /// Reads `const int MAX = 3`; one without a value is unknown, like a variable that is never assigned.
    fn parse_constant(&mut self, start: Span) -> ParseResult<()> {
        let ty = self.parse_type()?.ty;
        let name = self.parser.expect_name("the name of a constant")?;
        if self.parser.is_at(TokenKind::Semicolon) {
            self.machine.vars.push(XliaVar { name, ty, init: None, span: self.parser.span_since(start) });
            return Ok(());
        }
        self.assign_sign()?;
        let value = self.parser.parse_expr()?;
        let span = self.parser.span_since(start);
        self.push(ItemKind::Const(ConstDecl { name, ty: Some(ty), value }), span);
        Ok(())
    }

    /// `port input Name( type , type name )`, also `input port`
    fn port(&mut self, start: Span) -> ParseResult<()> {
        let is_port_first = self.parser.eat_word("port");
        let direction = if self.parser.eat_word("input") {
            DirectionDecl::Input
        } else {
            self.expect_word("output")?;
            DirectionDecl::Output
        };
        if !is_port_first {
            self.expect_word("port")?;
        }
        let name = self.parser.expect_name("the name of a port")?;
        let (mut types, mut names) = (Vec::new(), Vec::new());
        if self.parser.eat(TokenKind::OpenParen) {
            while !self.parser.is_at(TokenKind::CloseParen) {
                types.push(self.parse_type()?);
                let named = self.parser.is_at(TokenKind::Name);
                names.push(if named {
                    Some(self.parser.expect_name("the name of a field")?.text)
                } else {
                    None
                });
                if !self.parser.eat(TokenKind::Comma) {
                    break;
                }
            }
            self.parser.expect(TokenKind::CloseParen)?;
        }
        self.machine.ports.push(XliaPort {
            name,
            direction,
            types,
            names,
            span: self.parser.span_since(start),
        });
        Ok(())
    }

    /// `var int x`, `var clock urational cl`, `var clock< urational > cl`
    fn parse_var(&mut self, start: Span) -> ParseResult<()> {
        let is_clock = self.parser.eat_word("clock");
        // A point in time that is kept is a number like others.
        let is_time = self.parser.at_word("time")
            && matches!(self.parser.kind_after(1), TokenKind::Name | TokenKind::Lt);
        if is_time {
            self.parser.bump();
        }
        let has_brackets = (is_clock || is_time) && self.parser.eat(TokenKind::Lt);
        let ty = self.parse_type()?.ty;
        if has_brackets {
            self.parser.expect(TokenKind::Gt)?;
        }
        let name = self.parser.expect_name("the name of a variable")?;
        if is_clock {
            self.machine.clocks.push(name.text.clone());
            let span = self.parser.span_since(start);
            self.push(ItemKind::Clock(name), span);
            return Ok(());
        }
        let init = match self.parser.kind() {
            TokenKind::Eq | TokenKind::ColonEq => {
                self.parser.bump();
                Some(self.parser.parse_expr()?)
            }
            _ => None,
        };
        self.machine.vars.push(XliaVar { name, ty, init, span: self.parser.span_since(start) });
        Ok(())
    }

    fn assign_sign(&mut self) -> ParseResult<()> {
        if self.parser.eat(TokenKind::ColonEq) || self.parser.eat(TokenKind::Eq) {
            return Ok(());
        }
        self.parser.report_unexpected("`=`")
    }

    /// Reads a type of XLIA as one of the ioxide language.
    fn parse_type(&mut self) -> ParseResult<XliaType> {
        let name = self.parser.expect_name("a type")?;
        let (ours, unsigned) = match name.text.as_str() {
            "bool" | "boolean" => ("bool", false),
            "int" | "integer" => ("int", false),
            "uint" | "uinteger" => ("int", true),
            "rational" | "float" | "double" | "real" => ("real", false),
            "urational" | "ufloat" | "udouble" | "ureal" => ("real", true),
            "string" => ("string", false),
            other => {
                let message = format!("type `{other}` of XLIA is not supported");
                self.parser.error(|| {
                    Diagnostic::new(Code::XliaSyntax, name.span, message)
                        .help("there are `bool`, `int`, `uint`, `rational`, `urational` and `string`")
                });
                // Read on with some type: this error is reported, and those behind it as well.
                ("int", false)
            }
        };
        Ok(XliaType { ty: Type { kind: TypeKind::Named(ours.into()), span: name.span }, unsigned })
    }

    /// Reads `connect< env >{ input In; output Out; }`; the peer does not matter to one machine.
    fn parse_connections(&mut self) -> ParseResult<()> {
        while self.parser.eat_word("connect") || self.parser.eat_word("connector") {
            if self.parser.eat(TokenKind::Lt) {
                self.parser.expect_name("`env`")?;
                self.parser.expect(TokenKind::Gt)?;
            }
            self.parser.expect(TokenKind::OpenBrace)?;
            // The contents say which ports face the environment; a single machine has no other peer.
            while !matches!(self.parser.kind(), TokenKind::CloseBrace | TokenKind::End) {
                self.parser.bump();
            }
            self.parser.expect(TokenKind::CloseBrace)?;
        }
        Ok(())
    }

    /// Appends an item to the model that is built.
    fn push(&mut self, kind: ItemKind, span: Span) {
        self.machine.items.push(ModelItem { meta: DeclMeta::default(), kind, span });
    }

    /// Returns the declarations in the order of the ioxide language: the initial state before the others.
    fn into_items(mut self) -> Vec<ModelItem> {
        // Only now: the names of fields avoid those of variables and clocks, which may be declared behind the
        // ports.
        let ports = std::mem::take(&mut self.machine.ports);
        for port in &ports {
            let fields = (1..).zip(&port.types).map(|(n, typed)| FieldDecl {
                docs: Vec::new(),
                name: Name { text: self.field_name(&port.name.text, n, &ports), span: typed.ty.span },
                ty: self.field_type(&port.name.text, n, typed),
            });
            let message =
                MessageDecl { direction: port.direction, name: port.name.clone(), fields: fields.collect() };
            self.push(ItemKind::Message(message), port.span);
        }
        let initial = std::mem::take(&mut self.machine.init);
        for XliaVar { name, ty, init, span } in std::mem::take(&mut self.machine.vars) {
            let given =
                // The statements at the start happen in order, so the last value of a variable counts; it
                // comes before the one of the declaration.
                initial.iter().rev().find(|(var, _)| var.text == name.text).map(|(_, value)| value.clone());
            self.push(ItemKind::Var(VarDecl { name, ty, init: given.or(init) }), span);
        }
        let mut states = std::mem::take(&mut self.machine.states);
        // A stable sort, so the other states stay in the order of the file.
        states.sort_by_key(|(is_start, _)| !is_start);
        for (_, state) in states {
            let span = state.span;
            self.push(ItemKind::State(state), span);
        }
        self.machine.items
    }

    /// Returns the type of field number `n` of a port: `int` for a rational one that is only received in whole
    /// variables.
    fn field_type(&self, port: &str, n: usize, typed: &XliaType) -> Type {
        let named = |ty: &Type, name: &str| matches!(&ty.kind, TypeKind::Named(known) if known == name);
        let is_whole = |var: &String| {
            self.machine.vars.iter().any(|known| known.name.text == *var && named(&known.ty, "int"))
        };
        let received = self.machine.received.iter().filter(|(to, at, _)| to == port && *at == n);
        let mut vars = received.map(|(_, _, var)| var).peekable();
        // Where it is received in both sorts of variables, the checker of types says so.
        if named(&typed.ty, "real") && vars.peek().is_some() && vars.all(is_whole) {
            return Type { kind: TypeKind::Named("int".into()), span: typed.ty.span };
        }
        typed.ty.clone()
    }

    /// Returns the name of field number `n` of a port: its own, or `pn`, with underscores added while a variable or
    /// clock has that name.
    fn field_name(&self, port: &str, n: usize, ports: &[XliaPort]) -> String {
        let declared = ports.iter().find(|known| known.name.text == port);
        let own = declared.and_then(|port| port.names.get(n - 1).cloned().flatten());
        let mut name = own.unwrap_or_else(|| format!("p{n}"));
        while self.machine.vars.iter().any(|var| var.name.text == name) || self.machine.clocks.contains(&name)
        {
            name.push('_');
        }
        name
    }
}
