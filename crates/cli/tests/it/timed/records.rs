//! Runs recorded in virtual time that are judged, repeated and shrunk.

use ioxide_test_support::test_cases;
use tempfile::TempDir;

use super::{ATM, LATE, file, folder, ioxide, python, test};

/// The record of a failing run.
fn recorded(sut: &str, tester: &str) -> (TempDir, String) {
    let records = folder();
    let path = records.path().to_string_lossy().into_owned();
    test(sut, &["--tester", tester, "--runs", "40", "--no-shrink", "--report", &path]).expect(1, &["FAIL_"]);
    (records, path)
}

#[test]
fn the_judge_agrees_with_the_run() {
    let (_folder, path) = recorded(&format!("model:{LATE}"), "random");
    ioxide(&["judge", ATM, &path]).expect(1, &["FAIL", "`wclock <= 1s` does not hold"]);
    ioxide(&["judge", LATE, &path]).expect(0, &["PASS"]);
    for (flag, says) in [("--more", "`asked == amt`"), ("--silent", "its deadline has passed")] {
        let Some(sut) = python(flag) else { return };
        let (_folder, path) = recorded(&sut, "purpose:cash");
        ioxide(&["judge", ATM, &path]).expect(1, &["FAIL", says]);
    }
}

#[test]
fn a_failing_run_fails_again_and_can_be_made_smaller() {
    let faults = [("--late", "`wclock <= 1.0`"), ("--silent", "FAIL_dur"), ("--more", "`asked == amt`")];
    for &(flag, says) in test_cases(2, &faults) {
        let Some(sut) = python(flag) else { return };
        let (_folder, path) = recorded(&sut, "random");
        ioxide(&["replay", &path, "--sut", &sut]).expect(1, &["FAIL", says, "failed again 3 of 3 times"]);
        let ended = ioxide(&["shrink", &path, "--sut", &sut, "--attempts", "60"]);
        ended.expect(1, &["failing run:", says]);
        let Some(sut) = python("") else { return };
        let ended = ioxide(&["replay", &path, "--sut", &sut]);
        assert!([0, 5].contains(&ended.code), "{}", ended.text);
    }
}

#[test]
fn a_shrunk_run_is_no_longer_than_it_must_be() {
    let Some(sut) = python("--more") else { return };
    let (_folder, path) = recorded(&sut, "random");
    let ended = ioxide(&["shrink", &path, "--sut", &sut]);
    // A request, the debit, the answer of the bank, the money; three times pass between.
    ended.expect(1, &["minimal failing run: 7 steps"]);
}

/// A plain trace of the ATM, judged.
fn judged(lines: &[&str], more: &[&str]) -> super::Ended {
    let (_folder, trace) = file("trace.jsonl", &lines.join("\n"));
    ioxide(&[&["judge", ATM, &trace], more].concat())
}

const TRANSC: &str = r#"{"label": "Transc", "args": {"amt": 50, "tb": 4}, "time": 2}"#;

#[test]
fn a_trace_from_elsewhere_has_times() {
    let debit = |when: &str| {
        format!(r#"{{"label": "Debit", "args": {{"rid": 1, "amount": 51, "machine": 7}}, {when}}}"#)
    };
    judged(&[TRANSC, &debit(r#""time": 3"#)], &[]).expect(0, &["PASS"]);
    judged(&[TRANSC, &debit(r#""after": "1/2""#)], &[]).expect(0, &["PASS"]);
    judged(&[TRANSC, &debit(r#""time": 3.001"#)], &[]).expect(1, &["FAIL", "`wclock <= 1.0`"]);
    judged(&[TRANSC, &debit(r#""time": 3.001"#)], &["--latency-ms", "1"]).expect(0, &["PASS"]);
    judged(&[TRANSC, &debit(r#""time": 3.001"#)], &["--resolution-ms", "1"]).expect(0, &["PASS"]);
    judged(&[TRANSC, r#"{"time": 2.5}"#], &[]).expect(0, &["PASS"]);
    judged(&[TRANSC, r#"{"after": 1.5}"#], &[]).expect(1, &["FAIL", "its deadline has passed"]);
}

#[test]
fn a_trace_with_wrong_times_is_refused_by_its_line() {
    let rows = [
        (r#"{"label": "Transc", "args": {"amt": 50, "tb": 4}, "time": 1}"#, "line 2: time goes back"),
        (r#"{"after": -1}"#, "line 2: a negative delay: `after` is -1"),
        (r#"{"time": "soon"}"#, "line 2: `time` is \"soon\"; write a time in seconds"),
        (r#"{"time": [3]}"#, "line 2: `time` is [3]; write a time in seconds"),
        (r#"{"time": 3, "after": 1}"#, "line 2: both `time` and `after`"),
        (r#"{"after": 1e999999999}"#, "line 2: "),
        (r#"{"quiescence": true, "label": "Abort"}"#, "line 2: a message and silence in one line"),
    ];
    for (line, says) in rows {
        judged(&[TRANSC, line], &[]).expect(2, &[says]);
    }
}
