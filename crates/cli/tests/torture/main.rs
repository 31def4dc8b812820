//! Torture: every writing command is struck at its writes, by death and by a full disk, at random and two at once.
//!
//! After the manner of SQLite's crash tests: a file layer that fails (`shim.c`, loaded before the program) counts the
//! writes of a command; then the command is run again and again, struck at the first write, the second, and so
//! on. What is left must be what was there before, or what an undisturbed command leaves; and whoever goes on
//! from there ends where an undisturbed command ends. A verdict that was found is the exit code, room or no room.
//!
//! By default a few writes of every command are struck; `IOXIDE_TORTURE_MINUTES` gives it longer: then all are,
//! and what is left of the time kills commands at random moments. `cargo xtask torture` does that.

mod commands;
mod strike;

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use commands::{WritingCommand, ioxide, subjects};
use strike::{How, Shim};

/// Writes of a command that are struck by default.
const SHARE: usize = 4;

fn time() -> Option<Duration> {
    let minutes = std::env::var("IOXIDE_TORTURE_MINUTES").ok()?;
    Some(Duration::from_secs_f64(60.0 * minutes.parse::<f64>().expect("IOXIDE_TORTURE_MINUTES is a number")))
}

/// The writes to strike, of `n`, counted from 1: all of them, or some with the first and the last.
fn chosen(n: usize) -> Vec<usize> {
    if time().is_some() || n <= SHARE {
        return (1..=n).collect();
    }
    (0..SHARE).map(|at| 1 + at * (n - 1) / (SHARE - 1)).collect()
}

#[test]
fn every_write_of_every_command_may_be_the_last() {
    let Some(shim) = Shim::build() else {
        eprintln!("skipped: there is no C compiler, or this is not Linux");
        return;
    };
    let until = time().map(|time| Instant::now() + time);
    let mut strikes = 0;
    for subject in subjects() {
        let whole = subject.undisturbed();
        let n = shim.count(&subject);
        assert!(n > 0, "{}: it writes something", subject.name);
        for at in chosen(n) {
            for how in [How::Die, How::Full] {
                let place = subject.place();
                let code = shim.strike(&subject, &place, at, how);
                check(&subject, &whole, &place, how, code, &format!("{how:?} at write {at} of {n}"));
                strikes += 1;
            }
            if until.is_some_and(|until| Instant::now() > until) {
                eprintln!("the time is over in `{}`, after {strikes} strikes", subject.name);
                return;
            }
        }
        eprintln!("{}: {n} writes", subject.name);
    }
    eprintln!("{strikes} strikes");
    if let Some(until) = until {
        eprintln!("{} kills at random moments", kill_at_random(until));
    }
}

/// Whether what was left by a command that was struck is in order.
fn check(
    subject: &WritingCommand,
    whole: &commands::Files,
    place: &tempfile::TempDir,
    how: How,
    code: Option<i32>,
    what: &str,
) {
    let what = format!("{}, {what}", subject.name);
    match how {
        How::Die => assert_eq!(code, None, "{what}: it died"),
        How::Full => {
            assert!(subject.codes_without_room.contains(&code.unwrap_or(-1)), "{what}: exit {code:?}")
        }
    }
    let left = commands::files(place.path());
    for (name, bytes) in &left {
        let is_part = name.ends_with(".part");
        assert!(!is_part || how == How::Die, "{what}: `{name}` was left behind");
        if is_part {
            continue;
        }
        let before = subject.before.iter().find(|(other, _)| *other == name);
        let is_old = before.is_some_and(|(_, text)| text.as_bytes() == bytes);
        let is_new = whole.get(name).is_some_and(|new| new == bytes);
        let grows = subject.growing.contains(&name.as_str());
        let is_begun = grows && whole.get(name).is_some_and(|new| new.starts_with(bytes));
        assert!(is_old || is_new || is_begun, "{what}: `{name}` is torn");
    }
    for (name, _) in &subject.before {
        assert!(left.contains_key(*name), "{what}: `{name}` is lost");
    }
    (subject.after)(place.path(), whole, &what);
}

/// Kills commands at random moments until the time is over; says how many it killed.
fn kill_at_random(until: Instant) -> usize {
    let all = subjects();
    let wholes: Vec<commands::Files> = all.iter().map(WritingCommand::undisturbed).collect();
    let mut random = 0x9e37_79b9_7f4a_7c15_u64;
    let mut killed = 0;
    while Instant::now() < until {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let at = (random >> 33) as usize % all.len();
        let (subject, place) = (&all[at], all[at].place());
        let mut child = subject
            .command(place.path())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("it runs");
        std::thread::sleep(Duration::from_micros((random >> 20) % 400_000));
        let _ = child.kill();
        if child.wait().expect("it ends").code().is_none() {
            killed += 1;
            let what = format!("killed at random ({random:x})");
            check(subject, &wholes[at], &place, How::Die, None, &what);
        }
    }
    killed
}

/// Of several campaigns in one folder one goes on and the others are told; what it writes is whole.
#[test]
fn two_at_once_do_not_meet() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().display().to_string();
    // A system that takes its time, so that all are there at once.
    let sut =
        format!("stdio:sleep 0.5; exec {} sut examples/brp/m3.iox --seed 1", env!("CARGO_BIN_EXE_ioxide"));
    let start = |_| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ioxide"));
        command.args([
            "test",
            "examples/brp/spec.iox",
            "--sut",
            &sut,
            "--quiescence-ms",
            "30",
            "--report",
            &path,
        ]);
        command
            .current_dir(commands::root())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("it runs")
    };
    let all: Vec<_> = (0..4).map(start).collect();
    let mut codes = Vec::new();
    for child in all {
        let output = child.wait_with_output().expect("it ends");
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        let code = output.status.code().expect("it ends by itself");
        assert!(code == 1 || code == 2 && text.contains("another ioxide is writing to"), "{code}: {text}");
        codes.push(code);
    }
    assert!(codes.contains(&1), "one goes on: {codes:?}");
    let junit = fs::read_to_string(Path::new(&path).join("junit.xml")).expect("a report");
    assert!(roxmltree::Document::parse(&junit).is_ok(), "{junit}");
    let (text, code) = ioxide(&["report", &path]);
    assert_eq!(code, Some(0), "{text}");
}
