//! The pattern of one item at the front of a text.
//!
//! Named groups are parts of the item. A group `len.PART` tells how many bytes `PART` has: they
//! follow what the pattern matched, and may hold anything.

use regex::{Captures, Regex};

use super::BadItems;

/// The prefix in the name of a group that tells the length of a part.
const LENGTH: &str = "len.";

/// A pattern for one item.
#[derive(Clone, Debug)]
pub(super) struct ItemPattern {
    regex: Regex,
    /// The part whose length the pattern gives; `None` if it gives none.
    told: Option<String>,
}

/// An item that was found.
pub(super) struct FoundItem<'t> {
    groups: Captures<'t>,
    /// The part whose length was given, and its text.
    told: Option<(String, &'t str)>,
}

impl ItemPattern {
    /// # Errors
    /// If it is no pattern, or tells several lengths.
    pub(super) fn new(text: &str) -> Result<Self, BadItems> {
        let regex = Regex::new(&format!("\\A(?:{text})"))?;
        let lengths = regex.capture_names().flatten().filter_map(|name| name.strip_prefix(LENGTH));
        let lengths: Vec<String> = lengths.map(str::to_owned).collect();
        match <[String; 1]>::try_from(lengths) {
            Ok([told]) => Ok(Self { regex, told: Some(told) }),
            Err(none) if none.is_empty() => Ok(Self { regex, told: None }),
            Err(_) => Err(BadItems::SeveralLengths),
        }
    }

    /// Returns the item that `text` begins with; `None` for an empty item, which would be found again and again.
    pub(super) fn find_item<'t>(&self, text: &'t str) -> Option<FoundItem<'t>> {
        let groups = self.regex.captures(text)?;
        let from = groups.get(0)?.end();
        let told = match &self.told {
            Some(part) => {
                let len: usize = groups.name(&format!("{LENGTH}{part}"))?.as_str().parse().ok()?;
                Some((part.clone(), text.get(from..from.checked_add(len)?)?))
            }
            None => None,
        };
        let found = FoundItem { groups, told };
        (found.len() > 0).then_some(found)
    }
}

impl<'t> FoundItem<'t> {
    /// Returns its length in bytes.
    pub(super) fn len(&self) -> usize {
        self.groups.get(0).map_or(0, |all| all.end()) + self.told.as_ref().map_or(0, |(_, text)| text.len())
    }

    /// The part of this name.
    pub(super) fn part_named(&self, name: &str) -> Option<&'t str> {
        match &self.told {
            Some((told, text)) if told == name => Some(text),
            _ => self.groups.name(name).map(|group| group.as_str()),
        }
    }

    /// All that the pattern matched.
    pub(super) fn full_match(&self) -> Option<&'t str> {
        self.groups.get(0).map(|all| all.as_str())
    }
}
