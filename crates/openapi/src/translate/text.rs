//! Numbers and strings of schemas.

use ioxide_lang::{LoadOptions, load};
use ioxide_model::source::Sources;
use ioxide_model::term::string_literal;

use super::check::{ValueCondition, ValueWriter};
use super::shape::{JsonKind, SortOf};
use crate::node::SpecNode;

/// The formats whose values are checked, and their patterns. A date with time may lack its offset in an answer, which
/// many services leave out.
const FORMATS: [(&str, &str); 8] = [
    ("uuid", "[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}"),
    ("date", "[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])"),
    (
        "date-time",
        "[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])[Tt ]([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\\.[0-9]+)?([Zz]|[+-][0-9]{2}:?[0-9]{2})?",
    ),
    ("time", "([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\\.[0-9]+)?([Zz]|[+-][0-9]{2}:[0-9]{2})?"),
    ("ipv4", "((25[0-5]|2[0-4][0-9]|1?[0-9]?[0-9])\\.){3}(25[0-5]|2[0-4][0-9]|1?[0-9]?[0-9])"),
    ("email", "[^@ ]+@[^@ ]+"),
    ("uri", "[a-zA-Z][a-zA-Z0-9+.-]*:[^ ]*"),
    ("duration", "-?P[0-9.,YMWDTHS]+"),
];

/// The formats as requests write them: days that every month has, time in UTC, plain names.
const SENT_FORMATS: [(&str, &str); 6] = [
    ("date", "(19|20)[0-9]{2}-(0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])"),
    (
        "date-time",
        "(19|20)[0-9]{2}-(0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]Z",
    ),
    ("time", "([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]Z"),
    ("email", "[a-z][a-z0-9]{0,9}@[a-z]{1,9}\\.(com|org)"),
    ("uri", "https?://[a-z]{1,9}\\.(com|org)/[a-z0-9]{0,9}"),
    ("duration", "P[1-9]D(T[1-9]H)?"),
];

/// Returns the type that the other keywords of a schema imply.
pub(super) fn guessed_type(schema: &SpecNode) -> Option<&'static str> {
    let has = |keys: &[&str]| keys.iter().any(|key| schema.get(key).is_some());
    if has(&["properties", "additionalProperties", "required"]) {
        Some("object")
    } else if has(&["items", "minItems", "maxItems"]) {
        Some("array")
    } else if has(&["pattern", "minLength", "maxLength"]) {
        Some("string")
    } else if has(&["minimum", "maximum", "multipleOf"]) {
        Some("number")
    } else {
        None
    }
}

/// Returns the least and the greatest value of a number, each with whether it is exclusive.
fn bounds(schema: &SpecNode) -> [Option<(String, bool)>; 2] {
    let bound = |plain: &str, exclusive: &str| match schema.get(exclusive) {
        Some(SpecNode::Number(_)) => schema.decimal_at(exclusive).map(|value| (value, true)),
        other => schema.decimal_at(plain).map(|value| (value, other.is_some_and(SpecNode::is_true))),
    };
    [bound("minimum", "exclusiveMinimum"), bound("maximum", "exclusiveMaximum")]
}

/// Returns a range if both ends are known, else an integer with a condition.
pub(super) fn integer(schema: &SpecNode) -> SortOf {
    let of_format = match schema.text_at("format") {
        Some("int32") => Some((i64::from(i32::MIN), i64::from(i32::MAX))),
        Some("int64") => Some((i64::MIN, i64::MAX)),
        _ => None,
    };
    let whole = |bound: &Option<(String, bool)>, inwards: i64| {
        let (text, is_out) = bound.as_ref()?;
        let value: i64 = text.parse().ok()?;
        value.checked_add(if *is_out { inwards } else { 0 })
    };
    let [least, greatest] = bounds(schema);
    let lo = whole(&least, 1).or(of_format.map(|(lo, _)| lo).filter(|_| least.is_none()));
    let hi = whole(&greatest, -1).or(of_format.map(|(_, hi)| hi).filter(|_| greatest.is_none()));
    let divides = schema.decimal_at("multipleOf").and_then(|n| n.parse::<u64>().ok()).filter(|n| *n > 1);
    let multiple =
        divides.map_or(ValueCondition::Anything, |n| ValueCondition::Says(format!("@ % {n} == 0")));
    match (lo, hi) {
        (Some(lo), Some(hi)) if lo <= hi => {
            SortOf::new(format!("{lo}..{hi}"), &[JsonKind::Number]).checked(multiple)
        }
        _ => SortOf::new("int", &[JsonKind::Number]).checked(within(schema)).checked(multiple),
    }
}

/// Returns a real number with a condition.
pub(super) fn number(schema: &SpecNode) -> SortOf {
    SortOf::new("real", &[JsonKind::Number]).checked(within(schema))
}

fn within(schema: &SpecNode) -> ValueCondition {
    let [least, greatest] = bounds(schema);
    let mut check = ValueCondition::Anything;
    if let Some((value, is_out)) = least {
        check = check.and(ValueCondition::Says(format!("@ {} {value}", if is_out { ">" } else { ">=" })));
    }
    if let Some((value, is_out)) = greatest {
        check = check.and(ValueCondition::Says(format!("@ {} {value}", if is_out { "<" } else { "<=" })));
    }
    check
}

/// Returns the condition that `of` lies between the numbers at the keys `least` and `most`.
pub(super) fn counted(schema: &SpecNode, least: &str, most: &str, of: &str) -> ValueCondition {
    let mut check = ValueCondition::Anything;
    if let Some(n) = schema.count_at(least).filter(|n| *n > 0) {
        check = check.and(ValueCondition::Says(format!("{of} >= {n}")));
    }
    if let Some(n) = schema.count_at(most) {
        check = check.and(ValueCondition::Says(format!("{of} <= {n}")));
    }
    check
}

/// Returns a string with its length, pattern and format, and the problem of a pattern that models do not have.
pub(super) fn string(schema: &SpecNode) -> (SortOf, Option<&'static str>) {
    let mut sort = SortOf::new("string", &[JsonKind::Text]);
    sort = sort.checked(counted(schema, "minLength", "maxLength", "@.length()"));
    let mut problem = None;
    if let Some(text) = schema.text_at("pattern") {
        let pattern = whole_pattern(text);
        if is_pattern(&pattern) {
            sort = sort.checked(ValueCondition::Matches(pattern.clone()))
        } else {
            problem = Some("not translated: patterns of models do not have all of this")
        }
    }
    let format = schema.text_at("format").filter(|_| schema.get("pattern").is_none());
    let of = |all: &[(&str, &str)]| {
        all.iter().find(|(name, _)| Some(*name) == format).map(|(_, text)| (*text).to_owned())
    };
    let only = |side, pattern| ValueCondition::Only(side, Box::new(ValueCondition::Matches(pattern)));
    match (of(&FORMATS), of(&SENT_FORMATS)) {
        (Some(told), Some(sent)) => {
            sort = sort.checked(only(ValueWriter::Told, told)).checked(only(ValueWriter::Sent, sent));
        }
        (Some(both), None) => sort = sort.checked(ValueCondition::Matches(both)),
        (None, _) => (),
    }
    (sort, problem)
}

/// Returns a pattern for a whole text, as models match it, from one of a schema, which matches anywhere.
fn whole_pattern(text: &str) -> String {
    let has_choice = text.contains('|');
    let start = text.strip_prefix('^').filter(|_| !has_choice);
    let rest = start.unwrap_or(text);
    let end = rest.strip_suffix('$').filter(|inner| !has_choice && !inner.ends_with('\\'));
    // `^(a|b)$` is one choice in brackets.
    let bracketed = text.strip_prefix("^(").and_then(|inner| inner.strip_suffix(")$"));
    if let Some(inner) = bracketed.filter(|inner| !inner.contains(['(', ')'])) {
        return format!("({inner})");
    }
    if has_choice {
        return format!("(?s:.*)(?:{text})(?s:.*)");
    }
    let before = if start.is_some() { "" } else { "(?s:.*)" };
    let after = if end.is_some() { "" } else { "(?s:.*)" };
    format!("{before}{}{after}", end.unwrap_or(rest))
}

/// Returns whether models have this pattern.
fn is_pattern(pattern: &str) -> bool {
    let text = format!(
        "model Try {{\n    input a(s: string)\n    output b\n    state t {{\n        on a when s.matches({})\n        emit b\n    }}\n}}\n",
        string_literal(pattern)
    );
    let mut sources = Sources::new();
    let file = sources.add("try.iox", &text);
    !load(&sources, file, &LoadOptions::default()).has_errors()
}

/// Returns whether values of this sort can be members of a set.
pub(super) fn is_key(sort: &str) -> bool {
    let plain = sort.trim_end_matches('?');
    matches!(plain, "string" | "int" | "bool" | "real") || plain.contains("..")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_anywhere_unless_they_say_otherwise() {
        for (text, whole) in [
            ("^a+$", "a+"),
            ("a", "(?s:.*)a(?s:.*)"),
            ("^a", "a(?s:.*)"),
            ("^(x|y)$", "(x|y)"),
            ("^x|y$", "(?s:.*)(?:^x|y$)(?s:.*)"),
            ("a\\$", "(?s:.*)a\\$(?s:.*)"),
        ] {
            assert_eq!(whole_pattern(text), whole);
        }
        assert!(is_pattern("[a-z]{2,4}") && !is_pattern("(?=a)b") && !is_pattern("["));
    }

    #[test]
    fn all_formats_are_patterns() {
        for (name, pattern) in FORMATS.iter().chain(&SENT_FORMATS) {
            assert!(is_pattern(pattern), "{name}");
        }
    }
}
