//! `ioxide test --clients`: several clients at once, judged by the sequential model.

use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use ioxide_args::{TestArgs, TestFormat};
use ioxide_history::write::write_lines;
use ioxide_history::{
    Consistency, HistoryConfig, HistoryJudgement, SearchLimits, SequentialModel, judge_history,
};
use ioxide_model::label::Label;
use ioxide_model::sts::Model;
use ioxide_report::annotation::write_cases;
use ioxide_report::clients::{
    ClientCampaignView, ClientFailureCause, ClientFailureView, ClientRunResult, ClientRunView,
};
use ioxide_report::history::{HistoryView, message_fields};
use ioxide_report::junit::clients::write_client_campaign;
use ioxide_report::tap::write_tap;
use ioxide_report::timeline::TimelinePage;
use ioxide_run::concurrent::{
    ClientRun, ClientVerdict, ConcurrentConfig, ConcurrentOutcome, ConcurrentSetup, FailureCause,
    InconclusiveCause, test_clients,
};
use ioxide_symex::Ctx;
use ioxide_wire::adapter::shared::FaultKind;

use super::tester_choice;
use crate::commands::judge::history::prove_model;
use crate::exit::{self, CliError, ExitStatus};
use crate::interrupt::{STOP, catch_interrupts};
use crate::progress::ProgressLine;
use crate::record_folder::RecordFolder;
use crate::solver::SolverRequest;
use crate::system::{SystemOpener, SystemUnderTest};
use crate::{annotations, limit, load, redaction, seed, write};

/// The file with the operations of the failure, or of the last run, in the folder of `--report`.
pub const HISTORY: &str = "history.jsonl";
/// The other files there.
const JUNIT: &str = "junit.xml";
const TIMELINE: &str = "timeline.html";

/// Tests the system with so many clients, and shows the verdict.
pub fn run(args: &TestArgs, clients: usize) -> Result<ExitStatus, CliError> {
    if clients < 2 {
        return Err(CliError::usage("`--clients` needs at least 2 clients")
            .help("leave it out to test the system with one"));
    }
    catch_interrupts();
    let (_, mut spec) = load::load_model(&args.model.file, &args.model.settings())?;
    let sut = SystemUnderTest::from_name(&args.sut, args.model.spec_source())?;
    let shown = spec.clone();
    let folder = args.report.as_deref().map(RecordFolder::open).transpose()?;
    let whole = limit::command_halt(&args.limit);
    let request = SolverRequest::new(&args.solver, whole.clone());
    let mut solver = request.make()?;
    let mut cx = Ctx::new(&mut spec, &mut *solver);
    let model = prove_model(&mut cx, &args.model.file)?;
    let config = config(args, clients, &request);
    let opener = SystemOpener::new(&sut, Arc::new(shown.clone()), request.clone());
    let mut progress = ProgressLine::start();
    let outcome = opener.open_shared(config.seed, &config.faults, |control, connector| {
        let mut setup = ConcurrentSetup { cx: &mut cx, model: &model, control, connector, stop: &STOP };
        Ok(test_clients(&mut setup, &config, &mut |run: &ClientRun| {
            progress.show_line(&format!("{} runs with {clients} clients", run.number));
        }))
    })?;
    progress.show_line("");
    let judged = match outcome.failure.as_ref().map(|failure| &failure.cause) {
        Some(FailureCause::Inconsistent(judged)) => Some(judged.partition.describe(&cx)),
        _ => None,
    };
    let texts = OutcomeTexts::new(&shown, &outcome, &sut, judged);
    let view = texts.view(args, &shown, &config, &outcome);
    let mut out = redaction::stdout();
    let told = match args.output_format() {
        TestFormat::Text => view.show(&mut out),
        TestFormat::Json => writeln!(out, "{}", view.to_json()),
        TestFormat::Junit => write_client_campaign(&mut out, &view),
        TestFormat::Tap => write_tap(&mut out, &view.test_cases()),
    };
    if annotations::are_wanted() {
        let mut text = Vec::new();
        write_cases(&mut text, view.model_name(), view.file, &view.test_cases())?;
        redaction::to_stderr(format_args!("{}", String::from_utf8_lossy(&text)));
    }
    if let Some(error) = view.error {
        eprintln!("error: no verdict: {error}");
    }
    let saved = folder.as_ref().map_or(Ok(()), |folder| {
        save(folder.path(), &view, &outcome)?;
        let timeline = TimelineSource { cx: &mut cx, model: &model, config: &config, shown: &shown };
        timeline.save(folder.path(), &outcome, &texts.breakdown)
    });
    let status = exit::status_after_save(find_status(&outcome), saved)?;
    exit::status_after_output(status, told)
}

/// Returns the settings that the arguments ask for.
fn config(args: &TestArgs, clients: usize, request: &SolverRequest<'_>) -> ConcurrentConfig {
    let default = ConcurrentConfig::default();
    let time = args.for_time.or_else(|| args.runs.is_none().then_some(tester_choice::HUNT_TIME));
    ConcurrentConfig {
        clients,
        seed: args.seed.unwrap_or_else(seed::fresh_seed),
        runs: args.runs,
        time: time.into_iter().chain(request.halt.time_left()).min(),
        operations: args.steps.unwrap_or(default.operations),
        reply_timeout: args.reply_timeout.unwrap_or(default.reply_timeout),
        consistency: Consistency::from(args.consistency),
        limits: SearchLimits {
            max_configurations: args.max_configurations,
            halt: request.halt.clone(),
            ..SearchLimits::default()
        },
        faults: args.faults.iter().map(|name| FaultKind::from_name(name)).collect(),
        repetitions: if args.no_shrink { 0 } else { default.repetitions },
        shrinks: !args.no_shrink,
        spins: false,
    }
}

/// The exit status of a campaign.
fn find_status(outcome: &ConcurrentOutcome) -> ExitStatus {
    if outcome.failure.is_some() {
        ExitStatus::Failure
    } else if outcome.error.is_some() {
        ExitStatus::Infrastructure
    } else if outcome.is_interrupted {
        ExitStatus::Interrupted
    } else if outcome.runs.is_empty() || outcome.count(ClientVerdict::Inconclusive) > 0 {
        ExitStatus::Inconclusive
    } else {
        ExitStatus::Success
    }
}

/// Writes the history of the failure, or of the last run, and the report for continuous integration.
fn save(folder: &Path, view: &ClientCampaignView<'_>, outcome: &ConcurrentOutcome) -> Result<(), CliError> {
    let name = |file: &str| folder.join(file).display().to_string();
    let message = |label: &Label| message_fields(view.model, label);
    let history = outcome.failure.as_ref().map(|failure| &failure.history).or(outcome.last.as_ref());
    if let Some(history) = history {
        let text = write_lines(history, &message);
        write::write_named(&name(HISTORY), |out| out.write_all(text.as_bytes()))?;
    }
    write::write_named(&name(JUNIT), |out| write_client_campaign(out, view))
}

/// The history of a campaign and what is needed to draw it.
struct TimelineSource<'a, 'm> {
    cx: &'a mut Ctx<'m>,
    model: &'a SequentialModel,
    config: &'a ConcurrentConfig,
    shown: &'a Model,
}

impl TimelineSource<'_, '_> {
    /// Writes the page of the failure, or of the last run.
    fn save(self, folder: &Path, outcome: &ConcurrentOutcome, breakdown: &str) -> Result<(), CliError> {
        let failure = outcome.failure.as_ref();
        let Some(history) = failure.map(|failure| &failure.history).or(outcome.last.as_ref()) else {
            return Ok(());
        };
        let judged = match failure.map(|failure| &failure.cause) {
            Some(FailureCause::Inconsistent(judged)) => HistoryJudgement::clone(judged),
            // The campaign judged bursts, one after the other; the page shows an order of the whole run.
            _ => {
                let ConcurrentConfig { consistency, limits, .. } = self.config.clone();
                judge_history(
                    self.cx,
                    self.model,
                    history,
                    &HistoryConfig { consistency, limits, skips_core: false },
                )
            }
        };
        let parts = judged.partition.describe(self.cx);
        let view = HistoryView {
            model: self.shown,
            history,
            judged: &judged,
            parts: &parts,
            consistency: self.config.consistency,
        };
        let breakdown = (!breakdown.is_empty()).then_some(breakdown);
        let name = folder.join(TIMELINE).display().to_string();
        write::write_named(&name, |out| TimelinePage { view, breakdown }.write(out))
    }
}

/// The texts of an outcome that a view refers to.
struct OutcomeTexts {
    runs: Vec<ClientRunView>,
    error: Option<String>,
    parts: String,
    breakdown: String,
}

impl OutcomeTexts {
    fn new(model: &Model, outcome: &ConcurrentOutcome, sut: &SystemUnderTest, parts: Option<String>) -> Self {
        let secrets = sut.secrets();
        let cause = outcome.failure.as_ref().map(|failure| &failure.cause);
        let breakdown = cause.and_then(|cause| cause.describe_breakdown(model)).unwrap_or_default();
        Self {
            runs: outcome.runs.iter().map(run_view).collect(),
            error: outcome.error.as_ref().map(|error| secrets.hide(&error.to_string())),
            parts: parts.unwrap_or_default(),
            breakdown: secrets.hide(&breakdown),
        }
    }

    /// Returns the campaign as its reports show it.
    fn view<'v>(
        &'v self,
        args: &'v TestArgs,
        model: &'v Model,
        config: &ConcurrentConfig,
        outcome: &'v ConcurrentOutcome,
    ) -> ClientCampaignView<'v> {
        let failure = outcome.failure.as_ref().map(|failure| ClientFailureView {
            run: failure.run,
            history: &failure.history,
            cause: match &failure.cause {
                FailureCause::Inconsistent(judged) => {
                    ClientFailureCause::Inconsistent { judged, parts: &self.parts }
                }
                _ => ClientFailureCause::Breakdown(&self.breakdown),
            },
            reproduced: failure.reproduced,
            of: failure.of,
            workload: failure.workload.as_ref(),
        });
        ClientCampaignView {
            model,
            file: &args.model.file,
            sut: &args.sut,
            seed: config.seed,
            clients: config.clients,
            consistency: config.consistency,
            runs: &self.runs,
            failure,
            error: self.error.as_deref(),
            is_interrupted: outcome.is_interrupted,
            time_ns: u64::try_from(outcome.elapsed.as_nanos()).unwrap_or(u64::MAX),
        }
    }
}

/// Returns a run as reports show it.
fn run_view(run: &ClientRun) -> ClientRunView {
    let result = match run.verdict {
        ClientVerdict::Passed => ClientRunResult::Passed,
        ClientVerdict::Failed => ClientRunResult::Failed,
        ClientVerdict::Inconclusive => {
            let cause = run.unknown.unwrap_or(InconclusiveCause::NoAnswer);
            ClientRunResult::Inconclusive(cause.to_string())
        }
    };
    ClientRunView {
        number: run.number,
        result,
        operations: run.operations,
        open: run.open,
        faults: run.faults,
        time_ns: u64::try_from(run.time.as_nanos()).unwrap_or(u64::MAX),
    }
}
