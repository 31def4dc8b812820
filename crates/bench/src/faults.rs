//! Steps until planted faults are found, by tester, over many seeds; correct twins must never fail.
//!
//! A folder `examples/faults/NAME`, `examples/drift/NAME` for those far from the start, or `examples/held-out/NAME` for
//! those no tester was tuned with, holds `model.iox`, a system with one fault (`fault.iox`, played here, or `fault.py`,
//! run on virtual time) and a correct one next to it. *Default* is the tester of `ioxide test`, *cover* the purposes
//! alone, *random* our random walk in runs of a hundred steps, *uniform* the baseline: one long walk with even choices,
//! as a well-known tool does it. All have the same budget of steps and know nothing of the faults; every seed is a
//! campaign of its own. Quiescence counts as a step.

mod corpus;
pub mod parts;
mod show;

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use ioxide_args::BenchArgs;
use ioxide_cli::exit::{CliError, ExitStatus};
use ioxide_cli::progress::ProgressLine;
use ioxide_cli::session;
use ioxide_cli::solver::{self, SolverRequest};
use ioxide_cli::system::{SystemOpener, SystemUnderTest};
use ioxide_model::sts::Model;
use ioxide_record::clock::StoppedClock;
use ioxide_record::event::RunOutcome;
use ioxide_record::reporter::{EventSink, SilentReporter};
use ioxide_run::campaign::run_seed;
use ioxide_run::coverage::Coverage;
use ioxide_run::run::{self, RunConfig, RunEnd, RunId};
use ioxide_symex::{Ctx, ExploreLimits};
use ioxide_testgen::purpose::{Criterion, coverage};
use ioxide_testgen::tester::Tester;
use ioxide_testgen::tester::cover::{CoverRounds, CoverTester, PurposeOrder};
use ioxide_testgen::tester::hunt::{HuntConfig, HuntTester};
use ioxide_testgen::tester::random::{RandomConfig, RandomTester};
use ioxide_testgen::tester::uniform::UniformTester;

use self::corpus::Fault;

/// The number of steps that a tester may take for one fault: the default budget of a hunt, for every tester.
const BUDGET: usize = 10_000;
/// The greatest number of campaigns of a correct twin, each of which takes the whole budget; chosen by feel, to bound
/// the time.
const TWIN_SEEDS: u64 = 5;

/// A way to test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FaultsMode {
    Default,
    Cover,
    Random,
    Uniform,
}

impl FaultsMode {
    const ALL: [Self; 4] = [Self::Default, Self::Cover, Self::Random, Self::Uniform];

    /// Returns the name in tables.
    fn name(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::Cover => "cover",
            Self::Random => "random",
            Self::Uniform => "uniform",
        }
    }

    /// Returns the tester for one campaign with `seed`.
    fn tester(self, cx: &mut Ctx<'_>, seed: u64) -> Box<dyn Tester> {
        match self {
            Self::Default => Box::new(HuntTester::new(HuntConfig { steps: BUDGET, ..HuntConfig::default() })),
            Self::Cover => {
                let limits = ExploreLimits { max_states: 2_000, max_depth: u32::MAX };
                let set = coverage(cx, Criterion::Switches, limits, &mut |_| ControlFlow::Continue(()));
                Box::new(CoverTester::new(&set, CoverRounds::Bounded(5), PurposeOrder::default()))
            }
            Self::Random => Box::new(RandomTester::new(RandomConfig::default(), seed)),
            Self::Uniform => Box::new(UniformTester::new(BUDGET)),
        }
    }
}

/// The result of one tester on one fault.
struct FaultRow {
    mode: FaultsMode,
    /// The steps up to the failure for every seed; `None` where the fault was not found.
    steps: Vec<Option<usize>>,
    seconds: f64,
}

/// The results of all testers on one fault.
struct Rows {
    fault: Fault,
    rows: Vec<FaultRow>,
    correct_fails: usize,
}

/// Tests every fault with every seed and tester, then the correct twins, and shows the figures.
pub fn run(args: &BenchArgs) -> Result<ExitStatus, CliError> {
    let mut all = Vec::new();
    let mut progress = ProgressLine::start();
    let modes = modes(args)?;
    show::head(args, &modes)?;
    for fault in corpus::read_faults(args.only.as_deref())? {
        let (rows, correct_fails) = measure_fault(args, &fault, &modes, &mut progress)?;
        let rows = Rows { fault, rows, correct_fails };
        show::row(args, &rows)?;
        all.push(rows);
    }
    show::foot(args, &modes, &all)?;
    Ok(status_of_rows(&all))
}

/// Shows rows that were measured before.
fn show_rows(args: &BenchArgs, modes: &[FaultsMode], all: &[Rows]) -> Result<ExitStatus, CliError> {
    show::head(args, modes)?;
    all.iter().try_for_each(|rows| show::row(args, rows))?;
    show::foot(args, modes, all)?;
    Ok(status_of_rows(all))
}

/// Measures all testers on one fault, and the number of campaigns in which its correct twin fails.
fn measure_fault(
    args: &BenchArgs,
    fault: &Fault,
    modes: &[FaultsMode],
    progress: &mut ProgressLine,
) -> Result<(Vec<FaultRow>, usize), CliError> {
    let mut rows = Vec::new();
    for &mode in modes {
        progress.tick(|| format!("{}: {}", fault.name, mode.name()));
        rows.push(row(args, fault, mode)?);
    }
    let correct_fails = if args.testers.is_empty() { correct(args, fault)? } else { 0 };
    Ok((rows, correct_fails))
}

/// Returns success if the first tester, which is the default one unless others are named, finds every fault with every
/// seed, and no correct twin fails.
fn status_of_rows(all: &[Rows]) -> ExitStatus {
    let is_complete = |rows: &Rows| {
        rows.correct_fails == 0 && rows.rows.iter().take(1).all(|row| row.steps.iter().all(Option::is_some))
    };
    if all.iter().all(is_complete) { ExitStatus::Success } else { ExitStatus::Inconclusive }
}

/// Returns the testers to measure: all, or those named by `--testers`.
fn modes(args: &BenchArgs) -> Result<Vec<FaultsMode>, CliError> {
    let named = |name: &String| {
        let unknown = || CliError::usage(format!("there is no tester `{name}` in this measurement"));
        FaultsMode::ALL.into_iter().find(|mode| mode.name() == name).ok_or_else(unknown)
    };
    if args.testers.is_empty() {
        Ok(FaultsMode::ALL.to_vec())
    } else {
        args.testers.iter().map(named).collect()
    }
}

/// Measures a tester on a fault, over all seeds.
fn row(args: &BenchArgs, fault: &Fault, mode: FaultsMode) -> Result<FaultRow, CliError> {
    let start = Instant::now();
    let campaigns = (0..args.seeds).map(|seed| campaign(args, &fault.spec, &fault.faulty, mode, seed));
    let steps = campaigns.collect::<Result<Vec<_>, _>>()?;
    Ok(FaultRow { mode, steps, seconds: start.elapsed().as_secs_f64() / args.seeds.max(1) as f64 })
}

/// Returns the number of campaigns of the default tester in which a correct system fails.
fn correct(args: &BenchArgs, fault: &Fault) -> Result<usize, CliError> {
    let mut fails = 0;
    for seed in 0..args.seeds.min(TWIN_SEEDS) {
        fails +=
            usize::from(campaign(args, &fault.spec, &fault.correct, FaultsMode::Default, seed)?.is_some());
    }
    Ok(fails)
}

/// Returns the steps up to the first failure; `None` if there is none within the budget.
fn campaign(
    args: &BenchArgs,
    spec: &Model,
    sut: &SystemUnderTest,
    mode: FaultsMode,
    seed: u64,
) -> Result<Option<usize>, CliError> {
    let mut own = spec.clone();
    let mut solver = solver::make(&args.solver)?;
    let mut cx = Ctx::new(&mut own, &mut *solver);
    let mut tester = mode.tester(&mut cx, seed);
    let opener = SystemOpener::new(sut, Arc::new(spec.clone()), SolverRequest::endless(&args.solver));
    opener.open(0, seed, |adapter| {
        let stop = AtomicBool::new(false);
        let mut bench = run::RunSetup { cx: &mut cx, adapter, stop: &stop };
        session::prepare(&mut bench, &mut *tester);
        until_failure(&mut bench, &mut *tester, seed)
    })
}

fn until_failure(
    bench: &mut run::RunSetup<'_, '_>,
    tester: &mut dyn Tester,
    seed: u64,
) -> Result<Option<usize>, CliError> {
    let mut coverage = Coverage::new(bench.cx.sts);
    let (mut silent, mut clock) = (SilentReporter, StoppedClock);
    let sink = EventSink::new(&mut silent, &mut clock);
    let (mut total, mut n) = (0, 0);
    while total < BUDGET && !tester.is_done() {
        let id = RunId { run: n, seed: run_seed(seed, n) };
        let finished = run::run(bench, tester, &RunConfig::default(), id, &mut coverage, &sink)?;
        total += finished.trace.len().max(1);
        n += 1;
        match (finished.end.outcome(), finished.end) {
            (RunOutcome::Fail, _) => return Ok(Some(total)),
            (_, RunEnd::Error(error)) => {
                return Err(CliError::new(ExitStatus::Infrastructure, error.to_string()));
            }
            _ => (),
        }
    }
    Ok(None)
}
