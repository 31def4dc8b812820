//! Tests of `register::place`.

use ioxide_fsm::mealy::InputId;
use ioxide_model::index::Idx;

use ioxide_learn::register::place::{DataInput, InputSignature, STRIDE, Theory, ValuePlace};

fn signature(theory: Theory) -> InputSignature {
    InputSignature { theory, constants: vec![0], arity: vec![2], made: vec![0] }
}

#[test]
fn a_value_at_a_place_has_that_place() {
    for theory in [Theory::Equality, Theory::Order] {
        let signature = signature(theory);
        for (gate, places) in signature.regions(3, InputId::new(0)) {
            let (known, others) = (vec![0, 100, 50], vec![70, 120, -7]);
            let values = signature.values_at(&mut known.clone(), &others, &places);
            assert_eq!(signature.places_of(&mut known.clone(), &values), places, "{gate:?} {values:?}");
            let is_new = |place: &ValuePlace| matches!(place, ValuePlace::New(_));
            assert!(!places.iter().zip(&values).any(|(p, v)| is_new(p) && others.contains(v)));
        }
    }
}

#[test]
fn values_can_be_nested_in_one_gap_many_times() {
    let signature = signature(Theory::Order);
    let mut known = vec![0, STRIDE];
    for _ in 0..79 {
        let place = ValuePlace::New(1);
        let value = signature.value_at(&known, &[], place);
        assert_eq!(signature.place_of(&known, value), place, "{known:?}");
        known.push(value);
    }
}

#[test]
fn regions_are_all_and_each_once() {
    let gate = InputId::new(0);
    assert_eq!(signature(Theory::Equality).regions(1, gate).len(), 2 + 3);
    let of_order = signature(Theory::Order).regions(1, gate);
    // One known value: equal, below, above; then three places beside one value, five beside two.
    assert_eq!(of_order.len(), 3 + 5 + 5);
    let mut once = of_order.clone();
    once.sort();
    once.dedup();
    assert_eq!(once.len(), of_order.len());
}

#[test]
fn what_is_made_up_is_new() {
    let signature = InputSignature { made: vec![1], ..signature(Theory::Equality) };
    let regions = signature.regions(1, InputId::new(0));
    assert_eq!(regions.len(), 2 + 3);
    assert!(regions.iter().all(|(_, places)| places.len() == 3 && places[2] == ValuePlace::New(0)));
    let input = DataInput { gate: InputId::new(0), values: vec![1, 2, 9] };
    assert_eq!(signature.slots(&input), [9]);
}
