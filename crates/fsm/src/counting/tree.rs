//! The words of a suite as a tree, with the state of the machine at every node.

use crate::mealy::{InputId, Mealy, StateId};
use crate::word::Word;

/// A tree of words that `machine` answers.
#[derive(Debug)]
pub struct WordTree<'m> {
    machine: &'m Mealy,
    nodes: Vec<WordTreeNode>,
}

#[derive(Debug)]
struct WordTreeNode {
    state: StateId,
    kids: Vec<(InputId, usize)>,
}

impl<'m> WordTree<'m> {
    /// The tree of the empty word: node 0.
    pub fn new(machine: &'m Mealy) -> Self {
        Self { machine, nodes: vec![WordTreeNode { state: machine.initial(), kids: Vec::new() }] }
    }

    /// The state of the machine at `node`.
    pub fn state(&self, node: usize) -> StateId {
        self.nodes[node].state
    }

    /// Returns the number of symbols in the tree; symbols of a shared prefix count once.
    pub fn symbols(&self) -> usize {
        self.nodes.len() - 1
    }

    /// The node after `input` from `node`, if the tree has it.
    pub fn child(&self, node: usize, input: InputId) -> Option<usize> {
        self.nodes[node].kids.iter().find(|&&(x, _)| x == input).map(|&(_, kid)| kid)
    }

    /// The inputs that the tree holds after `node`, with the nodes they lead to.
    pub fn children(&self, node: usize) -> &[(InputId, usize)] {
        &self.nodes[node].kids
    }

    /// The node after `input` from `node`, made if need be; the same node if the machine has no answer.
    pub fn add(&mut self, node: usize, input: InputId) -> usize {
        if let Some(kid) = self.child(node, input) {
            return kid;
        }
        let Some(edge) = self.machine.edge(self.nodes[node].state, input) else { return node };
        self.nodes.push(WordTreeNode { state: edge.next, kids: Vec::new() });
        let kid = self.nodes.len() - 1;
        self.nodes[node].kids.push((input, kid));
        kid
    }

    /// Returns whether some word that the tree holds behind both nodes is answered differently.
    pub fn separates(&self, a: usize, b: usize) -> bool {
        let (p, q) = (&self.nodes[a], &self.nodes[b]);
        p.state != q.state && p.kids.iter().any(|&(input, next)| self.separates_by(a, b, input, next))
    }

    fn separates_by(&self, a: usize, b: usize, input: InputId, next: usize) -> bool {
        let Some(other) = self.child(b, input) else { return false };
        let answer = |node: usize| self.machine.edge(self.nodes[node].state, input).map(|edge| edge.output);
        answer(a) != answer(b) || self.separates(next, other)
    }

    /// Returns the number of symbols that `word` adds behind both nodes, plus three for each node where it starts a
    /// new test.
    pub fn added_cost(&self, a: usize, b: usize, word: &[InputId]) -> usize {
        self.count_missing_symbols(a, word) + self.count_missing_symbols(b, word)
    }

    fn count_missing_symbols(&self, node: usize, word: &[InputId]) -> usize {
        let mut at = node;
        for (done, &input) in word.iter().enumerate() {
            match self.child(at, input) {
                Some(kid) => at = kid,
                // At a leaf the word continues a test; elsewhere it branches off and needs a reset, priced at three
                // symbols by feel.
                None if self.nodes[at].kids.is_empty() => return word.len() - done,
                None => return word.len() - done + 3,
            }
        }
        0
    }

    /// The words from the root to the leaves, in a fixed order.
    pub fn leaf_words(&self) -> Vec<Word> {
        let mut words = Vec::new();
        let mut stack = vec![(0, Word::new())];
        while let Some((node, word)) = stack.pop() {
            if self.nodes[node].kids.is_empty() && !word.is_empty() {
                words.push(word.clone());
            }
            for &(input, kid) in self.nodes[node].kids.iter().rev() {
                stack.push((kid, [word.as_slice(), &[input]].concat()));
            }
        }
        words
    }
}
