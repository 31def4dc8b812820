//! Tests of `import::txs::circles`.

use std::collections::BTreeSet;

use ioxide_lang::import::txs::circles::CallGraph;

/// The functions that reach themselves, by the calls of their calls.
fn naive(calls: &[BTreeSet<usize>]) -> BTreeSet<usize> {
    let reaches = |at: usize| {
        let mut found: BTreeSet<usize> = calls[at].iter().copied().filter(|&other| other != at).collect();
        for _ in calls {
            let more: Vec<usize> =
                found.iter().flat_map(|&of| calls[of].iter().copied().filter(move |&to| to != of)).collect();
            found.extend(more);
        }
        found.contains(&at)
    };
    (0..calls.len()).filter(|&at| reaches(at)).collect()
}

fn reaches(calls: &[BTreeSet<usize>], from: usize, to: usize) -> bool {
    let mut found = BTreeSet::from([from]);
    for _ in calls {
        found.extend(found.clone().into_iter().flat_map(|at| calls[at].clone()));
    }
    found.contains(&to)
}

#[test]
fn circles_are_those_who_reach_themselves_and_the_order_is_the_rest() {
    let mut dice = 0x9e37_79b9_7f4a_7c15_u64;
    let mut below = |n: usize| {
        dice ^= dice << 13;
        dice ^= dice >> 7;
        dice ^= dice << 17;
        (dice >> 11) as usize % n
    };
    let (mut n_in, mut n_behind) = (0usize, 0usize);
    for _ in 0..500 {
        let n = 1 + below(7);
        let calls: Vec<BTreeSet<usize>> = (0..n).map(|_| (0..below(3)).map(|_| below(n)).collect()).collect();
        let graph = CallGraph::new(calls.clone());
        let circles = graph.in_circles();
        assert_eq!(circles, naive(&calls), "{calls:?}");
        let components = graph.components();
        for (one, other) in (0..n).flat_map(|one| (0..n).map(move |other| (one, other))) {
            let is_mutual = one == other || reaches(&calls, one, other) && reaches(&calls, other, one);
            assert_eq!(components[one] == components[other], is_mutual, "{calls:?}");
        }
        let order = graph.order();
        for (at, &of) in order.iter().enumerate() {
            assert!(calls[of].iter().all(|to| *to == of || order[..at].contains(to)), "{calls:?}");
            assert!(!circles.contains(&of), "{calls:?}");
        }
        n_in += circles.len();
        n_behind += n - order.len() - circles.len();
    }
    assert!(n_in > 50 && n_behind > 50, "{n_in}, {n_behind}");
}
