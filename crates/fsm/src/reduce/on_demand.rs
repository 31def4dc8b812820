//! State counting with cases on demand: the H-variation of \[Sachtleben18, §8.1.2].
//!
//! No characterising set is applied as a matter of course. A trace is counted
//! with the sets `R⁺` of pairwise r-distinguishable states only; where that
//! count would end the trace, the cases that distinguish its prefixes are
//! applied, unless a case that does so was applied to both already. Traces
//! elsewhere that were distinguished from all of these, and from each other, are
//! further states. Where that is not enough but all cases might be, they are
//! all applied along the trace and it is counted as the refined algorithm does.
//!
//! *Differs* from the sketch in looking for further states greedily, among all
//! traces, by whatever cases two of them have in common, and in that last resort.

use ioxide_model::index::Idx;
use rustc_hash::{FxHashMap, FxHashSet};

use super::bound::{ReachGroup, exceeds};
use super::tree::{ClassId, ObservationId, ResponseTree};
use super::{AdaptiveCase, AdaptiveSystem, CountingPlan, RDistinguish, ReductionReport};
use crate::mealy::{InputId, StateId};
use crate::nfsm::Observable;
use crate::word::Word;

/// Tests whether `system` is a reduction of `model`, with as few cases as needed.
///
/// Stops at the first failure.
pub fn on_demand_counting<S: AdaptiveSystem>(
    model: &Observable,
    system: &mut S,
    plan: &CountingPlan,
) -> Result<ReductionReport, S::Error> {
    let mut counting = OnDemandCounting::new(model, system, plan);
    let mut current: Vec<(Word, ObservationId)> = Vec::new();
    for word in &plan.cover {
        let nodes = counting.test_word(word)?;
        counting.cover.push(nodes.clone());
        current.extend(nodes.into_iter().map(|node| (word.clone(), node)));
    }
    while !current.is_empty() && !counting.should_stop() {
        counting.report.iterations += 1;
        let mut next = Vec::new();
        for (word, node) in current {
            if !counting.should_stop() && !counting.is_counted_out(&word, node)? {
                next.extend(counting.apply_extensions(&word, node)?);
            }
        }
        current = next;
    }
    Ok(counting.finish())
}

/// `R⁺` of one state of the model.
struct ReachVisits {
    state: StateId,
    /// The prefixes beyond the cover, then the response chosen for the cover's word.
    nodes: Vec<ObservationId>,
    covered: bool,
}

struct OnDemandCounting<'a, 'm, S> {
    model: &'m Observable,
    system: &'a mut S,
    plan: &'a CountingPlan,
    distinguish: RDistinguish<'m>,
    /// For each pair of states the cases that distinguish it.
    serving: FxHashMap<(StateId, StateId), Vec<usize>>,
    tree: ResponseTree<'m>,
    /// For each node the class of the answers to each case applied after it; `None` for a case that was not.
    shown: FxHashMap<ObservationId, Vec<Option<ClassId>>>,
    /// Nodes whose answers to the cases differ, in the order in which they were met.
    known: Vec<ObservationId>,
    signatures: FxHashSet<Vec<Option<ClassId>>>,
    /// The first trace that led to each state of the model.
    first: Vec<Option<ObservationId>>,
    /// The sets of answers to all cases seen so far.
    full: FxHashSet<ClassId>,
    cover: Vec<Vec<ObservationId>>,
    tested: FxHashSet<Word>,
    report: ReductionReport,
}

impl<'a, 'm, S: AdaptiveSystem> OnDemandCounting<'a, 'm, S> {
    /// Makes a search that has asked `system` nothing yet, with the test cases of `plan` that r-distinguish each pair
    /// of states.
    pub fn new(model: &'m Observable, system: &'a mut S, plan: &'a CountingPlan) -> Self {
        let distinguish = RDistinguish::new(model);
        let mut serving = FxHashMap::default();
        for (a, b) in distinguish.pairs() {
            let serves = |&i: &usize| plan.cases[i].r_distinguishes(model, a, b);
            let cases: Vec<usize> = (0..plan.cases.len()).filter(serves).collect();
            serving.insert((a, b), cases.clone());
            serving.insert((b, a), cases);
        }
        Self {
            model,
            system,
            plan,
            distinguish,
            serving,
            tree: ResponseTree::new(model),
            shown: FxHashMap::default(),
            known: Vec::new(),
            signatures: FxHashSet::default(),
            first: vec![None; model.n_states()],
            full: FxHashSet::default(),
            cover: Vec::new(),
            tested: FxHashSet::default(),
            report: ReductionReport::default(),
        }
    }

    /// Applies a case to the system and adds the traces it shows to the tree; those that the specification forbids
    /// are failures.
    fn apply_case(&mut self, case: &AdaptiveCase) -> Result<(), S::Error> {
        for trace in self.system.observe(case)? {
            if !self.tree.insert(&trace) {
                self.report.failures.push(trace);
            }
        }
        Ok(())
    }

    /// Applies `word` alone and returns its responses.
    fn test_word(&mut self, word: &[InputId]) -> Result<Vec<ObservationId>, S::Error> {
        self.record_tested_word(word);
        self.apply_case(&AdaptiveCase::from_word(word))?;
        Ok(word.iter().fold(vec![self.tree.root()], |nodes, &input| {
            nodes.iter().flat_map(|&node| self.tree.nodes_after(node, input)).collect()
        }))
    }

    fn record_tested_word(&mut self, word: &[InputId]) {
        if self.tested.insert(word.to_vec()) {
            self.report.tested.push(word.to_vec());
        }
    }

    /// Applies every input after the trace of `node`.
    fn apply_extensions(
        &mut self,
        word: &[InputId],
        node: ObservationId,
    ) -> Result<Vec<(Word, ObservationId)>, S::Error> {
        let mut next = Vec::new();
        for input in self.model.inputs() {
            let longer = [word, &[input]].concat();
            // Words of the cover were applied at the start.
            if self.plan.cover.contains(&longer) {
                continue;
            }
            self.record_tested_word(&longer);
            self.apply_case(&AdaptiveCase::after_trace(
                &self.tree.trace(node),
                AdaptiveCase::from_word(&[input]),
            ))?;
            let reached: Vec<ObservationId> = self.tree.nodes_after(node, input).collect();
            next.extend(reached.into_iter().map(|node| (longer.clone(), node)));
        }
        Ok(next)
    }

    /// Applies a case after `node` unless that was done before.
    fn apply_case_once(&mut self, node: ObservationId, case: usize) -> Result<(), S::Error> {
        let n_cases = self.plan.cases.len();
        if self.shown.get(&node).is_some_and(|shown| shown[case].is_some()) {
            return Ok(());
        }
        self.apply_case(&AdaptiveCase::after_trace(&self.tree.trace(node), self.plan.cases[case].clone()))?;
        let class = self.tree.classify(node, std::slice::from_ref(&self.plan.cases[case]));
        let shown = self.shown.entry(node).or_insert_with(|| vec![None; n_cases]);
        shown[case] = Some(class);
        if self.signatures.insert(shown.clone()) {
            self.known.push(node);
        }
        Ok(())
    }

    /// Returns whether some case was applied after both nodes and showed different sets of answers.
    fn are_separated(&self, a: ObservationId, b: ObservationId) -> bool {
        let (Some(a), Some(b)) = (self.shown.get(&a), self.shown.get(&b)) else { return false };
        a.iter().zip(b).any(|(a, b)| a.is_some() && b.is_some() && a != b)
    }

    /// Returns whether the trace of `node` need not be extended, and applies the cases on which that depends.
    fn is_counted_out(&mut self, word: &[InputId], node: ObservationId) -> Result<bool, S::Error> {
        if let Some(state) = self.tree.state(node) {
            self.first[state.index()].get_or_insert(node);
        }
        let Some(visits) = self.reach_visits(word, node) else { return Ok(true) };
        // First the count by the model alone, without a test: `R⁺` of states that no reduction can merge.
        let counted = self.heaviest_states(&visits);
        let nodes: Vec<ObservationId> =
            counted.iter().flat_map(|&i| visits[i].nodes.iter().copied()).collect();
        debug_assert!(counted.iter().all(|&i| !visits[i].nodes.is_empty()));
        if nodes.len() + self.count_further_states(&nodes) <= self.plan.bound {
            return self.is_counted_out_by_all_cases(&visits);
        }
        // The count ends the trace, provided that the system does separate what the model says it must: test that now.
        for (at, &i) in counted.iter().enumerate() {
            for &j in &counted[..at] {
                self.separate(&visits[i], &visits[j])?;
            }
        }
        Ok(true)
    }

    /// Applies all cases to all prefixes and counts, if that may well end the
    /// trace: if states of the model met twice are answered alike, and
    /// different ones are not.
    fn is_counted_out_by_all_cases(&mut self, visits: &[ReachVisits]) -> Result<bool, S::Error> {
        let met: Vec<ObservationId> = self.first.iter().copied().flatten().collect();
        // Each state of the model met again counts once more if all cases are answered alike; if even that is not
        // enough, the tests would be wasted.
        let again: usize = visits.iter().map(|visits| visits.nodes.len() - 1).sum();
        if met.len().max(self.full.len()) + again <= self.plan.bound {
            return Ok(false);
        }
        let nodes: Vec<ObservationId> =
            visits.iter().flat_map(|visits| visits.nodes.iter().copied()).collect();
        for node in nodes.into_iter().chain(met) {
            for case in 0..self.plan.cases.len() {
                self.apply_case_once(node, case)?;
            }
            let class = self.tree.classify(node, &self.plan.cases);
            self.full.insert(class);
        }
        let groups: Vec<ReachGroup> = visits.iter().map(|visits| self.reach_group(visits)).collect();
        Ok(exceeds(self.plan.bound, self.full.len(), &groups))
    }

    fn reach_group(&mut self, visits: &ReachVisits) -> ReachGroup {
        let mut classes: Vec<ClassId> =
            visits.nodes.iter().map(|&node| self.tree.classify(node, &self.plan.cases)).collect();
        let cover = if visits.covered { classes.split_off(classes.len() - 1) } else { Vec::new() };
        let visits = classes.len();
        classes.sort_unstable();
        classes.dedup();
        ReachGroup { visits, classes, cover }
    }

    /// Makes sure that a case that serves the states was applied to all their nodes.
    fn separate(&mut self, a: &ReachVisits, b: &ReachVisits) -> Result<(), S::Error> {
        let serving = self.serving[&(a.state, b.state)].clone();
        for &first in &a.nodes {
            for &second in &b.nodes {
                let done = |node: ObservationId, case: usize| {
                    usize::from(self.shown.get(&node).is_some_and(|shown| shown[case].is_some()))
                };
                // The case that was applied to one of the two already costs one test instead of two.
                let best = serving.iter().copied().max_by_key(|&case| done(first, case) + done(second, case));
                if let Some(case) = best {
                    self.apply_case_once(first, case)?;
                    self.apply_case_once(second, case)?;
                }
            }
        }
        Ok(())
    }

    /// Returns the number of known nodes, chosen greedily, that the cases applied separate from all of `visits` and
    /// from each other.
    fn count_further_states(&self, visits: &[ObservationId]) -> usize {
        let mut chosen: Vec<ObservationId> = Vec::new();
        for &node in &self.known {
            // Told from all that are counted and from each other: certainly another state. Greedy, since the best
            // choice is a largest clique.
            if visits.iter().chain(&chosen).all(|&other| self.are_separated(node, other)) {
                chosen.push(node);
            }
        }
        chosen.len()
    }

    /// `R⁺` of each state that has one, the first response chosen for words of
    /// the cover that are no prefix of `word`.
    fn reach_visits(&self, word: &[InputId], node: ObservationId) -> Option<Vec<ReachVisits>> {
        let mut path = vec![node];
        for i in 0..word.len() {
            path.push(self.tree.parent(path[i]));
        }
        path.reverse();
        let prefixes = self.plan.cover.iter().filter(|access| word.starts_with(access));
        let begin = prefixes.map(Vec::len).max().unwrap_or(0);
        let fresh = |state| ReachVisits { state, nodes: Vec::new(), covered: false };
        let mut visits: Vec<ReachVisits> = self.model.states().map(fresh).collect();
        debug_assert_eq!(path.len(), word.len() + 1, "the trace of a node has one output per input");
        for &visited in &path[begin + 1..] {
            visits[self.tree.state(visited)?.index()].nodes.push(visited);
        }
        for (access, responses) in self.plan.cover.iter().zip(&self.cover) {
            let own = word.starts_with(access).then(|| path[access.len()]);
            let response = own.or_else(|| responses.first().copied())?;
            let visits = &mut visits[self.tree.state(response)?.index()];
            visits.nodes.push(response);
            visits.covered = true;
        }
        visits.retain(|visits| !visits.nodes.is_empty());
        Some(visits)
    }

    /// Returns pairwise r-distinguishable states with the most nodes, by branch and bound.
    fn heaviest_states(&self, visits: &[ReachVisits]) -> Vec<usize> {
        let mut best = (0, Vec::new());
        self.search_heaviest(visits, 0, &mut Vec::new(), 0, &mut best);
        best.1
    }

    fn search_heaviest(
        &self,
        visits: &[ReachVisits],
        next: usize,
        taken: &mut Vec<usize>,
        sum: usize,
        best: &mut (usize, Vec<usize>),
    ) {
        if sum > best.0 {
            *best = (sum, taken.clone());
        }
        // Branch and bound: take the rest as if all of it fitted.
        let left: usize = visits[next..].iter().map(|visits| visits.nodes.len()).sum();
        if next == visits.len() || sum + left <= best.0 {
            return;
        }
        let ReachVisits { state, nodes, .. } = &visits[next];
        if taken.iter().all(|&i| self.distinguish.level(*state, visits[i].state).is_some()) {
            taken.push(next);
            self.search_heaviest(visits, next + 1, taken, sum + nodes.len(), best);
            taken.pop();
        }
        self.search_heaviest(visits, next + 1, taken, sum, best);
    }

    /// Returns whether a failure was seen or too many words were tested; notes the latter in the report.
    fn should_stop(&mut self) -> bool {
        self.report.gave_up = self.report.tested.len() > self.plan.max_words;
        self.report.gave_up || !self.report.failures.is_empty()
    }

    /// Returns the report, with the size of what was executed.
    fn finish(mut self) -> ReductionReport {
        (self.report.sequences, self.report.symbols) = self.tree.measure();
        self.report.failures.sort_unstable();
        self.report.failures.dedup();
        self.report
    }
}
