//! The units that a part is asked to do, of those that are open in its round.

use thiserror::Error;

use crate::plan::CampaignPlan;
use crate::rounds::RoundFeedback;
use crate::units::{Partition, UnitSet};

/// A choice among the open units of a round.
#[derive(Clone, Copy, Debug)]
pub enum UnitRequest<'a> {
    /// All of them.
    All,
    /// One of several equal shares.
    Share(Partition),
    /// Those with these numbers.
    Numbered(&'a UnitSet),
    /// Those with these names.
    Named(&'a [String]),
}

/// The reason why units cannot be done now.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum RequestError {
    /// The feedback is of another plan.
    #[error("is of another plan: {there}, not {here}")]
    OtherPlan {
        /// The hash of the plan of the feedback.
        there: String,
        /// The hash of this plan.
        here: String,
    },
    /// The feedback is for a round that the plan does not have.
    #[error("is for round {round}, and the plan has {count}")]
    NoSuchRound {
        /// The round of the feedback.
        round: u64,
        /// The number of rounds.
        count: u64,
    },
    /// The plan has no unit with this number, from 1.
    #[error("there is no unit {unit}: the plan has {count}")]
    NoSuchNumber {
        /// The number.
        unit: u64,
        /// The number of units.
        count: u64,
    },
    /// The plan has no unit with this name.
    #[error("there is no unit `{0}`")]
    NoSuchName(String),
    /// The results of a unit are known without doing it.
    #[error("unit `{0}` is done: an earlier round has its result")]
    Settled(String),
    /// A unit is of another round.
    #[error("unit `{name}` is of round {its}, not of round {round}")]
    OtherRound {
        /// The name of the unit.
        name: String,
        /// Its round, from 1.
        its: u64,
        /// The round that is done now.
        round: u64,
    },
}

/// A round of a plan, with the units that are still to be done in it.
#[derive(Debug)]
pub struct OpenRound<'p> {
    plan: &'p CampaignPlan,
    /// The round, from 1.
    pub number: u64,
    open: UnitSet,
}

impl<'p> OpenRound<'p> {
    /// Opens the round that begins with `feedback`; the first one if there is none.
    ///
    /// # Errors
    /// If the feedback is of another plan, or for a round that the plan does not have.
    pub fn new(plan: &'p CampaignPlan, feedback: Option<&RoundFeedback>) -> Result<Self, RequestError> {
        let number = feedback.map_or(1, |feedback| feedback.round);
        if let Some(feedback) = feedback {
            let (here, count) = (plan.hash(), plan.rounds.count());
            if feedback.plan != here {
                return Err(RequestError::OtherPlan { there: feedback.plan.clone(), here });
            }
            if number > count {
                return Err(RequestError::NoSuchRound { round: number, count });
            }
        }
        let mut open = plan.rounds.units(number - 1, plan.units.count());
        if let Some(feedback) = feedback {
            open.subtract(&feedback.settled_units());
        }
        Ok(Self { plan, number, open })
    }

    /// Returns the open units that `request` chooses.
    ///
    /// # Errors
    /// If it chooses a unit that does not exist, is settled, or is of another round.
    pub fn choose_units(&self, request: UnitRequest<'_>) -> Result<UnitSet, RequestError> {
        let names = &self.plan.units;
        match request {
            UnitRequest::All => Ok(self.open.clone()),
            UnitRequest::Share(partition) => {
                // A share is of the open units: every part of a round has about as much to do.
                let share = partition.units_of_share(self.open.len());
                let is_in_share = |(at, _): &(u64, u64)| share.contains(*at);
                Ok((0..).zip(self.open.iter()).filter(is_in_share).map(|(_, unit)| unit).collect())
            }
            UnitRequest::Numbered(units) => match units.last() {
                Some(last) if last >= names.count() => {
                    Err(RequestError::NoSuchNumber { unit: last + 1, count: names.count() })
                }
                _ => self.require_open(units.clone()),
            },
            UnitRequest::Named(wanted) => {
                let find =
                    |name: &String| names.find(name).ok_or_else(|| RequestError::NoSuchName(name.clone()));
                self.require_open(wanted.iter().map(find).collect::<Result<UnitSet, _>>()?)
            }
        }
    }

    /// Refuses units that are of another round, or that need not be done any more.
    fn require_open(&self, units: UnitSet) -> Result<UnitSet, RequestError> {
        let Some(wrong) = units.iter().find(|&unit| !self.open.contains(unit)) else { return Ok(units) };
        let name = self.plan.units.name(wrong);
        let its = self.plan.rounds.round_of(wrong, self.plan.units.count()) + 1;
        Err(if its == self.number {
            RequestError::Settled(name)
        } else {
            RequestError::OtherRound { name, its, round: self.number }
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::plan::UnitNames;
    use crate::rounds::UnitRounds;

    use super::*;

    fn plan() -> CampaignPlan {
        CampaignPlan {
            args: vec!["test".into()],
            model: "m".into(),
            tool: "t".into(),
            units: UnitNames::Listed(["a", "b", "c", "d"].map(str::to_owned).to_vec()),
            rounds: UnitRounds::alternate(2),
            system: None,
        }
    }

    #[test]
    fn only_open_units_of_the_round_are_chosen() {
        let plan = plan();
        let first = OpenRound::new(&plan, None).unwrap();
        let all = first.choose_units(UnitRequest::All).unwrap();
        assert_eq!(all.len(), 2, "two rounds have two units each");
        let (here, other): (Vec<u64>, Vec<u64>) = (0..4).partition(|&unit| all.contains(unit));
        let name = |unit: u64| vec![plan.units.name(unit)];
        assert!(first.choose_units(UnitRequest::Named(&name(here[0]))).is_ok());
        let wrong = first.choose_units(UnitRequest::Named(&name(other[0])));
        assert!(matches!(wrong, Err(RequestError::OtherRound { its: 2, round: 1, .. })), "{wrong:?}");
        let unknown = first.choose_units(UnitRequest::Named(&["x".to_owned()]));
        assert_eq!(unknown, Err(RequestError::NoSuchName("x".into())));
        let beyond = first.choose_units(UnitRequest::Numbered(&UnitSet::range(0, 9)));
        assert_eq!(beyond, Err(RequestError::NoSuchNumber { unit: 9, count: 4 }));
        let settled: UnitSet = [other[0]].into_iter().collect();
        let feedback = RoundFeedback::new(&plan.hash(), 2, &settled, false, json!({}));
        let second = OpenRound::new(&plan, Some(&feedback)).unwrap();
        let done = second.choose_units(UnitRequest::Named(&name(other[0])));
        assert!(matches!(done, Err(RequestError::Settled(_))), "{done:?}");
        assert_eq!(second.choose_units(UnitRequest::All).unwrap().iter().collect::<Vec<_>>(), [other[1]]);
    }

    #[test]
    fn feedback_of_another_plan_or_round_is_refused() {
        let plan = plan();
        let feedback = |hash: &str, round| RoundFeedback::new(hash, round, &UnitSet::new(), false, json!({}));
        let other = OpenRound::new(&plan, Some(&feedback("other", 2)));
        assert!(matches!(other, Err(RequestError::OtherPlan { .. })));
        let late = OpenRound::new(&plan, Some(&feedback(&plan.hash(), 3)));
        assert!(matches!(late, Err(RequestError::NoSuchRound { round: 3, count: 2 })));
    }
}
