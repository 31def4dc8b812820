//! Regular expressions of SMT-LIB, from the syntax tree of the `regex` crate.
//!
//! *Promises* that a whole string matches the result exactly if it matches the pattern;
//! what SMT-LIB cannot say (word boundaries, anchors inside, bytes) is an error.
//! SMT-LIB has no characters above `2FFFF`: classes are cut there. That loses no string as long as others stand for
//! those above: whatever holds of a text with such characters then holds of one with others in their place. Patterns
//! that tell the characters above from all others are an error, too.

mod doubles;

use ioxide_model::term::TermPool;
use regex_syntax::hir::{Class, Hir, HirKind, Look};
use thiserror::Error;

use self::doubles::{have_enough_alike, pattern_classes};

/// The greatest character of an SMT-LIB string.
pub(crate) const MAX_CHAR: char = '\u{2FFFF}';

/// A regular expression over characters; whole strings match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RegexTree {
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
    #[error("pattern `{pattern}` has {what}, which solvers do not support")]
    Unsupported {
        /// The pattern.
        pattern: String,
        /// The construct.
        what: &'static str,
    },
}

/// Reads `pattern` with the flags a [`Pattern`] has, for questions that may have any patterns of `pool`.
///
/// [`Pattern`]: ioxide_model::term::Pattern
pub fn read_pattern(pool: &TermPool, pattern: &str) -> Result<RegexTree, UnsolvablePattern> {
    let hir = parse_hir(pattern)?;
    let unsupported = |what| UnsolvablePattern::Unsupported { pattern: pattern.to_owned(), what };
    let others = pool.patterns().filter(|other| *other.text != *pattern);
    // Patterns that cannot be read with themselves alone are in no question.
    let others = others.filter_map(|other| parse_hir(&other.text).ok()).map(|other| pattern_classes(&other));
    // A question may compare a text with several patterns, so the characters that stand for those above must be alike
    // for all of them at once.
    let others = others.filter(|classes| have_enough_alike(classes.iter()));
    let (own, others): (Vec<_>, Vec<_>) = (pattern_classes(&hir), others.collect());
    if !have_enough_alike(own.iter()) || !have_enough_alike(own.iter().chain(others.iter().flatten())) {
        return Err(unsupported("characters above U+2FFFF"));
    }
    convert_hir(strip_anchors(&hir).as_ref().unwrap_or(&hir)).map_err(unsupported)
}

/// Parses a pattern in which a dot matches line ends too, as in values.
fn parse_hir(pattern: &str) -> Result<Hir, UnsolvablePattern> {
    regex_syntax::parse(&format!("(?s:{pattern})"))
        .map_err(|error| UnsolvablePattern::Syntax(Box::new(error)))
}

/// Removes anchors at the ends, which are redundant for a whole string.
fn strip_anchors(hir: &Hir) -> Option<Hir> {
    let inner = skip_groups(hir);
    let HirKind::Concat(parts) = inner.kind() else { return None };
    let is_look = |part: &Hir, look| *part.kind() == HirKind::Look(look);
    let start = parts.iter().take_while(|part| is_look(part, Look::Start)).count();
    let end = parts.iter().rev().take_while(|part| is_look(part, Look::End)).count();
    let middle = parts.get(start..parts.len().saturating_sub(end)).unwrap_or_default();
    Some(Hir::concat(middle.to_vec()))
}

fn skip_groups(hir: &Hir) -> &Hir {
    let mut inner = hir;
    while let HirKind::Capture(group) = inner.kind() {
        inner = &group.sub;
    }
    inner
}

/// Converts a syntax tree; recursion is bounded because the parser refuses deep patterns.
fn convert_hir(hir: &Hir) -> Result<RegexTree, &'static str> {
    let all = |list: &[Hir]| list.iter().map(convert_hir).collect::<Result<Vec<_>, _>>();
    Ok(match hir.kind() {
        HirKind::Empty => RegexTree::Text(String::new()),
        HirKind::Literal(literal) => RegexTree::Text(
            std::str::from_utf8(&literal.0).map_err(|_| "bytes that are not text")?.to_owned(),
        ),
        HirKind::Class(class) => RegexTree::Chars(class_ranges(class)?),
        HirKind::Look(_) => return Err("an anchor or a word boundary"),
        HirKind::Repetition(repetition) => RegexTree::Repeat {
            inner: Box::new(convert_hir(&repetition.sub)?),
            min: repetition.min,
            max: repetition.max,
        },
        HirKind::Capture(group) => convert_hir(&group.sub)?,
        HirKind::Concat(list) => RegexTree::Concat(all(list)?),
        HirKind::Alternation(list) => RegexTree::Union(all(list)?),
    })
}

fn class_ranges(class: &Class) -> Result<Vec<(char, char)>, &'static str> {
    match class {
        Class::Unicode(class) => Ok(class
            .ranges()
            .iter()
            // What is cut off is represented by others, as `have_enough_alike` made sure.
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
