//! Identification of a node: the location it is, and the values that the registers hold.
//!
//! A *pairing* says which value at a node stands for which value at a basis node. It fits as long as no word was asked
//! behind both and answered differently, read by the pairing. Several that fit are distinguished by asking; where none
//! fits that pairs all registers with available values, pairings with other values are tried, and what shows that a
//! value is memorable at one node is asked at the other: either the other has a register more, or the pairing does not
//! fit.

use ioxide_model::index::Idx;

use super::learner::{
    DataLearnError, DataLearner, DataObserver, LearningRound, NodeBelief, answer_values, instantiate_suffix,
    project_suffix,
};
use super::machine::{DataSystem, LocationId};
use super::place::{AnswerValue, DataAnswer, DataInput, DataWord, Theory, ValuePoint};
use super::tree::{DataNode, DataTree};

/// Words behind a location that are looked at to distinguish pairings. Chosen by feel; pairings that it leaves together
/// are distinguished by counterexamples.
const MAX_WORDS_COMPARED: usize = 600;

/// Values of a location, and the values of a node that stand for them.
#[derive(Clone, Debug)]
struct Pairing {
    location: LocationId,
    theirs: Vec<ValuePoint>,
    mine: Vec<ValuePoint>,
}

impl DataLearner {
    /// Finds the location that `node`, reached from `parent`, is believed to be, asking until one pairing is left or
    /// cannot be distinguished from the others.
    pub(crate) fn identify<S: DataSystem>(
        &mut self,
        observer: &mut DataObserver<S>,
        parent: DataNode,
        node: DataNode,
    ) -> Result<LearningRound<NodeBelief>, DataLearnError<S::Error>> {
        if let Some(at) = self.basis.iter().position(|&known| known == node) {
            let image = observer.tree.memorable_values(node);
            return Ok(LearningRound::Done(NodeBelief { location: LocationId::new(at), image }));
        }
        loop {
            let fitting = self.fitting_pairings(&observer.tree, parent, node);
            let Some(first) = fitting.first() else { return self.resolve_node(observer, parent, node) };
            match self.separating_word(observer, node, &fitting) {
                Some(word) => {
                    observer.ask_word(&word)?;
                }
                None => {
                    let belief = NodeBelief { location: first.location, image: first.mine.clone() };
                    return Ok(LearningRound::Done(belief));
                }
            }
        }
    }

    /// The pairings of registers with available values that fit; one that changes nothing comes first.
    fn fitting_pairings(&self, tree: &DataTree, parent: DataNode, node: DataNode) -> Vec<Pairing> {
        let at_hand = values_at_hand(tree, parent, node);
        let mut fitting = Vec::new();
        for (location, &basis) in self.basis.iter_enumerated() {
            let all = pairings(tree, location, basis, node, &at_hand, 0);
            fitting
                .extend(all.into_iter().filter(|pairing| self.find_conflict(tree, node, pairing).is_none()));
        }
        let memory = tree.memorable_values(parent);
        // The guess of a system that stays where it is and keeps what it has; wrong guesses are refuted later.
        fitting.sort_by_key(|pairing| self.basis[pairing.location] != parent || pairing.mine != memory);
        fitting
    }

    /// Returns a word that was asked behind both nodes and answered differently, read by the pairing.
    fn find_conflict(&self, tree: &DataTree, node: DataNode, pairing: &Pairing) -> Option<DataWord> {
        let basis = self.basis[pairing.location];
        let start = |values: &[ValuePoint]| [&tree.signature.constants[..], values].concat();
        let mut open =
            vec![(node, basis, start(&pairing.mine), start(&pairing.theirs), tree.history(basis).to_vec())];
        while let Some((mine, theirs, known, known_there, came)) = open.pop() {
            for kid in tree.children(mine) {
                let Some(input) = tree.input(kid) else { continue };
                let (mut known, mut known_there, mut came) =
                    (known.clone(), known_there.clone(), came.clone());
                // Read the input by the pairing: the same places among the values known there, then the region of those
                // values in the history of the other node.
                let places = tree.signature.places_of(&mut known, &input.values);
                let values = tree.signature.values_at(&mut known_there, tree.history(basis), &places);
                let region = (input.gate, tree.signature.places_of(&mut came, &values));
                let Some(twin) = tree.child(theirs, &region) else { continue };
                let said = answer_by_number(tree.answer(kid), &known);
                // Answers of the tree are in its own values, which are those of the history by position.
                let said_there = answer_by_number(&tree.answer_in(twin, &came), &known_there);
                if said != said_there {
                    return Some(suffix_below(tree, node, kid));
                }
                open.push((kid, twin, known, known_there, came));
            }
        }
        None
    }

    /// A word behind `node` that two of the pairings predict differently.
    fn separating_word<S: DataSystem>(
        &self,
        observer: &DataObserver<S>,
        node: DataNode,
        fitting: &[Pairing],
    ) -> Option<DataWord> {
        let (first, others) = fitting.split_first()?;
        let tree = &observer.tree;
        let basis = self.basis[first.location];
        let mut queue = vec![basis];
        let mut at = 0;
        while at < queue.len().min(MAX_WORDS_COMPARED) {
            let here = queue[at];
            queue.extend(tree.children(here));
            at += 1;
            let suffix = suffix_below(tree, basis, here);
            if suffix.is_empty() {
                continue;
            }
            // What was asked behind the basis node, carried over to `node` by the first pairing; another pairing that
            // predicts another answer there is refuted or confirmed by asking.
            let regions = project_suffix(&tree.signature, &first.theirs, &suffix);
            let behind = instantiate_suffix(tree, node, &first.mine, &regions);
            let expected = answer_values(&tree.signature, &first.theirs, &suffix, tree.answer(here));
            let expected = answer_in_values(&expected, &number_values(tree, &first.mine, &behind));
            let differs = |other: &Pairing| {
                self.predict_answer(tree, other, &behind).is_some_and(|predicted| predicted != expected)
            };
            if others.iter().any(differs) {
                let word = [tree.word_of_node(node), behind].concat();
                // Only a word that was not asked yet can decide between them.
                if tree.find(&word).is_none() && observer.system.has_room(&word) {
                    return Some(word);
                }
            }
        }
        None
    }

    /// Returns the answer that `pairing` predicts for the last input of `behind`, in the values of the node; `None`
    /// if the word was not asked at the location.
    fn predict_answer(&self, tree: &DataTree, pairing: &Pairing, behind: &[DataInput]) -> Option<DataAnswer> {
        let basis = self.basis[pairing.location];
        let regions = project_suffix(&tree.signature, &pairing.mine, behind);
        let there = instantiate_suffix(tree, basis, &pairing.theirs, &regions);
        let answers = tree.answers(&[tree.word_of_node(basis), there.clone()].concat())?;
        let said = answer_values(&tree.signature, &pairing.theirs, &there, answers.last()?);
        Some(answer_in_values(&said, &number_values(tree, &pairing.mine, behind)))
    }

    /// No pairing fits: finds a register that was not known, or makes `node` a location.
    fn resolve_node<S: DataSystem>(
        &mut self,
        observer: &mut DataObserver<S>,
        parent: DataNode,
        node: DataNode,
    ) -> Result<LearningRound<NodeBelief>, DataLearnError<S::Error>> {
        let before = self.max_registers(&observer.tree) + observer.tree.memorable_values(node).len();
        let values = observer.tree.relevant_values(node);
        for location in (0..self.basis.len()).map(LocationId::new) {
            let basis = self.basis[location];
            let most = observer.tree.memorable_values(node).len();
            for pairing in pairings(&observer.tree, location, basis, node, &values, most) {
                match self.find_conflict(&observer.tree, node, &pairing) {
                    None => self.transfer_words(observer, node, &pairing)?,
                    // It may be about a value that is in no pair; then that one is memorable.
                    Some(behind) => self.ask_variants(observer, node, &pairing.mine, &behind)?,
                }
                let now = self.max_registers(&observer.tree) + observer.tree.memorable_values(node).len();
                if now != before || !self.fitting_pairings(&observer.tree, parent, node).is_empty() {
                    return Ok(LearningRound::Again);
                }
            }
        }
        // Every pairing with every location was contradicted by answers, under any choice of values: a new location, on
        // proof.
        debug_assert!(!self.basis.iter().any(|&known| known == node), "a basis node is identified at once");
        self.basis.push(node);
        Ok(LearningRound::Again)
    }

    fn max_registers(&self, tree: &DataTree) -> usize {
        self.basis.iter().map(|&node| tree.memorable_values(node).len()).sum()
    }

    /// Asks at each of the two nodes what shows that values are memorable at the other.
    fn transfer_words<S: DataSystem>(
        &self,
        observer: &mut DataObserver<S>,
        node: DataNode,
        pairing: &Pairing,
    ) -> Result<(), DataLearnError<S::Error>> {
        let basis = self.basis[pairing.location];
        for (&theirs, &mine) in pairing.theirs.iter().zip(&pairing.mine) {
            let (known, here) =
                (observer.tree.memory_witness(basis, theirs), observer.tree.memory_witness(node, mine));
            let (witness, from, to) = match (known.cloned(), here.cloned()) {
                (Some(witness), None) => (witness, (basis, &pairing.theirs), (node, &pairing.mine, mine)),
                (None, Some(witness)) => (witness, (node, &pairing.mine), (basis, &pairing.theirs, theirs)),
                _ => continue,
            };
            let ((source, values), (target, image, value)) = (from, to);
            let rest: Vec<ValuePoint> = image.iter().copied().filter(|&it| it != value).collect();
            for word in [Some(&witness.one), witness.other.as_ref()].into_iter().flatten() {
                // What it says must not depend on a value that is in no pair.
                self.ask_variants(observer, source, values, word)?;
                let regions = project_suffix(&observer.tree.signature, values, word);
                let there = instantiate_suffix(&observer.tree, target, image, &regions);
                self.ask_variants(observer, target, &rest, &there)?;
            }
        }
        Ok(())
    }
}

/// Returns the values that a register at `node` can hold: those memorable at `parent`, and those of the last input.
fn values_at_hand(tree: &DataTree, parent: DataNode, node: DataNode) -> Vec<ValuePoint> {
    let mut values = tree.memorable_values(parent);
    let (given, came) = (tree.input(node).map_or(&[][..], |input| &input.values), tree.relevant_values(node));
    for &value in given {
        if !values.contains(&value) && came.contains(&value) {
            values.push(value);
        }
    }
    values
}

/// All pairings of the registers of `basis` with different values of `from` that compare alike and have all that is
/// known to be memorable at `node`; up to `extra` values of `basis` that are no registers are paired with such.
fn pairings(
    tree: &DataTree,
    location: LocationId,
    basis: DataNode,
    node: DataNode,
    from: &[ValuePoint],
    extra: usize,
) -> Vec<Pairing> {
    let (registers, memory) = (tree.memorable_values(basis), tree.memorable_values(node));
    let mut found = Vec::new();
    let mut open = vec![Pairing { location, theirs: registers.clone(), mine: Vec::new() }];
    while let Some(pairing) = open.pop() {
        let at = pairing.mine.len();
        let is_alike = || {
            tree.signature.comparison_pattern(&pairing.theirs[..at])
                == tree.signature.comparison_pattern(&pairing.mine)
        };
        if at > 0 && !is_alike() {
            continue;
        }
        if at < registers.len() {
            for &value in from.iter().rev().filter(|value| !pairing.mine.contains(value)) {
                let mut longer = pairing.clone();
                longer.mine.push(value);
                open.push(longer);
            }
            continue;
        }
        let Some(&missing) = memory.iter().find(|value| !pairing.mine.contains(value)) else {
            found.push(pairing);
            continue;
        };
        if at - registers.len() >= extra {
            continue;
        }
        let came = tree.relevant_values(basis);
        for &value in came.iter().filter(|value| !pairing.theirs.contains(value)) {
            let mut longer = pairing.clone();
            longer.mine.push(missing);
            longer.theirs.push(value);
            open.push(longer);
        }
    }
    if tree.signature.theory == Theory::Equality {
        // Registers that keep their values are likelier.
        found.sort_by_key(|pairing| {
            pairing.mine.iter().map(|value| from.iter().position(|it| it == value)).collect::<Vec<_>>()
        });
    }
    found
}

/// The inputs from `above` down to `node`.
fn suffix_below(tree: &DataTree, above: DataNode, node: DataNode) -> DataWord {
    let skipped = tree.depth(above);
    tree.word_of_node(node).split_off(skipped)
}

/// The constants, `image` and the new values of `behind`.
fn number_values(tree: &DataTree, image: &[ValuePoint], behind: &[DataInput]) -> Vec<ValuePoint> {
    let mut known = [&tree.signature.constants[..], image].concat();
    for input in behind {
        tree.signature.places_of(&mut known, &input.values);
    }
    known
}

/// `answer` with values by their number among `known`.
fn answer_by_number(answer: &DataAnswer, known: &[ValuePoint]) -> DataAnswer {
    let number = |said: &AnswerValue| match *said {
        AnswerValue::Point(value) => {
            let at = known.iter().position(|&it| it == value);
            AnswerValue::Point(at.and_then(|at| ValuePoint::try_from(at).ok()).unwrap_or(-1))
        }
        AnswerValue::Literal(_) => *said,
    };
    DataAnswer { shape: answer.shape, values: answer.values.iter().map(number).collect() }
}

/// `answer` with numbers replaced by the values of `known`.
fn answer_in_values(answer: &DataAnswer, known: &[ValuePoint]) -> DataAnswer {
    let value = |said: &AnswerValue| match *said {
        AnswerValue::Point(number) => {
            let value = usize::try_from(number).ok().and_then(|number| known.get(number));
            value.map_or(*said, |&value| AnswerValue::Point(value))
        }
        AnswerValue::Literal(_) => *said,
    };
    DataAnswer { shape: answer.shape, values: answer.values.iter().map(value).collect() }
}
