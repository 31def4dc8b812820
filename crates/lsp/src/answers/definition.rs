//! Definitions and references of a name, across files.

use std::sync::Arc;

use crate::analysis::{TextAnalysis, TextLibrary, normalise_path, resolve_path};
use crate::index::{Bytes, DefinitionId, NameMeaning};

/// A definition in one of several texts.
#[derive(Clone, Debug)]
pub struct FoundDefinition {
    /// The text that contains the definition.
    pub analysis: Arc<TextAnalysis>,
    /// The definition in its index.
    pub id: DefinitionId,
}

/// A place in one of several texts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlaceIn {
    /// The path of the file.
    pub path: String,
    /// The place.
    pub at: Bytes,
}

/// Returns the definition of the name at `offset`; `None` if there is no name, or its file cannot be read.
#[must_use]
pub fn find_definition(
    analysis: &Arc<TextAnalysis>,
    offset: usize,
    library: &dyn TextLibrary,
) -> Option<FoundDefinition> {
    let (_, meaning) = analysis.index.name_at(offset)?;
    resolve_meaning(analysis, &meaning, library)
}

/// Returns the definition that a meaning refers to.
#[must_use]
pub fn resolve_meaning(
    analysis: &Arc<TextAnalysis>,
    meaning: &NameMeaning,
    library: &dyn TextLibrary,
) -> Option<FoundDefinition> {
    match meaning {
        NameMeaning::Here(id) => Some(FoundDefinition { analysis: Arc::clone(analysis), id: *id }),
        NameMeaning::There(name) => {
            let other = library.analysis(&resolve_path(&analysis.path, &name.file))?;
            let id = other.index.follow_path(&name.path)?;
            Some(FoundDefinition { analysis: other, id })
        }
    }
}

/// Returns the place of the definition of the name at `offset`; for a used model, its place in the other file.
#[must_use]
pub fn definition_place(
    analysis: &Arc<TextAnalysis>,
    offset: usize,
    library: &dyn TextLibrary,
) -> Option<PlaceIn> {
    let mut found = find_definition(analysis, offset, library)?;
    // The name of a used model leads on to the model.
    let definition = found.analysis.index.get(found.id);
    if let Some(file) = found.analysis.index.files.get(&definition.name)
        && definition.kind == crate::index::DefinitionKind::UsedModel
        && let Some(other) = library.analysis(&resolve_path(&found.analysis.path, file))
        && let Some(id) = other.index.follow_path(&crate::index::ForeignPath::Model)
    {
        found = FoundDefinition { analysis: other, id };
    }
    Some(PlaceIn { path: found.analysis.path.clone(), at: found.analysis.index.get(found.id).at })
}

/// Returns every place that refers to the definition of the name at `offset`, in its own text and in `others`; the
/// definition first.
#[must_use]
pub fn find_references(
    analysis: &Arc<TextAnalysis>,
    offset: usize,
    library: &dyn TextLibrary,
    others: &[Arc<TextAnalysis>],
) -> Vec<PlaceIn> {
    let Some(found) = find_definition(analysis, offset, library) else { return Vec::new() };
    let own = found.analysis.index.get(found.id).at;
    let here = found.analysis.index.places_of(found.id).into_iter();
    let mut places: Vec<PlaceIn> = here.map(|at| PlaceIn { path: found.analysis.path.clone(), at }).collect();
    places.sort_by_key(|place| (place.at != own, place.at));
    if let Some(path) = found.analysis.index.path_of(found.id) {
        for other in others.iter().filter(|other| other.path != found.analysis.path) {
            let named = other.index.occurrences.iter().filter(|occurrence| match &occurrence.meaning {
                NameMeaning::There(name) => {
                    name.path == path
                        && normalise_path(&resolve_path(&other.path, &name.file))
                            == normalise_path(&found.analysis.path)
                }
                NameMeaning::Here(_) => false,
            });
            places.extend(named.map(|occurrence| PlaceIn { path: other.path.clone(), at: occurrence.at }));
        }
    }
    places
}
