//! `ioxide merge`: parts of a command that was done on several machines become the whole.
//!
//! What the parts say of the command is data: its model is read, its system is never started, and questions are
//! decided by the solver that this command names, not by one that a part names.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use clap::Parser as _;
use ioxide_args::{CliArgs, CliCommand, MergeArgs};
use ioxide_campaign::gather::{GatherError, GatheredParts};
use ioxide_campaign::units::UnitSet;

use super::bench::BenchHost;
use super::{conform, kill, learn, rounds, score, test};
use crate::exit::{CliError, ExitStatus};
use crate::limit;

/// Units that are named where some are missing. Chosen by feel: more is not read.
const MAX_NAMED: usize = 5;

/// Reads the parts, says what is wrong with them, and shows the whole.
pub fn run(args: &MergeArgs, host: &BenchHost<'_>) -> Result<ExitStatus, CliError> {
    let dirs: Vec<PathBuf> = args.dirs.iter().map(PathBuf::from).collect();
    let mut parts = limit::reading(|| GatheredParts::new(&dirs))?;
    let mut what = command(&parts)?;
    // How long the parts were allowed to take says nothing about putting them together.
    if let Some(limit) = what.limit_mut() {
        limit.time_limit = args.limit.time_limit.or(limit.time_limit);
    }
    if let CliCommand::Bench(_) = what {
        host.enter()?;
    }
    rounds::remove_settled(&what, &mut parts, &args.solver)?;
    findings(&parts, &to_come(&what, &parts));
    let dated = dates(&parts).map(|dates| format!("the results are from {dates}"));
    let args = &MergeArgs { dated, ..args.clone() };
    let told = merge_parts(&what, &mut parts, args, host);
    // A campaign with rounds to come is not whole, and goes on from here.
    next_round(&what, &mut parts, args)?;
    told
}

/// Writes the feedback that the next round begins with, if there is another round to do.
fn next_round(command: &CliCommand, parts: &mut GatheredParts, args: &MergeArgs) -> Result<(), CliError> {
    let (round, all) = (parts.last_round().saturating_add(1), rounds::rounds_of(command).count());
    if round > all {
        return Ok(());
    }
    let known = rounds::feedback(command, parts, round, &args.solver)?;
    if known.over {
        eprintln!("round {round} of {all} has nothing left to do");
        return Ok(());
    }
    let path = Path::new(&args.out).join("feedback.json");
    known.write(&path)?;
    eprintln!("round {round} of {all} begins with `--feedback {}`", path.display());
    Ok(())
}

/// Returns the times at which parts were begun, in words; `None` if they depend on no system outside.
pub fn dates(parts: &GatheredParts) -> Option<String> {
    let started: BTreeSet<&String> =
        parts.parts.iter().filter_map(|part| part.manifest.started.as_ref()).collect();
    match (started.first()?, started.last()?) {
        (first, last) if first == last => Some(format!("a run of {first}")),
        (first, last) => Some(format!("runs of {first} to {last}")),
    }
}

/// Puts the parts of `command` together.
pub fn merge_parts(
    command: &CliCommand,
    parts: &mut GatheredParts,
    args: &MergeArgs,
    host: &BenchHost<'_>,
) -> Result<ExitStatus, CliError> {
    if let (Some(dated), false) = (&args.dated, args.json) {
        writeln!(io::stdout(), "{dated}")?;
    }
    match command {
        CliCommand::Test(test) => test::parts::merge_campaign(test, parts, args),
        CliCommand::Kill(kill) => kill::parts::merge_decisions(kill, parts, args),
        CliCommand::Score(score) => score::parts::merge_scores(score, parts, args),
        CliCommand::Conform(_) => conform::set::merge_answers(parts, args),
        CliCommand::Learn(learn) => learn::parts::merge_learned(learn, parts, args),
        CliCommand::Bench(bench) => host.enter()?.merge_rows(bench, parts, args),
        _ => Err(CliError::usage("these parts are of a command that is not done in parts")),
    }
}

/// The command that the parts are of.
pub fn command(parts: &GatheredParts) -> Result<CliCommand, CliError> {
    let words = std::iter::once("ioxide".to_owned()).chain(parts.manifest.args.iter().cloned());
    let read = CliArgs::try_parse_from(words);
    let line = parts.manifest.args.join(" ");
    read.map(|args| args.command).map_err(|error| {
        let why = error.to_string().lines().next().unwrap_or_default().to_owned();
        CliError::usage(format!("the parts are of `ioxide {line}`, which cannot be read: {why}"))
    })
}

/// Units of rounds that have not begun.
fn to_come(command: &CliCommand, parts: &GatheredParts) -> UnitSet {
    let (rounds, count, begun) = (rounds::rounds_of(command), parts.manifest.count, parts.last_round());
    let mut later = UnitSet::new();
    (begun..rounds.count()).for_each(|round| later.extend(&rounds.units(round, count)));
    later.intersect(&parts.missing);
    later
}

/// Reports units that are missing, torn, there twice, left undone, or still to come.
fn findings(parts: &GatheredParts, to_come: &UnitSet) {
    for (dir, unit) in parts.torn() {
        eprintln!("incomplete: `{}` ends in the middle of unit {}", dir.display(), unit + 1);
    }
    // Many units are left for the same reason.
    let mut reasons: BTreeMap<&str, UnitSet> = BTreeMap::new();
    parts.missing_units().for_each(|(unit, why)| {
        reasons.entry(why).or_default().insert(unit);
    });
    for (why, units) in reasons {
        eprintln!("left: unit {}: {why}", units_text(&units));
    }
    if !parts.twice.is_empty() {
        let n = parts.twice.len();
        eprintln!(
            "overlapping: unit {} in more than one part ({n} with the same result)",
            units_text(&parts.twice)
        );
    }
    let (all, mut missing) = (parts.manifest.count, parts.missing.clone());
    missing.subtract(to_come);
    if !missing.is_empty() {
        eprintln!("missing: {} of {all} units: {}", missing.len(), units_text(&missing));
    }
    if !to_come.is_empty() {
        eprintln!("still to run: {} of {all} units, in later rounds", to_come.len());
    }
}

/// The units of a set, the first ones if they are many.
pub fn units_text(units: &UnitSet) -> String {
    let text = units.to_string();
    let ranges: Vec<&str> = text.split(',').collect();
    if ranges.len() > MAX_NAMED { format!("{} and more", ranges[..MAX_NAMED].join(",")) } else { text }
}

impl From<GatherError> for CliError {
    fn from(error: GatherError) -> Self {
        let stop = Self::usage(error.to_string());
        match error {
            GatherError::Part(error) => error.into(),
            GatherError::Nothing(_) => stop.help("parts are written by `--part DIR`"),
            GatherError::Foreign { .. } => {
                stop.help("merge the parts of one campaign, made by one version of ioxide")
            }
            GatherError::Conflict { .. } => {
                stop.help("the system chose differently each time; delete one of the parts and merge again")
            }
        }
    }
}
