//! The share of the processors that is idle: most tests wait for systems that they start, so more of them run at once
//! than there are cores, as long as the cores have nothing else to do.

use std::fs;

/// The time that all processors together were idle, and all their time, since the machine started, in clock ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProcessorTimes {
    idle: u64,
    total: u64,
}

impl ProcessorTimes {
    /// The times until now; `None` where the system does not tell them (other than Linux).
    pub fn now() -> Option<Self> {
        Self::read(&fs::read_to_string("/proc/stat").ok()?)
    }

    /// Reads the first line of `/proc/stat`: `cpu user nice system idle iowait irq softirq steal guest guest_nice`.
    fn read(text: &str) -> Option<Self> {
        let numbers = text.lines().next()?.strip_prefix("cpu ")?;
        // Guests are counted in `user` and `nice` already.
        let times: Vec<u64> = numbers.split_whitespace().take(8).map_while(|n| n.parse().ok()).collect();
        let idle = times.get(3)? + times.get(4)?;
        Some(Self { idle, total: times.iter().sum() })
    }

    /// The share of idle time since `before`, from 0 to 1; `None` if no time passed.
    pub fn idle_share_since(self, before: Self) -> Option<f64> {
        let total = self.total.checked_sub(before.total).filter(|&ticks| ticks > 0)?;
        // Waiting for disks may be taken back by some kernels.
        Some(self.idle.saturating_sub(before.idle) as f64 / total as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_idle_share_is_read() {
        let before = ProcessorTimes::read("cpu  10 0 10 70 10 0 0 0 5 0\ncpu0 1 2 3 4").expect("times");
        assert_eq!(before, ProcessorTimes { idle: 80, total: 100 });
        let after = ProcessorTimes::read("cpu  25 0 15 130 30 0 0 0 5 0\n").expect("times");
        assert_eq!(after.idle_share_since(before), Some(0.8));
        assert_eq!(before.idle_share_since(before), None);
        assert_eq!(before.idle_share_since(after), None);
        assert_eq!(ProcessorTimes::read("intr 1 2 3"), None);
        assert_eq!(ProcessorTimes::read("cpu  1 2"), None);
    }
}
