//! Decisions on disk, as they are made: an interrupted analysis goes on where it was.
//!
//! The first line says of which model and which settings the decisions are: a fingerprint of all
//! that an answer depends on, the version of the analysis included. Later lines are only ever
//! added, so nothing that was decided is lost when the program is killed; a last line that was cut
//! off is left out. Undecided mutants are decided again.

use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Read, Write};

use ioxide_model::sts::Model;
use ioxide_model::trace::Trace;
use ioxide_record::json;
use ioxide_run::suite::{SuiteLabel, TraceTest};
use ioxide_testgen::kill::ANALYSIS_VERSION;
use ioxide_testgen::kill::fingerprint::fingerprint;
use ioxide_testgen::kill::outcome::MutantOutcome;
use ioxide_testgen::mutate::Mutant;
use serde_json::{Value as Json, json};

use crate::exit::CliError;
use crate::write;

/// The name of the format.
const FORMAT: &str = "ioxide-kill";

/// A journal being written.
pub struct Journal {
    out: BufWriter<File>,
}

impl Journal {
    /// Opens the journal at `path` and reads its decisions; `settings` must be those it was begun with.
    pub fn open(
        path: &str,
        model: &Model,
        mutants: &[Mutant],
        settings: &str,
    ) -> Result<(Self, Vec<Option<MutantOutcome>>), CliError> {
        let header = json!({
            "format": FORMAT, "version": 1, "mutants": mutants.len(),
            "fingerprint": fingerprint(model, mutants, &[settings, &ANALYSIS_VERSION.to_string()]),
        });
        let cannot = |error: io::Error| write::write_error(path, &error);
        let options = OpenOptions::new().read(true).append(true).create(true).clone();
        let mut file = options.open(path).map_err(cannot)?;
        write::lock_for_writing(&file, path)?;
        let mut text = String::new();
        let read = file.read_to_string(&mut text);
        read.map_err(|error| CliError::usage(format!("cannot read `{path}`: {error}")))?;
        // A first line that was cut off has no decision after it.
        let is_begun = text.contains('\n') || !header.to_string().starts_with(&text);
        if !is_begun {
            file.set_len(0).map_err(cannot)?;
            let mut out = BufWriter::new(file);
            writeln!(out, "{header}").and_then(|()| out.flush()).map_err(cannot)?;
            return Ok((Self { out }, vec![None; mutants.len()]));
        }
        let known = decisions(path, &text, &header, model, mutants)?;
        let mut out = BufWriter::new(file);
        if !text.ends_with('\n') {
            // What was cut off does not spoil the next line.
            writeln!(out).map_err(cannot)?;
        }
        Ok((Self { out }, known))
    }

    /// Writes a decision.
    pub fn add(&mut self, model: &Model, mutant: &Mutant, outcome: &MutantOutcome) -> Result<(), CliError> {
        writeln!(self.out, "{}", decision(model, mutant, outcome))?;
        self.out.flush()?;
        Ok(())
    }
}

/// A decision as a line.
pub fn decision(model: &Model, mutant: &Mutant, outcome: &MutantOutcome) -> Json {
    match outcome {
        MutantOutcome::Killed(trace) => {
            let test = TraceTest::new(&model.pool, &model.sts, String::new(), trace);
            json!({ "mutant": mutant.id, "outcome": "killed", "trace": test.trace })
        }
        outcome => {
            json!({ "mutant": mutant.id, "outcome": outcome_word(outcome), "reason": outcome.reason() })
        }
    }
}

/// Returns the word for an outcome in results and journals.
pub fn outcome_word(outcome: &MutantOutcome) -> &'static str {
    match outcome {
        MutantOutcome::Killed(_) => "killed",
        MutantOutcome::Equivalent(_) => "equivalent",
        MutantOutcome::Unknown(_) | MutantOutcome::OutOfTime => "unknown",
    }
}

/// Returns the outcomes that an earlier run wrote down; refuses a journal of other mutants.
fn decisions(
    path: &str,
    text: &str,
    header: &Json,
    model: &Model,
    mutants: &[Mutant],
) -> Result<Vec<Option<MutantOutcome>>, CliError> {
    let mut lines = text.lines();
    let first: Option<Json> = lines.next().and_then(|line| json::read(line).ok());
    if first.as_ref() != Some(header) {
        let what = match first.as_ref().and_then(|first| first.get("format")) {
            Some(format) if format == FORMAT => {
                "is of another model, other mutants, other settings or another version of the analysis"
            }
            _ => "is no record of `ioxide kill`",
        };
        return Err(CliError::usage(format!("`{path}` {what}"))
            .help("give the same model and flags, or another file name"));
    }
    let mut known = vec![None; mutants.len()];
    for entry in lines.filter_map(|line| json::read::<Json>(line).ok()) {
        let Some(id) = entry.get("mutant").and_then(Json::as_str) else { continue };
        let Some(at) = mutants.iter().position(|mutant| mutant.id == id) else { continue };
        known[at] = outcome(&entry, model);
    }
    Ok(known)
}

/// The decision of a line; nothing if it was left open or does not fit the model.
pub fn outcome(entry: &Json, model: &Model) -> Option<MutantOutcome> {
    match entry.get("outcome")?.as_str()? {
        "killed" => {
            let labels: Vec<SuiteLabel> = serde_json::from_value(entry.get("trace")?.clone()).ok()?;
            let trace: Trace = TraceTest { name: String::new(), trace: labels }.trace(model).ok()?;
            Some(MutantOutcome::Killed(trace))
        }
        "equivalent" => Some(MutantOutcome::Equivalent(entry.get("reason")?.as_str()?.to_owned())),
        _ => None,
    }
}
