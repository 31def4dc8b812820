//! Rounds of `ioxide kill`: what kills a mutant is tried on those of the next round, and what it kills is no unit any
//! more.

use ioxide_args::{DecideArgs, KillArgs, SolverArgs};
use ioxide_campaign::gather::GatheredParts;
use ioxide_campaign::rounds::{RoundFeedback, UnitRounds};
use ioxide_campaign::units::UnitSet;
use ioxide_model::sts::Model;
use ioxide_model::trace::Trace;
use ioxide_symex::Ctx;
use ioxide_testgen::kill::known_witnesses::KnownWitnesses;
use ioxide_testgen::kill::outcome::MutantOutcome;
use ioxide_testgen::mutate::Mutant;
use serde_json::json;

use super::parts::read_outcome;
use super::workers;
use crate::commands::mutate::select_mutants;
use crate::exit::CliError;
use crate::progress::ProgressLine;
use crate::solver::SolverRequest;
use crate::{limit, load};

/// Returns the feedback that `round`, from 1, begins with: its mutants that a trace of the rounds before kills.
pub fn feedback(
    args: &KillArgs,
    parts: &mut GatheredParts,
    round: u64,
    solver: &SolverArgs,
) -> Result<RoundFeedback, CliError> {
    let (_, mut model) = load::load_model(&args.model.file, &args.model.settings())?;
    let request = SolverRequest::new(solver, limit::halt(&args.limit));
    let mutants = limit::run_within(&request.halt, || select_mutants(&mut model, &args.mutants))?;
    let rounds = UnitRounds::alternate(args.part.n_rounds());
    let mut traces = Vec::new();
    for before in 0..round - 1 {
        for unit in rounds.units(before, mutants.len() as u64).iter() {
            let Some(text) = parts.unit(unit)? else { continue };
            if let MutantOutcome::Killed(trace) = read_outcome(&model, &mutants[unit as usize], &text.result)?
            {
                traces.push(trace);
            }
        }
    }
    let open = rounds.units(round - 1, mutants.len() as u64);
    let reuse = WitnessReuse { mutants: &mutants, decide: &args.decide, request: &request };
    let killed = reuse.killed_again(&mut model, &traces, &open)?;
    let settled: UnitSet = killed.iter().map(|&(at, _)| at as u64).collect();
    let over = mutants.is_empty();
    let known = json!({ "traces": traces.len(), "killed": settled.len() });
    Ok(RoundFeedback::new(&parts.manifest.plan, round, &settled, over, known))
}

/// The reuse of traces that kill one mutant on the others.
pub struct WitnessReuse<'a> {
    /// All mutants, in the order of the units.
    pub mutants: &'a [Mutant],
    /// The settings of decisions.
    pub decide: &'a DecideArgs,
    /// The solver.
    pub request: &'a SolverRequest<'a>,
}

impl WitnessReuse<'_> {
    /// Returns the mutants of `open` that one of `traces` kills, each with that trace.
    fn killed_again(
        &self,
        model: &mut Model,
        traces: &[Trace],
        open: &UnitSet,
    ) -> Result<Vec<(usize, Trace)>, CliError> {
        let Self { mutants, decide, request: wanted } = *self;
        let witnesses = KnownWitnesses::new(traces);
        let completion = workers::config(decide)?.completion;
        let mut solver = wanted.make()?;
        let mut cx = Ctx::new(model, &mut *solver);
        let (mut progress, mut killed) = (ProgressLine::start(), Vec::new());
        for (done, at) in open.iter().map(|unit| unit as usize).enumerate() {
            progress.tick(|| {
                format!("trying the tests found on other mutants: {done} of {} mutants", open.len())
            });
            if let Some(trace) = witnesses.killing(&mut cx, &mutants[at], completion) {
                killed.push((at, trace.clone()));
            }
        }
        Ok(killed)
    }

    /// Completes the outcomes of all mutants: where a unit was not done, that of a trace that a round before has
    /// found.
    pub fn with_others(
        &self,
        model: &mut Model,
        mut outcomes: Vec<Option<MutantOutcome>>,
        settled: &UnitSet,
        rounds: &UnitRounds,
    ) -> Result<Vec<Option<MutantOutcome>>, CliError> {
        let mut traces: Vec<Trace> = Vec::new();
        for round in 0..rounds.count() {
            let units = rounds.units(round, self.mutants.len() as u64);
            let open: UnitSet = units.iter().filter(|&unit| settled.contains(unit)).collect();
            let killed = self.killed_again(model, &traces, &open)?;
            // What others have shown is in the traces already.
            let own = units.iter().filter_map(|unit| outcomes[unit as usize].as_ref()?.trace().cloned());
            traces.extend(own.collect::<Vec<_>>());
            killed.into_iter().for_each(|(at, trace)| outcomes[at] = Some(MutantOutcome::Killed(trace)));
        }
        Ok(outcomes)
    }
}
