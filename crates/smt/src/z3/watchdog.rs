//! The watchdog: interrupts Z3 when a question is past its deadline, and only then.
//!
//! It is armed for the time of a check. Arming and disarming take one uncontended lock and wake no thread: the thread
//! sleeps until the earliest deadline it knows of, and looks up the current one when it wakes.
//!
//! *Promises* that no interrupt is sent after [`WatchedCheck::disarm`] has returned.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::context::Interrupter;
use crate::backend::Stopper;
use crate::solver::UnknownReason;

/// The time after which an interrupt is repeated: Z3 can miss one between two phases. Chosen by feel.
const REPEAT_INTERVAL: Duration = Duration::from_millis(5);

/// The owner of the watching thread, which starts with the first question.
#[derive(Debug)]
pub struct Watchdog {
    shared: Arc<SharedWatch>,
    started: bool,
}

#[derive(Debug)]
struct SharedWatch {
    state: Mutex<WatchState>,
    wake: Condvar,
}

#[derive(Debug)]
struct WatchState {
    target: Option<Interrupter>,
    /// True while a check runs, whether or not it has a deadline.
    is_running: bool,
    /// The instant at which the running check must end; `None` if no check runs, or its limit is beyond the range of
    /// the clock.
    deadline: Option<Instant>,
    /// The instant at which the thread will wake by itself; `None` if it waits for a notification.
    wakes_at: Option<Instant>,
    /// True if a stopper asked for an early end.
    stopped: bool,
    /// The reason for which the check was interrupted; `None` if it was not.
    fired: Option<UnknownReason>,
    quit: bool,
}

/// A running check; ends with [`disarm`](Self::disarm).
#[must_use = "an armed watchdog must be disarmed before values are read"]
pub struct WatchedCheck<'w> {
    shared: &'w SharedWatch,
}

impl Default for Watchdog {
    fn default() -> Self {
        Self::new()
    }
}

impl Watchdog {
    /// A watchdog without a context to watch.
    pub fn new() -> Self {
        let state = WatchState {
            target: None,
            is_running: false,
            deadline: None,
            wakes_at: None,
            stopped: false,
            fired: None,
            quit: false,
        };
        Self {
            shared: Arc::new(SharedWatch { state: Mutex::new(state), wake: Condvar::new() }),
            started: false,
        }
    }

    /// Sets the context to watch.
    pub(super) fn watch(&mut self, target: Option<Interrupter>) {
        self.shared.lock().target = target;
    }

    /// Starts a check that is interrupted after `wall`.
    pub fn arm(&mut self, wall: Duration) -> WatchedCheck<'_> {
        self.start_thread();
        let now = Instant::now();
        // A limit beyond the clock's range is no limit.
        let deadline = now.checked_add(wall);
        let mut state = self.shared.lock();
        state.is_running = true;
        state.deadline = deadline;
        state.stopped = false;
        state.fired = None;
        // Only if the thread would sleep past the deadline. Most checks end long before, and then it is never woken.
        if deadline.is_some() && state.wakes_at.is_none_or(|at| deadline.is_some_and(|it| it < at)) {
            self.shared.wake.notify_one();
        }
        drop(state);
        WatchedCheck { shared: &self.shared }
    }

    /// Returns a handle that ends the running check now, if there is one.
    pub fn stopper(&self) -> Stopper {
        let shared = Arc::clone(&self.shared);
        Box::new(move || {
            let mut state = shared.lock();
            if state.is_running {
                // The thread sends the interrupt, so that there is one place only which does, and it repeats it.
                state.deadline = Some(Instant::now());
                state.stopped = true;
                shared.wake.notify_one();
            }
        })
    }

    fn start_thread(&mut self) {
        if !self.started {
            self.started = true;
            let shared = Arc::clone(&self.shared);
            // The thread holds the shared state and not the owner, so that dropping the owner ends it.
            // Without a thread there is no deadline, but answers are still right.
            let _ = thread::Builder::new().name("z3-watchdog".into()).spawn(move || shared.run_watch_loop());
        }
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        let mut state = self.shared.lock();
        state.quit = true;
        state.target = None;
        self.shared.wake.notify_one();
    }
}

impl SharedWatch {
    /// Locks the state; a thread that panicked leaves it usable.
    pub fn lock(&self) -> MutexGuard<'_, WatchState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn run_watch_loop(&self) {
        let mut state = self.lock();
        while !state.quit {
            let now = Instant::now();
            let pause = match state.deadline {
                None => None,
                Some(deadline) if now < deadline => Some(deadline - now),
                Some(_) => {
                    state.interrupt();
                    Some(REPEAT_INTERVAL)
                }
            };
            state.wakes_at = pause.map(|pause| now + pause);
            state = match pause {
                None => self.wake.wait(state).unwrap_or_else(PoisonError::into_inner),
                Some(pause) => self.wake.wait_timeout(state, pause).unwrap_or_else(PoisonError::into_inner).0,
            };
        }
    }
}

impl WatchState {
    /// Interrupts the running check, and notes why.
    fn interrupt(&mut self) {
        self.fired = Some(if self.stopped { UnknownReason::Interrupted } else { UnknownReason::Time });
        if let Some(target) = &self.target {
            target.interrupt();
        }
    }
}

impl WatchedCheck<'_> {
    /// Returns whether the check was interrupted.
    pub fn is_interrupted(&self) -> bool {
        self.shared.lock().fired.is_some()
    }

    /// Ends the check and returns the reason if it was interrupted.
    pub fn disarm(self) -> Option<UnknownReason> {
        let mut state = self.shared.lock();
        state.is_running = false;
        state.deadline = None;
        state.fired.take()
    }
}
