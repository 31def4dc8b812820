//! The search for edits: candidates in the order of their cost, judged by the runs, the shortest failing run first.
//!
//! A candidate that explains every failing run and breaks no other is a solution. One that explains some, or lets a
//! failing run get further, is a start: a second edit is looked for at the failure that is left. A transition that was
//! added as a solution is tried again with a guard or an assignment more, because what was seen says only that it is
//! missing, not when.

use ioxide_lang::ast::{ModelDecl, ModelItem, PreambleItem, SyntaxFile};
use ioxide_model::source::{FileId, Sources};
use ioxide_model::sts::Model;
use ioxide_smt::halt::{Halt, Halted};
use ioxide_smt::solver::Solver;
use ioxide_testgen::mutate::{show_initial, show_switch};
use rustc_hash::FxHashSet;
use std::time::Duration;

use crate::candidates::{EditCandidate, candidates, strengthened};
use crate::edit::{edited_sources, unified_diff};
use crate::effect::{effect_of, is_same_behaviour};
use crate::evaluate::{PredictionCost, RunJudgement, failure_of, judge_run};
use crate::failure::FailurePoint;
use crate::runs::ReplayableRun;
use crate::scope::ModelScope;
use crate::{Proposal, ProposalEffect, RepairError, RepairRequest, Repairs};

/// The number of kinds of failures that candidates are read off. Chosen by feel: each multiplies the work.
const MAX_GROUPS: usize = 4;
/// The number of starts that a second edit is looked for. Chosen by feel.
const MAX_STARTS: usize = 10;
/// The number of added transitions that are made stronger. Chosen by feel.
const MAX_STRENGTHENED: usize = 6;
/// The number of solutions that are ranked by how well they predict the runs. Chosen by feel: the cost of the edit
/// decides which.
const MAX_RANKED: usize = 60;
/// The number of runs that predictions are made for, the failing ones first. Chosen by feel.
const MAX_PREDICTED_RUNS: usize = 16;
/// The bits that a solution costs by which an input is not mentioned any more. Chosen by feel: a model that says
/// nothing explains everything, but a missing guard of an input is a usual mistake.
const SILENCED_BITS: f64 = 2.0;
/// The time in which one candidate is judged by one run. Chosen by feel: usual ones need a hundredth of it, and one
/// with steps that repeat for ever without a message would take all there is.
const JUDGING_TIME: Duration = Duration::from_millis(400);
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
    let mut model = (request.load)(request.sources).ok_or(RepairError::ModelErrors)?;
    let mut search = Search::new(request, &mut model, solver)?;
    let base = EditSearchNode { sources: request.sources.clone(), ..EditSearchNode::default() };
    let failures = search.failures_of(&mut model, solver)?;
    let starts = search.expand(&base, &failures, solver);
    if search.solutions.is_empty() {
        search.expand_starts(starts, solver);
    }
    search.strengthen(&base, &failures, solver);
    let ranked = search.rank(solver);
    let proposals = search.propose(&model, ranked, solver);
    Ok(Repairs {
        proposals,
        failing: search.failing.iter().filter(|run| !run.is_smallest()).count(),
        allowed: search.allowed.len(),
        tried: search.tried,
        halted: search.halted,
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

/// An edited text that explains every failing run.
struct Solution {
    node: EditSearchNode,
    model: Model,
    candidate: EditCandidate,
    /// The bits of the edit and of the runs.
    cost: f64,
}

/// A candidate that helps, but is not enough.
struct SearchStart {
    node: EditSearchNode,
    /// The number of failing runs that it explains.
    explained: usize,
}

struct Search<'r> {
    request: &'r RepairRequest<'r>,
    /// Ends the judging of candidates.
    halt: Halt,
    /// The reason why some were not judged.
    halted: Option<Halted>,
    /// The runs that the model forbids, shortest first, and where it does.
    failing: Vec<&'r ReplayableRun>,
    forbidden_at: Vec<usize>,
    /// The runs that it allows, shortest first.
    allowed: Vec<&'r ReplayableRun>,
    /// True if the model leaves an input open in some run.
    has_unspecified: bool,
    /// The positions in `failing` of one run for every kind of failure.
    groups: Vec<usize>,
    solutions: Vec<Solution>,
    /// The texts and the meanings that were judged.
    seen: FxHashSet<String>,
    tried: usize,
}

impl<'r> Search<'r> {
    fn new(
        request: &'r RepairRequest<'r>,
        model: &mut Model,
        solver: &mut dyn Solver,
    ) -> Result<Self, RepairError> {
        let mut failing: Vec<(RunJudgement, &ReplayableRun)> = Vec::new();
        let mut allowed: Vec<(RunJudgement, &ReplayableRun)> = Vec::new();
        for run in request.runs {
            let judged = judge_run(model, solver, run, &request.halt)?;
            if judged.is_forbidden() { failing.push((judged, run)) } else { allowed.push((judged, run)) }
        }
        if failing.is_empty() {
            return Err(RepairError::NothingFails);
        }
        failing.sort_by_key(|(judged, _)| judged.forbidden_at);
        allowed.sort_by_key(|(judged, _)| judged.steps);
        let has_unspecified =
            failing.iter().chain(&allowed).any(|(judged, _)| judged.unspecified_at.is_some());
        let search_halt = request.search_time.map(request.halt_after).unwrap_or_default();
        Ok(Self {
            request,
            halt: search_halt.either(&request.halt),
            halted: None,
            forbidden_at: failing.iter().filter_map(|(judged, _)| judged.forbidden_at).collect(),
            failing: failing.into_iter().map(|(_, run)| run).collect(),
            allowed: allowed.into_iter().map(|(_, run)| run).collect(),
            has_unspecified,
            groups: Vec::new(),
            solutions: Vec::new(),
            seen: FxHashSet::default(),
            tried: 0,
        })
    }

    /// Returns one failure for every kind, of the shortest run of the kind.
    fn failures_of(
        &mut self,
        model: &mut Model,
        solver: &mut dyn Solver,
    ) -> Result<Vec<FailurePoint>, RepairError> {
        let mut failures: Vec<FailurePoint> = Vec::new();
        for (at, run) in self.failing.iter().enumerate() {
            let Some(failure) = failure_of(model, solver, run)? else { continue };
            let is_known = failures.iter().any(|other| other.is_same_kind(&failure));
            if !is_known && failures.len() < MAX_GROUPS {
                failures.push(failure);
                self.groups.push(at);
            }
        }
        Ok(failures)
    }

    /// Judges the candidates after `node`, keeps the solutions, and returns those that help.
    fn expand(
        &mut self,
        node: &EditSearchNode,
        failures: &[FailurePoint],
        solver: &mut dyn Solver,
    ) -> Vec<SearchStart> {
        let mut starts = Vec::new();
        for candidate in candidates_of(&node.sources, failures) {
            self.halted = self.halted.or_else(|| self.halt.halt_reason());
            if self.halted.is_some() {
                break;
            }
            if let Some(start) = self.judge_candidate(node, candidate, solver) {
                starts.push(start);
            }
        }
        starts
    }

    /// Judges a candidate; returns it if it helps and is not enough.
    fn judge_candidate(
        &mut self,
        node: &EditSearchNode,
        candidate: EditCandidate,
        solver: &mut dyn Solver,
    ) -> Option<SearchStart> {
        let sources = edited_sources(&node.sources, &candidate.edits);
        let texts: Vec<&str> = sources.iter().map(|source| source.text.as_str()).collect();
        if !self.seen.insert(texts.join("\0")) {
            return None;
        }
        let mut model = (self.request.load)(&sources)?;
        // Edits of the text that make the same model need to be judged once.
        if !self.seen.insert(meaning_of(&model)) {
            return None;
        }
        self.tried += 1;
        let next = EditSearchNode {
            sources,
            n_edits: node.n_edits + 1,
            bits: node.bits + candidate.bits,
            reasons: node.reasons.iter().cloned().chain([candidate.reason.clone()]).collect(),
        };
        let (explained, has_progress) = self.explain_groups(&mut model, solver)?;
        let is_enough = explained == self.groups.len()
            && self.failing.iter().all(|run| is_allowed(&mut model, solver, run, &self.brief(JUDGING_TIME)));
        if !is_enough {
            let is_start = (explained > 0 || has_progress) && self.keeps_allowed(&mut model, solver);
            return is_start.then_some(SearchStart { node: next, explained });
        }
        if self.keeps_allowed(&mut model, solver) {
            let cost = next.bits;
            self.solutions.push(Solution { node: next, model, candidate, cost });
        }
        None
    }

    /// Returns the number of kinds of failures that a model explains, and whether it lets another one get further;
    /// `None` if it makes one come sooner, or a run does not fit it.
    fn explain_groups(&self, model: &mut Model, solver: &mut dyn Solver) -> Option<(usize, bool)> {
        let (mut explained, mut has_progress) = (0, false);
        for &at in &self.groups {
            match judge_run(model, solver, self.failing[at], &self.brief(JUDGING_TIME)).ok()? {
                judged if judged.is_unknown => return None,
                RunJudgement { forbidden_at: Some(now), .. } => {
                    if now < self.forbidden_at[at] {
                        return None;
                    }
                    has_progress |= now > self.forbidden_at[at];
                }
                RunJudgement { forbidden_at: None, .. } => explained += 1,
            }
        }
        Some((explained, has_progress))
    }

    /// Returns whether a model allows the runs that were allowed before.
    fn keeps_allowed(&self, model: &mut Model, solver: &mut dyn Solver) -> bool {
        self.allowed.iter().all(|run| is_allowed(model, solver, run, &self.brief(JUDGING_TIME)))
    }

    /// Looks for a second edit after the starts that explain the most.
    fn expand_starts(&mut self, mut starts: Vec<SearchStart>, solver: &mut dyn Solver) {
        starts.sort_by(|a, b| b.explained.cmp(&a.explained).then(a.node.bits.total_cmp(&b.node.bits)));
        for start in starts.into_iter().take(MAX_STARTS) {
            let Some(mut model) = (self.request.load)(&start.node.sources) else { continue };
            let mut failures: Vec<FailurePoint> = Vec::new();
            for run in &self.failing {
                if let Ok(Some(failure)) = failure_of(&mut model, solver, run)
                    && !failures.iter().any(|other| other.is_same_kind(&failure))
                {
                    failures.push(failure);
                }
            }
            failures.truncate(1);
            self.expand(&start.node, &failures, solver);
        }
    }

    /// Tries the transitions that were added as a solution with a guard or an assignment more.
    fn strengthen(&mut self, base: &EditSearchNode, failures: &[FailurePoint], solver: &mut dyn Solver) {
        let mut added: Vec<&Solution> =
            self.solutions.iter().filter(|it| it.candidate.added.is_some() && it.node.n_edits == 1).collect();
        added.sort_by(|a, b| a.cost.total_cmp(&b.cost));
        let added: Vec<EditCandidate> =
            added.into_iter().take(MAX_STRENGTHENED).map(|it| it.candidate.clone()).collect();
        let syntax = SourceSyntax::parse(&base.sources);
        for scope in syntax.scopes(&base.sources) {
            for (candidate, failure) in
                added.iter().flat_map(|it| failures.iter().map(move |failure| (it, failure)))
            {
                for stronger in strengthened(&scope, failure, candidate) {
                    self.halted = self.halted.or_else(|| self.halt.halt_reason());
                    if self.halted.is_some() {
                        return;
                    }
                    self.judge_candidate(base, stronger, solver);
                }
            }
        }
    }

    /// Returns the solutions with the bits of the runs, the cheapest first.
    fn rank(&mut self, solver: &mut dyn Solver) -> Vec<Solution> {
        let mut solutions = std::mem::take(&mut self.solutions);
        solutions.sort_by(|a, b| a.cost.total_cmp(&b.cost));
        solutions.truncate(MAX_RANKED);
        for solution in &mut solutions {
            let runs = self.failing.iter().chain(&self.allowed).take(MAX_PREDICTED_RUNS);
            let mut predicted = PredictionCost::default();
            for run in runs {
                let halt = self.brief(JUDGING_TIME);
                if predicted.add_run(&mut solution.model, solver, run, &halt).is_err() {
                    predicted.bits = f64::INFINITY;
                }
            }
            let silences = predicted.is_silent && !self.has_unspecified;
            solution.cost += predicted.bits + if silences { SILENCED_BITS } else { 0.0 };
        }
        solutions.sort_by(|a, b| a.cost.total_cmp(&b.cost));
        solutions
    }

    /// Returns the first solutions that mean different things, with their effects.
    fn propose(&self, base: &Model, ranked: Vec<Solution>, solver: &mut dyn Solver) -> Vec<Proposal> {
        let mut chosen: Vec<Solution> = Vec::new();
        for solution in ranked.into_iter().take(MAX_COMPARED) {
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

    fn proposal(&self, base: &Model, solution: Solution, solver: &mut dyn Solver) -> Proposal {
        let halt = self.brief(EFFECT_TIME);
        let effect: ProposalEffect = effect_of(base, &solution.model, &self.failing, solver, &halt);
        let diff = unified_diff(self.request.sources, &solution.node.sources);
        let EditSearchNode { sources, n_edits, reasons, .. } = solution.node;
        Proposal { edited: sources, diff, n_edits, reason: reasons.join("; "), cost: solution.cost, effect }
    }

    /// Returns a signal that stops after `time`, or with the search.
    fn brief(&self, time: Duration) -> Halt {
        (self.request.halt_after)(time).either(&self.request.halt)
    }
}

/// Returns whether a model allows a run, and knows that it does.
fn is_allowed(model: &mut Model, solver: &mut dyn Solver, run: &ReplayableRun, halt: &Halt) -> bool {
    judge_run(model, solver, run, halt).is_ok_and(|judged| !judged.is_forbidden() && !judged.is_unknown)
}

/// Returns the switches and initial values of a model as text, by which equal models are known.
fn meaning_of(model: &Model) -> String {
    let vars = model.sts.vars.iter().map(|var| show_initial(model, var.var, var.init));
    let mut switches: Vec<String> =
        model.sts.switches.iter().map(|switch| show_switch(model, switch)).collect();
    // The order of switches means nothing.
    switches.sort_unstable();
    vars.chain(switches).collect::<Vec<_>>().join("\n")
}

/// Returns the candidates for the failures, the cheapest first.
fn candidates_of(sources: &Sources, failures: &[FailurePoint]) -> Vec<EditCandidate> {
    let syntax = SourceSyntax::parse(sources);
    let mut found: Vec<EditCandidate> = Vec::new();
    for scope in syntax.scopes(sources) {
        for failure in failures {
            found.extend(candidates(&scope, failure));
        }
    }
    found.sort_by(|a, b| a.bits.total_cmp(&b.bits));
    found
}

/// The syntax trees of all texts.
struct SourceSyntax {
    files: Vec<(FileId, SyntaxFile)>,
}

impl SourceSyntax {
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
