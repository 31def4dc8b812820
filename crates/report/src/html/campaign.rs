//! A campaign as the page shows it: a fold over its events.
//!
//! *Promises.* Memory and page do not grow without bound: runs, tapes, values and kinds of failures are
//! each limited, and what is left out is counted.

use std::io;

use ioxide_runner::event::{Event, EventKind};
use ioxide_runner::reporter::Reporter;
use serde::ser::{Serialize, SerializeStruct as _, Serializer};
use serde_json::{Value as Json, json};

use super::run_tape::RunTape;
use super::runs::RunsPage;
use crate::summary::Summary;
use crate::summary::story::plural;

/// What is known of a campaign so far.
#[derive(Default)]
pub struct CampaignPage {
    /// Its figures.
    pub summary: Summary,
    runs: RunsPage,
    /// The smaller runs: the number of the run each was made from, from 1, and its steps.
    smaller: Vec<(u64, Json)>,
}

impl CampaignPage {
    /// The model, and how it went.
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

    /// What was taken of each part of a system.
    fn parts(&self) -> Json {
        let part = |family: crate::summary::parts::PartFamily| {
            let crate::summary::parts::PartFamily { name, instances, total, some, each } = family;
            json!({ "name": name, "instances": instances, "total": total, "some": some, "each": each })
        };
        self.summary.families().into_iter().map(part).collect()
    }

    /// How often each value was sent, by field.
    fn values(&self) -> Json {
        let field = |told: crate::values::ValueCounts<'_>| {
            let values: Vec<Json> = told.values.iter().map(|(value, n)| json!([value, n])).collect();
            json!({
                "message": told.message, "field": told.field, "are_numbers": told.are_numbers,
                "shape": told.shape.as_ref().map(crate::summary::json::shape_json),
                "values": values, "beyond": told.beyond,
            })
        };
        self.summary.values.counts().map(field).collect()
    }
}

/// The document's part on it.
impl Serialize for CampaignPage {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        let mut campaign = out.serialize_struct("Campaign", 7)?;
        campaign.serialize_field("figures", &self.summary.to_json())?;
        campaign.serialize_field("runs", &self.runs)?;
        campaign.serialize_field("taken", &self.runs.taken.to_json())?;
        campaign.serialize_field("latency", &self.runs.latency.to_json())?;
        campaign.serialize_field("smaller", &self.smaller)?;
        campaign.serialize_field("values", &self.values())?;
        campaign.serialize_field("parts", &self.parts())?;
        campaign.end()
    }
}

impl Reporter for CampaignPage {
    fn event(&mut self, event: &Event) -> io::Result<()> {
        match &event.event {
            EventKind::RunStarted(told) => self.runs.start(told, event.time_ns),
            EventKind::Stimulus(told) | EventKind::Observation(told) => self.runs.step(event, told),
            EventKind::Shrunk(told) => {
                let steps = json!({
                    "tape": RunTape::of(&told.trace), "from": told.from, "attempts": told.attempts,
                    "minimal": told.minimal, "reproduced": told.reproduced, "of": told.of,
                });
                self.smaller.push((told.run + 1, steps));
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
