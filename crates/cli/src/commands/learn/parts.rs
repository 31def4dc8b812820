//! `ioxide learn` in parts: a session is one unit.
//!
//! The next question depends on the last answer, so a session cannot be shared out among machines; within it `--jobs`
//! asks copies of the system at the same time. As a unit it can be sent to another machine, and is done again if that
//! is lost.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use ioxide_args::{DraftFormat, LearnArgs, MergeArgs};
use ioxide_campaign::gather::GatheredParts;
use ioxide_campaign::part::{EndOfPart, PartWriter, SystemFacts};
use ioxide_campaign::plan::UnitNames;
use ioxide_campaign::units::UnitSet;
use serde_json::{Value as Json, json};

use super::output::LearnedReport;
use crate::exit::{self, CliError, ExitStatus};
use crate::interrupt::STOP;
use crate::unit_command::{self, PartEnd, UnitCommand};
use crate::{identity, load, redaction, write};

/// The file in which the session keeps its result until the unit is done.
const LEARNED: &str = "learned.json";

/// Shows the plan of one unit, or does it.
pub fn learn_part(args: &LearnArgs) -> Result<ExitStatus, CliError> {
    unit_command::refuse_option(args.out.is_some(), "--out")?;
    unit_command::no_rounds(
        &args.part,
        "a session continues until it has learned the system",
        "leave `--rounds` out; `--session FILE` continues from the answers it holds",
    )?;
    if args.seed.is_none() {
        return Err(CliError::usage("a plan needs a seed: without one every try would ask in another order")
            .help("add `--seed 1`"));
    }
    let (sources, _) = load::load_model(&args.model.file, &args.model.settings())?;
    let named = args.traces.iter().chain(&args.from).chain(&args.reference).chain(&args.inputs_file);
    let played = args.sut.iter().filter_map(|sut| unit_command::played_model(sut));
    let files: Vec<&str> = named.map(String::as_str).chain(played).collect();
    let depends_on = unit_command::depends_on(&[&sources], &files);
    unit_command::run_units(&args.part, depends_on, &mut SessionUnit { args })
}

struct SessionUnit<'a> {
    args: &'a LearnArgs,
}

impl UnitCommand for SessionUnit<'_> {
    fn names(&self) -> UnitNames {
        UnitNames::Listed(vec!["session".to_owned()])
    }

    fn more(&self, _unit: u64) -> Json {
        json!({ "seed": self.args.seed })
    }

    fn system(&self) -> Result<Option<SystemFacts>, CliError> {
        let settings = self.args.model.settings();
        self.args.sut.as_ref().map_or(Ok(None), |sut| identity::facts(sut, &settings))
    }

    fn do_units(
        &mut self,
        names: &UnitNames,
        units: &UnitSet,
        part: &mut PartWriter,
    ) -> Result<PartEnd, CliError> {
        let Some(unit) = units.iter().next() else {
            return Ok(PartEnd { end: EndOfPart::All, status: ExitStatus::Success });
        };
        part.begin_unit(unit, &names.name(unit))?;
        let status = match super::run_session(self.args) {
            Err(stop) if stop.status() == ExitStatus::Infrastructure => {
                eprintln!("error: {}", stop.message());
                part.write_missing(unit, &names.name(unit), stop.message())?;
                return Ok(PartEnd { end: EndOfPart::Trouble, status: stop.status() });
            }
            told => told?,
        };
        if STOP.load(Ordering::Relaxed) {
            return Ok(PartEnd { end: EndOfPart::Stopped, status: ExitStatus::Interrupted });
        }
        let path = result_path(self.args);
        let text = fs::read_to_string(&path).map_err(|error| write::write_error(&path, &error))?;
        let mut result: Json = serde_json::from_str(&text).map_err(io::Error::other)?;
        result["exit"] = json!(status as i32);
        part.write_done(unit, &names.name(unit), false, &result)?;
        // The unit has it now.
        fs::remove_file(&path).map_err(|error| write::write_error(&path, &error))?;
        Ok(PartEnd { end: EndOfPart::All, status })
    }
}

fn result_path(args: &LearnArgs) -> PathBuf {
    Path::new(args.part.part.as_deref().unwrap_or_default()).join(LEARNED)
}

/// Keeps the model and the report for the unit.
pub fn keep_result(args: &LearnArgs, text: &str, report: &LearnedReport) -> Result<(), CliError> {
    let (lines, report) = (report.origin.lines(), report.to_json(&name(args)));
    let kept = json!({ "model": text, "said": lines, "json": report });
    let path = result_path(args);
    write::write_named(&path.display().to_string(), |out| writeln!(out, "{kept}"))
}

/// The file of the model.
fn name(args: &LearnArgs) -> String {
    match args.format {
        DraftFormat::Iox => "learned.iox".to_owned(),
        DraftFormat::Dot => "learned.dot".to_owned(),
    }
}

/// Writes the model that was learned, and says what `learn` says.
pub fn merge_learned(
    args: &LearnArgs,
    parts: &mut GatheredParts,
    merge_args: &MergeArgs,
) -> Result<ExitStatus, CliError> {
    let Some(text) = parts.unit(0)? else {
        return Err(CliError::new(ExitStatus::Inconclusive, "the session is not done")
            .help("run it again: the same command continues"));
    };
    let misfit = || {
        CliError::usage("the result of the session cannot be read").help("delete its part and run it again")
    };
    let model = text.result["model"].as_str().ok_or_else(misfit)?;
    let said = text.result["said"].as_array().ok_or_else(misfit)?;
    let path = Path::new(&merge_args.out).join(name(args));
    fs::create_dir_all(&merge_args.out)
        .map_err(|error| write::write_error(Path::new(&merge_args.out), &error))?;
    write::write_named(&path.display().to_string(), |out| out.write_all(model.as_bytes()))?;
    let mut out = redaction::stdout();
    let shown = if merge_args.json {
        let mut told = text.result["json"].clone();
        told["out"] = json!(path.display().to_string());
        if let Some(dated) = &merge_args.dated {
            told["dated"] = json!(dated);
        }
        writeln!(out, "{told}")
    } else {
        said.iter().filter_map(Json::as_str).try_for_each(|line| writeln!(out, "{line}"))
    };
    eprintln!("model: {}", path.display());
    let is_whole = text.result["exit"] == json!(ExitStatus::Success as i32);
    exit::status_after_output(if is_whole { ExitStatus::Success } else { ExitStatus::Inconclusive }, shown)
}
