//! Soundness and power of verdicts: correct systems that must never fail, and faults that must be found, over slow
//! connections.
//!
//! Ten [kinds of systems](systems) over six [wires](wire), each behind a [proxy] that delays both directions by 0, 5
//! or 50 ms and half of that as jitter, on an idle machine and [beside four busy processes](load). One kind is
//! [`restarted`] for every run. A campaign has [`CAMPAIGN`] runs with the default settings of `ioxide test`.
//! Every Fail of a correct system is a false one. Then the same systems with one fault each: the number of campaigns
//! that find it, by delay.
//!
//! *Promises.* A seed makes the same choices: the order and values of inputs, delays, jitter. The actual timing also
//! depends on the machine; that is what is measured.

mod child;
mod load;
mod pair;
mod proxy;
mod restarted;
mod server;
mod systems;
mod trial;
mod wire;

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::panic::{self, AssertUnwindSafe};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use ioxide_args::BenchArgs;
use ioxide_cli::exit::{CliError, ExitStatus};
use ioxide_cli::progress::ProgressLine;
use ioxide_cli::{seed, solver};
use ioxide_model::sts::Model;
use ioxide_run::campaign::{CampaignOutcome, FailureGroup, run_seed};
use serde_json::{Value as Json, json};

use self::child::Child;
use self::load::Load;
use self::proxy::Lag;
use self::systems::{Health, SystemKind};
use self::trial::{TrialError, TruthTrial};
use super::embedded::load_text;

/// The number of runs of a campaign; few, so that many combinations of system, wire, delay and load get their turn.
const CAMPAIGN: u64 = 5;
/// The number of runs on correct systems, unless `--runs` gives another: about a minute, since 10,000 took ten.
const RUNS: u64 = 1_000;
/// The delays of each direction, in milliseconds: none, that of a local network, that of a distant one.
const DELAYS: [u64; 3] = [0, 5, 50];
/// The number of campaigns at once: they mostly wait.
const JOBS: usize = 32;
/// The number of runs on correct systems for which there is one campaign for every fault, wire and delay; chosen by
/// feel.
const RUNS_PER_SEED: u64 = 500;
/// The number of failures and errors shown; chosen by feel, there should be none.
const SHOWN: usize = 10;

/// Measures and shows the figures; with `--system`, runs as one of the systems.
pub fn run(args: &BenchArgs) -> Result<ExitStatus, CliError> {
    if args.system.as_deref() == Some(load::BUSY) {
        return Ok(load::compute().map(|()| ExitStatus::Success)?);
    }
    if let Some(system) = &args.system {
        let child = system.parse::<Child>().map_err(|bad| CliError::usage(bad.to_string()))?;
        return Ok(child.run().map(|()| ExitStatus::Success)?);
    }
    let seed = args.seed.unwrap_or_else(seed::fresh_seed);
    let runs = args.runs.unwrap_or(RUNS);
    let lab = TruthLab::new(args)?;
    let mut figures = TruthFigures::default();
    let kinds = kinds(args.only.as_deref())?;
    let correct = correct(&kinds, runs, seed);
    let (quiet, busy) = correct.split_at(correct.len().div_ceil(2));
    for (load, trials) in [(Load::Quiet, quiet), (Load::Busy, busy)] {
        lab.run_trials(load, trials, |trial, outcome| figures.correct(load, trial, &outcome))?;
    }
    let faulty = faulty(&kinds, runs, seed);
    lab.run_trials(Load::Quiet, &faulty, |trial, outcome| figures.faulty(trial, &outcome))?;
    let mut out = io::stdout().lock();
    if args.json {
        writeln!(out, "{}", figures.json(seed))?
    } else {
        figures.show(&mut out, seed)?
    }
    Ok(if figures.false_fails.is_empty() { ExitStatus::Success } else { ExitStatus::Failure })
}

/// Returns the kinds whose name contains `only`.
fn kinds(only: Option<&str>) -> Result<Vec<SystemKind>, CliError> {
    let all = SystemKind::ALL;
    let kinds: Vec<SystemKind> =
        all.into_iter().filter(|kind| only.is_none_or(|only| kind.name().contains(only))).collect();
    if kinds.is_empty() {
        let names = all.map(SystemKind::name).join(", ");
        return Err(
            CliError::usage("no kind of system has this in its name").help(format!("there is {names}"))
        );
    }
    Ok(kinds)
}

/// Returns every combination of kind, wire and delay.
fn combinations(kinds: &[SystemKind], health: Health) -> Vec<TruthTrial> {
    let mut all = Vec::new();
    for &kind in kinds {
        for &wire in kind.wires() {
            for delay in DELAYS {
                let lag = Lag(Duration::from_millis(delay));
                all.push(TruthTrial { kind, health, wire, lag, seed: 0, runs: CAMPAIGN });
            }
        }
    }
    all
}

/// Returns campaigns on correct systems, over all combinations in turn.
fn correct(kinds: &[SystemKind], runs: u64, seed: u64) -> Vec<TruthTrial> {
    let trial = |(n, trial): (u64, TruthTrial)| {
        let runs = CAMPAIGN.min(runs - n * CAMPAIGN);
        TruthTrial { seed: run_seed(seed, n), runs, ..trial }
    };
    let n = runs.div_ceil(CAMPAIGN);
    (0..n).zip(in_turn(kinds, Health::Correct, seed)).map(trial).collect()
}

/// Returns campaigns on faulty systems, over all combinations in turn.
fn faulty(kinds: &[SystemKind], runs: u64, seed: u64) -> Vec<TruthTrial> {
    let n = (runs * combinations(kinds, Health::Faulty).len() as u64).div_ceil(RUNS_PER_SEED);
    let trials = (0..n).zip(in_turn(kinds, Health::Faulty, seed));
    trials.map(|(n, trial)| TruthTrial { seed: run_seed(!seed, n), ..trial }).collect()
}

/// Returns every combination again and again, in an order in which the first few differ in everything.
fn in_turn(kinds: &[SystemKind], health: Health, seed: u64) -> impl Iterator<Item = TruthTrial> + use<> {
    let all = combinations(kinds, health);
    let start = usize::try_from(seed % all.len() as u64).unwrap_or_default();
    let stride = stride_over(all.len());
    (0..).map(move |n: usize| all[(start + n * stride) % all.len()])
}

/// Returns the least stride from 7 on that has no divisor in common with `n`, so that it leads to every combination.
fn stride_over(n: usize) -> usize {
    /// Returns the greatest common divisor.
    fn divisor(a: usize, b: usize) -> usize {
        if b == 0 { a } else { divisor(b, a % b) }
    }
    (7..).find(|stride| divisor(*stride, n) == 1).expect("a prime above `n` is one")
}

/// The models, and the settings for testing against them.
struct TruthLab<'a> {
    args: &'a BenchArgs,
    models: Vec<(SystemKind, Model)>,
}

impl<'a> TruthLab<'a> {
    /// Loads the model of every kind of system.
    fn new(args: &'a BenchArgs) -> Result<Self, CliError> {
        let models = SystemKind::ALL.into_iter().map(|kind| Ok((kind, load_spec(kind)?)));
        Ok(Self { args, models: models.collect::<Result<_, CliError>>()? })
    }

    /// Runs the trials, many at once, and passes the outcome of each to `tell`.
    fn run_trials(
        &self,
        load: Load,
        trials: &[TruthTrial],
        tell: impl FnMut(&TruthTrial, Result<CampaignOutcome, TrialError>) + Send,
    ) -> Result<(), CliError> {
        let next = AtomicUsize::new(0);
        let _busy = load.start()?;
        let told = Mutex::new((tell, ProgressLine::start(), 0));
        let work = || -> Result<(), CliError> {
            let mut solver = solver::make(&self.args.solver)?;
            while let Some(trial) = trials.get(next.fetch_add(1, Ordering::Relaxed)) {
                let model =
                    &self.models.iter().find(|(kind, _)| *kind == trial.kind).expect("every kind has one").1;
                // A bug in one campaign is an error of the measurement, and the others go on.
                let run = panic::catch_unwind(AssertUnwindSafe(|| trial.run(model, &mut *solver)));
                let outcome = run.unwrap_or_else(|_| Err(TrialError::Panicked(trial.seed)));
                let mut told = told.lock().unwrap_or_else(PoisonError::into_inner);
                let (tell, progress, done) = &mut *told;
                tell(trial, outcome);
                *done += 1;
                let (done, name) = (*done, load.name());
                progress.tick(|| format!("{done} of {} campaigns, {name} machine", trials.len()));
            }
            Ok(())
        };
        thread::scope(|scope| {
            let workers: Vec<_> = (0..JOBS.min(trials.len())).map(|_| scope.spawn(work)).collect();
            let broken = || CliError::new(ExitStatus::Internal, "a worker thread panicked");
            let ended: Vec<_> =
                workers.into_iter().map(|worker| worker.join().unwrap_or_else(|_| Err(broken()))).collect();
            ended.into_iter().collect()
        })
    }
}

/// Returns the specification of a kind of systems.
fn load_spec(kind: SystemKind) -> Result<Model, CliError> {
    load_text(&format!("{}.iox", kind.name()), kind.model())
}

/// The figures of all campaigns.
#[derive(Default)]
struct TruthFigures {
    runs: u64,
    inconclusive: u64,
    /// The numbers of runs and false failures on correct systems, by combination.
    cells: BTreeMap<String, (u64, u64)>,
    /// The combination, seed and signature of each false failure.
    false_fails: Vec<String>,
    /// The combinations and reasons of campaigns that broke off.
    errors: Vec<String>,
    /// The numbers of campaigns that found the fault, and of all, by kind and delay.
    faults: BTreeMap<(usize, u64), (u64, u64)>,
    /// The number of campaigns that blamed the message which the fault spoils, by kind.
    blamed: BTreeMap<usize, u64>,
}

impl TruthFigures {
    /// Counts the runs against a correct system: every failure is a false one.
    fn correct(&mut self, load: Load, trial: &TruthTrial, outcome: &Result<CampaignOutcome, TrialError>) {
        let name = format!("{}, {} machine", describe_trial(trial), load.name());
        match outcome {
            Ok(outcome) => {
                self.runs += outcome.counts.total();
                self.inconclusive += outcome.counts.inconclusive;
                let cell = self.cells.entry(name.clone()).or_default();
                *cell = (cell.0 + outcome.counts.total(), cell.1 + outcome.counts.failed);
                for failure in &outcome.failures {
                    let (signature, seed) = (&failure.signature, trial.seed);
                    let line = format!("{name}, seed {seed}: {signature}");
                    self.false_fails.extend((0..failure.runs).map(|_| line.clone()));
                }
                self.errors.extend(outcome.error.iter().map(|error| format!("{name}: {error}")));
            }
            Err(error) => self.errors.push(format!("{name}: {error}")),
        }
    }

    /// Counts the runs against a faulty system.
    fn faulty(&mut self, trial: &TruthTrial, outcome: &Result<CampaignOutcome, TrialError>) {
        let at = SystemKind::ALL.iter().position(|kind| *kind == trial.kind).unwrap_or_default();
        let delay = u64::try_from(trial.lag.0.as_millis()).unwrap_or(u64::MAX);
        let cell = self.faults.entry((at, delay)).or_default();
        let is_found = outcome.as_ref().is_ok_and(|outcome| outcome.counts.failed > 0);
        *cell = (cell.0 + u64::from(is_found), cell.1 + 1);
        if let (Ok(outcome), Some(message)) = (outcome, trial.kind.spoiled_message()) {
            let is_it = |failure: &FailureGroup| failure.signature.starts_with(&format!("!{message} "));
            *self.blamed.entry(at).or_default() += u64::from(outcome.failures.iter().any(is_it));
        }
        if let Err(error) = outcome {
            self.errors.push(format!("{}: {error}", describe_trial(trial)));
        }
    }

    /// Returns the number of campaigns that found one fault, and of all campaigns on it.
    fn fault(&self, kind: usize) -> (u64, u64) {
        let cells = self.faults.iter().filter(|((at, _), _)| *at == kind).map(|(_, cell)| cell);
        cells.fold((0, 0), |sum, cell| (sum.0 + cell.0, sum.1 + cell.1))
    }

    /// Returns the kinds whose faults were looked for, with their places.
    fn measured_kinds(&self) -> impl Iterator<Item = (usize, SystemKind)> {
        let is_measured = |(at, _): &(usize, SystemKind)| self.faults.keys().any(|(kind, _)| kind == at);
        SystemKind::ALL.into_iter().enumerate().filter(is_measured)
    }

    /// Returns the figures for `--json`.
    fn json(&self, seed: u64) -> Json {
        let by_delay = |kind: usize| {
            let cells = self.faults.iter().filter(move |((at, _), _)| *at == kind);
            cells
                .map(
                    |((_, delay), (found, seeds))| json!({"delay_ms": delay, "found": found, "seeds": seeds}),
                )
                .collect::<Vec<_>>()
        };
        let fault = |(at, kind): (usize, SystemKind)| {
            let (found, seeds) = self.fault(at);
            json!({
                "name": kind.name(), "fault": kind.fault(), "found": found, "seeds": seeds,
                "blamed": self.blamed.get(&at),
                "delays": by_delay(at),
            })
        };
        json!({
            "version": 1, "bench": "truth", "seed": seed, "runs": self.runs,
            "false_fails": self.false_fails.len(), "inconclusive": self.inconclusive, "errors": self.errors,
            "failures": self.false_fails, "faults": self.measured_kinds().map(fault).collect::<Vec<_>>(),
            "cells": self.cells.iter().map(|(name, (runs, failed))| json!({
                "name": name, "runs": runs, "false_fails": failed,
            })).collect::<Vec<_>>(),
        })
    }

    /// Shows the figures; false failures come with their trials.
    fn show(&self, out: &mut impl Write, seed: u64) -> io::Result<()> {
        writeln!(
            out,
            "correct systems: {} runs, {} false failures, {} inconclusive, {} errors (seed {seed})",
            self.runs,
            self.false_fails.len(),
            self.inconclusive,
            self.errors.len()
        )?;
        for line in self.false_fails.iter().chain(&self.errors).take(SHOWN) {
            writeln!(out, "  {line}")?;
        }
        writeln!(out, "faults found, by delay of each direction:")?;
        for (at, kind) in self.measured_kinds() {
            let cells = self.faults.iter().filter(|((kind, _), _)| *kind == at);
            let shown: Vec<String> =
                cells.map(|((_, delay), (found, seeds))| format!("{delay} ms {found}/{seeds}")).collect();
            let blamed = self.blamed.get(&at).map(|n| format!("; {n} times the right message was blamed"));
            let blamed = blamed.unwrap_or_default();
            writeln!(out, "  {:<10}  {}  ({}{blamed})", kind.name(), shown.join("  "), kind.fault())?;
        }
        Ok(())
    }
}

/// Returns a combination in words.
fn describe_trial(trial: &TruthTrial) -> String {
    format!("{} over {}, {} ms", trial.kind.name(), trial.wire.name(), trial.lag.0.as_millis())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_a_model() {
        assert!(SystemKind::ALL.into_iter().all(|kind| load_spec(kind).is_ok()));
    }

    #[test]
    fn a_seed_makes_the_same_campaigns_and_runs_are_shared_out() {
        let kinds = SystemKind::ALL;
        let trials = correct(&kinds, 123, 7);
        assert_eq!(trials.iter().map(|trial| trial.runs).sum::<u64>(), 123);
        let seeds = |trials: &[TruthTrial]| trials.iter().map(|trial| trial.seed).collect::<Vec<_>>();
        assert_eq!(seeds(&trials), seeds(&correct(&kinds, 123, 7)));
        assert_ne!(seeds(&trials), seeds(&correct(&kinds, 123, 8)));
        let n = combinations(&kinds, Health::Faulty).len();
        assert_eq!(faulty(&kinds, RUNS_PER_SEED, 7).len(), n);
        let mut names: Vec<String> = faulty(&kinds, RUNS_PER_SEED, 7).iter().map(describe_trial).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), n, "every combination has its turn");
    }

    #[test]
    fn kinds_are_chosen_by_name_and_a_stride_leads_everywhere() {
        assert_eq!(kinds(Some("cold")).ok(), Some(vec![SystemKind::Cold]));
        assert_eq!(kinds(None).ok().map(|all| all.len()), Some(SystemKind::ALL.len()));
        assert!(kinds(Some("lukewarm")).is_err());
        for n in 1..200 {
            let mut seen: Vec<usize> = (0..n).map(|at| at * stride_over(n) % n).collect();
            seen.sort_unstable();
            assert!(seen.into_iter().eq(0..n), "{n}");
        }
    }
}
