//! Virtual time: models in this process, models in another one, the machine in Python.

use std::fs;

use super::{ATM, FAULTS, LATE, cash_case, finding, folder, ioxide, played, python, test};

const SAME: &str = "model:examples/atm/atm.iox";

#[test]
fn a_model_passes_its_own_tests() {
    let (_folder, case) = cash_case();
    for tester in ["random", "cover", "purpose:cash", &format!("case:{case}")] {
        let ended = test(SAME, &["--tester", tester, "--runs", "12", "--json"]);
        assert!([0, 5].contains(&ended.code), "{tester}: {}", ended.text);
        assert!(ended.text.contains("\"failed\":0") && ended.text.contains("\"errors\":0"), "{}", ended.text);
    }
    test(SAME, &["--tester", "random", "--runs", "12"]).expect(0, &["12 passed"]);
}

#[test]
fn a_late_model_is_found_by_every_tester() {
    let (_folder, case) = cash_case();
    for sut in [format!("model:{LATE}"), played(LATE)] {
        for tester in ["random", "cover", "purpose:cash", &format!("case:{case}")] {
            let ended = test(&sut, &["--tester", tester, "--runs", "40", "--no-shrink"]);
            ended.expect(1, &["FAIL_out", "`wclock <= 1s` does not hold with wclock ="]);
        }
    }
}

#[test]
fn a_model_in_another_process_is_no_other() {
    let played = played(ATM);
    for clock in ["offered", "virtual"] {
        let ended = test(&played, &["--tester", "random", "--runs", "5", "--clock", clock]);
        ended.expect(0, &["5 passed"]);
    }
}

#[test]
fn the_machine_in_python_is_judged_by_purpose_and_by_case() {
    let (_folder, case) = cash_case();
    let case = format!("case:{case}");
    for (flag, code, guided, judged, part) in FAULTS {
        let Some(sut) = python(flag) else { return };
        let ended = test(&sut, &["--tester", "purpose:cash", "--runs", "2", "--clock", "virtual"]);
        ended.expect(code, &[judged, part]);
        let records = folder();
        let report = records.path().to_str().expect("a path");
        let ended = test(&sut, &["--tester", &case, "--runs", "2", "--report", report]);
        ended.expect(code, &[part, if code == 0 { "2 passed" } else { guided }]);
        let finding = finding(records.path());
        let [word, rule, state] = ["word", "rule", "state"].map(|name| finding[name].as_str().unwrap_or("-"));
        assert_eq!(format!("{word} by {rule} at {state}"), guided, "{finding}");
        assert!(finding["event"].as_str().is_some_and(|event| event.contains(" s")), "{finding}");
    }
}

#[test]
fn a_correct_machine_in_python_passes_whatever_is_tried() {
    let Some(sut) = python("") else { return };
    test(&sut, &["--tester", "random", "--runs", "5"]).expect(0, &["5 passed"]);
    let ended = test(&sut, &["--tester", "cover", "--runs", "10", "--json"]);
    ended.expect(0, &["\"failed\":0", "\"errors\":0"]);
}

#[test]
fn the_same_seed_gives_the_same_bytes() {
    let suts = [Some(format!("model:{LATE}")), Some(played(&format!("{LATE} --seed 7"))), python("--more")];
    for sut in suts.into_iter().flatten() {
        let bytes = || {
            let records = folder();
            let report = records.path().to_str().expect("a path").to_owned();
            let more = ["--tester", "random", "--runs", "5", "--no-times", "--report", &report];
            let ended = test(&sut, &more);
            assert!(ended.code < 2, "{}", ended.text);
            fs::read(records.path().join("campaign.jsonl")).expect("a record")
        };
        assert!(bytes() == bytes(), "{sut}: records differ");
    }
}

#[test]
fn a_tester_that_knows_no_time_says_so() {
    test(SAME, &["--tester", "tour"])
        .expect(2, &["has clocks", "`tour` does not support clocks", "help: use `cover`"]);
}

#[test]
fn a_model_in_this_process_has_no_wall_clock() {
    test(SAME, &["--clock", "wall"]).expect(2, &["only virtual time", "stdio:ioxide sut"]);
}

#[test]
fn an_untimed_model_needs_no_clock() {
    let args = ["test", "examples/adder.iox", "--seed", "1", "--runs", "2", "--clock", "virtual", "--sut"];
    let sut = played("examples/adder.iox");
    ioxide(&[&args[..], &[&sut]].concat()).expect(0, &["2 passed"]);
}
