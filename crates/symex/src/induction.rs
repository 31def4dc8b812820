//! Proofs where exploration does not end: k-induction, strengthened by invariants that are found automatically.
//!
//! A claim says that something bad never happens. It holds by k-induction if nothing bad happens in the first `k`
//! states of any run, and if `k` good states in a row are never followed by a bad one, wherever the run has come from.
//! The second part is only asked for states that satisfy the invariants of their location: without them, most claims
//! fail in states that no run reaches.
//!
//! Invariants come from three sources: equalities between numbers and sizes, by the affine hull of the reachable states
//! ([`affine`]); templates (bounds, orders, choices, pairs of conditions), from which those are dropped that some
//! transition breaks ([`houdini`]); and what the author claims, proved like anything else.
//!
//! *Promises.* [`InductionOutcome::Proved`] is a proof for runs of any length and values of any size, and rests on
//! `Unsat` answers of the solver alone. An open question, a limit or an unknown answer is never a proof. A step of the
//! induction is a step of the exploration: a delay, if there are clocks, and a switch.

mod affine;
mod atoms;
mod houdini;
pub(crate) mod sizes;
mod template;

pub(crate) use self::houdini::step_from_anywhere;

use std::collections::BTreeMap;

use ioxide_model::index::IndexVec;
use ioxide_model::sts::{LocId, SwitchId};
use ioxide_model::term::{Term, VarId};
use ioxide_model::valuation::Valuation;
use ioxide_smt::solver::{SolverAnswer, SolverDecision, UnknownReason};

use crate::concrete_run::evaluate;
use crate::cx::Ctx;
use crate::explore::Exploration;
use crate::state::{PathCondition, Store, SymState};
use crate::step::successor;

/// The greatest number of steps of an induction. Chosen by feel: paths multiply with every step, and what needs four
/// usually needs an invariant.
const MAX_STEPS: u32 = 3;
/// The greatest number of questions for one claim; chosen so that a claim about a system of parts ends within seconds.
const MAX_QUESTIONS: usize = 3_000;

/// A claim that something never happens.
#[derive(Clone, Debug, Default)]
pub struct SafetyClaim {
    /// The bad conditions by location: formulas over variables, clocks, fields and the delay, unsatisfiable in every
    /// reachable state if the claim holds.
    pub bad: BTreeMap<LocId, Term>,
}

/// The result of an attempt to prove a claim.
#[derive(Clone, Debug, PartialEq)]
pub enum InductionOutcome {
    /// The claim holds in every reachable state.
    Proved {
        /// The number of steps of the induction.
        steps: u32,
        /// The invariants that the proof needs, as text; each is proved itself.
        invariants: Vec<String>,
    },
    /// Something bad is reachable by these switches.
    Refuted(Vec<SwitchId>),
    /// Neither is shown.
    Open {
        /// The reason why the solver left a question open, if it did.
        doubt: Option<UnknownReason>,
        /// States that satisfy every invariant and lead to something bad, if that is the reason.
        counterexample: Option<InductionCounterexample>,
    },
}

/// States from which an induction fails: good ones, and a last one that is bad. Nobody knows whether they are
/// reachable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InductionCounterexample {
    /// The states in order.
    pub states: Vec<CounterexampleState>,
    /// A condition that holds in every state seen and excludes the first state: if it is an invariant, the claim is
    /// proved. `None` if no template is.
    pub lemma: Option<String>,
}

/// A state of an [`InductionCounterexample`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CounterexampleState {
    /// The label of the switch that leads to it; `None` for the first.
    pub label: Option<String>,
    /// Its location, or those of the parts.
    pub place: String,
    /// Its values, `name = value`.
    pub values: Vec<String>,
}

/// Invariants by location: formulas over variables and clocks that hold in every reachable state there.
#[derive(Clone, Debug)]
pub struct Invariants {
    by_location: IndexVec<LocId, Vec<Term>>,
}

impl Invariants {
    /// The invariants of `loc`.
    #[must_use]
    pub fn of(&self, loc: LocId) -> &[Term] {
        &self.by_location[loc]
    }
}

/// Proves claims about one system.
///
/// *Invariant.* Every formula in `invariants` holds in every reachable state of its location.
#[derive(Debug)]
pub struct InductionProver {
    invariants: Invariants,
    /// Templates that hold in every state seen and are not invariants by themselves, by location: lemmas to propose.
    rejected: IndexVec<LocId, Vec<Term>>,
}

impl InductionProver {
    /// Finds invariants. `claims` are formulas that the author claims for every location: those that are inductive
    /// together with the templates become invariants. States of `exploration` show which templates are wrong.
    pub fn new(cx: &mut Ctx<'_>, exploration: &Exploration, claims: &[BTreeMap<LocId, Term>]) -> Self {
        let samples = atoms::sample_states(cx, exploration);
        // Guess and drop (Houdini): far too many formulas first, then only those that hold at the start, in every
        // state seen, and after every switch from a state in which all that are left hold. What is left is an
        // invariant together.
        let mut candidates = template::candidates(cx, &samples, claims);
        for (loc, equalities) in affine::equalities(cx, &samples).iter_enumerated() {
            candidates[loc].extend(equalities);
        }
        let start = SymState::initial(cx);
        houdini::retain_initial(cx, &start, &mut candidates);
        houdini::retain_sampled(cx, &samples, &mut candidates);
        let all = candidates.clone();
        houdini::retain_inductive(cx, &mut candidates);
        let is_rejected = |loc: LocId, term: &Term| !candidates[loc].contains(term);
        // What held in every state seen but is not inductive may still be true: a lemma to propose.
        let rejected = all
            .iter_enumerated()
            .map(|(loc, terms)| terms.iter().copied().filter(|term| is_rejected(loc, term)).collect())
            .collect();
        Self { invariants: Invariants { by_location: candidates }, rejected }
    }

    /// The invariants found so far.
    #[must_use]
    pub fn invariants(&self) -> &Invariants {
        &self.invariants
    }

    /// Adds formulas that were proved to hold in every reachable state of their location.
    pub fn assume_proved(&mut self, proved: &BTreeMap<LocId, Term>) {
        for (&loc, &term) in proved {
            if !self.invariants.by_location[loc].contains(&term) {
                self.invariants.by_location[loc].push(term);
            }
        }
    }

    /// Tries to prove `claim`, with as many steps as it takes and the limits allow.
    pub fn prove(&self, cx: &mut Ctx<'_>, claim: &SafetyClaim) -> InductionOutcome {
        let mut attempt = InductionAttempt::new(self, claim);
        for steps in 1..=MAX_STEPS {
            // A doubt about the first states stays; one about a step is gone if a longer induction needs no such step.
            attempt.doubt = None;
            // The base: nothing bad in the first `steps` states. The shorter paths were asked in the rounds before.
            if let Some(path) = attempt.violation_after(cx, steps - 1) {
                return InductionOutcome::Refuted(path);
            }
            if attempt.doubt.is_some() || attempt.is_over(cx) {
                break;
            }
            // Only the counterexample of the longest induction is shown: shorter ones may be excluded by longer
            // runs.
            attempt.counterexample = None;
            if attempt.holds_after(cx, steps) {
                return InductionOutcome::Proved { steps, invariants: attempt.needed_invariants(cx, steps) };
            }
            if attempt.is_over(cx) {
                break;
            }
        }
        let InductionAttempt { doubt, counterexample, .. } = attempt;
        let counterexample = counterexample.map(|found| self.describe(cx, claim, &found));
        InductionOutcome::Open { doubt, counterexample }
    }

    /// Returns `found` in words, with a lemma that excludes it.
    fn describe(
        &self,
        cx: &mut Ctx<'_>,
        claim: &SafetyClaim,
        found: &CounterexamplePath,
    ) -> InductionCounterexample {
        let mut states = Vec::new();
        for (at, state) in found.states.iter().enumerate() {
            let values = concrete_values(cx, state, &found.valuation);
            let label =
                at.checked_sub(1).map(|before| cx.sts.switches[found.switches[before]].label.to_string());
            let place = cx.sts.place_text(state.loc, |var| values.get(var).cloned());
            let text = |(var, value): (VarId, &_)| {
                format!("{} = {}", cx.pool.var_info(var).name, cx.pool.show_value(value))
            };
            let data = values.iter().filter(|(var, _)| cx.sts.is_data(*var)).map(text).collect();
            states.push(CounterexampleState { label, place, values: data });
        }
        let lemma = self.propose_lemma(cx, claim, found);
        InductionCounterexample { states, lemma }
    }

    /// Returns a template that excludes the first state of `found` and, if it were an invariant, proves the claim.
    fn propose_lemma(
        &self,
        cx: &mut Ctx<'_>,
        claim: &SafetyClaim,
        found: &CounterexamplePath,
    ) -> Option<String> {
        let first = &found.states[0];
        let values = concrete_values(cx, first, &found.valuation);
        let mut excluding: Vec<Term> = self.rejected[first.loc].clone();
        excluding.retain(|&term| cx.pool.holds(term, &values) == Ok(false));
        excluding.sort_by_key(|&term| cx.pool.size(term));
        let steps = u32::try_from(found.switches.len()).unwrap_or(MAX_STEPS);
        // The smallest formulas first, since people have to read them. Eight are tried, chosen by feel: each costs
        // an induction of its own.
        for &term in excluding.iter().take(8) {
            let mut with_lemma = Self { invariants: self.invariants.clone(), rejected: IndexVec::new() };
            with_lemma.invariants.by_location[first.loc].push(term);
            let mut attempt = InductionAttempt::new(&with_lemma, claim);
            if attempt.holds_after(cx, steps) {
                let place = &cx.sts.locations[first.loc].name;
                let shown = cx.pool.show(term).to_string();
                let is_everywhere = cx.sts.locations.len() == 1;
                return Some(if is_everywhere { shown } else { format!("at({place}) => {shown}") });
            }
        }
        None
    }
}

/// A path of an induction that ends badly.
#[derive(Clone, Debug)]
struct CounterexamplePath {
    states: Vec<SymState>,
    switches: Vec<SwitchId>,
    valuation: Valuation,
}

/// An attempt to prove one claim.
struct InductionAttempt<'p> {
    prover: &'p InductionProver,
    claim: &'p SafetyClaim,
    questions: usize,
    doubt: Option<UnknownReason>,
    counterexample: Option<CounterexamplePath>,
}

impl<'p> InductionAttempt<'p> {
    fn new(prover: &'p InductionProver, claim: &'p SafetyClaim) -> Self {
        Self { prover, claim, questions: 0, doubt: None, counterexample: None }
    }

    fn is_over(&self, cx: &Ctx<'_>) -> bool {
        self.questions > MAX_QUESTIONS || cx.halt_reason().is_some()
    }

    /// Decides whether `facts` can hold together; an open question and one too many count as yes.
    fn can_hold(&mut self, cx: &mut Ctx<'_>, facts: &[Term]) -> bool {
        self.questions += 1;
        if self.is_over(cx) {
            return true;
        }
        // A path that is followed although it is impossible costs time, never a proof.
        !matches!(sizes::decide_by_sizes(cx, facts), SolverDecision::Unsat)
    }

    /// Returns a path of `length` switches from the start to something bad. Open questions are recorded as doubt.
    fn violation_after(&mut self, cx: &mut Ctx<'_>, length: u32) -> Option<Vec<SwitchId>> {
        let start = SymState::initial(cx);
        self.violation_from(cx, &start, &mut Vec::new(), length)
    }

    fn violation_from(
        &mut self,
        cx: &mut Ctx<'_>,
        state: &SymState,
        path: &mut Vec<SwitchId>,
        left: u32,
    ) -> Option<Vec<SwitchId>> {
        if left == 0 {
            let bad = self.bad_at(cx, state)?;
            let mut facts = state.path.facts().to_vec();
            facts.push(bad);
            self.questions += 1;
            return match sizes::decide_by_sizes(cx, &facts) {
                SolverDecision::Sat => Some(path.clone()),
                SolverDecision::Unsat => None,
                SolverDecision::Unknown(why) => {
                    self.leave_open(why);
                    None
                }
            };
        }
        let switches: Vec<SwitchId> = cx.sts.switches_from(state.loc).map(|(id, _)| id).collect();
        for id in switches {
            let next = successor(cx, state, &cx.sts.switches[id]);
            if !self.can_hold(cx, next.path.facts()) {
                continue;
            }
            path.push(id);
            let found = self.violation_from(cx, &next, path, left - 1);
            path.pop();
            if found.is_some() || self.is_over(cx) {
                // Beyond the limits nothing is known about the paths left out.
                if found.is_none() {
                    self.leave_open(UnknownReason::Limit);
                }
                return found;
            }
        }
        None
    }

    /// Returns the bad condition of the location of `state` in its terms; `None` if there is none.
    fn bad_at(&self, cx: &mut Ctx<'_>, state: &SymState) -> Option<Term> {
        let bad = *self.claim.bad.get(&state.loc)?;
        let bad = cx.pool.substitute(bad, &state.store.substitution(cx.sts));
        (!cx.pool.is_false(bad)).then_some(bad)
    }

    /// Returns whether no path of `steps` switches leads from good states to a bad one.
    fn holds_after(&mut self, cx: &mut Ctx<'_>, steps: u32) -> bool {
        let locations: Vec<LocId> = cx.sts.locations.ids().collect();
        for loc in locations {
            // Any values at any location, reachable or not: the induction knows nothing about how the run came
            // here.
            let store = Store::identity(cx.pool, cx.sts);
            let state = SymState { loc, store, path: PathCondition::default(), depth: 0 };
            let mut path =
                CounterexamplePath { states: vec![state], switches: Vec::new(), valuation: Valuation::new() };
            if !self.step_holds(cx, &mut path, steps) {
                return false;
            }
        }
        true
    }

    /// Returns whether no continuation of `path` by `left` switches ends badly, if its states are good and satisfy the
    /// invariants.
    fn step_holds(&mut self, cx: &mut Ctx<'_>, path: &mut CounterexamplePath, left: u32) -> bool {
        let state = path.states.last().expect("a path has a first state").clone();
        if left == 0 {
            return self.end_holds(cx, path, &state);
        }
        // No location with a bad condition is `left` switches away.
        if !can_come_to(cx, state.loc, &self.claim.bad, left) {
            return true;
        }
        let good = self.good_facts(cx, &state);
        let switches: Vec<SwitchId> = cx.sts.switches_from(state.loc).map(|(id, _)| id).collect();
        for id in switches {
            let mut next = successor(cx, &state, &cx.sts.switches[id]);
            let facts = good.iter().fold(next.path.clone(), |facts, &fact| facts.with_fact(cx, fact));
            next.path = facts;
            // The last step is asked together with its end; others only if that saves paths.
            if left > 1 && !self.can_hold(cx, next.path.facts()) {
                continue;
            }
            path.switches.push(id);
            path.states.push(next);
            let holds = self.step_holds(cx, path, left - 1);
            if !holds {
                return false;
            }
            path.states.pop();
            path.switches.pop();
        }
        true
    }

    /// Returns whether the last state of `path` is not bad; a bad one becomes the counterexample.
    fn end_holds(&mut self, cx: &mut Ctx<'_>, path: &CounterexamplePath, state: &SymState) -> bool {
        let Some(bad) = self.bad_at(cx, state) else { return true };
        let mut facts = state.path.clone();
        let names = state.store.substitution(cx.sts);
        // The last state need not be good, but it is reachable if the first one is, so the invariants hold there
        // too.
        for &invariant in self.prover.invariants.of(state.loc) {
            let here = cx.pool.substitute(invariant, &names);
            facts = facts.with_fact(cx, here);
        }
        facts = facts.with_fact(cx, bad);
        self.questions += 1;
        if self.is_over(cx) {
            return false;
        }
        match sizes::check_with_sizes(cx, facts.facts()) {
            SolverAnswer::Unsat => true,
            SolverAnswer::Sat(valuation) => {
                self.counterexample = Some(CounterexamplePath { valuation, ..path.clone() });
                false
            }
            SolverAnswer::Unknown(why) => {
                self.leave_open(why);
                false
            }
        }
    }

    /// Returns the invariants of `state` and, if it needs no other values, the fact that it is not bad.
    fn good_facts(&self, cx: &mut Ctx<'_>, state: &SymState) -> Vec<Term> {
        let names = state.store.substitution(cx.sts);
        let mut facts = Vec::new();
        for &invariant in self.prover.invariants.of(state.loc) {
            facts.push(cx.pool.substitute(invariant, &names));
        }
        if let Some(&bad) = self.claim.bad.get(&state.loc)
            && let Some(good) = good_condition(cx, bad)
        {
            facts.push(cx.pool.substitute(good, &names));
        }
        facts
    }

    fn leave_open(&mut self, reason: UnknownReason) {
        self.doubt = Some(self.doubt.take().map_or(reason.clone(), |known| known.and(reason)));
    }

    /// Returns the invariants without which the proof fails, as text; those of a minimal set, found by leaving out one
    /// after the other.
    fn needed_invariants(&self, cx: &mut Ctx<'_>, steps: u32) -> Vec<String> {
        let mut needed = self.prover.invariants.clone();
        let none = IndexVec::from_elem(Vec::new(), cx.sts.locations.len());
        let holds = |cx: &mut Ctx<'_>, invariants: &Invariants| {
            let prover = InductionProver { invariants: invariants.clone(), rejected: IndexVec::new() };
            let mut attempt = InductionAttempt::new(&prover, self.claim);
            attempt.holds_after(cx, steps)
        };
        if holds(cx, &Invariants { by_location: none }) {
            return Vec::new();
        }
        // Halves first: most of many invariants are not needed.
        let locations: Vec<LocId> = cx.sts.locations.ids().collect();
        // Proofs that are made again to leave out invariants: this is for readers, the proof itself is done. Chosen
        // by feel.
        let mut budget = 60;
        for loc in locations {
            let mut chunk = needed.by_location[loc].len();
            while chunk > 0 {
                let mut at = 0;
                while at < needed.by_location[loc].len() && budget > 0 && cx.halt_reason().is_none() {
                    budget -= 1;
                    let mut fewer = needed.clone();
                    let end = (at + chunk).min(fewer.by_location[loc].len());
                    fewer.by_location[loc].drain(at..end);
                    // Where the proof fails without it the chunk stays, and what comes behind it is tried.
                    if holds(cx, &fewer) { needed = fewer } else { at += chunk }
                }
                chunk /= 2;
            }
        }
        describe_invariants(cx, &needed)
    }
}

/// Returns the condition that `bad` does not hold, for whatever message and delay; `None` if it needs a quantifier.
fn good_condition(cx: &mut Ctx<'_>, bad: Term) -> Option<Term> {
    let stored: Vec<VarId> = cx.sts.stored_vars().collect();
    // Fields and the delay are free in `bad`: a state is good if it is not bad for any of their values.
    let bound: Vec<VarId> = cx.pool.free_vars(bad).into_iter().filter(|var| !stored.contains(var)).collect();
    let some = if bound.is_empty() { bad } else { cx.pool.exists(&bound, bad) };
    (!cx.pool.has_quantifier(some)).then(|| cx.pool.not(some))
}

/// Returns whether `left` switches can lead from `loc` to a location with a bad condition.
fn can_come_to(cx: &Ctx<'_>, loc: LocId, bad: &BTreeMap<LocId, Term>, left: u32) -> bool {
    if left == 0 {
        return bad.get(&loc).is_some_and(|&term| !cx.pool.is_false(term));
    }
    // Every switch leads back here, so the search below would only multiply.
    if cx.sts.locations.len() == 1 {
        return can_come_to(cx, loc, bad, 0);
    }
    cx.sts.switches_from(loc).any(|(_, switch)| can_come_to(cx, switch.target, bad, left - 1))
}

/// Returns the values of `state` under `valuation`; a value that nothing constrains is the default of its sort.
fn concrete_values(cx: &Ctx<'_>, state: &SymState, valuation: &Valuation) -> Valuation {
    let mut values = Valuation::new();
    for (var, term) in state.store.iter(cx.sts) {
        if let Some(value) = evaluate(cx, term, valuation) {
            values.set(var, value);
        }
    }
    values
}

/// Returns the invariants as text, each with its location if there are several.
fn describe_invariants(cx: &Ctx<'_>, invariants: &Invariants) -> Vec<String> {
    let mut lines = Vec::new();
    for (loc, terms) in invariants.by_location.iter_enumerated() {
        for &term in terms {
            let shown = cx.pool.show(term);
            lines.push(match cx.sts.locations.len() {
                1 => shown.to_string(),
                _ => format!("{shown} in `{}`", cx.sts.locations[loc].name),
            });
        }
    }
    lines
}

/// Returns whole numbers of a state that may have a least value: its numbers, the distances to the constants of the
/// model, and the differences of two.
pub(crate) fn measures(cx: &mut Ctx<'_>) -> Vec<Term> {
    let mut numbers = atoms::whole_numbers(cx);
    // Differences are quadratic in the numbers; eight numbers and twelve constants give about 250 measures. Chosen
    // by feel.
    numbers.truncate(8);
    let samples = IndexVec::from_elem(Vec::new(), cx.sts.locations.len());
    let constants = atoms::constants_of_claims(cx, &[], &samples, 12);
    let mut found = Vec::new();
    for (at, &a) in numbers.iter().enumerate() {
        for &constant in &constants {
            let constant = cx.pool.int(constant);
            found.extend([cx.pool.sub(a, constant), cx.pool.sub(constant, a)]);
        }
        for &b in &numbers[at + 1..] {
            found.extend([cx.pool.sub(a, b), cx.pool.sub(b, a)]);
        }
    }
    found
}
