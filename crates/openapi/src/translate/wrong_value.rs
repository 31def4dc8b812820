//! Values that a schema excludes, each in one way, and samples of values that it allows.

use super::Translator;
use super::pattern::sample_of_pattern;
use super::wrong::{MAX_CASES, WrongValue};
use crate::node::SpecNode;

/// The depth to which the values of a sample are filled in. Chosen by feel.
const MAX_DEPTH: usize = 6;

/// The name of values that are shorter than the schema allows.
const TOO_SHORT: &str = "too short";

/// A member of an object, as the parts of its schema say together.
pub(super) struct ObjectMember<'t> {
    pub(super) name: &'t str,
    pub(super) schema: &'t SpecNode,
    is_required: bool,
}

impl<'t> Translator<'t> {
    /// Returns objects of which something is not as the schema says; none if the schema is not that of an object. In a
    /// form every value is a text, and an empty one counts as missing for many.
    pub(super) fn wrong_objects(&self, schema: &'t SpecNode, is_form: bool) -> Vec<WrongValue> {
        let Some(members) = self.object_members(schema, 0) else { return Vec::new() };
        let base: Vec<(String, SpecNode)> = members
            .iter()
            .filter(|member| member.is_required)
            .map(|member| (member.name.to_owned(), self.sample(member.schema, 0)))
            .collect();
        let with = |name: &str, value: SpecNode| {
            let mut changed: Vec<(String, SpecNode)> =
                base.iter().filter(|(other, _)| other != name).cloned().collect();
            // All other members are right, so that the service has one reason to refuse and cannot stop at another.
            changed.push((name.to_owned(), value));
            SpecNode::Map(changed)
        };
        let mut found = Vec::new();
        for member in members.iter().filter(|member| member.is_required) {
            let rest = base.iter().filter(|(other, _)| other != member.name).cloned().collect();
            found.push(WrongValue {
                name: format!("without {}", member.name),
                value: SpecNode::Map(rest),
                about: format!("`{}` is missing", member.name),
            });
        }
        for member in &members {
            let Some((schema, _)) = self.document.resolve_reference(member.schema, "") else { continue };
            let is_number = matches!(schema.text_at("type"), Some("integer" | "number" | "boolean"));
            let of_type = self.wrong_type(schema, member.name).filter(|_| !is_form || is_number);
            let values = self.wrong_values(schema, member.name).into_iter();
            let wrong =
                of_type.into_iter().chain(values.filter(|(name, _, _)| !is_form || name != TOO_SHORT));
            found.extend(wrong.map(|(name, value, about)| WrongValue {
                name: format!("{} {name}", member.name),
                value: with(member.name, value),
                about,
            }));
        }
        // Without required members some services take an empty list for an empty object.
        if !base.is_empty() && !is_form {
            found.push(WrongValue {
                name: "list".into(),
                value: SpecNode::List(Vec::new()),
                about: "the body is a list".into(),
            });
        }
        found
    }

    /// Returns a value of another type, which nobody takes for one of the right type.
    fn wrong_type(&self, schema: &SpecNode, name: &str) -> Option<(String, SpecNode, String)> {
        let object = || SpecNode::Map(vec![("unexpected".into(), SpecNode::Bool(true))]);
        let types = match schema.get("type") {
            Some(SpecNode::Text(kind)) => vec![kind.as_str()],
            Some(SpecNode::List(kinds)) => kinds.iter().filter_map(SpecNode::as_text).collect(),
            _ => return None,
        };
        // With several types left, no value is surely of another one.
        let rest: Vec<&str> = types.into_iter().filter(|kind| *kind != "null").collect();
        let [kind] = rest[..] else { return None };
        let value = match kind {
            // No number or truth: frameworks convert them to texts and back without complaint.
            "string" | "boolean" => object(),
            "integer" | "number" => SpecNode::Text("not a number".into()),
            // A single value is taken for a list of one by some.
            "array" => object(),
            "object" => SpecNode::Text("not an object".into()),
            _ => return None,
        };
        Some(("type".into(), value, format!("`{name}` is not of type {kind}")))
    }

    /// Returns values of the right type that the schema excludes.
    pub(super) fn wrong_values(&self, schema: &SpecNode, name: &str) -> Vec<(String, SpecNode, String)> {
        let mut found = Vec::new();
        let mut add =
            |what: &str, value: SpecNode, about: String| found.push((what.to_owned(), value, about));
        if let Some(values) = schema.get("enum").map(SpecNode::items).filter(|values| !values.is_empty()) {
            if values.iter().all(|value| value.as_text().is_some()) {
                add(
                    "unlisted",
                    SpecNode::Text("none of these".into()),
                    format!("`{name}` is not one of the listed values"),
                );
            }
            return found;
        }
        let kind = schema.text_at("type");
        if matches!(kind, Some("integer" | "number")) {
            for (key, exclusive, step) in
                [("minimum", "exclusiveMinimum", -1), ("maximum", "exclusiveMaximum", 1)]
            {
                let bound = schema.decimal_at(key).or_else(|| schema.decimal_at(exclusive));
                let beyond =
                    // The whole part of the bound moved by one lies beyond the bound, whether it is exclusive or not.
                    bound.and_then(|bound| bound.split('.').next()?.parse::<i64>().ok()?.checked_add(step));
                if let Some(beyond) = beyond {
                    add(
                        key,
                        SpecNode::Number(beyond.to_string()),
                        format!("`{name}` is {beyond}, beyond its {key}"),
                    );
                }
            }
        }
        if kind == Some("string") {
            if let Some(most) = schema.count_at("maxLength").filter(|most| *most < 2_000) {
                let text = "x".repeat(usize::try_from(most).unwrap_or(0) + 1);
                add("too long", SpecNode::Text(text), format!("`{name}` is longer than {most}"));
            }
            if schema.count_at("minLength").is_some_and(|least| least > 0) {
                add(TOO_SHORT, SpecNode::Text(String::new()), format!("`{name}` is empty"));
            }
        }
        if kind == Some("array") && schema.count_at("minItems").is_some_and(|least| least > 0) {
            add(TOO_SHORT, SpecNode::List(Vec::new()), format!("`{name}` has no items"));
        }
        found
    }

    /// Returns the members of an object that a request may have; `None` if the schema is none of an object.
    pub(super) fn object_members(&self, schema: &'t SpecNode, depth: usize) -> Option<Vec<ObjectMember<'t>>> {
        let (schema, _) = self.document.resolve_reference(schema, "")?;
        // Which members are required depends on the alternative, so an object with one missing may be right.
        if depth > MAX_DEPTH || schema.get("oneOf").is_some() || schema.get("anyOf").is_some() {
            return None;
        }
        let mut found = Vec::new();
        for part in schema.get("allOf").map(SpecNode::items).unwrap_or_default() {
            found.extend(self.object_members(part, depth + 1)?);
        }
        let required: Vec<&str> = schema
            .get("required")
            .map(SpecNode::items)
            .unwrap_or_default()
            .iter()
            .filter_map(SpecNode::as_text)
            .collect();
        for (name, property) in schema.get("properties").map(SpecNode::members).unwrap_or_default() {
            let target = self.document.resolve_reference(property, "").map_or(property, |(target, _)| target);
            if property.is_true_at("readOnly") || target.is_true_at("readOnly") {
                continue;
            }
            found.push(ObjectMember {
                name,
                schema: property,
                is_required: required.contains(&name.as_str()),
            });
        }
        for member in &mut found {
            // `required` may name members that another part of `allOf` declares.
            member.is_required = member.is_required || required.contains(&member.name);
        }
        (!found.is_empty()).then_some(found)
    }

    /// Returns a value for a schema: an example or a default, or the simplest that its keywords allow.
    fn sample(&self, schema: &'t SpecNode, depth: usize) -> SpecNode {
        let Some((schema, _)) = self.document.resolve_reference(schema, "") else { return SpecNode::Null };
        let listed = |key: &str| schema.get(key).and_then(|values| values.items().first());
        let given = schema.get("example").or_else(|| listed("examples")).or_else(|| schema.get("default"));
        if let Some(value) = given.or_else(|| schema.get("const")).or_else(|| listed("enum")) {
            return value.clone();
        }
        if depth > MAX_DEPTH {
            return SpecNode::Null;
        }
        if let Some(part) = listed("oneOf").or_else(|| listed("anyOf")) {
            return self.sample(part, depth + 1);
        }
        if let Some(members) = self.object_members(schema, 0) {
            let required = members.iter().filter(|member| member.is_required);
            return SpecNode::Map(
                required
                    .map(|member| (member.name.to_owned(), self.sample(member.schema, depth + 1)))
                    .collect(),
            );
        }
        match schema.text_at("type").or_else(|| super::text::guess_type(schema)) {
            Some("integer" | "number") => {
                let least = schema
                    .decimal_at("minimum")
                    .or_else(|| schema.decimal_at("exclusiveMinimum").and_then(next_number_above));
                let most = schema.decimal_at("maximum");
                SpecNode::Number(least.or(most).unwrap_or_else(|| "1".into()))
            }
            Some("boolean") => SpecNode::Bool(true),
            Some("array") => {
                let count =
                    usize::try_from(schema.count_at("minItems").unwrap_or(0)).unwrap_or(0).min(MAX_CASES);
                let item = schema.get("items").map(|item| self.sample(item, depth + 1));
                SpecNode::List(vec![item.unwrap_or(SpecNode::Null); count])
            }
            Some("object") => SpecNode::Map(Vec::new()),
            Some("string") => SpecNode::Text(sample_text(schema)),
            _ => SpecNode::Text("a".into()),
        }
    }
}

/// Returns the whole number above one.
fn next_number_above(number: String) -> Option<String> {
    number
        .split('.')
        .next()?
        .parse::<i64>()
        .ok()
        .and_then(|whole| whole.checked_add(1))
        .map(|whole| whole.to_string())
}

/// Returns a text of the pattern, the length and the format that a schema asks for.
fn sample_text(schema: &SpecNode) -> String {
    if let Some(text) = schema.text_at("pattern").and_then(sample_of_pattern) {
        return text;
    }
    let text = match schema.text_at("format") {
        Some("uuid") => "3fa85f64-5717-4562-b3fc-2c963f66afa6",
        Some("date") => "2024-02-03",
        Some("date-time") => "2024-02-03T04:05:06Z",
        Some("email") => "ann@example.org",
        Some("uri" | "url") => "https://example.org/a",
        Some("ipv4") => "192.0.2.1",
        Some("time") => "04:05:06Z",
        _ => "abc",
    };
    let least = usize::try_from(schema.count_at("minLength").unwrap_or(0)).unwrap_or(0).min(2_000);
    let most = usize::try_from(schema.count_at("maxLength").unwrap_or(u64::MAX)).unwrap_or(usize::MAX);
    let padded = format!("{text:a<least$}");
    padded.chars().take(most).collect()
}
