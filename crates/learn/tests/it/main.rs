//! Tests of the learners on random systems, and of whole sessions.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod alphabet;
mod copies;
mod data;
mod difference;
mod draft;
mod drawing;
mod naming;
mod oracle;
mod passive;
mod random;
mod recorded;
mod register;
mod session;
mod settle;
mod timed;
mod tree;
mod votes;
