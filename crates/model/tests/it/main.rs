//! Tests of terms, values, sequences and systems of parts against plain computations.

mod code;
mod counted;
mod index;
mod name;
mod number;
mod relation;
mod sequence;
mod source;
mod sts;
mod suggest;
mod term;
