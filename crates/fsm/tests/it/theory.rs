//! Tests of `theory`.

use ioxide_model::index::Idx;
use std::collections::BTreeSet;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use ioxide_fsm::mealy::{InputId, Mealy, StateId, SuiteModel};
use ioxide_fsm::nfsm::{Nfsm, Observable};
use ioxide_fsm::read;
use ioxide_fsm::theory::{ChoiceTheory, DeterministicTheory, KnownExistence, uncertainty_after};
use ioxide_fsm::word::Word;

fn random(rng: &mut ChaCha8Rng) -> Option<SuiteModel> {
    let (n, inputs) = (rng.random_range(2..5), rng.random_range(1..4));
    let mut text = String::new();
    for state in 0..n {
        for input in 0..inputs {
            let (output, to) = (rng.random_range(0..2), rng.random_range(0..n));
            text.push_str(&format!("s{state} i{input} o{output} s{to}\n"));
        }
    }
    SuiteModel::from_reduced(&Mealy::from_listing(&read::read_table(&text).unwrap()).unwrap()).ok()
}

fn answers(spec: &SuiteModel, mut state: StateId, word: &[InputId]) -> Vec<usize> {
    let mut told = Vec::new();
    for &input in word {
        told.push(spec.output(state, input).index());
        state = spec.next(state, input);
    }
    told
}

/// Returns whether inputs chosen by the answers distinguish the states of `block`, by trying everything up to
/// `depth`.
fn adaptively(spec: &SuiteModel, block: &BTreeSet<StateId>, depth: usize) -> bool {
    if block.len() < 2 {
        return true;
    }
    depth > 0
        && spec.inputs().any(|input| {
            uncertainty_after(spec, &[block.clone()].into(), input)
                .is_some_and(|next| next.iter().all(|block| adaptively(spec, block, depth - 1)))
        })
}

#[test]
fn distinguishing_words_are_those_that_trying_everything_finds() {
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    let (mut with, mut without) = (0, 0);
    for _ in 0..400 {
        let Some(spec) = random(&mut rng).filter(|spec| spec.n_states() > 1) else { continue };
        let theory = DeterministicTheory::compute(&spec);
        let words = ioxide_fsm::word::words_up_to(spec.n_inputs(), 7);
        let tells = |word: &Word| {
            let told: BTreeSet<_> = spec.states().map(|state| answers(&spec, state, word)).collect();
            told.len() == spec.n_states()
        };
        let shortest = words.into_iter().find(tells);
        match &theory.preset {
            KnownExistence::Found(word) => {
                with += 1;
                assert!(tells(word));
                assert!(shortest.is_none_or(|shortest| shortest.len() == word.len()));
            }
            KnownExistence::Nowhere => {
                without += 1;
                assert_eq!(shortest, None);
            }
            KnownExistence::Unknown => panic!("small machines are decided"),
        }
        let all = spec.states().collect();
        assert_eq!(theory.is_adaptively_distinguishable, adaptively(&spec, &all, 10));
        for (state, word) in &theory.cover {
            assert_eq!(spec.state_after(spec.initial(), word), *state);
        }
    }
    assert!(with > 50 && without > 5, "{with} {without}");
}

#[test]
fn states_that_are_reached_for_sure_and_told_apart_for_sure_bound_a_system_from_below() {
    let text = "a x 0 b\na y 0 a\nb x 1 b\nb y 0 a\n";
    let machine = Observable::check(Nfsm::from_listing(&read::read_table(text).unwrap())).unwrap();
    let theory = ChoiceTheory::compute(&machine);
    assert_eq!((theory.cover.len(), theory.distinguishable.len(), theory.pairs), (2, 1, 1));
    assert!(theory.lower_bound.len() == 2 && theory.is_largest);
    let free = "a x 0 a\na x 1 b\nb x 0 b\nb x 1 b\n";
    let machine = Observable::check(Nfsm::from_listing(&read::read_table(free).unwrap())).unwrap();
    let theory = ChoiceTheory::compute(&machine);
    assert_eq!((theory.cover.len(), theory.distinguishable.len(), theory.lower_bound.len()), (1, 0, 1));
}

/// Each state answers another input: a system of one state that answers both may be right.
#[test]
fn an_input_that_a_state_does_not_answer_tells_nothing_apart() {
    let text = "a x 0 b\na x 1 b\nb y 0 a\n";
    let machine = Observable::check(Nfsm::from_listing(&read::read_table(text).unwrap())).unwrap();
    let theory = ChoiceTheory::compute(&machine);
    assert_eq!((theory.pairs, theory.distinguishable.len(), theory.lower_bound.len()), (1, 0, 1));
}
