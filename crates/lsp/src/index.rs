//! What the names of a text mean: definitions, and every place that names one.
//!
//! The index of a text with errors holds what its tree holds. Names that lead into another file keep the way there
//! as a [`ForeignName`]; following it needs the index of that file.

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

/// Bytes of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Bytes {
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

impl Bytes {
    /// Whether a cursor at `offset` touches it.
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

/// The type of a value, as far as the text tells.
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

/// Something that has a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Definition {
    /// What it is called.
    pub name: String,
    /// What it is.
    pub kind: DefinitionKind,
    /// The place of its name.
    pub at: Bytes,
    /// The place of all of it.
    pub whole: Bytes,
    /// What it is a part of.
    pub owner: Option<DefinitionId>,
    /// Its declaration in one line.
    pub detail: String,
    /// Its doc comment.
    pub docs: String,
    /// The type of its value.
    pub ty: Option<ValueType>,
    /// Its fields, parameters or cases.
    pub parts: Vec<DefinitionId>,
}

/// A name that is defined in another file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForeignName {
    /// The file, as the system names it, seen from the folder of the text.
    pub file: String,
    /// What is named there.
    pub path: ForeignPath,
}

/// What is named in another file.
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

/// Where a name leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NameMeaning {
    /// To a definition of this text.
    Here(DefinitionId),
    /// To one of another file.
    There(ForeignName),
}

/// A place that names something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Occurrence {
    /// The place.
    pub at: Bytes,
    /// What is named.
    pub meaning: NameMeaning,
    /// Whether the value changes here.
    pub writes: bool,
}

/// A transition as it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SwitchPlace {
    /// The names it has in reports; copies of `any` have one each.
    pub labels: Vec<String>,
    /// All of it, doc comment included.
    pub whole: Bytes,
    /// The label, if it has one, or the verb.
    pub heading: Bytes,
    /// The verb.
    pub verb: Bytes,
    /// The condition as it is written: pins and guard.
    pub condition: String,
}

/// What the names of a text mean.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourceIndex {
    /// The definitions, in the order of the text.
    pub definitions: Vec<Definition>,
    /// The places that name something, by place; definitions are not among them.
    pub occurrences: Vec<Occurrence>,
    /// The transitions of models.
    pub switches: Vec<SwitchPlace>,
    /// The files that are used, by the name of the model in this text.
    pub files: FxHashMap<String, String>,
    /// Goals and tests: how a tester is told to try them.
    pub goals: Vec<GoalPlace>,
}

/// A goal or a test that can be tried.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GoalPlace {
    /// Its name.
    pub name: String,
    /// Whether it is a test written by hand.
    pub is_test: bool,
    /// The place of its name.
    pub at: Bytes,
}

impl SourceIndex {
    /// The index of `tree`, which was read from `text`.
    #[must_use]
    pub fn new(text: &str, tree: &SyntaxFile) -> Self {
        build::index(text, tree)
    }

    /// A definition.
    #[must_use]
    pub fn get(&self, id: DefinitionId) -> &Definition {
        &self.definitions[id.0]
    }

    /// Every definition with its number.
    pub fn all(&self) -> impl Iterator<Item = (DefinitionId, &Definition)> {
        self.definitions.iter().enumerate().map(|(at, definition)| (DefinitionId(at), definition))
    }

    /// What the name at `offset` means, and the place of that name.
    #[must_use]
    pub fn at(&self, offset: usize) -> Option<(Bytes, NameMeaning)> {
        let found = self.occurrences.iter().find(|occurrence| occurrence.at.touches(offset));
        if let Some(occurrence) = found {
            return Some((occurrence.at, occurrence.meaning.clone()));
        }
        let own = self.all().find(|(_, definition)| definition.is_named_at(offset));
        own.map(|(id, definition)| (definition.at, NameMeaning::Here(id)))
    }

    /// The places that name `id`, its own included.
    pub fn places_of(&self, id: DefinitionId) -> Vec<Bytes> {
        let named = self.occurrences.iter().filter(|occurrence| occurrence.meaning == NameMeaning::Here(id));
        let mut places: Vec<Bytes> = named.map(|occurrence| occurrence.at).chain([self.get(id).at]).collect();
        places.sort();
        places.dedup();
        places
    }

    /// The definitions of one kind that are called `name`.
    pub fn named<'a>(
        &'a self,
        name: &'a str,
        kinds: &'a [DefinitionKind],
    ) -> impl Iterator<Item = (DefinitionId, &'a Definition)> {
        self.all().filter(move |(_, found)| found.name == name && kinds.contains(&found.kind))
    }

    /// What `path` names in this text.
    #[must_use]
    pub fn follow(&self, path: &ForeignPath) -> Option<DefinitionId> {
        use DefinitionKind::{Constant, Field, Input, Model, Observed, Output, System};
        let messages = [Input, Observed, Output];
        match path {
            ForeignPath::Model => {
                self.all().find(|(_, found)| matches!(found.kind, Model | System)).map(|(id, _)| id)
            }
            ForeignPath::Message(name) => self.named(name, &messages).next().map(|(id, _)| id),
            ForeignPath::Constant(name) => self.named(name, &[Constant]).next().map(|(id, _)| id),
            ForeignPath::Field(message, field) => {
                let (id, _) = self.named(message, &messages).next()?;
                let of = self.named(field, &[Field]).find(|(_, found)| found.owner == Some(id));
                of.map(|(id, _)| id)
            }
        }
    }

    /// How another file names `id`, if it can.
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

    /// The type behind other names for it.
    #[must_use]
    pub fn resolved(&self, ty: &ValueType) -> ValueType {
        let mut ty = ty.clone();
        // A circle of names is an error that somebody else reports.
        for _ in 0..32 {
            let ValueType::Named(name) = &ty else { return ty };
            let Some((_, named)) = self.named(name, &[DefinitionKind::TypeName]).next() else { return ty };
            let Some(behind) = named.ty.clone() else { return ty };
            ty = behind;
        }
        ty
    }

    /// The fields of a record type.
    #[must_use]
    pub fn fields_of(&self, ty: &ValueType) -> Vec<DefinitionId> {
        let ValueType::Named(name) = self.resolved(ty) else { return Vec::new() };
        let record = self.named(&name, &[DefinitionKind::Record]).next();
        record.map(|(_, record)| record.parts.clone()).unwrap_or_default()
    }
}

impl Definition {
    /// Whether its name is written at `offset`.
    #[must_use]
    pub fn is_named_at(&self, offset: usize) -> bool {
        self.at.end > self.at.start && self.at.touches(offset)
    }
}
