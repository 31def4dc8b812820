//! The example models explored with the default solver: known counts, known findings.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::Duration;

use ioxide_lang::{LoadOptions, load};
use ioxide_model::label::Label;
use ioxide_model::number::Int;
use ioxide_model::source::Sources;
use ioxide_model::sts::Model;
use ioxide_model::value::Value;
use ioxide_smt::halt::{AfterAsks, Halt, Halted};
use ioxide_smt::stack::{SolverConfig, SolverStack, build_stack};
use ioxide_symex::{
    Arrival, ClaimKind, Ctx, Exploration, ExploreConfig, ExploreLimits, IgnoreDead, Monitor, PropertyResult,
    PropertyStatus, RegionRevisit, StopReason, explore, lint,
};
use ioxide_test_support::test_count;

use crate::systems::generator::Dice;

fn example(name: &str, set: &[(&str, &str)]) -> Model {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name);
    let mut sources = Sources::new();
    let file = sources.add(name, std::fs::read_to_string(path).expect("the example is there"));
    let overrides = set.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
    let loaded = load(&sources, file, &LoadOptions::with_overrides(overrides));
    loaded.model.unwrap_or_else(|| panic!("{name}: {:?}", loaded.diagnostics))
}

fn solver() -> SolverStack {
    build_stack(&SolverConfig::default())
}

fn explored(model: &mut Model, config: &ExploreConfig) -> Exploration {
    let mut solver = solver();
    explore(&mut Ctx::new(model, &mut solver), config, &mut |_| ControlFlow::Continue(()))
}

/// The distinct (location, n, rn) among the explored states of a BRP model.
fn frames(model: &Model, result: &Exploration) -> usize {
    let value = |state: &ioxide_symex::SymState, name: &str| {
        let var =
            model.sts.vars.iter().find(|var| &*model.pool.var_info(var.var).name == name).expect("declared");
        let term = state.store.get(&model.sts, var.var).expect("stored");
        model.pool.as_value(term).and_then(Value::as_int).map(Int::to_i64)
    };
    let key = |state: &ioxide_symex::SymState| (state.loc, value(state, "n"), value(state, "rn"));
    result.graph.nodes.iter().map(key).collect::<BTreeSet<_>>().len()
}

#[test]
fn brp_has_as_many_frames_as_the_table_says() {
    // The table counts what lies within the longest purpose; one state is a step further.
    for (n, max_rn, expected) in [(3, 5, 67), (3, 10, 112), (8, 10, 292)] {
        let set = [("N", n.to_string()), ("MAX_RN", max_rn.to_string())];
        let mut model =
            example("brp/scaled.iox", &set.each_ref().map(|(name, value)| (*name, value.as_str())));
        let within = ExploreLimits { max_states: usize::MAX, max_depth: 2 * n + 2 * max_rn + 2 };
        let config = ExploreConfig { ignore_dead: IgnoreDead::No, ..ExploreConfig::default() };
        let bounded = explored(&mut model, &ExploreConfig { limits: within, ..config.clone() });
        assert_eq!(frames(&model, &bounded), expected, "N = {n}, MAX_RN = {max_rn}, {:?}", bounded.stats);
        let result = explored(&mut model, &config);
        assert_eq!((result.stop, frames(&model, &result)), (StopReason::Exhausted, expected + 1));
    }
}

#[test]
fn every_switch_of_brp_is_reached_whatever_is_merged() {
    for revisit in [RegionRevisit::MergeEquivalent, RegionRevisit::MergeSubsumed] {
        let mut model = example("brp/spec.iox", &[]);
        let config = ExploreConfig { revisit, ..ExploreConfig::default() };
        let result = explored(&mut model, &config);
        assert_eq!(result.stop, StopReason::Exhausted);
        assert_eq!(result.taken_switches().len(), 16);
        assert_eq!(result.stats.doubtful, 0);
    }
}

#[test]
fn the_shortest_paths_to_the_switches_of_brp_are_those_of_the_paper() {
    let mut model = example("brp/spec.iox", &[]);
    let result = explored(&mut model, &ExploreConfig::default());
    let shortest = |label: &str| {
        let id = model.sts.switch_named(label).expect("a label of the table");
        let uses = result.graph.edges.iter().filter(|edge| edge.switch == id);
        uses.map(|edge| result.graph.path_to(edge.from).len() + 1).min()
    };
    for (label, length) in
        [("r1", 1), ("r2", 2), ("r7", 3), ("r3", 4), ("r4", 6), ("r6", 7), ("r13", 8), ("r8", 13)]
    {
        assert_eq!(shortest(label), Some(length), "{label}");
    }
    assert_eq!((shortest("r11"), shortest("r12")), (Some(14), Some(18)));
}

#[test]
fn the_adder_has_no_fixed_point_and_says_so() {
    let mut model = example("adder.iox", &[]);
    let limits = ExploreLimits { max_states: 60, max_depth: u32::MAX };
    let result = explored(&mut model, &ExploreConfig { limits, ..ExploreConfig::default() });
    assert_eq!(result.stop, StopReason::MaxStates);
    assert_eq!(result.taken_switches().len(), 3);
    let limits = ExploreLimits { max_states: 10_000, max_depth: 4 };
    let result = explored(&mut model, &ExploreConfig { limits, ..ExploreConfig::default() });
    assert_eq!(result.stop, StopReason::MaxDepth);
}

#[test]
fn the_adder_has_no_deep_findings() {
    check_findings("adder.iox", 40, &[]);
}

#[test]
fn brp_has_no_deep_findings() {
    check_findings("brp/spec.iox", 1000, &[]);
}

#[test]
fn the_car_alarm_has_no_deep_findings() {
    check_findings("cas/cas.iox", 1000, &[]);
}

#[test]
fn the_slot_machine_has_no_deep_findings() {
    check_findings("slot-machine.iox", 40, &[]);
}

#[test]
fn redis_has_no_deep_findings() {
    check_findings("redis/redis.iox", 1000, &[]);
}

#[track_caller]
fn check_findings(name: &str, max_states: usize, codes: &[&str]) {
    let mut model = example(name, &[]);
    let mut solver = solver();
    let limits = ExploreLimits { max_states, max_depth: u32::MAX };
    let config = ExploreConfig { limits, ..ExploreConfig::default() };
    let found = lint(&mut Ctx::new(&mut model, &mut solver), &config, &mut |_| ControlFlow::Continue(()));
    let ids: Vec<&str> = found.findings.iter().map(|finding| finding.code.id()).collect();
    assert_eq!(ids, codes, "{name}: {:?}", found.findings);
    assert_eq!(found.open, 0, "{name}: {:?}", found.exploration.stats);
}

/// The public register automaton `keygen` repeats a register in a guard; the overlap shows.
#[test]
fn a_mistyped_guard_of_a_public_model_shows_as_an_overlap() {
    let Some(data) = std::env::var_os("IOXIDE_DATA") else { return };
    let Ok(text) = std::fs::read_to_string(Path::new(&data).join("ralib/keygen.xml")) else { return };
    let mut sources = Sources::new();
    let file = sources.add("keygen.xml", text);
    let mut model = load(&sources, file, &LoadOptions::default()).model.expect("keygen loads");
    let mut solver = solver();
    let found = lint(&mut Ctx::new(&mut model, &mut solver), &ExploreConfig::default(), &mut |_| {
        ControlFlow::Continue(())
    });
    assert!(found.exploration.is_complete());
    assert!(found.findings.iter().any(|finding| finding.code.id() == "W0709"), "{:?}", found.findings);
}

#[test]
fn redis_has_a_fixed_point() {
    let mut model = example("redis/redis.iox", &[]);
    let result = explored(&mut model, &ExploreConfig::default());
    assert_eq!(result.stop, StopReason::Exhausted, "{:?}", result.stats);
}

/// The findings of a model given as text.
fn load_model(text: &str) -> Model {
    let mut sources = Sources::new();
    let file = sources.add("m.iox", text);
    let loaded = load(&sources, file, &LoadOptions::default());
    loaded.model.unwrap_or_else(|| panic!("{:?}", loaded.diagnostics))
}

pub fn findings(text: &str) -> Vec<(&'static str, Vec<String>)> {
    let mut model = load_model(text);
    let mut solver = solver();
    let limits = ExploreLimits { max_states: 200, max_depth: u32::MAX };
    let config = ExploreConfig { limits, ..ExploreConfig::default() };
    let found = lint(&mut Ctx::new(&mut model, &mut solver), &config, &mut |_| ControlFlow::Continue(()));
    found.findings.into_iter().map(|finding| (finding.code.id(), finding.notes)).collect()
}

#[test]
fn goals_that_the_model_itself_settles_are_reported() {
    let model = |goals: &str| {
        format!(
            "model M {{ input tick output tock var n: 0..3 = 0 var dead: int = 0 {goals} \
             state s {{ up: on tick when n < 3 {{ n = n + 1, dead = n }} down: emit tock when n == 3 {{ n = 0 }} }} }}"
        )
    };
    assert_eq!(findings(&model("always n <= 3 sometimes n == 2 always dead <= 2")), []);
    let broken = findings(&model("small: always n < 3"));
    assert_eq!(
        broken,
        [(
            "W0710",
            vec!["it can be violated in `s` with n = 3, dead = 2, after ?tick, ?tick, ?tick".to_owned()]
        )]
    );
    assert_eq!(findings(&model("sometimes n > 3"))[0].0, "W0711");
    assert_eq!(findings(&model("always dead < 0"))[0].0, "W0710");
}

#[test]
fn a_range_that_the_guard_keeps_is_no_finding() {
    let is_found = |body: &str| {
        let text = format!("model M {{ input a(p: int) var r: 0..5 = 0 state s {{ t: on a {body} }} }}");
        findings(&text).iter().any(|(id, _)| *id == "W0706")
    };
    assert!(!is_found("when 0 <= r + p <= 5 { r = r + p }"), "the guard is what the range demands");
    assert!(!is_found("when p >= 0 && r + p <= 5 { r = r + p }"), "one half of it is, the other follows");
    assert!(is_found("when r + p <= 5 { r = r + p }"), "the sum may be negative");
    assert!(is_found("when 0 <= p <= 5 { r = r + p }"), "the sum may be too large");
}

#[test]
fn each_deep_lint_finds_its_fault() {
    let check = |body: &str, code: &str| {
        let text = format!(
            "model M {{ input a(p: int) input b output c(q: int) var x: int = 0 var r: 0..5 = 0 {body} }}"
        );
        let found = findings(&text);
        assert!(found.iter().any(|(id, _)| *id == code), "{code} is not in {found:?} for\n{text}");
    };
    check("state s { t: on a when p > 3 && p < 2 }", "W0701");
    check("state s { t: on a when x > 0 }", "W0702");
    check("state s { t: internal { x = 1 - x } }", "W0703");
    check("state s { t: emit c when q > 0 { x = 1 } u: emit c when q < 5 { x = 2 } }", "W0704");
    check("state s { t: on b when x > 0 }", "W0705");
    check("state s { t: on b { r = r + 1 } }", "W0706");
    check("state s { t: on a { x = 7 / p } }", "W0707");
    check("state s { t: emit c(q: 1) when x > 0 u: on b }", "W0708");
    check("state s { t: on a when p > 0 { x = 1 } u: on a when p < 5 { x = 2 } }", "W0709");
}

/// A step that is only possible after a while is looked at as it will be then.
#[test]
fn what_happens_only_after_waiting_is_found() {
    let check = |body: &str, code: &str| {
        let text = format!(
            "model M {{ input a(p: int) input b output c(q: int) var x: int = 0 var r: 0..5 = 0 clock w {body} }}"
        );
        let found = findings(&text);
        assert!(found.iter().any(|(id, _)| *id == code), "{code} is not in {found:?} for\n{text}");
    };
    check(
        "state s { t: emit c when q > 0 && w >= 5s { x = 1 } u: emit c when q < 5 && w >= 3s { x = 2 } }",
        "W0704",
    );
    check("state s { t: on b when w >= 5s { r = r + 6 } }", "W0706");
    check("state s { t: on a when w >= 5s { x = 7 / p } }", "W0707");
    check(
        "state s { t: on a when p > 0 && w >= 5s { x = 1 } u: on a when p < 5 && w > 6s { x = 2 } }",
        "W0709",
    );
}

/// A value that nothing reads may be forgotten, but not one that it is divided by.
#[test]
fn a_divisor_of_a_quotient_that_nothing_reads_keeps_its_value() {
    let divides = |zero: &str| {
        findings(&format!(
            "model M {{ input go output done var d: int = 1 var z: int = {zero}
                state s {{ go: on go {{ d = 10 / z }} -> end }} state end {{ back: emit done -> s }} }}"
        ))
    };
    assert!(!divides("1").iter().any(|(id, _)| *id == "W0707"), "the divisor is always 1");
    assert!(divides("0").iter().any(|(id, _)| *id == "W0707"));
}

/// A divisor that is zero only at a later time is not proved to be no zero, whether or not all states are explored.
#[test]
fn a_divisor_that_is_zero_after_waiting_is_not_proved() {
    let divides = |zero: &str| {
        format!(
            "model M {{ input go input more output done output many
                var d: int = 1 var z: int = {zero} var k: int = 0 clock w
                state start {{
                    on more {{ k = k + 1, reset w }} -> start
                    go: on go when w >= 5s {{ d = 10 / z }} -> end
                    emit many when k > 1000 && w <= 1s -> start
                }}
                state end {{ emit done {{ reset w }} -> start }} }}"
        )
    };
    let is_proved = |text: &str| {
        let mut model = load_model(text);
        let limits = ExploreLimits { max_states: 60, max_depth: u32::MAX };
        let config = ExploreConfig { limits, ..ExploreConfig::default() };
        let mut solver = solver();
        let mut cx = Ctx::new(&mut model, &mut solver);
        let found = lint(&mut cx, &config, &mut |_| ControlFlow::Continue(()));
        let is_divisor = |it: &&PropertyResult| it.kind == ClaimKind::Divisor;
        found
            .properties
            .iter()
            .find(is_divisor)
            .is_some_and(|it| matches!(it.status, PropertyStatus::Proved { .. }))
    };
    assert!(!is_proved(&divides("0")));
    assert!(is_proved(&divides("1")), "the divisor is always 1");
}

#[test]
fn parts_that_wait_for_each_other_are_found_on_the_shortest_path() {
    for n in 2..=8 {
        let mut model = example("systems/philosophers.iox", &[("N", &n.to_string())]);
        let mut solver = solver();
        let mut cx = Ctx::new(&mut model, &mut solver);
        let found = lint(&mut cx, &ExploreConfig::default(), &mut |_| ControlFlow::Continue(())).findings;
        let stuck: Vec<_> = found.iter().filter(|finding| finding.code.id() == "W0712").collect();
        assert_eq!(stuck.len(), 1, "{n}: {found:?}");
        let text = &stuck[0].message;
        assert_eq!(text.matches(".reach_left+").count(), n, "everybody takes the left fork: {text}");
        assert!(!text.contains(".reach_right+"), "{text}");
    }
}

#[test]
fn an_end_that_is_written_is_no_finding() {
    let is_found = |text: &str| findings(text).iter().any(|(id, _)| *id == "W0712");
    assert!(!is_found("model M { input a state s { on a -> done } state done {} }"));
    let counting = |end: &str| {
        format!(
            "model M {{ input a var n: 0..3 = 0 state s {{ on a when n < 3 {{ n = n + 1 }} {end} }} state done {{}} }}"
        )
    };
    assert!(is_found(&counting("")));
    assert!(!is_found(&counting("on a when n == 3 -> done")));
    assert!(!is_found(&counting("emit o when n == 3 -> done").replace("input a", "input a output o")));
    // A guard that an unknown value decides: some values are stuck.
    let unknown = |limit: &str| {
        format!(
            "model M {{ input a(p: int) output o var x: int = 0
            state s {{ on a when p > {limit} {{ x = p }} -> t }} state t {{ emit o when x > 5 -> s }} }}"
        )
    };
    assert!(is_found(&unknown("3")));
    assert!(!is_found(&unknown("5")));
    // A deadline that was missed is no mistake of the model.
    let timed = |guard: &str| {
        format!(
            "model M {{ input a output o clock c
            state s {{ on a {{ reset c }} -> t }} state t {{ emit o when {guard} -> s }} }}"
        )
    };
    assert!(!is_found(&timed("c >= 2")));
    assert!(!is_found(&timed("c <= 2")));
}

/// A transition of a small random model: source, the value of `x` it needs, target, the value it sets.
type SmallSwitch = (usize, usize, usize, usize);

/// The states of a small random model that are reached, by plain enumeration, and whether one of them is stuck.
fn is_stuck_by_enumeration(switches: &[SmallSwitch]) -> bool {
    let mut seen = BTreeSet::from([(0, 0)]);
    let mut open = vec![(0, 0)];
    while let Some((loc, x)) = open.pop() {
        let leaving = switches.iter().filter(|&&(source, ..)| source == loc);
        let taken: Vec<_> = leaving.clone().filter(|&&(_, needed, ..)| needed == x).collect();
        if taken.is_empty() && leaving.count() > 0 {
            return true;
        }
        for &&(.., target, set) in &taken {
            if seen.insert((target, set)) {
                open.push((target, set));
            }
        }
    }
    false
}

#[test]
fn stuck_states_are_those_that_enumeration_finds() {
    let mut counts = [0, 0];
    for seed in 0..test_count("IOXIDE_STUCK", 200, 5_000) {
        let mut dice = Dice(seed);
        let n = 1 + dice.roll(5);
        let switches: Vec<SmallSwitch> =
            (0..n).map(|_| (dice.roll(3), dice.roll(3), dice.roll(3), dice.roll(3))).collect();
        let state = |loc: usize| {
            let own = switches.iter().filter(|&&(source, ..)| source == loc);
            let texts =
                own.map(|&(_, x, target, set)| format!("on a when x == {x} {{ x = {set} }} -> s{target} "));
            format!("state s{loc} {{ {} }} ", texts.collect::<String>())
        };
        let text = format!("model M {{ input a var x: int = 0 {}}}", (0..3).map(state).collect::<String>());
        let expected = is_stuck_by_enumeration(&switches);
        let found = findings(&text).iter().any(|(id, _)| *id == "W0712");
        assert_eq!(found, expected, "{text}");
        counts[usize::from(expected)] += 1;
    }
    assert!(counts.iter().all(|&n| n > 10), "both cases occur: {counts:?}");
}

/// Two questions are open at once, and each is answered on a lane of its own.
const TWO_QUESTIONS: &str = "
model Two {
    input ASK(n: 0..9)
    output ANSWER(n: int)
    var first: int = 0
    var second: int = 0
    state idle { on ASK { first = n } -> one }
    state one { on ASK { second = n } -> two  emit ANSWER(n: first) -> idle }
    state two { emit ANSWER(n: first) { first = second } -> one  emit ANSWER(n: second) -> one }
}";

#[test]
fn an_answer_held_back_that_nothing_explains_is_forbidden() {
    let mut sources = Sources::new();
    let file = sources.add("two.iox", TWO_QUESTIONS);
    let mut model = load(&sources, file, &LoadOptions::default()).model.expect("it is right");
    let gate = |name: &str| model.sts.gate_named(name).expect("declared");
    let (ask, answer) = (gate("ASK"), gate("ANSWER"));
    let mut solver = solver();
    let mut cx = Ctx::new(&mut model, &mut solver);
    for (answers, is_allowed) in [([4, 7], true), ([7, 4], true), ([4, 4], false), ([7, 7], false)] {
        let mut monitor = Monitor::new(&mut cx);
        for (lane, n) in [(0, 4), (1, 7)] {
            monitor.record_sent(&mut cx, &Label::Input(ask, vec![Value::int(n)]), lane);
        }
        let mut see = |lane: u32, n: i64, others: usize| {
            monitor.observe_arrival(
                &mut cx,
                &Label::Output(answer, vec![Value::int(n)]),
                Arrival::Answer { lane, others },
            )
        };
        let both = see(0, answers[0], 1).and_then(|_| see(1, answers[1], 0));
        assert_eq!(both.is_ok(), is_allowed, "{answers:?}");
        // The held answer is settled by now, but nobody has seen in which order they were sent.
        assert!(monitor.is_crossed(), "{answers:?}");
    }
}

fn written(text: &str) -> Model {
    let mut sources = Sources::new();
    let file = sources.add("written.iox", text.to_owned());
    load(&sources, file, &LoadOptions::default()).model.expect("the model is right")
}

/// A value with twice the digits after every step used to fill the memory.
#[test]
fn a_search_ends_where_values_grow_without_bound_and_says_so() {
    let mut model = written(
        "model M { input go output n(x: int) var v: int = 3
            state s { on go { v = v * v } -> t }
            state t { emit n(x: v) -> s } }",
    );
    let result = explored(&mut model, &ExploreConfig::default());
    assert_eq!(result.stop, StopReason::TooLarge);
    assert!(result.stats.states < 50, "{:?}", result.stats);
}

#[test]
fn a_search_that_has_to_end_says_so_and_lints_prove_nothing() {
    let mut model = written(
        "model M { input up output n(x: int) var v: int = 0
            state s { on up { v = v + 1 } emit n(x: v) when v > 1000 }
            a: sometimes (v > 5000) }",
    );
    let halt = Halt::new(AfterAsks::new(60));
    let mut solver = build_stack(&SolverConfig { halt, ..SolverConfig::default() });
    let mut cx = Ctx::new(&mut model, &mut solver);
    let found = lint(&mut cx, &ExploreConfig::default(), &mut |_| ControlFlow::Continue(()));
    assert_eq!(found.exploration.stop, StopReason::Halted(Halted::Time));
    assert_eq!(found.halted, Some(Halted::Time));
    assert!(found.findings.is_empty(), "{:?}", found.findings);
}

/// An explanation whose time is up says that everything may have been allowed; the verdict is the same.
#[test]
fn an_explanation_without_time_changes_no_verdict() {
    let text = "model M { var top: int = 7 input ask output told(n: int) output other(n: int)
        state s { on ask -> asked }
        state asked { emit told when n * n > top && n < 4 -> s emit other when n * n == top -> s } }";
    let mut sources = Sources::new();
    let file = sources.add("m.iox", text);
    let mut model = load(&sources, file, &LoadOptions::default()).model.expect("a model");
    let gate = |name: &str| model.sts.gate_named(name).expect("a gate");
    let (ask, told) = (gate("ask"), gate("told"));
    let forbidden_within = |model: &mut Model, halt_after: Option<fn(Option<Duration>) -> Halt>| {
        let mut solver = solver();
        let mut cx = Ctx::new(model, &mut solver);
        halt_after.into_iter().for_each(|halt_after| cx.limit_explanations(halt_after));
        let mut monitor = Monitor::new(&mut cx);
        monitor.observe(&mut cx, &Label::Input(ask, Vec::new())).expect("an input");
        let wrong = Label::Output(told, vec![Value::int(5)]);
        *monitor.observe(&mut cx, &wrong).expect_err("5 is not below 4")
    };
    let whole = forbidden_within(&mut model, None);
    assert_eq!(whole.allowed.len(), 1, "no number squared is 7: {:?}", whole.allowed);
    let cut = forbidden_within(&mut model, Some(|_| Halt::new(AfterAsks::new(0))));
    assert_eq!((cut.label, cut.refusals.len()), (whole.label, whole.refusals.len()));
    assert!(cut.allowed.iter().all(|offer| offer.doubt.is_some()), "{:?}", cut.allowed);
}

/// The codes that correct example models get, with the reason why nothing is wrong with the model.
const INTENDED: [(&str, &str); 2] = [
    // The paper of the cash machine sets no last time for the end of a session without an answer.
    ("atm/atm.iox", "W0714"),
    ("atm/late.iox", "W0714"),
];

#[test]
fn dead_ends_are_reported_in_no_correct_example() {
    let names = [
        "atm/atm.iox",
        "atm/late.iox",
        "atm/untimed.iox",
        "board/board.iox",
        "cas/cas.iox",
        "cas/timed.iox",
        "brp/spec.iox",
        "learn/login.iox",
        "learn/session.iox",
        "lamp/lamp.iox",
        "office/office.iox",
        "redis/expiry.iox",
        "slot-machine.iox",
        "ticker.iox",
        "vending.as",
        "data/fifo.iox",
        "maze.iox",
    ];
    for name in names {
        let mut model = example(name, &[]);
        let mut solver = solver();
        let limits = ExploreLimits { max_states: 200, max_depth: u32::MAX };
        let config = ExploreConfig { limits, ..ExploreConfig::default() };
        let found = lint(&mut Ctx::new(&mut model, &mut solver), &config, &mut |_| ControlFlow::Continue(()));
        for finding in &found.findings {
            let is_dead_end = ("W0712".."W0718").contains(&finding.code.id());
            let is_intended = INTENDED.contains(&(name, finding.code.id()));
            assert!(!is_dead_end || is_intended, "{name}: {finding:?}");
        }
    }
}

#[test]
fn each_dead_end_is_found() {
    let is_found = |code: &str, text: &str| {
        let found = findings(text);
        assert!(found.iter().all(|(id, _)| !id.starts_with('E')), "{found:?}");
        found.iter().any(|(id, _)| *id == code)
    };
    // A message that nobody takes.
    let pair = |server: &str| {
        format!(
            "model C {{ output ask state s {{ emit ask }} }} model V {{ input ask input o state s {{ {server} }} }}
            system S {{ c: C  v: V  c.ask -> v.ask }}"
        )
    };
    assert!(is_found("W0713", &pair("on o")));
    assert!(!is_found("W0713", &pair("on ask")));
    // An output without a last time, and with one.
    let alarm = |guard: &str| {
        format!(
            "model M {{ input arm output ring clock c
            state idle {{ on arm {{ reset c }} -> armed }} state armed {{ emit ring when {guard} -> idle }} }}"
        )
    };
    assert!(is_found("W0714", &alarm("c >= 2s")));
    assert!(!is_found("W0714", &alarm("2s <= c <= 3s")));
    assert!(!is_found("W0714", &alarm("true")));
    // A state that is entered too late; and one that only a missed deadline enters late.
    let late = |limit: &str, reset: &str| {
        format!(
            "model M {{ input ask input more output answer clock c
            state idle {{ on ask {{ reset c }} -> asked }}
            state asked {{ on more {reset} -> late emit answer when c <= {limit} -> idle }}
            state late {{ emit answer when c <= 1s -> idle }} }}"
        )
    };
    assert!(is_found("W0715", &late("2s", "")));
    assert!(!is_found("W0715", &late("2s", "{ reset c }")));
    assert!(!is_found("W0715", &late("1s", "")), "the silence of more than a second is forbidden");
    // A state without a way back.
    let broken = |rest: &str| {
        format!(
            "model M {{ input login input hang output hello
            state idle {{ on login -> greeting }} state greeting {{ emit hello -> open }}
            state open {{ on login -> idle on hang -> broken }} state broken {{ {rest} }} }}"
        )
    };
    assert!(is_found("W0716", &broken("on hang")));
    assert!(!is_found("W0716", &broken("")), "an end that is written");
    assert!(!is_found("W0716", &broken("on hang on login -> idle")));
    assert!(
        !is_found("W0716", &broken("on hang -> answering } state answering { emit hello -> broken")),
        "a phase"
    );
}

/// Defect: properties were looked at only after everything was explored, so where that did not end in time, even one
/// that the first step breaks stayed open.
#[test]
fn faults_near_the_start_are_found_before_everything_is_explored() {
    let text = "model Counter { input inc output at(n: int) var n: int = 0
        state idle { up: on inc { n = n + 1 } -> told }
        state told { say: emit at(n: n) -> idle  skip: on inc -> lost }
        state lost { again: on inc { n = n + 1 } -> lost }
        never: always n != 4
        once: sometimes n == 4
        said: every inc is followed by at
        holds: always n >= 0 }";
    let mut sources = Sources::new();
    let file = sources.add("text.iox", text);
    let mut model = load(&sources, file, &LoadOptions::default()).model.expect("a model");
    let mut solver = solver();
    let mut cx = Ctx::new(&mut model, &mut solver);
    // The full exploration is stopped at once.
    let found = lint(&mut cx, &ExploreConfig::default(), &mut |_| ControlFlow::Break(()));
    let status = |result: &PropertyResult| (result.name.to_string(), result.status.name());
    let statuses: Vec<_> = found.properties.iter().map(status).collect();
    let expected = [("never", "refuted"), ("once", "proved"), ("said", "refuted"), ("holds", "proved")];
    assert_eq!(statuses[..4], expected.map(|(name, status)| (name.to_owned(), status)), "{statuses:?}");
}

#[test]
fn properties_are_proved_refuted_or_open() {
    let statuses = |text: &str, max_states: usize| {
        let mut sources = Sources::new();
        let file = sources.add("text.iox", text);
        let loaded = load(&sources, file, &LoadOptions::default());
        let mut model = loaded.model.unwrap_or_else(|| panic!("{:?}", loaded.diagnostics));
        let mut solver = solver();
        let limits = ExploreLimits { max_states, max_depth: u32::MAX };
        let config = ExploreConfig { limits, ..ExploreConfig::default() };
        let found = lint(&mut Ctx::new(&mut model, &mut solver), &config, &mut |_| ControlFlow::Continue(()));
        let status = |result: &PropertyResult| (result.name.to_string(), result.status.name());
        found.properties.iter().map(status).collect::<Vec<_>>()
    };
    let buffer = "model Buffer { const N = 3 input put(n: int) output got(n: int)
        var xs: list<int> = [] var sent: int = 0 var received: int = 0
        state s {
            put: on put when xs.length() < N { xs = xs + [n], sent = sent + 1 }
            get: emit got(n: xs[0]) when xs.length() > 0 { xs = xs.drop(1), received = received + 1 }
        }
        conserved: always sent == received + xs.length()
        bounded: always xs.length() <= N
        ordered: always received <= sent
        grows: always next(sent) >= sent
        few: always sent <= 5
        answered: every put is followed by got }";
    let expected = ["proved", "proved", "proved", "proved", "refuted", "proved"];
    let found = statuses(buffer, 60);
    assert_eq!(found.iter().map(|(_, status)| *status).collect::<Vec<_>>(), expected, "{found:?}");
    // A response in time, with a limit that is kept and one that is not.
    let timed = "model M { input ask output answer clock c
        state idle { on ask { reset c } -> busy } state busy { emit answer when c <= 2s -> idle }
        soon: every ask is followed by answer within 2s
        at_once: every ask is followed by answer within 1s }";
    assert_eq!(statuses(timed, 1_000), [("soon".into(), "proved"), ("at_once".into(), "refuted")]);
    // A lemma that is wrong proves nothing.
    let wrong = "model M { input a var x: int = 0 var y: int = 0
        state s { t: on a { x = x + y, y = y * y + 1 } } lie: assume y <= 3 claim: always x >= 0 }";
    assert_eq!(statuses(wrong, 30)[0], ("lie".into(), "refuted"));
}
