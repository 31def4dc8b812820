//! JSON schemas as sorts (the dialect of OpenAPI 3.0, and JSON Schema 2020-12 of 3.1).

use std::collections::BTreeSet;

use ioxide_model::term::string_literal;

use super::check::{ValueCondition, ValueWriter};
use super::shape::{JsonKind, SortOf};
use super::text;
use super::unread::UnreadKeywords;
use super::{AnyJson, Translator};
use crate::name;
use crate::node::{SpecNode, pointer_step};

/// The greatest depth of schemas within schemas. Recursion follows it, so it bounds the stack; chosen by feel.
pub(super) const MAX_DEPTH: usize = 60;

impl<'t> Translator<'t> {
    /// Returns the sort of a schema; `hint` names it if it needs a name.
    pub(super) fn translate_schema(&mut self, schema: &'t SpecNode, place: &str, hint: &str) -> SortOf {
        self.depth += 1;
        let sort = if self.depth > MAX_DEPTH {
            self.add_note(place, "too deep; any JSON is allowed here");
            self.any_json_sort(AnyJson::Anything)
        } else {
            self.translate_here(schema, place, hint)
        };
        self.depth -= 1;
        sort
    }

    fn translate_here(&mut self, schema: &'t SpecNode, place: &str, hint: &str) -> SortOf {
        if let Some(reference) = schema.text_at("$ref") {
            return self.translate_reference(schema, reference, place);
        }
        if self.loose.contains(place) {
            self.add_note(
                place,
                "no model has such a type: it has no end, or is too deep; any JSON is allowed here",
            );
            return self.any_json_sort(AnyJson::Anything);
        }
        self.note_untranslated(schema, place);
        let sort = if let Some(all) = schema.get("allOf") {
            self.translate_all_of(schema, all, place, hint)
        } else if let Some(keyword) =
            ["oneOf", "anyOf", "enum", "const"].into_iter().find(|key| schema.get(key).is_some())
        {
            let sort = self.translate_listed(schema, keyword, place, hint);
            self.note_ignored_keywords(schema, place, keyword, &sort);
            sort
        } else {
            self.translate_typed(schema, place, hint)
        };
        if schema.is_true_at("nullable") { SortOf { is_nullable: true, ..sort } } else { sort }
    }

    /// Returns the sort of a schema whose `keyword` lists alternatives or values.
    fn translate_listed(&mut self, schema: &'t SpecNode, keyword: &str, place: &str, hint: &str) -> SortOf {
        let Some(list) = schema.get(keyword) else { return self.any_json_sort(AnyJson::Anything) };
        match keyword {
            "enum" => self.translate_enumeration(list.items(), place, hint),
            "const" => self.translate_enumeration(std::slice::from_ref(list), place, hint),
            _ => {
                let schemas = list.items().iter().enumerate();
                let variants =
                    schemas.map(|(at, variant)| (variant, format!("{place}/{keyword}/{at}"))).collect();
                self.translate_union(variants, place, hint)
            }
        }
    }

    /// Returns the type that a reference names, translated once.
    fn translate_reference(&mut self, schema: &'t SpecNode, reference: &str, place: &str) -> SortOf {
        let Some((target, pointer)) = self.document.resolve_reference(schema, place) else {
            self.add_note(place, &format!("`{reference}` is not in this file; any JSON is allowed here"));
            return self.any_json_sort(AnyJson::Anything);
        };
        self.note_keywords_with_reference(schema, place);
        let differs = self.differs_by_direction(target, &mut BTreeSet::new());
        // Requests and answers share a type unless `readOnly` or `writeOnly` makes them two.
        let key = (pointer.clone(), differs.then_some(self.direction));
        if let Some(known) = self.known.get(&key) {
            return known.clone();
        }
        if let Some(name) = self.making.iter().find(|(other, _)| *other == key).map(|(_, name)| name.clone())
        {
            // It holds itself: its sort is not known yet, but its name is.
            self.recursive.insert(name.clone());
            return SortOf::new(name.clone(), &[JsonKind::Object])
                .with_condition(ValueCondition::Named(name));
        }
        let last = pointer.rsplit('/').next().unwrap_or("Type");
        let suffix = if differs && self.direction == ValueWriter::Sent { " sent" } else { "" };
        let name = self.types.fresh_name(&name::pascal_case(&format!("{last}{suffix}")));
        self.making.push((key.clone(), name.clone()));
        self.own_name = Some(name.clone());
        let mut made = self.translate_schema(target, &pointer, &name);
        self.own_name = None;
        self.making.pop();
        if self.recursive.contains(&name) && made.sort != name {
            self.add_note(&pointer, "it holds itself, but is not an object; any JSON is allowed here");
            self.declare_any_as(&name);
            made = SortOf::new(name.clone(), &[JsonKind::Object]);
        }
        self.known.insert(key, made.clone());
        made
    }

    /// Notes the keywords beside a reference, except those for people.
    pub(super) fn note_keywords_with_reference(&mut self, schema: &SpecNode, place: &str) {
        let is_for_people = |key: &str| {
            matches!(
                key,
                "$ref"
                    | "description"
                    | "title"
                    | "default"
                    | "example"
                    | "examples"
                    | "deprecated"
                    | "summary"
            )
        };
        for (key, _) in schema.members().iter().filter(|(key, _)| !is_for_people(key)) {
            self.add_note(&format!("{place}{}", pointer_step(key)), "not translated: it is next to `$ref`");
        }
    }

    /// Returns whether requests and answers have different members, by `readOnly` and `writeOnly`.
    fn differs_by_direction(&self, schema: &'t SpecNode, seen: &mut BTreeSet<String>) -> bool {
        if let Some(reference) = schema.text_at("$ref") {
            if !seen.insert(reference.to_owned()) {
                return false;
            }
            let target = self.document.resolve_reference(schema, "");
            return target.is_some_and(|(target, _)| self.differs_by_direction(target, seen));
        }
        let below = |key: &str| schema.get(key).into_iter();
        let properties = below("properties").flat_map(SpecNode::members).map(|(_, property)| property);
        let others = below("items").chain(below("additionalProperties"));
        let parts = ["allOf", "oneOf", "anyOf"].into_iter().flat_map(below).flat_map(SpecNode::items);
        schema.is_true_at("readOnly")
            || schema.is_true_at("writeOnly")
            || properties.chain(others).chain(parts).any(|part| self.differs_by_direction(part, seen))
    }

    /// Returns the sort of a value of one of several schemas.
    fn translate_union(&mut self, variants: Vec<(&'t SpecNode, String)>, place: &str, hint: &str) -> SortOf {
        let is_null = |node: &SpecNode| {
            node.text_at("type") == Some("null")
                || node.get("const") == Some(&SpecNode::Null)
                || node.get("enum").is_some_and(|values| values.items() == [SpecNode::Null])
        };
        let is_nullable = variants.iter().any(|(node, _)| is_null(node));
        let rest: Vec<_> = variants.into_iter().filter(|(node, _)| !is_null(node)).collect();
        if rest.is_empty() {
            return SortOf { is_nullable: true, ..self.any_json_sort(AnyJson::Null) };
        }
        let name = if rest.len() > 1 { self.fresh_type_name(hint) } else { hint.to_owned() };
        let mut sorts = Vec::new();
        for (at, (node, place)) in rest.iter().enumerate() {
            let hint = node
                .text_at("title")
                .map_or_else(|| format!("{name} {}", at + 1), |title| format!("{name} {title}"));
            let hint = if rest.len() > 1 { hint } else { name.clone() };
            sorts.push(self.translate_schema(node, place, &hint));
        }
        let is_nullable = is_nullable || sorts.iter().any(|sort| sort.is_nullable);
        if let [only] = &sorts[..] {
            return SortOf { is_nullable, ..only.clone() };
        }
        // Any JSON contains the other alternatives, and an untagged enum could not tell them apart.
        if sorts.iter().any(|sort| sort.sort == super::ANY) {
            self.add_note(place, "one of the alternatives is any JSON, so is this");
            return SortOf { is_nullable, ..self.any_json_sort(AnyJson::Anything) };
        }
        SortOf { is_nullable, ..self.declare_sum(&name, sorts, place) }
    }

    /// Returns an enum with a case for every sort.
    fn declare_sum(&mut self, name: &str, sorts: Vec<SortOf>, place: &str) -> SortOf {
        let mut distinct: Vec<SortOf> = Vec::new();
        for sort in sorts {
            match distinct.iter_mut().find(|other| other.sort == sort.sort) {
                // One of the two conditions would do; neither is asked for where they differ.
                Some(other) if other.check != sort.check => {
                    other.check = ValueCondition::Anything;
                    self.add_note(
                        place,
                        &format!(
                            "several alternatives are `{}`; their conditions are not checked",
                            sort.sort
                        ),
                    );
                }
                Some(_) => (),
                None => distinct.push(sort),
            }
        }
        if let [only] = &distinct[..] {
            return only.clone();
        }
        for at in 0..distinct.len() {
            let (one, rest) = (distinct[at].clone(), &distinct[at + 1..]);
            if one.check != ValueCondition::Anything && rest.iter().any(|other| !one.is_disjoint_from(other))
            {
                self.add_note(
                    place,
                    &format!(
                        "a value with the shape of `{}` may be another alternative; only the shape is checked",
                        one.sort
                    ),
                );
                // The first case whose shape fits is read, so its condition would refuse values that are right as
                // another alternative.
                distinct[at].check = ValueCondition::Anything;
            }
        }
        let mut cases = Vec::new();
        let mut checks = Vec::new();
        let mut kinds = BTreeSet::new();
        for sort in &distinct {
            let case = self.cases.fresh_name(&name::snake_case(&format!("{name} {}", sort.sort)));
            cases.push(format!("{case}(value: {})", sort.sort));
            checks.push((case, Some(sort.check.clone())));
            kinds.extend(sort.kinds.iter().copied());
        }
        self.places.insert(name.to_owned(), place.to_owned());
        self.declarations.push(format!("enum {name} {{ {} }}\n", cases.join(", ")));
        self.form.untagged.push(name.to_owned());
        self.checks.define_type(name, ValueCondition::Cases(checks));
        SortOf {
            sort: name.to_owned(),
            kinds,
            check: ValueCondition::Named(name.to_owned()),
            ..SortOf::default()
        }
    }

    /// Returns the sort of a schema by its `type`.
    fn translate_typed(&mut self, schema: &'t SpecNode, place: &str, hint: &str) -> SortOf {
        match schema.get("type") {
            Some(SpecNode::Text(name)) => self.translate_type(name, schema, place, hint),
            Some(SpecNode::List(names)) => self.translate_types(names, schema, place, hint),
            _ => match text::guess_type(schema) {
                Some(name) => {
                    self.add_note(place, &format!("no `type` is given; `{name}` is assumed"));
                    self.translate_type(name, schema, place, hint)
                }
                None => {
                    self.note_untyped(schema, place);
                    self.any_json_sort(AnyJson::Anything)
                }
            },
        }
    }

    fn translate_types(
        &mut self,
        names: &'t [SpecNode],
        schema: &'t SpecNode,
        place: &str,
        hint: &str,
    ) -> SortOf {
        let names: Vec<&str> = names.iter().filter_map(SpecNode::as_text).collect();
        let is_nullable = names.contains(&"null");
        let rest: Vec<&str> = names.into_iter().filter(|name| *name != "null").collect();
        let sort = match &rest[..] {
            [] => self.any_json_sort(AnyJson::Null),
            [only] => self.translate_type(only, schema, place, hint),
            several => {
                let name = self.fresh_type_name(hint);
                let sorts: Vec<SortOf> = several
                    .iter()
                    .map(|one| self.translate_type(one, schema, place, &format!("{name} {one}")))
                    .collect();
                if sorts.iter().any(|sort| sort.sort == super::ANY) {
                    self.add_note(&format!("{place}/type"), "one of the types is any JSON, so is this");
                    self.any_json_sort(AnyJson::Anything)
                } else {
                    self.declare_sum(&name, sorts, place)
                }
            }
        };
        SortOf { is_nullable: sort.is_nullable || is_nullable, ..sort }
    }

    fn translate_type(&mut self, name: &str, schema: &'t SpecNode, place: &str, hint: &str) -> SortOf {
        match name {
            "boolean" => SortOf::new("bool", &[JsonKind::Truth]),
            "integer" => self.note_unread_sort(text::integer_sort(schema), place),
            "number" => self.note_unread_sort(text::number_sort(schema), place),
            "string" => self.note_unread_sort(text::string_sort(schema), place),
            "array" => self.translate_array(schema, place, hint),
            "object" => self.translate_object(schema, place, hint),
            "null" => SortOf { is_nullable: true, ..self.any_json_sort(AnyJson::Null) },
            other => {
                self.add_note(
                    &format!("{place}/type"),
                    &format!("`{other}` is not a type; any JSON is allowed here"),
                );
                self.any_json_sort(AnyJson::Anything)
            }
        }
    }

    /// Returns the sort of a number or string, whose untranslated keywords are noted.
    fn note_unread_sort(&mut self, (sort, unread): (SortOf, UnreadKeywords), place: &str) -> SortOf {
        self.note_unread(unread, place);
        sort
    }

    fn translate_array(&mut self, schema: &'t SpecNode, place: &str, hint: &str) -> SortOf {
        self.own_name = None;
        let item = match schema.get("items") {
            Some(items) if schema.get("prefixItems").is_none() => {
                self.translate_schema(items, &format!("{place}/items"), &format!("{hint} item"))
            }
            _ => {
                self.note_each(schema, place, &["items"], "not translated: it is next to `prefixItems`");
                self.any_json_sort(AnyJson::Anything)
            }
        };
        let (sort, check) = item.optional_sort(false);
        let each = if check == ValueCondition::Anything {
            ValueCondition::Anything
        } else {
            ValueCondition::Each("@", Box::new(check))
        };
        let mut made = SortOf::new(format!("list<{sort}>"), &[JsonKind::List]);
        let (length, unread) = text::count_condition(schema, ["minItems", "maxItems"], "@.length()");
        self.note_unread(unread, place);
        made = made.with_condition(length).with_condition(each);
        if schema.is_true_at("uniqueItems") {
            if text::is_key(&sort) {
                made = made.with_condition(ValueCondition::Says("@.to_set().size() == @.length()".into()))
            } else {
                self.add_note(&format!("{place}/uniqueItems"), "not translated: items that hold collections")
            }
        }
        made
    }

    /// Returns the sort for any JSON, which holds its text.
    pub(super) fn any_json_sort(&mut self, what: AnyJson) -> SortOf {
        self.own_name = None;
        self.needs_any = true;
        let all = [JsonKind::Truth, JsonKind::Number, JsonKind::Text, JsonKind::List, JsonKind::Object];
        let sent = |text: &str| {
            ValueCondition::Only(
                ValueWriter::Sent,
                Box::new(ValueCondition::Says(format!("@.text == {}", string_literal(text)))),
            )
        };
        match what {
            AnyJson::Anything => {
                SortOf { is_nullable: true, ..SortOf::new(super::ANY, &all).with_condition(sent("{}")) }
            }
            AnyJson::Null => SortOf::new(super::ANY, &all)
                .with_condition(ValueCondition::Says("@.text == \"null\"".into())),
            AnyJson::Object => {
                let sort = SortOf::new(super::ANY, &[JsonKind::Object]).with_condition(sent("{}"));
                sort.with_condition(ValueCondition::Says("@.text.starts_with(\"{\")".into()))
            }
        }
    }

    /// Returns a name for a type: that of the reference to it, or a new one.
    pub(super) fn fresh_type_name(&mut self, hint: &str) -> String {
        self.own_name.take().unwrap_or_else(|| self.types.fresh_name(&name::pascal_case(hint)))
    }
}
