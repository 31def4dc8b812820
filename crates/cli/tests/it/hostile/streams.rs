//! Streams of events and WebSockets that drip, flood, or never listen.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;

use super::*;

const MODEL: &str = "model Stream {
    input ping
    output open
    output told(n: int)
    state idle { on ping -> opening }
    state opening { emit open -> busy }
    state busy { emit told -> busy }
}
";

/// A service that opens a stream for a ping; then `act` has it.
fn stream(is_socket: bool, act: impl Fn(&mut TcpStream) + Send + Sync + Clone + 'static) -> Ended {
    let head = if is_socket {
        "101 Switching\r\nupgrade: websocket\r\nconnection: upgrade\r\n\
         sec-websocket-accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo="
    } else {
        "200 OK\r\ncontent-type: text/event-stream"
    };
    let address = serve_connections(move |mut stream: TcpStream| {
        let mut lines = BufReader::new(stream.try_clone().expect("a stream")).lines().map_while(Result::ok);
        if lines.by_ref().any(|line| line.is_empty()) && write!(stream, "HTTP/1.1 {head}\r\n\r\n").is_ok() {
            act(&mut stream);
            hang();
        }
    });
    let (open, status) = if is_socket { ("websocket = true, ", 101) } else { ("", 200) };
    let folder = Folder::new(&format!(
        "kind = \"http\"\nurl = \"http://{address}\"\nsilence_ms = 300\nlimit_ms = 4000\nmessage_ms = 4000\n\
         reset = \"none\"\n\
        inputs = {{ ping = {{ {open}path = \"/\" }} }}\n\
        outputs = {{ open = {{ status = {status} }}, told = {{ event = \"message\", fields = {{ n = \"/n\" }} }} }}"
    ));
    fs::write(folder.path().join("echo.iox"), MODEL).expect("a model");
    folder.test()
}

#[track_caller]
fn ends(ended: &Ended, codes: &[i32], says: &[&str]) {
    assert!(codes.contains(&ended.code), "{}: {}", ended.code, ended.text);
    assert!(says.iter().any(|word| ended.text.contains(word)), "should say one of {says:?}: {}", ended.text);
    assert!(ended.peak_kb < MAX_KB, "{} kB", ended.peak_kb);
}

/// Writes a piece again and again, with a pause, as long as the other side is there.
fn drip(stream: &mut TcpStream, piece: &[u8], pause: u64) {
    let deadline = Instant::now() + TOO_LONG;
    while Instant::now() < deadline && stream.write_all(piece).is_ok() {
        std::thread::sleep(Duration::from_millis(pause));
    }
}

#[test]
fn an_event_that_comes_drop_by_drop_has_no_more_time_than_others() {
    let begun = |stream: &mut TcpStream, pause| {
        stream.write_all(b"data: ").ok();
        drip(stream, b"x", pause);
    };
    // Bytes still come when the time is over: no verdict, whoever looks first.
    ends(&stream(false, move |it| begun(it, 1)), &[TROUBLE], &["end of the message"]);
    ends(&stream(false, move |it| begun(it, 200)), &[TROUBLE], &["end of the message"]);
    // A message in ever more frames.
    let frames = |it: &mut TcpStream| {
        it.write_all(&[0x01, 1, b'x']).ok();
        drip(it, &[0x00, 1, b'x'], 1);
    };
    ends(&stream(true, frames), &[TROUBLE], &["end of the message"]);
}

/// Pings without end, to a tester whose answers nobody reads.
#[test]
fn a_flood_of_what_is_no_message_ends() {
    ends(&stream(true, |it| pour(it, &[0x89, 0], HUGE)), &[FAIL, TROUBLE], &["·│ got", "end of the message"]);
    ends(
        &stream(false, |it| pour(it, b": tea\n\n", HUGE)),
        &[FAIL, TROUBLE],
        &["·│ got", "end of the message"],
    );
}

/// Defect: the time of a message went on from that of the one before where both came in one packet.
#[test]
fn a_long_stream_is_no_long_message() {
    let busy = |it: &mut TcpStream| {
        let deadline = Instant::now() + TOO_LONG;
        // Each packet ends within an event.
        it.write_all(b"data: {\"n\"").ok();
        while Instant::now() < deadline && it.write_all(b": 1}\n\ndata: {\"n\"").is_ok() {
            std::thread::sleep(Duration::from_millis(400));
        }
    };
    ends(&stream(false, busy), &[0], &["2 passed"]);
}

#[test]
fn messages_too_long_are_nobodys_fault() {
    let head = [&[0x81, 127][..], &(1_u64 << 40).to_be_bytes()].concat();
    ends(&stream(true, move |it| drop(it.write_all(&head))), &[TROUBLE], &["too long"]);
    let parts = |it: &mut TcpStream| {
        let part = [&[0x00, 126, 0xff, 0xff][..], &[b'x'; 0xffff]].concat();
        it.write_all(&[0x01, 1, b'x']).ok();
        pour(it, &part, HUGE);
    };
    ends(&stream(true, parts), &[TROUBLE], &["too long", "end of the message"]);
    ends(&stream(false, |it| pour(it, b"data: x\n", HUGE)), &[TROUBLE], &["too long", "end of the message"]);
}
