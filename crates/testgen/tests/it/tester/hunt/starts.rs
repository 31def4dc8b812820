//! Tests of [`ioxide_testgen::tester::hunt::starts`].

use ioxide_model::label::Label;
use ioxide_model::trace::Trace;
use ioxide_testgen::tester::hunt::starts::StartStates;
use rand::SeedableRng as _;
use rand_chacha::ChaCha8Rng;

#[test]
fn the_way_to_the_rarest_state_is_taken() {
    let history = |n: usize| vec![Label::Quiescence; n].into_iter().collect::<Trace>();
    let mut starts = StartStates::default();
    for _ in 0..5 {
        starts.visit(1, &history(1));
        starts.visit(2, &history(2));
    }
    starts.visit(3, &history(3));
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let rare = (0..100).filter(|_| starts.rare(&mut rng).len() == 3).count();
    assert!(rare > 80, "{rare} of 100");
}
