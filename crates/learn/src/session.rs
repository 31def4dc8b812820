//! A session: a system is asked until a model of it is learned, with all that earlier sessions and records know.
//!
//! [`LearningSession`] holds what every way of learning needs: the system and copies of it, the place where its answers
//! are kept, whoever watches, and earlier runs. [`learn_machine`](LearningSession::learn_machine) learns a machine
//! whose inputs have fixed values, [`learn_values`](LearningSession::learn_values) one that stores and compares values.
//! Time-outs are learned by [`crate::timed`].

mod kept;
mod machine;

use ioxide_model::counted::count_noun;
use thiserror::Error;

pub use self::machine::{EarlierVersion, LearnedModel, MachinePlan, MachineResult, UnstablePolicy};
pub(crate) use self::machine::{MAX_VOTES, describe_votes, hold_vote, show_two_runs, watch_machine};
use crate::copies::SystemCopies;
use crate::messages::{DataRun, Messages};
use crate::observer::LearningEffort;
use crate::recheck::{AnswerDetail, OutdatedAnswer, find_outdated_answer};
use crate::recorded::RecordedError;
use crate::system::{AnswerStore, MessageSystem};
use crate::watch::LearningWatcher;

/// A system that is learned: the system, the store of its answers, the observer, and earlier runs.
pub struct LearningSession<'s, E> {
    /// The system.
    pub system: &'s mut dyn MessageSystem<Error = E>,
    /// Copies of the system that are asked at the same time; `None` if there are none.
    pub copies: Option<SystemCopies<'s, E>>,
    /// Keeps the answers.
    pub keeper: &'s mut dyn AnswerStore<E>,
    /// Watches the progress.
    pub watcher: &'s mut dyn LearningWatcher,
    /// The messages behind names, and the outputs before the first input.
    pub messages: &'s Messages,
    /// The runs that are known.
    pub earlier: EarlierRuns,
}

/// Runs that a session need not ask.
#[derive(Clone, Debug, Default)]
pub struct EarlierRuns {
    /// The runs of earlier sessions.
    pub session: Vec<DataRun>,
    /// The runs that were recorded elsewhere: known, and not asked in any session.
    pub recorded: Vec<DataRun>,
}

impl EarlierRuns {
    /// Returns the effort of the earlier sessions; recorded runs cost nothing.
    #[must_use]
    pub fn effort(&self) -> LearningEffort {
        let symbols = self.session.iter().map(|run| run.len() as u64).sum();
        LearningEffort { resets: self.session.len() as u64, symbols }
    }
}

impl<E> LearningSession<'_, E> {
    /// Asks `n` runs of earlier sessions again; returns an answer that is not what it was.
    ///
    /// # Errors
    /// If the system cannot be queried.
    pub fn find_outdated_answer(
        &mut self,
        n: usize,
        detail: AnswerDetail,
    ) -> Result<Option<OutdatedAnswer>, E> {
        find_outdated_answer(self.system, &self.messages.model, &self.earlier.session, n, detail)
    }
}

/// The rules of a vote about the usual answer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MajorityVote {
    /// The number of repetitions, at least.
    pub at_least: u32,
    /// The confidence, between 0 and 1, that the most frequent answer is the usual one.
    pub confidence: f64,
}

/// The reason why a session ends without a model.
#[derive(Clone, Debug, Error)]
pub enum SessionError<E> {
    /// The system cannot be asked, or the session is stopped.
    #[error("the system cannot be queried")]
    System(E),
    /// Recorded runs contradict each other.
    #[error(transparent)]
    Recorded(RecordedError),
    /// The same inputs are answered in two ways.
    #[error("the system gives two different replies to the same inputs, after {}\n{runs}", show_effort(*effort))]
    TwoWays {
        /// The effort until that was seen.
        effort: LearningEffort,
        /// The two runs.
        runs: String,
    },
    /// The same inputs, with the same values, are answered in two ways.
    #[error(
        "the system gives two different replies to the same inputs with the same values, after {}\n{runs}",
        show_effort(*effort)
    )]
    TwoWaysForValues {
        /// The effort until that was seen.
        effort: LearningEffort,
        /// The two runs.
        runs: String,
    },
    /// Words whose values compare alike are answered in two ways, and no comparison explains it.
    #[error(
        "inputs whose values compare alike get two different replies, after {}\n{runs}",
        show_effort(*effort)
    )]
    Incomparable {
        /// The effort until that was seen.
        effort: LearningEffort,
        /// The two runs.
        runs: String,
    },
    /// Values of these fields are made up, and values are compared by order.
    #[error(
        "the system makes up the values of {fields}, and values are compared by order: a new value cannot be \
         ordered among others\n{runs}"
    )]
    MadeAndOrdered {
        /// The fields, as people write them.
        fields: String,
        /// The two runs that show it.
        runs: String,
    },
    /// A state would have to remember more values than this.
    #[error("a state would have to remember more than {0} values")]
    TooManyRegisters(usize),
    /// An answer makes up more values than this.
    #[error("an answer makes up more than {0} values")]
    TooManyMade(usize),
    /// The answers fit no machine that stores and compares values.
    #[error(
        "no machine that stores and compares values fits the answers, after {} resets and {} inputs",
        effort.resets, effort.symbols
    )]
    NoMachine {
        /// The effort until that was seen.
        effort: LearningEffort,
    },
}

fn show_effort(LearningEffort { resets, symbols }: LearningEffort) -> String {
    format!("{} and {}", count_noun(resets, "reset"), count_noun(symbols, "input"))
}

impl<E> From<E> for SessionError<E> {
    fn from(error: E) -> Self {
        Self::System(error)
    }
}
