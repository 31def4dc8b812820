//! Every method against the checker, small machines and mutants.

mod grow;
mod identify;

use ioxide_model::index::Idx;
use ioxide_test_support::is_full_run;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use ioxide_fsm::complete::{CompletenessAnswer, check_suite};
use ioxide_fsm::cover::state_cover;
use ioxide_fsm::distinguish::SeparatingWords;
use ioxide_fsm::mealy::{InputId, Mealy, StateId, SuiteModel};
use ioxide_fsm::product;
use ioxide_fsm::suite::{SuiteMethod, SuiteSize, UnknownMethod, WordSuite, hsi_suite, w_suite};
use ioxide_fsm::word::{Word, without_prefixes};

fn random_machine(rng: &mut ChaCha8Rng, states: usize, inputs: usize, outputs: usize) -> Mealy {
    let entry = |_| Some((rng.random_range(0..states), rng.random_range(0..outputs)));
    let table: Vec<_> = (0..states * inputs).map(entry).collect();
    Mealy::from_table(states, inputs, outputs, &table).unwrap()
}

/// Random minimal machines with exactly `states` states.
fn random_specs(seed: u64, states: usize, inputs: usize, outputs: usize) -> impl Iterator<Item = SuiteModel> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    std::iter::repeat_with(move || random_machine(&mut rng, states, inputs, outputs))
        .filter_map(|machine| SuiteModel::check(&machine).ok())
}

/// A machine near `spec`: a few transitions changed, up to `extra` states added.
fn mutant(rng: &mut ChaCha8Rng, spec: &SuiteModel, extra: usize) -> Mealy {
    let (n, k, outputs) = (spec.n_states(), spec.n_inputs(), spec.names().outputs.len());
    let total = n + rng.random_range(0..=extra);
    let entry = |state: usize, input: usize| {
        let (state, input) = (StateId::new(state % n), InputId::new(input));
        Some((spec.next(state, input).index(), spec.output(state, input).index()))
    };
    let mut table: Vec<_> = (0..total * k).map(|slot| entry(slot / k, slot % k)).collect();
    for _ in 0..rng.random_range(1..=2 + extra) {
        let slot = rng.random_range(0..table.len());
        let (next, output) = table[slot].unwrap();
        let changed = if rng.random_bool(0.8) {
            (rng.random_range(0..total), output)
        } else {
            (next, rng.random_range(0..outputs))
        };
        table[slot] = Some(changed);
    }
    Mealy::from_table(total, k, outputs, &table).unwrap()
}

#[track_caller]
fn check_complete(spec: &SuiteModel, extra: usize) {
    for method in SuiteMethod::ALL {
        let suite: Vec<Word> = method.suite(spec, extra).collect();
        let answer = check_suite(spec, &suite, spec.n_states() + extra, 20_000_000);
        assert_eq!(answer, CompletenessAnswer::Complete, "{} with {extra} extra states", method.name());
        assert_eq!(without_prefixes(suite.clone()).len(), suite.len(), "{} has a prefix", method.name());
    }
}

/// All machines with `states` states, two inputs and two outputs, each `step`th.
fn enumerated(states: usize, step: usize) -> impl Iterator<Item = SuiteModel> {
    let answers = states * 2;
    let count = answers.pow(u32::try_from(states * 2).unwrap());
    (0..count).step_by(step).filter_map(move |mut code| {
        let mut entry = || {
            let answer = code % answers;
            code /= answers;
            Some((answer % states, answer / states))
        };
        let table: Vec<_> = (0..states * 2).map(|_| entry()).collect();
        SuiteModel::check(&Mealy::from_table(states, 2, 2, &table)?).ok()
    })
}

#[test]
fn all_small_machines_get_complete_suites() {
    let step = if is_full_run() { 1 } else { 17 };
    let specs = (1..=2).flat_map(|states| enumerated(states, 1)).chain(enumerated(3, step));
    for spec in specs {
        check_complete(&spec, 0);
    }
    for spec in enumerated(2, 1).chain(enumerated(3, step * 7)) {
        check_complete(&spec, 1);
    }
    for spec in enumerated(2, if is_full_run() { 1 } else { 5 }) {
        check_complete(&spec, 2);
    }
}

#[test]
fn random_machines_get_complete_suites() {
    let count = if is_full_run() { 400 } else { 60 };
    for spec in random_specs(1, 4, 2, 2).take(count) {
        check_complete(&spec, 0);
    }
    for spec in random_specs(2, 5, 2, 2).take(count) {
        check_complete(&spec, 0);
    }
    for spec in random_specs(3, 4, 2, 2).take(count / 5) {
        check_complete(&spec, 1);
    }
}

#[test]
fn every_suite_kills_every_mutant() {
    let mutants = if is_full_run() { 100_000 } else { 10_000 };
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    let shapes = [(5, 3, 2, 0), (8, 3, 2, 0), (12, 4, 3, 0), (5, 2, 2, 1), (7, 3, 2, 1), (4, 2, 2, 2)];
    let per_shape = mutants / shapes.len() / 5;
    for (seed, (states, inputs, outputs, extra)) in shapes.into_iter().enumerate() {
        for spec in random_specs(seed as u64, states, inputs, outputs).take(5) {
            let model = spec.to_mealy();
            let suites = SuiteMethod::ALL.map(|method| method.suite(&spec, extra).collect::<Vec<Word>>());
            for _ in 0..per_shape {
                let mutant = mutant(&mut rng, &spec, extra);
                let wrong = product::difference(&model, &mutant).is_some();
                for (method, suite) in SuiteMethod::ALL.iter().zip(&suites) {
                    let killed = suite.iter().any(|word| !product::passes(&model, &mutant, word));
                    assert_eq!(killed, wrong, "{} misjudges a mutant", method.name());
                }
            }
        }
    }
}

#[test]
fn a_lazy_suite_is_its_formula() {
    use ioxide_fsm::cover::state_cover;
    use ioxide_fsm::distinguish::{SplittingTree, WordCosts, characterising_set, harmonised_identifiers};
    use ioxide_fsm::word::words_up_to;
    for spec in random_specs(11, 6, 3, 2).take(10) {
        for extra in 0..2 {
            let cover = state_cover(&spec);
            let costs = WordCosts::new(&spec, &cover, extra);
            let splitting = SplittingTree::new(&spec);
            let words = characterising_set(&spec, &splitting, &costs);
            let identifiers = harmonised_identifiers(&spec, &splitting, &costs);
            let (mut w, mut hsi) = (Vec::new(), Vec::new());
            for access in cover.access_words() {
                for middle in words_up_to(spec.n_inputs(), extra + 1) {
                    let word = [access.as_slice(), &middle].concat();
                    let state = spec.state_after(spec.initial(), &word);
                    w.extend(words.iter().map(|suffix| [word.as_slice(), suffix].concat()));
                    hsi.extend(identifiers[state].iter().map(|suffix| [word.as_slice(), suffix].concat()));
                }
            }
            let sorted = |suite: WordSuite<'_>| without_prefixes(suite.collect());
            assert_eq!(sorted(w_suite(&spec, extra)), without_prefixes(w));
            assert_eq!(sorted(hsi_suite(&spec, extra)), without_prefixes(hsi));
        }
    }
}

#[test]
fn identifiers_and_trees_separate_all_states() {
    use ioxide_fsm::cover::state_cover;
    use ioxide_fsm::distinguish::{
        SeparatingWords, SplittingTree, WordCosts, characterising_set, harmonised_identifiers,
    };
    for spec in random_specs(12, 9, 2, 2).take(30) {
        let costs = WordCosts::new(&spec, &state_cover(&spec), 0);
        let splitting = SplittingTree::new(&spec);
        let shortest = SeparatingWords::new(&spec);
        let set = characterising_set(&spec, &splitting, &costs);
        let harmonised = harmonised_identifiers(&spec, &splitting, &costs);
        for (a, b) in spec.states().flat_map(|a| spec.states().map(move |b| (a, b))).filter(|(a, b)| a != b) {
            let word = shortest.separating_word(&spec, a, b);
            assert_eq!(spec.separation_length(a, b, &word), Some(word.len()));
            assert!(
                spec.separation_length(a, b, splitting.separating_word(a, b))
                    .is_some_and(|end| end >= word.len())
            );
            assert!(set.iter().any(|word| spec.separation_length(a, b, word).is_some()));
            let shared = |word: &Word| {
                let end = spec.separation_length(a, b, word)?;
                harmonised[b].iter().any(|other| other.starts_with(&word[..end])).then_some(())
            };
            assert!(harmonised[a].iter().any(|word| shared(word).is_some()), "no common separating prefix");
        }
    }
}

#[test]
fn machines_without_choice_get_small_suites() {
    let silent = SuiteModel::check(&Mealy::from_table(1, 0, 1, &[]).unwrap()).unwrap();
    let single = SuiteModel::check(&Mealy::from_table(1, 2, 1, &[Some((0, 0)); 2]).unwrap()).unwrap();
    for method in SuiteMethod::ALL {
        assert_eq!(method.suite(&silent, 2).count(), 0, "{}", method.name());
        assert_eq!(method.suite(&single, 0).measure().symbols, 2, "{}", method.name());
    }
}

#[test]
fn names_and_methods_go_both_ways() {
    for method in SuiteMethod::ALL {
        assert_eq!(method.name().parse(), Ok(method));
    }
    assert_eq!("x".parse::<SuiteMethod>(), Err(UnknownMethod));
}

/// The suite of the partial W-method as in the textbook: shortest words for all pairs of states, `W` chosen greedily
/// from them, and identifiers chosen greedily from `W`.
fn textbook_wp(spec: &SuiteModel, extra: usize) -> SuiteSize {
    let separating = SeparatingWords::new(spec);
    let pairs: Vec<(StateId, StateId)> =
        spec.states().flat_map(|a| spec.states().take(a.index()).map(move |b| (a, b))).collect();
    let pool: Vec<Word> = pairs.iter().map(|&(a, b)| separating.separating_word(spec, a, b)).collect();
    let set = choose_greedily(spec, &pool, pairs.clone());
    let cover = state_cover(spec);
    let mut suite: Vec<Word> = Vec::new();
    let mut middles: Vec<Word> = cover.access_words().collect();
    for _ in 0..=extra {
        suite.extend(
            middles.iter().flat_map(|middle| set.iter().map(move |word| [&middle[..], word].concat())),
        );
        let longer =
            |middle: &Word| spec.inputs().map(|input| [&middle[..], &[input]].concat()).collect::<Vec<_>>();
        middles = middles.iter().flat_map(longer).collect();
    }
    for middle in &middles {
        let end = middle.iter().fold(spec.initial(), |state, &input| spec.next(state, input));
        let of_end = pairs.iter().copied().filter(|&(a, b)| a == end || b == end).collect();
        suite.extend(choose_greedily(spec, &set, of_end).iter().map(|word| [&middle[..], word].concat()));
    }
    let suite = without_prefixes(suite);
    SuiteSize { tests: suite.len(), symbols: suite.iter().map(Vec::len).sum() }
}

/// Words of `pool` that separate all `open` pairs, each the one that separates most per symbol.
fn choose_greedily(spec: &SuiteModel, pool: &[Word], mut open: Vec<(StateId, StateId)>) -> Vec<Word> {
    let mut chosen = Vec::new();
    while !open.is_empty() {
        let separated =
            |word: &Word| open.iter().filter(|&&(a, b)| spec.separation_length(a, b, word).is_some()).count();
        let value = |word: &&Word| separated(word) * 1_000 / word.len();
        let best = pool.iter().max_by_key(value).expect("there are words");
        let before = open.len();
        open.retain(|&(a, b)| spec.separation_length(a, b, best).is_none());
        assert!(open.len() < before, "the pool separates all pairs");
        chosen.push(best.clone());
    }
    chosen
}

#[test]
fn the_suites_of_wp_are_seldom_larger_than_those_of_the_textbook() {
    let share = if is_full_run() { 500 } else { 40 };
    for (states, inputs, outputs) in [(5, 8, 4), (8, 6, 3), (12, 3, 2)] {
        for extra in 0..=1 {
            let (mut ours, mut theirs, mut larger) = (0, 0, 0);
            for spec in random_specs(11, states, inputs, outputs).take(share) {
                let (size, textbook) =
                    (SuiteMethod::Wp.suite(&spec, extra).measure(), textbook_wp(&spec, extra));
                let costs = [size, textbook].map(|size| size.symbols + size.tests);
                larger += usize::from(costs[0] * 100 > costs[1] * 102);
                ours += costs[0];
                theirs += costs[1];
            }
            assert!(larger * 10 <= share, "{larger} of {share} are more than 2 % larger");
            assert!(ours * 100 < theirs * 90, "{ours} in all, the textbook's {theirs}");
        }
    }
}
