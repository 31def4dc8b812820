//! Another name for a thing, everywhere.

use std::fmt;
use std::sync::Arc;

use ioxide_lang::lexeme::{LexemeKind, lexemes};

use super::definition::{FoundDefinition, PlaceIn, find, references};
use crate::analysis::{TextAnalysis, TextLibrary};
use crate::index::{Bytes, DefinitionKind, ForeignPath};

/// Why a name cannot be given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoRename {
    /// Nothing at this place has a name.
    NothingHere,
    /// It is no name.
    NotAName(String),
    /// Something else of the kind is called so.
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

/// The name at `offset`, if it can be changed.
#[must_use]
pub fn prepare(analysis: &Arc<TextAnalysis>, offset: usize, library: &dyn TextLibrary) -> Option<Bytes> {
    let found = find(analysis, offset, library)?;
    let (at, _) = analysis.index.at(offset)?;
    let kind = found.analysis.index.get(found.id).kind;
    // The name of a test is a string, and the path of a file is no name.
    let is_path = analysis.text.as_str().get(at.start..at.end).is_some_and(|text| text.starts_with('"'));
    (kind != DefinitionKind::Test && !is_path).then_some(at)
}

/// The places that change when the thing at `offset` is called `name`.
///
/// # Errors
/// If it cannot be called so.
pub fn rename(
    analysis: &Arc<TextAnalysis>,
    offset: usize,
    name: &str,
    library: &dyn TextLibrary,
    others: &[Arc<TextAnalysis>],
) -> Result<Vec<PlaceIn>, NoRename> {
    prepare(analysis, offset, library).ok_or(NoRename::NothingHere)?;
    let found = find(analysis, offset, library).ok_or(NoRename::NothingHere)?;
    if !is_name(name) {
        return Err(NoRename::NotAName(name.to_owned()));
    }
    taken(&found, name)?;
    let mut places = references(analysis, offset, library, others);
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

/// Says so if something else of the same room is called `name`.
fn taken(found: &FoundDefinition, name: &str) -> Result<(), NoRename> {
    let index = &found.analysis.index;
    let own = index.get(found.id);
    let clash = index.all().find(|(id, other)| {
        *id != found.id
            && other.name == name
            && other.kind.room() == own.kind.room()
            && other.owner == own.owner
            && own.kind != DefinitionKind::Bound
    });
    match clash {
        Some((_, other)) => Err(NoRename::Taken(name.to_owned(), other.kind.word())),
        None => Ok(()),
    }
}
