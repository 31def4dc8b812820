//! Decisions on disk, as they are made: an interrupted analysis goes on where it was.
//!
//! The first line says of which model and which settings the decisions are: a fingerprint of all
//! that an answer depends on, the version of the analysis included. Later lines are only ever
//! added, so nothing that was decided is lost when the program is killed; a last line that was cut
//! off is left out. Undecided mutants are decided again.

use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Read, Write};

use ioxide_record::json;
use ioxide_run::suite::{SuiteLabel, TraceTest};

use crate::commands::mutate::text_after;
use ioxide_model::sts::Model;
use ioxide_model::term::VarId;
use ioxide_model::trace::Trace;
use ioxide_testgen::kill::ANALYSIS_VERSION;
use ioxide_testgen::mutate::{Mutant, show_switch};
use serde_json::{Value as Json, json};

use super::workers::MutantOutcome;
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
        MutantOutcome::Equivalent(reason) => {
            json!({ "mutant": mutant.id, "outcome": "equivalent", "reason": reason })
        }
        MutantOutcome::Unknown(reason) => {
            json!({ "mutant": mutant.id, "outcome": "unknown", "reason": reason })
        }
    }
}

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

/// Returns a hash in sixteen hexadecimal digits (FNV-1a) of all that the decisions depend on: the declarations with
/// their ranges and initial values (`--set` is in them), every switch, every change, the settings, the version of the
/// analysis.
fn fingerprint(model: &Model, mutants: &[Mutant], fixed: &[&str]) -> String {
    let switches = model.sts.switches.iter().map(|switch| show_switch(model, switch));
    let changes = mutants.iter().map(|mutant| {
        let edits = mutant.edits.iter().map(|edit| text_after(model, edit));
        format!("{} {}", mutant.id, edits.collect::<Vec<_>>().join(" "))
    });
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let fixed = fixed.iter().map(|&text| text.to_owned());
    for text in declarations(model).into_iter().chain(switches).chain(changes).chain(fixed) {
        for byte in text.bytes().chain([b'\n']) {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
    format!("{hash:016x}")
}

/// Returns the declarations of a model, switches apart, one text each.
fn declarations(model: &Model) -> Vec<String> {
    let Model { pool, sts } = model;
    let var = |var: VarId| format!("{}: {:?}", pool.var_info(var).name, pool.var_info(var).sort);
    let start = format!("start {}", sts.locations[sts.initial].name);
    let locations = sts.locations.iter().map(|location| format!("state {}", location.name));
    let vars = sts.vars.iter().map(|it| {
        let init = it.init.map_or_else(|| "unknown".to_owned(), |init| pool.show(init).to_string());
        format!("var {} = {init}", var(it.var))
    });
    let clocks = sts.clocks.iter().map(|clock| format!("clock {}", var(clock.var)));
    let gates = sts.gates.iter().map(|gate| {
        let fields: Vec<String> = gate.fields.iter().map(|&field| var(field)).collect();
        format!("{:?} {}({})", gate.kind, gate.name, fields.join(", "))
    });
    let types = pool.data_types().map(|data| format!("{data:?}"));
    [start].into_iter().chain(locations).chain(vars).chain(clocks).chain(gates).chain(types).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ioxide_lang::{LoadOptions, load};
    use ioxide_model::source::Sources;

    /// A journal of another version of the analysis, or of other settings, is another journal.
    #[test]
    fn the_version_of_the_analysis_is_in_the_fingerprint() {
        let mut sources = Sources::new();
        let file = sources.add("m.iox", "model M { input a state s { on a } }");
        let model = load(&sources, file, &LoadOptions::default()).model.expect("a model");
        let print = |fixed: &[&str]| fingerprint(&model, &[], fixed);
        assert_eq!(print(&["ioco", "1"]), print(&["ioco", "1"]));
        assert_ne!(print(&["ioco", "1"]), print(&["ioco", "2"]));
        assert_ne!(print(&["ioco", "1"]), print(&["uioco", "1"]));
    }
}
