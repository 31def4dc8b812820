//! `ioxide test --clients` over every kind of connection: each kind with a counter that counts and one that loses an
//! update for certain.

use std::fs;
use std::path::Path;

use ioxide_test_support::has_program;

use crate::program::{command_in, printed, root};

const MODEL: &str = "model Counter {
    input add
    output total(n: int)
    var sum: int = 0
    state idle { add: on add { sum = sum + 1 } -> busy }
    state busy { tell: emit total(n: sum) -> idle }
}
";

/// The counter. With CONDUCT=race the first two additions after a reset both read before either writes.
const COUNTER: &str = r#"
import os, threading

mutex = threading.Lock()


class Counter:
    def __init__(self):
        self.n, self.calls, self.both = 0, 0, threading.Barrier(2)

    def add(self):
        with mutex:
            self.calls += 1
            is_early = os.environ.get("CONDUCT") == "race" and self.calls <= 2
            self.n += 0 if is_early else 1
            n = self.n + 1 if is_early else self.n
        if is_early:
            self.both.wait()
            with mutex:
                self.n = n
        return n
"#;

const HTTP: &str = r#"
import http.server, json, sys
from counter import Counter

counter = Counter()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        global counter
        if self.path == "/reset":
            counter = Counter()
            answer = b"{}"
        else:
            answer = json.dumps({"total": counter.add()}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *args):
        pass


http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
"#;

const BINARY: &str = r#"
import os, socketserver, struct, sys
from counter import Counter

counter = Counter()


class Client(socketserver.BaseRequestHandler):
    def handle(self):
        global counter
        while request := self.request.recv(1):
            if request == b"R":
                counter = Counter()
                self.request.sendall(b"K\0\0")
            else:
                self.request.sendall(struct.pack(">cH", b"T", counter.add()))


Base = socketserver.UnixStreamServer if "/" in sys.argv[1] else socketserver.TCPServer


class Server(socketserver.ThreadingMixIn, Base):
    allow_reuse_address, daemon_threads = True, True


place = sys.argv[1]
with Server(place if "/" in place else ("127.0.0.1", int(place)), Client) as server:
    server.serve_forever()
"#;

const ADAPTER: &str = r#"
import sys
from counter import Counter
from ioxide_adapter import Adapter, on_input


class Shared(Adapter):
    concurrent_clients = "alone" not in sys.argv
    outputs = {"total": {"n": "int"}}
    counter = Counter()

    def reset(self):
        Shared.counter = Counter()

    @on_input("add")
    def add(self):
        self.emit("total", n=Shared.counter.add())


Shared.serve("127.0.0.1:" + sys.argv[1])
"#;

const PROJECT: &str = r#"
[sut.http]
kind = "http"
url = "http://127.0.0.1:{port}"
start = "exec python3 http_counter.py {port}"
ready_ms = 60000
reset = { method = "POST", path = "/reset" }
[sut.http.inputs]
add = { method = "POST", path = "/add" }
[sut.http.outputs]
total = { status = 200, fields = { n = "/total" } }

[sut.binary]
kind = "binary"
address = "127.0.0.1:{port}"
start = "exec python3 binary.py {port}"
ready_ms = 60000
framing = "fixed:3"
reset = { send = "0x52", expect = '0x4b 00 00' }
[sut.binary.inputs]
add = "'A'"
[sut.binary.outputs]
total = "'T', u16 n"

[sut.unix]
kind = "binary"
address = "unix:./counter.socket"
start = "rm -f counter.socket; exec python3 binary.py ./counter.socket"
ready_ms = 60000
framing = "fixed:3"
reset = { send = "0x52", expect = '0x4b 00 00' }
[sut.unix.inputs]
add = "'A'"
[sut.unix.outputs]
total = "'T', u16 n"

[sut.adapter]
kind = "tcp"
address = "127.0.0.1:{port}"
start = "exec python3 adapter.py {port}"
ready_ms = 60000

[sut.alone]
kind = "tcp"
address = "127.0.0.1:{port}"
start = "exec python3 adapter.py {port} alone"
ready_ms = 60000
"#;

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("it works");
    for (name, text) in [
        ("counter.iox", MODEL),
        ("counter.py", COUNTER),
        ("http_counter.py", HTTP),
        ("binary.py", BINARY),
        ("adapter.py", ADAPTER),
        ("ioxide.toml", PROJECT),
    ] {
        fs::write(folder.path().join(name), text).expect("it works");
    }
    folder
}

/// Tests a counter of this conduct that is connected in this way; returns what is printed, and the exit code.
fn test(folder: &Path, sut: &str, conduct: &str, args: &[&str]) -> (String, i32) {
    let given = ["test", "counter.iox", "--sut", sut, "--seed", "1", "--clients", "3"];
    let mut command = command_in(folder, &[&given[..], args].concat());
    command.env("CONDUCT", conduct).env("PYTHONPATH", root().join("sdk/python"));
    printed(&command.output().expect("it works"))
}

#[test]
fn every_kind_of_connection_can_have_several_clients() {
    if !has_program("python3") {
        return;
    }
    let folder = folder();
    for sut in ["http", "binary", "unix", "adapter"] {
        let (text, code) = test(folder.path(), sut, "", &["--runs", "3", "--steps", "20"]);
        assert!(code == 0 && text.contains("of 3 clients in 3 runs are linearizable"), "{sut}: {text}");
        let (text, code) = test(folder.path(), sut, "race", &["--runs", "3", "--steps", "20", "--no-shrink"]);
        assert!(code == 1 && text.contains("no order explains these 2 operations"), "{sut}: {text}");
    }
}

#[test]
fn a_race_needs_few_operations_of_two_clients() {
    if !has_program("python3") {
        return;
    }
    let folder = folder();
    let (text, code) =
        test(folder.path(), "binary", "race", &["--runs", "3", "--reply-timeout", "1s", "--json"]);
    assert_eq!(code, 1, "{text}");
    let json: serde_json::Value = serde_json::from_str(text.lines().next().unwrap_or_default()).expect(&text);
    let workload = &json["failure"]["workload"];
    assert_eq!((workload["operations"].as_u64(), workload["clients"].as_u64()), (Some(2), Some(2)), "{text}");
    assert!(workload["reproduced"].as_u64() >= Some(2), "{text}");
}

#[test]
fn an_adapter_that_does_not_know_of_clients_is_refused() {
    if !has_program("python3") {
        return;
    }
    let folder = folder();
    let (text, code) = test(folder.path(), "alone", "", &["--runs", "1"]);
    assert!(code == 6 && text.contains("several clients were requested"), "{code}: {text}");
}
