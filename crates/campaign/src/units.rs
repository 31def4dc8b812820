//! Sets of unit numbers: a few ranges, however many units there are.
//!
//! Units are numbered from 0 here and from 1 wherever people see them. A partition `k/n` takes every n-th unit: units
//! that are close in a plan tend to cost alike, so its parts do too, and the first units are done first everywhere.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use thiserror::Error;

/// The most units of a plan. Nothing depends on it but that a number in a file cannot keep a program busy for days.
pub const MAX_UNITS: u64 = 10_000_000;

/// The most ranges in a batch: it is written on a command line, which must not become too long.
const MAX_RANGES: usize = 1_000;

/// A set of units, as ranges that neither meet nor overlap.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UnitSet {
    /// The first unit of a range, and the one after its last.
    ranges: BTreeMap<u64, u64>,
    len: u64,
}

impl UnitSet {
    /// The empty set.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The units from `start` up to `end`, without it.
    #[must_use]
    pub fn range(start: u64, end: u64) -> Self {
        let mut set = Self::new();
        if start < end {
            set.ranges.insert(start, end);
            set.len = end - start;
        }
        set
    }

    /// Returns the number of units.
    #[must_use]
    pub const fn len(&self) -> u64 {
        self.len
    }

    /// Returns whether the set has no unit.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns whether `unit` is in the set.
    #[must_use]
    pub fn contains(&self, unit: u64) -> bool {
        self.ranges.range(..=unit).next_back().is_some_and(|(_, &end)| unit < end)
    }

    /// Adds a unit; returns whether it is new.
    pub fn insert(&mut self, unit: u64) -> bool {
        if self.contains(unit) {
            return false;
        }
        self.len += 1;
        // At most two neighbours meet the unit: the range that ends at it and the one that begins behind it.
        let before =
            self.ranges.range(..unit).next_back().filter(|&(_, &end)| end == unit).map(|(&start, _)| start);
        let start = before.unwrap_or(unit);
        let end = self.ranges.remove(&(unit + 1)).unwrap_or(unit + 1);
        self.ranges.insert(start, end);
        true
    }

    /// Removes a unit; returns whether it was in the set.
    pub fn remove(&mut self, unit: u64) -> bool {
        let Some((&start, &end)) = self.ranges.range(..=unit).next_back() else { return false };
        if unit >= end {
            return false;
        }
        self.len -= 1;
        self.ranges.remove(&start);
        if start < unit {
            self.ranges.insert(start, unit);
        }
        if unit + 1 < end {
            self.ranges.insert(unit + 1, end);
        }
        true
    }

    /// Adds all of `other`.
    pub fn extend(&mut self, other: &Self) {
        other.ranges.iter().for_each(|(&start, &end)| self.insert_range(start, end));
    }

    /// Removes all of `other`.
    pub fn subtract(&mut self, other: &Self) {
        other.ranges.iter().for_each(|(&start, &end)| self.remove_range(start, end));
    }

    /// Removes all that `other` does not have.
    pub fn intersect(&mut self, other: &Self) {
        // Subtracting twice walks over ranges only, never over units.
        let mut outside = self.clone();
        outside.subtract(other);
        self.subtract(&outside);
    }

    /// Adds the units from `start` up to `end`, without it.
    fn insert_range(&mut self, start: u64, end: u64) {
        if start >= end {
            return;
        }
        // Without what is there already, the length grows by the whole range.
        self.remove_range(start, end);
        self.len += end - start;
        // Neighbours on both sides become one range with it.
        let end = self.ranges.remove(&end).unwrap_or(end);
        let before = self.ranges.range(..start).next_back().filter(|&(_, &last)| last == start);
        let start = before.map_or(start, |(&first, _)| first);
        self.ranges.insert(start, end);
        debug_assert!(!self.ranges.contains_key(&end), "ranges do not meet");
    }

    /// Removes the units from `start` up to `end`, without it.
    fn remove_range(&mut self, start: u64, end: u64) {
        while let Some((&first, &last)) =
            self.ranges.range(..end).next_back().filter(|&(_, &last)| last > start)
        {
            self.ranges.remove(&first);
            self.len -= last.min(end) - first.max(start);
            if first < start {
                self.ranges.insert(first, start);
            }
            if end < last {
                self.ranges.insert(end, last);
            }
        }
    }

    /// Removes and returns the first `n` units, or fewer if the set has fewer or they are in very many ranges.
    pub fn split_off(&mut self, n: u64) -> Self {
        let mut taken = Self::new();
        while taken.len < n && taken.ranges.len() < MAX_RANGES {
            let Some((&start, &end)) = self.ranges.first_key_value() else { break };
            let until = end.min(start + (n - taken.len));
            self.ranges.remove(&start);
            if until < end {
                self.ranges.insert(until, end);
            }
            self.len -= until - start;
            taken.ranges.insert(start, until);
            taken.len += until - start;
        }
        debug_assert!(taken.len <= n, "no more units are taken than were asked for");
        taken
    }

    /// Returns the first unit; `None` if the set is empty.
    #[must_use]
    pub fn first(&self) -> Option<u64> {
        self.ranges.first_key_value().map(|(&start, _)| start)
    }

    /// Returns the last unit; `None` if the set is empty.
    #[must_use]
    pub fn last(&self) -> Option<u64> {
        self.ranges.last_key_value().and_then(|(_, &end)| end.checked_sub(1))
    }

    /// Returns whether the sets share a unit.
    #[must_use]
    pub fn meets(&self, other: &Self) -> bool {
        let mut both = self.clone();
        both.intersect(other);
        !both.is_empty()
    }

    /// The units in order.
    pub fn iter(&self) -> impl Iterator<Item = u64> + '_ {
        self.ranges.iter().flat_map(|(&start, &end)| start..end)
    }
}

impl FromIterator<u64> for UnitSet {
    fn from_iter<I: IntoIterator<Item = u64>>(units: I) -> Self {
        let mut set = Self::new();
        units.into_iter().for_each(|unit| {
            set.insert(unit);
        });
        set
    }
}

impl fmt::Display for UnitSet {
    /// Writes the units from 1, as `1-5,9`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, (&start, &end)) in self.ranges.iter().enumerate() {
            let comma = if at == 0 { "" } else { "," };
            match end - start {
                1 => write!(f, "{comma}{end}")?,
                _ => write!(f, "{comma}{}-{end}", start + 1)?,
            }
        }
        Ok(())
    }
}

/// A text that names no units.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("`{0}` names no units: write numbers from 1 and ranges, such as `1-5,9`")]
pub struct BadUnits(String);

impl FromStr for UnitSet {
    type Err = BadUnits;

    fn from_str(text: &str) -> Result<Self, BadUnits> {
        let bad = || BadUnits(text.chars().take(60).collect());
        let number = |text: &str| text.trim().parse::<u64>().ok().filter(|&n| n > 0).ok_or_else(bad);
        let mut ranges: Vec<(u64, u64)> = Vec::new();
        for range in text.trim().split(',') {
            let (first, last) = range.split_once('-').unwrap_or((range, range));
            let (first, last) = (number(first)?, number(last)?);
            if last < first {
                return Err(bad());
            }
            ranges.push((first - 1, last));
        }
        ranges.sort_unstable();
        let mut set = Self::new();
        for (start, end) in ranges {
            // The ranges are sorted, so only the last one can overlap this one or meet it.
            let start = set.ranges.last_key_value().map_or(start, |(_, &before)| start.max(before));
            if start >= end {
                continue;
            }
            set.len += end - start;
            match set.ranges.last_entry() {
                Some(mut last) if *last.get() == start => {
                    last.insert(end);
                }
                _ => {
                    set.ranges.insert(start, end);
                }
            }
        }
        Ok(set)
    }
}

/// One share of several: `3/16`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Partition {
    /// The number of the share, from 1.
    k: u64,
    /// The number of shares.
    n: u64,
}

/// A text that is no partition.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("write which part of how many, such as `3/16`; the first is 1")]
pub struct BadPartition;

impl FromStr for Partition {
    type Err = BadPartition;

    fn from_str(text: &str) -> Result<Self, BadPartition> {
        let (k, n) = text.split_once('/').ok_or(BadPartition)?;
        let (k, n) =
            (k.trim().parse().map_err(|_| BadPartition)?, n.trim().parse().map_err(|_| BadPartition)?);
        if (1..=n).contains(&k) { Ok(Self { k, n }) } else { Err(BadPartition) }
    }
}

impl fmt::Display for Partition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.k, self.n)
    }
}

impl Partition {
    /// The units of this share in a plan with `count` units: every `n`-th.
    #[must_use]
    pub fn units_of_share(self, count: u64) -> UnitSet {
        let step = usize::try_from(self.n).unwrap_or(usize::MAX);
        (self.k - 1..count).step_by(step).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::{ProptestConfig, any, prop_assert_eq, proptest};
    use std::collections::BTreeSet;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]
        /// The second opinion is a plain set.
        #[test]
        fn ranges_are_the_set_they_stand_for(
            moves in proptest::collection::vec((any::<bool>(), 0u64..40), 0..80), n in 0u64..50,
        ) {
            let (mut set, mut plain) = (UnitSet::new(), BTreeSet::new());
            for (is_added, unit) in moves {
                if is_added {
                    prop_assert_eq!(set.insert(unit), plain.insert(unit));
                } else {
                    prop_assert_eq!(set.remove(unit), plain.remove(&unit));
                }
                prop_assert_eq!(set.len(), plain.len() as u64);
            }
            prop_assert_eq!(set.iter().collect::<Vec<_>>(), plain.iter().copied().collect::<Vec<_>>());
            (0..41).try_for_each(|unit| { prop_assert_eq!(set.contains(unit), plain.contains(&unit)); Ok(()) })?;
            if !set.is_empty() {
                prop_assert_eq!(set.to_string().parse::<UnitSet>().unwrap(), set.clone());
            }
            prop_assert_eq!(set.last(), plain.last().copied());
            let taken = set.split_off(n);
            let expected: Vec<u64> = plain.iter().copied().take(n as usize).collect();
            prop_assert_eq!(taken.iter().collect::<Vec<_>>(), expected);
            prop_assert_eq!(taken.len() + set.len(), plain.len() as u64);
        }

        /// The second opinion is a plain set.
        #[test]
        fn sets_are_joined_and_subtracted_by_ranges(
            a in proptest::collection::btree_set(0u64..40, 0..30),
            b in proptest::collection::btree_set(0u64..40, 0..30),
        ) {
            let (one, other): (UnitSet, UnitSet) = (a.iter().copied().collect(), b.iter().copied().collect());
            let (mut joined, mut left, mut both) = (one.clone(), one.clone(), one.clone());
            joined.extend(&other);
            left.subtract(&other);
            both.intersect(&other);
            prop_assert_eq!(joined, a.union(&b).copied().collect::<UnitSet>());
            prop_assert_eq!(left, a.difference(&b).copied().collect::<UnitSet>());
            prop_assert_eq!(&both, &a.intersection(&b).copied().collect::<UnitSet>());
            prop_assert_eq!(one.meets(&other), !both.is_empty());
        }

        #[test]
        fn partitions_have_every_unit_once(n in 1u64..20, count in 0u64..100) {
            let parts = (1..=n).map(|k| format!("{k}/{n}").parse::<Partition>().unwrap().units_of_share(count));
            let mut all: Vec<u64> = parts.flat_map(|part| part.iter().collect::<Vec<_>>()).collect();
            all.sort_unstable();
            prop_assert_eq!(all, (0..count).collect::<Vec<_>>());
        }
    }

    #[test]
    fn what_is_no_set_and_no_partition_is_refused() {
        for wrong in ["", "0", "3-1", "a", "1,,2", "1-2-3", "-4", "1-"] {
            assert!(wrong.parse::<UnitSet>().is_err(), "{wrong}");
        }
        assert_eq!("5,1-3,2-4,9".parse::<UnitSet>().unwrap().to_string(), "1-5,9");
        for wrong in ["", "3", "0/4", "5/4", "1/0", "a/b", "1/2/3", "-1/2"] {
            assert!(wrong.parse::<Partition>().is_err(), "{wrong}");
        }
    }
}
