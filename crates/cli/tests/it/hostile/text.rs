//! Text by templates and patterns, over a child's streams and over TCP.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;

use super::*;

/// The settings that all these systems have in common; `reset` is answered by one line.
const SPEECH: &str = "kind = \"text\"\nsilence_ms = 100\nlimit_ms = 800\n\
    inputs = { ping = \"PING\\n\" }\noutputs = { pong = \"PONG\" }\n";

fn child(script: &str) -> String {
    format!("{SPEECH}command = '''\n{script}\n'''")
}

#[test]
fn a_child_that_behaves_passes_and_one_that_does_not_fails() {
    check(&child("while read x; do echo PONG; done"), 0, &["passed"]);
    check(&child("while read x; do echo PONG; echo PONG; done"), FAIL, &["!pong ──│ got"]);
}

#[test]
fn a_child_that_misbehaves() {
    check(&child(r"read x; printf '\377\376\n'; sleep 60"), FAIL, &["not UTF-8"]);
    check(&child("read x; echo TEA; sleep 60"), FAIL, &["no pattern matches; it wrote: TEA"]);
    check(
        &child("read x; printf PO; sleep 60"),
        FAIL,
        &["incomplete message: the rest of it did not come", "it wrote: PO"],
    );
    check(&child("yes PONG"), FAIL, &["!pong ──│ got"]);
    check(&child("read x; sleep 60"), FAIL, &["·│ got"]);
    check(&child("read x; echo 'no tea' >&2; exit 3"), FAIL, &["exit status: 3", "no tea"]);
    check(&child(&format!("head -c {HUGE} /dev/zero")), TROUBLE, &["too long"]);
}

/// A TCP system; `act` has the stream after the reset was answered, and after a ping if `asked`.
fn tcp(asked: bool, act: impl Fn(TcpStream) + Send + Sync + Clone + 'static) -> String {
    let address = serve_connections(move |mut stream| {
        let mut lines = BufReader::new(stream.try_clone().expect("a stream")).lines();
        if lines.next().is_some() && writeln!(stream, "RESET").is_ok() && (!asked || lines.next().is_some()) {
            act(stream);
        }
    });
    format!("{SPEECH}address = \"{address}\"\nreset = \"RESET\\n\"")
}

#[test]
fn a_socket_that_misbehaves() {
    let writes = |bytes: &'static [u8]| {
        move |mut stream: TcpStream| {
            stream.write_all(bytes).ok();
            hang();
        }
    };
    check(&tcp(true, writes(b"\xff\xfe\n")), FAIL, &["not UTF-8"]);
    check(&tcp(true, writes(b"PO")), FAIL, &["incomplete message"]);
    check(&tcp(true, |mut stream| pour(&mut stream, b"PONG\n", HUGE)), FAIL, &["!pong ──│ got"]);
    check(&tcp(true, |mut stream| pour(&mut stream, b"x", HUGE)), TROUBLE, &["too long"]);
    check(&tcp(true, |_| hang()), FAIL, &["·│ got"]);
    check(&tcp(true, drop), FAIL, &["closed the connection"]);
    let silent = serve_connections(|_| hang());
    let reset = format!("{SPEECH}address = \"{silent}\"\nreset = \"RESET\\n\"");
    check(&reset, TROUBLE, &["no `answer to the reset`"]);
    check(&format!("{SPEECH}address = \"{}\"\nreset = \"none\"", nobody()), TROUBLE, &["refused"]);
}

#[test]
fn a_slow_child_passes_where_it_has_the_time() {
    let slow = child("while read x; do sleep 1.6; echo PONG; done");
    check(&slow, FAIL, &["·│ got"]);
    let times = |line: &str| slow.replace("silence_ms = 100", &format!("silence = {{ {line} }}"));
    check(&times("default = 100, in.busy = 20000"), 0, &["passed"]);
    check(&times("default = 100, after.ping = 20000"), 0, &["passed"]);
    check(&times("default = 100, in.idle = 20000"), FAIL, &["·│ got"]);
}

/// Defect: a line that was cut by a crash was a whole message, `PONG 1` of `PONG 13`.
#[test]
fn a_line_that_a_crash_cut_off_is_no_message() {
    let cut = |n: &str| {
        let folder = Folder::new(
            &child("read x; printf 'PONG 1'; exit 0").replace("\"PONG\"", "\"PONG (?P<n>[0-9]+)\""),
        );
        let model = "model Echo { input ping output pong(n: int)
            state idle { on ping -> busy } state busy { emit pong(n: N) -> idle } }";
        fs::write(folder.path().join("echo.iox"), model.replace("N)", &format!("{n})"))).expect("a model");
        folder.test()
    };
    // It is neither the message that the model wants nor the one that it does not want.
    for n in ["1", "13"] {
        let ended = cut(n);
        assert_eq!(ended.code, FAIL, "{}", ended.text);
        for word in ["incomplete message: it closed the connection in the middle of it", "it wrote: PONG 1"] {
            assert!(ended.text.contains(word), "should say `{word}`:\n{}", ended.text);
        }
        assert!(!ended.text.contains("!pong(n: 1) ──│ got"), "{}", ended.text);
    }
}
