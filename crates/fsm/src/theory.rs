//! The sets that the theory defines for a machine: covers, separating words, and a lower bound on the size of a
//! system.
//!
//! The suites of this crate are made of these sets; here they are to be looked at. A *preset distinguishing word* tells
//! all states apart by itself; few machines have one. An *adaptive* one, whose inputs depend on the answers, exists
//! exactly if refinement by inputs that let no two states of a block meet ends in single states
//! \[LeeYannakakis94, Thm. 3.1].
//!
//! For nondeterministic machines: a state is *deterministically reached* if a word leads there whatever the answers.
//! Such states that are pairwise r-distinguishable need different states of every reduction, so their number is a
//! *lower bound* on the states of a system that passes \[Hierons04].

mod text;

use rustc_hash::FxHashSet;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

use ioxide_model::index::{Idx, IndexVec};

use crate::cover::state_cover;
use crate::distinguish::{SplittingTree, WordCosts, characterising_set, harmonised_identifiers};
use crate::mealy::{InputId, StateId, SuiteModel};
use crate::nfsm::Observable;
use crate::reduce::{AdaptiveCase, RDistinguish, characterising_cases, deterministic_cover};
use crate::word::Word;

/// States in all uncertainties that are kept in the search for a preset distinguishing word; it bounds the memory, and
/// was chosen by feel.
const MAX_KEPT_STATES: usize = 2_000_000;
/// Sets looked at in the search for a largest set of states; it bounds the time, and was chosen by feel.
const MAX_SETS: usize = 200_000;

/// The answer to a search for something that may not exist.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KnownExistence<T> {
    /// It exists, and this is one.
    Found(T),
    /// It is proved not to exist.
    Nowhere,
    /// The search was given up.
    Unknown,
}

/// The sets of a deterministic machine.
#[derive(Clone, Debug)]
pub struct DeterministicTheory {
    /// For each state a shortest word that reaches it.
    pub cover: Vec<(StateId, Word)>,
    /// Words of which one separates every two states.
    pub characterising: Vec<Word>,
    /// For each state words that identify it, harmonised.
    pub identifiers: IndexVec<StateId, Vec<Word>>,
    /// A word that distinguishes all states by itself.
    pub preset: KnownExistence<Word>,
    /// True if the machine has an adaptive distinguishing word.
    pub is_adaptively_distinguishable: bool,
    /// Inputs that every complete suite needs at least: each transition is taken by some test.
    pub fewest_symbols: usize,
}

impl DeterministicTheory {
    /// The sets of `spec`.
    #[must_use]
    pub fn compute(spec: &SuiteModel) -> Self {
        let cover = state_cover(spec);
        let splitting = SplittingTree::new(spec);
        let costs = WordCosts::new(spec, &cover, 0);
        Self {
            cover: spec.states().map(|state| (state, cover.access_word(state))).collect(),
            characterising: characterising_set(spec, &splitting, &costs),
            identifiers: harmonised_identifiers(spec, &splitting, &costs),
            preset: find_preset_word(spec),
            is_adaptively_distinguishable: has_adaptive_word(spec),
            fewest_symbols: spec.n_states() * spec.n_inputs(),
        }
    }
}

/// The blocks of current states of all states that answered alike so far; [`uncertainty_after`] drops blocks of one
/// state.
type Uncertainty = BTreeSet<BTreeSet<StateId>>;

/// A shortest word that no two states answer alike.
fn find_preset_word(spec: &SuiteModel) -> KnownExistence<Word> {
    let start: Uncertainty = [spec.states().collect()].into();
    let mut seen: FxHashSet<Uncertainty> = [start.clone()].into_iter().collect();
    let mut open: VecDeque<(Uncertainty, Word)> = [(start, Word::new())].into();
    let mut kept = 0;
    while let Some((here, word)) = open.pop_front() {
        // Breadth first over uncertainties, so the first word that leaves no block of two is a shortest one.
        if here.iter().all(|block| block.len() < 2) {
            return KnownExistence::Found(word);
        }
        if kept > MAX_KEPT_STATES {
            return KnownExistence::Unknown;
        }
        for input in spec.inputs() {
            let Some(next) = uncertainty_after(spec, &here, input) else { continue };
            if seen.insert(next.clone()) {
                kept += next.iter().map(BTreeSet::len).sum::<usize>() + word.len();
                let mut longer = word.clone();
                longer.push(input);
                open.push_back((next, longer));
            }
        }
    }
    KnownExistence::Nowhere
}

/// The uncertainty after `input`; `None` if states that answered alike meet, and can never be distinguished any more.
pub fn uncertainty_after(spec: &SuiteModel, here: &Uncertainty, input: InputId) -> Option<Uncertainty> {
    let mut next = Uncertainty::new();
    for block in here.iter().filter(|block| block.len() > 1) {
        let mut by_output: BTreeMap<_, BTreeSet<StateId>> = BTreeMap::new();
        for &state in block {
            let group = by_output.entry(spec.output(state, input)).or_default();
            if !group.insert(spec.next(state, input)) {
                return None;
            }
        }
        next.extend(by_output.into_values().filter(|group| group.len() > 1));
    }
    Some(next)
}

/// Returns whether an adaptive distinguishing word exists.
fn has_adaptive_word(spec: &SuiteModel) -> bool {
    let mut blocks: Vec<Vec<StateId>> = vec![spec.states().collect()];
    let mut block_of: Vec<usize> = vec![0; spec.n_states()];
    let mut at = 0;
    // A block that no input splits is looked at again once another one was split: its successors may be apart then.
    let mut settled = 0;
    while settled < blocks.len() && blocks.len() < spec.n_states() {
        match split_block(spec, &block_of, &blocks[at]) {
            None => settled += 1,
            Some(mut parts) => {
                settled = 0;
                blocks[at] = parts.swap_remove(0);
                for part in parts {
                    part.iter().for_each(|state| block_of[state.index()] = blocks.len());
                    blocks.push(part);
                }
            }
        }
        at = (at + 1) % blocks.len();
    }
    blocks.len() == spec.n_states()
}

/// The parts of a block by an input that lets no two of its states meet, if there is one that makes several.
fn split_block(spec: &SuiteModel, block_of: &[usize], block: &[StateId]) -> Option<Vec<Vec<StateId>>> {
    if block.len() < 2 {
        return None;
    }
    spec.inputs().find_map(|input| {
        let ends: BTreeSet<_> = block.iter().map(|&s| (spec.output(s, input), spec.next(s, input))).collect();
        // Two states that answer alike and meet are lost; [LeeYannakakis94] calls such an input not valid for the
        // block.
        if ends.len() < block.len() {
            return None;
        }
        let mut parts: BTreeMap<_, Vec<StateId>> = BTreeMap::new();
        for &state in block {
            let key = (spec.output(state, input), block_of[spec.next(state, input).index()]);
            parts.entry(key).or_default().push(state);
        }
        (parts.len() > 1).then(|| parts.into_values().collect())
    })
}

/// The sets of a nondeterministic machine.
#[derive(Clone, Debug)]
pub struct ChoiceTheory {
    /// The states that a word reaches whatever the answers, each with one.
    pub cover: Vec<(StateId, Word)>,
    /// Pairs of states that are r-distinguishable, with the steps it takes.
    pub distinguishable: Vec<(StateId, StateId, u32)>,
    /// The number of unordered pairs of different states.
    pub pairs: usize,
    /// Cases of which one separates every two states that are r-distinguishable.
    pub cases: Vec<AdaptiveCase>,
    /// Deterministically reached states that are pairwise r-distinguishable, as many as were found.
    pub lower_bound: Vec<StateId>,
    /// True if `lower_bound` is proved to be a largest such set.
    pub is_largest: bool,
}

impl ChoiceTheory {
    /// The sets of `machine`.
    #[must_use]
    pub fn compute(machine: &Observable) -> Self {
        let cover = deterministic_cover(machine);
        let apart = RDistinguish::new(machine);
        let pairs: Vec<(StateId, StateId)> = apart.pairs().collect();
        let distinguishable =
            pairs.iter().filter_map(|&(a, b)| Some((a, b, apart.level(a, b)?))).collect::<Vec<_>>();
        let reached: Vec<StateId> = cover.iter().map(|(state, _)| *state).collect();
        let mut search = LargestSet { apart: &apart, best: Vec::new(), left: MAX_SETS };
        search.grow_set(&mut Vec::new(), &reached);
        let (lower_bound, is_largest) = (search.best, search.left > 0);
        let cases = characterising_cases(machine);
        Self { cover, distinguishable, pairs: pairs.len(), cases, lower_bound, is_largest }
    }
}

/// The search for a largest set of states that are pairwise r-distinguishable.
struct LargestSet<'a, 'm> {
    apart: &'a RDistinguish<'m>,
    best: Vec<StateId>,
    left: usize,
}

impl LargestSet<'_, '_> {
    fn grow_set(&mut self, chosen: &mut Vec<StateId>, open: &[StateId]) {
        // Even with all that is open this set would not be larger than the best.
        if self.left == 0 || chosen.len() + open.len() <= self.best.len() {
            return;
        }
        self.left -= 1;
        if open.is_empty() {
            self.best.clone_from(chosen);
            return;
        }
        for (at, &state) in open.iter().enumerate() {
            let fits = |&other: &StateId| self.apart.level(state, other).is_some();
            let rest: Vec<StateId> = open[at + 1..].iter().copied().filter(fits).collect();
            chosen.push(state);
            self.grow_set(chosen, &rest);
            chosen.pop();
        }
    }
}
