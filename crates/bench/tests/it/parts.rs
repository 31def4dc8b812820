//! Measurements in parts: rows of faults are units, merged and driven by campaigns; the others are taken whole.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

const FAULTS: [&str; 8] = ["bench", "faults", "--seeds", "1", "--testers", "random", "--only", "bound-of"];

/// Returns what the program writes to stdout and stderr, and its exit code.
fn bench(args: &[&str]) -> (String, String, Option<i32>) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut command = Command::new(env!("CARGO_BIN_EXE_ioxide-bench"));
    command.args(args).current_dir(root).env("IOXIDE_PROGRESS", "off").env("NO_COLOR", "1");
    let Output { stdout, stderr, status } = command.output().expect("the program runs");
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    (text(stdout), text(stderr), status.code())
}

#[test]
fn rows_of_faults_are_units() {
    let (whole, err, code) = bench(&FAULTS);
    assert!(whole.lines().count() > 3, "several rows: {whole} {err}");
    let dir = tempfile::tempdir().expect("a folder");
    let at = |name: &str| dir.path().join(name).display().to_string();
    for (k, part) in [("1/2", at("parts/1")), ("2/2", at("parts/2"))] {
        let (_, err, code) = bench(&[&FAULTS[..], &["--partition", k, "--part", &part]].concat());
        assert_eq!(code, Some(0), "{err}");
    }
    let (out, err, merged) = bench(&["merge", &at("parts"), "--out", &at("whole")]);
    assert_eq!((out, merged), (whole.clone(), code), "{err}");
    let plan = format!("run = {:?}\nworkers = 2\nout = {:?}\n", FAULTS, at("driven"));
    fs::write(at("plan.toml"), plan).expect("written");
    let (out, err, driven) = bench(&["campaign", &at("plan.toml")]);
    assert_eq!((out, driven), (whole, code), "{err}");
}

#[test]
fn what_is_timed_has_no_parts() {
    let (_, err, code) = bench(&["bench", "scale", "--plan"]);
    assert_eq!(code, Some(2), "{err}");
    assert!(err.contains("`bench scale` has no parts"), "{err}");
}

#[test]
fn figures_are_told_as_json() {
    let (out, err, code) = bench(&["bench", "scale", "--json"]);
    assert_eq!(code, Some(0), "{err}");
    let told: serde_json::Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!((&told["version"], &told["bench"]), (&1.into(), &"scale".into()), "{told:#}");
    crate::check_schema(&told);
}
