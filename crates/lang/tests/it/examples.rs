//! The examples load without findings and are what they claim to be.

use std::collections::BTreeSet;

use crate::common::{files, load_file, load_with, render, root};
use ioxide_lang::LoadOptions;
use ioxide_model::code::Code;
use ioxide_model::diag::{Diagnostic, Severity};
use ioxide_model::sts::{GateKind, Model};

fn example(path: &str) -> Model {
    let (sources, loaded) = load_file(&root().join("examples").join(path));
    loaded.model.unwrap_or_else(|| panic!("{path}\n{}", render(&sources, &loaded.diagnostics)))
}

#[test]
fn every_example_loads_without_findings() {
    let paths = files("examples", &["iox", "as", "dot"]);
    assert!(paths.len() >= 18, "{} examples", paths.len());
    for path in paths {
        let (sources, loaded) = load_file(&path);
        // A fault may be an output that is never sent where the model has it: that is a hint.
        let is_finding = |told: &Diagnostic| told.severity != Severity::Hint;
        let is_clean = !loaded.diagnostics.iter().any(is_finding);
        assert!(is_clean, "{path:?}\n{}", render(&sources, &loaded.diagnostics));
        assert!(loaded.model.is_some());
    }
}

#[test]
fn examples_have_the_sizes_of_their_sources() {
    check("adder.iox", 3, 3);
    check("slot-machine.iox", 4, 5);
    check("brp/spec.iox", 6, 16);
    check("brp/scaled.iox", 6, 16);
    check("cas/cas.iox", 13, 26);
    check("cas/cas.as", 1, 10);
    check("atm/atm.iox", 5, 11);
    check("fsm/me.dot", 4 + 8, 8 + 10);
    check("fsm/mf.dot", 2 + 2, 2 + 3);
}

#[track_caller]
fn check(path: &str, n_locations: usize, n_switches: usize) {
    let sts = example(path).sts;
    assert_eq!((sts.locations.len(), sts.switches.len()), (n_locations, n_switches), "{path}");
}

#[test]
fn brp_labels_are_those_of_the_table() {
    let labels = |path: &str| {
        let model = example(path);
        model.sts.switches.iter().map(|switch| switch.label.to_string()).collect::<BTreeSet<_>>()
    };
    let numbered = |numbers: &[u32]| numbers.iter().map(|n| format!("r{n}")).collect::<BTreeSet<_>>();
    let all: Vec<u32> = (1..=16).collect();
    assert_eq!(labels("brp/spec.iox"), numbered(&all));
    assert_eq!(labels("brp/scaled.iox"), numbered(&all));
    for same in ["m2", "m3", "m4"] {
        assert_eq!(labels(&format!("brp/{same}.iox")), numbered(&all), "{same}");
    }
    assert_eq!(labels("brp/m6.iox"), numbered(&(1..=17).collect::<Vec<_>>()));
}

#[test]
fn the_atm_has_clocks_unknowns_and_an_observed_input() {
    let sts = example("atm/atm.iox").sts;
    assert_eq!(sts.clocks.len(), 2);
    assert!(sts.vars.iter().all(|var| var.init.is_none()));
    let auth = sts.gate_named("Auth").expect("the gate");
    assert_eq!(sts.gates[auth].kind, GateKind::Observed);
}

#[test]
fn constants_can_be_overridden() {
    let text = std::fs::read_to_string(root().join("examples/brp/scaled.iox")).expect("the example");
    let set = |name: &str, value: &str| LoadOptions::with_overrides(vec![(name.into(), value.into())]);
    let guard_of_r7 = |options: &LoadOptions| {
        let (sources, loaded) = load_with("scaled.iox", &text, options);
        let model = loaded.model.unwrap_or_else(|| panic!("{}", render(&sources, &loaded.diagnostics)));
        let r7 = model.sts.switch_named("r7").expect("the switch");
        model.pool.show(model.sts.switches[r7].guard).to_string()
    };
    assert_eq!(guard_of_r7(&LoadOptions::default()), "rn <= 5");
    assert_eq!(guard_of_r7(&set("MAX_RN", "20")), "rn <= 20");
    assert_eq!(guard_of_r7(&set("MAX_RN", "2 * 10 + N")), "rn <= 23");
}

#[test]
fn wrong_overrides_are_explained() {
    let text = "model M { const MAX = 3 const NAME = \"a\" enum E { on_, off } const MODE = off const PORT: 0..9 = 1
        input i(p: int) output o(s: string, e: E) state s { on i when p < MAX + PORT emit o(s: NAME, e: MODE) } }";
    let codes = |name: &str, value: &str| {
        let options = LoadOptions::with_overrides(vec![(name.into(), value.into())]);
        let (sources, loaded) = load_with("m.iox", text, &options);
        let codes: Vec<Code> = loaded.diagnostics.iter().map(|diagnostic| diagnostic.code).collect();
        (codes, render(&sources, &loaded.diagnostics))
    };
    for (name, value) in
        [("MAX", "7"), ("NAME", "plain text"), ("NAME", "\"quoted\""), ("MODE", "on_"), ("PORT", "9")]
    {
        assert_eq!(codes(name, value).0, [], "{name}={value}");
    }
    for (name, value) in
        [("MAX", "true"), ("MAX", ""), ("MAX", "1 +"), ("MAX", "1 2"), ("MODE", "none"), ("PORT", "10")]
    {
        assert_eq!(codes(name, value).0, [Code::BadOverride], "{name}={value}");
    }
    insta::assert_snapshot!(codes("MAXX", "1").1, @r"
    1:7 error E0212: there is no constant `MAXX` to set
        at `M`
        help: did you mean `MAX`?
    ");
    insta::assert_snapshot!(codes("PORT", "10").1, @"
    1:85 error E0313: `--set PORT=10` does not fit: 10 is outside 0..9, the range of constant `it`
        at `PORT`
    ");
}
