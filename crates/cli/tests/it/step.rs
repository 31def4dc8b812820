//! The full-screen stepper in a real terminal, by way of `script`, which has one to lend.

use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// Nothing here takes so long; it ends what hangs.
const LIMIT: Duration = Duration::from_secs(60);

/// A terminal with the stepper on it.
struct Screen {
    script: Child,
    folder: TempDir,
    pieces: Receiver<Vec<u8>>,
    seen: Vec<u8>,
}

impl Screen {
    /// Starts `ioxide step` with these arguments; `None` without `script`.
    fn start(args: &str, environment: &[(&str, &str)]) -> Option<Self> {
        if !ioxide_test_support::has_program("script") {
            return None;
        }
        let program = env!("CARGO_BIN_EXE_ioxide");
        let folder = TempDir::new().expect("a folder");
        let pid = folder.path().join("pid");
        let step = format!("echo $$ > {}; exec {program} step {args}", pid.display());
        let command = format!("stty rows 24 cols 80; sh -c '{step}'; echo \"ended with $?\"; stty -a");
        let mut script = Command::new("script")
            .args(["--quiet", "--command", &command, "/dev/null"])
            .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."))
            .env("TERM", "xterm-256color")
            .env_remove("NO_COLOR")
            .envs(environment.iter().copied())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("script starts");
        let mut out = script.stdout.take().expect("it is piped");
        let (sender, pieces) = mpsc::channel();
        std::thread::spawn(move || {
            let mut piece = [0; 4096];
            while let Ok(n @ 1..) = out.read(&mut piece) {
                if sender.send(piece[..n].to_vec()).is_err() {
                    return;
                }
            }
        });
        Some(Self { script, folder, pieces, seen: Vec::new() })
    }

    /// Waits until `text` has been written since the last look.
    #[track_caller]
    fn wait_for(&mut self, text: &str) -> String {
        let start = Instant::now();
        while !String::from_utf8_lossy(&self.seen).contains(text) {
            let left = LIMIT.saturating_sub(start.elapsed());
            match self.pieces.recv_timeout(left) {
                Ok(piece) => self.seen.extend(piece),
                Err(_) => panic!("no `{text}` in {:?}", String::from_utf8_lossy(&self.seen)),
            }
        }
        String::from_utf8_lossy(&std::mem::take(&mut self.seen)).into_owned()
    }

    fn press(&mut self, keys: &str) {
        let stdin = self.script.stdin.as_mut().expect("it is piped");
        stdin.write_all(keys.as_bytes()).expect("script listens");
        stdin.flush().expect("script listens");
    }

    /// Waits for the end; the terminal must be as it was.
    #[track_caller]
    fn end(mut self, status: i32) -> String {
        let told = self.wait_for("-echoprt");
        assert!(told.contains(&format!("ended with {status}")), "{told:?}");
        assert!(told.contains("\u{1b}[?1049l"), "the first screen is back: {told:?}");
        assert!(told.contains("\u{1b}[?25h"), "the cursor is back: {told:?}");
        let words: Vec<&str> = told.split([' ', ';', '\r', '\n']).collect();
        assert!(words.contains(&"icanon") && words.contains(&"echo"), "the terminal is cooked: {told:?}");
        told
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        let _ = self.script.kill();
        let _ = self.script.wait();
    }
}

/// Returns whether some sequence `ESC [ ... m` sets a colour.
fn is_coloured(text: &str) -> bool {
    let sequences = text.split("\u{1b}[").skip(1).filter_map(|rest| {
        let (numbers, _) = rest.split_once('m')?;
        numbers.chars().all(|c| c.is_ascii_digit() || c == ';').then_some(numbers)
    });
    let mut numbers = sequences.flat_map(|numbers| numbers.split(';')).filter_map(|n| n.parse::<u32>().ok());
    numbers.any(|n| matches!(n, 30..=38 | 40..=48 | 90..=107))
}

#[test]
fn a_walk_on_a_terminal_and_back() {
    let Some(mut screen) = Screen::start("examples/adder.iox", &[]) else { return };
    let first = screen.wait_for("quit");
    assert!(first.contains("\u{1b}[?1049h"), "a screen of its own: {first:?}");
    assert!(is_coloured(&first), "colours: {first:?}");
    screen.press("\r");
    screen.wait_for("solver");
    screen.press("7\r");
    screen.wait_for("busy");
    screen.press("ioutX(p: 8)\r");
    screen.wait_for("not allowed");
    screen.press("q");
    screen.end(0);
}

#[test]
fn control_c_puts_the_terminal_back() {
    let Some(mut screen) = Screen::start("examples/adder.iox", &[]) else { return };
    screen.wait_for("quit");
    screen.press("\u{3}");
    screen.end(130);
}

#[test]
fn a_signal_puts_the_terminal_back() {
    let Some(mut screen) = Screen::start("examples/adder.iox", &[]) else { return };
    screen.wait_for("quit");
    let pid = std::fs::read_to_string(screen.folder.path().join("pid")).expect("its number");
    let killed = Command::new("kill").args(["-INT", pid.trim()]).status().expect("kill runs");
    assert!(killed.success());
    screen.end(130);
}

#[test]
fn no_color_is_obeyed() {
    let Some(mut screen) = Screen::start("examples/adder.iox", &[("NO_COLOR", "1")]) else { return };
    let first = screen.wait_for("quit");
    assert!(!is_coloured(&first), "no colours: {first:?}");
    screen.press("q");
    screen.end(0);
}

#[test]
fn plain_needs_no_screen() {
    let Some(mut screen) = Screen::start("--plain examples/adder.iox", &[]) else { return };
    let first = screen.wait_for("allowed\r\n> ");
    assert!(!first.contains("\u{1b}[?1049h") && first.contains("quiet  silence is allowed"), "{first:?}");
    screen.press("quit\n");
    screen.wait_for("ended with 0");
}

#[test]
fn a_recorded_failure_is_opened_before_it_happens() {
    let folder = TempDir::new().expect("a folder");
    let runs = folder.path().join("runs").display().to_string();
    let tested = Command::new(env!("CARGO_BIN_EXE_ioxide"))
        .args(["test", "examples/brp/spec.iox", "--sut", "model:examples/brp/m1.iox", "--seed", "1"])
        .args(["--report", &runs])
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."))
        .output()
        .expect("the program runs");
    assert_eq!(tested.status.code(), Some(1), "{tested:?}");
    let Some(mut screen) = Screen::start(&format!("examples/brp/spec.iox --from {runs}@3"), &[]) else {
        return;
    };
    // Run 4 of this campaign fails at step 4: the book shows it.
    screen.wait_for("quit");
    screen.press("r");
    screen.wait_for("allowed here");
    screen.press("q");
    screen.end(0);
}
