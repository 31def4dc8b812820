//! Models with clocks from systems with time-outs, in virtual time: what is learned passes tests with the system, and a
//! system whose timer is wrong does not.

use std::fs;

use tempfile::TempDir;

use crate::program::{expect as says, root};

const SESSION: &str = "examples/learn/session.iox";

/// Learns `model` played as a system, and tests the system with the result; the result.
#[track_caller]
fn learned(folder: &TempDir, model: &str) -> (String, String) {
    let (out, sut) = (folder.path().join("learned.iox").display().to_string(), format!("model:{model}"));
    says(&["learn", model, "--sut", &sut, "--time", "--seed", "1", "--out", &out], 0);
    says(&["fmt", "--check", &out], 0);
    says(&["test", &out, "--sut", &sut, "--seed", "1", "--steps", "500"], 0);
    let text = fs::read_to_string(&out).expect("a model");
    (out, text)
}

/// Using a session keeps it open, looking at it does not.
#[test]
fn a_session_expires() {
    let folder = tempfile::tempdir().expect("a folder");
    let (out, text) = learned(&folder, SESSION);
    assert!(text.contains("emit expired when timer >= 4800ms && timer <= 5200ms"), "{text}");
    assert!(text.contains("on use { reset since, reset timer } -> owes_done"), "{text}");
    assert!(text.contains("on look { reset since } -> owes_active"), "{text}");
    // The next version lets it live for six seconds: the model of this one finds that.
    let next = folder.path().join("next.iox").display().to_string();
    let later = fs::read_to_string(root().join(SESSION)).expect("a model").replace("5s", "6s");
    fs::write(&next, later).expect("written");
    let found = says(&["test", &out, "--sut", &format!("model:{next}"), "--seed", "1", "--no-shrink"], 1);
    assert!(found.contains("FAIL"), "{found}");
}

/// A sender that tries three times, two seconds apart, and gives up after three more.
#[test]
fn a_sender_sends_again_and_gives_up() {
    let folder = tempfile::tempdir().expect("a folder");
    let sender = folder.path().join("sender.iox").display().to_string();
    fs::write(
        &sender,
        "model Sender {\n input send\n input ack\n output frame\n output accepted\n output failed\n clock t\n \
         var tries: int = 0\n \
         state idle {\n on send { reset t, tries = 1 } -> sending\n on ack\n }\n \
         state sending { emit frame when t <= 0s -> waiting }\n \
         state waiting {\n on ack { reset t } -> accepting\n on send\n \
         emit frame when t >= 2s && t <= 2s && tries < 3 { reset t, tries = tries + 1 }\n \
         emit failed when t >= 3s && t <= 3s && tries >= 3 -> idle\n }\n \
         state accepting { emit accepted when t <= 0s -> idle }\n}\n",
    )
    .expect("written");
    let (_, text) = learned(&folder, &sender);
    assert_eq!(text.matches("emit frame when timer >= 1800ms && timer <= 2200ms").count(), 2, "{text}");
    assert!(text.contains("emit failed when timer >= 2800ms && timer <= 3200ms"), "{text}");
    // Sending while it waits changes nothing.
    assert!(text.contains("on send { reset since } -> s2"), "{text}");
}

#[test]
fn what_does_not_go_together_is_said() {
    let sut = format!("model:{SESSION}");
    let told = says(&["learn", SESSION, "--sut", &sut], 2);
    assert!(told.contains("`--time` learns time-outs"), "{told}");
    for (more, word) in
        [(&["--jobs", "2"][..], "cannot be combined with"), (&["--data"], "cannot be used with")]
    {
        let told = says(&[&["learn", SESSION, "--sut", &sut, "--time"], more].concat(), 2);
        assert!(told.contains(word), "{told}");
    }
    // Delays that are finer than the tolerance cannot be distinguished: nothing is claimed that was not seen.
    let told = says(
        &["learn", SESSION, "--sut", &sut, "--time", "--seed", "1", "--wait-ms", "3000", "--extra", "0"],
        0,
    );
    assert!(told.contains("0 time-outs") && told.contains("waits of 3000 ms"), "{told}");
}
