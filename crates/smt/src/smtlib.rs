//! SMT-LIB 2 solvers as child processes: writing and reading the language, and supervising the process.

mod data_types;
mod inexpressible;
pub mod process;
pub mod read;
pub mod write;

pub use self::inexpressible::SmtInexpressible;
pub use crate::regex::UnsolvablePattern;
