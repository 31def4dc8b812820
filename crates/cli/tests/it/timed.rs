//! Models with time, tested as a user does: in virtual time, on the clock of this machine, from records.
//!
//! Nothing here asserts how long something took; only verdicts and their reasons count.

mod adapters;
mod bad_input;
mod records;
mod virtual_time;
mod wall;

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use ioxide_test_support::python_cache;

use serde_json::Value as Json;
use tempfile::TempDir;

use crate::program::root;

const ATM: &str = "examples/atm/atm.iox";
const LATE: &str = "examples/atm/late.iox";

/// The ways in which the machine in Python can be wrong: its flag, the exit code of the test, the verdict with the
/// rule and state of the test case, and where the model was, and the part of a guard.
const FAULTS: [(&str, i32, &str, &str, &str); 5] = [
    ("", 0, "PASS by R3 at ec3", "", ""),
    ("--late", 1, "FAIL_out by R5 at ec1", "FAIL_out at q1", "`wclock <= 1.0`"),
    ("--more", 1, "FAIL_out by R5 at ec3", "FAIL_out at q3", "`asked == amt`"),
    ("--silent", 1, "FAIL_dur by R10 at ec3", "FAIL_dur at q3", "`rclock <= 1.0`"),
    ("--refuse", 5, "INC_off_path by R11 at ec2", "the rest of the purpose is impossible", ""),
];

/// The end of the program.
struct Ended {
    text: String,
    code: i32,
}

impl Ended {
    #[track_caller]
    fn expect(&self, code: i32, says: &[&str]) -> &Self {
        assert_eq!(self.code, code, "{}", self.text);
        for word in says {
            assert!(self.text.contains(word), "it should say `{word}`:\n{}", self.text);
        }
        self
    }
}

fn ioxide(args: &[&str]) -> Ended {
    ioxide_in(&root(), args, &[])
}

fn ioxide_in(folder: &Path, args: &[&str], variables: &[(&str, &str)]) -> Ended {
    let output = Command::new(env!("CARGO_BIN_EXE_ioxide"))
        .args(args)
        .current_dir(folder)
        .env("NO_COLOR", "1")
        .env("PYTHONPATH", root().join("sdk/python"))
        .envs(python_cache())
        .envs(variables.iter().copied())
        .stdin(Stdio::null())
        .output()
        .expect("the program runs");
    let text =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    Ended { text, code: output.status.code().expect("it ends by itself") }
}

/// Tests the cash machine.
fn test(sut: &str, more: &[&str]) -> Ended {
    ioxide(&[&["test", ATM, "--sut", sut, "--seed", "1"], more].concat())
}

/// A model played in a process of its own.
fn played(file: &str) -> String {
    format!("stdio:{} sut {file}", env!("CARGO_BIN_EXE_ioxide"))
}

/// The machine in Python, with a fault; `None` and a note where there is no Python.
fn python(flag: &str) -> Option<String> {
    ioxide_test_support::has_program("python3").then(|| format!("stdio:python3 examples/atm/atm.py {flag}"))
}

fn folder() -> TempDir {
    tempfile::tempdir().expect("a folder")
}

/// A file in a folder of its own.
fn file(name: &str, text: &str) -> (TempDir, String) {
    let folder = folder();
    let path = folder.path().join(name);
    fs::write(&path, text).expect("it is written");
    (folder, path.to_string_lossy().into_owned())
}

/// The test case of the purpose `cash`, which waits two seconds.
fn cash_case() -> (TempDir, String) {
    let made = ioxide(&["case", ATM, "--purpose", "cash", "--timeout", "2"]);
    assert_eq!(made.code, 0, "{}", made.text);
    file("cash.json", &made.text)
}

/// Returns the finding of the first verdict of a record, in the terms of timed testing.
fn finding(records: &Path) -> Json {
    let text = fs::read_to_string(records.join("campaign.jsonl")).expect("a record");
    let mut lines = text.lines().map(|line| serde_json::from_str::<Json>(line).expect("JSON"));
    let verdict = lines.find(|line| line["event"]["verdict"].is_object()).expect("a verdict");
    verdict["event"]["verdict"]["finding"].clone()
}
