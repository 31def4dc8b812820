//! A path-guided test case as a tester: follows its arcs and ends with the verdict of the last one.
//!
//! \[BLLN23] Def. 7, made to run. Where the case stimulates, values and instant are those the case was made with; if
//! they do not fit the observations so far, others are asked of the solver, with these observations. Observations take
//! the arc whose guard holds; silence counts at the time-out.
//!
//! *Promises.* The tester never says Fail: that is the monitor's, which says it in the same moment. Where an arc leads
//! to Fail and the monitor does not say so, the observation is within the tolerance of the clock, and the run is
//! inconclusive.

use std::sync::Arc as Shared;

use ioxide_model::label::{Label, readable};
use ioxide_model::number::Rational;
use ioxide_model::sts::GateId;
use ioxide_model::term::Substitution;
use ioxide_model::trace::Trace;
use ioxide_model::value::Value;
use ioxide_smt::solver::{SolverAnswer, SolverDecision};
use ioxide_symex::{Ctx, Monitor};

use super::instant::nanoseconds;
use super::{MethodFinding, Tester, TesterMove, TesterStop};
use crate::case::{CaseArc, CaseEvent, CaseExecution, CaseMoved, CaseRule, CaseState, CaseVerdict, TestCase};

/// Follows one test case.
#[derive(Clone, Debug)]
pub struct CaseGuided {
    case: Shared<TestCase>,
    name: String,
    /// The time-out in seconds for a case that left it open.
    timeout: Rational,
    run: CaseRun,
}

/// The progress of a run.
#[derive(Clone, Debug)]
struct CaseRun {
    execution: CaseExecution<Shared<TestCase>>,
    /// The number of labels of the history taken into account.
    seen: usize,
    /// Seconds since the last message.
    waited: Rational,
    ended: Option<CaseEnd>,
}

/// The end of a run.
#[derive(Clone, Debug)]
enum CaseEnd {
    /// The run ended by this arc of this state, at this event.
    Arc { state: usize, arc: usize, verdict: CaseVerdict, event: String },
    /// The run ended without an arc.
    Lost(String),
}

impl CaseGuided {
    /// Makes a tester that follows `case`; `timeout`, in seconds, counts if the case left it open.
    #[must_use]
    pub fn new(case: TestCase, name: &str, timeout: Rational) -> Self {
        let case = Shared::new(case);
        let run = CaseRun::new(&case, &timeout);
        Self { case, name: name.to_owned(), timeout, run }
    }

    /// Returns the state of the case that the run is in; `None` if the case does not have it.
    fn state(&self) -> Option<&CaseState> {
        self.case.states.get(self.run.execution.state())
    }

    /// The time-out of the case.
    fn timeout(&self) -> &Rational {
        self.case.timeout.as_ref().unwrap_or(&self.timeout)
    }

    /// Takes the labels since the last move into account.
    fn catch_up(&mut self, cx: &mut Ctx<'_>, trace: &Trace) {
        while self.run.ended.is_none()
            && let Some(label) = trace.labels.get(self.run.seen)
        {
            self.run.seen += 1;
            match label {
                Label::Delay(time) => {
                    self.run.waited = &self.run.waited + time;
                    // A delay before a message only dates that message; the time-out is over only if nothing followed.
                    let is_last = self.run.seen == trace.len();
                    if is_last && self.run.waited >= *self.timeout() {
                        self.apply_event(cx, &CaseEvent::Silence, label);
                    }
                }
                Label::Quiescence => self.apply_event(cx, &CaseEvent::Silence, label),
                Label::Input(gate, values) | Label::Output(gate, values) => {
                    self.apply_event(cx, &CaseEvent::Message(*gate, values.clone()), label);
                }
            }
        }
    }

    /// Takes one event into account.
    fn apply_event(&mut self, cx: &mut Ctx<'_>, event: &CaseEvent, label: &Label) {
        let state = self.run.execution.state();
        // Delays of the case count from one event to the next.
        let waited = std::mem::replace(&mut self.run.waited, Rational::ZERO);
        let shown = event_text(cx, event, label, &waited);
        self.run.ended = match self.run.execution.observe(cx, &waited, event) {
            CaseMoved::To(_) => None,
            CaseMoved::Ended(verdict, arc) => Some(CaseEnd::Arc { state, arc, verdict, event: shown }),
            CaseMoved::Nowhere => {
                Some(CaseEnd::Lost(format!("no arc of {} is about {shown}", TestCase::state_name(state))))
            }
        };
    }

    /// Returns the move that gives the input of the arc, at its instant.
    fn stimulate(&self, cx: &mut Ctx<'_>, arc: &CaseArc, gate: GateId) -> TesterMove {
        let Some((wait, values)) = self.stimulus(cx, arc) else {
            let state = TestCase::state_name(self.run.execution.state());
            let reason = format!("no input leads on along the path from {state}");
            return TesterMove::Stop(TesterStop::Inconclusive(reason));
        };
        match Label::message(cx.sts, gate, values) {
            Some(label) if self.case.is_timed => TesterMove::StimulateAfter(wait, label),
            Some(label) => TesterMove::Stimulate(label),
            None => TesterMove::Observe,
        }
    }

    /// Returns the seconds to wait from now, and the values to send; `None` if no values lead on.
    fn stimulus(&self, cx: &mut Ctx<'_>, arc: &CaseArc) -> Option<(Rational, Vec<Value>)> {
        let state = self.state()?;
        let mut known = Substitution::new();
        for (var, value) in self.run.execution.observed_values().iter() {
            known.set(var, cx.pool.value(value.clone()));
        }
        let guard = cx.pool.substitute(arc.guard, &known);
        // First the input that was chosen when the case was made: it costs no solving time, unless what was observed
        // since rules it out.
        if let Some(witness) = &arc.witness
            && witness.delay >= self.run.waited
        {
            let mut chosen = Substitution::new();
            chosen.set(state.delay, cx.pool.value(Value::Real(witness.delay.clone())));
            for (&field, value) in arc.fields.iter().zip(&witness.values) {
                chosen.set(field, cx.pool.value(value.clone()));
            }
            let fits = cx.pool.substitute(guard, &chosen);
            if witness.always || cx.decide(&[fits]) == SolverDecision::Sat {
                return Some((&witness.delay - &self.run.waited, witness.values.clone()));
            }
        }
        // Other values, at an instant that is not over yet.
        let (delay, waited) = (cx.pool.var(state.delay), cx.pool.value(Value::Real(self.run.waited.clone())));
        let later = cx.pool.le(waited, delay);
        let SolverAnswer::Sat(found) = cx.check(&[guard, later]) else { return None };
        let value = |var| {
            let default = cx.pool.default_value(cx.pool.var_info(var).sort);
            found.get(var).cloned().unwrap_or(default)
        };
        let delay = value(state.delay).as_real().cloned().unwrap_or_else(|| self.run.waited.clone());
        let values = arc.fields.iter().map(|&field| value(field)).collect();
        Some((&delay - &self.run.waited, values))
    }

    /// The end as text for people.
    fn stop_with(&self, ended: &CaseEnd) -> TesterStop {
        match ended {
            CaseEnd::Lost(reason) => TesterStop::Inconclusive(reason.clone()),
            CaseEnd::Arc { state, arc, verdict, event } => {
                let rule = self.case.states[*state].arcs[*arc].rule.word();
                let state = TestCase::state_name(*state);
                let (word, what) = (verdict.word(), meaning(*verdict));
                let reason = format!("{word} by {rule} at {state}: {event}, {what}");
                match verdict {
                    CaseVerdict::Pass => TesterStop::GoalMet(reason),
                    _ => TesterStop::Inconclusive(reason),
                }
            }
        }
    }
}

impl CaseRun {
    /// Starts `case` at its first state.
    fn new(case: &Shared<TestCase>, timeout: &Rational) -> Self {
        let execution = CaseExecution::new(Shared::clone(case), timeout);
        Self { execution, seen: 0, waited: Rational::ZERO, ended: None }
    }
}

impl Tester for CaseGuided {
    fn start(&mut self, _seed: u64) {
        self.run = CaseRun::new(&self.case, &self.timeout);
    }

    fn is_memoryless(&self) -> bool {
        true
    }

    fn goal(&self) -> Option<String> {
        Some(self.name.clone())
    }

    fn next(&mut self, cx: &mut Ctx<'_>, _monitor: &Monitor, trace: &Trace) -> TesterMove {
        self.catch_up(cx, trace);
        if let Some(ended) = &self.run.ended {
            return TesterMove::Stop(self.stop_with(ended));
        }
        // A case from a file may lead to a state that it does not have.
        let Some(state) = self.state() else {
            return TesterMove::Stop(TesterStop::Inconclusive("the case has no such state".into()));
        };
        // A state has at most one arc by rule R1. If it has one, it stimulates, otherwise it observes.
        let stimulation = state.arcs.iter().find(|arc| arc.rule == CaseRule::R1);
        match stimulation.and_then(|arc| Some((arc.clone(), arc.gate?))) {
            Some((arc, gate)) => self.stimulate(cx, &arc, gate),
            None if !self.case.is_timed => TesterMove::Observe,
            None => TesterMove::ObserveFor(nanoseconds(&(self.timeout() - &self.run.waited))),
        }
    }

    fn finding(&mut self, cx: &mut Ctx<'_>, trace: &Trace) -> Option<MethodFinding> {
        self.catch_up(cx, trace);
        let CaseEnd::Arc { state, arc, verdict, event } = self.run.ended.as_ref()? else { return None };
        let guard = self.case.states[*state].arcs[*arc].guard;
        Some(MethodFinding {
            word: verdict.word().into(),
            rule: self.case.states[*state].arcs[*arc].rule.word().into(),
            state: TestCase::state_name(*state),
            event: event.clone(),
            because: Some(cx.pool.show(guard).to_string()),
        })
    }
}

/// The event as people write it, with its delay.
fn event_text(cx: &Ctx<'_>, event: &CaseEvent, label: &Label, waited: &Rational) -> String {
    let after = match (cx.sts.is_timed(), event) {
        (true, _) => format!("after {} s ", readable(waited)),
        (false, _) => String::new(),
    };
    match event {
        CaseEvent::Message(..) => format!("{after}{}", label.show(cx.pool, cx.sts)),
        CaseEvent::Silence if after.is_empty() => "silence".into(),
        CaseEvent::Silence => format!("silence for {} s", readable(waited)),
    }
}

/// Returns the meaning of a verdict as text for people.
fn meaning(verdict: CaseVerdict) -> &'static str {
    match verdict {
        CaseVerdict::Pass => "the end of the path",
        CaseVerdict::FailOut => "which the model does not allow, though the tolerance of the clock may",
        CaseVerdict::FailDur => "too long for the model, though the tolerance of the clock may allow it",
        CaseVerdict::IncOut => "another output than the path has",
        CaseVerdict::IncDur => "which the model allows, but the path does not continue",
        CaseVerdict::IncInputSpec => "another message from outside than the path has",
        CaseVerdict::IncInputUnspec => "a message from outside that the model does not mention",
        CaseVerdict::IncOffPath => "on the path, but the rest of the path is no longer possible",
    }
}
