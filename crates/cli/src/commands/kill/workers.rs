//! Deciding mutants on all cores: every worker has its own pool and solver.
//!
//! What was computed once is cloned with the pool it belongs to; what comes back are traces
//! and texts, never terms.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

use ioxide_model::sts::Model;
use ioxide_model::trace::Trace;
use ioxide_smt::halt::Halted;
use ioxide_symex::Ctx;
use ioxide_testgen::conform::{ConformAnswer, SearchBounds, SearchEffort};
use ioxide_testgen::kill::{KillConfig, MutationAnalysis, Optimisation};
use ioxide_testgen::mutate::Mutant;

use crate::args::DecideArgs;
use crate::exit::EarlyStop;
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
pub fn config(args: &DecideArgs) -> Result<KillConfig, EarlyStop> {
    let parse = |name: &String| {
        name.parse().map_err(|_| {
            let names: Vec<&str> = Optimisation::ALL.iter().map(|it| it.name()).collect();
            EarlyStop::usage(format!("there is no optimisation `{name}`"))
                .help(format!("there is {}", names.join(", ")))
        })
    };
    let off = args.without.iter().map(parse).collect::<Result<_, _>>()?;
    let bounds = SearchBounds { max_states: args.max_states, max_depth: args.depth.unwrap_or(u32::MAX) };
    let config = KillConfig { bounds, off, completion: args.completion.into() };
    if config.off.contains(&Optimisation::EarlyStop) && args.depth.is_none() {
        return Err(
            EarlyStop::usage("without `early-stop` a search ends at its depth only").help("add `--depth N`")
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
    wanted: &SolverRequest<'_>,
    known: Vec<Option<MutantOutcome>>,
    told: &mut dyn FnMut(usize, &MutantOutcome) -> Result<(), EarlyStop>,
) -> Result<Vec<Option<MutantOutcome>>, EarlyStop> {
    let mut base = model.clone();
    let mut solver = wanted.make()?;
    let mut progress = ProgressLine::start();
    let mut watch = |effort: &SearchEffort| {
        progress.tick(|| format!("exploring the model: {} states", effort.states));
        go_on()
    };
    let analysis = MutationAnalysis::watched(&mut Ctx::new(&mut base, &mut *solver), config, &mut watch);
    drop(progress);
    let open: Vec<usize> = (0..mutants.len()).filter(|&at| known[at].is_none()).collect();
    let next = AtomicUsize::new(0);
    let mut outcomes = known;
    let (sender, receiver) = mpsc::channel();
    thread::scope(|scope| {
        for _ in 0..jobs.min(open.len()) {
            let (sender, open, next, base, analysis) = (sender.clone(), &open, &next, &base, &analysis);
            scope.spawn(move || {
                let Ok(mut solver) = wanted.make() else { return };
                let (mut model, analysis) = (base.clone(), analysis.clone());
                let mut cx = Ctx::new(&mut model, &mut *solver);
                while let Some(&at) = open.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let outcome = one(&mut cx, &analysis, &mutants[at]);
                    let Some(outcome) = outcome else { return };
                    if sender.send((at, outcome)).is_err() {
                        return;
                    }
                }
            });
        }
        drop(sender);
        for (at, outcome) in receiver {
            told(at, &outcome)?;
            outcomes[at] = Some(outcome);
        }
        Ok(outcomes)
    })
}

/// Returns `Break` once the user has interrupted.
fn go_on() -> ControlFlow<()> {
    if STOP.load(Ordering::Relaxed) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
}

/// Decides one mutant; `None` if the user interrupts.
fn one(cx: &mut Ctx<'_>, analysis: &MutationAnalysis, mutant: &Mutant) -> Option<MutantOutcome> {
    if let Some(Halted::Time) = cx.halted() {
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
