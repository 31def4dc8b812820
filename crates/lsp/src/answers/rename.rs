//! Renaming of a definition at all its places.

use std::fmt;
use std::sync::Arc;

use ioxide_lang::lexeme::{LexemeKind, lexemes};

use super::definition::{FoundDefinition, PlaceIn, find_definition, find_references};
use crate::analysis::{TextAnalysis, TextLibrary};
use crate::index::{Bytes, DefinitionKind, ForeignPath};

/// The reason why a name cannot be changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoRename {
    /// There is no name at this place that could be changed.
    NothingHere,
    /// The new text is not a name of the language.
    NotAName(String),
    /// Another definition in the same scope has the name already.
    Taken(String, &'static str),
}

impl fmt::Display for NoRename {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NothingHere => f.write_str("nothing here can be renamed"),
            Self::NotAName(text) => {
                write!(f, "`{text}` is not a name: letters, digits and `_`, no word of the language")
            }
            Self::Taken(name, what) => write!(f, "there is a {what} `{name}` already"),
        }
    }
}

/// Returns the place of the name at `offset`; `None` if it cannot be changed.
#[must_use]
pub fn prepare_rename(
    analysis: &Arc<TextAnalysis>,
    offset: usize,
    library: &dyn TextLibrary,
) -> Option<Bytes> {
    let found = find_definition(analysis, offset, library)?;
    let (at, _) = analysis.index.name_at(offset)?;
    let kind = found.analysis.index.get(found.id).kind;
    // The name of a test is a string, and the path of a file is not a name.
    let is_path = analysis.text.as_str().get(at.start..at.end).is_some_and(|text| text.starts_with('"'));
    (kind != DefinitionKind::Test && !is_path).then_some(at)
}

/// Returns the places that change when the definition at `offset` is renamed to `name`.
///
/// # Errors
/// If there is nothing to rename, or `name` is not a name or taken.
pub fn rename(
    analysis: &Arc<TextAnalysis>,
    offset: usize,
    name: &str,
    library: &dyn TextLibrary,
    others: &[Arc<TextAnalysis>],
) -> Result<Vec<PlaceIn>, NoRename> {
    prepare_rename(analysis, offset, library).ok_or(NoRename::NothingHere)?;
    let found = find_definition(analysis, offset, library).ok_or(NoRename::NothingHere)?;
    if !is_name(name) {
        return Err(NoRename::NotAName(name.to_owned()));
    }
    reject_taken_name(&found, name)?;
    let mut places = find_references(analysis, offset, library, others);
    // Other files name the model by its file: their own name for it stays.
    if found.analysis.index.path_of(found.id) == Some(ForeignPath::Model) {
        places.retain(|place| place.path == found.analysis.path);
    }
    Ok(places)
}

fn is_name(text: &str) -> bool {
    let pieces = lexemes(text);
    matches!(pieces.as_slice(), [one] if one.kind == LexemeKind::Name && one.end as usize == text.len())
}

/// Fails if another definition of the same name space and owner is called `name`.
fn reject_taken_name(found: &FoundDefinition, name: &str) -> Result<(), NoRename> {
    let index = &found.analysis.index;
    let own = index.get(found.id);
    let clash = index.definitions().find(|(id, other)| {
        *id != found.id
            && other.name == name
            && other.kind.name_space() == own.kind.name_space()
            && other.owner == own.owner
            && own.kind != DefinitionKind::Bound
    });
    match clash {
        Some((_, other)) => Err(NoRename::Taken(name.to_owned(), other.kind.word())),
        None => Ok(()),
    }
}
