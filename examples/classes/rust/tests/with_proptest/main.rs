//! The same three classes against models in Rust, with proptest-state-machine.

use proptest::test_runner::Config;

mod account;
mod cache;
mod queue;

/// The default settings, but without a file for failures.
fn settings() -> Config {
    Config { failure_persistence: None, ..Config::default() }
}
