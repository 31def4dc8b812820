//! The use of a campaign's time: waiting for replies, waiting in silence, starting and resetting, thinking.
//!
//! Measured on the monotonic clock of this machine, whatever time the model or the system has: it answers what the
//! seconds that somebody gave to a campaign were used for.

use std::ops::AddAssign;
use std::time::{Duration, Instant};

use ioxide_record::event::TimeSpentRecord;

/// The use of the time of a run or a campaign.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TimeSpent {
    /// Sending inputs and waiting for replies that came.
    pub replies: Duration,
    /// Waiting while the system was silent.
    pub silence: Duration,
    /// Starting and resetting the system.
    pub restarts: Duration,
    /// Choosing the next move.
    pub tester: Duration,
    /// Repeating and shrinking runs that failed.
    pub repeats: Duration,
    /// Everything else: judging, counting, writing the record.
    pub other: Duration,
}

impl TimeSpent {
    /// Returns the sum of all uses.
    #[must_use]
    pub fn total(&self) -> Duration {
        let Self { replies, silence, restarts, tester, repeats, other } = *self;
        [silence, restarts, tester, repeats, other].into_iter().fold(replies, Duration::saturating_add)
    }

    /// Adds a wait since `from`, which ended with a message or in silence.
    pub fn add_wait(&mut self, from: Instant, is_silent: bool) {
        let wait = if is_silent { &mut self.silence } else { &mut self.replies };
        *wait = wait.saturating_add(from.elapsed());
    }

    /// Returns the same with all that is missing up to `total` as other time.
    #[must_use]
    pub fn filled_up_to(self, total: Duration) -> Self {
        let missing = total.saturating_sub(self.total());
        Self { other: self.other.saturating_add(missing), ..self }
    }

    /// Returns the use of time for the record of a campaign that took `elapsed`.
    #[must_use]
    pub fn to_record(&self, elapsed: Duration) -> TimeSpentRecord {
        let ms = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        TimeSpentRecord {
            elapsed_ms: ms(elapsed),
            replies_ms: ms(self.replies),
            silence_ms: ms(self.silence),
            restarts_ms: ms(self.restarts),
            tester_ms: ms(self.tester),
            repeats_ms: ms(self.repeats),
            other_ms: ms(self.other),
        }
    }
}

impl AddAssign for TimeSpent {
    fn add_assign(&mut self, more: Self) {
        self.replies = self.replies.saturating_add(more.replies);
        self.silence = self.silence.saturating_add(more.silence);
        self.restarts = self.restarts.saturating_add(more.restarts);
        self.tester = self.tester.saturating_add(more.tester);
        self.repeats = self.repeats.saturating_add(more.repeats);
        self.other = self.other.saturating_add(more.other);
    }
}

impl From<TimeSpentRecord> for TimeSpent {
    fn from(told: TimeSpentRecord) -> Self {
        Self {
            replies: Duration::from_millis(told.replies_ms),
            silence: Duration::from_millis(told.silence_ms),
            restarts: Duration::from_millis(told.restarts_ms),
            tester: Duration::from_millis(told.tester_ms),
            repeats: Duration::from_millis(told.repeats_ms),
            other: Duration::from_millis(told.other_ms),
        }
    }
}
