//! Systems that misbehave: every one of them ends in an error or a failure with its reason.
//!
//! Never a pass, a panic, a hang or memory that grows with what the system says. The program is
//! run as a user would; a run that takes too long is killed and the test fails.

#![cfg(target_os = "linux")]

mod dripping;
mod http;
mod killed;
mod learned;
mod lifecycle;
mod protocol;
mod requests;
mod resets;
mod streams;
mod text;
mod values;

use std::fs;
use std::io::Read;
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use ioxide_test_support::serve_connections;

/// A ping is answered by a pong, and nothing else happens.
const MODEL: &str = "model Echo {
    input ping
    output pong
    state idle { on ping -> busy }
    state busy { emit pong -> idle }
}
";

/// No run here may take longer.
const TOO_LONG: Duration = Duration::from_secs(60);

/// The most memory the program may ever have had, in kilobytes.
const MAX_KB: u64 = 90 << 10;

/// A folder with the model, a project file and whatever a script leaves there.
struct Folder(tempfile::TempDir);

/// The end of the program.
struct Ended {
    text: String,
    code: i32,
    peak_kb: u64,
}

impl Folder {
    /// A folder whose project file describes the system `s` so.
    fn new(system: &str) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(folder.path().join("echo.iox"), MODEL).expect("a model");
        let project = format!("[sut.s]\n{system}\n").replace("IOXIDE", env!("CARGO_BIN_EXE_ioxide"));
        fs::write(folder.path().join("ioxide.toml"), project).expect("a project file");
        Self(folder)
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    /// Starts `ioxide test` on the system, without a solver, which a model without data does not need.
    fn start(&self, more: &[&str]) -> Child {
        Command::new(env!("CARGO_BIN_EXE_ioxide"))
            .args(["test", "echo.iox", "--sut", "s", "--tester", "random", "--seed", "1", "--solver", "none"])
            .args(more)
            .current_dir(self.path())
            .env("NO_COLOR", "1")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program runs")
    }

    fn test(&self) -> Ended {
        ended(self.start(&["--runs", "2", "--steps", "20", "--no-shrink"]))
    }
}

/// Waits for the end of the program, watching its memory.
fn ended(mut child: Child) -> Ended {
    let deadline = Instant::now() + TOO_LONG;
    let mut peak_kb = 0;
    let code = loop {
        peak_kb = peak_kb.max(peak_of(child.id()));
        if let Some(status) = child.try_wait().expect("it can be waited for") {
            break status.code().unwrap_or(-1);
        }
        if Instant::now() > deadline {
            child.kill().expect("it can be killed");
            panic!("it hangs: {}", said(&mut child));
        }
        std::thread::sleep(Duration::from_millis(3));
    };
    Ended { text: said(&mut child), code, peak_kb }
}

fn said(child: &mut Child) -> String {
    let (mut out, mut err) = (Vec::new(), Vec::new());
    child.stdout.take().map(|mut stream| stream.read_to_end(&mut out));
    child.stderr.take().map(|mut stream| stream.read_to_end(&mut err));
    format!("{}{}", String::from_utf8_lossy(&out), String::from_utf8_lossy(&err))
}

/// The most memory process `id` ever had, in kilobytes.
fn peak_of(id: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{id}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or_default();
    line.trim().trim_end_matches(" kB").parse().unwrap_or(0)
}

/// Exit code 1: the system is wrong.
const FAIL: i32 = 1;
/// Exit code 6: no verdict.
const TROUBLE: i32 = 6;

/// Tests the system that these lines of a project file describe.
#[track_caller]
fn check(system: &str, code: i32, says: &[&str]) {
    let ended = Folder::new(system).test();
    assert_eq!(ended.code, code, "{system}\n{}", ended.text);
    for word in says {
        assert!(ended.text.contains(word), "should say `{word}`: {system}\n{}", ended.text);
    }
    assert!(ended.text.lines().all(|line| line.len() < 2000), "too much is shown: {system}");
    assert!(ended.peak_kb < MAX_KB, "{} kB: {system}", ended.peak_kb);
}

/// An address where nobody is.
fn nobody() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.local_addr().expect("an address").to_string()
}

/// Many times what the program may hold.
const HUGE: usize = 100 << 20;

/// Writes `n` bytes, or as many as the other side takes.
fn pour(stream: &mut TcpStream, piece: &[u8], n: usize) {
    use std::io::Write;
    let chunk = piece.repeat((1 << 16) / piece.len() + 1);
    let mut left = n;
    while left > 0 && stream.write_all(&chunk).is_ok() {
        left = left.saturating_sub(chunk.len());
    }
}

/// Longer than any run may take.
fn hang() {
    std::thread::sleep(TOO_LONG * 2);
}
