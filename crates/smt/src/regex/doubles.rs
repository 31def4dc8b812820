//! Characters that stand for those that solvers do not have.
//!
//! Two characters are alike for some classes if each class has both or neither. A text with characters above
//! [`MAX_CHAR`] can be exchanged for one without where every one of them is like enough others: then no question with
//! these classes is answered otherwise because the solver lacks them.

use regex_syntax::hir::{Class, Hir, HirKind};
use rustc_hash::FxHashMap;

use super::MAX_CHAR;

/// The number of characters that stand for those above which they are like. A question has few characters that must
/// differ, and few that its texts name. Chosen by feel.
const MIN_ALIKE_CHARS: u32 = 32;

/// The numbers of the characters of a class: ranges in order, both ends included.
pub(super) type CharRanges = Vec<(u32, u32)>;

/// Returns the classes of a pattern; those of bytes have no characters above and are left out.
pub(super) fn pattern_classes(hir: &Hir) -> Vec<CharRanges> {
    let mut found = Vec::new();
    let mut todo = vec![hir];
    while let Some(hir) = todo.pop() {
        match hir.kind() {
            HirKind::Class(Class::Unicode(class)) => {
                found.push(class.ranges().iter().map(|it| (it.start().into(), it.end().into())).collect());
            }
            HirKind::Repetition(repetition) => todo.push(&repetition.sub),
            HirKind::Capture(group) => todo.push(&group.sub),
            HirKind::Concat(list) | HirKind::Alternation(list) => todo.extend(list),
            HirKind::Class(Class::Bytes(_)) | HirKind::Empty | HirKind::Literal(_) | HirKind::Look(_) => {}
        }
    }
    found
}

/// Returns whether every character above [`MAX_CHAR`] is like [`MIN_ALIKE_CHARS`] others for these classes.
pub(super) fn have_enough_alike<'c>(classes: impl Iterator<Item = &'c CharRanges>) -> bool {
    let mut classes: Vec<&CharRanges> = classes.collect();
    classes.sort_unstable();
    classes.dedup();
    let above = u32::from(MAX_CHAR) + 1;
    let mut starts: Vec<u32> = vec![0, above];
    starts.extend(classes.iter().flat_map(|class| class.iter().flat_map(|&(lo, hi)| [lo, hi + 1])));
    starts.retain(|&start| start <= u32::from(char::MAX));
    starts.sort_unstable();
    starts.dedup();
    // For the classes that a character is in: the number of such characters below, and whether there are some above.
    let mut alike: FxHashMap<Vec<bool>, (u32, bool)> = FxHashMap::default();
    let ends = starts.iter().skip(1).copied().chain([u32::from(char::MAX) + 1]);
    for (&start, end) in starts.iter().zip(ends) {
        let of = alike.entry(classes.iter().map(|class| contains_char(class, start)).collect()).or_default();
        if start < above { of.0 += end - start } else { of.1 = true }
    }
    alike.values().all(|&(n_below, is_above)| !is_above || n_below >= MIN_ALIKE_CHARS)
}

fn contains_char(class: &CharRanges, char: u32) -> bool {
    let at = class.partition_point(|&(_, hi)| hi < char);
    class.get(at).is_some_and(|&(lo, _)| lo <= char)
}
