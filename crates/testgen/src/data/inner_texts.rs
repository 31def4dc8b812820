//! Texts inside records and cases that must match a pattern: a random draw hardly ever is a date, and a solver takes
//! long for several.

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
        let TermNode::Matches(mut side, pattern) = *pool.node(term) else { return None };
        let mut path = Vec::new();
        loop {
            match *pool.node(side) {
                TermNode::Select { ctor, field, arg } => {
                    path.push((ctor, field));
                    side = arg;
                }
                TermNode::Var(field) if open.contains(&field) && !path.is_empty() => {
                    path.reverse();
                    return Some(Self { field, path, pattern });
                }
                _ => return None,
            }
        }
    }

    /// Replaces the text in `drawn` by one that matches, if it exists there and does not match.
    pub(super) fn mend(&self, pool: &TermPool, rng: &mut ChaCha8Rng, drawn: &mut Valuation) {
        let Some(whole) = drawn.get(self.field) else { return };
        let pattern = pool.pattern_info(self.pattern);
        let matches = |value: &Value| value.as_str().is_some_and(|text| pattern.matches(text));
        let new = |old: &Value| {
            if matches(old) { None } else { text::matching(rng, &pattern.text).map(|text| Value::str(&text)) }
        };
        if let Some(mended) = replace_part(whole, &self.path, new) {
            drawn.set(self.field, mended);
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
    if data.ctor != ctor {
        return None;
    }
    let part = replace_part(data.args.get(field as usize)?, rest, new)?;
    let mut args = data.args.to_vec();
    args[field as usize] = part;
    Some(Value::Data(DataValue { data: data.data, ctor, args: args.into() }))
}
