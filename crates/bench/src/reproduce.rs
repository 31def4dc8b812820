//! `ioxide bench reproduce`: from a failure to a short run that fails every time, on small systems with one fault each.
//!
//! Every system is tested until it fails, once per seed. The failure is then repeated and made smaller twice: as a
//! campaign does it, and by deletion alone (the literal inputs, ever smaller pieces left out, nothing known about the
//! model). Counted are failures that came back, the steps of the smallest run beside the fewest that can fail, the runs
//! that it took, and how many smallest runs failed when they were executed once more. Some systems are objects in this
//! process, some are servers that are reached by sockets, some are real servers behind a proxy that is not quite right.

mod deletion;
mod real;
mod sockets;
mod systems;

use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use ioxide_args::{BenchArgs, SolverArgs};
use ioxide_cli::exit::{CliError, ExitStatus};
use ioxide_cli::progress::ProgressLine;
use ioxide_cli::solver;
use ioxide_cli::solver::SolverRequest;
use ioxide_cli::system::{SystemOpener, SystemUnderTest};
use ioxide_model::label::Label;
use ioxide_model::sts::Model;
use ioxide_model::trace::Trace;
use ioxide_record::clock::StoppedClock;
use ioxide_record::event::{Event, EventKind, RunOutcome};
use ioxide_record::reporter::{EventSink, Reporter};
use ioxide_run::campaign::{CampaignConfig, campaign};
use ioxide_run::clock::patience::Patience;
use ioxide_run::run::{RunConfig, RunSetup};
use ioxide_run::shrink::{FailureSign, ShrinkConfig, repeat};
use ioxide_symex::Ctx;
use ioxide_testgen::tester::random::{RandomConfig, RandomTester};
use serde_json::{Value as Json, json};

use self::deletion::{DeletionLimits, shrink_by_deletion};
use self::real::{RealSystem, real_systems};
use self::sockets::SocketServer;
use self::systems::{FaultySystem, SystemWire, live_systems, systems};

/// The steps of a run that looks for the fault; chosen by feel.
const STEPS: usize = 120;
/// The number of runs that look for the fault before a system is given up; chosen by feel.
const RUNS: u64 = 200;
/// The number of times that a failure is repeated; chosen by feel.
const REPLAYS: u32 = 3;
/// The runs that either way may take to make a failure smaller, the same for both; chosen by feel.
const ATTEMPTS: u32 = 600;
/// The time that either way may take on a system that is reached by sockets.
const LIVE_TIME: Duration = Duration::from_secs(30);
/// The quiescence time of systems that are reached by sockets.
const LIVE_PATIENCE: Duration = Duration::from_millis(30);

/// A reporter that notes when the first run failed.
struct FailureClock(Option<Instant>);

impl Reporter for FailureClock {
    fn event(&mut self, event: &Event) -> io::Result<()> {
        if let EventKind::RunFinished(finished) = &event.event
            && finished.outcome == RunOutcome::Fail
        {
            self.0.get_or_insert_with(Instant::now);
        }
        Ok(())
    }
}

/// The results of one way to make the failures of a system smaller.
#[derive(Debug, Default)]
struct WayRow {
    /// The failures that came back every time.
    reproduced: u64,
    /// The smallest runs, shortest first; of failures that did not come back, the runs as found.
    sizes: Vec<RunSize>,
    attempts: u64,
    /// The time for repeating and shrinking; the search for the failure is not in it.
    seconds: f64,
    /// The smallest runs that failed when they were executed once more.
    fails_again: u64,
}

/// The size of a run that shows a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct RunSize {
    steps: usize,
    /// The fewest steps of a run that fails like that.
    fewest: usize,
}

impl RunSize {
    /// Returns by how many percent it has more steps than the fewest.
    fn count_percent_over(self) -> usize {
        (self.steps * 100 / self.fewest.max(1)).saturating_sub(100)
    }
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
    let is_wanted = |name: &str| args.only.as_deref().is_none_or(|only| name.contains(only));
    for system in systems().into_iter().chain(live_systems()).filter(|system| is_wanted(system.name)) {
        let mut row = SystemRow { name: system.name, optimum: system.optimum, ..SystemRow::default() };
        for seed in 0..args.seeds {
            progress.show_line(&format!("{}, seed {seed}", system.name));
            row.add(&system, seed, &args.solver)?;
        }
        rows.push(row);
    }
    for system in real_systems().into_iter().filter(|system| is_wanted(system.name)) {
        let mut row = SystemRow { name: system.name, optimum: system.optimum, ..SystemRow::default() };
        for seed in 0..args.seeds {
            progress.show_line(&format!("{}, seed {seed}", system.name));
            row.add_real(&system, seed, &args.solver)?;
        }
        rows.push(row);
    }
    for row in &mut rows {
        row.by_meaning.sizes.sort_unstable();
        row.by_deletion.sizes.sort_unstable();
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
        show_systems(&mut out, &rows)?;
    }
    Ok(ExitStatus::Success)
}

impl SystemRow {
    /// Looks for the fault of a system with this seed, and makes the failure smaller in both ways.
    fn add(&mut self, system: &FaultySystem, seed: u64, solver_args: &SolverArgs) -> Result<(), CliError> {
        let spec = system.spec();
        let mut server = system.start(&spec, seed);
        if system.wire != SystemWire::InProcess {
            let server = SocketServer::start(server, &spec, system.wire)?;
            let fewest = |_: &Trace| system.optimum;
            return self.add_outside(&spec, server.project, "faulty", &fewest, seed, solver_args);
        }
        let mut own = spec.clone();
        let mut solver = solver::make(solver_args)?;
        let mut cx = Ctx::new(&mut own, &mut *solver);
        let stop = AtomicBool::new(false);
        let mut setup = RunSetup { cx: &mut cx, adapter: &mut server, stop: &stop };
        let shrink = ShrinkConfig { attempts: ATTEMPTS, replays: REPLAYS, ..ShrinkConfig::default() };
        self.measure(&mut setup, RunConfig::default(), shrink, &|_| system.optimum, seed)
    }

    /// Does the same with a real server behind a faulty proxy.
    fn add_real(&mut self, system: &RealSystem, seed: u64, solver_args: &SolverArgs) -> Result<(), CliError> {
        let (spec, project) = (system.spec()?, system.project()?);
        let fewest = |trace: &Trace| system.fewest_steps(&spec, trace);
        self.add_outside(&spec, project, system.sut, &fewest, seed, solver_args)
    }

    /// Does the same with the system `name` of a project file.
    fn add_outside(
        &mut self,
        spec: &Model,
        project: String,
        name: &str,
        fewest: &dyn Fn(&Trace) -> usize,
        seed: u64,
        solver_args: &SolverArgs,
    ) -> Result<(), CliError> {
        let sut = SystemUnderTest::from_project(project, name)?;
        let opener = SystemOpener::new(&sut, Arc::new(spec.clone()), SolverRequest::endless(solver_args));
        let mut own = spec.clone();
        let mut solver = solver::make(solver_args)?;
        opener.open(0, seed, |adapter| {
            let mut cx = Ctx::new(&mut own, &mut *solver);
            let stop = AtomicBool::new(false);
            let mut setup = RunSetup { cx: &mut cx, adapter, stop: &stop };
            let time = Some(LIVE_TIME);
            let shrink =
                ShrinkConfig { attempts: ATTEMPTS, time, replays: REPLAYS, ..ShrinkConfig::default() };
            let run = RunConfig { patience: Patience::new(LIVE_PATIENCE), ..RunConfig::default() };
            self.measure(&mut setup, run, shrink, fewest, seed)
        })
    }

    /// Looks for the fault with this seed, and makes the failure smaller in both ways; `fewest` returns the fewest
    /// steps of a run that fails as a given one does.
    fn measure(
        &mut self,
        setup: &mut RunSetup<'_, '_>,
        run: RunConfig,
        shrink: ShrinkConfig,
        fewest: &dyn Fn(&Trace) -> usize,
        seed: u64,
    ) -> Result<(), CliError> {
        let mut tester = RandomTester::new(RandomConfig { steps: STEPS, ..RandomConfig::default() }, seed);
        let config = CampaignConfig {
            runs: RUNS,
            seed,
            replays: REPLAYS,
            shrink: Some(shrink),
            run: run.clone(),
            ..CampaignConfig::default()
        };
        let (mut failure_clock, mut clock) = (FailureClock(None), StoppedClock);
        let events = EventSink::new(&mut failure_clock, &mut clock);
        let outcome = campaign(setup, &mut tester, &config, &events)?;
        let seconds = failure_clock.0.map_or(0.0, |failed| failed.elapsed().as_secs_f64());
        let Some(failure) = outcome.failures.first() else { return Ok(()) };
        let Some(sign) = FailureSign::of_failing(&failure.trace) else { return Ok(()) };
        self.found += 1;
        let size = |trace: &Trace| RunSize { steps: n_messages(trace), fewest: fewest(&failure.trace) };
        let way = &mut self.by_meaning;
        way.seconds += seconds;
        way.reproduced += u64::from(failure.of > 0 && failure.reproduced == failure.of);
        let smallest = failure.shrunk.as_ref().map_or(&failure.trace, |shrunk| &shrunk.trace);
        way.attempts += failure.shrunk.as_ref().map_or(0, |shrunk| u64::from(shrunk.attempts));
        way.sizes.push(size(smallest));
        way.fails_again += u64::from(repeat(setup, &run, smallest, sign, 1).failed);
        let started = Instant::now();
        let limits = DeletionLimits {
            replays: REPLAYS,
            attempts: ATTEMPTS,
            until: shrink.time.map(|time| started + time),
        };
        let deleted = shrink_by_deletion(setup, &run, &failure.trace, sign, limits)?;
        let way = &mut self.by_deletion;
        way.seconds += started.elapsed().as_secs_f64();
        way.reproduced += u64::from(deleted.reproduced == REPLAYS);
        way.attempts += u64::from(deleted.attempts);
        way.sizes.push(size(&deleted.trace));
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

/// Returns the number of steps of a run up to its failure; the time that passes between messages is none. Where
/// messages may cross, the failure is certain only when later ones do not explain it: these are not counted.
fn n_messages(trace: &Trace) -> usize {
    let end = trace.forbidden_at.map_or(trace.len(), |at| trace.len().min(at + 1));
    let messages = trace.labels[..end].iter().filter(|label| !matches!(label, Label::Delay(_)));
    messages.count() + usize::from(trace.breakdown.is_some())
}

impl WayRow {
    /// Returns the median size of the shrunk runs; the sizes are sorted.
    fn median(&self) -> usize {
        self.sizes.get(self.sizes.len() / 2).map_or(0, |size| size.steps)
    }

    /// Returns by how many percent the shrunk runs have more steps than the fewest, in the median and at worst.
    fn count_percents_over(&self) -> (usize, usize) {
        let mut over: Vec<usize> = self.sizes.iter().map(|size| size.count_percent_over()).collect();
        over.sort_unstable();
        (over.get(over.len() / 2).copied().unwrap_or(0), over.last().copied().unwrap_or(0))
    }

    /// Returns the size of the largest shrunk run.
    fn worst(&self) -> usize {
        self.sizes.last().map_or(0, |size| size.steps)
    }

    /// Returns the figures for `--json`.
    fn json(&self) -> Json {
        let (median_over, worst_over) = self.count_percents_over();
        json!({
            "reproduced": self.reproduced, "median_steps": self.median(), "worst_steps": self.worst(),
            "median_percent_over": median_over, "worst_percent_over": worst_over,
            "attempts": self.attempts, "seconds": self.seconds, "fails_again": self.fails_again,
        })
    }
}

/// Shows a line for each system.
fn show_systems(out: &mut impl Write, rows: &[SystemRow]) -> io::Result<()> {
    writeln!(
        out,
        "| system | fewest steps | failures | by meaning: came back, median, worst (percent over the fewest), \
         runs each, seconds each, fail again | deletion alone: the same |"
    )?;
    writeln!(out, "|---|---|---|---|---|")?;
    for row in rows {
        let way = |way: &WayRow| {
            let each = way.attempts.checked_div(row.found).unwrap_or(0);
            let (median, worst) = (way.median(), way.worst());
            let seconds = way.seconds / (row.found.max(1) as f64);
            let (median_over, worst_over) = way.count_percents_over();
            let sizes = format!("{median}, {worst} (+{median_over}, +{worst_over})");
            format!("{}, {sizes}, {each}, {seconds:.1}, {}", way.reproduced, way.fails_again)
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

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct TestArgs {
        #[command(flatten)]
        solver: SolverArgs,
    }

    /// A small share of the measurement: one failure of every system in this process, and of some behind sockets.
    #[test]
    fn failures_come_back_and_become_as_small_as_they_can_be() {
        let args = TestArgs::parse_from(["test"]);
        let is_quick = |system: &FaultySystem| {
            system.wire == SystemWire::InProcess
                || ["TCP: UUIDs", "adapter: exception"].contains(&system.name)
        };
        for system in systems().into_iter().chain(live_systems()).filter(is_quick) {
            let mut row = SystemRow { name: system.name, optimum: system.optimum, ..SystemRow::default() };
            row.add(&system, 1, &args.solver).expect("a row");
            let way = &row.by_meaning;
            assert_eq!((row.found, way.reproduced, way.fails_again), (1, 1, 1), "{}", system.name);
            assert!(2 * way.worst() <= 3 * system.optimum, "{}: {}", system.name, way.worst());
        }
    }
}
