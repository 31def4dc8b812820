//! Tests of [`ioxide_testgen::kill::standing`].

use ioxide_testgen::kill::standing::{MutantStanding, ScoreSoFar};

/// Whatever order units come in, the goal is reached with the same one, and never before it is certain: the second
/// opinion tries every way in which the rest could end.
#[test]
fn the_goal_is_reached_where_it_is_certain_and_not_before() {
    use MutantStanding::{Killed, Survives, Unkillable};
    let all = [Killed, Survives, Unkillable];
    let until = 50.0;
    for code in 0..3_usize.pow(5) {
        let units: Vec<MutantStanding> = (0..5).map(|at| all[code / 3_usize.pow(at) % 3]).collect();
        let mut in_order = ScoreSoFar::new(Some(until), 1, 5);
        let end = (0..5).find_map(|at| in_order.add(at, units[at as usize]));
        let mut backwards = ScoreSoFar::new(Some(until), 1, 5);
        let last = (0..5).rev().map(|at| backwards.add(at, units[at as usize])).last().flatten();
        assert_eq!(end, last, "{units:?}");
        let certain = |n: usize| {
            (0..3_usize.pow(5 - n as u32)).all(|rest| {
                let rest = (0..5 - n as u32).map(|at| all[rest / 3_usize.pow(at) % 3]);
                let whole: Vec<MutantStanding> = units[..n].iter().copied().chain(rest).collect();
                let count = |wanted| whole.iter().filter(|&&it| it == wanted).count();
                let (killed, survive) = (count(Killed), count(Survives));
                killed + survive > 0 && 100.0 * killed as f64 >= until * (killed + survive) as f64
            })
        };
        let expected = (1..=5).find(|&n| certain(n)).map(|n| n as u64 - 1);
        assert_eq!(end, expected, "{units:?}");
    }
}

#[test]
fn what_is_settled_is_not_waited_for_in_later_rounds() {
    use MutantStanding::{Killed, Survives, Unkillable};
    let mut so_far = ScoreSoFar::new(Some(100.0), 2, 6);
    assert_eq!([Killed, Unkillable, Survives].iter().zip(0..).find_map(|(&it, at)| so_far.add(at, it)), None);
    // Units 4 and 5 are settled: the last one decides.
    assert_eq!(so_far.add(5, Killed), Some(5));
}
