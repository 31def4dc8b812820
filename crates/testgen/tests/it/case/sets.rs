//! Sets of cases that cover a goal, beside an enumeration of small random models.

use std::collections::{BTreeSet, VecDeque};
use std::ops::ControlFlow;

use ioxide_model::concrete::{ConcreteState, initial_state, is_enabled, successor};
use ioxide_model::sts::{GateKind, Model, Sts, SwitchId};
use ioxide_model::term::TermPool;
use ioxide_model::value::Value;
use ioxide_smt::stack::{SolverConfig, build_stack};
use ioxide_symex::{Ctx, ExploreLimits};
use ioxide_testgen::case::{CaseConfig, CaseGoal, CaseSet, WhyNoCase, covering};

use crate::pairs::Pairs;

const LIMITS: ExploreLimits = ExploreLimits { max_states: 5_000, max_depth: u32::MAX };

/// The states after `id` from `state`, with every value of its field.
fn taken(pool: &TermPool, sts: &Sts, state: &ConcreteState, id: SwitchId) -> Vec<ConcreteState> {
    let switch = &sts.switches[id];
    let values: Vec<Vec<Value>> = match sts.gates[switch.gate].fields.len() {
        0 => vec![Vec::new()],
        _ => (0..3).map(|n| vec![Value::int(n)]).collect(),
    };
    let enabled = values.iter().filter(|values| is_enabled(pool, sts, state, switch, values).expect("known"));
    enabled.map(|values| successor(pool, sts, state, switch, values).expect("known")).collect()
}

/// Every state that can be reached, with the switches that lead on from it.
fn reached(pool: &TermPool, sts: &Sts) -> Vec<(ConcreteState, SwitchId, ConcreteState)> {
    let first = initial_state(pool, sts).expect("every value is known");
    let (mut seen, mut open) = (BTreeSet::from([first.clone()]), VecDeque::from([first]));
    let mut steps = Vec::new();
    while let Some(state) = open.pop_front() {
        for (id, _) in sts.switches_from(state.loc) {
            for next in taken(pool, sts, &state, id) {
                steps.push((state.clone(), id, next.clone()));
                if seen.insert(next.clone()) {
                    open.push_back(next);
                }
            }
        }
    }
    steps
}

/// Returns the sequences that some run takes and can extend to an output: single switches, or pairs.
fn coverable(
    pool: &TermPool,
    sts: &Sts,
    goal: CaseGoal,
) -> (BTreeSet<Vec<SwitchId>>, BTreeSet<Vec<SwitchId>>) {
    let steps = reached(pool, sts);
    let is_output = |id: SwitchId| sts.kind_of(&sts.switches[id]) == GateKind::Output;
    let mut lead_on: BTreeSet<&ConcreteState> = BTreeSet::new();
    loop {
        let before = lead_on.len();
        for (from, id, to) in &steps {
            if is_output(*id) || lead_on.contains(to) {
                lead_on.insert(from);
            }
        }
        if lead_on.len() == before {
            break;
        }
    }
    let (mut possible, mut with_output) = (BTreeSet::new(), BTreeSet::new());
    for (_, id, to) in &steps {
        let singles = [(vec![*id], to)];
        let pairs =
            || steps.iter().filter(|(from, ..)| from == to).map(|(_, next, end)| (vec![*id, *next], end));
        let items: Vec<(Vec<SwitchId>, &ConcreteState)> =
            if goal == CaseGoal::Pairs { pairs().collect() } else { singles.to_vec() };
        for (item, end) in items {
            if is_output(*item.last().expect("not empty")) || lead_on.contains(end) {
                with_output.insert(item.clone());
            }
            possible.insert(item);
        }
    }
    (possible, with_output)
}

fn can_be_taken(pool: &TermPool, sts: &Sts, path: &[SwitchId]) -> bool {
    let mut states = vec![initial_state(pool, sts).expect("every value is known")];
    for &id in path {
        let here = states.iter().filter(|state| state.loc == sts.switches[id].source);
        states = here.flat_map(|state| taken(pool, sts, state, id)).collect();
        states.sort();
        states.dedup();
    }
    !states.is_empty()
}

fn set(model: &mut Model, goal: CaseGoal) -> CaseSet {
    let mut solver = build_stack(&SolverConfig::default());
    let mut cx = Ctx::new(model, &mut solver);
    covering(&mut cx, goal, &CaseConfig::default(), LIMITS, &mut |_| ControlFlow::Continue(()))
}

#[test]
fn sets_of_cases_cover_what_enumeration_says() {
    let (mut covered, mut proofs, mut refused) = (0, 0, 0);
    for seed in 0..100 {
        let pair = Pairs::new(seed).pair();
        for goal in [CaseGoal::Switches, CaseGoal::Pairs] {
            let (possible, with_output) = coverable(&pair.pool, &pair.one, goal);
            let mut model = Model { pool: pair.pool.clone(), sts: pair.one.clone() };
            let set = set(&mut model, goal);
            let mut on_cases = BTreeSet::new();
            for made in &set.cases {
                let path: Vec<SwitchId> = made.case.path.iter().filter_map(|step| step.switch()).collect();
                assert!(can_be_taken(&pair.pool, &pair.one, &path), "seed {seed}: {path:?}");
                assert!(
                    pair.one.kind_of(&pair.one.switches[*path.last().expect("a path")]) == GateKind::Output
                );
                for item in &made.items {
                    assert!(path.windows(item.switches.len()).any(|part| part == item.switches));
                    on_cases.insert(item.switches.clone());
                }
            }
            covered += on_cases.len();
            assert!(on_cases.is_subset(&with_output), "seed {seed}");
            assert_eq!(on_cases.len() + set.uncovered.len(), set.total, "seed {seed}: each item once");
            for (item, why, _) in &set.uncovered {
                match why {
                    _ if why.is_proof() => {
                        proofs += 1;
                        assert!(!possible.contains(&item.switches), "seed {seed}: {item:?}");
                    }
                    WhyNoCase::NoOutput => {
                        assert!(!with_output.contains(&item.switches), "seed {seed}: {item:?}")
                    }
                    WhyNoCase::Refused(_) => refused += 1,
                    WhyNoCase::NoPath(why) => panic!("seed {seed}: {item:?} {why:?}"),
                }
            }
            // Nothing is there twice: every case has an item of its own.
            for (at, made) in set.cases.iter().enumerate() {
                let others = || set.cases.iter().enumerate().filter(|(other, _)| *other != at);
                assert!(made.items.iter().any(|item| !others().any(|(_, other)| other.items.contains(item))));
            }
        }
    }
    assert!(covered > 50 && proofs > 500, "{covered} {proofs}");
    println!("{covered} covered, {proofs} proved to be out of reach, {refused} refused");
}
