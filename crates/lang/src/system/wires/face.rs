//! The messages of the system that stand for messages of parts.
//!
//! Several messages of parts may be one message of the system: that of all instances of an array, and those that are
//! exposed under one name. Their fields agree in name and type but for ranges, and the message of the system has the
//! widest: every part checks its own range where it takes part.

use std::collections::{BTreeMap, BTreeSet};

use ioxide_model::code::Code;
use ioxide_model::compose::{MessageOwner, PartMessage};
use ioxide_model::diag::Diagnostic;
use ioxide_model::sort::Sort;
use ioxide_model::source::Span;
use ioxide_model::sts::{GateId, GateKind};
use ioxide_model::term::VarId;

use super::{PartWire, SystemWiring, WireEnd};
use crate::ast::SystemItemKind;

/// A message of the system.
pub(super) struct SystemMessage {
    pub(super) gate: GateId,
    kind: GateKind,
    /// The field for the index of the instance, if there is one; it precedes `fields`.
    pub(super) index: Option<VarId>,
    pub(super) fields: Vec<VarId>,
}

/// The fields of a message of the system.
pub(super) struct MessageShape {
    /// Name and sort of the field for the index of the instance, if there is one.
    index: Option<(String, Sort)>,
    fields: Vec<(String, Sort)>,
    /// The place of the first message that has this name.
    place: Span,
}

impl MessageShape {
    fn all_fields(&self) -> impl Iterator<Item = &(String, Sort)> {
        self.index.iter().chain(&self.fields)
    }

    /// Widens the fields to those of `other` if both can be one message; returns whether they can.
    fn join(&mut self, other: &Self) -> bool {
        if self.index.is_some() != other.index.is_some() || self.fields.len() != other.fields.len() {
            return false;
        }
        let mine = self.index.iter_mut().chain(&mut self.fields);
        for ((name, sort), (other_name, other_sort)) in mine.zip(other.all_fields()) {
            match widest(*sort, *other_sort) {
                Some(wide) if name == other_name => *sort = wide,
                _ => return false,
            }
        }
        true
    }
}

/// Returns the sort of the values of both sorts; `None` if they have no common one.
fn widest(a: Sort, b: Sort) -> Option<Sort> {
    match (a, b) {
        _ if a == b => Some(a),
        (Sort::Range { lo, hi }, Sort::Range { lo: other_lo, hi: other_hi }) => {
            Some(Sort::Range { lo: lo.min(other_lo), hi: hi.max(other_hi) })
        }
        _ if a.base() == b.base() => Some(a.base()),
        _ => None,
    }
}

impl SystemWiring<'_> {
    /// Finds the fields of the messages of the system; reports messages of one name that differ in them.
    pub(super) fn find_shapes(&mut self) {
        let receivers: BTreeSet<WireEnd> = self.wires.iter().map(|wire| wire.to).collect();
        let is_carried = |wire: &&PartWire| wire.channel.is_some();
        let carried: BTreeSet<WireEnd> = self.wires.iter().filter(is_carried).map(|wire| wire.to).collect();
        let mut told = BTreeSet::new();
        for instance in 0..self.instances.len() {
            for (gate, _) in self.instances[instance].model.sts.gates.iter_enumerated().skip(1) {
                let end = (instance, gate);
                // Who receives directly is seen by the message of the sender.
                let is_seen = !receivers.contains(&end) || carried.contains(&end);
                if is_seen && self.hidden(end).is_none() {
                    self.find_shape(end, &mut told);
                }
            }
        }
    }

    fn find_shape(&mut self, end: WireEnd, told: &mut BTreeSet<String>) {
        let (name, shape) = (self.face_name(end), self.shape_of(end));
        let Some(known) = self.shapes.get_mut(&name) else {
            self.shapes.insert(name, shape);
            return;
        };
        // What is wrong with one instance is wrong with all.
        if known.join(&shape) || !told.insert(name.clone()) {
            return;
        }
        let place = known.place;
        let [known, other] = [&self.shapes[&name], &shape].map(|shape| self.show_shape(shape));
        self.sink.push(
            Diagnostic::new(Code::BadConnection, shape.place, format!("`{name}` would be two messages"))
                .caret(format!("this one has {other}"))
                .label(place, format!("this one has {known}"))
                .help("give them different names, or fields of the same names and types"),
        );
    }

    fn show_shape(&self, shape: &MessageShape) -> String {
        let field = |(name, sort): &(String, Sort)| format!("{name}: {}", self.composer.show_sort(*sort));
        let fields: Vec<String> = shape.all_fields().map(field).collect();
        if fields.is_empty() { "no fields".into() } else { format!("`({})`", fields.join(", ")) }
    }

    fn shape_of(&self, end: WireEnd) -> MessageShape {
        let instance = &self.instances[end.0];
        let names = self.field_names(end);
        // An instance with a message of its own needs no field to say which one it is.
        let index =
            if self.is_exposed_alone(end) { None } else { self.index_field(&instance.family, &names) };
        let sort = |at| self.composer.field_sort(self.part_of(end.0), end.1, at);
        let fields = names.into_iter().enumerate().map(|(at, name)| (name, sort(at))).collect();
        let place = self.exposed_name(end).map_or(instance.span, |name| name.span);
        MessageShape { index, fields, place }
    }

    /// Returns the name of the message of the system that stands for a message of a part.
    fn face_name(&self, end: WireEnd) -> String {
        let instance = &self.instances[end.0];
        let own = || format!("{}.{}", instance.family, instance.model.sts.gates[end.1].name);
        self.exposed_name(end).map_or_else(own, |name| name.text.clone())
    }

    /// Returns the message of the system that stands for a message of a part, made at first use.
    pub(super) fn face(&mut self, end: WireEnd, kind: GateKind) -> &SystemMessage {
        let name = self.face_name(end);
        if let Some(face) = self.faces.get(&name)
            && face.kind != kind
        {
            let message = format!("`{name}` would be both an input and an output of the system");
            self.sink.push(
                Diagnostic::new(Code::BadConnection, self.instances[end.0].span, message)
                    .help("connect the message of all instances, or of none"),
            );
        }
        if !self.faces.contains_key(&name) {
            let face = self.new_face(end, kind, &name);
            self.faces.insert(name.clone(), face);
        }
        &self.faces[&name]
    }

    fn new_face(&mut self, end: WireEnd, kind: GateKind, name: &str) -> SystemMessage {
        let gate = &self.instances[end.0].model.sts.gates[end.1];
        let (span, doc) = (gate.span, gate.doc.clone());
        let shape = match self.shapes.remove(name) {
            Some(shape) => shape,
            None => self.shape_of(end),
        };
        let index = shape.index.map(|(name, sort)| self.composer.field(&name, sort));
        let fields: Vec<VarId> =
            shape.fields.into_iter().map(|(name, sort)| self.composer.field(&name, sort)).collect();
        let all = index.into_iter().chain(fields.iter().copied()).collect();
        let gate = self.composer.gate(name, kind, all, span, &doc);
        self.composer.belongs(gate, self.message_of(end, index.is_some()));
        SystemMessage { gate, kind, index, fields }
    }

    /// Returns the part and message that a message of the system stands for.
    fn message_of(&self, end: WireEnd, has_index: bool) -> PartMessage {
        let instance = &self.instances[end.0];
        let owner = match (instance.index, has_index) {
            (None, _) => MessageOwner::Only,
            (Some(at), false) => MessageOwner::Instance(at),
            (Some(_), true) => MessageOwner::FirstField,
        };
        let message = instance.model.sts.gates[end.1].name.clone();
        PartMessage { family: instance.family.as_str().into(), message, owner }
    }

    /// Returns name and sort of the field for the index of the instance; `None` if the part is no array.
    fn index_field(&self, family: &str, taken: &[String]) -> Option<(String, Sort)> {
        let &(lo, hi) = self.index_ranges.get(family)?;
        let decl = self.system.items.iter().find_map(|item| match &item.kind {
            SystemItemKind::Part(decl) if decl.name.text == family => decl.index.as_ref(),
            _ => None,
        });
        let name = decl.map_or("index", |(name, ..)| name.text.as_str());
        let name = if taken.iter().any(|field| field == name) { family.to_owned() } else { name.to_owned() };
        Some((name, Sort::Range { lo, hi }))
    }
}

/// Returns the least and the greatest index of every array.
pub(super) fn index_ranges(instances: &[super::Instance]) -> BTreeMap<String, (i64, i64)> {
    let mut ranges: BTreeMap<String, (i64, i64)> = BTreeMap::new();
    for instance in instances {
        if let Some(at) = instance.index {
            let range = ranges.entry(instance.family.clone()).or_insert((at, at));
            *range = (range.0.min(at), range.1.max(at));
        }
    }
    ranges
}
