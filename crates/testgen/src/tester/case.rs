//! A path-guided test case as a tester: follows its arcs and ends with the verdict of the last one.
//!
//! 001 Def. 7, made to run. Where the case stimulates, value and instant are those the case was made with; if they
//! do not fit what was observed, others are asked for with everything observed put in. Observations take the
//! arc whose guard holds; silence counts at the time-out.
//!
//! *Promises.* It never says Fail: that is the monitor's, who says it in the same moment. Where an arc says Fail
//! and the monitor does not, the observation is within the tolerance of the clock, and the run is inconclusive.

use std::sync::Arc as Shared;

use ioxide_model::label::{Label, readable};
use ioxide_model::number::Rational;
use ioxide_model::sts::GateId;
use ioxide_model::term::Substitution;
use ioxide_model::trace::Trace;
use ioxide_model::value::Value;
use ioxide_smt::solver::{Answer, Decision};
use ioxide_symex::{After, Ctx};

use super::instant::nanoseconds;
use super::{Finding, Move, Stop, Tester};
use crate::case::{Arc, Case, CaseState, CaseVerdict, Event, Execution, Moved, Rule};

/// Follows one test case.
#[derive(Clone, Debug)]
pub struct CaseGuided {
    case: Shared<Case>,
    name: String,
    /// Waited for where the case left its time-out open.
    timeout: Rational,
    run: Run,
}

/// How far a run has come.
#[derive(Clone, Debug)]
struct Run {
    execution: Execution<Shared<Case>>,
    /// Labels of the history taken into account.
    seen: usize,
    /// Seconds since the last message.
    waited: Rational,
    ended: Option<Ended>,
}

/// How a run ended.
#[derive(Clone, Debug)]
enum Ended {
    /// By this arc of this state, at this event.
    Arc { state: usize, arc: usize, verdict: CaseVerdict, event: String },
    /// Not by an arc.
    Lost(String),
}

impl CaseGuided {
    /// A tester that follows `case`; `timeout` is for a case that left it open.
    #[must_use]
    pub fn new(case: Case, name: &str, timeout: Rational) -> Self {
        let case = Shared::new(case);
        let run = Run::new(&case, &timeout);
        Self { case, name: name.to_owned(), timeout, run }
    }

    fn state(&self) -> Option<&CaseState> {
        self.case.states.get(self.run.execution.state())
    }

    /// The time-out of the case.
    fn timeout(&self) -> &Rational {
        self.case.timeout.as_ref().unwrap_or(&self.timeout)
    }

    /// Takes the labels into account that came since the last move.
    fn catch_up(&mut self, cx: &mut Ctx<'_>, history: &Trace) {
        while self.run.ended.is_none()
            && let Some(label) = history.labels.get(self.run.seen)
        {
            self.run.seen += 1;
            match label {
                Label::Delay(time) => {
                    self.run.waited = self.run.waited.add(time);
                    let is_last = self.run.seen == history.len();
                    if is_last && self.run.waited >= *self.timeout() {
                        self.take(cx, &Event::Silence, label);
                    }
                }
                Label::Quiescence => self.take(cx, &Event::Silence, label),
                Label::Input(gate, values) | Label::Output(gate, values) => {
                    self.take(cx, &Event::Message(*gate, values.clone()), label);
                }
            }
        }
    }

    /// Moves on by one event.
    fn take(&mut self, cx: &mut Ctx<'_>, event: &Event, label: &Label) {
        let state = self.run.execution.state();
        let waited = std::mem::replace(&mut self.run.waited, Rational::ZERO);
        let shown = shown(cx, event, label, &waited);
        self.run.ended = match self.run.execution.observe(cx, &waited, event) {
            Moved::To(_) => None,
            Moved::Ended(verdict, arc) => Some(Ended::Arc { state, arc, verdict, event: shown }),
            Moved::Nowhere => {
                Some(Ended::Lost(format!("no arc of {} is about {shown}", Case::state_name(state))))
            }
        };
    }

    /// Gives the input of the arc, at its instant.
    fn stimulate(&self, cx: &mut Ctx<'_>, arc: &Arc, gate: GateId) -> Move {
        let Some((wait, values)) = self.stimulus(cx, arc) else {
            let state = Case::state_name(self.run.execution.state());
            let reason = format!("no input leads on along the path from {state}");
            return Move::Stop(Stop::GoalMissed(reason));
        };
        match Label::message(cx.sts, gate, values) {
            Some(label) if self.case.is_timed => Move::StimulateAfter(wait, label),
            Some(label) => Move::Stimulate(label),
            None => Move::Observe,
        }
    }

    /// How long to wait from now, and what to send.
    fn stimulus(&self, cx: &mut Ctx<'_>, arc: &Arc) -> Option<(Rational, Vec<Value>)> {
        let state = self.state()?;
        let mut known = Substitution::new();
        for (var, value) in self.run.execution.seen().iter() {
            known.set(var, cx.pool.value(value.clone()));
        }
        let guard = cx.pool.substitute(arc.guard, &known);
        if let Some(witness) = &arc.witness
            && witness.delay >= self.run.waited
        {
            let mut chosen = Substitution::new();
            chosen.set(state.delay, cx.pool.value(Value::Real(witness.delay.clone())));
            for (&field, value) in arc.fields.iter().zip(&witness.values) {
                chosen.set(field, cx.pool.value(value.clone()));
            }
            let fits = cx.pool.substitute(guard, &chosen);
            if witness.always || cx.decide(&[fits]) == Decision::Sat {
                return Some((witness.delay.sub(&self.run.waited), witness.values.clone()));
            }
        }
        let (delay, waited) = (cx.pool.var(state.delay), cx.pool.value(Value::Real(self.run.waited.clone())));
        let later = cx.pool.le(waited, delay);
        let Answer::Sat(found) = cx.check(&[guard, later]) else { return None };
        let value = |var| {
            let default = cx.pool.default_value(cx.pool.var_info(var).sort);
            found.get(var).cloned().unwrap_or(default)
        };
        let delay = value(state.delay).as_real().cloned().unwrap_or_else(|| self.run.waited.clone());
        let values = arc.fields.iter().map(|&field| value(field)).collect();
        Some((delay.sub(&self.run.waited), values))
    }

    /// The end in words.
    fn stop(&self, ended: &Ended) -> Stop {
        match ended {
            Ended::Lost(reason) => Stop::GoalMissed(reason.clone()),
            Ended::Arc { state, arc, verdict, event } => {
                let rule = self.case.states[*state].arcs[*arc].rule.word();
                let state = Case::state_name(*state);
                let (word, what) = (verdict.word(), meaning(*verdict));
                let reason = format!("{word} by {rule} at {state}: {event}, {what}");
                match verdict {
                    CaseVerdict::Pass => Stop::GoalMet(reason),
                    _ => Stop::GoalMissed(reason),
                }
            }
        }
    }
}

impl Run {
    fn new(case: &Shared<Case>, timeout: &Rational) -> Self {
        let execution = Execution::new(Shared::clone(case), timeout);
        Self { execution, seen: 0, waited: Rational::ZERO, ended: None }
    }
}

impl Tester for CaseGuided {
    fn start(&mut self, _seed: u64) {
        self.run = Run::new(&self.case, &self.timeout);
    }

    fn goal(&self) -> Option<String> {
        Some(self.name.clone())
    }

    fn next(&mut self, cx: &mut Ctx<'_>, _after: &After, history: &Trace) -> Move {
        self.catch_up(cx, history);
        if let Some(ended) = &self.run.ended {
            return Move::Stop(self.stop(ended));
        }
        let Some(state) = self.state() else {
            return Move::Stop(Stop::GoalMissed("the case has no such state".into()));
        };
        let stimulation = state.arcs.iter().find(|arc| arc.rule == Rule::R1);
        match stimulation.and_then(|arc| Some((arc.clone(), arc.gate?))) {
            Some((arc, gate)) => self.stimulate(cx, &arc, gate),
            None if !self.case.is_timed => Move::Observe,
            None => Move::ObserveFor(nanoseconds(&self.timeout().sub(&self.run.waited))),
        }
    }

    fn finding(&mut self, cx: &mut Ctx<'_>, history: &Trace) -> Option<Finding> {
        self.catch_up(cx, history);
        let Ended::Arc { state, arc, verdict, event } = self.run.ended.as_ref()? else { return None };
        let guard = self.case.states[*state].arcs[*arc].guard;
        Some(Finding {
            word: verdict.word().into(),
            rule: self.case.states[*state].arcs[*arc].rule.word().into(),
            state: Case::state_name(*state),
            event: event.clone(),
            because: Some(cx.pool.show(guard).to_string()),
        })
    }
}

/// The event as people write it, with its delay.
fn shown(cx: &Ctx<'_>, event: &Event, label: &Label, waited: &Rational) -> String {
    let after = match (cx.sts.is_timed(), event) {
        (true, _) => format!("after {} s ", readable(waited)),
        (false, _) => String::new(),
    };
    match event {
        Event::Message(..) => format!("{after}{}", label.show(cx.pool, cx.sts)),
        Event::Silence if after.is_empty() => "silence".into(),
        Event::Silence => format!("silence for {} s", readable(waited)),
    }
}

/// What a verdict means, for people.
fn meaning(verdict: CaseVerdict) -> &'static str {
    match verdict {
        CaseVerdict::Pass => "the end of the path",
        CaseVerdict::FailOut => "which the model does not allow, though the tolerance of the clock may",
        CaseVerdict::FailDur => "too long for the model, though the tolerance of the clock may allow it",
        CaseVerdict::IncOut => "another output than the path has",
        CaseVerdict::IncDur => "which the model allows, but the path does not go on",
        CaseVerdict::IncInputSpec => "another message from outside than the path has",
        CaseVerdict::IncInputUnspec => "a message from outside that the model does not mention",
        CaseVerdict::IncOffPath => "on the path, but the rest of it cannot follow any more",
    }
}
