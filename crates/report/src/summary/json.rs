//! The figures of a campaign for programs: stable names, versioned.

use ioxide_runner::event::{LatencyTold, MeasureTold, Replayed};
use serde_json::{Value as Json, json};

use super::{FailureSummary, Reasons, Summary};
use crate::chart::ChartStep;
use crate::values::{ShapeTold, ValueRow};

/// The version of this form; it changes when a field changes its meaning or goes away.
const VERSION: u32 = 1;

impl Summary {
    /// The figures in JSON.
    #[must_use]
    pub fn to_json(&self) -> Json {
        json!({
            "version": VERSION,
            "verdict": self.verdict(),
            "is_finished": self.finished.is_some(),
            "campaign": self.campaign_json(),
            "runs": {
                "finished": self.counts.total(), "passed": self.counts.passed, "failed": self.counts.failed,
                "inconclusive": self.counts.inconclusive, "errors": self.counts.errors,
                "interrupted": self.counts.interrupted, "cut": self.counts.cut + self.open() as u64,
            },
            "steps": self.steps,
            "doubts": self.doubts,
            "time_ns": self.time_ns,
            "failures": self.kinds.iter().map(kind_json).collect::<Vec<_>>(),
            "failures_unlisted": self.unlisted,
            "errors": reasons_json(&self.errors),
            "inconclusive": reasons_json(&self.inconclusive),
            "switches": {
                "certain": self.certain, "possible": self.possible, "never": self.never(),
            },
            "values": self.values.rows().iter().map(row_json).collect::<Vec<_>>(),
            "values_full": self.values.is_full(),
            "latencies": self.latencies().iter().map(latency_json).collect::<Vec<_>>(),
            "suggested_patience_ms": self.suggested_patience_ms(),
            "measures": self.measures(),
            "history": self.finished.as_ref().map(|told| &told.history),
        })
    }

    /// How long the system took to answer, as far as it was told.
    #[must_use]
    pub fn latencies(&self) -> &[LatencyTold] {
        self.finished.as_ref().map_or(&[], |told| &told.latencies)
    }

    /// How much of data and history was covered, as far as it was told.
    #[must_use]
    pub fn measures(&self) -> &[MeasureTold] {
        self.finished.as_ref().map_or(&[], |told| &told.measures)
    }

    /// A time of silence that fits the system, if one was told.
    #[must_use]
    pub fn suggested_patience_ms(&self) -> Option<u64> {
        self.finished.as_ref().and_then(|told| told.suggested_patience_ms)
    }

    fn campaign_json(&self) -> Json {
        let Some(told) = &self.started else { return Json::Null };
        json!({
            "model": told.model, "file": told.file, "set": told.set, "tester": told.tester, "sut": told.sut,
            "seed": told.seed, "runs": told.runs, "jobs": told.jobs, "patience_ms": told.patience_ms,
            "switches": told.switches.len(),
        })
    }
}

/// Runs count from 1 here, as they do for people and for `replay --number`.
fn kind_json(kind: &FailureSummary) -> Json {
    let texts = |steps: &[ChartStep]| steps.iter().map(|step| step.text.clone()).collect::<Vec<_>>();
    json!({
        "signature": kind.signature,
        "runs": kind.runs,
        "first": kind.run.number + 1,
        "seed": kind.run.seed,
        "goal": kind.run.goal,
        "steps": kind.steps,
        "last": kind.run.last.iter().map(|step| &step.text).collect::<Vec<_>>(),
        "reason": kind.run.reason(),
        "explanation": kind.run.explanation(),
        "replayed": kind.replayed.as_ref().map(replayed),
        "shrunk": kind.smaller.as_ref().map(|smaller| json!({
            "steps": smaller.size(), "last": texts(&smaller.steps), "minimal": smaller.minimal, "ended_early": smaller.early,
            "attempts": smaller.attempts,
        })),
    })
}

/// How often it failed again and, if it never did, what was seen instead.
fn replayed(told: &Replayed) -> Json {
    let mut json = json!({"reproduced": told.reproduced, "of": told.of});
    if let Some(instead) = &told.instead {
        let steps: Vec<&str> = instead.trace.iter().map(|label| &*label.text).collect();
        json["instead"] = json!({"outcome": instead.outcome, "steps": steps});
    }
    json
}

fn reasons_json(reasons: &Reasons) -> Json {
    let told: Vec<Json> = reasons.iter().map(|(reason, n)| json!({"reason": reason, "runs": n})).collect();
    json!({ "reasons": told, "others": reasons.beyond() })
}

fn row_json(row: &ValueRow) -> Json {
    let frequent: Vec<Json> =
        row.frequent.iter().map(|(value, n)| json!({"value": value, "sent": n})).collect();
    let mut told = json!({
        "message": row.message, "field": row.field, "sent": row.sent, "distinct": row.distinct,
        "is_more": row.is_more,
        "min": row.range.as_ref().map(|(min, _)| min), "max": row.range.as_ref().map(|(_, max)| max),
        "frequent": frequent,
    });
    if let Some(shape) = &row.shape {
        told["shape"] = shape_json(shape);
    }
    told
}

/// How many items the values of a field had, or which cases they were.
pub(crate) fn shape_json(shape: &ShapeTold) -> Json {
    let counts = |counts: &[(String, u64)]| counts.iter().map(|(name, n)| json!([name, n])).collect::<Json>();
    match shape {
        ShapeTold::Lengths(least, most, lengths) => {
            json!({ "least": least, "most": most, "lengths": counts(lengths) })
        }
        ShapeTold::Cases(cases) => json!({ "cases": counts(cases) }),
    }
}

fn latency_json(told: &LatencyTold) -> Json {
    json!({"label": told.label, "n": told.n, "p50_us": told.p50_us, "p99_us": told.p99_us, "max_us": told.max_us})
}
