//! Tests of `commands::demo`.

mod server;
