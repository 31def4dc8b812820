//! Whether this machine keeps pace: a thread that wants to wake up often, and notes how late it did.
//!
//! A tester that gets no processor reads messages late and would blame the system for it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Between two beats.
const BEAT: Duration = Duration::from_millis(4);

/// Beats until it is dropped.
#[derive(Debug)]
pub struct Heartbeat {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Shared {
    stop: AtomicBool,
    /// The longest time between two beats beyond the one wanted, in microseconds.
    longest: AtomicU64,
}

impl Heartbeat {
    /// Beats from now on.
    #[must_use]
    pub fn start() -> Self {
        let shared = Arc::new(Shared::default());
        let its = Arc::clone(&shared);
        let thread = thread::Builder::new().name("heartbeat".into()).spawn(move || its.beat()).ok();
        Self { shared, thread }
    }

    /// The longest time for which nobody could run.
    #[must_use]
    pub fn longest(&self) -> Duration {
        Duration::from_micros(self.shared.longest.load(Ordering::Relaxed))
    }
}

impl Shared {
    fn beat(&self) {
        let mut last = Instant::now();
        while !self.stop.load(Ordering::Relaxed) {
            thread::sleep(BEAT);
            let now = Instant::now();
            let late = now.duration_since(last).saturating_sub(BEAT);
            self.longest.fetch_max(u64::try_from(late.as_micros()).unwrap_or(u64::MAX), Ordering::Relaxed);
            last = now;
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
