//! A model of a text as a system: sequential behaviour is a part, parallel composition is meetings.
//!
//! Outermost parallel compositions and hidden channels are taken apart; every behaviour that is left is a part. The
//! parts that share a channel meet on it: of a composition that synchronises on the channel, one group of each side; of
//! another, one group of either side. The meetings of a hidden channel are internal.

use std::collections::{BTreeMap, BTreeSet};

use ioxide_model::code::Code;
use ioxide_model::compose::{Composer, OpenField, PartId, SyncFieldSource, SyncMember, Synchronisation};
use ioxide_model::diag::Diagnostic;
use ioxide_model::sort::Sort;
use ioxide_model::source::Span;
use ioxide_model::sts::{GateId, GateKind, Model, Sts, Switch};
use ioxide_model::term::{TermPool, VarId};

use super::channels::{ChannelId, ChannelWiring, Channels, Communication, JOINT, Sharing, TxsChannel};
use super::check::ProcessInterface;
use super::control::{ControlState, Stepper};
use super::part::{BuiltPart, ChannelKinds, NoPart, PartBuilder, TxsPartMessage, both_ways, kind_of};
use super::tree::{BehaviourId, ModelDef, Specification};
use super::typing::Scope;
use super::words::Vocabulary;
use crate::ast::Name;
use crate::sink::{FindingSink, Reported};

/// The greatest number of groups of parts that meet on the channels of a model. Chosen by feel: groups multiply with
/// every part on a channel.
const MAX_GROUPS: usize = 10_000;

/// A checked text, with the meaning of its names.
pub(super) struct TxsMeaning<'a> {
    pub(super) spec: &'a Specification,
    pub(super) words: &'a Vocabulary,
    pub(super) interface: &'a ProcessInterface,
    /// The calls that may create processes without bound.
    pub(super) growing: &'a BTreeSet<BehaviourId>,
    pub(super) pool: &'a TermPool,
    /// The depth of compositions up to which processes that create processes are unfolded.
    pub(super) max_depth: usize,
}

/// The interface of a model or goal: its channels with their directions.
pub(super) struct ModelOutside {
    pub(super) channels: Channels,
    pub(super) wiring: ChannelWiring,
    pub(super) kinds: ChannelKinds,
}

impl ModelOutside {
    /// Makes a plain channel for each of `inputs` and `outputs`, with the sorts that `interface` declares.
    pub(super) fn new(interface: &ProcessInterface, inputs: &[Name], outputs: &[Name]) -> Self {
        let mut outside = Self {
            channels: Channels::default(),
            wiring: ChannelWiring::default(),
            kinds: ChannelKinds::new(),
        };
        let inputs = inputs.iter().map(|name| (name, GateKind::Input));
        for (name, kind) in inputs.chain(outputs.iter().map(|name| (name, GateKind::Output))) {
            let sorts = interface.channels.get(&name.text).cloned().unwrap_or_default();
            let id = outside.channels.all.push(TxsChannel::new_plain(&name.text, sorts));
            outside.wiring.insert(&name.text, id);
            outside.kinds.insert(id, kind);
        }
        outside
    }
}

/// The composition of the parts.
enum CompositionTree {
    Part(usize),
    Parallel(Sharing, Box<CompositionTree>, Box<CompositionTree>),
    Hide(Vec<ChannelId>, Box<CompositionTree>),
}

/// Builds the system of `model`, as `mapper` shows it if there is one.
pub(super) fn build_system(
    meaning: &TxsMeaning<'_>,
    model: &ModelDef,
    mapper: Option<&ModelDef>,
    sink: &mut FindingSink,
) -> Result<Model, Reported> {
    let (mut outside, start) = start_of(meaning, model, mapper);
    let span = model.name.span;
    let opened = open_model(meaning, start, &mut outside).map_err(|why| why.report(span, sink))?;
    let (whole, pool) = opened;
    let mut leaves = Vec::new();
    let mut tree = composition_tree(whole.clone(), &mut leaves);
    let mut names = part_names(meaning.spec, &model.name.text, &leaves);
    let parts = match build_parts(meaning, model, &mut outside, leaves, &names, &pool) {
        // A part alone may have no end, and what it is composed with may still bound it.
        Err(NoPart::Grows(call)) if names.len() > 1 => {
            tree = CompositionTree::Part(0);
            names = vec![(model.name.text.clone(), None)];
            let all = build_parts(meaning, model, &mut outside, vec![whole.clone()], &names, &pool);
            all.map_err(|_| NoPart::Grows(call))
        }
        parts => parts,
    };
    let parts = match parts {
        Err(NoPart::Grows(_)) => {
            tree = CompositionTree::Part(0);
            names = vec![(model.name.text.clone(), None)];
            build_cut_part(meaning, model, &mut outside, whole, &pool).map(|part| vec![part])
        }
        parts => parts,
    };
    let parts = parts.map_err(|why| why.report(span, sink))?;
    no_goals(&parts, sink)?;
    let unfolded_depth = parts.iter().find_map(|part| part.model.sts.unfolded_depth);
    let cuts = parts.iter().filter_map(|part| part.cut);
    cuts.for_each(|call| sink.push(partly_unfolded(call, meaning.max_depth)));
    // A single part that hides nothing is the system, without variables for its control.
    if let ([part], CompositionTree::Part(_)) = (&*parts, &tree)
        && part.communications().all(|on| on.hidden.is_empty() && on.exit.is_none())
    {
        return check_listed(model, part.model.clone(), sink);
    }
    let mut composing = PartComposer { outside: &mut outside, parts: &parts, names: &names, span };
    let mut system = composing.compose(&tree, &model.name, sink)?;
    system.sts.unfolded_depth = unfolded_depth;
    // The channels of the model are hidden behind a mapper, so its `SYNC` is checked without one.
    match mapper {
        Some(mapper) => composing.check_mapper(mapper, &tree, sink).map(|()| system),
        None => check_listed(model, system, sink),
    }
}

/// Returns the system if `SYNC` lists all its communications, or is not written.
fn check_listed(model: &ModelDef, system: Model, sink: &mut FindingSink) -> Result<Model, Reported> {
    let Some(names) = listed_names(model, sink)? else { return Ok(system) };
    let sts = &system.sts;
    let is_unlisted =
        |switch: &&Switch| switch.gate != Sts::TAU && !names.contains(&*sts.gates[switch.gate].name);
    if let Some(switch) = sts.switches.iter().find(is_unlisted) {
        return Err(report_unlisted(&sts.gates[switch.gate].name, switch.span, sink));
    }
    Ok(system)
}

/// Returns the names of the communications that `SYNC` lists, `None` if it is not written.
fn listed_names(model: &ModelDef, sink: &mut FindingSink) -> Result<Option<BTreeSet<String>>, Reported> {
    let Some(sync) = &model.sync else { return Ok(None) };
    let known: Vec<&Name> = model.inputs.iter().chain(&model.outputs).collect();
    if let Some(name) = sync.iter().flatten().find(|name| !known.iter().any(|other| other.text == name.text))
    {
        let message = format!("the model has no channel `{}`", name.text);
        return Err(sink.error(|| Diagnostic::new(Code::UnknownGate, name.span, message)));
    }
    Ok(Some(sync.iter().map(|set| joined_name(set)).collect()))
}

/// Reports a communication that `SYNC` does not list.
fn report_unlisted(name: &str, span: Span, sink: &mut FindingSink) -> Reported {
    sink.error(|| {
        Diagnostic::new(Code::TxsNotRead, span, format!("`SYNC` does not list `{name}`"))
            .note("where `SYNC` is written, it lists all communications of a model")
            .help("add the channels of this one, as in `SYNC { A | B }, { C }`")
    })
}

/// Returns the name of a message on all of these channels.
fn joined_name(set: &[Name]) -> String {
    let names: BTreeSet<&str> = set.iter().map(|name| name.text.as_str()).collect();
    names.into_iter().collect::<Vec<_>>().join(JOINT)
}

/// Refuses actions of goals in models.
fn no_goals(parts: &[BuiltPart], sink: &mut FindingSink) -> Result<(), Reported> {
    for part in parts {
        for said in [TxsPartMessage::Hit, TxsPartMessage::Miss, TxsPartMessage::Quiet] {
            let Some(gate) = part.says(&said) else { continue };
            let switch = part.model.sts.switches.iter().find(|switch| switch.gate == gate);
            let span = switch.map_or(part.model.sts.gates[gate].span, |switch| switch.span);
            let name = part.model.sts.gates[gate].name.clone();
            return Err(sink.error(|| {
                let message = format!("`{name}` is not read in a model");
                Diagnostic::new(Code::TxsNotRead, span, message)
                    .help("silence is possible only where no output is; goals belong in a `PURPDEF`")
            }));
        }
    }
    Ok(())
}

/// Returns the interface of `model`, and its behaviour. A mapper stands between the model and the system: they
/// synchronise on the channels they have in common, which are hidden. What it says on others is an input of the system,
/// what it hears an output.
fn start_of(
    meaning: &TxsMeaning<'_>,
    model: &ModelDef,
    mapper: Option<&ModelDef>,
) -> (ModelOutside, ControlState) {
    let start =
        |model: &ModelDef, wiring: &ChannelWiring| ControlState::At(model.body, Scope::new(), wiring.clone());
    let Some(mapper) = mapper else {
        let outside = ModelOutside::new(meaning.interface, &model.inputs, &model.outputs);
        let start = start(model, &outside.wiring);
        return (outside, start);
    };
    let own: Vec<&Name> = model.inputs.iter().chain(&model.outputs).collect();
    let others = |names: &[Name]| -> Vec<Name> {
        let is_own = |name: &&Name| own.iter().any(|other| other.text == name.text);
        names.iter().filter(|name| !is_own(name)).cloned().collect()
    };
    let (says, hears) = (others(&mapper.outputs), others(&mapper.inputs));
    let mut outside = ModelOutside::new(meaning.interface, &says, &hears);
    let mut hidden = BTreeSet::new();
    for name in own {
        let sorts = meaning.interface.channels.get(&name.text).cloned().unwrap_or_default();
        let id = outside.channels.all.push(TxsChannel::new_plain(&name.text, sorts));
        outside.wiring.insert(&name.text, id);
        hidden.insert(id);
    }
    let (left, right) = (start(model, &outside.wiring), start(mapper, &outside.wiring));
    let both = ControlState::Parallel(Sharing::Only(hidden.clone()), Box::new(left), Box::new(right));
    (outside, ControlState::Hide(hidden, Box::new(both)))
}

/// Returns a behaviour with its outermost compositions opened, and the pool of its terms.
fn open_model(
    meaning: &TxsMeaning<'_>,
    start: ControlState,
    outside: &mut ModelOutside,
) -> Result<(ControlState, TermPool), NoPart> {
    let mut stepper = Stepper::new(meaning, &mut outside.channels, 0, meaning.pool.clone());
    let opened = stepper.open_compositions(start, "")?;
    Ok((opened, stepper.pool))
}

/// Builds the part of each of `leaves`.
fn build_parts(
    meaning: &TxsMeaning<'_>,
    model: &ModelDef,
    outside: &mut ModelOutside,
    leaves: Vec<ControlState>,
    names: &[(String, Option<i64>)],
    pool: &TermPool,
) -> Result<Vec<BuiltPart>, NoPart> {
    let mut parts = Vec::with_capacity(leaves.len());
    for (at, (leaf, (name, _))) in leaves.into_iter().zip(names).enumerate() {
        let stepper = Stepper::new(meaning, &mut outside.channels, at + 1, pool.clone());
        let name = if names.len() == 1 { &model.name.text } else { name };
        parts.push(PartBuilder::new(stepper, name, model.name.span, &outside.kinds).build(leaf)?);
    }
    Ok(parts)
}

/// Builds all of a model as one part, whose processes without bound are unfolded up to the limits.
fn build_cut_part(
    meaning: &TxsMeaning<'_>,
    model: &ModelDef,
    outside: &mut ModelOutside,
    whole: ControlState,
    pool: &TermPool,
) -> Result<BuiltPart, NoPart> {
    let stepper = Stepper::new(meaning, &mut outside.channels, 1, pool.clone());
    let builder = PartBuilder::new(stepper, &model.name.text, model.name.span, &outside.kinds);
    builder.with_cut().build(whole)
}

/// Returns the warning about a model that is unfolded up to the limits only.
fn partly_unfolded(call: Span, depth: usize) -> Diagnostic {
    Diagnostic::new(
        Code::PartlyUnfolded,
        call,
        "this call creates a process again and again, so the model is unfolded only partly",
    )
    .note(format!("a run that leaves the unfolded part ({depth} nested processes) ends inconclusive"))
    .note(format!("it is unfolded further with a greater number: `--set UNFOLD={depth}` is as it is now"))
    .help(
        "let the process call itself at the end of a sequence, write out how many run in parallel, or let another \
         process bound them",
    )
}

/// Returns how the behaviour is put together, and moves its sequential parts to `leaves`.
fn composition_tree(control: ControlState, leaves: &mut Vec<ControlState>) -> CompositionTree {
    match control {
        ControlState::Parallel(sharing, left, right) => {
            let left = composition_tree(*left, leaves);
            CompositionTree::Parallel(sharing, Box::new(left), Box::new(composition_tree(*right, leaves)))
        }
        ControlState::Hide(channels, body) => {
            CompositionTree::Hide(channels.into_iter().collect(), Box::new(composition_tree(*body, leaves)))
        }
        // Sequence, `[>>` and `[><` too: their sides do not run at the same time, so they are control of one
        // part.
        leaf => {
            leaves.push(leaf);
            CompositionTree::Part(leaves.len() - 1)
        }
    }
}

/// Returns for each part the process it starts as, with a number if several do.
fn part_names(spec: &Specification, model: &str, leaves: &[ControlState]) -> Vec<(String, Option<i64>)> {
    let families: Vec<String> = leaves.iter().map(|leaf| family_name(spec, model, leaf)).collect();
    let mut seen: BTreeMap<String, i64> = BTreeMap::new();
    let number = |family: &String| {
        let n = seen.entry(family.clone()).or_insert(0);
        *n += 1;
        let is_alone = families.iter().filter(|other| *other == family).count() == 1;
        (family.clone(), (!is_alone).then_some(*n))
    };
    families.iter().map(number).collect()
}

/// Returns the name of the process that a part begins in; parts of one process are numbered.
fn family_name(spec: &Specification, model: &str, control: &ControlState) -> String {
    match control {
        ControlState::Ended => "stop".into(),
        ControlState::At(id, ..) => match spec.behaviours[*id].owner {
            Some(owner) => spec.processes[owner].name.text.split('.').next().unwrap_or_default().to_owned(),
            None => model.to_owned(),
        },
        ControlState::Hide(_, inner) => family_name(spec, model, inner),
        ControlState::Parallel(_, left, _)
        | ControlState::Enable(left, _)
        | ControlState::Disable(left, _)
        | ControlState::Interrupt(left, _) => family_name(spec, model, left),
    }
}

/// Parts that take a step together, each with a communication of its own.
#[derive(Clone)]
struct ChannelGroup {
    /// The communication of all of them.
    on: Communication,
    members: Vec<(usize, Communication)>,
}

/// The groups of a composition.
struct ChannelGroups {
    seen: Vec<ChannelGroup>,
    hidden: Vec<ChannelGroup>,
}

/// The parts while they are composed into one system.
struct PartComposer<'a> {
    outside: &'a mut ModelOutside,
    parts: &'a [BuiltPart],
    names: &'a [(String, Option<i64>)],
    span: Span,
}

impl PartComposer<'_> {
    /// Puts the parts together to one model, with the meetings that `tree` prescribes.
    fn compose(
        &mut self,
        tree: &CompositionTree,
        name: &Name,
        sink: &mut FindingSink,
    ) -> Result<Model, Reported> {
        let mut composer = Composer::new(&name.text, name.span);
        let mut ids = Vec::with_capacity(self.parts.len());
        for (part, (family, index)) in self.parts.iter().zip(self.names) {
            match composer.add_part(family, *index, &part.model) {
                Ok(id) => ids.push(id),
                Err(clash) => {
                    let message = format!("two parts have different types called `{}`", clash.0);
                    return Err(sink.error(|| Diagnostic::new(Code::BadConnection, self.span, message)));
                }
            }
        }
        let groups = self.groups(tree, sink)?;
        let mut gates = BTreeMap::new();
        // Channels that no part uses have a message too: they belong to the interface.
        for (&channel, &kind) in &self.outside.kinds {
            gates.insert(channel, self.add_gate(&mut composer, channel, kind));
        }
        // An exit that no behaviour waits for is no step of the system.
        let seen = groups.seen.into_iter().filter(|group| !group.on.is_plain_exit());
        let mut seen: Vec<(ChannelId, ChannelGroup)> =
            seen.map(|group| (self.outside.channels.joint_channel(&group.on.seen), group)).collect();
        // In the order of the channels, whatever the composition looks like: the same text gives the same
        // switches.
        seen.sort_by_key(|(channel, _)| *channel);
        for (channel, group) in seen {
            let Some(kind) = kind_of(&group.on.seen, &self.outside.kinds) else {
                return Err(sink.error(|| both_ways(self.group_span(&group.members))));
            };
            // One message for each channel, whatever the number of groups that can communicate on it; each
            // group is a meeting of its own.
            let gate =
                gates.entry(channel).or_insert_with(|| self.add_gate(&mut composer, channel, kind)).clone();
            let fields = self.declare_fields(&mut composer, &group.on, &gate.1);
            self.meet(&mut composer, &ids, &group, gate.0, &fields, sink);
        }
        let mut hidden = BTreeMap::new();
        for group in groups.hidden {
            let fields = hidden
                .entry(group.on.clone())
                .or_insert_with(|| self.declare_fields(&mut composer, &group.on, &[]));
            self.meet(&mut composer, &ids, &group, Sts::TAU, fields, sink);
        }
        for at in 0..self.parts.len() {
            self.add_internal_steps(&mut composer, &ids, at, sink);
        }
        sink.check()?;
        Ok(composer.finish())
    }

    /// Reports the communications of a mapper that its `SYNC` does not list.
    fn check_mapper(
        &mut self,
        mapper: &ModelDef,
        tree: &CompositionTree,
        sink: &mut FindingSink,
    ) -> Result<(), Reported> {
        let Some(names) = listed_names(mapper, sink)? else { return Ok(()) };
        // The tree that `start_of` makes. Where all is one part, the mapper takes no step of its own that could be
        // looked at.
        let CompositionTree::Hide(_, both) = tree else { return Ok(()) };
        let CompositionTree::Parallel(_, _, right) = &**both else { return Ok(()) };
        for group in self.groups(right, sink)?.seen.iter().filter(|group| !group.on.is_plain_exit()) {
            let seen = Communication { seen: group.on.seen.clone(), ..Communication::default() };
            let name = self.outside.channels.communication_name(&seen);
            if !names.contains(&name) {
                return Err(report_unlisted(&name, self.group_span(&group.members), sink));
            }
        }
        Ok(())
    }

    /// Returns the variables for the values of a communication: `seen` for those that are seen, new ones for others.
    fn declare_fields(
        &self,
        composer: &mut Composer,
        on: &Communication,
        seen: &[VarId],
    ) -> CommunicationFields {
        let named = self.outside.channels.communication_fields(on);
        let hidden = self.shared_fields(composer, &named[seen.len()..]);
        let mut all = seen.iter().chain(&hidden).copied();
        let channels = &self.outside.channels;
        let own = |id: ChannelId| (id, all.by_ref().take(channels.all[id].sorts.len()).collect());
        let by_channel = channels.ordered_channels(on).into_iter().map(own).collect();
        CommunicationFields { by_channel, exit: all.collect(), hidden }
    }

    /// The message on `channel`.
    fn add_gate(&self, composer: &mut Composer, channel: ChannelId, kind: GateKind) -> (GateId, Vec<VarId>) {
        let seen = self.outside.channels.in_order(channel).into_iter().collect();
        let on = Communication { seen, ..Communication::default() };
        let fields = self.shared_fields(composer, &self.outside.channels.communication_fields(&on));
        let name = &self.outside.channels.all[channel].name;
        (composer.gate(name, kind, fields.clone(), self.span, ""), fields)
    }

    /// Returns the place of a group that meets: that of a step of its first member.
    fn group_span(&self, members: &[(usize, Communication)]) -> Span {
        let first = members.first().and_then(|(at, on)| {
            let part = &self.parts[*at];
            let gate = part.gate_on(on)?;
            part.model.sts.switches.iter().find(|switch| switch.gate == gate)
        });
        first.map_or(self.span, |switch| switch.span)
    }

    /// Declares variables of these names and sorts in the pool of the system.
    fn shared_fields(&self, composer: &mut Composer, named: &[(String, Sort)]) -> Vec<VarId> {
        let from = &self.parts[0].model.pool;
        let mut fields = Vec::with_capacity(named.len());
        for (name, sort) in named {
            let sort = match *sort {
                Sort::Data(data) => {
                    let name = &from.data(data).name;
                    // All parts are of one text, so a type is known by its name.
                    let image = composer.pool().data_types().find(|(_, other)| other.name == *name);
                    image.map_or(*sort, |(id, _)| Sort::Data(id))
                }
                other => other,
            };
            fields.push(composer.field(name, sort));
        }
        fields
    }

    /// Adds the meeting of a group; every member has the fields of its own communication.
    fn meet(
        &self,
        composer: &mut Composer,
        ids: &[PartId],
        group: &ChannelGroup,
        gate: GateId,
        fields: &CommunicationFields,
        sink: &mut FindingSink,
    ) {
        let member = |(at, own): &(usize, Communication)| {
            let plain = self.outside.channels.ordered_channels(own);
            let sources = plain.iter().filter_map(|id| fields.by_channel.get(id)).flatten();
            let sources = sources.chain(own.exit.iter().flat_map(|_| &fields.exit));
            Some(SyncMember {
                part: ids[*at],
                gate: self.parts[*at].gate_on(own)?,
                fields: sources.map(|&field| SyncFieldSource::Shared(field)).collect(),
            })
        };
        let members = group.members.iter().filter_map(member).collect();
        let hidden = fields.hidden.clone();
        self.add_meeting(
            composer,
            &Synchronisation { gate, hidden, members, ..Synchronisation::default() },
            sink,
        );
    }

    /// Adds a meeting; a hidden value that no part determines is reported.
    fn add_meeting(&self, composer: &mut Composer, meeting: &Synchronisation, sink: &mut FindingSink) {
        match composer.meet(meeting) {
            Ok(()) => {}
            Err(OpenField::Unpinned { field, span }) => {
                _ = sink.error(|| {
                    let message =
                        format!("nothing determines the value `{field}` of this hidden communication");
                    Diagnostic::new(Code::OpenHiddenField, span, message)
                        .note("every process takes it with `?`, and one of them uses it later")
                        .help("give it with `!` on one side, or do not hide the channel")
                })
            }
            Err(OpenField::TooMany(limit)) => {
                _ = sink.error(|| {
                    let message = format!("a channel of this model would have more than {limit} transitions");
                    Diagnostic::new(Code::TooManySwitches, self.span, message)
                        .note("every choice of one step of each part that meets is one")
                })
            }
        }
    }

    /// Returns the groups of parts that take steps together, with their channels.
    fn groups(&mut self, tree: &CompositionTree, sink: &mut FindingSink) -> Result<ChannelGroups, Reported> {
        match tree {
            CompositionTree::Part(at) => {
                let part = &self.parts[*at];
                let on = part.communications().filter(|on| !on.is_unseen());
                let alone =
                    |on: &Communication| ChannelGroup { on: on.clone(), members: vec![(*at, on.clone())] };
                let seen = on.map(alone).collect();
                Ok(ChannelGroups { seen, hidden: Vec::new() })
            }
            CompositionTree::Hide(channels, body) => {
                let groups = self.groups(body, sink)?;
                Ok(hide_groups(groups, &channels.iter().copied().collect()))
            }
            CompositionTree::Parallel(sharing, left, right) => {
                let (left, right) = (self.groups(left, sink)?, self.groups(right, sink)?);
                self.compose_side_by_side(sharing, left, right, sink)
            }
        }
    }

    /// Returns the groups of two sides of a parallel composition.
    fn compose_side_by_side(
        &mut self,
        sharing: &Sharing,
        left: ChannelGroups,
        right: ChannelGroups,
        sink: &mut FindingSink,
    ) -> Result<ChannelGroups, Reported> {
        let is_alone = |group: &ChannelGroup| !sharing.is_shared(&group.on);
        let (lefts, mut seen): (Vec<ChannelGroup>, Vec<ChannelGroup>) =
            left.seen.into_iter().partition(|group| !is_alone(group));
        let (rights, others): (Vec<ChannelGroup>, Vec<ChannelGroup>) =
            right.seen.into_iter().partition(|group| !is_alone(group));
        seen.extend(others);
        for one in &lefts {
            for other in &rights {
                let Some(on) = sharing.synchronise(&one.on, &other.on) else { continue };
                let members = one.members.iter().chain(&other.members).cloned().collect();
                seen.push(ChannelGroup { on, members });
            }
            if seen.len() > MAX_GROUPS {
                let message =
                    format!("more than {MAX_GROUPS} groups of parts meet on the channels of this model");
                return Err(sink.error(|| Diagnostic::new(Code::TooManySwitches, self.span, message)));
            }
        }
        Ok(ChannelGroups { seen, hidden: left.hidden.into_iter().chain(right.hidden).collect() })
    }

    /// Adds the internal steps of part number `at`.
    fn add_internal_steps(&self, composer: &mut Composer, ids: &[PartId], at: usize, sink: &mut FindingSink) {
        let part = &self.parts[at];
        for on in part.communications().filter(|on| on.is_unseen()) {
            let fields = self.declare_fields(composer, on, &[]);
            let group = ChannelGroup { on: on.clone(), members: vec![(at, on.clone())] };
            self.meet(composer, ids, &group, Sts::TAU, &fields, sink);
        }
        let members = vec![SyncMember { part: ids[at], gate: Sts::TAU, fields: Vec::new() }];
        self.add_meeting(composer, &Synchronisation { members, ..Synchronisation::default() }, sink);
    }
}

/// The variables for the values of a communication of several parts.
struct CommunicationFields {
    /// Those of each plain channel.
    by_channel: BTreeMap<ChannelId, Vec<VarId>>,
    exit: Vec<VarId>,
    /// Those that are no fields of the message.
    hidden: Vec<VarId>,
}

/// Returns the groups with `channels` hidden.
fn hide_groups(groups: ChannelGroups, channels: &BTreeSet<ChannelId>) -> ChannelGroups {
    let ChannelGroups { seen, hidden: inner } = groups;
    let hide = |group: ChannelGroup| ChannelGroup { on: group.on.hide(channels), ..group };
    let (mut hidden, seen): (Vec<ChannelGroup>, Vec<ChannelGroup>) =
        seen.into_iter().map(hide).partition(|group| group.on.is_unseen());
    hidden.sort_by(|a, b| a.on.cmp(&b.on));
    hidden.extend(inner);
    ChannelGroups { seen, hidden }
}
