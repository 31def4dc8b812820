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

/// Resets by HTTP, counts by WebSocket: a client opens one when it has connected.
const WEBSOCKET: &str = r#"
import base64, hashlib, json, socketserver, sys
from counter import Counter

counter = Counter()


class Client(socketserver.StreamRequestHandler):
    def handle(self):
        global counter
        while line := self.rfile.readline():
            headers = {}
            while header := self.rfile.readline().strip():
                name, _, value = header.decode().partition(":")
                headers[name.lower()] = value.strip()
            if b"/socket" in line:
                return self.talk(headers["sec-websocket-key"])
            counter = Counter()
            self.wfile.write(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n")

    def talk(self, key):
        hashed = hashlib.sha1((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").encode()).digest()
        accept = base64.b64encode(hashed).decode()
        head = "HTTP/1.1 101 Switching\r\nupgrade: websocket\r\nconnection: upgrade\r\n"
        self.wfile.write(f"{head}sec-websocket-accept: {accept}\r\n\r\n".encode())
        while head := self.rfile.read(2):
            mask, length = self.rfile.read(4), head[1] & 0x7F
            payload = bytes(byte ^ mask[at % 4] for at, byte in enumerate(self.rfile.read(length)))
            if head[0] & 0x0F != 1:
                return
            if payload == b"hello":
                answer = b"welcome"
            else:
                answer = json.dumps({"total": counter.add()}).encode()
            self.wfile.write(bytes([0x81, len(answer)]) + answer)


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address, daemon_threads = True, True


with Server(("127.0.0.1", int(sys.argv[1])), Client) as server:
    server.serve_forever()
"#;

const NODE: &str = r#"
import { Adapter } from 'SDK';

const pause = () => new Promise((resolve) => setTimeout(resolve, 20));

class Shared extends Adapter {
  static inputs = { add: {} };
  static outputs = { total: { n: 'int' } };
  static concurrentClients = process.argv[3] !== 'alone';
  static n = 0;
  static calls = 0;

  reset() {
    [Shared.n, Shared.calls] = [0, 0];
  }

  async add() {
    Shared.calls += 1;
    const n = Shared.n + 1;
    // The first addition waits long enough for others to read what it read.
    if (process.env.CONDUCT === 'race' && Shared.calls === 1) await pause();
    Shared.n = n;
    this.emit('total', { n });
  }
}

await Shared.serve(`127.0.0.1:${process.argv[2]}`);
"#;

/// A model whose inputs travel by two connections.
const NAMED_MODEL: &str = "model Counter {
    input add
    input read
    output added
    output total(n: int)
    var sum: int = 0
    state idle { add: on add { sum = sum + 1 } -> busy  read: on read -> asked }
    state busy { emit added -> idle }
    state asked { emit total(n: sum) -> idle }
}
";

/// Serves writers, who are greeted, and readers. With CONDUCT=race additions are counted twice.
const NAMED: &str = r#"
import os, socketserver, sys, threading

mutex = threading.Lock()
n = 0


class Client(socketserver.StreamRequestHandler):
    def handle(self):
        global n
        for line in self.rfile:
            word = line.strip()
            with mutex:
                if word == b"CLEAR":
                    n = 0
                elif word == b"ADD":
                    n += 2 if os.environ.get("CONDUCT") == "race" else 1
                answer = {b"READ": f"TOTAL {n}", b"HELLO": "WELCOME"}.get(word, "OK")
            self.wfile.write(f"{answer}\n".encode())


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address, daemon_threads = True, True


with Server(("127.0.0.1", int(sys.argv[1])), Client) as server:
    server.serve_forever()
"#;

const PROJECT: &str = r#"
[sut.websocket]
kind = "http"
url = "http://127.0.0.1:{port}"
start = "exec python3 websocket.py {port}"
ready_ms = 60000
reset = { method = "POST", path = "/reset" }
on_connect = { path = "/socket", websocket = true, send = "hello", expect = "welcome" }
[sut.websocket.inputs]
add = { over = "on_connect", body = "add" }
[sut.websocket.outputs]
total = { event = "message", fields = { n = "/total" } }

[sut.opened]
kind = "http"
url = "http://127.0.0.1:{port}"
start = "exec python3 websocket.py {port}"
reset = { method = "POST", path = "/reset" }
[sut.opened.inputs]
open = { path = "/socket", websocket = true }
add = { over = "open", body = "add" }
[sut.opened.outputs]
opened = { status = 101 }
total = { event = "message", fields = { n = "/total" } }

[sut.node]
kind = "tcp"
address = "127.0.0.1:{port}"
start = "exec node node.mjs {port}"
ready_ms = 60000

[sut.nodealone]
kind = "tcp"
address = "127.0.0.1:{port}"
start = "exec node node.mjs {port} alone"
ready_ms = 60000

[sut.named]
kind = "text"
start = "exec python3 named.py {port}"
reset = "reconnect"
ready_ms = 60000
[sut.named.connections.writer]
address = "127.0.0.1:{port}"
reset = { send = "CLEAR", expect = "OK" }
on_connect = { send = "HELLO", expect = "WELCOME" }
inputs = { add = "ADD" }
outputs = { added = "OK" }
[sut.named.connections.reader]
address = "127.0.0.1:{port}"
inputs = { read = "READ" }
outputs = { total = 'TOTAL (?P<n>[0-9]+)' }

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
        ("websocket.py", WEBSOCKET),
        ("node.mjs", &NODE.replace("SDK", &root().join("sdk/node/src/index.js").display().to_string())),
        ("named.iox", NAMED_MODEL),
        ("named.py", NAMED),
        ("ioxide.toml", PROJECT),
    ] {
        fs::write(folder.path().join(name), text).expect("it works");
    }
    folder
}

/// Tests a counter of this conduct that is connected in this way; returns what is printed, and the exit code.
fn test(folder: &Path, sut: &str, conduct: &str, args: &[&str]) -> (String, i32) {
    test_model(folder, "counter.iox", sut, conduct, args)
}

/// Tests such a counter by the model `model`.
fn test_model(folder: &Path, model: &str, sut: &str, conduct: &str, args: &[&str]) -> (String, i32) {
    let given = ["test", model, "--sut", sut, "--seed", "1", "--clients", "3"];
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
    for sut in ["http", "binary", "unix", "adapter", "websocket"] {
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

#[test]
fn every_client_has_all_named_connections() {
    if !has_program("python3") {
        return;
    }
    let folder = folder();
    let runs = ["--runs", "3", "--steps", "20"];
    // One proxy stands between the clients and the address of both connections.
    for faults in [&[][..], &["--faults", "delay,cut"]] {
        let args = [&runs[..], faults].concat();
        let (text, code) = test_model(folder.path(), "named.iox", "named", "", &args);
        assert!(code == 0 && text.contains("PASS"), "{faults:?}: {text}");
    }
    let (text, code) = test_model(folder.path(), "named.iox", "named", "race", &runs);
    assert!(code == 1 && text.contains("no order explains"), "{text}");
}

#[test]
fn adapters_in_node_can_have_several_clients() {
    if !has_program("node") {
        return;
    }
    let folder = folder();
    let (text, code) = test(folder.path(), "node", "", &["--runs", "3", "--steps", "20"]);
    assert!(code == 0 && text.contains("of 3 clients in 3 runs are linearizable"), "{text}");
    let (text, code) = test(folder.path(), "node", "race", &["--runs", "20", "--steps", "20", "--no-shrink"]);
    assert!(code == 1 && text.contains("no order explains"), "{text}");
    let (text, code) = test(folder.path(), "nodealone", "", &["--runs", "1"]);
    assert!(code == 6 && text.contains("several clients were requested"), "{code}: {text}");
}

#[test]
fn a_played_model_can_have_several_clients() {
    let folder = folder();
    let (text, code) = test(folder.path(), "model:counter.iox", "", &["--runs", "3", "--steps", "20"]);
    assert!(code == 0 && text.contains("of 3 clients in 3 runs are linearizable"), "{text}");
    let wrong = MODEL.replace("sum = sum + 1", "sum = sum + (if sum == 2 then 2 else 1)");
    fs::write(folder.path().join("wrong.iox"), wrong).expect("it works");
    let (text, code) = test(folder.path(), "model:wrong.iox", "", &["--runs", "3", "--steps", "20"]);
    assert!(code == 1 && text.contains("no order explains"), "{text}");
    let (text, code) = test(folder.path(), "model:counter.iox", "", &["--runs", "1", "--faults", "kill"]);
    assert!(code == 2 && text.contains("a model that ioxide simulates has no faults"), "{text}");
}

#[test]
fn a_websocket_that_an_input_opens_is_refused_with_the_way_out() {
    let folder = folder();
    let opening = MODEL.replace("input add", "input add\n    input open\n    output opened");
    let opening = opening.replace(
        "-> busy }",
        "-> busy  open: on open -> greeting }\n    state greeting { emit opened -> idle }",
    );
    fs::write(folder.path().join("opening.iox"), opening).expect("it works");
    let (text, code) = test_model(folder.path(), "opening.iox", "opened", "", &["--runs", "1"]);
    assert!(
        code == 2 && text.contains("`add` needs the WebSocket that the input `open` opens"),
        "{code}: {text}"
    );
    assert!(text.contains("over = \"on_connect\""), "{text}");
}
