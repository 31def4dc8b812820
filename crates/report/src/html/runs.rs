//! The runs of a campaign as a list, and the tapes of those worth a closer look.
//!
//! The first run of every kind of failure keeps its tape, and so do the first runs with an error; other runs keep
//! theirs as long as there is room.

use std::collections::BTreeMap;

use ioxide_record::event::{Event, Explanation, FindingRecord, RunOutcome, RunStarted, StepRecord};
use ioxide_record::line::cut;
use serde::Serialize;

use super::latency::LatencyPage;
use super::run_tape::RunTape;
use super::switch_totals::{self, InRun, SwitchTotals};
use crate::run_number::number_from_one;
use crate::summary::{EndedRun, Novelty};

/// The number of runs listed. Chosen by feel, as are the limits below: a page must stay small enough for a browser to
/// open. What is left out is counted.
const MAX_LISTED: usize = 50_000;
/// The number of runs under way; beyond it the one with the lowest number is given up. Chosen by feel: far more than
/// any campaign has at once, so it only bounds the memory for a damaged record.
const MAX_OPEN: usize = 1000;
/// The bytes of tapes kept of runs that are not the first of a kind of failure and had no trouble. Chosen by feel: it
/// bounds the memory.
const MAX_TAPE_BYTES: usize = 6 << 20;
/// The bytes of tapes kept of the first failures of each kind and of runs in trouble. Chosen by feel: it bounds the
/// memory.
const ROOM_FOR_TROUBLE: usize = 24 << 20;
/// The number of failed runs and runs in trouble that are described in detail. Chosen by feel: more is not read.
const MAX_DETAILS: usize = 200;
/// The number of characters of a reason in the list. Chosen by feel: more is not read.
const MAX_REASON: usize = 200;

/// The runs so far.
#[derive(Default)]
pub(super) struct RunsPage {
    open: BTreeMap<u64, OpenRun>,
    begun_last: u64,
    listed: Vec<RunRow>,
    unlisted: u64,
    tapes: BTreeMap<u64, RunTape>,
    room_used: [usize; 2],
    details: BTreeMap<u64, TroubleView>,
    pub(super) taken: SwitchTotals,
    pub(super) latency: LatencyPage,
}

/// A run under way.
#[derive(Default)]
struct OpenRun {
    tape: RunTape,
    in_run: InRun,
    last_ns: u64,
}

impl RunsPage {
    pub(super) fn start_run(&mut self, started: &RunStarted, time_ns: u64) {
        self.begun_last = started.run;
        *self.open_run(started.run) =
            OpenRun { tape: RunTape::new(time_ns), in_run: InRun::new(), last_ns: time_ns };
    }

    /// Returns the run under way of this number; it begins if there is none.
    fn open_run(&mut self, number: u64) -> &mut OpenRun {
        if self.open.len() >= MAX_OPEN && !self.open.contains_key(&number) {
            self.open.pop_first();
        }
        self.open.entry(number).or_default()
    }

    pub(super) fn add_step(&mut self, event: &Event, step: &StepRecord) {
        let open = self.open_run(event.run.unwrap_or(self.begun_last));
        open.tape.add_step(step, event.time_ns);
        switch_totals::count_step(&mut open.in_run, step);
        let passed_ns = event.time_ns.saturating_sub(std::mem::replace(&mut open.last_ns, event.time_ns));
        self.latency.add_answer(&step.label, passed_ns);
    }

    pub(super) fn end_run(&mut self, ended_run: &EndedRun) {
        let number = ended_run.run.number;
        let open = self.open.remove(&number).unwrap_or_default();
        let mut in_run = open.in_run;
        let thinned = ended_run.thinned.as_ref().map(|thinned| &thinned.taken);
        if let Some(taken) = ended_run.taken.as_ref().or(thinned) {
            // The whole run tells more than each of its steps.
            in_run = switch_totals::of_run(taken);
        }
        self.taken.add_run(in_run, number, ended_run.outcome);
        let is_trouble = matches!(ended_run.outcome, RunOutcome::Fail | RunOutcome::Error);
        if is_trouble && self.details.len() < MAX_DETAILS {
            self.details.insert(number, TroubleView::new(ended_run));
        }
        let has_tape = self.keep_tape(number, open.tape, ended_run);
        if self.listed.len() == MAX_LISTED {
            self.unlisted += 1;
            return;
        }
        let kind = match ended_run.novelty {
            Novelty::New(at) | Novelty::Known(at) => Some(at),
            Novelty::None | Novelty::Unlisted => None,
        };
        self.listed.push(RunRow(
            number_from_one(number),
            ended_run.outcome,
            ended_run.steps,
            ended_run.time_ns,
            cut(&ended_run.run.goal, MAX_REASON),
            cut(ended_run.run.reason(), MAX_REASON),
            kind,
            u8::from(has_tape),
            ended_run.run.seed.to_string(),
        ));
    }

    /// Keeps a tape if there is room for it, and returns whether it did.
    fn keep_tape(&mut self, number: u64, tape: RunTape, ended_run: &EndedRun) -> bool {
        let is_new = matches!(ended_run.novelty, Novelty::New(_)) || ended_run.outcome == RunOutcome::Error;
        let (share, room) = if is_new { (1, ROOM_FOR_TROUBLE) } else { (0, MAX_TAPE_BYTES) };
        // The first of all is kept however large it is: somebody will want to see it.
        let is_room = self.room_used[share] == 0 || self.room_used[share] + tape.weight() <= room;
        if is_room && !tape.is_empty() {
            self.room_used[share] += tape.weight();
            self.tapes.insert(number, tape);
            return true;
        }
        false
    }
}

/// The columns of the list.
const COLUMNS: [&str; 9] =
    ["number", "outcome", "steps", "time_ns", "goal", "reason", "kind", "has_tape", "seed"];

/// The runs of a campaign as the page has them; they count from 1.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(super) struct RunsView<'r> {
    columns: &'r [&'static str],
    listed: &'r [RunRow],
    unlisted: u64,
    /// The numbers of the runs that began and did not end.
    open: Vec<u64>,
    details: BTreeMap<u64, &'r TroubleView>,
    #[cfg_attr(test, ts(as = "BTreeMap<u64, super::run_tape::TapeView<'static>>"))]
    tapes: BTreeMap<u64, &'r RunTape>,
}

/// A run in the list: its number, outcome, steps, nanoseconds, goal, reason, the position of its kind of failure, 1 if
/// there is a tape, the seed.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(super) struct RunRow(u64, RunOutcome, usize, u64, String, String, Option<usize>, u8, String);

/// The explanation of a failure or of trouble.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(super) struct TroubleView {
    reason: String,
    /// The number of the forbidden step, from 1; `None` if the run did not fail.
    forbidden: Option<usize>,
    explanation: Option<Explanation>,
    finding: Option<FindingRecord>,
    last_words: String,
}

impl TroubleView {
    /// Makes the explanation of a run that has ended.
    fn new(ended_run: &EndedRun) -> Self {
        let run = &ended_run.run;
        Self {
            reason: run.reason().to_owned(),
            forbidden: run.forbidden_step(),
            explanation: run.explanation().cloned(),
            finding: run.verdict.as_ref().and_then(|told| told.finding.clone()),
            last_words: run.last_words().to_owned(),
        }
    }
}

impl RunsPage {
    /// The runs as the page has them.
    pub(super) fn view(&self) -> RunsView<'_> {
        let tapes = self.tapes.iter().chain(self.open.iter().map(|(number, open)| (number, &open.tape)));
        RunsView {
            columns: &COLUMNS,
            listed: &self.listed,
            unlisted: self.unlisted,
            open: self.open.keys().map(|number| number_from_one(*number)).collect(),
            details: self.details.iter().map(|(number, told)| (number_from_one(*number), told)).collect(),
            tapes: tapes.map(|(number, tape)| (number_from_one(*number), tape)).collect(),
        }
    }
}
