//! The first reply after a start, where nothing says whether the system has to reply.
//!
//! `test` knows from the model when silence is a failure, and awaits a first reply to its time limit only then. Whoever
//! learns or compares whole answers does not know it: a machine may be silent. So a first reply is awaited to the time
//! limit until one was seen, and then for a multiple of the longest.

use std::time::{Duration, Instant};

use ioxide_model::label::Label;
use ioxide_smt::halt::Halt;
use ioxide_wire::adapter::{Adapter, Observation};

use super::{AnswerError, check_halt};

/// The factor by which the wait for a first reply exceeds the longest one seen. Chosen by feel.
const MARGIN: u32 = 10;
/// The number of waits to the time limit in vain after which a system is taken for one that says nothing at first.
/// Chosen by feel.
const MAX_SILENT_WAITS: u32 = 3;
/// The time between two looks at the time limit of the command. Chosen by feel.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// The first replies seen so far.
#[derive(Clone, Debug, Default)]
pub struct FirstReply {
    longest: Duration,
    in_vain: u32,
}

impl FirstReply {
    /// Waits for the first reply of a system that has said nothing since it was started or connected to. Returns `None`
    /// if it has spoken already, or says nothing; that it is silent is to be seen by whoever listens on.
    ///
    /// # Errors
    /// If the connection fails, or the time is over.
    pub fn wait_for_reply(
        &mut self,
        adapter: &mut dyn Adapter,
        halt: &Halt,
    ) -> Result<Option<Label>, AnswerError> {
        let Some(limit) = adapter.first_reply_limit() else { return Ok(None) };
        let is_unknown = self.longest.is_zero() && self.in_vain < MAX_SILENT_WAITS;
        let wait = if is_unknown { limit } else { self.longest.saturating_mul(MARGIN).min(limit) };
        let start = Instant::now();
        loop {
            check_halt(halt)?;
            let left = wait.saturating_sub(start.elapsed());
            if left.is_zero() {
                self.in_vain += u32::from(is_unknown);
                return Ok(None);
            }
            if let Observation::Output(output) = adapter.observe(left.min(POLL_INTERVAL))? {
                self.longest = self.longest.max(start.elapsed());
                return Ok(Some(output.label));
            }
        }
    }
}
