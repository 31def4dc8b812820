//! Tests of the command line: its help, and how it reads values.

mod duration;
mod help;
