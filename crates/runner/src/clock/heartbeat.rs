//! The pace of this machine: a thread that wants to wake up often measures how late it does.
//!
//! A tester that gets no processor reads messages late and would blame the system for it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Between two beats.
const BEAT: Duration = Duration::from_millis(4);

/// A thread that beats until this is dropped.
#[derive(Debug)]
pub struct Heartbeat {
    shared: Arc<SharedBeat>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct SharedBeat {
    start: Instant,
    stop: AtomicBool,
    /// The time of the last beat, in microseconds since the start.
    last: AtomicU64,
    /// The longest time between two beats beyond the one wanted, in microseconds.
    longest: AtomicU64,
}

impl Heartbeat {
    /// Beats from now on.
    #[must_use]
    pub fn start() -> Self {
        let (stop, last, longest) = Default::default();
        let shared = Arc::new(SharedBeat { start: Instant::now(), stop, last, longest });
        let its = Arc::clone(&shared);
        let thread = thread::Builder::new().name("heartbeat".into()).spawn(move || its.beat()).ok();
        Self { shared, thread }
    }

    /// Returns the longest time for which this machine did not run the thread, a stall that has just ended included:
    /// the caller may have woken up first.
    #[must_use]
    pub fn longest(&self) -> Duration {
        let last = Duration::from_micros(self.shared.last.load(Ordering::Relaxed));
        let since = self.shared.start.elapsed().saturating_sub(last).saturating_sub(BEAT);
        Duration::from_micros(self.shared.longest.load(Ordering::Relaxed)).max(since)
    }
}

impl SharedBeat {
    fn beat(&self) {
        let micros = |time: Duration| u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        while !self.stop.load(Ordering::Relaxed) {
            thread::sleep(BEAT);
            let now = self.start.elapsed();
            let last = Duration::from_micros(self.last.load(Ordering::Relaxed));
            let late = now.saturating_sub(last).saturating_sub(BEAT);
            self.longest.fetch_max(micros(late), Ordering::Relaxed);
            self.last.store(micros(now), Ordering::Relaxed);
        }
    }
}

impl Drop for Heartbeat {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // It sleeps no longer than a beat.
            thread.join().ok();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_is_known_before_the_next_beat() {
        let shared = Arc::new(SharedBeat {
            start: Instant::now() - Duration::from_secs(3),
            stop: AtomicBool::new(false),
            last: AtomicU64::new(1_000_000),
            longest: AtomicU64::new(7),
        });
        // Nobody beats: the last time was two seconds ago.
        let beat = Heartbeat { shared, thread: None };
        assert!(beat.longest() >= Duration::from_millis(1_900), "{:?}", beat.longest());
    }
}
