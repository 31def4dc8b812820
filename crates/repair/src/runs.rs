//! Recorded runs, in the form in which candidates are judged by them.

use std::rc::Rc;

use ioxide_model::label::Label;
use ioxide_model::relation::ConformanceRelation;
use ioxide_model::sort::Sort;
use ioxide_model::sts::Model;
use ioxide_model::term::VarId;
use ioxide_model::trace::Trace;
use ioxide_record::event::EventKind;
use ioxide_record::format::Record;
use ioxide_run::judge::{Inputs, JudgeConfig, plain_trace};

use crate::RepairError;

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
#[derive(Clone, Debug)]
pub(crate) struct ReadRun {
    pub(crate) trace: Trace,
    pub(crate) config: JudgeConfig<'static>,
}

/// A run with its labels as one model knows them. Edits leave the messages as they are, so the labels of the model
/// that is repaired are those of nearly every candidate: reading them anew would take longer than judging them.
#[derive(Clone, Debug)]
pub(crate) struct DecodedRun<'r> {
    pub(crate) run: &'r ReplayableRun,
    read: Rc<ReadRun>,
    /// The model that the labels are of.
    model: Rc<Model>,
}

impl<'r> DecodedRun<'r> {
    /// Reads a run for `model`.
    pub(crate) fn new(run: &'r ReplayableRun, model: &Rc<Model>) -> Result<Self, RepairError> {
        let read =
            run.read(model).map_err(|reason| RepairError::UnfitRun { run: run.name.clone(), reason })?;
        Ok(Self { run, read: Rc::new(read), model: Rc::clone(model) })
    }

    /// Returns the labels as the model knows them that the run was read for.
    pub(crate) fn labels(&self) -> &[Label] {
        &self.read.trace.labels
    }

    /// Returns whether every label happened when it was seen, and came by one connection.
    pub(crate) fn is_plain(&self) -> bool {
        let config = &self.read.config;
        config.inputs == Inputs::Taken
            && config.connections.is_empty()
            && config.ways.iter().all(Option::is_none)
            && self.read.trace.forbidden_at.is_none_or(|at| at + 1 == self.read.trace.labels.len())
    }

    /// Returns whether the system has several connections, which may deliver messages in another order than they were
    /// sent.
    pub(crate) fn is_wired(&self) -> bool {
        !self.read.config.connections.is_empty()
    }

    /// Returns the run with other settings.
    #[cfg(test)]
    pub(crate) fn with_config(mut self, change: impl FnOnce(&mut JudgeConfig<'static>)) -> Self {
        change(&mut Rc::make_mut(&mut self.read).config);
        self
    }

    /// Returns the labels as `model` knows them.
    pub(crate) fn labels_for(&self, model: &Model) -> Result<Rc<ReadRun>, RepairError> {
        if has_same_messages(&self.model, model) {
            return Ok(Rc::clone(&self.read));
        }
        Ok(Self::new(self.run, &Rc::new(model.clone()))?.read)
    }
}

/// Returns whether both models have the same messages with the same types under the same numbers.
fn has_same_messages(one: &Model, other: &Model) -> bool {
    if one.sts.gates.len() != other.sts.gates.len() {
        return false;
    }
    let sorts_of = |model: &Model, fields: &[VarId]| -> Vec<Sort> {
        fields.iter().map(|&field| model.pool.var_info(field).sort).collect()
    };
    one.sts.gates.iter().zip(other.sts.gates.iter()).all(|(a, b)| {
        let sorts = sorts_of(one, &a.fields);
        let is_alike = a.name == b.name && a.kind == b.kind && sorts == sorts_of(other, &b.fields);
        // Equal numbers of types mean nothing yet: what stands behind them is compared, the whole before its parts.
        is_alike
            && sorts.iter().flat_map(|&sort| one.pool.parts_of(sort)).all(|part| match part {
                Sort::Data(id) => one.pool.data(id) == other.pool.data(id),
                Sort::Collection(id) => one.pool.collection(id) == other.pool.collection(id),
                Sort::Bool | Sort::Int | Sort::Range { .. } | Sort::Real | Sort::Str => true,
            })
    })
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
        // Events without a number of their own belong to the run of the event before them.
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
        read.config.ends_when_open = true;
        Ok(read)
    }
}
