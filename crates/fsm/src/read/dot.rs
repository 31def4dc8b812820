//! DOT in the dialects of the public benchmark collections.
//!
//! Edges are transitions, labelled `input/output` or `input / output`. The
//! initial state is the target of the edge without label from a node whose
//! name starts with `__start`, else the node coloured red, else the first node.
//! Attributes of any other kind, subgraph braces and comments are skipped.

use rustc_hash::FxHashSet;

use crate::error::ReadError;
use crate::mealy::{Listing, Row};

/// Reads the machine of a DOT graph.
pub fn dot(text: &str) -> Result<Listing, ReadError> {
    let tokens = tokens(text)?;
    let mut reader = Reader { tokens: &tokens, at: 0, graph: Graph::default() };
    reader.header()?;
    reader.statements()?;
    reader.graph.listing()
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    Id(String),
    Arrow,
    Mark(char),
}

#[derive(Default)]
struct Graph {
    nodes: Vec<String>,
    start: Option<(usize, String)>,
    red: Option<String>,
    rows: Vec<Row>,
}

impl Graph {
    fn listing(self) -> Result<Listing, ReadError> {
        let Some(first) = self.nodes.first() else {
            return Err(ReadError::new(1, "the graph has no node")
                .hint("write edges like `s0 -> s1 [label=\"a/0\"]`"));
        };
        if let Some((line, start)) = &self.start
            && !self.nodes.contains(start)
        {
            return Err(ReadError::new(*line, format!("initial state `{start}` has no transition")));
        }
        let initial = self.start.map(|(_, node)| node).or(self.red).unwrap_or_else(|| first.clone());
        Ok(Listing { initial, states: self.nodes, rows: self.rows })
    }

    fn node(&mut self, name: &str, seen: &mut FxHashSet<String>) {
        if !name.starts_with("__start") && seen.insert(name.to_owned()) {
            self.nodes.push(name.to_owned());
        }
    }
}

struct Reader<'t> {
    tokens: &'t [(usize, Token)],
    at: usize,
    graph: Graph,
}

impl Reader<'_> {
    /// Everything up to the first `{`, which must say `digraph`.
    fn header(&mut self) -> Result<(), ReadError> {
        let hint = "a machine starts with `digraph g {`";
        let mut directed = false;
        while let Some((line, token)) = self.tokens.get(self.at) {
            self.at += 1;
            match token {
                Token::Mark('{') if directed => return Ok(()),
                Token::Id(word) => directed |= word.eq_ignore_ascii_case("digraph"),
                _ => return Err(ReadError::new(*line, "this is not a directed graph").hint(hint)),
            }
        }
        Err(ReadError::new(1, "this is not a directed graph").hint(hint))
    }

    fn statements(&mut self) -> Result<(), ReadError> {
        let mut seen = FxHashSet::default();
        while self.at < self.tokens.len() {
            self.statement(&mut seen)?;
        }
        Ok(())
    }

    fn statement(&mut self, seen: &mut FxHashSet<String>) -> Result<(), ReadError> {
        let (line, token) = &self.tokens[self.at];
        self.at += 1;
        let first = match token {
            Token::Id(word) => word.clone(),
            Token::Mark('{' | '}' | ';' | ',') => return Ok(()),
            Token::Mark('[') => {
                self.at -= 1;
                return self.attributes().map(|_| ());
            }
            Token::Mark(mark) => return Err(ReadError::new(*line, format!("unexpected `{mark}`"))),
            Token::Arrow => return Err(ReadError::new(*line, "an edge needs a node before `->`")),
        };
        if self.take(&Token::Mark('=')) {
            self.at += 1;
            return Ok(());
        }
        let mut path = vec![first];
        while self.take(&Token::Arrow) {
            match self.tokens.get(self.at) {
                Some((_, Token::Id(word))) => path.push(word.clone()),
                _ => return Err(ReadError::new(*line, "an edge needs a node after `->`")),
            }
            self.at += 1;
        }
        let attributes = self.attributes()?;
        if path.len() == 1 {
            self.node(&path[0], &attributes, seen)
        } else {
            self.edges(*line, &path, &attributes, seen)?
        }
        Ok(())
    }

    fn node(&mut self, name: &str, attributes: &[(String, String)], seen: &mut FxHashSet<String>) {
        if matches!(name, "node" | "edge" | "graph" | "subgraph" | "strict") || name.starts_with("cluster") {
            return;
        }
        self.graph.node(name, seen);
        if attributes.iter().any(|(key, value)| key == "color" && value == "red") {
            self.graph.red.get_or_insert(name.to_owned());
        }
    }

    fn edges(
        &mut self,
        line: usize,
        path: &[String],
        attributes: &[(String, String)],
        seen: &mut FxHashSet<String>,
    ) -> Result<(), ReadError> {
        let label = attributes.iter().find(|(key, _)| key == "label").map_or("", |(_, value)| value.as_str());
        for pair in path.windows(2) {
            if pair[0].starts_with("__start") {
                self.graph.start.get_or_insert((line, pair[1].clone()));
                continue;
            }
            let Some((input, output)) = split_label(label) else {
                let message = format!("edge `{} -> {}` is labelled `{label}`", pair[0], pair[1]);
                return Err(ReadError::new(line, message).hint("write `label=\"input/output\"`"));
            };
            self.graph.node(&pair[0], seen);
            self.graph.node(&pair[1], seen);
            let (from, to) = (pair[0].clone(), pair[1].clone());
            self.graph.rows.push(Row { from, input: input.into(), output: output.into(), to });
        }
        Ok(())
    }

    /// The `[key=value …]` lists that follow, if any.
    fn attributes(&mut self) -> Result<Vec<(String, String)>, ReadError> {
        let mut attributes = Vec::new();
        while self.take(&Token::Mark('[')) {
            let open = self.tokens[self.at - 1].0;
            while !self.take(&Token::Mark(']')) {
                let Some((_, token)) = self.tokens.get(self.at) else {
                    return Err(ReadError::new(open, "`[` is never closed"));
                };
                self.at += 1;
                let Token::Id(key) = token else { continue };
                let mut value = String::new();
                if self.take(&Token::Mark('='))
                    && let Some((_, Token::Id(word))) = self.tokens.get(self.at)
                {
                    value.clone_from(word);
                    self.at += 1;
                }
                attributes.push((key.clone(), value));
            }
        }
        Ok(attributes)
    }

    fn take(&mut self, token: &Token) -> bool {
        let found = self.tokens.get(self.at).is_some_and(|(_, next)| next == token);
        self.at += usize::from(found);
        found
    }
}

/// `input / output` at the spaced slash if there is one, else at the first.
fn split_label(label: &str) -> Option<(&str, &str)> {
    let (input, output) = label.split_once(" / ").or_else(|| label.split_once('/'))?;
    Some((input.trim(), output.trim()))
}

fn tokens(text: &str) -> Result<Vec<(usize, Token)>, ReadError> {
    let mut tokens = Vec::new();
    let mut rest = text;
    let mut line = 1;
    while let Some(first) = rest.chars().next() {
        let (token, length) = match first {
            '"' => quoted(rest, line)?,
            '#' => (None, rest.find('\n').unwrap_or(rest.len())),
            _ if rest.starts_with("//") => (None, rest.find('\n').unwrap_or(rest.len())),
            _ if rest.starts_with("/*") => (None, rest.find("*/").map_or(rest.len(), |end| end + 2)),
            _ if rest.starts_with("->") => (Some(Token::Arrow), 2),
            _ if is_word(first) => word(rest),
            _ if first.is_whitespace() => (None, first.len_utf8()),
            _ => (Some(Token::Mark(first)), first.len_utf8()),
        };
        let (taken, after) = rest.split_at(length);
        tokens.extend(token.map(|token| (line, token)));
        line += taken.matches('\n').count();
        rest = after;
    }
    Ok(tokens)
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '.' | ':' | '+' | '$' | '@' | '?' | '!' | '\'')
}

fn word(rest: &str) -> (Option<Token>, usize) {
    let length = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
    (Some(Token::Id(rest[..length].to_owned())), length)
}

fn quoted(rest: &str, line: usize) -> Result<(Option<Token>, usize), ReadError> {
    let mut value = String::new();
    let mut chars = rest.char_indices().skip(1);
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Ok((Some(Token::Id(value)), at + 1)),
            '\\' => match chars.next() {
                Some((_, '\n')) | None => (),
                Some((_, escaped @ ('"' | '\\'))) => value.push(escaped),
                Some((_, other)) => value.extend(['\\', other]),
            },
            _ => value.push(c),
        }
    }
    Err(ReadError::new(line, "a quoted text is never closed").hint("add the missing `\"`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, initial: &str, rows: &[&str]) {
        let listing = dot(text).unwrap();
        assert_eq!(listing.initial, initial);
        let shown: Vec<String> =
            listing.rows.iter().map(|r| format!("{} {}/{} {}", r.from, r.input, r.output, r.to)).collect();
        assert_eq!(shown, rows);
    }

    #[test]
    fn the_start_node_points_at_the_initial_state() {
        check(
            "digraph g {\n__start0 [label=\"\" shape=\"none\"];\n s0 [shape=\"circle\" label=\"s0\"];\n\
             s1 -> s0 [label=\"a / b/c\"]; s0 -> s1[label=\"c/d\"]\n__start0 -> s1;\n}",
            "s1",
            &["s1 a/b/c s0", "s0 c/d s1"],
        );
    }

    #[test]
    fn a_red_node_is_initial_when_nothing_else_is() {
        check(
            "digraph G {\nlabel=\"\"\ns0\ns1 [color=\"red\"]\ns0 [label=\"s0\"];\n/* x */ s0 -> s1[label=\"a/0\"] // y\n}",
            "s1",
            &["s0 a/0 s1"],
        );
        check("digraph { a -> b [label=\"x/0\"] # end\n}", "a", &["a x/0 b"]);
    }

    #[test]
    fn quoted_names_and_escapes_are_kept() {
        check(
            "digraph { node [shape=box]; subgraph cluster_0 { \"s 1\" } \"s 1\" -> \"s\\\"2\" [color=red, label=\"i/o\"] }",
            "s 1",
            &["s 1 i/o s\"2"],
        );
    }

    #[test]
    fn errors_name_the_line_and_help() {
        let text = |text: &str| dot(text).unwrap_err().to_string();
        assert_eq!(
            text("digraph {\na -> b [label=\"x\"]\n}"),
            "line 2: edge `a -> b` is labelled `x` (help: write `label=\"input/output\"`)"
        );
        assert_eq!(
            text("graph { }"),
            "line 1: this is not a directed graph (help: a machine starts with `digraph g {`)"
        );
        assert_eq!(
            text("digraph {\n \"a"),
            "line 2: a quoted text is never closed (help: add the missing `\"`)"
        );
        assert_eq!(text("digraph { a -> }"), "line 1: an edge needs a node after `->`");
        assert_eq!(text("digraph {\n a [label=\"x\""), "line 2: `[` is never closed");
        assert_eq!(text("digraph {\n__start0 -> q;\n s0\n}"), "line 2: initial state `q` has no transition");
        assert!(text("digraph { }").contains("no node"));
    }
}
