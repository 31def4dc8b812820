//! The time limit of a command covers reading, compiling and merging, and no number in a file keeps a command busy.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use crate::program::run_in;

#[track_caller]
fn says(output: &Output, code: i32, words: &str) {
    let text =
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(code), "{text}");
    assert!(text.contains(words), "{text}");
}

const MODEL: &str = "model M {
    input a
    output b
    state s { t: on a -> u }
    state u { v: emit b -> s }
}
";

/// A file that is never read to its end stands for every text that takes too long.
#[cfg(unix)]
#[test]
fn the_time_limit_covers_reading() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("m.iox"), MODEL).expect("a model");
    let made = Command::new("mkfifo").arg(folder.path().join("endless.iox")).status().expect("mkfifo");
    assert!(made.success());
    let fifo = "endless.iox";
    for args in [
        &["check", fifo][..],
        &["show", fifo],
        &["test", fifo, "--sut", "model:m.iox"],
        &["test", "m.iox", "--sut", "model:endless.iox"],
        &["conform", fifo, "m.iox"],
        &["fsm", fifo, "--suite", "h"],
        &["learn", fifo, "--sut", "model:m.iox"],
        &["kill", fifo],
    ] {
        let output = run_in(folder.path(), &[args, &["--time-limit", "300ms"]].concat());
        says(&output, 5, "time limit was reached");
    }
}

/// Defect: the played model was stopped by the limit, too, and that was an error of the system.
#[test]
fn the_time_limit_ends_a_campaign_against_a_played_model_without_an_error() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("m.iox"), MODEL).expect("a model");
    for tester in ["hunt", "random"] {
        let endless = ["--steps", "1000000000", "--for", "10min", "--time-limit", "1s"];
        let test = ["test", "m.iox", "--sut", "model:m.iox", "--seed", "1", "--tester", tester];
        let output = run_in(folder.path(), &[&test[..], &endless[..]].concat());
        says(&output, 5, "time limit was reached");
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(!text.contains("ERROR") && !text.contains("1 error"), "{text}");
    }
}

/// Writes a part of a campaign whose manifest says `count` units.
fn part(folder: &Path, count: &str) {
    fs::write(folder.join("m.iox"), MODEL).expect("a model");
    let made = run_in(
        folder,
        &[
            "test",
            "m.iox",
            "--sut",
            "model:m.iox",
            "--tester",
            "random",
            "--runs",
            "2",
            "--seed",
            "1",
            "--part",
            "part",
        ],
    );
    says(&made, 0, "all 2 units are done");
    let manifest = fs::read_dir(folder.join("part")).expect("a folder").flatten().map(|entry| entry.path());
    let manifest = manifest.into_iter().find(|path| path.extension().is_some_and(|end| end == "json"));
    let manifest = manifest.expect("a manifest");
    let text = fs::read_to_string(&manifest).expect("a text");
    let changed = text.replace("\"count\": 2", &format!("\"count\": {count}"));
    let changed = changed.replace("\"count\":2", &format!("\"count\":{count}"));
    assert_ne!(text, changed, "{text}");
    fs::write(&manifest, changed).expect("written");
}

#[test]
fn a_part_of_a_plan_with_too_many_units_is_refused() {
    for count in ["4294967296", "18446744073709551615"] {
        let folder = tempfile::tempdir().expect("a folder");
        part(folder.path(), count);
        let merged = run_in(folder.path(), &["merge", "part", "--out", "whole"]);
        says(&merged, 2, &format!("it is of a plan with {count} units"));
        let report = run_in(folder.path(), &["report", "part"]);
        assert_eq!(report.status.code(), Some(2), "{}", String::from_utf8_lossy(&report.stderr));
    }
}

#[test]
fn units_and_runs_beyond_the_plan_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("m.iox"), MODEL).expect("a model");
    let test = ["test", "m.iox", "--sut", "model:m.iox", "--tester", "random", "--seed", "1"];
    let ask = |more: &[&str]| run_in(folder.path(), &[&test[..], more].concat());
    let output = ask(&["--runs", "3", "--part", "p", "--units", "1-18446744073709551615"]);
    says(&output, 2, "the plan has 3");
    let output = ask(&["--runs", "10000000000", "--plan"]);
    says(&output, 2, "the plan has 10000000000 units");
}
