//! TorXakis models: the corpus, what is set from outside, limits, and what processes in parallel cost.

mod common;
#[path = "common/torxakis.rs"]
mod messages;

use std::fmt::Write;

use common::{files, load_file, load_text, render};
use ioxide_model::code::Code;
use ioxide_model::concrete;
use ioxide_model::diag::Severity;
use ioxide_model::sts::{GateKind, Model};
use messages::{Action, label};

#[test]
fn every_model_of_the_corpus_loads_and_is_shown() {
    let paths = files("corpus/models/txs", &["txs"]);
    assert!(paths.len() >= 9, "only {} models", paths.len());
    for path in paths {
        let (sources, loaded) = load_file(&path);
        let name = path.file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let findings = render(&sources, &loaded.diagnostics);
        assert!(loaded.diagnostics.iter().all(|finding| finding.severity == Severity::Hint), "{findings}");
        let model = loaded.model.unwrap_or_else(|| panic!("{name}"));
        insta::assert_snapshot!(format!("txs_{name}"), format!("{}{findings}", shown(&model)));
    }
}

/// A model as lines.
fn shown(model: &Model) -> String {
    let (pool, sts) = (&model.pool, &model.sts);
    let mut text = String::new();
    for gate in sts.gates.iter().filter(|gate| gate.kind != GateKind::Internal) {
        let sort = |&field: &_| pool.show_sort(model.field_sort(field));
        let sorts: Vec<String> = gate.fields.iter().map(sort).collect();
        writeln!(text, "{:?} {}({})", gate.kind, gate.name, sorts.join(", ")).expect("text");
    }
    for var in &sts.vars {
        let init = var.init.map_or("unknown".into(), |term| pool.show(term).to_string());
        writeln!(text, "var {} = {init}", pool.var_info(var.var).name).expect("text");
    }
    for switch in &sts.switches {
        let (from, to) = (&sts.locations[switch.source].name, &sts.locations[switch.target].name);
        writeln!(text, "{from} -> {to}: {} when {}", switch.label, pool.show(switch.guard)).expect("text");
        for &(var, term) in &switch.update {
            writeln!(text, "    {} := {}", pool.var_info(var).name, pool.show(term)).expect("text");
        }
    }
    for goal in &sts.goals {
        writeln!(text, "goal {}", goal.name).expect("text");
    }
    text
}

/// A prefix of a good text, and one with a piece cut out or doubled, gives findings or a model, and soon.
#[test]
fn broken_texts_give_an_answer() {
    let mut state = 7_u64;
    let mut roll = |n: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % n
    };
    for path in files("corpus/models/txs", &["txs"]) {
        let good = std::fs::read_to_string(&path).expect("a model");
        let at = |n: usize| (0..=n.min(good.len())).rev().find(|&at| good.is_char_boundary(at)).unwrap_or(0);
        for _ in 0..60 {
            let (a, b, c) = (roll(good.len()), roll(40), roll(good.len()));
            let (a, b, c) = (at(a), at(a + b), at(c));
            let piece = &good[a..b.max(a)];
            let cut = format!("{}{}", &good[..a], &good[b.max(a)..]);
            let moved = format!("{}{piece}{}", &good[..c], &good[c..]);
            for text in [&good[..a], &cut, &moved] {
                let (_, loaded) = load_text("m.txs", text);
                assert_eq!(loaded.model.is_none(), loaded.has_errors(), "{text}");
            }
        }
    }
}

#[test]
fn constants_are_set_and_models_chosen_from_outside() {
    let text = "CHANDEF C ::= Out :: Int ENDDEF
        CONSTDEF max :: Int ::= 3 ENDDEF
        MODELDEF One ::= CHAN IN CHAN OUT Out BEHAVIOUR Out ! max >-> STOP ENDDEF
        MODELDEF Two ::= CHAN IN CHAN OUT Out BEHAVIOUR Out ! max + max >-> STOP ENDDEF";
    let load = |overrides: &[(&str, &str)]| {
        let mut sources = ioxide_model::source::Sources::new();
        let file = sources.add("m.txs", text);
        let overrides = overrides.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect();
        ioxide_lang::load(&sources, file, &ioxide_lang::Options { overrides })
    };
    let code = |loaded: ioxide_lang::Loaded| loaded.diagnostics[0].code;
    assert_eq!(code(load(&[])), Code::TxsModel);
    assert_eq!(code(load(&[("MODEL", "Three")])), Code::TxsModel);
    assert_eq!(code(load(&[("MODEL", "One"), ("min", "1")])), Code::UnknownConstant);
    assert_eq!(code(load(&[("MODEL", "One"), ("max", "many")])), Code::BadOverride);
    let model = load(&[("MODEL", "Two"), ("max", "21")]).model.expect("a model");
    let state = concrete::initial_state(&model.pool, &model.sts).expect("known");
    let after = |n: i64| {
        let label = label(&model, &("Out".into(), vec![n]));
        concrete::successors(&model.pool, &model.sts, &state, &label).expect("evaluates").len()
    };
    assert_eq!((after(42), after(6)), (1, 0));
}

/// A model whose behaviour is this.
fn behaving(behaviour: &str) -> String {
    format!("CHANDEF C ::= A :: Int ENDDEF MODELDEF M ::= CHAN IN A CHAN OUT BEHAVIOUR {behaviour} ENDDEF")
}

#[test]
fn ten_thousand_levels_give_a_limit_error() {
    let n = 10_000;
    let value = |value: String| behaving(&format!("A ! {value} >-> STOP"));
    for text in [
        value(format!("{}1{}", "(".repeat(n), ")".repeat(n))),
        value("(".repeat(n)),
        value(format!("{}1", "- ".repeat(n))),
        value(format!("{}1{}", "abs(".repeat(n), ")".repeat(n))),
        value("IF True THEN ".repeat(n)),
        value("LET x = ".repeat(n)),
        behaving(&"(".repeat(n)),
        behaving(&"A ? x >-> (".repeat(n)),
        behaving(&"HIDE [ H ] IN ".repeat(n)),
        behaving(&"LET x = 1 IN ".repeat(n)),
        behaving(&format!("{}STOP", "STOP ||| ".repeat(n))),
        behaving(&format!("{}STOP", "STOP [>> ".repeat(n))),
    ] {
        let (_, loaded) = load_text("m.txs", &text);
        let found: Vec<Code> = loaded.diagnostics.iter().map(|finding| finding.code).collect();
        assert!(found.contains(&Code::NestingTooDeep), "{}...: {found:?}", &text[..120]);
    }
}

#[test]
fn long_rows_are_not_deep() {
    let n = 3_000;
    for text in [
        behaving(&format!("{}STOP", "A ? x >-> ".repeat(n))),
        behaving(&format!("{}STOP", "STOP ## ".repeat(n))),
        behaving(&format!("{}STOP", "[[ True ]] =>> ".repeat(n))),
        behaving(&format!("A ! {}1 >-> STOP", "1 + ".repeat(n))),
    ] {
        let (sources, loaded) = load_text("m.txs", &text);
        assert!(loaded.model.is_some(), "{}...: {}", &text[..120], render(&sources, &loaded.diagnostics));
    }
}

#[test]
fn doubling_functions_are_not_written_out() {
    let mut text = String::from("FUNCDEF f0 (x :: Int) :: Int ::= x ENDDEF\n");
    for at in 1..60 {
        let below = at - 1;
        writeln!(text, "FUNCDEF f{at} (x :: Int) :: Int ::= f{below}(x * x) - f{below}(x + 1) ENDDEF")
            .expect("text");
    }
    text.push_str(&behaving("A ? x [[ f59(x) == 0 ]] >-> STOP"));
    let (_, loaded) = load_text("m.txs", &text);
    assert!(loaded.diagnostics.iter().any(|finding| finding.code == Code::TooLarge));
}

#[test]
fn products_below_a_prefix_are_limited() {
    let side = "(A ? x >-> A ? x >-> A ? x >-> STOP)";
    let row = [side; 12].join(" ||| ");
    let (_, loaded) = load_text("m.txs", &behaving(&format!("A ? x >-> ({row})")));
    assert!(loaded.diagnostics.iter().any(|finding| finding.code == Code::TooManySwitches));
    let (sources, loaded) = load_text("m.txs", &behaving(&row));
    let model = loaded.model.unwrap_or_else(|| panic!("{}", render(&sources, &loaded.diagnostics)));
    assert_eq!(model.sts.switches.len(), 36, "outermost, it costs the sum");
}

/// The states after a trace of a model without internal steps on the way.
fn after(model: &Model, trace: &[Action]) -> usize {
    let mut states = vec![concrete::initial_state(&model.pool, &model.sts).expect("known")];
    for action in trace {
        let label = label(model, action);
        let closed =
            concrete::tau_closure(&model.pool, &model.sts, states, 10_000).expect("evaluates").states;
        let next = closed.iter().flat_map(|state| {
            concrete::successors(&model.pool, &model.sts, state, &label).expect("evaluates")
        });
        states = next.map(|successor| successor.state).collect();
    }
    states.len()
}

fn action(channel: &str, values: &[i64]) -> Action {
    (channel.to_owned(), values.to_vec())
}

fn corpus_model(name: &str) -> Model {
    let (_, loaded) = load_file(&common::root().join(format!("corpus/models/txs/{name}.txs")));
    loaded.model.expect("it loads")
}

#[test]
fn functions_along_numbers_are_computed() {
    let model = corpus_model("divide");
    let asked = action("Ask", &[12, 18]);
    assert_eq!(after(&model, &[asked.clone(), action("Divisor", &[6])]), 1);
    assert_eq!(after(&model, &[asked.clone(), action("Divisor", &[3])]), 0);
    assert_eq!(after(&model, &[asked, action("Sum", &[78 + 171])]), 1);
}

#[test]
fn a_condition_that_values_decide_bounds_the_processes() {
    let model = corpus_model("replicas");
    let parts = model.sts.composition.as_ref().expect("of parts").parts.len();
    assert_eq!(parts, 4, "three counters, and what is left behind the last condition");
    let (two, four) = (action("Up", &[2]), action("Up", &[4]));
    assert_eq!(
        after(&model, &[two.clone(), two.clone(), action("Total", &[2, 2]), action("Total", &[3, 0])]),
        1
    );
    assert_eq!(after(&model, &[two.clone(), two.clone(), two]), 0);
    assert_eq!(after(&model, &[four]), 0);
}

/// `n` processes of some steps in parallel.
fn family(n: usize, process: &str, sign: &str) -> String {
    let calls: Vec<String> = (0..n).map(|id| format!("p [A, Go, Out] ({id})")).collect();
    let heading = "A :: Int; Go; Out :: Int";
    format!(
        "CHANDEF C ::= {heading} ENDDEF PROCDEF p [ {heading} ] (id :: Int) ::= {process} ENDDEF
         MODELDEF M ::= CHAN IN A, Go CHAN OUT Out BEHAVIOUR {} ENDDEF",
        calls.join(sign)
    )
}

#[test]
fn families_of_processes_cost_the_sum_of_their_parts() {
    let sequence = "A ? x [[ x == id ]] >-> Out ! id >-> Go >-> Out ! id + x >-> p [A, Go, Out] (id)";
    for n in [4, 8, 16] {
        // Side by side: every step of every process, alone.
        let model = loaded_model(&family(n, sequence, " ||| "));
        assert_eq!(model.sts.switches.len(), 4 * n);
        let last = n as i64 - 1;
        let trace = [action("A", &[last]), action("A", &[0]), action("Out", &[0]), action("Out", &[last])];
        assert_eq!(after(&model, &trace), 1);
        // Nested, with one step that all of them take together.
        let model = loaded_model(&family(n, sequence, " |[ Go ]| "));
        assert_eq!(model.sts.switches.len(), 3 * n + 1);
        assert_eq!(after(&model, &[action("A", &[0]), action("Out", &[0]), action("Go", &[])]), 0);
        let mut trace: Vec<Action> =
            (0..n as i64).flat_map(|id| [action("A", &[id]), action("Out", &[id])]).collect();
        trace.push(action("Go", &[]));
        trace.push(action("Out", &[2 * last]));
        assert_eq!(after(&model, &trace), 1);
        // A number handed on from one hidden part to the next.
        let model = loaded_model(&chain(n));
        assert_eq!(model.sts.switches.len(), n + 1);
        assert_eq!(after(&model, &[action("In", &[5]), action("Out", &[5 + n as i64])]), 1);
        assert_eq!(after(&model, &[action("In", &[5]), action("Out", &[5])]), 0);
    }
}

/// `n` processes in a row; each adds one to what it is given, and hands it on over a hidden channel.
fn chain(n: usize) -> String {
    let name = |at: usize| match at {
        0 => "In".to_owned(),
        at if at == n => "Out".to_owned(),
        at => format!("H{at}"),
    };
    let hidden: Vec<String> = (1..n).map(name).collect();
    let mut row = String::from("p [In, H1] ( )");
    for at in 1..n {
        write!(row, " |[ {} ]| p [{}, {}] ( )", name(at), name(at), name(at + 1)).expect("text");
    }
    format!(
        "CHANDEF C ::= In, Out :: Int ENDDEF
         PROCDEF p [ From, To :: Int ] ( ) ::= From ? x >-> To ! x + 1 >-> p [From, To] ( ) ENDDEF
         MODELDEF M ::= CHAN IN In CHAN OUT Out BEHAVIOUR HIDE [ {} :: Int ] IN {row} NI ENDDEF",
        hidden.join(", ")
    )
}

fn loaded_model(text: &str) -> Model {
    let (sources, loaded) = load_text("m.txs", text);
    loaded.model.unwrap_or_else(|| panic!("{text}\n{}", render(&sources, &loaded.diagnostics)))
}
