//! `ioxide replay` and `ioxide shrink`: the inputs of a recorded run, once more, and fewer of them.

use std::fmt::Display;
use std::path::Path;

use ioxide_args::{ReplayArgs, ShrinkArgs};
use ioxide_model::sts::Model;
use ioxide_model::trace::Trace;
use ioxide_project::SpecSource;
use ioxide_record::format::{FailureMatch, Record, RecordedFailure};
use ioxide_report::terminal::ClosingDetail;
use ioxide_run::campaign::{CampaignConfig, CampaignOutcome};
use ioxide_run::run::RunConfig;
use ioxide_run::shrink::{FailureSign, ShrinkConfig};
use ioxide_run::suite::TraceTest;
use ioxide_run::suite::regressions::{TestChoiceError, find_test};
use ioxide_symex::{Ctx, Monitor};
use ioxide_testgen::tester::replay::{ReplayTester as Replayer, ReplyFlow, Unmentioned, plan_by_meaning};
use ioxide_testgen::tester::{MethodFinding, Tester, TesterMove};

use crate::exit::{CliError, ExitStatus};
use crate::record_folder::RecordFolder;
use crate::session::{CampaignSession, EventTimes, ShowResults, campaign_status, patience};
use crate::solver::SolverRequest;
use crate::system::SystemUnderTest;
use crate::{load, machine, record, regressions, timing};

/// The number of times a run that is to be shrunk is repeated until it fails. Chosen by feel.
const ATTEMPTS: u64 = 3;

/// Replays the run that failed first, or the first run if none did.
pub fn run(args: &ReplayArgs) -> Result<ExitStatus, CliError> {
    Ok(campaign_status(&again(args, None, None)?.outcome))
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
        return Ok(campaign_status(&done.outcome));
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
    let source = ReplaySource::read(args)?;
    let file = args.model.clone().or_else(|| source.model_file()).ok_or_else(|| {
        CliError::usage(format!("`{}` does not name its model", args.run)).help("name it with `--model FILE`")
    })?;
    let set = if args.set.is_empty() { source.settings() } else { args.set.clone() };
    let (_, mut spec) = load::load_model(&file, &set)?;
    let sut = SystemUnderTest::from_name(&args.sut, SpecSource { file: &file, set: &set })?;
    let clock = timing::clock(&args.time, &sut)?;
    machine::declare_outputs(&mut spec, &sut);
    let ChosenRun { trace, sign, seed, name } = source.choose_run(args, &spec)?;
    if trace.is_empty() {
        return Err(CliError::new(ExitStatus::Nothing, format!("{name} of `{}` has no steps", args.run)));
    }
    let flow = ReplyFlow::new(&spec.pool, &spec.sts);
    let plan = Replayer::new(plan_by_meaning(&flow, &spec.sts, &trace), Unmentioned::Stop);
    let mut tester = ReplayWitness { plan, seen: Trace::default() };
    let shown = |spec: &Model, trace: &Trace| -> Vec<String> {
        trace.labels.iter().map(|label| label.show(&spec.pool, &spec.sts)).collect()
    };
    let model = spec.clone();
    let config = CampaignConfig {
        seed,
        run: RunConfig {
            patience: sut.times(&spec, patience(&sut, args.quiescence_ms)?)?,
            tolerance: timing::tolerance(&args.time, &sut),
            ..RunConfig::default()
        },
        runs: if shrink.is_some() { ATTEMPTS } else { 1 },
        shrink: shrink.map(|budget| ShrinkConfig { only: sign, ..budget }),
        tester: format!("replay of {name}"),
        sut: args.sut.clone(),
        file,
        set,
        ..CampaignConfig::default()
    };
    let session = CampaignSession {
        keeper: None,
        spec,
        sut,
        clock,
        testers: vec![&mut tester],
        solver: SolverRequest::endless(&args.solver),
        show: ShowResults::People(ClosingDetail::Short),
        record: report,
        times: EventTimes::Told,
    };
    let outcome = session.run(&config)?;
    Ok(ReplayedRun { outcome, recorded: shown(&model, &trace), sign, seen: shown(&model, &tester.seen) })
}

/// The file that a run is chosen from.
enum ReplaySource {
    /// A record of a campaign.
    Record(Record),
    /// A suite of failing runs, and the newest record in its folder, which names the model.
    Regressions(Vec<TraceTest>, Option<Record>),
}

/// A run that is repeated.
struct ChosenRun {
    trace: Trace,
    /// The way in which it failed; `None` if it did not fail.
    sign: Option<FailureSign>,
    seed: u64,
    /// Its name for people: `run 3`.
    name: String,
}

impl ReplaySource {
    /// Reads the file to replay: a record, or a suite of regressions.
    fn read(args: &ReplayArgs) -> Result<Self, CliError> {
        let path = Path::new(&args.run);
        let Some(tests) = regressions::read_suite(path)? else {
            return record::read_record(&args.run).map(Self::Record);
        };
        let folder = path.parent().map(|folder| folder.display().to_string());
        let folder = folder.map(|folder| if folder.is_empty() { ".".to_owned() } else { folder });
        let beside = folder.filter(|folder| record::newest(folder).exists());
        let beside = beside.map(|folder| record::read_record(&folder)).transpose()?;
        Ok(Self::Regressions(tests, beside))
    }

    /// Returns the record, if there is one.
    fn record(&self) -> Option<&Record> {
        match self {
            Self::Record(record) => Some(record),
            Self::Regressions(_, record) => record.as_ref(),
        }
    }

    fn model_file(&self) -> Option<String> {
        let file = &self.record()?.campaign_start()?.file;
        (!file.is_empty()).then(|| file.clone())
    }

    /// Returns the constants that were set when the run was recorded.
    fn settings(&self) -> Vec<String> {
        self.record().and_then(Record::campaign_start).map(|start| start.set.clone()).unwrap_or_default()
    }

    fn choose_run(&self, args: &ReplayArgs, spec: &Model) -> Result<ChosenRun, CliError> {
        let unfit = |error: &dyn Display| {
            CliError::usage(format!("`{}` does not fit the model: {error}", args.run))
                .help("was the model changed since?")
        };
        match self {
            Self::Record(recorded) => {
                let (run, is_smallest) = match (args.number, args.name.as_deref()) {
                    (None, Some(id)) => {
                        let failure = find_failure(recorded, id, &args.run)?;
                        (failure.run, failure.is_smallest)
                    }
                    (number, _) => (record::choose_run(recorded, number)?, args.smallest),
                };
                let seed = recorded.start_of_run(run).map_or(0, |start| start.seed);
                let name = format!("run {}", run + 1);
                if is_smallest {
                    let smaller = recorded.smaller_trace(spec, run).map_err(|error| unfit(&error))?;
                    let trace = smaller.ok_or_else(|| {
                        CliError::new(ExitStatus::Nothing, format!("{name} of `{}` was not shrunk", args.run))
                            .help("without `--smallest`, the run is repeated as it was found")
                    })?;
                    let sign = FailureSign::of_failing(&trace);
                    return Ok(ChosenRun { trace, sign, seed, name: format!("the smallest {name}") });
                }
                record::require_steps(recorded, run)?;
                let trace = recorded.trace(spec, run).map_err(|error| unfit(&error))?;
                let sign = recorded.has_failed(run).then(|| FailureSign::of_failing(&trace)).flatten();
                Ok(ChosenRun { trace, sign, seed, name })
            }
            Self::Regressions(tests, _) => {
                let (at, test) = choose_test(tests, args)?;
                let trace = test.trace(spec).map_err(|error| unfit(&error))?;
                let sign = FailureSign::of_failing(&trace);
                Ok(ChosenRun { trace, sign, seed: 0, name: format!("run {} ({})", at + 1, test.name) })
            }
        }
    }
}

/// Returns the test that the arguments choose, and its position: by number, by name, else the first.
fn choose_test<'t>(tests: &'t [TraceTest], args: &ReplayArgs) -> Result<(usize, &'t TraceTest), CliError> {
    let names = || {
        let line = |(at, test): (usize, &TraceTest)| format!("{} {}", at + 1, test.name);
        tests.iter().enumerate().map(line).collect::<Vec<_>>().join("\n  ")
    };
    let run = &args.run;
    find_test(tests, args.number, args.name.as_deref()).map_err(|problem| match problem {
        TestChoiceError::NoTests => {
            CliError::new(ExitStatus::Nothing, format!("there is nothing to replay: `{run}` has no runs"))
        }
        TestChoiceError::NoSuchName(name) => CliError::usage(format!("no run of `{run}` is named `{name}`"))
            .help(format!("there are\n  {}", names())),
        TestChoiceError::Several(name) => {
            CliError::usage(format!("several runs of `{run}` have `{name}` in their names"))
                .help(format!("`--number` chooses one of\n  {}", names()))
        }
        TestChoiceError::NoSuchNumber(number) => {
            CliError::usage(format!("there is no run {number}: `{run}` has {}", tests.len()))
                .help(format!("there are\n  {}", names()))
        }
    })
}

/// Returns the failure with this id, or the only one that has it in its id.
fn find_failure(record: &Record, id: &str, file: &str) -> Result<RecordedFailure, CliError> {
    let listed = || {
        let mut ids: Vec<String> = record.failures().into_iter().map(|failure| failure.id).collect();
        ids.dedup();
        if ids.is_empty() { "no run failed".to_owned() } else { format!("there are {}", ids.join(", ")) }
    };
    match record.find_failure(id) {
        FailureMatch::One(failure) => Ok(failure),
        FailureMatch::Several => {
            Err(CliError::usage(format!("several failures in `{file}` have `{id}` in their ids"))
                .help(listed()))
        }
        FailureMatch::None => Err(CliError::usage(format!("`{file}` has no failure `{id}`")).help(listed())),
    }
}
