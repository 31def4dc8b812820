//! Silence as a step of purposes and test cases, as a user meets it.

use std::fs;
use std::process::Command;

use ioxide_test_support::has_program;
use tempfile::TempDir;

use crate::program::{check_in, root};

/// A bell that rings twice if it is not stopped between.
const BELL: &str = "model Bell {
    input press
    input stop
    output ring(n: int)
    var left: int = 0
    state calm { press: on press { left = 2 } -> busy }
    state busy {
        ring: emit ring when left > 0 && n == left { left = left - 1 } -> busy
        again: on press when left == 0 { left = 1 } -> busy
        stop: on stop when left == 0 -> calm
    }
    purpose twice: press, ring, ring, quiet, again, ring, quiet, stop
    purpose never: press, ring, quiet
    purpose heard { state a { quiet -> b } state b { emit ring -> c } state c { quiet -> hit } }
}
";

/// The same in time: the second ring comes within three seconds, and after silence the bell can be stopped.
const TIMED_BELL: &str = "model Bell {
    input press
    input stop
    output ring
    clock c
    state calm { press: on press { reset c } -> busy }
    state busy { ring: emit ring when c >= 1s && c <= 3s { reset c } -> rung }
    state rung { stop: on stop when c >= 2s -> calm }
    purpose rest: press, ring, quiet, stop
    purpose soon { clock w  state a { on press { reset w } -> b } state b { quiet when w >= 2s -> hit } }
}
";

fn folder() -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).expect("it is written");
    write("bell.iox", BELL);
    // Rings once more after it was silent: only a purpose that listens there sees it.
    write("late.iox", &BELL.replace("when left == 0 { left = 1 }", "when left == 0 { left = 2 }"));
    write("timed.iox", TIMED_BELL);
    // Rings once more after it was silent for a while.
    let (states, _) = TIMED_BELL.split_once("    purpose").expect("purposes");
    let echo = states.replace("{ reset c } -> rung", "{ reset c } -> twice");
    write(
        "echo.iox",
        &format!("{echo}    state twice {{ emit ring when c >= 2s && c <= 3s -> rung }}\n}}\n"),
    );
    folder
}

#[test]
fn purposes_with_silence_are_found_and_executed() {
    let folder = folder();
    let check = |args: &[&str], code, words: &[&str]| check_in(folder.path(), args, code, words);
    let found = check(
        &["purposes", "bell.iox"],
        0,
        &["purpose twice: [6] press ring ring quiet again ring quiet stop\n"],
    );
    assert!(found.contains("purpose never: proved out of reach"), "{found}");
    assert!(found.contains("purpose heard: [3] quiet press ring ring quiet\n"), "{found}");
    check(&["show", "bell.iox"], 0, &["purpose twice: press, ring, ring, quiet, again"]);
    let test = |sut: &str, name: &str, code, words: &[&str]| {
        let (sut, tester) = (format!("model:{sut}"), format!("purpose:{name}"));
        check(
            &["test", "bell.iox", "--sut", &sut, "--tester", &tester, "--seed", "1", "--runs", "3"],
            code,
            words,
        );
    };
    test("bell.iox", "twice", 0, &["purposes: 1 of 1 reached"]);
    test("bell.iox", "heard", 0, &["purposes: 1 of 1 reached"]);
    test("late.iox", "twice", 1, &["run 1: FAIL at step 6, purpose twice"]);
    let json = check(&["purposes", "bell.iox", "--json"], 0, &["\"quiet\""]);
    let read: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(read["goals"][0]["purpose"]["switches"][3], "quiet");
    assert_eq!(read["goals"][0]["purpose"]["path"][3], "quiet");
}

#[test]
fn silences_are_covered() {
    let folder = folder();
    let check = |args: &[&str], code, words: &[&str]| check_in(folder.path(), args, code, words);
    let silences = ["purposes", "bell.iox", "--cover", "silences"];
    check(&silences, 0, &["  1. [3] quiet press ring ring quiet\n", "2 of 2 silences covered"]);
    let timed = ["purposes", "timed.iox", "--cover", "silences"];
    check(&timed, 0, &["not covered: busy: proved", "2 of 3 silences covered"]);
    let test = ["test", "bell.iox", "--sut", "model:bell.iox", "--tester", "cover", "--cover", "silences"];
    check(&test, 0, &["purposes: 1 of 1 reached; their runs covered 2 of 2 silences"]);
    let tour = ["test", "bell.iox", "--sut", "model:bell.iox", "--tester", "tour", "--cover", "silences"];
    check(&tour, 2, &["use `--tester cover --cover silences`"]);
}

#[test]
fn silence_is_a_step_in_time() {
    let folder = folder();
    let check = |args: &[&str], code, words: &[&str]| check_in(folder.path(), args, code, words);
    check(
        &["purposes", "timed.iox"],
        0,
        &["purpose rest: [3] press ring quiet stop\n", "purpose soon: [1] press quiet\n"],
    );
    let test = |sut: &str, name: &str, code, words: &[&str]| {
        let (sut, tester) = (format!("model:{sut}"), format!("purpose:{name}"));
        check(
            &["test", "timed.iox", "--sut", &sut, "--tester", &tester, "--seed", "1", "--runs", "6"],
            code,
            words,
        )
    };
    test("timed.iox", "rest", 0, &["6 runs: 6 passed", "purposes: 1 of 1 reached"]);
    // The system may ring before two seconds are over, and then the purpose is missed.
    let said = test("timed.iox", "soon", 0, &["purposes: 1 of 1 reached"]);
    assert!(!said.contains("FAIL"), "{said}");
    test("echo.iox", "rest", 1, &["FAIL"]);
}

#[test]
fn paths_with_silence_are_objectives() {
    let folder = folder();
    let judge = |trace: &str, word: &str| {
        let line = |word: &str| match word.split_once('=') {
            None if word == "quiet" => "{\"silence\": true}\n".to_owned(),
            None => format!("{{\"label\": \"{word}\"}}\n"),
            Some((label, n)) => format!("{{\"label\": \"{label}\", \"args\": {{\"n\": {n}}}}}\n"),
        };
        let lines: String = trace.split(' ').map(line).collect();
        fs::write(folder.path().join("trace.jsonl"), lines).expect("it is written");
        let args = ["judge", "bell.iox", "trace.jsonl", "--objective", "twice"];
        let (text, _) = crate::program::print_in(folder.path(), &args);
        assert!(text.contains(word), "{trace}: {text}");
    };
    judge("press ring=2 ring=1 quiet ring=1", "FAIL");
    judge("press ring=2 ring=1 quiet press ring=1 quiet ring=1", "FAIL");
    // It was pressed again before it was silent: the path was left.
    judge("press ring=2 ring=1 press ring=1 ring=1", "outside");
}

#[test]
fn cases_have_silence_on_their_path() {
    let folder = folder();
    let check = |args: &[&str], code, words: &[&str]| check_in(folder.path(), args, code, words);
    let path = ["case", "bell.iox", "--path", "press,ring,ring,quiet,again,ring"];
    let text = check(
        &[&path[..], &["--format", "text"]].concat(),
        0,
        &["Bell: press ring ring quiet again ring", "R12  ec4"],
    );
    assert!(!text.contains("INC_off_path   δ"), "{text}");
    check(&["case", "bell.iox", "--purpose", "never"], 5, &["proved out of reach"]);
    check(&["case", "bell.iox", "--path", "press,ring,quiet,ring"], 2, &["`quiet` (step 3) is impossible"]);
    // Only the messages are named: the way between them is found.
    let sparse = ["case", "bell.iox", "--path", "?press,..,quiet", "--format", "text"];
    check(&sparse, 0, &["Bell: press ring ring quiet\n", "R12  PASS"]);
    for (format, word) in [
        ("json", "\"R12\""),
        ("smt2", "R12"),
        ("dot", "R12"),
        ("plantuml", "R12"),
        ("ttcn3", "silence.timeout"),
        ("rust", "\"R12\""),
        ("pytest", "\"R12\""),
        ("iox", "silence"),
    ] {
        check(&[&path[..], &["--format", format]].concat(), 0, &[word]);
    }
    let json = check(&path, 0, &[]);
    fs::write(folder.path().join("case.json"), json).expect("it is written");
    let test = |sut: &str, code, words: &[&str]| {
        let sut = format!("model:{sut}");
        check(&["test", "bell.iox", "--sut", &sut, "--tester", "case:case.json", "--runs", "1"], code, words);
    };
    test("bell.iox", 0, &["1 passed"]);
    test("late.iox", 1, &["FAIL"]);
    let timed = check(&["case", "timed.iox", "--path", "press,ring,quiet"], 0, &["\"R12\""]);
    fs::write(folder.path().join("timed.json"), timed).expect("it is written");
    let run = ["test", "timed.iox", "--sut", "model:timed.iox", "--tester", "case:timed.json", "--runs", "3"];
    check(&run, 0, &["3 passed"]);
}

#[test]
fn an_exported_test_waits_for_silence() {
    if !has_program("python3") {
        return;
    }
    let folder = folder();
    let args = ["case", "bell.iox", "--path", "press,ring,ring,quiet,again,ring,quiet", "--format", "pytest"];
    let test = check_in(folder.path(), &args, 0, &[]);
    fs::write(folder.path().join("test_bell.py"), test).expect("it is written");
    for (system, word) in [("bell.iox", "OK"), ("late.iox", "FAIL_out: R5 at ec5")] {
        let output = Command::new("python3")
            .arg("test_bell.py")
            .current_dir(folder.path())
            .env("PYTHONPATH", root().join("sdk/python"))
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .env("IOXIDE_QUIESCENCE_MS", "300")
            .env("IOXIDE_SUT", format!("stdio:{} sut {system}", crate::program::PROGRAM))
            .output()
            .expect("python3 runs");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(said.contains(word), "{system}: {said}");
    }
}
