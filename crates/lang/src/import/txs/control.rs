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

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

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

/// The name of exits in messages.
const EXIT: &str = "EXIT";

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
    exits: BTreeMap<(usize, String, Vec<Sort>), ChannelId>,
    joint: BTreeMap<Vec<ChannelId>, ChannelId>,
    copies: BTreeMap<ChannelId, ChannelId>,
}

impl Channels {
    /// Returns the channel called `name` that `HIDE` declares at `place`: number of the part, path, behaviour.
    fn hidden(&mut self, place: (usize, String, BehaviourId), name: &Name, sorts: Vec<Sort>) -> ChannelId {
        let key = (place.0, place.1, place.2, name.text.clone());
        if let Some(&known) = self.hidden.get(&key) {
            return known;
        }
        let id = self.all.push(TxsChannel::new_plain(&name.text, sorts));
        self.hidden.insert(key, id);
        id
    }

    /// Returns `channel` or a copy of it, the first for which `is_taken` does not hold.
    fn unused_copy(&mut self, mut channel: ChannelId, is_taken: impl Fn(ChannelId) -> bool) -> ChannelId {
        while is_taken(channel) {
            let Self { all, copies, .. } = self;
            channel = *copies.entry(channel).or_insert_with(|| {
                let TxsChannel { name, sorts, .. } = &all[channel];
                let copy = TxsChannel::new_plain(name, sorts.clone());
                all.push(copy)
            });
        }
        channel
    }

    /// Returns the pseudo-channel over which a behaviour at `place`, a part and a path, hands the values of its exit to
    /// the one behind `>>>`.
    fn exit_channel(&mut self, place: (usize, String), sorts: &[Sort]) -> ChannelId {
        let Self { all, exits, .. } = self;
        let key = (place.0, place.1, sorts.to_vec());
        *exits.entry(key).or_insert_with(|| all.push(TxsChannel::new_plain(EXIT, sorts.to_vec())))
    }

    /// Returns the plain channels of `channel`, in the order of their fields.
    pub(super) fn in_order(&self, channel: ChannelId) -> Vec<ChannelId> {
        match &*self.all[channel].joins {
            [] => vec![channel],
            joins => joins.to_vec(),
        }
    }

    /// Returns the plain channels of a communication, in the order of its fields: those that are seen, then the hidden
    /// ones, each in the order of their names.
    pub(super) fn ordered_channels(&self, communication: &Communication) -> Vec<ChannelId> {
        let sorted = |plain: &BTreeSet<ChannelId>| {
            let mut channels: Vec<ChannelId> = plain.iter().copied().collect();
            channels.sort_by(|&a, &b| (&self.all[a].name, a).cmp(&(&self.all[b].name, b)));
            channels
        };
        [sorted(&communication.seen), sorted(&communication.hidden)].concat()
    }

    /// Returns the name of a communication: those of its channels and of its exit.
    pub(super) fn communication_name(&self, communication: &Communication) -> String {
        let channels = communication.seen.iter().chain(&communication.hidden);
        let mut names: Vec<&str> = channels.map(|&id| &*self.all[id].name).collect();
        names.sort_unstable();
        names.extend(communication.exit.as_ref().map(|_| EXIT));
        names.join(JOINT)
    }

    /// Returns the names and sorts of the values of a communication, channel by channel and then those of its exit:
    /// `v1`, or `A_v1` if it is on several channels.
    pub(super) fn communication_fields(&self, communication: &Communication) -> Vec<(String, Sort)> {
        let channels = self.ordered_channels(communication);
        let is_joint = communication.is_joint();
        let all = channels.iter().map(|&id| (&*self.all[id].name, &self.all[id].sorts));
        let all = all.chain(communication.exit.as_ref().map(|sorts| (EXIT, sorts)));
        let own = |(name, sorts): (&str, &Vec<Sort>)| {
            let prefix = if is_joint { format!("{name}{JOINT}") } else { String::new() };
            let named = sorts.iter().enumerate();
            named.map(|(at, &sort)| (format!("{prefix}{}", field_name(at)), sort)).collect::<Vec<_>>()
        };
        all.flat_map(own).collect()
    }

    /// Returns the channel of communications on all of `plain` at once: one message, with the fields of all.
    pub(super) fn joint_channel(&mut self, plain: &BTreeSet<ChannelId>) -> ChannelId {
        if let Some(&only) = plain.first()
            && plain.len() == 1
        {
            return only;
        }
        let mut joins: Vec<ChannelId> = plain.iter().copied().collect();
        joins.sort_by(|&a, &b| (&self.all[a].name, a).cmp(&(&self.all[b].name, b)));
        if let Some(&known) = self.joint.get(&joins) {
            return known;
        }
        let names: Vec<&str> = joins.iter().map(|&id| &*self.all[id].name).collect();
        let sorts = joins.iter().flat_map(|&id| self.all[id].sorts.clone()).collect();
        let mut name = names.join(JOINT);
        while self.all.iter().any(|other| other.name == name) {
            name.push_str(JOINT);
        }
        let id = self.all.push(TxsChannel { name, sorts, joins: joins.clone() });
        self.joint.insert(joins, id);
        id
    }
}

/// The channels of names in scope; copies share one table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ChannelWiring(Arc<BTreeMap<String, ChannelId>>);

impl ChannelWiring {
    fn get(&self, name: &str) -> Option<ChannelId> {
        self.0.get(name).copied()
    }

    /// Lets `name` stand for `channel`.
    pub(super) fn insert(&mut self, name: &str, channel: ChannelId) {
        Arc::make_mut(&mut self.0).insert(name.to_owned(), channel);
    }

    fn contains(&self, channel: ChannelId) -> bool {
        self.0.values().any(|&other| other == channel)
    }

    /// Returns the channels of `names` only.
    pub(super) fn restricted_to(&self, names: &BTreeSet<String>) -> Self {
        if self.0.keys().all(|name| names.contains(name)) {
            return self.clone();
        }
        let kept = self.0.iter().filter(|(name, _)| names.contains(*name));
        kept.map(|(name, &channel)| (name.clone(), channel)).collect()
    }

    /// Returns whether both are copies of one table.
    pub(super) fn is_copy_of(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl FromIterator<(String, ChannelId)> for ChannelWiring {
    fn from_iter<I: IntoIterator<Item = (String, ChannelId)>>(named: I) -> Self {
        Self(Arc::new(named.into_iter().collect()))
    }
}

impl Ord for ChannelWiring {
    fn cmp(&self, other: &Self) -> Ordering {
        if self.is_copy_of(other) { Ordering::Equal } else { self.0.cmp(&other.0) }
    }
}

impl PartialOrd for ChannelWiring {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The channels on which both sides of a composition synchronise.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Sharing {
    All,
    Only(BTreeSet<ChannelId>),
}

impl Sharing {
    /// Returns the shared ones among some plain channels.
    fn shared_among(&self, plain: &BTreeSet<ChannelId>) -> BTreeSet<ChannelId> {
        match self {
            Self::All => plain.clone(),
            Self::Only(channels) => plain.intersection(channels).copied().collect(),
        }
    }

    /// Returns whether both sides must take a communication together: it is on a shared channel, or an exit.
    pub(super) fn is_shared(&self, communication: &Communication) -> bool {
        communication.exit.is_some() || !self.shared_among(&communication.seen).is_empty()
    }

    /// Returns the communication that both sides take together: they agree on the shared channels and on the exit, and
    /// each adds its own channels. `None` if they do not synchronise.
    pub(super) fn synchronise(&self, left: &Communication, right: &Communication) -> Option<Communication> {
        let shared = self.shared_among(&left.seen);
        let is_met = self.is_shared(left)
            && shared == self.shared_among(&right.seen)
            && left.exit == right.exit
            && left.seen.intersection(&right.seen).count() == shared.len();
        // Each side has hidden channels of its own, so nothing is lost in the union.
        debug_assert!(left.hidden.is_disjoint(&right.hidden));
        let both = |a: &BTreeSet<ChannelId>, b: &BTreeSet<ChannelId>| a.union(b).copied().collect();
        is_met.then(|| Communication {
            seen: both(&left.seen, &right.seen),
            hidden: both(&left.hidden, &right.hidden),
            exit: left.exit.clone(),
        })
    }
}

/// A communication, as the behaviours around it know it. Without channels and exit it is an internal step.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Communication {
    /// The plain channels on which others may synchronise.
    pub(super) seen: BTreeSet<ChannelId>,
    /// The plain channels that only those who take part know.
    pub(super) hidden: BTreeSet<ChannelId>,
    /// The sorts of the values of an exit, if those who take part end with it.
    pub(super) exit: Option<Vec<Sort>>,
}

impl Communication {
    /// Returns the communication on one channel.
    pub(super) fn on_channel(channel: ChannelId) -> Self {
        Self { seen: [channel].into(), ..Self::default() }
    }

    /// Returns whether it is on several channels, or on one with an exit.
    pub(super) fn is_joint(&self) -> bool {
        self.seen.len() + self.hidden.len() + usize::from(self.exit.is_some()) > 1
    }

    /// Returns whether nobody else can take part.
    pub(super) fn is_unseen(&self) -> bool {
        self.seen.is_empty() && self.exit.is_none()
    }

    /// Returns whether it has neither channels nor an exit.
    pub(super) fn is_internal(&self) -> bool {
        self.is_unseen() && self.hidden.is_empty()
    }

    /// Returns whether it is an exit that is on no channel that others see.
    pub(super) fn is_plain_exit(&self) -> bool {
        self.seen.is_empty() && self.exit.is_some()
    }

    /// Returns the communication with `channels` hidden.
    pub(super) fn hide(&self, channels: &BTreeSet<ChannelId>) -> Self {
        let (hidden, seen): (BTreeSet<ChannelId>, BTreeSet<ChannelId>) =
            self.seen.iter().partition(|channel| channels.contains(channel));
        Self { seen, hidden: self.hidden.union(&hidden).copied().collect(), exit: self.exit.clone() }
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
        let TxsMeaning { spec, words, interface, growing, .. } = *meaning;
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
        self.open_compositions(control, path)
    }

    /// Returns the composition of two opened behaviours; one that has ended and that the other does not wait for is left
    /// out, so that processes which come and go leave nothing behind.
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
        self.deeper(|stepper| stepper.steps_once(control, path))
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
        for one in &shared_lefts {
            for other in &shared_rights {
                let other = self.with_own_channels(other.clone(), &one.act);
                let Some(act) = synchronise_acts(sharing, &one.act, &other.act) else { continue };
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

/// The name of the value at position `at`.
pub(super) fn field_name(at: usize) -> String {
    format!("v{}", at + 1)
}

/// Returns the path of one side of the composition at `path`.
pub(super) fn path_of_side(path: &str, side: char) -> String {
    format!("{path}{side}")
}
