//! `ioxide conform` over a folder: does every model in it do only what another allows? Every model is a unit.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use ioxide_args::{ConformArgs, MergeArgs};
use ioxide_campaign::gather::GatheredParts;
use ioxide_campaign::part::{EndOfPart, PartWriter};
use ioxide_campaign::plan::UnitNames;
use ioxide_campaign::units::UnitSet;
use ioxide_campaign::whole_file::{FileReaders, write_whole};
use ioxide_smt::halt::Halted;
use ioxide_testgen::conform::import::join;
use serde_json::{Value as Json, json};

use super::{compare_models, mismatch, options, show_conformance, verdict_json};
use crate::exit::{self, CliError, ExitStatus};
use crate::progress::ProgressLine;
use crate::solver::SolverRequest;
use crate::unit_command::{self, PartEnd, UnitCommand};
use crate::{limit, load, write};

/// Compares every model of the folder, or shows the plan, or does a part of it.
pub fn compare_set(args: &ConformArgs) -> Result<ExitStatus, CliError> {
    if args.all.is_some() {
        return Err(
            CliError::usage("`--all` lists the differences of one model").help("name a file, not a folder")
        );
    }
    let files = list_models(&args.implementation)?;
    let mut set =
        ModelSet { args, files, request: SolverRequest::new(&args.solver, limit::halt(&args.limit)) };
    if args.part.is_planned() {
        unit_command::refuse_option(args.json, "--json")?;
        unit_command::no_rounds(
            &args.part,
            "the result for one model does not help with another",
            "leave `--rounds` out: all models are compared at once",
        )?;
        let paths: Vec<String> = set.files.iter().map(|name| set.model_path(name)).collect();
        let texts: Vec<&str> =
            paths.iter().map(String::as_str).chain([args.specification.as_str()]).collect();
        return unit_command::run_units(&args.part, unit_command::depends_on(&[], &texts), &mut set);
    }
    let mut progress = ProgressLine::start();
    let mut results = Vec::new();
    for name in &set.files {
        progress.tick(|| format!("{} of {} models compared", results.len(), set.files.len()));
        match set.compare_model(name)? {
            Some(result) => results.push(result),
            None => break,
        }
    }
    let is_whole = results.len() == set.files.len();
    let status = show_answers(&results, args.json)?;
    Ok(if is_whole {
        status
    } else {
        limit::halted_status(&set.request.halt, worse(status, ExitStatus::Inconclusive))
    })
}

/// The models in `folder`, by name.
fn list_models(folder: &str) -> Result<Vec<String>, CliError> {
    let cannot = |error: io::Error| {
        CliError::usage(format!("`{folder}`: {error}"))
            .help("in parts, IMPL is a folder with the models to compare")
    };
    // Every format that `conform` reads, but for tables of names in `.txt`: in a folder most of these are notes.
    let is_model = |path: &PathBuf| {
        path.is_file()
            && path.extension().is_some_and(|extension| extension != "txt")
            && path.to_str().is_some_and(ioxide_lang::is_model)
    };
    let entries = fs::read_dir(folder).map_err(cannot)?.flatten().map(|entry| entry.path());
    let name = |path: PathBuf| path.file_name().map(|name| name.to_string_lossy().into_owned());
    let mut names: Vec<String> = entries.filter(is_model).filter_map(name).collect();
    names.sort();
    if names.is_empty() {
        Err(CliError::new(ExitStatus::Nothing, format!("nothing to compare: `{folder}` has no models")).help(
            "`ioxide check --help` names the file endings of models; `.txt` files are left out in a folder",
        ))
    } else {
        Ok(names)
    }
}

struct ModelSet<'a> {
    args: &'a ConformArgs,
    files: Vec<String>,
    request: SolverRequest<'a>,
}

impl ModelSet<'_> {
    fn model_path(&self, name: &str) -> String {
        Path::new(&self.args.implementation).join(name).display().to_string()
    }

    /// The answer about one model; nothing if there was no time for it.
    fn compare_model(&self, name: &str) -> Result<Option<Json>, CliError> {
        let Self { args, request: wanted, .. } = self;
        if wanted.halt.halt_reason().is_some() {
            return Ok(None);
        }
        let path = self.model_path(name);
        let result = |conforms: Json, answer: Json, text: String| {
            let file = name;
            json!({ "file": file, "conforms": conforms, "answer": answer, "text": text })
        };
        let incomparable = |stop: CliError| {
            let why = stop.message();
            result(json!("error"), json!({ "reason": why }), format!("ERROR: `{path}`: {why}\n"))
        };
        let (_, mut spec) = load::load_model(&args.specification, &args.settings())?;
        // A model that does not compile, or has other messages, is one answer among others.
        let loaded = load::load_model(&path, &args.settings()).map(|(_, imp)| imp);
        let joined = loaded.and_then(|imp| join(&mut spec, &imp).map_err(mismatch));
        let imp = match joined {
            Ok(imp) => imp,
            Err(stop) => return Ok(Some(incomparable(stop))),
        };
        let options = options(&spec, args);
        let verdict = match compare_models(&mut spec, &imp, &options, wanted) {
            Ok(verdict) => verdict,
            Err(stop) if stop.status() == ExitStatus::Usage => return Ok(Some(incomparable(stop))),
            Err(stop) => return Err(stop),
        };
        if let (
            Some(Halted::Time | Halted::Interrupted),
            ioxide_testgen::conform::ConformAnswer::Unknown(_),
        ) = (wanted.halt.halt_reason(), &verdict.answer)
        {
            return Ok(None);
        }
        let named = ConformArgs { implementation: path.clone(), ..copy_args(args) };
        let answer = verdict_json(&spec, &verdict, &named);
        let (mut text, mut solver) = (Vec::new(), wanted.make()?);
        show_conformance(&mut text, &mut spec, &mut *solver, &verdict, &named)?;
        let conforms = answer.get("conforms").cloned().unwrap_or_default();
        Ok(Some(result(conforms, answer, String::from_utf8_lossy(&text).into_owned())))
    }
}

/// Returns a copy of the arguments.
fn copy_args(args: &ConformArgs) -> ConformArgs {
    ConformArgs {
        implementation: args.implementation.clone(),
        specification: args.specification.clone(),
        set: args.set.clone(),
        through: args.through.clone(),
        solver: args.solver.clone(),
        limit: args.limit.clone(),
        part: args.part.clone(),
        ..*args
    }
}

impl UnitCommand for ModelSet<'_> {
    fn names(&self) -> UnitNames {
        UnitNames::Listed(self.files.clone())
    }

    fn do_units(
        &mut self,
        names: &UnitNames,
        units: &UnitSet,
        part: &mut PartWriter,
    ) -> Result<PartEnd, CliError> {
        let mut status = ExitStatus::Success;
        let mut progress = ProgressLine::start();
        for (done, unit) in units.iter().enumerate() {
            progress.tick(|| format!("{done} of {} models compared", units.len()));
            let name = names.name(unit);
            part.begin_unit(unit, &name)?;
            let Some(result) = self.compare_model(&name)? else {
                let stopped =
                    limit::halted_status(&self.request.halt, worse(status, ExitStatus::Inconclusive));
                return Ok(PartEnd { end: EndOfPart::Stopped, status: stopped });
            };
            status = worse(status, status_of(&result));
            part.write_done(unit, &name, false, &result)?;
        }
        Ok(PartEnd { end: EndOfPart::All, status })
    }
}

/// The exit status of one answer.
fn status_of(result: &Json) -> ExitStatus {
    match result.get("conforms") {
        Some(Json::Bool(true)) => ExitStatus::Success,
        Some(Json::Bool(false)) => ExitStatus::Failure,
        Some(Json::String(word)) if word == "error" => ExitStatus::Model,
        _ => ExitStatus::Inconclusive,
    }
}

/// Returns the status of two answers together: a failure counts most, then a model that cannot be read.
fn worse(one: ExitStatus, other: ExitStatus) -> ExitStatus {
    let order = [ExitStatus::Failure, ExitStatus::Model, ExitStatus::Inconclusive];
    order.into_iter().find(|status| [one, other].contains(status)).unwrap_or(ExitStatus::Success)
}

/// Shows answers, in the order of their names.
fn show_answers(results: &[Json], is_json: bool) -> Result<ExitStatus, CliError> {
    let status = results.iter().map(status_of).fold(ExitStatus::Success, worse);
    let count = |wanted: ExitStatus| results.iter().filter(|result| status_of(result) == wanted).count();
    let conforming = count(ExitStatus::Success);
    let (failing, unknown, broken) =
        (count(ExitStatus::Failure), count(ExitStatus::Inconclusive), count(ExitStatus::Model));
    let mut out = io::stdout().lock();
    let write = |out: &mut dyn Write| {
        if is_json {
            let answers: Vec<Json> = results
                .iter()
                .map(|it| json!({ "file": it["file"], "conforms": it["conforms"], "answer": it["answer"] }))
                .collect();
            return writeln!(
                out,
                "{}",
                json!({
                    "version": 1, "models": results.len(), "conforming": conforming, "failing": failing,
                    "unknown": unknown, "errors": broken, "results": answers,
                })
            );
        }
        for result in results {
            write!(out, "{}", result["text"].as_str().unwrap_or_default())?;
        }
        let n = results.len();
        writeln!(
            out,
            "{n} models: {conforming} conform, {failing} do not, {unknown} unknown, {broken} cannot be compared"
        )
    };
    let shown = write(&mut out);
    exit::status_after_output(status, shown)
}

/// Puts answers together: what `conform` says of the whole folder, and its JSON in a file.
pub fn merge_answers(parts: &mut GatheredParts, merge_args: &MergeArgs) -> Result<ExitStatus, CliError> {
    let dir = Path::new(&merge_args.out);
    fs::create_dir_all(dir).map_err(|error| write::write_error(dir, &error))?;
    let (mut results, mut missing) = (Vec::new(), 0);
    for unit in 0..parts.manifest.count {
        match parts.unit(unit)? {
            Some(text) => results.push(text.result),
            None => missing += 1,
        }
    }
    let file = dir.join("conform.json");
    let all = json!({ "version": 1, "results": results });
    let written = write_whole(&file, FileReaders::Usual, |out| writeln!(out, "{all}"));
    written.map_err(|error| write::write_error(&file, &error))?;
    let status = show_answers(&results, merge_args.json)?;
    Ok(if missing > 0 { worse(status, ExitStatus::Inconclusive) } else { status })
}
