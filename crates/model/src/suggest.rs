//! The nearest name, as a suggestion for a misspelt one.

/// The greatest number of names compared. Chosen by feel: it bounds the time.
const MAX_CANDIDATES: usize = 5_000;

/// The candidate at the smallest edit distance, if that is at most a third of the length (one for
/// names of two or three letters, two for longer ones that begin alike; a single letter is near to nothing else).
/// Of equally near ones the first; names that differ only in case are always near.
#[must_use]
pub fn nearest_name<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let limit = match name.chars().count() {
        0 | 1 => 0,
        length => (length / 3).max(1),
    };
    // Among very many names a near one means little, and looking at all of them takes long.
    // A name that is no answer here is no proposal for itself either.
    let others = candidates.take(MAX_CANDIDATES).filter(|candidate| *candidate != name);
    let scored = others.filter_map(|candidate| {
        let limit = if begin_alike(name, candidate) { limit.max(2) } else { limit };
        let distance =
            if candidate.eq_ignore_ascii_case(name) { 0 } else { edit_distance(name, candidate, limit)? };
        Some((distance, candidate))
    });
    scored.min_by_key(|&(distance, _)| distance).map(|(_, candidate)| candidate)
}

/// True if names of four letters or more have the first two in common, as `trys` and `tries` have.
fn begin_alike(a: &str, b: &str) -> bool {
    let is_long = |name: &str| name.chars().nth(3).is_some();
    is_long(a) && is_long(b) && a.chars().take(2).eq(b.chars().take(2))
}

/// Insertions, deletions, replacements and swaps of neighbours from `a` to `b`, if at most `limit`.
fn edit_distance(a: &str, b: &str, limit: usize) -> Option<usize> {
    if a.len() > 64 || a.len().abs_diff(b.len()) > limit * 4 {
        return None;
    }
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    if a.len().abs_diff(b.len()) > limit {
        return None;
    }
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 0..a.len() {
        let mut row = vec![i + 1];
        for j in 0..b.len() {
            let replaced = last[j] + usize::from(a[i] != b[j]);
            let mut best = replaced.min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j] {
                best = best.min(before[j - 1] + 1);
            }
            row.push(best);
        }
        before = std::mem::replace(&mut last, row);
    }
    last.last().copied().filter(|&n| n <= limit)
}
