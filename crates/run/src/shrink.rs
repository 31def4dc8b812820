//! Failing runs made smaller, on the reset system.
//!
//! Delta debugging (Zeller, Hildebrandt, "Simplifying and isolating failure-inducing input", 2002) over the moves of
//! the run, inputs and looks alike, and over the values of its inputs, arranged like the shrinker of Hypothesis
//! (MacIver, Donaldson, "Test-case reduction via test-case generation", 2020): one order says what *smaller* is
//! (`order`), and edits (`edit`) make smaller candidates, round after round, until a whole round changes nothing. So
//! moves are left out again after values became simpler, and the other way round.
//!
//! Before anything is left out, short runs are planned with the model (`planning`), and then ways between like
//! states of the run are left out (`shortcuts`), and inputs on which the expectation does not depend (`slices`).
//!
//! *A price per try.* A reset, a step and a silence have their measured prices (`price`) on this system, and the
//! candidate goes next that promises most per second. While it searches, a missing reply is waited for only as long as
//! replies to that message take, times a factor; the smallest run is confirmed with the full wait. No candidate is
//! tried on a live system whose last input the model does not take after the replies of the recorded run. Where the
//! campaign has several copies of the system (`copies`), candidates are tried at once.
//!
//! *Contract of edits.* They depend on the best plan and nothing else, and only candidates smaller than that plan are
//! tried; one that fails in the same way becomes the best, and all edits are made again.
//!
//! *Promises.* The trace returned was seen, and fails in the same way ([`FailureSign`]) as the first one. Every
//! candidate is observed after its last move, so that nothing it caused is charged to the next one. A smaller run is
//! returned only if it failed every time it was repeated, or at least three times; if none did, the run that was to be
//! made smaller is. Only a failure that happened again is made smaller: [`shrink`] takes a [`ConfirmedFailure`], which
//! nothing but [`repeat`] makes. [`ShrunkRun::minimal`] says that the run is 1-minimal: every single move was left out,
//! and every single value was replaced by each of its simpler ones (`simpler`), a reference by the simplest literals,
//! in the run that is returned, and no smaller run failed. One try each shows that of a system that does the same
//! every time; where the repeated runs differed each has as many as the rate of the failure asks for, at most
//! [`TRIES`].

mod copies;
mod edit;
mod failure_sign;
mod order;
mod planning;
mod price;
mod refute;
mod related;
mod rerun;
mod search;
mod shortcuts;
mod simpler;
mod slices;
mod steps;
#[cfg(test)]
mod tests;
mod values;

use std::fmt;
use std::time::Duration;

use ioxide_model::trace::Trace;
use ioxide_record::event::HttpExchange;

use crate::run::{RunConfig, RunSetup};

pub use self::copies::{BusyWorker, IdleSystems};
pub use self::failure_sign::{ExceptionType, FailureSign};
pub use self::rerun::{ConfirmedFailure, RerunResult, UnexpectedRerun, UnmadeReason, repeat};

use self::search::{Confirmation, ShrinkSearch, SmallerRun};

/// The number of times a candidate is tried, at most, on a system that does not do the same every time. Chosen by feel:
/// a failure that comes every third time is missed in 4 of 100 cases.
pub const TRIES: u32 = 8;
/// Runs in a row that cannot even begin, after which the system is left alone. Chosen by feel: once may be an
/// accident.
const MAX_UNREACHED: u32 = 3;
/// The factor by which a missing reply is waited for longer than silence while searching; chosen by feel. A reply that
/// is later than that is missed here and found when the smallest run is confirmed.
const SEARCH_CONFIRM: u32 = 2;

/// The budget of the search for a smaller run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShrinkConfig {
    /// The number of runs, at most.
    pub attempts: u32,
    /// The time limit of the search, the repetitions at the end included, but for the step under way; `None` for no
    /// limit.
    pub time: Option<Duration>,
    /// The number of times the smallest run is repeated at the end.
    pub replays: u32,
    /// The failure that is to be made smaller; any if `None`.
    pub only: Option<FailureSign>,
}

impl Default for ShrinkConfig {
    /// A thousand runs, no time limit, and five repetitions at the end.
    fn default() -> Self {
        Self { attempts: 1_000, time: None, replays: 5, only: None }
    }
}

/// A smaller failing run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShrunkRun {
    /// The observed trace; that of the run that was to be made smaller if no smaller one was found.
    pub trace: Trace,
    /// The text that is the same for failures of its kind; empty if no smaller run was found.
    pub signature: String,
    /// The number of runs the search took.
    pub attempts: u32,
    /// True if no single move can be left out and no single value be simpler, as far as the attempts show.
    pub minimal: bool,
    /// The reason why the search ended early; `None` if it came to its end.
    pub early: Option<ShrinkCutOff>,
    /// The number of repetitions that failed again, in the same way.
    pub reproduced: u32,
    /// The number of repetitions that were made.
    pub of: u32,
    /// The number of smaller runs that failed once and not again: they are not what is returned.
    pub unconfirmed: u32,
    /// The requests of the smaller run by HTTP, with their answers.
    pub exchanges: Vec<HttpExchange>,
}

impl ShrunkRun {
    /// Returns the signature of the smaller run, which names the failure from now on; `None` if no smaller run failed
    /// again, so that there is none to begin with the next time.
    #[must_use]
    pub fn confirmed_signature(&self) -> Option<&str> {
        let is_confirmed = !self.signature.is_empty() && (self.reproduced > 0 || self.of == 0);
        is_confirmed.then_some(&*self.signature)
    }
}

/// The reason why a search for a smaller run ended early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShrinkCutOff {
    /// The budget of runs is spent.
    Attempts,
    /// The time limit is exceeded.
    Time,
    /// The search was stopped by request.
    Stopped,
    /// The system cannot be started or reached any more.
    Unreached,
}

impl fmt::Display for ShrinkCutOff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Attempts => "the limit of runs was reached",
            Self::Time => "the time limit was reached",
            Self::Stopped => "it was stopped",
            Self::Unreached => "the system cannot be reached any more",
        })
    }
}

/// The progress of a search for a smaller run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShrinkStatus {
    /// The number of runs tried.
    pub attempts: u32,
    /// The number of moves of the smallest failing run so far.
    pub steps: usize,
    /// The time that the search may take; `None` if there is no limit.
    pub limit: Option<Duration>,
    /// The time that is left; `None` if there is no limit.
    pub left: Option<Duration>,
}

/// A callback for the progress of a search.
pub type ShrinkProgress<'p> = &'p mut dyn FnMut(ShrinkStatus);

/// Makes a failing run smaller that failed again; `copies` are other systems of the same kind to try candidates on.
pub fn shrink(
    setup: &mut RunSetup<'_, '_>,
    config: &RunConfig,
    failure: &ConfirmedFailure<'_>,
    budget: &ShrinkConfig,
    copies: Option<&IdleSystems>,
    progress: ShrinkProgress<'_>,
) -> ShrunkRun {
    let mut search = ShrinkSearch::new(setup, config, failure, budget, copies, progress);
    let mut minimal = search.run();
    // The search waits less for missing replies than the campaign does, so its result is a guess until it is confirmed.
    let mut again = search.confirm(failure, budget.replays);
    // A run that was given up was tried already, so every round has fewer candidates left than the one before.
    while search.cut_off_reason().is_none() && (search.tries < again.tries || !again.is_first_choice) {
        search.tries = search.tries.max(again.tries);
        minimal = search.run();
        again = search.confirm(failure, budget.replays);
    }
    let cut_off = search.cut_off_reason();
    let ShrinkSearch { left, best, unconfirmed, .. } = search;
    let attempts = budget.attempts - left;
    let Confirmation { reproduced, of, is_first_choice, .. } = again;
    let minimal = minimal && is_first_choice;
    let SmallerRun { trace, signature, exchanges, .. } = best;
    ShrunkRun { trace, signature, attempts, minimal, early: cut_off, reproduced, of, unconfirmed, exchanges }
}
