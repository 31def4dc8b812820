//! The observation tree: everything a system has answered, by input word.
//!
//! Two nodes are *apart* if some word was asked after both and answered differently; the word is a *witness*. Nodes
//! that are apart are reached by words that lead to different states, whatever else the system does
//! \[VGRW22, Definition 2.6].
//!
//! An output that closes the conversation is a *sink*: the node behind it answers every input with the same
//! output and stays, so nothing is asked there.
//!
//! *Promise.* Knowledge only grows: a node keeps its output, and an answer that contradicts it is an error of the
//! caller, never an overwrite.

use ioxide_fsm::mealy::{InputId, OutputId};
use ioxide_fsm::word::{IoWord, Word};
use ioxide_model::index;
use ioxide_model::index::{Idx, IndexVec};

index! { /// A node of an observation tree: the word that leads to it.
pub struct LearnTreeNode; }

#[derive(Clone, Copy, Debug)]
enum Branches {
    None,
    One(InputId, LearnTreeNode),
    /// The start of the node's row, with an entry for each input, in the arena of rows.
    Many(u32),
}

#[derive(Clone, Copy, Debug)]
struct ObservedAnswer {
    parent: LearnTreeNode,
    via: InputId,
    output: OutputId,
    depth: u32,
    is_sink: bool,
    branches: Branches,
}

/// The answers of a system, as a tree of inputs and outputs.
#[derive(Clone, Debug)]
pub struct ObservationTree {
    n_inputs: usize,
    nodes: IndexVec<LearnTreeNode, ObservedAnswer>,
    rows: Vec<Option<LearnTreeNode>>,
}

impl ObservationTree {
    /// The tree of the empty word, for a system with this many inputs.
    #[must_use]
    pub fn new(n_inputs: usize) -> Self {
        // The root has no last input and no output; its entries are never read, because every walk up ends at the root.
        let root = ObservedAnswer {
            parent: LearnTreeNode::new(0),
            via: InputId::new(0),
            output: OutputId::new(0),
            depth: 0,
            is_sink: false,
            branches: Branches::None,
        };
        Self { n_inputs, nodes: [root].into_iter().collect(), rows: Vec::new() }
    }

    /// The empty word.
    #[must_use]
    pub fn root(&self) -> LearnTreeNode {
        LearnTreeNode::new(0)
    }

    /// Returns the number of words in the tree, the empty one included.
    #[must_use]
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Returns whether only the empty word is known.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.nodes.len() == 1
    }

    /// Returns the size of the input alphabet.
    #[must_use]
    pub fn n_inputs(&self) -> usize {
        self.n_inputs
    }

    /// The last output on the way to `node`; that of the root means nothing.
    #[inline]
    #[must_use]
    pub fn output(&self, node: LearnTreeNode) -> OutputId {
        self.nodes[node].output
    }

    /// Returns the length of the word that leads to `node`.
    #[must_use]
    pub fn depth(&self, node: LearnTreeNode) -> usize {
        self.nodes[node].depth as usize
    }

    /// Returns the node after `input`, if that was asked; a sink leads to itself.
    #[inline]
    #[must_use]
    pub fn child(&self, node: LearnTreeNode, input: InputId) -> Option<LearnTreeNode> {
        let observed = &self.nodes[node];
        // The system has closed the conversation: it gives the same output whatever is sent, so nothing needs to be
        // stored.
        if observed.is_sink {
            return Some(node);
        }
        match observed.branches {
            Branches::One(only, kid) if only == input => Some(kid),
            Branches::None | Branches::One(..) => None,
            Branches::Many(row) => self.rows[row as usize + input.index()],
        }
    }

    /// The node after `word`, if all of it was asked.
    #[must_use]
    pub fn node_after(&self, node: LearnTreeNode, word: &[InputId]) -> Option<LearnTreeNode> {
        word.iter().try_fold(node, |node, &input| self.child(node, input))
    }

    /// Notes that `node` answers `input` with `output` and returns the new node, a sink if `is_sink`.
    ///
    /// The answer must be new: see [`child`](Self::child).
    pub fn grow_child(
        &mut self,
        node: LearnTreeNode,
        input: InputId,
        output: OutputId,
        is_sink: bool,
    ) -> LearnTreeNode {
        debug_assert!(self.child(node, input).is_none(), "knowledge only grows");
        let depth = self.nodes[node].depth + 1;
        let branches = Branches::None;
        let kid =
            self.nodes.push(ObservedAnswer { parent: node, via: input, output, depth, is_sink, branches });
        match self.nodes[node].branches {
            Branches::None => self.nodes[node].branches = Branches::One(input, kid),
            Branches::One(only, other) => {
                // Most nodes lie on a single test and have one child; a row for all inputs is made only where
                // words part.
                let row = self.rows.len();
                self.rows.resize(row + self.n_inputs, None);
                self.rows[row + only.index()] = Some(other);
                self.rows[row + input.index()] = Some(kid);
                let row = u32::try_from(row).expect("fewer than 2^32 branches");
                self.nodes[node].branches = Branches::Many(row);
            }
            Branches::Many(row) => self.rows[row as usize + input.index()] = Some(kid),
        }
        kid
    }

    /// Notes a run; the node it leads to, or the node whose answer it contradicts.
    ///
    /// # Errors
    /// If an answer is not what is known.
    pub fn insert_run(&mut self, trace: &[(InputId, OutputId)]) -> Result<LearnTreeNode, LearnTreeNode> {
        let mut node = self.root();
        for &(input, output) in trace {
            node = match self.child(node, input) {
                Some(kid) if self.output(kid) == output => kid,
                // The system has answered this word in another way before. Which answer is right is for the caller to
                // find out.
                Some(kid) => return Err(kid),
                None => self.grow_child(node, input, output, false),
            };
        }
        Ok(node)
    }

    /// The same tree without `lost` and what follows it.
    #[must_use]
    pub fn without_inputs(&self, lost: &[InputId]) -> Self {
        let mut kept = Self::new(self.n_inputs);
        // Nodes cannot be removed from the arena, so the tree is copied without the branch.
        let lost = self.node_after(self.root(), lost);
        let mut open = vec![(self.root(), kept.root())];
        while let Some((node, copy)) = open.pop() {
            for (input, kid) in self.branches(node).filter(|(_, kid)| Some(*kid) != lost) {
                open.push((kid, kept.grow_child(copy, input, self.output(kid), self.is_sink(kid))));
            }
        }
        kept
    }

    /// Takes over what `other` knows and this tree does not.
    pub fn merge_from(&mut self, other: &Self) {
        let mut open = vec![(other.root(), self.root())];
        while let Some((theirs, mine)) = open.pop() {
            for (input, kid) in other.branches(theirs) {
                let here = match self.child(mine, input) {
                    Some(here) => here,
                    None => self.grow_child(mine, input, other.output(kid), other.is_sink(kid)),
                };
                open.push((kid, here));
            }
        }
    }

    /// The longest runs that are known.
    #[must_use]
    pub fn runs(&self) -> Vec<IoWord> {
        // Every word is the beginning of one that ends in a leaf, so the runs to the leaves hold all that is known.
        let nodes = (1..self.nodes.len()).map(LearnTreeNode::new);
        nodes.filter(|&node| self.branches(node).next().is_none()).map(|node| self.trace(node)).collect()
    }

    /// The inputs asked after `node`, with the nodes they lead to.
    pub fn branches(&self, node: LearnTreeNode) -> impl Iterator<Item = (InputId, LearnTreeNode)> + '_ {
        let (one, row) = match self.nodes[node].branches {
            Branches::None => (None, &[][..]),
            Branches::One(input, kid) => (Some((input, kid)), &[][..]),
            Branches::Many(row) => (None, &self.rows[row as usize..row as usize + self.n_inputs]),
        };
        let of_row = row.iter().enumerate().filter_map(|(i, kid)| Some((InputId::new(i), (*kid)?)));
        one.into_iter().chain(of_row)
    }

    /// The word that leads to `node`.
    #[must_use]
    pub fn word_of_node(&self, node: LearnTreeNode) -> Word {
        self.trace(node).into_iter().map(|(input, _)| input).collect()
    }

    /// The word that leads to `node`, with its answers.
    #[must_use]
    pub fn trace(&self, node: LearnTreeNode) -> IoWord {
        self.trace_between(self.root(), node)
    }

    /// The inputs and answers from `above` down to `node`.
    #[must_use]
    pub fn trace_between(&self, above: LearnTreeNode, node: LearnTreeNode) -> IoWord {
        debug_assert!(self.depth(above) <= self.depth(node), "`above` is on the way to `node`");
        let mut trace = IoWord::new();
        let mut at = node;
        while at != above {
            let observed = &self.nodes[at];
            trace.push((observed.via, observed.output));
            at = observed.parent;
        }
        trace.reverse();
        trace
    }

    fn is_sink(&self, node: LearnTreeNode) -> bool {
        self.nodes[node].is_sink
    }

    /// A shortest word that was asked after both nodes and answered differently.
    #[must_use]
    pub fn separating_word(&self, first: LearnTreeNode, second: LearnTreeNode) -> Option<Word> {
        // Breadth first over pairs of nodes, so that the first difference is at the end of a shortest word. Each entry
        // has the place of the entry before it, from which the word is read off.
        let mut queue = vec![(first, second, InputId::new(0), 0)];
        let mut at = 0;
        while at < queue.len() {
            let (a, b, ..) = queue[at];
            // Only inputs asked after both count, so the branches of one are walked. A sink has none of its own
            // and answers all, so the other one is walked then.
            let (walked, other) = if self.is_sink(a) { (b, a) } else { (a, b) };
            for (input, kid) in self.branches(walked) {
                let Some(twin) = self.child(other, input) else { continue };
                if self.output(kid) != self.output(twin) {
                    return Some(path_of_search(&queue, at, input));
                }
                queue.push((kid, twin, input, at));
            }
            at += 1;
        }
        None
    }

    /// Returns whether some word was asked after both nodes and answered differently.
    #[must_use]
    pub fn are_apart(&self, first: LearnTreeNode, second: LearnTreeNode) -> bool {
        // Which word separates the nodes does not matter here, so depth first will do: it needs no queue of the whole
        // level.
        let mut open = vec![(first, second)];
        while let Some((a, b)) = open.pop() {
            let (walked, other) = if self.is_sink(a) { (b, a) } else { (a, b) };
            for (input, kid) in self.branches(walked) {
                let Some(twin) = self.child(other, input) else { continue };
                if self.output(kid) != self.output(twin) {
                    return true;
                }
                open.push((kid, twin));
            }
        }
        false
    }
}

/// The inputs that led to entry `at` of a breadth-first search, and one more.
fn path_of_search(
    queue: &[(LearnTreeNode, LearnTreeNode, InputId, usize)],
    at: usize,
    last: InputId,
) -> Word {
    let mut word = vec![last];
    let mut at = at;
    while at != 0 {
        word.push(queue[at].2);
        at = queue[at].3;
    }
    word.reverse();
    word
}
