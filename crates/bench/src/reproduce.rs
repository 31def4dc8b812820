//! `ioxide bench reproduce`: from a failure to a short run that fails every time, on small systems with one fault each.
//!
//! Every system is tested until it fails, once per seed. The failure is then repeated and made smaller twice: as a
//! campaign does it, and by deletion alone (the literal inputs, ever smaller pieces left out, nothing known about the
//! model). Counted are failures that came back, the steps of the smallest run beside the fewest that can fail, the runs
//! that it took, and how many smallest runs failed when they were executed once more.

mod deletion;
mod systems;

use std::io::{self, Write};
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use ioxide_cli::args::{BenchArgs, SolverArgs};
use ioxide_cli::exit::{CliError, ExitStatus};
use ioxide_cli::progress::ProgressLine;
use ioxide_cli::solver;
use ioxide_record::clock::StoppedClock;
use ioxide_record::reporter::{EventSink, SilentReporter};
use ioxide_run::campaign::{CampaignConfig, campaign};
use ioxide_run::run::{RunConfig, RunSetup};
use ioxide_run::shrink::{FailureSign, ShrinkConfig, repeat};
use ioxide_symex::Ctx;
use ioxide_testgen::tester::random::{RandomConfig, RandomTester};
use serde_json::{Value as Json, json};

use self::deletion::shrink_by_deletion;
use self::systems::{FaultySystem, systems};

/// The steps of a run that looks for the fault; chosen by feel.
const STEPS: usize = 120;
/// The number of runs that look for the fault before a system is given up; chosen by feel.
const RUNS: u64 = 200;
/// The number of times that a failure is repeated; chosen by feel.
const REPLAYS: u32 = 3;
/// The runs that either way may take to make a failure smaller, the same for both; chosen by feel.
const ATTEMPTS: u32 = 600;

/// The results of one way to make the failures of a system smaller.
#[derive(Debug, Default)]
struct WayRow {
    /// The failures that came back every time.
    reproduced: u64,
    /// The steps of the smallest runs, in order; of failures that did not come back, those of the run as found.
    sizes: Vec<usize>,
    attempts: u64,
    seconds: f64,
    /// The smallest runs that failed when they were executed once more.
    fails_again: u64,
}

/// The results on one system.
#[derive(Debug, Default)]
struct SystemRow {
    name: &'static str,
    optimum: usize,
    found: u64,
    by_meaning: WayRow,
    by_deletion: WayRow,
}

/// Measures and shows.
pub fn run(args: &BenchArgs) -> Result<ExitStatus, CliError> {
    let mut rows = Vec::new();
    let mut progress = ProgressLine::start();
    for system in systems() {
        if args.only.as_deref().is_some_and(|only| !system.name.contains(only)) {
            continue;
        }
        let mut row = SystemRow { name: system.name, optimum: system.optimum, ..SystemRow::default() };
        for seed in 0..args.seeds {
            progress.show_line(&format!("{}, seed {seed}", system.name));
            row.add(&system, seed, &args.solver)?;
        }
        row.by_meaning.sizes.sort_unstable();
        row.by_deletion.sizes.sort_unstable();
        rows.push(row);
    }
    drop(progress);
    let mut out = io::stdout().lock();
    if args.json {
        let rows: Vec<Json> = rows.iter().map(SystemRow::json).collect();
        writeln!(
            out,
            "{}",
            json!({ "version": 1, "bench": "reproduce", "seeds": args.seeds, "rows": rows })
        )?;
    } else {
        show(&mut out, &rows)?;
    }
    Ok(ExitStatus::Success)
}

impl SystemRow {
    /// Looks for the fault with this seed, and makes the failure smaller in both ways.
    fn add(&mut self, system: &FaultySystem, seed: u64, solver_args: &SolverArgs) -> Result<(), CliError> {
        let spec = system.spec();
        let mut own = spec.clone();
        let mut solver = solver::make(solver_args)?;
        let mut cx = Ctx::new(&mut own, &mut *solver);
        let mut adapter = system.start(&spec, seed);
        let stop = AtomicBool::new(false);
        let mut setup = RunSetup { cx: &mut cx, adapter: &mut adapter, stop: &stop };
        let mut tester = RandomTester::new(RandomConfig { steps: STEPS, ..RandomConfig::default() }, seed);
        let shrink = Some(ShrinkConfig { attempts: ATTEMPTS, replays: REPLAYS, ..ShrinkConfig::default() });
        let config =
            CampaignConfig { runs: RUNS, seed, replays: REPLAYS, shrink, ..CampaignConfig::default() };
        let (mut silent, mut clock) = (SilentReporter, StoppedClock);
        let events = EventSink::new(&mut silent, &mut clock);
        let started = Instant::now();
        let outcome = campaign(&mut setup, &mut tester, &config, &events)?;
        let seconds = started.elapsed().as_secs_f64();
        let Some(failure) = outcome.failures.first() else { return Ok(()) };
        let Some(sign) = FailureSign::of_failing(&failure.trace) else { return Ok(()) };
        self.found += 1;
        let way = &mut self.by_meaning;
        way.seconds += seconds;
        way.reproduced += u64::from(failure.reproduced == REPLAYS);
        let smallest = failure.shrunk.as_ref().map_or(&failure.trace, |shrunk| &shrunk.trace);
        way.attempts += failure.shrunk.as_ref().map_or(0, |shrunk| u64::from(shrunk.attempts));
        way.sizes.push(smallest.n_steps());
        let run = RunConfig::default();
        way.fails_again += u64::from(repeat(&mut setup, &run, smallest, sign, 1).failed);
        let started = Instant::now();
        let deleted = shrink_by_deletion(&mut setup, &failure.trace, sign, REPLAYS, ATTEMPTS)?;
        let way = &mut self.by_deletion;
        way.seconds += started.elapsed().as_secs_f64();
        way.reproduced += u64::from(deleted.reproduced == REPLAYS);
        way.attempts += u64::from(deleted.attempts);
        way.sizes.push(deleted.trace.n_steps());
        way.fails_again += u64::from(deleted.fails_again);
        Ok(())
    }

    /// Returns the row for `--json`.
    fn json(&self) -> Json {
        json!({
            "system": self.name, "optimum": self.optimum, "found": self.found,
            "by_meaning": self.by_meaning.json(), "by_deletion": self.by_deletion.json(),
        })
    }
}

impl WayRow {
    /// Returns the median size of the shrunk runs; the sizes are sorted.
    fn median(&self) -> usize {
        self.sizes.get(self.sizes.len() / 2).copied().unwrap_or(0)
    }

    /// Returns the size of the largest shrunk run.
    fn worst(&self) -> usize {
        self.sizes.last().copied().unwrap_or(0)
    }

    /// Returns the figures for `--json`.
    fn json(&self) -> Json {
        json!({
            "reproduced": self.reproduced, "median_steps": self.median(), "worst_steps": self.worst(),
            "attempts": self.attempts, "seconds": self.seconds, "fails_again": self.fails_again,
        })
    }
}

/// Shows a line for each system.
fn show(out: &mut impl Write, rows: &[SystemRow]) -> io::Result<()> {
    writeln!(
        out,
        "| system | fewest steps | failures | by meaning: came back, median, worst, runs each, fail again | deletion alone: the same |"
    )?;
    writeln!(out, "|---|---|---|---|---|")?;
    for row in rows {
        let way = |way: &WayRow| {
            let each = way.attempts.checked_div(row.found).unwrap_or(0);
            let (median, worst) = (way.median(), way.worst());
            format!("{}, {median}, {worst}, {each}, {}", way.reproduced, way.fails_again)
        };
        let (meaning, deletion) = (way(&row.by_meaning), way(&row.by_deletion));
        writeln!(out, "| {} | {} | {} | {meaning} | {deletion} |", row.name, row.optimum, row.found)?;
    }
    let sum = |of: fn(&SystemRow) -> u64| rows.iter().map(of).sum::<u64>();
    writeln!(
        out,
        "\n{} failures; came back every time: {} by meaning, {} by deletion alone",
        sum(|row| row.found),
        sum(|row| row.by_meaning.reproduced),
        sum(|row| row.by_deletion.reproduced)
    )
}
