//! Testing for reduction: does a nondeterministic system only do what the
//! model allows?
//!
//! State counting extends input words from a deterministic state cover until a
//! longer word could only repeat a state of the product of model and system.
//! The adaptive algorithm of \[Hierons04] counts with what the system has
//! answered so far; \[Sachtleben18] shows that it may stop too early and repairs
//! it. Both are here, with two variations the thesis sketches and the older
//! algorithm that needs no system.
//!
//! *Assumes* an observable, completely specified model, a system that behaves
//! like such a machine with at most `bound` states, a reliable reset, and that
//! applying a test as often as the [`AdaptiveSystem`] does shows all its answers.

#[doc(hidden)]
pub mod adaptive;
mod bound;
mod case;
mod cover;
mod distinguish;
mod nonadaptive;
mod on_demand;
mod system;
mod tree;
mod walk;

pub use adaptive::state_counting;
pub use case::AdaptiveCase;
pub use cover::deterministic_cover;
pub use distinguish::{RDistinguish, characterising_cases};
pub use nonadaptive::{nonadaptive_words, preset_counting};
pub use on_demand::on_demand_counting;
pub use system::{AdaptiveSystem, LiveMachine, PlayedMachine, Repeated};
pub use walk::{WalkReport, walk_through};

use crate::error::MachineRefusal;
use crate::nfsm::Observable;
use crate::word::{IoWord, Word};

/// The rule by which adaptive state counting extends words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CountingVariant {
    /// The algorithm as first published \[Hierons04]: it may miss failures.
    Original,
    /// Only responses to the cover that agree with the word are counted \[Sachtleben18, Alg. 7.1].
    Refined,
    /// The refined algorithm, with each response extended on its own \[Sachtleben18, §8.1.2].
    PerResponse,
}

/// The parameters of state counting.
#[derive(Clone, Debug)]
pub struct CountingPlan {
    /// A deterministic state cover, with the empty word.
    pub cover: Vec<Word>,
    /// An adaptive characterising set.
    pub cases: Vec<AdaptiveCase>,
    /// The greatest number of states the system may have.
    pub bound: usize,
    /// Give up when more words than this have been tested: words grow
    /// exponentially where few states are r-distinguishable.
    pub max_words: usize,
    /// True if the report is to have the lower bounds of all responses, which [`state_counting`] then computes exactly.
    pub keeps_bounds: bool,
}

impl CountingPlan {
    /// Returns the plan for `model` and `bound`, without a limit on the words.
    ///
    /// # Errors
    /// If the model is not complete or has more than `bound` states.
    pub fn new(model: &Observable, bound: usize) -> Result<Self, MachineRefusal> {
        model.check_complete()?;
        // Both papers assume a bound of at least the states of the model throughout; below it nothing is proved.
        if bound < model.n_states() {
            return Err(MachineRefusal::BoundTooSmall { bound, states: model.n_states() });
        }
        let cover = deterministic_cover(model).into_iter().map(|(_, word)| word).collect();
        Ok(Self {
            cover,
            cases: characterising_cases(model),
            bound,
            max_words: usize::MAX,
            keeps_bounds: false,
        })
    }
}

/// The verdict of state counting on a system.
#[must_use = "a test that was given up proves nothing"]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReductionVerdict {
    /// The system is a reduction of the model, under the assumptions above.
    Pass,
    /// The system gave an answer the model does not allow.
    Fail,
    /// No failure was seen before testing was given up.
    Unknown,
}

/// A response of the system, and how many states the system has at least if it repeats none on the way there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BoundedResponse {
    /// The inputs and their outputs.
    pub trace: IoWord,
    /// The greatest lower bound \[Sachtleben18, Def. 5.4.9], as far as the answers of this round tell.
    pub lower_bound: usize,
}

/// The result of testing a system by state counting.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReductionReport {
    /// The traces of the system that the model does not allow.
    pub failures: Vec<IoWord>,
    /// True if more than [`CountingPlan::max_words`] words were tested, so that the absence of failures proves
    /// nothing.
    pub gave_up: bool,
    /// The words that were tested, each once; except in [`on_demand_counting`] each was followed by the
    /// characterising set.
    pub tested: Vec<Word>,
    /// The number of rounds in which open words were tested or extended.
    pub iterations: usize,
    /// The number of different traces in which a test ended.
    pub sequences: usize,
    /// The sum of the lengths of these traces.
    pub symbols: usize,
    /// The responses to the words of every round, if the plan keeps their bounds.
    pub rounds: Vec<Vec<BoundedResponse>>,
}

impl ReductionReport {
    /// Returns the verdict: [`ReductionVerdict::Fail`] if there is a failure, even if testing was given up.
    pub fn verdict(&self) -> ReductionVerdict {
        // One forbidden trace is enough, however testing ended; without one, only a search that came to its own
        // end proves anything.
        match (self.failures.is_empty(), self.gave_up) {
            (false, _) => ReductionVerdict::Fail,
            (true, false) => ReductionVerdict::Pass,
            (true, true) => ReductionVerdict::Unknown,
        }
    }
}
