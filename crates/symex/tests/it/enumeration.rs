//! Cross-checks: random finite models, their semantics enumerated state by state.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use self::explanations::{ItemCounts, count_items};
use self::explicit::Explicit;
use self::queues::Queues;
use self::random::{Recipe, build, recipe};
use ioxide_model::concrete::{ConcreteState, initial_state};
use ioxide_model::label::Label;
use ioxide_model::sts::{Model, SwitchId};
use ioxide_model::term::Term;
use ioxide_model::valuation::Valuation;
use ioxide_smt::brute::BruteSolver;
use ioxide_smt::solver::SolverDecision;
use ioxide_symex::RegionRevisit;
use ioxide_symex::{
    AllowedLabel, Belief, Ctx, Monitor, PathItem, Quiescence, SymState, is_quiescent, list_offers,
};
use ioxide_symex::{ExploreConfig, ExploreLimits, ExploreOrder, IgnoreDead, StopReason, explore};
use proptest::prelude::*;

mod explanations;
mod explicit;
mod queues;
mod random;

/// The items that the monitor has counted on the paths of a run.
#[derive(Default)]
struct CountedItems(BTreeMap<PathItem, u64>);

impl CountedItems {
    /// Takes what is certain by now, and returns the bounds of everything.
    fn count(&mut self, monitor: &mut Monitor) -> ItemCounts {
        for (item, times) in monitor.take_certain_items() {
            *self.0.entry(item).or_default() += times;
        }
        let mut all: ItemCounts = self.0.iter().map(|(&item, &times)| (item, (times, times))).collect();
        for (item, times) in monitor.possible_items() {
            all.entry(item).or_default().1 += times;
        }
        all
    }
}

/// The concrete states `state` stands for, by enumerating the values of its variables.
fn interpretations(cx: &mut Ctx<'_>, state: &SymState) -> BTreeSet<ConcreteState> {
    let mut terms: Vec<Term> = state.store.terms().to_vec();
    terms.extend(state.path.facts());
    let vars = cx.pool.free_vars_of(&terms);
    let domains: Vec<_> = vars
        .iter()
        .map(|var| cx.pool.finite_domain(cx.pool.var_info(*var).sort).expect("random models are finite"))
        .collect();
    let mut found = BTreeSet::new();
    for valuation in explicit::valuations(&vars, &domains) {
        let holds = |fact: &Term| cx.pool.holds(*fact, &valuation) == Ok(true);
        if state.path.facts().iter().all(holds) {
            let value =
                |(var, term)| (var, cx.pool.eval(term, &valuation).expect("all variables have values"));
            let values: Valuation = state.store.iter(cx.sts).map(value).collect();
            found.insert(ConcreteState { loc: state.loc, values });
        }
    }
    found
}

fn configs() -> [ExploreConfig; 3] {
    let limits = ExploreLimits { max_states: 400, max_depth: 6 };
    let with = |revisit, ignore_dead, order| ExploreConfig {
        order,
        revisit,
        ignore_dead,
        limits,
        symmetry: ioxide_symex::Symmetry::default(),
        only: None,
    };
    [
        with(RegionRevisit::MergeEquivalent, IgnoreDead::No, ExploreOrder::BreadthFirst),
        with(RegionRevisit::MergeSubsumed, IgnoreDead::No, ExploreOrder::BreadthFirst),
        with(RegionRevisit::MergeSubsumed, IgnoreDead::Except(Vec::new()), ExploreOrder::DepthFirst),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    /// Symbolic and concrete execution reach the same states by the same switches.
    #[test]
    fn symbolic_execution_agrees_with_concrete(recipe in recipe()) {
        let mut model = build(&recipe);
        let explicit = Explicit::explore(&model);
        let mut solver = BruteSolver::new();
        let mut cx = Ctx::new(&mut model, &mut solver);
        let result = explore(&mut cx, &configs()[0], &mut |_| ControlFlow::Continue(()));
        let mut covered = BTreeSet::new();
        let nodes: Vec<SymState> = result.graph.nodes.iter().cloned().collect();
        for state in &nodes {
            covered.extend(interpretations(&mut cx, state));
        }
        prop_assert!(covered.is_subset(&explicit.states), "a symbolic state stands for one that cannot be reached");
        if result.stop == StopReason::Exhausted {
            prop_assert_eq!(&covered, &explicit.states);
            prop_assert_eq!(result.taken_switches(), explicit.taken);
        }
    }

    /// However states are merged, the same switches are found.
    #[test]
    fn merging_loses_no_switch(recipe in recipe()) {
        let mut model = build(&recipe);
        let explicit = Explicit::explore(&model);
        for config in configs() {
            let mut solver = BruteSolver::new();
            let mut cx = Ctx::new(&mut model, &mut solver);
            let result = explore(&mut cx, &config, &mut |_| ControlFlow::Continue(()));
            prop_assert_eq!(result.stats.doubtful, 0);
            if result.stop == StopReason::Exhausted {
                prop_assert_eq!(result.taken_switches(), explicit.taken.clone(), "{:?}", config);
            }
        }
    }

    /// Quiescence is "no output and no internal step for any values".
    #[test]
    fn quiescence_agrees_with_enumeration(recipe in recipe()) {
        let mut model = build(&recipe);
        let explicit = Explicit::explore(&model);
        let mut solver = BruteSolver::new();
        let mut cx = Ctx::new(&mut model, &mut solver);
        for state in &explicit.states {
            let quiet = explicit.is_quiescent(state);
            let expected = if quiet { Quiescence::Quiet } else { Quiescence::Active };
            prop_assert_eq!(is_quiescent(&mut cx, state), expected);
            let condition = ioxide_symex::quiescence_condition(&mut cx, state.loc);
            let known = state.values.iter().map(|(var, value)| (var, value.clone())).collect::<Vec<_>>();
            let known = known.into_iter().map(|(var, value)| (var, cx.pool.value(value))).collect();
            let condition = cx.pool.substitute(condition, &known);
            prop_assert_eq!(cx.decide(&[condition]), if quiet { SolverDecision::Sat } else { SolverDecision::Unsat });
        }
    }

    /// The monitor's belief is the set of states an explicit reading of the trace gives.
    #[test]
    fn the_monitor_agrees_with_enumeration(
        recipe in recipe(), choices in proptest::collection::vec(any::<u16>(), 1..8),
    ) {
        let mut model = build(&recipe);
        let explicit = Explicit::explore(&model);
        let labels = explicit.labels.clone();
        let mut solver = BruteSolver::new();
        let mut cx = Ctx::new(&mut model, &mut solver);
        let mut monitor = Monitor::new(&mut cx);
        let mut belief = explicit.initial_belief();
        for choice in choices {
            let label = &labels[usize::from(choice) % labels.len()];
            let next = explicit.after(&belief, label);
            match monitor.observe(&mut cx, label) {
                Ok(AllowedLabel::Allowed) => {
                    prop_assert_eq!(monitor.belief(), &Belief::Concrete(next.clone()));
                    belief = next;
                }
                Ok(AllowedLabel::Unspecified) => {
                    prop_assert!(next.is_empty() && matches!(label, Label::Input(..)));
                    break;
                }
                Ok(AllowedLabel::Unknown) => prop_assert!(false, "nothing was lost"),
                Err(forbidden) => {
                    prop_assert!(next.is_empty() && !matches!(label, Label::Input(..)));
                    prop_assert_eq!(&forbidden.before, monitor.belief());
                }
            }
        }
    }

    /// An item is certain if it lies on every path that explains the trace, and possible if it lies on one.
    #[test]
    fn items_on_paths_agree_with_enumeration(
        recipe in recipe(), choices in proptest::collection::vec(any::<u16>(), 1..8),
    ) {
        let mut model = build(&recipe);
        let explicit = Explicit::explore(&model);
        let labels = explicit.labels.clone();
        let mut solver = BruteSolver::new();
        let mut cx = Ctx::new(&mut model, &mut solver);
        let mut monitor = Monitor::new(&mut cx).with_paths();
        let (mut trace, mut counted) = (Vec::new(), CountedItems::default());
        for choice in choices {
            // What some state sends or takes is more than most labels say.
            let fitting: Vec<&Label> = labels.iter().filter(|&label| monitor.accepts(&mut cx, label)).collect();
            let Some(&label) = fitting.get(usize::from(choice) % fitting.len().max(1)) else { break };
            prop_assert_eq!(monitor.observe(&mut cx, label).ok(), Some(AllowedLabel::Allowed));
            trace.push(label.clone());
            let paths = explicit.explanations(&trace);
            let expected = count_items(paths.iter().map(|(_, path)| path));
            prop_assert_eq!(counted.count(&mut monitor), expected, "{:?}", trace);
        }
    }

    /// The same with inputs under way: an explanation is a path in any possible order.
    #[test]
    fn items_on_paths_agree_with_enumeration_in_every_order(
        recipe in recipe(),
        choices in proptest::collection::vec((any::<u16>(), 0u32..3), 1..6),
    ) {
        let mut model = build(&recipe);
        let explicit = Explicit::explore(&model);
        let labels = explicit.labels.clone();
        let mut solver = BruteSolver::new();
        let mut cx = Ctx::new(&mut model, &mut solver);
        let mut monitor = Monitor::new(&mut cx).with_paths();
        let mut queues = Queues::new(&explicit);
        let mut counted = CountedItems::default();
        for (choice, how) in choices {
            let label = &labels[usize::from(choice) % labels.len()];
            if let Label::Input(..) = label {
                let id = monitor.record_sent(&mut cx, label, how % 2);
                queues.send(how % 2, label);
                if how == 2 {
                    monitor.confirm_taken(id);
                    queues.confirm_last();
                }
            } else if queues.would_see(label) {
                queues.see(label);
                prop_assert!(monitor.observe(&mut cx, label).is_ok());
            }
            if queues.is_open() {
                break;
            }
            let paths: BTreeSet<Vec<SwitchId>> =
                queues.orders().iter().flat_map(|order| explicit.explanations(order)).map(|(_, path)| path).collect();
            prop_assert_eq!(counted.count(&mut monitor), count_items(&paths));
        }
    }

    /// A monitor that does not know the initial values allows exactly what some initial values allow.
    #[test]
    fn unknown_initial_values_are_all_possible(
        recipe in recipe(), choices in proptest::collection::vec(any::<u16>(), 1..5),
    ) {
        let known = build(&recipe);
        let mut unknown = known.clone();
        for var in &mut unknown.sts.vars {
            var.init = None;
        }
        let starts = explicit::all_starts(&known);
        let worlds: Vec<Explicit> = starts.iter().map(|start| Explicit::explore_from(&known, start.clone())).collect();
        let mut beliefs: Vec<BTreeSet<ConcreteState>> = worlds.iter().map(Explicit::initial_belief).collect();
        let labels = worlds[0].labels.clone();
        let mut solver = BruteSolver::new();
        let mut cx = Ctx::new(&mut unknown, &mut solver);
        let mut monitor = Monitor::new(&mut cx);
        for choice in choices {
            let label = &labels[usize::from(choice) % labels.len()];
            beliefs = worlds.iter().zip(&beliefs).map(|(world, belief)| world.after(belief, label)).collect();
            let possible = beliefs.iter().any(|belief| !belief.is_empty());
            match monitor.observe(&mut cx, label) {
                Ok(AllowedLabel::Allowed) => prop_assert!(possible),
                Ok(AllowedLabel::Unspecified) => {
                    prop_assert!(!possible);
                    break;
                }
                Ok(AllowedLabel::Unknown) => prop_assert!(false, "nothing was lost"),
                Err(_) => {
                    prop_assert!(!possible);
                    break;
                }
            }
        }
    }

    /// Inputs under way: a label is allowed exactly if some order of the labels allows it.
    #[test]
    fn inputs_under_way_are_taken_in_every_possible_order(
        recipe in recipe(),
        choices in proptest::collection::vec((any::<u16>(), 0u32..3), 1..8),
    ) {
        let mut model = build(&recipe);
        let explicit = Explicit::explore(&model);
        let labels = explicit.labels.clone();
        let mut solver = BruteSolver::new();
        let mut cx = Ctx::new(&mut model, &mut solver);
        let mut monitor = Monitor::new(&mut cx);
        let mut queues = Queues::new(&explicit);
        for (choice, how) in choices {
            let label = &labels[usize::from(choice) % labels.len()];
            if let Label::Input(..) = label {
                // On one of two lanes, or confirmed at once.
                let lane = how % 2;
                let id = monitor.record_sent(&mut cx, label, lane);
                queues.send(lane, label);
                if how == 2 {
                    monitor.confirm_taken(id);
                    queues.confirm_last();
                }
            } else {
                let expected = queues.see(label);
                let observed = monitor.observe(&mut cx, label);
                prop_assert_eq!(observed.is_ok(), expected, "{:?}", label);
                prop_assert_ne!(observed.as_ref().ok(), Some(&AllowedLabel::Unknown));
                if observed.is_err() {
                    break;
                }
            }
            prop_assert_eq!(monitor.under_way(), queues.under_way());
            prop_assert_eq!(monitor.is_open(), queues.is_open());
        }
    }

    /// The offers of a state are the switches that enumeration finds enabled.
    #[test]
    fn offers_agree_with_enumeration(recipe in recipe()) {
        let mut model = build(&recipe);
        let explicit = Explicit::explore(&model);
        let mut solver = BruteSolver::new();
        let mut cx = Ctx::new(&mut model, &mut solver);
        for state in &explicit.states {
            let offers = list_offers(&mut cx, state, |_| true);
            let offered: BTreeSet<SwitchId> = offers.iter().map(|offer| offer.switch).collect();
            prop_assert_eq!(offered, explicit.enabled_switches(state));
        }
    }
}

#[test]
fn the_empty_model_is_quiescent_and_explored_at_once() {
    let mut model = build(&Recipe::empty());
    let mut solver = BruteSolver::new();
    let mut cx = Ctx::new(&mut model, &mut solver);
    let result = explore(&mut cx, &ExploreConfig::default(), &mut |_| ControlFlow::Continue(()));
    assert_eq!((result.stop, result.stats.states), (StopReason::Exhausted, 1));
    let state = initial_state(cx.pool, cx.sts).expect("all values are known");
    assert_eq!(is_quiescent(&mut cx, &state), Quiescence::Quiet);
}

#[test]
fn an_unspecified_input_ends_what_the_specification_says() {
    let mut model: Model = build(&Recipe::empty());
    let input = random::input();
    let mut solver = BruteSolver::new();
    let mut cx = Ctx::new(&mut model, &mut solver);
    let mut monitor = Monitor::new(&mut cx);
    let label = Label::Input(input, vec![ioxide_model::value::Value::int(0)]);
    assert!(!monitor.accepts(&mut cx, &label));
    assert_eq!(
        monitor.observe(&mut cx, &label).expect("inputs are never forbidden"),
        AllowedLabel::Unspecified
    );
    assert_eq!(monitor.belief(), &Belief::Unspecified);
}
