//! Characterising sets, state identifiers, and words that single out a state.
//!
//! The set is grown word by word: each next symbol block is either appended to
//! the last word or starts a new one, whichever separates more pairs for the
//! symbols it costs in a suite, where a new word costs an access word as well.
//! State identifiers are subsets of its prefixes, smallest first, as the
//! partial W-method uses them \[FBKAG91].

use std::borrow::Cow;

use ioxide_model::index::{Idx, IndexVec};

use crate::distinguish::passage::{PairOutcome, WordPassage};
use crate::distinguish::refine::{GroupRefiner, StateGroups};
use crate::distinguish::{SplittingTree, WordCosts};
use crate::mealy::{InputId, StateId, SuiteModel};
use crate::word::{Word, without_prefixes};

/// Above this many states only the words of a splitting tree are tried: the search for others takes time that grows
/// with the square of the states. Chosen by feel.
const MANY_STATES: usize = 400;

/// Pairs of each class whose word of the splitting tree is tried. Chosen by feel.
const MAX_PAIRS_PER_CLASS: usize = 40;

/// A set of words that separates every two states of `spec`.
#[must_use]
pub fn characterising_set(spec: &SuiteModel, splitting: &SplittingTree, costs: &WordCosts) -> Vec<Word> {
    let (refiner, groups) = (GroupRefiner::new(spec), StateGroups::default());
    let mut blocks = BlockSearch { spec, splitting, refiner, groups, sizes: Vec::new() };
    let start: Vec<StateId> = spec.states().collect();
    let mut classes = vec![0; start.len()];
    let mut words: Vec<Word> = Vec::new();
    let mut here = start.clone();
    while count_classes(&classes) < start.len() {
        // Append to the last word, or start another? Appending saves an access word, but the states may have met by
        // then.
        let appended = if words.is_empty() { None } else { blocks.find_best(&classes, &here, 0.0) };
        // No new word can be worth more than separating every open pair by one symbol: skip the search if that is less.
        let most = count_unseparated_pairs(&classes, count_classes(&classes), &mut blocks.sizes) as f64
            / (costs.access + 1.0);
        let fresh = match &appended {
            Some(appended) if appended.value >= most => None,
            _ => blocks.find_best(&classes, &start, costs.access),
        };
        match (appended, fresh) {
            (Some(appended), fresh) if fresh.as_ref().is_none_or(|fresh| appended.value >= fresh.value) => {
                classes = appended.classes;
                here = states_after(spec, &here, &appended.word);
                words.last_mut().expect("a word was started").extend(appended.word);
            }
            (_, Some(fresh)) => {
                classes = fresh.classes;
                here = states_after(spec, &start, &fresh.word);
                words.push(fresh.word);
            }
            _ => break,
        }
    }
    let words = without_redundant(spec, words);
    debug_assert!(
        spec.n_states() > 30
            || spec.states().all(|a| {
                let differs = |b| words.iter().any(|word| spec.separation_length(a, b, word).is_some());
                spec.states().all(|b| a == b || differs(b))
            }),
        "every two states are separated"
    );
    words
}

/// Words of `pool`, which separates every two states, that together still do: each the one that separates most pairs
/// of states per symbol.
#[must_use]
pub fn separating_subset(spec: &SuiteModel, pool: &[Word]) -> Vec<Word> {
    let mut open: Vec<(StateId, StateId)> =
        spec.states().flat_map(|a| spec.states().take(a.index()).map(move |b| (a, b))).collect();
    let mut chosen = Vec::new();
    while !open.is_empty() {
        let is_separated =
            |&(a, b): &(StateId, StateId), word: &Word| spec.separation_length(a, b, word).is_some();
        let value = |word: &Word| {
            open.iter().filter(|pair| is_separated(pair, word)).count() as f64 / word.len() as f64
        };
        let best = pool.iter().map(|word| (value(word), word)).max_by(|a, b| a.0.total_cmp(&b.0));
        let Some((value, word)) = best else { break };
        assert!(value > 0.0, "the pool separates every two states");
        open.retain(|pair| !is_separated(pair, word));
        chosen.push(word.clone());
    }
    without_redundant(spec, chosen)
}

/// For each state prefixes of `words` that separate it from all others.
#[must_use]
pub fn state_identifiers(
    spec: &SuiteModel,
    words: &[Word],
    costs: &WordCosts,
) -> IndexVec<StateId, Vec<Word>> {
    spec.states().map(|state| state_identifier(spec, state, words, costs)).collect()
}

/// Words that separate `state` from many others each, best first, from which an on-the-fly method chooses in addition
/// to its identifiers; none if the machine has very many states.
#[must_use]
pub fn identifying_words(spec: &SuiteModel, splitting: &SplittingTree, state: StateId) -> Vec<Word> {
    if spec.n_states() > MANY_STATES {
        return Vec::new();
    }
    let mut words = Vec::new();
    let mut way = WordPassage::default();
    // Each word takes care of what the ones before left together; states that no word of the tree reaches end the list.
    let mut open: Vec<StateId> = spec.states().filter(|&other| other != state).collect();
    while !open.is_empty() {
        let word = greedy_separating_word(spec, splitting, state, &open);
        let before = open.len();
        way.follow(spec, state, &word);
        open.retain(|&other| way.separation_length(spec, other) == 0);
        if open.len() == before {
            break;
        }
        words.push(word);
    }
    words
}

/// A word grown greedily to separate `state` from as many of `others` as it can.
#[must_use]
pub fn greedy_separating_word(
    spec: &SuiteModel,
    splitting: &SplittingTree,
    state: StateId,
    others: &[StateId],
) -> Word {
    let mut word = Word::new();
    let mut at = state;
    let mut open: Vec<StateId> = others.to_vec();
    let mut way = WordPassage::default();
    loop {
        open.sort_unstable();
        open.dedup();
        open.retain(|&other| other != at);
        let candidate = |block: &'_ [InputId]| {
            let (mut gone, mut met) = (0, 0);
            way.follow(spec, at, block);
            for &other in &open {
                match way.compare_with(spec, other) {
                    PairOutcome::Separated(_) => gone += 1,
                    PairOutcome::Met => met += 1,
                    PairOutcome::Open => (),
                }
            }
            // A state that meets the one followed can never be separated behind this block, so it counts against it
            // twice.
            (f64::from(gone - 2 * met), f64::from(gone) / block.len().max(1) as f64, gone)
        };
        let Some(block) = most_valuable_block(splitting.separating_words(at), candidate) else { return word };
        way.follow(spec, at, block);
        open.retain(|&other| way.separation_length(spec, other) == 0);
        open.iter_mut().for_each(|other| *other = spec.state_after(*other, block));
        at = spec.state_after(at, block);
        word.extend_from_slice(block);
    }
}

/// The last of the blocks of the greatest value that separate anything.
fn most_valuable_block<'b>(
    blocks: Vec<&'b [InputId]>,
    mut value: impl FnMut(&'b [InputId]) -> (f64, f64, i32),
) -> Option<&'b [InputId]> {
    let valued = blocks.into_iter().map(|block| (value(block), block));
    let useful = valued.filter(|((_, _, gone), _)| *gone > 0);
    useful.max_by(|(a, _), (b, _)| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1))).map(|(_, block)| block)
}

struct BlockChoice {
    word: Word,
    classes: Vec<u32>,
    value: f64,
}

/// Looks for blocks of symbols to apply next.
struct BlockSearch<'a> {
    spec: &'a SuiteModel,
    splitting: &'a SplittingTree,
    refiner: GroupRefiner<'a>,
    groups: StateGroups,
    /// Scratch: the sizes of classes.
    sizes: Vec<usize>,
}

impl BlockSearch<'_> {
    /// The block of symbols that, applied in `here`, separates most pairs of
    /// equal class per cost.
    fn find_best(&mut self, classes: &[u32], states: &[StateId], overhead: f64) -> Option<BlockChoice> {
        let n_classes = count_classes(classes);
        let pairs = count_unseparated_pairs(classes, n_classes, &mut self.sizes);
        let mut best: Option<BlockChoice> = None;
        for word in candidate_blocks(self.spec, self.splitting, classes, states) {
            self.groups.restart(classes, states, n_classes);
            self.refiner.apply_word(&mut self.groups, word.iter().copied());
            let gain = pairs - count_unseparated_pairs(&self.groups.of, self.groups.count, &mut self.sizes);
            let value = gain as f64 / (word.len() as f64 + overhead);
            if gain > 0 && best.as_ref().is_none_or(|best| value > best.value) {
                best = Some(BlockChoice { word: word.to_vec(), classes: self.groups.of.clone(), value });
            }
        }
        best
    }
}

/// Words of the splitting tree for states of one class, and each input.
fn candidate_blocks<'a>(
    spec: &SuiteModel,
    splitting: &'a SplittingTree,
    classes: &[u32],
    states: &[StateId],
) -> Vec<Cow<'a, [InputId]>> {
    let mut groups: Vec<Vec<StateId>> = vec![Vec::new(); count_classes(classes)];
    for (&class, &state) in classes.iter().zip(states) {
        groups[class as usize].push(state);
    }
    let mut words: Vec<Cow<'a, [InputId]>> = spec.inputs().map(|x| Cow::Owned(vec![x])).collect();
    for group in groups.iter().filter(|group| group.len() > 1) {
        words.push(Cow::Borrowed(splitting.word_for(group)));
        if spec.n_states() > MANY_STATES {
            continue;
        }
        let others = group.iter().skip(1).take(MAX_PAIRS_PER_CLASS);
        words.extend(others.map(|&other| Cow::Borrowed(splitting.separating_word(group[0], other))));
    }
    words.retain(|word| !word.is_empty());
    words.sort();
    words.dedup();
    words
}

/// Returns the number of pairs of states in the same class; `sizes` is scratch.
fn count_unseparated_pairs(classes: &[u32], n_classes: usize, sizes: &mut Vec<usize>) -> usize {
    sizes.clear();
    sizes.resize(n_classes, 0);
    for &class in classes {
        sizes[class as usize] += 1;
    }
    sizes.iter().map(|size| size * size.saturating_sub(1) / 2).sum()
}

fn count_classes(classes: &[u32]) -> usize {
    classes.iter().max().map_or(0, |&max| max as usize + 1)
}

fn states_after(spec: &SuiteModel, states: &[StateId], word: &[InputId]) -> Vec<StateId> {
    states.iter().map(|&state| spec.state_after(state, word)).collect()
}

/// `words` without those the others can do without, longest tried first.
fn without_redundant(spec: &SuiteModel, words: Vec<Word>) -> Vec<Word> {
    let mut words = without_prefixes(words);
    // Longest first: dropping a long word saves most, and what it separated is mostly separated by others.
    words.sort_by_key(|word| std::cmp::Reverse(word.len()));
    let start: Vec<StateId> = spec.states().collect();
    let (mut refiner, mut groups) = (GroupRefiner::new(spec), StateGroups::default());
    let mut classes_without = |words: &[Word], skip: usize| {
        groups.restart_together(&start);
        for (_, word) in words.iter().enumerate().filter(|&(i, _)| i != skip) {
            groups.at.clone_from(&start);
            refiner.apply_word(&mut groups, word.iter().copied());
        }
        groups.count
    };
    let mut i = 0;
    while i < words.len() {
        if classes_without(&words, i) == spec.n_states() {
            words.remove(i);
        } else {
            i += 1;
        }
    }
    words.sort();
    words
}

/// The cheaper of two greedy covers: by separated states alone and by those per cost.
fn state_identifier(spec: &SuiteModel, state: StateId, words: &[Word], costs: &WordCosts) -> Vec<Word> {
    let mut way = WordPassage::default();
    let mut ends = Vec::with_capacity(words.len() * spec.n_states());
    for word in words {
        way.follow(spec, state, word);
        ends.extend(
            spec.states().map(|other| if other == state { 0 } else { way.separation_length(spec, other) }),
        );
    }
    cheapest_cover(spec.n_states(), state, words, &ends, costs)
}

/// The cheaper of two greedy covers of the states other than `state` by prefixes of `words`; a word
/// takes care of another state after as many symbols as its row of `ends` says, or not at all if that is 0.
pub(super) fn cheapest_cover(
    n: usize,
    state: StateId,
    words: &[Word],
    ends: &[usize],
    costs: &WordCosts,
) -> Vec<Word> {
    let table = SeparationEnds { n, state, words, ends };
    let by_count = table.greedy_cover(|gain, _| gain as f64);
    // Two words cost at least two access words and a symbol each: a single shorter word cannot be beaten.
    let two_words_cost_more = |word: &Word| word.len() as f64 <= costs.access + 2.0;
    if matches!(&by_count[..], [only] if two_words_cost_more(only)) {
        return by_count;
    }
    let by_cost = table.greedy_cover(|gain, end| gain as f64 / (end as f64 + costs.access));
    if costs.words_cost(&by_cost) < costs.words_cost(&by_count) { by_cost } else { by_count }
}

/// The number of symbols after which each word separates a state from each other one, 0 if it does not.
struct SeparationEnds<'w> {
    n: usize,
    state: StateId,
    words: &'w [Word],
    /// A row of `n` for each word.
    ends: &'w [usize],
}

impl SeparationEnds<'_> {
    /// Words one after another, each of the highest value, cut after its last use.
    fn greedy_cover(&self, value: impl Fn(usize, usize) -> f64) -> Vec<Word> {
        let mut open: Vec<usize> = (0..self.n).filter(|&other| other != self.state.index()).collect();
        let mut chosen = Vec::new();
        while !open.is_empty() {
            let mut best: Option<(f64, usize, usize)> = None;
            for (word, ends) in self.ends.chunks_exact(self.n).enumerate() {
                let (mut gain, mut end) = (0, 0);
                for &other in &open {
                    gain += usize::from(ends[other] > 0);
                    end = end.max(ends[other]);
                }
                let value = value(gain, end);
                if gain > 0 && best.is_none_or(|(best, _, cut)| value > best || (value == best && end < cut))
                {
                    best = Some((value, word, end));
                }
            }
            let Some((_, word, end)) = best else { break };
            open.retain(|&other| self.ends[word * self.n + other] == 0);
            chosen.push(self.words[word][..end].to_vec());
        }
        if chosen.len() > 1 { without_prefixes(chosen) } else { chosen }
    }
}
