//! Torture: every writing command is struck wherever it touches files, by death, by a full disk and by a folder that
//! turned read-only; it is killed at random moments, and run several times at once.
//!
//! After the manner of SQLite's crash tests: a file layer that fails (`strike.c`) counts the calls of a command that
//! change files, renames included; then the command is run again and again, struck at the first call, the second,
//! and so on. What is left must be what was there before, or what an undisturbed command leaves; and whoever goes
//! on from there ends where an undisturbed command ends. A verdict that was found is the exit code, room or no room.
//!
//! By default a few calls of every command are struck; `IOXIDE_TORTURE_MINUTES` gives it longer: then all are, in an
//! order that comes by everybody early, and what is left of the time kills commands at random moments, at least
//! a quarter of it. `cargo xtask torture` does that.

mod commands;
mod strike;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use commands::{Files, WritingCommand, print, subjects};
use strike::{How, Layer};

/// Calls of a command that are struck by default.
const SHARE: usize = 4;

/// The share of the time that is for kills at random moments.
const RANDOM_SHARE: f64 = 0.25;

fn time() -> Option<Duration> {
    let minutes = std::env::var("IOXIDE_TORTURE_MINUTES").ok()?;
    Some(Duration::from_secs_f64(60.0 * minutes.parse::<f64>().expect("IOXIDE_TORTURE_MINUTES is a number")))
}

/// A command with what it leaves undisturbed and how many calls that takes.
struct Victim {
    subject: WritingCommand,
    whole: Files,
    calls: usize,
}

/// A blow: which victim, at which of its calls, how.
type Blow = (usize, usize, How);

/// Lots, the same in every run (Knuth's multiplier).
struct Lots(u64);

impl Lots {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % n.max(1)
    }
}

/// Every blow there is, shuffled.
fn all_blows(victims: &[Victim]) -> Vec<Blow> {
    let of = |(who, victim): (usize, &Victim)| {
        let calls = 1..=victim.calls;
        calls.flat_map(move |at| How::ALL.map(|how| (who, at, how))).collect::<Vec<_>>()
    };
    let mut blows: Vec<Blow> = victims.iter().enumerate().flat_map(of).collect();
    let mut lots = Lots(14);
    for last in (1..blows.len()).rev() {
        blows.swap(last, lots.below(last + 1));
    }
    blows
}

/// A few blows for every victim, with its first and its last call, every way in turn.
fn some_blows(victims: &[Victim]) -> Vec<Blow> {
    let of = |(who, victim): (usize, &Victim)| {
        let n = victim.calls;
        let at = move |k: usize| 1 + k * (n - 1) / (SHARE - 1);
        (0..SHARE).map(move |k| (who, at(k), How::ALL[(who + k) % How::ALL.len()])).collect::<Vec<_>>()
    };
    victims.iter().enumerate().flat_map(of).collect()
}

#[test]
fn every_call_of_every_command_may_be_the_last() {
    let Some(layer) = Layer::build() else {
        // No C compiler, not Linux on x86-64, or a kernel that lets nobody follow a program.
        ioxide_test_support::has_program("ptrace");
        return;
    };
    let begun = Instant::now();
    let victims: Vec<Victim> = subjects()
        .into_iter()
        .map(|subject| Victim { whole: subject.undisturbed(), calls: layer.count(&subject), subject })
        .collect();
    assert!(victims.iter().all(|victim| victim.calls > 0), "they write something");
    let blows = if time().is_some() { all_blows(&victims) } else { some_blows(&victims) };
    let until = time().map(|time| begun + time.mul_f64(1.0 - RANDOM_SHARE));
    let mut struck: BTreeMap<usize, usize> = BTreeMap::new();
    for &(who, at, how) in &blows {
        if until.is_some_and(|until| Instant::now() > until) {
            eprintln!("the time for blows is over");
            break;
        }
        let Victim { subject, whole, calls } = &victims[who];
        let place = subject.place();
        let code = layer.strike(subject, &place, at, how);
        check(subject, whole, &place, how, code, &format!("{how:?} at call {at} of {calls}"));
        *struck.entry(who).or_default() += 1;
    }
    for (who, victim) in victims.iter().enumerate() {
        let (blows, name) = (struck.get(&who).copied().unwrap_or_default(), victim.subject.name);
        eprintln!("{name}: {} calls, {blows} blows of {}", victim.calls, victim.calls * How::ALL.len());
    }
    if let Some(time) = time() {
        eprintln!("{} kills at random moments", kill_at_random(&victims, begun + time));
    }
}

/// Returns whether a page that differs from run to run is there to its end.
fn has_its_end(subject: &WritingCommand, name: &str, bytes: &[u8]) -> bool {
    subject.varying.contains(&name) && bytes.trim_ascii_end().ends_with(b"</html>")
}

/// Checks the exit code and the files of a command that was struck.
fn check(
    subject: &WritingCommand,
    whole: &Files,
    place: &tempfile::TempDir,
    how: How,
    code: Option<i32>,
    what: &str,
) {
    let what = format!("{}, {what}", subject.name);
    match code {
        None => assert!(how.kills(), "{what}: it died"),
        // It may be killed as it ends.
        Some(code) if how.kills() => assert!(subject.ends.contains(&code), "{what}: exit {code}"),
        Some(code) => assert!(subject.ends_without_room.contains(&code), "{what}: exit {code}"),
    }
    let left = commands::files(place.path());
    for (name, bytes) in &left {
        if is_aside(name) {
            assert!(how != How::Full, "{what}: `{name}` was left behind");
            continue;
        }
        let before = subject.before.iter().find(|(other, _)| *other == name);
        let is_old = before.is_some_and(|(_, text)| text.as_bytes() == bytes);
        let is_new = whole.get(name).is_some_and(|new| new == bytes);
        let grows = subject.growing.contains(&name.as_str());
        let is_begun = grows && whole.get(name).is_some_and(|new| new.starts_with(bytes));
        assert!(
            is_old || is_new || is_begun || has_its_end(subject, name, bytes),
            "{what}: `{name}` is torn"
        );
    }
    for (name, _) in &subject.before {
        let may_go = subject.going.contains(name);
        assert!(may_go || left.contains_key(*name), "{what}: `{name}` is lost");
    }
    (subject.after)(place.path(), whole, &what);
}

/// Returns whether this is a file on its way to another name.
fn is_aside(name: &str) -> bool {
    Path::new(name).extension().is_some_and(|ending| ending == "part")
}

/// Kills commands at random moments until the time is over; says how many it killed.
fn kill_at_random(victims: &[Victim], until: Instant) -> usize {
    let usual: Vec<Duration> = victims
        .iter()
        .map(|victim| {
            let begun = Instant::now();
            victim.subject.undisturbed();
            begun.elapsed()
        })
        .collect();
    let (mut lots, mut killed) = (Lots(41), 0);
    while Instant::now() < until {
        let at = lots.below(victims.len());
        let Victim { subject, whole, .. } = &victims[at];
        let place = subject.place();
        let mut child = subject
            .command(place.path())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("it runs");
        std::thread::sleep(usual[at].mul_f64(lots.below(1000) as f64 / 1000.0));
        let _ = child.kill();
        let code = child.wait().expect("it ends").code();
        killed += usize::from(code.is_none());
        check(subject, whole, &place, How::Half, code, &format!("killed at random ({killed})"));
    }
    killed
}

/// The number of commands that run at once.
const AT_ONCE: usize = 3;

/// Returns the lines of a file but for doc comments: that of a learned model says which of its answers are from a
/// session.
fn without_docs(bytes: &[u8]) -> Vec<&[u8]> {
    bytes.split(|byte| *byte == b'\n').filter(|line| !line.starts_with(b"///")).collect()
}

/// Whatever several commands at once do to the same files, those are whole, and nobody fails but by being told.
#[test]
fn several_at_once_leave_whole_files() {
    for subject in subjects() {
        let (whole, place) = (subject.undisturbed(), subject.place());
        let start = |_| {
            let mut command = subject.command(place.path());
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
            command.spawn().expect("it runs")
        };
        let all: Vec<_> = (0..AT_ONCE).map(start).collect();
        let mut n_done = 0;
        for child in all {
            let output = child.wait_with_output().expect("it ends");
            let (text, code) = (String::from_utf8_lossy(&output.stderr).into_owned(), output.status.code());
            let is_done = code.is_some_and(|code| subject.ends.contains(&code));
            let is_told = ["another ioxide is writing to", "exist already", "exists"]
                .iter()
                .any(|it| text.contains(it));
            assert!(is_done || code == Some(2) && is_told, "{}: {code:?}: {text}", subject.name);
            n_done += usize::from(is_done);
        }
        assert!(n_done > 0, "{}: one goes on", subject.name);
        let left = commands::files(place.path());
        for (name, bytes) in &left {
            assert!(!is_aside(name), "{}: `{name}` was left behind", subject.name);
            let is_whole = whole.get(name).is_none_or(|whole| without_docs(whole) == without_docs(bytes));
            assert!(
                is_whole || subject.growing.contains(&name.as_str()) || has_its_end(&subject, name, bytes),
                "{}: `{name}` is torn",
                subject.name
            );
        }
        assert!(whole.keys().all(|name| left.contains_key(name)), "{}: something is missing", subject.name);
        (subject.after)(place.path(), &whole, &format!("{}, {AT_ONCE} at once", subject.name));
    }
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
            "--silence-ms",
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
    let (text, code) = print(&["report", &path]);
    assert_eq!(code, 0, "{text}");
}
