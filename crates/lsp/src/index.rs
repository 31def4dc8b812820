//! The index of a text: definitions, and every place that refers to one.
//!
//! The index of a text with errors covers what its tree holds. Names that refer to another file are kept as a
//! [`ForeignName`]; resolving one needs the index of that file.

mod build;
pub mod expr;
mod kind;
mod system;

use ioxide_lang::ast::SyntaxFile;
use rustc_hash::FxHashMap;

pub use self::kind::DefinitionKind;

/// The number of a definition in its index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DefinitionId(pub usize);

/// A range of bytes of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Bytes {
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

impl Bytes {
    /// Returns whether a cursor at `offset` touches the range, its end included.
    #[must_use]
    pub fn touches(self, offset: usize) -> bool {
        self.start <= offset && offset <= self.end
    }
}

impl From<ioxide_model::source::Span> for Bytes {
    fn from(span: ioxide_model::source::Span) -> Self {
        Self { start: span.start as usize, end: span.end as usize }
    }
}

/// The type of a value, as far as the text determines it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ValueType {
    /// `bool`.
    Bool,
    /// `int`, or a range.
    Int,
    /// `real`.
    Real,
    /// `string`.
    Text,
    /// A declared type.
    Named(String),
    /// `T?`.
    Option(Box<Self>),
    /// `list<T>`.
    List(Box<Self>),
    /// `set<T>`.
    Set(Box<Self>),
    /// `map<K, V>`.
    Map(Box<Self>, Box<Self>),
}

/// A definition of a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Definition {
    /// The name.
    pub name: String,
    /// The kind of the definition.
    pub kind: DefinitionKind,
    /// The place of the name.
    pub at: Bytes,
    /// The place of the whole declaration.
    pub whole: Bytes,
    /// The definition that contains it, such as the model of a state or the message of a field.
    pub owner: Option<DefinitionId>,
    /// Its declaration in one line.
    pub detail: String,
    /// Its doc comment.
    pub docs: String,
    /// The type of its value; `None` if it has none, or it is not known.
    pub ty: Option<ValueType>,
    /// Its fields, parameters or variants.
    pub parts: Vec<DefinitionId>,
}

/// A name that is defined in another file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForeignName {
    /// The file, as the system names it, seen from the folder of the text.
    pub file: String,
    /// The definition in that file.
    pub path: ForeignPath,
}

/// A reference to a definition in another file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ForeignPath {
    /// The model itself.
    Model,
    /// A message.
    Message(String),
    /// A field of a message.
    Field(String, String),
    /// A constant.
    Constant(String),
}

/// The definition that a name refers to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NameMeaning {
    /// A definition of this text.
    Here(DefinitionId),
    /// A definition of another file.
    There(ForeignName),
}

/// A place that refers to a definition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Occurrence {
    /// The place.
    pub at: Bytes,
    /// The definition it refers to.
    pub meaning: NameMeaning,
    /// True if the value is assigned here.
    pub writes: bool,
}

/// A transition in the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SwitchPlace {
    /// The labels of its switches; copies made by `any` have one each.
    pub labels: Vec<String>,
    /// The whole transition, doc comment included.
    pub whole: Bytes,
    /// The label, or the verb if it has none.
    pub heading: Bytes,
    /// The verb.
    pub verb: Bytes,
    /// The condition as it is written: pins and guard; empty if there is none.
    pub condition: String,
}

/// The index of a text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourceIndex {
    /// The definitions, in the order of the text.
    pub definitions: Vec<Definition>,
    /// The places that refer to a definition, in the order of the text; the definitions themselves are not among them.
    pub occurrences: Vec<Occurrence>,
    /// The transitions of models.
    pub switches: Vec<SwitchPlace>,
    /// The files that are used, by the name of the model in this text.
    pub files: FxHashMap<String, String>,
    /// The purposes and tests that a tester can be asked to run.
    pub goals: Vec<GoalPlace>,
}

/// A purpose or a test that can be run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GoalPlace {
    /// Its name.
    pub name: String,
    /// True for a test written by hand, false for a purpose.
    pub is_test: bool,
    /// The place of its name.
    pub at: Bytes,
}

impl SourceIndex {
    /// The index of `tree`, which was read from `text`.
    #[must_use]
    pub fn new(text: &str, tree: &SyntaxFile) -> Self {
        build::build_index(text, tree)
    }

    /// Returns a definition.
    #[must_use]
    pub fn get(&self, id: DefinitionId) -> &Definition {
        &self.definitions[id.0]
    }

    /// Returns every definition with its number.
    pub fn definitions(&self) -> impl Iterator<Item = (DefinitionId, &Definition)> {
        self.definitions.iter().enumerate().map(|(at, definition)| (DefinitionId(at), definition))
    }

    /// Returns the place and the meaning of the name at `offset`.
    #[must_use]
    pub fn name_at(&self, offset: usize) -> Option<(Bytes, NameMeaning)> {
        let found = self.occurrences.iter().find(|occurrence| occurrence.at.touches(offset));
        if let Some(occurrence) = found {
            return Some((occurrence.at, occurrence.meaning.clone()));
        }
        let own = self.definitions().find(|(_, definition)| definition.is_named_at(offset));
        own.map(|(id, definition)| (definition.at, NameMeaning::Here(id)))
    }

    /// Returns the places that refer to `id`, its own included, in the order of the text.
    pub fn places_of(&self, id: DefinitionId) -> Vec<Bytes> {
        let named = self.occurrences.iter().filter(|occurrence| occurrence.meaning == NameMeaning::Here(id));
        let mut places: Vec<Bytes> = named.map(|occurrence| occurrence.at).chain([self.get(id).at]).collect();
        places.sort();
        places.dedup();
        places
    }

    /// Returns the definitions of some kinds that are called `name`.
    pub fn definitions_named<'a>(
        &'a self,
        name: &'a str,
        kinds: &'a [DefinitionKind],
    ) -> impl Iterator<Item = (DefinitionId, &'a Definition)> {
        self.definitions().filter(move |(_, found)| found.name == name && kinds.contains(&found.kind))
    }

    /// Returns the definition that `path` refers to in this text.
    #[must_use]
    pub fn follow_path(&self, path: &ForeignPath) -> Option<DefinitionId> {
        use DefinitionKind::{Constant, Field, Input, Model, Observed, Output, System};
        let messages = [Input, Observed, Output];
        match path {
            ForeignPath::Model => {
                self.definitions().find(|(_, found)| matches!(found.kind, Model | System)).map(|(id, _)| id)
            }
            ForeignPath::Message(name) => self.definitions_named(name, &messages).next().map(|(id, _)| id),
            ForeignPath::Constant(name) => self.definitions_named(name, &[Constant]).next().map(|(id, _)| id),
            ForeignPath::Field(message, field) => {
                let (id, _) = self.definitions_named(message, &messages).next()?;
                let of = self.definitions_named(field, &[Field]).find(|(_, found)| found.owner == Some(id));
                of.map(|(id, _)| id)
            }
        }
    }

    /// Returns the path by which another file refers to `id`; `None` if it cannot.
    #[must_use]
    pub fn path_of(&self, id: DefinitionId) -> Option<ForeignPath> {
        use DefinitionKind::{Constant, Field, Input, Model, Observed, Output, System};
        let definition = self.get(id);
        match definition.kind {
            Model | System => Some(ForeignPath::Model),
            Input | Observed | Output => Some(ForeignPath::Message(definition.name.clone())),
            Constant => Some(ForeignPath::Constant(definition.name.clone())),
            Field => {
                let owner = self.get(definition.owner?);
                matches!(owner.kind, Input | Observed | Output)
                    .then(|| ForeignPath::Field(owner.name.clone(), definition.name.clone()))
            }
            _ => None,
        }
    }

    /// Returns the type behind type names; cyclic names are not followed to an end.
    #[must_use]
    pub fn resolve_type(&self, ty: &ValueType) -> ValueType {
        let mut ty = ty.clone();
        // A circle of names is an error that somebody else reports.
        for _ in 0..32 {
            let ValueType::Named(name) = &ty else { return ty };
            let Some((_, named)) = self.definitions_named(name, &[DefinitionKind::TypeName]).next() else {
                return ty;
            };
            let Some(behind) = named.ty.clone() else { return ty };
            ty = behind;
        }
        ty
    }

    /// Returns the fields of a record type; empty for other types.
    #[must_use]
    pub fn fields_of(&self, ty: &ValueType) -> Vec<DefinitionId> {
        let ValueType::Named(name) = self.resolve_type(ty) else { return Vec::new() };
        let record = self.definitions_named(&name, &[DefinitionKind::Record]).next();
        record.map(|(_, record)| record.parts.clone()).unwrap_or_default()
    }
}

impl Definition {
    /// Returns whether its name is written at `offset`.
    #[must_use]
    pub fn is_named_at(&self, offset: usize) -> bool {
        self.at.end > self.at.start && self.at.touches(offset)
    }
}
