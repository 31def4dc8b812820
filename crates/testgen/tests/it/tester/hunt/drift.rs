//! Tests of [`ioxide_testgen::tester::hunt::drift`].

use ioxide_lang::{LoadOptions, load};
use ioxide_model::sort::Sort;
use ioxide_model::source::Sources;
use ioxide_testgen::tester::hunt::drift::{DriftPlan, DriftWay, find_plans};

fn plans(text: &str) -> Vec<(String, DriftWay)> {
    let mut sources = Sources::default();
    let file = sources.add("test.iox", text.to_owned());
    let model = load(&sources, file, &LoadOptions::default()).model.unwrap();
    let name = |plan: &DriftPlan| {
        let (label, var) = (&model.sts.switches[plan.switch].label, &model.pool.var_info(plan.var).name);
        (format!("{label} {var}"), plan.way)
    };
    find_plans(&model.pool, &model.sts).iter().map(name).collect()
}

#[test]
fn variables_that_drift_are_read_off_the_model() {
    let found = plans(
        "model M { input add(n: 0..9) input put(n: int) input set(n: int) output ok
            var sum: int = 0 var items: list<int> = [] var last: int = 0 var n_ok: 0..3 = 0 var oks: int = 0
            state s { add: on add { sum = sum + n } -> t
                      put: on put { items = items + [n] }
                      set: on set { last = n } }
            state t { ok: emit ok { oks = oks + 1, n_ok = (n_ok + 1) % 4 } -> s } }",
    );
    let up = |name: &str| (name.to_owned(), DriftWay::Up);
    let down = |name: &str| (name.to_owned(), DriftWay::Down);
    let expected = [up("add sum"), down("add sum"), up("put items"), up("add oks"), down("add oks")];
    assert_eq!(found, expected);
}

#[test]
fn the_farthest_mark_within_reach_is_chosen_and_none_that_any_walk_passes() {
    let mut plan = DriftPlan {
        switch: ioxide_model::index::Idx::new(0),
        var: ioxide_model::index::Idx::new(0),
        update: None,
        way: DriftWay::Up,
        passed: 0,
        is_idle: false,
    };
    assert_eq!(plan.choose_mark(Sort::Int, 0, 1, 300), Some(256));
    assert_eq!(plan.choose_mark(Sort::Int, 0, 1_000_000, 2_500), Some(1 << 31));
    assert_eq!(plan.choose_mark(Sort::Int, 0, 1, 200), None, "out of reach");
    assert_eq!(plan.choose_mark(Sort::Int, 0, 1 << 62, 2_500), None, "one message passes it");
    assert_eq!(plan.choose_mark(Sort::Int, 0, 1 << 57, 2_500), Some(i64::MAX), "the end of 64 bits");
    assert_eq!(plan.choose_mark(Sort::Str, 0, 1, 2_000), Some(1_024));
    plan.passed = 256;
    assert_eq!(plan.choose_mark(Sort::Int, 0, 1, 300), None, "passed before");
}
