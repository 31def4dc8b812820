//! Tests of `distinguish::improve`.

use ioxide_model::index::IndexVec;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use ioxide_fsm::cover::state_cover;
use ioxide_fsm::distinguish::adaptive::nested_identifiers;
use ioxide_fsm::distinguish::harmonise::PairGrower;
use ioxide_fsm::distinguish::improve::{ImproveSearch, improve_identifiers};
use ioxide_fsm::distinguish::{SeparatingWords, SplittingTree, WordCosts};
use ioxide_fsm::mealy::{Mealy, StateId, SuiteModel};
use ioxide_fsm::word::Word;

/// Returns whether every two states are separated by a common prefix of their identifiers, by trying all
/// prefixes.
fn are_harmonised(spec: &SuiteModel, identifiers: &IndexVec<StateId, Vec<Word>>) -> bool {
    let prefixes = |state: StateId| {
        identifiers[state]
            .iter()
            .flat_map(|word| (1..=word.len()).map(|end| &word[..end]))
            .collect::<Vec<_>>()
    };
    spec.states().all(|a| {
        let mine = prefixes(a);
        spec.states().filter(|&b| b != a).all(|b| {
            let theirs = prefixes(b);
            let separates = |word: &&[_]| spec.separation_length(a, b, word).is_some();
            mine.iter().any(|word| theirs.contains(word) && separates(word))
        })
    })
}

/// Returns the cost of a suite with these identifiers, loose ends found by comparing all words.
fn whole_cost(spec: &SuiteModel, costs: &WordCosts, identifiers: &IndexVec<StateId, Vec<Word>>) -> f64 {
    let loose = |(state, word): (StateId, &Word)| {
        let next = &identifiers[spec.next(state, word[0])];
        let goes_on = word.len() == 1 || next.iter().any(|longer| longer.starts_with(&word[1..]));
        if goes_on { 0.0 } else { costs.inner[state] * (word.len() as f64 + costs.access) }
    };
    let words = identifiers.iter_enumerated().flat_map(|(s, words)| words.iter().map(move |w| (s, w)));
    costs.cost_of_all(identifiers) + words.map(loose).sum::<f64>()
}

#[test]
fn a_search_that_is_stopped_anywhere_keeps_identifiers_harmonised_and_no_dearer() {
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    let (mut tried, mut cheaper) = (0, 0);
    while tried < 60 {
        let states = rng.random_range(2..12);
        let entry = |_| Some((rng.random_range(0..states), rng.random_range(0..2)));
        let table: Vec<_> = (0..states * 3).map(entry).collect();
        let Ok(spec) = SuiteModel::check(&Mealy::from_table(states, 3, 2, &table).unwrap()) else {
            continue;
        };
        tried += 1;
        let costs = WordCosts::new(&spec, &state_cover(&spec), tried % 3);
        let given = nested_identifiers(&spec, &SplittingTree::new(&spec));
        assert!(are_harmonised(&spec, &given));
        let cost_of_given = whole_cost(&spec, &costs, &given);
        let mut cost = cost_of_given;
        for effort in [0, 400, 450, 500, 600, 1_000, 3_000, 100_000] {
            let found = improve_identifiers(&spec, &costs, given.clone(), effort);
            assert!(are_harmonised(&spec, &found), "{states} states, {effort} steps");
            cost = whole_cost(&spec, &costs, &found);
            assert!(cost <= cost_of_given + 1e-6, "dearer than those given, after {effort} steps");
        }
        cheaper += usize::from(cost < cost_of_given - 1e-6);
    }
    assert!(cheaper > 30, "the search finds something: {cheaper} of {tried}");
}

#[test]
fn what_the_search_reckons_is_what_the_words_cost() {
    let mut rng = ChaCha8Rng::seed_from_u64(6);
    let mut tried = 0;
    while tried < 40 {
        let entry = |_| Some((rng.random_range(0..7), rng.random_range(0..2)));
        let table: Vec<_> = (0..14).map(entry).collect();
        let Ok(spec) = SuiteModel::check(&Mealy::from_table(7, 2, 2, &table).unwrap()) else { continue };
        tried += 1;
        let costs = WordCosts::new(&spec, &state_cover(&spec), 0);
        let shortest = SeparatingWords::new(&spec);
        let given = nested_identifiers(&spec, &SplittingTree::new(&spec));
        let mut search =
            ImproveSearch::new(PairGrower::new(&spec, &shortest, &costs), 100_000, given.clone());
        assert!((search.best_cost - whole_cost(&spec, &costs, &given)).abs() < 1e-6);
        for order in 0..4 {
            search.grow_in_order(order);
            search.improve_current();
            let words = search.grower.identifiers.all_words(&spec);
            assert!((search.total_cost() - costs.cost_of_all(&words)).abs() < 1e-6);
            assert!((search.best_cost - whole_cost(&spec, &costs, &search.best)).abs() < 1e-6);
        }
    }
}
