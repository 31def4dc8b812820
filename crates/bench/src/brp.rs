//! The number of inputs and outputs until each mutant of the BRP is found, as \[BT19] Table 1 counts them.
//!
//! *Paper*: the purposes of switch coverage, longest first, input data drawn uniformly from six
//! values (the domain the paper's figure for the sixth mutant fits best). *Default*: what
//! `ioxide test` does. Silence is not an input or output and is not counted. Both know nothing of the
//! mutants; every seed is a campaign of its own, and means are over all of them.

mod shuffle;

use std::io::{self, Write};
use std::ops::ControlFlow;
use std::sync::atomic::AtomicBool;

use ioxide_args::BenchArgs;
use ioxide_cli::exit::{CliError, ExitStatus};
use ioxide_cli::progress::ProgressLine;
use ioxide_cli::solver;
use ioxide_model::label::Label;
use ioxide_model::sts::Model;
use ioxide_record::clock::StoppedClock;
use ioxide_record::event::RunOutcome;
use ioxide_record::reporter::{EventSink, SilentReporter};
use ioxide_run::campaign::{CampaignConfig, run_seed};
use ioxide_run::coverage::Coverage;
use ioxide_run::run::{self, RunId};
use ioxide_symex::{Ctx, ExploreLimits};
use ioxide_testgen::purpose::{Criterion, PurposeSet, coverage, with_detours};
use ioxide_testgen::tester::Tester;
use ioxide_testgen::tester::cover::{CoverRounds, CoverTester, PurposeOrder};
use ioxide_testgen::tester::hunt::{HuntConfig, HuntTester};
use ioxide_testgen::tester::purpose::InputChoice;
use ioxide_wire::adapter::model::ModelAdapter;
use serde_json::{Map, Value as Json, json};

use self::shuffle::Shuffle;
use super::embedded::load_text;

/// The specification, embedded so that the measurement runs anywhere.
const SPEC: &str = include_str!("../../../examples/brp/spec.iox");
/// The six mutants of \[BT19], by number.
const MUTANTS: [&str; 6] = [
    include_str!("../../../examples/brp/m1.iox"),
    include_str!("../../../examples/brp/m2.iox"),
    include_str!("../../../examples/brp/m3.iox"),
    include_str!("../../../examples/brp/m4.iox"),
    include_str!("../../../examples/brp/m5.iox"),
    include_str!("../../../examples/brp/m6.iox"),
];
/// The number of campaigns per mutant: as many as a run of half a minute allows.
const SEEDS: u64 = 100;
/// The number of runs after which a mutant counts as not found; chosen by feel, none comes near it.
const MAX_RUNS: u64 = 10_000;
/// The number of values from which data is drawn in the paper's mode: the domain that the paper's figure for the
/// sixth mutant fits best.
const VALUES: i64 = 6;

/// A way to test: as in the paper, or the default of `ioxide test`.
#[derive(Clone, Copy)]
enum BrpMode {
    Paper,
    Default,
}

/// The mean and the greatest number of messages until the fault was found, for every mutant.
struct BrpFigures {
    means: Vec<f64>,
    worst: Vec<u64>,
}

/// Tests every mutant with every seed in both ways and shows the means.
pub fn run(args: &BenchArgs) -> Result<ExitStatus, CliError> {
    if args.permuted {
        return run_permuted(args);
    }
    let mut spec = load_text("brp.iox", SPEC)?;
    let mut finder = solver::make(&args.solver)?;
    let limits = ExploreLimits { max_states: 20_000, max_depth: u32::MAX };
    let mut cx = Ctx::new(&mut spec, &mut *finder);
    let set = coverage(&mut cx, Criterion::Switches, limits, &mut |_| ControlFlow::Continue(()));
    let default = with_detours(&mut cx, set.clone());
    let paper = figures(args, &spec, &set, BrpMode::Paper)?;
    let default = figures(args, &spec, &default, BrpMode::Default)?;
    let mut out = io::stdout().lock();
    if args.json {
        let lengths: Vec<usize> = set.purposes.iter().map(|purpose| purpose.steps.len()).collect();
        let result = json!({
            "version": 1, "bench": "brp", "seeds": SEEDS, "purposes": lengths,
            "paper": figures_json(&paper), "default": figures_json(&default),
        });
        writeln!(out, "{result}")?;
    } else {
        show_brp(&mut out, &paper, &default)?;
    }
    Ok(ExitStatus::Success)
}

/// Runs the default tester on models written in another order for every seed.
fn run_permuted(args: &BenchArgs) -> Result<ExitStatus, CliError> {
    let mut counts = vec![Vec::new(); MUTANTS.len()];
    let mut progress = ProgressLine::start();
    for seed in 0..SEEDS {
        progress.tick(|| format!("{seed} of {SEEDS} orders"));
        let shuffle = Shuffle::new(seed);
        let mut spec = shuffle.apply(load_text("brp.iox", SPEC)?);
        let mut finder = solver::make(&args.solver)?;
        let limits = ExploreLimits { max_states: 20_000, max_depth: u32::MAX };
        let mut cx = Ctx::new(&mut spec, &mut *finder);
        let set = coverage(&mut cx, Criterion::Switches, limits, &mut |_| ControlFlow::Continue(()));
        let set = with_detours(&mut cx, set);
        for (count, text) in counts.iter_mut().zip(MUTANTS) {
            let mutant = shuffle.apply(load_text("brp.iox", text)?);
            count.push(messages(args, &spec, &mutant, &set, BrpMode::Default, seed)?);
        }
    }
    let sums: Vec<u64> = (0..SEEDS as usize).map(|at| counts.iter().map(|count| count[at]).sum()).collect();
    let figures = BrpFigures {
        means: counts.iter().map(|count| count.iter().sum::<u64>() as f64 / SEEDS as f64).collect(),
        worst: counts.iter().map(|count| count.iter().copied().max().unwrap_or(0)).collect(),
    };
    let mut out = io::stdout().lock();
    let worst = sums.into_iter().max().unwrap_or(0);
    if args.json {
        let result = json!({
            "version": 1, "bench": "brp", "seeds": SEEDS, "permuted": figures_json(&figures),
            "worst_sum": worst,
        });
        writeln!(out, "{result}")?;
        return Ok(ExitStatus::Success);
    }
    writeln!(
        out,
        "inputs and outputs until a mutant is found, everything in another order for each of {SEEDS} seeds"
    )?;
    writeln!(out, "{:<9} {:>7} {:>7}", "", "mean", "worst")?;
    for (at, mean) in figures.means.iter().enumerate() {
        writeln!(out, "{:<9} {mean:>7.1} {:>7}", format!("M{}", at + 1), figures.worst[at])?;
    }
    writeln!(out, "{:<9} {:>7.1} {worst:>7}", "sum", figures.sum())?;
    writeln!(out, "{:<9} {:>7.1}", "geo. mean", figures.geomean())?;
    Ok(ExitStatus::Success)
}

/// Measures how many messages each mutant takes, over all seeds.
fn figures(args: &BenchArgs, spec: &Model, set: &PurposeSet, mode: BrpMode) -> Result<BrpFigures, CliError> {
    let mut progress = ProgressLine::start();
    let mut found = BrpFigures { means: Vec::new(), worst: Vec::new() };
    for (at, text) in MUTANTS.iter().enumerate() {
        let mutant = load_text("brp.iox", text)?;
        let mut counts = Vec::new();
        for seed in 0..SEEDS {
            progress.tick(|| format!("M{}: {seed} of {SEEDS} campaigns", at + 1));
            counts.push(messages(args, spec, &mutant, set, mode, seed)?);
        }
        found.means.push(counts.iter().sum::<u64>() as f64 / counts.len() as f64);
        found.worst.push(counts.into_iter().max().unwrap_or(0));
    }
    Ok(found)
}

/// Returns the number of inputs and outputs until the first Fail.
fn messages(
    args: &BenchArgs,
    spec: &Model,
    mutant: &Model,
    set: &PurposeSet,
    mode: BrpMode,
    seed: u64,
) -> Result<u64, CliError> {
    let (mut spec_own, mut sut_own) = (spec.clone(), mutant.clone());
    let (mut spec_solver, mut sut_solver) = (solver::make(&args.solver)?, solver::make(&args.solver)?);
    let mut cx = Ctx::new(&mut spec_own, &mut *spec_solver);
    let sut = Ctx::new(&mut sut_own, &mut *sut_solver);
    let mut adapter = ModelAdapter::new(spec, sut, seed)
        .map_err(|error| CliError::new(ExitStatus::Internal, format!("an embedded mutant: {error}")))?;
    let mut tester: Box<dyn Tester> = match mode {
        BrpMode::Paper => Box::new(
            CoverTester::new(set, CoverRounds::Endless, PurposeOrder::LongestFirst)
                .choosing(InputChoice::Uniform(VALUES)),
        ),
        BrpMode::Default => {
            let config = HuntConfig { steps: usize::MAX, ..HuntConfig::default() };
            Box::new(HuntTester::new(config).with_purposes(set.clone()))
        }
    };
    let config = CampaignConfig::default();
    let stop = AtomicBool::new(false);
    let mut bench = run::RunSetup { cx: &mut cx, adapter: &mut adapter, stop: &stop };
    let mut coverage = Coverage::new(bench.cx.sts);
    let (mut silent, mut clock) = (SilentReporter, StoppedClock);
    let sink = EventSink::new(&mut silent, &mut clock);
    let mut total = 0;
    for n in 0..MAX_RUNS {
        let id = RunId { run: n, seed: run_seed(seed, n) };
        let finished = run::run(&mut bench, &mut *tester, &config.run, id, &mut coverage, &sink)?;
        let is_message = |label: &&Label| matches!(label, Label::Input(..) | Label::Output(..));
        total += finished.trace.labels.iter().filter(is_message).count() as u64;
        if finished.end.outcome() == RunOutcome::Fail {
            return Ok(total);
        }
    }
    Err(CliError::new(ExitStatus::Inconclusive, format!("a mutant was not found in {MAX_RUNS} runs")))
}

impl BrpFigures {
    /// Returns the sum over the mutants, the figure of the paper.
    fn sum(&self) -> f64 {
        self.means.iter().sum()
    }

    /// Returns the geometric mean, which no single hard mutant dominates.
    fn geomean(&self) -> f64 {
        (self.means.iter().map(|mean| mean.ln()).sum::<f64>() / self.means.len() as f64).exp()
    }
}

fn figures_json(figures: &BrpFigures) -> Json {
    let mut result = Map::new();
    for (at, mean) in figures.means.iter().enumerate() {
        result.insert(format!("M{}", at + 1), json!(mean));
    }
    result.insert("sum".into(), json!(figures.sum()));
    result.insert("geomean".into(), json!(figures.geomean()));
    result.insert("worst".into(), json!(figures.worst));
    Json::Object(result)
}

/// Shows both ways side by side.
fn show_brp(out: &mut impl Write, paper: &BrpFigures, default: &BrpFigures) -> io::Result<()> {
    writeln!(out, "inputs and outputs until a mutant is found, mean of {SEEDS} seeds")?;
    writeln!(out, "{:<9} {:>7} {:>7} {:>7}", "", "paper", "default", "worst")?;
    for at in 0..default.means.len() {
        let (name, worst) = (format!("M{}", at + 1), default.worst[at]);
        writeln!(out, "{name:<9} {:>7.1} {:>7.1} {worst:>7}", paper.means[at], default.means[at])?;
    }
    writeln!(out, "{:<9} {:>7.1} {:>7.1}", "sum", paper.sum(), default.sum())?;
    writeln!(out, "{:<9} {:>7.1} {:>7.1}", "geo. mean", paper.geomean(), default.geomean())
}
