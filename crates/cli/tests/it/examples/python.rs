//! A system in Python, reached through the package in `sdk/python`: correct passes, faulty fails.

use std::process::{Command, Output};

use ioxide_test_support::{has_program, python_cache};

use crate::program::root;

/// Tests the adder of the examples, started with `flags`.
fn test_adder(flags: &str) -> Output {
    Command::new(env!("CARGO_BIN_EXE_ioxide"))
        .args(["test", "examples/adder.iox", "--seed", "1", "--runs", "3", "--steps", "30", "--json"])
        .args(["--silence-ms", "200"])
        .args(["--sut", &format!("stdio:python3 examples/python/adder.py {flags}")])
        .current_dir(root())
        .env("PYTHONPATH", "sdk/python")
        .envs(python_cache())
        .output()
        .expect("the program runs")
}

fn result(output: &Output) -> serde_json::Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"))
}

#[test]
fn a_correct_system_passes() {
    if has_program("python3") {
        let output = test_adder("");
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        // An input that crosses `done` on its way leaves a run inconclusive, never failed.
        assert_eq!(result(&output)["failed"], 0);
    }
}

#[test]
fn a_faulty_system_fails() {
    if has_program("python3") {
        let output = test_adder("--fault");
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        assert_eq!(result(&output)["failed"], 1);
    }
}

/// Returns the Python of the tests; the packages pytest, xdist and hypothesis are needed too, unless `IOXIDE_SKIP`
/// names pytest.
fn find_python() -> String {
    let python = std::env::var("IOXIDE_PYTHON").unwrap_or_else(|_| "python3".into());
    let found = Command::new(&python).args(["-c", "import pytest, xdist, hypothesis"]).output();
    if !found.is_ok_and(|output| output.status.success()) {
        ioxide_test_support::is_skipped("pytest");
    }
    python
}

#[test]
fn the_tests_of_the_package_pass() {
    if has_program("python3") {
        let output = Command::new(find_python())
            .args(["-m", "unittest"])
            .current_dir(root().join("sdk/python"))
            .envs(python_cache())
            .env("IOXIDE", env!("CARGO_BIN_EXE_ioxide"))
            .output()
            .expect("python3 runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
}
