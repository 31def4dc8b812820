//! Ends of a system that no run has seen: between two runs, or at a reset.
//!
//! Whoever starts it again must tell. An end that a run has seen is told there; the others are counted
//! here. Once may be the lawful end of the run before, which it did not wait for; a system that has
//! ended at reset after reset has no reset.

use super::AdapterError;

/// Unseen ends in a row after which a system is one that always ends. Chosen by feel: once may be an accident.
const ALWAYS: u32 = 2;
/// Different ends remembered. Chosen by feel: a system has few ways to end.
const MAX_KINDS: usize = 3;

/// The ends of one system.
#[derive(Debug, Default)]
pub(super) struct SystemEnds {
    /// True if the caller was given an error since the last reset, so it knows that something went wrong.
    told: bool,
    in_a_row: u32,
    /// The ends that no run has seen yet, as text, each with the number of times it occurred; at most [`MAX_KINDS`].
    untold: Vec<(String, u32)>,
}

impl SystemEnds {
    /// Notes that the caller gets `result`.
    pub(super) fn record_result<T>(&mut self, result: &Result<T, AdapterError>) {
        self.told |= matches!(
            result,
            Err(AdapterError::Ended { .. }
                | AdapterError::Closed
                | AdapterError::Unreadable { .. }
                | AdapterError::TooLarge { .. }
                | AdapterError::HalfMessage { .. }
                | AdapterError::Protocol { .. }
                | AdapterError::Broken(_)
                | AdapterError::Unknown(_)
                | AdapterError::Exception { .. }
                | AdapterError::Late { .. }
                | AdapterError::Tls { .. }
                | AdapterError::Mistake(_)
                | AdapterError::ResetRefused(_)
                | AdapterError::Start { .. })
        );
    }

    /// Begins a run if the reset succeeded; otherwise the caller has its error.
    pub(super) fn begin_run(&mut self, reset: &Result<(), AdapterError>) {
        self.told = reset.is_err();
    }

    /// Notes that the system was alive at a reset.
    pub(super) fn record_survival(&mut self) {
        self.in_a_row = 0;
    }

    /// Counts an end found at a reset, described by `how`. Returns whether the system has now ended unseen at
    /// [`ALWAYS`] resets in a row; false if the caller knows of the end already.
    pub(super) fn count_end(&mut self, how: &str) -> bool {
        if self.told {
            return false;
        }
        self.in_a_row += 1;
        self.add(Some(how.to_owned()));
        self.in_a_row >= ALWAYS
    }

    /// Adds an end to be reported by [`take_text`](Self::take_text); an end of a further kind is dropped once
    /// [`MAX_KINDS`] are kept.
    pub(super) fn add(&mut self, how: Option<String>) {
        let Some(how) = how else { return };
        match self.untold.iter().position(|(other, _)| *other == how) {
            Some(at) => self.untold[at].1 += 1,
            None if self.untold.len() < MAX_KINDS => self.untold.push((how, 1)),
            None => (),
        }
    }

    /// Returns the ends collected since the last call as one text, and forgets them; `None` if there were none.
    pub(super) fn take_text(&mut self) -> Option<String> {
        let told = self.untold.drain(..).map(|(how, times)| match times {
            1 => how,
            times => format!("{how} ({times} times)"),
        });
        let told: Vec<String> = told.collect();
        (!told.is_empty()).then(|| told.join("; "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_that_a_run_has_seen_is_not_told_again() {
        let mut ends = SystemEnds::default();
        ends.record_result::<()>(&Err(AdapterError::Ended { status: "exit status: 1".into() }));
        assert!(!ends.count_end("it ended"));
        assert_eq!(ends.take_text(), None);
    }

    #[test]
    fn ends_that_nobody_saw_are_told_and_counted() {
        let mut ends = SystemEnds::default();
        assert!(!ends.count_end("it ended"));
        ends.begin_run(&Ok(()));
        assert!(ends.count_end("it ended"));
        assert_eq!(ends.take_text().as_deref(), Some("it ended (2 times)"));
        ends.record_survival();
        assert!(!ends.count_end("it ended"));
    }
}
