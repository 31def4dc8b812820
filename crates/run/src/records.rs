//! Conversions between the knowledge of a run and the form in which records keep it.

use std::time::Duration;

use ioxide_record::clock::{duration, seconds};
use ioxide_record::event::{FindingRecord, LagRecord, MeasureRecord, RouteRecord, ToleranceRecord};
use ioxide_record::format::Record;
use ioxide_symex::{Arrival, Crossing, Tolerance};
use ioxide_testgen::tester::MethodFinding;

use crate::coverage::MeasureCount;
use crate::judge::{Inputs, JudgeConfig};
use crate::run::LagEffect;

/// The number of uncovered items that are named. Chosen by feel: more is not read.
const MAX_NAMED: usize = 50;

/// Returns the finding of a method as a record keeps it.
#[must_use]
pub fn record_finding(finding: &MethodFinding) -> FindingRecord {
    FindingRecord {
        word: finding.word.clone(),
        rule: finding.rule.clone(),
        state: finding.state.clone(),
        event: finding.event.clone(),
        because: finding.because.clone(),
    }
}

/// Returns the way of an input; `None` on the first lane.
#[must_use]
pub fn record_input_way(lane: u32) -> Option<RouteRecord> {
    (lane > 0).then(|| RouteRecord { lane, ..RouteRecord::default() })
}

/// Returns the way of a message that was seen; `None` if it came directly.
#[must_use]
pub fn record_way(arrival: Arrival) -> Option<RouteRecord> {
    match arrival {
        Arrival::Direct => None,
        Arrival::Answer { lane, others } => {
            Some(RouteRecord { lane, is_answer: true, others, ..RouteRecord::default() })
        }
        Arrival::Crossing(Crossing { connection, lane, is_answer, others, is_end }) => {
            Some(RouteRecord { lane, connection: Some(connection), is_answer, others, is_end })
        }
    }
}

/// Returns the way of a message as the monitor takes it.
#[must_use]
pub fn read_way(route: RouteRecord) -> Arrival {
    let RouteRecord { lane, connection, is_answer, others, is_end } = route;
    match connection {
        Some(connection) => Arrival::Crossing(Crossing { connection, lane, is_answer, others, is_end }),
        None => Arrival::Answer { lane, others },
    }
}

/// Returns the tolerance in whole nanoseconds.
#[must_use]
pub fn record_tolerance(tolerance: &Tolerance) -> ToleranceRecord {
    let nanoseconds = |time| u64::try_from(duration(time).as_nanos()).unwrap_or(u64::MAX);
    ToleranceRecord {
        latency_ns: nanoseconds(&tolerance.latency),
        resolution_ns: nanoseconds(&tolerance.resolution),
        start_ns: nanoseconds(&tolerance.start),
    }
}

/// Returns the tolerance of a recorded run.
#[must_use]
pub fn read_tolerance(tolerance: ToleranceRecord) -> Tolerance {
    let time = |ns| seconds(Duration::from_nanos(ns));
    let (latency, resolution) = (time(tolerance.latency_ns), time(tolerance.resolution_ns));
    Tolerance { latency, resolution, start: time(tolerance.start_ns) }
}

impl JudgeConfig<'_> {
    /// Returns the settings under which run `run` of `record` is judged, as far as the record states them; its instants
    /// are also as inexact as the machine was late. `ways` are those of its labels.
    #[must_use]
    pub fn for_recorded_run(record: &Record, run: u64, ways: Vec<Option<RouteRecord>>) -> Self {
        let start = record.start_of_run(run);
        let stated = start.and_then(|start| start.tolerance).map(read_tolerance).unwrap_or_default();
        let lag = record.end_of_run(run).and_then(|end| end.machine_lag).map(LagEffect::from);
        let lag = lag.unwrap_or_default().tolerance;
        let is_sent = start.is_some_and(|start| start.unconfirmed);
        Self {
            tolerance: Tolerance { latency: &stated.latency + &seconds(lag), ..stated },
            inputs: if is_sent { Inputs::Sent } else { Inputs::Taken },
            ways,
            connections: start.map(|start| start.connections.clone()).unwrap_or_default(),
            ..Self::default()
        }
    }
}

impl LagEffect {
    /// Returns the effect in milliseconds, rounded up; `None` if there was none.
    #[must_use]
    pub fn to_record(self) -> Option<LagRecord> {
        let ms = |time: Duration| u64::try_from(time.as_nanos().div_ceil(1_000_000)).unwrap_or(u64::MAX);
        (self != Self::default())
            .then(|| LagRecord { waits_ms: ms(self.waits), tolerance_ms: ms(self.tolerance) })
    }
}

impl From<LagRecord> for LagEffect {
    fn from(lag: LagRecord) -> Self {
        let time = Duration::from_millis;
        Self { waits: time(lag.waits_ms), tolerance: time(lag.tolerance_ms) }
    }
}

impl From<&MeasureCount> for MeasureRecord {
    fn from(count: &MeasureCount) -> Self {
        Self {
            measure: count.measure.name().to_owned(),
            seen: count.seen as u64,
            total: count.total.map(|total| total as u64),
            missing: count.missing.iter().take(MAX_NAMED).cloned().collect(),
        }
    }
}
