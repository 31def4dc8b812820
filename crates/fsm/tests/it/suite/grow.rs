//! Tests of `suite::grow`.

use ioxide_model::index::Idx;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use ioxide_fsm::complete::{CompletenessAnswer, check_suite};
use ioxide_fsm::cover::state_cover;
use ioxide_fsm::distinguish::WordCosts;
use ioxide_fsm::mealy::{Mealy, SuiteModel};
use ioxide_fsm::suite::convergence::{ConvergenceGraph, SpareGraph, TestContinuation};
use ioxide_fsm::suite::grow::{GrowthPlan, SuiteMaterial};
use ioxide_fsm::suite::identify::{IdentifyRule, WordLibrary};
use ioxide_fsm::suite::visit::{InputOrder, PendingTransitions, StateOrder, TransitionOrder};
use ioxide_fsm::suite::{RESET_COST, WordSuite};
use ioxide_fsm::word::Word;

const STATE_ORDERS: [StateOrder; 4] =
    [StateOrder::Shallowest, StateOrder::Deepest, StateOrder::MostOpen, StateOrder::FewestOpen];
const INPUT_ORDERS: [InputOrder; 3] = [InputOrder::Listed, InputOrder::DeepFirst, InputOrder::ShallowFirst];

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
    let policies = [None, Some(TestContinuation::FromPrefix), Some(TestContinuation::FromAnywhere)];
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
    let costs = WordCosts::new(spec, &cover, extra);
    for weights in [costs.clone().without_search(), costs] {
        let library = WordLibrary::new(spec, weights).with_more_words();
        let mut material =
            SuiteMaterial { spec, cover: &cover, library: &library, spare: SpareGraph::default() };
        for plan in every_plan(extra) {
            let (cost, paths) = material.grow_suite(&plan, usize::MAX).unwrap();
            assert!(
                material.grow_suite(&plan, cost).is_none(),
                "a suite that costs the limit is not below it"
            );
            let suite: Vec<Word> = WordSuite::from_paths(paths).collect();
            assert_eq!(suite.iter().map(|word| word.len() + RESET_COST).sum::<usize>(), cost);
            let answer = check_suite(spec, &suite, spec.n_states() + extra, 20_000_000);
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
        let graph = ConvergenceGraph::new(&spec, &cover, TestContinuation::InPlace, SpareGraph::default());
        for (states, inputs) in STATE_ORDERS.into_iter().flat_map(|s| INPUT_ORDERS.map(|i| (s, i))) {
            let mut pending = PendingTransitions::new(&spec, &cover, TransitionOrder::new(states, inputs));
            let mut met: Vec<_> = std::iter::from_fn(|| pending.next_transition(&graph)).collect();
            met.sort_unstable();
            let all = spec.states().flat_map(|s| spec.inputs().map(move |x| (s, x)));
            let expected: Vec<_> = all.filter(|&(s, x)| !cover.has_edge(&spec, s, x)).collect();
            assert_eq!(met, expected, "{states:?} {inputs:?}");
            assert_eq!(met.len(), 12 - (spec.states().last().unwrap().index()));
        }
    }
}
