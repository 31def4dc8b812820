//! A campaign under way: started, slowed down, paused and stopped from the page, and watched there.
//!
//! The run loop knows nothing of this: a [`Reporter`] receives the events, keeps those the page shows, and does not
//! return while the campaign is paused; where real time is judged, it pauses between runs only. A [`Launcher`] starts
//! campaigns.

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use ioxide_model::label::certain_switch;
use ioxide_model::sts::{Model, Sts};
use ioxide_record::event::{Event, EventKind, LabelKind, RunOutcome, StepRecord};
use ioxide_record::reporter::Reporter;
use ioxide_report::control_characters::excerpt;
use ioxide_report::summary::ENDLESS;
use ioxide_testgen::tester::spec::TesterSpec;
use serde::Serialize;
use thiserror::Error;

use crate::recording::{RecordPlace, RecordedRun, Records, RunCollector};
use crate::view::live::LiveView;

/// The number of steps kept for the page. Chosen by feel: more than a screen shows.
const MAX_LAST: usize = 60;
/// The number of characters of a step that are shown. Chosen by feel, for one line of the page.
const MAX_STEP: usize = 300;
/// The number of failing runs kept. Chosen by feel: the record has all of them.
const MAX_FAILURES: usize = 100;
/// The slowest pace, as the least duration of a step. Chosen by feel: slow enough to read every step.
const MAX_PACE: Duration = Duration::from_secs(5);

/// The reason why a campaign could not run, in the words of its launcher.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct LaunchError(pub String);

/// A way to start campaigns; the page cannot name a system or a file, only request a campaign that the launcher knows.
pub trait Launcher: Send + Sync {
    /// Returns the system under test, for people.
    fn sut(&self) -> String;

    /// Returns the testers to offer for a model, the one to begin with first.
    fn testers(&self, sts: &Sts) -> Vec<TesterSpec>;

    /// Returns whether a run can be held up between two steps without changing verdicts; it cannot where time is
    /// measured by a clock that goes on.
    fn may_hold(&self, sts: &Sts) -> bool;

    /// Runs a campaign against `model` to its end and reports its events to `reporter`.
    ///
    /// # Errors
    /// The reason why it could not run.
    fn launch(
        &self,
        model: &Model,
        request: &CampaignRequest,
        reporter: &mut dyn Reporter,
    ) -> Result<(), LaunchError>;

    /// Asks the campaign that is running to end after its step.
    fn stop(&self);
}

/// A request for a campaign.
#[derive(Clone, Debug)]
pub struct CampaignRequest {
    /// The tester that decides the moves; one that reads a file is among those of the launcher.
    pub tester: TesterSpec,
    /// The number of runs; `None` leaves it to the tester.
    pub runs: Option<u64>,
    /// The seed; a fresh one if `None`.
    pub seed: Option<u64>,
    /// True to go on after a failure.
    pub keeps_going: bool,
}

/// The phase of a campaign.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "lowercase")]
pub enum CampaignPhase {
    /// No campaign was started.
    Idle,
    /// The campaign takes steps.
    Running,
    /// The campaign waits to be resumed.
    Paused,
    /// The campaign was asked to stop.
    Stopping,
    /// The campaign has ended.
    Over,
}

/// The coverage of a switch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum SwitchSeen {
    /// The switch was not taken.
    #[default]
    Never,
    /// The switch was possibly taken: another switch explains the same label.
    Maybe,
    /// The switch was certainly taken.
    Taken,
}

/// The campaign under way or the last one; idle before the first.
pub struct LiveCampaign {
    state: Mutex<LiveState>,
    changed: Condvar,
    records: Arc<Records>,
    launcher: Option<Box<dyn Launcher>>,
    /// The model of the next campaign.
    next: Mutex<TestedModel>,
}

/// The model of a campaign, and the revision of the text that it belongs to.
#[derive(Clone)]
struct TestedModel {
    model: Arc<Model>,
    revision: u32,
}

/// The state of the campaign.
pub(crate) struct LiveState {
    /// A number that grows with every change.
    version: u64,
    /// The revision of the model that is tested.
    pub(crate) revision: u32,
    pub(crate) phase: CampaignPhase,
    pace: Duration,
    /// The position of each switch in `seen`, by its label.
    names: BTreeMap<Arc<str>, usize>,
    pub(crate) seen: Vec<SwitchSeen>,
    pub(crate) n_steps: u64,
    pub(crate) passed: u64,
    pub(crate) failed: u64,
    pub(crate) other: u64,
    /// The number of runs; `None` if the tester decides when to end.
    pub(crate) planned: Option<u64>,
    pub(crate) seed: u64,
    pub(crate) goal: String,
    pub(crate) run: u64,
    pub(crate) last: VecDeque<LastStep>,
    pub(crate) failures: Vec<FailedRun>,
    pub(crate) message: String,
    record: Option<usize>,
    collector: RunCollector,
}

/// A step to show; of long messages only the beginning is kept.
#[derive(Clone, Debug)]
pub(crate) struct LastStep {
    pub(crate) number: usize,
    pub(crate) kind: LabelKind,
    pub(crate) gate: String,
    pub(crate) text: String,
    pub(crate) switches: Vec<String>,
}

/// A failing run.
#[derive(Clone, Debug)]
pub(crate) struct FailedRun {
    pub(crate) place: RecordPlace,
    pub(crate) steps: usize,
    pub(crate) signature: String,
}

impl LiveCampaign {
    /// Returns the place for a campaign against `model`, with none started.
    #[must_use]
    pub fn new(model: Arc<Model>, records: Arc<Records>, launcher: Option<Box<dyn Launcher>>) -> Arc<Self> {
        let next = TestedModel { model, revision: 0 };
        let state = Mutex::new(LiveState::new(&next));
        Arc::new(Self { state, changed: Condvar::new(), records, launcher, next: Mutex::new(next) })
    }

    /// Makes the next campaign test against another model, of this revision of the text.
    pub fn replace_model(&self, model: Arc<Model>, revision: u32) {
        *self.next.lock().unwrap_or_else(PoisonError::into_inner) = TestedModel { model, revision };
    }

    fn next_model(&self) -> TestedModel {
        self.next.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns the system under test; `None` if there is none.
    #[must_use]
    pub fn sut(&self) -> Option<String> {
        self.launcher.as_ref().map(|launcher| launcher.sut())
    }

    /// Returns the testers to offer, the one to begin with first; none without a system under test.
    #[must_use]
    pub fn testers(&self) -> Vec<TesterSpec> {
        let model = self.next_model().model;
        self.launcher.as_ref().map(|launcher| launcher.testers(&model.sts)).unwrap_or_default()
    }

    /// Starts a campaign in a thread of its own.
    ///
    /// # Errors
    /// If one is running, or there is no system to test.
    pub fn start(self: &Arc<Self>, request: CampaignRequest) -> Result<(), &'static str> {
        self.start_with(request, |work| thread::Builder::new().name("campaign".into()).spawn(work).map(drop))
    }

    /// Starts a campaign in the thread that `spawn` makes for it.
    fn start_with(
        self: &Arc<Self>,
        request: CampaignRequest,
        spawn: impl FnOnce(Box<dyn FnOnce() + Send>) -> io::Result<()>,
    ) -> Result<(), &'static str> {
        if self.launcher.is_none() {
            return Err("there is no system under test; start `ioxide explore` with `--sut`");
        }
        let tested = self.next_model();
        let mut state = self.lock();
        if !matches!(state.phase, CampaignPhase::Idle | CampaignPhase::Over) {
            return Err("a campaign is running already");
        }
        let (version, pace) = (state.version, state.pace);
        *state = LiveState { version, pace, phase: CampaignPhase::Running, ..LiveState::new(&tested) };
        self.publish_change(state);
        let live = Arc::clone(self);
        spawn(Box::new(move || live.run_campaign(&tested.model, &request))).map_err(|_| {
            let why = "no thread could be started";
            self.end_campaign(Some(why.to_owned()));
            why
        })
    }

    fn run_campaign(self: Arc<Self>, model: &Model, request: &CampaignRequest) {
        let Some(launcher) = &self.launcher else { return };
        let mut end = LiveEnd { live: &self, message: Some("the campaign ended unexpectedly".to_owned()) };
        let mut reporter = LiveWatcher { live: &self, may_hold: launcher.may_hold(&model.sts) };
        end.message = launcher.launch(model, request, &mut reporter).err().map(|why| why.to_string());
    }

    /// Ends the campaign, and shows `message` if there is one.
    fn end_campaign(&self, message: Option<String>) {
        let mut state = self.lock();
        state.phase = CampaignPhase::Over;
        if let Some(message) = message {
            state.message = message;
        }
        self.publish_change(state);
    }

    /// Pauses the campaign after its step, or resumes it.
    pub fn set_paused(&self, wanted: bool) {
        let mut state = self.lock();
        state.phase = match (state.phase, wanted) {
            (CampaignPhase::Running, true) => CampaignPhase::Paused,
            (CampaignPhase::Paused, false) => CampaignPhase::Running,
            (phase, _) => phase,
        };
        self.publish_change(state);
    }

    /// Sets the least duration of a step, at most five seconds.
    pub fn set_pace(&self, pace: Duration) {
        let mut state = self.lock();
        state.pace = pace.min(MAX_PACE);
        self.publish_change(state);
    }

    /// Asks the campaign to end after its step.
    pub fn stop(&self) {
        let mut state = self.lock();
        if !matches!(state.phase, CampaignPhase::Running | CampaignPhase::Paused) {
            return;
        }
        state.phase = CampaignPhase::Stopping;
        self.publish_change(state);
        if let Some(launcher) = &self.launcher {
            launcher.stop();
        }
    }

    /// Waits until no campaign is running, at most for `patience`.
    pub(crate) fn wait_until_idle(&self, patience: Duration) {
        let is_running =
            |state: &mut LiveState| !matches!(state.phase, CampaignPhase::Idle | CampaignPhase::Over);
        drop(self.changed.wait_timeout_while(self.lock(), patience, is_running));
    }

    /// Returns the current state.
    #[must_use]
    pub fn view(&self) -> LiveView {
        LiveView::new(&self.lock())
    }

    /// Returns the state and its version as soon as it differs from version `seen`; `None` if it does not within
    /// `patience`.
    pub(crate) fn wait_for_change(&self, seen: Option<u64>, patience: Duration) -> Option<(u64, LiveView)> {
        let same = |state: &mut LiveState| Some(state.version) == seen;
        let waited = self.changed.wait_timeout_while(self.lock(), patience, same);
        let (state, timeout) = waited.unwrap_or_else(PoisonError::into_inner);
        (!timeout.timed_out()).then(|| (state.version, LiveView::new(&state)))
    }

    /// Locks the state; a thread that panicked leaves it usable.
    fn lock(&self) -> MutexGuard<'_, LiveState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn publish_change(&self, mut state: MutexGuard<'_, LiveState>) {
        state.version += 1;
        drop(state);
        self.changed.notify_all();
    }
}

impl LiveState {
    /// Makes the state before the first step of a campaign against `tested`: nothing is covered.
    fn new(tested: &TestedModel) -> Self {
        let switches = &tested.model.sts.switches;
        let names = switches.iter().enumerate().map(|(at, switch)| (Arc::clone(&switch.label), at));
        Self {
            version: 0,
            revision: tested.revision,
            phase: CampaignPhase::Idle,
            pace: Duration::ZERO,
            seen: vec![SwitchSeen::Never; switches.len()],
            names: names.collect(),
            n_steps: 0,
            passed: 0,
            failed: 0,
            other: 0,
            planned: None,
            seed: 0,
            goal: String::new(),
            run: 0,
            last: VecDeque::new(),
            failures: Vec::new(),
            message: String::new(),
            record: None,
            collector: RunCollector::default(),
        }
    }

    pub(crate) fn pace_ms(&self) -> u128 {
        self.pace.as_millis()
    }

    fn apply_step(&mut self, step: &StepRecord) {
        self.n_steps += 1;
        let is_certain = certain_switch(&step.switches).is_some();
        let how = if is_certain { SwitchSeen::Taken } else { SwitchSeen::Maybe };
        for name in &step.switches {
            self.note_switch(name, how);
        }
        if self.last.len() == MAX_LAST {
            self.last.pop_front();
        }
        self.last.push_back(LastStep {
            number: step.step,
            kind: step.label.kind,
            gate: excerpt(&step.label.label, MAX_STEP),
            text: excerpt(&step.label.text, MAX_STEP),
            switches: step.switches.clone(),
        });
    }

    fn note_switch(&mut self, name: &str, how: SwitchSeen) {
        let at = self.names.get(name);
        if let Some(seen) = at.and_then(|&at| self.seen.get_mut(at)) {
            *seen = (*seen).max(how);
        }
    }

    fn count_outcome(&mut self, outcome: RunOutcome) {
        match outcome {
            RunOutcome::Pass => self.passed += 1,
            RunOutcome::Fail => self.failed += 1,
            RunOutcome::Inconclusive | RunOutcome::Error => self.other += 1,
            RunOutcome::Interrupted => (),
        }
    }
}

/// The end of a campaign, reported when it is dropped: also when the campaign panics.
struct LiveEnd<'l> {
    live: &'l LiveCampaign,
    message: Option<String>,
}

impl Drop for LiveEnd<'_> {
    fn drop(&mut self) {
        self.live.end_campaign(self.message.take());
    }
}

/// The reporter that receives the events of a campaign.
struct LiveWatcher<'l> {
    live: &'l LiveCampaign,
    /// True if a run can be held up between two steps.
    may_hold: bool,
}

impl LiveWatcher<'_> {
    fn apply_event(&self, state: &mut LiveState, event: &Event) {
        match &event.event {
            EventKind::CampaignStarted(told) => {
                state.planned = (told.runs < ENDLESS).then_some(told.runs);
                state.seed = told.seed;
                let name = format!("live: {}, {}, seed {}", told.sut, told.tester, told.seed);
                state.record = Some(self.live.records.begin_record(name));
            }
            EventKind::RunStarted(told) => {
                (state.run, state.goal) = (told.run, told.goal.clone());
                state.last.clear();
            }
            EventKind::Stimulus(step) | EventKind::Observation(step) => state.apply_step(step),
            EventKind::RunFinished(told) => {
                state.count_outcome(told.outcome);
                let certain = told.taken.iter().flatten().filter(|(_, (certain, _))| *certain > 0);
                certain.for_each(|(name, _)| state.note_switch(name, SwitchSeen::Taken));
            }
            EventKind::Trouble(told) => state.message = told.error.clone(),
            EventKind::Patience(_)
            | EventKind::Unsolicited(_)
            | EventKind::Verdict(_)
            | EventKind::Replayed(_)
            | EventKind::Shrunk(_)
            | EventKind::CampaignFinished(_) => (),
        }
        if let Some(run) = state.collector.add_event(event) {
            state.collector.release_run(&run);
            self.keep_failing_run(state, run);
        }
    }

    /// Keeps a failing run among the records, so that it can be looked at; the first hundred of a campaign.
    fn keep_failing_run(&self, state: &mut LiveState, run: RecordedRun) {
        if run.outcome != Some(RunOutcome::Fail) || state.failures.len() >= MAX_FAILURES {
            return;
        }
        let signature =
            run.verdict.as_ref().and_then(|verdict| verdict.signature.clone()).unwrap_or_default();
        let steps = run.steps.len();
        let place = state.record.and_then(|record| self.live.records.add_run(record, run));
        if let Some(place) = place {
            state.failures.push(FailedRun { place, steps, signature });
        }
    }

    /// Waits until `until`, and as long as the campaign is paused.
    fn wait_until(&self, until: Option<Instant>) {
        let mut state = self.live.lock();
        loop {
            let left = until.map(|until| until.saturating_duration_since(Instant::now()));
            let rest = match (state.phase, left) {
                (CampaignPhase::Paused, _) => Duration::from_secs(1),
                (CampaignPhase::Running, Some(left)) if !left.is_zero() => left,
                _ => return,
            };
            let waited = self.live.changed.wait_timeout(state, rest);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

impl Reporter for LiveWatcher<'_> {
    fn event(&mut self, event: &Event) -> io::Result<()> {
        let mut state = self.live.lock();
        self.apply_event(&mut state, event);
        let (pace, phase) = (state.pace, state.phase);
        self.live.publish_change(state);
        // Who asked for the end before the campaign could hear it is heard now.
        if let (CampaignPhase::Stopping, Some(launcher)) = (phase, &self.live.launcher) {
            launcher.stop();
        }
        let is_step = matches!(event.event, EventKind::Stimulus(_) | EventKind::Observation(_));
        if is_step && !self.may_hold {
            return Ok(());
        }
        self.wait_until((is_step && !pace.is_zero()).then(|| Instant::now() + pace));
        Ok(())
    }
}

#[cfg(test)]
mod tests;
