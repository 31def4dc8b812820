//! Proofs of properties against enumeration: random models with whole numbers, a flag and a list, of which only a few
//! states are explored, so that almost everything is left to induction.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use ioxide_lang::{LoadOptions, load};
use ioxide_model::concrete::{ConcreteState, initial_state, is_enabled, successor};
use ioxide_model::goal::{Goal, GoalKind, ResponseGoal};
use ioxide_model::source::Sources;
use ioxide_model::sts::{Model, SwitchId};
use ioxide_model::valuation::Valuation;
use ioxide_model::value::Value;
use ioxide_smt::stack::{SolverConfig, build_stack};
use ioxide_symex::{ClaimKind, Ctx, ExploreConfig, ExploreLimits, PropertyStatus, lint};
use ioxide_test_support::test_count;

use crate::systems::generator::Dice;

/// The number of states after which an enumeration ends: it then shows violations, and proves nothing.
const MAX_STATES: usize = 1_500;

fn pick<'t>(dice: &mut Dice, texts: &[&'t str]) -> &'t str {
    texts[dice.roll(texts.len())]
}

fn number(dice: &mut Dice) -> String {
    pick(dice, &["x", "y", "0", "1", "2", "3", "x + 1", "y + 1", "xs.length()", "xs.length() + 1"]).to_owned()
}

fn comparison(dice: &mut Dice) -> String {
    let operator = pick(dice, &["<=", "==", "<", ">=", "!="]);
    format!("{} {operator} {}", number(dice), number(dice))
}

/// A condition on a state.
fn condition(dice: &mut Dice) -> String {
    match dice.roll(7) {
        0 => "b".to_owned(),
        1 => "!b".to_owned(),
        2 => format!("(b => {})", comparison(dice)),
        _ => comparison(dice),
    }
}

fn update(dice: &mut Dice, has_field: bool) -> String {
    let mut parts = Vec::new();
    if dice.roll(2) == 0 {
        let mut values = vec!["x + 1", "x - 1", "0", "y", "1", "2"];
        values.extend(has_field.then_some("x + p"));
        parts.push(format!("x = {}", pick(dice, &values)));
    }
    if dice.roll(3) == 0 {
        parts.push(format!("y = {}", pick(dice, &["y + 1", "x", "0", "xs.length()"])));
    }
    if dice.roll(3) == 0 {
        parts.push(format!("b = {}", pick(dice, &["true", "false", "!b"])));
    }
    if dice.roll(3) == 0 {
        let mut values = vec!["xs.drop(1)", "[]", "xs + [1]"];
        values.extend(has_field.then_some("xs + [p]"));
        parts.push(format!("xs = {}", pick(dice, &values)));
    }
    if parts.is_empty() { String::new() } else { format!(" {{ {} }}", parts.join(", ")) }
}

fn random_text(dice: &mut Dice) -> String {
    let mut states = vec![String::new(); 3];
    for _ in 0..2 + dice.roll(5) {
        let (message, has_field) =
            [("on ask", true), ("emit tell", true), ("emit tick", false), ("internal", false)][dice.roll(4)];
        let guards: Vec<String> = (0..dice.roll(3)).map(|_| condition(dice)).collect();
        let guard = if guards.is_empty() { String::new() } else { format!(" when {}", guards.join(" && ")) };
        let line = format!("    {message}{guard}{} -> s{}\n", update(dice, has_field), dice.roll(3));
        states[dice.roll(3)].push_str(&line);
    }
    let states: String =
        (0..).zip(&states).map(|(at, body)| format!("  state s{at} {{\n{body}  }}\n")).collect();
    let mut goals = String::new();
    for _ in 0..2 {
        goals += &format!("  always {}\n", condition(dice));
        goals += &format!("  always at(s{}) => {}\n", dice.roll(3), condition(dice));
    }
    goals += &format!("  always next({}) {} {}\n", number(dice), pick(dice, &["<=", ">="]), number(dice));
    goals += &format!("  assume {}\n", condition(dice));
    let answer = pick(dice, &["tell", "tick", "tell(p: 1)"]);
    goals += &format!("  every ask is followed by {answer}\n");
    format!(
        "model M {{\n  input ask(p: 0..1)\n  output tell(p: 0..1)\n  output tick\n  var x: int = 0\n  var y: int = \
         {}\n  var b: bool = false\n  var xs: list<0..1> = []\n{states}{goals}}}\n",
        dice.roll(2)
    )
}

/// A step: the switch, the values of its message, and the state after it.
type RandomStep = (SwitchId, Vec<Value>, ConcreteState);

/// The reachable states of a model, as far as they were enumerated, with their steps.
struct EnumeratedStates {
    steps: BTreeMap<ConcreteState, Vec<RandomStep>>,
    is_complete: bool,
}

fn steps_from(model: &Model, state: &ConcreteState) -> Vec<RandomStep> {
    let mut found = Vec::new();
    for (id, switch) in model.sts.switches_from(state.loc) {
        let messages: Vec<Vec<Value>> = match model.sts.gates[switch.gate].fields.len() {
            0 => vec![Vec::new()],
            _ => (0..=1).map(|p| vec![Value::int(p)]).collect(),
        };
        for values in messages {
            if is_enabled(&model.pool, &model.sts, state, switch, &values).expect("known values") {
                let next = successor(&model.pool, &model.sts, state, switch, &values).expect("known values");
                found.push((id, values, next));
            }
        }
    }
    found
}

fn enumerate(model: &Model) -> EnumeratedStates {
    let start = initial_state(&model.pool, &model.sts).expect("known values");
    let mut steps = BTreeMap::new();
    let mut seen = BTreeSet::from([start.clone()]);
    let mut todo = std::collections::VecDeque::from([start]);
    while let Some(state) = todo.pop_front() {
        if steps.len() >= MAX_STATES {
            return EnumeratedStates { steps, is_complete: false };
        }
        let own = steps_from(model, &state);
        todo.extend(own.iter().map(|step| step.2.clone()).filter(|next| seen.insert(next.clone())));
        steps.insert(state, own);
    }
    EnumeratedStates { steps, is_complete: true }
}

/// Returns whether `goal` holds in `state`, and in `next` after it.
fn holds(model: &Model, goal: &Goal, state: &ConcreteState, next: &ConcreteState) -> bool {
    let (GoalKind::Always(term) | GoalKind::Assume(term)) = goal.kind else { unreachable!() };
    let mut values: Valuation = state.values.clone();
    for &(place, loc) in &goal.frame.places {
        values.set(place, Value::Bool(state.loc == loc));
    }
    for &(later, var) in &goal.frame.next {
        values.set(later, next.values.get(var).expect("a state variable").clone());
    }
    model.pool.holds(term, &values).expect("known values")
}

fn is_broken(model: &Model, goal: &Goal, states: &EnumeratedStates) -> bool {
    states.steps.iter().any(|(state, steps)| {
        if goal.frame.next.is_empty() {
            !holds(model, goal, state, state)
        } else {
            steps.iter().any(|(_, _, next)| !holds(model, goal, state, next))
        }
    })
}

/// Returns whether a run owes the answer for ever: it is silent, or the system goes on alone, round and round.
fn is_response_broken(model: &Model, response: &ResponseGoal, states: &EnumeratedStates) -> bool {
    let fits = |(gate, when): &(_, _), step: &RandomStep| {
        let switch = &model.sts.switches[step.0];
        let fields = model.sts.gates[switch.gate].fields.iter().copied().zip(step.1.iter().cloned());
        switch.gate == *gate && model.pool.holds(*when, &fields.collect::<Valuation>()).expect("known values")
    };
    let is_own = |step: &RandomStep| !model.sts.kind_of(&model.sts.switches[step.0]).is_input();
    let start = initial_state(&model.pool, &model.sts).expect("known values");
    let mut seen = BTreeSet::from([(start.clone(), false)]);
    let mut todo = vec![(start, false)];
    let mut own_edges: BTreeMap<ConcreteState, Vec<ConcreteState>> = BTreeMap::new();
    while let Some((state, is_pending)) = todo.pop() {
        let Some(steps) = states.steps.get(&state) else { continue };
        if is_pending && !steps.iter().any(is_own) {
            return true;
        }
        for step in steps {
            let next = fits(&response.trigger, step) || is_pending && !fits(&response.answer, step);
            if is_pending && next && is_own(step) {
                own_edges.entry(state.clone()).or_default().push(step.2.clone());
            }
            if seen.insert((step.2.clone(), next)) {
                todo.push((step.2.clone(), next));
            }
        }
    }
    // What loses its last way out is on no cycle.
    loop {
        let nodes: BTreeSet<ConcreteState> = own_edges.keys().cloned().collect();
        own_edges.values_mut().for_each(|next| next.retain(|state| nodes.contains(state)));
        own_edges.retain(|_, next| !next.is_empty());
        if own_edges.len() == nodes.len() {
            return !nodes.is_empty();
        }
    }
}

#[test]
fn what_is_proved_or_refuted_is_so_by_enumeration() {
    let first: u64 = std::env::var("IOXIDE_FIRST").ok().and_then(|text| text.parse().ok()).unwrap_or(0);
    let n = test_count("IOXIDE_PROOFS", 40, 5_000);
    let mut counts: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for seed in first..first + n {
        let text = random_text(&mut Dice(seed));
        let mut sources = Sources::new();
        let file = sources.add("random.iox", text.as_str());
        let loaded = load(&sources, file, &LoadOptions::default());
        let mut model = loaded.model.unwrap_or_else(|| panic!("{:?}\n{text}", loaded.diagnostics));
        let copy = model.clone();
        let mut solver = build_stack(&SolverConfig::default());
        let limits = ExploreLimits { max_states: 4, max_depth: u32::MAX };
        let config = ExploreConfig { limits, ..ExploreConfig::default() };
        let mut cx = Ctx::new(&mut model, &mut solver);
        let found = lint(&mut cx, &config, &mut |_| ControlFlow::Continue(()));
        let states = enumerate(&copy);
        for result in &found.properties {
            let goal = copy.sts.goals.iter().find(|goal| goal.name == result.name);
            let is_broken = match (result.kind, goal.map(|goal| &goal.kind)) {
                (ClaimKind::Response, Some(GoalKind::Response(response))) => {
                    is_response_broken(&copy, response, &states)
                }
                (ClaimKind::Always | ClaimKind::Assume, _) => {
                    is_broken(&copy, goal.expect("a goal"), &states)
                }
                (ClaimKind::Unreachable, _) => {
                    let taken = |step: &RandomStep| copy.sts.switches[step.0].label == result.name;
                    states.steps.values().flatten().any(taken)
                }
                _ => continue,
            };
            *counts.entry((result.kind.name(), result.status.name())).or_default() += 1;
            match result.status {
                PropertyStatus::Proved { .. } => {
                    assert!(
                        !is_broken,
                        "seed {seed}, {} is not true: {:?}\n{text}",
                        result.name, result.status
                    );
                }
                PropertyStatus::Refuted(_) => {
                    let is_shown = is_broken || !states.is_complete;
                    assert!(is_shown, "seed {seed}, {} is true: {:?}\n{text}", result.name, result.status);
                }
                PropertyStatus::Open { .. } => (),
            }
        }
    }
    println!("{counts:?}");
    for kind in ["always", "assume", "response"] {
        for status in ["proved", "refuted"] {
            assert!(counts.contains_key(&(kind, status)), "{kind} {status} does not occur: {counts:?}");
        }
    }
    assert!(counts.contains_key(&("unreachable", "proved")), "{counts:?}");
}
