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

use ioxide_model::sort::Sort;
use ioxide_model::source::Span;
use ioxide_model::term::{Substitution, Term, TermPool, VarId};
use ioxide_model::value::Value;

use super::channels::{ChannelId, ChannelWiring, Channels, Communication, Sharing, field_name};
use super::check::ProcessInterface;
use super::impossible::is_impossible;
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

/// The greatest nesting depth of compositions and calls. Chosen by feel: calls are unfolded by recursion, and one
/// that never ends has to be noticed.
const MAX_NESTING: usize = 150;

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

impl ControlState {
    /// Replaces variables in the terms of the names in scope.
    fn substitute(&mut self, pool: &mut TermPool, names: &Substitution) {
        match self {
            Self::Ended => {}
            Self::At(_, scope, _) => {
                scope.values_mut().for_each(|term| *term = pool.substitute(*term, names));
            }
            Self::Hide(_, body) => body.substitute(pool, names),
            Self::Parallel(_, left, right)
            | Self::Enable(left, right)
            | Self::Disable(left, right)
            | Self::Interrupt(left, right) => {
                left.substitute(pool, names);
                right.substitute(pool, names);
            }
        }
    }
}

/// The action of a step.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ControlAct {
    On(Communication),
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
    /// The place of the last call that was made of those that may create processes without bound.
    pub(super) grown: Option<Span>,
    /// The depth of compositions up to which processes that create processes are unfolded.
    pub(super) max_depth: usize,
    growing: &'a BTreeSet<BehaviourId>,
    nesting: usize,
    called: Option<Span>,
    fields: BTreeMap<(ChannelId, usize), VarId>,
    joint_fields: BTreeMap<Communication, Vec<VarId>>,
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
        let TxsMeaning { spec, words, interface, growing, max_depth, .. } = *meaning;
        let (fields, exit_fields, joint_fields) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        let (nesting, called, grown) = (0, None, None);
        Self {
            spec,
            words,
            interface,
            channels,
            part,
            pool,
            grown,
            max_depth,
            growing,
            nesting,
            called,
            fields,
            joint_fields,
            exit_fields,
        }
    }

    /// The variables for the values of an action on the plain `channel`.
    fn fields(&mut self, channel: ChannelId) -> Vec<VarId> {
        let pool = &mut self.pool;
        let mut field = |(at, &sort): (usize, &Sort)| {
            *self.fields.entry((channel, at)).or_insert_with(|| pool.declare(&field_name(at), sort))
        };
        self.channels.all[channel].sorts.iter().enumerate().map(&mut field).collect()
    }

    /// The variables for the values of a communication, as its guard mentions them.
    fn plain_fields(&mut self, communication: &Communication) -> Vec<VarId> {
        let channels = self.channels.ordered_channels(communication);
        let mut fields: Vec<VarId> = channels.into_iter().flat_map(|channel| self.fields(channel)).collect();
        fields.extend(communication.exit.as_ref().map(|sorts| self.exit_fields(sorts)).unwrap_or_default());
        fields
    }

    /// The variables for the values of the message that a communication is: its own, if it is on several channels.
    pub(super) fn message_fields(&mut self, communication: &Communication) -> Vec<VarId> {
        if !communication.is_joint() {
            return self.plain_fields(communication);
        }
        if let Some(known) = self.joint_fields.get(communication) {
            return known.clone();
        }
        let named = self.channels.communication_fields(communication);
        let fields: Vec<VarId> = named.iter().map(|(name, sort)| self.pool.declare(name, *sort)).collect();
        self.joint_fields.insert(communication.clone(), fields.clone());
        fields
    }

    /// Returns the substitution of the variables of a guard by those of the message.
    pub(super) fn renaming(&mut self, communication: &Communication) -> Substitution {
        let plain = self.plain_fields(communication);
        let own = self.message_fields(communication);
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
        self.with_nesting(|stepper| stepper.open_once(control, path))
    }

    /// Runs `look` one level deeper; beyond [`MAX_NESTING`], some call creates processes without bound.
    fn with_nesting<T>(&mut self, look: impl FnOnce(&mut Self) -> Result<T, NoPart>) -> Result<T, NoPart> {
        if self.nesting >= MAX_NESTING {
            return Err(self.called.map_or(NoPart::Broken, NoPart::Endless));
        }
        self.nesting += 1;
        let found = look(self);
        self.nesting -= 1;
        found
    }

    fn open_once(&mut self, control: ControlState, path: &str) -> Result<ControlState, NoPart> {
        let (mut id, mut scope, mut wiring) = match control {
            ControlState::At(id, scope, wiring) => (id, scope, wiring),
            ControlState::Parallel(sharing, left, right) => {
                let left = self.open_compositions(*left, &path_of_side(path, 'l'))?;
                let right = self.open_compositions(*right, &path_of_side(path, 'r'))?;
                return Ok(self.parallel_state(sharing, left, right));
            }
            ControlState::Hide(channels, body) => {
                let body = self.open_compositions(*body, &path_of_side(path, 'l'))?;
                // Channels that nobody uses any more hide nothing.
                let is_used = !self.channels_of(&body).is_disjoint(&channels);
                return Ok(if is_used { ControlState::Hide(channels, Box::new(body)) } else { body });
            }
            ControlState::Enable(left, right) => {
                let left = self.open_compositions(*left, &path_of_side(path, 'l'))?;
                let is_over = matches!(left, ControlState::Ended);
                return Ok(if is_over { left } else { ControlState::Enable(Box::new(left), right) });
            }
            ControlState::Disable(left, right) => {
                let left = self.open_compositions(*left, &path_of_side(path, 'l'))?;
                if matches!(left, ControlState::Ended) {
                    return self.open_compositions(*right, path);
                }
                return Ok(ControlState::Disable(Box::new(left), right));
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
                BehaviourKind::Call { channels, args, .. } => {
                    self.called = Some(self.behaviour(id).span);
                    if self.growing.contains(&id) {
                        self.grown = self.called;
                    }
                    (id, scope, wiring) = self.unfold_call(id, channels, args, &scope, &wiring)?;
                }
                BehaviourKind::Enter { process, args, .. } => {
                    self.called = Some(self.behaviour(id).span);
                    scope = self.parameters(*process, args, &scope)?;
                    id = self.spec.processes[*process].body;
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
                    SyncChannels::Only(names) => {
                        Sharing::Only(names.iter().filter_map(|name| wiring.get(&name.text)).collect())
                    }
                };
                ControlState::Parallel(sharing, at(*left), at(*right))
            }
            BehaviourKind::Hide(channels, body) => {
                let mut inner = wiring.clone();
                let mut hidden = BTreeSet::new();
                for channel in channels {
                    let sorts = self.channel_sorts(&channel.sorts);
                    let known = self.channels.hidden((self.part, path.to_owned(), id), &channel.name, sorts);
                    // Around this behaviour the channel may be in use by a copy of it, which has moved from here.
                    let is_taken = |id: ChannelId| wiring.contains(id);
                    let channel_id = self.channels.unused_copy(known, is_taken);
                    inner.insert(&channel.name.text, channel_id);
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

    /// Returns the composition of two opened behaviours; one that has ended and that the other does not wait for is
    /// left out, so that processes which come and go leave nothing behind.
    fn parallel_state(&self, sharing: Sharing, left: ControlState, right: ControlState) -> ControlState {
        let (is_left_over, other) = match (&left, &right) {
            (ControlState::Ended, ControlState::Ended) => return ControlState::Ended,
            (ControlState::Ended, other) => (true, other),
            (other, ControlState::Ended) => (false, other),
            _ => return ControlState::Parallel(sharing, Box::new(left), Box::new(right)),
        };
        let waits = self.may_end(other)
            || match &sharing {
                Sharing::All => true,
                Sharing::Only(shared) => !self.channels_of(other).is_disjoint(shared),
            };
        match (waits, is_left_over) {
            (true, _) => ControlState::Parallel(sharing, Box::new(left), Box::new(right)),
            (false, true) => right,
            (false, false) => left,
        }
    }

    /// Returns whether a behaviour may end with `EXIT`, `HIT` or `MISS`.
    fn may_end(&self, control: &ControlState) -> bool {
        match control {
            ControlState::Ended => false,
            ControlState::At(id, ..) => self.interface.ends[*id],
            ControlState::Parallel(_, left, right) => self.may_end(left) && self.may_end(right),
            ControlState::Hide(_, body)
            | ControlState::Enable(_, body)
            | ControlState::Interrupt(body, _) => self.may_end(body),
            ControlState::Disable(left, right) => self.may_end(left) || self.may_end(right),
        }
    }

    /// Returns the channels that a behaviour mentions and does not hide.
    fn channels_of(&self, control: &ControlState) -> BTreeSet<ChannelId> {
        match control {
            ControlState::Ended => BTreeSet::new(),
            ControlState::At(id, _, wiring) => {
                let names = self.behaviour(*id).free.channels.iter();
                names.filter_map(|name| wiring.get(name)).collect()
            }
            ControlState::Hide(hidden, body) => self.channels_of(body).difference(hidden).copied().collect(),
            ControlState::Parallel(_, left, right)
            | ControlState::Enable(left, right)
            | ControlState::Disable(left, right)
            | ControlState::Interrupt(left, right) => {
                let mut found = self.channels_of(left);
                found.extend(self.channels_of(right));
                found
            }
        }
    }

    fn channel_sorts(&self, names: &[Name]) -> Vec<Sort> {
        names.iter().filter_map(|name| self.words.sorts.get(&name.text).copied()).collect()
    }

    /// Returns the body of a called process, with its parameters and channels in scope.
    fn unfold_call(
        &mut self,
        call: BehaviourId,
        channels: &[Name],
        args: &[super::tree::TxsExpr],
        scope: &Scope,
        wiring: &ChannelWiring,
    ) -> Result<(BehaviourId, Scope, ChannelWiring), NoPart> {
        let &at = self.interface.called.get(&call).ok_or(NoPart::Broken)?;
        let process = &self.spec.processes[at];
        let inner = self.parameters(at, args, scope)?;
        let formal = process.channels.iter().map(|channel| channel.name.text.clone());
        let actual: Result<Vec<ChannelId>, NoPart> =
            channels.iter().map(|name| wiring.get(&name.text).ok_or(NoPart::Broken)).collect();
        Ok((process.body, inner, formal.zip(actual?).collect()))
    }

    /// Returns the parameters of a process, with the values of the arguments.
    fn parameters(
        &mut self,
        process: usize,
        args: &[super::tree::TxsExpr],
        scope: &Scope,
    ) -> Result<Scope, NoPart> {
        let (params, signature) = (&self.spec.processes[process].params, &self.interface.signatures[process]);
        let mut inner = Scope::new();
        for ((param, &sort), arg) in params.iter().zip(&signature.params).zip(args) {
            let value = self.type_expression(|typing| typing.check(arg, sort, scope))?;
            inner.insert(param.name.text.clone(), value);
        }
        Ok(inner)
    }

    // Steps.

    /// Returns the steps of `control`, which stands at `path`.
    pub(super) fn steps(&mut self, control: &ControlState, path: &str) -> Result<Vec<ControlStep>, NoPart> {
        self.with_nesting(|stepper| stepper.steps_once(control, path))
    }

    fn steps_once(&mut self, control: &ControlState, path: &str) -> Result<Vec<ControlStep>, NoPart> {
        match control {
            ControlState::Ended => Ok(Vec::new()),
            ControlState::At(id, scope, wiring) => self.steps_at(*id, scope.clone(), wiring, path),
            ControlState::Parallel(sharing, left, right) => self.parallel(sharing, left, right, path),
            ControlState::Hide(channels, body) => {
                let steps = self.steps(body, &path_of_side(path, 'l'))?;
                Ok(steps.into_iter().map(|step| hide_channels(step, channels)).collect())
            }
            ControlState::Enable(left, right) => {
                let steps = self.steps(left, &path_of_side(path, 'l'))?;
                steps.into_iter().map(|step| self.enabling(step, right, path)).collect()
            }
            ControlState::Disable(left, right) => {
                let mut steps = self.steps(left, &path_of_side(path, 'l'))?;
                for step in steps.iter_mut().filter(|step| !step.act.is_exit()) {
                    let next = std::mem::replace(&mut step.next, ControlState::Ended);
                    step.next = ControlState::Disable(Box::new(next), right.clone());
                }
                steps.extend(self.first_steps(right, path)?);
                Ok(steps)
            }
            ControlState::Interrupt(left, right) => self.interrupt_steps(left, right, path),
        }
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
                    names.map(|name| wiring.get(&name.text).ok_or(NoPart::Broken)).collect();
                let plain = plain?;
                let mut fields: Vec<VarId> = plain.iter().flat_map(|&channel| self.fields(channel)).collect();
                let mut act = Communication { seen: plain.into_iter().collect(), ..Communication::default() };
                if offer.exit.is_some() {
                    let sorts = self.exit_sorts(offer.split_values().1, scope)?;
                    fields.extend(self.exit_fields(&sorts));
                    act.exit = Some(sorts);
                }
                (ControlAct::On(act), fields)
            }
            OfferedOn::Exit => {
                let sorts = self.exit_sorts(&offer.values, scope)?;
                let fields = self.exit_fields(&sorts);
                (ControlAct::On(Communication { exit: Some(sorts), ..Communication::default() }), fields)
            }
            OfferedOn::Hit => (ControlAct::Hit, Vec::new()),
            OfferedOn::Miss => (ControlAct::Miss, Vec::new()),
            OfferedOn::Internal => (ControlAct::On(Communication::default()), Vec::new()),
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
        // Both sides take shared acts together or not at all; all other acts each takes alone.
        let is_shared = |act: &ControlAct| match act {
            ControlAct::On(communication) => sharing.is_shared(communication),
            ControlAct::Hit | ControlAct::Miss => true,
            ControlAct::Quiet => false,
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
                let other = self.with_own_channels(other.clone(), &one.act);
                let Some(act) = synchronise_acts(sharing, &one.act, &other.act) else { continue };
                let guard = self.pool.and2(one.guard, other.guard);
                // Of many sides, most choices of one step of each contradict each other, and each side multiplies them.
                if is_impossible(&self.pool, guard) {
                    continue;
                }
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

    /// Returns `step` with hidden channels that `other` does not have: a behaviour that has moved to another path keeps
    /// the channels of the path it started at, and a copy of it may have started there since.
    fn with_own_channels(&mut self, mut step: ControlStep, other: &ControlAct) -> ControlStep {
        let (ControlAct::On(own), ControlAct::On(other)) = (&mut step.act, other) else { return step };
        let common: Vec<ChannelId> = own.hidden.intersection(&other.hidden).copied().collect();
        for channel in common {
            let is_taken = |id: ChannelId| own.hidden.contains(&id) || other.hidden.contains(&id);
            let copy = self.channels.unused_copy(channel, is_taken);
            own.hidden.remove(&channel);
            own.hidden.insert(copy);
            let (from, to) = (self.fields(channel), self.fields(copy));
            let pool = &mut self.pool;
            let names: Substitution =
                from.into_iter().zip(to).map(|(from, to)| (from, pool.var(to))).collect();
            step.guard = pool.substitute(step.guard, &names);
            step.next.substitute(pool, &names);
        }
        step
    }

    /// Returns a step of the behaviour before `>>>`, at `path`, as a step of the whole; an exit starts the behaviour
    /// behind it.
    fn enabling(
        &mut self,
        step: ControlStep,
        right: &ControlState,
        path: &str,
    ) -> Result<ControlStep, NoPart> {
        if !step.act.is_exit() {
            return Ok(ControlStep {
                next: ControlState::Enable(Box::new(step.next), Box::new(right.clone())),
                ..step
            });
        }
        let (mut step, fields) = self.accept_exit(step, path);
        step.next = right.clone();
        if let ControlState::At(id, scope, wiring) = right
            && let BehaviourKind::Accept(offered, body) = &self.behaviour(*id).kind
        {
            let (inner, guards) = self.bind_offers(offered, &fields, scope)?;
            step.guard = self.pool.and(guards.into_iter().chain([step.guard]));
            step.next = ControlState::At(*body, inner, wiring.clone());
        }
        Ok(step)
    }

    /// Returns a step that exits with its exit hidden, and the variables for the values of the exit. They belong to
    /// `path`: two sides that synchronise on something else may hand on values of the same sorts.
    fn accept_exit(&mut self, mut step: ControlStep, path: &str) -> (ControlStep, Vec<VarId>) {
        let ControlAct::On(communication) = &mut step.act else { return (step, Vec::new()) };
        let sorts = communication.exit.take().unwrap_or_default();
        let channel = self.channels.exit_channel((self.part, path.to_owned()), &sorts);
        communication.hidden.insert(channel);
        let (before, fields) = (self.exit_fields(&sorts), self.fields(channel));
        let pool = &mut self.pool;
        let names: Substitution =
            before.into_iter().zip(&fields).map(|(from, &to)| (from, pool.var(to))).collect();
        step.guard = pool.substitute(step.guard, &names);
        (step, fields)
    }

    fn interrupt_steps(
        &mut self,
        left: &ControlState,
        right: &ControlState,
        path: &str,
    ) -> Result<Vec<ControlStep>, NoPart> {
        let mut steps = self.steps(left, &path_of_side(path, 'l'))?;
        for step in steps.iter_mut().filter(|step| !step.act.is_exit()) {
            let next = std::mem::replace(&mut step.next, ControlState::Ended);
            step.next = ControlState::Interrupt(Box::new(next), Box::new(right.clone()));
        }
        // `P` where it was: what interrupts it takes no step of `P`, so its control state is copied unchanged
        // behind the end of `Q`.
        let resumed = ControlState::Interrupt(Box::new(left.clone()), Box::new(right.clone()));
        for step in self.first_steps(right, path)? {
            steps.push(if step.act.is_exit() {
                let (step, _) = self.accept_exit(step, path);
                ControlStep { next: resumed.clone(), ..step }
            } else {
                let next = ControlState::Enable(Box::new(step.next), Box::new(resumed.clone()));
                ControlStep { next, ..step }
            });
        }
        Ok(steps)
    }
}

impl ControlAct {
    /// Returns whether those who take it end with it.
    fn is_exit(&self) -> bool {
        matches!(self, Self::On(communication) if communication.exit.is_some())
    }
}

/// Returns the joint action of both sides of a composition; `None` if they do not synchronise.
fn synchronise_acts(sharing: &Sharing, one: &ControlAct, other: &ControlAct) -> Option<ControlAct> {
    match (one, other) {
        (ControlAct::On(left), ControlAct::On(right)) => sharing.synchronise(left, right).map(ControlAct::On),
        _ => (one == other).then(|| one.clone()),
    }
}

/// Returns a step of the body of `HIDE` as a step of the whole.
fn hide_channels(mut step: ControlStep, channels: &BTreeSet<ChannelId>) -> ControlStep {
    if let ControlAct::On(communication) = &mut step.act {
        *communication = communication.hide(channels);
    }
    step.next = ControlState::Hide(channels.clone(), Box::new(step.next));
    step
}

/// Returns the path of one side of the composition at `path`.
pub(super) fn path_of_side(path: &str, side: char) -> String {
    format!("{path}{side}")
}
