//! `ioxide adapter check` from the outside: what is printed, and the exit code.

use std::process::Output;

use crate::program::{command, played, run_in, text};

fn check(args: &[&str]) -> Output {
    command(&["adapter", "check"]).args(args).output().expect("the program runs")
}

#[test]
fn a_played_model_is_in_order() {
    for file in ["examples/adder.iox", "examples/redis/redis.iox", "examples/brp/spec.iox"] {
        let output = check(&[&played(file), "--model", file]);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output));
        assert!(text(&output).contains("the adapter follows the protocol"), "{}", text(&output));
    }
}

#[test]
fn another_model_does_not_fit() {
    let output = check(&[&played("examples/adder.iox"), "--model", "examples/slot-machine.iox", "--json"]);
    assert_eq!(output.status.code(), Some(6), "{}", text(&output));
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON on stdout");
    assert_eq!((&json["version"], &json["passed"]), (&1.into(), &false.into()));
    assert_eq!(json["checks"][2]["state"], "failed", "{json}");
}

#[test]
fn an_adapter_in_trouble_ends_with_six_and_its_last_words() {
    let output = check(&["stdio:echo no tea >&2; sleep 0.2; exit 3"]);
    assert_eq!(output.status.code(), Some(6), "{}", text(&output));
    for says in ["failed   hello", "exit status: 3", "it wrote: no tea", "violates the protocol"] {
        assert!(text(&output).contains(says), "should say `{says}`:\n{}", text(&output));
    }
}

#[test]
fn what_is_no_adapter_is_a_usage_error() {
    for sut in ["model:examples/adder.iox", "adder", "tcp:nowhere"] {
        assert_eq!(check(&[sut]).status.code(), Some(2), "{sut}");
    }
}

const COLOURS: &str = "model Colours {
    enum Colour { red, green }
    input ask
    output colour(c: Colour)
    state idle { ask: on ask -> asked }
    state asked { red: emit colour(c: red) -> idle }
}
";

/// An adapter that answers an input by the line it is given.
const ANSWERS: &str = r#"
import json, sys
print(json.dumps({"type": "hello", "protocol": 1, "name": "answers"}), flush=True)
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] in ("configure", "reset"):
        print(json.dumps({"type": "ready"}), flush=True)
    elif message["type"] == "input":
        answer = sys.argv[1].replace("ID", str(message["id"]))
        if '"error"' not in answer:
            print(json.dumps({"type": "sent", "id": message["id"]}), flush=True)
        print(answer, flush=True)
    else:
        break
"#;

/// The pages on adapters and verdicts, claim by claim.
#[test]
fn what_is_a_failure_and_what_gives_no_verdict() {
    if !ioxide_test_support::has_program("python3") {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("colours.iox"), COLOURS).expect("a model");
    std::fs::write(folder.path().join("answers.py"), ANSWERS).expect("an adapter");
    for (answer, code, says) in [
        (r#"{"type": "output", "label": "colour", "args": {"c": "red"}}"#, 0, "passed"),
        (r#"{"type": "output", "label": "colour", "args": {"c": "green"}}"#, 1, "FAIL"),
        (r#"{"type": "output", "label": "nothing", "args": {}}"#, 1, "unreadable"),
        (r#"{"type": "output", "label": "colour", "args": {"c": "blue"}}"#, 1, "unreadable"),
        (r#"{"type": "output", "label": "colour", "args": {"c": 7}}"#, 1, "unreadable"),
        (r#"{"type": "output", "label": "colour", "args": {}}"#, 1, "unreadable"),
        (r#"{"type": "output", "label": "colour", "args": {"c": "red", "d": 1}}"#, 1, "unreadable"),
        (r#"{"type": "error", "kind": "broken", "text": "gone", "id": ID}"#, 1, "FAIL"),
        (r#"{"type": "error", "kind": "exception", "text": "KeyError: 7", "id": ID}"#, 1, "KeyError: 7"),
        (r#"{"type": "error", "kind": "refused", "text": "never", "id": ID}"#, 6, "no verdict"),
        (r#"{"type": "error", "kind": "unknown", "text": "perhaps", "id": ID}"#, 6, "no verdict"),
        (r#"{"type": "what"}"#, 6, "no verdict"),
        ("no message at all", 6, "no verdict"),
    ] {
        let sut = format!("stdio:python3 answers.py '{answer}'");
        let output = run_in(
            folder.path(),
            &[
                &["test", "colours.iox", "--sut", &sut, "--tester", "cover"][..],
                &["--seed", "1", "--no-shrink"],
            ]
            .concat(),
        );
        assert_eq!(output.status.code(), Some(code), "{answer}: {}", text(&output));
        assert!(text(&output).contains(says), "{answer}: should say `{says}`: {}", text(&output));
    }
}

const DOOR: &str = "model Door {
    input CLOSE
    input OPEN(code: int)
    output WELCOME
    output BYE
    state shut { unlock: on OPEN when code > 40 -> opening }
    state opening { welcome: emit WELCOME -> wide }
    state wide { lock: on CLOSE -> closing }
    state closing { bye: emit BYE -> shut }
}
";

/// A door that a text protocol controls; `broken` is the word for one that says goodbye to those who come.
const DOOR_PROGRAM: &str = r#"
import sys, time
is_open = False
for line in sys.stdin:
    words = line.split()
    if words[0] == "OPEN" and int(words[1]) > 40 and not is_open:
        is_open = True
        time.sleep(0.3)
        print("BYE" if "broken" in sys.argv else "WELCOME", flush=True)
    elif words[0] == "CLOSE" and is_open:
        is_open = False
        print("BYE", flush=True)
    else:
        print("WHAT?", flush=True)
"#;

const DOOR_PROJECT: &str = r#"
[sut.door]
kind = "text"
command = "python3 door.py $DOOR"
silence_ms = 50

[sut.door.inputs]
OPEN = "OPEN {code}"
CLOSE = "CLOSE"

[sut.door.outputs]
WELCOME = "WELCOME"
BYE = "BYE"
"#;

/// `CLOSE` is no command while the door is shut: the check opens it first. The reply takes longer than silence.
#[test]
fn inputs_are_sent_in_states_that_accept_them() {
    if !ioxide_test_support::has_program("python3") {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    for (name, content) in [("door.iox", DOOR), ("door.py", DOOR_PROGRAM), ("ioxide.toml", DOOR_PROJECT)] {
        std::fs::write(folder.path().join(name), content).expect("written");
    }
    let check = |door: &str| {
        command(&["adapter", "check", "door", "--model", "door.iox"])
            .env("DOOR", door)
            .current_dir(folder.path())
            .output()
            .expect("the program runs")
    };
    let output = check("");
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    for says in ["?CLOSE after 1 other input: !BYE", "): !WELCOME", "same again"] {
        assert!(text(&output).contains(says), "should say `{says}`:\n{}", text(&output));
    }
    assert!(!text(&output).contains("look"), "{}", text(&output));
    // The message can be read: whether it is right is for the model to say, so nothing is wrong with the connection.
    let output = check("broken");
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    let says = "got !BYE, but the model allows !WELCOME: one of the two is wrong";
    assert!(text(&output).contains(says), "should say `{says}`:\n{}", text(&output));
}
