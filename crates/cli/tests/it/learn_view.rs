//! `ioxide learn --view` without a browser: what the page is told while a system is learned, and when it is over.
//!
//! The system is a door behind a socket that can be held: it does not answer before it is let go, so that a test sees
//! learning in the middle, however fast the machine is.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, Stdio};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::Duration;

use serde_json::Value as Json;
use tempfile::TempDir;

/// The number of messages the door answers before it waits to be let go, and the number it has answered.
type Gate = Arc<(Mutex<(u64, u64)>, Condvar)>;

/// A door that opens unless it is locked, in a project of its own. From message `lies` on it says the wrong thing.
struct Door {
    folder: TempDir,
    gate: Gate,
}

impl Door {
    fn new(held_after: u64, lies: u64) -> Self {
        let gate: Gate = Arc::new((Mutex::new((held_after, 0)), Condvar::new()));
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("an address");
        let there = Arc::clone(&gate);
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let gate = Arc::clone(&there);
                thread::spawn(move || answer(&stream, &gate, lies));
            }
        });
        let folder = tempfile::tempdir().expect("a folder");
        let project = format!(
            "[sut.door]\nkind = \"text\"\naddress = \"{address}\"\nreset = \"reconnect\"\n[sut.door.inputs]\n\
             open = \"open\"\n\
             close = \"close\"\nlock = \"lock\"\n[sut.door.outputs]\nok = 'ok'\nno = 'no'\n"
        );
        let model = "model Door {\n input open\n input close\n input lock\n output ok\n output no\n \
                     state any_state { on open \
                     on close on lock }\n}\n";
        fs::write(folder.path().join("ioxide.toml"), project).expect("a file");
        fs::write(folder.path().join("door.iox"), model).expect("a file");
        Self { folder, gate }
    }

    fn let_go(&self) {
        self.gate.0.lock().expect("nobody panics").0 = u64::MAX;
        self.gate.1.notify_all();
    }

    fn answered(&self) -> u64 {
        self.gate.0.lock().expect("nobody panics").1
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
}

fn answer(stream: &TcpStream, gate: &Gate, lies: u64) {
    // Open, closed or locked.
    let mut state = 1;
    for line in BufReader::new(stream).lines().map_while(Result::ok) {
        let now = {
            let held = gate.0.lock().expect("nobody panics");
            let mut held =
                gate.1.wait_while(held, |(most, answered)| *answered >= *most).expect("nobody panics");
            held.1 += 1;
            held.1
        };
        let next = match (line.trim(), state) {
            ("open", 1) => 0,
            ("close", 0) => 1,
            ("lock", 1) => 2,
            ("lock", 2) => 1,
            _ => state,
        };
        let is_done = next != state;
        state = next;
        let said = if is_done != (now >= lies) { "ok\r\n" } else { "no\r\n" };
        if (&mut &*stream).write_all(said.as_bytes()).is_err() {
            break;
        }
    }
}

/// Learning that is watched; it ends with the test.
struct Watched {
    program: Child,
    said: BufReader<ChildStderr>,
    host: String,
    /// `/TOKEN/`.
    prefix: String,
}

impl Watched {
    fn start(folder: &Path, more: &[&str]) -> Self {
        let args = ["learn", "door.iox", "--sut", "door", "--one-answer", "--seed", "1", "--view"];
        let mut program = Command::new(env!("CARGO_BIN_EXE_ioxide"))
            .args(args)
            // So long the door may be held; it does not greet.
            .args(["--silence-ms", "4000", "--greeting-ms", "50"])
            .args(more)
            .env("IOXIDE_PROGRESS", "off")
            .current_dir(folder)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program runs");
        let mut said = BufReader::new(program.stderr.take().expect("stderr is piped"));
        let mut line = String::new();
        said.read_line(&mut line).expect("a line");
        let url = line.trim().strip_prefix("watch it at http://");
        let (host, token) =
            url.and_then(|url| url.split_once('/')).unwrap_or_else(|| panic!("an address, not `{line}`"));
        Self { program, said, host: host.to_owned(), prefix: format!("/{token}") }
    }

    fn ask(&self, path: &str) -> TcpStream {
        let mut stream = TcpStream::connect(&self.host).expect("it listens");
        stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a time-out");
        let text = format!("GET {}{path} HTTP/1.1\r\nHost: {}\r\n\r\n", self.prefix, self.host);
        stream.write_all(text.as_bytes()).expect("it is heard");
        stream
    }

    fn get(&self, path: &str) -> Json {
        let mut answer = String::new();
        self.ask(path).read_to_string(&mut answer).expect("an answer");
        let (head, body) = answer.split_once("\r\n\r\n").expect("a head");
        assert!(head.starts_with("HTTP/1.1 200"), "{head}");
        serde_json::from_str(body).expect("JSON")
    }

    /// Returns the events of the page from now on.
    fn views(&self) -> impl Iterator<Item = Json> + use<> {
        let lines = BufReader::new(self.ask("api/learning/events")).lines().map_while(Result::ok);
        lines.filter_map(|line| serde_json::from_str(line.strip_prefix("data: ")?).ok())
    }

    /// The exit code, what was said on stderr, and on stdout.
    fn end(mut self) -> (Option<i32>, String, String) {
        let (mut err, mut out) = (String::new(), String::new());
        self.said.read_to_string(&mut err).expect("a text");
        let mut stdout = self.program.stdout.take().expect("stdout is piped");
        stdout.read_to_string(&mut out).expect("a text");
        (self.program.wait().expect("it ends").code(), err, out)
    }

    fn interrupt(&self) {
        let id = self.program.id().to_string();
        assert!(Command::new("kill").args(["-INT", &id]).status().expect("kill runs").success());
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        let _ = self.program.kill();
        let _ = self.program.wait();
    }
}

#[test]
fn a_system_is_watched_from_the_first_question_to_the_model() {
    // Every input once makes the first hypothesis.
    let door = Door::new(2, u64::MAX);
    let watched = Watched::start(door.folder.path(), &["--out", "learned.iox", "--json"]);
    let mut views = watched.views();
    let held = views.find(|view| view["symbols"] == 2).expect("two answers");
    assert_eq!((&held["phase"], &held["end"], &held["inputs"]), (&"asking".into(), &Json::Null, &3.into()));
    assert_eq!((&held["system"], &held["kind"]), (&"door".into(), &"a machine".into()));
    assert!(!door.path("learned.iox").exists());
    // A browser that goes away is no trouble; another one sees everything.
    drop(views);
    let views = watched.views();
    door.let_go();
    let mut asked = 0;
    let mut last = Json::Null;
    for view in views {
        let symbols = view["symbols"].as_u64().expect("a number");
        assert!(symbols >= asked, "{view}");
        (asked, last) = (symbols, view);
        if last["end"] != Json::Null {
            break;
        }
    }
    assert_eq!((&last["phase"], &last["states"]), (&"over".into(), &3.into()), "{last}");
    assert_eq!((&last["end"]["has_model"], &last["end"]["out"]), (&true.into(), &"learned.iox".into()));
    assert!(
        last["guarantee"].as_str().expect("a text").starts_with("exact if the system has at most 5 states")
    );
    assert_eq!(last["symbols"], door.answered(), "every message is counted, once");
    let found = &last["counterexample"];
    let steps = found["steps"].as_array().expect("a word");
    assert!(!steps.is_empty() && steps[steps.len() - 1]["answer"] != found["believed"], "{found}");
    assert!(door.path("learned.iox").exists(), "the model is there before the page says so");
    let picture = watched.get("api/learning/picture");
    assert_eq!(
        (&picture["states"], &picture["moves"], &picture["missing"]),
        (&3.into(), &9.into(), &"".into())
    );
    assert_eq!(picture["hypothesis"], last["hypotheses"]);
    let svg = picture["svg"].as_str().expect("a picture");
    assert_eq!(svg.matches("class=\"node").count(), 3, "{svg}");
    assert!(svg.contains("lock / ok"), "{svg}");
    watched.interrupt();
    let (code, err, out) = watched.end();
    assert_eq!(code, Some(0), "{err}");
    assert!(err.contains("the page stays until Ctrl-C") && !err.contains("once more"), "{err}");
    let told: Json = serde_json::from_str(&out).expect("JSON alone is on stdout");
    for field in ["resets", "symbols", "states", "hypotheses"] {
        assert_eq!(told[field], last[field], "{field}");
    }
}

#[test]
fn the_page_hears_why_there_is_no_model() {
    let door = Door::new(5, 40);
    let watched = Watched::start(door.folder.path(), &[]);
    let views = watched.views();
    door.let_go();
    let last = views.last().expect("a view");
    assert_eq!(last["end"]["has_model"], false, "{last}");
    let runs = last["disagreement"].as_array().expect("lines");
    assert!(
        runs.iter().any(|line| line.as_str().is_some_and(|line| line.starts_with("earlier: "))),
        "{last}"
    );
    let (code, err, _) = watched.end();
    assert_eq!(code, Some(5), "{err}");
    assert!(err.contains("gives two different replies to the same inputs"), "{err}");
}

/// A door that lies now and then is drafted with choices, and the page says what goes on: hypotheses are numbered on.
#[test]
fn a_draft_with_choices_is_watched() {
    let door = Door::new(5, 40);
    let flags =
        ["--unstable", "draft", "--walks", "20", "--walk-length", "5", "--votes", "2", "--out", "draft.iox"];
    let watched = Watched::start(door.folder.path(), &flags);
    let views = watched.views();
    door.let_go();
    let (mut numbers, mut last, mut is_drafted) = (vec![0], Json::Null, false);
    for view in views {
        numbers.push(view["hypotheses"].as_u64().expect("a number"));
        is_drafted |= view["phase"] == "drafting";
        last = view;
        if last["end"] != Json::Null {
            break;
        }
    }
    assert!(numbers.is_sorted(), "{numbers:?}");
    assert!(is_drafted && numbers[numbers.len() - 1] > 1, "{numbers:?}");
    assert_eq!((&last["end"]["has_model"], &last["guarantee"]), (&true.into(), &"".into()), "{last}");
    assert!(!last["disagreement"].as_array().expect("lines").is_empty(), "{last}");
    let picture = watched.get("api/learning/picture");
    assert_eq!(picture["hypothesis"], last["hypotheses"], "{picture}");
    assert_eq!(picture["states"], last["states"], "{picture}");
    assert_eq!(last["kind"], "a machine with choices");
    // No state but the first is taken for one of the machine before.
    let new = picture["new_states"].as_array().expect("states").len() as u64;
    assert_eq!(new + 1, last["states"].as_u64().expect("a number"), "{picture}");
    watched.interrupt();
    let (code, err, _) = watched.end();
    assert_eq!(code, Some(0), "{err}");
    assert!(door.path("draft.iox").exists());
}

#[test]
fn whoever_interrupts_learning_does_not_wait_for_the_page() {
    let door = Door::new(60, u64::MAX);
    let watched = Watched::start(door.folder.path(), &["--out", "learned.iox", "--extra", "5"]);
    let mut views = watched.views();
    assert!(views.any(|view| view["symbols"] == 60));
    watched.interrupt();
    door.let_go();
    let (code, err, _) = watched.end();
    assert_eq!(code, Some(130), "{err}");
    assert!(!err.contains("the page stays"), "{err}");
}

#[test]
fn a_view_needs_a_system_and_a_page_a_view() {
    let door = Door::new(0, 0);
    let refused = |args: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_ioxide"))
            .args(args)
            .current_dir(door.folder.path())
            .output()
            .expect("the program runs");
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let (code, told) = refused(&["learn", "door.iox", "--sut", "door", "--listen", "8080"]);
    assert!(code == Some(2) && told.contains("--view"), "{told}");
    let (code, told) = refused(&["learn", "door.iox", "--traces", "x", "--view"]);
    assert!(code == Some(2) && told.contains("--view"), "{told}");
    let (code, told) = refused(&["learn", "door.iox", "--sut", "door", "--view", "--listen", "nowhere:x"]);
    assert!(code == Some(2) && told.contains("cannot listen on `nowhere:x`"), "{told}");
}
