//! The lower bound on the states of a system that repeats none.
//!
//! For a word after its longest prefix `v` in the cover, let `R⁺(s)` be the
//! prefixes beyond `v` that lead the model to `s`, and the cover's own word for
//! `s` with one of its responses. If no state of the product repeats, the
//! prefixes in `R⁺(s)` lead the system to different states; sets of answers
//! seen elsewhere but not there are states of their own. For a set `S₁` of
//! model states whose `R⁺` share no set of answers the bound is
//! `Σ |R⁺(s)| + |D \ …|` \[Sachtleben18, Def. 5.4.9].
//!
//! Every set of answers along the word is in `D`, so the bound is `|D|` plus,
//! for each `s` in `S₁`, how many more prefixes than sets of answers it has:
//! a state adds nothing unless a set of answers came back.

use super::tree::ClassId;

/// `R⁺(s)` of one state of the model.
#[derive(Clone, Debug, Default)]
pub(super) struct ReachGroup {
    /// The number of prefixes beyond the cover that lead to the state, without the cover's word.
    pub(super) visits: usize,
    /// The different sets of answers seen after these prefixes.
    pub(super) classes: Vec<ClassId>,
    /// The sets of answers the cover's word for the state may be given,
    /// empty if it has none.
    pub(super) cover: Vec<ClassId>,
}

impl ReachGroup {
    /// Returns each way to choose a response to the cover's word: the number it adds to the bound, and the sets of
    /// answers it takes up.
    fn response_options(&self) -> Vec<(usize, Vec<ClassId>)> {
        // Visits beyond the number of different sets of answers: the states that only counting can distinguish.
        debug_assert!(self.classes.len() <= self.visits, "every class was seen after a visit");
        let returned = self.visits - self.classes.len();
        if self.cover.iter().any(|class| self.classes.contains(class)) {
            return vec![(returned + 1, self.classes.clone())];
        }
        if self.cover.is_empty() {
            return vec![(returned, self.classes.clone())];
        }
        self.cover.iter().map(|&class| (returned, [self.classes.as_slice(), &[class]].concat())).collect()
    }
}

/// Returns whether some choice of states and responses makes the bound exceed `limit`, `seen` different sets of
/// answers being known.
pub(super) fn exceeds(limit: usize, seen: usize, groups: &[ReachGroup]) -> bool {
    let mut options: Vec<Vec<(usize, Vec<ClassId>)>> = groups
        .iter()
        .map(|group| group.response_options().into_iter().filter(|&(gain, _)| gain > 0).collect::<Vec<_>>())
        .filter(|options: &Vec<_>| !options.is_empty())
        .collect();
    // Largest gains first, so that the bound on the rest falls quickly and the search is cut early.
    options.sort_by_key(|options| std::cmp::Reverse(options[0].0));
    let reach = seen + options.iter().map(|options| options[0].0).sum::<usize>();
    reach > limit && search_choices(limit, seen, reach - seen, &options, &mut Vec::new())
}

/// Returns the greatest bound; [`exceeds`] is cheaper where only a comparison is asked for.
pub(super) fn lower_bound(seen: usize, groups: &[ReachGroup]) -> usize {
    (seen..).find(|&limit| !exceeds(limit, seen, groups)).unwrap_or(seen)
}

/// Takes or leaves each state in turn; `left` is the most that the untried states could add.
fn search_choices(
    limit: usize,
    sum: usize,
    left: usize,
    options: &[Vec<(usize, Vec<ClassId>)>],
    taken: &mut Vec<ClassId>,
) -> bool {
    if sum > limit {
        return true;
    }
    let Some((first, rest)) = options.split_first() else { return false };
    if sum + left <= limit {
        return false;
    }
    let left = left - first[0].0;
    for (gain, classes) in first {
        // The definition asks that the `R⁺` of the chosen states share no set of answers.
        if classes.iter().any(|class| taken.contains(class)) {
            continue;
        }
        let before = taken.len();
        taken.extend(classes);
        if search_choices(limit, sum + gain, left, rest, taken) {
            return true;
        }
        taken.truncate(before);
    }
    search_choices(limit, sum, left, rest, taken)
}
