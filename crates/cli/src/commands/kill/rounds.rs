//! Rounds of `ioxide kill`: what kills a mutant is tried on those of the next round, and what it kills is no unit any more.

use ioxide_campaign::gather::Gathered;
use ioxide_campaign::rounds::{Feedback, Rounds};
use ioxide_campaign::units::UnitSet;
use ioxide_model::sts::Model;
use ioxide_model::trace::Trace;
use ioxide_symex::Ctx;
use ioxide_testgen::kill::again::Witnesses;
use ioxide_testgen::mutate::Mutant;
use serde_json::json;

use super::parts::read;
use super::workers::{self, Outcome};
use crate::args::{DecideArgs, Kill, SolverArgs};
use crate::commands::mutate::selected;
use crate::exit::Stop;
use crate::progress::Progress;
use crate::solver::Wanted;
use crate::{limit, load, planned};

/// What is known when `round`, from 1, begins: those of its mutants that a trace of the rounds before kills.
pub fn feedback(
    args: &Kill,
    parts: &mut Gathered,
    round: u64,
    solver: &SolverArgs,
) -> Result<Feedback, Stop> {
    let (_, mut model) = load::model(&args.model.file, &args.model.settings())?;
    let wanted = Wanted::new(solver, limit::halt(&args.limit));
    let mutants = limit::within(&wanted.halt, || selected(&mut model, &args.mutants))?;
    let rounds = Rounds::dealt(args.part.n_rounds());
    let mut traces = Vec::new();
    for before in 0..round - 1 {
        for unit in rounds.units(before, mutants.len() as u64).iter() {
            let Some(text) = parts.unit(unit).map_err(planned::trouble)? else { continue };
            if let Outcome::Killed(trace) = read(&model, &mutants[unit as usize], &text.result)? {
                traces.push(trace);
            }
        }
    }
    let open = rounds.units(round - 1, mutants.len() as u64);
    let killed = killed_again(&mut model, &mutants, &traces, &open, &args.decide, &wanted)?;
    let settled: UnitSet = killed.iter().map(|&(at, _)| at as u64).collect();
    let over = mutants.is_empty();
    let known = json!({ "traces": traces.len(), "killed": settled.len() });
    Ok(Feedback::new(&parts.manifest.plan, round, &settled, over, known))
}

/// Which mutants of `open` one of `traces` kills, and which trace.
fn killed_again(
    model: &mut Model,
    mutants: &[Mutant],
    traces: &[Trace],
    open: &UnitSet,
    decide: &DecideArgs,
    wanted: &Wanted<'_>,
) -> Result<Vec<(usize, Trace)>, Stop> {
    let witnesses = Witnesses::new(traces);
    let completion = workers::config(decide)?.completion;
    let mut solver = wanted.make()?;
    let mut cx = Ctx::new(model, &mut *solver);
    let (mut progress, mut killed) = (Progress::new(), Vec::new());
    for (done, at) in open.iter().map(|unit| unit as usize).enumerate() {
        progress.tick(|| format!("trying what kills others: {done} of {} mutants", open.len()));
        if let Some(trace) = witnesses.killing(&mut cx, &mutants[at], completion) {
            killed.push((at, trace.clone()));
        }
    }
    Ok(killed)
}

/// The outcomes of all mutants: where a unit was not done, that of a trace that a round before has found.
pub fn with_others(
    args: &Kill,
    model: &mut Model,
    mutants: &[Mutant],
    mut outcomes: Vec<Option<Outcome>>,
    settled: &UnitSet,
    wanted: &Wanted<'_>,
) -> Result<Vec<Option<Outcome>>, Stop> {
    let rounds = Rounds::dealt(args.part.n_rounds());
    let mut traces: Vec<Trace> = Vec::new();
    for round in 0..rounds.count() {
        let units = rounds.units(round, mutants.len() as u64);
        let open: UnitSet = units.iter().filter(|&unit| settled.contains(unit)).collect();
        let killed = killed_again(model, mutants, &traces, &open, &args.decide, wanted)?;
        // What others have shown is in the traces already.
        let own = units.iter().filter_map(|unit| outcomes[unit as usize].as_ref()?.trace().cloned());
        traces.extend(own.collect::<Vec<_>>());
        killed.into_iter().for_each(|(at, trace)| outcomes[at] = Some(Outcome::Killed(trace)));
    }
    Ok(outcomes)
}
