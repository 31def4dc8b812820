//! Keywords of schemas that restrict values and have no counterpart in the model: each of them is noted.

use super::Translator;
use super::shape::{JsonKind, SortOf};
use crate::node::SpecNode;

/// Keywords that are translated nowhere.
const UNTRANSLATED: [&str; 13] = [
    "not",
    "if",
    "then",
    "else",
    "patternProperties",
    "propertyNames",
    "dependentRequired",
    "dependentSchemas",
    "contains",
    "prefixItems",
    "unevaluatedProperties",
    "unevaluatedItems",
    "$dynamicRef",
];

/// Keywords that are translated where no other takes precedence.
const TRANSLATED: [&str; 21] = [
    "oneOf",
    "anyOf",
    "enum",
    "const",
    "properties",
    "required",
    "additionalProperties",
    "minProperties",
    "maxProperties",
    "items",
    "minItems",
    "maxItems",
    "uniqueItems",
    "pattern",
    "minLength",
    "maxLength",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
];

/// Keywords that were not translated, each with the reason.
pub(super) type UnreadKeywords = Vec<(&'static str, &'static str)>;

impl Translator<'_> {
    /// Notes the keywords that are translated nowhere, and a schema that no value satisfies.
    pub(super) fn note_untranslated(&mut self, schema: &SpecNode, place: &str) {
        if *schema == SpecNode::Bool(false) {
            self.add_note(place, "not translated: no value is allowed here");
        }
        self.note_each(schema, place, &UNTRANSLATED, "not translated: the model allows more");
    }

    /// Notes the keywords that stand beside `read`, which alone became `sort`.
    pub(super) fn note_ignored_keywords(
        &mut self,
        schema: &SpecNode,
        place: &str,
        read: &str,
        sort: &SortOf,
    ) {
        let why = format!("not translated: it is next to `{read}`");
        for keyword in TRANSLATED.iter().filter(|keyword| **keyword != read) {
            self.note_each(schema, place, &[*keyword], &why);
        }
        let kinds = schema.get("type").map(json_kinds);
        if kinds.is_some_and(|kinds| !sort.kinds.iter().all(|kind| kinds.contains(kind))) {
            self.add_note(&format!("{place}/type"), &why);
        }
    }

    /// Notes all keywords of a schema without a type.
    pub(super) fn note_untyped(&mut self, schema: &SpecNode, place: &str) {
        self.note_each(schema, place, &TRANSLATED, "not translated: no `type` is given");
    }

    /// Notes the schema of a body that is plain text, unless it says no more than that.
    pub(super) fn note_text(&mut self, media: &SpecNode, place: &str) {
        let Some(schema) = media.get("schema") else { return };
        let is_text = schema.get("type").is_none_or(|of| of.as_text() == Some("string"));
        let says_more = |(key, value): &(String, SpecNode)| {
            let is_known =
                TRANSLATED.iter().chain(&UNTRANSLATED).chain(&["allOf", "$ref"]).any(|known| known == key);
            is_known && restricts(key, value)
        };
        if !is_text || schema.members().iter().any(says_more) {
            self.add_note(&format!("{place}/schema"), "not translated: any text is allowed here");
        }
    }

    /// Notes those of `keywords` that the schema has.
    pub(super) fn note_each(&mut self, schema: &SpecNode, place: &str, keywords: &[&str], why: &str) {
        for keyword in keywords {
            if schema.get(keyword).is_some_and(|value| restricts(keyword, value)) {
                self.add_note(&format!("{place}/{keyword}"), why);
            }
        }
    }

    pub(super) fn note_unread(&mut self, unread: UnreadKeywords, place: &str) {
        for (keyword, why) in unread {
            self.add_note(&format!("{place}/{keyword}"), why);
        }
    }
}

/// Returns whether a keyword with this value excludes anything.
fn restricts(keyword: &str, value: &SpecNode) -> bool {
    match value {
        SpecNode::Bool(says) => !matches!(
            (keyword, says),
            ("additionalProperties" | "items" | "unevaluatedProperties" | "unevaluatedItems", true)
                | ("uniqueItems" | "exclusiveMinimum" | "exclusiveMaximum", false)
        ),
        SpecNode::Number(text) => {
            !(text == "0" && matches!(keyword, "minProperties" | "minItems" | "minLength"))
        }
        SpecNode::List(items) => !(items.is_empty() && keyword == "required"),
        // `not: {}` allows nothing; elsewhere the empty schema allows everything.
        SpecNode::Map(members) => !members.is_empty() || keyword == "not",
        SpecNode::Null | SpecNode::Text(_) => true,
    }
}

/// Returns the kinds of values that a `type` allows, apart from `null`.
fn json_kinds(types: &SpecNode) -> Vec<JsonKind> {
    let names = match types {
        SpecNode::List(names) => names.as_slice(),
        one => std::slice::from_ref(one),
    };
    let kind = |name: &SpecNode| match name.as_text()? {
        "boolean" => Some(JsonKind::Truth),
        "integer" | "number" => Some(JsonKind::Number),
        "string" => Some(JsonKind::Text),
        "array" => Some(JsonKind::List),
        "object" => Some(JsonKind::Object),
        _ => None,
    };
    names.iter().filter_map(kind).collect()
}
