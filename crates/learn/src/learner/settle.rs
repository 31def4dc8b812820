//! Settling: asking until the assumed target of every move is certain.
//!
//! A move is in *doubt* while more than one basis state is not apart from the node it leads to. A question is a word
//! that tells the believed state from most of the others for its cost, by what was answered after their basis nodes,
//! and it goes on as long as those answers distinguish some. The node is then apart from the believed state or from
//! another one, because two basis states cannot both answer a witness of theirs as the node did \[VGRW22, Lemma 2.7].
//!
//! *Promise.* Where no doubt is left, the hypothesis is the system if that has no more states than the basis: a move
//! leads to one of them, and one is left. So whatever speaks against a settled hypothesis shows a new state.

use ioxide_fsm::mealy::{InputId, StateId};
use ioxide_fsm::reduce::LiveMachine;
use ioxide_fsm::word::Word;

use super::{BasisMove, Learner};
use crate::observer::{LearnError, SystemObserver};
use crate::tree::{LearnTreeNode, ObservationTree};

/// The outcome of one step of settling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettlingStep {
    /// No move is in doubt.
    Settled,
    /// A question was answered as believed: there is less doubt.
    Asked,
    /// The hypothesis was contradicted, and another is believed now.
    Changed,
}

/// A basis state that the node may be, and its node after the question so far.
type DoubtToken = (StateId, LearnTreeNode);

impl Learner {
    /// Asks one question about a move in doubt. `at` is the number of the move to begin with, and then of the one that
    /// was asked about.
    ///
    /// # Errors
    /// If the system cannot be queried, or contradicts itself.
    pub fn settle_next<L: LiveMachine>(
        &mut self,
        observer: &mut SystemObserver<L>,
        at: &mut usize,
    ) -> Result<SettlingStep, LearnError<L::Error>> {
        for _ in 0..self.fold.n_moves() {
            // Round and round, beginning where the last question was: that move may still be in doubt.
            let step = self.fold.step_number(*at).or_else(|| {
                *at = 0;
                self.fold.step_number(0)
            });
            let Some(step) = step else { break };
            if let Some((believed, possible)) = self.doubted_targets(&observer.tree, step) {
                return self.ask_question(observer, step, believed, &possible);
            }
            *at += 1;
        }
        Ok(SettlingStep::Settled)
    }

    /// Returns the number of moves: basis states times inputs.
    #[must_use]
    pub fn n_moves(&self) -> usize {
        self.fold.n_moves()
    }

    /// Returns the state that the move is believed to lead to and the states that the answers leave possible; `None`
    /// if the move is not in doubt.
    fn doubted_targets(
        &mut self,
        tree: &ObservationTree,
        step: BasisMove,
    ) -> Option<(StateId, Vec<StateId>)> {
        let entry = self.fold.move_at(step);
        let (node, believed) = (entry.node?, entry.to?);
        // A node of the basis is that state, whatever else it has not been distinguished from.
        if self.fold.state_of(node).is_some() {
            return None;
        }
        let possible = self.possible_targets(tree, step);
        (possible != [believed]).then_some((believed, possible))
    }

    fn ask_question<L: LiveMachine>(
        &mut self,
        observer: &mut SystemObserver<L>,
        step: BasisMove,
        believed: StateId,
        possible: &[StateId],
    ) -> Result<SettlingStep, LearnError<L::Error>> {
        // The believed state may be apart by now, by answers to questions about other moves; then nothing has to be
        // asked.
        if possible.contains(&believed) {
            let mut word = observer.tree.word_of_node(self.fold.basis[step.0]);
            word.push(step.1);
            self.extend_question(&observer.tree, &mut word, believed, possible);
            match self.test(observer, &word)? {
                None => return Ok(SettlingStep::Asked),
                Some(length) => self.learn_from_counterexample(observer, &word[..length])?,
            }
        } else {
            self.set_target(step, None);
        }
        self.complete(observer)?;
        Ok(SettlingStep::Changed)
    }

    /// Extends `word`, which takes the move, by inputs that tell `believed` from the other possible states.
    fn extend_question(
        &self,
        tree: &ObservationTree,
        word: &mut Word,
        believed: StateId,
        possible: &[StateId],
    ) {
        let others = possible.iter().filter(|&&state| state != believed);
        let mut others: Vec<DoubtToken> = others.map(|&state| (state, self.fold.basis[state])).collect();
        let mut here = self.fold.basis[believed];
        // The cost of the question so far, a reset included, is shared by what the first witness distinguishes; once
        // the run is under way, further symbols only have to pay for themselves.
        let mut so_far = word.len() + 1;
        while let Some(next) = best_witness(tree, here, &others, so_far) {
            for &input in &next {
                let Some(kid) = tree.child(here, input) else { return };
                others.retain_mut(|(_, node)| match tree.child(*node, input) {
                    Some(twin) => {
                        *node = twin;
                        tree.output(twin) == tree.output(kid)
                    }
                    // Never asked there: it tells nothing about this one, here or further on.
                    None => false,
                });
                here = kid;
            }
            word.extend(next);
            so_far = 0;
        }
    }
}

/// Returns the witness that distinguishes `here` from most of `others` per symbol, `so_far` symbols being added to its
/// length.
fn best_witness(
    tree: &ObservationTree,
    here: LearnTreeNode,
    others: &[DoubtToken],
    so_far: usize,
) -> Option<Word> {
    let mut best: Option<(f64, Word)> = None;
    for &(_, node) in others {
        let Some(word) = tree.separating_word(here, node) else { continue };
        let told = others.iter().filter(|(_, other)| tells_apart(tree, here, *other, &word)).count();
        let value = told as f64 / (so_far + word.len()) as f64;
        if best.as_ref().is_none_or(|(most, _)| value > *most) {
            best = Some((value, word));
        }
    }
    best.map(|(_, word)| word)
}

/// Returns whether `word` was asked after both nodes up to an answer that differs.
fn tells_apart(
    tree: &ObservationTree,
    mut first: LearnTreeNode,
    mut second: LearnTreeNode,
    word: &[InputId],
) -> bool {
    for &input in word {
        let (Some(a), Some(b)) = (tree.child(first, input), tree.child(second, input)) else { return false };
        if tree.output(a) != tree.output(b) {
            return true;
        }
        (first, second) = (a, b);
    }
    false
}
