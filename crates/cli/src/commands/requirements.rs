//! `ioxide requirements`: which requirements recorded runs cover, and which transitions trace to none.

use std::io::{self, Write};
use std::path::Path;

use ioxide_args::RequirementsArgs;
use ioxide_record::event::{EventKind, RequirementNote};
use ioxide_report::requirements::{RequirementRow, RequirementStatus, RequirementTable};
use ioxide_report::summary::Summary;
use ioxide_report::summary::lines::{list_names, plural};
use ioxide_run::requirements::requirement_notes;
use serde_json::{Value as Json, json};

use crate::exit::{self, CliError, ExitStatus};
use crate::{load, record};

/// Shows the table.
pub fn run(args: &RequirementsArgs) -> Result<ExitStatus, CliError> {
    let (_, model) = load::load_model(&args.model.file, &args.model.settings())?;
    let notes = requirement_notes(&model.sts);
    if notes.is_empty() {
        let text = format!("`{}` names no requirement", args.model.file);
        return Err(CliError::new(ExitStatus::Nothing, text)
            .help("write `@req(\"R-1\")` before a transition, a state, a test, a purpose or a property"));
    }
    let switches: Vec<String> = model.sts.switches.iter().map(|switch| switch.label.to_string()).collect();
    let coverage = CoverageOfRecords::read(&args.runs, &notes, &switches)?;
    let mut out = io::stdout().lock();
    let told = if args.json {
        writeln!(out, "{}", coverage.to_json())
    } else if args.csv {
        coverage.write_csv(&mut out)
    } else {
        coverage.write_text(&mut out)
    };
    let status = if args.runs.is_empty() { ExitStatus::Success } else { coverage.status() };
    exit::status_after_output(status, told)
}

/// The requirements of a model against the runs of several records.
struct CoverageOfRecords {
    all: RequirementTable,
    /// Every record with what its own runs cover.
    records: Vec<(String, RequirementTable)>,
}

impl CoverageOfRecords {
    /// Reads the records, and counts their runs by the requirements of the model as it is now.
    fn read(paths: &[String], notes: &[RequirementNote], switches: &[String]) -> Result<Self, CliError> {
        let mut all = RequirementTable::new(notes, switches);
        let mut records = Vec::new();
        for path in record_paths(paths)? {
            let mut summary = Summary::default();
            record::each_event(&path, |event| {
                summary.add_event(event);
                // The requirements of the model as it is now: those of the record may be older.
                if matches!(event.event, EventKind::CampaignStarted(_)) {
                    summary.requirements = RequirementTable::new(notes, switches).with_all_runs();
                }
                Ok(())
            })?;
            all.add_table(&summary.requirements);
            records.push((path, summary.requirements));
        }
        Ok(Self { all, records })
    }

    /// Returns the exit status: a failure if a requirement was in one, success if all are met.
    fn status(&self) -> ExitStatus {
        let statuses: Vec<RequirementStatus> = self.all.rows().iter().map(RequirementRow::status).collect();
        let is_met = |status: &RequirementStatus| {
            matches!(status, RequirementStatus::Covered | RequirementStatus::PropertyOnly)
        };
        match () {
            () if statuses.contains(&RequirementStatus::InFailure) => ExitStatus::Failure,
            () if statuses.iter().all(is_met) => ExitStatus::Success,
            () => ExitStatus::Inconclusive,
        }
    }

    /// Returns the records with runs that cover the requirement at a position, each with the row of its table.
    fn records_of(&self, at: usize) -> impl Iterator<Item = (&str, &RequirementRow)> {
        let rows = self.records.iter().map(move |(path, table)| (&**path, &table.rows()[at]));
        rows.filter(|(_, row)| row.runs > 0)
    }

    fn write_text(&self, out: &mut impl Write) -> io::Result<()> {
        let width = self.all.rows().iter().map(|row| row.note.name.chars().count()).max().unwrap_or(0);
        for (at, row) in self.all.rows().iter().enumerate() {
            writeln!(out, "{:width$}  {}", row.note.name, row.status_text())?;
            let mut line = |head: &str, names: &[String]| match names {
                [] => Ok(()),
                _ => writeln!(out, "{:width$}    {head}: {}", "", list_names(names)),
            };
            let items: Vec<String> = row.note.switches.iter().chain(&row.note.goals).cloned().collect();
            let (covered, missing): (Vec<String>, Vec<String>) =
                items.into_iter().partition(|name| row.covered.contains(name));
            line("covered", &covered)?;
            line("not covered", &missing)?;
            line("decided by `check --deep`", &row.note.properties)?;
            let runs: Vec<String> =
                self.records_of(at).map(|(path, own)| format!("{path} {}", own.runs_text())).collect();
            line("runs", &runs)?;
            if row.failures > 0 {
                line("contradicted by", &[plural(row.failures, "failing run")])?;
            }
        }
        if !self.all.list_untraced().is_empty() {
            writeln!(out, "transitions without a requirement: {}", list_names(self.all.list_untraced()))?;
        }
        if self.records.is_empty() {
            return Ok(());
        }
        self.all.line().map_or(Ok(()), |line| writeln!(out, "{line}"))
    }

    fn write_csv(&self, out: &mut impl Write) -> io::Result<()> {
        writeln!(out, "requirement,status,covered,items,runs,failures,transitions,goals,properties,records")?;
        for (at, row) in self.all.rows().iter().enumerate() {
            let records: Vec<String> =
                self.records_of(at).map(|(path, own)| format!("{path} {}", own.runs_text())).collect();
            let cells = [
                row.note.name.clone(),
                row.status().word().to_owned(),
                row.n_covered().to_string(),
                row.n_items().to_string(),
                row.runs.to_string(),
                row.failures.to_string(),
                row.note.switches.join("; "),
                row.note.goals.join("; "),
                row.note.properties.join("; "),
                records.join("; "),
            ];
            writeln!(out, "{}", cells.map(|cell| csv_cell(&cell)).join(","))?;
        }
        let untraced = self.all.list_untraced().join("; ");
        if !untraced.is_empty() {
            writeln!(out, ",no requirement,,,,,{},,,", csv_cell(&untraced))?;
        }
        Ok(())
    }

    fn to_json(&self) -> Json {
        let rows: Vec<Json> = (0..).zip(self.all.rows()).map(|(at, row)| self.row_json(at, row)).collect();
        json!({ "version": 1, "requirements": rows, "untraced": self.all.list_untraced() })
    }

    fn row_json(&self, at: usize, row: &RequirementRow) -> Json {
        let records: Vec<Json> = self
            .records_of(at)
            .map(|(path, own)| json!({ "record": path, "runs": own.runs, "run_numbers": own.stretches }))
            .collect();
        json!({
            "requirement": row.note.name,
            "status": row.status(),
            "transitions": row.note.switches,
            "goals": row.note.goals,
            "properties": row.note.properties,
            "covered": row.covered,
            "runs": row.runs,
            "failures": row.failures,
            "records": records,
        })
    }
}

/// Returns the records at `paths`, all those of a folder.
fn record_paths(paths: &[String]) -> Result<Vec<String>, CliError> {
    let mut found = Vec::new();
    for path in paths {
        if !Path::new(path).is_dir() {
            found.push(path.clone());
            continue;
        }
        let records = record::all_in(path);
        if records.is_empty() {
            return Err(CliError::usage(format!("there is no record in `{path}`"))
                .help("records are written by `ioxide test --report DIR`"));
        }
        found.extend(records.iter().map(|file| file.display().to_string()));
    }
    Ok(found)
}

/// Returns a cell of comma-separated values (RFC 4180).
fn csv_cell(text: &str) -> String {
    // A cell that begins like a formula would be one in a spreadsheet.
    let text = if text.starts_with(['=', '+', '-', '@']) { format!("'{text}") } else { text.to_owned() };
    if text.contains([',', '"', '\n', '\r']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text }
}
