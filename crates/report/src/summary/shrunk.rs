//! A failing run that was made smaller.

use ioxide_runner::event::ShrunkTold;

use crate::chart::ChartStep;

/// Steps kept; a run that is still longer after all is told by its last ones.
const MAX_STEPS: usize = 200;

/// A failing run that was made smaller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShrunkSummary {
    /// The run that was made smaller, from 0.
    pub run: u64,
    /// Its last steps; mostly all of them.
    pub steps: Vec<ChartStep>,
    /// How many came before them.
    pub before: usize,
    /// How many it had when it was found.
    pub from: usize,
    /// Runs it took.
    pub attempts: u32,
    /// Whether no single move can be left out, as far as one try each shows.
    pub minimal: bool,
    /// Why the search ended early, if it did.
    pub early: Option<String>,
}

impl ShrunkSummary {
    /// What is kept of `told`.
    #[must_use]
    pub fn new(told: &ShrunkTold) -> Self {
        let before = told.trace.len().saturating_sub(MAX_STEPS);
        Self {
            run: told.run,
            steps: told.trace.iter().skip(before).map(ChartStep::new).collect(),
            before,
            from: told.from,
            attempts: told.attempts,
            minimal: told.minimal,
            early: told.early.clone(),
        }
    }

    /// How many steps it has.
    #[must_use]
    pub fn size(&self) -> usize {
        self.before + self.steps.len()
    }
}
