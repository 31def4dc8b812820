//! DOT in the dialects of the public benchmark collections: the one reader of machines in DOT.
//!
//! | what | how it is read |
//! | --- | --- |
//! | a transition | an edge `s -> t` labelled `input/output`; `s -> t -> u [label=…]` are two |
//! | a label | `input / output` or `input/output`; see below |
//! | the initial state | the target of the arrow from `__start0`; see below |
//! | a state | a node, under its name; its label is a picture and not read |
//! | `edge [label=…]` | the label of the edges after it, up to the end of its braces |
//! | other attributes, ports, braces of subgraphs, comments | nothing |
//!
//! In a label the input ends at the first ` / ` with spaces around it, else at the first `/`: `a/b/c` is input `a`,
//! output `b/c`; `GET /x / 200` is input `GET /x`, output `200`. The arrow to the initial state starts at any node
//! whose name starts with `__start`. Without such an arrow the first node coloured red is the initial one, else the
//! node that is named first.
//!
//! *Promises.* Any text is read or refused with the place; what is between two places that a machine
//! cannot have (an edge without a label, two initial states, text after the graph) is refused, never guessed.

mod lex;

use std::collections::BTreeMap;

use self::lex::{DotToken, tokenize};
use super::{MachineText, TextPlace};
use crate::error::{ReadError, ReadErrorKind};
use crate::mealy::{MachineListing, TransitionRow};

const EXAMPLE: &str = "write edges like `s0 -> s1 [label=\"in / out\"];`";
const DIGRAPH: &str = "a machine starts with `digraph g {`";

/// Reads the machine of a DOT graph.
pub fn read_dot(text: &str) -> Result<MachineListing, ReadError> {
    super::read(super::MachineFormat::Dot, text)
}

/// As [`read_dot`], with the places, or with every label that is wrong.
pub(super) fn read_dot_with_places(text: &str) -> Result<MachineText, Vec<ReadError>> {
    let tokens = tokenize(text);
    let (graph, labels) = (DotGraph::default(), vec![None]);
    let mut reader = DotReader { text, tokens: &tokens, at: 0, graph, labels };
    let end = reader.parse_graph();
    // Wrong labels are collected and reported together. An error of the syntax ends the reading and comes
    // behind them.
    let mut wrong = std::mem::take(&mut reader.graph.wrong);
    wrong.extend(end.err());
    if wrong.is_empty() {
        reader.graph.into_machine_text(text).map_err(|error| vec![error])
    } else {
        Err(wrong)
    }
}

/// The parts of a DOT graph read so far.
#[derive(Default)]
struct DotGraph {
    name: Option<String>,
    /// States in the order in which they are named, with that place.
    states: Vec<(String, TextPlace)>,
    known: BTreeMap<String, usize>,
    start: Option<(String, TextPlace)>,
    red: Option<String>,
    rows: Vec<(TransitionRow, TextPlace)>,
    /// Edges whose label is wrong.
    wrong: Vec<ReadError>,
}

impl DotGraph {
    fn add_state(&mut self, name: &str, place: &TextPlace) {
        if !self.known.contains_key(name) {
            self.known.insert(name.to_owned(), self.states.len());
            self.states.push((name.to_owned(), place.clone()));
        }
    }

    fn into_machine_text(self, text: &str) -> Result<MachineText, ReadError> {
        let Some((first, _)) = self.states.first() else {
            return Err(ReadError::new(text, 0..0, "the graph has no state")
                .with_kind(ReadErrorKind::Empty)
                .with_hint(EXAMPLE));
        };
        // A start that no edge and no node names is refused: the name may be misspelt.
        if let Some((start, place)) = &self.start
            && !self.known.contains_key(start)
        {
            let message = format!("initial state `{start}` has no transition");
            return Err(ReadError::new(text, place.clone(), message)
                .with_kind(ReadErrorKind::Empty)
                .with_hint("lead the arrow to a state that edges name"));
        }
        let initial = self.start.map(|(state, _)| state).or(self.red).unwrap_or_else(|| first.clone());
        let (states, state_places) = self.states.into_iter().unzip();
        let (rows, row_places) = self.rows.into_iter().unzip();
        let listing = MachineListing { initial, states, rows };
        Ok(MachineText { name: self.name, listing, states: state_places, rows: row_places })
    }
}

/// A node that a statement names, with its place.
type NamedNode = (String, TextPlace);

#[derive(Default)]
struct Attributes {
    label: Option<(String, TextPlace)>,
    is_red: bool,
}

struct DotReader<'t> {
    text: &'t str,
    tokens: &'t [(DotToken, TextPlace)],
    at: usize,
    graph: DotGraph,
    /// The labels that `edge [label=…]` gave, one for each open brace.
    labels: Vec<Option<(String, TextPlace)>>,
}

impl DotReader<'_> {
    fn current_token(&self) -> &DotToken {
        &self.tokens[self.at].0
    }

    fn current_place(&self) -> TextPlace {
        self.tokens[self.at].1.clone()
    }

    /// Goes to the next token; the last one is the end.
    fn bump(&mut self) {
        // The last token is the end and stays, so `current_token` never runs out.
        self.at = (self.at + 1).min(self.tokens.len() - 1);
    }

    fn take_if(&mut self, token: &DotToken) -> bool {
        let found = self.current_token() == token;
        if found {
            self.bump();
        }
        found
    }

    fn is_at_word(&self, word: &str) -> bool {
        matches!(self.current_token(), DotToken::Bare(text) if text.eq_ignore_ascii_case(word))
    }

    /// `strict digraph name { statements }` and nothing after it.
    fn parse_graph(&mut self) -> Result<(), ReadError> {
        if self.is_at_word("strict") {
            self.bump();
        }
        if !self.is_at_word("digraph") {
            return Err(self.unexpected_token("`digraph`").with_hint(DIGRAPH));
        }
        self.bump();
        if let DotToken::Bare(name) | DotToken::Quoted(name) = self.current_token() {
            self.graph.name = Some(name.clone()).filter(|name| !name.is_empty());
            self.bump();
        }
        if !self.take_if(&DotToken::Mark('{')) {
            return Err(self.unexpected_token("`{`").with_hint(DIGRAPH));
        }
        // One entry for each open brace: when the stack is empty, the brace of the graph is closed.
        while !self.labels.is_empty() {
            self.parse_statement()?;
        }
        match self.current_token() {
            DotToken::End => Ok(()),
            _ => Err(self.unexpected_token("the end of the text").with_hint("a file holds one graph")),
        }
    }

    /// A node, an edge, an attribute, or a brace of a subgraph.
    fn parse_statement(&mut self) -> Result<(), ReadError> {
        match self.current_token() {
            DotToken::Mark(';' | ',') => self.bump(),
            DotToken::Mark('{') => {
                // A subgraph begins with the defaults around it; what it sets ends with its brace.
                self.labels.push(self.labels.last().cloned().flatten());
                self.bump();
            }
            DotToken::Mark('}') => {
                self.labels.pop();
                self.bump();
            }
            DotToken::Bare(word) if word.eq_ignore_ascii_case("subgraph") => {
                self.bump();
                if matches!(self.current_token(), DotToken::Bare(_) | DotToken::Quoted(_)) {
                    self.bump();
                }
            }
            // Only before an attribute list: `node -> x` is an edge of a node called `node`.
            DotToken::Bare(word)
                if sets_defaults(word) && self.tokens[self.at + 1].0 == DotToken::Mark('[') =>
            {
                let is_edge = word.eq_ignore_ascii_case("edge");
                self.bump();
                let given = self.parse_attributes()?.label;
                if let Some(label) = self.labels.last_mut().filter(|_| is_edge && given.is_some()) {
                    *label = given;
                }
            }
            _ => self.parse_named_statement()?,
        }
        Ok(())
    }

    /// A statement that starts with a name.
    fn parse_named_statement(&mut self) -> Result<(), ReadError> {
        let start = self.current_place();
        let first = self.parse_id("a node, an edge or `}`")?;
        // A graph attribute such as `rankdir=LR`, not a node.
        if self.take_if(&DotToken::Mark('=')) {
            return self.parse_id("a value").map(|_| ());
        }
        self.skip_port()?;
        let mut nodes = vec![(first, start.clone())];
        while self.take_if(&DotToken::Arrow) {
            let place = self.current_place();
            nodes.push((self.parse_id("a node")?, place));
            self.skip_port()?;
        }
        if self.current_token() == &DotToken::Line {
            return Err(self
                .unexpected_token("`->`")
                .with_hint("transitions have a direction: write `s0 -> s1`"));
        }
        let attributes = self.parse_attributes()?;
        match &nodes[..] {
            [(node, place)] => self.add_node(node, place, &attributes),
            _ => {
                let end = self.tokens[self.at - 1].1.end;
                return self.add_edges(&nodes, &attributes, &(start.start..end));
            }
        }
        Ok(())
    }

    fn add_node(&mut self, name: &str, place: &TextPlace, attributes: &Attributes) {
        if is_start_marker(name) {
            return;
        }
        self.graph.add_state(name, place);
        if attributes.is_red {
            self.graph.red.get_or_insert_with(|| name.to_owned());
        }
    }

    fn add_edges(
        &mut self,
        nodes: &[NamedNode],
        attributes: &Attributes,
        place: &TextPlace,
    ) -> Result<(), ReadError> {
        for pair in nodes.windows(2) {
            let [from, to] = pair else { continue };
            // The marker is no state, and its edge needs no label.
            if is_start_marker(&from.0) {
                self.set_initial(to)?;
                continue;
            }
            self.graph.add_state(&from.0, &from.1);
            self.graph.add_state(&to.0, &to.1);
            // A wrong label does not end the reading, so that all of them are reported.
            match self.edge_label(attributes, place) {
                Ok((input, output)) => {
                    let row = TransitionRow { from: from.0.clone(), input, output, to: to.0.clone() };
                    self.graph.rows.push((row, place.clone()));
                }
                Err(error) => self.graph.wrong.push(error),
            }
        }
        Ok(())
    }

    fn set_initial(&mut self, to: &NamedNode) -> Result<(), ReadError> {
        match &self.graph.start {
            Some((known, _)) if *known != to.0 => {
                let message = format!("a second initial state, `{}`; the first is `{known}`", to.0);
                Err(ReadError::new(self.text, to.1.clone(), message)
                    .with_kind(ReadErrorKind::Empty)
                    .with_hint("a machine starts in one state: remove one of the arrows from `__start`"))
            }
            _ => {
                self.graph.start = Some(to.clone());
                Ok(())
            }
        }
    }

    /// Input and output of an edge.
    fn edge_label(&self, attributes: &Attributes, edge: &TextPlace) -> Result<(String, String), ReadError> {
        let default = self.labels.last().and_then(Option::as_ref);
        let wrong = |place: &TextPlace, message: String| {
            Err(ReadError::new(self.text, place.clone(), message)
                .with_kind(ReadErrorKind::Label)
                .with_hint("write `label=\"input / output\"`"))
        };
        let Some((label, place)) = attributes.label.as_ref().or(default) else {
            return wrong(edge, "this edge has no label".to_owned());
        };
        match split_label(label) {
            Some((input, output)) => Ok((input.to_owned(), output.to_owned())),
            None => wrong(place, format!("`{label}` is not `input / output`")),
        }
    }

    /// `node:port`, ignored.
    fn skip_port(&mut self) -> Result<(), ReadError> {
        while self.take_if(&DotToken::Mark(':')) {
            self.parse_id("a port")?;
        }
        Ok(())
    }

    /// The `[key=value …]` lists that follow, if any.
    fn parse_attributes(&mut self) -> Result<Attributes, ReadError> {
        let mut attributes = Attributes::default();
        while self.take_if(&DotToken::Mark('[')) {
            while !self.take_if(&DotToken::Mark(']')) {
                if self.take_if(&DotToken::Mark(',')) || self.take_if(&DotToken::Mark(';')) {
                    continue;
                }
                let key = self.parse_id("`]` or an attribute")?;
                if self.take_if(&DotToken::Mark('=')) {
                    let place = self.current_place();
                    let value = self.parse_id("a value")?;
                    match key.as_str() {
                        "label" => attributes.label = Some((value, place)),
                        "color" => attributes.is_red = value == "red",
                        _ => (),
                    }
                }
            }
        }
        Ok(attributes)
    }

    fn parse_id(&mut self, expected: &str) -> Result<String, ReadError> {
        let (DotToken::Bare(text) | DotToken::Quoted(text)) = self.current_token() else {
            return Err(self.unexpected_token(expected));
        };
        let text = text.clone();
        self.bump();
        Ok(text)
    }

    fn unexpected_token(&self, expected: &str) -> ReadError {
        let found = match self.current_token() {
            DotToken::Bare(text) | DotToken::Quoted(text) => {
                format!("`{}`", text.chars().take(24).collect::<String>())
            }
            DotToken::Arrow => "`->`".into(),
            DotToken::Line => "`--`".into(),
            DotToken::Mark(mark) => format!("`{mark}`"),
            DotToken::Open(what) => format!("a {what} that does not end"),
            DotToken::End => "the end of the text".into(),
        };
        ReadError::new(self.text, self.current_place(), format!("expected {expected}, found {found}"))
    }
}

/// Returns whether `word` is a keyword whose attribute list sets defaults.
fn sets_defaults(word: &str) -> bool {
    ["node", "edge", "graph"].iter().any(|keyword| word.eq_ignore_ascii_case(keyword))
}

/// Returns whether a node only marks the initial state.
fn is_start_marker(node: &str) -> bool {
    node.starts_with("__start")
}

/// `input / output` at the first spaced slash if there is one, else at the first; neither is empty.
pub fn split_label(label: &str) -> Option<(&str, &str)> {
    let (input, output) = label.split_once(" / ").or_else(|| label.split_once('/'))?;
    let (input, output) = (input.trim(), output.trim());
    (!input.is_empty() && !output.is_empty()).then_some((input, output))
}
