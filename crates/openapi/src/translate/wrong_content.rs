//! Bodies in a content type that the description does not list: they must be refused.
//!
//! Many services read any body as JSON, or ignore one that they do not read. So such a request is sent for items that
//! exist, where nothing else is wrong with it, and stays in the model only if the service was seen to refuse it.

use super::operation::{FieldOf, RequestOperation};
use super::refusal::refusal_rule;
use super::resource::is_success;
use super::rule::{AnswerPlan, ResourceRule, RuleMode};
use super::wrong::{WrongPart, WrongRequest};
use super::{BodyKind, DocumentedResponse, FieldLocation, Translator, doc_comment};
use crate::RuleWeight;
use crate::node::SpecNode;

/// Content types that a service does not read unless it says so; the body is JSON all the same.
const UNUSUAL: [&str; 2] = ["text/plain", "application/octet-stream"];

impl Translator<'_> {
    /// Adds a request with another content type for every operation with a body.
    pub(super) fn find_wrong_contents(&mut self) {
        for at in 0..self.asked.len() {
            if let Some(kind) = self.undocumented_content(at) {
                self.add_wrong_content(at, kind);
            }
        }
    }

    /// Returns a content type that the description excludes; `None` if the operation has no record as its body.
    fn undocumented_content(&self, at: usize) -> Option<&'static str> {
        self.sent_record(at)?;
        let node = self.operations[at].node.get("requestBody")?;
        let (node, _) = self.document.resolve_reference(node, "")?;
        let documented = node.get("content").map(SpecNode::members).unwrap_or_default();
        let covers = |pattern: &str, kind: &str| {
            let plain = pattern.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
            plain == kind
                || plain == "*/*"
                || plain.strip_suffix('*').is_some_and(|class| kind.starts_with(class))
        };
        let is_free = |kind: &&&str| !documented.iter().any(|(pattern, _)| covers(pattern, kind));
        UNUSUAL.iter().find(is_free).copied()
    }

    fn add_wrong_content(&mut self, at: usize, kind: &'static str) {
        let asked = self.asked[at].clone();
        let base = format!("{}_as_other_content", asked.name);
        let about = content_about(&self.method_of(at), kind);
        let is_broken =
            ["accepted", "error"].iter().any(|end| self.rules.is_broken(&format!("{base}.{end}")));
        if is_broken {
            self.rules.loosened.push(about);
            return;
        }
        if self.rules.mode == RuleMode::Learned && !self.rules.has_support(&format!("{base}.refused")) {
            return;
        }
        let name = self.messages.fresh_name(&base);
        let answer = DocumentedResponse {
            name: self.messages.fresh_name(&format!("{name}_4xx")),
            status: "4xx".into(),
            kind: BodyKind::Unchecked,
            body: None,
            location: None,
            has_allow: false,
            headers: Vec::new(),
            lacks: None,
            is_seen: false,
            about: String::new(),
        };
        let whole = |field: &FieldOf| match field.place {
            FieldLocation::Body => {
                let sort = field.sort.trim_end_matches('?').to_owned();
                // The condition on an option is one on the value inside it.
                FieldOf { sort, check: field.check.clone().without_option(), ..field.clone() }
            }
            _ => field.clone(),
        };
        let request = RequestOperation {
            name: name.clone(),
            fields: asked.fields.iter().map(whole).collect(),
            content: Some(kind.to_owned()),
            files: Vec::new(),
            answers: vec![answer],
            about: doc_comment(&format!(
                "A request that must be refused: {} with a body in {kind}.",
                self.method_of(at)
            )),
            ..asked
        };
        self.wrong_rules.insert(name.clone(), base);
        let cases = vec![(name, format!("the content type is {kind}"))];
        self.wrong.push(WrongRequest {
            of: at,
            request,
            sort: String::new(),
            part: WrongPart::Content,
            cases,
        });
    }

    /// Returns the answers to a request with another content type.
    pub(super) fn content_refusals_text(
        &mut self,
        operation: &RequestOperation,
        wrong_request: &WrongRequest,
    ) -> String {
        let name = &wrong_request.request.name;
        let base = self.wrong_rules.get(name).cloned().unwrap_or_default();
        let kind = wrong_request.request.content.clone().unwrap_or_default();
        let about = content_about(&self.method_of(wrong_request.of), &kind);
        let mut text = String::new();
        for answer in &wrong_request.request.answers {
            let plan = self.refusal_plan(&wrong_request.request, wrong_request, answer);
            let refused = ResourceRule {
                support: Some("true".into()),
                ..refusal_rule(format!("{base}.refused"), "true".into(), about.clone(), RuleWeight::Guess)
            };
            // The rule says nothing that the transition does not; it is there to be supported.
            let rules = if self.rules.mode == RuleMode::Learning { vec![refused] } else { Vec::new() };
            text.push_str(&self.rules.answer_text(&AnswerPlan { rules, ..plan }));
        }
        if self.rules.mode != RuleMode::Learning {
            return text;
        }
        for answer in operation.answers.iter().filter(|answer| !answer.status.starts_with('4')) {
            let plan = self.refusal_plan(operation, wrong_request, answer);
            let (end, weight, updates) = if is_success(answer) {
                ("accepted", RuleWeight::Guess, self.updates_if_accepted(wrong_request, answer))
            } else {
                ("error", RuleWeight::Contradiction, plan.updates.clone())
            };
            let rule = refusal_rule(format!("{base}.{end}"), "false".into(), about.clone(), weight);
            text.push_str(&self.rules.answer_text(&AnswerPlan { rules: vec![rule], updates, ..plan }));
        }
        text
    }
}

/// Returns the rule for people.
fn content_about(method: &str, kind: &str) -> String {
    format!("{method} refuses a body in {kind}, which is not documented")
}
