//! Systems of `ioxide.toml`, by name: started, tested, stopped; mistakes are told.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Output;

use serde_json::Value as Json;

use crate::program::{root, run_in};
use crate::schema::violations;

/// A folder with this project file and the adder as `adder.iox`.
fn folder(project: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let adder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/adder.iox");
    fs::copy(adder, folder.path().join("adder.iox")).expect("the example is there");
    let project = project.replace("IOXIDE", env!("CARGO_BIN_EXE_ioxide"));
    fs::write(folder.path().join("ioxide.toml"), project).expect("a project file");
    folder
}

fn ioxide(project: &str, args: &[&str]) -> Output {
    run_in(folder(project).path(), args)
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
    check(SERVER, &["adapter", "check", "adder", "--model", "adder.iox"], 0, &["follows the protocol"]);
}

/// Defect: `test` read the file three times, and what it read could differ.
#[test]
#[cfg(unix)]
fn the_project_file_is_read_once() {
    let slow =
        format!("{SERVER}silence_ms = 60\nlatency_ms = 5\nrefusals = [\"done\"]\nversion = \"echo 1\"\n");
    let plan = [
        "test",
        "adder.iox",
        "--seed",
        "1",
        "--tester",
        "random",
        "--runs",
        "2",
        "--sut",
        "adder",
        "--part",
        "part",
    ];
    let check = ["adapter", "check", "adder", "--model", "adder.iox"];
    for args in [&TEST[..], &plan, &["replay", "runs", "--sut", "adder"], &check, &["doctor"]] {
        let folder = folder(&slow);
        if args[0] == "replay" {
            let tested = run_in(folder.path(), &[&TEST[..], &["--report", "runs"]].concat());
            assert_eq!(tested.status.code(), Some(0), "{tested:?}");
        }
        let (file, other) = (folder.path().join("ioxide.toml"), folder.path().join("other.toml"));
        let content = fs::read(&file).expect("the project file");
        fs::remove_file(&file).expect("it is removed");
        let made = std::process::Command::new("mkfifo").arg(&file).status().expect("there is a `mkfifo`");
        assert!(made.success());
        fs::write(&other, "this is no project file").expect("another file");
        // The pipe is replaced as soon as a reader has opened it: whoever opens the file again reads the other one.
        let writer = std::thread::spawn(move || {
            let mut pipe = fs::OpenOptions::new().write(true).open(&file).expect("a reader comes");
            fs::rename(&other, &file).expect("the file is replaced");
            std::io::Write::write_all(&mut pipe, &content).expect("it is read");
        });
        let output = run_in(folder.path(), args);
        writer.join().expect("it was read");
        let text =
            format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(!text.contains("ioxide.toml:1"), "{args:?} read it again: {text}");
        assert!(args[0] == "doctor" || output.status.code() == Some(0), "{args:?}: {text}");
    }
}

#[test]
fn models_and_commands_have_names_too() {
    check("[sut.adder]\nkind = \"model\"\nfile = \"adder.iox\"", &TEST, 0, &["passed"]);
    let stdio = "[sut.adder]\nkind = \"stdio\"\ncommand = \"$PROGRAM sut adder.iox\"\nsilence_ms = 60\n\
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

/// A server that writes down when it is started and stopped.
const LOGGED: &str = r#"
[sut.adder]
kind = "tcp"
address = "127.0.0.1:{port}"
start = "echo start >> log; exec IOXIDE sut adder.iox --listen {port}"
ready = "tcp:127.0.0.1:{port}"
stop = "echo stop >> log"
"#;

/// Runs a test of three runs and tells what the system wrote to `log`.
fn log_of(project: &str) -> (String, Output) {
    let folder = folder(project);
    let args = ["test", "adder.iox", "--seed", "1", "--runs", "3", "--steps", "5", "--tester", "random"];
    let output = run_in(folder.path(), &[&args[..], &["--sut", "adder"]].concat());
    (fs::read_to_string(folder.path().join("log")).unwrap_or_default(), output)
}

#[test]
fn a_system_is_reset_by_message_command_or_restart() {
    let (log, output) = log_of(LOGGED);
    assert_eq!((log.as_str(), output.status.code()), ("start\nstop\n", Some(0)), "{output:?}");
    let (log, output) = log_of(&format!("{LOGGED}reset = \"restart\"\n"));
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert_eq!(log, "start\nstop\n".repeat(3));
    let (log, output) = log_of(&format!("{LOGGED}reset_command = \"echo wipe {{instance}} >> log\"\n"));
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert_eq!(log, "start\nwipe 0\nwipe 0\nwipe 0\nstop\n");
}

#[test]
fn a_reset_command_that_fails_or_hangs_has_no_verdict() {
    let failing = format!("{LOGGED}reset_command = \"echo no key >&2; exit 3\"\n");
    check(&failing, &TEST, 6, &["exit status: 3", "it wrote: no key"]);
    let hanging = format!("{LOGGED}reset_command = \"sleep 60\"\nlimit_ms = 300\n");
    check(&hanging, &TEST, 6, &["did not end within 300 ms"]);
}

#[test]
fn times_at_names_that_are_not_there_are_usage_errors() {
    let times = |line: &str| format!("{SERVER}[sut.adder.silence]\n{line}\n");
    check(&times("after.inY = 5"), &TEST, 2, &["the model has no message `inY`", "did you mean `inX`?"]);
    check(&times("in.nowhere = 5"), &TEST, 2, &["the model has no state `nowhere`"]);
    check(&times("default = 80\nafter.inX = 120"), &TEST, 0, &["passed"]);
}

/// The published schema knows exactly the keys that are read, and all examples follow it.
#[test]
fn the_schema_of_the_project_file_has_every_key() {
    let text = fs::read_to_string(root().join("crates/cli/schemas/project-1.json")).expect("the schema");
    let schema: Json = serde_json::from_str(&text).expect("JSON");
    let described = schema.pointer("/$defs/system/properties").and_then(Json::as_object).expect("properties");
    let described: BTreeSet<&str> = described.keys().map(String::as_str).collect();
    assert_eq!(described, ioxide_project::system_keys().into_iter().collect());
    let suite = schema.pointer("/$defs/suite/properties").and_then(Json::as_object).expect("properties");
    let suite: BTreeSet<&str> = suite.keys().map(String::as_str).collect();
    assert_eq!(suite, ioxide_project::SUITE_OPTIONS.into_iter().chain(["model", "args"]).collect());
    let mut found = 0;
    let mut folders = vec![root().join("examples")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder").flatten() {
            let path = entry.path();
            if path.is_dir() && !path.ends_with("node_modules") && !path.ends_with("target") {
                folders.push(path);
            } else if path.ends_with("ioxide.toml") {
                let text = fs::read_to_string(&path).expect("a project file");
                let Ok(document) = toml::from_str::<Json>(&text) else { continue };
                assert_eq!(violations(&schema, &document), Vec::<String>::new(), "{}", path.display());
                found += 1;
            }
        }
    }
    assert!(found > 5, "{found} examples");
    let wrong = serde_json::json!({ "sut": { "s": { "knd": "text" } } });
    assert_ne!(violations(&schema, &wrong), Vec::<String>::new());
}

/// Every key that is new to a system is checked by `doctor`, also in a system that nobody uses.
#[test]
fn doctor_checks_the_keys_of_connections() {
    let system = "[sut.s]\nkind = \"text\"\naddress = \"udp:127.0.0.1:9\"\nreset = \"none\"\n";
    check(&format!("{system}ignore = ['(']"), &["doctor"], 2, &["`sut.s.ignore`"]);
    check(&format!("{system}conected = false"), &["doctor"], 2, &["did you mean `connected`?"]);
}
