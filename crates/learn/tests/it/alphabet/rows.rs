//! Tests of `alphabet::rows`.

use std::collections::BTreeSet;

use ioxide_learn::alphabet::rows::{choose_rows, count_combinations, describe_left_out};

/// Defect: combinations were cut off after every field, so that the first fields kept their first value.
#[test]
fn every_value_of_every_field_occurs() {
    let all_sizes = [
        vec![3, 3, 3],
        vec![8, 2],
        vec![2, 8, 3],
        vec![2; 10],
        vec![3; 40],
        vec![5, 1, 5],
        vec![2, 4],
        vec![],
    ];
    for sizes in all_sizes {
        let rows = choose_rows(&sizes, 8);
        assert_eq!(rows.len() as u128, count_combinations(&sizes).min(8), "{sizes:?}: {rows:?}");
        assert_eq!(rows.iter().collect::<BTreeSet<_>>().len(), rows.len(), "{sizes:?}: {rows:?}");
        for (field, &size) in sizes.iter().enumerate() {
            let values: BTreeSet<usize> = rows.iter().map(|row| row[field]).collect();
            assert_eq!(values, (0..size).collect(), "{sizes:?}: {rows:?}");
        }
    }
}

#[test]
fn pairs_of_values_come_together() {
    let rows = choose_rows(&[2, 2, 2, 2], 8);
    for (one, other) in [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)] {
        let pairs: BTreeSet<_> = rows.iter().map(|row| (row[one], row[other])).collect();
        assert_eq!(pairs.len(), 4, "{rows:?}");
    }
}

#[test]
fn what_is_left_out_is_counted() {
    assert_eq!(describe_left_out(&[2, 4], 8, 8), None);
    assert_eq!(describe_left_out(&[3, 3], 8, 8).as_deref(), Some("8 of 9 combinations of values"));
    assert_eq!(choose_rows(&[12], 8).len(), 8);
    let told = "8 of 12 combinations of values, and 8 of the 12 values of a field";
    assert_eq!(describe_left_out(&[12], 8, 8).as_deref(), Some(told));
}
