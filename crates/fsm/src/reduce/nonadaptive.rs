//! State counting without a system: words fixed in advance.
//!
//! A word is extended until, for every response the *model* can give, some set
//! of pairwise r-distinguishable states is visited so often that one of them
//! must repeat: the visits beyond the cover plus the states of the set that
//! the cover reaches exceed the bound \[Hierons04], \[PetrenkoYevtushenko11].
//! Each word is to be followed by a characterising set. [`preset_counting`]
//! applies them to a system.

use ioxide_model::index::{Idx, IndexVec};

use super::tree::ResponseTree;
use super::{AdaptiveCase, AdaptiveSystem, CountingPlan, RDistinguish, ReductionReport};
use crate::mealy::{InputId, StateId};
use crate::nfsm::Observable;
use crate::word::Word;

/// The words to test, each to be followed by `plan.cases`, lazily: the words
/// of the cover in order, each with its extensions.
pub fn nonadaptive_words(model: &Observable, plan: &CountingPlan) -> impl Iterator<Item = Word> {
    let counter = NonadaptiveCounting::new(model, plan);
    // A stack, so that each word is followed by its extensions; reversed, so that the words of the cover come in order.
    let mut open: Vec<(Word, Vec<Vec<StateId>>)> = plan
        .cover
        .iter()
        .rev()
        .filter_map(|access| Some((access.clone(), vec![vec![state_after_cover_word(model, access)?]])))
        .collect();
    std::iter::from_fn(move || {
        let (word, trails) = open.pop()?;
        open.extend(counter.extensions(&word, &trails));
        Some(word)
    })
}

/// Tests whether `system` is a reduction of `model`, with the words of [`nonadaptive_words`]: what the system answers
/// decides about no word.
///
/// Stops after the first test with a failure.
pub fn preset_counting<S: AdaptiveSystem>(
    model: &Observable,
    system: &mut S,
    plan: &CountingPlan,
) -> Result<ReductionReport, S::Error> {
    let cases = if plan.cases.is_empty() { &[AdaptiveCase::Stop][..] } else { &plan.cases };
    let mut tree = ResponseTree::new(model);
    let mut report = ReductionReport { iterations: 1, ..ReductionReport::default() };
    for word in nonadaptive_words(model, plan) {
        if report.tested.len() >= plan.max_words {
            report.gave_up = true;
            break;
        }
        // The same word once for every case that tells states apart.
        for case in cases {
            let traces = system.observe(&AdaptiveCase::after_word(&word, case.clone()))?;
            report.failures.extend(traces.into_iter().filter(|trace| !tree.insert(trace)));
        }
        report.tested.push(word);
        if !report.failures.is_empty() {
            break;
        }
    }
    (report.sequences, report.symbols) = tree.measure();
    report.failures.sort_unstable();
    report.failures.dedup();
    Ok(report)
}

/// The state that all responses to a word of the cover lead to.
fn state_after_cover_word(model: &Observable, word: &[InputId]) -> Option<StateId> {
    word.iter()
        .try_fold(vec![model.initial()], |states, &input| {
            let mut next: Vec<StateId> =
                states.iter().flat_map(|&state| model.answers(state, input)).map(|&(_, next)| next).collect();
            next.sort_unstable();
            next.dedup();
            (!next.is_empty()).then_some(next)
        })?
        .first()
        .copied()
}

/// Every path of states that continues one of `trails` by `input`.
fn extend_trails(model: &Observable, trails: &[Vec<StateId>], input: InputId) -> Vec<Vec<StateId>> {
    let mut next = Vec::new();
    for trail in trails {
        let Some(&at) = trail.last() else { continue };
        for &(_, to) in model.answers(at, input) {
            next.push([trail.as_slice(), &[to]].concat());
        }
    }
    // Different outputs may lead along the same states: for counting they are one.
    next.sort_unstable();
    next.dedup();
    next
}

struct NonadaptiveCounting<'m, 'p> {
    model: &'m Observable,
    plan: &'p CountingPlan,
    distinguish: RDistinguish<'m>,
    covered: IndexVec<StateId, bool>,
}

impl<'m, 'p> NonadaptiveCounting<'m, 'p> {
    /// Marks the states of `model` that a word of the cover of `plan` reaches.
    pub fn new(model: &'m Observable, plan: &'p CountingPlan) -> Self {
        let mut covered = IndexVec::from_elem(false, model.n_states());
        for state in plan.cover.iter().filter_map(|word| state_after_cover_word(model, word)) {
            covered[state] = true;
        }
        Self { model, plan, distinguish: RDistinguish::new(model), covered }
    }

    /// The words one symbol longer with the paths that may take them, unless
    /// every path is counted out; a path begins where the cover ends.
    fn extensions(&self, word: &[InputId], trails: &[Vec<StateId>]) -> Vec<(Word, Vec<Vec<StateId>>)> {
        // trail[0] is the state at the end of the word of the cover, which `covered` counts.
        // Only responses that are not counted out yet have to be followed; a word ends when none is left.
        let open: Vec<Vec<StateId>> = trails
            .iter()
            .filter(|trail| self.count_states(&trail[1..]) <= self.plan.bound)
            .cloned()
            .collect();
        if open.is_empty() {
            return Vec::new();
        }
        let longer = |input| ([word, &[input]].concat(), extend_trails(self.model, &open, input));
        self.model.inputs().rev().map(longer).filter(|(word, _)| !self.plan.cover.contains(word)).collect()
    }

    /// The greatest count over sets of pairwise r-distinguishable states.
    fn count_states(&self, visited: &[StateId]) -> usize {
        let mut weights: Vec<(usize, StateId)> = self
            .model
            .states()
            .map(|state| {
                let visits = visited.iter().filter(|&&at| at == state).count();
                (visits + usize::from(self.covered[state]), state)
            })
            .filter(|&(weight, _)| weight > 0)
            .collect();
        // Heaviest first, for the bound below; by position among equals, so that the suite is the same in every run.
        weights.sort_by_key(|&(weight, state)| (std::cmp::Reverse(weight), state.index()));
        self.search_heaviest(&weights, &mut Vec::new(), 0, 0)
    }

    /// Branch and bound for the heaviest set.
    fn search_heaviest(
        &self,
        rest: &[(usize, StateId)],
        taken: &mut Vec<StateId>,
        sum: usize,
        best: usize,
    ) -> usize {
        let possible = sum + rest.iter().map(|&(weight, _)| weight).sum::<usize>();
        let Some((&(weight, state), rest)) = rest.split_first() else { return best.max(sum) };
        // Even with all that is left, this set cannot beat the best one.
        if possible <= best {
            return best;
        }
        let mut best = best;
        if taken.iter().all(|&other| self.distinguish.level(state, other).is_some()) {
            taken.push(state);
            best = self.search_heaviest(rest, taken, sum + weight, best);
            taken.pop();
        }
        // Or without this state.
        self.search_heaviest(rest, taken, sum, best)
    }
}
