//! Finite models as machines.
//!
//! \[Sachtleben18]'s machines answer an input with an output; a transition system has both as labels of
//! their own. [`flatten`] reads an input, and all the system says until it is quiescent, as
//! one transition `x/y₁…yₙ`; saying nothing is the output `δ`. States of the machine are the
//! quiescent states of the model, so the machine describes what a tester sees that waits for
//! silence before every input. The front end goes the other way when it reads a machine as a model.
//!
//! *Promises.* A trace that waits for silence is one of the model exactly if it is one of the
//! machine, and every name of the machine stands for the labels in [`FlatModel`]. A model that is
//! not finite in this sense is refused with the reason; a question the solver leaves open is
//! such a reason, never an answer.

mod error;
mod reactions;
mod values;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use ioxide_fsm::mealy::{MachineListing, TransitionRow};
use ioxide_model::concrete::{self, ConcreteState, initial_state};
use ioxide_model::label::{Label, answer_name, input_name};
use ioxide_model::sts::GateKind;
use ioxide_symex::{Ctx, list_offers};

pub use self::error::NotFinite;
use self::reactions::{QuiescentReply, StateReplies};
use self::values::values;

/// The limits of flattening.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlattenLimits {
    /// The number of quiescent states.
    pub states: usize,
    /// The number of transitions of the machine.
    pub transitions: usize,
    /// The number of values of one message in one state, and of different answers of one state.
    pub values: usize,
    /// The number of outputs and internal steps after one input.
    pub reactions: usize,
}

impl Default for FlattenLimits {
    /// A hundred thousand states, two million transitions, a thousand values, 500 reactions.
    fn default() -> Self {
        Self { states: 100_000, transitions: 2_000_000, values: 1_000, reactions: 500 }
    }
}

/// A model as a machine.
#[derive(Clone, Debug)]
pub struct FlatModel {
    /// The machine in names.
    pub listing: MachineListing,
    /// The label of the model for each input of the machine.
    pub inputs: BTreeMap<String, Label>,
    /// The messages of the model for each output of the machine, in order.
    pub outputs: BTreeMap<String, Vec<Label>>,
    /// The outputs of the model before its first input.
    pub preamble: Vec<Label>,
}

/// Explores the quiescent states of the model of `cx`, and returns its machine.
///
/// # Errors
/// If the model has no finite machine, or none within `limits`.
pub fn flatten(cx: &mut Ctx<'_>, limits: &FlattenLimits) -> Result<FlatModel, NotFinite> {
    refuse_unsupported(cx)?;
    let start = initial_state(cx.pool, cx.sts).ok_or(NotFinite::NoValue { what: "the start".into() })?;
    let mut search = FlattenSearch {
        limits,
        answers: StateReplies::new(limits),
        names: BTreeMap::new(),
        todo: VecDeque::new(),
        flat: FlatModel {
            listing: MachineListing::default(),
            inputs: BTreeMap::new(),
            outputs: BTreeMap::new(),
            preamble: Vec::new(),
        },
    };
    search.add_initial_state(cx, &start)?;
    // Breadth first, so that states are listed in the order of their distance from the start.
    while let Some(state) = search.todo.pop_front() {
        let from = search.names[&state].clone();
        search.leave(cx, &from, &state)?;
    }
    if search.flat.inputs.is_empty() { Err(NotFinite::NoInput) } else { Ok(search.flat) }
}

/// Refuses models with clocks, with variables that have no initial value, or with observed inputs.
fn refuse_unsupported(cx: &Ctx<'_>) -> Result<(), NotFinite> {
    if cx.sts.is_timed() {
        return Err(NotFinite::Timed);
    }
    if let Some(var) = cx.sts.vars.iter().find(|var| var.init.is_none()) {
        return Err(NotFinite::UnknownAtStart { var: cx.pool.var_info(var.var).name.to_string() });
    }
    match cx.sts.gates.iter().find(|gate| gate.kind == GateKind::Observed) {
        Some(gate) => Err(NotFinite::ObservedInput { gate: gate.name.to_string() }),
        None => Ok(()),
    }
}

/// A breadth-first search over quiescent states.
struct FlattenSearch<'l> {
    limits: &'l FlattenLimits,
    answers: StateReplies<'l>,
    names: BTreeMap<ConcreteState, String>,
    todo: VecDeque<ConcreteState>,
    flat: FlatModel,
}

impl FlattenSearch<'_> {
    /// Makes the initial state of the machine from the quiescent states before the first input, and records the
    /// preamble.
    ///
    /// Several such states after the same outputs become one additional state, `start`, with the transitions of all.
    fn add_initial_state(&mut self, cx: &mut Ctx<'_>, start: &ConcreteState) -> Result<(), NotFinite> {
        let first = self.answers.replies_in(cx, start)?;
        let mut said = first.iter().map(|answer| answer.outputs.clone());
        self.flat.preamble = said.next().unwrap_or_default();
        // The machine has one preamble. States behind different outputs can be told apart before the first
        // input, so they cannot be one state.
        if said.any(|said| said != self.flat.preamble) {
            return Err(NotFinite::SeveralStarts);
        }
        if let [only] = &first[..] {
            self.flat.listing.initial = self.name_state(cx, &only.state)?;
            return Ok(());
        }
        let union = "start".to_owned();
        self.flat.listing.initial.clone_from(&union);
        self.flat.listing.states.push(union.clone());
        for answer in &first[..] {
            self.leave(cx, &union, &answer.state)?;
        }
        Ok(())
    }

    /// Adds the transitions that leave `state`, as those of the machine's state `from`.
    fn leave(&mut self, cx: &mut Ctx<'_>, from: &str, state: &ConcreteState) -> Result<(), NotFinite> {
        for label in self.inputs(cx, state)? {
            if let Some(halted) = cx.halt_reason() {
                return Err(NotFinite::Halted(halted));
            }
            let successors = concrete::successors(cx.pool, cx.sts, state, &label)
                .map_err(|_| NotFinite::NoValue { what: label.show(cx.pool, cx.sts) })?;
            // Several successors, or several answers, become several rows: the machine has the choices of the model.
            for successor in successors {
                for answer in self.answers.replies_in(cx, &successor.state)?.iter() {
                    self.transition(cx, from, &label, answer)?;
                }
            }
        }
        Ok(())
    }

    /// The inputs that the model mentions in `state`, by gate and value.
    fn inputs(&self, cx: &mut Ctx<'_>, state: &ConcreteState) -> Result<BTreeSet<Label>, NotFinite> {
        let mut labels = BTreeSet::new();
        for offer in list_offers(cx, state, |kind| kind == GateKind::Input) {
            for values in values(cx, &offer, self.limits.values)? {
                labels.insert(Label::Input(offer.gate, values));
            }
        }
        Ok(labels)
    }

    /// Records the answer to `label` in the state `from`.
    fn transition(
        &mut self,
        cx: &Ctx<'_>,
        from: &str,
        label: &Label,
        answer: &QuiescentReply,
    ) -> Result<(), NotFinite> {
        let input = input_name(cx.pool, cx.sts, label);
        let output = answer_name(cx.pool, cx.sts, &answer.outputs);
        let to = self.name_state(cx, &answer.state)?;
        // The limit is asked before the row is added, so that a model of exactly that size is accepted.
        if self.flat.listing.rows.len() >= self.limits.transitions {
            return Err(NotFinite::TooManyTransitions { limit: self.limits.transitions });
        }
        self.flat.inputs.entry(input.clone()).or_insert_with(|| label.clone());
        self.flat.outputs.entry(output.clone()).or_insert_with(|| answer.outputs.clone());
        self.flat.listing.rows.push(TransitionRow { from: from.to_owned(), input, output, to });
        Ok(())
    }

    /// Returns the name of a quiescent state; a state without a name gets one and is queued.
    fn name_state(&mut self, cx: &Ctx<'_>, state: &ConcreteState) -> Result<String, NotFinite> {
        if let Some(name) = self.names.get(state) {
            return Ok(name.clone());
        }
        if self.names.len() >= self.limits.states {
            return Err(NotFinite::TooManyStates { limit: self.limits.states });
        }
        // Named and queued at once: every state that has a name is expanded exactly once.
        let name = state_name(cx, state);
        self.names.insert(state.clone(), name.clone());
        self.flat.listing.states.push(name.clone());
        self.todo.push_back(state.clone());
        Ok(name)
    }
}

/// `idle(n = 3)`: location and values distinguish states.
fn state_name(cx: &Ctx<'_>, state: &ConcreteState) -> String {
    let location = &cx.sts.locations[state.loc].name;
    let value = |(var, value)| format!("{} = {}", cx.pool.var_info(var).name, cx.pool.show_value(value));
    let values: Vec<String> = state.values.iter().map(value).collect();
    if values.is_empty() { location.to_string() } else { format!("{location}({})", values.join(", ")) }
}
