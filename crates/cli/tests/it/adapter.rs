//! `ioxide adapter check` from the outside: what is printed, and the exit code.

use std::path::Path;
use std::process::{Command, Output};

fn check(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_ioxide"))
        .args(["adapter", "check"])
        .args(args)
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."))
        .env("NO_COLOR", "1")
        .output()
        .expect("the program runs")
}

fn played(file: &str) -> String {
    format!("stdio:{} sut {file}", env!("CARGO_BIN_EXE_ioxide"))
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

#[test]
fn a_played_model_is_in_order() {
    for file in ["examples/adder.iox", "examples/redis/redis.iox", "examples/brp/spec.iox"] {
        let output = check(&[&played(file), "--model", file]);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output));
        assert!(text(&output).contains("the adapter is in order"), "{}", text(&output));
    }
}

#[test]
fn another_model_does_not_fit() {
    let output = check(&[&played("examples/adder.iox"), "--model", "examples/slot-machine.iox", "--json"]);
    assert_eq!(output.status.code(), Some(6), "{}", text(&output));
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON on stdout");
    assert_eq!((&json["version"], &json["passed"]), (&1.into(), &false.into()));
    assert_eq!(json["checks"][2]["state"], "failed", "{json}");
}

#[test]
fn an_adapter_in_trouble_ends_with_six_and_its_last_words() {
    let output = check(&["stdio:echo no tea >&2; sleep 0.2; exit 3"]);
    assert_eq!(output.status.code(), Some(6), "{}", text(&output));
    for says in ["failed   hello", "exit status: 3", "it wrote: no tea", "not in order"] {
        assert!(text(&output).contains(says), "should say `{says}`:\n{}", text(&output));
    }
}

#[test]
fn what_is_no_adapter_is_a_usage_error() {
    for sut in ["model:examples/adder.iox", "adder", "tcp:nowhere"] {
        assert_eq!(check(&[sut]).status.code(), Some(2), "{sut}");
    }
}
