//! Tests of the solvers against each other.

mod agree;
mod backend;
mod brute;
mod collections;
mod common;
mod diverse;
mod halt;
mod layers;
mod regex;
mod robust;
mod small_fraction;
mod smtlib;
mod texts;
mod z3;
