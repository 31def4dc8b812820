//! The offers of a state: the switches that can be taken, and the field values for which they can.

use ioxide_model::concrete::ConcreteState;
use ioxide_model::sts::{GateId, GateKind, LocId, SwitchId};
use ioxide_model::term::{Substitution, Term};
use ioxide_model::value::Value;
use ioxide_smt::solver::{SolverAnswer, SolverDecision, UnknownReason};

use crate::cx::Ctx;
use crate::quiescence::after_waiting;
use crate::state::SymState;

/// A switch that can be taken, and the field values it can be taken with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SwitchOffer {
    /// The switch.
    pub switch: SwitchId,
    /// Its gate.
    pub gate: GateId,
    /// A formula over the fields of the gate: the values that enable the switch. For offers at a later instant, also
    /// over the delay before it.
    pub when: Term,
    /// The reason why the existence of such values is neither shown nor refuted.
    pub doubt: Option<UnknownReason>,
}

/// Returns the offers of `state` at gates of a kind that `want` accepts.
pub fn list_offers(
    cx: &mut Ctx<'_>,
    state: &ConcreteState,
    want: impl Fn(GateKind) -> bool,
) -> Vec<SwitchOffer> {
    let known = constant_substitution(cx, state);
    offers_at(cx, state.loc, (&known, &[]), want, WantedInstants::Now)
}

/// Returns the offers of the symbolic `state` at gates of a kind that `want` accepts; the condition of an offer may
/// mention unknown values, which the path of the state constrains further.
pub fn symbolic_offers(
    cx: &mut Ctx<'_>,
    state: &SymState,
    want: impl Fn(GateKind) -> bool,
) -> Vec<SwitchOffer> {
    let known = state.store.substitution(cx.sts);
    offers_at(cx, state.loc, (&known, state.path.facts()), want, WantedInstants::Now)
}

/// Returns the offers of `state` now or, in a timed system, after some delay.
pub(crate) fn offers_in_time(
    cx: &mut Ctx<'_>,
    state: &ConcreteState,
    want: impl Fn(GateKind) -> bool,
) -> Vec<SwitchOffer> {
    let known = constant_substitution(cx, state);
    offers_at(cx, state.loc, (&known, &[]), want, WantedInstants::NowOrLater)
}

/// Returns the offers of a symbolic state now or, in a timed system, after some delay.
pub(crate) fn symbolic_offers_in_time(
    cx: &mut Ctx<'_>,
    state: &SymState,
    want: impl Fn(GateKind) -> bool,
) -> Vec<SwitchOffer> {
    let known = state.store.substitution(cx.sts);
    offers_at(cx, state.loc, (&known, state.path.facts()), want, WantedInstants::NowOrLater)
}

/// The instants at which a switch is wanted.
#[derive(Clone, Copy, PartialEq, Eq)]
enum WantedInstants {
    Now,
    NowOrLater,
}

fn offers_at(
    cx: &mut Ctx<'_>,
    loc: LocId,
    (known, path): (&Substitution, &[Term]),
    want: impl Fn(GateKind) -> bool,
    instants: WantedInstants,
) -> Vec<SwitchOffer> {
    let sts = cx.sts;
    let mut found = Vec::new();
    for (id, switch) in sts.switches_from(loc) {
        if !want(sts.kind_of(switch)) || is_refuted(cx, switch.guard, known) {
            continue;
        }
        let when = match instants {
            WantedInstants::Now => switch.guard,
            WantedInstants::NowOrLater => after_waiting(cx, switch.guard),
        };
        let when = cx.pool.substitute(when, known);
        let facts: Vec<Term> = path.iter().copied().chain([when]).collect();
        // A switch is left out only if it is refuted; an open question makes an offer in doubt.
        let doubt = match cx.decide(&facts) {
            SolverDecision::Unsat => continue,
            SolverDecision::Sat => None,
            SolverDecision::Unknown(why) => Some(why),
        };
        found.push(SwitchOffer { switch: id, gate: switch.gate, when, doubt });
    }
    found
}

/// Returns whether the guard equates a variable that is no clock with another value than it has.
fn is_refuted(cx: &Ctx<'_>, guard: Term, known: &Substitution) -> bool {
    // Clocks are left out, because the guard may be asked about a later instant, at which they have other
    // values.
    let is_clock = |var| cx.sts.clocks.iter().any(|clock| clock.var == var);
    let value = |var| known.get(var).filter(|_| !is_clock(var)).and_then(|term| cx.pool.as_value(term));
    cx.pool.is_refuted_at_once(guard, value)
}

impl SwitchOffer {
    /// Returns field values that enable the switch: the first that the solver finds.
    ///
    /// # Errors
    /// If the solver cannot say.
    pub fn any_values(&self, cx: &mut Ctx<'_>) -> Result<Vec<Value>, UnknownReason> {
        let valuation = match cx.check(&[self.when]) {
            SolverAnswer::Sat(valuation) => valuation,
            // Only an offer in doubt gets here: for the others, `when` was satisfied when they were made.
            SolverAnswer::Unsat => return Err(UnknownReason::Incomplete),
            SolverAnswer::Unknown(why) => return Err(why),
        };
        let value = |field| match valuation.get(field) {
            Some(value) => value.clone(),
            None => cx.pool.default_value(cx.pool.var_info(field).sort),
        };
        Ok(cx.sts.gates[self.gate].fields.iter().copied().map(value).collect())
    }
}

/// The values of `state` as constant terms.
pub(crate) fn constant_substitution(cx: &mut Ctx<'_>, state: &ConcreteState) -> Substitution {
    state.values.iter().map(|(var, value)| (var, cx.pool.value(value.clone()))).collect()
}
