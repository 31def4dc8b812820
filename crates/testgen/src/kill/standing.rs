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
