//! Panics of the system in this process: caught, with the place where they happened.
//!
//! A panic says where it happened only to the hook of the process. Ours is put in front of the one that is there
//! when the first system acts: it keeps the place of a panic that is caught here, and leaves all others to the
//! former hook. So a search that repeats a panic a hundred times does not print it a hundred times.

use std::any::Any;
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
    /// The place of the panic in the source.
    pub(crate) place: String,
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
    done.map_err(|payload| CaughtPanic { payload, place: LAST_PLACE.take() })
}

/// Keeps the place of a panic. A backtrace would be mostly frames of the tester, and reports show the end of such a
/// text.
fn keep_place(info: &PanicHookInfo<'_>) {
    LAST_PLACE.set(info.location().map(|place| format!("panicked at {place}")).unwrap_or_default());
}
