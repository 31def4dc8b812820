//! `ioxide campaign`: a command on many workers, here or on a cluster.
//!
//! The units of the command go out in batches; what comes back is merged. The same command goes on where it stopped,
//! whatever stopped it.

mod goal;
mod watched;

use std::io::{self, BufRead as _, IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command as Process, Stdio};
use std::time::Duration;

use ioxide_campaign::drive::{Drive, DriveError, Driven};
use ioxide_campaign::engine::local::Local;
use ioxide_campaign::engine::ray::Ray;
use ioxide_campaign::engine::slurm::{Shown, Slurm};
use ioxide_campaign::engine::{Engine, EngineError, print};
use ioxide_campaign::gather::Gathered;
use ioxide_campaign::part::{FORMAT, Manifest, VERSION};
use ioxide_campaign::recipe::{BATCH, Recipe};
use ioxide_campaign::schedule::ScheduleConfig;
use ioxide_campaign::units::UnitSet;
use serde_json::Value as Json;

use self::goal::Goal;
use self::watched::Watched;
use super::merge;
use crate::args::{CampaignArgs, EngineName, Merge, duration};
use crate::exit::{ExitStatus, Stop};
use crate::{load, session};

/// Where results go if nobody says.
const OUT: &str = "campaign";

/// Does the campaign and shows what came of it.
pub fn run(args: &CampaignArgs) -> Result<ExitStatus, Stop> {
    let text = load::read_data(&args.recipe)?;
    let mut recipe = Recipe::read(&text).map_err(|error| {
        Stop::usage(format!("`{}`: {error}", args.recipe)).help("`ioxide campaign --help` shows a plan")
    })?;
    recipe.workers = args.workers.or(recipe.workers);
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let out = args.out.clone().or_else(|| recipe.out.clone()).unwrap_or_else(|| OUT.to_owned());
    let program = std::env::current_exe().map_err(|error| Stop::usage(format!("who am I? {error}")))?;
    let workers = recipe.workers(cores);
    if args.on == EngineName::Print {
        let mut lines = print::commands("ioxide", &recipe.run, workers, Path::new(&out)).into_iter();
        return Ok(lines
            .try_for_each(|line| writeln!(io::stdout(), "{line}"))
            .map(|()| ExitStatus::Success)?);
    }
    let time = |text: &Option<String>, name: &str| {
        let read = text.as_deref().map(duration).transpose();
        read.map_err(|why| Stop::usage(format!("`{}`: `{name}`: {why}", args.recipe)))
    };
    let (batch, budget) = (time(&recipe.batch, "batch")?.unwrap_or(BATCH), time(&recipe.budget, "budget")?);
    let (manifest, names) = planned(&program, &recipe)?;
    session::catch_interrupts();
    let config = ScheduleConfig { workers, batch, tries: recipe.tries };
    let mut drive = Drive::open(Path::new(&out), &manifest, config, recipe.leases()).map_err(stopped)?;
    let before = drive.done().len();
    if before > 0 {
        eprintln!("going on: {before} of {} units are done", manifest.count);
    }
    let mut engine = engine(args, &recipe, program, workers, Path::new(&out))?;
    let goal = Goal::of(&recipe.run, &args.solver)?;
    let mut watched = Watched::new(before, manifest.count, budget, goal);
    drive.recall(&mut watched).map_err(stopped)?;
    let driven = drive.run(&mut *engine, &mut watched).map_err(stopped)?;
    drop(watched);
    drop(engine);
    finished(args, &out, &driven, &names)
}

/// The plan of the command, asked of the program itself, and the names of its units.
fn planned(program: &Path, recipe: &Recipe) -> Result<(Manifest, Vec<String>), Stop> {
    let asked = Process::new(program).args(&recipe.run).arg("--plan").stderr(Stdio::inherit()).output();
    let asked =
        asked.map_err(|error| Stop::usage(format!("cannot start `{}`: {error}", program.display())))?;
    let line = recipe.run.join(" ");
    if !asked.status.success() {
        let status = match asked.status.code() {
            Some(3) => ExitStatus::Model,
            Some(4) => ExitStatus::Nothing,
            _ => ExitStatus::Usage,
        };
        return Err(Stop::new(status, format!("`ioxide {line}` cannot be planned"))
            .help("`run` in the plan is a command that takes `--plan`: test, kill, score, conform"));
    }
    let plan: Json = serde_json::from_slice(&asked.stdout)
        .map_err(|_| Stop::usage(format!("`ioxide {line} --plan` gives no plan")))?;
    let text = |name: &str| plan[name].as_str().unwrap_or_default().to_owned();
    let name = |unit: &Json| unit["name"].as_str().unwrap_or_default().to_owned();
    let names: Vec<String> = plan["units"].as_array().into_iter().flatten().map(name).collect();
    if names.is_empty() {
        return Err(Stop::new(ExitStatus::Nothing, "nothing to run: the plan has no units"));
    }
    let count = names.len() as u64;
    let manifest = Manifest {
        format: FORMAT.into(),
        version: VERSION,
        tool: text("tool"),
        plan: text("plan"),
        model: text("model"),
        args: recipe.run.clone(),
        count,
        asked: UnitSet::range(0, count).to_string(),
    };
    Ok((manifest, names))
}

fn engine(
    args: &CampaignArgs,
    recipe: &Recipe,
    program: PathBuf,
    workers: usize,
    out: &Path,
) -> Result<Box<dyn Engine>, Stop> {
    match args.on {
        EngineName::Local | EngineName::Print => Ok(Box::new(Local::new(program))),
        EngineName::Ray => {
            let ray = Ray::join(&recipe.ray, program, workers).map_err(|error| stopped(error.into()))?;
            eprintln!("Ray: {}", ray.cluster);
            Ok(Box::new(ray))
        }
        EngineName::Slurm => {
            let program = recipe.slurm.program.clone().unwrap_or_else(|| program.display().to_string());
            let jobs = std::path::absolute(out).unwrap_or_else(|_| out.to_path_buf()).join("jobs");
            Ok(Box::new(Slurm::new(program, recipe.slurm.options.clone(), jobs, asked_before(args.yes))))
        }
    }
}

/// Shows the first script and asks, unless the answer is known.
fn asked_before(yes: bool) -> Shown {
    Box::new(move |script| {
        eprintln!("{script}");
        if yes {
            return true;
        }
        if !io::stdin().is_terminal() {
            eprintln!("nobody is there to say yes: `--yes` sends it");
            return false;
        }
        eprint!("send it? [y/N] ");
        let mut answer = String::new();
        io::stdin().lock().read_line(&mut answer).is_ok() && answer.trim().eq_ignore_ascii_case("y")
    })
}

/// Merges what was done and says what was not.
fn finished(args: &CampaignArgs, out: &str, driven: &Driven, names: &[String]) -> Result<ExitStatus, Stop> {
    let tally = driven.tally;
    eprintln!("{}", summary(driven));
    for (&unit, aside) in &driven.aside {
        let name = names.get(unit as usize).map_or("", String::as_str);
        eprintln!("set aside: `{name}` after {} tries: {}", aside.tries, aside.why);
    }
    if session::STOP.load(std::sync::atomic::Ordering::Relaxed) {
        let done = format!("interrupted: {} of {} units are done", tally.done, names.len());
        return Err(Stop::new(ExitStatus::Interrupted, done).help("the same command goes on"));
    }
    if tally.done == 0 {
        return Err(Stop::new(ExitStatus::Infrastructure, "no unit was done"));
    }
    let merged = Path::new(out).join("merged");
    let to = Merge {
        dirs: vec![out.to_owned()],
        out: merged.display().to_string(),
        json: args.json,
        solver: args.solver.clone(),
    };
    let mut parts = Gathered::new(&[PathBuf::from(out)]).map_err(merge::refused)?;
    let what = merge::command(&parts)?;
    let status = merge::merged(&what, &mut parts, &to)?;
    let is_unfinished = driven.is_stopped || !driven.aside.is_empty();
    Ok(match status {
        ExitStatus::Success if is_unfinished => ExitStatus::Inconclusive,
        status => status,
    })
}

fn summary(driven: &Driven) -> String {
    let (tally, seconds) = (driven.tally, driven.elapsed.max(Duration::from_millis(1)).as_secs_f64());
    format!(
        "campaign: {} units done, {} set aside, {} retried, {} workers died; {seconds:.1} s",
        tally.done, tally.aside, tally.retried, tally.failed
    )
}

/// What is said about a campaign that cannot go on.
fn stopped(error: DriveError) -> Stop {
    let message = error.to_string();
    match error {
        DriveError::Engine(EngineError::Start { .. }) => {
            Stop::usage(message).help("is it installed, and in the search path?")
        }
        DriveError::Engine(EngineError::Unsaid(_)) => Stop::usage(message)
            .help("`ioxide campaign --help` shows a plan; the book has one for every engine"),
        DriveError::Engine(_) | DriveError::InVain { .. } => Stop::new(ExitStatus::Infrastructure, message)
            .help("mend it; the same command goes on with what is left"),
        DriveError::Worker { .. } => Stop::usage(message).help("the logs of workers are beside their parts"),
        DriveError::Part(error) => crate::planned::trouble(error),
        DriveError::Io { .. } => Stop::usage(message).help("may it be written to, and is there room?"),
        DriveError::Other { .. } => Stop::usage(message).help("name another directory with `--out`"),
        DriveError::Busy(_) => Stop::usage(message).help("wait until it has ended"),
    }
}
