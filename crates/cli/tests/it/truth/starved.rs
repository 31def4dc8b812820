//! A tester that gets no processor reads messages late, and must not blame the system for it.

use std::fs;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::truth::Folder;

const TIMED: &str = "model Slow {
    input go
    output done
    clock c
    state idle { on go { reset c } -> busy }
    state busy { emit done when c >= 0.5s && c <= 1s -> idle }
}
";

/// An adapter that answers some time after it was asked, and leaves a file when it was.
const ADAPTER: &str = r#"
import json, sys, time
def say(**message): print(json.dumps(message), flush=True)
say(type="hello", protocol=1, name="slow", reset="message", labels=[])
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] in ("configure", "reset"): say(type="ready")
    elif message["type"] == "input":
        say(type="sent", id=message["id"])
        open("asked", "w").close()
        time.sleep(float(sys.argv[1]))
        say(type="output", label="done", args={})
"#;

fn folder(answers_after: &str) -> Folder {
    let command = format!("exec python3 slow.py {answers_after}");
    let folder = Folder::new(TIMED, &format!("[sut.s]\nkind = \"stdio\"\ncommand = \"{command}\"\n"));
    fs::write(folder.path().join("slow.py"), ADAPTER).expect("a file");
    folder
}

const ARGS: [&str; 16] = [
    "test", "m.iox", "--sut", "s", "--tester", "random", "--clock", "wall", "--runs", "1", "--steps", "6",
    "--seed", "2", "--solver", "none",
];

fn start(folder: &Folder) -> Child {
    Command::new(env!("CARGO_BIN_EXE_ioxide"))
        .args(ARGS)
        .args(["--latency-ms", "300", "--no-shrink"])
        .current_dir(folder.path())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program runs")
}

fn signal(child: &Child, name: &str) {
    let sent = Command::new("kill").args([name, &child.id().to_string()]).status();
    assert!(sent.is_ok_and(|status| status.success()), "{name}");
}

#[test]
fn a_tester_that_stood_still_blames_nobody() {
    if !ioxide_test_support::has_program("python3") {
        return;
    }
    let folder = folder("0.7");
    let child = start(&folder);
    let deadline = Instant::now() + Duration::from_secs(60);
    while !folder.path().join("asked").exists() && Instant::now() < deadline {
        thread::sleep(Duration::from_millis(2));
    }
    signal(&child, "-STOP");
    thread::sleep(Duration::from_secs(3));
    signal(&child, "-CONT");
    let output = child.wait_with_output().expect("it ends");
    let text =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(5), "{text}");
    // Where the stop struck before the acknowledgement was read, that message is the late one.
    assert!(text.contains("machine was busy") || text.contains("until the system had ?go"), "{text}");
}

#[test]
fn a_system_that_is_late_itself_is_blamed() {
    if !ioxide_test_support::has_program("python3") {
        return;
    }
    let output = start(&folder("2.6")).wait_with_output().expect("it ends");
    let text =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    // On a machine that is too busy to say so, nothing is said.
    assert!(output.status.code() == Some(1) || text.contains("machine was busy"), "{text}");
}
