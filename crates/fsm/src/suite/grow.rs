//! Growing a test tree until it is complete.
//!
//! *Without* convergence this is the H-method: `P · Σ^≤(extra+1)` in which
//! every two words of (A) the cover, (B) the cover and a longer word, (C) a
//! longer word and its own prefix beyond the cover are separated if they lead
//! to different states \[DEY05].
//!
//! *With* convergence each transition `(s, x)` into `t` is proved in turn.
//! Let `u` be a word of the class of `s` followed by `x`. If for every word
//! `γ` of `extra` symbols the cover, the words `u·γ'` and the words `t·γ'`, for
//! the prefixes `γ'` of `γ`, are separated wherever they lead to different states,
//! then `u` converges with the access word of `t` in every machine of the
//! fault domain that passes \[SPY12, Theorem 1]. Were they to lead to different
//! states of such a machine, a shortest word that separates those would split
//! one more class of states at each of its last `extra + 1` steps, beginning
//! with the `n` classes the cover is in, and there would be more states than
//! the domain allows. When all transitions are proved the machine is the
//! specification.

use super::convergence::{ConvergenceGraph, SpareGraph, TestContinuation, WordClassId};
use super::identify::{Identification, IdentifyRule, WordLibrary};
use super::paths::WordPaths;
use super::visit::{PendingTransitions, TransitionOrder};
use crate::cover::{StateCover, state_cover};
use crate::distinguish::WordCosts;
use crate::mealy::{InputId, StateId, SuiteModel};

/// The way in which a method grows its suites.
pub(super) struct GrowthRecipe {
    /// The rules to try.
    pub(super) rules: &'static [IdentifyRule],
    /// The orders to try, the first with every rule, the others with the best.
    pub(super) visits: &'static [TransitionOrder],
    /// The number of `visits` to try if there are no extra states: such suites take little time, and so may the
    /// choice.
    pub(super) visits_without_extra: usize,
    /// The number of `visits` to try if, besides, the machine has few transitions.
    pub(super) visits_if_small: usize,
    /// The way in which tests are continued where words converge; `None` to make no use of convergence.
    pub(super) converge: Option<TestContinuation>,
    /// True to search for cheaper identifiers if there are extra states.
    pub(super) search: bool,
}

impl GrowthRecipe {
    fn orders_to_try(&self, spec: &SuiteModel, extra: usize) -> &'static [TransitionOrder] {
        // Transitions; chosen by feel, so that trying an order takes milliseconds.
        const MAX_SMALL_TRANSITIONS: usize = 250;
        let n = match extra {
            0 if spec.n_states() * spec.n_inputs() <= MAX_SMALL_TRANSITIONS => self.visits_if_small,
            0 => self.visits_without_extra,
            _ => self.visits.len(),
        };
        &self.visits[..n]
    }
}

/// Returns the smallest of the suites that a recipe leads to; where trying all is too expensive, the suite of the
/// plan that is best for fewer extra states.
pub(super) fn grow_smallest_suite(spec: &SuiteModel, extra: usize, recipe: &GrowthRecipe) -> WordPaths {
    // On a machine too large for every rule of the recipe, harmonised identifiers alone still give a complete suite.
    let mut rules: Vec<IdentifyRule> =
        recipe.rules.iter().copied().filter(|&rule| is_rule_affordable(spec, rule)).collect();
    if rules.is_empty() {
        rules.push(IdentifyRule::Fixed);
    }
    let cover = state_cover(spec);
    let costs = WordCosts::new(spec, &cover, extra);
    let mut library =
        WordLibrary::new(spec, if recipe.search && extra > 0 { costs } else { costs.without_search() });
    if rules != [IdentifyRule::Fixed] {
        library = library.with_more_words();
    }
    let mut material = SuiteMaterial { spec, cover: &cover, library: &library, spare: SpareGraph::default() };
    // Suites grow with the power of `extra`, and the plan that is best for few extra states is mostly best for more:
    // where growing several suites is too expensive the plans are compared on a smaller fault domain.
    let trial = extra_for_trial(spec, extra);
    let plan = |rule, visit| GrowthPlan { extra: trial, rule, visit, converge: recipe.converge };
    let Some((&first, others)) = recipe.orders_to_try(spec, extra).split_first() else {
        return WordPaths::default();
    };
    let mut best =
        BestPlan { plan: plan(IdentifyRule::Fixed, first), cost: usize::MAX, paths: WordPaths::default() };
    if rules.len() > 1 || trial == extra || !others.is_empty() {
        // Not every rule with every order: first the best rule in the first order, then the best order for that rule.
        rules.iter().for_each(|&rule| best.try_plan(&mut material, plan(rule, first)));
        others.iter().for_each(|&visit| best.try_plan(&mut material, plan(best.plan.rule, visit)));
    }
    if trial == extra {
        debug_assert!(best.cost < usize::MAX, "the first plan has no limit to exceed");
        return best.paths;
    }
    material
        .grow_suite(&GrowthPlan { extra, ..best.plan }, usize::MAX)
        .map_or_else(WordPaths::default, |(_, paths)| paths)
}

/// The best of the plans tried.
struct BestPlan {
    plan: GrowthPlan,
    cost: usize,
    paths: WordPaths,
}

impl BestPlan {
    fn try_plan(&mut self, material: &mut SuiteMaterial<'_, '_>, plan: GrowthPlan) {
        if let Some((cost, paths)) = material.grow_suite(&plan, self.cost) {
            // `grow_suite` gave up unless the suite is cheaper, so a result is always the new best.
            debug_assert!(cost < self.cost);
            let before = std::mem::replace(self, Self { plan, cost, paths });
            material.spare.take_from(before.paths);
        }
    }
}

/// Returns whether a rule is worth its time: on large machines choosing word by word was seen to take long and to
/// save little.
fn is_rule_affordable(spec: &SuiteModel, rule: IdentifyRule) -> bool {
    // States, read off the benchmark of suites (`benches/suites.rs`).
    let max_states = match rule {
        IdentifyRule::Fixed => usize::MAX,
        IdentifyRule::FixedCover => 150,
        IdentifyRule::OnTheFly => 30,
    };
    spec.n_states() <= max_states
}

/// The greatest number of extra states, at most `extra`, for which trying
/// several plans is cheap.
fn extra_for_trial(spec: &SuiteModel, extra: usize) -> usize {
    // Words of `P · Σ^(e+1)`; chosen by feel, it bounds the time of a trial and nothing else.
    const MAX_TRIAL_WORDS: usize = 20_000;
    let words = |e: &usize| {
        let power = u32::try_from(e + 1).unwrap_or(u32::MAX);
        spec.n_inputs().saturating_pow(power).saturating_mul(spec.n_states())
    };
    (0..=extra).rev().find(|e| words(e) <= MAX_TRIAL_WORDS).unwrap_or(0)
}

/// One combination of a recipe's choices.
#[derive(Clone, Copy)]
pub struct GrowthPlan {
    pub extra: usize,
    pub rule: IdentifyRule,
    pub visit: TransitionOrder,
    pub converge: Option<TestContinuation>,
}

/// The material that all suites of one machine share.
pub struct SuiteMaterial<'s, 'n> {
    pub spec: &'s SuiteModel,
    pub cover: &'n StateCover,
    pub library: &'n WordLibrary<'s>,
    /// The memory of the last suite.
    pub spare: SpareGraph,
}

impl SuiteMaterial<'_, '_> {
    /// The paths of a complete suite and their cost, if that is below `limit`.
    pub fn grow_suite(&mut self, plan: &GrowthPlan, limit: usize) -> Option<(usize, WordPaths)> {
        let policy = plan.converge.unwrap_or(TestContinuation::InPlace);
        let graph = ConvergenceGraph::new(self.spec, self.cover, policy, std::mem::take(&mut self.spare));
        let identify = Identification::new(self.library, plan.rule);
        let mut grower = SuiteGrower { spec: self.spec, plan, graph, identify, path: Vec::new() };
        // (A) of the module: every two access words are separated.
        for &state in self.cover.order() {
            let node = grower.graph.access_node(state);
            grower.identify.identify(&mut grower.graph, node);
        }
        grower.graph.is_cover_separated = true;
        let mut pending = PendingTransitions::new(self.spec, self.cover, plan.visit);
        // The cost never falls, so a suite that reaches the limit cannot become the smallest.
        while grower.graph.cost < limit {
            let Some((state, input)) = pending.next_transition(&grower.graph) else {
                return Some((grower.graph.cost, grower.graph.into_paths(&mut self.spare)));
            };
            grower.cover_transition(state, input);
        }
        self.spare = grower.graph.into_spare();
        None
    }
}

struct SuiteGrower<'s, 'p, 'l> {
    spec: &'s SuiteModel,
    plan: &'p GrowthPlan,
    graph: ConvergenceGraph<'s>,
    identify: Identification<'l, 's>,
    /// The nodes along the current word beyond the cover.
    path: Vec<WordClassId>,
}

impl SuiteGrower<'_, '_, '_> {
    fn cover_transition(&mut self, state: StateId, input: InputId) {
        let node = self.graph.add_word(self.graph.access_node(state), &[input]);
        // (B): the transition and every word of `extra` symbols behind it are separated from the cover.
        self.identify_extensions(node, self.plan.extra);
        // (C): and from each other along each word. With convergence the same words behind the access word of the
        // target, the twin, take part, as the theorem asks for; without it they do not.
        let twin = self.plan.converge.map(|_| self.graph.access_node(self.spec.next(state, input)));
        self.separate_along(node, twin, self.plan.extra);
        // All premises of [SPY12, Theorem 1] hold for this transition now. From here on its words count as words of the
        // target's access node, which is what makes later transitions cheaper.
        if self.plan.converge.is_some() {
            self.graph.mark_convergent(state, input);
        }
    }

    /// Every word of `left` symbols at `node`, identified at each prefix, longest first.
    fn identify_extensions(&mut self, node: WordClassId, left: usize) {
        // Longest first: the words that identify an extension may serve its prefixes too.
        if left > 0 {
            for input in self.spec.inputs() {
                let kid = self.graph.add_word(node, &[input]);
                self.identify_extensions(kid, left - 1);
            }
        }
        self.identify.identify(&mut self.graph, node);
    }

    /// Makes the nodes along every word of `left` symbols at `node`, and at
    /// its `twin` if there is one, separated where their states differ.
    fn separate_along(&mut self, node: WordClassId, twin: Option<WordClassId>, left: usize) {
        // Without extra states a path has one node beyond the cover, and (B) has separated that from the access nodes.
        if self.plan.extra == 0 {
            return;
        }
        self.separate_from_path(node);
        if let Some(twin) = twin {
            self.identify.identify(&mut self.graph, twin);
            self.separate_from_path(twin);
        }
        if left == 0 {
            return;
        }
        let depth = self.path.len();
        self.path.push(node);
        self.path.extend(twin);
        for input in self.spec.inputs() {
            let next = self.graph.add_word(node, &[input]);
            let next_twin = twin.map(|twin| self.graph.add_word(twin, &[input]));
            self.separate_along(next, next_twin, left - 1);
        }
        self.path.truncate(depth);
    }

    fn separate_from_path(&mut self, node: WordClassId) {
        for i in 0..self.path.len() {
            let other = self.path[i];
            // Access nodes were separated from every other node as (B) went along.
            if self.graph.state(node) == self.graph.state(other)
                || self.graph.is_access_node(node)
                || self.graph.is_access_node(other)
            {
                continue;
            }
            if !self.graph.are_separated(node, other) {
                self.identify.separate(&mut self.graph, node, other);
            }
        }
    }
}
