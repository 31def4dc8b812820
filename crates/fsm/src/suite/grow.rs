//! Growing a folded test tree until it is complete.
//!
//! *Without* convergence this is the H-method: `P · Σ^≤(extra+1)` in which
//! every two words of (A) the cover, (B) the cover and a longer word, (C) a
//! longer word and its own prefix beyond the cover are apart if they lead to
//! different states [DEY05].
//!
//! *With* convergence each transition `(s, x)` into `t` is proved in turn.
//! Let `u` be a word of the class of `s` followed by `x`. If for every word
//! `γ` of `extra` symbols the cover, the words `u·γ'` and the words `t·γ'`, for
//! the prefixes `γ'` of `γ`, are apart wherever they lead to different states,
//! then `u` converges with the access word of `t` in every machine of the
//! fault domain that passes [SPY12, Theorem 1]. Were they to lead to different
//! states of such a machine, a shortest word that separates those would split
//! one more class of states at each of its last `extra + 1` steps, beginning
//! with the `n` classes the cover is in, and there would be more states than
//! the domain allows. When all transitions are proved the machine is the
//! specification.

use super::fold::{FoldContinuation, FoldId, SpareFold, SuiteFold};
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
    pub(super) converge: Option<FoldContinuation>,
    /// True to search for cheaper identifiers if there are extra states.
    pub(super) search: bool,
}

impl GrowthRecipe {
    fn visits_for(&self, spec: &SuiteModel, extra: usize) -> &'static [TransitionOrder] {
        const SMALL: usize = 250;
        let n = match extra {
            0 if spec.n_states() * spec.n_inputs() <= SMALL => self.visits_if_small,
            0 => self.visits_without_extra,
            _ => self.visits.len(),
        };
        &self.visits[..n]
    }
}

/// Returns the smallest of the suites that a recipe leads to; where trying all is too expensive, the suite of the
/// plan that is best for fewer extra states.
pub(super) fn smallest(spec: &SuiteModel, extra: usize, recipe: &GrowthRecipe) -> WordPaths {
    let mut rules: Vec<IdentifyRule> =
        recipe.rules.iter().copied().filter(|&rule| pays(spec, rule)).collect();
    if rules.is_empty() {
        rules.push(IdentifyRule::Fixed);
    }
    let cover = state_cover(spec);
    let weights = WordCosts::new(spec, &cover, extra);
    let mut library =
        WordLibrary::new(spec, if recipe.search && extra > 0 { weights } else { weights.without_search() });
    if rules != [IdentifyRule::Fixed] {
        library = library.with_more_words();
    }
    let mut material = SuiteMaterial { spec, cover: &cover, library: &library, spare: SpareFold::default() };
    let trial = extra_for_trial(spec, extra);
    let plan = |rule, visit| GrowthPlan { extra: trial, rule, visit, converge: recipe.converge };
    let Some((&first, others)) = recipe.visits_for(spec, extra).split_first() else {
        return WordPaths::default();
    };
    let mut best =
        BestPlan { plan: plan(IdentifyRule::Fixed, first), cost: usize::MAX, paths: WordPaths::default() };
    if rules.len() > 1 || trial == extra || !others.is_empty() {
        rules.iter().for_each(|&rule| best.try_out(&mut material, plan(rule, first)));
        others.iter().for_each(|&visit| best.try_out(&mut material, plan(best.plan.rule, visit)));
    }
    if trial == extra {
        return best.paths;
    }
    material
        .grow(&GrowthPlan { extra, ..best.plan }, usize::MAX)
        .map_or_else(WordPaths::default, |(_, paths)| paths)
}

/// The best of the plans tried.
struct BestPlan {
    plan: GrowthPlan,
    cost: usize,
    paths: WordPaths,
}

impl BestPlan {
    fn try_out(&mut self, material: &mut SuiteMaterial<'_, '_>, plan: GrowthPlan) {
        if let Some((cost, paths)) = material.grow(&plan, self.cost) {
            let before = std::mem::replace(self, Self { plan, cost, paths });
            material.spare.take_from(before.paths);
        }
    }
}

/// Returns whether a rule is worth its time: on large machines choosing word by word was seen to take long and to
/// save little.
fn pays(spec: &SuiteModel, rule: IdentifyRule) -> bool {
    let most = match rule {
        IdentifyRule::Fixed => usize::MAX,
        IdentifyRule::FixedCover => 150,
        IdentifyRule::OnTheFly => 30,
    };
    spec.n_states() <= most
}

/// The greatest number of extra states, at most `extra`, for which trying
/// several plans is cheap.
fn extra_for_trial(spec: &SuiteModel, extra: usize) -> usize {
    const CHEAP: usize = 20_000;
    let words = |e: &usize| {
        let power = u32::try_from(e + 1).unwrap_or(u32::MAX);
        spec.n_inputs().saturating_pow(power).saturating_mul(spec.n_states())
    };
    (0..=extra).rev().find(|e| words(e) <= CHEAP).unwrap_or(0)
}

/// One combination of a recipe's choices.
#[derive(Clone, Copy)]
struct GrowthPlan {
    extra: usize,
    rule: IdentifyRule,
    visit: TransitionOrder,
    converge: Option<FoldContinuation>,
}

/// The material that all suites of one machine share.
struct SuiteMaterial<'s, 'n> {
    spec: &'s SuiteModel,
    cover: &'n StateCover,
    library: &'n WordLibrary<'s>,
    /// The memory of the last suite.
    spare: SpareFold,
}

impl SuiteMaterial<'_, '_> {
    /// The paths of a complete suite and their cost, if that is below `limit`.
    fn grow(&mut self, plan: &GrowthPlan, limit: usize) -> Option<(usize, WordPaths)> {
        let policy = plan.converge.unwrap_or(FoldContinuation::InPlace);
        let fold = SuiteFold::new(self.spec, self.cover, policy, std::mem::take(&mut self.spare));
        let identify = Identification::new(self.library, plan.rule);
        let mut grower = SuiteGrower { spec: self.spec, plan, fold, identify, path: Vec::new() };
        // (A) of the module: every two access words are apart.
        for &state in self.cover.order() {
            let root = grower.fold.root(state);
            grower.identify.identify(&mut grower.fold, root);
        }
        grower.fold.roots_apart = true;
        let mut pending = PendingTransitions::new(self.spec, self.cover, plan.visit);
        while grower.fold.cost < limit {
            let Some((state, input)) = pending.next(&grower.fold) else {
                return Some((grower.fold.cost, grower.fold.into_paths(&mut self.spare)));
            };
            grower.transition(state, input);
        }
        self.spare = grower.fold.into_spare();
        None
    }
}

struct SuiteGrower<'s, 'p, 'l> {
    spec: &'s SuiteModel,
    plan: &'p GrowthPlan,
    fold: SuiteFold<'s>,
    identify: Identification<'l, 's>,
    /// The nodes along the current word beyond the cover.
    path: Vec<FoldId>,
}

impl SuiteGrower<'_, '_, '_> {
    fn transition(&mut self, state: StateId, input: InputId) {
        let node = self.fold.add(self.fold.root(state), &[input]);
        // (B): the transition and every word of `extra` symbols behind it are apart from the cover.
        self.below(node, self.plan.extra);
        // (C): and from each other along each word. With convergence the same words behind the access word of the target,
        // the twin, take part, as the theorem asks for; without it they do not.
        let twin = self.plan.converge.map(|_| self.fold.root(self.spec.next(state, input)));
        self.apart_along(node, twin, self.plan.extra);
        if self.plan.converge.is_some() {
            self.fold.prove(state, input);
        }
    }

    /// Every word of `left` symbols at `node`, identified at each prefix, longest first.
    fn below(&mut self, node: FoldId, left: usize) {
        if left > 0 {
            for input in self.spec.inputs() {
                let kid = self.fold.add(node, &[input]);
                self.below(kid, left - 1);
            }
        }
        self.identify.identify(&mut self.fold, node);
    }

    /// Makes the nodes along every word of `left` symbols at `node`, and at
    /// its `twin` if there is one, apart where their states differ.
    fn apart_along(&mut self, node: FoldId, twin: Option<FoldId>, left: usize) {
        if self.plan.extra == 0 {
            return;
        }
        self.apart_from_path(node);
        if let Some(twin) = twin {
            self.identify.identify(&mut self.fold, twin);
            self.apart_from_path(twin);
        }
        if left == 0 {
            return;
        }
        let depth = self.path.len();
        self.path.push(node);
        self.path.extend(twin);
        for input in self.spec.inputs() {
            let next = self.fold.add(node, &[input]);
            let next_twin = twin.map(|twin| self.fold.add(twin, &[input]));
            self.apart_along(next, next_twin, left - 1);
        }
        self.path.truncate(depth);
    }

    fn apart_from_path(&mut self, node: FoldId) {
        for i in 0..self.path.len() {
            let other = self.path[i];
            // Roots were made apart from every other node as (B) went along.
            if self.fold.state(node) == self.fold.state(other)
                || self.fold.is_root(node)
                || self.fold.is_root(other)
            {
                continue;
            }
            if !self.fold.apart(node, other) {
                self.identify.separate(&mut self.fold, node, other);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use ioxide_model::index::Idx;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::super::visit::{InputOrder, StateOrder};
    use super::super::{RESET_COST, SuiteSource, WordSuite};
    use super::*;
    use crate::complete::{CompletenessAnswer, check};
    use crate::mealy::Mealy;
    use crate::word::Word;

    const STATE_ORDERS: [StateOrder; 4] =
        [StateOrder::Shallowest, StateOrder::Deepest, StateOrder::MostOpen, StateOrder::FewestOpen];
    const INPUT_ORDERS: [InputOrder; 3] =
        [InputOrder::Listed, InputOrder::DeepFirst, InputOrder::ShallowFirst];

    fn random_specs(seed: u64, states: usize) -> impl Iterator<Item = SuiteModel> {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        std::iter::repeat_with(move || {
            let entry = |_| Some((rng.random_range(0..states), rng.random_range(0..2)));
            let table: Vec<_> = (0..states * 2).map(entry).collect();
            SuiteModel::check(&Mealy::from_table(states, 2, 2, &table)?).ok()
        })
        .flatten()
    }

    fn every_plan(extra: usize) -> Vec<GrowthPlan> {
        let policies = [None, Some(FoldContinuation::FromPrefix), Some(FoldContinuation::FromAnywhere)];
        let mut plans = Vec::new();
        for (rule, converge) in
            IdentifyRule::ALL.into_iter().flat_map(|rule| policies.map(|policy| (rule, policy)))
        {
            for (states, inputs) in STATE_ORDERS.into_iter().flat_map(|s| INPUT_ORDERS.map(|i| (s, i))) {
                plans.push(GrowthPlan { extra, rule, visit: TransitionOrder::new(states, inputs), converge });
            }
        }
        plans
    }

    /// Every rule in every order, with and without a search for identifiers, against the checker.
    fn check_every_plan(spec: &SuiteModel, extra: usize) {
        let cover = state_cover(spec);
        let weights = WordCosts::new(spec, &cover, extra);
        for weights in [weights.clone().without_search(), weights] {
            let library = WordLibrary::new(spec, weights).with_more_words();
            let mut material =
                SuiteMaterial { spec, cover: &cover, library: &library, spare: SpareFold::default() };
            for plan in every_plan(extra) {
                let (cost, paths) = material.grow(&plan, usize::MAX).unwrap();
                assert!(material.grow(&plan, cost).is_none(), "a suite that costs the limit is not below it");
                let suite: Vec<Word> = WordSuite(SuiteSource::Kept(paths)).collect();
                assert_eq!(suite.iter().map(|word| word.len() + RESET_COST).sum::<usize>(), cost);
                let answer = check(spec, &suite, spec.n_states() + extra, 20_000_000);
                assert_eq!(answer, CompletenessAnswer::Complete, "{:?} {:?}", plan.rule, plan.visit);
            }
        }
    }

    #[test]
    fn every_order_leads_to_a_complete_suite() {
        for (seed, states) in [(1, 3), (2, 4), (3, 5)] {
            random_specs(seed, states).take(4).for_each(|spec| check_every_plan(&spec, 0));
        }
        random_specs(4, 3).take(3).for_each(|spec| check_every_plan(&spec, 1));
    }

    #[test]
    fn every_transition_comes_once_in_every_order() {
        for spec in random_specs(5, 6).take(5) {
            let cover = state_cover(&spec);
            let fold = SuiteFold::new(&spec, &cover, FoldContinuation::InPlace, SpareFold::default());
            for (states, inputs) in STATE_ORDERS.into_iter().flat_map(|s| INPUT_ORDERS.map(|i| (s, i))) {
                let mut pending =
                    PendingTransitions::new(&spec, &cover, TransitionOrder::new(states, inputs));
                let mut met: Vec<_> = std::iter::from_fn(|| pending.next(&fold)).collect();
                met.sort_unstable();
                let all = spec.states().flat_map(|s| spec.inputs().map(move |x| (s, x)));
                let expected: Vec<_> = all.filter(|&(s, x)| !cover.has_edge(&spec, s, x)).collect();
                assert_eq!(met, expected, "{states:?} {inputs:?}");
                assert_eq!(met.len(), 12 - (spec.states().last().unwrap().index()));
            }
        }
    }
}
