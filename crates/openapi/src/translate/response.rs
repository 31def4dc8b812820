//! Responses as messages: the documented ones, and those allowed besides.

use std::collections::BTreeSet;

use super::check::{ValueCondition, ValueWriter};
use super::operation::is_json;
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
                self.add_note(&place, "left out: it is no status");
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
                    about: about.clone(),
                });
            }
        }
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
        let named = self.allow.iter().map(String::as_str);
        let all: BTreeSet<&str> = named.chain(locked.copied()).filter(|status| !knows(status)).collect();
        let more: Vec<String> = all.into_iter().map(str::to_owned).collect();
        let answer = |status: String| DocumentedResponse {
            name: self.messages.fresh_name(&format!("{of}_{status}")),
            status,
            kind: BodyKind::Unchecked,
            body: None,
            about: "/// Not documented, but allowed.\n".into(),
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
        if node.get("headers").is_some_and(|headers| !headers.members().is_empty()) {
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
