//! Systems in JavaScript: the adapter of `sdk/node` passes its own tests, and a system behind it is tested.

use std::process::{Command, Output};

use ioxide_test_support::is_skipped;

use crate::program::root;

/// Returns whether there is a Node of version 18 or later; if not, the test fails, unless `IOXIDE_SKIP` names `node18`.
fn is_there() -> bool {
    let version = Command::new("node").args(["-p", "process.versions.node.split('.')[0]"]).output();
    let major =
        version.ok().and_then(|output| String::from_utf8_lossy(&output.stdout).trim().parse::<u32>().ok());
    let is_there = major.is_some_and(|major| major >= 18);
    is_there || !is_skipped("node18")
}

fn tested(fault: &str) -> Output {
    Command::new(env!("CARGO_BIN_EXE_ioxide"))
        .args(["test", "examples/adder.iox", "--sut", "stdio:node examples/node/adder.mjs"])
        .args(["--seed", "1", "--runs", "5", "--no-shrink"])
        .env("ADDER_FAULT", fault)
        .current_dir(root())
        .output()
        .expect("the program runs")
}

#[test]
fn the_package_passes_its_own_tests() {
    if is_there() {
        let output = Command::new("node")
            .args(["--test", "test/"])
            .current_dir(root().join("sdk/node"))
            .output()
            .expect("node runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    }
}

#[test]
fn a_correct_system_passes_and_a_faulty_one_fails() {
    if is_there() {
        let output = tested("");
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        let output = tested("1");
        assert_eq!(output.status.code(), Some(1), "{output:?}");
    }
}

#[test]
fn the_adapter_check_is_content() {
    if is_there() {
        let output = Command::new(env!("CARGO_BIN_EXE_ioxide"))
            .args(["adapter", "check", "stdio:node examples/node/adder.mjs", "--model", "examples/adder.iox"])
            .current_dir(root())
            .output()
            .expect("the program runs");
        assert_eq!(output.status.code(), Some(0), "{output:?}");
    }
}
