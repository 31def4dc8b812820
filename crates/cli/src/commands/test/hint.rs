//! The evidence after a failure: what speaks for an error of the model, and what for one of the system.
//!
//! Facts of the record, and on a system that never passed before the smallest change of the model that would explain
//! the runs: at first the model is wrong about as often as the system.

use std::env;
use std::io::{self, IsTerminal};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ioxide_args::{TestArgs, TestFormat};
use ioxide_model::counted::count_noun;
use ioxide_model::source::Sources;
use ioxide_model::sts::Model;
use ioxide_record::event::{Event, EventKind};
use ioxide_record::format::Record;
use ioxide_record::reporter::Reporter;
use ioxide_repair::{Proposal, TriageFact, runs_of_record, triage};
use ioxide_report::html::evidence::{ChangeView, EvidencePage};
use ioxide_report::summary::Summary;
use serde_json::{Value as Json, json};

use crate::commands::repair::find_briefly;
use crate::record;
use crate::record_folder::RecordFolder;

/// The time for finding a change of the model. Chosen by feel: a hint is not worth a wait.
const HINT_TIME: Duration = Duration::from_secs(3);
/// The number of events that are kept for a hint. Chosen by feel: a larger campaign has runs enough before that.
const MAX_EVENTS: usize = 50_000;
/// The number of lines of a change that are shown. Chosen by feel: a larger one is no small change.
const MAX_LINES: usize = 6;

/// Keeps the events of a campaign in memory, and a summary of them for programs.
#[derive(Clone, Default)]
pub struct EventKeeper(Arc<Mutex<KeptCampaign>>);

#[derive(Default)]
struct KeptCampaign {
    /// The first events; `None` if no evidence is wanted.
    events: Option<Vec<Event>>,
    /// The requirements and what the runs did for them; `None` if the result is not for programs.
    summary: Option<Box<Summary>>,
}

impl Reporter for EventKeeper {
    fn event(&mut self, event: &Event) -> io::Result<()> {
        let mut kept = self.lock();
        if let Some(events) = kept.events.as_mut().filter(|events| events.len() < MAX_EVENTS) {
            events.push(event.clone());
        }
        if let Some(summary) = &mut kept.summary {
            summary.add_event(event);
        }
        Ok(())
    }
}

impl EventKeeper {
    /// Returns the keeper of a campaign after which evidence is shown; `None` if none is wanted.
    pub fn if_wanted(format: TestFormat) -> Option<Self> {
        let is = |name: &str, value: &str| env::var_os(name).is_some_and(|set| set == value);
        let is_json = matches!(format, TestFormat::Json);
        let is_wanted = match format {
            // Where progress is off nobody watches, unless evidence is asked for.
            TestFormat::Text => !is("IOXIDE_PROGRESS", "off") || is("IOXIDE_HINTS", "on"),
            TestFormat::Json => true,
            TestFormat::Junit | TestFormat::Tap => false,
        };
        let events = (is_wanted && !is("IOXIDE_HINTS", "off")).then(Vec::new);
        let summary = is_json.then(Box::default);
        let kept = KeptCampaign { events, summary };
        (kept.events.is_some() || is_json).then(|| Self(Arc::new(Mutex::new(kept))))
    }

    /// Returns the keeper of a record that is read.
    fn of_events() -> Self {
        Self(Arc::new(Mutex::new(KeptCampaign { events: Some(Vec::new()), summary: None })))
    }

    fn lock(&self) -> MutexGuard<'_, KeptCampaign> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn into_record(self) -> Record {
        Record { events: self.lock().events.take().unwrap_or_default(), is_cut: false }
    }

    /// Returns the requirements of the model and what the runs did for them; null if the model names none.
    pub fn requirements_json(&self) -> Json {
        let kept = self.lock();
        json!(kept.summary.as_ref().and_then(|summary| summary.requirements.to_json()))
    }
}

/// The evidence about the first failure of a campaign.
pub struct FailureEvidence {
    facts: Vec<TriageFact>,
    /// The changes of the model that would explain every run; `None` if they were not looked for.
    changes: Option<ExplainingChanges>,
    /// The line about the command that finds them; `None` if the system has passed before.
    command: Option<String>,
}

/// The changes of the model that explain every run of a campaign.
struct ExplainingChanges {
    proposals: Vec<Proposal>,
    /// The number of runs.
    runs: usize,
    /// True if every candidate was judged.
    is_complete: bool,
}

/// Returns the facts about the first failure of the record at `path`; none if it has none or cannot be read.
pub fn facts_of_record(path: &str, model: &Model) -> Vec<TriageFact> {
    let keeper = EventKeeper::of_events();
    let mut reporter = keeper.clone();
    let read = record::each_event(path, |event| reporter.event(event));
    if read.is_err() { Vec::new() } else { triage(&model.sts, &keeper.into_record()) }
}

/// Returns the evidence after a campaign that failed; `None` if there is none.
pub fn evidence(
    keeper: EventKeeper,
    args: &TestArgs,
    (sources, model): (&Sources, &Model),
    folder: Option<&RecordFolder>,
) -> Option<FailureEvidence> {
    let record = keeper.into_record();
    let facts = triage(&model.sts, &record);
    if facts.is_empty() {
        return None;
    }
    // A limit of time holds for everything; a system that has passed before is the more likely culprit.
    let is_limited = args.for_time.is_some() || args.limit.time_limit.is_some();
    let is_hinted = !is_limited && !has_passed_before(folder);
    // Looking for a change takes seconds, which are spent where somebody watches or asks for it.
    let is_watched = args.output_format() == TestFormat::Text && io::stdout().is_terminal();
    let is_asked = env::var_os("IOXIDE_HINTS").is_some_and(|set| set == "on");
    let changes = (is_hinted && (is_watched || is_asked)).then(|| changes(&record, args, sources)).flatten();
    let command = is_hinted.then(|| repair_command(args, folder));
    Some(FailureEvidence { facts, changes, command })
}

impl FailureEvidence {
    /// Returns the evidence as lines for the terminal.
    pub fn lines(&self) -> Vec<String> {
        let mut lines =
            vec!["evidence (it does not decide whether the system or the model is wrong):".to_owned()];
        lines.extend(self.facts.iter().map(|fact| format!("  {}", fact.text())));
        match &self.changes {
            Some(changes) if changes.proposals.is_empty() && changes.is_complete => {
                lines.push("  no small change of the model explains the runs".into());
            }
            Some(changes) => {
                lines.extend(changes.lines());
                lines.extend(self.command.clone());
            }
            None => lines.extend(self.command.clone()),
        }
        lines
    }

    /// Returns the evidence for programs.
    pub fn to_json(&self) -> Json {
        let fact = |fact: &TriageFact| json!({ "kind": fact.kind(), "text": fact.text() });
        let facts: Vec<Json> = self.facts.iter().map(fact).collect();
        let changes = self.changes.as_ref().map(|changes| {
            let all: Vec<Json> = changes.proposals.iter().map(Proposal::to_json).collect();
            json!({ "proposals": all, "complete": changes.is_complete })
        });
        json!({ "facts": facts, "changes": changes })
    }

    /// Returns the evidence for the page of the report.
    pub fn for_page(&self) -> EvidencePage {
        let view = |proposal: &Proposal| ChangeView {
            reason: proposal.reason.clone(),
            diff: proposal.diff.clone(),
            effects: proposal.effect_lines(),
        };
        let proposals = self.changes.iter().flat_map(|changes| &changes.proposals);
        EvidencePage {
            facts: self.facts.iter().map(TriageFact::text).collect(),
            changes: proposals.map(view).collect(),
            command: self.command.as_ref().map(|line| line.trim_start().to_owned()),
        }
    }
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

/// Looks for changes of the model for a short time; `None` if that cannot be done.
fn changes(record: &Record, args: &TestArgs, sources: &Sources) -> Option<ExplainingChanges> {
    let settings = args.model.settings();
    let file = sources.find(&args.model.file).ok()?;
    let runs = runs_of_record(record, "this campaign").runs;
    let repairs = find_briefly((sources, file), &settings, &runs, &args.solver, HINT_TIME).ok()?;
    Some(ExplainingChanges {
        runs: repairs.failing + repairs.allowed,
        is_complete: repairs.halted.is_none(),
        proposals: repairs.proposals,
    })
}

impl ExplainingChanges {
    /// Returns the first change as lines; none if it is too long to be shown.
    fn lines(&self) -> Vec<String> {
        let Some(proposal) = self.proposals.first() else { return Vec::new() };
        let changed =
            proposal.diff.lines().filter(|line| !line.starts_with("---") && !line.starts_with("+++"));
        let changed: Vec<&str> = changed.filter(|line| line.starts_with(['-', '+'])).collect();
        if changed.len() > MAX_LINES {
            return Vec::new();
        }
        let removed = changed.iter().filter(|line| line.starts_with('-')).count();
        let size = if removed <= 1 && changed.len() - removed <= 1 { "one-line change" } else { "change" };
        let all = match self.runs {
            1 => "the run".to_owned(),
            n => format!("all {}", count_noun(n, "run")),
        };
        let mut lines = vec![format!("  if the system is right, this {size} of the model explains {all}:")];
        lines.extend(changed.iter().map(|line| format!("    {} {}", &line[..1], line[1..].trim_start())));
        lines
    }
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
