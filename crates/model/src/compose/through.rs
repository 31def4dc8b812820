//! The model that a tester observes through channels.
//!
//! A tester that reaches a system through channels sees another system: its inputs wait in one channel, its outputs in
//! another. That system is a composition too, so every engine judges it as it judges any (ioco in an asynchronous
//! context): an implementation that conforms conforms through the channel as well.
//!
//! *Inputs that the model does not mention* can be avoided by a tester that is connected directly, but not if they wait
//! in a channel: when such an input is taken, everything may follow. For that the model is completed with a location
//! from which all outputs may come, which bypass the channel, and a silent one.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rustc_hash::FxHashSet;

use super::{
    CarriedMessage, Channel, Composer, OpenLocation, PartId, SyncFieldSource, SyncMember, Synchronisation,
};
use crate::index::Idx;
use crate::sts::{GateId, GateKind, LocId, Location, Model, Sts, Switch};
use crate::term::{Term, VarId};

/// The reason why a model cannot be seen through a channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotSeenThrough(pub String);

/// A model that is seen through a channel, as it is without the channel.
#[derive(Clone, Debug)]
pub struct SeenThrough {
    /// The model itself.
    pub model: Model,
    /// The channel.
    pub channel: Channel,
    /// The model as a part of the composition.
    pub part: PartId,
    /// The labels of the switches for inputs that the model leaves open, by message and location; also those that it
    /// does not have because nothing is left open.
    pub completions: BTreeMap<(GateId, LocId), Arc<str>>,
}

/// Returns `model` as a tester observes it through `channel`, with one queue for inputs and one for outputs.
///
/// # Errors
/// The reason, if the model cannot be seen through the channel.
pub fn see_through(model: &Model, channel: &Channel) -> Result<Model, NotSeenThrough> {
    if channel.delay.is_some() && !model.sts.is_timed() {
        let why =
            "the model has no clocks: a delay would mean nothing, because its messages may take any time";
        return Err(NotSeenThrough(why.into()));
    }
    // First completed, then composed: in the composition it is no longer visible which inputs the model
    // itself refuses.
    let CompletedModel { completed, outputs: chaos, place, labels, by_input } = complete_model(model);
    let sts = &completed.sts;
    let span = sts.locations[sts.initial].span;
    let mut composer = Composer::new(&sts.name, span);
    let no = |why: &str| NotSeenThrough(why.to_owned());
    let part = composer.add_part(&free_family(model), None, &completed).map_err(|clash| no(&clash.0))?;
    let ways = [GateKind::Input, GateKind::Output].map(|kind| {
        let gates: Vec<GateId> = passing(&model.sts, kind).collect();
        let messages: Vec<CarriedMessage> =
            gates.iter().map(|&gate| carried_message(&composer, &completed, part, gate)).collect();
        (gates, messages)
    });
    let [(inputs, sent), (outputs, received)] = ways;
    let to = composer.channel("to", channel, &sent, span);
    let from = composer.channel("from", channel, &received, span);
    let open = |_| no("nothing determines a value of a message of the model, so it cannot wait in a channel");
    // An input has two meetings: the tester puts it into the channel, which is seen, and the model takes it
    // out, which is not. An output has them the other way round.
    for (at, &gate) in inputs.iter().enumerate() {
        let fields = declare_fields(&mut composer, &sent[at]);
        let seen = &sts.gates[gate];
        let visible = composer.gate(&seen.name, seen.kind, fields.clone(), seen.span, &seen.doc);
        composer
            .meet(&shared_meeting(visible, &fields, &[(to, CarriedMessage::accept_gate(at))]))
            .map_err(open)?;
        let hidden = declare_fields(&mut composer, &sent[at]);
        let both = [(to, CarriedMessage::deliver_gate(at)), (part, gate)];
        composer.meet(&shared_meeting(Sts::TAU, &hidden, &both)).map_err(open)?;
    }
    for (at, &gate) in outputs.iter().enumerate() {
        let hidden = declare_fields(&mut composer, &received[at]);
        let both = [(part, gate), (from, CarriedMessage::accept_gate(at))];
        composer.meet(&shared_meeting(Sts::TAU, &hidden, &both)).map_err(open)?;
        let fields = declare_fields(&mut composer, &received[at]);
        let seen = &sts.gates[gate];
        let visible = composer.gate(&seen.name, seen.kind, fields.clone(), seen.span, &seen.doc);
        composer
            .meet(&shared_meeting(visible, &fields, &[(from, CarriedMessage::deliver_gate(at))]))
            .map_err(open)?;
        // Where everything may follow, so may this, at once.
        composer.meet(&shared_meeting(visible, &fields, &[(part, chaos[at])])).map_err(open)?;
    }
    // The internal steps of the model. The channels have none: they move only when a message goes in or out.
    composer.internal(part).map_err(open)?;
    composer.open(OpenLocation { part, place, completions: labels });
    let itself = SeenThrough { model: model.clone(), channel: channel.clone(), part, completions: by_input };
    composer.composition.seen_through = Some(Arc::new(itself));
    let mut seen = composer.finish();
    seen.sts.doc.clone_from(&sts.doc);
    seen.sts.unfolded_depth = sts.unfolded_depth;
    Ok(seen)
}

/// Returns the messages of one direction; observed inputs go with the inputs.
fn passing(sts: &Sts, kind: GateKind) -> impl Iterator<Item = GateId> + '_ {
    let fits = move |&gate: &GateId| match sts.gates[gate].kind {
        GateKind::Output => kind == GateKind::Output,
        GateKind::Input | GateKind::Observed => kind == GateKind::Input,
        GateKind::Internal => false,
    };
    sts.gates.iter_enumerated().map(|(gate, _)| gate).filter(fits)
}

fn carried_message(composer: &Composer, model: &Model, part: PartId, gate: GateId) -> CarriedMessage {
    let names = model.sts.gates[gate].fields.iter().map(|&field| model.pool.var_info(field).name.to_string());
    let fields = names.enumerate().map(|(at, name)| (name, composer.field_sort(part, gate, at))).collect();
    CarriedMessage { name: model.sts.gates[gate].name.to_string(), fields }
}

/// Declares the fields under which the system shows a message of a channel.
fn declare_fields(composer: &mut Composer, message: &CarriedMessage) -> Vec<VarId> {
    message.fields.iter().map(|(name, sort)| composer.field(name, *sort)).collect()
}

/// Returns the meeting in which everyone in `who` shares all fields.
fn shared_meeting(gate: GateId, fields: &[VarId], who: &[(PartId, GateId)]) -> Synchronisation {
    let member = |&(part, gate): &(PartId, GateId)| SyncMember {
        part,
        gate,
        fields: fields.iter().map(|&field| SyncFieldSource::Shared(field)).collect(),
    };
    Synchronisation {
        gate,
        fields: fields.to_vec(),
        members: who.iter().map(member).collect(),
        ..Synchronisation::default()
    }
}

/// Returns a name for the model as a part such that no type of the model is called like the type of its places.
fn free_family(model: &Model) -> String {
    // The composer names the type of the places of a part after its family.
    let taken: FxHashSet<&str> = model.pool.data_types().map(|(_, data)| &*data.name).collect();
    let mut family = "model".to_owned();
    while taken.contains(format!("{family}.state").as_str()) {
        family.push('\'');
    }
    family
}

/// Names that are in use, to which others are added.
struct CompletionNames(FxHashSet<Arc<str>>);

impl CompletionNames {
    /// Returns `name`, changed if it is in use already, and takes it.
    fn take_fresh(&mut self, mut name: String) -> Arc<str> {
        while self.0.contains(name.as_str()) {
            name.push('\'');
        }
        let name: Arc<str> = name.into();
        self.0.insert(name.clone());
        name
    }
}

/// A model with a location from which everything may follow.
struct CompletedModel {
    completed: Model,
    /// For each output of the model, the message of the open location, which bypasses the channel.
    outputs: Vec<GateId>,
    place: LocId,
    /// The labels of the switches that were added.
    labels: BTreeSet<Arc<str>>,
    /// Those of inputs that the model leaves open, by message and location.
    by_input: BTreeMap<(GateId, LocId), Arc<str>>,
}

/// Returns `model` with an open location, from which everything may follow, reached by inputs it does not mention.
///
/// What is added has names that the model does not have, and is known by ids: a model may well have a state
/// `unspecified` or a part `chaos`.
fn complete_model(model: &Model) -> CompletedModel {
    let mut completed = model.clone();
    let Model { pool, sts } = &mut completed;
    let span = sts.locations[sts.initial].span;
    let inputs: Vec<GateId> = passing(sts, GateKind::Input).collect();
    let outputs: Vec<GateId> = passing(sts, GateKind::Output).collect();
    let places: Vec<LocId> = (0..sts.locations.len()).map(LocId::new).collect();
    let mut names = CompletionNames(sts.locations.iter().map(|location| location.name.clone()).collect());
    let mut place = |name: &str| {
        let (name, doc) = (names.take_fresh(name.to_owned()), "everything may follow".into());
        sts.locations.push(Location { name, span, doc })
    };
    let (anything, nothing) = (place("unspecified"), place("unspecified, silent"));
    let mut taken = CompletionNames(sts.switches.iter().map(|switch| switch.label.clone()).collect());
    let mut fresh = |label: String| taken.take_fresh(format!("unspecified-{label}"));
    let switch = |label: Arc<str>, source, gate, guard: Term, target| Switch {
        label,
        source,
        gate,
        guard,
        update: Vec::new(),
        resets: Vec::new(),
        target,
        span,
        doc: String::new(),
        reqs: Vec::new(),
        weight: 1,
        range_check: None,
    };
    let always = pool.tt();
    let mut more = Vec::new();
    let mut by_input = BTreeMap::new();
    for &gate in &inputs {
        let name = sts.gates[gate].name.clone();
        // The locations of the model only: the two new ones accept every input below.
        for &loc in &places {
            let guards: Vec<Term> =
                sts.switches_from(loc).filter(|(_, s)| s.gate == gate).map(|(_, s)| s.guard).collect();
            let some = pool.or(guards);
            // The input with values that no switch at this location accepts: it is not specified, so everything may
            // follow.
            let none = pool.not(some);
            // Every place has its label, used or not: so a changed model has the same ones.
            let label = fresh(format!("{name}@{}", sts.locations[loc].name));
            by_input.insert((gate, loc), label.clone());
            if !pool.is_false(none) {
                more.push(switch(label, loc, gate, none, anything));
            }
        }
        // Also from the silent location: after one more input everything may follow again.
        for loc in [anything, nothing] {
            more.push(switch(fresh(format!("{name}@{}", loc.index())), loc, gate, always, anything));
        }
    }
    // "Everything" includes silence: by an internal step into a location that sends nothing.
    more.push(switch(fresh("silence".to_owned()), anything, Sts::TAU, always, nothing));
    let mut chaos = Vec::with_capacity(outputs.len());
    for &gate in &outputs {
        let mut free = sts.gates[gate].clone();
        free.name = format!("chaos.{}", free.name).into();
        free.fields = free
            .fields
            .iter()
            .map(|&field| {
                let info = pool.var_info(field).clone();
                pool.declare(&info.name, info.sort)
            })
            .collect();
        let name = sts.gates[gate].name.clone();
        let gate = sts.gates.push(free);
        chaos.push(gate);
        more.push(switch(fresh(name.to_string()), anything, gate, always, anything));
    }
    let labels = more.iter().map(|switch| switch.label.clone()).collect();
    for switch in more {
        sts.switches.push(switch);
    }
    // The goals are about the model itself, not about what is observed through the channel.
    sts.goals.clear();
    CompletedModel { completed, outputs: chaos, place: anything, labels, by_input }
}
