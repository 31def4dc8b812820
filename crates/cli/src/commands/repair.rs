//! `ioxide repair`: small changes of a model that explain recorded runs.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use ioxide_args::{RepairArgs, SolverArgs};
use ioxide_campaign::whole_file::{FileReaders, write_whole};
use ioxide_model::source::{FileId, Sources, Span};
use ioxide_repair::{
    ChosenProposal, LoadedModel, RepairError, RepairRequest, Repairs, ReplayableRun, find_repairs,
    runs_of_record,
};
use ioxide_smt::stack::{SolverConfig, build_stack};
use serde_json::Value as Json;

use crate::counted::count_noun;
use crate::exit::{self, CliError, ExitStatus};
use crate::record::{self, RunFile};
use crate::solver::SolverRequest;
use crate::write::write_error;
use crate::{limit, load};

/// The time for everything, unless `--time-limit` gives another. What people wait for without being told why.
const DEFAULT_TIME: Duration = Duration::from_secs(10);
/// The share of that time in which candidates are judged, in percent; the rest is for comparing what was found. Chosen
/// by feel.
const SEARCH_SHARE: u32 = 65;

/// Searches for proposals, and shows them or writes one.
pub fn run(args: &RepairArgs) -> Result<ExitStatus, CliError> {
    let settings = args.model.settings();
    // Reports the errors of the model, if it has some.
    let (sources, _) = load::load_model(&args.model.file, &settings)?;
    let file = sources.find(&args.model.file).map_err(|_| CliError::usage("the model has no file"))?;
    if let Some(chosen) = args.apply.and_then(|number| shown_before(args, number, &sources)) {
        return apply(&chosen);
    }
    let read = read_runs(&args.runs)?;
    let halt = limit::halt_within(&args.limit, DEFAULT_TIME);
    let search_time = halt.time_left().map(|left| left * SEARCH_SHARE / 100);
    let request = SolverRequest::new(&args.solver, halt.clone());
    let mut solver = request.make()?;
    let _stage = limit::stage("looking for changes of the model");
    let repairs = find_repairs(
        &RepairRequest {
            sources: &sources,
            file,
            load: &|sources, tentative| compile(sources, file, &settings, tentative),
            runs: &read.runs,
            max_proposals: args.max,
            halt,
            search_time,
            halt_after: limit::brief,
        },
        &mut *solver,
    );
    let repairs = repairs.map_err(repair_error)?;
    if let Some(number) = args.apply {
        return apply(&choose(&repairs, number, &sources)?);
    }
    if let Some(path) = list_path(&args.runs) {
        let list = repairs.shown_list(&args.model.file, &sources).to_string();
        // Without the list, `--apply` searches again.
        let _ = write_whole(&path, FileReaders::Usual, |out| out.write_all(list.as_bytes()));
    }
    let status = if repairs.proposals.is_empty() { ExitStatus::Inconclusive } else { ExitStatus::Success };
    let mut out = io::stdout().lock();
    let told = if args.json {
        writeln!(out, "{}", repairs.to_json())
    } else {
        show_repairs(&mut out, &repairs, &read, args)
    };
    exit::status_after_output(status, told)
}

/// Returns the model of edited texts, with the settings of the command; `None` if it has errors but at the places
/// `tentative`.
pub fn compile(
    sources: &Sources,
    file: FileId,
    settings: &[String],
    tentative: &[Span],
) -> Option<LoadedModel> {
    load::compile_quietly(sources, file, settings, tentative)
}

/// Looks for `time` for changes of the model in `file` that explain `runs`.
pub fn find_briefly(
    (sources, file): (&Sources, FileId),
    settings: &[String],
    runs: &[ReplayableRun],
    solver: &SolverArgs,
    time: Duration,
) -> Result<Repairs, RepairError> {
    let halt = limit::brief(time);
    // Without the solver that was asked for, the answers are those of the one that is built in.
    let mut solver = match SolverRequest::new(solver, halt.clone()).make() {
        Ok(solver) => solver,
        Err(_) => Box::new(build_stack(&SolverConfig { halt: halt.clone(), ..SolverConfig::default() })),
    };
    let request = RepairRequest {
        sources,
        file,
        load: &|sources, tentative| compile(sources, file, settings, tentative),
        runs,
        max_proposals: 3,
        halt,
        search_time: Some(time * SEARCH_SHARE / 100),
        halt_after: limit::brief,
    };
    find_repairs(&request, &mut *solver)
}

/// The recorded runs of the command line.
#[derive(Default)]
pub struct ReadRuns {
    /// The runs with their steps.
    pub runs: Vec<ReplayableRun>,
    thinned: usize,
    broken: usize,
}

/// Reads the runs of all records and traces.
pub fn read_runs(paths: &[String]) -> Result<ReadRuns, CliError> {
    let mut read = ReadRuns::default();
    for path in paths {
        if Path::new(path).is_dir() {
            let records = record::all_in(path);
            if records.is_empty() {
                return Err(CliError::usage(format!("there is no record in `{path}`"))
                    .help("records are written by `ioxide test --report DIR`"));
            }
            for file in records {
                let name = file.display().to_string();
                read.add_record(&record::read_record(&name)?, &name);
            }
            continue;
        }
        match record::read_runs(path)? {
            RunFile::Record(record) => read.add_record(&record, path),
            RunFile::Text(text) => read.runs.push(ReplayableRun::from_lines(format!("`{path}`"), text)),
        }
    }
    Ok(read)
}

impl ReadRuns {
    /// Adds the runs of a record.
    pub fn add_record(&mut self, record: &ioxide_record::format::Record, name: &str) {
        let found = runs_of_record(record, &format!("`{name}`"));
        self.runs.extend(found.runs);
        self.thinned += found.thinned;
        self.broken += found.broken;
    }
}

fn repair_error(error: RepairError) -> CliError {
    let text = error.to_string();
    match error {
        RepairError::NotIox => CliError::usage(text).help("`ioxide show FILE` prints other models as text"),
        RepairError::ModelErrors => CliError::new(ExitStatus::Model, text),
        RepairError::UnfitRun { .. } => {
            CliError::usage(text).help("was the model changed since? name only records that fit it")
        }
        RepairError::Unjudged(_) => {
            CliError::new(ExitStatus::Inconclusive, text).help("`--time-limit` gives it more time")
        }
        RepairError::NothingFails => CliError::new(ExitStatus::Nothing, text).help(
            "`ioxide test MODEL --sut SYSTEM --report DIR` records runs; a crash is not a behaviour to allow",
        ),
    }
}

/// Returns the proposal with this number.
fn choose(repairs: &Repairs, number: usize, sources: &Sources) -> Result<ChosenProposal, CliError> {
    let chosen = number.checked_sub(1).and_then(|at| repairs.proposals.get(at));
    chosen.map(|proposal| ChosenProposal::of(proposal, sources)).ok_or_else(|| {
        let (status, text) = match repairs.proposals.len() {
            0 => (ExitStatus::Inconclusive, "no small change of the model explains the runs".to_owned()),
            n => (ExitStatus::Usage, format!("there is no proposal {number}: there are {n}")),
        };
        CliError::new(status, text).help("without `--apply`, `ioxide repair` lists the proposals")
    })
}

/// Writes the new texts of a proposal over the old ones.
fn apply(proposal: &ChosenProposal) -> Result<ExitStatus, CliError> {
    for (name, text) in &proposal.files {
        write_whole(Path::new(name), FileReaders::Usual, |out| out.write_all(text.as_bytes()))
            .map_err(|error| write_error(name, &error))?;
        eprintln!("wrote {name}: {}", proposal.reason);
    }
    let mut out = io::stdout().lock();
    exit::status_after_output(ExitStatus::Success, write!(out, "{}", proposal.diff))
}

/// Returns the file for the list that was shown last: beside the first runs.
fn list_path(runs: &[String]) -> Option<PathBuf> {
    let first = Path::new(runs.first()?);
    let folder = if first.is_dir() { Some(first) } else { first.parent() };
    Some(folder?.join("repairs.json"))
}

/// Returns the proposal with this number of the list that was shown last for these runs, if the model has not changed
/// since.
fn shown_before(args: &RepairArgs, number: usize, sources: &Sources) -> Option<ChosenProposal> {
    let list: Json = serde_json::from_slice(&fs::read(list_path(&args.runs)?).ok()?).ok()?;
    ChosenProposal::of_list(&list, &args.model.file, number, sources)
}

fn show_repairs(
    out: &mut impl Write,
    repairs: &Repairs,
    read: &ReadRuns,
    args: &RepairArgs,
) -> io::Result<()> {
    let (failing, allowed) = (repairs.failing, repairs.allowed);
    writeln!(
        out,
        "{}: {failing} not allowed by the model, {allowed} allowed",
        count_noun(failing + allowed, "run")
    )?;
    if read.thinned > 0 {
        let n = read.thinned;
        writeln!(
            out,
            "{} without steps in the record left out (`test --keep all` records them)",
            count_noun(n, "run")
        )?;
    }
    if read.broken > 0 {
        writeln!(
            out,
            "{} ended by a breakdown of the system, which no change explains",
            count_noun(read.broken, "run")
        )?;
    }
    if repairs.proposals.is_empty() {
        writeln!(out, "no small change of the model explains the runs ({} tried)", repairs.tried)?;
    } else {
        writeln!(out, "if the system is right, each of these changes of the model explains every run:")?;
    }
    for (at, proposal) in repairs.proposals.iter().enumerate() {
        writeln!(out, "\n{}. {}", at + 1, proposal.reason)?;
        for line in proposal.diff.lines() {
            writeln!(out, "   {line}")?;
        }
        for line in proposal.effect_lines() {
            writeln!(out, "   {line}")?;
        }
    }
    if let Some(halted) = repairs.halted {
        writeln!(out, "\nnot every change was tried: {halted}")?;
    }
    if !repairs.proposals.is_empty() {
        let runs = args.runs.join(" ");
        writeln!(out, "\n`ioxide repair {} {runs} --apply N` writes one of them", args.model.file)?;
    }
    Ok(())
}
