//! The mutants of the examples: the symbolic decision against enumeration, and the suites that kill them.
//!
//! A share of the mutants is enumerated here; `./x test --full` enumerates all of them.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::Instant;

use ioxide_lang::{LoadOptions, load};
use ioxide_model::label::Label;
use ioxide_model::source::Sources;
use ioxide_model::sts::{Model, Sts};
use ioxide_model::trace::Trace;
use ioxide_smt::stack::{SolverConfig, build_stack};
use ioxide_symex::{Ctx, Monitor};
use ioxide_test_support::is_full_run;
use ioxide_testgen::conform::explicit::{EnumerationBudget, EnumerationResult, ioco};
use ioxide_testgen::conform::{ConformAnswer, ConformWitness, InputCompletion};
use ioxide_testgen::kill::mutant_runner::{MutantRunner, MutantSystem};
use ioxide_testgen::kill::suite::KillTest;
use ioxide_testgen::kill::tester::KillTester;
use ioxide_testgen::kill::{KillConfig, MutationAnalysis, Optimisation};
use ioxide_testgen::mutate::{
    MAX_MUTANTS, Mutant, MutantSelection, MutationOperator, Sample, TooManyMutants, mutants, select,
    show_switch,
};
use ioxide_testgen::tester::{Tester, TesterMove, TesterStop};

fn model(name: &str, change: impl Fn(String) -> String) -> Model {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name);
    let mut sources = Sources::new();
    let file = sources.add(name, change(std::fs::read_to_string(path).expect("the example is there")));
    let loaded = load(&sources, file, &LoadOptions::default());
    loaded.model.unwrap_or_else(|| panic!("{name}: {:?}", loaded.diagnostics))
}

/// The BRP with messages 0 and 1, as the reference has it.
fn small_brp() -> Model {
    model("brp/spec.iox", |text| {
        text.replace("model Brp {", "model Brp { type Msg = 0..1 type Bit = 0..1 type Conf = 0..2")
            .replace("IREQ(d1: int, d2: int, d3: int)", "IREQ(d1: Msg, d2: Msg, d3: Msg)")
            .replace("b1: int, b2: int, b3: int, d: int", "b1: Bit, b2: Bit, b3: Bit, d: Msg")
            .replace("OCONF(c: int)", "OCONF(c: Conf)")
    })
}

struct Decided {
    mutants: Vec<Mutant>,
    answers: Vec<ConformAnswer>,
}

/// Decides every `stride`-th mutant.
fn decide_mutants(model: &mut Model, stride: usize) -> Decided {
    decided_by(model, &MutationOperator::ALL, stride)
}

/// Decides every `stride`-th mutant by these operators.
fn decided_by(model: &mut Model, operators: &[MutationOperator], stride: usize) -> Decided {
    let mutants: Vec<Mutant> = mutants(model, operators).into_iter().step_by(stride).collect();
    let mut solver = build_stack(&SolverConfig::default());
    let mut cx = Ctx::new(model, &mut solver);
    let off = BTreeSet::from([Optimisation::Enumeration]);
    let analysis = MutationAnalysis::new(&mut cx, &KillConfig { off, ..KillConfig::default() });
    let mut watch = |_: &_| ControlFlow::Continue(());
    let answers = mutants.iter().map(|mutant| analysis.decide(&mut cx, mutant, &mut watch).answer).collect();
    Decided { mutants, answers }
}

fn witness(answer: &ConformAnswer) -> Option<&ConformWitness> {
    if let ConformAnswer::Fails(witness) = answer { Some(witness) } else { None }
}

/// Every `stride`-th mutant gets the same answer from enumeration, with a trace of the same length.
fn assert_enumeration_agrees(model: &Model, decided: &Decided, stride: usize) {
    let stride = if is_full_run() { 1 } else { stride };
    let (mut compared, mut endless) = (0, 0);
    for (mutant, answer) in decided.mutants.iter().zip(&decided.answers).step_by(stride) {
        let imp = mutant.apply(&model.sts);
        let budget = EnumerationBudget { states: 20_000, steps: 2_000_000 };
        let found = ioco(&model.pool, &imp, &model.sts, InputCompletion::Angelic, budget);
        match (&found, answer) {
            (EnumerationResult::Conforms, ConformAnswer::Conforms(_)) => compared += 1,
            // A counter that grows for ever cannot be enumerated.
            (EnumerationResult::GaveUp, ConformAnswer::Conforms(_)) => endless += 1,
            (EnumerationResult::Fails(trace), ConformAnswer::Fails(witness)) => {
                assert_eq!(trace.len(), witness.trace.len(), "{}", mutant.id);
                compared += 1;
            }
            _ => panic!("{}: {found:?} but {answer:?}", mutant.id),
        }
    }
    println!("{compared} compared with enumeration, {endless} beyond it");
    assert!(endless * 4 <= compared, "{endless} of {compared}");
}

/// A suite for the killed mutants; it kills all of them.
fn suite(model: &mut Model, decided: &Decided) -> Vec<KillTest> {
    let spec = model.sts.clone();
    let systems: Vec<Sts> = decided.mutants.iter().map(|mutant| mutant.apply(&spec)).collect();
    let specimens: Vec<MutantSystem<'_>> = decided
        .mutants
        .iter()
        .zip(&systems)
        .map(|(mutant, system)| MutantSystem { mutant, system: Some(system) })
        .collect();
    let witnesses: Vec<_> =
        decided.answers.iter().map(|answer| witness(answer).map(|it| &it.trace)).collect();
    let mut solver = build_stack(&SolverConfig::default());
    let mut cx = Ctx::new(model, &mut solver);
    let suite = MutantRunner::new(&mut cx, &spec, &specimens).suite(&mut cx, &witnesses);
    let killed: BTreeSet<usize> = suite.iter().flat_map(|test| test.kills.iter().copied()).collect();
    let killable: BTreeSet<usize> = (0..witnesses.len()).filter(|&at| witnesses[at].is_some()).collect();
    assert_eq!(killed, killable);
    suite
}

fn report(name: &str, decided: &Decided, suite: &[KillTest], seconds: f64) -> (usize, usize, usize) {
    let killed = decided.answers.iter().filter(|answer| witness(answer).is_some()).count();
    let equivalent =
        decided.answers.iter().filter(|answer| matches!(answer, ConformAnswer::Conforms(_))).count();
    let unknown = decided.answers.len() - killed - equivalent;
    let ios: usize = suite.iter().map(KillTest::n_ios).sum();
    let deepest = decided.answers.iter().filter_map(witness).map(|it| it.trace.len()).max();
    println!(
        "{name}: {} mutants, {killed} killed, {equivalent} equivalent, {unknown} unknown, deepest \
         {deepest:?}, {} tests, {ios} IOs, {seconds:.2} s",
        decided.answers.len(),
        suite.len()
    );
    (killed, equivalent, unknown)
}

#[test]
fn every_brp_mutant_is_decided_as_enumeration_decides_it() {
    let mut model = small_brp();
    let start = Instant::now();
    let decided = decide_mutants(&mut model, 1);
    let seconds = start.elapsed().as_secs_f64();
    let suite = suite(&mut model, &decided);
    let (_, _, unknown) = report("BRP", &decided, &suite, seconds);
    assert_eq!(unknown, 0);
    assert!(suite.len() <= 18 && suite.iter().map(KillTest::n_ios).sum::<usize>() <= 204);
    assert_enumeration_agrees(&model, &decided, 149);
}

#[test]
fn every_car_alarm_mutant_is_decided_as_enumeration_decides_it() {
    for name in ["cas/cas.iox", "cas/cas.as"] {
        let mut model = model(name, |text| text);
        let start = Instant::now();
        let decided = decide_mutants(&mut model, if is_full_run() { 1 } else { 3 });
        let seconds = start.elapsed().as_secs_f64();
        let suite = suite(&mut model, &decided);
        let (_, _, unknown) = report(name, &decided, &suite, seconds);
        assert_eq!(unknown, 0);
        assert_enumeration_agrees(&model, &decided, 79);
    }
}

/// A model whose answer is free: `x` or `y`.
const FREE: &str = "model Free { input a output x output y
    state s { ra: on a -> t } state t { rx: emit x -> u  ry: emit y -> s } state u { rb: on a -> u2 } state \
                    u2 { rz: emit y -> s } }";

fn free() -> Model {
    compiled(FREE)
}

fn compiled(text: &str) -> Model {
    let mut sources = Sources::new();
    let file = sources.add("free.iox", text);
    load(&sources, file, &LoadOptions::default()).model.expect("it compiles")
}

/// A run goes on with another test where the system takes another way, and is inconclusive where none fits.
#[test]
fn the_killing_tester_adapts_to_what_the_system_does() {
    let mut model = free();
    let label = |model: &Model, name: &str| {
        Label::message(&model.sts, model.sts.gate_named(name).expect("a gate"), Vec::new()).expect("visible")
    };
    let (a, x, y) = (label(&model, "a"), label(&model, "x"), label(&model, "y"));
    let trace = |labels: &[&Label]| labels.iter().copied().cloned().collect::<Trace>();
    let mut solver = build_stack(&SolverConfig::default());
    let mut cx = Ctx::new(&mut model, &mut solver);
    let monitor = Monitor::new(&mut cx);
    let test = |trace| KillTest { trace, look: None, kills: Vec::new() };
    let mut tester = KillTester::new([trace(&[&a, &x, &a]), trace(&[&a, &y])].map(test));
    tester.start(0);
    assert_eq!(tester.next(&mut cx, &monitor, &trace(&[])), TesterMove::Stimulate(a.clone()));
    assert_eq!(tester.next(&mut cx, &monitor, &trace(&[&a])), TesterMove::Observe);
    // The first test wants `x`; the second goes on after `y`, and looks once more.
    assert_eq!(tester.next(&mut cx, &monitor, &trace(&[&a, &y])), TesterMove::Observe);
    let end = tester.next(&mut cx, &monitor, &trace(&[&a, &y, &Label::Quiescence]));
    assert!(matches!(end, TesterMove::Stop(TesterStop::GoalMet(_))), "{end:?}");
    assert_eq!((tester.n_done(), tester.is_done()), (1, false));
    tester.start(1);
    assert_eq!(tester.next(&mut cx, &monitor, &trace(&[])), TesterMove::Stimulate(a.clone()));
    let end = tester.next(&mut cx, &monitor, &trace(&[&a, &y]));
    assert!(matches!(end, TesterMove::Stop(TesterStop::Inconclusive(_))), "{end:?}");
    (2..10).for_each(|seed| tester.start(seed));
    assert!(tester.is_done(), "a test that never comes to its end is given up");
}

#[test]
fn mutants_have_stable_names_and_can_be_chosen() {
    let mut model = free();
    let all = mutants(&mut model, &MutationOperator::ALL);
    let ids: Vec<&str> = all.iter().map(|mutant| mutant.id.as_str()).collect();
    assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), ids.len(), "every name once");
    for id in ["ra-guard-neg-1", "ra-target-1", "rx-source-2", "rx-gate-1"] {
        assert!(ids.contains(&id), "{id} in {ids:?}");
    }
    let at = MutantSelection { places: vec!["t".into()], ..MutantSelection::default() };
    assert!(
        select(&mut model, &at)
            .expect("few")
            .iter()
            .all(|mutant| mutant.id.starts_with('r') && !mutant.id.starts_with("ra"))
    );
    let few = MutantSelection { sample: Some(Sample { count: 3, seed: 7 }), ..MutantSelection::default() };
    let names = |model: &mut Model, selection| {
        select(model, selection).expect("few").into_iter().map(|it| it.id).collect::<Vec<_>>()
    };
    assert_eq!(names(&mut model, &few).len(), 3);
    assert_eq!(names(&mut model, &few), names(&mut model, &few));
    let two =
        MutantSelection { second_order: Some(Sample { count: 5, seed: 7 }), ..MutantSelection::default() };
    let pairs = select(&mut model, &two).expect("few");
    assert!(
        pairs.len() == 5
            && pairs
                .iter()
                .all(|it| it.edits[0].switch().map(|(id, _)| id) != it.edits[1].switch().map(|(id, _)| id))
    );
}

#[test]
fn of_too_many_mutants_there_is_a_sample_and_no_list() {
    // Every one of 601 switches may lead to 600 other places.
    let places: Vec<String> =
        (0..601).map(|at| format!("state s{at} {{ on go -> s{} }}", (at + 1) % 601)).collect();
    let text = format!("model M {{ input go {} }}", places.join("\n"));
    let mut model = compiled(&text);
    const { assert!(601 * 600 > MAX_MUTANTS) };
    let operators = vec![MutationOperator::Target];
    let all = MutantSelection { operators, ..MutantSelection::default() };
    assert_eq!(select(&mut model, &all).map(|found| found.len()), Err(TooManyMutants));
    let few = MutantSelection { sample: Some(Sample { count: 7, seed: 7 }), ..all.clone() };
    let drawn = select(&mut model, &few).expect("a sample");
    assert_eq!(drawn.len(), 7);
    assert!(drawn.is_sorted_by_key(|mutant| mutant.edits[0].switch().map(|(id, _)| id)));
    let again = select(&mut model, &few).expect("a sample");
    assert_eq!(ids(&drawn), ids(&again));
    let one = MutantSelection { places: vec!["s600".into()], ..all };
    assert_eq!(select(&mut model, &one).map(|found| found.len()), Ok(600));
}

fn ids(mutants: &[Mutant]) -> Vec<&str> {
    mutants.iter().map(|mutant| mutant.id.as_str()).collect()
}

/// A variable that starts with another value, and a literal list that lacks an item.
#[test]
fn initial_values_and_literal_collections_are_mutated() {
    let mut model = compiled(
        "model M { input a output y(n: int, l: list<int>) var k: 0..5 = 0 var on: bool = true var dead: int = 1
            state s { ra: on a -> t } state t { ry: emit y(n: k, l: [4, 5]) when on { dead = 2 } -> s } }",
    );
    let starts = mutants(&mut model, &[MutationOperator::Initial]);
    let ids: Vec<&str> = starts.iter().map(|it| it.id.as_str()).collect();
    assert_eq!(ids, ["k-initial-1", "on-initial-1", "dead-initial-1", "dead-initial-2"]);
    let decided = decided_by(&mut model, &[MutationOperator::Initial], 1);
    let killed: Vec<bool> = decided.answers.iter().map(|it| witness(it).is_some()).collect();
    assert_eq!(killed, [true, true, false, false]);
    let constants = mutants(&mut model, &[MutationOperator::GuardConstant]);
    let shown = |mutant: &Mutant| show_switch(&model, mutant.switches().next().expect("a switch").1);
    let shown: Vec<String> = constants.iter().map(shown).collect();
    assert!(shown.iter().any(|switch| switch.contains("[4] ")), "{shown:?}");
}

/// Defect: one test that cannot be walked kept all others from being joined.
#[test]
fn a_test_that_cannot_be_walked_leaves_the_others_to_be_joined() {
    let mut model = compiled(
        "model Two { input a input b input c output x output y state s { ra: on a -> t  rb: on b -> u }
            state t { rx: emit x -> s } state u { ry: emit y -> s } }",
    );
    let mut found = mutants(&mut model, &[MutationOperator::Gate]);
    found.retain(|mutant| ["rx-gate-1", "ry-gate-1"].contains(&&*mutant.id));
    let spec = model.sts.clone();
    let label = |name: &str| Label::message(&spec, spec.gate_named(name).expect("a gate"), Vec::new());
    let trace = |names: &[&str]| names.iter().map(|name| label(name).expect("visible")).collect::<Trace>();
    let systems: Vec<Sts> = found.iter().map(|mutant| mutant.apply(&spec)).collect();
    // The model leaves `c` open, so nobody can say what the third test, if it is one, shows.
    let tests = [trace(&["a", "y"]), trace(&["b", "x"]), trace(&["c", "x"])];
    let mut solver = build_stack(&SolverConfig::default());
    let mut cx = Ctx::new(&mut model, &mut solver);
    for order in [[0, 1, 2], [2, 0, 1], [0, 2, 1]] {
        let specimen =
            |&at: &usize| MutantSystem { mutant: &found[at % 2], system: systems.get(at).filter(|_| at < 2) };
        let specimens: Vec<MutantSystem<'_>> = order.iter().map(specimen).collect();
        let witnesses = order.map(|at| Some(&tests[at]));
        let suite = MutantRunner::new(&mut cx, &spec, &specimens).suite(&mut cx, &witnesses);
        let lengths: BTreeSet<usize> = suite.iter().map(|test| test.trace.len()).collect();
        assert_eq!((suite.len(), lengths), (2, BTreeSet::from([1, 3])), "{suite:?}");
    }
}
