//! Random systems against the product of their parts, built by an explicit checker.
//!
//! The checker knows the parts one by one and the rules of the connections; it never sees the composed model.
//! Both walk along the same traces: same belief, same silence, same verdict.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::ops::ControlFlow;

use ioxide_model::concrete::{self, ConcreteState};
use ioxide_model::label::Label;
use ioxide_model::sts::{GateKind, Model};
use ioxide_model::value::Value;
use ioxide_smt::stack::{SolverConfig, build_stack};
use ioxide_symex::{Belief, Ctx, ExploreConfig, Monitor, lint};
use ioxide_test_support::test_count;

use crate::systems::generator::{Dice, INPUTS, OUTPUTS, loaded, random_part};

/// A queue between two parts.
#[derive(Clone, Copy, Debug)]
struct Queue {
    bag: bool,
    capacity: usize,
    may_lose: bool,
    may_duplicate: bool,
}

/// An output of a part with its receivers.
#[derive(Clone, Debug)]
struct Link {
    from: (usize, &'static str),
    to: Vec<(usize, &'static str)>,
    /// The number of the queue; then there is one receiver.
    queue: Option<usize>,
}

#[derive(Debug)]
struct Plan {
    parts: Vec<String>,
    links: Vec<Link>,
    queues: Vec<Queue>,
    hidden: Vec<(usize, &'static str)>,
}

fn random_plan(dice: &mut Dice) -> Plan {
    let n = 2 + dice.roll(2);
    let parts = (0..n).map(|at| random_part(dice, &format!("M{at}"))).collect();
    let (mut links, mut queues) = (Vec::new(), Vec::new());
    for from in 0..n {
        for output in OUTPUTS {
            if dice.one_in(3) {
                continue;
            }
            let others: Vec<usize> = (0..n).filter(|&at| at != from).collect();
            let mut to = vec![(others[dice.roll(others.len())], INPUTS[dice.roll(2)])];
            let queue = dice.one_in(3).then(|| {
                let queue = Queue {
                    bag: dice.one_in(2),
                    capacity: 1 + dice.roll(2),
                    may_lose: dice.one_in(3),
                    may_duplicate: dice.one_in(4),
                };
                queues.push(queue);
                queues.len() - 1
            });
            if queue.is_none() && others.len() > 1 && dice.one_in(3) {
                let second = others.iter().copied().find(|at| *at != to[0].0).expect("another part");
                to.push((second, INPUTS[dice.roll(2)]));
            }
            links.push(Link { from: (from, output), to, queue });
        }
    }
    let mut hidden = Vec::new();
    for link in &links {
        if dice.one_in(2) {
            hidden.push(link.from);
        }
        if link.queue.is_some() && dice.one_in(2) {
            hidden.push(link.to[0]);
        }
    }
    Plan { parts, links, queues, hidden }
}

impl Plan {
    /// The system as text. A queue is between copies of its own names: channels are distinguished by their parts, so
    /// every queue of a plan is between a pair that no other link connects.
    fn text(&self) -> Option<String> {
        let mut pairs = BTreeSet::new();
        for link in &self.links {
            for to in &link.to {
                let pair = (link.from.0.min(to.0), link.from.0.max(to.0));
                if !pairs.insert(pair)
                    && self.links.iter().any(|other| {
                        other.queue.is_some()
                            && other.to.iter().any(|t| (other.from.0.min(t.0), other.from.0.max(t.0)) == pair)
                    })
                {
                    return None;
                }
            }
        }
        let mut text: String = self.parts.concat();
        text.push_str("system S {\n");
        for at in 0..self.parts.len() {
            writeln!(text, " p{at}: M{at}").ok()?;
        }
        for link in &self.links {
            for to in &link.to {
                writeln!(text, " p{}.{} -> p{}.{}", link.from.0, link.from.1, to.0, to.1).ok()?;
            }
            if let Some(queue) = link.queue {
                let Queue { bag, capacity, may_lose, may_duplicate } = self.queues[queue];
                let kind = if bag { "bag" } else { "fifo" };
                writeln!(
                    text,
                    " q{queue}: {kind}(capacity: {capacity}, may_lose: {may_lose}, may_duplicate: \
                     {may_duplicate}) between p{} and p{}",
                    link.from.0, link.to[0].0
                )
                .ok()?;
            }
        }
        for (part, message) in &self.hidden {
            writeln!(text, " hide p{part}.{message}").ok()?;
        }
        Some(text + "}\n")
    }

    fn is_hidden(&self, end: (usize, &'static str)) -> bool {
        self.hidden.contains(&end)
    }
}

/// A state of the product: of each part, and what is in the queues.
type Vector = (Vec<ConcreteState>, Vec<Vec<i64>>);

/// An observation: the name of the message and its value, or nothing.
type Seen = Option<(String, i64)>;

struct Product {
    plan: Plan,
    parts: Vec<Model>,
}

impl Product {
    fn initial(&self) -> Vector {
        let states =
            self.parts.iter().map(|m| concrete::initial_state(&m.pool, &m.sts).expect("known")).collect();
        (states, vec![Vec::new(); self.plan.queues.len()])
    }

    /// The states of a part after one of its messages.
    fn moves(&self, state: &Vector, part: usize, message: &str, v: i64) -> Vec<ConcreteState> {
        let Model { pool, sts } = &self.parts[part];
        let gate = sts.gate_named(message).expect("declared");
        let label = Label::message(sts, gate, vec![Value::int(v)]).expect("a message");
        let found = concrete::successors(pool, sts, &state.0[part], &label).expect("evaluates");
        found.into_iter().map(|successor| successor.state).collect()
    }

    /// Every way to let the parts of `who` move at once.
    fn together(&self, state: &Vector, who: &[(usize, &str)], v: i64) -> Vec<Vector> {
        let mut all = vec![state.clone()];
        for &(part, message) in who {
            let moved = self.moves(state, part, message, v);
            all = all
                .iter()
                .flat_map(|vector| {
                    moved.iter().map(move |next| {
                        let mut vector = vector.clone();
                        vector.0[part] = next.clone();
                        vector
                    })
                })
                .collect();
        }
        all
    }

    /// Every step from `state`.
    fn steps(&self, state: &Vector) -> Vec<(Seen, Vector, bool)> {
        let mut found = Vec::new();
        let mut is_taken = BTreeSet::new();
        for link in &self.plan.links {
            is_taken.insert(link.from);
            is_taken.extend(link.to.iter().copied());
            for v in 0..3 {
                match link.queue {
                    None => {
                        let who: Vec<_> = [link.from].into_iter().chain(link.to.iter().copied()).collect();
                        let hidden = who.iter().any(|&end| self.plan.is_hidden(end));
                        let seen = (!hidden).then(|| (format!("p{}.{}", link.from.0, link.from.1), v));
                        found.extend(
                            self.together(state, &who, v).into_iter().map(|next| (seen.clone(), next, true)),
                        );
                    }
                    Some(queue) => self.queued(state, link, queue, v, &mut found),
                }
            }
        }
        for (part, model) in self.parts.iter().enumerate() {
            for next in
                concrete::internal_successors(&model.pool, &model.sts, &state.0[part]).expect("evaluates")
            {
                let mut vector = state.clone();
                vector.0[part] = next.state;
                found.push((None, vector, true));
            }
            for (message, is_output) in
                INPUTS.map(|m| (m, false)).into_iter().chain(OUTPUTS.map(|m| (m, true)))
            {
                if is_taken.contains(&(part, message)) {
                    continue;
                }
                for v in 0..3 {
                    let seen = Some((format!("p{part}.{message}"), v));
                    let all = self.together(state, &[(part, message)], v);
                    found.extend(all.into_iter().map(|next| (seen.clone(), next, is_output)));
                }
            }
        }
        found
    }

    fn queued(
        &self,
        state: &Vector,
        link: &Link,
        queue: usize,
        v: i64,
        found: &mut Vec<(Seen, Vector, bool)>,
    ) {
        let rules = self.plan.queues[queue];
        let name = |(part, message): (usize, &'static str)| {
            (!self.plan.is_hidden((part, message))).then(|| (format!("p{part}.{message}"), v))
        };
        for sent in self.together(state, &[link.from], v) {
            if rules.may_lose {
                found.push((name(link.from), sent.clone(), true));
            }
            if state.1[queue].len() < rules.capacity {
                let mut sent = sent;
                sent.1[queue].push(v);
                found.push((name(link.from), sent, true));
            }
        }
        for received in self.together(state, &[link.to[0]], v) {
            for at in 0..state.1[queue].len() {
                if state.1[queue][at] != v || at > 0 && !rules.bag {
                    continue;
                }
                if rules.may_duplicate {
                    found.push((name(link.to[0]), received.clone(), true));
                }
                let mut received = received.clone();
                received.1[queue].remove(at);
                found.push((name(link.to[0]), received, true));
            }
        }
    }

    fn closure(&self, states: BTreeSet<Vector>) -> BTreeSet<Vector> {
        let mut all = states;
        let mut todo: Vec<Vector> = all.iter().cloned().collect();
        while let Some(state) = todo.pop() {
            for (seen, next, _) in self.steps(&state) {
                if seen.is_none() && all.insert(next.clone()) {
                    todo.push(next);
                }
            }
        }
        all
    }

    fn after(&self, states: &BTreeSet<Vector>, seen: &(String, i64)) -> BTreeSet<Vector> {
        let steps = states.iter().flat_map(|state| self.steps(state));
        self.closure(
            steps.filter(|(what, ..)| what.as_ref() == Some(seen)).map(|(_, next, _)| next).collect(),
        )
    }

    /// The states that can do nothing of their own.
    fn quiet(&self, states: &BTreeSet<Vector>) -> BTreeSet<Vector> {
        let active = |state: &Vector| self.steps(state).iter().any(|(.., own)| *own);
        states.iter().filter(|state| !active(state)).cloned().collect()
    }

    /// A state as the composed model would name it.
    fn show(&self, state: &Vector) -> String {
        let mut text = String::new();
        for (at, (model, part)) in self.parts.iter().zip(&state.0).enumerate() {
            let n = part.values.get(model.sts.vars[0].var).expect("n");
            let place = &model.sts.locations[part.loc].name;
            write!(text, "p{at}: {place} {} ", model.pool.show_value(n)).expect("text");
        }
        for (queue, items) in state.1.iter().enumerate() {
            write!(text, "q{queue}: {items:?} ").expect("text");
        }
        text
    }
}

/// A state of the composed model by the names of its variables.
fn shown(product: &Product, model: &Model, state: &ConcreteState) -> String {
    let value = |name: &str| {
        let var = model.sts.vars.iter().find(|var| &*model.pool.var_info(var.var).name == name)?;
        state.values.get(var.var)
    };
    let mut text = String::new();
    for (at, part) in product.parts.iter().enumerate() {
        let place = match value(&format!("p{at}.state")) {
            Some(place) => model.pool.show_value(place),
            None => part.sts.locations[part.sts.initial].name.to_string(),
        };
        let n = model.pool.show_value(value(&format!("p{at}.n")).expect("n"));
        write!(text, "p{at}: {place} {n} ").expect("text");
    }
    for queue in 0..product.plan.queues.len() {
        let link = product.plan.links.iter().find(|link| link.queue == Some(queue)).expect("linked");
        let name = format!("q{queue}(p{}>p{}).packets", link.from.0, link.to[0].0);
        let items = value(&name).and_then(Value::as_collection).expect("a list");
        let ioxide_model::collection::Items::List(items) = &items.items else { panic!("a list") };
        let packet = |item: &Value| match item {
            Value::Data(packet) => packet.args[0].as_int().and_then(|n| n.to_i64()).expect("a number"),
            _ => panic!("a packet"),
        };
        let items: Vec<i64> = items.iter().map(packet).collect();
        write!(text, "q{queue}: {items:?} ").expect("text");
    }
    text
}

fn list_believed_states(product: &Product, model: &Model, monitor: &Monitor) -> BTreeSet<String> {
    match monitor.belief() {
        Belief::Concrete(states) => states.iter().map(|state| shown(product, model, state)).collect(),
        other => panic!("values are known: {other:?}"),
    }
}

/// Walks along one trace; returns how many labels were judged.
fn walk(product: &Product, model: &Model, dice: &mut Dice, text: &str) -> usize {
    let mut composed = model.clone();
    let names: Vec<(String, GateKind)> =
        model.sts.gates.iter().skip(1).map(|gate| (gate.name.to_string(), gate.kind)).collect();
    let mut solver = build_stack(&SolverConfig::default());
    let mut cx = Ctx::new(&mut composed, &mut solver);
    let mut monitor = Monitor::new(&mut cx);
    let mut states = product.closure([product.initial()].into());
    for step in 0..12 {
        let expected: BTreeSet<String> = states.iter().map(|state| product.show(state)).collect();
        assert_eq!(list_believed_states(product, model, &monitor), expected, "step {step} of\n{text}");
        if dice.one_in(5) {
            let quiet = product.closure(product.quiet(&states));
            match monitor.observe(&mut cx, &Label::Quiescence) {
                Ok(_) => assert!(!quiet.is_empty(), "silence was allowed at step {step} of\n{text}"),
                Err(_) => {
                    assert!(quiet.is_empty(), "silence was forbidden at step {step} of\n{text}");
                    return step;
                }
            }
            states = quiet;
            continue;
        }
        // Mostly something that can be, now and then anything.
        let possible: Vec<(String, i64)> =
            states.iter().flat_map(|state| product.steps(state)).filter_map(|(seen, ..)| seen).collect();
        let (name, v) = match possible.get(dice.roll(possible.len() + 1)) {
            Some(seen) => seen.clone(),
            None if names.is_empty() => return step,
            None => (names[dice.roll(names.len())].0.clone(), dice.roll(3) as i64),
        };
        let gate = model.sts.gate_named(&name).unwrap_or_else(|| panic!("`{name}` in\n{text}"));
        let label = Label::message(&model.sts, gate, vec![Value::int(v)]).expect("visible");
        let next = product.after(&states, &(name, v));
        match (monitor.observe(&mut cx, &label), &label) {
            (Err(_), _) => {
                assert!(next.is_empty(), "{label:?} was forbidden at step {step} of\n{text}");
                return step + 1;
            }
            (Ok(_), Label::Input(..)) if next.is_empty() => return step + 1,
            (Ok(_), _) => assert!(!next.is_empty(), "{label:?} was allowed at step {step} of\n{text}"),
        }
        states = next;
    }
    12
}

#[test]
fn systems_are_what_the_product_of_their_parts_is() {
    let n = test_count("IOXIDE_SYSTEMS", 150, 3_000) as usize;
    let (mut systems, mut labels, mut queues, mut hidden) = (0, 0, 0, 0);
    for seed in 0.. {
        if systems == n {
            break;
        }
        let mut dice = Dice(seed);
        let plan = random_plan(&mut dice);
        let Some(text) = plan.text() else { continue };
        let model = loaded(&text);
        let parts = plan.parts.iter().map(|part| loaded(part)).collect();
        systems += 1;
        queues += plan.queues.len();
        hidden += plan.hidden.len();
        let product = Product { plan, parts };
        for _ in 0..4 {
            labels += walk(&product, &model, &mut dice, &text);
        }
    }
    println!(
        "{systems} systems, {labels} labels, {queues} queues, {hidden} hidden messages: no disagreement"
    );
    assert!(labels > systems && queues > 0 && hidden > 0, "the systems do something");
}

impl Product {
    /// Returns whether a state is reached in which some part has transitions and nothing can happen; `None` if there
    /// are too many states.
    fn can_be_stuck(&self) -> Option<bool> {
        let mut seen = BTreeSet::from([self.initial()]);
        let mut open = vec![self.initial()];
        while let Some(state) = open.pop() {
            let steps = self.steps(&state);
            let goes_on =
                |(model, part): (&Model, &ConcreteState)| model.sts.switches_from(part.loc).count() > 0;
            if steps.is_empty() && self.parts.iter().zip(&state.0).any(goes_on) {
                return Some(true);
            }
            for (_, next, _) in steps {
                if seen.insert(next.clone()) {
                    open.push(next);
                }
            }
            if seen.len() > 2_000 {
                return None;
            }
        }
        Some(false)
    }
}

#[test]
fn systems_are_stuck_where_their_product_is() {
    let n = test_count("IOXIDE_SYSTEMS", 100, 2_000);
    let mut counts = [0, 0];
    for seed in 0..n {
        let plan = random_plan(&mut Dice(seed));
        let Some(text) = plan.text() else { continue };
        let mut model = loaded(&text);
        let parts = plan.parts.iter().map(|part| loaded(part)).collect();
        let Some(expected) = (Product { plan, parts }).can_be_stuck() else { continue };
        let mut solver = build_stack(&SolverConfig::default());
        let mut cx = Ctx::new(&mut model, &mut solver);
        let result = lint(&mut cx, &ExploreConfig::default(), &mut |_| ControlFlow::Continue(()));
        if !result.exploration.is_complete() || result.open > 0 {
            continue;
        }
        let found = result.findings.iter().any(|finding| finding.code.id() == "W0712");
        assert_eq!(found, expected, "seed {seed}:\n{text}");
        counts[usize::from(expected)] += 1;
    }
    println!("{} systems go on for ever, {} can be stuck", counts[0], counts[1]);
    assert!(counts.iter().all(|&n| n > 5), "both cases occur: {counts:?}");
}
