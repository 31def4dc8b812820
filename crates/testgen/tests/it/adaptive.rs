//! Adaptive tests on random pairs of small models: against a game played out step by step, and against the behaviour of
//! the systems.
//!
//! `IOXIDE_PAIRS` sets the number of pairs.

use std::collections::{BTreeMap, BTreeSet};

use ioxide_model::concrete::{self, ConcreteState};
use ioxide_model::label::Label;
use ioxide_model::relation::ConformanceRelation;
use ioxide_model::sts::{GateKind, Sts};
use ioxide_model::term::TermPool;
use ioxide_model::value::Value;
use ioxide_test_support::test_count;
use ioxide_testgen::conform::InputCompletion;
use ioxide_testgen::conform::explicit::{EnumerationBudget, EnumerationResult, adaptive_test, ioco};

use crate::pairs::Pairs;

/// The number of steps to which the game is played out.
const DEPTH: usize = 9;

fn n_pairs() -> u64 {
    test_count("IOXIDE_PAIRS", 200, 4_000)
}

/// Two systems and the messages they have.
struct Game<'g> {
    pool: &'g TermPool,
    imp: &'g Sts,
    spec: &'g Sts,
    inputs: Vec<Label>,
    outputs: Vec<Label>,
    known: BTreeMap<(Vec<String>, Vec<String>, usize), bool>,
}

impl<'g> Game<'g> {
    fn new(pool: &'g TermPool, imp: &'g Sts, spec: &'g Sts) -> Self {
        let (mut inputs, mut outputs) = (Vec::new(), Vec::new());
        for (gate, info) in spec.gates.iter_enumerated() {
            let values: Vec<Vec<Value>> = if info.fields.is_empty() {
                vec![Vec::new()]
            } else {
                (0..3).map(|n| vec![Value::int(n)]).collect()
            };
            for values in values {
                match info.kind {
                    GateKind::Input => inputs.push(Label::Input(gate, values)),
                    GateKind::Output => outputs.push(Label::Output(gate, values)),
                    GateKind::Observed | GateKind::Internal => (),
                }
            }
        }
        Self { pool, imp, spec, inputs, outputs, known: BTreeMap::new() }
    }

    fn closed(&self, sts: &Sts, states: Vec<ConcreteState>) -> Vec<ConcreteState> {
        let mut all = states;
        let mut at = 0;
        while at < all.len() {
            let next = concrete::internal_successors(self.pool, sts, &all[at]).expect("values");
            for next in next {
                if !all.contains(&next.state) {
                    all.push(next.state);
                }
            }
            at += 1;
        }
        all
    }

    fn after(&self, sts: &Sts, states: &[ConcreteState], label: &Label) -> Vec<ConcreteState> {
        let mut found = Vec::new();
        for state in states {
            for next in concrete::successors(self.pool, sts, state, label).expect("values") {
                if !found.contains(&next.state) {
                    found.push(next.state);
                }
            }
        }
        self.closed(sts, found)
    }

    fn is_stable(&self, sts: &Sts, state: &ConcreteState) -> bool {
        concrete::internal_successors(self.pool, sts, state).expect("values").is_empty()
    }

    fn quiet(&self, sts: &Sts, states: &[ConcreteState]) -> Vec<ConcreteState> {
        let silent = |state: &&ConcreteState| {
            let says =
                |label| !concrete::successors(self.pool, sts, state, label).expect("values").is_empty();
            self.is_stable(sts, state) && !self.outputs.iter().any(says)
        };
        states.iter().filter(silent).cloned().collect()
    }

    /// Returns the possible observations, silence last, each with the states after it.
    fn seen(&self, sts: &Sts, states: &[ConcreteState]) -> Vec<(Label, Vec<ConcreteState>)> {
        let outputs = self.outputs.iter().map(|label| (label.clone(), self.after(sts, states, label)));
        let quiet = (Label::Quiescence, self.quiet(sts, states));
        outputs.chain([quiet]).filter(|(_, to)| !to.is_empty()).collect()
    }

    /// Returns the states after an input; a stable state that does not mention it ignores it.
    fn given(&self, states: &[ConcreteState], label: &Label) -> Vec<ConcreteState> {
        let mut found = Vec::new();
        for state in states {
            let next = concrete::successors(self.pool, self.imp, state, label).expect("values");
            if next.is_empty() && self.is_stable(self.imp, state) {
                found.push(state.clone());
            }
            found.extend(next.into_iter().map(|next| next.state));
        }
        self.closed(self.imp, found)
    }

    fn names(states: &[ConcreteState]) -> Vec<String> {
        states.iter().map(|state| format!("{state:?}")).collect::<BTreeSet<_>>().into_iter().collect()
    }

    /// Returns whether the tester can force a difference within `depth` steps.
    fn forces(&mut self, left: &[ConcreteState], right: &[ConcreteState], depth: usize) -> bool {
        if depth == 0 {
            return false;
        }
        let key = (Self::names(left), Self::names(right), depth);
        if let Some(&known) = self.known.get(&key) {
            return known;
        }
        let allowed = self.seen(self.spec, right);
        let mut ends: Vec<(Label, bool)> = Vec::new();
        for (label, to) in self.seen(self.imp, left) {
            let theirs =
                allowed.iter().find(|(allowed, _)| *allowed == label).map(|(_, theirs)| theirs.clone());
            let won = theirs.is_none_or(|theirs| self.forces(&to, &theirs, depth - 1));
            ends.push((label, won));
        }
        let looked = !ends.is_empty() && ends.iter().all(|(_, won)| *won);
        let spoken = ends.iter().all(|(label, won)| *won || *label == Label::Quiescence);
        let mut forced = looked;
        for input in self.inputs.clone() {
            let theirs = self.after(self.spec, right, &input);
            if forced || !spoken || theirs.is_empty() {
                continue;
            }
            let given = self.given(left, &input);
            forced = !given.is_empty() && self.forces(&given, &theirs, depth - 1);
        }
        self.known.insert(key, forced);
        forced
    }
}

#[test]
fn adaptive_tests_force_what_can_be_forced_and_fail_nobody_else() {
    let meaning = (ConformanceRelation::Ioco, InputCompletion::Angelic);
    let (mut forced, mut hoped, mut none) = (0_u64, 0_u64, 0_u64);
    for seed in 0..n_pairs() {
        let pair = Pairs::new(seed).pair();
        let (pool, imp, spec) = (&pair.pool, &pair.one, &pair.other);
        let differs = matches!(
            ioco(pool, imp, spec, meaning.1, EnumerationBudget::default()),
            EnumerationResult::Fails(_)
        );
        let test = adaptive_test(pool, imp, spec, meaning, EnumerationBudget::default());
        assert_eq!(test.is_some(), differs, "pair {seed}");
        let mut game = Game::new(pool, imp, spec);
        let start = |sts: &Sts| vec![concrete::initial_state(pool, sts).expect("known values")];
        let (left, right) = (game.closed(imp, start(imp)), game.closed(spec, start(spec)));
        let can_force = game.forces(&left, &right, DEPTH);
        let Some(test) = test else {
            assert!(!can_force, "pair {seed}");
            none += 1;
            continue;
        };
        assert_eq!(test.is_forced, can_force, "pair {seed}");
        let effect = |sts: &Sts, completion| {
            test.effect_on(pool, sts, completion, EnumerationBudget::default()).expect("small")
        };
        let (is_sure, chance) = effect(imp, meaning.1);
        assert_eq!(is_sure, test.is_forced, "pair {seed}");
        assert!(
            (chance - test.chance).abs() < 1e-9 || test.is_forced,
            "pair {seed}: {chance}, {}",
            test.chance
        );
        assert!(chance > 0.0, "pair {seed}");
        // What a specification refuses, it does not do: with completion it may differ from itself.
        assert_eq!(
            effect(spec, InputCompletion::None),
            (false, 0.0),
            "pair {seed}: a conforming system fails"
        );
        if test.is_forced { forced += 1 } else { hoped += 1 }
    }
    println!("{forced} forced, {hoped} hoped for, {none} alike");
    // A share of each kind, however many pairs are tried: without it the comparison would be about nothing.
    let is_share = |count: u64, least: u64| count * least > n_pairs();
    assert!(
        is_share(forced, 8) && is_share(hoped, 80) && is_share(none, 8),
        "{forced} forced, {hoped} hoped for, {none} alike"
    );
}
