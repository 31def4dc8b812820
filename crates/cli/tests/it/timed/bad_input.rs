//! Mistakes of people: cases that are stale or broken, paths and purposes that are none, clocks as data.

use std::fs;

use super::{ATM, Ended, cash_case, file, ioxide, test};

/// Runs a case file on the model it may or may not fit.
fn run_case(text: &str) -> Ended {
    let (_folder, case) = file("case.json", text);
    test(&format!("model:{ATM}"), &["--tester", &format!("case:{case}"), "--runs", "1"])
}

#[test]
fn a_case_file_that_is_stale_or_broken_is_refused() {
    let (_folder, path) = cash_case();
    let whole = fs::read_to_string(path).expect("the case");
    let changed = |from: &str, to: &str| {
        assert!(whole.contains(from), "{from}");
        whole.replacen(from, to, 1)
    };
    let again = "make it again with `ioxide case`";
    let write = "write one with `ioxide case";
    run_case(&changed("\"arcs\": 31", "\"arcs\": 32"))
        .expect(2, &["does not fit the model: it has 32", again]);
    run_case(&changed("\"tr4\"", "\"tr44\"")).expect(2, &["the model has no `tr44`", again]);
    run_case(&changed("\"tr4\"", "\"tr9\"")).expect(2, &["error: "]);
    run_case(&changed("\"Atm\"", "\"Bank\"")).expect(2, &["a case of the model `Bank`, not of `Atm`"]);
    run_case(&whole[..whole.len() / 2]).expect(2, &["is not a test case", write]);
    run_case("{}").expect(2, &["is not a test case", write]);
    run_case("").expect(2, &["is not a test case", write]);
    test(&format!("model:{ATM}"), &["--tester", "case:no-such.json"]).expect(2, &["no-such.json"]);
    test(&format!("model:{ATM}"), &["--tester", "case:"]).expect(2, &["error: "]);
}

#[test]
fn a_case_of_the_published_generator_is_not_run() {
    let made = ioxide(&["case", ATM, "--purpose", "cash", "--pruning", "tool"]);
    run_case(&made.text).expect(2, &["does not fit the model"]);
}

/// Tests a model against itself.
fn model(text: &str, more: &[&str]) -> Ended {
    let (_folder, path) = file("m.iox", text);
    ioxide(&[&["test", &path, "--sut", &format!("model:{path}"), "--seed", "1"], more].concat())
}

#[test]
fn a_clock_is_no_data() {
    let read = "model M { input a output b(x: real) clock c\n\
        state s { on a { reset c } -> t } state t { emit b(x: c) -> s } }";
    let kept = "model M { input a output b var n: real = 0.0 clock c\n\
        state s { on a { n = c } -> t } state t { emit b -> s } }";
    model(kept, &[]).expect(3, &["error[E0406]: clock `c` cannot be read in an update"]);
    model(read, &[]).expect(3, &["error[E0406]: clock `c` cannot be read in a pin", "compared in guards"]);
}

#[test]
fn a_purpose_that_cannot_be_followed_is_told() {
    let dead = "model M { input a output b clock c\n\
        state s { i: on a { reset c } -> t } state t { o: emit b when c <= 1s && c >= 2s -> s p: emit b -> s }\n\
        purpose never: i, o }";
    let reason = "no path meets `never`: proved out of reach";
    model(dead, &["--tester", "purpose:never"]).expect(5, &[reason]);
    model(dead, &["--tester", "purpose:nothing"]).expect(2, &["no purpose `nothing`", "there is `never`"]);
    let (_folder, path) = file("m.iox", dead);
    ioxide(&["case", &path, "--purpose", "never"]).expect(5, &[reason]);
    ioxide(&["case", &path, "--path", "i,o"])
        .expect(2, &["cannot be followed", "`o` (step 2) is impossible"]);
}

#[test]
fn times_that_are_none_are_usage_errors() {
    for flag in ["--latency-ms", "--resolution-ms"] {
        for value in ["-1", "soon", "1.5"] {
            let ended = test(&format!("model:{ATM}"), &[&format!("{flag}={value}")]);
            ended.expect(2, &["invalid value"]);
        }
    }
    test(&format!("model:{ATM}"), &["--clock", "moon"])
        .expect(2, &["possible values: offered, wall, virtual"]);
}
