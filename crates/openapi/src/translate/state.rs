//! The state of the service as a model: what was created, changed and removed, and the answers that follow from it.

use std::collections::BTreeSet;

use super::check::ValueWriter;
use super::operation::MissingHeader;
use super::resource::{ResourceRole, is_success, path_fields};
use super::rule::{self, AnswerPlan, ResourceRule, RuleMode};
use super::weight::weight_text;
use super::wrong::WrongRequest;
use super::wrong_method::RUN_OVER;
use super::{FieldLocation, RequestOperation, Translator};
use crate::{RuleTopic, RuleWeight};

/// The number of times that variables which nothing reads are left out: leaving out one may leave another unread.
const MAX_ROUNDS: usize = 5;

impl Translator<'_> {
    /// Returns the variables that something reads, the only state and the purposes.
    pub(super) fn used_state_text(&mut self) -> String {
        let rules = self.rules.clone();
        let mut all_unread = BTreeSet::new();
        let mut text = self.state_text();
        for _ in 0..MAX_ROUNDS {
            let (variables, transitions) = text.split_once("state serving {").unwrap_or((&text, ""));
            // What is only assigned costs the solver and the reader, and decides nothing.
            let read = rule::names_read(transitions);
            let declared = variables.lines().filter_map(|line| line.strip_prefix("var ")?.split(':').next());
            let unread: BTreeSet<String> =
                declared.filter(|name| !read.contains(*name)).map(str::to_owned).collect();
            if unread.is_empty() {
                break;
            }
            all_unread.extend(unread);
            // Written again from the beginning, as leaving out a variable may change rules and functions anywhere.
            self.rules = rules.clone().without_variables(all_unread.clone());
            self.declared_rules.clear();
            text = self.state_text();
        }
        text
    }

    /// Returns the variables, the only state and the purposes.
    fn state_text(&mut self) -> String {
        let mut text = self.owed_text();
        text.push_str(&self.variables_text());
        let mut transitions = String::new();
        for at in 0..self.asked.len() {
            transitions.push_str(&self.operation_text(at));
            transitions.push('\n');
        }
        // Functions come before the state, which calls them; which there are is known only now that it is written.
        text.push_str(&std::mem::take(&mut self.rule_functions));
        text.push_str(match self.rules.mode {
            RuleMode::Stateless => {
                "/// Any request at any time, then one of the answers that are documented for it.\n"
            }
            _ => "/// Any request at any time, then a documented answer that agrees with the earlier ones.\n",
        });
        text.push_str(&format!("state serving {{\n{transitions}}}\n\n"));
        // With state, the default tester finds its way by itself.
        if self.rules.mode == RuleMode::Stateless {
            for one in &self.asked {
                for answer in
                    one.answers.iter().filter(|answer| is_success(answer) && answer.location.is_none())
                {
                    text.push_str(&format!("purpose {}: ask_{}, {}\n", answer.name, one.name, answer.name));
                }
            }
        }
        text
    }

    /// Returns the declaration of a variable, if something reads it.
    fn variable(&self, name: &str, sort: &str, value: &str, about: &str) -> String {
        if self.rules.is_unread(name) {
            return String::new();
        }
        format!("/// {about}\nvar {name}: {sort} = {value}\n")
    }

    fn owed_text(&self) -> String {
        let wrong = self.wrong.iter().map(|wrong| &wrong.request.name);
        let names = self.asked.iter().map(|asked| &asked.name).chain(wrong);
        let mut cases: Vec<String> = names.map(|name| format!("owes_{name}")).collect();
        if self.rules.mode == RuleMode::Learning {
            cases.push(RUN_OVER.to_owned());
        }
        format!(
            "/// The request that is not answered yet.\nenum Owed {{ nothing, {} }}\nvar owed: Owed = nothing\n\n",
            cases.join(", ")
        )
    }

    /// Returns the variables for resources, and for what was sent.
    fn variables_text(&self) -> String {
        let mut text = String::new();
        for resource in &self.resources {
            let key = resource.key_sort();
            if !resource.parents.is_empty() {
                let fields: Vec<String> =
                    resource.parents.iter().map(|(name, sort)| format!("{name}: {sort}")).collect();
                text.push_str(&format!(
                    "record {key} {{ {}, id: {} }}\n",
                    fields.join(", "),
                    resource.id_sort
                ));
            }
            let about = format!("The {} that the service has, as far as its answers showed.", resource.items);
            text.push_str(&self.variable(
                &resource.items,
                &format!("map<{key}, {}>", resource.known),
                "{}",
                &about,
            ));
            for (name, sent) in &resource.written {
                let about = format!("The {} that were written and not shown since.", resource.items);
                text.push_str(&self.variable(name, &format!("map<{key}, {sent}>"), "{}", &about));
            }
            let about = format!("The {} that were created and not deleted.", resource.items);
            text.push_str(&self.variable(&resource.created, &format!("set<{key}>"), "{}", &about));
            let about = format!("The {} that were deleted.", resource.items);
            text.push_str(&self.variable(&resource.deleted, &format!("set<{key}>"), "{}", &about));
            let about = format!("The {} that were deleted, as they were shown last.", resource.items);
            let sort = format!("map<{key}, {}>", resource.known);
            text.push_str(&self.variable(&resource.removed, &sort, "{}", &about));
            if !resource.orphaned.is_empty() {
                let about =
                    format!("The {} that may have been removed with what contained them.", resource.items);
                text.push_str(&self.variable(&resource.orphaned, &format!("set<{key}>"), "{}", &about));
            }
            let about =
                format!("The {} that the last request wrote, until another one is sent.", resource.singular);
            text.push_str(&self.variable(&resource.last_written(), &format!("{key}?"), "none", &about));
            let about = format!("The first {} that was created.", resource.singular);
            text.push_str(&self.variable(
                &resource.first_created(),
                &format!("{}?", resource.known),
                "none",
                &about,
            ));
            for below in self.contents_of(resource) {
                let about = format!("The number of {} in each {}.", below.word, resource.singular);
                text.push_str(&self.variable(&below.counts, &format!("map<{key}, int>"), "{}", &about));
            }
            let about = format!("The {} that the open request is about.", resource.singular);
            text.push_str(&self.variable(&resource.asked, &key, &resource.no_key(), &about));
            text.push('\n');
        }
        text.push_str(&self.singleton_keys());
        for (name, sort, value, about) in self.singleton_variables() {
            text.push_str(&self.variable(&name, &sort, &value, &about));
        }
        for at in 0..self.asked.len() {
            text.push_str(&self.request_variables(at));
        }
        for wrong in self.wrong.iter().filter(|wrong| wrong.value_field().is_some()) {
            let about = format!("What is wrong with the request `{}`.", wrong.request.name);
            let sort = format!("{}?", wrong.sort);
            text.push_str(&self.variable(&wrong.variable(), &sort, "none", &about));
        }
        text
    }

    /// Returns the variables for what the request of an operation said.
    fn request_variables(&self, at: usize) -> String {
        let mut text = String::new();
        if let Some((name, record)) = self.sent_variable(at) {
            let about = format!("What `{}` sent.", self.asked[at].name);
            text.push_str(&self.variable(&name, &format!("{record}?"), "none", &about));
        }
        for list in self.list_requests(at) {
            let about = format!("Whether `{}` asked for all items.", self.asked[at].name);
            text.push_str(&self.variable(&list.is_plain, "bool", "false", &about));
            if list.limit.is_some() {
                let about =
                    format!("How many items `{}` asked for; 0 if it is not known.", self.asked[at].name);
                text.push_str(&self.variable(&list.page, "int", "0", &about));
            }
            let about = format!("Whether `{}` asked for items of any kind.", self.asked[at].name);
            text.push_str(&self.variable(&list.is_unfiltered, "bool", "false", &about));
            let about = format!(
                "How many items are before the page that `{}` asked for; -1 if it is not known.",
                self.asked[at].name
            );
            text.push_str(&self.variable(&list.offset, "int", "0", &about));
            for filter in &list.filters {
                let about = format!("The `{}` that `{}` asked for.", filter.field, self.asked[at].name);
                text.push_str(&self.variable(&filter.variable, &filter.sort, "none", &about));
            }
        }
        text
    }

    /// Returns the variable for the body of a request, if a resource has a use for it.
    pub(super) fn sent_variable(&self, at: usize) -> Option<(String, String)> {
        let is_used = self.resources.iter().any(|resource| {
            let role = resource.roles.get(&at);
            let role = role.copied();
            role.is_some_and(|role| !matches!(role, ResourceRole::Sweep | ResourceRole::Delete))
        });
        let record = self.sent_record(at).filter(|_| is_used || self.is_of_singleton(at))?;
        Some((format!("sent_{}", self.asked[at].name), record))
    }

    /// Returns the transitions of an operation and of the wrong requests for it.
    fn operation_text(&mut self, at: usize) -> String {
        let asked = self.asked[at].clone();
        let mut updates = vec![format!("owed = owes_{}", asked.name)];
        updates.extend(self.request_updates(at, true));
        let mut text = String::new();
        let factor = self.weight_factor();
        for variant in self.request_variants(at) {
            text.push_str(&weight_text(variant.weight * factor));
            let request = self.request_text(&asked, &updates, variant.guard.as_deref());
            // Every variant needs a label of its own.
            text.push_str(&request.replacen(": on", &format!("{}: on", variant.suffix), 1));
        }
        for answer in &asked.answers {
            let plan = self.plan_answer(at, answer);
            let missing = answer.lacks.as_ref().filter(|_| self.rules.mode == RuleMode::Learning);
            if let Some(MissingHeader { header, .. }) = missing {
                let rule = ResourceRule {
                    id: answer.header_rule(header),
                    condition: "false".into(),
                    about: format!(
                        "{} answers {} with the header `{header}`",
                        self.method_of(at),
                        answer.status
                    ),
                    weight: RuleWeight::Guess,
                    topic: RuleTopic::State,
                    support: None,
                };
                text.push_str(&self.rules.answer_text(&AnswerPlan { rules: vec![rule], ..plan }));
                continue;
            }
            if answer.is_seen && self.rules.mode == RuleMode::Learning {
                let method = self.method_of(at);
                self.rules.observe_status(&plan.label, (&asked.name, &method), &answer.status);
            }
            text.push_str(&self.rules.answer_text(&plan));
        }
        let wrong: Vec<WrongRequest> = self.wrong.iter().filter(|wrong| wrong.of == at).cloned().collect();
        for wrong in &wrong {
            let remember = wrong.value_field().map(|value| format!("{} = some({value})", wrong.variable()));
            let owes = format!("owed = owes_{}", wrong.request.name);
            let about_items = self.wrong_updates(wrong);
            let updates: Vec<String> = [owes].into_iter().chain(remember).chain(about_items).collect();
            text.push('\n');
            for variant in self.wrong_variants(wrong) {
                text.push_str(&weight_text(variant.weight));
                let request = self.request_text(&wrong.request, &updates, variant.guard.as_deref());
                text.push_str(&request.replacen(": on", &format!("{}: on", variant.suffix), 1));
            }
            text.push_str(&self.refusals_text(&asked, wrong));
        }
        text
    }

    /// Returns method and path of an operation.
    pub(super) fn method_of(&self, at: usize) -> String {
        format!("{} {}", self.operations[at].method, self.operations[at].path)
    }

    /// Returns the transition of a request; `more` is a further condition.
    fn request_text(
        &mut self,
        operation: &RequestOperation,
        updates: &[String],
        more: Option<&str>,
    ) -> String {
        let checks: Vec<String> = operation
            .fields
            .iter()
            .filter_map(|field| self.checks.condition_text(&field.check, &field.name, ValueWriter::Sent))
            .collect();
        let guard = std::iter::once("owed == nothing".to_owned()).chain(checks);
        let guard: Vec<String> = guard.chain(more.map(str::to_owned)).collect();
        let name = &operation.name;
        let updates = self.rules.read_updates(updates);
        format!("ask_{name}: on {name} when {} {{ {} }}\n", guard.join(" && "), updates.join(", "))
    }

    /// Returns what a request says about resources, as updates; `is_read` says whether its body is as described.
    pub(super) fn request_updates(&self, at: usize, is_read: bool) -> Vec<String> {
        let mut updates = Vec::new();
        let fields = path_fields(&self.asked[at]);
        for resource in &self.resources {
            let role = resource.roles.get(&at);
            if role != Some(&ResourceRole::Get) {
                // Any other request may change what was written, so only a `GET` right after it must show it.
                updates.push(format!("{} = none", resource.last_written()));
            }
            let Some(role) = role else { continue };
            let count = resource.parents.len();
            let parents: Vec<String> = fields.iter().take(count).map(|field| field.name.clone()).collect();
            let none = if resource.id_sort == "int" { "0" } else { "\"\"" };
            let id = match role {
                ResourceRole::Sweep => continue,
                ResourceRole::List | ResourceRole::Create => none,
                _ => fields.get(count).map_or(none, |field| field.name.as_str()),
            };
            // Without parents a collection has no key to remember.
            if parents.len() == count && !(count == 0 && id == none) {
                updates.push(format!("{} = {}", resource.asked, resource.key(&parents, id)));
            }
        }
        updates.extend(self.singleton_updates(at));
        if let Some((variable, record)) = self.sent_variable(at) {
            let body = self.asked[at].fields.iter().find(|field| field.place == FieldLocation::Body);
            let is_option = body.is_some_and(|field| field.sort == format!("{record}?"));
            let name = body.map_or("body", |field| field.name.as_str());
            let value = match (is_read, is_option) {
                (false, _) => "none".to_owned(),
                (true, true) => name.to_owned(),
                (true, false) => format!("some({name})"),
            };
            updates.push(format!("{variable} = {value}"));
        }
        for list in self.list_requests(at) {
            updates.push(format!("{} = {}", list.is_plain, list.plain_condition));
            if let Some(limit) = &list.limit {
                updates.push(format!("{} = {limit}", list.page));
            }
            updates.push(format!("{} = {}", list.is_unfiltered, list.unfiltered_condition));
            updates.push(format!("{} = {}", list.offset, list.offset_value));
            updates
                .extend(list.filters.iter().map(|filter| format!("{} = {}", filter.variable, filter.value)));
        }
        updates
    }
}
