//! The weight of values and terms, which bounds how far values may grow.
//!
//! A value that is squared at every step has twice the digits each time, a text that is put
//! after itself twice the length: after fifty steps neither fits anywhere. The weight of a value
//! is its size (numbers in words of 64 bits, texts in pieces of a thousand bytes); the weight of
//! a term is about that of its heaviest value, with one for a variable. Evaluation gives up above
//! [`MAX_WEIGHT`], and searches do not go on from such states; both say so.

use super::{Term, TermNode, TermOp, TermPool};
use crate::index::Idx;
use crate::number::{Int, Rational};
use crate::value::Value;

/// The weight above which values are not computed: numbers of some 20,000 digits, texts of a megabyte.
pub const MAX_WEIGHT: u32 = 1024;

/// The bytes of text, or items of a collection, that weigh as much as a word. Chosen by feel.
const PIECE: usize = 1024;

/// The parts that a value of a data type may have, counted as a tree. Parts that are shared in memory are not shared
/// wherever a value is compared, hashed or shown.
const MAX_PARTS: usize = 1 << 16;

impl Value {
    /// Returns whether a value of a data type has at most [`MAX_PARTS`] parts; true for other values.
    #[must_use]
    pub(super) fn has_bearable_parts(&self) -> bool {
        let (mut open, mut parts) = (vec![self], 0);
        while let Some(value) = open.pop() {
            if let Self::Data(data) = value {
                parts += data.args.len();
                if parts > MAX_PARTS {
                    return false;
                }
                open.extend(data.args.iter());
            }
        }
        true
    }

    /// Returns the weight of the value: numbers in 64-bit words, texts and collections in units of 1024 bytes or items,
    /// data as their heaviest argument; at least 1.
    #[must_use]
    pub fn weight(&self) -> u32 {
        match self {
            Self::Bool(_) => 1,
            Self::Int(n) => of_int(n),
            Self::Real(r) => of_rational(r),
            Self::Str(text) => u32::try_from(text.len() / PIECE).map_or(u32::MAX, |n| n.saturating_add(1)),
            Self::Data(data) => data.args.iter().map(Self::weight).max().unwrap_or(1),
            // Its length alone: a look at every item at every step would cost more than the step.
            Self::Collection(items) => {
                u32::try_from(items.len() / PIECE).unwrap_or(u32::MAX).saturating_add(1)
            }
        }
    }
}

fn of_int(n: &Int) -> u32 {
    u32::try_from(n.bits() / 64).map_or(u32::MAX, |words| words.saturating_add(1))
}

fn of_rational(r: &Rational) -> u32 {
    of_int(r.numer()).max(of_int(r.denom()))
}

impl TermPool {
    /// Returns the weight that values of `term` may reach, if those of its variables have weight 1.
    #[must_use]
    pub fn weight(&self, term: Term) -> u32 {
        self.facts[term.index()].weight
    }

    /// Returns whether `term` is heavier than [`MAX_WEIGHT`], so that searches must not continue from it.
    #[must_use]
    pub fn is_too_heavy(&self, term: Term) -> bool {
        self.weight(term) > MAX_WEIGHT
    }

    pub(super) fn weight_of(&self, node: &TermNode) -> u32 {
        let children = node.children().map(|child| self.facts[child.index()].weight);
        match node {
            TermNode::Value(value) => value.weight(),
            TermNode::Mul(_)
            | TermNode::Concat(_)
            | TermNode::RealDiv(..)
            | TermNode::Apply(TermOp::Append, _) => {
                children.fold(0, |sum: u32, weight| sum.saturating_add(weight))
            }
            _ => children.max().unwrap_or(1),
        }
    }
}
