//! The score of a suite or a tester that runs against mutants one by one, some of them again in later rounds.
//!
//! The score is that of all rounds together. It is reached where the units so far, in the order of the plan, make it
//! certain: mutants that were not played yet count as survivors.

use std::collections::BTreeMap;

/// The standing of a mutant after some units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MutantStanding {
    /// The mutant was not played yet.
    Open,
    /// A trace distinguishes the mutant from the model, and no run has found it.
    Survives,
    /// A run has found the mutant.
    Killed,
    /// The mutant is equivalent to the model, or undecided.
    Unkillable,
}

impl MutantStanding {
    /// Returns whether later rounds leave the mutant out.
    #[must_use]
    pub fn is_settled(self) -> bool {
        matches!(self, Self::Killed | Self::Unkillable)
    }
}

/// The standing of the mutants so far, unit by unit in the order of the plan.
#[derive(Clone, Debug)]
pub struct ScoreSoFar {
    until: Option<f64>,
    standing: Vec<MutantStanding>,
    n_units: u64,
    next: u64,
    /// Units whose predecessors are not all added yet.
    early: BTreeMap<u64, MutantStanding>,
    /// The unit with which the goal is certain to be reached.
    end: Option<u64>,
}

impl ScoreSoFar {
    /// Begins a plan of `count` units in `n_rounds` rounds, of which none is added; the goal is a score of `until`
    /// percent.
    #[must_use]
    pub fn new(until: Option<f64>, n_rounds: u64, count: u64) -> Self {
        let mutants = count / n_rounds;
        let standing = vec![MutantStanding::Open; usize::try_from(mutants).unwrap_or_default()];
        Self { until, standing, n_units: count, next: 0, early: BTreeMap::new(), end: None }
    }

    /// Adds a unit; returns the unit with which the goal is reached, once it is.
    pub fn add(&mut self, unit: u64, standing: MutantStanding) -> Option<u64> {
        self.early.insert(unit, standing);
        while self.next < self.n_units && self.end.is_none() {
            let at = (self.next % self.standing.len().max(1) as u64) as usize;
            if !self.standing[at].is_settled() {
                let Some(standing) = self.early.remove(&self.next) else { break };
                self.standing[at] = standing;
                let is_reached = self.until.is_some_and(|until| {
                    is_reached(until, self.count(MutantStanding::Killed), self.max_killable())
                });
                self.end = is_reached.then_some(self.next);
            }
            self.next += 1;
        }
        self.end
    }

    /// Returns the number of mutants with this standing.
    fn count(&self, wanted: MutantStanding) -> usize {
        self.standing.iter().filter(|&&it| it == wanted).count()
    }

    /// Returns the number of mutants that may be killable, those not played yet included.
    fn max_killable(&self) -> usize {
        self.standing.len() - self.count(MutantStanding::Unkillable)
    }

    /// Returns the remark on a campaign whose goal was reached before all mutants were played; `None` if all were.
    #[must_use]
    pub fn early_end_text(&self) -> Option<String> {
        let (end, open) = (self.end? + 1, self.count(MutantStanding::Open));
        let least = 100.0 * self.count(MutantStanding::Killed) as f64 / self.max_killable().max(1) as f64;
        (open > 0).then(|| {
            format!(
                "the goal was reached with unit {end} of {}: {open} mutants were not decided; the score of \
                 all is at least {least:.1} %",
                self.n_units
            )
        })
    }
}

/// Returns whether `killed` of `killable` mutants are at least `percent`; false if no mutant is killable.
#[must_use]
pub fn is_reached(percent: f64, killed: usize, killable: usize) -> bool {
    killable > 0 && 100.0 * killed as f64 >= percent * killable as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whatever order units come in, the goal is reached with the same one, and never before it is certain: the second
    /// opinion tries every way in which the rest could end.
    #[test]
    fn the_goal_is_reached_where_it_is_certain_and_not_before() {
        use MutantStanding::{Killed, Survives, Unkillable};
        let all = [Killed, Survives, Unkillable];
        let until = 50.0;
        for code in 0..3_usize.pow(5) {
            let units: Vec<MutantStanding> = (0..5).map(|at| all[code / 3_usize.pow(at) % 3]).collect();
            let mut in_order = ScoreSoFar::new(Some(until), 1, 5);
            let end = (0..5).find_map(|at| in_order.add(at, units[at as usize]));
            let mut backwards = ScoreSoFar::new(Some(until), 1, 5);
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
        let mut so_far = ScoreSoFar::new(Some(100.0), 2, 6);
        assert_eq!(
            [Killed, Unkillable, Survives].iter().zip(0..).find_map(|(&it, at)| so_far.add(at, it)),
            None
        );
        // Units 4 and 5 are settled: the last one decides.
        assert_eq!(so_far.add(5, Killed), Some(5));
    }
}
