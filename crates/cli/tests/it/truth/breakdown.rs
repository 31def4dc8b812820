//! Systems that end, hang up or talk nonsense: found, made smaller, repeated, told by kind.

use std::time::Duration;

use crate::truth::server::listen;
use crate::truth::{Folder, text};

const ECHO: &str = "model Echo {
    input PING
    input STOP
    output PONG
    state idle { on PING -> busy  on STOP -> idle }
    state busy { emit PONG -> idle }
}
";

/// A server that answers two pings and then does something else.
fn third(broken: impl Fn(crate::truth::server::Peer) + Send + Sync + Clone + 'static) -> String {
    listen(Duration::ZERO, move |mut peer| {
        let mut pings = 0;
        while let Some(line) = peer.hear() {
            if line != "PING" {
                continue;
            }
            pings += 1;
            if pings == 3 {
                return broken(peer);
            }
            peer.say("PONG");
        }
    })
}

fn folder(address: &str) -> Folder {
    Folder::new(ECHO, &text(address, &["PING", "STOP"], &["PONG"], "silence_ms = 60"))
}

fn find(folder: &Folder) -> crate::truth::Ended {
    folder.test(&["--runs", "20", "--steps", "30", "--seed", "2", "--report", "r"])
}

#[test]
fn a_server_that_hangs_up_on_an_input_has_crashed() {
    let folder = folder(&third(|peer| peer.hang_up()));
    find(&folder).check(1, &["FAIL", "closed the connection", "minimal failing run: 6 steps"]);
    folder.ioxide(&["replay", "r", "--sut", "s"]).check(1, &["FAIL", "closed the connection"]);
    folder.ioxide(&["shrink", "r", "--sut", "s"]).check(1, &["minimal failing run"]);
    let record = std::fs::read_to_string(folder.path().join("r/campaign.jsonl")).expect("a record");
    assert!(record.contains("\"kind\":\"crash\""), "{record}");
    folder.ioxide(&["report", "r", "--junit", "j.xml"]);
    let junit = std::fs::read_to_string(folder.path().join("j.xml")).expect("a file");
    assert!(junit.contains("<failure") && junit.contains("closed the connection"), "{junit}");
}

#[test]
fn an_answer_that_no_pattern_reads_is_a_failure_of_its_own_kind() {
    let folder = folder(&third(|peer| {
        peer.say("GULP");
        std::thread::sleep(Duration::from_secs(5));
    }));
    find(&folder).check(1, &["FAIL", "unreadable", "GULP", "minimal failing run: 6 steps"]);
    folder.ioxide(&["replay", "r", "--sut", "s"]).check(1, &["unreadable"]);
}

#[test]
fn a_process_that_dies_on_an_input_has_crashed_with_its_status() {
    let command =
        "n=0; while read x; do if [ $x = PING ]; then n=$((n+1)); [ $n = 3 ] && exit 7; echo PONG; fi; done";
    let project = format!(
        "[sut.s]\nkind = \"text\"\ncommand = \"\"\"{command}\"\"\"\n[sut.s.inputs]\nPING = \"PING\\n\"\n\
         STOP = \"STOP\\n\"\n\
         [sut.s.outputs]\nPONG = 'PONG'\n"
    );
    let folder = Folder::new(ECHO, &project);
    find(&folder).check(1, &["FAIL", "exit status: 7", "minimal failing run: 6 steps"]);
    // It does not happen again on a system that is mended.
    let mended = project.replace("exit 7", "true");
    std::fs::write(folder.path().join("ioxide.toml"), mended).expect("a file");
    let again = folder.ioxide(&["replay", "r", "--sut", "s"]);
    again.check(0, &["1 passed"]);
    folder.ioxide(&["shrink", "r", "--sut", "s"]).check(5, &[]);
}

#[test]
fn a_model_may_allow_that_the_connection_is_closed() {
    let model = ECHO.replace("output PONG", "output PONG\n    output closed").replace(
        "state busy { emit PONG -> idle }",
        "state busy { emit PONG -> idle  emit closed -> over }\n    state over {}",
    );
    let address = third(|peer| peer.hang_up());
    let folder = Folder::new(&model, &text(&address, &["PING", "STOP"], &["PONG"], "silence_ms = 60"));
    folder.test(&["--runs", "3", "--steps", "30", "--seed", "2"]).check(0, &["3 passed"]);
}

#[test]
fn a_model_may_allow_one_exit_status_and_no_other() {
    let model = ECHO.replace("output PONG", "output PONG\n    output ended(status: int)").replace(
        "state busy { emit PONG -> idle }",
        "state busy { emit PONG -> idle  emit ended when status == 7 -> over }\n    state over {}",
    );
    let project = |status: i32| {
        format!(
            "[sut.s]\nkind = \"text\"\ncommand = \"read x; exit {status}\"\n[sut.s.inputs]\nPING = \"PING\\n\"\n\
             STOP = \"PING\\n\"\n[sut.s.outputs]\nPONG = 'PONG'\n"
        )
    };
    let model = model.replace("on STOP -> idle", "");
    let args = ["--runs", "2", "--steps", "10", "--seed", "2"];
    Folder::new(&model, &project(7)).test(&args).check(0, &["2 passed"]);
    Folder::new(&model, &project(8)).test(&args).check(1, &["FAIL", "exit status: 8"]);
}
