//! Bodies of actions mean what an execution statement by statement says: the same states enable them, and lead to the
//! same states.
//!
//! `IOXIDE_BODIES=20000` looks at that many random bodies; here it is a share.

use std::collections::BTreeSet;

use crate::common::program::{Dice, MOST, Program, Store};
use crate::common::{load_text, render};
use ioxide_model::code::Code;
use ioxide_model::concrete::{ConcreteState, initial_state, is_enabled, successor};
use ioxide_model::number::Int;
use ioxide_model::sort::Sort;
use ioxide_model::sts::Model;
use ioxide_model::value::Value;
use ioxide_test_support::test_count;

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
    let wanted = test_count("IOXIDE_BODIES", 500, 20_000) as usize;
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

/// Numbers about which a limit may be wrong: small ones, the ends of machine integers and their neighbours, and beyond.
const CORNERS: [&str; 12] = [
    "-1000000000000000000000",
    "-9223372036854775809",
    "-9223372036854775808",
    "-9223372036854775807",
    "0",
    "1",
    "2",
    "3",
    "9223372036854775806",
    "9223372036854775807",
    "9223372036854775808",
    "1000000000000000000000",
];

fn holds(x: &Int, sign: &str, limit: &Int) -> bool {
    match sign {
        "==" => x == limit,
        "!=" => x != limit,
        "<=" => x <= limit,
        ">=" => x >= limit,
        "<" => x < limit,
        _ => x > limit,
    }
}

#[test]
fn conditions_on_numbers_of_any_size_are_kept() {
    let number = |at: usize| CORNERS[at].parse::<Int>().expect("a number");
    let mut dice = Dice(0x2545_f491_4f6c_dd1d);
    let (mut n_enabled, mut n_not) = (0usize, 0usize);
    for round in 0..400 {
        // Long paths are not looked at after every condition: what they keep is all there is.
        let n = if round % 4 == 0 { 70 + dice.below(30) } else { 1 + dice.below(4) };
        let signs = ["==", "!=", "<=", ">=", "<", ">"];
        let mut conditions: Vec<(&str, usize)> =
            (0..n.min(4)).map(|_| (signs[dice.below(signs.len())], dice.below(CORNERS.len()))).collect();
        (4..n).for_each(|_| conditions.insert(0, (">=", 0)));
        let whens = |(at, (sign, limit)): (usize, &(&str, usize))| {
            format!("when x {sign} {} {{ b := b + {at} }}", CORNERS[*limit])
        };
        let body: Vec<String> = conditions.iter().enumerate().map(whens).collect();
        let text = format!(
            "def M {{ state {{ b: int }} init {{ b := 0 }} actions {{ ?go(x: int) if True then {{\n{}\n}} }} }}",
            body.join(" then\n")
        );
        let (sources, loaded) = load_text("limits.as", &text);
        let Some(model) = loaded.model else { panic!("{text}\n{}", render(&sources, &loaded.diagnostics)) };
        let Model { pool, sts } = &model;
        let state = initial_state(pool, sts).expect("initial values");
        for x in (0..CORNERS.len()).map(number) {
            let wanted = conditions.iter().all(|(sign, limit)| holds(&x, sign, &number(*limit)));
            let values = [Value::Int(x.clone())];
            let is_on =
                |it: &ioxide_model::sts::Switch| is_enabled(pool, sts, &state, it, &values).expect("known");
            assert_eq!(sts.switches.iter().any(is_on), wanted, "{text}\nwith x = {x}");
            *(if wanted { &mut n_enabled } else { &mut n_not }) += 1;
        }
    }
    assert!(n_enabled > 200 && n_not > 200, "{n_enabled}, {n_not}");
}
