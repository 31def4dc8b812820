//! Waits for a message: how long silence must last before it is believed.
//!
//! A wait is extended by the scheduling lag of this machine during it ([`crate::clock::lag`]): the system is given the
//! same time as on an idle machine. A system that has said nothing since it was started or connected to is cold: its
//! first reply may take as long as its time limit before silence is a failure.
//!
//! *Promises.* A wait is never shortened. Where the lag exceeds [`MAX_EXTENSION`] times the wait nothing is known of
//! silence, and that is no failure.

use std::time::{Duration, Instant};

use ioxide_wire::adapter::{AdapterError, Observation};

use super::RunLoop;

/// The greatest extension of a wait, as a multiple of it: a machine that serves a tester for less than a tenth of the
/// time says nothing about silence. Chosen by feel; nothing else depends on it.
const MAX_EXTENSION: u32 = 9;
/// The longest rest of an extension that is not waited for. Chosen by feel: sleeping is not more exact than that.
const MIN_EXTENSION: Duration = Duration::from_millis(1);
/// The factor by which the wait for a first reply exceeds the longest one seen, where it follows from these. Chosen
/// by feel: first replies vary more than others, as caches are cold.
const FIRST_REPLY_MARGIN: u32 = 4;

/// The rule for how long a first reply is awaited before silence is a failure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FirstReplyWait {
    /// The time limit of the system.
    #[default]
    Limit,
    /// Four times the longest first reply seen, at most the time limit of the system: for the repetitions of a failure
    /// that was established with the whole limit.
    Learnt,
}

/// The ways in which a busy machine changed what a run waited for and tolerated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LagEffect {
    /// The longest extension of a wait for silence.
    pub waits: Duration,
    /// The largest widening of the tolerance of instants that changed a verdict.
    pub tolerance: Duration,
}

impl LagEffect {
    /// Returns the larger of each.
    #[must_use]
    pub fn max(self, other: Self) -> Self {
        Self { waits: self.waits.max(other.waits), tolerance: self.tolerance.max(other.tolerance) }
    }
}

/// The result of a wait.
pub(super) struct WaitResult {
    pub(super) seen: Observation,
    /// True if the lag was so large that silence means nothing.
    pub(super) is_starved: bool,
}

impl RunLoop<'_, '_, '_> {
    /// Waits for a message for `time`, and longer by the lag of this machine meanwhile.
    pub(super) fn wait_for_message(&mut self, time: Duration) -> Result<WaitResult, AdapterError> {
        let before = self.timing.lag_so_far();
        let most = time.saturating_mul(MAX_EXTENSION);
        let (mut left, mut extended) = (time, Duration::ZERO);
        loop {
            let from = Instant::now();
            let seen = self.setup.adapter.observe(left);
            self.timing.spent.add_wait(from, matches!(seen, Ok(Observation::Quiet)));
            let seen = seen?;
            let lag = self.timing.lag_so_far().saturating_sub(before);
            left = lag.min(most).saturating_sub(extended);
            if seen != Observation::Quiet || left <= MIN_EXTENSION || self.setup.adapter.knows_silence() {
                return Ok(WaitResult { seen, is_starved: lag > most && !most.is_zero() });
            }
            extended += left;
            self.timing.lag_effect.waits = self.timing.lag_effect.waits.max(extended);
        }
    }

    /// Returns the time for which a cold system is awaited before its silence is a failure; zero for one that has
    /// spoken.
    pub(super) fn first_reply_wait(&self) -> Duration {
        let Some(limit) = self.setup.adapter.first_reply_limit() else { return Duration::ZERO };
        match (self.config.first_reply, self.config.patience.longest_first_reply()) {
            (FirstReplyWait::Limit, _) => limit,
            (FirstReplyWait::Learnt, longest) => longest.saturating_mul(FIRST_REPLY_MARGIN).min(limit),
        }
    }

    /// Returns the instant up to which a message may show that a silence since `from` was called too early.
    pub(super) fn confirmed_at(&self, from: Instant, patience: Duration) -> Instant {
        let patience = self.confirming_patience().max(patience);
        let confirmed = patience.saturating_mul(self.config.confirm).max(self.first_reply_wait());
        from.checked_add(confirmed).unwrap_or(from)
    }
}
