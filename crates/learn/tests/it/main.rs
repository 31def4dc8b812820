//! Tests of the learners on random systems.

mod random;
mod register;
mod settle;
