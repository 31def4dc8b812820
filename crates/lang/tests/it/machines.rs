//! Finite state machines: however a machine is spelt, and whoever reads it, it is the same machine.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use std::collections::BTreeSet;

use crate::common::{files_under, public_data};
use ioxide_fsm::mealy::{MachineListing, TransitionRow};
use ioxide_lang::{LoadOptions, load, load_machine, machine_form};
use ioxide_model::source::Sources;
use ioxide_model::sts::{GateKind, Model};
use proptest::prelude::*;

/// Names of states, inputs and outputs that have given readers trouble.
const STATES: [&str; 6] = ["s0", "s 1", "node", "a\"b", "c\\", "q/x"];
const INPUTS: [&str; 4] = ["a", "GET /x", "b#1", "?c"];
const OUTPUTS: [&str; 4] = ["0", "b/c", "it's [ok]; -> ", "//"];

/// The spelling of a text; each bit is a habit.
#[derive(Clone, Copy, Debug)]
struct Spelling(u8);

impl Spelling {
    fn has(self, habit: u8) -> bool {
        self.0 & (1 << habit) != 0
    }
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

fn name(spelling: Spelling, text: &str) -> String {
    let is_plain = text == "s0";
    if is_plain && spelling.has(0) { text.to_owned() } else { quoted(text) }
}

fn written(listing: &MachineListing, spelling: Spelling) -> String {
    let name = |text: &str| name(spelling, text);
    let start = format!("__start0 -> {}{}\n", name(&listing.initial), if spelling.has(1) { ";" } else { "" });
    let mut text = String::from(if spelling.has(2) { "strict DiGraph m\n{\n" } else { "digraph m {" });
    text += if spelling.has(3) { "graph [x=1] node [shape=circle, label=\"a/b\"];\n" } else { "\n" };
    text += "__start0 [label=\"\"];\n";
    text += if spelling.has(4) { &start } else { "" };
    for state in &listing.states {
        text += &format!("{} [label={}, color=blue]\n", name(state), quoted(state));
    }
    text +=
        if spelling.has(5) { "subgraph cluster_a {\n# a -> b\n}\n/* x -> y [ */ rankdir=LR;" } else { "" };
    for row in &listing.rows {
        let label = quoted(&format!("{} / {}", row.input, row.output));
        let (from, to) = (name(&row.from), name(&row.to));
        text += &if spelling.has(6) {
            format!("{from}:n->{to}[color=red;label={label}] // end\n")
        } else {
            format!("{{ edge [label={label}]; {from} -> {to} }}")
        };
    }
    text += if spelling.has(4) { "" } else { &start };
    text + "}\n"
}

fn machine() -> impl Strategy<Value = MachineListing> {
    let row = (0..STATES.len(), 0..INPUTS.len(), 0..OUTPUTS.len(), 0..STATES.len());
    (0..STATES.len(), prop::collection::vec(row, 1..12)).prop_map(|(initial, rows)| {
        let row = |(from, input, output, to): (usize, usize, usize, usize)| TransitionRow {
            from: STATES[from].into(),
            input: INPUTS[input].into(),
            output: OUTPUTS[output].trim().into(),
            to: STATES[to].into(),
        };
        MachineListing {
            initial: STATES[initial].into(),
            states: STATES.map(str::to_owned).to_vec(),
            rows: rows.into_iter().map(row).collect(),
        }
    })
}

fn sources(file: &str, text: &str) -> (Sources, ioxide_model::source::FileId) {
    let mut sources = Sources::new();
    let file = sources.add(file, text);
    (sources, file)
}

#[track_caller]
fn model(file: &str, text: &str) -> Model {
    let (sources, id) = sources(file, text);
    let loaded = load(&sources, id, &LoadOptions::default());
    loaded.model.unwrap_or_else(|| panic!("{file}: {:?}\n{text}", loaded.diagnostics))
}

/// The transitions of a model that was a machine, as a machine has them.
fn rows(model: &Model) -> BTreeSet<[String; 4]> {
    let sts = &model.sts;
    let mut rows = BTreeSet::new();
    let inputs = sts.switches.iter().filter(|switch| sts.kind_of(switch) == GateKind::Input);
    for input in inputs {
        for output in sts.switches.iter().filter(|switch| switch.source == input.target) {
            let place = |id| sts.locations[id].name.to_string();
            let message = |id| sts.gates[id].name.to_string();
            rows.insert([
                place(input.source),
                message(input.gate),
                message(output.gate),
                place(output.target),
            ]);
        }
    }
    rows
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn a_machine_is_the_same_however_it_is_spelt(listing in machine(), spelling in any::<u8>()) {
        let text = written(&listing, Spelling(spelling));
        let wanted: BTreeSet<_> = listing.rows.iter().cloned().map(|r| [r.from, r.input, r.output, r.to]).collect();
        for file in ["m.dot", "m.gv"] {
            let (sources, id) = sources(file, &text);
            let read = load_machine(&sources, id, machine_form(file).unwrap());
            prop_assert_eq!(read.as_ref().ok(), Some(&listing), "{}\n{:?}", text, read);
            let model = model(file, &text);
            prop_assert_eq!(&*model.sts.locations[model.sts.initial].name, listing.initial.as_str());
            prop_assert_eq!(rows(&model), wanted.clone());
        }
    }
}

#[test]
fn every_form_of_machine_is_a_model() {
    let check = |file: &str, text: &str| {
        let model = model(file, text);
        assert_eq!(&*model.sts.locations[model.sts.initial].name, "0", "{file}");
        let expected = [["0", "1", "0", "1"], ["1", "1", "1", "0"]].map(|row| row.map(str::to_owned));
        assert_eq!(rows(&model), BTreeSet::from(expected), "{file}");
    };
    for file in ["m.dot", "m.gv"] {
        check(file, "digraph { 0 -> 1 [label=\"1/0\"] 1 -> 0 [label=\"1/1\"] }");
    }
    for file in ["m.kiss", "m.kiss2"] {
        check(file, ".i 1\n.o 1\n1 0 1 0\n1 1 0 1\n.e\n");
    }
    for file in ["m.txt", "m.fsm"] {
        check(file, "0 1 0 1\n1 1 1 0\n");
    }
}

#[test]
fn a_wrong_machine_is_shown_with_its_place() {
    let place = |file: &str, text: &str| {
        let (sources, id) = sources(file, text);
        let loaded = load(&sources, id, &LoadOptions::default());
        assert!(loaded.model.is_none());
        let finding = loaded.diagnostics.first().unwrap();
        (finding.code.id(), sources.slice(finding.span).to_owned())
    };
    let check = |file: &str, text: &str, code: &str, shown: &str| {
        assert_eq!(place(file, text), (code, shown.to_owned()), "{file}");
    };
    check("m.gv", "digraph {\n a -> b [label=\"x\"] }", "E0506", "\"x\"");
    check("m.dot", "digraph {\n a -> ; }", "E0505", ";");
    check("m.kiss2", ".r x\n0 a b 1", "E0507", "x");
    check("m.kiss2", "0 a b 1\n2 a b 1", "E0505", "2");
    check("m.txt", "s a 0 s\n\n  s a 0  # x", "E0505", "s a 0");
    check("m.fsm", "0 0 0 0\n0 1 x 0", "E0505", "x");
}

/// Every public machine has the states its text names, counted by the plainest means.
#[test]
fn public_machines_have_the_states_their_texts_name() {
    let Some(folder) = public_data() else { return };
    for path in files_under(&folder, &["dot"]) {
        let text = std::fs::read_to_string(&path).unwrap();
        let arrows = text.lines().filter_map(|line| line.split('[').next()?.split_once("->"));
        let names: BTreeSet<&str> = arrows
            .flat_map(|(from, to)| [from, to])
            .map(|name| name.trim_matches(|c: char| c.is_whitespace() || c == ';' || c == '"'))
            .filter(|name| !name.starts_with("__start"))
            .collect();
        let (sources, id) = sources("m.gv", &text);
        let listing = load_machine(&sources, id, machine_form("m.gv").unwrap()).unwrap();
        assert_eq!(listing.states.iter().map(String::as_str).collect::<BTreeSet<_>>(), names, "{path:?}");
    }
}
