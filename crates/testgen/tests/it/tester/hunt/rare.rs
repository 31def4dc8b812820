//! Tests of [`ioxide_testgen::tester::hunt::rare`].

use ioxide_model::index::Idx as _;
use ioxide_model::sts::SwitchId;
use ioxide_testgen::tester::hunt::rare::{RareSwitches, luby};

#[test]
fn what_never_comes_again_is_missed() {
    let (open, shut) = (SwitchId::new(0), SwitchId::new(1));
    let mut trap = RareSwitches::default();
    for _ in 0..10 {
        trap.tick(Some(open));
        trap.tick(Some(shut));
    }
    assert!(!trap.is_shut());
    (0..100).for_each(|_| trap.tick(Some(open)));
    assert!(trap.is_shut());
    trap.start_walk();
    assert!(!trap.is_shut(), "a new walk has another chance");
}

#[test]
fn what_is_rare_is_not_missed_soon() {
    let (often, rare) = (SwitchId::new(0), SwitchId::new(1));
    let mut trap = RareSwitches::default();
    for _ in 0..5 {
        (0..50).for_each(|_| trap.tick(Some(often)));
        trap.tick(Some(rare));
    }
    (0..300).for_each(|_| trap.tick(Some(often)));
    assert!(!trap.is_shut());
}

#[test]
fn the_times_are_those_of_luby() {
    let times: Vec<u32> = (0..15).map(|n| 1 << luby(n)).collect();
    assert_eq!(times, [1, 1, 2, 1, 1, 2, 4, 1, 1, 2, 1, 1, 2, 4, 8]);
}
