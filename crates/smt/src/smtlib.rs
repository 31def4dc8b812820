//! Any SMT-LIB 2 solver as a child process: its language written and read, its life watched.

mod inexpressible;
pub mod process;
pub mod read;
pub mod write;

pub use self::inexpressible::SmtInexpressible;
pub use crate::regex::UnsolvablePattern;
