//! Ctrl-C: the one handler of the program, and the flag that everything long looks at.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::exit::ExitStatus;

/// True once the command is to end, by Ctrl-C or a deadline; what was done is kept.
pub static STOP: AtomicBool = AtomicBool::new(false);

/// True if nothing is left to be written.
static IS_WRITTEN: AtomicBool = AtomicBool::new(false);

/// The number of times Ctrl-C was pressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CtrlC {
    /// For the first time: end in good order.
    First,
    /// Again: end at once.
    Again,
}

/// Calls `react` at every Ctrl-C, and other requests to end, from now on. Only the first handler counts: where one is
/// set already, nothing changes.
pub fn on_interrupt(mut react: impl FnMut(CtrlC) + Send + 'static) {
    let _ = ctrlc::set_handler(move || {
        let is_again = STOP.swap(true, Ordering::Relaxed);
        react(if is_again { CtrlC::Again } else { CtrlC::First });
    });
}

/// The first Ctrl-C asks the command to end, the second ends the program.
pub fn catch_interrupts() {
    on_interrupt(|which| match which {
        CtrlC::First if IS_WRITTEN.load(Ordering::Relaxed) => (),
        CtrlC::First => eprintln!("\nending and writing what was done; once more to stop at once"),
        CtrlC::Again => end_at_once(),
    });
}

/// Notes that everything is written, so that Ctrl-C does not announce it any more.
pub fn all_is_written() {
    IS_WRITTEN.store(true, Ordering::Relaxed);
}

/// Ends the program as interrupted.
pub fn end_at_once() -> ! {
    std::process::exit(ExitStatus::Interrupted as i32)
}
