//! The measurement of time in tests of timed models: flags, else the project file, else defaults.

use ioxide_record::calendar::format_date;
use std::time::Duration;
use std::time::{SystemTime, UNIX_EPOCH};

use ioxide_args::{ClockArg, TimeArgs};
use ioxide_model::sts::Model;
use ioxide_record::clock::seconds;
use ioxide_run::run::RunConfig;
use ioxide_run::shrink::ShrinkConfig;
use ioxide_symex::Tolerance;
use ioxide_wire::adapter::ClockKind;

use crate::exit::CliError;
use crate::system::SystemUnderTest;

/// Runs to make a failing one smaller, if they take as long as they take. Chosen by feel: once no input waits, they are
/// short.
const MAX_TIMED_ATTEMPTS: u32 = 60;

/// The time for which `test` shrinks a failing run on a system outside. Chosen by feel.
const SHRINK_TIME: Duration = Duration::from_secs(120);

/// Returns the tolerance of the flags, else of the project file for the system, else the default.
pub fn tolerance(args: &TimeArgs, sut: &SystemUnderTest) -> Tolerance {
    let stated = sut.settings().and_then(|settings| settings.latency);
    let default = RunConfig::default().tolerance;
    let milliseconds = |ms: u64| seconds(Duration::from_millis(ms));
    Tolerance {
        latency: args.latency_ms.map(milliseconds).or(stated.map(seconds)).unwrap_or(default.latency),
        resolution: args.resolution_ms.map(milliseconds).unwrap_or(default.resolution),
        start: default.start,
    }
}

/// Returns the tolerance for a trace that was recorded elsewhere: that of the flags, else that of the record.
pub fn stated_tolerance(args: &TimeArgs, recorded: Tolerance) -> Tolerance {
    let milliseconds = |ms: u64| seconds(Duration::from_millis(ms));
    Tolerance {
        latency: args.latency_ms.map_or(recorded.latency, milliseconds),
        resolution: args.resolution_ms.map_or(recorded.resolution, milliseconds),
        start: recorded.start,
    }
}

/// Returns the budget for shrinking a failing run: small where every run takes its time.
pub fn budget(spec: &Model, sut: &SystemUnderTest) -> ShrinkConfig {
    match (spec.sts.is_timed(), sut) {
        (true, SystemUnderTest::Outside(_)) => {
            ShrinkConfig { attempts: MAX_TIMED_ATTEMPTS, time: Some(SHRINK_TIME), ..ShrinkConfig::default() }
        }
        (false, SystemUnderTest::Outside(_)) => {
            ShrinkConfig { time: Some(SHRINK_TIME), ..ShrinkConfig::default() }
        }
        (_, SystemUnderTest::Model(_)) => ShrinkConfig::default(),
    }
}

/// The clock that was asked for, if `sut` can have it.
pub fn clock(args: &TimeArgs, sut: &SystemUnderTest) -> Result<ClockKind, CliError> {
    match (args.clock, sut) {
        (ClockArg::Wall, SystemUnderTest::Model(_)) => {
            Err(CliError::usage("a model simulated in this process has only virtual time")
                .help("simulate it in another process: `--sut 'stdio:ioxide sut FILE'`"))
        }
        (ClockArg::Wall, SystemUnderTest::Outside(_)) => Ok(ClockKind::Wall),
        (ClockArg::Virtual, _) => Ok(ClockKind::Virtual),
        (ClockArg::Offered, _) => Ok(ClockKind::Offered),
    }
}

/// Returns the time as people write it: `2026-11-16 18:02 UTC`.
pub fn current_date() -> String {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs());
    format_date(i64::try_from(seconds).unwrap_or_default())
}
