//! `ioxide test` with what `ioxide.toml` says: alone, by the name of a suite, and with options that win.

use std::fs;
use std::process::Command;

use ioxide_test_support::has_program;

use crate::program::{PROGRAM, check_in, expect_in, root, text};

/// Makes a folder with two models and a project file.
fn project(text: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for name in ["adder.iox", "brp/spec.iox", "brp/m3.iox"] {
        let target = folder.path().join(name.replace('/', "-"));
        fs::copy(root().join("examples").join(name), target).expect("copied");
    }
    fs::write(folder.path().join("ioxide.toml"), text).expect("written");
    folder
}

const SUITES: &str = r#"
[project]
model = "adder.iox"
sut = "model:adder.iox"
seed = 1

[suite.smoke]
runs = 2
tester = "random"

[suite.protocol]
model = "brp-spec.iox"
sut = "model:brp-m3.iox"
steps = 3000
args = ["--no-shrink"]
"#;

#[test]
fn without_arguments_all_suites_run_and_the_worst_result_counts() {
    let folder = project(SUITES);
    let text = check_in(folder.path(), &["test"], 1, &["suite smoke\n", "suite protocol\n", "random tester"]);
    assert!(text.contains("suites: smoke passed, protocol failed"), "{text}");
}

#[test]
fn a_suite_runs_by_its_name_and_options_win() {
    let folder = project(SUITES);
    let text = check_in(folder.path(), &["test", "smoke"], 0, &["2 runs: 2 passed", "seed 1"]);
    assert!(!text.contains("suite smoke"), "{text}");
    check_in(
        folder.path(),
        &["test", "--runs", "3", "smoke", "--seed=7"],
        0,
        &["3 runs: 3 passed", "seed 7"],
    );
    // The name of the suite may stand anywhere, also after an option with the same value.
    check_in(folder.path(), &["test", "--report", "smoke", "smoke"], 0, &["2 runs: 2 passed"]);
    assert!(folder.path().join("smoke/report.html").exists());
    // A model and a system say everything; a model alone takes the rest from the project.
    check_in(folder.path(), &["test", "adder.iox", "--sut", "model:adder.iox", "--runs", "1"], 0, &["1 run"]);
    check_in(folder.path(), &["test", "adder.iox", "--runs", "1"], 0, &["1 run"]);
    let json = expect_in(folder.path(), &["test", "smoke", "--json"], 0);
    let json: serde_json::Value = serde_json::from_str(json.lines().next().expect("a line")).expect("JSON");
    assert_eq!((&json["suite_name"], &json["runs"]), (&"smoke".into(), &2.into()));
}

#[test]
fn reports_of_several_suites_are_apart() {
    let folder = project(SUITES);
    check_in(folder.path(), &["test", "--report", "all", "--steps", "200", "--no-shrink"], 1, &[]);
    for suite in ["smoke", "protocol"] {
        assert!(folder.path().join("all").join(suite).join("report.html").exists(), "{suite}");
    }
}

#[test]
fn mistakes_say_how_to_go_on() {
    let folder = project(SUITES);
    check_in(
        folder.path(),
        &["test", "smoek"],
        2,
        &["no file and no suite `smoek`", "did you mean the suite `smoke`?"],
    );
    let folder = project("[sut.a]\nkind = \"model\"\nfile = \"adder.iox\"\n");
    check_in(folder.path(), &["test"], 2, &["does not say what to test", "`[project]`"]);
    check_in(folder.path(), &["test", "adder.iox"], 2, &["--sut"]);
    let folder = project("[suite.smoke]\nsteps = 3\ntime = 4\n");
    check_in(folder.path(), &["test", "smoke"], 2, &["ioxide.toml:3", "`suite.smoke.time`"]);
    let empty = tempfile::tempdir().expect("a folder");
    check_in(empty.path(), &["test"], 2, &["no model is named, and there is no `ioxide.toml`"]);
}

/// Runs `ioxide test` with options in a terminal; returns what it shows.
fn test_in_terminal(folder: &std::path::Path, options: &str) -> String {
    let output = Command::new("script")
        .args(["-qec", &format!("{PROGRAM} test {options}"), "/dev/null"])
        .current_dir(folder)
        .env_remove("NO_COLOR")
        .env_remove("GITHUB_ACTIONS")
        .env("TERM", "xterm")
        .output()
        .expect("script runs");
    text(&output)
}

#[test]
fn a_terminal_shows_colours_and_the_next_step() {
    if !has_program("script") {
        return;
    }
    let folder = project(SUITES);
    let passed = test_in_terminal(folder.path(), "smoke --runs 3");
    assert!(passed.contains("\x1b[32m\x1b[1m3 runs: 3 passed"), "{passed}");
    assert!(passed.contains("next: `--for 10min` tests longer"), "{passed}");
    let failed = test_in_terminal(folder.path(), "protocol");
    assert!(failed.contains("\x1b[31m\x1b[1m") && failed.contains(": FAIL at step"), "{failed}");
    assert!(failed.contains("next: add `--report runs` to record the run; `ioxide replay runs"), "{failed}");
    // A file has no colours, and the next step only after a failure.
    let kept = check_in(folder.path(), &["test", "protocol"], 1, &["next: add `--report runs`"]);
    assert!(!kept.contains('\x1b'), "{kept}");
    let kept = check_in(folder.path(), &["test", "smoke"], 0, &[]);
    assert!(!kept.contains('\x1b') && !kept.contains("next:"), "{kept}");
}
