//! Systems of `ioxide.toml`, by name: started, tested, stopped; mistakes are told.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

/// Runs ioxide in a folder with this project file and the adder as `adder.iox`.
fn ioxide(project: &str, args: &[&str]) -> Output {
    let folder = tempfile::tempdir().expect("a folder");
    let adder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/adder.iox");
    fs::copy(adder, folder.path().join("adder.iox")).expect("the example is there");
    let project = project.replace("IOXIDE", env!("CARGO_BIN_EXE_ioxide"));
    fs::write(folder.path().join("ioxide.toml"), project).expect("a project file");
    Command::new(env!("CARGO_BIN_EXE_ioxide"))
        .args(args)
        .current_dir(folder.path())
        .env("NO_COLOR", "1")
        .output()
        .expect("the program runs")
}

#[track_caller]
fn check(project: &str, args: &[&str], code: i32, says: &[&str]) {
    let output = ioxide(project, args);
    let text =
        String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(code), "ioxide {args:?}\n{text}");
    for word in says {
        assert!(text.contains(word), "ioxide {args:?} should say `{word}`:\n{text}");
    }
}

const TEST: [&str; 10] =
    ["test", "adder.iox", "--seed", "1", "--runs", "2", "--steps", "10", "--sut", "adder"];

const SERVER: &str = r#"
[sut.adder]
kind = "tcp"
address = "127.0.0.1:{port}"
start = "IOXIDE sut adder.iox --listen {port}"
ready = "tcp:127.0.0.1:{port}"
"#;

#[test]
fn a_server_is_started_tested_and_stopped() {
    check(SERVER, &TEST, 0, &["passed"]);
    check(SERVER, &["adapter", "check", "adder", "--model", "adder.iox"], 0, &["in order"]);
}

#[test]
fn models_and_commands_have_names_too() {
    check("[sut.adder]\nkind = \"model\"\nfile = \"adder.iox\"", &TEST, 0, &["passed"]);
    let stdio = "[sut.adder]\nkind = \"stdio\"\ncommand = \"$PROGRAM sut adder.iox\"\nquiescence_ms = 60\n\
        environment = { PROGRAM = \"IOXIDE\" }";
    check(stdio, &TEST, 0, &["passed"]);
}

#[test]
fn a_server_that_does_not_come_up_has_no_verdict() {
    let ended = SERVER.replace("IOXIDE sut adder.iox --listen {port}", "echo no power >&2; exit 3");
    check(&ended, &TEST, 6, &["ended before it was ready", "no power"]);
    let late = SERVER.replace("IOXIDE sut adder.iox --listen {port}", "sleep 30") + "ready_ms = 200\n";
    check(&late, &TEST, 6, &["not ready within 200 ms"]);
}

#[test]
fn mistakes_in_the_file_are_usage_errors() {
    check("[sut.adder]\nkind = \"tcp\"\nadress = \"x:1\"", &TEST, 2, &["ioxide.toml:3", "`address`"]);
    check("[sut.ader]\nkind = \"tcp\"", &TEST, 2, &["no system `adder`", "did you mean `ader`?"]);
    check("[sut", &TEST, 2, &["ioxide.toml:1"]);
}
