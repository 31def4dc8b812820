//! The front end is total: whatever the text, an answer, soon, and no panic.

use std::time::Duration;

use crate::common::{self, grammar, load_text};
use ioxide_lang::{channel, format, through};
use ioxide_model::code::Code;
use ioxide_model::source::Sources;
use ioxide_model::sts::Model;
use ioxide_test_support::{WorkClock, test_count};
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::TestRunner;

const EXTENSIONS: [&str; 5] = ["iox", "as", "dot", "xml", "txs"];

/// Loads `text` as every kind of model and formats it; both must end without panic.
fn survives(text: &str) {
    for extension in EXTENSIONS {
        let (_, loaded) = load_text(&format!("m.{extension}"), text);
        assert_eq!(loaded.model.is_none(), loaded.has_errors(), "{extension}: {text}");
    }
    let mut sources = Sources::new();
    let file = sources.add("m.iox", text);
    if let Ok(once) = format(&sources, file) {
        let again = sources.add("m.iox", once.clone());
        assert_eq!(format(&sources, again), Ok(once), "formatting again changes {text:?}");
    }
}

/// Looks at the model of `text`, if it is one, through channels: there is a system, or a reason why not.
fn seen_through_channels(text: &str) {
    let Some(model) = load_text("m.iox", text).1.model else { return };
    for typed in ["fifo(capacity: 2)", "bag(capacity: 2, may_lose: true)", "fifo(max_delay: 1s)"] {
        let channel = channel(typed).expect("a channel");
        if let Ok(seen) = through(&model, &channel) {
            // What the tester sees is what it saw before, whatever it is called.
            let names = |model: &Model| -> Vec<_> {
                let gates = model.sts.gates.iter().skip(1);
                let mut names: Vec<_> = gates.map(|gate| (gate.name.clone(), gate.kind)).collect();
                names.sort_by(|a, b| a.0.cmp(&b.0));
                names
            };
            assert_eq!(names(&seen), names(&model), "{typed}: {text}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: test_count("IOXIDE_TEXTS", 100, 400) as u32,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn any_bytes_give_an_answer(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        survives(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn any_words_give_an_answer(text in grammar::soup()) {
        survives(&text);
        survives(&format!("model M {{ {text} }}"));
    }

    #[test]
    fn any_mostly_good_model_gives_an_answer(text in grammar::model()) {
        survives(&text);
    }

    #[test]
    fn any_mostly_good_action_system_gives_an_answer(
        text in grammar::action_system(), at in 0usize..900, cut in 0usize..9,
    ) {
        survives(&text);
        let (from, to) = (floor(&text, at), floor(&text, at + cut));
        survives(&format!("{}{}", &text[..from], &text[to..]));
    }

    #[test]
    fn any_mostly_good_system_gives_an_answer(text in grammar::system()) {
        survives(&text);
        seen_through_channels(&text);
    }

    #[test]
    fn any_mostly_good_model_is_seen_through_a_channel(text in grammar::model()) {
        seen_through_channels(&text);
    }

    #[test]
    fn a_broken_example_gives_an_answer(at in 0usize..4000, cut in 0usize..60, which in 0usize..64) {
        let paths = common::files("examples", &["iox", "as", "dot"]);
        let path = &paths[which % paths.len()];
        let text = std::fs::read_to_string(path).expect("an example");
        let (from, to) = (floor(&text, at), floor(&text, at + cut));
        survives(&format!("{}{}", &text[..from], &text[to..]));
    }
}

#[test]
fn many_random_systems_are_models() {
    let mut runner = TestRunner::deterministic();
    let texts = (0..200).map(|_| grammar::system().new_tree(&mut runner).expect("a system").current());
    let n_models = texts.filter(|text| load_text("m.iox", text).1.model.is_some()).count();
    assert!((30..190).contains(&n_models), "{n_models} of 200 systems are in order");
}

/// The nearest character boundary not above `at`.
fn floor(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// Loads `text` within twenty seconds of work and returns the codes of its findings.
#[track_caller]
fn codes(name: &str, text: &str) -> Vec<Code> {
    let start = WorkClock::start();
    let (_, loaded) = load_text(name, text);
    let took = start.elapsed();
    assert!(took < Duration::from_secs(20), "{} bytes took {took:?}", text.len());
    loaded.diagnostics.iter().map(|diagnostic| diagnostic.code).collect()
}

fn in_guard(expr: &str) -> String {
    format!("model M {{ input i(p: int) state s {{ on i when {expr} }} }}")
}

#[test]
fn ten_thousand_levels_give_a_limit_error() {
    let n = 10_000;
    for text in [
        in_guard(&format!("{}1{} == 1", "(".repeat(n), ")".repeat(n))),
        in_guard(&"(".repeat(n)),
        in_guard(&format!("{}true", "!".repeat(n))),
        in_guard(&format!("0 == {}p", "-".repeat(n))),
        in_guard(&format!("{}true{}", "if true then ".repeat(n), " else false".repeat(n))),
        in_guard(&format!("{}true", "exists i in 0..1: ".repeat(n))),
        in_guard(&"exists i in ".repeat(n)),
        in_guard(&format!("p{}", ".x".repeat(n))),
        in_guard(&format!("{}p{}", "some(".repeat(n), ")".repeat(n))),
        in_guard(&format!("{}p{} == 0", "f(".repeat(n), ")".repeat(n))),
        in_guard(&"match ".repeat(n)),
        format!("model M {{ var x: int{} }}", "?".repeat(n)),
    ] {
        let found = codes("m.iox", &text);
        assert!(found.contains(&Code::NestingTooDeep), "{}...: {found:?}", &text[..80]);
    }
    assert!(!codes("m.iox", &"{".repeat(n)).is_empty());
    assert!(!codes("m.iox", &format!("model M {{ {}", "state s { ".repeat(n))).is_empty());
    assert!(!codes("m.xml", &format!("{}{}", "<a>".repeat(n), "</a>".repeat(n))).is_empty());
    assert!(!codes("m.dot", &format!("digraph g {{ {}", "subgraph {".repeat(n))).is_empty());
    assert!(!codes("m.as", &format!("def M {{ types {{ T = {}", "[".repeat(n))).is_empty());
    let nested = |open: &str, close: &str| {
        let (open, close) = (open.repeat(n), close.repeat(n));
        format!(
            "def M {{ state {{ x: int }} init {{ x := 0 }} actions {{ ?i() if True then {{ {open} x := 1 \
             {close} }} }} }}"
        )
    };
    for text in [
        nested("{ ", "} "),
        nested("if True then { ", "} "),
        nested("for i in 1..1 { ", "} "),
        nested("if True then { ", ""),
    ] {
        let found = codes("m.as", &text);
        assert!(found.contains(&Code::NestingTooDeep), "{}...: {found:?}", &text[..80]);
    }
}

#[test]
fn the_deepest_expressions_that_are_allowed_do_not_overflow() {
    // Every level of the grammar once per bracket.
    let deep = (0..110).fold("p".to_owned(), |e, _| format!("-(1 * 2 + {e}).x"));
    assert!(!codes("m.iox", &in_guard(&deep)).is_empty());
    let deep = (0..60).fold("true".to_owned(), |e, _| {
        format!("!(true => false || true && (1 == 1) == (0 < 1 + 2 * {{}}{e}))")
    });
    assert!(!codes("m.iox", &in_guard(&deep)).is_empty());
    let deep = (0..60).fold("true".to_owned(), |e, _| format!("!(true => false || true && {e})"));
    assert_eq!(codes("m.iox", &in_guard(&deep)), []);
    let (open, close) = ("if True then { ".repeat(30), "} ".repeat(30));
    let text = format!(
        "def M {{ state {{ x: Bool }} init {{ x := True }} actions {{ ?i() if True then {{ {open} x := {deep} \
         {close} }} }} }}"
    );
    assert_eq!(codes("m.as", &text), []);
}

#[test]
fn long_chains_are_not_deep() {
    let n = 200_000;
    assert_eq!(codes("m.iox", &in_guard(&format!("p{} == 0", " + 1".repeat(n)))), []);
    assert_eq!(codes("m.iox", &in_guard(&format!("p > 0{}", " && p != 3".repeat(n)))), []);
    assert_eq!(codes("m.iox", &in_guard(&format!("p{} == 0", " * 1".repeat(n)))), []);
    assert_eq!(codes("m.iox", &in_guard(&format!("0{}", " <= p".repeat(n)))), []);
    let chain: String = (0..20_000).map(|i| format!("if p == {i} then {} else ", i + 1)).collect();
    assert_eq!(codes("m.iox", &in_guard(&format!("({chain}0) > 3"))), []);
    let constants: String = (1..50_000).rev().map(|i| format!("const C{i} = C{} + 1\n", i - 1)).collect();
    let text =
        format!("model M {{ {constants} const C0 = 0 input i(p: int) state s {{ on i(p: C49999) }} }}");
    assert_eq!(codes("m.iox", &text), []);
    let records: String =
        (1..50_000).rev().map(|i| format!("record R{i} {{ x: R{}, y: R{0} }}\n", i - 1)).collect();
    let text = format!("model M {{ {records} record R0 {{ z: int }} var r: R49999 }}");
    assert!(codes("m.iox", &text).contains(&Code::NestingTooDeep));
}

#[test]
fn ten_megabytes_are_answered_quickly() {
    let state = |i: usize| {
        format!(
            "    state s{i} {{\n        \
             r{i}: on add when 1 <= p <= {i} && x + p < {i} {{ x = x + p }} -> s{}\n    }}\n",
            i / 2
        )
    };
    let body: String = (0..105_000).map(state).collect();
    let text = format!("model Big {{\n    input add(p: int)\n    var x: int = 0\n{body}}}\n");
    assert!(text.len() > 10_000_000, "{}", text.len());
    // All but the first states are unreachable; nothing is an error.
    let found = codes("m.iox", &text);
    assert!(found.iter().all(|&code| code == Code::UnreachableState), "{:?}", found.first());

    let wrong = text.replace("p < ", "q < ").replace("-> s", "-> t");
    let found = codes("m.iox", &wrong);
    assert_eq!(found.len(), 101, "errors are limited");
    assert_eq!(found.last(), Some(&Code::TooManyErrors));
}

#[test]
fn junk_without_end_is_answered_quickly() {
    for junk in
        ["€", "model M { ", "var x: int\n", "on on on ", "/// x\n", "\"", "(", "{", "} ", "0", "x ", "@"]
    {
        let text = format!("model M {{\n{}", junk.repeat(200_000));
        assert!(!codes("m.iox", &text).is_empty(), "{junk}");
        assert!(!codes("m.iox", &junk.repeat(20_000)).is_empty(), "{junk}");
    }
    for (front, junk, back) in [
        ("model M {\ntest \"x\" {\n", "/// x\n", ""),
        ("system S {\n", "/// x\n", ""),
        ("", "model M {\n", "system S {\n}\n"),
    ] {
        assert!(!codes("m.iox", &format!("{front}{}{back}", junk.repeat(200_000))).is_empty(), "{junk}");
    }
}

#[test]
fn terms_with_shared_parts_are_not_written_out() {
    let functions: String =
        (1..60).map(|i| format!("fn f{i}(x: int) -> int = f{}(x) * f{0}(x + 1) + {i}\n", i - 1)).collect();
    let text = format!(
        "model M {{ fn f0(x: int) -> int = x {functions} input i(p: int) state s {{ on i when f59(p) == 0 }} }}"
    );
    codes("m.iox", &text);
    let text = text.replace("f59(p) == 0", "f59(p) == true");
    codes("m.iox", &text);
}

#[test]
fn copies_of_any_transitions_are_limited() {
    let states: String = (0..2_000).map(|i| format!("state s{i} {{}}\n")).collect();
    let all: String = (0..2_000).map(|i| format!("a{i}: on i -> s{i}\n")).collect();
    let text = format!("model M {{ input i {states} any {{ {all} }} }}");
    assert!(codes("m.iox", &text).contains(&Code::TooManySwitches));
}

#[test]
fn wide_declarations_are_not_quadratic() {
    let n = 30_000;
    let list = |part: &dyn Fn(usize) -> String, sep: &str| (0..n).map(part).collect::<Vec<_>>().join(sep);
    let variants = list(&|i| format!("v{i}"), ", ");
    let arms = list(&|i| format!("v{i} => {i}"), ", ");
    let text = format!(
        "model M {{ enum E {{ {variants} }} input i(e: E, n: int) state s {{ on i(n: match e {{ {arms} }}) }} }}"
    );
    assert_eq!(codes("m.iox", &text), []);

    let options = list(&|i| format!("enum E{i} {{ w{i} }} input i{i}(o: E{i}?)"), "\n");
    let uses = list(&|i| format!("on i{i} when o == some(w{i})"), "\n");
    assert_eq!(codes("m.iox", &format!("model M {{ {options} state s {{ {uses} }} }}")), []);

    let params = list(&|i| format!("p{i}: int"), ", ");
    let sum = list(&|i| format!("p{i}"), " + ");
    let text = format!(
        "model M {{ fn f({params}) -> int = {sum} input i({params}) state s {{ on i when f({}) == 0 }} }}",
        sum.replace(" + ", ", ")
    );
    assert_eq!(codes("m.iox", &text), []);

    let checks = list(&|i| format!("small(n + {i})"), " && ");
    let chain = list(&|i| format!("if n == {i} then some(n + {i}) else"), " ");
    let text = format!(
        "model M {{ type S = 0..9 fn small(s: S) -> bool = s > 3 input i(n: int) var o: S? = none
         state s {{ on i when {checks} on i {{ o = {chain} none }} on i when o != none }} }}"
    );
    assert_eq!(codes("m.iox", &text), []);

    let (vars, inits) = (list(&|i| format!("v{i}: S"), " "), list(&|i| format!("v{i} := 0"), " "));
    let text = format!(
        "def M {{ types {{ S = [0..3] }} state {{ {vars} }} init {{ {inits} }} actions {{ ?i() if v0 == 0 \
         then {{ {inits} }} }} }}"
    );
    assert_eq!(codes("m.as", &text), []);
}
