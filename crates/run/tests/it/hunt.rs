//! The hunting tester on some of the planted faults of `examples/faults`, and on their correct twins.

use std::fs;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use ioxide_lang::{LoadOptions, load};
use ioxide_model::label::Label;
use ioxide_model::source::Sources;
use ioxide_model::sts::Model;
use ioxide_model::trace::Trace;
use ioxide_record::clock::StoppedClock;
use ioxide_record::event::RunOutcome;
use ioxide_record::reporter::{EventSink, SilentReporter};
use ioxide_run::campaign::run_seed;
use ioxide_run::coverage::Coverage;
use ioxide_run::run::{RunConfig, RunId, RunSetup, run};
use ioxide_smt::stack::{SolverConfig, build_stack};
use ioxide_symex::Ctx;
use ioxide_test_support::test_count;
use ioxide_testgen::tester::Tester;
use ioxide_testgen::tester::hunt::{HuntConfig, HuntTester};
use ioxide_wire::adapter::Adapter as _;
use ioxide_wire::adapter::model::ModelAdapter;

fn model(path: &str) -> Model {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(path);
    let mut sources = Sources::default();
    let file = sources.add("m.iox", fs::read_to_string(path).expect("the example is there"));
    load(&sources, file, &LoadOptions::default()).model.expect("it is a model")
}

/// A tree that grows without a bound, with an answer that only a large one gives.
fn growing_tree() -> Model {
    let text = "model GrowingTree {
        enum Tree { leaf, node(left: Tree, key: int, right: Tree) }
        input insert(n: int) input find(n: int) input size
        output done output yes output no output count(n: int)
        fn insert_key(t: Tree, n: int) -> Tree =
            match t {
                leaf => node(left: leaf, key: n, right: leaf),
                node(l, k, r) => if n < k then node(left: insert_key(l, n), key: k, right: r)
                    else if n > k then node(left: l, key: k, right: insert_key(r, n)) else t,
            }
        fn has(t: Tree, n: int) -> bool =
            match t { leaf => false, node(l, k, r) => if n < k then has(l, n) else if n > k then has(r, n) else true }
        fn size_of(t: Tree) -> int = match t { leaf => 0, node(l, _, r) => size_of(l) + 1 + size_of(r) }
        var tree: Tree = leaf
        state idle {
            insert: on insert { tree = insert_key(tree, n) } -> acting
            find: on find when has(tree, n) -> finding
            miss: on find when !has(tree, n) -> missing
            size: on size when size_of(tree) < 40 -> counting
            full: on size when size_of(tree) >= 40 -> missing
        }
        state acting { done: emit done -> idle }
        state finding { yes: emit yes -> idle }
        state missing { no: emit no -> idle }
        state counting { count: emit count(n: size_of(tree)) -> idle }
    }";
    let mut sources = Sources::default();
    let file = sources.add("tree.iox", text.to_owned());
    load(&sources, file, &LoadOptions::default()).model.expect("it is a model")
}

/// A hunt with `config` and what it saw: whether something failed, all traces, and what they cover.
fn hunted(spec: &str, sut: &str, config: HuntConfig, seed: u64) -> (HuntTester, bool, Vec<Trace>, Coverage) {
    hunted_with(spec, sut, HuntTester::new(config), seed)
}

/// The same with a tester that was told something before.
fn hunted_with(
    spec: &str,
    sut: &str,
    hunt: HuntTester,
    seed: u64,
) -> (HuntTester, bool, Vec<Trace>, Coverage) {
    hunted_models(model(spec), model(sut), hunt, seed)
}

/// The same with models.
fn hunted_models(
    spec: Model,
    mut sut: Model,
    mut hunt: HuntTester,
    seed: u64,
) -> (HuntTester, bool, Vec<Trace>, Coverage) {
    let mut own = spec.clone();
    let (mut solver, mut sut_solver) =
        (build_stack(&SolverConfig::default()), build_stack(&SolverConfig::default()));
    let mut cx = Ctx::new(&mut own, &mut solver);
    let mut adapter = ModelAdapter::new(&spec, Ctx::new(&mut sut, &mut sut_solver), seed).expect("it plays");
    if adapter.has_virtual_time() {
        hunt.note_free_time();
    }
    hunt.prepare(&mut cx);
    let stop = AtomicBool::new(false);
    let mut bench = RunSetup { cx: &mut cx, adapter: &mut adapter, stop: &stop };
    let mut coverage = Coverage::new(&spec.sts);
    let (mut silent, mut clock) = (SilentReporter, StoppedClock);
    let sink = EventSink::new(&mut silent, &mut clock);
    let (mut traces, mut n) = (Vec::new(), 0);
    while !hunt.is_done() {
        let id = RunId { run: n, seed: run_seed(seed, n) };
        let finished = run(&mut bench, &mut hunt, &RunConfig::default(), id, &mut coverage, &sink)
            .expect("nothing is written");
        let is_fail = finished.end.outcome() == RunOutcome::Fail;
        traces.push(finished.trace);
        if is_fail {
            return (hunt, true, traces, coverage);
        }
        n += 1;
    }
    (hunt, false, traces, coverage)
}

fn steps(steps: usize) -> HuntConfig {
    HuntConfig { steps, ..HuntConfig::default() }
}

/// The fault is found within this many steps, with every seed.
#[track_caller]
fn found(name: &str, budget: usize) {
    for seed in 1..=3 {
        let sut = format!("faults/{name}/fault.iox");
        let (_, is_found, ..) = hunted(&format!("faults/{name}/model.iox"), &sut, steps(budget), seed);
        assert!(is_found, "{name} with seed {seed}");
    }
}

#[test]
fn relations_boundaries_texts_and_histories_are_found() {
    for name in ["next-of-earlier", "bound-of-an-update", "text-before-the-last", "long-text", "sum-of-two"] {
        found(name, 10_000);
    }
    for name in ["loss-of-the-21st", "sequence-of-five", "history-of-64", "equal-fields", "queue-order"] {
        found(name, 10_000);
    }
}

#[test]
fn runs_are_longer_where_resets_are_dear() {
    let runs = |price: Option<usize>| {
        let mut hunt = HuntTester::new(steps(4_000));
        price.into_iter().for_each(|steps| hunt.note_reset_cost(steps));
        let model = "faults/queue-order/model.iox";
        let (_, is_found, traces, _) = hunted_with(model, model, hunt, 1);
        assert!(!is_found);
        traces.iter().map(|trace| trace.labels.len()).collect::<Vec<usize>>()
    };
    let (cheap, dear) = (runs(None), runs(Some(128)));
    assert!(cheap.iter().any(|&length| length < 100), "short runs too: {cheap:?}");
    // The last run has what is left of the budget, and a run may end early where nothing can be sent any more.
    let long = dear[..dear.len() - 1].iter().filter(|&&length| length >= 4 * 128).count();
    assert!(dear.len() < cheap.len() && 2 * long > dear.len() - 1, "{dear:?} instead of {cheap:?}");
}

#[test]
fn faults_in_time_are_found() {
    for name in
        ["missing-reset-of-a-clock", "late-inside-a-deadline", "session-that-stays", "early-by-a-tenth"]
    {
        found(name, 5_000);
    }
}

/// Defect: a walk whose inputs are equally likely got nowhere, so a counter of eight bits was found by 0 of 10 seeds in
/// 10,000 steps, and a sum of 32 bits by 0 of 5 in 100,000.
#[test]
fn faults_far_from_the_start_are_found_by_drifting() {
    for name in ["wraps-at-256", "accumulator-of-32-bits", "queue-of-500", "meter-of-16-bits"] {
        for seed in 1..=test_count("IOXIDE_DRIFT_SEEDS", 3, 10) {
            let (spec, sut) = (format!("drift/{name}/model.iox"), format!("drift/{name}/fault.iox"));
            assert!(hunted(&spec, &sut, steps(10_000), seed).1, "{name} with seed {seed}");
        }
    }
}

/// Defect: a bound of a clock was waited for only where the rest of its guard held; 17 of 20 seeds found this one.
#[test]
fn a_bound_of_a_clock_is_waited_for_while_the_rest_of_its_guard_is_false() {
    let (spec, sut) = ("drift/silence-of-300-s/model.iox", "drift/silence-of-300-s/fault.iox");
    for seed in 1..=test_count("IOXIDE_DRIFT_SEEDS", 10, 20) {
        assert!(hunted(spec, sut, steps(2_000), seed).1, "seed {seed}");
    }
}

#[test]
fn a_key_that_was_removed_is_used_again() {
    let (spec, sut) = ("drift/stale-cache/model.iox", "drift/stale-cache/fault.iox");
    for seed in 1..=test_count("IOXIDE_DRIFT_SEEDS", 10, 20) {
        assert!(hunted(spec, sut, steps(10_000), seed).1, "seed {seed}");
    }
}

#[test]
fn systems_that_can_drift_pass_if_they_are_correct() {
    for name in
        ["wraps-at-256", "accumulator-of-32-bits", "stale-cache", "silence-of-300-s", "meter-of-16-bits"]
    {
        let (spec, sut) = (format!("drift/{name}/model.iox"), format!("drift/{name}/correct.iox"));
        assert!(!hunted(&spec, &sut, steps(4_000), 1).1, "{name}");
    }
}

/// A drift depends on the seed and on the number of labels that are left, not on the clock.
#[test]
fn the_same_seed_drifts_in_the_same_way() {
    let spec = "drift/wraps-at-256/model.iox";
    let once = hunted(spec, spec, steps(3_000), 4).2;
    assert_eq!(once, hunted(spec, spec, steps(3_000), 4).2);
    let most = |trace: &Trace| trace.labels.iter().filter_map(count_drawn).max();
    assert!(once.iter().filter_map(most).max() > Some(256), "no run drifts");
}

/// The number that an answer of `wraps-at-256` has.
fn count_drawn(label: &Label) -> Option<i64> {
    match label {
        Label::Output(_, values) => values.first()?.as_int()?.to_i64(),
        _ => None,
    }
}

/// Defect: 5 of 100 requests to a store with identifiers of eight digits were about an item that it has.
#[test]
fn most_requests_are_about_items_that_exist() {
    let (_, is_found, traces, _) = hunted("data/tokens.iox", "data/tokens.iox", steps(3_000), 1);
    assert!(!is_found);
    let sts = model("data/tokens.iox").sts;
    let name = |label: &Label| match label {
        Label::Input(gate, _) | Label::Output(gate, _) => sts.gates[*gate].name.to_string(),
        _ => String::new(),
    };
    // A removal that hits leaves less to hit, so it may miss more often.
    for asked in ["get", "rename"] {
        let answers = traces.iter().flat_map(|trace| trace.labels.windows(2));
        let answers: Vec<String> =
            answers.filter(|pair| name(&pair[0]) == asked).map(|pair| name(&pair[1])).collect();
        let n_missing = answers.iter().filter(|answer| *answer == "missing").count();
        assert!(answers.len() > 100, "{asked}: {}", answers.len());
        assert!(2 * n_missing < answers.len(), "{asked}: {n_missing} of {} missed", answers.len());
        assert!(n_missing > 0, "{asked}: a miss is tried now and then");
    }
}

#[test]
fn requests_are_about_items_that_exist_also_while_a_value_is_unknown() {
    let text = "model Items {
        type Id = 0..99999
        input put(id: Id) input get(id: Id) input guess(n: int)
        output done output found output missing output right output wrong
        var items: map<Id, 0..1> = {}
        var wanted: Id = 0
        var guessed: int = 0
        var code: int
        state idle {
            on put { items = items.with(id, 1) } -> putting
            on get { wanted = id } -> telling
            on guess { guessed = n } -> judging
        }
        state putting { emit done -> idle }
        state telling { emit found when items.has(wanted) -> idle emit missing when !items.has(wanted) -> idle }
        state judging { emit right when guessed == code -> idle emit wrong when guessed != code -> idle }
    }";
    let read = || {
        let mut sources = Sources::default();
        let file = sources.add("items.iox", text.to_owned());
        load(&sources, file, &LoadOptions::default()).model.expect("it is a model")
    };
    let (_, is_found, traces, _) = hunted_models(read(), read(), HuntTester::new(steps(600)), 1);
    assert!(!is_found);
    let sts = read().sts;
    let count = |name: &str| {
        let gate = sts.gate_named(name);
        let is_it = |label: &&Label| matches!(label, Label::Output(other, _) if Some(*other) == gate);
        traces.iter().flat_map(|trace| &trace.labels).filter(is_it).count()
    };
    let (found, missing) = (count("found"), count("missing"));
    assert!(found + missing > 30 && found > missing, "{found} found, {missing} missing");
}

/// Defect: on a model whose values grow, searches took 73 of 85 seconds of a campaign, 3 of them before the first step.
#[test]
fn searches_do_no_more_work_than_the_labels_of_the_runs_earn() {
    let trees = (growing_tree(), growing_tree());
    let (hunt, is_found, _, coverage) = hunted_models(trees.0, trees.1, HuntTester::new(steps(3_000)), 1);
    assert!(!is_found && hunt.n_steps_used() > 2_900);
    // The work of the last state of a search comes on top.
    let most = 10_000 + 10 * hunt.n_steps_used() + 5_000;
    assert!(hunt.search_work() > 0 && hunt.search_work() <= most, "{} of {most}", hunt.search_work());
    assert_eq!(coverage.covered_switches().count(), 9, "walks take what no search finds");
}

#[test]
fn correct_twins_pass() {
    for name in
        ["behind-a-pattern", "loss-of-the-21st", "queue-loss", "missing-reset-of-a-clock", "duplicate"]
    {
        let (spec, sut) = (format!("faults/{name}/model.iox"), format!("faults/{name}/correct.iox"));
        assert!(!hunted(&spec, &sut, steps(1_000), 1).1, "{name}");
    }
}

#[test]
fn the_same_seed_makes_the_same_runs() {
    let spec = "brp/spec.iox";
    let once = hunted(spec, spec, steps(600), 4).2;
    assert_eq!(once, hunted(spec, spec, steps(600), 4).2);
    assert_ne!(once, hunted(spec, spec, steps(600), 5).2);
}

#[test]
fn purposes_come_first_and_everything_is_counted() {
    let (hunt, _, traces, coverage) = hunted("brp/spec.iox", "brp/spec.iox", steps(1_000), 1);
    assert_eq!(coverage.covered_switches().count(), 16);
    assert!(hunt.tally()[0].passed > 0, "the longest purpose at least");
    assert_eq!(hunt.n_steps_used(), traces.iter().map(Trace::len).sum::<usize>());
}

/// A switch taken in time is still explained when the time has passed: no pair is counted that the graph does not have.
#[test]
fn pairs_of_timed_models_are_pairs_of_the_graph() {
    let names =
        ["missing-reset-of-a-clock", "late-inside-a-deadline", "session-that-stays", "early-by-a-tenth"];
    for name in names {
        let (spec, sut) = (format!("faults/{name}/model.iox"), format!("faults/{name}/correct.iox"));
        let (_, is_found, _, coverage) = hunted(&spec, &sut, steps(600), 2);
        let sts = model(&spec).sts;
        let follow = |&(a, b): &(_, _)| sts.switches[a].target == sts.switches[b].source;
        let pairs: Vec<_> = coverage.pairs().collect();
        assert!(!is_found && !pairs.is_empty() && pairs.iter().all(follow), "{name}: {pairs:?}");
    }
}

/// A door that locks for good: the fault needs many short tries, which a walk behind the lock never has.
#[test]
fn a_walk_leaves_a_trap() {
    let (_, is_found, traces, _) =
        hunted("faults/lock-not-reset/model.iox", "faults/lock-not-reset/correct.iox", steps(2_000), 1);
    assert!(!is_found);
    assert!(traces.len() > 20, "{} runs in 2000 steps", traces.len());
}

#[test]
fn a_hunt_makes_no_more_steps_than_its_budget_in_whichever_phase_it_is() {
    let specs =
        ["brp/spec.iox", "atm/atm.iox", "faults/late-inside-a-deadline/model.iox", "slot-machine.iox"];
    for spec in specs {
        for budget in [1, 2, 3, 7, 20, 50, 350] {
            let (hunt, _, traces, _) = hunted(spec, spec, steps(budget), 5);
            let made: usize = traces.iter().map(Trace::n_steps).sum();
            assert!(made <= budget, "{spec}: {made} steps of {budget}");
            assert!(
                hunt.n_steps_used() <= budget,
                "{spec}: it counts {} steps of {budget}",
                hunt.n_steps_used()
            );
        }
        let config = HuntConfig { walk: 12, ..steps(300) };
        let longest = hunted(spec, spec, config, 5).2.iter().map(Trace::n_steps).max();
        assert!(longest <= Some(12), "{spec}: a run of {longest:?} steps");
    }
}

#[test]
fn the_shares_of_a_budget_are_the_budget() {
    for (budget, jobs) in [(20, 3), (2, 5), (7, 7), (1, 1), (1_000, 16)] {
        let shares = (0..jobs).map(|worker| ioxide_testgen::tester::share_of(budget, worker, jobs));
        assert_eq!(shares.sum::<usize>(), budget, "{jobs} workers");
    }
}
