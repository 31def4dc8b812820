//! Progress on stderr for anything that takes more than a second; none where `IOXIDE_PROGRESS=off` says so.

use std::io::{IsTerminal, Write};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The instant of the last progress line of any kind, so that two do not overwrite each other.
static LAST: Mutex<Option<Instant>> = Mutex::new(None);

/// The time after which a line says how to stop. Chosen by feel: who waits longer wonders whether it ends.
const ADVICE_AFTER: Duration = Duration::from_secs(20);

/// One line on stderr, rewritten in place on a terminal, repeated now and then elsewhere.
pub struct ProgressLine {
    started: Instant,
    shown: Option<Instant>,
    terminal: bool,
    /// The factor on the pauses before and between lines.
    patience: u32,
    /// True if `IOXIDE_PROGRESS=off` asks for no progress.
    off: bool,
}

impl ProgressLine {
    /// Starts the clock; nothing is shown in the first second.
    pub fn start() -> Self {
        let off = std::env::var_os("IOXIDE_PROGRESS").is_some_and(|said| said == "off");
        let terminal = std::io::stderr().is_terminal();
        Self { started: Instant::now(), shown: None, terminal, patience: 1, off }
    }

    /// Starts a line that is shown only where no other is: its pauses are twice as long.
    pub fn patient() -> Self {
        Self { patience: 2, ..Self::start() }
    }

    /// Returns the time since the start.
    pub fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    /// Shows `line` if it is time to; an empty one clears the terminal line at once, for results to come.
    pub fn show_line(&mut self, line: &str) {
        match line {
            "" if self.terminal && self.shown.is_some() => eprint!("\r\x1b[K"),
            "" => (),
            line => self.tick(|| line.to_owned()),
        }
    }

    /// Shows `line` if it is time to.
    pub fn tick(&mut self, line: impl FnOnce() -> String) {
        let pause = if self.terminal { Duration::from_millis(200) } else { Duration::from_secs(5) };
        let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
        let begun = self.started.elapsed() > Duration::from_secs(1) * self.patience;
        if self.off || !begun || last.is_some_and(|last| last.elapsed() < pause * self.patience) {
            return;
        }
        *last = Some(Instant::now());
        self.shown = *last;
        let seconds = self.started.elapsed().as_secs();
        if self.terminal {
            eprint!("\r\x1b[K{} ({seconds} s{})", line(), advice(seconds))
        } else {
            eprintln!("{} ({seconds} s)", line())
        }
        let _ = std::io::stderr().flush();
    }
}

impl Drop for ProgressLine {
    /// Leaves the terminal line clean.
    fn drop(&mut self) {
        if self.terminal && self.shown.is_some() {
            eprint!("\r\x1b[K");
        }
    }
}

/// Returns how to stop what has taken so many seconds, if that is long.
pub fn advice(seconds: u64) -> &'static str {
    if seconds < ADVICE_AFTER.as_secs() { "" } else { "; Ctrl-C stops and shows what is known" }
}
