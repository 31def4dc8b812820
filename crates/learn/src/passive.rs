//! A machine from recorded runs, without a system to ask.
//!
//! State merging with evidence, blue fringe \[LPP98] on Mealy machines: the runs form a tree; states already found are
//! *red*, their children *blue*. A blue node is merged with the red state whose answers agree with it most often,
//! counted after folding the two subtrees; one that agrees with none becomes red. What was never seen stays open:
//! the machine has no answer there.
//!
//! The order of RPNI (the first word first, the first state that fits) is there for comparison. To choose between them
//! by runs that are held out was tried, and is worse: with few runs it chooses wrongly, with many they hardly differ.
//!
//! *Promises.* The machine agrees with every run, or the runs contradict each other. Every answer has the number of
//! times it was seen.

use ioxide_fsm::mealy::{InputId, Mealy, OutputId};
use ioxide_fsm::word::IoWord;
use ioxide_model::index::Idx;

use crate::observer::Disagreement;

/// A machine and how often each of its answers was seen.
#[derive(Clone, Debug)]
pub struct MergedMachine {
    /// The machine; it has no answer where none was seen.
    pub machine: Mealy,
    /// The number of times the runs took each move, state by state and input by input; 0 where there is no answer.
    pub support: Vec<u64>,
}

impl MergedMachine {
    /// Returns the number of `runs` whose answers the machine gives to the end.
    #[must_use]
    pub fn count_agreeing(&self, runs: &[IoWord]) -> usize {
        let agrees = |run: &&IoWord| {
            let word: Vec<InputId> = run.iter().map(|&(input, _)| input).collect();
            let seen = run.iter().map(|&(_, output)| output);
            self.machine.run(&word).into_iter().eq(seen)
        };
        runs.iter().filter(agrees).count()
    }
}

#[derive(Clone, Copy, Debug)]
struct MergeArc {
    output: OutputId,
    to: usize,
    seen: u64,
}

/// The tree of runs, folded further and further.
struct RunFolding {
    n_inputs: usize,
    arcs: Vec<Option<MergeArc>>,
    /// The log of the current merge: each slot it changed, with the former arc.
    changes: Vec<(usize, Option<MergeArc>)>,
}

/// The order in which states are merged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MergeOrder {
    /// The blue node that most runs go through, with the red state that most answers agree with.
    Evidence,
    /// The blue node with the first word, with the first red state that fits: RPNI.
    Canonical,
}

/// Makes a machine with `n_inputs` inputs from `runs`.
///
/// # Errors
/// If two runs contradict each other.
pub fn merge_runs(n_inputs: usize, runs: &[IoWord]) -> Result<MergedMachine, Box<Disagreement>> {
    merge_runs_by(n_inputs, runs, MergeOrder::Evidence)
}

/// Makes a machine with `n_inputs` inputs from `runs`, merged in this order.
///
/// # Errors
/// If two runs contradict each other.
pub fn merge_runs_by(
    n_inputs: usize,
    runs: &[IoWord],
    order: MergeOrder,
) -> Result<MergedMachine, Box<Disagreement>> {
    let mut folding = RunFolding { n_inputs, arcs: vec![None; n_inputs], changes: Vec::new() };
    for run in runs {
        folding.add_run(run)?;
    }
    // The red-blue framework: red states are final, blue nodes are their children outside. Each round merges a blue
    // node into a red state, or makes it red.
    let mut red = vec![0];
    while let Some((from, input)) = folding.next_blue_node(&red, order) {
        let slot = from * n_inputs + input;
        let Some(arc) = folding.arcs[slot] else { break };
        match folding.choose_red_state(&red, slot, arc, order) {
            Some(state) => {
                folding.try_merge(slot, arc, state);
                folding.changes.clear();
            }
            None => red.push(arc.to),
        }
    }
    Ok(folding.build_machine(&red))
}

impl RunFolding {
    fn add_run(&mut self, run: &IoWord) -> Result<(), Box<Disagreement>> {
        let mut at = 0;
        for (i, &(input, output)) in run.iter().enumerate() {
            let slot = at * self.n_inputs + input.index();
            at = match &mut self.arcs[slot] {
                Some(arc) if arc.output == output => {
                    arc.seen += 1;
                    arc.to
                }
                Some(arc) => {
                    let now = run[..=i].to_vec();
                    let mut before = now.clone();
                    before[i].1 = arc.output;
                    return Err(Box::new(Disagreement { before, now }));
                }
                None => {
                    let to = self.arcs.len() / self.n_inputs;
                    self.arcs[slot] = Some(MergeArc { output, to, seen: 1 });
                    self.arcs.resize(self.arcs.len() + self.n_inputs, None);
                    to
                }
            };
        }
        Ok(())
    }

    /// The next blue node in this order, by the move that leads to it.
    fn next_blue_node(&self, red: &[usize], order: MergeOrder) -> Option<(usize, usize)> {
        let moves = red.iter().flat_map(|&from| (0..self.n_inputs).map(move |input| (from, input)));
        let blue =
            moves.filter_map(|(from, input)| Some((from, input, self.arcs[from * self.n_inputs + input]?)));
        let mut blue = blue.filter(|(_, _, arc)| !red.contains(&arc.to));
        if order == MergeOrder::Canonical {
            // Red states are found shortest word first, so the first move of the first of them has the first word.
            return blue.next().map(|(from, input, _)| (from, input));
        }
        // Of equals the first.
        let most = blue.reduce(|best, other| if other.2.seen > best.2.seen { other } else { best });
        most.map(|(from, input, _)| (from, input))
    }

    /// Returns the red state to merge with in this order; `None` if every red state contradicts an answer.
    fn choose_red_state(
        &mut self,
        red: &[usize],
        slot: usize,
        arc: MergeArc,
        order: MergeOrder,
    ) -> Option<usize> {
        let mut best: Option<(u64, usize)> = None;
        for &state in red {
            // Try and take back, with a log of changes: copying the tree for every candidate would be quadratic.
            let evidence = self.try_merge(slot, arc, state);
            self.undo_merge();
            if let Some(evidence) = evidence.filter(|&found| best.is_none_or(|(most, _)| found > most)) {
                best = Some((evidence, state));
                if order == MergeOrder::Canonical {
                    break;
                }
            }
        }
        best.map(|(_, state)| state)
    }

    /// Leads the move to `state` and folds the subtree behind it; returns the number of answers that agreed, `None`
    /// at the first that did not.
    fn try_merge(&mut self, slot: usize, arc: MergeArc, state: usize) -> Option<u64> {
        self.set_arc(slot, Some(MergeArc { to: state, ..arc }));
        let mut open = vec![(state, arc.to)];
        let mut evidence = 0;
        while let Some((into, from)) = open.pop() {
            for input in 0..self.n_inputs {
                let (slot, other) = (into * self.n_inputs + input, from * self.n_inputs + input);
                match (self.arcs[slot], self.arcs[other]) {
                    (_, None) => (),
                    // The red side has no answer there: it takes over the whole subtree.
                    (None, moved) => self.set_arc(slot, moved),
                    (Some(mine), Some(theirs)) if mine.output == theirs.output => {
                        evidence += 1;
                        self.set_arc(slot, Some(MergeArc { seen: mine.seen + theirs.seen, ..mine }));
                        open.push((mine.to, theirs.to));
                    }
                    (Some(_), Some(_)) => return None,
                }
            }
        }
        Some(evidence)
    }

    fn set_arc(&mut self, slot: usize, arc: Option<MergeArc>) {
        self.changes.push((slot, self.arcs[slot]));
        self.arcs[slot] = arc;
    }

    fn undo_merge(&mut self) {
        while let Some((slot, before)) = self.changes.pop() {
            self.arcs[slot] = before;
        }
    }

    fn build_machine(&self, red: &[usize]) -> MergedMachine {
        debug_assert!(self.changes.is_empty(), "no merge is under way");
        let number = |state: usize| red.iter().position(|&known| known == state).unwrap_or(0);
        let mut table = Vec::new();
        let mut support = Vec::new();
        for &state in red {
            for input in 0..self.n_inputs {
                let arc = self.arcs[state * self.n_inputs + input];
                table.push(arc.map(|arc| (number(arc.to), arc.output.index())));
                support.push(arc.map_or(0, |arc| arc.seen));
            }
        }
        let n_outputs = table.iter().flatten().map(|&(_, output)| output + 1).max().unwrap_or(1);
        let machine = Mealy::from_table(red.len(), self.n_inputs, n_outputs, &table)
            .expect("moves of red states lead to red states");
        MergedMachine { machine, support }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use ioxide_fsm::word::Word;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;

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
            let mut behind =
                moves.flat_map(|(from, input)| words.behind(words.class[from], InputId::new(input)));
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
            let table: Vec<Option<(usize, usize)>> = (0..states * 2)
                .map(|_| Some((rng.random_range(0..states), rng.random_range(0..2))))
                .collect();
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
            for ((one, a), (other, b)) in
                classes.iter().flat_map(|one| classes.iter().map(move |two| (one, two)))
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
}
