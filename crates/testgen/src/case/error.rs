//! Errors of test purposes, and warnings about test cases.
//!
//! \[BLLN23] Def. 5: a test purpose can be followed, ends with an output, and is trace-deterministic: no
//! observation fits both a step of it and another switch with the same message, whatever the values at
//! start. It may end with silence too, which no switch shows. The check is made along the path, where what was
//! observed before counts.

use ioxide_model::goal::PathStep;
use ioxide_model::label::Label;
use ioxide_model::number::Rational;
use ioxide_model::sts::{GateKind, Sts, SwitchId};
use ioxide_model::term::{TermPool, VarId};
use ioxide_model::trace::Trace;
use ioxide_model::value::Value;
use ioxide_smt::solver::{SolverDecision, UnknownReason};
use ioxide_symex::{Ctx, SymState, after_silence, successor};

use super::build::StateSketch;
use super::guard_solver::GuardSolver;
use super::{CaseRule, TestCase, front};

/// The reason why there is no test case along a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CaseError {
    /// The path has no step.
    Empty,
    /// A step does not start where the one before it ends.
    Gap {
        /// The step, counted from 0.
        step: usize,
    },
    /// The path ends with an input: nothing the system does can end the test well.
    EndsWithInput,
    /// The model can take an internal step at a state of the path.
    Internal {
        /// The internal switch.
        switch: SwitchId,
    },
    /// No run takes the path up to and including this step.
    Unsatisfiable {
        /// The first step that cannot follow, counted from 0.
        step: usize,
    },
    /// A step and another switch have a trace in common.
    NotDeterministic {
        /// The step, counted from 0.
        step: usize,
        /// The other switch.
        other: SwitchId,
        /// A trace that takes either; `None` if the solver did not find one.
        trace: Option<Trace>,
    },
}

/// A warning to the reader of a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CaseLint {
    /// The time-out passes before the first message can come.
    TimeoutTooShort {
        /// The number of the state.
        state: usize,
        /// The time-out in seconds.
        timeout: Rational,
    },
    /// A value unknown at start matters on the path, and no observation of the path fixes it.
    NeverRevealed {
        /// The variable at start.
        var: VarId,
    },
    /// After the silence of the path, as long as the time-out, no arc follows the path any more.
    Unfollowed {
        /// The number of the state.
        state: usize,
    },
    /// The solver did not decide whether an arc can happen; it was kept.
    Undecided {
        /// The number of the state.
        state: usize,
        /// The rule of the arc.
        rule: CaseRule,
        /// The reason why the solver gave no answer.
        why: UnknownReason,
    },
    /// The solver did not decide whether a step can follow, or whether it can be distinguished from other switches.
    Unproved {
        /// The number of the state before the step.
        state: usize,
        /// The reason why the solver gave no answer.
        why: UnknownReason,
    },
}

impl CaseError {
    /// The error as a sentence; `sts` has the names.
    #[must_use]
    pub fn show(&self, sts: &Sts, path: &[PathStep]) -> String {
        let label = |id: SwitchId| &sts.switches[id].label;
        match self {
            Self::Empty => "the path has no step".into(),
            Self::Gap { step } => describe_gap(sts, path, *step),
            Self::EndsWithInput => match path.last() {
                Some(&last) => {
                    format!("the path ends with `{}`, which the system does not answer", last.name(sts))
                }
                None => "the path has no step".into(),
            },
            Self::Internal { switch } => format!(
                "the model can take the internal step `{}` at `{}`, which no test can see",
                label(*switch),
                sts.locations[sts.switches[*switch].source].name
            ),
            Self::Unsatisfiable { step } => format!(
                "the path cannot be followed: after {} steps, `{}` (step {}) is impossible",
                step,
                path[*step].name(sts),
                step + 1
            ),
            Self::NotDeterministic { step, other, .. } => format!(
                "the path is not trace-deterministic: at step {}, `{}` and `{}` can show the same",
                step + 1,
                path[*step].name(sts),
                label(*other)
            ),
        }
    }

    /// Returns advice on how to mend the path or the model.
    #[must_use]
    pub fn help(&self, pool: &TermPool, sts: &Sts) -> String {
        match self {
            Self::Empty => "name the transitions to take, as in `--path tr1,tr2`".into(),
            Self::Gap { .. } => "name every transition, or write `..` where ioxide may search the way".into(),
            Self::EndsWithInput => "add the output that answers it".into(),
            Self::Internal { .. } => {
                "give the step a message, or test with `ioxide test`, which follows internal steps".into()
            }
            Self::Unsatisfiable { .. } => {
                "check the guards of the steps before it; `ioxide step` executes them by hand".into()
            }
            Self::NotDeterministic { trace: Some(trace), .. } => {
                let labels: Vec<String> = trace.labels.iter().map(|label| label.show(pool, sts)).collect();
                format!("both take {}; make their guards exclude each other", labels.join(" "))
            }
            Self::NotDeterministic { trace: None, .. } => "make their guards exclude each other".into(),
        }
    }
}

/// Says why `step` does not follow the step before it.
fn describe_gap(sts: &Sts, path: &[PathStep], step: usize) -> String {
    let Some(switch) = path[step].switch().map(|id| &sts.switches[id]) else { return String::new() };
    let starts = &sts.locations[switch.source].name;
    match path[..step].iter().rev().find_map(|before| Some(&sts.switches[before.switch()?])) {
        Some(before) => format!(
            "there is no such path: `{}` leads to `{}`, but `{}` starts at `{starts}`",
            before.label, sts.locations[before.target].name, switch.label
        ),
        None => format!(
            "there is no such path: the model starts at `{}`, but `{}` starts at `{starts}`",
            sts.locations[sts.initial].name, switch.label
        ),
    }
}

impl CaseLint {
    /// The warning as a sentence.
    #[must_use]
    pub fn show(&self, pool: &TermPool) -> String {
        match self {
            Self::TimeoutTooShort { state, timeout } => format!(
                "the timeout of {timeout} s passes before any message can come at {}, so the test ends there \
                 without a verdict; wait longer",
                TestCase::state_name(*state)
            ),
            Self::NeverRevealed { var } => format!(
                "`{}` is unknown at start and no output shows it: some guards hold for some value of it only",
                base_name(&pool.var_info(*var).name)
            ),
            Self::Unfollowed { state } => format!(
                "no arc of {} follows the path: the timeout leaves no time for it",
                TestCase::state_name(*state)
            ),
            Self::Undecided { state, rule, why } => {
                format!(
                    "an arc of {} ({}) was kept in doubt: {why}",
                    TestCase::state_name(*state),
                    rule.word()
                )
            }
            Self::Unproved { state, why } => format!(
                "there is no proof that the step at {} can follow and differs from the others: {why}",
                TestCase::state_name(*state)
            ),
        }
    }
}

/// The name of a variable without the number of its step.
fn base_name(name: &str) -> &str {
    name.rsplit_once('@').map_or(name, |(base, _)| base)
}

/// Checks what needs no solver: the steps join, end with an output or silence, and meet no internal step.
pub(super) fn check_shape(sts: &Sts, path: &[PathStep]) -> Result<(), CaseError> {
    let last = *path.last().ok_or(CaseError::Empty)?;
    // Def. 5 lets a purpose be followed only if every step starts where the one before it ends.
    let mut loc = sts.initial;
    for (position, &step) in path.iter().enumerate() {
        let taken = step.switch().map(|id| &sts.switches[id]);
        if taken.is_some_and(|switch| switch.source != loc) {
            return Err(CaseError::Gap { step: position });
        }
        let internal = sts.switches_from(loc).find(|(_, switch)| sts.kind_of(switch) == GateKind::Internal);
        // An internal step may be taken unseen, and the case would not know where the model is.
        if let Some((switch, _)) = internal {
            return Err(CaseError::Internal { switch });
        }
        loc = taken.map_or(loc, |switch| switch.target);
    }
    let is_input = |id: SwitchId| sts.kind_of(&sts.switches[id]) != GateKind::Output;
    if last.switch().is_some_and(is_input) {
        return Err(CaseError::EndsWithInput);
    }
    Ok(())
}

/// Checks that step `n` can follow; a warning if the solver does not say.
pub(super) fn check_possible(
    cx: &mut Ctx<'_>,
    guard_solver: &mut GuardSolver,
    n: usize,
    sketch: &StateSketch,
) -> Result<Option<CaseLint>, CaseError> {
    let mut facts = sketch.front.known_facts(cx);
    facts.push(sketch.when);
    match guard_solver.decide(cx, &facts) {
        SolverDecision::Unsat => Err(CaseError::Unsatisfiable { step: n }),
        SolverDecision::Sat => Ok(None),
        SolverDecision::Unknown(why) => Ok(Some(CaseLint::Unproved { state: n, why })),
    }
}

/// Checks that no other switch with the message of step `n` fits an observation that fits it; a warning if the
/// solver does not say.
pub(super) fn check_deterministic(
    cx: &mut Ctx<'_>,
    guard_solver: &mut GuardSolver,
    path: &[PathStep],
    n: usize,
    sketch: &StateSketch,
) -> Result<Option<CaseLint>, CaseError> {
    // No switch shows silence.
    if sketch.step == PathStep::Quiet {
        return Ok(None);
    }
    let (step, siblings) = (&sketch.successors[0], sketch.siblings());
    let mut doubt = None;
    // Switches with other messages are told apart by the message.
    for other in siblings.iter().filter(|other| other.gate == step.gate) {
        let mut facts = sketch.front.known_facts(cx);
        facts.extend([step.when, other.when]);
        match guard_solver.decide(cx, &facts) {
            SolverDecision::Unsat => (),
            SolverDecision::Unknown(why) => doubt = Some(CaseLint::Unproved { state: n, why }),
            SolverDecision::Sat => {
                let trace = common_trace(cx, guard_solver, path, n, other.switch);
                return Err(CaseError::NotDeterministic { step: n, other: other.switch, trace });
            }
        }
    }
    Ok(doubt)
}

/// A trace that takes the first `n` steps and then either step `n` or `other`.
fn common_trace(
    cx: &mut Ctx<'_>,
    guard_solver: &mut GuardSolver,
    path: &[PathStep],
    n: usize,
    other: SwitchId,
) -> Option<Trace> {
    let sts = cx.sts;
    let mut state = SymState::initial(cx);
    for &step in &path[..n] {
        state = match step {
            PathStep::Take(id) => successor(cx, &state, &sts.switches[id]),
            PathStep::Quiet => after_silence(cx, &state),
        };
    }
    let unknowns = front::unknowns(cx);
    let mut facts = Vec::new();
    for id in path[n].switch().into_iter().chain([other]) {
        // Both steps have the same number, so they share the names of the delay and of the fields: what the solver
        // finds for these names is one observation that fits both.
        let next = successor(cx, &state, &sts.switches[id]);
        let all = cx.pool.and(next.path.facts().iter().copied());
        // Separately quantified: the two steps may rest on different initial values, and the observations are still the
        // same.
        facts.push(cx.pool.exists(&unknowns, all));
    }
    let valuation = guard_solver.values(cx, &facts)?;
    let mut labels = Vec::new();
    for (depth, &step) in (1..).zip(&path[..=n]) {
        let mut value = |base: VarId| {
            let var = cx.pool.indexed_var(base, depth);
            let default = cx.pool.default_value(cx.pool.var_info(var).sort);
            valuation.get(var).cloned().unwrap_or(default)
        };
        if sts.is_timed()
            && let Value::Real(time) = value(cx.delay)
        {
            labels.push(Label::Delay(time));
        }
        let Some(id) = step.switch() else {
            labels.push(Label::Quiescence);
            continue;
        };
        let gate = sts.switches[id].gate;
        let fields = sts.gates[gate].fields.iter().map(|&field| value(field)).collect();
        labels.extend(Label::message(sts, gate, fields));
    }
    Some(labels.into_iter().collect())
}

/// The values at start that matter on the path and that it never shows.
pub(super) fn unrevealed_values(cx: &Ctx<'_>, last: Option<&StateSketch>) -> Vec<CaseLint> {
    let vars = last.map_or_else(Vec::new, |sketch| sketch.front.unrevealed_variables(cx));
    vars.into_iter().map(|var| CaseLint::NeverRevealed { var }).collect()
}
