//! The learner: grows the observation tree until it folds into one complete machine.
//!
//! It follows L# \[VGRW22, Algorithm 1]: a frontier node that is apart from all basis states becomes one, a move that
//! was never asked is asked, a counterexample is cut in halves until it shows that a frontier node is not the state it
//! was taken for. It is lazier than L#: every move is asked once, with an adaptive word behind it that tells most
//! basis states apart (`crate::adaptive`), and where that leaves several the likeliest is believed until something
//! speaks against it. What is left in doubt is asked before a hypothesis is tested ([`Learner::settle_next`]).
//!
//! *Promises.* Basis states are pairwise apart, so a hypothesis never has more states than the system. A hypothesis
//! agrees with everything in the tree. Every counterexample makes progress: a new state, or one candidate less for
//! a move.

mod settle;

pub use settle::SettlingStep;

use ioxide_fsm::mealy::{InputId, Mealy, OutputId, StateId};
use ioxide_fsm::reduce::LiveMachine;
use ioxide_fsm::word::{IoWord, Word};
use ioxide_model::index::Idx;

use crate::adaptive::Decisions;
use crate::fold::LearnerFold;
use crate::observer::{LearnError, SystemObserver};
use crate::tree::ObservationTree;

/// The number of times decisions are made again while all moves are asked once: after every tenth of them. They get
/// better with what is known, and making them takes time; chosen by feel.
const DECISIONS_PER_PASS: usize = 10;

/// The number of moves that a self-loop is worth when the likeliest target is chosen: in real systems most inputs
/// change nothing in most states. Chosen by feel; a wrong guess costs questions, never the answer.
const SELF_LOOP_BONUS: usize = 3;

/// A move: a basis state and an input.
type BasisMove = (StateId, InputId);

/// A word that was not answered as believed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnexpectedAnswer {
    /// The inputs and their answers, up to the first that was not expected.
    pub seen: IoWord,
    /// The answer believed in place of the last one seen.
    pub believed: OutputId,
}

/// A learner on an observation tree.
#[derive(Debug)]
pub struct Learner {
    fold: LearnerFold,
    decisions: Decisions,
    /// Moves asked since decisions were made; `None` if they have to be made.
    asked: Option<usize>,
    /// For each state the number of moves that are believed to lead to it.
    n_believed: Vec<usize>,
    /// The last word that contradicted a belief.
    surprise: Option<UnexpectedAnswer>,
}

impl Learner {
    /// A learner on `tree`, with its root as the only basis state.
    #[must_use]
    pub fn new(tree: &ObservationTree) -> Self {
        let (fold, decisions) = (LearnerFold::new(tree), Decisions::default());
        Self { fold, decisions, asked: None, n_believed: vec![0], surprise: None }
    }

    /// Returns the last word that was not answered as believed; `None` if every word was.
    #[must_use]
    pub fn last_surprise(&self) -> Option<&UnexpectedAnswer> {
        self.surprise.as_ref()
    }

    /// Returns the number of basis states: a lower bound on the states of the system.
    #[must_use]
    pub fn n_states(&self) -> usize {
        self.fold.n_states()
    }

    /// Asks until the tree folds into one complete machine that agrees with all of it.
    ///
    /// # Errors
    /// If the system cannot be queried, or contradicts itself.
    pub fn hypothesis<L: LiveMachine>(
        &mut self,
        observer: &mut SystemObserver<L>,
    ) -> Result<Mealy, LearnError<L::Error>> {
        loop {
            self.complete(observer)?;
            match self.find_inconsistency(&observer.tree) {
                Some(word) => self.learn_from_counterexample(observer, &word)?,
                None => return Ok(self.machine(&observer.tree)),
            }
        }
    }

    /// Asks until every move is believed to lead to a basis state; the machine may still contradict the rest of the
    /// tree.
    ///
    /// # Errors
    /// If the system cannot be queried, or contradicts itself.
    pub fn complete<L: LiveMachine>(
        &mut self,
        observer: &mut SystemObserver<L>,
    ) -> Result<(), LearnError<L::Error>> {
        let mut at = 0;
        while let Some(step) = self.fold.step_number(at) {
            let entry = self.fold.move_at(step);
            // Rules of Algorithm 1 in this order: extend (ask the move), identify (believe a state), promote (new
            // state).
            if entry.to.is_some() {
                at += 1;
                continue;
            }
            if entry.node.is_none() {
                self.explore_move(observer, step)?;
            }
            let suspects = self.suspected_targets(&observer.tree, step);
            match self.likeliest_target(step, &suspects) {
                Some(state) => self.set_target(step, Some(state)),
                None => {
                    self.resolve_move(observer, step)?;
                    // An earlier move may be open again.
                    at = 0;
                }
            }
        }
        Ok(())
    }

    fn set_target(&mut self, step: BasisMove, to: Option<StateId>) {
        let before = std::mem::replace(&mut self.fold.at_mut(step).to, to);
        if let Some(before) = before {
            self.n_believed[before.index()] -= 1;
        }
        if let Some(to) = to {
            self.n_believed[to.index()] += 1;
        }
    }

    /// The suspect that most moves lead to.
    fn likeliest_target(&self, (from, _): BasisMove, suspects: &[StateId]) -> Option<StateId> {
        let likely =
            |state: StateId| self.n_believed[state.index()] + if state == from { SELF_LOOP_BONUS } else { 0 };
        suspects.iter().copied().max_by_key(|&state| likely(state))
    }

    /// The states that the move may lead to by all that is known and predicted.
    fn suspected_targets(&mut self, tree: &ObservationTree, step: BasisMove) -> Vec<StateId> {
        let Some(node) = self.fold.move_at(step).node else { return Vec::new() };
        let mut suspects = self.possible_targets(tree, step);
        // "Predicted" is weaker than "apart": the answers below the node are compared with those that the machine as
        // believed gives from `state`, so beliefs that are wrong elsewhere can rule out the right state. `resolve_move`
        // sorts that out.
        suspects.retain(|&state| !self.fold.has_conflict(tree, node, state));
        suspects
    }

    /// The states that the move may lead to by all that is known: those its node is not apart from.
    fn possible_targets(&mut self, tree: &ObservationTree, step: BasisMove) -> Vec<StateId> {
        let Some(node) = self.fold.move_at(step).node else { return Vec::new() };
        // The tree only grows, so nodes once apart stay apart, and the table saves asking again.
        let mut apart = std::mem::take(&mut self.fold.at_mut(step).apart);
        apart.resize(self.fold.n_states(), false);
        let mut possible = Vec::new();
        for other in self.fold.states() {
            let known = &mut apart[other.index()];
            *known = *known || tree.are_apart(node, self.fold.basis[other]);
            if !*known {
                possible.push(other);
            }
        }
        self.fold.at_mut(step).apart = apart;
        possible
    }

    /// Asks a move that was never asked, with a word behind it that distinguishes states.
    fn explore_move<L: LiveMachine>(
        &mut self,
        observer: &mut SystemObserver<L>,
        step: BasisMove,
    ) -> Result<(), LearnError<L::Error>> {
        if self.asked.is_none_or(|asked| asked * DECISIONS_PER_PASS >= self.fold.n_moves()) {
            self.decisions.rebuild(&self.fold, &observer.tree);
            self.asked = Some(0);
        }
        self.asked = self.asked.map(|asked| asked + 1);
        let access = observer.tree.word_of_node(self.fold.basis[step.0]);
        let mut run = observer.start_run();
        run.step_word(&access)?;
        run.step(step.1)?;
        self.fold.at_mut(step).node = Some(run.current_node());
        // Where L# asks a separate word for every pair of states, one adaptive word follows the move at once, in the
        // same run.
        let mut at = Some(self.decisions.begin());
        while let Some(question) = at {
            let Some(input) = self.decisions.next_input(question) else { break };
            let output = run.step(input)?;
            at = self.decisions.place_after(question, output);
        }
        Ok(())
    }

    /// The move is predicted to lead to no state of the basis: it leads to a new one, or some prediction is wrong.
    fn resolve_move<L: LiveMachine>(
        &mut self,
        observer: &mut SystemObserver<L>,
        step: BasisMove,
    ) -> Result<(), LearnError<L::Error>> {
        let entry = self.fold.move_at(step);
        let Some(node) = entry.node else { return Ok(()) };
        let Some(other) = entry.apart.iter().position(|&apart| !apart).map(StateId::new) else {
            debug_assert!(self.fold.state_of(node).is_none(), "a basis node is not apart from itself");
            let new = self.fold.push_state(&observer.tree, node);
            self.n_believed.push(0);
            self.set_target(step, Some(new));
            self.asked = None;
            return Ok(());
        };
        // Not apart from `other`, yet predicted otherwise: ask the word at `other` itself. Either the two are apart
        // now, or a prediction about `other` was wrong, and its word is a counterexample.
        let Some(rest) = self.fold.find_conflict(&observer.tree, node, other) else { return Ok(()) };
        let mut word = observer.tree.word_of_node(self.fold.basis[other]);
        word.extend(&rest);
        observer.ask_word(&word)?;
        if observer.tree.are_apart(node, self.fold.basis[other]) {
            Ok(())
        } else {
            self.learn_from_counterexample(observer, &word)
        }
    }

    /// A shortest word of the tree that the machine answers differently.
    fn find_inconsistency(&self, tree: &ObservationTree) -> Option<Word> {
        // Breadth first over the tree and the machine side by side, so that the word found is a shortest one.
        let mut queue = vec![(tree.root(), StateId::new(0))];
        let mut at = 0;
        while at < queue.len() {
            let (node, state) = queue[at];
            for (input, kid) in tree.branches(node) {
                let entry = self.fold.move_at((state, input));
                let Some(expected) = entry.node else { continue };
                if tree.output(expected) != tree.output(kid) {
                    return Some(tree.word_of_node(kid));
                }
                queue.extend(entry.to.map(|to| (kid, to)));
            }
            at += 1;
        }
        None
    }

    /// The first answer on `word` that is not as believed.
    fn find_surprise(&self, tree: &ObservationTree, word: &[InputId]) -> Option<UnexpectedAnswer> {
        let (mut node, mut state) = (tree.root(), StateId::new(0));
        for &input in word {
            let entry = self.fold.move_at((state, input));
            node = tree.child(node, input)?;
            let believed = tree.output(entry.node?);
            if tree.output(node) != believed {
                return Some(UnexpectedAnswer { seen: tree.trace(node), believed });
            }
            state = entry.to?;
        }
        None
    }

    /// Returns the number of inputs of `word` before the first that is not answered as believed or leads to no
    /// believed state; `None` if there is none, or if the tree or the beliefs end before it.
    fn count_believed_inputs(&self, tree: &ObservationTree, word: &[InputId]) -> Option<usize> {
        let (mut node, mut state) = (tree.root(), StateId::new(0));
        for (i, &input) in word.iter().enumerate() {
            let entry = self.fold.move_at((state, input));
            let (kid, expected) = (tree.child(node, input)?, entry.node?);
            let Some(to) = entry.to.filter(|_| tree.output(kid) == tree.output(expected)) else {
                return Some(i);
            };
            (node, state) = (kid, to);
        }
        None
    }

    /// Asks `word` up to the first answer that is not as believed and returns the number of inputs given; `None` if
    /// all answers were as believed or the beliefs end on the way.
    ///
    /// # Errors
    /// If the system cannot be queried, or contradicts itself.
    pub fn test<L: LiveMachine>(
        &self,
        observer: &mut SystemObserver<L>,
        word: &[InputId],
    ) -> Result<Option<usize>, LearnError<L::Error>> {
        let mut state = StateId::new(0);
        let mut run = observer.start_run();
        for (i, &input) in word.iter().enumerate() {
            let output = run.step(input)?;
            let entry = self.fold.move_at((state, input));
            let (Some(expected), Some(to)) = (entry.node, entry.to) else { return Ok(None) };
            if output != run.tree().output(expected) {
                return Ok(Some(i + 1));
            }
            state = to;
        }
        Ok(None)
    }

    /// Learns from a word of the tree that is not answered as believed: afterwards some move is known not to lead
    /// where it was believed to lead.
    ///
    /// # Errors
    /// If the system cannot be queried, or contradicts itself.
    pub fn learn_from_counterexample<L: LiveMachine>(
        &mut self,
        observer: &mut SystemObserver<L>,
        word: &[InputId],
    ) -> Result<(), LearnError<L::Error>> {
        let Some(length) = self.count_believed_inputs(&observer.tree, word) else { return Ok(()) };
        self.surprise = self.find_surprise(&observer.tree, word).or(self.surprise.take());
        let mut word = word[..length].to_vec();
        loop {
            let (border, step) = self.leave_basis_at(&word);
            // The word leaves the basis by its last input: the node behind that move is apart from the state it was
            // taken for, which is what was looked for. Otherwise go on in the middle of the part outside the basis, as
            // [RivestSchapire93]: a logarithm of questions instead of one for each input.
            if border >= word.len() {
                self.set_target(step, None);
                return Ok(());
            }
            let half = border.midpoint(word.len());
            let Some(shorter) = self.halve_counterexample(observer, &word, half)? else { return Ok(()) };
            word = shorter;
        }
    }

    /// Returns a word that, as `word` does, leads to a node which is apart from the state it is believed to be, and
    /// is nearer to the basis; `None` if beliefs or the tree end on the way.
    fn halve_counterexample<L: LiveMachine>(
        &self,
        observer: &mut SystemObserver<L>,
        word: &[InputId],
        half: usize,
    ) -> Result<Option<Word>, LearnError<L::Error>> {
        let start = StateId::new(0);
        let root = observer.tree.root();
        let (Some(state), Some(middle)) = (self.fold.run(start, word), self.fold.run(start, &word[..half]))
        else {
            return Ok(None);
        };
        let (Some(node), Some(reached)) =
            (observer.tree.node_after(root, word), observer.tree.node_after(root, &word[..half]))
        else {
            return Ok(None);
        };
        let Some(witness) = observer.tree.separating_word(self.fold.basis[state], node) else {
            return Ok(None);
        };
        // Replace the first half by the access word of the state it is believed to lead to. If the witness is still
        // answered as by `node`, the fault is in the second half, and the shorter word shows it; else the two are apart
        // already after the first half.
        let mut shorter = observer.tree.word_of_node(self.fold.basis[middle]);
        shorter.extend(&word[half..]);
        let length = shorter.len();
        shorter.extend(&witness);
        observer.ask_word(&shorter)?;
        if observer.tree.are_apart(self.fold.basis[middle], reached) {
            return Ok(Some(word[..half].to_vec()));
        }
        shorter.truncate(length);
        Ok(Some(shorter))
    }

    /// Returns the number of inputs after which `word` leaves the basis, and the move by which it does; its length
    /// and last move if it stays within.
    fn leave_basis_at(&self, word: &[InputId]) -> (usize, BasisMove) {
        let mut last = (StateId::new(0), InputId::new(0));
        let mut state = last.0;
        for (i, &input) in word.iter().enumerate() {
            last = (state, input);
            let entry = self.fold.move_at(last);
            match (entry.node, entry.to) {
                (Some(node), Some(to)) if self.fold.basis[to] == node => state = to,
                _ => return (i + 1, last),
            }
        }
        (word.len(), last)
    }

    /// The machine as it is believed now; complete after [`complete`](Self::complete).
    #[must_use]
    pub fn machine(&self, tree: &ObservationTree) -> Mealy {
        let steps = (0..).map_while(|at| self.fold.step_number(at));
        let edge = |step| {
            let entry = self.fold.move_at(step);
            entry.to.zip(entry.node).map(|(to, node)| (to.index(), tree.output(node).index()))
        };
        let table: Vec<Option<(usize, usize)>> = steps.map(edge).collect();
        let n_outputs = table.iter().flatten().map(|&(_, output)| output + 1).max().unwrap_or(1);
        Mealy::from_table(self.fold.n_states(), tree.n_inputs(), n_outputs, &table)
            .expect("moves lead to basis states and have outputs")
    }
}
