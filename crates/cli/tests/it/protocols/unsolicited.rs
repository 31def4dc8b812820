//! Messages that come unasked: ignored, answered, or seen by the model at any time.

use std::io::{BufRead, BufReader, Read, Write};

use super::*;

/// Returns a server that greets, asks `PING n` after every message, and answers `ping` only if the last question was
/// answered rightly; with `fault`, it answers twice at times.
fn nervous(fault: bool) -> String {
    serve_connections(move |mut stream: TcpStream| {
        let mut lines = BufReader::new(stream.try_clone().expect("a stream")).lines();
        let mut asked = 1;
        if write!(stream, "INFO {{}}\r\nPING {asked}\r\n").is_err() {
            return;
        }
        let (mut is_answered, mut n_pings) = (false, 0);
        while let Some(Ok(line)) = lines.next() {
            if line == format!("PONG {asked}") {
                is_answered = true;
            } else if line == "ping" && is_answered {
                n_pings += 1;
                let twice = if fault && n_pings % 3 == 0 { "+pong\r\n" } else { "" };
                asked += 1;
                is_answered = false;
                if write!(stream, "+pong\r\n{twice}PING {asked}\r\n").is_err() {
                    return;
                }
            } else if line == "ping" {
                // The answer to the question was sent after this; it comes next.
                let next = lines.next();
                assert_eq!(next.map(Result::unwrap), Some(format!("PONG {asked}")));
                if write!(stream, "+pong\r\n").is_err() {
                    return;
                }
                is_answered = true;
            }
        }
    })
}

fn nervous_system(address: &str) -> String {
    format!(
        "kind = \"text\"\naddress = \"{address}\"\nreset = \"reconnect\"\ninput_end = \"\\r\\n\"\n\
         ignore = ['INFO .*']\nanswer = {{ 'PING (\\d+)' = \"PONG {{1}}\" }}\n\
         inputs = {{ ping = \"ping\" }}\noutputs = {{ pong = '\\+pong' }}"
    )
}

#[test]
fn heartbeats_are_answered_and_recorded() {
    let folder = Folder::new(ECHO, &nervous_system(&nervous(false)));
    folder.test(0, &["passed", "outside the model: "]);
    let record = folder.record();
    assert!(record.contains(r#""unsolicited":{"message":"INFO {}"}"#), "{record}");
    assert!(record.contains(r#""unsolicited":{"message":"PING 1","answer":"PONG 1"}"#), "{record}");
    folder.check(&["adapter", "check", "s", "--model", "m.iox"], 0, &["ok"]);
    // The rules hide nothing else.
    Folder::new(ECHO, &nervous_system(&nervous(true))).test(FAIL, &["!pong"]);
}

#[test]
fn binary_messages_are_ignored_and_answered_by_layout() {
    let address = serve_connections(|mut stream: TcpStream| {
        let mut n = 0_u8;
        // A question with a number, then the answer to it or a ping, in any order.
        while stream.write_all(&[3, 0x10, n, 0]).is_ok() {
            let mut frame = [0; 3];
            let mut is_answered = false;
            while !is_answered {
                if stream.read_exact(&mut frame[..1]).is_err() {
                    return;
                }
                let length = usize::from(frame[0]);
                let mut body = vec![0; length];
                if stream.read_exact(&mut body).is_err() {
                    return;
                }
                match body[..] {
                    [0x11, answered] => is_answered = answered == n,
                    [0x01] => stream.write_all(&[1, 0x02, 1, 0x7f]).expect("it is taken"),
                    _ => return,
                }
            }
            n = n.wrapping_add(1);
            if n > 3 {
                // Enough questions: pings only from now on.
                let mut byte = [0; 2];
                while stream.read_exact(&mut byte).is_ok() {
                    stream.write_all(&[1, 0x02]).expect("it is taken");
                }
                return;
            }
        }
    });
    let system = format!(
        "kind = \"binary\"\naddress = \"{address}\"\nreset = \"reconnect\"\nframing = \"length:1\"\n\
         ignore = [\"0x7f\"]\nanswer = {{ \"0x10, u8 n, skip(1)\" = \"0x11, u8 n\" }}\n\
         inputs = {{ ping = \"0x01\" }}\noutputs = {{ pong = \"0x02\" }}"
    );
    let folder = Folder::new(ECHO, &system);
    folder.test(0, &["passed"]);
    assert!(folder.record().contains(r#""message":"100000","answer":"1100""#), "{}", folder.record());
}

const BEATING: &str = "model Beating {
    input ping
    output pong
    observed input beat(n: int)
    state idle { on ping -> busy  on beat }
    state busy { emit pong -> idle  on beat }
}
";

/// An observed input may come where the model mentions it and need not come; silence is allowed all the same.
#[test]
fn the_model_may_see_messages_that_come_at_any_time() {
    let address = serve_connections(|mut stream: TcpStream| {
        let lines = BufReader::new(stream.try_clone().expect("a stream")).lines();
        for (n, line) in lines.enumerate() {
            let beat = if n % 2 == 0 { format!("beat {n}\n") } else { String::new() };
            if line.is_err() || write!(stream, "{beat}pong\n{beat}").is_err() {
                return;
            }
        }
    });
    let system = format!(
        "kind = \"text\"\naddress = \"{address}\"\nreset = \"reconnect\"\nsilence_ms = 50\n\
         inputs = {{ ping = \"ping\" }}\noutputs = {{ beat = 'beat (?P<n>[0-9]+)', pong = 'pong' }}"
    );
    let folder = Folder::new(BEATING, &system);
    folder.test(0, &["passed"]);
    assert!(folder.record().contains("beat"), "{}", folder.record());
}

#[test]
fn mistakes_in_rules_are_told_with_their_place() {
    let system = |lines: &str| {
        format!(
            "kind = \"text\"\ncommand = \"cat\"\n{lines}\n\
             inputs = {{ ping = \"ping\" }}\noutputs = {{ pong = 'pong' }}"
        )
    };
    let check = |lines: &str, code: i32, says: &[&str]| {
        Folder::new(ECHO, &system(lines)).check(&["adapter", "check", "s", "--model", "m.iox"], code, says)
    };
    check("ignore = ['(']", USAGE, &["ioxide.toml:4", "`sut.s.ignore`"]);
    check("answer = { 'PING' = \"PONG {1}\" }", USAGE, &["ioxide.toml:4", "no group `1`"]);
    check("ignored = ['PING']", USAGE, &["no key `sut.s.ignored`", "did you mean `ignore`?"]);
    check("anwser = { 'PING' = \"PONG\" }", USAGE, &["did you mean `answer`?"]);
    let warned = |lines: &str, says: &str| {
        let folder = Folder::new(ECHO, &system(lines));
        let (text, _) =
            print_in(folder.path(), &["test", "m.iox", "--sut", "s", "--steps", "2", "--silence-ms", "1"]);
        assert!(text.contains(says), "should say `{says}`:\n{text}");
    };
    warned("ignore = ['^PING']", "`PING.*` matches messages that begin with it");
    warned("ignore = ['p.*']", "`pong` never matches: `ignore`, which comes first");
}
