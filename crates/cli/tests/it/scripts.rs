//! Failing runs as programs that need no ioxide: each form is executed against a server that chooses ids, sees the
//! failure again, and passes once the fault is gone.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use ioxide_test_support::has_program;

use crate::program::{command_in, printed, root};

/// Items under ids that the system makes up.
const STORE: &str = "
model Store {
    input create(n: 0..9)
    input get(id: ID)
    output created(id: ID)
    output item(id: ID, n: int)
    output missing
    var items: map<ID, int> = {}
    var asked: ID = NONE
    var given: int = 0
    state idle {
        on create { given = n } -> creating
        on get { asked = id } -> getting
    }
    state creating { emit created when !items.has(id) { items = items.with(id, given) } -> idle }
    state getting {
        emit item when items.has(asked) && id == asked && n == items[asked] -> idle
        emit missing when !items.has(asked) -> idle
    }
}
";

/// The store over HTTP, lines or bytes. Its first argument is the protocol, its second the port (0 for any, which it
/// prints), its third `wrong` or `right`: a wrong one reads a wrong number once there are two items.
const SERVER: &str = r#"
import json, random, socketserver, struct, sys, uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

KIND, PORT, FAULT = sys.argv[1], int(sys.argv[2]), sys.argv[3]


class Store:
    def __init__(self):
        self.items = {}

    def create(self, n):
        id = random.randrange(1 << 20, 1 << 31) if KIND == "bytes" else str(uuid.uuid4())
        self.items[id] = n
        return id

    def get(self, id):
        if id not in self.items:
            return None
        return self.items[id] + (1 if FAULT == "wrong" and len(self.items) >= 2 else 0)


class Http(BaseHTTPRequestHandler):
    store = Store()

    def answer(self, status, value):
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_POST(self):
        length = int(self.headers.get("content-length") or 0)
        body = json.loads(self.rfile.read(length) or b"{}")
        if self.path == "/reset":
            Http.store = Store()
            return self.answer(200, {})
        self.answer(201, {"item": {"id": self.store.create(body["n"])}})

    def do_GET(self):
        id = self.path.split("/")[-1]
        n = self.store.get(id)
        self.answer(404, {}) if n is None else self.answer(200, {"id": id, "n": n})

    def log_message(self, *args):
        pass


class Lines(socketserver.StreamRequestHandler):
    def handle(self):
        store = Store()
        for line in self.rfile:
            word, value = line.decode().split()
            if word == "CREATE":
                self.wfile.write(f"CREATED {store.create(int(value))}\n".encode())
            else:
                n = store.get(value)
                self.wfile.write((b"MISSING\n" if n is None else f"ITEM {value} {n}\n".encode()))


class Bytes(socketserver.StreamRequestHandler):
    def handle(self):
        store = Store()
        while head := self.rfile.read(1):
            kind, value = self.rfile.read(1)[0], None
            (value,) = struct.unpack(">I", self.rfile.read(head[0] - 1))
            if kind == 1:
                answer = struct.pack(">BI", 0x81, store.create(value))
            else:
                n = store.get(value)
                answer = b"\x83" if n is None else struct.pack(">BIH", 0x82, value, n)
            self.wfile.write(bytes([len(answer)]) + answer)


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = daemon_threads = True


address = ("127.0.0.1", PORT)
server = {"http": lambda: ThreadingHTTPServer(address, Http), "lines": lambda: Server(address, Lines),
          "bytes": lambda: Server(address, Bytes)}[KIND]()
print(server.server_address[1], flush=True)
server.serve_forever()
"#;

const PROJECT: &str = r#"
[sut.http]
kind = "http"
start = "exec python3 server.py http {port} wrong"
ready = "tcp:127.0.0.1:{port}"
url = "http://127.0.0.1:{port}"
reset = { method = "POST", path = "/reset" }
inputs.create = { method = "POST", path = "/items", body = '{{"n": {n}}}' }
inputs.get = { path = "/items/{id}" }
outputs.created = { status = 201, fields = { id = "/item/id" } }
outputs.item = { status = 200, fields = { id = "/id", n = "/n" } }
outputs.missing = { status = 404 }

[sut.lines]
kind = "text"
start = "exec python3 server.py lines {port} wrong"
ready = "tcp:127.0.0.1:{port}"
reset = "reconnect"
address = "127.0.0.1:{port}"
inputs.create = "CREATE {n}"
inputs.get = "GET {id}"
outputs.created = 'CREATED (?P<id>\S+)'
outputs.item = 'ITEM (?P<id>\S+) (?P<n>-?\d+)'
outputs.missing = 'MISSING'

[sut.bytes]
kind = "binary"
start = "exec python3 server.py bytes {port} wrong"
ready = "tcp:127.0.0.1:{port}"
reset = "reconnect"
address = "127.0.0.1:{port}"
framing = "length:1"
inputs.create = "0x01, u32 n"
inputs.get = "0x02, u32 id"
outputs.created = "0x81, u32 id"
outputs.item = "0x82, u32 id, u16 n"
outputs.missing = "0x83"
"#;

/// A folder with the store and its project; the failure is found and recorded there. That takes seconds, so a test of
/// one kind of server makes one campaign and checks all that is made of it.
fn failing_campaign(sut: &str, ids: (&str, &str)) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path();
    fs::write(path.join("store.iox"), STORE.replace("ID", ids.0).replace("NONE", ids.1)).expect("a model");
    fs::write(path.join("server.py"), SERVER).expect("a server");
    fs::write(path.join("ioxide.toml"), PROJECT).expect("a project");
    let args = ["test", "store.iox", "--sut", sut, "--seed", "2", "--runs", "200", "--report", "r"];
    let (text, code) = printed(&command_in(path, &args).output().expect("the program runs"));
    assert_eq!(code, 1, "{text}");
    assert!(text.contains("script    repeats it without ioxide"), "{text}");
    assert!(text.contains("replay: ioxide replay r --name item-in-getting-"), "{text}");
    assert!(text.contains(&format!(" --sut {sut}\n")), "{text}");
    folder
}

/// Returns the script in a language, written to a file.
pub fn script(folder: &Path, language: &str, file: &str) -> String {
    let output = command_in(folder, &["report", "r", "--script", language]).output().expect("it runs");
    let (text, code) = printed(&output);
    assert_eq!(code, 0, "{text}");
    let script = String::from_utf8(output.stdout).expect("text");
    fs::write(folder.join(file), &script).expect("a file");
    script
}

/// A server of the test's own, ended with it.
pub struct Server {
    child: Child,
    /// The port it listens on.
    pub port: String,
}

impl Server {
    /// Starts `server.py` of `folder` for a kind of connection, with the fault or without it.
    pub fn start(folder: &Path, kind: &str, fault: &str) -> Self {
        let mut child = Command::new("python3")
            .args(["server.py", kind, "0", fault])
            .current_dir(folder)
            .stdout(Stdio::piped())
            .spawn()
            .expect("python3 starts");
        let mut port = String::new();
        BufReader::new(child.stdout.take().expect("a pipe")).read_line(&mut port).expect("a port");
        Self { child, port: port.trim().to_owned() }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Runs a command; returns all that it wrote, and its exit code.
#[track_caller]
fn run(command: &mut Command) -> (String, i32) {
    printed(&command.output().expect("it starts"))
}

/// The port that a script has from the campaign.
pub fn recorded_port(script: &str) -> &str {
    let rest = script.split("127.0.0.1").nth(1).expect("an address");
    let rest = rest.trim_start_matches(|c: char| !c.is_ascii_digit());
    rest.split(|c: char| !c.is_ascii_digit()).next().expect("a port")
}

/// Checks that the `curl` lines of a campaign make the last reply of a faulty server differ from that of a right one.
fn check_curl_lines(folder: &Path) {
    let script = script(folder, "curl", "again.sh");
    assert!(script.contains("jq -r .item.id"), "an id is taken from a reply: {script}");
    let last_reply = |fault: &str| {
        let server = Server::start(folder, "http", fault);
        let url = format!("http://127.0.0.1:{}", server.port);
        let (text, code) = run(Command::new("bash").arg("again.sh").env("URL", url).current_dir(folder));
        assert_eq!(code, 0, "{text}");
        let replies = text.lines().filter(|line| line.starts_with('{')).map(str::to_owned);
        let last = replies.collect::<Vec<_>>().pop().expect("a reply");
        let last: serde_json::Value = serde_json::from_str(&last).expect("JSON");
        last["n"].as_i64().unwrap_or_else(|| panic!("an item: {text}"))
    };
    assert_eq!(last_reply("wrong"), last_reply("right") + 1, "{script}");
}

/// Checks that the Python test of a campaign fails with the fault and passes without it.
fn check_python(folder: &Path, kind: &str) {
    let script = script(folder, "pytest", "test_again.py");
    let takes_id = |line: &str| line.trim_start().starts_with("id_") && line.contains(" = ");
    assert!(script.lines().any(takes_id), "{kind}: an id is taken from a reply: {script}");
    assert!(!script.contains("a value of the recorded run"), "{kind}: {script}");
    for (fault, code, says) in [("wrong", 1, "FAILED: got"), ("right", 0, "passed")] {
        let server = Server::start(folder, kind, fault);
        let moved = script.replace(recorded_port(&script), &server.port);
        fs::write(folder.join("test_again.py"), moved).expect("a file");
        let (text, ended) = run(Command::new("python3").arg("test_again.py").current_dir(folder));
        assert!(ended == code && text.contains(says), "{kind}, {fault}: {ended} {text}\n{script}");
        if has_pytest() {
            let args = ["-m", "pytest", "-q", "test_again.py"];
            let (text, ended) = run(Command::new("python3").args(args).current_dir(folder));
            assert_eq!(ended, code, "{kind}, {fault}: {text}");
        }
    }
}

fn has_pytest() -> bool {
    let mut command = Command::new("python3");
    command.args(["-c", "import pytest"]).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// Checks that the Rust test of a campaign fails with the fault and passes without it.
fn check_rust(folder: &Path, kind: &str) {
    let script = script(folder, "rust", "again.rs");
    for (fault, is_success) in [("wrong", false), ("right", true)] {
        let server = Server::start(folder, kind, fault);
        let moved = script.replace(recorded_port(&script), &server.port);
        fs::write(folder.join("again.rs"), moved).expect("a file");
        let args = ["--edition", "2021", "--test", "-o", "again", "again.rs"];
        let (text, code) = run(Command::new("rustc").args(args).current_dir(folder));
        assert_eq!(code, 0, "{kind}: {text}\n{script}");
        let (text, code) = run(&mut Command::new(folder.join("again")));
        assert_eq!(code == 0, is_success, "{kind}, {fault}: {text}\n{script}");
    }
}

/// Checks that the record of a campaign with a script keeps its schema.
fn check_record_schema(folder: &Path) {
    let schema = crate::program::run(&["schema", "record"]).stdout;
    let schema = serde_json::from_slice(&schema).expect("JSON");
    let record = fs::read_to_string(folder.join("r/campaign.jsonl")).expect("a record");
    assert!(record.contains("\"script\":{\"endpoint\""), "{record}");
    for line in record.lines() {
        let document = serde_json::from_str(line).expect("JSON");
        assert_eq!(crate::schema::violations(&schema, &document), Vec::<String>::new(), "{line}");
    }
}

/// Checks that a language in which a run cannot be written is refused, with one that can.
fn check_other_language(folder: &Path) {
    let (text, code) = run(&mut command_in(folder, &["report", "r", "--script", "curl"]));
    assert_eq!(code, 4, "{text}");
    assert!(
        text.contains("run 1 cannot be written in curl") && text.contains("`--script python` can"),
        "{text}"
    );
    let (text, code) = run(&mut command_in(folder, &["report", "r", "--script", "curl", "--number", "9"]));
    assert_eq!(code, 4, "{text}");
}

/// Checks that the failing runs that a campaign kept are replayed by name and by number.
fn check_kept_runs(path: &Path) {
    let replay = |more: &[&str]| {
        run(&mut command_in(path, &[&["replay", "r/regressions.jsonl", "--sut", "http"], more].concat()))
    };
    for more in [&[][..], &["--number", "1"], &["--name", "item"]] {
        let (text, code) = replay(more);
        assert!(code == 1 && text.contains("FAIL"), "{more:?}: {text}");
    }
    let (text, code) = replay(&["--name", "nothing of this"]);
    assert!(code == 2 && text.contains("there are\n  1 item-in-"), "{text}");
    let (text, code) = replay(&["--number", "7"]);
    assert!(code == 2 && text.contains("there is no run 7"), "{text}");
    // Away from its record it has to be told the model.
    fs::create_dir(path.join("kept")).expect("a folder");
    fs::copy(path.join("r/regressions.jsonl"), path.join("kept/runs.jsonl")).expect("a copy");
    let args = ["replay", "kept/runs.jsonl", "--sut", "http"];
    let (text, code) = run(&mut command_in(path, &args));
    assert!(code == 2 && text.contains("`--model FILE`"), "{text}");
    let (text, code) = run(&mut command_in(path, &[&args[..], &["--model", "store.iox"]].concat()));
    assert_eq!(code, 1, "{text}");
}

#[test]
fn scripts_over_http_fail_with_the_fault_and_pass_without_it() {
    if !has_program("python3") {
        return;
    }
    let folder = failing_campaign("http", ("string", "\"\""));
    check_record_schema(folder.path());
    check_kept_runs(folder.path());
    check_python(folder.path(), "http");
    if ["curl", "jq", "bash"].iter().all(|program| has_program(program)) {
        check_curl_lines(folder.path());
    }
    if has_program("rustc") {
        check_rust(folder.path(), "http");
    }
}

#[test]
fn a_script_of_lines_fails_with_the_fault_and_passes_without_it() {
    if !has_program("python3") {
        return;
    }
    let folder = failing_campaign("lines", ("string", "\"\""));
    check_other_language(folder.path());
    check_python(folder.path(), "lines");
}

#[test]
fn scripts_of_bytes_fail_with_the_fault_and_pass_without_it() {
    if !has_program("python3") {
        return;
    }
    let folder = failing_campaign("bytes", ("int", "0"));
    check_record_schema(folder.path());
    check_python(folder.path(), "bytes");
    if has_program("rustc") {
        check_rust(folder.path(), "bytes");
    }
}

#[test]
fn an_adapter_on_standard_streams_is_spoken_to_in_python_and_rust() {
    if !["python3", "rustc"].iter().all(|program| has_program(program)) {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path();
    fs::write(path.join("store.iox"), STORE.replace("ID", "string").replace("NONE", "\"\""))
        .expect("a model");
    let adapter = r#"
import os, sys, uuid
from ioxide_adapter import Adapter, on_input

class Store(Adapter):
    def reset(self):
        self.items = {}

    @on_input("create")
    def create(self, n):
        id = str(uuid.uuid4())
        self.items[id] = n
        self.emit("created", id=id)

    @on_input("get")
    def get(self, id):
        if id not in self.items:
            return self.emit("missing")
        wrong = len(self.items) >= 2 and not os.path.exists("mended")
        self.emit("item", id=id, n=self.items[id] + wrong)

Store().run()
"#;
    fs::write(path.join("store.py"), adapter).expect("an adapter");
    let sdk = root().join("sdk/python");
    let args = [
        "test",
        "store.iox",
        "--sut",
        "stdio:python3 store.py",
        "--seed",
        "2",
        "--runs",
        "200",
        "--report",
        "r",
    ];
    let (text, code) = run(command_in(path, &args).env("PYTHONPATH", &sdk));
    assert_eq!(code, 1, "{text}");
    script(path, "python", "again.py");
    script(path, "rust", "again.rs");
    let rustc = ["--edition", "2021", "--test", "-o", "again", "again.rs"];
    let (text, code) = run(Command::new("rustc").args(rustc).current_dir(path));
    assert_eq!(code, 0, "{text}");
    let mut codes = Vec::new();
    for is_mended in [false, true] {
        if is_mended {
            fs::write(path.join("mended"), "").expect("a file");
        }
        for command in [Command::new("python3").arg("again.py"), &mut Command::new(path.join("again"))] {
            let (text, code) = run(command.current_dir(path).env("PYTHONPATH", &sdk));
            assert_eq!(code == 0, is_mended, "{text}");
            codes.push(code);
        }
    }
    assert_eq!(codes.len(), 4);
}

#[test]
fn secrets_of_requests_are_in_no_script() {
    if !has_program("python3") {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path();
    fs::write(path.join("store.iox"), STORE.replace("ID", "string").replace("NONE", "\"\""))
        .expect("a model");
    fs::write(path.join("server.py"), SERVER).expect("a server");
    let header = "headers = { authorization = \"Bearer ${STORE_TOKEN}\" }\nurl =";
    fs::write(path.join("ioxide.toml"), PROJECT.replacen("url =", header, 1)).expect("a project");
    let token = "tok-5up3r-s3cr3t-9f2e";
    let args = ["test", "store.iox", "--sut", "http", "--seed", "2", "--runs", "200", "--report", "r"];
    let (text, code) = run(command_in(path, &args).env("STORE_TOKEN", token));
    assert_eq!(code, 1, "{text}");
    for (language, variable) in [
        ("curl", "-H 'authorization: Bearer '\"$STORE_TOKEN\""),
        ("python", "\"Bearer \" + os.environ[\"STORE_TOKEN\"]"),
        ("rust", "environment(\"STORE_TOKEN\")"),
    ] {
        let script = script(path, language, "script");
        assert!(script.contains(variable), "{script}");
        assert!(!script.contains("5up3r-s3cr3t"), "{script}");
    }
    for file in fs::read_dir(path.join("r")).expect("a folder") {
        let text = fs::read_to_string(file.expect("a file").path()).expect("text");
        assert!(!text.contains("5up3r-s3cr3t"));
    }
}
