//! Models that are sequential or not, and the parts that are found.

use super::models::{BAG, REGISTER, example, history, judge, refusal};
use ioxide_history::{HistoryConfig, PartitionObstacle};

#[test]
fn models_that_answer_every_input_once_are_sequential() {
    assert_eq!((refusal(REGISTER), refusal(BAG)), (None, None));
    // One location, and the phase in a variable.
    let one = "model O { input ask(n: 0..3) output tell(n: 0..3) var busy: bool = false var k: 0..3 = 0
        state s { on ask when !busy { k = n, busy = true } emit tell(n: k) when busy { busy = false } } }";
    assert_eq!(refusal(one), None);
}

#[test]
fn the_transition_that_breaks_the_rule_is_named() {
    let found = |text: &str| refusal(text).unwrap_or_default();
    let two = "model M { input a output x output y state s { on a -> t } state t { emit x -> u } state u { \
               late: emit y -> s } }";
    assert_eq!(
        found(two),
        "transition `late` from `u`: this output can follow the answer, so an input has two answers"
    );
    let none = "model M { input a output x state s { ask: on a -> t } state t { } }";
    assert_eq!(found(none), "transition `ask` from `s`: after this input there may be no output");
    let sometimes = "model M { input a(n: 0..3) output x var k: 0..3 = 0 state s { ask: on a { k = n } -> t } \
                     state t { emit x when k > 0 -> s } }";
    assert_eq!(found(sometimes), "transition `ask` from `s`: after this input there may be no output");
    let busy = "model M { input a output x state s { on a -> t } state t { again: on a -> t emit x -> s } }";
    assert_eq!(
        found(busy),
        "transition `again` from `t`: this input is accepted before the previous input was answered"
    );
    let first = "model M { output x state s { hello: emit x -> s } }";
    assert_eq!(found(first), "transition `hello` from `s`: this output can come without an input");
    let timed =
        "model M { input a output x clock c state s { on a -> t } state t { emit x when c < 1.0 -> s } }";
    assert_eq!(found(timed), "the model has clocks");
}

#[test]
fn parts_are_found_by_key_and_by_variable() {
    let store = example("store.iox");
    let judged = judge(&store, &history(&store, ""), &HistoryConfig::default());
    assert_eq!(judged.partition.obstacle, None);
    let two = super::models::model(
        "model T { input a(n: 0..1) input b(n: 0..1) output va(n: 0..1) output vb(n: 0..1) var x: 0..1 = 0 \
         var y: 0..1 = 0
        state s { on a -> ta on b -> tb } state ta { emit va(n: x) { x = 1 - x } -> s } state tb { emit vb(n: \
         y) { y = 1 - y } -> s } }",
    );
    let lines = "1 call a 1\n2 call b 0\n1 return va 0\n2 return vb 0";
    assert_eq!(judge(&two, &history(&two, lines), &HistoryConfig::default()).parts, 2);
}

#[test]
fn a_size_of_the_map_or_a_second_key_prevents_parts() {
    let store = |extra: &str| {
        super::models::model(&format!(
            "model S {{ input put(k: 0..3, v: 0..3) input get(k: 0..3) input both(k: 0..3, l: 0..3) input size
            output ok output got(v: 0..3) output n(v: int) var m: map<0..3, 0..3> = {{}} var w: 0..3 = 0
            state s {{ on put {{ m[k] = v }} -> done on get {{ w = k }} -> tell {extra} }}
            state done {{ emit ok -> s }} state tell {{ emit got(v: if m.has(w) then m[w] else 0) -> s }}
            state count {{ emit n(v: m.size()) -> s }} }}"
        ))
    };
    let obstacle = |extra: &str| {
        let model = store(extra);
        judge(&model, &history(&model, ""), &HistoryConfig::default()).partition.obstacle
    };
    let rest = "on size -> done on both -> done";
    assert_eq!(obstacle(rest), None);
    let shared = Some(PartitionObstacle::Shared(vec!["m".into()]));
    assert_eq!(obstacle("on size -> count on both -> done"), shared);
    assert_eq!(obstacle("on size -> done on both { m[k] = 1 } -> done"), None);
    assert_eq!(obstacle("on size -> done on both { m = m.with(k, 1).with(l, 2) } -> done"), shared);
    assert_eq!(obstacle("on both -> done"), Some(PartitionObstacle::UnspecifiedInputs));
}
