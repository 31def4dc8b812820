//! `ioxide test`: a live system against a model, on the fly.

mod case;
pub mod clients;
pub mod hint;
mod hunted;
pub mod outcome;
pub mod parts;
#[doc(hidden)]
pub mod plan;
pub mod rounds;
pub mod tester_choice;

use std::io::Write;
use std::sync::Arc;
use std::time::Duration;

use ioxide_args::{TestArgs, TestFormat};
use ioxide_model::relation::ConformanceRelation;
use ioxide_model::source::Sources;
use ioxide_model::sts::Model;
use ioxide_report::terminal::ClosingDetail;
use ioxide_run::campaign::{CampaignConfig, OnFailure, Regression};
use ioxide_run::clock::budget::TimeBudget;
use ioxide_run::deadline_tester::DeadlineTester;
use ioxide_run::given_values::restrict_inputs;
use ioxide_run::objective::Objective;
use ioxide_run::run::RunConfig;
use ioxide_smt::halt::Halt;
use ioxide_testgen::tester::Tester;
use ioxide_testgen::tester::fair::InputFair;
use ioxide_testgen::tester::spec::TesterSpec;

use self::hint::EventKeeper;
use self::outcome::EndedCampaign;
use self::tester_choice::ChosenTester;
use crate::exit::{self, CliError, ExitStatus};
use crate::record_folder::RecordFolder;
use crate::session::{CampaignSession, EventTimes, ShowResults, patience};
use crate::solver::SolverRequest;
use crate::system::SystemUnderTest;
use crate::{limit, load, machine, redaction, regressions, seed, timing, unit_command};

/// Tests the system and shows the verdict; several suites one after the other, with the worst of their verdicts.
pub fn run(args: &TestArgs) -> Result<ExitStatus, CliError> {
    if args.more.is_empty() {
        return run_suite(args);
    }
    let mut results = Vec::new();
    for suite in [args].into_iter().chain(&args.more) {
        let name = suite.suite.as_deref().unwrap_or("project");
        if suite.output_format() == TestFormat::Text {
            writeln!(redaction::stdout(), "suite {name}")?;
        }
        let status = run_suite(suite).unwrap_or_else(|error| exit::report(&error));
        results.push((name, status));
        if status == ExitStatus::Interrupted {
            break;
        }
    }
    if args.output_format() == TestFormat::Text {
        let shown: Vec<String> =
            results.iter().map(|(name, status)| format!("{name} {}", status.word())).collect();
        writeln!(redaction::stdout(), "suites: {}", shown.join(", "))?;
    }
    // A failure is what a script must learn first; then whatever is not a pass.
    let statuses = results.iter().map(|(_, status)| *status);
    let worst = statuses.clone().find(|status| *status == ExitStatus::Failure);
    Ok(worst
        .or_else(|| statuses.clone().find(|status| *status != ExitStatus::Success))
        .unwrap_or(ExitStatus::Success))
}

/// Tests the system and shows the verdict.
fn run_suite(args: &TestArgs) -> Result<ExitStatus, CliError> {
    if args.part.is_planned() {
        return parts::run_part(args);
    }
    unit_command::whole(&args.part)?;
    if args.shares.is_some() {
        return Err(
            CliError::usage("`--shares` is for a campaign in parts").help("add `--plan` or `--part DIR`")
        );
    }
    match args.clients {
        Some(clients) => clients::run(args, clients),
        None => run_campaign(args),
    }
}

/// Runs one campaign of one client, and shows and keeps what came of it.
fn run_campaign(args: &TestArgs) -> Result<ExitStatus, CliError> {
    let (sources, mut spec) = load_tested_model(args)?;
    let sut = SystemUnderTest::from_name(&args.sut, args.model.spec_source())?;
    let secrets = sut.secrets();
    let clock = timing::clock(&args.time, &sut)?;
    machine::declare_outputs(&mut spec, &sut);
    let seed = args.seed.unwrap_or_else(seed::fresh_seed);
    let chosen = ChosenTester::named(args, &mut spec, seed)?;
    let folder = open_record(args, &spec)?;
    let limits = TestLimits::new(args, chosen.time_limit(args, &sut));
    let config = CampaignConfig {
        regressions: known_failures(args, folder.as_ref(), &spec)?,
        runs: chosen.runs(args),
        tester: chosen.budgeted(args, limits.of_tester),
        time: Arc::new(TimeBudget::new(limits.of_all)),
        ..campaign_config(args, &spec, &sut, seed)?
    };
    let shown = spec.clone();
    let mut workers = chosen.shared(args.jobs.max(1));
    let interaction = chosen.interaction(args);
    let mut fair: Vec<InputFair<'_>> =
        workers.iter_mut().map(|worker| InputFair::new(worker.tester(), interaction)).collect();
    let mut limited: Vec<DeadlineTester<'_>> =
        fair.iter_mut().map(|worker| limits.bound(worker, tester_choice::analysis_limit(args))).collect();
    let keeper = EventKeeper::if_wanted(args.output_format());
    let session = CampaignSession {
        keeper: keeper.clone(),
        spec,
        sut,
        clock,
        testers: limited.iter_mut().map(|worker| worker as &mut (dyn Tester + Send)).collect(),
        solver: SolverRequest::new(&args.solver, limits.of_command.clone()),
        show: results_shown(args),
        record: folder.as_ref(),
        times: if args.no_times { EventTimes::LeftOut } else { EventTimes::Told },
    };
    let outcome = session.run(&config)?;
    let ended_after = limits.shortest.filter(|_| limited.iter().any(DeadlineTester::has_passed));
    let requirements = keeper.as_ref().map(EventKeeper::requirements_json);
    let keeper = keeper.filter(|_| outcome.counts.failed > 0 && !outcome.interrupted);
    EndedCampaign {
        args,
        sources: &sources,
        spec: &shown,
        config: &config,
        secrets: &secrets,
        tester: ChosenTester::joined(workers).unwrap_or(chosen),
        ended_after,
        is_cut: limit::is_deadline_over(&limits.of_command),
        requirements,
        evidence: keeper.and_then(|keeper| hint::evidence(keeper, args, (&sources, &shown), folder.as_ref())),
        outcome,
    }
    .show_and_keep(folder)
}

/// Loads the model of a campaign, with the values that its inputs are limited to.
fn load_tested_model(args: &TestArgs) -> Result<(Sources, Model), CliError> {
    let (sources, mut spec) = load::load_model(&args.model.file, &args.model.settings())?;
    something_to_run(args, &spec)?;
    if let Some(values) = &args.values {
        restrict_inputs(&mut spec, &load::read_data(values)?).map_err(|why| {
            CliError::usage(format!("`{values}`: {why}")).help("write `{\"input.field\": [VALUE, ...]}`")
        })?;
    }
    Ok((sources, spec))
}

/// Opens the folder of the record, if there is to be one.
fn open_record(args: &TestArgs, spec: &Model) -> Result<Option<RecordFolder>, CliError> {
    let folder = args.report.as_deref().map(RecordFolder::open).transpose()?;
    Ok(folder
        .map(|folder| folder.keep_runs(args.keep.map(Into::into).unwrap_or_default()).with_evidence(spec)))
}

/// Returns the failures of earlier campaigns in the folder, which are tried first.
fn known_failures(
    args: &TestArgs,
    folder: Option<&RecordFolder>,
    spec: &Model,
) -> Result<Vec<Regression>, CliError> {
    match folder {
        Some(folder) if !args.no_regressions => regressions::read_known_failures(folder.path(), spec),
        _ => Ok(Vec::new()),
    }
}

/// The limits of time of a campaign.
struct TestLimits {
    /// The limit of the tester alone.
    of_tester: Option<Duration>,
    /// The time of the tester: its own limit, or that of the command if it is shorter.
    shortest: Option<Duration>,
    /// The limit of everything: what `--for` and `--time-limit` leave.
    of_all: Option<Duration>,
    /// The time of the whole command.
    of_command: Halt,
}

impl TestLimits {
    fn new(args: &TestArgs, of_tester: Option<Duration>) -> Self {
        let of_command = limit::command_halt(&args.limit);
        // What `--for` says holds for everything; half a minute is the usual time of a hunt alone.
        let of_all = args.for_time.into_iter().chain(of_command.time_left()).min();
        let shortest = of_tester.into_iter().chain(of_command.time_left()).min();
        Self { of_tester, shortest, of_all, of_command }
    }

    /// Returns `worker` with an end to its time.
    fn bound<'t>(&self, worker: &'t mut InputFair<'_>, for_analysis: Option<Duration>) -> DeadlineTester<'t> {
        DeadlineTester::new(worker, self.shortest, for_analysis, limit::from_now)
    }
}

/// Returns the results that are shown while the campaign runs.
fn results_shown(args: &TestArgs) -> ShowResults {
    match (args.output_format(), args.verbose) {
        (TestFormat::Json, _) => ShowResults::Nothing,
        (TestFormat::Junit, _) => ShowResults::Junit,
        (TestFormat::Tap, _) => ShowResults::Tap,
        (TestFormat::Text, true) => ShowResults::People(ClosingDetail::Full),
        (TestFormat::Text, false) => ShowResults::People(ClosingDetail::Short),
    }
}

/// Refuses a campaign in which nothing would happen.
fn something_to_run(args: &TestArgs, spec: &Model) -> Result<(), CliError> {
    if args.runs == Some(0) || args.steps == Some(0) || args.jobs == 0 {
        return Err(CliError::new(
            ExitStatus::Nothing,
            "nothing to run: `--runs`, `--steps` and `--jobs` must be above 0",
        ));
    }
    if spec.sts.switches.is_empty() {
        return Err(CliError::new(ExitStatus::Nothing, "nothing to run: the model has no transitions"));
    }
    Ok(())
}

/// Returns the configuration that the arguments ask for, without the tester and the number of runs.
fn campaign_config(
    args: &TestArgs,
    spec: &Model,
    sut: &SystemUnderTest,
    seed: u64,
) -> Result<CampaignConfig, CliError> {
    Ok(CampaignConfig {
        seed,
        until: args.until.map(Into::into),
        on_failure: if args.keep_going { OnFailure::GoOn } else { OnFailure::Stop },
        run: run_config(args, spec, sut)?,
        replays: if args.no_shrink { 0 } else { CampaignConfig::default().replays },
        shrink: (!args.no_shrink).then(|| timing::budget(spec, sut)),
        sut: args.sut.clone(),
        file: args.model.file.clone(),
        set: args.model.settings(),
        operations: sut.operations(spec),
        ..CampaignConfig::default()
    })
}

/// The settings of every run.
pub fn run_config(args: &TestArgs, spec: &Model, sut: &SystemUnderTest) -> Result<RunConfig, CliError> {
    let default = patience(sut, args.quiescence_ms)?;
    let objective = args.objective.as_deref().map(|name| objective(spec, name)).transpose()?;
    Ok(RunConfig {
        patience: sut.times(spec, default)?,
        relation: args.relation.unwrap_or_else(|| ConformanceRelation::usual(&spec.sts)),
        confirm: args.confirm_silence.max(1),
        objective: objective.map(Arc::new),
        tolerance: timing::tolerance(&args.time, sut),
        refusals: sut.refusals(spec)?,
        max_steps: steps_of_a_run(args),
        // Units must be the same wherever they are run, and records without times whenever.
        weighs_time: !args.part.is_planned() && !args.no_times,
        ..RunConfig::default()
    })
}

/// Returns the greatest number of labels of a run: `--steps`, unless it is the budget of all runs of a hunt.
fn steps_of_a_run(args: &TestArgs) -> usize {
    let is_of_all_runs = args.tester == TesterSpec::Hunt && args.runs.is_none();
    args.steps.filter(|_| !is_of_all_runs).unwrap_or(RunConfig::default().max_steps)
}

/// The goal `name` of the model as an observation objective.
pub fn objective(spec: &Model, name: &str) -> Result<Objective, CliError> {
    let named = spec.sts.goals.iter().find(|goal| *goal.name == *name);
    let usable = spec.sts.goals.iter().filter(|goal| Objective::from_goal(goal).is_some());
    let names: Vec<String> = usable.map(|goal| format!("`{}`", goal.name)).collect();
    let stop = match named {
        Some(goal) => match Objective::from_goal(goal) {
            Some(objective) => return Ok(objective),
            None => CliError::usage(format!("`{name}` is an invariant or a test, not an objective")),
        },
        None => CliError::usage(format!("the model has no goal `{name}`")),
    };
    Err(if names.is_empty() {
        stop.help("write one: `purpose NAME { ... -> miss }`")
    } else {
        stop.help(format!("there is {}", names.join(", ")))
    })
}
