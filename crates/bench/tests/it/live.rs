//! A share of `bench live`: counts, no times.

use std::process::Command;

use serde_json::Value as Json;

/// Tests a system of the measurement, for two seconds each time.
#[track_caller]
fn measure_systems(only: &str) -> Vec<Json> {
    let output = Command::new(env!("CARGO_BIN_EXE_ioxide-bench"))
        .args(["bench", "live", "--seed", "5", "--json", "--for", "2s", "--only", only])
        .output()
        .expect("the program runs");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let told: Json = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {output:?}"));
    assert_eq!((&told["false_fails"], output.status.code()), (&Json::from(0), Some(0)), "{told:#}");
    crate::check_schema(&told);
    let rows = told["systems"].as_array().expect("a list").clone();
    assert_eq!(rows.len(), 2, "two testers: {told:#}");
    assert!(rows.iter().all(|row| row["steps_per_second"].as_f64() > Some(0.0)), "{told:#}");
    rows
}

#[test]
fn correct_stores_never_fail_and_a_fault_in_process_is_found() {
    let rows = measure_systems("in process");
    assert!(rows[0]["found"].as_u64() > Some(0), "{rows:?}");
    measure_systems("two connections");
    measure_systems("http");
    measure_systems("restart 0.3");
}
