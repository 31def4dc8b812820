//! Numbers and strings of schemas.

use ioxide_lang::{LoadOptions, load};
use ioxide_model::source::Sources;
use ioxide_model::term::string_literal;

use super::check::{ValueCondition, ValueWriter};
use super::shape::{JsonKind, SortOf};
use super::unread::UnreadKeywords;
use crate::node::SpecNode;

/// UUIDs, and those in small letters.
pub(super) const UUID: &str = "[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}";
pub(super) const LOWER_CASE_UUID: &str = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}";

/// The formats whose values are checked, and their patterns. A date with time may lack its offset in an answer, which
/// many services leave out.
pub const FORMATS: [(&str, &str); 8] = [
    ("uuid", UUID),
    ("date", "[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])"),
    (
        "date-time",
        "[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])[Tt \
         ]([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\\.[0-9]+)?([Zz]|[+-][0-9]{2}:?[0-9]{2})?",
    ),
    ("time", "([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\\.[0-9]+)?([Zz]|[+-][0-9]{2}:[0-9]{2})?"),
    ("ipv4", "((25[0-5]|2[0-4][0-9]|1?[0-9]?[0-9])\\.){3}(25[0-5]|2[0-4][0-9]|1?[0-9]?[0-9])"),
    ("email", "[^@ ]+@[^@ ]+"),
    ("uri", "[a-zA-Z][a-zA-Z0-9+.-]*:[^ ]*"),
    ("duration", "-?P[0-9.,YMWDTHS]+"),
];

/// The formats as requests write them: days that every month has, time in UTC, plain names.
pub const SENT_FORMATS: [(&str, &str); 6] = [
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
pub(super) fn guess_type(schema: &SpecNode) -> Option<&'static str> {
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

/// The reason for a bound or count that is not a number of a model.
const UNREADABLE: &str = "not translated: it is not a number that a model can hold";

/// An end of an interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BoundSide {
    Least,
    Greatest,
}

/// A bound of a number.
#[derive(Clone, Debug)]
struct NumberBound {
    end: BoundSide,
    value: String,
    /// True if the value itself is excluded.
    is_exclusive: bool,
}

impl NumberBound {
    /// Returns the outermost whole number within the bound; `None` if it is too large.
    fn outermost_whole(&self) -> Option<i64> {
        let (whole, has_fraction) = match self.value.split_once('.') {
            Some((whole, _)) => (whole, true),
            None => (self.value.as_str(), false),
        };
        let number: i64 = whole.parse().ok()?;
        // By the text: the whole part of `-0.5` is `-0`, and the number 0 has no sign.
        let is_negative = whole.starts_with('-');
        match self.end {
            // Inwards: the least whole number above 1.5 is 2, above -1.5 it is -1, which cutting off has given
            // already.
            BoundSide::Least if has_fraction => number.checked_add(i64::from(!is_negative)),
            BoundSide::Greatest if has_fraction => number.checked_sub(i64::from(is_negative)),
            BoundSide::Least => number.checked_add(i64::from(self.is_exclusive)),
            BoundSide::Greatest => number.checked_sub(i64::from(self.is_exclusive)),
        }
    }

    /// Returns the bound as a condition on a value, which is written `@`.
    fn condition(&self) -> ValueCondition {
        let operator = match (self.end, self.is_exclusive) {
            (BoundSide::Least, true) => ">",
            (BoundSide::Least, false) => ">=",
            (BoundSide::Greatest, true) => "<",
            (BoundSide::Greatest, false) => "<=",
        };
        ValueCondition::Says(format!("@ {operator} {}", self.value))
    }
}

/// Returns the bounds of a number, and those that cannot be read.
fn number_bounds(schema: &SpecNode) -> (Vec<NumberBound>, UnreadKeywords) {
    let (mut found, mut unread) = (Vec::new(), Vec::new());
    for (end, plain, exclusive) in [
        (BoundSide::Least, "minimum", "exclusiveMinimum"),
        (BoundSide::Greatest, "maximum", "exclusiveMaximum"),
    ] {
        // A truth in version 3.0, a bound of its own in 3.1.
        let is_truth = matches!(schema.get(exclusive), Some(SpecNode::Bool(_)));
        let of_plain = (plain, schema.is_true_at(exclusive));
        for (key, is_exclusive) in
            [Some(of_plain), (!is_truth).then_some((exclusive, true))].into_iter().flatten()
        {
            match schema.decimal_at(key) {
                Some(value) => found.push(NumberBound { end, value, is_exclusive }),
                None if schema.get(key).is_some() => unread.push((key, UNREADABLE)),
                None => (),
            }
        }
    }
    (found, unread)
}

/// Returns a range if both ends are known, else an integer with a condition.
pub(super) fn integer_sort(schema: &SpecNode) -> (SortOf, UnreadKeywords) {
    let (bounds, mut unread) = number_bounds(schema);
    let (multiple, unread_multiple) = multiple_condition(schema);
    unread.extend(unread_multiple);
    if let Some((lo, hi)) = whole_range(schema, &bounds) {
        return (SortOf::new(format!("{lo}..{hi}"), &[JsonKind::Number]).with_condition(multiple), unread);
    }
    let mut sort = SortOf::new("int", &[JsonKind::Number]);
    for bound in bounds {
        sort = match bound.outermost_whole() {
            Some(value) => {
                let bound = NumberBound { value: value.to_string(), is_exclusive: false, ..bound };
                sort.with_condition(bound.condition())
            }
            // Its fraction is left away, outwards: the model allows a number more.
            None => {
                let value = bound.value.split('.').next().unwrap_or_default().to_owned();
                let is_exclusive = bound.is_exclusive && value == bound.value;
                sort.with_condition(NumberBound { value, is_exclusive, ..bound }.condition())
            }
        };
    }
    (sort.with_condition(multiple), unread)
}

/// Returns the least and the greatest whole number within the bounds and the format; `None` if one is not known.
fn whole_range(schema: &SpecNode, bounds: &[NumberBound]) -> Option<(i64, i64)> {
    let of_format = match schema.text_at("format") {
        Some("int32") => Some((i64::from(i32::MIN), i64::from(i32::MAX))),
        Some("int64") => Some((i64::MIN, i64::MAX)),
        _ => None,
    };
    let at = |end| bounds.iter().filter(move |bound| bound.end == end).map(NumberBound::outermost_whole);
    // A bound that is too large for 64 bits leaves the range unknown, even if the other end is known.
    let least: Vec<i64> = at(BoundSide::Least).collect::<Option<_>>()?;
    let greatest: Vec<i64> = at(BoundSide::Greatest).collect::<Option<_>>()?;
    let lo = least.into_iter().max().or(of_format.map(|(lo, _)| lo))?;
    let hi = greatest.into_iter().min().or(of_format.map(|(_, hi)| hi))?;
    (lo <= hi).then_some((lo, hi))
}

/// Returns the condition that a whole number is a multiple of that at `multipleOf`.
fn multiple_condition(schema: &SpecNode) -> (ValueCondition, UnreadKeywords) {
    if schema.get("multipleOf").is_none() {
        return (ValueCondition::Anything, Vec::new());
    }
    match schema.decimal_at("multipleOf").as_deref().and_then(numerator) {
        Some(1) => (ValueCondition::Anything, Vec::new()),
        Some(n) => (ValueCondition::Says(format!("@ % {n} == 0")), Vec::new()),
        None => (ValueCondition::Anything, vec![("multipleOf", UNREADABLE)]),
    }
}

/// Returns the numerator of a decimal in lowest terms, which divides exactly the whole numbers that the decimal
/// divides; `None` if it is not positive, or too long.
fn numerator(decimal: &str) -> Option<u64> {
    let (whole, rest) = decimal.split_once('.').unwrap_or((decimal, ""));
    let digits: u64 = format!("{whole}{rest}").parse().ok().filter(|digits| *digits > 0)?;
    let scale = 10_u64.checked_pow(u32::try_from(rest.len()).ok()?)?;
    let (mut divisor, mut other) = (digits, scale);
    // Euclid: the greatest common divisor of the digits and the power of ten.
    while other > 0 {
        (divisor, other) = (other, divisor % other);
    }
    Some(digits / divisor)
}

/// Returns a real number with a condition.
pub(super) fn number_sort(schema: &SpecNode) -> (SortOf, UnreadKeywords) {
    let (bounds, mut unread) = number_bounds(schema);
    if schema.get("multipleOf").is_some() {
        unread.push(("multipleOf", "not translated: the number may have a fraction"));
    }
    let real = SortOf::new("real", &[JsonKind::Number]);
    (bounds.iter().fold(real, |sort, bound| sort.with_condition(bound.condition())), unread)
}

/// Returns the condition that `of` lies between the numbers at the keys `least` and `most`.
pub(super) fn count_condition(
    schema: &SpecNode,
    [least, most]: [&'static str; 2],
    of: &str,
) -> (ValueCondition, UnreadKeywords) {
    let (mut check, mut unread) = (ValueCondition::Anything, Vec::new());
    for (key, operator) in [(least, ">="), (most, "<=")] {
        match schema.count_at(key) {
            Some(0) if key == least => (),
            Some(n) => check = check.and(ValueCondition::Says(format!("{of} {operator} {n}"))),
            None if schema.get(key).is_some() => unread.push((key, UNREADABLE)),
            None => (),
        }
    }
    (check, unread)
}

/// Returns a string with its length, pattern and format, and what of these is not translated.
pub(super) fn string_sort(schema: &SpecNode) -> (SortOf, UnreadKeywords) {
    let (length, mut unread) = count_condition(schema, ["minLength", "maxLength"], "@.length()");
    let sort = SortOf::new("string", &[JsonKind::Text]).with_condition(length);
    let format = format_condition(schema.text_at("format"));
    let Some(text) = schema.get("pattern") else { return (sort.with_condition(format), unread) };
    if format != ValueCondition::Anything {
        unread.push(("format", "not translated: it is next to `pattern`"));
    }
    let pattern = text.as_text().map(whole_pattern).filter(|pattern| is_pattern(pattern));
    match pattern {
        Some(pattern) => (sort.with_condition(ValueCondition::Matches(pattern)), unread),
        None => {
            unread.push(("pattern", "not translated: patterns of models do not have all of this"));
            (sort, unread)
        }
    }
}

/// Returns the condition of a format; none if it is not known.
fn format_condition(format: Option<&str>) -> ValueCondition {
    let of = |all: &[(&str, &str)]| {
        all.iter().find(|(name, _)| Some(*name) == format).map(|(_, text)| (*text).to_owned())
    };
    let only = |side, pattern| ValueCondition::Only(side, Box::new(ValueCondition::Matches(pattern)));
    match (of(&FORMATS), of(&SENT_FORMATS)) {
        (Some(told), Some(sent)) => only(ValueWriter::Told, told).and(only(ValueWriter::Sent, sent)),
        (Some(both), None) => ValueCondition::Matches(both),
        (None, _) => ValueCondition::Anything,
    }
}

/// Returns a pattern for a whole text, as models match it, from one of a schema, which matches anywhere.
pub fn whole_pattern(text: &str) -> String {
    let has_choice = text.contains('|');
    let start = text.strip_prefix('^').filter(|_| !has_choice);
    let rest = start.unwrap_or(text);
    // In a choice the anchors belong to its first and last alternative, so they stay in place there.
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
pub fn is_pattern(pattern: &str) -> bool {
    let text = format!(
        "model Try {{\n    input a(s: string)\n    output b\n    state t {{\n        \
         on a when s.matches({})\n        emit b\n    }}\n}}\n",
        string_literal(pattern)
    );
    // The language itself decides, so that no second list of what patterns can have gets out of step.
    let mut sources = Sources::new();
    let file = sources.add("try.iox", &text);
    !load(&sources, file, &LoadOptions::default()).has_errors()
}

/// Returns whether values of this sort can be members of a set.
pub(super) fn is_key(sort: &str) -> bool {
    let plain = sort.trim_end_matches('?');
    let is_range = plain.contains("..") && !plain.contains('<');
    is_range || matches!(plain, "string" | "int" | "bool" | "real")
}
