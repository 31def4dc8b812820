//! Units merged to the campaign that one machine would have reported.
//!
//! Units come in order. Their events are reported again, with new numbers; a failure that was examined elsewhere though
//! another of its kind came before is reported as if it had not been, by the same rule as in one campaign. (The first
//! of a kind in the whole campaign is the first of its kind in its part too, so it was examined there.) Times are those
//! of the machines, one after the other.
//!
//! *Promises.* Bytes of the record depend on the units, not on how they were shared, but for times.

use std::io;
use std::time::Duration;

use ioxide_model::sts::Model;
use ioxide_model::trace::Trace;
use ioxide_record::event::{Event, EventKind, LabelRecord, RunStarted, ShrunkRecord};
use ioxide_record::format::{Record, label};
use ioxide_record::reporter::Reporter;
use ioxide_symex::Ctx;
use thiserror::Error;

use super::unit::UnitRecord;
use super::{CampaignConfig, CampaignOutcome, FailureGroup, OnFailure, RunCounts, tell};
use crate::coverage::{CoverageSurvey, EnoughCoverage};
use crate::run::{LagEffect, RunId};
use crate::shrink::ShrunkRun;

/// The reason why units cannot be merged to a campaign.
#[derive(Debug, Error)]
pub enum MergeError {
    /// The reporter failed.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// The result of the unit with this number, from 1, does not fit the model.
    #[error("the result of unit {0} does not fit the model")]
    Misfit(u64),
}

/// A campaign being put together.
pub struct MergedCampaign<'m> {
    spec: &'m Model,
    config: &'m CampaignConfig,
    reporter: &'m mut dyn Reporter,
    enough: Option<EnoughCoverage>,
    found: CampaignOutcome,
    seq: u64,
    /// The time at which the unit under way begins.
    now_ns: u64,
}

/// The decision whether further units are merged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MergeFlow {
    /// The next unit is wanted.
    GoOn,
    /// No further unit is wanted: a campaign on one machine would have stopped here.
    Over,
}

impl<'m> MergedCampaign<'m> {
    /// Begins the campaign; `enough` is the coverage to be reached.
    ///
    /// # Errors
    /// If the reporter cannot take it.
    pub fn start(
        spec: &'m Model,
        config: &'m CampaignConfig,
        enough: Option<EnoughCoverage>,
        reporter: &'m mut dyn Reporter,
    ) -> io::Result<Self> {
        let outcome = CampaignOutcome::nothing(&spec.sts);
        let mut merged = Self { spec, config, reporter, enough, found: outcome, seq: 0, now_ns: 0 };
        merged.tell_event(0, EventKind::CampaignStarted(tell::started(&spec.sts, config, 1)))?;
        Ok(merged)
    }

    /// Adds unit number `unit`, from 1.
    ///
    /// # Errors
    /// If it does not fit the model, or the reporter cannot take it.
    pub fn unit(
        &mut self,
        unit: u64,
        result: &UnitRecord,
        events: Vec<Event>,
    ) -> Result<MergeFlow, MergeError> {
        let (coverage, latencies) = result.read(&self.spec.sts).ok_or(MergeError::Misfit(unit))?;
        let begun = events.first().map_or(0, |event| event.time_ns);
        let lasted = events.last().map_or(0, |event| event.time_ns.saturating_sub(begun));
        let mut run = RunOfUnit::default();
        for event in &events {
            // An event that one machine would not have reported gets no number either.
            if self.is_told(&mut run, event, &events) {
                let at = self.now_ns + event.time_ns.saturating_sub(begun);
                self.tell_event(at, event.event.clone())?;
            }
        }
        // Units follow each other in the merged record, as on one machine, whenever they really ran.
        self.now_ns += lasted;
        let RunCounts { passed, inconclusive, failed, .. } = &mut self.found.counts;
        // A unit with an error is not merged, so there are none to add.
        (*passed, *inconclusive, *failed) =
            (*passed + result.passed, *inconclusive + result.inconclusive, *failed + result.failed);
        self.found.steps += result.steps;
        self.found.unknown += result.unknown;
        self.found.lag = self.found.lag.max(result.machine_lag.map(LagEffect::from).unwrap_or_default());
        if let Some(told) = result.time_spent {
            self.found.add_spent(told.into());
            self.found.elapsed = self.found.elapsed.saturating_add(Duration::from_millis(told.elapsed_ms));
        }
        self.found.coverage.add(&coverage);
        self.found.latencies.merge(&latencies);
        if let Some(enough) = &self.enough {
            // In the order of the units, so that the campaign ends after the same unit however they were shared.
            enough.remove_seen(&coverage.items().collect::<Vec<_>>());
        }
        let is_over = result.failed > 0 && self.config.on_failure == OnFailure::Stop
            || self.enough.as_ref().is_some_and(EnoughCoverage::is_met);
        Ok(if is_over { MergeFlow::Over } else { MergeFlow::GoOn })
    }

    /// Ends the campaign; `is_whole` says that no unit is missing.
    ///
    /// # Errors
    /// If the reporter cannot take it.
    pub fn finish(mut self, cx: &mut Ctx<'_>, is_whole: bool) -> io::Result<CampaignOutcome> {
        let mut coverage = self.found.coverage.clone();
        self.found.survey = CoverageSurvey::new(cx, &mut coverage);
        self.found.interrupted = !is_whole;
        self.found.is_enough = self.enough.as_ref().is_none_or(EnoughCoverage::is_met);
        self.found.failures.sort_by_key(|failure| failure.id.run);
        self.found.refused = self.found.coverage.only_refused(&self.spec.sts, &self.config.run.refusals);
        let told = tell::finished(&self.spec.sts, &self.found, &self.config.run.patience);
        self.tell_event(self.now_ns, EventKind::CampaignFinished(told))?;
        Ok(self.found)
    }

    /// Sends an event to the reporter under the next number.
    fn tell_event(&mut self, time_ns: u64, event: EventKind) -> io::Result<()> {
        let told = Event { seq: self.seq, time_ns, run: None, event };
        self.seq += 1;
        self.reporter.event(&told)
    }

    /// Returns whether a campaign on one machine would have reported the event; notes the kinds of failures.
    fn is_told(&mut self, run: &mut RunOfUnit, event: &Event, events: &[Event]) -> bool {
        match &event.event {
            EventKind::RunStarted(started) => *run = RunOfUnit::from_start(started),
            EventKind::Verdict(told) => {
                if let Some(signature) = &told.signature {
                    run.kind = self.count_kind(run.id, signature, events);
                }
            }
            EventKind::Replayed(told) => match run.kind.map(|at| &mut self.found.failures[at]) {
                Some(failure) => {
                    (failure.reproduced, failure.of) = (told.reproduced, told.of);
                    failure.wanted = told.unmade.as_ref().map_or(told.of, |unmade| unmade.wanted);
                }
                None => return false,
            },
            EventKind::Shrunk(told) => match run.kind {
                Some(at) => {
                    let found = || self.found.failures[at].signature.clone();
                    let signature = told.signature.clone().unwrap_or_else(found);
                    self.found.failures[at].shrunk = self.shrunk(told, signature);
                }
                None => return false,
            },
            // Each unit is a campaign of its own; the merged one has its own begin and end.
            EventKind::CampaignStarted(_) | EventKind::CampaignFinished(_) => return false,
            EventKind::Stimulus(_)
            | EventKind::Observation(_)
            | EventKind::Patience(_)
            | EventKind::Unsolicited(_)
            | EventKind::Trouble(_)
            | EventKind::RunFinished(_) => (),
        }
        true
    }

    /// Returns the position of the failure group of `signature`, if this failure is examined; counts it.
    fn count_kind(&mut self, id: RunId, signature: &str, events: &[Event]) -> Option<usize> {
        let record = || Record { events: events.to_vec(), is_cut: false };
        let failures = &mut self.found.failures;
        let at = match failures.iter().position(|failure| failure.signature == signature) {
            Some(at) => {
                failures[at].runs += 1;
                // A kind that is understood is only counted: one machine would not have repeated it again.
                failures[at].is_worth_a_look().then_some(at)?
            }
            None => {
                let (signature, trace) = (signature.to_owned(), Trace::default());
                failures.push(FailureGroup {
                    signature,
                    runs: 1,
                    id,
                    trace,
                    exchanges: Vec::new(),
                    reproduced: 0,
                    of: 0,
                    wanted: 0,
                    shrunk: None,
                });
                failures.len() - 1
            }
        };
        failures[at].id = id;
        failures[at].trace = record().trace(self.spec, id.run).unwrap_or_default();
        Some(at)
    }

    /// Returns the shrunk run that a part recorded; `None` if the model does not know its labels.
    fn shrunk(&self, told: &ShrunkRecord, signature: String) -> Option<ShrunkRun> {
        let labels = told.trace.iter().map(|it| label(self.spec, it)).collect::<Result<Vec<_>, _>>().ok()?;
        let breakdown = told.trace.last().map(|it: &LabelRecord| it.kind.breakdown()).unwrap_or_default();
        let forbidden_at = told.step.and_then(|step| step.checked_sub(1));
        let labels = labels.into_iter().flatten().collect();
        Some(ShrunkRun {
            trace: Trace { labels, breakdown, forbidden_at },
            signature,
            attempts: told.attempts,
            minimal: told.minimal,
            early: None,
            reproduced: told.reproduced,
            of: told.of,
            unconfirmed: told.unconfirmed,
            exchanges: told.exchanges.clone(),
        })
    }
}

/// The run whose events are being read.
#[derive(Default)]
struct RunOfUnit {
    id: RunId,
    /// The kind of its failure, if it is looked into.
    kind: Option<usize>,
}

impl RunOfUnit {
    /// Starts the record of a run.
    fn from_start(started: &RunStarted) -> Self {
        Self { id: RunId { run: started.run, seed: started.seed }, kind: None }
    }
}
