//! Models that are simulated as systems: by the name of a file, with constants and a mutant of it.
//!
//! Constants that were set for the specification hold for the same file too, unless the name says otherwise: a model
//! conforms to itself whatever is set for it.

use std::fs;

use ioxide_args::THROUGH;
use ioxide_model::sts::Model;
use ioxide_project::{PlayedName, SpecSource};
use ioxide_testgen::mutate::find_mutant;

use crate::exit::CliError;
use crate::load;

/// Returns the constants that hold: those of the specification if it is the same file, then those of the name.
pub fn played_constants(name: &PlayedName<'_>, spec: SpecSource<'_>) -> Result<Vec<String>, CliError> {
    if let Some(wrong) = name.set.iter().find(|text| !text.contains('=')) {
        return Err(CliError::usage(format!("--sut: `{wrong}` is not NAME=VALUE"))
            .help(format!("write `model:{}?NAME=VALUE`, several with `&` between them", name.file)));
    }
    let of_spec = if is_same(name.file, spec.file) { spec.set } else { &[] };
    let of_spec = of_spec.iter().filter(|text| !text.starts_with(THROUGH)).cloned();
    Ok(of_spec.chain(name.set.iter().map(|text| (*text).to_owned())).collect())
}

/// Returns whether both paths lead to one file.
fn is_same(one: &str, other: &str) -> bool {
    one == other
        || matches!((fs::canonicalize(one), fs::canonicalize(other)), (Ok(one), Ok(other)) if one == other)
}

/// Returns the model that `name` names, for a test against `spec`.
pub fn load_played(name: &str, spec: SpecSource<'_>) -> Result<Model, CliError> {
    let named = PlayedName::parse(name);
    let set = played_constants(&named, spec)?;
    let (_, mut model) = load::load_model(named.file, &set)?;
    let Some(id) = named.mutant else { return Ok(model) };
    let mutant = find_mutant(&mut model, id).ok_or_else(|| {
        CliError::usage(format!("`{}` has no mutant `{id}`", named.file))
            .help("`ioxide mutate FILE --ops all` lists them")
    })?;
    Ok(Model { sts: mutant.apply(&model.sts), pool: model.pool })
}
