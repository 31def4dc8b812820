//! Machines near a specification that pass a suite: one answer changed, one transition redirected, or a state
//! doubled and one transition of the copy changed.
//!
//! Incomplete suites of large machines nearly always miss such a machine, and it is found in steps that grow with
//! the suite, not exponentially.

use ioxide_model::index::Idx;

use crate::mealy::{InputId, Mealy, StateId, SuiteModel};
use crate::product;
use crate::word::Word;

/// A machine with at most `extra` more states than `spec` that passes `suite` and is not equivalent to it, if one
/// near `spec` does; after `max_steps` symbols the search ends.
#[must_use]
pub fn find_passing_neighbour(
    spec: &SuiteModel,
    suite: &[Word],
    extra: usize,
    max_steps: usize,
) -> Option<Mealy> {
    let mut search = NearMachines { spec, suite, steps: 0, max_steps };
    search.find_with_one_change().or_else(|| (extra > 0).then(|| search.find_with_copied_state()).flatten())
}

type NearTable = Vec<Option<(usize, usize)>>;

struct NearMachines<'s> {
    spec: &'s SuiteModel,
    suite: &'s [Word],
    steps: usize,
    max_steps: usize,
}

impl NearMachines<'_> {
    /// Returns a passing machine that differs from the specification in one transition.
    fn find_with_one_change(&mut self) -> Option<Mealy> {
        let table = self.spec_table();
        let n = self.spec.n_states();
        (0..table.len()).find_map(|slot| self.find_changed_at(&table, n, slot))
    }

    /// Returns a passing machine with one more state: a transition is redirected into a copy of its target, and one
    /// transition of the copy is changed.
    fn find_with_copied_state(&mut self) -> Option<Mealy> {
        let (n, k) = (self.spec.n_states(), self.spec.n_inputs());
        let table = self.spec_table();
        for slot in 0..n * k {
            let Some((target, output)) = table[slot] else { continue };
            let mut copy = table.clone();
            copy.extend_from_within(target * k..(target + 1) * k);
            // Reached by one transition only, and right but for one change: the copy is as hard to notice as can be.
            copy[slot] = Some((n, output));
            for input in 0..k {
                if let Some(machine) = self.find_changed_at(&copy, n + 1, n * k + input) {
                    return Some(machine);
                }
            }
        }
        None
    }

    /// The first wrong machine that passes, with another answer or target at `slot`.
    fn find_changed_at(&mut self, table: &NearTable, states: usize, slot: usize) -> Option<Mealy> {
        let (target, output) = table[slot]?;
        let outputs = self.spec.names().outputs.len();
        let targets = (0..states).filter(|&other| other != target).map(|other| (other, output));
        // One new output stands for every wrong output: tests that catch it catch any other.
        std::iter::once((target, outputs)).chain(targets).find_map(|entry| {
            let mut changed = table.clone();
            changed[slot] = Some(entry);
            self.keep_if_wrong_and_passing(states, outputs + 1, &changed)
        })
    }

    fn keep_if_wrong_and_passing(
        &mut self,
        states: usize,
        outputs: usize,
        table: &NearTable,
    ) -> Option<Mealy> {
        if self.steps > self.max_steps || !self.suite.iter().all(|word| self.passes(table, word)) {
            return None;
        }
        // Passing is not enough: a redirected transition may lead to an equivalent machine.
        let machine = Mealy::from_table(states, self.spec.n_inputs(), outputs, table)?;
        product::difference(&self.spec.to_mealy(), &machine).map(|_| machine)
    }

    /// Returns whether the machine of `table` answers `word` as the specification does.
    fn passes(&mut self, table: &NearTable, word: &Word) -> bool {
        let k = self.spec.n_inputs();
        let (mut state, mut at) = (self.spec.initial(), 0);
        for &input in word {
            self.steps += 1;
            let Some((next, output)) = table[at * k + input.index()] else { return false };
            if self.spec.output(state, input).index() != output {
                return false;
            }
            (state, at) = (self.spec.next(state, input), next);
        }
        true
    }

    /// The specification as a table that begins with its initial state.
    fn spec_table(&self) -> NearTable {
        let n = self.spec.n_states();
        let first = self.spec.initial().index();
        // States 0 and `first` change places.
        let swap = |state: usize| {
            if state == 0 {
                first
            } else if state == first {
                0
            } else {
                state
            }
        };
        let entry = |slot: usize| {
            let k = self.spec.n_inputs();
            let (state, input) = (StateId::new(swap(slot / k)), InputId::new(slot % k));
            Some((swap(self.spec.next(state, input).index()), self.spec.output(state, input).index()))
        };
        (0..n * self.spec.n_inputs()).map(entry).collect()
    }
}
