//! `ioxide bench faults` in parts: every planted fault, a row of the table, is a unit.
//!
//! Steps are counted, which are the same on every machine; the seconds of a row are those of the machine that took it.

use std::sync::atomic::Ordering;

use ioxide_args::{BenchArgs, MergeArgs};
use ioxide_campaign::gather::GatheredParts;
use ioxide_campaign::part::{EndOfPart, PartWriter};
use ioxide_campaign::plan::UnitNames;
use ioxide_campaign::units::UnitSet;
use ioxide_cli::exit::{CliError, ExitStatus};
use ioxide_cli::interrupt::STOP;
use ioxide_cli::progress::ProgressLine;
use ioxide_cli::unit_command::{self, PartEnd, UnitCommand};
use serde_json::{Value as Json, json};

use super::corpus::{self, Fault};
use super::{FaultRow, FaultsMode, Rows, measure_fault, modes, show_rows};

/// Shows the plan, or measures some of the rows.
pub fn measure_part(args: &BenchArgs) -> Result<ExitStatus, CliError> {
    unit_command::refuse_option(args.json, "--json")?;
    unit_command::no_rounds(
        &args.part,
        "the result for one fault says nothing of another",
        "leave `--rounds` out: all rows are taken at once",
    )?;
    let mut rows =
        FaultRows { args, faults: corpus::read_faults(args.only.as_deref())?, modes: modes(args)? };
    let depends_on: Vec<String> = rows.faults.iter().flat_map(Fault::files).collect();
    let depends_on: Vec<&str> = depends_on.iter().map(String::as_str).collect();
    unit_command::run_units(&args.part, unit_command::depends_on(&[], &depends_on), &mut rows)
}

struct FaultRows<'a> {
    args: &'a BenchArgs,
    faults: Vec<Fault>,
    modes: Vec<FaultsMode>,
}

impl UnitCommand for FaultRows<'_> {
    fn names(&self) -> UnitNames {
        UnitNames::Listed(self.faults.iter().map(|fault| fault.name.clone()).collect())
    }

    fn do_units(
        &mut self,
        names: &UnitNames,
        units: &UnitSet,
        part: &mut PartWriter,
    ) -> Result<PartEnd, CliError> {
        let mut progress = ProgressLine::start();
        for unit in units.iter() {
            let Some(fault) = self.faults.get(unit as usize) else { continue };
            part.begin_unit(unit, &names.name(unit))?;
            let (rows, correct_fails) = measure_fault(self.args, fault, &self.modes, &mut progress)?;
            if STOP.load(Ordering::Relaxed) {
                return Ok(PartEnd { end: EndOfPart::Stopped, status: ExitStatus::Interrupted });
            }
            let row = |row: &FaultRow| json!({ "tester": row.mode.name(), "steps": row.steps, "seconds": row.seconds });
            let rows: Vec<Json> = rows.iter().map(row).collect();
            let result = json!({ "rows": rows, "correct_fails": correct_fails });
            part.write_done(unit, &names.name(unit), false, &result)?;
        }
        Ok(PartEnd { end: EndOfPart::All, status: ExitStatus::Success })
    }
}

/// Merges rows into the table.
pub fn merge_rows(
    args: &BenchArgs,
    parts: &mut GatheredParts,
    merge_args: &MergeArgs,
) -> Result<ExitStatus, CliError> {
    let args = BenchArgs { json: merge_args.json, ..args.clone() };
    let modes = modes(&args)?;
    let mut all = Vec::new();
    for (at, fault) in corpus::read_faults(args.only.as_deref())?.into_iter().enumerate() {
        let Some(text) = parts.unit(at as u64)? else { continue };
        let misfit = || {
            CliError::usage(format!("what is told of fault `{}` does not fit", fault.name))
                .help("delete its part and run it again")
        };
        let read = |mode: FaultsMode| {
            let rows = text.result["rows"].as_array()?;
            let row = rows.iter().find(|row| row["tester"] == mode.name())?;
            let steps = serde_json::from_value(row["steps"].clone()).ok()?;
            Some(FaultRow { mode, steps, seconds: row["seconds"].as_f64()? })
        };
        let rows =
            modes.iter().map(|&mode| read(mode)).collect::<Option<Vec<FaultRow>>>().ok_or_else(misfit)?;
        let correct_fails = text.result["correct_fails"].as_u64().ok_or_else(misfit)? as usize;
        all.push(Rows { fault, rows, correct_fails });
    }
    let status = show_rows(&args, &modes, &all)?;
    Ok(if parts.missing.is_empty() { status } else { ExitStatus::Inconclusive })
}
