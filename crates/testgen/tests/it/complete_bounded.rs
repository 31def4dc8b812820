//! Suites for bounded collections against enumeration: every fault of the domain that shows in a run in which the list
//! holds at most as many elements as the claim says fails a test, or is listed as not covered.
//!
//! `IOXIDE_BOUNDED=200 cargo test -p ioxide-testgen --test it complete_bounded:: -- --nocapture`

use ioxide_lang::{LoadOptions, load};
use ioxide_model::concrete::{self, ConcreteState};
use ioxide_model::label::Label;
use ioxide_model::source::Sources;
use ioxide_model::sts::{GateKind, Model};
use ioxide_model::value::Value;
use ioxide_smt::halt::Halt;
use ioxide_smt::stack::{SolverConfig, build_stack};
use ioxide_symex::Ctx;
use ioxide_test_support::test_count;
use ioxide_testgen::complete::ClassLimits;
use ioxide_testgen::complete::stages::complete_suite_in_stages;
use ioxide_testgen::complete::suite::{CompleteConfig, CompleteSuite, complete_suite};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Runs of both systems are compared to this length.
const DEPTH: usize = 5;
/// Small limits: a model that needs more takes longer than all others.
const LIMITS: ClassLimits = ClassLimits { states: 16, classes: 12, strict: 12, bounded: 6, reactions: 20 };

/// The parts of a model of a list that is put to and taken from; a fault replaces one of them.
#[derive(Clone, Debug)]
struct ListModel {
    /// The updates of the list by `put` and by `get`, then those of the last value.
    updates: [&'static str; 4],
    /// The answers to `put`, to `get`, and to `get` from an empty list.
    answers: [&'static str; 3],
    /// The condition under which `put` is taken, and refused.
    room: [&'static str; 2],
}

const LISTS: [&str; 5] = ["items + [v]", "[v] + items", "items", "[v]", "items + [last]"];
const RESTS: [&str; 4] = ["items.drop(1)", "items.take(items.length() - 1)", "items", "[]"];
const VALUES: [&str; 3] = ["v", "last", "0"];
const TAKEN: [&str; 3] = ["last", "items[0]", "0"];
const ANSWERS: [&str; 4] = ["emit ok", "emit no", "emit got(v: last)", "emit got(v: items.length() % 3)"];
const ROOMS: [[&str; 2]; 3] =
    [["true", "false"], ["items.length() < 3", "items.length() >= 3"], ["v != last", "v == last"]];

impl ListModel {
    fn random(rng: &mut ChaCha8Rng) -> Self {
        fn pick<T: Copy>(rng: &mut ChaCha8Rng, all: &[T]) -> T {
            all[rng.random_range(0..all.len())]
        }
        Self {
            updates: [pick(rng, &LISTS[..2]), pick(rng, &RESTS[..2]), pick(rng, &VALUES), pick(rng, &TAKEN)],
            answers: [pick(rng, &ANSWERS), ANSWERS[2], ANSWERS[1]],
            room: pick(rng, &ROOMS),
        }
    }

    fn text(&self) -> String {
        let [put, get, put_last, get_last] = self.updates;
        let [said_put, said_get, said_empty] = self.answers;
        let [room, full] = self.room;
        format!(
            "model M {{ input put(v: 0..2) input get output ok output no output got(v: 0..2)
              var items: list<0..2> = [] var last: 0..2 = 0
              state idle {{
                put: on put when {room} {{ items = {put}, last = {put_last} }} -> stored
                full: on put when {full} -> refused
                get: on get when items.length() > 0 {{ items = {get}, last = {get_last} }} -> taken
                empty: on get when items.length() == 0 -> refused }}
              state stored {{ say_put: {said_put} -> idle }}
              state taken {{ say_get: {said_get} -> idle }}
              state refused {{ say_empty: {said_empty} -> idle }} }}"
        )
    }

    /// Every model with one wrong answer, of those that the model gives.
    fn wrong_answers(&self) -> Vec<Self> {
        let mut all = Vec::new();
        for at in 0..self.answers.len() {
            for answer in self.answers {
                if answer != self.answers[at] {
                    let mut wrong = self.clone();
                    wrong.answers[at] = answer;
                    all.push(wrong);
                }
            }
        }
        all
    }
}

fn loaded(text: &str) -> Model {
    let mut sources = Sources::default();
    let file = sources.add("list.iox", text);
    let loaded = load(&sources, file, &LoadOptions::default());
    loaded.model.unwrap_or_else(|| panic!("{:#?}\n{text}", loaded.diagnostics))
}

/// A deterministic system, by evaluation.
struct Runner<'m>(&'m Model);

impl Runner<'_> {
    fn start(&self) -> ConcreteState {
        concrete::initial_state(&self.0.pool, &self.0.sts).unwrap()
    }

    /// Returns the state after an input, and what is said until silence; an input that no switch takes is ignored.
    fn give(&self, state: &ConcreteState, gate: &str, values: &[Value]) -> (ConcreteState, Vec<String>) {
        let Model { pool, sts } = self.0;
        let input = Label::Input(sts.gate_named(gate).unwrap(), values.to_vec());
        let next = concrete::successors(pool, sts, state, &input).unwrap();
        let mut state = next.into_iter().next().map_or_else(|| state.clone(), |next| next.state);
        let mut said = Vec::new();
        loop {
            let outputs = sts.gates.iter_enumerated().filter(|(_, gate)| gate.kind == GateKind::Output);
            let labels = outputs.flat_map(|(gate, of)| {
                let values: Vec<Vec<Value>> = if of.fields.is_empty() {
                    vec![Vec::new()]
                } else {
                    (0..3).map(|v| vec![Value::int(v)]).collect()
                };
                values.into_iter().map(move |values| Label::Output(gate, values))
            });
            let found = labels.into_iter().find_map(|label| {
                let next = concrete::successors(pool, sts, &state, &label).unwrap();
                Some((label.show(pool, sts), next.into_iter().next()?.state))
            });
            let Some((label, next)) = found else { return (state, said) };
            said.push(label);
            state = next;
        }
    }

    /// The number of elements of the list.
    fn size(&self, state: &ConcreteState) -> usize {
        let var = self.0.sts.vars.iter().find(|var| &*self.0.pool.var_info(var.var).name == "items").unwrap();
        match state.values.get(var.var) {
            Some(Value::Collection(list)) => list.len(),
            _ => panic!("the list has a value"),
        }
    }
}

/// Returns whether the two systems answer differently in a run in which the list of the first holds at most `most`.
fn differ(one: &Runner<'_>, other: &Runner<'_>, most: usize) -> bool {
    let inputs: Vec<(&str, Vec<Value>)> =
        (0..3).map(|v| ("put", vec![Value::int(v)])).chain([("get", Vec::new())]).collect();
    let mut open = vec![(one.start(), other.start(), 0)];
    while let Some((ours, theirs, depth)) = open.pop() {
        for (gate, values) in &inputs {
            let ((ours, said), (theirs, answered)) =
                (one.give(&ours, gate, values), other.give(&theirs, gate, values));
            if one.size(&ours) > most {
                continue;
            }
            if said != answered {
                return true;
            }
            if depth + 1 < DEPTH {
                open.push((ours, theirs, depth + 1));
            }
        }
    }
    false
}

/// Returns whether a test fails.
fn is_killed(one: &Runner<'_>, other: &Runner<'_>, tests: &[Vec<Label>]) -> bool {
    let sts = &one.0.sts;
    tests.iter().any(|test| {
        let (mut ours, mut theirs) = (one.start(), other.start());
        test.iter().any(|label| {
            let Label::Input(gate, values) = label else { return false };
            let name = &sts.gates[*gate].name;
            let (next, said) = one.give(&ours, name, values);
            let (other_next, answered) = other.give(&theirs, name, values);
            (ours, theirs) = (next, other_next);
            said != answered
        })
    })
}

fn bounded_suite(model: &mut Model, most_items: usize) -> Option<CompleteSuite> {
    let mut solver = build_stack(&SolverConfig::default());
    let config = CompleteConfig {
        most_items: Some(most_items),
        limits: LIMITS,
        max_symbols: 3_000,
        ..CompleteConfig::default()
    };
    complete_suite(&mut Ctx::new(model, &mut solver), &config).ok()
}

#[test]
fn every_fault_that_shows_within_the_bound_is_found_or_listed() {
    let n = test_count("IOXIDE_BOUNDED", 1, 25);
    let (mut suites, mut exact, mut shown, mut listed) = (0, 0, 0, 0);
    for seed in 0..n {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let (random, most) = (ListModel::random(&mut rng), rng.random_range(1..=2));
        let mut model = loaded(&random.text());
        let Some(suite) = bounded_suite(&mut model, most) else { continue };
        suites += 1;
        assert!(!suite.claim.is_whole(), "a bound is no whole claim");
        let claim = suite.claim.sentences().join("\n");
        assert!(claim.contains(&format!("`items` holds at most {most} element")), "{claim}");
        let right = Runner(&model);
        // A claim with gaps says less; only answers that no gap excuses are checked against it.
        let is_exact =
            suite.claim.is_exact && suite.claim.left_out + suite.claim.infeasible + suite.claim.missed == 0;
        exact += u64::from(is_exact);
        for wrong in random.wrong_answers().into_iter().filter(|_| is_exact) {
            let other = loaded(&wrong.text());
            if differ(&right, &Runner(&other), most) {
                shown += 1;
                assert!(
                    is_killed(&right, &Runner(&other), &suite.tests),
                    "seed {seed}: {wrong:?}\n{random:?}\n{claim}"
                );
            }
        }
        listed += check_updates(seed, &model, &suite, most);
    }
    println!("{suites} suites of {n}, {exact} without gaps, {shown} wrong answers, {listed} updates listed");
    assert!(suites * 2 >= n && exact * 2 >= n && shown > n, "{suites} {exact} {shown} of {n}");
}

/// Checks that every wrong update that shows within the bound fails a test or is listed; returns how many are listed.
fn check_updates(seed: u64, model: &Model, suite: &CompleteSuite, most: usize) -> usize {
    let mut copy = model.clone();
    let mut solver = build_stack(&SolverConfig::default());
    let mut cx = Ctx::new(&mut copy, &mut solver);
    let faults = ioxide_testgen::complete::updates::wrong_updates(&mut cx);
    let systems: Vec<_> = faults.iter().map(|fault| (fault.describe(&cx), fault.apply(&mut cx))).collect();
    let mut listed = 0;
    for (fault, (text, switch)) in faults.iter().zip(systems) {
        let mut wrong = Model { pool: copy.pool.clone(), sts: model.sts.clone() };
        wrong.sts.switches[fault.switch] = switch;
        let (right, other) = (Runner(model), Runner(&wrong));
        if differ(&right, &other, most) && !is_killed(&right, &other, &suite.tests) {
            let is_listed =
                suite.claim.updates.as_ref().unwrap().uncovered.iter().any(|it| it.starts_with(&text));
            assert!(is_listed, "seed {seed}: {text} is covered, and no test fails");
            listed += 1;
        }
    }
    listed
}

/// A model whose list the solver does not decide has a suite for short lists, without being asked for one.
#[test]
fn a_model_without_a_suite_gets_one_for_short_lists() {
    let text = "model Queue { input put(n: 0..1) input get output stored(done: bool) output got(n: int?)
        var items: list<int> = []
        state ready { put: on put when items.length() < 4 { items = items + [n] } -> stored
          on put when items.length() == 4 -> refused  on get -> asked }
        state stored { emit stored(done: true) -> ready }
        state refused { emit stored(done: false) -> ready }
        state asked { emit got(n: items.first()) { items = items.drop(1) } -> ready } }";
    let mut model = loaded(text);
    let mut solver = build_stack(&SolverConfig::default());
    let cx = &mut Ctx::new(&mut model, &mut solver);
    // One transition only: the search for wrong updates takes most of the time, and the other test has it.
    let config = CompleteConfig { limits: LIMITS, only: vec!["put".into()], ..CompleteConfig::default() };
    let suite = complete_suite_in_stages(cx, &config, &|_| Halt::default()).unwrap();
    assert_eq!((suite.claim.states, suite.claim.is_exact, suite.claim.is_whole()), (3, true, false));
    assert_eq!(
        (suite.claim.scope.most_items, &suite.claim.scope.collections[..]),
        (Some(2), &["items".into()][..])
    );
    let names: Vec<&str> = suite.abstraction.states.iter().map(|state| state.name.as_str()).collect();
    assert_eq!(names, ["ready [items: 0]", "ready [items: 1]", "ready [items: 2]"]);
}
