//! Complete suites of models with data, from the command line.

use crate::program::{check, print};

const ATM: &str = "examples/atm/untimed.iox";
const METER: &str = "examples/fsm/meter.iox";

#[test]
fn a_suite_passes_on_the_model_and_says_what_that_proves() {
    let sut = format!("model:{ATM}");
    let done = ["guarantee: if the system has at most 2 states over 6 input classes"];
    check(
        &["test", ATM, "--tester", "complete", "--sut", &sut, "--seed", "1", "--time-limit", "none"],
        0,
        &done,
    );
    let part = [
        "test",
        ATM,
        "--tester",
        "complete",
        "--sut",
        &sut,
        "--seed",
        "1",
        "--time-limit",
        "none",
        "--runs",
        "3",
    ];
    check(&part, 0, &["guarantee: none yet; after all", "suite: 3 of"]);
    check(&["test", ATM, "--tester", "complete:extra", "--sut", &sut], 2, &["complete:extra=1"]);
}

#[test]
fn a_written_suite_carries_its_claim() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("meter.suite").display().to_string();
    check(&["complete", METER, "--extra", "1", "--out", &path], 0, &["up to 5 states"]);
    let tester = format!("suite:{path}");
    let right = format!("model:{METER}");
    check(&["test", METER, "--tester", &tester, "--sut", &right, "--seed", "1"], 0, &["guarantee: if"]);
    let wrong =
        ["test", METER, "--tester", &tester, "--sut", "model:examples/fsm/meter-faulty.iox", "--seed", "1"];
    check(&wrong, 1, &["guarantee: none, a test failed"]);
}

#[test]
fn the_claim_is_data_too() {
    let (text, _) = print(&["complete", METER, "--json"]);
    let result: serde_json::Value = serde_json::from_str(text.trim()).expect("JSON");
    assert_eq!(result["claim"]["bound"], 4);
    assert_eq!(result["claim"]["whole"], true);
    assert_eq!(result["input_classes"].as_array().map(Vec::len), Some(3));
    assert!(result["claim"]["statement"].as_array().is_some_and(|lines| lines.len() >= 4));
}

#[test]
fn what_has_no_complete_suite_says_why() {
    check(&["complete", "examples/atm/atm.iox"], 3, &["the model has clocks"]);
    check(&["complete", "examples/slot-machine.iox"], 5, &["always answer `coin` with"]);
    check(&["complete", METER, "--method", "q"], 2, &["spyh"]);
    check(&["complete", METER, "--only", "nobody"], 2, &["`nobody`"]);
    check(
        &["test", "examples/cas/timed.iox", "--tester", "complete", "--sut", "model:examples/cas/timed.iox"],
        2,
        &["clocks"],
    );
}

/// A model that leaves a choice, a system that makes it, and one that says what the model does not allow.
#[test]
fn choices_are_tested_by_counting_states() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, low: &str| {
        let path = folder.path().join(name);
        let text = format!(
            "model Toss {{ input toss(n: int) output head(n: int) output tail(n: int) output low
                state idle {{ t: on toss when n > 0 -> up  u: on toss when n <= 0 -> down }}
                state up {{ h: emit head(n: n_was) -> idle }}
                state down {{ l: emit {low} -> idle }} }}"
        );
        let text = text.replace("output low", "output low var n_was: int = 0")
            .replace("when n > 0 -> up", "when n > 0 { n_was = n } -> up")
            .replace("h: emit head(n: n_was) -> idle", "h: emit head(n: n_was) -> idle  k: emit tail(n: \
                n_was) -> heads")
            .replace("state down", "state heads { v: on toss when n > 0 { n_was = n } -> back  w: on toss \
                                    when n <= 0 -> low2 }
                state back { b: emit head(n: n_was + 1) -> idle } state low2 { c: emit low -> heads } state down");
        std::fs::write(&path, text).expect("a file");
        path.display().to_string()
    };
    let (model, wrong) = (write("toss.iox", "low"), write("wrong.iox", "tail(n: 0)"));
    check(&["complete", &model], 5, &["leaves a choice"]);
    let right = format!("model:{model}");
    check(
        &["complete", &model, "--sut", &right, "--repeat", "12"],
        0,
        &["pass: only answers that the model allows"],
    );
    let wrong = format!("model:{wrong}");
    check(&["complete", &model, "--sut", &wrong, "--repeat", "12"], 1, &["is not allowed"]);
}

#[test]
fn suites_that_others_wrote_are_judged() {
    let folder = tempfile::tempdir().expect("a folder");
    let mine = folder.path().join("mine.txt");
    std::fs::write(&mine, "open close open # a test\nlock open\n").expect("a file");
    let mine = mine.display().to_string();
    let door = "examples/fsm/door.txt";
    check(&["fsm", door, "--check-suite", &mine], 5, &["not complete", "wrongly"]);
    let suite = folder.path().join("door.suite").display().to_string();
    for method in ["w", "hsi", "h", "s"] {
        check(&["fsm", door, "--suite", method, "--out", &suite], 0, &[]);
        check(&["fsm", door, "--check-suite", &suite], 0, &["complete: the"]);
        check(&["fsm", door, "--check-suite", &suite, "--extra", "1"], 5, &["not complete"]);
    }
}

/// A receiver that counts frames: the number it expects is shown by answers.
const RECEIVER: &str = "model Receiver {
    input frame(n: int)
    output ack(n: int)
    output nak
    var expected: int = 0
    state idle {
        right: on frame when n == expected { expected = expected + 1 } -> good
        wrong: on frame when n != expected -> bad
    }
    state good { acked: emit ack(n: expected - 1) -> idle }
    state bad { refused: emit nak -> idle }
}";

/// A room that one person books: only guards read who it is.
const BOOKING: &str = "model Booking {
    input book(who: int)
    input cancel(who: int)
    output booked
    output freed
    output refused
    var owner: int = 0
    state free {
        take: on book when who > 0 { owner = who } -> say_booked
        nobody: on cancel -> say_refused_free
    }
    state taken {
        busy: on book when who > 0 -> say_refused
        leave: on cancel when who == owner -> say_freed
        foreign: on cancel when who != owner -> say_refused
    }
    state say_booked { a: emit booked -> taken }
    state say_freed { b: emit freed -> free }
    state say_refused { c: emit refused -> taken }
    state say_refused_free { d: emit refused -> free }
}";

/// Defect: the claim said that an update may be what another transition assigns, and the suite missed these two; the
/// second is of a variable that no answer shows.
#[test]
fn a_system_that_makes_the_update_of_another_transition_fails_a_test() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).display().to_string();
    let faults = [
        (RECEIVER, "n != expected ->", "n != expected { expected = expected + 1 } ->"),
        (BOOKING, "busy: on book when who > 0 ->", "busy: on book when who > 0 { owner = who } ->"),
    ];
    for (right, here, wrong) in faults {
        assert!(right.contains(here));
        std::fs::write(path("right.iox"), right).expect("written");
        std::fs::write(path("wrong.iox"), right.replacen(here, wrong, 1)).expect("written");
        let (model, suite) = (path("right.iox"), path("suite"));
        check(&["conform", &path("wrong.iox"), &model], 1, &["FAILS"]);
        check(&["complete", &model, "--out", &suite], 0, &["assigns to it as another transition does"]);
        let tester = format!("suite:{suite}");
        let test =
            |sut: &str| ["test", &model, "--tester", &tester, "--seed", "1", "--sut", sut].map(String::from);
        let args = test(&format!("model:{}", path("wrong.iox")));
        check(&args.each_ref().map(String::as_str), 1, &["guarantee: none, a test failed"]);
        let args = test(&format!("model:{model}"));
        // The guarantee states all that it assumes.
        let told = [
            "guarantee: if",
            "treats inputs of one class alike",
            "Its guards use",
            "It may give",
            "It updates its variables",
        ];
        check(&args.each_ref().map(String::as_str), 0, &told);
    }
}

/// A fault that shows only if the system chooses to show it is no part of the claim.
#[test]
fn what_the_system_may_hide_is_not_covered_and_said() {
    let text =
        check(&["complete", "examples/cas/cas.iox"], 5, &["not part of the fault domain", "Not covered: "]);
    assert!(text.contains("The tests send an input only while the system is silent"), "{text}");
}
