//! The way of values through a model: which field of a reply can reach which field of an input.
//!
//! A replay asks this to tell a value that the system chose from one that the tester chose and that is equal by chance.
//! The analysis looks at names only, never at values, and errs on both sides: it is a hint about where a value came
//! from, and a wrong hint costs a try, never a verdict.

use std::collections::{BTreeMap, BTreeSet};

use ioxide_model::sts::{GateId, GateKind, Sts};
use ioxide_model::term::{Term, TermNode, TermOp, TermPool, VarId};
use ioxide_model::value::Value;

/// A field of a message: the gate, and the position of the field.
pub type FieldId = (GateId, usize);

/// The way in which a field of a reply reaches a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FlowKind {
    /// The model determines the field from the variable: the system had no choice.
    Determined,
    /// The model stores the field in the variable: the system chose the value.
    Stored,
}

/// The fields of replies that the fields of inputs are compared with.
#[derive(Clone, Debug, Default)]
pub struct ReplyFlow {
    links: BTreeMap<FieldId, BTreeMap<FieldId, FlowKind>>,
    chosen: BTreeSet<FieldId>,
    constants: BTreeSet<Value>,
}

type FieldSources = BTreeMap<VarId, BTreeMap<FieldId, FlowKind>>;

impl ReplyFlow {
    /// Analyses a model.
    #[must_use]
    pub fn new(pool: &TermPool, sts: &Sts) -> Self {
        let sources = sources_of_vars(pool, sts);
        let aliases = aliases_of_fields(pool, sts);
        let mut flow = Self::default();
        for kinds in sources.values() {
            flow.chosen
                .extend(kinds.iter().filter(|(_, kind)| **kind == FlowKind::Stored).map(|(id, _)| *id));
        }
        for switch in &sts.switches {
            let gate = &sts.gates[switch.gate];
            let is_output_field = |term: Term| {
                let is_field = matches!(pool.node(term), TermNode::Var(var) if gate.fields.contains(var));
                is_field && gate.kind == GateKind::Output
            };
            let roots: Vec<Term> =
                [switch.guard].into_iter().chain(switch.update.iter().map(|(_, term)| *term)).collect();
            for term in pool.subterms(&roots, |_| true) {
                let node = pool.node(term);
                if let TermNode::Value(value) = node {
                    flow.constants.insert(value.clone());
                }
                // That an output has the value of a variable is no comparison with what the tester chose.
                let is_pin = match node {
                    TermNode::Eq(a, b) => is_output_field(*a) || is_output_field(*b),
                    _ => false,
                };
                if compares(node) && !is_pin {
                    flow.link(&pool.free_vars(term), &sources, &aliases, is_direct(pool, node));
                }
            }
        }
        flow
    }

    /// Notes that a comparison mentions these variables. What the model determines is repeated by a deterministic
    /// system anyway, so only a direct comparison makes it a source: a lookup, or two variables that are equal.
    fn link(
        &mut self,
        vars: &[VarId],
        sources: &FieldSources,
        aliases: &BTreeMap<VarId, BTreeSet<FieldId>>,
        is_direct: bool,
    ) {
        let inputs =
            vars.iter().flat_map(|var| aliases.get(var).into_iter().flatten().map(move |input| (var, input)));
        for (alias, input) in inputs {
            // A variable that holds both is not compared with itself.
            let others = vars.iter().filter(|var| *var != alias);
            let sources = others.filter_map(|var| sources.get(var)).flatten();
            for (reply, kind) in sources.filter(|(_, kind)| is_direct || **kind == FlowKind::Stored) {
                let known = self.links.entry(*input).or_default().entry(*reply).or_insert(*kind);
                *known = (*known).max(*kind);
            }
        }
    }

    /// Returns the way in which values of `reply`, a field of an output, reach `input`, a field of an input.
    #[must_use]
    pub fn link_between(&self, reply: FieldId, input: FieldId) -> Option<FlowKind> {
        self.links.get(&input)?.get(&reply).copied()
    }

    /// Returns whether the model stores this field of an output, so that the system chooses its value.
    #[must_use]
    pub fn is_chosen_by_system(&self, reply: FieldId) -> bool {
        self.chosen.contains(&reply)
    }

    /// Returns whether the model mentions this value.
    #[must_use]
    pub fn is_constant(&self, value: &Value) -> bool {
        self.constants.contains(value)
    }
}

/// Returns, for every variable, the fields of outputs whose values it may hold.
fn sources_of_vars(pool: &TermPool, sts: &Sts) -> FieldSources {
    let mut sources = FieldSources::new();
    let mut add = |var: VarId, field: FieldId, kind: FlowKind| {
        let known = sources.entry(var).or_default().entry(field).or_insert(kind);
        *known = (*known).max(kind);
    };
    for switch in &sts.switches {
        if sts.gates[switch.gate].kind != GateKind::Output {
            continue;
        }
        for (at, field) in sts.gates[switch.gate].fields.iter().enumerate() {
            for (var, term) in &switch.update {
                if holds_value(pool, *term, *field) {
                    add(*var, (switch.gate, at), FlowKind::Stored);
                }
            }
            for determining in pins(pool, switch.guard, *field) {
                // A variable without an initial value is chosen by the system, too: the first output that shows it
                // tells which value it has.
                let is_unknown = sts.vars.iter().any(|var| var.var == determining && var.init.is_none());
                let kind = if is_unknown { FlowKind::Stored } else { FlowKind::Determined };
                add(determining, (switch.gate, at), kind);
            }
        }
    }
    // Values go on from variable to variable; every round adds a source somewhere, or is the last. Kinds only grow from
    // `Determined` to `Stored`, and there are finitely many fields, so it ends.
    loop {
        let mut is_changed = false;
        for switch in &sts.switches {
            for (var, term) in &switch.update {
                for from in pool.free_vars(*term).into_iter().filter(|from| from != var) {
                    let Some(new) = sources.get(&from).cloned() else { continue };
                    if !holds_value(pool, *term, from) {
                        continue;
                    }
                    let known = sources.entry(*var).or_default();
                    for (field, kind) in new {
                        if known.get(&field).is_none_or(|before| *before < kind) {
                            known.insert(field, kind);
                            is_changed = true;
                        }
                    }
                }
            }
        }
        if !is_changed {
            return sources;
        }
    }
}

/// Returns the variables of the terms that `guard` equates `field` with.
fn pins(pool: &TermPool, guard: Term, field: VarId) -> Vec<VarId> {
    let mut found = Vec::new();
    for term in pool.subterms(&[guard], |term| matches!(pool.node(term), TermNode::And(_))) {
        if let TermNode::Eq(a, b) = pool.node(term) {
            let is_field = |side: Term| *pool.node(side) == TermNode::Var(field);
            match (is_field(*a), is_field(*b)) {
                (true, _) => found.extend(pool.free_vars(*b)),
                (_, true) => found.extend(pool.free_vars(*a)),
                // Whatever else the guard says of the field does not fix its value.
                (false, false) => (),
            }
        }
    }
    found
}

/// Returns, for every variable, the fields of inputs whose values it stands for: a field itself, and a variable that an
/// input stores it in.
fn aliases_of_fields(pool: &TermPool, sts: &Sts) -> BTreeMap<VarId, BTreeSet<FieldId>> {
    let mut aliases: BTreeMap<VarId, BTreeSet<FieldId>> = BTreeMap::new();
    for switch in &sts.switches {
        if sts.gates[switch.gate].kind != GateKind::Input {
            continue;
        }
        for (at, field) in sts.gates[switch.gate].fields.iter().enumerate() {
            aliases.entry(*field).or_default().insert((switch.gate, at));
            for (var, term) in &switch.update {
                if holds_value(pool, *term, *field) {
                    aliases.entry(*var).or_default().insert((switch.gate, at));
                }
            }
        }
    }
    aliases
}

/// Returns whether the value of `term` may have that of `var` as a part, or one next to it. A number of items to
/// take, a position or a condition decides what the value is and is no part of it.
fn holds_value(pool: &TermPool, term: Term, var: VarId) -> bool {
    let mut seen = BTreeSet::new();
    let mut open = vec![term];
    while let Some(term) = open.pop() {
        if !seen.insert(term) {
            continue;
        }
        match pool.node(term) {
            TermNode::Var(other) if *other == var => return true,
            TermNode::Ite(_, then, otherwise) => open.extend([*then, *otherwise]),
            // The number after another one; a sum of variables is neither of them.
            TermNode::Add(terms) => {
                let is_known = |term: &&Term| matches!(pool.node(**term), TermNode::Value(_));
                let unknown: Vec<Term> = terms.iter().filter(|term| !is_known(term)).copied().collect();
                open.extend(unknown.first().filter(|_| unknown.len() == 1));
            }
            TermNode::ToReal(arg) | TermNode::Floor(arg) | TermNode::Select { arg, .. } => open.push(*arg),
            TermNode::Concat(parts) | TermNode::Construct(_, _, parts) | TermNode::Elements(_, parts) => {
                open.extend(parts.iter().copied());
            }
            TermNode::Apply(op, args) => open.extend(parts_of_result(*op, args)),
            TermNode::Call(_, args) => open.extend(args.iter().copied()),
            TermNode::Lambda(_, body) => open.push(*body),
            TermNode::Value(_)
            | TermNode::Var(_)
            | TermNode::Not(_)
            | TermNode::And(_)
            | TermNode::Or(_)
            | TermNode::Eq(..)
            | TermNode::Lt(..)
            | TermNode::Le(..)
            | TermNode::Mul(_)
            | TermNode::Div(..)
            | TermNode::Rem(..)
            | TermNode::RealDiv(..)
            | TermNode::Length(_)
            | TermNode::Contains(..)
            | TermNode::Prefix(..)
            | TermNode::Suffix(..)
            | TermNode::TextLe(..)
            | TermNode::Matches(..)
            | TermNode::Is(..)
            | TermNode::Exists(..) => (),
        }
    }
    false
}

/// Returns the arguments of an operation whose parts may be parts of its result.
fn parts_of_result(op: TermOp, args: &[Term]) -> Vec<Term> {
    match op {
        TermOp::Size | TermOp::Has | TermOp::IndexOf | TermOp::Within | TermOp::Any | TermOp::Find => {
            Vec::new()
        }
        TermOp::Without
        | TermOp::Slice
        | TermOp::At
        | TermOp::Minus
        | TermOp::Substring
        | TermOp::PadLeft
        | TermOp::Split
        | TermOp::Sum => args.iter().take(1).copied().collect(),
        // The condition of the second argument chooses members and is no part of them.
        TermOp::Collect(_) => args.iter().take(1).chain(args.iter().skip(2)).copied().collect(),
        TermOp::Put
        | TermOp::Append
        | TermOp::Reverse
        | TermOp::Sorted
        | TermOp::Min
        | TermOp::Max
        | TermOp::Union
        | TermOp::Common
        | TermOp::Keys
        | TermOp::Values
        | TermOp::ToSet
        | TermOp::ToInt
        | TermOp::FromInt
        | TermOp::Upper
        | TermOp::Lower
        | TermOp::JoinTexts => args.to_vec(),
    }
}

/// Returns whether a comparison is a lookup, or one of two variables.
fn is_direct(pool: &TermPool, node: &TermNode) -> bool {
    match node {
        TermNode::Eq(a, b) => [a, b].into_iter().all(|side| matches!(pool.node(*side), TermNode::Var(_))),
        TermNode::Apply(..) => true,
        _ => false,
    }
}

/// Returns whether a term compares values for equality, in whatever way.
fn compares(node: &TermNode) -> bool {
    matches!(
        node,
        TermNode::Eq(..)
            | TermNode::Contains(..)
            | TermNode::Prefix(..)
            | TermNode::Suffix(..)
            | TermNode::Exists(..)
            | TermNode::Apply(
                TermOp::Has | TermOp::At | TermOp::Without | TermOp::IndexOf | TermOp::Any | TermOp::Find,
                _
            )
    )
}
