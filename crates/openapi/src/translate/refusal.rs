//! The answers to requests that must be refused, and in learning the answers that accept them.

use super::check::ValueWriter;
use super::operation::RequestOperation;
use super::resource::is_success;
use super::rule::{AnswerPlan, ResourceRule, RuleMode};
use super::wrong::{WrongPart, WrongRequest};
use super::{DocumentedResponse, FieldLocation, Translator};
use crate::{RuleTopic, RuleWeight};

impl Translator<'_> {
    /// Returns a wrong request for people.
    pub(super) fn describe_wrong(&self, wrong_request: &WrongRequest) -> String {
        let method = self.method_of(wrong_request.of);
        match &wrong_request.part {
            WrongPart::Value(field) => format!("{method} with a wrong `{field}`"),
            WrongPart::Method(_) => {
                format!("a method that is not documented for {}", self.operations[wrong_request.of].path)
            }
            WrongPart::Content => format!("{method} with another content type"),
            WrongPart::Credentials => format!("{method} with wrong credentials"),
        }
    }

    /// Returns what a wrong request says about resources, in learning: if the service accepts it, it does what it does
    /// with a right one.
    pub(super) fn wrong_updates(&self, wrong_request: &WrongRequest) -> Vec<String> {
        if self.rules.mode != RuleMode::Learning || !self.is_as_right(wrong_request) {
            return Vec::new();
        }
        self.request_updates(wrong_request.of, wrong_request.part == WrongPart::Credentials)
    }

    /// Returns whether a service that accepts the request does so as with a right one.
    fn is_as_right(&self, wrong_request: &WrongRequest) -> bool {
        match &wrong_request.part {
            WrongPart::Content | WrongPart::Credentials => true,
            WrongPart::Method(_) => false,
            WrongPart::Value(name) => {
                let is_body = wrong_request
                    .request
                    .fields
                    .iter()
                    .any(|field| field.name == *name && field.place == FieldLocation::Body);
                is_body && self.list_requests(wrong_request.of).is_empty()
            }
        }
    }

    /// Returns the answers to a wrong request: those of 4xx; in learning every answer of 2xx is observed, by case.
    pub(super) fn refusals_text(
        &mut self,
        operation: &RequestOperation,
        wrong_request: &WrongRequest,
    ) -> String {
        match &wrong_request.part {
            WrongPart::Method(_) => self.method_refusals_text(wrong_request),
            WrongPart::Content => self.content_refusals_text(operation, wrong_request),
            WrongPart::Value(_) | WrongPart::Credentials => {
                self.operation_refusals_text(operation, wrong_request)
            }
        }
    }

    /// Returns the answers to a wrong request that its operation has.
    fn operation_refusals_text(
        &mut self,
        operation: &RequestOperation,
        wrong_request: &WrongRequest,
    ) -> String {
        let mut text = String::new();
        let name = wrong_request.request.name.clone();
        let method = self.method_of(wrong_request.of);
        for answer in &operation.answers {
            let plan = self.refusal_plan(operation, wrong_request, answer);
            if answer.status.starts_with('4') {
                if answer.is_seen && self.rules.mode == RuleMode::Learning {
                    self.rules.observe_status(&plan.label, (&operation.name, &method), &answer.status);
                }
                text.push_str(&self.rules.answer_text(&plan));
            } else if answer.status.starts_with('5') && self.rules.mode == RuleMode::Learning {
                let about = format!("{method} does not answer {} to a wrong request", answer.status);
                let id = format!("{name}.{}", answer.status);
                let rule = refusal_rule(id, "false".into(), about, RuleWeight::Contradiction);
                text.push_str(&self.rules.answer_text(&AnswerPlan { rules: vec![rule], ..plan }));
            } else if is_success(answer) && self.rules.mode == RuleMode::Learning {
                let is_case = |case: &str| match wrong_request.value_field() {
                    Some(_) => format!("{} != some({case})", wrong_request.variable()),
                    None => "false".to_owned(),
                };
                let rules = wrong_request.cases.iter().map(|(case, about)| {
                    let id = self.wrong_rules.get(case).cloned().unwrap_or_default();
                    let about = format!("{method} refuses a request in which {about}");
                    refusal_rule(id, is_case(case), about, RuleWeight::Contradiction)
                });
                let rules = rules.collect();
                let updates = self.updates_if_accepted(wrong_request, answer);
                text.push_str(&self.rules.answer_text(&AnswerPlan { rules, updates, ..plan }));
            }
        }
        text
    }

    /// Returns an answer of the operation as the answer to a wrong request, without rules.
    pub(super) fn refusal_plan(
        &mut self,
        operation: &RequestOperation,
        wrong_request: &WrongRequest,
        answer: &DocumentedResponse,
    ) -> AnswerPlan {
        let name = &wrong_request.request.name;
        let check = answer
            .body
            .as_ref()
            .and_then(|(_, check)| self.checks.condition_text(check, "body", ValueWriter::Told));
        let suffix = answer.name.strip_prefix(&format!("{}_", operation.name)).unwrap_or(&answer.name);
        AnswerPlan {
            label: format!("{name}_{suffix}"),
            gate: answer.name.clone(),
            base: std::iter::once(format!("owed == owes_{name}")).chain(check).collect(),
            updates: vec!["owed = nothing".into()],
            ..AnswerPlan::default()
        }
    }

    /// Returns the updates after a wrong request was carried out, in learning.
    pub(super) fn updates_if_accepted(
        &mut self,
        wrong_request: &WrongRequest,
        answer: &DocumentedResponse,
    ) -> Vec<String> {
        if self.is_as_right(wrong_request) {
            return self.plan_answer(wrong_request.of, answer).updates;
        }
        vec!["owed = nothing".into()]
    }
}

/// Returns a rule about a request that must be refused.
pub(super) fn refusal_rule(id: String, condition: String, about: String, weight: RuleWeight) -> ResourceRule {
    ResourceRule { id, condition, about, weight, topic: RuleTopic::Refusal, support: None }
}
