//! Sequential models: after each input, once internal steps are done, exactly one output answers it, and then the
//! model is idle again.
//!
//! The proof is by induction over operations. The values of the variables are arbitrary at an idle location; the only
//! assumption is that no output is enabled there, which is checked at the start and after every operation. Every path
//! of switches *input, internal steps, output, internal steps* is followed symbolically from there. The same paths say
//! what an operation reads and writes, so [`HistoryPartition`](crate::HistoryPartition) and the search use them as
//! well.
//!
//! *Promises.* A model that is accepted is sequential. A model that is refused may still be: its variables may never
//! have the values that speak against it, or a question was left open. The reason says which.

use std::collections::BTreeSet;
use std::fmt;

use rustc_hash::FxHashMap;

use ioxide_model::sts::{GateId, GateKind, LocId, Sts, SwitchId};
use ioxide_model::term::{Substitution, Term, VarId};
use ioxide_smt::solver::{SolverDecision, UnknownReason};
use ioxide_symex::{
    Ctx, LiveVars, PathCondition, Store, SwitchStep, SymState, can_react, decide_by_sizes,
    quiescence_condition, take_switch,
};

use crate::carried::CarriedFields;

/// The greatest number of internal steps in a row that are followed; more count as a loop. Chosen by feel: models that
/// people write have a few.
const MAX_INTERNAL_STEPS: usize = 16;

/// The greatest number of paths that are followed. Chosen by feel; models people write have some dozens.
const MAX_PATHS: usize = 20_000;

/// One way through an operation: an input, internal steps, the output, internal steps.
#[derive(Clone, Debug)]
pub struct OperationPath {
    /// The gate of the input.
    pub input: GateId,
    /// The gate of the output.
    pub output: GateId,
    /// The idle location before it.
    pub start: LocId,
    /// The idle location after it.
    pub end: LocId,
    /// The conditions under which it is taken, over the values before it and the fields of both messages.
    pub facts: Vec<Term>,
    /// The values after it.
    pub store: Store,
}

/// A model that was proved to be sequential.
#[derive(Clone, Debug)]
pub struct SequentialModel {
    /// Every path of every operation.
    pub paths: Vec<OperationPath>,
    /// The locations in which the model waits for an input.
    pub idle: BTreeSet<LocId>,
    /// The terms of the variables before an operation, in the order of the store.
    pub start: Store,
    /// The variables that can matter at each location.
    pub live: LiveVars,
    /// True if every input is accepted with all values in every idle state, as far as that could be proved.
    pub accepts_all_inputs: bool,
    /// The fields whose values no condition depends on.
    pub(crate) carried: CarriedFields,
    pure_operations: BTreeSet<(GateId, GateId)>,
}

/// The reason why a model is not shown to be sequential.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotSequential {
    /// The transition that breaks it, if it is one.
    pub switch: Option<SwitchId>,
    /// The rule that it breaks.
    pub rule: SequenceRule,
}

/// A rule of sequential models that is broken, or cannot be shown to hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SequenceRule {
    /// The model has clocks.
    Clocks,
    /// This variable has no value at the start.
    UnknownStart(VarId),
    /// An output comes before any input.
    OutputFirst,
    /// Another input is accepted before the answer.
    InputWhileBusy,
    /// After this input a state can be reached in which no output can come.
    NoAnswer,
    /// A second output can follow the answer.
    SecondOutput,
    /// Internal steps can go on without end, or for very long.
    InternalLoop,
    /// The solver left a question open.
    Undecided(UnknownReason),
    /// There are too many paths.
    TooManyPaths,
}

impl NotSequential {
    fn at_switch(switch: SwitchId, rule: SequenceRule) -> Self {
        Self { switch: Some(switch), rule }
    }

    /// Returns the reason as a sentence, with the name of the transition.
    #[must_use]
    pub fn describe(&self, cx: &Ctx<'_>) -> String {
        let place = self.switch.map(|id| {
            let switch = &cx.sts.switches[id];
            format!("transition `{}` from `{}`: ", switch.label, cx.sts.locations[switch.source].name)
        });
        let rule = match &self.rule {
            SequenceRule::UnknownStart(var) => {
                format!("variable `{}` has no initial value", cx.pool.var_info(*var).name)
            }
            rule => rule.to_string(),
        };
        format!("{}{rule}", place.unwrap_or_default())
    }
}

impl fmt::Display for SequenceRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Clocks => f.write_str("the model has clocks"),
            Self::UnknownStart(_) => f.write_str("a variable has no initial value"),
            Self::OutputFirst => f.write_str("this output can come without an input"),
            Self::InputWhileBusy => {
                f.write_str("this input is accepted before the previous input was answered")
            }
            Self::NoAnswer => f.write_str("after this input there may be no output"),
            Self::SecondOutput => {
                f.write_str("this output can follow the answer, so an input has two answers")
            }
            Self::InternalLoop => {
                write!(f, "there are loops, or more than {MAX_INTERNAL_STEPS} internal steps in a row")
            }
            Self::Undecided(why) => {
                write!(f, "the solver could not decide whether it breaks the rule: {why}")
            }
            Self::TooManyPaths => write!(f, "an operation has more than {MAX_PATHS} paths through the model"),
        }
    }
}

/// Proves that the model is sequential.
///
/// # Errors
/// Returns the rule that is broken, or not shown to hold, and the transition that breaks it.
pub fn prove_sequential(cx: &mut Ctx<'_>) -> Result<SequentialModel, NotSequential> {
    if cx.sts.is_timed() {
        return Err(NotSequential { switch: None, rule: SequenceRule::Clocks });
    }
    if let Some(var) = cx.sts.vars.iter().find(|var| var.init.is_none()) {
        return Err(NotSequential { switch: None, rule: SequenceRule::UnknownStart(var.var) });
    }
    let mut proof = SequenceProof::new(cx);
    proof.check_start(cx)?;
    // Ends: every location is idle for the first time at most once.
    while let Some(loc) = proof.todo.pop() {
        proof.follow_operations(cx, loc)?;
    }
    let live = LiveVars::compute(cx.pool, cx.sts, &[]);
    let accepts_all_inputs = proof.idle.iter().all(|&loc| accepts_all_inputs(cx, &proof.start, loc));
    let pure_operations = find_pure_operations(cx.sts, &proof.paths, &proof.start, &live);
    let SequenceProof { paths, idle, start, .. } = proof;
    // The analysis of carried fields reads the paths of the finished model, so they are put in last.
    let carried = CarriedFields::default();
    let mut model =
        SequentialModel { paths, idle, start, live, accepts_all_inputs, carried, pure_operations };
    model.carried = CarriedFields::find(cx, &model);
    Ok(model)
}

impl SequentialModel {
    /// Returns whether a condition of an operation with this input depends on the field `field` of the input.
    pub fn compares(&self, cx: &mut Ctx<'_>, input: GateId, field: VarId) -> bool {
        // The input is the first message of a path, so its fields have the number 1.
        let field = cx.pool.indexed_var(field, 1);
        let mut paths = self.paths.iter().filter(|path| path.input == input);
        paths.any(|path| path.facts.iter().any(|&fact| cx.pool.mentions(fact, field)))
    }

    /// Returns the positions of the fields of an input whose values are only stored and answered, so that its
    /// operations can be placed before it is known which of them is which.
    #[must_use]
    pub fn carried_fields(&self, input: GateId) -> &[usize] {
        self.carried.slots_of(input)
    }

    /// Returns whether an operation with these messages never changes the state, whatever the state and the values.
    #[must_use]
    pub fn is_pure(&self, input: GateId, output: GateId) -> bool {
        self.pure_operations.contains(&(input, output))
    }
}

/// The proof so far.
struct SequenceProof {
    /// The arbitrary values before an operation.
    start: Store,
    paths: Vec<OperationPath>,
    idle: BTreeSet<LocId>,
    todo: Vec<LocId>,
}

impl SequenceProof {
    /// Makes a proof without paths. Every variable and clock has a fresh name, so that it holds for all values.
    fn new(cx: &mut Ctx<'_>) -> Self {
        let vars: Vec<VarId> = cx.sts.stored_vars().collect();
        let names = vars.iter().map(|&var| {
            let name = cx.pool.indexed_var(var, 0);
            cx.pool.var(name)
        });
        let start = Store::new(names.collect());
        Self { start, paths: Vec::new(), idle: BTreeSet::new(), todo: Vec::new() }
    }

    /// Checks that nothing is sent before the first input.
    fn check_start(&mut self, cx: &mut Ctx<'_>) -> Result<(), NotSequential> {
        let initial = SymState::initial(cx);
        // The base of the induction; `follow_operations` is its step.
        let ends = settle(cx, initial, SequenceRule::OutputFirst, 0)?;
        ends.into_iter().for_each(|state| self.add_idle(state.loc));
        Ok(())
    }

    fn add_idle(&mut self, loc: LocId) {
        if self.idle.insert(loc) {
            self.todo.push(loc);
        }
    }

    /// Follows every operation from the idle location `loc`, whatever the values.
    fn follow_operations(&mut self, cx: &mut Ctx<'_>, loc: LocId) -> Result<(), NotSequential> {
        // The values are arbitrary, so this covers every idle state at `loc`, reachable or not: a model may be refused
        // for a state that never occurs, but none is accepted wrongly.
        let quiet = no_output(cx, &self.start, loc);
        let path: PathCondition =
            cx.pool.conjuncts(quiet).into_iter().filter(|&f| !cx.pool.is_true(f)).collect();
        let before = SymState { loc, store: self.start.clone(), path, depth: 0 };
        for (id, gate) in switches_at(cx.sts, loc, GateKind::is_input) {
            if let Some(state) = take_if_possible(cx, &before, id)? {
                self.follow_busy(cx, state, OperationStart { loc, gate, switch: id }, 0)?;
            }
        }
        Ok(())
    }

    /// Follows the ways from a state in which an input waits for its answer.
    fn follow_busy(
        &mut self,
        cx: &mut Ctx<'_>,
        state: SymState,
        start: OperationStart,
        steps: usize,
    ) -> Result<(), NotSequential> {
        if steps > MAX_INTERNAL_STEPS {
            return Err(NotSequential::at_switch(start.switch, SequenceRule::InternalLoop));
        }
        for (id, _) in switches_at(cx.sts, state.loc, GateKind::is_input) {
            if take_if_possible(cx, &state, id)?.is_some() {
                return Err(NotSequential::at_switch(id, SequenceRule::InputWhileBusy));
            }
        }
        // No input may be accepted before the answer (above), and the answer must come: some output or internal step is
        // enabled whatever the values are.
        check_answered(cx, &state, start.switch)?;
        for (id, gate) in switches_at(cx.sts, state.loc, |kind| kind == GateKind::Output) {
            let Some(answered) = take_if_possible(cx, &state, id)? else { continue };
            for end in settle(cx, answered, SequenceRule::SecondOutput, 0)? {
                self.add_path(start, gate, end)?;
            }
        }
        for (id, _) in switches_at(cx.sts, state.loc, |kind| kind == GateKind::Internal) {
            if let Some(next) = take_if_possible(cx, &state, id)? {
                self.follow_busy(cx, next, start, steps + 1)?;
            }
        }
        Ok(())
    }

    fn add_path(
        &mut self,
        start: OperationStart,
        output: GateId,
        end: SymState,
    ) -> Result<(), NotSequential> {
        if self.paths.len() >= MAX_PATHS {
            return Err(NotSequential::at_switch(start.switch, SequenceRule::TooManyPaths));
        }
        self.add_idle(end.loc);
        self.paths.push(OperationPath {
            input: start.gate,
            output,
            start: start.loc,
            end: end.loc,
            facts: end.path.facts().to_vec(),
            store: end.store,
        });
        Ok(())
    }
}

/// The input that began an operation.
#[derive(Clone, Copy)]
struct OperationStart {
    loc: LocId,
    gate: GateId,
    switch: SwitchId,
}

/// Returns the states after any number of internal steps, in none of which an output is enabled.
fn settle(
    cx: &mut Ctx<'_>,
    state: SymState,
    rule: SequenceRule,
    steps: usize,
) -> Result<Vec<SymState>, NotSequential> {
    for (id, _) in switches_at(cx.sts, state.loc, |kind| kind == GateKind::Output) {
        if take_if_possible(cx, &state, id)?.is_some() {
            return Err(NotSequential::at_switch(id, rule));
        }
    }
    let mut ends = Vec::new();
    for (id, _) in switches_at(cx.sts, state.loc, |kind| kind == GateKind::Internal) {
        if steps > MAX_INTERNAL_STEPS {
            return Err(NotSequential::at_switch(id, SequenceRule::InternalLoop));
        }
        if let Some(next) = take_if_possible(cx, &state, id)? {
            ends.extend(settle(cx, next, rule.clone(), steps + 1)?);
        }
    }
    // Internal steps need not be taken, so the state itself is an end too.
    ends.push(state);
    Ok(ends)
}

/// The switches from `loc` with gates of a kind that `want` accepts, and their gates.
fn switches_at(sts: &Sts, loc: LocId, want: impl Fn(GateKind) -> bool) -> Vec<(SwitchId, GateId)> {
    let here = sts.switches_from(loc).filter(|(_, switch)| want(sts.kind_of(switch)));
    here.map(|(id, switch)| (id, switch.gate)).collect()
}

/// Takes a switch; `None` if it is refuted.
fn take_if_possible(
    cx: &mut Ctx<'_>,
    state: &SymState,
    id: SwitchId,
) -> Result<Option<SymState>, NotSequential> {
    match take_switch(cx, state, id) {
        SwitchStep::Taken(next) => Ok(Some(next)),
        SwitchStep::Refuted => Ok(None),
        // An open question refuses the model: see the promises.
        SwitchStep::Doubtful(_, why) => Err(NotSequential::at_switch(id, SequenceRule::Undecided(why))),
    }
}

/// Checks that an output or an internal step is enabled in every state that `state` stands for.
fn check_answered(cx: &mut Ctx<'_>, state: &SymState, input: SwitchId) -> Result<(), NotSequential> {
    let stuck = quiescence_condition(cx, state.loc);
    let names = state.store.substitution(cx.sts);
    let stuck = cx.pool.substitute(stuck, &names);
    let mut facts = state.path.facts().to_vec();
    facts.push(stuck);
    match decide_by_sizes(cx, &facts) {
        SolverDecision::Unsat => Ok(()),
        SolverDecision::Sat => Err(NotSequential::at_switch(input, SequenceRule::NoAnswer)),
        SolverDecision::Unknown(why) => Err(NotSequential::at_switch(input, SequenceRule::Undecided(why))),
    }
}

/// Returns the formula that no output is enabled at `loc` with the values of `store`.
fn no_output(cx: &mut Ctx<'_>, store: &Store, loc: LocId) -> Term {
    let sts = cx.sts;
    let outputs = switches_at(sts, loc, |kind| kind == GateKind::Output);
    let enabled: Vec<Term> = outputs.into_iter().map(|(id, _)| can_react(cx, &sts.switches[id])).collect();
    let enabled = cx.pool.or(enabled);
    let quiet = cx.pool.not(enabled);
    let names = store.substitution(sts);
    cx.pool.substitute(quiet, &names)
}

/// Returns whether every input is accepted at `loc` with all values; false as well if the solver cannot tell.
fn accepts_all_inputs(cx: &mut Ctx<'_>, store: &Store, loc: LocId) -> bool {
    let sts = cx.sts;
    // A state with an internal step may move to one that accepts more; here that counts as not proved.
    if !switches_at(sts, loc, |kind| kind == GateKind::Internal).is_empty() {
        return false;
    }
    let quiet = no_output(cx, store, loc);
    let names: Substitution = store.substitution(sts);
    let inputs = sts.gates.iter_enumerated().filter(|(_, gate)| gate.kind.is_input()).map(|(id, _)| id);
    inputs.collect::<Vec<_>>().into_iter().all(|gate| {
        let here = sts.switches_from(loc).filter(|(_, switch)| switch.gate == gate);
        let guards: Vec<Term> = here.map(|(_, switch)| switch.guard).collect();
        let accepted = cx.pool.or(guards);
        let accepted = cx.pool.substitute(accepted, &names);
        let refused = cx.pool.not(accepted);
        decide_by_sizes(cx, &[quiet, refused]) == SolverDecision::Unsat
    })
}

/// Returns the pairs of input and output gates whose paths all leave location and live variables as they are.
fn find_pure_operations(
    sts: &Sts,
    paths: &[OperationPath],
    start: &Store,
    live: &LiveVars,
) -> BTreeSet<(GateId, GateId)> {
    let mut is_pure: FxHashMap<(GateId, GateId), bool> = FxHashMap::default();
    for path in paths {
        let mut values = path.store.iter(sts).zip(start.terms());
        let keeps = path.start == path.end
            && values.all(|((var, after), &before)| after == before || !live.is_live(path.end, var));
        // All paths of a pair must keep the state. A pair without paths never occurs, and is in no entry.
        *is_pure.entry((path.input, path.output)).or_insert(true) &= keeps;
    }
    let gates = || sts.gates.ids();
    let pairs = gates().flat_map(|input| gates().map(move |output| (input, output)));
    pairs.filter(|pair| is_pure.get(pair) == Some(&true)).collect()
}
