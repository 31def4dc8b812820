//! Partition refinement: which states answer every word alike.
//!
//! States are first grouped by a signature, then split by their successors,
//! always against the smaller half of a split block, which gives
//! `O(k · n log n)` for `k` letters and `n` states \[Hopcroft71].
//!
//! *Assumes* that a letter leads to at most one state and that states of one
//! group are defined on the same letters; both hold for Mealy machines by
//! input and for observable machines by input/output pair.
//! *Promises* class numbers in order of first appearance.

use ioxide_model::index::Idx;
use rustc_hash::FxHashMap;

use crate::mealy::{Mealy, MealyEdge, StateId};

/// The class of each state of `machine`, a missing answer being an answer of its own.
#[must_use]
pub fn equivalence_classes(machine: &Mealy) -> Vec<usize> {
    let signature = |state: usize| -> Vec<Option<usize>> {
        let state = StateId::new(state);
        machine.inputs().map(|input| machine.edge(state, input).map(|edge| edge.output.index())).collect()
    };
    let groups = group_by(machine.n_states(), signature);
    let successor = |state: usize, letter: usize| {
        let edge: Option<MealyEdge> = machine.edge(StateId::new(state), crate::mealy::InputId::new(letter));
        edge.map(|edge| edge.next.index())
    };
    refine_until_stable(groups, machine.n_inputs(), successor)
}

/// Two different equivalent states of `machine`, if there are any.
#[must_use]
pub fn equivalent_pair(machine: &Mealy) -> Option<(StateId, StateId)> {
    let mut first = FxHashMap::default();
    for (state, class) in equivalence_classes(machine).into_iter().enumerate() {
        if let Some(other) = first.insert(class, state) {
            return Some((StateId::new(other), StateId::new(state)));
        }
    }
    None
}

/// Returns the first state of each class, by the number of the class; classes are numbered by first appearance.
pub(crate) fn first_of_each(classes: &[usize]) -> Vec<StateId> {
    let mut order = Vec::new();
    for (state, &class) in classes.iter().enumerate() {
        debug_assert!(class <= order.len(), "classes are numbered by first appearance");
        if class == order.len() {
            order.push(StateId::new(state));
        }
    }
    order
}

/// Groups `0..n` by `signature`, numbered in order of first appearance.
pub fn group_by<S: std::hash::Hash + Eq>(n: usize, signature: impl Fn(usize) -> S) -> Vec<usize> {
    let mut seen = FxHashMap::default();
    (0..n)
        .map(|state| {
            let fresh = seen.len();
            *seen.entry(signature(state)).or_insert(fresh)
        })
        .collect()
}

/// The coarsest refinement of `groups` that is stable under all letters.
pub fn refine_until_stable(
    groups: Vec<usize>,
    n_letters: usize,
    successor: impl Fn(usize, usize) -> Option<usize>,
) -> Vec<usize> {
    let mut blocks = PartitionBlocks::new(&groups);
    let inverse = Inverse::new(groups.len(), n_letters, successor);
    let mut work: Vec<(usize, usize)> =
        (0..blocks.len()).flat_map(|block| (0..n_letters).map(move |letter| (block, letter))).collect();
    let mut waiting = vec![true; work.len()];
    while let Some((block, letter)) = work.pop() {
        waiting[block * n_letters + letter] = false;
        // The predecessors of the block: within any other block, states in this list answer `letter` into the block and
        // the rest does not, so they cannot be equivalent.
        let splitter: Vec<u32> = blocks
            .members_of(block)
            .iter()
            .flat_map(|&state| inverse.predecessors(letter, state))
            .copied()
            .collect();
        for (old, new) in blocks.split_blocks(&splitter) {
            waiting.resize(blocks.len() * n_letters, false);
            for letter in 0..n_letters {
                // Hopcroft's rule: if the old block is still waiting both halves must be done; if not, splitting by the
                // smaller half is enough, because what the other half would split is split by the two together.
                let smaller = if blocks.block_size(old) < blocks.block_size(new) { old } else { new };
                let target = if waiting[old * n_letters + letter] { new } else { smaller };
                waiting[target * n_letters + letter] = true;
                work.push((target, letter));
            }
        }
    }
    group_by(groups.len(), |state| blocks.of[state])
}

/// The predecessors of each state under each letter, in one array.
struct Inverse {
    n_states: usize,
    start: Vec<u32>,
    states: Vec<u32>,
}

impl Inverse {
    /// Indexes the transitions by letter and target, with a counting sort; `successor` is `None` where a letter is not
    /// defined.
    pub fn new(n_states: usize, n_letters: usize, successor: impl Fn(usize, usize) -> Option<usize>) -> Self {
        let mut start = vec![0; n_states * n_letters + 1];
        let pairs = || (0..n_letters).flat_map(|letter| (0..n_states).map(move |state| (letter, state)));
        for (letter, state) in pairs() {
            if let Some(next) = successor(state, letter) {
                start[letter * n_states + next + 1] += 1;
            }
        }
        for i in 1..start.len() {
            start[i] += start[i - 1];
        }
        let mut fill = start.clone();
        let mut states = vec![0; start.last().map_or(0, |&end| end as usize)];
        for (letter, state) in pairs() {
            if let Some(next) = successor(state, letter) {
                let at = &mut fill[letter * n_states + next];
                states[*at as usize] = state as u32;
                *at += 1;
            }
        }
        Self { n_states, start, states }
    }

    /// The states from which `letter` leads to `state`.
    fn predecessors(&self, letter: usize, state: u32) -> &[u32] {
        let slot = letter * self.n_states + state as usize;
        &self.states[self.start[slot] as usize..self.start[slot + 1] as usize]
    }
}

/// A partition of `0..n` whose blocks are ranges of one permuted array.
struct PartitionBlocks {
    order: Vec<u32>,
    place: Vec<u32>,
    of: Vec<usize>,
    range: Vec<(usize, usize)>,
    /// For each block the number of members that the current splitter contains.
    hit: Vec<usize>,
}

impl PartitionBlocks {
    /// Makes the partition in which two states share a block if `groups` gives them the same number.
    pub fn new(groups: &[usize]) -> Self {
        let n_groups = groups.iter().max().map_or(0, |&max| max + 1);
        let mut order: Vec<u32> = (0..groups.len() as u32).collect();
        order.sort_by_key(|&state| groups[state as usize]);
        let mut place = vec![0; groups.len()];
        let mut range = vec![(usize::MAX, 0); n_groups];
        for (at, &state) in order.iter().enumerate() {
            place[state as usize] = at as u32;
            let (start, end) = &mut range[groups[state as usize]];
            *start = (*start).min(at);
            *end = at + 1;
        }
        Self { order, place, of: groups.to_vec(), range, hit: vec![0; n_groups] }
    }

    /// The number of blocks.
    pub fn len(&self) -> usize {
        self.range.len()
    }

    /// The number of members of a block.
    fn block_size(&self, block: usize) -> usize {
        self.range[block].1 - self.range[block].0
    }

    /// The members of a block.
    fn members_of(&self, block: usize) -> &[u32] {
        &self.order[self.range[block].0..self.range[block].1]
    }

    /// Moves the members in `states` out of the blocks they share with others;
    /// yields each block split and the new block with its moved members.
    fn split_blocks(&mut self, states: &[u32]) -> Vec<(usize, usize)> {
        // Members that are hit move to the front of their block, so that a split is a cut of its range.
        let mut touched = Vec::new();
        for &state in states {
            let block = self.of[state as usize];
            if self.hit[block] == 0 {
                touched.push(block);
            }
            self.swap_to(state, self.range[block].0 + self.hit[block]);
            self.hit[block] += 1;
        }
        touched.into_iter().filter_map(|block| self.cut(block)).collect()
    }

    fn swap_to(&mut self, state: u32, target: usize) {
        let at = self.place[state as usize] as usize;
        if at < target {
            return;
        }
        let other = self.order[target];
        self.order.swap(at, target);
        self.place[state as usize] = target as u32;
        self.place[other as usize] = at as u32;
    }

    /// Splits a block into the members that were hit and the others; `None` if all were.
    fn cut(&mut self, block: usize) -> Option<(usize, usize)> {
        let hit = std::mem::take(&mut self.hit[block]);
        let (start, end) = self.range[block];
        if hit == end - start {
            return None;
        }
        let new = self.range.len();
        self.range.push((start, start + hit));
        self.hit.push(0);
        self.range[block].0 = start + hit;
        for at in start..start + hit {
            self.of[self.order[at] as usize] = new;
        }
        Some((block, new))
    }
}
