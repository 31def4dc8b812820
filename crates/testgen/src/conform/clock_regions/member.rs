//! The states of one system with their clocks as positions, numbered as they are met.
//!
//! A *cell* is a state whose clocks are numbers of half units: guards cannot tell the values within a cell apart, so
//! one of them is evaluated for all. A *member* has positions of its clocks among marks, and thereby the order in which
//! time changes its cell. It asks no solver; what cannot be evaluated or listed ends the search.

use std::collections::BTreeMap;
use std::rc::Rc;

use rustc_hash::FxHashMap;

use ioxide_model::concrete::{self, ConcreteState};
use ioxide_model::label::Label;
use ioxide_model::number::Rational;
use ioxide_model::sts::{GateId, GateKind, LocId, Sts, Switch, SwitchId};
use ioxide_model::valuation::Valuation;
use ioxide_model::value::Value;

use super::position::{
    ClockPosition, ClockPositions, RESET, forget_all_marks, forget_mark, half_units, is_occupied, mark_now,
    reach_last_mark, settle, slot_of_mark, step_between_marks,
};
use super::{MetMessages, Numbered, RegionStop};
use crate::conform::explicit::offer::MessageList;
use crate::conform::side::SideSystem;

/// The number of initial states above which unknown values are not listed. Chosen by feel.
const MAX_INITIAL: usize = 1_000;

/// The number of a member.
pub(super) type MemberId = usize;
/// The number of a label.
pub(super) type TimedLabelId = usize;

/// A location with values for the variables; those that cannot matter have default values.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct DataState {
    loc: LocId,
    values: Valuation,
}

/// A state with its clocks as numbers of half units.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Cell {
    state: usize,
    clocks: Vec<u32>,
}

/// The target of a switch: a state, and the clocks that are 0 there.
#[derive(Clone, Debug, PartialEq, Eq)]
struct CellTarget {
    state: usize,
    zero: Vec<bool>,
}

/// The steps of a cell.
#[derive(Debug, Default)]
struct CellSteps {
    internal: Vec<CellTarget>,
    outputs: Vec<(TimedLabelId, CellTarget)>,
    /// The inputs that it mentions, observed ones included.
    inputs: Vec<TimedLabelId>,
    /// True if one of them is an observed input.
    observes: bool,
}

/// States that differ in the fractions of their clocks only, in ways that the marks do not show.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Member {
    state: usize,
    clocks: ClockPositions,
    /// True if no output and no internal step was possible any more when it was entered.
    rested: bool,
}

/// The steps that a state can still make without an input of the tester, now or later.
#[derive(Clone, Copy, Debug)]
struct Prospects {
    /// An output or an internal step is possible.
    acts: bool,
    /// One of these, or an observed input, is possible.
    reacts: bool,
}

/// One of two systems.
pub(super) struct RegionSide<'s> {
    system: &'s SideSystem<'s>,
    sts: &'s Sts,
    /// The gate of this system for each gate of the specification that it has.
    gates: BTreeMap<GateId, GateId>,
    /// The gate of the specification for each gate of this system.
    outside: BTreeMap<GateId, GateId>,
    /// The greatest number of units that each clock is compared with.
    limits: Vec<u16>,
    half_unit: Rational,
    messages: FxHashMap<SwitchId, Option<MessageList>>,
    states: Numbered<DataState>,
    cells: Numbered<Cell>,
    steps: FxHashMap<usize, Rc<CellSteps>>,
    answers: FxHashMap<(usize, TimedLabelId), Rc<[CellTarget]>>,
    prospects: FxHashMap<(usize, ClockPositions), Prospects>,
    members: Numbered<Member>,
    internal: FxHashMap<MemberId, Rc<[MemberId]>>,
    after_label: FxHashMap<(MemberId, TimedLabelId), Rc<[MemberId]>>,
    later: FxHashMap<(MemberId, u16), Option<MemberId>>,
    without_mark: FxHashMap<(MemberId, u16), (MemberId, u16)>,
}

impl<'s> RegionSide<'s> {
    /// Makes a side; `gates` are pairs of a gate of the specification and the gate of this system.
    pub fn new(
        system: &'s SideSystem<'s>,
        gates: impl IntoIterator<Item = (GateId, GateId)>,
        limits: Vec<u16>,
        unit: &Rational,
    ) -> Self {
        let gates: BTreeMap<GateId, GateId> = gates.into_iter().collect();
        let outside = gates.iter().map(|(&spec, &own)| (own, spec)).collect();
        Self {
            system,
            sts: system.sts,
            gates,
            outside,
            limits,
            half_unit: unit.div(&Rational::from(2)),
            messages: FxHashMap::default(),
            states: Numbered::default(),
            cells: Numbered::default(),
            steps: FxHashMap::default(),
            answers: FxHashMap::default(),
            prospects: FxHashMap::default(),
            members: Numbered::default(),
            internal: FxHashMap::default(),
            after_label: FxHashMap::default(),
            later: FxHashMap::default(),
            without_mark: FxHashMap::default(),
        }
    }

    /// The initial members, one for each choice of unknown values.
    pub fn initial_members(&mut self, met: &mut MetMessages<'_>) -> Result<Vec<MemberId>, RegionStop> {
        let mut all = vec![Valuation::new()];
        for var in &self.sts.vars {
            // An initial value needs no variables; one that cannot be evaluated without them ends the search.
            let values = match var.init {
                Some(term) => {
                    vec![met.pool.eval(term, &Valuation::new()).map_err(|_| RegionStop::Impossible)?]
                }
                None => {
                    met.pool.finite_domain(met.pool.var_info(var.var).sort).ok_or(RegionStop::Impossible)?
                }
            };
            if all.len().saturating_mul(values.len()) > MAX_INITIAL {
                return Err(RegionStop::Impossible);
            }
            let with = |known: &Valuation, value: &Value| {
                let mut next = known.clone();
                next.set(var.var, value.clone());
                next
            };
            all = all.iter().flat_map(|known| values.iter().map(move |value| with(known, value))).collect();
        }
        // All clocks begin at 0, at an instant that is now: nothing has to be remembered before.
        let clocks = vec![RESET; self.sts.clocks.len()];
        let mut found = Vec::with_capacity(all.len());
        for values in all {
            let state = self.number_state(met, self.sts.initial, values);
            found.push(self.enter(met, state, clocks.clone())?);
        }
        Ok(found)
    }

    /// The members after one internal step now.
    pub fn internal_steps(
        &mut self,
        met: &mut MetMessages<'_>,
        at: MemberId,
    ) -> Result<Rc<[MemberId]>, RegionStop> {
        if let Some(known) = self.internal.get(&at) {
            return Ok(known.clone());
        }
        let steps = self.steps_now(met, at)?;
        let found = self.enter_targets(met, at, &steps.internal)?;
        self.internal.insert(at, found.clone());
        Ok(found)
    }

    /// The outputs that are possible now, each with the member after it.
    pub fn outputs(
        &mut self,
        met: &mut MetMessages<'_>,
        at: MemberId,
    ) -> Result<Vec<(TimedLabelId, MemberId)>, RegionStop> {
        let steps = self.steps_now(met, at)?;
        let mut found = Vec::with_capacity(steps.outputs.len());
        for (label, target) in &steps.outputs {
            let next = self.enter_targets(met, at, std::slice::from_ref(target))?;
            found.extend(next.iter().map(|&next| (*label, next)));
        }
        Ok(found)
    }

    /// Appends the inputs that a member accepts now.
    pub fn collect_inputs(
        &mut self,
        met: &mut MetMessages<'_>,
        at: MemberId,
        found: &mut Vec<TimedLabelId>,
    ) -> Result<(), RegionStop> {
        let steps = self.steps_now(met, at)?;
        found.extend(&steps.inputs);
        Ok(())
    }

    /// The members after a message now.
    pub fn after_label(
        &mut self,
        met: &mut MetMessages<'_>,
        at: MemberId,
        label: TimedLabelId,
    ) -> Result<Rc<[MemberId]>, RegionStop> {
        if let Some(known) = self.after_label.get(&(at, label)) {
            return Ok(known.clone());
        }
        let cell = self.cell_of(at);
        // The targets belong to the cell, which forgets fractions; the positions come from the member, so the clocks
        // that the step does not reset keep their order.
        let targets = self.answers(met, cell, label)?;
        let found = self.enter_targets(met, at, &targets)?;
        self.after_label.insert((at, label), found.clone());
        Ok(found)
    }

    /// Returns the member as one that was entered now, by a message that it ignores.
    pub fn enter_again(&mut self, met: &mut MetMessages<'_>, at: MemberId) -> Result<MemberId, RegionStop> {
        let Member { state, clocks, .. } = self.members.get(at).clone();
        self.enter(met, state, clocks)
    }

    /// Returns whether the member was quiescent when it was entered.
    pub fn is_rested(&self, at: MemberId) -> bool {
        self.members.get(at).rested
    }

    /// Returns whether a clock of the member is whole now, so that this instant has to be remembered.
    pub fn has_clock_now(&self, at: MemberId) -> bool {
        is_occupied(&self.members.get(at).clocks, 0)
    }

    /// Returns whether a clock of the member has the fraction of a mark.
    pub fn has_clock_at_mark(&self, at: MemberId, mark: u16) -> bool {
        is_occupied(&self.members.get(at).clocks, slot_of_mark(mark))
    }

    /// Returns the member a moment later, with the instant that was now as the first mark; `None` if it may not wait.
    pub fn after_now(
        &mut self,
        met: &mut MetMessages<'_>,
        at: MemberId,
    ) -> Result<Option<MemberId>, RegionStop> {
        // Marks are ordered by their fractions. The instant that was now has just passed, so its fraction is the least.
        let clocks = mark_now(&self.members.get(at).clocks);
        self.wait_until(met, at, clocks)
    }

    /// Returns the member at its next change before the last of `marks` marks is a whole number of units ago; `None` if
    /// there is none, or it may not wait.
    pub fn next_between_marks(
        &mut self,
        met: &mut MetMessages<'_>,
        at: MemberId,
        marks: u16,
    ) -> Result<Option<MemberId>, RegionStop> {
        if let Some(&known) = self.later.get(&(at, marks)) {
            return Ok(known);
        }
        let next = match step_between_marks(&self.members.get(at).clocks, marks) {
            Some(clocks) => self.wait_until(met, at, clocks)?,
            None => None,
        };
        self.later.insert((at, marks), next);
        Ok(next)
    }

    /// Returns the member at the instant at which the last of `marks` marks is a whole number of units ago; `None` if
    /// it changes before, or may not wait.
    pub fn at_last_mark(
        &mut self,
        met: &mut MetMessages<'_>,
        at: MemberId,
        marks: u16,
    ) -> Result<Option<MemberId>, RegionStop> {
        match reach_last_mark(&self.members.get(at).clocks, marks) {
            Some(clocks) => self.wait_until(met, at, clocks),
            None => Ok(None),
        }
    }

    /// Returns the member without a mark, and the number of fractions that the mark could have been before, after or
    /// equal to.
    pub fn without_mark(&mut self, at: MemberId, mark: u16) -> (MemberId, u16) {
        if let Some(&known) = self.without_mark.get(&(at, mark)) {
            return known;
        }
        let mut member = self.members.get(at).clone();
        let (clocks, fractions) = forget_mark(&member.clocks, mark);
        // Two members that only the mark told apart become equal here, and get the same number.
        member.clocks = settle(clocks, &self.limits);
        let found = (self.members.number_of(member), fractions);
        self.without_mark.insert((at, mark), found);
        found
    }

    /// Returns the member at later positions of its clocks; `None` if it may not wait until then.
    fn wait_until(
        &mut self,
        met: &mut MetMessages<'_>,
        at: MemberId,
        clocks: ClockPositions,
    ) -> Result<Option<MemberId>, RegionStop> {
        let Member { state, rested, .. } = *self.members.get(at);
        let clocks = settle(clocks, &self.limits);
        // [BLLN23] Def. 3: it was quiescent when it was entered, or something can still come.
        let may_wait =
            rested || !self.sts.is_timed() || self.prospects(met, state, forget_all_marks(&clocks))?.reacts;
        Ok(may_wait.then(|| self.members.number_of(Member { state, clocks, rested })))
    }

    /// The members that `at` becomes by steps.
    fn enter_targets(
        &mut self,
        met: &mut MetMessages<'_>,
        at: MemberId,
        targets: &[CellTarget],
    ) -> Result<Rc<[MemberId]>, RegionStop> {
        let before = self.members.get(at).clocks.clone();
        let mut found = Vec::with_capacity(targets.len());
        for target in targets {
            // A clock that is 0 after the step was reset by it, or is 0 anyway.
            let clocks = before.iter().zip(&target.zero).map(|(&it, &zero)| if zero { RESET } else { it });
            found.push(self.enter(met, target.state, clocks.collect())?);
        }
        Ok(found.into())
    }

    /// Returns the member that is entered now.
    fn enter(
        &mut self,
        met: &mut MetMessages<'_>,
        state: usize,
        mut clocks: ClockPositions,
    ) -> Result<MemberId, RegionStop> {
        let loc = self.states.get(state).loc;
        let first = self.sts.vars.len();
        for (at, clock) in clocks.iter_mut().enumerate() {
            // A clock that is reset before it is read again has any value: one position stands for all of them.
            if !self.system.is_live(loc, first + at) {
                *clock = ClockPosition::Beyond;
            }
        }
        let clocks = settle(clocks, &self.limits);
        // What can still happen does not depend on marks, so it is computed once for all ways to remember instants.
        let rested = !self.prospects(met, state, forget_all_marks(&clocks))?.acts;
        Ok(self.members.number_of(Member { state, clocks, rested }))
    }

    /// Returns what a state with these clocks, among themselves, can still do.
    fn prospects(
        &mut self,
        met: &mut MetMessages<'_>,
        state: usize,
        clocks: ClockPositions,
    ) -> Result<Prospects, RegionStop> {
        let mut path = Vec::new();
        let mut next = Some(settle(clocks, &self.limits));
        let mut later = Prospects { acts: false, reacts: false };
        // Forwards until everything is known or nothing changes any more, then backwards: what is possible later is
        // possible before.
        while let Some(clocks) = next {
            // Known positions have known successors, since both are inserted by the loop below.
            if let Some(&known) = self.prospects.get(&(state, clocks.clone())) {
                later = known;
                break;
            }
            next = step_between_marks(&clocks, 0).map(|clocks| settle(clocks, &self.limits));
            path.push(clocks);
        }
        while let Some(clocks) = path.pop() {
            let cell = self.number_cell(state, &clocks);
            let steps = self.steps(met, cell)?;
            later.acts |= !steps.internal.is_empty() || !steps.outputs.is_empty();
            later.reacts |= later.acts || steps.observes;
            self.prospects.insert((state, clocks), later);
        }
        Ok(later)
    }

    fn cell_of(&mut self, at: MemberId) -> usize {
        let Member { state, clocks, .. } = self.members.get(at).clone();
        self.number_cell(state, &clocks)
    }

    fn number_cell(&mut self, state: usize, clocks: &[ClockPosition]) -> usize {
        // Guards compare single clocks with constants, so they have one value within a region and do not even see the
        // order of fractions: the cell drops it, and far fewer guards are evaluated.
        let clocks = clocks.iter().zip(&self.limits).map(|(&clock, &limit)| half_units(clock, limit));
        self.cells.number_of(Cell { state, clocks: clocks.collect() })
    }

    /// Returns the number of a state; values that cannot matter are replaced by defaults.
    fn number_state(&mut self, met: &MetMessages<'_>, loc: LocId, mut values: Valuation) -> usize {
        for (at, var) in self.sts.vars.iter().enumerate() {
            if !self.system.is_live(loc, at) {
                values.set(var.var, met.pool.default_value(met.pool.var_info(var.var).sort));
            }
        }
        for clock in &self.sts.clocks {
            // The clocks are in the cell; in the state they would tell equal states apart.
            values.remove(clock.var);
        }
        self.states.number_of(DataState { loc, values })
    }

    /// The state of a cell with a value for every clock.
    fn concrete_state(&self, cell: usize) -> ConcreteState {
        let Cell { state, clocks } = self.cells.get(cell);
        let DataState { loc, values } = self.states.get(*state);
        let mut values = values.clone();
        for (clock, &half_units) in self.sts.clocks.iter().zip(clocks) {
            values.set(clock.var, Value::Real(&Rational::from(i64::from(half_units)) * &self.half_unit));
        }
        ConcreteState { loc: *loc, values }
    }

    /// Returns the state after a switch, which is enabled.
    fn target(
        &mut self,
        met: &MetMessages<'_>,
        state: &ConcreteState,
        switch: &Switch,
        values: &[Value],
    ) -> Result<CellTarget, RegionStop> {
        let after = concrete::successor(met.pool, self.sts, state, switch, values)
            .map_err(|_| RegionStop::Impossible)?;
        // A step sets a clock to 0 or leaves it alone. In the middle of a cell no clock is 0 unless the cell says so,
        // so the value afterwards tells which of the two it was.
        let is_zero = |clock| matches!(after.values.get(clock), Some(Value::Real(value)) if value.is_zero());
        let zero = self.sts.clocks.iter().map(|clock| is_zero(clock.var)).collect();
        Ok(CellTarget { state: self.number_state(met, after.loc, after.values), zero })
    }

    fn steps_now(&mut self, met: &mut MetMessages<'_>, at: MemberId) -> Result<Rc<CellSteps>, RegionStop> {
        let cell = self.cell_of(at);
        self.steps(met, cell)
    }

    /// The steps of a cell, computed once.
    fn steps(&mut self, met: &mut MetMessages<'_>, cell: usize) -> Result<Rc<CellSteps>, RegionStop> {
        if let Some(known) = self.steps.get(&cell) {
            return Ok(known.clone());
        }
        let state = self.concrete_state(cell);
        let mut found = CellSteps::default();
        for (id, switch) in self.sts.switches_from(state.loc) {
            for values in self.list_messages(met, id, &state)? {
                let enabled = concrete::is_enabled(met.pool, self.sts, &state, switch, &values);
                if !enabled.map_err(|_| RegionStop::Impossible)? {
                    continue;
                }
                let kind = self.sts.kind_of(switch);
                if kind == GateKind::Internal {
                    found.internal.push(self.target(met, &state, switch, &values)?);
                    continue;
                }
                // A message that the specification has no gate for cannot be compared with it here: another search
                // tells of it.
                let gate = *self.outside.get(&switch.gate).ok_or(RegionStop::Impossible)?;
                if kind == GateKind::Output {
                    let target = self.target(met, &state, switch, &values)?;
                    found.outputs.push((met.labels.number_of(Label::Output(gate, values)), target));
                } else {
                    found.inputs.push(met.labels.number_of(Label::Input(gate, values)));
                    found.observes |= kind == GateKind::Observed;
                }
            }
        }
        let found = Rc::new(found);
        self.steps.insert(cell, found.clone());
        Ok(found)
    }

    /// The messages that a switch may carry.
    fn list_messages(
        &mut self,
        met: &MetMessages<'_>,
        id: SwitchId,
        state: &ConcreteState,
    ) -> Result<Vec<Vec<Value>>, RegionStop> {
        let sts = self.sts;
        let list = self
            .messages
            .entry(id)
            .or_insert_with(|| MessageList::new(met.pool, sts, &sts.switches[id], &[]));
        list.as_ref().and_then(|list| list.in_state(met.pool, state, |_| None)).ok_or(RegionStop::Impossible)
    }

    /// Returns the targets of a message in a cell.
    fn answers(
        &mut self,
        met: &MetMessages<'_>,
        cell: usize,
        label: TimedLabelId,
    ) -> Result<Rc<[CellTarget]>, RegionStop> {
        if let Some(known) = self.answers.get(&(cell, label)) {
            return Ok(known.clone());
        }
        let state = self.concrete_state(cell);
        let mut found = Vec::new();
        if let Label::Input(gate, values) | Label::Output(gate, values) = met.labels.get(label)
            && let Some(&own) = self.gates.get(gate)
        {
            for (_, switch) in self.sts.switches_from(state.loc).filter(|(_, switch)| switch.gate == own) {
                let enabled = concrete::is_enabled(met.pool, self.sts, &state, switch, values);
                if enabled.map_err(|_| RegionStop::Impossible)? {
                    found.push(self.target(met, &state, switch, values)?);
                }
            }
        }
        let found: Rc<[CellTarget]> = found.into();
        self.answers.insert((cell, label), found.clone());
        Ok(found)
    }
}
