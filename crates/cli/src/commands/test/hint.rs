//! The evidence after a failure: what speaks for an error of the model, and what for one of the system.
//!
//! Facts of the record, and on a system that never passed before the smallest change of the model that would explain
//! the runs: at first the model is wrong about as often as the system.

use std::env;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use ioxide_model::counted::count_noun;
use ioxide_model::source::Sources;
use ioxide_model::sts::Model;
use ioxide_record::event::{Event, EventKind};
use ioxide_record::format::Record;
use ioxide_record::reporter::Reporter;
use ioxide_repair::{RepairRequest, Repairs, find_repairs, runs_of_record, triage};

use crate::args::TestArgs;
use crate::commands::repair::compile;
use crate::record_folder::RecordFolder;
use crate::solver::SolverRequest;
use crate::{limit, record};

/// The time for finding a change of the model. Chosen by feel: a hint is not worth a wait.
const HINT_TIME: Duration = Duration::from_secs(3);
/// The share of that time in which candidates are judged, in percent; chosen by feel.
const SEARCH_SHARE: u32 = 65;
/// The number of events that are kept for a hint. Chosen by feel: a larger campaign has runs enough before that.
const MAX_EVENTS: usize = 50_000;
/// The number of lines of a change that are shown. Chosen by feel: a larger one is no small change.
const MAX_LINES: usize = 6;

/// Keeps the events of a campaign in memory.
#[derive(Clone, Default)]
pub struct EventKeeper(Arc<Mutex<Vec<Event>>>);

impl Reporter for EventKeeper {
    fn event(&mut self, event: &Event) -> io::Result<()> {
        let mut events = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if events.len() < MAX_EVENTS {
            events.push(event.clone());
        }
        Ok(())
    }
}

impl EventKeeper {
    /// Returns the keeper of a campaign after which evidence is shown; `None` if none is wanted.
    pub fn if_wanted(is_for_people: bool) -> Option<Self> {
        let is = |name: &str, value: &str| env::var_os(name).is_some_and(|set| set == value);
        // Where progress is off nobody watches, unless evidence is asked for.
        let is_off = is("IOXIDE_HINTS", "off") || is("IOXIDE_PROGRESS", "off") && !is("IOXIDE_HINTS", "on");
        (is_for_people && !is_off).then(Self::default)
    }

    fn into_record(self) -> Record {
        let events = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        Record { events, is_cut: false }
    }
}

/// Returns the lines of evidence after a campaign that failed.
pub fn evidence_lines(
    keeper: EventKeeper,
    args: &TestArgs,
    (sources, model): (&Sources, &Model),
    folder: Option<&RecordFolder>,
) -> Vec<String> {
    let record = keeper.into_record();
    let mut lines: Vec<String> =
        triage(&model.sts, &record).iter().map(|fact| format!("  {}", fact.text())).collect();
    if lines.is_empty() {
        return lines;
    }
    // A limit of time holds for everything; a system that has passed before is the more likely culprit.
    let is_limited = args.for_time.is_some() || args.limit.time_limit.is_some();
    if !is_limited && !has_passed_before(folder) {
        // Looking for a change takes seconds, which not every failure is worth.
        lines.extend(if env::var_os("IOXIDE_HINTS").is_some_and(|set| set == "on") {
            repair_lines(&record, args, sources, folder)
        } else {
            vec![repair_command(args, folder)]
        });
    }
    lines.insert(0, "evidence (which side is wrong, it does not say):".into());
    lines
}

/// Returns whether an earlier campaign in the folder ended without a failure.
fn has_passed_before(folder: Option<&RecordFolder>) -> bool {
    let Some(folder) = folder else { return false };
    let own = folder.record();
    let earlier = record::all_in(&folder.path().display().to_string());
    earlier.into_iter().filter(|path| path != own).any(|path| {
        let mut has_passed = false;
        let read = record::each_event(&path.display().to_string(), |event| {
            if let EventKind::CampaignFinished(told) = &event.event {
                has_passed |= told.failed == 0 && told.errors == 0 && told.passed > 0;
            }
            Ok(())
        });
        read.is_ok() && has_passed
    })
}

fn repair_lines(
    record: &Record,
    args: &TestArgs,
    sources: &Sources,
    folder: Option<&RecordFolder>,
) -> Vec<String> {
    let settings = args.model.settings();
    let Ok(file) = sources.find(&args.model.file) else { return Vec::new() };
    let runs = runs_of_record(record, "this campaign").runs;
    let request = SolverRequest::new(&args.solver, limit::brief(HINT_TIME));
    let Ok(mut solver) = request.make() else { return Vec::new() };
    let request = RepairRequest {
        sources,
        file,
        load: &|sources| compile(sources, file, &settings),
        runs: &runs,
        max_proposals: 3,
        halt: limit::brief(HINT_TIME),
        search_time: Some(HINT_TIME * SEARCH_SHARE / 100),
        halt_after: limit::brief,
    };
    match find_repairs(&request, &mut *solver) {
        Ok(repairs) if repairs.proposals.is_empty() && repairs.halted.is_none() => {
            vec!["  no small change of the model explains the runs".into()]
        }
        Ok(repairs) => proposal_lines(&repairs, args, folder),
        Err(_) => Vec::new(),
    }
}

fn proposal_lines(repairs: &Repairs, args: &TestArgs, folder: Option<&RecordFolder>) -> Vec<String> {
    let Some(proposal) = repairs.proposals.first() else { return Vec::new() };
    let changed = proposal.diff.lines().filter(|line| !line.starts_with("---") && !line.starts_with("+++"));
    let changed: Vec<&str> = changed.filter(|line| line.starts_with(['-', '+'])).collect();
    if changed.len() > MAX_LINES {
        return Vec::new();
    }
    let removed = changed.iter().filter(|line| line.starts_with('-')).count();
    let size = if removed <= 1 && changed.len() - removed <= 1 { "one-line change" } else { "change" };
    let runs = count_noun(repairs.failing + repairs.allowed, "run");
    let all = if repairs.failing + repairs.allowed == 1 {
        runs.replacen("1 ", "the ", 1)
    } else {
        format!("all {runs}")
    };
    let mut lines = vec![format!("  if the system is right, this {size} of the model explains {all}:")];
    lines.extend(changed.iter().map(|line| format!("    {} {}", &line[..1], line[1..].trim_start())));
    lines.push(repair_command(args, folder));
    lines
}

/// Returns the line about the command that finds changes of the model.
fn repair_command(args: &TestArgs, folder: Option<&RecordFolder>) -> String {
    let model = &args.model.file;
    match folder {
        Some(folder) => {
            let runs = folder.path().display();
            format!("  if the system is right, this finds changes of the model: ioxide repair {model} {runs}")
        }
        None => format!(
            "  if the system is right: with `--report runs`, `ioxide repair {model} runs` finds changes of the model"
        ),
    }
}
