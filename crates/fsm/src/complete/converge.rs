//! A certificate of completeness by convergent words, for suites of the methods SPY, SPYH and S.
//!
//! Two words *converge* if they lead every machine that passes the suite and has at most `m` states to equivalent
//! states; they *diverge* if the suite has a word behind both that the specification answers differently. \[SPY12]:
//!
//! *Lemma.* Let `K` have an access word for every state, all diverging, and let `a` and `b` lead the specification to
//! one state. If every word `w` of `m - n` symbols follows both `a` and `b` in the suite, and any two words among `K`
//! and the prefixes of `aw` and `bw` diverge that lead to different states, then `a` and `b` converge. (Otherwise the
//! pairs of states behind a shortest word that separates them form a forest, and the machine has more than `m` states.)
//!
//! *Theorem.* If `K` has the empty word, and each word of `K` followed by each input converges with the word of `K` for
//! its state, then the suite is complete: a machine that passes has the transitions of the specification.
//!
//! Words that converge can be extended by each other's words, so their nodes become one, and what follows them too. So
//! every proof makes others possible; they are repeated until nothing changes.

use ioxide_model::index::Idx;
use rustc_hash::FxHashSet;

use crate::cover::state_cover;
use crate::mealy::{InputId, StateId, SuiteModel};
use crate::word::Word;

/// The number of pairs of nodes compared before the search ends. Chosen by feel: it bounds the time, and a certificate
/// that is missed because of it is not a wrong answer.
const MAX_COMPARISONS: usize = 100_000_000;

/// The number of sets of access words tried. Chosen by feel: nearly all methods use shortest ones.
const MAX_COVERS: usize = 8;

/// Returns access words for which the convergence of all transitions was proved; `None` if no proof was found.
pub fn certify_by_convergence(spec: &SuiteModel, suite: &[Word], extra: usize) -> Option<Vec<Word>> {
    let mut tests = MergedTests::new(spec, suite);
    let candidates = tests.access_candidates();
    for turn in 0..MAX_COVERS {
        let Some(cover) = tests.choose_cover(&candidates, turn) else { continue };
        // What is merged holds for one choice of access words only, so every turn starts from the plain tree.
        // The comparisons are counted over all turns.
        let mut merged = tests.clone();
        if merged.proves_all_transitions(&cover, extra) {
            return Some(cover.into_iter().map(|(word, _)| word).collect());
        }
        tests.comparisons = merged.comparisons;
        if tests.comparisons > MAX_COMPARISONS {
            return None;
        }
    }
    None
}

/// An access word with its node.
type AccessNode = (Word, usize);

/// A node of the tests: the state of the specification, and what follows.
#[derive(Clone, Debug)]
struct MergedNode {
    state: StateId,
    kids: Vec<(InputId, usize)>,
}

/// The tests as a graph: a tree at first; nodes that were proved to converge are one.
#[derive(Clone, Debug)]
struct MergedTests<'s> {
    spec: &'s SuiteModel,
    nodes: Vec<MergedNode>,
    /// For each node, one it was merged into, or itself.
    merged: Vec<usize>,
    comparisons: usize,
}

impl<'s> MergedTests<'s> {
    /// Makes the tree of `suite`.
    fn new(spec: &'s SuiteModel, suite: &[Word]) -> Self {
        let root = MergedNode { state: spec.initial(), kids: Vec::new() };
        let mut tests = Self { spec, nodes: vec![root], merged: vec![0], comparisons: 0 };
        for word in suite {
            word.iter().fold(0, |node, &input| tests.add(node, input));
        }
        tests
    }

    /// Returns the node after `input` from `node`, added if no test has it.
    fn add(&mut self, node: usize, input: InputId) -> usize {
        if let Some(kid) = self.child(node, input) {
            return kid;
        }
        let state = self.spec.next(self.nodes[node].state, input);
        let kid = self.nodes.len();
        self.nodes.push(MergedNode { state, kids: Vec::new() });
        self.merged.push(kid);
        self.nodes[node].kids.push((input, kid));
        kid
    }

    /// Returns the node that stands for `node`.
    fn find(&self, mut node: usize) -> usize {
        while self.merged[node] != node {
            node = self.merged[node];
        }
        node
    }

    /// The state of the specification at a node.
    fn state(&self, node: usize) -> StateId {
        self.nodes[node].state
    }

    /// The node after `input` from `node`, which stands for itself; `None` if no test has it.
    fn child(&self, node: usize, input: InputId) -> Option<usize> {
        let kid = self.nodes[node].kids.iter().find(|&&(x, _)| x == input).map(|&(_, kid)| kid);
        kid.map(|kid| self.find(kid))
    }

    /// Makes two nodes one, and the nodes that the same inputs lead to from them.
    fn merge(&mut self, a: usize, b: usize) {
        let mut open = vec![(a, b)];
        while let Some((a, b)) = open.pop() {
            let (a, b) = (self.find(a), self.find(b));
            if a == b {
                continue;
            }
            debug_assert_eq!(self.state(a), self.state(b), "only words to one state converge");
            // From here on, what follows `b` follows `a` as well. Where both have an input, the nodes behind
            // it converge too.
            let kids = std::mem::take(&mut self.nodes[b].kids);
            self.merged[b] = a;
            for (input, kid) in kids {
                match self.child(a, input) {
                    Some(other) => open.push((other, kid)),
                    None => self.nodes[a].kids.push((input, kid)),
                }
            }
        }
    }

    /// Returns whether the words to the two nodes diverge, or lead to the same state.
    fn are_settled(&mut self, a: usize, b: usize) -> bool {
        if self.state(a) == self.state(b) {
            return true;
        }
        // Merged nodes may have loops, so pairs are visited once.
        let mut seen = FxHashSet::default();
        let mut open = vec![(a, b)];
        while let Some((a, b)) = open.pop() {
            self.comparisons += 1;
            if self.comparisons > MAX_COMPARISONS {
                return false;
            }
            let (p, q) = (self.state(a), self.state(b));
            if p == q {
                continue;
            }
            for &(input, next) in &self.nodes[a].kids {
                let Some(other) = self.child(b, input) else { continue };
                if self.spec.output(p, input) != self.spec.output(q, input) {
                    return true;
                }
                let pair = (self.find(next), other);
                if seen.insert(pair) {
                    open.push(pair);
                }
            }
        }
        false
    }

    /// Returns the nodes of every state: first that of the breadth-first cover, which the methods of this crate use,
    /// then others, shortest words first.
    fn access_candidates(&self) -> Vec<Vec<AccessNode>> {
        let mut found: Vec<Vec<AccessNode>> = vec![Vec::new(); self.spec.n_states()];
        let cover = state_cover(self.spec);
        for &state in cover.order() {
            let word = cover.access_word(state);
            let node = word.iter().try_fold(0, |node, &input| self.child(node, input));
            found[state.index()].extend(node.map(|node| (word, node)));
        }
        let mut level: Vec<AccessNode> = vec![(Word::new(), 0)];
        while !level.is_empty() {
            let mut next = Vec::new();
            for (word, node) in level {
                let candidates = &mut found[self.state(node).index()];
                if candidates.len() < MAX_COVERS && candidates.iter().all(|&(_, known)| known != node) {
                    candidates.push((word.clone(), node));
                }
                for &(input, kid) in &self.nodes[node].kids {
                    next.push(([word.as_slice(), &[input]].concat(), kid));
                }
            }
            level = next;
        }
        // Every machine starts where the empty word leads.
        found[self.spec.initial().index()].retain(|(word, _)| word.is_empty());
        found
    }

    /// Returns an access word for every state such that all diverge, the first that fits for each; `turn` shifts which
    /// is tried first. `None` if a state has none.
    fn choose_cover(&mut self, candidates: &[Vec<AccessNode>], turn: usize) -> Option<Vec<AccessNode>> {
        let mut cover: Vec<AccessNode> = Vec::with_capacity(candidates.len());
        for options in candidates {
            let first = turn % options.len().max(1);
            let in_turn = options[first..].iter().chain(&options[..first]);
            let mut fitting = None;
            for option in in_turn {
                if cover.iter().all(|(_, node)| self.are_settled(*node, option.1)) {
                    fitting = Some(option.clone());
                    break;
                }
            }
            cover.push(fitting?);
        }
        Some(cover)
    }

    /// Returns whether every transition converges with the access word of its target.
    fn proves_all_transitions(&mut self, cover: &[AccessNode], extra: usize) -> bool {
        let inputs: Vec<InputId> = (0..self.spec.n_inputs()).map(InputId::new).collect();
        let mut open: Vec<(usize, InputId)> =
            cover.iter().flat_map(|(_, node)| inputs.iter().map(move |&input| (*node, input))).collect();
        // To the fixed point: a merge may give other transitions the tests that they lack.
        loop {
            let before = open.len();
            let mut left = Vec::new();
            for (node, input) in open {
                let from = self.find(node);
                // A test that has the input may begin with a word that only converges with this one.
                let Some(after) = self.child(from, input) else {
                    left.push((node, input));
                    continue;
                };
                let target = self.find(cover[self.state(after).index()].1);
                if after == target {
                    continue;
                }
                if self.converge(after, target, cover, extra) {
                    self.merge(target, after);
                } else if self.comparisons > MAX_COMPARISONS {
                    return false;
                } else {
                    left.push((node, input));
                }
            }
            if left.is_empty() {
                return true;
            }
            if left.len() == before {
                return false;
            }
            open = left;
        }
    }

    /// Returns whether the lemma shows that the words to `a` and `b` converge.
    fn converge(&mut self, a: usize, b: usize, cover: &[AccessNode], extra: usize) -> bool {
        let known: Vec<usize> = cover.iter().map(|&(_, node)| self.find(node)).collect();
        self.is_settled_behind(&mut vec![(a, b)], &known, extra)
    }

    /// Checks the pairs of nodes along one word, and goes on with every input; the last pair of `way` is new.
    fn is_settled_behind(&mut self, way: &mut Vec<(usize, usize)>, known: &[usize], left: usize) -> bool {
        let Some(&(a, b)) = way.last() else { return true };
        // Only the last pair is new; the pairs before it were compared when they were pushed.
        let nodes = if a == b { vec![a] } else { vec![a, b] };
        let before: Vec<usize> = way[..way.len() - 1].iter().flat_map(|&(a, b)| [a, b]).collect();
        for node in nodes {
            for &other in known.iter().chain(&before) {
                if other != node && !self.are_settled(other, node) {
                    return false;
                }
            }
        }
        // Every word of `m - n` symbols has to follow both, so a missing child below ends the attempt.
        if left == 0 {
            return true;
        }
        for input in (0..self.spec.n_inputs()).map(InputId::new) {
            let (Some(next_a), Some(next_b)) = (self.child(a, input), self.child(b, input)) else {
                return false;
            };
            way.push((next_a, next_b));
            let is_settled = self.is_settled_behind(way, known, left - 1);
            way.pop();
            if !is_settled {
                return false;
            }
        }
        true
    }
}
