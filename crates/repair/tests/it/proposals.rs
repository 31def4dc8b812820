//! The proposals for one fault of each kind.

use ioxide_repair::{RepairError, ReplayableRun};

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

/// A guard that lets an input through which the system ignores: the right model says nothing about that input.
#[test]
fn a_guard_of_an_input_is_moved_although_the_model_says_less_then() {
    let right = "model Door {
    input push(force: 0..9)
    output bell
    output creak
    state shut {
        open: on push when force > 3 -> ajar
    }
    state ajar {
        ring: emit bell -> shut
    }
}
";
    let wrong = right.replace("force > 3", "force >= 3");
    let runs = ["push(force: 3); -", "push(force: 4); bell; push(force: 9); bell; push(force: 3); -"];
    let runs: Vec<_> = runs.iter().map(|text| run(text)).collect();
    let found = repairs(&wrong, &runs).unwrap();
    let texts: Vec<&str> =
        found.proposals.iter().map(|it| it.edited.iter().next().unwrap().text.as_str()).collect();
    assert!(texts.contains(&right), "{}", texts.join("\n----\n"));
    assert!(
        !texts.iter().any(|text| !text.contains("open:")),
        "a model that says nothing explains everything"
    );
}

#[test]
fn a_value_that_goes_to_the_wrong_variable_is_moved() {
    let right = "model Two {
    input left(n: 0..9)
    input right(n: 0..9)
    input ask
    output both(l: 0..9, r: 0..9)
    var first: 0..9 = 0
    var second: 0..9 = 0
    state idle {
        one: on left { first = n }
        two: on right { second = n }
        asked: on ask -> owes
    }
    state owes {
        tell: emit both(l: first, r: second) -> idle
    }
}
";
    let wrong = right.replace("on left { first = n }", "on left { second = n }");
    let runs = [
        "left(n: 4); ask; both(l: 4, r: 0)",
        "right(n: 7); left(n: 2); ask; both(l: 2, r: 7)",
        "left(n: 1); left(n: 3); right(n: 5); ask; both(l: 3, r: 5)",
    ];
    let runs: Vec<_> = runs.iter().map(|text| run(text)).collect();
    assert_eq!(first_text(&repairs(&wrong, &runs).unwrap()), right);
}

#[test]
fn arguments_are_swapped_signs_changed_and_keys_of_maps_stored() {
    let right = "model Shelf {
    enum Key { a, b }
    input put(key: Key, text: string)
    input front(key: Key, text: string)
    input move(by: 0..9)
    input ask(key: Key)
    output told(text: string, at: int)
    var held: map<Key, string> = {}
    var asked: Key = a
    var place: int = 0
    fn both(x: string, y: string) -> string = x + \"-\" + y
    fn moved(n: int, by: int) -> int = n + by
    fn found(held: map<Key, string>, key: Key) -> string = match held.get(key) { none => \"\", some(t) => t }
    state idle {
        store: on put { held = held.with(key, text) }
        before: on front { held = held.with(key, both(text, found(held, key))) }
        back: on move { place = moved(place, -by) }
        look: on ask { asked = key } -> owes
    }
    state owes {
        tell: emit told(text: found(held, asked), at: place) -> idle
    }
}
";
    let line = |name: &str, args: &str| format!("{{\"label\": \"{name}\", \"args\": {{{args}}}}}");
    let runs = [
        [
            line("put", "\"key\": \"a\", \"text\": \"x\""),
            line("front", "\"key\": \"a\", \"text\": \"y\""),
            line("move", "\"by\": 3"),
            line("ask", "\"key\": \"a\""),
            line("told", "\"text\": \"y-x\", \"at\": -3"),
        ],
        [
            line("put", "\"key\": \"b\", \"text\": \"p\""),
            line("front", "\"key\": \"b\", \"text\": \"qr\""),
            line("move", "\"by\": 5"),
            line("ask", "\"key\": \"b\""),
            line("told", "\"text\": \"qr-p\", \"at\": -5"),
        ],
    ];
    let runs: Vec<_> = runs.iter().map(|run| ReplayableRun::from_lines("a run", run.join("\n"))).collect();
    for (old, new) in [
        ("both(text, found(held, key))", "both(found(held, key), text)"),
        ("moved(place, -by)", "moved(place, by)"),
        ("store: on put { held = held.with(key, text) }", "store: on put"),
    ] {
        let found = repairs(&right.replace(old, new), &runs).unwrap();
        let texts: Vec<&str> =
            found.proposals.iter().map(|it| it.edited.iter().next().unwrap().text.as_str()).collect();
        // The sign may as well be changed in the function: of proposals that mean the same, one is shown.
        let same = right.replace("n + by", "n - by").replace("-by)", "by)");
        let is_found = texts.iter().any(|text| **text == *right || *text == same);
        assert!(is_found, "{old}\n{}", texts.join("\n----\n"));
    }
}

/// The model takes the inputs that the system ignores: nothing is ever answered.
#[test]
fn a_negated_guard_of_an_input_is_turned_round() {
    let right = "model Adder {
    input add(p: -20..20)
    output total(p: int)
    output done
    var x: int = 0
    state idle {
        take: on add when !(p < 1 || p > 10) { x = x + p } -> busy
        end: emit done when x > 15 -> finished
    }
    state busy {
        say: emit total(p: x) -> idle
    }
    state finished {}
}
";
    let wrong = right.replace("!(p < 1 || p > 10)", "p < 1 || p > 10");
    let runs = ["add(p: -1); -", "add(p: 11); -", "add(p: 0); -", "add(p: -7); -", "add(p: 20); -"];
    let runs: Vec<_> = runs.iter().map(|text| run(text)).collect();
    let found = repairs(&wrong, &runs).unwrap();
    let texts: Vec<&str> =
        found.proposals.iter().map(|it| it.edited.iter().next().unwrap().text.as_str()).collect();
    assert!(texts.contains(&right), "{}", texts.join("\n----\n"));
}

/// Two errors, each of which shows in runs of its own; and a run that shows both, one after the other.
#[test]
fn two_changes_are_made_where_one_is_not_enough() {
    let right = "model Sides {
    input left
    input right
    output l(n: int)
    output r(n: int)
    state idle {
        one: on left -> a
        two: on right -> b
    }
    state a { x: emit l(n: 1) -> idle }
    state b { y: emit r(n: 2) -> idle }
}
";
    let wrong = right.replace("l(n: 1)", "l(n: 2)").replace("r(n: 2)", "r(n: 3)");
    let apart = ["left; l(n: 1)", "right; r(n: 2)", "left; l(n: 1); left; l(n: 1)"];
    let together = ["left; l(n: 1); right; r(n: 2)", "right; r(n: 2); left; l(n: 1)"];
    for runs in [&apart[..], &together] {
        let runs: Vec<_> = runs.iter().map(|text| run(text)).collect();
        let found = repairs(&wrong, &runs).unwrap();
        let texts: Vec<&str> =
            found.proposals.iter().map(|it| it.edited.iter().next().unwrap().text.as_str()).collect();
        assert!(texts.contains(&right), "{}", texts.join("\n----\n"));
        assert!(found.proposals.iter().all(|proposal| proposal.n_edits == 2));
    }
}

/// A transition that stands in the wrong state goes back to where the others of its kind are.
#[test]
fn a_transition_in_the_wrong_state_is_moved() {
    let line = "        more: on more -> owes\n";
    let right = format!(
        "model Moved {{
    input ask
    input more
    output told
    state idle {{
        one: on ask -> owes
{line}    }}
    state owes {{
        tell: emit told -> idle
    }}
}}
"
    );
    let wrong = right.replace(line, "").replace("    state owes {\n", &format!("    state owes {{\n{line}"));
    let runs = ["ask; more; -", "ask; told; ask; more; -"].map(run);
    let found = repairs(&wrong, &runs).unwrap();
    let said: Vec<&str> = found.proposals.iter().map(|it| it.reason.as_str()).collect();
    assert!(said.contains(&"`more` starts at `idle`"), "{said:?}");
}
