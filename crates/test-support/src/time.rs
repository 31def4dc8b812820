//! The time that a computation takes, however busy the machine is.

use std::time::{Duration, Instant};

/// A clock that stands while other programs have the processor, where the system reports that (Linux); elsewhere it is
/// an ordinary clock. It sees the work of the thread that started it.
#[derive(Clone, Copy, Debug)]
pub struct WorkClock {
    work: Option<Duration>,
    started_at: Instant,
}

impl WorkClock {
    /// Starts the clock.
    pub fn start() -> Self {
        Self { work: thread_work(), started_at: Instant::now() }
    }

    /// The time this thread has worked since the start.
    pub fn elapsed(&self) -> Duration {
        match (self.work, thread_work()) {
            (Some(begin), Some(now)) => now.saturating_sub(begin),
            _ => self.started_at.elapsed(),
        }
    }
}

/// The time that this thread has had the processor, in hundredths of a second.
fn thread_work() -> Option<Duration> {
    let stat = std::fs::read_to_string("/proc/thread-self/stat").ok()?;
    // The second field, the name of the thread, is in parentheses and may hold anything.
    let (_, fields) = stat.rsplit_once(')')?;
    // Fields 14 and 15 of the line: in user mode and in the system. The kernel counts 100 ticks a second for programs.
    let ticks: u64 = fields.split_whitespace().skip(11).take(2).filter_map(|it| it.parse::<u64>().ok()).sum();
    Some(Duration::from_millis(10 * ticks))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(target_os = "linux")]
    #[test]
    fn the_clock_sees_work_and_no_waiting() {
        let clock = WorkClock::start();
        std::thread::sleep(Duration::from_millis(300));
        assert!(clock.elapsed() < Duration::from_millis(300), "{:?}", clock.elapsed());
        // It ends on any machine: work is counted sooner or later.
        while clock.elapsed() < Duration::from_millis(50) {
            std::hint::black_box((0..10_000u64).sum::<u64>());
        }
    }
}
