//! Systems that hang: what was started is started again, and repetitions that were not made are not counted.

use std::fs;

use crate::truth::Folder;

const ECHO: &str = "model Echo {
    input PING
    output PONG
    state idle { on PING -> busy }
    state busy { emit PONG -> idle }
}
";

/// An adapter in shell that does not come back from its first input, and is reset by message.
const ADAPTER: &str = r#"
echo '{"type": "hello", "protocol": 1, "name": "stuck", "reset": "message", "labels": []}'
while read -r line; do
    case "$line" in
    *'"input"'*) exec sleep 1000 ;;
    *) echo '{"type": "ready"}' ;;
    esac
done
"#;

/// A server of one connection at a time that does not come back from its third question.
const SERVER: &str = r#"
import socket, sys, time
listener = socket.socket()
listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
listener.bind(("127.0.0.1", int(sys.argv[1])))
listener.listen(5)
pings = 0
while True:
    stream = listener.accept()[0].makefile("rw")
    for line in stream:
        if line.strip() == "CLEAR":
            pings = 0
            stream.write("CLEARED\n")
        else:
            pings += 1
            if pings == 3: time.sleep(1000)
            stream.write("PONG\n")
        stream.flush()
"#;

const ARGS: [&str; 6] = ["--runs", "3", "--steps", "20", "--seed", "1"];

#[test]
fn a_hang_that_comes_back_every_time_is_not_flaky() {
    let project = "[sut.s]\nkind = \"stdio\"\ncommand = \"exec sh a.sh\"\nlimit_ms = 1000\n";
    let folder = Folder::new(ECHO, project);
    fs::write(folder.path().join("a.sh"), ADAPTER).expect("a file");
    let ended = folder.test(&ARGS);
    ended.check(1, &["FAIL", "hang", "failed again 3 of 3 times"]);
    assert!(!ended.text.contains("flaky"), "{}", ended.text);
}

#[test]
fn a_server_that_hangs_is_restarted_whatever_its_usual_reset_is() {
    if !ioxide_test_support::has_program("python3") {
        return;
    }
    let project = "[sut.s]\nkind = \"text\"\naddress = \"127.0.0.1:{port}\"\nsilence_ms = 50\nlimit_ms = 3000\n\
        start = \"exec python3 s.py {port}\"\nready_ms = 60000\nreset = \"CLEAR\"\n\
        [sut.s.inputs]\nPING = \"PING\"\n[sut.s.outputs]\nPONG = 'PONG'\n";
    let folder = Folder::new(ECHO, project);
    fs::write(folder.path().join("s.py"), SERVER).expect("a file");
    let ended = folder.test(&ARGS);
    ended.check(1, &["FAIL", "silence", "failed again 3 of 3 times"]);
    assert!(!ended.text.contains("flaky"), "{}", ended.text);
}

/// A server that counts for all its clients, and a client as the command of the system.
const COUNTER: &str = r#"
import socket, sys
listener = socket.socket()
listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
listener.bind(("127.0.0.1", int(sys.argv[1])))
listener.listen(5)
print("up", flush=True)
n = 0
while True:
    stream = listener.accept()[0].makefile("rw")
    for line in stream:
        n += 1
        stream.write(f"N {n}\n")
        stream.flush()
"#;

const CLIENT: &str = r#"
import json, socket, sys
stream = socket.create_connection(("127.0.0.1", int(sys.argv[1]))).makefile("rw")
def ask():
    stream.write("NEXT\n")
    stream.flush()
    return stream.readline().strip()
if sys.argv[2] == "text":
    for line in sys.stdin: print(ask(), flush=True)
else:
    def say(**message): print(json.dumps(message), flush=True)
    say(type="hello", protocol=1, name="client", reset=sys.argv[2], labels=[])
    for line in sys.stdin:
        message = json.loads(line)
        if message["type"] in ("configure", "reset"): say(type="ready")
        elif message["type"] == "input":
            n = int(ask().split()[1])
            say(type="sent", id=message["id"])
            say(type="output", label="N", args={"n": n})
"#;

const COUNTING: &str = "model Count {
    input NEXT
    output N(n: int)
    var last: int = 0
    state idle { on NEXT -> busy }
    state busy { emit N when n == last + 1 { last = n } -> idle }
}
";

fn counting(system: &str, words: &str) -> Folder {
    let project = format!(
        "[sut.s]\n{system}\nstart = \"exec python3 counter.py {{port}}\"\nready = \"line:up\"\nready_ms = 60000\n\
         limit_ms = 60000\n{words}"
    );
    let folder = Folder::new(COUNTING, &project);
    fs::write(folder.path().join("counter.py"), COUNTER).expect("a file");
    fs::write(folder.path().join("client.py"), CLIENT).expect("a file");
    folder
}

#[test]
fn with_a_command_and_a_start_everything_is_restarted_unless_the_file_says_otherwise() {
    if !ioxide_test_support::has_program("python3") {
        return;
    }
    let words = "[sut.s.inputs]\nNEXT = \"NEXT\\n\"\n[sut.s.outputs]\nN = 'N (?<n>\\d+)'\n";
    let text = "kind = \"text\"\ncommand = \"exec python3 client.py {port} text\"";
    let adapter = "kind = \"stdio\"\ncommand = \"exec python3 client.py {port} message\"";
    let runs = ["--runs", "3", "--steps", "6", "--seed", "1", "--no-shrink"];
    for (system, words) in [(text, words), (adapter, "")] {
        counting(system, words).test(&runs).check(0, &["3 passed"]);
    }
    // Whoever says that only the command is reset has the state of the server in the second run.
    for (system, otherwise, words) in [(text, "command", words), (adapter, "adapter", "")] {
        let system = format!("{system}\nreset = \"{otherwise}\"");
        counting(&system, words).test(&runs).check(1, &["FAIL", "run 2", "!N(n: "]);
    }
    // Several connections are no way around it.
    let words = words.replace("sut.s.", "sut.s.connections.c.");
    let several = format!("[sut.s.connections.c]\n{text}\n{words}");
    counting("", &several).test(&runs).check(0, &["3 passed"]);
}

#[test]
fn a_server_whose_adapter_cannot_reset_is_restarted() {
    if !ioxide_test_support::has_program("python3") {
        return;
    }
    // It says that it begins again by a new start; a new connection to the old one is none.
    let server = r#"
import json, socket, sys
listener = socket.socket()
listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
listener.bind(("127.0.0.1", int(sys.argv[1])))
listener.listen(5)
n = 0
while True:
    stream = listener.accept()[0].makefile("rw")
    def say(**message):
        stream.write(json.dumps(message) + "\n")
        stream.flush()
    say(type="hello", protocol=1, name="counter", reset=sys.argv[2], labels=[])
    for line in stream:
        message = json.loads(line)
        if message["type"] in ("configure", "reset"): say(type="ready")
        elif message["type"] == "input":
            n += 1
            say(type="sent", id=message["id"])
            say(type="output", label="N", args={"n": n})
"#;
    for reset in ["restart", "none"] {
        let project = format!(
            "[sut.s]\nkind = \"tcp\"\naddress = \"127.0.0.1:{{port}}\"\nready_ms = 60000\nlimit_ms = 60000\n\
             start = \"exec python3 server.py {{port}} {reset}\"\n"
        );
        let folder = Folder::new(COUNTING, &project);
        fs::write(folder.path().join("server.py"), server).expect("a file");
        folder.test(&["--runs", "3", "--steps", "6", "--seed", "1", "--no-shrink"]).check(0, &["3 passed"]);
    }
}
