//! What is not known is never called a pass.

use std::fs;

use crate::Folder;

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
    judged.check(5, &["INCONCLUSIVE: unknown from step 2 on, because the specification may be in more than"]);
    let json = folder.ioxide(&["judge", "m.iox", "t.jsonl", "--solver", "none", "--json"]);
    json.check(5, &["\"verdict\":\"inconclusive\"", "\"unknown_from\":2"]);
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
    judge("uioco").check(0, &["does not mention the input at step 1"]);
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
