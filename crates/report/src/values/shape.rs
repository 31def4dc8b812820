//! The shape of values of collections and sum types: the number of items, and the constructors.
//!
//! A single list is one of a thousand; that no list had more than two items is worth a line. Only the JSON is known
//! here: arrays are lists and sets, objects whose keys change are maps, and one-key objects that hold an object, with
//! or without plain words beside them, are constructors with fields.
//!
//! *Promises.* Memory is bounded: lengths are counted in classes, and constructors beyond [`MAX_CASES`] together.

use std::collections::BTreeMap;

use serde_json::Value as Json;

use crate::control_characters::excerpt;

/// The number of constructors counted one by one. Chosen by feel: further ones are counted together.
const MAX_CASES: usize = 64;
/// The number of characters shown of the name of a constructor. Chosen by feel: more is not read.
const MAX_NAME: usize = 40;
/// The number of characters shown of the first item of a long list. Chosen by feel: more is not read.
const MAX_ITEM: usize = 20;

/// The shape of the values of a field so far.
#[derive(Clone, Debug, Default)]
pub(super) struct ValueShape {
    n: u64,
    n_arrays: u64,
    /// The number of objects.
    n_objects: u64,
    n_cases: u64,
    n_words: u64,
    lengths: BTreeMap<usize, u64>,
    longest: usize,
    shortest: Option<usize>,
    cases: BTreeMap<String, u64>,
    /// The keys of the first object, as long as all objects have the same.
    keys: Option<Vec<String>>,
    is_record: bool,
}

/// The shape of the values of a collection or a sum type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ShapeRecord {
    /// The least and the greatest number of items, and the frequency of each class of lengths (`0`, `1`, `2`, `3 to 4`,
    /// …).
    Lengths(usize, usize, Vec<(String, u64)>),
    /// The frequency of each constructor, the most frequent first.
    Cases(Vec<(String, u64)>),
}

impl ValueShape {
    /// Adds a value.
    pub(super) fn add_value(&mut self, value: &Json) {
        self.n += 1;
        match value {
            Json::Array(items) => {
                self.n_arrays += 1;
                self.add_length(items.len());
            }
            Json::Object(fields) => {
                self.n_objects += 1;
                self.add_length(fields.len());
                self.compare_keys(fields.keys());
                if let (1, Some((name, Json::Object(_)))) = (fields.len(), fields.iter().next()) {
                    self.n_cases += 1;
                    self.add_case(name);
                }
            }
            Json::String(word) => {
                self.n_words += 1;
                self.add_case(word);
            }
            _ => {}
        }
    }

    fn add_length(&mut self, length: usize) {
        *self.lengths.entry(length_class(length)).or_default() += 1;
        self.longest = self.longest.max(length);
        self.shortest = Some(self.shortest.map_or(length, |least| least.min(length)));
    }

    fn add_case(&mut self, name: &str) {
        let is_room = self.cases.len() < MAX_CASES;
        let name = excerpt(name, MAX_NAME);
        let name = if is_room || self.cases.contains_key(&name) { name } else { "others".into() };
        *self.cases.entry(name).or_default() += 1;
    }

    fn compare_keys<'k>(&mut self, keys: impl Iterator<Item = &'k String>) {
        let is_first = self.n_objects == 1;
        if is_first {
            self.keys = Some(keys.cloned().collect());
            self.is_record = true;
        } else if self.is_record && !self.keys.as_deref().is_some_and(|known| keys.eq(known)) {
            self.is_record = false;
            self.keys = None;
        }
    }

    /// Returns the shape; `None` for numbers, words and records.
    pub(super) fn description(&self) -> Option<ShapeRecord> {
        let are_cases = self.n_cases > 0 && self.n_cases + self.n_words == self.n;
        let are_maps = self.n_objects == self.n && self.n_objects > 0 && !self.is_record;
        if are_cases {
            let mut cases: Vec<(String, u64)> =
                self.cases.iter().map(|(name, &n)| (name.clone(), n)).collect();
            cases.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
            return Some(ShapeRecord::Cases(cases));
        }
        if (self.n_arrays == self.n && self.n > 0) || are_maps {
            let counts = self.lengths.iter().map(|(&class, &n)| (class_text(class), n)).collect();
            return Some(ShapeRecord::Lengths(self.shortest.unwrap_or(0), self.longest, counts));
        }
        None
    }
}

/// Returns the class of a length, named by its end: lengths up to 2 are classes of their own, longer ones share a class
/// up to the next power of two.
fn length_class(length: usize) -> usize {
    length.checked_next_power_of_two().filter(|_| length > 0).unwrap_or(length)
}

fn class_text(class: usize) -> String {
    match class {
        0..=2 => class.to_string(),
        _ => format!("{} to {class}", class / 2 + 1),
    }
}

impl ShapeRecord {
    /// Returns the shape in words, to stand beside the values: `0 to 9 items`, or `circle ×4, point ×1`.
    #[must_use]
    pub fn text(&self) -> String {
        /// Cases named one by one. Chosen by feel: more is not read.
        const SHOWN: usize = 6;
        match self {
            Self::Lengths(least, most, _) if least == most => count_items_text(*most),
            Self::Lengths(least, most, _) => format!("{least} to {}", count_items_text(*most)),
            Self::Cases(cases) => {
                let named: Vec<String> =
                    cases.iter().take(SHOWN).map(|(name, n)| format!("{name} ×{n}")).collect();
                let more = if cases.len() > SHOWN { ", …" } else { "" };
                format!("{}{more}", named.join(", "))
            }
        }
    }
}

fn count_items_text(n: usize) -> String {
    if n == 1 { "1 item".into() } else { format!("{n} items") }
}

/// Returns a value in at most `most` characters; of a long list the first item and the number of items.
pub(super) fn shorten_value(value: &Json, text: &str, most: usize) -> String {
    let is_long = text.chars().nth(most).is_some();
    match value {
        Json::Array(items) if is_long && items.len() > 1 => {
            format!("[{}, … {} items]", excerpt(&items[0].to_string(), MAX_ITEM), items.len())
        }
        _ => excerpt(text, most),
    }
}
