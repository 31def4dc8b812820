//! The search for edits: candidates in the order of their cost, judged by the runs, the shortest failing run first.
//!
//! A candidate that explains every failing run and breaks no other is a solution. One that explains some, or lets a
//! failing run get further, is a start: a second edit is looked for at the failure that is left. A transition that was
//! added as a solution is tried again with a guard or an assignment more, because what was seen says only that it is
//! missing, not when.

mod pairs;
mod sift;

use self::sift::Requirement;

use ioxide_lang::ast::{ModelDecl, ModelItem, PreambleItem, SyntaxFile};
use ioxide_model::source::{FileId, Sources};
use ioxide_model::sts::Model;
use ioxide_smt::halt::{Halt, Halted};
use ioxide_smt::solver::Solver;
use rustc_hash::FxHashSet;
use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use crate::batch::{BATCH_SIZE, BatchLayout};
use crate::candidates::{EditCandidate, candidates, strengthened};
use crate::edit::{edited_sources, unified_diff};
use crate::effect::{effect_of, is_same_behaviour};
use crate::evaluate::{OpenFieldPlace, PredictionCost, RunJudgement, failure_of, fields_left_open};
use crate::failure::FailurePoint;
use crate::plausibility::implausible_bits;
use crate::replay::{ChangedPlace, ModelMeaning, ReplayBase};
use crate::runs::DecodedRun;
use crate::samples::GuardSamples;
use crate::scope::ModelScope;
use crate::{Proposal, ProposalEffect, RepairEffort, RepairError, RepairRequest, Repairs};

/// The number of kinds of failures that candidates are read off. Chosen by feel: each multiplies the work.
const MAX_KINDS: usize = 6;
/// The number of failing runs whose kind is looked at, the shortest first. Chosen by feel: a campaign that goes on
/// after failures has hundreds of a few kinds.
const MAX_EXAMINED: usize = 400;
/// The number of failing runs that candidates are judged by before all others: the bits of a mask.
const MAX_SAMPLE: usize = 64;
/// The bits that two edits cost where one explains the runs. Chosen by feel: there are many more pairs than single
/// edits, so that some predict the runs well by chance.
const PAIR_BESIDE_BITS: f64 = 3.0;
/// The number of added transitions that are made stronger. Chosen by feel.
const MAX_STRENGTHENED: usize = 6;
/// The number of solutions of one kind that are ranked by how well they predict the runs. Chosen by feel: the cost of
/// the edit decides which.
const MAX_RANKED: usize = 30;
/// The number of runs that predictions are made for, at most three quarters of them failing ones. Chosen by feel.
const MAX_PREDICTED_RUNS: usize = 32;
/// The bits that a solution costs by which an input is not mentioned any more. Chosen by feel: a model that says
/// nothing explains everything, but a missing guard of an input is a usual mistake.
const SILENCED_BITS: f64 = 2.0;
/// The bits that a name costs that an edit leaves without a use, and that one saves that it gives a use. Chosen by
/// feel.
const UNUSED_NAME_BITS: f64 = 1.5;
/// The number of such names that count. Chosen by feel: one mistake leaves few.
const MAX_UNUSED_COUNTED: f64 = 2.0;
/// The time in which one candidate is judged by one run. Chosen by feel: usual ones need a hundredth of it, and one
/// with steps that repeat for ever without a message would take all there is.
const JUDGING_TIME: Duration = Duration::from_millis(400);
/// The share of the time in which single edits are judged, in percent. Chosen by feel.
const EXPANSION_SHARE: u32 = 80;
/// The share of the time in which candidates and pairs of them are judged, in percent. Chosen by feel.
const COMBINATION_SHARE: u32 = 88;
/// The share of the time left after the search in which solutions are ranked, in percent. Chosen by feel.
const RANKING_SHARE: u32 = 40;
/// The number of ranked solutions that are compared with each other, so that each meaning is proposed once. Chosen by
/// feel.
const MAX_COMPARED: usize = 16;
/// The time for one comparison of two models. Chosen by feel: most small models need a hundredth of it.
const COMPARISON_TIME: Duration = Duration::from_millis(250);
/// The time for the effect of one proposal. Chosen by feel.
const EFFECT_TIME: Duration = Duration::from_millis(700);

/// Returns the best edits that explain the runs.
///
/// # Errors
/// If the model is no text of the language or has errors, a run does not fit it, or no run fails.
pub fn find_repairs(request: &RepairRequest<'_>, solver: &mut dyn Solver) -> Result<Repairs, RepairError> {
    if !request.sources.file(request.file).name.ends_with(".iox") {
        return Err(RepairError::NotIox);
    }
    let (mut model, _) = (request.load)(request.sources, &[]).ok_or(RepairError::ModelErrors)?;
    let (mut search, base) = Search::new(request, &mut model, solver)?;
    let failures = search.failures_of(&mut model, solver)?;
    // The steps after these get a share of the time, even if they have to leave candidates out.
    let share = |percent: u32| request.search_time.map(|time| (request.halt_after)(time * percent / 100));
    let (expansion, combination) = (share(EXPANSION_SHARE), share(COMBINATION_SHARE));
    let starts = search.expand(&base, &failures, expansion.as_ref(), solver);
    search.combine(&base, &starts, combination.as_ref(), solver);
    search.expand_starts(&base, starts, solver);
    search.strengthen(&base, &failures, solver);
    let ranked = search.rank(&base, solver);
    // The effects are told relative to the model that the user has, not to the one a second edit started
    // from.
    let proposals = search.propose(&model, ranked, solver);
    Ok(Repairs {
        proposals,
        failing: search.failing.iter().filter(|at| !request.runs[**at].is_smallest()).count(),
        allowed: search.allowed.len(),
        tried: search.tried,
        effort: RepairEffort { compiled: search.compiled, replayed: search.replayed.get() },
        halted: search.halted.or(search.left_out),
    })
}

/// An edited text.
#[derive(Clone, Debug, Default)]
struct EditSearchNode {
    sources: Sources,
    /// The edits so far: their number, cost and reasons.
    n_edits: usize,
    bits: f64,
    reasons: Vec<String>,
}

/// A text from which edits are tried, with the replays of the runs by its model.
struct SearchBase {
    node: EditSearchNode,
    replays: ReplayBase,
    /// Where each run is forbidden, by its number.
    forbidden_at: Vec<Option<usize>>,
    /// True for each run, by its number, in which an input is open.
    is_open: Vec<bool>,
    samples: GuardSamples,
    /// The fields that the model leaves open.
    open_fields: FxHashSet<OpenFieldPlace>,
    /// Where candidates are written beside each other; `None` if each has to be compiled by itself.
    layout: Option<BatchLayout>,
}

/// An edited text that explains every failing run.
struct Solution {
    node: EditSearchNode,
    model: Model,
    candidate: EditCandidate,
    /// True if it leaves an input of a failing run open that was not open before.
    is_silent: bool,
    /// The bits of the edit and of the runs.
    cost: f64,
}

/// A candidate that helps, but is not enough.
struct SearchStart {
    node: EditSearchNode,
    candidate: EditCandidate,
    outcome: SampleOutcome,
}

/// The judgement of the runs of the sample by a candidate.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct SampleOutcome {
    /// True if it leaves an input of a failing run open that was not open before.
    is_silent: bool,
    /// The failing runs that it explains, a bit for each.
    explained: u64,
    /// The place at which it forbids each run; `None` if it explains it.
    forbidden_at: Vec<Option<usize>>,
}

impl SampleOutcome {
    /// Returns the number of labels that are explained beyond `before`, over all runs.
    fn progress(&self, before: &[Option<usize>], sample: &[usize]) -> usize {
        let gained =
            |(now, &at): (&Option<usize>, &usize)| now.unwrap_or(0).saturating_sub(before[at].unwrap_or(0));
        self.forbidden_at.iter().zip(sample).map(gained).sum()
    }
}

/// The judgement of a candidate.
enum CandidateJudgement {
    /// It explains no run, or makes another one fail, or says nothing new.
    Useless,
    /// It explains some runs, or lets one get further.
    Helpful(Box<SearchStart>),
    Solution,
}

struct Search<'r> {
    request: &'r RepairRequest<'r>,
    /// Ends the judging of candidates.
    halt: Halt,
    /// The reason why some were not judged.
    halted: Option<Halted>,
    /// The reason why the first step left candidates out.
    left_out: Option<Halted>,
    runs: Vec<DecodedRun<'r>>,
    /// The numbers of the runs that the model forbids, those that it forbids soonest first.
    failing: Vec<usize>,
    /// The numbers of the runs that it allows, shortest first.
    allowed: Vec<usize>,
    /// True if the model leaves an input open in some run.
    has_unspecified: bool,
    /// The numbers of failing runs that candidates are judged by first: those of different kinds in turn. The first
    /// `n_kinds` are of different kinds.
    sample: Vec<usize>,
    n_kinds: usize,
    solutions: Vec<Solution>,
    /// The texts and the meanings that were judged.
    seen: FxHashSet<String>,
    tried: usize,
    compiled: usize,
    replayed: Cell<usize>,
}

/// An edited model, with the model that it is an edit of.
struct CandidateModel<'a> {
    model: &'a mut Model,
    base: &'a SearchBase,
    changes: Option<&'a [ChangedPlace]>,
}

/// A candidate with the texts that it makes.
struct EditedCandidate {
    candidate: EditCandidate,
    sources: Sources,
}

impl EditedCandidate {
    fn new(base: &SearchBase, candidate: EditCandidate) -> Self {
        let sources = edited_sources(&base.node.sources, &candidate.edits);
        Self { candidate, sources }
    }
}

impl SearchBase {
    /// Replays the runs by the model of `node`.
    fn new(
        node: EditSearchNode,
        model: &mut Model,
        solver: &mut dyn Solver,
        runs: &[DecodedRun<'_>],
        halt: &Halt,
    ) -> Result<(Self, Vec<RunJudgement>), RepairError> {
        let mut samples = GuardSamples::default();
        let (replays, judged) = ReplayBase::new(model, solver, runs, &mut samples, halt)?;
        let forbidden_at = judged.iter().map(|judged| judged.forbidden_at).collect();
        let is_open = judged.iter().map(|judged| judged.unspecified_at.is_some()).collect();
        let open_fields = fields_left_open(model);
        let layout = layout_of(&node.sources, model);
        Ok((Self { node, replays, forbidden_at, is_open, samples, open_fields, layout }, judged))
    }
}

impl<'r> Search<'r> {
    fn new(
        request: &'r RepairRequest<'r>,
        model: &mut Model,
        solver: &mut dyn Solver,
    ) -> Result<(Self, SearchBase), RepairError> {
        let known = Rc::new(model.clone());
        let runs: Vec<DecodedRun<'_>> =
            request.runs.iter().map(|run| DecodedRun::new(run, &known)).collect::<Result<_, _>>()?;
        let node = EditSearchNode { sources: request.sources.clone(), ..EditSearchNode::default() };
        let (base, judged) = SearchBase::new(node, model, solver, &runs, &request.halt)?;
        let (mut failing, mut allowed): (Vec<usize>, Vec<usize>) =
            (0..runs.len()).partition(|&at| judged[at].is_forbidden());
        if failing.is_empty() {
            // What was not judged may fail.
            let halted = request.halt.halt_reason().filter(|_| judged.iter().any(|judged| judged.is_unknown));
            return Err(halted.map_or(RepairError::NothingFails, RepairError::Unjudged));
        }
        // The soonest failure comes first: `failures_of` looks at them in this order and keeps the first of
        // each kind.
        failing.sort_by_key(|&at| judged[at].forbidden_at);
        allowed.sort_by_key(|&at| judged[at].steps);
        let has_unspecified = judged.iter().any(|judged| judged.unspecified_at.is_some());
        let search_halt = request.search_time.map(request.halt_after).unwrap_or_default();
        let search = Self {
            request,
            halt: search_halt.either(&request.halt),
            halted: None,
            left_out: None,
            runs,
            failing,
            allowed,
            has_unspecified,
            sample: Vec::new(),
            n_kinds: 0,
            solutions: Vec::new(),
            seen: FxHashSet::default(),
            tried: 0,
            compiled: 0,
            replayed: Cell::new(0),
        };
        Ok((search, base))
    }

    /// Returns one failure for every kind, of the shortest run of the kind, and chooses the sample of failing runs.
    fn failures_of(
        &mut self,
        model: &mut Model,
        solver: &mut dyn Solver,
    ) -> Result<Vec<FailurePoint>, RepairError> {
        let mut kinds: Vec<(FailurePoint, Vec<usize>)> = Vec::new();
        for at in self.failing.iter().copied().take(MAX_EXAMINED).collect::<Vec<_>>() {
            if self.is_halted() {
                break;
            }
            let Some(failure) = failure_of(model, solver, &self.runs[at], &self.halt)? else { continue };
            match kinds.iter_mut().find(|(other, _)| other.is_same_kind(&failure)) {
                Some((_, members)) => members.push(at),
                None => kinds.push((failure, vec![at])),
            }
        }
        // The turns give every kind a run before any kind gives its second one. So the first `n_kinds` runs
        // of the sample are one of each kind, which `explain_sample` relies on.
        self.n_kinds = kinds.len().min(MAX_SAMPLE);
        let longest = kinds.iter().map(|(_, members)| members.len()).max().unwrap_or(0);
        let in_turn = (0..longest).flat_map(|at| kinds.iter().filter_map(move |(_, all)| all.get(at)));
        self.sample = in_turn.copied().take(MAX_SAMPLE).collect();
        kinds.truncate(MAX_KINDS);
        Ok(kinds.into_iter().map(|(failure, _)| failure).collect())
    }

    /// Returns the mask of all runs of the sample.
    fn whole_sample(&self) -> u64 {
        // A shift by 64 bits would overflow, so an empty sample counts as one run.
        u64::MAX >> (64 - self.sample.len().clamp(1, MAX_SAMPLE))
    }

    /// Judges the candidates after `base`, keeps the solutions, and returns those that help.
    fn expand(
        &mut self,
        base: &SearchBase,
        failures: &[FailurePoint],
        share: Option<&Halt>,
        solver: &mut dyn Solver,
    ) -> Vec<SearchStart> {
        // Every solution explains the first failing run: all candidates are judged by that one before the rest of them
        // are looked at for second edits.
        let (mut starts, mut others) = (Vec::new(), Vec::new());
        let mut all = candidates_of(base, failures).into_iter().peekable();
        while all.peek().is_some() && !self.is_over(share) {
            let some = all.by_ref().filter_map(|candidate| self.edited_once(base, candidate));
            let some: Vec<EditedCandidate> = some.take(BATCH_SIZE).collect();
            let sifted = self.sift_by(base, some, Requirement::ExplainsFirst, share, solver);
            self.judge_all(base, sifted.promising, &mut starts, solver);
            others.extend(sifted.others);
        }
        let mut others = others.into_iter().peekable();
        while others.peek().is_some() && !self.is_over(share) {
            let some =
                others.by_ref().take(BATCH_SIZE).map(|candidate| EditedCandidate::new(base, candidate));
            let sifted = self.sift_by(base, some.collect(), Requirement::Helps, share, solver);
            self.judge_all(base, sifted.promising, &mut starts, solver);
        }
        starts
    }

    /// Judges candidates, keeps the solutions, and adds those that help to `starts`.
    fn judge_all(
        &mut self,
        base: &SearchBase,
        all: Vec<EditedCandidate>,
        starts: &mut Vec<SearchStart>,
        solver: &mut dyn Solver,
    ) {
        for edited in all {
            if self.is_halted() {
                break;
            }
            if let CandidateJudgement::Helpful(start) = self.judge_candidate(base, edited, solver) {
                starts.push(*start);
            }
        }
    }

    /// Returns whether the search is over, or this share of its time, and notes the reason.
    fn is_over(&mut self, share: Option<&Halt>) -> bool {
        let halted = share.and_then(Halt::halt_reason);
        self.left_out = self.left_out.or(halted);
        halted.is_some() || self.is_halted()
    }

    fn is_halted(&mut self) -> bool {
        self.halted = self.halted.or_else(|| self.halt.halt_reason());
        self.halted.is_some()
    }

    /// Makes the edits of a candidate; `None` if the same texts were judged before.
    fn edited_once(&mut self, base: &SearchBase, candidate: EditCandidate) -> Option<EditedCandidate> {
        let edited = EditedCandidate::new(base, candidate);
        let texts: Vec<&str> = edited.sources.iter().map(|source| source.text.as_str()).collect();
        // By the text, which needs no parser: pairs and strengthened transitions often come to the same text in two
        // ways.
        self.seen.insert(texts.join("\0")).then_some(edited)
    }

    /// Judges a candidate after `base` and keeps it if it is a solution.
    fn judge_candidate(
        &mut self,
        base: &SearchBase,
        EditedCandidate { candidate, sources }: EditedCandidate,
        solver: &mut dyn Solver,
    ) -> CandidateJudgement {
        if self.is_halted() {
            return CandidateJudgement::Useless;
        }
        self.compiled += 1;
        let Some((mut model, _)) = (self.request.load)(&sources, &[]) else {
            return CandidateJudgement::Useless;
        };
        let changes = base.replays.changes(&mut model, &candidate.edits);
        let mut edited = CandidateModel { model: &mut model, base, changes: changes.as_deref() };
        let Some(outcome) = self.explain_sample(&mut edited, solver) else {
            return CandidateJudgement::Useless;
        };
        // Edits of the text that make the same model need to be followed once. Most are of no use: only now is it worth
        // the time to know the others.
        if !self.seen.insert(ModelMeaning::new(edited.model).key()) {
            return CandidateJudgement::Useless;
        }
        let node = EditSearchNode {
            sources,
            n_edits: base.node.n_edits + candidate.n_changes,
            bits: base.node.bits + candidate.bits,
            reasons: base.node.reasons.iter().cloned().chain([candidate.reason.clone()]).collect(),
        };
        let is_enough =
            outcome.explained == self.whole_sample() && self.allows_all(&mut edited, &self.failing, solver);
        if !self.allows_all(&mut edited, &self.allowed, solver) {
            CandidateJudgement::Useless
        } else if is_enough {
            let (cost, is_silent) = (node.bits, outcome.is_silent);
            self.solutions.push(Solution { node, model, candidate, is_silent, cost });
            CandidateJudgement::Solution
        } else {
            CandidateJudgement::Helpful(Box::new(SearchStart { node, candidate, outcome }))
        }
    }

    /// Returns the runs of the sample that a model explains, and whether it leaves an input open in one of them; `None`
    /// if it lets none get further, or makes one fail sooner.
    fn explain_sample(
        &self,
        edited: &mut CandidateModel<'_>,
        solver: &mut dyn Solver,
    ) -> Option<SampleOutcome> {
        let (mut explained, mut has_progress, mut is_silent) = (0_u64, false, false);
        let mut forbidden_at = Vec::with_capacity(self.sample.len());
        for (bit, &at) in self.sample.iter().enumerate() {
            // What helps no kind of failure helps none.
            if bit >= self.n_kinds && explained == 0 && !has_progress {
                return None;
            }
            let judged = self.judge_edited(edited, at, solver)?;
            is_silent |= judged.unspecified_at.is_some() && !edited.base.is_open[at];
            forbidden_at.push(judged.forbidden_at);
            match (judged.forbidden_at, edited.base.forbidden_at[at]) {
                _ if judged.is_unknown => return None,
                (None, _) => explained |= 1 << bit,
                (Some(now), Some(before)) if now < before => return None,
                (Some(now), before) => has_progress |= before.is_some_and(|before| now > before),
            }
        }
        (explained != 0 || has_progress).then_some(SampleOutcome { is_silent, explained, forbidden_at })
    }

    fn judge_edited(
        &self,
        edited: &mut CandidateModel<'_>,
        at: usize,
        solver: &mut dyn Solver,
    ) -> Option<RunJudgement> {
        let (run, halt) = (&self.runs[at], self.brief(JUDGING_TIME));
        let judged = edited.base.replays.judge_edited(edited.model, solver, (at, run), edited.changes, &halt);
        let judged = judged.ok()?;
        self.replayed.set(self.replayed.get() + judged.replayed);
        Some(judged)
    }

    /// Returns whether a model allows these runs, and knows that it does.
    fn allows_all(&self, edited: &mut CandidateModel<'_>, runs: &[usize], solver: &mut dyn Solver) -> bool {
        runs.iter().all(|&at| {
            let judged = self.judge_edited(edited, at, solver);
            judged.is_some_and(|judged| !judged.is_forbidden() && !judged.is_unknown)
        })
    }

    /// Tries the transitions that were added as a solution with a guard or an assignment more.
    fn strengthen(&mut self, base: &SearchBase, failures: &[FailurePoint], solver: &mut dyn Solver) {
        let mut added: Vec<&Solution> =
            self.solutions.iter().filter(|it| it.candidate.added.is_some() && it.node.n_edits == 1).collect();
        added.sort_by(|a, b| a.cost.total_cmp(&b.cost));
        let added: Vec<EditCandidate> =
            added.into_iter().take(MAX_STRENGTHENED).map(|it| it.candidate.clone()).collect();
        let syntax = SourceSyntax::parse(&base.node.sources);
        for scope in syntax.scopes(&base.node.sources) {
            for (candidate, failure) in
                added.iter().flat_map(|it| failures.iter().map(move |failure| (it, failure)))
            {
                for some in strengthened(&scope, failure, candidate).chunks(BATCH_SIZE) {
                    if self.is_halted() {
                        return;
                    }
                    for edited in self.sift(base, some.to_vec(), None, solver) {
                        self.judge_candidate(base, edited, solver);
                    }
                }
            }
        }
    }

    /// Returns the solutions with the bits of the runs, the cheapest first.
    fn rank(&mut self, base: &SearchBase, solver: &mut dyn Solver) -> Vec<Solution> {
        let mut solutions = std::mem::take(&mut self.solutions);
        solutions.sort_by(|a, b| a.cost.total_cmp(&b.cost));
        // What leaves an input open is cheap and explains much, and one edit costs less than two: each kind has room of
        // its own, so that none crowds out another before the runs are asked.
        let mut room = [MAX_RANKED; 4];
        solutions.retain(|solution| {
            let kind = usize::from(solution.is_silent) + 2 * usize::from(solution.node.n_edits > 1);
            let has_room = room[kind] > 0;
            room[kind] = room[kind].saturating_sub(1);
            has_room
        });
        // What is compared afterwards needs a part of the time that is left.
        let left = self.request.halt.time_left().map(|left| left * RANKING_SHARE / 100);
        let halt = left.map(self.request.halt_after).unwrap_or_default().either(&self.request.halt);
        let predicted = self.predict(base, &mut solutions, solver, &halt);
        let is_alone = solutions.iter().all(|solution| solution.node.n_edits > 1);
        let unused_before = count_unused(&base.node.sources) as f64;
        let mut is_over = false;
        for (solution, predicted) in solutions.iter_mut().zip(predicted) {
            is_over = is_over || halt.halt_reason().is_some();
            if !is_over {
                let changed = base.replays.meaning.new_switches(&mut solution.model);
                let brief = (self.request.halt_after)(JUDGING_TIME).either(&halt);
                solution.cost += implausible_bits(&mut solution.model, solver, &changed, &brief);
            }
            if !is_alone && solution.node.n_edits > 1 {
                solution.cost += PAIR_BESIDE_BITS;
            }
            let unused = count_unused(&solution.node.sources) as f64 - unused_before;
            solution.cost += UNUSED_NAME_BITS * unused.clamp(-MAX_UNUSED_COUNTED, MAX_UNUSED_COUNTED);
            let silences = predicted.is_silent && !self.has_unspecified;
            solution.cost += predicted.bits + if silences { SILENCED_BITS } else { 0.0 };
        }
        solutions.sort_by(|a, b| a.cost.total_cmp(&b.cost));
        solutions
    }

    /// Returns the bits of the runs under each solution: of the same runs for all of them, so that a search that ends
    /// in between does not prefer those that it did not get to.
    fn predict(
        &self,
        base: &SearchBase,
        solutions: &mut [Solution],
        solver: &mut dyn Solver,
        halt: &Halt,
    ) -> Vec<PredictionCost> {
        let failing = self.sample.iter().take(MAX_PREDICTED_RUNS * 3 / 4);
        let runs = failing.chain(&self.allowed).take(MAX_PREDICTED_RUNS);
        let mut predicted = vec![PredictionCost::default(); solutions.len()];
        for &at in runs {
            let mut next = predicted.clone();
            let is_done = solutions.iter_mut().zip(&mut next).all(|(solution, cost)| {
                let brief = (self.request.halt_after)(JUDGING_TIME).either(halt);
                let run = (&self.runs[at], &base.open_fields);
                cost.add_run(&mut solution.model, solver, run, &brief).is_ok_and(|is_done| is_done)
            });
            if is_done {
                predicted = next;
            } else if halt.halt_reason().is_some() {
                break;
            }
        }
        predicted
    }

    /// Returns the first solutions that mean different things, with their effects.
    fn propose(&self, base: &Model, ranked: Vec<Solution>, solver: &mut dyn Solver) -> Vec<Proposal> {
        let mut chosen: Vec<Solution> = Vec::new();
        for solution in with_one_silent_first(ranked).into_iter().take(MAX_COMPARED) {
            if chosen.len() >= self.request.max_proposals {
                break;
            }
            let is_known = chosen.iter().any(|other| {
                let halt = self.brief(COMPARISON_TIME);
                is_same_behaviour(&other.model, &solution.model, solver, &halt)
            });
            if !is_known {
                chosen.push(solution);
            }
        }
        chosen.into_iter().map(|solution| self.proposal(base, solution, solver)).collect()
    }

    /// Makes the proposal of a solution: the difference in the text, and the effect relative to `base`.
    fn proposal(&self, base: &Model, solution: Solution, solver: &mut dyn Solver) -> Proposal {
        let halt = self.brief(EFFECT_TIME);
        let failing: Vec<&DecodedRun<'_>> = self.failing.iter().map(|&at| &self.runs[at]).collect();
        let effect: ProposalEffect = effect_of(base, &solution.model, &failing, solver, &halt);
        let diff = unified_diff(self.request.sources, &solution.node.sources);
        let EditSearchNode { sources, n_edits, reasons, .. } = solution.node;
        Proposal { edited: sources, diff, n_edits, reason: reasons.join("; "), cost: solution.cost, effect }
    }

    /// Returns a signal that stops after `time`, or with the search.
    fn brief(&self, time: Duration) -> Halt {
        (self.request.halt_after)(time).either(&self.request.halt)
    }
}

/// Returns the solutions with those that leave an input of a failing run open at the end, but for the best of them:
/// they explain every run alike, by saying nothing about it, and would crowd out those that say something.
fn with_one_silent_first(ranked: Vec<Solution>) -> Vec<Solution> {
    let (mut first, mut later) = (Vec::new(), Vec::new());
    let mut has_silent = false;
    for solution in ranked {
        if solution.is_silent && has_silent {
            later.push(solution);
        } else {
            has_silent |= solution.is_silent;
            first.push(solution);
        }
    }
    first.extend(later);
    first
}

/// Returns where candidates can be written beside each other; `None` if that does not show in the switches of `model`.
fn layout_of(sources: &Sources, model: &Model) -> Option<BatchLayout> {
    // In a system of parts, a switch may be made of transitions of several.
    if model.sts.composition.is_some() {
        return None;
    }
    let span = model.sts.switches.iter().next()?.span;
    let tree = ioxide_lang::parse(sources, span.file).0;
    Some(BatchLayout::new(sources, span.file, tree.model.as_ref()?, model))
}

/// Returns the candidates for the failures, the cheapest first.
fn candidates_of(base: &SearchBase, failures: &[FailurePoint]) -> Vec<EditCandidate> {
    let syntax = SourceSyntax::parse(&base.node.sources);
    let mut found: Vec<EditCandidate> = Vec::new();
    for scope in syntax.scopes(&base.node.sources) {
        for failure in failures {
            found.extend(candidates(&scope, failure, &base.samples));
        }
    }
    found.sort_by(|a, b| a.bits.total_cmp(&b.bits));
    found
}

/// Returns the number of names that the texts declare for nothing.
fn count_unused(sources: &Sources) -> usize {
    let syntax = SourceSyntax::parse(sources);
    syntax.scopes(sources).iter().map(ModelScope::count_unused).sum()
}

/// The syntax trees of all texts.
struct SourceSyntax {
    files: Vec<(FileId, SyntaxFile)>,
}

impl SourceSyntax {
    /// Parses every text of the language; a text with errors has a tree as well.
    fn parse(sources: &Sources) -> Self {
        let is_text = |file: &FileId| sources.file(*file).name.ends_with(".iox");
        let files = sources.ids().filter(is_text);
        Self { files: files.map(|file| (file, ioxide_lang::parse(sources, file).0)).collect() }
    }

    /// Returns the names of every model in the texts.
    fn scopes<'a>(&'a self, sources: &'a Sources) -> Vec<ModelScope<'a>> {
        let shared = |file: &'a SyntaxFile| {
            file.preamble.iter().filter_map(|item| match item {
                PreambleItem::Item(item) => Some(&**item),
                PreambleItem::Use(_) => None,
            })
        };
        // Declarations of other files are taken over by name; all of them are known here, the front end checks.
        let all: Vec<&ModelItem> = self.files.iter().flat_map(|(_, file)| shared(file)).collect();
        let mut scopes = Vec::new();
        for (number, file) in &self.files {
            let of_system = file.system.iter().flat_map(|system| &system.models);
            let models: Vec<&ModelDecl> = file.model.iter().chain(of_system).collect();
            scopes.extend(
                models.into_iter().map(|model| ModelScope::new(sources, *number, model, all.iter().copied())),
            );
        }
        scopes
    }
}

#[cfg(test)]
mod tests;
