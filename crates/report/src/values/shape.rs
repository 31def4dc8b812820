//! What values of collections and sum types have in common: how many items they have, and which case they are.
//!
//! A single list says little among a thousand others; that a tester sent none with more than two items says a lot.
//! Only the JSON is known here: arrays are lists and sets, objects whose keys change are maps, and one-key
//! objects that hold an object, with or without plain words beside them, are cases.
//!
//! *Promises.* Memory is bounded: lengths are counted in classes, and cases beyond [`MAX_CASES`] together.

use std::collections::BTreeMap;

use serde_json::Value as Json;

use crate::control_characters::excerpt;

/// Cases that are counted one by one.
const MAX_CASES: usize = 64;
/// Characters shown of the name of a case.
const MAX_NAME: usize = 40;
/// Characters shown of the first item of a long list.
const MAX_ITEM: usize = 20;

/// What the values of a field look like so far.
#[derive(Clone, Debug, Default)]
pub(super) struct ValueShape {
    n: u64,
    n_arrays: u64,
    /// Objects, and those that may be cases with fields.
    n_objects: u64,
    n_cases: u64,
    n_words: u64,
    lengths: BTreeMap<usize, u64>,
    longest: usize,
    shortest: Option<usize>,
    cases: BTreeMap<String, u64>,
    /// The keys of the first object, as long as all have the same.
    keys: Option<Vec<String>>,
    is_record: bool,
}

/// What values of a collection or a sum type have in common.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ShapeTold {
    /// How many items: the fewest, the most, and how often each class of lengths came (`0`, `1`, `2`, `3 to 4`, …).
    Lengths(usize, usize, Vec<(String, u64)>),
    /// Which cases, the most frequent first.
    Cases(Vec<(String, u64)>),
}

impl ValueShape {
    /// Takes a value in.
    pub(super) fn add(&mut self, value: &Json) {
        self.n += 1;
        match value {
            Json::Array(items) => {
                self.n_arrays += 1;
                self.length(items.len());
            }
            Json::Object(fields) => {
                self.n_objects += 1;
                self.length(fields.len());
                self.same_keys(fields.keys());
                if let (1, Some((name, Json::Object(_)))) = (fields.len(), fields.iter().next()) {
                    self.n_cases += 1;
                    self.case(name);
                }
            }
            Json::String(word) => {
                self.n_words += 1;
                self.case(word);
            }
            _ => {}
        }
    }

    fn length(&mut self, length: usize) {
        *self.lengths.entry(class(length)).or_default() += 1;
        self.longest = self.longest.max(length);
        self.shortest = Some(self.shortest.map_or(length, |least| least.min(length)));
    }

    fn case(&mut self, name: &str) {
        let is_room = self.cases.len() < MAX_CASES;
        let name = excerpt(name, MAX_NAME);
        let name = if is_room || self.cases.contains_key(&name) { name } else { "others".into() };
        *self.cases.entry(name).or_default() += 1;
    }

    fn same_keys<'k>(&mut self, keys: impl Iterator<Item = &'k String>) {
        let is_first = self.n_objects == 1;
        if is_first {
            self.keys = Some(keys.cloned().collect());
            self.is_record = true;
        } else if self.is_record && !self.keys.as_deref().is_some_and(|known| keys.eq(known)) {
            self.is_record = false;
            self.keys = None;
        }
    }

    /// What there is to tell; nothing about numbers, words and records.
    pub(super) fn description(&self) -> Option<ShapeTold> {
        let are_cases = self.n_cases > 0 && self.n_cases + self.n_words == self.n;
        let are_maps = self.n_objects == self.n && self.n_objects > 0 && !self.is_record;
        if are_cases {
            let mut cases: Vec<(String, u64)> =
                self.cases.iter().map(|(name, &n)| (name.clone(), n)).collect();
            cases.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
            return Some(ShapeTold::Cases(cases));
        }
        if (self.n_arrays == self.n && self.n > 0) || are_maps {
            let counts = self.lengths.iter().map(|(&class, &n)| (class_told(class), n)).collect();
            return Some(ShapeTold::Lengths(self.shortest.unwrap_or(0), self.longest, counts));
        }
        None
    }
}

/// The class of a length: up to 2 its own, then those up to the next power of two. Classes are named by their end.
fn class(length: usize) -> usize {
    length.checked_next_power_of_two().filter(|_| length > 0).unwrap_or(length)
}

fn class_told(class: usize) -> String {
    match class {
        0..=2 => class.to_string(),
        _ => format!("{} to {class}", class / 2 + 1),
    }
}

impl ShapeTold {
    /// Beside the values of a field, in words: `0 to 9 items`, or `circle ×4, point ×1`.
    #[must_use]
    pub fn text(&self) -> String {
        /// Cases named one by one.
        const SHOWN: usize = 6;
        match self {
            Self::Lengths(least, most, _) if least == most => counted(*most),
            Self::Lengths(least, most, _) => format!("{least} to {}", counted(*most)),
            Self::Cases(cases) => {
                let named: Vec<String> =
                    cases.iter().take(SHOWN).map(|(name, n)| format!("{name} ×{n}")).collect();
                let more = if cases.len() > SHOWN { ", …" } else { "" };
                format!("{}{more}", named.join(", "))
            }
        }
    }
}

fn counted(n: usize) -> String {
    if n == 1 { "1 item".into() } else { format!("{n} items") }
}

/// A value in at most so many characters; of a long list the first item and how many there are.
pub(super) fn folded(value: &Json, text: &str, most: usize) -> String {
    let is_long = text.chars().nth(most).is_some();
    match value {
        Json::Array(items) if is_long && items.len() > 1 => {
            format!("[{}, … {} items]", excerpt(&items[0].to_string(), MAX_ITEM), items.len())
        }
        _ => excerpt(text, most),
    }
}
