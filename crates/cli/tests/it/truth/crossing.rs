//! Inputs and outputs that cross each other on their way.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use crate::truth::server::{Peer, listen};
use crate::truth::{Folder, text};

const TICKER: &str = "model Ticker {
    input START
    input STOP
    output STARTED
    output TICK
    output STOPPED
    state stopped { on START -> starting  on STOP -> stopping }
    state starting { emit STARTED -> running }
    state running { emit TICK  on STOP -> stopping }
    state stopping { emit STOPPED -> stopped }
}
";

/// The reaction of a ticker to the request to stop.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stops {
    AtOnce,
    /// It says so and goes on.
    Never,
}

fn serve(mut peer: Peer, stops: Stops) {
    let (running, over) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
    let gate = Arc::new(std::sync::Mutex::new(()));
    let (say, is_running, is_over, its_gate) = (peer.mouth(), running.clone(), over.clone(), gate.clone());
    thread::spawn(move || {
        while !is_over.load(Ordering::Relaxed) {
            thread::sleep(Duration::from_millis(4));
            let _turn = its_gate.lock().expect("nobody panics");
            if is_running.load(Ordering::Relaxed) {
                say("TICK");
            }
        }
    });
    while let Some(line) = peer.hear() {
        let _turn = gate.lock().expect("nobody panics");
        let is_start = line == "START";
        running
            .store(is_start || stops == Stops::Never && running.load(Ordering::Relaxed), Ordering::Relaxed);
        peer.say(if is_start { "STARTED" } else { "STOPPED" });
    }
    over.store(true, Ordering::Relaxed);
}

fn ticker(delay_ms: u64, stops: Stops) -> Folder {
    let address = listen(Duration::from_millis(delay_ms), move |peer| serve(peer, stops));
    let project = text(&address, &["START", "STOP"], &["STARTED", "TICK", "STOPPED"], "silence_ms = 150");
    Folder::new(TICKER, &project)
}

#[test]
fn a_tick_that_was_under_way_when_it_was_stopped_is_no_failure() {
    for (delay, seed) in [(0, "1"), (5, "2"), (5, "3"), (30, "4")] {
        let folder = ticker(delay, Stops::AtOnce);
        folder.test(&["--runs", "4", "--steps", "30", "--seed", seed]).check(0, &["4 runs: 4 passed"]);
    }
}

#[test]
fn a_tick_after_the_stop_was_confirmed_is_a_failure_however_far_away_it_is() {
    for delay in [0, 5, 30] {
        let folder = ticker(delay, Stops::Never);
        let ended =
            folder.test(&["--runs", "10", "--steps", "40", "--seed", "1", "--report", "r", "--no-shrink"]);
        ended.check(1, &["FAIL", "!TICK"]);
        // The record says that inputs were only sent, so the judge finds the same and not more.
        folder.ioxide(&["judge", "m.iox", "r", "--solver", "none"]).check(1, &["FAIL at step"]);
    }
}
