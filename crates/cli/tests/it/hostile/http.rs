//! Requests and answers by HTTP.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;

use super::*;

fn system(address: &str) -> String {
    format!(
        "kind = \"http\"\nurl = \"http://{address}\"\nsilence_ms = 100\nlimit_ms = 800\n\
        reset = {{ method = \"DELETE\", path = \"/all\" }}\ninputs = {{ ping = {{ path = \"/ping\" }} }}\n\
        outputs = {{ pong = {{ status = 200, body = \"PONG\" }} }}"
    )
}

/// A system that answers resets as it should; `act` has the stream when a ping has come.
fn pinged(act: impl Fn(&mut TcpStream) + Send + Sync + Clone + 'static) -> String {
    system(&serve_connections(move |mut stream| {
        let mut lines = BufReader::new(stream.try_clone().expect("a stream")).lines().map_while(Result::ok);
        while let Some(first) = lines.next() {
            lines.by_ref().find(String::is_empty);
            if first.starts_with("DELETE") {
                stream.write_all(b"HTTP/1.1 204 Gone\r\n\r\n").ok();
            } else {
                act(&mut stream);
            }
        }
    }))
}

fn writes(bytes: &'static str) -> impl Fn(&mut TcpStream) + Send + Sync + Clone + 'static {
    move |stream| {
        stream.write_all(bytes.as_bytes()).ok();
    }
}

#[test]
fn a_service_that_behaves_passes() {
    check(&pinged(writes("HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nPONG")), 0, &["passed"]);
}

#[test]
fn a_service_that_answers_nonsense() {
    check(&pinged(writes("tea\r\n\r\n")), FAIL, &["not an HTTP answer; it wrote: tea"]);
    check(&pinged(writes("HTTP/1.1 OK 200\r\n\r\n")), FAIL, &["not a status line"]);
    let teapot = "HTTP/1.1 418 Teapot\r\ncontent-length: 3\r\n\r\ntea";
    check(&pinged(writes(teapot)), FAIL, &["matches no output", "418 tea"]);
    let contradiction = "HTTP/1.1 200 OK\r\ncontent-length: 4\r\ncontent-length: 5\r\n\r\nPONG";
    check(&pinged(writes(contradiction)), FAIL, &["two different"]);
}

#[test]
fn a_service_that_does_not_finish() {
    let half = "HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nPO";
    check(&pinged(writes(half)), FAIL, &["the rest of it did not come"]);
    let cut_off = move |stream: &mut TcpStream| {
        stream.write_all(half.as_bytes()).ok();
        stream.shutdown(std::net::Shutdown::Both).ok();
    };
    check(&pinged(cut_off), FAIL, &["in the middle of an answer"]);
    check(&pinged(|_| hang()), FAIL, &["·│ got"]);
    let closes = |stream: &mut TcpStream| {
        stream.shutdown(std::net::Shutdown::Both).ok();
    };
    check(&pinged(closes), FAIL, &["closed the connection without an answer"]);
}

#[test]
fn a_service_that_floods() {
    let pong = "HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nPONG";
    // Answers to nothing are not used; each ping is still answered once.
    let ended = Folder::new(&pinged(move |stream| pour(stream, pong.as_bytes(), HUGE))).test();
    assert!(ended.peak_kb < MAX_KB && ended.code <= TROUBLE, "{}: {}", ended.peak_kb, ended.text);
    let endless = |head: &'static str| {
        pinged(move |stream: &mut TcpStream| {
            stream.write_all(head.as_bytes()).ok();
            pour(stream, b"x", HUGE);
        })
    };
    check(&endless("HTTP/1.1 200 OK\r\n\r\n"), TROUBLE, &["the message is too long"]);
    check(
        &endless("HTTP/1.1 200 OK\r\ncontent-length: 104857600\r\n\r\n"),
        TROUBLE,
        &["the message is too long"],
    );
    check(&endless("HTTP/1.1 200 OK\r\nx: "), TROUBLE, &["the head of the message is too long"]);
    let chunks = |stream: &mut TcpStream| {
        stream.write_all(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n").ok();
        pour(stream, b"4\r\nPONG\r\n", HUGE);
    };
    // Where the machine is slow, the time is over first: either way it is nobody's fault.
    check(&pinged(chunks), TROUBLE, &["the system"]);
}

#[test]
fn a_service_that_is_not_there_or_does_not_reset() {
    check(&system(&nobody()), TROUBLE, &["refused"]);
    check(&system(&serve_connections(|_| hang())), TROUBLE, &["no `answer to the reset`"]);
    let broken = serve_connections(|mut stream| {
        stream.write_all(b"HTTP/1.1 500 Broken\r\ncontent-length: 0\r\n\r\n").ok();
        hang();
    });
    check(&system(&broken), TROUBLE, &["refused to be reset", "was answered by `500"]);
}
