//! The times for silence in the project file: `silence_ms`, or a table `silence` with times by message and by state.
//! `quiescence_ms` and `quiescence` are their old names.

use std::time::Duration;

use ioxide_model::sts::{GateId, LocId, Model};

use super::table::ProjectTable;
use crate::error::ProjectError;

/// The keys that give times for silence, the old names last; a system has one of them at most.
pub(super) const KEYS: [&str; 4] = ["silence_ms", "silence", "quiescence_ms", "quiescence"];

/// Milliseconds, as they are written down; the names are not checked yet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QuiescenceTimes {
    /// The time where no other applies.
    pub default: Option<u64>,
    /// After these messages.
    after: Vec<(String, u64)>,
    /// In these states.
    within: Vec<(String, u64)>,
}

impl QuiescenceTimes {
    /// The times of a system.
    pub(super) fn read(system: &ProjectTable<'_>) -> Result<Self, ProjectError> {
        let given: Vec<&str> = KEYS.into_iter().filter(|key| system.has(key)).collect();
        if let [first, second, ..] = given[..] {
            let problem = format!("`{first}` gives the time for silence already");
            return Err(system.wrong_value(second, &problem));
        }
        let Some(&key) = given.first() else { return Ok(Self::default()) };
        if key.ends_with("_ms") {
            return Ok(Self { default: system.number(key)?, ..Self::default() });
        }
        let Some(table) = system.table(key)? else { return Ok(Self::default()) };
        table.reject_unknown_keys(&["default", "after", "in"])?;
        Ok(Self {
            default: table.number("default")?,
            after: table.numbers("after")?,
            within: table.numbers("in")?,
        })
    }

    /// Returns the times for the messages and states of `spec`.
    ///
    /// # Errors
    /// If the model has no such message or state.
    pub fn resolve(&self, spec: &Model) -> Result<ModelTimes, ProjectError> {
        let mut times = ModelTimes::default();
        for (name, ms) in &self.after {
            let gate = spec.sts.gates.iter_enumerated().find(|(_, gate)| *gate.name == **name);
            let names = spec.sts.gates.iter().map(|gate| &*gate.name);
            let (gate, _) = gate.ok_or_else(|| unknown_name("after", "message", name, names))?;
            times.after.push((gate, Duration::from_millis(*ms)));
        }
        for (name, ms) in &self.within {
            let place = spec.sts.locations.iter_enumerated().find(|(_, place)| *place.name == **name);
            let names = spec.sts.locations.iter().map(|place| &*place.name);
            let (place, _) = place.ok_or_else(|| unknown_name("in", "state", name, names))?;
            times.within.push((place, Duration::from_millis(*ms)));
        }
        Ok(times)
    }
}

/// The quiescence times at the messages and states of a model.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModelTimes {
    /// After these messages.
    pub after: Vec<(GateId, Duration)>,
    /// In these states.
    pub within: Vec<(LocId, Duration)>,
}

fn unknown_name<'a>(key: &str, what: &str, name: &str, names: impl Iterator<Item = &'a str>) -> ProjectError {
    let message = format!("`{}`: silence.{key}: the model has no {what} `{name}`", super::FILE);
    ProjectError::new(message).with_nearest(name, &names.collect::<Vec<_>>())
}
