//! The messages two systems have in common: gates matched by name, fields by position.

use ioxide_model::sts::{Gate, GateId, GateKind, Sts};
use ioxide_model::term::{Substitution, Term, VarId};
use ioxide_symex::Ctx;

/// A visible gate of the specification, and of the implementation if it has it.
#[derive(Clone, Debug)]
pub(crate) struct ProductPort {
    pub kind: GateKind,
    /// The gate of the implementation, if it has one.
    pub imp: Option<GateId>,
    /// The gate of the specification.
    pub spec: GateId,
    /// One variable per field, whose numbered copies are the values of a message.
    fields: Vec<VarId>,
}

/// The reason why two models cannot be compared, as text for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PortMismatch(pub String);

/// The visible gates of the specification, which has all those of the implementation.
///
/// # Errors
/// If a message has another direction or other fields in the two systems.
pub(crate) fn ports(cx: &mut Ctx<'_>, imp: &Sts, spec: &Sts) -> Result<Vec<ProductPort>, PortMismatch> {
    let mut ports = Vec::new();
    for (id, gate) in visible_gates(spec) {
        let other = counterpart(imp, gate);
        // A message that only the specification has is fine: the implementation never sends it, and need not take it.
        if other.is_none()
            && imp.gate_named(&gate.name).is_some_and(|it| counterpart(spec, &imp.gates[it]).is_none())
        {
            return Err(PortMismatch(format!(
                "`{}` is an input of one model and an output of the other",
                gate.name
            )));
        }
        if let Some(other) = other {
            agree(cx, &imp.gates[other], gate)?;
        }
        let sorts = |at: usize| {
            let own = cx.pool.var_info(gate.fields[at]).sort;
            let theirs = other.map_or(own, |other| cx.pool.var_info(imp.gates[other].fields[at]).sort);
            (own, theirs)
        };
        let sorts: Vec<_> = (0..gate.fields.len()).map(sorts).collect();
        let mut fields = Vec::with_capacity(sorts.len());
        for (&field, (own, theirs)) in gate.fields.iter().zip(sorts) {
            let name = cx.pool.var_info(field).name.clone();
            // Different ranges on both sides: a message may have values that one side refuses, so the common field has
            // no range.
            fields.push(if own == theirs { field } else { cx.pool.declare(&name, own.base()) });
        }
        ports.push(ProductPort { kind: gate.kind, imp: other, spec: id, fields });
    }
    match visible_gates(imp).find(|(_, gate)| counterpart(spec, gate).is_none()) {
        Some((_, gate)) => Err(PortMismatch(format!("the specification has no message `{}`", gate.name))),
        None => Ok(ports),
    }
}

fn visible_gates(sts: &Sts) -> impl Iterator<Item = (GateId, &Gate)> {
    sts.gates.iter_enumerated().filter(|(_, gate)| gate.kind != GateKind::Internal)
}

/// Returns the gate of `sts` with the name and the direction of `gate`, if it has one: an input and an output may share
/// a name.
pub(crate) fn counterpart(sts: &Sts, gate: &Gate) -> Option<GateId> {
    let same = |other: &Gate| other.name == gate.name && other.kind.is_input() == gate.kind.is_input();
    let found = visible_gates(sts).find(|(_, other)| same(other));
    found.or_else(|| visible_gates(sts).find(|(_, other)| is_renamed(sts, gate, other))).map(|(id, _)| id)
}

/// Returns whether two outputs are one message that an input of `sts` is called as, too. A model in the language has no
/// two messages of one name, so a draft of such a machine calls the output `X_out`
/// ([`source_message_name`](ioxide_model::label::source_message_name)).
fn is_renamed(sts: &Sts, gate: &Gate, other: &Gate) -> bool {
    let (short, long) = if gate.name.len() < other.name.len() {
        (&gate.name, &other.name)
    } else {
        (&other.name, &gate.name)
    };
    let is_input = |name: &str| sts.gates.iter().any(|gate| gate.kind.is_input() && *gate.name == *name);
    !gate.kind.is_input()
        && !other.kind.is_input()
        && long.strip_suffix("_out") == Some(&**short)
        && is_input(short)
}

/// Checks that both gates carry the same fields.
fn agree(cx: &Ctx<'_>, imp: &Gate, spec: &Gate) -> Result<(), PortMismatch> {
    let field = |var: &VarId| {
        let info = cx.pool.var_info(*var);
        (info.name.clone(), info.sort.base())
    };
    if imp.fields.len() == spec.fields.len()
        && imp.fields.iter().zip(&spec.fields).all(|(a, b)| field(a) == field(b))
    {
        return Ok(());
    }
    let listed = |gate: &Gate| {
        let shown = |var: &VarId| {
            let info = cx.pool.var_info(*var);
            format!("{}: {}", info.name, cx.pool.show_sort(info.sort))
        };
        format!("{}({})", gate.name, gate.fields.iter().map(shown).collect::<Vec<_>>().join(", "))
    };
    Err(PortMismatch(format!(
        "the implementation has `{}`, the specification `{}`",
        listed(imp),
        listed(spec)
    )))
}

impl ProductPort {
    /// The terms for the fields of message number `n` of a path.
    pub fn message(&self, cx: &mut Ctx<'_>, n: u32) -> Vec<Term> {
        let named = |&field: &VarId| {
            let value = cx.pool.indexed_var(field, n);
            cx.pool.var(value)
        };
        self.fields.iter().map(named).collect()
    }

    /// The variables for the fields of message number `n`.
    pub fn variables(&self, cx: &mut Ctx<'_>, n: u32) -> Vec<VarId> {
        self.fields.iter().map(|&field| cx.pool.indexed_var(field, n)).collect()
    }

    /// Substitutes the terms of a message for the fields of `gate`; returns the condition that they are of their sorts.
    pub fn bind(&self, cx: &mut Ctx<'_>, gate: &Gate, message: &[Term], values: &mut Substitution) -> Term {
        let mut demands = Vec::new();
        for (&field, &term) in gate.fields.iter().zip(message) {
            values.set(field, term);
            let sort = cx.pool.var_info(field).sort;
            // Where the common field has no range, each side demands its own: a value outside is one that this side
            // refuses.
            if cx.pool.sort(term) != sort {
                demands.push(cx.pool.domain_fact(sort, term));
            }
        }
        cx.pool.and(demands)
    }
}
