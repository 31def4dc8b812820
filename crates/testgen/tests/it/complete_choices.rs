//! Suites for one way of a model that leaves the system choices, against enumeration: systems of the fault domain that
//! always take the way of the claim where the model leaves a choice, and give an answer that it does not allow, fail a
//! test.
//!
//! `IOXIDE_CHOICES=500 cargo test -p ioxide-testgen --test it complete_choices:: -- --nocapture`

use std::collections::BTreeSet;

use ioxide_lang::{LoadOptions, load};
use ioxide_model::label::Label;
use ioxide_model::source::Sources;
use ioxide_model::sts::Model;
use ioxide_smt::halt::Halt;
use ioxide_smt::stack::{SolverConfig, build_stack};
use ioxide_symex::Ctx;
use ioxide_test_support::test_count;
use ioxide_testgen::complete::ClassStep;
use ioxide_testgen::complete::stages::complete_suite_in_stages;
use ioxide_testgen::complete::suite::{CompleteConfig, CompleteSuite, NoCompleteSuite};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

const INPUTS: [&str; 2] = ["a", "b"];
const ANSWERS: [&str; 3] = ["x", "y", "z"];
/// Systems tried for each suite.
const SYSTEMS: usize = 3_000;

/// The reactions of a model by state and input: answers and the states after them.
type Choices = Vec<[Vec<(usize, usize)>; 2]>;
/// A deterministic system: the answer and the next state.
type System = Vec<[(usize, usize); 2]>;

fn random_choices(rng: &mut ChaCha8Rng) -> Choices {
    let n_states = rng.random_range(2..4);
    let ways = |rng: &mut ChaCha8Rng| {
        let n_ways = if rng.random_range(0..3) == 0 { 2 } else { 1 };
        let way = |rng: &mut ChaCha8Rng| (rng.random_range(0..ANSWERS.len()), rng.random_range(0..n_states));
        (0..n_ways).map(|_| way(rng)).collect::<BTreeSet<_>>().into_iter().collect()
    };
    (0..n_states).map(|_| [ways(rng), ways(rng)]).collect()
}

fn text(choices: &Choices) -> String {
    let mut text = String::from("model Choices { input a input b output x output y output z\n");
    for (state, row) in choices.iter().enumerate() {
        text += &format!("state s{state} {{ on a -> m{state}a on b -> m{state}b }}\n");
        for (ways, input) in row.iter().zip(INPUTS) {
            let ways: Vec<String> =
                ways.iter().map(|&(answer, to)| format!("emit {} -> s{to}", ANSWERS[answer])).collect();
            text += &format!("state m{state}{input} {{ {} }}\n", ways.join(" "));
        }
    }
    text + "}"
}

fn suite_of(text: &str) -> (Model, Result<CompleteSuite, NoCompleteSuite>) {
    let mut sources = Sources::default();
    let file = sources.add("choices.iox", text);
    let loaded = load(&sources, file, &LoadOptions::default());
    let mut model = loaded.model.unwrap_or_else(|| panic!("{:#?}\n{text}", loaded.diagnostics));
    let mut solver = build_stack(&SolverConfig::default());
    let config = CompleteConfig { max_symbols: 20_000, ..CompleteConfig::default() };
    let suite =
        complete_suite_in_stages(&mut Ctx::new(&mut model, &mut solver), &config, &|_| Halt::default());
    (model, suite)
}

/// Returns the answer that the suite looks at, by state of the model and input; `None` where nothing is claimed.
fn looked_at(model: &Model, suite: &CompleteSuite, n_states: usize) -> Vec<[Option<usize>; 2]> {
    let gate = |name: &str| model.sts.gate_named(name).unwrap();
    let mut found = vec![[None; 2]; n_states];
    for (state, class) in suite.abstraction.states.iter().enumerate() {
        let name = &model.sts.locations[class.loc].name;
        let number: usize = name.strip_prefix('s').unwrap().parse().unwrap();
        for (at, input) in suite.abstraction.inputs.iter().enumerate() {
            let ClassStep::Taken(outcomes) = &suite.abstraction.steps[state][at] else { continue };
            let input = INPUTS.iter().position(|name| gate(name) == input.gate).unwrap();
            let said = ANSWERS.iter().position(|name| gate(name) == outcomes[0].outputs[0].gate).unwrap();
            found[number][input] = Some(said);
        }
    }
    found
}

/// The end of a system's run along the claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Standing {
    /// It only gives answers that the model allows.
    Right,
    /// It gives one that the model does not allow.
    Wrong,
    /// It takes another way where the model leaves a choice.
    Outside,
}

/// Returns the standing of a system after all runs that the claim is about.
fn standing(choices: &Choices, looked_at: &[[Option<usize>; 2]], system: &System) -> Standing {
    let (mut seen, mut open) = (BTreeSet::from([(0, 0)]), vec![(0, 0)]);
    let mut standing = Standing::Right;
    while let Some((state, own)) = open.pop() {
        for input in 0..INPUTS.len() {
            let Some(wanted) = looked_at[state][input] else { continue };
            let (answer, next) = system[own][input];
            let Some(&(_, to)) = choices[state][input].iter().find(|(allowed, _)| *allowed == answer) else {
                standing = Standing::Wrong;
                continue;
            };
            if answer != wanted {
                return Standing::Outside;
            }
            if seen.insert((to, next)) {
                open.push((to, next));
            }
        }
    }
    standing
}

/// Returns whether a test fails: an answer is not allowed after what was answered before.
fn is_killed(model: &Model, choices: &Choices, system: &System, tests: &[Vec<Label>]) -> bool {
    tests.iter().any(|test| {
        let (mut states, mut own) = (BTreeSet::from([0]), 0);
        for label in test {
            let Label::Input(gate, _) = label else { panic!("tests are inputs") };
            let input = INPUTS.iter().position(|name| model.sts.gate_named(name) == Some(*gate)).unwrap();
            let (answer, next) = system[own][input];
            let ways = states.iter().flat_map(|&state: &usize| &choices[state][input]);
            states = ways.filter(|(allowed, _)| *allowed == answer).map(|&(_, to)| to).collect();
            own = next;
            if states.is_empty() {
                return true;
            }
        }
        false
    })
}

/// A system near the way that the suite looks at, or any.
fn random_system(rng: &mut ChaCha8Rng, choices: &Choices, looked_at: &[[Option<usize>; 2]]) -> System {
    let n_states = choices.len();
    let mut system: System = (0..n_states)
        .map(|state| {
            [0, 1].map(|input| {
                let way = |&&(answer, _): &&(usize, usize)| Some(answer) == looked_at[state][input];
                *choices[state][input].iter().find(way).unwrap_or(&choices[state][input][0])
            })
        })
        .collect();
    for _ in 0..rng.random_range(1..4) {
        let (state, input) = (rng.random_range(0..n_states), rng.random_range(0..2));
        match rng.random_range(0..2) {
            0 => system[state][input].0 = rng.random_range(0..ANSWERS.len()),
            _ => system[state][input].1 = rng.random_range(0..n_states),
        }
    }
    system
}

#[test]
fn every_wrong_system_that_takes_the_way_of_the_claim_fails_a_test() {
    let n = test_count("IOXIDE_CHOICES", 20, 400);
    let (mut n_suites, mut n_wrong, mut n_right, mut n_outside) = (0, 0, 0, 0);
    for seed in 0..n {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let choices = random_choices(&mut rng);
        let text = text(&choices);
        let (model, suite) = suite_of(&text);
        let suite = match suite {
            Ok(suite) if !suite.claim.scope.choices.is_empty() => suite,
            _ => continue,
        };
        n_suites += 1;
        assert!(!suite.claim.is_whole(), "one way is no whole claim\n{text}");
        let looked_at = looked_at(&model, &suite, choices.len());
        for _ in 0..SYSTEMS {
            let system = random_system(&mut rng, &choices, &looked_at);
            // The machine of the claim may have fewer states than the model.
            if choices.len() > suite.claim.bound {
                continue;
            }
            let is_killed = is_killed(&model, &choices, &system, &suite.tests);
            match standing(&choices, &looked_at, &system) {
                Standing::Wrong => {
                    n_wrong += 1;
                    assert!(is_killed, "seed {seed}: {system:?}\n{text}\n{:?}", suite.claim.sentences());
                }
                Standing::Right => {
                    n_right += 1;
                    assert!(!is_killed, "seed {seed}: {system:?} is right\n{text}");
                }
                Standing::Outside => n_outside += 1,
            }
        }
    }
    println!("{n_suites} suites of {n}: {n_wrong} wrong systems, {n_right} right ones, {n_outside} outside");
    assert!(n_suites * 4 > n && n_wrong > n_suites && n_right > n_suites, "{n_suites} {n_wrong} {n_right}");
}

/// Where the outputs do not tell which way the system takes, there is no one way to test.
#[test]
fn a_hidden_choice_is_left_out() {
    let choices: Choices = vec![[vec![(0, 0), (0, 1)], vec![(1, 0)]], [vec![(2, 0)], vec![(2, 1)]]];
    let (_, suite) = suite_of(&text(&choices));
    let claim = suite.unwrap().claim;
    assert_eq!((claim.left_out, claim.scope.choices.len(), claim.is_whole()), (1, 0, false));
    let (_, suite) = suite_of(
        "model M { input a output x state s { on a -> m } state m { emit x -> s emit x -> t } state t {} }",
    );
    assert_eq!(suite.unwrap_err(), NoCompleteSuite::Choices);
}
