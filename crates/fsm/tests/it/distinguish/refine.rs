//! Tests of `distinguish::refine`.

use ioxide_model::index::Idx;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use ioxide_fsm::distinguish::refine::{GroupRefiner, StateGroups};
use ioxide_fsm::mealy::{InputId, Mealy, StateId, SuiteModel};
use ioxide_fsm::partition::group_by;

#[test]
fn groups_are_those_of_equal_answers() {
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let mut tried = 0;
    while tried < 200 {
        let entry = |_| Some((rng.random_range(0..7), rng.random_range(0..2)));
        let table: Vec<_> = (0..14).map(entry).collect();
        let Ok(spec) = SuiteModel::check(&Mealy::from_table(7, 2, 2, &table).unwrap()) else { continue };
        tried += 1;
        let mut refiner = GroupRefiner::new(&spec);
        let states: Vec<StateId> = spec.states().collect();
        let mut groups = StateGroups::default();
        groups.restart_together(&states);
        let mut word = Vec::new();
        for _ in 0..3 {
            let more: Vec<InputId> = (0..2).map(|_| InputId::new(rng.random_range(0..2))).collect();
            word.extend(&more);
            refiner.apply_word(&mut groups, more);
            let answers = |state: usize| {
                let outputs = |i| spec.output(spec.state_after(states[state], &word[..i]), word[i]);
                (0..word.len()).map(outputs).collect::<Vec<_>>()
            };
            let expected = group_by(7, answers);
            let found: Vec<usize> = groups.of.iter().map(|&group| group as usize).collect();
            assert_eq!(found, expected);
            assert!(states.iter().zip(&groups.at).all(|(&s, &at)| spec.state_after(s, &word) == at));
        }
    }
}
