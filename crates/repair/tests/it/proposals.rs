//! The proposals for one fault of each kind.

use ioxide_repair::RepairError;

use crate::world::{first_text, repairs, run};

const COUNTER: &str = "model Counter {
    input add(by: 1..9)
    output total(n: int)
    output full
    var sum: int = 0
    // The layout of this text is its author's.
    state idle { take: on add when sum + by < 10 { sum = sum + by } -> owes
                 over: on add when sum + by >= 10 -> refuses }
    state owes { say: emit total(n: sum) -> idle }
    state refuses { no: emit full -> idle }
}
";

/// Tests that the wrong text is repaired to `COUNTER`, which allows the runs.
#[track_caller]
fn is_repaired(wrong: &str, runs: &[&str]) {
    let runs: Vec<_> = runs.iter().map(|text| run(text)).collect();
    let found = repairs(wrong, &runs).unwrap();
    let texts: Vec<&str> =
        found.proposals.iter().map(|it| it.edited.iter().next().unwrap().text.as_str()).collect();
    assert!(texts.contains(&COUNTER), "{}", texts.join("\n----\n"));
    for proposal in &found.proposals {
        assert!(proposal.diff.starts_with("--- model.iox\n+++ model.iox\n@@ "), "{}", proposal.diff);
        assert_eq!(proposal.n_edits, 1);
    }
}

#[test]
fn bounds_that_are_off_by_one_are_moved() {
    let wrong = COUNTER.replace("sum + by < 10", "sum + by < 9").replace("sum + by >= 10", "sum + by >= 9");
    is_repaired(
        &wrong,
        &[
            "add(by: 9); total(n: 9); add(by: 1); full",
            "add(by: 4); total(n: 4); add(by: 5); total(n: 9)",
            "add(by: 3); total(n: 3); add(by: 7); full",
        ]
        .map(|text| text),
    );
}

#[test]
fn a_missing_output_is_added_where_it_was_seen() {
    let wrong = "model M {
    input ask(n: 0..9)
    output even(n: 0..9)
    output odd(n: 0..9)
    var asked: 0..9 = 0
    state idle {
        take: on ask { asked = n } -> owes
    }
    state owes {
        say: emit even(n: asked) when asked % 2 == 0 -> idle
    }
}
";
    let runs = ["ask(n: 2); even(n: 2); ask(n: 3); odd(n: 3); ask(n: 4); even(n: 4)", "ask(n: 7); odd(n: 7)"];
    let runs: Vec<_> = runs.iter().map(|text| run(text)).collect();
    let found = repairs(wrong, &runs).unwrap();
    let text = first_text(&found);
    assert!(text.contains("emit odd(n: asked)"), "{text}");
    // Six messages do not decide whether it has a guard; the one with it is beside the one without.
    let texts: Vec<&str> =
        found.proposals.iter().map(|it| it.edited.iter().next().unwrap().text.as_str()).collect();
    assert!(texts.iter().any(|text| text.contains("odd(n: asked) when !(asked % 2 == 0)")), "{texts:?}");
}

#[test]
fn a_run_that_was_allowed_stays_allowed() {
    // Without the second run, the simplest repair is another constant.
    let wrong = COUNTER.replace("emit total(n: sum)", "emit total(n: 3)");
    let runs = [run("add(by: 3); total(n: 3)"), run("add(by: 4); total(n: 4)")];
    let text = first_text(&repairs(&wrong, &runs).unwrap());
    assert_eq!(text, COUNTER);
}

#[test]
fn what_else_is_allowed_is_a_trace_that_no_run_has_shown() {
    let wrong = COUNTER.replace("sum + by < 10", "sum + by < 3").replace("sum + by >= 10", "sum + by >= 3");
    let found = repairs(&wrong, &[run("add(by: 3); total(n: 3)")]).unwrap();
    assert!(!found.proposals.is_empty());
    for proposal in &found.proposals {
        let shown = proposal.effect.also_allows.as_ref().map(|trace| trace.join(" "));
        assert_ne!(shown.as_deref(), Some("?add(by: 3) !total(n: 3)"), "that was seen: {}", proposal.diff);
    }
}

#[test]
fn nothing_is_proposed_for_runs_that_are_allowed_or_do_not_fit() {
    assert_eq!(repairs(COUNTER, &[run("add(by: 3); total(n: 3)")]).unwrap_err(), RepairError::NothingFails);
    let unknown = repairs(COUNTER, &[run("never(n: 1)")]).unwrap_err();
    assert!(matches!(unknown, RepairError::UnfitRun { .. }), "{unknown}");
}
