//! Repairs of models by recorded runs, as a user asks for them.

use std::fs;
use std::path::Path;

use serde_json::Value as Json;

use crate::program::{check_in, command_in, print_in, printed, root};

/// A folder with the lock of the examples as the system, and a model that locks one word too early.
fn folder() -> tempfile::TempDir {
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

fn record(folder: &Path, seed: &str) {
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
    let with_hints = |value: &str| {
        let output = command_in(folder, &args).env("IOXIDE_HINTS", value).output().expect("the program runs");
        printed(&output).0
    };
    let text = with_hints("on");
    for words in ["evidence", "failed: ", "if the system is right"] {
        assert!(text.contains(words), "`{words}` is missing:\n{text}");
    }
    assert!(!with_hints("off").contains("evidence"));
}
