//! Recorded runs, in the form in which candidates are judged by them.

use ioxide_model::relation::ConformanceRelation;
use ioxide_model::sts::Model;
use ioxide_model::trace::Trace;
use ioxide_record::event::EventKind;
use ioxide_record::format::Record;
use ioxide_run::judge::{JudgeConfig, plain_trace};

/// A run that was recorded: of a campaign, its smallest repetition, or lines that another program wrote.
#[derive(Clone, Debug)]
pub struct ReplayableRun {
    /// The name of the run, for people.
    pub name: String,
    source: RunSource,
}

#[derive(Clone, Debug)]
enum RunSource {
    /// The events of one run of a record.
    Record { record: Record, run: u64 },
    /// The smallest run that a failing one was made to.
    Smallest { record: Record, run: u64 },
    /// Lines in JSON.
    Lines(String),
}

/// The labels of a run as a model knows them, with the settings under which they are judged.
#[derive(Debug)]
pub(crate) struct ReadRun {
    pub(crate) trace: Trace,
    pub(crate) config: JudgeConfig<'static>,
}

/// The runs of a record.
#[derive(Debug, Default)]
pub struct RunsOfRecord {
    /// The runs whose steps are recorded; a failing run that was made smaller stands there twice.
    pub runs: Vec<ReplayableRun>,
    /// The number of runs whose steps were left out of the record.
    pub thinned: usize,
    /// The number of runs that ended by a breakdown of the system, which no edit of a model explains.
    pub broken: usize,
}

/// Returns the runs of `record`, which people know by `name`.
#[must_use]
pub fn runs_of_record(record: &Record, name: &str) -> RunsOfRecord {
    let mut found = RunsOfRecord::default();
    let mut parts: Vec<Record> = Vec::new();
    let mut current = None;
    for event in &record.events {
        let run = match &event.event {
            EventKind::RunStarted(started) => Some(started.run),
            EventKind::Shrunk(told) => Some(told.run),
            _ => event.run.or(current),
        };
        current = run;
        let Some(run) = run.and_then(|run| usize::try_from(run).ok()) else { continue };
        // Runs are numbered one after the other; what is not would only leave gaps.
        if run >= parts.len() + record.events.len() {
            continue;
        }
        parts.resize_with(parts.len().max(run + 1), || Record { events: Vec::new(), is_cut: false });
        parts[run].events.push(event.clone());
    }
    for (number, record) in parts.into_iter().enumerate().filter(|(_, part)| !part.events.is_empty()) {
        found.add_run(record, number as u64, name);
    }
    found
}

impl RunsOfRecord {
    fn add_run(&mut self, record: Record, run: u64, name: &str) {
        if record.end_of_run(run).is_some_and(|finished| finished.thinned.is_some()) {
            self.thinned += 1;
            return;
        }
        let is_broken = record.events.iter().any(|event| match &event.event {
            EventKind::Observation(step) => step.label.kind.breakdown().is_some(),
            _ => false,
        });
        self.broken += usize::from(is_broken);
        let is_shrunk = record.events.iter().any(|event| matches!(&event.event, EventKind::Shrunk(_)));
        if is_shrunk && !is_broken {
            let source = RunSource::Smallest { record: record.clone(), run };
            self.runs.push(ReplayableRun { name: format!("the smallest run {} of {name}", run + 1), source });
        }
        self.runs.push(ReplayableRun {
            name: format!("run {} of {name}", run + 1),
            source: RunSource::Record { record, run },
        });
    }
}

impl ReplayableRun {
    /// Returns the run that lines in JSON write, as `ioxide judge` reads them.
    #[must_use]
    pub fn from_lines(name: impl Into<String>, text: impl Into<String>) -> Self {
        Self { name: name.into(), source: RunSource::Lines(text.into()) }
    }

    /// Returns whether the run is the smallest repetition of another one.
    #[must_use]
    pub fn is_smallest(&self) -> bool {
        matches!(self.source, RunSource::Smallest { .. })
    }

    /// Returns the labels as `model` knows them.
    ///
    /// # Errors
    /// The reason, for people, if the model does not know a message or its fields.
    pub(crate) fn read(&self, model: &Model) -> Result<ReadRun, String> {
        let mut read = match &self.source {
            RunSource::Record { record, run } => {
                let (trace, ways) = record.trace_and_ways(model, *run).map_err(|error| error.to_string())?;
                ReadRun { trace, config: JudgeConfig::for_recorded_run(record, *run, ways) }
            }
            RunSource::Smallest { record, run } => {
                let trace = record.smaller_trace(model, *run).map_err(|error| error.to_string())?;
                let config = JudgeConfig::for_recorded_run(record, *run, Vec::new());
                ReadRun { trace: trace.unwrap_or_default(), config }
            }
            RunSource::Lines(text) => {
                let trace = plain_trace(model, text).map_err(|error| error.to_string())?;
                ReadRun { trace, config: JudgeConfig::default() }
            }
        };
        read.config.relation = ConformanceRelation::usual(&model.sts);
        Ok(read)
    }
}
