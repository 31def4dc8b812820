//! The learned model and the report on it: to a file, to stdout, or for a part.

use std::io::{self, Write};

use ioxide_args::{DraftFormat, LearnArgs};
use ioxide_learn::draft::{DraftError, DraftHead, LearnedDraft};
use ioxide_learn::origin::MachineOrigin;
use serde_json::{Value as Json, json};

use super::page::LearningViewer;
use super::parts;
use crate::exit::{CliError, ExitStatus};
use crate::{load, redaction, write};

/// The report on a session at its end.
pub struct LearnedReport {
    /// The report for people.
    pub origin: MachineOrigin,
    /// The same for programs, but for the file of the model.
    pub json: Json,
}

impl LearnedReport {
    /// Adds the time of answers that were not given now.
    pub fn with_date(mut self, dated: Option<String>) -> Self {
        self.json["dated"] = json!(dated);
        self.origin.facts.extend(dated);
        self
    }

    /// Adds the number of votes about contradictions, and the least confidence among them.
    pub fn with_votes(mut self, votes: &[f64]) -> Self {
        if let Some(least) = votes.iter().copied().reduce(f64::min) {
            self.json["votes"] = json!({ "answers": votes.len(), "least_confidence": least });
        }
        self
    }

    /// Returns the report for programs; the model is in the file `path`.
    pub fn to_json(&self, path: &str) -> Json {
        let mut told = self.json.clone();
        told["out"] = json!(path);
        told
    }
}

/// Returns a machine in the wanted format.
pub fn draft_text(
    args: &LearnArgs,
    draft: &LearnedDraft<'_>,
    origin: &MachineOrigin,
) -> Result<String, CliError> {
    match args.format {
        DraftFormat::Dot => Ok(draft.write_dot()),
        DraftFormat::Iox => model_text(args, origin, |head| draft.write_model(head))
            .map_err(|stop| if stop.status() == ExitStatus::Model { stop.help(USE_DOT) } else { stop }),
    }
}

/// The help on a machine that is no model.
const USE_DOT: &str = "use `--format dot`";

/// Returns the text of a model that `write` makes, with a head that names its origin and declares its messages.
pub fn model_text(
    args: &LearnArgs,
    origin: &MachineOrigin,
    write: impl FnOnce(&DraftHead<'_>) -> Result<String, DraftError>,
) -> Result<String, CliError> {
    let file = &args.model.file;
    let text = if ioxide_lang::is_iox(file) { Some(load::read_model(file)?) } else { None };
    write(&DraftHead { origin, file, text: text.as_deref() }).map_err(|error| {
        let stop = CliError::new(ExitStatus::Model, error.to_string());
        match error {
            DraftError::MessageName(_) => stop.help(USE_DOT),
            DraftError::NoModel(_) => stop,
        }
    })
}

/// Writes the model to its part, its file or stdout; the inner result says whether the report could be written.
pub fn write_model(
    args: &LearnArgs,
    text: &str,
    report: &LearnedReport,
    viewer: &LearningViewer,
) -> Result<io::Result<()>, CliError> {
    if args.part.part.is_some() {
        return parts::keep_result(args, text, report).map(Ok);
    }
    let lines = report.origin.lines();
    let Some(path) = &args.out else {
        lines.iter().for_each(|line| eprintln!("{line}"));
        let mut out = redaction::stdout();
        let shown = out.write_all(text.as_bytes()).and_then(|()| out.flush());
        viewer.show_written(&report.origin, None);
        return Ok(shown);
    };
    write::write_named(path, |out| out.write_all(text.as_bytes()))?;
    viewer.show_written(&report.origin, Some(path));
    let mut out = redaction::stdout();
    if args.json {
        return Ok(writeln!(out, "{}", report.to_json(path)));
    }
    Ok(lines.iter().try_for_each(|line| writeln!(out, "{line}")))
}
