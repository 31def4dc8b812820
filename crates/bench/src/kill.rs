//! `ioxide bench kill`: linear traces compared with adaptive experiments, on models of nondeterministic systems.
//!
//! Mutants that can be distinguished from their model are played as systems, with several seeds for their choices.
//! *Linear* follows the traces of the killing suite and nothing else; *adaptive* is `--tester kill`, which goes on from
//! wherever the system led it. Counted are the systems found faulty and the labels until then; and the labels spent on
//! the correct system until no further run makes sense.

use std::io::{self, Write};
use std::sync::atomic::AtomicBool;

use ioxide_args::{BenchArgs, DecideArgs, MutantArgs};
use ioxide_cli::commands::kill;
use ioxide_cli::exit::{CliError, ExitStatus};
use ioxide_cli::progress::ProgressLine;
use ioxide_cli::solver::{self, SolverRequest};
use ioxide_model::sts::Model;
use ioxide_record::clock::StoppedClock;
use ioxide_record::event::RunOutcome;
use ioxide_record::reporter::{EventSink, SilentReporter};
use ioxide_run::campaign::run_seed;
use ioxide_run::coverage::Coverage;
use ioxide_run::run::{self, RunConfig, RunId};
use ioxide_smt::halt::Halt;
use ioxide_symex::Ctx;
use ioxide_testgen::kill::outcome::MutantOutcome;
use ioxide_testgen::kill::suspects::Suspects;
use ioxide_testgen::kill::tester::KillTester;
use ioxide_testgen::tester::Tester as _;
use ioxide_wire::adapter::model::ModelAdapter;
use serde_json::{Value as Json, json};

use super::embedded::load_text;

/// A shop assistant that offers the item wanted or another one, nondeterministically.
const OFFERS: &str = "model Offers {
    input ask(n: 0..9) input take input refuse
    output offer(n: 0..9) output other(n: 0..9) output sold(n: 0..9) output sorry
    var wanted: 0..9 = 0  var shown: 0..9 = 0  var refused: 0..3 = 0
    state idle { ask: on ask { wanted = n, refused = 0 } -> looking }
    state looking {
        fits: emit offer(n: wanted) { shown = wanted } -> offering
        near: emit other(n: shown) when shown < wanted { shown = shown + 1 } -> offering
    }
    state offering {
        take: on take -> selling
        again: on refuse when refused < 3 { refused = refused + 1 } -> looking
        enough: on refuse when refused >= 3 -> parting
    }
    state selling { sold: emit sold(n: shown) { shown = 0 } -> idle }
    state parting { sorry: emit sorry { shown = 0 } -> idle }
}";

/// A courier whose line is free or busy, nondeterministically.
const COURIER: &str = "model Courier {
    input send(n: 0..9) input retry input drop
    output sent(n: 0..9) output busy output failed
    var kept: 0..9 = 0  var tries: 0..5 = 0  var done: 0..9 = 0
    state idle { send: on send { kept = n, tries = 0 } -> sending }
    state sending {
        ok: emit sent(n: kept) { done = if done < 9 then done + 1 else 0 } -> idle
        busy: emit busy when tries < 4 { tries = tries + 1 } -> waiting
    }
    state waiting {
        retry: on retry when tries < 4 -> sending
        give_up: on retry when tries >= 4 -> failing
        drop: on drop -> idle
    }
    state failing { failed: emit failed { done = 0 } -> idle }
}";

/// A maze of six questions, each of which is answered by left or right.
const MAZE: &str = "model Maze {
    input go input left input right
    output at_left output at_right output out(n: 0..6)
    var depth: 0..6 = 0
    state hall { go: on go when depth < 6 -> choosing  end: on go when depth >= 6 -> leaving }
    state choosing { l: emit at_left -> on_left  r: emit at_right -> on_right }
    state on_left { ll: on left { depth = depth + 1 } -> hall  lr: on right { depth = 0 } -> hall }
    state on_right { rr: on right { depth = depth + 1 } -> hall  rl: on left { depth = 0 } -> hall }
    state leaving { out: emit out(n: depth) { depth = 0 } -> hall }
}";

/// The models by name.
const MODELS: [(&str, &str); 3] = [("offers", OFFERS), ("courier", COURIER), ("maze", MAZE)];
/// The greatest number of mutants of a model that are played; all of them are suspects. Chosen by feel, to bound the
/// time.
const PLAYED: usize = 24;
/// The number of seeds for the choices of every mutant; chosen by feel.
const SEEDS: u64 = 3;
/// The number of labels after which a campaign ends; chosen by feel.
const BUDGET: usize = 5_000;

/// The result of one tester on mutants of a model.
#[derive(Default)]
struct KillTally {
    found: usize,
    campaigns: usize,
    /// The labels until the fault was found, over all campaigns that found it.
    labels: usize,
    /// The labels spent on the correct system, as a mean.
    correct: usize,
}

/// Measures and shows.
pub fn run(args: &BenchArgs) -> Result<ExitStatus, CliError> {
    let mut rows = Vec::new();
    for (name, text) in MODELS {
        let [linear, adaptive] = compare_kinds(args, text)?;
        rows.push((name, linear, adaptive));
    }
    let mut out = io::stdout().lock();
    if args.json {
        let mut models: Vec<Json> = Vec::new();
        for (name, linear, adaptive) in &rows {
            models.push(json!({ "model": name, "linear": linear.json(), "adaptive": adaptive.json() }));
        }
        writeln!(out, "{}", json!({ "version": 1, "bench": "kill", "seeds": SEEDS, "models": models }))?;
    } else {
        show_kills(&mut out, &rows)?;
    }
    Ok(ExitStatus::Success)
}

/// Measures linear traces and adaptive experiments on the mutants of a model.
fn compare_kinds(args: &BenchArgs, text: &str) -> Result<[KillTally; 2], CliError> {
    let mut model = load_text("bench.iox", text)?;
    let request = SolverRequest::new(&args.solver, Halt::default());
    let decided =
        kill::decide_mutants(&mut model, &MutantArgs::default(), &DecideArgs::default(), &request, None)?;
    let suite = kill::suite(&mut model, &decided, &request)?;
    let is_killed = |at: &usize| matches!(decided.outcomes[*at], Some(MutantOutcome::Killed(_)));
    let killed: Vec<usize> = (0..decided.mutants.len()).filter(is_killed).collect();
    let linear = KillTester::new(suite.tests);
    let suspects = killed.iter().map(|&at| (at, &decided.mutants[at]));
    let adaptive = linear.clone().suspecting(Suspects::new(&model.sts, suspects));
    let mut progress = ProgressLine::start();
    let mut tallies = [linear, adaptive].map(|tester| (tester, KillTally::default()));
    for (tester, tally) in &mut tallies {
        for (number, &at) in killed.iter().enumerate().step_by(killed.len().div_ceil(PLAYED).max(1)) {
            progress.tick(|| format!("{number} of {} mutants", killed.len()));
            let system = Model { sts: decided.mutants[at].apply(&model.sts), pool: model.pool.clone() };
            for seed in 0..SEEDS {
                tally.add(campaign(args, &model, &system, tester, seed)?);
            }
        }
        for seed in 0..SEEDS {
            let (_, labels) = campaign(args, &model, &model, tester, seed)?;
            tally.correct += labels / SEEDS as usize;
        }
    }
    Ok(tallies.map(|(_, tally)| tally))
}

/// Returns whether a fault was found, and the labels it took.
fn campaign(
    args: &BenchArgs,
    spec: &Model,
    sut: &Model,
    tester: &KillTester,
    seed: u64,
) -> Result<(bool, usize), CliError> {
    let (mut spec_own, mut sut_own) = (spec.clone(), sut.clone());
    let (mut spec_solver, mut sut_solver) = (solver::make(&args.solver)?, solver::make(&args.solver)?);
    let mut cx = Ctx::new(&mut spec_own, &mut *spec_solver);
    let played = Ctx::new(&mut sut_own, &mut *sut_solver);
    let mut adapter = ModelAdapter::new(spec, played, seed)
        .map_err(|error| CliError::new(ExitStatus::Internal, format!("an embedded model: {error}")))?;
    let mut tester = tester.clone();
    let stop = AtomicBool::new(false);
    let mut bench = run::RunSetup { cx: &mut cx, adapter: &mut adapter, stop: &stop };
    let mut coverage = Coverage::new(bench.cx.sts);
    let (mut silent, mut clock) = (SilentReporter, StoppedClock);
    let sink = EventSink::new(&mut silent, &mut clock);
    let (mut labels, mut n) = (0, 0);
    while !tester.is_done() && labels < BUDGET && n < tester.max_runs() as u64 {
        let id = RunId { run: n, seed: run_seed(seed, n) };
        let finished = run::run(&mut bench, &mut tester, &RunConfig::default(), id, &mut coverage, &sink)?;
        labels += finished.trace.len();
        n += 1;
        if finished.end.outcome() == RunOutcome::Fail {
            return Ok((true, labels));
        }
    }
    Ok((false, labels))
}

impl KillTally {
    /// Counts a campaign: whether it found the mutant, and after how many labels.
    fn add(&mut self, (is_found, labels): (bool, usize)) {
        self.campaigns += 1;
        self.found += usize::from(is_found);
        self.labels += if is_found { labels } else { 0 };
    }

    /// Returns the mean number of labels until a mutant is found.
    fn mean(&self) -> f64 {
        self.labels as f64 / self.found.max(1) as f64
    }

    /// Returns the counts for `--json`.
    fn json(&self) -> Json {
        json!({
            "found": self.found, "campaigns": self.campaigns, "mean_labels": self.mean(),
            "labels_on_the_correct_system": self.correct,
        })
    }
}

/// Shows a line for each model.
fn show_kills(out: &mut impl Write, rows: &[(&str, KillTally, KillTally)]) -> io::Result<()> {
    writeln!(out, "mutants found, mean labels until then, labels spent on the correct system")?;
    writeln!(out, "{:<10} {:>28} {:>28}", "", "linear", "adaptive")?;
    for (name, linear, adaptive) in rows {
        let cell = |tally: &KillTally| {
            format!("{} of {}, {:.1}, {}", tally.found, tally.campaigns, tally.mean(), tally.correct)
        };
        writeln!(out, "{name:<10} {:>28} {:>28}", cell(linear), cell(adaptive))?;
    }
    Ok(())
}
