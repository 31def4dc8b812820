//! The figures of a campaign for programs: stable names, versioned.
//!
//! The page of a report shows the same figures; its types are written from these structs.

use std::collections::BTreeSet;

use ioxide_record::event::{
    CampaignStarted, Explanation, HistoryRecord, LagRecord, LatencyRecord, MeasureRecord, Replayed,
    RunOutcome, TimeSpentRecord, UnmadeRecord,
};
use serde::Serialize;
use serde_json::Value as Json;

use super::{FailureSummary, Reasons, Summary};
use crate::chart::ChartStep;
use crate::http::operations::OperationCounts;
use crate::requirements::RequirementTableJson;
use crate::run_number::number_from_one;
use crate::values::{ShapeRecord, ValueRow};

/// The version of this format; it changes when a field changes its meaning or goes away.
const VERSION: u32 = 1;

/// The figures of a campaign.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct FiguresJson<'s> {
    version: u32,
    verdict: &'s str,
    /// The reason why a campaign without failures is inconclusive, where one holds for all its runs.
    reason: Option<String>,
    is_finished: bool,
    campaign: Option<StartJson<'s>>,
    runs: RunCountsJson,
    steps: u64,
    doubts: u64,
    time_ns: u64,
    failures: Vec<FailureJson<'s>>,
    failures_unlisted: u64,
    errors: ReasonsJson<'s>,
    inconclusive: ReasonsJson<'s>,
    switches: SwitchesJson<'s>,
    /// The figures by operation of a system that is asked by HTTP.
    #[serde(skip_serializing_if = "<[OperationCounts]>::is_empty")]
    #[cfg_attr(test, ts(optional, as = "Option<Vec<OperationCounts>>"))]
    operations: &'s [OperationCounts],
    /// The requirements of the model; absent if it names none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    requirements: Option<RequirementTableJson<'s>>,
    values: Vec<ValueRowJson>,
    values_full: bool,
    latencies: &'s [LatencyRecord],
    suggested_patience_ms: Option<u64>,
    machine_lag: Option<LagRecord>,
    time_spent: Option<TimeSpentRecord>,
    measures: &'s [MeasureRecord],
    history: Option<&'s HistoryRecord>,
}

/// The first event of a campaign: model, system, tester and settings.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
struct StartJson<'s> {
    model: &'s str,
    file: &'s str,
    set: &'s [String],
    tester: &'s str,
    sut: &'s str,
    seed: u64,
    runs: u64,
    jobs: u64,
    patience_ms: u64,
    /// The number of switches of the model.
    switches: usize,
}

/// Numbers of runs by outcome.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
struct RunCountsJson {
    finished: u64,
    passed: u64,
    failed: u64,
    inconclusive: u64,
    errors: u64,
    interrupted: u64,
    /// Runs that began and did not end.
    cut: u64,
}

/// Failures of one kind. Runs count from 1 here, as they do for people and for `replay --number`.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
struct FailureJson<'s> {
    id: &'s str,
    signature: &'s str,
    runs: u64,
    first: u64,
    seed: u64,
    goal: &'s str,
    steps: usize,
    /// The number of the forbidden step, from 1.
    forbidden: usize,
    last: Vec<&'s str>,
    reason: &'s str,
    explanation: Option<&'s Explanation>,
    /// The failure in the words of HTTP: request, answer, lines of `curl`.
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    #[cfg_attr(test, ts(optional, as = "Option<Vec<String>>"))]
    http: &'s [String],
    replayed: Option<ReplayedJson<'s>>,
    shrunk: Option<ShrunkJson<'s>>,
}

/// The number of repetitions that failed in the same way and, if none did, the outcome and labels of the first.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
struct ReplayedJson<'s> {
    reproduced: u32,
    /// The number of repetitions that were made.
    of: u32,
    /// True if it fails only after the reset of the project file, never after a restart.
    only_after_reset: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    unmade: Option<&'s UnmadeRecord>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    instead: Option<InsteadJson<'s>>,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
struct InsteadJson<'s> {
    outcome: RunOutcome,
    steps: Vec<&'s str>,
}

/// The smallest run found that fails alike.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
struct ShrunkJson<'s> {
    steps: usize,
    /// The number of the forbidden step, from 1.
    forbidden: usize,
    last: Vec<&'s str>,
    minimal: bool,
    ended_early: Option<&'s str>,
    attempts: u32,
    /// The labels that were allowed at the end of this run, and the reasons against the one that came; `None` if they
    /// are not known.
    explanation: Option<&'s Explanation>,
}

/// The reasons of runs without a result: the first different ones, in the order in which they occurred.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
struct ReasonsJson<'s> {
    reasons: Vec<ReasonJson<'s>>,
    others: u64,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
struct ReasonJson<'s> {
    reason: &'s str,
    runs: u64,
}

/// Switches by whether they were taken.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
struct SwitchesJson<'s> {
    certain: &'s BTreeSet<String>,
    possible: &'s BTreeSet<String>,
    never: Vec<String>,
}

/// The values of a field that were sent.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
struct ValueRowJson {
    message: String,
    field: Option<String>,
    sent: u64,
    distinct: usize,
    is_more: bool,
    min: Option<String>,
    max: Option<String>,
    frequent: Vec<FrequentJson>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    shape: Option<ShapeJson>,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
struct FrequentJson {
    value: String,
    sent: u64,
}

/// The lengths of the collections, or the constructors, among the values of a field.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(untagged)]
pub(crate) enum ShapeJson {
    Lengths { least: usize, most: usize, lengths: Vec<(String, u64)> },
    Cases { cases: Vec<(String, u64)> },
}

impl Summary {
    /// Returns the figures as JSON.
    #[must_use]
    pub fn to_json(&self) -> Json {
        // Texts and numbers have nothing that serialisation could refuse.
        serde_json::to_value(self.figures()).unwrap_or_default()
    }

    /// Returns the figures for serialisation.
    pub(crate) fn figures(&self) -> FiguresJson<'_> {
        let counts = &self.counts;
        FiguresJson {
            version: VERSION,
            verdict: self.verdict(),
            reason: self.reason(),
            is_finished: self.finished.is_some(),
            campaign: self.started.as_ref().map(StartJson::new),
            runs: RunCountsJson {
                finished: counts.total(),
                passed: counts.passed,
                failed: counts.failed,
                inconclusive: counts.inconclusive,
                errors: counts.errors,
                interrupted: counts.interrupted,
                cut: counts.cut + self.count_open_runs() as u64,
            },
            steps: self.steps,
            doubts: self.doubts,
            time_ns: self.time_ns,
            failures: self.kinds.iter().map(FailureJson::new).collect(),
            failures_unlisted: self.unlisted,
            errors: ReasonsJson::new(&self.errors),
            inconclusive: ReasonsJson::new(&self.inconclusive),
            switches: SwitchesJson {
                certain: &self.certain,
                possible: &self.possible,
                never: self.never_taken(),
            },
            operations: self.operations.rows(),
            requirements: self.requirements.to_json(),
            values: self.values.rows().into_iter().map(ValueRowJson::new).collect(),
            values_full: self.values.is_full(),
            latencies: self.latencies(),
            suggested_patience_ms: self.suggested_patience_ms(),
            machine_lag: self.finished.as_ref().and_then(|told| told.machine_lag),
            time_spent: self.finished.as_ref().and_then(|told| told.time_spent),
            measures: self.measures(),
            history: self.finished.as_ref().map(|told| &told.history),
        }
    }

    /// Returns the latencies of the system by message; empty until the campaign has ended.
    #[must_use]
    pub fn latencies(&self) -> &[LatencyRecord] {
        self.finished.as_ref().map_or(&[], |told| &told.latencies)
    }

    /// Returns the measures of data and history coverage; empty until the campaign has ended.
    #[must_use]
    pub fn measures(&self) -> &[MeasureRecord] {
        self.finished.as_ref().map_or(&[], |told| &told.measures)
    }

    /// Returns the time-out for quiescence that fits the system, in milliseconds; `None` until the campaign has ended.
    #[must_use]
    pub fn suggested_patience_ms(&self) -> Option<u64> {
        self.finished.as_ref().and_then(|told| told.suggested_patience_ms)
    }
}

impl<'s> StartJson<'s> {
    /// Makes the view of the first event.
    fn new(started: &'s CampaignStarted) -> Self {
        Self {
            model: &started.model,
            file: &started.file,
            set: &started.set,
            tester: &started.tester,
            sut: &started.sut,
            seed: started.seed,
            runs: started.runs,
            jobs: started.jobs,
            patience_ms: started.patience_ms,
            switches: started.switches.len(),
        }
    }
}

impl<'s> FailureJson<'s> {
    /// Makes the view of a kind of failure; the number of its first run counts from 1.
    fn new(kind: &'s FailureSummary) -> Self {
        let run = &kind.run;
        Self {
            id: &kind.id,
            signature: &kind.signature,
            runs: kind.runs,
            first: number_from_one(run.number),
            seed: run.seed,
            goal: &run.goal,
            steps: kind.steps,
            forbidden: run.forbidden_step().unwrap_or(run.steps),
            last: run.last.iter().map(|step| &*step.text).collect(),
            reason: run.reason(),
            explanation: run.explanation(),
            http: &kind.http,
            replayed: kind.replayed.as_ref().map(ReplayedJson::new),
            shrunk: kind.smaller.as_ref().map(|smaller| ShrunkJson {
                steps: smaller.size(),
                forbidden: smaller.forbidden,
                last: smaller.steps.iter().map(|step: &ChartStep| &*step.text).collect(),
                minimal: smaller.minimal,
                ended_early: smaller.early.as_deref(),
                attempts: smaller.attempts,
                explanation: smaller.explanation.as_ref(),
            }),
        }
    }
}

impl<'s> ReplayedJson<'s> {
    /// Makes the view of the repetitions of a failure.
    fn new(replayed: &'s Replayed) -> Self {
        let instead = replayed.instead.as_ref().map(|instead| InsteadJson {
            outcome: instead.outcome,
            steps: instead.trace.iter().map(|label| &*label.text).collect(),
        });
        let Replayed { reproduced, of, only_after_reset, .. } = *replayed;
        Self { reproduced, of, only_after_reset, unmade: replayed.unmade.as_ref(), instead }
    }
}

impl<'s> ReasonsJson<'s> {
    /// Makes the view of the reasons.
    fn new(reasons: &'s Reasons) -> Self {
        let reason = |(reason, runs)| ReasonJson { reason, runs };
        Self { reasons: reasons.iter().map(reason).collect(), others: reasons.count_beyond() }
    }
}

impl ValueRowJson {
    /// Makes the view of a row of values.
    fn new(row: ValueRow) -> Self {
        let (min, max) = row.range.unzip();
        Self {
            message: row.message,
            field: row.field,
            sent: row.sent,
            distinct: row.distinct,
            is_more: row.is_more,
            min,
            max,
            frequent: row.frequent.into_iter().map(|(value, sent)| FrequentJson { value, sent }).collect(),
            shape: row.shape.map(ShapeJson::new),
        }
    }
}

impl ShapeJson {
    /// Makes the view of a shape.
    pub(crate) fn new(shape: ShapeRecord) -> Self {
        match shape {
            ShapeRecord::Lengths(least, most, lengths) => Self::Lengths { least, most, lengths },
            ShapeRecord::Cases(cases) => Self::Cases { cases },
        }
    }
}
