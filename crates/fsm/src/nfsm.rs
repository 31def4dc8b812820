//! Nondeterministic machines: for each state and input a set of answers.
//!
//! An [`Nfsm`] is any relation `h ⊆ S × X × Y × S` with an initial state. An
//! [`Observable`] one has at most one successor for each state, input and
//! output; every machine has an observable one with the same language, by the
//! power-set construction over the states a trace may lead to \[Starke72].

use ioxide_model::index::{Idx, IndexVec};
use rustc_hash::FxHashMap;

use crate::error::MachineRefusal;
use crate::mealy::{
    InputId, MachineCompletion, MachineListing, MachineNames, Mealy, MealyTransition, OutputId,
    ReachedStates, ResolvedListing, StateId,
};
use crate::partition;

/// A nondeterministic machine, possibly partial, possibly not observable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Nfsm {
    names: MachineNames,
    initial: StateId,
    /// The answers of each state and input, sorted, state by state.
    answers: Vec<Vec<(OutputId, StateId)>>,
}

impl Nfsm {
    /// The machine of a listing.
    #[must_use]
    pub fn from_listing(listing: &MachineListing) -> Self {
        let ResolvedListing { names, initial, rows } = listing.resolve();
        Self::new(names, initial, rows)
    }

    /// The machine with these transitions, each counted once.
    pub fn new(
        names: MachineNames,
        initial: StateId,
        transitions: impl IntoIterator<Item = MealyTransition>,
    ) -> Self {
        let n_inputs = names.inputs.len();
        let mut answers = vec![Vec::new(); names.states.len() * n_inputs];
        for (from, input, output, next) in transitions {
            answers[from.index() * n_inputs + input.index()].push((output, next));
        }
        // Sorted and without duplicates: `check` and `state_after` rely on it.
        for answers in &mut answers {
            answers.sort_unstable();
            answers.dedup();
        }
        Self { names, initial, answers }
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

    /// All states.
    pub fn states(&self) -> impl DoubleEndedIterator<Item = StateId> + use<> {
        (0..self.names.states.len()).map(StateId::new)
    }

    /// All inputs.
    pub fn inputs(&self) -> impl DoubleEndedIterator<Item = InputId> + use<> {
        (0..self.names.inputs.len()).map(InputId::new)
    }

    /// `h(state, input)`: the outputs and next states, by output.
    #[must_use]
    pub fn answers(&self, state: StateId, input: InputId) -> &[(OutputId, StateId)] {
        &self.answers[state.index() * self.n_inputs() + input.index()]
    }

    /// All transitions, by state and input.
    pub fn transitions(&self) -> impl Iterator<Item = MealyTransition> {
        self.states().flat_map(move |state| {
            self.inputs().flat_map(move |input| {
                self.answers(state, input).iter().map(move |&(output, next)| (state, input, output, next))
            })
        })
    }

    /// The part that can be reached from the initial state.
    #[must_use]
    pub fn reachable_part(&self) -> Self {
        let answers = |state| self.inputs().flat_map(move |input| self.answers(state, input));
        let reached =
            ReachedStates::new(self.n_states(), self.initial, |state| answers(state).map(|&(_, next)| next));
        self.renumber_states(&reached.order, |state| reached.number_of(state))
    }

    /// The machine in which missing answers are filled as `completion` says.
    #[must_use]
    pub fn complete_with(&self, completion: &MachineCompletion) -> Self {
        let mut names = self.names.clone();
        let missing: Vec<(StateId, InputId)> = self
            .states()
            .flat_map(|state| self.inputs().map(move |input| (state, input)))
            .filter(|&(state, input)| self.answers(state, input).is_empty())
            .collect();
        if missing.is_empty() {
            return self.clone();
        }
        let (output, error) = names.add_completion(completion);
        let mut transitions: Vec<MealyTransition> = self.transitions().collect();
        transitions.extend(missing.into_iter().map(|(s, x)| (s, x, output, error.unwrap_or(s))));
        // The new state is in no list of missing answers; it answers everything with a loop.
        if let Some(error) = error {
            transitions.extend(self.inputs().map(|x| (error, x, output, error)));
        }
        Self::new(names, self.initial, transitions)
    }

    /// An observable machine with the same language: its states are the sets
    /// of states a trace may lead to.
    #[must_use]
    pub fn determinise(&self) -> Observable {
        let mut sets: IndexVec<StateId, Vec<StateId>> = IndexVec::new();
        let mut ids = FxHashMap::default();
        let start = vec![self.initial];
        ids.insert(start.clone(), sets.push(start));
        let mut transitions = Vec::new();
        let mut done = 0;
        // The power-set construction. `sets` is its own queue: what is behind `done` was found and not
        // expanded yet.
        while done < sets.len() {
            let from = StateId::new(done);
            done += 1;
            for input in self.inputs() {
                // One successor for each output, so the result is observable.
                for (output, set) in self.successors(&sets[from], input) {
                    let next = *ids.entry(set).or_insert_with_key(|set| sets.push(set.clone()));
                    transitions.push((from, input, output, next));
                }
            }
        }
        let name = |set: &Vec<StateId>| {
            let names: Vec<&str> = set.iter().map(|&state| self.names.states[state].as_str()).collect();
            if names.len() == 1 { names[0].to_owned() } else { format!("{{{}}}", names.join(",")) }
        };
        let names = MachineNames { states: sets.iter().map(name).collect(), ..self.names.clone() };
        Observable(Self::new(names, StateId::new(0), transitions))
    }

    /// Returns the outputs of a set of states, each with the states after it.
    fn successors(&self, set: &[StateId], input: InputId) -> Vec<(OutputId, Vec<StateId>)> {
        let mut all: Vec<(OutputId, StateId)> =
            set.iter().flat_map(|&state| self.answers(state, input)).copied().collect();
        // By output, then by state: equal sets become equal lists, and get one id.
        all.sort_unstable();
        all.dedup();
        all.chunk_by(|a, b| a.0 == b.0)
            .map(|group| (group[0].0, group.iter().map(|&(_, state)| state).collect()))
            .collect()
    }

    /// The machine whose state `i` is `order[i]`, with targets mapped by `number`.
    fn renumber_states(&self, order: &[StateId], number: impl Fn(StateId) -> Option<StateId>) -> Self {
        let mut names = self.names.clone();
        names.states = order.iter().map(|&state| self.names.states[state].clone()).collect();
        let mut transitions = Vec::new();
        for (i, &state) in order.iter().enumerate() {
            for input in self.inputs() {
                for &(output, next) in self.answers(state, input) {
                    transitions.extend(number(next).map(|next| (StateId::new(i), input, output, next)));
                }
            }
        }
        Self::new(names, number(self.initial).unwrap_or(self.initial), transitions)
    }
}

impl From<&Mealy> for Nfsm {
    fn from(machine: &Mealy) -> Self {
        let transitions = machine.states().flat_map(|state| {
            let edge =
                move |input| machine.edge(state, input).map(|edge| (state, input, edge.output, edge.next));
            machine.inputs().filter_map(edge)
        });
        Self::new(machine.names().clone(), machine.initial(), transitions)
    }
}

/// A machine in which state, input and output determine the next state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Observable(Nfsm);

impl Observable {
    /// Checks `machine`; the error names the first state, input and output with two successors.
    pub fn check(machine: Nfsm) -> Result<Self, MachineRefusal> {
        for state in machine.states() {
            for input in machine.inputs() {
                // Answers are sorted, so two with one output stand side by side.
                let twice = |pair: &[(OutputId, StateId)]| pair[0].0 == pair[1].0;
                if let Some(pair) = machine.answers(state, input).windows(2).find(|pair| twice(pair)) {
                    let MachineNames { states, inputs, outputs } = &machine.names;
                    return Err(MachineRefusal::NotObservable {
                        state: states[state].clone(),
                        input: inputs[input].clone(),
                        output: outputs[pair[0].0].clone(),
                    });
                }
            }
        }
        Ok(Self(machine))
    }

    /// The machine as an [`Nfsm`], without the guarantee that it is observable.
    #[must_use]
    pub fn as_nfsm(&self) -> &Nfsm {
        &self.0
    }

    /// The names of states, inputs and outputs.
    #[must_use]
    pub fn names(&self) -> &MachineNames {
        &self.0.names
    }

    /// The state after reset.
    #[must_use]
    pub fn initial(&self) -> StateId {
        self.0.initial
    }

    /// Returns the number of states, reachable or not.
    #[must_use]
    pub fn n_states(&self) -> usize {
        self.0.n_states()
    }

    /// All states.
    pub fn states(&self) -> impl DoubleEndedIterator<Item = StateId> + use<> {
        self.0.states()
    }

    /// All inputs.
    pub fn inputs(&self) -> impl DoubleEndedIterator<Item = InputId> + use<> {
        self.0.inputs()
    }

    /// The outputs of `state` for `input` with the state each leads to, by output.
    #[must_use]
    pub fn answers(&self, state: StateId, input: InputId) -> &[(OutputId, StateId)] {
        self.0.answers(state, input)
    }

    /// `h^y(state, x)`: the one state entered with that output, if it can be given.
    #[must_use]
    pub fn state_after(&self, state: StateId, input: InputId, output: OutputId) -> Option<StateId> {
        let answers = self.answers(state, input);
        answers.binary_search_by_key(&output, |&(y, _)| y).ok().map(|at| answers[at].1)
    }

    /// Checks that every state answers every input; the error names the first state and input without an answer.
    pub fn check_complete(&self) -> Result<(), MachineRefusal> {
        for state in self.states() {
            if let Some(input) = self.inputs().find(|&input| self.answers(state, input).is_empty()) {
                return Err(MachineRefusal::NotComplete {
                    state: self.names().states[state].clone(),
                    input: self.names().inputs[input].clone(),
                });
            }
        }
        Ok(())
    }

    /// The reachable part with states of equal language merged.
    #[must_use]
    pub fn merge_equivalent_states(&self) -> Self {
        let machine = self.0.reachable_part();
        let n_outputs = machine.names.outputs.len();
        let offered = |state: usize| -> Vec<OutputId> {
            let state = StateId::new(state);
            let outputs = |input| {
                // A mark behind the outputs of each input. Without it, an output for the first input and none
                // for the second would look like none and one.
                let end = OutputId::new(n_outputs);
                machine.answers(state, input).iter().map(|&(y, _)| y).chain([end])
            };
            machine.inputs().flat_map(outputs).collect()
        };
        let groups = partition::group_by(machine.n_states(), offered);
        let view = Self(machine);
        let classes =
            // Input and output together are one letter: in an observable machine it has at most one
            // successor, so the refinement of deterministic machines does.
            partition::refine_until_stable(groups, view.0.n_inputs() * n_outputs, |state, letter| {
                let (input, output) = (InputId::new(letter / n_outputs), OutputId::new(letter % n_outputs));
                view.state_after(StateId::new(state), input, output).map(Idx::index)
            });
        let order = partition::first_of_each(&classes);
        Self(view.0.renumber_states(&order, |state| Some(StateId::new(classes[state.index()]))))
    }
}
