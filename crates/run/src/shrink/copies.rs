//! Copies of the system: workers of a campaign that have no runs of their own any more and try candidates for others.
//!
//! *Promises.* A worker helps until no worker has work of its own left, and every try that was handed out is answered.
//! A copy with an error answers with that error, and the asking worker makes the try itself.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use ioxide_testgen::tester::replay::{PlannedMove, Unmentioned};

use super::rerun::run_again;
use crate::run::{RunConfig, RunEnd, RunResult, RunSetup};

/// A run that somebody wants to be made.
struct WantedRun {
    number: u64,
    plan: Vec<PlannedMove>,
    config: RunConfig,
}

/// The state that the workers share.
#[derive(Default)]
struct CopiesState {
    /// The workers with work of their own.
    n_busy: usize,
    /// The workers that wait for something to do, or are doing it for others.
    n_helping: usize,
    next: u64,
    wanted: VecDeque<WantedRun>,
    /// Results by number; `None` for a run that could not be made.
    finished: BTreeMap<u64, Option<RunResult>>,
}

/// The systems of the workers of a campaign.
#[derive(Default)]
pub struct IdleSystems {
    state: Mutex<CopiesState>,
    changed: Condvar,
}

/// The time in which a worker has work of its own; ends when it is dropped.
pub struct BusyWorker<'c>(&'c IdleSystems);

impl Drop for BusyWorker<'_> {
    fn drop(&mut self) {
        self.0.lock().n_busy -= 1;
        self.0.changed.notify_all();
    }
}

/// The time in which a worker helps others; ends when it is dropped.
struct HelpingWorker<'c>(&'c IdleSystems);

impl<'c> HelpingWorker<'c> {
    /// Counts one more helping worker.
    fn new(copies: &'c IdleSystems) -> Self {
        copies.lock().n_helping += 1;
        Self(copies)
    }
}

impl Drop for HelpingWorker<'_> {
    fn drop(&mut self) {
        self.0.lock().n_helping -= 1;
        self.0.changed.notify_all();
    }
}

/// The answer to a wanted run, given when it is dropped: also by a worker that panics.
struct RunAnswer<'c> {
    copies: &'c IdleSystems,
    number: u64,
    finished: Option<RunResult>,
}

impl Drop for RunAnswer<'_> {
    fn drop(&mut self) {
        let finished = self.finished.take();
        self.copies.lock().finished.insert(self.number, finished);
        self.copies.changed.notify_all();
    }
}

impl IdleSystems {
    /// Notes that a worker has work of its own.
    #[must_use]
    pub fn begin_work(&self) -> BusyWorker<'_> {
        self.lock().n_busy += 1;
        BusyWorker(self)
    }

    /// Makes runs for other workers on the system of `setup`, until no worker has work of its own.
    pub fn help(&self, setup: &mut RunSetup<'_, '_>) {
        let _helping = HelpingWorker::new(self);
        while let Some(wanted) = self.next_wanted() {
            let mut answer = RunAnswer { copies: self, number: wanted.number, finished: None };
            answer.finished = run_again(setup, &wanted.config, &wanted.plan, Unmentioned::Skip);
        }
    }

    /// Waits for a run that another worker wants; `None` once no worker has work of its own.
    fn next_wanted(&self) -> Option<WantedRun> {
        let mut state = self.lock();
        loop {
            if let Some(wanted) = state.wanted.pop_front() {
                return Some(wanted);
            }
            // Looked at only if nothing is wanted: the last busy worker may still wait for an answer.
            if state.n_busy == 0 {
                return None;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Returns the number of runs that can be made at once: one here, and one by each worker that helps.
    pub(super) fn n_free(&self) -> usize {
        self.lock().n_helping + 1
    }

    /// Carries out plans, the first one on the system of `setup`; the results have the order of the plans.
    pub(super) fn run_all(
        &self,
        setup: &mut RunSetup<'_, '_>,
        config: &RunConfig,
        plans: &[Vec<PlannedMove>],
    ) -> Vec<Option<RunResult>> {
        let Some((own, others)) = plans.split_first() else { return Vec::new() };
        // The others are handed out before the own run begins, so that they go on side by side.
        let numbers: Vec<u64> = others.iter().map(|plan| self.request_run(config, plan)).collect();
        let mut results = vec![run_again(setup, config, own, Unmentioned::Skip)];
        for (number, plan) in numbers.into_iter().zip(others) {
            let finished = self.wait_for(number);
            let is_trouble = finished.as_ref().is_none_or(|it| matches!(it.end, RunEnd::Error(_)));
            results.push(match finished {
                Some(finished) if !is_trouble => Some(finished),
                _ => run_again(setup, config, plan, Unmentioned::Skip),
            });
        }
        results
    }

    /// Asks the workers for a run with this plan, and returns its number.
    fn request_run(&self, config: &RunConfig, plan: &[PlannedMove]) -> u64 {
        let mut state = self.lock();
        let number = state.next;
        state.next += 1;
        state.wanted.push_back(WantedRun { number, plan: plan.to_vec(), config: config.clone() });
        self.changed.notify_all();
        number
    }

    /// Waits for the result of a wanted run; takes the run back if no worker is left to make it.
    fn wait_for(&self, number: u64) -> Option<RunResult> {
        let mut state = self.lock();
        loop {
            if let Some(finished) = state.finished.remove(&number) {
                return finished;
            }
            if state.n_helping == 0 {
                // Nobody will take it any more; the caller makes the run itself.
                state.wanted.retain(|wanted| wanted.number != number);
                return None;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn lock(&self) -> MutexGuard<'_, CopiesState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
