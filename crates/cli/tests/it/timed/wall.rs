//! The clock of this machine: the ATM served over TCP by the project file of the example.

use std::fs;

use tempfile::TempDir;

use super::{ATM, FAULTS, cash_case, folder, ioxide, ioxide_in, python, root};

/// Tests the served machine; runs in which the tester is too late are tried again.
fn served(flag: &str, more: &[&str]) -> super::Ended {
    let args = ["test", "atm.iox", "--sut", "atm", "--clock", "wall", "--latency-ms", "200", "--seed", "1"];
    let args = [&args[..], &["--runs", "3", "--no-shrink"], more].concat();
    ioxide_in(&root().join("examples/atm"), &args, &[("ATM_FLAGS", flag)])
}

#[test]
fn a_served_machine_is_judged_by_its_purpose() {
    if python("").is_none() {
        return;
    }
    for (flag, code, _, judged, part) in FAULTS {
        served(flag, &["--tester", "purpose:cash"]).expect(code, &[judged, part]);
    }
}

#[test]
fn a_served_machine_is_judged_by_a_test_case() {
    if python("").is_none() {
        return;
    }
    let (_folder, case) = cash_case();
    let case = format!("case:{case}");
    for (flag, code, guided, _, part) in FAULTS {
        let ended = served(flag, &["--tester", &case]);
        ended.expect(code, &[part, if code == 0 { "passed" } else { guided }]);
    }
}

/// The record of a run on the wall clock.
fn recorded(flag: &str) -> Option<(TempDir, String)> {
    python("")?;
    let records = folder();
    let path = records.path().to_string_lossy().into_owned();
    let ended = served(flag, &["--tester", "purpose:cash", "--report", &path]);
    assert!(ended.code < 2, "{}", ended.text);
    Some((records, path))
}

#[test]
fn a_recorded_run_is_judged_with_the_tolerance_it_had() {
    let Some((_folder, path)) = recorded("--late") else { return };
    ioxide(&["judge", ATM, &path]).expect(1, &["FAIL", "`wclock <= 1.0`"]);
    ioxide(&["judge", ATM, &path, "--latency-ms", "200"]).expect(1, &["FAIL", "`wclock <= 1.0`"]);
    // So far could a message never be on its way, but if it could, the machine would not be to blame.
    ioxide(&["judge", ATM, &path, "--latency-ms", "2000"]).expect(0, &["PASS"]);
    let Some((folder, path)) = recorded("") else { return };
    ioxide(&["judge", ATM, &path]).expect(0, &["PASS"]);
    let record = fs::read_to_string(folder.path().join("campaign.jsonl")).expect("a record");
    assert!(record.contains(r#""tolerance":{"latency_ns":200000000,"resolution_ns":0,"#), "{record}");
}
