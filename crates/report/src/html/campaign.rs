//! A campaign as the page shows it: a fold over its events.
//!
//! *Promises.* Memory and page do not grow without bound: runs, tapes, values and kinds of failures are each limited,
//! and the number of those left out is kept.

use std::collections::BTreeMap;
use std::io;

use ioxide_runner::event::{Event, EventKind};
use ioxide_runner::reporter::Reporter;
use serde::Serialize;

use super::latency::LatencyView;
use super::run_tape::RunTape;
use super::runs::{RunsPage, RunsView};
use super::switch_totals::TakenView;
use crate::summary::Summary;
use crate::summary::json::{FiguresJson, ShapeJson};
use crate::summary::parts::PartFamily;
use crate::summary::story::plural;
use crate::values::ValueCounts;

/// A campaign up to the last event added.
#[derive(Default)]
pub struct CampaignPage {
    /// Its figures.
    pub summary: Summary,
    runs: RunsPage,
    /// The smaller runs: the number of the run each was made from, from 1, and its steps.
    smaller: Vec<(u64, SmallerView)>,
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
            other => other.to_owned(),
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
            smaller: &self.smaller,
            values: self.summary.values.counts().map(SentView::of).collect(),
            parts: self.summary.families(),
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
    from: usize,
    attempts: u32,
    minimal: bool,
    reproduced: u32,
    of: u32,
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
    fn of(told: ValueCounts<'v>) -> Self {
        let ValueCounts { message, field, are_numbers, shape, values, beyond } = told;
        Self { message, field, are_numbers, shape: shape.map(ShapeJson::of), values, beyond }
    }
}

impl Reporter for CampaignPage {
    fn event(&mut self, event: &Event) -> io::Result<()> {
        match &event.event {
            EventKind::RunStarted(told) => self.runs.start(told, event.time_ns),
            EventKind::Stimulus(told) | EventKind::Observation(told) => self.runs.step(event, told),
            EventKind::Shrunk(told) => {
                let smaller = SmallerView {
                    tape: RunTape::of(&told.trace),
                    from: told.from,
                    attempts: told.attempts,
                    minimal: told.minimal,
                    reproduced: told.reproduced,
                    of: told.of,
                };
                self.smaller.push((told.run + 1, smaller));
            }
            EventKind::CampaignStarted(_)
            | EventKind::Patience(_)
            | EventKind::Verdict(_)
            | EventKind::Trouble(_)
            | EventKind::RunFinished(_)
            | EventKind::Replayed(_)
            | EventKind::CampaignFinished(_) => (),
        }
        if let Some(ended) = self.summary.add(event) {
            self.runs.end(&ended);
        }
        Ok(())
    }
}
