//! Inputs for a belief: the switches that take one, its values, and its instant.

use std::borrow::Cow;

use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use ioxide_model::concrete::{ConcreteState, advance_clocks};
use ioxide_model::label::Label;
use ioxide_model::number::Rational;
use ioxide_model::sts::{GateKind, LocId, Sts, SwitchId};
use ioxide_model::term::{Term, TermPool, VarId};
use ioxide_model::valuation::Valuation;
use ioxide_model::value::Value;
use ioxide_smt::solver::UnknownReason;
use ioxide_symex::{Belief, Ctx, Monitor, SwitchStep, SymState, take_switch};

use super::TesterMove;
use super::instant::{self, TriedInstants, WaitingCost};
use crate::data::{Hints, PickedValues, ValueRequest, draw_keys, pick_hinted, pick_symbolic};

/// The number of states tried for the values of one switch. Chosen by feel: each may cost a question, and the tester
/// waits.
const MAX_TRIED_STATES: usize = 8;

/// A belief, borrowed.
pub(super) enum BorrowedBelief<'a> {
    Concrete(Vec<&'a ConcreteState>),
    Symbolic(Vec<&'a SymState>),
}

impl<'a> BorrowedBelief<'a> {
    /// The states of `monitor`; `None` where the specification leaves all open.
    pub(super) fn from_monitor(monitor: &'a Monitor) -> Option<Self> {
        match monitor.belief() {
            Belief::Concrete(states) => Some(Self::Concrete(states.iter().collect())),
            Belief::Symbolic(states) => Some(Self::Symbolic(states.iter().collect())),
            Belief::Unspecified => None,
        }
    }

    /// The locations, in order, each once.
    pub(super) fn locations(&self) -> Vec<LocId> {
        let mut found: Vec<LocId> = match self {
            Self::Concrete(states) => states.iter().map(|state| state.loc).collect(),
            Self::Symbolic(states) => states.iter().map(|state| state.loc).collect(),
        };
        found.sort_unstable();
        found.dedup();
        found
    }

    /// The switches from locations of the belief that take an input of the tester.
    pub(super) fn inputs(&self, sts: &Sts) -> Vec<SwitchId> {
        let is_input = |id: &SwitchId| sts.kind_of(&sts.switches[*id]) == GateKind::Input;
        let from = |loc: LocId| sts.switches_from(loc).map(|(id, _)| id).collect::<Vec<_>>();
        self.locations().into_iter().flat_map(from).filter(is_input).collect()
    }

    /// Returns whether an output, an observed input or an internal step may happen. Switches whose guards are false
    /// without regard to their fields do not count, unless time may change them.
    pub(super) fn may_speak(&self, pool: &TermPool, sts: &Sts) -> bool {
        let is_heard = |kind: GateKind| kind != GateKind::Input;
        match self {
            Self::Concrete(states) if !sts.is_timed() => states.iter().any(|state| {
                let mut heard = sts.switches_from(state.loc).filter(|(_, s)| is_heard(sts.kind_of(s)));
                heard.any(|(_, switch)| !is_refuted(pool, switch.guard, state))
            }),
            _ => self.locations().into_iter().any(|loc| {
                let mut switches = sts.switches_from(loc);
                switches.any(|(_, switch)| is_heard(sts.kind_of(switch)))
            }),
        }
    }
}

/// Returns whether a conjunct of `guard` is false by the values of `state` alone.
fn is_refuted(pool: &TermPool, guard: Term, state: &ConcreteState) -> bool {
    pool.conjuncts(guard).into_iter().any(|conjunct| pool.holds(conjunct, &state.values) == Ok(false))
}

/// The choice of values and an instant for an input.
pub(super) struct StimulusChoice<'s> {
    pub(super) rng: &'s mut ChaCha8Rng,
    pub(super) hints: Hints<'s>,
    /// The cost of waiting, by which instants are chosen in a timed model.
    pub(super) timing: WaitingCost,
    /// The instants tried so far, if the least tried ones are preferred.
    tried: Option<&'s mut TriedInstants>,
    /// The seconds to wait before the input, and the greatest delay for a symbolic belief of a timed model.
    wait: Rational,
    horizon: Option<Rational>,
    /// The reason why the solver found no values; `None` if it answered.
    pub(super) owed: Option<UnknownReason>,
}

impl<'s> StimulusChoice<'s> {
    /// Makes a choice without a wait, without a horizon and without an unanswered query.
    pub(super) fn new(rng: &'s mut ChaCha8Rng, hints: Hints<'s>, timing: WaitingCost) -> Self {
        Self { rng, hints, timing, tried: None, wait: Rational::ZERO, horizon: None, owed: None }
    }

    /// Prefers instants that were tried least.
    pub(super) fn with_tried_instants(self, tried: &'s mut TriedInstants) -> Self {
        Self { tried: Some(tried), ..self }
    }

    /// Returns an input by `id` that some state of the belief accepts, with its instant.
    pub(super) fn choose_input(
        &mut self,
        cx: &mut Ctx<'_>,
        monitor: &Monitor,
        belief: &BorrowedBelief<'_>,
        id: SwitchId,
    ) -> Option<TesterMove> {
        self.wait = Rational::ZERO;
        self.horizon = cx.sts.is_timed().then(|| monitor.time_horizon(cx));
        let values = self.values(cx, belief, id)?;
        let label = Label::message(cx.sts, cx.sts.switches[id].gate, values)?;
        Some(if cx.sts.is_timed() {
            TesterMove::StimulateAfter(self.wait.clone(), label)
        } else {
            TesterMove::Stimulate(label)
        })
    }

    /// Returns values with which `id` can be taken from some state of the belief; `None` if none were found.
    fn values(&mut self, cx: &mut Ctx<'_>, belief: &BorrowedBelief<'_>, id: SwitchId) -> Option<Vec<Value>> {
        let source = cx.sts.switches[id].source;
        match belief {
            BorrowedBelief::Concrete(states) => {
                let mut here: Vec<&ConcreteState> =
                    states.iter().copied().filter(|state| state.loc == source).collect();
                // The order of the belief is that of the search, which would favour the same states every time.
                here.shuffle(self.rng);
                here.iter().take(MAX_TRIED_STATES).find_map(|state| self.concrete(cx, state, id))
            }
            BorrowedBelief::Symbolic(states) => {
                let mut here: Vec<&SymState> =
                    states.iter().copied().filter(|state| state.loc == source).collect();
                here.shuffle(self.rng);
                here.iter().take(MAX_TRIED_STATES).find_map(|state| self.symbolic(cx, state, id))
            }
        }
    }

    /// Returns values for the input of `id` in a known state, and notes the wait before it; `None` if none
    /// were found.
    fn concrete(&mut self, cx: &mut Ctx<'_>, state: &ConcreteState, id: SwitchId) -> Option<Vec<Value>> {
        let switch = &cx.sts.switches[id];
        let mut there = Cow::Borrowed(state);
        if cx.sts.is_timed() {
            let (bounds, tried) = (self.hints.clock_bounds, self.tried.as_deref_mut());
            self.wait = instant::choose(cx, self.rng, state, id, self.timing, bounds, tried)?;
            // The instant comes first and the values are chosen for the state at that instant: guards relate both, and
            // a concrete state after the wait is cheaper to satisfy than a formula over the delay.
            there = Cow::Owned(advance_clocks(cx.sts, state, &self.wait));
        }
        let wish = ValueRequest { gate: switch.gate, guard: switch.guard, state: &there.values };
        let picked = pick_hinted(cx, self.rng, &wish, &self.hints);
        self.values_of(picked)
    }

    /// Returns values for the input of `id` in a symbolic state, and notes the wait before it; `None` if none
    /// were found.
    fn symbolic(&mut self, cx: &mut Ctx<'_>, state: &SymState, id: SwitchId) -> Option<Vec<Value>> {
        let next = match take_switch(cx, state, id) {
            SwitchStep::Taken(next) => next,
            SwitchStep::Doubtful(_, why) => return self.values_of(PickedValues::Unknown(why)),
            SwitchStep::Refuted => return None,
        };
        let fields = cx.sts.gates[cx.sts.switches[id].gate].fields.clone();
        let mut fields: Vec<_> =
            fields.into_iter().map(|field| cx.pool.indexed_var(field, next.depth)).collect();
        let mut facts = next.path.facts().to_vec();
        if let Some(horizon) = &self.horizon {
            let delay = cx.pool.indexed_var(cx.delay, next.depth);
            facts.push(instant::at_most(cx, delay, horizon));
            // The delay is one more field for the solver, taken off again below.
            fields.push(delay);
        }
        let keyed = self.draw_key_facts(cx, state, id, next.depth);
        let mut picked = PickedValues::Impossible;
        if !keyed.is_empty() {
            let with_keys: Vec<Term> = facts.iter().chain(&keyed).copied().collect();
            picked = pick_symbolic(cx, self.rng, &fields, &with_keys);
        }
        // No value with these keys proves nothing about others.
        if !matches!(picked, PickedValues::Values(_)) {
            picked = pick_symbolic(cx, self.rng, &fields, &facts);
        }
        let mut values = self.values_of(picked)?;
        if self.horizon.is_some() {
            self.wait = values.pop()?.as_real()?.clone();
        }
        Some(values)
    }

    /// Draws keys for the fields that are, and returns them as facts about the fields of this depth. The keys that are
    /// there are read off the variables whose values are known.
    fn draw_key_facts(&mut self, cx: &mut Ctx<'_>, state: &SymState, id: SwitchId, depth: u32) -> Vec<Term> {
        let fields = &cx.sts.gates[cx.sts.switches[id].gate].fields;
        let value = |(var, term)| Some((var, cx.pool.as_value(term)?.clone()));
        let known: Valuation = state.store.iter(cx.sts).filter_map(value).collect();
        let keys = draw_keys(cx.pool, self.rng, fields, &self.hints, &known);
        let fact = |(field, key): (VarId, Value)| {
            let field = cx.pool.indexed_var(field, depth);
            let (field, key) = (cx.pool.var(field), cx.pool.value(key));
            cx.pool.eq(field, key)
        };
        keys.into_iter().map(fact).collect()
    }

    fn values_of(&mut self, pick: PickedValues) -> Option<Vec<Value>> {
        match pick {
            PickedValues::Values(values) => Some(values),
            PickedValues::Impossible => None,
            PickedValues::Unknown(why) => {
                self.owed = Some(why);
                None
            }
        }
    }
}
