//! Rounds: units that know what the units of the rounds before have found.
//!
//! The feedback with which a round begins is a small file, made once, when the round before is over, and named in
//! every order of the round. So a unit is still a function of its command line and its files: the model, the seed,
//! the system and the feedback. The feedback also lists the units of the round that are settled: they are not done.
//!
//! *Promises.* The units of a plan are numbered through all rounds, so a unit is done once, whatever the feedback.
//! Where every round does the same again, the units in the order of the plan are the rounds one after the other.

use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::part::PartError;
use crate::plan::fingerprint;
use crate::units::UnitSet;
use crate::whole_file::{FileReaders, write_whole};

/// The name of the format.
pub const FORMAT: &str = "ioxide-feedback";
/// The version written here.
pub const VERSION: u32 = 1;

/// The assignment of units to rounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnitRounds {
    count: u64,
    order: UnitOrder,
}

/// The order in which units are dealt to rounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum UnitOrder {
    /// Every round does the same again, with what is known by then: the units of a round follow each other.
    Repeated,
    /// Every unit is done in one round: the n-th in round n, then from the first round on again.
    Alternating,
}

impl UnitRounds {
    /// A single round with all units.
    pub const ONE: Self = Self { count: 1, order: UnitOrder::Repeated };

    /// `count` rounds that do the same again; at least one.
    #[must_use]
    pub fn repeat(count: u64) -> Self {
        Self { count: count.max(1), order: UnitOrder::Repeated }
    }

    /// `count` rounds, at least one, to which units are dealt in turn, so that units close to each other in the plan,
    /// which are alike, are in different rounds.
    #[must_use]
    pub fn alternate(count: u64) -> Self {
        Self { count: count.max(1), order: UnitOrder::Alternating }
    }

    /// Returns the number of rounds.
    #[must_use]
    pub const fn count(self) -> u64 {
        self.count
    }

    /// The round of `unit`, from 0, in a plan of `units`.
    #[must_use]
    pub fn round_of(self, unit: u64, units: u64) -> u64 {
        match self.order {
            UnitOrder::Repeated => unit / (units / self.count).max(1),
            UnitOrder::Alternating => unit % self.count,
        }
    }

    /// The units of `round`, from 0, in a plan of `units`.
    #[must_use]
    pub fn units(self, round: u64, units: u64) -> UnitSet {
        match self.order {
            UnitOrder::Repeated => {
                let each = units / self.count;
                UnitSet::range(round * each, (round + 1) * each)
            }
            UnitOrder::Alternating => {
                let step = usize::try_from(self.count).unwrap_or(usize::MAX);
                (round..units).step_by(step).collect()
            }
        }
    }
}

/// The feedback with which a round begins: the findings of the rounds before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RoundFeedback {
    /// [`FORMAT`].
    pub format: String,
    /// [`VERSION`].
    pub version: u32,
    /// The hash of the plan.
    pub plan: String,
    /// The round that begins, from 1.
    pub round: u64,
    /// The units of this round that need not be done, from 1, as a [`UnitSet`] prints them.
    pub settled: String,
    /// True if nothing is left to do in this round or later.
    pub over: bool,
    /// The findings, in the form of the command.
    pub known: Json,
}

impl RoundFeedback {
    /// The feedback `known` for `round`, counted from 1, of the plan with the hash `plan`.
    #[must_use]
    pub fn new(plan: &str, round: u64, settled: &UnitSet, over: bool, known: Json) -> Self {
        let (format, plan, settled) = (FORMAT.to_owned(), plan.to_owned(), settled.to_string());
        Self { format, version: VERSION, plan, round, settled, over, known }
    }

    /// Reads the feedback from a file.
    ///
    /// # Errors
    /// If the file cannot be read, is no feedback, or is of another version.
    pub fn read(path: &Path) -> Result<Self, PartError> {
        let text = fs::read_to_string(path).map_err(PartError::at_path(path))?;
        let not = |why: String| PartError::NotFeedback { path: path.to_path_buf(), why };
        let told: Self = serde_json::from_str(&text).map_err(|error| not(error.to_string()))?;
        if told.format != FORMAT {
            Err(not(format!("it is of a `{}`", told.format)))
        } else if told.version != VERSION {
            Err(not(format!("it has version {}, this program reads version {VERSION}", told.version)))
        } else if told.round < 2 {
            Err(not("nothing is known before the first round".into()))
        } else {
            Ok(told)
        }
    }

    /// Writes the feedback to `path`, whole or not at all.
    ///
    /// # Errors
    /// If the file or its directory cannot be written.
    pub fn write(&self, path: &Path) -> Result<(), PartError> {
        let dir = path.parent().unwrap_or(Path::new("."));
        let write = || {
            fs::create_dir_all(dir)?;
            let text = serde_json::to_string_pretty(self)?;
            write_whole(path, FileReaders::Owner, |out| writeln!(out, "{text}"))
        };
        write().map_err(PartError::at_path(path))
    }

    /// The hash of the feedback, in sixteen hexadecimal digits.
    #[must_use]
    pub fn hash(&self) -> String {
        let over = if self.over { "over" } else { "" };
        let told = [&self.plan, &self.round.to_string(), &self.settled, over, &self.known.to_string()];
        fingerprint(told.map(str::to_owned))
    }

    /// The units of this round that need not be done.
    #[must_use]
    pub fn settled_units(&self) -> UnitSet {
        self.settled.parse().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::{ProptestConfig, prop_assert_eq, proptest};
    use serde_json::json;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]
        /// Every unit is in the round that it says, and in no other.
        #[test]
        fn every_unit_is_of_one_round(count in 1u64..9, each in 0u64..40, more in 0u64..9) {
            for (rounds, units) in [
                (UnitRounds::repeat(count), each * count),
                (UnitRounds::alternate(count), each * count + more),
            ] {
                let mut all = UnitSet::new();
                for round in 0..count {
                    for unit in rounds.units(round, units).iter() {
                        prop_assert_eq!(rounds.round_of(unit, units), round);
                        prop_assert_eq!(all.insert(unit), true);
                    }
                }
                prop_assert_eq!(all, UnitSet::range(0, units));
            }
        }
    }

    #[test]
    fn what_is_known_is_read_as_it_was_written() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("rounds/2.json");
        let known = RoundFeedback::new("p", 2, &UnitSet::range(3, 5), false, json!({ "covered": [1, 2] }));
        known.write(&path).unwrap();
        assert_eq!(RoundFeedback::read(&path).unwrap(), known);
        assert_eq!(known.settled_units(), UnitSet::range(3, 5));
        let others = [
            RoundFeedback { round: 3, ..known.clone() },
            RoundFeedback { over: true, ..known.clone() },
            RoundFeedback { settled: String::new(), ..known.clone() },
            RoundFeedback { known: json!({ "covered": [1] }), ..known.clone() },
            RoundFeedback { plan: "q".into(), ..known.clone() },
        ];
        others.iter().for_each(|other| assert_ne!(other.hash(), known.hash(), "{other:?}"));
    }

    #[test]
    fn what_is_no_feedback_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("2.json");
        let known = RoundFeedback::new("p", 2, &UnitSet::new(), false, Json::Null);
        for (wrong, why) in [
            (RoundFeedback { format: "ioxide-part".into(), ..known.clone() }, "it is of a `ioxide-part`"),
            (RoundFeedback { version: 9, ..known.clone() }, "it has version 9"),
            (RoundFeedback { round: 1, ..known.clone() }, "before the first round"),
        ] {
            wrong.write(&path).unwrap();
            let error = RoundFeedback::read(&path).unwrap_err().to_string();
            assert!(error.contains(why), "{error}");
        }
        fs::write(&path, "{").unwrap();
        assert!(RoundFeedback::read(&path).unwrap_err().to_string().contains("not feedback of a round"));
    }
}
