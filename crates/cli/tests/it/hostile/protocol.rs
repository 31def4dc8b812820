//! The adapter protocol, over a child's streams and over TCP.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;

use super::*;

const HELLO: &str = r#"{"type":"hello","protocol":1,"reset":"message"}"#;
const READY: &str = r#"{"type":"ready"}"#;
const PONG: &str = r#"{"type":"output","label":"pong"}"#;

/// A child that greets as it should and then runs `script`; `sent` confirms the first input.
fn child(script: &str) -> String {
    let greeting = format!("echo '{HELLO}'; read x; echo '{READY}'");
    let sent = r#"read x; echo '{"type":"sent","id":1}'"#;
    let script = format!("{greeting}; {script}").replace("SENT", sent).replace("PONG", PONG);
    format!("kind = \"stdio\"\nsilence_ms = 100\nlimit_ms = 800\ncommand = '''\n{script}\n'''")
}

#[test]
fn a_child_that_writes_nonsense() {
    check(&child(r"printf '\377\376\000\n'; sleep 60"), TROUBLE, &["broke the protocol", "not UTF-8"]);
    check(&child("echo 'segmentation fault'; sleep 60"), TROUBLE, &["it wrote: segmentation fault"]);
    check(&child(r#"SENT; echo '{"type":"output","label":"pang"}'; sleep 60"#), FAIL, &["`pang`", "`pong`"]);
    check("kind = \"stdio\"\ncommand = \"head -c 5000 /dev/urandom\"", TROUBLE, &["broke the protocol"]);
}

#[test]
fn a_child_that_stops_in_the_middle_of_a_line() {
    check(&child(r#"SENT; printf '{"type":"outp'; sleep 60"#), TROUBLE, &["incomplete message", "outp"]);
    check(&child(r#"SENT; printf '{"type":"outp'; exit 0"#), TROUBLE, &["incomplete message", "outp"]);
}

#[test]
fn a_child_that_floods() {
    // Where the machine is slow, it says too much before its first input is confirmed.
    let ended = Folder::new(&child("while :; do echo 'PONG'; done")).test();
    assert!(ended.code == FAIL || ended.code == TROUBLE && ended.text.contains("a flood"), "{}", ended.text);
    assert!(ended.peak_kb < MAX_KB, "{} kB", ended.peak_kb);
    check(&child("SENT; yes 'PONG'"), FAIL, &["!pong ──│ got"]);
    check(&child(r#"yes '{"type":"log","text":"tea"}'"#), FAIL, &["no `sent`"]);
    check(&child("yes '' | head -c 50000000 >&2; sleep 60"), FAIL, &["no `sent`"]);
}

#[test]
fn a_child_that_hangs() {
    check(&child("sleep 60"), FAIL, &["no `sent` from the system within 800 ms"]);
    check(&child("SENT; sleep 60"), FAIL, &["·│ got"]);
    check("kind = \"stdio\"\nlimit_ms = 500\ncommand = \"sleep 60\"", TROUBLE, &["no `hello`"]);
}

#[test]
fn a_child_that_ends_early() {
    check(&child("exit 3"), FAIL, &["exit status: 3"]);
    check(&child("SENT; echo 'out of tea' >&2; kill -SEGV $$"), FAIL, &["signal: 11", "out of tea"]);
    check("kind = \"stdio\"\ncommand = \"no-such-program\"", TROUBLE, &["exit status: 127", "not found"]);
}

#[test]
fn a_child_that_does_not_answer_a_reset() {
    // The first reset of a process is answered, so starting it again helps.
    let script = "SENT; echo 'PONG'; while read x; do :; done";
    let folder = Folder::new(&child(script));
    let helped = ended(folder.start(&["--runs", "2", "--steps", "3"]));
    assert_eq!(helped.code, 0, "{}", helped.text);
    assert!(helped.text.contains("no `ready` from the system within 800 ms"), "{}", helped.text);
    assert!(helped.text.contains("it was started again"), "{}", helped.text);
    let never = r#"kind = "stdio"
silence_ms = 100
limit_ms = 800
command = '''echo '{"type":"hello","protocol":1,"reset":"message"}'; while read x; do :; done'''"#;
    check(never, TROUBLE, &["no `ready` from the system within 800 ms"]);
}

#[test]
fn a_child_with_lines_of_a_hundred_megabytes() {
    let line = |mark: &str| format!("SENT; head -c {HUGE} /dev/zero | tr '\\0' x; {mark} sleep 60");
    check(&child(&line("")), TROUBLE, &["too long", "xxx"]);
    check(&child(&line("echo;")), TROUBLE, &["too long", "xxx"]);
}

/// A TCP system that greets as it should; then `act` has the stream. The first input is confirmed if `sent`.
fn tcp(sent: bool, act: impl Fn(TcpStream) + Send + Sync + Clone + 'static) -> String {
    let address = serve_connections(move |mut stream| {
        let mut lines = BufReader::new(stream.try_clone().expect("a stream")).lines();
        let greeted = writeln!(stream, "{HELLO}").is_ok() && lines.next().is_some();
        if greeted && writeln!(stream, "{READY}").is_ok() {
            if sent && lines.next().is_some() {
                stream.write_all(b"{\"type\":\"sent\",\"id\":1}\n").ok();
            }
            act(stream);
        }
    });
    format!("kind = \"tcp\"\naddress = \"{address}\"\nsilence_ms = 100\nlimit_ms = 800")
}

#[test]
fn a_socket_that_misbehaves() {
    let writes = |bytes: &'static [u8]| {
        move |mut stream: TcpStream| {
            stream.write_all(bytes).ok();
            hang();
        }
    };
    check(&tcp(true, writes(b"\xff\xfe\0\n")), TROUBLE, &["not UTF-8"]);
    check(&tcp(true, writes(b"{\"type\":")), TROUBLE, &["incomplete message"]);
    check(
        &tcp(true, |mut stream| pour(&mut stream, format!("{PONG}\n").as_bytes(), HUGE)),
        FAIL,
        &["!pong ──│ got"],
    );
    check(&tcp(true, |mut stream| pour(&mut stream, b"x", HUGE)), TROUBLE, &["too long"]);
    check(&tcp(true, |_| hang()), FAIL, &["·│ got"]);
    check(&tcp(false, |_| hang()), FAIL, &["no `sent`"]);
    check(&tcp(true, drop), FAIL, &["closed the connection"]);
    let refused = format!("kind = \"tcp\"\naddress = \"{}\"", nobody());
    check(&refused, TROUBLE, &["cannot connect to", "refused"]);
}
