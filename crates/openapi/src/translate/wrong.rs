//! Requests that the description excludes: a service must refuse them.
//!
//! A wrong request is an input of its own, whose field is an enum: every case is one thing that is wrong, written as
//! the JSON of the whole body or as the text of one parameter. Whatever else is in the request, it does not fit the
//! description, so an answer 2xx accepts what is excluded.

use std::collections::BTreeSet;

use super::check::ValueCondition;
use super::operation::{FieldOf, is_json};
use super::resource::is_success;
use super::rule::{AnswerPlan, ResourceRule, RuleMode};
use super::{FieldLocation, RequestOperation, Translator, doc_comment};
use crate::document::Operation;
use crate::name;
use crate::node::SpecNode;
use crate::{RuleTopic, RuleWeight};

/// The number of wrong values of one body or parameter. Chosen by feel: each is sent several times in a campaign.
pub(super) const MAX_CASES: usize = 24;

/// A request that must be refused.
#[derive(Clone, Debug)]
pub(crate) struct WrongRequest {
    /// The operation, by its place.
    pub(crate) of: usize,
    /// The request; it has no answers of its own.
    pub(crate) request: RequestOperation,
    /// The enum of what is wrong.
    pub(crate) sort: String,
    /// The field with the wrong value; `None` if the credentials are wrong.
    field: Option<String>,
    /// The cases with what is wrong, for people.
    cases: Vec<(String, String)>,
}

impl WrongRequest {
    /// Returns the variable for what is wrong with the open request.
    pub(crate) fn variable(&self) -> String {
        format!("wrong_in_{}", self.request.name)
    }

    /// Returns the number of mistakes that it can have.
    pub(crate) fn case_count(&self) -> usize {
        self.cases.len()
    }

    /// Returns the field with the wrong value.
    pub(crate) fn value_field(&self) -> Option<&str> {
        self.field.as_deref()
    }
}

/// A value that the description excludes.
pub(super) struct WrongValue {
    /// The name of its case.
    pub(super) name: String,
    pub(super) value: SpecNode,
    /// The mistake, for people.
    pub(super) about: String,
}

impl<'t> Translator<'t> {
    /// Finds the wrong requests of all operations.
    pub(super) fn find_wrong_requests(&mut self) {
        for at in 0..self.asked.len() {
            let operation = self.operations[at].clone();
            self.find_wrong_bodies(at, &operation);
            for (node, _) in &operation.parameters {
                self.find_wrong_parameters(at, node);
            }
            self.find_wrong_credentials(at, &operation);
            if self.wrong.iter().any(|wrong| wrong.of == at) {
                self.split_answer(at, "4xx");
            }
        }
        // Without an answer 4xx nothing could refuse them.
        let asked = &self.asked;
        let refuses = |at: usize| asked[at].answers.iter().any(|answer| answer.status.starts_with('4'));
        self.wrong.retain(|wrong| refuses(wrong.of));
    }

    fn find_wrong_bodies(&mut self, at: usize, operation: &Operation<'t>) {
        let asked = self.asked[at].clone();
        let Some(body) = asked.fields.iter().find(|field| field.place == FieldLocation::Body) else { return };
        if asked.content.is_some() {
            return;
        }
        let Some(node) = operation.node.get("requestBody") else { return };
        let Some((node, _)) = self.document.resolve_reference(node, "") else { return };
        let contents = node.get("content").map(SpecNode::members).unwrap_or_default();
        let json = contents.iter().find(|(kind, _)| is_json(kind)).and_then(|(_, media)| media.get("schema"));
        let Some(schema) = json else { return };
        let values = self.wrong_objects(schema);
        self.add_wrong(at, "body", body, values);
    }

    fn find_wrong_parameters(&mut self, at: usize, node: &'t SpecNode) {
        let wire = node.text_at("name").unwrap_or_default();
        let asked = self.asked[at].clone();
        let Some(field) =
            asked.fields.iter().find(|field| field.wire == wire && field.place != FieldLocation::Body)
        else {
            return;
        };
        if !matches!(field.place, FieldLocation::Query | FieldLocation::Path)
            || field.sort.starts_with("list<")
        {
            return;
        }
        let Some((schema, _)) =
            node.get("schema").and_then(|schema| self.document.resolve_reference(schema, ""))
        else {
            return;
        };
        let kind = schema.text_at("type");
        let text = |text: &str| SpecNode::Text(text.to_owned());
        let mut values = Vec::new();
        // Every value of a parameter is a text, so only numbers and truths have a wrong type.
        if matches!(kind, Some("integer" | "number" | "boolean")) {
            values.push(WrongValue {
                name: "wrong_type".into(),
                value: text("notanumber"),
                about: format!("`{wire}` is no {}", kind.unwrap_or_default()),
            });
        }
        if field.place == FieldLocation::Path && schema.text_at("format") == Some("uuid") {
            values.push(WrongValue {
                name: "no_uuid".into(),
                value: text("no-uuid"),
                about: format!("`{wire}` is no UUID"),
            });
        }
        // A number beyond its range in a path may well be one that no item has; either is refused.
        values.extend(self.wrong_values(schema, wire).into_iter().filter_map(|(name, value, about)| {
            let plain = match &value {
                SpecNode::Number(number) => Some(number.clone()),
                SpecNode::Text(text) if !text.is_empty() => Some(text.clone()),
                _ => None,
            };
            Some(WrongValue { name, value: SpecNode::Text(plain?), about })
        }));
        let hint = name::snake_case(wire);
        self.add_wrong(at, &hint, field, values);
    }

    /// Adds a request with wrong credentials, if the operation needs some and there are right ones.
    fn find_wrong_credentials(&mut self, at: usize, operation: &Operation<'t>) {
        let Some(credential) = self.credential.clone().filter(|_| self.document.needs_credentials(operation))
        else {
            return;
        };
        let asked = self.asked[at].clone();
        let base = format!("{}_unauthorised", asked.name);
        let rule = format!("{base}.accepted");
        let about = "the credentials are wrong".to_owned();
        if self.rules.is_broken(&rule) {
            let method = self.method_of(at);
            self.rules.loosened.push(format!("{method} refuses a request in which {about}"));
            return;
        }
        let name = self.messages.fresh_name(&base);
        let doc = doc_comment(&format!(
            "A request that must be refused: {} with wrong credentials.",
            self.method_of(at)
        ));
        let request = RequestOperation {
            name: name.clone(),
            about: doc,
            answers: Vec::new(),
            wrong_credential: Some(credential),
            ..asked
        };
        self.wrong_rules.insert(name.clone(), rule);
        self.wrong.push(WrongRequest {
            of: at,
            request,
            sort: String::new(),
            field: None,
            cases: vec![(name, about)],
        });
    }

    /// Adds a request in which `field` has one of these values.
    fn add_wrong(&mut self, at: usize, hint: &str, field: &FieldOf, values: Vec<WrongValue>) {
        let asked = self.asked[at].clone();
        let base = format!("{} wrong {hint}", asked.name);
        let (mut cases, mut seen) = (Vec::new(), BTreeSet::new());
        let name = name::snake_case(&base);
        let mut declared = Vec::new();
        for value in values.into_iter().take(MAX_CASES) {
            let rule = format!("{name}.{}", value.name);
            if !seen.insert(value.value.to_json()) || self.rules.is_broken(&rule) {
                if self.rules.is_broken(&rule) {
                    let method = self.method_of(at);
                    self.rules.loosened.push(format!("{method} refuses a request in which {}", value.about));
                }
                continue;
            }
            let case = self.cases.fresh_name(&name::snake_case(&format!("{name} {}", value.name)));
            self.form.cases.push((case.clone(), value.value.to_json()));
            declared.push(case.clone());
            cases.push((case, value.about, rule));
        }
        if cases.is_empty() {
            return;
        }
        let sort = self.types.fresh_name(&name::pascal_case(&base));
        let name = self.messages.fresh_name(&name);
        let whole = doc_comment(&format!("Values that `{}` of {} excludes.", field.wire, asked.name));
        self.declarations.push(format!("{whole}enum {sort} {{ {} }}\n", declared.join(", ")));
        let is_needed = |other: &&FieldOf| {
            other.name == field.name
                || other.place == FieldLocation::Path
                || !other.sort.ends_with('?') && other.place != FieldLocation::Body
                || other.place == FieldLocation::Body
        };
        let fields = asked.fields.iter().filter(is_needed).map(|other| {
            if other.name == field.name {
                FieldOf { sort: sort.clone(), check: ValueCondition::Anything, ..other.clone() }
            } else {
                other.clone()
            }
        });
        let about = doc_comment(&format!(
            "A request that must be refused: {} {}, with a wrong `{}`.",
            asked.method, self.operations[at].path, field.wire
        ));
        let request = RequestOperation {
            name: name.clone(),
            fields: fields.collect(),
            about,
            answers: Vec::new(),
            ..asked
        };
        for (case, _, rule) in &cases {
            self.wrong_rules.insert(case.clone(), rule.clone());
        }
        let cases = cases.into_iter().map(|(case, about, _)| (case, about)).collect();
        self.wrong.push(WrongRequest { of: at, request, sort, field: Some(field.name.clone()), cases });
    }

    /// Returns the answers to a wrong request: those of 4xx; in learning every answer of 2xx is observed, by case.
    pub(super) fn refusals_text(&mut self, asked: &RequestOperation, wrong: &WrongRequest) -> String {
        let mut text = String::new();
        let name = wrong.request.name.clone();
        let method = self.method_of(wrong.of);
        for answer in &asked.answers {
            let check = answer.body.as_ref().and_then(|(_, check)| {
                self.checks.condition_text(check, "body", super::check::ValueWriter::Told)
            });
            let base = std::iter::once(format!("owed == owes_{name}")).chain(check).collect::<Vec<_>>();
            let suffix = answer.name.strip_prefix(&format!("{}_", asked.name)).unwrap_or(&answer.name);
            let plan = AnswerPlan {
                label: format!("{name}_{suffix}"),
                gate: answer.name.clone(),
                base,
                updates: vec!["owed = nothing".into()],
                ..AnswerPlan::default()
            };
            if answer.status.starts_with('4') {
                if answer.is_seen && self.rules.mode == RuleMode::Learning {
                    self.rules.observe_status(&plan.label, (&asked.name, &method), &answer.status);
                }
                text.push_str(&self.rules.answer_text(&plan));
            } else if answer.status.starts_with('5') && self.rules.mode == RuleMode::Learning {
                let rule = ResourceRule {
                    id: format!("{name}.{}", answer.status),
                    condition: "false".into(),
                    about: format!("{method} does not answer {} to a wrong request", answer.status),
                    weight: RuleWeight::Contradiction,
                    topic: RuleTopic::Refusal,
                    support: None,
                };
                text.push_str(&self.rules.answer_text(&AnswerPlan { rules: vec![rule], ..plan }));
            } else if is_success(answer) && self.rules.mode == RuleMode::Learning {
                let is_case = |case: &str| match wrong.value_field() {
                    Some(_) => format!("{} != some({case})", wrong.variable()),
                    None => "false".to_owned(),
                };
                let rules = wrong.cases.iter().map(|(case, about)| ResourceRule {
                    id: self.wrong_rules.get(case).cloned().unwrap_or_default(),
                    condition: is_case(case),
                    about: format!("{method} refuses a request in which {about}"),
                    weight: RuleWeight::Contradiction,
                    topic: RuleTopic::Refusal,
                    support: None,
                });
                let plan = AnswerPlan { rules: rules.collect(), ..plan };
                text.push_str(&self.rules.answer_text(&plan));
            }
        }
        text
    }
}
