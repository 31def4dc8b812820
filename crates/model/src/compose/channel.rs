//! Channels between parts: queues that keep messages under way, as parts like any other.
//!
//! A channel holds a list of packets. Each message it carries has two gates: one at which the channel *accepts* the
//! message from the sender, and one at which it *delivers* the message to the receiver. A queue (`fifo`) delivers the
//! oldest packet, a `bag` any. A channel that may lose may drop a message on acceptance, also when it is full; one that
//! may duplicate may keep a packet that it delivers. An undelivered packet keeps a hidden channel busy: the system is
//! not quiescent while a packet can be delivered. A channel with a delay has a slot and a clock for each packet, see
//! [`delay`](self::delay).

mod delay;

use std::fmt;
use std::sync::Arc;

use super::{Composer, ImportedPart, PartId, PartSwitch, PartSystem};
use crate::index::Idx;
use crate::number::Rational;
use crate::sort::{CollectionId, Constructor, DataField, DataId, DataKind, DataSort, Sort};
use crate::source::Span;
use crate::sts::{GateId, StateVar};
use crate::term::{Term, TermOp, VarId};

/// The order in which a channel delivers its packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Discipline {
    /// The order of acceptance.
    Fifo,
    /// Any order.
    Bag,
}

/// The properties of a channel between parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Channel {
    /// The order of delivery.
    pub discipline: Discipline,
    /// The greatest number of messages under way at once.
    pub capacity: usize,
    /// True if messages may get lost.
    pub may_lose: bool,
    /// True if messages may be delivered more than once.
    pub may_duplicate: bool,
    /// The time that messages are under way; `None` if a packet can be delivered at once and never expires.
    pub delay: Option<ChannelDelay>,
}

/// The bounds on the time that a message is under way, in seconds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChannelDelay {
    /// The least time under way.
    pub least: Rational,
    /// The longest time under way; `None` if there is no limit.
    pub most: Option<Rational>,
}

impl Channel {
    /// The greatest capacity that a channel may be given. Chosen by feel: it bounds the memory.
    pub const MAX_CAPACITY: usize = 1000;
}

impl fmt::Display for Channel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self.discipline {
            Discipline::Fifo => "fifo",
            Discipline::Bag => "bag",
        };
        write!(f, "{name}(capacity: {}", self.capacity)?;
        if self.may_lose {
            f.write_str(", may_lose: true")?;
        }
        if self.may_duplicate {
            f.write_str(", may_duplicate: true")?;
        }
        if let Some(delay) = &self.delay {
            write!(f, ", min_delay: {}s", delay.least)?;
            if let Some(most) = &delay.most {
                write!(f, ", max_delay: {most}s")?;
            }
        }
        f.write_str(")")
    }
}

/// A message that a channel carries.
#[derive(Clone, Debug)]
pub struct CarriedMessage {
    /// The name, for labels.
    pub name: String,
    /// Its fields, with sorts of the composed system.
    pub fields: Vec<(String, Sort)>,
}

impl CarriedMessage {
    /// Returns the gate at which a channel accepts the message at position `at` of those it carries.
    #[must_use]
    pub fn accept_gate(at: usize) -> GateId {
        GateId::new(1 + 2 * at)
    }

    /// Returns the gate at which a channel delivers the message at position `at` of those it carries.
    #[must_use]
    pub fn deliver_gate(at: usize) -> GateId {
        GateId::new(2 + 2 * at)
    }
}

impl Composer {
    /// Adds a channel as the part `name`. It carries `messages`, each [accepted](CarriedMessage::accept_gate) and
    /// [delivered](CarriedMessage::deliver_gate) at gates of its own. A channel without messages is a part that does
    /// nothing.
    pub fn channel(
        &mut self,
        name: &str,
        channel: &Channel,
        messages: &[CarriedMessage],
        span: Span,
    ) -> PartId {
        if messages.is_empty() {
            return self.channel_part(name, vec![Vec::new()], Vec::new(), Vec::new());
        }
        if let Some(delay) = &channel.delay {
            return self.delayed_channel(name, channel, delay, messages, span);
        }
        let packet = self.packets(name, messages);
        let list = self.pool.list_of(Sort::Data(packet));
        let queue = self.pool.declare(&format!("{name}.packets"), Sort::Collection(list));
        let none = self.pool.list(list, []);
        self.sts.vars.push(StateVar { var: queue, init: Some(none), span });
        let mut gates = vec![Vec::new()];
        let mut switches = Vec::new();
        for (at, message) in messages.iter().enumerate() {
            let build = ChannelBuild { channel, message, queue, list, packet, at, span };
            let (fields, accepting) = build.accepting(self);
            gates.push(fields);
            switches.extend(accepting);
            let (fields, delivering) = build.delivering(self);
            gates.push(fields);
            switches.extend(delivering);
        }
        self.channel_part(name, gates, switches, vec![queue])
    }

    fn channel_part(
        &mut self,
        name: &str,
        gates: Vec<Vec<VarId>>,
        switches: Vec<PartSwitch>,
        vars: Vec<VarId>,
    ) -> PartId {
        self.composition.parts.push(PartSystem {
            name: name.into(),
            // Channels of replicated parts, `link[1]` and `link[2]`, are one family.
            family: name.split(['[', '(']).next().unwrap_or(name).into(),
            index: None,
            control: None,
            places: Vec::new(),
            is_end: Vec::new(),
            switches: switches.iter().map(|switch| switch.label.clone()).collect(),
            offers: Vec::new(),
            vars,
        });
        self.imported.push(ImportedPart { gates, switches })
    }

    /// Declares the data type of the packets: one constructor for each message, of which there is at least one.
    fn packets(&mut self, name: &str, messages: &[CarriedMessage]) -> DataId {
        let field = |(name, sort): &(String, Sort)| DataField { name: name.as_str().into(), sort: *sort };
        let ctor = |message: &CarriedMessage| Constructor {
            name: message.name.as_str().into(),
            fields: message.fields.iter().map(field).collect(),
        };
        let ctors = messages.iter().map(ctor).collect();
        self.pool.declare_data(DataSort {
            name: format!("{name}.packet").into(),
            kind: DataKind::Enum,
            ctors,
        })
    }
}

/// The context in which the switches of one carried message are built.
struct ChannelBuild<'a> {
    channel: &'a Channel,
    message: &'a CarriedMessage,
    queue: VarId,
    list: CollectionId,
    packet: DataId,
    at: usize,
    span: Span,
}

impl ChannelBuild<'_> {
    /// Returns the constructor of the packets that carry this message.
    fn ctor(&self) -> u32 {
        u32::try_from(self.at).unwrap_or(u32::MAX)
    }

    /// Declares new variables for the fields of the message.
    fn declare_fields(&self, composer: &mut Composer) -> Vec<VarId> {
        self.message.fields.iter().map(|(name, sort)| composer.pool.declare(name, *sort)).collect()
    }

    /// Returns the switches that take a message into the queue or lose it, with the fields they read.
    fn accepting(&self, composer: &mut Composer) -> (Vec<VarId>, Vec<PartSwitch>) {
        let fields = self.declare_fields(composer);
        let pool = &mut composer.pool;
        let args: Vec<Term> = fields.iter().map(|&field| pool.var(field)).collect();
        let packet = pool.construct(self.packet, self.ctor(), args);
        let queue = pool.var(self.queue);
        let more = pool.list(self.list, [packet]);
        let longer = pool.operate(TermOp::Append, vec![queue, more]);
        let size = pool.operate(TermOp::Size, vec![queue]);
        let capacity = pool.int(i64::try_from(self.channel.capacity).unwrap_or(i64::MAX));
        let has_room = pool.lt(size, capacity);
        let gate = CarriedMessage::accept_gate(self.at);
        let mut switches = vec![self.make_switch("accept", gate, has_room, Some(longer))];
        if self.channel.may_lose {
            // Always, also when there is room: a channel may lose what it could keep.
            let always = pool.tt();
            switches.push(self.make_switch("lose", gate, always, None));
        }
        (fields, switches)
    }

    /// Returns the switches that hand a message out of the queue: the first one, or any one of a bag.
    fn delivering(&self, composer: &mut Composer) -> (Vec<VarId>, Vec<PartSwitch>) {
        let fields = self.declare_fields(composer);
        let positions = match self.channel.discipline {
            Discipline::Fifo => 1,
            // One switch for each position: which packet comes is the choice of the channel.
            Discipline::Bag => self.channel.capacity,
        };
        let mut switches = Vec::new();
        for position in 0..positions {
            let (guard, rest) = self.taking(composer, &fields, position);
            let gate = CarriedMessage::deliver_gate(self.at);
            let which = if positions > 1 { format!("{}", position + 1) } else { String::new() };
            switches.push(self.make_switch(&format!("deliver{which}"), gate, guard, Some(rest)));
            if self.channel.may_duplicate {
                // Delivered, and kept for once more.
                switches.push(self.make_switch(&format!("copy{which}"), gate, guard, None));
            }
        }
        (fields, switches)
    }

    /// Returns the guard that the packet at `position` is this message with these fields, and the packets that remain
    /// without it.
    fn taking(&self, composer: &mut Composer, fields: &[VarId], position: usize) -> (Term, Term) {
        let pool = &mut composer.pool;
        let queue = pool.var(self.queue);
        let at = pool.int(i64::try_from(position).unwrap_or(i64::MAX));
        let next = pool.int(i64::try_from(position + 1).unwrap_or(i64::MAX));
        let size = pool.operate(TermOp::Size, vec![queue]);
        let packet = pool.operate(TermOp::At, vec![queue, at]);
        // The packet is there and of this message; reading beyond the end would give a default value.
        let mut facts = vec![pool.lt(at, size), pool.is(self.ctor(), packet)];
        for (index, &field) in (0..).zip(fields) {
            let held = pool.select(self.ctor(), index, packet);
            let field = pool.var(field);
            facts.push(pool.eq(field, held));
        }
        let behind = pool.operate(TermOp::Slice, vec![queue, next, size]);
        let rest = if position == 0 {
            behind
        } else {
            let zero = pool.int(0);
            let before = pool.operate(TermOp::Slice, vec![queue, zero, at]);
            pool.operate(TermOp::Append, vec![before, behind])
        };
        (pool.and(facts), rest)
    }

    /// Returns a switch of the channel that sets the queue.
    fn make_switch(&self, verb: &str, gate: GateId, guard: Term, queue: Option<Term>) -> PartSwitch {
        PartSwitch {
            label: Arc::from(format!("{verb}-{}", self.message.name)),
            gate,
            guard,
            update: queue.map(|term| (self.queue, term)).into_iter().collect(),
            resets: Vec::new(),
            span: self.span,
            doc: String::new(),
            reqs: Vec::new(),
            weight: 1,
        }
    }
}
