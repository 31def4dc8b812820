//! A system whose states are numbered as they are met (\[AT15] Def. 2.2: a labelled transition system).
//!
//! A third way to follow concrete states, after the monitor and replay (`symex/monitor/concrete.rs` has the table).
//! This one visits every state of both systems many times, in sets that overlap: so states and labels are numbers and
//! steps are kept. It asks no solver, and what cannot be evaluated ends it, as a set that lacks states would prove
//! nothing.
//!
//! Of the states after a trace only those are kept that internal steps independent of all others lead to
//! ([`LoneSteps`]): they show everything that the others show.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::{FxHashMap, FxHashSet};

use ioxide_model::concrete::{self, ConcreteState};
use ioxide_model::label::Label;
use ioxide_model::sts::{GateId, GateKind, Sts, SwitchId};
use ioxide_model::term::TermPool;
use ioxide_smt::halt::Halt;
use ioxide_symex::LoneSteps;

use super::free::{FreeFields, FreeValues};
use super::offer::MessageList;
use super::{EnumerationGivenUp, MetLabels};
use crate::conform::product::InputCompletion;

/// The number of new states between two looks at the halt. Chosen by feel: often enough to end in time, seldom enough
/// to cost nothing.
pub const STATES_PER_LOOK: usize = 1_000;

/// A set of states after a trace: their numbers, in order.
pub type StateSet = Vec<usize>;

/// The internal steps and outputs of a state, as numbers of labels and of states; those outputs that are listed,
/// whatever the other states of its set.
#[derive(Clone, Default)]
struct OwnSteps {
    internal: Vec<usize>,
    outputs: Vec<(usize, usize)>,
}

/// The lone steps of a system.
enum LoneStepIndex {
    /// Made when it is needed.
    NotMade,
    Made(Box<LoneSteps>),
    /// The system has none, or none is to be used.
    Without,
}

/// The representatives that a set of states is looked at with, by gate of the specification and position of the field.
pub type OpenValues = FreeValues;

/// One of two systems, its states numbered as they are met. Labels have the gates of the specification.
pub struct EnumeratedSide<'w> {
    sts: &'w Sts,
    /// The gate of this system for each gate of the specification that it has.
    gates: BTreeMap<GateId, GateId>,
    /// The gate of the specification for each gate of this system.
    outside: BTreeMap<GateId, GateId>,
    messages: FxHashMap<SwitchId, Option<MessageList>>,
    /// For each gate of the specification, the fields that take representatives.
    open: BTreeMap<GateId, Vec<bool>>,
    states: Vec<ConcreteState>,
    numbers: FxHashMap<ConcreteState, usize>,
    own: Vec<Option<OwnSteps>>,
    /// The inputs that each state mentions, each with a state after it.
    mentioned: Vec<Option<Vec<(usize, usize)>>>,
    /// The states after one input in one state.
    answers: FxHashMap<(usize, usize), Vec<usize>>,
    max_states: usize,
    halt: Halt,
    /// True if fields of many values take a few of them.
    is_sampled: bool,
    lone: LoneStepIndex,
    /// The state that stands for each state, where that is known.
    settled: Vec<Option<usize>>,
    /// The number of guards evaluated so far.
    pub evaluated: usize,
}

impl<'w> EnumeratedSide<'w> {
    /// Makes a side; `gates` are pairs of a gate of the specification and the gate of this system.
    pub fn new(sts: &'w Sts, gates: impl IntoIterator<Item = (GateId, GateId)>, max_states: usize) -> Self {
        let gates: BTreeMap<GateId, GateId> = gates.into_iter().collect();
        let outside = gates.iter().map(|(&spec, &own)| (own, spec)).collect();
        Self {
            sts,
            gates,
            outside,
            messages: FxHashMap::default(),
            open: BTreeMap::new(),
            states: Vec::new(),
            numbers: FxHashMap::default(),
            own: Vec::new(),
            mentioned: Vec::new(),
            answers: FxHashMap::default(),
            max_states,
            halt: Halt::default(),
            is_sampled: false,
            lone: LoneStepIndex::NotMade,
            settled: Vec::new(),
            evaluated: 0,
        }
    }

    /// Lets the fields of `free` take representatives; without this, every message is listed.
    #[must_use]
    pub fn with_free(mut self, free: &FreeFields) -> Self {
        let fields = |own: GateId| self.sts.gates[own].fields.len();
        self.open =
            self.gates.iter().map(|(&gate, &own)| (gate, free.open_flags(gate, fields(own)))).collect();
        self
    }

    /// Ends the enumeration once `halt` says so, also within a closure under internal steps.
    #[must_use]
    pub fn with_halt(self, halt: Halt) -> Self {
        Self { halt, ..self }
    }

    /// Lets fields of many values take a few of them.
    #[must_use]
    pub fn with_samples(self) -> Self {
        Self { is_sampled: true, ..self }
    }

    /// Keeps all states that internal steps lead to.
    #[must_use]
    pub fn without_reduction(self) -> Self {
        Self { lone: LoneStepIndex::Without, ..self }
    }

    /// Returns the number of states found so far.
    #[must_use]
    pub fn count_states(&self) -> usize {
        self.states.len()
    }

    /// The states with these numbers.
    pub fn states_of(&self, numbers: &StateSet) -> Vec<&ConcreteState> {
        numbers.iter().map(|&at| &self.states[at]).collect()
    }

    /// The number of a state, a new one where it was not met before.
    ///
    /// # Errors
    /// If there are too many states.
    pub fn number_of(&mut self, state: ConcreteState) -> Result<usize, EnumerationGivenUp> {
        if let Some(&known) = self.numbers.get(&state) {
            return Ok(known);
        }
        let is_due = self.states.len() % STATES_PER_LOOK == STATES_PER_LOOK - 1;
        if self.states.len() >= self.max_states || is_due && self.halt.halt_reason().is_some() {
            return Err(EnumerationGivenUp);
        }
        // `states`, `own`, `mentioned` and `settled` are indexed by the number of a state and grow together.
        self.states.push(state.clone());
        self.own.push(None);
        self.mentioned.push(None);
        self.settled.push(None);
        self.numbers.insert(state, self.states.len() - 1);
        debug_assert!(self.states.len() == self.own.len() && self.own.len() == self.mentioned.len());
        Ok(self.states.len() - 1)
    }

    /// Returns the initial states, closed under internal steps; an error if an initial value is unknown.
    pub fn initial_states(
        &mut self,
        pool: &TermPool,
        labels: &mut MetLabels,
    ) -> Result<StateSet, EnumerationGivenUp> {
        let start = concrete::initial_state(pool, self.sts).ok_or(EnumerationGivenUp)?;
        let start = self.number_of(start)?;
        self.close_internally(pool, labels, [start].into())
    }

    /// The messages of a switch.
    fn list(&mut self, pool: &TermPool, switch: SwitchId) -> Result<MessageList, EnumerationGivenUp> {
        let sts = self.sts;
        let step = &sts.switches[switch];
        let open = self.outside.get(&step.gate).and_then(|gate| self.open.get(gate));
        let open = open.map_or(&[][..], Vec::as_slice);
        let make = if self.is_sampled { MessageList::sampled } else { MessageList::new };
        let list = self.messages.entry(switch).or_insert_with(|| make(pool, sts, step, open));
        list.clone().ok_or(EnumerationGivenUp)
    }

    /// Returns the messages of `switch` that are enabled in a state, each with the state after it.
    fn take_switch(
        &mut self,
        pool: &TermPool,
        labels: &mut MetLabels,
        at: usize,
        switch: SwitchId,
        values: &OpenValues,
    ) -> Result<Vec<(usize, usize)>, EnumerationGivenUp> {
        let sts = self.sts;
        let list = self.list(pool, switch)?;
        let state = self.states[at].clone();
        let step = &sts.switches[switch];
        let gate = self.outside.get(&step.gate).copied();
        let open = |at: usize| values.get(&(gate?, at)).map(Vec::as_slice);
        let mut found = Vec::new();
        // A guard may fix a field to a value outside its range; such a message does not exist.
        for values in list.in_state(pool, &state, open).ok_or(EnumerationGivenUp)? {
            if !sts.gates[step.gate]
                .fields
                .iter()
                .zip(&values)
                .all(|(&field, value)| pool.has_sort(value, pool.var_info(field).sort))
            {
                continue;
            }
            // The unit of the budget: guards are what enumeration spends its time on.
            self.evaluated += 1;
            if !concrete::is_enabled(pool, sts, &state, step, &values).map_err(|_| EnumerationGivenUp)? {
                continue;
            }
            let to = concrete::successor(pool, sts, &state, step, &values).map_err(|_| EnumerationGivenUp)?;
            let to = self.number_of(to)?;
            // Labels are numbered in the gates of the specification, so that both sides share their numbers.
            let gate = *self.outside.get(&step.gate).ok_or(EnumerationGivenUp)?;
            let label = match sts.kind_of(step) {
                GateKind::Output => Label::Output(gate, values),
                GateKind::Input | GateKind::Observed | GateKind::Internal => Label::Input(gate, values),
            };
            found.push((labels.number_of(label), to));
        }
        Ok(found)
    }

    /// Returns the switches of a state whose gate is of a wanted kind.
    fn switches_of(&self, at: usize, wanted: impl Fn(GateKind) -> bool) -> Vec<SwitchId> {
        let from = self.sts.switches_from(self.states[at].loc);
        from.filter(|(_, switch)| wanted(self.sts.kind_of(switch))).map(|(id, _)| id).collect()
    }

    /// Returns the internal steps and outputs of a state, computed once.
    fn own_steps(
        &mut self,
        pool: &TermPool,
        labels: &mut MetLabels,
        at: usize,
    ) -> Result<&OwnSteps, EnumerationGivenUp> {
        if self.own[at].is_none() {
            let state = self.states[at].clone();
            let mut own = OwnSteps::default();
            for next in
                concrete::internal_successors(pool, self.sts, &state).map_err(|_| EnumerationGivenUp)?
            {
                let to = self.number_of(next.state)?;
                own.internal.push(self.settle(pool, to)?);
            }
            for switch in self.switches_of(at, |kind| kind == GateKind::Output) {
                // Open switches depend on the representatives of the pair and cannot be kept per state.
                if !self.list(pool, switch)?.is_open() {
                    own.outputs.extend(self.take_switch(pool, labels, at, switch, &OpenValues::new())?);
                }
            }
            self.own[at] = Some(own);
        }
        self.own[at].as_ref().ok_or(EnumerationGivenUp)
    }

    /// Returns the state that stands for a state: the one that its lone steps lead to, the least one of a circle.
    fn settle(&mut self, pool: &TermPool, at: usize) -> Result<usize, EnumerationGivenUp> {
        let mut passed: Vec<usize> = Vec::new();
        let mut on_the_way: FxHashSet<usize> = FxHashSet::default();
        let mut at = at;
        let found = loop {
            if let Some(known) = self.settled[at] {
                break known;
            }
            if !on_the_way.insert(at) {
                // All states of a circle of lone steps are followed by the same runs; the one that stands for them has
                // all its steps, and is not stable.
                let circle = passed.iter().skip_while(|&&other| other != at);
                break circle.copied().min().unwrap_or(at);
            }
            passed.push(at);
            match self.lone_successor(pool, at)? {
                Some(next) => at = next,
                None => break at,
            }
        };
        for at in passed {
            self.settled[at] = Some(found);
        }
        Ok(found)
    }

    /// Returns the state after a lone step; `None` if there is no such step.
    fn lone_successor(&mut self, pool: &TermPool, at: usize) -> Result<Option<usize>, EnumerationGivenUp> {
        if matches!(self.lone, LoneStepIndex::NotMade) {
            let made = LoneSteps::new(pool, self.sts);
            self.lone = made.map_or(LoneStepIndex::Without, |steps| LoneStepIndex::Made(Box::new(steps)));
        }
        let LoneStepIndex::Made(lone) = &mut self.lone else { return Ok(None) };
        let (state, before) = (&self.states[at], lone.evaluated);
        let found = lone.lone_switch(pool, self.sts, state);
        self.evaluated += lone.evaluated - before;
        let Some(id) = found else { return Ok(None) };
        let next = concrete::successor(pool, self.sts, state, &self.sts.switches[id], &[]);
        self.number_of(next.map_err(|_| EnumerationGivenUp)?).map(Some)
    }

    fn mentioned_inputs(
        &mut self,
        pool: &TermPool,
        labels: &mut MetLabels,
        at: usize,
    ) -> Result<&[(usize, usize)], EnumerationGivenUp> {
        if self.mentioned[at].is_none() {
            let mut found = Vec::new();
            for switch in self.switches_of(at, GateKind::is_input) {
                if !self.list(pool, switch)?.is_open() {
                    found.extend(self.take_switch(pool, labels, at, switch, &OpenValues::new())?);
                }
            }
            self.mentioned[at] = Some(found);
        }
        self.mentioned[at].as_deref().ok_or(EnumerationGivenUp)
    }

    /// Returns the messages of a state that have representatives, each with the state after it. They depend on the
    /// other states of the pair, so they are computed again.
    fn represented_messages(
        &mut self,
        pool: &TermPool,
        labels: &mut MetLabels,
        at: usize,
        wanted: impl Fn(GateKind) -> bool,
        values: &OpenValues,
    ) -> Result<Vec<(usize, usize)>, EnumerationGivenUp> {
        let mut found = Vec::new();
        if values.is_empty() {
            return Ok(found);
        }
        for switch in self.switches_of(at, wanted) {
            if self.list(pool, switch)?.is_open() {
                found.extend(self.take_switch(pool, labels, at, switch, values)?);
            }
        }
        Ok(found)
    }

    /// Returns the states after an input in a state; empty if no switch accepts it.
    fn states_after_input(
        &mut self,
        pool: &TermPool,
        labels: &MetLabels,
        at: usize,
        label: usize,
    ) -> Result<Vec<usize>, EnumerationGivenUp> {
        if let Some(known) = self.answers.get(&(at, label)) {
            return Ok(known.clone());
        }
        let mut found = Vec::new();
        if let Label::Input(gate, values) = labels.label(label)
            && let Some(&gate) = self.gates.get(gate)
        {
            self.evaluated += 1;
            let input = Label::Input(gate, values.clone());
            let next = concrete::successors(pool, self.sts, &self.states[at], &input)
                .map_err(|_| EnumerationGivenUp)?;
            for successor in next {
                found.push(self.number_of(successor.state)?);
            }
        }
        // Kept also if empty: "not accepted" is asked for as often.
        self.answers.insert((at, label), found.clone());
        Ok(found)
    }

    fn close_internally(
        &mut self,
        pool: &TermPool,
        labels: &mut MetLabels,
        states: BTreeSet<usize>,
    ) -> Result<StateSet, EnumerationGivenUp> {
        let states = states.into_iter().map(|at| self.settle(pool, at)).collect::<Result<_, _>>()?;
        // The limit is on the states that have a number, whatever set they are in.
        let closed = concrete::close_under(states, usize::MAX, |&at| {
            Ok(self.own_steps(pool, labels, at)?.internal.clone())
        })?;
        Ok(closed.states.into_iter().collect())
    }

    fn all_closed<K: Ord>(
        &mut self,
        pool: &TermPool,
        labels: &mut MetLabels,
        reached: BTreeMap<K, BTreeSet<usize>>,
    ) -> Result<BTreeMap<K, StateSet>, EnumerationGivenUp> {
        reached.into_iter().map(|(label, to)| Ok((label, self.close_internally(pool, labels, to)?))).collect()
    }

    /// The outputs of some states, and silence as no label, each with the states after it.
    pub fn reactions(
        &mut self,
        pool: &TermPool,
        labels: &mut MetLabels,
        states: &StateSet,
        values: &OpenValues,
    ) -> Result<BTreeMap<Option<usize>, StateSet>, EnumerationGivenUp> {
        let mut reached: BTreeMap<Option<usize>, BTreeSet<usize>> = BTreeMap::new();
        for &at in states {
            let more =
                self.represented_messages(pool, labels, at, |kind| kind == GateKind::Output, values)?;
            let own = self.own_steps(pool, labels, at)?;
            // Quiescent: neither an internal step nor an output. The state itself is the state after silence.
            if own.internal.is_empty() && own.outputs.is_empty() && more.is_empty() {
                reached.entry(None).or_default().insert(at);
            }
            for &(label, to) in own.outputs.iter().chain(&more) {
                reached.entry(Some(label)).or_default().insert(to);
            }
        }
        self.all_closed(pool, labels, reached)
    }

    /// The inputs some states mention, each with the states after it.
    pub fn inputs(
        &mut self,
        pool: &TermPool,
        labels: &mut MetLabels,
        states: &StateSet,
        values: &OpenValues,
    ) -> Result<BTreeMap<usize, StateSet>, EnumerationGivenUp> {
        let mut reached: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
        for &at in states {
            let more = self.represented_messages(pool, labels, at, GateKind::is_input, values)?;
            for &(label, to) in self.mentioned_inputs(pool, labels, at)?.iter().chain(&more) {
                reached.entry(label).or_default().insert(to);
            }
        }
        self.all_closed(pool, labels, reached)
    }

    /// Returns whether some state without internal steps does not accept the input.
    pub fn refuses(
        &mut self,
        pool: &TermPool,
        labels: &mut MetLabels,
        states: &StateSet,
        label: usize,
    ) -> Result<bool, EnumerationGivenUp> {
        for &at in states {
            // A state with an internal step refuses nothing yet: the state after that step, which is in the set too,
            // is asked instead.
            let stable = self.own_steps(pool, labels, at)?.internal.is_empty();
            if stable && self.states_after_input(pool, labels, at, label)?.is_empty() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns the states after an input, under `completion`.
    pub fn give_input(
        &mut self,
        pool: &TermPool,
        labels: &mut MetLabels,
        (states, label): (&StateSet, usize),
        completion: InputCompletion,
    ) -> Result<StateSet, EnumerationGivenUp> {
        let mut reached = BTreeSet::new();
        for &at in states {
            let accepted = self.states_after_input(pool, labels, at, label)?;
            let stable = self.own_steps(pool, labels, at)?.internal.is_empty();
            // Angelic completion: a stable state that does not take the input ignores it and stays.
            if accepted.is_empty() && stable && completion != InputCompletion::None {
                reached.insert(at);
            }
            reached.extend(accepted);
        }
        self.close_internally(pool, labels, reached)
    }
}
