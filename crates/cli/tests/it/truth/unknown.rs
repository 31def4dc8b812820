//! Runs without a known verdict, which must never be called a pass.

use std::fs;

use crate::truth::Folder;

/// Internal steps lead to more states than anybody keeps.
const MANY: &str = "model Many { input go output out(n: int) var a: int = 0 var b: int = 0
    state s { internal when a < 400 { a = a + 1 }  internal when b < 400 { b = b + 1 }  on go -> t }
    state t { emit out(n: a) -> u } state u {} }
";

#[test]
fn a_forbidden_output_after_too_many_states_is_unknown_and_no_pass() {
    let folder = Folder::new(MANY, "");
    fs::write(
        folder.path().join("t.jsonl"),
        "{\"label\": \"go\"}\n{\"label\": \"out\", \"args\": {\"n\": 999}}\n",
    )
    .expect("a trace");
    let judged = folder.ioxide(&["judge", "m.iox", "t.jsonl", "--solver", "none"]);
    judged.check(5, &["INCONCLUSIVE: unknown from step 2 on, because the model may be in more than"]);
    let json = folder.ioxide(&["judge", "m.iox", "t.jsonl", "--solver", "none", "--json"]);
    json.check(5, &["\"verdict\":\"inconclusive\"", "\"unknown_from\":2"]);
}

/// Defect: the message was that the solver left a question open, and no option was named.
#[test]
fn a_run_beyond_the_unfolded_processes_says_so() {
    let folder = Folder::new(MANY, "");
    let server = "CHANDEF Chans ::= Ask, Answer :: Int ENDDEF
        PROCDEF server [ Ask, Answer :: Int ] ( ) ::=
            Ask ? x >-> ( Answer ! x >-> STOP ||| server [Ask, Answer] ( ) )
        ENDDEF
        MODELDEF Server ::= CHAN IN Ask CHAN OUT Answer BEHAVIOUR server [Ask, Answer] ( ) ENDDEF\n";
    fs::write(folder.path().join("server.txs"), server).expect("a model");
    let asked = "{\"label\": \"Ask\", \"args\": {\"v1\": 1}}\n".repeat(8);
    fs::write(folder.path().join("t.jsonl"), asked).expect("a trace");
    let judge = |depth: &str| folder.ioxide(&["judge", "server.txs", "--set", depth, "t.jsonl"]);
    let why = "because the model is unfolded up to 3 nested processes only, and the run may have gone beyond";
    judge("UNFOLD=3").check(5, &["INCONCLUSIVE: unknown from step 5 on", why, "`--set UNFOLD=3`"]);
    judge("UNFOLD=10").check(0, &["PASS: 8 steps are allowed"]);
    judge("UNFOLD=0").check(2, &["`--set UNFOLD=0` is not a depth from 1 to 60"]);
}

#[test]
fn an_input_that_only_some_states_accept_is_judged_by_the_relation() {
    let model = "model M { input a output x output y
        state s { internal -> p  internal -> q } state p { on a -> r } state q {} state r { emit x -> s } }";
    let folder = Folder::new(model, "");
    fs::write(folder.path().join("t.jsonl"), "{\"label\": \"a\"}\n{\"label\": \"y\"}\n").expect("a trace");
    let judge = |relation: &str| {
        folder.ioxide(&["judge", "m.iox", "t.jsonl", "--solver", "none", "--relation", relation])
    };
    judge("ioco").check(1, &["FAIL at step 2"]);
    judge("uioco").check(0, &["not every possible state of the model accepts the input at step 1, so"]);
    judge("tioco").check(2, &["there are ioco, uioco"]);
}

#[test]
fn a_trace_may_say_that_its_inputs_were_only_sent() {
    let model = "model M { input stop output tick output stopped
        state run { emit tick  on stop -> s } state s { emit stopped -> e } state e {} }";
    let folder = Folder::new(model, "");
    fs::write(
        folder.path().join("t.jsonl"),
        "{\"label\": \"stop\"}\n{\"label\": \"tick\"}\n{\"label\": \"stopped\"}\n",
    )
    .expect("a trace");
    folder.ioxide(&["judge", "m.iox", "t.jsonl", "--solver", "none"]).check(1, &["FAIL at step 2"]);
    folder.ioxide(&["judge", "m.iox", "t.jsonl", "--solver", "none", "--in-flight"]).check(0, &["PASS"]);
}

/// Another system with the messages of [`MANY`]: what it says is forbidden, if anybody could know.
const WRONG: &str = "model Wrong { input go output out(n: int)
    state s { on go -> t } state t { emit out(n: 999) -> u } state u {} }
";

/// Defect: a belief that was cut gave exit code 0.
#[test]
fn a_campaign_that_lost_track_is_no_success() {
    let folder = Folder::new(MANY, "");
    fs::write(folder.path().join("wrong.iox"), WRONG).expect("a model");
    let args = ["test", "m.iox", "--sut", "model:wrong.iox", "--seed", "1", "--runs", "1", "--tester"];
    let cover = folder.ioxide(&[&args[..], &["cover", "--solver", "none"]].concat());
    cover.check(5, &["1 inconclusive"]);
    assert!(!cover.text.contains("passed"), "{}", cover.text);
}

/// Eight times as many states with every step.
fn growing() -> String {
    let ways: String = (0..8).map(|n| format!("w{n}: on tick {{ a = a * 8 + {n} }}\n")).collect();
    format!(
        "model Grow {{ input tick output out(n: int) var a: int = 0\n state s {{ {ways} tell: emit out(n: a) }} }}"
    )
}

/// Defect: beliefs grew without bound over visible steps.
#[test]
fn a_belief_that_grows_with_every_step_is_bounded() {
    let folder = Folder::new(&growing(), "");
    let trace = "{\"label\": \"tick\"}\n".repeat(6) + "{\"label\": \"out\", \"args\": {\"n\": -1}}\n";
    fs::write(folder.path().join("t.jsonl"), trace).expect("a trace");
    let judged = folder.ioxide(&["judge", "m.iox", "t.jsonl", "--solver", "none"]);
    judged.check(5, &["INCONCLUSIVE: unknown from step 7 on", "more than 100000 states"]);
}

/// A model whose switches need a solver to know whether they can be taken.
const OPEN: &str = "model Open { input a(x: int, y: int) output b var k: int
    state s { ask: on a when x * y * x + k * k * k == 7 * y + 3 && x > y -> t }
    state t { tell: emit b when k * k * k + 3 * k == 7 * k * k - 5 -> u } state u {} }
";

/// Defect: without a solver an open question became a pass, and what nobody reached counted as covered.
#[test]
fn open_questions_are_neither_passes_nor_coverage() {
    let folder = Folder::new(OPEN, "");
    let trace = "{\"label\": \"a\", \"args\": {\"x\": 5, \"y\": 3}}\n{\"label\": \"b\"}\n";
    fs::write(folder.path().join("t.jsonl"), trace).expect("a trace");
    let judged = folder.ioxide(&["judge", "m.iox", "t.jsonl", "--solver", "none"]);
    judged.check(5, &["INCONCLUSIVE", "questions open"]);
    let purposes = folder.ioxide(&["purposes", "m.iox", "--solver", "none"]);
    purposes.check(5, &["in doubt", "0 of 2 transitions covered"]);
    let args = ["test", "m.iox", "--sut", "model:m.iox", "--seed", "1", "--runs", "2", "--tester", "cover"];
    let tested = folder.ioxide(&[&args[..], &["--solver", "none"]].concat());
    tested.check(5, &["purposes: 0 of"]);
}

/// A switch that cannot be reached is proved to be so, not covered: with a proof the goals are met.
#[test]
fn what_cannot_be_reached_is_told_and_not_covered() {
    let folder = Folder::new(
        "model M { input a output b output c var n: int = 0
        state s { on a -> t } state t { emit b -> s  never: emit c when n > 0 -> s } }",
        "",
    );
    let args = ["test", "m.iox", "--sut", "model:m.iox", "--seed", "1", "--tester", "cover"];
    let tested = folder.ioxide(&args);
    tested.check(0, &["their runs covered 2 of 3 transitions", "`never`: proved unreachable"]);
}
