//! Values that were sent: the rules that an answer shows them, and the updates after it.

use super::Translator;
use super::answer::list_unwritten_fields;
use super::resource::{ItemView, Resource};
use super::rule::{AnswerPlan, FieldRules};

impl Translator<'_> {
    /// Adds the rules that an answer shows what was sent.
    pub(super) fn add_echo(
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

    /// Adds the rules that a new item has the documented defaults of what was not sent.
    pub(super) fn add_defaults(
        &mut self,
        resource: &Resource,
        plan: &mut AnswerPlan,
        (variable, sent): (&str, &str),
        view: &ItemView,
    ) {
        let defaults = self.default_rules(resource, sent, &view.record);
        if defaults.fields.is_empty() {
            return;
        }
        let wrap = |call: &str| format!("(match {variable} {{ none => true, some(sent) => {call} }})");
        self.add_field_rules(&defaults, &["sent", &view.place], &wrap, plan);
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
    pub(super) fn remember(
        &mut self,
        resource: &Resource,
        at: usize,
        view: Option<&ItemView>,
        (key, is_new): (&str, bool),
        plan: &mut AnswerPlan,
    ) {
        plan.updates.push(format!("{} = {}.without({key})", resource.deleted, resource.deleted));
        if let Some(orphaned) = Some(&resource.orphaned).filter(|name| !name.is_empty()) {
            plan.updates.push(format!("{orphaned} = {orphaned}.without({key})"));
        }
        // Without a restart, an item that was there before is changed, not created.
        if is_new || self.rules.is_restarted {
            plan.updates.push(format!("{} = {}.with({key})", resource.created, resource.created));
        }
        let value = view.and_then(|view| self.known_value(resource, view));
        if let Some(value) = value {
            plan.updates.push(format!("{}[{key}] = {value}", resource.items));
            plan.updates.push(format!("{} = some({key})", resource.last_written()));
            plan.updates.extend(list_unwritten_fields(resource, key, None));
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
        plan.updates.extend(list_unwritten_fields(resource, key, map.as_deref()));
    }
}
