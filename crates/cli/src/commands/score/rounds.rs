//! Rounds of `ioxide score`: a tester plays what survived once more, with another seed.
//!
//! In the first round every mutant is decided and played; in the next ones those are played that are killable and
//! survive. The score is that of all rounds together. It is reached where the units so far, in the order of the plan,
//! make it certain: mutants that were not played yet count as survivors.

use std::collections::BTreeMap;

use ioxide_campaign::gather::GatheredParts;
use ioxide_campaign::rounds::RoundFeedback;
use ioxide_campaign::units::UnitSet;
use serde_json::{Value as Json, json};

use crate::args::ScoreArgs;
use crate::exit::CliError;
use crate::unit_command;

/// Refuses rounds of a suite or cases, which would do the same in every round.
pub fn refuse(args: &ScoreArgs) -> Result<(), CliError> {
    match args.suite.as_str() {
        "random" | "cover" => Ok(()),
        suite => unit_command::no_rounds(
            &args.part,
            &format!("`{suite}` does the same in every round"),
            "rounds are for `random` and `cover`, which choose anew",
        ),
    }
}

/// The standing of a mutant after some units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MutantStanding {
    /// The mutant was not played yet.
    Open,
    /// A trace tells the mutant from the model, and no run has found it.
    Survives,
    /// A run has found the mutant.
    Killed,
    /// The mutant is equivalent to the model, or undecided.
    Unkillable,
}

impl MutantStanding {
    /// Returns the standing of a mutant after the unit with this result.
    pub fn from_result(result: &Json) -> Self {
        let is_killed = result["killed_by"].as_array().is_some_and(|by| !by.is_empty());
        match result["decision"]["outcome"].as_str() {
            _ if is_killed => Self::Killed,
            Some("killed") | None => Self::Survives,
            Some(_) => Self::Unkillable,
        }
    }

    /// Returns whether later rounds leave the mutant out.
    fn is_settled(self) -> bool {
        matches!(self, Self::Killed | Self::Unkillable)
    }
}

/// The standing of the mutants so far, unit by unit in the order of the plan.
#[derive(Clone, Debug)]
pub struct ScoreSoFar {
    until: Option<f64>,
    standing: Vec<MutantStanding>,
    count: u64,
    next: u64,
    /// Units whose predecessors are not all added yet.
    early: BTreeMap<u64, MutantStanding>,
    /// The unit with which the goal is certain to be reached.
    end: Option<u64>,
}

impl ScoreSoFar {
    /// Begins a plan of `count` units, of which none is added.
    pub fn new(args: &ScoreArgs, count: u64) -> Self {
        let mutants = count / args.part.n_rounds();
        let standing = vec![MutantStanding::Open; usize::try_from(mutants).unwrap_or_default()];
        Self { until: args.until, standing, count, next: 0, early: BTreeMap::new(), end: None }
    }

    /// Adds a unit; returns the unit with which the goal is reached, once it is.
    pub fn add(&mut self, unit: u64, standing: MutantStanding) -> Option<u64> {
        self.early.insert(unit, standing);
        while self.next < self.count && self.end.is_none() {
            let at = (self.next % self.standing.len().max(1) as u64) as usize;
            if !self.standing[at].is_settled() {
                let Some(standing) = self.early.remove(&self.next) else { break };
                self.standing[at] = standing;
                let is_reached = self.until.is_some_and(|until| {
                    is_reached(until, self.n(MutantStanding::Killed), self.max_killable())
                });
                self.end = is_reached.then_some(self.next);
            }
            self.next += 1;
        }
        self.end
    }

    fn n(&self, wanted: MutantStanding) -> usize {
        self.standing.iter().filter(|&&it| it == wanted).count()
    }

    /// Returns the number of mutants that may be killable, those not played yet included.
    fn max_killable(&self) -> usize {
        self.standing.len() - self.n(MutantStanding::Unkillable)
    }

    /// Returns the remark on a campaign whose goal was reached before all mutants were played; `None` if all were.
    pub fn early_end_text(&self) -> Option<String> {
        let (end, open) = (self.end? + 1, self.n(MutantStanding::Open));
        let least = 100.0 * self.n(MutantStanding::Killed) as f64 / self.max_killable().max(1) as f64;
        (open > 0).then(|| {
            format!(
                "the goal was reached with unit {end} of {}: {open} mutants were not looked at, and whatever they are, \
                 the score of all is at least {least:.1} %",
                self.count
            )
        })
    }
}

/// Returns the standing of the mutants so far, and the unit with which the goal was reached.
pub fn so_far(args: &ScoreArgs, parts: &mut GatheredParts) -> Result<(ScoreSoFar, Option<u64>), CliError> {
    let count = parts.manifest.count;
    let (mut so_far, mut end) = (ScoreSoFar::new(args, count), None);
    for unit in 0..count {
        if let Some(text) = parts.unit(unit).map_err(unit_command::part_error)? {
            end = so_far.add(unit, MutantStanding::from_result(&text.result));
        }
        if end.is_some() {
            break;
        }
    }
    Ok((so_far, end))
}

/// Returns the feedback that `round`, from 1, begins with: the mutants that are settled, and the number that survive.
pub fn feedback(args: &ScoreArgs, parts: &mut GatheredParts, round: u64) -> Result<RoundFeedback, CliError> {
    let mutants = parts.manifest.count / args.part.n_rounds();
    let mut standing = vec![MutantStanding::Open; usize::try_from(mutants).unwrap_or_default()];
    let begins = mutants * (round - 1);
    for unit in 0..begins {
        if let Some(text) = parts.unit(unit).map_err(unit_command::part_error)? {
            standing[(unit % mutants) as usize] = MutantStanding::from_result(&text.result);
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

/// Returns whether `killed` of `killable` mutants are at least `percent`; false if no mutant is killable.
pub fn is_reached(percent: f64, killed: usize, killable: usize) -> bool {
    killable > 0 && 100.0 * killed as f64 >= percent * killable as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{CliArgs, CliCommand};
    use clap::Parser as _;

    fn score(until: &str, rounds: &str) -> ScoreArgs {
        let words = ["ioxide", "score", "m.iox", "random", "--until", until, "--rounds", rounds];
        match CliArgs::try_parse_from(words).map(|args| args.command) {
            Ok(CliCommand::Score(score)) => score,
            other => panic!("{other:?}"),
        }
    }

    /// Whatever order units come in, the goal is reached with the same one, and never before it is certain: the second opinion
    /// tries every way in which the rest could end.
    #[test]
    fn the_goal_is_reached_where_it_is_certain_and_not_before() {
        use MutantStanding::{Killed, Survives, Unkillable};
        let all = [Killed, Survives, Unkillable];
        let until = 50.0;
        for code in 0..3_usize.pow(5) {
            let units: Vec<MutantStanding> = (0..5).map(|at| all[code / 3_usize.pow(at) % 3]).collect();
            let mut in_order = ScoreSoFar::new(&score("50", "1"), 5);
            let end = (0..5).find_map(|at| in_order.add(at, units[at as usize]));
            let mut backwards = ScoreSoFar::new(&score("50", "1"), 5);
            let last = (0..5).rev().map(|at| backwards.add(at, units[at as usize])).last().flatten();
            assert_eq!(end, last, "{units:?}");
            let certain = |n: usize| {
                (0..3_usize.pow(5 - n as u32)).all(|rest| {
                    let rest = (0..5 - n as u32).map(|at| all[rest / 3_usize.pow(at) % 3]);
                    let whole: Vec<MutantStanding> = units[..n].iter().copied().chain(rest).collect();
                    let count = |wanted| whole.iter().filter(|&&it| it == wanted).count();
                    let (killed, survive) = (count(Killed), count(Survives));
                    killed + survive > 0 && 100.0 * killed as f64 >= until * (killed + survive) as f64
                })
            };
            let expected = (1..=5).find(|&n| certain(n)).map(|n| n as u64 - 1);
            assert_eq!(end, expected, "{units:?}");
        }
    }

    #[test]
    fn what_is_settled_is_not_waited_for_in_later_rounds() {
        use MutantStanding::{Killed, Survives, Unkillable};
        let mut so_far = ScoreSoFar::new(&score("100", "2"), 6);
        assert_eq!(
            [Killed, Unkillable, Survives].iter().zip(0..).find_map(|(&it, at)| so_far.add(at, it)),
            None
        );
        // Units 4 and 5 are settled: the last one decides.
        assert_eq!(so_far.add(5, Killed), Some(5));
    }
}
