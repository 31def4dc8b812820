//! Tests of `oracle::pool`.

use ioxide_fsm::mealy::{InputId, OutputId};
use ioxide_model::index::Idx;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use ioxide_learn::oracle::pool::{TestPool, novel_share};
use ioxide_learn::tree::ObservationTree;

fn word(inputs: &[usize]) -> Vec<InputId> {
    inputs.iter().map(|&input| InputId::new(input)).collect()
}

#[test]
fn every_test_is_drawn_once_and_new_ones_come_sooner() {
    let mut tree = ObservationTree::new(10);
    let mut pool = TestPool::default();
    // Tests 0 to 49 are known but for their last symbol, tests 50 to 99 are new.
    for first in 0..100 {
        let test = word(&[first / 10, first % 10, 0, 0]);
        if first < 50 {
            let known: Vec<_> = test[..3].iter().map(|&input| (input, OutputId::new(0))).collect();
            tree.insert_run(&known).unwrap();
        }
        pool.push(&test);
    }
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let mut order = pool.draw_tests(30, &tree, &mut rng);
    assert!(order.iter().filter(|&&test| test >= 50).count() > 25, "{order:?}");
    order.extend(pool.draw_tests(1_000, &tree, &mut rng));
    order.sort_unstable();
    assert_eq!(order, (0..100).collect::<Vec<_>>());
}

#[test]
fn what_is_known_is_not_novel() {
    let mut tree = ObservationTree::new(2);
    tree.insert_run(&[(InputId::new(0), OutputId::new(0)), (InputId::new(1), OutputId::new(0))]).unwrap();
    let shares = [&[0, 1][..], &[0, 1, 1], &[1, 1, 1]].map(|inputs| novel_share(&tree, &word(inputs)));
    assert_eq!(shares, [0.0, 0.25, 0.75]);
}
