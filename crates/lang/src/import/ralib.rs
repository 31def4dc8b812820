//! Register automata in the XML of RALib.
//!
//! Inputs and outputs are separate transitions there too, so locations and transitions become locations and switches
//! one to one. Special cases:
//!
//! - `params` of an input names the parameters for guard and assignments, in order; if it
//!   is missing, the names of the alphabet count.
//! - `params` of an output names the registers and constants that are sent. Assignments happen
//!   before the output is made, so a register that is assigned sends its new value.
//! - `__fresh__` assigned to a register that is sent: the value is new. Here that means
//!   that it differs from all registers and constants of its type.
//! - A symbol may be an input and an output. The location decides the direction of a transition: inputs and outputs
//!   alternate, and the first is an input.
//! - Types are `int` (also under other names, such as `uid`) and `double`.
//! - `a[next]b` says that `b` is the successor of `a`, `b == a + 1`. `a[in_win]b` says that it lies in a window, whose
//!   size the file does not have: such guards are refused.
//!
//! The automaton is turned into the tree that the parser of `*.iox` files builds, so names
//! and types are checked there. Places are those of the XML elements.

use ioxide_model::code::Code;
use ioxide_model::diag::Diagnostic;
use ioxide_model::source::{FileId, Span};
use ioxide_model::sts::Model;
use roxmltree::{Document, Node, ParsingOptions};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::ast::{
    CmpOp, ConstDecl, DeclMeta, DirectionDecl, Expr, ExprKind, FieldDecl, ItemKind, MessageDecl, ModelDecl,
    ModelItem, Name, PinDecl, StateDecl, TransitionDecl, Type, TypeKind, Update, UpdateKind, VarDecl, Verb,
};
use crate::lexer::{TokenKind, lex};
use crate::parser::Parser;
use crate::sink::{FindingSink, Reported};
use crate::{LintLevel, LoadOptions, lower};

/// The suffix in the tree of the name of an output that is an input too.
const OUTPUT_MARK: &str = "__output";

/// The greatest number of nodes of a document. Chosen by feel: it bounds the memory that a document can ask for.
const MAX_NODES: u32 = 10_000_000;

/// The model of a register automaton.
pub(crate) fn load_ralib(
    text: &str,
    file: FileId,
    options: &LoadOptions,
    sink: &mut FindingSink,
) -> Result<Model, Reported> {
    // Entities are expanded a few levels deep only, and files of a sensible size have fewer nodes.
    let options_of_xml =
        ParsingOptions { allow_dtd: true, nodes_limit: MAX_NODES, ..ParsingOptions::default() };
    let document = match Document::parse_with_options(text, options_of_xml) {
        Ok(document) => document,
        Err(error) => {
            return Err(sink.report(bad_xml(text, file, &error)));
        }
    };
    let mut reader = RalibReader {
        file,
        sink,
        items: Vec::new(),
        registers: Vec::new(),
        symbols: FxHashMap::default(),
        turns: FxHashMap::default(),
    };
    let (tree, initial) = reader.read_automaton(document.root_element())?;
    let mut model = lower::lower(&tree, options, LintLevel::Off, sink);
    // A fix would replace a whole element of the file, because that is where everything is placed.
    sink.drop_fixes();
    for gate in model.sts.gates.iter_mut() {
        // The direction tells both messages apart from here on.
        let symbol = gate.name.strip_suffix(OUTPUT_MARK).map(Into::into);
        gate.name = symbol.unwrap_or_else(|| gate.name.clone());
    }
    model.sts.initial = model.sts.location_named(&initial).unwrap_or(model.sts.initial);
    Ok(model)
}

fn bad_xml(text: &str, file: FileId, error: &roxmltree::Error) -> Diagnostic {
    let place = error.pos();
    let line_start: usize =
        text.split_inclusive('\n').take((place.row as usize).saturating_sub(1)).map(str::len).sum();
    let line = text.get(line_start..).unwrap_or("");
    let column: usize = line.chars().take((place.col as usize).saturating_sub(1)).map(char::len_utf8).sum();
    let at = (line_start + column).min(text.len());
    Diagnostic::new(Code::BadXml, Span::new(file, at, at), format!("not well-formed: {error}"))
}

/// A register or a constant, from which a fresh value differs.
struct Stored {
    name: String,
    ty: &'static str,
}

/// A symbol of the alphabet.
struct Symbol {
    direction: DirectionDecl,
    /// The parameters: name in the alphabet, name of the field, type.
    params: Vec<(String, String, &'static str)>,
}

struct RalibReader<'s> {
    file: FileId,
    sink: &'s mut FindingSink,
    items: Vec<ModelItem>,
    registers: Vec<Stored>,
    symbols: FxHashMap<(String, DirectionDecl), Symbol>,
    /// The direction of the transitions that leave a location, as far as it is determined.
    turns: FxHashMap<String, DirectionDecl>,
}

type Xml<'x> = Node<'x, 'x>;

impl RalibReader<'_> {
    /// Returns the tree, and the name of the initial location.
    fn read_automaton(&mut self, root: Xml<'_>) -> Result<(ModelDecl, String), Reported> {
        let span = self.span_of(root);
        if root.tag_name().name() != "register-automaton" {
            let found = root.tag_name().name();
            return Err(self.report_bad(root, format!("expected `register-automaton`, found `{found}`")));
        }
        // Registers before the alphabet: the names of fields have to avoid them.
        for (section, element) in [("constants", "constant"), ("globals", "variable")] {
            for node in elements_of(root, section, element) {
                self.read_register(node, element);
            }
        }
        let alphabet = child_named(root, "alphabet");
        for (section, direction) in [("inputs", DirectionDecl::Input), ("outputs", DirectionDecl::Output)] {
            for node in alphabet.into_iter().flat_map(|alphabet| elements_of(alphabet, section, "symbol")) {
                self.declare_symbol(node, direction);
            }
        }
        let (mut states, initial) = self.read_locations(root)?;
        self.take_turns(root, &initial);
        for node in elements_of(root, "transitions", "transition") {
            // What is wrong with one is no reason to be silent about the others.
            _ = self.add_transition(node, &mut states);
        }
        for (state, span) in states.into_values() {
            self.push(ItemKind::State(state), span);
        }
        let name = Name { text: "RegisterAutomaton".into(), span: Span { end: span.start, ..span } };
        let items = std::mem::take(&mut self.items);
        Ok((ModelDecl { meta: DeclMeta::default(), name, items, broken: Vec::new(), span }, initial))
    }

    /// Returns the place of an element in the file.
    fn span_of(&self, node: Xml<'_>) -> Span {
        let range = node.range();
        Span::new(self.file, range.start, range.end)
    }

    /// Reports that an element is wrong.
    fn report_bad(&mut self, node: Xml<'_>, message: String) -> Reported {
        let span = self.span_of(node);
        self.sink.report(Diagnostic::new(Code::BadAutomaton, span, message))
    }

    /// Appends an item to the model that is built.
    fn push(&mut self, kind: ItemKind, span: Span) {
        self.items.push(ModelItem { meta: DeclMeta::default(), kind, span });
    }

    /// Returns the value of an attribute that the element must have.
    fn require_attribute(&mut self, node: Xml<'_>, name: &str) -> Result<String, Reported> {
        match node.attribute(name) {
            Some(value) => Ok(value.to_owned()),
            None => {
                let element = node.tag_name().name();
                Err(self.report_bad(node, format!("`{element}` lacks the attribute `{name}`")))
            }
        }
    }

    // Alphabet and registers.

    fn read_register(&mut self, node: Xml<'_>, element: &str) {
        let span = self.span_of(node);
        let Ok(text) = self.require_attribute(node, "name") else { return };
        let ty = type_name(node);
        self.registers.push(Stored { name: text.clone(), ty });
        let name = Name { text, span };
        let value = self.read_expression(node.text().unwrap_or(""), span, &FxHashMap::default());
        let Ok(value) = value else { return };
        let kind = if element == "constant" {
            ItemKind::Const(ConstDecl { name, ty: Some(named_type(ty, span)), value })
        } else {
            ItemKind::Var(VarDecl { name, ty: named_type(ty, span), init: Some(value) })
        };
        self.push(kind, span);
    }

    /// Declares the message of an `input` or `output` symbol; its parameters become fields.
    fn declare_symbol(&mut self, node: Xml<'_>, direction: DirectionDecl) {
        let span = self.span_of(node);
        let Ok(text) = self.require_attribute(node, "name") else { return };
        let mut params: Vec<(String, String, &'static str)> = Vec::new();
        for param in node.children().filter(|child| child.has_tag_name("param")) {
            let Ok(name) = self.require_attribute(param, "name") else { return };
            // A field must not hide a register, which guards and assignments read too.
            let mut field = name.clone();
            while self.registers.iter().any(|stored| stored.name == field)
                || params.iter().any(|(_, other, _)| *other == field)
            {
                field.push('_');
            }
            params.push((name, field, type_name(param)));
        }
        let fields = params.iter().map(|(_, field, ty)| FieldDecl {
            docs: Vec::new(),
            name: Name { text: field.clone(), span },
            ty: named_type(ty, span),
        });
        let name = Name { text: self.message_name(&text, direction), span };
        let message = MessageDecl { direction, name, fields: fields.collect() };
        self.push(ItemKind::Message(message), span);
        self.symbols.insert((text, direction), Symbol { direction, params });
    }

    /// Returns the name of a message in the tree, in which names are unique: an output that is an input too has a
    /// suffix, which is removed at the end.
    fn message_name(&self, symbol: &str, direction: DirectionDecl) -> String {
        let is_both = self.symbols.contains_key(&(symbol.to_owned(), DirectionDecl::Input));
        let mark = if direction == DirectionDecl::Output && is_both { OUTPUT_MARK } else { "" };
        format!("{symbol}{mark}")
    }

    // Locations and transitions.

    /// Returns the states in the order of the file, and the name of the initial one.
    #[expect(clippy::type_complexity, reason = "states in order by name, with their places")]
    fn read_locations(
        &mut self,
        root: Xml<'_>,
    ) -> Result<(indexmap::IndexMap<String, (StateDecl, Span)>, String), Reported> {
        let mut states = indexmap::IndexMap::new();
        let mut initial = None;
        for node in elements_of(root, "locations", "location") {
            let span = self.span_of(node);
            let Ok(text) = self.require_attribute(node, "name") else { continue };
            if node.attribute("initial") == Some("true") && initial.is_none() {
                initial = Some(text.clone());
            }
            if states.contains_key(&text) {
                self.report_bad(node, format!("location `{text}` is declared twice"));
                continue;
            }
            let name = Name { text: text.clone(), span };
            states.insert(
                text,
                (StateDecl { meta: DeclMeta::default(), name, transitions: Vec::new(), span }, span),
            );
        }
        let Some(initial) = initial else {
            let span = self.span_of(root);
            let span = Span { end: span.start, ..span };
            return Err(self.sink.report(
                Diagnostic::new(Code::NoInitialState, span, "no location is initial")
                    .help("mark one: `<location name=\"id0\" initial=\"true\"/>`"),
            ));
        };
        Ok((states, initial))
    }

    /// Returns the direction of a symbol in a location: that of the alphabet, or that of the location if it has both
    /// there.
    fn direction_of(&self, symbol: &str, from: &str) -> Option<DirectionDecl> {
        let has = |direction| self.symbols.contains_key(&(symbol.to_owned(), direction));
        match (has(DirectionDecl::Input), has(DirectionDecl::Output)) {
            (true, true) => self.turns.get(from).copied(),
            (true, false) => Some(DirectionDecl::Input),
            (false, true) => Some(DirectionDecl::Output),
            (false, false) => None,
        }
    }

    /// Determines the direction of the transitions of each location: from those whose symbol has one direction, and by
    /// alternation from the initial location on.
    fn take_turns(&mut self, root: Xml<'_>, initial: &str) {
        let moves = |node: Xml<'_>| {
            let of = |name| node.attribute(name).map(str::to_owned);
            Some((of("from")?, of("symbol")?, of("to")?))
        };
        let moves: Vec<(String, String, String)> =
            elements_of(root, "transitions", "transition").filter_map(moves).collect();
        // First what the alphabet decides; the rest alternates with it.
        for (from, symbol, _) in &moves {
            if let Some(direction) = self.direction_of(symbol, from) {
                self.turns.entry(from.clone()).or_insert(direction);
            }
        }
        self.turns.entry(initial.to_owned()).or_insert(DirectionDecl::Input);
        // A fixed point: each round decides at least one more location, or it is the last.
        for _ in 0..moves.len() {
            let known = self.turns.len();
            for (from, _, to) in &moves {
                let other = match self.turns.get(from) {
                    Some(DirectionDecl::Input) => DirectionDecl::Output,
                    Some(_) => DirectionDecl::Input,
                    None => continue,
                };
                self.turns.entry(to.clone()).or_insert(other);
            }
            if self.turns.len() == known {
                break;
            }
        }
    }

    /// Adds the transition of an element to the state that it starts in.
    fn add_transition(
        &mut self,
        node: Xml<'_>,
        states: &mut indexmap::IndexMap<String, (StateDecl, Span)>,
    ) -> Result<(), Reported> {
        let span = self.span_of(node);
        let (from, to) = (self.require_attribute(node, "from")?, self.require_attribute(node, "to")?);
        let gate = self.require_attribute(node, "symbol")?;
        let direction = self.direction_of(&gate, &from);
        let known =
            // Taken out of the table for the time being, because the reader is borrowed while its parts are
            // read.
            direction.and_then(|it| self.symbols.remove(&(gate.clone(), it)).map(|symbol| (it, symbol)));
        let Some((direction, symbol)) = known else {
            let told = if self.symbols.contains_key(&(gate.clone(), DirectionDecl::Input)) {
                format!("`{gate}` is an input and an output, and it is unclear which one is meant here")
            } else {
                format!("symbol `{gate}` is not in the alphabet")
            };
            return Err(self.report_bad(node, told));
        };
        let built = match symbol.direction {
            DirectionDecl::Output => self.output_parts(node, span, &symbol),
            _ => self.input_parts(node, span, &symbol),
        };
        let verb = if symbol.direction == DirectionDecl::Output { Verb::Emit } else { Verb::On };
        self.symbols.insert((gate.clone(), direction), symbol);
        let (pins, guard, updates) = built?;
        let name = |text: String| Some(Name { text, span });
        let transition = TransitionDecl {
            meta: DeclMeta::default(),
            label: None,
            verb,
            verb_span: span,
            gate: name(self.message_name(&gate, direction)),
            pins,
            lets: Vec::new(),
            guard,
            updates,
            target: name(to),
            span,
            broken: None,
        };
        match states.get_mut(&from) {
            Some((state, _)) => state.transitions.push(transition),
            None => return Err(self.report_bad(node, format!("there is no location `{from}`"))),
        }
        Ok(())
    }

    /// Returns guard and updates of a transition that takes an input.
    fn input_parts(&mut self, node: Xml<'_>, span: Span, symbol: &Symbol) -> Result<RalibParts, Reported> {
        let names = self.param_names(node, symbol)?;
        let fields: FxHashMap<String, String> =
            names.into_iter().zip(symbol.params.iter().map(|(_, field, _)| field.clone())).collect();
        let guard = self.read_guard(node, &fields)?;
        let mut updates = Vec::new();
        for (to, value) in self.read_assignments(node)? {
            let value = self.read_expression(&value, span, &fields)?;
            updates.push(Update { kind: UpdateKind::Assign(Name { text: to, span }, value), span });
        }
        Ok((Vec::new(), guard, updates))
    }

    /// Returns pins, guard and updates of a transition that emits an output.
    fn output_parts(&mut self, node: Xml<'_>, span: Span, symbol: &Symbol) -> Result<RalibParts, Reported> {
        let names = self.param_names(node, symbol)?;
        let assignments = self.read_assignments(node)?;
        let is_stored = |reader: &Self, name: &String| {
            reader.registers.iter().any(|stored| stored.name == *name) || name.parse::<i64>().is_ok()
        };
        let fresh: FxHashSet<&str> =
            assignments.iter().filter(|(_, value)| value == "__fresh__").map(|(to, _)| to.as_str()).collect();
        let mut pins = Vec::new();
        let mut conditions: Vec<Expr> = Vec::new();
        let mut fields: FxHashMap<String, String> = FxHashMap::default();
        let mut new_values: FxHashMap<String, String> = FxHashMap::default();
        for (name, (_, field, ty)) in names.iter().zip(&symbol.params) {
            if fresh.contains(name.as_str()) {
                conditions.extend(self.differs_from_all(field, ty, span));
                new_values.insert(name.clone(), field.clone());
                continue;
            }
            if node.attribute("params").is_none() || !is_stored(self, name) {
                // A name of its own stands for whatever is sent.
                fields.insert(name.clone(), field.clone());
                continue;
            }
            // Assignments happen before the output is made, so a register that is assigned here sends the new
            // value.
            let assigned = assignments.iter().find(|(to, _)| to == name).map(|(_, value)| value.clone());
            let value = self.read_expression(&assigned.unwrap_or_else(|| name.clone()), span, &fields)?;
            pins.push(PinDecl { field: Name { text: field.clone(), span }, value });
        }
        // The guard may read names that stand for what is sent. Registers in it have their values before the
        // assignments.
        conditions.extend(self.read_guard(node, &fields)?);
        let mut updates = Vec::new();
        for (to, value) in assignments {
            let value = match (value == "__fresh__", new_values.get(&to)) {
                (true, Some(field)) => Expr { kind: ExprKind::Name(field.clone()), span },
                (true, None) => {
                    return Err(self.report_bad(node, format!("`{to}` gets a fresh value that is not sent")));
                }
                (false, _) => self.read_expression(&value, span, &fields)?,
            };
            updates.push(Update { kind: UpdateKind::Assign(Name { text: to, span }, value), span });
        }
        let guard = match conditions.len() {
            0 => None,
            1 => conditions.pop(),
            _ => Some(Expr { kind: ExprKind::And(conditions), span }),
        };
        Ok((pins, guard, updates))
    }

    /// Returns the names in the attribute `params`, or those of the alphabet if it is missing.
    fn param_names(&mut self, node: Xml<'_>, symbol: &Symbol) -> Result<Vec<String>, Reported> {
        let names: Vec<String> = match node.attribute("params") {
            Some(text) => {
                text.split(',').map(|name| name.trim().to_owned()).filter(|name| !name.is_empty()).collect()
            }
            None => symbol.params.iter().map(|(name, ..)| name.clone()).collect(),
        };
        if names.len() != symbol.params.len() {
            let (wanted, found) = (symbol.params.len(), names.len());
            return Err(
                self.report_bad(node, format!("the symbol has {wanted} parameters, here are {found}"))
            );
        }
        Ok(names)
    }

    /// Returns the facts that `field` differs from every register and constant of its type.
    fn differs_from_all(&self, field: &str, ty: &str, span: Span) -> Vec<Expr> {
        let name = |text: &str| Expr { kind: ExprKind::Name(text.to_owned()), span };
        let others = self.registers.iter().filter(|stored| stored.ty == ty);
        let differs = |stored: &Stored| {
            let rest = vec![(CmpOp::Ne, name(&stored.name))];
            Expr { kind: ExprKind::Compare(Box::new(name(field)), rest), span }
        };
        others.map(differs).collect()
    }

    /// Returns the assignments of a transition as pairs of register and value, both as text.
    fn read_assignments(&mut self, node: Xml<'_>) -> Result<Vec<(String, String)>, Reported> {
        let mut found = Vec::new();
        // RALib ignores one at this place, but whoever wrote it expects its effect.
        if let Some(stray) = child_named(node, "assign") {
            return Err(self.report_bad(stray, "`assign` must be in the element `assignments`".into()));
        }
        for assign in elements_of(node, "assignments", "assign") {
            let to = self.require_attribute(assign, "to")?;
            found.push((to, assign.text().unwrap_or("").trim().to_owned()));
        }
        Ok(found)
    }

    /// Returns the guard of a transition, `None` if it has none or an empty one.
    fn read_guard(
        &mut self,
        node: Xml<'_>,
        names: &FxHashMap<String, String>,
    ) -> Result<Option<Expr>, Reported> {
        let guard = child_named(node, "guard");
        let text = guard.and_then(|guard| guard.text()).unwrap_or("").trim().to_owned();
        let span = guard.map_or_else(|| self.span_of(node), |guard| self.span_of(guard));
        if text.is_empty() {
            return Ok(None);
        }
        self.read_expression(&text, span, names).map(Some)
    }

    /// Parses `text` as an expression at `span`, with names replaced by `names`.
    fn read_expression(
        &mut self,
        text: &str,
        span: Span,
        names: &FxHashMap<String, String>,
    ) -> Result<Expr, Reported> {
        let renamed = replace_successors(&rename_words(text, names));
        let lexed = lex(&renamed);
        let mut findings = FindingSink::default();
        let mut parser = Parser::new(&renamed, self.file, &lexed, &mut findings).placed_at(span);
        let parsed = parser.parse_expr();
        let complete = parser.is_at(TokenKind::End);
        // All of the text has to be read: what is left over would be ignored silently.
        if let (Ok(expr), true, false) = (parsed, complete, findings.has_errors()) {
            return Ok(expr);
        }
        let shown = text.split_whitespace().collect::<Vec<_>>().join(" ");
        Err(self.sink.report(
            Diagnostic::new(
                Code::UnsupportedTheory,
                span,
                format!("`{shown}` is not an expression that can be read"),
            )
            .help(expression_help(text)),
        ))
    }
}

type RalibParts = (Vec<PinDecl>, Option<Expr>, Vec<Update>);

/// Returns `text` with its names replaced by `names`.
fn rename_words(text: &str, names: &FxHashMap<String, String>) -> String {
    let slice =
        |token: &crate::lexer::Token| text.get(token.start as usize..token.end as usize).unwrap_or("");
    let words = lex(text).tokens;
    // By words of the lexer, so that a name inside of a longer one stays.
    let words = words.iter().map(|token| {
        let word = slice(token);
        names.get(word).map_or(word, String::as_str)
    });
    words.collect::<Vec<_>>().join(" ")
}

/// Returns `text`, a row of words, with comparisons in place of `[next]` and `[!next]`.
fn replace_successors(text: &str) -> String {
    let words: Vec<&str> = text.split(' ').collect();
    let parts = words.split_inclusive(|word| matches!(*word, "&&" | "||"));
    parts.map(|part| replace_successor(&part.join(" "))).collect::<Vec<_>>().join(" ")
}

/// Replaces the relation of one comparison: `a [ next ] b` is `a + 1 == b`.
fn replace_successor(part: &str) -> String {
    // In a chain, the sum would be an operand of the other relation too. RALib has no chains, so they stay and are
    // refused.
    if part.contains(['<', '>', '=']) || part.matches("next ]").count() > 1 {
        return part.to_owned();
    }
    part.replace("[ next ]", "+ 1 ==").replace("[ ! next ]", "+ 1 !=")
}

/// Says what an expression is, or why a known relation is not read.
fn expression_help(text: &str) -> &'static str {
    let words: String = text.split_whitespace().collect();
    if words.contains("[in_win]") || words.contains("[!in_win]") {
        return "the file does not say how large the window is; write its bounds: `a < b && b < a + 100`";
    }
    if words.contains("random()") {
        return "write `__fresh__` for a new value that is sent";
    }
    "guards compare registers, parameters, constants and numbers (`==`, `!=`, `<`, `>`, `[next]`), joined with `&&`, \
     `||` and `!`"
}

/// Returns the first child element of this name.
fn child_named<'x>(node: Xml<'x>, name: &str) -> Option<Xml<'x>> {
    node.children().find(|child| child.has_tag_name(name))
}

/// The elements called `element` in the part of `node` called `section`.
fn elements_of<'x>(node: Xml<'x>, section: &'x str, element: &'x str) -> impl Iterator<Item = Xml<'x>> {
    let section = child_named(node, section);
    section
        .into_iter()
        .flat_map(|section| section.children())
        .filter(move |child| child.has_tag_name(element))
}

fn type_name(node: Xml<'_>) -> &'static str {
    match node.attribute("type") {
        Some("double" | "DOUBLE") => "real",
        _ => "int",
    }
}

fn named_type(name: &str, span: Span) -> Type {
    Type { kind: TypeKind::Named(name.to_owned()), span }
}
