//! Tests of [`ioxide_testgen::data::patterned`].

use std::collections::BTreeSet;

use ioxide_lang::{LoadOptions, load};
use ioxide_model::source::Sources;
use ioxide_model::term::Term;
use ioxide_model::value::Value;
use ioxide_smt::brute::BruteSolver;
use ioxide_symex::Ctx;
use ioxide_testgen::data::PickedValues;
use ioxide_testgen::data::patterned::{PatternedRequest, pick_patterned};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

#[test]
fn every_pattern_comes_up_in_turn_and_mixed_ones_first() {
    let seen = picked_patterns("true");
    assert_eq!(seen, ["001", "010", "011", "012", "000"]);
}

#[test]
fn patterns_the_facts_exclude_are_passed_over() {
    let seen: BTreeSet<String> = picked_patterns("a != b && b < 3").into_iter().collect();
    assert_eq!(seen, ["010", "011", "012"].map(String::from).into());
}

/// The patterns of the values picked for a message with fields a, b, c under `guard`.
fn picked_patterns(guard: &str) -> Vec<String> {
    let text = format!("model M {{ input i(a: int, b: int, c: int) state s {{ on i when {guard} }} }}");
    let mut sources = Sources::default();
    let file = sources.add("test.iox", text);
    let mut model = load(&sources, file, &LoadOptions::default()).model.unwrap();
    let mut solver = BruteSolver::new();
    let mut cx = Ctx::new(&mut model, &mut solver);
    let fields = cx.sts.gates[cx.sts.gate_named("i").unwrap()].fields.clone();
    let facts: Vec<Term> = cx.sts.switches.iter().map(|switch| switch.guard).collect();
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    let mut pattern = |first| {
        let wish = PatternedRequest { fields: &fields, facts: &facts, beside: &[], first };
        match pick_patterned(&mut cx, &mut rng, &wish) {
            PickedValues::Values(values) => pattern_of(&values),
            other => panic!("{other:?}"),
        }
    };
    (0..5).map(&mut pattern).collect()
}

fn pattern_of(values: &[Value]) -> String {
    let mut blocks: Vec<&Value> = Vec::new();
    let mut block = |value| {
        let at = blocks.iter().position(|&other| other == value).unwrap_or(blocks.len());
        if at == blocks.len() {
            blocks.push(value);
        }
        at.to_string()
    };
    values.iter().map(&mut block).collect()
}
