//! Lists, sets and maps as values: sequences under an ordering invariant.
//!
//! A set is sorted and has every item once; a map is sorted by key and has every key once. The
//! order is that of [`Value`], so equal collections are equal sequences.

use crate::sequence::Sequence;
use crate::sort::CollectionId;
use crate::value::Value;

/// A list, set or map with its sort.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CollectionValue {
    /// The sort.
    pub sort: CollectionId,
    /// The items.
    pub items: Items,
}

/// The items of a collection.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Items {
    /// A list: items in order.
    List(Sequence<Value>),
    /// A set: items sorted, each once.
    Set(Sequence<Value>),
    /// A map: keys with their values, sorted by key, each key once.
    Map(Sequence<(Value, Value)>),
}

impl CollectionValue {
    /// The list of `items`.
    pub fn list(sort: CollectionId, items: impl IntoIterator<Item = Value>) -> Self {
        Self { sort, items: Items::List(items.into_iter().collect()) }
    }

    /// Returns the set of `items`, duplicates removed.
    pub fn set(sort: CollectionId, items: impl IntoIterator<Item = Value>) -> Self {
        let mut items: Vec<Value> = items.into_iter().collect();
        items.sort_unstable();
        items.dedup();
        Self { sort, items: Items::Set(items.into_iter().collect()) }
    }

    /// Returns the map of `entries`; if a key occurs more than once, its last value is kept.
    pub fn map(sort: CollectionId, entries: impl IntoIterator<Item = (Value, Value)>) -> Self {
        let mut entries: Vec<(Value, Value)> = entries.into_iter().collect();
        // The sort is stable and `dedup_by` keeps the first of equal keys. Reversed in between, that is the
        // last value of each key.
        entries.sort_by(|a, b| a.0.cmp(&b.0));
        entries.reverse();
        entries.dedup_by(|later, kept| later.0 == kept.0);
        entries.reverse();
        Self { sort, items: Items::Map(entries.into_iter().collect()) }
    }

    /// Returns the number of items; for a map, the number of keys.
    #[must_use]
    pub fn len(&self) -> usize {
        match &self.items {
            Items::List(items) | Items::Set(items) => items.len(),
            Items::Map(entries) => entries.len(),
        }
    }

    /// Returns whether there is no item.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the members a quantifier over the collection ranges over: the items in order, or the keys of a map.
    pub fn members(&self) -> Box<dyn Iterator<Item = &Value> + '_> {
        match &self.items {
            Items::List(items) | Items::Set(items) => Box::new(items.iter()),
            Items::Map(entries) => Box::new(entries.iter().map(|(key, _)| key)),
        }
    }

    /// Returns every value held directly: the items, or the keys and the values of a map.
    pub fn parts(&self) -> Box<dyn Iterator<Item = &Value> + '_> {
        match &self.items {
            Items::List(items) | Items::Set(items) => Box::new(items.iter()),
            Items::Map(entries) => Box::new(entries.iter().flat_map(|(key, value)| [key, value])),
        }
    }

    /// Returns whether `member` is an item, or a key of a map.
    #[must_use]
    pub fn has(&self, member: &Value) -> bool {
        match &self.items {
            Items::List(items) => items.iter().any(|item| item == member),
            Items::Set(items) => items.search(|item| item.cmp(member)).is_ok(),
            Items::Map(entries) => entries.search(|(key, _)| key.cmp(member)).is_ok(),
        }
    }

    /// Returns the item of a list at position `key`, or the value of `key` in a map; `None` for a set or if there is
    /// none.
    #[must_use]
    pub fn at(&self, key: &Value) -> Option<&Value> {
        match &self.items {
            Items::List(items) => items.get(list_index(key)?),
            Items::Set(_) => None,
            Items::Map(entries) => {
                let at = entries.search(|(known, _)| known.cmp(key)).ok()?;
                entries.get(at).map(|(_, value)| value)
            }
        }
    }

    /// Returns the list with `value` at the existing position `key`, or the map with `value` for `key`. A list without
    /// that position, and a set, stay as they are.
    #[must_use]
    pub fn with(&self, key: &Value, value: Value) -> Self {
        let items = match &self.items {
            Items::List(items) => {
                let at = list_index(key).unwrap_or(usize::MAX);
                Items::List(items.with_replaced(at, value))
            }
            Items::Set(items) => Items::Set(items.clone()),
            Items::Map(entries) => Items::Map(match entries.search(|(known, _)| known.cmp(key)) {
                Ok(at) => entries.with_replaced(at, (key.clone(), value)),
                Err(at) => entries.with_inserted(at, (key.clone(), value)),
            }),
        };
        Self { sort: self.sort, items }
    }

    /// Returns the collection without `member`: every equal item of a list, the item of a set, the key of a map.
    #[must_use]
    pub fn without(&self, member: &Value) -> Self {
        let items = match &self.items {
            Items::List(items) => Items::List(items.iter().filter(|item| *item != member).cloned().collect()),
            Items::Set(items) => match items.search(|item| item.cmp(member)) {
                Ok(at) => Items::Set(items.with_removed(at)),
                Err(_) => Items::Set(items.clone()),
            },
            Items::Map(entries) => match entries.search(|(key, _)| key.cmp(member)) {
                Ok(at) => Items::Map(entries.with_removed(at)),
                Err(_) => Items::Map(entries.clone()),
            },
        };
        Self { sort: self.sort, items }
    }

    /// Returns the list with `item` appended, or the set with `item` in it; a map stays as it is.
    #[must_use]
    pub fn and(&self, item: Value) -> Self {
        let items = match &self.items {
            Items::List(items) => Items::List(items.with_inserted(items.len(), item)),
            Items::Set(items) => Items::Set(match items.search(|it| it.cmp(&item)) {
                Ok(_) => items.clone(),
                Err(at) => items.with_inserted(at, item),
            }),
            Items::Map(entries) => Items::Map(entries.clone()),
        };
        Self { sort: self.sort, items }
    }

    /// Returns the union of two sets; `self` if either is not a set.
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        // The smaller set is put into the larger one, so the number of insertions is that of the smaller.
        let (large, small) = if self.len() >= other.len() { (self, other) } else { (other, self) };
        let (Items::Set(large), Items::Set(small)) = (&large.items, &small.items) else {
            return self.clone();
        };
        let items = small.iter().fold(large.clone(), |items, item| match items.search(|it| it.cmp(item)) {
            Ok(_) => items,
            Err(at) => items.with_inserted(at, item.clone()),
        });
        Self { sort: self.sort, items: Items::Set(items) }
    }

    /// Returns the items of a list; `None` for sets and maps.
    #[must_use]
    pub fn as_list(&self) -> Option<&Sequence<Value>> {
        if let Items::List(items) = &self.items { Some(items) } else { None }
    }
}

/// Returns `key` as a position; `None` if it is negative, too large, or no integer.
fn list_index(key: &Value) -> Option<usize> {
    key.as_int()?.to_i64().and_then(|n| usize::try_from(n).ok())
}
