//! Where a name is defined, and where it is used, across files.

use std::sync::Arc;

use crate::analysis::{TextAnalysis, TextLibrary, beside, normal};
use crate::index::{Bytes, DefinitionId, NameMeaning};

/// A definition in one of several texts.
#[derive(Clone, Debug)]
pub struct FoundDefinition {
    /// The text.
    pub analysis: Arc<TextAnalysis>,
    /// Its definition.
    pub id: DefinitionId,
}

/// A place in one of several texts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlaceIn {
    /// The file.
    pub path: String,
    /// The place.
    pub at: Bytes,
}

/// What the name at `offset` means.
#[must_use]
pub fn find(
    analysis: &Arc<TextAnalysis>,
    offset: usize,
    library: &dyn TextLibrary,
) -> Option<FoundDefinition> {
    let (_, meaning) = analysis.index.at(offset)?;
    resolve(analysis, &meaning, library)
}

/// Follows a meaning to its definition.
#[must_use]
pub fn resolve(
    analysis: &Arc<TextAnalysis>,
    meaning: &NameMeaning,
    library: &dyn TextLibrary,
) -> Option<FoundDefinition> {
    match meaning {
        NameMeaning::Here(id) => Some(FoundDefinition { analysis: Arc::clone(analysis), id: *id }),
        NameMeaning::There(name) => {
            let other = library.analysis(&beside(&analysis.path, &name.file))?;
            let id = other.index.follow(&name.path)?;
            Some(FoundDefinition { analysis: other, id })
        }
    }
}

/// The place of the definition of the name at `offset`.
#[must_use]
pub fn definition(analysis: &Arc<TextAnalysis>, offset: usize, library: &dyn TextLibrary) -> Option<PlaceIn> {
    let mut found = find(analysis, offset, library)?;
    // The name of a used model leads on to the model.
    let definition = found.analysis.index.get(found.id);
    if let Some(file) = found.analysis.index.files.get(&definition.name)
        && definition.kind == crate::index::DefinitionKind::UsedModel
        && let Some(other) = library.analysis(&beside(&found.analysis.path, file))
        && let Some(id) = other.index.follow(&crate::index::ForeignPath::Model)
    {
        found = FoundDefinition { analysis: other, id };
    }
    Some(PlaceIn { path: found.analysis.path.clone(), at: found.analysis.index.get(found.id).at })
}

/// Every place that names what the name at `offset` means, in its own text and in `others`; its definition first.
#[must_use]
pub fn references(
    analysis: &Arc<TextAnalysis>,
    offset: usize,
    library: &dyn TextLibrary,
    others: &[Arc<TextAnalysis>],
) -> Vec<PlaceIn> {
    let Some(found) = find(analysis, offset, library) else { return Vec::new() };
    let own = found.analysis.index.get(found.id).at;
    let here = found.analysis.index.places_of(found.id).into_iter();
    let mut places: Vec<PlaceIn> = here.map(|at| PlaceIn { path: found.analysis.path.clone(), at }).collect();
    places.sort_by_key(|place| (place.at != own, place.at));
    if let Some(path) = found.analysis.index.path_of(found.id) {
        for other in others.iter().filter(|other| other.path != found.analysis.path) {
            let named = other.index.occurrences.iter().filter(|occurrence| match &occurrence.meaning {
                NameMeaning::There(name) => {
                    name.path == path
                        && normal(&beside(&other.path, &name.file)) == normal(&found.analysis.path)
                }
                NameMeaning::Here(_) => false,
            });
            places.extend(named.map(|occurrence| PlaceIn { path: other.path.clone(), at: occurrence.at }));
        }
    }
    places
}
