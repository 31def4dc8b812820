//! Instants as observed: for reports, and for testers, who plan by them. No verdict rests on them.

use ioxide_model::number::Rational;
use ioxide_model::sts::LocId;
use ioxide_model::term::{Substitution, Term};
use ioxide_model::value::Value;

use super::super::Forbidden;
use super::super::belief::Belief;
use super::TimedCourse;
use crate::cx::Ctx;
use crate::instants::change_instants;
use crate::outputs::constant_substitution;
use crate::quiescence::after_waiting;
use crate::state::{Store, SymState};

impl TimedCourse {
    /// Returns a delay from now, in seconds, after which no guard changes any more by time alone.
    pub(in super::super) fn time_horizon(&self, cx: &mut Ctx<'_>) -> Rational {
        let stores: Vec<(LocId, Substitution)> = match &self.held_belief.belief {
            Belief::Concrete(states) => {
                states.iter().map(|state| (state.loc, constant_substitution(cx, state))).collect()
            }
            Belief::Symbolic(states) => states.iter().map(|state| self.nominal_state(cx, state)).collect(),
            Belief::Unspecified => Vec::new(),
        };
        let sts = cx.sts;
        let mut last = Rational::ZERO;
        for (loc, store) in stores {
            for (_, switch) in sts.switches_from(loc) {
                let guard = after_waiting(cx, switch.guard);
                let guard = cx.pool.substitute(guard, &store);
                let delay = cx.delay;
                last = last.max(change_instants(cx, delay, guard).pop().unwrap_or(Rational::ZERO));
            }
        }
        // One second more than the last change, so that the instant lies within the last stretch, not on its edge.
        &last + &Rational::ONE
    }

    /// Returns the location and the values of `state`, if every instant were the one observed.
    fn nominal_state(&self, cx: &mut Ctx<'_>, state: &SymState) -> (LocId, Substitution) {
        let nominal = self.observed_instants(cx);
        let value = |(var, term)| (var, cx.pool.substitute(term, &nominal));
        (state.loc, state.store.iter(cx.sts).map(value).collect())
    }

    /// Returns the observed instants for the variables that stand for them.
    pub(super) fn observed_instants(&self, cx: &mut Ctx<'_>) -> Substitution {
        let mut nominal = Substitution::new();
        for (number, instant) in (1..).zip(&self.time.read) {
            let var = cx.pool.indexed_var(cx.instant, number);
            nominal.set(var, cx.pool.value(Value::Real(instant.clone())));
        }
        nominal
    }
}

/// Returns `forbidden` with instants as observed and without their bounds.
pub(super) fn as_read(cx: &mut Ctx<'_>, mut forbidden: Forbidden, read: &Substitution) -> Forbidden {
    if let Belief::Symbolic(states) = &mut forbidden.before {
        for state in states {
            let terms = state.store.terms().to_vec();
            state.store = Store::new(terms.into_iter().map(|term| cx.pool.substitute(term, read)).collect());
            let facts = state.path.facts().to_vec();
            // A fact about an instant only bounds the error of its measurement, which readers did not ask about.
            let is_plain = |fact: &Term| !cx.pool.free_vars(*fact).iter().any(|&var| read.get(var).is_some());
            state.path = facts.into_iter().filter(is_plain).collect();
        }
    }
    for offer in &mut forbidden.allowed {
        offer.when = cx.pool.substitute(offer.when, read);
    }
    forbidden
}
