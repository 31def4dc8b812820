//! Tests of `drawing`.

use ioxide_learn::drawing::{DrawnMove, DrawnState, HypothesisDrawing, key_by_ways};

#[test]
fn a_state_is_known_by_the_way_to_it_whatever_its_number() {
    let state = |name: &str| DrawnState { name: name.into(), ..DrawnState::default() };
    let step = |from, text: &str, to| DrawnMove { from, to, text: text.into(), ..DrawnMove::default() };
    let states = || ["a", "b", "c", "d"].map(state).to_vec();
    let moves = vec![step(0, "x", 1), step(1, "y", 2), step(0, "x", 1), step(2, "z", 0)];
    let one = key_by_ways(HypothesisDrawing { number: 1, states: states(), moves });
    // The same with two numbers exchanged.
    let moves = vec![step(0, "x", 2), step(2, "y", 1), step(1, "z", 0)];
    let other = key_by_ways(HypothesisDrawing { number: 2, states: states(), moves });
    let keys = |drawing: &HypothesisDrawing| -> Vec<String> {
        drawing.states.iter().map(|state| state.key.clone()).collect()
    };
    let (one, other) = (keys(&one), keys(&other));
    assert_eq!((&one[0], &one[1], &one[2]), (&other[0], &other[2], &other[1]));
    assert_eq!(one[3], "d", "nothing leads there");
    assert_ne!(one[1], one[2]);
}
