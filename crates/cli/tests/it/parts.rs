//! Every instance of a part has a connection of its own, from the project file alone: for adapters in Python on pipes
//! and sockets, for text, for HTTP. A connection that ends is the message `closed` of its part.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use tempfile::TempDir;

use ioxide_test_support::has_program;

/// Three desks that say who they are.
const DESKS: &str = "model Desk {
    const ID = 0

    input ask(n: 0..9)
    output answer(id: int, n: 0..9)
    var last: 0..9 = 0

    state idle { ask: on ask { last = n } -> busy }
    state busy { answer: emit answer(id: ID, n: last) -> idle }
}

system Office {
    desk[i in 1..3]: Desk(ID: i)
}
";

/// A desk for the adapter protocol; on a socket one process has all of them.
const DESK_PY: &str = r#"
import os
import sys

from ioxide_adapter import Adapter, on_input


class Desk(Adapter):
    outputs = {"answer": {"id": "int", "n": "int"}}

    @on_input("ask")
    def ask(self, n):
        assert self.part == "desk", self.part
        wrong = os.environ.get("FAULT") == "deaf" and self.index == 3 and n == 7
        self.emit("answer", id=self.index, n=0 if wrong else n)


if len(sys.argv) > 1:
    Desk.serve(f"127.0.0.1:{sys.argv[1]}")
else:
    Desk().run()
"#;

/// The same behind HTTP.
const DESK_HTTP: &str = r#"
import json
import os
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Desk(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        _, desk, n = self.path.split("/")
        wrong = os.environ.get("FAULT") == "deaf" and desk == "3" and n == "7"
        body = json.dumps({"id": int(desk), "n": 0 if wrong else int(n)}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass


ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Desk).serve_forever()
"#;

/// Clients that may leave, one by one.
const GUESTS: &str = "model Guest {
    input ping
    output pong
    input bye
    output closed

    state idle {
        ping: on ping -> answering
        bye: on bye -> leaving
    }
    state answering { pong: emit pong -> idle }
    state leaving { gone: emit closed -> gone }
    state gone {}
}

system House {
    guest[i in 1..2]: Guest
}
";

const GUEST_PY: &str = r#"
import os
import socketserver
import sys


class Guest(socketserver.StreamRequestHandler):
    def handle(self):
        for line in self.rfile:
            if line == b"BYE\n":
                if os.environ.get("FAULT") == "clings" and self.number == b"2\n":
                    self.wfile.write(b"PONG\n")
                    continue
                return
            if line.startswith(b"GUEST "):
                self.number = line[6:]
            self.wfile.write(b"PONG\n")


socketserver.ThreadingTCPServer.allow_reuse_address = True
with socketserver.ThreadingTCPServer(("127.0.0.1", int(sys.argv[1])), Guest) as server:
    server.daemon_threads = True
    server.serve_forever()
"#;

const PROJECT: &str = r#"
[sut.pipes]
kind = "stdio"
environment = { PYTHONPATH = "SDK" }
connections.desk = { part = "desk", command = "python3 desk.py" }

[sut.sockets]
kind = "tcp"
start = "exec python3 desk.py {port}"
environment = { PYTHONPATH = "SDK" }
connections.desk = { part = "desk", address = "127.0.0.1:{port}" }

[sut.web]
kind = "http"
start = "exec python3 web.py {port}"
ready = "tcp:127.0.0.1:{port}"
reset = "none"

[sut.web.connections.desk]
part = "desk"
url = "http://127.0.0.1:{port}"
inputs.ask = { path = "/{index}/{n}" }
outputs.answer = { status = 200, fields = { id = "/id", n = "/n" } }

[sut.house]
kind = "text"
start = "exec python3 guest.py {port}"
ready = "tcp:127.0.0.1:{port}"
reset = "reconnect"

[sut.house.connections.guest]
part = "guest"
address = "127.0.0.1:{port}"
reset = "GUEST {index}"
inputs = { ping = "PING", bye = "BYE" }
outputs.pong = "PONG"
"#;

fn sdk() -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../sdk/python").display().to_string()
}

fn folder(project: &str) -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let project = project.replace("SDK", &sdk());
    for (name, text) in [
        ("desks.iox", DESKS),
        ("guests.iox", GUESTS),
        ("desk.py", DESK_PY),
        ("web.py", DESK_HTTP),
        ("guest.py", GUEST_PY),
        ("ioxide.toml", &project),
    ] {
        fs::write(folder.path().join(name), text).expect("a file");
    }
    folder
}

fn tested(folder: &Path, model: &str, sut: &str, fault: &str) -> (i32, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_ioxide"))
        .args(["test", model, "--sut", sut, "--steps", "400", "--seed", "1", "--no-shrink"])
        .current_dir(folder)
        .env("FAULT", fault)
        .env("NO_COLOR", "1")
        .env("IOXIDE_PROGRESS", "off")
        .stdin(Stdio::null())
        .output()
        .expect("the program runs");
    let text = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    (output.status.code().unwrap_or(-1), text.join("\n"))
}

/// The system passes, and with its fault it fails at the instance that has it.
#[track_caller]
fn check(model: &str, sut: &str, fault: &str, found: &str) {
    if !has_program("python3") {
        return;
    }
    let folder = folder(PROJECT);
    let (code, text) = tested(folder.path(), model, sut, "");
    assert_eq!(code, 0, "{sut}: {text}");
    let (code, text) = tested(folder.path(), model, sut, fault);
    assert!(code == 1 && text.contains(found), "{sut}: {code}: {text}");
}

#[test]
fn adapters_on_pipes_are_told_which_instance_they_are() {
    check("desks.iox", "pipes", "deaf", "!desk.answer(i: 3, id: 3, n: 0)");
}

#[test]
fn adapters_of_one_process_are_told_which_instance_they_are() {
    check("desks.iox", "sockets", "deaf", "!desk.answer(i: 3, id: 3, n: 0)");
}

#[test]
fn a_service_is_asked_by_several_clients() {
    check("desks.iox", "web", "deaf", "!desk.answer(i: 3, id: 3, n: 0)");
}

#[test]
fn one_connection_ends_and_the_others_go_on() {
    check("guests.iox", "house", "clings", "!guest.pong(i: 2)");
}

/// Three different parts with a queue between two of them, in one process in Python.
#[test]
fn a_process_with_three_connections_is_tested() {
    if !has_program("python3") {
        return;
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/systems/shop");
    let test = |fault: Option<&str>| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ioxide"));
        command.args([
            "test",
            "shop.iox",
            "--sut",
            "shop",
            "--steps",
            "600",
            "--seed",
            "1",
            "--no-shrink",
            "-v",
        ]);
        command.current_dir(&folder).env("IOXIDE_PROGRESS", "off").env_remove("FAULT");
        command.envs(fault.map(|fault| ("FAULT", fault)));
        let output = command.stdin(Stdio::null()).output().expect("the program runs");
        (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
    };
    let (code, text) = test(None);
    assert!(
        code != Some(1) && text.contains("kitchen  3 of 3 transitions") && !text.contains("FAIL"),
        "{text}"
    );
    let (code, text) = test(Some("1"));
    assert!(code == Some(1) && text.contains("FAIL"), "{text}");
}

/// Mistakes in the connections of parts are reported with the line, before anything is started.
#[test]
fn mistakes_are_told() {
    let desk = "[sut.x]\nkind = \"stdio\"\n[sut.x.connections.desk]\n";
    for (lines, says) in [
        ("part = \"desks\"\ncommand = \"true\"", "the model has no part `desks`"),
        ("part = \"desk[9]\"\ncommand = \"true\"", "the part `desk` has no such instance"),
        ("part = \"desk[\"\ncommand = \"true\"", "write `client` or `client[2]`"),
        ("part = \"desk[2]\"\ncommand = \"true\"", "the part `desk[1]` has no connection"),
        ("part = \"desk\"\nmessages = [\"ask\"]\ncommand = \"true\"", "there is no key"),
        (
            "part = \"desk\"\ncommand = \"true\"\n[sut.x.connections.more]\npart = \"desk\"\ncommand = \"true\"",
            "`desk` has a connection already, `desk`",
        ),
    ] {
        let folder = folder(&format!("{desk}{lines}\n"));
        let (code, text) = tested(folder.path(), "desks.iox", "x", "");
        assert!(code == 2 && text.contains(says), "`{says}` for {lines}: {code}: {text}");
    }
}

/// An instance may have a table of its own.
#[test]
fn one_instance_is_singled_out() {
    if !has_program("python3") {
        return;
    }
    let project = PROJECT.to_owned()
        + "\n[sut.mixed]\nkind = \"stdio\"\nenvironment = { PYTHONPATH = \"SDK\" }\n\
           [sut.mixed.connections.desk]\npart = \"desk\"\ncommand = \"python3 desk.py\"\n\
           [sut.mixed.connections.last]\npart = \"desk[3]\"\ncommand = \"FAULT=deaf python3 desk.py\"\n";
    let folder = folder(&project);
    let (code, text) = tested(folder.path(), "desks.iox", "mixed", "");
    assert!(code == 1 && text.contains("!desk.answer(i: 3, id: 3, n: 0)"), "{code}: {text}");
}
