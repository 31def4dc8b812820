//! Hypotheses without doubt: right if all states are there, and refuted only by a new state.

use ioxide_fsm::mealy::{Mealy, SuiteModel};
use ioxide_fsm::product::difference;
use ioxide_learn::learner::{Learner, SettlingStep};
use ioxide_learn::observer::SystemObserver;
use ioxide_learn::played::PlayedMealy;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

fn machine(rng: &mut ChaCha8Rng) -> Mealy {
    let states = rng.random_range(1..=20);
    let (inputs, outputs) = (rng.random_range(1..=5), rng.random_range(1..=3));
    let table: Vec<Option<(usize, usize)>> = (0..states * inputs)
        .map(|_| Some((rng.random_range(0..states), rng.random_range(0..outputs))))
        .collect();
    let machine = Mealy::from_table(states, inputs, outputs, &table).expect("a machine");
    SuiteModel::from_reduced(&machine).expect("complete").to_mealy()
}

/// Asks until no move is in doubt; how often the hypothesis has changed meanwhile.
fn settle(learner: &mut Learner, observer: &mut SystemObserver<PlayedMealy<'_>>) -> usize {
    let (mut at, mut changed) = (0, 0);
    // Every question leaves a doubt less, so this ends.
    let most = 100 + learner.n_moves() * 20 * 20;
    for _ in 0..most {
        match learner.settle_next(observer, &mut at).expect("a machine answers") {
            SettlingStep::Settled => return changed,
            SettlingStep::Asked => (),
            SettlingStep::Changed => changed += 1,
        }
    }
    panic!("it is never settled");
}

#[test]
fn a_settled_hypothesis_is_right_or_has_too_few_states() {
    let (mut settled, mut small, mut changes) = (0, 0, 0);
    for seed in 0..300 {
        let system = machine(&mut ChaCha8Rng::seed_from_u64(7_000_000 + seed));
        let mut observer = SystemObserver::new(PlayedMealy::new(&system), system.n_inputs(), Vec::new());
        let mut learner = Learner::new(&observer.tree);
        loop {
            let machine = learner.hypothesis(&mut observer).expect("a machine answers");
            let changed = settle(&mut learner, &mut observer);
            changes += changed;
            if changed > 0 {
                continue;
            }
            settled += 1;
            let Some(word) = difference(&machine, &system) else { break };
            let states = machine.n_states();
            assert!(states < system.n_states(), "seed {seed}: settled, all states, and wrong");
            small += 1;
            observer.ask_word(&word).expect("a machine answers");
            learner.learn_from_counterexample(&mut observer, &word).expect("a machine answers");
            learner.complete(&mut observer).expect("a machine answers");
            assert!(learner.n_states() > states, "seed {seed}: refuted, and no new state");
        }
        assert_eq!(learner.n_states(), system.n_states(), "seed {seed}");
    }
    assert!(
        settled >= 300 && small > 10 && changes > 300,
        "{settled} settled, {small} small, {changes} changes"
    );
}
