//! Inputs on which the expected answer does not depend, or that concern other items, go at once, however they are
//! spread over the run; and planned runs have the values of the failing one.

use super::*;

/// Two sums, of which one is asked for.
const SUMS: &str = "
model Sums {
    input add(n: 0..9)
    input put(n: 0..9)
    input sum
    output total(n: int)
    var total: int = 0
    var other: int = 0
    state idle {
        on add { total = total + n } -> idle
        on put { other = other + n } -> idle
        on sum -> asked
    }
    state asked { emit total when n == total -> idle }
}";

/// The labels of the smallest run from one that sends `inputs` and looks, found with at most `attempts` runs.
#[track_caller]
fn shrink_inputs(spec: &Model, sut: &Model, inputs: &[(&str, &[i64])], attempts: u32) -> Vec<String> {
    let inputs = inputs.iter().map(|(gate, values)| message(spec, gate, values));
    let plan: Vec<PlannedMove> =
        inputs.map(|label| PlannedMove::Send(label.into())).chain([PlannedMove::Observe]).collect();
    let config = RunConfig::default();
    let budget = ShrinkConfig { attempts, ..ShrinkConfig::default() };
    let smaller = on_bench(spec, sut, 1, |bench| {
        let first = run_again(bench, &config, &plan, Unmentioned::Stop).expect("it runs");
        let sign = FailureSign::of(&first).expect("it fails");
        let again = repeat(bench, &config, &first.trace, sign, 2);
        let confirmed = again.confirmed(&first.trace).expect("it failed again");
        shrink(bench, &config, &confirmed, &budget, None, &mut |_| ())
    });
    smaller.trace.labels.iter().map(|label| label.show(&spec.pool, &spec.sts)).collect()
}

#[test]
fn inputs_that_decide_nothing_are_left_out_at_once() {
    let spec = model(SUMS);
    let wrong = "emit total when n == (if total >= 40 then total + 1 else total) -> idle";
    let sut = model(&SUMS.replace("emit total when n == total -> idle", wrong));
    // Every `add` is needed; no piece of the run without the others can be left out.
    let round: [(&str, &[i64]); 4] = [("put", &[3]), ("add", &[5]), ("put", &[1]), ("put", &[2])];
    let inputs: Vec<_> = (0..8).flat_map(|_| round).chain([("sum", &[][..])]).collect();
    let shown = shrink_inputs(&spec, &sut, &inputs, 12);
    assert!(shown.len() <= 10 && !shown.iter().any(|label| label.starts_with("?put")), "{shown:?}");
}

/// A store whose items are put at once, or kept back until `kick`; one of the values is given out wrong.
const STORE: &str = "
model Store {
    input put(key: 0..99, n: 0..999)
    input keep(key: 0..99, n: 0..999)
    input kick
    input take(key: 0..99)
    output item(n: int)
    output nothing
    var items: map<int, int> = {}
    var kept_key: int = 0
    var kept: int = 0
    var asked: int = 0
    state idle {
        on put { items = items.with(key, n) } -> idle
        on keep { kept_key = key, kept = n } -> idle
        on kick { items = items.with(kept_key, kept) } -> idle
        on take { asked = key } -> taking
    }
    state taking {
        emit item when items.has(asked) && n == items[asked] -> idle
        emit nothing when !items.has(asked) -> idle
    }
}";

fn store_with_fault() -> Model {
    let wrong = "n == (if items[asked] == 777 then 778 else items[asked])";
    model(&STORE.replace("n == items[asked]", wrong))
}

#[test]
fn inputs_of_other_items_are_left_out_at_once() {
    let others: Vec<[i64; 2]> = (10..40).map(|key| [key, key * 3]).collect();
    let of_others = |range: std::ops::Range<usize>| others[range].iter().map(|values| ("put", &values[..]));
    let item: [(&str, &[i64]); 2] = [("put", &[7, 5]), ("put", &[7, 777])];
    let inputs: Vec<_> = of_others(0..9)
        .chain([item[0]])
        .chain(of_others(9..20))
        .chain([item[1]])
        .chain(of_others(20..30))
        .chain([("take", &[7][..])])
        .collect();
    let shown = shrink_inputs(&model(STORE), &store_with_fault(), &inputs, 4);
    assert_eq!(shown.len(), 3, "{shown:?}");
}

#[test]
fn a_planned_run_has_the_values_of_the_failing_one() {
    // Leaving inputs out ends with `keep`, `kick`, `take`: only the model knows that `put` is the shorter way.
    let inputs: [(&str, &[i64]); 5] =
        [("put", &[3, 4]), ("keep", &[7, 777]), ("put", &[5, 6]), ("kick", &[]), ("take", &[7])];
    let shown = shrink_inputs(&model(STORE), &store_with_fault(), &inputs, 600);
    assert_eq!(shown, ["?put(key: 0, n: 777)", "?take(key: 0)", "!item(n: 778)"]);
}
