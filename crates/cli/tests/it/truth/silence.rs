//! Silence that was called too early.

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

fn after(ms: u64) -> String {
    answering(Duration::ZERO, move |_| {
        thread::sleep(Duration::from_millis(ms));
        Some("PONG".into())
    })
}

#[test]
fn an_answer_after_the_quiescence_time_raises_it_and_nobody_is_blamed() {
    let folder = Folder::new(ECHO, &text(&after(120), &["PING"], &["PONG"], "silence_ms = 40"));
    let ended = folder.test(&["--runs", "2", "--steps", "6", "--seed", "1"]);
    ended.check(0, &["2 passed", "arrived after silence was assumed", "!PONG"]);
}

#[test]
fn a_slow_server_needs_no_setting() {
    let folder = Folder::new(ECHO, &text(&after(330), &["PING"], &["PONG"], ""));
    folder.test(&["--runs", "1", "--steps", "6", "--seed", "1"]).check(0, &["1 passed"]);
}

#[test]
fn a_server_that_never_answers_is_silent_and_fails() {
    let deaf = answering(Duration::ZERO, |_| None);
    let folder = Folder::new(ECHO, &text(&deaf, &["PING"], &["PONG"], "silence_ms = 20\nlimit_ms = 500"));
    let ended = folder.test(&["--runs", "2", "--steps", "6", "--seed", "1"]);
    ended.check(1, &["FAIL", "expected", "!PONG", "minimal failing run: 2 steps"]);
}

#[test]
fn a_late_answer_takes_back_a_silence_that_was_allowed() {
    // It may answer or not, so silence is allowed; an answer after it is not, unless it was under way.
    let model = ECHO.replace("emit PONG -> idle", "emit PONG -> idle  internal -> idle");
    let folder = Folder::new(&model, &text(&after(90), &["PING"], &["PONG"], "silence_ms = 40"));
    let ended = folder.test(&["--runs", "3", "--steps", "8", "--seed", "3", "--report", "r"]);
    ended.check(0, &["3 passed"]);
    folder.ioxide(&["judge", "m.iox", "r", "--solver", "none"]).check(0, &["PASS"]);
}

#[test]
fn a_greeting_is_timed_from_the_start_of_its_run_and_few_answers_give_no_advice() {
    let model = "model Hi { input PING output HELLO output PONG
        state start { emit HELLO -> idle } state idle { on PING -> busy } state busy { emit PONG -> idle } }";
    let address = listen(Duration::ZERO, |mut peer| {
        peer.say("HELLO");
        while peer.hear().is_some() {
            peer.say("PONG");
        }
    });
    let folder = Folder::new(model, &text(&address, &["PING"], &["HELLO", "PONG"], "silence_ms = 150"));
    let ended = folder.test(&["--runs", "3", "--steps", "4", "--seed", "1", "-v"]);
    ended.check(0, &["3 passed"]);
    assert!(!ended.text.contains("would be enough"), "{}", ended.text);
}

#[test]
fn an_interpreter_that_starts_slowly_is_not_silent() {
    let project = "[sut.s]\nkind = \"text\"\ncommand = \"sleep 0.5; while read x; do echo PONG; done\"\n\
        [sut.s.inputs]\nPING = \"PING\\n\"\n[sut.s.outputs]\nPONG = 'PONG'\n";
    let folder = Folder::new(ECHO, project);
    folder.test(&["--runs", "2", "--steps", "6", "--seed", "1"]).check(0, &["2 passed"]);
}

#[test]
fn a_system_that_promises_one_answer_to_every_input_is_not_waited_for() {
    // Silence would take twenty seconds each time.
    let more = "silence_ms = 20000\nsynchronous = true";
    let quick = answering(Duration::ZERO, |_| Some("PONG".into()));
    let folder = Folder::new(ECHO, &text(&quick, &["PING"], &["PONG"], more));
    let ended = folder.test(&["--runs", "4", "--steps", "12", "--seed", "1", "--json", "--report", "r"]);
    ended.check(0, &["\"passed\":4"]);
    let json: serde_json::Value =
        serde_json::from_str(ended.text.lines().next().unwrap_or_default()).expect("JSON");
    assert!(json["time_spent"]["silence_ms"].as_u64().is_some_and(|ms| ms < 20_000), "{}", ended.text);
    let record = std::fs::read_to_string(folder.path().join("r/campaign.jsonl")).expect("a record");
    assert!(record.contains("\"kind\":\"quiescence\""), "a look at silence: {record}");
}

#[test]
fn a_promise_that_is_not_kept_blames_nobody() {
    let model = ECHO
        .replace("output PONG", "output PONG output DONE")
        .replace("emit PONG -> idle", "emit PONG -> late } state late { emit DONE -> idle");
    let address = listen(Duration::ZERO, |mut peer| {
        while peer.hear().is_some() {
            peer.say("PONG");
            thread::sleep(Duration::from_millis(60));
            peer.say("DONE");
        }
    });
    let more = "silence_ms = 40\nsynchronous = true";
    let folder = Folder::new(&model, &text(&address, &["PING"], &["PONG", "DONE"], more));
    folder.test(&["--runs", "3", "--steps", "9", "--seed", "1"]).check(0, &["3 passed"]);
}
