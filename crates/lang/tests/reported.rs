//! One mistake is told once: what could not be made because of it is silent, and never a model.

mod common;

use common::{load_text, render};
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
