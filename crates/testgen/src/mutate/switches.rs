//! The operators, switch by switch.
//!
//! In a composed system, the conditions on the locations of parts and on the instance of a part are not written in any
//! model: they are not rewritten. There `source` and `target` are those of the parts that take the switch.

use ioxide_model::compose::MessageOwner;
use ioxide_model::sort::Sort;
use ioxide_model::sts::{GateKind, Model, Sts, Switch, SwitchId};
use ioxide_model::term::{Term, TermPool, VarId};
use ioxide_model::value::Value;

use super::MutationOperator;
use super::rewrite::{RewriteRule, rewritten};

/// Returns every result of `operator` on switch `id`.
pub(super) fn apply_operator(model: &mut Model, id: SwitchId, operator: MutationOperator) -> Vec<Switch> {
    match operator {
        MutationOperator::GuardTrue => mutate_guard(model, id, |pool, _| vec![pool.tt()]),
        MutationOperator::GuardNegate => mutate_guard(model, id, |pool, guard| vec![pool.not(guard)]),
        MutationOperator::GuardRelation => {
            mutate_guard(model, id, |pool, guard| rewritten(pool, guard, RewriteRule::Relation))
        }
        MutationOperator::GuardConstant => {
            mutate_guard(model, id, |pool, guard| rewritten(pool, guard, RewriteRule::Constant))
        }
        MutationOperator::GuardVariable => {
            let vars = in_scope(model, id);
            mutate_guard(model, id, |pool, guard| rewritten(pool, guard, RewriteRule::Variable(&vars)))
        }
        MutationOperator::GuardAndOr => {
            mutate_guard(model, id, |pool, guard| rewritten(pool, guard, RewriteRule::AndOr))
        }
        MutationOperator::GuardDrop => {
            mutate_guard(model, id, |pool, guard| rewritten(pool, guard, RewriteRule::Drop))
        }
        MutationOperator::AssignDelete => assignments_left_out(model, id),
        MutationOperator::AssignAdd => assignments_added(model, id),
        MutationOperator::AssignMutate => assignments_changed(model, id),
        MutationOperator::Collection => {
            let mut found =
                mutate_guard(model, id, |pool, guard| rewritten(pool, guard, RewriteRule::Collection));
            found.extend(assignments_rewritten(model, id, RewriteRule::Collection));
            found
        }
        MutationOperator::Arithmetic => {
            let mut found =
                mutate_guard(model, id, |pool, guard| rewritten(pool, guard, RewriteRule::Arithmetic));
            found.extend(assignments_rewritten(model, id, RewriteRule::Arithmetic));
            found
        }
        MutationOperator::ResetDelete => resets_left_out(model, id),
        MutationOperator::ResetAdd => resets_added(model, id),
        MutationOperator::Clock => clocks_confused(model, id),
        MutationOperator::Target => redirect_target(model, id),
        MutationOperator::Source => redirect_source(model, id),
        MutationOperator::Gate => gates(model, id),
        MutationOperator::Initial => Vec::new(),
        MutationOperator::Delete => delete_switch(model, id),
    }
}

/// The state variables but those of control, then the fields of the message.
fn in_scope(model: &Model, id: SwitchId) -> Vec<VarId> {
    let controls = controls(&model.sts);
    let vars = model.sts.vars.iter().map(|var| var.var).filter(|var| !controls.contains(var));
    vars.chain(model.sts.gates[model.sts.switches[id].gate].fields.iter().copied()).collect()
}

/// The variables that hold the locations of parts.
pub(super) fn controls(sts: &Sts) -> Vec<VarId> {
    let parts = sts.composition.iter().flat_map(|composition| composition.parts.iter());
    parts.filter_map(|part| part.control).collect()
}

/// Splits a guard into the conditions on locations of parts and on the instance, and the rest.
fn split_guard(pool: &mut TermPool, sts: &Sts, switch: &Switch, guard: Term) -> (Term, Term) {
    let Some(composition) = &sts.composition else { return (pool.tt(), guard) };
    let mut fixed = controls(sts);
    let of = composition.messages.get(&switch.gate);
    if of.is_some_and(|of| of.owner == MessageOwner::FirstField) {
        fixed.extend(sts.gates[switch.gate].fields.first());
    }
    // A condition that reads nothing else was added by the composition.
    let is_fixed = |pool: &TermPool, fact: &Term| {
        let read = pool.free_vars(*fact);
        !read.is_empty() && read.iter().all(|var| fixed.contains(var))
    };
    let (places, rest): (Vec<Term>, Vec<Term>) =
        pool.conjuncts(guard).into_iter().partition(|fact| is_fixed(pool, fact));
    (pool.and(places), pool.and(rest))
}

/// Returns the guard as written: without the condition that updated values are in their ranges.
fn written_guard(pool: &mut TermPool, switch: &Switch) -> Term {
    // The condition depends on the updates. It is taken off here and put back by `with_guard_and_update`, for the
    // updates of the mutant: a mutant with another guard would else keep the demands of updates it no longer has.
    let Some(check) = switch.range_check else { return switch.guard };
    pool.conjuncts_beyond(switch.guard, check)
}

/// Returns the switch with this guard as written and this update, the condition on their ranges added.
fn with_guard_and_update(
    pool: &mut TermPool,
    switch: &Switch,
    guard: Term,
    update: Vec<(VarId, Term)>,
) -> Switch {
    let demands: Vec<Term> = update
        .iter()
        .map(|&(var, term)| {
            let sort = pool.var_info(var).sort;
            pool.domain_fact(sort, term)
        })
        .collect();
    // An update as it was demands what it did: that items are there, too.
    let demand = match switch.range_check {
        Some(check) if update == switch.update => check,
        _ => pool.and(demands),
    };
    let demand = pool.conjuncts_beyond(demand, guard);
    let range_check = (!pool.is_true(demand)).then_some(demand);
    let guard = pool.and2(guard, demand);
    Switch { guard, update, range_check, ..switch.clone() }
}

/// Returns `switch` with `term` assigned to `var`, or with nothing assigned to it.
pub(super) fn with_assignment(
    pool: &mut TermPool,
    switch: &Switch,
    var: VarId,
    term: Option<Term>,
) -> Switch {
    let guard = written_guard(pool, switch);
    let mut update = switch.update.clone();
    match (update.iter().position(|(target, _)| *target == var), term) {
        (Some(at), Some(term)) => update[at].1 = term,
        (Some(at), None) => drop(update.remove(at)),
        (None, Some(term)) => update.push((var, term)),
        (None, None) => (),
    }
    // What the other assignments demand beyond their ranges, such as items that are there, they still demand.
    let others: Vec<(VarId, Term)> =
        switch.update.iter().copied().filter(|(target, _)| *target != var).collect();
    let facts = switch.range_check.map(|check| pool.conjuncts(check)).unwrap_or_default();
    let is_theirs = |pool: &TermPool, fact: Term| {
        let read = pool.free_vars(fact);
        others.iter().any(|&(_, term)| read.iter().all(|&var| pool.mentions(term, var)))
    };
    let theirs: Vec<Term> = facts.into_iter().filter(|&fact| is_theirs(pool, fact)).collect();
    let theirs = pool.and(theirs);
    let guard = pool.and2(guard, theirs);
    with_guard_and_update(pool, switch, guard, update)
}

/// Returns the switch once for every changed guard that `change` gives.
fn mutate_guard(
    model: &mut Model,
    id: SwitchId,
    change: impl FnOnce(&mut TermPool, Term) -> Vec<Term>,
) -> Vec<Switch> {
    let pool = &mut model.pool;
    let switch = &model.sts.switches[id];
    let guard = written_guard(pool, switch);
    let (places, guard) = split_guard(pool, &model.sts, switch, guard);
    let changed = change(pool, guard);
    let with_places = |guard: Term| {
        let guard = pool.and2(places, guard);
        with_guard_and_update(pool, switch, guard, switch.update.clone())
    };
    changed.into_iter().map(with_places).collect()
}

fn assignments_left_out(model: &mut Model, id: SwitchId) -> Vec<Switch> {
    let pool = &mut model.pool;
    let switch = &model.sts.switches[id];
    let guard = written_guard(pool, switch);
    let without = |at: usize| {
        let kept = switch.update.iter().enumerate().filter(|(other, _)| *other != at);
        kept.map(|(_, assignment)| *assignment).collect::<Vec<_>>()
    };
    let controls = controls(&model.sts);
    let own = (0..switch.update.len()).filter(|&at| !controls.contains(&switch.update[at].0));
    let updates: Vec<_> = own.map(without).collect();
    updates.into_iter().map(|update| with_guard_and_update(pool, switch, guard, update)).collect()
}

/// Every assignment with `rule` applied once to its value.
fn assignments_rewritten(model: &mut Model, id: SwitchId, rule: RewriteRule<'_>) -> Vec<Switch> {
    let pool = &mut model.pool;
    let switch = &model.sts.switches[id];
    let guard = written_guard(pool, switch);
    let controls = controls(&model.sts);
    let mut found = Vec::new();
    for at in (0..switch.update.len()).filter(|&at| !controls.contains(&switch.update[at].0)) {
        for term in rewritten(pool, switch.update[at].1, rule) {
            let mut update = switch.update.clone();
            update[at].1 = term;
            found.push(with_guard_and_update(pool, switch, guard, update));
        }
    }
    found
}

/// Adds an assignment to each variable without one: of a neighbour of its value, and of its initial value.
fn assignments_added(model: &mut Model, id: SwitchId) -> Vec<Switch> {
    let pool = &mut model.pool;
    let switch = &model.sts.switches[id];
    let guard = written_guard(pool, switch);
    let controls = controls(&model.sts);
    let mut found = Vec::new();
    for var in model.sts.vars.iter().filter(|var| !controls.contains(&var.var)) {
        if switch.update.iter().any(|(target, _)| *target == var.var) {
            continue;
        }
        let near = neighbour(pool, var.var);
        for term in near.into_iter().chain(var.init) {
            let mut update = switch.update.clone();
            update.push((var.var, term));
            found.push(with_guard_and_update(pool, switch, guard, update));
        }
    }
    found
}

/// Returns a neighbour of the value of the variable, within its sort; `None` for collections and infinite data types.
fn neighbour(pool: &mut TermPool, var: VarId) -> Option<Term> {
    let here = pool.var(var);
    let one = pool.int(1);
    Some(match pool.var_info(var).sort {
        Sort::Bool => pool.not(here),
        Sort::Int => pool.add2(here, one),
        Sort::Range { lo, hi } => {
            let (least, most) = (pool.int(lo), pool.int(hi));
            let (below, more) = (pool.lt(here, most), pool.add2(here, one));
            // The greatest value becomes the least, so the neighbour is within the range.
            pool.ite(below, more, least)
        }
        Sort::Real => {
            let one = pool.value(Value::Real(1.into()));
            pool.add2(here, one)
        }
        Sort::Str => {
            let more = pool.value(Value::str("x"));
            pool.concat([here, more])
        }
        Sort::Collection(_) => return None,
        Sort::Data(data) => {
            let domain = pool.finite_domain(Sort::Data(data))?;
            let last = pool.value(domain.last()?.clone());
            let first = pool.value(domain.first()?.clone());
            let is_last = pool.eq(here, last);
            pool.ite(is_last, first, last)
        }
    })
}

fn assignments_changed(model: &mut Model, id: SwitchId) -> Vec<Switch> {
    let vars = in_scope(model, id);
    let pool = &mut model.pool;
    let switch = &model.sts.switches[id];
    let guard = written_guard(pool, switch);
    let controls = controls(&model.sts);
    let mut found = Vec::new();
    for (at, &(var, term)) in switch.update.iter().enumerate().filter(|(_, (var, _))| !controls.contains(var))
    {
        let mut terms = Vec::new();
        for rule in
            [RewriteRule::Constant, RewriteRule::Variable(&vars), RewriteRule::Relation, RewriteRule::Branch]
        {
            terms.extend(rewritten(pool, term, rule));
        }
        if let Some(value) = pool.as_value(term).and_then(Value::as_bool) {
            // `Constant` has no neighbours of truth values.
            terms.push(pool.bool(!value));
        }
        for term in terms {
            let mut update = switch.update.clone();
            update[at] = (var, term);
            found.push(with_guard_and_update(pool, switch, guard, update));
        }
    }
    found
}

fn with_resets(switch: &Switch, resets: impl Iterator<Item = VarId>) -> Switch {
    Switch { resets: resets.collect(), ..switch.clone() }
}

fn resets_left_out(model: &Model, id: SwitchId) -> Vec<Switch> {
    let switch = &model.sts.switches[id];
    let without = |clock: &VarId| {
        with_resets(switch, switch.resets.iter().copied().filter(move |other| other != clock))
    };
    switch.resets.iter().map(without).collect()
}

fn resets_added(model: &Model, id: SwitchId) -> Vec<Switch> {
    let switch = &model.sts.switches[id];
    let clocks = model.sts.clocks.iter().map(|clock| clock.var);
    let others = clocks.filter(|clock| !switch.resets.contains(clock));
    others.map(|clock| with_resets(switch, switch.resets.iter().copied().chain([clock]))).collect()
}

/// Replaces a clock by another in the guard or in the resets.
fn clocks_confused(model: &mut Model, id: SwitchId) -> Vec<Switch> {
    let clocks: Vec<VarId> = model.sts.clocks.iter().map(|clock| clock.var).collect();
    let is_clock = |pool: &TermPool, term: Term| pool.free_vars(term).iter().any(|var| clocks.contains(var));
    let mut found = mutate_guard(model, id, |pool, guard| {
        if is_clock(pool, guard) { rewritten(pool, guard, RewriteRule::Clock(&clocks)) } else { Vec::new() }
    });
    let switch = &model.sts.switches[id];
    for &clock in &switch.resets {
        for &other in clocks.iter().filter(|other| !switch.resets.contains(other)) {
            let resets = switch.resets.iter().map(|&it| if it == clock { other } else { it });
            found.push(with_resets(switch, resets));
        }
    }
    found
}

/// Returns the switch once for every other location that it could lead to.
fn redirect_target(model: &mut Model, id: SwitchId) -> Vec<Switch> {
    if model.sts.composition.is_some() {
        return part_targets(model, id);
    }
    let switch = &model.sts.switches[id];
    let others = model.sts.locations.ids().filter(|&loc| loc != switch.target);
    others.map(|target| Switch { target, ..switch.clone() }).collect()
}

/// Moves a part that takes the switch to another target.
fn part_targets(model: &mut Model, id: SwitchId) -> Vec<Switch> {
    let switch = model.sts.switches[id].clone();
    let mut found = Vec::new();
    for (control, here) in places(model, &switch) {
        let at = switch.update.iter().position(|(var, _)| *var == control);
        // A part that the switch does not move stays where the guard says it is.
        let there = at.map_or(here, |at| switch.update[at].1);
        for place in other_places(model, control, there) {
            let mut update = switch.update.clone();
            match at {
                Some(at) => update[at].1 = place,
                None => update.push((control, place)),
            }
            found.push(Switch { update, ..switch.clone() });
        }
    }
    found
}

/// Moves a part that takes the switch to another source.
fn part_sources(model: &mut Model, id: SwitchId) -> Vec<Switch> {
    let switch = model.sts.switches[id].clone();
    let mut found = Vec::new();
    for (control, here) in places(model, &switch) {
        let at = |pool: &mut TermPool, place: Term| {
            let var = pool.var(control);
            pool.eq(var, place)
        };
        let is_here = at(&mut model.pool, here);
        for place in other_places(model, control, here) {
            let pool = &mut model.pool;
            let is_there = at(pool, place);
            let facts = pool.conjuncts(switch.guard);
            // Only the condition on this part is exchanged; those on the others stay.
            let guard = pool.and(facts.into_iter().map(|fact| if fact == is_here { is_there } else { fact }));
            found.push(Switch { guard, ..switch.clone() });
        }
    }
    found
}

/// The control variables of the parts that take `switch`, with the locations that the guard demands.
fn places(model: &mut Model, switch: &Switch) -> Vec<(VarId, Term)> {
    let controls = controls(&model.sts);
    let pool = &mut model.pool;
    let facts = pool.conjuncts(switch.guard);
    let mut found = Vec::new();
    for control in controls {
        let place = facts.iter().find_map(|&fact| pool.solved_for(control, fact));
        // The guard of a composed switch demands `control == place` of each part that takes it.
        found.extend(place.filter(|&place| pool.is_ground(place)).map(|place| (control, place)));
    }
    found
}

fn other_places(model: &mut Model, control: VarId, here: Term) -> Vec<Term> {
    let pool = &mut model.pool;
    let all = pool.finite_domain(pool.var_info(control).sort).unwrap_or_default();
    let all: Vec<Term> = all.into_iter().map(|value| pool.value(value)).collect();
    all.into_iter().filter(|&place| place != here).collect()
}

/// Returns the switch once for every other location that it could start at.
fn redirect_source(model: &mut Model, id: SwitchId) -> Vec<Switch> {
    if model.sts.composition.is_some() {
        return part_sources(model, id);
    }
    let switch = &model.sts.switches[id];
    let others = model.sts.locations.ids().filter(|&loc| loc != switch.source);
    others.map(|source| Switch { source, ..switch.clone() }).collect()
}

/// Replaces the message by another of the same direction: with the same sorts of fields, or any if no field is used.
fn gates(model: &mut Model, id: SwitchId) -> Vec<Switch> {
    let pool = &mut model.pool;
    let switch = &model.sts.switches[id];
    let own = &model.sts.gates[switch.gate];
    if own.kind == GateKind::Internal {
        return Vec::new();
    }
    let mut used = vec![switch.guard];
    used.extend(switch.update.iter().map(|(_, term)| *term));
    // A message with other fields fits only if the switch reads none.
    let used = pool.free_vars_of(&used).iter().any(|var| own.fields.contains(var));
    let mut found = Vec::new();
    for (other, gate) in model.sts.gates.iter_enumerated() {
        let sorts =
            |fields: &[VarId]| fields.iter().map(|field| pool.var_info(*field).sort).collect::<Vec<_>>();
        let alike = sorts(&gate.fields) == sorts(&own.fields);
        if other == switch.gate || gate.kind != own.kind || (used && !alike) {
            continue;
        }
        let renaming = own.fields.iter().copied().zip(gate.fields.iter().copied());
        let renaming =
            renaming.map(|(from, to)| (from, pool.var(to))).collect::<Vec<_>>().into_iter().collect();
        let guard = pool.substitute(switch.guard, &renaming);
        let update =
            switch.update.iter().map(|&(var, term)| (var, pool.substitute(term, &renaming))).collect();
        let range_check = switch.range_check.map(|check| pool.substitute(check, &renaming));
        found.push(Switch { gate: other, guard, update, range_check, ..switch.clone() });
    }
    found
}

fn delete_switch(model: &mut Model, id: SwitchId) -> Vec<Switch> {
    // Disabled and not removed, so that the other switches keep their numbers.
    let guard = model.pool.ff();
    let switch = &model.sts.switches[id];
    vec![Switch { guard, range_check: None, ..switch.clone() }]
}
