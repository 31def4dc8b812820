//! Tests of `register::tree`.

use ioxide_fsm::mealy::{InputId, OutputId};
use ioxide_model::index::Idx;

use ioxide_learn::register::place::{AnswerValue, DataAnswer, DataInput, InputSignature, Theory, ValuePoint};
use ioxide_learn::register::tree::DataTree;

fn tree(theory: Theory) -> DataTree {
    DataTree::new(InputSignature { theory, constants: Vec::new(), arity: vec![1, 0], made: vec![0, 0] })
}

fn put(value: ValuePoint) -> DataInput {
    DataInput { gate: InputId::new(0), values: vec![value] }
}

fn get() -> DataInput {
    DataInput { gate: InputId::new(1), values: Vec::new() }
}

fn says(values: &[ValuePoint]) -> DataAnswer {
    DataAnswer {
        shape: OutputId::new(values.len()),
        values: values.iter().map(|&v| AnswerValue::Point(v)).collect(),
    }
}

#[test]
fn words_whose_values_compare_alike_are_one_word() {
    let mut tree = tree(Theory::Order);
    tree.insert_answers(&[put(5), put(9), get()], &[says(&[]), says(&[]), says(&[9])]).unwrap();
    let again = tree.answers(&[put(-1), put(0), get()]).unwrap();
    assert_eq!(again[2], says(&[0]));
    assert_eq!(tree.answers(&[put(9), put(5), get()]), None);
    assert!(tree.insert_answers(&[put(1), put(2), get()], &[says(&[]), says(&[]), says(&[1])]).is_err());
}

#[test]
fn a_value_that_is_said_was_memorable() {
    let mut tree = tree(Theory::Equality);
    let word = [put(5), put(9), get()];
    tree.insert_answers(&word, &[says(&[]), says(&[]), says(&[5])]).unwrap();
    let after = |n: usize| tree.find(&word[..n]).unwrap();
    assert_eq!(tree.memorable_values(after(2)).len(), 1);
    assert_eq!(tree.memorable_values(after(1)).len(), 1);
    assert!(tree.memory_witness(after(1), tree.history(after(1))[0]).is_some());
    assert_eq!(tree.memorable_values(after(3)), []);
}
