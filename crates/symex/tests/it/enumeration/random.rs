//! Random finite models: two variables and two messages over small ranges, three locations.

use proptest::prelude::*;

use ioxide_model::index::Idx;
use ioxide_model::sort::Sort;
use ioxide_model::source::{FileId, Span};
use ioxide_model::sts::{Gate, GateId, GateKind, LocId, Location, Model, StateVar, Sts, Switch};
use ioxide_model::term::{Term, TermPool, VarId};

/// The gate of inputs in every random model.
pub(super) fn input() -> GateId {
    GateId::new(1)
}

const N_LOCATIONS: usize = 3;
const RANGE: Sort = Sort::Range { lo: 0, hi: 2 };

/// The recipe of a random model.
#[derive(Clone, Debug)]
pub(super) struct Recipe {
    init: [i64; 2],
    switches: Vec<SwitchRecipe>,
}

#[derive(Clone, Debug)]
struct SwitchRecipe {
    source: usize,
    gate: usize,
    guard: Vec<Atom>,
    update: [Option<Value>; 2],
    target: usize,
}

/// `left OP right` with an operator by number.
#[derive(Clone, Debug)]
struct Atom {
    left: Value,
    op: u8,
    right: Value,
}

/// A number over variables (0, 1), the field (2), or a constant, plus an offset.
#[derive(Clone, Debug)]
struct Value {
    base: usize,
    offset: i64,
}

impl Recipe {
    pub fn empty() -> Self {
        Self { init: [0, 0], switches: Vec::new() }
    }
}

pub(super) fn recipe() -> impl Strategy<Value = Recipe> {
    let value = || (0usize..4, 0i64..3).prop_map(|(base, offset)| Value { base, offset });
    let atom = (value(), 0u8..4, value()).prop_map(|(left, op, right)| Atom { left, op, right });
    let switch = (
        0..N_LOCATIONS,
        0usize..4,
        proptest::collection::vec(atom, 0..3),
        (proptest::option::of(value()), proptest::option::of(value())),
        0..N_LOCATIONS,
    )
        .prop_map(|(source, gate, guard, update, target)| {
            let update = [update.0, update.1];
            SwitchRecipe { source, gate, guard, update, target }
        });
    ([0i64..3, 0i64..3], proptest::collection::vec(switch, 1..8))
        .prop_map(|(init, switches)| Recipe { init, switches })
}

pub(super) fn build(recipe: &Recipe) -> Model {
    let span = Span::new(FileId::new(0), 0, 0);
    let mut pool = TermPool::new();
    let mut sts = Sts::new("random", "l0", span);
    for i in 1..N_LOCATIONS {
        sts.locations.push(Location { name: format!("l{i}").into(), span, doc: String::new() });
    }
    let vars = [pool.declare("x", RANGE), pool.declare("y", RANGE)];
    for (&var, &init) in vars.iter().zip(&recipe.init) {
        let init = Some(pool.int(init));
        sts.vars.push(StateVar { var, init, span });
    }
    for (name, kind, has_field) in
        [("in", GateKind::Input, true), ("out", GateKind::Output, true), ("tick", GateKind::Output, false)]
    {
        let fields = if has_field { vec![pool.declare("p", RANGE)] } else { Vec::new() };
        sts.gates.push(Gate { name: name.into(), kind, fields, span, doc: String::new() });
    }
    for (i, switch) in recipe.switches.iter().enumerate() {
        let switch = switch_of(&mut pool, &sts, &vars, i, switch, span);
        sts.switches.push(switch);
    }
    Model { pool, sts }
}

fn switch_of(
    pool: &mut TermPool,
    sts: &Sts,
    vars: &[VarId; 2],
    i: usize,
    recipe: &SwitchRecipe,
    span: Span,
) -> Switch {
    let gate = GateId::new(recipe.gate);
    let field = sts.gates[gate].fields.first().copied();
    let mut guard: Vec<Term> = recipe.guard.iter().map(|atom| atom_term(pool, vars, field, atom)).collect();
    let mut update = Vec::new();
    for (&var, value) in vars.iter().zip(&recipe.update) {
        let Some(value) = value else { continue };
        let term = value_term(pool, vars, field, value);
        // The new value stays in its range, as lowering has it.
        guard.push(pool.domain_fact(RANGE, term));
        update.push((var, term));
    }
    Switch {
        label: format!("r{i}").into(),
        source: LocId::new(recipe.source),
        gate,
        guard: pool.and(guard),
        update,
        resets: Vec::new(),
        target: LocId::new(recipe.target),
        span,
        doc: String::new(),
        reqs: Vec::new(),
        weight: 1,
        range_check: None,
    }
}

fn atom_term(pool: &mut TermPool, vars: &[VarId; 2], field: Option<VarId>, atom: &Atom) -> Term {
    let left = value_term(pool, vars, field, &atom.left);
    let right = value_term(pool, vars, field, &atom.right);
    match atom.op {
        0 => pool.eq(left, right),
        1 => pool.ne(left, right),
        2 => pool.lt(left, right),
        _ => pool.le(left, right),
    }
}

fn value_term(pool: &mut TermPool, vars: &[VarId; 2], field: Option<VarId>, value: &Value) -> Term {
    let offset = pool.int(value.offset);
    let base = match (value.base, field) {
        (0 | 1, _) => pool.var(vars[value.base]),
        (2, Some(field)) => pool.var(field),
        _ => return offset,
    };
    if value.offset == 0 { base } else { pool.add([base, offset]) }
}
