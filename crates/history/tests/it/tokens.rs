//! The search with tokens: random histories of collections against all permutations, larger ones against the search
//! without tokens, and queues that only the search with tokens decides.

use ioxide_history::{
    Consistency, FailureCore, HistoryConfig, HistoryVerdict, SearchLimits, TokenUse, UnknownCause,
    judge_history, prove_sequential,
};
use ioxide_model::sts::Model;
use ioxide_smt::stack::{SolverConfig, build_stack};
use ioxide_symex::Ctx;
use ioxide_test_support::test_seeds;

use super::models::{history, judge, model};
use super::random::{
    Dice, Held, Message, RandomOperation, Reference, assert_core, assert_order, build, has_order,
    random_history,
};

const QUEUE: &str = "model Q {
    input push(v: int) input take input size
    output pushed output taken(v: int) output none_left output count(n: int)
    var items: list<int> = []
    state idle {
        on push { items = items + [v] } -> stored
        on take -> asked
        on size -> counting
    }
    state stored { emit pushed -> idle }
    state asked {
        emit none_left when items.is_empty() -> idle
        emit taken(v: first) when let some(first) = items.first() { items = items.drop(1) } -> idle
    }
    state counting { emit count(n: items.length()) -> idle }
}";

/// A push may be lost.
const LOSSY_STACK: &str = "model S {
    input push(v: int) input take
    output pushed output taken(v: int) output none_left
    var items: list<int> = []
    state idle {
        on push { items = [v] + items } -> stored
        on push -> stored
        on take when items.length() == 0 -> empty
        on take when items.length() > 0 -> asked
    }
    state stored { emit pushed -> idle }
    state empty { emit none_left -> idle }
    state asked { emit taken(v: first) when let some(first) = items.first() { items = items.drop(1) } -> idle }
}";

/// Two kinds of operations store values, and a look leaves them.
const DEQUE: &str = "model D {
    input front(v: int) input back(v: int) input take input look
    output pushed output taken(v: int) output none_left
    var items: list<int> = []
    state idle {
        on front { items = [v] + items } -> stored
        on back { items = items + [v] } -> stored
        on take -> asked
        on look -> looking
    }
    state stored { emit pushed -> idle }
    state asked {
        emit none_left when items.is_empty() -> idle
        emit taken(v: first) when let some(first) = items.first() { items = items.drop(1) } -> idle
    }
    state looking {
        emit none_left when items.is_empty() -> idle
        emit taken(v: first) when let some(first) = items.first() -> idle
    }
}";

/// A queue with room for two, which says so, and a cell whose exchange shows what it held.
const BOUNDED: &str = "model B {
    input push(v: int) input take input write(v: int) input swap(v: int)
    output pushed output full output taken(v: int) output none_left
    var items: list<int> = []
    var held: int = 0
    var shown: int = 0
    state idle {
        on push when items.length() < 2 { items = items + [v] } -> stored
        on push when items.length() >= 2 -> refused
        on take -> asked
        on write { held = v } -> stored
        on swap { shown = held, held = v } -> telling
    }
    state stored { emit pushed -> idle }
    state refused { emit full -> idle }
    state asked {
        emit none_left when items.is_empty() -> idle
        emit taken(v: first) when let some(first) = items.first() { items = items.drop(1) } -> idle
    }
    state telling { emit taken(v: shown) -> idle }
}";

const MODELS: [Reference; 4] = [
    Reference { text: QUEUE, start: 0, inputs: queue_input, steps: queue_steps, guess: queue_guess },
    Reference { text: LOSSY_STACK, start: 0, inputs: stack_input, steps: stack_steps, guess: queue_guess },
    Reference { text: DEQUE, start: 0, inputs: deque_input, steps: deque_steps, guess: queue_guess },
    Reference { text: BOUNDED, start: 0, inputs: bounded_input, steps: bounded_steps, guess: queue_guess },
];

/// Items are digits to the base 4, the first one lowest; a digit is one more than the value.
fn append(items: Held, v: i64) -> Held {
    let length = length(items);
    items + ((v as Held + 1) << (2 * length))
}

fn length(items: Held) -> u32 {
    (Held::BITS - items.leading_zeros()).div_ceil(2)
}

fn take(items: Held) -> (Message, Held) {
    match items % 4 {
        0 => (("none_left", vec![]), 0),
        digit => (("taken", vec![digit as i64 - 1]), items / 4),
    }
}

fn queue_input(dice: &mut Dice) -> Message {
    match dice.roll(7) {
        0..=2 => ("push", vec![dice.roll(3) as i64]),
        3..=5 => ("take", vec![]),
        _ => ("size", vec![]),
    }
}

fn queue_steps(items: Held, input: &Message) -> Vec<(Message, Held)> {
    match (input.0, &input.1[..]) {
        ("push", [v]) => vec![(("pushed", vec![]), append(items, *v))],
        ("take", _) => vec![take(items)],
        _ => vec![(("count", vec![i64::from(length(items))]), items)],
    }
}

fn queue_guess(dice: &mut Dice, input: &Message) -> Message {
    match (input.0, dice.roll(4)) {
        ("size", n) => ("count", vec![n as i64]),
        ("push" | "front" | "back" | "write", _) => ("pushed", vec![]),
        (_, 0) => ("none_left", vec![]),
        (_, n) => ("taken", vec![n as i64 - 1]),
    }
}

fn stack_input(dice: &mut Dice) -> Message {
    match dice.roll(2) {
        0 => ("push", vec![dice.roll(3) as i64]),
        _ => ("take", vec![]),
    }
}

fn stack_steps(items: Held, input: &Message) -> Vec<(Message, Held)> {
    match (input.0, &input.1[..]) {
        ("push", [v]) => {
            vec![(("pushed", vec![]), items * 4 + *v as Held + 1), (("pushed", vec![]), items)]
        }
        _ => vec![take(items)],
    }
}

fn deque_input(dice: &mut Dice) -> Message {
    let v = dice.roll(3) as i64;
    match dice.roll(6) {
        0 => ("front", vec![v]),
        1 | 2 => ("back", vec![v]),
        3 | 4 => ("take", vec![]),
        _ => ("look", vec![]),
    }
}

fn deque_steps(items: Held, input: &Message) -> Vec<(Message, Held)> {
    match (input.0, &input.1[..]) {
        ("front", [v]) => vec![(("pushed", vec![]), items * 4 + *v as Held + 1)],
        ("back", [v]) => vec![(("pushed", vec![]), append(items, *v))],
        ("take", _) => vec![take(items)],
        _ => vec![(take(items).0, items)],
    }
}

fn bounded_input(dice: &mut Dice) -> Message {
    let v = dice.roll(3) as i64;
    match dice.roll(6) {
        0 | 1 => ("push", vec![v]),
        2 | 3 => ("take", vec![]),
        4 => ("write", vec![v]),
        _ => ("swap", vec![v]),
    }
}

/// The two lowest bits are the cell.
fn bounded_steps(state: Held, input: &Message) -> Vec<(Message, Held)> {
    let (held, items) = (state % 4, state / 4);
    match (input.0, &input.1[..]) {
        ("push", _) if length(items) >= 2 => vec![(("full", vec![]), state)],
        ("push", [v]) => vec![(("pushed", vec![]), held + 4 * append(items, *v))],
        ("write", [v]) => vec![(("pushed", vec![]), *v as Held + 1 + 4 * items)],
        ("swap", [v]) => {
            vec![(("taken", vec![held.saturating_sub(1) as i64]), *v as Held + 1 + 4 * items)]
        }
        _ => {
            let (answer, items) = take(items);
            vec![(answer, held + 4 * items)]
        }
    }
}

fn config(tokens: TokenUse) -> HistoryConfig {
    HistoryConfig { limits: SearchLimits { tokens, ..SearchLimits::default() }, ..HistoryConfig::default() }
}

#[test]
fn fields_are_carried_unless_something_depends_on_them() {
    let carried = |text: &str, input: &str| {
        let mut model = model(text);
        let gate = model.sts.gate_named(input).unwrap();
        let mut solver = build_stack(&SolverConfig::default());
        let mut cx = Ctx::new(&mut model, &mut solver);
        prove_sequential(&mut cx).unwrap().carried_fields(gate).to_vec()
    };
    for (text, input) in [
        (QUEUE, "push"),
        (LOSSY_STACK, "push"),
        (DEQUE, "front"),
        (DEQUE, "back"),
        (BOUNDED, "push"),
        (BOUNDED, "write"),
    ] {
        assert_eq!(carried(text, input), [0], "{input} of {text}");
    }
    // What an exchange stores is carried, but its answer shows what was held.
    assert_eq!(carried(BOUNDED, "swap"), [] as [usize; 0]);
    assert_eq!(carried(QUEUE, "take"), [] as [usize; 0]);
    let register = |text: &str| {
        let text = format!(
            "model R {{ input write(v: int) input read output done output value(v: int) var held: int = 0
            state s {{ on write {{ held = v }} -> t on read -> u }} state t {{ emit done -> s }}
            state u {{ emit value(v: {text}) -> s }} }}"
        );
        carried(&text, "write")
    };
    assert_eq!(register("held"), [0]);
    // The last one is a token, so that nothing may be carried at all: the analysis did not end.
    for other in [
        "held + 1",
        "if held == 3 then 1 else 2",
        "-held",
        "if held > 0 then held else 0",
        "-6148914691236517206",
    ] {
        assert_eq!(register(other), [] as [usize; 0], "{other}");
    }
}

/// Returns whether an operation uses the cell of [`BOUNDED`], which is a part of its own.
fn uses_cell(input: &Message) -> bool {
    matches!(input.0, "write" | "swap")
}

#[test]
fn random_histories_of_collections_agree_with_all_permutations() {
    let mut counts = [0u64; 2];
    for (which, reference) in MODELS.iter().enumerate() {
        let mut model = model(reference.text);
        let names = model.clone();
        let mut solver = build_stack(&SolverConfig::default());
        let mut cx = Ctx::new(&mut model, &mut solver);
        let sequential = prove_sequential(&mut cx).unwrap();
        for seed in test_seeds("IOXIDE_HISTORIES", 200, 50_000) {
            let mut dice = Dice(seed * 4 + which as u64);
            let (clients, wanted) = (2 + dice.roll(3) as usize, 2 + dice.roll(6) as usize);
            let operations = random_history(&mut dice, reference, clients, wanted);
            let history = build(&names, &operations);
            let judged = judge_history(&mut cx, &sequential, &history, &config(TokenUse::AtOnce));
            let expected = has_order(reference, &operations, Consistency::Linearizable, 0, reference.start);
            let found = match judged.verdict {
                HistoryVerdict::Consistent(orders) => {
                    // A history of several parts has an order for each of them.
                    if let [order] = &orders[..] {
                        assert_order(reference, &operations, Consistency::Linearizable, order);
                    }
                    let placed: usize = orders.iter().map(Vec::len).sum();
                    assert!(
                        placed >= operations.iter().filter(|it| it.output.is_some()).count(),
                        "seed {seed}"
                    );
                    true
                }
                HistoryVerdict::Inconsistent(core) => {
                    // The core is that of a part, and may start where only this part has a cut.
                    let part = |at: usize| uses_cell(&operations[at].input);
                    let members: Vec<usize> =
                        (0..operations.len()).filter(|&at| part(at) == part(core.stuck)).collect();
                    let number = |at: usize| members.binary_search(&at).expect("one part has all of them");
                    let core = FailureCore {
                        operations: core.operations.iter().map(|&at| number(at)).collect(),
                        order: core.order.iter().map(|&at| number(at)).collect(),
                        stuck: number(core.stuck),
                        ..*core
                    };
                    let members: Vec<RandomOperation> =
                        members.iter().map(|&at| operations[at].clone()).collect();
                    assert_core(reference, &members, Consistency::Linearizable, &core, seed);
                    false
                }
                other => panic!("seed {seed}: {other:?}"),
            };
            assert_eq!(found, expected, "seed {seed}, model {which}: {operations:?}");
            counts[usize::from(found)] += 1;
        }
    }
    let least = counts.iter().sum::<u64>() / 20;
    assert!(counts.iter().all(|&count| count > least), "{counts:?}");
    println!("{} without an order, {} with one", counts[0], counts[1]);
}

#[test]
fn longer_histories_have_the_same_verdict_with_and_without_tokens() {
    let mut counts = [0u64; 2];
    for (which, reference) in MODELS.iter().enumerate() {
        let names = model(reference.text);
        for seed in test_seeds("IOXIDE_HISTORIES", 10, 1_000) {
            let mut dice = Dice(seed * 4 + which as u64);
            let operations = longer_history(&mut dice, reference, 3, 24);
            let history = build(&names, &operations);
            let verdict = |tokens: TokenUse| {
                let config = HistoryConfig { skips_core: true, ..config(tokens) };
                match judge(&names, &history, &config).verdict {
                    HistoryVerdict::Consistent(_) => Some(true),
                    HistoryVerdict::Inconsistent(_) => Some(false),
                    _ => None,
                }
            };
            let found = verdict(TokenUse::AtOnce);
            assert!(found.is_some(), "seed {seed}, model {which}");
            assert_eq!(found, verdict(TokenUse::Never), "seed {seed}, model {which}: {operations:?}");
            counts[usize::from(found == Some(true))] += 1;
        }
    }
    assert!(counts.iter().all(|&count| count >= 3), "{counts:?}");
}

/// A random history of which at most one answer is wrong, so that many have an order.
fn longer_history(
    dice: &mut Dice,
    reference: &Reference,
    clients: usize,
    wanted: usize,
) -> Vec<RandomOperation> {
    let honest = Reference { guess: |_, _| ("", vec![]), ..*reference };
    let mut operations = random_history(dice, &honest, clients, wanted);
    // An answer without a name is one that was to be changed: it is left open, unless it is chosen.
    let chosen = dice.roll(2 * operations.len() as u64) as usize;
    for (at, operation) in operations.iter_mut().enumerate() {
        if at == chosen && operation.output.is_some() {
            operation.output = Some((reference.guess)(dice, &operation.input));
        }
        if operation.output.as_ref().is_some_and(|output| output.0.is_empty()) {
            operation.output = None;
            operation.ret = usize::MAX;
        }
    }
    close_clients(&mut operations);
    operations
}

/// Gives every operation after an open one of the same client another client.
fn close_clients(operations: &mut [RandomOperation]) {
    for at in 0..operations.len() {
        if operations[at].output.is_none() {
            let (client, call) = (operations[at].client, operations[at].call);
            let fresh = 100 + at * 10 + client;
            let later = operations.iter_mut().filter(|other| other.client == client && other.call > call);
            later.for_each(|other| other.client = fresh);
        }
    }
}

/// Returns the lines of a queue that many clients push to at the same time, round after round, and that is emptied at
/// the end in an order of each round that only the takes show.
fn pushes_at_once(clients: usize, rounds: usize, swapped: bool) -> String {
    let mut lines = String::new();
    let mut taken = Vec::new();
    for round in 0..rounds {
        let values: Vec<usize> = (0..clients).map(|client| round * clients + client).collect();
        for (client, value) in values.iter().enumerate() {
            lines += &format!("{client} call push {value}\n");
        }
        for client in 0..clients {
            lines += &format!("{client} return pushed\n");
        }
        // The last one to push is taken first.
        taken.extend(values.into_iter().rev());
    }
    if swapped {
        // Of two rounds, which did not overlap.
        let middle = taken.len() / 2;
        taken.swap(middle - 1, middle);
    }
    for value in taken {
        lines += &format!("0 call take\n0 return taken {value}\n");
    }
    lines
}

fn queue(lines: &str, tokens: TokenUse) -> (HistoryVerdict, u64) {
    let model: Model = model(QUEUE);
    let judged = judge(&model, &history(&model, lines), &config(tokens));
    (judged.verdict, judged.configurations)
}

#[test]
fn the_order_of_pushes_is_decided_when_items_are_taken() {
    let (verdict, configurations) = queue(&pushes_at_once(8, 20, false), TokenUse::IfNeeded);
    assert!(matches!(verdict, HistoryVerdict::Consistent(_)), "{verdict:?}");
    assert!(configurations < 20_000, "{configurations}");
    let names = model(QUEUE);
    let lines = pushes_at_once(8, 20, true);
    let config = HistoryConfig { skips_core: true, ..config(TokenUse::IfNeeded) };
    let judged = judge(&names, &history(&names, &lines), &config);
    assert!(matches!(judged.verdict, HistoryVerdict::Inconsistent(_)), "{:?}", judged.verdict);
    assert!(judged.configurations < 20_000, "{}", judged.configurations);
}

/// Defect: the size was placed before the second push, which then could not come before the take any more.
#[test]
fn a_look_leaves_room_for_a_push_that_returned_earlier() {
    let lines = "2 call push 0\n0 call size\n2 return pushed\n0 return count 1\n1 call push 1\n2 call size\n\
        1 return pushed\n1 call take\n0 call take\n0 return taken 1\n1 return taken 0\n2 return count 0\n";
    let (verdict, _) = queue(lines, TokenUse::AtOnce);
    assert!(matches!(verdict, HistoryVerdict::Consistent(_)), "{verdict:?}");
}

#[test]
fn searches_stop_at_the_limit_of_memory() {
    let names = model(QUEUE);
    let lines = pushes_at_once(8, 20, true);
    for (tokens, max_memory) in [(TokenUse::Never, 4 << 20), (TokenUse::AtOnce, 1 << 20)] {
        let limits = SearchLimits { max_memory, tokens, ..SearchLimits::default() };
        let judged =
            judge(&names, &history(&names, &lines), &HistoryConfig { limits, ..HistoryConfig::default() });
        let HistoryVerdict::Unknown(cause) = judged.verdict else { panic!("{:?}", judged.verdict) };
        assert_eq!(cause, UnknownCause::Memory(max_memory));
        let megabytes = max_memory >> 20;
        assert_eq!(
            cause.to_string(),
            format!("the limit of {megabytes} megabytes for the search was reached")
        );
    }
}
