//! Tests of `difference`.

use ioxide_fsm::mealy::{InputId, Mealy, StateId};
use ioxide_model::index::Idx;

use ioxide_learn::difference::difference;

fn machine(states: usize, table: &[(usize, usize)]) -> Mealy {
    let table: Vec<_> = table.iter().copied().map(Some).collect();
    Mealy::from_table(states, table.len() / states, 3, &table).unwrap()
}

#[test]
fn equivalent_machines_do_not_differ() {
    let one = machine(1, &[(0, 0)]);
    let two = machine(2, &[(1, 0), (0, 0)]);
    assert!(difference(&one, &one).is_empty());
    let same = difference(&one, &two);
    assert!(same.is_empty());
    assert_eq!((same.added, same.removed), (vec![StateId::new(1)], vec![]));
}

#[test]
fn the_shortest_separating_word_comes_first() {
    let old = machine(2, &[(1, 0), (0, 0), (1, 0), (0, 1)]);
    let new = machine(3, &[(1, 0), (0, 0), (2, 0), (0, 1), (2, 0), (0, 2)]);
    let found = difference(&old, &new);
    let inputs = |word: &[usize]| word.iter().map(|&i| InputId::new(i)).collect::<Vec<_>>();
    assert_eq!(found.changed.len(), 1);
    assert_eq!(found.changed[0].word, inputs(&[0, 0, 1]));
    assert_eq!(found.added, [StateId::new(2)]);
    assert_eq!(old.run(&found.changed[0].word).last(), found.changed[0].old.as_ref());
}
