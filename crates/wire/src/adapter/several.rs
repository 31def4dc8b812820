//! A system with several connections at once, each with its own messages.
//!
//! An input goes to the connection that knows it; what comes is merged by arrival. Nobody knows in which order messages
//! of different connections were sent, nor whether an input on one was taken before a message on another was sent:
//! every connection is a lane of its own, inputs are never more than written, and the monitor believes every order
//! ([`Crossing`]). The end of connection `NAME` is the output `closed_NAME` if the model has it, and the others go on;
//! else the system has broken down. A connection may be that of one part of a system made of parts: it speaks as the
//! part does, without the index of an array, and its end is the output `closed` of the part.
//!
//! Time is one for all connections. On the clock of this machine every message has the instant at which it arrived. In
//! virtual time every connection says when something of its own is due next, and all of them go on to the first of
//! these instants (conservative simulation: Chandy and Misra, "Distributed Simulation", 1979); what is said at one
//! instant on several connections has no order.
//!
//! *Promises.* What comes on one connection is given in the order it came. A breakdown is told only when the
//! other connections have nothing more to say for a while: their last words count too.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use ioxide_model::compose::{MessageOwner, PartMessage};
use ioxide_model::index::Idx;
use ioxide_model::label::Label;
use ioxide_model::sts::{GateId, GateKind, Model, Sts};
use ioxide_model::term::TermPool;
use ioxide_model::value::Value;
use ioxide_record::event::{ConnectionRecord, HttpExchange};
use ioxide_symex::{Arrival, ConnectionWiring, Crossing, MessageRoute};

use super::notation::{SeveralNotation, WireNotation};
use super::{
    Adapter, AdapterError, ArrivedOutput, InputReceipt, Interrupt, Observation, PartPlace, SentInput,
    UnsolicitedMessage, VirtualDelay,
};
use crate::codec::UnwritableMessage;

/// Between two looks at the connections. Chosen by feel: it delays a message by this much at most.
const POLL_INTERVAL: Duration = Duration::from_millis(1);
/// The time for which the other connections are still read when one has broken down. Chosen by feel: what was sent
/// before the breakdown is there by then.
const DRAIN_TIME: Duration = Duration::from_millis(200);
/// Times in a row that nothing came although something was due, and no time passed. Chosen by feel: only a broken
/// adapter claims that so often.
const MAX_STANDSTILL: usize = 10_000;
/// Messages taken from one connection at a look. Chosen by feel: so that a chatty connection does not starve the
/// others.
const MAX_LOOK: usize = 64;

/// One connection and what travels by it.
pub struct ConnectionPart {
    /// Its name.
    pub name: String,
    /// The messages that travel by it.
    pub messages: Vec<String>,
    /// The part of the model that it is the connection of, if it is that of one.
    pub place: Option<PartPlace>,
    /// The way to it.
    pub adapter: Box<dyn Adapter>,
}

/// A system with several connections.
pub struct SeveralAdapter {
    lines: Vec<PartConnection>,
    wiring: Arc<ConnectionWiring>,
    told: Vec<ConnectionRecord>,
    interrupt: Interrupt,
    /// The messages that have arrived and were not returned yet, in the order of their arrival.
    heard: VecDeque<ArrivedOutput>,
    /// The breakdown of the system and the instant at which it was seen; `None` while all is well.
    broken: Option<(Instant, AdapterError)>,
    /// The virtual time since the reset.
    now: Duration,
}

/// A connection.
struct PartConnection {
    name: String,
    adapter: Box<dyn Adapter>,
    /// The messages whose first field says that they are this connection's, and what it says.
    indexed: Vec<(GateId, Value)>,
    /// The output that says that it was closed.
    closing: Option<GateId>,
    is_gone: bool,
}

/// Returns the model restricted to some messages: all other gates become internal.
#[must_use]
pub fn restrict_to(model: &Model, messages: &[String]) -> Model {
    let mut share = model.clone();
    for gate in share.sts.gates.iter_mut().filter(|gate| !messages.iter().any(|name| **name == *gate.name)) {
        gate.kind = GateKind::Internal;
    }
    share
}

/// Returns the messages of one part of a system made of parts: their names in the system, and the model with these
/// messages alone, as the part speaks them, without the index of an array.
#[must_use]
pub fn share_of_part(model: &Model, place: &PartPlace) -> (Vec<String>, Model) {
    let mut share = model.clone();
    let mut messages = Vec::new();
    let own = messages_of_part(model, place);
    for (at, gate) in share.sts.gates.iter_mut().enumerate() {
        let Some((_, of)) = own.iter().find(|(gate, _)| gate.index() == at) else {
            // Gates keep their numbers, so that labels of the part are labels of the system; one that is not its own
            // becomes internal and gets no name that a message could have.
            (gate.kind, gate.name) = (GateKind::Internal, "".into());
            continue;
        };
        messages.push(gate.name.to_string());
        gate.name = of.message.clone();
        if of.owner == MessageOwner::FirstField {
            // The part does not know its index; `with_index` and `without_index` add and remove the value.
            gate.fields.remove(0);
        }
    }
    (messages, share)
}

/// The messages of a part.
fn messages_of_part<'m>(model: &'m Model, place: &PartPlace) -> Vec<(GateId, &'m PartMessage)> {
    let Some(composition) = &model.sts.composition else { return Vec::new() };
    let is_own = |(gate, of): &(GateId, &PartMessage)| {
        composition.message_of(&place.name, place.index, &of.message) == Some(*gate)
            && *of.family == *place.name
    };
    composition.messages.iter().map(|(&gate, of)| (gate, of)).filter(is_own).collect()
}

/// The name of the output that says that connection `name` was closed.
#[must_use]
pub fn closing(name: &str) -> String {
    format!("closed_{name}")
}

impl SeveralAdapter {
    /// The system with these connections, which speak `model` together.
    #[must_use]
    pub fn new(parts: Vec<ConnectionPart>, model: &Model, interrupt: Interrupt) -> Self {
        let told: Vec<ConnectionRecord> = parts
            .iter()
            .map(|part| ConnectionRecord {
                name: part.name.clone(),
                messages: part.messages.clone(),
                index: part.place.as_ref().and_then(|place| place.index),
            })
            .collect();
        let wiring = Arc::new(wiring(&model.pool, &model.sts, &told));
        let line = |part: ConnectionPart| PartConnection {
            closing: part.closing(model),
            indexed: part.place.as_ref().map(|place| indexed_messages(model, place)).unwrap_or_default(),
            name: part.name,
            adapter: part.adapter,
            is_gone: false,
        };
        let lines = parts.into_iter().map(line).collect();
        let (heard, now) = (VecDeque::new(), Duration::ZERO);
        Self { lines, wiring, told, interrupt, heard, broken: None, now }
    }

    /// Checks that virtual time, if it is used, is offered with foresight on every connection.
    fn check_time(&self) -> Result<(), AdapterError> {
        let is_virtual = |connection: &PartConnection| connection.adapter.has_virtual_time();
        let has_no_part = |line: &&PartConnection| !line.adapter.has_foresight();
        match self.lines.iter().find(has_no_part) {
            Some(line) if self.lines.iter().any(is_virtual) => Err(AdapterError::Protocol {
                line: format!("hello on `{}`", line.name),
                reason:
                    "virtual time was requested on several connections, and this one cannot announce when a \
                     message is due (`\"foresight\": true`)"
                        .into(),
            }),
            _ => Ok(()),
        }
    }

    /// Returns the first instant at which something is due on some connection, at most `until`; `None` if a connection
    /// failed.
    fn next_instant(&mut self, until: Duration) -> Option<Duration> {
        let mut first = until;
        for at in 0..self.lines.len() {
            if self.lines[at].is_gone {
                continue;
            }
            match self.lines[at].adapter.foresee() {
                // `None`: nothing is due there unless something is sent to it.
                Ok(due) => first = due.map_or(first, |due| due.min(first)),
                Err(error) => {
                    self.end_connection(at, error);
                    return None;
                }
            }
        }
        // Time never goes back, also where a connection names an instant that is past.
        Some(first.max(self.now))
    }

    /// Brings every connection to the instant `to`. Outputs on the way get this instant: nothing of their own was due
    /// before, so another connection caused them.
    fn bring_to(&mut self, to: Duration) {
        for at in 0..self.lines.len() {
            // `goes_to` stops at every message; the bound is for a connection that sends without end at one instant.
            for _ in 0..MAX_STANDSTILL {
                if self.lines[at].is_gone || self.advance_connection(at, to) {
                    break;
                }
            }
        }
        self.now = to;
    }

    /// Lets the time of one connection pass up to `to`, or to its next message; returns whether it is there.
    fn advance_connection(&mut self, at: usize, to: Duration) -> bool {
        match self.lines[at].adapter.advance(to) {
            Ok(VirtualDelay { now, message }) => {
                message.into_iter().for_each(|output| self.queue_output(at, output));
                now >= to
            }
            Err(error) => {
                self.end_connection(at, error);
                true
            }
        }
    }

    /// Returns the next queued message, or the breakdown if none is queued, at the current virtual time; `None` if
    /// there is neither.
    fn next_queued(&mut self) -> Option<Result<VirtualDelay, AdapterError>> {
        if let Some(output) = self.heard.pop_front() {
            return Some(Ok(VirtualDelay { now: self.now, message: Some(output) }));
        }
        self.broken.as_ref().map(|(_, error)| Err(error.clone()))
    }

    /// Looks at every connection once.
    fn poll_connections(&mut self) -> Result<(), AdapterError> {
        for at in 0..self.lines.len() {
            for _ in 0..MAX_LOOK {
                if self.lines[at].is_gone {
                    break;
                }
                match self.lines[at].adapter.poll() {
                    Ok(Some(output)) => self.queue_output(at, output),
                    Ok(None) => break,
                    Err(AdapterError::Interrupted) => return Err(AdapterError::Interrupted),
                    Err(error) => self.end_connection(at, error),
                }
            }
        }
        // The connections were read one after the other; a stable sort by arrival restores the order between them
        // and keeps that within each.
        self.heard.make_contiguous().sort_by_key(|heard| heard.at);
        Ok(())
    }

    /// Keeps a message of a connection as one of the system.
    ///
    /// *Invariant.* What is kept has an instant: the messages of all connections are given by these.
    fn queue_output(&mut self, at: usize, output: ArrivedOutput) {
        let label = self.lines[at].with_index(output.label);
        let connection = connection_number(at);
        let crossing = match output.way {
            Arrival::Direct => direct_crossing(connection),
            Arrival::Answer { lane, others } => {
                // Lanes of one connection are numbered among those of all, so that the monitor can distinguish them.
                let lane = self.wiring.global_lane(connection, lane);
                Crossing { lane, is_answer: true, others, ..direct_crossing(connection) }
            }
            Arrival::Crossing(inner) => {
                Crossing { connection, lane: self.wiring.global_lane(connection, inner.lane), ..inner }
            }
        };
        let (arrived, way) = (output.at.unwrap_or_else(Instant::now), Arrival::Crossing(crossing));
        self.heard.push_back(ArrivedOutput { label, at: Some(arrived), way, ..output });
    }

    /// Ends a connection: its end is an output if the model has one for it, otherwise the system has broken down.
    fn end_connection(&mut self, at: usize, error: AdapterError) {
        let arrived = Instant::now();
        let is_end =
            matches!(error, AdapterError::Closed | AdapterError::Ended { .. } | AdapterError::Broken(_));
        // Only a model that has the output can allow the end; for any other it is a breakdown.
        let closing = self.lines[at].closing.filter(|_| is_end);
        // A connection that an input can open again is not gone for good.
        self.lines[at].is_gone = closing.is_none() || !self.lines[at].adapter.can_reconnect();
        if let Some(gate) = closing {
            let label = self.lines[at].with_index(Label::Output(gate, Vec::new()));
            let way = Arrival::Crossing(Crossing { is_end: true, ..direct_crossing(connection_number(at)) });
            self.heard.push_back(ArrivedOutput { at: Some(arrived), way, ..label.into() });
            return;
        }
        // The first breakdown is the one to report; others often follow from it.
        if self.broken.is_none() {
            self.broken = Some((arrived, self.lines[at].name_connection(error)));
        }
    }

    /// Waits for a message, for as long as the longest of the connections asks for.
    fn wait_for_output(&mut self, patience: Duration) -> Result<Option<ArrivedOutput>, AdapterError> {
        let start = Instant::now();
        let live = self.lines.iter().filter(|line| !line.is_gone);
        // Asked once: what a connection still waits for becomes less meanwhile.
        let mut longest = live.map(|line| line.adapter.awaits(patience)).max().unwrap_or(patience);
        loop {
            self.interrupt.check()?;
            self.poll_connections()?;
            if let Some(output) = self.heard.pop_front() {
                return Ok(Some(output));
            }
            // Messages that other connections sent before the breakdown may explain it, so they are read for a while.
            if let Some((at, error)) = &self.broken
                && (at.elapsed() >= patience.max(DRAIN_TIME) || self.lines.iter().all(|line| line.is_gone))
            {
                return Err(error.clone());
            }
            // A message that had begun may be one that the model does not see; nothing is waited for any more then.
            let mut live = self.lines.iter().filter(|line| !line.is_gone);
            if live.all(|line| line.adapter.awaits(Duration::ZERO).is_zero()) {
                longest = longest.min(patience);
            }
            // After a breakdown there is no silence to observe: the loop ends with a message or the error.
            if self.broken.is_none() && start.elapsed() >= longest {
                return Ok(None);
            }
            std::thread::sleep(POLL_INTERVAL);
        }
    }

    /// Asks every connection that owes nothing whether the system is still there.
    fn are_there(&mut self) -> Result<(), AdapterError> {
        for at in 0..self.lines.len() {
            let line = &mut self.lines[at];
            if line.is_gone || !line.adapter.awaits(Duration::ZERO).is_zero() {
                continue;
            }
            match line.adapter.observe(Duration::ZERO) {
                Ok(Observation::Quiet) => (),
                Ok(Observation::Output(output)) => self.queue_output(at, output),
                Err(AdapterError::Interrupted) => return Err(AdapterError::Interrupted),
                Err(error) => self.end_connection(at, error),
            }
        }
        Ok(())
    }

    /// The connection an input goes to.
    fn line_of(&self, input: &Label) -> Option<usize> {
        self.wiring.connection_of_label(input).and_then(|connection| usize::try_from(connection).ok())
    }
}

/// Returns the assignment of the gates to the connections by which their messages travel.
#[must_use]
pub fn wiring(pool: &TermPool, sts: &Sts, connections: &[ConnectionRecord]) -> ConnectionWiring {
    let of = |gate: GateId| {
        let name = &*sts.gates[gate].name;
        let is_of = |told: &ConnectionRecord| {
            told.messages.iter().any(|message| message == name) || closing(&told.name) == name
        };
        let ways = (0..).zip(connections).filter(|(_, told)| is_of(told));
        let by_index = || ways.clone().filter_map(|(at, told)| Some((told.index?, at))).collect();
        match (is_indexed(sts, gate), ways.clone().next()) {
            (true, Some((_, ConnectionRecord { index: Some(_), .. }))) => {
                MessageRoute::FirstField(by_index())
            }
            (_, Some((at, _))) => MessageRoute::One(at),
            (_, None) => MessageRoute::Any,
        }
    };
    ConnectionWiring::new(pool, sts, connection_number(connections.len()), of)
}

/// Returns whether the first field of a message is the index of the array instance that it belongs to.
fn is_indexed(sts: &Sts, gate: GateId) -> bool {
    let of = sts.composition.as_ref().and_then(|composition| composition.messages.get(&gate));
    of.is_some_and(|of| of.owner == MessageOwner::FirstField)
}

/// Returns the messages of an instance of an array that have its index as their first field, with the value of the
/// index.
fn indexed_messages(model: &Model, place: &PartPlace) -> Vec<(GateId, Value)> {
    let index = place.index.map(Value::int);
    let own = messages_of_part(model, place).into_iter().filter(|(gate, _)| is_indexed(&model.sts, *gate));
    own.filter_map(|(gate, _)| Some((gate, index.clone()?))).collect()
}

impl ConnectionPart {
    /// Returns the output that says that this connection was closed, if the model has one.
    fn closing(&self, model: &Model) -> Option<GateId> {
        let (gate, indices) = match &self.place {
            None => (model.sts.gate_named(&closing(&self.name))?, 0),
            Some(PartPlace { name, index }) => {
                let composition = model.sts.composition.as_ref()?;
                let gate = composition.message_of(name, *index, "closed")?;
                (gate, usize::from(is_indexed(&model.sts, gate)))
            }
        };
        let found = &model.sts.gates[gate];
        (found.kind == GateKind::Output && found.fields.len() == indices).then_some(gate)
    }
}

/// Returns the crossing of a message on a connection without request and answer.
fn direct_crossing(connection: u32) -> Crossing {
    Crossing { connection, lane: connection, is_answer: false, others: 0, is_end: false }
}

fn connection_number(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

impl PartConnection {
    /// Returns a message of this connection as one of the whole system, with its index.
    fn with_index(&self, mut label: Label) -> Label {
        if let Label::Input(gate, args) | Label::Output(gate, args) = &mut label
            && let Some((_, index)) = self.indexed.iter().find(|(indexed, _)| indexed == gate)
        {
            args.insert(0, index.clone());
        }
        label
    }

    /// Returns a message of the whole system as one of this connection, without its index.
    fn without_index(&self, label: &Label) -> Label {
        let mut label = label.clone();
        if let Label::Input(gate, args) | Label::Output(gate, args) = &mut label
            && self.indexed.iter().any(|(indexed, _)| indexed == gate)
        {
            args.remove(0);
        }
        label
    }

    /// `error` with the name of the connection.
    fn name_connection(&self, error: AdapterError) -> AdapterError {
        let name = &self.name;
        match error {
            AdapterError::Closed => AdapterError::Broken(format!("it closed the connection `{name}`")),
            AdapterError::Ended { status } => AdapterError::Ended { status: format!("`{name}`: {status}") },
            AdapterError::Unreadable { line, reason } => {
                AdapterError::Unreadable { line, reason: format!("on `{name}`: {reason}") }
            }
            AdapterError::ResetRefused(refused) => {
                AdapterError::ResetRefused(Box::new(refused.on_connection(name)))
            }
            other => other,
        }
    }
}

impl Adapter for SeveralAdapter {
    fn notation(&self) -> Option<Box<dyn WireNotation + '_>> {
        let part = |line: &'_ PartConnection| line.adapter.notation().is_some();
        if self.lines.is_empty() || !self.lines.iter().all(part) {
            return None;
        }
        let parts = self.lines.iter().filter_map(|line| Some((line.name.as_str(), line.adapter.notation()?)));
        let connection = |gate: GateId| self.line_of(&Label::Output(gate, Vec::new()));
        Some(Box::new(SeveralNotation { parts: parts.collect(), connection: Box::new(connection) }))
    }

    fn reset(&mut self) -> Result<(), AdapterError> {
        self.heard.clear();
        self.broken = None;
        self.now = Duration::ZERO;
        for line in &mut self.lines {
            line.is_gone = false;
            let reset = line.adapter.reset();
            reset.map_err(|error| line.name_connection(error))?;
        }
        self.check_time()
    }

    fn send(&mut self, input: &Label) -> Result<SentInput, AdapterError> {
        let Some(at) = self.line_of(input) else {
            return Err(UnwritableMessage::NoConnection.into());
        };
        let closed = |connection: &PartConnection| {
            AdapterError::from(UnwritableMessage::ClosedConnection(connection.name.clone()))
        };
        if self.lines[at].is_gone {
            return Err(closed(&self.lines[at]));
        }
        let own = self.lines[at].without_index(input);
        let sent = match self.lines[at].adapter.send(&own) {
            Ok(sent) => sent,
            Err(AdapterError::Closed | AdapterError::Ended { .. }) if self.lines[at].closing.is_some() => {
                // What it said before it closed is still to be read; that it did is seen there.
                return Err(closed(&self.lines[at]));
            }
            Err(error) => return Err(self.lines[at].name_connection(error)),
        };
        sent.earlier.into_iter().for_each(|output| self.queue_output(at, output));
        let lane = self.wiring.global_lane(connection_number(at), sent.lane);
        Ok(SentInput { raw: sent.raw, lane, ..SentInput::default() })
    }

    fn poll(&mut self) -> Result<Option<ArrivedOutput>, AdapterError> {
        self.poll_connections()?;
        match self.heard.pop_front() {
            Some(output) => Ok(Some(output)),
            None if self.broken.is_some() => self.wait_for_output(Duration::ZERO),
            None => Ok(None),
        }
    }

    fn observe(&mut self, patience: Duration) -> Result<Observation, AdapterError> {
        if let Some(output) = self.wait_for_output(patience)? {
            return Ok(Observation::Output(output));
        }
        // Silence counts only if every connection is alive: a closed one is found by asking.
        self.are_there()?;
        let seen = if self.broken.is_some() {
            self.wait_for_output(Duration::ZERO)?
        } else {
            self.heard.pop_front()
        };
        Ok(seen.into())
    }

    fn take_unsolicited(&mut self) -> Vec<UnsolicitedMessage> {
        let of_line = |line: &mut PartConnection| {
            let name = line.name.clone();
            let named = move |message| UnsolicitedMessage { connection: Some(name.clone()), ..message };
            line.adapter.take_unsolicited().into_iter().map(named)
        };
        self.lines.iter_mut().flat_map(of_line).collect()
    }

    fn receipt(&self) -> InputReceipt {
        InputReceipt::Written
    }

    fn needs_silence(&self, input: &Label) -> bool {
        self.line_of(input).is_some_and(|at| {
            let line = &self.lines[at];
            !line.is_gone && line.adapter.needs_silence(&line.without_index(input))
        })
    }

    fn is_connected(&self) -> bool {
        self.lines.iter().any(|line| !line.is_gone && line.adapter.is_connected())
    }

    /// Returns the longest limit of the connections that have sent nothing yet: it is not known which one would reply.
    fn first_reply_limit(&self) -> Option<Duration> {
        let live = self.lines.iter().filter(|line| !line.is_gone);
        live.filter_map(|line| line.adapter.first_reply_limit()).max()
    }

    fn needs_restart(&self) -> bool {
        self.lines.iter().any(|line| line.adapter.needs_restart())
    }

    fn note_breakdown(&mut self) {
        self.lines.iter_mut().for_each(|line| line.adapter.note_breakdown());
    }

    fn wiring(&self) -> Option<Arc<ConnectionWiring>> {
        Some(Arc::clone(&self.wiring))
    }

    fn connections(&self) -> Vec<ConnectionRecord> {
        self.told.clone()
    }

    fn has_virtual_time(&self) -> bool {
        !self.lines.is_empty() && self.lines.iter().all(|line| line.adapter.has_foresight())
    }

    fn advance(&mut self, until: Duration) -> Result<VirtualDelay, AdapterError> {
        let mut standing = 0;
        while standing < MAX_STANDSTILL {
            self.interrupt.check()?;
            if let Some(passed) = self.next_queued() {
                return passed;
            }
            let before = self.now;
            if let Some(to) = self.next_instant(until) {
                self.bring_to(to);
            }
            if self.now == until && self.heard.is_empty() && self.broken.is_none() {
                return Ok(VirtualDelay { now: until, message: None });
            }
            standing = if self.now == before { standing + 1 } else { 0 };
        }
        Err(AdapterError::Protocol {
            line: "advanced".into(),
            reason: "a message is always due, but none arrives and the virtual time does not advance".into(),
        })
    }

    fn exit_status(&mut self) -> Option<i32> {
        self.lines.iter_mut().find_map(|line| line.adapter.exit_status())
    }

    fn ended_by_itself(&mut self) -> Option<String> {
        let ended = self.lines.iter_mut().filter_map(|line| line.adapter.ended_by_itself());
        let ended: Vec<String> = ended.collect();
        (!ended.is_empty()).then(|| ended.join("; "))
    }

    /// Those of the first connection by HTTP: how the requests of several followed each other is not known.
    fn exchanges(&self) -> Vec<HttpExchange> {
        let mut exchanges = self.lines.iter().map(|line| line.adapter.exchanges());
        exchanges.find(|exchanges| !exchanges.is_empty()).unwrap_or_default()
    }

    fn last_words(&self) -> String {
        let words = |connection: &PartConnection| match connection.adapter.last_words() {
            words if words.trim().is_empty() => String::new(),
            words => format!("{}:\n{words}", connection.name),
        };
        self.lines.iter().map(words).collect()
    }
}

#[cfg(test)]
mod tests;
