//! `ioxide test`: a live system against a model, on the fly.

mod case;
pub mod clients;
pub mod hint;
mod hunted;
pub mod parts;
mod plan;
pub mod rounds;
pub mod tester_choice;

use std::io::{self, IsTerminal, Write};
use std::sync::Arc;

use ioxide_args::{TestArgs, TestFormat};
use ioxide_campaign::engine::quote_for_shell;
use ioxide_model::relation::ConformanceRelation;
use ioxide_model::sts::Model;
use ioxide_record::event::MeasureRecord;
use ioxide_record::failure_id::failure_id;
use ioxide_record::secrets::Secrets;
use ioxide_report::http::operations::OperationTable;
use ioxide_report::summary::refused_text;
use ioxide_report::terminal::ClosingDetail;
use ioxide_run::campaign::{CampaignConfig, CampaignOutcome, OnFailure};
use ioxide_run::clock::budget::TimeBudget;
use ioxide_run::deadline_tester::DeadlineTester;
use ioxide_run::given_values::restrict_inputs;
use ioxide_run::objective::Objective;
use ioxide_run::run::RunConfig;
use ioxide_smt::halt::Halted;
use ioxide_testgen::tester::Tester;
use ioxide_testgen::tester::fair::InputFair;
use ioxide_testgen::tester::spec::TesterSpec;
use serde_json::{Value as Json, json};

use self::hint::{EventKeeper, FailureEvidence};
use self::plan::PlanProgress;
use self::tester_choice::ChosenTester;
use crate::exit::{self, CliError, ExitStatus};
use crate::record_folder::RecordFolder;
use crate::session::{CampaignSession, EventTimes, ShowResults, campaign_status, patience};
use crate::solver::SolverRequest;
use crate::system::SystemUnderTest;
use crate::{html, limit, load, machine, redaction, regressions, seed, timing, unit_command};

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
    if let Some(clients) = args.clients {
        return clients::run(args, clients);
    }
    let (sources, mut spec) = load::load_model(&args.model.file, &args.model.settings())?;
    something_to_run(args, &spec)?;
    if let Some(values) = &args.values {
        restrict_inputs(&mut spec, &load::read_data(values)?).map_err(|why| {
            CliError::usage(format!("`{values}`: {why}")).help("write `{\"input.field\": [VALUE, ...]}`")
        })?;
    }
    let sut = SystemUnderTest::from_name(&args.sut, args.model.spec_source())?;
    let secrets = sut.secrets();
    let clock = timing::clock(&args.time, &sut)?;
    machine::declare_outputs(&mut spec, &sut);
    let seed = args.seed.unwrap_or_else(seed::fresh_seed);
    let chosen = ChosenTester::named(args, &mut spec, seed)?;
    let limit = chosen.time_limit(args, &sut);
    let folder = args.report.as_deref().map(RecordFolder::open).transpose()?;
    let folder = folder
        .map(|folder| folder.keep_runs(args.keep.map(Into::into).unwrap_or_default()).with_evidence(&spec));
    let known = match &folder {
        Some(folder) if !args.no_regressions => regressions::read_known_failures(folder.path(), &spec)?,
        _ => Vec::new(),
    };
    let config = CampaignConfig {
        regressions: known,
        runs: chosen.runs(args),
        tester: chosen.budgeted(args, limit),
        ..campaign_config(args, &spec, &sut, seed)?
    };
    let shown = spec.clone();
    let analysis_limit = tester_choice::analysis_limit(args);
    let whole = limit::command_halt(&args.limit);
    // What `--for` says holds for everything; half a minute is the usual time of a hunt alone.
    let of_all = args.for_time.into_iter().chain(whole.time_left()).min();
    let config = CampaignConfig { time: Arc::new(TimeBudget::new(of_all)), ..config };
    let limit = limit.into_iter().chain(whole.time_left()).min();
    let mut workers = chosen.shared(args.jobs.max(1));
    let interaction = chosen.interaction(args);
    let mut fair: Vec<InputFair<'_>> =
        workers.iter_mut().map(|worker| InputFair::new(worker.tester(), interaction)).collect();
    let mut limited: Vec<DeadlineTester<'_>> = fair
        .iter_mut()
        .map(|worker| DeadlineTester::new(worker, limit, analysis_limit, limit::from_now))
        .collect();
    let keeper = EventKeeper::if_wanted(args.output_format());
    let session = CampaignSession {
        keeper: keeper.clone(),
        spec,
        sut,
        clock,
        testers: limited.iter_mut().map(|worker| worker as &mut (dyn Tester + Send)).collect(),
        solver: SolverRequest::new(&args.solver, whole.clone()),
        show: results_shown(args),
        record: folder.as_ref(),
        times: if args.no_times { EventTimes::LeftOut } else { EventTimes::Told },
    };
    let outcome = session.run(&config)?;
    let ended_after = limit.filter(|_| limited.iter().any(DeadlineTester::has_passed));
    let is_cut = limit::is_deadline_over(&whole);
    if is_cut {
        eprintln!("{}", limit::partial(Halted::Time));
    }
    if let (true, Some(error)) = (outcome.counts.errors > 0, &outcome.error) {
        eprintln!("error: no verdict: {}", secrets.hide(&error.to_string()));
    }
    if let Some(folder) = &folder {
        let added = regressions::add_failures(
            folder.path(),
            &shown,
            &config.regressions,
            &outcome.failures,
            &secrets,
        );
        added.unwrap_or_else(|error| folder.lacks(&format!("the failing runs could not be saved: {error}")));
    }
    let chosen = ChosenTester::joined(workers).unwrap_or(chosen);
    let format = args.output_format();
    let requirements = keeper.as_ref().map(EventKeeper::requirements_json);
    let keeper = keeper.filter(|_| outcome.counts.failed > 0 && !outcome.interrupted);
    let evidence =
        keeper.and_then(|keeper| hint::evidence(keeper, args, (&sources, &shown), folder.as_ref()));
    let told = if format == TestFormat::Json {
        let mut result = outcome_json(&shown, &config, &outcome, &secrets);
        result["cover"] = chosen.json(&shown.sts);
        result["suite"] = chosen.suite_json(&outcome.counts);
        result["game"] = chosen.game_json();
        result["partial"] = json!(is_cut.then(|| Halted::Time.to_string()));
        result["hunt"] = chosen.hunt_json(&shown.sts, &outcome, ended_after.is_some());
        result["plan"] = plan::plan_json(PlanProgress::of(&chosen, &outcome), ended_after);
        result["evidence"] = json!(evidence.as_ref().map(FailureEvidence::to_json));
        result["requirements"] = json!(requirements);
        if let Some(suite) = &args.suite {
            result["suite_name"] = json!(suite);
        }
        secrets.hide_json(&mut result);
        writeln!(redaction::stdout(), "{result}")
    } else if format == TestFormat::Text {
        let mut out = redaction::stdout();
        // A failure is looked at first; what was covered until then is for `-v`.
        let is_told = args.verbose || outcome.counts.failed == 0 || !chosen.is_about_coverage();
        let told = if is_told { chosen.show(&mut out, &shown.sts, &outcome.counts) } else { Ok(()) };
        told.and_then(|()| chosen.show_end(&mut out, &shown.sts, &outcome, ended_after)).and_then(|()| {
            let lines = evidence.as_ref().map(FailureEvidence::lines);
            lines.into_iter().flatten().try_for_each(|line| writeln!(out, "{}", secrets.hide(&line)))
        })
    } else {
        Ok(())
    };
    if let Some(folder) = folder.as_ref().filter(|folder| folder.trouble().is_none()) {
        if format == TestFormat::Text {
            eprintln!("record: {}", folder.record().display());
            if outcome.counts.failed > 0 {
                let folder = quote_for_shell(&folder.path().display().to_string());
                // What is written down has no secrets in it, so the id must not be made of any.
                let id = outcome.failures.first().map(|it| failure_id(&secrets.hide(it.naming_signature())));
                let name = id.map(|id| format!(" --name {}", quote_for_shell(&id))).unwrap_or_default();
                eprintln!("replay: ioxide replay {folder}{name} --sut {}", quote_for_shell(&args.sut));
            }
        }
        let evidence = evidence.as_ref().map(FailureEvidence::for_page);
        let evidence = evidence.map(|evidence| evidence.map_texts(|text| secrets.hide(text)));
        html::write_beside(folder, (&sources, &shown), evidence, &args.solver);
    }
    let next = next_step(args, &outcome).or_else(|| next_after_pass(args, &shown, &outcome));
    if let (None, false, Some(next)) = (&folder, format != TestFormat::Text, next) {
        eprintln!("{next}");
    }
    let found = if is_cut { cut_short(&outcome) } else { verdict(&chosen, &outcome) };
    let status = exit::status_after_output(found, told)?;
    folder.map_or(Ok(status), |folder| folder.end(status))
}

/// Returns a line with the next useful command after a campaign that is not recorded.
fn next_step(args: &TestArgs, outcome: &CampaignOutcome) -> Option<String> {
    (outcome.counts.failed > 0).then(|| {
        let sut = quote_for_shell(&args.sut);
        format!(
            "next: add `--report runs` to record the run; `ioxide replay runs --sut {sut}` then repeats it"
        )
    })
}

/// Returns a line with the next useful command after a campaign that passed, for people at a terminal.
fn next_after_pass(args: &TestArgs, spec: &Model, outcome: &CampaignOutcome) -> Option<String> {
    if campaign_status(outcome) != ExitStatus::Success || !io::stderr().is_terminal() {
        return None;
    }
    let file = quote_for_shell(&args.model.file);
    let n_never = outcome.coverage.never().count();
    Some(if n_never > 0 && !spec.sts.is_timed() {
        format!(
            "next: `ioxide purposes {file}` says which of the {n_never} transitions never taken can be reached"
        )
    } else {
        "next: `--for 10min` tests longer; `--report runs` writes a page with what was tested".to_owned()
    })
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

/// Returns the exit status of an outcome: inconclusive also if the goal of `--until`, or of the tester, is not met.
fn verdict(chosen: &ChosenTester, outcome: &CampaignOutcome) -> ExitStatus {
    match campaign_status(outcome) {
        ExitStatus::Success if !outcome.is_enough => ExitStatus::Inconclusive,
        // A goal to which no path is known counts as not met.
        ExitStatus::Success if !chosen.is_settled() => {
            eprintln!(
                "goal not reached: the items marked unknown or partial above are neither covered nor proven unreachable"
            );
            ExitStatus::Inconclusive
        }
        status => status,
    }
}

/// Returns the exit status of a campaign that its time limit ended: a failure counts, else it is inconclusive.
fn cut_short(outcome: &CampaignOutcome) -> ExitStatus {
    if outcome.counts.failed > 0 { ExitStatus::Failure } else { ExitStatus::Inconclusive }
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

/// The outcome for programs.
pub fn outcome_json(
    spec: &Model,
    config: &CampaignConfig,
    outcome: &CampaignOutcome,
    secrets: &Secrets,
) -> Json {
    let labels = |trace: &ioxide_model::trace::Trace| {
        trace.labels.iter().map(|label| label.show(&spec.pool, &spec.sts)).collect::<Vec<_>>()
    };
    let failures: Vec<Json> = outcome
        .failures
        .iter()
        .map(|failure| {
            json!({
                "run": failure.id.run,
                "id": failure_id(&secrets.hide(failure.naming_signature())),
                "signature": failure.signature,
                "runs": failure.runs,
                "seed": failure.id.seed,
                "trace": labels(&failure.trace),
                "forbidden_step": failure.trace.forbidden_at.map(|at| at + 1),
                "reproduced": failure.reproduced,
                "of": failure.of,
                "wanted": failure.wanted,
                "shrunk": failure.shrunk.as_ref().map(|shrunk| labels(&shrunk.trace)),
                "exchanges": failure.shrunk.as_ref().map(|shrunk| &shrunk.exchanges).filter(|all| !all.is_empty()),
            })
        })
        .collect();
    let names = |ids: Vec<ioxide_model::sts::SwitchId>| {
        ids.into_iter().map(|id| spec.sts.switches[id].label.to_string()).collect::<Vec<_>>()
    };
    let measures: Vec<MeasureRecord> =
        outcome.survey.counts(&outcome.coverage).iter().map(MeasureRecord::from).collect();
    let mut operations = OperationTable::new(&config.operations);
    for (id, switch) in spec.sts.switches.iter_enumerated() {
        operations.count_switch(&switch.label, outcome.coverage.count_of(id).certain);
    }
    outcome.coverage.covered_switches().for_each(|id| operations.cover(&spec.sts.switches[id].label));
    json!({
        "version": 1,
        "reason": outcome.refused.filter(|_| outcome.counts.failed == 0).map(refused_text),
        "refused": outcome.refused,
        "seed": config.seed,
        "runs": outcome.counts.total(),
        "passed": outcome.counts.passed,
        "failed": outcome.counts.failed,
        "inconclusive": outcome.counts.inconclusive,
        "errors": outcome.counts.errors,
        "error": outcome.error.as_ref().map(ToString::to_string),
        "interrupted": outcome.interrupted,
        "steps": outcome.steps,
        "machine_lag": outcome.lag.to_record(),
        "time_spent": outcome.spent.map(|spent| spent.to_record(outcome.elapsed)),
        "failures": failures,
        "covered": names(outcome.coverage.covered_switches().collect()),
        "never": names(outcome.coverage.never().collect()),
        "measures": measures,
        "longest_run": outcome.coverage.longest(),
        "operations": operations.rows(),
    })
}
