//! Conformance relations: the criteria by which behaviour of a system is a failure.
//!
//! Both look at outputs and silences after suspension traces of the specification (\[FTW05] Def. 6). They differ where
//! a specification may be in several states and only some of them mention an input: ioco goes on with those that do,
//! uioco (\[BRT04]) allows everything from there on. A state that an internal step can
//! leave does not count: it refuses nothing yet. On deterministic specifications, and on those that accept every input
//! in every state, the two are the same; uioco never refutes what ioco allows.

use std::fmt;
use std::str::FromStr;

use crate::sts::Sts;

/// A conformance relation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ConformanceRelation {
    /// An input is specified if some state the specification may be in accepts it.
    #[default]
    Ioco,
    /// An input is specified if every state the specification may be in accepts it, those apart that an
    /// internal step can leave.
    Uioco,
}

impl ConformanceRelation {
    /// Both relations, the default first.
    pub const ALL: [Self; 2] = [Self::Ioco, Self::Uioco];

    /// Returns the default relation for `sts`: ioco, and uioco for a system made of parts. Hidden steps of the parts
    /// leave such a system in several states, and the input of one part is not forbidden because another part is still
    /// on its way.
    #[must_use]
    pub fn usual(sts: &Sts) -> Self {
        if sts.composition.is_some() { Self::Uioco } else { Self::Ioco }
    }

    /// Returns the name of the relation in texts and files.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Ioco => "ioco",
            Self::Uioco => "uioco",
        }
    }
}

impl fmt::Display for ConformanceRelation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// The error that a text, held here, names no relation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownRelation(pub String);

impl fmt::Display for UnknownRelation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = ConformanceRelation::ALL.map(ConformanceRelation::word).join(", ");
        write!(f, "unknown relation `{}`; there are {words}", self.0)
    }
}

impl std::error::Error for UnknownRelation {}

impl FromStr for ConformanceRelation {
    type Err = UnknownRelation;

    fn from_str(text: &str) -> Result<Self, UnknownRelation> {
        let named = Self::ALL.into_iter().find(|relation| relation.word() == text);
        named.ok_or_else(|| UnknownRelation(text.to_owned()))
    }
}
