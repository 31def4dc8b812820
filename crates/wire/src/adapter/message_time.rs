//! The time that a message may take from its first byte to its last.
//!
//! *Promises.* While bytes keep coming, a message is waited for, up to a total limit. One that still comes then gives
//! no verdict: it is not known whether the system is slow or the tester. One that has begun and stops is never silence.

use std::time::{Duration, Instant};

use super::{AdapterError, AwaitedPart};

/// The longest time of a message from its first byte to its last, if nothing else is said; chosen by feel: a minute is
/// more than any message of a test takes that is not stuck.
const DEFAULT_TOTAL: Duration = Duration::from_secs(60);

/// The wait for more bytes before a message is said to have stopped: this program may have been stopped itself, and
/// what came meanwhile needs a moment to get here.
pub(super) const LAST_LOOK: Duration = Duration::from_millis(100);

/// The time limits of a message that has begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MessageLimits {
    /// The longest pause between two bytes; after it, the message has stopped.
    pub pause: Duration,
    /// The longest time from the first byte to the last, however steadily the bytes come.
    pub total: Duration,
}

impl MessageLimits {
    /// The limits of a message with pauses of up to `pause`; `total` is the default where `None`.
    #[must_use]
    pub fn new(pause: Duration, total: Option<Duration>) -> Self {
        Self { pause, total: total.unwrap_or_else(|| DEFAULT_TOTAL.max(pause)) }
    }

    /// Returns the same limits with pauses at least as long as the wait up to `deadline`: a message that may begin so
    /// late may also pause so long.
    pub(super) fn until(self, deadline: Instant) -> Self {
        Self { pause: self.pause.max(deadline.saturating_duration_since(Instant::now())), ..self }
    }
}

/// The arrival of the bytes of a message that is incomplete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct MessageArrival {
    /// The arrival of the first byte.
    pub(super) first: Instant,
    /// The arrival of the last byte so far.
    pub(super) last: Instant,
}

/// The state of an incomplete message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MessageProgress {
    /// More is awaited.
    Waiting,
    /// No byte has come for the longest pause.
    Stopped,
    /// Bytes come, and the total time is over.
    Dripping,
}

impl MessageArrival {
    /// A message whose first bytes came at `at`.
    pub(super) const fn begin_at(at: Instant) -> Self {
        Self { first: at, last: at }
    }

    /// Notes that more bytes came at `at`.
    pub(super) fn record_bytes(arrival: &mut Option<Self>, at: Instant) {
        match arrival {
            Some(arrival) => arrival.last = at,
            None => *arrival = Some(Self::begin_at(at)),
        }
    }

    /// Returns the state of the message now.
    pub(super) fn progress(&self, limits: MessageLimits) -> MessageProgress {
        // A pause is measured up to now and not to the total limit: whoever has stopped has stopped, however late
        // that is noticed.
        if self.last.elapsed() >= limits.pause {
            MessageProgress::Stopped
        } else if self.first.elapsed() >= limits.total {
            MessageProgress::Dripping
        } else {
            MessageProgress::Waiting
        }
    }

    /// Returns whether its last byte came when the total time was over.
    pub(super) fn is_dripping(&self, limits: MessageLimits) -> bool {
        self.last >= self.first + limits.total
    }

    /// Returns the instant at which it has stopped or its total time is over, if nothing more comes.
    pub(super) fn deadline(&self, limits: MessageLimits) -> Instant {
        (self.last + limits.pause).min(self.first + limits.total)
    }
}

/// Returns the error for a message that still arrives when its total time is over.
pub(super) const fn dripping(limits: MessageLimits) -> AdapterError {
    AdapterError::Late { awaited: AwaitedPart::MessageEnd, limit: limits.total }
}
