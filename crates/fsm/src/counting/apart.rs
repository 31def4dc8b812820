//! The pairs of states of a partial machine that are apart, and the words that separate them.

use ioxide_model::index::Idx;

use crate::mealy::{InputId, Mealy, OutputId, StateId};
use crate::partition;
use crate::word::Word;

/// For every two states the length of a shortest word that both answer to its end, and differently.
#[derive(Clone, Debug)]
pub struct ApartTable {
    n: usize,
    level: Vec<Option<u32>>,
}

impl ApartTable {
    /// The pairs of `machine` that are apart.
    #[must_use]
    pub fn new(machine: &Mealy) -> Self {
        let n = machine.n_states();
        let mut apart = Self { n, level: vec![None; n * n] };
        // Level by level, so that a pair gets the length of a shortest word. Levels have no gaps: a word of `k + 1`
        // symbols begins with an input into a pair of level `k`, so the first empty level is the end.
        let mut length = 1;
        loop {
            let fresh = apart.pairs_separated_by_length(machine, length);
            if fresh.is_empty() {
                return apart;
            }
            for (a, b) in fresh {
                apart.level[a * n + b] = Some(length);
                apart.level[b * n + a] = Some(length);
            }
            length += 1;
        }
    }

    /// The pairs that a word of `length` symbols distinguishes, and no shorter one.
    fn pairs_separated_by_length(&self, machine: &Mealy, length: u32) -> Vec<(usize, usize)> {
        let mut found = Vec::new();
        for a in machine.states() {
            for b in machine.states().take(a.index()) {
                let is_open = self.level[a.index() * self.n + b.index()].is_none();
                if is_open
                    && machine
                        .inputs()
                        .any(|x| self.separating_length_after(machine, a, b, x) == Some(length - 1))
                {
                    found.push((a.index(), b.index()));
                }
            }
        }
        found
    }

    /// Returns the number of symbols that a separating word needs after `input`: 0 if the outputs for `input` differ,
    /// `None` if a state does not answer it or the successors are not known to be apart.
    fn separating_length_after(
        &self,
        machine: &Mealy,
        a: StateId,
        b: StateId,
        input: InputId,
    ) -> Option<u32> {
        let (x, y) = (machine.edge(a, input)?, machine.edge(b, input)?);
        // An input that one of the two does not answer separates nothing: the system may do there what it likes.
        if x.output == y.output { self.level[x.next.index() * self.n + y.next.index()] } else { Some(0) }
    }

    /// Returns whether some word that both states answer separates them.
    #[must_use]
    pub fn are_apart(&self, a: StateId, b: StateId) -> bool {
        self.level[a.index() * self.n + b.index()].is_some()
    }

    /// Returns a shortest word that separates the states, chosen symbol by symbol for the least `cost`; `None` if
    /// there is none.
    pub fn separating_word(
        &self,
        machine: &Mealy,
        a: StateId,
        b: StateId,
        cost: impl Fn(&[InputId]) -> usize,
    ) -> Option<Word> {
        let (mut a, mut b) = (a, b);
        let mut word = Word::new();
        let mut length = self.level[a.index() * self.n + b.index()]?;
        while length > 0 {
            let fits = |&x: &InputId| {
                self.separating_length_after(machine, a, b, x).is_some_and(|rest| rest < length)
            };
            let price = |x: &InputId| cost(&[word.as_slice(), &[*x]].concat());
            // Any input that leads closer will do; take the one that the tree has most of already.
            let input = machine.inputs().filter(fits).min_by_key(price)?;
            length = self.separating_length_after(machine, a, b, input)?;
            word.push(input);
            (a, b) = (machine.edge(a, input)?.next, machine.edge(b, input)?.next);
        }
        Some(word)
    }

    /// Sets of states that are pairwise apart, as large as they easily get; every state is in one.
    #[must_use]
    pub fn cliques(&self) -> Vec<Vec<StateId>> {
        let states: Vec<StateId> = (0..self.n).map(StateId::new).collect();
        let degree = |state: &StateId| states.iter().filter(|&&other| self.are_apart(*state, other)).count();
        let mut order = states.clone();
        order.sort_by_key(|state| (std::cmp::Reverse(degree(state)), *state));
        let mut found: Vec<Vec<StateId>> = Vec::new();
        // A largest clique is hard to find; one greedy clique through every state is enough for counting to come to an
        // end.
        for &first in &states {
            let mut clique = vec![first];
            for &state in &order {
                if clique.iter().all(|&member| self.are_apart(member, state)) {
                    clique.push(state);
                }
            }
            clique.sort_unstable();
            if !found.contains(&clique) {
                found.push(clique);
            }
        }
        found
    }
}

/// Returns the class of each state: states of one class answer the same words, and give `critical` answers at the
/// same places.
pub(super) fn critical_classes(machine: &Mealy, critical: &[OutputId]) -> Vec<usize> {
    let seen = |output: OutputId| critical.contains(&output).then_some(output);
    let mut classes = vec![0; machine.n_states()];
    loop {
        let signature = |state: usize| {
            let answer = |input| {
                machine
                    .edge(StateId::new(state), input)
                    .map(|edge| (seen(edge.output), classes[edge.next.index()]))
            };
            (classes[state], machine.inputs().map(answer).collect::<Vec<_>>())
        };
        let finer = partition::group_by(machine.n_states(), signature);
        if finer.iter().max() == classes.iter().max() {
            return finer;
        }
        classes = finer;
    }
}
