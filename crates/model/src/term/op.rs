//! Operations on collections and texts: names, result sorts, and evaluation. All are total; an absent position or key
//! yields the default value of its sort, and the language adds the obligation that it is present.

use super::{EvalError, TermPool};
use crate::collection::{CollectionValue, Items};
use crate::number::Int;
use crate::sequence::Sequence;
use crate::sort::{CollectionId, CollectionKind, CollectionSort, Sort};
use crate::value::Value;

/// An operation that stays in the term until the shape of its first argument is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TermOp {
    /// Number of items.
    Size,
    /// Membership of an item, or of a key.
    Has,
    /// The item at a position, or the value of a key.
    At,
    /// A list with another item at a position, a map with a value for a key.
    Put,
    /// A list or set without every item equal to the argument, or a map without the key.
    Without,
    /// One list after the other.
    Append,
    /// The items of a list from a position up to before another.
    Slice,
    /// The items of a list from the last to the first.
    Reverse,
    /// The numbers or texts of a list from the least to the greatest.
    Sorted,
    /// The first position of an item in a list, or -1.
    IndexOf,
    /// The sum of a list of numbers.
    Sum,
    /// The least of a list of numbers.
    Min,
    /// The greatest of a list of numbers.
    Max,
    /// The items of either set.
    Union,
    /// The items of both sets.
    Common,
    /// The items of the first set that the second has not.
    Minus,
    /// Inclusion of the first set in the second.
    Within,
    /// The keys of a map or the items of a set as a list, sorted.
    Keys,
    /// The values of a map as a list, in the order of their keys.
    Values,
    /// The items of a list as a set.
    ToSet,
    /// Existence of a member that satisfies a condition; the second argument binds the member.
    Any,
    /// A value for each member for which a condition holds, as a collection of this sort; the second
    /// argument is the condition, the third the value.
    Collect(CollectionId),
    /// A part of a text: from a position, a number of characters.
    Substring,
    /// The first position of a text in a text, or -1.
    Find,
    /// The whole number a text is, or 0.
    ToInt,
    /// A whole number as a text.
    FromInt,
    /// A text in upper case.
    Upper,
    /// A text in lower case.
    Lower,
    /// A text padded on the left with another text, repeatedly, up to a number of characters.
    PadLeft,
    /// The parts of a text between separators.
    Split,
    /// Texts with a separator between them.
    JoinTexts,
}

impl TermOp {
    /// Returns the name of the operation in the modelling language.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Size => "length",
            Self::Has => "has",
            Self::At => "at",
            Self::Put => "with",
            Self::Without => "without",
            Self::Append => "+",
            Self::Slice => "slice",
            Self::Reverse => "reverse",
            Self::Sorted => "sorted",
            Self::IndexOf => "index_of",
            Self::Sum => "sum",
            Self::Min => "min",
            Self::Max => "max",
            Self::Union => "union",
            Self::Common => "intersection",
            Self::Minus => "difference",
            Self::Within => "subset_of",
            Self::Keys => "keys",
            Self::Values => "values",
            Self::ToSet => "to_set",
            Self::Any => "exists",
            Self::Collect(_) => "for",
            Self::Substring => "substring",
            Self::Find => "index_of",
            Self::ToInt => "to_int",
            Self::FromInt => "to_string",
            Self::Upper => "upper",
            Self::Lower => "lower",
            Self::PadLeft => "pad_left",
            Self::Split => "split",
            Self::JoinTexts => "join",
        }
    }
}

/// The greatest length of a collection that is computed. Chosen by feel: it bounds the memory.
pub const MAX_ITEMS: usize = 1_000_000;

impl TermPool {
    /// The sort of `op` applied to arguments of `sorts`; collection sorts it needs exist already.
    pub(super) fn op_sort(&self, op: TermOp, sorts: &[Sort]) -> Sort {
        let of = |at: usize| self.collection_of(sorts[at]).expect("an argument is a collection");
        match op {
            TermOp::Size | TermOp::IndexOf | TermOp::Find | TermOp::ToInt => Sort::Int,
            TermOp::Has | TermOp::Within | TermOp::Any => Sort::Bool,
            TermOp::At | TermOp::Sum | TermOp::Min | TermOp::Max => of(0).item.base(),
            TermOp::Put
            | TermOp::Without
            | TermOp::Append
            | TermOp::Slice
            | TermOp::Reverse
            | TermOp::Sorted => sorts[0],
            TermOp::Union | TermOp::Common | TermOp::Minus => sorts[0],
            TermOp::Keys => self.known_list(of(0).member()),
            TermOp::Values => self.known_list(of(0).item),
            TermOp::ToSet => self.known_set(of(0).item),
            TermOp::Collect(into) => Sort::Collection(into),
            TermOp::Substring
            | TermOp::FromInt
            | TermOp::Upper
            | TermOp::Lower
            | TermOp::PadLeft
            | TermOp::JoinTexts => Sort::Str,
            TermOp::Split => self.known_list(Sort::Str),
        }
    }

    /// Declares the collection sort that `op` gives, if it is another than those of its arguments.
    pub(super) fn prepare_op(&mut self, op: TermOp, sorts: &[Sort]) {
        let of = |pool: &Self| pool.collection_of(sorts[0]);
        match (op, of(self)) {
            (TermOp::Keys, Some(of)) => drop(self.list_of(of.member())),
            (TermOp::Values, Some(of)) => drop(self.list_of(of.item)),
            (TermOp::ToSet, Some(of)) => drop(self.set_of(of.item)),
            (TermOp::Split, _) => drop(self.list_of(Sort::Str)),
            _ => {}
        }
    }

    fn known_list(&self, item: Sort) -> Sort {
        let sort = CollectionSort { kind: CollectionKind::List, key: Sort::Int, item };
        self.known_collection(sort).expect("the sort was declared before the term")
    }

    fn known_set(&self, item: Sort) -> Sort {
        let sort = CollectionSort { kind: CollectionKind::Set, key: item, item };
        self.known_collection(sort).expect("the sort was declared before the term")
    }

    /// Returns the value of `op` on `args`, for all operations but those that bind a name.
    pub(super) fn apply_op(&self, op: TermOp, args: &[&Value], sort: Sort) -> Result<Value, EvalError> {
        let first = || args[0].as_collection().expect("a collection");
        let text = |at: usize| args[at].as_str().expect("a text");
        let int = |at: usize| args[at].as_int().expect("a number");
        let made = |items: Items| match sort {
            Sort::Collection(sort) => check_length(CollectionValue { sort, items }),
            _ => unreachable!("the operation gives a collection"),
        };
        Ok(match op {
            TermOp::Size => int_value(first().len()),
            TermOp::Has => Value::Bool(first().has(args[1])),
            TermOp::At => first()
                .at(args[1])
                .cloned()
                .unwrap_or_else(|| self.default_value(sort_of_items(self, first()))),
            TermOp::Put => made(first().with(args[1], args[2].clone()).items)?,
            TermOp::Without => made(first().without(args[1]).items)?,
            TermOp::Append => made(Items::List(
                args.iter().fold(Sequence::new(), |all, arg| all.followed_by(list_items(arg))),
            ))?,
            TermOp::Slice => made(Items::List(clamped_slice(list_items(args[0]), int(1), int(2))))?,
            TermOp::Reverse => {
                let mut items: Vec<Value> = list_items(args[0]).iter().cloned().collect();
                items.reverse();
                made(Items::List(items.into_iter().collect()))?
            }
            TermOp::Sorted => {
                let mut items: Vec<Value> = list_items(args[0]).iter().cloned().collect();
                items.sort();
                made(Items::List(items.into_iter().collect()))?
            }
            TermOp::IndexOf => {
                list_items(args[0]).iter().position(|item| item == args[1]).map_or(Value::int(-1), int_value)
            }
            TermOp::Sum => {
                let zero = self.default_value(sort.base());
                list_items(args[0]).iter().try_fold(zero, |sum, item| super::eval::sum_of(&sum, item))?
            }
            TermOp::Min => {
                list_items(args[0]).iter().min().cloned().unwrap_or_else(|| self.default_value(sort))
            }
            TermOp::Max => {
                list_items(args[0]).iter().max().cloned().unwrap_or_else(|| self.default_value(sort))
            }
            TermOp::Union => made(first().union(second_collection(args)).items)?,
            TermOp::Common => made(retain_members(first(), |item| second_collection(args).has(item)))?,
            TermOp::Minus => made(retain_members(first(), |item| !second_collection(args).has(item)))?,
            TermOp::Within => Value::Bool(first().members().all(|item| second_collection(args).has(item))),
            TermOp::Keys => made(Items::List(first().members().cloned().collect()))?,
            TermOp::Values => match &first().items {
                Items::Map(entries) => {
                    made(Items::List(entries.iter().map(|(_, value)| value.clone()).collect()))?
                }
                Items::List(items) | Items::Set(items) => made(Items::List(items.clone()))?,
            },
            TermOp::ToSet => match sort {
                Sort::Collection(id) => {
                    Value::Collection(CollectionValue::set(id, list_items(args[0]).iter().cloned()))
                }
                _ => unreachable!("a set has a collection sort"),
            },
            TermOp::Substring => Value::Str(substring(text(0), int(1), int(2)).into()),
            TermOp::Find => find_text(text(0), text(1)),
            TermOp::ToInt => Value::Int(text(0).parse().unwrap_or_else(|_| Int::from(0))),
            TermOp::FromInt => Value::str(&int(0).to_string()),
            TermOp::Upper => Value::str(&text(0).to_uppercase()),
            TermOp::Lower => Value::str(&text(0).to_lowercase()),
            TermOp::PadLeft => Value::str(&pad_text(text(0), int(1), text(2))?),
            TermOp::Split => {
                let parts = split_text(text(0), text(1)).into_iter().map(|part| Value::str(&part));
                made(Items::List(parts.collect()))?
            }
            TermOp::JoinTexts => {
                let parts: Vec<&str> =
                    list_items(args[0]).iter().map(|item| item.as_str().expect("a text")).collect();
                super::eval::bearable(Value::str(&parts.join(text(1))))?
            }
            TermOp::Any | TermOp::Collect(_) => {
                unreachable!("operations that bind a name are evaluated item by item")
            }
        })
    }
}

fn sort_of_items(pool: &TermPool, collection: &CollectionValue) -> Sort {
    pool.collection(collection.sort).item
}

/// `collection`, unless it is too long.
pub(super) fn check_length(collection: CollectionValue) -> Result<Value, EvalError> {
    if collection.len() > MAX_ITEMS { Err(EvalError::TooLarge) } else { Ok(Value::Collection(collection)) }
}

fn int_value(n: usize) -> Value {
    Value::int(i64::try_from(n).expect("fits in memory"))
}

/// Returns the items of a list.
fn list_items(value: &Value) -> &Sequence<Value> {
    value.as_collection().and_then(CollectionValue::as_list).expect("a list")
}

/// Returns the second argument, a collection.
fn second_collection<'v>(args: &[&'v Value]) -> &'v CollectionValue {
    args[1].as_collection().expect("a collection")
}

fn retain_members(set: &CollectionValue, keep: impl Fn(&Value) -> bool) -> Items {
    Items::Set(set.members().filter(|item| keep(item)).cloned().collect())
}

/// A number as a position, cut to `0..=len`.
fn clamp_position(n: &Int, len: usize) -> usize {
    match n.to_i64() {
        Some(n) => usize::try_from(n.max(0)).map_or(len, |n| n.min(len)),
        None if n.is_negative() => 0,
        None => len,
    }
}

/// Returns the items from `from` up to `to`; positions outside are clamped.
fn clamped_slice(items: &Sequence<Value>, from: &Int, to: &Int) -> Sequence<Value> {
    let (from, to) = (clamp_position(from, items.len()), clamp_position(to, items.len()));
    items.take_first(to.max(from)).skip_first(from)
}

/// Returns `count` characters from position `from`; both are clamped.
fn substring(text: &str, from: &Int, count: &Int) -> String {
    let len = text.chars().count();
    text.chars().skip(clamp_position(from, len)).take(clamp_position(count, len)).collect()
}

fn find_text(text: &str, part: &str) -> Value {
    match text.find(part) {
        Some(at) => int_value(text[..at].chars().count()),
        None => Value::int(-1),
    }
}

fn pad_text(text: &str, width: &Int, fill: &str) -> Result<String, EvalError> {
    let missing = clamp_position(width, 1 << 20).saturating_sub(text.chars().count());
    if missing >= 1 << 20 {
        return Err(EvalError::TooLarge);
    }
    let fill: String =
        if fill.is_empty() { String::new() } else { fill.chars().cycle().take(missing).collect() };
    Ok(fill + text)
}

/// The parts between separators; between the characters if the separator is empty.
fn split_text(text: &str, separator: &str) -> Vec<String> {
    if separator.is_empty() {
        return text.chars().map(String::from).collect();
    }
    text.split(separator).map(str::to_owned).collect()
}
