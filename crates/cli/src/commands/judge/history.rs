//! `ioxide judge --clients`: a history of concurrent clients.

use std::io::{self, Write};
use std::path::Path;

use ioxide_args::{DEFAULT_MAX_CONFIGURATIONS, JudgeArgs, settings};
use ioxide_history::read::{HistoryForm, HistoryMapping, HistoryMessageKind, read_history};
use ioxide_history::write::write_edn;
use ioxide_history::{
    History, HistoryConfig, HistoryVerdict, SearchLimits, SequentialModel, judge_history, prove_sequential,
};
use ioxide_model::label::Label;
use ioxide_model::sts::{GateKind, Model};
use ioxide_project::FILE;
use ioxide_record::value::{WireMessage, label_from_json};
use ioxide_report::history::{HistoryView, message_fields};
use ioxide_report::timeline::TimelinePage;
use ioxide_smt::solver::Solver;
use ioxide_symex::Ctx;
use serde_json::{Map, Value as Json};

use crate::commands::test::clients::HISTORY;
use crate::exit::{self, CliError, ExitStatus};
use crate::solver::SolverRequest;
use crate::{limit, load, project_file, write};

/// Judges the history and says why.
pub fn judge_client_history(args: &JudgeArgs) -> Result<ExitStatus, CliError> {
    let (_, mut model) = load::load_model(&args.file, &settings(&args.set, args.through.as_deref()))?;
    let path = find_history(&args.trace);
    let text = load::read_data(&path)?;
    let mapping = find_mapping(HistoryForm::recognise(&text))?;
    let history = read_file(&path, &model, &text, &mapping)?;
    if let Some(path) = &args.edn {
        let message = |label: &Label| message_fields(&model, label);
        write::write_named(path, |out| out.write_all(write_edn(&history, &mapping, &message).as_bytes()))?;
    }
    if history.operations.is_empty() {
        return Err(CliError::new(ExitStatus::Nothing, format!("`{}` has no operations", args.trace)));
    }
    let names = model.clone();
    let request = SolverRequest::new(&args.solver, limit::halt(&args.limit));
    let mut solver = request.make()?;
    let _stage = limit::stage("judging the history");
    let mut cx = Ctx::new(&mut model, &mut *solver);
    let sequential = prove_model(&mut cx, &args.file)?;
    let limits = SearchLimits {
        max_configurations: args.max_configurations,
        halt: request.halt.clone(),
        ..SearchLimits::default()
    };
    let config = HistoryConfig { consistency: args.consistency.into(), limits, skips_core: false };
    let judged = judge_history(&mut cx, &sequential, &history, &config);
    let parts = judged.partition.describe(&cx);
    let status = match &judged.verdict {
        HistoryVerdict::Consistent(_) | HistoryVerdict::Unspecified(_) => ExitStatus::Success,
        HistoryVerdict::Inconsistent(_) => ExitStatus::Failure,
        HistoryVerdict::Unknown(_) => limit::halted_status(&request.halt, ExitStatus::Inconclusive),
    };
    let view = HistoryView {
        model: &names,
        history: &history,
        judged: &judged,
        parts: &parts,
        consistency: config.consistency,
    };
    if let Some(path) = &args.html {
        write::write_named(path, |out| TimelinePage { view, breakdown: None }.write(out))?;
    }
    let mut out = io::stdout().lock();
    let told = if args.json { writeln!(out, "{}", view.to_json()) } else { view.show(&mut out) };
    exit::status_after_output(status, told)
}

/// Returns the path of the history in the directory `path`, if it is one that `test --report` has written; else `path`.
pub fn find_history(path: &str) -> String {
    let in_folder = Path::new(path).join(HISTORY);
    if in_folder.is_file() { in_folder.display().to_string() } else { path.to_owned() }
}

/// Judges the history called `name` and returns its page.
pub fn write_timeline(
    model: &mut Model,
    solver: &mut dyn Solver,
    file: &str,
    name: &str,
) -> Result<Vec<u8>, CliError> {
    let text = load::read_data(name)?;
    let mapping = find_mapping(HistoryForm::recognise(&text))?;
    let history = read_file(name, model, &text, &mapping)?;
    let names = model.clone();
    let mut cx = Ctx::new(model, solver);
    let sequential = prove_model(&mut cx, file)?;
    let limits = SearchLimits { max_configurations: DEFAULT_MAX_CONFIGURATIONS, ..SearchLimits::default() };
    let config = HistoryConfig { limits, ..HistoryConfig::default() };
    let judged = judge_history(&mut cx, &sequential, &history, &config);
    let parts = judged.partition.describe(&cx);
    let view = HistoryView {
        model: &names,
        history: &history,
        judged: &judged,
        parts: &parts,
        consistency: config.consistency,
    };
    let mut page = Vec::new();
    TimelinePage { view, breakdown: None }.write(&mut page)?;
    Ok(page)
}

/// Proves that the model of `file` is sequential.
pub fn prove_model(cx: &mut Ctx<'_>, file: &str) -> Result<SequentialModel, CliError> {
    prove_sequential(cx).map_err(|why| {
        CliError::new(ExitStatus::Model, format!("`{file}` is not sequential: {}", why.describe(cx)))
            .help("with --clients every input has exactly one answer, and the model is idle again after it")
    })
}

/// Returns the mapping of the project file in the current directory; empty if the form needs none.
fn find_mapping(form: HistoryForm) -> Result<HistoryMapping, CliError> {
    let missing = |what: &str| {
        CliError::usage(format!("{what}, which maps the operations of the history to messages")).help(
            "for example [history.read] with call = { label = \"read\" } and ok = { label = \"value\", \
             args = { v = \"value\" } }",
        )
    };
    let project = project_file::open_project()?;
    let mapping =
        project.as_ref().map_or_else(|| Ok(HistoryMapping::default()), |it| it.history_mapping())?;
    match (form.needs_mapping() && mapping.operations.is_empty(), project.is_some()) {
        (true, true) => Err(missing(&format!("`{FILE}` has no table [history]"))),
        (true, false) => Err(missing(&format!("there is no `{FILE}` here with a table [history]"))),
        (false, _) => Ok(mapping),
    }
}

/// Reads the history in the file called `name`.
pub fn read_file(
    name: &str,
    model: &Model,
    text: &str,
    mapping: &HistoryMapping,
) -> Result<History, CliError> {
    let make_label = |label: &str, fields: &Map<String, Json>, direction| {
        let message = WireMessage { label: label.to_owned(), args: fields.clone() };
        let wanted: fn(GateKind) -> bool = match direction {
            HistoryMessageKind::Input => GateKind::is_input,
            HistoryMessageKind::Output => |kind| kind == GateKind::Output,
        };
        label_from_json(model, &message, wanted).map_err(|error| error.to_string())
    };
    read_history(text, mapping, &make_label).map_err(|error| CliError::usage(format!("`{name}`: {error}")))
}
