//! The states between operations: interned, with every step computed once.
//!
//! A *belief* is a set of concrete states, kept by number; operations with the same messages are one *class*. A step
//! from a belief by a class is evaluated at most once, so the search works on numbers alone.
//!
//! *Promises.* Every state in a belief is possible. If some may be missing, [`StateSpace::lost`] says why; an order
//! that was found is right even then, the absence of one is not.

use std::collections::BTreeSet;
use std::fmt;
use std::rc::Rc;

use indexmap::IndexSet;
use rustc_hash::{FxBuildHasher, FxHashMap};

use ioxide_model::concrete::{self, ConcreteState};
use ioxide_model::index::IndexVec;
use ioxide_model::label::Label;
use ioxide_model::sort::Sort;
use ioxide_model::sts::{GateId, GateKind, LocId, Sts};
use ioxide_model::term::VarId;
use ioxide_model::value::Value;
use ioxide_smt::solver::SolverAnswer;
use ioxide_symex::{Ctx, SwitchOffer, list_offers};

use crate::sequential::SequentialModel;

/// The greatest number of states in a belief. Chosen by feel: it bounds the memory; beyond it no failure is claimed
/// ([`LostCause::States`]).
const MAX_BELIEF_STATES: usize = 4096;

/// The greatest number of different answers that are tried for an operation whose answer is not known. Chosen by feel:
/// it bounds the time; beyond it no failure is claimed ([`LostCause::Answers`]).
const MAX_ANSWERS: usize = 32;

/// The bytes that a state takes, roughly: states share most of what their collections hold. Measured with queues of
/// some dozen items.
const STATE_BYTES: usize = 600;

/// A set of states, by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BeliefId(u32);

impl BeliefId {
    /// No state: the step is not possible.
    pub const EMPTY: Self = Self(0);
    /// The model does not mention the input: everything is allowed from here on.
    pub const UNSPECIFIED: Self = Self(1);
}

/// Operations with the same messages, by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OperationClassId(u32);

/// The messages of an operation; the answer of an open operation is not known.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct OperationClass {
    /// The input.
    pub input: Label,
    /// The output that answered it.
    pub output: Option<Label>,
}

/// The reason why states may be missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LostCause {
    /// A guard or an update could not be evaluated.
    Evaluation,
    /// There are more states than the limit.
    States,
    /// There are more possible answers of an open operation than the limit, or the solver could not tell them.
    Answers,
}

impl fmt::Display for LostCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Evaluation => f.write_str("a guard or an update of the model could not be evaluated"),
            Self::States => write!(f, "the model may be in more than {MAX_BELIEF_STATES} states"),
            Self::Answers => {
                write!(f, "an operation without an answer may have had more than {MAX_ANSWERS} answers")
            }
        }
    }
}

/// The states of one sequential model, and the steps between them.
pub struct StateSpace<'c, 'm> {
    cx: &'c mut Ctx<'m>,
    model: &'c SequentialModel,
    states: IndexSet<ConcreteState, FxBuildHasher>,
    beliefs: IndexSet<Box<[u32]>, FxBuildHasher>,
    classes: IndexSet<Rc<OperationClass>, FxBuildHasher>,
    places: IndexVec<LocId, PlaceFacts>,
    pure: Vec<bool>,
    /// True for classes after which the state of their part is always the same.
    overwriting: Vec<bool>,
    overwriting_gates: BTreeSet<(GateId, GateId)>,
    steps: FxHashMap<(BeliefId, OperationClassId), BeliefId>,
    /// The states after an operation of a class from one state.
    state_steps: FxHashMap<(u32, OperationClassId), StateStep>,
    start: BeliefId,
    lost: Option<LostCause>,
    saw_unspecified: bool,
}

/// The states after an operation from one state; `None` if the model does not mention the input there.
type StateStep = Option<Rc<[u32]>>;

/// Facts about the states at a location.
struct PlaceFacts {
    /// True if an internal step may be possible.
    has_internal_steps: bool,
    /// The variables whose values cannot matter any more, and the values that stand for all of theirs.
    dead: Vec<(VarId, Value)>,
}

impl<'c, 'm> StateSpace<'c, 'm> {
    /// Makes the space with the initial states of the model.
    pub fn new(cx: &'c mut Ctx<'m>, model: &'c SequentialModel) -> Self {
        let places = cx.sts.locations.ids().map(|loc| PlaceFacts::of_location(cx, model, loc)).collect();
        let mut space = Self {
            cx,
            model,
            states: IndexSet::default(),
            beliefs: IndexSet::default(),
            classes: IndexSet::default(),
            places,
            pure: Vec::new(),
            overwriting: Vec::new(),
            overwriting_gates: BTreeSet::new(),
            steps: FxHashMap::default(),
            state_steps: FxHashMap::default(),
            start: BeliefId::EMPTY,
            lost: None,
            saw_unspecified: false,
        };
        // The numbers 0 and 1 are taken by the constants; no set of states can equal the second.
        space.beliefs.insert(Box::new([]));
        space.beliefs.insert(Box::new([u32::MAX]));
        debug_assert_eq!(space.beliefs.len(), 2, "the constants are the first two beliefs");
        let initial = concrete::initial_state(space.cx.pool, space.cx.sts);
        let closed = space.close_under_steps(initial.into_iter().collect());
        space.start = space.intern_belief(&closed);
        space
    }

    /// Tells which operations, by their messages, leave nothing of the state of the part that is judged.
    #[must_use]
    pub(crate) fn with_overwriting(self, overwriting_gates: BTreeSet<(GateId, GateId)>) -> Self {
        debug_assert!(self.classes.is_empty(), "classes are looked at when they are interned");
        Self { overwriting_gates, ..self }
    }

    /// Returns whether operations of this class are possible in every state of their part or in none, and always lead
    /// to the same.
    #[must_use]
    pub(crate) fn is_overwriting(&self, id: OperationClassId) -> bool {
        self.overwriting[id.0 as usize]
    }

    /// Returns whether all operations with these messages are overwriting.
    fn overwrites(&self, input: Option<GateId>, output: Option<GateId>) -> bool {
        let gates = &self.overwriting_gates;
        match (input, output) {
            (Some(input), Some(output)) => gates.contains(&(input, output)),
            // Without an answer, any path of the input may have been taken.
            (Some(input), None) => {
                let mut paths = self.model.paths.iter().filter(|path| path.input == input);
                paths.all(|path| gates.contains(&(path.input, path.output)))
            }
            (None, _) => false,
        }
    }

    /// Returns the belief before the first operation.
    #[must_use]
    pub fn start(&self) -> BeliefId {
        self.start
    }

    /// Returns the context of the model.
    pub fn cx(&mut self) -> &mut Ctx<'m> {
        self.cx
    }

    /// Returns the model.
    #[must_use]
    pub fn model(&self) -> &'c SequentialModel {
        self.model
    }

    /// Returns the reason why states may be missing, if they may.
    #[must_use]
    pub fn lost_cause(&self) -> Option<LostCause> {
        self.lost
    }

    /// Returns whether some step so far met an input that the model does not mention.
    #[must_use]
    pub fn saw_unspecified(&self) -> bool {
        self.saw_unspecified
    }

    /// Returns the number of an operation class.
    pub fn intern_class(&mut self, class: OperationClass) -> OperationClassId {
        let gates = (gate_of(&class.input), class.output.as_ref().and_then(gate_of));
        let (at, is_new) = self.classes.insert_full(Rc::new(class));
        if is_new {
            // A class without an answer may take any path of its input, so it is not known to be pure.
            let is_pure = matches!(gates, (Some(input), Some(output)) if self.model.is_pure(input, output));
            self.pure.push(is_pure);
            // A pure operation is placed at once, which is better.
            self.overwriting.push(!is_pure && self.overwrites(gates.0, gates.1));
        }
        OperationClassId(id_number(at))
    }

    /// Returns the messages of a class.
    #[must_use]
    pub fn class(&self, id: OperationClassId) -> &OperationClass {
        &self.classes[id.0 as usize]
    }

    /// Returns the class of the same input without an answer.
    pub fn open_class(&mut self, id: OperationClassId) -> OperationClassId {
        let input = self.class(id).input.clone();
        self.intern_class(OperationClass { input, output: None })
    }

    /// Returns whether operations of this class change no state, whichever it is.
    #[must_use]
    pub fn is_pure(&self, id: OperationClassId) -> bool {
        self.pure[id.0 as usize]
    }

    /// Returns the states of a belief.
    pub fn states(&self, belief: BeliefId) -> impl Iterator<Item = &ConcreteState> {
        let numbers = self.beliefs.get_index(belief.0 as usize).map_or(&[][..], |numbers| &**numbers);
        numbers.iter().filter_map(|&number| self.states.get_index(number as usize))
    }

    /// Returns the belief that holds the states of all `beliefs`; `None` if they are too many for one.
    pub fn unite(&mut self, beliefs: impl IntoIterator<Item = BeliefId>) -> Option<BeliefId> {
        let mut numbers = BTreeSet::new();
        for belief in beliefs {
            if belief == BeliefId::UNSPECIFIED {
                return Some(belief);
            }
            numbers.extend(self.beliefs[belief.0 as usize].iter().copied());
        }
        let numbers: Vec<u32> = numbers.into_iter().collect();
        (numbers.len() <= MAX_BELIEF_STATES).then(|| self.intern_belief(&numbers))
    }

    /// Returns the belief after an operation of `class`.
    pub fn step(&mut self, belief: BeliefId, class: OperationClassId) -> BeliefId {
        if belief == BeliefId::UNSPECIFIED {
            return belief;
        }
        if let Some(&next) = self.steps.get(&(belief, class)) {
            return next;
        }
        let next = match *self.beliefs[belief.0 as usize] {
            // From the empty belief no step leads anywhere, and that is not the same as an input that the model leaves
            // open.
            [] => BeliefId::EMPTY,
            // Most models are deterministic; then what is remembered of beliefs is enough.
            [state] => match self.compute_step(state, class) {
                Some(after) => self.intern_belief(&after),
                None => BeliefId::UNSPECIFIED,
            },
            ref many => {
                let many = many.to_vec();
                self.step_all(&many, class)
            }
        };
        self.saw_unspecified |= next == BeliefId::UNSPECIFIED;
        self.steps.insert((belief, class), next);
        next
    }

    /// Returns the belief after an operation of `class` in any of the states `numbers`.
    fn step_all(&mut self, numbers: &[u32], class: OperationClassId) -> BeliefId {
        let mut next = BTreeSet::new();
        let mut is_mentioned = false;
        for &state in numbers {
            if let Some(after) = self.state_step(state, class) {
                is_mentioned = true;
                next.extend(after.iter().copied());
            }
        }
        // ioco: an input is not specified if no state of the belief accepts it.
        let next: Vec<u32> = next.into_iter().collect();
        if is_mentioned { self.intern_belief(&next) } else { BeliefId::UNSPECIFIED }
    }

    /// Returns the answers that the model allows to `input` in a belief, as far as they are pinned down.
    pub fn allowed_answers(&mut self, belief: BeliefId, input: &Label) -> Vec<Label> {
        let before: Vec<ConcreteState> = self.states(belief).cloned().collect();
        let mut answers = BTreeSet::new();
        for state in before {
            let Ok(taken) = concrete::successors(self.cx.pool, self.cx.sts, &state, input) else { continue };
            for state in self.close_states(taken.into_iter().map(|step| step.state).collect()) {
                answers.extend(self.answers_of(&state));
            }
        }
        answers.into_iter().collect()
    }

    /// Returns the numbers of the states of a belief.
    pub(crate) fn state_numbers(&self, belief: BeliefId) -> Vec<u32> {
        match belief {
            BeliefId::UNSPECIFIED => Vec::new(),
            belief => self.beliefs[belief.0 as usize].to_vec(),
        }
    }

    /// Returns the state with this number.
    pub(crate) fn state_of(&self, number: u32) -> &ConcreteState {
        &self.states[number as usize]
    }

    /// Returns the number of a state.
    pub(crate) fn number_of(&mut self, state: ConcreteState) -> u32 {
        id_number(self.states.insert_full(state).0)
    }

    /// Returns the transition system.
    pub(crate) fn sts(&self) -> &'m Sts {
        self.cx.sts
    }

    /// Returns the sort of a field of a message.
    pub(crate) fn field_sort(&self, gate: GateId, field: usize) -> Sort {
        self.cx.pool.var_info(self.cx.sts.gates[gate].fields[field]).sort
    }

    /// Returns the states after an operation of `class` in one state.
    pub(crate) fn states_after(&mut self, state: u32, class: OperationClassId) -> Vec<u32> {
        self.state_step(state, class).map(|after| after.to_vec()).unwrap_or_default()
    }

    /// Returns every answer that the model allows to `input` in a state, and the states after it.
    pub(crate) fn answered_steps(&mut self, state: u32, input: &Label) -> Vec<(Label, Vec<u32>)> {
        let before = self.states[state as usize].clone();
        let mut found = Vec::new();
        for busy in self.take_label(&before, input).map(|busy| self.close_states(busy)).unwrap_or_default() {
            for answer in self.answers_of(&busy) {
                let answered = self.take_label(&busy, &answer).unwrap_or_default();
                found.push((answer, self.close_under_steps(answered)));
            }
        }
        found
    }

    /// Returns roughly the number of bytes that the space takes.
    pub(crate) fn memory(&self) -> usize {
        self.states.len() * STATE_BYTES
            + self.beliefs.len() * 64
            + self.steps.len() * 32
            + self.state_steps.len() * 48
    }

    fn state_step(&mut self, state: u32, class: OperationClassId) -> StateStep {
        if let Some(known) = self.state_steps.get(&(state, class)) {
            return known.clone();
        }
        let after = self.compute_step(state, class).map(Rc::from);
        self.state_steps.insert((state, class), after.clone());
        after
    }

    /// Returns the numbers of the states after an operation of `class` in one state, in order.
    fn compute_step(&mut self, state: u32, class: OperationClassId) -> Option<Vec<u32>> {
        let messages = Rc::clone(&self.classes[class.0 as usize]);
        let OperationClass { input, output } = &*messages;
        // An operation is its input, internal steps, its answer, and internal steps again: the model is idle before and
        // after (see `sequential`), so nothing else can come between.
        let busy = states_after_label(self.cx, &self.states[state as usize], input, &mut self.lost)?;
        let mut answered = Vec::new();
        for state in self.close_states(busy) {
            match output {
                Some(output) => answered.extend(self.take_label(&state, output).unwrap_or_default()),
                None => {
                    for answer in self.answers_of(&state) {
                        answered.extend(self.take_label(&state, &answer).unwrap_or_default());
                    }
                }
            }
        }
        Some(self.close_under_steps(answered))
    }

    /// Returns the states after `label`; `None` if no switch can be taken with it.
    fn take_label(&mut self, state: &ConcreteState, label: &Label) -> Option<Vec<ConcreteState>> {
        states_after_label(self.cx, state, label, &mut self.lost)
    }

    /// Returns the numbers of the states after any number of internal steps.
    fn close_under_steps(&mut self, states: Vec<ConcreteState>) -> Vec<u32> {
        let closed = self.close_states(states);
        let mut numbers: Vec<u32> = closed.into_iter().map(|state| self.number_of(state)).collect();
        numbers.sort_unstable();
        numbers.dedup();
        numbers
    }

    /// Returns the states after any number of internal steps.
    fn close_states(&mut self, mut states: Vec<ConcreteState>) -> Vec<ConcreteState> {
        states.iter_mut().for_each(|state| self.forget_dead(state));
        if !states.iter().any(|state| self.places[state.loc].has_internal_steps) {
            states.sort_unstable();
            states.dedup();
            return states;
        }
        let closed = match concrete::tau_closure(self.cx.pool, self.cx.sts, states.clone(), MAX_BELIEF_STATES)
        {
            Ok(closed) => {
                if closed.truncated {
                    self.lost = Some(LostCause::States);
                }
                closed.states
            }
            Err(_) => {
                self.lost = Some(LostCause::Evaluation);
                states.into_iter().collect()
            }
        };
        let mut closed: Vec<ConcreteState> = closed.into_iter().collect();
        closed.iter_mut().for_each(|state| self.forget_dead(state));
        closed
    }

    /// Replaces the values that cannot matter any more by others, so that states that differ in nothing else are one.
    fn forget_dead(&self, state: &mut ConcreteState) {
        for (var, value) in &self.places[state.loc].dead {
            state.values.set(*var, value.clone());
        }
    }

    /// Returns the belief with these states, whose numbers are in order.
    fn intern_belief(&mut self, mut numbers: &[u32]) -> BeliefId {
        debug_assert!(numbers.is_sorted(), "the numbers of a belief are in order");
        if numbers.len() > MAX_BELIEF_STATES {
            self.lost = Some(LostCause::States);
            numbers = &numbers[..MAX_BELIEF_STATES];
        }
        match self.beliefs.get_index_of(numbers) {
            Some(at) => BeliefId(id_number(at)),
            None => BeliefId(id_number(self.beliefs.insert_full(numbers.into()).0)),
        }
    }

    /// Returns the outputs that `state` allows. Where an output may have many values that lead to the same state, one
    /// of them stands for all.
    fn answers_of(&mut self, state: &ConcreteState) -> Vec<Label> {
        let offers = list_offers(self.cx, state, |kind| kind == GateKind::Output);
        offers.into_iter().flat_map(|offer| self.answers_of_offer(&offer)).collect()
    }

    fn answers_of_offer(&mut self, offer: &SwitchOffer) -> Vec<Label> {
        let sts = self.cx.sts;
        let fields = &sts.gates[offer.gate].fields;
        let facts = self.cx.pool.conjuncts(offer.when);
        let given = |field: &VarId| facts.iter().find_map(|&fact| self.cx.pool.value_given(fact, *field));
        // Most outputs say exactly what they carry, so that no question is asked.
        if let Some(values) = fields.iter().map(given).collect::<Option<Vec<Value>>>() {
            return vec![Label::Output(offer.gate, values)];
        }
        let update = &sts.switches[offer.switch].update;
        // Answers that lead to the same state need not be told apart: one of them stands for all.
        let matters = |field: &VarId| update.iter().any(|&(_, term)| self.cx.pool.mentions(term, *field));
        let does_matter = fields.iter().any(matters);
        let mut facts = facts;
        let mut answers = Vec::new();
        while answers.len() < MAX_ANSWERS {
            let found = match self.cx.check(&facts) {
                SolverAnswer::Sat(found) => found,
                SolverAnswer::Unsat => return answers,
                SolverAnswer::Unknown(_) => break,
            };
            let default = |field: &VarId| self.cx.pool.default_value(self.cx.pool.var_info(*field).sort);
            let value = |field: &VarId| found.get(*field).cloned().unwrap_or_else(|| default(field));
            let values: Vec<Value> = fields.iter().map(value).collect();
            if !does_matter {
                return vec![Label::Output(offer.gate, values)];
            }
            let pool = &mut *self.cx.pool;
            let equal = fields.iter().zip(&values).map(|(&field, value)| {
                let (field, value) = (pool.var(field), pool.value(value.clone()));
                pool.eq(field, value)
            });
            let equal: Vec<_> = equal.collect();
            let same = pool.and(equal);
            let other = pool.not(same);
            // The next answer must differ from all before it; the loop ends when the solver knows of no further one.
            facts.push(other);
            answers.push(Label::Output(offer.gate, values));
        }
        self.lost = Some(LostCause::Answers);
        answers
    }
}

/// Returns the states after `label`; `None` if no switch can be taken with it. If that could not be evaluated, states
/// may be missing.
fn states_after_label(
    cx: &Ctx<'_>,
    state: &ConcreteState,
    label: &Label,
    lost: &mut Option<LostCause>,
) -> Option<Vec<ConcreteState>> {
    match concrete::successors(cx.pool, cx.sts, state, label) {
        Ok(steps) if steps.is_empty() => None,
        Ok(steps) => Some(steps.into_iter().map(|step| step.state).collect()),
        Err(_) => {
            *lost = Some(LostCause::Evaluation);
            // It may be specified: what follows is not known, rather than everything allowed.
            Some(Vec::new())
        }
    }
}

impl PlaceFacts {
    fn of_location(cx: &Ctx<'_>, model: &SequentialModel, loc: LocId) -> Self {
        let is_internal = |kind| kind == GateKind::Internal;
        let has_internal_steps =
            cx.sts.switches_from(loc).any(|(_, switch)| is_internal(cx.sts.kind_of(switch)));
        let dead = cx.sts.vars.iter().filter(|var| !model.live.is_live(loc, var.var));
        let default = |var: VarId| cx.pool.default_value(cx.pool.var_info(var).sort);
        Self { has_internal_steps, dead: dead.map(|var| (var.var, default(var.var))).collect() }
    }
}

fn gate_of(label: &Label) -> Option<GateId> {
    match label {
        Label::Input(gate, _) | Label::Output(gate, _) => Some(*gate),
        Label::Quiescence | Label::Delay(_) => None,
    }
}

fn id_number(at: usize) -> u32 {
    u32::try_from(at).expect("fewer than 2^32 states, beliefs or classes")
}
