//! A share of `bench truth`: correct systems over slow ways never fail.

use std::process::Command;

use serde_json::Value as Json;

/// Runs, unless `IOXIDE_TRUTH` says otherwise; `docs/measurements/truth.md` has the figures for 10,000.
const RUNS: &str = "25";

#[test]
fn correct_systems_over_slow_ways_never_fail() {
    let runs = std::env::var("IOXIDE_TRUTH").unwrap_or_else(|_| RUNS.to_owned());
    never_fail(&["--runs", &runs], &runs);
}

/// Cold servers take seconds each, so a few of them are enough here.
#[test]
fn servers_that_are_cold_after_every_restart_never_fail() {
    never_fail(&["--runs", "10", "--only", "cold"], "10");
}

#[track_caller]
fn never_fail(more: &[&str], runs: &str) {
    let output = Command::new(env!("CARGO_BIN_EXE_ioxide-bench"))
        .args(["bench", "truth", "--seed", "5", "--json"])
        .args(more)
        .output()
        .expect("the program runs");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let told: Json = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {output:?}"));
    assert_eq!(told["false_fails"], 0, "{told:#}");
    crate::check_schema(&told);
    assert_eq!(told["errors"], Json::Array(Vec::new()), "{told:#}");
    assert_eq!(told["runs"].to_string(), runs);
    let found = told["faults"].as_array().expect("a list").iter();
    assert!(found.map(|fault| fault["found"].as_u64().expect("a number")).sum::<u64>() > 0, "{told:#}");
    assert_eq!(output.status.code(), Some(0));
}
