//! The same seed makes the same moves: with a tester that keeps nothing from run to run, run k depends on the model,
//! the seed and k alone, however the runs are shared out.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value as Json;

use crate::program::print_in;

/// A deterministic system: it counts, and is wrong from the third `add` on.
const COUNTER: &str = "model Counter {
    const WRONG = 1000

    input add(n: 1..5)
    input clear
    output sum(n: int)

    var total: int = 0
    var adds: int = 0

    state idle {
        add: on add { total = total + n, adds = adds + 1 } -> answer
        clear: on clear { total = 0, adds = 0 } -> idle
    }
    state answer {
        sum: emit sum(n: if adds > WRONG then total + 1 else total) -> idle
    }

    test \"adds one\" { send add(n: 1); expect sum(n: 1) }
    test \"adds two\" { send add(n: 2); expect sum(n: 2) }
    test \"clears\" { send add(n: 3); expect sum(n: 3); send clear; send add(n: 4); expect sum(n: 4) }
}
";

/// A system that chooses, and whose values only the solver finds.
const CHOICES: &str = "model Choices {
    input ask(a: int, b: int)
    output told(c: int, d: int)

    var sum: int = 0

    state idle { ask: on ask when 3 * a + 7 * b == 100 && a > b + 1 { sum = a + b } -> answer }
    state answer {
        low: emit told when 5 * c + 3 * d == sum * 15 && c > 10 -> idle
        high: emit told when 5 * c + 3 * d == sum * 15 && c < -10 -> idle
    }
}
";

/// Runs the program, which must decide something; returns what it prints.
fn decide_in(folder: &Path, args: &[&str]) -> String {
    let (text, code) = print_in(folder, args);
    assert!(matches!(code, 0 | 1 | 5), "{args:?}: {text}");
    text
}

/// The labels and the verdict of every run of a record, by the number of the run.
fn runs(folder: &Path) -> BTreeMap<u64, Vec<String>> {
    let record = fs::read_to_string(folder.join("campaign.jsonl")).expect("a record");
    let (mut runs, mut alone) = (BTreeMap::<u64, Vec<String>>::new(), 0);
    for line in record.lines() {
        let told: Json = serde_json::from_str(line).expect("JSON");
        let event = &told["event"];
        if let Some(run) = event["run_started"]["run"].as_u64() {
            alone = run;
            runs.entry(run).or_default().push(event["run_started"]["goal"].to_string());
        }
        let run = told["run"].as_u64().unwrap_or(alone);
        for kind in ["stimulus", "observation"] {
            if let Some(text) = event[kind]["label"]["text"].as_str() {
                runs.entry(run).or_default().push(text.to_owned());
            }
        }
        if let Some(verdict) = event["verdict"]["verdict"].as_str() {
            runs.entry(run).or_default().push(verdict.to_owned());
        }
    }
    runs
}

/// The runs of one campaign: by one, two and three workers, without shrinking, and merged from one, two and five parts.
fn all_ways(folder: &Path, test: &[&str]) -> Vec<(String, BTreeMap<u64, Vec<String>>)> {
    let mut found = Vec::new();
    for more in [&["--jobs", "1"][..], &["--jobs", "2"], &["--jobs", "3"], &["--no-shrink"]] {
        let name = more.join("").replace("--", "by-");
        decide_in(folder, &[test, more, &["--report", &name, "--no-regressions"]].concat());
        found.push((name.clone(), runs(&folder.join(name))));
    }
    for n in [1, 2, 5] {
        let parts: Vec<String> = (1..=n).map(|k| format!("part-{n}-{k}")).collect();
        for (k, part) in (1..).zip(&parts) {
            decide_in(folder, &[test, &["--partition", &format!("{k}/{n}"), "--part", part]].concat());
        }
        let named: Vec<&str> = parts.iter().map(String::as_str).collect();
        let out = format!("merged-{n}");
        decide_in(folder, &[&["merge"], &named[..], &["--out", &out]].concat());
        found.push((out.clone(), runs(&folder.join(out))));
    }
    found
}

#[track_caller]
fn check_all_ways(folder: &Path, test: &[&str], n: usize) {
    let all = all_ways(folder, test);
    let (_, first) = &all[0];
    assert_eq!(first.len(), n, "{test:?}");
    for (name, other) in &all {
        assert_eq!(first, other, "{test:?}: {name}");
    }
}

fn prepared() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().to_path_buf();
    fs::write(path.join("counter.iox"), COUNTER).expect("a model");
    fs::write(path.join("wrong.iox"), COUNTER.replace("WRONG = 1000", "WRONG = 3")).expect("a model");
    fs::write(path.join("choices.iox"), CHOICES).expect("a model");
    (folder, path)
}

#[test]
fn random_runs_are_the_same_for_any_number_of_workers_and_parts() {
    let (_folder, path) = prepared();
    let test = ["test", "counter.iox", "--sut", "model:wrong.iox", "--tester", "random", "--runs", "11"];
    check_all_ways(&path, &[&test[..], &["--seed", "7", "--steps", "12", "--keep-going"]].concat(), 11);
}

#[test]
fn what_the_solver_finds_does_not_depend_on_what_it_was_asked_before() {
    let (_folder, path) = prepared();
    let test = ["test", "choices.iox", "--sut", "model:choices.iox", "--tester", "random", "--runs", "7"];
    check_all_ways(&path, &[&test[..], &["--seed", "3", "--steps", "10", "--keep-going"]].concat(), 7);
}

#[test]
fn written_tests_are_the_same_for_any_number_of_workers_and_parts() {
    let (_folder, path) = prepared();
    let test = [
        "test",
        "counter.iox",
        "--sut",
        "model:wrong.iox",
        "--tester",
        "tests",
        "--runs",
        "9",
        "--seed",
        "7",
    ];
    let test = [&test[..], &["--keep-going"]].concat();
    check_all_ways(&path, &test, 9);
}

/// A suite is done whole beside runs that failed before: no test of it is left out or done twice.
#[test]
fn runs_that_failed_before_do_not_change_who_does_what() {
    let (_folder, path) = prepared();
    let suite = ["fsm", "counter.iox", "--suite", "h", "--out", "suite"];
    fs::write(path.join("counter.iox"), MACHINE).expect("a model");
    decide_in(&path, &suite);
    let test = ["test", "counter.iox", "--tester", "suite:suite", "--seed", "1", "--keep-going"];
    let goals = |report: &str, before: u64| {
        let runs = runs(&path.join(report)).into_iter().filter(|(run, _)| *run >= before);
        let mut goals: Vec<String> = runs.map(|(_, labels)| labels[0].clone()).collect();
        goals.sort();
        goals
    };
    decide_in(&path, &[&test[..], &["--sut", "model:counter.iox", "--report", "alone"]].concat());
    let alone = goals("alone", 0);
    assert!(alone.len() > 3, "{alone:?}");
    for jobs in ["1", "2", "3"] {
        let report = format!("after-{jobs}");
        let broken = MACHINE.replace("b1: on go -> c", "b1: on go -> a");
        fs::write(path.join("broken.iox"), broken).expect("a model");
        decide_in(&path, &[&test[..], &["--sut", "model:broken.iox", "--report", &report]].concat());
        let kept = fs::read_to_string(path.join(&report).join("regressions.jsonl")).expect("failing runs");
        let before = kept.lines().count() as u64 - 1;
        assert!(before > 0, "{kept}");
        decide_in(
            &path,
            &[&test[..], &["--sut", "model:counter.iox", "--report", &report, "--jobs", jobs]].concat(),
        );
        fs::rename(path.join(&report).join("campaign-2.jsonl"), path.join(&report).join("campaign.jsonl"))
            .expect("moved");
        assert_eq!(goals(&report, before), alone, "--jobs {jobs}");
    }
}

/// A small machine.
const MACHINE: &str = "model Machine {
    input go
    input look
    output at(n: 0..2)

    state a { a1: on go -> b  a2: on look -> told_a }
    state b { b1: on go -> c  b2: on look -> told_b }
    state c { c1: on go -> a  c2: on look -> told_c }
    state told_a { ta: emit at(n: 0) -> a }
    state told_b { tb: emit at(n: 1) -> b }
    state told_c { tc: emit at(n: 2) -> c }
}
";
