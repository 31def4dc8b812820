//! A test campaign from the command line: opens the system, runs, tells, records.

use std::fs::{self, File};
use std::io::{self, BufWriter};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use ioxide_model::sts::Model;
use ioxide_report::terminal::Terminal;
use ioxide_runner::campaign::{CampaignConfig, CampaignOutcome, campaign};
use ioxide_runner::clock::Monotonic;
use ioxide_runner::record::Recorder;
use ioxide_runner::reporter::{Reporter, Teller};
use ioxide_runner::run::{Bench, RunConfig};
use ioxide_symex::Ctx;
use ioxide_testgen::tester::Tester;

use crate::args::SolverArgs;
use crate::exit::{ExitStatus, Stop};
use crate::progress::Progress;
use crate::system::{Opener, System};
use crate::{project, record, solver};

/// Set by the first Ctrl-C; the run ends after its step and everything is written.
pub static STOP: AtomicBool = AtomicBool::new(false);

/// What a campaign needs besides its settings.
pub struct Session<'a> {
    /// The specification.
    pub spec: Model,
    /// The system under test.
    pub sut: System,
    /// Decides the moves.
    pub tester: &'a mut dyn Tester,
    /// How questions are decided.
    pub solver: &'a SolverArgs,
    /// Where results for people go.
    pub show: Show,
    /// The directory for the record.
    pub record: Option<&'a str>,
}

/// Whether results are shown as they come.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Show {
    /// On stdout.
    People,
    /// Not at all: the caller prints JSON.
    Nothing,
}

impl Session<'_> {
    /// Runs the campaign.
    pub fn run(self, config: &CampaignConfig) -> Result<CampaignOutcome, Stop> {
        catch_interrupts();
        let Self { mut spec, sut, tester, solver: wanted, show, record } = self;
        let patience = sut.times(&spec, config.run.patience.default_time())?;
        let run = RunConfig { patience, ..config.run.clone() };
        let config = &CampaignConfig { run, ..config.clone() };
        let opener = Opener::new(&sut, Arc::new(spec.clone()), wanted);
        let mut spec_solver = solver::make(wanted)?;
        opener.open(0, config.seed, |adapter| {
            let mut cx = Ctx::new(&mut spec, &mut *spec_solver);
            let mut bench = Bench { cx: &mut cx, adapter, stop: &STOP };
            let mut reporters = reporters(show, record)?;
            let mut clock = Monotonic::start();
            let mut teller = Teller::new(&mut reporters, &mut clock);
            Ok(campaign(&mut bench, tester, config, &mut teller)?)
        })
    }
}

fn reporters(show: Show, folder: Option<&str>) -> Result<Vec<Box<dyn Reporter>>, Stop> {
    let mut reporters: Vec<Box<dyn Reporter>> = Vec::new();
    if let Some(folder) = folder {
        let path = record::next(folder);
        let cannot = |error: io::Error| Stop::usage(format!("cannot write `{}`: {error}", path.display()));
        fs::create_dir_all(folder).map_err(cannot)?;
        let file = File::create_new(&path).map_err(cannot)?;
        reporters.push(Box::new(Recorder::new(BufWriter::new(file)).map_err(cannot)?));
    }
    if show == Show::People {
        let mut progress = Progress::new();
        let tick = move |line: &str| progress.tick(|| line.to_owned());
        reporters.push(Box::new(Terminal::new(io::stdout(), tick)));
    }
    Ok(reporters)
}

/// The first Ctrl-C asks the run to end, the second ends the program.
fn catch_interrupts() {
    // An error means that a handler is set already: nothing is lost.
    let _ = ctrlc::set_handler(|| {
        if STOP.swap(true, Ordering::Relaxed) {
            std::process::exit(ExitStatus::Interrupted as i32);
        }
        eprintln!("\nfinishing the step and writing what was done; once more to stop at once");
    });
}

/// Milliseconds of silence that count as quiescence where nobody says otherwise.
const QUIESCENCE_MS: u64 = 100;

/// How long silence of the system called `name` must last: what was typed, else what the project file
/// says. A system that is really out there needs some time to answer.
pub fn patience(sut: &System, name: &str, typed: Option<u64>) -> Result<Duration, Stop> {
    let milliseconds = project::quiescence(name, typed)?.unwrap_or(QUIESCENCE_MS);
    match (sut, milliseconds) {
        (System::Model(_), _) | (_, 1..) => Ok(Duration::from_millis(milliseconds)),
        (_, 0) => Err(Stop::usage("`--quiescence-ms 0` leaves the system no time to answer")
            .help("give it longer than its slowest answer takes")),
    }
}

/// The exit status a campaign leads to.
pub fn status(outcome: &CampaignOutcome) -> ExitStatus {
    let counts = outcome.counts;
    match () {
        () if counts.failed > 0 => ExitStatus::Failure,
        () if outcome.interrupted => ExitStatus::Interrupted,
        () if counts.errors > 0 => ExitStatus::Infrastructure,
        () if counts.total() == 0 => ExitStatus::Nothing,
        () if counts.passed == 0 => ExitStatus::Inconclusive,
        () => ExitStatus::Success,
    }
}
