//! The messages of a connection that the model does not see, until the run reports them.

use ioxide_record::line::cut;

use super::UnsolicitedMessage;

/// Messages kept between two reports. Chosen by feel: a system that sends more in one step repeats itself.
const MAX_KEPT: usize = 64;
/// Characters kept of a message and of its answer. Chosen by feel, for one line of a report.
const MAX_TEXT: usize = 400;

/// Messages that the model does not see.
#[derive(Debug, Default)]
pub(super) struct UnsolicitedLog(Vec<UnsolicitedMessage>);

impl UnsolicitedLog {
    /// Adds a message; drops it if many are kept already.
    pub(super) fn add(&mut self, message: UnsolicitedMessage) {
        if self.0.len() < MAX_KEPT {
            let UnsolicitedMessage { text, answer, connection } = message;
            let answer = answer.map(|answer| cut(&answer, MAX_TEXT));
            self.0.push(UnsolicitedMessage { text: cut(&text, MAX_TEXT), answer, connection });
        }
    }

    /// Returns the messages and forgets them.
    pub(super) fn take(&mut self) -> Vec<UnsolicitedMessage> {
        std::mem::take(&mut self.0)
    }
}
