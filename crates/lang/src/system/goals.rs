//! Purposes, properties and tests of a system: the names they may use.
//!
//! Messages are those of the system, `client.say`; labels those of its transitions, `client[2].send+server.take`.
//! Properties and `reach` read the variables of the parts, `server.line`, and their states, `server.at(busy)`.

use std::collections::BTreeMap;
use std::rc::Rc;

use ioxide_model::compose::PartSystem;
use ioxide_model::sort::{DataKind, Sort};
use ioxide_model::source::Span;
use ioxide_model::sts::{Gate, Model, SwitchId};
use ioxide_model::term::VarId;

use super::constant::Constants;
use crate::ast::{ModelItem, Name, SystemDecl, SystemItemKind};
use crate::lower::{GoalNames, with_goals};
use crate::sink::FindingSink;
use crate::typeck::{FieldItem, GateItem, PartNames, ValueItem};

/// Adds the goals of `system` to `model`.
pub(super) fn add_goals(
    mut model: Model,
    system: &SystemDecl,
    constants: &Constants,
    sink: &mut FindingSink,
) -> Model {
    let items: Vec<ModelItem> = system.items.iter().filter_map(goal_item).collect();
    if items.is_empty() {
        return model;
    }
    let place = system.name.span;
    let values = value_names(&mut model, system, constants, place);
    let (types, gates, labels) = (type_names(&model, place), visible_gates(&model), switch_labels(&model));
    let names = GoalNames {
        values: values.iter().map(|(name, item)| (name, *item)).collect(),
        types: types.iter().map(|(name, sort)| (name, *sort)).collect(),
        gates: gates.iter().map(|(name, gate)| (name, Rc::clone(gate))).collect(),
        labels: labels.iter().map(|(name, switch)| (name, *switch)).collect(),
        parts: names_of_parts(&model),
    };
    with_goals(model, names, &items, sink)
}

/// Returns the goal that an item of a system is, if it is one.
fn goal_item(item: &crate::ast::SystemItem) -> Option<ModelItem> {
    match &item.kind {
        SystemItemKind::Goal(goal) => Some((**goal).clone()),
        _ => None,
    }
}

fn named_at(text: &str, span: Span) -> Name {
    Name { text: text.to_owned(), span }
}

/// Returns the constants of the system, and those enum values of its parts whose names no other enum has.
fn value_names(
    model: &mut Model,
    system: &SystemDecl,
    constants: &Constants,
    place: Span,
) -> Vec<(Name, ValueItem)> {
    let mut found: BTreeMap<String, Option<(Name, ValueItem)>> = BTreeMap::new();
    for (id, data) in model.pool.data_types().filter(|(_, data)| is_written(data)) {
        if data.kind != DataKind::Enum {
            continue;
        }
        for (at, ctor) in (0..).zip(&data.ctors) {
            let value = (named_at(&ctor.name, place), ValueItem::Variant(id, at));
            found.entry(ctor.name.to_string()).and_modify(|other| *other = None).or_insert(Some(value));
        }
    }
    for item in &system.items {
        let SystemItemKind::Const(decl) = &item.kind else { continue };
        if let Some(value) = constants.get(&decl.name.text) {
            let value = ValueItem::Const(model.pool.value(value.clone()));
            found.insert(decl.name.text.clone(), Some((decl.name.clone(), value)));
        }
    }
    found.into_values().flatten().collect()
}

/// Returns whether an author declared this type, not the composition.
fn is_written(data: &ioxide_model::sort::DataSort) -> bool {
    !data.name.contains('.') && data.kind != DataKind::Option
}

/// Returns the types that goals of a system may name.
fn type_names(model: &Model, place: Span) -> Vec<(Name, Sort)> {
    let written = model.pool.data_types().filter(|(_, data)| is_written(data));
    written.map(|(id, data)| (named_at(&data.name, place), Sort::Data(id))).collect()
}

/// Returns the messages that can be seen from outside, by name.
fn visible_gates(model: &Model) -> Vec<(Name, Rc<GateItem>)> {
    let field = |gate: &Gate, var: VarId| {
        let name = model.pool.var_info(var).name.to_string();
        (name, FieldItem { var: Ok(var), span: gate.span })
    };
    let seen = model.sts.gates.iter_enumerated().skip(1);
    let item = |(id, gate): (_, &Gate)| {
        let fields = gate.fields.iter().map(|&var| field(gate, var)).collect();
        (named_at(&gate.name, gate.span), Rc::new(GateItem { gate: id, kind: gate.kind, fields }))
    };
    seen.map(item).collect()
}

/// Returns the labels that belong to one transition only.
fn switch_labels(model: &Model) -> Vec<(Name, SwitchId)> {
    let mut found: BTreeMap<&str, Option<(Name, SwitchId)>> = BTreeMap::new();
    for (id, switch) in model.sts.switches.iter_enumerated() {
        let one = (named_at(&switch.label, switch.span), id);
        found.entry(&switch.label).and_modify(|other| *other = None).or_insert(Some(one));
    }
    found.into_values().flatten().collect()
}

/// Returns the names that goals may use of each part.
fn names_of_parts(model: &Model) -> Rc<[PartNames]> {
    let parts = model.sts.composition.iter().flat_map(|composition| composition.parts.iter());
    parts.map(|part| part_names(model, part)).collect()
}

fn part_names(model: &Model, part: &PartSystem) -> PartNames {
    let prefix = format!("{}.", part.name);
    let own = |var: VarId| {
        let name = model.pool.var_info(var).name.strip_prefix(&prefix)?.to_owned();
        (part.control != Some(var)).then_some((name, var))
    };
    PartNames {
        family: part.family.to_string(),
        index: part.index,
        control: part.control,
        places: part.places.iter().map(ToString::to_string).collect(),
        vars: model.sts.vars.iter().filter_map(|var| own(var.var)).collect(),
        clocks: model.sts.clocks.iter().filter_map(|clock| own(clock.var)).collect(),
    }
}
