//! Recorded runs, as the explorer keeps them: by number of the record and number of the run.

use std::sync::{Arc, PoisonError, RwLock};

use ioxide_runner::event::{Event, EventKind, RunOutcome, RunStarted, StepTold, VerdictTold};

/// The number of runs kept of one record.
const MAX_RUNS: usize = 10_000;
/// The number of steps kept of one record, over all runs.
const MAX_STEPS: usize = 2_000_000;
/// The bytes of label texts kept of one record; a single label may have a million.
const MAX_TEXT: usize = 256 << 20;

/// The position of a recorded run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordPlace {
    /// The position of the record, in the order given.
    pub record: usize,
    /// The position of the run within the record.
    pub run: usize,
}

/// A record.
#[derive(Clone, Debug, Default)]
pub struct Recording {
    /// The name of the record.
    pub name: String,
    /// Its runs.
    pub runs: Vec<Arc<RecordedRun>>,
    /// True if some runs or steps were left out, since there were too many.
    pub is_cut: bool,
}

/// A recorded run.
#[derive(Clone, Debug)]
pub struct RecordedRun {
    /// Its number, seed and goal.
    pub started: RunStarted,
    /// Its steps.
    pub steps: Vec<StepTold>,
    /// Its verdict; `None` if it has none.
    pub verdict: Option<VerdictTold>,
    /// Its outcome; `None` if the record breaks off before the run ended.
    pub outcome: Option<RunOutcome>,
}

impl RecordedRun {
    fn new(started: RunStarted) -> Self {
        Self { started, steps: Vec::new(), verdict: None, outcome: None }
    }
}

/// A collector of runs from events; several runs may be under way at once.
#[derive(Debug, Default)]
pub struct RunCollector {
    open: Vec<RecordedRun>,
    n_steps: usize,
    n_text: usize,
    is_cut: bool,
}

impl RunCollector {
    /// Adds an event, and returns the run that it ends.
    pub fn event(&mut self, event: &Event) -> Option<RecordedRun> {
        match &event.event {
            EventKind::RunStarted(told) => self.open.push(RecordedRun::new(told.clone())),
            EventKind::Stimulus(step) | EventKind::Observation(step) => {
                let is_full = self.n_steps >= MAX_STEPS || self.n_text >= MAX_TEXT;
                self.is_cut |= is_full;
                if let Some(run) = self.current(event.run).filter(|_| !is_full) {
                    run.steps.push(step.clone());
                    self.n_steps += 1;
                    self.n_text += step.label.text.len();
                }
            }
            EventKind::Verdict(told) => {
                if let Some(run) = self.current(event.run) {
                    run.verdict = Some(told.clone());
                }
            }
            EventKind::RunFinished(told) => {
                let at = self.open.iter().position(|run| run.started.run == told.run)?;
                let mut run = self.open.remove(at);
                run.outcome = Some(told.outcome);
                return Some(run);
            }
            EventKind::Patience(told) => {
                if let Some(run) = self.current(event.run) {
                    run.steps.retain(|step| !told.not_silent.contains(&step.step));
                }
            }
            EventKind::CampaignStarted(_)
            | EventKind::Trouble(_)
            | EventKind::Replayed(_)
            | EventKind::Shrunk(_)
            | EventKind::CampaignFinished(_) => (),
        }
        None
    }

    /// Resets the count of steps and texts kept, since the runs returned so far are kept elsewhere.
    pub fn forget(&mut self) {
        (self.n_steps, self.n_text) = (0, 0);
    }

    fn current(&mut self, run: Option<u64>) -> Option<&mut RecordedRun> {
        match run {
            Some(number) => self.open.iter_mut().find(|run| run.started.run == number),
            None => self.open.last_mut(),
        }
    }
}

impl Recording {
    /// Returns the record called `name` with the runs of these events; a run that broke off is kept as far as it went.
    pub fn of<'e>(name: impl Into<String>, events: impl IntoIterator<Item = &'e Event>) -> Self {
        let mut collector = RunCollector::default();
        let mut recording = Self { name: name.into(), ..Self::default() };
        for event in events {
            let over = collector.event(event);
            recording.keep(over);
        }
        let broken_off = std::mem::take(&mut collector.open);
        recording.keep(broken_off);
        recording.is_cut |= collector.is_cut;
        recording.runs.sort_by_key(|run| run.started.run);
        recording
    }

    fn keep(&mut self, runs: impl IntoIterator<Item = RecordedRun>) {
        for run in runs {
            if self.runs.len() < MAX_RUNS { self.runs.push(Arc::new(run)) } else { self.is_cut = true }
        }
    }
}

/// All records; those of live campaigns are added at the end.
#[derive(Debug)]
pub struct Records {
    list: RwLock<Vec<Recording>>,
}

impl Records {
    /// Returns a list of these records.
    #[must_use]
    pub fn new(recordings: Vec<Recording>) -> Self {
        Self { list: RwLock::new(recordings) }
    }

    /// Returns a copy of the list; runs are shared.
    #[must_use]
    pub fn list(&self) -> Vec<Recording> {
        self.list.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns the run at `place`; `None` if there is none.
    #[must_use]
    pub fn run(&self, place: RecordPlace) -> Option<Arc<RecordedRun>> {
        let list = self.list.read().unwrap_or_else(PoisonError::into_inner);
        list.get(place.record)?.runs.get(place.run).cloned()
    }

    /// Adds an empty record and returns its number.
    pub fn begin(&self, name: String) -> usize {
        let mut list = self.list.write().unwrap_or_else(PoisonError::into_inner);
        list.push(Recording { name, ..Recording::default() });
        list.len() - 1
    }

    /// Adds a run to record number `record` and returns its position; `None` if the record is full or does not exist.
    pub fn add(&self, record: usize, run: RecordedRun) -> Option<RecordPlace> {
        let mut list = self.list.write().unwrap_or_else(PoisonError::into_inner);
        let recording = list.get_mut(record)?;
        let before = recording.runs.len();
        recording.keep([run]);
        (recording.runs.len() > before).then_some(RecordPlace { record, run: before })
    }
}

#[cfg(test)]
mod tests;
