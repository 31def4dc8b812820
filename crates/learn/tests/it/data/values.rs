//! Tests of `data::values`.

use ioxide_fsm::mealy::InputId;
use ioxide_model::index::Idx;
use ioxide_model::value::Value;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use ioxide_learn::data::made_values::MadeValues;
use ioxide_learn::data::values::{FieldValues, PointValues, ValueKind};
use ioxide_learn::register::place::{DataInput, Theory, ValuePlace};

#[test]
fn values_compare_as_points_do() {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    for theory in [Theory::Equality, Theory::Order] {
        let constants = vec![Value::int(7), Value::int(0)];
        let domain = FieldValues::new(
            theory,
            constants,
            vec![vec![ValueKind::Number(Some(-40), Some(60)); 2]],
            MadeValues::default(),
        );
        for (gate, places) in domain.signature.regions(4, InputId::new(0)) {
            let mut points = domain.signature.constants.clone();
            points.extend(domain.signature.values_at(
                &mut points.clone(),
                &[],
                &[ValuePlace::New(1), ValuePlace::New(3)],
            ));
            let values = domain.signature.values_at(&mut points.clone(), &[], &places);
            let word = vec![DataInput { gate, values: points[2..].to_vec() }, DataInput { gate, values }];
            let Some(pairs) = domain.choose_values(&word, &mut rng) else { panic!("there is room") };
            // Back again: the same word, as far as values compare.
            let mut known = domain.constants();
            let read = |input: &DataInput, known: &mut PointValues| DataInput {
                gate,
                values: input
                    .values
                    .iter()
                    .map(|point| {
                        let value = &pairs.iter().find(|(it, _)| it == point).expect("a value").1;
                        domain.find_or_add_point(known, &[], value)
                    })
                    .collect(),
            };
            let back: Vec<DataInput> = word.iter().map(|input| read(input, &mut known)).collect();
            let shape = |word: &[DataInput]| {
                let mut known = domain.signature.constants.clone();
                word.iter().map(|it| domain.signature.places_of(&mut known, &it.values)).collect::<Vec<_>>()
            };
            assert_eq!(shape(&back), shape(&word));
        }
    }
}

#[test]
fn a_range_without_room_is_noticed() {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let domain = FieldValues::new(
        Theory::Equality,
        Vec::new(),
        vec![vec![ValueKind::Number(Some(1), Some(2))], vec![ValueKind::Text]],
        MadeValues::default(),
    );
    let put = |gate: usize, value| DataInput { gate: InputId::new(gate), values: vec![value] };
    assert!(domain.choose_values(&[put(0, 1), put(0, 2)], &mut rng).is_some());
    assert!(domain.choose_values(&[put(0, 1), put(0, 2), put(0, 3)], &mut rng).is_none());
    assert!(domain.choose_values(&[put(0, 1), put(1, 1)], &mut rng).is_none(), "a number is not text");
}
