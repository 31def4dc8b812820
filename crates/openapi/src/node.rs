//! The tree of a description: JSON with the order of members kept.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

/// The number of digits of a number that models may have. It keeps an exponent such as `1e999999999` from being
/// written out; chosen by feel.
const MAX_DIGITS: usize = 500;

/// A node of a description.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SpecNode {
    Null,
    Bool(bool),
    /// A number as it is written.
    Number(String),
    Text(String),
    List(Vec<Self>),
    Map(Vec<(String, Self)>),
}

impl SpecNode {
    /// Returns the member called `key`, if there is one.
    pub(crate) fn get(&self, key: &str) -> Option<&Self> {
        self.members().iter().find(|(other, _)| other == key).map(|(_, value)| value)
    }

    /// Returns the node at this JSON pointer (RFC 6901).
    pub fn at_pointer(&self, pointer: &str) -> Option<&Self> {
        pointer.split('/').skip(1).try_fold(self, |node, step| {
            let key = step.replace("~1", "/").replace("~0", "~");
            match node {
                Self::List(items) => key.parse::<usize>().ok().and_then(|at| items.get(at)),
                _ => node.get(&key),
            }
        })
    }

    /// Returns the members of a map, none for anything else.
    pub(crate) fn members(&self) -> &[(String, Self)] {
        if let Self::Map(members) = self { members } else { &[] }
    }

    /// Returns the items of a list, none for anything else.
    pub(crate) fn items(&self) -> &[Self] {
        if let Self::List(items) = self { items } else { &[] }
    }

    pub fn as_text(&self) -> Option<&str> {
        if let Self::Text(text) = self { Some(text) } else { None }
    }

    /// Returns a number as it is written.
    pub(crate) fn as_number_text(&self) -> Option<&str> {
        if let Self::Number(text) = self { Some(text) } else { None }
    }

    pub(crate) fn is_true(&self) -> bool {
        *self == Self::Bool(true)
    }

    /// Returns the text at `key`.
    pub(crate) fn text_at(&self, key: &str) -> Option<&str> {
        self.get(key).and_then(Self::as_text)
    }

    /// Returns whether the value at `key` is `true`.
    pub(crate) fn is_true_at(&self, key: &str) -> bool {
        self.get(key).is_some_and(Self::is_true)
    }

    /// Returns the whole number at `key`; `None` if it is negative.
    pub(crate) fn count_at(&self, key: &str) -> Option<u64> {
        self.decimal_at(key).and_then(|text| text.parse().ok())
    }

    /// Returns the number at `key` without an exponent, as models write numbers; `None` if it is too long for them.
    pub(crate) fn decimal_at(&self, key: &str) -> Option<String> {
        self.get(key).and_then(Self::as_number_text).and_then(plain_decimal)
    }

    /// Returns the tree as JSON.
    pub fn to_json(&self) -> String {
        let quoted = |text: &str| serde_json::Value::from(text).to_string();
        match self {
            Self::Null => "null".into(),
            Self::Bool(value) => value.to_string(),
            Self::Number(text) => text.clone(),
            Self::Text(text) => quoted(text),
            Self::List(items) => {
                format!("[{}]", items.iter().map(Self::to_json).collect::<Vec<_>>().join(","))
            }
            Self::Map(members) => {
                let member = |(key, value): &(String, Self)| format!("{}:{}", quoted(key), value.to_json());
                format!("{{{}}}", members.iter().map(member).collect::<Vec<_>>().join(","))
            }
        }
    }
}

/// Returns a number without exponent and without a fraction of zeros, digit by digit, since a bound that is rounded
/// would forbid a value that the description allows; `None` if it is not a number, or too long.
fn plain_decimal(text: &str) -> Option<String> {
    let (sign, text) = text.strip_prefix('-').map_or(("", text), |rest| ("-", rest));
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let (whole, rest) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{rest}");
    if whole.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let shift: i64 = exponent.parse().ok().filter(|shift: &i64| shift.unsigned_abs() <= MAX_DIGITS as u64)?;
    let point = i64::try_from(whole.len()).ok()? + shift;
    let before = usize::try_from(-point).unwrap_or(0);
    let digits = format!("{}{digits}", "0".repeat(before));
    let point = usize::try_from(point).unwrap_or(0);
    let digits = format!("{digits:0<point$}");
    let (whole, rest) = digits.split_at(point);
    let (whole, rest) = (whole.trim_start_matches('0'), rest.trim_end_matches('0'));
    let whole = if whole.is_empty() { "0" } else { whole };
    if whole.len() + rest.len() > MAX_DIGITS {
        return None;
    }
    let sign = if whole == "0" && rest.is_empty() { "" } else { sign };
    Some(if rest.is_empty() { format!("{sign}{whole}") } else { format!("{sign}{whole}.{rest}") })
}

/// Returns `key` as a step of a JSON pointer.
pub(crate) fn pointer_step(key: &str) -> String {
    format!("/{}", key.replace('~', "~0").replace('/', "~1"))
}

impl<'de> Deserialize<'de> for SpecNode {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<Self, D::Error> {
        reader.deserialize_any(TreeVisitor)
    }
}

/// A visitor that builds a tree.
struct TreeVisitor;

impl<'de> Visitor<'de> for TreeVisitor {
    type Value = SpecNode;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("JSON")
    }

    fn visit_bool<E>(self, value: bool) -> Result<SpecNode, E> {
        Ok(SpecNode::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<SpecNode, E> {
        Ok(SpecNode::Number(value.to_string()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<SpecNode, E> {
        Ok(SpecNode::Number(value.to_string()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<SpecNode, E> {
        Ok(SpecNode::Number(value.to_string()))
    }

    fn visit_str<E>(self, text: &str) -> Result<SpecNode, E> {
        Ok(SpecNode::Text(text.to_owned()))
    }

    fn visit_unit<E>(self) -> Result<SpecNode, E> {
        Ok(SpecNode::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<SpecNode, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = list.next_element()? {
            items.push(item);
        }
        Ok(SpecNode::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<SpecNode, A::Error> {
        let mut members: Vec<(String, SpecNode)> = Vec::new();
        while let Some((key, value)) = object.next_entry::<String, SpecNode>()? {
            // How `serde_json` gives numbers of any size to readers other than its own.
            match (key.as_str(), value) {
                ("$serde_json::private::Number", SpecNode::Text(number)) => {
                    return Ok(SpecNode::Number(number));
                }
                (_, value) => members.push((key, value)),
            }
        }
        Ok(SpecNode::Map(members))
    }
}
