//! Random small histories against all permutations, by an interpretation of the models that is written here.
//!
//! `IOXIDE_HISTORIES=100000 cargo test -p ioxide-history --test it random:: -- --nocapture` tries that many.

use ioxide_history::{
    Consistency, History, HistoryBuilder, HistoryConfig, HistoryVerdict, judge_history, prove_sequential,
};
use ioxide_model::sts::Model;
use ioxide_smt::stack::{SolverConfig, build_stack};
use ioxide_symex::Ctx;
use ioxide_test_support::test_seeds;

use super::models::{BAG, REGISTER, label, model};

/// A small generator of random numbers (splitmix64), so that a seed means the same everywhere.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, below: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % below
    }
}

/// A message: its name and values.
type Message = (&'static str, Vec<i64>);

/// A model as code: the answers and next states of an input in a state, which is a bit set or a number.
struct Reference {
    text: &'static str,
    start: u8,
    inputs: fn(&mut Dice) -> Message,
    steps: fn(u8, &Message) -> Vec<(Message, u8)>,
    /// Any answer that an input may have at all.
    guess: fn(&mut Dice, &Message) -> Message,
}

const MODELS: [Reference; 2] = [
    Reference {
        text: REGISTER,
        start: 0,
        inputs: register_input,
        steps: register_steps,
        guess: register_guess,
    },
    Reference { text: BAG, start: 0, inputs: bag_input, steps: bag_steps, guess: bag_guess },
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

fn register_steps(held: u8, input: &Message) -> Vec<(Message, u8)> {
    let held = i64::from(held);
    let (answer, next) = match (input.0, &input.1[..]) {
        ("read", _) => (("value", vec![held]), held),
        ("write", [v]) => (("written", vec![]), *v),
        (_, [from, to]) if *from == held => (("swapped", vec![]), *to),
        _ => (("refused", vec![]), held),
    };
    vec![(answer, next as u8)]
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

fn bag_steps(items: u8, input: &Message) -> Vec<(Message, u8)> {
    match (input.0, &input.1[..]) {
        ("put", [x]) => vec![(("ok", vec![]), items | 1 << x), (("ok", vec![]), items)],
        _ if items == 0 => vec![(("empty", vec![]), 0)],
        _ => {
            let held = (0..3).filter(|x| items & 1 << x != 0);
            held.map(|x| (("got", vec![x]), items & !(1u8 << x))).collect()
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

/// An operation of a random history.
#[derive(Debug)]
struct RandomOperation {
    client: usize,
    input: Message,
    output: Option<Message>,
    call: usize,
    ret: usize,
}

/// Makes a history by running the model, operations taking effect at random between call and return; some answers are
/// then changed, and some are taken away.
fn random_history(dice: &mut Dice, reference: &Reference) -> Vec<RandomOperation> {
    let clients = 2 + dice.roll(3) as usize;
    let wanted = 2 + dice.roll(5) as usize;
    let mut operations: Vec<RandomOperation> = Vec::new();
    let mut running: Vec<Option<(usize, bool)>> = vec![None; clients];
    let mut gone = vec![false; clients];
    let (mut state, mut event) = (reference.start, 0);
    for _ in 0..200 {
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
fn has_order(
    reference: &Reference,
    operations: &[RandomOperation],
    consistency: Consistency,
    placed: u32,
    state: u8,
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

fn build(model: &Model, operations: &[RandomOperation]) -> History {
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
        for seed in test_seeds("IOXIDE_HISTORIES", 1_000, 50_000) {
            let operations = random_history(&mut Dice(seed * 2 + which as u64), reference);
            let history = build(&names, &operations);
            for consistency in [Consistency::Linearizable, Consistency::Sequential] {
                let config = HistoryConfig { consistency, ..HistoryConfig::default() };
                let judged = judge_history(&mut cx, &sequential, &history, &config);
                let expected = has_order(reference, &operations, consistency, 0, reference.start);
                let found = match judged.verdict {
                    HistoryVerdict::Consistent(_) => true,
                    HistoryVerdict::Inconsistent(core) => {
                        assert_core(reference, &operations, consistency, &core.operations, seed);
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

/// Checks that the operations of the core contradict each other whatever the others did.
fn assert_core(
    reference: &Reference,
    operations: &[RandomOperation],
    consistency: Consistency,
    core: &[usize],
    seed: u64,
) {
    let relaxed: Vec<RandomOperation> = operations
        .iter()
        .enumerate()
        .map(|(at, operation)| {
            let (client, input, call) = (operation.client, operation.input.clone(), operation.call);
            if core.contains(&at) {
                RandomOperation { client, input, output: operation.output.clone(), call, ret: operation.ret }
            } else {
                // An open operation still follows what its client did before.
                let client = if operation.output.is_none() { client } else { 100 + at };
                RandomOperation { client, input, output: None, call, ret: usize::MAX }
            }
        })
        .collect();
    assert!(!core.is_empty());
    assert!(
        !has_order(reference, &relaxed, consistency, 0, reference.start),
        "seed {seed}: {core:?} of {operations:?}"
    );
}
