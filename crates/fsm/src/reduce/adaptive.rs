//! Adaptive state counting: original, refined, and one response at a time.
//!
//! From the cover on, every tested word is followed by the characterising set.
//! A word is extended by every input unless for each response the lower bound
//! exceeds the number of states the system may have; then none of its
//! extensions is a shortest way to a failure.
//!
//! *Differs* from Algorithms 5.1 and 7.1 of \[Sachtleben18] only in computing
//! the greatest lower bound over all `S₁` and `V''` by a search of its own.

use rustc_hash::FxHashSet;

use super::bound::{ReachGroup, exceeds, lower_bound};
use super::tree::{ClassId, ObservationId, ResponseTree};
use super::{AdaptiveCase, AdaptiveSystem, BoundedResponse, CountingPlan, CountingVariant, ReductionReport};
use crate::mealy::{InputId, StateId};
use crate::nfsm::Observable;
use crate::word::{IoWord, Word};

/// Tests whether `system` is a reduction of `model`.
///
/// Stops after the first test with a failure.
pub fn state_counting<S: AdaptiveSystem>(
    model: &Observable,
    system: &mut S,
    plan: &CountingPlan,
    variant: CountingVariant,
) -> Result<ReductionReport, S::Error> {
    let mut counting = AdaptiveCounting::new(model, system, plan, variant);
    let mut current = Vec::new();
    for word in &plan.cover {
        current.push(TestedWord { word: word.clone(), nodes: Vec::new() });
    }
    // Algorithm 5.1: test all words of one length beyond the cover, drop those whose bound says that they need not go
    // on, extend the rest by every input.
    while !current.is_empty() {
        counting.apply_tests(&mut current)?;
        counting.report.iterations += 1;
        if counting.should_stop() {
            break;
        }
        if plan.keeps_bounds {
            counting.keep_bounds(&current);
        }
        current = counting.extend_open_words(current);
    }
    Ok(counting.finish())
}

/// A word that was tested, and the responses to it that are to be extended.
pub struct TestedWord {
    pub word: Word,
    pub nodes: Vec<ObservationId>,
}

pub struct AdaptiveCounting<'a, 'm, S> {
    pub(super) model: &'m Observable,
    system: &'a mut S,
    plan: &'a CountingPlan,
    variant: CountingVariant,
    tree: ResponseTree<'m>,
    tested: FxHashSet<Word>,
    /// The class of each node that was followed by the characterising set.
    classes: Vec<Option<ClassId>>,
    /// All classes seen: `D`.
    seen: FxHashSet<ClassId>,
    /// The responses to each word of the cover.
    cover: Vec<Vec<ObservationId>>,
    report: ReductionReport,
}

impl<'a, 'm, S: AdaptiveSystem> AdaptiveCounting<'a, 'm, S> {
    /// Makes a search that has asked `system` nothing yet.
    pub fn new(
        model: &'m Observable,
        system: &'a mut S,
        plan: &'a CountingPlan,
        variant: CountingVariant,
    ) -> Self {
        Self {
            model,
            system,
            plan,
            variant,
            tree: ResponseTree::new(model),
            tested: FxHashSet::default(),
            classes: Vec::new(),
            seen: FxHashSet::default(),
            cover: Vec::new(),
            report: ReductionReport::default(),
        }
    }

    /// Applies each word, or each trace, followed by the characterising set,
    /// up to the first test with a failure.
    pub fn apply_tests(&mut self, items: &mut [TestedWord]) -> Result<(), S::Error> {
        for item in items.iter() {
            if self.tested.insert(item.word.clone()) {
                self.report.tested.push(item.word.clone());
            }
            let cases = if self.plan.cases.is_empty() { &[AdaptiveCase::Stop][..] } else { &self.plan.cases };
            for case in cases {
                // Per response only the trace to one node is followed; otherwise the word is applied whatever is
                // answered.
                let test = match item.nodes[..] {
                    [before] if self.variant == CountingVariant::PerResponse => {
                        let last = &item.word[item.word.len() - 1..];
                        AdaptiveCase::after_trace(
                            &self.tree.trace(before),
                            AdaptiveCase::after_word(last, case.clone()),
                        )
                    }
                    _ => AdaptiveCase::after_word(&item.word, case.clone()),
                };
                for trace in self.system.observe(&test)? {
                    if !self.tree.insert(&trace) {
                        self.report.failures.push(trace);
                    }
                }
                if !self.report.failures.is_empty() {
                    return Ok(());
                }
            }
        }
        self.classify_responses(items);
        Ok(())
    }

    /// Looks up the responses to the items and classifies them.
    fn classify_responses(&mut self, items: &mut [TestedWord]) {
        let first = self.cover.is_empty();
        for item in items {
            item.nodes = match item.nodes[..] {
                [before] if self.variant == CountingVariant::PerResponse => {
                    let last = item.word[item.word.len() - 1];
                    self.tree.nodes_after(before, last).collect()
                }
                _ => self.responses(&item.word),
            };
            // `B(…)` of the paper: nodes with different classes are in different states of the system.
            for &node in &item.nodes {
                let class = self.tree.classify(node, &self.plan.cases);
                let slot = ioxide_model::index::Idx::index(node);
                self.classes.resize(self.classes.len().max(slot + 1), None);
                self.classes[slot] = Some(class);
                self.seen.insert(class);
            }
            if first {
                self.cover.push(item.nodes.clone());
            }
        }
    }

    /// The observations after `word`.
    pub fn responses(&self, word: &[InputId]) -> Vec<ObservationId> {
        word.iter().fold(vec![self.tree.root()], |nodes, &input| {
            nodes.iter().flat_map(|&node| self.tree.nodes_after(node, input)).collect()
        })
    }

    /// The extensions of the items that are not removed.
    pub fn extend_open_words(&self, items: Vec<TestedWord>) -> Vec<TestedWord> {
        let mut next = Vec::new();
        for item in items {
            let open = |&node: &ObservationId| !self.is_counted_out(&item.word, node);
            let parts: Vec<Vec<ObservationId>> = match self.variant {
                CountingVariant::PerResponse => {
                    item.nodes.iter().copied().filter(open).map(|node| vec![node]).collect()
                }
                _ if item.nodes.iter().any(open) => vec![item.nodes.clone()],
                _ => Vec::new(),
            };
            for nodes in parts {
                for input in self.model.inputs() {
                    let word = [item.word.as_slice(), &[input]].concat();
                    let known = match self.variant {
                        CountingVariant::PerResponse => self.plan.cover.contains(&word),
                        CountingVariant::Original | CountingVariant::Refined => self.tested.contains(&word),
                    };
                    if !known {
                        next.push(TestedWord { word, nodes: nodes.clone() });
                    }
                }
            }
        }
        next
    }

    /// Returns whether the lower bound of the trace of `node` exceeds the number of states the system may have.
    fn is_counted_out(&self, word: &[InputId], node: ObservationId) -> bool {
        self.splits(word, node).any(|groups| exceeds(self.plan.bound, self.seen.len(), &groups))
    }

    /// The `R⁺` of all states, for every split of the trace of `node` that the variant looks at.
    fn splits(&self, word: &[InputId], node: ObservationId) -> impl Iterator<Item = Vec<ReachGroup>> {
        let mut starts = self.cover_prefixes(word);
        // The original algorithm takes any word of the cover as `v`; the refined one only the longest, which is as
        // good.
        if self.variant != CountingVariant::Original {
            starts.drain(..starts.len().saturating_sub(1));
        }
        starts.into_iter().filter_map(move |start| self.reach_groups(word, node, start))
    }

    /// Adds the lower bounds of the responses of this round to the report.
    fn keep_bounds(&mut self, items: &[TestedWord]) {
        let round = items.iter().flat_map(|item| self.lower_bounds(&item.word));
        let round = round.map(|(trace, lower_bound)| BoundedResponse { trace, lower_bound }).collect();
        self.report.rounds.push(round);
    }

    /// The positions in the cover of the prefixes of `word`, shortest first.
    fn cover_prefixes(&self, word: &[InputId]) -> Vec<usize> {
        let mut found: Vec<usize> =
            (0..self.plan.cover.len()).filter(|&i| word.starts_with(&self.plan.cover[i])).collect();
        found.sort_by_key(|&i| self.plan.cover[i].len());
        found
    }

    /// The `R⁺` of all states, for the split of the trace after cover word
    /// `start`; `None` if no choice of responses makes that the longest.
    fn reach_groups(&self, word: &[InputId], node: ObservationId, start: usize) -> Option<Vec<ReachGroup>> {
        let begin = self.plan.cover[start].len();
        let path = self.path_to(node, word.len());
        let mut groups = vec![ReachGroup::default(); self.model.n_states()];
        let group_of = |state: StateId| ioxide_model::index::Idx::index(state);
        debug_assert_eq!(path.len(), word.len() + 1, "the trace of a node has one output per input");
        for &visited in &path[begin + 1..] {
            let group = &mut groups[group_of(self.tree.state(visited)?)];
            group.visits += 1;
            let class = self.class_of(visited)?;
            if !group.classes.contains(&class) {
                group.classes.push(class);
            }
        }
        for (i, responses) in self.cover.iter().enumerate() {
            let length = self.plan.cover[i].len();
            let own = word.starts_with(&self.plan.cover[i]).then(|| path[length]);
            // `V''`: one response per word of the cover, such that the trace splits exactly behind word `start`. Its
            // own response is fixed there, and must not be chosen for a longer word of the cover, which would split
            // later.
            let fits = |response: ObservationId| match own {
                Some(own) if i == start => response == own,
                Some(own) if length > begin => response != own,
                _ => true,
            };
            let chosen: Vec<ObservationId> =
                responses.iter().copied().filter(|&response| fits(response)).collect();
            let state = self.tree.state(*chosen.first()?)?;
            let mut classes: Vec<ClassId> =
                chosen.into_iter().filter_map(|node| self.class_of(node)).collect();
            classes.sort_unstable();
            classes.dedup();
            groups[group_of(state)].cover = classes;
        }
        groups.retain(|group| group.visits > 0);
        Some(groups)
    }

    /// The nodes from the root to `node`.
    fn path_to(&self, node: ObservationId, length: usize) -> Vec<ObservationId> {
        let mut path = vec![node];
        let mut at = node;
        for _ in 0..length {
            at = self.tree.parent(at);
            path.push(at);
        }
        path.reverse();
        path
    }

    fn class_of(&self, node: ObservationId) -> Option<ClassId> {
        self.classes.get(ioxide_model::index::Idx::index(node)).copied().flatten()
    }

    /// Returns whether a failure was seen or too many words were tested; notes the latter in the report.
    fn should_stop(&mut self) -> bool {
        self.report.gave_up = self.report.tested.len() > self.plan.max_words;
        self.report.gave_up || !self.report.failures.is_empty()
    }

    /// Returns the report, with the size of what was executed.
    pub(super) fn finish(mut self) -> ReductionReport {
        (self.report.sequences, self.report.symbols) = self.tree.measure();
        self.report.failures.sort_unstable();
        self.report.failures.dedup();
        self.report
    }

    /// The greatest lower bound of each response to `word`.
    pub fn lower_bounds(&self, word: &[InputId]) -> Vec<(IoWord, usize)> {
        let seen = self.seen.len();
        let bound = |node| {
            let greatest = self.splits(word, node).map(|groups| lower_bound(seen, &groups)).max()?;
            Some((self.tree.trace(node), greatest))
        };
        self.responses(word).into_iter().filter_map(bound).collect()
    }

    /// The sets of answers seen after each response to `word`.
    pub fn behaviours(&self, word: &[InputId]) -> Vec<(IoWord, ClassId)> {
        let behaviour = |node| Some((self.tree.trace(node), self.class_of(node)?));
        self.responses(word).into_iter().filter_map(behaviour).collect()
    }
}
