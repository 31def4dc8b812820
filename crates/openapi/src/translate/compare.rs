//! Comparisons between fields of different records: what was sent, what is known, what an answer shows.

use std::collections::BTreeSet;

use ioxide_model::term::string_literal;

use super::resource::{ItemView, Resource, ResourceRole, is_whole};
use super::rule::FieldRules;
use super::{RecordMember, Translator};
use crate::name;
use crate::node::SpecNode;

/// A pattern for texts that services do not normalise: words of small letters, digits and a few signs, with single
/// spaces between them.
const PLAIN_TEXT: &str = "[a-z0-9._@/:-]+( [a-z0-9._@/:-]+)*";

/// The end of the name of the rule that a list has as many items as the one that was sent.
pub(super) const LENGTH: &str = "_in_whole";

/// A value with its sort.
#[derive(Clone, Copy, Debug)]
pub(super) struct TypedText<'a> {
    pub(super) text: &'a str,
    pub(super) sort: &'a str,
}

impl Translator<'_> {
    /// Returns the condition that two values are equal; `None` if their sorts cannot be compared.
    pub(super) fn equality(&self, one: TypedText<'_>, other: TypedText<'_>) -> Option<String> {
        // An option and a plain value are compared by the value inside: a service may show as optional what it
        // demands.
        let (plain_one, plain_other) = (one.sort.trim_end_matches('?'), other.sort.trim_end_matches('?'));
        let is_option = |value: TypedText<'_>| value.sort.ends_with('?');
        if one.sort == other.sort {
            return Some(format!("{} == {}", one.text, other.text));
        }
        match (is_option(one), is_option(other)) {
            (false, false) => self.plain_equality(one, other),
            (false, true) => {
                let inner = self.plain_equality(one, TypedText { text: "value", sort: plain_other })?;
                Some(format!("(match {} {{ none => false, some(value) => {inner} }})", other.text))
            }
            (true, false) => {
                let inner = self.plain_equality(TypedText { text: "value", sort: plain_one }, other)?;
                Some(format!("(match {} {{ none => false, some(value) => {inner} }})", one.text))
            }
            (true, true) => {
                let (inside_one, inside_other) = (
                    TypedText { text: "value", sort: plain_one },
                    TypedText { text: "instead", sort: plain_other },
                );
                let inner = self.plain_equality(inside_one, inside_other)?;
                Some(format!(
                    "(match {} {{ none => {} == none, some(value) => (match {} {{ none => false, some(instead) \
                     => {inner} }}) }})",
                    one.text, other.text, other.text
                ))
            }
        }
    }

    fn plain_equality(&self, one: TypedText<'_>, other: TypedText<'_>) -> Option<String> {
        let is_number = |sort: &str| is_whole(sort) || sort == "real";
        if one.sort == other.sort || is_number(one.sort) && is_number(other.sort) {
            return Some(format!("{} == {}", one.text, other.text));
        }
        let converted = self.converted_case(one, other.sort).map(|text| format!("{text} == {}", other.text));
        converted
            .or_else(|| self.converted_case(other, one.sort).map(|text| format!("{} == {text}", one.text)))
    }

    /// Returns a case of an enum as the case of another enum that is written alike.
    fn converted_case(&self, value: TypedText<'_>, to: &str) -> Option<String> {
        let (from, to) = (self.enums.get(value.sort)?, self.enums.get(to)?);
        let case = |(name, json): &(String, String)| {
            let same = to.iter().find(|(_, other)| other == json)?;
            Some(format!("{name} => {}", same.0))
        };
        // Every case of the one must be a case of the other, or the match would not cover all values.
        let cases = from.iter().map(case).collect::<Option<Vec<_>>>()?;
        Some(format!("(match {} {{ {} }})", value.text, cases.join(", ")))
    }

    /// Returns the record of a resource with the values of an answer; `None` if the answer lacks some.
    pub(super) fn known_value(&self, resource: &Resource, view: &ItemView) -> Option<String> {
        if view.record == resource.known {
            return Some(view.place.clone());
        }
        let (known, shown) = (self.records.get(&resource.known)?, self.records.get(&view.record)?);
        let field = |member: &RecordMember| {
            let same = shown.iter().find(|other| other.wire == member.wire && other.sort == member.sort)?;
            Some(format!("{}: {}.{}", member.name, view.place, same.name))
        };
        let fields = known.iter().map(field).collect::<Option<Vec<_>>>()?;
        Some(format!("{}({})", resource.known, fields.join(", ")))
    }

    /// Returns the fields that both records have and that can be compared, with the condition that they are equal.
    fn common_fields(
        &self,
        (one, one_record): (&str, &str),
        (other, other_record): (&str, &str),
    ) -> Vec<(String, String)> {
        let members = |record: &str| self.records.get(record).cloned().unwrap_or_default();
        let others = members(other_record);
        let field = |member: RecordMember| {
            let same = others.iter().find(|other| other.wire == member.wire)?;
            let (left, right) = (format!("{one}.{}", member.name), format!("{other}.{}", same.name));
            let condition = self.equality(
                TypedText { text: &left, sort: &member.sort },
                TypedText { text: &right, sort: &same.sort },
            )?;
            Some((member.name, condition))
        };
        members(one_record).into_iter().filter_map(field).collect()
    }

    /// Returns the rules that an answer shows an item as it is known.
    pub(super) fn same_rules(&self, resource: &Resource, record: &str) -> FieldRules {
        let base = format!("same_{}", resource.singular);
        let function =
            if record == resource.known { base } else { format!("{base}_as_{}", name::snake_case(record)) };
        // A field that no request sets is computed: another operation, or time, may change it.
        let set = self.fields_set(resource);
        let mut fields = self.common_fields(("known", &resource.known), ("told", record));
        fields.retain(|(field, _)| set.contains(field));
        FieldRules {
            function,
            parameters: vec![("known", resource.known.clone()), ("told", record.to_owned())],
            fields,
            about: format!(
                "`@` of a {} stays as it is until the {} is changed",
                resource.singular, resource.singular
            ),
            weighty: BTreeSet::new(),
            origin: format!("Nothing but a change of the {} changes these fields.", resource.singular),
        }
    }

    /// Returns the condition that a value is shown as it was sent. Services normalise texts, round
    /// numbers and sort lists, so texts are compared if they are plain, numbers nearly, and lists by their lengths.
    fn echo_of(&self, sent: TypedText<'_>, shown: TypedText<'_>) -> Option<String> {
        match sent.sort {
            "string" => {
                let equal = self.equality(sent, shown)?;
                // Anything else may come back trimmed, in small letters or normalised, and no description says so.
                Some(format!("({}.matches(\"{PLAIN_TEXT}\") => {equal})", sent.text))
            }
            "real" if shown.sort == "real" => {
                let (sent, shown) = (sent.text, shown.text);
                Some(format!(
                    "(-1000000 < {sent} < 1000000 => {shown} - {sent} <= 0.01 && {sent} - {shown} <= 0.01)"
                ))
            }
            "real" => None,
            list if list.starts_with("list<") => {
                // Sorted, or without repetition, is the same list for many services.
                let shown_list = shown.sort.trim_end_matches('?');
                if !shown_list.starts_with("list<") {
                    return None;
                }
                let (sent, inner) = (sent.text, |told: &str, sent: &str| {
                    format!("{told}.length() <= {sent}.length() && {told}.is_empty() == {sent}.is_empty()")
                });
                let condition = if shown.sort.ends_with('?') {
                    format!(
                        "(match {} {{ none => {sent}.is_empty(), some(value) => {} }})",
                        shown.text,
                        inner("value", sent)
                    )
                } else {
                    inner(shown.text, sent)
                };
                if list == "list<string>" {
                    return Some(format!(
                        "((forall y in {sent}: y.matches(\"{PLAIN_TEXT}\")) => {condition})"
                    ));
                }
                Some(condition)
            }
            _ => self.equality(sent, shown),
        }
    }

    /// Returns the fields of an item that requests set.
    pub(super) fn fields_set(&self, resource: &Resource) -> BTreeSet<String> {
        let writes = resource.roles.iter().filter(|(_, role)| is_write(role));
        let sent = writes.filter_map(|(at, _)| self.records.get(&self.sent_record(*at)?));
        let wires: BTreeSet<&str> = sent.flatten().map(|member| member.wire.as_str()).collect();
        let known = self.records.get(&resource.known).map(Vec::as_slice).unwrap_or_default();
        known
            .iter()
            .filter(|member| wires.contains(member.wire.as_str()))
            .map(|member| member.name.clone())
            .collect()
    }

    /// Returns the rules that an item is shown just after a request wrote it as the answer to that request showed it.
    pub(super) fn read_back_rules(&self, resource: &Resource, record: &str) -> FieldRules {
        let set = self.fields_set(resource);
        let same = self.same_rules(resource, record);
        FieldRules {
            function: same.function.replacen("same_", "reads_back_", 1),
            // Where the rule holds at all times, it need not be said again.
            fields: same.fields.into_iter().filter(|(field, _)| set.contains(field)).collect(),
            about: format!("a {} shows `@` as the answer that changed it did", resource.singular),
            weighty: set,
            origin: format!(
                "Just after a request that wrote the {}, it has these values.",
                resource.singular
            ),
            ..same
        }
    }

    /// Returns the rules that an answer shows what was sent; a field that was left out may have any value.
    pub(super) fn echo_rules(&self, resource: &Resource, sent: &str, record: &str) -> FieldRules {
        let members = |record: &str| self.records.get(record).cloned().unwrap_or_default();
        let told = members(record);
        let field = |member: RecordMember| {
            let same = told.iter().find(|other| other.wire == member.wire)?;
            let shown = format!("told.{}", same.name);
            let shown = TypedText { text: &shown, sort: &same.sort };
            let whole = format!("sent.{}", member.name);
            let condition = match member.sort.strip_suffix('?') {
                None => self.echo_of(TypedText { text: &whole, sort: &member.sort }, shown)?,
                Some(plain) => {
                    let inner = self.echo_of(TypedText { text: "wanted", sort: plain }, shown)?;
                    format!("(match {whole} {{ none => true, some(wanted) => {inner} }})")
                }
            };
            Some((member.name, condition))
        };
        let length = |member: RecordMember| {
            let same = told.iter().find(|other| other.wire == member.wire)?;
            Some((format!("{}{LENGTH}", member.name), self.whole_list_condition(&member, same)?))
        };
        let suffix = self.told_suffix(resource, sent, record);
        let all = members(sent);
        let fields = all.iter().cloned().filter_map(field).chain(all.iter().cloned().filter_map(length));
        FieldRules {
            function: format!("shows_{}{suffix}", name::snake_case(sent)),
            parameters: vec![("sent", sent.to_owned()), ("told", record.to_owned())],
            fields: fields.collect(),
            about: format!("`@` of a {} is what was sent", resource.singular),
            weighty: members(sent)
                .into_iter()
                .filter(|member| self.is_exact(member))
                .map(|it| it.name)
                .collect(),
            origin: format!("A {} has the values that were sent, as far as they were.", resource.singular),
        }
    }

    /// Returns the condition that a list is shown with all of its items, if no two of them are the same: some services
    /// keep only one of these.
    fn whole_list_condition(&self, sent: &RecordMember, shown: &RecordMember) -> Option<String> {
        let item_of = |sort: &str| {
            let inner = sort.trim_end_matches('?').strip_prefix("list<")?;
            inner.strip_suffix('>').map(str::to_owned)
        };
        let item = item_of(&sent.sort)?;
        item_of(&shown.sort)?;
        let place = format!("told.{}", shown.name);
        let has_length = |list: &str| {
            if shown.sort.ends_with('?') {
                let none = format!("none => {list}.is_empty()");
                format!("(match {place} {{ {none}, some(value) => value.length() == {list}.length() }})")
            } else {
                format!("{place}.length() == {list}.length()")
            }
        };
        let condition = |list: &str| {
            let plain = if item == "string" {
                format!("(forall y in {list}: y.matches(\"{PLAIN_TEXT}\")) && ")
            } else {
                String::new()
            };
            format!("({plain}{list}.to_set().size() == {list}.length() => {})", has_length(list))
        };
        let whole = format!("sent.{}", sent.name);
        Some(if sent.sort.ends_with('?') {
            format!("(match {whole} {{ none => true, some(wanted) => {} }})", condition("wanted"))
        } else {
            condition(&whole)
        })
    }

    /// Returns the end of the name of a function that compares what was sent with what is told: empty where only one
    /// record can be meant.
    fn told_suffix(&self, resource: &Resource, sent: &str, record: &str) -> String {
        let all = self.resources.iter().chain(self.singletons.iter().map(|it| &it.resource));
        // Another resource may be written with the same record; the two functions then need two names.
        let mut others = all.filter(|other| other.known != resource.known);
        let sends = |(at, role): (&usize, &ResourceRole)| {
            is_write(role) && self.sent_record(*at).as_deref() == Some(sent)
        };
        let is_shared = others.any(|other| other.roles.iter().any(sends));
        if record == resource.known && !is_shared {
            return String::new();
        }
        format!("_as_{}", name::snake_case(record))
    }

    /// Returns the rules that a new item has the documented defaults of the members that were not sent.
    pub(super) fn default_rules(&self, resource: &Resource, sent: &str, record: &str) -> FieldRules {
        let members = |record: &str| self.records.get(record).cloned().unwrap_or_default();
        let told = members(record);
        let field = |member: RecordMember| {
            let default = self.default_value(sent, &member)?;
            let same = told.iter().find(|other| other.wire == member.wire)?;
            let shown = format!("told.{}", same.name);
            let plain = member.sort.trim_end_matches('?');
            let equal = self.equality(
                TypedText { text: &default, sort: plain },
                TypedText { text: &shown, sort: &same.sort },
            )?;
            let name = member.name;
            Some((name.clone(), format!("(match sent.{name} {{ none => {equal}, some(_) => true }})")))
        };
        let suffix = self.told_suffix(resource, sent, record);
        FieldRules {
            function: format!("has_defaults_of_{}{suffix}", name::snake_case(sent)),
            parameters: vec![("sent", sent.to_owned()), ("told", record.to_owned())],
            fields: members(sent).into_iter().filter_map(field).collect(),
            about: format!("a new {} without `@` has the documented default", resource.singular),
            weighty: BTreeSet::new(),
            origin: format!("A new {} has the documented defaults of what was not sent.", resource.singular),
        }
    }

    /// Returns the default of a member that is left out if it is `none`, as a value of the model.
    fn default_value(&self, record: &str, member: &RecordMember) -> Option<String> {
        let is_left_out = self.form.absent.contains(&format!("{record}.{}", member.name));
        let plain = member.sort.strip_suffix('?').filter(|_| is_left_out)?;
        let default = member.default.as_ref()?;
        match default {
            SpecNode::Bool(truth) if plain == "bool" => Some(truth.to_string()),
            SpecNode::Number(number) if is_whole(plain) => {
                number.parse::<i64>().ok().map(|number| number.to_string())
            }
            SpecNode::Text(text) if plain == "string" => Some(string_literal(text)),
            value => {
                let json = value.to_json();
                let cases = self.enums.get(plain)?;
                cases.iter().find(|(_, other)| *other == json).map(|(case, _)| case.clone())
            }
        }
    }

    /// Returns whether services store the values of a member as they are: those that are no texts, no fractions and no
    /// structures.
    fn is_exact(&self, member: &RecordMember) -> bool {
        let sort = member.sort.as_str();
        sort == "bool" || is_whole(sort) || self.enums.contains_key(sort)
    }

    /// Returns the rules that an update leaves alone what was not sent.
    pub(super) fn keep_rules(
        &self,
        resource: &Resource,
        sent: &str,
        record: &str,
        is_patch: bool,
    ) -> FieldRules {
        let from = if record == resource.known {
            String::new()
        } else {
            format!("_from_{}", name::snake_case(&resource.known))
        };
        let written = self.records.get(sent).cloned().unwrap_or_default();
        let known = self.records.get(&resource.known).cloned().unwrap_or_default();
        let fields = self.common_fields(("known", &resource.known), ("told", record));
        let field = |(field, condition): (String, String)| {
            let wire = known.iter().find(|member| member.name == field).map(|member| member.wire.clone())?;
            match written.iter().find(|member| member.wire == wire) {
                // A field that the request cannot write stays as it is.
                None => Some((field, condition)),
                Some(member) if is_patch && member.sort.ends_with('?') => Some((
                    field,
                    format!("(match sent.{} {{ none => {condition}, some(_) => true }})", member.name),
                )),
                Some(_) => None,
            }
        };
        let set = self.fields_set(resource);
        let mut fields: Vec<(String, String)> = fields.into_iter().filter_map(field).collect();
        fields.retain(|(field, _)| set.contains(field));
        FieldRules {
            function: format!("keeps_{}_of_{}{from}", name::snake_case(sent), name::snake_case(record)),
            parameters: vec![
                ("known", resource.known.clone()),
                ("sent", sent.to_owned()),
                ("told", record.to_owned()),
            ],
            fields,
            about: format!("an update without `@` leaves it as it is in the {}", resource.singular),
            weighty: set,
            origin: "An update leaves alone what was not sent.".into(),
        }
    }
}

/// Returns whether an operation writes what it sends to an item.
fn is_write(role: &ResourceRole) -> bool {
    matches!(role, ResourceRole::Create | ResourceRole::Put | ResourceRole::Patch)
}
