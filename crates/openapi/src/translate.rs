//! From a description to the parts of a model.

mod check;
mod operation;
mod schema;
mod shape;
mod text;

use std::collections::{BTreeMap, BTreeSet};

use self::check::{TypeConditions, ValueWriter};
pub(crate) use self::operation::{BodyKind, DocumentedResponse, FieldLocation, RequestOperation};
use self::shape::SortOf;
use crate::document::OpenApiDocument;
use crate::name::{self, TakenNames};
use crate::node::SpecNode;
use crate::note::Note;

/// The record that stands for any JSON, by its text.
pub(crate) const ANY: &str = "AnyJson";

/// What is known of a value that has no schema worth the name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AnyJson {
    Anything,
    Object,
    Null,
}

/// How types are written in JSON, for the project file.
#[derive(Clone, Debug, Default)]
pub(crate) struct JsonWords {
    pub(crate) closed: Vec<String>,
    pub(crate) untagged: Vec<String>,
    pub(crate) text: Vec<String>,
    pub(crate) absent: Vec<String>,
    pub(crate) null: Vec<String>,
    pub(crate) names: Vec<(String, String)>,
    pub(crate) cases: Vec<(String, String)>,
}

/// A schema by its place, and by who writes it where that makes a difference.
type SchemaKey = (String, Option<ValueWriter>);

/// A model in the making.
pub(crate) struct Translator<'t> {
    document: &'t OpenApiDocument<'t>,
    /// Who writes the values of the schemas at hand.
    direction: ValueWriter,
    /// Names of types, of cases, and of messages.
    types: TakenNames,
    cases: TakenNames,
    messages: TakenNames,
    known: BTreeMap<SchemaKey, SortOf>,
    /// References that are being followed, and the names of their types.
    making: Vec<(SchemaKey, String)>,
    recursive: BTreeSet<String>,
    /// The name that the next type gets.
    own_name: Option<String>,
    depth: usize,
    /// How often a schema was put together with another.
    merges: usize,
    /// Where the schemas of types stand, by the names of the types.
    places: BTreeMap<String, String>,
    /// Places of schemas whose types models do not have: any JSON is allowed there.
    loose: BTreeSet<String>,
    needs_any: bool,
    declarations: Vec<String>,
    checks: TypeConditions,
    pub(crate) form: JsonWords,
    pub(crate) asked: Vec<RequestOperation>,
    /// Statuses that are allowed though they are not documented.
    allow: Vec<String>,
    notes: Vec<Note>,
}

impl<'t> Translator<'t> {
    pub(crate) fn new(document: &'t OpenApiDocument<'t>, allow: &[String]) -> Self {
        let mut types = TakenNames::default();
        for name in [ANY, "Owed", "Api"] {
            types.fresh(name);
        }
        Self {
            document,
            direction: ValueWriter::Told,
            types,
            cases: TakenNames::default(),
            messages: TakenNames::default(),
            known: BTreeMap::new(),
            making: Vec::new(),
            recursive: BTreeSet::new(),
            own_name: None,
            depth: 0,
            merges: 0,
            places: BTreeMap::new(),
            loose: BTreeSet::new(),
            needs_any: false,
            declarations: Vec::new(),
            checks: TypeConditions::default(),
            form: JsonWords::default(),
            asked: Vec::new(),
            allow: allow.iter().map(|status| status.to_ascii_lowercase()).collect(),
            notes: Vec::new(),
        }
    }

    /// The same, where any JSON is allowed at these places.
    pub(crate) fn loose(self, loose: BTreeSet<String>) -> Self {
        Self { loose, ..self }
    }

    /// Where the types stand that `message` names.
    pub(crate) fn places_in(&self, message: &str) -> BTreeSet<String> {
        message.split('`').filter_map(|name| self.places.get(name).cloned()).collect()
    }

    /// How many operations and responses there are.
    pub(crate) fn counts(&self) -> (usize, usize) {
        (self.asked.len(), self.asked.iter().map(|asked| asked.answers.len()).sum())
    }

    pub(crate) fn into_notes(self) -> Vec<Note> {
        let mut seen = BTreeSet::new();
        self.notes.into_iter().filter(|note| seen.insert(note.clone())).collect()
    }

    fn note(&mut self, place: &str, text: &str) {
        self.notes.push(Note { place: format!("#{place}"), text: text.to_owned() });
    }

    /// A schema that was put together lives as long as the others.
    fn keep(&self, schema: SpecNode) -> &'t SpecNode {
        // A description is read once in the life of the program.
        Box::leak(Box::new(schema))
    }

    fn declare_any_as(&mut self, name: &str) {
        self.declarations.push(format!("record {name} {{ text: string }}\n"));
        self.form.text.push(name.to_owned());
    }

    /// The text of the model.
    pub(crate) fn model(&mut self) -> String {
        let info = self.document.root.get("info");
        let title = info.and_then(|info| info.text_at("title")).unwrap_or("Api");
        let version = info.and_then(|info| info.text_at("version")).unwrap_or_default();
        let mut text = doc(&format!("{title} {version}, from its OpenAPI description."));
        text.push_str(&format!("model {} {{\n", name::pascal(title)));
        let messages = self.messages_text();
        let state = self.state_text();
        let functions = self.checks.functions();
        for name in std::mem::take(&mut self.checks.cut) {
            self.note(
                "/components/schemas",
                &format!(
                    "`{name}` and another schema hold each other; within the other its values are not checked"
                ),
            );
        }
        if self.needs_any {
            self.form.text.push(ANY.to_owned());
            text.push_str("/// Any JSON, as its text.\nrecord AnyJson { text: string }\n\n");
        }
        self.declarations.iter().for_each(|declared| text.push_str(declared));
        text.push('\n');
        functions.iter().for_each(|function| text.push_str(function));
        text + "\n" + &messages + &state + "}\n"
    }
}

/// `text` as a doc comment of one line or more.
pub(super) fn doc(text: &str) -> String {
    let is_end = |letter: char| letter.is_control() || matches!(letter, '\u{2028}' | '\u{2029}');
    let mut lines = text.split(is_end).map(str::trim).filter(|line| !line.is_empty());
    let first = lines.next().unwrap_or_default();
    let more = if lines.next().is_some() { " …" } else { "" };
    let cut: String = first.chars().take(110).collect();
    format!("/// {cut}{more}\n")
}
