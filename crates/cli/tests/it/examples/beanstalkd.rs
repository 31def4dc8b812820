//! Servers with text protocols, without code: beanstalkd, a work queue, passes and faults behind a proxy are found;
//! memcached passes.

use std::path::Path;
use std::process::{Command, Output};

use ioxide_test_support::has_program;

/// Tests the system by the default tester, with a fault or none, and returns the output.
fn tested(fault: &str, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_ioxide"))
        .args(["test", "beanstalkd.iox", "--sut", "beanstalkd", "--json", "--no-shrink"])
        .args(args)
        .env("BEANSTALKD_FAULT", fault)
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/beanstalkd"))
        .output()
        .expect("the program runs")
}

#[test]
fn a_real_server_passes() {
    if has_program("beanstalkd") {
        for seed in ["1", "2"] {
            let output = tested("", &["--seed", seed, "--steps", "500", "--for", "1min"]);
            assert_eq!(output.status.code(), Some(0), "{output:?}");
        }
    }
}

#[test]
fn planted_faults_are_found() {
    if !has_program("beanstalkd") {
        return;
    }
    for fault in ["ignores-priority", "loses-on-release"] {
        let output = tested(fault, &["--seed", "1", "--steps", "10000", "--for", "3min"]);
        assert_eq!(output.status.code(), Some(1), "{fault}: {output:?}");
    }
}

/// A cache that answers with several values, which may hold anything, and a line that ends them.
#[test]
fn a_real_cache_passes() {
    if !has_program("memcached") {
        return;
    }
    let output = Command::new(env!("CARGO_BIN_EXE_ioxide"))
        .args(["test", "memcached.iox", "--sut", "memcached", "--json", "--no-shrink"])
        .args(["--seed", "1", "--steps", "400", "--for", "1min"])
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/memcached"))
        .output()
        .expect("the program runs");
    assert_eq!(output.status.code(), Some(0), "{output:?}");
}
