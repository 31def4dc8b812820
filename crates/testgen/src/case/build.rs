//! The rules applied along a path, forwards, with the rest of the path known from behind.
//!
//! First every state is sketched: its front, its successors, the conditions of its arcs. Then the
//! time-out is chosen, and each arc is kept unless its guard is refuted together with what is known at
//! its state.

use ioxide_model::goal::PathStep;
use ioxide_model::number::Rational;
use ioxide_model::sort::Sort;
use ioxide_model::sts::{GateId, GateKind, SwitchId};
use ioxide_model::term::{Term, VarId};
use ioxide_model::value::Value;
use ioxide_smt::solver::{SolverDecision, UnknownReason};
use ioxide_symex::{Ctx, LiveVars};

use super::error::{self, CaseError, CaseLint};
use super::front::{CaseFront, FrontSwitch};
use super::guard_solver::GuardSolver;
use super::rest::remaining_conditions;
use super::silence::{SilenceCondition, silence};
use super::witness::TimedInput;
use super::{
    ArcTarget, CaseArc, CaseConfig, CaseRule, CaseState, CaseVerdict, Pruning, SendTime, TestCase, Timeout,
    timeout, witness,
};

/// Makes the test case of the model of `cx` along `path`, which starts at the initial location.
///
/// # Errors
/// If the path is none, cannot be followed, does not end with an output, or is not trace-deterministic.
pub fn generate(cx: &mut Ctx<'_>, path: &[PathStep], config: &CaseConfig) -> Result<TestCase, CaseError> {
    error::check_shape(cx.sts, path)?;
    let tm = cx.pool.declare("TM", Sort::Real);
    let mut guard_solver = GuardSolver::default();
    let (sketches, mut lints) = sketches(cx, &mut guard_solver, path, tm, config.pruning)?;
    let timeout = timeout::choose_timeout(cx, &mut guard_solver, &sketches, &config.timeout);
    let limit = timeout::facts(cx, tm, timeout.as_ref());
    let CaseConfig { pruning, sending, .. } = *config;
    let mut maker = ArcMaker { guard_solver, tm, limit, pruning, sending, n_steps: path.len() };
    lints.extend(error::unrevealed_values(cx, sketches.last()));
    let mut states = Vec::with_capacity(path.len());
    for (n, sketch) in sketches.iter().enumerate() {
        // A time-out above every deadline was chosen so that it is long enough.
        if let (Some(time), Timeout::Fixed(_)) = (&timeout, &config.timeout) {
            lints.extend(timeout::too_short(cx, &mut maker.guard_solver, n, sketch, time));
        }
        let state = maker.make_state(cx, n, sketch);
        lints.extend(state.arcs.iter().filter_map(|arc| {
            Some(CaseLint::Undecided { state: n, rule: arc.rule, why: arc.doubt.clone()? })
        }));
        // After a silence as long as the time-out the rest may be too late.
        let was_silent = path[..n].contains(&PathStep::Quiet);
        if was_silent && !state.arcs.iter().any(|arc| arc.target == on_path_target(n, path.len())) {
            lints.push(CaseLint::Unfollowed { state: n });
        }
        states.push(state);
    }
    Ok(TestCase { path: path.to_vec(), states, tm, timeout, sending, is_timed: cx.sts.is_timed(), lints })
}

/// A state of the case before the time-out is known.
pub(super) struct StateSketch {
    /// The execution context at the state.
    pub(super) front: CaseFront,
    /// The step of the path.
    pub(super) step: PathStep,
    /// The observations that allow the step of the path, for some values at start.
    pub(super) when: Term,
    /// The facts over the observations that hold there; for the published generator with the rest of the path.
    pub(super) known: Vec<Term>,
    /// The variable for the time since the state was entered.
    pub(super) delay: VarId,
    /// The switches the model can take, by the observations that allow it; that of the path first, if it takes one.
    pub(super) successors: Vec<CaseSuccessor>,
    /// The observations after which the rest of the path can follow.
    pub(super) on_path: Term,
    /// The conditions under which silence is allowed.
    pub(super) silence: SilenceCondition,
}

impl StateSketch {
    /// The switches that the path does not take.
    pub(super) fn siblings(&self) -> &[CaseSuccessor] {
        &self.successors[usize::from(self.step != PathStep::Quiet)..]
    }
}

/// Returns the target of the arc that follows a path of `n_steps` steps at state `n`.
fn on_path_target(n: usize, n_steps: usize) -> ArcTarget {
    if n + 1 == n_steps { ArcTarget::Verdict(CaseVerdict::Pass) } else { ArcTarget::State(n + 1) }
}

/// A switch that can be taken at a state.
pub(super) struct CaseSuccessor {
    pub(super) switch: SwitchId,
    pub(super) gate: GateId,
    pub(super) kind: GateKind,
    /// The observations so far and the message that allow it, for some values at start.
    pub(super) when: Term,
}

/// Sketches every state, and checks that the path can be followed and distinguished from its siblings.
fn sketches(
    cx: &mut Ctx<'_>,
    guard_solver: &mut GuardSolver,
    path: &[PathStep],
    tm: VarId,
    pruning: Pruning,
) -> Result<(Vec<StateSketch>, Vec<CaseLint>), CaseError> {
    let live = LiveVars::compute(cx.pool, cx.sts, &[]);
    let rest = remaining_conditions(cx, path, tm);
    let mut front = CaseFront::initial(cx, &live, tm);
    let mut lints = Vec::new();
    let mut sketches: Vec<StateSketch> = Vec::with_capacity(path.len());
    for (n, &step) in path.iter().enumerate() {
        let point = PathPoint { step, before: rest[n], after: rest[n + 1] };
        let (sketch, next) = sketch(cx, guard_solver, &front, point, pruning);
        lints.extend(error::check_possible(cx, guard_solver, n, &sketch)?);
        lints.extend(error::check_deterministic(cx, guard_solver, path, n, &sketch)?);
        front = front.advance(cx, &live, &next);
        sketches.push(sketch);
    }
    Ok((sketches, lints))
}

/// A step of the path, and the conditions under which what follows it can follow: before the step, and after.
#[derive(Clone, Copy)]
struct PathPoint {
    step: PathStep,
    before: Term,
    after: Term,
}

/// The state before the step of `point`, and that step.
fn sketch(
    cx: &mut Ctx<'_>,
    guard_solver: &mut GuardSolver,
    front: &CaseFront,
    point: PathPoint,
    pruning: Pruning,
) -> (StateSketch, FrontSwitch) {
    let id = point.step.switch();
    let known = known_facts(cx, front, point.before, pruning);
    let mut all = successors(cx, front, id);
    if pruning == Pruning::Tool {
        all.retain(|(successor, _)| {
            Some(successor.switch) == id || !is_refuted(cx, guard_solver, &known, successor.when)
        });
    }
    let heard = all.iter().filter(|(successor, _)| successor.kind != GateKind::Input);
    let heard: Vec<(GateKind, &FrontSwitch)> =
        heard.map(|(successor, taken)| (successor.kind, taken)).collect();
    let delay = cx.pool.indexed_var(cx.delay, front.state.depth + 1);
    let silence = silence(cx, front, delay, &heard);
    let (successors, mut taken): (Vec<CaseSuccessor>, Vec<FrontSwitch>) = all.into_iter().unzip();
    let (when, next) = match point.step {
        // The switch of the path comes first, see `successors`.
        PathStep::Take(_) => (successors[0].when, taken.swap_remove(0)),
        PathStep::Quiet => {
            let next = front.observe_silence(cx);
            (front.for_some(cx, next.state.path.facts()), next)
        }
    };
    let on_path = on_path(cx, front, &next, point.after);
    let (front, step) = (front.clone(), point.step);
    (StateSketch { front, step, when, known, delay, successors, on_path, silence }, next)
}

fn known_facts(cx: &mut Ctx<'_>, front: &CaseFront, rest: Term, pruning: Pruning) -> Vec<Term> {
    let mut known = front.known_facts(cx);
    if pruning == Pruning::Tool {
        let rest = front.over_observations(cx, rest);
        known.push(front.for_some(cx, &[rest]));
    }
    known
}

/// Every switch from the location of `front`, `id` first.
fn successors(
    cx: &mut Ctx<'_>,
    front: &CaseFront,
    id: Option<SwitchId>,
) -> Vec<(CaseSuccessor, FrontSwitch)> {
    let sts = cx.sts;
    let others = sts.switches_from(front.state.loc).map(|(other, _)| other);
    let others = others.filter(|&other| Some(other) != id);
    let mut found = Vec::new();
    for switch in id.into_iter().chain(others) {
        let taken = front.take_switch(cx, &sts.switches[switch]);
        let when = front.for_some(cx, taken.state.path.facts());
        let gate = sts.switches[switch].gate;
        found.push((CaseSuccessor { switch, gate, kind: sts.gates[gate].kind, when }, taken));
    }
    found
}

/// `∃ini: hidden ∧ step ∧ rest`.
fn on_path(cx: &mut Ctx<'_>, front: &CaseFront, next: &FrontSwitch, rest: Term) -> Term {
    let store = next.state.store.substitution(cx.sts);
    let rest = cx.pool.substitute(rest, &store);
    let facts: Vec<Term> = next.state.path.facts().iter().copied().chain([rest]).collect();
    front.for_some(cx, &facts)
}

fn is_refuted(cx: &mut Ctx<'_>, guard_solver: &mut GuardSolver, known: &[Term], fact: Term) -> bool {
    let facts: Vec<Term> = known.iter().copied().chain([fact]).collect();
    guard_solver.decide(cx, &facts) == SolverDecision::Unsat
}

/// Makes the arcs of states.
struct ArcMaker {
    guard_solver: GuardSolver,
    tm: VarId,
    /// The facts about the time-out.
    limit: Vec<Term>,
    pruning: Pruning,
    sending: SendTime,
    n_steps: usize,
}

/// An arc before its guard was checked against the facts at its state.
struct ArcDraft {
    rule: CaseRule,
    gate: Option<GateId>,
    switch: Option<SwitchId>,
    guard: Term,
    target: ArcTarget,
}

impl ArcMaker {
    fn make_state(&mut self, cx: &mut Ctx<'_>, n: usize, sketch: &StateSketch) -> CaseState {
        let mut drafts = self.of_path(cx, n, sketch);
        drafts.extend(self.of_siblings(cx, sketch));
        drafts.extend(self.of_unspecified(cx, sketch));
        drafts.extend(self.of_silence(cx, sketch));
        let facts: Vec<Term> = sketch.known.iter().chain(&self.limit).copied().collect();
        let arcs = drafts.into_iter().filter_map(|draft| self.arc(cx, sketch, &facts, draft)).collect();
        CaseState { loc: Some(sketch.front.state.loc), delay: sketch.delay, arcs }
    }

    /// R1, R2, R3, R6, R11, R12: the message or the silence of the path.
    fn of_path(&self, cx: &mut Ctx<'_>, n: usize, sketch: &StateSketch) -> Vec<ArcDraft> {
        let target = on_path_target(n, self.n_steps);
        if sketch.step == PathStep::Quiet {
            let guard = if self.pruning == Pruning::Tool { sketch.when } else { sketch.on_path };
            return vec![ArcDraft { rule: CaseRule::R12, gate: None, switch: None, guard, target }];
        }
        let next = &sketch.successors[0];
        let is_last = n + 1 == self.n_steps;
        let rule = match next.kind {
            GateKind::Input => CaseRule::R1,
            GateKind::Observed => CaseRule::R6,
            _ if is_last => CaseRule::R3,
            _ => CaseRule::R2,
        };
        let draft = |rule, guard, target| ArcDraft {
            rule,
            gate: Some(next.gate),
            switch: Some(next.switch),
            guard,
            target,
        };
        if rule == CaseRule::R1 {
            // The tester chooses the input, and only such that the rest of the path can follow; so no other arc is
            // needed.
            return vec![draft(rule, sketch.on_path, target)];
        }
        if self.pruning == Pruning::Tool {
            // The published generator stays on the path with every message that the switch allows, also where the rest
            // of the path cannot follow.
            let guard = self.in_time(cx, sketch, next.when);
            return vec![draft(rule, guard, target)];
        }
        let on = self.in_time(cx, sketch, sketch.on_path);
        // R11: the switch of the path may have been taken, but the rest of the path can no longer follow.
        let lost = cx.pool.not(sketch.on_path);
        let off = cx.pool.and([next.when, lost]);
        let off = self.in_time(cx, sketch, off);
        vec![draft(rule, on, target), draft(CaseRule::R11, off, ArcTarget::Verdict(CaseVerdict::IncOffPath))]
    }

    /// R4, R7: other messages the model mentions.
    fn of_siblings(&self, cx: &mut Ctx<'_>, sketch: &StateSketch) -> Vec<ArcDraft> {
        let mut drafts = Vec::new();
        for successor in sketch.siblings() {
            let (rule, verdict) = match successor.kind {
                GateKind::Output => (CaseRule::R4, CaseVerdict::IncOut),
                GateKind::Observed => (CaseRule::R7, CaseVerdict::IncInputSpec),
                GateKind::Input | GateKind::Internal => continue,
            };
            let guard = self.in_time(cx, sketch, successor.when);
            let (gate, switch) = (Some(successor.gate), Some(successor.switch));
            drafts.push(ArcDraft { rule, gate, switch, guard, target: ArcTarget::Verdict(verdict) });
        }
        drafts
    }

    /// R5, R8: messages the model does not mention.
    fn of_unspecified(&self, cx: &mut Ctx<'_>, sketch: &StateSketch) -> Vec<ArcDraft> {
        let mut drafts = Vec::new();
        for (gate, info) in cx.sts.gates.iter_enumerated() {
            let (rule, verdict) = match info.kind {
                GateKind::Output => (CaseRule::R5, CaseVerdict::FailOut),
                GateKind::Observed => (CaseRule::R8, CaseVerdict::IncInputUnspec),
                GateKind::Input | GateKind::Internal => continue,
            };
            let mentioned = sketch.successors.iter().filter(|successor| successor.gate == gate);
            // The conditions are over observations, with the initial values quantified: only what no possible initial
            // value allows counts as not mentioned.
            let some = cx.pool.or(mentioned.map(|successor| successor.when));
            let none = cx.pool.not(some);
            let guard = self.in_time(cx, sketch, none);
            drafts.push(ArcDraft {
                rule,
                gate: Some(gate),
                switch: None,
                guard,
                target: ArcTarget::Verdict(verdict),
            });
        }
        drafts
    }

    /// R9, R10: silence.
    fn of_silence(&self, cx: &mut Ctx<'_>, sketch: &StateSketch) -> Vec<ArcDraft> {
        let mut excuses = vec![sketch.silence.quiet];
        let mut late = cx.pool.tt();
        if cx.sts.is_timed() {
            excuses.push(sketch.silence.later);
            let (waited, limit) = (cx.pool.var(sketch.delay), cx.pool.var(self.tm));
            late = cx.pool.le(limit, waited);
        }
        let excused = cx.pool.or(excuses);
        let forbidden = cx.pool.not(excused);
        let draft = |rule, guard, verdict| ArcDraft {
            rule,
            gate: None,
            switch: None,
            guard,
            target: ArcTarget::Verdict(verdict),
        };
        let (mut allowed, wrong) = (cx.pool.and([late, excused]), cx.pool.and([late, forbidden]));
        if sketch.step == PathStep::Quiet {
            let lost = cx.pool.not(if self.pruning == Pruning::Tool { sketch.when } else { sketch.on_path });
            allowed = cx.pool.and([allowed, lost]);
        }
        vec![
            draft(CaseRule::R9, allowed, CaseVerdict::IncDur),
            draft(CaseRule::R10, wrong, CaseVerdict::FailDur),
        ]
    }

    /// `guard`, before the time-out.
    fn in_time(&self, cx: &mut Ctx<'_>, sketch: &StateSketch, guard: Term) -> Term {
        if !cx.sts.is_timed() {
            return guard;
        }
        let zero = cx.pool.value(Value::Real(Rational::ZERO));
        let (waited, limit) = (cx.pool.var(sketch.delay), cx.pool.var(self.tm));
        let (started, in_time) = (cx.pool.le(zero, waited), cx.pool.lt(waited, limit));
        cx.pool.and([started, in_time, guard])
    }

    /// The arc, unless `facts` refute its guard.
    fn arc(
        &mut self,
        cx: &mut Ctx<'_>,
        sketch: &StateSketch,
        facts: &[Term],
        draft: ArcDraft,
    ) -> Option<CaseArc> {
        let mut question = facts.to_vec();
        question.extend(cx.pool.conjuncts(draft.guard));
        // An undecided arc is kept, with the reason: guards are evaluated when the test runs, which needs no solver.
        let doubt: Option<UnknownReason> = match self.guard_solver.decide(cx, &question) {
            SolverDecision::Sat => None,
            SolverDecision::Unsat => return None,
            SolverDecision::Unknown(why) => Some(why),
        };
        let depth = sketch.front.state.depth + 1;
        let bases = draft.gate.map_or_else(Vec::new, |gate| cx.sts.gates[gate].fields.clone());
        let fields: Vec<VarId> = bases.into_iter().map(|field| cx.pool.indexed_var(field, depth)).collect();
        let witness = match draft.rule {
            CaseRule::R1 => {
                let input = TimedInput { guard: draft.guard, delay: sketch.delay, fields: &fields };
                witness::stimulus(cx, &mut self.guard_solver, facts, &input, self.sending)
            }
            _ => None,
        };
        let ArcDraft { rule, gate, switch, mut guard, target } = draft;
        // What depends on nothing that is observed holds, now that it is not refuted.
        if doubt.is_none() && cx.pool.free_vars(guard).is_empty() {
            guard = cx.pool.tt();
        }
        Some(CaseArc { rule, gate, fields, switch, guard, target, witness, doubt })
    }
}
