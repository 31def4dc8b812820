//! One side of a product: a system indexed for stepping, and the states it may be in.
//!
//! Most members are one state for each valuation of the product's variables. Where a side may have made a choice that
//! cannot be observed (a value unknown at start, the instant of an internal step), a member is a *set* of states:
//! variables of its own range over the choices, and facts relate them to the product's variables.

use std::cell::RefCell;
use std::sync::Arc;

use ioxide_model::concrete::ConcreteState;
use ioxide_model::index::IndexVec;
use ioxide_model::sts::{GateId, GateKind, LocId, Sts, SwitchId};
use ioxide_model::term::{Substitution, Term, VarId};
use ioxide_smt::layers::forall::eliminate;
use ioxide_symex::{Ctx, LiveVars, LoneSteps, Store, can_react, quiescence_condition};
use rustc_hash::FxHashSet;

/// The number of lone steps that are followed one after the other. Chosen by feel: a member further on is as good as
/// one that is not.
const MAX_LONE_STEPS: usize = 10_000;

/// A state, or set of states, that a side may be in: a location and a term for every variable and clock, over all
/// values of the variables of its own that satisfy its facts.
///
/// *Invariant.* Variables that cannot matter at the location hold a default value, so states that differ in them only
/// are equal. A member without variables of its own has no facts.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct SideMember {
    pub loc: LocId,
    pub store: Store,
    /// Variables that no other member mentions: each of their valuations that satisfies the facts is one state.
    pub own: Vec<VarId>,
    pub facts: Vec<Term>,
}

impl SideMember {
    /// Makes a member of one state.
    pub fn single(loc: LocId, store: Store) -> Self {
        Self { loc, store, own: Vec::new(), facts: Vec::new() }
    }

    /// The condition on the product's variables under which `condition` holds in some of its states.
    pub fn for_some_member(&self, cx: &mut Ctx<'_>, condition: Term) -> Term {
        // Without variables of its own the member is one state for each valuation, and has no facts (see the
        // invariant).
        if self.own.is_empty() {
            return condition;
        }
        let all = cx.pool.and(self.facts.iter().copied().chain([condition]));
        let some = cx.pool.exists(&self.own, all);
        eliminate(cx.pool, some)
    }

    /// Returns the states in which `condition` holds; the caller knows that there are some.
    #[must_use]
    pub fn with_condition(mut self, cx: &Ctx<'_>, condition: Term) -> Self {
        // A member of one state keeps no facts: the condition is a fact of the whole product state then.
        if !self.own.is_empty() {
            for fact in cx.pool.conjuncts(condition) {
                if !self.facts.contains(&fact) && !cx.pool.is_true(fact) {
                    self.facts.push(fact);
                }
            }
        }
        self
    }
}

/// The treatment of initial values that the model leaves open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unknowns {
    /// The values are unknown constants, shared by the whole comparison.
    Known,
    /// All values are possible: the member is the set of their states.
    Believed,
}

/// For every location and variable, true if the variable can matter there.
pub(crate) type Liveness = IndexVec<LocId, Vec<bool>>;

/// A system with an index of its locations.
pub(crate) struct SideSystem<'s> {
    pub sts: &'s Sts,
    index: SystemIndex,
    live: Liveness,
    /// The internal steps that may come first; none if all states after a trace are to be kept.
    lone: Option<RefCell<LoneSteps>>,
}

/// The switches and conditions of each location, and the default value of each variable.
#[derive(Clone, Debug)]
pub(crate) struct SystemIndex {
    places: Arc<IndexVec<LocId, LocationSwitches>>,
    plain: Arc<Vec<Term>>,
}

/// The switches that start at a location, and its conditions of silence.
#[derive(Clone, Debug)]
struct LocationSwitches {
    /// True if every input has a transition without a guard.
    takes_all_inputs: bool,
    /// The condition of quiescence: no output and no internal step is possible without an input.
    quiet: Term,
    /// The condition under which an output, an observed input or an internal step can still happen; true in models
    /// without clocks.
    later: Term,
    internal: Vec<SwitchId>,
    visible: Vec<(GateId, SwitchId)>,
}

impl<'s> SideSystem<'s> {
    /// Indexes `sts`, whose terms are in the pool of `cx`; `live` has the live variables of each location.
    pub fn new(cx: &mut Ctx<'_>, sts: &'s Sts, live: Liveness) -> Self {
        let index = SystemIndex::new(cx, sts);
        Self { sts, index, live, lone: None }
    }

    /// Keeps only the states that lone internal steps lead to, which show everything that the others show. Not for
    /// products whose members are compared with those of another system or looked at by their locations.
    #[must_use]
    pub fn with_lone_steps(self, cx: &Ctx<'_>) -> Self {
        let lone = LoneSteps::new(cx.pool, self.sts).map(RefCell::new);
        Self { lone, ..self }
    }

    /// Returns the member that stands for `member`: the one that its lone steps lead to, or one of a circle of them.
    pub fn settle(&self, cx: &mut Ctx<'_>, member: SideMember) -> SideMember {
        let Some(lone) = &self.lone else { return member };
        let mut member = member;
        let mut passed: FxHashSet<SideMember> = FxHashSet::default();
        for _ in 0..MAX_LONE_STEPS {
            let Some(id) = lone.borrow_mut().lone_switch(cx.pool, self.sts, &self.known_values(cx, &member))
            else {
                break;
            };
            if !passed.insert(member.clone()) {
                break;
            }
            let values = self.values(&member);
            let always = cx.pool.tt();
            member = self.successor(cx, &member, (id, always), &values);
        }
        member
    }

    /// Returns the location of `member` and the values of the variables that have the same one in all its states.
    fn known_values(&self, cx: &Ctx<'_>, member: &SideMember) -> ConcreteState {
        let known = |(var, term): (VarId, Term)| Some((var, cx.pool.as_value(term)?.clone()));
        let values = member.store.iter(self.sts).filter_map(known).collect();
        ConcreteState { loc: member.loc, values }
    }

    /// Returns whether every state takes every input; false also if that depends on guards.
    pub fn takes_all_inputs(&self) -> bool {
        self.index.places.iter().all(|place| place.takes_all_inputs)
    }

    /// Indexes a system that differs from the one of `index` at the locations `touched` only.
    pub fn with_changes(
        cx: &mut Ctx<'_>,
        sts: &'s Sts,
        live: Liveness,
        index: &SystemIndex,
        touched: impl IntoIterator<Item = LocId>,
    ) -> Self {
        // A mutant changes a switch or two: the index of the model is shared, and only the locations it touches are
        // made anew.
        let mut index = index.clone();
        let mut over = cx.with_system(sts);
        for loc in touched {
            Arc::make_mut(&mut index.places)[loc] = LocationSwitches::new(&mut over, sts, loc);
        }
        Self { sts, index, live, lone: None }
    }

    /// The initial state; a variable without an initial value gets a fresh variable.
    pub fn initial(&self, cx: &mut Ctx<'_>, unknowns: Unknowns) -> SideMember {
        // Two numbers, so that what one system has is not what another is believed to have: the systems may share
        // their variables.
        let (store, own) = match unknowns {
            Unknowns::Known => (Store::initial(cx.pool, self.sts, 0).0, Vec::new()),
            Unknowns::Believed => Store::initial(cx.pool, self.sts, 1),
        };
        self.reset_dead_variables(SideMember { own, ..SideMember::single(self.sts.initial, store) })
    }

    /// Returns `member` with default values for the variables that cannot matter at its location.
    fn reset_dead_variables(&self, mut member: SideMember) -> SideMember {
        debug_assert_eq!(self.live[member.loc].len(), self.index.plain.len(), "both are by stored variable");
        for (at, term) in member.store.terms_mut().iter_mut().enumerate() {
            if !self.live[member.loc][at] {
                *term = self.index.plain[at];
            }
        }
        member
    }

    /// Returns whether the stored variable at position `at`, a clock or not, can matter at `loc`.
    pub fn is_live(&self, loc: LocId, at: usize) -> bool {
        self.live[loc][at]
    }

    /// The terms of `member` as a substitution for variables and clocks.
    pub fn values(&self, member: &SideMember) -> Substitution {
        member.store.substitution(self.sts)
    }

    /// Returns `member` with its clocks advanced by `by`.
    pub fn advance_clocks(&self, cx: &mut Ctx<'_>, member: &SideMember, by: Term) -> SideMember {
        let store = member.store.clone().advance_clocks(cx.pool, self.sts, by);
        self.reset_dead_variables(SideMember { store, ..member.clone() })
    }

    /// The condition in `member`, whose values are `values`, under which an output, an observed input or an internal
    /// step can happen, now or later.
    pub fn later(&self, cx: &mut Ctx<'_>, member: &SideMember, values: &Substitution) -> Term {
        cx.pool.substitute(self.index.places[member.loc].later, values)
    }

    /// The switches of `gate` that start at `loc`.
    pub fn switches_at(&self, loc: LocId, gate: GateId) -> impl Iterator<Item = SwitchId> + '_ {
        self.index.places[loc]
            .visible
            .iter()
            .filter(move |(other, _)| *other == gate)
            .map(|(_, switch)| *switch)
    }

    /// Returns whether a switch of `gate` starts at `loc`; true for every gate of a timed system with internal
    /// switches, which may be taken before the message.
    pub fn may_reach(&self, loc: LocId, gate: GateId) -> bool {
        // Without clocks a side holds the states after internal steps as members of their own.
        let has_unseen = self.sts.is_timed() && !self.is_visible();
        has_unseen || self.switches_at(loc, gate).next().is_some()
    }

    /// The internal switches that start at `loc`.
    pub fn internal(&self, loc: LocId) -> &[SwitchId] {
        &self.index.places[loc].internal
    }

    /// The condition of quiescence in `member`, whose values are `values`.
    pub fn quiet(&self, cx: &mut Ctx<'_>, member: &SideMember, values: &Substitution) -> Term {
        cx.pool.substitute(self.index.places[member.loc].quiet, values)
    }

    /// Returns the member after `switch`, whose guard there is `guard`; `values` has the terms before it and the fields
    /// of the message.
    pub fn successor(
        &self,
        cx: &mut Ctx<'_>,
        member: &SideMember,
        (id, guard): (SwitchId, Term),
        values: &Substitution,
    ) -> SideMember {
        let switch = &self.sts.switches[id];
        let mut next = member.clone().with_condition(cx, guard);
        next.loc = switch.target;
        // Updates read the values before the step, so the store is made from the old one.
        next.store = member.store.after_switch(cx.pool, self.sts, switch, values);
        self.reset_dead_variables(next)
    }

    /// Returns whether the system has no internal switches.
    pub fn is_visible(&self) -> bool {
        self.index.places.iter().all(|place| place.internal.is_empty())
    }
}

impl SystemIndex {
    /// Indexes every location of `sts`.
    pub fn new(cx: &mut Ctx<'_>, sts: &Sts) -> Self {
        let plain = |cx: &mut Ctx<'_>, var| {
            let value = cx.pool.default_value(cx.pool.var_info(var).sort);
            cx.pool.value(value)
        };
        let plain = sts.stored_vars().map(|var| plain(cx, var)).collect();
        let mut over = cx.with_system(sts);
        let places = sts.locations.ids().map(|loc| LocationSwitches::new(&mut over, sts, loc)).collect();
        Self { places: Arc::new(places), plain: Arc::new(plain) }
    }
}

impl LocationSwitches {
    /// Sorts the switches from `loc` into internal and visible ones, and computes when the location is silent.
    fn new(cx: &mut Ctx<'_>, sts: &Sts, loc: LocId) -> Self {
        let quiet = quiescence_condition(cx, loc);
        let later = if sts.is_timed() { Self::later(cx, sts, loc) } else { cx.pool.tt() };
        // With clocks the condition quantifies over later instants; without quantifiers the layers before the solver
        // decide most queries.
        let quiet = if sts.is_timed() { eliminate(cx.pool, quiet) } else { quiet };
        let is_internal = |id: &SwitchId| sts.kind_of(&sts.switches[*id]) == GateKind::Internal;
        let all: Vec<SwitchId> = sts.switches_from(loc).map(|(id, _)| id).collect();
        let internal = all.iter().copied().filter(is_internal).collect();
        let takes = |cx: &Ctx<'_>, gate: GateId| {
            sts.switches_from(loc).any(|(_, switch)| switch.gate == gate && cx.pool.is_true(switch.guard))
        };
        let mut inputs = sts.gates.iter_enumerated().filter(|(_, gate)| gate.kind.is_input());
        let takes_all_inputs = inputs.all(|(gate, _)| takes(cx, gate));
        let visible = all.into_iter().filter(|id| !is_internal(id));
        Self {
            quiet,
            later,
            takes_all_inputs,
            internal,
            visible: visible.map(|id| (sts.switches[id].gate, id)).collect(),
        }
    }

    /// Returns the condition under which the system may react at this location now or as time passes.
    fn later(cx: &mut Ctx<'_>, sts: &Sts, loc: LocId) -> Term {
        let mut any = Vec::new();
        for (_, switch) in sts.switches_from(loc) {
            if sts.kind_of(switch) != GateKind::Input {
                any.push(can_react(cx, switch));
            }
        }
        let any = cx.pool.or(any);
        eliminate(cx.pool, any)
    }
}

/// The live variables of `sts`, by location and position.
pub(crate) fn liveness(cx: &Ctx<'_>, sts: &Sts) -> Liveness {
    let live = LiveVars::compute(cx.pool, sts, &[]);
    let at = |loc| sts.stored_vars().map(|var| live.is_live(loc, var)).collect();
    sts.locations.ids().map(at).collect()
}

/// Returns the variables that are live in either of two systems with the same locations and variables.
pub(crate) fn join_liveness(mut one: Liveness, other: &Liveness) -> Liveness {
    for (here, there) in one.iter_mut().zip(other.iter()) {
        for (live, also) in here.iter_mut().zip(there) {
            *live |= *also;
        }
    }
    one
}

/// Returns whether everything live in `small` is live in `big`.
pub(crate) fn is_within(small: &Liveness, big: &Liveness) -> bool {
    small.iter().zip(big.iter()).all(|(small, big)| small.iter().zip(big).all(|(small, big)| *big || !*small))
}
