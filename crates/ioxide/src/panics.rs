//! Panics of the system in this process: caught, with the place where they happened.
//!
//! A panic says where it happened only to the hook of the process. Ours is put in front of the one that is there when the
//! first system acts: it keeps the place of a panic that is caught here, and leaves all others to the former hook. So a
//! search that repeats a panic a hundred times does not print it a hundred times.

use std::any::Any;
use std::backtrace::{Backtrace, BacktraceStatus};
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind, set_hook, take_hook};
use std::sync::Once;

thread_local! {
    static IS_CATCHING: Cell<bool> = const { Cell::new(false) };
    static LAST_PLACE: RefCell<String> = const { RefCell::new(String::new()) };
}

static HOOK: Once = Once::new();

/// A panic that was caught.
pub(crate) struct CaughtPanic {
    /// The value that it was made with.
    pub(crate) payload: Box<dyn Any + Send>,
    /// The place of the panic, and the backtrace if `RUST_BACKTRACE` asks for one.
    pub(crate) traceback: String,
}

/// Calls `act` and catches a panic of it.
pub(crate) fn catch<T>(act: impl FnOnce() -> T) -> Result<T, CaughtPanic> {
    HOOK.call_once(|| {
        let former = take_hook();
        set_hook(Box::new(move |info| if IS_CATCHING.get() { keep_place(info) } else { former(info) }));
    });
    // A system that tests another one is inside of both.
    let is_inside = IS_CATCHING.replace(true);
    let done = catch_unwind(AssertUnwindSafe(act));
    IS_CATCHING.set(is_inside);
    done.map_err(|payload| CaughtPanic { payload, traceback: LAST_PLACE.take() })
}

fn keep_place(info: &PanicHookInfo<'_>) {
    let mut text = info.location().map(|place| format!("panicked at {place}")).unwrap_or_default();
    let backtrace = Backtrace::capture();
    if backtrace.status() == BacktraceStatus::Captured {
        text.push_str(&format!("\n{backtrace}"));
    }
    LAST_PLACE.set(text);
}
