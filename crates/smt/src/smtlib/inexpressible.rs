//! Terms that SMT-LIB cannot express.

use thiserror::Error;

use crate::regex::UnsolvablePattern;
use crate::solver::UnknownReason;

/// A term that has no text in SMT-LIB.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SmtInexpressible {
    /// A string has a character outside those of SMT-LIB.
    #[error("character U+{:X} is beyond what solvers support", u32::from(*.0))]
    Character(char),
    /// A pattern has no equivalent in SMT-LIB.
    #[error(transparent)]
    Pattern(#[from] UnsolvablePattern),
    /// A list, set or map, or an operation on one.
    #[error("collections must be made scalar before a solver sees them")]
    Collection,
    /// A recursive type with ranges inside, by name: no formula says that all of them hold.
    #[error("type `{0}` is recursive and contains ranges, which solvers cannot express")]
    RangesInside(String),
    /// A field is selected from a term that has none.
    #[error("a field of what is not data")]
    FieldOfNoData,
}

impl From<SmtInexpressible> for UnknownReason {
    fn from(error: SmtInexpressible) -> Self {
        Self::Error(error.to_string())
    }
}
