//! Rounds of `ioxide score`: a tester runs against the survivors once more, with another seed.
//!
//! In the first round every mutant is decided and played; in the next ones those are played that are killable and
//! survive. When the goal is reached is decided by [`ScoreSoFar`].

use ioxide_args::ScoreArgs;
use ioxide_campaign::gather::GatheredParts;
use ioxide_campaign::rounds::RoundFeedback;
use ioxide_campaign::units::UnitSet;
use ioxide_testgen::kill::standing::{MutantStanding, ScoreSoFar, is_reached};
use serde_json::{Value as Json, json};

use crate::exit::CliError;
use crate::unit_command;

/// Refuses rounds of a suite or cases, which would do the same in every round.
pub fn refuse_rounds(args: &ScoreArgs) -> Result<(), CliError> {
    match args.suite.as_str() {
        "random" | "cover" => Ok(()),
        suite => unit_command::no_rounds(
            &args.part,
            &format!("`{suite}` does the same in every round"),
            "rounds are for `random` and `cover`, which choose different inputs each time",
        ),
    }
}

/// Returns the standing of the mutants so far, and the unit with which the goal was reached.
pub fn collect_scores(
    args: &ScoreArgs,
    parts: &mut GatheredParts,
) -> Result<(ScoreSoFar, Option<u64>), CliError> {
    let count = parts.manifest.count;
    let (mut so_far, mut end) = (ScoreSoFar::new(args.until, args.part.n_rounds(), count), None);
    for unit in 0..count {
        if let Some(text) = parts.unit(unit)? {
            end = so_far.add(unit, read_standing(&text.result));
        }
        if end.is_some() {
            break;
        }
    }
    Ok((so_far, end))
}

/// Returns the standing of a mutant after the unit with this result.
pub fn read_standing(result: &Json) -> MutantStanding {
    let is_killed = result["killed_by"].as_array().is_some_and(|by| !by.is_empty());
    match result["decision"]["outcome"].as_str() {
        _ if is_killed => MutantStanding::Killed,
        Some("killed") | None => MutantStanding::Survives,
        Some(_) => MutantStanding::Unkillable,
    }
}

/// Returns the feedback that `round`, from 1, begins with: the mutants that are settled, and the number that survive.
pub fn feedback(args: &ScoreArgs, parts: &mut GatheredParts, round: u64) -> Result<RoundFeedback, CliError> {
    let mutants = parts.manifest.count / args.part.n_rounds();
    let mut standing = vec![MutantStanding::Open; usize::try_from(mutants).unwrap_or_default()];
    let begins = mutants * (round - 1);
    for unit in 0..begins {
        if let Some(text) = parts.unit(unit)? {
            standing[(unit % mutants) as usize] = read_standing(&text.result);
        }
    }
    let is_settled = |&at: &u64| standing[at as usize].is_settled();
    let settled: UnitSet = (0..mutants).filter(is_settled).map(|at| begins + at).collect();
    let count = |wanted: MutantStanding| standing.iter().filter(|&&it| it == wanted).count();
    let (killed, survive) = (count(MutantStanding::Killed), count(MutantStanding::Survives));
    let is_enough = args.until.is_some_and(|until| is_reached(until, killed, killed + survive));
    let over = count(MutantStanding::Open) == 0 && (survive == 0 || is_enough);
    let known = json!({ "killed": killed, "survive": survive });
    Ok(RoundFeedback::new(&parts.manifest.plan, round, &settled, over, known))
}
