//! Translation of a description into the parts of a model.

mod all_of;
mod answer;
mod check;
mod compare;
mod elsewhere;
mod enumeration;
mod guess;
mod lifetime;
mod link;
mod listing;
mod object;
mod operation;
mod parameter;
#[doc(hidden)]
pub mod pattern;
mod refusal;
mod relation;
mod request_body;
mod resource;
mod resource_answer;
mod response;
mod rule;
mod schema;
mod shape;
mod singleton;
mod state;
#[doc(hidden)]
pub mod text;
mod unread;
mod view;
mod weight;
mod workflow;
mod written;
mod wrong;
mod wrong_content;
#[doc(hidden)]
pub mod wrong_method;
mod wrong_value;

use std::collections::{BTreeMap, BTreeSet};

use self::check::{TypeConditions, ValueWriter};
pub(crate) use self::operation::{
    BodyKind, DocumentedResponse, FieldLocation, RequestOperation, WrongCredential,
};
use self::resource::Resource;
pub(crate) use self::rule::RuleBook;
use self::shape::SortOf;
use self::singleton::Singleton;
use self::wrong::WrongRequest;
use crate::credential::Credential;
use crate::document::{OpenApiDocument, Operation};
use crate::name::{self, TakenNames};
use crate::node::SpecNode;
use crate::note::Note;

/// The record for any JSON, which holds its text.
pub(crate) const ANY: &str = "AnyJson";

/// The constraint on a value without a schema that models could express.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AnyJson {
    Anything,
    Object,
    Null,
}

/// The JSON forms of types, for the project file.
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

/// A field of a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RecordMember {
    pub(crate) name: String,
    /// The name in the description.
    pub(crate) wire: String,
    /// The sort, with the `?` of an option.
    pub(crate) sort: String,
    /// The documented default.
    pub(crate) default: Option<SpecNode>,
}

/// A schema by its place, and by the side that writes its values if that makes a difference.
type SchemaKey = (String, Option<ValueWriter>);

/// A model under construction.
pub(crate) struct Translator<'t> {
    document: &'t OpenApiDocument<'t>,
    /// The side that writes the values of the schemas being translated.
    direction: ValueWriter,
    /// The names taken by types, by cases of enums, and by messages.
    types: TakenNames,
    cases: TakenNames,
    messages: TakenNames,
    known: BTreeMap<SchemaKey, SortOf>,
    /// The enums that are declared, by their values.
    enumerations: BTreeMap<BTreeSet<String>, SortOf>,
    /// The references being followed, and the names of their types.
    making: Vec<(SchemaKey, String)>,
    recursive: BTreeSet<String>,
    /// The name for the next type; `None` if it is not that of a reference.
    own_name: Option<String>,
    depth: usize,
    /// The number of schemas merged by `allOf` so far.
    merges: usize,
    /// The places of the schemas of types, by the names of the types.
    places: BTreeMap<String, String>,
    /// The places of schemas whose types models lack: any JSON is allowed there.
    loose: BTreeSet<String>,
    needs_any: bool,
    declarations: Vec<String>,
    checks: TypeConditions,
    pub(crate) form: JsonWords,
    pub(crate) asked: Vec<RequestOperation>,
    /// The operations of the description, in the order of `asked`.
    pub(crate) operations: Vec<Operation<'t>>,
    /// The fields of records, and the cases of enums with their JSON.
    records: BTreeMap<String, Vec<RecordMember>>,
    enums: BTreeMap<String, Vec<(String, String)>>,
    resources: Vec<Resource>,
    singletons: Vec<Singleton>,
    /// The path parameters with the ids, by collection path.
    id_parameters: BTreeMap<String, String>,
    /// The requests that must be refused, and the rules of their cases.
    pub(crate) wrong: Vec<WrongRequest>,
    wrong_rules: BTreeMap<String, String>,
    /// The credential of all requests.
    pub(crate) credential: Option<Credential>,
    pub(crate) rules: RuleBook,
    /// The functions of rules: those that are declared, and their text.
    declared_rules: BTreeSet<String>,
    rule_functions: String,
    /// The statuses that are allowed without being documented, in lower case.
    allow: Vec<String>,
    notes: Vec<Note>,
}

impl<'t> Translator<'t> {
    /// Makes an empty model of `document`; `allow` are the statuses that every operation may answer with.
    pub(crate) fn new(document: &'t OpenApiDocument<'t>, allow: &[String], rules: RuleBook) -> Self {
        let mut types = TakenNames::default();
        for name in [ANY, "Owed", "Api"] {
            types.fresh_name(name);
        }
        Self {
            document,
            direction: ValueWriter::Told,
            types,
            cases: TakenNames::default(),
            messages: TakenNames::default(),
            known: BTreeMap::new(),
            enumerations: BTreeMap::new(),
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
            operations: Vec::new(),
            records: BTreeMap::new(),
            enums: BTreeMap::new(),
            resources: Vec::new(),
            singletons: Vec::new(),
            id_parameters: BTreeMap::new(),
            wrong: Vec::new(),
            wrong_rules: BTreeMap::new(),
            credential: None,
            rules,
            declared_rules: BTreeSet::new(),
            rule_functions: String::new(),
            allow: allow.iter().map(|status| status.to_ascii_lowercase()).collect(),
            notes: Vec::new(),
        }
    }

    /// Returns the translator with any JSON allowed at these places.
    pub(crate) fn with_any_json_at(self, loose: BTreeSet<String>) -> Self {
        Self { loose, ..self }
    }

    /// Returns the translator of a service whose requests have this credential.
    pub(crate) fn with_credential(self, credential: Option<Credential>) -> Self {
        Self { credential, ..self }
    }

    /// Returns the places of the schemas of these types.
    pub(crate) fn places_of_types(&self, names: &[String]) -> BTreeSet<String> {
        names.iter().filter_map(|name| self.places.get(name).cloned()).collect()
    }

    /// Returns the numbers of operations and of responses.
    pub(crate) fn count_messages(&self) -> (usize, usize) {
        (self.asked.len(), self.asked.iter().map(|asked| asked.answers.len()).sum())
    }

    /// Returns the names of the resources whose items the model remembers.
    pub(crate) fn resource_names(&self) -> Vec<String> {
        let items = self.resources.iter().map(|resource| resource.items.clone());
        items.chain(self.singletons.iter().map(|it| it.resource.path.clone())).collect()
    }

    /// Returns the names of the inputs, each with its request for people.
    pub(crate) fn describe_requests(&self) -> BTreeMap<String, String> {
        let right = self.asked.iter().enumerate().map(|(at, asked)| (asked.name.clone(), self.method_of(at)));
        let wrong = self.wrong.iter().map(|wrong| (wrong.request.name.clone(), self.describe_wrong(wrong)));
        right.chain(wrong).collect()
    }

    pub(crate) fn into_notes(self) -> Vec<Note> {
        let mut seen = BTreeSet::new();
        self.notes.into_iter().filter(|note| seen.insert(note.clone())).collect()
    }

    fn add_note(&mut self, place: &str, text: &str) {
        self.notes.push(Note { place: format!("#{place}"), text: text.to_owned() });
    }

    /// Keeps a merged schema for the rest of the program, as long as the others live.
    fn keep_schema(&self, schema: SpecNode) -> &'t SpecNode {
        // A description is read once in the life of the program.
        Box::leak(Box::new(schema))
    }

    fn declare_any_as(&mut self, name: &str) {
        self.declarations.push(format!("record {name} {{ text: string }}\n"));
        self.form.text.push(name.to_owned());
    }

    /// Returns the text of the model.
    pub(crate) fn write_model(&mut self) -> String {
        let info = self.document.root.get("info");
        let title = info.and_then(|info| info.text_at("title")).unwrap_or("Api");
        let version = info.and_then(|info| info.text_at("version")).unwrap_or_default();
        let mut text = doc_comment(&format!("{title} {version}, from its OpenAPI description."));
        text.push_str(&format!("model {} {{\n", name::pascal_case(title)));
        // The order of these calls matters: the text of messages and state asks for functions, which are declared
        // afterwards and may in turn cut cycles.
        let messages = self.messages_text();
        let state = self.used_state_text();
        let functions = self.checks.function_declarations();
        for name in std::mem::take(&mut self.checks.cut) {
            self.add_note(
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

/// Returns the first line of `text` as a doc comment, with an ellipsis if there are more.
pub(super) fn doc_comment(text: &str) -> String {
    let is_end = |letter: char| letter.is_control() || matches!(letter, '\u{2028}' | '\u{2029}');
    let mut lines = text.split(is_end).map(str::trim).filter(|line| !line.is_empty());
    let first = lines.next().unwrap_or_default();
    let more = if lines.next().is_some() { " …" } else { "" };
    let cut: String = first.chars().take(110).collect();
    format!("/// {cut}{more}\n")
}
