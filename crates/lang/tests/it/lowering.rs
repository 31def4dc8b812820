//! The meaning of texts: models shown as the switches they become.

use crate::common::{load_text, render};
use ioxide_model::goal::{GoalKind, ObservedEvent, ObserverTarget, TestStepKind};
use ioxide_model::sts::{GateKind, Model};

fn model(name: &str, text: &str) -> Model {
    let (sources, loaded) = load_text(name, text);
    loaded.model.unwrap_or_else(|| panic!("{}", render(&sources, &loaded.diagnostics)))
}

/// One line per switch: label, source, gate, guard, update, target.
fn switches(name: &str, text: &str) -> String {
    let Model { pool, sts } = model(name, text);
    let mut lines = vec![format!("start {}", sts.locations[sts.initial].name)];
    for var in &sts.vars {
        let init = var.init.map_or("?".to_owned(), |init| pool.show(init).to_string());
        lines.push(format!("{} = {init}", pool.var_info(var.var).name));
    }
    for switch in &sts.switches {
        let gate = &sts.gates[switch.gate];
        let sign = match gate.kind {
            GateKind::Internal => "",
            GateKind::Input => "?",
            GateKind::Observed => "??",
            GateKind::Output => "!",
        };
        let update: Vec<String> = switch
            .update
            .iter()
            .map(|&(var, term)| format!("{} = {}", pool.var_info(var).name, pool.show(term)))
            .chain(switch.resets.iter().map(|&clock| format!("reset {}", pool.var_info(clock).name)))
            .collect();
        let (source, target) = (&sts.locations[switch.source].name, &sts.locations[switch.target].name);
        let guard = pool.show(switch.guard);
        let check = switch.range_check.map_or(String::new(), |check| format!(" range {}", pool.show(check)));
        lines.push(format!(
            "{}: {source} {sign}{} [{guard}] {{{}}} {target}{check}",
            switch.label,
            gate.name,
            update.join(", ")
        ));
    }
    lines.join("\n")
}

#[test]
fn a_transition_becomes_a_switch() {
    insta::assert_snapshot!(switches("m.iox", "
        model Adder {
            input inX(p: int) output outX(p: int) output done
            var x: int = 0
            state idle { r0: on inX when 1 <= p <= 10 { x = x + p } -> busy  emit done when x > 15 }
            state busy { r1: emit outX(p: x) -> idle }
        }"), @"
    start idle
    x = 0
    r0: idle ?inX [p >= 1 && p <= 10] {x = p + x} busy
    idle#2: idle !done [x > 15] {} idle
    r1: busy !outX [x == p] {} idle
    ");
}

/// Defect: `BYE(fee: fee)` compared the field with itself, so that every fee was right.
#[test]
fn a_field_does_not_hide_a_variable_from_its_own_pin() {
    let guard = |pins: &str, guard: &str| {
        let text = format!(
            "model Fee {{ output BYE(fee: int, sum: int) var fee: int = 3
                state s {{ b: emit BYE({pins}){guard} -> s }} }}"
        );
        let Model { pool, sts } = model("m.iox", &text);
        let gate = &sts.gates[sts.gate_named("BYE").expect("declared")];
        let names: Vec<&str> = pool
            .free_vars(sts.switches.iter().next().expect("a switch").guard)
            .iter()
            .map(|var| match gate.fields.iter().position(|field| field == var) {
                Some(0) => "field",
                Some(_) => "other field",
                None => "variable",
            })
            .collect();
        names.join(", ")
    };
    assert_eq!(guard("fee: fee", ""), "field, variable");
    assert_eq!(guard("fee: fee + 1", ""), "field, variable");
    // In other pins and in the guard it is the field.
    assert_eq!(guard("sum: fee + 1", ""), "field, other field");
    assert_eq!(guard("", " when fee > 2"), "field");
    // What is bound closer hides both.
    assert_eq!(guard("fee: match some(7) { some(fee) => fee, none => 0 }", ""), "field");
}

#[test]
fn any_is_copied_and_a_model_without_states_has_one() {
    insta::assert_snapshot!(switches("m.iox", "
        model M { input i output o state a { x: on i -> b } state b {} any { y: emit o  on i -> a } }"), @"
    start a
    x: a ?i [true] {} b
    y@a: a !o [true] {} a
    y@b: b !o [true] {} b
    any#2@a: a ?i [true] {} a
    any#2@b: b ?i [true] {} a
    ");
    insta::assert_snapshot!(switches("m.iox", "model M { input i internal on i any { y: on i } }"), @"
    start M
    M#1: M internal [true] {} M
    M#2: M ?i [true] {} M
    y: M ?i [true] {} M
    ");
}

#[test]
fn ranges_guard_what_could_leave_them() {
    insta::assert_snapshot!(switches("m.iox", "
        model M {
            type Small = 0..3
            input i(p: Small, q: int)
            var n: Small = 0
            var o: Small? = none
            fn next(s: Small) -> Small = s + 1
            state s {
                same: on i { n = p }
                plus: on i { n = n + p }
                call: on i { n = next(n) }
                pinned: on i(p: q)
                cond: on i { n = if q > 0 then q else 0 }
                opt: on i { o = if q > 5 then some(q) else o }
                lazy: on i when n == 3 || next(n) == 2
            }
        }"), @"
    start s
    n = 0
    o = none
    same: s ?i [true] {n = p} s
    plus: s ?i [p + n >= 0 && p + n <= 3] {n = p + n} s range p + n >= 0 && p + n <= 3
    call: s ?i [n >= -1 && n <= 2] {n = n + 1} s range n >= -1 && n <= 2
    pinned: s ?i [p == q] {} s
    cond: s ?i [(if q > 0 then q else 0) >= 0 && (if q > 0 then q else 0) <= 3] {n = if q > 0 then q else 0} \
               s range (if q > 0 then q else 0) >= 0 && (if q > 0 then q else 0) <= 3
    opt: s ?i [q >= 0 && q <= 3 || q <= 5] {o = if q > 5 then some(q) else o} s range q >= 0 && q <= 3 || q <= 5
    lazy: s ?i [(n >= -1 && n <= 2 || n == 3) && (n == 3 || n == 1)] {} s
    ");
}

#[test]
fn functions_options_and_matches_are_written_out() {
    insta::assert_snapshot!(switches("m.iox", "
        model M {
            enum Key { k1, k2 }
            record Point { x: int, y: int }
            input i(key: Key, v: int?)
            var a: int? = none
            var p: Point = Point(x: 1, y: 2)
            fn or_zero(v: int?) -> int = match v { none => 0, some(n) => n }
            fn twice(n: int) -> int = n + n
            state s {
                one: on i(key: k1) when twice(or_zero(v)) > 3 { a = some(or_zero(v) + 1) }
                two: on i when a != none && v == some(3) { p = Point(x: p.y, y: p.x) }
                three: on i when match key { k1 => true, _ => false }
                four: on i when exists j in 0..2: p.x == j * j
                five: on i { a = match key { k1 => some(1), k2 => none } }
            }
        }"), @"
    start s
    a = none
    p = Point(x: 1, y: 2)
    one: s ?i [key == k1 && 2 * (if v == none then 0 else v.value) > 3] {a = some((if v == none then 0 else \
               v.value) + 1)} s
    two: s ?i [a != none && v == some(3)] {p = Point(x: p.y, y: p.x)} s
    three: s ?i [key == k1] {} s
    four: s ?i [exists _0 in 0..2: p.x == _0 * _0] {} s
    five: s ?i [true] {a = if key == k1 then some(1) else none} s
    ");
}

#[test]
fn numbers_are_exact_and_widen() {
    insta::assert_snapshot!(switches("m.iox", "
        model M {
            input i(n: int, r: real)
            clock w
            var y: real = 1
            const D = 1.5min
            state s {
                a: on i when w <= D && w >= n { y = y + n / 2 + 7 / 2, reset w }
                b: on i when n / 0 == 0 && n % 0 == n { y = 1 / 4.0 }
                c: on i when r == n
            }
        }"), @"
    start s
    y = 1.0
    a: s ?i [w <= 90.0 && real(n) <= w] {y = y + real(n / 2) + 3.0, reset w} s
    b: s ?i [true] {y = 0.25} s
    c: s ?i [real(n) == r] {} s
    ");
}

#[test]
fn fields_hide_variables_and_updates_are_simultaneous() {
    insta::assert_snapshot!(switches("m.iox", "
        model M { input i(x: int) var x: int = 1 var y: int state s { a: on i when x > 0 { x = x, y = x + y } \
        b: internal { x = y, y = x } } }"), @"
    start s
    x = 1
    y = ?
    a: s ?i [x > 0] {x = x, y = x + y} s
    b: s internal [true] {x = y, y = x} s
    ");
}

#[test]
fn goals_keep_their_meaning() {
    let Model { pool, sts } = model(
        "m.iox",
        "
        model M {
            input i(p: int) output o
            var x: int = 0
            state s { a: on i { x = p } -> t } state t { b: emit o -> s }
            any { c: on i }
            purpose path: a, c, b, c
            purpose far: reach t when x > 3
            purpose seen { state one { on i(p: 3) -> two  emit o -> miss } state two { emit o -> hit } }
            small: always x < 10
            sometimes x == 4
            assume x >= 0
            answered: every i is followed by o
            @req(\"R\") test \"t\" { send i(p: 3) expect o when true quiet quiet 250ms }
        }",
    );
    let shown: Vec<String> = sts
        .goals
        .iter()
        .map(|goal| {
            let kind = match &goal.kind {
                GoalKind::Path(path) => path.iter().map(|step| step.name(&sts)).collect::<Vec<_>>().join(" "),
                GoalKind::Reach { location, when } => format!("{location:?} {}", pool.show(*when)),
                GoalKind::Observer(observer) => {
                    let rules = observer.rules.iter().map(|rule| {
                        let to = match rule.to {
                            ObserverTarget::Stage(stage) => observer.stages[stage].to_string(),
                            ObserverTarget::Hit => "HIT".into(),
                            ObserverTarget::Miss => "MISS".into(),
                        };
                        let on = match rule.on {
                            ObservedEvent::Message(gate) => sts.gates[gate].name.to_string(),
                            ObservedEvent::Quiet => "QUIET".into(),
                        };
                        let name = |var| pool.var_info(var).name.to_string();
                        let update = rule
                            .update
                            .iter()
                            .map(|&(var, term)| format!(" {} = {}", name(var), pool.show(term)));
                        let resets = rule.resets.iter().map(|&clock| format!(" reset {}", name(clock)));
                        let changes: String = update.chain(resets).collect();
                        format!(
                            "{} {on} [{}]{changes} {to}",
                            observer.stages[rule.from],
                            pool.show(rule.when)
                        )
                    });
                    rules.collect::<Vec<_>>().join("; ")
                }
                GoalKind::Always(term) => format!("always {}", pool.show(*term)),
                GoalKind::Sometimes(term) => format!("sometimes {}", pool.show(*term)),
                GoalKind::Assume(term) => format!("assume {}", pool.show(*term)),
                GoalKind::Response(response) => {
                    let message = |(gate, when)| format!("{} [{}]", sts.gates[gate].name, pool.show(when));
                    let within = response.within.as_ref().map(|time| format!(" within {time}"));
                    format!(
                        "{} -> {}{}",
                        message(response.trigger),
                        message(response.answer),
                        within.unwrap_or_default()
                    )
                }
                GoalKind::Test(steps) => steps
                    .iter()
                    .map(|step| match &step.kind {
                        TestStepKind::Send(gate, when) => {
                            format!("send {} [{}]", sts.gates[*gate].name, pool.show(*when))
                        }
                        TestStepKind::Expect(gate, when) => {
                            format!("expect {} [{}]", sts.gates[*gate].name, pool.show(*when))
                        }
                        TestStepKind::Quiet(time) => format!("quiet {time:?}"),
                    })
                    .collect::<Vec<_>>()
                    .join("; "),
            };
            format!("{} {:?}: {kind}", goal.name, goal.reqs)
        })
        .collect();
    insta::assert_snapshot!(shown.join("\n"), @r#"
    path []: a c@t b c@s
    far []: Some(LocId(1)) x > 3
    seen []: one i [p == 3] two; one o [true] MISS; two o [true] HIT
    small []: always x < 10
    sometimes#2 []: sometimes x == 4
    assume#3 []: assume x >= 0
    answered []: i [true] -> o [true]
    t ["R"]: send i [p == 3]; expect o [true]; quiet None; quiet Some(0.25)
    "#);
}

#[test]
fn docs_requirements_and_weights_travel() {
    let sts = model(
        "m.iox",
        "
        /// First line.
        ///
        /// Last line.
        model M {
            /// A coin.
            input i
            /// Waits.
            state s {
                /// Takes it.
                @req(\"R-1\") @req(\"R-2\") @weight(7)
                a: on i
            }
        }",
    )
    .sts;
    assert_eq!(sts.doc, "First line.\n\nLast line.");
    let switch = &sts.switches[sts.switch_named("a").expect("the switch")];
    assert_eq!((switch.doc.as_str(), switch.weight, switch.reqs.len()), ("Takes it.", 7, 2));
    assert_eq!(sts.locations[sts.initial].doc, "Waits.");
    assert_eq!(sts.gates[switch.gate].doc, "A coin.");
}

#[test]
fn requirements_of_a_state_are_those_of_its_transitions() {
    let sts = model(
        "m.iox",
        "model M {
            input i
            output o
            state s {
                @req(\"R-1\") a: on i -> t
            }
            @req(\"R-1\") @req(\"R-2\")
            state t {
                @req(\"R-2\") @req(\"R-3\") b: emit o -> u
                c: on i -> s
            }
            @req(\"R-4\")
            state u {}
            any {
                d: on i when false
            }
        }",
    )
    .sts;
    let reqs = |label: &str| -> Vec<String> {
        let switch = &sts.switches[sts.switch_named(label).expect("the switch")];
        switch.reqs.iter().map(ToString::to_string).collect()
    };
    assert_eq!(reqs("a"), ["R-1"]);
    assert_eq!(reqs("b"), ["R-2", "R-3", "R-1", "R-4"], "it leads to the end, which has no transitions");
    assert_eq!(reqs("c"), ["R-1", "R-2"]);
    assert_eq!(reqs("d@t"), Vec::<String>::new(), "a transition from every state is written in none");
    assert_eq!(reqs("d@u"), ["R-4"], "it stays in the end");
}

#[test]
fn other_formats_become_the_same_kind_of_model() {
    insta::assert_snapshot!(switches("m.as", "
        def Counter {
            types { Small = [0..3] Mode = [Off | On] }
            state { n: Small mode: Mode }
            init { n := 0 mode := Off }
            actions {
                ?inc(by: Small) if mode == On && n + by < 4 then { n := n + by }
                !value(v: Small) if v == n then { }
                tick() if mode == Off then { mode := On }
                tick() if n == 3 then { n := 0 }
            }
        }"), @"
    start Counter
    n = 0
    mode = Off
    inc: Counter ?inc [mode == On && n + by < 4 && n + by >= 0 && n + by <= 3] {n = n + by} Counter range n + \
               by >= 0 && n + by <= 3
    value: Counter !value [n == v] {} Counter
    tick: Counter internal [mode == Off] {mode = On} Counter
    tick#2: Counter internal [n == 3] {n = 0} Counter
    ");
    insta::assert_snapshot!(switches("m.as", "
        def Queue {
            types { Small = [0..3] Reply = [Nothing | Given(x: Small)] }
            state { q: list<Small> by: map<Small, Bool> reply: Reply }
            init { q := [] by := {} reply := Nothing }
            actions {
                ?put(x: Small) if q.length() < 2 then { q := q + [x], by[x] := True }
                ?take() if let some(first) = q.first() && reply == Nothing then { q := q.drop(1), reply := \
        Given(x: first) }
                !given(x: Small) if let Given(y) = reply && x == y then { reply := Nothing }
            }
        }"), @"
    start Queue
    q = []
    by = {}
    reply = Nothing
    put: Queue ?put [q.length() < 2] {q = q + [x], by = by.with(x, true)} Queue
    take: Queue ?take [(if q.length() > 0 then some(q[0]) else none) != none && reply == Nothing] {q = \
               q.slice(1, q.length()), reply = Given(x: (if q.length() > 0 then some(q[0]) else none).value)} Queue
    given: Queue !given [reply is Given && reply.x == x] {reply = Nothing} Queue
    ");
    insta::assert_snapshot!(switches("m.dot", "digraph g {
        t -> s [label=\"a / 2\"] __start0 -> s; s -> t [label=\"a / 0\"]; s -> s [label=\"a/1\"]; }"), @"
    start s
    t/a: t ?a [true] {} t/a
    t/a/2/s: t/a !2 [true] {} s
    s/a: s ?a [true] {} s/a
    s/a/0/t: s/a !0 [true] {} t
    s/a/1/s: s/a !1 [true] {} s
    ");
    let text = include_str!("../../../../corpus/models/ok/registers.xml");
    insta::assert_snapshot!(switches("m.xml", text), @"
    start l0
    r = 0
    key = 0
    d = 0.5
    l1#1: l1 !OKey [r_ != 0 && r_ != r && r_ != key] {key = r_} l2
    l0#1: l0 ?IPut [p0 != 0 && p0 > 0 || p0 == 7] {r = p0} l1
    l2#1: l2 !OPair [key == a && b == 0] {r = key, key = r} l0
    ");
}

/// A symbol that is an input and an output: whose turn it is says which one is meant. A document type is no matter.
#[test]
fn a_register_automaton_may_send_what_it_receives() {
    let text = r#"<?xml version="1.0"?>
<!DOCTYPE register-automaton [<!ENTITY zero "0">]>
<register-automaton>
  <alphabet>
    <inputs><symbol name="frame"><param type="int" name="p"/></symbol><symbol name="go"/></inputs>
    <outputs><symbol name="frame"><param type="int" name="p"/></symbol><symbol name="ok"/></outputs>
  </alphabet>
  <globals><variable type="int" name="x">&zero;</variable></globals>
  <locations><location name="a" initial="true"/><location name="b"/><location name="c"/><location name="d"/></locations>
  <transitions>
    <transition from="a" to="b" symbol="frame" params="p">
      <assignments><assign to="x">p</assign></assignments>
    </transition>
    <transition from="b" to="a" symbol="frame" params="x"/>
    <transition from="a" to="c" symbol="go"/>
    <transition from="c" to="a" symbol="ok"/>
  </transitions>
</register-automaton>"#;
    let model = model("echo.xml", text);
    let sts = &model.sts;
    let kinds: Vec<(String, bool)> = sts
        .switches
        .iter()
        .map(|switch| (sts.gates[switch.gate].name.to_string(), sts.kind_of(switch).is_input()))
        .collect();
    let expected = [("frame", true), ("go", true), ("frame", false), ("ok", false)];
    assert_eq!(kinds, expected.map(|(name, is_input)| (name.to_owned(), is_input)));
}
