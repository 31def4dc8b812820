//! Mutants of models that are seen through a channel: the changed model seen through the channel is the mutant, and the
//! channel itself is not changed.
//!
//! `IOXIDE_THROUGH` sets the number of random models.

use std::ops::ControlFlow;

use ioxide_lang::{channel, through};
use ioxide_model::sts::{Model, Sts};
use ioxide_smt::brute::BruteSolver;
use ioxide_symex::Ctx;
use ioxide_test_support::test_count;
use ioxide_testgen::conform::import::join;
use ioxide_testgen::conform::{
    ConformAnswer, ConformOptions, InputCompletion, InputRule, SearchBounds, conform,
};
use ioxide_testgen::mutate::{Mutant, MutantSelection, MutationOperator, select};

use crate::common::named;
use crate::pairs::Pairs;

const CHANNELS: [&str; 3] =
    ["fifo(capacity: 1)", "fifo(capacity: 1, may_lose: true)", "bag(capacity: 1, may_duplicate: true)"];

/// Returns whether the traces of `imp` are among those of `spec`; `None` if that is not decided.
fn includes(pool: &Model, imp: &Sts, spec: &Sts) -> Option<bool> {
    let mut model = Model { pool: pool.pool.clone(), sts: spec.clone() };
    let mut solver = BruteSolver::new();
    let options = ConformOptions {
        completion: InputCompletion::None,
        inputs: InputRule::Compared,
        bounds: SearchBounds { max_states: 300, ..SearchBounds::default() },
        ..ConformOptions::default()
    };
    let watch = &mut |_: &_| ControlFlow::Continue(());
    match conform(&mut Ctx::new(&mut model, &mut solver), imp, &options, watch).expect("one model").answer {
        ConformAnswer::Conforms(_) => Some(true),
        ConformAnswer::Fails(_) => Some(false),
        ConformAnswer::Unknown(_) => None,
    }
}

fn selection(operators: &[MutationOperator], second_order: Option<usize>) -> MutantSelection {
    let second_order = second_order.map(|count| ioxide_testgen::mutate::Sample { count, seed: 3 });
    MutantSelection { operators: operators.to_vec(), second_order, ..MutantSelection::default() }
}

#[test]
fn a_mutant_is_the_changed_model_behind_the_channel() {
    let n_models = test_count("IOXIDE_THROUGH", 3, 100);
    let (mut equal, mut open, mut left_out) = (0, 0, 0);
    for seed in 0..n_models {
        let pair = Pairs::new(seed).pair();
        let inner = Model { pool: pair.pool, sts: pair.one };
        let text = CHANNELS[seed as usize % CHANNELS.len()];
        let channel = channel(text).expect("a channel");
        let Ok(mut seen) = through(&inner, &channel) else { continue };
        let which = selection(&MutationOperator::ALL, (seed % 4 == 3).then_some(40));
        let direct = select(&mut inner.clone(), &which).expect("few");
        let behind = select(&mut seen, &which).expect("few");
        left_out += direct.len() - behind.len();
        for mutant in behind.iter().skip(seed as usize % 11).step_by(11) {
            let mut changed = inner.clone();
            let same = select(&mut changed, &which).expect("few");
            let same: &Mutant = same.iter().find(|it| it.id == mutant.id).expect("the same mutants");
            changed.sts = same.apply(&changed.sts);
            let expected = through(&changed, &channel).expect("it was seen through the channel");
            let found = mutant.apply(&seen.sts);
            let mut pool = seen.clone();
            let expected = join(&mut pool, &expected).expect("the same messages");
            let both = [includes(&pool, &found, &expected), includes(&pool, &expected, &found)];
            assert!(!both.contains(&Some(false)), "seed {seed}, {text}, {}: {both:?}", mutant.id);
            *(if both == [Some(true); 2] { &mut equal } else { &mut open }) += 1;
        }
    }
    println!("{equal} mutants are the changed models behind the channel, {open} open; {left_out} left out");
    assert!(equal > 10 && open <= equal / 4, "{equal} equal, {open} open");
}

const ECHO: &str = "
model Echo {
    input say(n: 0..3)
    output said(n: 0..3)
    var k: 0..3 = 0
    state idle { hear: on say when n > 0 { k = n } -> busy }
    state busy { tell: emit said(n: k) -> idle }
}";

#[test]
fn the_channel_is_not_changed() {
    let inner = named("echo.iox", ECHO);
    let mut seen = through(&inner, &channel("bag(capacity: 2, may_lose: true)").expect("a channel"))
        .expect("it is seen");
    let n_switches = seen.sts.switches.len();
    let mutants = select(&mut seen, &selection(&MutationOperator::DEFAULT, None)).expect("few");
    let ids: Vec<&str> = mutants.iter().map(|mutant| &*mutant.id).collect();
    assert!(ids.iter().all(|id| id.starts_with("hear-") || id.starts_with("tell-")), "{ids:?}");
    let composition = seen.sts.composition.clone().expect("it is composed");
    for mutant in &mutants {
        assert!(mutant.show_diff(&seen).contains("state "), "the change is that of the model");
        for (id, after) in mutant.switches() {
            let steps = composition.moves.get(&seen.sts.switches[id].label);
            let is_of_model =
                steps.is_none_or(|steps| steps.iter().any(|it| &*composition.parts[it.part].name == "model"));
            assert!(is_of_model, "{}: {} becomes {}", mutant.id, seen.sts.switches[id].label, after.label);
        }
    }
    // Switches that only mutants have are never taken otherwise.
    assert!(seen.sts.switches.iter().skip(n_switches).all(|switch| seen.pool.is_false(switch.guard)));
    let again = select(&mut seen, &selection(&MutationOperator::DEFAULT, None)).expect("few");
    let changes = |mutants: &[Mutant]| mutants.iter().map(|it| format!("{it:?}")).collect::<Vec<_>>();
    assert_eq!(changes(&mutants), changes(&again), "the same mutants each time");
}
