//! Bodies of actions mean what an execution statement by statement says: the same states enable them, and lead to the
//! same states.
//!
//! `IOXIDE_BODIES=20000` looks at that many random bodies; here it is a share.

mod common;
#[path = "common/program.rs"]
mod program;

use std::collections::BTreeSet;

use common::{load_text, render};
use ioxide_model::code::Code;
use ioxide_model::concrete::{ConcreteState, initial_state, is_enabled, successor};
use ioxide_model::sort::Sort;
use ioxide_model::sts::Model;
use ioxide_model::value::Value;
use program::{Dice, MOST, Program, Store};

/// States and parameters that every body is looked at in.
const LOOKS: usize = 30;

/// The concrete state that `store` is.
fn state(model: &mut Model, store: &Store) -> ConcreteState {
    let mut state = initial_state(&model.pool, &model.sts).expect("initial values");
    for at in 0..model.sts.vars.len() {
        let var = model.sts.vars[at].var;
        let info = model.pool.var_info(var).clone();
        let value = match &*info.name {
            "a" => Value::int(store.a),
            "b" => Value::int(store.b),
            "f" => Value::Bool(store.f),
            _ => {
                let Sort::Collection(list) = info.sort else { panic!("`xs` is a list") };
                let items: Vec<_> = store.xs.iter().map(|n| model.pool.int(*n)).collect();
                let list = model.pool.list(list, items);
                model.pool.as_value(list).expect("a constant list").clone()
            }
        };
        state.values.set(var, value);
    }
    state
}

/// The states that the switches of the model lead to.
fn reached(model: &Model, state: &ConcreteState, p: i64) -> BTreeSet<ConcreteState> {
    let Model { pool, sts } = model;
    let values = [Value::int(p)];
    let enabled = |it: &&ioxide_model::sts::Switch| is_enabled(pool, sts, state, it, &values).expect("known");
    let after = |it| successor(pool, sts, state, it, &values).expect("known");
    sts.switches.iter().filter(enabled).map(after).collect()
}

fn random_store(dice: &mut Dice) -> Store {
    let mut small = || dice.below(MOST as usize + 1) as i64;
    let (a, b, n) = (small(), small(), small());
    let xs = (0..n).map(|_| small()).collect();
    Store { a, b, f: dice.below(2) == 0, xs }
}

#[test]
fn random_bodies_do_what_their_statements_do_one_after_the_other() {
    let wanted = std::env::var("IOXIDE_BODIES").ok().and_then(|n| n.parse().ok()).unwrap_or(1_000);
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
    let (mut n_bodies, mut n_paths, mut n_enabled, mut n_choices) = (0usize, 0usize, 0usize, 0usize);
    for _ in 0..wanted {
        let program = Program::random(&mut dice);
        let text = program.text();
        let (sources, loaded) = load_text("random.as", &text);
        let Some(mut model) = loaded.model else {
            // A constant that does not fit its type is told at once; nothing else is wrong with them.
            let is_plain =
                |it: &ioxide_model::diag::Diagnostic| !it.is_error() || it.code == Code::ConstOutOfRange;
            assert!(
                loaded.diagnostics.iter().all(is_plain),
                "{text}\n{}",
                render(&sources, &loaded.diagnostics)
            );
            continue;
        };
        n_bodies += 1;
        n_paths += model.sts.switches.len();
        for _ in 0..LOOKS {
            let (store, p) = (random_store(&mut dice), dice.below(MOST as usize + 1) as i64);
            let before = state(&mut model, &store);
            let ends = program.ends(&store, p);
            n_enabled += usize::from(!ends.is_empty());
            n_choices += usize::from(ends.len() > 1);
            let wanted: BTreeSet<ConcreteState> = ends.iter().map(|store| state(&mut model, store)).collect();
            assert_eq!(reached(&model, &before, p), wanted, "{text}\nfrom {store:?} with p = {p}");
        }
    }
    println!("{n_bodies} bodies, {n_paths} paths, {n_enabled} enabled, {n_choices} with a choice");
    assert!(n_bodies * 2 > wanted && n_paths > 2 * n_bodies, "{n_bodies} of {wanted}, {n_paths} paths");
    assert!(n_enabled > 5 * n_bodies && n_choices > n_bodies, "{n_enabled}, {n_choices}");
}
