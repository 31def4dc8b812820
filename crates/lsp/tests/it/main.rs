//! Tests of the language server through its messages.

mod answers;
mod typing;
