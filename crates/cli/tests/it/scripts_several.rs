//! Failing runs with several connections, encryption, a WebSocket and requests side by side as Python programs: each
//! sees the failure again, and passes once the fault is gone.

use std::fs;
use std::process::Command;

use ioxide_test_support::has_program;

use crate::program::{command_in, printed};
use crate::scripts::{Server, recorded_port, script};

/// Items under ids that the system makes up.
const STORE: &str = "
model Store {
    OPEN_DECLARED
    input create(n: 0..9)
    input get(id: string)
    output created(id: string)
    output item(n: int)
    output missing
    var items: map<string, int> = {}
    var asked: string = \"\"
    var given: int = 0
    OPEN_STATES
    state idle {
        on create { given = n } -> creating
        on get { asked = id } -> getting
    }
    state creating { emit created when !items.has(id) { items = items.with(id, given) } -> idle }
    state getting {
        emit item when items.has(asked) && n == items[asked] -> idle
        emit missing when !items.has(asked) -> idle
    }
}
";

/// Two questions, which are answered in any order.
const PAIR: &str = "
model Pair {
    input first(n: 0..9)
    input second(n: 0..9)
    output to_first(n: int)
    output to_second(n: int)
    var is_first: bool = false
    var is_second: bool = false
    var a: int = 0
    var b: int = 0
    state idle {
        on first when !is_first { is_first = true, a = n } -> idle
        on second when !is_second { is_second = true, b = n } -> idle
        emit to_first when is_first && n == a { is_first = false } -> idle
        emit to_second when is_second && n == b { is_second = false } -> idle
    }
}
";

/// The store over lines, one connection or two, encrypted or not, and over a WebSocket; and the pair over HTTP. Its
/// first argument is the kind, its second the port (0 for any, which it prints), its third `wrong` or `right`: a
/// wrong one reads a wrong number once there are two items, or if a first question is pending.
const SERVER: &str = r#"
import base64, hashlib, json, socketserver, ssl, sys, threading, time, uuid

KIND, PORT, FAULT = sys.argv[1], int(sys.argv[2]), sys.argv[3]
ITEMS, PENDING, LOCK = {}, [], threading.Lock()


def answer(words):
    if words[0] == "RESET":
        ITEMS.clear()
        return "READY"
    if words[0] == "CREATE":
        id = str(uuid.uuid4())
        ITEMS[id] = int(words[1])
        return f"CREATED {id}"
    n = ITEMS.get(words[1]) if len(words) > 1 else None
    return "MISSING" if n is None else f"ITEM {n + (FAULT == 'wrong' and len(ITEMS) > 1)}"


class Lines(socketserver.StreamRequestHandler):
    def handle(self):
        for line in self.rfile:
            self.wfile.write((answer(line.decode().split()) + "\n").encode())


class Http(socketserver.StreamRequestHandler):
    def handle(self):
        while line := self.rfile.readline():
            path, headers = line.split()[1].decode(), {}
            while (header := self.rfile.readline().strip()):
                name, _, value = header.decode().partition(":")
                headers[name.lower()] = value.strip()
            self.rfile.read(int(headers.get("content-length", 0)))
            if "sec-websocket-key" in headers:
                return self.websocket(headers["sec-websocket-key"])
            self.ask(path.split("/"))

    def ask(self, words):
        if words[1] == "reset":
            ITEMS.clear()
            return self.respond({})
        n, is_first = int(words[2]), words[1] == "first"
        if is_first:
            with LOCK:
                PENDING.append(n)
            time.sleep(0.4)
            with LOCK:
                PENDING.remove(n)
        with LOCK:
            is_wrong = FAULT == "wrong" and PENDING and not is_first
        self.respond({"n": n + (1 if is_wrong else 0)})

    def respond(self, value):
        data = json.dumps(value).encode()
        self.wfile.write(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n%s" % (len(data), data))

    def websocket(self, key):
        ITEMS.clear()
        digest = hashlib.sha1((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").encode()).digest()
        accept = base64.b64encode(digest)
        self.wfile.write(b"HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: Upgrade\r\n"
                         b"sec-websocket-accept: " + accept + b"\r\n\r\n")
        while (head := self.rfile.read(2)) and head[0] & 15 == 1:
            mask = self.rfile.read(4)
            text = bytes(b ^ mask[at % 4] for at, b in enumerate(self.rfile.read(head[1] & 127)))
            said = json.loads(text)
            word, value = answer([said["say"], str(said["value"])]).partition(" ")[::2]
            data = json.dumps({"word": word, "value": int(value) if value.isdigit() else value}).encode()
            self.wfile.write(bytes([129, len(data)]) + data)


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = daemon_threads = True

    def get_request(self):
        client, address = super().get_request()
        if KIND == "tls":
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain("own.pem", "key.pem")
            client = context.wrap_socket(client, server_side=True)
        return client, address

    def handle_error(self, request, address):
        pass


server = Server(("127.0.0.1", PORT), Lines if KIND in ("two", "tls") else Http)
print(server.server_address[1], flush=True)
server.serve_forever()
"#;

const PROJECT: &str = r#"
[sut.two]
kind = "text"
start = "exec python3 server.py two {port} wrong"
ready = "tcp:127.0.0.1:{port}"
reset = "reconnect"
[sut.two.connections.writer]
address = "127.0.0.1:{port}"
reset = { send = "RESET", expect = "READY" }
inputs.create = "CREATE {n}"
outputs.created = 'CREATED (?P<id>\S+)'
[sut.two.connections.reader]
address = "127.0.0.1:{port}"
inputs.get = "GET {id}"
outputs.item = 'ITEM (?P<n>\d+)'
outputs.missing = 'MISSING'

[sut.tls]
kind = "text"
start = "exec python3 server.py tls {port} wrong"
ready = "tcp:127.0.0.1:{port}"
address = "127.0.0.1:{port}"
tls = { ca = "own.pem", name = "localhost" }
reset = { send = "RESET", expect = "READY" }
inputs.create = "CREATE {n}"
inputs.get = "GET {id}"
outputs.created = 'CREATED (?P<id>\S+)'
outputs.item = 'ITEM (?P<n>\d+)'
outputs.missing = 'MISSING'

[sut.socket]
kind = "http"
start = "exec python3 server.py socket {port} wrong"
ready = "tcp:127.0.0.1:{port}"
url = "http://127.0.0.1:{port}"
reset = { method = "POST", path = "/reset" }
inputs.open = { path = "/talk", websocket = true }
inputs.create = { over = "open", body = '{{"say": "CREATE", "value": {n}}}' }
inputs.get = { over = "open", body = '{{"say": "GET", "value": {id}}}' }
outputs.opened = { status = 101 }
outputs.created = { event = "message", json = { "/word" = "CREATED" }, fields = { id = "/value" } }
outputs.item = { event = "message", json = { "/word" = "ITEM" }, fields = { n = "/value" } }
outputs.missing = { event = "message", json = { "/word" = "MISSING" } }

[sut.side]
kind = "http"
start = "exec python3 server.py side {port} wrong"
ready = "tcp:127.0.0.1:{port}"
url = "http://127.0.0.1:{port}"
reset = { method = "POST", path = "/reset" }
limit_ms = 3000
inputs.first = { method = "POST", path = "/first/{n}" }
inputs.second = { method = "POST", path = "/second/{n}" }
outputs.to_first = { status = 200, to = ["first"], fields = { n = "/n" } }
outputs.to_second = { status = 200, to = ["second"], fields = { n = "/n" } }
"#;

/// Finds the failure of a system, writes it as a Python program, and runs that against a server with the fault and one
/// without it.
#[track_caller]
fn check_python(sut: &str, model: &str, seed: &str) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path();
    fs::write(path.join("model.iox"), model).expect("a model");
    fs::write(path.join("server.py"), SERVER).expect("a server");
    fs::write(path.join("ioxide.toml"), PROJECT).expect("a project");
    if sut == "tls" {
        let args = "req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out own.pem -days 30 -subj /CN=localhost \
                    -addext subjectAltName=DNS:localhost -addext basicConstraints=critical,CA:false";
        let made = Command::new("openssl").args(args.split_whitespace()).current_dir(path).output();
        assert!(made.expect("openssl starts").status.success());
    }
    let args = ["test", "model.iox", "--sut", sut, "--seed", seed, "--runs", "200", "--report", "r"];
    let (text, code) = printed(&command_in(path, &args).output().expect("the program runs"));
    assert_eq!(code, 1, "{text}");
    assert!(text.contains("script    repeats it without ioxide"), "{text}");
    let script = script(path, "python", "again.py");
    for (fault, code, says) in [("wrong", 1, "FAILED: got"), ("right", 0, "passed")] {
        let server = Server::start(path, sut, fault);
        fs::write(path.join("again.py"), script.replace(recorded_port(&script), &server.port))
            .expect("a file");
        let output = Command::new("python3").arg("again.py").current_dir(path).output();
        let (text, ended) = printed(&output.expect("python3 starts"));
        assert!(ended == code && text.contains(says), "{sut}, {fault}: {ended} {text}\n{script}");
    }
    // What the other forms cannot say, they do not.
    let (text, code) =
        printed(&command_in(path, &["report", "r", "--script", "nc"]).output().expect("it runs"));
    assert!(code != 0 && text.contains("cannot be written in nc"), "{text}");
}

fn store() -> String {
    STORE.replace("OPEN_DECLARED", "").replace("OPEN_STATES", "")
}

#[test]
fn two_connections_are_spoken_to_in_python() {
    if has_program("python3") {
        check_python("two", &store(), "2");
    }
}

#[test]
fn an_encrypted_connection_is_spoken_to_in_python() {
    if has_program("python3") && has_program("openssl") {
        check_python("tls", &store(), "2");
    }
}

#[test]
fn a_websocket_is_spoken_to_in_python() {
    if has_program("python3") {
        let states = "state closed { on open -> opening }\n    state opening { emit opened -> idle }";
        let model =
            STORE.replace("OPEN_DECLARED", "input open\n    output opened").replace("OPEN_STATES", states);
        check_python("socket", &model, "2");
    }
}

#[test]
fn requests_side_by_side_are_made_in_python() {
    if has_program("python3") {
        check_python("side", PAIR, "2");
    }
}
