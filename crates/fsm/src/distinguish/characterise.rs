//! Characterising sets, state identifiers, and words that single out a state.
//!
//! The set is grown word by word: each next symbol block is either appended to
//! the last word or starts a new one, whichever separates more pairs for the
//! symbols it costs in a suite, where a new word costs an access word as well.
//! State identifiers are subsets of its prefixes, smallest first, as the
//! partial W-method uses them [FBKAG91].
//!
//! [FBKAG91]: S. Fujiwara et al., "Test Selection Based on Finite State
//! Models", IEEE Transactions on Software Engineering 17(6), 1991.

use ioxide_model::index::IndexVec;
use rustc_hash::FxHashMap;

use crate::distinguish::{SplittingTree, Weights, answer};
use crate::mealy::{InputId, Spec, StateId};
use crate::partition;
use crate::word::{Word, without_prefixes};

/// Above this many states only the words of a splitting tree are tried.
const MANY_STATES: usize = 400;

/// A set of words that separates every two states of `spec`.
#[must_use]
pub fn characterising_set(spec: &Spec, splitting: &SplittingTree, weights: &Weights) -> Vec<Word> {
    let n = spec.n_states();
    let mut classes = vec![0; n];
    let mut words: Vec<Word> = Vec::new();
    let mut here: Vec<StateId> = spec.states().collect();
    while count(&classes) < n {
        let appended =
            if words.is_empty() { None } else { best_block(spec, splitting, &classes, &here, 0.0) };
        let start: Vec<StateId> = spec.states().collect();
        let most = together(&classes) as f64 / (weights.access + 1.0);
        let fresh = match &appended {
            Some(appended) if appended.value >= most => None,
            _ => best_block(spec, splitting, &classes, &start, weights.access),
        };
        match (appended, fresh) {
            (Some(appended), fresh) if fresh.as_ref().is_none_or(|fresh| appended.value >= fresh.value) => {
                classes = appended.classes;
                here = moved(spec, &here, &appended.word);
                words.last_mut().expect("a word was started").extend(appended.word);
            }
            (_, Some(fresh)) => {
                classes = fresh.classes;
                here = moved(spec, &start, &fresh.word);
                words.push(fresh.word);
            }
            _ => break,
        }
    }
    without_redundant(spec, words)
}

/// For each state prefixes of `words` that separate it from all others.
#[must_use]
pub fn state_identifiers(spec: &Spec, words: &[Word], weights: &Weights) -> IndexVec<StateId, Vec<Word>> {
    spec.states().map(|state| identifier(spec, state, words, weights)).collect()
}

/// Words that separate `state` from many others each, best first: what an
/// on-the-fly method chooses from besides its identifiers.
#[must_use]
pub fn identifying_words(spec: &Spec, splitting: &SplittingTree, state: StateId) -> Vec<Word> {
    if spec.n_states() > MANY_STATES {
        return Vec::new();
    }
    let mut words = Vec::new();
    let mut open: Vec<StateId> = spec.states().filter(|&other| other != state).collect();
    while !open.is_empty() {
        let word = singling_word(spec, splitting, state, &open);
        let before = open.len();
        open.retain(|&other| spec.separated_at(state, other, &word).is_none());
        if open.len() == before {
            break;
        }
        words.push(word);
    }
    words
}

/// A word grown greedily to separate `state` from as many of `others` as it can.
#[must_use]
pub fn singling_word(spec: &Spec, splitting: &SplittingTree, state: StateId, others: &[StateId]) -> Word {
    let mut word = Word::new();
    let mut at = state;
    let mut open: Vec<StateId> = others.to_vec();
    loop {
        open.sort_unstable();
        open.dedup();
        open.retain(|&other| other != at);
        let candidate = |block| {
            let (mut gone, mut met) = (0, 0);
            for &other in &open {
                match meeting(spec, at, other, block) {
                    Meeting::Separated => gone += 1,
                    Meeting::Met => met += 1,
                    Meeting::Open => (),
                }
            }
            (f64::from(gone - 2 * met), f64::from(gone) / block.len().max(1) as f64, block, gone)
        };
        let blocks = splitting.words_of(at).into_iter().map(candidate).filter(|&(_, _, _, gone)| gone > 0);
        let best = blocks.max_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
        let Some((_, _, block, _)) = best else { return word };
        open.retain(|&other| spec.separated_at(at, other, block).is_none());
        open.iter_mut().for_each(|other| *other = spec.after(*other, block));
        at = spec.after(at, block);
        word.extend_from_slice(block);
    }
}

/// What becomes of two states under a word.
enum Meeting {
    /// They answer differently.
    Separated,
    /// They end in one state, having answered alike.
    Met,
    /// Neither.
    Open,
}

fn meeting(spec: &Spec, a: StateId, b: StateId, word: &[InputId]) -> Meeting {
    let (mut a, mut b) = (a, b);
    for &input in word {
        if spec.output(a, input) != spec.output(b, input) {
            return Meeting::Separated;
        }
        (a, b) = (spec.next(a, input), spec.next(b, input));
        if a == b {
            return Meeting::Met;
        }
    }
    Meeting::Open
}

struct Choice {
    word: Word,
    classes: Vec<usize>,
    value: f64,
}

/// The block of symbols that, applied in `here`, separates most pairs of
/// equal class per cost.
fn best_block(
    spec: &Spec,
    splitting: &SplittingTree,
    classes: &[usize],
    here: &[StateId],
    overhead: f64,
) -> Option<Choice> {
    let pairs = together(classes);
    let mut best: Option<Choice> = None;
    for word in blocks(spec, splitting, classes, here) {
        let classes = refined(spec, classes, here, &word);
        let gain = pairs - together(&classes);
        let value = gain as f64 / (word.len() as f64 + overhead);
        if gain > 0 && best.as_ref().is_none_or(|best| value > best.value) {
            best = Some(Choice { word, classes, value });
        }
    }
    best
}

/// Words of the splitting tree for states of one class, each alone and after each input.
fn blocks(spec: &Spec, splitting: &SplittingTree, classes: &[usize], here: &[StateId]) -> Vec<Word> {
    let mut groups: FxHashMap<usize, Vec<StateId>> = FxHashMap::default();
    let mut order = Vec::new();
    for (&class, &state) in classes.iter().zip(here) {
        let group = groups.entry(class).or_insert_with(|| {
            order.push(class);
            Vec::new()
        });
        group.push(state);
    }
    let mut words: Vec<Word> = spec.inputs().map(|x| vec![x]).collect();
    for class in order {
        let group = &groups[&class];
        if group.len() < 2 {
            continue;
        }
        words.push(splitting.word_for(group).to_vec());
        if spec.n_states() > MANY_STATES {
            continue;
        }
        let others = group.iter().skip(1).take(40);
        words.extend(others.map(|&other| splitting.word(group[0], other).to_vec()));
    }
    words.retain(|word| !word.is_empty());
    words.sort();
    words.dedup();
    words
}

fn refined(spec: &Spec, classes: &[usize], here: &[StateId], word: &[InputId]) -> Vec<usize> {
    partition::group_by(classes.len(), |i| (classes[i], answer(spec, here[i], word).0))
}

/// How many pairs share a class.
fn together(classes: &[usize]) -> usize {
    let mut sizes = vec![0_usize; count(classes)];
    for &class in classes {
        sizes[class] += 1;
    }
    sizes.iter().map(|size| size * size.saturating_sub(1) / 2).sum()
}

fn count(classes: &[usize]) -> usize {
    classes.iter().max().map_or(0, |&max| max + 1)
}

fn moved(spec: &Spec, here: &[StateId], word: &[InputId]) -> Vec<StateId> {
    here.iter().map(|&state| spec.after(state, word)).collect()
}

/// `words` without those the others can do without, longest tried first.
fn without_redundant(spec: &Spec, words: Vec<Word>) -> Vec<Word> {
    let mut words = without_prefixes(words);
    words.sort_by_key(|word| std::cmp::Reverse(word.len()));
    let start: Vec<StateId> = spec.states().collect();
    let classes = |words: &[Word], skip: usize| {
        let used = words.iter().enumerate().filter(|&(i, _)| i != skip);
        used.fold(vec![0; spec.n_states()], |classes, (_, word)| refined(spec, &classes, &start, word))
    };
    let mut i = 0;
    while i < words.len() {
        if count(&classes(&words, i)) == spec.n_states() {
            words.remove(i);
        } else {
            i += 1;
        }
    }
    words.sort();
    words
}

/// The cheaper of two greedy covers: by separated states alone and by those per cost.
fn identifier(spec: &Spec, state: StateId, words: &[Word], weights: &Weights) -> Vec<Word> {
    let by_count = greedy_cover(spec, state, words, |gain, _| gain as f64);
    let by_cost = greedy_cover(spec, state, words, |gain, end| gain as f64 / (end as f64 + weights.access));
    if weights.cost(&by_cost) < weights.cost(&by_count) { by_cost } else { by_count }
}

/// Words one after another, each of the highest value, cut after its last use.
fn greedy_cover(
    spec: &Spec,
    state: StateId,
    words: &[Word],
    value: impl Fn(usize, usize) -> f64,
) -> Vec<Word> {
    let mut open: Vec<StateId> = spec.states().filter(|&other| other != state).collect();
    let mut chosen = Vec::new();
    while !open.is_empty() {
        let mut best: Option<(f64, &[InputId])> = None;
        for word in words {
            let ends = || open.iter().filter_map(|&other| spec.separated_at(state, other, word));
            let Some(end) = ends().max() else { continue };
            let value = value(ends().count(), end);
            if best.is_none_or(|(best, word)| value > best || (value == best && end < word.len())) {
                best = Some((value, &word[..end]));
            }
        }
        let Some((_, word)) = best else { break };
        open.retain(|&other| spec.separated_at(state, other, word).is_none());
        chosen.push(word.to_vec());
    }
    without_prefixes(chosen)
}
