//! Rounds of `ioxide score`: a tester plays what survived once more, with another seed.
//!
//! In the first round every mutant is decided and played; in the next ones those are that something can tell from the
//! model and that nothing did. The score is that of all rounds together.

use ioxide_campaign::gather::Gathered;
use ioxide_campaign::rounds::Feedback;
use ioxide_campaign::units::UnitSet;
use serde_json::json;

use crate::args::Score;
use crate::exit::Stop;
use crate::planned;

/// Refuses rounds of what would do the same again.
pub fn refuse(args: &Score) -> Result<(), Stop> {
    match args.suite.as_str() {
        "random" | "cover" => Ok(()),
        suite => planned::no_rounds(
            &args.part,
            &format!("`{suite}` does the same in every round"),
            "rounds are for `random` and `cover`, which choose anew",
        ),
    }
}

/// How a mutant stands after some rounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Standing {
    /// Nobody knows.
    Open,
    /// Something can tell it from the model, and nothing did.
    Survives,
    /// It was found.
    Killed,
    /// It is not known that anything can tell it from the model.
    Unkillable,
}

/// What is known when `round`, from 1, begins: who survives.
pub fn feedback(args: &Score, parts: &mut Gathered, round: u64) -> Result<Feedback, Stop> {
    let mutants = parts.manifest.count / args.part.n_rounds();
    let mut standing = vec![Standing::Open; mutants as usize];
    for unit in 0..mutants * (round - 1) {
        let Some(text) = parts.unit(unit).map_err(planned::trouble)? else { continue };
        let was = &mut standing[(unit % mutants) as usize];
        let is_killed = text.result["killed_by"].as_array().is_some_and(|by| !by.is_empty());
        *was = match text.result["decision"]["outcome"].as_str() {
            _ if is_killed => Standing::Killed,
            Some("killed") | None => Standing::Survives,
            Some(_) => Standing::Unkillable,
        };
    }
    let begins = mutants * (round - 1);
    let is_settled = |&at: &u64| matches!(standing[at as usize], Standing::Killed | Standing::Unkillable);
    let settled: UnitSet = (0..mutants).filter(is_settled).map(|at| begins + at).collect();
    let count = |wanted: Standing| standing.iter().filter(|&&it| it == wanted).count();
    let (killed, survive) = (count(Standing::Killed), count(Standing::Survives));
    let is_enough = args.until.is_some_and(|until| is_reached(until, killed, killed + survive));
    let over = count(Standing::Open) == 0 && (survive == 0 || is_enough);
    let known = json!({ "killed": killed, "survive": survive });
    Ok(Feedback::new(&parts.manifest.plan, round, &settled, over, known))
}

/// Whether `killed` of `killable` mutants are at least so many percent.
pub fn is_reached(percent: f64, killed: usize, killable: usize) -> bool {
    killable > 0 && 100.0 * killed as f64 >= percent * killable as f64
}
