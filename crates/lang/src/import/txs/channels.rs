//! Channels, what is said on several of them at once, and who takes part.
//!
//! A channel of a model is one that it declares, or one that a behaviour hides; hidden channels differ by place of
//! control. A communication is on a set of channels: some of them are seen, some hidden, and it may be an exit.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use ioxide_model::index::IndexVec;
use ioxide_model::sort::Sort;

use super::tree::BehaviourId;
use crate::ast::Name;

ioxide_model::index! { /// A channel of a model: one it declares, or one it hides.
pub(super) struct ChannelId; }

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
    pub(super) fn hidden(
        &mut self,
        place: (usize, String, BehaviourId),
        name: &Name,
        sorts: Vec<Sort>,
    ) -> ChannelId {
        let key = (place.0, place.1, place.2, name.text.clone());
        if let Some(&known) = self.hidden.get(&key) {
            return known;
        }
        let id = self.all.push(TxsChannel::new_plain(&name.text, sorts));
        self.hidden.insert(key, id);
        id
    }

    /// Returns `channel` or a copy of it, the first for which `is_taken` does not hold.
    pub(super) fn unused_copy(
        &mut self,
        mut channel: ChannelId,
        is_taken: impl Fn(ChannelId) -> bool,
    ) -> ChannelId {
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
    pub(super) fn exit_channel(&mut self, place: (usize, String), sorts: &[Sort]) -> ChannelId {
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
    pub(super) fn get(&self, name: &str) -> Option<ChannelId> {
        self.0.get(name).copied()
    }

    /// Lets `name` stand for `channel`.
    pub(super) fn insert(&mut self, name: &str, channel: ChannelId) {
        Arc::make_mut(&mut self.0).insert(name.to_owned(), channel);
    }

    pub(super) fn contains(&self, channel: ChannelId) -> bool {
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

/// The name of the value at position `at`.
pub(super) fn field_name(at: usize) -> String {
    format!("v{}", at + 1)
}
