//! Constants are computed within bounds on steps and sizes: a text that asks for more gets a diagnostic, and an end.

use crate::common::{load_text, render};

/// Functions that apply each other twice: the last one applies the first 2^40 times.
fn towers(first: &str, sort: &str) -> String {
    let nested = (1..=40).map(|n| format!("    fn f{n}(x: {sort}) -> {sort} = f{}(f{}(x))\n", n - 1, n - 1));
    format!("    enum Tree {{ leaf, node(l: Tree, r: Tree) }}\n    {first}\n{}", nested.collect::<String>())
}

fn ones(n: usize) -> String {
    vec!["1"; n].join(", ")
}

#[track_caller]
fn check(items: &str, expected: &[&str], says: &str) {
    let text = format!("model M {{\n{items}\n    input a\n    state s {{ t: on a -> s }}\n}}\n");
    let (sources, loaded) = load_text("m.iox", &text);
    let shown = render(&sources, &loaded.diagnostics);
    let errors = loaded.diagnostics.iter().filter(|finding| finding.is_error());
    let codes: Vec<&str> = errors.map(|finding| finding.code.id()).collect();
    assert_eq!(codes, expected, "{text}\n{shown}");
    assert!(shown.contains(says), "{shown}");
}

#[test]
fn a_function_that_may_not_end_is_not_computed() {
    check("    fn s(x: int) -> int = s(x * x)\n    const H = s(9)", &["E0316"], "may not end");
    check(
        "    fn s(x: int, n: int) -> int = if n == 0 then x else s(x * x, n - 1)\n    const H = s(9, 30)",
        &["E0316"],
        "may not end",
    );
    // One that ends is computed, and bounded as other values are.
    check(
        "    fn s(x: int, n: int) -> int = if n <= 0 then x else s(x * x, n - 1)\n    const H = s(9, 30)",
        &["E0314"],
        "too large",
    );
    // Other mistakes in calls of it are still told.
    check(
        "    fn s(x: int) -> int = s(x * x)\n    const H = s(9, 9)",
        &["E0316", "E0302"],
        "takes 1 argument",
    );
}

#[test]
fn numbers_and_texts_that_double_again_and_again_are_too_large() {
    let squares = towers("fn f0(x: int) -> int = if x > 0 then x * x else 1", "int");
    check(&format!("{squares}    const H = f40(9)"), &["E0314"], "too large");
    let fractions = towers("fn f0(x: real) -> real = if x > 0.5 then x + 1 / x else 1.0", "real");
    check(&format!("{fractions}    const H = f40(9.0)"), &["E0314"], "too large");
    let texts = towers("fn f0(x: string) -> string = if x == \"q\" then \"\" else x + x", "string");
    check(&format!("{texts}    const H = f40(\"abc\")"), &["E0314"], "too large");
    let lists = towers("fn f0(x: list<int>) -> list<int> = x + x", "list<int>");
    check(&format!("{lists}    const H = f40([1, 2])"), &["E0314"], "too large");
}

#[test]
fn data_that_doubles_again_and_again_is_too_large() {
    let trees = towers("fn f0(x: Tree) -> Tree = node(l: x, r: x)", "Tree");
    check(&format!("{trees}    const H = f40(leaf)"), &["E0314"], "too large");
    let list = ones(80);
    check(
        &format!(
            "    enum Tree {{ leaf, node(l: Tree, r: Tree) }}
    fn g(xs: list<int>, t: Tree) -> Tree = match xs {{ [] => t, [a, ..r] => g(r, node(l: t, r: t)) }}
    const H = g([{list}], leaf)"
        ),
        &["E0314"],
        "this value becomes too large",
    );
}

#[test]
fn nested_quantifiers_and_calls_have_a_number_of_steps() {
    check(
        "    const H = exists i in 0..65535: exists j in 0..65535: i * j == -1",
        &["E0314"],
        "takes more than 1048576 steps",
    );
    // One quantifier is within the bound.
    check("    const H = exists i in 0..65535: i * i == -1", &[], "");
    let list = ones(60);
    let twice = "    fn f(xs: list<int>, n: int) -> int = match xs { [] => n, [a, ..r] => f(r, n + 1) + f(r, \
                 n * 2 + a) }";
    check(&format!("{twice}\n    const H = f([{list}], 1)"), &["E0314"], "takes more than 1048576 steps");
    check(&format!("{twice}\n    const H = f([1, 1, 1, 1], 1)"), &[], "");
}

/// The same where the items are not known: the calls stay in the guard.
#[test]
fn calls_are_unfolded_a_bounded_number_of_times() {
    let items = vec!["v"; 60].join(", ");
    let text = format!(
        "model M {{
    fn f(xs: list<int>, n: int) -> int = match xs {{ [] => n, [a, ..r] => f(r, n + 1) + f(r, n * 2 + a) }}
    var v: int = 0
    input a(x: 0..3)
    state p {{ t: on a when f([{items}], v) > x -> p }}
}}
"
    );
    let (_, loaded) = load_text("m.iox", &text);
    // Whether such a guard is accepted is no promise; that there is an end is.
    assert!(loaded.model.is_some() || loaded.diagnostics.iter().any(|finding| finding.is_error()));
}
