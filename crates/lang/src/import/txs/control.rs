//! Control states of behaviours, and the steps they can take.
//!
//! The structural operational semantics of LOTOS-like process algebra, as TorXakis has it (J. Tretmans, "Model-based
//! testing and some steps towards test-based modelling", 2011, and ISO 8807), with terms instead of values: a step is
//! an action, a condition over variables and the fields of the action, and the next control state, in which names stand
//! for terms.
//!
//! - `EXIT` is an action that both sides of every parallel composition take together. Before `>>>` it is hidden.
//! - `P [>> Q`: as long as `P` has not ended, the first action of `Q` takes over.
//! - `P [>< Q`: the first action of `Q` takes over, and when `Q` ends `P` goes on where it was, to be interrupted
//!   again.

use std::collections::{BTreeMap, BTreeSet};

use ioxide_model::index::IndexVec;
use ioxide_model::sort::Sort;
use ioxide_model::source::Span;
use ioxide_model::term::{Substitution, Term, TermPool, VarId};
use ioxide_model::value::Value;

use super::check::ProcessInterface;
use super::part::NoPart;
use super::system::TxsMeaning;
use super::tree::{
    BehaviourId, BehaviourKind, BehaviourTree, ChannelOffer, OfferedOn, OfferedValue, Specification,
    SyncChannels,
};
use super::typing::{Scope, Typing};
use super::words::Vocabulary;
use crate::ast::Name;
use crate::sink::{FindingSink, Reported};

ioxide_model::index! { /// A channel of a model: one it declares, or one it hides.
pub(super) struct ChannelId; }

/// The greatest nesting depth of compositions and calls. Chosen by feel: calls are unfolded by recursion, and one
/// that never ends has to be noticed.
const MAX_NESTING: usize = 150;

/// The text between the channels in the name of a message on several of them.
pub(super) const JOINT: &str = "_";

/// A channel, or a communication on several channels at once.
pub(super) struct TxsChannel {
    pub(super) name: String,
    pub(super) sorts: Vec<Sort>,
    /// The channels of a joint communication, in the order of their names; empty for a plain channel.
    pub(super) joins: Vec<ChannelId>,
}

impl TxsChannel {
    /// A plain channel.
    pub(super) fn new_plain(name: &str, sorts: Vec<Sort>) -> Self {
        Self { name: name.to_owned(), sorts, joins: Vec::new() }
    }
}

/// The channels of a model. A hidden channel is another one in every place of control.
#[derive(Default)]
pub(super) struct Channels {
    pub(super) all: IndexVec<ChannelId, TxsChannel>,
    hidden: BTreeMap<(usize, String, BehaviourId, String), ChannelId>,
}

impl Channels {
    /// Returns the channel called `name` that `HIDE` declares at `place`: number of the part, path, behaviour.
    fn hidden(&mut self, place: (usize, String, BehaviourId), name: &Name, sorts: Vec<Sort>) -> ChannelId {
        // The path is part of the key: a process that runs twice side by side hides two different channels,
        // although both come from one `HIDE`.
        let key = (place.0, place.1, place.2, name.text.clone());
        if let Some(&known) = self.hidden.get(&key) {
            return known;
        }
        let id = self.all.push(TxsChannel::new_plain(&name.text, sorts));
        self.hidden.insert(key, id);
        id
    }

    /// Returns the plain channels of `channel`.
    pub(super) fn plain_channels(&self, channel: ChannelId) -> BTreeSet<ChannelId> {
        match &*self.all[channel].joins {
            [] => [channel].into(),
            joins => joins.iter().copied().collect(),
        }
    }

    /// Returns the plain channels of `channel`, in the order of their fields.
    pub(super) fn in_order(&self, channel: ChannelId) -> Vec<ChannelId> {
        match &*self.all[channel].joins {
            [] => vec![channel],
            joins => joins.to_vec(),
        }
    }

    /// Returns the channel of communications on all of `plain` at once: one message, with the fields of all.
    pub(super) fn joint_channel(&mut self, plain: &BTreeSet<ChannelId>) -> ChannelId {
        if let Some(&only) = plain.first()
            && plain.len() == 1
        {
            return only;
        }
        let mut joins: Vec<ChannelId> = plain.iter().copied().collect();
        // By name first, so that the name and the fields of the joint message do not depend on the order in
        // which channels were found.
        joins.sort_by(|&a, &b| (&self.all[a].name, a).cmp(&(&self.all[b].name, b)));
        if let Some((known, _)) = self.all.iter_enumerated().find(|(_, channel)| channel.joins == joins) {
            return known;
        }
        let names: Vec<&str> = joins.iter().map(|&id| &*self.all[id].name).collect();
        let sorts = joins.iter().flat_map(|&id| self.all[id].sorts.clone()).collect();
        let mut name = names.join(JOINT);
        while self.all.iter().any(|other| other.name == name) {
            name.push_str(JOINT);
        }
        self.all.push(TxsChannel { name, sorts, joins })
    }

    /// Returns the names of the values on `channel`: `v1`, or `A_v1` if it is a joint communication.
    pub(super) fn field_names(&self, channel: ChannelId) -> Vec<String> {
        let own = |prefix: String, id: ChannelId| {
            (0..self.all[id].sorts.len()).map(move |at| format!("{prefix}{}", field_name(at)))
        };
        match &*self.all[channel].joins {
            [] => own(String::new(), channel).collect(),
            joins => joins.iter().flat_map(|&id| own(format!("{}_", self.all[id].name), id)).collect(),
        }
    }
}

/// The channels of names in scope.
pub(super) type ChannelWiring = BTreeMap<String, ChannelId>;

/// The channels on which both sides of a composition synchronise.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Sharing {
    All,
    Only(BTreeSet<ChannelId>),
}

impl Sharing {
    /// Returns the shared ones among some plain channels.
    pub(super) fn shared_among(&self, plain: &BTreeSet<ChannelId>) -> BTreeSet<ChannelId> {
        match self {
            Self::All => plain.clone(),
            Self::Only(channels) => plain.intersection(channels).copied().collect(),
        }
    }

    /// Returns the channels of a step that both sides take together, one on `left` and the other on `right`: they agree
    /// on the shared channels, and each adds its own. `None` if they do not synchronise.
    pub(super) fn shared_channels(
        &self,
        left: &BTreeSet<ChannelId>,
        right: &BTreeSet<ChannelId>,
    ) -> Option<BTreeSet<ChannelId>> {
        let (shared, others) = (self.shared_among(left), self.shared_among(right));
        // Both offer the same shared channels, and at least one. A channel that is in both but not shared
        // would have to happen twice at once, so there is no such step.
        let is_met =
            !shared.is_empty() && shared == others && left.intersection(right).count() == shared.len();
        is_met.then(|| left.union(right).copied().collect())
    }
}

/// The control state of a behaviour.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ControlState {
    /// The end: no further step.
    Ended,
    /// The start of this behaviour, with the terms and channels of the names in scope.
    At(BehaviourId, Scope, ChannelWiring),
    Parallel(Sharing, Box<ControlState>, Box<ControlState>),
    Hide(BTreeSet<ChannelId>, Box<ControlState>),
    /// `left >>> right`: the second starts when the first exits.
    Enable(Box<ControlState>, Box<ControlState>),
    Disable(Box<ControlState>, Box<ControlState>),
    Interrupt(Box<ControlState>, Box<ControlState>),
}

/// The action of a step.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ControlAct {
    On(ChannelId),
    /// A communication on a hidden channel.
    Hidden(ChannelId),
    Exit(Vec<Sort>),
    /// An exit that starts the behaviour behind `>>>`.
    Enabling(Vec<Sort>),
    Internal,
    Hit,
    Miss,
    Quiet,
}

/// A step: action, guard, and the control state after it.
#[derive(Clone, Debug)]
pub(super) struct ControlStep {
    pub(super) act: ControlAct,
    pub(super) guard: Term,
    pub(super) next: ControlState,
    pub(super) span: Span,
}

/// The steps of the behaviours of one part.
pub(super) struct Stepper<'a> {
    pub(super) spec: &'a Specification,
    pub(super) words: &'a Vocabulary,
    pub(super) interface: &'a ProcessInterface,
    pub(super) channels: &'a mut Channels,
    /// The number of the part, which distinguishes its hidden channels from those of others.
    pub(super) part: usize,
    pub(super) pool: TermPool,
    /// The place of a communication of which only some channels are hidden, if there is one.
    pub(super) partly_hidden: Option<Span>,
    nesting: usize,
    called: Option<Span>,
    fields: BTreeMap<(ChannelId, usize), VarId>,
    exit_fields: BTreeMap<(usize, Sort), VarId>,
}

impl<'a> Stepper<'a> {
    /// Makes a stepper for part number `part`, whose terms are in `pool`.
    pub(super) fn new(
        meaning: &TxsMeaning<'a>,
        channels: &'a mut Channels,
        part: usize,
        pool: TermPool,
    ) -> Self {
        let TxsMeaning { spec, words, interface, .. } = *meaning;
        let (fields, exit_fields) = (BTreeMap::new(), BTreeMap::new());
        let (partly_hidden, nesting, called) = (None, 0, None);
        Self {
            spec,
            words,
            interface,
            channels,
            part,
            pool,
            partly_hidden,
            nesting,
            called,
            fields,
            exit_fields,
        }
    }

    /// The variables for the values of an action on `channel`.
    pub(super) fn fields(&mut self, channel: ChannelId) -> Vec<VarId> {
        let sorts = self.channels.all[channel].sorts.clone();
        let names = self.channels.field_names(channel);
        let pool = &mut self.pool;
        let mut field = |(at, (sort, name)): (usize, (Sort, String))| {
            // One variable for each value of a channel, whichever step uses it. Steps of both sides then
            // speak of the same variable, and their guards can simply be joined.
            *self.fields.entry((channel, at)).or_insert_with(|| pool.declare(&name, sort))
        };
        sorts.into_iter().zip(names).enumerate().map(&mut field).collect()
    }

    /// Returns the substitution of the fields of the plain channels of `channel` by those of the joint message.
    pub(super) fn renaming(&mut self, channel: ChannelId) -> Substitution {
        let joins = self.channels.all[channel].joins.clone();
        let plain: Vec<VarId> = joins.iter().flat_map(|&id| self.fields(id)).collect();
        let own = self.fields(channel);
        let terms: Vec<(VarId, Term)> =
            plain.into_iter().zip(own).map(|(from, to)| (from, self.pool.var(to))).collect();
        terms.into_iter().collect()
    }

    /// The variables for the values of an exit.
    pub(super) fn exit_fields(&mut self, sorts: &[Sort]) -> Vec<VarId> {
        let pool = &mut self.pool;
        let mut field = |(at, &sort): (usize, &Sort)| {
            *self.exit_fields.entry((at, sort)).or_insert_with(|| pool.declare(&field_name(at), sort))
        };
        sorts.iter().enumerate().map(&mut field).collect()
    }

    /// Types an expression. The text was checked before, so an error now is due to values that grow too large.
    fn type_expression<T>(
        &mut self,
        look: impl FnOnce(&mut Typing<'_>) -> Result<T, Reported>,
    ) -> Result<T, NoPart> {
        let mut sink = FindingSink::default();
        let found = look(&mut Typing { words: self.words, pool: &mut self.pool, sink: &mut sink });
        found.map_err(|_| NoPart::Wrong(sink.finish()))
    }

    /// Returns the behaviour with this id.
    fn behaviour(&self, id: BehaviourId) -> &'a BehaviourTree {
        &self.spec.behaviours[id]
    }

    // Normal forms.

    /// Returns `control` with calls unfolded and compositions opened, down to the next actions. Conditions that are
    /// decided already, such as those of processes that start `n` others, are decided here.
    pub(super) fn open_compositions(
        &mut self,
        control: ControlState,
        path: &str,
    ) -> Result<ControlState, NoPart> {
        self.deeper(|stepper| stepper.opened_once(control, path))
    }

    /// Runs `look` one level deeper; beyond [`MAX_NESTING`], some call creates processes without bound.
    fn deeper<T>(&mut self, look: impl FnOnce(&mut Self) -> Result<T, NoPart>) -> Result<T, NoPart> {
        if self.nesting >= MAX_NESTING {
            return Err(self.called.map_or(NoPart::Broken, NoPart::Endless));
        }
        self.nesting += 1;
        let found = look(self);
        self.nesting -= 1;
        found
    }

    fn opened_once(&mut self, control: ControlState, path: &str) -> Result<ControlState, NoPart> {
        let (mut id, mut scope, mut wiring) = match control {
            ControlState::At(id, scope, wiring) => (id, scope, wiring),
            ControlState::Parallel(sharing, left, right) => {
                let left = self.open_compositions(*left, &path_of_side(path, 'l'))?;
                let right = self.open_compositions(*right, &path_of_side(path, 'r'))?;
                return Ok(ControlState::Parallel(sharing, Box::new(left), Box::new(right)));
            }
            ControlState::Hide(channels, body) => {
                return Ok(ControlState::Hide(
                    channels,
                    Box::new(self.open_compositions(*body, &path_of_side(path, 'l'))?),
                ));
            }
            ControlState::Enable(left, right) => {
                return Ok(ControlState::Enable(
                    Box::new(self.open_compositions(*left, &path_of_side(path, 'l'))?),
                    // The right side stays as it is: its first steps are opened when they are asked for, and
                    // a side that never runs is never unfolded.
                    right,
                ));
            }
            ControlState::Disable(left, right) => {
                return Ok(ControlState::Disable(
                    Box::new(self.open_compositions(*left, &path_of_side(path, 'l'))?),
                    right,
                ));
            }
            ControlState::Interrupt(left, right) => {
                return Ok(ControlState::Interrupt(
                    Box::new(self.open_compositions(*left, &path_of_side(path, 'l'))?),
                    right,
                ));
            }
            ControlState::Ended => return Ok(ControlState::Ended),
        };
        loop {
            match &self.behaviour(id).kind {
                // Calls and constant guards take no step of their own, so they are unfolded until an operator or an
                // action is at the front.
                BehaviourKind::Call { process, channels, args } => {
                    self.called = Some(self.behaviour(id).span);
                    (id, scope, wiring) = self.unfold_call(process, channels, args, &scope, &wiring)?;
                }
                BehaviourKind::Guard(guard, next) => {
                    // Arguments are terms. If all of them are values, the guard folds to a constant here.
                    let guard = self.type_expression(|typing| typing.check(guard, Sort::Bool, &scope))?;
                    match self.pool.as_value(guard).and_then(Value::as_bool) {
                        Some(true) => id = *next,
                        Some(false) => return Ok(ControlState::Ended),
                        None => break,
                    }
                }
                _ => break,
            }
        }
        let at = |id: BehaviourId| Box::new(ControlState::At(id, scope.clone(), wiring.clone()));
        let control = match &self.behaviour(id).kind {
            BehaviourKind::Stop => return Ok(ControlState::Ended),
            BehaviourKind::Parallel(sync, left, right) => {
                let sharing = match sync {
                    SyncChannels::All => Sharing::All,
                    SyncChannels::Only(names) => Sharing::Only(
                        names.iter().filter_map(|name| wiring.get(&name.text).copied()).collect(),
                    ),
                };
                ControlState::Parallel(sharing, at(*left), at(*right))
            }
            BehaviourKind::Hide(channels, body) => {
                let mut inner = wiring.clone();
                let mut hidden = BTreeSet::new();
                for channel in channels {
                    let sorts = self.channel_sorts(&channel.sorts);
                    let channel_id =
                        self.channels.hidden((self.part, path.to_owned(), id), &channel.name, sorts);
                    inner.insert(channel.name.text.clone(), channel_id);
                    hidden.insert(channel_id);
                }
                ControlState::Hide(hidden, Box::new(ControlState::At(*body, scope, inner)))
            }
            BehaviourKind::Enable(left, right) => ControlState::Enable(at(*left), at(*right)),
            BehaviourKind::Disable(left, right) => ControlState::Disable(at(*left), at(*right)),
            BehaviourKind::Interrupt(left, right) => ControlState::Interrupt(at(*left), at(*right)),
            _ => return Ok(ControlState::At(id, scope, wiring)),
        };
        // The operator is at the front now; once more opens its sides, at their own paths.
        self.open_compositions(control, path)
    }

    fn channel_sorts(&self, names: &[Name]) -> Vec<Sort> {
        names.iter().filter_map(|name| self.words.sorts.get(&name.text).copied()).collect()
    }

    /// Returns the body of a called process, with its parameters and channels in scope.
    fn unfold_call(
        &mut self,
        process: &Name,
        channels: &[Name],
        args: &[super::tree::TxsExpr],
        scope: &Scope,
        wiring: &ChannelWiring,
    ) -> Result<(BehaviourId, Scope, ChannelWiring), NoPart> {
        let &at = self.interface.processes.get(&process.text).ok_or(NoPart::Broken)?;
        let (process, signature) = (&self.spec.processes[at], &self.interface.signatures[at]);
        let mut inner = Scope::new();
        for ((param, &sort), arg) in process.params.iter().zip(&signature.params).zip(args) {
            let value = self.type_expression(|typing| typing.check(arg, sort, scope))?;
            inner.insert(param.name.text.clone(), value);
        }
        let formal = process.channels.iter().map(|channel| channel.name.text.clone());
        let actual: Result<Vec<ChannelId>, NoPart> =
            channels.iter().map(|name| wiring.get(&name.text).copied().ok_or(NoPart::Broken)).collect();
        Ok((process.body, inner, formal.zip(actual?).collect()))
    }

    // Steps.

    /// Returns the steps of `control`, which stands at `path`.
    pub(super) fn steps(&mut self, control: &ControlState, path: &str) -> Result<Vec<ControlStep>, NoPart> {
        self.deeper(|stepper| stepper.steps_once(control, path))
    }

    fn steps_once(&mut self, control: &ControlState, path: &str) -> Result<Vec<ControlStep>, NoPart> {
        match control {
            ControlState::Ended => Ok(Vec::new()),
            ControlState::At(id, scope, wiring) => self.steps_at(*id, scope.clone(), wiring, path),
            ControlState::Parallel(sharing, left, right) => self.parallel(sharing, left, right, path),
            ControlState::Hide(channels, body) => {
                let steps = self.steps(body, &path_of_side(path, 'l'))?;
                Ok(steps.into_iter().map(|step| self.hiding(step, channels)).collect())
            }
            ControlState::Enable(left, right) => {
                let steps = self.steps(left, &path_of_side(path, 'l'))?;
                steps.into_iter().map(|step| self.enabling(step, right)).collect()
            }
            ControlState::Disable(left, right) => {
                let mut steps = self.steps(left, &path_of_side(path, 'l'))?;
                // `P` may be disabled as long as it has not ended: the operator stays around every step but
                // its exit.
                for step in steps.iter_mut().filter(|step| !matches!(step.act, ControlAct::Exit(_))) {
                    let next = std::mem::replace(&mut step.next, ControlState::Ended);
                    step.next = ControlState::Disable(Box::new(next), right.clone());
                }
                steps.extend(self.first_steps(right, path)?);
                Ok(steps)
            }
            ControlState::Interrupt(left, right) => self.interrupt_steps(left, right, path),
        }
    }

    /// Returns a step of the body of `HIDE` as a step of the whole.
    fn hiding(&mut self, mut step: ControlStep, channels: &BTreeSet<ChannelId>) -> ControlStep {
        if let ControlAct::On(channel) = step.act {
            let plain = self.channels.plain_channels(channel);
            if plain.is_subset(channels) {
                step.act = ControlAct::Hidden(channel);
            } else if !plain.is_disjoint(channels) {
                self.partly_hidden = self.partly_hidden.or(Some(step.span));
            }
        }
        step.next = ControlState::Hide(channels.clone(), Box::new(step.next));
        step
    }

    /// Returns the first steps of the behaviour behind `[>>` or `[><`.
    fn first_steps(&mut self, right: &ControlState, path: &str) -> Result<Vec<ControlStep>, NoPart> {
        let path = path_of_side(path, 'r');
        let opened = self.open_compositions(right.clone(), &path)?;
        self.steps(&opened, &path)
    }

    fn steps_at(
        &mut self,
        id: BehaviourId,
        mut scope: Scope,
        wiring: &ChannelWiring,
        path: &str,
    ) -> Result<Vec<ControlStep>, NoPart> {
        let mut id = id;
        let mut guards = Vec::new();
        let mut steps = loop {
            match &self.behaviour(id).kind {
                BehaviourKind::Guard(guard, next) => {
                    let guard = self.type_expression(|typing| typing.check(guard, Sort::Bool, &scope))?;
                    if self.pool.is_false(guard) {
                        return Ok(Vec::new());
                    }
                    guards.push(guard);
                    id = *next;
                }
                BehaviourKind::Let(groups, next) => {
                    scope = self.type_expression(|typing| typing.bind(groups, &scope))?;
                    id = *next;
                }
                BehaviourKind::Prefix(offer, next) => {
                    break vec![self.communication(offer, *next, &scope, wiring)?];
                }
                BehaviourKind::Choice(all) => {
                    // The first step decides. Nothing is left of the other branches, so the choice leaves no
                    // trace in the control state.
                    let mut steps = Vec::new();
                    for &one in all {
                        let opened = self
                            .open_compositions(ControlState::At(one, scope.clone(), wiring.clone()), path)?;
                        steps.extend(self.steps(&opened, path)?);
                    }
                    break steps;
                }
                // `ACCEPT` is looked through by whoever enables it.
                BehaviourKind::Stop | BehaviourKind::Accept(..) => break Vec::new(),
                _ => {
                    let opened = self.open_compositions(ControlState::At(id, scope, wiring.clone()), path)?;
                    break self.steps(&opened, path)?;
                }
            }
        };
        for step in &mut steps {
            step.guard = self.pool.and(guards.iter().copied().chain([step.guard]));
        }
        Ok(steps)
    }

    /// The step of `offer >-> next`.
    fn communication(
        &mut self,
        offer: &ChannelOffer,
        next: BehaviourId,
        scope: &Scope,
        wiring: &ChannelWiring,
    ) -> Result<ControlStep, NoPart> {
        let (act, fields) = match &offer.on {
            OfferedOn::Channel(name) => {
                let names = std::iter::once(name).chain(offer.with.iter().map(|(name, _)| name));
                let plain: Result<Vec<ChannelId>, NoPart> =
                    names.map(|name| wiring.get(&name.text).copied().ok_or(NoPart::Broken)).collect();
                let plain = plain?;
                let fields = plain.iter().flat_map(|&channel| self.fields(channel)).collect();
                let channel = self.channels.joint_channel(&plain.into_iter().collect());
                (ControlAct::On(channel), fields)
            }
            OfferedOn::Exit => {
                let sorts = self.exit_sorts(&offer.values, scope)?;
                let fields = self.exit_fields(&sorts);
                (ControlAct::Exit(sorts), fields)
            }
            OfferedOn::Hit => (ControlAct::Hit, Vec::new()),
            OfferedOn::Miss => (ControlAct::Miss, Vec::new()),
            OfferedOn::Internal => (ControlAct::Internal, Vec::new()),
            OfferedOn::Quiet => (ControlAct::Quiet, Vec::new()),
        };
        // An offer of a value is an equation for the field, so offers of both sides meet as in LOTOS: two
        // values must agree, a value is passed to a variable, two variables take any one value.
        let (inner, mut guards) = self.bind_offers(&offer.values, &fields, scope)?;
        if let Some(guard) = &offer.guard {
            guards.push(self.type_expression(|typing| typing.check(guard, Sort::Bool, &inner))?);
        }
        let guard = self.pool.and(guards);
        Ok(ControlStep { act, guard, next: ControlState::At(next, inner, wiring.clone()), span: offer.span })
    }

    fn exit_sorts(&mut self, offered: &[OfferedValue], scope: &Scope) -> Result<Vec<Sort>, NoPart> {
        let mut sorts = Vec::with_capacity(offered.len());
        for one in offered {
            sorts.push(match one {
                OfferedValue::Take(var) => {
                    let sort = var.sort.as_ref().and_then(|sort| self.words.sorts.get(&sort.text));
                    *sort.ok_or(NoPart::Broken)?
                }
                OfferedValue::Give(value) => {
                    let term = self.type_expression(|typing| typing.infer(value, None, scope))?;
                    self.pool.sort(term).base()
                }
            });
        }
        Ok(sorts)
    }

    /// Returns the scope with the names bound to received `fields`, and the facts that sent values equal theirs.
    fn bind_offers(
        &mut self,
        offered: &[OfferedValue],
        fields: &[VarId],
        scope: &Scope,
    ) -> Result<(Scope, Vec<Term>), NoPart> {
        let mut inner = scope.clone();
        let mut guards = Vec::new();
        for (one, &field) in offered.iter().zip(fields) {
            let (sort, term) = (self.pool.var_info(field).sort, self.pool.var(field));
            match one {
                OfferedValue::Take(var) => drop(inner.insert(var.name.text.clone(), term)),
                OfferedValue::Give(value) => {
                    let value = self.type_expression(|typing| typing.check(value, sort, scope))?;
                    guards.push(self.pool.eq(term, value));
                }
            }
        }
        Ok((inner, guards))
    }

    /// Returns the steps of two behaviours side by side: alone where they do not share the channel, together where
    /// they do.
    fn parallel(
        &mut self,
        sharing: &Sharing,
        left: &ControlState,
        right: &ControlState,
        path: &str,
    ) -> Result<Vec<ControlStep>, NoPart> {
        let lefts = self.steps(left, &path_of_side(path, 'l'))?;
        let rights = self.steps(right, &path_of_side(path, 'r'))?;
        let channels = &*self.channels;
        // Both sides take shared acts together or not at all; all other acts each takes alone.
        let is_shared = |act: &ControlAct| match act {
            ControlAct::On(channel) => !sharing.shared_among(&channels.plain_channels(*channel)).is_empty(),
            ControlAct::Exit(_) | ControlAct::Hit | ControlAct::Miss => true,
            ControlAct::Hidden(_) | ControlAct::Enabling(_) | ControlAct::Internal | ControlAct::Quiet => {
                false
            }
        };
        let (shared_lefts, lefts): (Vec<ControlStep>, Vec<ControlStep>) =
            lefts.into_iter().partition(|step| is_shared(&step.act));
        let (shared_rights, rights): (Vec<ControlStep>, Vec<ControlStep>) =
            rights.into_iter().partition(|step| is_shared(&step.act));
        let both = |a: ControlState, b: ControlState| {
            ControlState::Parallel(sharing.clone(), Box::new(a), Box::new(b))
        };
        let mut steps = Vec::new();
        for step in &lefts {
            steps.push(ControlStep { next: both(step.next.clone(), right.clone()), ..step.clone() });
        }
        for step in &rights {
            steps.push(ControlStep { next: both(left.clone(), step.next.clone()), ..step.clone() });
        }
        // Every pair: each side may offer the same action under several conditions.
        for one in &shared_lefts {
            for other in &shared_rights {
                let Some(act) = self.synchronise_acts(sharing, &one.act, &other.act) else { continue };
                let guard = self.pool.and2(one.guard, other.guard);
                steps.push(ControlStep {
                    act,
                    guard,
                    next: both(one.next.clone(), other.next.clone()),
                    span: one.span,
                });
            }
        }
        Ok(steps)
    }

    /// Returns the joint action of both sides of a composition; `None` if they do not synchronise.
    fn synchronise_acts(
        &mut self,
        sharing: &Sharing,
        one: &ControlAct,
        other: &ControlAct,
    ) -> Option<ControlAct> {
        match (one, other) {
            (ControlAct::On(left), ControlAct::On(right)) => {
                let met = sharing.shared_channels(
                    &self.channels.plain_channels(*left),
                    &self.channels.plain_channels(*right),
                )?;
                Some(ControlAct::On(self.channels.joint_channel(&met)))
            }
            _ => (one == other).then(|| one.clone()),
        }
    }

    /// Returns a step of the behaviour before `>>>` as a step of the whole; an exit starts the behaviour behind it.
    fn enabling(&mut self, step: ControlStep, right: &ControlState) -> Result<ControlStep, NoPart> {
        let ControlAct::Exit(sorts) = &step.act else {
            return Ok(ControlStep {
                next: ControlState::Enable(Box::new(step.next), Box::new(right.clone())),
                ..step
            });
        };
        let act = ControlAct::Enabling(sorts.clone());
        // The values of the exit are the fields of this step, so `ACCEPT` binds its names to them without a
        // step of its own.
        if let ControlState::At(id, scope, wiring) = right
            && let BehaviourKind::Accept(offered, body) = &self.behaviour(*id).kind
        {
            let fields = self.exit_fields(sorts);
            let (inner, guards) = self.bind_offers(offered, &fields, scope)?;
            let guard = self.pool.and(guards.into_iter().chain([step.guard]));
            return Ok(ControlStep {
                act,
                guard,
                next: ControlState::At(*body, inner, wiring.clone()),
                span: step.span,
            });
        }
        Ok(ControlStep { act, next: right.clone(), ..step })
    }

    fn interrupt_steps(
        &mut self,
        left: &ControlState,
        right: &ControlState,
        path: &str,
    ) -> Result<Vec<ControlStep>, NoPart> {
        let mut steps = self.steps(left, &path_of_side(path, 'l'))?;
        // An exit of `P` ends the whole. After every other step `P` can be interrupted again.
        for step in steps.iter_mut().filter(|step| !matches!(step.act, ControlAct::Exit(_))) {
            let next = std::mem::replace(&mut step.next, ControlState::Ended);
            step.next = ControlState::Interrupt(Box::new(next), Box::new(right.clone()));
        }
        // `P` where it was: what interrupts it takes no step of `P`, so its control state is copied unchanged
        // behind the end of `Q`.
        let resumed = ControlState::Interrupt(Box::new(left.clone()), Box::new(right.clone()));
        for step in self.first_steps(right, path)? {
            steps.push(match step.act {
                ControlAct::Exit(sorts) => {
                    ControlStep { act: ControlAct::Enabling(sorts), next: resumed.clone(), ..step }
                }
                _ => ControlStep {
                    next: ControlState::Enable(Box::new(step.next), Box::new(resumed.clone())),
                    ..step
                },
            });
        }
        Ok(steps)
    }
}

/// The name of the value at position `at`.
pub(super) fn field_name(at: usize) -> String {
    format!("v{}", at + 1)
}

/// Returns the path of one side of the composition at `path`.
pub(super) fn path_of_side(path: &str, side: char) -> String {
    format!("{path}{side}")
}
