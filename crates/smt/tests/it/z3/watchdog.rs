//! Tests of `z3::watchdog`.

use std::thread;
use std::time::{Duration, Instant};

use ioxide_smt::solver::UnknownReason;
use ioxide_smt::z3::watchdog::Watchdog;

/// The time within which the thread has surely noticed.
const SOON: Duration = Duration::from_secs(20);

#[test]
fn a_stopper_ends_a_check_with_any_limit() {
    for limit in [Duration::MAX, Duration::from_secs(3600)] {
        let mut watchdog = Watchdog::new();
        let stop = watchdog.stopper();
        // Nothing runs: there is nothing to stop, and the next check is not stopped in advance.
        stop();
        let running = watchdog.arm(limit);
        assert_eq!(running.disarm(), None, "{limit:?}");
        let running = watchdog.arm(limit);
        stop();
        let end = Instant::now() + SOON;
        while !running.is_interrupted() && Instant::now() < end {
            thread::sleep(Duration::from_millis(1));
        }
        assert_eq!(running.disarm(), Some(UnknownReason::Interrupted), "{limit:?}");
    }
}
