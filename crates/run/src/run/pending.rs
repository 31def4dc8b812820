//! The unsettled part of a run: inputs that were sent and not confirmed, messages that may have crossed, silences that
//! a late message may take back.

use std::collections::VecDeque;

use super::crossing::CrossedMessage;
use super::silence::Silences;

/// The parts of the conversation that later messages may still explain otherwise.
#[derive(Default)]
pub(super) struct PendingMessages {
    /// The messages that may have overtaken others.
    pub(super) crossed: VecDeque<CrossedMessage>,
    /// The silences that a late message may take back.
    pub(super) silences: Silences,
    /// True while an input is reported that was not confirmed at once.
    pub(super) is_under_way: bool,
    /// Inputs in a row that could not be written.
    pub(super) unwritten: u32,
}
