//! Tests of `tree`.

use ioxide_fsm::mealy::{InputId, OutputId};
use ioxide_model::index::Idx;

use ioxide_learn::tree::ObservationTree;

fn input(i: usize) -> InputId {
    InputId::new(i)
}

fn output(i: usize) -> OutputId {
    OutputId::new(i)
}

#[test]
fn nodes_with_different_answers_to_one_word_are_apart() {
    let mut tree = ObservationTree::new(2);
    let a = tree.grow_child(tree.root(), input(0), output(0), false);
    let b = tree.grow_child(tree.root(), input(1), output(0), false);
    assert!(!tree.are_apart(a, b));
    let (aa, ba) =
        (tree.grow_child(a, input(0), output(1), false), tree.grow_child(b, input(0), output(1), false));
    tree.grow_child(aa, input(1), output(0), false);
    assert_eq!(tree.separating_word(a, b), None);
    tree.grow_child(ba, input(1), output(1), false);
    assert!(tree.are_apart(a, b));
    assert_eq!(tree.separating_word(a, b), Some(vec![input(0), input(1)]));
}

#[test]
fn a_sink_answers_everything_with_its_output() {
    let mut tree = ObservationTree::new(2);
    let sink = tree.grow_child(tree.root(), input(0), output(3), true);
    let other = tree.grow_child(tree.root(), input(1), output(0), false);
    assert_eq!(tree.node_after(sink, &[input(1), input(0)]), Some(sink));
    assert!(!tree.are_apart(sink, sink));
    let kept = tree.grow_child(other, input(1), output(3), false);
    assert!(!tree.are_apart(sink, other));
    tree.grow_child(kept, input(0), output(1), false);
    assert!(tree.are_apart(sink, other) && tree.are_apart(other, sink));
    assert_eq!(tree.trace(kept), [(input(1), output(0)), (input(1), output(3))]);
}
