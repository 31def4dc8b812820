//! The output of this program, without the secrets of its systems.
//!
//! Records and reports are made of events, from which
//! [`RedactingReporter`](ioxide_record::secrets::redacting::RedactingReporter) takes secrets out field by field.
//! Everything else that is written for people or programs goes through here: stdout, stderr, and files in which a
//! system may have left what it said. The secrets of every description that is read are known from then on, so no
//! command has to think of them.

use std::fmt;
use std::io::{self, Write};
use std::sync::{PoisonError, RwLock, RwLockReadGuard};

use ioxide_record::secrets::Secrets;
use serde_json::Value as Json;

/// The secrets that were read so far; `None` before the first.
static KNOWN: RwLock<Option<Secrets>> = RwLock::new(None);

/// Hides `secrets` in all that is written from now on.
pub fn add_secrets(secrets: &Secrets) {
    if !secrets.is_empty() {
        let mut known = KNOWN.write().unwrap_or_else(PoisonError::into_inner);
        known.get_or_insert_default().extend(secrets);
    }
}

fn known_secrets() -> RwLockReadGuard<'static, Option<Secrets>> {
    KNOWN.read().unwrap_or_else(PoisonError::into_inner)
}

/// Returns `text` without secrets. Of a text that is JSON, its strings are without them, so that it stays JSON.
pub fn hide(text: &str) -> String {
    let known = known_secrets();
    let Some(secrets) = &*known else { return text.to_owned() };
    if !text.trim_start().starts_with(['{', '[']) {
        return secrets.hide(text);
    }
    match serde_json::from_str::<Json>(text) {
        Ok(mut value) => {
            let before = value.clone();
            secrets.hide_json(&mut value);
            if value == before { text.to_owned() } else { value.to_string() }
        }
        Err(_) => secrets.hide(text),
    }
}

/// Returns whether there is a secret in `text`.
pub fn is_in(text: &str) -> bool {
    known_secrets().as_ref().is_some_and(|secrets| secrets.is_in(text))
}

/// Writes to stderr; what cannot be written is lost, and nothing else changes.
pub fn to_stderr(words: fmt::Arguments<'_>) {
    let _ = io::stderr().write_all(hide_lines(&words.to_string()).as_bytes());
}

/// Returns the lines of `text` without secrets.
fn hide_lines(text: &str) -> String {
    if known_secrets().is_none() {
        text.to_owned()
    } else {
        text.split_inclusive('\n').map(hide_line).collect()
    }
}

/// Returns a line, with or without its end, without secrets.
fn hide_line(line: &str) -> String {
    let (content, end) = line.strip_suffix('\n').map_or((line, ""), |content| (content, "\n"));
    hide(content) + end
}

/// Standard output without secrets. A line is written when it is whole, since a secret may be in its middle.
pub fn stdout() -> RedactedWriter<io::Stdout> {
    RedactedWriter::new(io::stdout())
}

/// A writer that passes lines on without secrets.
pub struct RedactedWriter<W: Write> {
    inner: W,
    line: Vec<u8>,
}

impl<W: Write> RedactedWriter<W> {
    /// Returns a writer that passes lines on to `inner`.
    pub fn new(inner: W) -> Self {
        Self { inner, line: Vec::new() }
    }

    /// Writes the first `n` bytes that wait.
    fn pass_on(&mut self, n: usize) -> io::Result<()> {
        let bytes: Vec<u8> = self.line.drain(..n).collect();
        match std::str::from_utf8(&bytes) {
            Ok(text) => self.inner.write_all(hide_lines(text).as_bytes()),
            Err(_) => self.inner.write_all(&bytes),
        }
    }
}

impl<W: Write> Write for RedactedWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let waiting = self.line.len();
        self.line.extend_from_slice(bytes);
        // Only in what is new: a page has lines of megabytes, written a few bytes at a time.
        if let Some(end) = bytes.iter().rposition(|&byte| byte == b'\n') {
            self.pass_on(waiting + end + 1)?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.pass_on(self.line.len())?;
        self.inner.flush()
    }
}

impl<W: Write> Drop for RedactedWriter<W> {
    fn drop(&mut self) {
        // Whoever wants to know whether it was written flushes.
        let _ = self.flush();
    }
}
