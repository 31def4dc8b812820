//! Mealy machines in DOT, as public benchmark collections write them.
//!
//! An edge `s -> t [label="in / out"]` becomes two switches: the input leads from `s` to
//! an intermediate location named `s/in`, the output from there to `t`. Edges of one state
//! with the same input share the intermediate location, so a nondeterministic machine
//! has one input switch and several output switches there.
//!
//! The initial state is the target of the arrow from `__start0`; without such an arrow the
//! first state mentioned. Attributes other than edge labels are ignored.

use std::sync::Arc;

use indexmap::{IndexMap, IndexSet};
use ioxide_model::code::Code;
use ioxide_model::diag::Diagnostic;
use ioxide_model::index::{Idx, IndexVec};
use ioxide_model::source::{FileId, Span};
use ioxide_model::sts::{Gate, GateId, GateKind, LocId, Location, Model, Sts, Switch};
use ioxide_model::term::TermPool;
use rustc_hash::FxBuildHasher;

use crate::sink::Sink;
use crate::{Options, lower};

/// The model of a Mealy machine.
pub(crate) fn load(text: &str, file: FileId, options: &Options, sink: &mut Sink) -> Option<Model> {
    let mut parser = Parser { tokens: tokenise(text, file), position: 0, graph: Graph::default() };
    if let Err(wrong) = parser.graph() {
        sink.push(*wrong);
        return None;
    }
    let graph = parser.graph;
    let start = Span::new(file, 0, 0);
    for (name, _) in &options.overrides {
        sink.error(|| lower::unknown_constant(name, start, std::iter::empty()));
    }
    machine(&graph, start, sink)
}

// The machine.

/// What a DOT file says.
#[derive(Default)]
struct Graph {
    name: String,
    /// States in the order in which they are mentioned, with that place.
    states: IndexMap<String, Span, FxBuildHasher>,
    edges: Vec<Edge>,
    initial: Option<String>,
}

struct Edge {
    from: String,
    to: String,
    label: String,
    span: Span,
}

fn machine(graph: &Graph, start: Span, sink: &mut Sink) -> Option<Model> {
    let initial = graph.initial.as_ref().or_else(|| graph.states.keys().next());
    let Some(initial) = initial else {
        sink.push(
            Diagnostic::new(Code::NoInitialState, start, "the machine has no state")
                .help("add edges such as `s0 -> s1 [label=\"in / out\"];`"),
        );
        return None;
    };
    let name = if graph.name.is_empty() { "Machine" } else { &graph.name };
    let mut builder = Builder {
        sts: Sts::new(name, initial, start),
        pool: TermPool::new(),
        inputs: IndexMap::default(),
        outputs: IndexMap::default(),
        between: IndexMap::default(),
        seen: IndexSet::default(),
    };
    builder.sts.locations = IndexVec::new();
    for (state, &span) in &graph.states {
        builder.location(state, span);
    }
    builder.sts.initial = LocId::new(graph.states.get_index_of(initial).unwrap_or(0));
    for edge in &graph.edges {
        match split_label(&edge.label) {
            Some((input, output)) => builder.edge(graph, edge, input, output),
            None => sink.error(|| {
                Diagnostic::new(
                    Code::BadMealyLabel,
                    edge.span,
                    format!("`{}` is not `input / output`", edge.label),
                )
                .help("write `label=\"input / output\"`, with spaces around `/` if a name holds one")
            }),
        }
    }
    Some(Model { pool: builder.pool, sts: builder.sts })
}

/// Input and output of an edge: split at ` / ` if that occurs once, else at the only `/`.
fn split_label(label: &str) -> Option<(&str, &str)> {
    let sign = if label.matches(" / ").count() == 1 { " / " } else { "/" };
    if sign == "/" && label.matches('/').count() != 1 {
        return None;
    }
    let (input, output) = label.split_once(sign)?;
    let (input, output) = (input.trim(), output.trim());
    (!input.is_empty() && !output.is_empty()).then_some((input, output))
}

struct Builder {
    sts: Sts,
    pool: TermPool,
    inputs: IndexMap<String, GateId, FxBuildHasher>,
    outputs: IndexMap<String, GateId, FxBuildHasher>,
    /// The location between a state's input and its outputs.
    between: IndexMap<(usize, GateId), LocId, FxBuildHasher>,
    seen: IndexSet<(LocId, GateId, LocId), FxBuildHasher>,
}

impl Builder {
    fn location(&mut self, name: &str, span: Span) -> LocId {
        self.sts.locations.push(Location { name: name.into(), span, doc: String::new() })
    }

    fn edge(&mut self, graph: &Graph, edge: &Edge, input: &str, output: &str) {
        let position = |state: &str| graph.states.get_index_of(state).unwrap_or(0);
        let (from, to) = (position(&edge.from), position(&edge.to));
        let input_gate = self.gate(input, GateKind::Input, edge.span);
        let output_gate = self.gate(output, GateKind::Output, edge.span);
        let middle = match self.between.get(&(from, input_gate)) {
            Some(&middle) => middle,
            None => {
                let name = format!("{}/{input}", edge.from);
                let middle = self.location(&name, edge.span);
                self.between.insert((from, input_gate), middle);
                self.switch(name.into(), LocId::new(from), input_gate, middle, edge.span);
                middle
            }
        };
        let to = LocId::new(to);
        if self.seen.insert((middle, output_gate, to)) {
            let label = format!("{}/{input}/{output}/{}", edge.from, edge.to);
            self.switch(label.into(), middle, output_gate, to, edge.span);
        }
    }

    fn gate(&mut self, name: &str, kind: GateKind, span: Span) -> GateId {
        let table = if kind == GateKind::Input { &mut self.inputs } else { &mut self.outputs };
        if let Some(&gate) = table.get(name) {
            return gate;
        }
        let gate = Gate { name: name.into(), kind, fields: Vec::new(), span, doc: String::new() };
        let gate = self.sts.gates.push(gate);
        table.insert(name.to_owned(), gate);
        gate
    }

    fn switch(&mut self, label: Arc<str>, source: LocId, gate: GateId, target: LocId, span: Span) {
        let guard = self.pool.tt();
        self.sts.switches.push(Switch {
            label,
            source,
            gate,
            guard,
            update: Vec::new(),
            resets: Vec::new(),
            target,
            span,
            doc: String::new(),
            reqs: Vec::new(),
            weight: 1,
            range_check: None,
        });
    }
}

// The text.

#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    /// A name, number or string.
    Id(String),
    Arrow,
    Sign(char),
    /// A string or comment that does not end.
    Open,
    End,
}

/// The tokens of `text`, closed by [`Token::End`].
fn tokenise(text: &str, file: FileId) -> Vec<(Token, Span)> {
    let mut tokens = Vec::new();
    let mut rest = text;
    let mut line_start = true;
    while let Some(first) = rest.chars().next() {
        let at = text.len() - rest.len();
        let (token, len) = match first {
            '\n' => (None, 1),
            c if c.is_whitespace() || c == '\u{feff}' => (None, c.len_utf8()),
            '#' if line_start => (None, rest.find('\n').unwrap_or(rest.len())),
            '/' if rest.starts_with("//") => (None, rest.find('\n').unwrap_or(rest.len())),
            '/' if rest.starts_with("/*") => match rest.find("*/") {
                Some(end) => (None, end + 2),
                None => (Some(Token::Open), rest.len()),
            },
            '-' if rest.starts_with("->") => (Some(Token::Arrow), 2),
            '"' => quoted(rest),
            '<' => match html_end(rest) {
                Some(end) => (Some(Token::Id(rest[1..end - 1].to_owned())), end),
                None => (Some(Token::Open), rest.len()),
            },
            c if is_id(c) => {
                let len = rest.find(|c| !is_id(c)).unwrap_or(rest.len());
                (Some(Token::Id(rest[..len].to_owned())), len)
            }
            c => (Some(Token::Sign(c)), c.len_utf8()),
        };
        line_start = first == '\n' || (line_start && first.is_whitespace());
        rest = &rest[len..];
        tokens.extend(token.map(|token| (token, Span::new(file, at, at + len))));
    }
    tokens.push((Token::End, Span::new(file, text.len(), text.len())));
    tokens
}

fn is_id(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '.')
}

/// A string at the start of `rest` and its length; `\"` is a quotation mark.
fn quoted(rest: &str) -> (Option<Token>, usize) {
    let mut value = String::new();
    let mut chars = rest.char_indices().skip(1).peekable();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return (Some(Token::Id(value)), at + 1),
            '\\' if chars.peek().is_some_and(|(_, next)| *next == '"') => {
                value.push('"');
                chars.next();
            }
            c => value.push(c),
        }
    }
    (Some(Token::Open), rest.len())
}

/// One past the end of an HTML-like string at the start of `rest`.
fn html_end(rest: &str) -> Option<usize> {
    let mut depth = 0usize;
    for (at, c) in rest.char_indices() {
        match c {
            '<' => depth += 1,
            '>' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(at + 1);
        }
    }
    None
}

struct Parser {
    tokens: Vec<(Token, Span)>,
    position: usize,
    graph: Graph,
}

type Parse<T> = Result<T, Box<Diagnostic>>;

impl Parser {
    fn token(&self) -> &Token {
        &self.tokens[self.position].0
    }

    fn span(&self) -> Span {
        self.tokens[self.position].1
    }

    fn bump(&mut self) {
        self.position = (self.position + 1).min(self.tokens.len() - 1);
    }

    fn eat(&mut self, token: &Token) -> bool {
        let found = self.token() == token;
        if found {
            self.bump();
        }
        found
    }

    fn expect(&mut self, sign: char) -> Parse<()> {
        if self.eat(&Token::Sign(sign)) { Ok(()) } else { self.unexpected(&format!("`{sign}`")) }
    }

    fn unexpected<T>(&self, expected: &str) -> Parse<T> {
        let found = match self.token() {
            Token::Id(text) => format!("`{}`", text.chars().take(24).collect::<String>()),
            Token::Arrow => "`->`".into(),
            Token::Sign(c) => format!("`{c}`"),
            Token::Open => "a string or comment that does not end".into(),
            Token::End => "the end of the text".into(),
        };
        let message = format!("expected {expected}, found {found}");
        Err(Box::new(Diagnostic::new(Code::BadDot, self.span(), message)))
    }

    fn id(&mut self, expected: &str) -> Parse<String> {
        let Token::Id(text) = self.token() else { return self.unexpected(expected) };
        let text = text.clone();
        self.bump();
        Ok(text)
    }

    fn at_word(&self, word: &str) -> bool {
        matches!(self.token(), Token::Id(text) if text.eq_ignore_ascii_case(word))
    }

    /// `strict digraph name { statements }`
    fn graph(&mut self) -> Parse<()> {
        if self.at_word("strict") {
            self.bump();
        }
        if !self.at_word("digraph") {
            return self.unexpected("`digraph`");
        }
        self.bump();
        if let Token::Id(name) = self.token() {
            self.graph.name = name.clone();
            self.bump();
        }
        self.expect('{')?;
        let mut depth = 1;
        while depth > 0 {
            match self.token() {
                Token::Sign('}') => depth -= 1,
                Token::Sign('{') => depth += 1,
                Token::Sign(';' | ',') => {}
                _ if self.at_word("subgraph") => {
                    self.bump();
                    if let Token::Id(_) = self.token() {
                        self.bump();
                    }
                    continue;
                }
                _ => {
                    self.statement()?;
                    continue;
                }
            }
            self.bump();
        }
        Ok(())
    }

    /// A node, an edge or an attribute.
    fn statement(&mut self) -> Parse<()> {
        let start = self.span();
        let first = self.id("a node or an edge")?;
        if self.eat(&Token::Sign('=')) {
            self.id("a value")?;
            return Ok(());
        }
        let mut nodes = vec![(first, start)];
        self.port()?;
        while self.eat(&Token::Arrow) {
            let span = self.span();
            nodes.push((self.id("a node")?, span));
            self.port()?;
        }
        let label = self.attributes()?;
        if let [(only, _)] = &nodes[..] {
            if !matches!(only.as_str(), "node" | "edge" | "graph") && !is_start(only) {
                self.graph.states.entry(only.clone()).or_insert(start);
            }
            return Ok(());
        }
        let span = start.to(self.tokens[self.position.saturating_sub(1)].1);
        self.edges(&nodes, label.as_ref(), span);
        Ok(())
    }

    fn edges(&mut self, nodes: &[(String, Span)], label: Option<&String>, span: Span) {
        for (node, place) in nodes.iter().filter(|(node, _)| !is_start(node)) {
            self.graph.states.entry(node.clone()).or_insert(*place);
        }
        for pair in nodes.windows(2) {
            let [(from, _), (to, _)] = pair else { continue };
            if is_start(from) {
                self.graph.initial.get_or_insert_with(|| to.clone());
                continue;
            }
            let (from, to) = (from.clone(), to.clone());
            self.graph.edges.push(Edge { from, to, label: label.cloned().unwrap_or_default(), span });
        }
    }

    /// `node:port`, ignored.
    fn port(&mut self) -> Parse<()> {
        while self.eat(&Token::Sign(':')) {
            self.id("a port")?;
        }
        Ok(())
    }

    /// `[name=value, ...]`, any number of times; the label if there is one.
    fn attributes(&mut self) -> Parse<Option<String>> {
        let mut label = None;
        while self.eat(&Token::Sign('[')) {
            while !self.eat(&Token::Sign(']')) {
                if self.eat(&Token::Sign(',')) || self.eat(&Token::Sign(';')) {
                    continue;
                }
                let name = self.id("`]` or an attribute")?;
                if self.eat(&Token::Sign('=')) {
                    let value = self.id("a value")?;
                    label = if name == "label" { Some(value) } else { label };
                }
            }
        }
        Ok(label)
    }
}

/// Whether a node only marks the initial state.
fn is_start(node: &str) -> bool {
    node.starts_with("__start")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(label: &str, expected: Option<(&str, &str)>) {
        assert_eq!(split_label(label), expected, "{label:?}");
    }

    #[test]
    fn a_label_is_split_at_its_only_slash_or_at_the_spaced_one() {
        check("a/0", Some(("a", "0")));
        check("a / 0", Some(("a", "0")));
        check("GET /x / 200", Some(("GET /x", "200")));
        check("a", None);
        check("a/b/c", None);
        check("a /", None);
    }
}
