//! What nobody asked for is not searched for without end.

use std::fs;

use crate::Folder;

/// Whether `never` can be taken is a question without end: the counters grow, and their product is odd only if both are.
const ENDLESS: &str = "model Endless {
    input up(n: int)
    output ok
    output never
    var a: int = 1
    var b: int = 1
    state idle { up: on up when n > a { a = n * n + b, b = b * n + a } -> busy }
    state busy {
        ok: emit ok -> idle
        never: emit never when a * a * a + b * b * b == 33 * a * b + 7 -> idle
    }
}
";

#[test]
fn a_report_says_that_its_search_was_cut() {
    let folder = Folder::new(ENDLESS, "");
    let args = [
        "test",
        "m.iox",
        "--sut",
        "model:m.iox",
        "--tester",
        "random",
        "--runs",
        "1",
        "--steps",
        "4",
        "--seed",
        "1",
        "--report",
        "r",
    ];
    let ended = folder.ioxide(&args);
    assert!(ended.code == 0 || ended.code == 5, "{}", ended.text);
    let page = fs::read_to_string(folder.path().join("r/report.html")).expect("a page");
    assert!(page.contains("was looked for only for 1 s"), "the page does not say that its search was cut");
}
