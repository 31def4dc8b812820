//! `ioxide campaign`: a command on many workers, here or on a cluster.
//!
//! The units of the command go out in batches; what comes back is merged. The same command goes on where it stopped,
//! whatever stopped it. In rounds, what was found is merged before the next one begins.

mod goal;
mod planned;
mod repeated;
#[doc(hidden)]
pub mod watched;

use std::io::{self, BufRead as _, IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use ioxide_args::{CampaignArgs, EngineName, LimitArgs, MergeArgs, duration};
use ioxide_campaign::drive::{CampaignDrive, CampaignEnd, DriveError};
use ioxide_campaign::engine::local::LocalEngine;
use ioxide_campaign::engine::ray::RayEngine;
use ioxide_campaign::engine::slurm::{ScriptApproval, SlurmEngine};
use ioxide_campaign::engine::{CampaignEngine, EngineError, print};
use ioxide_campaign::gather::GatheredParts;
use ioxide_campaign::recipe::{CampaignRecipe, DEFAULT_BATCH_TIME};
use ioxide_campaign::rounds::RoundFeedback;
use ioxide_campaign::schedule::ScheduleConfig;
use serde_json::Value as Json;

use self::goal::CampaignGoal;
use self::planned::PlannedUnits;
use self::repeated::EarlierUnit;
use self::watched::WatchedCampaign;
use super::bench::BenchHost;
use super::{merge, rounds};
use crate::exit::{CliError, ExitStatus};
use crate::{interrupt, limit, load, redaction};

/// The directory for results if neither `--out` nor the plan names one.
const OUT: &str = "campaign";

/// Runs the campaign and shows its result.
pub fn run(args: &CampaignArgs, host: &BenchHost<'_>) -> Result<ExitStatus, CliError> {
    let text = load::read_data(&args.recipe)?;
    let mut recipe = CampaignRecipe::read(&text).map_err(|error| {
        CliError::usage(format!("`{}`: {error}", args.recipe)).help("`ioxide campaign --help` shows a plan")
    })?;
    if recipe.command().first().is_some_and(|name| name == "bench") {
        host.enter()?;
    }
    recipe.workers = args.workers.or(recipe.workers);
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let out = args.out.clone().or_else(|| recipe.out.clone()).unwrap_or_else(|| OUT.to_owned());
    let program = std::env::current_exe()
        .map_err(|error| CliError::usage(format!("cannot find the path of this program: {error}")))?;
    let workers = recipe.workers(cores);
    if args.on == EngineName::Print {
        return print_commands(&recipe, workers, &out);
    }
    let time = |text: &Option<String>, name: &str| {
        let read = text.as_deref().map(duration).transpose();
        read.map_err(|why| CliError::usage(format!("`{}`: `{name}`: {why}", args.recipe)))
    };
    let (batch, budget) =
        (time(&recipe.batch, "batch")?.unwrap_or(DEFAULT_BATCH_TIME), time(&recipe.budget, "budget")?);
    let PlannedUnits { manifest, names, rounds: all_rounds, is_quick_to_repeat } =
        PlannedUnits::query(&program, &recipe.command())?;
    interrupt::catch_interrupts();
    let config = ScheduleConfig { workers, batch, tries: recipe.tries };
    let mut drive =
        CampaignDrive::open(Path::new(&out), &manifest, config, recipe.leases()).map_err(drive_error)?;
    let before = drive.done_units().len();
    let mut dated = None;
    if before > 0 {
        eprintln!("continuing: {before} of {} units are done already", manifest.count);
        dated = earlier_dates(&out, before, manifest.count)?;
        if let (Some(unit), true) = (drive.done_units().iter().next(), is_quick_to_repeat) {
            let work = EarlierUnit { program: &program, recipe: &recipe, out: &out, unit };
            work.repeat(names.get(unit as usize).map_or("", String::as_str), args.on)?;
        }
    }
    let mut engine = engine(args, &recipe, program, workers, Path::new(&out))?;
    let goal = CampaignGoal::from_manifest(&manifest, &args.solver)?;
    let mut watched = WatchedCampaign::new(before, manifest.count, budget, goal);
    drive.recall(&mut watched).map_err(drive_error)?;
    let mut driven = None;
    for (at, units) in all_rounds.iter().enumerate() {
        let mut units = units.clone();
        let known = match at {
            0 => None,
            _ => match load_feedback(args, &out, at as u64 + 1, all_rounds.len())? {
                Some((known, path)) => {
                    units.subtract(&known.settled_units());
                    Some(path)
                }
                None => break,
            },
        };
        drive.request_units(&units, known);
        let ended = drive.run(&mut *engine, &mut watched).map_err(drive_error)?;
        let is_over = ended.is_stopped || ended.last.is_some();
        driven = Some(ended);
        if is_over {
            break;
        }
    }
    drop(watched);
    drop(engine);
    let driven = driven.ok_or_else(|| CliError::new(ExitStatus::Nothing, "nothing to run: no round"))?;
    finish_campaign(args, &out, &driven, &names, dated, host)
}

/// Returns a sentence with the times of the units that were done before; `None` if they depend on no system outside.
fn earlier_dates(out: &str, before: u64, count: u64) -> Result<Option<String>, CliError> {
    let parts = GatheredParts::new(&[PathBuf::from(out)])?;
    Ok(merge::dates(&parts).map(|dates| format!("{before} of {count} units are from {dates}")))
}

/// Prints the commands of the parts.
fn print_commands(recipe: &CampaignRecipe, workers: usize, out: &str) -> Result<ExitStatus, CliError> {
    if recipe.has_rounds() {
        return Err(CliError::usage(
            "rounds cannot be printed: each round depends on the results of the one before",
        )
        .help(
            "print without `rounds`, or do them by hand: `ioxide merge` writes `feedback.json` for the next",
        ));
    }
    let mut lines = print::commands("ioxide", &recipe.command(), workers, Path::new(out)).into_iter();
    Ok(lines.try_for_each(|line| writeln!(redaction::stdout(), "{line}")).map(|()| ExitStatus::Success)?)
}

/// Returns the feedback that `round`, from 1, begins with, and the file that holds it; `None` if nothing is left to do.
///
/// The feedback is computed once and kept in the file: a round that is continued uses the feedback it began with.
fn load_feedback(
    args: &CampaignArgs,
    out: &str,
    round: u64,
    total: usize,
) -> Result<Option<(RoundFeedback, PathBuf)>, CliError> {
    let path = Path::new(out).join("rounds").join(format!("{round}.json"));
    let path = std::path::absolute(&path).unwrap_or(path);
    let known = if path.exists() {
        RoundFeedback::read(&path)?
    } else {
        let mut parts = limit::reading(|| GatheredParts::new(&[PathBuf::from(out)]))?;
        let what = merge::command(&parts)?;
        let known = rounds::feedback(&what, &mut parts, round, &args.solver)?;
        known.write(&path)?;
        known
    };
    if known.over {
        eprintln!("round {round} of {total}: nothing is left to do")
    } else {
        eprintln!("round {round} of {total}: {}", round_text(&known))
    }
    Ok((!known.over).then_some((known, path)))
}

/// Returns the feedback that a round begins with, as a text for people.
fn round_text(known: &RoundFeedback) -> String {
    let count = |name: &str| known.known.get(name).and_then(Json::as_u64);
    let covered = known.known.get("covered").and_then(Json::as_array);
    match (covered, count("killed").unwrap_or_default(), count("survive")) {
        (Some(covered), ..) => format!("{} transitions are covered and left out", covered.len()),
        (None, killed, Some(survive)) => {
            format!("{killed} mutants are killed, {survive} survive and are tested again")
        }
        (None, killed, None) => {
            format!("{killed} of its mutants show a trace that killed another and are left out")
        }
    }
}

/// Makes the engine that the recipe or the command line names.
fn engine(
    args: &CampaignArgs,
    recipe: &CampaignRecipe,
    program: PathBuf,
    workers: usize,
    out: &Path,
) -> Result<Box<dyn CampaignEngine>, CliError> {
    match args.on {
        EngineName::Local | EngineName::Print => Ok(Box::new(LocalEngine::new(program))),
        EngineName::Ray => {
            let ray =
                RayEngine::join(&recipe.ray, program, workers).map_err(|error| drive_error(error.into()))?;
            eprintln!("Ray: {}", ray.cluster);
            Ok(Box::new(ray))
        }
        EngineName::Slurm => {
            let program = recipe.slurm.program.clone().unwrap_or_else(|| program.display().to_string());
            let jobs = std::path::absolute(out).unwrap_or_else(|_| out.to_path_buf()).join("jobs");
            Ok(Box::new(SlurmEngine::new(
                program,
                recipe.slurm.options.clone(),
                jobs,
                asked_before(args.yes),
            )))
        }
    }
}

/// Returns a callback that shows the first script and asks whether to send it, unless `--yes` is given.
fn asked_before(yes: bool) -> ScriptApproval {
    Box::new(move |script| {
        eprintln!("{script}");
        if yes {
            return true;
        }
        if !io::stdin().is_terminal() {
            eprintln!("there is no terminal to ask for confirmation; `--yes` submits it without asking");
            return false;
        }
        eprint!("send it? [y/N] ");
        let mut answer = String::new();
        io::stdin().lock().read_line(&mut answer).is_ok() && answer.trim().eq_ignore_ascii_case("y")
    })
}

/// Merges the units that are done, and reports those that were quarantined.
fn finish_campaign(
    args: &CampaignArgs,
    out: &str,
    driven: &CampaignEnd,
    names: &[String],
    dated: Option<String>,
    host: &BenchHost<'_>,
) -> Result<ExitStatus, CliError> {
    let tally = driven.tally;
    eprintln!("{}", summary(driven));
    for (&unit, quarantined) in &driven.quarantined {
        let name = names.get(unit as usize).map_or("", String::as_str);
        eprintln!("quarantined: `{name}` after {} tries: {}", quarantined.tries, quarantined.why);
    }
    if interrupt::STOP.load(std::sync::atomic::Ordering::Relaxed) {
        let done = format!("interrupted: {} of {} units are done", tally.done, names.len());
        return Err(CliError::new(ExitStatus::Interrupted, done).help("the same command continues"));
    }
    if tally.done == 0 {
        return Err(CliError::new(ExitStatus::Infrastructure, "no unit was done"));
    }
    let merged = Path::new(out).join("merged");
    let to = MergeArgs {
        dirs: vec![out.to_owned()],
        out: merged.display().to_string(),
        json: args.json,
        dated,
        solver: args.solver.clone(),
        limit: LimitArgs::default(),
    };
    let mut parts = limit::reading(|| GatheredParts::new(&[PathBuf::from(out)]))?;
    let what = merge::command(&parts)?;
    rounds::remove_settled(&what, &mut parts, &args.solver)?;
    let status = merge::merge_parts(&what, &mut parts, &to, host)?;
    let is_unfinished = driven.is_stopped || !driven.quarantined.is_empty();
    Ok(match status {
        ExitStatus::Success if is_unfinished => ExitStatus::Inconclusive,
        status => status,
    })
}

/// Returns the last line of a campaign.
fn summary(driven: &CampaignEnd) -> String {
    let (tally, seconds) = (driven.tally, driven.elapsed.max(Duration::from_millis(1)).as_secs_f64());
    format!(
        "campaign: {} units done, {} quarantined, {} retried, {} workers died; {seconds:.1} s",
        tally.done, tally.quarantined, tally.retried, tally.failed
    )
}

/// Returns the error of a campaign that cannot go on, with its exit status and a help.
fn drive_error(error: DriveError) -> CliError {
    let message = error.to_string();
    match error {
        DriveError::Engine(EngineError::Start { .. }) => {
            CliError::usage(message).help("is it installed, and in the search path?")
        }
        DriveError::Engine(EngineError::Unsaid(_)) => CliError::usage(message)
            .help("`ioxide campaign --help` shows a plan; the book has one for every engine"),
        DriveError::Engine(_) | DriveError::InVain { .. } => {
            CliError::new(ExitStatus::Infrastructure, message)
                .help("fix it; the same command continues with the rest")
        }
        DriveError::Worker { .. } => {
            CliError::usage(message).help("the logs of the workers are in the folders of their parts")
        }
        DriveError::Part(error) => error.into(),
        DriveError::Io { .. } => {
            CliError::usage(message).help("check that it can be written to and has free space")
        }
        DriveError::Other { .. } => CliError::usage(message).help("name another directory with `--out`"),
        DriveError::Busy(_) => CliError::usage(message).help("wait until it has ended"),
    }
}
