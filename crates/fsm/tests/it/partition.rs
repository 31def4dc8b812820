//! Tests of `partition`.

use ioxide_fsm::partition::{group_by, refine_until_stable};

/// The same partition by the textbook fixpoint, as a second opinion.
fn naive(
    groups: &[usize],
    n_letters: usize,
    successor: impl Fn(usize, usize) -> Option<usize>,
) -> Vec<usize> {
    let mut classes = groups.to_vec();
    loop {
        let next = group_by(groups.len(), |state| {
            let after: Vec<_> =
                (0..n_letters).map(|letter| successor(state, letter).map(|next| classes[next])).collect();
            (classes[state], after)
        });
        if next == classes {
            return classes;
        }
        classes = next;
    }
}

proptest::proptest! {
    #[test]
    fn refinement_agrees_with_the_fixpoint(
        table in proptest::collection::vec((0usize..9, 0usize..9), 9),
        outputs in proptest::collection::vec(0usize..2, 9),
    ) {
        let groups = group_by(9, |state| outputs[state]);
        let successor = |state: usize, letter: usize| {
            Some(if letter == 0 { table[state].0 } else { table[state].1 })
        };
        proptest::prop_assert_eq!(refine_until_stable(groups.clone(), 2, successor), naive(&groups, 2, successor));
    }
}
