//! Channels with a delay: every packet has a slot, and a clock for its time under way.
//!
//! A queue fills and empties its slots in a circle, a bag fills the first free slot and empties any. A packet is
//! delivered when it was under way for at least the least delay and at most for the longest one: as with every output,
//! time does not pass beyond the last instant at which it could be delivered while nothing else can happen. A
//! receiver that does not listen within that time never gets it, and the slot stays taken.

use super::{CarriedMessage, Channel, ChannelDelay, Composer, Discipline, PartId, PartSwitch};
use crate::number::Rational;
use crate::sort::{DataId, Sort};
use crate::source::Span;
use crate::sts::{Clock, GateId, StateVar};
use crate::term::{Term, VarId};
use crate::value::Value;

/// A channel with a delay, under construction.
struct Slots<'a> {
    channel: &'a Channel,
    delay: &'a ChannelDelay,
    packet: DataId,
    /// The type of a slot: no packet or one.
    held: DataId,
    slots: Vec<(VarId, VarId)>,
    /// The variables for the slot to fill next and the slot to empty next; `None` unless a queue has several slots.
    ends: Option<(VarId, VarId)>,
    span: Span,
}

impl Composer {
    pub(super) fn delayed_channel(
        &mut self,
        name: &str,
        channel: &Channel,
        delay: &ChannelDelay,
        messages: &[CarriedMessage],
        span: Span,
    ) -> PartId {
        let packet = self.packets(name, messages);
        let slots = self.declare_slots(name, channel, delay, packet, span);
        let (mut gates, mut switches) = (vec![Vec::new()], Vec::new());
        for (at, message) in messages.iter().enumerate() {
            let fields = self.packet_fields(message);
            switches.extend(slots.accepting(self, message, at, &fields));
            gates.push(fields);
            let fields = self.packet_fields(message);
            switches.extend(slots.delivering(self, message, at, &fields));
            gates.push(fields);
        }
        let ends = slots.ends.iter().flat_map(|&(first, last)| [first, last]);
        let vars = ends.chain(slots.slots.iter().flat_map(|&(slot, age)| [slot, age])).collect();
        self.channel_part(name, gates, switches, vars)
    }

    fn packet_fields(&mut self, message: &CarriedMessage) -> Vec<VarId> {
        message.fields.iter().map(|(name, sort)| self.pool.declare(name, *sort)).collect()
    }

    /// Declares the variables and clocks of a channel with delays: one slot for each message that it can hold.
    fn declare_slots<'a>(
        &mut self,
        name: &str,
        channel: &'a Channel,
        delay: &'a ChannelDelay,
        packet: DataId,
        span: Span,
    ) -> Slots<'a> {
        let held = self.pool.option_of(Sort::Data(packet));
        let nothing = self.pool.construct(held, 0, []);
        let mut slots = Vec::with_capacity(channel.capacity);
        for at in 1..=channel.capacity {
            let slot = self.pool.declare(&format!("{name}.packet{at}"), Sort::Data(held));
            let age = self.pool.declare(&format!("{name}.age{at}"), Sort::Real);
            self.sts.vars.push(StateVar { var: slot, init: Some(nothing), span });
            self.sts.clocks.push(Clock { var: age, span });
            slots.push((slot, age));
        }
        // A queue with one slot has no order to keep.
        let is_circle = channel.discipline == Discipline::Fifo && channel.capacity > 1;
        let ends = is_circle.then(|| {
            let last = i64::try_from(channel.capacity).unwrap_or(i64::MAX) - 1;
            let zero = self.pool.int(0);
            ["next_in", "next_out"].map(|end| {
                let var = self.pool.declare(&format!("{name}.{end}"), Sort::Range { lo: 0, hi: last });
                self.sts.vars.push(StateVar { var, init: Some(zero), span });
                var
            })
        });
        let ends = ends.map(|[next_in, next_out]| (next_in, next_out));
        Slots { channel, delay, packet, held, slots, ends, span }
    }
}

impl Slots<'_> {
    /// Returns the switches that put a message into a free slot and start its clock.
    fn accepting(
        &self,
        composer: &mut Composer,
        message: &CarriedMessage,
        at: usize,
        fields: &[VarId],
    ) -> Vec<PartSwitch> {
        let gate = CarriedMessage::accept_gate(at);
        let mut switches = Vec::new();
        for slot in 0..self.slots.len() {
            let pool = &mut composer.pool;
            let args: Vec<Term> = fields.iter().map(|&field| pool.var(field)).collect();
            let packet = pool.construct(self.packet, ctor_number(at), args);
            let packet = pool.construct(self.held, 1, [packet]);
            let (guard, turn) = self.free(composer, slot);
            let update = [(self.slots[slot].0, packet)].into_iter().chain(turn).collect();
            let resets = vec![self.slots[slot].1];
            let which = self.slot_number(slot);
            switches.push(PartSwitch {
                resets,
                ..self.make_switch(format!("accept{which}-{}", message.name), gate, guard, update)
            });
        }
        if self.channel.may_lose {
            let always = composer.pool.tt();
            switches.push(self.make_switch(format!("lose-{}", message.name), gate, always, Vec::new()));
        }
        switches
    }

    /// Returns the guard that `slot` is the next to be filled, and the update that moves the end of a queue.
    fn free(&self, composer: &mut Composer, slot: usize) -> (Term, Option<(VarId, Term)>) {
        let is_free = self.is_held(composer, slot, false);
        match self.ends {
            Some((next_in, _)) => {
                // A queue: the slot behind the last packet, if it is free; in a full circle it holds the oldest
                // one.
                let (is_next, turn) = self.turn(composer, next_in, slot);
                (composer.pool.and([is_next, is_free]), Some(turn))
            }
            None => {
                // A bag: always the first free slot, so that equal contents are not distinguished by where they lie.
                let mut facts: Vec<Term> =
                    (0..slot).map(|before| self.is_held(composer, before, true)).collect();
                facts.push(is_free);
                (composer.pool.and(facts), None)
            }
        }
    }

    fn is_held(&self, composer: &mut Composer, slot: usize, yes: bool) -> Term {
        let held = composer.pool.var(self.slots[slot].0);
        composer.pool.is(u32::from(yes), held)
    }

    /// Returns the fact that `end` is at `slot`, and the update that moves `end` to the next slot.
    fn turn(&self, composer: &mut Composer, end: VarId, slot: usize) -> (Term, (VarId, Term)) {
        let number = |n: usize| i64::try_from(n).unwrap_or(i64::MAX);
        let here = composer.pool.int(number(slot));
        let next = composer.pool.int(number((slot + 1) % self.slots.len()));
        let var = composer.pool.var(end);
        (composer.pool.eq(var, here), (end, next))
    }

    /// Returns the switches that hand out the message of a slot within its delay.
    fn delivering(
        &self,
        composer: &mut Composer,
        message: &CarriedMessage,
        at: usize,
        fields: &[VarId],
    ) -> Vec<PartSwitch> {
        let gate = CarriedMessage::deliver_gate(at);
        let mut switches = Vec::new();
        for slot in 0..self.slots.len() {
            let mut facts = self.packet_facts(composer, slot, at, fields);
            // As long as it is deliverable; the upper bound makes it urgent, as every deadline of an output.
            facts.extend(self.in_time(composer, self.slots[slot].1));
            let nothing = composer.pool.construct(self.held, 0, []);
            let mut update = vec![(self.slots[slot].0, nothing)];
            if let Some((_, next_out)) = self.ends {
                let (is_next, turn) = self.turn(composer, next_out, slot);
                facts.insert(0, is_next);
                update.push(turn);
            }
            let (guard, which) = (composer.pool.and(facts), self.slot_number(slot));
            switches.push(self.make_switch(format!("deliver{which}-{}", message.name), gate, guard, update));
            // A copy is delivered like the packet, which stays in its slot and may be delivered again.
            if self.channel.may_duplicate {
                switches.push(self.make_switch(
                    format!("copy{which}-{}", message.name),
                    gate,
                    guard,
                    Vec::new(),
                ));
            }
        }
        switches
    }

    /// Returns the facts that `slot` holds the message at position `at` with these fields.
    fn packet_facts(&self, composer: &mut Composer, slot: usize, at: usize, fields: &[VarId]) -> Vec<Term> {
        let is_held = self.is_held(composer, slot, true);
        let pool = &mut composer.pool;
        let held = pool.var(self.slots[slot].0);
        let packet = pool.select(1, 0, held);
        let mut facts = vec![is_held, pool.is(ctor_number(at), packet)];
        for (number, &field) in (0..).zip(fields) {
            let value = pool.select(ctor_number(at), number, packet);
            let field = pool.var(field);
            facts.push(pool.eq(field, value));
        }
        facts
    }

    /// Returns the facts that a packet of age `age` is within the bounds of the delay.
    fn in_time(&self, composer: &mut Composer, age: VarId) -> Vec<Term> {
        let pool = &mut composer.pool;
        let age = pool.var(age);
        let mut facts = Vec::new();
        // `0 <= age` always holds, and would only make guards longer.
        if self.delay.least > Rational::ZERO {
            let least = pool.value(Value::Real(self.delay.least.clone()));
            facts.push(pool.le(least, age));
        }
        if let Some(most) = &self.delay.most {
            let most = pool.value(Value::Real(most.clone()));
            facts.push(pool.le(age, most));
        }
        facts
    }

    /// Returns the number of a slot for labels, from 1; empty if there is only one slot.
    fn slot_number(&self, slot: usize) -> String {
        if self.slots.len() > 1 { format!("{}", slot + 1) } else { String::new() }
    }

    /// Returns a switch of the channel without resets.
    fn make_switch(
        &self,
        label: String,
        gate: GateId,
        guard: Term,
        update: Vec<(VarId, Term)>,
    ) -> PartSwitch {
        PartSwitch {
            label: label.into(),
            gate,
            guard,
            update,
            resets: Vec::new(),
            span: self.span,
            doc: String::new(),
            reqs: Vec::new(),
            weight: 1,
        }
    }
}

/// Returns a position as the number of a constructor.
fn ctor_number(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}
