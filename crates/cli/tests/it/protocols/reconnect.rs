//! Connections as a part of the behaviour: opened and closed by inputs, closed by the system.

use std::io::{BufRead, BufReader, ErrorKind, Write};
use std::net::TcpListener;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use super::*;

/// A client comes, says hello, and leaves in order or crashes. A second hello is too much: the system hangs up.
const SESSION: &str = "model Session {
    input connect
    input hello
    input quit
    input crash
    output welcome
    output goodbye
    output closed
    state off { on connect -> fresh }
    state fresh { on hello -> greeting  on quit -> leaving  on crash -> off }
    state greeting { emit welcome -> inside }
    state inside { on hello -> rude  on quit -> leaving  on crash -> off }
    state rude { emit closed -> off }
    state leaving { emit goodbye -> off }
}
";

const INPUTS: &str = "inputs = { connect = { connect = true }, hello = \"hello\", \
    quit = { send = \"quit\", disconnect = \"clean\" }, crash = { disconnect = \"abrupt\" } }\n\
    outputs = { welcome = 'welcome', goodbye = 'goodbye' }";

fn session_system(address: &str, more: &str) -> String {
    format!(
        "kind = \"text\"\naddress = \"{address}\"\nreset = \"reconnect\"\nconnected = false\nsilence_ms = 40\n\
         {more}\n{INPUTS}"
    )
}

/// Serves one client; `is_stale` says whether it is taken for one that has said hello already. Returns how it left.
fn serve_session(stream: &mut TcpStream, is_stale: bool, goodbye: &str) -> Option<ErrorKind> {
    let mut lines = BufReader::new(stream.try_clone().expect("a stream")).lines();
    let mut is_inside = is_stale;
    loop {
        match lines.next() {
            Some(Ok(line)) if line == "hello" && is_inside => return None,
            Some(Ok(line)) if line == "hello" => {
                is_inside = true;
                writeln!(stream, "welcome").ok();
            }
            Some(Ok(line)) if line == "quit" => {
                write!(stream, "{goodbye}").ok();
            }
            Some(Ok(line)) => panic!("unknown: {line}"),
            Some(Err(error)) => return Some(error.kind()),
            None => return None,
        }
    }
}

/// A run connects, leaves and comes back many times; a crashed client is seen as one.
#[test]
fn clients_come_and_go_within_a_run() {
    let ends = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&ends);
    let address = serve_connections(move |mut stream| {
        let end = serve_session(&mut stream, false, "goodbye\n");
        seen.lock().expect("nobody panics").push(end);
    });
    let folder = Folder::new(SESSION, &session_system(&address, ""));
    folder.test(0, &["passed"]);
    let ends = ends.lock().expect("nobody panics");
    assert!(ends.contains(&Some(ErrorKind::ConnectionReset)), "an abrupt end is a reset: {ends:?}");
    assert!(ends.contains(&None), "a clean end is an end: {ends:?}");
    assert!(folder.record().matches("?connect").count() > 2, "there are several connections in a run");
}

/// A server that takes a new client for the one that crashed before it.
#[test]
fn a_session_that_outlives_a_crash_is_found() {
    let crashed = Arc::new(AtomicUsize::new(0));
    let address = serve_connections(move |mut stream| {
        let is_stale = crashed.swap(0, Ordering::SeqCst) > 0;
        if serve_session(&mut stream, is_stale, "goodbye\n").is_some() {
            crashed.store(1, Ordering::SeqCst);
        }
    });
    // The end of the connection where the model allows none is what it always was.
    let args = ["test", "m.iox", "--sut", "s", "--seed", "1", "--steps", "300", "--no-shrink"];
    let folder = Folder::new(SESSION, &session_system(&address, ""));
    folder.check(&args, FAIL, &["crash", "closed the connection"]);
}

#[test]
fn every_connection_may_begin_with_a_conversation() {
    let greeting = |fault: usize| {
        let n = Arc::new(AtomicUsize::new(0));
        serve_connections(move |mut stream: TcpStream| {
            let n = n.fetch_add(1, Ordering::SeqCst) + 1;
            writeln!(stream, "{} ready", if n == fault { 421 } else { 220 }).ok();
            let mut lines = BufReader::new(stream.try_clone().expect("a stream")).lines();
            if lines.next().is_some_and(|line| line.is_ok_and(|line| line == "EHLO me")) {
                writeln!(stream, "250 hi").ok();
                serve_session(&mut stream, false, "goodbye\n");
            }
        })
    };
    let steps = "on_connect = [{ expect = '220 .*' }, { send = \"EHLO me\", expect = '250 .*' }]";
    Folder::new(SESSION, &session_system(&greeting(0), steps)).test(0, &["passed"]);
    let says = ["unreadable", "after connecting", "421 ready", "`220 .*`"];
    Folder::new(SESSION, &session_system(&greeting(3), steps)).test(FAIL, &says);
}

/// The address of a server that stops listening after `n` connections, and serves those to their end.
fn closing_after(n: usize) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address").to_string();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten().take(n) {
            std::thread::spawn(move || serve_session(&mut stream, false, "goodbye\n"));
        }
    });
    address
}

/// A dead system is never silent, also if nobody is connected to it.
#[test]
fn a_server_that_stops_listening_is_not_silent() {
    let folder = Folder::new(SESSION, &session_system(&closing_after(2), ""));
    let (text, code) = print_in(
        folder.path(),
        &["test", "m.iox", "--sut", "s", "--seed", "1", "--steps", "60", "--no-shrink"],
    );
    assert_eq!(code, FAIL, "{text}");
    assert!(text.contains("no server listens at") || text.contains("it refused the connection"), "{text}");
    // One that was never there has no verdict.
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let nobody = listener.local_addr().expect("an address").to_string();
    drop(listener);
    Folder::new(SESSION, &session_system(&nobody, "")).test(TROUBLE, &["refused"]);
}

/// The last messages on a connection that is closed in order are read, an incomplete one included.
#[test]
fn half_a_message_at_a_clean_end_is_no_message() {
    let address = serve_connections(|mut stream| {
        let _ = serve_session(&mut stream, false, "good");
    });
    Folder::new(SESSION, &session_system(&address, "")).test(FAIL, &["incomplete message", "good"]);
}

/// A system that never closes its side may still send something: there is no verdict.
#[test]
fn a_system_that_does_not_close_its_side_has_no_verdict() {
    let address = serve_connections(|mut stream| {
        serve_session(&mut stream, false, "goodbye\n");
        // It keeps its side open.
        std::thread::sleep(std::time::Duration::from_secs(600));
    });
    let model = "model Bye { input connect input quit output goodbye
        state off { on connect -> inside } state inside { on quit -> leaving } state leaving { emit goodbye -> off } }";
    let system = session_system(&address, "limit_ms = 500")
        .replace("hello = \"hello\", ", "")
        .replace(", crash = { disconnect = \"abrupt\" }", "")
        .replace("welcome = 'welcome', ", "");
    Folder::new(model, &system).test(TROUBLE, &["no `end of the connection` from the system within 500 ms"]);
}

/// Each instance of an array has connections of its own, which come and go; `{index}` is in all its texts.
#[test]
fn parts_have_connections_that_come_and_go() {
    let address = serve_connections(|mut stream: TcpStream| {
        let mut lines = BufReader::new(stream.try_clone().expect("a stream")).lines();
        let Some(Ok(name)) = lines.next() else { return };
        writeln!(stream, "I am listening to {name}").ok();
        let mut is_inside = false;
        while let Some(Ok(line)) = lines.next() {
            let Some((word, of)) = line.split_once(' ') else { panic!("{line}") };
            assert_eq!(of, name, "every text has the index");
            match word {
                "hello" if is_inside => return,
                "hello" => is_inside = writeln!(stream, "welcome {of}").is_ok(),
                _ => drop(writeln!(stream, "goodbye {of}")),
            }
        }
    });
    let model = format!("{SESSION}\nsystem Two {{ client[i in 1..2]: Session }}\n");
    let system = format!(
        "kind = \"text\"\nreset = \"reconnect\"\nsilence_ms = 40\n\
         [sut.s.connections.client]\npart = \"client\"\naddress = \"{address}\"\nconnected = false\n\
         on_connect = {{ send = \"{{index:02x}}\", expect = '.* {{index:02x}}' }}\n{}",
        INPUTS
            .replace("\"hello\"", "\"hello {index:02x}\"")
            .replace("\"quit\"", "\"quit {index:02x}\"")
            .replace("'welcome'", "'welcome 0{index}'")
            .replace("'goodbye'", "'goodbye 0{index}'")
    );
    let folder = Folder::new(&model, &system);
    folder.test(0, &["passed"]);
    let record = folder.record();
    assert!(record.contains("closed"), "the end of a connection is an output of its part: {record}");
}

/// Whoever logs in takes the session over, and the other one is hung up on.
const TAKEOVER: &str = "model Takeover {
    input login_a
    input login_b
    input crash_a
    output granted_a
    output granted_b
    output closed_a
    output closed_b
    state nobody { on login_a -> a_asks  on login_b -> b_asks }
    state a_asks { emit granted_a -> a_in }
    state a_in { on login_b -> a_out  on crash_a -> nobody }
    state a_out { emit closed_a -> b_asks }
    state b_asks { emit granted_b -> b_in }
    state b_in { on login_a -> b_out }
    state b_out { emit closed_b -> a_asks }
}
";

/// Serves clients of which one at a time is logged in. With `fault`, the one before stays at times.
fn takeover_server(fault: bool) -> String {
    let holder: Arc<Mutex<(usize, Option<TcpStream>)>> = Arc::default();
    serve_connections(move |mut stream: TcpStream| {
        let mut lines = BufReader::new(stream.try_clone().expect("a stream")).lines();
        while let Some(Ok(line)) = lines.next() {
            assert_eq!(line, "LOGIN");
            let mut holder = holder.lock().expect("nobody panics");
            holder.0 += 1;
            let stays = fault && holder.0.is_multiple_of(3);
            let before = holder.1.replace(stream.try_clone().expect("a stream"));
            if let Some(before) = before.filter(|_| !stays) {
                before.shutdown(std::net::Shutdown::Both).ok();
            }
            writeln!(stream, "GRANTED").ok();
        }
    })
}

fn takeover_system(address: &str) -> String {
    let client = |name: &str, crash: &str| {
        format!(
            "[sut.s.connections.{name}]\naddress = \"{address}\"\nconnected = false\n\
             inputs = {{ login_{name} = {{ connect = true, send = \"LOGIN\" }}{crash} }}\n\
             outputs = {{ granted_{name} = 'GRANTED' }}\n"
        )
    };
    let crash = ", crash_a = { disconnect = \"abrupt\" }";
    format!(
        "kind = \"text\"\nreset = \"reconnect\"\nsilence_ms = 40\n{}{}",
        client("a", crash),
        client("b", "")
    )
}

#[test]
fn a_session_is_taken_over_and_the_other_client_is_hung_up_on() {
    let folder = Folder::new(TAKEOVER, &takeover_system(&takeover_server(false)));
    folder.test(0, &["passed"]);
    assert!(folder.record().contains("closed_a"), "{}", folder.record());
    Folder::new(TAKEOVER, &takeover_system(&takeover_server(true))).test(FAIL, &["!closed_"]);
}

#[test]
fn mistakes_are_told() {
    let wrong = |inputs: &str, more: &str, says: &[&str]| {
        let system = format!(
            "kind = \"text\"\naddress = \"127.0.0.1:9\"\nreset = \"reconnect\"\n{more}\n\
             inputs = {{ ping = {inputs} }}\noutputs = {{ pong = 'pong' }}"
        );
        Folder::new(ECHO, &system).check(&["test", "m.iox", "--sut", "s"], USAGE, says);
    };
    wrong("{ conect = true }", "", &["no key `sut.s.inputs.ping.conect`", "did you mean `connect`?"]);
    wrong("{ send = \"ping\" }", "", &["`sut.s.inputs.ping`", "`connect = true`"]);
    wrong("{ disconnect = \"rude\" }", "", &["`sut.s.inputs.ping.disconnect`", "\"abrupt\""]);
    wrong("\"ping\"", "connected = false", &["`sut.s.connected`", "no input has `connect = true`"]);
    wrong("\"ping\"", "conected = false", &["did you mean `connected`?"]);
    wrong("\"ping\"", "on_connect = []", &["`sut.s.on_connect`", "at least one"]);
}
