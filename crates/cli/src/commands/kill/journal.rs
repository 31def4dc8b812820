//! Decisions on disk, as they are made: an interrupted analysis goes on where it was.
//!
//! The first line says of which model and which settings the decisions are. A last line that
//! was cut off is left out. Undecided mutants are decided again.

use std::fs::{File, OpenOptions};
use std::io::{BufWriter, Write};

use ioxide_model::sts::Model;
use ioxide_model::trace::Trace;
use ioxide_runner::suite::{SuiteLabel, TraceTest};
use ioxide_testgen::mutate::{Mutant, show_switch};
use serde_json::{Value as Json, json};

use super::workers::Outcome;
use crate::exit::Stop;

/// The name of the format.
const FORMAT: &str = "ioxide-kill";

/// A journal being written.
pub struct Journal {
    out: BufWriter<File>,
}

impl Journal {
    /// Opens the journal at `path` and reads what was decided; `settings` must be those it was begun with.
    pub fn open(
        path: &str,
        model: &Model,
        mutants: &[Mutant],
        settings: &str,
    ) -> Result<(Self, Vec<Option<Outcome>>), Stop> {
        let header = json!({
            "format": FORMAT, "version": 1, "mutants": mutants.len(),
            "fingerprint": fingerprint(model, mutants, settings),
        });
        let cannot = |error: std::io::Error| Stop::usage(format!("cannot write `{path}`: {error}"));
        let known = match std::fs::read_to_string(path) {
            Ok(text) if !text.is_empty() => read(path, &text, &header, model, mutants)?,
            _ => vec![None; mutants.len()],
        };
        // Written anew, so that a line that was cut off does not spoil the next one.
        let mut journal = Self { out: BufWriter::new(fresh(path).map_err(cannot)?) };
        writeln!(journal.out, "{header}").map_err(cannot)?;
        for (at, outcome) in known.iter().enumerate() {
            if let Some(outcome) = outcome {
                journal.add(model, &mutants[at], outcome)?;
            }
        }
        journal.out.flush().map_err(cannot)?;
        Ok((journal, known))
    }

    /// Writes a decision.
    pub fn add(&mut self, model: &Model, mutant: &Mutant, outcome: &Outcome) -> Result<(), Stop> {
        let line = match outcome {
            Outcome::Killed(trace) => {
                let test = TraceTest::new(&model.pool, &model.sts, String::new(), trace);
                json!({ "mutant": mutant.id, "outcome": "killed", "trace": test.trace })
            }
            Outcome::Equivalent(reason) => {
                json!({ "mutant": mutant.id, "outcome": "equivalent", "reason": reason })
            }
            Outcome::Unknown(reason) => {
                json!({ "mutant": mutant.id, "outcome": "unknown", "reason": reason })
            }
        };
        writeln!(self.out, "{line}")?;
        self.out.flush()?;
        Ok(())
    }
}

fn fresh(path: &str) -> std::io::Result<File> {
    OpenOptions::new().write(true).create(true).truncate(true).open(path)
}

fn read(
    path: &str,
    text: &str,
    header: &Json,
    model: &Model,
    mutants: &[Mutant],
) -> Result<Vec<Option<Outcome>>, Stop> {
    let mut lines = text.lines();
    let first: Option<Json> = lines.next().and_then(|line| serde_json::from_str(line).ok());
    if first.as_ref() != Some(header) {
        let what = match first.as_ref().and_then(|first| first.get("format")) {
            Some(format) if format == FORMAT => "is of another model, other mutants or other settings",
            _ => "is no record of `ioxide kill`",
        };
        return Err(Stop::usage(format!("`{path}` {what}"))
            .help("give the same model and flags, or another file name"));
    }
    let mut known = vec![None; mutants.len()];
    for entry in lines.filter_map(|line| serde_json::from_str::<Json>(line).ok()) {
        let Some(id) = entry.get("mutant").and_then(Json::as_str) else { continue };
        let Some(at) = mutants.iter().position(|mutant| mutant.id == id) else { continue };
        known[at] = outcome(&entry, model);
    }
    Ok(known)
}

/// The decision of a line; nothing if it was left open or does not fit the model.
fn outcome(entry: &Json, model: &Model) -> Option<Outcome> {
    match entry.get("outcome")?.as_str()? {
        "killed" => {
            let labels: Vec<SuiteLabel> = serde_json::from_value(entry.get("trace")?.clone()).ok()?;
            let trace: Trace = TraceTest { name: String::new(), trace: labels }.trace(model).ok()?;
            Some(Outcome::Killed(trace))
        }
        "equivalent" => Some(Outcome::Equivalent(entry.get("reason")?.as_str()?.to_owned())),
        _ => None,
    }
}

/// What the decisions depend on, in sixteen digits (FNV-1a).
fn fingerprint(model: &Model, mutants: &[Mutant], settings: &str) -> String {
    let switches = model.sts.switches.iter().map(|switch| show_switch(model, switch));
    let changes = mutants.iter().map(|mutant| {
        let edits = mutant.edits.iter().map(|edit| show_switch(model, &edit.after));
        format!("{} {}", mutant.id, edits.collect::<Vec<_>>().join(" "))
    });
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for text in switches.chain(changes).chain([settings.to_owned()]) {
        for byte in text.bytes().chain([b'\n']) {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
    format!("{hash:016x}")
}
