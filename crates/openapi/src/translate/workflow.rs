//! Workflows: in which states of an item an operation succeeds, where it leads, and what it leaves alone.
//!
//! A description does not say that only a confirmed order can be shipped. It is learned: an operation that succeeds for
//! some values of an enum such as `status`, and was refused every time for another one, must go on refusing that.

use std::collections::BTreeSet;

use super::resource::{ItemView, Resource, ResourceRole};
use super::rule::{AnswerPlan, FieldRules, ResourceRule, RuleMode};
use super::{RecordMember, Translator};
use crate::name;
use crate::{RuleTopic, RuleWeight};

/// The number of values up to which a member may be the state of a workflow. Chosen by feel: each has rules of its own.
const MAX_STATES: usize = 8;

impl Translator<'_> {
    /// Adds the rules about the states in which an operation on an item succeeds, to the answer of a success.
    pub(super) fn add_refused_states(
        &self,
        resource: &Resource,
        at: usize,
        plan: &mut AnswerPlan,
        method: &str,
    ) {
        let name = &self.asked[at].name;
        let succeeds = format!("{name}.succeeds");
        let is_learning = self.rules.mode == RuleMode::Learning;
        // A rule that nothing ever passes would say no more than that the operation was always refused.
        if !is_learning && !self.rules.has_support(&succeeds) {
            return;
        }
        let known = |else_: &str, condition: &str| {
            format!(
                "(match {}.get({}) {{ none => {else_}, some(known) => {condition} }})",
                resource.items, resource.asked
            )
        };
        if is_learning {
            plan.rules.push(workflow_rule(succeeds, "true".into(), known("false", "true"), String::new()));
        }
        for (member, case, json) in self.workflow_states(resource) {
            let about = format!(
                "{method} does not succeed while `{}` of the {} is {json}",
                member.wire, resource.singular
            );
            let condition = known("true", &format!("known.{} != {case}", member.name));
            let id = refused_rule(name, &member, &case);
            plan.rules.push(workflow_rule(id, condition, "false".into(), about));
        }
    }

    /// Adds what the refusal of an operation on an item speaks for, in a model for learning.
    pub(super) fn add_support_of_states(
        &self,
        resource: &Resource,
        role: ResourceRole,
        at: usize,
        plan: &mut AnswerPlan,
    ) {
        use ResourceRole::{Act, Delete, Patch, Put};
        if !matches!(role, Act | Delete | Patch | Put) {
            return;
        }
        for (member, case, _) in self.workflow_states(resource) {
            let support = format!(
                "(match {}.get({}) {{ none => false, some(known) => known.{} == {case} }})",
                resource.items, resource.asked, member.name
            );
            let id = refused_rule(&self.asked[at].name, &member, &case);
            plan.rules.push(workflow_rule(id, "true".into(), support, String::new()));
        }
    }

    /// Adds the rules that an action always leads to the same state, and leaves alone what requests set.
    pub(super) fn add_action_rules(
        &mut self,
        resource: &Resource,
        at: usize,
        view: &ItemView,
        plan: &mut AnswerPlan,
        method: &str,
    ) {
        let set = self.fields_set(resource);
        let shown = self.records.get(&view.record).cloned().unwrap_or_default();
        for (member, case, json) in self.workflow_states(resource) {
            let Some(same) =
                shown.iter().find(|other| other.wire == member.wire && other.sort == member.sort)
            else {
                continue;
            };
            // What requests set may change at any time; a state that only actions change leads somewhere.
            if set.contains(&member.name) {
                continue;
            }
            let about = format!("{method} makes `{}` of the {} {json}", member.wire, resource.singular);
            let condition = format!("{}.{} == {case}", view.place, same.name);
            let id = format!("{}.leads_to.{}.{case}", plan.label, member.name);
            plan.rules.push(workflow_rule(id, condition, "true".into(), about));
        }
        let leaves = self.rules_left_alone(resource, at, view, &set, method);
        let (items, removed, key) = (&resource.items, &resource.removed, &resource.asked);
        let wrap = |call: &str| {
            format!(
                "(match (if {}.has({key}) then {removed}.get({key}) else {items}.get({key})) {{ none => true, \
                 some(known) => {call} }})",
                resource.deleted
            )
        };
        self.add_field_rules(&leaves, &["known", &view.place], &wrap, plan);
    }

    /// Returns the rules that an action leaves alone the fields that requests set.
    fn rules_left_alone(
        &self,
        resource: &Resource,
        at: usize,
        view: &ItemView,
        set: &BTreeSet<String>,
        method: &str,
    ) -> FieldRules {
        let same = self.same_rules(resource, &view.record);
        FieldRules {
            function: format!("is_left_alone_by_{}", name::snake_case(&self.asked[at].name)),
            fields: same.fields.into_iter().filter(|(field, _)| set.contains(field)).collect(),
            about: format!("{method} leaves `@` of the {} alone", resource.singular),
            weighty: BTreeSet::new(),
            origin: format!("{method} leaves these fields alone."),
            ..same
        }
    }

    /// Returns the members of items that may be the state of a workflow, each with its cases and their JSON.
    fn workflow_states(&self, resource: &Resource) -> Vec<(RecordMember, String, String)> {
        let known = self.records.get(&resource.known).cloned().unwrap_or_default();
        let mut found = Vec::new();
        for member in known {
            let Some(cases) = self.enums.get(&member.sort).filter(|cases| cases.len() <= MAX_STATES) else {
                continue;
            };
            found.extend(cases.iter().map(|(case, json)| (member.clone(), case.clone(), json.clone())));
        }
        found
    }
}

/// Returns the name of the rule that an operation does not succeed in a state.
fn refused_rule(operation: &str, member: &RecordMember, case: &str) -> String {
    format!("{operation}.refused_while.{}.{case}", member.name)
}

fn workflow_rule(id: String, condition: String, support: String, about: String) -> ResourceRule {
    ResourceRule {
        id,
        condition,
        about,
        weight: RuleWeight::Guess,
        topic: RuleTopic::Workflow,
        support: Some(support),
    }
}
