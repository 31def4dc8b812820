//! Values that bite: zero, edges, relations to what was seen, texts out of patterns, spread where only a solver helps.

mod patterned;
mod picked;

use std::collections::{BTreeMap, BTreeSet};

use ioxide_lang::{LoadOptions, load};
use ioxide_model::concrete::initial_state;
use ioxide_model::index::Idx as _;
use ioxide_model::label::Label;
use ioxide_model::source::Sources;
use ioxide_model::sts::{Model, SwitchId};
use ioxide_model::trace::Trace;
use ioxide_model::value::Value;
use ioxide_smt::stack::{SolverConfig, SolverStack, build_stack};
use ioxide_symex::Ctx;
use ioxide_testgen::data::patterned::{PatternedRequest, pick_patterned};
use ioxide_testgen::data::{
    Hints, ModelLexicon, PickedValues, SeenValues, ValueRequest, ValueWeights, pick_hinted,
};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

fn model(text: &str) -> Model {
    let mut sources = Sources::default();
    let file = sources.add("test.iox", text.to_owned());
    load(&sources, file, &LoadOptions::default()).model.expect("a model")
}

fn solver() -> SolverStack {
    build_stack(&SolverConfig::default())
}

/// Values drawn `n` times for the first switch of `text` in the initial state, after `seen`.
fn drawn(text: &str, seen: &[Value], n: u64) -> Vec<Vec<Value>> {
    let (mut model, mut solver) = (model(text), solver());
    let mut cx = Ctx::new(&mut model, &mut solver);
    let mut lexicon = ModelLexicon::collect(&mut cx);
    let id = SwitchId::new(0);
    let switch = &cx.sts.switches[id];
    let state = initial_state(cx.pool, cx.sts).expect("all values are known");
    let atoms = lexicon.atoms(&mut cx, id).to_vec();
    let hints = Hints {
        recent: seen,
        constants: lexicon.constants(),
        atoms: &atoms,
        weights: ValueWeights::default(),
        ..Hints::default()
    };
    let wish = ValueRequest { gate: switch.gate, guard: switch.guard, state: &state.values };
    let pick = |seed| match pick_hinted(&mut cx, &mut ChaCha8Rng::seed_from_u64(seed), &wish, &hints) {
        PickedValues::Values(values) => values,
        other => panic!("{other:?}"),
    };
    (0..n).map(pick).collect()
}

/// Defect: the comparisons of all inputs of a model with thousands of switches in one place were looked for before the
/// first step.
#[test]
fn the_comparisons_of_a_crowded_place_are_found_when_they_are_asked_for() {
    let switches: Vec<String> = (0..1200).map(|at| format!("on ask when n == {at}")).collect();
    let mut model = model(&format!("model M {{ input ask(n: int) state s {{ {} }} }}", switches.join("\n")));
    let mut solver = solver();
    let mut cx = Ctx::new(&mut model, &mut solver);
    let mut lexicon = ModelLexicon::collect(&mut cx);
    let before = lexicon.n_atoms();
    let last = SwitchId::new(1199);
    let own = cx.sts.switches[last].guard;
    assert!(lexicon.atoms(&mut cx, last).contains(&own), "its own comparison is among them");
    assert!(lexicon.n_atoms() > before, "nobody had looked for it");
}

/// Asserts that `value` is drawn for the only field at least this many times in 300.
#[track_caller]
fn comes_up(text: &str, seen: &[Value], value: Value, at_least: usize) {
    let n = drawn(text, seen, 300).into_iter().filter(|values| values[0] == value).count();
    assert!(n >= at_least, "{value:?} came up {n} of 300 times");
}

#[test]
fn small_numbers_come_up_in_a_wide_range() {
    let wide = "model M { type W = -1000000..1000000 input i(n: W) state s { on i } }";
    for n in [0, 1, -1] {
        comes_up(wide, &[], Value::int(n), 2);
    }
}

#[test]
fn the_edges_of_machine_words_come_up() {
    let seen = drawn("model M { input i(n: int) state s { on i } }", &[], 600);
    let above = |n: i64| seen.iter().filter(|values| values[0] > Value::int(n)).count();
    assert!(above(i64::from(i32::MAX)) > 10);
    assert!(seen.contains(&vec![Value::int(1 << 31)]) || seen.contains(&vec![Value::int((1 << 31) - 1)]));
}

#[test]
fn relations_to_values_seen_come_up() {
    let any = "model M { input i(n: int) state s { on i } }";
    let seen = [Value::int(5_000), Value::int(70_123)];
    for (n, at_least) in [(70_123, 10), (70_124, 5), (70_122, 3), (75_123, 1), (65_123, 1), (5_000, 3)] {
        comes_up(any, &seen, Value::int(n), at_least);
    }
    let text = "model M { input i(s: string) state s { on i } }";
    comes_up(text, &[Value::str("first one"), Value::str("second")], Value::str("first one"), 5);
    comes_up(text, &[Value::str("Abc")], Value::str("aBC"), 1);
}

#[test]
fn the_edge_of_an_update_and_of_what_follows_come_up() {
    let update = "model M { input i(n: int) var h: int = 333 \
        state s { on i when n >= 0 { h = if h + n > 777 then 777 else h + n } } }";
    comes_up(update, &[], Value::int(444), 3);
    let next = "model M { input i(n: int) output o var h: int = 0 \
        state s { on i { h = n } -> t } state t { emit o when h <= 8191 -> s } }";
    comes_up(next, &[], Value::int(8191), 3);
    comes_up(next, &[], Value::int(8192), 3);
}

#[test]
fn texts_out_of_a_pattern_differ_and_leave_other_fields_alone() {
    let text = "model M { input i(s: string, n: int) \
        state s { on i when s.matches(\"[a-z]{2,8}@[a-z]{1,5}[.](com|org)\") && n >= 0 } }";
    let seen = drawn(text, &[], 200);
    let texts: BTreeSet<&Value> = seen.iter().map(|values| &values[0]).collect();
    let numbers: BTreeSet<&Value> = seen.iter().map(|values| &values[1]).collect();
    assert!(texts.len() > 120, "{} texts", texts.len());
    assert!(numbers.len() > 40, "{} numbers", numbers.len());
}

#[test]
fn texts_have_many_lengths_and_alphabets() {
    let seen = drawn("model M { input i(s: string) state s { on i } }", &[], 400);
    let texts: Vec<&str> = seen.iter().filter_map(|values| values[0].as_str()).collect();
    let lengths: BTreeSet<usize> = texts.iter().map(|text| text.chars().count()).collect();
    assert!(lengths.contains(&0) && lengths.iter().any(|&n| n > 20) && lengths.iter().any(|&n| n > 250));
    assert!(texts.iter().any(|text| !text.is_ascii()));
    assert!(!texts.iter().any(|text| text.chars().any(char::is_control)), "most ways cannot carry them");
}

#[test]
fn any_two_of_eight_fields_are_equal_now_and_then() {
    let text = "model M { input i(a: int, b: int, c: int, d: int, e: int, f: int, g: int, h: int) \
        state s { on i when a + b + c + d + e + f + g + h != 1 } }";
    let (mut model, mut solver) = (model(text), solver());
    let mut cx = Ctx::new(&mut model, &mut solver);
    let switch = &cx.sts.switches[SwitchId::new(0)];
    let (fields, facts) = (cx.sts.gates[switch.gate].fields.clone(), [switch.guard]);
    let mut equal = BTreeSet::new();
    for seed in 0..60 {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let wish = PatternedRequest { fields: &fields, facts: &facts, beside: &[], first: 0 };
        let PickedValues::Values(values) = pick_patterned(&mut cx, &mut rng, &wish) else {
            panic!("there are values")
        };
        equal.extend(
            (0..8).flat_map(|b| (0..b).map(move |a| (a, b))).filter(|&(a, b)| values[a] == values[b]),
        );
    }
    assert_eq!(equal.len(), 28, "every pair was equal once");
}

/// The entropy in bits of the magnitude of the second field: how evenly the powers of two come up.
fn entropy(pairs: &[Vec<Value>]) -> f64 {
    let magnitude =
        |pair: &Vec<Value>| pair[1].to_rational().map_or(0, |n| n.floor().to_i64().map_or(64, i64::ilog2));
    let mut counts = BTreeMap::new();
    pairs.iter().for_each(|pair| *counts.entry(magnitude(pair)).or_insert(0usize) += 1);
    let share = |count: &usize| *count as f64 / pairs.len() as f64;
    counts.values().map(|count| -share(count) * share(count).log2()).sum()
}

/// A relation of two fields: by an equation, and by one that only a solver can satisfy.
#[test]
fn pairs_that_only_a_solver_finds_are_spread() {
    for guard in ["a == 7 * b + 1000 && b > 200", "3 * a == 7 * b + 1000 && b > 200"] {
        let text = format!("model M {{ input i(a: int, b: int) state s {{ on i when {guard} }} }}");
        let pairs = drawn(&text, &[], 60);
        let distinct = pairs.iter().collect::<BTreeSet<_>>().len();
        let entropy = entropy(&pairs);
        println!("{guard}: {distinct} of 60 pairs differ, entropy of the magnitude {entropy:.2} bits");
        assert!(distinct >= 50, "{distinct} of 60 pairs differ");
        assert!(entropy >= 1.5, "{entropy:.2} bits");
    }
}

#[test]
fn what_was_seen_is_remembered_the_latest_last() {
    let model = model("model M { input i(n: int, b: bool) output o(s: string) state s { on i } }");
    let (input, output) = (model.sts.gate_named("i").expect("i"), model.sts.gate_named("o").expect("o"));
    let number = |n| Label::Input(input, vec![Value::int(n), Value::Bool(true)]);
    let mut trace: Trace = [number(1), number(2), Label::Quiescence].into_iter().collect();
    let mut seen = SeenValues::default();
    seen.catch_up(&trace);
    trace.labels.extend([Label::Output(output, vec![Value::str("x")]), number(1)]);
    seen.catch_up(&trace);
    assert_eq!(seen.values(), [Value::int(2), Value::str("x"), Value::int(1)]);
}
