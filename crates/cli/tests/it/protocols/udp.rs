//! One datagram is one message; a port that nobody holds is a dead system.

use std::net::{SocketAddr, UdpSocket};

use super::*;

/// Returns the address of a server that treats every datagram so, until it returns false.
fn answering(mut answer: impl FnMut(&UdpSocket, &[u8], SocketAddr) -> bool + Send + 'static) -> String {
    let socket = UdpSocket::bind("127.0.0.1:0").expect("a port");
    let address = socket.local_addr().expect("an address").to_string();
    std::thread::spawn(move || {
        let mut room = [0; 2048];
        while let Ok((n, from)) = socket.recv_from(&mut room) {
            if !answer(&socket, &room[..n], from) {
                return;
            }
        }
    });
    address
}

fn text(address: &str) -> String {
    format!(
        "kind = \"text\"\naddress = \"udp:{address}\"\nreset = \"none\"\nsilence_ms = 50\n\
         inputs = {{ ping = \"ping\" }}\noutputs = {{ pong = 'pong' }}"
    )
}

#[test]
fn a_datagram_is_a_message() {
    let echo = |socket: &UdpSocket, bytes: &[u8], from| {
        assert_eq!(bytes, b"ping", "no end is added");
        socket.send_to(b"pong", from).is_ok()
    };
    let folder = Folder::new(ECHO, &text(&answering(echo)));
    folder.test(0, &["passed"]);
    folder.check(&["adapter", "check", "s", "--model", "m.iox"], 0, &["ok"]);
    // Two messages in one datagram are none, and one message in two datagrams is two.
    let joined = |socket: &UdpSocket, _: &[u8], from| socket.send_to(b"pong\npong", from).is_ok();
    Folder::new(ECHO, &text(&answering(joined))).test(FAIL, &["no pattern matches"]);
    let twice = |socket: &UdpSocket, _: &[u8], from| {
        socket.send_to(b"pong", from).is_ok() && socket.send_to(b"pong", from).is_ok()
    };
    Folder::new(ECHO, &text(&answering(twice))).test(FAIL, &["!pong"]);
    let empty = |socket: &UdpSocket, _: &[u8], from| socket.send_to(b"", from).is_ok();
    Folder::new(ECHO, &text(&answering(empty)).replace("'pong'", "''")).test(0, &["passed"]);
}

#[test]
fn binary_datagrams_need_no_framing() {
    let address = answering(|socket, bytes, from| bytes == [1, 7] && socket.send_to(&[2, 7], from).is_ok());
    let system = format!(
        "kind = \"binary\"\naddress = \"udp:{address}\"\nreset = {{ send = \"0x0107\", expect = '0x02 ..' }}\n\
         inputs = {{ ping = \"0x01, 0x07\" }}\noutputs = {{ pong = \"0x02, skip(1)\" }}"
    );
    Folder::new(ECHO, &system).test(0, &["passed"]);
}

/// The system is dead while the model allows silence: that is no silence.
#[test]
fn a_system_that_is_gone_is_not_silent() {
    let mut n = 0;
    let dying = answering(move |socket, _, from| {
        n += 1;
        socket.send_to(b"pong", from).is_ok() && n < 3
    });
    Folder::new(ECHO, &text(&dying)).test(FAIL, &["no server listens at udp:"]);
    // A server that was started here and ends is seen as well.
    let script = "import socket,sys; s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); \
                  s.bind(('127.0.0.1', int(sys.argv[1]))); \
                  [s.sendto(b'pong', s.recvfrom(99)[1]) for _ in range(3)]";
    let started = text("127.0.0.1:{port}")
        .replace("reset = \"none\"", &format!("start = \"exec python3 -c \\\"{script}\\\" {{port}}\""));
    Folder::new(ECHO, &started).test(FAIL, &["crash"]);
}

#[test]
fn a_system_that_was_never_there_has_no_verdict() {
    let socket = UdpSocket::bind("127.0.0.1:0").expect("a port");
    let address = socket.local_addr().expect("an address").to_string();
    drop(socket);
    Folder::new(ECHO, &text(&address)).test(TROUBLE, &["refused"]);
}

#[test]
fn an_input_that_no_datagram_holds_is_not_sent() {
    let address = answering(|_, _, _| true);
    let long = "p".repeat(66_000);
    let system = text(&address).replace("\"ping\" }", &format!("\"{long}\" }}"));
    let folder = Folder::new(ECHO, &system);
    let (text, _) = print_in(
        folder.path(),
        &["test", "m.iox", "--sut", "s", "--tester", "random", "--runs", "1", "--steps", "4"],
    );
    assert!(text.contains("66000 bytes are more than a datagram holds"), "{text}");
}

/// Loss is believed where a channel allows it, and only there.
#[test]
fn loss_is_believed_as_a_channel_says() {
    let lossy = || {
        let mut n = 0;
        answering(move |socket, _, from| {
            n += 1;
            n % 4 == 0 || socket.send_to(b"pong", from).is_ok()
        })
    };
    Folder::new(ECHO, &text(&lossy())).test(FAIL, &["silence"]);
    let folder = Folder::new(ECHO, &text(&lossy()));
    let channel = ["--through", "fifo(capacity: 2, may_lose: true)"];
    let test = ["test", "m.iox", "--sut", "s", "--seed", "1", "--steps", "40"];
    folder.check(&[&test[..], &channel].concat(), 0, &["passed"]);
}

#[test]
fn mistakes_are_told() {
    let wrong = |more: &str, says: &[&str]| {
        let system = format!("{more}\n{}", text("127.0.0.1:9"));
        Folder::new(ECHO, &system).check(&["test", "m.iox", "--sut", "s"], USAGE, says);
    };
    wrong("framing = \"line\"", &["`sut.s.framing`", "one datagram is one message"]);
    wrong("more = '.*'", &["`sut.s.more`", "whole message"]);
    wrong("tls = true", &["`sut.s.tls`", "datagrams"]);
    let tcp = "kind = \"tcp\"\naddress = \"udp:127.0.0.1:9\"";
    Folder::new(ECHO, tcp).check(&["test", "m.iox", "--sut", "s"], USAGE, &["`sut.s.address`", "stream"]);
    let no_port = text("127.0.0.1");
    Folder::new(ECHO, &no_port).check(&["test", "m.iox", "--sut", "s"], USAGE, &["HOST:PORT"]);
}
