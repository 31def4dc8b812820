//! Operations as messages: requests with their parameters, responses with their bodies.

use super::check::{ValueCondition, ValueWriter};
use super::rule::RuleMode;
use super::{Translator, doc_comment};
use crate::credential::Credential;
use crate::document::Operation;
use crate::name::{self, TakenNames};

/// The location of a field in a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FieldLocation {
    Path,
    Query,
    Header,
    Cookie,
    Body,
    /// The method itself, of a request with one that is not documented.
    Method,
}

/// The reason why a parameter or body of a request is left out.
pub(super) struct LeftOut(pub(super) String);

/// A field of a request or an answer.
#[derive(Clone, Debug)]
pub(crate) struct FieldOf {
    pub(crate) name: String,
    /// The name in the description.
    pub(crate) wire: String,
    pub(crate) place: FieldLocation,
    pub(super) sort: String,
    pub(super) check: ValueCondition,
}

/// An operation of the service.
#[derive(Clone, Debug)]
pub(crate) struct RequestOperation {
    pub(crate) name: String,
    pub(crate) method: String,
    /// The path with `{field}` in the places of values.
    pub(crate) path: String,
    pub(crate) fields: Vec<FieldOf>,
    /// The content type of the body; `None` if there is none, or it is JSON.
    pub(crate) content: Option<String>,
    /// The members of the body that are files, with their content types.
    pub(crate) files: Vec<(String, String)>,
    /// True if answers come in several content types, one of them JSON, which is then requested.
    pub(crate) accepts_json: bool,
    pub(crate) answers: Vec<DocumentedResponse>,
    /// The mistake in its credential, if that is not the right one.
    pub(crate) wrong_credential: Option<WrongCredential>,
    pub(super) about: String,
}

/// A credential that is not the right one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum WrongCredential {
    /// It has a value that no service accepts.
    Invalid(Credential),
    /// The request does not have it.
    Missing(Credential),
}

/// The body of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum BodyKind {
    /// JSON of any content type that denotes JSON.
    Json,
    /// JSON of this content type; other content types are documented apart.
    JsonAs(String),
    Text,
    /// A body of one of these content types, whose content is not checked.
    Kinds(Vec<String>),
    Unchecked,
}

/// A documented header that a response lacks.
#[derive(Clone, Debug)]
pub(super) struct MissingHeader {
    /// The name of the header.
    pub(super) header: String,
    /// The name of the response that has it.
    pub(super) response: String,
}

/// A documented response.
#[derive(Clone, Debug)]
pub(crate) struct DocumentedResponse {
    pub(crate) name: String,
    /// The status: `200`, `4XX` or `default`.
    pub(crate) status: String,
    pub(crate) kind: BodyKind,
    pub(super) body: Option<(String, ValueCondition)>,
    /// The sort of the id in the header `Location`, which is then the field `location`.
    pub(crate) location: Option<String>,
    /// True if the header `Allow` is its field `allow`.
    pub(crate) has_allow: bool,
    /// The documented headers that it has, with patterns for their values.
    pub(crate) headers: Vec<(String, String)>,
    /// The documented header that it lacks.
    pub(super) lacks: Option<MissingHeader>,
    /// True if it is not documented, but the service was seen to answer so, or may be.
    pub(super) is_seen: bool,
    pub(super) about: String,
}

impl DocumentedResponse {
    /// Returns the name of the rule that it has a header.
    pub(super) fn header_rule(&self, header: &str) -> String {
        let name = self.lacks.as_ref().map_or(&self.name, |missing| &missing.response);
        format!("{name}.header.{header}")
    }
}

impl<'t> Translator<'t> {
    /// Translates all operations.
    pub(crate) fn translate_operations(&mut self) {
        let found = self.document.operations();
        for place in &found.lost {
            self.add_note(place, "its operations are left out: the target of this reference does not exist");
        }
        for operation in found.operations {
            if let Some(asked) = self.translate_operation(&operation) {
                self.asked.push(asked);
                self.operations.push(operation);
            }
        }
        if self.rules.mode != RuleMode::Stateless {
            self.find_resources();
            self.find_wrong_requests();
        }
    }

    fn translate_operation(&mut self, operation: &Operation<'t>) -> Option<RequestOperation> {
        // A parameter that is not known may be required, and the answer to a request without it is not documented.
        for place in &operation.lost {
            self.add_note(place, "the operation is left out: the reference of this parameter has no target");
        }
        if !operation.lost.is_empty() {
            return None;
        }
        let own =
            operation.node.text_at("operationId").map(|id| short_name(&name::snake_case(id), operation));
        let made = || name::snake_case(&format!("{} {}", operation.method, operation.path));
        let name = self.messages.fresh_name(&own.unwrap_or_else(made));
        // Before any schema is translated: members that are `readOnly` are left out of what the tester sends.
        self.direction = ValueWriter::Sent;
        let mut taken = TakenNames::default();
        let mut fields = Vec::new();
        for (node, place) in &operation.parameters {
            let is_required = node.is_true_at("required") || node.text_at("in") == Some("path");
            match self.translate_parameter(node, place, &name, &mut taken) {
                Ok(Some(field)) => fields.push(field),
                Ok(None) => (),
                Err(LeftOut(problem)) if is_required => {
                    self.add_note(place, &format!("the operation is left out: {problem}"));
                    return None;
                }
                Err(LeftOut(problem)) => self.add_note(place, &format!("left out: {problem}")),
            }
        }
        let path = self.translate_path(operation, &fields)?;
        let (content, files) = match self.translate_request_body(operation, &name, &mut taken) {
            Ok(Some(body)) => {
                fields.push(body.field);
                (body.content, body.files)
            }
            Ok(None) => (None, Vec::new()),
            Err((place, LeftOut(problem))) => {
                self.add_note(&place, &format!("the operation is left out: {problem}"));
                return None;
            }
        };
        let about = operation.node.text_at("summary").map(doc_comment).unwrap_or_default();
        let answers = self.translate_responses(operation, &name);
        if answers.is_empty() {
            self.add_note(&operation.place, "the operation is left out: no response is documented");
            return None;
        }
        let about = about + &doc_comment(&format!("{} {}", operation.method, operation.path));
        let accepts_json = answers.iter().any(|answer| matches!(answer.kind, BodyKind::JsonAs(_)));
        let method = operation.method.clone();
        let wrong_credential = None;
        Some(RequestOperation {
            name,
            method,
            path,
            fields,
            content,
            files,
            accepts_json,
            answers,
            wrong_credential,
            about,
        })
    }

    /// Returns the path with the names of fields; `None` if it has a name that is not a parameter.
    fn translate_path(&mut self, operation: &Operation<'t>, fields: &[FieldOf]) -> Option<String> {
        let mut path = operation.path.to_owned();
        for field in fields.iter().filter(|field| field.place == FieldLocation::Path) {
            // Control characters stand for the braces of names that are replaced already, so that what is left in
            // braces is not a parameter.
            path = path.replace(&format!("{{{}}}", field.wire), &format!("\u{1}{}\u{2}", field.name));
        }
        if path.contains(['{', '}']) {
            self.add_note(
                &operation.place,
                "the operation is left out: its path has a name that is not a parameter",
            );
            return None;
        }
        Some(path.replace('\u{1}', "{").replace('\u{2}', "}"))
    }

    /// Returns the declarations of all messages.
    pub(super) fn messages_text(&mut self) -> String {
        let mut text = String::new();
        for (at, asked) in self.asked.iter().enumerate() {
            text.push_str(&input_text(asked));
            text.extend(asked.answers.iter().map(output_text));
            for wrong in self.wrong.iter().filter(|wrong| wrong.of == at) {
                text.push_str(&input_text(&wrong.request));
                text.extend(wrong.request.answers.iter().map(output_text));
            }
            text.push('\n');
        }
        text
    }
}

/// Returns the declaration of a request.
fn input_text(operation: &RequestOperation) -> String {
    let fields: Vec<String> =
        operation.fields.iter().map(|field| format!("{}: {}", field.name, field.sort)).collect();
    format!("{}input {}{}\n", operation.about, operation.name, in_parentheses(&fields))
}

/// Returns the declaration of an answer.
fn output_text(answer: &DocumentedResponse) -> String {
    let body = answer.body.as_ref().map(|(sort, _)| format!("body: {sort}"));
    let location = answer.location.as_ref().map(|sort| format!("location: {sort}"));
    let allow = answer.has_allow.then(|| "allow: string".to_owned());
    let fields: Vec<String> = body.into_iter().chain(location).chain(allow).collect();
    format!("{}output {}{}\n", answer.about, answer.name, in_parentheses(&fields))
}

fn in_parentheses(fields: &[String]) -> String {
    if fields.is_empty() { String::new() } else { format!("({})", fields.join(", ")) }
}

/// Returns whether a content type denotes JSON, or any content.
pub(super) fn is_json(kind: &str) -> bool {
    let kind = kind.split(';').next().unwrap_or_default().trim();
    kind == "application/json" || kind.ends_with("+json") || kind == "*/*"
}

/// Returns a name without the path and the method at its end, which some frameworks add.
fn short_name(name: &str, operation: &Operation<'_>) -> String {
    let added = name::snake_case(&format!("{} {}", operation.path, operation.method));
    let short = name.strip_suffix(&added).and_then(|short| short.strip_suffix('_'));
    short.filter(|short| !short.is_empty()).unwrap_or(name).to_owned()
}
