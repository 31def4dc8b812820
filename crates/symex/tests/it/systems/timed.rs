//! Random systems with clocks and delays against the product of their parts in virtual time, built by an explicit
//! checker.
//!
//! The checker knows the parts one by one and the rules of connections and channels. Bounds are whole seconds and not
//! strict, and messages are seen at whole seconds, so internal steps on a grid stand for all of them. Both sides say of
//! every label whether it is allowed then.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::ops::Range;

use ioxide_model::concrete::{self, ConcreteState};
use ioxide_model::label::Label;
use ioxide_model::number::Rational;
use ioxide_model::sts::{GateKind, Model};
use ioxide_model::value::Value;
use ioxide_smt::stack::{SolverConfig, build_stack};
use ioxide_symex::{AllowedLabel, Ctx, Monitor};
use ioxide_test_support::test_seeds;

use crate::systems::generator::{Dice, INPUTS, OUTPUTS, loaded};

/// Steps of the grid in a second.
pub const GRID: i64 = 2;
/// No bound is later than this many steps of the grid.
const HORIZON: i64 = 4 * GRID;
/// A walk ends where there are more sequences of internal steps than these: the monitor, which has a name for the
/// instant of every step, would take minutes, and give up.
const MANY: usize = 20;

pub fn seconds(steps: i64) -> Rational {
    Rational::from(steps).div(&Rational::from(GRID))
}

fn timed_part(dice: &mut Dice, name: &str) -> String {
    let states = 1 + dice.roll(3);
    let mut text = format!(
        "model {name} {{\n input a(v: 0..1)\n input b(v: 0..1)\n output x(v: 0..1)\n output y(v: 0..1)\n \
         var n: 0..1 = 0\n clock c\n"
    );
    for state in 0..states {
        writeln!(text, " state s{state} {{").expect("text");
        for _ in 0..1 + dice.roll(3) {
            let target = dice.roll(states);
            let (low, high) = (dice.roll(3), 1 + dice.roll(3));
            let when = [
                String::new(),
                format!(" when c <= {high}s"),
                format!(" when c >= {low}s"),
                format!(" when c >= {low}s && c <= {}s", low.max(high)),
                " when n == 1".into(),
            ];
            let when = &when[dice.roll(5)];
            let update = ["", " { reset c }", " { reset c, n = 1 - n }", " { n = 1 - n }"][dice.roll(4)];
            match dice.roll(8) {
                0..=2 => {
                    let update = update.replace("1 - n", "v");
                    writeln!(text, "  on {}{when}{update} -> s{target}", INPUTS[dice.roll(2)])
                }
                3..=6 => {
                    let pin = ["(v: n)", "(v: 1)"][dice.roll(2)];
                    writeln!(text, "  emit {}{pin}{when}{update} -> s{target}", OUTPUTS[dice.roll(2)])
                }
                _ => {
                    // Internal steps move the clock on, so that there are few of them.
                    let low = low.max(1);
                    writeln!(
                        text,
                        "  internal when c >= {low}s && c <= {}s {{ reset c }} -> s{target}",
                        low.max(high)
                    )
                }
            }
            .expect("text");
        }
        text.push_str(" }\n");
    }
    text + "}\n"
}

#[derive(Clone, Copy, Debug)]
pub struct Delayed {
    bag: bool,
    capacity: usize,
    may_lose: bool,
    least: i64,
    most: i64,
}

#[derive(Debug)]
pub struct Plan {
    pub parts: Vec<String>,
    /// The connections of the parts, through a channel or at once, hidden or seen.
    links: Vec<TimedLink>,
}

#[derive(Clone, Copy, Debug)]
pub struct TimedLink {
    from: (usize, &'static str),
    to: (usize, &'static str),
    channel: Option<Delayed>,
    sent_hidden: bool,
    taken_hidden: bool,
}

pub fn random_plan(dice: &mut Dice) -> Plan {
    let parts = (0..2).map(|at| timed_part(dice, &format!("M{at}"))).collect();
    let mut links = Vec::new();
    for from in 0..2 {
        if dice.one_in(3) {
            continue;
        }
        let least = dice.roll(2) as i64;
        let channel = Delayed {
            bag: dice.one_in(2),
            capacity: 1 + dice.roll(2),
            may_lose: dice.one_in(4),
            least,
            most: least + dice.roll(3) as i64,
        };
        // The channel of one way is that of the other, so there is one way.
        let channel = (links.is_empty() && dice.one_in(2)).then_some(channel);
        links.push(TimedLink {
            from: (from, OUTPUTS[dice.roll(2)]),
            to: (1 - from, INPUTS[dice.roll(2)]),
            channel,
            sent_hidden: dice.one_in(2),
            taken_hidden: dice.one_in(2),
        });
        if channel.is_some() {
            break;
        }
    }
    Plan { parts, links }
}

impl Plan {
    pub fn text(&self) -> String {
        let mut text = self.parts.concat() + "system S {\n p0: M0\n p1: M1\n";
        for TimedLink { from, to, channel, sent_hidden, taken_hidden } in &self.links {
            writeln!(text, " p{}.{} -> p{}.{}", from.0, from.1, to.0, to.1).expect("text");
            if let Some(Delayed { bag, capacity, may_lose, least, most }) = channel {
                let kind = if *bag { "bag" } else { "fifo" };
                writeln!(
                    text,
                    " q: {kind}(capacity: {capacity}, may_lose: {may_lose}, min_delay: {least}s, max_delay: \
                     {most}s) between p0 and p1"
                )
                .expect("text");
            }
            if *sent_hidden {
                writeln!(text, " hide p{}.{}", from.0, from.1).expect("text");
            }
            if *taken_hidden && channel.is_some() {
                writeln!(text, " hide p{}.{}", to.0, to.1).expect("text");
            }
        }
        text + "}\n"
    }
}

/// A state of the product: of each part, and what is under way with how long it is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Vector {
    parts: Vec<ConcreteState>,
    under_way: Vec<(i64, i64)>,
}

pub type Seen = Option<(String, i64)>;

pub struct Product {
    pub plan: Plan,
    pub parts: Vec<Model>,
}

impl Product {
    pub fn initial(&self) -> Vector {
        let state = |m: &Model| concrete::initial_state(&m.pool, &m.sts).expect("known");
        Vector { parts: self.parts.iter().map(state).collect(), under_way: Vec::new() }
    }

    pub fn later(&self, state: &Vector, steps: i64) -> Vector {
        let delayed = |(model, part): (&Model, &ConcreteState)| {
            concrete::advance_clocks(&model.sts, part, &seconds(steps))
        };
        Vector {
            parts: self.parts.iter().zip(&state.parts).map(delayed).collect(),
            under_way: state.under_way.iter().map(|&(v, age)| (v, age + steps)).collect(),
        }
    }

    fn moved(&self, state: &Vector, (part, message): (usize, &str), v: i64) -> Vec<ConcreteState> {
        let Model { pool, sts } = &self.parts[part];
        let gate = sts.gate_named(message).expect("declared");
        let label = Label::message(sts, gate, vec![Value::int(v)]).expect("a message");
        let found = concrete::successors(pool, sts, &state.parts[part], &label).expect("evaluates");
        found.into_iter().map(|successor| successor.state).collect()
    }

    fn with(&self, state: &Vector, part: usize, moved: ConcreteState) -> Vector {
        let mut next = state.clone();
        next.parts[part] = moved;
        next
    }

    /// Returns the steps possible now; the flag is true for steps of the system itself.
    pub fn steps(&self, state: &Vector) -> Vec<(Seen, Vector, bool)> {
        let mut found = Vec::new();
        let mut is_taken = BTreeSet::new();
        for link in &self.plan.links {
            is_taken.extend([link.from, link.to]);
            for v in 0..2 {
                self.linked(state, link, v, &mut found);
            }
        }
        for (part, model) in self.parts.iter().enumerate() {
            let inner = concrete::internal_successors(&model.pool, &model.sts, &state.parts[part]);
            for next in inner.expect("evaluates") {
                found.push((None, self.with(state, part, next.state), true));
            }
            let messages = INPUTS.map(|m| (m, false)).into_iter().chain(OUTPUTS.map(|m| (m, true)));
            for (message, is_output) in messages.filter(|(m, _)| !is_taken.contains(&(part, *m))) {
                for v in 0..2 {
                    for next in self.moved(state, (part, message), v) {
                        let seen = Some((format!("p{part}.{message}"), v));
                        found.push((seen, self.with(state, part, next), is_output));
                    }
                }
            }
        }
        found
    }

    fn linked(&self, state: &Vector, link: &TimedLink, v: i64, found: &mut Vec<(Seen, Vector, bool)>) {
        let name = |(part, message): (usize, &str), hidden: bool| {
            (!hidden).then(|| (format!("p{part}.{message}"), v))
        };
        let sent_as = name(link.from, link.sent_hidden);
        for sent in self.moved(state, link.from, v) {
            let next = self.with(state, link.from.0, sent);
            match link.channel {
                None => {
                    for taken in self.moved(state, link.to, v) {
                        found.push((sent_as.clone(), self.with(&next, link.to.0, taken), true));
                    }
                }
                Some(channel) => {
                    if channel.may_lose {
                        found.push((sent_as.clone(), next.clone(), true));
                    }
                    if state.under_way.len() < channel.capacity {
                        let mut next = next;
                        next.under_way.push((v, 0));
                        found.push((sent_as.clone(), next, true));
                    }
                }
            }
        }
        let Some(channel) = link.channel else { return };
        for (at, &(held, age)) in state.under_way.iter().enumerate() {
            let is_in_time = (channel.least * GRID..=channel.most * GRID).contains(&age);
            if held != v || !is_in_time || at > 0 && !channel.bag {
                continue;
            }
            for taken in self.moved(state, link.to, v) {
                let mut next = self.with(state, link.to.0, taken);
                next.under_way.remove(at);
                found.push((name(link.to, link.taken_hidden), next, true));
            }
        }
    }

    /// Returns whether the system can take a step of its own, `steps` from now or later.
    pub fn can_still(&self, state: &Vector, steps: i64) -> bool {
        let can = |later: i64| self.steps(&self.later(state, later)).iter().any(|(.., own)| *own);
        (steps..=steps + HORIZON).any(can)
    }

    /// Returns whether there are many sequences of internal steps from `entry` within `steps`.
    fn has_many(&self, entry: &BTreeSet<Vector>, steps: i64) -> bool {
        let mut todo: Vec<BTreeSet<(Vector, i64)>> =
            entry.iter().map(|state| [(state.clone(), 0)].into()).collect();
        let mut n = todo.len();
        while let Some(before) = todo.pop() {
            let mut by_shape: BTreeMap<String, BTreeSet<(Vector, i64)>> = BTreeMap::new();
            for (state, since) in &before {
                for wait in 0..=steps - since {
                    for (what, next, _) in self.steps(&self.later(state, wait)) {
                        if what.is_none() {
                            by_shape.entry(self.shape(&next)).or_default().insert((next, since + wait));
                        }
                    }
                }
            }
            n += by_shape.len();
            if n > MANY {
                return true;
            }
            todo.extend(by_shape.into_values());
        }
        false
    }

    /// A state without its clocks.
    fn shape(&self, state: &Vector) -> String {
        let part = |(model, part): (&Model, &ConcreteState)| {
            let values: Vec<_> = model.sts.vars.iter().map(|var| part.values.get(var.var)).collect();
            format!("{:?}{values:?}", part.loc)
        };
        let parts: String = self.parts.iter().zip(&state.parts).map(part).collect();
        let held: Vec<i64> = state.under_way.iter().map(|(v, _)| *v).collect();
        format!("{parts}{held:?}")
    }

    /// The states `steps` after the last message; where nothing was seen until then, whoever missed a deadline is gone.
    fn elapsed(&self, entry: &BTreeSet<Vector>, steps: i64, silent: bool) -> BTreeSet<Vector> {
        let mut todo: Vec<(Vector, i64)> = entry.iter().map(|state| (state.clone(), 0)).collect();
        let mut seen: BTreeSet<(Vector, i64)> = todo.iter().cloned().collect();
        let mut arrived = BTreeSet::new();
        while let Some((state, since)) = todo.pop() {
            let left = steps - since;
            if !silent || left == 0 || !self.can_still(&state, 0) || self.can_still(&state, left) {
                arrived.insert(self.later(&state, left));
            }
            for wait in 0..=left {
                for (what, next, _) in self.steps(&self.later(&state, wait)) {
                    if what.is_none() && seen.insert((next.clone(), since + wait)) {
                        todo.push((next, since + wait));
                    }
                }
            }
        }
        arrived
    }

    fn after(&self, states: &BTreeSet<Vector>, seen: &(String, i64)) -> BTreeSet<Vector> {
        let steps = states.iter().flat_map(|state| self.steps(state));
        steps.filter(|(what, ..)| what.as_ref() == Some(seen)).map(|(_, next, _)| next).collect()
    }
}

/// The lengths of walks.
#[derive(Default)]
struct Walked {
    labels: usize,
    /// The number of walks that ended because there were too many states.
    cut: usize,
    /// The number of walks that ended because the monitor could not judge.
    unknown: usize,
}

/// Walks along one trace; counts how many labels were judged.
fn walk(product: &Product, model: &Model, dice: &mut Dice, text: &str, walked: &mut Walked) {
    let mut composed = model.clone();
    let mut solver = build_stack(&SolverConfig::default());
    let mut cx = Ctx::new(&mut composed, &mut solver);
    let mut monitor = Monitor::new(&mut cx);
    let (mut entry, mut waited): (BTreeSet<Vector>, i64) = ([product.initial()].into(), 0);
    let mut told = Vec::new();
    for _ in 0..8 {
        if dice.one_in(2) {
            waited += GRID;
            told.push("1s".to_owned());
            if product.has_many(&entry, waited) {
                walked.cut += 1;
                return;
            }
            let is_allowed = !product.elapsed(&entry, waited, true).is_empty();
            match monitor.observe(&mut cx, &Label::Delay(seconds(GRID))) {
                Ok(AllowedLabel::Allowed) => assert!(is_allowed, "allowed: {told:?} in\n{text}"),
                Ok(_) => {
                    walked.unknown += 1;
                    return;
                }
                Err(_) => {
                    assert!(!is_allowed, "forbidden: {told:?} in\n{text}");
                    walked.labels += 1;
                    return;
                }
            }
            walked.labels += 1;
            continue;
        }
        if product.has_many(&entry, waited) {
            walked.cut += 1;
            return;
        }
        // The messages of states that missed a deadline are tried as well: they must not be allowed.
        let states = product.elapsed(&entry, waited, false);
        let possible: Vec<(String, i64)> =
            states.iter().flat_map(|state| product.steps(state)).filter_map(|(seen, ..)| seen).collect();
        let names: Vec<&str> = model.sts.gates.iter().skip(1).map(|gate| &*gate.name).collect();
        let (name, v) = match possible.get(dice.roll(possible.len() + 2)) {
            Some(seen) => seen.clone(),
            None if names.is_empty() => return,
            None => (names[dice.roll(names.len())].to_owned(), dice.roll(2) as i64),
        };
        told.push(format!("{name}({v})"));
        let gate = model.sts.gate_named(&name).unwrap_or_else(|| panic!("`{name}` in\n{text}"));
        let is_input = model.sts.gates[gate].kind == GateKind::Input;
        let label = Label::message(&model.sts, gate, vec![Value::int(v)]).expect("visible");
        // Nothing was seen since the last message, so a state that had to act before this one is ruled out.
        let in_time = product.elapsed(&entry, waited, true);
        let next = product.after(&in_time, &(name, v));
        match monitor.observe(&mut cx, &label) {
            Ok(AllowedLabel::Allowed) => assert!(!next.is_empty(), "allowed: {told:?} in\n{text}"),
            Ok(AllowedLabel::Unspecified) if is_input => {
                assert!(next.is_empty(), "not specified: {told:?} in\n{text}");
                walked.labels += 1;
                return;
            }
            Ok(_) => {
                walked.unknown += 1;
                return;
            }
            Err(_) => {
                assert!(next.is_empty(), "forbidden: {told:?} in\n{text}");
                walked.labels += 1;
                return;
            }
        }
        walked.labels += 1;
        (entry, waited) = (next, 0);
    }
}

/// The seeds to run: `IOXIDE_TIMED=500` or a share of a campaign, `IOXIDE_TIMED=500..1000`.
fn wanted() -> Range<u64> {
    test_seeds("IOXIDE_TIMED", 12, 100)
}

#[test]
fn systems_with_clocks_are_what_the_product_of_their_parts_is() {
    let seeds = wanted();
    let n = usize::try_from(seeds.end - seeds.start).expect("a number of systems");
    let (mut walked, mut channels, mut hidden) = (Walked::default(), 0, 0);
    for seed in seeds {
        let mut dice = Dice(seed);
        let plan = random_plan(&mut dice);
        let text = plan.text();
        let model = loaded(&text);
        let parts = plan.parts.iter().map(|part| loaded(part)).collect();
        channels += plan.links.iter().filter(|link| link.channel.is_some()).count();
        hidden += plan.links.iter().filter(|link| link.sent_hidden).count();
        let product = Product { plan, parts };
        for _ in 0..3 {
            walk(&product, &model, &mut dice, &text, &mut walked);
        }
    }
    let Walked { labels, cut, unknown } = walked;
    println!(
        "{n} timed systems, {labels} labels, {channels} channels with delay, {hidden} hidden messages: no \
         disagreement; of {} walks {cut} were cut short, {unknown} were left unknown by the monitor",
        3 * n
    );
    assert!(labels > n && channels > 0 && hidden > 0, "the systems do something");
}
