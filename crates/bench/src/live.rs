//! Faults found per second of wall time on live systems: what people give a tester is seconds, not steps.
//!
//! Ten [`systems`] that keep values behind keys: replies after 0.1, 1, 20 and 200 ms, output that nobody asked
//! for, restarts of 0.3 and 3 s, a system in the same process, HTTP, two connections. Each is tested as it should be
//! and with three faults, by `ioxide test` as a user would call it, once with its default tester and once with
//! `random`, each for the same time; and, if it is named, with the default tester of another program.
//!
//! *Promises.* Whatever fails while the system is correct is a false Fail, and the measurement ends with an error then.
//! Which faults are found depends on the machine: time is what is measured.

mod server;
mod systems;
mod trial;

use std::fs;
use std::io::{self, Write};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use ioxide_args::BenchArgs;
use ioxide_cli::exit::{CliError, ExitStatus};
use ioxide_cli::progress::ProgressLine;
use serde_json::{Value as Json, json};

use self::server::StoreChild;
use self::systems::{StoreFault, StoreSystem};
use self::trial::{LiveTester, LiveTrial, TrialFigures};

/// The time of a campaign, unless `--for` gives another: that of `ioxide test`.
const CAMPAIGN_TIME: Duration = Duration::from_secs(30);
/// The number of campaigns at once: most of them wait most of the time. More would disturb the quickest ones on two
/// cores.
const JOBS: usize = 2;

/// Measures and shows the figures; with `--system`, runs as one of the systems.
pub fn run(args: &BenchArgs) -> Result<ExitStatus, CliError> {
    if let Some(text) = &args.system {
        let child: StoreChild =
            text.parse().map_err(|bad: server::BadStoreChild| CliError::usage(bad.to_string()))?;
        return Ok(child.run().map(|()| ExitStatus::Success)?);
    }
    let time = args.for_time.unwrap_or(CAMPAIGN_TIME);
    let is_wanted =
        |system: &&StoreSystem| args.only.as_ref().is_none_or(|only| system.name().contains(only));
    let systems: Vec<StoreSystem> = StoreSystem::ALL.iter().filter(is_wanted).copied().collect();
    let against = args.against.as_ref().map(fs::canonicalize).transpose()?;
    let testers: Vec<LiveTester> =
        [LiveTester::Default, LiveTester::Random].into_iter().chain(against.map(LiveTester::Other)).collect();
    let trials = trials(&systems, &testers, time, args.seed.unwrap_or(1));
    let figures = run_all(&trials)?;
    let rows: Vec<LiveRow> = systems
        .iter()
        .flat_map(|&system| testers.iter().map(move |tester| (system, tester)))
        .map(|(system, tester)| row_of(system, tester, &trials, &figures))
        .collect();
    let false_fails: u64 = rows.iter().map(|row| row.false_fails).sum();
    let told = if args.json {
        let systems: Vec<Json> = rows.iter().map(LiveRow::to_json).collect();
        let result = json!({
            "version": 1, "bench": "live", "seconds": time.as_secs_f64(), "false_fails": false_fails,
            "systems": systems, "rows": rows.iter().flat_map(LiveRow::fault_rows).collect::<Vec<_>>(),
        });
        writeln!(io::stdout(), "{result}")
    } else {
        show_trials(&mut io::stdout(), &rows, &testers, time, false_fails)
    };
    told?;
    Ok(if false_fails == 0 { ExitStatus::Success } else { ExitStatus::Failure })
}

/// Returns the campaigns: every system correct and with each fault, with each tester.
fn trials(systems: &[StoreSystem], testers: &[LiveTester], time: Duration, seed: u64) -> Vec<LiveTrial> {
    let mut trials = Vec::new();
    for &system in systems {
        for tester in testers {
            let healths = std::iter::once(None).chain(StoreFault::ALL.into_iter().map(Some));
            let trial = |fault| LiveTrial { system, fault, tester: tester.clone(), time, seed };
            trials.extend(healths.map(trial));
        }
    }
    trials
}

/// Runs the campaigns, [`JOBS`] at once.
fn run_all(trials: &[LiveTrial]) -> Result<Vec<TrialFigures>, CliError> {
    let next = AtomicUsize::new(0);
    let found = Mutex::new((vec![None; trials.len()], ProgressLine::start(), 0));
    let work = || -> Result<(), CliError> {
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(trial) = trials.get(at) else { return Ok(()) };
            let figures = trial.run()?;
            let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
            let (figures_of, progress, done) = &mut *found;
            figures_of[at] = Some(figures);
            *done += 1;
            let done = *done;
            progress.tick(|| format!("{done} of {} campaigns", trials.len()));
        }
    };
    thread::scope(|scope| {
        let workers: Vec<_> = (0..JOBS).map(|_| scope.spawn(work)).collect();
        let broken = || CliError::new(ExitStatus::Internal, "a worker thread panicked");
        workers.into_iter().try_for_each(|worker| worker.join().unwrap_or_else(|_| Err(broken())))
    })?;
    let (found, ..) = found.into_inner().unwrap_or_else(PoisonError::into_inner);
    let missing = || CliError::new(ExitStatus::Internal, "a campaign was left out");
    found.into_iter().map(|figures| figures.ok_or_else(missing)).collect()
}

/// The figures of one system and tester.
struct LiveRow {
    system: StoreSystem,
    tester: &'static str,
    /// The faults, each with the seconds until it was found; `None` if it was not.
    faults: Vec<(StoreFault, Option<f64>)>,
    /// The steps a second on the correct system.
    steps_per_second: f64,
    /// The share of the time on the correct system, in percent, that was spent in silence, and in restarts; `None` in
    /// process, where no time is measured.
    silence: Option<f64>,
    restarts: Option<f64>,
    false_fails: u64,
}

impl LiveRow {
    /// Returns a row for every fault; there is one campaign for each, so it is found once or never.
    fn fault_rows(&self) -> impl Iterator<Item = Json> {
        self.faults.iter().map(|(fault, seconds)| {
            json!({
                "system": self.system.name(), "tester": self.tester, "fault": fault.name(),
                "found": u8::from(seconds.is_some()), "seeds": 1, "steps_per_second": self.steps_per_second,
                "silence_share": self.silence.map(|percent| percent / 100.0),
            })
        })
    }

    fn to_json(&self) -> Json {
        let faults: Vec<Json> = self
            .faults
            .iter()
            .map(|(fault, seconds)| json!({ "fault": fault.name(), "seconds": seconds }))
            .collect();
        json!({
            "system": self.system.name(), "tester": self.tester, "faults": faults,
            "found": self.faults.iter().filter(|(_, seconds)| seconds.is_some()).count(),
            "steps_per_second": self.steps_per_second, "silence_percent": self.silence,
            "restarts_percent": self.restarts, "false_fails": self.false_fails,
        })
    }
}

fn row_of(
    system: StoreSystem,
    tester: &LiveTester,
    trials: &[LiveTrial],
    figures: &[TrialFigures],
) -> LiveRow {
    let own =
        trials.iter().zip(figures).filter(|(trial, _)| trial.system == system && trial.tester == *tester);
    let correct = own.clone().find(|(trial, _)| trial.fault.is_none()).map(|(_, figures)| *figures);
    let correct = correct.unwrap_or_default();
    LiveRow {
        system,
        tester: tester.name(),
        faults: own.filter_map(|(trial, figures)| Some((trial.fault?, figures.found_after()))).collect(),
        steps_per_second: correct.steps_per_second(),
        silence: correct.silence_percent,
        restarts: correct.restarts_percent,
        false_fails: correct.failed,
    }
}

fn show_trials(
    out: &mut impl Write,
    rows: &[LiveRow],
    testers: &[LiveTester],
    time: Duration,
    false_fails: u64,
) -> io::Result<()> {
    let seconds = time.as_secs_f64();
    writeln!(
        out,
        "faults found in {seconds} s of wall time each; figures of speed are those of the correct systems"
    )?;
    writeln!(
        out,
        "{:<16} {:<7} {:>9} {:>24} {:>9} {:>9} {:>9}",
        "system", "tester", "found", "seconds to find", "steps/s", "silence", "restarts"
    )?;
    let percent = |share: Option<f64>| share.map_or("-".to_owned(), |share| format!("{share:.0} %"));
    for row in rows {
        let found = row.faults.iter().filter(|(_, seconds)| seconds.is_some()).count();
        let times: Vec<String> = row
            .faults
            .iter()
            .map(|(_, seconds)| seconds.map_or("-".to_owned(), |seconds| format!("{seconds:.1}")))
            .collect();
        writeln!(
            out,
            "{:<16} {:<7} {:>9} {:>24} {:>9.0} {:>9} {:>9}",
            row.system.name(),
            row.tester,
            format!("{found} of {}", row.faults.len()),
            times.join(", "),
            row.steps_per_second,
            percent(row.silence),
            percent(row.restarts)
        )?;
    }
    for tester in testers.iter().map(LiveTester::name) {
        let of = |row: &&LiveRow| row.tester == tester;
        let found: usize = rows
            .iter()
            .filter(of)
            .flat_map(|row| &row.faults)
            .filter(|(_, seconds)| seconds.is_some())
            .count();
        let all: usize = rows.iter().filter(of).map(|row| row.faults.len()).sum();
        writeln!(out, "{tester}: {found} of {all} faults found")?;
    }
    writeln!(out, "false Fails: {false_fails}")
}
