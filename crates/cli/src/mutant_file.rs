//! Models by the name of a file, and mutants by that of a file and an id: `FILE#ID`.

use std::path::Path;

use ioxide_model::sts::Model;
use ioxide_testgen::mutate::{Edit, Mutant, MutantSelection, MutationOperator, select};

use crate::exit::EarlyStop;
use crate::load;

/// The model `FILE`, or the mutant of it that `FILE#ID` names.
pub fn played(path: &str) -> Result<Model, EarlyStop> {
    let Some((file, id)) = file_and_id(path).filter(|_| !Path::new(path).exists()) else {
        return Ok(load::model(path, &[])?.1);
    };
    let (_, mut model) = load::model(file, &[])?;
    let edits: Option<Vec<Edit>> = id.split('+').map(|id| edit_named(&mut model, id)).collect();
    let edits = edits.ok_or_else(|| {
        EarlyStop::usage(format!("`{file}` has no mutant `{id}`"))
            .help("`ioxide mutate FILE --ops all` lists them")
    })?;
    let mutant = Mutant { id: id.to_owned(), edits };
    Ok(Model { sts: mutant.apply(&model.sts), pool: model.pool })
}

/// `FILE` and `ID` of `FILE#ID`: both may have a `#` in them, so the file is the one that is there.
fn file_and_id(path: &str) -> Option<(&str, &str)> {
    let mut splits = path.match_indices('#').map(|(at, _)| (&path[..at], &path[at + 1..]));
    splits.clone().find(|(file, _)| Path::new(file).is_file()).or_else(|| splits.next_back())
}

/// The change that `id` names, whatever other operators there are.
fn edit_named(model: &mut Model, id: &str) -> Option<Edit> {
    let place = |operator: MutationOperator| {
        let (rest, number) = id.rsplit_once('-')?;
        number.parse::<usize>().ok()?;
        Some((operator, rest.strip_suffix(&format!("-{}", operator.name()))?))
    };
    MutationOperator::ALL.into_iter().filter_map(place).find_map(|(operator, place)| {
        let (operators, places) = (vec![operator], vec![place.to_owned()]);
        let all = select(model, &MutantSelection { operators, places, ..MutantSelection::default() }).ok()?;
        all.into_iter().find(|mutant| mutant.id == id)?.edits.into_iter().next()
    })
}
