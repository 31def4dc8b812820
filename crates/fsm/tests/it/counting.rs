//! Suites of partial machines against all systems of their fault domain.

use ioxide_model::index::Idx;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use ioxide_fsm::counting::{SuiteTooLarge, counting_suite};
use ioxide_fsm::mealy::{InputId, Mealy, OutputId, StateId};
use ioxide_fsm::word::Word;

const LIMIT: usize = 1_000_000;

/// A random machine in which some answers are missing, its reachable part.
fn partial(rng: &mut ChaCha8Rng, states: usize, inputs: usize, outputs: usize) -> Mealy {
    let table: Vec<_> = (0..states * inputs)
        .map(|_| rng.random_ratio(3, 4).then(|| (rng.random_range(0..states), rng.random_range(0..outputs))))
        .collect();
    Mealy::from_table(states, inputs, outputs, &table).unwrap().reachable_part()
}

/// Every complete machine with these numbers of states, inputs and outputs.
fn systems(states: usize, inputs: usize, outputs: usize) -> impl Iterator<Item = Mealy> {
    let answers = states * outputs;
    let count = answers.pow(u32::try_from(states * inputs).unwrap());
    (0..count).filter_map(move |mut code| {
        let mut entry = || {
            let answer = code % answers;
            code /= answers;
            Some((answer % states, answer / states))
        };
        let table: Vec<_> = (0..states * inputs).map(|_| entry()).collect();
        Mealy::from_table(states, inputs, outputs, &table)
    })
}

/// Returns whether `system` answers some word that `machine` answers differently, outputs being compared after
/// `seen`.
fn is_wrong(machine: &Mealy, system: &Mealy, seen: impl Fn(OutputId) -> Option<OutputId>) -> bool {
    let mut pairs = vec![(machine.initial(), system.initial())];
    let mut next = 0;
    while let Some(&(p, q)) = pairs.get(next) {
        next += 1;
        for input in machine.inputs() {
            let (Some(a), Some(b)) = (machine.edge(p, input), system.edge(q, input)) else { continue };
            if seen(a.output) != seen(b.output) {
                return true;
            }
            if !pairs.contains(&(a.next, b.next)) {
                pairs.push((a.next, b.next));
            }
        }
    }
    false
}

fn fails(machine: &Mealy, system: &Mealy, suite: &[Word]) -> bool {
    suite.iter().any(|word| machine.run(word) != system.run(word))
}

#[test]
fn every_wrong_system_fails_a_test_of_a_partial_machine() {
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let mut wrong = 0;
    for _ in 0..60 {
        let machine = partial(&mut rng, 3, 2, 2);
        let suite = counting_suite(&machine, 2, None, LIMIT).unwrap();
        for word in &suite {
            assert_eq!(machine.run(word).len(), word.len(), "the machine answers every word to its end");
        }
        for system in systems(2, 2, 2) {
            let is_wrong = is_wrong(&machine, &system, Some);
            assert_eq!(fails(&machine, &system, &suite), is_wrong);
            wrong += usize::from(is_wrong);
        }
    }
    assert!(wrong > 1_000);
}

#[test]
fn critical_answers_are_all_found_and_need_no_more_tests() {
    let mut rng = ChaCha8Rng::seed_from_u64(4);
    let (mut found, mut smaller) = (0, 0);
    for _ in 0..40 {
        let machine = partial(&mut rng, 3, 2, 3);
        let critical = [OutputId::new(0)];
        let seen = |output: OutputId| critical.contains(&output).then_some(output);
        let all = counting_suite(&machine, 3, None, LIMIT).unwrap();
        let suite = counting_suite(&machine, 3, Some(&critical), LIMIT).unwrap();
        let symbols = |suite: &[Word]| suite.iter().map(Vec::len).sum::<usize>();
        smaller += usize::from(symbols(&suite) < symbols(&all));
        for code in 0..400 {
            let system = random_system(&mut ChaCha8Rng::seed_from_u64(code), &machine);
            let is_critical = is_wrong(&machine, &system, seen);
            let fails = fails(&machine, &system, &suite);
            assert!(!is_critical || fails, "a critical fault is missed");
            assert!(!fails || is_wrong(&machine, &system, Some), "a right system fails");
            found += usize::from(is_critical);
        }
    }
    assert!(found > 1_000 && smaller > 0, "{found} {smaller}");
}

/// A complete machine with at most three states, near `machine`.
fn random_system(rng: &mut ChaCha8Rng, machine: &Mealy) -> Mealy {
    let table: Vec<_> = (0..3 * 2)
        .map(|slot| {
            let (state, input) = (StateId::new(slot / 2), InputId::new(slot % 2));
            let kept = (slot / 2 < machine.n_states()).then(|| machine.edge(state, input)).flatten();
            let any = (rng.random_range(0..3), rng.random_range(0..3));
            Some(match kept {
                Some(edge) if rng.random_ratio(5, 6) => (edge.next.index(), edge.output.index()),
                _ => any,
            })
        })
        .collect();
    Mealy::from_table(3, 2, 3, &table).unwrap()
}

#[test]
fn a_complete_minimal_machine_goes_as_deep_as_the_methods_do() {
    let table = [(1, 0), (0, 0), (0, 1), (1, 0)].map(Some);
    let machine = Mealy::from_table(2, 2, 2, &table).unwrap();
    for extra in 0..3 {
        let suite = counting_suite(&machine, 2 + extra, None, LIMIT).unwrap();
        let longest = suite.iter().map(Vec::len).max().unwrap();
        assert!(longest <= 1 + (extra + 1) + 1, "{longest}");
    }
    assert_eq!(counting_suite(&machine, 9, None, 50), Err(SuiteTooLarge { limit: 50 }));
}
