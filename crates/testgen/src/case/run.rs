//! A case followed along events: which arc each one takes.
//!
//! [BLLN23] Def. 7: the values seen so far are kept; an event takes the arc of its message whose guard holds
//! under them. Guards without quantifiers are evaluated, the others are asked of the solver.

use std::ops::Deref;

use ioxide_model::number::Rational;
use ioxide_model::sts::GateId;
use ioxide_model::term::{Substitution, Term};
use ioxide_model::valuation::Valuation;
use ioxide_model::value::Value;
use ioxide_smt::solver::SolverDecision;
use ioxide_symex::Ctx;

use super::{ArcTarget, CaseArc, CaseVerdict, TestCase};

/// What happened, some time after the event before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CaseEvent {
    /// A message, sent or seen.
    Message(GateId, Vec<Value>),
    /// Nothing.
    Silence,
}

/// Where an event led.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CaseMoved {
    /// To this state.
    To(usize),
    /// To the end, by this arc of the state before.
    Ended(CaseVerdict, usize),
    /// Nowhere: no arc is about it, as when the tester sends what the case does not ask for.
    Nowhere,
}

/// A case on its way.
#[derive(Clone, Debug)]
pub struct CaseExecution<C> {
    case: C,
    /// The state it is at.
    at: usize,
    /// What was seen, and the time-out.
    seen: Valuation,
}

impl<C: Deref<Target = TestCase>> CaseExecution<C> {
    /// At the first state; `timeout` is for a case that left it open.
    #[must_use]
    pub fn new(case: C, timeout: &Rational) -> Self {
        let mut seen = Valuation::new();
        let timeout = case.timeout.as_ref().unwrap_or(timeout);
        seen.set(case.tm, Value::Real(timeout.clone()));
        Self { case, at: 0, seen }
    }

    /// The state it is at.
    #[must_use]
    pub fn state(&self) -> usize {
        self.at
    }

    /// What was seen so far, and the time-out.
    #[must_use]
    pub fn seen(&self) -> &Valuation {
        &self.seen
    }

    /// Moves on by `event`, `delay` seconds after the one before.
    pub fn observe(&mut self, cx: &mut Ctx<'_>, delay: &Rational, event: &CaseEvent) -> CaseMoved {
        let Some(state) = self.case.states.get(self.at) else { return CaseMoved::Nowhere };
        let mut seen = self.seen.clone();
        seen.set(state.delay, Value::Real(delay.clone()));
        let gate = match event {
            CaseEvent::Message(gate, _) => Some(*gate),
            CaseEvent::Silence => None,
        };
        for (n, arc) in state.arcs.iter().enumerate().filter(|(_, arc)| arc.gate == gate) {
            let mut seen = seen.clone();
            if let CaseEvent::Message(_, values) = event {
                for (&field, value) in arc.fields.iter().zip(values) {
                    seen.set(field, value.clone());
                }
            }
            if !holds(cx, arc, &seen) {
                continue;
            }
            return match arc.target {
                ArcTarget::Verdict(verdict) => CaseMoved::Ended(verdict, n),
                ArcTarget::State(next) => {
                    self.seen = seen;
                    self.at = next;
                    CaseMoved::To(next)
                }
            };
        }
        CaseMoved::Nowhere
    }
}

fn holds(cx: &mut Ctx<'_>, arc: &CaseArc, seen: &Valuation) -> bool {
    if let Ok(holds) = cx.pool.holds(arc.guard, seen) {
        return holds;
    }
    let mut known = Substitution::new();
    for (var, value) in seen.iter() {
        known.set(var, cx.pool.value(value.clone()));
    }
    let guard: Term = cx.pool.substitute(arc.guard, &known);
    cx.decide(&[guard]) == SolverDecision::Sat
}
