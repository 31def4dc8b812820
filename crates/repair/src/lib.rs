//! Small edits of a model that explain recorded runs.
//!
//! A run fails: the model is wrong, or the system is. This crate takes the side of the system and looks for the
//! smallest edits of the model's text under which every failing run is allowed and every other recorded run still is.
//! Candidates are changes that mutation makes and transitions that can be read off the failure; the monitor replays the
//! runs, the shortest failing one first. What is left is ranked by the size of the edit and by how well the edited
//! model predicts the runs (a minimum description length), and the comparison of models says what else an edit would
//! allow.
//!
//! *Promises.* Under every proposal the monitor allows each failing run and forbids no other recorded run. Nothing says
//! that a proposal is right: that the runs fit a model does not make it the one that was meant.

mod batch;
mod candidates;
mod edit;
mod effect;
mod evaluate;
mod failure;
mod layout;
mod plausibility;
mod replay;
mod runs;
mod samples;
mod scope;
mod search;
mod show;
mod triage;

use std::rc::Rc;
use std::time::Duration;

use ioxide_model::source::{FileId, Sources, Span};
use ioxide_model::sts::Model;
use ioxide_smt::halt::{Halt, Halted};
use ioxide_smt::solver::Solver;
use thiserror::Error;

pub use self::edit::{changed_files, unified_diff};
pub use self::runs::{ReplayableRun, RunsOfRecord, runs_of_record};
pub use self::search::find_repairs;
pub use self::show::ChosenProposal;
pub use self::triage::{TriageFact, triage};

/// A model, and those of the places that may have errors which have them: what stands there, and what uses it, has no
/// meaning.
pub type LoadedModel = (Model, Vec<Span>);

/// The question for edits.
pub struct RepairRequest<'a> {
    /// The texts of the model.
    pub sources: &'a Sources,
    /// The text that is loaded.
    pub file: FileId,
    /// Compiles the text with the settings of the caller; `None` if it has errors. The given places, which are in the
    /// order of the text, may have errors.
    pub load: &'a dyn Fn(&Sources, &[Span]) -> Option<LoadedModel>,
    /// The runs.
    pub runs: &'a [ReplayableRun],
    /// The greatest number of proposals.
    pub max_proposals: usize,
    /// The signal that ends the search; what was found until then is returned.
    pub halt: Halt,
    /// The time in which candidates are judged; `None` for no limit.
    pub search_time: Option<Duration>,
    /// Makes a signal that says stop after a time: comparisons of models have little of it.
    pub halt_after: fn(Duration) -> Halt,
}

/// The proposals, and the effort of the search for them.
#[derive(Debug)]
pub struct Repairs {
    /// The proposals, the best first.
    pub proposals: Vec<Proposal>,
    /// The number of runs that the model forbids.
    pub failing: usize,
    /// The number of runs that the model allows.
    pub allowed: usize,
    /// The number of candidates that were judged.
    pub tried: usize,
    /// The work of judging them.
    pub effort: RepairEffort,
    /// The reason why candidates were left out; `None` if all were judged.
    pub halted: Option<Halted>,
}

/// The work of a search, which does not depend on the speed of the machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RepairEffort {
    /// The number of texts that were compiled.
    pub compiled: usize,
    /// The number of labels by which candidates were judged.
    pub replayed: usize,
}

/// Edits that explain the runs.
#[derive(Clone, Debug)]
pub struct Proposal {
    /// The texts with the edits made; the files have the numbers that they had.
    pub edited: Sources,
    /// The edits as a unified diff.
    pub diff: String,
    /// The number of places that are changed.
    pub n_edits: usize,
    /// The change, for people.
    pub reason: String,
    /// The bits that the edit and the runs cost, by which proposals are ranked.
    pub cost: f64,
    /// The effect beyond the runs.
    pub effect: ProposalEffect,
}

/// The behaviour that an edited model allows and forbids beyond the failing runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProposalEffect {
    /// A shortest trace that the edited model allows, the old one forbids, and no run has shown; `None` if there is
    /// none, or none was found.
    pub also_allows: Option<Vec<String>>,
    /// A shortest trace that the edited model forbids and the old one allows; `None` likewise.
    pub now_forbids: Option<Vec<String>>,
    /// The input of a failing run about which the edited model says nothing, while the old one does: whatever follows
    /// is allowed, so that the run says nothing for the edit.
    pub leaves_open: Option<String>,
    /// True if the comparison came to an end, so that a missing trace means that there is none.
    pub is_complete: bool,
}

/// The reason why nothing can be proposed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum RepairError {
    /// The model is not in a text of the language.
    #[error("only models in `.iox` files can be repaired")]
    NotIox,
    /// The model has errors.
    #[error("the model has errors")]
    ModelErrors,
    /// The model does not know the messages of a run.
    #[error("{run} does not fit the model: {reason}")]
    UnfitRun {
        /// The run.
        run: String,
        /// The reason, for people.
        reason: String,
    },
    /// The model allows every run.
    #[error("the model allows every run: there is nothing to repair")]
    NothingFails,
    /// The search was stopped before a failing run was found; some runs were not judged.
    #[error("{0} before all runs were judged")]
    Unjudged(Halted),
}

/// Returns whether the model forbids one of the runs, so that there is something to repair.
///
/// # Errors
/// If a run does not fit the model.
pub fn has_failing_run(
    model: &mut Model,
    solver: &mut dyn Solver,
    runs: &[ReplayableRun],
) -> Result<bool, RepairError> {
    let base = Rc::new(model.clone());
    for run in runs {
        let run = runs::DecodedRun::new(run, &base)?;
        if evaluate::judge_run(model, solver, &run, &Halt::default())?.is_forbidden() {
            return Ok(true);
        }
    }
    Ok(false)
}
