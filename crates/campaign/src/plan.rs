//! A plan: the units of a command, with names that do not change, and a hash of all that their results depend on.
//!
//! Two runs of the same command have the same plan hash exactly if their results can be put together: the same
//! arguments (without those that say which part to do), the same model down to its switches, the same version of
//! ioxide.

use serde_json::{Value as Json, json};

use crate::part::SystemFacts;
use crate::rounds::UnitRounds;

/// The name of the format.
pub const FORMAT: &str = "ioxide-plan";
/// The version written here.
pub const VERSION: u32 = 1;

/// The units of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CampaignPlan {
    /// The command line after `ioxide`, without the options that select units.
    pub args: Vec<String>,
    /// The fingerprint of the model, in sixteen hexadecimal digits.
    pub model: String,
    /// The version of ioxide.
    pub tool: String,
    /// The units.
    pub units: UnitNames,
    /// The rounds that the units are dealt to.
    pub rounds: UnitRounds,
    /// The identity of the system under test; `None` if results depend on no system outside. It is no part of the hash:
    /// systems are compared fact by fact.
    pub system: Option<SystemFacts>,
}

/// The names of units, in the order of the plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UnitNames {
    /// Names made of a word and a number from 1, such as `run-5`.
    Numbered {
        /// The word.
        word: &'static str,
        /// The number of units.
        count: u64,
    },
    /// A name of its own for each unit.
    Listed(Vec<String>),
    /// The same names in every round, such as `round-2/run-5`.
    InRounds {
        /// The names in one round.
        names: Box<Self>,
        /// The number of rounds.
        rounds: u64,
    },
}

impl UnitNames {
    /// Returns the number of units, those of all rounds together.
    #[must_use]
    pub fn count(&self) -> u64 {
        match self {
            Self::Numbered { count, .. } => *count,
            Self::Listed(names) => names.len() as u64,
            Self::InRounds { names, rounds } => names.count().saturating_mul(*rounds),
        }
    }

    /// The name of `unit`, which is counted from 0.
    #[must_use]
    pub fn name(&self, unit: u64) -> String {
        match self {
            Self::Numbered { word, .. } => format!("{word}-{}", unit + 1),
            Self::Listed(names) => {
                let name = usize::try_from(unit).ok().and_then(|at| names.get(at));
                name.cloned().unwrap_or_default()
            }
            Self::InRounds { names, .. } => {
                let each = names.count().max(1);
                format!("round-{}/{}", unit / each + 1, names.name(unit % each))
            }
        }
    }

    /// The texts that identify the names in the hash of a plan.
    fn identity_words(&self) -> Vec<String> {
        match self {
            Self::Numbered { word, count } => vec![format!("{word} {count}")],
            Self::Listed(names) => names.clone(),
            Self::InRounds { names, rounds } => {
                names.identity_words().into_iter().chain([format!("rounds {rounds}")]).collect()
            }
        }
    }

    /// Returns the number of the unit called `name`, if there is one.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<u64> {
        match self {
            Self::Numbered { word, count } => {
                let number: u64 = name.strip_prefix(word)?.strip_prefix('-')?.parse().ok()?;
                (1..=*count).contains(&number).then(|| number - 1)
            }
            Self::Listed(names) => names.iter().position(|known| known == name).map(|at| at as u64),
            Self::InRounds { names, rounds } => {
                let (round, name) = name.strip_prefix("round-")?.split_once('/')?;
                let round: u64 = round.parse().ok().filter(|round| (1..=*rounds).contains(round))?;
                names.find(name).map(|unit| (round - 1) * names.count() + unit)
            }
        }
    }
}

impl CampaignPlan {
    /// The hash of all that the results depend on.
    #[must_use]
    pub fn hash(&self) -> String {
        let names = self.units.identity_words();
        let fixed = [self.tool.clone(), self.model.clone(), self.args.len().to_string()];
        fingerprint(fixed.into_iter().chain(self.args.iter().cloned()).chain(names))
    }

    /// The plan for programs; `more` gives further members of a unit, such as its seed.
    #[must_use]
    pub fn to_json(&self, more: impl Fn(u64) -> Json) -> Json {
        let unit = |unit: u64| {
            let mut told = json!({ "unit": unit + 1, "name": self.units.name(unit) });
            if self.rounds.count() > 1 {
                told["round"] = Json::from(self.rounds.round_of(unit, self.units.count()) + 1);
            }
            if let (Json::Object(told), Json::Object(more)) = (&mut told, more(unit)) {
                told.extend(more);
            }
            told
        };
        json!({
            "format": FORMAT, "version": VERSION, "tool": self.tool, "plan": self.hash(), "model": self.model,
            "args": self.args, "count": self.units.count(), "system": self.system,
            "units": (0..self.units.count()).map(unit).collect::<Vec<_>>(),
        })
    }
}

/// The hash of texts in sixteen hexadecimal digits (FNV-1a, 64 bits).
#[must_use]
pub fn fingerprint<T: AsRef<[u8]>>(texts: impl IntoIterator<Item = T>) -> String {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for text in texts {
        for &byte in text.as_ref().iter().chain(b"\n") {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
    format!("{hash:016x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_knows_everything_results_depend_on() {
        let plan = CampaignPlan {
            args: vec!["test".into(), "a b".into()],
            model: "m".into(),
            tool: "1".into(),
            units: UnitNames::Numbered { word: "run", count: 3 },
            rounds: UnitRounds::ONE,
            system: None,
        };
        let others = [
            CampaignPlan { args: vec!["test".into(), "a".into(), "b".into()], ..plan.clone() },
            CampaignPlan { model: "n".into(), ..plan.clone() },
            CampaignPlan { tool: "2".into(), ..plan.clone() },
            CampaignPlan { units: UnitNames::Numbered { word: "run", count: 4 }, ..plan.clone() },
            CampaignPlan { units: UnitNames::Listed(vec!["run-1".into()]), ..plan.clone() },
        ];
        assert_eq!(plan.hash(), plan.clone().hash());
        others.iter().for_each(|other| assert_ne!(plan.hash(), other.hash(), "{other:?}"));
    }

    #[test]
    fn names_lead_back_to_their_units() {
        let listed = UnitNames::Listed(vec!["a".into(), "b".into()]);
        for names in [
            UnitNames::Numbered { word: "run", count: 3 },
            listed.clone(),
            UnitNames::InRounds { names: Box::new(listed), rounds: 3 },
        ] {
            (0..names.count()).for_each(|unit| assert_eq!(names.find(&names.name(unit)), Some(unit)));
            for wrong in ["run-4", "run-0", "c", "round-4/a", "round-0/a", "round-1/c"] {
                assert_eq!(names.find(wrong), None, "{wrong}");
            }
        }
    }
}
