//! Systems that refuse their reset, now and then or always: it is tried again, and never a verdict.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;

/// Lines of a project file for a text system; a ping before the reset was accepted is answered by nonsense.
const SPEECH: &str = "kind = \"text\"\nsilence_ms = 100\nlimit_ms = 10000\n\
    inputs = { ping = \"PING\" }\noutputs = { pong = \"PONG\" }\n";

/// The address of a chat server that refuses all but every `nth` registration.
fn chat(nth: usize) -> String {
    let count = Arc::new(AtomicUsize::new(0));
    serve_connections(move |mut stream: TcpStream| {
        let mut is_registered = false;
        let lines = BufReader::new(stream.try_clone().expect("a stream")).lines().map_while(Result::ok);
        for line in lines {
            let answer = match line.as_str() {
                line if line.starts_with("NICK") => {
                    is_registered = count.fetch_add(1, Ordering::Relaxed) % nth == nth - 1;
                    if is_registered { "001 welcome" } else { "433 nickname in use" }
                }
                "PING" if is_registered => "PONG",
                _ => "451 not registered",
            };
            if writeln!(stream, "{answer}").is_err() {
                return;
            }
        }
    })
}

/// Defect: `433 nickname in use` was taken for the answer to the reset, and a correct server failed.
#[test]
fn a_reset_that_is_refused_now_and_then_is_repeated() {
    for reset in [
        "{ send = \"NICK n1\", expect = '001 .*' }",
        "\"NICK n1\"",
        "[{ send = \"NICK n1\", expect = '001.*' }]",
    ] {
        let system = format!("{SPEECH}address = \"{}\"\nreset = {reset}", chat(3));
        check(&system, 0, &["2 passed"]);
    }
}

#[test]
fn a_reset_that_is_always_refused_is_trouble() {
    let always = chat(usize::MAX);
    let expected =
        format!("{SPEECH}address = \"{always}\"\nreset = {{ send = \"NICK n1\", expect = '001 .*' }}");
    check(&expected, TROUBLE, &["refused to be reset", "433 nickname in use", "expected `001 .*`"]);
    let plain = format!("{SPEECH}address = \"{always}\"\nreset = \"NICK n1\"");
    check(&plain, TROUBLE, &["refused to be reset", "looks like an error", "expect = '...'"]);
}

/// The words are those of the connection, with its number in them.
#[test]
fn resets_of_connections_are_repeated_too() {
    let folder = |nth: usize| {
        let folder = Folder::new("");
        let model = "model Client { input ping output pong state idle { on ping -> busy } state busy { emit \
                     pong -> idle } }
            system Pair { client[i in 1..2]: Client }";
        fs::write(folder.path().join("echo.iox"), model).expect("a model");
        let project = format!(
            "[sut.s]\nkind = \"text\"\nsilence_ms = 100\nreset = \"reconnect\"\n\
             [sut.s.connections.c]\npart = \"client\"\naddress = \"{}\"\n\
             reset = {{ send = \"NICK n{{index}}\", expect = '001 .*' }}\n\
             inputs = {{ ping = \"PING\" }}\noutputs = {{ pong = \"PONG\" }}\n",
            chat(nth)
        );
        fs::write(folder.path().join("ioxide.toml"), project).expect("a project file");
        folder.test()
    };
    let accepted = folder(2);
    assert_eq!(accepted.code, 0, "{}", accepted.text);
    let refused = folder(usize::MAX);
    assert_eq!(refused.code, TROUBLE, "{}", refused.text);
    assert!(
        refused.text.contains("on `c[1]`, `NICK ...`, was answered by `433 nickname in use`"),
        "{}",
        refused.text
    );
}

/// The address of a service that refuses all but every `nth` reset.
fn service(nth: usize, refusal: &'static str) -> String {
    let count = Arc::new(AtomicUsize::new(0));
    serve_connections(move |mut stream| {
        let mut lines = BufReader::new(stream.try_clone().expect("a stream")).lines().map_while(Result::ok);
        while let Some(first) = lines.next() {
            lines.by_ref().find(String::is_empty);
            let answer = match first.starts_with("DELETE") {
                true if count.fetch_add(1, Ordering::Relaxed) % nth == nth - 1 => {
                    "HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\ndone"
                }
                true => refusal,
                false => "HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nPONG",
            };
            stream.write_all(answer.as_bytes()).ok();
        }
    })
}

fn http(address: &str, expect: &str) -> String {
    format!(
        "kind = \"http\"\nurl = \"http://{address}\"\nsilence_ms = 100\n\
        reset = {{ method = \"DELETE\", path = \"/all\"{expect} }}\ninputs = {{ ping = {{ path = \"/ping\" }} }}\n\
        outputs = {{ pong = {{ status = 200, body = \"PONG\" }} }}"
    )
}

#[test]
fn a_reset_by_a_request_is_repeated_and_its_body_is_looked_at() {
    let busy = "HTTP/1.1 503 Busy\r\ncontent-length: 0\r\n\r\n";
    check(&http(&service(3, busy), ""), 0, &["2 passed"]);
    check(
        &http(&service(usize::MAX, busy), ""),
        TROUBLE,
        &["refused to be reset", "DELETE /all", "its status is 503"],
    );
    let later = "HTTP/1.1 202 Accepted\r\ncontent-length: 5\r\n\r\nlater";
    for expect in [", expect = 'done'", ", expect = { status = 200 }", ", expect = { body = 'd.*' }"] {
        check(&http(&service(3, later), expect), 0, &["2 passed"]);
        check(&http(&service(usize::MAX, later), expect), TROUBLE, &["refused to be reset", "later"]);
    }
}

/// A service that is reset over a WebSocket, which answers `done` every `nth` time.
#[test]
fn a_reset_over_a_websocket_is_repeated() {
    let service = |nth: usize| {
        let count = Arc::new(AtomicUsize::new(0));
        serve_connections(move |mut stream: TcpStream| {
            let mut reader = BufReader::new(stream.try_clone().expect("a stream"));
            loop {
                let mut line = String::new();
                let mut header = String::new();
                if reader.read_line(&mut line).unwrap_or(0) == 0 {
                    return;
                }
                while reader.read_line(&mut header).unwrap_or(0) > 2 {
                    header.clear();
                }
                if line.starts_with("GET /ping") {
                    stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nPONG").ok();
                    continue;
                }
                let switch = "HTTP/1.1 101 Switching\r\nupgrade: websocket\r\nconnection: upgrade\r\n\
                    sec-websocket-accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n";
                stream.write_all(switch.as_bytes()).ok();
                // A masked frame with five bytes.
                let mut frame = [0; 11];
                if reader.read_exact(&mut frame).is_ok() {
                    let is_done = count.fetch_add(1, Ordering::Relaxed) % nth == nth - 1;
                    stream.write_all(if is_done { b"\x81\x04done" } else { b"\x81\x04busy" }).ok();
                }
                return;
            }
        })
    };
    let system = |nth| {
        let reset = "reset = { path = \"/ws\", websocket = true, send = \"CLEAR\", expect = 'done' }";
        http(&service(nth), "").replace("reset = { method = \"DELETE\", path = \"/all\" }", reset)
    };
    check(&system(3), 0, &["2 passed"]);
    check(&system(usize::MAX), TROUBLE, &["refused to be reset", "busy"]);
}
