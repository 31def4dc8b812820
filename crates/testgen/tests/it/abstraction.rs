//! Machines of models against a stepper that knows nothing of machines.

use std::path::{Path, PathBuf};

use ioxide_fsm::mealy::{Mealy, TransitionRow};
use ioxide_fsm::nfsm::{Nfsm, Observable};
use ioxide_fsm::product::{align_names, reduction_witness};
use ioxide_fsm::read;
use ioxide_lang::{LoadOptions, load};
use ioxide_model::concrete::initial_state;
use ioxide_model::label::{Label, SILENCE, answer_name};
use ioxide_model::source::Sources;
use ioxide_model::sts::Model;
use ioxide_smt::brute::BruteSolver;
use ioxide_symex::{Ctx, Monitor, Quiescence, is_quiescent};
use ioxide_testgen::abstraction::NotFinite;
use ioxide_testgen::abstraction::{FlatModel, FlattenLimits, flatten};
use proptest::prelude::*;

fn loaded(name: &str, text: &str) -> Model {
    let mut sources = Sources::default();
    let file = sources.add(name, text);
    let loaded = load(&sources, file, &LoadOptions::default());
    loaded.model.unwrap_or_else(|| panic!("{:#?}\n{text}", loaded.diagnostics))
}

fn flat(text: &str) -> Result<FlatModel, NotFinite> {
    let mut solver = BruteSolver::new();
    flatten(&mut Ctx::new(&mut loaded("test.iox", text), &mut solver), &FlattenLimits::default())
}

fn rows(flat: &FlatModel) -> Vec<String> {
    let row = |row: &TransitionRow| format!("{} {}/{} {}", row.from, row.input, row.output, row.to);
    flat.listing.rows.iter().map(row).collect()
}

#[test]
fn outputs_up_to_silence_are_one_answer() {
    let text = "model Lamp { input press(force: 1..3) input wait output light(on: bool) output click
        var lit: bool = false
        state idle {
            on press when force < 3 { lit = !lit } -> busy
            on press when force == 3 -> broken
            on wait -> idle
        }
        state busy { emit light(on: lit) -> done }
        state done { emit click -> idle }
        state broken {} }";
    let flat = flat(text).unwrap();
    insta::assert_snapshot!(rows(&flat).join("\n"), @r"
    idle(lit = false) press(force: 1)/light(on: true), click idle(lit = true)
    idle(lit = false) press(force: 2)/light(on: true), click idle(lit = true)
    idle(lit = false) press(force: 3)/δ broken(lit = false)
    idle(lit = false) wait/δ idle(lit = false)
    idle(lit = true) press(force: 1)/light(on: false), click idle(lit = false)
    idle(lit = true) press(force: 2)/light(on: false), click idle(lit = false)
    idle(lit = true) press(force: 3)/δ broken(lit = true)
    idle(lit = true) wait/δ idle(lit = true)
    ");
    assert_eq!(flat.inputs.len(), 4);
    assert_eq!(flat.outputs["light(on: true), click"].len(), 2);
    assert_eq!(flat.outputs[SILENCE], []);
}

#[test]
fn a_question_left_open_is_no_answer() {
    let text = "model Adder { input inX(p: int) output outX(p: int) output done
        var x: int = 0
        state idle { on inX when 1 <= p <= 3 { x = x + p } -> busy }
        state busy { emit outX(p: x) when x <= 4 -> idle  emit done when x > 4 -> stopped }
        state stopped {} }";
    let mut solver = BruteSolver::new();
    let mut model = loaded("test.iox", text);
    // Enumeration cannot refute over all integers; where it finds nothing more it must not be believed.
    let undecided = flatten(&mut Ctx::new(&mut model, &mut solver), &FlattenLimits::default());
    assert_eq!(undecided.unwrap_err(), NotFinite::Undecided { what: "inX".into() });
}

#[test]
fn a_choice_before_the_first_input_becomes_one_state() {
    let text = "model M { input a output x output y output hello
        state s { emit hello -> t }
        state t { internal -> u  internal -> v }
        state u { on a -> w }
        state v { on a -> z }
        state w { emit x -> u }
        state z { emit y -> v } }";
    let flat = flat(text).unwrap();
    assert_eq!(rows(&flat)[..2], ["start a/x u", "start a/y v"]);
    assert_eq!((flat.listing.initial.as_str(), flat.preamble.len()), ("start", 1));
}

#[test]
fn what_is_no_machine_is_refused_with_the_reason() {
    let refused = |body: &str| flat(&format!("model M {{ {body} }}")).unwrap_err();
    let place = |location: &str| location.to_owned();
    let endless = refused("input a output x state s { on a -> t } state t { emit x -> t }");
    assert_eq!(endless, NotFinite::EndlessOutputs { location: place("t") });
    let quiet = refused("input a state s { on a -> t } state t { internal -> u } state u { internal -> t }");
    assert_eq!(quiet, NotFinite::Divergence { location: place("t") });
    let unknown = refused("input a var n: 0..3 state s { on a -> s }");
    assert_eq!(unknown, NotFinite::UnknownAtStart { var: "n".into() });
    assert_eq!(refused("input a clock c state s { on a -> s }"), NotFinite::Timed);
    let other = refused("input a observed input o state s { on a -> s on o -> s }");
    assert_eq!(other, NotFinite::ObservedInput { gate: "o".into() });
    assert_eq!(refused("output x state s { emit x -> t } state t {}"), NotFinite::NoInput);
    let starts =
        refused("input a output x output y state s { emit x -> t  emit y -> t } state t { on a -> t }");
    assert_eq!(starts, NotFinite::SeveralStarts);
    let wide = refused("input a(n: 0..5000) state s { on a -> s }");
    assert_eq!(wide, NotFinite::TooManyValues { gate: "a".into(), limit: 1_000 });
    let many = refused("input a var n: int = 0 state s { on a { n = n + 1 } -> s }");
    assert_eq!(many, NotFinite::TooManyStates { limit: 100_000 });
    let long = refused(
        "input a output x var n: int = 0 state s { on a -> t }
        state t { emit x when n < 600 { n = n + 1 } -> t }",
    );
    assert_eq!(long, NotFinite::TooManyReactions { location: place("t"), limit: 500 });
    for refusal in [endless, quiet, unknown, other, starts, wide, many, long] {
        assert!(!refusal.to_string().is_empty() && !refusal.help().is_empty());
    }
}

/// A small model: three states, a counter, choices, internal steps, outputs with data.
fn text(edges: &[(u8, u8, u8, u8)]) -> String {
    let mut states = [String::new(), String::new(), String::new(), String::new()];
    for &(from, kind, change, to) in edges {
        let to = to % 4;
        let update = match change % 3 {
            0 => "",
            1 => " { n = (n + 1) % 3 }",
            _ => " { n = 0 }",
        };
        let when = if change % 2 == 0 { "" } else { " when n < 2" };
        // Reactions lead to greater states only, so that they end.
        let up = (from % 4) + 1;
        let edge = match kind % 5 {
            0 => format!("on a{when}{update} -> s{to}"),
            1 => format!("on b(k: 1){update} -> s{to}"),
            2 | 3 if up > 3 => format!("on b{when}{update} -> s{to}"),
            2 => format!("emit x(n: n){when}{update} -> s{up}"),
            3 => format!("emit y{update} -> s{up}"),
            _ if up > 3 => format!("on a{update} -> s{to}"),
            _ => format!("internal{when}{update} -> s{up}"),
        };
        states[usize::from(from % 4)].push_str(&format!("        {edge}\n"));
    }
    let states: Vec<String> =
        states.iter().enumerate().map(|(i, edges)| format!("    state s{i} {{\n{edges}    }}\n")).collect();
    format!(
        "model M {{\n    input a\n    input b(k: 0..1)\n    output x(n: 0..2)\n    output y\n    \
         var n: 0..2 = 0\n{}}}",
        states.concat()
    )
}

/// Adds to `all` every sequence of outputs that the monitor `monitor` allows until quiescence, with the monitor after
/// it.
fn answers(cx: &mut Ctx<'_>, monitor: &Monitor, said: &mut Vec<Label>, all: &mut Vec<(Vec<Label>, Monitor)>) {
    let mut quiet = monitor.clone();
    if quiet.observe(cx, &Label::Quiescence).is_ok() {
        all.push((said.clone(), quiet));
    }
    let (x, y) = (cx.sts.gate_named("x").unwrap(), cx.sts.gate_named("y").unwrap());
    let mut outputs: Vec<Label> =
        (0..3).map(|n| Label::Output(x, vec![ioxide_model::value::Value::int(n)])).collect();
    outputs.push(Label::Output(y, Vec::new()));
    for label in outputs {
        let mut next = monitor.clone();
        if next.observe(cx, &label).is_ok() {
            said.push(label);
            answers(cx, &next, said, all);
            said.pop();
        }
    }
}

/// Compares the machine in `state` with the monitor, `depth` inputs deep.
fn compare(
    cx: &mut Ctx<'_>,
    flat: &FlatModel,
    machine: &Observable,
    state: ioxide_fsm::mealy::StateId,
    monitor: &Monitor,
    depth: usize,
) {
    if depth == 0 {
        return;
    }
    for (name, label) in &flat.inputs {
        let input = machine.names().input(name).unwrap();
        let given = machine.answers(state, input);
        if !monitor.accepts(cx, label) {
            assert!(given.is_empty(), "the model does not mention {name}");
            continue;
        }
        let mut taken = monitor.clone();
        taken.observe(cx, label).unwrap();
        let mut all = Vec::new();
        answers(cx, &taken, &mut Vec::new(), &mut all);
        assert_eq!(all.len(), given.len(), "{name} after {depth}");
        for (said, quiet) in all {
            let output = machine.names().output(&answer_name(cx.pool, cx.sts, &said)).unwrap();
            assert_eq!(flat.outputs[&machine.names().outputs[output]], said);
            let next = machine.state_after(state, input, output).expect("the machine gives every answer");
            compare(cx, flat, machine, next, &quiet, depth - 1);
        }
    }
}

fn check(text: &str) {
    let mut model = loaded("test.iox", text);
    let mut solver = BruteSolver::new();
    let mut cx = Ctx::new(&mut model, &mut solver);
    let flat = match flatten(&mut cx, &FlattenLimits::default()) {
        Ok(flat) => flat,
        Err(NotFinite::SeveralStarts | NotFinite::NoInput) => return,
        Err(other) => panic!("{other}\n{text}"),
    };
    let machine = Nfsm::from_listing(&flat.listing).determinise();
    let mut monitor = Monitor::new(&mut cx);
    for label in &flat.preamble {
        monitor.observe(&mut cx, label).unwrap();
    }
    monitor.observe(&mut cx, &Label::Quiescence).unwrap();
    compare(&mut cx, &flat, &machine, machine.initial(), &monitor, 4);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn the_machine_answers_as_the_monitor_allows(
        edges in proptest::collection::vec((0u8..4, 0u8..5, 0u8..6, 0u8..4), 3..14),
    ) {
        check(&text(&edges));
    }
}

/// The folder of public machines, if there is one, and our own.
fn machines() -> Vec<(PathBuf, String)> {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/fsm");
    let mut folders = vec![examples];
    folders.extend(std::env::var_os("IOXIDE_DATA").map(|root| PathBuf::from(root).join("mealy")));
    let mut found = Vec::new();
    while let Some(folder) = folders.pop() {
        let mut paths: Vec<PathBuf> =
            std::fs::read_dir(&folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
        paths.sort();
        for path in paths {
            match std::fs::read_to_string(&path) {
                Ok(text) => found.push((path, text)),
                Err(_) => folders.push(path),
            }
        }
    }
    found
}

#[test]
fn a_machine_and_its_model_agree() {
    for (path, text) in
        machines().into_iter().filter(|(path, _)| path.extension().is_some_and(|e| e == "dot"))
    {
        let listing = read::read_dot(&text).unwrap();
        let machine = Nfsm::from_listing(&listing).determinise();
        if machine.n_states() > 200 {
            continue;
        }
        for mut model in [loaded("m.dot", &text), loaded("m.gv", &text)] {
            let mut solver = BruteSolver::new();
            let flat = flatten(&mut Ctx::new(&mut model, &mut solver), &FlattenLimits::default()).unwrap();
            let again =
                align_names(machine.names(), &Nfsm::from_listing(&flat.listing)).unwrap().determinise();
            assert_eq!(reduction_witness(&machine, &again), None, "{}", path.display());
            assert_eq!(reduction_witness(&again, &machine), None, "{}", path.display());
            let initial = initial_state(&model.pool, &model.sts).unwrap();
            let mut cx = Ctx::new(&mut model, &mut solver);
            assert_eq!(is_quiescent(&mut cx, &initial), Quiescence::Quiet);
        }
    }
}

#[test]
fn the_suite_of_a_flattened_model_is_that_of_the_machine() {
    let text =
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/fsm/door.txt"));
    let text = text.unwrap();
    let listing = read::read_table(&text).unwrap();
    let mut model = loaded("door.txt", &text);
    let mut solver = BruteSolver::new();
    let flat = flatten(&mut Ctx::new(&mut model, &mut solver), &FlattenLimits::default()).unwrap();
    let (direct, again) =
        (Mealy::from_listing(&listing).unwrap(), Mealy::from_listing(&flat.listing).unwrap());
    assert_eq!(direct, again);
}
