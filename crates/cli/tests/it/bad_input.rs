//! Whatever is typed, there is a clear error and the right exit code; never a panic, a hang, a lost file.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use tempfile::TempDir;

use crate::program::{check, command, run as ioxide};

/// A model file in a folder that vanishes after the test.
fn file(name: &str, bytes: &[u8]) -> (TempDir, String) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join(name);
    fs::write(&path, bytes).expect("a file");
    let path = path.display().to_string();
    (folder, path)
}

#[test]
fn a_missing_file_is_a_usage_error_with_a_guess() {
    check(&["check", "nowhere.iox"], 2, &["cannot read `nowhere.iox`"]);
    check(&["check", "examples/adder"], 2, &["did you mean `examples/adder.iox`?"]);
    check(&["check", "examples"], 2, &["cannot read `examples`"]);
    check(&["show", "examples/brp/spec.ioxx"], 2, &["did you mean `examples/brp/spec.iox`?"]);
}

#[test]
fn every_file_is_checked_even_if_one_is_missing() {
    check(&["check", "nowhere.iox", "examples/adder.iox"], 2, &["nowhere.iox", "examples/adder.iox: ok"]);
}

#[test]
fn a_wrong_extension_says_what_there_is() {
    let (_folder, path) = file("model.mod", b"model M {}");
    check(&["check", &path], 3, &["E0501", ".iox"]);
    let (_folder, path) = file("model.txt", b"model M {}");
    check(&["check", &path], 3, &["E0505", "`.txt` is read as a table", ".iox"]);
    let (_folder, path) = file("model", b"model M {}");
    check(&["check", &path], 3, &["E0501"]);
}

#[test]
fn bad_utf8_is_named_by_place() {
    let (_folder, path) = file("m.iox", b"model M {\n  // \xff\n}");
    check(&["check", &path], 3, &["not UTF-8", "line 2"]);
}

#[test]
fn an_unknown_sort_is_a_model_error() {
    let (_folder, path) = file("m.iox", b"model M { var x: integer = 0\n state s {} }");
    check(&["check", &path], 3, &["E0205", "integer"]);
    check(&["show", &path], 3, &["E0205"]);
    check(&["test", &path, "--sut", "model:examples/adder.iox"], 3, &["E0205"]);
}

#[test]
fn a_missing_solver_is_a_usage_error() {
    check(
        &["check", "--deep", "examples/adder.iox", "--solver", "no-such-solver"],
        2,
        &["`no-such-solver` is not installed"],
    );
    check(&["check", "--deep", "examples/adder.iox", "--solver-timeout=-1"], 2, &["is not a time"]);
    let output = command(&["check", "--deep", "examples/adder.iox", "--solver", "z3"])
        .env("IOXIDE_Z3", "/nowhere/libz3.so")
        .output()
        .expect("the program runs");
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert!(text.contains("/nowhere/libz3.so"), "{text}");
}

#[test]
fn without_a_solver_questions_stay_open_and_nothing_is_claimed() {
    check(
        &["check", "--deep", "examples/brp/spec.iox", "--solver", "none"],
        0,
        &["examples/brp/spec.iox: ok"],
    );
}

#[test]
fn a_solver_that_dies_mid_query_leaves_the_question_open() {
    let (_folder, path) = file("solver.sh", b"");
    ioxide_test_support::write_program(Path::new(&path), "#!/bin/sh\nread line\nexit 1\n");
    // A guard over a product needs the solver: the layers cannot decide it.
    let model = b"model M { input a(x: int, y: int) output b\n var n: int = 0\n\
        state s { r1: on a when x * y * x == 7 * y + 3 && x > y { n = x } -> t }\n\
        state t { r2: emit b when n > 0 -> s } }";
    let (_folder, model) = file("m.iox", model);
    check(
        &["check", "--deep", &model, "--solver", &path, "--max-states", "20"],
        0,
        &["left unanswered by the solver"],
    );
}

#[test]
fn deep_and_large_models_get_an_answer_or_a_limit() {
    let deep = format!(
        "model M {{ var x: bool = {}true{}\n state s {{}} }}",
        "(".repeat(10_000),
        ")".repeat(10_000)
    );
    let (_folder, path) = file("deep.iox", deep.as_bytes());
    check(&["check", &path], 3, &["E0107"]);
    let mut large = String::from("model M {\n input a\n var x: int = 0\n");
    for i in 0..20_000 {
        large.push_str(&format!(
            " state s{i} {{ r{i}: on a when x < {i} {{ x = x + {i} }} -> s{} }}\n",
            (i + 1) % 20_000
        ));
    }
    large.push('}');
    let (_folder, path) = file("large.iox", large.as_bytes());
    check(&["check", &path], 0, &["ok"]);
}

/// Each of fifteen systems is ten of the next: nobody waits for all of them.
#[test]
fn systems_of_systems_have_a_limit() {
    let folder = tempfile::tempdir().expect("a folder");
    let write =
        |n: usize, text: String| fs::write(folder.path().join(format!("c{n}.iox")), text).expect("written");
    for n in 0..15 {
        let parts: String = (0..10).map(|part| format!("    p{part}: C{}\n", n + 1)).collect();
        write(n, format!("system C{n} {{\n    use C{} from \"c{0}.iox\"\n{parts}}}\n", n + 1));
    }
    write(15, "model C15 { input a output b state s { on a -> t } state t { emit b -> s } }\n".to_owned());
    let system = folder.path().join("c0.iox").display().to_string();
    check(&["check", &system], 3, &["the system is too large: parts of parts count too"]);
    let small = folder.path().join("c13.iox").display().to_string();
    check(&["check", &small], 0, &["ok"]);
}

#[test]
fn wrong_settings_are_named() {
    check(&["show", "examples/brp/spec.iox", "--set", "MAX_RN"], 2, &["is not NAME=VALUE"]);
    check(&["show", "examples/brp/spec.iox", "--set", "MAX=3"], 2, &["E0212", "MAX_RN"]);
    check(&["show", "examples/brp/spec.iox", "--set", "MAX_RN=many"], 2, &["E0313"]);
    check(&["show", "examples/adder.iox", "--format", "png"], 2, &["png"]);
    check(&["explain", "E9999"], 2, &["there is no code `E9999`"]);
    check(&["no-such-command"], 2, &["no-such-command"]);
}

#[test]
fn systems_that_cannot_be_reached_have_no_verdict() {
    let spec = "examples/brp/spec.iox";
    check(&["test", spec, "--sut", "brp"], 2, &["model:FILE"]);
    check(&["test", spec, "--sut", "model:nowhere.iox"], 2, &["nowhere.iox"]);
    check(
        &["test", spec, "--sut", "stdio:/no/such/program"],
        6,
        &["no verdict", "printed", "/no/such/program"],
    );
    check(&["test", spec, "--sut", "stdio:echo hello"], 6, &["hello"]);
    check(&["test", spec, "--sut", "tcp:127.0.0.1:1"], 6, &["127.0.0.1:1"]);
    let atm = ["test", "examples/atm/atm.iox", "--sut", "model:examples/atm/atm.iox", "--tester", "tour"];
    check(&atm, 2, &["clocks", "does not support clocks"]);
    check(&["test", spec, "--sut", "model:examples/brp/spec.iox", "--tester", "magic"], 2, &["magic"]);
}

#[test]
fn a_system_with_another_interface_is_refused() {
    check(
        &["test", "examples/brp/spec.iox", "--sut", "model:examples/adder.iox", "--seed", "1"],
        6,
        &["no verdict"],
    );
}

#[test]
fn a_model_without_transitions_has_nothing_to_run() {
    let (_folder, path) = file("m.iox", b"model M { state s {} }");
    check(&["test", &path, "--sut", &format!("model:{path}")], 4, &["no transitions"]);
    check(
        &["test", "examples/brp/spec.iox", "--sut", "tcp:127.0.0.1:1", "--silence-ms", "0"],
        2,
        &["no time"],
    );
}

#[test]
fn records_are_kept_and_settings_come_back() {
    let folder = tempfile::tempdir().expect("a folder");
    let runs = folder.path().display().to_string();
    let spec = "examples/brp/spec.iox";
    let test = [
        "test",
        spec,
        "--set",
        "MAX_RN=1",
        "--sut",
        "model:examples/brp/spec.iox?MAX_RN=5",
        "--seed",
        "1",
        "--report",
        &runs,
    ];
    check(&test, 1, &["FAIL"]);
    check(&["replay", &runs, "--sut", "model:examples/brp/spec.iox?MAX_RN=5"], 1, &["FAIL"]);
    check(
        &["replay", &runs, "--sut", "model:examples/brp/spec.iox", "--number", "0"],
        2,
        &["there is no run 0"],
    );
    check(&test, 1, &["campaign-2.jsonl"]);
}

#[test]
fn records_that_are_none_are_refused() {
    check(&["replay", "nowhere", "--sut", "model:examples/brp/spec.iox"], 2, &["nowhere"]);
    let (_folder, path) = file("campaign.jsonl", b"{\"hello\": 1}\n");
    check(&["replay", &path, "--sut", "model:examples/brp/spec.iox"], 2, &["cannot read the record"]);
    check(&["step", "examples/adder.iox", "--from", "runs"], 2, &["RUN@N"]);
}

#[test]
fn fmt_leaves_broken_files_alone_and_check_changes_nothing() {
    let broken = b"model M { state s { on } }";
    let (_folder, path) = file("m.iox", broken);
    check(&["fmt", &path], 3, &["left as it is"]);
    assert_eq!(fs::read(&path).expect("still there"), broken);
    let ugly = b"model   M{state s{}}";
    let (_folder, path) = file("m.iox", ugly);
    check(&["fmt", "--check", &path], 1, &["not formatted"]);
    assert_eq!(fs::read(&path).expect("still there"), ugly);
    check(&["fmt", &path], 0, &[]);
    check(&["fmt", "--check", &path], 0, &[]);
    check(&["fmt", "examples/cas/cas.as"], 2, &["not an `.iox` file"]);
}

#[test]
fn a_reader_that_goes_away_is_no_trouble() {
    let output = Command::new("sh")
        .args(["-c", &format!("{} explain --list | head -n 1", env!("CARGO_BIN_EXE_ioxide"))])
        .output()
        .expect("a shell");
    assert!(String::from_utf8_lossy(&output.stderr).is_empty(), "{output:?}");
}

#[test]
fn findings_as_json_have_places() {
    let (_folder, path) = file("m.iox", b"model M { state s { on nope } }");
    let output = ioxide(&["check", "--json", &path]);
    assert_eq!(output.status.code(), Some(3));
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON on stdout");
    let found = &json["files"][0]["diagnostics"][0];
    assert_eq!((&json["version"], &found["code"]), (&1.into(), &"E0203".into()));
    assert_eq!((&found["place"]["line"], &found["place"]["column"]), (&1.into(), &24.into()));
}

#[test]
fn the_same_seed_gives_the_same_record() {
    let folder = tempfile::tempdir().expect("a folder");
    let record = |name: &str| {
        let path = folder.path().join(name);
        let run = [
            "test",
            "examples/brp/spec.iox",
            "--sut",
            "model:examples/brp/m2.iox",
            "--seed",
            "5",
            "--report",
        ];
        let output = command(&run).arg(&path).output().expect("the program runs");
        assert!(matches!(output.status.code(), Some(0 | 1)), "{output:?}");
        let text = fs::read_to_string(path.join("campaign.jsonl")).expect("a record");
        let redact = |line: &str| {
            let mut json: serde_json::Value = serde_json::from_str(line).expect("JSON");
            json["time_ns"] = 0.into();
            json.to_string()
        };
        text.lines().map(redact).collect::<Vec<_>>()
    };
    assert_eq!(record("a"), record("b"));
}

#[test]
fn the_stepper_reads_commands_from_a_pipe() {
    let mut child = command(&["step", "examples/adder.iox"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("runs");
    child
        .stdin
        .take()
        .expect("a pipe")
        .write_all(b"1\nundo\nundo\nnonsense(\n99\nwait x\nwait -1\nwait 600ms\n\xc3\xa9\nquit\n")
        .expect("written");
    let output = child.wait_with_output().expect("ends");
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{text}");
    for says in [
        "nothing to undo",
        "there is no choice 99",
        "time does not run backwards",
        "+0.6s",
        "is not a time",
        "there is no message",
    ] {
        assert!(text.contains(says), "should say `{says}`:\n{text}");
    }
}

#[test]
fn machines_that_do_not_fit_are_refused_with_the_reason() {
    let (_folder, path) = file("m.txt", b"a x 0 b\nb x 1 a\na y 0 a\n");
    check(&["fsm", &path, "--suite", "w"], 3, &["--missing"]);
    check(&["fsm", &path, "--suite", "w", "--missing", "loop"], 0, &["tests"]);
    check(&["fsm", "examples/fsm/me.dot", "--suite", "h"], 3, &["me.dot"]);
    check(&["fsm", "examples/fsm/door.txt", "--suite", "q"], 2, &["spyh"]);
    check(&["fsm", "examples/fsm/door.txt"], 2, &["--suite"]);
    check(&["fsm", "examples/fsm/door.txt", "--reduction"], 2, &["--bound"]);
    check(
        &["fsm", "examples/fsm/ma.dot", "--reduction", "--sut", "examples/fsm/ma-impl.dot", "--bound", "1"],
        3,
        &["bound"],
    );
    check(&["fsm", "examples/adder.iox", "--suite", "w"], 3, &["finished", "self loops"]);
    check(&["fsm", "examples/brp/spec.iox", "--suite", "w"], 3, &["spec.iox"]);
    let (_folder, suite) = file("s.txt", b"open shut\n");
    check(&["fsm", "examples/fsm/door.txt", "--check-suite", &suite], 2, &["no input `shut`", "`close`"]);
    check(&["fsm", "examples/fsm/door.txt", "--check-suite", "nowhere.txt"], 2, &["nowhere.txt"]);
    let (_folder, path) = file("m.dot", b"digraph { a -> b [label=\"nolabel\"] }");
    check(&["fsm", &path, "--suite", "w"], 3, &["m.dot"]);
}

#[test]
fn a_suite_is_written_as_it_is_counted() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("door.suite").display().to_string();
    let output =
        ioxide(&["fsm", "examples/fsm/door.txt", "--suite", "s", "--extra", "1", "--out", &path, "--json"]);
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON on stdout");
    let text = fs::read_to_string(&path).expect("the suite is there");
    let lines: Vec<&str> = text.lines().collect();
    let tests: Vec<Vec<String>> =
        lines[1..lines.len() - 1].iter().map(|line| serde_json::from_str(line).expect("a test")).collect();
    assert_eq!(lines[lines.len() - 1], format!("{{\"tests\":{}}}", tests.len()));
    assert_eq!(json["tests"], tests.len());
    assert_eq!(json["symbols"], tests.iter().map(Vec::len).sum::<usize>());
}

#[test]
fn a_case_that_is_no_text_is_a_wrong_argument() {
    let (_folder, path) = file("case.json", b"{\"path\": \xff}");
    let tester = format!("case:{path}");
    check(
        &["test", "examples/adder.iox", "--tester", &tester, "--sut", "model:examples/adder.iox"],
        2,
        &["is not UTF-8 text: bad byte at offset 9, line 1"],
    );
    check(&["judge", "examples/adder.iox", &path], 2, &["is not UTF-8 text"]);
    let (_folder, path) = file("m.iox", b"model \xff");
    check(&["check", &path], 3, &["is not UTF-8 text"]);
}

#[cfg(unix)]
#[test]
fn fmt_wrote_through_links_and_lost_the_mode() {
    use std::os::unix::fs::{PermissionsExt, symlink};

    let (folder, path) = file("m.iox", b"model   M { state a {} }");
    let victim = folder.path().join("victim");
    fs::write(&victim, "precious").expect("a file");
    symlink(&victim, format!("{path}.tmp")).expect("a link");
    let link = folder.path().join("link.iox");
    symlink(&path, &link).expect("a link");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).expect("a mode");
    check(&["fmt", &link.display().to_string()], 0, &[]);
    assert_eq!(fs::read_to_string(&victim).expect("a file"), "precious");
    assert!(fs::read_to_string(&path).expect("the model").starts_with("model M {"));
    assert!(fs::symlink_metadata(&link).expect("the link").is_symlink());
    assert_eq!(fs::metadata(&path).expect("the model").permissions().mode() & 0o777, 0o640);
    let mut names: Vec<_> =
        fs::read_dir(folder.path()).expect("the folder").flatten().map(|e| e.file_name()).collect();
    names.sort();
    assert_eq!(names, ["link.iox", "m.iox", "m.iox.tmp", "victim"]);
}
