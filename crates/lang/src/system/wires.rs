//! Connections: the meetings of parts, and their messages.

mod face;

use std::collections::{BTreeMap, BTreeSet};

use ioxide_model::code::Code;
use ioxide_model::compose::{
    CarriedMessage, Channel, Composer, PartId, SyncFieldSource, SyncMember, Synchronisation,
};
use ioxide_model::diag::Diagnostic;
use ioxide_model::source::Span;
use ioxide_model::sts::{GateId, GateKind, Sts};
use ioxide_model::term::VarId;
use ioxide_model::value::Value;

use self::face::{MessageShape, SystemMessage, index_ranges};
use super::constant::Constants;
use super::open_field;
use super::parts::Instance;
use super::through::channel_of;
use crate::ast::{
    ChannelDecl, ConnectionDecl, ExprKind, Name, PinDecl, PortDecl, SystemDecl, SystemItemKind,
};
use crate::sink::{FindingSink, Reported};
use crate::suggest;

/// A message of an instance.
type WireEnd = (usize, GateId);

/// A connection of one instance with another.
#[derive(Clone)]
struct PartWire {
    from: WireEnd,
    to: WireEnd,
    /// The values that fields of the sender must have for this receiver.
    given: Vec<(usize, Value)>,
    /// The constants for fields of the receiver.
    pinned: BTreeMap<usize, Value>,
    /// The channel it goes through, if any: the part of the channel, and the position of the message there.
    channel: Option<(PartId, usize)>,
    span: Span,
}

/// Adds the meetings that `system` declares.
pub(super) fn connect(
    composer: &mut Composer,
    system: &SystemDecl,
    instances: &[Instance],
    constants: &Constants,
    sink: &mut FindingSink,
) {
    let mut wiring = SystemWiring {
        composer,
        system,
        instances,
        constants,
        sink,
        wires: Vec::new(),
        index_ranges: index_ranges(instances),
        shapes: BTreeMap::new(),
        faces: BTreeMap::new(),
    };
    // In this order: channels are put into the wires; which messages show outside depends on the wires; and
    // only with the fields of all of them known can a meeting be made.
    wiring.resolve_connections();
    wiring.build_channels();
    wiring.find_shapes();
    if !wiring.sink.has_errors() {
        wiring.add_meetings();
    }
}

struct SystemWiring<'a> {
    composer: &'a mut Composer,
    system: &'a SystemDecl,
    instances: &'a [Instance],
    constants: &'a Constants,
    sink: &'a mut FindingSink,
    wires: Vec<PartWire>,
    /// The least and the greatest index of every array.
    index_ranges: BTreeMap<String, (i64, i64)>,
    /// The fields of the messages of the system that are not made yet, by name.
    shapes: BTreeMap<String, MessageShape>,
    faces: BTreeMap<String, SystemMessage>,
}

impl<'a> SystemWiring<'a> {
    // Names.

    /// Returns the `connect` declarations of the system.
    fn connection_decls(&self) -> impl Iterator<Item = &'a ConnectionDecl> + use<'a> {
        self.system.items.iter().filter_map(|item| match &item.kind {
            SystemItemKind::Connect(connection) => Some(connection),
            _ => None,
        })
    }

    /// Returns the instances of the part that `port` names; empty, and reported, if there is none.
    fn family(&mut self, port: &PortDecl) -> Vec<usize> {
        let all: Vec<usize> =
            (0..self.instances.len()).filter(|&at| self.instances[at].family == port.part.text).collect();
        if all.is_empty() {
            let names: BTreeSet<&str> =
                self.instances.iter().map(|instance| instance.family.as_str()).collect();
            let message = format!("there is no part `{}`", port.part.text);
            let diagnostic = Diagnostic::new(Code::UnknownPart, port.part.span, message);
            self.sink.push(suggest::suggest_nearest(diagnostic, &port.part, names.into_iter()));
        }
        all
    }

    /// Returns the message that `port` names in an instance.
    fn gate_at(&mut self, port: &PortDecl, instance: usize) -> Result<GateId, Reported> {
        let sts = &self.instances[instance].model.sts;
        if let Some(gate) = sts.gate_named(&port.message.text).filter(|&gate| gate != Sts::TAU) {
            return Ok(gate);
        }
        let message = format!("`{}` has no message `{}`", port.part.text, port.message.text);
        let names: Vec<&str> = sts.gates.iter().skip(1).map(|gate| &*gate.name).collect();
        let diagnostic = Diagnostic::new(Code::UnknownGate, port.message.span, message);
        Err(self.sink.report(suggest::suggest_nearest(diagnostic, &port.message, names.into_iter())))
    }

    /// Returns the position of the field that a pin names.
    fn field_position(&mut self, end: WireEnd, pin: &PinDecl) -> Result<usize, Reported> {
        let model = &self.instances[end.0].model;
        let fields = &model.sts.gates[end.1].fields;
        let names: Vec<&str> = fields.iter().map(|&field| &*model.pool.var_info(field).name).collect();
        if let Some(at) = names.iter().position(|name| *name == pin.field.text) {
            return Ok(at);
        }
        let message = format!("`{}` has no field `{}`", model.sts.gates[end.1].name, pin.field.text);
        let diagnostic = Diagnostic::new(Code::UnknownField, pin.field.span, message);
        let diagnostic = suggest::suggest_nearest(diagnostic, &pin.field, names.into_iter());
        Err(self.sink.report(diagnostic))
    }

    /// Returns the fields of `end` that `port` pins, with their values.
    fn pinned_values(
        &mut self,
        end: WireEnd,
        port: &PortDecl,
        constants: &Constants,
    ) -> Result<Vec<(usize, Value)>, Reported> {
        let mut found = Vec::with_capacity(port.pins.len());
        for pin in &port.pins {
            let at = self.field_position(end, pin)?;
            let sort = self.composer.field_sort(self.part_of(end.0), end.1, at);
            match constants.of_sort(self.composer.pool(), &pin.value, sort) {
                Ok(value) => found.push((at, value)),
                Err(wrong) => {
                    return Err(self.sink.report(*wrong));
                }
            }
        }
        Ok(found)
    }

    fn part_of(&self, instance: usize) -> PartId {
        self.instances[instance].part.expect("instances are placed before they are connected")
    }

    fn field_names(&self, end: WireEnd) -> Vec<String> {
        let model = &self.instances[end.0].model;
        let fields = &model.sts.gates[end.1].fields;
        fields.iter().map(|&field| model.pool.var_info(field).name.to_string()).collect()
    }

    // Connections become wires.

    /// Resolves all connections to wires.
    fn resolve_connections(&mut self) {
        for connection in self.connection_decls() {
            self.resolve_connection(connection);
        }
    }

    fn resolve_connection(&mut self, connection: &ConnectionDecl) {
        let (from, to) = (&connection.from, &connection.to);
        let before = self.sink.n_errors();
        for sender in self.family(from) {
            // An index of the sender is a constant, or a name for the index of each.
            let index = self.instances[sender].index;
            let mut constants = self.constants.clone();
            if let Some(expr) = &from.index {
                match (&expr.kind, index) {
                    (_, None) => return self.not_an_array(from),
                    // A name that is a constant selects one instance. Any other name stands for the index of
                    // each sender in turn, in the pins and for the receiver.
                    (ExprKind::Name(name), Some(at)) if constants.get(name).is_none() => {
                        constants = constants.with_constant(name, at);
                    }
                    (_, Some(at)) => match constants.int(expr) {
                        Ok(n) if n == i128::from(at) => {}
                        Ok(_) => continue,
                        Err(wrong) => return self.sink.push(*wrong),
                    },
                }
            }
            let Ok(gate) = self.gate_at(from, sender) else { return };
            if self.instances[sender].model.sts.gates[gate].kind != GateKind::Output {
                return self.wrong_way(from, "sends");
            }
            let Ok(given) = self.pinned_values((sender, gate), from, &constants) else { return };
            for (receiver, selected) in self.receivers((sender, gate), to, &constants) {
                // The values by which the sender selects this receiver: those pinned at the sender, and the
                // one that the receiver's index demands.
                let given = given.iter().cloned().chain(selected).collect();
                self.add_wire((sender, gate), receiver, connection, given, &constants);
                // What is wrong with one instance is wrong with all.
                if self.sink.n_errors() > before {
                    return;
                }
            }
        }
    }

    /// Returns the instances that receive, each with the field and value by which the sender selects it.
    fn receivers(
        &mut self,
        from: WireEnd,
        to: &PortDecl,
        constants: &Constants,
    ) -> Vec<(usize, Option<(usize, Value)>)> {
        let all = self.family(to);
        // An instance does not send to itself: its peers are the others of its array.
        let peers: Vec<usize> =
            all.iter().copied().filter(|&at| at != from.0 || self.instances[at].index.is_none()).collect();
        let Some(expr) = &to.index else {
            return peers.into_iter().map(|at| (at, None)).collect();
        };
        if all.iter().any(|&at| self.instances[at].index.is_none()) {
            self.not_an_array(to);
            return Vec::new();
        }
        if let ExprKind::Name(name) = &expr.kind
            && constants.get(name).is_none()
        {
            let Some(field) = self.field_names(from).iter().position(|field| field == name) else {
                let message = format!("`{name}` is neither the sender's index nor a field of its message");
                let fields = self.field_names(from).join("`, `");
                let diagnostic = Diagnostic::new(Code::UnknownName, expr.span, message);
                self.sink.push(if fields.is_empty() {
                    diagnostic.help(format!(
                        "for every instance leave the index out: `{}.{}`",
                        to.part.text, to.message.text
                    ))
                } else {
                    diagnostic.help(format!("its fields are `{fields}`"))
                });
                return Vec::new();
            };
            let chosen = |at: usize| (at, self.instances[at].index.map(|index| (field, Value::int(index))));
            return peers.into_iter().map(chosen).collect();
        }
        match constants.int(expr) {
            Ok(n) => {
                let one = all.iter().copied().find(|&at| self.instances[at].index.map(i128::from) == Some(n));
                // Beyond the end of the array there is no neighbour.
                one.into_iter().map(|at| (at, None)).collect()
            }
            Err(wrong) => {
                self.sink.push(*wrong);
                Vec::new()
            }
        }
    }

    /// Adds a wire from an output to an input of part `receiver`; sorts and pins must fit.
    fn add_wire(
        &mut self,
        from: WireEnd,
        receiver: usize,
        connection: &ConnectionDecl,
        given: Vec<(usize, Value)>,
        constants: &Constants,
    ) {
        let port = &connection.to;
        let Ok(gate) = self.gate_at(port, receiver) else { return };
        let to = (receiver, gate);
        if !self.instances[receiver].model.sts.gates[gate].kind.is_input() {
            return self.wrong_way(port, "receives");
        }
        let Ok(pinned) = self.pinned_values(to, port, constants) else { return };
        let pinned: BTreeMap<usize, Value> = pinned.into_iter().collect();
        if from.0 == receiver {
            let message = format!("`{}` would send to itself", self.instances[receiver].name);
            return self.sink.push(Diagnostic::new(Code::BadConnection, port.span, message));
        }
        let span = connection.from.span.to(connection.to.span);
        self.check_fields(from, to, &pinned, span);
        self.wires.push(PartWire { from, to, given, pinned, channel: None, span });
    }

    /// Checks that every field of the receiver is pinned, or has a field of the sender of its name and base sort.
    fn check_fields(&mut self, from: WireEnd, to: WireEnd, pinned: &BTreeMap<usize, Value>, span: Span) {
        let senders = self.field_names(from);
        for (at, name) in self.field_names(to).iter().enumerate() {
            if pinned.contains_key(&at) {
                continue;
            }
            let Some(other) = senders.iter().position(|sender| sender == name) else {
                let message = format!("the sender has no field `{name}`, which the receiver has");
                let help =
                    format!("give it: `{}({name}: ...)`", self.instances[to.0].model.sts.gates[to.1].name);
                return self.sink.push(Diagnostic::new(Code::BadConnection, span, message).help(help));
            };
            let mine = self.composer.field_sort(self.part_of(from.0), from.1, other);
            let yours = self.composer.field_sort(self.part_of(to.0), to.1, at);
            if mine.base() != yours.base() {
                let (mine, yours) = (self.composer.show_sort(mine), self.composer.show_sort(yours));
                let message = format!("`{name}` is {mine} where it is sent and {yours} where it is received");
                return self.sink.push(Diagnostic::new(Code::BadConnection, span, message));
            }
        }
    }

    fn not_an_array(&mut self, port: &PortDecl) {
        let message = format!("`{}` is one part, not an array", port.part.text);
        self.sink.push(Diagnostic::new(Code::BadConnection, port.span, message).help("leave out the index"));
    }

    fn wrong_way(&mut self, port: &PortDecl, verb: &str) {
        let message = format!("`{}` is not a message that `{}` {verb}", port.message.text, port.part.text);
        let help = "a connection leads from an output of one part to an input of another";
        self.sink.push(Diagnostic::new(Code::BadConnection, port.message.span, message).help(help));
    }

    // Channels.

    /// Builds the channels and connects them to their two parts.
    fn build_channels(&mut self) {
        let decls: Vec<&ChannelDecl> = self
            .system
            .items
            .iter()
            .filter_map(|item| match &item.kind {
                SystemItemKind::Channel(decl) => Some(decl),
                _ => None,
            })
            .collect();
        for decl in decls {
            match channel_of(&decl.kind, &decl.settings, self.constants) {
                Ok(channel) => self.build_channel(decl, &channel),
                Err(wrong) => self.sink.push(*wrong),
            }
        }
    }

    /// Puts a channel between each two connected instances that `decl` names, one for each direction.
    fn build_channel(&mut self, decl: &ChannelDecl, channel: &Channel) {
        let (one, other) = (&decl.between.0.text, &decl.between.1.text);
        // One channel for each direction and pair of instances: messages of two senders have no common order.
        let mut ways: BTreeMap<(usize, usize), Vec<usize>> = BTreeMap::new();
        for (at, wire) in self.wires.iter().enumerate() {
            let families = (&self.instances[wire.from.0].family, &self.instances[wire.to.0].family);
            if wire.channel.is_none() && (families == (one, other) || families == (other, one)) {
                ways.entry((wire.from.0, wire.to.0)).or_default().push(at);
            }
        }
        if ways.is_empty() && !self.sink.has_errors() {
            let message = format!("no connection of `{one}` and `{other}` goes through `{}`", decl.name.text);
            self.sink.push(
                Diagnostic::new(Code::BadChannel, decl.name.span, message)
                    .help("a channel carries the connections between its two parts, which are written too"),
            );
        }
        for ((from, to), wires) in ways {
            let name =
                format!("{}({}>{})", decl.name.text, self.instances[from].name, self.instances[to].name);
            let messages: Vec<CarriedMessage> = wires.iter().map(|&at| self.carried_message(at)).collect();
            let part = self.composer.channel(&name, channel, &messages, decl.name.span);
            for (number, at) in wires.into_iter().enumerate() {
                self.wires[at].channel = Some((part, number));
            }
        }
    }

    /// Returns the message with the fields that the receiver needs.
    fn carried_message(&self, wire: usize) -> CarriedMessage {
        let PartWire { from, to, pinned, .. } = &self.wires[wire];
        let senders = self.field_names(*from);
        let mut fields = Vec::new();
        for (at, name) in self.field_names(*to).into_iter().enumerate() {
            let sender = senders.iter().position(|sender| *sender == name);
            if let (Some(sender), false) = (sender, pinned.contains_key(&at)) {
                fields.push((name, self.composer.field_sort(self.part_of(from.0), from.1, sender)));
            }
        }
        let name = self.instances[to.0].model.sts.gates[to.1].name.to_string();
        CarriedMessage { name: format!("{name}{wire}"), fields }
    }

    // Meetings.

    /// Makes the meetings of all wires, sender by sender, and shows messages without a wire outside.
    fn add_meetings(&mut self) {
        let wires = std::mem::take(&mut self.wires);
        let mut senders: BTreeMap<WireEnd, Vec<PartWire>> = BTreeMap::new();
        for wire in &wires {
            senders.entry(wire.from).or_default().push(wire.clone());
        }
        for (&from, wires) in &senders {
            self.add_sending(from, wires);
        }
        for wire in wires.iter().filter(|wire| wire.channel.is_some()) {
            self.add_delivery(wire);
        }
        let receivers: BTreeSet<WireEnd> = wires.iter().map(|wire| wire.to).collect();
        for instance in 0..self.instances.len() {
            for (gate, _) in self.instances[instance].model.sts.gates.iter_enumerated().skip(1) {
                let end = (instance, gate);
                if !senders.contains_key(&end) && !receivers.contains(&end) {
                    self.add_unconnected(end);
                }
            }
            self.composer.internal(self.part_of(instance)).expect("internal steps have no fields");
        }
        self.unused_names();
    }

    /// Adds the meetings at a message that `wires` start from: one for each set of receivers.
    fn add_sending(&mut self, from: WireEnd, wires: &[PartWire]) {
        let mut values: BTreeMap<usize, BTreeSet<Value>> = BTreeMap::new();
        for (field, value) in wires.iter().flat_map(|wire| &wire.given) {
            values.entry(*field).or_default().insert(value.clone());
        }
        // The cases split the values of the sender's fields: for each field that selects receivers every
        // value that is named, and "none of them". They exclude each other, so a message of the sender has
        // all its receivers in one meeting.
        let mut cases: Vec<BTreeMap<usize, Option<Value>>> = vec![BTreeMap::new()];
        for (&field, known) in &values {
            let choices = known.iter().cloned().map(Some).chain([None]);
            cases = choices
                .flat_map(|choice| {
                    cases.iter().map(move |case| {
                        let mut case = case.clone();
                        case.insert(field, choice.clone());
                        case
                    })
                })
                .collect();
        }
        for case in cases {
            let fits = |wire: &&PartWire| {
                wire.given.iter().all(|(field, value)| case[field].as_ref() == Some(value))
            };
            let receivers: Vec<&PartWire> = wires.iter().filter(fits).collect();
            if !receivers.is_empty() {
                self.sending_case(from, &receivers, &case, &values);
            }
        }
    }

    fn sending_case(
        &mut self,
        from: WireEnd,
        receivers: &[&PartWire],
        case: &BTreeMap<usize, Option<Value>>,
        values: &BTreeMap<usize, BTreeSet<Value>>,
    ) {
        // Hidden at either end is hidden. Behind a channel, the receiver takes part in the delivery only, so
        // its `hide` says nothing about the sending.
        let hidden = receivers
            .iter()
            .filter(|wire| wire.channel.is_none())
            .find_map(|wire| self.hidden(wire.to))
            .or_else(|| self.hidden(from));
        let mut meeting = self.meeting(from, GateKind::Output, hidden.is_some());
        let shared = meeting.fields.clone();
        // A message of an array has the index in front of its own fields.
        let offset = shared.len() - self.field_names(from).len();
        for (&field, value) in case {
            match value {
                Some(value) => meeting.given.push((shared[offset + field], value.clone())),
                None => {
                    let others = values[&field].iter();
                    meeting.excluded.extend(others.map(|value| (shared[offset + field], value.clone())));
                }
            }
        }
        let names = self.field_names(from);
        let by_name = |name: &str| names.iter().position(|field| field == name).map(|at| shared[offset + at]);
        for wire in receivers {
            let sources = self.sources(wire, &by_name);
            meeting.members.push(match wire.channel {
                // What is pinned at the receiver does not travel: the channel has no field for it, and the
                // delivery sets it.
                Some((part, number)) => {
                    let carried = sources
                        .into_iter()
                        .filter(|source| matches!(source, SyncFieldSource::Shared(_)))
                        .collect();
                    SyncMember { part, gate: CarriedMessage::accept_gate(number), fields: carried }
                }
                None => SyncMember { part: self.part_of(wire.to.0), gate: wire.to.1, fields: sources },
            });
        }
        self.add_meeting(&meeting, hidden.unwrap_or(receivers[0].span));
    }

    /// Returns the sources of the receiver's fields.
    fn sources(&self, wire: &PartWire, by_name: &dyn Fn(&str) -> Option<VarId>) -> Vec<SyncFieldSource> {
        let source = |(at, name): (usize, String)| match (wire.pinned.get(&at), by_name(&name)) {
            (Some(value), _) => SyncFieldSource::Value(value.clone()),
            (None, Some(shared)) => SyncFieldSource::Shared(shared),
            (None, None) => unreachable!("fields were checked"),
        };
        self.field_names(wire.to).into_iter().enumerate().map(source).collect()
    }

    /// Adds the meeting in which a channel delivers a message.
    fn add_delivery(&mut self, wire: &PartWire) {
        let Some((part, number)) = wire.channel else { return };
        let hidden = self.hidden(wire.to);
        let mut meeting = self.meeting(wire.to, GateKind::Output, hidden.is_some());
        let names = self.field_names(wire.to);
        let offset = meeting.fields.len() - names.len();
        let mut carried = Vec::new();
        for at in 0..names.len() {
            let field = meeting.fields[offset + at];
            match wire.pinned.get(&at) {
                Some(value) => meeting.given.push((field, value.clone())),
                None => carried.push(SyncFieldSource::Shared(field)),
            }
        }
        // The channel comes first: it is who sends.
        meeting
            .members
            .insert(0, SyncMember { part, gate: CarriedMessage::deliver_gate(number), fields: carried });
        self.add_meeting(&meeting, hidden.unwrap_or(wire.span));
    }

    /// Adds the meeting of a message that is not connected.
    fn add_unconnected(&mut self, end: WireEnd) {
        let kind = self.instances[end.0].model.sts.gates[end.1].kind;
        match self.hidden(end) {
            Some(span) if kind.is_input() => {
                let message = "an input that no part sends cannot be hidden";
                self.sink.push(
                    Diagnostic::new(Code::BadConnection, span, message)
                        .help("connect it, or leave out `hide`"),
                );
            }
            hidden => {
                let meeting = self.meeting(end, kind, hidden.is_some());
                self.add_meeting(&meeting, hidden.unwrap_or(self.instances[end.0].span));
            }
        }
    }

    /// Returns a meeting whose only member is the part at `end`.
    fn meeting(&mut self, end: WireEnd, kind: GateKind, hidden: bool) -> Synchronisation {
        let (part, names) = (self.part_of(end.0), self.field_names(end));
        let mut meeting = Synchronisation::default();
        if hidden {
            for (at, name) in names.iter().enumerate() {
                let sort = self.composer.field_sort(part, end.1, at);
                meeting.fields.push(self.composer.field(name, sort));
            }
        } else {
            let index = self.instances[end.0].index;
            let face = self.face(end, kind);
            meeting.gate = face.gate;
            meeting.fields = face.index.into_iter().chain(face.fields.iter().copied()).collect();
            meeting.given =
                face.index.zip(index).map(|(field, at)| (field, Value::int(at))).into_iter().collect();
        }
        let own = meeting.fields[meeting.fields.len() - names.len()..].iter();
        let fields = own.map(|&field| SyncFieldSource::Shared(field)).collect();
        meeting.members.push(SyncMember { part, gate: end.1, fields });
        meeting
    }

    /// Adds a meeting; a hidden field that no part determines is reported.
    fn add_meeting(&mut self, meeting: &Synchronisation, place: Span) {
        if let Err(open) = self.composer.meet(meeting) {
            self.sink.push(open_field(open, place));
        }
    }

    /// Returns whether `port` refers to `end`.
    fn is_meant(&self, port: &PortDecl, end: WireEnd) -> bool {
        let instance = &self.instances[end.0];
        let is_index = match (&port.index, instance.index) {
            (Some(expr), Some(at)) => self.constants.int(expr).is_ok_and(|n| n == i128::from(at)),
            _ => true,
        };
        instance.family == port.part.text
            && *instance.model.sts.gates[end.1].name == *port.message.text
            && is_index
    }

    /// Returns the place of the `hide` that applies to the message; `None` if there is none.
    fn hidden(&self, end: WireEnd) -> Option<Span> {
        self.system.items.iter().find_map(|item| match &item.kind {
            SystemItemKind::Hide(port) if self.is_meant(port, end) => Some(port.span),
            _ => None,
        })
    }

    fn exposed_name(&self, end: WireEnd) -> Option<&'a Name> {
        self.system.items.iter().find_map(|item| match &item.kind {
            SystemItemKind::Expose(port, name) if self.is_meant(port, end) => Some(name),
            _ => None,
        })
    }

    fn is_exposed_alone(&self, end: WireEnd) -> bool {
        self.system.items.iter().any(|item| match &item.kind {
            SystemItemKind::Expose(port, _) => port.index.is_some() && self.is_meant(port, end),
            _ => false,
        })
    }

    /// Reports `hide` and `expose` of parts or messages that do not exist.
    fn unused_names(&mut self) {
        let ports: Vec<&PortDecl> = self
            .system
            .items
            .iter()
            .filter_map(|item| match &item.kind {
                SystemItemKind::Hide(port) | SystemItemKind::Expose(port, _) => Some(port),
                _ => None,
            })
            .collect();
        // One instance stands for all: they are instances of one model, so a message is missing in each or in
        // none.
        for port in ports {
            if let Some(&first) = self.family(port).first() {
                _ = self.gate_at(port, first);
            }
        }
    }
}
