//! Gathering of parts: every unit counts once, and whatever does not fit is named.
//!
//! *Promises.* Parts of another plan are refused, and so are two different results of one unit: nothing decides which
//! is right. Units that are missing or were cut off are listed; the results that exist are used.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};

use serde_json::Value as Json;
use thiserror::Error;

use crate::part::{Manifest, PartError, UNITS};
use crate::scan::{ScannedPart, UnitSpan, UnitText, parts_in, scan, unit_text};
use crate::units::UnitSet;

/// Files that are open at once. Well below the 256 files that some systems allow a process by default.
const MAX_OPEN: usize = 64;

/// Members that hold times or numbers of events: they differ wherever a unit runs.
const TIMES: [&str; 7] =
    ["time_ns", "latencies", "seq", "raised_patience_ms", "machine_lag", "time_spent", "reset_price"];

/// Events of replays and of shrinking, which depend on the units that the same part did before; the parts together
/// have at least those of a single run.
const LOOKED_INTO: [&str; 2] = ["replayed", "shrunk"];

/// The reason why parts do not make a campaign.
#[derive(Debug, Error)]
pub enum GatherError {
    /// A part cannot be read.
    #[error(transparent)]
    Part(#[from] PartError),
    /// A directory has no parts.
    #[error("`{}` has no part of a campaign", .0.display())]
    Nothing(PathBuf),
    /// A part is of another plan, or its round began with other feedback.
    #[error("`{}` does not belong with `{}`: {differs}", dir.display(), first.display())]
    Foreign {
        /// The part.
        dir: PathBuf,
        /// The first part, or the first of the same round.
        first: PathBuf,
        /// The difference.
        differs: String,
    },
    /// Two parts have different results of one unit.
    #[error("`{}` and `{}` have different results of unit {unit}", one.display(), other.display())]
    Conflict {
        /// The unit, from 1.
        unit: u64,
        /// One part.
        one: PathBuf,
        /// The other part.
        other: PathBuf,
    },
}

/// All parts of a campaign.
pub struct GatheredParts {
    /// The manifest of the first part, whose plan all parts share.
    pub manifest: Manifest,
    /// The parts, in the order they were named.
    pub parts: Vec<ScannedPart>,
    /// Units that are in no part.
    pub missing: UnitSet,
    /// Units that are in no part and need not be done.
    pub settled: UnitSet,
    /// Units that are in more than one part, with the same result.
    pub twice: UnitSet,
    /// For each unit the position of its part, and of its span in the part.
    places: BTreeMap<u64, (u32, u32)>,
    open: Vec<(usize, File)>,
}

impl GatheredParts {
    /// Reads the parts in `dirs`.
    ///
    /// # Errors
    /// If there are none, or they do not belong together.
    pub fn new(dirs: &[PathBuf]) -> Result<Self, GatherError> {
        let mut folders: Vec<PathBuf> = Vec::new();
        for dir in dirs {
            let found = parts_in(dir)?;
            if found.is_empty() {
                return Err(GatherError::Nothing(dir.clone()));
            }
            folders.extend(found.into_iter().filter(|folder| !folders.contains(folder)).collect::<Vec<_>>());
        }
        let parts = folders.iter().map(|folder| scan(folder)).collect::<Result<Vec<_>, _>>()?;
        let Some(first) = parts.first() else {
            return Err(GatherError::Nothing(dirs.first().cloned().unwrap_or_default()));
        };
        let manifest = first.manifest.clone();
        for part in &parts {
            if let Some(differs) = part.manifest.differs(&manifest) {
                let (dir, first) = (part.dir.clone(), first.dir.clone());
                return Err(GatherError::Foreign { dir, first, differs });
            }
        }
        for part in &parts {
            // Units of a round depend on its feedback, so all parts of a round must have begun with the same one.
            let alike = |other: &&ScannedPart| other.manifest.round == part.manifest.round;
            let Some(first) = parts.iter().find(alike) else { continue };
            if first.manifest.feedback != part.manifest.feedback {
                let (dir, first) = (part.dir.clone(), first.dir.clone());
                let round = part.manifest.round.unwrap_or(1);
                let differs = format!("its round {round} began with other feedback");
                return Err(GatherError::Foreign { dir, first, differs });
            }
        }
        let mut gathered = Self {
            missing: UnitSet::range(0, manifest.count),
            manifest,
            parts,
            settled: UnitSet::new(),
            twice: UnitSet::new(),
            places: BTreeMap::new(),
            open: Vec::new(),
        };
        gathered.place_units()?;
        Ok(gathered)
    }

    /// Finds the place of every unit.
    fn place_units(&mut self) -> Result<(), GatherError> {
        let spans: Vec<(usize, usize, UnitSpan)> = self
            .parts
            .iter()
            .enumerate()
            .flat_map(|(at, part)| part.spans.iter().enumerate().map(move |(nth, &span)| (at, nth, span)))
            .collect();
        for (part, nth, span) in spans {
            let here = (part as u32, nth as u32);
            if span.unit >= self.manifest.count {
                let path = self.parts[part].dir.join(UNITS);
                let why = format!("the plan has no unit {}", span.unit + 1);
                return Err(PartError::Damaged { path, line: 0, why }.into());
            }
            let Some(&before) = self.places.get(&span.unit) else {
                self.places.insert(span.unit, here);
                self.missing.remove(span.unit);
                continue;
            };
            self.twice.insert(span.unit);
            // A unit depends on nothing but its plan: two results that differ in more than times mean that the system
            // or the machine did.
            if essence(&self.unit_text(before)?) != essence(&self.unit_text(here)?) {
                let dir = |(part, _): (u32, u32)| self.parts[part as usize].dir.clone();
                return Err(GatherError::Conflict {
                    unit: span.unit + 1,
                    one: dir(before),
                    other: dir(here),
                });
            }
        }
        Ok(())
    }

    /// Returns the lines and the result of `unit`; `None` if it is missing.
    ///
    /// # Errors
    /// If its part has changed since.
    pub fn unit(&mut self, unit: u64) -> Result<Option<UnitText>, PartError> {
        self.places.get(&unit).copied().map(|place| self.unit_text(place)).transpose()
    }

    /// Marks these units as settled: they need not be done. Those that are in a part stay there.
    pub fn mark_settled(&mut self, units: &UnitSet) {
        let mut missing = self.missing.clone();
        missing.intersect(units);
        self.missing.subtract(&missing);
        self.settled.extend(&missing);
    }

    /// The last round of which there is a part, from 1.
    #[must_use]
    pub fn last_round(&self) -> u64 {
        self.parts.iter().filter_map(|part| part.manifest.round).max().unwrap_or(1)
    }

    /// Returns the number of different units in all parts.
    #[must_use]
    pub fn n_done(&self) -> u64 {
        self.places.len() as u64
    }

    /// Units that were under way when their part broke off, and that no other part has.
    pub fn torn(&self) -> impl Iterator<Item = (&Path, u64)> {
        let torn = self.parts.iter().filter_map(|part| Some((part.dir.as_path(), part.under_way?)));
        torn.filter(|(_, unit)| self.missing.contains(*unit))
    }

    /// Units that could not be done and that no other part has, and why.
    pub fn missing_units(&self) -> impl Iterator<Item = (u64, &str)> {
        let left = self.parts.iter().flat_map(|part| &part.left);
        left.filter(|(unit, _)| self.missing.contains(*unit)).map(|(unit, why)| (*unit, why.as_str()))
    }

    fn unit_text(&mut self, (part, nth): (u32, u32)) -> Result<UnitText, PartError> {
        let scanned = &self.parts[part as usize];
        let (dir, span) = (scanned.dir.clone(), scanned.spans[nth as usize]);
        let at = match self.open.iter().position(|(open, _)| *open == part as usize) {
            Some(at) => at,
            None => {
                if self.open.len() >= MAX_OPEN {
                    // The one opened first: units are read in the order of the plan, so parts take turns.
                    self.open.remove(0);
                }
                let path = dir.join(UNITS);
                self.open.push((part as usize, File::open(&path).map_err(PartError::at_path(&path))?));
                self.open.len() - 1
            }
        };
        unit_text(&mut self.open[at].1, &dir, span)
    }
}

/// Returns the lines and the result of a unit without times, and without the events of [`LOOKED_INTO`].
fn essence(text: &UnitText) -> (Vec<Json>, Json) {
    let line = |line: &String| {
        let mut told = serde_json::from_str(line).unwrap_or_else(|_| Json::from(line.as_str()));
        forget_times(&mut told);
        told
    };
    let is_besides = |told: &Json| LOOKED_INTO.iter().any(|&kind| told["event"].get(kind).is_some());
    let mut result = text.result.clone();
    forget_times(&mut result);
    (text.lines.iter().map(line).filter(|told| !is_besides(told)).collect(), result)
}

fn forget_times(told: &mut Json) {
    match told {
        Json::Object(members) => {
            members.retain(|name, _| !TIMES.contains(&name.as_str()));
            members.values_mut().for_each(forget_times);
        }
        Json::Array(items) => items.iter_mut().for_each(forget_times),
        _ => (),
    }
}
