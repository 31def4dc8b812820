//! One mistake is told once: what could not be made because of it is silent, and never a model.

use crate::common::{load_text, render};
use ioxide_model::diag::Diagnostic;

#[track_caller]
fn check(name: &str, text: &str, expected: &[&str]) {
    let (sources, loaded) = load_text(name, text);
    let shown = render(&sources, &loaded.diagnostics);
    let errors = loaded.diagnostics.iter().filter(|finding| finding.is_error());
    let codes: Vec<&str> = errors.map(|finding: &Diagnostic| finding.code.id()).collect();
    assert_eq!(codes, expected, "{text}\n{shown}");
    assert!(loaded.model.is_none(), "{text}");
}

#[test]
fn a_label_whose_transition_is_wrong_is_no_other_transition() {
    check(
        "m.iox",
        "model M {
            input a output b
            state s { x: on a when nope -> t }
            state t { y: emit b -> s }
            purpose p: x, y
        }",
        &["E0201"],
    );
    check(
        "m.iox",
        "model M {
            input a output b
            state s { x: on a when ) -> t }
            state t { y: emit b -> s }
            purpose p: x, y
        }",
        &["E0101"],
    );
    check(
        "m.iox",
        "model M {
            input a output b
            state s { y: emit b -> t }
            state t { on a -> s }
            any { x: on a when nope -> s }
            purpose p: y, x
        }",
        &["E0201"],
    );
}

#[test]
fn what_has_an_error_is_read_in_silence() {
    // A constant, a type, an enum and a function, and those who use them.
    check(
        "m.iox",
        "model M { const A = nope const B = A + 1 var x: int = B input a on a when x < B }",
        &["E0201"],
    );
    check("m.iox", "model M { type T = nope var x: T input a(t: T) on a when t == x }", &["E0205"]);
    check(
        "m.iox",
        "model M { enum E { one(n: nope), two } var x: int = 0 input a on a when two == two }",
        &["E0205"],
    );
    check("m.iox", "model M { fn f(n: nope) -> int = 1 input a(p: int) on a when f(p) == 1 }", &["E0205"]);
    check("m.iox", "model M { fn f(n: int) -> int = nope input a(p: int) on a when f(p) == 1 }", &["E0201"]);
    // In a circle.
    check("m.iox", "model M { const A = B const B = A input a on a when A == B }", &["E0209"]);
    check("m.iox", "model M { type A = list<A> var x: A input a on a when x.length() == 1 }", &["E0209"]);
    // In front of what cannot be read.
    check("m.iox", "model M { const A = ) input a(p: int) on a when p == A }", &["E0101"]);
}

#[test]
fn a_part_knows_what_its_text_is_excused_for() {
    check(
        "m.iox",
        "model P { const A = ) input a(p: int) on a when p == A }
         system S { one: P }",
        &["E0101"],
    );
    check(
        "m.iox",
        "model P {
             var x int
             input a(p: int)
             on a when p == x { x = 1 }
         }
         system S { one: P two: P }",
        &["E0101"],
    );
}

#[test]
fn an_operand_is_told_once() {
    check("m.iox", "model M { var x: list<int> = [] input a on a { x = [1] + nope } }", &["E0201"]);
    check("m.iox", "model M { input a(p: int) on a when [1] + nope == [p] }", &["E0201"]);
}

#[test]
fn a_word_is_no_proposal_for_itself() {
    let (_, loaded) = load_text("m.iox", "model M { input a\n model N { } }");
    let helps: Vec<&str> = loaded.diagnostics.iter().flat_map(|it| &it.helps).map(String::as_str).collect();
    assert!(
        loaded.has_errors() && !helps.iter().any(|help| help.contains("did you mean `model`?")),
        "{helps:?}"
    );
}

/// A process whose text doubles with every call that is decided at once.
#[test]
fn a_value_that_grows_too_large_is_told_where_it_does() {
    let text = "CHANDEF C ::= In :: Int ; Out :: String ENDDEF
        PROCDEF grow [ In :: Int ; Out :: String ] (n :: Int ; s :: String) ::=
            [[ n > 0 ]] =>> grow [ In, Out ] (n - 1, s ++ s)
         ## [[ n <= 0 ]] =>> Out ! s >-> STOP
        ENDDEF
        MODELDEF M ::= CHAN IN In CHAN OUT Out BEHAVIOUR grow [ In, Out ] (40, \"x\") ENDDEF";
    check("m.txs", text, &["E0314"]);
}

/// The parts of a system in one file, with a state and a test in the first.
const PARTS: &str = "model A {
    input go
    output say
    enum E { one, two }
    state s { on go -> t }
    state t { emit say -> s }
    test \"x\" { send go }
}
/// The other part.
model B {
    input say
    output done
    state s { on say -> t }
    state t { emit done -> s }
}
system S {
    a: A
    b: B
    a.say -> b.say
}
";

/// A brace that is forgotten before another model or the system is one mistake: it is told where the block was opened,
/// and what is proposed mends it.
#[test]
fn a_brace_forgotten_before_another_model_is_told_once() {
    let (_, whole) = load_text("s.iox", PARTS);
    assert!(whole.model.is_some(), "{:?}", whole.diagnostics);
    for (closed, open, opened) in [
        ("send go }\n}\n", "send go }\n", "{\n    input go"),
        ("send go }\n}\n", "send go\n", "{ send go"),
        ("test \"x\" { send go }\n}\n", "", "{\n    input go"),
        ("emit done -> s }\n}\n", "emit done -> s }\n", "{\n    input say"),
        ("emit done -> s }\n}\n", "emit done -> s\n", "{ emit done"),
    ] {
        let text = PARTS.replacen(closed, open, 1);
        let (sources, loaded) = load_text("s.iox", &text);
        let shown = render(&sources, &loaded.diagnostics);
        let errors: Vec<_> = loaded.diagnostics.iter().filter(|finding| finding.is_error()).collect();
        let [error] = errors[..] else { panic!("{text}\n{shown}") };
        assert_eq!(error.code.id(), "E0108", "{shown}");
        assert_eq!(Some(error.span.start as usize), text.find(opened), "{shown}");
        let fix = error.fix.as_ref().expect("a fix");
        let mut mended = text.clone();
        mended.replace_range(fix.span.start as usize..fix.span.end as usize, &fix.replacement);
        let (sources, loaded) = load_text("s.iox", &mended);
        assert!(loaded.model.is_some(), "{mended}\n{}", render(&sources, &loaded.diagnostics));
    }
}

#[test]
fn a_forgotten_bracket_before_another_model_is_told_once() {
    for (closed, open) in [
        (
            "enum E { one, two }\n    state s { on go -> t }\n    state t { emit say -> s }\n    \
             test \"x\" { send go }\n}",
            "enum E { one, two",
        ),
        ("test \"x\" { send go }\n}", "purpose p { state i { on go -> hit"),
        ("on go -> t }\n    state t { emit say -> s }\n    test \"x\" { send go }\n}", "on go(x: 1"),
    ] {
        check("s.iox", &PARTS.replacen(closed, open, 1), &["E0108"]);
    }
    let two = "model A {\n    input go\n    on go\nmodel B {\n    input go\n    on go\n}\n";
    check("m.iox", two, &["E0108"]);
    check(
        "s.iox",
        &PARTS.replacen("b.say\n}\n", "b.say\nmodel C {\n    input go\n    on go\n}\n", 1),
        &["E0108"],
    );
}
