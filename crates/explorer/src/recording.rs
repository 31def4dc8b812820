//! Recorded runs, as the explorer keeps them: by number of the record and number of the run.

use std::sync::{Arc, PoisonError, RwLock};

use ioxide_record::event::{Event, EventKind, RunOutcome, RunStarted, StepRecord, VerdictRecord};

/// The number of runs kept of one record. Chosen by feel, as are the next three: a page does not show more, and the
/// memory stays bounded.
const MAX_RUNS: usize = 10_000;
/// The number of steps kept of one record, over all runs. Chosen by feel: it bounds the memory.
const MAX_KEPT_STEPS: usize = 2_000_000;
/// The number of bytes of label texts that are kept of one record; a single label may have a million. Chosen by feel:
/// it bounds the memory of the explorer.
const MAX_TEXT: usize = 256 << 20;
/// The number of runs under way; beyond it the one that began first is taken for broken off. Chosen by feel: far more
/// than any campaign has at once.
const MAX_OPEN: usize = 1000;

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
    /// The page about a history of concurrent clients, which has no runs of steps.
    pub page: Option<Arc<[u8]>>,
}

/// A recorded run.
#[derive(Clone, Debug)]
pub struct RecordedRun {
    /// Its number, seed and goal.
    pub started: RunStarted,
    /// Its steps.
    pub steps: Vec<StepRecord>,
    /// Its verdict; `None` if it has none.
    pub verdict: Option<VerdictRecord>,
    /// Its outcome; `None` if the record breaks off before the run ended.
    pub outcome: Option<RunOutcome>,
    /// True if some steps were left out, since there were too many.
    pub is_cut: bool,
}

impl RecordedRun {
    /// Makes a run that has begun and has no steps yet.
    fn new(started: RunStarted) -> Self {
        Self { started, steps: Vec::new(), verdict: None, outcome: None, is_cut: false }
    }

    fn has_failed(&self) -> bool {
        self.outcome == Some(RunOutcome::Fail)
    }

    /// Returns the numbers of steps and of bytes of their texts.
    fn size(&self) -> (usize, usize) {
        (self.steps.len(), self.steps.iter().map(|step| step.label.text.len()).sum())
    }
}

/// A collector of runs from events; several runs may be under way at once.
#[derive(Debug, Default)]
pub struct RunCollector {
    open: Vec<RecordedRun>,
    /// The numbers of steps and of bytes of texts in the runs under way and in those returned and not forgotten.
    n_steps: usize,
    n_text: usize,
}

impl RunCollector {
    /// Adds an event, and returns the run that it ends.
    pub fn add_event(&mut self, event: &Event) -> Option<RecordedRun> {
        match &event.event {
            EventKind::RunStarted(told) => return self.start_run(told),
            EventKind::Stimulus(step) | EventKind::Observation(step) => self.add_step(event.run, step),
            EventKind::Verdict(told) => {
                if let Some(run) = self.current_run(event.run) {
                    run.verdict = Some(told.clone());
                }
            }
            EventKind::RunFinished(told) => {
                let at = self.open.iter().position(|run| run.started.run == told.run)?;
                let mut run = self.open.remove(at);
                run.outcome = Some(told.outcome);
                return Some(run);
            }
            EventKind::Patience(told) => self.retract_silences(event.run, &told.not_silent),
            EventKind::CampaignStarted(_)
            | EventKind::Unsolicited(_)
            | EventKind::Trouble(_)
            | EventKind::Replayed(_)
            | EventKind::Shrunk(_)
            | EventKind::CampaignFinished(_) => (),
        }
        None
    }

    /// Frees the room of a run that was returned, since it is kept elsewhere or not at all.
    pub fn release_run(&mut self, run: &RecordedRun) {
        let (steps, text) = run.size();
        self.n_steps = self.n_steps.saturating_sub(steps);
        self.n_text = self.n_text.saturating_sub(text);
    }

    /// Begins a run, and returns the one that never ends: that of the same number, or the first of too many.
    fn start_run(&mut self, started: &RunStarted) -> Option<RecordedRun> {
        let same = self.open.iter().position(|run| run.started.run == started.run);
        let never_ends = same.or((self.open.len() >= MAX_OPEN).then_some(0));
        let broken_off = never_ends.map(|at| self.open.remove(at));
        self.open.push(RecordedRun::new(started.clone()));
        broken_off
    }

    fn add_step(&mut self, run: Option<u64>, step: &StepRecord) {
        let is_full = self.n_steps >= MAX_KEPT_STEPS || self.n_text >= MAX_TEXT;
        let Some(run) = self.current_run(run) else { return };
        if is_full {
            run.is_cut = true;
            return;
        }
        run.steps.push(step.clone());
        self.n_steps += 1;
        self.n_text += step.label.text.len();
    }

    /// Takes back the silence that a late message disproved.
    fn retract_silences(&mut self, run: Option<u64>, not_silent: &[usize]) {
        let Some(run) = self.current_run(run) else { return };
        let before = run.size();
        run.steps.retain(|step| !not_silent.contains(&step.step));
        let after = run.size();
        self.n_steps -= before.0 - after.0;
        self.n_text -= before.1 - after.1;
    }

    fn current_run(&mut self, run: Option<u64>) -> Option<&mut RecordedRun> {
        match run {
            Some(number) => self.open.iter_mut().find(|run| run.started.run == number),
            None => self.open.last_mut(),
        }
    }
}

impl Recording {
    /// Returns the record called `name` with the runs of these events; a run that broke off is kept as far as it went.
    /// Where there are too many, failing runs take precedence.
    pub fn from_events<'e>(name: impl Into<String>, events: impl IntoIterator<Item = &'e Event>) -> Self {
        let mut collector = RunCollector::default();
        let mut builder =
            RecordingBuilder { recording: Self { name: name.into(), ..Self::default() }, n_spare: 0 };
        for event in events {
            if let Some(run) = collector.add_event(event) {
                builder.add_run(run, &mut collector);
            }
        }
        for run in std::mem::take(&mut collector.open) {
            builder.add_run(run, &mut collector);
        }
        let mut recording = builder.recording;
        recording.runs.sort_by_key(|run| run.started.run);
        recording
    }

    /// Keeps a run; returns it if there is no room.
    fn keep_run(&mut self, run: RecordedRun) -> Result<(), Box<RecordedRun>> {
        self.is_cut |= run.is_cut;
        if self.runs.len() < MAX_RUNS {
            self.runs.push(Arc::new(run));
            return Ok(());
        }
        self.is_cut = true;
        Err(Box::new(run))
    }
}

/// A record in the making.
struct RecordingBuilder {
    recording: Recording,
    /// The number of runs at the front among which are all that may give way to failing ones.
    n_spare: usize,
}

impl RecordingBuilder {
    /// Keeps a run; a failing one for which there is no room takes the place of the last that did not fail.
    fn add_run(&mut self, run: RecordedRun, collector: &mut RunCollector) {
        match self.recording.keep_run(run) {
            Ok(()) => self.n_spare = self.recording.runs.len(),
            Err(run) if run.has_failed() => match self.spare_passing_run() {
                Some(at) => {
                    let gone = std::mem::replace(&mut self.recording.runs[at], Arc::new(*run));
                    collector.release_run(&gone);
                }
                None => collector.release_run(&run),
            },
            Err(run) => collector.release_run(&run),
        }
    }

    fn spare_passing_run(&mut self) -> Option<usize> {
        let at = self.recording.runs[..self.n_spare].iter().rposition(|run| !run.has_failed());
        self.n_spare = at.unwrap_or(0);
        at
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

    /// Returns the page of record number `record`; `None` if it has none.
    #[must_use]
    pub fn get_page(&self, record: usize) -> Option<Arc<[u8]>> {
        let list = self.list.read().unwrap_or_else(PoisonError::into_inner);
        list.get(record)?.page.clone()
    }

    /// Returns the run at `place`; `None` if there is none.
    #[must_use]
    pub fn get_run(&self, place: RecordPlace) -> Option<Arc<RecordedRun>> {
        let list = self.list.read().unwrap_or_else(PoisonError::into_inner);
        list.get(place.record)?.runs.get(place.run).cloned()
    }

    /// Adds an empty record and returns its number.
    pub fn begin_record(&self, name: String) -> usize {
        let mut list = self.list.write().unwrap_or_else(PoisonError::into_inner);
        list.push(Recording { name, ..Recording::default() });
        list.len() - 1
    }

    /// Adds a run to record number `record` and returns its position; `None` if the record is full or does not exist.
    pub fn add_run(&self, record: usize, run: RecordedRun) -> Option<RecordPlace> {
        let mut list = self.list.write().unwrap_or_else(PoisonError::into_inner);
        let recording = list.get_mut(record)?;
        let place = RecordPlace { record, run: recording.runs.len() };
        recording.keep_run(run).ok().map(|()| place)
    }
}

#[cfg(test)]
mod tests;
