//! Tests of the machines read from DOT texts, and of the places where texts are refused.

use ioxide_fsm::read::dot::split_label;
use ioxide_fsm::read::read_dot;

#[track_caller]
fn check(text: &str, initial: &str, rows: &[&str]) {
    let listing = read_dot(text).unwrap();
    assert_eq!(listing.initial, initial);
    let shown: Vec<String> =
        listing.rows.iter().map(|r| format!("{} {}/{} {}", r.from, r.input, r.output, r.to)).collect();
    assert_eq!(shown, rows);
}

#[test]
fn the_start_node_points_at_the_initial_state() {
    check(
        "digraph g {\n__start0 [label=\"\" shape=\"none\"];\n s0 [shape=\"circle\" label=\"s0\"];\n\
         s1 -> s0 [label=\"a / b/c\"]; s0 -> s1[label=\"c/d\"]\n__start0 -> s1;\n}",
        "s1",
        &["s1 a/b/c s0", "s0 c/d s1"],
    );
}

#[test]
fn a_red_node_is_initial_when_nothing_else_is() {
    check(
        "digraph G {\nlabel=\"\"\ns0\ns1 [color=\"red\"]\ns0 [label=\"s0\"];\n/* x */ s0 -> s1[label=\"a/0\"] // y\n}",
        "s1",
        &["s0 a/0 s1"],
    );
    check("digraph { a -> b [label=\"x/0\"] # end\n}", "a", &["a x/0 b"]);
}

#[test]
fn names_strings_comments_and_attributes_are_those_of_graphviz() {
    check(
        "digraph { node [shape=box]; subgraph cluster_0 { \"s 1\" } \"s 1\" -> \"s\\\"2\" [color=red, label=\"i/o\"] }",
        "s 1",
        &["s 1 i/o s\"2"],
    );
    check("strict Digraph \"x\" { a:n -> b:port:s [label=<i/o>;]; }", "a", &["a i/o b"]);
    check("digraph { \"node\" -> \"edge\" [label=\"i\" + \"/o\"] }", "node", &["node i/o edge"]);
    check("digraph { a -> \"b\\\\\" [label=\"i\\\n/o\"] }", "a", &["a i/o b\\"]);
    check("digraph { -1 -> .5 -> -1 [label=\"i/o\"] }", "-1", &["-1 i/o .5", ".5 i/o -1"]);
    check("# x\ndigraph { /* a -> b */ c -> d // [\n [x=1][label=\"i/o\"]\n# }\n}", "c", &["c i/o d"]);
}

#[test]
fn a_default_label_holds_to_the_end_of_its_braces() {
    check(
        "digraph { edge [label=\"a/0\"] s -> t; { edge [label=\"b/1\", color=blue] t -> s } t -> t }",
        "s",
        &["s a/0 t", "t b/1 s", "t a/0 t"],
    );
}

#[test]
fn a_label_is_split_at_the_first_spaced_slash_or_else_at_the_first() {
    let check = |label: &str, expected: Option<(&str, &str)>| {
        assert_eq!(split_label(label), expected, "{label:?}");
    };
    check("a/0", Some(("a", "0")));
    check(" a / 0 ", Some(("a", "0")));
    check("GET /x / 200", Some(("GET /x", "200")));
    check("a/b/c", Some(("a", "b/c")));
    check("a / b / c", Some(("a", "b / c")));
    check("a", None);
    check("a /", None);
    check("/ 0", None);
}

#[test]
fn errors_name_the_place_and_help() {
    let check = |text: &str, place: &str, message: &str| {
        let error = read_dot(text).unwrap_err();
        assert_eq!(error.to_string(), message);
        assert_eq!(&text[error.place], place, "{message}");
    };
    check(
        "digraph {\na -> b [label=\"x\"]\n}",
        "\"x\"",
        "line 2: `x` is not `input / output` (help: write `label=\"input / output\"`)",
    );
    check(
        "digraph {\na -> b [color=red]\n}",
        "a -> b [color=red]",
        "line 2: this edge has no label (help: write `label=\"input / output\"`)",
    );
    check(
        "graph { }",
        "graph",
        "line 1: expected `digraph`, found `graph` (help: a machine starts with `digraph g {`)",
    );
    check(
        "digraph {\n \"a",
        "\"a",
        "line 2: expected a node, an edge or `}`, found a string that does not end",
    );
    check("digraph { a -> }", "}", "line 1: expected a node, found `}`");
    check(
        "digraph {\n a [label=\"x\"",
        "",
        "line 2: expected `]` or an attribute, found the end of the text",
    );
    check(
        "digraph { a -- b }",
        "--",
        "line 1: expected `->`, found `--` (help: transitions have a direction: write `s0 -> s1`)",
    );
    check(
        "digraph {\n__start0 -> q;\n s0\n}",
        "q",
        "line 2: initial state `q` has no transition (help: lead the arrow to a state that edges name)",
    );
    check(
        "digraph { a b __start0 -> a; __start1 -> b }",
        "b",
        "line 1: a second initial state, `b`; the first is `a` \
         (help: a machine starts in one state: remove one of the arrows from `__start`)",
    );
    check(
        "digraph { s } digraph { t }",
        "digraph",
        "line 1: expected the end of the text, found `digraph` (help: a file holds one graph)",
    );
    check(
        "digraph { }",
        "",
        "line 1: the graph has no state (help: write edges like `s0 -> s1 [label=\"in / out\"];`)",
    );
}
