//! Transitions for inputs that are missing. Where no state takes an input, everything is allowed and no run fails;
//! these are models in which another state takes it.

use crate::world::{all_texts, run, some_repairs};

/// After `go` nobody knows which side was taken; the input `ask` tells them apart.
const SIDES: &str = "model Sides {
    input go
    input ask
    output yes
    output no
    output tick
    state start {
        left: on go -> a
        right: on go -> b
    }
    state a {
        on ask -> agrees
    }
    state b {
        emit tick -> start
        on ask -> refuses
    }
    state agrees {
        emit yes -> start
    }
    state refuses {
        emit no -> start
    }
}
";

/// Tests that the right text is among the proposals, which are some: the runs of such a model leave much open.
#[track_caller]
fn is_proposed(right: &str, reason: &str, wrong: &str, runs: &[&str]) {
    let runs: Vec<_> = runs.iter().map(|text| run(text)).collect();
    let found = some_repairs(wrong, &runs, 12).unwrap();
    let texts = all_texts(&found);
    assert!(texts.contains(&(right, reason)), "{texts:#?}");
}

#[test]
fn an_input_that_one_of_two_states_refuses_is_added_there() {
    let wrong = SIDES.replace("        on ask -> refuses\n", "");
    let runs = ["go; ask; yes", "go; ask; no; go; ask; yes", "go; tick; go; ask; no"];
    is_proposed(SIDES, "`b` also takes `ask` and goes to `refuses`", &wrong, &runs);
}

#[test]
fn an_input_that_changes_nothing_is_added_as_a_loop() {
    let right = SIDES.replace("        on ask -> refuses\n", "        on ask\n");
    let wrong = right.replace("        on ask\n", "");
    let runs = ["go; ask; yes", "go; ask; tick; go; ask; yes", "go; tick; go; ask; ask; tick"];
    is_proposed(&right, "`b` also takes `ask` and stays", &wrong, &runs);
}

/// The case that is missing is that of the other guards.
#[test]
fn an_input_that_a_state_takes_in_other_cases_gets_the_guard_that_is_left() {
    let right = "model Cases {
    input put(n: 0..9)
    output small
    output large
    output any
    state idle {
        on put -> maybe
        on put when n < 4 -> low
        on put when !(n < 4) -> high
    }
    state maybe {
        emit any -> idle
    }
    state low {
        emit small -> idle
    }
    state high {
        emit large -> idle
    }
}
";
    let wrong = right.replace("        on put when !(n < 4) -> high\n", "");
    let runs = ["put(n: 3); small; put(n: 5); any; put(n: 4); large", "put(n: 0); any; put(n: 9); large"];
    is_proposed(right, "`idle` also takes `put` and goes to `high`, if `!(n < 4)`", &wrong, &runs);
}
