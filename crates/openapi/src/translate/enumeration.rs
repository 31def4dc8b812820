//! Schemas that list their values: enums.

use std::collections::BTreeSet;

use super::shape::{JsonKind, SortOf};
use super::{AnyJson, Translator};
use crate::name;
use crate::node::SpecNode;

impl<'t> Translator<'t> {
    /// Returns the sort for one of these values.
    pub(super) fn translate_enumeration(
        &mut self,
        values: &'t [SpecNode],
        place: &str,
        hint: &str,
    ) -> SortOf {
        let is_nullable = values.contains(&SpecNode::Null);
        let values: Vec<&SpecNode> = values.iter().filter(|value| **value != SpecNode::Null).collect();
        if values.is_empty() {
            return SortOf { is_nullable: true, ..self.any_json_sort(AnyJson::Null) };
        }
        let kind = |value: &&SpecNode| match value {
            SpecNode::Text(_) => Some(JsonKind::Text),
            SpecNode::Number(_) => Some(JsonKind::Number),
            SpecNode::Bool(_) => Some(JsonKind::Truth),
            _ => None,
        };
        let Some(kinds) = values.iter().map(kind).collect::<Option<BTreeSet<_>>>() else {
            self.add_note(
                place,
                "values that are lists or objects are not translated; any JSON is allowed here",
            );
            return self.any_json_sort(AnyJson::Anything);
        };
        // Enums with the same values are one type, wherever they stand: a value of one is sent where the other is asked
        // for.
        let key: BTreeSet<String> = values.iter().map(|value| value.to_json()).collect();
        if let Some(known) = self.enumerations.get(&key) {
            self.own_name = None;
            return SortOf { is_nullable, ..known.clone() };
        }
        let name = self.fresh_type_name(hint);
        let mut cases = Vec::new();
        let mut seen = BTreeSet::new();
        for value in values.iter().filter(|value| seen.insert(value.to_json())) {
            let text = value.as_text().map_or_else(|| value.to_json().replace('-', "minus "), str::to_owned);
            let text = if text.is_empty() { "empty" } else { &text };
            let case = self.cases.fresh_name(&name::snake_case(&format!("{name} {text}")));
            self.form.cases.push((case.clone(), value.to_json()));
            cases.push(case);
        }
        let written = self.form.cases.iter().rev().take(cases.len()).rev().cloned().collect();
        self.enums.insert(name.clone(), written);
        self.declarations.push(format!("enum {name} {{ {} }}\n", cases.join(", ")));
        let values = values.iter().map(|value| value.to_json()).collect();
        let sort = SortOf { sort: name, kinds, values, ..SortOf::default() };
        self.enumerations.insert(key, sort.clone());
        SortOf { is_nullable, ..sort }
    }
}
