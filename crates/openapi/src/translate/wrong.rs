//! Requests that the description excludes: a service must refuse them.
//!
//! A wrong request is an input of its own, whose field is an enum: every case is one thing that is wrong, written as
//! the JSON of the whole body or as the text of one parameter. Whatever else is in the request, it does not fit the
//! description, so an answer 2xx accepts what is excluded.

use std::collections::BTreeSet;

use super::check::ValueCondition;
use super::operation::{FieldOf, WrongCredential, is_json};
use super::{FieldLocation, RequestOperation, Translator, doc_comment, request_body};
use crate::credential::{Credential, CredentialPlace};
use crate::document::Operation;
use crate::name::{self, TakenNames};
use crate::node::SpecNode;

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
    /// The part of it that is wrong.
    pub(super) part: WrongPart,
    /// The cases with what is wrong, for people.
    pub(super) cases: Vec<(String, String)>,
}

/// The part of a request that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum WrongPart {
    /// The value of a field.
    Value(String),
    /// The method, in this field.
    Method(String),
    /// The content type of the body.
    Content,
    Credentials,
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

    /// Returns the field with what is wrong, an enum; `None` if the whole request is wrong.
    pub(crate) fn value_field(&self) -> Option<&str> {
        match &self.part {
            WrongPart::Value(field) | WrongPart::Method(field) => Some(field),
            WrongPart::Content | WrongPart::Credentials => None,
        }
    }

    /// Returns whether it is a request to its operation, which may answer as it does to others.
    pub(crate) fn is_of_operation(&self) -> bool {
        !matches!(self.part, WrongPart::Method(_))
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
        // After the filter: these two bring an answer that refuses them.
        self.find_wrong_contents();
        self.find_wrong_methods();
    }

    fn find_wrong_bodies(&mut self, at: usize, operation: &Operation<'t>) {
        let asked = self.asked[at].clone();
        let Some(body) = asked.fields.iter().find(|field| field.place == FieldLocation::Body) else { return };
        let is_form = asked.content.as_deref().is_some_and(request_body::is_form);
        // Only JSON and forms have members that can be wrong one by one.
        if asked.content.is_some() && !is_form {
            return;
        }
        let Some(node) = operation.node.get("requestBody") else { return };
        let Some((node, _)) = self.document.resolve_reference(node, "") else { return };
        let contents = node.get("content").map(SpecNode::members).unwrap_or_default();
        let is_it = |kind: &str| match &asked.content {
            None => is_json(kind),
            Some(content) => kind.starts_with(content.as_str()),
        };
        let media = contents.iter().find(|(kind, _)| is_it(kind));
        let Some(schema) = media.and_then(|(_, media)| media.get("schema")) else { return };
        let values = self.wrong_objects(schema, is_form);
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
                about: format!("`{wire}` is not of type {}", kind.unwrap_or_default()),
            });
        }
        if field.place == FieldLocation::Path && schema.text_at("format") == Some("uuid") {
            values.push(WrongValue {
                name: "no_uuid".into(),
                value: text("no-uuid"),
                about: format!("`{wire}` is not a UUID"),
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

    /// Adds requests with wrong credentials and without any, if the operation needs some and there are right ones.
    fn find_wrong_credentials(&mut self, at: usize, operation: &Operation<'t>) {
        let Some(credential) = self.credential.clone().filter(|_| self.document.needs_credentials(operation))
        else {
            return;
        };
        self.add_wrong_credentials(
            at,
            WrongCredential::Invalid(credential.clone()),
            ("unauthorised", "wrong"),
        );
        self.add_wrong_credentials(at, WrongCredential::Missing(credential), ("unauthenticated", "missing"));
    }

    fn add_wrong_credentials(
        &mut self,
        at: usize,
        credential: WrongCredential,
        (suffix, state): (&str, &str),
    ) {
        let mut asked = self.asked[at].clone();
        let base = format!("{}_{suffix}", asked.name);
        let rule = format!("{base}.accepted");
        let about = format!("the credentials are {state}");
        if self.rules.is_broken(&rule) {
            let method = self.method_of(at);
            self.rules.loosened.push(format!("{method} refuses a request in which {about}"));
            return;
        }
        let name = self.messages.fresh_name(&base);
        let doc = doc_comment(&format!("A request that must be refused: {}; {about}.", self.method_of(at)));
        if let WrongCredential::Missing(Credential { place: CredentialPlace::Header, name, .. }) = &credential
        {
            // The header of all requests is left out where a header of the request is `none`.
            let mut taken = TakenNames::default();
            asked.fields.iter().for_each(|field| drop(taken.fresh_name(&field.name)));
            asked.fields.push(FieldOf {
                name: taken.fresh_name("credentials"),
                wire: name.clone(),
                place: FieldLocation::Header,
                sort: "string?".to_owned(),
                check: ValueCondition::Says("@ == none".to_owned()),
            });
        }
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
            part: WrongPart::Credentials,
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
        // Optional parameters are left out: one of them could be the reason for the refusal, or replace the wrong one.
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
        self.wrong.push(WrongRequest {
            of: at,
            request,
            sort,
            part: WrongPart::Value(field.name.clone()),
            cases,
        });
    }
}
