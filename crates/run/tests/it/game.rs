//! Goals played for against systems that may choose: forced in one run where a strategy exists, otherwise with the best
//! chance.

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
use ioxide_symex::{Ctx, ExploreLimits};
use ioxide_testgen::purpose::of_goal;
use ioxide_testgen::tester::Tester;
use ioxide_testgen::tester::game::{GameTally, GameTester};
use ioxide_testgen::tester::purpose::PurposeGuided;
use ioxide_testgen::tester::random::Interaction;
use ioxide_wire::adapter::model::ModelAdapter;

pub fn model(text: &str) -> Model {
    let mut sources = Sources::default();
    let file = sources.add("m.iox", text.to_owned());
    let loaded = load(&sources, file, &LoadOptions::default());
    loaded.model.unwrap_or_else(|| panic!("{:?}", loaded.diagnostics))
}

fn maze() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/maze.iox");
    fs::read_to_string(path).expect("the example is there")
}

/// Runs a tester on the model itself `n` times: the tester, the traces, and how many runs met their goal.
fn runs<T: Tester>(
    spec: &Model,
    make: impl FnOnce(&mut Ctx<'_>) -> T,
    seed: u64,
    n: u64,
) -> (T, Vec<Trace>, usize) {
    runs_of(spec, make, seed, n, &RunConfig::default())
}

/// Does the same with the configuration `config`.
pub fn runs_of<T: Tester>(
    spec: &Model,
    make: impl FnOnce(&mut Ctx<'_>) -> T,
    seed: u64,
    n: u64,
    config: &RunConfig,
) -> (T, Vec<Trace>, usize) {
    let (mut own, mut sut) = (spec.clone(), spec.clone());
    let (mut solver, mut sut_solver) =
        (build_stack(&SolverConfig::default()), build_stack(&SolverConfig::default()));
    let mut cx = Ctx::new(&mut own, &mut solver);
    let mut adapter = ModelAdapter::new(spec, Ctx::new(&mut sut, &mut sut_solver), seed).expect("it plays");
    let mut tester = make(&mut cx);
    let stop = AtomicBool::new(false);
    let mut bench = RunSetup { cx: &mut cx, adapter: &mut adapter, stop: &stop };
    let mut coverage = Coverage::new(&spec.sts);
    let (mut silent, mut clock) = (SilentReporter, StoppedClock);
    let sink = EventSink::new(&mut silent, &mut clock);
    let mut traces = Vec::new();
    let mut met = 0;
    for number in 0..n {
        let id = RunId { run: number, seed: run_seed(seed, number) };
        let finished =
            run(&mut bench, &mut tester, config, id, &mut coverage, &sink).expect("nothing is written");
        met += usize::from(finished.end.outcome() == RunOutcome::Pass);
        traces.push(finished.trace);
    }
    (tester, traces, met)
}

/// Returns the tally of the goal called `name` after `n` runs, and their traces.
fn played(text: &str, name: &str, seed: u64, n: u64) -> (GameTally, Vec<Trace>) {
    let spec = model(text);
    let goal = spec.sts.goals.iter().find(|goal| &*goal.name == name).expect("the goal").clone();
    let make =
        |cx: &mut Ctx<'_>| GameTester::new(cx, &goal, Interaction::Fair).expect("it can be played for");
    let (game, traces, _) = runs(&spec, make, seed, n);
    (game.tally(), traces)
}

/// Two ways at each of six steps: the game needs one run, a path goes wrong in 63 of 64.
#[test]
fn a_goal_is_forced_where_a_strategy_exists() {
    for seed in 0..10 {
        let (tally, _) = played(&maze(), "outside", seed, 1);
        assert_eq!(
            tally,
            GameTally { runs: 1, reached: 1, is_forced: Some(true), is_undecided: false },
            "seed {seed}"
        );
    }
    let spec = model(&maze());
    let goal = spec.sts.goals[0].clone();
    let make = |cx: &mut Ctx<'_>| {
        let limits = ExploreLimits { max_states: 1_000, max_depth: u32::MAX };
        PurposeGuided::new(of_goal(cx, &goal, limits).expect("there is a path"), 0)
    };
    let (_, _, met) = runs(&spec, make, 1, 200);
    assert!(met < 20, "a path was followed to its end {met} times of 200");
}

/// Nothing is forced: one input is answered well by one of two outputs, the other by one of three.
#[test]
fn the_best_chance_is_taken_where_nothing_is_forced() {
    let text = "model M {
        input risky input safe output good output bad output worse
        state start { r: on risky -> r  s: on safe -> s }
        state r { r1: emit good -> won  r2: emit bad -> lost  r3: emit worse -> lost }
        state s { s1: emit good -> won  s2: emit bad -> lost }
        state won {} state lost {}
        purpose win: reach won
    }";
    let spec = model(text);
    let safe = Label::Input(spec.sts.gate_named("safe").expect("an input"), Vec::new());
    let (tally, traces) = played(text, "win", 3, 40);
    assert_eq!(tally.is_forced, Some(false));
    assert!(traces.iter().all(|trace| trace.labels[0] == safe), "{traces:?}");
    assert!((10..=30).contains(&tally.reached), "{tally:?}");
}

#[test]
fn silence_is_a_step_of_a_game() {
    let (tally, traces) = played(&maze(), "still", 5, 3);
    assert_eq!(tally, GameTally { runs: 3, reached: 3, is_forced: Some(true), is_undecided: false });
    assert!(traces.iter().all(Trace::ends_in_silence), "{traces:?}");
}

/// The system answers with any number up to what was sent: only 0 leads on whatever it answers.
#[test]
fn values_suit_all_answers_if_they_can() {
    let text = "model M {
        input i(n: 0..9) output o(m: 0..9) output done
        var most: 0..9 = 0  var said: 0..9 = 0
        state start { send: on i { most = n } -> busy }
        state busy { tell: emit o when m <= most { said = m } -> weigh }
        state weigh { end: emit done when said == 0 -> won  more: emit done when said > 0 -> lost }
        state won {} state lost {}
        purpose win: reach won
    }";
    let (tally, _) = played(text, "win", 1, 12);
    assert_eq!((tally.runs, tally.reached), (12, 12));
}
