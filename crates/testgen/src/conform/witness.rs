//! The construction of a concrete trace from unsafe steps: the symbolic test case, values for it, and a replay.
//!
//! \[AT15]'s test case is a sequence of actions with the non-conformance condition at its end.
//! The steps are executed again from the start, all members kept with their conditions, so
//! the condition mentions the fields of the messages and the delays between them only. Values are chosen field by
//! field, different small ones first, each choice confirmed by the solver, so that the same condition always gets the
//! same values. The trace is replayed on both models before it is returned.

mod replay;
mod values;

use ioxide_model::label::Label;
use ioxide_model::relation::ConformanceRelation;
use ioxide_model::sort::Sort;
use ioxide_model::sts::{GateId, SwitchId};
use ioxide_model::term::{Substitution, Term, TermNode, VarId};
use ioxide_model::trace::Trace;
use ioxide_model::value::Value;
use ioxide_smt::layers::forall::eliminate;
use ioxide_smt::solver::{SolverDecision, UnknownReason};
use ioxide_symex::Ctx;

use self::replay::check_trace;
use self::values::choose_values;
use super::branch::TooMany;
use super::elapse::{MemberAfterDelay, MemberDelay, elapse_members};
use super::ports::ProductPort;
use super::product::{InputCompletion, ModelProduct, ProductStep};
use super::side::{SideMember, SideSystem, Unknowns};

/// The number of members looked at while one side is closed under internal steps; beyond it these steps are taken to
/// have no end, and there is no witness along this way. Chosen by feel: a larger one only gives up later.
const MAX_ROUNDS: usize = 10_000;

/// The number of undecided items of collections above which internal steps are not followed: without cases their number
/// only grows. Chosen by feel: 64 undecided items are more cases than a solver distinguishes.
const MAX_UNDECIDED: usize = 64;

/// The reason why steps did not become a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum NoWitness {
    /// No values make the steps possible.
    Impossible,
    /// No collections up to this length make the steps possible; longer ones were not tried.
    Beyond(usize),
    /// The solver did not decide, or the replay did not confirm the trace; the text is for people.
    Doubtful(String),
}

impl From<UnknownReason> for NoWitness {
    fn from(reason: UnknownReason) -> Self {
        match reason {
            UnknownReason::Beyond(length) => Self::Beyond(length),
            other => Self::Doubtful(other.to_string()),
        }
    }
}

/// A trace that shows non-conformance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConformWitness {
    /// Allowed labels, then one that the specification forbids.
    pub trace: Trace,
    /// The non-conformance condition over the fields of the messages, which are numbered by step.
    pub condition: Term,
}

/// Returns a trace along `steps` that the implementation has and whose last label the specification forbids.
pub(crate) fn witness(
    cx: &mut Ctx<'_>,
    product: &ModelProduct<'_>,
    steps: &[ProductStep],
) -> Result<ConformWitness, NoWitness> {
    let condition = condition(cx, product, steps)?;
    // Steps are numbered from 1 here and in `condition`, so that the variables are the same ones.
    let mut n = 0;
    let mut messages: Vec<(ProductStep, Option<VarId>, Vec<VarId>)> = Vec::new();
    for &step in steps {
        n += 1;
        let waits = product.waits_before(step);
        let delay = waits.then(|| cx.pool.indexed_var(cx.delay, n));
        let fields = match step {
            ProductStep::Delta | ProductStep::Wait => Vec::new(),
            ProductStep::Port(at) => product.ports[at].variables(cx, n),
        };
        messages.push((step, delay, fields));
    }
    let all = messages.iter().flat_map(|(_, delay, fields)| delay.iter().chain(fields).copied());
    let values = choose_values(cx, condition, &all.collect::<Vec<_>>())?;
    let mut labels = Vec::new();
    for (step, delay, fields) in &messages {
        let delay = delay.and_then(|delay| values_of(&values, delay)?.as_real().cloned());
        // A delay of 0 is no label: the message comes at once.
        labels.extend(delay.filter(|delay| !delay.is_zero()).map(Label::Delay));
        let fields = fields.iter().filter_map(|&field| values_of(&values, field)).collect();
        labels.extend(product.label(*step, fields));
    }
    let trace: Trace = labels.into_iter().collect();
    check_trace(cx, product, &trace)?;
    Ok(ConformWitness { trace, condition })
}

/// Returns `trace` as a witness, with its own values, if the replay on both models confirms it.
pub(crate) fn replayed_trace(
    cx: &mut Ctx<'_>,
    product: &ModelProduct<'_>,
    trace: Trace,
) -> Result<ConformWitness, NoWitness> {
    check_trace(cx, product, &trace)?;
    let condition = these_values(cx, product, &trace);
    Ok(ConformWitness { trace, condition })
}

/// The condition that the fields of the messages have the values of `trace`.
fn these_values(cx: &mut Ctx<'_>, product: &ModelProduct<'_>, trace: &Trace) -> Term {
    let mut all = Vec::new();
    for (n, label) in (1..).zip(&trace.labels) {
        let (Label::Input(gate, values) | Label::Output(gate, values)) = label else { continue };
        let Some(port) = product.ports.iter().find(|port| port.spec == *gate) else { continue };
        for (field, value) in port.message(cx, n).into_iter().zip(values) {
            let value = cx.pool.value(value.clone());
            all.push(cx.pool.eq(field, value));
        }
    }
    cx.pool.and(all)
}

fn values_of(values: &[(VarId, Value)], field: VarId) -> Option<Value> {
    values.iter().find(|(var, _)| *var == field).map(|(_, value)| value.clone())
}

/// The condition under which only the implementation makes the last of `steps`.
fn condition(cx: &mut Ctx<'_>, product: &ModelProduct<'_>, steps: &[ProductStep]) -> Result<Term, NoWitness> {
    // [AT15] Def. 3.5 along the steps: the specification has every label but the last, the implementation has them all.
    let mut imp = WitnessCourse::start(cx, product, WitnessRole::Implementation)?;
    let mut spec = WitnessCourse::start(cx, product, WitnessRole::Specification)?;
    let (&last, before) = steps.split_last().ok_or(NoWitness::Impossible)?;
    let mut n = 0;
    let mut facts = Vec::new();
    for &step in before {
        n += 1;
        facts.extend(forward(cx, product, step, n));
        let message = WitnessMessage { step, n };
        // After an input that is not specified everything is allowed, so the trace would show nothing.
        facts.push(spec.specifies(cx, message)?);
        imp = imp.after_message(cx, message)?;
        spec = spec.after_message(cx, message)?;
    }
    facts.extend(forward(cx, product, last, n + 1));
    let message = WitnessMessage { step: last, n: n + 1 };
    let (does, allows) = (imp.step_condition(cx, message)?, spec.step_condition(cx, message)?);
    // Without states of the specification nothing would be forbidden: the trace before the last label is one of its
    // own.
    let there = spec.is_somewhere(cx);
    let forbidden = cx.pool.not(allows);
    facts.extend([does, there, forbidden]);
    Ok(cx.pool.and(facts))
}

/// Returns the fact about the delay before step `n`: positive for a wait, not negative before a message in a timed
/// product; `None` if there is no delay.
fn forward(cx: &mut Ctx<'_>, product: &ModelProduct<'_>, step: ProductStep, n: u32) -> Option<Term> {
    let delay = MemberDelay::before_message(cx, n);
    match step {
        ProductStep::Wait => Some(delay.is_some(cx)),
        ProductStep::Port(_) | ProductStep::Delta => product.waits_before(step).then(|| delay.fact(cx)),
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum WitnessRole {
    Implementation,
    Specification,
}

/// A step with its number.
#[derive(Clone, Copy)]
struct WitnessMessage {
    step: ProductStep,
    n: u32,
}

/// One side along the steps. The facts of a member are all conditions under which the side may be in it, those on the
/// messages included.
struct WitnessCourse<'p> {
    product: &'p ModelProduct<'p>,
    side: &'p SideSystem<'p>,
    role: WitnessRole,
    members: Vec<SideMember>,
}

/// A member just before a message, and the condition under which it may have waited until then.
struct WaitedMember {
    member: SideMember,
    values: Substitution,
    excuse: Term,
    /// The condition under which it was quiescent when it was entered.
    quiet: Term,
}

impl<'p> WitnessCourse<'p> {
    /// Starts a course of one of the two models at its initial states.
    fn start(cx: &mut Ctx<'_>, product: &'p ModelProduct<'p>, role: WitnessRole) -> Result<Self, NoWitness> {
        let (side, unknowns) = match role {
            WitnessRole::Implementation => (&product.imp, Unknowns::Known),
            WitnessRole::Specification => (&product.spec, Unknowns::Believed),
        };
        // Unknown initial values of the implementation are what they are, so some values have to be found; those of
        // the specification are only believed, so the trace must be forbidden for all of them.
        let start = side.initial(cx, unknowns);
        Self { product, side, role, members: vec![start] }.close_internally(cx)
    }

    fn with_members(&self, members: Vec<SideMember>) -> Self {
        Self { members, ..*self }
    }

    /// The members just before message number `n`.
    fn wait_until_message(&self, cx: &mut Ctx<'_>, n: u32) -> Result<Vec<WaitedMember>, NoWitness> {
        let all = if self.product.is_timed() {
            let delay = MemberDelay::before_message(cx, n);
            let forward = delay.fact(cx);
            elapse_members(cx, self.side, &[forward], &self.members, delay)
                .map_err(|TooMany| NoWitness::Doubtful("internal steps do not end".into()))?
        } else {
            self.without_delay(cx)
        };
        Ok(all.into_iter().map(|member| self.with_values(member)).collect())
    }

    /// The members without a delay.
    fn without_delay(&self, cx: &mut Ctx<'_>) -> Vec<MemberAfterDelay> {
        let excuse = cx.pool.tt();
        let mut all = Vec::with_capacity(self.members.len());
        for member in &self.members {
            let values = self.side.values(member);
            let quiet = self.side.quiet(cx, member, &values);
            all.push(MemberAfterDelay { member: member.clone(), excuse, quiet });
        }
        all
    }

    fn with_values(&self, waited: MemberAfterDelay) -> WaitedMember {
        let MemberAfterDelay { member, excuse, quiet } = waited;
        WaitedMember { values: self.side.values(&member), member, excuse, quiet }
    }

    /// Returns the gate of a port on this side; `None` if it has none.
    fn gate_of(&self, port: &ProductPort) -> Option<GateId> {
        match self.role {
            WitnessRole::Implementation => port.imp,
            WitnessRole::Specification => Some(port.spec),
        }
    }

    /// The switches of the message with their guards; the fields of the message are added to the values.
    fn find_moves(
        &self,
        cx: &mut Ctx<'_>,
        port: &ProductPort,
        n: u32,
        waited: &mut WaitedMember,
    ) -> Vec<(SwitchId, Term)> {
        let Some(gate) = self.gate_of(port) else { return Vec::new() };
        let message = port.message(cx, n);
        let demand = port.bind(cx, &self.side.sts.gates[gate], &message, &mut waited.values);
        let mut found = Vec::new();
        for switch in self.side.switches_at(waited.member.loc, gate) {
            let guard = cx.pool.substitute(self.side.sts.switches[switch].guard, &waited.values);
            found.push((switch, cx.pool.and2(demand, guard)));
        }
        found
    }

    /// The guards of internal switches of a member.
    fn internal(&self, cx: &mut Ctx<'_>, member: &SideMember, values: &Substitution) -> Vec<Term> {
        let guard = |id: &SwitchId| cx.pool.substitute(self.side.sts.switches[*id].guard, values);
        self.side.internal(member.loc).iter().map(guard).collect()
    }

    /// The members after the message, closed under internal steps.
    fn after_message(
        &self,
        cx: &mut Ctx<'_>,
        WitnessMessage { step, n }: WitnessMessage,
    ) -> Result<Self, NoWitness> {
        let mut next = Vec::new();
        match step {
            ProductStep::Wait => next.clone_from(&self.members),
            ProductStep::Delta => {
                for waited in self.at_rest(cx, n)? {
                    add_member(cx, &mut next, waited.member, waited.quiet);
                }
            }
            ProductStep::Port(at) => {
                let port = &self.product.ports[at];
                for waited in self.wait_until_message(cx, n)? {
                    self.take_switches(cx, port, n, waited, &mut next);
                }
            }
        }
        self.with_members(next).close_internally(cx)
    }

    /// The members at the instant of quiescence in step `n`.
    fn at_rest(&self, cx: &mut Ctx<'_>, n: u32) -> Result<Vec<WaitedMember>, NoWitness> {
        if self.product.waits_before(ProductStep::Delta) {
            return self.wait_until_message(cx, n);
        }
        Ok(self.without_delay(cx).into_iter().map(|member| self.with_values(member)).collect())
    }

    /// Adds the members that `waited` becomes by the message.
    fn take_switches(
        &self,
        cx: &mut Ctx<'_>,
        port: &ProductPort,
        n: u32,
        mut waited: WaitedMember,
        next: &mut Vec<SideMember>,
    ) {
        let moves = self.find_moves(cx, port, n, &mut waited);
        let WaitedMember { member, values, excuse, .. } = waited;
        let is_imp = self.role == WitnessRole::Implementation;
        // An input comes when the tester likes, so either side must have been able to wait for it. An output is its own
        // excuse.
        let excuse = if port.kind.is_input() { excuse } else { cx.pool.tt() };
        for &(switch, guard) in &moves {
            let reached = self.side.successor(cx, &member, (switch, guard), &values);
            let condition = cx.pool.and2(guard, excuse);
            add_member(cx, next, reached, condition);
        }
        if is_imp && port.kind.is_input() && self.product.completion != InputCompletion::None {
            // [AT15]'s `exec_neg`: where neither the input nor an internal step is possible, the input changes
            // nothing.
            let mut leaving: Vec<Term> = moves.iter().map(|(_, guard)| *guard).collect();
            leaving.extend(self.internal(cx, &member, &values));
            let leaving = cx.pool.or(leaving);
            let ignored = cx.pool.not(leaving);
            let condition = cx.pool.and2(ignored, excuse);
            add_member(cx, next, member, condition);
        }
    }

    fn close_internally(self, cx: &mut Ctx<'_>) -> Result<Self, NoWitness> {
        if self.side.is_visible() {
            return Ok(self);
        }
        let mut closure = self.members.clone();
        let mut open = self.members.clone();
        let mut rounds = 0;
        while let Some(member) = open.pop() {
            // A member whose condition grew is looked at again, so this may go on for ever where internal steps count.
            rounds += 1;
            if rounds > MAX_ROUNDS {
                return Err(NoWitness::Doubtful("internal steps do not end".into()));
            }
            let values = self.side.values(&member);
            let guards = self.internal(cx, &member, &values);
            for (&id, guard) in self.side.internal(member.loc).iter().zip(guards) {
                let next = self.side.successor(cx, &member, (id, guard), &values);
                if add_member(cx, &mut closure, next.clone(), guard) {
                    if undecided_items(cx, &next) > MAX_UNDECIDED {
                        return Err(NoWitness::Doubtful("collections grow with internal steps".into()));
                    }
                    open.push(constrain(cx, next, guard));
                }
            }
        }
        Ok(self.with_members(closure))
    }

    /// The condition under which `step` is specified here: under uioco no member without internal steps refuses an
    /// input.
    fn specifies(
        &self,
        cx: &mut Ctx<'_>,
        WitnessMessage { step, n }: WitnessMessage,
    ) -> Result<Term, NoWitness> {
        let (ProductStep::Port(at), ConformanceRelation::Uioco) = (step, self.product.relation) else {
            return Ok(cx.pool.tt());
        };
        let port = &self.product.ports[at];
        if !port.kind.is_input() {
            return Ok(cx.pool.tt());
        }
        let mut all = Vec::new();
        for mut waited in self.wait_until_message(cx, n)? {
            // To refuse is to stay: neither the input nor an internal step is possible, in a state that could wait
            // until now.
            let mut leaving: Vec<Term> = self.internal(cx, &waited.member, &waited.values);
            let moves = self.find_moves(cx, port, n, &mut waited);
            leaving.extend(moves.into_iter().map(|(_, guard)| guard));
            let leaving = cx.pool.or(leaving);
            let staying = cx.pool.not(leaving);
            let staying = cx.pool.and2(staying, waited.excuse);
            let refuses = some_state(cx, &waited.member, staying);
            all.push(cx.pool.not(refuses));
        }
        Ok(cx.pool.and(all))
    }

    /// The condition under which some member has a state.
    fn is_somewhere(&self, cx: &mut Ctx<'_>) -> Term {
        let tt = cx.pool.tt();
        let any: Vec<Term> = self.members.iter().map(|member| some_state(cx, member, tt)).collect();
        cx.pool.or(any)
    }

    /// The condition under which some state makes `step`.
    fn step_condition(
        &self,
        cx: &mut Ctx<'_>,
        WitnessMessage { step, n }: WitnessMessage,
    ) -> Result<Term, NoWitness> {
        let mut any = Vec::new();
        match step {
            ProductStep::Delta => {
                for waited in self.at_rest(cx, n)? {
                    any.push(some_state(cx, &waited.member, waited.quiet));
                }
            }
            ProductStep::Wait => {
                for waited in self.wait_until_message(cx, n)? {
                    any.push(some_state(cx, &waited.member, waited.excuse));
                }
            }
            ProductStep::Port(at) => {
                let port = &self.product.ports[at];
                for mut waited in self.wait_until_message(cx, n)? {
                    for (_, guard) in self.find_moves(cx, port, n, &mut waited) {
                        any.push(some_state(cx, &waited.member, guard));
                    }
                }
            }
        }
        Ok(cx.pool.or(any))
    }
}

/// Returns the number of items of collections whose presence is not decided.
fn undecided_items(cx: &Ctx<'_>, member: &SideMember) -> usize {
    let is_open = |part: &&Term| cx.pool.sort(**part) == Sort::Bool && cx.pool.as_value(**part).is_none();
    let items = |&term: &Term| match cx.pool.node(term) {
        TermNode::Elements(_, parts) => parts.iter().filter(is_open).count(),
        _ => 0,
    };
    member.store.terms().iter().map(items).sum()
}

/// The condition under which `condition` holds in some state of a member, its facts included.
fn some_state(cx: &mut Ctx<'_>, member: &SideMember, condition: Term) -> Term {
    let all = cx.pool.and(member.facts.iter().copied().chain([condition]));
    let some = cx.pool.exists(&member.own, all);
    if member.own.is_empty() { some } else { eliminate(cx.pool, some) }
}

/// Returns `member` with `condition` added to its facts.
fn constrain(cx: &mut Ctx<'_>, mut member: SideMember, condition: Term) -> SideMember {
    let all = cx.pool.and(member.facts.iter().copied().chain([condition]));
    member.facts = cx.pool.conjuncts(all);
    member
}

/// Adds `member` with `condition`, unless that is refuted; returns whether a member is new or its facts became weaker.
fn add_member(cx: &mut Ctx<'_>, members: &mut Vec<SideMember>, member: SideMember, condition: Term) -> bool {
    let member = constrain(cx, member, condition);
    // Unknown keeps the member: a condition too many is found out by the replay, one too few would be missed.
    if cx.decide(&member.facts) == SolverDecision::Unsat {
        return false;
    }
    let alike = |other: &&mut SideMember| {
        (other.loc, &other.store, &other.own) == (member.loc, &member.store, &member.own)
    };
    // Equal values under either condition are one member under both: without this, every step would double their
    // number.
    match members.iter_mut().find(alike) {
        Some(known) => {
            let (old, new) = (cx.pool.and(known.facts.clone()), cx.pool.and(member.facts));
            let either = cx.pool.or2(old, new);
            known.facts = cx.pool.conjuncts(either);
            either != old
        }
        None => {
            members.push(member);
            true
        }
    }
}

impl ModelProduct<'_> {
    /// The label of `step` with these values, in the ids of the specification; a wait has none.
    fn label(&self, step: ProductStep, values: Vec<Value>) -> Option<Label> {
        match step {
            ProductStep::Delta => Some(Label::Quiescence),
            ProductStep::Wait => None,
            ProductStep::Port(at) => {
                let port = &self.ports[at];
                let label = if port.kind.is_input() { Label::Input } else { Label::Output };
                Some(label(port.spec, values))
            }
        }
    }

    /// `label` in the ids of the implementation; `None` if it has no such gate.
    pub(super) fn label_of_imp(&self, label: &Label) -> Option<Label> {
        let gate = |spec: &GateId| self.ports.iter().find(|port| port.spec == *spec)?.imp;
        match label {
            Label::Input(spec, values) => Some(Label::Input(gate(spec)?, values.clone())),
            Label::Output(spec, values) => Some(Label::Output(gate(spec)?, values.clone())),
            Label::Quiescence | Label::Delay(_) => Some(label.clone()),
        }
    }
}
