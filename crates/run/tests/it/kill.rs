//! Mutants of a model whose systems may choose: experiments go on from where the system led the run.

use std::fs;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use ioxide_lang::{LoadOptions, load};
use ioxide_model::label::Label;
use ioxide_model::number::Rational;
use ioxide_model::source::Sources;
use ioxide_model::sts::{Model, Sts};
use ioxide_model::trace::Trace;
use ioxide_record::clock::StoppedClock;
use ioxide_record::event::RunOutcome;
use ioxide_record::reporter::{EventSink, SilentReporter};
use ioxide_run::campaign::run_seed;
use ioxide_run::coverage::Coverage;
use ioxide_run::run::{RunConfig, RunId, RunSetup, run};
use ioxide_smt::stack::{SolverConfig, build_stack};
use ioxide_symex::{Ctx, Monitor};
use ioxide_testgen::conform::ConformAnswer;
use ioxide_testgen::kill::mutant_runner::{MutantRunner, MutantSystem};
use ioxide_testgen::kill::suite::KillTest;
use ioxide_testgen::kill::suspects::Suspects;
use ioxide_testgen::kill::tester::KillTester;
use ioxide_testgen::kill::{KillConfig, MutationAnalysis};
use ioxide_testgen::mutate::{Mutant, MutationOperator, mutants};
use ioxide_testgen::tester::{Tester, TesterMove, TesterStop};
use ioxide_wire::adapter::model::ModelAdapter;

/// The maze, and those of its mutants that leave out a switch or lead it elsewhere and can be killed, with a suite.
fn decided() -> (Model, Vec<Mutant>, KillTester) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/maze.iox");
    let mut sources = Sources::default();
    let file = sources.add("m.iox", fs::read_to_string(path).expect("the example is there"));
    let mut model = load(&sources, file, &LoadOptions::default()).model.expect("a model");
    let all = mutants(&mut model, &[MutationOperator::GuardConstant, MutationOperator::Target]);
    let spec = model.sts.clone();
    let mut solver = build_stack(&SolverConfig::default());
    let mut cx = Ctx::new(&mut model, &mut solver);
    let analysis = MutationAnalysis::new(&mut cx, &KillConfig::default());
    let mut go_on = |_: &_| ControlFlow::Continue(());
    let mut decide = |mutant: Mutant| match analysis.decide(&mut cx, &mutant, &mut go_on).answer {
        ConformAnswer::Fails(witness) => Some((mutant, witness.trace)),
        ConformAnswer::Conforms(_) | ConformAnswer::Unknown(_) => None,
    };
    let (killed, traces): (Vec<Mutant>, Vec<Trace>) = all.into_iter().filter_map(&mut decide).unzip();
    let systems: Vec<Sts> = killed.iter().map(|mutant| mutant.apply(&spec)).collect();
    let specimens: Vec<MutantSystem<'_>> = killed
        .iter()
        .zip(&systems)
        .map(|(mutant, system)| MutantSystem { mutant, system: Some(system) })
        .collect();
    let witnesses: Vec<Option<&Trace>> = traces.iter().map(Some).collect();
    let suite = MutantRunner::new(&mut cx, &spec, &specimens).suite(&mut cx, &witnesses);
    (model, killed, KillTester::new(suite))
}

/// Returns whether `tester` finds `sut` faulty, and the tester in its final state.
fn tested(spec: &Model, sut: &Sts, mut tester: KillTester, seed: u64) -> (bool, KillTester) {
    let (mut own, mut sut) = (spec.clone(), Model { sts: sut.clone(), pool: spec.pool.clone() });
    let (mut solver, mut sut_solver) =
        (build_stack(&SolverConfig::default()), build_stack(&SolverConfig::default()));
    let mut cx = Ctx::new(&mut own, &mut solver);
    let mut adapter = ModelAdapter::new(spec, Ctx::new(&mut sut, &mut sut_solver), seed).expect("it plays");
    let stop = AtomicBool::new(false);
    let mut bench = RunSetup { cx: &mut cx, adapter: &mut adapter, stop: &stop };
    let mut coverage = Coverage::new(&spec.sts);
    let (mut silent, mut clock) = (SilentReporter, StoppedClock);
    let sink = EventSink::new(&mut silent, &mut clock);
    for number in 0..tester.max_runs() as u64 {
        if tester.is_done() {
            break;
        }
        let id = RunId { run: number, seed: run_seed(seed, number) };
        let finished = run(&mut bench, &mut tester, &RunConfig::default(), id, &mut coverage, &sink)
            .expect("nothing is written");
        if finished.end.outcome() == RunOutcome::Fail {
            return (true, tester);
        }
    }
    (false, tester)
}

#[test]
fn experiments_find_what_traces_miss() {
    let (spec, killed, linear) = decided();
    let adaptive = linear.clone().suspecting(Suspects::new(&spec.sts, killed.iter().enumerate()));
    // How a system that may choose goes is chance: over some seeds, not with each.
    let found = |tester: &KillTester, seed: u64| {
        let systems = killed.iter().map(|mutant| mutant.apply(&spec.sts));
        let is_found = systems.map(|system| tested(&spec, &system, tester.clone(), seed).0);
        is_found.filter(|found| *found).count()
    };
    let by_traces: Vec<usize> = (1..=3).map(|seed| found(&linear, seed)).collect();
    let by_experiments: Vec<usize> = (1..=3).map(|seed| found(&adaptive, seed)).collect();
    let told = format!("{by_traces:?} and {by_experiments:?} of {}", killed.len());
    assert!(by_experiments.iter().all(|found| found + 1 >= killed.len()), "{told}");
    assert!(by_experiments.contains(&killed.len()), "{told}");
    assert!(by_traces.iter().zip(&by_experiments).all(|(traces, found)| 2 * traces <= found + 2), "{told}");
}

#[test]
fn a_correct_system_is_no_mutant_that_was_ruled_out() {
    let (spec, killed, linear) = decided();
    let adaptive = linear.suspecting(Suspects::new(&spec.sts, killed.iter().enumerate()));
    let (is_found, tester) = tested(&spec, &spec.sts, adaptive, 1);
    assert!(!is_found);
    let (out, all) = tester.suspects().expect("they are followed").ruled_out();
    assert_eq!(all, killed.len());
    assert!(2 * out > all, "{out} of {all} were ruled out");
}

/// Defect: a timed run shows time that passes and never silence, so a test that wants silence waited for ever.
#[test]
fn in_timed_runs_time_without_a_message_is_silence() {
    let text = "model Lamp { input on_ input off output lit clock t
        state dark { on on_ { reset t } -> bright on off }
        state bright { emit lit when t <= 1s -> dark } }";
    let mut sources = Sources::default();
    let file = sources.add("lamp.iox", text);
    let mut model = load(&sources, file, &LoadOptions::default()).model.expect("a model");
    let gate = |name: &str| model.sts.gate_named(name).expect("a message");
    let (lit, off) = (Label::Output(gate("lit"), Vec::new()), Label::Input(gate("off"), Vec::new()));
    let on = Label::Input(gate("on_"), Vec::new());
    let second = || Label::Delay(Rational::from(1));
    let wanted = [on.clone(), lit.clone(), Label::Quiescence, off.clone(), Label::Quiescence];
    let mut tester =
        KillTester::new([KillTest { trace: wanted.into_iter().collect(), look: None, kills: Vec::new() }]);
    let mut solver = build_stack(&SolverConfig::default());
    let mut cx = Ctx::new(&mut model, &mut solver);
    let monitor = Monitor::new(&mut cx);
    tester.start(1);
    let mut run: Vec<Label> = Vec::new();
    let mut next = |more: Label| {
        run.push(more);
        tester.next(&mut cx, &monitor, &run.iter().cloned().collect())
    };
    next(on);
    assert!(matches!(next(lit), TesterMove::Observe), "silence is waited for");
    match next(second()) {
        TesterMove::StimulateAfter(wait, label) => assert_eq!((wait, label), (Rational::ZERO, off.clone())),
        other => panic!("the next input is due: {other:?}"),
    }
    assert!(matches!(next(off), TesterMove::Observe), "the last look");
    assert!(matches!(next(second()), TesterMove::Stop(TesterStop::GoalMet(_))));
}
