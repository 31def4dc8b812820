//! Learning from a word whose answers contradict the hypothesis.
//!
//! The word is gone through with the machine: after every input there is a location it is believed to be in. Replacing
//! the inputs so far by the word of that location keeps the answer to what follows, up to a first place where it does
//! not: there one transition is believed wrongly. Either what follows compares with a value that was thought forgotten,
//! which then is memorable, or the node behind the transition is not the location it is taken for. Compare
//! \[RivestSchapire93], for words without values.

use super::learner::{
    DataLearnError, DataLearner, DataObserver, answer_values, instantiate_suffix, project_suffix,
};
use super::machine::{Configuration, DataSystem, RegisterMachine};
use super::place::{DataAnswer, DataInput, DataWord, Theory, ValuePoint};
use super::tree::{DataNode, DataTree, MemoryWitness};

/// The distance of a new value from the greatest of all others. Twice the distance at which the tree
/// puts new values.
const FRESH_VALUE_GAP: ValuePoint = 1 << 81;

impl DataLearner {
    /// Learns from `word`: afterwards some register is known that was not, or some node is known not to be what it was
    /// taken for. Nothing happens if `machine` answers it rightly.
    ///
    /// # Errors
    /// If the system cannot be queried, or contradicts itself.
    pub fn learn_from_counterexample<S: DataSystem>(
        &mut self,
        observer: &mut DataObserver<S>,
        machine: &RegisterMachine,
        word: &[DataInput],
    ) -> Result<(), DataLearnError<S::Error>> {
        let Some(actual) = observer.ask_word(word)? else { return Ok(()) };
        let Some(surprise) = RefutingWord::find_shortest(machine, word, &actual) else { return Ok(()) };
        // *Invariant.* From `wrong` the rest of the word is not answered as predicted, from `right` it is: at 0 because
        // the word is a counterexample, at the last input because the machine has that answer from the tree.
        let (mut wrong, mut right) = (0, surprise.word.len() - 1);
        while right - wrong > 1 {
            let middle = wrong.midpoint(right);
            match self.is_as_predicted(observer, &surprise, middle)? {
                Some(true) => right = middle,
                Some(false) => wrong = middle,
                None => return Ok(()),
            }
        }
        self.break_step(observer, machine, &surprise, wrong)
    }

    /// Returns the basis node of the location after `at` inputs, and the rest of the word read there; `None` if the
    /// location has got more registers by now.
    fn transfer_suffix(
        &self,
        tree: &DataTree,
        surprise: &RefutingWord,
        at: usize,
    ) -> Option<(DataNode, DataWord)> {
        self.suffix_behind(tree, &surprise.places[at], &surprise.word[at..])
    }

    fn suffix_behind(
        &self,
        tree: &DataTree,
        at: &Configuration,
        rest: &[DataInput],
    ) -> Option<(DataNode, DataWord)> {
        let basis = self.basis[at.location];
        let memory = tree.memorable_values(basis);
        let regions = project_suffix(&tree.signature, &at.registers, rest);
        let is_same = memory.len() == at.registers.len();
        is_same.then(|| (basis, instantiate_suffix(tree, basis, &memory, &regions)))
    }

    /// Returns whether the rest of the word, asked behind the location after `at` inputs, is answered as predicted;
    /// false if it cannot be asked there, `None` if the location has got more registers.
    fn is_as_predicted<S: DataSystem>(
        &self,
        observer: &mut DataObserver<S>,
        surprise: &RefutingWord,
        at: usize,
    ) -> Result<Option<bool>, DataLearnError<S::Error>> {
        let Some((basis, behind)) = self.transfer_suffix(&observer.tree, surprise, at) else {
            return Ok(None);
        };
        let memory = observer.tree.memorable_values(basis);
        let Some(answers) =
            observer.ask_word(&[observer.tree.word_of_node(basis), behind.clone()].concat())?
        else {
            return Ok(Some(false));
        };
        let signature = &observer.tree.signature;
        let predicted = answer_values(
            signature,
            &surprise.places[at].registers,
            &surprise.word[at..],
            &surprise.predicted,
        );
        Ok(Some(
            answers.last().map(|said| answer_values(signature, &memory, &behind, said)) == Some(predicted),
        ))
    }

    /// Asks words that show why the transition taken after `at` inputs is believed wrongly: a value is memorable, or
    /// the target is another location.
    fn break_step<S: DataSystem>(
        &self,
        observer: &mut DataObserver<S>,
        machine: &RegisterMachine,
        surprise: &RefutingWord,
        at: usize,
    ) -> Result<(), DataLearnError<S::Error>> {
        let Some((basis, behind)) = self.transfer_suffix(&observer.tree, surprise, at) else { return Ok(()) };
        let before = Configuration {
            location: surprise.places[at].location,
            registers: observer.tree.memorable_values(basis),
        };
        let whole = [observer.tree.word_of_node(basis), behind].concat();
        if observer.ask_word(&whole)?.is_none() {
            return Ok(());
        }
        // In the values of the tree.
        let Some(whole) = observer.tree.find(&whole).map(|node| observer.tree.word_of_node(node)) else {
            return Ok(());
        };
        let depth = observer.tree.depth(basis);
        let (Some((_, after)), Some(node)) =
            (machine.step(&before, &whole[depth]), observer.tree.find(&whole[..=depth]))
        else {
            return Ok(());
        };
        // What is asked behind the location too, so that the two can be compared.
        let Some((next, there)) = self.suffix_behind(&observer.tree, &after, &whole[depth + 1..]) else {
            return Ok(());
        };
        observer.ask_word(&[observer.tree.word_of_node(next), there].concat())?;
        self.ask_variants(observer, node, &after.registers, &whole[depth + 1..])
    }

    /// Asks `behind` after `node`, and a word that compares alike with `image` but in no special way with the other
    /// values before `node`; if the answers differ, finds one of these values that is memorable.
    pub(crate) fn ask_variants<S: DataSystem>(
        &self,
        observer: &mut DataObserver<S>,
        node: DataNode,
        image: &[ValuePoint],
        behind: &[DataInput],
    ) -> Result<(), DataLearnError<S::Error>> {
        let word = observer.tree.word_of_node(node);
        let regions = project_suffix(&observer.tree.signature, image, behind);
        let plain = instantiate_suffix(&observer.tree, node, image, &regions);
        observer.ask_word(&[&word[..], &plain].concat())?;
        let steps = variants_of(&observer.tree, node, image, behind);
        // The words go from `behind` to one that ignores all forgotten values, one value at a time. If the answers at
        // the two ends differ, bisection finds a value at which they change: that value is memorable, and the two words
        // around the change are the witness.
        debug_assert!(!steps.is_empty(), "`behind` itself is the first");
        let (mut first, mut last) = (0, steps.len() - 1);
        let start = self.ask_last_answer(observer, node, image, &steps[first].1)?;
        let end = self.ask_last_answer(observer, node, image, &steps[last].1)?;
        if start == end || start.is_none() || end.is_none() {
            return Ok(());
        }
        while last - first > 1 {
            let middle = first.midpoint(last);
            if self.ask_last_answer(observer, node, image, &steps[middle].1)? == start {
                first = middle
            } else {
                last = middle
            }
        }
        let (value, other) = &steps[last];
        let witness = MemoryWitness { one: steps[first].1.clone(), other: Some(other.clone()) };
        if let Some(value) = value {
            observer.tree.mark_memorable(node, *value, witness);
        }
        Ok(())
    }

    /// The last answer to `behind`, its values by number.
    fn ask_last_answer<S: DataSystem>(
        &self,
        observer: &mut DataObserver<S>,
        node: DataNode,
        image: &[ValuePoint],
        behind: &[DataInput],
    ) -> Result<Option<DataAnswer>, DataLearnError<S::Error>> {
        let answers = observer.ask_word(&[observer.tree.word_of_node(node), behind.to_vec()].concat())?;
        let last = answers.and_then(|mut answers| answers.pop());
        Ok(last.map(|said| answer_values(&observer.tree.signature, image, behind, &said)))
    }
}

/// A word that is not answered as predicted at its end.
struct RefutingWord {
    word: DataWord,
    /// The configuration of the machine before each input.
    places: Vec<Configuration>,
    predicted: DataAnswer,
}

impl RefutingWord {
    /// Returns the shortest prefix of `word` whose last answer the machine predicts otherwise, with the places on its
    /// way.
    fn find_shortest(machine: &RegisterMachine, word: &[DataInput], actual: &[DataAnswer]) -> Option<Self> {
        let mut places = vec![machine.start()];
        for (at, (input, answer)) in word.iter().zip(actual).enumerate() {
            let (predicted, next) = machine.step(&places[at], input)?;
            if predicted != *answer {
                return Some(Self { word: word[..=at].to_vec(), places, predicted });
            }
            places.push(next);
        }
        None
    }
}

/// Words from `behind` to one that compares in no special way with forgotten values: each differs from the one before
/// it only in how it compares with the value that is given with it.
fn variants_of(
    tree: &DataTree,
    node: DataNode,
    image: &[ValuePoint],
    behind: &[DataInput],
) -> Vec<(Option<ValuePoint>, DataWord)> {
    let mut known = [&tree.signature.constants[..], image].concat();
    let n_known = known.len();
    let forgotten: Vec<ValuePoint> =
        tree.history(node).iter().copied().filter(|value| !known.contains(value)).collect();
    for input in behind {
        tree.signature.places_of(&mut known, &input.values);
    }
    let mut new = known.split_off(n_known);
    // From the greatest down, so that a value that moves up past forgotten ones never has to pass another new one.
    new.sort_unstable_by(|a, b| b.cmp(a));
    let mut steps = vec![(None, behind.to_vec())];
    let mut moved: Vec<ValuePoint> = Vec::new();
    for value in new {
        let stops = match tree.signature.theory {
            Theory::Equality => replace_by_fresh(&forgotten, &known, &moved, value),
            Theory::Order => move_upwards(&forgotten, &known, &moved, value),
        };
        let mut here = value;
        for (crossed, to) in stops {
            let (_, last) = &steps[steps.len() - 1];
            steps.push((Some(crossed), replace_value(last, here, to)));
            here = to;
        }
        moved.push(here);
    }
    steps
}

/// `value` becomes a new one if it is a forgotten one.
fn replace_by_fresh(
    forgotten: &[ValuePoint],
    known: &[ValuePoint],
    moved: &[ValuePoint],
    value: ValuePoint,
) -> Vec<(ValuePoint, ValuePoint)> {
    if forgotten.contains(&value) {
        let all = forgotten.iter().chain(known).chain(moved);
        vec![(value, all.copied().max().unwrap_or(0) + FRESH_VALUE_GAP)]
    } else {
        Vec::new()
    }
}

/// `value` is moved up past all forgotten values that are not beyond a known one, or one that was moved before.
fn move_upwards(
    forgotten: &[ValuePoint],
    known: &[ValuePoint],
    moved: &[ValuePoint],
    value: ValuePoint,
) -> Vec<(ValuePoint, ValuePoint)> {
    let limit = known.iter().chain(moved).copied().filter(|&it| it > value).min();
    let is_before = |it: ValuePoint| limit.is_none_or(|limit| it < limit);
    let mut ahead: Vec<ValuePoint> =
        forgotten.iter().copied().filter(|&it| it >= value && is_before(it)).collect();
    ahead.sort_unstable();
    let mut stops = Vec::new();
    for (at, &crossed) in ahead.iter().enumerate() {
        if crossed != value {
            stops.push((crossed, crossed));
        }
        let above = match ahead.get(at + 1).copied().or(limit) {
            Some(next) => crossed.midpoint(next),
            None => crossed + FRESH_VALUE_GAP,
        };
        stops.push((crossed, above));
    }
    stops
}

fn replace_value(word: &[DataInput], value: ValuePoint, by: ValuePoint) -> DataWord {
    let replace = |&it: &ValuePoint| if it == value { by } else { it };
    let input = |input: &DataInput| DataInput {
        gate: input.gate,
        values: input.values.iter().map(replace).collect(),
    };
    word.iter().map(input).collect()
}
