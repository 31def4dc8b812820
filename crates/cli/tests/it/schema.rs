//! As much of JSON Schema as the published schemas use.

use serde_json::{Map, Value as Json};

/// Returns the violations of `schema` in `document`, one line each.
pub fn violations(schema: &Json, document: &Json) -> Vec<String> {
    let mut found = Vec::new();
    Checker { root: schema }.check(schema, document, "", &mut found);
    found
}

struct Checker<'s> {
    root: &'s Json,
}

/// The words of a schema that are checked, or say nothing about documents.
const KNOWN: [&str; 17] = [
    "anyOf",
    "$schema",
    "$defs",
    "$ref",
    "title",
    "description",
    "type",
    "required",
    "properties",
    "additionalProperties",
    "items",
    "minItems",
    "minimum",
    "const",
    "enum",
    "pattern",
    "default",
];

impl Checker<'_> {
    fn check(&self, schema: &Json, value: &Json, at: &str, found: &mut Vec<String>) {
        let Some(schema) = schema.as_object() else { panic!("a schema is an object at {at}") };
        if let Some(word) = schema.keys().find(|word| !KNOWN.contains(&word.as_str())) {
            panic!("the schema says `{word}`, which is not checked");
        }
        if let Some(name) = schema.get("$ref").and_then(Json::as_str) {
            let target =
                self.root.pointer(name.trim_start_matches('#')).expect("the reference leads somewhere");
            return self.check(target, value, at, found);
        }
        if let Some(choices) = schema.get("anyOf").and_then(Json::as_array) {
            self.check_choice(choices, value, at, found);
        }
        self.check_value(schema, value, at, found);
        if let Some(members) = value.as_object() {
            self.check_object(schema, members, at, found);
        }
        if let Some(list) = value.as_array() {
            if (list.len() as u64) < schema.get("minItems").and_then(Json::as_u64).unwrap_or(0) {
                found.push(format!("{at}: too short"));
            }
            for (n, part) in list.iter().enumerate() {
                if let Some(items) = schema.get("items") {
                    self.check(items, part, &format!("{at}/{n}"), found);
                }
            }
        }
    }

    /// One of the choices must be kept; else the one that is nearest is told.
    fn check_choice(&self, choices: &[Json], value: &Json, at: &str, found: &mut Vec<String>) {
        let wrong = choices.iter().map(|choice| {
            let mut wrong = Vec::new();
            self.check(choice, value, at, &mut wrong);
            wrong
        });
        found.extend(wrong.min_by_key(Vec::len).unwrap_or_default());
    }

    fn check_value(&self, schema: &Map<String, Json>, value: &Json, at: &str, found: &mut Vec<String>) {
        let fits = |name: &Json| match name.as_str() {
            Some("object") => value.is_object(),
            Some("array") => value.is_array(),
            Some("string") => value.is_string(),
            Some("integer") => value.is_i64() || value.is_u64(),
            Some("number") => value.is_number(),
            Some("boolean") => value.is_boolean(),
            Some("null") => value.is_null(),
            other => panic!("type {other:?} is not checked"),
        };
        let typed = match schema.get("type") {
            Some(Json::Array(names)) => names.iter().any(fits),
            Some(name) => fits(name),
            None => true,
        };
        let constant = schema.get("const").is_none_or(|wanted| wanted == value);
        let listed = schema.get("enum").and_then(Json::as_array).is_none_or(|list| list.contains(value));
        let least = schema.get("minimum").and_then(Json::as_i64);
        // What is not a number has no minimum, and what does not fit into a signed number is large enough.
        let is_enough = |least| !value.is_number() || value.as_i64().map_or(value.is_u64(), |n| n >= least);
        let large = least.is_none_or(is_enough);
        if !(typed && constant && listed && large && matches(schema.get("pattern"), value)) {
            found.push(format!("{at}: {value}"));
        }
    }

    fn check_object(
        &self,
        schema: &Map<String, Json>,
        members: &Map<String, Json>,
        at: &str,
        found: &mut Vec<String>,
    ) {
        for name in schema.get("required").and_then(Json::as_array).into_iter().flatten() {
            if !members.contains_key(name.as_str().unwrap_or_default()) {
                found.push(format!("{at}: {name} is missing"));
            }
        }
        let properties = schema.get("properties").and_then(Json::as_object);
        for (name, member) in members {
            match properties.and_then(|properties| properties.get(name)) {
                Some(schema) => self.check(schema, member, &format!("{at}/{name}"), found),
                None if schema.get("additionalProperties") == Some(&Json::Bool(false)) => {
                    found.push(format!("{at}: {name} is not known"));
                }
                None => {
                    if let Some(others @ Json::Object(_)) = schema.get("additionalProperties") {
                        self.check(others, member, &format!("{at}/{name}"), found);
                    }
                }
            }
        }
    }
}

/// The patterns in use: a choice of words, or a name; anything else must be added here.
fn matches(pattern: Option<&Json>, value: &Json) -> bool {
    let (Some(pattern), Some(text)) = (pattern.and_then(Json::as_str), value.as_str()) else { return true };
    let is_state = |text: &str| {
        text.strip_prefix("ec").is_some_and(|n| !n.is_empty() && n.chars().all(|c| c.is_ascii_digit()))
    };
    match pattern {
        "^ec[0-9]+$" => is_state(text),
        "^[A-Za-z_][A-Za-z0-9_@.!]*$" => {
            let plain = |c: char| c.is_ascii_alphanumeric() || "_@.!".contains(c);
            text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') && text.chars().all(plain)
        }
        _ => {
            let words = pattern.strip_prefix("^(ec[0-9]+|").and_then(|rest| rest.strip_suffix(")$"));
            let words = words.unwrap_or_else(|| panic!("the pattern {pattern} is not checked"));
            is_state(text) || words.split('|').any(|word| word == text)
        }
    }
}
