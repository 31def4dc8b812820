//! Random systems behind real queues against the model seen through the channel.
//!
//! The queues are those of this file: lists of messages that are delivered, lost, copied and reordered as the channel
//! says, at moments a die chooses. A system that is its own model is never blamed; one with another
//! line now and then is.

use ioxide_lang::{channel, through};
use ioxide_model::concrete::{self, ConcreteState};
use ioxide_model::label::Label;
use ioxide_model::sts::Model;
use ioxide_model::value::Value;
use ioxide_smt::stack::{SolverConfig, build_stack};
use ioxide_symex::{Ctx, Monitor};
use ioxide_test_support::test_count;

use crate::systems::generator::{Dice, INPUTS, OUTPUTS, loaded, random_part};

/// A message under way: its name and value.
type Packet = (&'static str, i64);

/// The properties of a channel.
#[derive(Clone, Copy)]
struct Rules {
    bag: bool,
    capacity: usize,
    may_lose: bool,
    may_duplicate: bool,
}

impl Rules {
    fn random(dice: &mut Dice) -> Self {
        Self {
            bag: dice.one_in(2),
            capacity: 1 + dice.roll(2),
            may_lose: dice.one_in(3),
            may_duplicate: dice.one_in(4),
        }
    }

    fn text(self) -> String {
        let Self { bag, capacity, may_lose, may_duplicate } = self;
        let kind = if bag { "bag" } else { "fifo" };
        format!("{kind}(capacity: {capacity}, may_lose: {may_lose}, may_duplicate: {may_duplicate})")
    }

    /// Puts a message in, or loses it; `false` if there is no room.
    fn accept(self, queue: &mut Vec<Packet>, packet: Packet, dice: &mut Dice) -> bool {
        if self.may_lose && dice.one_in(3) {
            return true;
        }
        let has_room = queue.len() < self.capacity;
        if has_room {
            queue.push(packet);
        }
        has_room || self.may_lose
    }

    /// Takes a message out, or a copy of it.
    fn deliver(self, queue: &mut Vec<Packet>, dice: &mut Dice) -> Option<Packet> {
        if queue.is_empty() {
            return None;
        }
        let at = if self.bag { dice.roll(queue.len()) } else { 0 };
        if self.may_duplicate && dice.one_in(3) { Some(queue[at]) } else { Some(queue.remove(at)) }
    }
}

/// A system behind two queues.
struct Behind<'m> {
    model: &'m Model,
    state: ConcreteState,
    to: Vec<Packet>,
    from: Vec<Packet>,
}

impl Behind<'_> {
    /// The states after a message, if the system takes it.
    fn after(&self, (name, v): Packet) -> Vec<ConcreteState> {
        let Model { pool, sts } = self.model;
        let gate = sts.gate_named(name).expect("declared");
        let label = Label::message(sts, gate, vec![Value::int(v)]).expect("a message");
        let found = concrete::successors(pool, sts, &self.state, &label).expect("evaluates");
        found.into_iter().map(|successor| successor.state).collect()
    }

    /// Everything the system can do of its own: outputs with the states after them, internal steps.
    fn own(&self) -> Vec<(Option<Packet>, ConcreteState)> {
        let Model { pool, sts } = self.model;
        let silent = concrete::internal_successors(pool, sts, &self.state).expect("evaluates");
        let mut all: Vec<_> = silent.into_iter().map(|successor| (None, successor.state)).collect();
        for name in OUTPUTS {
            for v in 0..3 {
                all.extend(self.after((name, v)).into_iter().map(|next| (Some((name, v)), next)));
            }
        }
        all
    }

    /// The system takes the next message; one that it does not know it ignores.
    fn take(&mut self, rules: Rules, dice: &mut Dice) {
        let Some(packet) = rules.deliver(&mut self.to, dice) else { return };
        let next = self.after(packet);
        if !next.is_empty() {
            self.state = next[dice.roll(next.len())].clone();
        }
    }

    /// The system does something of its own, if there is room for it.
    fn act(&mut self, rules: Rules, dice: &mut Dice) {
        let own = self.own();
        if own.is_empty() {
            return;
        }
        let (said, next) = own[dice.roll(own.len())].clone();
        if said.is_none_or(|packet| rules.accept(&mut self.from, packet, dice)) {
            self.state = next;
        }
    }
}

fn label(model: &Model, (name, v): Packet) -> Label {
    let gate = model.sts.gate_named(name).expect("declared");
    Label::message(&model.sts, gate, vec![Value::int(v)]).expect("a message")
}

/// One run; `false` if the system was blamed.
fn passes(system: &Model, seen: &Model, rules: Rules, dice: &mut Dice) -> bool {
    let mut seen = seen.clone();
    let copy = seen.clone();
    let mut solver = build_stack(&SolverConfig::default());
    let mut cx = Ctx::new(&mut seen, &mut solver);
    let mut monitor = Monitor::new(&mut cx);
    let state = concrete::initial_state(&system.pool, &system.sts).expect("known");
    let mut behind = Behind { model: system, state, to: Vec::new(), from: Vec::new() };
    for _ in 0..30 {
        let observed = match dice.roll(5) {
            0 => {
                let packet = (INPUTS[dice.roll(2)], i64::try_from(dice.roll(3)).expect("small"));
                let label = label(&copy, packet);
                // A tester sends where the channel certainly has room.
                if behind.to.len() >= rules.capacity || !monitor.accepts(&mut cx, &label) {
                    continue;
                }
                rules.accept(&mut behind.to, packet, dice);
                label
            }
            1 => {
                behind.take(rules, dice);
                continue;
            }
            2 | 3 => {
                behind.act(rules, dice);
                continue;
            }
            _ => match rules.deliver(&mut behind.from, dice) {
                Some(packet) => label(&copy, packet),
                None if behind.to.is_empty() && behind.own().is_empty() => Label::Quiescence,
                None => continue,
            },
        };
        if monitor.observe(&mut cx, &observed).is_err() {
            return false;
        }
    }
    true
}

/// The model with another value in one of its outputs, or another target.
fn faulty(text: &str, dice: &mut Dice) -> String {
    let changes =
        [("(v: n)", "(v: (n + 1) % 3)"), ("(v: 1)", "(v: 2)"), ("emit x", "emit y"), ("-> s1", "-> s0")];
    let (old, new) = changes[dice.roll(changes.len())];
    text.replacen(old, new, 1)
}

#[test]
fn through_a_channel_no_conforming_system_is_blamed() {
    let runs = test_count("IOXIDE_RUNS", 200, 5_000) as usize;
    let (mut done, mut faults, mut found) = (0, 0, 0);
    for seed in 0.. {
        if done >= runs {
            break;
        }
        let mut dice = Dice(seed);
        let text = random_part(&mut dice, "M");
        let rules = Rules::random(&mut dice);
        let model = loaded(&text);
        let seen = through(&model, &channel(&rules.text()).expect("a channel")).expect("it can be seen");
        for _ in 0..5 {
            done += 1;
            assert!(passes(&model, &seen, rules, &mut dice), "seed {seed}, {}\n{text}", rules.text());
        }
        let other = faulty(&text, &mut dice);
        if other != text {
            faults += 1;
            let other = loaded(&other);
            found += usize::from((0..5).any(|_| !passes(&other, &seen, rules, &mut dice)));
        }
    }
    println!("{done} runs of conforming systems: no failure; {found} of {faults} changed systems found");
    assert!(found > 0, "the monitor can fail");
}
