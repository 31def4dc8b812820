//! Properties: proved, refuted or open.
//!
//! A property that the states reached break is refuted by a run. If everything was explored, the others are proved; if
//! not, by [induction](crate::induction). The same is asked about transitions that were not reached, and about
//! divisors.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use ioxide_model::code::Code;
use ioxide_model::diag::Diagnostic;
use ioxide_model::goal::{Goal, GoalKind};
use ioxide_model::source::Span;
use ioxide_model::sts::{LocId, SwitchId};
use ioxide_model::term::Term;

use super::claim::{GoalClaim, claim_of_goal, claim_of_switch};
use super::{Findings, divide};
use crate::concrete_run::{ConcreteRun, find_concrete_run};
use crate::cx::Ctx;
use crate::explore::{Exploration, ExploreConfig, explore};
use crate::induction::{InductionCounterexample, InductionOutcome, InductionProver};
use crate::symmetry::Symmetry;

/// The kind of a property that is settled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClaimKind {
    /// `always`.
    Always,
    /// `sometimes`.
    Sometimes,
    /// `assume`: a lemma.
    Assume,
    /// `every ... is followed by ...`.
    Response,
    /// A transition that was not reached: the claim is that nothing reaches it.
    Unreachable,
    /// A divisor: the claim is that it is not zero.
    Divisor,
}

impl ClaimKind {
    /// Returns the name in JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Always => "always",
            Self::Sometimes => "sometimes",
            Self::Assume => "assume",
            Self::Response => "response",
            Self::Unreachable => "unreachable",
            Self::Divisor => "divisor",
        }
    }
}

/// A property with what is known about it.
#[derive(Clone, Debug, PartialEq)]
pub struct PropertyResult {
    /// Its name; of a transition, the label.
    pub name: Arc<str>,
    /// Its kind.
    pub kind: ClaimKind,
    /// Its place.
    pub span: Span,
    /// Proved, refuted or open.
    pub status: PropertyStatus,
}

/// The result for one property.
#[derive(Clone, Debug, PartialEq)]
pub enum PropertyStatus {
    /// It holds in every run.
    Proved {
        /// The way it was proved.
        basis: ProofBasis,
        /// The conditions that the proof takes for granted.
        assumptions: Vec<String>,
    },
    /// A run breaks it; for `sometimes`, no run meets it, and there is none to show.
    Refuted(Option<ConcreteRun>),
    /// It is neither proved nor refuted.
    Open {
        /// The reason.
        why: String,
        /// The states from which its induction fails.
        counterexample: Option<InductionCounterexample>,
    },
}

/// The basis of a proof.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProofBasis {
    /// All states were explored.
    Exploration {
        /// The number of symbolic states.
        states: usize,
    },
    /// By induction.
    Induction {
        /// The number of steps.
        steps: u32,
        /// The invariants that it needs, each proved itself.
        invariants: Vec<String>,
    },
    /// A reachable state shows it; for `sometimes`.
    Example(ConcreteRun),
}

impl PropertyStatus {
    /// Returns `proved`, `refuted` or `open`.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Proved { .. } => "proved",
            Self::Refuted(_) => "refuted",
            Self::Open { .. } => "open",
        }
    }
}

/// A claim that the explored states neither refute nor prove.
struct OpenClaim {
    result: usize,
    claim: GoalClaim,
}

/// The number of states explored before the first search for runs that break a property. Chosen by feel: where a few
/// hundred states take minutes, the first twenty take a fraction of a second, and a fault near the start is found.
const FIRST_STATES: usize = 20;

/// The number of states explored before the first attempt to prove what the author claims. Chosen by feel: enough to
/// show most wrong templates, and explored in a fraction of a second.
const EARLY_STATES: usize = 200;

/// Settles properties after short explorations: by runs that break or show them, then by induction. Returns the results
/// by the position of the goal; properties that are still open are left out.
///
/// An exploration that does not end uses up all the time, and then even a fault in the first step would be left open.
pub(super) fn settle_early(cx: &mut Ctx<'_>, config: &ExploreConfig) -> BTreeMap<usize, PropertyStatus> {
    let is_property = |goal: &Goal| {
        let kind = &goal.kind;
        matches!(
            kind,
            GoalKind::Always(_) | GoalKind::Assume(_) | GoalKind::Sometimes(_) | GoalKind::Response(_)
        )
    };
    let mut settled = BTreeMap::new();
    if !cx.sts.goals.iter().any(is_property) {
        return settled;
    }
    for max_states in [FIRST_STATES, EARLY_STATES] {
        let mut config = config.clone();
        config.limits.max_states = config.limits.max_states.min(max_states);
        let exploration = explore(cx, &config, &mut |_| ControlFlow::Continue(()));
        // The full exploration will see the same states and settle the goals without invariants.
        if exploration.is_complete() {
            return settled;
        }
        settle_by_short_runs(cx, &exploration, &config, &mut settled);
        if max_states == EARLY_STATES {
            prove_early(cx, &exploration, &mut settled);
        }
    }
    settled
}

/// Searches the states of a short exploration for runs that break a property, or show one that is to hold sometimes.
fn settle_by_short_runs(
    cx: &mut Ctx<'_>,
    exploration: &Exploration,
    config: &ExploreConfig,
    settled: &mut BTreeMap<usize, PropertyStatus>,
) {
    // Questions that stay open here are asked again after the full exploration, and counted there.
    let mut findings = Findings::default();
    let sts = cx.sts;
    for (at, goal) in sts.goals.iter().enumerate() {
        if settled.contains_key(&at) {
            continue;
        }
        let status = match &goal.kind {
            GoalKind::Always(_) | GoalKind::Assume(_) | GoalKind::Sometimes(_) => {
                let claim = claim_of_goal(cx, goal);
                match find_violation(cx, exploration, &claim, &mut findings) {
                    ViolationSearch::Found(run) if matches!(goal.kind, GoalKind::Sometimes(_)) => {
                        PropertyStatus::Proved { basis: ProofBasis::Example(run), assumptions: Vec::new() }
                    }
                    ViolationSearch::Found(run) => PropertyStatus::Refuted(Some(run)),
                    ViolationSearch::None | ViolationSearch::Unclear => continue,
                }
            }
            GoalKind::Response(response) => {
                match super::response::refute_response(cx, goal, response, config, &mut findings) {
                    Some(run) => PropertyStatus::Refuted(Some(run)),
                    None => continue,
                }
            }
            _ => continue,
        };
        settled.insert(at, status);
    }
}

/// Proves properties about states by induction, as far as the states of a short exploration help.
fn prove_early(cx: &mut Ctx<'_>, exploration: &Exploration, settled: &mut BTreeMap<usize, PropertyStatus>) {
    let mut goals = Vec::new();
    let mut results = Vec::new();
    let mut open = Vec::new();
    let sts = cx.sts;
    for (at, goal) in sts.goals.iter().enumerate() {
        let is_invariant = matches!(goal.kind, GoalKind::Always(_) | GoalKind::Assume(_));
        if is_invariant && !settled.contains_key(&at) {
            goals.push(at);
            open.push(OpenClaim { result: results.len(), claim: claim_of_goal(cx, goal) });
            results.push(open_result(&goal.name, kind_of(goal), goal.span, exploration));
        }
    }
    if goals.is_empty() {
        return;
    }
    settle_by_induction(cx, exploration, &mut results, open, &[]);
    let results = goals.into_iter().zip(results).map(|(at, result)| (at, result.status));
    settled.extend(results.filter(|(_, status)| matches!(status, PropertyStatus::Proved { .. })));
}

/// Returns the kind of a property.
fn kind_of(goal: &Goal) -> ClaimKind {
    match goal.kind {
        GoalKind::Assume(_) => ClaimKind::Assume,
        GoalKind::Sometimes(_) => ClaimKind::Sometimes,
        GoalKind::Response(_) => ClaimKind::Response,
        _ => ClaimKind::Always,
    }
}

/// Settles the properties of the model, as far as possible; `early` has those that are settled already.
pub(super) fn settle_properties(
    cx: &mut Ctx<'_>,
    exploration: &Exploration,
    config: &ExploreConfig,
    mut early: BTreeMap<usize, PropertyStatus>,
    findings: &mut Findings,
) -> Vec<PropertyResult> {
    let mut results = Vec::new();
    let mut open = Vec::new();
    let mut known = Vec::new();
    let sts = cx.sts;
    for (at, goal) in sts.goals.iter().enumerate() {
        if let Some(status) = early.remove(&at) {
            let (name, kind) = (goal.name.clone(), kind_of(goal));
            // What was proved early helps to prove the others below.
            if matches!(status, PropertyStatus::Proved { .. })
                && matches!(kind, ClaimKind::Always | ClaimKind::Assume)
            {
                known.extend(claim_of_goal(cx, goal).as_invariant(cx));
            }
            results.push(PropertyResult { name, kind, span: goal.span, status });
            continue;
        }
        match &goal.kind {
            GoalKind::Always(_) | GoalKind::Assume(_) => {
                let claim = claim_of_goal(cx, goal);
                let (result, is_open) = settle_by_exploration(cx, exploration, goal, &claim, findings);
                if is_open {
                    open.push(OpenClaim { result: results.len(), claim });
                }
                results.push(result);
            }
            GoalKind::Sometimes(_) => results.push(settle_sometimes(cx, exploration, goal, findings)),
            GoalKind::Response(response) => {
                results.push(super::response::settle_response(cx, goal, response, config, findings));
            }
            _ => (),
        }
    }
    if !exploration.is_complete() {
        add_unreached(cx, exploration, &config.symmetry, &mut results, &mut open);
        add_divisors(cx, exploration, &mut results, &mut open, findings);
    }
    if !open.is_empty() && cx.halt_reason().is_none() {
        settle_by_induction(cx, exploration, &mut results, open, &known);
    }
    for result in &results {
        report_result(cx, result, findings);
    }
    results
}

/// Returns the result that the explored states give, and whether it may still be proved.
fn settle_by_exploration(
    cx: &mut Ctx<'_>,
    exploration: &Exploration,
    goal: &Goal,
    claim: &GoalClaim,
    findings: &mut Findings,
) -> (PropertyResult, bool) {
    let n_open = findings.open;
    let found = find_violation(cx, exploration, claim, findings);
    let status = match found {
        ViolationSearch::Found(run) => PropertyStatus::Refuted(Some(run)),
        ViolationSearch::Unclear => unclear_status(),
        ViolationSearch::None if is_settled(exploration, findings, n_open) => PropertyStatus::Proved {
            basis: ProofBasis::Exploration { states: exploration.stats.states },
            assumptions: Vec::new(),
        },
        ViolationSearch::None => open_status(exploration, findings),
    };
    let is_open = matches!(status, PropertyStatus::Open { .. });
    (PropertyResult { name: goal.name.clone(), kind: kind_of(goal), span: goal.span, status }, is_open)
}

/// Returns whether the explored states are all there are, and every question about them since `n_open` were open has an
/// answer.
pub(super) fn is_settled(exploration: &Exploration, findings: &Findings, n_open: usize) -> bool {
    exploration.is_complete() && findings.open == n_open && findings.halted.is_none()
}

/// Returns the result for a property that only states break to which no run was found.
pub(super) fn unclear_status() -> PropertyStatus {
    let why = "only runs that wait longer than the model allows are known to break it".to_owned();
    PropertyStatus::Open { why, counterexample: None }
}

fn open_status(exploration: &Exploration, findings: &Findings) -> PropertyStatus {
    PropertyStatus::Open { why: why_not_explored(exploration, findings), counterexample: None }
}

/// Returns the reason why the explored states prove nothing.
pub(super) fn why_not_explored(exploration: &Exploration, findings: &Findings) -> String {
    match &findings.doubt {
        Some(why) if exploration.is_complete() => why.to_string(),
        _ => exploration.stop.to_string(),
    }
}

/// The result of the search for a violation among the states explored.
pub(super) enum ViolationSearch {
    /// A run that breaks the claim.
    Found(ConcreteRun),
    /// No state breaks it.
    None,
    /// A state breaks it to which no run was found: the path known to it waits longer than the model allows, and others
    /// may not.
    Unclear,
}

/// Searches for a run to a state, and perhaps a last step, that breaks `claim`.
pub(super) fn find_violation(
    cx: &mut Ctx<'_>,
    exploration: &Exploration,
    claim: &GoalClaim,
    findings: &mut Findings,
) -> ViolationSearch {
    let mut outcome = ViolationSearch::None;
    for (node, state) in exploration.graph.nodes.iter_enumerated() {
        for (last, bad) in claim.parts_at(state.loc) {
            let here = cx.pool.substitute(bad, &state.store.substitution(cx.sts));
            if cx.pool.is_false(here) {
                continue;
            }
            let mut facts = state.path.facts().to_vec();
            facts.push(here);
            // A question that stays open is counted in the findings, so `is_settled` sees it.
            if !findings.is_shown_satisfiable(cx, &facts) {
                continue;
            }
            // Merged states keep the path of the first one, which may not meet the condition: hence a run is made
            // and checked.
            let path = exploration.graph.path_to(node);
            if let Some(mut run) = find_concrete_run(cx, &path, bad) {
                // A claim about a step is broken by the step behind the path.
                if let Some(last) = last {
                    let longer: Vec<SwitchId> = path.into_iter().chain([last]).collect();
                    let tt = cx.pool.tt();
                    run = find_concrete_run(cx, &longer, tt).unwrap_or(run);
                }
                return ViolationSearch::Found(run);
            }
            outcome = ViolationSearch::Unclear;
        }
    }
    outcome
}

fn settle_sometimes(
    cx: &mut Ctx<'_>,
    exploration: &Exploration,
    goal: &Goal,
    findings: &mut Findings,
) -> PropertyResult {
    let n_open = findings.open;
    let claim = claim_of_goal(cx, goal);
    let status = match find_violation(cx, exploration, &claim, findings) {
        ViolationSearch::Found(run) => {
            PropertyStatus::Proved { basis: ProofBasis::Example(run), assumptions: Vec::new() }
        }
        ViolationSearch::Unclear => unclear_status(),
        ViolationSearch::None if is_settled(exploration, findings, n_open) => PropertyStatus::Refuted(None),
        ViolationSearch::None => open_status(exploration, findings),
    };
    PropertyResult { name: goal.name.clone(), kind: ClaimKind::Sometimes, span: goal.span, status }
}

/// Adds the claims that transitions that were not reached are unreachable.
fn add_unreached(
    cx: &mut Ctx<'_>,
    exploration: &Exploration,
    symmetry: &Symmetry,
    results: &mut Vec<PropertyResult>,
    open: &mut Vec<OpenClaim>,
) {
    // What one of several interchangeable parts has done, each of them can do.
    let taken = symmetry.close_under_swaps(&exploration.taken_switches());
    let sts = cx.sts;
    for (id, switch) in sts.switches.iter_enumerated() {
        if taken.contains(&id)
            // A guard that is false by itself needs no induction.
            || matches!(cx.decide(&[switch.guard]), ioxide_smt::solver::SolverDecision::Unsat)
        {
            continue;
        }
        open.push(OpenClaim { result: results.len(), claim: claim_of_switch(cx, id) });
        results.push(open_result(&switch.label, ClaimKind::Unreachable, switch.span, exploration));
    }
}

/// Adds the claims that divisors that were never zero are never zero.
fn add_divisors(
    cx: &mut Ctx<'_>,
    exploration: &Exploration,
    results: &mut Vec<PropertyResult>,
    open: &mut Vec<OpenClaim>,
    findings: &mut Findings,
) {
    for (switch, divisor, question) in divide::zero_questions(cx) {
        // The finding names the switch alone, so its other divisors are left out as well.
        if findings.list.iter().any(|found| found.code == Code::DivisorMayBeZero && found.span == switch.span)
        {
            continue;
        }
        let mut claim = GoalClaim::default();
        claim.safety.bad.insert(switch.source, question);
        open.push(OpenClaim { result: results.len(), claim });
        let name: Arc<str> = format!("`{}` in `{}`", cx.pool.show(divisor), switch.label).into();
        results.push(open_result(&name, ClaimKind::Divisor, switch.span, exploration));
    }
}

fn open_result(name: &Arc<str>, kind: ClaimKind, span: Span, exploration: &Exploration) -> PropertyResult {
    let status = PropertyStatus::Open { why: exploration.stop.to_string(), counterexample: None };
    PropertyResult { name: name.clone(), kind, span, status }
}

/// Proves what can be proved by induction; what is proved, or `known` to be, helps to prove the rest.
fn settle_by_induction(
    cx: &mut Ctx<'_>,
    exploration: &Exploration,
    results: &mut [PropertyResult],
    mut open: Vec<OpenClaim>,
    known: &[BTreeMap<LocId, Term>],
) {
    let claims: Vec<BTreeMap<LocId, Term>> =
        open.iter().filter_map(|open| open.claim.as_invariant(cx)).collect();
    let mut prover = InductionProver::new(cx, exploration, &claims);
    known.iter().for_each(|known| prover.assume_proved(known));
    // Lemmas first: they are there for the others.
    open.sort_by_key(|open| results[open.result].kind != ClaimKind::Assume);
    loop {
        let before = open.len();
        open.retain(|OpenClaim { result, claim }| {
            let status = induction_status(cx, &prover, claim, &results[*result].status);
            let is_proved = matches!(status, PropertyStatus::Proved { .. });
            if is_proved && let Some(invariant) = claim.as_invariant(cx) {
                prover.assume_proved(&invariant);
            }
            let is_open = matches!(status, PropertyStatus::Open { .. });
            results[*result].status = status;
            is_open
        });
        // Each round proves something, so there are at most as many rounds as claims.
        if open.is_empty() || open.len() == before || cx.halt_reason().is_some() {
            return;
        }
    }
}

fn induction_status(
    cx: &mut Ctx<'_>,
    prover: &InductionProver,
    claim: &GoalClaim,
    before: &PropertyStatus,
) -> PropertyStatus {
    match prover.prove(cx, &claim.safety) {
        InductionOutcome::Proved { steps, invariants } => PropertyStatus::Proved {
            basis: ProofBasis::Induction { steps, invariants },
            assumptions: Vec::new(),
        },
        InductionOutcome::Refuted(path) => {
            let last = claim.bad_anywhere(cx, &path);
            match find_concrete_run(cx, &path, last) {
                Some(run) => PropertyStatus::Refuted(Some(run)),
                // The path exists for symbolic states only; without a run to show, nothing is refuted.
                None => before.clone(),
            }
        }
        InductionOutcome::Open { doubt, counterexample } => {
            let PropertyStatus::Open { why, .. } = before else { return before.clone() };
            let why = doubt.map_or_else(|| why.clone(), |doubt| doubt.to_string());
            PropertyStatus::Open { why, counterexample }
        }
    }
}

/// Adds the finding about a property that is refuted, or open.
fn report_result(cx: &Ctx<'_>, result: &PropertyResult, findings: &mut Findings) {
    let finding = match (&result.status, result.kind) {
        (PropertyStatus::Refuted(Some(run)), ClaimKind::Always | ClaimKind::Assume) => Diagnostic::new(
            Code::AlwaysViolated,
            result.span,
            format!("`{}` does not always hold", result.name),
        )
        .note(violation_text(cx, run)),
        (PropertyStatus::Refuted(Some(run)), ClaimKind::Response) => {
            let text = format!("`{}`: the answer may not come", result.name);
            Diagnostic::new(Code::ResponseMissing, result.span, text).note(run_text(run))
        }
        (PropertyStatus::Refuted(_), ClaimKind::Sometimes) => {
            let text = format!("`{}` never holds in any reachable state", result.name);
            Diagnostic::new(Code::SometimesNever, result.span, text)
        }
        (PropertyStatus::Proved { .. }, ClaimKind::Unreachable) => {
            let text = format!("`{}` is never enabled in any reachable state", result.name);
            Diagnostic::new(Code::UnreachableSwitch, result.span, text).note("proved by induction")
        }
        // What is only not explored far enough is said with the result; a state to look at is a finding.
        (PropertyStatus::Open { why, counterexample: Some(counterexample) }, kind) if is_claimed(kind) => {
            open_finding(result, why, counterexample)
        }
        _ => return,
    };
    findings.push(finding);
}

/// Returns whether the author claims it.
fn is_claimed(kind: ClaimKind) -> bool {
    !matches!(kind, ClaimKind::Unreachable | ClaimKind::Divisor)
}

fn open_finding(result: &PropertyResult, why: &str, counterexample: &InductionCounterexample) -> Diagnostic {
    let text = format!("`{}` is neither proved nor refuted", result.name);
    let mut finding = Diagnostic::new(Code::PropertyOpen, result.span, text).note(why.to_owned());
    for (at, state) in counterexample.states.iter().enumerate() {
        let values = if state.values.is_empty() {
            String::new()
        } else {
            format!(" with {}", state.values.join(", "))
        };
        let way = match &state.label {
            None => "nothing excludes the state".to_owned(),
            Some(label) if at + 1 == counterexample.states.len() => format!("`{label}` then breaks it, in"),
            Some(label) => format!("`{label}` leads to"),
        };
        finding = finding.note(format!("{way} `{}`{values}", state.place));
    }
    match &counterexample.lemma {
        Some(lemma) => finding.help(format!(
            "if it is true in every run, this lemma completes the proof, and is checked too: `assume {lemma}`"
        )),
        None => {
            finding.help("if no run reaches that state, add a lemma that excludes it: `assume CONDITION`")
        }
    }
}

/// Returns where and after which steps a condition is broken.
fn violation_text(cx: &Ctx<'_>, run: &ConcreteRun) -> String {
    let place = run.steps.last().map_or(&*cx.sts.locations[cx.sts.initial].name, |step| &step.place);
    let values =
        if run.values.is_empty() { String::new() } else { format!(" with {}", run.values.join(", ")) };
    if run.steps.is_empty() {
        return format!("it does not hold at the start, in `{place}`{values}");
    }
    format!("it can be violated in `{place}`{values}, after {}", run.texts().join(", "))
}

/// Returns a run as one line.
pub(super) fn run_text(run: &ConcreteRun) -> String {
    format!("for example: {}", run.texts().join(", "))
}
