//! Models that are simulated as systems: by the name of a file, with constants and a mutant of it.
//!
//! `FILE`, `FILE?NAME=VALUE&NAME=VALUE`, `FILE#ID`, `FILE?NAME=VALUE#ID`. Constants that were set for the specification
//! hold for the same file too, unless the name says otherwise: a model conforms to itself whatever is set for it.

use std::fs;
use std::path::Path;

use ioxide_model::sts::Model;
use ioxide_testgen::mutate::find_mutant;

use crate::args::THROUGH;
use crate::exit::CliError;
use crate::load;

/// The specification that a system is tested against.
#[derive(Clone, Copy, Debug, Default)]
pub struct SpecSource<'a> {
    /// Its file.
    pub file: &'a str,
    /// Its constants, as `NAME=VALUE`.
    pub set: &'a [String],
}

/// The parts of the name of a played model.
#[derive(Debug, PartialEq, Eq)]
pub struct PlayedName<'n> {
    /// The file.
    pub file: &'n str,
    /// Constants, as `NAME=VALUE`.
    set: Vec<&'n str>,
    /// The mutant.
    mutant: Option<&'n str>,
}

impl<'n> PlayedName<'n> {
    /// Reads `FILE?NAME=VALUE&...#ID`. A file may have `?` and `#` in its name, so the longest one that is there
    /// counts.
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

    /// Returns the constants that hold: those of the specification if it is the same file, then those of the name.
    pub fn constants(&self, spec: SpecSource<'_>) -> Result<Vec<String>, CliError> {
        if let Some(wrong) = self.set.iter().find(|text| !text.contains('=')) {
            return Err(CliError::usage(format!("--sut: `{wrong}` is not NAME=VALUE"))
                .help(format!("write `model:{}?NAME=VALUE`, several with `&` between them", self.file)));
        }
        let of_spec = if is_same(self.file, spec.file) { spec.set } else { &[] };
        let of_spec = of_spec.iter().filter(|text| !text.starts_with(THROUGH)).cloned();
        Ok(of_spec.chain(self.set.iter().map(|text| (*text).to_owned())).collect())
    }
}

/// Returns whether both paths lead to one file.
fn is_same(one: &str, other: &str) -> bool {
    one == other
        || matches!((fs::canonicalize(one), fs::canonicalize(other)), (Ok(one), Ok(other)) if one == other)
}

/// Returns the model that `name` names, for a test against `spec`.
pub fn load_played(name: &str, spec: SpecSource<'_>) -> Result<Model, CliError> {
    let named = PlayedName::parse(name);
    let set = named.constants(spec)?;
    let (_, mut model) = load::load_model(named.file, &set)?;
    let Some(id) = named.mutant else { return Ok(model) };
    let mutant = find_mutant(&mut model, id).ok_or_else(|| {
        CliError::usage(format!("`{}` has no mutant `{id}`", named.file))
            .help("`ioxide mutate FILE --ops all` lists them")
    })?;
    Ok(Model { sts: mutant.apply(&model.sts), pool: model.pool })
}

#[cfg(test)]
mod tests {
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
