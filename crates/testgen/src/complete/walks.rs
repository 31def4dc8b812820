//! Tests carried out on a faulty system and on the model at the same time.
//!
//! A test of a complete suite gives its inputs one after the other, each once the system is silent. A faulty system is
//! *surely killed* if every run of the test on it shows an output or a silence that the model forbids: a pair of a
//! state of the faulty system and the states that the model may be in is followed along every choice the faulty system
//! has. Values are known along a test, so states are concrete. Where a field of an output is free, the faulty system is
//! given the benefit of the doubt: it says what the model allows if there is such a value.
//!
//! Suites have up to millions of inputs, but few different situations: tests share their beginnings, so they are a tree
//! ([`TestTree`]), and what an input leads to depends only on the pairs before it, so it is computed once for each set
//! of pairs ([`PairSets`]). Where the faulty system is as the model is, a part of the tree in which the model never
//! takes the changed transition is skipped.

use std::collections::BTreeSet;
use std::rc::Rc;

use ioxide_model::concrete::{self, ConcreteState};
use ioxide_model::label::Label;
use ioxide_model::sts::{GateKind, Sts, Switch, SwitchId};
use ioxide_model::term::Term;
use ioxide_model::value::Value;
use ioxide_smt::halt::Halted;
use ioxide_smt::solver::{SolverAnswer, SolverDecision};
use ioxide_symex::{Ctx, Quiescence, SwitchOffer, is_quiescent, list_offers};
use rustc_hash::FxHashMap;

/// The greatest number of pairs between one input and the next. A model without choices has one per output. Chosen by
/// feel: where there are more, the test counts as one that does not kill.
const MAX_PAIRS: usize = 2_000;
/// The greatest number of states that internal steps lead to. Chosen by feel, as for pairs.
const MAX_INTERNAL: usize = 2_000;
/// The greatest number of different steps that are computed for one fault; nearly all faults of the random models of
/// the tests take fewer than a thousand. A fault that no test kills within it counts as one that no test kills.
const MAX_FAULT_STEPS: usize = 50_000;
/// The greatest number of different steps of the model that are kept; tests beyond them kill nothing. Each takes about
/// a kilobyte.
const MAX_MODEL_STEPS: usize = 200_000;
/// The time limit is asked once per this number of nodes: asking takes longer than going to a node does.
const NODES_PER_CHECK: usize = 4_096;

/// A state of a system, and the states that the model may be in.
type Pair = (ConcreteState, BTreeSet<ConcreteState>);

/// The run was not decided: too many pairs, or a value that is not known.
struct WalkDoubt;

/// The number of a set of pairs.
type SetId = u32;
/// The number of an input with values; [`START`] stands for the start of a test.
type LabelId = u32;
/// The number of a node of the tree; a node has a greater number than its parent.
type NodeId = usize;

/// The number of the start, which comes before the first input.
const START: LabelId = 0;
/// The start of every test.
const ROOT: NodeId = 0;

/// Sets of pairs by number.
#[derive(Debug, Default)]
struct PairSets {
    sets: Vec<Rc<BTreeSet<Pair>>>,
    numbers: FxHashMap<Rc<BTreeSet<Pair>>, SetId>,
}

impl PairSets {
    /// Returns the number of a set; a new one is added.
    fn insert(&mut self, pairs: BTreeSet<Pair>) -> SetId {
        // Equal sets have equal numbers, so a step from a set is computed once however many tests pass through it.
        if let Some(&number) = self.numbers.get(&pairs) {
            return number;
        }
        let number = SetId::try_from(self.sets.len()).expect("fewer sets than steps");
        let pairs = Rc::new(pairs);
        self.sets.push(Rc::clone(&pairs));
        self.numbers.insert(pairs, number);
        number
    }

    /// Returns the set with this number.
    fn get(&self, number: SetId) -> Rc<BTreeSet<Pair>> {
        Rc::clone(&self.sets[number as usize])
    }

    /// Forgets the sets from number `n` on.
    fn truncate(&mut self, n: usize) {
        debug_assert!(n <= self.sets.len(), "only the newest sets go");
        for pairs in self.sets.drain(n..) {
            self.numbers.remove(&pairs);
        }
    }
}

/// A step of the model: what follows a set of pairs.
#[derive(Clone, Debug)]
struct ModelStep {
    after: SetId,
    /// The transitions that the model may take from this step to the next silence.
    taken: Rc<BTreeSet<SwitchId>>,
}

/// An input of tests that have the same inputs before it, or the start.
#[derive(Clone, Copy, Debug)]
struct InputNode {
    parent: NodeId,
    input: LabelId,
    /// The pairs before the input, silent ones but for the start; the model stands on both sides.
    before: SetId,
    /// Children follow each other in a list.
    first_child: Option<NodeId>,
    next_sibling: Option<NodeId>,
}

/// The tests of a suite with the states of the model along them.
#[derive(Debug, Default)]
pub struct TestTree {
    /// The first node is the start; there is none if the start is not decided.
    nodes: Vec<InputNode>,
    children: FxHashMap<(NodeId, LabelId), NodeId>,
    inputs: Vec<Option<Label>>,
    numbers: FxHashMap<Label, LabelId>,
    sets: PairSets,
    /// The steps of the model; `None` where one is not decided.
    steps: FxHashMap<(SetId, LabelId), Option<ModelStep>>,
    /// The last transition that was asked for, with the nodes from which the model may take it.
    takers: Option<(SwitchId, Vec<bool>)>,
}

impl TestTree {
    /// Makes the tree without tests of the system of `cx`.
    pub fn new(cx: &Ctx<'_>) -> Self {
        let mut tree = Self { inputs: vec![None], ..Self::default() };
        if let Some(start) = concrete::initial_state(cx.pool, cx.sts)
            && let Ok(closed) = close_internally(cx, [start.clone()].into())
        {
            let before = tree.sets.insert(BTreeSet::from([(start, closed)]));
            tree.nodes.push(InputNode {
                parent: ROOT,
                input: START,
                before,
                first_child: None,
                next_sibling: None,
            });
        }
        tree
    }

    /// Adds `test` up to the first input after which the states of the model are not decided: what fails before it
    /// fails the test.
    pub fn insert(&mut self, cx: &mut Ctx<'_>, test: &[Label]) {
        if self.nodes.is_empty() {
            return;
        }
        self.takers = None;
        let mut at = ROOT;
        for label in test {
            let input = self.label_number(label);
            if let Some(&child) = self.children.get(&(at, input)) {
                at = child;
                continue;
            }
            let InputNode { before, input: last, first_child, .. } = self.nodes[at];
            // The pairs before a node are those after its parent's input, which was not followed until now.
            let Some(step) = self.model_step(cx, before, last) else { return };
            debug_assert!(at < self.nodes.len(), "a node has a greater number than its parent");
            let child = self.nodes.len();
            self.nodes.push(InputNode {
                parent: at,
                input,
                before: step.after,
                first_child: None,
                next_sibling: first_child,
            });
            self.nodes[at].first_child = Some(child);
            self.children.insert((at, input), child);
            at = child;
        }
    }

    fn label_number(&mut self, label: &Label) -> LabelId {
        if let Some(&number) = self.numbers.get(label) {
            return number;
        }
        let number = LabelId::try_from(self.inputs.len()).expect("fewer inputs than symbols of a suite");
        self.inputs.push(Some(label.clone()));
        self.numbers.insert(label.clone(), number);
        number
    }

    /// The step of the model from the pairs `before`; `None` if it is not decided.
    fn model_step(&mut self, cx: &mut Ctx<'_>, before: SetId, input: LabelId) -> Option<ModelStep> {
        if let Some(step) = self.steps.get(&(before, input)) {
            return step.clone();
        }
        // Beyond the limit nothing is known, which counts as "not killed": the claim of the suite becomes weaker,
        // never wrong.
        if self.steps.len() >= MAX_MODEL_STEPS {
            return None;
        }
        let mut walker = Walker { imp: cx.sts, n_pairs: 0, kept: None, taken: BTreeSet::new() };
        let after = walker.step_pairs(cx, &self.sets.get(before), self.inputs[input as usize].as_ref()).ok();
        let step =
            after.map(|after| ModelStep { after: self.sets.insert(after), taken: Rc::new(walker.taken) });
        self.steps.insert((before, input), step.clone());
        step
    }

    /// Returns whether the system of `cx` with `changed` in place of `switch` surely fails a test; false if that is not
    /// decided.
    ///
    /// # Errors
    /// If the time limit or an interrupt ends the work.
    pub fn kills(&mut self, cx: &mut Ctx<'_>, switch: SwitchId, changed: &Switch) -> Result<bool, Halted> {
        if self.nodes.is_empty() {
            return Ok(false);
        }
        self.find_takers(cx, switch);
        let n_sets = self.sets.sets.len();
        let is_killed = self.search_tree(cx, switch, changed);
        // The sets of a faulty system are of no use to the next one.
        self.sets.truncate(n_sets);
        is_killed
    }

    /// Follows the faulty system through the tree until a test surely fails.
    fn search_tree(&mut self, cx: &mut Ctx<'_>, switch: SwitchId, changed: &Switch) -> Result<bool, Halted> {
        // With another guard the transition may be taken where the model does not take it.
        let has_guard = cx.sts.switches[switch].guard == changed.guard;
        let mut run = FaultRun::new(cx, switch, changed);
        // Depth first, with the pairs of the faulty system beside each node. They start as the model's own.
        let mut todo = vec![(ROOT, self.nodes[ROOT].before)];
        let mut n_nodes = 0_usize;
        while let Some((node, before)) = todo.pop() {
            n_nodes += 1;
            if n_nodes.is_multiple_of(NODES_PER_CHECK)
                && let Some(halted) = cx.halt_reason()
            {
                return Err(halted);
            }
            let at = self.nodes[node];
            let is_taken = self.takers.as_ref().is_none_or(|(_, takers)| takers[node]);
            // The faulty system is exactly as the model is, and from here on the model never takes the changed
            // transition: every test below this node passes.
            if has_guard && before == at.before && !is_taken {
                continue;
            }
            match run.fault_step(cx, &mut self.sets, before, (at.input, &self.inputs)) {
                FaultStep::Killed => return Ok(true),
                FaultStep::Doubt => (),
                FaultStep::Next(after) => {
                    let mut child = at.first_child;
                    while let Some(next) = child {
                        todo.push((next, after));
                        child = self.nodes[next].next_sibling;
                    }
                }
            }
        }
        Ok(false)
    }

    /// Finds the nodes from which the model may take `switch`, at once or at a later input.
    fn find_takers(&mut self, cx: &mut Ctx<'_>, switch: SwitchId) {
        if self.takers.as_ref().is_some_and(|(known, _)| *known == switch) {
            return;
        }
        let mut takers = vec![false; self.nodes.len()];
        // Children come after their parents.
        for node in (0..self.nodes.len()).rev() {
            let InputNode { parent, input, before, .. } = self.nodes[node];
            // Where the model is not decided it may take anything.
            takers[node] |=
                self.model_step(cx, before, input).is_none_or(|step| step.taken.contains(&switch));
            takers[parent] |= takers[node];
        }
        self.takers = Some((switch, takers));
    }

    /// Returns whether the system of `cx` with `changed` in place of `switch` surely fails `test`, which need not be in
    /// the tree.
    pub fn kills_by(
        &mut self,
        cx: &mut Ctx<'_>,
        test: &[Label],
        (switch, changed): (SwitchId, &Switch),
    ) -> bool {
        let Some(root) = self.nodes.first() else { return false };
        let n_sets = self.sets.sets.len();
        let mut before = root.before;
        let mut run = FaultRun::new(cx, switch, changed);
        let inputs: Vec<LabelId> = test.iter().map(|label| self.label_number(label)).collect();
        let mut is_killed = false;
        for input in std::iter::once(START).chain(inputs) {
            match run.fault_step(cx, &mut self.sets, before, (input, &self.inputs)) {
                FaultStep::Next(after) => before = after,
                end => {
                    is_killed = end == FaultStep::Killed;
                    break;
                }
            }
        }
        self.sets.truncate(n_sets);
        is_killed
    }
}

/// A step of a faulty system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FaultStep {
    /// It surely did what the model forbids.
    Killed,
    Next(SetId),
    Doubt,
}

/// The steps of one faulty system.
struct FaultRun {
    imp: Sts,
    switch: SwitchId,
    steps: FxHashMap<(SetId, LabelId), FaultStep>,
}

impl FaultRun {
    /// Copies the system of `cx` with `changed` in place of `switch`.
    fn new(cx: &Ctx<'_>, switch: SwitchId, changed: &Switch) -> Self {
        let mut imp = cx.sts.clone();
        imp.switches[switch] = changed.clone();
        Self { imp, switch, steps: FxHashMap::default() }
    }

    fn fault_step(
        &mut self,
        cx: &mut Ctx<'_>,
        sets: &mut PairSets,
        before: SetId,
        (input, inputs): (LabelId, &[Option<Label>]),
    ) -> FaultStep {
        if let Some(&step) = self.steps.get(&(before, input)) {
            return step;
        }
        if self.steps.len() >= MAX_FAULT_STEPS {
            return FaultStep::Doubt;
        }
        let mut walker =
            Walker { imp: &self.imp, n_pairs: 0, kept: Some(self.switch), taken: BTreeSet::new() };
        let step = match walker.step_pairs(cx, &sets.get(before), inputs[input as usize].as_ref()) {
            // No pair is left: every run of the faulty system has shown something that the model forbids.
            Ok(next) if next.is_empty() => FaultStep::Killed,
            Ok(next) => FaultStep::Next(sets.insert(next)),
            Err(WalkDoubt) => FaultStep::Doubt,
        };
        self.steps.insert((before, input), step);
        step
    }
}

/// A walk of one system in step with the model.
struct Walker<'s> {
    imp: &'s Sts,
    n_pairs: usize,
    /// The transition whose update may keep a value that the system chooses.
    kept: Option<SwitchId>,
    taken: BTreeSet<SwitchId>,
}

impl Walker<'_> {
    /// Returns the silent pairs after `input`, or after the start; what the model forbids is left out.
    fn step_pairs(
        &mut self,
        cx: &mut Ctx<'_>,
        before: &BTreeSet<Pair>,
        input: Option<&Label>,
    ) -> Result<BTreeSet<Pair>, WalkDoubt> {
        let mut given = BTreeSet::new();
        for pair in before {
            match input {
                Some(input) => given.extend(self.give_input(cx, pair, input)?),
                None => drop(given.insert(pair.clone())),
            }
        }
        self.settle_pairs(cx, given)
    }

    /// Gives `input` to both sides. A test leaves out what the model does not mention; a system ignores what it does
    /// not take.
    fn give_input(
        &mut self,
        cx: &mut Ctx<'_>,
        (imp, spec): &Pair,
        input: &Label,
    ) -> Result<BTreeSet<Pair>, WalkDoubt> {
        // Before the system is asked: a test is cut where the model does not specify the input.
        let next_spec = states_after(cx, spec, input)?;
        if next_spec.is_empty() {
            return Ok(BTreeSet::from([(imp.clone(), spec.clone())]));
        }
        let next = concrete::successors(cx.pool, self.imp, imp, input).map_err(|_| WalkDoubt)?;
        self.taken.extend(next.iter().map(|next| next.switch));
        if next.is_empty() {
            return Ok(BTreeSet::from([(imp.clone(), next_spec)]));
        }
        Ok(next.into_iter().map(|next| (next.state, next_spec.clone())).collect())
    }

    /// Follows outputs and internal steps of the system until it is silent.
    fn settle_pairs(&mut self, cx: &mut Ctx<'_>, given: BTreeSet<Pair>) -> Result<BTreeSet<Pair>, WalkDoubt> {
        let mut silent = BTreeSet::new();
        let mut todo: Vec<Pair> = given.iter().cloned().collect();
        let mut seen = given;
        while let Some((imp, spec)) = todo.pop() {
            // Counted over the whole step, so that outputs that lead to ever new states end here.
            self.n_pairs += 1;
            if self.n_pairs > MAX_PAIRS {
                return Err(WalkDoubt);
            }
            match is_quiescent(&mut cx.with_system(self.imp), &imp) {
                Quiescence::Quiet => {
                    // Silence that no state of the model allows is a failure: the pair is left out.
                    let quiet = silent_states(cx, &spec)?;
                    if !quiet.is_empty() {
                        silent.insert((imp, quiet));
                    }
                    continue;
                }
                Quiescence::Active => (),
                Quiescence::Unknown(_) => return Err(WalkDoubt),
            }
            for next in self.react(cx, &imp, &spec)? {
                if seen.insert(next.clone()) {
                    todo.push(next);
                }
            }
        }
        Ok(silent)
    }

    /// Returns the pairs after one internal step or one output that the model allows.
    fn react(
        &mut self,
        cx: &mut Ctx<'_>,
        imp: &ConcreteState,
        spec: &BTreeSet<ConcreteState>,
    ) -> Result<Vec<Pair>, WalkDoubt> {
        let internal = concrete::internal_successors(cx.pool, self.imp, imp).map_err(|_| WalkDoubt)?;
        self.taken.extend(internal.iter().map(|next| next.switch));
        let mut found: Vec<Pair> = internal.into_iter().map(|next| (next.state, spec.clone())).collect();
        for offer in list_offers(&mut cx.with_system(self.imp), imp, |kind| kind == GateKind::Output) {
            self.taken.insert(offer.switch);
            for values in self.outputs(cx, &offer, spec)? {
                let label = Label::Output(offer.gate, values);
                let next_spec = states_after(cx, spec, &label)?;
                if next_spec.is_empty() {
                    continue;
                }
                let next = concrete::successors(cx.pool, self.imp, imp, &label).map_err(|_| WalkDoubt)?;
                // Another transition with the same message has an offer of its own.
                let own = next.into_iter().filter(|next| next.switch == offer.switch);
                found.extend(own.map(|next| (next.state, next_spec.clone())));
            }
        }
        Ok(found)
    }

    /// Returns the values of an output to follow: the only ones it can have, or if the system may choose, ones that the
    /// model allows, by each transition that allows some.
    fn outputs(
        &self,
        cx: &mut Ctx<'_>,
        offer: &SwitchOffer,
        spec: &BTreeSet<ConcreteState>,
    ) -> Result<Vec<Vec<Value>>, WalkDoubt> {
        let values = choose_values(cx, offer, &[offer.when])?.ok_or(WalkDoubt)?;
        if is_only(cx, offer, &values)? {
            return Ok(vec![values]);
        }
        if self.kept == Some(offer.switch) {
            // Which value the system chooses may matter later.
            let switch = &self.imp.switches[offer.switch];
            let fields = &self.imp.gates[offer.gate].fields;
            let keeps = |term: Term| fields.iter().any(|&field| cx.pool.mentions(term, field));
            if switch.update.iter().any(|&(_, term)| keeps(term)) {
                return Err(WalkDoubt);
            }
        }
        let mut found = Vec::new();
        for state in spec {
            for allowed in list_offers(cx, state, |kind| kind == GateKind::Output) {
                if allowed.gate == offer.gate {
                    found.extend(choose_values(cx, offer, &[offer.when, allowed.when])?);
                }
            }
        }
        Ok(found)
    }
}

/// Returns values of the fields of an offer for which `facts` hold; `None` if there are none.
fn choose_values(
    cx: &mut Ctx<'_>,
    offer: &SwitchOffer,
    facts: &[Term],
) -> Result<Option<Vec<Value>>, WalkDoubt> {
    let sts = cx.sts;
    let fields = &sts.gates[offer.gate].fields;
    if fields.is_empty() {
        return Ok(Some(Vec::new()));
    }
    match cx.check(facts) {
        SolverAnswer::Sat(valuation) => {
            let value = |&field| {
                let default = || cx.pool.default_value(cx.pool.var_info(field).sort);
                valuation.get(field).cloned().unwrap_or_else(default)
            };
            Ok(Some(fields.iter().map(value).collect()))
        }
        SolverAnswer::Unsat => Ok(None),
        SolverAnswer::Unknown(_) => Err(WalkDoubt),
    }
}

/// Returns whether the fields of an offer can have no other values.
fn is_only(cx: &mut Ctx<'_>, offer: &SwitchOffer, values: &[Value]) -> Result<bool, WalkDoubt> {
    let sts = cx.sts;
    let mut same = Vec::new();
    for (&field, value) in sts.gates[offer.gate].fields.iter().zip(values) {
        let (field, value) = (cx.pool.var(field), cx.pool.value(value.clone()));
        same.push(cx.pool.eq(field, value));
    }
    let same = cx.pool.and(same);
    // Unique if nothing else satisfies the guard. This is the usual case, so it is asked before the model is.
    let other = cx.pool.not(same);
    match cx.decide(&[offer.when, other]) {
        SolverDecision::Sat => Ok(false),
        SolverDecision::Unsat => Ok(true),
        SolverDecision::Unknown(_) => Err(WalkDoubt),
    }
}

/// The states of the model after `label`, closed under internal steps.
fn states_after(
    cx: &Ctx<'_>,
    states: &BTreeSet<ConcreteState>,
    label: &Label,
) -> Result<BTreeSet<ConcreteState>, WalkDoubt> {
    let mut next = BTreeSet::new();
    for state in states {
        let found = concrete::successors(cx.pool, cx.sts, state, label).map_err(|_| WalkDoubt)?;
        next.extend(found.into_iter().map(|next| next.state));
    }
    close_internally(cx, next)
}

/// Returns the states closed under internal steps of the model.
fn close_internally(
    cx: &Ctx<'_>,
    states: BTreeSet<ConcreteState>,
) -> Result<BTreeSet<ConcreteState>, WalkDoubt> {
    let closed = concrete::tau_closure(cx.pool, cx.sts, states, MAX_INTERNAL).map_err(|_| WalkDoubt)?;
    if closed.truncated { Err(WalkDoubt) } else { Ok(closed.states) }
}

/// The states in which the model is silent.
fn silent_states(
    cx: &mut Ctx<'_>,
    states: &BTreeSet<ConcreteState>,
) -> Result<BTreeSet<ConcreteState>, WalkDoubt> {
    let mut silent = BTreeSet::new();
    for state in states {
        match is_quiescent(cx, state) {
            Quiescence::Quiet => drop(silent.insert(state.clone())),
            Quiescence::Active => (),
            Quiescence::Unknown(_) => return Err(WalkDoubt),
        }
    }
    Ok(silent)
}
