//! A machine that is busy: the tester gets no processor for a while, and says so instead of blaming the system.

use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use crate::truth::server::listen;
use crate::truth::{Folder, text};

const ECHO: &str = "model Echo {
    input PING
    output PONG
    state idle { on PING -> busy }
    state busy { emit PONG -> idle }
}
";

fn signal(pid: u32, name: &str) {
    let sent = Command::new("kill").args([name, &pid.to_string()]).status();
    assert!(sent.is_ok_and(|status| status.success()), "{name}");
}

/// A server that answers the second question only after it has stopped the tester for three seconds.
fn stopping(tester: Receiver<u32>) -> String {
    let tester = Arc::new(Mutex::new(tester));
    listen(Duration::ZERO, move |mut peer| {
        let mut questions = 0;
        while peer.hear().is_some() {
            questions += 1;
            if questions == 2 {
                let pid = tester.lock().expect("nobody panics").recv().expect("it was started");
                signal(pid, "-STOP");
                thread::sleep(Duration::from_secs(3));
                signal(pid, "-CONT");
                thread::sleep(Duration::from_millis(1_600));
            }
            peer.say("PONG");
        }
    })
}

fn start(folder: &Folder, pid: &Sender<u32>) -> Child {
    let child = Command::new(env!("CARGO_BIN_EXE_ioxide"))
        .args(["test", "m.iox", "--sut", "s", "--tester", "random", "--solver", "none", "--runs", "1"])
        .args(["--steps", "8", "--seed", "1", "--confirm-silence", "2", "--report", "r"])
        .current_dir(folder.path())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program runs");
    pid.send(child.id()).expect("the server waits for it");
    child
}

#[test]
fn waits_are_extended_by_the_lag_of_the_machine_and_that_is_said() {
    let (pid, tester) = channel();
    // Silence would be a failure after two seconds, of which one passes while the tester stands still.
    let project = text(&stopping(tester), &["PING"], &["PONG"], "silence_ms = 1000");
    let folder = Folder::new(ECHO, &project);
    let output = start(&folder, &pid).wait_with_output().expect("it ends");
    let told =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{told}");
    assert!(told.contains("this machine was busy: ioxide waited up to"), "{told}");
    let record = std::fs::read_to_string(folder.path().join("r/campaign.jsonl")).expect("a record");
    assert!(record.contains("\"machine_lag\":{\"waits_ms\":"), "{record}");
}
