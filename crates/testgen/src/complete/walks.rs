//! Tests carried out on a faulty system, beside the model.
//!
//! A test of a complete suite gives its inputs one after the other, each once the system is silent. A faulty system is
//! *surely killed* if every run of the test on it shows an output or a silence that the model forbids: a pair of a
//! state of the faulty system and the states that the model may be in is followed along every choice the faulty system
//! has. Values are known along a test, so states are concrete. Where a field of an output is free, the faulty system is
//! given the benefit of the doubt: it says what the model allows if there is such a value.
//!
//! Up to the changed transition a faulty system does what the model does, so a run starts where that is taken first.

use std::collections::BTreeSet;

use ioxide_model::concrete::{self, ConcreteState};
use ioxide_model::label::Label;
use ioxide_model::sts::{GateKind, Sts, Switch, SwitchId};
use ioxide_model::term::Term;
use ioxide_model::value::Value;
use ioxide_smt::solver::{SolverAnswer, SolverDecision};
use ioxide_symex::{Ctx, Quiescence, SwitchOffer, is_quiescent, offers};

/// The greatest number of pairs between one input and the next. A model without choices has one per output.
const MAX_PAIRS: usize = 2_000;
/// The greatest number of states that internal steps lead to.
const MAX_INTERNAL: usize = 2_000;

/// A state of a system, and the states that the model may be in.
type Pair = (ConcreteState, BTreeSet<ConcreteState>);

/// The run was not decided: too many pairs, or a value that is not known.
struct WalkDoubt;

/// A test with the states of the model along it.
#[derive(Clone, Debug)]
pub struct TestWalk {
    /// The first step is the start, each other one an input.
    steps: Vec<WalkStep>,
}

/// A step of a test: an input, or the start.
#[derive(Clone, Debug)]
struct WalkStep {
    input: Option<Label>,
    /// The pairs before the step, silent ones but for the start; the model stands on both sides.
    before: BTreeSet<Pair>,
    /// The transitions that the model may take from this step to the next silence.
    taken: BTreeSet<SwitchId>,
}

impl TestWalk {
    /// Follows `test` on the system of `cx`; `None` if that is not decided.
    pub fn new(cx: &mut Ctx<'_>, test: &[Label]) -> Option<Self> {
        let sts = cx.sts;
        let start = concrete::initial_state(cx.pool, sts)?;
        let closed = closure(cx, [start.clone()].into()).ok()?;
        let mut before = BTreeSet::from([(start, closed)]);
        let mut steps = Vec::with_capacity(test.len() + 1);
        for input in std::iter::once(None).chain(test.iter().map(Some)) {
            let mut walker = Walker { imp: sts, n_pairs: 0, kept: None, taken: BTreeSet::new() };
            let after = walker.step(cx, &before, input).ok()?;
            steps.push(WalkStep { input: input.cloned(), before, taken: walker.taken });
            before = after;
        }
        Some(Self { steps })
    }

    /// The position of the first step on which the model may take `switch`.
    fn first(&self, switch: SwitchId) -> Option<usize> {
        self.steps.iter().position(|step| step.taken.contains(&switch))
    }
}

/// Returns whether the system of `cx` with `changed` in place of `switch` surely fails the test of `walk`; false if
/// that is not decided.
pub fn kills(cx: &mut Ctx<'_>, walk: &TestWalk, switch: SwitchId, changed: &Switch) -> bool {
    let before = &cx.sts.switches[switch];
    // With another guard the transition may be taken where the model does not take it.
    let first = if before.guard == changed.guard { walk.first(switch) } else { Some(0) };
    let Some(first) = first else { return false };
    let mut imp = cx.sts.clone();
    imp.switches[switch] = changed.clone();
    let mut pairs = walk.steps[first].before.clone();
    for step in &walk.steps[first..] {
        let mut walker = Walker { imp: &imp, n_pairs: 0, kept: Some(switch), taken: BTreeSet::new() };
        match walker.step(cx, &pairs, step.input.as_ref()) {
            Ok(next) if next.is_empty() => return true,
            Ok(next) => pairs = next,
            Err(WalkDoubt) => return false,
        }
    }
    false
}

/// A walk of one system beside the model.
struct Walker<'s> {
    imp: &'s Sts,
    n_pairs: usize,
    /// The transition whose update may keep a value that the system chooses.
    kept: Option<SwitchId>,
    taken: BTreeSet<SwitchId>,
}

impl Walker<'_> {
    /// Returns the silent pairs after `input`, or after the start; what the model forbids is left out.
    fn step(
        &mut self,
        cx: &mut Ctx<'_>,
        before: &BTreeSet<Pair>,
        input: Option<&Label>,
    ) -> Result<BTreeSet<Pair>, WalkDoubt> {
        let mut given = BTreeSet::new();
        for pair in before {
            match input {
                Some(input) => given.extend(self.give(cx, pair, input)?),
                None => drop(given.insert(pair.clone())),
            }
        }
        self.settle(cx, given)
    }

    /// Gives `input` to both sides. A test leaves out what the model does not mention; a system ignores what it does
    /// not take.
    fn give(
        &mut self,
        cx: &mut Ctx<'_>,
        (imp, spec): &Pair,
        input: &Label,
    ) -> Result<BTreeSet<Pair>, WalkDoubt> {
        let next_spec = after(cx, spec, input)?;
        if next_spec.is_empty() {
            return Ok(BTreeSet::from([(imp.clone(), spec.clone())]));
        }
        let next = concrete::successors(cx.pool, self.imp, imp, input).map_err(|_| WalkDoubt)?;
        self.taken.extend(next.iter().map(|next| next.switch));
        if next.is_empty() {
            return Ok(BTreeSet::from([(imp.clone(), next_spec)]));
        }
        Ok(next.into_iter().map(|next| (next.state, next_spec.clone())).collect())
    }

    /// Follows outputs and internal steps of the system until it is silent.
    fn settle(&mut self, cx: &mut Ctx<'_>, given: BTreeSet<Pair>) -> Result<BTreeSet<Pair>, WalkDoubt> {
        let mut silent = BTreeSet::new();
        let mut todo: Vec<Pair> = given.iter().cloned().collect();
        let mut seen = given;
        while let Some((imp, spec)) = todo.pop() {
            self.n_pairs += 1;
            if self.n_pairs > MAX_PAIRS {
                return Err(WalkDoubt);
            }
            match is_quiescent(&mut cx.over(self.imp), &imp) {
                Quiescence::Quiet => {
                    let quiet = silent_states(cx, &spec)?;
                    if !quiet.is_empty() {
                        silent.insert((imp, quiet));
                    }
                    continue;
                }
                Quiescence::Active => (),
                Quiescence::Unknown(_) => return Err(WalkDoubt),
            }
            for next in self.react(cx, &imp, &spec)? {
                if seen.insert(next.clone()) {
                    todo.push(next);
                }
            }
        }
        Ok(silent)
    }

    /// Returns the pairs after one internal step or one output that the model allows.
    fn react(
        &mut self,
        cx: &mut Ctx<'_>,
        imp: &ConcreteState,
        spec: &BTreeSet<ConcreteState>,
    ) -> Result<Vec<Pair>, WalkDoubt> {
        let internal = concrete::internal_successors(cx.pool, self.imp, imp).map_err(|_| WalkDoubt)?;
        self.taken.extend(internal.iter().map(|next| next.switch));
        let mut found: Vec<Pair> = internal.into_iter().map(|next| (next.state, spec.clone())).collect();
        for offer in offers(&mut cx.over(self.imp), imp, |kind| kind == GateKind::Output) {
            self.taken.insert(offer.switch);
            for values in self.outputs(cx, &offer, spec)? {
                let label = Label::Output(offer.gate, values);
                let next_spec = after(cx, spec, &label)?;
                if next_spec.is_empty() {
                    continue;
                }
                let next = concrete::successors(cx.pool, self.imp, imp, &label).map_err(|_| WalkDoubt)?;
                let own = next.into_iter().filter(|next| next.switch == offer.switch);
                found.extend(own.map(|next| (next.state, next_spec.clone())));
            }
        }
        Ok(found)
    }

    /// Returns the values of an output to follow: the only ones it can have, or if the system may choose, ones that the
    /// model allows, by each transition that allows some.
    fn outputs(
        &self,
        cx: &mut Ctx<'_>,
        offer: &SwitchOffer,
        spec: &BTreeSet<ConcreteState>,
    ) -> Result<Vec<Vec<Value>>, WalkDoubt> {
        let values = chosen(cx, offer, &[offer.when])?.ok_or(WalkDoubt)?;
        if is_only(cx, offer, &values)? {
            return Ok(vec![values]);
        }
        if self.kept == Some(offer.switch) {
            // Which value the system chooses may matter later.
            let switch = &self.imp.switches[offer.switch];
            let fields = &self.imp.gates[offer.gate].fields;
            let keeps = |term: Term| fields.iter().any(|&field| cx.pool.mentions(term, field));
            if switch.update.iter().any(|&(_, term)| keeps(term)) {
                return Err(WalkDoubt);
            }
        }
        let mut found = Vec::new();
        for state in spec {
            for allowed in offers(cx, state, |kind| kind == GateKind::Output) {
                if allowed.gate == offer.gate {
                    found.extend(chosen(cx, offer, &[offer.when, allowed.when])?);
                }
            }
        }
        Ok(found)
    }
}

/// Returns values of the fields of an offer for which `facts` hold; `None` if there are none.
fn chosen(cx: &mut Ctx<'_>, offer: &SwitchOffer, facts: &[Term]) -> Result<Option<Vec<Value>>, WalkDoubt> {
    let sts = cx.sts;
    let fields = &sts.gates[offer.gate].fields;
    if fields.is_empty() {
        return Ok(Some(Vec::new()));
    }
    match cx.check(facts) {
        SolverAnswer::Sat(valuation) => {
            let value = |&field| {
                let default = || cx.pool.default_value(cx.pool.var_info(field).sort);
                valuation.get(field).cloned().unwrap_or_else(default)
            };
            Ok(Some(fields.iter().map(value).collect()))
        }
        SolverAnswer::Unsat => Ok(None),
        SolverAnswer::Unknown(_) => Err(WalkDoubt),
    }
}

/// Returns whether the fields of an offer can have no other values.
fn is_only(cx: &mut Ctx<'_>, offer: &SwitchOffer, values: &[Value]) -> Result<bool, WalkDoubt> {
    let sts = cx.sts;
    let mut same = Vec::new();
    for (&field, value) in sts.gates[offer.gate].fields.iter().zip(values) {
        let (field, value) = (cx.pool.var(field), cx.pool.value(value.clone()));
        same.push(cx.pool.eq(field, value));
    }
    let same = cx.pool.and(same);
    let other = cx.pool.not(same);
    match cx.decide(&[offer.when, other]) {
        SolverDecision::Sat => Ok(false),
        SolverDecision::Unsat => Ok(true),
        SolverDecision::Unknown(_) => Err(WalkDoubt),
    }
}

/// The states of the model after `label`, closed under internal steps.
fn after(
    cx: &Ctx<'_>,
    states: &BTreeSet<ConcreteState>,
    label: &Label,
) -> Result<BTreeSet<ConcreteState>, WalkDoubt> {
    let mut next = BTreeSet::new();
    for state in states {
        let found = concrete::successors(cx.pool, cx.sts, state, label).map_err(|_| WalkDoubt)?;
        next.extend(found.into_iter().map(|next| next.state));
    }
    closure(cx, next)
}

fn closure(cx: &Ctx<'_>, states: BTreeSet<ConcreteState>) -> Result<BTreeSet<ConcreteState>, WalkDoubt> {
    let closed = concrete::tau_closure(cx.pool, cx.sts, states, MAX_INTERNAL).map_err(|_| WalkDoubt)?;
    if closed.truncated { Err(WalkDoubt) } else { Ok(closed.states) }
}

/// The states in which the model is silent.
fn silent_states(
    cx: &mut Ctx<'_>,
    states: &BTreeSet<ConcreteState>,
) -> Result<BTreeSet<ConcreteState>, WalkDoubt> {
    let mut silent = BTreeSet::new();
    for state in states {
        match is_quiescent(cx, state) {
            Quiescence::Quiet => drop(silent.insert(state.clone())),
            Quiescence::Active => (),
            Quiescence::Unknown(_) => return Err(WalkDoubt),
        }
    }
    Ok(silent)
}
