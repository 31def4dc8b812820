//! The engine against the enumeration of all sequences that keep the rules, on random scripts.

use std::collections::BTreeSet;

use ScriptEvent::{Input, Message, Silence};
use ioxide_model::index::Idx as _;
use ioxide_model::label::Label;
use ioxide_model::sts::GateId;
use ioxide_symex::{Arrival, Crossing, EventOrder, EventOrders, WaitingLabel};

/// Scripts that are tried; each takes well under a millisecond.
const SCRIPTS: u64 = 4_000;
/// Events of a script: enough for two lanes with an input and two messages each and a silence between them.
const MAX_EVENTS: u64 = 6;

/// Numbers that look random (Knuth's MMIX generator).
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }
}

/// An event of a script; its number is its position.
#[derive(Clone, Copy, Debug)]
enum ScriptEvent {
    /// An input of this lane, known to be taken before the event at this position comes, if it ever is.
    Input {
        lane: u32,
        confirmed: Option<usize>,
    },
    Message(Arrival),
    Silence,
}

fn random_script(dice: &mut Dice) -> Vec<ScriptEvent> {
    let n = 2 + dice.below(MAX_EVENTS - 1);
    let event = |at: u64| {
        let lane = dice.below(2) as u32;
        match dice.below(9) {
            0..3 => {
                let confirmed = (dice.below(3) == 0).then(|| at as usize + 1 + dice.below(3) as usize);
                Input { lane, confirmed }
            }
            3 => Message(Arrival::Direct),
            4 | 5 => Message(Arrival::Answer { lane, others: dice.below(2) as usize }),
            6 | 7 => {
                let is_answer = dice.below(2) == 0;
                Message(Arrival::Crossing(Crossing {
                    connection: lane,
                    lane,
                    is_answer,
                    others: 0,
                    is_end: false,
                }))
            }
            _ => Silence,
        }
    };
    (0..n).map(event).collect()
}

/// Returns whether the events of `sequence` are possible in this order; about one continuation in five is not.
fn is_possible(salt: u64, sequence: &[usize]) -> bool {
    let mut hash = salt;
    sequence.iter().all(|&event| {
        hash = (hash ^ event as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(23);
        salt.is_multiple_of(4) || !hash.is_multiple_of(5)
    })
}

/// The sequences of the engine: what has happened, in order. What waits is the rest.
fn by_engine(script: &[ScriptEvent], salt: u64) -> BTreeSet<Vec<usize>> {
    let mut orders = EventOrders::new(Vec::new(), 100_000);
    let happen = |sequence: &Vec<usize>, event: &WaitingLabel| {
        let mut next = sequence.clone();
        next.push(event.id as usize);
        is_possible(salt, &next).then_some(next)
    };
    let is_taken = |order: &EventOrder<Vec<usize>>, n: usize| {
        let is_late = |waiting: &WaitingLabel| {
            let event = &script[waiting.id as usize];
            matches!(event, Input { confirmed: Some(when), .. } if *when <= n)
        };
        !order.waiting().iter().any(is_late)
    };
    for (at, event) in script.iter().enumerate() {
        orders.retain(|order| is_taken(order, at));
        let label = Label::Output(GateId::new(0), Vec::new());
        match *event {
            Input { lane, .. } => orders.give_input(&WaitingLabel::input(at as u64, lane, label), happen),
            Message(arrival) => orders.see_message(at as u64, &label, arrival, happen),
            Silence => orders.see_silence(at as u64, happen),
        }
    }
    orders.retain(|order| is_taken(order, script.len()));
    assert!(orders.is_all());
    let sequences = orders.orders().iter().map(|order| {
        assert_eq!(order.state.len() + order.count_waiting(), script.len());
        order.state.clone()
    });
    sequences.collect()
}

/// Returns whether it is known of event `a`, when the event at `when` comes, that it has happened: an input was
/// confirmed or answered, a message could not be held.
fn is_certain(script: &[ScriptEvent], a: usize, when: usize) -> bool {
    match script[a] {
        Input { lane, confirmed } => {
            let answers =
                |event: &ScriptEvent| matches!(event, Message(it) if it.answered_lane() == Some(lane));
            confirmed.is_some_and(|by| by <= when) || script[a..].iter().take(when + 1 - a).any(answers)
        }
        Message(arrival) => !arrival.may_overtake(),
        Silence => true,
    }
}

/// Returns whether event `a` of the script happened before event `b`, which came later.
fn must_precede(script: &[ScriptEvent], a: usize, b: usize) -> bool {
    is_certain(script, a, b)
        || match (script[a], script[b]) {
            (_, Silence) | (Message(_), Input { .. }) | (Silence, _) => true,
            (Input { lane, .. }, Input { lane: other, .. }) => lane == other,
            (Input { .. }, Message(_)) => false,
            (Message(a), Message(b)) => b != Arrival::Direct && a.lane() == b.lane(),
        }
}

/// The sequences that keep the rules, found one event at a time.
fn by_enumeration(script: &[ScriptEvent], salt: u64) -> BTreeSet<Vec<usize>> {
    let has_happened = |at: &usize| is_certain(script, *at, script.len());
    let (mut found, mut todo) = (BTreeSet::new(), vec![Vec::new()]);
    while let Some(sequence) = todo.pop() {
        if (0..script.len()).filter(has_happened).all(|at| sequence.contains(&at)) {
            found.insert(sequence.clone());
        }
        for next in (0..script.len()).filter(|at| !sequence.contains(at)) {
            let is_next =
                (0..next).all(|before| sequence.contains(&before) || !must_precede(script, before, next));
            // Those after it must not have happened yet.
            let is_in_time = sequence.iter().all(|&other| other < next || !must_precede(script, next, other));
            let longer = [&sequence[..], &[next]].concat();
            if is_next && is_in_time && is_possible(salt, &longer) {
                todo.push(longer);
            }
        }
    }
    found
}

#[test]
fn the_orders_are_the_sequences_that_keep_the_rules() {
    let mut dice = Dice(11);
    let (mut several, mut none) = (0, 0);
    for number in 0..SCRIPTS {
        let script = random_script(&mut dice);
        let salt = dice.below(1 << 30);
        let (engine, enumeration) = (by_engine(&script, salt), by_enumeration(&script, salt));
        assert_eq!(engine, enumeration, "script {number}, salt {salt}: {script:?}");
        several += usize::from(engine.len() > 3);
        none += usize::from(engine.is_empty());
    }
    assert!(several > 500 && none > 100, "{several} scripts with several orders, {none} with none");
}

#[test]
fn a_limit_on_orders_is_reported() {
    let label = Label::Output(GateId::new(0), Vec::new());
    let mut orders = EventOrders::new(Vec::new(), 10);
    let happen = |sequence: &Vec<u64>, event: &WaitingLabel| Some([&sequence[..], &[event.id]].concat());
    for lane in 0..3 {
        orders.give_input(&WaitingLabel::input(u64::from(lane), lane, label.clone()), happen);
    }
    // Subsets of three lanes, in any order: 1 + 3 + 6 + 6.
    assert!(!orders.is_all() && orders.orders().len() == 10);
}
