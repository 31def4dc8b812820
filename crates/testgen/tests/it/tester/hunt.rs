//! Tests of [`ioxide_testgen::tester::hunt`].

mod drift;
mod priced_looks;
mod rare;
mod starts;
