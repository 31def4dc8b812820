//! Random texts: words in no order, and models that are mostly well formed.
#![allow(dead_code, clippy::allow_attributes, reason = "each test program uses a part of this")]

use proptest::prelude::*;

/// Words that make texts which get far into the front end.
const WORDS: &[&str] = &[
    "model",
    "M",
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    "input",
    "observed",
    "output",
    "var",
    "clock",
    "const",
    "type",
    "enum",
    "record",
    "fn",
    "state",
    "any",
    "on",
    "emit",
    "internal",
    "when",
    "->",
    "=",
    "==",
    "!=",
    "<",
    "<=",
    ">",
    ">=",
    "+",
    "-",
    "*",
    "/",
    "%",
    "&&",
    "||",
    "=>",
    "!",
    ":",
    ",",
    ";",
    ".",
    "..",
    "..=",
    "?",
    "@",
    "req",
    "weight",
    "purpose",
    "reach",
    "always",
    "sometimes",
    "test",
    "\"s\"",
    "send",
    "expect",
    "quiet",
    "reset",
    "if",
    "then",
    "else",
    "match",
    "exists",
    "forall",
    "in",
    "true",
    "false",
    "none",
    "some",
    "int",
    "bool",
    "real",
    "string",
    "x",
    "y",
    "a",
    "b",
    "_",
    "0",
    "1",
    "2.5",
    "3s",
    "// c\n",
    "/// d\n",
    "\n",
    "def",
    "types",
    "init",
    "actions",
    "constants",
    "functions",
    ":=",
    "[]",
    "let",
    "for",
    "swap:",
    "1..3",
    "|",
    "digraph",
    "label",
];

/// Words in no order.
pub fn soup() -> impl Strategy<Value = String> {
    proptest::collection::vec(proptest::sample::select(WORDS), 0..120).prop_map(|words| words.join(" "))
}

/// A model with random expressions and transitions in it: mostly well formed.
pub fn model() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        expr().prop_map(|e| format!("    const C = {e}\n")),
        (expr(), expr())
            .prop_map(|(g, v)| format!("    state s {{ on i(p: {v}) when {g} {{ x = {v} }} -> s }}\n")),
        (expr(), expr())
            .prop_map(|(a, b)| format!("    fn f(q: int, o: int?) -> int = if {a} then {b} else q\n")),
        expr().prop_map(|e| format!("    always {e}\n")),
        expr().prop_map(|e| format!("    type T = {e}..{e}\n")),
        expr().prop_map(|e| format!(
            "    // about it\n    test \"t\" {{ send i(p: {e}); quiet {e} // why\n }}\n"
        )),
        expr().prop_map(|e| format!("    purpose q: reach s when {e}\n")),
        Just("    enum E { a, b }\n".to_owned()),
        Just("    record R { f: int, g: int? }\n".to_owned()),
    ];
    proptest::collection::vec(part, 0..8).prop_map(|parts| {
        format!("model M {{\n    input i(p: int)\n    var x: int = 0\n    clock w\n{}}}\n", parts.concat())
    })
}

/// An action system whose bodies have random statements in them: mostly well formed.
pub fn action_system() -> impl Strategy<Value = String> {
    let action =
        (expr(), statements()).prop_map(|(guard, body)| format!("?i(p: int) if {guard} then {body}\n"));
    let other = (expr(), statements()).prop_map(|(guard, body)| format!("tick() if {guard} then {body}\n"));
    proptest::collection::vec(prop_oneof![action, other], 0..4).prop_map(|actions| {
        let actions = actions.concat();
        format!(
            "def M {{\nconstants {{ C = 3 }}\nfunctions {{ fn f(q: int, o: int) -> int = q }}\n\
             state {{ x: int  a: Bool  xs: list<int> }}\n\
             init {{ x := 0  a := True  xs := [] }}\nactions {{\n{actions}}}\n}}\n"
        )
    })
}

/// The models of [`system`].
const PART_MODELS: &str = "model Both {
    const N = 2
    input go
    output x(v: 0..N)
    output y(v: bool, w: int)
    state s { on go -> t }
    state t {
        emit x -> s
        emit y -> s
    }
}
model Sends {
    const N = 2
    output x(v: 0..N)
    output y
    state s {
        emit x -> s
        emit y -> s
    }
}
model Hears {
    const N = 2
    input go(v: 0..N)
    input out
    var k: int = 0
    state unspecified { on go { k = v } -> unspecified }
}
";

/// Models, and a system with parts, connections, channels and exposed messages of them: mostly well formed.
pub fn system() -> impl Strategy<Value = String> {
    let name = || proptest::sample::select(&["m", "x", "go"]);
    let port = || {
        proptest::sample::select(&[
            "a.go",
            "a.x",
            "a.y",
            "chaos.x",
            "chaos.y",
            "model.go",
            "model.out",
            "to.x",
            "a[1].x",
        ])
    };
    let model = || proptest::sample::select(&["Both", "Sends", "Hears"]);
    let part = move |name: &'static str, usual: &'static str| {
        prop_oneof![
            6 => Just(format!("{name}: {usual}")),
            2 => (1..3, 0..4).prop_map(move |(n, d)| format!("{name}[i in 1..{n}]: {usual}(N: {d} + i)")),
            1 => (number(), number()).prop_map(move |(lo, hi)| format!("{name}[i in {lo}..{hi}]: {usual}")),
            1 => model().prop_map(move |model| format!("{name}: {model}")),
        ]
    };
    let item = prop_oneof![
        1 => number().prop_map(|n| format!("const C = {n}")),
        1 => proptest::sample::select(&["a.x -> model.go", "a[i].x -> model.go(v: 1)", "chaos.x -> model.go"])
            .prop_map(str::to_owned),
        1 => (port(), port()).prop_map(|(from, to)| format!("{from} -> {to}")),
        1 => number().prop_map(|n| format!("net: fifo(capacity: {n}) between a and model")),
        1 => port().prop_map(|port| format!("hide {port}")),
        4 => (port(), name()).prop_map(|(port, name)| format!("expose {port} as {name}")),
    ];
    let parts = (part("a", "Both"), part("chaos", "Sends"), part("model", "Hears"));
    (parts, proptest::collection::vec(item, 0..5)).prop_map(|((a, chaos, model), items)| {
        let items: String = items.iter().map(|item| format!("    {item}\n")).collect();
        format!("{PART_MODELS}system S {{\n    {a}\n    {chaos}\n    {model}\n{items}}}\n")
    })
}

/// Constant numbers of a system, some of them large.
fn number() -> impl Strategy<Value = String> {
    let leaf = proptest::sample::select(&["0", "1", "2", "1_0", "C", "i", "9223372036854775807"]);
    leaf.prop_map(str::to_owned).prop_recursive(5, 12, 2, |inner| {
        let sign = proptest::sample::select(&["+", "-", "*", "/", "%"]);
        prop_oneof![
            (inner.clone(), sign, inner.clone()).prop_map(|(a, sign, b)| format!("({a} {sign} {b})")),
            inner.prop_map(|a| format!("-({a})")),
        ]
    })
}

/// A block of statements.
fn statements() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        expr().prop_map(|e| format!("x := {e} ")),
        expr().prop_map(|e| format!("xs[0] := {e}, x := {e} ")),
        expr().prop_map(|e| format!("let l = {e} ")),
        expr().prop_map(|e| format!("var v: int := {e} ")),
        Just("v := l then x := v ".to_owned()),
        Just("{ } ".to_owned()),
    ];
    let block = |parts: Vec<String>| format!("{{ {}}} ", parts.concat());
    let blocks = leaf.prop_recursive(4, 40, 4, move |inner| {
        let body = || proptest::collection::vec(inner.clone(), 0..4).prop_map(block);
        prop_oneof![
            (body(), body()).prop_map(|(one, other)| format!("{one}[] {other}")),
            (expr(), body(), body()).prop_map(|(c, one, other)| format!(
                "slow: when {c} {one}[] when let some(y) = xs.first() {other}"
            )),
            (expr(), body(), body()).prop_map(|(c, one, other)| format!("if {c} then {one}else {other}")),
            (expr(), body()).prop_map(|(c, one)| format!("if {c} then {one}then ")),
            body().prop_map(|one| format!("for i in 1..3 {one}")),
            (expr(), body()).prop_map(|(e, one)| format!("for y in [x, {e}] {one}")),
            body().prop_map(|one| format!("for y in xs {one}")),
        ]
    });
    proptest::collection::vec(blocks, 0..4).prop_map(block)
}

fn expr() -> impl Strategy<Value = String> {
    let leaf = proptest::sample::select(&[
        "x", "p", "w", "0", "1", "2.5", "true", "none", "\"s\"", "C", "q", "o", "a",
    ]);
    leaf.prop_map(str::to_owned).prop_recursive(5, 40, 3, |inner| {
        let sign =
            proptest::sample::select(&["+", "-", "*", "/", "%", "==", "<", "<=", "&&", "||", "=>", "!="]);
        prop_oneof![
            (inner.clone(), sign, inner.clone()).prop_map(|(a, s, b)| format!("{a} {s} {b}")),
            inner.clone().prop_map(|a| format!("({a})")),
            inner.clone().prop_map(|a| format!("!{a}")),
            inner.clone().prop_map(|a| format!("-{a}")),
            inner.clone().prop_map(|a| format!("some({a})")),
            inner.clone().prop_map(|a| format!("f({a}, {a})")),
            inner.clone().prop_map(|a| format!("R(f: {a}, g: {a}).f")),
            inner.clone().prop_map(|a| format!("({a}).length()")),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("if {a} then {b} else {a}")),
            (inner.clone(), inner.clone())
                .prop_map(|(a, b)| format!("match {a} {{ none => {b}, some(v) => v, }}")),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("match {a} {{ 0 => {b}, _ => {a} }}")),
            (inner.clone(), inner).prop_map(|(a, b)| format!("exists i in 0..{a}: i == {b}")),
        ]
    })
}
