//! Tests of `passive`.

use std::collections::{BTreeMap, BTreeSet};

use ioxide_fsm::mealy::{InputId, Mealy, OutputId};
use ioxide_fsm::word::{IoWord, Word};
use ioxide_learn::passive::{MergeOrder, merge_runs, merge_runs_by};
use ioxide_model::index::Idx;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Counts to three and says so; the second input starts again.
fn counter() -> Mealy {
    let table = [Some((1, 0)), Some((0, 0)), Some((2, 0)), Some((0, 0)), Some((0, 1)), Some((0, 0))];
    Mealy::from_table(3, 2, 2, &table).unwrap()
}

fn runs(machine: &Mealy, lengths: std::ops::Range<usize>) -> Vec<IoWord> {
    let words = lengths.flat_map(|length| ioxide_fsm::word::words_of_length(machine.n_inputs(), length));
    words.map(|word| word.iter().copied().zip(machine.run(&word)).collect()).collect()
}

#[test]
fn enough_runs_give_the_machine() {
    let system = counter();
    let merged = merge_runs(2, &runs(&system, 1..7)).unwrap();
    assert_eq!(ioxide_fsm::product::difference(&merged.machine, &system), None);
    assert!(merged.support.iter().all(|&seen| seen > 0));
}

#[test]
fn few_runs_give_a_machine_that_agrees_with_them() {
    let seen = runs(&counter(), 2..3);
    let merged = merge_runs(2, &seen).unwrap();
    assert_eq!(merged.count_agreeing(&seen), seen.len());
    assert!(merged.count_agreeing(&runs(&counter(), 5..6)) < 32, "so little cannot be enough");
}

/// The words of runs, their answers, and the classes into which they are merged.
#[derive(Clone)]
struct WordClasses {
    answers: BTreeMap<Word, OutputId>,
    class: BTreeMap<Word, usize>,
}

impl WordClasses {
    fn new(runs: &[IoWord]) -> Self {
        let mut answers = BTreeMap::new();
        for run in runs {
            for end in 1..=run.len() {
                let word: Word = run[..end].iter().map(|&(input, _)| input).collect();
                answers.insert(word, run[end - 1].1);
            }
        }
        let words = [Word::new()].into_iter().chain(answers.keys().cloned());
        Self { class: words.enumerate().map(|(number, word)| (word, number)).collect(), answers }
    }

    /// The known words one `input` behind those of a class.
    fn behind(&self, class: usize, input: InputId) -> Vec<Word> {
        let words = self.class.iter().filter(|(_, at)| **at == class).map(|(word, _)| word);
        let next = words.map(|word| [&word[..], &[input]].concat());
        next.filter(|word| self.answers.contains_key(word)).collect()
    }

    /// The least congruence in which both are one class; `None` if it contradicts an answer.
    fn join(&self, one: usize, other: usize, n_inputs: usize) -> Option<Self> {
        let mut joined = self.clone();
        let mut open = vec![(one, other)];
        while let Some((keep, drop)) = open.pop() {
            joined.class.values_mut().filter(|at| **at == drop).for_each(|at| *at = keep);
            let classes: BTreeSet<usize> = joined.class.values().copied().collect();
            for (class, input) in classes.iter().flat_map(|&at| (0..n_inputs).map(move |i| (at, i))) {
                let next = joined.behind(class, InputId::new(input));
                for pair in next.windows(2) {
                    if joined.answers[&pair[0]] != joined.answers[&pair[1]] {
                        return None;
                    }
                    let (a, b) = (joined.class[&pair[0]], joined.class[&pair[1]]);
                    if a != b && open.is_empty() {
                        open.push((a.min(b), a.max(b)));
                    }
                }
            }
        }
        Some(joined)
    }
}

/// RPNI by classes of words: slow, and a second opinion on [`MergeOrder::Canonical`]. Returns the class of every
/// known word.
fn merge_words(n_inputs: usize, runs: &[IoWord]) -> BTreeMap<Word, usize> {
    let mut words = WordClasses::new(runs);
    let mut red: Vec<Word> = vec![Word::new()];
    loop {
        let is_red = |words: &WordClasses, word: &Word| {
            red.iter().any(|known| words.class[known] == words.class[word])
        };
        let moves = red.iter().flat_map(|from| (0..n_inputs).map(move |input| (from, input)));
        let mut behind = moves.flat_map(|(from, input)| words.behind(words.class[from], InputId::new(input)));
        let Some(blue) = behind.find(|word| !is_red(&words, word)) else { return words.class };
        drop(behind);
        let join = |known: &Word| words.join(words.class[known], words.class[&blue], n_inputs);
        match red.iter().find_map(join) {
            Some(joined) => words = joined,
            None => red.push(blue),
        }
    }
}

/// Few random runs of random machines: two words lead the machine to one state if they are in one class.
#[test]
fn the_canonical_order_agrees_with_merging_classes_of_words() {
    let mut sizes = BTreeSet::new();
    for seed in 0..100 {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let states = rng.random_range(1..=4);
        let table: Vec<Option<(usize, usize)>> =
            (0..states * 2).map(|_| Some((rng.random_range(0..states), rng.random_range(0..2)))).collect();
        let system = Mealy::from_table(states, 2, 2, &table).unwrap();
        let mut run = || -> IoWord {
            let word: Word = (0..5).map(|_| InputId::new(rng.random_range(0..2))).collect();
            word.iter().copied().zip(system.run(&word)).collect()
        };
        let seen: Vec<IoWord> = (0..6).map(|_| run()).collect();
        let made = merge_runs_by(2, &seen, MergeOrder::Canonical).unwrap().machine;
        let state_after = |word: &Word| {
            word.iter().fold(made.initial(), |state, &input| made.edge(state, input).unwrap().next)
        };
        let classes = merge_words(2, &seen);
        for ((one, a), (other, b)) in classes.iter().flat_map(|one| classes.iter().map(move |two| (one, two)))
        {
            assert_eq!(state_after(one) == state_after(other), a == b, "seed {seed}: {one:?} {other:?}");
        }
        sizes.insert(made.n_states());
    }
    assert!(sizes.len() > 2, "machines of several sizes: {sizes:?}");
}

#[test]
fn runs_that_contradict_each_other_are_shown() {
    let input = InputId::new(0);
    let run = |output: usize| vec![(input, OutputId::new(0)), (input, OutputId::new(output))];
    let found = merge_runs(1, &[run(0), run(1)]).unwrap_err();
    assert_eq!((found.before, found.now), (run(0), run(1)));
}
