//! Execution of a case: the arc that each event takes.
//!
//! \[BLLN23] Def. 7: the values seen so far are kept; an event takes the arc of its message whose guard holds
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

/// An event of a run; its delay since the event before is given apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CaseEvent {
    /// A message, sent or seen.
    Message(GateId, Vec<Value>),
    /// No message until the time-out.
    Silence,
}

/// The result of an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CaseMoved {
    /// The event leads to this state.
    To(usize),
    /// The event ends the case with this verdict, by the arc at this position of the state before.
    Ended(CaseVerdict, usize),
    /// No arc has the event, as when the tester sends an input that the case does not ask for; the state stays.
    Nowhere,
}

/// The execution of a case.
#[derive(Clone, Debug)]
pub struct CaseExecution<C> {
    case: C,
    /// The number of the current state.
    at: usize,
    /// The values of the fields and delays observed so far, and of `TM`.
    seen: Valuation,
}

impl<C: Deref<Target = TestCase>> CaseExecution<C> {
    /// Starts at the first state; `timeout`, in seconds, counts if the case left the time-out open.
    #[must_use]
    pub fn new(case: C, timeout: &Rational) -> Self {
        let mut seen = Valuation::new();
        let timeout = case.timeout.as_ref().unwrap_or(timeout);
        seen.set(case.tm, Value::Real(timeout.clone()));
        Self { case, at: 0, seen }
    }

    /// The number of the current state.
    #[must_use]
    pub fn state(&self) -> usize {
        self.at
    }

    /// Returns the values of the fields and delays observed so far, and of `TM`.
    #[must_use]
    pub fn observed_values(&self) -> &Valuation {
        &self.seen
    }

    /// Takes the first arc for `event` whose guard holds, `delay` seconds after the event before.
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

/// Returns whether the guard of `arc` holds for the values seen. The solver is asked about a guard that cannot be
/// evaluated; without its answer the guard does not hold.
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
