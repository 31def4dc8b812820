//! Recorded runs that are judged, repeated and shrunk.

use crate::program::print as ioxide;

const SPEC: &str = "examples/brp/spec.iox";
const FAULTY: &str = "model:examples/brp/m5.iox";

/// A folder with the record of a failing run.
fn recorded() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().to_string_lossy().into_owned();
    let (text, code) =
        ioxide(&["test", SPEC, "--sut", FAULTY, "--tester", "cover", "--seed", "3", "--report", &path]);
    assert_eq!(code, 1, "{text}");
    folder
}

#[test]
fn a_recorded_failure_is_judged_the_same() {
    let folder = recorded();
    let path = folder.path().to_string_lossy().into_owned();
    let (text, code) = ioxide(&["judge", SPEC, &path]);
    assert_eq!(code, 1, "{text}");
    assert!(text.contains("FAIL at step 18") && text.contains("!OCONF(c: 2) [r12]"), "{text}");
    // The faulty system's own model allows it.
    let (text, code) = ioxide(&["judge", "examples/brp/m5.iox", &path]);
    assert_eq!((text.as_str(), code), ("PASS: 18 steps are allowed\n", 0));
    let (text, code) = ioxide(&["judge", SPEC, &format!("{path}/campaign.jsonl"), "--json"]);
    assert_eq!(code, 1);
    let json: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!((&json["verdict"], &json["steps"]), (&"fail".into(), &18.into()));
}

#[test]
fn a_recorded_failure_is_shrunk_where_it_still_fails() {
    let folder = recorded();
    let path = folder.path().to_string_lossy().into_owned();
    let (text, code) = ioxide(&["shrink", &path, "--sut", FAULTY]);
    assert_eq!(code, 1, "{text}");
    assert!(text.contains("minimal failing run: 18 steps"), "{text}");
    // Where it does not happen again nothing is shrunk, and both runs are shown.
    let (text, code) = ioxide(&["shrink", &path, "--sut", "model:examples/brp/spec.iox"]);
    assert_eq!(code, 5, "{text}");
    assert!(text.contains("did not happen again") && !text.contains("failing run:"), "{text}");
    assert!(text.contains("recorded:  ?IREQ") && text.contains("this time: ?IREQ"), "{text}");
    // Another failure is not the one that was recorded.
    let (text, code) = ioxide(&["shrink", &path, "--sut", "model:examples/brp/m3.iox"]);
    assert_eq!(code, 5, "{text}");
    assert!(text.contains("recorded:  ?IREQ") && !text.contains("failing run:"), "{text}");
}

#[test]
fn a_trace_that_cannot_be_read_is_a_usage_error() {
    for trace in ["no-such-file", "examples/brp/m1.iox"] {
        let (text, code) = ioxide(&["judge", SPEC, trace]);
        assert_eq!(code, 2, "{text}");
        assert!(text.starts_with("error: "), "{text}");
    }
}
