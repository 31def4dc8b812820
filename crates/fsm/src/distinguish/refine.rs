//! Grouping states by their answers to a word, one symbol after the other.
//!
//! Two states stay in one group as long as they answer alike. The table from
//! group and output to the new group is reused: an entry counts only if it
//! carries the stamp of the step.

use ioxide_model::index::Idx;

use crate::mealy::{InputId, StateId, SuiteModel};

/// States under a word: the group and the current state of each.
#[derive(Clone, Debug, Default)]
pub struct StateGroups {
    /// The group of each state, numbered in order of first appearance.
    pub of: Vec<u32>,
    /// The current state of each state.
    pub at: Vec<StateId>,
    /// The number of groups.
    pub(crate) count: usize,
}

impl StateGroups {
    /// Starts again with these groups and places.
    pub(crate) fn restart(&mut self, of: &[u32], at: &[StateId], count: usize) {
        self.of.clear();
        self.of.extend_from_slice(of);
        self.at.clear();
        self.at.extend_from_slice(at);
        self.count = count;
    }

    /// Starts again with all of `at` in one group.
    pub fn restart_together(&mut self, at: &[StateId]) {
        self.of.clear();
        self.of.resize(at.len(), 0);
        self.at.clear();
        self.at.extend_from_slice(at);
        self.count = usize::from(!at.is_empty());
    }
}

/// Applies words to groups.
pub struct GroupRefiner<'s> {
    spec: &'s SuiteModel,
    n_outputs: usize,
    /// Stamp and new group of each old group and output.
    pub table: Vec<(u32, u32)>,
    stamp: u32,
}

impl<'s> GroupRefiner<'s> {
    /// Makes a refiner for groups of states of `spec`.
    pub fn new(spec: &'s SuiteModel) -> Self {
        Self { spec, n_outputs: spec.names().outputs.len(), table: Vec::new(), stamp: 0 }
    }

    /// Splits `groups` by their answers to `word` and moves them on.
    pub fn apply_word(&mut self, groups: &mut StateGroups, word: impl IntoIterator<Item = InputId>) {
        for input in word {
            // Once every state has a group of its own nothing can be split any more, only moved.
            if groups.count < groups.of.len() {
                self.split_groups(groups, input);
            }
            for at in &mut groups.at {
                *at = self.spec.next(*at, input);
            }
        }
    }

    /// Splits every group by the outputs of its members to `input`.
    fn split_groups(&mut self, groups: &mut StateGroups, input: InputId) {
        // A new stamp empties the whole table at no cost; clearing it would cost groups times outputs for every
        // symbol.
        self.stamp += 1;
        let needed = groups.count * self.n_outputs;
        if self.table.len() < needed {
            self.table.resize(needed, (0, 0));
        }
        let mut count = 0;
        for (of, &at) in groups.of.iter_mut().zip(&groups.at) {
            let slot = *of as usize * self.n_outputs + self.spec.output(at, input).index();
            let entry = &mut self.table[slot];
            if entry.0 != self.stamp {
                *entry = (self.stamp, count);
                count += 1;
            }
            *of = entry.1;
        }
        debug_assert!(count as usize >= groups.count, "a step splits groups and never joins them");
        groups.count = count as usize;
    }
}
