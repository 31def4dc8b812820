//! The explanation of a forbidden observation: for every state the specification may be in, the reason why the
//! observation is refused.

use ioxide_model::concrete::{self, ConcreteState};
use ioxide_model::label::Label;
use ioxide_model::sts::{GateKind, SwitchId};
use ioxide_model::term::{Term, VarId};
use ioxide_model::value::Value;
use ioxide_smt::solver::SolverDecision;
use rustc_hash::FxHashSet;

use super::belief::Belief;
use crate::cx::Ctx;
use crate::outputs::{SwitchOffer, constant_substitution, offers_in_time, symbolic_offers_in_time};
use crate::state::SymState;

/// An observation the specification forbids.
#[derive(Clone, Debug)]
pub struct Forbidden {
    /// The forbidden label.
    pub label: Label,
    /// The belief just before.
    pub before: Belief,
    /// The reasons for the refusal, state by state.
    pub refusals: Vec<SwitchRefusal>,
    /// The outputs allowed instead, state by state.
    pub allowed: Vec<SwitchOffer>,
    /// True if silence was allowed instead, in some state.
    pub silence_allowed: bool,
    /// The number of orders of waiting labels that were tried; the reasons are those of the first.
    pub courses: usize,
    /// The [number](super::Monitor::last_label_number) of a message seen earlier, if it is the one that no order
    /// explains; `None` if it is the label just observed.
    pub held: Option<u64>,
}

/// A switch that fits the observation but for one reason.
#[derive(Clone, Debug)]
pub struct SwitchRefusal {
    /// The state, by position in the belief.
    pub state: usize,
    /// The switch.
    pub switch: SwitchId,
    /// The reason why it could not be taken.
    pub blocked: SwitchBlock,
}

/// The reason why a switch could not be taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SwitchBlock {
    /// The conjunct of the guard that does not hold with the observed values.
    Guard {
        /// The conjunct as written.
        conjunct: Term,
    },
    /// The guard as a whole does not hold with the known facts about the unknown values.
    Path,
    /// The value does not belong to the sort of its field.
    Sort {
        /// The field.
        field: VarId,
        /// The value observed.
        value: Value,
    },
    /// The message has another number of fields.
    Arity,
    /// Silence was observed, but this switch can be taken without any input.
    Enabled,
    /// Silence was observed beyond the deadline of this switch.
    Overdue,
}

/// Explains why `label` is forbidden in `belief`. The alternatives are those of `entry`, the belief after the last
/// message, from which a timed system has all its time left.
pub(super) fn explain_forbidden(
    cx: &mut Ctx<'_>,
    entry: &Belief,
    belief: &Belief,
    label: &Label,
) -> Forbidden {
    if cx.leaves_out_explanations() {
        return Forbidden {
            label: label.clone(),
            before: belief.clone(),
            refusals: Vec::new(),
            allowed: Vec::new(),
            silence_allowed: false,
            courses: 1,
            held: None,
        };
    }
    let mut allowed: Vec<SwitchOffer> = Vec::new();
    let mut silence_allowed = false;
    // A belief may have very many states.
    let mut known: FxHashSet<(SwitchId, Term)> = FxHashSet::default();
    let mut note = |cx: &Ctx<'_>, here: Vec<SwitchOffer>| {
        // No move of the system at all: in this state silence would have been right.
        silence_allowed |= here.is_empty();
        let outputs = here.into_iter().filter(|offer| cx.sts.gates[offer.gate].kind == GateKind::Output);
        allowed.extend(outputs.filter(|offer| known.insert((offer.switch, offer.when))));
    };
    // From `entry`, not from `belief`: with clocks, what could have come earlier was allowed too.
    cx.explain_within(|cx| match entry {
        Belief::Concrete(states) => {
            for state in states {
                let here = offers_in_time(cx, state, is_system_move);
                note(cx, here);
            }
        }
        Belief::Symbolic(states) => {
            for state in states {
                let here = symbolic_offers_in_time(cx, state, is_system_move);
                note(cx, here);
            }
        }
        Belief::Unspecified => (),
    });
    let refusals = match belief {
        Belief::Concrete(states) => {
            let of = |(i, state)| refusals_of(cx, i, state, label);
            states.iter().enumerate().flat_map(of).collect()
        }
        Belief::Symbolic(states) => {
            let of = |(i, state)| symbolic_refusals(cx, i, state, label);
            states.iter().enumerate().flat_map(of).collect()
        }
        Belief::Unspecified => Vec::new(),
    };
    // In a system of parts most switches are refused because their part is elsewhere, which explains nothing.
    let refusals = without_absent(cx, refusals);
    Forbidden {
        label: label.clone(),
        before: belief.clone(),
        refusals,
        allowed,
        silence_allowed,
        courses: 1,
        held: None,
    }
}

/// Leaves out, in a system of parts, the switches of parts at another location, unless all are such.
fn without_absent(cx: &Ctx<'_>, refusals: Vec<SwitchRefusal>) -> Vec<SwitchRefusal> {
    let is_elsewhere = |refusal: &SwitchRefusal| match refusal.blocked {
        SwitchBlock::Guard { conjunct } => {
            !cx.pool.free_vars(conjunct).iter().all(|var| cx.sts.is_data(*var))
        }
        _ => false,
    };
    if refusals.iter().all(is_elsewhere) {
        return refusals;
    }
    refusals.into_iter().filter(|refusal| !is_elsewhere(refusal)).collect()
}

/// Returns whether the system moves by itself at such a gate.
fn is_system_move(kind: GateKind) -> bool {
    matches!(kind, GateKind::Output | GateKind::Internal)
}

fn refusals_of(cx: &mut Ctx<'_>, i: usize, state: &ConcreteState, label: &Label) -> Vec<SwitchRefusal> {
    let (gate, values) = match label {
        Label::Output(gate, values) => (*gate, values),
        Label::Quiescence | Label::Delay(_) => {
            let blocked =
                if *label == Label::Quiescence { SwitchBlock::Enabled } else { SwitchBlock::Overdue };
            let refusal = |offer: &SwitchOffer| SwitchRefusal {
                state: i,
                switch: offer.switch,
                blocked: blocked.clone(),
            };
            return offers_in_time(cx, state, is_system_move).iter().map(refusal).collect();
        }
        Label::Input(..) => return Vec::new(),
    };
    let sts = cx.sts;
    let candidates = sts.switches_from(state.loc).filter(|(_, switch)| switch.gate == gate);
    candidates
        .map(|(id, _)| SwitchRefusal { state: i, switch: id, blocked: switch_block(cx, state, id, values) })
        .collect()
}

/// Returns the first reason against `id` in `state` with these values.
fn switch_block(cx: &mut Ctx<'_>, state: &ConcreteState, id: SwitchId, values: &[Value]) -> SwitchBlock {
    let switch = &cx.sts.switches[id];
    if let Some(misfit) = find_misfit(cx, id, values) {
        return misfit;
    }
    let fields = concrete::field_values(cx.sts, switch, values);
    let mut known = constant_substitution(cx, state);
    for (field, value) in fields.iter() {
        known.set(field, cx.pool.value(value.clone()));
    }
    // One condition is what a reader can check. If each holds alone, only all of them together exclude the switch,
    // and no single one is to blame.
    for conjunct in cx.pool.conjuncts(switch.guard) {
        let here = cx.pool.substitute(conjunct, &known);
        if cx.decide(&[here]) == SolverDecision::Unsat {
            return SwitchBlock::Guard { conjunct };
        }
    }
    SwitchBlock::Path
}

/// Returns the value of the wrong sort, or the wrong number of values; `None` if they fit.
fn find_misfit(cx: &Ctx<'_>, id: SwitchId, values: &[Value]) -> Option<SwitchBlock> {
    let fields = &cx.sts.gates[cx.sts.switches[id].gate].fields;
    if fields.len() != values.len() {
        return Some(SwitchBlock::Arity);
    }
    let fits = |field: VarId, value: &Value| cx.pool.has_sort(value, cx.pool.var_info(field).sort);
    let (&field, value) = fields.iter().zip(values).find(|(field, value)| !fits(**field, value))?;
    Some(SwitchBlock::Sort { field, value: value.clone() })
}

fn symbolic_refusals(cx: &mut Ctx<'_>, i: usize, state: &SymState, label: &Label) -> Vec<SwitchRefusal> {
    let sts = cx.sts;
    let mut refusals = Vec::new();
    if let Label::Delay(_) = label {
        let overdue = |offer: SwitchOffer| SwitchRefusal {
            state: i,
            switch: offer.switch,
            blocked: SwitchBlock::Overdue,
        };
        return symbolic_offers_in_time(cx, state, is_system_move).into_iter().map(overdue).collect();
    }
    for (id, switch) in sts.switches_from(state.loc) {
        let blocked = match label {
            Label::Output(gate, values) if switch.gate == *gate => {
                symbolically_blocked(cx, state, id, values)
            }
            Label::Quiescence if is_system_move(sts.kind_of(switch)) => SwitchBlock::Enabled,
            _ => continue,
        };
        refusals.push(SwitchRefusal { state: i, switch: id, blocked });
    }
    refusals
}

/// The first conjunct that cannot hold with these values and what is known of the unknown ones.
fn symbolically_blocked(cx: &mut Ctx<'_>, state: &SymState, id: SwitchId, values: &[Value]) -> SwitchBlock {
    if let Some(misfit) = find_misfit(cx, id, values) {
        return misfit;
    }
    let switch = &cx.sts.switches[id];
    let mut names = state.store.substitution(cx.sts);
    for (&field, value) in cx.sts.gates[switch.gate].fields.iter().zip(values) {
        names.set(field, cx.pool.value(value.clone()));
    }
    for conjunct in cx.pool.conjuncts(switch.guard) {
        // With the path: what was learned about unknown values is part of why this one is impossible.
        let mut facts = state.path.facts().to_vec();
        facts.push(cx.pool.substitute(conjunct, &names));
        if cx.decide(&facts) == SolverDecision::Unsat {
            return SwitchBlock::Guard { conjunct };
        }
    }
    SwitchBlock::Path
}
