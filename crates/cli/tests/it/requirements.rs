//! Requirements against recorded runs, as a user asks for them.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::Value as Json;

use crate::program::{check_in, print_in};

/// A counter: `R-2` needs three steps in a row, `R-3` a value that no input has, `R-5` is a property.
const COUNTER: &str = r#"model Counter {
    input add(n: 0..3)
    output total(sum: int)
    var count: int = 0
    state idle {
        @req("R-1")
        take: on add { count = count + n } -> busy
        @req("R-3")
        never: on add when n > 5 -> busy
    }
    @req("R-2")
    state busy {
        @req("R-1")
        small: emit total(sum: count) when count < 4 -> idle
        large: emit total(sum: 0) when count >= 4 { count = 0 } -> idle
    }
    any {
        unseen: internal when count < 0 -> idle
    }
    @req("R-4")
    test "one" { send add(n: 2)  expect total(sum: 2) }
    @req("R-5")
    positive: always count >= 0
}
"#;

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("counter.iox"), COUNTER).expect("a file");
    folder
}

fn test(folder: &Path, sut: &str, more: &[&str], code: i32) -> String {
    let args = ["test", "counter.iox", "--sut", sut, "--report", "runs", "--no-regressions"];
    let (text, got) = print_in(folder, &[&args[..], more].concat());
    assert_eq!(got, code, "{text}");
    text
}

fn requirements(folder: &Path, code: i32) -> Json {
    let (text, got) = print_in(folder, &["requirements", "counter.iox", "runs", "--json"]);
    assert_eq!(got, code, "{text}");
    let json: Json = serde_json::from_str(&text).expect("JSON");
    let schema = crate::program::run(&["schema", "output-requirements"]).stdout;
    let schema = serde_json::from_slice(&schema).expect("JSON");
    assert_eq!(crate::schema::violations(&schema, &json), Vec::<String>::new(), "{text}");
    json
}

fn statuses(json: &Json) -> BTreeMap<&str, &str> {
    let rows = json["requirements"].as_array().expect("a list").iter();
    rows.map(|row| (row["requirement"].as_str().expect("a name"), row["status"].as_str().expect("a word")))
        .collect()
}

/// Returns the runs of a record in which one of `switches` is certain, by a plain look at its lines.
fn runs_with(folder: &Path, switches: &[&str]) -> Vec<u64> {
    let text = fs::read_to_string(folder.join("runs/campaign.jsonl")).expect("a record");
    let (mut run, mut found) = (0, Vec::new());
    for line in text.lines() {
        let event: Json = serde_json::from_str(line).expect("JSON");
        let event = &event["event"];
        if let Some(started) = event["run_started"]["run"].as_u64() {
            run = started + 1;
        }
        let step = if event["stimulus"].is_object() { &event["stimulus"] } else { &event["observation"] };
        let taken: Vec<&str> =
            step["switches"].as_array().into_iter().flatten().filter_map(Json::as_str).collect();
        if matches!(taken[..], [only] if switches.contains(&only)) && !found.contains(&run) {
            found.push(run);
        }
    }
    found
}

#[test]
fn requirements_are_covered_by_the_runs_that_took_their_transitions() {
    let folder = folder();
    let folder = folder.path();
    let (text, code) = print_in(folder, &["requirements", "counter.iox"]);
    assert_eq!(code, 0, "{text}");
    for words in [
        "R-1  not covered",
        "R-5  a property",
        "decided by `check --deep`: positive",
        "not covered: take, small",
    ] {
        assert!(text.contains(words), "`{words}` is missing:\n{text}");
    }
    let sut = "model:counter.iox";
    let text = test(
        folder,
        sut,
        &["--tester", "random", "--runs", "8", "--steps", "4", "--seed", "3", "--keep", "all", "-v"],
        0,
    );
    assert!(text.contains("requirements: "), "{text}");
    assert!(text.contains("transitions without a requirement: "), "{text}");
    let json = requirements(folder, 5);
    let rows = statuses(&json);
    assert_eq!(
        [rows["R-1"], rows["R-3"], rows["R-4"], rows["R-5"]],
        ["covered", "not-covered", "not-covered", "property-only"]
    );
    // The state gives its requirement to both of its transitions.
    let row = |name: &str| {
        let rows = json["requirements"].as_array().expect("a list");
        rows.iter().find(|row| row["requirement"] == name).expect("a row").clone()
    };
    assert_eq!(row("R-2")["transitions"], serde_json::json!(["small", "large"]));
    // The runs are those in whose lines the transitions stand.
    let numbers: Vec<u64> = row("R-2")["records"][0]["run_numbers"]
        .as_array()
        .expect("a list")
        .iter()
        .flat_map(|stretch| stretch[0].as_u64().expect("a number")..=stretch[1].as_u64().expect("a number"))
        .collect();
    assert_eq!(numbers, runs_with(folder, &["small", "large"]));
    // A test is covered when it was run and passed, in another record.
    test(folder, sut, &["--tester", "tests"], 0);
    assert_eq!(statuses(&requirements(folder, 5))["R-4"], "covered");
    let (csv, _) = print_in(folder, &["requirements", "counter.iox", "runs", "--csv"]);
    assert!(csv.starts_with("requirement,status,covered,items,runs,failures,"), "{csv}");
    assert!(csv.lines().any(|line| line.starts_with("R-3,not covered,0,1,0,0,never,")), "{csv}");
}

#[test]
fn what_a_failing_run_contradicts_is_said() {
    let folder = folder();
    let folder = folder.path();
    let wrong = COUNTER.replace("total(sum: count) when", "total(sum: count + 1) when");
    fs::write(folder.join("wrong.iox"), wrong).expect("a file");
    test(folder, "model:wrong.iox", &["--seed", "1"], 1);
    let json = requirements(folder, 1);
    let rows = statuses(&json);
    assert_eq!((rows["R-1"], rows["R-2"], rows["R-5"]), ("in-failure", "in-failure", "property-only"));
    check_in(
        folder,
        &["requirements", "counter.iox", "runs"],
        1,
        &["R-1  in a failure", "contradicted by: 1 failing run"],
    );
}

#[test]
fn every_report_has_the_requirements() {
    let folder = folder();
    let folder = folder.path();
    test(folder, "model:counter.iox", &["--tester", "random", "--runs", "4", "--seed", "1"], 0);
    let (markdown, _) = print_in(folder, &["report", "runs", "--markdown", "-"]);
    assert!(
        markdown.contains("### Requirements") && markdown.contains("| `R-3` | not covered | 0 of 1 |"),
        "{markdown}"
    );
    let (json, _) = print_in(folder, &["report", "runs", "--json"]);
    let json: Json = serde_json::from_str(&json).expect("JSON");
    assert_eq!(json["requirements"]["rows"][0]["requirement"], "R-1", "{json}");
    let (junit, _) = print_in(folder, &["report", "runs", "--junit", "-"]);
    let document = roxmltree::Document::parse(&junit).expect("XML");
    let values = |node: roxmltree::Node<'_, '_>, name: &str| -> Vec<String> {
        let properties = node.children().filter(|it| it.has_tag_name("properties"));
        let all = properties.flat_map(|it| it.children().collect::<Vec<_>>());
        let named = all.filter(|it| it.attribute("name") == Some(name));
        named.filter_map(|it| it.attribute("value").map(str::to_owned)).collect()
    };
    let case = document.descendants().find(|it| it.has_tag_name("testcase")).expect("a case");
    assert!(values(case, "requirement").contains(&"R-1".to_owned()), "{junit}");
    let suite = document.descendants().find(|it| it.has_tag_name("testsuite")).expect("a suite");
    assert_eq!(values(suite, "requirement R-3"), ["not covered"], "{junit}");
    assert!(values(suite, "requirement R-1")[0].starts_with("covered (2 of 2), 4 runs"), "{junit}");
}

#[test]
fn a_model_without_requirements_is_told_from_one_whose_are_not_covered() {
    let folder = folder();
    let folder = folder.path();
    fs::write(folder.join("plain.iox"), "model M { input a state s { on a } }").expect("a file");
    check_in(folder, &["requirements", "plain.iox"], 4, &["names no requirement", "@req"]);
    check_in(folder, &["requirements", "counter.iox", "nowhere"], 2, &["cannot read"]);
}

#[test]
fn the_result_of_a_test_for_programs_has_the_table_of_its_record() {
    let folder = folder();
    let folder = folder.path();
    // The result is the first line; where the record is follows.
    let result = || -> Json {
        let text = test(folder, "model:counter.iox", &["--seed", "1", "--json"], 0);
        serde_json::from_str(text.lines().next().unwrap_or_default()).expect("JSON")
    };
    let json = result();
    let schema = crate::program::run(&["schema", "output-test"]).stdout;
    let schema = serde_json::from_slice(&schema).expect("JSON");
    assert_eq!(crate::schema::violations(&schema, &json), Vec::<String>::new(), "{json}");
    let (text, _) = print_in(folder, &["report", "runs", "--json"]);
    let report: Json = serde_json::from_str(&text).expect("JSON");
    assert_eq!(json["requirements"], report["requirements"]);
    assert_eq!(json["requirements"]["rows"].as_array().map(Vec::len), Some(5), "{json}");
    // A model that names none has no table.
    let plain: String =
        COUNTER.lines().filter(|line| !line.contains("@req")).map(|line| format!("{line}\n")).collect();
    fs::write(folder.join("counter.iox"), plain).expect("a file");
    let json = result();
    assert!(json["requirements"].is_null(), "{json}");
}
