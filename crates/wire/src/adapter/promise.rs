//! The promise that every input is answered by one message, and that nothing else comes.
//!
//! The description of a system makes it (`synchronous = true`). It is believed as long as it is kept: once the last
//! input is answered, nothing is waited for before the next one. It is no proof of silence. A run still waits before it
//! calls a silence a failure, and a message that comes unasked ends the belief for the rest of the campaign.

use super::{AdapterError, ArrivedOutput, Observation, SentInput};

/// The inputs without an answer, and whether the promise was kept so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ReplyPromise {
    unanswered: u64,
    is_broken: bool,
}

impl ReplyPromise {
    /// Forgets the inputs of the run before.
    pub(super) fn begin_run(&mut self) {
        self.unanswered = 0;
    }

    /// Counts an input, and the outputs that came while it was sent.
    pub(super) fn count_input(&mut self, sent: &Result<SentInput, AdapterError>) {
        self.unanswered += 1;
        if let Ok(sent) = sent {
            sent.earlier.iter().for_each(|_| self.count_output());
        }
    }

    /// Counts what was seen after waiting.
    pub(super) fn count_observation(&mut self, seen: &Result<Observation, AdapterError>, has_waited: bool) {
        match seen {
            Ok(Observation::Output(_)) => self.count_output(),
            // The input has no answer; those of later inputs are not to be taken for it.
            Ok(Observation::Quiet) if has_waited => self.unanswered = 0,
            Ok(Observation::Quiet) | Err(_) => (),
        }
    }

    /// Counts what had arrived already.
    pub(super) fn count_arrived(&mut self, arrived: &Result<Option<ArrivedOutput>, AdapterError>) {
        if let Ok(Some(_)) = arrived {
            self.count_output();
        }
    }

    fn count_output(&mut self) {
        match self.unanswered.checked_sub(1) {
            Some(left) => self.unanswered = left,
            None => self.is_broken = true,
        }
    }

    /// Returns whether nothing is to come before the next input.
    pub(super) fn expects_silence(self) -> bool {
        !self.is_broken && self.unanswered == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn silence_is_expected_between_an_answer_and_the_next_input_until_the_promise_is_broken() {
        let mut promise = ReplyPromise::default();
        let message = || {
            let label = ioxide_model::label::Label::Quiescence;
            Ok(Observation::Output(ArrivedOutput::from(label)))
        };
        assert!(promise.expects_silence());
        promise.count_input(&Ok(SentInput::default()));
        assert!(!promise.expects_silence(), "an answer is to come");
        promise.count_observation(&Ok(Observation::Quiet), false);
        assert!(!promise.expects_silence(), "nobody has waited");
        promise.count_observation(&message(), true);
        assert!(promise.expects_silence());
        promise.count_input(&Ok(SentInput::default()));
        promise.count_observation(&Ok(Observation::Quiet), true);
        assert!(promise.expects_silence(), "the input has no answer, which was waited for");
        promise.count_observation(&message(), true);
        promise.begin_run();
        assert!(!promise.expects_silence(), "a message came unasked");
    }
}
