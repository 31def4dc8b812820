//! The state of the service as a model: what was created, changed and removed, and the answers that follow from it.

use std::collections::BTreeSet;

use super::check::ValueWriter;
use super::resource::{ItemView, Resource, ResourceRole, is_success, path_fields};
use super::rule::{self, AnswerPlan, FieldRules, ResourceRule, RuleMode};
use super::wrong::WrongRequest;
use super::{DocumentedResponse, FieldLocation, RequestOperation, Translator};
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
            let read = rule::names_read(transitions);
            let declared = variables.lines().filter_map(|line| line.strip_prefix("var ")?.split(':').next());
            let unread: BTreeSet<String> =
                declared.filter(|name| !read.contains(*name)).map(str::to_owned).collect();
            if unread.is_empty() {
                break;
            }
            all_unread.extend(unread);
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
        let cases: Vec<String> = names.map(|name| format!("owes_{name}")).collect();
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
            let about =
                format!("The {} that the last request wrote, until another one is sent.", resource.singular);
            text.push_str(&self.variable(&resource.last_written(), &format!("{key}?"), "none", &about));
            let about = format!("The {} that the open request is about.", resource.singular);
            text.push_str(&self.variable(&resource.asked, &key, &resource.no_key(), &about));
            text.push('\n');
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
            for filter in &list.filters {
                let about = format!("The `{}` that `{}` asked for.", filter.field, self.asked[at].name);
                text.push_str(&self.variable(&filter.variable, &filter.sort, "none", &about));
            }
        }
        text
    }

    /// Returns the variable for the body of a request, if a resource has a use for it.
    fn sent_variable(&self, at: usize) -> Option<(String, String)> {
        let is_used = self.resources.iter().any(|resource| {
            let role = resource.roles.get(&at);
            matches!(role, Some(ResourceRole::Create | ResourceRole::Put | ResourceRole::Patch))
        });
        let record = self.sent_record(at).filter(|_| is_used)?;
        Some((format!("sent_{}", self.asked[at].name), record))
    }

    /// Returns the transitions of an operation and of the wrong requests for it.
    fn operation_text(&mut self, at: usize) -> String {
        let asked = self.asked[at].clone();
        let mut updates = vec![format!("owed = owes_{}", asked.name)];
        updates.extend(self.request_updates(at));
        // Wrong requests outnumber the others, and say less about the state.
        let weight = if self.wrong.is_empty() { "" } else { "@weight(4)\n" };
        let known = self.known_guard(at, &asked, None);
        let mut text = self.known_request_text(&asked, &updates, known.as_deref());
        let unknown = known.map(|known| format!("!{known}"));
        text.push_str(&format!("{weight}{}", self.request_text(&asked, &updates, unknown.as_deref())));
        for answer in &asked.answers {
            let plan = self.plan_answer(at, answer);
            if let Some(header) = answer.lacks.as_ref().filter(|_| self.rules.mode == RuleMode::Learning) {
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
            let updates: Vec<String> = [owes].into_iter().chain(remember).collect();
            let known = self.known_guard(at, &wrong.request, wrong.value_field());
            text.push('\n');
            text.push_str(&self.known_request_text(&wrong.request, &updates, known.as_deref()));
            let unknown = known.map(|known| format!("!{known}"));
            text.push_str(&self.request_text(&wrong.request, &updates, unknown.as_deref()));
            text.push_str(&self.refusals_text(&asked, wrong));
        }
        text
    }

    /// Returns method and path of an operation.
    pub(super) fn method_of(&self, at: usize) -> String {
        format!("{} {}", self.operations[at].method, self.operations[at].path)
    }

    /// Returns the condition that the item, or the collection, that a request names is known to exist; `None` if it
    /// names none, or with the wrong field.
    fn known_guard(&self, at: usize, asked: &RequestOperation, wrong: Option<&str>) -> Option<String> {
        let fields = path_fields(asked);
        let names: Vec<String> = fields.iter().map(|field| field.name.clone()).collect();
        if wrong.is_some_and(|wrong| names.iter().any(|name| name == wrong)) {
            return None;
        }
        let of = self
            .resources
            .iter()
            .find(|resource| resource.roles.get(&at).is_some_and(|role| *role != ResourceRole::Sweep))?;
        let count = of.parents.len();
        match of.roles.get(&at)? {
            ResourceRole::List | ResourceRole::Create => {
                let parent = &self.resources[of.parent?];
                let (id, before) = names.get(..count)?.split_last()?;
                Some(format!("({})", parent.is_known(&parent.key(before, id))))
            }
            _ => Some(format!("({})", of.is_known(&of.key(names.get(..count)?, names.get(count)?)))),
        }
    }

    /// Returns the transition of a request that names something that exists, which is chosen more often.
    fn known_request_text(
        &mut self,
        asked: &RequestOperation,
        updates: &[String],
        known: Option<&str>,
    ) -> String {
        let Some(known) = known else { return String::new() };
        let weight = if asked.answers.is_empty() { 2 } else { 12 };
        let request = self.request_text(asked, updates, Some(known));
        format!("@weight({weight})\n{}", request.replacen(": on", "_that_exists: on", 1))
    }

    /// Returns the transition of a request; `more` is a further condition.
    fn request_text(&mut self, asked: &RequestOperation, updates: &[String], more: Option<&str>) -> String {
        let checks: Vec<String> = asked
            .fields
            .iter()
            .filter_map(|field| self.checks.condition_text(&field.check, &field.name, ValueWriter::Sent))
            .collect();
        let guard = std::iter::once("owed == nothing".to_owned()).chain(checks);
        let guard: Vec<String> = guard.chain(more.map(str::to_owned)).collect();
        let name = &asked.name;
        let updates = self.rules.read_updates(updates);
        format!("ask_{name}: on {name} when {} {{ {} }}\n", guard.join(" && "), updates.join(", "))
    }

    /// Returns what a request says about resources, as updates.
    fn request_updates(&self, at: usize) -> Vec<String> {
        let mut updates = Vec::new();
        let fields = path_fields(&self.asked[at]);
        for resource in &self.resources {
            let role = resource.roles.get(&at);
            if role != Some(&ResourceRole::Get) {
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
        if let Some((variable, record)) = self.sent_variable(at) {
            let body = self.asked[at].fields.iter().find(|field| field.place == FieldLocation::Body);
            let is_option = body.is_some_and(|field| field.sort == format!("{record}?"));
            let name = body.map_or("body", |field| field.name.as_str());
            let value = if is_option { name.to_owned() } else { format!("some({name})") };
            updates.push(format!("{variable} = {value}"));
        }
        for list in self.list_requests(at) {
            updates.push(format!("{} = {}", list.is_plain, list.plain_condition));
            if let Some(limit) = &list.limit {
                updates.push(format!("{} = {limit}", list.page));
            }
            updates
                .extend(list.filters.iter().map(|filter| format!("{} = {}", filter.variable, filter.value)));
        }
        updates
    }

    /// Returns an answer with the rules and updates of all resources.
    fn plan_answer(&mut self, at: usize, answer: &DocumentedResponse) -> AnswerPlan {
        let name = self.asked[at].name.clone();
        let check = answer
            .body
            .as_ref()
            .and_then(|(_, check)| self.checks.condition_text(check, "body", ValueWriter::Told));
        let mut plan = AnswerPlan {
            label: answer.name.clone(),
            gate: answer.name.clone(),
            base: std::iter::once(format!("owed == owes_{name}")).chain(check).collect(),
            updates: vec!["owed = nothing".into()],
            ..AnswerPlan::default()
        };
        let is_of = |resource: &&Resource| resource.roles.contains_key(&at);
        let resources: Vec<Resource> = self.resources.iter().filter(is_of).cloned().collect();
        let method = self.method_of(at);
        for resource in &resources {
            if let Some(&role) = resource.roles.get(&at) {
                self.plan_for_resource(resource, role, (at, answer), &mut plan, &method);
            }
        }
        plan
    }

    fn plan_for_resource(
        &mut self,
        resource: &Resource,
        role: ResourceRole,
        (at, answer): (usize, &DocumentedResponse),
        plan: &mut AnswerPlan,
        method: &str,
    ) {
        let status = answer.status.as_str();
        if matches!(status, "404" | "410") {
            return self.plan_missing(resource, role, plan, method);
        }
        if !is_success(answer) {
            // A refusal changes nothing; whether another answer does is not known.
            if !status.starts_with('4')
                && !matches!(role, ResourceRole::Get | ResourceRole::List | ResourceRole::Create)
            {
                plan.updates.extend(forget_updates(resource, role));
            }
            return;
        }
        match role {
            ResourceRole::Create => self.plan_create(resource, (at, answer), plan, method),
            ResourceRole::List => self.plan_list(resource, (at, answer), plan, method),
            ResourceRole::Get => self.plan_get(resource, answer, plan, method),
            ResourceRole::Put | ResourceRole::Patch => {
                self.plan_update(resource, role, (at, answer), plan, method)
            }
            ResourceRole::Delete => self.plan_delete(resource, answer, plan, method),
            ResourceRole::Act => self.plan_act(resource, answer, plan),
            ResourceRole::Sweep => plan.updates.extend(forget_updates(resource, role)),
        }
    }

    /// 404: the item, or the collection it would be in, is not known to exist.
    fn plan_missing(&mut self, resource: &Resource, role: ResourceRole, plan: &mut AnswerPlan, method: &str) {
        let parent = resource.parent.map(|parent| self.resources[parent].clone());
        let of_parent = parent.as_ref().map(|parent| {
            let values: Vec<String> =
                resource.parents.iter().map(|(name, _)| format!("{}.{name}", resource.asked)).collect();
            let (id, before) =
                values.split_last().map_or(("", &[][..]), |(id, before)| (id.as_str(), before));
            parent.key(before, id)
        });
        let (condition, what) = match role {
            ResourceRole::Sweep => return,
            ResourceRole::Create | ResourceRole::List => {
                let (Some(parent), Some(key)) = (&parent, &of_parent) else { return };
                (format!("!({})", parent.is_known(key)), parent.singular.clone())
            }
            _ => {
                let own = format!("!({})", resource.is_known(&resource.asked));
                let condition = match (&parent, &of_parent) {
                    (Some(parent), Some(key)) => format!("({own} || {}.has({key}))", parent.deleted),
                    _ => own,
                };
                (condition, resource.singular.clone())
            }
        };
        let weight = match role {
            ResourceRole::Get | ResourceRole::Put | ResourceRole::Patch | ResourceRole::Delete => {
                RuleWeight::Contradiction
            }
            _ => RuleWeight::Guess,
        };
        plan.rules.push(ResourceRule {
            id: format!("{}.missing", plan.label),
            condition,
            about: format!("{method} answers 404 only if the {what} does not exist"),
            weight,
            topic: RuleTopic::State,
        });
        plan.origin.push(format!("Only for a {what} that does not exist, or was deleted."));
    }

    /// A new item: its id is new, and it has the values that were sent.
    fn plan_create(
        &mut self,
        resource: &Resource,
        (at, answer): (usize, &DocumentedResponse),
        plan: &mut AnswerPlan,
        method: &str,
    ) {
        let view = self.item_view(resource, answer);
        let id = match (&view, &answer.location) {
            (Some(view), _) => resource.id_of(&view.place, &view.id),
            (None, Some(_)) => "location".to_owned(),
            (None, None) => return,
        };
        let key = resource.key_beside(&id);
        plan.rules.push(ResourceRule {
            id: format!("{}.fresh", plan.label),
            condition: format!("!({})", resource.is_known(&key)),
            about: format!("{method} gives every {} an id of its own", resource.singular),
            weight: RuleWeight::Contradiction,
            topic: RuleTopic::NewId,
        });
        if let (Some(view), Some((variable, sent))) = (&view, self.sent_variable(at)) {
            self.add_echo(resource, plan, (&variable, &sent), view);
        }
        plan.origin.push(format!(
            "{method} makes a {}: from now on it is in `{}`.",
            resource.singular, resource.items
        ));
        self.remember(resource, at, view.as_ref(), &key, plan);
    }

    /// Adds the rules that an answer shows what was sent.
    fn add_echo(
        &mut self,
        resource: &Resource,
        plan: &mut AnswerPlan,
        (variable, sent): (&str, &str),
        view: &ItemView,
    ) {
        let echo = self.echo_rules(resource, sent, &view.record);
        let wrap = |call: &str| format!("(match {variable} {{ none => true, some(sent) => {call} }})");
        self.add_field_rules(&echo, &["sent", &view.place], &wrap, plan);
    }

    /// Adds rules of fields to an answer, and declares their functions once.
    pub(super) fn add_field_rules(
        &mut self,
        rules: &FieldRules,
        arguments: &[&str],
        wrap: &dyn Fn(&str) -> String,
        plan: &mut AnswerPlan,
    ) {
        if self.declared_rules.insert(rules.function.clone()) {
            let text = rules.declarations(&self.rules);
            self.rule_functions.push_str(&text);
        }
        plan.rules.extend(rules.rules(&self.rules, arguments, wrap));
    }

    /// Adds the updates after an item was written: it is known as the answer shows it, or as it was sent.
    fn remember(
        &mut self,
        resource: &Resource,
        at: usize,
        view: Option<&ItemView>,
        key: &str,
        plan: &mut AnswerPlan,
    ) {
        plan.updates.push(format!("{} = {}.without({key})", resource.deleted, resource.deleted));
        plan.updates.push(format!("{} = {}.with({key})", resource.created, resource.created));
        let value = view.and_then(|view| self.known_value(resource, view));
        if let Some(value) = value {
            plan.updates.push(format!("{}[{key}] = {value}", resource.items));
            plan.updates.push(format!("{} = some({key})", resource.last_written()));
            plan.updates.extend(unwritten(resource, key, None));
            return;
        }
        let sent = self.sent_variable(at);
        let map = sent.as_ref().and_then(|(_, sent)| {
            resource.written.iter().find(|(_, record)| record == sent).map(|(map, _)| map.clone())
        });
        if let (Some(map), Some((variable, _))) = (&map, &sent) {
            plan.updates.push(format!(
                "{map} = (match {variable} {{ none => {map}.without({key}), some(sent) => {map}.with({key}, sent) }})"
            ));
        }
        plan.updates.push(format!("{} = {}.without({key})", resource.items, resource.items));
        plan.updates.extend(unwritten(resource, key, map.as_deref()));
    }

    /// An item that is shown: it was not deleted, and is as it was shown or written before.
    fn plan_get(
        &mut self,
        resource: &Resource,
        answer: &DocumentedResponse,
        plan: &mut AnswerPlan,
        method: &str,
    ) {
        let key = resource.asked.clone();
        plan.rules.push(not_deleted(resource, plan, method, RuleWeight::Contradiction));
        plan.rules.extend(self.only_created(resource, plan, method));
        let Some(view) = self.item_view(resource, answer) else { return };
        let shown = resource.key_beside(&resource.id_of(&view.place, &view.id));
        plan.rules.push(ResourceRule {
            id: format!("{}.id", plan.label),
            condition: format!("{shown} == {key}"),
            about: format!("{method} shows the {} that was asked for", resource.singular),
            weight: RuleWeight::Contradiction,
            topic: RuleTopic::ShownId,
        });
        self.add_known(resource, &view, &key, plan);
        self.add_read_back(resource, &view, plan);
        plan.origin
            .push(format!("{method} shows the {} as it was created or changed last.", resource.singular));
        if let Some(value) = self.known_value(resource, &view) {
            plan.updates.push(format!("{}[{key}] = {value}", resource.items));
            plan.updates.extend(unwritten(resource, &key, None));
        }
    }

    /// Adds the rules that an item is shown just after it was written as the answer to that showed it; they follow from
    /// the rules about all times, as far as those hold.
    fn add_read_back(&mut self, resource: &Resource, view: &ItemView, plan: &mut AnswerPlan) {
        let same = self.same_rules(resource, &view.record);
        let mut read_back = self.read_back_rules(resource, &view.record);
        let is_learning = self.rules.mode == RuleMode::Learning;
        read_back.fields.retain(|(field, _)| is_learning || self.rules.is_broken(&same.id(field)));
        if read_back.fields.is_empty() {
            return;
        }
        let (items, asked, last) = (&resource.items, &resource.asked, resource.last_written());
        let wrap = |call: &str| {
            format!(
                "({last} == some({asked}) => (match {items}.get({asked}) {{ none => true, some(known) => {call} }}))"
            )
        };
        self.add_field_rules(&read_back, &["known", &view.place], &wrap, plan);
    }

    /// Adds the rules that an item is shown as it is known, and as it was written.
    fn add_known(&mut self, resource: &Resource, view: &ItemView, key: &str, plan: &mut AnswerPlan) {
        let same = self.same_rules(resource, &view.record);
        let items = resource.items.clone();
        let wrap =
            |call: &str| format!("(match {items}.get({key}) {{ none => true, some(known) => {call} }})");
        self.add_field_rules(&same, &["known", &view.place], &wrap, plan);
        for (map, sent) in &resource.written {
            let echo = self.echo_rules(resource, sent, &view.record);
            let wrap =
                |call: &str| format!("(match {map}.get({key}) {{ none => true, some(sent) => {call} }})");
            self.add_field_rules(&echo, &["sent", &view.place], &wrap, plan);
        }
    }

    /// Returns the rule that an item was created in this run, for a service that begins empty.
    fn only_created(&self, resource: &Resource, plan: &AnswerPlan, method: &str) -> Option<ResourceRule> {
        self.rules.is_restarted.then(|| ResourceRule {
            id: format!("{}.created", plan.label),
            condition: format!("{}.has({})", resource.created, resource.asked),
            about: format!("{method} succeeds only for a {} that was created", resource.singular),
            weight: RuleWeight::Guess,
            topic: RuleTopic::State,
        })
    }

    /// An item that was updated: it has the values that were sent, and keeps the others.
    fn plan_update(
        &mut self,
        resource: &Resource,
        role: ResourceRole,
        (at, answer): (usize, &DocumentedResponse),
        plan: &mut AnswerPlan,
        method: &str,
    ) {
        let key = resource.asked.clone();
        plan.rules.push(not_deleted(resource, plan, method, RuleWeight::Guess));
        plan.rules.extend(self.only_created(resource, plan, method));
        let view = self.item_view(resource, answer);
        if let (Some(view), Some((variable, sent))) = (&view, self.sent_variable(at)) {
            self.add_echo(resource, plan, (&variable, &sent), view);
            let mut keep = self.keep_rules(resource, &sent, &view.record, role == ResourceRole::Patch);
            // A field that changes by itself changes here too.
            let same = self.same_rules(resource, &view.record);
            keep.fields.retain(|(field, _)| !self.rules.is_broken(&same.id(field)));
            let items = resource.items.clone();
            let wrap = |call: &str| {
                format!(
                    "(match {variable} {{ none => true, some(sent) => (match {items}.get({key}) {{ none => true, \
                     some(known) => {call} }}) }})"
                )
            };
            self.add_field_rules(&keep, &["known", "sent", &view.place], &wrap, plan);
        }
        plan.origin.push(format!("{method} changes the {} to what was sent.", resource.singular));
        self.remember(resource, at, view.as_ref(), &key, plan);
    }

    /// An item that is removed.
    fn plan_delete(
        &mut self,
        resource: &Resource,
        answer: &DocumentedResponse,
        plan: &mut AnswerPlan,
        method: &str,
    ) {
        let key = &resource.asked;
        if answer.status == "202" {
            // It is removed some time later.
            plan.updates.extend(forget_updates(resource, ResourceRole::Delete));
            return;
        }
        plan.rules.push(not_deleted(resource, plan, method, RuleWeight::Guess));
        plan.rules.extend(self.only_created(resource, plan, method));
        plan.updates.push(format!("{} = {}.without({key})", resource.items, resource.items));
        plan.updates.extend(unwritten(resource, key, None));
        plan.updates.push(format!("{} = {}.with({key})", resource.deleted, resource.deleted));
        plan.updates.push(format!("{} = {}.without({key})", resource.created, resource.created));
        plan.origin.push(format!("{method} removes the {}.", resource.singular));
    }

    /// Another operation on an item: the answer may show the item, else no more is known of it.
    fn plan_act(&mut self, resource: &Resource, answer: &DocumentedResponse, plan: &mut AnswerPlan) {
        let key = resource.asked.clone();
        let view = self.item_view(resource, answer);
        let value = view.as_ref().and_then(|view| Some((view, self.known_value(resource, view)?)));
        match value {
            Some((view, value)) => {
                let shown = resource.key_beside(&resource.id_of(&view.place, &view.id));
                let own = &resource.items;
                // Only if it is this very item that is shown.
                plan.updates.push(format!(
                    "{own} = if {shown} == {key} then {own}.with({key}, {value}) else {own}.without({key})"
                ));
                plan.updates.extend(unwritten(resource, &key, None));
            }
            None => plan.updates.extend(forget_updates(resource, ResourceRole::Act)),
        }
    }
}

fn not_deleted(resource: &Resource, plan: &AnswerPlan, method: &str, weight: RuleWeight) -> ResourceRule {
    ResourceRule {
        id: format!("{}.deleted", plan.label),
        condition: format!("!{}.has({})", resource.deleted, resource.asked),
        about: format!("{method} does not succeed for a {} that was deleted", resource.singular),
        weight,
        topic: RuleTopic::State,
    }
}

/// Returns the updates that forget what was written and not shown, but for one map.
fn unwritten(resource: &Resource, key: &str, except: Option<&str>) -> Vec<String> {
    let others = resource.written.iter().filter(|(map, _)| Some(map.as_str()) != except);
    others.map(|(map, _)| format!("{map} = {map}.without({key})")).collect()
}

/// Returns the updates that forget what is known of an item, or of all.
fn forget_updates(resource: &Resource, role: ResourceRole) -> Vec<String> {
    let maps = std::iter::once(&resource.items).chain(resource.written.iter().map(|(map, _)| map));
    match role {
        ResourceRole::Sweep => {
            let all = maps.chain(std::iter::once(&resource.deleted));
            all.map(|map| format!("{map} = {{}}")).collect()
        }
        _ => maps.map(|map| format!("{map} = {map}.without({})", resource.asked)).collect(),
    }
}
