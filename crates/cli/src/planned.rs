//! Commands that are made of units: the plan is shown, or some of the units are done.
//!
//! A command says which units it has and does those it is asked for; everything else is here. Its part goes on where it
//! stopped when the same command is given again.

use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::Duration;

use ioxide_campaign::engine::local::on_leash;
use ioxide_campaign::part::{EndOfPart, Manifest, PartError, PartWriter};
use ioxide_campaign::plan::{Plan, UnitNames, fingerprint};
use ioxide_campaign::units::UnitSet;
use ioxide_lang::suggest::nearest_name;
use ioxide_model::source::Sources;
use serde_json::{Value as Json, json};

use crate::args::PartArgs;
use crate::exit::{ExitStatus, Stop};
use crate::session::{self, STOP};

/// How long a worker that nobody wants any more may take to end.
const GRACE: Duration = Duration::from_secs(10);

/// The options that say which part of a command to do, and whether a value follows.
const OPTIONS: [(&str, bool); 5] =
    [("--plan", false), ("--partition", true), ("--unit", true), ("--units", true), ("--part", true)];

/// A command that is made of units.
pub trait Planned {
    /// Its units.
    fn names(&self) -> UnitNames;

    /// What else is known of a unit, for programs.
    fn more(&self, _unit: u64) -> Json {
        json!({})
    }

    /// Does the units and says how it ended.
    fn work(&mut self, names: &UnitNames, units: &UnitSet, part: &mut PartWriter) -> Result<PartEnd, Stop>;
}

/// How a part ended.
pub struct PartEnd {
    /// For the part.
    pub end: EndOfPart,
    /// For whoever waits.
    pub status: ExitStatus,
}

/// Shows the plan of a command, or does the part of it that `args` ask for; `model` is what its results depend on.
pub fn run(args: &PartArgs, model: String, planned: &mut dyn Planned) -> Result<ExitStatus, Stop> {
    let plan =
        Plan { args: typed(), model, tool: env!("CARGO_PKG_VERSION").to_owned(), units: planned.names() };
    if args.plan {
        writeln!(io::stdout(), "{}", plan.to_json(|unit| planned.more(unit)))?;
        return Ok(ExitStatus::Success);
    }
    let asked = asked(args, &plan.units)?;
    let dir = args.part.as_deref().unwrap_or_default();
    let mut part = PartWriter::open(Path::new(dir), &Manifest::new(&plan, &asked)).map_err(trouble)?;
    let mut units = asked.clone();
    units.subtract(&part.before);
    session::catch_interrupts();
    on_leash(|| {
        STOP.store(true, Ordering::Relaxed);
        std::thread::sleep(GRACE);
        std::process::exit(ExitStatus::Interrupted as i32);
    });
    let before = part.before.len();
    let PartEnd { end, status } = planned.work(&plan.units, &units, &mut part)?;
    part.end(end).map_err(trouble)?;
    eprintln!("part: {dir}: {}", told(end, asked.len(), before));
    Ok(status)
}

fn told(end: EndOfPart, asked: u64, before: u64) -> String {
    let before = if before > 0 { format!(", {before} of them before") } else { String::new() };
    match end {
        EndOfPart::All => format!("all {asked} units are done{before}"),
        EndOfPart::Failure => "ended with a failing unit; `ioxide merge` shows it".to_owned(),
        EndOfPart::Stopped => "stopped; the same command goes on".to_owned(),
        EndOfPart::Trouble => "ended for trouble with the system; the same command tries again".to_owned(),
    }
}

/// The units that are asked for: all, if nothing is said.
fn asked(args: &PartArgs, names: &UnitNames) -> Result<UnitSet, Stop> {
    let count = names.count();
    if let Some(partition) = args.partition {
        return Ok(partition.of(count));
    }
    if let Some(units) = &args.units {
        return match units.iter().last() {
            Some(last) if last >= count => {
                Err(Stop::usage(format!("there is no unit {}: the plan has {count}", last + 1)))
            }
            _ => Ok(units.clone()),
        };
    }
    if args.unit.is_empty() {
        return Ok(UnitSet::range(0, count));
    }
    let find = |name: &String| {
        names.find(name).ok_or_else(|| {
            let near = match names {
                UnitNames::Listed(names) => nearest_name(name, names.iter().map(String::as_str)),
                UnitNames::Numbered { .. } => None,
            };
            let stop = Stop::usage(format!("there is no unit `{name}`"));
            match near {
                Some(near) => stop.help(format!("did you mean `{near}`?")),
                None => {
                    stop.help(format!("there are {count}, such as `{}`; `--plan` lists them", names.name(0)))
                }
            }
        })
    };
    args.unit.iter().map(find).collect()
}

/// The command line after the name of the program, without what says which part to do.
fn typed() -> Vec<String> {
    let mut kept = Vec::new();
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let option = OPTIONS.iter().find(|(name, _)| {
            word.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
        });
        match option {
            None => kept.push(word),
            Some((_, true)) if !word.contains('=') => drop(words.next()),
            Some(_) => (),
        }
    }
    kept
}

/// What the results of a command depend on: the texts of its model, and files it names beside.
pub fn depends_on(sources: &[&Sources], files: &[&str]) -> String {
    let texts = sources.iter().flat_map(|sources| sources.iter().map(|file| file.text.clone()));
    // A file that cannot be read is told by whoever needs it.
    let files = files.iter().map(|file| fs::read_to_string(file).unwrap_or_default());
    fingerprint(texts.chain(files))
}

/// What is said about a part that cannot be written or read.
pub fn trouble(error: PartError) -> Stop {
    let stop = Stop::usage(error.to_string());
    match error {
        PartError::Io { .. } => stop.help("is the folder there, may it be written to, and is there room?"),
        PartError::NotAPart { .. } => stop.help("parts are written by `--part DIR`"),
        PartError::Damaged { .. } => stop.help("delete this part and do its units again"),
        PartError::Other { .. } => stop.help("name another directory, or give the same command"),
        PartError::Busy(_) => stop.help("wait until it has ended, or give each its own directory"),
    }
}

/// Refuses an option that says something about the whole, in a part of it.
pub fn refuse(is_given: bool, option: &str) -> Result<(), Stop> {
    match is_given {
        true => Err(Stop::usage(format!("`{option}` is for the whole, not for a part of it"))
            .help("leave it out: `ioxide merge` writes what the whole has to say")),
        false => Ok(()),
    }
}
