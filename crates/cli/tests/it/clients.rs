//! `ioxide test --clients`: several clients at once against a server whose races are certain.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use ioxide_test_support::{has_program, test_seeds};
use serde_json::Value as Json;

use crate::program::{command_in, print_in, printed, root};

const MODEL: &str = "model Counter {
    input add
    output total(n: int)
    var sum: int = 0
    state idle { add: on add { sum = sum + 1 } -> busy }
    state busy { tell: emit total(n: sum) -> idle }
}
";

/// A counter. With CONDUCT=race the first two requests after a reset both read before either writes. The number is in
/// memory, so a server that is killed forgets it; with CONDUCT=durable it is in a file.
const SERVER: &str = r#"
import os, socketserver, sys, threading

conduct = os.environ.get("CONDUCT", "")
mutex = threading.Lock()


class Counter:
    def __init__(self):
        self.n, self.calls, self.both = 0, 0, threading.Barrier(2)
        if conduct == "durable" and os.path.exists("number"):
            self.n = int(open("number").read() or 0)

    def store(self, n):
        self.n = n
        if conduct == "durable":
            with open("number.new", "w") as file:
                file.write(str(n))
            os.replace("number.new", "number")

    def add(self):
        with mutex:
            self.calls += 1
            is_early = conduct == "race" and self.calls <= 2
            if not is_early:
                self.store(self.n + 1)
                return self.n
            n = self.n + 1
        self.both.wait()
        with mutex:
            self.store(n)
        return n


class Client(socketserver.StreamRequestHandler):
    def handle(self):
        global counter
        for line in self.rfile:
            if line == b"reset\n":
                with mutex:
                    counter = Counter()
                    counter.store(0)
                self.wfile.write(b"ok\n")
            elif conduct == "silent":
                pass
            elif conduct == "crash":
                os._exit(3)
            else:
                self.wfile.write(f"total {counter.add()}\n".encode())


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address, daemon_threads = True, True


with open("pid", "w") as file:
    file.write(str(os.getpid()))
counter = Counter()
with Server(("127.0.0.1", int(sys.argv[1])), Client) as server:
    server.serve_forever()
"#;

const PROJECT: &str = r#"
[sut.counter]
kind = "text"
address = "127.0.0.1:{port}"
start = "exec python3 counter.py {port}"
ready_ms = 60000
reset = { send = "reset", expect = 'ok' }
[sut.counter.inputs]
add = "add"
[sut.counter.outputs]
total = 'total (?P<n>[0-9]+)'
[sut.counter.faults.mark]
begin = "echo begin >> marks"
end = "echo end >> marks"
[sut.alone]
kind = "text"
command = "python3 counter.py"
[sut.alone.inputs]
add = "add"
[sut.alone.outputs]
total = 'total (?P<n>[0-9]+)'
"#;

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("it works");
    for (name, text) in [("counter.iox", MODEL), ("counter.py", SERVER), ("ioxide.toml", PROJECT)] {
        fs::write(folder.path().join(name), text).expect("it works");
    }
    folder
}

/// Tests a counter of this conduct; returns what is printed, and the exit code.
fn test(folder: &Path, conduct: &str, args: &[&str]) -> (String, i32) {
    let given = ["test", "counter.iox", "--sut", "counter", "--seed", "1"];
    let mut command = command_in(folder, &[&given[..], args].concat());
    printed(&command.env("CONDUCT", conduct).output().expect("it works"))
}

#[test]
fn a_server_that_counts_passes_and_one_that_loses_an_update_fails() {
    if !has_program("python3") {
        return;
    }
    let folder = folder();
    let (text, code) = test(folder.path(), "", &["--clients", "3", "--runs", "3", "--steps", "30"]);
    assert_eq!(code, 0, "{text}");
    assert!(text.contains("PASS") && text.contains("of 3 clients in 3 runs are linearizable"), "{text}");
    let args = ["--clients", "2", "--runs", "3", "--report", "runs", "--reply-timeout", "1s"];
    let (text, code) = test(folder.path(), "race", &args);
    assert_eq!(code, 1, "{text}");
    for words in [
        "FAIL",
        "no order explains these 2 operations",
        "?add !total(n: 1)",
        "├#1",
        "found in run 1; ",
        "repetitions of the same operations failed",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
    // The record says the same to whoever judges it later.
    let (text, code) = print_in(folder.path(), &["judge", "counter.iox", "runs/history.jsonl", "--clients"]);
    assert_eq!(code, 1, "{text}");
    assert!(text.contains("no order explains these 2 operations"), "{text}");
    let junit = fs::read_to_string(folder.path().join("runs/junit.xml")).expect("it works");
    assert!(
        junit.contains("tests=\"1\" failures=\"1\"") && junit.contains("<failure message=\"FAIL: "),
        "{junit}"
    );
}

#[test]
fn the_json_says_what_the_text_says() {
    if !has_program("python3") {
        return;
    }
    let folder = folder();
    let run = |conduct: &str| {
        let args = [
            "--clients",
            "2",
            "--runs",
            "2",
            "--steps",
            "20",
            "--reply-timeout",
            "50ms",
            "--json",
            "--no-shrink",
        ];
        let (text, code) = test(folder.path(), conduct, &args);
        let json: Json = serde_json::from_str(text.lines().next().unwrap_or_default()).expect(&text);
        (json, code)
    };
    let (json, code) = run("race");
    assert_eq!((code, json["verdict"].as_str(), json["failed"].as_u64()), (1, Some("fail"), Some(1)));
    let core = &json["failure"]["history"]["core"];
    assert_eq!(core.as_array().map(Vec::len), Some(2), "{json}");
    let (json, code) = run("silent");
    assert_eq!((code, json["verdict"].as_str()), (5, Some("inconclusive")), "{json}");
    assert_eq!(json["unknown_because"], "no operation was answered");
    let (json, code) = run("crash");
    assert_eq!((code, json["verdict"].as_str()), (1, Some("fail")), "{json}");
    assert!(json["failure"]["breakdown"].as_str().is_some_and(|it| it.contains("ended by itself")), "{json}");
}

#[test]
fn a_killed_server_must_have_what_it_acknowledged() {
    if !has_program("python3") {
        return;
    }
    let folder = folder();
    let args = ["--clients", "2", "--runs", "4", "--faults", "kill", "--no-shrink"];
    let (text, code) = test(folder.path(), "", &args);
    assert_eq!(code, 1, "{text}");
    assert!(text.contains("fault: kill from"), "{text}");
    let (text, code) = test(folder.path(), "durable", &[&args[..], &["--steps", "40"]].concat());
    assert_eq!(code, 0, "{text}");
    assert!(text.contains("PASS") && text.contains(" fault"), "{text}");
}

#[test]
fn faults_of_network_and_processes_are_survived_and_ended() {
    if !has_program("python3") {
        return;
    }
    let folder = folder();
    let faults = "pause,delay,drop,cut,mark";
    let args = ["--clients", "2", "--runs", "2", "--faults", faults, "--reply-timeout", "300ms"];
    let (text, code) = test(folder.path(), "", &args);
    assert_eq!(code, 0, "{text}");
    let marks = fs::read_to_string(folder.path().join("marks")).unwrap_or_default();
    assert!(marks.lines().collect::<Vec<_>>().chunks(2).all(|pair| pair == ["begin", "end"]), "{marks}");
}

#[test]
fn what_cannot_have_several_clients_is_refused() {
    if !has_program("python3") {
        return;
    }
    let folder = folder();
    let refused = |args: &[&str], code: i32, words: &str| {
        let (text, ended) = print_in(folder.path(), &[&["test", "counter.iox"], args].concat());
        assert!(ended == code && text.contains(words), "{ended}: {text}");
    };
    refused(&["--sut", "counter", "--clients", "1"], 2, "at least 2 clients");
    refused(&["--sut", "alone", "--clients", "2"], 2, "its own system");
    refused(&["--sut", "counter", "--clients", "2", "--faults", "burn"], 2, "no fault `burn`");
    refused(&["--sut", "counter", "--clients", "2", "--tester", "random"], 2, "cannot be used with");
    let talker = "model M { output tick state s { t: emit tick -> s } }";
    fs::write(folder.path().join("counter.iox"), talker).expect("it works");
    refused(&["--sut", "counter", "--clients", "2"], 3, "is not sequential");
}

/// Every race of the server in `examples/concurrent`, and the faults that it needs.
const RACES: [(&str, &[&str]); 8] = [
    ("lost-update", &[]),
    ("stale-cache", &[]),
    ("torn-swap", &[]),
    ("dirty-read", &[]),
    ("early-answer", &["--faults", "kill"]),
    ("double-retry", &[]),
    ("lagging-copy", &[]),
    ("shared-lock", &[]),
];

/// Threads collide by chance, but in 30 seconds they do.
#[test]
fn every_planted_race_is_found_with_at_most_six_operations() {
    if !has_program("python3") {
        return;
    }
    let folder = root().join("examples/concurrent");
    for seed in test_seeds("IOXIDE_RACES", 1, 10) {
        let seed = (seed + 1).to_string();
        for (race, faults) in RACES {
            let given = ["test", "kv.iox", "--sut", "kv", "--clients", "4", "--for", "30s", "--seed", &seed];
            let mut command = command_in(&folder, &[&given[..], &["--no-shrink", "--json"], faults].concat());
            let (text, code) = printed(&command.env("KV_RACE", race).output().expect("it works"));
            assert_eq!(code, 1, "{race}, seed {seed}: {text}");
            let json: Json = serde_json::from_str(text.lines().next().unwrap_or_default()).expect(&text);
            let core = json["failure"]["history"]["core"].as_array().map_or(0, Vec::len);
            assert!((1..=6).contains(&core), "{race}, seed {seed}: {core} operations, {json}");
        }
    }
}

/// A server that is stopped, and a command that has begun, are not left as they are.
#[cfg(target_os = "linux")]
#[test]
fn ctrl_c_ends_the_faults() {
    if !has_program("python3") {
        return;
    }
    let folder = folder();
    let marks = || fs::read_to_string(folder.path().join("marks")).unwrap_or_default();
    for faults in ["mark", "pause"] {
        let args = ["test", "counter.iox", "--sut", "counter", "--clients", "2", "--for", "1h"];
        let mut command = command_in(folder.path(), &[&args[..], &["--faults", faults]].concat());
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
        let server = || fs::read_to_string(folder.path().join("pid")).unwrap_or_default();
        let is_stopped = || {
            let stat = fs::read_to_string(format!("/proc/{}/stat", server())).unwrap_or_default();
            stat.contains(") T ")
        };
        let deadline = Instant::now() + Duration::from_secs(300);
        // The fault lasts long enough for it to be seen while it is active.
        while if faults == "mark" { marks().lines().count() % 2 == 0 } else { !is_stopped() } {
            assert!(Instant::now() < deadline, "no fault has begun");
            thread::sleep(Duration::from_millis(5));
        }
        let sent = Command::new("kill").args(["-s", "INT", &child.id().to_string()]).status();
        assert!(sent.expect("there is a `kill`").success());
        let (text, code) = printed(&child.wait_with_output().expect("it ends"));
        assert_eq!(code, 130, "{text}");
        assert!(!Path::new(&format!("/proc/{}", server())).exists(), "{text}");
    }
    let marks = marks();
    assert!(marks.lines().collect::<Vec<_>>().chunks(2).all(|pair| pair == ["begin", "end"]), "{marks}");
}
