//! Schemas of objects: records, maps, and any object.

use super::check::{ValueCondition, ValueWriter};
use super::shape::{JsonKind, SortOf};
use super::text;
use super::{AnyJson, RecordMember, Translator};
use crate::name;
use crate::node::{SpecNode, pointer_step};

/// The note on numbers of members where the model does not count them.
const UNCOUNTED: &str = "not translated: the members of this object are not counted";

impl<'t> Translator<'t> {
    /// Returns the sort of an object: a record, a map, or any object.
    pub(super) fn translate_object(&mut self, schema: &'t SpecNode, place: &str, hint: &str) -> SortOf {
        let properties = schema.get("properties").map(SpecNode::members).unwrap_or_default();
        if !properties.is_empty() {
            return self.translate_record(schema, properties, place, hint);
        }
        self.own_name = None;
        match schema.get("additionalProperties") {
            Some(values @ SpecNode::Map(members)) if !members.is_empty() => {
                let value = self.translate_schema(
                    values,
                    &format!("{place}/additionalProperties"),
                    &format!("{hint} value"),
                );
                let (sort, check) = value.optional_sort(false);
                let each = if check == ValueCondition::Anything {
                    check
                } else {
                    ValueCondition::Each("@.values()", Box::new(check))
                };
                let (size, unread) =
                    text::count_condition(schema, ["minProperties", "maxProperties"], "@.size()");
                self.note_unread(unread, place);
                self.note_each(schema, place, &["required"], "not translated: these members have no schema");
                let made = SortOf::new(format!("map<string, {sort}>"), &[JsonKind::Object]);
                made.with_condition(size).with_condition(each)
            }
            _ => self.translate_any_object(schema, place),
        }
    }

    fn translate_record(
        &mut self,
        schema: &'t SpecNode,
        properties: &'t [(String, SpecNode)],
        place: &str,
        hint: &str,
    ) -> SortOf {
        let name = self.own_name.take().unwrap_or_else(|| self.types.fresh_name(&name::pascal_case(hint)));
        let required: Vec<&str> = schema
            .get("required")
            .map(SpecNode::items)
            .unwrap_or_default()
            .iter()
            .filter_map(SpecNode::as_text)
            .collect();
        let mut taken = name::TakenNames::default();
        let (mut fields, mut check, mut marks) = (Vec::new(), ValueCondition::Anything, Vec::new());
        let mut members = Vec::new();
        for (key, property) in properties {
            if self.is_hidden(property) {
                continue;
            }
            let field = taken.fresh_name(&name::field_name(key));
            let place = format!("{place}/properties{}", pointer_step(key));
            let sort = self.translate_schema(property, &place, &format!("{name} {key}"));
            let is_required = required.contains(&key.as_str());
            let (written, inner) = sort.optional_sort(!is_required);
            if inner != ValueCondition::Anything {
                check = check.and(ValueCondition::Field(field.clone(), Box::new(inner)));
            }
            if is_required && !sort.is_nullable && !sort.values.is_empty() {
                marks.push((key.clone(), sort.values.clone()));
            }
            let whole = format!("{name}.{field}");
            match (is_required, sort.is_nullable) {
                (true, true) => self.form.null.push(whole.clone()),
                (false, false) => self.form.absent.push(whole.clone()),
                _ => (),
            }
            if field != *key {
                self.form.names.push((whole, key.clone()));
            }
            let default = self.document.resolve_reference(property, "");
            let default = property.get("default").or_else(|| default?.0.get("default")).cloned();
            let (name, wire) = (field.clone(), key.clone());
            members.push(RecordMember { name, wire, sort: written.clone(), default });
            fields.push(format!("{field}: {written}"));
        }
        for key in required.iter().filter(|key| !properties.iter().any(|(other, _)| other == *key)) {
            self.add_note(
                &format!("{place}/required"),
                &format!("`{key}` has no schema; that it is there is not checked"),
            );
        }
        if fields.is_empty() {
            return self.translate_any_object(schema, place);
        }
        self.note_each(schema, place, &["minProperties", "maxProperties"], UNCOUNTED);
        self.translate_additional_members(schema, place, &name);
        let about = schema.text_at("description").map(super::doc_comment).unwrap_or_default();
        self.places.insert(name.clone(), place.to_owned());
        self.records.insert(name.clone(), members);
        self.declarations.push(format!("{about}record {name} {{ {} }}\n", fields.join(", ")));
        self.checks.define_type(&name, check);
        let made = SortOf::new(name.clone(), &[JsonKind::Object]).with_condition(ValueCondition::Named(name));
        SortOf { marks, ..made }
    }

    /// Closes the record `name` if its schema has no further members, and notes what is not checked of them.
    fn translate_additional_members(&mut self, schema: &SpecNode, place: &str, name: &str) {
        let all = schema.get("properties").map(SpecNode::members).unwrap_or_default();
        let has_hidden = all.iter().any(|(_, property)| self.is_hidden(property));
        match schema.get("additionalProperties") {
            Some(SpecNode::Bool(false)) if !has_hidden => self.form.closed.push(name.to_owned()),
            // A service should not tell what is only written, but may.
            Some(SpecNode::Bool(false)) => {
                self.add_note(
                    &format!("{place}/additionalProperties"),
                    "not translated: some members are for the other direction only",
                );
            }
            Some(SpecNode::Map(members)) if !members.is_empty() => {
                self.add_note(
                    &format!("{place}/additionalProperties"),
                    "members without a name are not checked",
                );
            }
            _ => (),
        }
    }

    /// Returns whether values of a property are for the other direction only.
    fn is_hidden(&self, property: &SpecNode) -> bool {
        property.is_true_at(if self.direction == ValueWriter::Sent { "readOnly" } else { "writeOnly" })
    }

    /// Returns the sort of any object, and notes what the schema says of its members.
    fn translate_any_object(&mut self, schema: &SpecNode, place: &str) -> SortOf {
        let counts = ["minProperties", "maxProperties"];
        self.note_each(schema, place, &counts, UNCOUNTED);
        let members = ["required", "additionalProperties"];
        self.note_each(schema, place, &members, "not translated: the model has no members of this object");
        self.any_json_sort(AnyJson::Object)
    }
}
