//! Constants that are set for a specification hold for the same file played as the system; other files have theirs in
//! their name.

use std::fs;
use std::path::Path;

use crate::program::run_in;

/// Accepts `N` coins before it says so.
const MODEL: &str = "model Coins {
    const N = 2
    const MESSAGE_LIMIT = 9

    input coin
    output full(n: int)

    var seen: int = 0

    state open {
        more: on coin when seen + 1 < N { seen = seen + 1 } -> open
        last: on coin when seen + 1 >= N { seen = seen + 1 } -> closed
    }
    state closed {
        full: emit full(n: seen) { seen = 0 } -> open
    }
}
";

#[track_caller]
fn check(folder: &Path, args: &[&str], code: i32, words: &str) {
    let output = run_in(folder, args);
    let text =
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(code), "{args:?}: {text}");
    assert!(text.contains(words), "{args:?}: {text}");
}

fn prepared() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("m.iox"), MODEL).expect("a model");
    fs::write(folder.path().join("other.iox"), MODEL).expect("a model");
    let project = "[sut.same]\nkind = \"model\"\nfile = \"m.iox\"\n\n[sut.four]\nkind = \"model\"\n\
                   file = \"other.iox?N=4\"\n";
    fs::write(folder.path().join("ioxide.toml"), project).expect("a project file");
    folder
}

const TEST: [&str; 8] = ["test", "m.iox", "--seed", "1", "--tester", "random", "--runs", "5"];

#[test]
fn a_model_passes_against_itself_whatever_is_set_for_it() {
    let folder = prepared();
    let folder = folder.path();
    for sut in ["model:m.iox", "model:./m.iox", "model:../m.iox", "same"] {
        let sut = sut.replace("..", &folder.display().to_string());
        check(folder, &[&TEST[..], &["--set", "N=4", "--sut", &sut]].concat(), 0, "");
    }
    check(
        folder,
        &["learn", "m.iox", "--set", "N=3", "--sut", "model:m.iox", "--seed", "1", "--out", "l.iox"],
        0,
        "3 states",
    );
    check(folder, &["fsm", "l.iox", "--reduction", "--sut", "model:m.iox?N=3", "--bound", "3"], 0, "");
    check(folder, &["complete", "m.iox", "--set", "N=3", "--sut", "model:m.iox"], 0, "");
}

#[test]
fn other_files_have_their_constants_in_their_name() {
    let folder = prepared();
    let folder = folder.path();
    let test = |more: &[&str], code, words| check(folder, &[&TEST[..], more].concat(), code, words);
    test(&["--set", "N=4", "--sut", "model:other.iox"], 1, "");
    test(&["--set", "N=4", "--sut", "model:other.iox?N=4"], 0, "");
    test(&["--set", "N=4", "--sut", "model:other.iox?MESSAGE_LIMIT=3&N=4"], 0, "");
    test(&["--set", "N=4", "--sut", "four"], 0, "");
    test(&["--sut", "four"], 1, "");
    // The name counts more than what is set for the specification.
    test(&["--set", "N=4", "--sut", "model:m.iox?N=3"], 1, "");
}

#[test]
fn a_record_is_replayed_and_shrunk_with_its_constants() {
    let folder = prepared();
    let folder = folder.path();
    let test = [&TEST[..], &["--set", "N=4", "--sut", "model:other.iox?N=3", "--report", "runs"]].concat();
    check(folder, &test, 1, "");
    check(folder, &["replay", "runs", "--sut", "model:other.iox?N=3"], 1, "");
    check(folder, &["replay", "runs", "--sut", "model:m.iox"], 0, "");
    check(folder, &["shrink", "runs", "--sut", "model:other.iox?N=3"], 1, "");
}

#[test]
fn mutants_are_those_of_the_model_with_its_constants() {
    let folder = prepared();
    let folder = folder.path();
    let listed = run_in(folder, &["mutate", "m.iox", "--set", "N=4", "--json"]);
    let listed: serde_json::Value = serde_json::from_slice(&listed.stdout).expect("JSON");
    let id = listed["mutants"][0]["id"].as_str().expect("an id").to_owned();
    let sut = format!("model:m.iox#{id}");
    let test = |sut: &str| {
        let output = run_in(folder, &[&TEST[..], &["--set", "N=4", "--sut", sut, "--json"]].concat());
        (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
    };
    let (code, text) = test(&sut);
    assert!(matches!(code, Some(0 | 1)), "{text}");
    assert_eq!(test(&format!("model:other.iox?N=4#{id}")), (code, text));
}

#[test]
fn a_constant_that_is_none_is_refused_with_the_nearest_name() {
    let folder = prepared();
    let folder = folder.path();
    let test = |sut: &str, words| check(folder, &[&TEST[..], &["--sut", sut]].concat(), 2, words);
    test("model:other.iox?MESSAGE_LIMT=3", "did you mean `MESSAGE_LIMIT`?");
    test("model:other.iox?NOPE=3", "its constants are");
    test("model:other.iox?N", "`N` is not NAME=VALUE");
    test("model:other.iox?N=4&", "is not NAME=VALUE");
    test("model:other.iox?N=hello", "`--set N=hello` does not fit");
}
