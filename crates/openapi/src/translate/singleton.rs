//! Singletons: things that are read and replaced at one path, without a collection, such as `/settings` or
//! `/projects/{id}/settings`.
//!
//! The model knows one as it was shown last. What was sent comes back, `PATCH` leaves alone what was not sent, and
//! nothing but a request to the path, or to what contains it, changes it.

use std::collections::BTreeMap;

use super::resource::{Resource, ResourceRole, SWEEPING, is_json_body, is_success, path_fields, shape_of};
use super::resource::{key_sort_of, singular_of};
use super::rule::AnswerPlan;
use super::{DocumentedResponse, Translator};
use crate::name::{self, TakenNames};

/// A thing at a path of its own.
#[derive(Clone, Debug)]
pub(super) struct Singleton {
    /// Its names, the record that shows it, and the operations that read and write it, as those of a resource.
    pub(super) resource: Resource,
    /// The sort of the key: the parameters of the path.
    pub(super) key_sort: String,
    /// The path with `{}` for every parameter.
    shape: String,
}

impl Translator<'_> {
    /// Finds the paths that show a record which `PUT` or `PATCH` at the same path changes.
    pub(super) fn find_singletons(&mut self, shapes: &[String], taken: &mut TakenNames) {
        let mut seen: Vec<&String> = Vec::new();
        for shape in shapes {
            let is_item = shape.ends_with("{}");
            let is_collection = shapes.iter().any(|other| other.strip_suffix("/{}") == Some(shape));
            // Items and collections are resources.
            if is_item || is_collection || seen.contains(&shape) {
                continue;
            }
            seen.push(shape);
            if let Some(singleton) = self.find_singleton(shape, shapes, taken) {
                self.singletons.push(singleton);
            }
        }
    }

    fn find_singleton(
        &mut self,
        shape: &str,
        shapes: &[String],
        taken: &mut TakenNames,
    ) -> Option<Singleton> {
        let mut roles = BTreeMap::new();
        for (at, _) in shapes.iter().enumerate().filter(|(_, other)| *other == shape) {
            let role = match self.asked[at].method.as_str() {
                "GET" => ResourceRole::Get,
                "PUT" => ResourceRole::Put,
                "PATCH" => ResourceRole::Patch,
                _ => continue,
            };
            roles.insert(at, role);
        }
        // What nobody can read cannot be compared with what was written.
        let (&get, _) = roles.iter().find(|(_, role)| **role == ResourceRole::Get)?;
        let mut shown = self.asked[get].answers.iter().filter(|answer| is_success(answer));
        let (_, known) = shown.find_map(|answer| self.shown_singleton(answer, None))?;
        let fields = path_fields(&self.asked[get]);
        let keys: Vec<(String, &'static str)> = fields
            .iter()
            .map(|field| Some((field.name.clone(), key_sort_of(&field.sort)?)))
            .collect::<Option<_>>()?;
        if keys.len() != shape.matches("{}").count() {
            return None;
        }
        let word = shape.rsplit('/').next().unwrap_or_default();
        let mut resource =
            Resource { path: self.operations[get].path.to_owned(), known, roles, ..Resource::default() };
        resource.singular = singular_of(word);
        // Something must be written that is shown.
        if self.fields_set(&resource).is_empty() {
            return None;
        }
        resource.items = taken.fresh_name(&format!("known_{}", name::snake_case(word)));
        resource.singular = taken.fresh_name(&resource.singular);
        resource.asked = taken.fresh_name(&format!("asked_{}", resource.singular));
        resource.parents = keys;
        let key_sort = match &resource.parents[..] {
            [] => "int".to_owned(),
            [(_, sort)] => (*sort).to_owned(),
            _ => self.types.fresh_name(&format!("{}Key", name::pascal_case(&resource.singular))),
        };
        self.add_written_singletons(&mut resource, taken);
        Some(Singleton { resource, key_sort, shape: shape.to_owned() })
    }

    /// Adds the variables for what was written by requests whose answers do not show it.
    fn add_written_singletons(&self, resource: &mut Resource, taken: &mut TakenNames) {
        for (at, role) in resource.roles.clone() {
            let Some(sent) = self.sent_record(at).filter(|_| role != ResourceRole::Get) else { continue };
            let mut answers = self.asked[at].answers.iter().filter(|answer| is_success(answer));
            let is_hidden =
                answers.any(|answer| self.shown_singleton(answer, Some(&resource.known)).is_none());
            if is_hidden && !resource.written.iter().any(|(_, record)| *record == sent) {
                resource.written.push((taken.fresh_name(&format!("written_{}", resource.singular)), sent));
            }
        }
    }

    /// Returns the place of a record in the body of an answer, and the record: `wanted`, or any without lists of it.
    fn shown_singleton(&self, answer: &DocumentedResponse, wanted: Option<&str>) -> Option<(String, String)> {
        let (sort, _) = answer.body.as_ref().filter(|_| is_json_body(answer))?;
        let members = self.records.get(sort.as_str())?;
        match wanted {
            None => Some(("body".into(), sort.clone())),
            Some(wanted) if sort == wanted => Some(("body".into(), sort.clone())),
            Some(wanted) => members
                .iter()
                .find(|member| member.sort == wanted)
                .map(|member| (format!("body.{}", member.name), wanted.to_owned())),
        }
    }

    /// Returns the variables of all singletons, each with its sort and what it is.
    pub(super) fn singleton_variables(&self) -> Vec<(String, String, String, String)> {
        let mut found = Vec::new();
        for Singleton { resource, key_sort, .. } in &self.singletons {
            let place = &resource.path;
            let map = |record: &str| format!("map<{key_sort}, {record}>");
            let about = format!("What the service shows at {place}, as far as its answers showed.");
            found.push((resource.items.clone(), map(&resource.known), "{}".to_owned(), about));
            for (name, sent) in &resource.written {
                let about = format!("What was written at {place} and not shown since.");
                found.push((name.clone(), map(sent), "{}".to_owned(), about));
            }
            let nothing = |sort: &str| if sort == "int" { "0" } else { "\"\"" };
            let none: Vec<String> =
                resource.parents.iter().map(|(_, sort)| nothing(sort).to_owned()).collect();
            let about = format!("The path at {place} that the open request names.");
            found.push((
                resource.asked.clone(),
                key_sort.clone(),
                singleton_key(self, resource, &none),
                about,
            ));
        }
        found
    }

    /// Returns the records of keys with several parts.
    pub(super) fn singleton_keys(&self) -> String {
        let several = self.singletons.iter().filter(|it| it.resource.parents.len() > 1);
        let record = |it: &Singleton| {
            let fields: Vec<String> =
                it.resource.parents.iter().map(|(name, sort)| format!("{name}: {sort}")).collect();
            format!("record {} {{ {} }}\n", it.key_sort, fields.join(", "))
        };
        several.map(record).collect()
    }

    /// Returns what a request says about singletons.
    pub(super) fn singleton_updates(&self, at: usize) -> Vec<String> {
        let asked = &self.asked[at];
        let own = self.singletons.iter().filter(|it| it.resource.roles.contains_key(&at));
        own.map(|it| {
            let values: Vec<String> = path_fields(asked).iter().map(|field| field.name.clone()).collect();
            format!("{} = {}", it.resource.asked, singleton_key(self, &it.resource, &values))
        })
        .collect()
    }

    /// Returns whether an operation reads or writes a singleton.
    pub(super) fn is_of_singleton(&self, at: usize) -> bool {
        self.singletons.iter().any(|it| it.resource.roles.contains_key(&at))
    }

    /// Adds the rules and updates of singletons to an answer.
    pub(super) fn plan_singletons(
        &mut self,
        (at, answer): (usize, &DocumentedResponse),
        plan: &mut AnswerPlan,
        method: &str,
    ) {
        // A refusal changes nothing.
        if answer.status.starts_with('4') {
            return;
        }
        for it in self.singletons.clone() {
            match it.resource.roles.get(&at) {
                Some(&role) if is_success(answer) && answer.status != "202" => {
                    self.plan_singleton(&it.resource, role, (at, answer), plan, method);
                }
                None if !self.may_change(&it.shape, at) => (),
                Some(ResourceRole::Get) => (),
                _ => {
                    let maps = std::iter::once(&it.resource.items);
                    let maps = maps.chain(it.resource.written.iter().map(|(map, _)| map));
                    // An operation that may change anything: nothing is known any more.
                    plan.updates.extend(maps.map(|map| format!("{map} = {{}}")));
                }
            }
        }
    }

    /// Returns whether an operation may change what is at a path: one at the path, above or below it, one that changes
    /// everything, or one that neither writes an item nor a singleton.
    fn may_change(&self, shape: &str, at: usize) -> bool {
        let asked = &self.asked[at];
        let other = shape_of(&asked.path);
        let is_within = |inner: &str, outer: &str| inner == outer || inner.starts_with(&format!("{outer}/"));
        let last = other.rsplit('/').next().unwrap_or_default().to_ascii_lowercase();
        let is_write = |role: &ResourceRole| {
            use ResourceRole::{Create, Delete, Patch, Put};
            matches!(role, Create | Put | Patch | Delete)
        };
        let writes_item = self.resources.iter().any(|it| it.roles.get(&at).is_some_and(is_write));
        let is_action = !writes_item && !self.is_of_singleton(at);
        !matches!(asked.method.as_str(), "GET" | "HEAD")
            && (is_action
                || is_within(shape, &other)
                || is_within(&other, shape)
                || SWEEPING.contains(&last.as_str()))
    }

    fn plan_singleton(
        &mut self,
        resource: &Resource,
        role: ResourceRole,
        (at, answer): (usize, &DocumentedResponse),
        plan: &mut AnswerPlan,
        method: &str,
    ) {
        let (items, key) = (resource.items.clone(), resource.asked.clone());
        let shown = self.shown_singleton(answer, Some(&resource.known));
        let forget = |except: Option<&str>| -> Vec<String> {
            let others = resource.written.iter().filter(|(map, _)| Some(map.as_str()) != except);
            others.map(|(map, _)| format!("{map} = {map}.without({key})")).collect()
        };
        let known =
            |call: &str| format!("(match {items}.get({key}) {{ none => true, some(known) => {call} }})");
        let sent = self.sent_variable(at).filter(|_| role != ResourceRole::Get);
        let Some((place, record)) = shown else {
            // The next `GET` must show what was sent.
            let map = sent.as_ref().and_then(|(_, sent)| {
                resource.written.iter().find(|(_, record)| record == sent).map(|(map, _)| map.clone())
            });
            if let (Some(map), Some((variable, _))) = (&map, &sent) {
                plan.updates.push(format!(
                    "{map} = (match {variable} {{ none => {map}.without({key}), some(sent) => {map}.with({key}, \
                     sent) }})"
                ));
            }
            // What was known is overwritten, and what it is now was not shown.
            plan.updates.push(format!("{items} = {items}.without({key})"));
            plan.updates.extend(forget(map.as_deref()));
            return;
        };
        match &sent {
            None => {
                let same = self.same_rules(resource, &record);
                self.add_field_rules(&same, &["known", &place], &known, plan);
                for (map, sent) in &resource.written {
                    let echo = self.echo_rules(resource, sent, &record);
                    let wrap = |call: &str| {
                        format!("(match {map}.get({key}) {{ none => true, some(sent) => {call} }})")
                    };
                    self.add_field_rules(&echo, &["sent", &place], &wrap, plan);
                }
                plan.origin.push(format!("{method} shows what was written last."));
            }
            Some((variable, sent)) => {
                let wrap =
                    |call: &str| format!("(match {variable} {{ none => true, some(sent) => {call} }})");
                let echo = self.echo_rules(resource, sent, &record);
                self.add_field_rules(&echo, &["sent", &place], &wrap, plan);
                let mut keep = self.keep_rules(resource, sent, &record, role == ResourceRole::Patch);
                // A field that changes by itself changes here too.
                let same = self.same_rules(resource, &record);
                keep.fields.retain(|(field, _)| !self.rules.is_broken(&same.id(field)));
                let wrap_keep = |call: &str| wrap(&known(call));
                self.add_field_rules(&keep, &["known", "sent", &place], &wrap_keep, plan);
                plan.origin.push(format!("{method} changes it to what was sent."));
            }
        }
        plan.updates.push(format!("{items}[{key}] = {place}"));
        plan.updates.extend(forget(None));
    }
}

/// Returns the key of a singleton with these values of the parameters of its path.
fn singleton_key(translator: &Translator<'_>, resource: &Resource, values: &[String]) -> String {
    match values {
        [] => "0".to_owned(),
        [only] => only.clone(),
        several => {
            let own = translator.singletons.iter().find(|it| it.resource.items == resource.items);
            let sort = own.map(|it| it.key_sort.as_str()).unwrap_or_default();
            let fields = resource.parents.iter().zip(several);
            let fields: Vec<String> = fields.map(|((name, _), value)| format!("{name}: {value}")).collect();
            format!("{sort}({})", fields.join(", "))
        }
    }
}
