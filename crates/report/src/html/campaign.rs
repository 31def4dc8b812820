//! A campaign as the page shows it: a fold over its events.
//!
//! *Promises.* Memory and page do not grow without bound: runs, tapes, values and kinds of failures are each limited,
//! and the number of those left out is kept.

use std::collections::BTreeMap;
use std::io;

use ioxide_record::event::{Event, EventKind, Explanation, ScriptRecord, ShrunkRecord};
use ioxide_record::reporter::Reporter;
use serde::Serialize;

use super::latency::LatencyView;
use super::run_tape::RunTape;
use super::runs::{RunsPage, RunsView};
use super::switch_totals::TakenView;
use crate::run_number::number_from_one;
use crate::script::{ScriptLanguage, write_script};
use crate::summary::Summary;
use crate::summary::json::{FiguresJson, ShapeJson};
use crate::summary::lines::plural;
use crate::summary::parts::PartFamily;
use crate::values::ValueCounts;

/// A campaign up to the last event added.
#[derive(Default)]
pub struct CampaignPage {
    /// Its figures.
    pub summary: Summary,
    runs: RunsPage,
    smaller: SmallerRuns,
}

/// The bytes of tapes kept of runs that were made smaller. Chosen by feel: the page must stay small enough for a
/// browser to open.
const ROOM_FOR_SMALLER: usize = 16 << 20;
/// The number of smaller runs kept. Chosen by feel, as for their bytes.
const MAX_SMALLER: usize = 1000;

/// The runs that were made smaller.
#[derive(Default)]
struct SmallerRuns {
    /// The number of the run each was made from, from 1, and its steps; each number occurs once.
    kept: Vec<(u64, SmallerView)>,
    room_used: usize,
    /// The number of those for which there was no room.
    unkept: u64,
}

impl SmallerRuns {
    /// Keeps a smaller run; it replaces an earlier one that was made from the same run.
    fn add_shrunk(&mut self, shrunk: &ShrunkRecord, model: &str) {
        let number = number_from_one(shrunk.run);
        if let Some(at) = self.kept.iter().position(|(other, _)| *other == number) {
            let (_, earlier) = self.kept.remove(at);
            self.room_used -= earlier.weight();
        }
        let smaller = SmallerView::new(shrunk, model);
        // The first of all is kept however large it is: somebody will want to see it.
        let has_room = self.room_used == 0 || self.room_used + smaller.weight() <= ROOM_FOR_SMALLER;
        if has_room && self.kept.len() < MAX_SMALLER {
            self.room_used += smaller.weight();
            self.kept.push((number, smaller));
        } else {
            self.unkept += 1;
        }
    }
}

impl CampaignPage {
    /// Returns the name of the model, and the result in a few words.
    #[must_use]
    pub fn headline(&self) -> (String, String) {
        let summary = &self.summary;
        let model = summary.started.as_ref().map_or("a campaign", |started| &started.model);
        let counts = &summary.counts;
        let told = match summary.verdict() {
            "failed" => format!("{} of {} failed", counts.failed, plural(counts.total(), "run")),
            "passed" => format!("{} of {} passed", counts.passed, plural(counts.total(), "run")),
            other => summary.reason().map_or_else(|| other.to_owned(), |why| format!("{other}: {why}")),
        };
        (model.to_owned(), told)
    }

    /// Returns the campaign for the JSON document.
    pub(super) fn view(&self) -> CampaignView<'_> {
        CampaignView {
            figures: self.summary.figures(),
            seed: self.summary.started.as_ref().map_or_else(String::new, |told| told.seed.to_string()),
            runs: self.runs.view(),
            taken: self.runs.taken.view(),
            latency: self.runs.latency.view(),
            smaller: &self.smaller.kept,
            smaller_unkept: self.smaller.unkept,
            values: self.summary.values.counts().map(SentView::new).collect(),
            parts: self.summary.part_families(),
        }
    }
}

/// A campaign in the JSON document.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(super) struct CampaignView<'c> {
    figures: FiguresJson<'c>,
    /// The seed as text, since it may exceed the numbers of JavaScript.
    seed: String,
    runs: RunsView<'c>,
    /// The runs that took each switch, by its label.
    taken: BTreeMap<&'c str, TakenView<'c>>,
    latency: Vec<LatencyView<'c>>,
    /// The smaller runs, by the number of the run each was made from, from 1.
    smaller: &'c [(u64, SmallerView)],
    /// The number of smaller runs for which there was no room.
    smaller_unkept: u64,
    /// The frequencies of the values sent, by field.
    values: Vec<SentView<'c>>,
    parts: Vec<PartFamily>,
}

/// A failing run that was made smaller.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
struct SmallerView {
    #[cfg_attr(test, ts(as = "super::run_tape::TapeView<'static>"))]
    tape: RunTape,
    /// The number of its forbidden step, from 1.
    forbidden: usize,
    from: usize,
    attempts: u32,
    minimal: bool,
    reproduced: u32,
    of: u32,
    /// The values of inputs that were taken from replies.
    references: Vec<String>,
    /// The forbidden step against what was allowed.
    explanation: Option<Explanation>,
    /// Programs that do the run again without ioxide.
    scripts: Vec<ScriptView>,
    /// The reason why no program without ioxide can do the run again; `None` if one can.
    no_script: Option<String>,
}

/// A program that does a run again without ioxide.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
struct ScriptView {
    language: &'static str,
    text: String,
}

impl ScriptView {
    /// Writes the program; `None` if `language` cannot express the run.
    fn new(script: &ScriptRecord, language: ScriptLanguage, model: &str) -> Option<Self> {
        Some(Self { language: language.title(), text: write_script(script, language, model)? })
    }
}

impl SmallerView {
    /// Returns the approximate size on the page, in bytes.
    fn weight(&self) -> usize {
        self.tape.weight() + self.scripts.iter().map(|script| script.text.len()).sum::<usize>()
    }

    /// Makes the view of a smaller run, with a program in each language that can express it.
    fn new(shrunk: &ShrunkRecord, model: &str) -> Self {
        let scripts = shrunk.script.iter().flat_map(|script| {
            ScriptLanguage::ALL.into_iter().filter_map(|language| ScriptView::new(script, language, model))
        });
        Self {
            tape: RunTape::from_labels(&shrunk.trace),
            forbidden: shrunk.step.unwrap_or(shrunk.trace.len()),
            from: shrunk.from,
            attempts: shrunk.attempts,
            minimal: shrunk.minimal,
            reproduced: shrunk.reproduced,
            of: shrunk.of,
            references: shrunk.references.clone(),
            explanation: shrunk.explanation.clone(),
            scripts: scripts.collect(),
            no_script: shrunk.no_script.clone(),
        }
    }
}

/// The frequencies of the values of a field.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
struct SentView<'v> {
    message: &'v str,
    field: &'v str,
    are_numbers: bool,
    shape: Option<ShapeJson>,
    values: Vec<(&'v str, u64)>,
    beyond: u64,
}

impl<'v> SentView<'v> {
    /// Makes the view of counted values.
    fn new(told: ValueCounts<'v>) -> Self {
        let ValueCounts { message, field, are_numbers, shape, values, beyond } = told;
        Self { message, field, are_numbers, shape: shape.map(ShapeJson::new), values, beyond }
    }
}

impl Reporter for CampaignPage {
    fn event(&mut self, event: &Event) -> io::Result<()> {
        match &event.event {
            EventKind::RunStarted(told) => self.runs.start_run(told, event.time_ns),
            EventKind::Stimulus(told) | EventKind::Observation(told) => self.runs.add_step(event, told),
            EventKind::Shrunk(told) => {
                let started = self.summary.started.as_ref();
                self.smaller.add_shrunk(told, started.map_or("the system", |started| &started.model));
            }
            EventKind::CampaignStarted(_)
            | EventKind::Patience(_)
            | EventKind::Unsolicited(_)
            | EventKind::Verdict(_)
            | EventKind::Trouble(_)
            | EventKind::RunFinished(_)
            | EventKind::Replayed(_)
            | EventKind::CampaignFinished(_) => (),
        }
        if let Some(ended) = self.summary.add_event(event) {
            self.runs.end_run(&ended);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summary::samples::failing;
    use ioxide_record::event::LabelRecord;

    #[test]
    fn smaller_runs_are_bounded_and_those_left_out_counted() {
        let mut told = failing().into_iter().find_map(|event| match event.event {
            EventKind::Shrunk(told) => Some(told),
            _ => None,
        });
        let told = told.as_mut().expect("a run was made smaller");
        let mut smaller = SmallerRuns::default();
        for run in 0..3 {
            smaller.add_shrunk(&ShrunkRecord { run, ..told.clone() }, "M");
            smaller.add_shrunk(&ShrunkRecord { run, ..told.clone() }, "M");
        }
        assert_eq!((smaller.kept.len(), smaller.unkept), (3, 0), "one for each run");
        let used = smaller.room_used;
        assert_eq!(used, smaller.kept.iter().map(|(_, kept)| kept.weight()).sum::<usize>());
        let step = told.trace.first().expect("it has steps").clone();
        told.trace = (0..100)
            .map(|n| LabelRecord { text: format!("{n} {}", "x".repeat(90_000)), ..step.clone() })
            .collect();
        for run in [3, 4, u64::MAX] {
            smaller.add_shrunk(&ShrunkRecord { run, ..told.clone() }, "M");
        }
        assert!(smaller.room_used <= ROOM_FOR_SMALLER);
        assert_eq!(smaller.kept.len() as u64 + smaller.unkept, 6);
        assert!(smaller.unkept > 0);
    }
}
