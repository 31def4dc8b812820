//! The life of items: what must have been created, what may be gone with what contained it, what may come back.

use super::Translator;
use super::resource::{Resource, ResourceRole};
use super::rule::{AnswerPlan, ResourceRule};
use crate::{RuleTopic, RuleWeight};

impl Translator<'_> {
    /// Returns the rule that an item was created in this run, for a service that begins empty.
    pub(super) fn make_only_created_rule(
        &self,
        resource: &Resource,
        (at, role): (usize, ResourceRole),
        method: &str,
    ) -> Option<ResourceRule> {
        self.rules.is_restarted.then(|| ResourceRule {
            id: self.created_rule(resource, at, role),
            condition: resource.was_created(&resource.asked),
            about: format!("{method} succeeds only for a {} that was created", resource.singular),
            weight: RuleWeight::Guess,
            topic: RuleTopic::Relation,
            // A service may begin with items, so refusals and lists must speak for it.
            support: Some("false".into()),
        })
    }

    /// Returns the name of the rule that there are no items but those that were created. `PUT` may create them itself.
    pub(super) fn created_rule(&self, resource: &Resource, at: usize, role: ResourceRole) -> String {
        match role {
            ResourceRole::Put => format!("{}.created", self.asked[at].name),
            _ => format!("{}.created", resource.singular),
        }
    }

    /// Returns the rule that a request about an item that was deleted does not succeed: some bring it back.
    pub(super) fn make_not_deleted_rule(&self, resource: &Resource, at: usize, method: &str) -> ResourceRule {
        ResourceRule {
            id: format!("{}.deleted", self.asked[at].name),
            condition: format!("!{}.has({})", resource.deleted, resource.asked),
            about: format!("{method} does not succeed for a {} that was deleted", resource.singular),
            weight: RuleWeight::Guess,
            topic: RuleTopic::Relation,
            support: Some("false".into()),
        }
    }

    /// Adds what a refusal speaks for: the item was deleted, never created, or is gone with what contained it.
    pub(super) fn add_support_of_refusal(
        &self,
        resource: &Resource,
        role: ResourceRole,
        (at, status): (usize, &str),
        plan: &mut AnswerPlan,
    ) {
        if matches!(role, ResourceRole::Create | ResourceRole::List | ResourceRole::Sweep) {
            return;
        }
        let asked = &resource.asked;
        let mut add = |id: String, support: String| {
            plan.rules.push(ResourceRule {
                id,
                condition: "true".into(),
                about: String::new(),
                weight: RuleWeight::Guess,
                topic: RuleTopic::Relation,
                support: Some(support),
            });
        };
        add(format!("{}.deleted", self.asked[at].name), format!("{}.has({asked})", resource.deleted));
        if status == "409" {
            return;
        }
        if self.rules.is_restarted {
            add(self.created_rule(resource, at, role), format!("!{}", resource.was_created(asked)));
        }
        let parent = resource.parent.map(|parent| &self.resources[parent]);
        if let (Some(orphaned), Some(parent)) = (resource.may_be_orphaned(asked), parent) {
            let values: Vec<String> =
                resource.parents.iter().map(|(name, _)| format!("{asked}.{name}")).collect();
            if let Some((id, before)) = values.split_last() {
                let is_there = parent.is_known(&parent.key(before, id));
                add(orphan_rule(resource), format!("{orphaned} && ({is_there})"));
            }
        }
    }

    /// Returns the updates after an item was removed with everything inside it, as far as the service does that.
    pub(super) fn orphan_updates(&self, resource: &Resource) -> Vec<String> {
        let names: Vec<String> = resource.parents.iter().map(|(name, _)| name.clone()).collect();
        let asked = &resource.asked;
        let mut updates = Vec::new();
        for inner in &self.resources {
            let is_inside = inner.path.starts_with(&format!("{}/{{}}/", resource.path));
            if !is_inside || inner.parents.len() <= names.len() {
                continue;
            }
            let values: Vec<String> = if names.is_empty() {
                vec![asked.clone()]
            } else {
                let own = names.iter().map(|name| format!("{asked}.{name}"));
                own.chain([format!("{asked}.id")]).collect()
            };
            let same =
                inner.parents.iter().zip(&values).map(|((name, _), value)| format!("k.{name} == {value}"));
            let same = same.collect::<Vec<_>>().join(" && ");
            let (orphaned, created) = (&inner.orphaned, &inner.created);
            let maps = std::iter::once(&inner.items).chain(inner.written.iter().map(|(map, _)| map));
            let keys = maps.map(|map| format!("{{k for k in {map}.keys().to_set() if {same}}}"));
            updates.push(format!("{orphaned} = {orphaned} + {}", keys.collect::<Vec<_>>().join(" + ")));
            updates.push(format!("{created} = {{k for k in {created} if !({same})}}"));
        }
        updates
    }
}

/// Returns the rule that an item goes with what contains it, if anything does.
pub(super) fn make_not_orphaned_rule(resource: &Resource, method: &str) -> Option<ResourceRule> {
    let orphaned = resource.may_be_orphaned(&resource.asked)?;
    Some(ResourceRule {
        id: orphan_rule(resource),
        condition: format!("!{orphaned}"),
        about: format!(
            "{method} does not succeed for a {} of something that was deleted since",
            resource.singular
        ),
        weight: RuleWeight::Guess,
        topic: RuleTopic::Relation,
        support: Some("false".into()),
    })
}

/// Returns the name of the rule that items go with what contains them.
pub(super) fn orphan_rule(resource: &Resource) -> String {
    format!("{}.orphaned", resource.singular)
}
