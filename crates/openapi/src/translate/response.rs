//! Responses as messages: the documented ones, and those allowed besides.

use std::collections::BTreeSet;

use super::check::{ValueCondition, ValueWriter};
use super::operation::{MissingHeader, is_json};
use super::rule::RuleMode;
use super::{BodyKind, DocumentedResponse, Translator, doc_comment};
use crate::document::Operation;
use crate::node::{SpecNode, pointer_step};

/// Returns whether `text` is `default`, a status such as `200` or a class such as `2XX`.
fn is_status(text: &str) -> bool {
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let rest = text.strip_prefix(['1', '2', '3', '4', '5']);
    text == "default"
        || rest.is_some_and(|rest| rest.len() == 2 && (is_number(rest) || matches!(rest, "XX" | "xx")))
}

/// A content type and sort in which a response may be written.
struct WrittenResponse {
    kind: BodyKind,
    body: Option<(String, ValueCondition)>,
}

impl WrittenResponse {
    const UNCHECKED: Self = Self { kind: BodyKind::Unchecked, body: None };
}

impl<'t> Translator<'t> {
    /// Returns the answers of an operation: those that are documented, and those that are allowed besides.
    pub(super) fn translate_responses(
        &mut self,
        operation: &Operation<'t>,
        of: &str,
    ) -> Vec<DocumentedResponse> {
        self.direction = ValueWriter::Told;
        let mut found = Vec::new();
        for (status, node) in operation.node.get("responses").map(SpecNode::members).unwrap_or_default() {
            let place = format!("{}/responses{}", operation.place, pointer_step(status));
            if !is_status(status) {
                self.add_note(&place, "left out: it is not a status");
                continue;
            }
            let name = self.messages.fresh_name(&format!("{of}_{}", status.to_ascii_lowercase()));
            let (about, written) = match self.document.resolve_reference(node, &place) {
                Some((node, place)) => {
                    let about = node.text_at("description").map(doc_comment).unwrap_or_default();
                    (about, self.translate_response_body(node, &place, &name, operation))
                }
                // The status is documented all the same: without the response the model would forbid it.
                None => {
                    self.add_note(
                        &place,
                        "its body is not checked: the target of this reference does not exist",
                    );
                    (String::new(), vec![WrittenResponse::UNCHECKED])
                }
            };
            for (at, WrittenResponse { kind, body }) in written.into_iter().enumerate() {
                let name = match at {
                    0 => name.clone(),
                    _ => self.messages.fresh_name(&format!("{name}_other")),
                };
                found.push(DocumentedResponse {
                    name,
                    status: status.clone(),
                    kind,
                    body,
                    location: None,
                    has_allow: false,
                    headers: Vec::new(),
                    lacks: None,
                    is_seen: false,
                    about: about.clone(),
                });
            }
        }
        self.add_headers(&mut found, operation);
        let more = self.allowed_responses(&found, operation, of);
        found.extend(more);
        // What is more special is looked for first.
        let rank = |answer: &DocumentedResponse| match answer.status.as_str() {
            "default" => 2,
            status if status.ends_with(['X', 'x']) => 1,
            _ => 0,
        };
        found.sort_by_key(rank);
        found
    }

    /// Adds the documented headers to answers, and in learning the answers without them.
    fn add_headers(&mut self, answers: &mut Vec<DocumentedResponse>, operation: &Operation<'t>) {
        if self.rules.mode == RuleMode::Stateless {
            return;
        }
        let documented = operation.node.get("responses").map(SpecNode::members).unwrap_or_default();
        let mut headless = Vec::new();
        for answer in answers.iter_mut() {
            let node = documented.iter().find(|(status, _)| *status == answer.status);
            let node = node.and_then(|(_, node)| self.document.resolve_reference(node, ""));
            let headers =
                node.and_then(|(node, _)| node.get("headers")).map(SpecNode::members).unwrap_or_default();
            for (name, header) in headers {
                // Names go into the text of the model and of the project file as they are.
                let is_plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
                // Content types are compared with those of the bodies, and `Location` may be read for an id.
                let is_own = ["content-type", "location"].iter().any(|own| name.eq_ignore_ascii_case(own));
                if !is_plain || is_own || self.rules.is_broken(&answer.header_rule(name)) {
                    continue;
                }
                answer.headers.push((name.clone(), self.header_pattern(header)));
                if self.rules.mode == RuleMode::Learning {
                    let name_without = self.messages.fresh_name(&format!("{}_headless", answer.name));
                    headless.push(DocumentedResponse {
                        name: name_without,
                        headers: Vec::new(),
                        lacks: Some(MissingHeader { header: name.clone(), response: answer.name.clone() }),
                        ..answer.clone()
                    });
                }
            }
        }
        answers.extend(headless);
    }

    /// Returns a pattern for the values of a documented header: numbers and truths are recognised, anything else may be
    /// any text.
    fn header_pattern(&self, header: &'t SpecNode) -> String {
        let header = self.document.resolve_reference(header, "").map_or(header, |(header, _)| header);
        let schema = header.get("schema").and_then(|schema| self.document.resolve_reference(schema, ""));
        match schema.and_then(|(schema, _)| schema.text_at("type")) {
            Some("integer") => "-?[0-9]+".into(),
            Some("number") => "-?[0-9]+(\\.[0-9]+)?([eE][+-]?[0-9]+)?".into(),
            Some("boolean") => "true|false".into(),
            _ => ".*".into(),
        }
    }

    /// Returns the answers that are allowed without being documented: the statuses given as options, and 401 and 403
    /// where credentials are needed.
    fn allowed_responses(
        &mut self,
        documented: &[DocumentedResponse],
        operation: &Operation<'t>,
        of: &str,
    ) -> Vec<DocumentedResponse> {
        let knows = |status: &str| {
            documented.iter().any(|answer| {
                let known = answer.status.to_ascii_lowercase();
                known == "default"
                    || known == status
                    || known.strip_suffix("xx").is_some_and(|class| status.starts_with(class))
            })
        };
        let locked = ["401", "403"].iter().filter(|_| self.document.needs_credentials(operation));
        let own = self.rules.statuses_of(of);
        let named = self.allow.iter().map(String::as_str).chain(own.iter().map(String::as_str));
        let all: BTreeSet<&str> = named.chain(locked.copied()).filter(|status| !knows(status)).collect();
        let more: Vec<String> = all.into_iter().map(str::to_owned).collect();
        let answer = |status: String| DocumentedResponse {
            name: self.messages.fresh_name(&format!("{of}_{status}")),
            is_seen: own.contains(&status),
            about: if own.contains(&status) {
                "/// Not documented, but the service answers so.\n".into()
            } else {
                "/// Not documented, but allowed.\n".into()
            },
            status,
            kind: BodyKind::Unchecked,
            body: None,
            location: None,
            has_allow: false,
            headers: Vec::new(),
            lacks: None,
        };
        more.into_iter().map(answer).collect()
    }

    /// Returns the content types and sorts in which a response may be written.
    fn translate_response_body(
        &mut self,
        node: &'t SpecNode,
        place: &str,
        of: &str,
        operation: &Operation<'t>,
    ) -> Vec<WrittenResponse> {
        let has_headers = node.get("headers").is_some_and(|headers| !headers.members().is_empty());
        if has_headers && self.rules.mode == RuleMode::Stateless {
            self.add_note(&format!("{place}/headers"), "headers of answers are not checked");
        }
        let contents = node.get("content").map(SpecNode::members).unwrap_or_default();
        if operation.method == "HEAD" || contents.is_empty() {
            return vec![WrittenResponse::UNCHECKED];
        }
        if let [(kind, media)] = contents
            && kind.starts_with("text/")
            && !kind.contains("event-stream")
        {
            self.note_text(media, &format!("{place}/content{}", pointer_step(kind)));
            return vec![WrittenResponse {
                kind: BodyKind::Text,
                body: Some(("string".into(), ValueCondition::Anything)),
            }];
        }
        match contents.iter().find(|(kind, media)| is_json(kind) && media.get("schema").is_some()) {
            Some((kind, media)) => self.translate_json_body(contents, (kind, media), place, of),
            None => {
                self.note_unchecked(contents.iter().map(|(kind, _)| kind.as_str()).collect(), place);
                vec![WrittenResponse::UNCHECKED]
            }
        }
    }

    /// Returns JSON with a schema, and the other content types of an answer.
    fn translate_json_body(
        &mut self,
        contents: &'t [(String, SpecNode)],
        (kind, media): (&'t str, &'t SpecNode),
        place: &str,
        of: &str,
    ) -> Vec<WrittenResponse> {
        let Some(schema) = media.get("schema") else { return vec![WrittenResponse::UNCHECKED] };
        let at = format!("{place}/content{}/schema", pointer_step(kind));
        let body = Some(self.translate_schema(schema, &at, &format!("{of} body")).optional_sort(false));
        let others = contents.iter().map(|(other, _)| other.as_str()).filter(|other| *other != kind);
        let others: Vec<&str> = others.collect();
        if kind == "*/*" {
            // Whatever says that it is JSON must be as the schema says.
            return vec![WrittenResponse { kind: BodyKind::Json, body }, WrittenResponse::UNCHECKED];
        }
        if others.is_empty() {
            return vec![WrittenResponse { kind: BodyKind::Json, body }];
        }
        self.note_unchecked(others.clone(), place);
        let others = BodyKind::Kinds(others.into_iter().map(str::to_owned).collect());
        let json = WrittenResponse { kind: BodyKind::JsonAs(kind.to_owned()), body };
        vec![json, WrittenResponse { kind: others, body: None }]
    }

    fn note_unchecked(&mut self, kinds: Vec<&str>, place: &str) {
        let kinds = kinds.join(" or ");
        self.add_note(&format!("{place}/content"), &format!("bodies of {kinds} are not checked"));
    }
}
