//! The peak of this process's memory, on systems that provide it.

use std::fs;

/// Resets the peak; where the system cannot, peaks are those of the whole process.
pub fn forget_peak() {
    let _ = fs::write("/proc/self/clear_refs", "5");
}

/// Returns the most memory used since the last reset, in kilobytes.
pub fn peak_kb() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.split_whitespace().next()?.parse().ok()
}
