//! Deciding mutants on all cores: every worker has its own pool and solver.
//!
//! What was computed once is cloned with the pool it belongs to; what comes back are traces
//! and texts, never terms.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, Sender};
use std::thread;

use ioxide_model::sts::Model;
use ioxide_model::trace::Trace;
use ioxide_smt::halt::Halted;
use ioxide_smt::stack::SolverStack;
use ioxide_symex::Ctx;
use ioxide_testgen::conform::{ConformAnswer, SearchBounds, SearchEffort};
use ioxide_testgen::kill::{KillConfig, MutationAnalysis, Optimisation};
use ioxide_testgen::mutate::Mutant;

use crate::args::DecideArgs;
use crate::exit::CliError;
use crate::interrupt::STOP;
use crate::progress::ProgressLine;
use crate::solver::SolverRequest;

/// The outcome of the analysis of a mutant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MutantOutcome {
    /// A trace tells it from the model: allowed labels, then a forbidden one.
    Killed(Trace),
    /// No trace can; the text says why.
    Equivalent(String),
    /// The analysis decided neither; the text says why.
    Unknown(String),
}

impl MutantOutcome {
    /// The trace that kills it.
    pub fn trace(&self) -> Option<&Trace> {
        if let Self::Killed(trace) = self { Some(trace) } else { None }
    }
}

/// The settings the arguments ask for.
pub fn config(args: &DecideArgs) -> Result<KillConfig, CliError> {
    let parse = |name: &String| {
        name.parse().map_err(|_| {
            let names: Vec<&str> = Optimisation::ALL.iter().map(|it| it.name()).collect();
            CliError::usage(format!("there is no optimisation `{name}`"))
                .help(format!("there is {}", names.join(", ")))
        })
    };
    let off = args.without.iter().map(parse).collect::<Result<_, _>>()?;
    let bounds = SearchBounds { max_states: args.max_states, max_depth: args.depth.unwrap_or(u32::MAX) };
    let config = KillConfig { bounds, off, completion: args.completion.into() };
    if config.off.contains(&Optimisation::EarlyStop) && args.depth.is_none() {
        return Err(
            CliError::usage("without `early-stop` a search ends at its depth only").help("add `--depth N`")
        );
    }
    Ok(config)
}

/// Returns the number of workers: `--jobs`, else the number of cores, at least 1.
pub fn jobs(args: &DecideArgs) -> usize {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    args.jobs.unwrap_or(cores).max(1)
}

/// Decides the mutants that `known` has no outcome for; `told` is called with each outcome. Those left at an interrupt
/// stay `None`.
pub fn decide(
    model: &Model,
    mutants: &[Mutant],
    config: &KillConfig,
    jobs: usize,
    request: &SolverRequest<'_>,
    known: Vec<Option<MutantOutcome>>,
    told: &mut dyn FnMut(usize, &MutantOutcome) -> Result<(), CliError>,
) -> Result<Vec<Option<MutantOutcome>>, CliError> {
    let mut base = model.clone();
    let mut solver = request.make()?;
    let mut progress = ProgressLine::start();
    let mut watch = |effort: &SearchEffort| {
        progress.tick(|| format!("exploring the model: {} states", effort.states));
        go_on()
    };
    let analysis = MutationAnalysis::new_watched(&mut Ctx::new(&mut base, &mut *solver), config, &mut watch);
    drop(progress);
    let work = MutantWork { base: &base, analysis: &analysis, mutants, make: &|| request.make() };
    work.decide_in_parallel(jobs, known, told)
}

/// The mutants to decide, with what every worker needs.
struct MutantWork<'a> {
    base: &'a Model,
    analysis: &'a MutationAnalysis,
    mutants: &'a [Mutant],
    /// Makes the solver of a worker.
    make: &'a (dyn Fn() -> Result<Box<SolverStack>, CliError> + Sync),
}

impl MutantWork<'_> {
    /// Adds to `known` the outcomes of the other mutants, which `jobs` workers decide; `told` is called with each.
    ///
    /// A worker without a solver leaves its mutants to the others; if mutants are left because of that, it is an error.
    fn decide_in_parallel(
        &self,
        jobs: usize,
        known: Vec<Option<MutantOutcome>>,
        told: &mut dyn FnMut(usize, &MutantOutcome) -> Result<(), CliError>,
    ) -> Result<Vec<Option<MutantOutcome>>, CliError> {
        let open: Vec<usize> = (0..self.mutants.len()).filter(|&at| known[at].is_none()).collect();
        let next = AtomicUsize::new(0);
        let (mut outcomes, mut refused) = (known, None);
        let (sender, receiver) = mpsc::channel();
        thread::scope(|scope| {
            for _ in 0..jobs.min(open.len()) {
                let (sender, open, next) = (sender.clone(), &open, &next);
                scope.spawn(move || {
                    if let Err(stop) = self.worker(open, next, &sender) {
                        // Nobody listens any more if this fails.
                        let _ = sender.send(Err(stop));
                    }
                });
            }
            drop(sender);
            for message in receiver {
                match message {
                    Ok((at, outcome)) => {
                        told(at, &outcome)?;
                        outcomes[at] = Some(outcome);
                    }
                    Err(stop) => refused = Some(stop),
                }
            }
            match refused {
                Some(stop) if !STOP.load(Ordering::Relaxed) && outcomes.iter().any(Option::is_none) => {
                    Err(stop)
                }
                _ => Ok(outcomes),
            }
        })
    }

    /// Decides mutants of `open` from `next` on until none is left, nobody listens, or the user interrupts.
    fn worker(
        &self,
        open: &[usize],
        next: &AtomicUsize,
        sender: &Sender<Result<(usize, MutantOutcome), CliError>>,
    ) -> Result<(), CliError> {
        let mut solver = (self.make)()?;
        let (mut model, analysis) = (self.base.clone(), self.analysis.clone());
        let mut cx = Ctx::new(&mut model, &mut *solver);
        while let Some(&at) = open.get(next.fetch_add(1, Ordering::Relaxed)) {
            let Some(outcome) = decide_mutant(&mut cx, &analysis, &self.mutants[at]) else { break };
            if sender.send(Ok((at, outcome))).is_err() {
                break;
            }
        }
        Ok(())
    }
}

/// Returns `Break` once the user has interrupted.
fn go_on() -> ControlFlow<()> {
    if STOP.load(Ordering::Relaxed) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
}

/// Decides one mutant; `None` if the user interrupts.
fn decide_mutant(cx: &mut Ctx<'_>, analysis: &MutationAnalysis, mutant: &Mutant) -> Option<MutantOutcome> {
    if let Some(Halted::Time) = cx.halt_reason() {
        return Some(MutantOutcome::Unknown(Halted::Time.to_string()));
    }
    let verdict = analysis.decide(cx, mutant, &mut |_| go_on());
    if STOP.load(Ordering::Relaxed) {
        return None;
    }
    Some(match verdict.answer {
        ConformAnswer::Fails(witness) => MutantOutcome::Killed(witness.trace),
        ConformAnswer::Conforms(proof) => MutantOutcome::Equivalent(proof.to_string()),
        ConformAnswer::Unknown(doubt) => MutantOutcome::Unknown(doubt.to_string()),
    })
}

#[cfg(test)]
mod tests {
    use ioxide_testgen::mutate::{MutationOperator, mutants};

    use super::*;
    use crate::args::SolverArgs;
    use crate::solver;
    use crate::test_systems::model;

    /// Decides all mutants of a small model; the first `without` workers have no solver.
    fn decide_all(jobs: usize, without: usize) -> Result<usize, String> {
        let mut base = model(
            "model Count {\n input add(n: int)\n output sum(n: int)\n var x: int = 0\n state s {\n \
             t: on add when n > 0 { x = x + n } -> u\n }\n state u {\n r: emit sum(n: x) -> s\n }\n}\n",
        );
        let all = mutants(&mut base, &MutationOperator::ALL);
        assert!(all.len() > 3);
        let args = SolverArgs { solver: "none".into(), solver_timeout: 1.0 };
        let mut own = solver::make(&args).map_err(|stop| stop.message().to_owned())?;
        let analysis = MutationAnalysis::new(&mut Ctx::new(&mut base, &mut *own), &KillConfig::default());
        let made = AtomicUsize::new(0);
        let make = || match made.fetch_add(1, Ordering::Relaxed) {
            n if n < without => Err(CliError::usage("the solver is gone")),
            _ => solver::make(&args),
        };
        let work = MutantWork { base: &base, analysis: &analysis, mutants: &all, make: &make };
        let mut n_told = 0;
        let outcomes = work.decide_in_parallel(jobs, vec![None; all.len()], &mut |_, _| {
            n_told += 1;
            Ok(())
        });
        let outcomes = outcomes.map_err(|stop| stop.message().to_owned())?;
        assert_eq!(outcomes.iter().flatten().count(), n_told);
        Ok(all.len() - n_told)
    }

    /// Defect: workers without a solver ended silently, and mutants that nobody decided looked interrupted.
    #[test]
    fn mutants_without_a_worker_are_an_error_and_no_interrupt() {
        assert_eq!(decide_all(2, 2), Err("the solver is gone".to_owned()));
        assert_eq!(decide_all(2, 1), Ok(0));
        assert_eq!(decide_all(2, 0), Ok(0));
    }
}
