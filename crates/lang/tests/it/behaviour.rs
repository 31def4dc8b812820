//! The examples behave as their sources say, counted by enumeration.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::common::{load_file, render, root};
use ioxide_model::concrete::{ConcreteState, initial_state, is_enabled, successor};
use ioxide_model::sts::{GateId, Model, Sts, SwitchId};
use ioxide_model::value::Value;

fn example(path: &str) -> Model {
    let (sources, loaded) = load_file(&root().join("examples").join(path));
    loaded.model.unwrap_or_else(|| panic!("{path}\n{}", render(&sources, &loaded.diagnostics)))
}

/// Every way to give `gate` field values out of `domain`.
fn messages(sts: &Sts, gate: GateId, domain: &[i64]) -> Vec<Vec<Value>> {
    sts.gates[gate].fields.iter().fold(vec![Vec::new()], |lists, _| {
        let longer = |list: &Vec<Value>, n: &i64| list.iter().cloned().chain([Value::int(*n)]).collect();
        lists.iter().flat_map(|list| domain.iter().map(move |n| longer(list, n))).collect()
    })
}

/// The steps from `state`: message as text, switch, state after it.
fn steps(model: &Model, state: &ConcreteState, domain: &[i64]) -> Vec<(String, SwitchId, ConcreteState)> {
    let Model { pool, sts } = model;
    let mut found = Vec::new();
    for (id, switch) in sts.switches_from(state.loc) {
        for values in messages(sts, switch.gate, domain) {
            if is_enabled(pool, sts, state, switch, &values).expect("all values are known") {
                let after = successor(pool, sts, state, switch, &values).expect("all values are known");
                let values: Vec<String> = values.iter().map(|value| pool.show_value(value)).collect();
                found.push((format!("{}({})", sts.gates[switch.gate].name, values.join(",")), id, after));
            }
        }
    }
    found
}

/// Reachable states with the length of a shortest way to them.
fn reachable(model: &Model, domain: &[i64]) -> BTreeMap<ConcreteState, usize> {
    let start = initial_state(&model.pool, &model.sts).expect("initial values");
    let mut depths = BTreeMap::from([(start.clone(), 0)]);
    let mut open = VecDeque::from([start]);
    while let Some(state) = open.pop_front() {
        let depth = depths[&state] + 1;
        for (_, _, after) in steps(model, &state, domain) {
            if !depths.contains_key(&after) {
                depths.insert(after.clone(), depth);
                open.push_back(after);
            }
        }
    }
    depths
}

const DELAYS: [i64; 8] = [0, 1, 19, 20, 29, 30, 269, 270];

#[test]
fn the_car_alarm_has_sixteen_states_in_both_styles() {
    assert_eq!(reachable(&example("cas/cas.iox"), &DELAYS).len(), 16);
    assert_eq!(reachable(&example("cas/cas.as"), &DELAYS).len(), 16);
}

#[test]
fn both_styles_of_the_car_alarm_have_the_same_traces() {
    let (a, b) = (example("cas/cas.iox"), example("cas/cas.as"));
    let start = |model: &Model| initial_state(&model.pool, &model.sts).expect("initial values");
    let mut seen = BTreeSet::new();
    let mut open = vec![(start(&a), start(&b))];
    while let Some(pair) = open.pop() {
        if !seen.insert(pair.clone()) {
            continue;
        }
        let next = |model: &Model, state: &ConcreteState| -> BTreeMap<String, ConcreteState> {
            steps(model, state, &DELAYS).into_iter().map(|(message, _, after)| (message, after)).collect()
        };
        let (left, right) = (next(&a, &pair.0), next(&b, &pair.1));
        assert!(left.keys().eq(right.keys()), "{:?}\n{:?}", left.keys(), right.keys());
        open.extend(left.into_values().zip(right.into_values()));
    }
    assert_eq!(seen.len(), 16);
}

#[test]
fn the_scaled_protocol_has_the_known_number_of_states() {
    // A request always carries 0 here, so a state is a location with `n` and `rn`. The last of
    // the 68 states is one step deeper than the longest purpose, 2N + 2 MAX_RN + 2 = 18.
    let depths = reachable(&example("brp/scaled.iox"), &[0, 1, 2]);
    let places: BTreeSet<_> = depths.keys().map(|state| (state.loc, format!("{:?}", state.values))).collect();
    let with_zero =
        |depth: usize| depths.iter().filter(|(state, at)| **at <= depth && message_is_zero(state)).count();
    assert_eq!(places.len(), depths.len());
    assert_eq!(with_zero(18), 67);
    assert_eq!(with_zero(usize::MAX), 68);
}

/// The third variable, the chunk, is 0.
fn message_is_zero(state: &ConcreteState) -> bool {
    state.values.iter().nth(2).is_some_and(|(_, value)| *value == Value::int(0))
}

#[test]
fn every_switch_of_the_protocol_is_covered_at_the_known_depth() {
    let model = example("brp/spec.iox");
    let depths = reachable(&model, &[0, 1, 2]);
    let mut shortest: BTreeMap<String, usize> = BTreeMap::new();
    for (state, depth) in &depths {
        for (_, switch, _) in steps(&model, state, &[0, 1, 2]) {
            let label = model.sts.switches[switch].label.to_string();
            let best = shortest.entry(label).or_insert(usize::MAX);
            *best = (*best).min(depth + 1);
        }
    }
    let known = [
        ("r1", 1),
        ("r14", 1),
        ("r15", 1),
        ("r2", 2),
        ("r16", 2),
        ("r5", 3),
        ("r7", 3),
        ("r9", 3),
        ("r3", 4),
        ("r10", 4),
        ("r4", 6),
        ("r6", 7),
        ("r13", 8),
        ("r8", 13),
        ("r11", 14),
        ("r12", 18),
    ];
    let known: BTreeMap<String, usize> =
        known.into_iter().map(|(label, depth)| (label.to_owned(), depth)).collect();
    assert_eq!(shortest, known);
}
