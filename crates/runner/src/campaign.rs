//! Many runs: seeds derived one from another, failures replayed and shrunk, coverage counted.
//!
//! *Promises.* A Fail is replayed on the reset system before it is called reproducible, and
//! it is said how often it came back. Stopping by request ends after the current step, with
//! everything told.

use std::io;
use std::sync::atomic::Ordering;

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use ioxide_model::sts::SwitchId;
use ioxide_model::trace::Trace;
use ioxide_testgen::tester::Tester;

use crate::coverage::Coverage;
use crate::event::{CampaignFinished, CampaignStarted, EventKind, LabelTold, Outcome, Replayed, ShrunkTold};
use crate::reporter::Teller;
use crate::run::{Bench, Finished, RunConfig, RunId, run};
use crate::shrink::{ShrinkConfig, Shrunk, reproduced, shrink};

/// Errors in a row after which a campaign gives up.
const MAX_ERRORS: u32 = 3;

/// What to do after a run that failed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnFailure {
    /// No more runs.
    #[default]
    Stop,
    /// Go on with the next.
    GoOn,
}

/// The settings of a campaign.
#[derive(Clone, Debug)]
pub struct CampaignConfig {
    /// How many runs.
    pub runs: u64,
    /// The seed all others come from; the first run has it itself.
    pub seed: u64,
    /// What to do after a failure.
    pub on_failure: OnFailure,
    /// How often a failing run is done again.
    pub replays: u32,
    /// How much to spend on making failures smaller; nothing if `None`.
    pub shrink: Option<ShrinkConfig>,
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
}

impl Default for CampaignConfig {
    /// One run with seed 0, replayed three times and shrunk if it fails.
    fn default() -> Self {
        Self {
            runs: 1,
            seed: 0,
            on_failure: OnFailure::Stop,
            replays: 3,
            shrink: Some(ShrinkConfig::default()),
            run: RunConfig::default(),
            tester: "random".into(),
            sut: String::new(),
            file: String::new(),
            set: Vec::new(),
        }
    }
}

/// What a campaign found.
#[derive(Clone, Debug)]
pub struct CampaignOutcome {
    /// How many runs there were, by outcome.
    pub counts: Counts,
    /// Somebody stopped it.
    pub interrupted: bool,
    /// The runs that failed.
    pub failures: Vec<Failure>,
    /// The last trouble, if any.
    pub error: Option<crate::adapter::AdapterError>,
    /// The switches taken.
    pub coverage: Coverage,
    /// Labels seen in all runs.
    pub steps: u64,
}

/// Runs by outcome; an interrupted run is in none of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Verdict pass.
    pub passed: u64,
    /// Verdict inconclusive.
    pub inconclusive: u64,
    /// Verdict fail.
    pub failed: u64,
    /// No verdict, for trouble.
    pub errors: u64,
}

impl Counts {
    /// All runs that came to an end.
    #[must_use]
    pub fn total(self) -> u64 {
        self.passed + self.inconclusive + self.failed + self.errors
    }

    fn add(&mut self, outcome: Outcome) {
        match outcome {
            Outcome::Pass => self.passed += 1,
            Outcome::Inconclusive => self.inconclusive += 1,
            Outcome::Fail => self.failed += 1,
            Outcome::Error => self.errors += 1,
            Outcome::Interrupted => (),
        }
    }
}

/// A run that failed.
#[derive(Clone, Debug)]
pub struct Failure {
    /// Which run.
    pub id: RunId,
    /// What was seen; the last label is the forbidden one.
    pub trace: Trace,
    /// How often it failed when done again.
    pub reproduced: u32,
    /// How often it was done again.
    pub of: u32,
    /// A smaller run that fails, if it was asked for and the failure came back.
    pub shrunk: Option<Shrunk>,
}

/// The seed of run `n` of a campaign; that of run 0 is the campaign's own.
#[must_use]
pub fn run_seed(seed: u64, n: u64) -> u64 {
    if n == 0 {
        return seed;
    }
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream(n);
    rng.next_u64()
}

/// Does the runs.
///
/// # Errors
/// As [`run`].
pub fn campaign(
    bench: &mut Bench<'_, '_>,
    tester: &mut dyn Tester,
    config: &CampaignConfig,
    teller: &mut Teller<'_>,
) -> io::Result<CampaignOutcome> {
    teller.tell(EventKind::CampaignStarted(started(bench, config)))?;
    let mut found = CampaignOutcome {
        counts: Counts::default(),
        interrupted: false,
        failures: Vec::new(),
        error: None,
        coverage: Coverage::new(bench.cx.sts),
        steps: 0,
    };
    let mut errors_in_a_row = 0;
    for n in 0..config.runs {
        let id = RunId { run: n, seed: run_seed(config.seed, n) };
        let finished = run(bench, tester, &config.run, id, &mut found.coverage, teller)?;
        let outcome = finished.end.outcome();
        found.counts.add(outcome);
        found.steps += finished.trace.len() as u64;
        errors_in_a_row = if outcome == Outcome::Error { errors_in_a_row + 1 } else { 0 };
        if outcome == Outcome::Fail {
            let failure = examine(bench, config, id, &finished, teller)?;
            found.failures.push(failure);
        }
        if let crate::run::End::Error(error) = finished.end {
            found.error = Some(error);
        }
        let is_bad = matches!(outcome, Outcome::Fail | Outcome::Error);
        let gives_up = is_bad && config.on_failure == OnFailure::Stop || errors_in_a_row >= MAX_ERRORS;
        found.interrupted = bench.stop.load(Ordering::Relaxed);
        if gives_up || found.interrupted || tester.is_done() {
            break;
        }
    }
    teller.tell(EventKind::CampaignFinished(finished(bench, &found)))?;
    Ok(found)
}

/// Does a failing run again, and makes it smaller if it comes back.
fn examine(
    bench: &mut Bench<'_, '_>,
    config: &CampaignConfig,
    id: RunId,
    finished: &Finished,
    teller: &mut Teller<'_>,
) -> io::Result<Failure> {
    let again = reproduced(bench, &config.run, &finished.trace, config.replays);
    if config.replays > 0 {
        let told = Replayed { run: id.run, reproduced: again, of: config.replays };
        teller.tell(EventKind::Replayed(told))?;
    }
    let shrunk = match &config.shrink {
        Some(budget) if again > 0 => Some(shrink(bench, &config.run, &finished.trace, budget)),
        _ => None,
    };
    if let Some(shrunk) = &shrunk {
        teller.tell(EventKind::Shrunk(told(bench, id, finished, shrunk)))?;
    }
    Ok(Failure { id, trace: finished.trace.clone(), reproduced: again, of: config.replays, shrunk })
}

fn started(bench: &Bench<'_, '_>, config: &CampaignConfig) -> CampaignStarted {
    let sts = bench.cx.sts;
    CampaignStarted {
        model: sts.name.to_string(),
        file: config.file.clone(),
        set: config.set.clone(),
        switches: sts.switches.iter().map(|switch| switch.label.to_string()).collect(),
        tester: config.tester.clone(),
        sut: config.sut.clone(),
        seed: config.seed,
        runs: config.runs,
        patience_ms: u64::try_from(config.run.patience.as_millis()).unwrap_or(u64::MAX),
    }
}

fn told(bench: &Bench<'_, '_>, id: RunId, finished: &Finished, shrunk: &Shrunk) -> ShrunkTold {
    let label = |label| LabelTold::new(bench.cx.pool, bench.cx.sts, label);
    ShrunkTold {
        run: id.run,
        trace: shrunk.trace.labels.iter().map(label).collect(),
        from: finished.trace.len(),
        attempts: shrunk.attempts,
        minimal: shrunk.minimal,
        reproduced: shrunk.reproduced,
        of: shrunk.of,
    }
}

fn finished(bench: &Bench<'_, '_>, found: &CampaignOutcome) -> CampaignFinished {
    let name = |id: SwitchId| bench.cx.sts.switches[id].label.to_string();
    CampaignFinished {
        runs: found.counts.total(),
        passed: found.counts.passed,
        inconclusive: found.counts.inconclusive,
        failed: found.counts.failed,
        errors: found.counts.errors,
        interrupted: found.interrupted,
        covered: found.coverage.covered().map(name).collect(),
        never: found.coverage.never().map(name).collect(),
        failures: Vec::new(),
        latencies: Vec::new(),
        suggested_patience_ms: None,
    }
}

#[cfg(test)]
mod tests;
