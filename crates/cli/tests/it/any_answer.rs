//! `--any-answer`: values and times with which a path can be followed whatever the system answers.

use std::fs;

use tempfile::TempDir;

use crate::program::check_in;

/// The system says a number up to the one it was sent; only small ones lead on.
const PICK: &str = "model Pick {
    input ask(n: 0..9)
    input finish
    output got(k: 0..9)
    var most: 0..9 = 0
    var last: 0..9 = 0
    state idle { ask: on ask { most = n } -> busy }
    state busy { got: emit got when k <= most { last = k } -> done }
    state done { finish: on finish when last <= 1 -> idle  again: on ask when last > 1 -> idle }
    purpose done: ask, got, finish
}
";

/// The answer comes up to two seconds after the request, and all must be over three seconds after the start.
const TIMED: &str = "model Due {
    input ask
    input finish
    output got
    clock since
    clock all
    state idle { ask: on ask when all <= 60s { reset since } -> busy }
    state busy { got: emit got when since <= 2s -> told }
    state told { finish: on finish when all <= 3s -> over  late: on ask -> over }
    state over {}
    purpose soon: ask, got, finish
}
";

/// Nobody knows how much the system keeps.
const UNKNOWN: &str = "model Keep {
    input put(n: 0..9)
    input take
    output left(k: 0..20)
    var stock: 0..4
    var sum: 0..20 = 0
    state idle { put: on put { sum = n + stock } -> busy }
    state busy { left: emit left when k == sum -> told }
    state told { take: on take when sum >= 9 -> idle  no: on put when sum < 9 -> idle }
    purpose full: put, left, take
}
";

fn folder() -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, text) in [("pick.iox", PICK), ("due.iox", TIMED), ("keep.iox", UNKNOWN)] {
        fs::write(folder.path().join(name), text).expect("it is written");
    }
    folder
}

#[test]
fn values_are_chosen_for_any_answer() {
    let folder = folder();
    let test = |model: &str, purpose: &str, more: &[&str], words: &[&str]| {
        let (sut, tester) = (format!("model:{model}"), format!("purpose:{purpose}"));
        let args = ["test", model, "--sut", &sut, "--tester", &tester, "--runs", "12", "--seed", "1"];
        check_in(folder.path(), &[&args[..], more].concat(), 0, words)
    };
    for (model, purpose) in [("pick.iox", "done"), ("due.iox", "soon"), ("keep.iox", "full")] {
        test(model, purpose, &["--any-answer"], &["12 runs: 12 passed"]);
        let hoping = test(model, purpose, &[], &[]);
        assert!(hoping.contains("inconclusive"), "{model}: without it some answers lead away:\n{hoping}");
    }
}

#[test]
fn it_is_for_testers_that_follow_paths() {
    let folder = folder();
    let args = ["test", "pick.iox", "--sut", "model:pick.iox", "--tester", "random", "--any-answer"];
    check_in(folder.path(), &args, 2, &["`--any-answer` does nothing with the tester `random`"]);
    let args =
        ["test", "pick.iox", "--sut", "model:pick.iox", "--tester", "cover", "--any-answer", "--seed", "1"];
    check_in(folder.path(), &args, 0, &["purposes: 2 of 2 reached"]);
}
