//! Quiescence times of the project file: `quiescence_ms`, or a table with times by message and by state.

use std::time::Duration;

use ioxide_model::sts::Model;
use ioxide_model::suggest::nearest_name;
use ioxide_run::clock::patience::Patience;

use super::table::ProjectTable;
use crate::exit::CliError;

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
    pub(super) fn read(system: &ProjectTable<'_>) -> Result<Self, CliError> {
        let Some(table) = system.table("quiescence")? else {
            return Ok(Self { default: system.number("quiescence_ms")?, ..Self::default() });
        };
        if system.has("quiescence_ms") {
            return Err(
                system.wrong_value("quiescence_ms", "there is `quiescence` already; use its `default`")
            );
        }
        table.only(&["default", "after", "in"])?;
        Ok(Self {
            default: table.number("default")?,
            after: table.numbers("after")?,
            within: table.numbers("in")?,
        })
    }

    /// Returns the times for the messages and states of `spec`; `default` where none is given.
    pub fn resolve(&self, spec: &Model, default: Patience) -> Result<Patience, CliError> {
        let mut patience = default;
        for (name, ms) in &self.after {
            let gate = spec.sts.gates.iter_enumerated().find(|(_, gate)| *gate.name == **name);
            let names = spec.sts.gates.iter().map(|gate| &*gate.name);
            let (gate, _) = gate.ok_or_else(|| unknown_name("after", "message", name, names))?;
            patience = patience.with_time_after(gate, Duration::from_millis(*ms));
        }
        for (name, ms) in &self.within {
            let place = spec.sts.locations.iter_enumerated().find(|(_, place)| *place.name == **name);
            let names = spec.sts.locations.iter().map(|place| &*place.name);
            let (place, _) = place.ok_or_else(|| unknown_name("in", "state", name, names))?;
            patience = patience.with_time_at(place, Duration::from_millis(*ms));
        }
        Ok(patience)
    }
}

fn unknown_name<'a>(key: &str, what: &str, name: &str, names: impl Iterator<Item = &'a str>) -> CliError {
    let stop =
        CliError::usage(format!("`{}`: quiescence.{key}: the model has no {what} `{name}`", super::FILE));
    let names: Vec<&str> = names.collect();
    match nearest_name(name, names.iter().copied()) {
        Some(near) => stop.help(format!("did you mean `{near}`?")),
        None => stop.help(format!("there is {}", names.join(", "))),
    }
}
