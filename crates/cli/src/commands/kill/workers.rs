//! Deciding mutants on all cores, with the settings of the arguments and progress on the terminal.

use std::ops::ControlFlow;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;

use ioxide_args::DecideArgs;
use ioxide_model::sts::Model;
use ioxide_symex::Ctx;
use ioxide_testgen::conform::{SearchBounds, SearchEffort};
use ioxide_testgen::kill::outcome::{MutantOutcome, MutantWork};
use ioxide_testgen::kill::{KillConfig, MutationAnalysis, Optimisation};
use ioxide_testgen::mutate::Mutant;

use crate::exit::CliError;
use crate::interrupt::STOP;
use crate::limit;
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

/// The number of mutants that are decided at the same time, and the time of each.
#[derive(Clone, Copy, Debug)]
pub struct MutantLimits {
    /// The number of workers.
    pub jobs: usize,
    /// The time for one mutant; `None` if there is no limit.
    pub time: Option<Duration>,
}

impl MutantLimits {
    /// Returns the limits that the arguments ask for: as many workers as `--jobs`, else as cores, at least 1.
    pub fn new(args: &DecideArgs) -> Self {
        let cores = thread::available_parallelism().map_or(1, usize::from);
        Self { jobs: args.jobs.unwrap_or(cores).max(1), time: args.mutant_time }
    }
}

/// Decides the mutants that `known` has no outcome for; `told` is called with each outcome. Those left at an interrupt
/// stay `None`.
pub fn decide_on_all_cores(
    model: &Model,
    mutants: &[Mutant],
    config: &KillConfig,
    limits: MutantLimits,
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
    let halt_mutant = || limit::from_now(limits.time);
    let work = MutantWork {
        base: &base,
        analysis: &analysis,
        mutants,
        make: &make,
        is_interrupted: &is_interrupted,
        halt_mutant: &halt_mutant,
    };
    work.decide_in_parallel(limits.jobs, known, told)
}
