//! From unsafe steps to a concrete trace: the symbolic test case, values for it, and a replay.
//!
//! 003's test case is a sequence of actions with the non-conformance condition at its end.
//! The steps are executed again from the start, all members kept with their conditions, so
//! the condition speaks of the fields of the messages only. Values are chosen field by field,
//! different small ones first, each choice confirmed by the solver, so that the same question
//! always gets the same values. What comes out is replayed on both models before it is shown.

use std::collections::BTreeSet;

use ioxide_model::concrete::{self, State};
use ioxide_model::label::Label;
use ioxide_model::relation::Relation;
use ioxide_model::sort::Sort;
use ioxide_model::sts::Sts;
use ioxide_model::term::{Node, Substitution, Term, VarId};
use ioxide_model::trace::Trace;
use ioxide_model::value::Value;
use ioxide_smt::solver::{Answer, Decision};
use ioxide_symex::{After, Belief, Ctx, Observed, Quiescence, is_quiescent};

use super::ports::Port;
use super::product::{Completion, Product, Step};
use super::side::{Member, Side};

/// States kept while a trace is replayed.
const MAX_STATES: usize = 10_000;

/// Why steps did not become a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum NoWitness {
    /// No values make the steps possible.
    Impossible,
    /// It was not decided, or the replay did not confirm it; the text is for people.
    Doubtful(String),
}

/// A trace that shows non-conformance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Witness {
    /// Allowed labels, then one the specification forbids.
    pub trace: Trace,
    /// The non-conformance condition over the fields of the messages, which are numbered by step.
    pub condition: Term,
}

/// The members of one side, each with the condition under which it is one.
type Guarded = Vec<(Term, Member)>;

/// A trace along `steps` that the implementation has and the specification forbids at its last label.
pub(crate) fn witness(cx: &mut Ctx<'_>, product: &Product<'_>, steps: &[Step]) -> Result<Witness, NoWitness> {
    let condition = condition(cx, product, steps)?;
    let mut n = 0;
    let mut messages: Vec<(Step, Vec<VarId>)> = Vec::new();
    for &step in steps {
        n += 1;
        let fields = match step {
            Step::Delta => Vec::new(),
            Step::Port(at) => product.ports[at].variables(cx, n),
        };
        messages.push((step, fields));
    }
    let fields: Vec<VarId> = messages.iter().flat_map(|(_, fields)| fields.iter().copied()).collect();
    let values = chosen(cx, condition, &fields)?;
    let label = |(step, fields): &(Step, Vec<VarId>)| {
        let values = fields.iter().filter_map(|&field| values_of(&values, field)).collect();
        product.label(*step, values)
    };
    let trace: Trace = messages.iter().map(label).collect();
    replayed(cx, product, &trace)?;
    Ok(Witness { trace, condition })
}

fn values_of(values: &[(VarId, Value)], field: VarId) -> Option<Value> {
    values.iter().find(|(var, _)| *var == field).map(|(_, value)| value.clone())
}

/// The condition under which the last of `steps` is what only the implementation does.
fn condition(cx: &mut Ctx<'_>, product: &Product<'_>, steps: &[Step]) -> Result<Term, NoWitness> {
    let tt = cx.pool.tt();
    let (imp, spec) = (product.imp.initial(cx), product.spec.initial(cx));
    let mut imp = closed(cx, &product.imp, vec![(tt, imp)])?;
    let mut spec = closed(cx, &product.spec, vec![(tt, spec)])?;
    let (&last, before) = steps.split_last().ok_or(NoWitness::Impossible)?;
    let mut n = 0;
    let mut specified = Vec::new();
    for &step in before {
        n += 1;
        specified.push(is_specified(cx, product, step, n, &spec));
        imp = after(cx, &product.imp, product, step, n, &imp, Role::Implementation)?;
        spec = after(cx, &product.spec, product, step, n, &spec, Role::Specification)?;
    }
    let does = possible(cx, &product.imp, product, last, n + 1, &imp, Role::Implementation);
    let allows = possible(cx, &product.spec, product, last, n + 1, &spec, Role::Specification);
    let there: Vec<Term> = spec.iter().map(|(condition, _)| *condition).collect();
    let there = cx.pool.or(there);
    let forbidden = cx.pool.not(allows);
    specified.extend([does, there, forbidden]);
    Ok(cx.pool.and(specified))
}

/// The condition under which `step` is specified where the specification is in `members`: under uioco no
/// member that no internal step can leave refuses an input.
fn is_specified(cx: &mut Ctx<'_>, product: &Product<'_>, step: Step, n: u32, members: &Guarded) -> Term {
    let (Step::Port(at), Relation::Uioco) = (step, product.relation) else { return cx.pool.tt() };
    let port = &product.ports[at];
    if !port.kind.is_input() {
        return cx.pool.tt();
    }
    let side = &product.spec;
    let mut all = Vec::with_capacity(members.len());
    for (condition, member) in members {
        let mut values = side.values(member);
        let mut leaving: Vec<Term> = internal(cx, side, member, &values);
        let moves = moves(cx, side, port, Some(port.spec), n, member, &mut values);
        leaving.extend(moves.into_iter().map(|(guard, _)| guard));
        leaving.push(cx.pool.not(*condition));
        all.push(cx.pool.or(leaving));
    }
    cx.pool.and(all)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    Implementation,
    Specification,
}

fn gate(port: &Port, role: Role) -> Option<ioxide_model::sts::GateId> {
    match role {
        Role::Implementation => port.imp,
        Role::Specification => Some(port.spec),
    }
}

/// The members after `step`, closed under internal steps.
fn after(
    cx: &mut Ctx<'_>,
    side: &Side<'_>,
    product: &Product<'_>,
    step: Step,
    n: u32,
    members: &Guarded,
    role: Role,
) -> Result<Guarded, NoWitness> {
    let mut next = Guarded::new();
    for (condition, member) in members {
        let mut values = side.values(member);
        match step {
            Step::Delta => {
                let quiet = side.quiet(cx, member, &values);
                add(cx, &mut next, [*condition, quiet], member.clone());
            }
            Step::Port(at) => {
                let port = &product.ports[at];
                let moves = moves(cx, side, port, gate(port, role), n, member, &mut values);
                for &(guard, switch) in &moves {
                    let reached = side.successor(cx, member, switch, &values);
                    add(cx, &mut next, [*condition, guard], reached);
                }
                let completed = role == Role::Implementation
                    && port.kind.is_input()
                    && product.completion != Completion::None;
                if completed {
                    let mut leaving: Vec<Term> = moves.iter().map(|(guard, _)| *guard).collect();
                    leaving.extend(internal(cx, side, member, &values));
                    let leaving = cx.pool.or(leaving);
                    let ignored = cx.pool.not(leaving);
                    add(cx, &mut next, [*condition, ignored], member.clone());
                }
            }
        }
    }
    closed(cx, side, next)
}

fn internal(cx: &mut Ctx<'_>, side: &Side<'_>, member: &Member, values: &Substitution) -> Vec<Term> {
    let guard = |id: &ioxide_model::sts::SwitchId| cx.pool.substitute(side.sts.switches[*id].guard, values);
    side.internal(member.loc).iter().map(guard).collect()
}

/// The switches of the message and their guards; its fields become part of `values`.
fn moves(
    cx: &mut Ctx<'_>,
    side: &Side<'_>,
    port: &Port,
    gate: Option<ioxide_model::sts::GateId>,
    n: u32,
    member: &Member,
    values: &mut Substitution,
) -> Vec<(Term, ioxide_model::sts::SwitchId)> {
    let Some(gate) = gate else { return Vec::new() };
    let message = port.message(cx, n);
    let demand = port.bind(cx, &side.sts.gates[gate], &message, values);
    let mut found = Vec::new();
    for switch in side.at(member.loc, gate) {
        let guard = cx.pool.substitute(side.sts.switches[switch].guard, values);
        found.push((cx.pool.and2(demand, guard), switch));
    }
    found
}

/// Adds `member` under the conjunction of `conditions`, unless that is refuted.
fn add(cx: &mut Ctx<'_>, members: &mut Guarded, conditions: [Term; 2], member: Member) -> bool {
    let condition = cx.pool.and(conditions);
    if cx.pool.is_false(condition) {
        return false;
    }
    let facts = cx.pool.conjuncts(condition);
    if cx.decide(&facts) == Decision::Unsat {
        return false;
    }
    match members.iter_mut().find(|(_, other)| *other == member) {
        Some((known, _)) => {
            let either = cx.pool.or2(*known, condition);
            let new = either != *known;
            *known = either;
            new
        }
        None => {
            members.push((condition, member));
            true
        }
    }
}

fn closed(cx: &mut Ctx<'_>, side: &Side<'_>, members: Guarded) -> Result<Guarded, NoWitness> {
    if side.is_visible() {
        return Ok(members);
    }
    let mut closure = members.clone();
    let mut open = members;
    let mut rounds = 0;
    while let Some((condition, member)) = open.pop() {
        rounds += 1;
        if rounds > MAX_STATES {
            return Err(NoWitness::Doubtful("internal steps do not end".into()));
        }
        let values = side.values(&member);
        for (&id, guard) in side.internal(member.loc).iter().zip(internal(cx, side, &member, &values)) {
            let next = side.successor(cx, &member, id, &values);
            if add(cx, &mut closure, [condition, guard], next.clone()) {
                let condition = cx.pool.and([condition, guard]);
                open.push((condition, next));
            }
        }
    }
    Ok(closure)
}

/// The condition under which some member does `step`.
fn possible(
    cx: &mut Ctx<'_>,
    side: &Side<'_>,
    product: &Product<'_>,
    step: Step,
    n: u32,
    members: &Guarded,
    role: Role,
) -> Term {
    let mut any = Vec::new();
    for (condition, member) in members {
        let mut values = side.values(member);
        match step {
            Step::Delta => {
                let quiet = side.quiet(cx, member, &values);
                any.push(cx.pool.and2(*condition, quiet));
            }
            Step::Port(at) => {
                let port = &product.ports[at];
                for (guard, _) in moves(cx, side, port, gate(port, role), n, member, &mut values) {
                    any.push(cx.pool.and2(*condition, guard));
                }
            }
        }
    }
    cx.pool.or(any)
}

/// Values for `fields` that satisfy `condition`, different small ones first.
fn chosen(cx: &mut Ctx<'_>, condition: Term, fields: &[VarId]) -> Result<Vec<(VarId, Value)>, NoWitness> {
    let constants = constants(cx, condition);
    let mut rest = condition;
    match decide(cx, rest) {
        Decision::Unsat => return Err(NoWitness::Impossible),
        Decision::Unknown(why) => return Err(NoWitness::Doubtful(why.to_string())),
        Decision::Sat => (),
    }
    let mut values = Vec::with_capacity(fields.len());
    for (at, &field) in fields.iter().enumerate() {
        let value = value_for(cx, rest, field, at, &constants)?;
        let constant = cx.pool.value(value.clone());
        rest = cx.pool.substitute(rest, &[(field, constant)].into_iter().collect());
        values.push((field, value));
    }
    Ok(values)
}

fn decide(cx: &mut Ctx<'_>, condition: Term) -> Decision {
    let facts = cx.pool.conjuncts(condition);
    cx.decide(&facts)
}

fn value_for(
    cx: &mut Ctx<'_>,
    condition: Term,
    field: VarId,
    at: usize,
    constants: &[Value],
) -> Result<Value, NoWitness> {
    let sort = cx.pool.var_info(field).sort;
    if let Some(value) = fixed(cx, condition, field) {
        return Ok(value);
    }
    for value in wishes(cx, sort, at, constants) {
        let constant = cx.pool.value(value.clone());
        let with = cx.pool.substitute(condition, &[(field, constant)].into_iter().collect());
        if decide(cx, with) == Decision::Sat {
            return Ok(value);
        }
    }
    let facts = cx.pool.conjuncts(condition);
    match cx.check(&facts) {
        Answer::Sat(valuation) => {
            Ok(valuation.get(field).cloned().unwrap_or_else(|| cx.pool.default_value(sort)))
        }
        Answer::Unsat => Err(NoWitness::Impossible),
        Answer::Unknown(why) => Err(NoWitness::Doubtful(why.to_string())),
    }
}

/// The constant that a conjunct of `condition` says `field` equals.
fn fixed(cx: &Ctx<'_>, condition: Term, field: VarId) -> Option<Value> {
    cx.pool.conjuncts(condition).into_iter().find_map(|fact| {
        let Node::Eq(a, b) = *cx.pool.node(fact) else { return None };
        let other = match (cx.pool.node(a), cx.pool.node(b)) {
            (Node::Var(var), _) if *var == field => b,
            (_, Node::Var(var)) if *var == field => a,
            _ => return None,
        };
        cx.pool.as_value(other).cloned()
    })
}

/// Values to try for field number `at`: one of its own, then small ones, then those of the condition.
fn wishes(cx: &Ctx<'_>, sort: Sort, at: usize, constants: &[Value]) -> Vec<Value> {
    let own = i64::try_from(at).unwrap_or(0) + 1;
    let mut wishes = match sort {
        Sort::Int => [own, 0, 1, 2].map(Value::int).to_vec(),
        Sort::Range { lo, hi } => {
            let within = lo.saturating_add(own.rem_euclid(hi.saturating_sub(lo).saturating_add(1).max(1)));
            [within, lo, lo.saturating_add(1), hi].map(Value::int).to_vec()
        }
        Sort::Str => vec![Value::str(&format!("s{own}")), Value::str("")],
        Sort::Bool => vec![Value::Bool(at.is_multiple_of(2)), Value::Bool(!at.is_multiple_of(2))],
        Sort::Real | Sort::Data(_) | Sort::Collection(_) => {
            cx.pool.finite_domain(sort).unwrap_or_else(|| vec![cx.pool.default_value(sort)])
        }
    };
    wishes.extend(constants.iter().cloned());
    wishes.retain(|value| cx.pool.has_sort(value, sort));
    wishes
}

/// The constants of a condition and their neighbours, few and in order.
fn constants(cx: &Ctx<'_>, condition: Term) -> Vec<Value> {
    let mut found = BTreeSet::new();
    for term in cx.pool.subterms(&[condition], |_| true) {
        match cx.pool.as_value(term) {
            Some(Value::Int(n)) => {
                if let Some(n) = n.to_i64() {
                    found.extend([n, n.saturating_sub(1), n.saturating_add(1)].map(Value::int));
                }
            }
            Some(value @ (Value::Real(_) | Value::Str(_) | Value::Data(_) | Value::Collection(_))) => {
                found.insert(value.clone());
            }
            Some(Value::Bool(_)) | None => (),
        }
    }
    found.into_iter().take(48).collect()
}

impl Product<'_> {
    /// The label of `step` with these values, in the ids of the specification.
    pub(crate) fn label(&self, step: Step, values: Vec<Value>) -> Label {
        match step {
            Step::Delta => Label::Quiescence,
            Step::Port(at) => {
                let port = &self.ports[at];
                let gate = port.spec;
                if port.kind.is_input() { Label::Input(gate, values) } else { Label::Output(gate, values) }
            }
        }
    }

    /// `label` in the ids of the implementation; `None` if it has no such gate.
    fn label_of_imp(&self, label: &Label) -> Option<Label> {
        let gate = |spec: &ioxide_model::sts::GateId| self.ports.iter().find(|port| port.spec == *spec)?.imp;
        match label {
            Label::Input(spec, values) => Some(Label::Input(gate(spec)?, values.clone())),
            Label::Output(spec, values) => Some(Label::Output(gate(spec)?, values.clone())),
            Label::Quiescence | Label::Delay(_) => Some(label.clone()),
        }
    }
}

/// Checks that the specification allows all of `trace` but its last label, and the implementation has it.
fn replayed(cx: &mut Ctx<'_>, product: &Product<'_>, trace: &Trace) -> Result<(), NoWitness> {
    let doubtful = |text: String| Err(NoWitness::Doubtful(text));
    let Some((last, before)) = trace.labels.split_last() else { return Err(NoWitness::Impossible) };
    let mut after = After::new(cx);
    for label in before {
        if product.relation == Relation::Uioco && is_refused(cx, &after, label) {
            return doubtful("a state of the specification refuses an input".into());
        }
        match after.observe(cx, label) {
            Ok(Observed::Allowed) => (),
            Ok(Observed::Unspecified) => return doubtful("the specification leaves an input open".into()),
            Ok(Observed::Unknown) => return doubtful("the replay lost states of the specification".into()),
            Err(_) => return doubtful("an earlier label is forbidden already".into()),
        }
    }
    if after.observe(cx, last).is_ok() {
        return doubtful("the replay does not find the last label forbidden".into());
    }
    if implements(cx, product, trace) {
        return Ok(());
    }
    doubtful("the replay does not find the trace in the implementation".into())
}

/// Whether some state that no internal step can leave refuses the input `label`; by evaluation.
fn is_refused(cx: &mut Ctx<'_>, after: &After, label: &Label) -> bool {
    let (Label::Input(..), Belief::Concrete(states)) = (label, after.belief()) else { return false };
    let sts = cx.sts;
    let refuses = |state: &State| {
        is_stable(cx, sts, state)
            && concrete::successors(cx.pool, sts, state, label).is_ok_and(|next| next.is_empty())
    };
    states.iter().any(refuses)
}

/// Whether the implementation, completed, has `trace`; by evaluation.
fn implements(cx: &mut Ctx<'_>, product: &Product<'_>, trace: &Trace) -> bool {
    let sts = product.imp.sts;
    // Where initial values are unknown, some of them make the trace possible: the condition says so.
    let Some(start) = concrete::initial_state(cx.pool, sts) else { return true };
    let mut states = closure(cx, sts, [start].into());
    for label in &trace.labels {
        let Some(label) = product.label_of_imp(label) else {
            if matches!(label, Label::Input(..)) && product.completion != Completion::None {
                states.retain(|state| is_stable(cx, sts, state));
                continue;
            }
            return false;
        };
        states = concretely(cx, sts, &states, &label, product.completion);
        if states.is_empty() {
            return false;
        }
    }
    true
}

/// The states of an implementation at start; none if a value is unknown.
pub(crate) fn concrete_start(cx: &Ctx<'_>, sts: &Sts) -> BTreeSet<State> {
    let start = concrete::initial_state(cx.pool, sts);
    closure(cx, sts, start.into_iter().collect())
}

/// The states of an implementation, completed, after `label`.
pub(crate) fn concrete_after(
    cx: &mut Ctx<'_>,
    sts: &Sts,
    states: &BTreeSet<State>,
    label: &Label,
) -> BTreeSet<State> {
    concretely(cx, sts, states, label, Completion::Angelic)
}

/// The states of a system after `label`; what it does with an input no switch of it accepts is up to `completion`.
pub(crate) fn concretely(
    cx: &mut Ctx<'_>,
    sts: &Sts,
    states: &BTreeSet<State>,
    label: &Label,
    completion: Completion,
) -> BTreeSet<State> {
    let mut next = BTreeSet::new();
    for state in states {
        next.extend(successors(cx, sts, state, label, completion));
    }
    closure(cx, sts, next)
}

fn successors(
    cx: &mut Ctx<'_>,
    sts: &Sts,
    state: &State,
    label: &Label,
    completion: Completion,
) -> Vec<State> {
    if *label == Label::Quiescence {
        let quiet = is_quiescent(&mut cx.over(sts), state) == Quiescence::Quiet;
        return if quiet { vec![state.clone()] } else { Vec::new() };
    }
    let next = concrete::successors(cx.pool, sts, state, label).unwrap_or_default();
    let next: Vec<State> = next.into_iter().map(|successor| successor.state).collect();
    let ignores = next.is_empty()
        && matches!(label, Label::Input(..))
        && completion != Completion::None
        && is_stable(cx, sts, state);
    if ignores { vec![state.clone()] } else { next }
}

fn is_stable(cx: &Ctx<'_>, sts: &Sts, state: &State) -> bool {
    concrete::internal_successors(cx.pool, sts, state).is_ok_and(|next| next.is_empty())
}

fn closure(cx: &Ctx<'_>, sts: &Sts, states: BTreeSet<State>) -> BTreeSet<State> {
    concrete::tau_closure(cx.pool, sts, states, MAX_STATES)
        .map_or_else(|_| BTreeSet::new(), |closure| closure.states)
}
