//! Commands that are made of units: the plan is shown, or some of the units are done.
//!
//! A command says which units it has and does those it is asked for; everything else is here. Its part goes on where it
//! stopped when the same command is given again. Units that are done in rounds are told what the rounds before have
//! found.

use std::io::{self, Write};
use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::Duration;
use std::{env, fs};

use ioxide_args::{PartArgs, without_part};
use ioxide_campaign::engine::local::on_leash;
use ioxide_campaign::part::{EndOfPart, Manifest, PartError, PartWriter, SystemFacts};
use ioxide_campaign::plan::{CampaignPlan, UnitNames, fingerprint};
use ioxide_campaign::repeat::{MAX_REPEATS, RepeatOutcome, RepeatedUnit};
use ioxide_campaign::request::{OpenRound, RequestError, UnitRequest};
use ioxide_campaign::rounds::{RoundFeedback, UnitRounds};
use ioxide_campaign::units::{MAX_UNITS, UnitSet};
use ioxide_model::source::Sources;
use ioxide_model::suggest::nearest_name;
use ioxide_project::PlayedName;
use serde_json::{Value as Json, json};

use crate::exit::{CliError, ExitStatus};
use crate::interrupt::{self, STOP};
use crate::{load, record, timing};

/// The time that a worker whose campaign is gone may take to end. Chosen by feel.
const ORPHAN_EXIT_GRACE: Duration = Duration::from_secs(10);

/// A command that is made of units.
pub trait UnitCommand {
    /// Returns the names of its units.
    fn names(&self) -> UnitNames;

    /// Returns further facts about a unit, for programs.
    fn more(&self, _unit: u64) -> Json {
        json!({})
    }

    /// Returns the identity of the system whose answers the results depend on; `None` if there is none outside.
    fn system(&self) -> Result<Option<SystemFacts>, CliError> {
        Ok(None)
    }

    /// Returns whether a unit that is done can be done again in little time, to see whether the system still answers
    /// as it did.
    fn is_quick_to_repeat(&self) -> bool {
        false
    }

    /// Returns the distribution of the units over rounds.
    fn rounds(&self) -> UnitRounds {
        UnitRounds::ONE
    }

    /// Takes the feedback of the rounds before `round`, from 1.
    fn take_feedback(&mut self, _round: u64, _known: &Json) -> Result<(), CliError> {
        Ok(())
    }

    /// Does the units, which are of one round, and returns how the part ended.
    fn do_units(
        &mut self,
        names: &UnitNames,
        units: &UnitSet,
        part: &mut PartWriter,
    ) -> Result<PartEnd, CliError>;
}

/// The end of a part.
pub struct PartEnd {
    /// The reason why the part ended, which is kept in it.
    pub end: EndOfPart,
    /// The exit status of the command.
    pub status: ExitStatus,
}

/// Shows the plan of a command, or does the part of it that `args` ask for; `model` is a fingerprint of all its results
/// depend on.
pub fn run_units(
    args: &PartArgs,
    model: String,
    planned: &mut dyn UnitCommand,
) -> Result<ExitStatus, CliError> {
    let tool = env!("CARGO_PKG_VERSION").to_owned();
    let (units, rounds, system) = (planned.names(), planned.rounds(), planned.system()?);
    let plan = CampaignPlan { args: without_part(env::args().skip(1)), model, tool, units, rounds, system };
    if plan.units.count() > MAX_UNITS {
        let n = plan.units.count();
        return Err(CliError::usage(format!("the plan has {n} units, and at most {MAX_UNITS} are planned"))
            .help("give fewer runs or rounds, or several campaigns with other seeds"));
    }
    if args.plan {
        let mut told = plan.to_json(|unit| planned.more(unit));
        told["quick_to_repeat"] = json!(planned.is_quick_to_repeat());
        writeln!(io::stdout(), "{told}")?;
        return Ok(ExitStatus::Success);
    }
    let feedback = args.feedback.as_ref().map(|path| RoundFeedback::read(Path::new(path))).transpose()?;
    let refused = |error| request_error(&error, args, &plan.units);
    let open = OpenRound::new(&plan, feedback.as_ref()).map_err(refused)?;
    if let Some(feedback) = &feedback {
        planned.take_feedback(open.number, &feedback.known)?;
    }
    let asked = open.choose_units(unit_request(args)).map_err(refused)?;
    let manifest = Manifest {
        round: (plan.rounds.count() > 1).then_some(open.number),
        feedback: feedback.as_ref().map(RoundFeedback::hash),
        // What depends on no system outside is the same whenever it is done.
        started: plan.system.is_some().then(timing::current_date),
        ..Manifest::new(&plan, &asked)
    };
    let dir = args.part.as_deref().unwrap_or_default();
    let mut part = PartWriter::open(Path::new(dir), &manifest)?;
    let mut units = asked.clone();
    units.subtract(&part.before);
    interrupt::catch_interrupts();
    on_leash(|| {
        STOP.store(true, Ordering::Relaxed);
        std::thread::sleep(ORPHAN_EXIT_GRACE);
        std::process::exit(ExitStatus::Interrupted as i32);
    });
    let before = part.before.len();
    if let (Some(unit), true) = (part.before.iter().next(), planned.is_quick_to_repeat()) {
        repeat(Path::new(dir), unit, &plan.units, &manifest, planned)?;
    }
    let PartEnd { end, status } = planned.do_units(&plan.units, &units, &mut part)?;
    part.end_part(end)?;
    eprintln!("part: {dir}: {}", part_end_text(end, asked.len(), before));
    Ok(status)
}

/// Does a unit of the part in `dir` again, which was done before, and refuses to go on if the system answers otherwise.
fn repeat(
    dir: &Path,
    unit: u64,
    names: &UnitNames,
    manifest: &Manifest,
    planned: &mut dyn UnitCommand,
) -> Result<(), CliError> {
    let before = RepeatedUnit::in_part(dir, unit)?;
    let units = before.as_set();
    let manifest = Manifest { asked: units.to_string(), ..manifest.clone() };
    compare_repetition(&before, &names.name(unit), |folder| {
        let mut part = PartWriter::open(folder, &manifest)?;
        let PartEnd { end, .. } = planned.do_units(names, &units, &mut part)?;
        Ok(part.end_part(end)?)
    })
}

/// Does the unit `name` again with `again`, and refuses results of a system that always answers otherwise now.
pub fn compare_repetition(
    before: &RepeatedUnit,
    name: &str,
    again: impl FnMut(&Path) -> Result<(), CliError>,
) -> Result<(), CliError> {
    match before.compare(again)? {
        RepeatOutcome::Same => Ok(()),
        RepeatOutcome::NotRepeated => {
            eprintln!("note: unit `{name}` could not be done again; the results of earlier runs are dated");
            Ok(())
        }
        RepeatOutcome::Changed { fails_now } => {
            let word = if fails_now { "fails" } else { "passes" };
            let then = before.started.as_ref().map_or_else(String::new, |started| format!(" on {started}"));
            Err(CliError::usage(format!(
                "the system has changed: unit `{name}` {word} now, {MAX_REPEATS} of {MAX_REPEATS} times, and did \
                 not{then}"
            ))
            .help("name another directory, so that results of both systems are not mixed"))
        }
    }
}

fn part_end_text(end: EndOfPart, asked: u64, before: u64) -> String {
    let before = if before > 0 { format!(", {before} of them before") } else { String::new() };
    match end {
        EndOfPart::All => format!("all {asked} units are done{before}"),
        EndOfPart::Failure => "stopped at a failing unit; `ioxide merge` shows it".to_owned(),
        EndOfPart::Stopped => "stopped; run the same command to continue".to_owned(),
        EndOfPart::Trouble => {
            "stopped because the system could not be tested; run the same command to try again".to_owned()
        }
    }
}

/// Returns the units that the options choose; all of the round unless they name some.
fn unit_request(args: &PartArgs) -> UnitRequest<'_> {
    match (args.partition, &args.units, &args.unit[..]) {
        (Some(partition), ..) => UnitRequest::Share(partition),
        (None, Some(units), _) => UnitRequest::Numbered(units),
        (None, None, []) => UnitRequest::All,
        (None, None, names) => UnitRequest::Named(names),
    }
}

/// Returns the error of units that cannot be done now, with a help.
fn request_error(error: &RequestError, args: &PartArgs, names: &UnitNames) -> CliError {
    let stop = CliError::usage(error.to_string());
    let of_file = || {
        let file = args.feedback.as_deref().unwrap_or_default();
        CliError::usage(format!("`{file}` {error}"))
    };
    match error {
        RequestError::OtherPlan { .. } => {
            of_file().help("give the file that `ioxide merge` wrote for the parts of this command")
        }
        RequestError::NoSuchRound { .. } => {
            of_file().help("all rounds are done: `ioxide merge` shows the combined result")
        }
        RequestError::NoSuchNumber { .. } => stop,
        RequestError::NoSuchName(name) => {
            let near = match names {
                UnitNames::Listed(names) => nearest_name(name, names.iter().map(String::as_str)),
                UnitNames::Numbered { .. } | UnitNames::InRounds { .. } => None,
            };
            let (count, first) = (names.count(), names.name(0));
            stop.help(near.map_or_else(
                || format!("there are {count}, such as `{first}`; `--plan` lists them"),
                |near| format!("did you mean `{near}`?"),
            ))
        }
        RequestError::Settled(_) => stop.help("leave it out"),
        RequestError::OtherRound { .. } => {
            stop.help("`--feedback FILE`, with the file that `ioxide merge` wrote, sets the round")
        }
    }
}

/// Returns a fingerprint of all that the results of a command depend on: the texts of its model, and the files it
/// names, of which records may be named by their folder, and models by the file that names the others.
pub fn depends_on(sources: &[&Sources], files: &[&str]) -> String {
    let texts = sources.iter().flat_map(|sources| sources.iter().map(|file| file.text.clone().into_bytes()));
    fingerprint(texts.chain(files.iter().flat_map(|file| contents(file))))
}

/// Returns the file of a model that is played as the system.
pub fn played_model(sut: &str) -> Option<&str> {
    sut.strip_prefix("model:").map(|name| PlayedName::parse(name).file)
}

/// Returns the bytes that stand at `path`: of a model with all files it is made of, of a folder the newest record in it
/// or else all its files, by name. What cannot be read is one empty text; the code that needs it reports the error.
fn contents(path: &str) -> Vec<Vec<u8>> {
    let mut model = Sources::new();
    if ioxide_lang::is_model(path) && load::add_source(&mut model, path).is_ok() {
        return model.iter().map(|file| file.text.clone().into_bytes()).collect();
    }
    let record = record::newest(path);
    match fs::read_dir(path) {
        Ok(_) if record.exists() => vec![fs::read(record).unwrap_or_default()],
        Ok(entries) => {
            let mut files: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
            files.sort();
            let named = |file: &std::path::PathBuf| {
                [file.as_os_str().as_encoded_bytes().to_vec(), fs::read(file).unwrap_or_default()]
            };
            files.iter().flat_map(named).collect()
        }
        Err(_) => vec![fs::read(path).unwrap_or_default()],
    }
}

impl From<PartError> for CliError {
    fn from(error: PartError) -> Self {
        let stop = Self::usage(error.to_string());
        match error {
            PartError::Io { .. } => {
                stop.help("check that the folder exists, can be written to, and has free space")
            }
            PartError::NotAPart { .. } => stop.help("parts are written by `--part DIR`"),
            PartError::NotFeedback { .. } => {
                stop.help("`ioxide merge` writes it as `feedback.json`, for the round after the last one")
            }
            PartError::Damaged { .. } => stop.help("delete this part and do its units again"),
            PartError::Other { .. } => stop.help("name another directory, or give the same command"),
            PartError::Busy(_) => stop.help("wait until it has ended, or use another directory"),
        }
    }
}

/// Refuses `--rounds` for a command that is not done in parts.
pub fn whole(args: &PartArgs) -> Result<(), CliError> {
    match args.rounds {
        Some(_) => Err(CliError::usage("`--rounds` is for a campaign in parts")
            .help("`ioxide campaign` does one round after the other; by hand, add `--plan` or `--part DIR`")),
        None => Ok(()),
    }
}

/// Refuses rounds of a command whose units have nothing to tell each other.
pub fn no_rounds(args: &PartArgs, why: &str, help: &str) -> Result<(), CliError> {
    match args.n_rounds() {
        0 | 1 => Ok(()),
        _ => Err(CliError::usage(format!("no rounds: {why}")).help(help.to_owned())),
    }
}

/// Refuses an option that says something about the whole, in a part of it.
pub fn refuse_option(is_given: bool, option: &str) -> Result<(), CliError> {
    if is_given {
        Err(CliError::usage(format!("`{option}` does not work for a part of a campaign"))
            .help("leave it out: `ioxide merge` writes the merged results"))
    } else {
        Ok(())
    }
}
