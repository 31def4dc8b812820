//! The answers that operations on resources need: 404, the id in `Location`, and variables for what no answer shows.

use super::operation::MissingHeader;
use super::resource::{Resource, ResourceRole, is_success};
use super::rule::RuleMode;
use super::{DocumentedResponse, Translator};
use crate::name::TakenNames;

impl Translator<'_> {
    /// Adds the variables for items that were written by requests whose answers do not show them.
    pub(super) fn add_written_maps(&mut self, taken: &mut TakenNames) {
        for at in 0..self.resources.len() {
            let mut resource = self.resources[at].clone();
            for (operation, role) in resource.roles.clone() {
                if !matches!(role, ResourceRole::Create | ResourceRole::Put | ResourceRole::Patch) {
                    continue;
                }
                let Some(sent) = self.sent_record(operation) else { continue };
                let answers = self.asked[operation].answers.iter().filter(|answer| is_success(answer));
                let is_shown = |answer: &DocumentedResponse| {
                    let view = self.item_view(&resource, answer);
                    view.is_some_and(|view| self.known_value(&resource, &view).is_some())
                };
                let is_hidden = answers.clone().any(|answer| !is_shown(answer));
                if is_hidden && !resource.written.iter().any(|(_, record)| *record == sent) {
                    let name = taken.fresh_name(&format!("written_{}", resource.items));
                    resource.written.push((name, sent));
                }
            }
            self.resources[at] = resource;
        }
    }

    /// Adds 404 where only a class of statuses or `default` covers it, and the id in `Location` where no body has it.
    pub(super) fn add_missing_answers(&mut self) {
        for resource in &self.resources.clone() {
            for (&at, &role) in &resource.roles {
                if matches!(role, ResourceRole::List | ResourceRole::Sweep) {
                    continue;
                }
                self.split_answer(at, "404");
                if role == ResourceRole::Create {
                    self.add_location(at, resource);
                }
            }
        }
    }

    /// Adds an answer with this status or class, as the wider answer that covers it is.
    pub(super) fn split_answer(&mut self, at: usize, status: &str) {
        let asked = &self.asked[at];
        let of = |answer: &DocumentedResponse| answer.status.to_ascii_lowercase();
        let class = format!("{}xx", &status[..1]);
        if asked.answers.iter().any(|answer| of(answer) == status) {
            return;
        }
        let wider = asked.answers.iter().filter(|answer| of(answer) == class || of(answer) == "default");
        let wider: Vec<DocumentedResponse> = wider.take(1).cloned().collect();
        let name = format!("{}_{status}", asked.name);
        for answer in wider {
            let name = self.messages.fresh_name(&name);
            let split = DocumentedResponse { name, status: status.to_owned(), ..answer };
            self.asked[at].answers.insert(0, split);
        }
    }

    /// Adds the field `location` to answers 201 of an operation whose body does not show the item.
    fn add_location(&mut self, at: usize, resource: &Resource) {
        let mut more = Vec::new();
        for answer in &self.asked[at].answers {
            if answer.status == "201" && answer.lacks.is_none() && self.item_view(resource, answer).is_none()
            {
                more.push(answer.clone());
            }
        }
        for answer in more {
            let is_wanted = self.rules.mode == RuleMode::Learning
                || self.rules.is_broken(&answer.header_rule("Location"));
            let other = format!("{}_headless", answer.name);
            let other = is_wanted.then(|| self.messages.fresh_name(&other));
            let answers = &mut self.asked[at].answers;
            let Some(place) = answers.iter().position(|other| other.name == answer.name) else { continue };
            answers[place].location = Some(resource.id_sort.to_owned());
            if let Some(name) = other {
                let lacks = Some(MissingHeader { header: "Location".into(), response: answer.name.clone() });
                answers.insert(place + 1, DocumentedResponse { name, lacks, ..answer });
            }
        }
    }
}
