//! A test campaign from the command line: opens the system, runs, reports, records.

use std::io::{self, Cursor, Write as _};
use std::sync::Arc;
use std::time::Duration;

use ioxide_model::sts::Model;
use ioxide_record::clock::{RunClock, StoppedClock};
use ioxide_record::event::{Event, EventKind, ShrinkingRecord};
use ioxide_record::reporter::{EventSink, Reporter};
use ioxide_record::secrets::redacting::RedactingReporter;
use ioxide_report::annotation::AnnotationReport;
use ioxide_report::junit::JunitReport;
use ioxide_report::tap::TapReport;
use ioxide_report::terminal::{ClosingDetail, TerminalReporter};
use ioxide_run::campaign::{CampaignConfig, CampaignOutcome, CampaignState, campaign};
use ioxide_run::clock::MonotonicClock;
use ioxide_run::clock::patience::Patience;
use ioxide_run::run::RunSetup;
use ioxide_symex::Ctx;
use ioxide_testgen::tester::Tester;
use ioxide_wire::adapter::ClockKind;

use crate::annotations;
use crate::colours;
use crate::commands::test::hint::EventKeeper;
use crate::exit::{self, CliError, ExitStatus};
use crate::interrupt::{STOP, catch_interrupts};
use crate::limit;
use crate::progress::ProgressLine;
use crate::record_folder::RecordFolder;
use crate::solver::SolverRequest;
use crate::system::{SystemOpener, SystemUnderTest};

/// The parts of a campaign in addition to its settings: specification, system, testers, solver, outputs.
pub struct CampaignSession<'a> {
    /// Keeps the events for what is said after the campaign, if something is.
    pub keeper: Option<EventKeeper>,
    /// The specification.
    pub spec: Model,
    /// The system under test.
    pub sut: SystemUnderTest,
    /// The clock that counts in a timed model.
    pub clock: ClockKind,
    /// The testers, one for every instance of the system that is tested at once.
    pub testers: Vec<&'a mut (dyn Tester + Send)>,
    /// The solver, and its time limit.
    pub solver: SolverRequest<'a>,
    /// The output of results for people.
    pub show: ShowResults,
    /// The folder of the record, if the campaign is recorded.
    pub record: Option<&'a RecordFolder>,
    /// The times of events.
    pub times: EventTimes,
}

/// The times of events.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum EventTimes {
    /// Times of the clock of this machine; 0 for a model played in this process.
    Told,
    /// All are 0, so that the same runs make the same record.
    LeftOut,
}

/// The output of results while a campaign runs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum ShowResults {
    /// On stdout, so much of it.
    People(ClosingDetail),
    /// `JUnit` XML on stdout, at the end.
    Junit,
    /// Test points on stdout, as runs end.
    Tap,
    /// Not at all: the caller prints JSON.
    Nothing,
}

impl CampaignSession<'_> {
    /// Runs the campaign.
    pub fn run(mut self, config: &CampaignConfig) -> Result<CampaignOutcome, CliError> {
        catch_interrupts();
        match &mut self.testers[..] {
            [] => Err(CliError::new(ExitStatus::Nothing, "nothing to run: there is no tester")),
            [_] => self.run_single(config),
            [_, _, ..] => self.run_parallel(config),
        }
    }

    /// One instance of the system: the record begins once it can be reached.
    fn run_single(self, config: &CampaignConfig) -> Result<CampaignOutcome, CliError> {
        let Self { mut spec, sut, clock: time, mut testers, solver: wanted, show, record, times, keeper } =
            self;
        let opener = SystemOpener::new(&sut, Arc::new(spec.clone()), wanted.clone()).on(time);
        let mut solver = wanted.make()?;
        opener.open(0, config.seed, |adapter| {
            // The analysis before the first step counts.
            config.time.start_clock();
            let mut reporters = reporters(show, record)?;
            reporters.extend(keeper.map(|keeper| Box::new(keeper) as Box<dyn Reporter>));
            let mut clock = clock(times, &sut);
            let mut redacting = RedactingReporter::new(&mut reporters, sut.secrets());
            let sink = EventSink::new(&mut redacting, &mut *clock);
            let mut bench = RunSetup { cx: &mut Ctx::new(&mut spec, &mut *solver), adapter, stop: &STOP };
            prepare(&mut bench, testers[0]);
            Ok(campaign(&mut bench, testers[0], config, &sink)?)
        })
    }

    /// Several instances, each in a thread with a specification and a solver of its own.
    fn run_parallel(self, config: &CampaignConfig) -> Result<CampaignOutcome, CliError> {
        let Self { spec, sut, clock: time, testers, solver: wanted, show, record, times, keeper } = self;
        let opener = SystemOpener::new(&sut, Arc::new(spec.clone()), wanted.clone()).on(time);
        let mut reporters = reporters(show, record)?;
        reporters.extend(keeper.map(|keeper| Box::new(keeper) as Box<dyn Reporter>));
        let mut clock = clock(times, &sut);
        let mut redacting = RedactingReporter::new(&mut reporters, sut.secrets());
        let sink = EventSink::new(&mut redacting, &mut *clock);
        let shared = CampaignState::start(&spec.sts, config, testers.len() as u64, &sink)?;
        let work = |worker: usize, tester: &mut (dyn Tester + Send)| -> Result<(), CliError> {
            let (mut spec, mut solver) = (spec.clone(), wanted.make()?);
            opener.open(worker, config.seed.wrapping_add(worker as u64), |adapter| {
                let mut bench = RunSetup { cx: &mut Ctx::new(&mut spec, &mut *solver), adapter, stop: &STOP };
                prepare(&mut bench, tester);
                Ok(shared.work(worker as u64, &mut bench, tester)?)
            })
        };
        let ended: Vec<Result<(), CliError>> = std::thread::scope(|scope| {
            let start = |(worker, tester)| {
                let (work, shared) = (&work, &shared);
                // A worker that cannot go on lets the others finish their runs.
                scope.spawn(move || work(worker, tester).inspect_err(|_| shared.stop()))
            };
            let workers: Vec<_> = testers.into_iter().enumerate().map(start).collect();
            let broken = || CliError::new(ExitStatus::Internal, "a worker thread panicked");
            workers.into_iter().map(|worker| worker.join().unwrap_or_else(|_| Err(broken()))).collect()
        });
        let outcome = shared.finish(&spec.sts)?;
        let trouble = ended.into_iter().collect::<Result<(), CliError>>();
        match trouble {
            // What one instance showed does not become undone when another breaks off.
            Err(stop) if outcome.counts.failed > 0 => exit::print_error(&stop),
            trouble => trouble?,
        }
        Ok(outcome)
    }
}

/// Lets a tester prepare for its first run.
pub fn prepare(setup: &mut RunSetup<'_, '_>, tester: &mut dyn Tester) {
    if setup.adapter.has_virtual_time() {
        tester.note_free_time();
    }
    let _stage = limit::stage("searching for test purposes");
    tester.prepare(setup.cx);
}

/// The clock of the events.
pub fn clock(times: EventTimes, sut: &SystemUnderTest) -> Box<dyn RunClock> {
    match (times, sut) {
        (EventTimes::LeftOut, _) | (_, SystemUnderTest::Model(_)) => Box::new(StoppedClock),
        (EventTimes::Told, SystemUnderTest::Outside(_)) => Box::new(MonotonicClock::start()),
    }
}

/// Returns the reporters of a campaign: the record first, with what is made from it, then the terminal.
pub fn reporters(
    show: ShowResults,
    folder: Option<&RecordFolder>,
) -> Result<Vec<Box<dyn Reporter>>, CliError> {
    let mut reporters = folder.map(RecordFolder::begin).into_iter().collect::<Result<Vec<_>, CliError>>()?;
    match show {
        ShowResults::People(detail) => {
            let mut progress = ProgressLine::start();
            let tick = move |line: &str| progress.show_line(line);
            let terminal = TerminalReporter::new(colours::stdout(), tick).with_detail(detail);
            reporters.push(Box::new(Audience { terminal, is_gone: false }));
        }
        ShowResults::Junit => {
            let terminal = JunitOutput(JunitReport::new(Cursor::new(Vec::new())));
            reporters.push(Box::new(Audience { terminal, is_gone: false }));
        }
        ShowResults::Tap => {
            let terminal = TapReport::new(io::stdout());
            reporters.push(Box::new(Audience { terminal, is_gone: false }));
        }
        ShowResults::Nothing => (),
    }
    if annotations::are_wanted() {
        let terminal = AnnotationReport::new(io::stderr());
        reporters.push(Box::new(Audience { terminal, is_gone: false }));
    }
    Ok(reporters)
}

/// `JUnit` XML on stdout, written at the end: the first lines have the totals, and stdout does not go back.
struct JunitOutput(JunitReport<Cursor<Vec<u8>>>);

impl Reporter for JunitOutput {
    fn event(&mut self, event: &Event) -> io::Result<()> {
        self.0.event(event)?;
        match event.event {
            EventKind::CampaignFinished(_) => io::stdout().write_all(self.0.get_ref().get_ref()),
            _ => Ok(()),
        }
    }
}

/// The terminal, which may be closed: the campaign goes on without it.
pub struct Audience<R> {
    /// Shows events to people.
    pub terminal: R,
    /// True once the terminal was closed.
    pub is_gone: bool,
}

impl<R: Reporter> Reporter for Audience<R> {
    fn event(&mut self, event: &Event) -> io::Result<()> {
        if self.is_gone {
            return Ok(());
        }
        if let Err(error) = self.terminal.event(event) {
            self.is_gone = true;
            exit::unheard(&error);
        }
        Ok(())
    }

    fn shrinking(&mut self, shrinking: &ShrinkingRecord) {
        if !self.is_gone {
            self.terminal.shrinking(shrinking);
        }
    }
}

/// Returns the quiescence time of a system: `--silence-ms`, else that of the project file, else one
/// calibrated by its answers; zero for a model played here, and zero is an error for a system outside.
pub fn patience(sut: &SystemUnderTest, typed: Option<u64>) -> Result<Patience, CliError> {
    let stated = sut.settings().and_then(|settings| settings.quiescence.default);
    match (sut, typed.or(stated)) {
        (SystemUnderTest::Model(_), _) => Ok(Patience::new(Duration::ZERO)),
        (SystemUnderTest::Outside(_), Some(0)) => Err(CliError::usage(
            "`--silence-ms 0` leaves the system no time to reply",
        )
        .help("give a time longer than the slowest reply, or leave the option out: ioxide then measures it")),
        (SystemUnderTest::Outside(_), Some(milliseconds)) => {
            Ok(Patience::new(Duration::from_millis(milliseconds)))
        }
        (SystemUnderTest::Outside(_), None) => Ok(Patience::new_calibrated()),
    }
}

/// The exit status a campaign leads to.
pub fn campaign_status(outcome: &CampaignOutcome) -> ExitStatus {
    let counts = outcome.counts;
    if counts.failed > 0 {
        ExitStatus::Failure
    } else if outcome.interrupted {
        ExitStatus::Interrupted
    } else if counts.errors > 0 {
        ExitStatus::Infrastructure
    } else if counts.total() == 0 {
        ExitStatus::Nothing
    } else if counts.passed == 0 || outcome.unknown > 0 || outcome.refused.is_some() {
        ExitStatus::Inconclusive
    } else {
        ExitStatus::Success
    }
}
