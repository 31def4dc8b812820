//! Random small histories against all permutations, by an interpretation of the models that is written here.
//!
//! `IOXIDE_HISTORIES=100000 cargo test -p ioxide-history --test it random:: -- --nocapture` tries that many.

use std::collections::BTreeSet;

use ioxide_history::{
    Consistency, FailureCore, History, HistoryBuilder, HistoryConfig, HistoryVerdict, judge_history,
    prove_sequential,
};
use ioxide_model::sts::Model;
use ioxide_smt::stack::{SolverConfig, build_stack};
use ioxide_symex::Ctx;
use ioxide_test_support::test_seeds;

use super::models::{BAG, REGISTER, STORE, label, model};

/// A small generator of random numbers (splitmix64), so that a seed means the same everywhere.
pub(super) struct Dice(pub(super) u64);

impl Dice {
    pub(super) fn roll(&mut self, below: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % below
    }
}

/// A state: a bit set, a number, or digits.
pub(super) type Held = u128;

/// A message: its name and values.
pub(super) type Message = (&'static str, Vec<i64>);

/// A model as code: the answers and next states of an input in a state, which is a bit set or a number.
pub(super) struct Reference {
    pub(super) text: &'static str,
    pub(super) start: Held,
    pub(super) inputs: fn(&mut Dice) -> Message,
    pub(super) steps: fn(Held, &Message) -> Vec<(Message, Held)>,
    /// Any answer that an input may have at all.
    pub(super) guess: fn(&mut Dice, &Message) -> Message,
}

pub(super) const MODELS: [Reference; 3] = [
    Reference {
        text: REGISTER,
        start: 0,
        inputs: register_input,
        steps: register_steps,
        guess: register_guess,
    },
    Reference { text: BAG, start: 0, inputs: bag_input, steps: bag_steps, guess: bag_guess },
    Reference { text: STORE, start: 0, inputs: store_input, steps: store_steps, guess: store_guess },
];

fn register_input(dice: &mut Dice) -> Message {
    let mut value = || dice.roll(4) as i64;
    let (one, other) = (value(), value());
    match dice.roll(3) {
        0 => ("read", vec![]),
        1 => ("write", vec![one]),
        _ => ("cas", vec![one, other]),
    }
}

pub(super) fn register_steps(held: Held, input: &Message) -> Vec<(Message, Held)> {
    let held = held as i64;
    let (answer, next) = match (input.0, &input.1[..]) {
        ("read", _) => (("value", vec![held]), held),
        ("write", [v]) => (("written", vec![]), *v),
        (_, [from, to]) if *from == held => (("swapped", vec![]), *to),
        _ => (("refused", vec![]), held),
    };
    vec![(answer, next as Held)]
}

fn register_guess(dice: &mut Dice, input: &Message) -> Message {
    match input.0 {
        "read" => ("value", vec![dice.roll(4) as i64]),
        "write" => ("written", vec![]),
        _ if dice.roll(2) == 0 => ("swapped", vec![]),
        _ => ("refused", vec![]),
    }
}

fn bag_input(dice: &mut Dice) -> Message {
    match dice.roll(2) {
        0 => ("put", vec![dice.roll(3) as i64]),
        _ => ("take", vec![]),
    }
}

fn bag_steps(items: Held, input: &Message) -> Vec<(Message, Held)> {
    match (input.0, &input.1[..]) {
        ("put", [x]) => vec![(("ok", vec![]), items | 1 << x), (("ok", vec![]), items)],
        _ if items == 0 => vec![(("empty", vec![]), 0)],
        _ => {
            let held = (0..3).filter(|x| items & 1 << x != 0);
            held.map(|x| (("got", vec![x]), items & !(1 << x))).collect()
        }
    }
}

fn bag_guess(dice: &mut Dice, input: &Message) -> Message {
    match (input.0, dice.roll(4)) {
        ("put", _) => ("ok", vec![]),
        (_, 0) => ("empty", vec![]),
        (_, n) => ("got", vec![n as i64 - 1]),
    }
}

fn store_input(dice: &mut Dice) -> Message {
    let (key, v) = (dice.roll(2) as i64, dice.roll(4) as i64);
    match dice.roll(5) {
        0 | 1 => ("put", vec![key, v]),
        2 => ("drop", vec![key]),
        _ => ("get", vec![key]),
    }
}

/// The state has a digit to the base 5 for each key: 0 if it is not there, else one more than its value.
fn store_steps(state: Held, input: &Message) -> Vec<(Message, Held)> {
    let (low, high) = (state % 5, state / 5);
    let is_first = input.1[0] == 0;
    let with = |digit: Held| if is_first { digit + 5 * high } else { low + 5 * digit };
    match (input.0, &input.1[..]) {
        ("put", [_, v]) => vec![(("stored", vec![]), with(*v as Held + 1)), (("stored", vec![]), with(1))],
        ("drop", _) => vec![(("dropped", vec![]), with(0))],
        _ => {
            let held = if is_first { low } else { high };
            vec![(("value", vec![held.saturating_sub(1) as i64]), state)]
        }
    }
}

fn store_guess(dice: &mut Dice, input: &Message) -> Message {
    match input.0 {
        "put" => ("stored", vec![]),
        "drop" => ("dropped", vec![]),
        _ => ("value", vec![dice.roll(4) as i64]),
    }
}

/// An operation of a random history.
#[derive(Clone, Debug)]
pub(super) struct RandomOperation {
    pub(super) client: usize,
    pub(super) input: Message,
    pub(super) output: Option<Message>,
    pub(super) call: usize,
    pub(super) ret: usize,
}

/// Makes a history by running the model, operations taking effect at random between call and return; some answers are
/// then changed, and some are taken away.
pub(super) fn random_history(
    dice: &mut Dice,
    reference: &Reference,
    clients: usize,
    wanted: usize,
) -> Vec<RandomOperation> {
    let mut operations: Vec<RandomOperation> = Vec::new();
    let mut running: Vec<Option<(usize, bool)>> = vec![None; clients];
    let mut gone = vec![false; clients];
    let (mut state, mut event) = (reference.start, 0);
    for _ in 0..wanted * 35 {
        let client = dice.roll(clients as u64) as usize;
        event += 1;
        match running[client] {
            _ if gone[client] => {}
            None if operations.len() < wanted => {
                let input = (reference.inputs)(dice);
                running[client] = Some((operations.len(), false));
                operations.push(RandomOperation {
                    client,
                    input,
                    output: None,
                    call: event,
                    ret: usize::MAX,
                });
            }
            None => {}
            Some((at, false)) => {
                let mut steps = (reference.steps)(state, &operations[at].input);
                let chosen = dice.roll(steps.len() as u64) as usize;
                let (answer, next) = steps.swap_remove(chosen);
                state = next;
                operations[at].output = Some(answer);
                running[client] = Some((at, true));
            }
            Some((at, true)) => {
                running[client] = None;
                if dice.roll(8) == 0 {
                    gone[client] = true;
                    operations[at].output = None;
                } else {
                    operations[at].ret = event;
                    if dice.roll(6) == 0 {
                        operations[at].output = Some((reference.guess)(dice, &operations[at].input));
                    }
                }
            }
        }
    }
    for operation in operations.iter_mut().filter(|operation| operation.ret == usize::MAX) {
        operation.output = None;
    }
    operations
}

/// Tries all orders.
pub(super) fn has_order(
    reference: &Reference,
    operations: &[RandomOperation],
    consistency: Consistency,
    placed: u32,
    state: Held,
) -> bool {
    let is_placed = |at: usize| placed & 1 << at != 0;
    if operations.iter().enumerate().all(|(at, it)| is_placed(at) || it.output.is_none()) {
        return true;
    }
    let mut numbers = 0..operations.len();
    numbers.any(|at| {
        let operation = &operations[at];
        let must_precede = |other: &RandomOperation| match consistency {
            Consistency::Linearizable => other.ret < operation.call,
            Consistency::Sequential => other.client == operation.client && other.call < operation.call,
        };
        let is_next = !is_placed(at)
            && operations.iter().enumerate().all(|(before, other)| is_placed(before) || !must_precede(other));
        is_next
            && (reference.steps)(state, &operation.input).iter().any(|(answer, next)| {
                operation.output.as_ref().is_none_or(|output| output == answer)
                    && has_order(reference, operations, consistency, placed | 1 << at, *next)
            })
    })
}

pub(super) fn build(model: &Model, operations: &[RandomOperation]) -> History {
    let mut events: Vec<(usize, bool, &RandomOperation)> = Vec::new();
    for operation in operations {
        events.push((operation.call, false, operation));
        if operation.output.is_some() {
            events.push((operation.ret, true, operation));
        }
    }
    events.sort_by_key(|event| event.0);
    let mut builder = HistoryBuilder::default();
    for (_, is_return, operation) in events {
        let client = operation.client.to_string();
        let (name, values) = match (is_return, &operation.output) {
            (true, Some(output)) => output,
            _ => &operation.input,
        };
        let label = label(model, name, values);
        let done =
            if is_return { builder.answer(&client, label, None) } else { builder.call(&client, label, None) };
        done.unwrap();
    }
    builder.finish()
}

#[test]
fn random_histories_agree_with_all_permutations() {
    let mut counts = [0u64; 2];
    for (which, reference) in MODELS.iter().enumerate() {
        let mut model = model(reference.text);
        let names = model.clone();
        let mut solver = build_stack(&SolverConfig::default());
        let mut cx = Ctx::new(&mut model, &mut solver);
        let sequential = prove_sequential(&mut cx).unwrap();
        for seed in test_seeds("IOXIDE_HISTORIES", 1_000, 100_000) {
            let mut dice = Dice(seed * 2 + which as u64);
            let (clients, wanted) = (2 + dice.roll(3) as usize, 2 + dice.roll(5) as usize);
            let operations = random_history(&mut dice, reference, clients, wanted);
            let history = build(&names, &operations);
            for consistency in [Consistency::Linearizable, Consistency::Sequential] {
                let config = HistoryConfig { consistency, ..HistoryConfig::default() };
                let judged = judge_history(&mut cx, &sequential, &history, &config);
                let expected = has_order(reference, &operations, consistency, 0, reference.start);
                let found = match judged.verdict {
                    HistoryVerdict::Consistent(orders) => {
                        orders.iter().for_each(|it| assert_order(reference, &operations, consistency, it));
                        let placed: usize = orders.iter().map(Vec::len).sum();
                        let returned = operations.iter().filter(|it| it.output.is_some()).count();
                        assert!(placed >= returned, "seed {seed}: {orders:?}");
                        true
                    }
                    HistoryVerdict::Inconsistent(core) => {
                        assert_core(reference, &operations, consistency, &core, seed);
                        false
                    }
                    other => panic!("seed {seed}: {other:?}"),
                };
                assert_eq!(found, expected, "seed {seed}, {consistency:?}: {operations:?}");
                counts[usize::from(found)] += 1;
            }
        }
    }
    // Both verdicts must be frequent, or the comparison shows little.
    let least = counts.iter().sum::<u64>() / 20;
    assert!(counts.iter().all(|&count| count > least), "{counts:?}");
    println!("{} without an order, {} with one", counts[0], counts[1]);
}

/// Checks that an order, of all operations or of those of a part, respects time and is allowed.
pub(super) fn assert_order(
    reference: &Reference,
    operations: &[RandomOperation],
    consistency: Consistency,
    order: &[usize],
) {
    let mut states = BTreeSet::from([reference.start]);
    for (place, &at) in order.iter().enumerate() {
        let operation = &operations[at];
        for &before in &order[..place] {
            let before = &operations[before];
            let is_wrong = match consistency {
                Consistency::Linearizable => operation.ret < before.call,
                Consistency::Sequential => operation.client == before.client && operation.call < before.call,
            };
            assert!(!is_wrong, "{order:?}: {operations:?}");
        }
        let allowed = |(answer, next): (Message, Held)| {
            operation.output.as_ref().is_none_or(|output| *output == answer).then_some(next)
        };
        let next = |&state: &Held| (reference.steps)(state, &operation.input).into_iter().filter_map(allowed);
        states = states.iter().flat_map(next).collect();
        assert!(!states.is_empty(), "{order:?}: {operations:?}");
    }
    let distinct: BTreeSet<&usize> = order.iter().collect();
    assert_eq!(distinct.len(), order.len(), "an operation is placed once");
}

/// Checks that the operations of the core contradict each other whatever the others did: from the start, or from every
/// state that is possible at the last cut.
pub(super) fn assert_core(
    reference: &Reference,
    operations: &[RandomOperation],
    consistency: Consistency,
    core: &FailureCore,
    seed: u64,
) {
    let relaxed: Vec<RandomOperation> = operations
        .iter()
        .enumerate()
        .map(|(at, operation)| {
            let (client, input, call) = (operation.client, operation.input.clone(), operation.call);
            if core.operations.contains(&at) {
                RandomOperation { client, input, output: operation.output.clone(), call, ret: operation.ret }
            } else {
                // An open operation still follows what its client did before.
                let client = if operation.output.is_none() { client } else { 100 + at };
                RandomOperation { client, input, output: None, call, ret: usize::MAX }
            }
        })
        .collect();
    assert!(!core.operations.is_empty());
    let (mut starts, mut since) = (BTreeSet::from([reference.start]), 0);
    if let Some(states) = &core.since {
        since = last_cut(operations, operations[core.stuck].ret).expect("the core starts at a cut");
        let past: Vec<&RandomOperation> = operations.iter().filter(|it| it.call < since).collect();
        starts.clear();
        collect_ends(reference, &past, 0, reference.start, &mut starts);
        assert_eq!(states.len(), starts.len(), "seed {seed}: the states at the cut");
    }
    let rest: Vec<RandomOperation> =
        relaxed.into_iter().filter(|operation| operation.call >= since).collect();
    for start in starts {
        assert!(
            !has_order(reference, &rest, consistency, 0, start),
            "seed {seed}: {:?} of {operations:?}",
            core.operations
        );
    }
}

/// Returns the last call before `end` at which no operation runs or is open.
fn last_cut(operations: &[RandomOperation], end: usize) -> Option<usize> {
    let is_cut = |call: &usize| {
        let mut earlier = operations.iter().filter(|other| other.call < *call).peekable();
        *call < end && earlier.peek().is_some() && earlier.all(|other| other.ret < *call)
    };
    operations.iter().map(|operation| operation.call).filter(is_cut).max()
}

/// Collects the states after all orders of operations that have all returned.
fn collect_ends(
    reference: &Reference,
    operations: &[&RandomOperation],
    placed: u32,
    state: Held,
    ends: &mut BTreeSet<Held>,
) {
    let is_placed = |at: usize| placed & 1 << at != 0;
    let left: Vec<usize> = (0..operations.len()).filter(|&at| !is_placed(at)).collect();
    if left.is_empty() {
        ends.insert(state);
    }
    for &at in &left {
        let operation = operations[at];
        if left.iter().any(|&other| operations[other].ret < operation.call) {
            continue;
        }
        for (answer, next) in (reference.steps)(state, &operation.input) {
            if operation.output.as_ref() == Some(&answer) {
                collect_ends(reference, operations, placed | 1 << at, next, ends);
            }
        }
    }
}
