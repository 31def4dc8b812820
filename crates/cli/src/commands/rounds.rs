//! Campaigns in rounds: the feedback that a round begins with, and the units that need not be done any more.
//!
//! Both come from the results of the rounds before alone, in the order of the plan, so they are the same wherever units
//! ran.

use ioxide_args::{CliCommand, PartArgs, SolverArgs};
use ioxide_campaign::gather::GatheredParts;
use ioxide_campaign::rounds::{RoundFeedback, UnitRounds};
use ioxide_campaign::units::UnitSet;

use super::{kill, score, test};
use crate::exit::CliError;

/// The rounds of a command; one, if it has none.
pub fn rounds_of(command: &CliCommand) -> UnitRounds {
    let n = |part: &PartArgs| part.n_rounds();
    match command {
        CliCommand::Test(args) => UnitRounds::repeat(n(&args.part)),
        CliCommand::Kill(args) => UnitRounds::alternate(n(&args.part)),
        CliCommand::Score(args) => UnitRounds::repeat(n(&args.part)),
        _ => UnitRounds::ONE,
    }
}

/// Returns the feedback that `round`, from 1, begins with.
pub fn feedback(
    command: &CliCommand,
    parts: &mut GatheredParts,
    round: u64,
    solver: &SolverArgs,
) -> Result<RoundFeedback, CliError> {
    match command {
        CliCommand::Test(args) => test::rounds::feedback(args, parts, round, solver),
        CliCommand::Kill(args) => kill::rounds::feedback(args, parts, round, solver),
        CliCommand::Score(args) => score::rounds::feedback(args, parts, round),
        _ => Err(CliError::usage("this command has no rounds")),
    }
}

/// Takes the units that need not be done out of the missing ones: those that a round before has covered or killed, and
/// those after a goal that was reached.
pub fn remove_settled(
    command: &CliCommand,
    parts: &mut GatheredParts,
    solver: &SolverArgs,
) -> Result<(), CliError> {
    let (rounds, count) = (rounds_of(command), parts.manifest.count);
    if let CliCommand::Score(args) = command
        && let Some(end) = score::rounds::collect_scores(args, parts)?.1
    {
        parts.mark_settled(&UnitSet::range(end + 1, count));
    }
    for round in 1..rounds.count() {
        let units = rounds.units(round, count);
        if !units.meets(&parts.missing) {
            continue;
        }
        let known = feedback(command, parts, round + 1, solver)?;
        parts.mark_settled(&known.settled_units());
        if known.over {
            (round..rounds.count()).for_each(|later| parts.mark_settled(&rounds.units(later, count)));
            return Ok(());
        }
        // What comes after a round that is not done is not known yet.
        if units.meets(&parts.missing) {
            return Ok(());
        }
    }
    Ok(())
}
