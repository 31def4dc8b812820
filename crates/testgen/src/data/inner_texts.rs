//! Texts inside records and cases that must match a pattern, or have a length: a random draw hardly ever is a date or
//! as long as is just allowed, and a solver takes long for several.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use ioxide_model::term::{RegexId, Term, TermNode, TermPool, VarId};
use ioxide_model::valuation::Valuation;
use ioxide_model::value::{DataValue, Value};

use super::text;

/// A text inside a field, and a pattern that the guard mentions of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TextInside {
    field: VarId,
    /// The path to the text, from the outside: constructors, each with a position among its fields.
    path: Vec<(u32, u32)>,
    pattern: RegexId,
}

impl TextInside {
    /// Reads `term` as a match of a text inside a field of `open`; `None` if it is something else.
    pub(super) fn said_by(pool: &TermPool, open: &[VarId], term: Term) -> Option<Self> {
        let TermNode::Matches(side, pattern) = *pool.node(term) else { return None };
        let (field, path) = place_of(pool, open, side)?;
        (!path.is_empty()).then_some(Self { field, path, pattern })
    }

    /// Replaces the text in `drawn` by one that matches, if it exists there and does not match.
    pub(super) fn repair_texts(&self, pool: &TermPool, rng: &mut ChaCha8Rng, drawn: &mut Valuation) {
        let Some(whole) = drawn.get(self.field) else { return };
        let pattern = pool.pattern_info(self.pattern);
        let matches = |value: &Value| value.as_str().is_some_and(|text| pattern.matches(text));
        let new = |old: &Value| {
            // A text that matches stays as it was drawn.
            if matches(old) { None } else { text::matching(rng, &pattern.text).map(|text| Value::str(&text)) }
        };
        if let Some(mended) = replace_part(whole, &self.path, new) {
            drawn.set(self.field, mended);
        }
    }
}

/// The numbers of characters that the guard allows for a text of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TextLength {
    field: VarId,
    path: Vec<(u32, u32)>,
    least: usize,
    most: Option<usize>,
}

/// The length up to which texts are made longer for its own sake. Chosen by feel: longer ones are slow to send.
const MAX_LENGTH: usize = 2_000;
/// One text in this many gets a length at the ends of what is allowed. Chosen by feel.
const END_ONE_IN: u32 = 4;

impl TextLength {
    /// Returns the lengths that the comparisons in `guard` name. A comparison under another condition counts too: the
    /// guard is evaluated in the end.
    pub(super) fn collect(pool: &TermPool, open: &[VarId], guard: Term) -> Vec<Self> {
        let mut found: Vec<Self> = Vec::new();
        for term in pool.subterms(&[guard], |term| !pool.is_ground(term)) {
            let (a, b, strict) = match *pool.node(term) {
                TermNode::Le(a, b) => (a, b, 0),
                TermNode::Lt(a, b) => (a, b, 1),
                _ => continue,
            };
            let length = |term: Term| match *pool.node(term) {
                TermNode::Length(text) => place_of(pool, open, text),
                _ => None,
            };
            let count = |term: Term| usize::try_from(pool.as_value(term)?.as_int()?.to_i64()?).ok();
            let (place, least, most) = match (length(a), count(b), count(a), length(b)) {
                (Some(place), Some(most), ..) => (place, 0, Some(most.saturating_sub(strict))),
                (.., Some(least), Some(place)) => (place, least + strict, None),
                _ => continue,
            };
            let at = found.iter().position(|other| (other.field, &other.path) == (place.0, &place.1));
            let at = at.unwrap_or_else(|| {
                found.push(Self { field: place.0, path: place.1, least: 0, most: None });
                found.len() - 1
            });
            // Several comparisons of one text count together.
            found[at].least = found[at].least.max(least);
            found[at].most = found[at].most.into_iter().chain(most).min();
        }
        found
    }

    /// Returns whether it is about the same text as a pattern.
    pub(super) fn is_of(&self, text: &TextInside) -> bool {
        (self.field, &self.path) == (text.field, &text.path)
    }

    /// Returns whether it is about this field as a whole.
    pub(super) fn is_field(&self, field: VarId) -> bool {
        self.field == field && self.path.is_empty()
    }

    /// Cuts or lengthens the text in `drawn` to an allowed length; now and then to the least, to the most, or to any
    /// between.
    pub(super) fn repair_texts(&self, rng: &mut ChaCha8Rng, drawn: &mut Valuation) {
        let Some(whole) = drawn.get(self.field) else { return };
        let most = self.most.unwrap_or(usize::MAX);
        // They may come from different branches of the guard, and then contradict each other.
        if most < self.least {
            return;
        }
        let far = most.min(MAX_LENGTH).max(self.least);
        let wanted = rng.random_ratio(1, END_ONE_IN).then(|| match rng.random_range(0..6u32) {
            0 => self.least,
            1 => far,
            2 => far.saturating_sub(1).max(self.least),
            _ => rng.random_range(self.least..=far),
        });
        let new = |old: &Value| {
            let text = old.as_str()?;
            let length = text.chars().count();
            let wanted = wanted.unwrap_or_else(|| length.clamp(self.least, most));
            (wanted != length).then(|| Value::str(&text::with_length(rng, text, wanted)))
        };
        if let Some(mended) = replace_part(whole, &self.path, new) {
            drawn.set(self.field, mended);
        }
    }
}

/// Returns the field of `open` that `text` is a part of, with the path to it from the outside.
fn place_of(pool: &TermPool, open: &[VarId], text: Term) -> Option<(VarId, Vec<(u32, u32)>)> {
    let (mut side, mut path) = (text, Vec::new());
    loop {
        match *pool.node(side) {
            TermNode::Select { ctor, field, arg } => {
                path.push((ctor, field));
                side = arg;
            }
            TermNode::Var(field) if open.contains(&field) => {
                path.reverse();
                return Some((field, path));
            }
            _ => return None,
        }
    }
}

/// Returns `value` with another part at `path`; `None` if it has no such part, or `new` returns none.
fn replace_part(
    value: &Value,
    path: &[(u32, u32)],
    new: impl FnOnce(&Value) -> Option<Value>,
) -> Option<Value> {
    let Some((&(ctor, field), rest)) = path.split_first() else { return new(value) };
    let Value::Data(data) = value else { return None };
    // Made by another constructor, so this value has no such part.
    if data.ctor != ctor {
        return None;
    }
    let part = replace_part(data.args.get(field as usize)?, rest, new)?;
    let mut args = data.args.to_vec();
    args[field as usize] = part;
    Some(Value::Data(DataValue { data: data.data, ctor, args: args.into() }))
}
