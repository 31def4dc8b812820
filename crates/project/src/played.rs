//! The names of models that are simulated as systems: a file, with constants and a mutant of it.
//!
//! `FILE`, `FILE?NAME=VALUE&NAME=VALUE`, `FILE#ID`, `FILE?NAME=VALUE#ID`.

use std::path::Path;

/// The parts of the name of a played model.
#[derive(Debug, PartialEq, Eq)]
pub struct PlayedName<'n> {
    /// The file.
    pub file: &'n str,
    /// Constants, as `NAME=VALUE`.
    pub set: Vec<&'n str>,
    /// The mutant.
    pub mutant: Option<&'n str>,
}

/// The specification that a system is tested against.
#[derive(Clone, Copy, Debug, Default)]
pub struct SpecSource<'a> {
    /// Its file.
    pub file: &'a str,
    /// Its constants, as `NAME=VALUE`.
    pub set: &'a [String],
}

impl<'n> PlayedName<'n> {
    /// Reads `FILE?NAME=VALUE&...#ID`. A file may have `?` and `#` in its name, so the longest one that is there
    /// counts.
    #[must_use]
    pub fn parse(name: &'n str) -> Self {
        let splits = name.match_indices(['?', '#']).map(|(at, _)| at).chain([name.len()]);
        let is_file = |&at: &usize| Path::new(&name[..at]).is_file();
        let first = || name.find(['?', '#']).unwrap_or(name.len());
        let end = splits.filter(is_file).max().unwrap_or_else(first);
        let (file, rest) = name.split_at(end);
        let (query, mutant) = match rest.strip_prefix('?') {
            Some(rest) => {
                rest.split_once('#').map_or((Some(rest), None), |(query, id)| (Some(query), Some(id)))
            }
            None => match rest.strip_prefix('#').map(|rest| rest.split_once('?').ok_or(rest)) {
                None => (None, None),
                Some(Ok((id, query))) => (Some(query), Some(id)),
                Some(Err(id)) => (None, Some(id)),
            },
        };
        let set = query.into_iter().flat_map(|query| query.split('&')).collect();
        Self { file, set, mutant }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn constants_and_mutants_are_told_from_the_name_of_the_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let odd = folder.path().join("a?b#c.iox").display().to_string();
        fs::write(&odd, "").expect("written");
        for (more, set, mutant) in [
            ("", &[][..], None),
            ("?N=4", &["N=4"], None),
            ("?N=4&M=2", &["N=4", "M=2"], None),
            ("#t-negate-1", &[], Some("t-negate-1")),
            ("?N=4#t-negate-1", &["N=4"], Some("t-negate-1")),
            ("#t-negate-1?N=4", &["N=4"], Some("t-negate-1")),
        ] {
            for file in ["m.iox", &odd] {
                let name = format!("{file}{more}");
                assert_eq!(
                    PlayedName::parse(&name),
                    PlayedName { file, set: set.to_vec(), mutant },
                    "{name}"
                );
            }
        }
    }
}
