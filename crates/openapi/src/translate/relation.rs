//! Rules between items: a number in an item counts the items inside it, and two items do not have the same value.
//!
//! Nothing in a description says so. Each rule is kept only if the service was seen to follow it several times, and
//! never to break it.

use super::guess::{GuessedRule, MIN_COUNT};
use super::resource::{ItemView, Resource, ResourceRole, is_whole};
use super::rule::{AnswerPlan, ResourceRule, RuleMode};
use super::{RecordMember, Translator};
use crate::{RuleTopic, RuleWeight};

/// Texts that services do not normalise: two of them are the same for a service only if they are equal.
const WORD: &str = "[a-z0-9]+";

impl Translator<'_> {
    /// Adds the rules that a number of an item which no request sets is that of the items inside it.
    pub(super) fn add_nested_counter_rules(
        &self,
        resource: &Resource,
        view: &ItemView,
        plan: &mut AnswerPlan,
        method: &str,
    ) {
        let Some(at) = self.resources.iter().position(|other| other.path == resource.path) else { return };
        let set = self.fields_set(resource);
        let shown = self.records.get(&view.record).map(Vec::as_slice).unwrap_or_default();
        let is_counter = |member: &&RecordMember| {
            is_whole(&member.sort) && member.wire != view.id.wire && !set.contains(&member.name)
        };
        for inner in self.resources.iter().filter(|inner| inner.parent == Some(at)) {
            let asked = &resource.asked;
            let own = resource.parents.iter().map(|(name, _)| format!("{asked}.{name}"));
            let id = if resource.parents.is_empty() { asked.clone() } else { format!("{asked}.id") };
            let inside: Vec<String> = inner
                .parents
                .iter()
                .zip(own.chain([id]))
                .map(|((name, _), value)| format!("k.{name} == {value}"))
                .collect();
            let count = format!("{{k for k in {} if {}}}.size()", inner.created, inside.join(" && "));
            // Of an item that was there before the run, the number is not known.
            let is_own = format!("{}.has({asked})", resource.created);
            for member in shown.iter().filter(is_counter) {
                let guess = GuessedRule {
                    id: format!("{}.inside.{}.{}", plan.label, member.name, inner.items),
                    condition: format!("({is_own} => {}.{} == {count})", view.place, member.name),
                    support: format!("{is_own} && {count} >= {MIN_COUNT}"),
                    about: format!(
                        "{method} shows the number of {} of the {} in `{}`",
                        inner.items, resource.singular, member.wire
                    ),
                };
                plan.rules.push(ResourceRule { topic: RuleTopic::Relation, ..guess.into() });
            }
        }
    }

    /// Adds the rules about values that only one item can have: a conflict is answered just if an item has the value.
    pub(super) fn add_unique_rules(
        &self,
        resource: &Resource,
        at: usize,
        is_conflict: bool,
        plan: &mut AnswerPlan,
        method: &str,
    ) {
        let is_create = resource.roles.get(&at) == Some(&ResourceRole::Create);
        // Items of other runs may have the value too.
        if !is_create || !self.rules.is_restarted || !resource.written.is_empty() {
            return;
        }
        let Some((variable, record)) = self.sent_variable(at) else { return };
        let members = |record: &str| self.records.get(record).cloned().unwrap_or_default();
        let known = members(&resource.known);
        for sent in members(&record).iter().filter(|member| member.sort == "string") {
            let same = known.iter().find(|other| other.wire == sent.wire && other.sort == "string");
            let Some(same) = same else { continue };
            let (sent, same, wire) = (&sent.name, &same.name, &sent.wire);
            let items = &resource.items;
            let has = |condition: &str| format!("(exists k in {items}: {condition})");
            let of = |condition: &str| {
                format!("(match {items}.get(k) {{ none => false, some(x) => {condition} }})")
            };
            let equal = has(&of(&format!("x.{same} == sent.{sent}")));
            let is_word = format!("sent.{sent}.matches(\"{WORD}\")");
            let holds = |else_: &str, condition: &str| {
                format!("(match {variable} {{ none => {else_}, some(sent) => {condition} }})")
            };
            let unique = format!("{}.unique.{same}", resource.singular);
            if is_conflict {
                // Another text may be the same as this one for the service, a word only if it is equal.
                let alike = has(&of(&format!("x.{same} == sent.{sent} || !x.{same}.matches(\"{WORD}\")")));
                // An item of which the values are not known may have it.
                let are_known = format!("{}.subset_of({items}.keys().to_set())", resource.created);
                let guess = GuessedRule {
                    id: format!("{}.taken.{same}", plan.label),
                    condition: holds("true", &format!("({is_word} && {are_known} => {alike})")),
                    support: holds("false", &format!("{is_word} && {are_known} && {equal}")),
                    about: format!(
                        "{method} answers a conflict only if a {} has the `{wire}`",
                        resource.singular
                    ),
                };
                plan.rules.push(ResourceRule { topic: RuleTopic::Relation, ..guess.into() });
            }
            // A conflict speaks for the rule that a success may break, and says no more than that.
            if is_conflict && self.rules.mode != RuleMode::Learning {
                continue;
            }
            plan.rules.push(ResourceRule {
                id: unique,
                condition: if is_conflict { "true".into() } else { holds("true", &format!("!{equal}")) },
                about: format!("{method} makes no two {} with the same `{wire}`", resource.items),
                weight: RuleWeight::Guess,
                topic: RuleTopic::Relation,
                support: Some(if is_conflict { holds("false", &equal) } else { "false".into() }),
            });
        }
    }
}
