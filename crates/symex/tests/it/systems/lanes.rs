//! Random systems with clocks, each part on a connection of its own: what they do is seen late and crossing, and never
//! blamed.
//!
//! A course of events is drawn from the product of the parts that an explicit checker keeps
//! ([`timed`](crate::systems::timed)). Every message is seen, and every input given, at another instant than it
//! happened, no further away than the stated latency, in order on its own connection. The same with one message held
//! back for a minute is a fault.

use std::collections::BTreeMap;

use ioxide_model::label::Label;
use ioxide_model::number::Rational;
use ioxide_model::sts::{GateId, Model};
use ioxide_model::value::Value;
use ioxide_smt::stack::{SolverConfig, build_stack};
use ioxide_symex::{Arrival, ConnectionWiring, Crossing, Ctx, MessageRoute, Monitor, Tolerance};
use ioxide_test_support::test_count;

use crate::systems::generator::{Dice, loaded};
use crate::systems::timed::{GRID, Product, Vector, random_plan, seconds};

/// The longest way of a message, in steps of the grid.
const LATENCY: i64 = GRID;
/// The longest time without an event in a course, in steps of the grid.
const LONGEST: i64 = 12;

/// Something that was given or seen.
#[derive(Clone, Debug)]
struct Noted {
    at: i64,
    name: String,
    v: i64,
    is_input: bool,
}

/// Returns the events of the system, in the order and at the instants at which they were noted.
fn course(product: &Product, dice: &mut Dice, events: usize) -> Vec<Noted> {
    let (mut state, mut entered, mut now) = (product.initial(), product.initial(), 0);
    let mut last: BTreeMap<(String, bool), i64> = BTreeMap::new();
    let mut noted = Vec::new();
    let mut waited = 0;
    while noted.len() < events && waited < LONGEST {
        let steps = product.steps(&state);
        if !steps.is_empty() && dice.one_in(2) {
            let (seen, next, is_own) = steps[dice.roll(steps.len())].clone();
            if let Some((name, v)) = seen {
                noted.push(note(dice, &mut last, now, (name, v), !is_own));
            }
            (state, waited) = (next.clone(), 0);
            entered = next;
        } else if may_wait(product, &entered, &state) {
            (state, now, waited) = (product.later(&state, 1), now + 1, waited + 1);
        } else if steps.iter().all(|(.., is_own)| !is_own) {
            break;
        }
    }
    // Where an input and a message are noted at one instant, the input was given first: the message may be its answer.
    noted.sort_by_key(|noted| (noted.at, !noted.is_input));
    noted
}

/// A system waits where it may still act later, or had nothing to do of its own.
fn may_wait(product: &Product, entered: &Vector, state: &Vector) -> bool {
    !product.can_still(entered, 0) || product.can_still(state, 1)
}

fn note(
    dice: &mut Dice,
    last: &mut BTreeMap<(String, bool), i64>,
    now: i64,
    (name, v): (String, i64),
    is_input: bool,
) -> Noted {
    let way = dice.roll(LATENCY as usize + 1) as i64;
    let key = (connection(&name).to_string(), is_input);
    let before = last.get(&key).copied().unwrap_or(0);
    let at = if is_input { (now - way).max(before) } else { (now + way).max(before) };
    last.insert(key, at);
    Noted { at, name, v, is_input }
}

/// Part `p1` has connection 1.
fn connection(name: &str) -> u32 {
    u32::from(name.starts_with("p1"))
}

fn wiring(model: &Model) -> ConnectionWiring {
    let route = |gate: GateId| MessageRoute::One(connection(&model.sts.gates[gate].name));
    ConnectionWiring::new(&model.pool, &model.sts, 2, route)
}

/// Returns whether the monitor forbids a message, and the number of messages judged.
fn is_blamed(model: &Model, noted: &[Noted]) -> (bool, usize) {
    let mut composed = model.clone();
    let wiring = wiring(model);
    let mut solver = build_stack(&SolverConfig::default());
    let mut cx = Ctx::new(&mut composed, &mut solver);
    let tolerance = Tolerance { latency: seconds(LATENCY), ..Tolerance::default() };
    let mut monitor = Monitor::with_tolerance(&mut cx, tolerance).with_wiring(Some(wiring.into()));
    let mut now = 0;
    for (judged, Noted { at, name, v, is_input }) in noted.iter().enumerate() {
        let gate = model.sts.gate_named(name).expect("declared");
        let label = Label::message(&model.sts, gate, vec![Value::int(*v)]).expect("visible");
        let (wait, connection) = (seconds(at - now), connection(name));
        now = *at;
        let is_allowed = if *is_input {
            let is_silent = wait == Rational::ZERO || monitor.observe(&mut cx, &Label::Delay(wait)).is_ok();
            monitor.record_sent(&mut cx, &label, connection);
            is_silent
        } else {
            let crossing =
                Crossing { connection, lane: connection, is_answer: false, others: 0, is_end: false };
            monitor.advance_time(&mut cx, &wait);
            monitor.observe_arrival(&mut cx, &label, Arrival::Crossing(crossing)).is_ok()
        };
        if !is_allowed {
            return (true, judged);
        }
    }
    // What is held must be explained by what came until now.
    let settled = monitor.is_unexplained()
        && monitor.observe(&mut cx, &Label::Delay(seconds(2 * LATENCY + 1))).is_err();
    (settled, noted.len())
}

/// Holds back the last message that the system sent.
fn hold_back(noted: &mut Vec<Noted>) -> bool {
    let Some(at) = noted.iter().rposition(|noted| !noted.is_input) else { return false };
    let mut late = noted.remove(at);
    noted.truncate(at);
    late.at += 60 * GRID;
    noted.push(late);
    true
}

#[test]
fn what_parts_say_on_connections_of_their_own_is_never_blamed_for_the_way() {
    let n = test_count("IOXIDE_LANES", 20, 400);
    let (mut systems, mut labels, mut crossed, mut faults, mut found) = (0, 0, 0, 0, 0);
    for seed in 0..n {
        let mut dice = Dice(seed);
        let plan = random_plan(&mut dice);
        let text = plan.text();
        if text.contains("internal") || text.contains("hide") {
            // Instants of steps that nobody sees multiply with the orders of messages.
            continue;
        }
        systems += 1;
        let model = loaded(&text);
        let parts = plan.parts.iter().map(|part| loaded(part)).collect();
        let product = Product { plan, parts };
        for _ in 0..2 {
            let mut noted = course(&product, &mut dice, 6);
            let (is_blamed_wrongly, judged) = is_blamed(&model, &noted);
            assert!(!is_blamed_wrongly, "blamed after {judged} of {noted:?} in\n{text}");
            labels += judged;
            crossed += noted
                .windows(2)
                .filter(|pair| connection(&pair[0].name) != connection(&pair[1].name))
                .count();
            if hold_back(&mut noted) {
                faults += 1;
                found += usize::from(is_blamed(&model, &noted).0);
            }
        }
    }
    println!(
        "{systems} systems, {labels} labels, {crossed} changes of connection: nobody blamed; {found} of \
         {faults} late messages found"
    );
    assert!(labels > 0 && crossed > 0 && found > 0, "the systems do something");
}
