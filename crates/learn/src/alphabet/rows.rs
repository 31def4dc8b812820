//! Combinations of values of several fields, few of many: every value occurs, and pairs as often as possible.
//!
//! *Promises.* If there are at most `limit` combinations, all are chosen. Else `limit` different ones are, and with
//! them every value of every field that has at most `limit` values.

use std::collections::BTreeSet;

/// Returns rows of positions, one position for each of the fields, which have `sizes` values each; in order.
pub fn choose_rows(sizes: &[usize], limit: usize) -> Vec<Vec<usize>> {
    if count_combinations(sizes) <= limit as u128 {
        return all_rows(sizes).collect();
    }
    let mut cover = PairCover::new(sizes);
    let mut rows: BTreeSet<Vec<usize>> = (0..limit).map(|_| cover.next_row()).collect();
    // A row that came twice makes room for one that did not come.
    for row in all_rows(sizes) {
        if rows.len() >= limit {
            break;
        }
        rows.insert(row);
    }
    rows.into_iter().collect()
}

/// Returns the part of the combinations that `taken` rows are, in words; `None` if they are all.
pub fn describe_left_out(sizes: &[usize], taken: usize, limit: usize) -> Option<String> {
    let (all, most) = (count_combinations(sizes), sizes.iter().copied().max().unwrap_or(0));
    (all > taken as u128).then(|| {
        let values = if most > limit {
            format!(", and {limit} of the {most} values of a field")
        } else {
            String::new()
        };
        format!("{taken} of {all} combinations of values{values}")
    })
}

pub fn count_combinations(sizes: &[usize]) -> u128 {
    sizes.iter().fold(1, |all, &size| all.saturating_mul(size as u128))
}

/// All rows, in order.
fn all_rows(sizes: &[usize]) -> impl Iterator<Item = Vec<usize>> {
    let first = sizes.iter().all(|&size| size > 0).then(|| vec![0; sizes.len()]);
    std::iter::successors(first, |row| {
        let at = (0..sizes.len()).rev().find(|&at| row[at] + 1 < sizes[at])?;
        let mut next = row.clone();
        next[at] += 1;
        next[at + 1..].fill(0);
        Some(next)
    })
}

/// The values and pairs of values that occur in the rows so far.
struct PairCover<'a> {
    sizes: &'a [usize],
    /// For each field and value the number of rows with it.
    used: Vec<Vec<usize>>,
    /// Two fields, the first one before the other, with a value each.
    pairs: BTreeSet<(usize, usize, usize, usize)>,
}

impl<'a> PairCover<'a> {
    /// Makes a cover of fields with `sizes` values each, in which nothing occurs yet.
    fn new(sizes: &'a [usize]) -> Self {
        let used = sizes.iter().map(|&size| vec![0; size]).collect();
        Self { sizes, used, pairs: BTreeSet::new() }
    }

    /// Returns the next row: in every field a value that did not occur yet; where all did, the one that makes the most
    /// new pairs with the fields before it, then the one that occurred least.
    fn next_row(&mut self) -> Vec<usize> {
        let mut row = Vec::new();
        for field in 0..self.sizes.len() {
            let new_pairs = |value: usize| {
                let pairs = row.iter().enumerate().map(|(at, &before)| (at, before, field, value));
                pairs.filter(|pair| !self.pairs.contains(pair)).count()
            };
            let rank = |&value: &usize| {
                let used = self.used[field][value];
                (used > 0, std::cmp::Reverse(new_pairs(value)), used)
            };
            let best = (0..self.sizes[field]).min_by_key(rank).unwrap_or(0);
            row.push(best);
        }
        for (field, &value) in row.iter().enumerate() {
            self.used[field][value] += 1;
            let before = row[..field].iter().enumerate();
            self.pairs.extend(before.map(|(at, &other)| (at, other, field, value)));
        }
        row
    }
}
