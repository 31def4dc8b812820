//! A check of a system against a model: testers, budgets, the result.

use std::io;
use std::str::FromStr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use ioxide_model::relation::ConformanceRelation;
use ioxide_model::sts::Model;
use ioxide_record::event::{Event, EventKind, LabelRecord, ShrunkRecord, VerdictRecord, VerdictWord};
use ioxide_record::reporter::{EventSink, Reporter};
use ioxide_report::terminal::TerminalReporter;
use ioxide_run::campaign::{CampaignConfig, CampaignOutcome, campaign};
use ioxide_run::clock::MonotonicClock;
use ioxide_run::run::{RunConfig, RunSetup};
use ioxide_smt::stack::{SolverConfig, build_stack};
use ioxide_symex::Ctx;
use ioxide_testgen::tester::spec::TesterSpec;
use thiserror::Error;

use crate::bench::LocalFactory;
use crate::failure::CheckFailure;
use crate::message::{IoxInput, IoxOutput, differences};
use crate::model::ModelFile;
use crate::system::InProcess;
use crate::tester::{self, TesterMaker};

/// A check with its settings; [`run`](Self::run) carries it out.
#[must_use = "nothing is checked before `run`"]
pub struct ModelCheck<'m, F> {
    model: &'m ModelFile,
    make: F,
    tester: TesterSpec,
    seed: Option<u64>,
    steps: Option<usize>,
    runs: Option<u64>,
    time: Option<Duration>,
    /// The differences between the messages of the model and those of the enums that were named.
    mismatches: Vec<String>,
}

/// Returns a check of the systems that `make` makes against `model`.
pub fn check<S: InProcess, F: FnMut() -> S>(model: &ModelFile, make: F) -> ModelCheck<'_, F> {
    ModelCheck {
        model,
        make,
        tester: TesterSpec::Hunt,
        seed: None,
        steps: None,
        runs: None,
        time: None,
        mismatches: Vec::new(),
    }
}

/// The result of a check without a failure.
#[derive(Clone, Debug)]
pub struct CheckPassed {
    runs: u64,
    steps: u64,
    inconclusive: u64,
    never: Vec<String>,
}

impl CheckPassed {
    /// Returns the number of runs.
    #[must_use]
    pub fn runs(&self) -> u64 {
        self.runs
    }

    /// Returns the number of inputs, outputs and silences of all runs.
    #[must_use]
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// Returns the number of runs without a verdict, for instance because a purpose was not met.
    #[must_use]
    pub fn inconclusive(&self) -> u64 {
        self.inconclusive
    }

    /// Returns the labels of the transitions of the model that were never taken.
    #[must_use]
    pub fn never_taken(&self) -> &[String] {
        &self.never
    }
}

impl<S: InProcess, F: FnMut() -> S> ModelCheck<'_, F> {
    /// Sets the tester that chooses the inputs: any that `ioxide test --tester` takes, written as there
    /// (`"purpose:cash".parse()`) or as a variant. Files of `case:` and `suite:` are relative to the package under
    /// `cargo test`. Without it, [`TesterSpec::Hunt`].
    pub fn tester(mut self, tester: TesterSpec) -> Self {
        self.tester = tester;
        self
    }

    /// Sets the seed that all random choices derive from, instead of `IOXIDE_SEED` or 1.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = Some(seed);
        self
    }

    /// Limits the inputs, outputs and silences, instead of `IOXIDE_STEPS`: for [`TesterSpec::Hunt`] those of all runs
    /// together (10,000 if neither is given, no limit if [`runs`](Self::runs) is), for [`TesterSpec::Random`] those
    /// of each run (100 if neither is given). The other testers have no such limit.
    pub fn steps(mut self, steps: usize) -> Self {
        self.steps = Some(steps);
        self
    }

    /// Limits the number of runs; without it, 10 for [`TesterSpec::Random`], [`TesterSpec::Purpose`] and
    /// [`TesterSpec::Force`], and no limit for the others, which end by themselves.
    pub fn runs(mut self, runs: u64) -> Self {
        self.runs = Some(runs);
        self
    }

    /// Limits the duration of the check: once `time` has passed, the current run ends at its next event, and no other
    /// begins.
    pub fn time(mut self, time: Duration) -> Self {
        self.time = Some(time);
        self
    }

    /// Compares the messages of the model with those of two enums first: the check ends without a verdict if a message
    /// is missing on one side, or has other fields.
    pub fn messages<I: IoxInput, O: IoxOutput>(mut self) -> Self {
        self.mismatches = differences(&self.model.model, &I::messages(), &O::messages());
        self
    }

    /// Carries out the check.
    ///
    /// # Panics
    /// If the system does not conform, or cannot be tested.
    #[track_caller]
    pub fn run(self) -> CheckPassed {
        // In a closure, the place of the panic would not be that of the caller.
        match self.try_run() {
            Ok(passed) => passed,
            Err(failure) => panic!("{failure}"),
        }
    }

    /// Makes the check.
    ///
    /// # Errors
    /// If the system does not conform, or cannot be tested.
    pub fn try_run(self) -> Result<CheckPassed, CheckFailure> {
        let unread = |bad: BadVariable| CheckFailure::without_verdict(bad.to_string(), 1);
        let seed =
            self.seed.map_or_else(|| parse_env("IOXIDE_SEED"), |seed| Ok(Some(seed))).map_err(unread)?;
        let seed = seed.unwrap_or(1);
        let trouble = |story: String| CheckFailure::without_verdict(story, seed);
        if !self.mismatches.is_empty() {
            return Err(trouble(self.mismatches.join("\n")));
        }
        let mut model = self.model.model.clone();
        let steps = self.steps.map_or_else(|| parse_env("IOXIDE_STEPS"), |steps| Ok(Some(steps)));
        let steps = steps.map_err(|bad| trouble(bad.to_string()))?;
        let mut maker = TesterMaker { model: &mut model, steps, runs: self.runs, seed };
        let mut tester = maker.make(&self.tester).map_err(|why| trouble(why.to_string()))?;
        let stop = Arc::new(AtomicBool::new(false));
        // A limit beyond the clock's range is no limit.
        let ends = self.time.and_then(|time| Instant::now().checked_add(time));
        let story = CapturedReport::new(ends, Arc::clone(&stop));
        let (told, failed) = (Arc::clone(&story.told), Arc::clone(&story.failed));
        let config = CampaignConfig {
            runs: self.runs.unwrap_or_else(|| tester::default_runs(&self.tester)),
            seed,
            run: RunConfig { relation: ConformanceRelation::usual(&model.sts), ..RunConfig::default() },
            tester: self.tester.to_string(),
            sut: "the system in this process".into(),
            file: self.model.name.clone(),
            ..CampaignConfig::default()
        };
        let mut adapter = LocalFactory::new(Arc::new(model.clone()), self.make);
        let mut solver = build_stack(&SolverConfig::default());
        let mut cx = Ctx::new(&mut model, &mut solver);
        let mut bench = RunSetup { cx: &mut cx, adapter: &mut adapter, stop: &stop };
        let (mut story, mut clock) = (story, MonotonicClock::start());
        let outcome = campaign(&mut bench, &mut *tester, &config, &EventSink::new(&mut story, &mut clock));
        let outcome = outcome.map_err(|error| trouble(error.to_string()))?;
        let told = told.lock().unwrap_or_else(PoisonError::into_inner);
        let text = String::from_utf8_lossy(&told).into_owned();
        let failed = failed.lock().unwrap_or_else(PoisonError::into_inner);
        verdict(&self.model.model, &outcome, text, seed).map_err(|failure| failed.describe(failure))
    }
}

/// Returns the result of a campaign: a failure if a run failed or ended in an error, or if nothing was done in time.
fn verdict(
    model: &Model,
    outcome: &CampaignOutcome,
    story: String,
    seed: u64,
) -> Result<CheckPassed, CheckFailure> {
    let counts = outcome.counts;
    if counts.failed > 0 {
        return Err(CheckFailure::with_verdict(story, seed));
    }
    // A run that the time cut off is not counted, and its steps were as the model allows.
    let is_empty = counts.passed + counts.inconclusive == 0 && !(outcome.interrupted && outcome.steps > 0);
    if counts.errors > 0 || is_empty {
        let error = outcome.error.as_ref().map_or_else(|| "nothing was run".to_owned(), ToString::to_string);
        return Err(CheckFailure::without_verdict(error, seed));
    }
    let never = outcome.coverage.never().map(|id| model.sts.switches[id].label.to_string()).collect();
    Ok(CheckPassed { runs: counts.total(), steps: outcome.steps, inconclusive: counts.inconclusive, never })
}

/// The error of an environment variable that is not a number, or too large a one: a check without it would not be the
/// one that was asked for.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("`{name}={text}` is not a number, or too large")]
pub(crate) struct BadVariable {
    name: &'static str,
    text: String,
}

/// Returns the number in an environment variable; `None` if it is unset or empty.
pub(crate) fn parse_env<T: FromStr>(name: &'static str) -> Result<Option<T>, BadVariable> {
    std::env::var_os(name).map_or(Ok(None), |text| number(name, &text.to_string_lossy()))
}

/// Returns the number in `text`; `None` if it is empty.
fn number<T: FromStr>(name: &'static str, text: &str) -> Result<Option<T>, BadVariable> {
    match text.trim() {
        "" => Ok(None),
        text => text.parse().map(Some).map_err(|_| BadVariable { name, text: text.to_owned() }),
    }
}

/// The first failing run of a campaign and the smallest one like it, as the events tell them.
#[derive(Default)]
struct FailedCheckRun {
    /// The steps of the current run, or of the first that failed.
    labels: Vec<LabelRecord>,
    verdict: Option<VerdictRecord>,
    shrunk: Option<ShrunkRecord>,
}

impl FailedCheckRun {
    /// Notes an event, until the smaller run of the first failure is known.
    fn note(&mut self, event: &EventKind) {
        match event {
            EventKind::RunStarted(_) if self.verdict.is_none() => self.labels.clear(),
            EventKind::Stimulus(step) | EventKind::Observation(step) if self.verdict.is_none() => {
                self.labels.push(step.label.clone())
            }
            EventKind::Verdict(verdict) if self.verdict.is_none() && verdict.verdict == VerdictWord::Fail => {
                self.verdict = Some(verdict.clone());
            }
            EventKind::Shrunk(shrunk) if self.shrunk.is_none() => self.shrunk = Some(shrunk.clone()),
            _ => (),
        }
    }

    /// Adds the smallest run that is known to `failure`, if it is a verdict.
    fn describe(&self, failure: CheckFailure) -> CheckFailure {
        let Some(verdict) = self.verdict.as_ref().filter(|_| failure.is_verdict) else { return failure };
        match &self.shrunk {
            Some(shrunk) => {
                let explanation = shrunk.explanation.as_ref().or(verdict.explanation.as_ref());
                failure.with_run(&shrunk.trace, Some(shrunk.step.unwrap_or(shrunk.trace.len())), explanation)
            }
            None => {
                let step = Some(verdict.step.unwrap_or(self.labels.len()));
                failure.with_run(&self.labels, step, verdict.explanation.as_ref())
            }
        }
    }
}

/// A reporter that keeps the report of a campaign as text, and stops the campaign when its time is over.
struct CapturedReport {
    terminal: TerminalReporter<KeptText, fn(&str)>,
    told: Arc<Mutex<Vec<u8>>>,
    failed: Arc<Mutex<FailedCheckRun>>,
    ends: Option<Instant>,
    stop: Arc<AtomicBool>,
}

/// A text that the reporter writes and the check reads.
struct KeptText(Arc<Mutex<Vec<u8>>>);

impl io::Write for KeptText {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl CapturedReport {
    /// Makes an empty report; it sets `stop` once `ends` is over.
    fn new(ends: Option<Instant>, stop: Arc<AtomicBool>) -> Self {
        let told = Arc::new(Mutex::new(Vec::new()));
        Self {
            terminal: TerminalReporter::new(KeptText(Arc::clone(&told)), |_| ()),
            told,
            failed: Arc::default(),
            ends,
            stop,
        }
    }
}

impl Reporter for CapturedReport {
    fn event(&mut self, event: &Event) -> io::Result<()> {
        if self.ends.is_some_and(|ends| Instant::now() >= ends) {
            self.stop.store(true, Ordering::Relaxed);
        }
        self.failed.lock().unwrap_or_else(PoisonError::into_inner).note(&event.event);
        let EventKind::CampaignFinished(finished) = &event.event else { return self.terminal.event(event) };
        // The same seed gives the same report, so it does not contain times.
        let mut finished = finished.clone();
        finished.time_spent = None;
        self.terminal.event(&Event { event: EventKind::CampaignFinished(finished), ..event.clone() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Defect: a seed that could not be read was silently the usual one, and what it should repeat was not repeated.
    #[test]
    fn a_variable_that_is_no_number_is_an_error() {
        assert_eq!(number::<u64>("IOXIDE_SEED", " 7\n"), Ok(Some(7)));
        assert_eq!(number::<u64>("IOXIDE_SEED", ""), Ok(None));
        for text in ["seven", "-1", "1e3", "99999999999999999999"] {
            let bad = number::<u64>("IOXIDE_SEED", text).expect_err("it is no seed");
            assert_eq!(bad.to_string(), format!("`IOXIDE_SEED={text}` is not a number, or too large"));
        }
    }
}
