//! Asking a system, with the observation tree as memory.
//!
//! A word is first followed in the tree; only where the tree ends is the system reset, brought there, and asked on.
//! So nothing is asked twice, and what is known costs nothing.
//!
//! *Promise.* Everything the system answers is in the tree, and the answers on the way to what is new are compared
//! with it: a system that answers one word in two ways is a [`Disagreement`], with both runs.

use ioxide_fsm::mealy::{InputId, OutputId};
use ioxide_fsm::reduce::LiveMachine;
use ioxide_fsm::word::{IoWord, Word};
use thiserror::Error;

use crate::tree::{LearnTreeNode, ObservationTree};

/// The cost of asking a system.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LearningEffort {
    /// The number of resets.
    pub resets: u64,
    /// The number of inputs given.
    pub symbols: u64,
}

impl LearningEffort {
    /// The sum of two efforts.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self { resets: self.resets + other.resets, symbols: self.symbols + other.symbols }
    }

    /// Resets and symbols together.
    #[must_use]
    pub fn total(self) -> u64 {
        self.resets + self.symbols
    }
}

/// Two runs over the same inputs with different answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Disagreement {
    /// The run seen earlier, up to the answer that differs.
    pub before: IoWord,
    /// The run seen now: the same inputs, and the same answers but the last.
    pub now: IoWord,
}

impl Disagreement {
    /// The disagreement between `output` and the answer of `node` in `tree`.
    fn from_contradiction(tree: &ObservationTree, node: LearnTreeNode, output: OutputId) -> Self {
        let before = tree.trace(node);
        let mut now = before.clone();
        if let Some(last) = now.last_mut() {
            last.1 = output;
        }
        Self { before, now }
    }
}

/// The reason why learning cannot go on.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum LearnError<E> {
    /// The connection broke.
    #[error("the system cannot be queried")]
    System(E),
    /// The system is not deterministic, as far as its inputs show.
    #[error("the system gives two different replies to the same inputs")]
    Disagrees(Box<Disagreement>),
}

/// A system and all that is known of it.
#[derive(Clone, Debug)]
pub struct SystemObserver<L> {
    /// The system.
    pub live: L,
    /// The answers of the system, asked or recalled.
    pub tree: ObservationTree,
    /// The cost of asking so far.
    pub effort: LearningEffort,
    /// The outputs that close the conversation: the node behind them is a sink.
    closed: Vec<OutputId>,
    /// Answers from earlier sessions and of copies of the system, which are given in its place.
    memory: Option<ObservationTree>,
}

impl<L: LiveMachine> SystemObserver<L> {
    /// An observer of `live` that knows nothing yet; `closed` are the outputs that close the conversation.
    pub fn new(live: L, n_inputs: usize, closed: Vec<OutputId>) -> Self {
        Self {
            live,
            tree: ObservationTree::new(n_inputs),
            effort: LearningEffort::default(),
            closed,
            memory: None,
        }
    }

    /// Empties the tree; `memory` answers from now on in the place of the system as far as it goes.
    ///
    /// A learner that asks the same questions again gets the same answers, and goes on where the memory ends.
    pub fn restart(&mut self, memory: ObservationTree) {
        self.tree = ObservationTree::new(memory.n_inputs());
        self.memory = Some(memory);
    }

    /// Lets copies of the system answer `words` at the same time, so that the answers are known when they are asked
    /// for. Does nothing if there are no copies.
    ///
    /// # Errors
    /// If the system cannot be queried, or contradicts itself.
    pub fn ask_ahead<'w>(
        &mut self,
        words: impl Iterator<Item = &'w [InputId]>,
    ) -> Result<(), LearnError<L::Error>> {
        if self.live.width() < 2 {
            return Ok(());
        }
        let unknown: Vec<Word> = words.filter(|word| !self.is_known(word)).map(<[InputId]>::to_vec).collect();
        let runs = self.live.ask_all(&unknown).map_err(LearnError::System)?;
        for run in runs {
            self.effort = self.effort.plus(LearningEffort { resets: 1, symbols: run.len() as u64 });
            self.remember_run(&run).map_err(LearnError::Disagrees)?;
        }
        Ok(())
    }

    /// Returns whether all of `word` can be answered without the system.
    fn is_known(&self, word: &[InputId]) -> bool {
        let mut node = self.tree.root();
        for (at, &input) in word.iter().enumerate() {
            match self.tree.child(node, input) {
                Some(kid) => node = kid,
                None => {
                    let Some(memory) = &self.memory else { return false };
                    let there = memory.node_after(memory.root(), &word[..at]);
                    return there.is_some_and(|there| memory.node_after(there, &word[at..]).is_some());
                }
            }
        }
        true
    }

    /// Adds a run of a copy of the system to the memory, up to an answer that closes the conversation.
    fn remember_run(&mut self, run: &[(InputId, OutputId)]) -> Result<(), Box<Disagreement>> {
        // Behind an answer that closes the conversation every input is answered alike; a copy that was asked more knows
        // nothing.
        let over = run.iter().position(|(_, output)| self.closed.contains(output));
        let run = &run[..over.map_or(run.len(), |at| at + 1)];
        // Into the memory, not into the tree: the tree grows in the order of the questions, so that a learner with
        // copies learns the same machine as one without. But a contradiction to the tree is noticed at once.
        let mut node = self.tree.root();
        for &(input, output) in run {
            match self.tree.child(node, input) {
                Some(kid) if self.tree.output(kid) == output => node = kid,
                Some(kid) => return Err(Box::new(Disagreement::from_contradiction(&self.tree, kid, output))),
                None => break,
            }
        }
        let n_inputs = self.tree.n_inputs();
        let memory = self.memory.get_or_insert_with(|| ObservationTree::new(n_inputs));
        let noted = memory.insert_run(run);
        noted.map(drop).map_err(|node| {
            let at = memory.depth(node) - 1;
            Box::new(Disagreement::from_contradiction(memory, node, run[at].1))
        })
    }

    /// Everything that was answered, remembered or asked.
    #[must_use]
    pub fn all_answers(&self) -> ObservationTree {
        let mut known = self.memory.clone().unwrap_or_else(|| ObservationTree::new(self.tree.n_inputs()));
        known.merge_from(&self.tree);
        known
    }

    /// Returns the answer to `input` after `node` in the memory.
    fn recall_answer(&self, node: LearnTreeNode, input: InputId) -> Option<OutputId> {
        let memory = self.memory.as_ref()?;
        let there = memory.node_after(memory.root(), &self.tree.word_of_node(node))?;
        memory.child(there, input).map(|kid| memory.output(kid))
    }

    fn record_answer(
        &mut self,
        node: LearnTreeNode,
        input: InputId,
        output: OutputId,
    ) -> Result<LearnTreeNode, Box<Disagreement>> {
        match self.tree.child(node, input) {
            Some(kid) if self.tree.output(kid) == output => Ok(kid),
            Some(kid) => Err(Box::new(Disagreement::from_contradiction(&self.tree, kid, output))),
            None => Ok(self.tree.grow_child(node, input, output, self.closed.contains(&output))),
        }
    }

    /// Begins a run at the empty word; the system is not touched before it must be.
    pub fn start_run(&mut self) -> ObservedRun<'_, L> {
        let at = self.tree.root();
        ObservedRun { observer: self, at, reached: None }
    }

    /// Asks all of `word` and returns the node it leads to.
    ///
    /// # Errors
    /// If the system cannot be queried, or contradicts itself.
    pub fn ask_word(&mut self, word: &[InputId]) -> Result<LearnTreeNode, LearnError<L::Error>> {
        let mut run = self.start_run();
        for &input in word {
            run.step(input)?;
        }
        Ok(run.current_node())
    }
}

/// A run: its node in the tree, and the node that the system has reached, if it was needed.
#[derive(Debug)]
pub struct ObservedRun<'o, L> {
    observer: &'o mut SystemObserver<L>,
    at: LearnTreeNode,
    reached: Option<LearnTreeNode>,
}

impl<L: LiveMachine> ObservedRun<'_, L> {
    /// Returns the current node of the run.
    #[must_use]
    pub fn current_node(&self) -> LearnTreeNode {
        self.at
    }

    /// The tree of the observer.
    #[must_use]
    pub fn tree(&self) -> &ObservationTree {
        &self.observer.tree
    }

    /// Goes on with `input` and returns the answer; the system is asked only if it is not known.
    ///
    /// # Errors
    /// If the system cannot be queried, or contradicts itself.
    pub fn step(&mut self, input: InputId) -> Result<OutputId, LearnError<L::Error>> {
        let known = self.observer.tree.child(self.at, input);
        let recalled = if known.is_none() { self.observer.recall_answer(self.at, input) } else { None };
        self.at = match (known, recalled) {
            (Some(kid), _) => kid,
            (None, Some(output)) => {
                self.observer.record_answer(self.at, input, output).map_err(LearnError::Disagrees)?
            }
            // Only here the system is needed: it is brought along the inputs that were answered without it.
            (None, None) => {
                self.catch_up()?;
                let kid = self.give_input(self.at, input)?;
                self.reached = Some(kid);
                kid
            }
        };
        Ok(self.observer.tree.output(self.at))
    }

    /// Goes on with all of `word`.
    ///
    /// # Errors
    /// As for [`step`](Self::step).
    pub fn step_word(&mut self, word: &[InputId]) -> Result<(), LearnError<L::Error>> {
        word.iter().try_for_each(|&input| self.step(input).map(drop))
    }

    /// Brings the system to the node of the run, with a reset if it was not used yet.
    fn catch_up(&mut self) -> Result<(), LearnError<L::Error>> {
        let mut node = match self.reached {
            Some(node) => node,
            None => {
                self.observer.effort.resets += 1;
                self.observer.live.reset().map_err(LearnError::System)?;
                self.observer.tree.root()
            }
        };
        let way: Word =
            self.observer.tree.trace_between(node, self.at).into_iter().map(|(input, _)| input).collect();
        for input in way {
            // Known answers are compared again on the way, so that a system that is not deterministic is noticed.
            node = self.give_input(node, input)?;
        }
        Ok(())
    }

    fn give_input(
        &mut self,
        node: LearnTreeNode,
        input: InputId,
    ) -> Result<LearnTreeNode, LearnError<L::Error>> {
        self.observer.effort.symbols += 1;
        let output = self.observer.live.step(input).map_err(LearnError::System)?;
        self.observer.record_answer(node, input, output).map_err(LearnError::Disagrees)
    }
}
