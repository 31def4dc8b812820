//! Tests of `passive`.

use ioxide_fsm::mealy::{InputId, Mealy, OutputId};
use ioxide_fsm::word::IoWord;
use ioxide_model::index::Idx;

use ioxide_learn::passive::merge_runs;

/// Counts to three and says so; the second input starts again.
fn counter() -> Mealy {
    let table = [Some((1, 0)), Some((0, 0)), Some((2, 0)), Some((0, 0)), Some((0, 1)), Some((0, 0))];
    Mealy::from_table(3, 2, 2, &table).unwrap()
}

fn runs(machine: &Mealy, lengths: std::ops::Range<usize>) -> Vec<IoWord> {
    let words = lengths.flat_map(|length| ioxide_fsm::word::words_of_length(machine.n_inputs(), length));
    words.map(|word| word.iter().copied().zip(machine.run(&word)).collect()).collect()
}

#[test]
fn enough_runs_give_the_machine() {
    let system = counter();
    let merged = merge_runs(2, &runs(&system, 1..7)).unwrap();
    assert_eq!(ioxide_fsm::product::difference(&merged.machine, &system), None);
    assert!(merged.support.iter().all(|&seen| seen > 0));
}

#[test]
fn few_runs_give_a_machine_that_agrees_with_them() {
    let seen = runs(&counter(), 2..3);
    let merged = merge_runs(2, &seen).unwrap();
    assert_eq!(merged.count_agreeing(&seen), seen.len());
    assert!(merged.count_agreeing(&runs(&counter(), 5..6)) < 32, "so little cannot be enough");
}

#[test]
fn runs_that_contradict_each_other_are_shown() {
    let input = InputId::new(0);
    let run = |output: usize| vec![(input, OutputId::new(0)), (input, OutputId::new(output))];
    let found = merge_runs(1, &[run(0), run(1)]).unwrap_err();
    assert_eq!((found.before, found.now), (run(0), run(1)));
}
