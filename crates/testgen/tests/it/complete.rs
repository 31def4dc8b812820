//! Abstractions and suites of small models, and all systems of their fault domains.

use ioxide_fsm::mealy::TransitionRow;
use ioxide_lang::{LoadOptions, load};
use ioxide_model::source::Sources;
use ioxide_model::sts::Model;
use ioxide_smt::stack::{SolverConfig, build_stack};
use ioxide_symex::Ctx;
use ioxide_testgen::complete::suite::{CompleteConfig, complete_suite};
use ioxide_testgen::complete::{
    AnswerNames, ClassLimits, ClassStep, NoAbstraction, abstraction, claim, suite, updates,
};

mod domain;

fn loaded(text: &str) -> Model {
    let mut sources = Sources::default();
    let file = sources.add("test.iox", text);
    let loaded = load(&sources, file, &LoadOptions::default());
    loaded.model.unwrap_or_else(|| panic!("{:#?}\n{text}", loaded.diagnostics))
}

/// Returns the result of `run` on the model of `text` with a real solver.
fn with<R>(text: &str, run: impl FnOnce(&mut Ctx<'_>) -> R) -> R {
    let mut model = loaded(text);
    let mut solver = build_stack(&SolverConfig::default());
    run(&mut Ctx::new(&mut model, &mut solver))
}

fn rows(text: &str, boundary: u32) -> String {
    with(text, |cx| {
        let found = abstraction(cx, boundary, &ClassLimits::default()).unwrap();
        let row = |row: &TransitionRow| format!("{}: {} / {} -> {}", row.from, row.input, row.output, row.to);
        found.listing(cx, AnswerNames::Grouped).rows.iter().map(row).collect::<Vec<_>>().join("\n")
    })
}

/// Every wrong update of a small store is found, or proved to make no difference.
#[test]
fn wrong_updates_are_found() {
    for (text, least) in [(RELAY, 10), (JAR, 3)] {
        with(text, |cx| {
            let updates = complete_suite(cx, &CompleteConfig::default()).unwrap().claim.updates.unwrap();
            assert!(updates.found >= least, "{updates:?}");
            assert_eq!(updates.found + updates.unobservable, updates.total, "{updates:?}");
        });
    }
}

/// The fault domain has what another transition computes from its fields where the message has them, by name.
#[test]
fn wrong_updates_are_those_of_other_transitions() {
    let text = "model M { input put(x: int) input set(x: int) input ask output got(x: int)
        var v: int = 0
        state s { p: on put { v = x } -> s  q: on set { v = v + x } -> s  r: on ask -> t }
        state t { e: emit got(x: v) -> s } }";
    with(text, |cx| {
        let faults: Vec<String> = updates::wrong_updates(cx).iter().map(|fault| fault.describe(cx)).collect();
        // `ask` has no field, and that of `got` is called `x` too.
        let expected = [
            "`p` without an assignment to `v`",
            "`p` with `v = x + v`",
            "`q` without an assignment to `v`",
            "`q` with `v = x`",
            "`e` with `v = x`",
            "`e` with `v = v + x`",
        ];
        assert_eq!(faults, expected);
    });
}

/// A fault that the system can hide by its choice is listed, not claimed.
#[test]
fn a_fault_that_a_choice_hides_is_not_covered() {
    let text = "model M { input go input mark output any(n: int)
        var least: int = 0
        state s { a: on go -> t  b: on mark { least = 5 } -> s }
        state t { e: emit any when n >= least -> s } }";
    with(text, |cx| {
        let suite = complete_suite(cx, &CompleteConfig::default()).unwrap();
        let hidden: Vec<String> = suite.uncovered.iter().map(|(fault, _)| fault.describe(cx)).collect();
        assert_eq!(hidden, ["`b` without an assignment to `least`"]);
        assert!(!suite.claim.is_whole());
        assert!(suite.claim.sentences().iter().any(|line| line.contains("1 is not covered")));
    });
}

/// A requirement needs no more tests than everything.
#[test]
fn a_requirement_needs_no_more_tests() {
    with(RELAY, |cx| {
        let all = complete_suite(cx, &CompleteConfig::default()).unwrap();
        let only = CompleteConfig { only: vec!["gone".into()], ..CompleteConfig::default() };
        let some = complete_suite(cx, &only).unwrap();
        assert_eq!(some.claim.critical, ["nothing"]);
        assert!(some.claim.symbols <= all.claim.symbols, "{} {}", some.claim.symbols, all.claim.symbols);
        let wrong = CompleteConfig { only: vec!["nobody".into()], ..CompleteConfig::default() };
        assert!(complete_suite(cx, &wrong).is_err());
    });
}

/// A jar of any number of coins.
const JAR: &str = "model Jar { input put(n: int) input empty output count(n: int) output full
    var held: int = 0
    state idle {
        add: on put when n > 0 && held + n <= 10 { held = held + n } -> tell
        over: on put when n > 0 && held + n > 10 -> refuse
        clear: on empty { held = 0 } -> tell
    }
    state tell { told: emit count(n: held) -> idle }
    state refuse { refused: emit full -> idle } }";

/// A counter that goes up to three, with data that only passes through.
const RELAY: &str = "model Relay { input send(x: int) input ask output got(x: int) output nothing
    var last: int = 0 var n: int = 0
    state idle {
        take: on send when n < 3 { last = x, n = n + 1 } -> idle
        drop: on send when n >= 3 { n = 0 } -> lost
        read: on ask -> tell
    }
    state tell { told: emit got(x: last) when n > 0 -> idle  empty: emit nothing when n <= 0 -> idle }
    state lost { gone: emit nothing -> idle } }";

/// Defect: classes that a later state divided were not looked at again in the states before it.
#[test]
fn every_class_is_looked_at_in_every_state() {
    let text = "model M { input a(n: int) input b output x output y
        state s { p: on a -> sx  q: on b -> tx }
        state t { r: on a when n > 5 -> sx  u: on a when n <= 5 -> tx  v: on b -> sx }
        state sx { e: emit x -> s } state tx { f: emit y -> t } }";
    for boundary in 0..3 {
        with(text, |cx| {
            let found = abstraction(cx, boundary, &ClassLimits::default()).unwrap();
            let taken = |step: &&ClassStep| matches!(step, ClassStep::Taken(_));
            let n_taken = found.steps.iter().flatten().filter(taken).count();
            assert_eq!(n_taken, found.states.len() * found.inputs.len());
            assert_eq!(
                complete_suite(cx, &CompleteConfig { boundary, ..CompleteConfig::default() })
                    .unwrap()
                    .claim
                    .method,
                "h"
            );
        });
    }
}

#[test]
fn data_that_no_guard_reads_makes_no_states() {
    insta::assert_snapshot!(rows(RELAY, 0));
}

#[test]
fn a_bounded_sum_has_as_many_classes_as_it_has_futures() {
    with(JAR, |cx| {
        let found = abstraction(cx, 0, &ClassLimits::default()).unwrap();
        assert!(found.is_exact, "{:#?}", found.listing(cx, AnswerNames::Grouped).rows);
        assert_eq!(found.states.len(), 11, "one for every number of coins");
        assert_eq!(found.n_left_out(), 0);
    });
}

#[test]
fn guards_over_whole_domains_need_no_values() {
    let text = "model Gate { input at(t: int, on: bool) output open output shut
        state idle { a: on at when t > 1000000 && on -> o  b: on at when !(t > 1000000 && on) -> s }
        state o { x: emit open -> idle } state s { y: emit shut -> idle } }";
    with(text, |cx| {
        let found = abstraction(cx, 0, &ClassLimits::default()).unwrap();
        assert_eq!((found.states.len(), found.inputs.len(), found.is_exact), (1, 2, true));
        let fine = abstraction(cx, 1, &ClassLimits::default()).unwrap();
        assert!(fine.inputs.len() > 4, "{}", fine.inputs.len());
    });
}

#[test]
fn an_input_that_some_stores_lack_makes_no_states() {
    let text = "model Bank { input put(n: int) input take(n: int) output yes output no
        var held: int = 0
        state idle {
            p: on put when n > 0 { held = held + n } -> ok
            t: on take when n > 0 && n <= held { held = held - n } -> ok
            u: on take when n > 0 && n > held -> bad
        }
        state ok { y: emit yes -> idle } state bad { x: emit no -> idle } }";
    with(text, |cx| {
        let limits = ClassLimits { strict: 5, ..ClassLimits::default() };
        let found = abstraction(cx, 0, &limits).unwrap();
        assert!(found.is_exact && found.is_conditional);
        assert_eq!((found.states.len(), found.inputs.len()), (1, 3));
        let suite = complete_suite(cx, &CompleteConfig { limits, ..CompleteConfig::default() }).unwrap();
        assert_eq!(
            (suite.claim.detours, suite.claim.infeasible),
            (1, 0),
            "something is put before it is taken"
        );
        assert!(
            suite.claim.is_whole()
                && suite.claim.gaps().iter().any(|line| line.contains("lead back to the initial state"))
        );
    });
}

#[test]
fn what_has_no_end_is_bounded_and_says_so() {
    let text = "model Stack { input push input pop output yes output no
        var held: int = 0
        state idle {
            p: on push { held = held + 1 } -> ok
            t: on pop when held > 0 { held = held - 1 } -> ok
            u: on pop when held <= 0 -> bad
        }
        state ok { y: emit yes -> idle } state bad { x: emit no -> idle } }";
    with(text, |cx| {
        let limits = ClassLimits { states: 9, bounded: 4, ..ClassLimits::default() };
        let found = abstraction(cx, 0, &limits).unwrap();
        assert!(!found.is_exact && found.n_left_out() > 0);
        assert!(found.states.len() > 2);
        let suite = complete_suite(cx, &CompleteConfig { limits, ..CompleteConfig::default() }).unwrap();
        assert!(!suite.claim.is_whole() && suite.claim.tests > 0);
        assert!(suite.claim.sentences().iter().any(|line| line.contains("No finite abstraction")));
    });
}

#[test]
fn a_model_without_abstraction_says_why() {
    let refused = |text: &str| with(text, |cx| abstraction(cx, 0, &ClassLimits::default()).unwrap_err());
    assert_eq!(refused("model M { input a clock c state s { on a -> s } }"), NoAbstraction::Timed);
    let unknown = refused("model M { input a var n: int state s { on a when n > 0 -> s } }");
    assert_eq!(unknown, NoAbstraction::UnknownAtStart { var: "n".into() });
    let endless = refused("model M { input a output x state s { on a -> t } state t { emit x -> t } }");
    assert!(matches!(endless, NoAbstraction::EndlessReactions { .. }));
    let kept = refused(
        "model M { input a output x(n: int) var k: int = 0 state s { on a -> t } state t { emit x when n > 0 \
         { k = n } -> s } }",
    );
    assert!(matches!(kept, NoAbstraction::ChoiceKept { .. }));
    for reason in [unknown, endless, kept] {
        assert!(!reason.to_string().is_empty() && !reason.help().is_empty());
    }
}

/// Defect: "at most 1 states", "1 pairs are left out".
#[test]
fn numbers_and_nouns_of_a_claim_agree() {
    const BELL: &str = "model Bell { input ring output dong
        state idle { rung: on ring -> ringing }
        state ringing { rings: emit dong -> idle } }";
    let mut claim = with(BELL, |cx| complete_suite(cx, &CompleteConfig::default()).unwrap().claim);
    let told = |claim: &claim::Claim| claim.sentences().join(" ");
    assert!(told(&claim).contains("at most 1 state over the 1 input class:"), "{}", told(&claim));
    assert!(told(&claim).contains("It may give the 1 answer of the model"), "{}", told(&claim));
    (claim.left_out, claim.infeasible, claim.bound) = (1, 1, 2);
    assert!(told(&claim).contains("1 pair of a state and an input class is left out."), "{}", told(&claim));
    assert!(
        told(&claim).contains(
            "For 1 word no values were found: it is left out; a fault that only it shows is not found."
        ),
        "{}",
        told(&claim)
    );
    (claim.left_out, claim.infeasible) = (2, 2);
    assert!(told(&claim).contains("2 pairs of a state and an input class are left out."), "{}", told(&claim));
    assert!(told(&claim).contains("at most 2 states over"), "{}", told(&claim));
}

/// Defect: a name was called unknown if earlier names had all its switches.
#[test]
fn requirements_may_share_their_switches() {
    with(RELAY, |cx| {
        for only in [["gone", "gone"], ["gone", "told"]] {
            let only = only.map(String::from).to_vec();
            let config = CompleteConfig { only, ..CompleteConfig::default() };
            assert!(complete_suite(cx, &config).is_ok(), "{:?}", config.only);
        }
        let wrong =
            CompleteConfig { only: vec!["gone".into(), "nobody".into()], ..CompleteConfig::default() };
        let found = complete_suite(cx, &wrong).map(|suite| suite.claim.tests);
        assert_eq!(found, Err(suite::NoCompleteSuite::UnknownRequirement("nobody".into())));
    });
}

/// Defect: the last switch of the reaction was named, which need not choose anything.
#[test]
fn a_choice_that_is_kept_is_named_by_its_switch() {
    let text = "model M { input a output x(n: int) output y output z(n: int) var k: int = 0
        state s { on a -> t } state t { free: emit z -> u }
        state u { choose: emit x when n > 0 { k = n } -> v } state v { last: emit y -> s } }";
    let refused = with(text, |cx| abstraction(cx, 0, &ClassLimits::default()).unwrap_err());
    assert_eq!(refused, NoAbstraction::ChoiceKept { switch: "choose".into() });
}

/// Defect: at the limit of classes, a condition that divides none of them cost exactness.
#[test]
fn a_condition_that_divides_nothing_is_no_loss_at_the_limit() {
    let text = "model M { input a(n: int) input b output x output y output z
        state s { p: on a when n > 5 -> sx  q: on a when n <= 5 -> sy  u: on b -> tz }
        state t { r: on a when n > 10 -> sx  v: on a when n <= 10 -> sy  w: on b -> tz }
        state sx { e: emit x -> s } state sy { f: emit y -> s } state tz { g: emit z -> t } }";
    let is_exact = |classes| {
        let limits = ClassLimits { classes, strict: classes, bounded: classes, ..ClassLimits::default() };
        with(text, |cx| abstraction(cx, 0, &limits).unwrap().is_exact)
    };
    assert_eq!([2, 3, 4].map(is_exact), [false, true, true]);
}
