//! Doubts of searches, which are no proof: states that were not explored, and differences that no replay shows.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use ioxide_lang::{LoadOptions, load};
use ioxide_model::source::Sources;
use ioxide_model::sts::Model;
use ioxide_smt::solver::NoSolver;
use ioxide_smt::stack::{SolverConfig, build_stack};
use ioxide_symex::Ctx;
use ioxide_testgen::conform::import::join;
use ioxide_testgen::conform::{
    ConformAnswer, ConformDoubt, ConformOptions, ConformProof, ModelDifferences, SearchBounds, conform,
    differences,
};
use ioxide_testgen::kill::{KillConfig, MutationAnalysis, Optimisation};
use ioxide_testgen::mutate::{MutationOperator, mutants};

fn model(text: &str) -> Model {
    let mut sources = Sources::new();
    let file = sources.add("model.iox", text.to_owned());
    let loaded = load(&sources, file, &LoadOptions::default());
    loaded.model.unwrap_or_else(|| panic!("{text}: {:?}", loaded.diagnostics))
}

fn compare(imp: &str, spec: &str) -> ConformAnswer {
    let mut spec = model(spec);
    let imp = join(&mut spec, &model(imp)).expect("the messages agree");
    let mut solver = build_stack(&SolverConfig::default());
    let mut cx = Ctx::new(&mut spec, &mut solver);
    let watch = &mut |_: &_| ControlFlow::Continue(());
    conform(&mut cx, &imp, &ConformOptions::default(), watch).expect("the messages agree").answer
}

fn differing(imp: &str, spec: &str) -> ModelDifferences {
    let mut spec = model(spec);
    let imp = join(&mut spec, &model(imp)).expect("the messages agree");
    let mut solver = build_stack(&SolverConfig::default());
    let mut cx = Ctx::new(&mut spec, &mut solver);
    let watch = &mut |_: &_| ControlFlow::Continue(());
    differences(&mut cx, &imp, &ConformOptions::default(), 50, watch).expect("the messages agree")
}

/// The length of the chain.
const LENGTH: usize = 200;

/// A chain of many inputs, which only the search state by state passes quickly, to a place with `last` in it.
fn chain(last: &str) -> String {
    let after = |at: usize| if at + 1 < LENGTH { format!("s{}", at + 1) } else { "last".to_owned() };
    let state = |at: usize| format!("state s{at} {{ on next -> {} }}\n", after(at));
    let states: String = (0..LENGTH).map(state).collect();
    format!(
        "model Chain {{ input next output ok output bad var n: int = 0
            {states} state last {{ {last} emit ok -> last }} }}"
    )
}

/// More internal steps than a replay follows, then a message that is forbidden.
fn counting(to: u32) -> String {
    format!(
        "count: internal when n < {to} {{ n = n + 1 }} -> last
         wrong: emit bad when n == {to} -> last"
    )
}

#[test]
fn a_difference_that_no_replay_shows_is_no_conformance() {
    let answer = compare(&chain(&counting(12_000)), &chain(""));
    assert!(matches!(answer, ConformAnswer::Unknown(ConformDoubt::Undecided { .. })), "{answer:?}");
    // The replay follows these: it is the same difference.
    let answer = compare(&chain(&counting(9_000)), &chain(""));
    assert!(matches!(answer, ConformAnswer::Fails(_)), "{answer:?}");
    // Without it, the search state by state is a proof.
    let answer = compare(&chain(&counting(12_000).replace("emit bad", "emit ok")), &chain(""));
    assert_eq!(answer, ConformAnswer::Conforms(ConformProof::Enumerated));
}

#[test]
fn a_difference_that_no_replay_shows_leaves_others_open() {
    // A symbolic search does not look into the last place, so the models are compared state by state.
    let beside = |text: String, word: &str| {
        text.replace("var n", "input pick output one output two var n")
            .replace("on next -> s1 ", "on next -> s1 on pick -> picked ")
            .replace("state last", &format!("state picked {{ emit {word} -> s0 }} state last"))
    };
    let found = differing(&beside(chain(&counting(12_000)), "two"), &beside(chain(""), "one"));
    assert_eq!(found.witnesses.len(), 1);
    assert!(matches!(found.rest, Some(ConformDoubt::Undecided { .. })), "{:?}", found.rest);
}

/// A counter that says something else after `to` inputs.
fn count_to(to: u32, word: &str) -> String {
    format!(
        "model Counted {{ input inc(d: int) output tick output tock var n: int = 0
            state s {{ on inc when d * d == n * n + 2 * n + 1 && d > 0 {{ n = d }} -> s
                      emit tick when n < {to} -> s emit {word} when n >= {to} -> s }} }}"
    )
}

/// The comparison of two counters up to a depth, by a solver that decides nothing.
fn compare_within(max_depth: u32, word: &str) -> ConformAnswer {
    let mut spec = model(&count_to(9, "tick"));
    let imp = join(&mut spec, &model(&count_to(9, word))).expect("the messages agree");
    let mut solver = NoSolver;
    let mut cx = Ctx::new(&mut spec, &mut solver);
    let bounds = SearchBounds { max_states: 400, max_depth };
    let options = ConformOptions { bounds, ..ConformOptions::default() };
    let watch = &mut |_: &_| ControlFlow::Continue(());
    conform(&mut cx, &imp, &options, watch).expect("the messages agree").answer
}

/// Defect: a bound was said to be free of differences while a suspected one below it was not decided.
#[test]
fn no_depth_is_claimed_below_a_suspected_difference() {
    // There is a difference after ten steps, and the solver does not show it.
    for depth in [10, 12, 30] {
        match compare_within(depth, "tock") {
            ConformAnswer::Unknown(ConformDoubt::Depth(depth) | ConformDoubt::Undecided { depth, .. }) => {
                assert!(depth < 10, "no difference is claimed up to {depth}");
            }
            ConformAnswer::Unknown(_) => {}
            other => panic!("{other:?}"),
        }
    }
    // The replay on both models is one of the ways in which a difference stays a suspicion.
    let answer = compare(&chain(&counting(12_000)), &chain(""));
    let ConformAnswer::Unknown(ConformDoubt::Undecided { depth, .. }) = answer else { panic!("{answer:?}") };
    assert_eq!(depth as usize, LENGTH, "every shorter trace was looked at");
}

/// A value that grows beyond what is computed, beside a chain of steps.
#[test]
fn no_depth_is_claimed_beyond_a_state_that_was_left_out() {
    let grown = |word: &str| {
        format!(
            "model Grown {{ input square input next output ok output bad var n: int = 7 var k: int = 0
                state s {{ on square when n < 8 || k < 40 {{ n = n * n, k = k + 1 }} -> s
                           on next when k < 3 {{ k = k + 1 }} -> s
                           emit ok when k < 40 -> s emit {word} when k >= 40 -> s }} }}"
        )
    };
    let answer = compare(&grown("bad"), &grown("ok"));
    let claimed = match &answer {
        ConformAnswer::Unknown(
            ConformDoubt::TooLarge(depth) | ConformDoubt::States(depth) | ConformDoubt::Cases(depth),
        ) => *depth,
        ConformAnswer::Unknown(_) => 0,
        ConformAnswer::Fails(_) => return,
        ConformAnswer::Conforms(_) => panic!("{answer:?}"),
    };
    assert!(claimed <= 41, "the difference is 41 steps away: {answer:?}");
}

/// A place that a symbolic search cannot look into: its internal steps are too many.
fn deep(last: &str) -> String {
    format!(
        "model Deep {{ input put(x: int) input go output ok output bad var n: int = 0 var held: int = 0
            state idle {{ on put {{ held = held + x }} -> full on go -> busy }}
            state full {{ emit ok when held != 7 -> full }}
            state busy {{ {last} emit ok -> idle }} }}"
    )
}

#[test]
fn a_state_that_could_not_be_explored_leaves_differences_open() {
    let imp = deep(
        "count: internal when n < 2000 { n = n + 1 } -> busy
         wrong: emit bad when n == 2000 -> idle",
    );
    let found = differing(&imp, &deep(""));
    assert!(matches!(found.rest, Some(ConformDoubt::Cases(_))), "{found:?}");
}

/// An answer that is due within two seconds, or somebody else's message that takes longer.
const DUE: &str = "model Due { input ask observed input other output told clock c
    state idle { on ask { reset c } -> due }
    state due { tell: emit told when c <= 2.0 -> idle
                see: on other when c < 5.0 -> idle } }";

/// The answers about the mutants of `model` by `operators`, with the optimisations but those that are `off`.
fn decided(
    model: &mut Model,
    operators: &[MutationOperator],
    off: BTreeSet<Optimisation>,
) -> Vec<ConformAnswer> {
    let all = mutants(model, operators);
    let mut solver = build_stack(&SolverConfig::default());
    let mut cx = Ctx::new(model, &mut solver);
    let analysis = MutationAnalysis::new(&mut cx, &KillConfig { off, ..KillConfig::default() });
    let mut watch = |_: &_| ControlFlow::Continue(());
    all.iter().map(|mutant| analysis.decide(&mut cx, mutant, &mut watch).answer).collect()
}

#[test]
fn a_weaker_guard_of_an_observed_input_lets_a_timed_system_wait_longer() {
    let mut model = model(DUE);
    let is_killed = |answer: &ConformAnswer| match answer {
        ConformAnswer::Fails(_) => true,
        ConformAnswer::Conforms(_) => false,
        ConformAnswer::Unknown(doubt) => panic!("{doubt:?}"),
    };
    let killed = |answers: Vec<ConformAnswer>| answers.iter().map(is_killed).collect::<Vec<bool>>();
    // The guards of both switches of `due`, made true.
    let quickly = decided(&mut model, &[MutationOperator::GuardTrue], BTreeSet::new());
    assert_eq!(killed(quickly), [true, true]);
    let slowly = BTreeSet::from([Optimisation::InputWeakening]);
    let all = &MutationOperator::ALL;
    assert_eq!(killed(decided(&mut model, all, BTreeSet::new())), killed(decided(&mut model, all, slowly)));
}
