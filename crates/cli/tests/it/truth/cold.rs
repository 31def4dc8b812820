//! Systems that are slow with their first reply after a start: an interpreter, a virtual machine, a cold cache.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use crate::truth::server::{answering, listen};
use crate::truth::{Folder, text};

const ECHO: &str = "model Echo {
    input PING
    output PONG
    state idle { on PING -> busy }
    state busy { emit PONG -> idle }
}
";

/// The time of a first reply: longer than silence is confirmed for below, shorter than any limit.
const COLD: Duration = Duration::from_millis(1_200);
/// Silence is confirmed after ten times this.
const SETTINGS: &str = "silence_ms = 20\nlimit_ms = 60000";

const RUNS: [&str; 7] = ["--runs", "2", "--steps", "6", "--seed", "1", "-v"];

/// Serves connections whose first reply takes [`COLD`].
fn cold_connections() -> String {
    listen(Duration::ZERO, |mut peer| {
        let mut wait = COLD;
        while peer.hear().is_some() {
            thread::sleep(std::mem::take(&mut wait));
            peer.say("PONG");
        }
    })
}

#[test]
fn the_first_reply_on_every_new_connection_is_awaited() {
    let folder = Folder::new(ECHO, &text(&cold_connections(), &["PING"], &["PONG"], SETTINGS));
    let ended = folder.test(&RUNS);
    ended.check(0, &["2 passed", "the first reply after a start took up to", "silence: assumed after 20 ms"]);
}

/// A system in Python that takes its input at once and is slow with its first reply, in four ways of speaking.
const COLD_SYSTEM: &str = r#"
import json, socket, sys, time
way, port = sys.argv[1], int(sys.argv[2])
cold = [1.2]
def wait():
    time.sleep(cold[0])
    cold[0] = 0
def talk(reader, writer):
    def say(line):
        writer.write(line + "\n")
        writer.flush()
    if way.startswith("text"):
        for line in reader:
            wait()
            say("PONG")
        return
    say(json.dumps({"type": "hello", "protocol": 1, "name": "cold", "reset": "restart", "labels": []}))
    for line in reader:
        message = json.loads(line)
        if message["type"] in ("configure", "reset"): say('{"type": "ready"}')
        if message["type"] == "input":
            say(json.dumps({"type": "sent", "id": message["id"]}))
            wait()
            say('{"type": "output", "label": "PONG", "args": {}}')
if way.endswith("stdio"):
    talk(sys.stdin, sys.stdout)
else:
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("127.0.0.1", port))
    listener.listen(5)
    while True:
        peer = listener.accept()[0]
        try:
            talk(peer.makefile("r"), peer.makefile("w"))
        except OSError:
            pass
"#;

#[test]
fn the_first_reply_after_every_start_is_awaited_however_the_system_is_started() {
    if !ioxide_test_support::has_program("python3") {
        return;
    }
    let words = "[sut.s.inputs]\nPING = \"PING\\n\"\n[sut.s.outputs]\nPONG = 'PONG'\n";
    for (way, kind, speaks) in [
        ("text_stdio", "kind = \"text\"\ncommand = \"exec python3 cold.py text_stdio 0\"", words),
        ("stdio", "kind = \"stdio\"\ncommand = \"exec python3 cold.py stdio 0\"", ""),
        (
            "text_tcp",
            "kind = \"text\"\naddress = \"127.0.0.1:{port}\"\nstart = \"exec python3 cold.py text_tcp {port}\"\n\
             reset = \"restart\"\nready_ms = 60000",
            words,
        ),
        (
            "tcp",
            "kind = \"tcp\"\naddress = \"127.0.0.1:{port}\"\nstart = \"exec python3 cold.py tcp {port}\"\n\
             ready_ms = 60000",
            "",
        ),
    ] {
        let folder = Folder::new(ECHO, &format!("[sut.s]\n{kind}\n{SETTINGS}\n{speaks}"));
        fs::write(folder.path().join("cold.py"), COLD_SYSTEM).expect("a file");
        let ended = folder.test(&RUNS);
        assert!(ended.text.contains("2 passed"), "{way}: {}", ended.text);
        // Both runs began with a start, so both waited.
        assert!(ended.text.contains("the first reply after a start took up to"), "{way}: {}", ended.text);
    }
}

#[test]
fn a_late_first_reply_takes_back_a_silence_that_was_allowed() {
    let model = ECHO.replace("emit PONG -> idle", "emit PONG -> idle  internal -> idle");
    let folder = Folder::new(&model, &text(&cold_connections(), &["PING"], &["PONG"], SETTINGS));
    let ended = folder.test(&["--runs", "2", "--steps", "40", "--seed", "3", "--report", "r"]);
    ended.check(0, &["2 passed"]);
    folder.ioxide(&["judge", "m.iox", "r", "--solver", "none"]).check(0, &["PASS"]);
}

#[test]
fn a_connection_that_is_cold_is_awaited_beside_one_that_has_spoken() {
    let model = "model Two {
    input ASK
    input TELL
    output ANSWER
    output HEARD
    state idle { on ASK -> asked  on TELL -> told }
    state asked { emit ANSWER -> idle }
    state told { emit HEARD -> idle }
}
";
    let (warm, cold) = (answering(Duration::ZERO, |_| Some("ANSWER".into())), {
        let replies = Arc::new(AtomicU64::new(0));
        listen(Duration::ZERO, move |mut peer| {
            let mut wait = COLD;
            while peer.hear().is_some() {
                thread::sleep(std::mem::take(&mut wait));
                replies.fetch_add(1, Ordering::Relaxed);
                peer.say("HEARD");
            }
        })
    });
    let project = format!(
        "[sut.s]\nkind = \"text\"\nreset = \"reconnect\"\n{SETTINGS}\n\
         [sut.s.connections.warm]\naddress = \"{warm}\"\ninputs = {{ ASK = \"ASK\\n\" }}\n\
         outputs = {{ ANSWER = 'ANSWER' }}\n\
         [sut.s.connections.cold]\naddress = \"{cold}\"\ninputs = {{ TELL = \"TELL\\n\" }}\n\
         outputs = {{ HEARD = 'HEARD' }}\n"
    );
    let folder = Folder::new(model, &project);
    folder.test(&["--runs", "3", "--steps", "10", "--seed", "2"]).check(0, &["3 passed"]);
}

#[test]
fn a_system_that_never_replies_still_fails() {
    let deaf = answering(Duration::ZERO, |_| None);
    let project = text(&deaf, &["PING"], &["PONG"], "silence_ms = 20\nlimit_ms = 300");
    let ended = Folder::new(ECHO, &project).test(&RUNS);
    ended.check(1, &["FAIL", "!PONG", "failed again 3 of 3 times", "minimal failing run: 2 steps"]);
}

#[test]
fn a_later_reply_is_not_awaited_as_the_first_is() {
    // The second reply never comes: that is silence after the usual time, long before the limit of ten minutes.
    let address = listen(Duration::ZERO, |mut peer| {
        if peer.hear().is_some() {
            peer.say("PONG");
        }
        while peer.hear().is_some() {}
    });
    let project = text(&address, &["PING"], &["PONG"], "silence_ms = 20\nlimit_ms = 600000");
    let ended = Folder::new(ECHO, &project).test(&["--runs", "1", "--steps", "8", "--seed", "1"]);
    ended.check(1, &["FAIL", "!PONG", "failed again 3 of 3 times"]);
}

#[test]
fn a_cold_system_is_learned_as_it_is_when_it_is_warm() {
    let folder = Folder::new(ECHO, &text(&cold_connections(), &["PING"], &["PONG"], SETTINGS));
    let learned =
        folder.ioxide(&["learn", "m.iox", "--sut", "s", "--seed", "1", "--extra", "0", "--out", "l.iox"]);
    learned.check(0, &[]);
    let model = fs::read_to_string(folder.path().join("l.iox")).expect("a model");
    assert!(model.contains("emit PONG"), "{model}");
}
