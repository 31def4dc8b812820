//! Tests of the learners on random systems, and of whole sessions.

mod random;
mod register;
mod session;
mod settle;
mod timed;
