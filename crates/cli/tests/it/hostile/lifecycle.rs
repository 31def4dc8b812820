//! Systems that are slow to start, hard to end, or end when nobody looks: no surprise, no false verdict.

use super::*;

/// Runs the tests of a campaign that is long enough for several resets.
#[track_caller]
fn campaign(folder: &Folder, code: i32, says: &[&str]) {
    let ended = ended(folder.start(&["--runs", "5", "--steps", "6"]));
    assert_eq!(ended.code, code, "{}", ended.text);
    for word in says {
        assert!(ended.text.contains(word), "should say `{word}`:\n{}", ended.text);
    }
}

/// A played model over TCP, as a server that `start` starts.
fn played(start: &str, more: &str) -> Folder {
    let start = start.replace("SERVE", "IOXIDE sut echo.iox --listen 127.0.0.1:{port} --solver none");
    Folder::new(&format!(
        "kind = \"tcp\"\naddress = \"127.0.0.1:{{port}}\"\nsilence_ms = 50\nready_ms = 30000\n\
         start = '''{start}'''\n{more}"
    ))
}

/// Defect: "address in use", because only the shell was awaited and not the server behind it.
#[test]
fn a_restart_without_exec_waits_for_the_whole_group_and_its_port() {
    campaign(&played("SERVE; true", "reset = \"restart\""), 0, &["5 passed"]);
}

/// Defect: a server that left its group was out of reach; the next one found its port taken.
#[test]
fn a_server_that_leaves_its_group_is_found_and_ended() {
    let daemon = "setsid sh -c 'echo $$ > pid; exec SERVE' >/dev/null 2>&1 &";
    let folder = played(daemon, "reset = \"restart\"");
    campaign(&folder, 0, &["5 passed"]);
    let server = killed::pid(&folder).expect("it was started");
    killed::until("the server is ended", || killed::is_gone(server));
}

/// Defect: the first connection was refused, and that was the end of it.
#[test]
fn a_server_that_does_not_listen_yet_is_awaited() {
    campaign(&played("sleep 0.4; SERVE", ""), 0, &["5 passed"]);
    // It says that it is ready before it listens.
    campaign(&played("echo up; sleep 0.4; SERVE", "ready = \"line:up\""), 0, &["5 passed"]);
}

#[test]
fn a_server_that_somebody_else_starts_is_awaited_too() {
    let address = nobody();
    let system = format!("kind = \"tcp\"\naddress = \"{address}\"\nsilence_ms = 50\nready_ms = 30000");
    let folder = Folder::new(&system);
    let child = folder.start(&["--runs", "2", "--steps", "6"]);
    std::thread::sleep(Duration::from_millis(300));
    let mut server = Command::new(env!("CARGO_BIN_EXE_ioxide"))
        .args(["sut", "echo.iox", "--listen", &address, "--solver", "none"])
        .current_dir(folder.path())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the program runs");
    let ended = ended(child);
    server.kill().expect("it can be ended");
    server.wait().expect("it ends");
    assert_eq!(ended.code, 0, "{}", ended.text);
}

/// A server that serves a single connection, counts what it was asked, and says so from the third on. It
/// hangs up first, and listens without SO_REUSEADDR.
const ONCE: &str = r"
import socket, sys
listener = socket.socket()
listener.bind(('127.0.0.1', int(sys.argv[1])))
listener.listen(1)
stream, _ = listener.accept()
listener.close()
asked = 0
for line in stream.makefile('r'):
    asked += 1
    stream.sendall(b'PONG\n' if asked < 20 else b'ENOUGH\n')
";

/// Defect: the probe took the only connection; and without `reset` the count leaked into the second run.
#[test]
fn a_server_that_serves_one_connection_is_probed_without_one() {
    if !ioxide_test_support::has_program("python3") {
        return;
    }
    let folder = Folder::new(
        "kind = \"text\"\naddress = \"127.0.0.1:{port}\"\nsilence_ms = 300\nready_ms = 30000\n\
         start = \"python3 once.py {port}\"\nready = \"tcp:127.0.0.1:{port}\"\n\
         inputs = { ping = \"PING\" }\noutputs = { pong = \"PONG\" }",
    );
    fs::write(folder.path().join("once.py"), ONCE).expect("a script");
    let ended = ended(folder.start(&["--runs", "3", "--steps", "18"]));
    assert_eq!(ended.code, 0, "{}", ended.text);
}

#[test]
fn a_text_server_without_reset_is_an_error_that_names_the_ways() {
    let server = "kind = \"text\"\naddress = \"127.0.0.1:1\"\ninputs = { ping = \"PING\" }\n\
                  outputs = { pong = \"PONG\" }";
    check(server, 2, &["initial state", "reset_command", "reconnect", "none", "`start`"]);
}

/// A child that speaks text.
fn child(more: &str, script: &str) -> String {
    format!(
        "kind = \"text\"\nsilence_ms = 100\n{more}\noutputs = {{ pong = \"PONG\" }}\ncommand = '''\n{script}\n'''"
    )
}

/// Defect: an interpreter that takes a while to start was called silent.
#[test]
fn the_start_of_a_process_is_no_silence() {
    let inputs = "inputs = { ping = \"PING\" }";
    check(&child(inputs, "sleep 0.7; while read x; do echo PONG; done"), 0, &["passed"]);
    // One that has read its input has started.
    check(&child(inputs, "read x; sleep 60"), FAIL, &["·│ got"]);
}

/// Defect: no newline was added to inputs, and the symptom was silence.
#[test]
fn inputs_are_ended_like_outputs() {
    let lines = "while read x; do echo PONG; done";
    check(&child("inputs = { ping = \"PING\" }", lines), 0, &["passed"]);
    check(&child("inputs = { ping = \"PING\\n\" }", lines), 0, &["passed"]);
    let strict = "while read -r x; do [ \"$x\" = \"$(printf 'PING\\r')\" ] && echo PONG; done";
    check(&child("inputs = { ping = \"PING\" }\ninput_end = \"\\r\\n\"", strict), 0, &["passed"]);
}

/// Speaks the protocol, and ends at a reset if `ends` says so.
fn ending(ends: &str) -> Folder {
    Folder::new(&format!(
        "kind = \"stdio\"\nsilence_ms = 50\ncommand = '''\n\
         echo '{{\"type\":\"hello\",\"protocol\":1}}'; n=0\n\
         while read -r line; do case $line in\n\
         *configure*) echo '{{\"type\":\"ready\"}}';;\n\
         *reset*) {ends}; echo '{{\"type\":\"ready\"}}';;\n\
         *input*) n=$((n+1)); echo '{{\"type\":\"sent\",\"id\":'$n'}}'; echo \
         '{{\"type\":\"output\",\"label\":\"pong\"}}';;\n\
         esac; done\n'''"
    ))
}

/// Defect: it was silently started again, and passed.
#[test]
fn a_system_that_ends_at_every_reset_is_trouble() {
    campaign(&ending("exit 0"), TROUBLE, &["ended by itself at its reset", "exit status: 0", "restart"]);
}

#[test]
fn a_system_that_ends_at_one_reset_is_told() {
    let once = "if ! [ -e ended ]; then : > ended; exit 3; fi";
    campaign(
        &ending(once),
        0,
        &["note: the system ended by itself at its reset: exit status: 3", "5 passed"],
    );
}

/// Defect: "the system refused", an error, because a value held a control character.
#[test]
fn a_value_that_the_protocol_cannot_write_is_left_out() {
    let told = |value: &str| {
        let folder =
            Folder::new(&child("inputs = { say = \"SAY {text}\" }", "while read x; do echo PONG; done"));
        let model = format!(
            "model Say {{\n    input say(text: string)\n    output pong\n    \
             state idle {{ on say when text == \"{value}\" -> busy }}\n    state busy {{ emit pong -> idle }}\n}}\n"
        );
        fs::write(folder.path().join("echo.iox"), model).expect("a model");
        ended(folder.start(&["--runs", "2", "--steps", "6"]))
    };
    let tab = told("a\\tb");
    assert_eq!(tab.code, 0, "{}", tab.text);
    let line = told("a\\nb");
    assert_eq!(line.code, 5, "{}", line.text);
    assert!(line.text.contains("cannot be written in this protocol"), "{}", line.text);
}
