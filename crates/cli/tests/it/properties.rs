//! `check --deep` about properties: proved, refuted or open, in the terminal and as JSON.

use serde_json::Value as Json;

use crate::program::{check, run};

/// A buffer with numbers that grow, so that exploration does not end.
const BUFFER: &str = "
model Buffer {
    const N = 3
    input put(n: int)
    output got(n: int)
    var xs: list<int> = []
    var sent: int = 0
    var received: int = 0
    state s {
        put: on put when xs.length() < N { xs = xs + [n], sent = sent + 1 }
        get: emit got(n: xs[0]) when xs.length() > 0 { xs = xs.drop(1), received = received + 1 }
    }
    ordered: always received <= sent
    few: always sent <= 2
    odd: always sent != 1000
    answered: every put is followed by got
}
";

#[test]
fn the_sum_of_the_adder_is_proved_not_to_be_negative() {
    check(
        &["check", "--deep", "examples/adder.iox", "--max-states", "50"],
        0,
        &["`never_negative`: proved (induction)"],
    );
}

#[test]
fn every_property_has_a_status_in_json() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("buffer.iox");
    std::fs::write(&path, BUFFER).expect("a file");
    let path = path.to_str().expect("a path");
    let output = run(&["check", "--deep", "--json", "--max-states", "40", path]);
    let told: Json = serde_json::from_slice(&output.stdout).expect("JSON");
    let properties = told["files"][0]["deep"]["properties"].as_array().expect("properties").clone();
    let of = |name: &str| properties.iter().find(|one| one["name"] == name).expect("a property").clone();
    assert_eq!(of("ordered")["status"], "proved");
    assert_eq!(of("ordered")["basis"]["by"], "induction");
    let few = of("few");
    assert_eq!(
        (&few["status"], few["trace"].as_array().map(Vec::len)),
        (&Json::from("refuted"), Some(3)),
        "{few}"
    );
    let odd = of("odd");
    assert_eq!(odd["status"], "open", "{odd}");
    assert!(odd["counterexample_to_induction"]["states"][0]["values"].is_array(), "{odd}");
    let answered = of("answered");
    assert_eq!(answered["status"], "proved", "{answered}");
    assert!(answered["assumptions"][0].as_str().is_some_and(|text| text.contains("inputs")), "{answered}");
    check(&["check", "--deep", "--max-states", "40", "--allow", "W0710,W0718", path], 0, &[": ok"]);
}
