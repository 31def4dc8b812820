//! Deterministic Mealy machines: a finite set of states, and for each state and
//! input at most one output and next state.
//!
//! A [`Mealy`] may be partial and may have unreachable or equivalent states; a
//! [`SuiteModel`] is a machine for which all of that has been ruled out, and is what
//! the suite methods take.
//!
//! *Promise.* Ids are dense and follow the order of first appearance in the
//! listing, with the initial state where the listing put it; every operation
//! keeps the names.

use ioxide_model::index;
use ioxide_model::index::{Idx, IndexVec};
use rustc_hash::FxHashMap;

use crate::error::MachineRefusal;
use crate::partition;

index! { /// A state of a machine.
pub struct StateId; }
index! { /// An input symbol of a machine.
pub struct InputId; }
index! { /// An output symbol of a machine.
pub struct OutputId; }

impl From<u32> for InputId {
    fn from(raw: u32) -> Self {
        Self::new(raw as usize)
    }
}

impl From<u32> for OutputId {
    fn from(raw: u32) -> Self {
        Self::new(raw as usize)
    }
}

impl From<u32> for StateId {
    fn from(raw: u32) -> Self {
        Self::new(raw as usize)
    }
}

/// The names of the states and symbols of a machine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MachineNames {
    /// Names of the states.
    pub states: IndexVec<StateId, String>,
    /// Names of the inputs.
    pub inputs: IndexVec<InputId, String>,
    /// Names of the outputs.
    pub outputs: IndexVec<OutputId, String>,
}

impl MachineNames {
    /// Numbers as names: `0`, `1`, …
    #[must_use]
    pub fn from_numbers(states: usize, inputs: usize, outputs: usize) -> Self {
        Self {
            states: (0..states).map(|i| i.to_string()).collect(),
            inputs: (0..inputs).map(|i| i.to_string()).collect(),
            outputs: (0..outputs).map(|i| i.to_string()).collect(),
        }
    }

    /// Returns the input called `name`, if there is one.
    #[must_use]
    pub fn input(&self, name: &str) -> Option<InputId> {
        self.inputs.ids().find(|&id| self.inputs[id] == name)
    }

    /// Returns the output called `name`, if there is one.
    #[must_use]
    pub fn output(&self, name: &str) -> Option<OutputId> {
        self.outputs.ids().find(|&id| self.outputs[id] == name)
    }

    /// Adds the output that `completion` gives where an answer is missing, and the state it leads to, if that is a new
    /// one.
    pub(crate) fn add_completion(&mut self, completion: &MachineCompletion) -> (OutputId, Option<StateId>) {
        let (MachineCompletion::SelfLoop(name) | MachineCompletion::ErrorState(name)) = completion;
        let output = self.output(name).unwrap_or_else(|| self.outputs.push(name.clone()));
        let error = match completion {
            MachineCompletion::SelfLoop(_) => None,
            MachineCompletion::ErrorState(_) => Some(self.push_state("error")),
        };
        (output, error)
    }

    /// Adds a state called `wanted`, with primes behind if the name is taken.
    fn push_state(&mut self, wanted: &str) -> StateId {
        let mut name = wanted.to_owned();
        while self.states.iter().any(|taken| *taken == name) {
            name.push('\'');
        }
        self.states.push(name)
    }
}

/// One transition in the words of a text: state, input, output, next state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TransitionRow {
    /// The state it leaves.
    pub from: String,
    /// The input it answers.
    pub input: String,
    /// The output it gives.
    pub output: String,
    /// The state it enters.
    pub to: String,
}

/// A machine as a text lists it: the initial state and the transitions in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MachineListing {
    /// The name of the initial state.
    pub initial: String,
    /// The states, in the order they were first named.
    pub states: Vec<String>,
    /// The transitions, in the order they were listed.
    pub rows: Vec<TransitionRow>,
}

impl MachineListing {
    /// Numbers all names in the order in which they occur, and returns them with the rows by number.
    #[must_use]
    pub fn resolve(&self) -> ResolvedListing {
        let mut states = Interner::default();
        let mut inputs = Interner::default();
        let mut outputs = Interner::default();
        for state in &self.states {
            states.intern(state);
        }
        let initial = states.intern(&self.initial);
        let mut rows = Vec::with_capacity(self.rows.len());
        for row in &self.rows {
            rows.push((
                states.intern(&row.from),
                inputs.intern(&row.input),
                outputs.intern(&row.output),
                states.intern(&row.to),
            ));
        }
        let names = MachineNames { states: states.names, inputs: inputs.names, outputs: outputs.names };
        ResolvedListing { names, initial, rows }
    }
}

/// A transition by id: state, input, output, next state.
pub type MealyTransition = (StateId, InputId, OutputId, StateId);

/// A listing with its names replaced by ids.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResolvedListing {
    /// The names of the ids.
    pub names: MachineNames,
    /// The initial state.
    pub initial: StateId,
    /// The transitions, in the order they were listed.
    pub rows: Vec<MealyTransition>,
}

struct Interner<I: Idx> {
    names: IndexVec<I, String>,
    ids: FxHashMap<String, I>,
}

impl<I: Idx> Default for Interner<I> {
    fn default() -> Self {
        Self { names: IndexVec::new(), ids: FxHashMap::default() }
    }
}

impl<I: Idx> Interner<I> {
    /// Returns the number of a name, a new one if it is new.
    fn intern(&mut self, name: &str) -> I {
        if let Some(&id) = self.ids.get(name) {
            return id;
        }
        let id = self.names.push(name.to_owned());
        self.ids.insert(name.to_owned(), id);
        id
    }
}

/// The answer of a state to an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MealyEdge {
    /// The output it gives.
    pub output: OutputId,
    /// The state it enters.
    pub next: StateId,
}

/// The way in which a partial machine is completed on inputs it does not answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MachineCompletion {
    /// Stay in the state and give this output.
    SelfLoop(String),
    /// Give this output and stay in a new state that gives it for ever.
    ErrorState(String),
}

/// The states that can be reached from one, in breadth-first order, each with its place in it.
pub(crate) struct ReachedStates {
    /// The states, the first one first.
    pub(crate) order: Vec<StateId>,
    number: Vec<Option<StateId>>,
}

impl ReachedStates {
    /// Searches from `first` among `n_states` states.
    pub fn new<S: IntoIterator<Item = StateId>>(
        n_states: usize,
        first: StateId,
        successors: impl Fn(StateId) -> S,
    ) -> Self {
        let mut number = vec![None; n_states];
        number[first.index()] = Some(StateId::new(0));
        let mut order = vec![first];
        let mut done = 0;
        // The order is its own queue: what is behind `done` was reached and not expanded yet.
        while let Some(&state) = order.get(done) {
            done += 1;
            for next in successors(state) {
                if number[next.index()].is_none() {
                    number[next.index()] = Some(StateId::new(order.len()));
                    order.push(next);
                }
            }
        }
        debug_assert_eq!(number.iter().flatten().count(), order.len(), "every reached state has one place");
        Self { order, number }
    }

    /// Returns the place of a state in the order; `None` if it was not reached.
    pub(crate) fn number_of(&self, state: StateId) -> Option<StateId> {
        self.number[state.index()]
    }
}

/// A deterministic machine, possibly partial, as one dense table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mealy {
    names: MachineNames,
    initial: StateId,
    table: Vec<Option<MealyEdge>>,
}

impl Mealy {
    /// The machine of a listing, or the first state with two answers to an input.
    pub fn from_listing(listing: &MachineListing) -> Result<Self, MachineRefusal> {
        let ResolvedListing { names, initial, rows } = listing.resolve();
        let mut machine = Self::without_edges(names, initial);
        for (from, input, output, next) in rows {
            let edge = MealyEdge { output, next };
            let slot = machine.edge_index(from, input);
            // The same row twice is no contradiction.
            if machine.table[slot].is_some_and(|old| old != edge) {
                return Err(MachineRefusal::NotDeterministic {
                    state: machine.names.states[from].clone(),
                    input: machine.names.inputs[input].clone(),
                });
            }
            machine.table[slot] = Some(edge);
        }
        Ok(machine)
    }

    /// A machine with numbered names, its table given state by state and input by input.
    ///
    /// Entries are `(next, output)`; the initial state is 0. `None` if the
    /// table has another size than `states * inputs` or names a state or
    /// output that does not exist.
    #[must_use]
    pub fn from_table(
        states: usize,
        inputs: usize,
        outputs: usize,
        table: &[Option<(usize, usize)>],
    ) -> Option<Self> {
        let fits = |&(next, output): &(usize, usize)| next < states && output < outputs;
        if states == 0 || table.len() != states * inputs || !table.iter().flatten().all(fits) {
            return None;
        }
        let edge = |(next, output)| MealyEdge { output: OutputId::new(output), next: StateId::new(next) };
        Some(Self {
            names: MachineNames::from_numbers(states, inputs, outputs),
            initial: StateId::new(0),
            table: table.iter().map(|entry| entry.map(edge)).collect(),
        })
    }

    fn without_edges(names: MachineNames, initial: StateId) -> Self {
        let size = names.states.len() * names.inputs.len();
        Self { names, initial, table: vec![None; size] }
    }

    /// The names of states, inputs and outputs.
    #[must_use]
    pub fn names(&self) -> &MachineNames {
        &self.names
    }

    /// The state after reset.
    #[must_use]
    pub fn initial(&self) -> StateId {
        self.initial
    }

    /// Returns the number of states, reachable or not.
    #[must_use]
    pub fn n_states(&self) -> usize {
        self.names.states.len()
    }

    /// Returns the size of the input alphabet.
    #[must_use]
    pub fn n_inputs(&self) -> usize {
        self.names.inputs.len()
    }

    /// Returns the size of the output alphabet.
    #[must_use]
    pub fn n_outputs(&self) -> usize {
        self.names.outputs.len()
    }

    /// All states.
    pub fn states(&self) -> impl DoubleEndedIterator<Item = StateId> + use<> {
        (0..self.names.states.len()).map(StateId::new)
    }

    /// All inputs.
    pub fn inputs(&self) -> impl DoubleEndedIterator<Item = InputId> + use<> {
        (0..self.names.inputs.len()).map(InputId::new)
    }

    /// The answer of `state` to `input`, if it has one.
    #[must_use]
    pub fn edge(&self, state: StateId, input: InputId) -> Option<MealyEdge> {
        self.table[self.edge_index(state, input)]
    }

    /// The outputs for `word` from reset, up to the first input without an answer.
    #[must_use]
    pub fn run(&self, word: &[InputId]) -> Vec<OutputId> {
        let mut state = self.initial;
        let mut outputs = Vec::with_capacity(word.len());
        for &input in word {
            let Some(edge) = self.edge(state, input) else { break };
            outputs.push(edge.output);
            state = edge.next;
        }
        outputs
    }

    /// The part that can be reached from the initial state, in breadth-first order.
    #[must_use]
    pub fn reachable_part(&self) -> Self {
        let edges = |state| self.inputs().filter_map(move |input| self.edge(state, input));
        let reached =
            ReachedStates::new(self.n_states(), self.initial, |state| edges(state).map(|edge| edge.next));
        self.renumber_states(&reached.order, |state| reached.number_of(state))
    }

    /// The machine in which missing answers are filled as `completion` says.
    #[must_use]
    pub fn complete_with(&self, completion: &MachineCompletion) -> Self {
        // Without a gap nothing is added, not even the name of the output: a complete machine stays equal to
        // itself.
        if self.table.iter().all(Option::is_some) {
            return self.clone();
        }
        let mut machine = self.clone();
        let (output, error) = machine.names.add_completion(completion);
        // The table is listed state by state, so the row of the new state is the end of it. Its entries are
        // missing too, and filled below with the rest.
        machine.table.resize(machine.n_states() * machine.n_inputs(), None);
        for state in machine.states() {
            for input in machine.inputs() {
                let slot = machine.edge_index(state, input);
                let missing = MealyEdge { output, next: error.unwrap_or(state) };
                machine.table[slot].get_or_insert(missing);
            }
        }
        machine
    }

    /// The machine with equivalent states merged, of a complete machine.
    ///
    /// A missing answer counts as an answer of its own, so on partial machines
    /// only states that answer the same inputs are merged.
    #[must_use]
    pub fn merge_equivalent_states(&self) -> Self {
        // Unreachable states go first: they would be classes of their own, or stand for a class.
        let machine = self.reachable_part();
        let classes = partition::equivalence_classes(&machine);
        machine.renumber_states(&partition::first_of_each(&classes), |state| {
            Some(StateId::new(classes[state.index()]))
        })
    }

    /// The machine whose state `i` is `order[i]`, with targets mapped by `number`.
    fn renumber_states(&self, order: &[StateId], number: impl Fn(StateId) -> Option<StateId>) -> Self {
        let mut names = self.names.clone();
        names.states = order.iter().map(|&state| self.names.states[state].clone()).collect();
        // The initial state always has a number: it is reachable, and with classes it has the number of its
        // class.
        let initial = number(self.initial).unwrap_or(self.initial);
        let mut machine = Self::without_edges(names, initial);
        for (i, &state) in order.iter().enumerate() {
            for input in self.inputs() {
                let edge = self.edge(state, input);
                // A target without a number would be lost. Both callers exclude that: what a reachable state
                // leads to is reachable, and every state has a class.
                let mapped = edge.and_then(|edge| Some(MealyEdge { next: number(edge.next)?, ..edge }));
                let slot = machine.edge_index(StateId::new(i), input);
                machine.table[slot] = mapped;
            }
        }
        machine
    }

    fn edge_index(&self, state: StateId, input: InputId) -> usize {
        state.index() * self.names.inputs.len() + input.index()
    }
}

/// A complete, initially connected, minimal machine: what suites are made for.
#[derive(Clone, Debug)]
pub struct SuiteModel {
    names: MachineNames,
    initial: StateId,
    n_inputs: usize,
    next: Vec<StateId>,
    output: Vec<OutputId>,
}

impl SuiteModel {
    /// Checks that `machine` is complete, connected and minimal; the error names the first state, input or pair of
    /// states that is not.
    pub fn check(machine: &Mealy) -> Result<Self, MachineRefusal> {
        let states = &machine.names.states;
        // Completeness first: reachable states and equivalence mean what they should only on a complete
        // table.
        for state in machine.states() {
            if let Some(input) = machine.inputs().find(|&input| machine.edge(state, input).is_none()) {
                let input = machine.names.inputs[input].clone();
                return Err(MachineRefusal::NotComplete { state: states[state].clone(), input });
            }
        }
        let connected = machine.reachable_part();
        if connected.n_states() < machine.n_states() {
            let kept: rustc_hash::FxHashSet<&String> = connected.names.states.iter().collect();
            let lost = states.iter().find(|name| !kept.contains(name)).cloned().unwrap_or_default();
            return Err(MachineRefusal::NotConnected { state: lost });
        }
        if let Some((first, second)) = partition::equivalent_pair(machine) {
            return Err(MachineRefusal::NotMinimal {
                first: states[first].clone(),
                second: states[second].clone(),
            });
        }
        Ok(Self::from_checked(machine))
    }

    /// The complete minimal machine made from `machine` by dropping unreachable
    /// states and merging equivalent ones, or the first missing answer.
    pub fn from_reduced(machine: &Mealy) -> Result<Self, MachineRefusal> {
        Self::check(&machine.merge_equivalent_states())
    }

    fn from_checked(machine: &Mealy) -> Self {
        // `flatten` drops nothing, because the machine is complete. So both tables keep their index by state
        // and input.
        let edges = || machine.table.iter().flatten();
        Self {
            names: machine.names.clone(),
            initial: machine.initial,
            n_inputs: machine.n_inputs(),
            next: edges().map(|edge| edge.next).collect(),
            output: edges().map(|edge| edge.output).collect(),
        }
    }

    /// The names of states, inputs and outputs.
    #[must_use]
    pub fn names(&self) -> &MachineNames {
        &self.names
    }

    /// The state after reset.
    #[must_use]
    pub fn initial(&self) -> StateId {
        self.initial
    }

    /// Returns the number of states.
    #[must_use]
    pub fn n_states(&self) -> usize {
        self.names.states.len()
    }

    /// Returns the size of the input alphabet.
    #[must_use]
    pub fn n_inputs(&self) -> usize {
        self.n_inputs
    }

    /// All states.
    pub fn states(&self) -> impl DoubleEndedIterator<Item = StateId> + ExactSizeIterator + use<> {
        (0..self.names.states.len()).map(StateId::new)
    }

    /// All inputs.
    pub fn inputs(&self) -> impl DoubleEndedIterator<Item = InputId> + ExactSizeIterator + use<> {
        (0..self.n_inputs).map(InputId::new)
    }

    /// The state after `input` in `state`.
    #[inline]
    #[must_use]
    pub fn next(&self, state: StateId, input: InputId) -> StateId {
        self.next[state.index() * self.n_inputs + input.index()]
    }

    /// The output for `input` in `state`.
    #[inline]
    #[must_use]
    pub fn output(&self, state: StateId, input: InputId) -> OutputId {
        self.output[state.index() * self.n_inputs + input.index()]
    }

    /// The state after `word` from `state`.
    #[must_use]
    pub fn state_after(&self, state: StateId, word: &[InputId]) -> StateId {
        word.iter().fold(state, |state, &input| self.next(state, input))
    }

    /// Returns the number of symbols of `word` after which `a` and `b` answer differently, the differing one
    /// included; `None` if `word` does not separate them.
    #[must_use]
    pub fn separation_length(&self, a: StateId, b: StateId, word: &[InputId]) -> Option<usize> {
        let (mut a, mut b) = (a, b);
        for (i, &input) in word.iter().enumerate() {
            if self.output(a, input) != self.output(b, input) {
                return Some(i + 1);
            }
            (a, b) = (self.next(a, input), self.next(b, input));
            // From one state on, both answer alike for ever.
            if a == b {
                return None;
            }
        }
        None
    }

    /// The same machine as a [`Mealy`].
    #[must_use]
    pub fn to_mealy(&self) -> Mealy {
        let edge = |(&output, &next)| Some(MealyEdge { output, next });
        Mealy {
            names: self.names.clone(),
            initial: self.initial,
            table: self.output.iter().zip(&self.next).map(edge).collect(),
        }
    }
}
