//! A model of a text becomes a system: what is sequential is a part, parallel composition is meetings.
//!
//! Outermost parallel compositions and hidden channels are taken apart; every behaviour that is left is a
//! part. On a channel meet all parts that share it: of the two sides of a composition on that channel one group each, of the others
//! one group of either side. A hidden channel's meetings are internal.

use std::collections::BTreeMap;

use ioxide_model::code::Code;
use ioxide_model::compose::{Composer, Meeting, Member, OpenField, PartId, Source};
use ioxide_model::diag::Diagnostic;
use ioxide_model::sort::Sort;
use ioxide_model::source::Span;
use ioxide_model::sts::{GateId, GateKind, Model, Sts};
use ioxide_model::term::{TermPool, VarId};

use super::check::Interface;
use super::control::{Channel, ChannelId, Channels, Control, Sharing, Stepper, Wiring, field_name};
use super::part::{Built, NoPart, PartBuilder, Said};
use super::tree::{ModelDef, Specification};
use super::typing::Scope;
use super::words::Vocabulary;
use crate::ast::Name;
use crate::sink::Sink;

/// Groups of parts that meet on one channel.
const MAX_GROUPS: usize = 10_000;

/// A text that was looked at, with what its names mean.
pub(super) struct Meant<'a> {
    pub(super) spec: &'a Specification,
    pub(super) words: &'a Vocabulary,
    pub(super) interface: &'a Interface,
    pub(super) pool: &'a TermPool,
}

/// The outside of a model or goal: its channels and who moves there.
pub(super) struct Outside {
    pub(super) channels: Channels,
    pub(super) wiring: Wiring,
    pub(super) kinds: Vec<(ChannelId, GateKind)>,
}

impl Outside {
    pub(super) fn new(interface: &Interface, inputs: &[Name], outputs: &[Name]) -> Self {
        let mut outside = Self { channels: Channels::default(), wiring: Wiring::new(), kinds: Vec::new() };
        let inputs = inputs.iter().map(|name| (name, GateKind::Input));
        for (name, kind) in inputs.chain(outputs.iter().map(|name| (name, GateKind::Output))) {
            let sorts = interface.channels.get(&name.text).cloned().unwrap_or_default();
            let id = outside.channels.all.push(Channel { name: name.text.clone(), sorts });
            outside.wiring.insert(name.text.clone(), id);
            outside.kinds.push((id, kind));
        }
        outside
    }
}

/// How parts are composed.
enum Tree {
    Part(usize),
    Parallel(Sharing, Box<Tree>, Box<Tree>),
    Hide(Vec<ChannelId>, Box<Tree>),
}

/// The system that `model` is; none if there is an error.
pub(super) fn system(meant: &Meant<'_>, model: &ModelDef, sink: &mut Sink) -> Option<Model> {
    let mut outside = Outside::new(meant.interface, &model.inputs, &model.outputs);
    let span = model.name.span;
    let (tree, leaves, pool) = taken_apart(meant, model, &mut outside, sink)?;
    let names = part_names(meant.spec, &model.name.text, &leaves);
    let mut parts = Vec::with_capacity(leaves.len());
    for (at, (leaf, (name, _))) in leaves.into_iter().zip(&names).enumerate() {
        let Meant { spec, words, interface, .. } = *meant;
        let stepper = Stepper::new(spec, words, interface, &mut outside.channels, at + 1, pool.clone());
        let name = if names.len() == 1 { &model.name.text } else { name };
        match PartBuilder::new(stepper, name, span, &outside.kinds).build(leaf) {
            Ok(part) => parts.push(part),
            Err(why) => {
                why.report(span, sink);
                return None;
            }
        }
    }
    no_goals(&parts, sink)?;
    if let ([part], Tree::Part(_)) = (&*parts, &tree)
        && !part.said.keys().any(|said| matches!(said, Said::Hidden(_) | Said::Enabling(_)))
    {
        let part = parts.pop()?;
        return Some(part.model);
    }
    Composing { outside: &outside, parts: &parts, names: &names, span }.compose(&tree, &model.name, sink)
}

/// What stands in goals only is refused in models.
fn no_goals(parts: &[Built], sink: &mut Sink) -> Option<()> {
    for part in parts {
        for said in [Said::Hit, Said::Miss, Said::Quiet] {
            let Some(gate) = part.says(&said) else { continue };
            let switch = part.model.sts.switches.iter().find(|switch| switch.gate == gate);
            let span = switch.map_or(part.model.sts.gates[gate].span, |switch| switch.span);
            let name = part.model.sts.gates[gate].name.clone();
            sink.error(|| {
                let message = format!("`{name}` is not read in a model");
                Diagnostic::new(Code::TxsNotRead, span, message)
                    .help("silence is where nothing can be sent; goals stand in a `PURPDEF`")
            });
            return None;
        }
    }
    Some(())
}

/// The outermost compositions, the behaviours below them, and the pool that their terms live in.
fn taken_apart(
    meant: &Meant<'_>,
    model: &ModelDef,
    outside: &mut Outside,
    sink: &mut Sink,
) -> Option<(Tree, Vec<Control>, TermPool)> {
    let Meant { spec, words, interface, pool } = *meant;
    let mut stepper = Stepper::new(spec, words, interface, &mut outside.channels, 0, pool.clone());
    let start = Control::At(model.body, Scope::new(), outside.wiring.clone());
    let Some(opened) = stepper.opened(start, "") else {
        NoPart::of(&stepper).report(model.name.span, sink);
        return None;
    };
    let mut leaves = Vec::new();
    let tree = tree(opened, &mut leaves);
    Some((tree, leaves, stepper.pool))
}

fn tree(control: Control, leaves: &mut Vec<Control>) -> Tree {
    match control {
        Control::Parallel(sharing, left, right) => {
            let left = tree(*left, leaves);
            Tree::Parallel(sharing, Box::new(left), Box::new(tree(*right, leaves)))
        }
        Control::Hide(channels, body) => {
            Tree::Hide(channels.into_iter().collect(), Box::new(tree(*body, leaves)))
        }
        leaf => {
            leaves.push(leaf);
            Tree::Part(leaves.len() - 1)
        }
    }
}

/// Of every part the process it starts as, with a number if several do.
fn part_names(spec: &Specification, model: &str, leaves: &[Control]) -> Vec<(String, Option<i64>)> {
    let families: Vec<String> = leaves.iter().map(|leaf| family(spec, model, leaf)).collect();
    let mut seen: BTreeMap<String, i64> = BTreeMap::new();
    let number = |family: &String| {
        let n = seen.entry(family.clone()).or_insert(0);
        *n += 1;
        let is_alone = families.iter().filter(|other| *other == family).count() == 1;
        (family.clone(), (!is_alone).then_some(*n))
    };
    families.iter().map(number).collect()
}

fn family(spec: &Specification, model: &str, control: &Control) -> String {
    match control {
        Control::Ended => "stop".into(),
        Control::At(id, ..) => match spec.behaviours[*id].owner {
            Some(owner) => spec.processes[owner].name.text.split('.').next().unwrap_or_default().to_owned(),
            None => model.to_owned(),
        },
        Control::Hide(_, inner) => family(spec, model, inner),
        Control::Parallel(_, left, _)
        | Control::Enable(left, _)
        | Control::Disable(left, _)
        | Control::Interrupt(left, _) => family(spec, model, left),
    }
}

/// Parts on their way into one system.
struct Composing<'a> {
    outside: &'a Outside,
    parts: &'a [Built],
    names: &'a [(String, Option<i64>)],
    span: Span,
}

impl Composing<'_> {
    fn compose(&self, tree: &Tree, name: &Name, sink: &mut Sink) -> Option<Model> {
        let mut composer = Composer::new(&name.text, name.span);
        let mut ids = Vec::with_capacity(self.parts.len());
        for (part, (family, index)) in self.parts.iter().zip(self.names) {
            match composer.part(family, *index, &part.model) {
                Ok(id) => ids.push(id),
                Err(clash) => {
                    let message = format!("two parts have different types called `{}`", clash.0);
                    sink.error(|| Diagnostic::new(Code::BadConnection, self.span, message));
                    return None;
                }
            }
        }
        for &(channel, kind) in &self.outside.kinds {
            let fields = self.fields(&mut composer, channel);
            let name = &self.outside.channels.all[channel].name;
            let gate = composer.gate(name, kind, fields.clone(), self.span, "");
            self.meet(&mut composer, &ids, tree, channel, (gate, &fields), sink);
        }
        self.hidden(&mut composer, &ids, tree, sink);
        for (part, &id) in self.parts.iter().zip(&ids) {
            self.inside(&mut composer, part, id, sink);
        }
        if sink.has_errors() {
            return None;
        }
        Some(composer.finish())
    }

    /// Variables for the values on `channel`.
    fn fields(&self, composer: &mut Composer, channel: ChannelId) -> Vec<VarId> {
        let sorts = self.outside.channels.all[channel].sorts.clone();
        self.shared(composer, &sorts)
    }

    fn shared(&self, composer: &mut Composer, sorts: &[Sort]) -> Vec<VarId> {
        let from = &self.parts[0].model.pool;
        let mut fields = Vec::with_capacity(sorts.len());
        for (at, &sort) in sorts.iter().enumerate() {
            let sort = match sort {
                Sort::Data(data) => {
                    let name = &from.data(data).name;
                    let image = composer.pool().data_types().find(|(_, other)| other.name == *name);
                    image.map_or(sort, |(id, _)| Sort::Data(id))
                }
                other => other,
            };
            fields.push(composer.field(&field_name(at), sort));
        }
        fields
    }

    /// Every group that meets on `channel` below `tree`.
    fn meet(
        &self,
        composer: &mut Composer,
        ids: &[PartId],
        tree: &Tree,
        channel: ChannelId,
        (gate, fields): (GateId, &[VarId]),
        sink: &mut Sink,
    ) {
        let Some(groups) = self.groups(tree, channel) else {
            let name = &self.outside.channels.all[channel].name;
            let message = format!("more than {MAX_GROUPS} groups of parts meet on channel `{name}`");
            return sink.error(|| Diagnostic::new(Code::TooManySwitches, self.span, message));
        };
        for group in groups {
            let member = |&at: &usize| {
                let gate = self.parts[at].says(&Said::On(channel))?;
                Some(Member {
                    part: ids[at],
                    gate,
                    fields: fields.iter().map(|&field| Source::Shared(field)).collect(),
                })
            };
            let members = group.iter().filter_map(member).collect();
            let meeting = Meeting { gate, fields: fields.to_vec(), members, ..Meeting::default() };
            self.add(composer, &meeting, sink);
        }
    }

    fn add(&self, composer: &mut Composer, meeting: &Meeting, sink: &mut Sink) {
        match composer.meet(meeting) {
            Ok(()) => {}
            Err(OpenField::Unpinned { field, span }) => sink.error(|| {
                let message = format!("nobody says what the value `{field}` of this hidden communication is");
                Diagnostic::new(Code::OpenHiddenField, span, message)
                    .note("everybody takes it with `?`, and somebody uses it later")
                    .help("give it with `!` on one side, or do not hide the channel")
            }),
            Err(OpenField::TooMany(limit)) => sink.error(|| {
                let message = format!("a channel of this model would have more than {limit} transitions");
                Diagnostic::new(Code::TooManySwitches, self.span, message)
                    .note("every choice of one step of each part that meets is one")
            }),
        }
    }

    /// Which parts take part together on `channel`; none if there are too many groups.
    fn groups(&self, tree: &Tree, channel: ChannelId) -> Option<Vec<Vec<usize>>> {
        Some(match tree {
            Tree::Part(at) => match self.parts[*at].says(&Said::On(channel)) {
                Some(_) => vec![vec![*at]],
                None => Vec::new(),
            },
            Tree::Hide(_, body) => self.groups(body, channel)?,
            Tree::Parallel(sharing, left, right) => {
                let (lefts, rights) = (self.groups(left, channel)?, self.groups(right, channel)?);
                if !sharing.has(channel) {
                    return Some(lefts.into_iter().chain(rights).collect());
                }
                if lefts.len().saturating_mul(rights.len()) > MAX_GROUPS {
                    return None;
                }
                let pair = |one: &Vec<usize>, other: &Vec<usize>| one.iter().chain(other).copied().collect();
                lefts.iter().flat_map(|one| rights.iter().map(move |other| pair(one, other))).collect()
            }
        })
    }

    /// The meetings on hidden channels, each below the place that hides it.
    fn hidden(&self, composer: &mut Composer, ids: &[PartId], tree: &Tree, sink: &mut Sink) {
        match tree {
            Tree::Part(_) => {}
            Tree::Parallel(_, left, right) => {
                self.hidden(composer, ids, left, sink);
                self.hidden(composer, ids, right, sink);
            }
            Tree::Hide(channels, body) => {
                for &channel in channels {
                    let fields = self.fields(composer, channel);
                    self.meet(composer, ids, body, channel, (Sts::TAU, &fields), sink);
                }
                self.hidden(composer, ids, body, sink);
            }
        }
    }

    /// What a part does alone and nobody sees.
    fn inside(&self, composer: &mut Composer, part: &Built, id: PartId, sink: &mut Sink) {
        let alone = |composer: &mut Composer, gate: GateId, fields: Vec<VarId>, sink: &mut Sink| {
            let sources = fields.iter().map(|&field| Source::Shared(field)).collect();
            let members = vec![Member { part: id, gate, fields: sources }];
            self.add(composer, &Meeting { fields, members, ..Meeting::default() }, sink);
        };
        for (said, &gate) in &part.said {
            let fields = match said {
                Said::Hidden(channel) => self.fields(composer, *channel),
                Said::Enabling(sorts) => self.shared(composer, sorts),
                _ => continue,
            };
            alone(composer, gate, fields, sink);
        }
        alone(composer, Sts::TAU, Vec::new(), sink);
    }
}
