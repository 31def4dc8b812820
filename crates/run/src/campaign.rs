//! Many runs: seeds derived one from another, failures replayed and shrunk, coverage counted.
//!
//! Runs that failed before come first. Several workers, each with a system and a
//! specification of its own, can share the runs: worker w of j does the runs w, w + j and so
//! on. With a tester that keeps nothing from run to run, a run depends on the model, the seed
//! and its number alone: every run begins with the same terms and a solver that was asked
//! nothing. With others it depends on the runs that the same worker did before.
//!
//! *Promises.* A Fail is replayed on the reset system before it is called reproducible, and
//! it is said how often it came back. Failures of one kind are examined and kept once, however
//! many nights the runs go on. Stopping by request ends after the current step, with
//! everything told.

pub mod merged;
mod reset_price;
mod tell;
pub mod unit;

use std::io;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use ioxide_model::sts::Sts;
use ioxide_model::trace::Trace;
use ioxide_record::event::{EventKind, HttpExchange, OperationRecord, RunOutcome, ShrinkingRecord};
use ioxide_record::reporter::EventSink;
use ioxide_symex::PoolSnapshot;
use ioxide_testgen::tester::Tester;
use ioxide_testgen::tester::replay::{PlannedMove, ReplayTester, ReplyFlow, Unmentioned, plan_by_meaning};

use self::reset_price::ResetPrice;
use crate::clock::budget::TimeBudget;
use crate::clock::latency::Latencies;
use crate::clock::spent::TimeSpent;
use crate::coverage::item::Measure;
use crate::coverage::{Coverage, CoverageSurvey, EnoughCoverage};
use crate::run::{LagEffect, RunConfig, RunEnd, RunId, RunResult, RunSetup, run};
use crate::shrink::{
    FailureSign, IdleSystems, RerunResult, ShrinkConfig, ShrinkProgress, ShrinkStatus, ShrunkRun, repeat,
    shrink,
};

/// Errors in a row after which a campaign gives up. Chosen by feel: a system that cannot be started three times will
/// not start the fourth time.
const MAX_ERRORS: u32 = 3;
/// The divisor of the time left that gives the time for examining one failure of a campaign that goes on after it;
/// chosen by feel: three failures leave four tenths of the time to test.
const EXAMINATION_SHARE: u32 = 4;
/// The number of runs up to which failures of one kind are examined again, while none could be reproduced. Chosen by
/// feel: a failure that never comes again costs its repetitions each time.
const MAX_LOOKS: u64 = 3;

/// The reaction of a campaign to a run that fails or has an error.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnFailure {
    /// No further run begins.
    #[default]
    Stop,
    /// The campaign goes on with the next run.
    GoOn,
}

/// The settings of a campaign.
#[derive(Clone, Debug)]
pub struct CampaignConfig {
    /// Runs that failed before, done first.
    pub regressions: Vec<Regression>,
    /// The number of runs after the regressions.
    pub runs: u64,
    /// The seed all others come from; the first run has it itself.
    pub seed: u64,
    /// The reaction to a run that fails.
    pub on_failure: OnFailure,
    /// The coverage measure that ends the campaign once all its items are covered; `None` for no such end.
    pub until: Option<Measure>,
    /// The number of times a failing run is repeated.
    pub replays: u32,
    /// The budget for shrinking failing runs; `None` to leave them as they are.
    pub shrink: Option<ShrinkConfig>,
    /// The time of the whole campaign: its runs, those that failed before, and repeating and shrinking what fails.
    pub time: Arc<TimeBudget>,
    /// The settings of every run.
    pub run: RunConfig,
    /// The tester, for people.
    pub tester: String,
    /// The system under test, for people.
    pub sut: String,
    /// The file of the specification as it was named; a replay looks for it there.
    pub file: String,
    /// Constants of the specification that were overridden, as `NAME=VALUE`.
    pub set: Vec<String>,
    /// The operations of a system that is asked by HTTP.
    pub operations: Vec<OperationRecord>,
}

impl Default for CampaignConfig {
    /// One run with seed 0, replayed three times and shrunk if it fails.
    fn default() -> Self {
        Self {
            regressions: Vec::new(),
            runs: 1,
            seed: 0,
            on_failure: OnFailure::Stop,
            until: None,
            replays: 3,
            shrink: Some(ShrinkConfig::default()),
            time: Arc::default(),
            run: RunConfig::default(),
            tester: "random".into(),
            sut: String::new(),
            file: String::new(),
            set: Vec::new(),
            operations: Vec::new(),
        }
    }
}

/// A run that failed before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Regression {
    /// The description of the failure, for people.
    pub name: String,
    /// The trace of the run that failed.
    pub trace: Trace,
}

/// The result of a campaign.
#[derive(Clone, Debug)]
pub struct CampaignOutcome {
    /// The number of runs, by outcome.
    pub counts: RunCounts,
    /// True if the campaign was stopped by request, or units of it are missing.
    pub interrupted: bool,
    /// One run for every kind of failure.
    pub failures: Vec<FailureGroup>,
    /// The error of the last run that ended without a verdict; `None` if there was no such run.
    pub error: Option<ioxide_wire::adapter::AdapterError>,
    /// The coverage of all runs together.
    pub coverage: Coverage,
    /// The items that there are to cover.
    pub survey: CoverageSurvey,
    /// True if all items of [`CampaignConfig::until`] were covered, or it was `None`.
    pub is_enough: bool,
    /// The latencies of the outputs.
    pub latencies: Latencies,
    /// The number of replies, if the system refused every input and the model has other answers; else `None`.
    pub refused: Option<u64>,
    /// Labels seen in all runs.
    pub steps: u64,
    /// The number of runs in which, from some step on, the monitor could not decide what the specification allows.
    pub unknown: u64,
    /// The largest effect of a busy machine on waits and tolerances.
    pub lag: LagEffect,
    /// The use of the time; `None` where events have no times.
    pub spent: Option<TimeSpent>,
    /// The time from the beginning of the campaign to its end; zero where events have no times.
    pub elapsed: Duration,
    /// The steps that a reset was measured to cost, rounded up to a power of two; `None` if it was not, or is cheap.
    pub reset_price: Option<u64>,
}

impl CampaignOutcome {
    /// Returns the outcome of a campaign without runs.
    fn nothing(sts: &Sts) -> Self {
        Self {
            counts: RunCounts::default(),
            interrupted: false,
            failures: Vec::new(),
            error: None,
            coverage: Coverage::new(sts),
            survey: CoverageSurvey::default(),
            is_enough: true,
            latencies: Latencies::default(),
            refused: None,
            steps: 0,
            unknown: 0,
            lag: LagEffect::default(),
            spent: None,
            elapsed: Duration::ZERO,
            reset_price: None,
        }
    }

    /// Adds time that was spent, in a campaign whose events have times.
    fn add_spent(&mut self, spent: TimeSpent) {
        *self.spent.get_or_insert_default() += spent;
    }
}

/// Runs by outcome; an interrupted run is in none of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RunCounts {
    /// Verdict pass.
    pub passed: u64,
    /// Verdict inconclusive.
    pub inconclusive: u64,
    /// Verdict fail.
    pub failed: u64,
    /// No verdict, because of an error on the way to the system.
    pub errors: u64,
}

impl RunCounts {
    /// Returns the number of runs that came to an end.
    #[must_use]
    pub fn total(self) -> u64 {
        self.passed + self.inconclusive + self.failed + self.errors
    }

    /// Counts a finished run; one that was interrupted counts for nothing.
    fn add(&mut self, outcome: RunOutcome) {
        match outcome {
            RunOutcome::Pass => self.passed += 1,
            RunOutcome::Inconclusive => self.inconclusive += 1,
            RunOutcome::Fail => self.failed += 1,
            RunOutcome::Error => self.errors += 1,
            RunOutcome::Interrupted => (),
        }
    }
}

/// The failures of one kind, and the run that was examined for them.
#[derive(Clone, Debug)]
pub struct FailureGroup {
    /// The text that identifies the kind of the failure.
    pub signature: String,
    /// The number of runs with a failure of this kind.
    pub runs: u64,
    /// The run that was examined.
    pub id: RunId,
    /// The trace of the examined run; the last label is the forbidden one.
    pub trace: Trace,
    /// The requests of the examined run by HTTP, with their answers.
    pub exchanges: Vec<HttpExchange>,
    /// The number of repetitions in which the failure came back.
    pub reproduced: u32,
    /// The number of repetitions that were made.
    pub of: u32,
    /// The number of repetitions that were wanted.
    pub wanted: u32,
    /// A smaller run that fails, if it was asked for and the failure came back.
    pub shrunk: Option<ShrunkRun>,
}

impl FailureGroup {
    /// Returns the text that names the failure: the signature of its smallest run, else of the run as found.
    #[must_use]
    pub fn naming_signature(&self) -> &str {
        self.shrunk.as_ref().and_then(ShrunkRun::confirmed_signature).unwrap_or(&self.signature)
    }

    /// Returns whether another failure of this kind is to be examined: it was to be repeated, it never came back, and
    /// at most [`MAX_LOOKS`] runs had it.
    fn is_worth_a_look(&self) -> bool {
        self.wanted > 0 && self.reproduced == 0 && self.runs <= MAX_LOOKS
    }
}

/// The seed of run `n` of a campaign; that of run 0 is the campaign's own.
#[must_use]
pub fn run_seed(seed: u64, n: u64) -> u64 {
    if n == 0 {
        return seed;
    }
    // Streams of one generator: seeds of neighbouring runs have nothing in common, and run `n` needs no other.
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream(n);
    rng.next_u64()
}

/// Does the runs, one after the other.
///
/// # Errors
/// As [`run`].
pub fn campaign(
    setup: &mut RunSetup<'_, '_>,
    tester: &mut dyn Tester,
    config: &CampaignConfig,
    sink: &EventSink<'_>,
) -> io::Result<CampaignOutcome> {
    let campaign = CampaignState::start(setup.cx.sts, config, 1, sink)?;
    campaign.work(0, setup, tester)?;
    campaign.finish(setup.cx.sts)
}

/// A campaign under way, shared by its workers.
pub struct CampaignState<'c, 'r> {
    config: &'c CampaignConfig,
    jobs: u64,
    sink: &'c EventSink<'r>,
    progress: Mutex<CampaignProgress>,
    /// The coverage to be reached, determined as soon as a worker has a specification.
    enough: OnceLock<Arc<EnoughCoverage>>,
    /// The systems of the workers, which try smaller runs for each other.
    copies: IdleSystems,
    /// The time that the tester took before the campaign began: it searched for purposes.
    preparation: Duration,
}

/// The data that a worker keeps from run to run.
struct WorkerShare {
    /// The settings of its runs.
    config: RunConfig,
    /// The coverage of the current run.
    coverage: Coverage,
    /// The terms before the first run.
    fresh: PoolSnapshot,
    reset_price: ResetPrice,
}

/// The progress of a campaign, shared by its workers.
struct CampaignProgress {
    found: CampaignOutcome,
    errors_in_a_row: u32,
    /// True if no new run begins.
    is_over: bool,
}

impl<'c, 'r> CampaignState<'c, 'r> {
    /// Begins a campaign of `jobs` workers.
    ///
    /// # Errors
    /// If an event cannot be reported.
    pub fn start(
        sts: &Sts,
        config: &'c CampaignConfig,
        jobs: u64,
        sink: &'c EventSink<'r>,
    ) -> io::Result<Self> {
        config.time.start_clock();
        let preparation = config.time.time_since_start();
        sink.tell(EventKind::CampaignStarted(tell::started(sts, config, jobs)))?;
        let outcome = CampaignOutcome::nothing(sts);
        let progress = Mutex::new(CampaignProgress { found: outcome, errors_in_a_row: 0, is_over: false });
        Ok(Self {
            config,
            jobs: jobs.max(1),
            sink,
            progress,
            enough: OnceLock::new(),
            copies: IdleSystems::default(),
            preparation,
        })
    }

    /// Does the runs of worker `worker`, counted from 0.
    ///
    /// # Errors
    /// As [`run`].
    pub fn work(&self, worker: u64, setup: &mut RunSetup<'_, '_>, tester: &mut dyn Tester) -> io::Result<()> {
        // While one worker is busy, its failures may still need the systems of those that are done: `help` lends
        // them.
        let busy = self.copies.begin_work();
        self.runs_of(worker, setup, tester)?;
        drop(busy);
        self.copies.help(setup);
        if worker == 0 {
            // One worker makes the survey, as all of them have the same specification.
            let mut coverage = self.lock_progress().found.coverage.clone();
            let survey = CoverageSurvey::new(setup.cx, &mut coverage);
            self.lock_progress().found.survey = survey;
        }
        Ok(())
    }

    /// Does the runs of a worker.
    fn runs_of(&self, worker: u64, setup: &mut RunSetup<'_, '_>, tester: &mut dyn Tester) -> io::Result<()> {
        let mut share = self.share_of(setup);
        // Testers know the time of their runs; runs that failed before are led by none.
        share.config.deadline = self.config.time.deadline();
        let step = usize::try_from(self.jobs).unwrap_or(usize::MAX);
        let first = usize::try_from(worker).unwrap_or(usize::MAX);
        for (at, regression) in self.config.regressions.iter().enumerate().skip(first).step_by(step) {
            if self.lock_progress().is_over || self.config.time.is_spent() {
                return Ok(());
            }
            let flow = ReplyFlow::new(setup.cx.pool, setup.cx.sts);
            let mut plan = plan_by_meaning(&flow, setup.cx.sts, &regression.trace);
            // It may have broken the system, which shows only if the system is observed.
            plan.push(PlannedMove::Observe);
            let mut again = ReplayTester::new(plan, Unmentioned::Skip)
                .named(format!("failed before: {}", regression.name));
            self.do_run(setup, &mut again, RunId { run: at as u64, seed: self.config.seed }, &mut share)?;
        }
        share.config.deadline = None;
        // The runs are dealt by themselves: which worker does one must not depend on what failed before.
        let before = self.config.regressions.len() as u64;
        let mut number = worker;
        let is_over = || self.lock_progress().is_over || self.config.time.is_spent();
        while number < self.config.runs && !is_over() && !tester.is_done() {
            if let Some(steps) = share.reset_price.take_decided() {
                tester.note_reset_cost(steps);
                self.lock_progress().found.reset_price = Some(steps as u64);
            }
            let id = RunId { run: before.saturating_add(number), seed: run_seed(self.config.seed, number) };
            self.do_run(setup, tester, id, &mut share)?;
            number = number.saturating_add(self.jobs);
        }
        Ok(())
    }

    /// Returns the data that a worker begins with.
    fn share_of(&self, setup: &mut RunSetup<'_, '_>) -> WorkerShare {
        let coverage = Coverage::new(setup.cx.sts);
        let enough = self.config.until.map(|measure| {
            self.enough.get_or_init(|| Arc::new(EnoughCoverage::new(setup.cx, measure))).clone()
        });
        let config = RunConfig { enough, ..self.config.run.clone() };
        WorkerShare { config, coverage, fresh: setup.cx.snapshot(), reset_price: ResetPrice::default() }
    }

    /// Does one run and counts it.
    fn do_run(
        &self,
        setup: &mut RunSetup<'_, '_>,
        tester: &mut dyn Tester,
        id: RunId,
        share: &mut WorkerShare,
    ) -> io::Result<()> {
        let tagged = (self.jobs > 1).then(|| self.sink.for_run(id.run));
        let sink = tagged.as_ref().unwrap_or(self.sink);
        if tester.is_memoryless() {
            // Terms of earlier runs would get other numbers, and with them a solver other answers.
            setup.cx.restore(&share.fresh);
            share.coverage = Coverage::new(setup.cx.sts);
        }
        // The choices of a played model are those of the run, whichever worker does it. If it cannot begin again, the
        // reset of the run says so.
        let _ = setup.adapter.reseed(id.seed);
        let finished = run(setup, tester, &share.config, id, &mut share.coverage, sink)?;
        let coverage = share.coverage.take_since_last(setup.cx.sts);
        // Counted before the failure is examined, so that the other workers know of it while this one repeats
        // runs.
        self.count_and_decide_end(&finished, &coverage, setup.stop.load(Ordering::Relaxed));
        if self.config.run.weighs_time && finished.has_times {
            share.reset_price.count_run(finished.trace.n_steps(), finished.spent);
        }
        match &finished.signature {
            Some(signature) => self.examine_new_kind(setup, id, &finished, signature, sink),
            None => Ok(()),
        }
    }

    /// Adds the result of a run to the totals of the campaign, and ends it after a failure if that is configured, too
    /// many errors in a row, an interrupt, or once the coverage that was asked for is reached.
    fn count_and_decide_end(&self, result: &RunResult, coverage: &Coverage, interrupted: bool) {
        let outcome = result.end.outcome();
        let mut progress = self.lock_progress();
        progress.found.counts.add(outcome);
        progress.found.steps += result.trace.n_steps() as u64;
        progress.found.unknown += u64::from(result.unknown_from.is_some());
        progress.found.coverage.add(coverage);
        progress.found.latencies.merge(&result.latencies);
        // A record without times does not tell how busy this machine was.
        if result.has_times {
            progress.found.lag = progress.found.lag.max(result.lag);
            progress.found.add_spent(result.spent);
        }
        progress.found.interrupted |= interrupted;
        progress.errors_in_a_row =
            if outcome == RunOutcome::Error { progress.errors_in_a_row + 1 } else { 0 };
        if let RunEnd::Error(error) = &result.end {
            progress.found.error = Some(error.clone());
        }
        let is_bad = matches!(outcome, RunOutcome::Fail | RunOutcome::Error);
        progress.is_over |= is_bad && self.config.on_failure == OnFailure::Stop
            || progress.errors_in_a_row >= MAX_ERRORS
            || interrupted
            || self.enough.get().is_some_and(|enough| enough.is_met());
    }

    /// Looks into a failing run, unless one of its kind has been understood.
    fn examine_new_kind(
        &self,
        setup: &mut RunSetup<'_, '_>,
        id: RunId,
        result: &RunResult,
        signature: &str,
        sink: &EventSink<'_>,
    ) -> io::Result<()> {
        let Some(at) = self.new_kind(id, &result.trace, signature) else { return Ok(()) };
        let from = Instant::now();
        let (again, shrunk) = self.examine(setup, id, result, sink)?;
        let mut progress = self.lock_progress();
        if result.has_times {
            progress.found.add_spent(TimeSpent { repeats: from.elapsed(), ..TimeSpent::default() });
        }
        let failure = &mut progress.found.failures[at];
        failure.id = id;
        (failure.trace, failure.exchanges) = (result.trace.clone(), result.exchanges.clone());
        (failure.reproduced, failure.of) = again.map_or((0, 0), |again| (again.failed, again.of));
        (failure.wanted, failure.shrunk) = (self.config.replays, shrunk);
        Ok(())
    }

    /// Returns the position of the failure group of `signature`, if the run is to be examined; counts the run.
    fn new_kind(&self, id: RunId, trace: &Trace, signature: &str) -> Option<usize> {
        let failures = &mut self.lock_progress().found.failures;
        match failures.iter().position(|failure| failure.signature == signature) {
            Some(at) => {
                let known = &mut failures[at];
                known.runs += 1;
                known.is_worth_a_look().then_some(at)
            }
            None => {
                let (signature, trace) = (signature.to_owned(), trace.clone());
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
                Some(failures.len() - 1)
            }
        }
    }

    /// Does a failing run again, and makes it smaller if it comes back.
    fn examine(
        &self,
        setup: &mut RunSetup<'_, '_>,
        id: RunId,
        result: &RunResult,
        sink: &EventSink<'_>,
    ) -> io::Result<(Option<RerunResult>, Option<ShrunkRun>)> {
        let Some(sign) = FailureSign::of(result) else { return Ok((None, None)) };
        let run = RunConfig { deadline: examination_deadline(self.config), ..self.config.run.clone() };
        // Before anything is made smaller: only a failure that comes back is worth the time.
        let again = repeat(setup, &run, &result.trace, sign, self.config.replays);
        if self.config.replays > 0 {
            sink.tell(EventKind::Replayed(tell::replayed(setup, id, &again)))?;
        }
        let shrunk = self.shrink_failure(setup, &run, result, &again, &mut |status| {
            let ShrinkStatus { attempts, steps, limit, left } = status;
            let (limit_s, left_s) = (limit.map(|limit| limit.as_secs()), left.map(|left| left.as_secs()));
            sink.shrinking(&ShrinkingRecord { run: id.run, attempts, steps, limit_s, left_s });
        });
        if let Some(shrunk) = &shrunk {
            sink.tell(EventKind::Shrunk(tell::shrunk(setup, &run, id, result, shrunk)))?;
        }
        Ok((Some(again), shrunk))
    }

    /// Returns a smaller run than `result`, if shrinking is configured and the failure came back.
    fn shrink_failure(
        &self,
        setup: &mut RunSetup<'_, '_>,
        run: &RunConfig,
        result: &RunResult,
        rerun: &RerunResult,
        progress: ShrinkProgress<'_>,
    ) -> Option<ShrunkRun> {
        let confirmed = rerun.confirmed(&result.trace)?;
        let budget = self.config.shrink.as_ref()?;
        let is_wanted = budget.only.is_none_or(|only| only.is_same(confirmed.sign()));
        is_wanted.then(|| shrink(setup, run, &confirmed, budget, Some(&self.copies), progress))
    }

    /// Lets no new run begin.
    pub fn stop(&self) {
        self.lock_progress().is_over = true;
    }

    /// Ends the campaign.
    ///
    /// # Errors
    /// If an event cannot be reported.
    pub fn finish(self, sts: &Sts) -> io::Result<CampaignOutcome> {
        let mut found = self.progress.into_inner().unwrap_or_else(PoisonError::into_inner).found;
        found.failures.sort_by_key(|failure| failure.id.run);
        if let Some(spent) = &mut found.spent {
            found.elapsed = self.config.time.time_since_start();
            spent.tester += self.preparation;
            let jobs = u32::try_from(self.jobs).unwrap_or(u32::MAX);
            // Every worker spends all of the time; what no run counted is the rest.
            *spent = spent.filled_up_to(found.elapsed.saturating_mul(jobs));
        }
        found.is_enough = self.enough.get().is_none_or(|enough| enough.is_met());
        found.refused = found.coverage.only_refused(sts, &self.config.run.refusals);
        self.sink.tell(EventKind::CampaignFinished(tell::finished(
            sts,
            &found,
            &self.config.run.patience,
        )))?;
        Ok(found)
    }

    /// Locks the progress; a worker that panicked leaves what it had counted.
    fn lock_progress(&self) -> MutexGuard<'_, CampaignProgress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the instant at which repeating and shrinking a failure ends, whatever its own budget: the end of the
/// campaign or, if that goes on afterwards, a share of the time that is left.
fn examination_deadline(config: &CampaignConfig) -> Option<Instant> {
    let left = config.time.time_left()?;
    let share = match config.on_failure {
        OnFailure::Stop => left,
        OnFailure::GoOn => left / EXAMINATION_SHARE,
    };
    Instant::now().checked_add(share)
}

#[cfg(test)]
mod tester_tests;
#[cfg(test)]
mod tests;
