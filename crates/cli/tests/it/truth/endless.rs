//! Searches that no option asks for must end.

use std::fs;

use crate::truth::Folder;

/// A model in which the search for a path to `never` has no end: its guard is a cubic equation over counters that grow.
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
    assert!(
        page.contains("searched only 1 s for transitions"),
        "the page does not say that its search was cut"
    );
}

/// Models that once held every command up: made from examples by random changes.
const FINDS: [&str; 4] = ["nonlinear.iox", "brp-1.iox", "brp-2.iox", "divergent.iox"];

/// Every command ends by its limit, with what it found until then, and never with a proof it has not.
#[test]
fn commands_end_by_their_limit() {
    let corpus = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/finds");
    let folder = Folder::new(ENDLESS, "");
    for name in FINDS {
        let file = corpus.join(name).display().to_string();
        let sut = format!("model:{file}");
        let limited = ["--time-limit", "500ms", "--solver-timeout", "0.5"];
        for command in [
            &["check", "--deep", &file][..],
            &["purposes", &file],
            // Under ioco a model with choices that refuses inputs may honestly fail itself ([AT15], sec. 4.3).
            &["conform", &file, &file, "--relation", "uioco"],
            &["kill", &file, "--sample", "4", "--jobs", "1"],
            &["fsm", &file, "--suite", "h"],
            &[
                "test", &file, "--sut", &sut, "--seed", "1", "--runs", "2", "--steps", "20", "--tester",
                "cover",
            ],
        ] {
            let ended = folder.ioxide(&[command, &limited].concat());
            assert!(matches!(ended.code, 0 | 3 | 4 | 5 | 6), "{command:?}: {}: {}", ended.code, ended.text);
            assert!(!ended.text.trim().is_empty(), "{command:?}: nothing is said");
        }
    }
}

/// Ever more of the same, and one that says something else.
const PONG: &str = "model Pong { input ping output pong
    state idle { on ping -> busy } state busy { emit pong -> idle } }
";
const PANG: &str = "model Pang { input ping output pong
    state idle { on ping -> busy } state busy { emit pong -> more } state more { emit pong -> idle } }
";

/// `--time-limit` is the time of all runs, and of every wait in them.
#[test]
fn a_campaign_ends_by_its_limit() {
    let folder = Folder::new(PONG, "");
    fs::write(folder.path().join("pang.iox"), PANG).expect("a model");
    let test = |sut: &str, more: &[&str]| {
        let args = ["test", "m.iox", "--sut", sut, "--seed", "1", "--solver", "none"];
        folder.ioxide(&[&args[..], more].concat())
    };
    let endless = ["--runs", "1000000000", "--steps", "1000000000", "--time-limit", "1s"];
    for tester in ["random", "hunt"] {
        let ended = test("model:m.iox", &[&endless[..], &["--tester", tester]].concat());
        ended.check(5, &["partial: the time limit was reached"]);
    }
    let told = test("model:m.iox", &[&endless[..], &["--tester", "random", "--json"]].concat());
    told.check(5, &["\"partial\":\"the time limit was reached\"", "\"failed\":0"]);
    // A failure counts whatever was not looked at.
    test("model:pang.iox", &[&endless[..], &["--keep-going", "--tester", "random"]].concat())
        .check(1, &["FAIL"]);
    // Nobody waits for an hour of silence.
    let silent = "stdio:echo '{\"type\":\"hello\",\"protocol\":1,\"reset\":\"restart\"}'; read x; \
        echo '{\"type\":\"ready\"}'; read x; echo '{\"type\":\"sent\",\"id\":1}'; sleep 3600";
    let ended = test(silent, &[&endless[..], &["--tester", "random", "--silence-ms", "3600000"]].concat());
    ended.check(5, &["partial: the time limit was reached"]);
}
