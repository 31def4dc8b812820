//! One campaign of `bench live`: `ioxide test` in a process of its own, as a user would call it.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use ioxide_cli::exit::{CliError, ExitStatus};
use serde_json::Value as Json;

use super::server::StoreServer;
use super::systems::{StoreFault, StoreSystem, model};

/// A tester of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LiveTester {
    /// The default tester of this program.
    Default,
    /// The random tester of this program.
    Random,
    /// The default tester of another program.
    Other(PathBuf),
}

impl LiveTester {
    /// Its name in the results.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Default => "hunt",
            Self::Random => "random",
            Self::Other(_) => "other",
        }
    }

    /// Returns its name on the command line.
    fn argument(&self) -> &'static str {
        match self {
            Self::Default | Self::Other(_) => "hunt",
            Self::Random => "random",
        }
    }
}

/// A system, its health, and the campaign that tests it.
#[derive(Clone, Debug)]
pub struct LiveTrial {
    /// The system.
    pub system: StoreSystem,
    /// Its fault; `None` if it is correct.
    pub fault: Option<StoreFault>,
    /// The tester.
    pub tester: LiveTester,
    /// The time of the campaign.
    pub time: Duration,
    /// The seed of its choices.
    pub seed: u64,
}

/// The figures of a campaign.
#[derive(Clone, Copy, Debug, Default)]
pub struct TrialFigures {
    /// The number of runs that failed.
    pub failed: u64,
    /// The number of labels.
    pub steps: u64,
    /// The seconds of the campaign.
    pub seconds: f64,
    /// The share of the time in which the system was silent, in percent; `None` where no time is measured.
    pub silence_percent: Option<f64>,
    /// The share of the time for starts and resets, in percent; `None` where no time is measured.
    pub restarts_percent: Option<f64>,
}

impl TrialFigures {
    /// Returns the seconds until a failure was found, if one was.
    pub fn found_after(&self) -> Option<f64> {
        (self.failed > 0).then_some(self.seconds)
    }

    /// Returns the number of steps a second.
    pub fn steps_per_second(&self) -> f64 {
        if self.seconds > 0.0 { self.steps as f64 / self.seconds } else { 0.0 }
    }

    /// Returns the figures that `ioxide test --json` prints; `seconds` is the time of the process, for campaigns that
    /// measure none.
    fn read(result: &Json, seconds: f64) -> Option<Self> {
        let spent = |name: &str| result["time_spent"][name].as_u64();
        let uses = ["replies_ms", "silence_ms", "restarts_ms", "tester_ms", "repeats_ms", "other_ms"];
        let total: u64 = uses.iter().filter_map(|name| spent(name)).sum();
        let percent =
            |name: &str| spent(name).filter(|_| total > 0).map(|ms| 100.0 * ms as f64 / total as f64);
        Some(Self {
            failed: result["failed"].as_u64()?,
            steps: result["steps"].as_u64()?,
            seconds: spent("elapsed_ms").map_or(seconds, |ms| ms as f64 / 1e3),
            silence_percent: percent("silence_ms"),
            restarts_percent: percent("restarts_ms"),
        })
    }
}

impl LiveTrial {
    /// Carries out the campaign.
    pub fn run(&self) -> Result<TrialFigures, CliError> {
        let Self { system, fault, time, seed, .. } = *self;
        let folder = tempfile::tempdir()?;
        let (spec, faulty) = (folder.path().join("store.iox"), folder.path().join("system.iox"));
        fs::write(&spec, system.model())?;
        fs::write(&faulty, model(fault, false))?;
        let server = StoreServer::start(system, fault)?;
        let program = std::env::current_exe()?;
        let name = fault.map_or("correct", StoreFault::name);
        let start = match system {
            StoreSystem::Restarted(ms) => {
                format!("exec \"{}\" bench live --system {ms},{name},{{port}}", program.display())
            }
            _ => String::new(),
        };
        fs::write(folder.path().join("ioxide.toml"), system.project(&server.ports, &start))?;
        let began = Instant::now();
        let tested_by = match &self.tester {
            LiveTester::Default | LiveTester::Random => program,
            LiveTester::Other(other) => other.clone(),
        };
        let output = Command::new(tested_by)
            .args(["test", "store.iox", "--json", "--no-shrink", "--tester", self.tester.argument()])
            .args(["--sut", &system.sut(&faulty), "--seed", &seed.to_string()])
            .args(["--for", &format!("{}ms", time.as_millis())])
            .current_dir(folder.path())
            .stdin(Stdio::null())
            .output()?;
        let text = String::from_utf8_lossy(&output.stdout);
        let result = text.lines().next().and_then(|line| serde_json::from_str(line).ok());
        let seconds = began.elapsed().as_secs_f64();
        result.and_then(|result: Json| TrialFigures::read(&result, seconds)).ok_or_else(|| {
            let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
            CliError::new(
                ExitStatus::Infrastructure,
                format!(
                    "`{}` ({name}) with the tester `{}` gave no figures: {said}",
                    system.name(),
                    self.tester.name()
                ),
            )
        })
    }
}
