//! Any SMT-LIB 2 solver as a child process: its language written and read, its life watched.

pub mod process;
pub mod read;
pub mod write;
