//! Tests of [`ioxide_testgen::tester::hunt::priced_looks`].

use std::time::Duration;

use ioxide_model::index::Idx;
use ioxide_model::label::Label;
use ioxide_model::sts::{GateId, LocId};
use ioxide_model::trace::Trace;
use ioxide_testgen::tester::hunt::priced_looks::{LookSituation, PricedLooks, TIME_SHARE};

const STEP: Duration = Duration::from_millis(1);
const SILENCE: Duration = Duration::from_millis(50);

fn situation(gate: usize) -> LookSituation {
    let trace = Trace::from_iter([Label::Input(GateId::new(gate), Vec::new())]);
    LookSituation::new(vec![LocId::new(0)], &trace)
}

/// Visits `situation` that often, with a step before each; returns the number of looks.
fn visit(looks: &mut PricedLooks, situation: &LookSituation, visits: usize) -> usize {
    let mut taken = 0;
    for _ in 0..visits {
        looks.begin_move(None);
        looks.end_move(STEP, false);
        if looks.is_look_due(situation, false) {
            taken += 1;
            looks.begin_move(Some(situation.clone()));
            looks.end_move(SILENCE, true);
        }
    }
    taken
}

#[test]
fn silence_takes_at_most_a_fifth_of_the_time_in_however_many_situations() {
    let mut looks = PricedLooks::default();
    let taken: usize = (0..500).map(|gate| visit(&mut looks, &situation(gate), 40)).sum();
    let total = 500 * 40 * STEP + SILENCE * u32::try_from(taken).unwrap();
    assert!(SILENCE * u32::try_from(taken).unwrap() <= total / TIME_SHARE, "{taken} looks");
    assert!(taken >= 80, "the share is used: {taken} looks");
}

#[test]
fn slow_replies_on_a_busy_machine_leave_time_for_silence() {
    let mut looks = PricedLooks::default();
    for at in 0..1_000 {
        looks.begin_move(Some(situation(1)));
        looks.end_move(if at % 10 == 0 { STEP * 100 } else { STEP }, false);
    }
    assert!(looks.is_look_due(&situation(0), false));
}

#[test]
fn looks_become_rare_in_a_situation_that_was_visited_often() {
    let mut looks = PricedLooks::default();
    let known = situation(0);
    let (first, later) = (visit(&mut looks, &known, 10_000), visit(&mut looks, &known, 90_000));
    assert!((2..=8).contains(&first) && (1..=3).contains(&later), "{first}, {later}");
    assert_eq!(visit(&mut looks, &situation(1), 1), 1, "a new situation");
}

#[test]
fn a_reply_that_comes_at_once_is_looked_for_and_one_that_takes_long_is_costly() {
    let mut looks = PricedLooks::default();
    visit(&mut looks, &situation(0), 100);
    let (quick, slow) = (situation(1), situation(2));
    assert!(!looks.is_look_costly(&quick, true), "a reply is expected");
    for _ in 0..8 {
        looks.begin_move(Some(quick.clone()));
        looks.end_move(STEP, false);
        looks.begin_move(Some(slow.clone()));
        looks.end_move(SILENCE, false);
    }
    assert!(!looks.is_look_costly(&quick, true) && looks.is_look_costly(&slow, true));
    looks.begin_move(Some(slow.clone()));
    looks.end_move(STEP, false);
    assert!(!looks.is_look_costly(&slow, true), "it was slow for a moment only");
}
