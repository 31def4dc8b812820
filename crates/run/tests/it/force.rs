//! Strategies on beliefs against simulated systems, which make every choice that the model leaves them at random,
//! often at the edges of its bounds. `IOXIDE_RUNS` sets the number of runs.

use ioxide_run::run::RunConfig;
use ioxide_test_support::test_count;
use ioxide_testgen::tester::game::GameTester;
use ioxide_testgen::tester::random::Interaction;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use self::machine::{InternalSteps, Machine, Shape};
use crate::game::{model, runs_of};

#[expect(dead_code, reason = "comparisons of models use the rest")]
#[path = "../../../testgen/tests/it/conform_timed/machine.rs"]
mod machine;
#[path = "../../../testgen/tests/it/conform_timed/ticks.rs"]
mod ticks;

/// Runs of one strategy.
const RUNS: u64 = 25;

fn text(seed: u64) -> String {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let internal = if seed % 4 == 3 { InternalSteps::Forwards } else { InternalSteps::None };
    let shape = Shape { n_locations: rng.random_range(3..6), has_unknown: seed % 3 == 1, internal };
    let machine = Machine::random(&mut rng, shape);
    let machine = if seed % 5 == 2 { machine.forked(&mut rng) } else { machine };
    let text = machine.without_hidden_resets().text();
    let body = text.strip_suffix('}').expect("a model ends with a brace");
    format!("{body} purpose win: reach s{} }}", rng.random_range(1..shape.n_locations))
}

/// Returns the number of runs of a strategy, all of which met the goal; 0 without a strategy.
fn forced_runs(seed: u64) -> u64 {
    let text = text(seed);
    let spec = model(&text);
    let goal = spec.sts.goals[0].clone();
    let make =
        |cx: &mut ioxide_symex::Ctx<'_>| GameTester::new(cx, &goal, Interaction::Fair).expect("it is played");
    // The first move shows whether there is a strategy; without one a run is long, and shows nothing here.
    let (first, _, _) = runs_of(&spec, make, seed, 1, &RunConfig { max_steps: 1, ..RunConfig::default() });
    if first.tally().is_forced != Some(true) {
        return 0;
    }
    let (tester, traces, met) = runs_of(&spec, make, seed, RUNS, &RunConfig::default());
    let tally = tester.tally();
    assert_eq!((tally.reached, met), (tally.runs, tally.runs), "seed {seed}\n{text}\n{traces:?}");
    RUNS
}

#[test]
fn a_forced_goal_is_never_missed() {
    let (most, mut n_runs) = (test_count("IOXIDE_RUNS", 50, 10_000), 0);
    for seed in 0.. {
        n_runs += forced_runs(seed);
        if n_runs >= most {
            println!("{n_runs} runs of strategies for the first {seed} models");
            break;
        }
    }
}
