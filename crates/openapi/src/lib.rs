//! OpenAPI descriptions (2.0, 3.0 and 3.1) become models.
//!
//! Every operation is an input, every documented response an output, every JSON schema a sort with a condition for the
//! constraints that the sort does not express. The model has one state and is permissive: any request at any time, any
//! answer that is documented for it. So an answer with another status, or outside its schema, is forbidden.
//!
//! *Promises.* Constraints of the description that the model lacks are noted, with their places. What the model forbids
//! the description forbids too: where a schema cannot be translated exactly, the model allows more. The text is laid
//! out by `ioxide fmt` and has no errors.
//!
//! # Example
//!
//! ```
//! use ioxide_openapi::{ServiceOptions, translate};
//!
//! let text = r#"{ "openapi": "3.0.0", "info": { "title": "Door", "version": "1" },
//!     "paths": { "/push": { "post": { "operationId": "push", "responses": { "200": { "description": "done" } } } }
//! } }"#; let translation = translate(text, &ServiceOptions::default()).expect("a description");
//! assert!(translation.model.contains("input push"), "{}", translation.model);
//! ```

mod bundle;
mod credential;
mod document;
mod facts;
#[doc(hidden)]
pub mod name;
#[doc(hidden)]
pub mod node;
mod note;
mod project;
mod swagger;
#[doc(hidden)]
pub mod translate;
#[doc(hidden)]
pub mod yaml;

use std::collections::{BTreeMap, BTreeSet};

use ioxide_lang::format;
use ioxide_lang::{LoadOptions, load};
use ioxide_model::code::Code;
use ioxide_model::diag::Diagnostic;
use ioxide_model::source::Sources;
use thiserror::Error;

pub use self::bundle::bundle;
use self::credential::Credential;
pub use self::credential::VARIABLES;
use self::document::OpenApiDocument;
pub use self::facts::{FoundContradiction, ServiceFacts, count_limited, unseen_rules};
pub use self::note::Note;
pub use self::project::toml_string;
use self::translate::{RuleBook, Translator};

/// The address of the service, the command that starts it, and the answers allowed beyond its description.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServiceOptions {
    /// Its address; `None` for the one in the description.
    pub url: Option<String>,
    /// The command that starts it, with `{port}` for its port; `None` if it is running already.
    pub start: Option<String>,
    /// True if it is restarted before every run.
    pub is_restarted: bool,
    /// The name of the description, for people; if it is an address, relative addresses of servers are resolved against
    /// it.
    pub source: String,
    /// Statuses that every operation may answer with, documented or not: `404`, `4xx`.
    pub allow: Vec<String>,
    /// The rules about the state of the service.
    pub rules: StateRules,
    /// The variables of the environment that are set, of those that credentials come from.
    pub variables: BTreeSet<String>,
}

/// The rules about the state of a service that a model has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum StateRules {
    /// None: any documented answer in any state.
    #[default]
    Stateless,
    /// Every rule that the description suggests, in a model that shows which of them the service breaks.
    Learning,
    /// Those that the service was not seen to break.
    Learned(Observations),
}

/// The deeds of a service that were seen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Observations {
    /// The rules that it broke.
    pub broken: BTreeSet<String>,
    /// The rules that its answers spoke for, of those that need it.
    pub supported: BTreeSet<String>,
    /// The rules that too few answers could have broken to speak for them.
    pub unseen: BTreeSet<String>,
    /// The statuses that are not documented, with the operations that answered with them.
    pub statuses: BTreeSet<(String, String)>,
}

/// The weight of a broken rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RuleWeight {
    /// The rule is a guess, and a correct service may do otherwise.
    Guess,
    /// The service contradicts its description, or itself.
    Contradiction,
}

/// The subject of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RuleTopic {
    /// The items that the service has.
    State,
    /// The ids of new items.
    NewId,
    /// The item that an answer shows.
    ShownId,
    /// A request that must be refused.
    Refusal,
    /// Items that have something to do with each other, as numbers and values suggest: `open_tasks` is the number of
    /// tasks most of the time, and a correct service has it so.
    Relation,
    /// The states of an item in which an operation succeeds: a refusal may have other reasons, so more of them must
    /// speak for the rule.
    Workflow,
}

/// A transition of a model for learning that shows something about the service when it is taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObservableTransition {
    /// The label of the transition.
    pub transition: String,
    /// The transition of the same answer that is taken if all rules hold; `None` if the fact is about no rule.
    pub answer: Option<String>,
    /// The fact that it shows.
    pub fact: ObservedFact,
}

/// Something that a service was seen to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ObservedFact {
    /// It broke a rule.
    Broken {
        /// The rule.
        rule: String,
        /// The rule for people.
        about: String,
        /// The weight of that.
        weight: RuleWeight,
        /// The subject of the rule.
        topic: RuleTopic,
    },
    /// It followed a rule that nothing but its answers suggests.
    Supported {
        /// The rule.
        rule: String,
    },
    /// It answered with a status that is not documented.
    Status {
        /// The name of the operation.
        operation: String,
        /// The status.
        status: String,
        /// The fact for people.
        about: String,
    },
}

/// The result of translating a description.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Translation {
    /// The text of the model.
    pub model: String,
    /// The text of the project file; the system is called `api`.
    pub project: String,
    /// The constraints and operations that were not translated, or not exactly.
    pub notes: Vec<Note>,
    /// The numbers of operations and of responses in the model.
    pub counts: (usize, usize),
    /// The names of the resources whose items the model remembers.
    pub resources: Vec<String>,
    /// The number of requests that must be refused.
    pub wrong_requests: usize,
    /// The inputs of the model, each with its request for people: method, path, and what is wrong with it.
    pub requests: BTreeMap<String, String>,
    /// The transitions that show something about the service, in a model for learning.
    pub observables: Vec<ObservableTransition>,
    /// The rules that the model does not require, because the service was seen to break them.
    pub loosened: Vec<String>,
}

/// The reason why a text cannot be translated.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum BadDescription {
    /// The text is neither JSON nor YAML.
    #[error("it is neither JSON nor YAML: {0}")]
    Unreadable(String),
    /// The text is not an OpenAPI description of a version that is known.
    #[error("it is not an OpenAPI description of version 2.0, 3.0 or 3.1: {0}")]
    Version(String),
    /// The description has no operation that can be tested.
    #[error("it has no operation that can be tested")]
    Empty,
    /// The model that was made has an error, which is a defect of ioxide.
    #[error("the generated model has an error; this is a bug in ioxide: {0}")]
    Model(String),
}

/// The number of schemas that may be replaced by any JSON because models have no such types. Each costs a translation
/// of the whole; chosen by feel.
const MAX_ANY_JSON_PLACES: usize = 100;

/// Translates the description `text` into a model and a project file.
///
/// # Errors
/// If `text` is not an OpenAPI description, or has no operation that can be tested.
pub fn translate(text: &str, options: &ServiceOptions) -> Result<Translation, BadDescription> {
    let tree = yaml::read_tree(text).map_err(|bad| BadDescription::Unreadable(bad.to_string()))?;
    let tree = if swagger::is_swagger(&tree) { swagger::convert(&tree) } else { tree };
    let document = OpenApiDocument::new(&tree)?;
    let mut loose = BTreeSet::new();
    loop {
        let url = project::service_url(&document, options);
        let credential = Credential::find(&document, &options.variables, &url);
        let rules = RuleBook::new(&options.rules, options.is_restarted);
        let mut translator =
            Translator::new(&document, &options.allow, rules).with_any_json_at(loose.clone());
        translator = translator.with_credential(credential);
        translator.translate_operations();
        if translator.count_messages().0 == 0 {
            return Err(BadDescription::Empty);
        }
        let draft = translator.write_model();
        let project = project::write_project(&document, &translator, options);
        let error = match format_model(&draft) {
            Ok(model) => {
                return Ok(Translation {
                    model,
                    project,
                    counts: translator.count_messages(),
                    resources: translator.resource_names(),
                    wrong_requests: translator.wrong.len(),
                    requests: translator.describe_requests(),
                    observables: std::mem::take(&mut translator.rules.observables),
                    loosened: distinct(std::mem::take(&mut translator.rules.loosened)),
                    notes: translator.into_notes(),
                });
            }
            Err(error) => error,
        };
        // Types that no model has become any JSON; each time there is one less.
        let known = loose.len();
        loose.extend(translator.places_of_types(&error.impossible_types));
        if loose.len() == known || loose.len() > MAX_ANY_JSON_PLACES {
            return Err(BadDescription::Model(error.message));
        }
    }
}

/// Returns texts without repetition, in their order.
fn distinct(texts: Vec<String>) -> Vec<String> {
    let mut seen = BTreeSet::new();
    texts.into_iter().filter(|text| seen.insert(text.clone())).collect()
}

/// The errors of a model that was made.
struct ModelDraftError {
    message: String,
    /// The types that no model has: their values would never end, or are too deep.
    impossible_types: Vec<String>,
}

/// Returns `draft` in canonical layout; fails if it has errors.
fn format_model(draft: &str) -> Result<String, ModelDraftError> {
    let mut sources = Sources::new();
    let file = sources.add("api.iox", draft);
    let text = format(&sources, file).map_err(|errors| {
        let first = errors.first().map(|error| format!("{}\n{draft}", error.message));
        ModelDraftError { message: first.unwrap_or_default(), impossible_types: Vec::new() }
    })?;
    let loaded = load(&sources, file, &LoadOptions::default());
    match loaded.model {
        Some(_) => Ok(text),
        None => {
            let errors = loaded.diagnostics.iter().filter(|found| found.is_error());
            let errors: Vec<&Diagnostic> = errors.take(MAX_ANY_JSON_PLACES).collect();
            let messages: Vec<&str> = errors.iter().map(|error| error.message.as_str()).collect();
            // Both codes are reported at the name of the type.
            let is_of_type =
                |error: &&&Diagnostic| matches!(error.code, Code::CyclicDefinition | Code::NestingTooDeep);
            let types = errors.iter().filter(is_of_type).map(|error| sources.slice(error.span).to_owned());
            Err(ModelDraftError { message: messages.join("; "), impossible_types: types.collect() })
        }
    }
}
