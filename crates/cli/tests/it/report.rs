//! Reports on recorded campaigns: the same figures in every form, clear errors for what is no record.

use std::fs;
use std::path::{Path, PathBuf};

use roxmltree::Document;
use serde_json::Value as Json;

use crate::program::print_apart;

/// A folder with the record of a campaign that fails.
fn recorded() -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("runs").to_string_lossy().into_owned();
    let spec = "examples/brp/spec.iox";
    let told = print_apart(&[
        "test",
        spec,
        "--sut",
        "model:examples/brp/m3.iox",
        "--tester",
        "random",
        "--runs",
        "6",
        "--seed",
        "1",
        "--keep-going",
        "--report",
        &path,
    ]);
    assert_eq!(told.code, 1, "{}{}", told.out, told.err);
    (folder, path)
}

fn json(path: &str) -> Json {
    let told = print_apart(&["report", path, "--json"]);
    assert_eq!(told.code, 0, "{}", told.err);
    serde_json::from_str(&told.out).expect("JSON")
}

/// Runs by outcome, counted in the record line by line.
fn counted(record: &Path, outcome: &str) -> u64 {
    let text = fs::read_to_string(record).expect("a record");
    let events = text.lines().skip(1).map(|line| serde_json::from_str::<Json>(line).expect("an event"));
    events.filter(|event| event["event"]["run_finished"]["outcome"] == outcome).count() as u64
}

#[test]
fn every_form_has_the_figures_of_the_record() {
    let (folder, path) = recorded();
    let record = PathBuf::from(&path).join("campaign.jsonl");
    let (passed, failed) = (counted(&record, "pass"), counted(&record, "fail"));
    assert!(failed > 1, "the system is faulty");

    let figures = json(&path);
    assert_eq!((&figures["runs"]["passed"], &figures["runs"]["failed"]), (&passed.into(), &failed.into()));
    let first = figures["failures"][0]["first"].to_string();

    let (junit, markdown) = (folder.path().join("junit.xml"), folder.path().join("summary.md"));
    let (junit, markdown) = (junit.to_string_lossy(), markdown.to_string_lossy());
    let told = print_apart(&["report", &path, "--junit", &junit, "--markdown", &markdown]);
    assert_eq!((told.code, told.out.as_str()), (0, ""), "{}", told.err);

    let text = fs::read_to_string(&*junit).expect("a report");
    let document = Document::parse(&text).expect("XML");
    let suite = document.root_element().first_element_child().expect("a suite");
    let number = |name: &str| suite.attribute(name).and_then(|n| n.parse::<u64>().ok());
    assert_eq!((number("tests"), number("failures")), (Some(passed + failed), Some(failed)));

    let text = fs::read_to_string(&*markdown).expect("a summary");
    assert!(text.contains(&format!("| failed | {failed} |")), "{text}");
    assert!(
        text.contains(&format!(
            "ioxide replay {path} --number {first} --smallest --sut model:examples/brp/m3.iox"
        )),
        "{text}"
    );

    let told = print_apart(&["report", &path]);
    assert_eq!(told.code, 0, "{}", told.err);
    assert!(
        told.out.contains(&format!("{failed} failed;")) || told.out.contains(&format!("{failed} failed,")),
        "{}",
        told.out
    );
    assert!(told.out.contains(&format!("run {first}: FAIL at step")), "{}", told.out);
}

#[test]
fn the_newest_record_of_a_folder_is_meant() {
    let (_folder, path) = recorded();
    let adder = "examples/adder.iox";
    let sut = format!("model:{adder}");
    let told = print_apart(&["test", adder, "--sut", &sut, "--runs", "1", "--seed", "1", "--report", &path]);
    assert_eq!(told.code, 0, "{}", told.err);
    assert_eq!(json(&path)["campaign"]["model"], "Adder");
    assert_eq!(json(&format!("{path}/campaign.jsonl"))["campaign"]["model"], "Brp");
}

#[test]
fn one_report_may_go_to_stdout() {
    let (_folder, path) = recorded();
    let told = print_apart(&["report", &path, "--junit", "-"]);
    assert_eq!(told.code, 0, "{}", told.err);
    Document::parse(&told.out).expect("XML");
    let told = print_apart(&["report", &path, "--junit", "-", "--json"]);
    assert_eq!((told.code, told.out.as_str()), (2, ""));
    assert!(told.err.contains("cannot both go to stdout"), "{}", told.err);
}

#[test]
fn what_is_no_record_is_refused_and_leaves_no_report() {
    let (folder, path) = recorded();
    let text = fs::read_to_string(format!("{path}/campaign.jsonl")).expect("a record");
    let lines: Vec<&str> = text.lines().collect();
    let damaged = [lines[0], lines[1], "{\"seq\": 1, \"time", lines[3]].join("\n");
    let cases = [
        ("damaged.jsonl", damaged.as_str(), "line 3 of the record"),
        ("empty.jsonl", "", "this is not an ioxide record"),
        ("other.jsonl", "{\"label\": \"A\"}\n", "this is not an ioxide record"),
        ("newer.jsonl", "{\"format\":\"ioxide-record\",\"version\":99}\n", "the record has version 99"),
    ];
    for (name, text, problem) in cases {
        let file = folder.path().join(name).to_string_lossy().into_owned();
        fs::write(&file, text).expect("a file");
        let report = folder.path().join("report.xml").to_string_lossy().into_owned();
        let told = print_apart(&["report", &file, "--junit", &report]);
        assert_eq!(told.code, 2, "{name}: {}", told.err);
        assert!(told.err.starts_with("error: ") && told.err.contains(problem), "{name}: {}", told.err);
        assert!(!Path::new(&report).exists(), "{name}");
    }
    for missing in [folder.path().join("nothing-there"), folder.path().to_path_buf()] {
        let told = print_apart(&["report", &missing.to_string_lossy()]);
        assert_eq!(told.code, 2);
        assert!(told.err.contains("cannot read the record"), "{}", told.err);
    }
    let told = print_apart(&["report", &path, "--markdown", "no/such/folder/summary.md"]);
    assert_eq!(told.code, 2);
}

#[test]
fn a_record_that_breaks_off_is_used_up_to_there() {
    let (folder, path) = recorded();
    let text = fs::read_to_string(format!("{path}/campaign.jsonl")).expect("a record");
    let cut: String = text.chars().take(text.len() / 2).collect();
    let file = folder.path().join("cut.jsonl").to_string_lossy().into_owned();
    fs::write(&file, cut).expect("a file");
    let told = print_apart(&["report", &file]);
    assert_eq!(told.code, 0);
    assert!(told.err.contains("the last line of the record is incomplete"), "{}", told.err);
    assert!(told.out.contains("the record ends before the campaign did"), "{}", told.out);
    let figures = json(&file);
    assert_eq!((&figures["is_finished"], &figures["verdict"]), (&false.into(), &"failed".into()));
    let told = print_apart(&["report", &file, "--junit", "-"]);
    assert!(told.out.contains("the record ends before the campaign did"), "{}", told.out);
}
