//! A failing run that was made smaller.

use ioxide_record::event::{Explanation, ShrunkRecord};

use crate::chart::ChartStep;
use crate::script::{ScriptLanguage, write_script};

/// The number of steps kept; of a longer run only the last ones are. Chosen by feel: smallest runs are seldom that
/// long.
const MAX_KEPT_STEPS: usize = 200;

/// A failing run that was made smaller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShrunkSummary {
    /// The number of the run that was made smaller, from 0.
    pub run: u64,
    /// The last steps of the smaller run; mostly all of them.
    pub steps: Vec<ChartStep>,
    /// The number of its steps before those.
    pub before: usize,
    /// The number of its forbidden step, from 1.
    pub forbidden: usize,
    /// The number of steps of the original run.
    pub from: usize,
    /// The number of runs tried.
    pub attempts: u32,
    /// True if no single move can be left out, as far as one try each shows.
    pub minimal: bool,
    /// The reason why the search ended early; `None` if it did not.
    pub early: Option<String>,
    /// The number of smaller runs that failed once and not again.
    pub unconfirmed: u32,
    /// The number of repetitions of the smaller run that failed, and of those that were made.
    pub reproduced: (u32, u32),
    /// The values of inputs that were taken from replies.
    pub references: Vec<String>,
    /// The forbidden step against what was allowed; `None` if that is not known.
    pub explanation: Option<Explanation>,
    /// The languages in which it can be repeated without ioxide.
    pub languages: Vec<ScriptLanguage>,
    /// The reason why it cannot be repeated without ioxide; `None` if it can, or nobody could.
    pub no_script: Option<String>,
}

impl ShrunkSummary {
    /// Keeps the end of the trace and the figures of `told`.
    #[must_use]
    pub fn new(shrunk: &ShrunkRecord) -> Self {
        let languages = shrunk.script.iter().flat_map(|script| {
            ScriptLanguage::ALL.into_iter().filter(|language| write_script(script, *language, "").is_some())
        });
        let before = shrunk.trace.len().saturating_sub(MAX_KEPT_STEPS);
        Self {
            run: shrunk.run,
            steps: shrunk.trace.iter().skip(before).map(ChartStep::new).collect(),
            before,
            forbidden: shrunk.step.unwrap_or(shrunk.trace.len()),
            from: shrunk.from,
            attempts: shrunk.attempts,
            minimal: shrunk.minimal,
            early: shrunk.early.clone(),
            unconfirmed: shrunk.unconfirmed,
            reproduced: (shrunk.reproduced, shrunk.of),
            references: shrunk.references.clone(),
            explanation: shrunk.explanation.clone(),
            languages: languages.collect(),
            no_script: shrunk.no_script.clone(),
        }
    }

    /// Returns whether no smaller run failed again, so that this is the run that was to be made smaller.
    #[must_use]
    pub fn is_original(&self) -> bool {
        self.unconfirmed > 0 && self.size() == self.from
    }

    /// Returns the number of steps of the smaller run.
    #[must_use]
    pub fn size(&self) -> usize {
        self.before + self.steps.len()
    }
}
