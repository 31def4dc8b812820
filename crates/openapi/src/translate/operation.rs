//! Operations as messages: requests with their parameters, responses with their bodies.

use super::check::{ValueCondition, ValueWriter};
use super::rule::RuleMode;
use super::shape::{JsonKind, SortOf};
use super::{Translator, doc_comment};
use crate::credential::{AUTHORIZATION, Credential};
use crate::document::Operation;
use crate::name::{self, TakenNames};
use crate::node::{SpecNode, pointer_step};

/// The location of a field in a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FieldLocation {
    Path,
    Query,
    Header,
    Cookie,
    Body,
}

/// The content types, other than JSON, of request bodies that can be written.
const FORM: &str = "application/x-www-form-urlencoded";
const TEXT: &str = "text/plain";

/// The reason why a parameter or body of a request is left out.
struct LeftOut(String);

/// The body of a request, with its content type if that is not JSON.
type BodyField = (FieldOf, Option<String>);

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
    /// True if answers come in several content types, one of them JSON, which is then requested.
    pub(crate) accepts_json: bool,
    pub(crate) answers: Vec<DocumentedResponse>,
    /// The credential that is replaced by a wrong one.
    pub(crate) wrong_credential: Option<Credential>,
    pub(super) about: String,
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
    /// The documented headers that it has, with patterns for their values.
    pub(crate) headers: Vec<(String, String)>,
    /// The documented header that it lacks.
    pub(super) lacks: Option<String>,
    /// True if it is not documented, but the service was seen to answer so, or may be.
    pub(super) is_seen: bool,
    pub(super) about: String,
}

impl DocumentedResponse {
    /// Returns the name of the rule that it has a header.
    pub(super) fn header_rule(&self, header: &str) -> String {
        let name = self.name.strip_suffix("_headless").unwrap_or(&self.name);
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
        let content = match self.translate_request_body(operation, &name, &mut taken) {
            Ok(Some((field, content))) => {
                fields.push(field);
                content
            }
            Ok(None) => None,
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
            accepts_json,
            answers,
            wrong_credential,
            about,
        })
    }

    /// Returns the path with the names of fields; `None` if it has a name that is no parameter.
    fn translate_path(&mut self, operation: &Operation<'t>, fields: &[FieldOf]) -> Option<String> {
        let mut path = operation.path.to_owned();
        for field in fields.iter().filter(|field| field.place == FieldLocation::Path) {
            path = path.replace(&format!("{{{}}}", field.wire), &format!("\u{1}{}\u{2}", field.name));
        }
        if path.contains(['{', '}']) {
            self.add_note(
                &operation.place,
                "the operation is left out: its path has a name that is no parameter",
            );
            return None;
        }
        Some(path.replace('\u{1}', "{").replace('\u{2}', "}"))
    }

    /// Returns a parameter as a field; `None` for a header that others set.
    fn translate_parameter(
        &mut self,
        node: &'t SpecNode,
        place: &str,
        of: &str,
        taken: &mut TakenNames,
    ) -> Result<Option<FieldOf>, LeftOut> {
        let wire = node.text_at("name").unwrap_or_default().to_owned();
        let at = match node.text_at("in") {
            Some("path") => FieldLocation::Path,
            Some("query") => FieldLocation::Query,
            Some("header") if is_set_by_others(&wire) => {
                self.note_own_header(&wire, place);
                return Ok(None);
            }
            Some("header") => FieldLocation::Header,
            Some("cookie") => FieldLocation::Cookie,
            _ => return Err(LeftOut("`in` is not `path`, `query`, `header` or `cookie`".into())),
        };
        let Some(schema) = node.get("schema") else {
            return self.translate_json_parameter(node, place, of, (wire, at), taken).map(Some);
        };
        let plain = |style: &str| !matches!(style, "simple" | "form");
        if let Some(style) = node.text_at("style").filter(|style| plain(style)) {
            return Err(LeftOut(format!("the style `{style}` is not written")));
        }
        let needed_any = self.needs_any;
        let mut sort = self.translate_schema(schema, &format!("{place}/schema"), &format!("{of} {wire}"));
        if sort.sort == super::ANY {
            // Any value at all, and here every value is a text.
            sort = SortOf::new("string", &[JsonKind::Text]);
            self.needs_any = needed_any;
        }
        let is_list = sort.sort.starts_with("list<");
        if is_list && node.get("explode") == Some(&SpecNode::Bool(false)) {
            return Err(LeftOut("a list between commas is not written".into()));
        }
        let item = sort.sort.trim_start_matches("list<").trim_end_matches('>').to_owned();
        let is_plain = matches!(item.as_str(), "int" | "real" | "string" | "bool") || item.contains("..");
        let is_enum = self
            .form
            .cases
            .iter()
            .any(|(case, _)| case.starts_with(&format!("{}_", name::snake_case(&item))));
        if !(is_plain || is_enum) || is_list && at != FieldLocation::Query {
            return Err(LeftOut("a value that is no plain text is not written here".into()));
        }
        let sort = sort.with_condition(if is_text_sort(&item, is_list) {
            safe_text_condition(at)
        } else {
            ValueCondition::Anything
        });
        let may_miss = !node.is_true_at("required") && at != FieldLocation::Path && !is_list;
        let is_needed_list = is_list && node.is_true_at("required");
        let sort = if is_needed_list {
            sort.with_condition(ValueCondition::Says("@.length() > 0".into()))
        } else {
            sort
        };
        let sort = SortOf { is_nullable: false, ..sort };
        let (written, check) = sort.optional_sort(may_miss);
        Ok(Some(FieldOf {
            name: taken.fresh_name(&name::field_name(&wire)),
            wire,
            place: at,
            sort: written,
            check,
        }))
    }

    /// Notes a header that is no field: the credential, or one that the HTTP layer sets.
    fn note_own_header(&mut self, header: &str, place: &str) {
        let is_authorization = header.eq_ignore_ascii_case(AUTHORIZATION);
        let is_sent = self.credential.as_ref().is_some_and(|own| own.name.eq_ignore_ascii_case(header));
        if is_authorization && !is_sent {
            self.add_note(
                place,
                "left out: set API_TOKEN, or API_USER and API_PASSWORD, and it is sent as the credential",
            );
        } else if !is_authorization {
            self.add_note(
                place,
                &format!("no field of the model: the header `{header}` is set by the HTTP layer"),
            );
        }
    }

    /// Returns a parameter that is written as JSON, which must be an object, since a text would need its quotes.
    fn translate_json_parameter(
        &mut self,
        node: &'t SpecNode,
        place: &str,
        of: &str,
        (wire, at): (String, FieldLocation),
        taken: &mut TakenNames,
    ) -> Result<FieldOf, LeftOut> {
        let contents = node.get("content").map(SpecNode::members).unwrap_or_default();
        let json = contents.iter().find(|(kind, _)| is_json(kind));
        let Some((kind, schema)) = json.and_then(|(kind, media)| Some((kind, media.get("schema")?))) else {
            return Err(LeftOut("it has no `schema`".into()));
        };
        let place = format!("{place}/content{}/schema", pointer_step(kind));
        let sort = self.translate_schema(schema, &place, &format!("{of} {wire}"));
        let is_object = sort.kinds.iter().eq([&JsonKind::Object]) && !sort.sort.contains('<');
        if !is_object || at != FieldLocation::Query {
            return Err(LeftOut("JSON that is no object is not written here".into()));
        }
        let (written, check) =
            SortOf { is_nullable: false, ..sort }.optional_sort(!node.is_true_at("required"));
        Ok(FieldOf {
            name: taken.fresh_name(&name::field_name(&wire)),
            wire,
            place: at,
            sort: written,
            check,
        })
    }

    /// Returns the body of a request, with its content type if that is not JSON.
    fn translate_request_body(
        &mut self,
        operation: &Operation<'t>,
        of: &str,
        taken: &mut TakenNames,
    ) -> Result<Option<BodyField>, (String, LeftOut)> {
        let Some(body) = operation.node.get("requestBody") else { return Ok(None) };
        let place = format!("{}/requestBody", operation.place);
        let Some((body, place)) = self.document.resolve_reference(body, &place) else {
            return Err((place, LeftOut("its body is not in this file".into())));
        };
        let is_required = body.is_true_at("required");
        let contents = body.get("content").map(SpecNode::members).unwrap_or_default();
        let is_form = |kind: &str| kind.starts_with(FORM);
        let is_text = |kind: &str| kind.starts_with(TEXT);
        let json = contents.iter().find(|(kind, _)| is_json(kind));
        let Some((kind, media)) =
            json.or_else(|| contents.iter().find(|(kind, _)| is_form(kind) || is_text(kind)))
        else {
            let kinds: Vec<&str> = contents.iter().map(|(kind, _)| kind.as_str()).collect();
            let problem = format!("bodies of {} are not written", kinds.join(", "));
            return if is_required {
                Err((place, LeftOut(problem)))
            } else {
                self.add_note(&place, &format!("left out: {problem}"));
                Ok(None)
            };
        };
        let place = format!("{place}/content{}", pointer_step(kind));
        let sort = match media.get("schema") {
            Some(schema) if !is_text(kind) => {
                self.translate_schema(schema, &format!("{place}/schema"), &format!("{of} body"))
            }
            Some(_) | None if is_text(kind) => {
                self.note_text(media, &place);
                SortOf::new("string", &[])
            }
            _ => self.any_json_sort(super::AnyJson::Object),
        };
        let (sort, check) = sort.optional_sort(!is_required);
        // Not as it stands: in a header of a project file `${NAME}` is a variable of the environment.
        let content = (!is_json(kind)).then(|| if is_text(kind) { TEXT } else { FORM }.to_owned());
        let field = FieldOf {
            name: taken.fresh_name("body"),
            wire: "body".into(),
            place: FieldLocation::Body,
            sort,
            check,
        };
        Ok(Some((field, content)))
    }

    /// Returns the declarations of all messages.
    pub(super) fn messages_text(&mut self) -> String {
        let mut text = String::new();
        for (at, asked) in self.asked.iter().enumerate() {
            text.push_str(&input_text(asked));
            for answer in &asked.answers {
                let body = answer.body.as_ref().map(|(sort, _)| format!("body: {sort}"));
                let location = answer.location.as_ref().map(|sort| format!("location: {sort}"));
                let fields: Vec<String> = body.into_iter().chain(location).collect();
                text.push_str(&format!(
                    "{}output {}{}\n",
                    answer.about,
                    answer.name,
                    in_parentheses(&fields)
                ));
            }
            for wrong in self.wrong.iter().filter(|wrong| wrong.of == at) {
                text.push_str(&input_text(&wrong.request));
            }
            text.push('\n');
        }
        text
    }
}

/// Returns the declaration of a request.
fn input_text(asked: &RequestOperation) -> String {
    let fields: Vec<String> =
        asked.fields.iter().map(|field| format!("{}: {}", field.name, field.sort)).collect();
    format!("{}input {}{}\n", asked.about, asked.name, in_parentheses(&fields))
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

/// Returns whether a header is one that descriptions must not define (OpenAPI, Parameter Object), or delimits messages.
fn is_set_by_others(header: &str) -> bool {
    let described = ["accept", "content-type", "authorization"];
    let delimiting = ["host", "content-length", "transfer-encoding", "connection"];
    described.iter().chain(&delimiting).any(|name| header.eq_ignore_ascii_case(name))
}

fn is_text_sort(item: &str, is_list: bool) -> bool {
    item == "string" && !is_list
}

/// Returns the condition under which a text arrives as it was sent.
fn safe_text_condition(at: FieldLocation) -> ValueCondition {
    match at {
        // A path is split at slashes before it is decoded by some and after that by others; dots are taken away.
        FieldLocation::Path => {
            ValueCondition::Says("@ != \"\" && @ != \".\" && @ != \"..\" && !@.contains(\"/\")".into())
        }
        FieldLocation::Header => ValueCondition::Matches("[!-~]*".into()),
        FieldLocation::Cookie => ValueCondition::Matches("[0-9A-Za-z_-]*".into()),
        FieldLocation::Query | FieldLocation::Body => ValueCondition::Anything,
    }
}
