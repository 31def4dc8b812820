//! A record that stays small however long the campaign is: beyond a size, the steps of runs without a failure are left
//! out.
//!
//! Of such a run the record keeps its start with the seed, its verdict and its end, which is marked as thinned; the
//! same campaign with the same seed makes it again on a system that answers alike. Runs that failed, had an error or
//! were interrupted are whole.
//!
//! *Promises.* Every event is written before the next move, also of a run that is thinned later: the file is cut back
//! when the run has ended. Only where several runs go on at once are the events of a run held back in memory until it
//! has ended, once the record has reached its size.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Seek as _};

use ioxide_record::event::{Event, EventKind, RunFinished, RunOutcome, ThinnedRun};
use ioxide_record::format::Recorder;
use ioxide_record::reporter::Reporter;

/// The size of a record, in bytes, from which on runs without a failure are thinned by default: some 150,000 steps,
/// whose page opens at once.
const WHOLE_SIZE: u64 = 32 << 20;

/// The runs that a record keeps whole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum KeptRuns {
    /// Every run.
    All,
    /// Runs that failed, had an error or were interrupted.
    Failures,
    /// Every run until the record is large, from then on those of [`Failures`](Self::Failures).
    #[default]
    AllWhileSmall,
}

/// Writes a record, and thins it.
pub struct ThinnedRecorder {
    recorder: Recorder<File>,
    /// The size from which on runs are thinned.
    limit: u64,
    /// The run under way that may be thinned, where one goes on at a time.
    run: Option<RunInFile>,
    /// The events of runs under way, by number, where several go on at once.
    held: BTreeMap<u64, Vec<Event>>,
}

/// A run whose events are in the file already.
struct RunInFile {
    /// The place of its first event in the file.
    start: u64,
    /// Its events other than steps.
    brief: Vec<Event>,
    /// The figures of its steps.
    steps: ThinnedRun,
}

impl ThinnedRecorder {
    /// Begins a record in `file`, which is empty.
    ///
    /// # Errors
    /// If the first line cannot be written.
    pub fn new(file: File, kept: KeptRuns) -> io::Result<Self> {
        let limit = match kept {
            KeptRuns::All => u64::MAX,
            KeptRuns::Failures => 0,
            KeptRuns::AllWhileSmall => WHOLE_SIZE,
        };
        Self::with_limit(file, limit)
    }

    fn with_limit(file: File, limit: u64) -> io::Result<Self> {
        Ok(Self { recorder: Recorder::new(file)?, limit, run: None, held: BTreeMap::new() })
    }

    fn write_position(&mut self) -> io::Result<u64> {
        self.recorder.writer().stream_position()
    }

    /// Takes an event of a campaign in which one run goes on at a time.
    fn add_alone(&mut self, event: &Event) -> io::Result<()> {
        match &event.event {
            EventKind::RunStarted(_) => {
                let start = self.write_position()?;
                // Decided once for a run, by the place where it starts.
                self.run = (start >= self.limit).then(|| RunInFile {
                    start,
                    brief: vec![event.clone()],
                    steps: ThinnedRun::default(),
                });
            }
            EventKind::RunFinished(finished) => {
                if let Some(run) = self.run.take().filter(|_| is_thinned(finished.outcome)) {
                    // The run is cut off as a whole; what is kept of it is written anew.
                    let file = self.recorder.writer();
                    file.set_len(run.start)?;
                    file.seek(io::SeekFrom::Start(run.start))?;
                    run.brief.iter().try_for_each(|event| self.recorder.event(event))?;
                    return self.recorder.event(&thin(event, finished, run.steps));
                }
            }
            EventKind::Stimulus(step) | EventKind::Observation(step) => {
                self.run.iter_mut().for_each(|run| run.steps.count_step(step));
            }
            // They belong to the steps, which are left out.
            EventKind::Unsolicited(_) => (),
            _ => self.run.iter_mut().for_each(|run| run.brief.push(event.clone())),
        }
        self.recorder.event(event)
    }

    /// Takes an event of run `run`, beside which others go on.
    fn add_of_many(&mut self, run: u64, event: &Event) -> io::Result<()> {
        if let EventKind::RunStarted(_) = event.event
            && self.write_position()? >= self.limit
        {
            self.held.insert(run, Vec::new());
        }
        let Some(held) = self.held.get_mut(&run) else { return self.recorder.event(event) };
        let EventKind::RunFinished(finished) = &event.event else {
            held.push(event.clone());
            return Ok(());
        };
        let held = self.held.remove(&run).unwrap_or_default();
        if !is_thinned(finished.outcome) {
            held.iter().try_for_each(|event| self.recorder.event(event))?;
            return self.recorder.event(event);
        }
        let mut steps = ThinnedRun::default();
        for event in &held {
            match &event.event {
                EventKind::Stimulus(step) | EventKind::Observation(step) => steps.count_step(step),
                EventKind::Unsolicited(_) => (),
                _ => self.recorder.event(event)?,
            }
        }
        self.recorder.event(&thin(event, finished, steps))
    }

    /// Writes the runs that have not ended.
    fn write_held(&mut self) -> io::Result<()> {
        let held = std::mem::take(&mut self.held);
        held.values().flatten().try_for_each(|event| self.recorder.event(event))
    }
}

impl Reporter for ThinnedRecorder {
    fn event(&mut self, event: &Event) -> io::Result<()> {
        if let EventKind::CampaignFinished(_) = event.event {
            // Runs that never ended are kept whole, in front of the end of the campaign.
            self.write_held()?;
        }
        match event.run {
            Some(run) => self.add_of_many(run, event),
            None => self.add_alone(event),
        }
    }
}

/// Returns whether a run with this outcome may be made again instead of kept.
fn is_thinned(outcome: RunOutcome) -> bool {
    matches!(outcome, RunOutcome::Pass | RunOutcome::Inconclusive)
}

/// Returns the end of a run whose steps are left out.
fn thin(event: &Event, finished: &RunFinished, steps: ThinnedRun) -> Event {
    let steps = finished.taken.clone().map_or(steps, |taken| ThinnedRun { taken });
    let finished = RunFinished { thinned: Some(steps), ..finished.clone() };
    Event { event: EventKind::RunFinished(finished), ..event.clone() }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use ioxide_model::verdict::Verdict;
    use ioxide_record::event::{LabelKind, LabelRecord, RunStarted, StepRecord, VerdictRecord};
    use ioxide_record::format::Record;

    use super::*;

    /// Returns the events of runs with these outcomes, three steps each; tagged with their runs if `at_once`.
    fn events(outcomes: &[RunOutcome], at_once: bool) -> Vec<Event> {
        let silence = LabelRecord {
            kind: LabelKind::Quiescence,
            label: String::new(),
            args: serde_json::Map::new(),
            text: "silence".into(),
            delay_ns: None,
            raw: None,
            way: None,
            part: None,
        };
        let mut events = Vec::new();
        for (run, &outcome) in (0..).zip(outcomes) {
            let mut kinds = vec![EventKind::RunStarted(RunStarted {
                run,
                seed: 40 + run,
                goal: String::new(),
                tolerance: None,
                unconfirmed: false,
                connections: Vec::new(),
            })];
            kinds.extend((1..=3).map(|step| {
                EventKind::Observation(StepRecord {
                    step,
                    label: silence.clone(),
                    belief: Some(1),
                    switches: Vec::new(),
                })
            }));
            kinds.push(EventKind::Verdict(VerdictRecord::new(Verdict::Pass, "so".into())));
            let finished = RunFinished {
                run,
                outcome,
                steps: 3,
                doubts: 0,
                machine_lag: None,
                thinned: None,
                taken: None,
            };
            kinds.push(EventKind::RunFinished(finished));
            for event in kinds {
                let seq = events.len() as u64;
                events.push(Event { seq, time_ns: 0, run: at_once.then_some(run), event });
            }
        }
        events
    }

    /// Returns the number of steps of every run in a record with this limit, and whether it is thinned.
    fn read_kept_runs(limit: u64, outcomes: &[RunOutcome], at_once: bool) -> Vec<(usize, bool)> {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("campaign.jsonl");
        let mut recorder =
            ThinnedRecorder::with_limit(File::create(&path).expect("a file"), limit).expect("a record");
        events(outcomes, at_once).iter().for_each(|event| recorder.event(event).expect("it is written"));
        let record = Record::read_record(fs::read(&path).expect("a file").as_slice()).expect("a record");
        let (mut steps, mut runs) = (0, Vec::new());
        for event in &record.events {
            match &event.event {
                EventKind::RunStarted(_) => steps = 0,
                EventKind::Observation(_) => steps += 1,
                EventKind::RunFinished(finished) => runs.push((steps, finished.thinned.is_some())),
                _ => (),
            }
        }
        runs
    }

    #[test]
    fn beyond_the_size_failures_are_whole_and_other_runs_have_no_steps() {
        use RunOutcome::{Error, Fail, Inconclusive, Pass};
        let outcomes = [Pass, Fail, Inconclusive, Error, Pass];
        let thinned = vec![(0, true), (3, false), (0, true), (3, false), (0, true)];
        assert_eq!(read_kept_runs(0, &outcomes, false), thinned);
        assert_eq!(read_kept_runs(0, &outcomes, true), thinned);
        assert_eq!(read_kept_runs(u64::MAX, &outcomes, false), vec![(3, false); 5]);
        let first = read_kept_runs(200, &outcomes, false);
        assert_eq!((first[0], first[4]), ((3, false), (0, true)), "the first run fits");
    }
}
