//! Tests of the language server through its messages.

mod answers;
mod server;
mod text;
mod typing;
