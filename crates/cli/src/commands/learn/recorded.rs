//! Recorded runs of `--traces` and `--from`: by ioxide, or as plain lines.

use ioxide_args::LearnArgs;
use ioxide_learn::draft::LearnedDraft;
use ioxide_learn::messages::{DataRun, Messages};
use ioxide_learn::origin::MachineOrigin;
use ioxide_learn::recorded::{RecordedError, RecordedResult, certain_prefix};
use ioxide_model::sts::Model;
use ioxide_model::trace::Trace;
use ioxide_run::judge::plain_trace;
use serde_json::json;

use super::output::{self, LearnedReport};
use super::page::LearningViewer;
use crate::exit::{self, CliError, ExitStatus};
use crate::record::{self, RunFile};

/// Makes a machine of the recorded runs of `--traces`.
pub fn learn_from_records(args: &LearnArgs, model: Model) -> Result<ExitStatus, CliError> {
    let traces = read_all(&model, &args.traces)?;
    let result =
        RecordedResult::learn(model, &traces, args.hold_out).map_err(|error| recorded_error(&error))?;
    let json = json!({
        "version": 1, "traces": args.traces, "states": result.machine.machine.n_states(), "runs": result.n_runs,
        "held_out": result.n_held_out, "explained": result.n_explained,
    });
    let origin = MachineOrigin { source: args.traces.join(", "), facts: result.facts() };
    let report = LearnedReport { origin, json };
    let support = Some(&result.machine.support[..]);
    let draft = LearnedDraft::new(&result.machine.machine, &result.answers, &result.messages, support);
    let text = output::draft_text(args, &draft, &report.origin)?;
    let shown = output::write_model(args, &text, &report, &LearningViewer::default())?;
    exit::status_after_output(ExitStatus::Success, shown)
}

/// Returns the recorded runs of `--from`, each as far as its answers are certain.
pub fn read_known_runs(args: &LearnArgs, messages: &Messages) -> Result<Vec<DataRun>, CliError> {
    let traces = read_all(&messages.model, &args.from)?;
    let certain = |trace: &Trace| certain_prefix(trace, args.one_answer, &messages.preamble);
    Ok(traces.iter().map(certain).filter(|run| !run.is_empty()).collect())
}

/// Returns the error of recorded runs that no machine can be made of.
pub fn recorded_error(error: &RecordedError) -> CliError {
    match error {
        RecordedError::NoInput => CliError::new(ExitStatus::Nothing, error.to_string()),
        RecordedError::Contradiction { .. } => CliError::new(ExitStatus::Inconclusive, error.to_string())
            .help("a machine gives the same answers to the same inputs"),
    }
}

/// Reads all runs of all files.
fn read_all(model: &Model, paths: &[String]) -> Result<Vec<Trace>, CliError> {
    let mut traces = Vec::new();
    for path in paths {
        traces.extend(read_traces(model, path)?);
    }
    Ok(traces)
}

/// Reads all runs of a file.
fn read_traces(model: &Model, path: &str) -> Result<Vec<Trace>, CliError> {
    let misfit = |error: String| CliError::usage(format!("`{path}` does not fit the model: {error}"));
    match record::read_runs(path)? {
        RunFile::Record(recorded) => {
            let runs = 0..recorded.n_runs();
            runs.map(|run| recorded.trace(model, run).map_err(|error| misfit(error.to_string()))).collect()
        }
        RunFile::Text(text) => {
            let runs = text.split("\n\n").filter(|run| !run.trim().is_empty());
            runs.map(|run| plain_trace(model, run).map_err(|error| misfit(error.to_string()))).collect()
        }
    }
}
