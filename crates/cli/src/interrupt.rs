//! Requests to end: Ctrl-C, SIGTERM and SIGHUP are one path, with the flag that everything long looks at.
//!
//! *Promises.* The first request of whichever kind lets the command end in good order: the step under way is completed,
//! what was done is written, reports included. A second one ends the program at once. A SIGHUP that was ignored
//! when the program was started (`nohup`) stays ignored. When the terminal hangs up, nothing is written to it any more,
//! and files are.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::exit::ExitStatus;

/// True once the command is to end, by a request or a deadline; what was done is kept.
pub static STOP: AtomicBool = AtomicBool::new(false);

/// True if nothing is left to be written.
static IS_WRITTEN: AtomicBool = AtomicBool::new(false);

/// True once a handler listens.
static IS_HANDLED: AtomicBool = AtomicBool::new(false);

/// True if this process alone was asked to end, so that its children do not know of it.
static IS_FOR_US_ALONE: AtomicBool = AtomicBool::new(false);

/// The number of requests to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndRequest {
    /// The first one: end in good order.
    First,
    /// A further one: end at once.
    Again,
}

/// Calls `react` at every request to end from now on. Only the first handler counts: where one is set already, nothing
/// changes.
pub fn on_interrupt(mut react: impl FnMut(EndRequest) + Send + 'static) {
    if IS_HANDLED.swap(true, Ordering::Relaxed) {
        return;
    }
    requests::listen(move || {
        let is_again = STOP.swap(true, Ordering::Relaxed);
        react(if is_again { EndRequest::Again } else { EndRequest::First });
    });
}

/// The first request asks the command to end, the second ends the program.
pub fn catch_interrupts() {
    on_interrupt(|which| match which {
        EndRequest::First if IS_WRITTEN.load(Ordering::Relaxed) => (),
        EndRequest::First => eprintln!("\nstopping and saving the results; Ctrl-C again stops immediately"),
        EndRequest::Again => end_at_once(),
    });
}

/// Notes that everything is written, so that a request to end does not announce it any more.
pub fn all_is_written() {
    IS_WRITTEN.store(true, Ordering::Relaxed);
}

/// Returns whether children have to be asked to end as well: only this process was.
pub fn is_for_us_alone() -> bool {
    IS_FOR_US_ALONE.load(Ordering::Relaxed)
}

/// Ends the program as interrupted.
pub fn end_at_once() -> ! {
    std::process::exit(ExitStatus::Interrupted as i32)
}

#[cfg(unix)]
mod requests {
    //! The signals that ask a program to end.

    use std::fs::{self, File};
    use std::io::{self, IsTerminal};
    use std::sync::atomic::Ordering;
    use std::thread;

    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    use signal_hook::iterator::Signals;

    use super::IS_FOR_US_ALONE;

    /// Calls `react` at every signal that asks the program to end. Where no handler can be set, signals end the program
    /// as they always do.
    pub(super) fn listen(mut react: impl FnMut() + Send + 'static) {
        let hangup = (!is_ignored(SIGHUP)).then_some(SIGHUP);
        let Ok(mut signals) = Signals::new([SIGINT, SIGTERM].into_iter().chain(hangup)) else { return };
        thread::spawn(move || {
            for signal in &mut signals {
                if signal == SIGHUP {
                    leave_terminal();
                }
                // Ctrl-C and a terminal that hangs up reach the children too.
                IS_FOR_US_ALONE.fetch_or(signal == SIGTERM, Ordering::Relaxed);
                react();
            }
        });
    }

    /// Returns whether this process ignores `signal`, as one started by `nohup` does; false where the system does not
    /// tell.
    fn is_ignored(signal: i32) -> bool {
        let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
        let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
        let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
        mask & (1 << (signal - 1)) != 0
    }

    /// Lets what is written to the terminal vanish: a terminal that is gone refuses it, and files are still to be
    /// written.
    fn leave_terminal() {
        let Ok(nowhere) = File::options().write(true).open("/dev/null") else { return };
        if io::stderr().is_terminal() {
            let _ = rustix::stdio::dup2_stderr(&nowhere);
        }
        if io::stdout().is_terminal() {
            let _ = rustix::stdio::dup2_stdout(&nowhere);
        }
    }
}

#[cfg(not(unix))]
mod requests {
    //! Ctrl-C and what the system sends when the console is closed.

    /// Calls `react` at every request to end. Where no handler can be set, requests end the program as they always do.
    pub(super) fn listen(react: impl FnMut() + Send + 'static) {
        let _ = ctrlc::set_handler(react);
    }
}
