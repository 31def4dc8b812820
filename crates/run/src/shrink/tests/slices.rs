//! Inputs on which the expected answer does not depend go at once, however they are spread over the run.

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

#[test]
fn inputs_that_decide_nothing_are_left_out_at_once() {
    let spec = model(SUMS);
    let wrong = "emit total when n == (if total >= 40 then total + 1 else total) -> idle";
    let sut = model(&SUMS.replace("emit total when n == total -> idle", wrong));
    // Every `add` is needed; no piece of the run without the others can be left out.
    let round = [("put", 3), ("add", 5), ("put", 1), ("put", 2)];
    let inputs = (0..8).flat_map(|_| round).map(|(gate, n)| message(&spec, gate, &[n]));
    let inputs = inputs.chain([message(&spec, "sum", &[])]);
    let plan: Vec<PlannedMove> =
        inputs.map(|label| PlannedMove::Send(label.into())).chain([PlannedMove::Look]).collect();
    let config = RunConfig::default();
    let budget = ShrinkConfig { attempts: 12, ..ShrinkConfig::default() };
    let smaller = on_bench(&spec, &sut, 1, |bench| {
        let first = run_again(bench, &config, &plan, Unmentioned::Stop).expect("it runs");
        let sign = FailureSign::of(&first).expect("it fails");
        let again = repeat(bench, &config, &first.trace, sign, 2);
        let confirmed = again.confirmed(&first.trace).expect("it failed again");
        shrink(bench, &config, &confirmed, &budget, None, &mut |_| ())
    });
    let shown: Vec<String> =
        smaller.trace.labels.iter().map(|label| label.show(&spec.pool, &spec.sts)).collect();
    assert!(shown.len() <= 10 && !shown.iter().any(|label| label.starts_with("?put")), "{shown:?}");
}
