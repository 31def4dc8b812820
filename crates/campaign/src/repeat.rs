//! A unit that was done before is done again, to see whether the system still answers as it did.

use std::io;
use std::path::Path;

use crate::gather::{GatherError, GatheredParts};
use crate::part::MANIFEST;
use crate::units::UnitSet;

/// The number of times that a unit is done again before its system is taken for another one. Chosen by feel: some
/// systems choose among answers, and one repetition would refuse them; more take longer.
pub const MAX_REPEATS: usize = 3;

/// A unit that was done before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RepeatedUnit {
    unit: u64,
    /// True if it failed; `None` if it has no result.
    has_failed: Option<bool>,
    /// The date at which its part was begun; `None` if the part does not say so.
    pub started: Option<String>,
}

/// The comparison of a unit with its repetitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RepeatOutcome {
    /// One of the repetitions had the same result, or there is nothing to compare.
    Same,
    /// The unit could not be done again.
    NotRepeated,
    /// Every repetition had the other result.
    Changed {
        /// True if the unit fails now.
        fails_now: bool,
    },
}

impl RepeatedUnit {
    /// Reads the result of unit `unit` from the part, or the parts, in `dir`.
    ///
    /// # Errors
    /// If the parts cannot be read.
    pub fn in_part(dir: &Path, unit: u64) -> Result<Self, GatherError> {
        let mut parts = GatheredParts::new(&[dir.to_path_buf()])?;
        let started = parts.manifest.started.clone();
        let text = parts.unit(unit)?;
        let has_failed = text.and_then(|text| text.result["failed"].as_u64()).map(|failed| failed > 0);
        Ok(Self { unit, has_failed, started })
    }

    /// Returns the unit as a set.
    #[must_use]
    pub fn as_set(&self) -> UnitSet {
        [self.unit].into_iter().collect()
    }

    /// Does the unit again with `again`, each time in a folder of its own, until a result is the same as before.
    ///
    /// # Errors
    /// If `again` does, or a folder or its part cannot be used.
    pub fn compare<E: From<io::Error> + From<GatherError>>(
        &self,
        mut again: impl FnMut(&Path) -> Result<(), E>,
    ) -> Result<RepeatOutcome, E> {
        let Some(before) = self.has_failed else { return Ok(RepeatOutcome::Same) };
        for _ in 0..MAX_REPEATS {
            let folder = tempfile::tempdir()?;
            again(folder.path())?;
            if !folder.path().join(MANIFEST).exists() {
                return Ok(RepeatOutcome::NotRepeated);
            }
            match Self::in_part(folder.path(), self.unit)?.has_failed {
                Some(now) if now != before => (),
                // A repetition without a result says nothing about the system.
                Some(_) | None => return Ok(RepeatOutcome::Same),
            }
        }
        Ok(RepeatOutcome::Changed { fails_now: !before })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::part::{EndOfPart, Manifest, PartWriter};
    use crate::plan::{CampaignPlan, UnitNames};
    use crate::rounds::UnitRounds;

    use super::*;

    /// Writes a part in which unit 0 failed so many times.
    fn write_part(dir: &Path, failed: u64) -> Result<(), GatherError> {
        let plan = CampaignPlan {
            args: vec!["test".into()],
            model: "m".into(),
            tool: "t".into(),
            units: UnitNames::Numbered { word: "run", count: 1 },
            rounds: UnitRounds::ONE,
            system: None,
        };
        let mut part = PartWriter::open(dir, &Manifest::new(&plan, &UnitSet::range(0, 1)))?;
        part.begin_unit(0, "run 1")?;
        part.write_done(0, "run 1", failed > 0, &json!({ "failed": failed }))?;
        Ok(part.end_part(EndOfPart::All)?)
    }

    /// The error of a test.
    #[derive(Debug)]
    struct TestError;

    impl From<io::Error> for TestError {
        fn from(_: io::Error) -> Self {
            Self
        }
    }

    impl From<GatherError> for TestError {
        fn from(_: GatherError) -> Self {
            Self
        }
    }

    #[test]
    fn a_system_has_changed_only_if_every_repetition_says_so() {
        let dir = tempfile::tempdir().unwrap();
        write_part(dir.path(), 0).unwrap();
        let before = RepeatedUnit::in_part(dir.path(), 0).unwrap();
        let compare = |failures: [u64; MAX_REPEATS]| {
            let mut left = failures.into_iter();
            before.compare(|folder| -> Result<(), TestError> {
                Ok(write_part(folder, left.next().unwrap_or(0))?)
            })
        };
        assert_eq!(compare([1, 1, 0]).unwrap(), RepeatOutcome::Same);
        assert_eq!(compare([1, 1, 1]).unwrap(), RepeatOutcome::Changed { fails_now: true });
        let nothing = before.compare(|_| -> Result<(), TestError> { Ok(()) }).unwrap();
        assert_eq!(nothing, RepeatOutcome::NotRepeated);
    }
}
