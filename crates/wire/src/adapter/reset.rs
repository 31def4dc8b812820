//! Resets by message: the steps, the answers they must have, and what is done if one is refused.
//!
//! *Promises.* A system that refuses its reset is not in its initial state, so no run begins: the reset is tried again,
//! a bounded number of times and each time on a new connection, and is then trouble on the way to the system, never a
//! verdict.

use std::time::{Duration, Instant};

use regex::Regex;

use super::{AdapterError, Interrupt, RefusedReset};
use crate::codec::http::RequestConfig;
use crate::codec::http::answer::AnswerConfig;
use crate::codec::text::full_regex;

/// The number of times that a refused reset is tried. With the pauses between them that is about two seconds: enough
/// for a server to notice that the connection of the run before is closed.
const MAX_TRIES: u32 = 8;
/// The pause before the second try; it doubles each time. Chosen by feel: short for a system that is just starting.
const FIRST_PAUSE: Duration = Duration::from_millis(20);

/// One step of the reset of a system that speaks text or binary messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResetStep {
    /// The text to send, or the hexadecimal digits of a binary message; `None` if the step only awaits a message.
    pub send: Option<String>,
    /// A pattern for the whole answer, or for the hexadecimal digits of a binary one. `None` for any answer that does
    /// not say by convention that it is an error.
    pub expect: Option<String>,
}

impl ResetStep {
    /// Sends `text`, and takes any answer that does not read like an error.
    #[must_use]
    pub fn new_plain(text: impl Into<String>) -> Self {
        Self { send: Some(text.into()), expect: None }
    }

    /// Checks that the pattern of the answer can be read.
    ///
    /// # Errors
    /// If it is no regular expression.
    pub fn check(&self) -> Result<(), regex::Error> {
        self.pattern().map(drop)
    }

    /// Returns the pattern that the whole answer must match, if there is one.
    pub(super) fn pattern(&self) -> Result<Option<Regex>, regex::Error> {
        self.expect.as_deref().map(full_regex).transpose()
    }
}

/// One step of the reset of a system that is asked by HTTP.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpResetStep {
    /// The request.
    pub request: RequestConfig,
    /// The text that is sent over the WebSocket that the request opens, if it opens one.
    pub send: Option<String>,
    /// The conditions on the answer or, where a text is sent over a WebSocket, on the message that answers it.
    pub expect: AnswerConfig,
}

/// Repeats `attempt` while the system refuses its reset, up to [`MAX_TRIES`] times, with longer and longer pauses.
pub(super) fn until_accepted(
    interrupt: Interrupt,
    mut attempt: impl FnMut() -> Result<(), AdapterError>,
) -> Result<(), AdapterError> {
    let (mut tries, mut pause) = (1, FIRST_PAUSE);
    loop {
        match attempt() {
            Err(AdapterError::ResetRefused(refused)) if tries >= MAX_TRIES => {
                return Err(AdapterError::ResetRefused(Box::new(RefusedReset { tries, ..*refused })));
            }
            Err(AdapterError::ResetRefused(_)) => sleep(pause, interrupt)?,
            other => return other,
        }
        (tries, pause) = (tries + 1, pause * 2);
    }
}

/// Waits for `pause`, in slices so that an interrupt ends it.
fn sleep(pause: Duration, interrupt: Interrupt) -> Result<(), AdapterError> {
    let until = Instant::now() + pause;
    while Instant::now() < until {
        interrupt.check()?;
        std::thread::sleep(Interrupt::next_wait(until));
    }
    Ok(())
}

/// Returns whether a text is an error by the conventions of usual text protocols: a code from 400 to 599 (SMTP, FTP,
/// NNTP, IRC), `-` and a word in capitals (Redis, POP3), or a word that is or ends with `ERROR`, or is `ERR`.
pub(super) fn reads_like_error(text: &str) -> bool {
    let mut words = text.split_whitespace();
    let first = words.next().unwrap_or_default();
    // Messages of IRC name the server first.
    let word = if first.starts_with(':') { words.next().unwrap_or_default() } else { first };
    let code = word.split('-').next().unwrap_or_default();
    let is_code = code.len() == 3
        && code.bytes().all(|byte| byte.is_ascii_digit())
        && matches!(code.as_bytes().first(), Some(b'4' | b'5'));
    let is_negative =
        word.strip_prefix('-').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_uppercase()));
    let name = word.trim_end_matches([':', ',', '.', '!', ';']).to_ascii_uppercase();
    is_code || is_negative || name == "ERR" || name == "ERROR" || name.ends_with("_ERROR")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::adapter::ResetMismatch;

    #[test]
    fn errors_of_usual_protocols_are_recognised() {
        for text in [
            "433 nickname in use",
            ":irc.example.org 433 * n1 :Nickname is already in use",
            "503-Bad sequence",
            "550",
            "-ERR unknown command",
            "-LOADING Redis is loading the dataset in memory",
            "ERROR",
            "error: busy",
            "SERVER_ERROR out of memory",
        ] {
            assert!(reads_like_error(text), "{text}");
        }
        for text in [
            "",
            "OK",
            "+OK",
            ":0",
            ":1 4",
            "250 OK",
            "001 welcome",
            "4",
            "4000 keys",
            "-1",
            "NOT_FOUND",
            "errors: 0",
        ] {
            assert!(!reads_like_error(text), "{text}");
        }
    }

    #[test]
    fn a_refused_reset_is_tried_a_bounded_number_of_times() {
        let refused = || {
            let refused =
                RefusedReset::new(1, "NICK n1", "433 in use", ResetMismatch::Expected("/001/".into()));
            Err(AdapterError::ResetRefused(Box::new(refused)))
        };
        let mut tries = 0;
        let outcome = until_accepted(Interrupt::never(), || {
            tries += 1;
            refused()
        });
        let error = outcome.unwrap_err();
        assert_eq!((tries, error.breakdown()), (MAX_TRIES, None), "never a verdict");
        let told = error.to_string();
        assert!(
            told.contains("`NICK ...`, was answered by `433 in use`, expected /001/ (tried 8 times)"),
            "{told}"
        );
        let mut tries = 0;
        let accepted = until_accepted(Interrupt::never(), || {
            tries += 1;
            if tries < 3 { refused() } else { Ok(()) }
        });
        assert_eq!((accepted, tries), (Ok(()), 3));
        let closed = until_accepted(Interrupt::never(), || Err(AdapterError::Closed));
        assert_eq!(closed, Err(AdapterError::Closed));
    }
}
