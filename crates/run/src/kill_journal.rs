//! The journal of decided mutants: each decision is on disk as soon as it is made, so an interrupted analysis
//! continues.
//!
//! The first line says of which model and which settings the decisions are: a fingerprint of all
//! that an answer depends on, the version of the analysis included. Later lines are only ever
//! added, so nothing that was decided is lost when the program is killed; a last line that was cut
//! off is left out. Undecided mutants are decided again.

use std::collections::HashMap;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, BufWriter, Read, Write};
use std::path::Path;

use ioxide_model::sts::Model;
use ioxide_model::trace::Trace;
use ioxide_record::json;
use ioxide_testgen::kill::ANALYSIS_VERSION;
use ioxide_testgen::kill::fingerprint::fingerprint;
use ioxide_testgen::kill::outcome::MutantOutcome;
use ioxide_testgen::mutate::Mutant;
use serde_json::{Value as Json, json};
use thiserror::Error;

use crate::suite::{SuiteLabel, TraceTest};

/// The name of the format.
const FORMAT: &str = "ioxide-kill";

/// The reason why a journal cannot be used.
#[derive(Debug, Error)]
pub enum JournalError {
    /// It cannot be written.
    #[error("cannot write: {0}")]
    Write(io::Error),
    /// It cannot be read.
    #[error("cannot read: {0}")]
    Read(io::Error),
    /// Another process writes to it.
    #[error("another process is writing to it")]
    Locked,
    /// The file is something else.
    #[error("is not a record of `ioxide kill`")]
    NotAJournal,
    /// The journal has decisions of something else.
    #[error("is of another model, other mutants, other settings or another version of the analysis")]
    Foreign,
}

/// A journal being written.
pub struct Journal {
    out: BufWriter<File>,
}

impl Journal {
    /// Opens the journal at `path` and reads its decisions; `settings` must be those it was begun with.
    ///
    /// # Errors
    /// If it cannot be read or written, or is no journal of these mutants.
    pub fn open(
        path: &Path,
        model: &Model,
        mutants: &[Mutant],
        settings: &str,
    ) -> Result<(Self, Vec<Option<MutantOutcome>>), JournalError> {
        let header = json!({
            "format": FORMAT, "version": 1, "mutants": mutants.len(),
            "fingerprint": fingerprint(model, mutants, &[settings, &ANALYSIS_VERSION.to_string()]),
        });
        let cannot = JournalError::Write;
        let mut options = OpenOptions::new();
        let mut file = options.read(true).append(true).create(true).open(path).map_err(cannot)?;
        // On a file system without locks there is none to take.
        if let Err(TryLockError::WouldBlock) = file.try_lock() {
            return Err(JournalError::Locked);
        }
        let mut text = String::new();
        file.read_to_string(&mut text).map_err(JournalError::Read)?;
        // A first line that was cut off has no decision after it.
        let is_begun = text.contains('\n') || !header.to_string().starts_with(&text);
        if !is_begun {
            file.set_len(0).map_err(cannot)?;
            let mut out = BufWriter::new(file);
            writeln!(out, "{header}").and_then(|()| out.flush()).map_err(cannot)?;
            return Ok((Self { out }, vec![None; mutants.len()]));
        }
        let known = read_decisions(&text, &header, model, mutants)?;
        let mut out = BufWriter::new(file);
        if !text.ends_with('\n') {
            // What was cut off does not spoil the next line.
            writeln!(out).map_err(cannot)?;
        }
        Ok((Self { out }, known))
    }

    /// Writes a decision.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn add_decision(
        &mut self,
        model: &Model,
        mutant: &Mutant,
        outcome: &MutantOutcome,
    ) -> io::Result<()> {
        writeln!(self.out, "{}", decision_json(model, mutant, outcome))?;
        self.out.flush()
    }
}

/// Returns a decision as a line of the journal.
#[must_use]
pub fn decision_json(model: &Model, mutant: &Mutant, outcome: &MutantOutcome) -> Json {
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
#[must_use]
pub fn outcome_word(outcome: &MutantOutcome) -> &'static str {
    match outcome {
        MutantOutcome::Killed(_) => "killed",
        MutantOutcome::Equivalent(_) => "equivalent",
        MutantOutcome::Unknown(_) | MutantOutcome::OutOfTime => "unknown",
    }
}

/// Returns the outcomes that an earlier run wrote down; refuses a journal of other mutants.
fn read_decisions(
    text: &str,
    header: &Json,
    model: &Model,
    mutants: &[Mutant],
) -> Result<Vec<Option<MutantOutcome>>, JournalError> {
    let mut lines = text.lines();
    let first: Option<Json> = lines.next().and_then(|line| json::read(line).ok());
    if first.as_ref() != Some(header) {
        let format = first.as_ref().and_then(|first| first.get("format"));
        let is_journal = format.is_some_and(|format| format == FORMAT);
        return Err(if is_journal { JournalError::Foreign } else { JournalError::NotAJournal });
    }
    let positions: HashMap<&str, usize> =
        mutants.iter().enumerate().map(|(position, mutant)| (&*mutant.id, position)).collect();
    debug_assert_eq!(positions.len(), mutants.len(), "two mutants with one id");
    let mut known = vec![None; mutants.len()];
    for entry in lines.filter_map(|line| json::read::<Json>(line).ok()) {
        let Some(id) = entry.get("mutant").and_then(Json::as_str) else { continue };
        let Some(position) = positions.get(id) else { continue };
        // A mutant that was decided again counts with its last decision.
        known[*position] = read_decision(&entry, model);
    }
    Ok(known)
}

/// Returns the decision of a line; `None` if it was left open or does not fit the model.
#[must_use]
pub fn read_decision(entry: &Json, model: &Model) -> Option<MutantOutcome> {
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
