//! Deciding mutants on all cores, with the settings of the arguments and progress on the terminal.

use std::ops::ControlFlow;
use std::sync::atomic::Ordering;
use std::thread;

use ioxide_model::sts::Model;
use ioxide_symex::Ctx;
use ioxide_testgen::conform::{SearchBounds, SearchEffort};
use ioxide_testgen::kill::outcome::{MutantOutcome, MutantWork};
use ioxide_testgen::kill::{KillConfig, MutationAnalysis, Optimisation};
use ioxide_testgen::mutate::Mutant;

use crate::args::DecideArgs;
use crate::exit::CliError;
use crate::interrupt::STOP;
use crate::progress::ProgressLine;
use crate::solver::SolverRequest;

/// Returns the settings the arguments ask for.
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
pub fn decide_on_all_cores(
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
    let is_interrupted = || STOP.load(Ordering::Relaxed);
    let mut watch = |effort: &SearchEffort| {
        progress.tick(|| format!("exploring the model: {} states", effort.states));
        if is_interrupted() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let analysis = MutationAnalysis::new_watched(&mut Ctx::new(&mut base, &mut *solver), config, &mut watch);
    drop(progress);
    let make = || request.make();
    let work = MutantWork {
        base: &base,
        analysis: &analysis,
        mutants,
        make: &make,
        is_interrupted: &is_interrupted,
    };
    work.decide_in_parallel(jobs, known, told)
}
