//! Tests of `recorded`.

use ioxide_fsm::mealy::{InputId, OutputId};
use ioxide_model::index::Idx;

use ioxide_learn::recorded::hold_out_runs;

#[test]
fn a_share_of_the_runs_is_kept_back() {
    let runs = || (0..10).map(|i| vec![(InputId::new(i), OutputId::new(0))]).collect::<Vec<_>>();
    assert_eq!(hold_out_runs(runs(), 0).1.len(), 0);
    let (kept, held) = hold_out_runs(runs(), 20);
    assert_eq!((kept.len(), held.len()), (8, 2));
}
