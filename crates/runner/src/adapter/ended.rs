//! Ends that nobody was told of: a system that ends between two runs, or at its reset.
//!
//! Whoever starts it again must tell. An end that a run has seen is told there; the others are counted
//! here. Once may be the lawful end of the run before, which it did not wait for; a system that has
//! ended at reset after reset has no reset.

use super::AdapterError;

/// Unseen ends in a row after which a system is one that always ends.
const ALWAYS: u32 = 2;
/// Different ends remembered.
const MAX_KINDS: usize = 3;

/// The ends of one system.
#[derive(Debug, Default)]
pub(super) struct SystemEnds {
    /// The caller knows that something went wrong since the last reset.
    told: bool,
    in_a_row: u32,
    /// What is to be told, and how often it happened.
    untold: Vec<(String, u32)>,
}

impl SystemEnds {
    /// The caller gets `result`.
    pub(super) fn note<T>(&mut self, result: &Result<T, AdapterError>) {
        self.told |= matches!(
            result,
            Err(AdapterError::Ended { .. }
                | AdapterError::Closed
                | AdapterError::Unreadable { .. }
                | AdapterError::TooLarge { .. }
                | AdapterError::Protocol { .. }
                | AdapterError::Broken(_)
                | AdapterError::Unknown(_)
                | AdapterError::Late { .. }
                | AdapterError::Start { .. })
        );
    }

    /// A run begins, if the reset went well; else the caller knows.
    pub(super) fn begun(&mut self, reset: &Result<(), AdapterError>) {
        self.told = reset.is_err();
    }

    /// The system was alive at a reset.
    pub(super) fn survived(&mut self) {
        self.in_a_row = 0;
    }

    /// The system has ended at a reset, `how`; whether it always does, and nobody was told.
    pub(super) fn found(&mut self, how: &str) -> bool {
        if self.told {
            return false;
        }
        self.in_a_row += 1;
        self.add(Some(how.to_owned()));
        self.in_a_row >= ALWAYS
    }

    /// Another end to be told.
    pub(super) fn add(&mut self, how: Option<String>) {
        let Some(how) = how else { return };
        match self.untold.iter().position(|(other, _)| *other == how) {
            Some(at) => self.untold[at].1 += 1,
            None if self.untold.len() < MAX_KINDS => self.untold.push((how, 1)),
            None => (),
        }
    }

    /// What is to be told, once.
    pub(super) fn take(&mut self) -> Option<String> {
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
        ends.note::<()>(&Err(AdapterError::Ended { status: "exit status: 1".into() }));
        assert!(!ends.found("it ended"));
        assert_eq!(ends.take(), None);
    }

    #[test]
    fn ends_that_nobody_saw_are_told_and_counted() {
        let mut ends = SystemEnds::default();
        assert!(!ends.found("it ended"));
        ends.begun(&Ok(()));
        assert!(ends.found("it ended"));
        assert_eq!(ends.take().as_deref(), Some("it ended (2 times)"));
        ends.survived();
        assert!(!ends.found("it ended"));
    }
}
