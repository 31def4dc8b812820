//! The answers of operations on resources: the rules that they follow, and what is known after them.

use super::check::ValueWriter;
use super::lifetime::make_not_orphaned_rule;
use super::parameter::LOWER_CASE_RULE;
use super::resource::{ItemView, Resource, ResourceRole, is_success};
use super::rule::{AnswerPlan, ResourceRule, RuleMode};
use super::{DocumentedResponse, Translator};
use crate::{RuleTopic, RuleWeight};

impl Translator<'_> {
    /// Returns an answer with the rules and updates of all resources.
    pub(super) fn plan_answer(&mut self, at: usize, answer: &DocumentedResponse) -> AnswerPlan {
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
        self.plan_singletons((at, answer), &mut plan, &method);
        if resources.is_empty() && is_success(answer) {
            self.add_counter_rules(at, answer, &mut plan, &method);
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
        // A rule that is learned is kept only if runs speak for it; models for learning alone note which do.
        if matches!(status, "404" | "409" | "410") && self.rules.mode == RuleMode::Learning {
            self.add_support_of_refusal(resource, role, (at, status), plan);
        }
        if matches!(status, "400" | "403" | "409" | "412" | "422" | "423")
            && self.rules.mode == RuleMode::Learning
        {
            self.add_support_of_states(resource, role, at, plan);
        }
        if matches!(status, "404" | "410") {
            // Nothing is known to have changed, so there are no updates.
            return self.plan_missing(resource, role, plan, method);
        }
        if status == "409" {
            self.add_unique_rules(resource, at, true, plan, method);
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
            ResourceRole::Get => self.plan_get(resource, (at, answer), plan, method),
            ResourceRole::Put | ResourceRole::Patch => {
                self.plan_update(resource, role, (at, answer), plan, method)
            }
            ResourceRole::Delete => self.plan_delete(resource, (at, answer), plan, method),
            ResourceRole::Act => {
                self.add_sum_rules(resource, (at, answer), plan, method);
                self.plan_act(resource, (at, answer), plan, method);
            }
            ResourceRole::Below => {
                self.plan_below(resource, (at, answer), plan, method);
                let is_shown = self.item_view(resource, answer).is_some() && !self.makes_items_elsewhere(at);
                if self.asked[at].method != "GET" && is_shown {
                    self.add_sum_rules(resource, (at, answer), plan, method);
                    self.plan_act(resource, (at, answer), plan, method);
                }
            }
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
                let orphaned = parent.may_be_orphaned(key).map(|orphaned| format!(" || {orphaned}"));
                let condition = format!("(!({}){})", parent.is_known(key), orphaned.unwrap_or_default());
                (condition, parent.singular.clone())
            }
            _ => {
                let own = match resource.may_be_orphaned(&resource.asked) {
                    Some(orphaned) => format!("(!({}) || {orphaned})", resource.is_known(&resource.asked)),
                    None => format!("!({})", resource.is_known(&resource.asked)),
                };
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
            support: None,
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
            support: None,
        });
        if resource.has_uuids {
            plan.rules.push(ResourceRule {
                id: LOWER_CASE_RULE.to_owned(),
                condition: format!("{id}.matches(\"[^A-Z]*\")"),
                about: "ids are written in small letters".to_owned(),
                weight: RuleWeight::Guess,
                topic: RuleTopic::State,
                support: None,
            });
        }
        if let (Some(view), Some((variable, sent))) = (&view, self.sent_variable(at)) {
            self.add_echo(resource, plan, (&variable, &sent), view);
            self.add_defaults(resource, plan, (&variable, &sent), view);
        }
        if let Some(view) = &view {
            self.add_constant_rules(resource, view, plan, method);
        }
        self.add_unique_rules(resource, at, false, plan, method);
        plan.origin.push(format!(
            "{method} makes a {}: from now on it is in `{}`.",
            resource.singular, resource.items
        ));
        self.remember(resource, at, view.as_ref(), (&key, true), plan);
    }

    /// An item that is shown: it was not deleted, and is as it was shown or written before.
    fn plan_get(
        &mut self,
        resource: &Resource,
        (at, answer): (usize, &DocumentedResponse),
        plan: &mut AnswerPlan,
        method: &str,
    ) {
        let key = resource.asked.clone();
        plan.rules.push(ResourceRule {
            id: format!("{}.deleted", plan.label),
            weight: RuleWeight::Contradiction,
            topic: RuleTopic::State,
            support: None,
            ..self.make_not_deleted_rule(resource, at, method)
        });
        plan.rules.extend(self.make_only_created_rule(resource, (at, ResourceRole::Get), method));
        plan.rules.extend(make_not_orphaned_rule(resource, method));
        let Some(view) = self.item_view(resource, answer) else { return };
        let shown = resource.key_beside(&resource.id_of(&view.place, &view.id));
        plan.rules.push(ResourceRule {
            id: format!("{}.id", plan.label),
            condition: format!("{shown} == {key}"),
            about: format!("{method} shows the {} that was asked for", resource.singular),
            weight: RuleWeight::Contradiction,
            topic: RuleTopic::ShownId,
            support: None,
        });
        self.add_known(resource, &view, &key, plan);
        self.add_read_back(resource, &view, plan);
        self.add_nested_counter_rules(resource, &view, plan, method);
        plan.origin
            .push(format!("{method} shows the {} as it was created or changed last.", resource.singular));
        if let Some(value) = self.known_value(resource, &view) {
            plan.updates.push(format!("{}[{key}] = {value}", resource.items));
            plan.updates.extend(list_unwritten_fields(resource, &key, None));
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
        // What was written last and not shown since: another map, as a write may have other fields than what is shown.
        for (map, sent) in &resource.written {
            let echo = self.echo_rules(resource, sent, &view.record);
            let wrap =
                |call: &str| format!("(match {map}.get({key}) {{ none => true, some(sent) => {call} }})");
            self.add_field_rules(&echo, &["sent", &view.place], &wrap, plan);
        }
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
        plan.rules.push(self.make_not_deleted_rule(resource, at, method));
        self.add_refused_states(resource, at, plan, method);
        plan.rules.extend(self.make_only_created_rule(resource, (at, role), method));
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
        if let (Some(view), "201") = (&view, answer.status.as_str()) {
            self.add_constant_rules(resource, view, plan, method);
        }
        plan.origin.push(format!("{method} changes the {} to what was sent.", resource.singular));
        plan.updates.extend(self.forget_counts_elsewhere(resource));
        self.remember(resource, at, view.as_ref(), (&key, answer.status == "201"), plan);
    }

    /// An item that is removed.
    fn plan_delete(
        &mut self,
        resource: &Resource,
        (at, answer): (usize, &DocumentedResponse),
        plan: &mut AnswerPlan,
        method: &str,
    ) {
        let key = &resource.asked;
        if answer.status == "202" {
            // It is removed some time later.
            plan.updates.extend(forget_updates(resource, ResourceRole::Delete));
            return;
        }
        plan.rules.push(self.make_not_deleted_rule(resource, at, method));
        self.add_refused_states(resource, at, plan, method);
        plan.rules.extend(self.make_only_created_rule(resource, (at, ResourceRole::Delete), method));
        // The item as it was, in case an action brings it back.
        let (items, removed) = (&resource.items, &resource.removed);
        plan.updates.push(format!(
            "{removed} = (match {items}.get({key}) {{ none => {removed}.without({key}), some(x) => \
             {removed}.with({key}, x) }})"
        ));
        plan.updates.push(format!("{} = {}.without({key})", resource.items, resource.items));
        plan.updates.extend(list_unwritten_fields(resource, key, None));
        plan.updates.push(format!("{} = {}.with({key})", resource.deleted, resource.deleted));
        plan.updates.push(format!("{} = {}.without({key})", resource.created, resource.created));
        for below in self.contents_of(resource) {
            plan.updates.push(format!("{} = {}.without({key})", below.counts, below.counts));
        }
        plan.updates.extend(self.orphan_updates(resource));
        plan.updates.extend(self.orphan_elsewhere_updates(resource));
        plan.updates.extend(self.forget_counts_elsewhere(resource));
        plan.origin.push(format!("{method} removes the {}.", resource.singular));
    }

    /// Another operation on an item: the answer may show the item, else no more is known of it. It may bring back an
    /// item that was deleted.
    fn plan_act(
        &mut self,
        resource: &Resource,
        (at, answer): (usize, &DocumentedResponse),
        plan: &mut AnswerPlan,
        method: &str,
    ) {
        let key = resource.asked.clone();
        let (created, deleted) = (&resource.created, &resource.deleted);
        plan.rules.push(self.make_not_deleted_rule(resource, at, method));
        if resource.roles.get(&at) == Some(&ResourceRole::Act) {
            self.add_refused_states(resource, at, plan, method);
        }
        plan.updates
            .push(format!("{created} = if {deleted}.has({key}) then {created}.with({key}) else {created}"));
        plan.updates.push(format!("{deleted} = {deleted}.without({key})"));
        plan.updates.extend(self.forget_counts_elsewhere(resource));
        let view = self.item_view(resource, answer);
        let value = view.as_ref().and_then(|view| Some((view, self.known_value(resource, view)?)));
        match value {
            Some((view, value)) => {
                if resource.roles.get(&at) == Some(&ResourceRole::Act) {
                    self.add_action_rules(resource, at, view, plan, method);
                }
                let shown = resource.key_beside(&resource.id_of(&view.place, &view.id));
                let own = &resource.items;
                // Only if it is this very item that is shown.
                plan.updates.push(format!(
                    "{own} = if {shown} == {key} then {own}.with({key}, {value}) else {own}.without({key})"
                ));
                plan.updates.extend(list_unwritten_fields(resource, &key, None));
            }
            None => plan.updates.extend(forget_updates(resource, ResourceRole::Act)),
        }
    }
}

/// Returns the updates that forget what was written and not shown, but for one map.
pub(super) fn list_unwritten_fields(resource: &Resource, key: &str, except: Option<&str>) -> Vec<String> {
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
