//! The same bytes in 1, 2, 4 and 16 parts, and the same as without parts.

use std::fs;
use std::path::Path;

use super::{CHOOSING, in_parts, ioxide, merge, path, read};

/// The files of a merged campaign, but for the page, which names its folder.
const FILES: [&str; 6] =
    ["campaign.jsonl", "junit.xml", "summary.md", "regressions.jsonl", "suite.jsonl", "kill.jsonl"];

/// All files in `dir`, its own name taken out.
fn files(dir: &Path) -> Vec<(&'static str, Option<String>)> {
    let text =
        |name: &str| fs::read_to_string(dir.join(name)).ok().map(|text| text.replace(path(dir), "DIR"));
    FILES.iter().map(|&name| (name, text(name))).collect()
}

#[track_caller]
fn check(args: &[&str], parts: &[usize]) -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("a folder");
    let mut first = None;
    for &n in parts {
        let (place, out) = (dir.path().join(format!("parts{n}")), dir.path().join(format!("whole{n}")));
        in_parts(args, n, &place);
        let told = merge(&place, &out, &[]);
        let all = (told.out, told.code, files(&out));
        match &first {
            None => first = Some(all),
            Some(first) => assert_eq!(first, &all, "{args:?} in {n} parts"),
        }
    }
    dir
}

#[test]
fn runs_of_a_system_that_chooses_and_fails() {
    let dir = check(&CHOOSING, &[1, 2, 4, 16]);
    let record = read(&dir.path().join("whole16/campaign.jsonl"));
    assert_eq!(record.matches("\"run_finished\"").count(), 20);
    // Two kinds of failures, each looked into once, though every part looked into its own.
    assert_eq!(record.matches("\"replayed\"").count(), record.matches("\"shrunk\"").count());
    let looked: usize = (1..=16)
        .map(|k| read(&dir.path().join(format!("parts16/{k}/units.jsonl"))).matches("\"replayed\":").count())
        .sum();
    assert!(record.matches("\"replayed\":").count() < looked, "{looked}");
}

#[test]
fn a_campaign_that_ends_with_its_first_failure() {
    let dir = check(&CHOOSING[..10], &[1, 4, 16]);
    let record = read(&dir.path().join("whole4/campaign.jsonl"));
    assert_eq!(record.matches("\"outcome\":\"fail\"").count(), 1);
}

/// The second opinion: a campaign that knows nothing of parts.
#[test]
fn runs_are_those_of_a_campaign_without_parts() {
    let args =
        ["test", "examples/adder.iox", "--sut", "model:examples/adder.iox", "--seed", "5", "--keep-going"];
    for tester in [&["--tester", "random", "--runs", "12"][..], &["--tester", "case:CASE", "--runs", "4"]] {
        let dir = tempfile::tempdir().expect("a folder");
        let case = format!("case:{}", path(&dir.path().join("case.json")));
        let told = ioxide(&["case", "examples/adder.iox", "--path", "r0,r1", "--format", "json"]);
        fs::write(dir.path().join("case.json"), told.out).expect("written");
        let tester: Vec<&str> =
            tester.iter().map(|&word| if word == "case:CASE" { &case } else { word }).collect();
        let args = [&args[..], &tester].concat();
        in_parts(&args, 3, &dir.path().join("parts"));
        let (whole, plain) = (dir.path().join("whole"), dir.path().join("plain"));
        merge(&dir.path().join("parts"), &whole, &[]);
        ioxide(&[&args[..], &["--report", path(&plain)]].concat());
        assert_eq!(files(&whole), files(&plain), "{args:?}");
    }
}

#[test]
fn suites_on_a_faulty_machine_are_those_without_parts() {
    let dir = tempfile::tempdir().expect("a folder");
    let suite = dir.path().join("suite");
    let machine = "examples/fsm/handshake-v1.dot";
    ioxide(&["fsm", machine, "--suite", "s", "--extra", "1", "--out", path(&suite)]);
    let tester = format!("suite:{}", path(&suite));
    for more in [&["--keep-going"][..], &[]] {
        let sut = "model:examples/fsm/handshake-v2.dot";
        let args = [&["test", machine, "--tester", &tester, "--sut", sut, "--seed", "1"], more].concat();
        let place = |name: &str| dir.path().join(format!("{name}{}", more.len()));
        in_parts(&args, 4, &place("parts"));
        let told = merge(&place("parts"), &place("whole"), &[]);
        let plain = ioxide(&[&args[..], &["--report", path(&place("plain"))]].concat());
        assert_eq!((told.code, plain.code), (Some(1), Some(1)), "{}", told.err);
        assert_eq!(files(&place("whole")), files(&place("plain")));
    }
}

#[test]
fn shares_of_testers_that_learn_from_run_to_run() {
    let model = ["test", "examples/brp/spec.iox", "--seed", "3", "--keep-going", "--shares", "5"];
    let testers = [
        &["--sut", "model:examples/brp/spec.iox", "--steps", "400"][..],
        &["--sut", "model:examples/brp/m5.iox", "--tester", "cover"],
        &["--sut", "model:examples/brp/m5.iox", "--tester", "tour", "--runs", "10"],
    ];
    for tester in testers {
        check(&[&model[..], tester].concat(), &[1, 4]);
    }
}

#[test]
fn a_goal_ends_the_whole_where_one_machine_would_have_ended() {
    let args = ["test", "examples/adder.iox", "--sut", "model:examples/adder.iox", "--tester", "random"];
    let args = [&args[..], &["--runs", "40", "--seed", "2", "--until", "comparisons"]].concat();
    let dir = check(&args, &[1, 4]);
    let record = read(&dir.path().join("whole4/campaign.jsonl"));
    assert!((1..40).contains(&record.matches("\"run_finished\"").count()));
}

#[test]
fn mutants_decided_in_parts_make_the_same_suite() {
    let args = ["kill", "examples/brp/spec.iox", "--sample", "60"];
    let dir = check(&args, &[1, 4]);
    let (suite, json) = (dir.path().join("suite"), dir.path().join("again"));
    let plain = ioxide(&[&args[..], &["--out", path(&suite), "--json"]].concat());
    assert_eq!(merge(&dir.path().join("parts4"), &json, &["--json"]).out, plain.out);
    assert_eq!(read(&json.join("suite.jsonl")), read(&suite));
}

#[test]
fn scores_in_parts_are_the_score() {
    let dir = tempfile::tempdir().expect("a folder");
    let suite = dir.path().join("suite");
    ioxide(&["kill", "examples/adder.iox", "--sample", "10", "--out", path(&suite)]);
    for (at, scored) in [&[path(&suite)][..], &["random", "--runs", "1", "--steps", "10"]].iter().enumerate()
    {
        let args = [&["score", "examples/adder.iox"], *scored].concat();
        let place = |name: &str| dir.path().join(format!("{name}{at}"));
        in_parts(&args, 3, &place("parts"));
        let told = merge(&place("parts"), &place("whole"), &["--json"]);
        let plain = ioxide(&[&args[..], &["--json"]].concat());
        assert_eq!((told.out, told.code), (plain.out, plain.code), "{}", told.err);
    }
}

#[test]
fn a_folder_of_models_is_compared_in_parts() {
    let dir = tempfile::tempdir().expect("a folder");
    let models = dir.path().join("models");
    fs::create_dir(&models).expect("a folder");
    for name in ["spec", "m1", "m4"] {
        let text = read(&super::root().join(format!("examples/brp/{name}.iox")));
        fs::write(models.join(format!("{name}.iox")), text).expect("written");
    }
    fs::write(models.join("broken.iox"), "model {").expect("written");
    let args = ["conform", path(&models), "examples/brp/spec.iox"];
    for k in 1..=2 {
        let (partition, part) = (format!("{k}/2"), dir.path().join(format!("parts/{k}")));
        ioxide(&[&args[..], &["--partition", &partition, "--part", path(&part)]].concat());
    }
    let plain = ioxide(&args);
    let told = merge(&dir.path().join("parts"), &dir.path().join("whole"), &[]);
    assert_eq!((told.out, told.code), (plain.out.clone(), plain.code));
    assert_eq!(plain.code, Some(1));
    let last = plain.out.lines().last().expect("a line");
    assert_eq!(last, "4 models: 1 conform, 2 do not, 0 unknown, 1 cannot be compared");
}
