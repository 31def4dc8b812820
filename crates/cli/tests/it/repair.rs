//! Repairs of models by recorded runs, as a user asks for them.

use std::fs;
use std::path::Path;

use serde_json::Value as Json;

use crate::program::{check_in, command_in, print_in, printed, root};

/// A folder with the lock of the examples as the system, and a model that locks one word too early.
pub fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let text =
        fs::read_to_string(root().join("examples/faults/lock-not-reset/model.iox")).expect("an example");
    fs::write(folder.path().join("lock.iox"), &text).expect("a file");
    let wrong = text
        .replace("failed < 3 -> idle", "failed < 2 -> idle")
        .replace("failed >= 3 -> idle\n    }\n}", "failed >= 2 -> idle\n    }\n}");
    assert_ne!(wrong, text);
    fs::write(folder.path().join("model.iox"), wrong).expect("a file");
    folder
}

/// Records a campaign that fails.
pub fn record(folder: &Path, seed: &str) {
    let args = [
        "test",
        "model.iox",
        "--sut",
        "model:lock.iox",
        "--report",
        "runs",
        "--seed",
        seed,
        "--no-regressions",
    ];
    let (text, code) = print_in(folder, &args);
    assert_eq!(code, 1, "{text}");
}

#[test]
fn a_wrong_bound_is_repaired_from_recorded_runs() {
    let folder = folder();
    let folder = folder.path();
    for seed in ["1", "2", "3"] {
        record(folder, seed);
    }
    let (text, code) = print_in(folder, &["repair", "model.iox", "runs", "--json"]);
    assert_eq!(code, 0, "{text}");
    let json: Json = serde_json::from_str(&text).expect("JSON");
    let schema = crate::program::run(&["schema", "output-repair"]).stdout;
    let schema = serde_json::from_slice(&schema).expect("JSON");
    assert_eq!(crate::schema::violations(&schema, &json), Vec::<String>::new(), "{text}");
    let proposals = json["proposals"].as_array().expect("a list");
    assert!(!proposals.is_empty() && proposals[0]["edits"].as_u64() >= Some(1), "{text}");
    assert!(proposals[0]["diff"].as_str().is_some_and(|diff| diff.starts_with("--- model.iox\n")), "{text}");
    let before = fs::read_to_string(folder.join("model.iox")).expect("the model");
    check_in(folder, &["repair", "model.iox", "runs"], 0, &["if the system is right", "--apply N"]);
    assert_eq!(
        fs::read_to_string(folder.join("model.iox")).expect("the model"),
        before,
        "nothing was written"
    );
    check_in(folder, &["repair", "model.iox", "runs", "--apply", "1"], 0, &["wrote model.iox", "+"]);
    // Every recorded run is allowed now.
    check_in(folder, &["judge", "model.iox", "runs"], 0, &["PASS"]);
    check_in(folder, &["repair", "model.iox", "runs"], 4, &["the model allows every run"]);
}

#[test]
fn what_cannot_be_repaired_is_said() {
    let folder = folder();
    let folder = folder.path();
    record(folder, "1");
    check_in(folder, &["repair", "missing.iox", "runs"], 2, &["cannot read"]);
    check_in(folder, &["repair", "model.iox", "nowhere"], 2, &["cannot read"]);
    check_in(folder, &["repair", "model.iox", "runs", "--apply", "99"], 2, &["there is no proposal 99"]);
    fs::create_dir(folder.join("empty")).expect("a folder");
    check_in(folder, &["repair", "model.iox", "empty"], 2, &["there is no record in `empty`"]);
    fs::write(folder.join("other.iox"), "model Other { input a output b state s { on a -> s } }")
        .expect("a file");
    check_in(folder, &["repair", "other.iox", "runs"], 2, &["does not fit the model"]);
}

#[test]
fn a_failure_on_a_system_that_never_passed_shows_evidence_and_a_change() {
    let folder = folder();
    let folder = folder.path();
    let args = ["test", "model.iox", "--sut", "model:lock.iox", "--seed", "1"];
    let with_hints = |value: &str, more: &[&str]| {
        let args = [&args[..], more].concat();
        let output = command_in(folder, &args).env("IOXIDE_HINTS", value).output().expect("the program runs");
        printed(&output).0
    };
    let text = with_hints("on", &[]);
    for words in ["evidence", "failed: ", "if the system is right, this "] {
        assert!(text.contains(words), "`{words}` is missing:\n{text}");
    }
    assert!(!with_hints("off", &[]).contains("evidence"));
    // Where nobody watches, only the command is named that finds changes.
    let unwatched = with_hints("", &["-v"]);
    assert!(!unwatched.contains("if the system is right, this "), "{unwatched}");
    // A system that has passed before is the more likely culprit.
    let passing = ["test", "lock.iox", "--sut", "model:lock.iox", "--seed", "1", "--report", "runs"];
    check_in(folder, &passing, 0, &[]);
    let text = with_hints("on", &["--report", "runs"]);
    assert!(text.contains("evidence") && !text.contains("if the system is right"), "{text}");
}

/// The facts of the evidence, counted again from the lines of the record.
#[test]
fn evidence_in_json_and_on_the_page_is_what_the_record_says() {
    let folder = folder();
    let folder = folder.path();
    let args = [
        "test",
        "model.iox",
        "--sut",
        "model:lock.iox",
        "--seed",
        "1",
        "--report",
        "runs",
        "--keep",
        "all",
        "--json",
        "--keep-going",
        "--runs",
        "6",
        "--tester",
        "random",
    ];
    let output = command_in(folder, &args).env("IOXIDE_HINTS", "on").output().expect("the program runs");
    let json: Json = serde_json::from_slice(&output.stdout).expect("JSON");
    let schema = crate::program::run(&["schema", "output-test"]).stdout;
    let schema = serde_json::from_slice(&schema).expect("JSON");
    assert_eq!(crate::schema::violations(&schema, &json), Vec::<String>::new(), "{json}");
    let facts = json["evidence"]["facts"].as_array().expect("facts");
    let difference = facts.iter().find(|fact| fact["kind"] == "difference").expect("a difference");
    let text = fs::read_to_string(folder.join("runs/campaign.jsonl")).expect("a record");
    let events: Vec<Json> = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let verdicts = events.iter().filter(|event| event["event"]["verdict"]["kind"] == "forbidden");
    let failures = verdicts.count();
    let said = difference["text"].as_str().expect("a text");
    assert!(failures > 0, "{json}");
    let is_counted = match failures {
        1 => said.starts_with("one run failed"),
        n => {
            said.starts_with(&format!("all {n} failing runs"))
                || said.contains(&format!(" of {n} failing runs"))
        }
    };
    assert!(is_counted, "{said}: {failures} failures");
    check_answers(facts, &events);
    // Every proposal allows all runs: the same as `repair` promises, checked by `judge`.
    let changes = &json["evidence"]["changes"]["proposals"];
    assert!(changes.as_array().is_some_and(|all| !all.is_empty()), "{json}");
    let page = fs::read_to_string(folder.join("runs/report.html")).expect("a page");
    assert!(page.contains(r#""evidence":{"facts":["#), "the page has the evidence");
    assert!(page.contains(r#""changes":[{"reason":"#), "the page has the changes that were found");
    // The page that is made later has the facts; nobody waits for changes.
    print_in(folder, &["report", "runs", "--html", "later.html"]);
    let page = fs::read_to_string(folder.join("later.html")).expect("a page");
    assert!(
        page.contains(r#""evidence":{"facts":["#) && page.contains(r#""changes":[],"#),
        "the facts alone"
    );
}

/// The transitions taken at each step of every run, and whether the run failed, read from the lines of a record.
fn runs_of(events: &[Json]) -> Vec<(Vec<Vec<&str>>, bool)> {
    let mut runs: Vec<(Vec<Vec<&str>>, bool)> = Vec::new();
    for event in events.iter().map(|event| &event["event"]) {
        if event["run_started"].is_object() {
            runs.push((Vec::new(), false));
        }
        let Some((steps, has_failed)) = runs.last_mut() else { continue };
        *has_failed |= event["verdict"]["kind"] == "forbidden";
        for kind in ["stimulus", "observation"].into_iter().filter(|kind| event[*kind].is_object()) {
            let switches = event[kind]["switches"].as_array().into_iter().flatten();
            steps.push(switches.filter_map(Json::as_str).collect());
        }
    }
    runs
}

/// Returns how often a transition was taken, how often it was answered as the model says, and in how many runs.
fn count_answers(runs: &[(Vec<Vec<&str>>, bool)], switch: &str) -> (usize, usize, usize) {
    let (mut taken, mut times, mut in_runs) = (0, 0, 0);
    for (steps, has_failed) in runs {
        let last = steps.len() - usize::from(*has_failed);
        let own = (0..steps.len()).filter(|&at| steps[at] == [switch]);
        taken += own.clone().count();
        let answered = own.filter(|at| at + 1 < last).count();
        (times, in_runs) = (times + answered, in_runs + usize::from(answered > 0));
    }
    (taken, times, in_runs)
}

fn plural(n: usize, word: &str) -> String {
    format!("{n} {word}{}", if n == 1 { "" } else { "s" })
}

/// Compares how often the input before the first failure was answered with the lines of the record.
fn check_answers(facts: &[Json], events: &[Json]) {
    let fact =
        facts.iter().find(|fact| fact["kind"] == "answered-elsewhere" || fact["kind"] == "never-answered");
    let said = fact.expect("a fact about the input").get("text").and_then(Json::as_str).expect("a text");
    let switch = said.split('`').nth(1).expect("a transition");
    let (taken, times, in_runs) = count_answers(&runs_of(events), switch);
    let expected = if times > 0 {
        format!("was taken {} in {} with", plural(times, "time"), plural(in_runs, "run"))
    } else {
        format!("was taken {} and never answered", plural(taken, "time"))
    };
    assert!(said.contains(&expected), "{said}: {expected}");
}

/// A box that stores a number; the wrong model says that it forgets the number 3.
const NUMBER_BOX: &str = "model NumberBox {
    input put(n: 0..3)
    input get
    output stored
    output value(n: int)
    var held: int = 0
    state idle {
        put: on put { held = n } -> storing
        get: on get -> telling
    }
    state storing { ok: emit stored -> idle }
    state telling { tell: emit value(n: held) -> idle }
}
";

/// The facts about the other input and the expected output, counted again; and the reports that show them.
#[test]
fn facts_about_other_transitions_are_what_the_record_says_and_reports_show_them() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    fs::write(folder.join("box.iox"), NUMBER_BOX).expect("a file");
    let wrong = NUMBER_BOX.replace("value(n: held)", "value(n: if held == 3 then 0 else held)");
    fs::write(folder.join("model.iox"), wrong).expect("a file");
    let args = ["test", "model.iox", "--sut", "model:box.iox", "--seed", "3", "--report", "runs", "--json"];
    let more = ["--keep", "all", "--keep-going", "--runs", "8", "--tester", "random", "--no-shrink"];
    let output = command_in(folder, &[&args[..], &more].concat()).output().expect("the program runs");
    let json: Json = serde_json::from_slice(&output.stdout).expect("JSON");
    let text = fs::read_to_string(folder.join("runs/campaign.jsonl")).expect("a record");
    let events: Vec<Json> = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let runs = runs_of(&events);
    let facts = json["evidence"]["facts"].as_array().expect("facts");
    let fact = |kind: &str| {
        let found = facts.iter().find(|fact| fact["kind"] == kind);
        found.and_then(|fact| fact["text"].as_str()).unwrap_or_else(|| panic!("no {kind}: {json}")).to_owned()
    };
    let (_, answered, _) = count_answers(&runs, "put");
    let expected =
        format!("`put`, from the same state, was answered {} as the model", plural(answered, "time"));
    assert!(answered > 0 && fact("sibling").starts_with(&expected), "{}: {expected}", fact("sibling"));
    let (seen, ..) = count_answers(&runs, "tell");
    let expected = format!("`tell`, which was expected, was seen {} elsewhere", plural(seen, "time"));
    assert!(seen > 0 && fact("allowed-elsewhere") == expected, "{}: {expected}", fact("allowed-elsewhere"));
    // The reports of the campaign, and those that are made of its record later.
    print_in(folder, &["report", "runs", "--junit", "later.xml"]);
    print_in(folder, &["report", "runs", "--markdown", "later.md"]);
    for name in ["runs/junit.xml", "runs/summary.md", "later.xml", "later.md"] {
        let report = fs::read_to_string(folder.join(name)).expect("a report");
        for fact in facts {
            let text = fact["text"].as_str().expect("a text");
            assert!(report.contains(text), "{name} has not `{text}`:\n{report}");
        }
        let head = "does not decide whether the system or the model is wrong";
        assert_eq!(report.matches(head).count(), 1, "{name}:\n{report}");
    }
    // Without the model nothing is known about the other input.
    fs::remove_file(folder.join("model.iox")).expect("it is there");
    print_in(folder, &["report", "runs", "--markdown", "alone.md"]);
    let report = fs::read_to_string(folder.join("alone.md")).expect("a report");
    assert!(!report.contains("Evidence"), "{report}");
}
