//! Regular expressions of SMT-LIB, from the syntax tree of the `regex` crate.
//!
//! *Promises* that a whole string matches the result exactly if it matches the pattern;
//! what SMT-LIB cannot say (word boundaries, anchors inside, bytes) is an error.
//! SMT-LIB has no characters above `2FFFF`: classes are cut there.

use regex_syntax::hir::{Class, Hir, HirKind, Look};
use thiserror::Error;

/// The greatest character of an SMT-LIB string.
pub(crate) const MAX_CHAR: char = '\u{2FFFF}';

/// A regular expression over characters; whole strings match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum RegexTree {
    /// Exactly this text.
    Text(String),
    /// One character of these ranges; of no ranges, nothing.
    Chars(Vec<(char, char)>),
    /// These expressions one after the other.
    Concat(Vec<RegexTree>),
    /// Any of these.
    Union(Vec<RegexTree>),
    /// `min` to `max` times.
    Repeat { inner: Box<RegexTree>, min: u32, max: Option<u32> },
}

/// A pattern that cannot be put to a solver.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum UnsolvablePattern {
    /// The text is no regular expression.
    #[error(transparent)]
    Syntax(Box<regex_syntax::Error>),
    /// The pattern has a construct that SMT-LIB lacks.
    #[error("pattern `{pattern}` has {what}, which solvers do not know")]
    Unsupported {
        /// The pattern.
        pattern: String,
        /// The construct.
        what: &'static str,
    },
}

/// Reads `pattern` with the flags a [`Pattern`](ioxide_model::term::Pattern) has.
pub(crate) fn read(pattern: &str) -> Result<RegexTree, UnsolvablePattern> {
    let syntax = |error| UnsolvablePattern::Syntax(Box::new(error));
    let hir = regex_syntax::parse(&format!("(?s:{pattern})")).map_err(syntax)?;
    let unsupported = |what| UnsolvablePattern::Unsupported { pattern: pattern.to_owned(), what };
    convert(strip_anchors(&hir).as_ref().unwrap_or(&hir)).map_err(unsupported)
}

/// Removes anchors at the ends, which are redundant for a whole string.
fn strip_anchors(hir: &Hir) -> Option<Hir> {
    let inner = open_groups(hir);
    let HirKind::Concat(parts) = inner.kind() else { return None };
    let is_look = |part: &Hir, look| *part.kind() == HirKind::Look(look);
    let start = parts.iter().take_while(|part| is_look(part, Look::Start)).count();
    let end = parts.iter().rev().take_while(|part| is_look(part, Look::End)).count();
    let middle = parts.get(start..parts.len().saturating_sub(end)).unwrap_or_default();
    Some(Hir::concat(middle.to_vec()))
}

fn open_groups(hir: &Hir) -> &Hir {
    let mut inner = hir;
    while let HirKind::Capture(group) = inner.kind() {
        inner = &group.sub;
    }
    inner
}

/// Converts a syntax tree; recursion is bounded because the parser refuses deep patterns.
fn convert(hir: &Hir) -> Result<RegexTree, &'static str> {
    let all = |list: &[Hir]| list.iter().map(convert).collect::<Result<Vec<_>, _>>();
    Ok(match hir.kind() {
        HirKind::Empty => RegexTree::Text(String::new()),
        HirKind::Literal(literal) => RegexTree::Text(
            std::str::from_utf8(&literal.0).map_err(|_| "bytes that are not text")?.to_owned(),
        ),
        HirKind::Class(class) => RegexTree::Chars(ranges(class)?),
        HirKind::Look(_) => return Err("an anchor or a word boundary"),
        HirKind::Repetition(repetition) => RegexTree::Repeat {
            inner: Box::new(convert(&repetition.sub)?),
            min: repetition.min,
            max: repetition.max,
        },
        HirKind::Capture(group) => convert(&group.sub)?,
        HirKind::Concat(list) => RegexTree::Concat(all(list)?),
        HirKind::Alternation(list) => RegexTree::Union(all(list)?),
    })
}

fn ranges(class: &Class) -> Result<Vec<(char, char)>, &'static str> {
    match class {
        Class::Unicode(class) => Ok(class
            .ranges()
            .iter()
            .filter(|range| range.start() <= MAX_CHAR)
            .map(|range| (range.start(), range.end().min(MAX_CHAR)))
            .collect()),
        Class::Bytes(class) if class.is_ascii() => Ok(class
            .ranges()
            .iter()
            .map(|range| (char::from(range.start()), char::from(range.end())))
            .collect()),
        Class::Bytes(_) => Err("a class of bytes"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_and_repetitions_are_read() {
        let digits = RegexTree::Chars(vec![('0', '9')]);
        let expected = RegexTree::Repeat { inner: Box::new(digits), min: 2, max: Some(3) };
        assert_eq!(read("[0-9]{2,3}"), Ok(expected.clone()));
        assert_eq!(read("^[0-9]{2,3}$"), Ok(expected));
        assert_eq!(read("ab"), Ok(RegexTree::Text("ab".into())));
    }

    #[test]
    fn what_solvers_do_not_know_is_an_error() {
        assert!(read(r"a\bb").is_err_and(|bad| bad.to_string().contains("word boundary")));
        assert!(read("a(").is_err());
    }
}
