//! The processor time of a process and of the processes that it started and waited for.

use std::fs;
use std::process::Child;
use std::time::Duration;

use rustix::process::{Pid, WaitId, WaitIdOptions};

/// The length of a clock tick in `/proc`: Linux shows 100 a second to programs, whatever the kernel counts in.
const TICK: Duration = Duration::from_millis(10);

/// Waits until `child` has ended, without reaping it, and returns its processor time; `None` where there is no `/proc`.
pub fn wait_for_end(child: &Child) -> Option<Duration> {
    let pid = Pid::from_child(child);
    // A process that is not reaped yet still has its line in /proc, with the final figures.
    while rustix::process::waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT).is_err() {
        // Only an interrupted call is worth another one: the caller waits in every case.
        if rustix::process::test_kill_process(pid).is_err() {
            return None;
        }
    }
    read(&fs::read_to_string(format!("/proc/{}/stat", child.id())).ok()?)
}

/// Reads the times of a process and of its children, user and system, from its line in `/proc`.
fn read(stat: &str) -> Option<Duration> {
    // The name of the program stands in parentheses and may contain anything; the state is the first field behind it.
    let fields = stat.rsplit_once(')')?.1;
    let ticks: Vec<u32> = fields.split_whitespace().skip(11).take(4).map_while(|n| n.parse().ok()).collect();
    (ticks.len() == 4).then(|| TICK * ticks.iter().sum())
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn the_processor_time_is_read() {
        let stat = "7 (a) b) Z 1 7 7 0 -1 4 0 0 0 0 10 20 300 4000 20 0 1 0 5 0 0";
        assert_eq!(read(stat), Some(Duration::from_millis(43_300)));
        assert_eq!(read("7 (a) Z 1 7"), None);
        assert_eq!(read(""), None);
    }

    #[test]
    fn a_process_that_worked_has_processor_time() {
        let script = "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done";
        let mut child =
            Command::new("sh").args(["-c", script]).stdin(Stdio::null()).spawn().expect("sh starts");
        let time = wait_for_end(&child);
        assert!(child.wait().expect("it is reaped").success());
        if cfg!(target_os = "linux") {
            assert!(time.expect("Linux tells it") > Duration::ZERO);
        }
    }
}
