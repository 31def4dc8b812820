//! Adaptive distinguishing trees, and harmonised identifiers made of them.
//!
//! An adaptive tree applies a word to a set of states and goes on with those
//! that gave the same answer. Two states that give the same answer *and* meet
//! in one state cannot be distinguished below; where that happens the tree stops,
//! and another tree is grown for the states it left together. A machine has an
//! adaptive distinguishing sequence exactly if one tree can suffice
//! \[LeeYannakakis94]; the greedy choice of words here may need more.
//!
//! The path of a state through each tree it takes part in is a word; these
//! words form harmonised identifiers, since two states share the path up to
//! the answer that separates them.

use ioxide_model::index::{Idx, IndexVec};

use crate::distinguish::improve::improve_identifiers;
use crate::distinguish::refine::{GroupRefiner, StateGroups};
use crate::distinguish::{SplittingTree, WordCosts};
use crate::mealy::{InputId, StateId, SuiteModel};
use crate::word::{Word, without_prefixes};

/// A tree of words that separates the states it is grown for as far as it can.
#[derive(Clone, Debug)]
pub struct AdaptiveTree {
    /// The states it is grown for, each with its path: the inputs it is given.
    pub paths: Vec<(StateId, Word)>,
    /// The sets of states it leaves together.
    pub together: Vec<Vec<StateId>>,
}

/// The preference by which a tree chooses the word it applies next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WordPreference {
    /// The word after which the fewest states with the same answer meet in one state.
    KeepApart,
    /// The word that leaves the fewest pairs together, long words being penalised.
    SplitMost,
    /// The word of the splitting tree.
    Given,
}

/// Trees that together separate all states of `spec`: the first for all
/// states, each further one for a set an earlier tree left together.
#[must_use]
pub fn adaptive_trees(
    spec: &SuiteModel,
    splitting: &SplittingTree,
    preference: WordPreference,
) -> Vec<AdaptiveTree> {
    let mut trees = Vec::new();
    let mut open: Vec<Vec<StateId>> = vec![spec.states().collect()];
    let mut grower = AdaptiveTreeGrower::new(spec, splitting, preference);
    // A set left together is smaller than the one its tree was grown for, or no word would separate its states and
    // the machine would not be minimal; so this ends.
    while let Some(states) = open.pop() {
        if states.len() < 2 {
            continue;
        }
        let tree = grower.grow_tree(&states);
        open.extend(tree.together.iter().cloned());
        trees.push(tree);
    }
    trees
}

/// For each state the words that identify it, by the cheapest of several
/// families of trees, improved by a search.
#[must_use]
pub fn harmonised_identifiers(
    spec: &SuiteModel,
    splitting: &SplittingTree,
    costs: &WordCosts,
) -> IndexVec<StateId, Vec<Word>> {
    // No preference is best for all machines, and trying all of them costs little next to the suite itself.
    let mut best = nested_identifiers(spec, splitting);
    let mut cost = costs.cost_of_all(&best);
    for preference in [WordPreference::KeepApart, WordPreference::SplitMost, WordPreference::Given] {
        let family = path_identifiers(spec, splitting, preference);
        let its_cost = costs.cost_of_all(&family);
        if its_cost < cost {
            (best, cost) = (family, its_cost);
        }
    }
    improve_identifiers(spec, costs, best, costs.effort)
}

/// The words of all blocks of the splitting tree a state is in.
pub fn nested_identifiers(spec: &SuiteModel, splitting: &SplittingTree) -> IndexVec<StateId, Vec<Word>> {
    let words = |state| splitting.separating_words(state).into_iter().map(<[InputId]>::to_vec).collect();
    spec.states().map(|state| without_prefixes(words(state))).collect()
}

/// The paths of each state through the trees it takes part in.
fn path_identifiers(
    spec: &SuiteModel,
    splitting: &SplittingTree,
    preference: WordPreference,
) -> IndexVec<StateId, Vec<Word>> {
    let mut identifiers: IndexVec<StateId, Vec<Word>> = IndexVec::from_elem(Vec::new(), spec.n_states());
    for tree in adaptive_trees(spec, splitting, preference) {
        for (state, path) in tree.paths {
            identifiers[state].push(path);
        }
    }
    identifiers.iter_mut().for_each(|words| *words = without_prefixes(std::mem::take(words)));
    identifiers
}

/// The tokens of a tree node: for each state the tree is grown for, that state and its current state.
type NodeTokens = Vec<(StateId, StateId)>;

/// An input, or none, and a word of the splitting tree after it.
#[derive(Clone, Copy)]
struct WordCandidate<'a> {
    first: Option<InputId>,
    rest: &'a [InputId],
}

impl WordCandidate<'_> {
    /// The inputs, in order.
    fn inputs(&self) -> impl Iterator<Item = InputId> {
        self.first.into_iter().chain(self.rest.iter().copied())
    }

    /// The number of inputs.
    pub fn len(&self) -> usize {
        usize::from(self.first.is_some()) + self.rest.len()
    }
}

struct AdaptiveTreeGrower<'a> {
    spec: &'a SuiteModel,
    splitting: &'a SplittingTree,
    preference: WordPreference,
    refiner: GroupRefiner<'a>,
    /// The groups of the candidate under consideration, and of a whole node.
    groups: StateGroups,
    /// For each current state of the node, the number of tokens in it.
    weights: Vec<u32>,
    /// Scratch: sizes of groups, and groups with places.
    sizes: Vec<u32>,
    pairs: Vec<(u32, u32)>,
    /// Scratch: the candidate words, and the successors of the states under an input.
    candidates: Vec<WordCandidate<'a>>,
    images: Vec<StateId>,
    /// Scratch: for each group and current state, the stamp of the last count in which the pair occurred.
    met: Vec<u32>,
    stamp: u32,
}

/// The limit on the entries of the table of groups and current states; pairs beyond it are counted by
/// sorting. 64 Ki entries of 4 bytes stay in the cache of a core; chosen by feel.
const MAX_TABLE_ENTRIES: usize = 1 << 16;

impl<'a> AdaptiveTreeGrower<'a> {
    /// Makes a grower without groups. `splitting` must be the splitting tree of `spec`.
    pub fn new(spec: &'a SuiteModel, splitting: &'a SplittingTree, preference: WordPreference) -> Self {
        Self {
            spec,
            splitting,
            preference,
            refiner: GroupRefiner::new(spec),
            groups: StateGroups::default(),
            weights: Vec::new(),
            sizes: Vec::new(),
            pairs: Vec::new(),
            candidates: Vec::new(),
            images: Vec::new(),
            met: Vec::new(),
            stamp: 0,
        }
    }

    fn grow_tree(&mut self, states: &[StateId]) -> AdaptiveTree {
        let mut tree = AdaptiveTree { paths: Vec::new(), together: Vec::new() };
        let start: NodeTokens = states.iter().map(|&state| (state, state)).collect();
        let mut open = vec![(Word::new(), start)];
        while let Some((path, tokens)) = open.pop() {
            // All tokens in one state: either one token, and its state is distinguished from all others of the tree, or
            // several that have met, and another tree has to separate those.
            let Some(best) = self.best_split(&tokens) else {
                if tokens.len() > 1 {
                    tree.together.push(tokens.iter().map(|&(start, _)| start).collect());
                }
                tree.paths.extend(tokens.into_iter().map(|(start, _)| (start, path.clone())));
                continue;
            };
            debug_assert!(best.len() > 0, "an empty word splits nothing");
            let mut longer = path;
            longer.extend(best.inputs());
            // Children of a node share the word so far: that is what makes the paths harmonised.
            for part in self.split_tokens(&tokens, best) {
                open.push((longer.clone(), part));
            }
        }
        tree
    }

    /// Returns the word that the preference ranks highest; `None` if all tokens are in one state.
    fn best_split(&mut self, tokens: &NodeTokens) -> Option<WordCandidate<'a>> {
        let mut here: Vec<StateId> = tokens.iter().map(|&(_, now)| now).collect();
        // Tokens that have met are one place with a weight; what a word does to them it does to all of them.
        here.sort_unstable();
        self.weights.clear();
        self.weights.extend(here.chunk_by(|a, b| a == b).map(|same| same.len() as u32));
        here.dedup();
        if here.len() < 2 {
            return None;
        }
        if self.preference == WordPreference::Given {
            return Some(WordCandidate { first: None, rest: self.splitting.word_for(&here) });
        }
        let mut best: Option<(f64, f64, WordCandidate<'a>)> = None;
        let mut candidates = std::mem::take(&mut self.candidates);
        self.list_candidates(&here, &mut candidates);
        for &candidate in &candidates {
            let Some((first, second)) = self.rank_candidate(&here, candidate) else { continue };
            if best.as_ref().is_none_or(|best| (first, second) > (best.0, best.1)) {
                best = Some((first, second, candidate));
            }
        }
        self.candidates = candidates;
        best.map(|(_, _, candidate)| candidate)
    }

    /// Returns the rank of `candidate` for the states `here`, greater being better, compared in order; `None` if all
    /// of them answer alike.
    fn rank_candidate(&mut self, here: &[StateId], candidate: WordCandidate<'a>) -> Option<(f64, f64)> {
        self.groups.restart_together(here);
        self.refiner.apply_word(&mut self.groups, candidate.inputs());
        if self.groups.count < 2 {
            return None;
        }
        let length = candidate.len() as f64;
        let parts = self.groups.count as f64 / length;
        // Places lost: states that answered alike and met, which no later word can separate.
        let lost = here.len() - self.count_distinct_places();
        Some(match self.preference {
            WordPreference::SplitMost => {
                (-((self.sum_of_squared_group_sizes() + lost) as f64) * length.sqrt(), parts)
            }
            WordPreference::KeepApart | WordPreference::Given => (-(lost as f64), parts),
        })
    }

    /// Returns the number of different pairs of a group and a current state.
    fn count_distinct_places(&mut self) -> usize {
        let entries = self.groups.count * self.spec.n_states();
        if entries > MAX_TABLE_ENTRIES {
            return self.count_distinct_by_sorting();
        }
        if self.met.len() < entries {
            self.met.resize(entries, 0);
        }
        // An entry counts only with the stamp of this count, so the table is never cleared.
        self.stamp += 1;
        let mut distinct = 0;
        for (&group, at) in self.groups.of.iter().zip(&self.groups.at) {
            let met = &mut self.met[group as usize * self.spec.n_states() + at.index()];
            distinct += usize::from(*met != self.stamp);
            *met = self.stamp;
        }
        distinct
    }

    fn count_distinct_by_sorting(&mut self) -> usize {
        self.pairs.clear();
        let place = |(&group, at): (&u32, &StateId)| (group, at.index() as u32);
        self.pairs.extend(self.groups.of.iter().zip(&self.groups.at).map(place));
        self.pairs.sort_unstable();
        self.pairs.dedup();
        self.pairs.len()
    }

    /// Returns the sum over all groups of the square of the number of tokens.
    fn sum_of_squared_group_sizes(&mut self) -> usize {
        self.sizes.clear();
        self.sizes.resize(self.groups.count, 0);
        for (&group, &weight) in self.groups.of.iter().zip(&self.weights) {
            self.sizes[group as usize] += weight;
        }
        self.sizes.iter().map(|&size| size as usize * size as usize).sum()
    }

    /// The tree's word for the states, and each input alone or followed by the
    /// tree's word for the states it leads to.
    fn list_candidates(&mut self, states: &[StateId], words: &mut Vec<WordCandidate<'a>>) {
        words.clear();
        words.push(WordCandidate { first: None, rest: self.splitting.word_for(states) });
        let images = &mut self.images;
        for x in self.spec.inputs() {
            if states.iter().any(|&state| self.spec.output(state, x) != self.spec.output(states[0], x)) {
                words.push(WordCandidate { first: Some(x), rest: &[] });
            }
            images.clear();
            images.extend(states.iter().map(|&state| self.spec.next(state, x)));
            let rest = self.splitting.word_for(images);
            if !rest.is_empty() {
                words.push(WordCandidate { first: Some(x), rest });
            }
        }
    }

    /// Returns the children of a node under `candidate`: the tokens grouped by their answer, each moved to its next
    /// state.
    fn split_tokens(&mut self, tokens: &NodeTokens, candidate: WordCandidate<'_>) -> Vec<NodeTokens> {
        let here: Vec<StateId> = tokens.iter().map(|&(_, now)| now).collect();
        self.groups.restart_together(&here);
        self.refiner.apply_word(&mut self.groups, candidate.inputs());
        let mut parts = vec![NodeTokens::new(); self.groups.count];
        for (i, &(start, _)) in tokens.iter().enumerate() {
            parts[self.groups.of[i] as usize].push((start, self.groups.at[i]));
        }
        parts
    }
}
