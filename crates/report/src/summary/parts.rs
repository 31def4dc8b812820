//! Coverage by part: the switches taken in each part of a composed system.

use serde::Serialize;

use std::collections::BTreeSet;

use super::Summary;

/// The instances of one part, such as an array of parts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct PartFamily {
    /// The name of the part.
    pub name: String,
    /// The number of instances.
    pub instances: usize,
    /// The number of observable switches that the instances have altogether, by label within the part.
    pub total: usize,
    /// The number of these certainly taken in some instance.
    pub some: usize,
    /// The number of these certainly taken in every instance.
    pub each: usize,
}

impl Summary {
    /// The parts of the system, in order; none if it is not made of parts.
    #[must_use]
    pub fn part_families(&self) -> Vec<PartFamily> {
        let Some(started) = &self.started else { return Vec::new() };
        let mut names: Vec<&str> = Vec::new();
        for part in &started.parts {
            if !names.contains(&part.family.as_str()) {
                names.push(&part.family);
            }
        }
        names.into_iter().map(|name| self.part_family(name)).collect()
    }

    fn part_family(&self, name: &str) -> PartFamily {
        let parts =
            || self.started.iter().flat_map(|started| &started.parts).filter(|part| part.family == name);
        let all: BTreeSet<&String> = parts().flat_map(|part| part.switches.keys()).collect();
        let is_taken = |labels: Option<&Vec<String>>| {
            labels.is_some_and(|labels| labels.iter().any(|label| self.certain.contains(label)))
        };
        let some = |own: &&&String| parts().any(|part| is_taken(part.switches.get(**own)));
        let each = |own: &&&String| parts().all(|part| is_taken(part.switches.get(**own)));
        PartFamily {
            name: name.to_owned(),
            instances: parts().count(),
            total: all.len(),
            some: all.iter().filter(some).count(),
            each: all.iter().filter(each).count(),
        }
    }
}
