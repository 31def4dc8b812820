//! The steps that one evaluation may make.
//!
//! Quantifiers, comprehensions and functions that call themselves multiply when they are nested: two quantifiers over
//! 65,536 values each make four thousand million steps. So every instance of a bound name and every call counts, over
//! all levels of one evaluation, and an evaluation with too many of them is given up.

use std::cell::Cell;

use super::EvalError;

/// The number of instances of bound names and of calls that one evaluation may have. About a second in a release build;
/// sixteen times what one quantifier may have.
pub const MAX_EVALUATION_STEPS: u32 = 1 << 20;

thread_local! {
    /// The nesting depth of the evaluations of this thread, and the steps since it was 0.
    static WORK: Cell<(u32, u32)> = const { Cell::new((0, 0)) };
}

/// An evaluation under way; those inside it spend its steps.
pub(super) struct EvalScope(());

impl EvalScope {
    /// Begins an evaluation, with all its steps to spend unless it is inside another.
    pub(super) fn enter() -> Self {
        let (depth, steps) = WORK.get();
        WORK.set((depth + 1, if depth == 0 { 0 } else { steps }));
        Self(())
    }
}

impl Drop for EvalScope {
    fn drop(&mut self) {
        let (depth, steps) = WORK.get();
        WORK.set((depth.saturating_sub(1), steps));
    }
}

/// Counts a step of the evaluation under way.
///
/// # Errors
/// If the evaluation has made [`MAX_EVALUATION_STEPS`] steps already.
pub(in crate::term) fn count_step() -> Result<(), EvalError> {
    let (depth, steps) = WORK.get();
    WORK.set((depth, steps.saturating_add(1)));
    if steps < MAX_EVALUATION_STEPS { Ok(()) } else { Err(EvalError::TooLong) }
}
