//! The search for candidates that help at all: many are judged at a time, as they are compiled.

use ioxide_smt::halt::Halt;
use ioxide_smt::solver::Solver;

use super::{CandidateModel, EditedCandidate, Search, SearchBase};
use crate::batch::{BATCH_SIZE, BatchedCandidate, CandidateBatch};
use crate::candidates::EditCandidate;
use crate::edit::TextEdit;

/// The condition under which a candidate is looked at more closely.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Requirement {
    /// It explains the first failing run, as every solution does.
    ExplainsFirst,
    /// It explains some failing run, or lets one get further.
    Helps,
}

/// Candidates by whether they meet a requirement.
#[derive(Default)]
pub(super) struct SiftedCandidates {
    pub(super) promising: Vec<EditedCandidate>,
    /// Those that have no errors and do not meet it.
    pub(super) others: Vec<EditCandidate>,
}

impl Search<'_> {
    /// Returns the candidates after `base` that are new and may help, in their order; all others, and those that
    /// `share` or the end of the search leave no time for, are left out.
    pub(super) fn sift(
        &mut self,
        base: &SearchBase,
        candidates: Vec<EditCandidate>,
        share: Option<&Halt>,
        solver: &mut dyn Solver,
    ) -> Vec<EditedCandidate> {
        let news = candidates.into_iter().filter_map(|candidate| self.edited_once(base, candidate)).collect();
        self.sift_by(base, news, Requirement::Helps, share, solver).promising
    }

    /// Sorts at most [`BATCH_SIZE`] candidates by whether they meet `requirement`.
    pub(super) fn sift_by(
        &mut self,
        base: &SearchBase,
        news: Vec<EditedCandidate>,
        requirement: Requirement,
        share: Option<&Halt>,
        solver: &mut dyn Solver,
    ) -> SiftedCandidates {
        debug_assert!(news.len() <= BATCH_SIZE, "a batch has a limit");
        let mut found = SiftedCandidates::default();
        // Copies of functions move the numbers of variables, so that their batch shares no replays.
        let mut batches = [false, true].map(|of_definitions| self.compile_batch(base, &news, of_definitions));
        for (at, edited) in news.into_iter().enumerate() {
            if self.is_halted() || share.is_some_and(|share| share.halt_reason().is_some()) {
                break;
            }
            let batch = &mut batches[usize::from(base.is_of_definition(&edited.candidate.edits))];
            let batched = batch.as_mut().map_or(BatchedCandidate::Elsewhere, |batch| batch.candidate(at));
            match batched {
                BatchedCandidate::Elsewhere => found.promising.push(edited),
                BatchedCandidate::Wrong => (),
                BatchedCandidate::Model(model, changes) => {
                    self.tried += 1;
                    let mut model = CandidateModel { model, base, changes: changes.as_deref() };
                    if self.meets(&mut model, requirement, solver) {
                        found.promising.push(edited);
                    } else {
                        found.others.push(edited.candidate);
                    }
                }
            }
        }
        found
    }

    fn meets(
        &self,
        edited: &mut CandidateModel<'_>,
        requirement: Requirement,
        solver: &mut dyn Solver,
    ) -> bool {
        match requirement {
            Requirement::Helps => self.explain_sample(edited, solver).is_some(),
            Requirement::ExplainsFirst => self.sample.first().is_some_and(|&first| {
                let judged = self.judge_edited(edited, first, solver);
                judged.is_some_and(|judged| !judged.is_forbidden() && !judged.is_unknown)
            }),
        }
    }

    /// Compiles the candidates that are of definitions, or those that are not, as one text; `None` if each has to be
    /// compiled by itself.
    fn compile_batch(
        &mut self,
        base: &SearchBase,
        news: &[EditedCandidate],
        of_definitions: bool,
    ) -> Option<CandidateBatch> {
        let layout = base.layout.as_ref()?;
        let edits = news.iter().map(|it| &it.candidate.edits[..]);
        let edits: Vec<Option<&[TextEdit]>> =
            edits.map(|edits| (layout.is_of_definition(edits) == of_definitions).then_some(edits)).collect();
        if edits.iter().flatten().count() < 2 || self.is_halted() {
            return None;
        }
        self.compiled += 1;
        CandidateBatch::new(&base.node.sources, layout, &edits, base.replays.n_switches(), self.request.load)
    }
}

impl SearchBase {
    /// Returns whether edits are of a function or constant.
    fn is_of_definition(&self, edits: &[TextEdit]) -> bool {
        self.layout.as_ref().is_some_and(|layout| layout.is_of_definition(edits))
    }
}
