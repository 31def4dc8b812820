//! Advice and reasons that misled: they named the wrong cause, or led into the next mistake.

use std::thread;
use std::time::Duration;

use crate::truth::server::{answering, listen};
use crate::truth::{Folder, text};

#[test]
fn what_comes_unasked_was_counted_as_an_answer_and_made_quiescence_times_absurd() {
    let model = "model Clock { input PING output PONG output TICK
        state idle { on PING -> busy } state busy { emit PONG -> due } state due { emit TICK -> idle } }";
    let address = listen(Duration::ZERO, |mut peer| {
        while peer.hear().is_some() {
            peer.say("PONG");
            thread::sleep(Duration::from_millis(60));
            peer.say("TICK");
        }
    });
    let folder = Folder::new(model, &text(&address, &["PING"], &["PONG", "TICK"], "silence_ms = 400"));
    let ended = folder.test(&["--runs", "2", "--steps", "12", "--seed", "1", "-v"]);
    ended.check(0, &["2 passed", "PONG  "]);
    let answers = ended.text.split("response times").nth(1).expect("times of answers");
    let table = answers.split("silence: assumed").next().unwrap_or_default();
    assert!(!table.contains("TICK"), "{}", ended.text);
}

#[test]
fn an_output_that_must_never_come_was_advised_away_and_its_failure_became_an_error() {
    let model = "model Safe {
    input PING
    output PONG
    output ALARM
    state idle { on PING -> busy }
    state busy { emit PONG -> idle }
}
";
    let address = answering(Duration::ZERO, |_| Some("ALARM".into()));
    let folder = Folder::new(model, &text(&address, &["PING"], &["PONG", "ALARM"], ""));
    let advice = folder.ioxide(&["check", "m.iox"]);
    advice.check(0, &["`ALARM` must never come", "leave it if that is meant"]);
    assert!(!advice.text.contains("remove"), "{}", advice.text);
    folder.test(&["--runs", "1", "--seed", "1"]).check(1, &["FAIL", "!ALARM"]);
}

#[test]
fn a_tab_in_a_value_was_called_a_refusal_of_the_system() {
    let model = "model Echo { input SAY(text: string) output PONG
        state idle { on SAY when text == \"a\\tb\\u{1}\" -> busy } state busy { emit PONG -> idle } }";
    let address = answering(Duration::ZERO, |line| (line == "SAY a\tb\u{1}").then(|| "PONG".into()));
    let project = text(&address, &["SAY"], &["PONG"], "").replace("\"SAY\\n\"", "\"SAY {text}\\n\"");
    let folder = Folder::new(model, &project);
    folder.test(&["--runs", "1", "--steps", "4", "--seed", "1", "-v"]).check(0, &["1 passed", "PONG"]);

    // What would end the line before its end cannot be written, and that is said to be so.
    let broken = Folder::new(&model.replace("\\tb\\u{1}", "\\nb"), &project);
    let ended = broken.test(&["--runs", "1", "--steps", "4", "--seed", "1"]);
    ended.check(5, &["cannot be written in this protocol", "would break the framing"]);
}
