//! `ioxide replay` and `ioxide shrink`: the inputs of a recorded run, once more, and fewer of them.

use ioxide_model::sts::Model;
use ioxide_model::trace::Trace;
use ioxide_record::event::{EventKind, RunOutcome};
use ioxide_record::format::Record;
use ioxide_run::campaign::{CampaignConfig, CampaignOutcome};
use ioxide_run::run::RunConfig;
use ioxide_run::shrink::{FailureSign, ShrinkConfig};
use ioxide_symex::{Ctx, Monitor};
use ioxide_testgen::tester::replay::{ReplayTester as Replayer, ReplyFlow, Unmentioned, plan_by_meaning};
use ioxide_testgen::tester::{MethodFinding, Tester, TesterMove};

use crate::args::{ReplayArgs, ShrinkArgs};
use crate::exit::{CliError, ExitStatus};
use crate::record_folder::RecordFolder;
use crate::session::{CampaignSession, EventTimes, ShowResults, patience, status};
use crate::solver::SolverRequest;
use crate::system::{SpecSource, SystemUnderTest};
use crate::{load, machine, record, timing};

/// The number of times a run that is to be shrunk is repeated until it fails.
const ATTEMPTS: u64 = 3;

/// Replays the run that failed first, or the first run if none did.
pub fn run(args: &ReplayArgs) -> Result<ExitStatus, CliError> {
    Ok(status(&again(args, None, None)?.outcome))
}

/// Replays the run and makes it smaller if it fails in the same way.
pub fn shrink(args: &ShrinkArgs) -> Result<ExitStatus, CliError> {
    let budget =
        ShrinkConfig { attempts: args.attempts, time: Some(args.for_time), ..ShrinkConfig::default() };
    let folder = args.report.as_deref().map(RecordFolder::open).transpose()?;
    let done = again(&args.replay, Some(budget), folder.as_ref())?;
    if let Some(folder) = folder {
        // What is missing was told; a failure that was made smaller is no success anyway.
        folder.trouble();
    }
    let is_shrunk = done.outcome.failures.iter().any(|failure| failure.shrunk.is_some());
    if is_shrunk || done.outcome.counts.errors > 0 || done.outcome.interrupted {
        return Ok(status(&done.outcome));
    }
    Err(done.not_again())
}

/// A recorded run that was done again.
struct ReplayedRun {
    outcome: CampaignOutcome,
    /// The labels of the recorded run, as text.
    recorded: Vec<String>,
    /// The way in which the recorded run failed; `None` if it did not fail.
    sign: Option<FailureSign>,
    /// The labels of the last repetition, as text.
    seen: Vec<String>,
}

impl ReplayedRun {
    /// Returns the error of a shrink that found nothing, with both runs.
    fn not_again(&self) -> CliError {
        let what = match self.sign {
            Some(_) if self.outcome.counts.failed > 0 => {
                "nothing was shrunk: the failure of the record did not happen again reliably, or another one did"
            }
            Some(_) => "nothing was shrunk: the failure of the record did not happen again",
            None => "there is nothing to shrink: the run did not fail",
        };
        let (recorded, seen) = (self.recorded.join(" "), self.seen.join(" "));
        CliError::new(
            ExitStatus::Inconclusive,
            format!("{what}\n  recorded:  {recorded}\n  this time: {seen}"),
        )
        .help("was it recorded with another system? `--number` names another run")
    }
}

/// A tester that makes the moves of a plan and remembers the trace of the last run.
struct ReplayWitness {
    plan: Replayer,
    seen: Trace,
}

impl Tester for ReplayWitness {
    fn start(&mut self, seed: u64) {
        self.plan.start(seed);
    }

    fn next(&mut self, cx: &mut Ctx<'_>, monitor: &Monitor, trace: &Trace) -> TesterMove {
        self.plan.next(cx, monitor, trace)
    }

    fn finding(&mut self, _cx: &mut Ctx<'_>, trace: &Trace) -> Option<MethodFinding> {
        self.seen = trace.clone();
        None
    }
}

/// Does the recorded run again; up to three times if it is to be made smaller and does not fail.
fn again(
    args: &ReplayArgs,
    shrink: Option<ShrinkConfig>,
    report: Option<&RecordFolder>,
) -> Result<ReplayedRun, CliError> {
    let recorded = record::read(&args.run)?;
    let file = args.model.clone().or_else(|| record::model_file(&recorded)).ok_or_else(|| {
        CliError::usage(format!("`{}` does not name its model", args.run)).help("name it with `--model FILE`")
    })?;
    let set = if args.set.is_empty() { record::settings(&recorded) } else { args.set.clone() };
    let (_, mut spec) = load::load_model(&file, &set)?;
    let sut = SystemUnderTest::from_name(&args.sut, SpecSource { file: &file, set: &set })?;
    let clock = timing::clock(&args.time, &sut)?;
    machine::know_outputs(&mut spec, &sut);
    let run = match args.number {
        Some(number) => numbered(&recorded, number)?,
        None => first_failing(&recorded),
    };
    let trace = recorded.trace(&spec, run).map_err(|error| {
        CliError::usage(format!("`{}` does not fit the model: {error}", args.run))
            .help("was the model changed since?")
    })?;
    if trace.is_empty() {
        return Err(CliError::new(
            ExitStatus::Nothing,
            format!("run {} of `{}` has no steps", run + 1, args.run),
        ));
    }
    let sign = has_failed(&recorded, run).then(|| FailureSign::of_failing(&trace)).flatten();
    let flow = ReplyFlow::new(&spec.pool, &spec.sts);
    let plan = Replayer::new(plan_by_meaning(&flow, &spec.sts, &trace), Unmentioned::Stop);
    let mut tester = ReplayWitness { plan, seen: Trace::default() };
    let shown = |spec: &Model, trace: &Trace| -> Vec<String> {
        trace.labels.iter().map(|label| label.show(&spec.pool, &spec.sts)).collect()
    };
    let model = spec.clone();
    let config = CampaignConfig {
        seed: record::seed(&recorded, run).unwrap_or(0),
        run: RunConfig {
            patience: sut.times(&spec, patience(&sut, args.quiescence_ms)?)?,
            tolerance: timing::tolerance(&args.time, &sut),
            ..RunConfig::default()
        },
        runs: if shrink.is_some() { ATTEMPTS } else { 1 },
        shrink: shrink.map(|budget| ShrinkConfig { only: sign, ..budget }),
        tester: format!("replay of run {}", run + 1),
        sut: args.sut.clone(),
        file,
        set,
        ..CampaignConfig::default()
    };
    let session = CampaignSession {
        spec,
        sut,
        clock,
        testers: vec![&mut tester],
        solver: SolverRequest::endless(&args.solver),
        show: ShowResults::People,
        record: report,
        times: EventTimes::Told,
    };
    let outcome = session.run(&config)?;
    Ok(ReplayedRun { outcome, recorded: shown(&model, &trace), sign, seen: shown(&model, &tester.seen) })
}

/// Returns whether this run failed when it was recorded.
fn has_failed(record: &Record, run: u64) -> bool {
    record.events.iter().any(|event| match &event.event {
        EventKind::RunFinished(told) => told.run == run && told.outcome == RunOutcome::Fail,
        _ => false,
    })
}

/// Returns the run with this number, counted from 1.
pub fn numbered(record: &Record, number: u64) -> Result<u64, CliError> {
    match record::n_runs(record) {
        n if (1..=n).contains(&number) => Ok(number - 1),
        n => Err(CliError::usage(format!("there is no run {number}: the record has {n}"))
            .help("runs count from 1")),
    }
}

/// The first run that failed, or the first run.
pub fn first_failing(record: &Record) -> u64 {
    let mut finished = record.events.iter().filter_map(|event| match &event.event {
        EventKind::RunFinished(told) => Some(told),
        _ => None,
    });
    let first = finished.clone().next();
    let failing = finished.find(|told| told.outcome == RunOutcome::Fail).or(first);
    // A run that was cut off has no end; it is still there.
    failing.map_or(0, |told| told.run)
}
