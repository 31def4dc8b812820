//! Random histories against the testers of Stateright, which know nothing of our models.
//!
//! `IOXIDE_MIDDLE_HISTORIES=10000 cargo test -p ioxide-history --test it stateright:: -- --nocapture` tries that many
//! and prints the times of both.

use std::ops::Range;
use std::time::{Duration, Instant};

use ioxide_history::{Consistency, HistoryConfig, HistoryVerdict, judge_history, prove_sequential};
use ioxide_smt::stack::{SolverConfig, build_stack};
use ioxide_symex::Ctx;
use ioxide_test_support::test_seeds;
use stateright::semantics::{
    ConsistencyTester, LinearizabilityTester, SequentialConsistencyTester, SequentialSpec,
};

use super::models::model;
use super::random::{Dice, Held, MODELS, Message, RandomOperation, build, random_history, register_steps};

/// The register as Stateright wants it.
#[derive(Clone, Debug)]
struct HeldValue(Held);

impl SequentialSpec for HeldValue {
    type Op = Message;
    type Ret = Message;

    fn invoke(&mut self, input: &Message) -> Message {
        let (answer, next) = register_steps(self.0, input).remove(0);
        self.0 = next;
        answer
    }
}

/// Gives a history to a tester of Stateright and asks for its verdict.
fn ask_stateright<T: ConsistencyTester<usize, HeldValue>>(
    mut tester: T,
    operations: &[RandomOperation],
) -> bool {
    let mut events: Vec<(usize, usize, &Message, bool)> = Vec::new();
    for operation in operations {
        events.push((operation.call, operation.client, &operation.input, false));
        if let Some(output) = &operation.output {
            events.push((operation.ret, operation.client, output, true));
        }
    }
    events.sort_by_key(|event| event.0);
    for (_, client, message, is_return) in events {
        let done = if is_return {
            tester.on_return(client, message.clone())
        } else {
            tester.on_invoke(client, message.clone())
        };
        done.expect("a client calls, then returns");
    }
    tester.is_consistent()
}

/// The times of both for histories of one size.
#[derive(Default)]
struct MeasuredTimes {
    histories: u32,
    ours: Duration,
    theirs: Duration,
}

#[test]
fn small_histories_agree_with_stateright() {
    compare_histories([2, 4, 5, 7], test_seeds("IOXIDE_HISTORIES", 1_000, 100_000));
}

#[test]
fn middle_sized_histories_agree_with_stateright() {
    // Stateright has no memo of what it tried, so larger histories can take it minutes.
    compare_histories([6, 9, 12, 15], test_seeds("IOXIDE_MIDDLE_HISTORIES", 400, 10_000));
}

/// Compares the verdicts on a random history of a register for each of `seeds`, with these numbers of operations.
fn compare_histories(sizes: [usize; 4], seeds: Range<u64>) {
    let reference = &MODELS[0];
    let mut model = model(reference.text);
    let names = model.clone();
    let mut solver = build_stack(&SolverConfig::default());
    let mut cx = Ctx::new(&mut model, &mut solver);
    let sequential = prove_sequential(&mut cx).unwrap();
    let mut times: [MeasuredTimes; 4] = Default::default();
    let mut counts = [0u32; 2];
    for seed in seeds {
        let at = (seed % 4) as usize;
        let mut dice = Dice(seed.wrapping_mul(3) + 1);
        let clients = 2 + dice.roll(3) as usize;
        let operations = random_history(&mut dice, reference, clients, sizes[at]);
        let history = build(&names, &operations);
        for consistency in [Consistency::Linearizable, Consistency::Sequential] {
            let config = HistoryConfig { consistency, ..HistoryConfig::default() };
            let start = Instant::now();
            let judged = judge_history(&mut cx, &sequential, &history, &config);
            times[at].ours += start.elapsed();
            let start = Instant::now();
            let expected = match consistency {
                Consistency::Linearizable => {
                    ask_stateright(LinearizabilityTester::new(HeldValue(0)), &operations)
                }
                Consistency::Sequential => {
                    ask_stateright(SequentialConsistencyTester::new(HeldValue(0)), &operations)
                }
            };
            times[at].theirs += start.elapsed();
            times[at].histories += 1;
            let found = match judged.verdict {
                HistoryVerdict::Consistent(_) => true,
                HistoryVerdict::Inconsistent(_) => false,
                other => panic!("seed {seed}: {other:?}"),
            };
            assert_eq!(found, expected, "seed {seed}, {consistency:?}: {operations:?}");
            counts[usize::from(found)] += 1;
        }
    }
    // Both verdicts must be frequent, or the comparison shows little.
    let least = counts.iter().sum::<u32>() / 20;
    assert!(counts.iter().all(|&count| count > least), "{counts:?}");
    println!("{} without an order, {} with one; microseconds of one verdict:", counts[0], counts[1]);
    for (size, times) in sizes.iter().zip(&times) {
        let mean = |total: Duration| total.as_micros() / u128::from(times.histories.max(1));
        println!("{size} operations: ioxide {}, Stateright {}", mean(times.ours), mean(times.theirs));
    }
}
