//! Schemas of several parts (`allOf`): their keywords are put together.

use super::Translator;
use super::schema::MAX_DEPTH;
use super::shape::SortOf;
use crate::node::{SpecNode, pointer_step};

/// The number of schemas merged by `allOf`, over the whole description. Schemas that refer to each other can ask for
/// exponentially many; chosen by feel.
const MAX_MERGES: usize = 20_000;

impl<'t> Translator<'t> {
    /// Returns the sort of a schema with the keywords of all its `allOf` parts.
    pub(super) fn translate_all_of(
        &mut self,
        schema: &'t SpecNode,
        all: &'t SpecNode,
        place: &str,
        hint: &str,
    ) -> SortOf {
        let is_note = |key: &str| {
            matches!(
                key,
                "allOf"
                    | "description"
                    | "title"
                    | "default"
                    | "example"
                    | "nullable"
                    | "readOnly"
                    | "writeOnly"
                    | "deprecated"
            )
        };
        if let ([only], true) = (all.items(), schema.members().iter().all(|(key, _)| is_note(key))) {
            return self.translate_schema(only, &format!("{place}/allOf/0"), hint);
        }
        let mut merged: Vec<(String, SpecNode)> = Vec::new();
        let own: Vec<_> = schema.members().iter().filter(|(key, _)| key != "allOf").cloned().collect();
        self.merge_members(&mut merged, &own, place);
        for (at, part) in all.items().iter().enumerate() {
            let place = format!("{place}/allOf/{at}");
            if part.get("$ref").is_some() {
                self.note_keywords_with_reference(part, &place);
            }
            match self.document.resolve_reference(part, &place) {
                Some((part, place)) => self.merge_schema(&mut merged, part, &place, 0),
                None => self.add_note(&place, "not translated: the target of this reference does not exist"),
            }
        }
        let merged = self.keep_schema(SpecNode::Map(merged));
        self.translate_schema(merged, place, hint)
    }

    fn merge_schema(
        &mut self,
        merged: &mut Vec<(String, SpecNode)>,
        part: &'t SpecNode,
        place: &str,
        depth: usize,
    ) {
        let own: Vec<_> = part.members().iter().filter(|(key, _)| key != "allOf").cloned().collect();
        self.merge_members(merged, &own, place);
        self.merges += 1;
        for (at, inner) in part.get("allOf").map(SpecNode::items).unwrap_or_default().iter().enumerate() {
            let place = format!("{place}/allOf/{at}");
            if inner.get("$ref").is_some() {
                self.note_keywords_with_reference(inner, &place);
            }
            match self.document.resolve_reference(inner, &place) {
                Some((inner, place)) if depth < MAX_DEPTH && self.merges < MAX_MERGES => {
                    self.merge_schema(merged, inner, &place, depth + 1)
                }
                _ => {
                    self.add_note(
                        &place,
                        "not translated: a reference without a target, or `allOf` without end",
                    );
                    return;
                }
            }
        }
    }

    fn merge_members(
        &mut self,
        merged: &mut Vec<(String, SpecNode)>,
        more: &[(String, SpecNode)],
        place: &str,
    ) {
        for (key, value) in more {
            match (merged.iter_mut().find(|(other, _)| other == key).map(|(_, old)| old), key.as_str()) {
                (None, _) => merged.push((key.clone(), value.clone())),
                (Some(SpecNode::Map(old)), "properties") => {
                    self.merge_properties(old, value.members(), &format!("{place}/properties"));
                }
                (Some(SpecNode::List(old)), "required") => old.extend(value.items().to_vec()),
                (Some(old), _) if *old == *value => (),
                (
                    Some(_),
                    "description" | "title" | "example" | "default" | "examples" | "deprecated" | "nullable",
                ) => (),
                (Some(_), _) => {
                    self.add_note(&format!("{place}/{key}"), "not translated: `allOf` has it twice")
                }
            }
        }
    }

    /// Adds `more` to `old`; of a property that both have, the first schema is kept, with the side that has no value of
    /// it.
    fn merge_properties(
        &mut self,
        old: &mut Vec<(String, SpecNode)>,
        more: &[(String, SpecNode)],
        place: &str,
    ) {
        for (name, schema) in more {
            match old.iter_mut().find(|(other, _)| other == name).map(|(_, first)| first) {
                None => old.push((name.clone(), schema.clone())),
                Some(first) if *first == *schema => (),
                Some(first) => {
                    copy_direction(first, schema);
                    self.add_note(
                        &format!("{place}{}", pointer_step(name)),
                        "not translated: another part of `allOf` has this property too",
                    );
                }
            }
        }
    }
}

/// Makes `schema` read-only or write-only if `other` is: who never writes the value cannot lack it.
fn copy_direction(schema: &mut SpecNode, other: &SpecNode) {
    let SpecNode::Map(members) = schema else { return };
    for side in ["readOnly", "writeOnly"].into_iter().filter(|side| other.is_true_at(side)) {
        members.retain(|(key, _)| key != side);
        members.push((side.to_owned(), SpecNode::Bool(true)));
    }
}
