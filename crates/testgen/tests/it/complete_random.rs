//! Wrong updates of random models: every textual fault that `conform` refutes fails a test of the complete suite, or
//! the claim of the suite does not cover it.
//!
//! The faults are made here from the text of the model, not from its transitions, and the tests are carried out by
//! enumeration, so this is a second opinion on the fault domain, on the search and on the walks of `complete`.
//!
//! `IOXIDE_MODELS=500` sets the number of models, `IOXIDE_MODELS=500..1000` takes a share of a campaign.

mod random_model;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use ioxide_lang::{LoadOptions, load};
use ioxide_model::concrete::{self, ConcreteState};
use ioxide_model::label::Label;
use ioxide_model::source::Sources;
use ioxide_model::sts::{GateKind, Model, Sts};
use ioxide_model::term::TermPool;
use ioxide_model::value::Value;
use ioxide_smt::stack::{SolverConfig, build_stack};
use ioxide_symex::{Ctx, Quiescence, is_quiescent};
use ioxide_test_support::test_seeds;
use ioxide_testgen::complete::ClassLimits;
use ioxide_testgen::complete::suite::{CompleteConfig, CompleteSuite, complete_suite};
use ioxide_testgen::conform::import::join;
use ioxide_testgen::conform::{ConformAnswer, ConformOptions, SearchBounds, conform};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use self::random_model::RandomModel;

/// The greatest number of symbols of a suite. One model in ten has a larger one, and would take longer than all others.
const MAX_SYMBOLS: usize = 3_000;
/// Smaller than the limits of the command, for the same reason.
const CLASS_LIMITS: ClassLimits =
    ClassLimits { states: 12, classes: 16, strict: 8, bounded: 6, reactions: 40 };
/// The greatest number of faults of a model that are tried, drawn at random: more models tell more than more faults do.
const MAX_FAULTS: usize = 12;
/// The greatest number of states that `conform` looks at: models with an unbounded counter have no end.
const MAX_STATES: usize = 150;

fn loaded(text: &str) -> Model {
    let mut sources = Sources::default();
    let file = sources.add("random.iox", text);
    let loaded = load(&sources, file, &LoadOptions::default());
    loaded.model.unwrap_or_else(|| panic!("{:#?}\n{text}", loaded.diagnostics))
}

/// The results of a campaign.
#[derive(Default, Debug)]
struct Tally {
    models: u64,
    /// Models with a complete suite.
    suites: u64,
    /// Suites whose claim is whole.
    whole: u64,
    faults: u64,
    refuted: u64,
    killed: u64,
    uncovered: u64,
    undecided: u64,
}

#[test]
fn every_wrong_update_that_conform_refutes_is_killed_or_not_covered() {
    let seeds = test_seeds("IOXIDE_MODELS", 15, 600);
    let n_models = seeds.end - seeds.start;
    let mut tally = Tally::default();
    for seed in seeds {
        tally.models += 1;
        check(seed, &mut tally);
        if tally.models.is_multiple_of(500) {
            println!("{tally:?}");
        }
    }
    println!("{tally:?}");
    // A suite that claims nothing, or models without faults, would let everything pass.
    assert!(tally.suites * 2 > n_models && tally.whole * 4 > n_models, "{tally:?}");
    assert!(tally.refuted > n_models && tally.killed * 10 > tally.refuted * 8, "{tally:?}");
}

fn check(seed: u64, tally: &mut Tally) {
    let model = RandomModel::new(seed);
    let text = model.text();
    let mut spec = loaded(&text);
    let mut solver = build_stack(&SolverConfig::default());
    let config =
        CompleteConfig { max_symbols: MAX_SYMBOLS, limits: CLASS_LIMITS, ..CompleteConfig::default() };
    let suite = complete_suite(&mut Ctx::new(&mut spec, &mut solver), &config);
    let Ok(suite) = suite else { return };
    tally.suites += 1;
    tally.whole += u64::from(suite.claim.is_whole());
    let mut uncovered = uncovered_places(&spec, &suite);
    let mut faults = model.faults();
    faults.shuffle(&mut ChaCha8Rng::seed_from_u64(seed));
    for fault in faults.into_iter().take(MAX_FAULTS) {
        tally.faults += 1;
        let (joined, imp) = join_models(&spec, &fault.text);
        let Some(is_refuted) = refutes(&joined, &imp) else {
            tally.undecided += 1;
            continue;
        };
        // Some tests suffice to see that a right system passes.
        let n_tests = if is_refuted { suite.tests.len() } else { suite.tests.len().min(20) };
        let is_killed = fails_surely(&joined, &imp, &suite.tests[..n_tests]);
        assert!(is_refuted || !is_killed, "seed {seed}: a right system fails: {}\n{text}", fault.text);
        tally.refuted += u64::from(is_refuted);
        tally.killed += u64::from(is_killed);
        if is_refuted && !is_killed {
            let left = uncovered.get_mut(&fault.place).filter(|left| **left > 0);
            let Some(left) = left else {
                panic!(
                    "seed {seed}: the guarantee covers {:?}, no test fails:\n{}\n{text}",
                    fault.place, fault.text
                );
            };
            *left -= 1;
            tally.uncovered += 1;
        }
    }
}

/// The number of uncovered faults by transition and variable.
fn uncovered_places(spec: &Model, suite: &CompleteSuite) -> BTreeMap<(String, String), usize> {
    let mut places = BTreeMap::new();
    for (fault, _) in &suite.uncovered {
        let label = spec.sts.switches[fault.switch].label.to_string();
        let var = spec.pool.var_info(fault.var).name.to_string();
        *places.entry((label, var)).or_insert(0) += 1;
    }
    places
}

/// The specification, and the system of `text` over its pool.
fn join_models(spec: &Model, text: &str) -> (Model, Sts) {
    let mut spec = spec.clone();
    let imp = join(&mut spec, &loaded(text)).expect("the same messages");
    (spec, imp)
}

/// Returns whether `conform` refutes `imp`; `None` if it does not decide.
fn refutes(spec: &Model, imp: &Sts) -> Option<bool> {
    let mut spec = spec.clone();
    let mut solver = build_stack(&SolverConfig::default());
    let mut cx = Ctx::new(&mut spec, &mut solver);
    let bounds = SearchBounds { max_states: MAX_STATES, max_depth: u32::MAX };
    let options = ConformOptions { bounds, ..ConformOptions::default() };
    let verdict = conform(&mut cx, imp, &options, &mut |_| ControlFlow::Continue(()));
    match verdict.expect("the same messages").answer {
        ConformAnswer::Fails(_) => Some(true),
        ConformAnswer::Conforms(_) => Some(false),
        ConformAnswer::Unknown(_) => None,
    }
}

/// Returns whether some test fails whatever `imp` chooses, by enumeration of all messages.
fn fails_surely(spec: &Model, imp: &Sts, tests: &[Vec<Label>]) -> bool {
    let mut spec = spec.clone();
    let mut solver = build_stack(&SolverConfig::default());
    let outputs = messages(&spec.pool, &spec.sts);
    let mut cx = Ctx::new(&mut spec, &mut solver);
    let start = |cx: &Ctx<'_>, sts: &Sts| concrete::initial_state(cx.pool, sts).expect("known values");
    let (own, right) = (start(&cx, imp), start(&cx, cx.sts));
    tests.iter().any(|test| {
        let mut pairs = settled(&mut cx, imp, &outputs, vec![(own.clone(), BTreeSet::from([right.clone()]))]);
        for input in test {
            let given = pairs.iter().flat_map(|pair| give_input(&cx, imp, pair, input)).collect();
            pairs = settled(&mut cx, imp, &outputs, given);
        }
        pairs.is_empty()
    })
}

type Pair = (ConcreteState, BTreeSet<ConcreteState>);

/// Every output with every combination of values.
fn messages(pool: &TermPool, sts: &Sts) -> Vec<Label> {
    let mut all = Vec::new();
    for (gate, declared) in sts.gates.iter_enumerated().filter(|(_, gate)| gate.kind == GateKind::Output) {
        let mut combinations: Vec<Vec<Value>> = vec![Vec::new()];
        for &field in &declared.fields {
            let domain = pool.finite_domain(pool.var_info(field).sort).expect("outputs have finite fields");
            let longer = |values: &Vec<Value>| {
                let with = |value: &Value| values.iter().cloned().chain([value.clone()]).collect();
                domain.iter().map(with).collect::<Vec<Vec<Value>>>()
            };
            combinations = combinations.iter().flat_map(longer).collect();
        }
        all.extend(combinations.into_iter().map(|values| Label::Output(gate, values)));
    }
    all
}

/// The states of `sts` after `label`.
fn after(cx: &Ctx<'_>, sts: &Sts, state: &ConcreteState, label: &Label) -> Vec<ConcreteState> {
    let next = concrete::successors(cx.pool, sts, state, label).expect("small values");
    next.into_iter().map(|next| next.state).collect()
}

fn give_input(cx: &Ctx<'_>, imp: &Sts, (own, right): &Pair, input: &Label) -> Vec<Pair> {
    let next: BTreeSet<_> = right.iter().flat_map(|state| after(cx, cx.sts, state, input)).collect();
    if next.is_empty() {
        // A test leaves out what the model does not mention.
        return vec![(own.clone(), right.clone())];
    }
    match after(cx, imp, own, input) {
        ignored if ignored.is_empty() => vec![(own.clone(), next)],
        taken => taken.into_iter().map(|own| (own, next.clone())).collect(),
    }
}

/// The pairs in which `imp` is silent, as the specification may be.
fn settled(cx: &mut Ctx<'_>, imp: &Sts, outputs: &[Label], pairs: Vec<Pair>) -> BTreeSet<Pair> {
    let mut silent = BTreeSet::new();
    let mut todo = pairs;
    while let Some((own, right)) = todo.pop() {
        let mut is_silent = true;
        for label in outputs {
            for next in after(cx, imp, &own, label) {
                is_silent = false;
                let allowed: BTreeSet<_> =
                    right.iter().flat_map(|state| after(cx, cx.sts, state, label)).collect();
                if !allowed.is_empty() {
                    todo.push((next, allowed));
                }
            }
        }
        if is_silent {
            let quiet: BTreeSet<_> =
                right.into_iter().filter(|state| is_quiescent(cx, state) == Quiescence::Quiet).collect();
            if !quiet.is_empty() {
                silent.insert((own, quiet));
            }
        }
    }
    silent
}
