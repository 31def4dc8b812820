//! Replies that come piece by piece: as long as they come, they are waited for.
//!
//! Each takes longer than `limit_ms`, while its pauses are much shorter.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;

use super::*;

/// The pause between two pieces; a machine that adds four seconds to one is too slow for this test.
const PAUSE: Duration = Duration::from_millis(700);
const LIMITS: &str = "silence_ms = 100\nlimit_ms = 5000\n";

/// Writes `bytes` in `pieces` pieces.
fn drip(stream: &mut TcpStream, bytes: &[u8], pieces: usize) {
    for piece in bytes.chunks(bytes.len().div_ceil(pieces)) {
        if stream.write_all(piece).is_err() {
            return;
        }
        std::thread::sleep(PAUSE);
    }
}

/// The pieces of a reply: together they take longer than the limit.
const PIECES: usize = 9;

/// Tests the system once, with one ping.
#[track_caller]
fn check_once(system: &str, model: &str, code: i32, says: &[&str]) {
    let folder = Folder::new(system);
    fs::write(folder.path().join("echo.iox"), model).expect("a model");
    let ended = ended(folder.start(&["--runs", "1", "--steps", "2", "--no-shrink"]));
    assert_eq!(ended.code, code, "{system}\n{}", ended.text);
    for word in says {
        assert!(ended.text.contains(word), "should say `{word}`: {system}\n{}", ended.text);
    }
}

/// A text server that answers a ping by `reply`, in pieces.
fn text(reply: &'static str) -> String {
    let address = serve_connections(move |mut stream: TcpStream| {
        let lines = BufReader::new(stream.try_clone().expect("a stream")).lines().map_while(Result::ok);
        lines.for_each(|_| drip(&mut stream, reply.as_bytes(), PIECES));
    });
    format!(
        "kind = \"text\"\n{LIMITS}address = \"{address}\"\nreset = \"reconnect\"\n\
         inputs = {{ ping = \"PING\" }}\noutputs = {{ pong = \"PONG *\" }}\n"
    )
}

/// Defect: a reply that took longer than `limit_ms` failed, although its bytes came all the time.
#[test]
fn text_that_drips_is_waited_for() {
    check_once(&text("PONG         \n"), MODEL, 0, &["1 passed"]);
    check_once(&text("PING         \n"), MODEL, FAIL, &["no pattern matches"]);
    let impatient = text("PONG         \n").replace("limit_ms = 5000", "limit_ms = 5000\nmessage_ms = 2000");
    check_once(&impatient, MODEL, TROUBLE, &["no `end of the message` from the system within 2000 ms"]);
}

#[test]
fn a_child_that_drips_is_waited_for() {
    let drips = "for c in P O N G ' ' ' ' ' ' ' '; do printf \"%s\" \"$c\"; sleep 0.7; done; echo";
    let child = format!(
        "kind = \"text\"\n{LIMITS}command = '''\nwhile read x; do {drips}; done\n'''\n\
         inputs = {{ ping = \"PING\" }}\noutputs = {{ pong = \"PONG *\" }}\n"
    );
    check_once(&child, MODEL, 0, &["1 passed"]);
}

#[test]
fn an_adapter_that_drips_is_waited_for() {
    let line = r#"{"type":"output","label":"pong"}"#;
    let pieces: String = line
        .as_bytes()
        .chunks(4)
        .map(|piece| format!("printf '%s' '{}'; sleep 0.7; ", String::from_utf8_lossy(piece)))
        .collect();
    let adapter = format!(
        "kind = \"stdio\"\n{LIMITS}command = '''\n\
         echo '{{\"type\":\"hello\",\"protocol\":1}}'; read x; echo '{{\"type\":\"ready\"}}'\n\
         read x; echo '{{\"type\":\"sent\",\"id\":1}}'; {pieces} echo; sleep 60\n'''"
    );
    check_once(&adapter, MODEL, 0, &["1 passed"]);
}

#[test]
fn binary_frames_that_drip_are_waited_for() {
    let address = serve_connections(|mut stream: TcpStream| {
        let mut byte = [0];
        while stream.read_exact(&mut byte).is_ok() {
            drip(&mut stream, b"\x02\0\0\0\0\0\0\0\0", PIECES);
        }
    });
    let binary = format!(
        "kind = \"binary\"\n{LIMITS}address = \"{address}\"\nreset = \"reconnect\"\nframing = \"fixed:9\"\n\
         inputs = {{ ping = \"0x01\" }}\noutputs = {{ pong = \"0x02, skip(8)\" }}\n"
    );
    check_once(&binary, MODEL, 0, &["1 passed"]);
}

/// A service whose answer to a ping is `answer`, in pieces.
fn service(answer: &'static str, outputs: &str) -> String {
    let address = serve_connections(move |mut stream: TcpStream| {
        let mut lines = BufReader::new(stream.try_clone().expect("a stream")).lines().map_while(Result::ok);
        while lines.next().is_some() {
            lines.by_ref().find(String::is_empty);
            drip(&mut stream, answer.as_bytes(), PIECES);
        }
    });
    format!(
        "kind = \"http\"\nurl = \"http://{address}\"\n{LIMITS}reset = \"reconnect\"\n\
         inputs = {{ ping = {{ path = \"/\" }} }}\noutputs = {{ {outputs} }}\n"
    )
}

/// Defect: "the rest of the answer did not come".
#[test]
fn answers_that_drip_are_waited_for() {
    let pong = "pong = { status = 200, body = \"PONG *\" }";
    check_once(
        &service("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nPONG     ", pong),
        MODEL,
        0,
        &["1 passed"],
    );
    let chunks =
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nPO\r\n1\r\nN\r\n1\r\nG\r\n0\r\n\r\n";
    check_once(&service(chunks, pong), MODEL, 0, &["1 passed"]);
    let wrong = "HTTP/1.1 500 Oh\r\ncontent-length: 9\r\n\r\nPONG     ";
    check_once(&service(wrong, pong), MODEL, FAIL, &["matches no output"]);
}

/// A model of a stream that is opened, and says one thing then.
const STREAM: &str = "model Stream {
    input ping
    output open
    output pong
    state idle { on ping -> opening }
    state opening { emit open -> busy }
    state busy { emit pong -> over }
    state over {}
}";

#[test]
fn events_and_frames_that_drip_are_waited_for() {
    let outputs = "open = { status = 200 }, pong = { event = \"message\", body = \"PONG *\" }";
    let events =
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\ndata: PONG                          \n\n";
    let steps = |system: &str| {
        let folder = Folder::new(system);
        fs::write(folder.path().join("echo.iox"), STREAM).expect("a model");
        let ended = ended(folder.start(&["--runs", "1", "--steps", "3", "--no-shrink"]));
        assert_eq!(ended.code, 0, "{system}\n{}", ended.text);
    };
    steps(&service(events, outputs));
    let frame = "HTTP/1.1 101 Switching\r\nupgrade: websocket\r\nconnection: upgrade\r\n\
        sec-websocket-accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n\
        \u{1}\u{1}P\0\u{1}O\0\u{1}N\0\u{1}G\0\u{0}\0\u{0}\0\u{0}";
    // The last frame of the message: final, empty.
    let socket = service_of_frames(frame).replace("status = 200", "status = 101");
    steps(&socket);
}

/// A service that opens a WebSocket and sends one message in many frames, with a pause after each.
fn service_of_frames(head: &'static str) -> String {
    let address = serve_connections(move |mut stream: TcpStream| {
        let mut lines = BufReader::new(stream.try_clone().expect("a stream")).lines().map_while(Result::ok);
        if lines.by_ref().any(|line| line.is_empty()) {
            drip(&mut stream, head.as_bytes(), PIECES);
            stream.write_all(&[0x80, 0]).ok();
            hang();
        }
    });
    format!(
        "kind = \"http\"\nurl = \"http://{address}\"\n{LIMITS}reset = \"reconnect\"\n\
         inputs = {{ ping = {{ path = \"/\", websocket = true }} }}\n\
         outputs = {{ open = {{ status = 200 }}, pong = {{ event = \"message\", body = \"PONG\" }} }}\n"
    )
}

/// Defect: over several connections a message that had begun was silence.
#[test]
fn half_a_message_is_no_silence_on_several_connections() {
    let address = serve_connections(|mut stream: TcpStream| {
        let lines = BufReader::new(stream.try_clone().expect("a stream")).lines().map_while(Result::ok);
        lines.for_each(|_| drip(&mut stream, b"PONG    \n", PIECES));
    });
    let other = serve_connections(|_| hang());
    let system = format!(
        "kind = \"text\"\n{LIMITS}reset = \"reconnect\"\n\
         [sut.s.connections.a]\naddress = \"{address}\"\ninputs = {{ ping = \"PING\" }}\n\
         outputs = {{ pong = \"PONG *\" }}\n\
         [sut.s.connections.b]\naddress = \"{other}\"\ninputs = {{ never = \"NEVER\" }}\n"
    );
    let model = "model Echo { input ping input never output pong
        state idle { on ping -> busy } state busy { emit pong -> idle } state off { on never -> off } }";
    check_once(&system, model, 0, &["1 passed"]);
}
