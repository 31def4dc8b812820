//! TorXakis models: the corpus, what is set from outside, limits, and what processes in parallel cost.

use std::fmt::Write;

use crate::common::torxakis::{Action, label};
use crate::common::{files, load_file, load_text, load_with, render, root};
use ioxide_lang::{LoadOptions, LoadedText};
use ioxide_model::code::Code;
use ioxide_model::concrete;
use ioxide_model::diag::Severity;
use ioxide_model::label::Label;
use ioxide_model::source::{FileId, Sources};
use ioxide_model::sts::{GateKind, Model};
use ioxide_model::value::{DataValue, Value};
use ioxide_test_support::is_full_run;

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

#[test]
fn a_channel_has_one_direction() {
    let text = "CHANDEF C ::= In :: Int ; Both :: Int ENDDEF
PROCDEF p [ In :: Int ; Both :: Int ] ( ) ::= In ? x >-> Both ! x >-> p [ In, Both ] ( ) ENDDEF
MODELDEF M ::= CHAN IN In, Both CHAN OUT Both BEHAVIOUR p [ In, Both ] ( ) ENDDEF";
    let (sources, loaded) = load_text("m.txs", text);
    let findings = render(&sources, &loaded.diagnostics);
    assert!(loaded.model.is_none(), "{findings}");
    assert!(findings.contains("3:42") && findings.contains("an input and an output at once"), "{findings}");
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
        let mut sources = Sources::new();
        let file = sources.add("m.txs", text);
        let overrides = overrides.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect();
        ioxide_lang::load(&sources, file, &LoadOptions::with_overrides(overrides))
    };
    let code = |loaded: LoadedText| loaded.diagnostics[0].code;
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
    let (_, loaded) = load_file(&root().join(format!("corpus/models/txs/{name}.txs")));
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
    assert_eq!(parts, 3, "three counters, and nothing behind the last condition");
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

/// Returns whether the model allows these messages one after the other.
#[track_caller]
fn can(model: &Model, trace: &[(&str, Vec<Value>)]) -> bool {
    let mut states = vec![concrete::initial_state(&model.pool, &model.sts).expect("known")];
    for (channel, values) in trace {
        let gate = model.sts.gate_named(channel).expect("declared");
        let label = Label::message(&model.sts, gate, values.clone()).expect("visible");
        let closed = concrete::tau_closure(&model.pool, &model.sts, states, 1_000).expect("evaluates").states;
        let next = closed.iter().flat_map(|state| {
            concrete::successors(&model.pool, &model.sts, state, &label).expect("evaluates")
        });
        states = next.map(|successor| successor.state).collect();
    }
    !states.is_empty()
}

/// A value of the type called `name`.
fn made(model: &Model, name: &str, ctor: &str, args: &[i64]) -> Value {
    let (data, known) = model.pool.data_types().find(|(_, data)| &*data.name == name).expect("declared");
    let ctor = known.ctors.iter().position(|known| &*known.name == ctor).expect("a constructor");
    let args = args.iter().map(|&n| Value::int(n)).collect();
    Value::Data(DataValue { data, ctor: u32::try_from(ctor).expect("few"), args })
}

fn int(n: i64) -> Vec<Value> {
    vec![Value::int(n)]
}

#[test]
fn automata_keep_what_is_not_assigned_and_assign_at_once() {
    let model = corpus_model("door");
    let reply = |ctor, args: &[i64]| ("Reply", vec![made(&model, "Answer", ctor, args)]);
    let code = |n| ("Code", int(n));
    assert!(can(&model, &[("Bell", vec![]), code(4711), reply("Opened", &[]), code(0), code(1)]));
    assert!(!can(&model, &[code(4711), reply("Opened", &[]), code(1)]));
    let wrong = [code(1), reply("Again", &[2]), code(1), reply("Again", &[1]), code(1)];
    assert!(can(&model, &[&wrong[..], &[reply("Refused", &[])]].concat()));
    assert!(!can(&model, &[&wrong[..], &[reply("Again", &[0])]].concat()));
    assert!(!can(&model, &[code(1), reply("Again", &[1])]));
}

#[test]
fn types_that_hold_themselves_and_functions_on_them() {
    let model = corpus_model("queue");
    let (put, get) = (|n| ("Put", int(n)), |n| ("Get", int(n)));
    assert!(can(&model, &[put(5), put(6), get(5), put(5), get(6), get(5)]));
    assert!(!can(&model, &[put(5), put(6), get(6)]));
    assert!(!can(&model, &[put(5), put(5)]), "it is in the queue already");
    assert!(!can(&model, &[put(1), put(2), put(3), put(4)]), "the queue is full");
    assert!(can(&model, &[put(1), put(2), put(3), ("Full", vec![]), get(1)]));
    assert!(!can(&model, &[put(1), ("Full", vec![])]));
}

#[test]
fn values_are_handed_on_over_exits_until_something_takes_over() {
    let model = corpus_model("order");
    let (name, age) = (("Name", vec![Value::str("Ada")]), ("Age", int(36)));
    let confirm = |text: &str, n| ("Confirm", vec![Value::str(text), Value::int(n)]);
    let (cancel, bye) = (("Cancel", vec![]), ("Bye", vec![]));
    assert!(can(&model, &[age.clone(), name.clone(), confirm("Ada is 36", 9), name.clone()]));
    assert!(!can(&model, &[age.clone(), name.clone(), confirm("Ada is 37", 9)]));
    assert!(!can(&model, &[name.clone(), confirm("Ada is 0", 8)]), "both forms are needed");
    assert!(!can(&model, &[("Name", vec![Value::str("ada")])]));
    assert!(can(&model, &[name.clone(), cancel.clone(), bye.clone()]));
    assert!(!can(&model, &[name.clone(), cancel, bye, name]));
}

#[test]
fn an_interrupt_gives_back_what_it_took() {
    let model = corpus_model("pause");
    let (pause, resume, reset) = (("Pause", vec![]), ("Resume", vec![]), ("Reset", vec![]));
    let tick = |n| ("Tick", int(n));
    assert!(can(
        &model,
        &[tick(0), pause.clone(), resume.clone(), tick(1), pause.clone(), resume.clone(), tick(2), tick(0)]
    ));
    assert!(!can(&model, &[tick(0), pause.clone(), tick(1)]));
    assert!(!can(&model, &[tick(0), pause.clone(), resume.clone(), tick(0)]));
    assert!(!can(&model, &[pause, reset.clone()]));
    assert!(can(&model, &[tick(0), tick(1), reset, tick(0)]));
}

#[test]
fn hidden_communications_are_steps_of_all_who_share_them() {
    let model = corpus_model("workers");
    let (start, job) = (("Start", vec![]), |n| ("Job", int(n)));
    let done = |page, n| ("Done", vec![Value::int(page), Value::int(n)]);
    assert!(can(&model, &[start.clone(), job(10), job(10), done(20, 0), done(30, 1), start.clone()]));
    assert!(can(&model, &[start.clone(), job(10), done(30, 0)]), "either worker may take the job");
    assert!(!can(&model, &[start.clone(), job(10), done(10, 0)]));
    assert!(!can(&model, &[start.clone(), job(10), done(20, 0), start]), "both start together");
    assert!(!can(&model, &[job(10)]));
}

/// A model with two inputs and two outputs of numbers.
fn joint(sync: &str, behaviour: &str) -> String {
    format!(
        "CHANDEF Chans ::= A, B, C, D :: Int ENDDEF\n\
         MODELDEF Joint ::= CHAN IN A, B CHAN OUT C, D {sync} BEHAVIOUR {behaviour} ENDDEF\n"
    )
}

#[test]
fn a_communication_on_several_channels_is_one_message() {
    let both = |a: i64, b: i64| vec![Value::int(a), Value::int(b)];
    let model = loaded_model(&joint("", "B ? y | A ? x [[ x < y ]] >-> C ! x + y | D ! y >-> STOP"));
    assert!(can(&model, &[("A_B", both(1, 2)), ("C_D", both(3, 2))]));
    assert!(!can(&model, &[("A_B", both(2, 1))]), "the guard speaks of both");
    assert!(!can(&model, &[("A", int(1))]), "neither happens alone");
    let gate = &model.sts.gates[model.sts.gate_named("A_B").expect("a message")];
    let names: Vec<&str> = gate.fields.iter().map(|&field| &*model.pool.var_info(field).name).collect();
    assert_eq!((gate.kind, names), (GateKind::Input, vec!["A_v1", "B_v1"]));
}

#[test]
fn in_a_composition_each_side_adds_its_own_channels() {
    let sides = "( A ? x | B ! 1 >-> C ! x >-> STOP ) |[ A ]| ( A ? y [[ y > 3 ]] >-> D ! y >-> STOP )";
    // The same below a prefix, where control has both sides, and outermost, where each is a part.
    for behaviour in [sides.to_owned(), format!("A ! 0 >-> ( {sides} )")] {
        let start: &[(&str, Vec<Value>)] = if behaviour == sides { &[] } else { &[("A", int(0))] };
        let model = loaded_model(&joint("", &behaviour));
        let can = |more: &[(&str, Vec<Value>)]| can(&model, &[start, more].concat());
        assert!(can(&[("A_B", vec![Value::int(4), Value::int(1)]), ("D", int(4)), ("C", int(4))]));
        assert!(!can(&[("A_B", vec![Value::int(3), Value::int(1)])]), "the other side refuses it");
        assert!(!can(&[("A_B", vec![Value::int(4), Value::int(2)])]), "the first side says 1");
        assert!(!can(&[("A", int(4))]), "the first side does not do it alone");
    }
}

#[test]
fn communications_on_several_hidden_channels_are_one_step() {
    let hidden = "HIDE [ M, N :: Int ] IN ( A ? x >-> M ! x | N ! 2 >-> STOP ) |[ M, N ]| \
         ( M ? y | N ? z >-> C ! y + z >-> STOP ) NI";
    let model = loaded_model(&joint("", hidden));
    assert!(can(&model, &[("A", int(5)), ("C", int(7))]));
    let refused = |behaviour: &str, sync: &str, says: &str| {
        let (sources, loaded) = load_text("joint.txs", &joint(sync, behaviour));
        let findings = render(&sources, &loaded.diagnostics);
        assert!(loaded.model.is_none() && findings.contains(says), "`{says}`: {findings}");
    };
    refused("A ? x | C ! 1 >-> STOP", "", "an input and an output at once");
    refused(
        "( A ? x | B ? y >-> STOP ) |[ A ]| ( A ? x | C ! 1 >-> STOP )",
        "",
        "an input and an output at once",
    );
    refused("A ? x | A ? y >-> STOP", "", "occurs twice");
    refused("A ? x | B >-> STOP", "", "channel `B` has 1 values, here are 0");
    refused("A ? x | B ? y >-> C ! 1 >-> STOP", "SYNC { A | B }", "`SYNC` does not list `C`");
    refused("A ? x >-> STOP", "SYNC { A | X }", "the model has no channel `X`");
    let listed = joint("SYNC { B | A }, { C }", "A ? x | B ? y >-> C ! 1 >-> STOP");
    assert!(loaded_model(&listed).sts.gate_named("A_B").is_some());
}

#[test]
fn some_channels_of_a_communication_may_be_hidden() {
    let sides = |first: &str, second: &str| {
        format!("HIDE [ M :: Int ] IN ( {first} >-> STOP ) |[ M ]| ( {second} >-> STOP ) NI")
    };
    // The same below a prefix, where control has both sides, and outermost, where each is a part.
    for before in ["", "B ! 0 >-> "] {
        let start: &[(&str, Vec<Value>)] = if before.is_empty() { &[] } else { &[("B", int(0))] };
        let load = |behaviour: &str| loaded_model(&joint("", &format!("{before}( {behaviour} )")));
        let can = |model: &Model, more: &[(&str, Vec<Value>)]| can(model, &[start, more].concat());
        let model = load(&sides("A ? x | M ? m [[ m == (x + 1) ]]", "M ? y [[ y > 3 ]] >-> C ! y"));
        assert!(can(&model, &[("A", int(3)), ("C", int(4))]));
        assert!(!can(&model, &[("A", int(2))]), "the other side refuses the hidden value");
        assert!(!can(&model, &[("A", int(3)), ("C", int(3))]));
        // The guard says what the hidden value is.
        let model = load(&sides("A ? x | M ? y [[ x == y ]]", "M ? z >-> C ! z"));
        assert!(
            can(&model, &[("A", int(3)), ("C", int(3))]) && !can(&model, &[("A", int(3)), ("C", int(2))])
        );
        // Nobody keeps the value: it is enough that there is one.
        let model = load(&sides("A ? x | M ? y [[ x > y ]]", "M ? z [[ z > 7 ]]"));
        assert!(model.sts.switches.iter().any(|switch| model.sts.gates[switch.gate].fields.len() == 1));
    }
    let nobody = "HIDE [ M :: Int ] IN A ? x | M ? y >-> C ! y >-> STOP NI";
    let (_, loaded) = load_text("m.txs", &joint("", nobody));
    assert!(loaded.diagnostics.iter().any(|finding| finding.code == Code::OpenHiddenField));
}

#[test]
fn processes_that_come_and_go_are_read_if_there_are_never_too_many() {
    let chans = "CHANDEF C ::= A, B, C, D :: Int ENDDEF";
    let model = |defs: &str, behaviour: &str| {
        format!("{chans} {defs} MODELDEF M ::= CHAN IN A, B CHAN OUT C, D BEHAVIOUR {behaviour} ENDDEF")
    };
    // A process for each input, which ends with its output; the other side asks for one after the other.
    let server = "PROCDEF server [ A, C :: Int ] () ::= A ? x >-> ( C ! x + 1 ||| server [A, C] () ) ENDDEF";
    let client = |n: usize| {
        let (ask, answer) = ("A ? x >-> ".repeat(n), "C ? y >-> ".repeat(n));
        format!("PROCDEF client [ A, C :: Int ] () ::= {ask} {answer} client [A, C] () ENDDEF")
    };
    let (a, c) = (|n| ("A", int(n)), |n| ("C", int(n)));
    let both = "server [A, C] () |[ A, C ]| client [A, C] ()";
    let one = loaded_model(&model(&format!("{server} {}", client(1)), both));
    assert!(can(&one, &[a(1), c(2), a(5), c(6)]) && !can(&one, &[a(1), a(2)]) && !can(&one, &[a(1), c(1)]));
    let three = loaded_model(&model(&format!("{server} {}", client(3)), both));
    assert!(can(&three, &[a(1), a(2), a(3), c(3), c(2), c(4), a(1), a(1)]));
    assert!(!can(&three, &[a(1), a(2), a(3), c(3), c(3)]) && !can(&three, &[a(1), a(2), c(2)]));
    // Alone, inside of an operator that ends with what it is about, and with a hidden channel of its own each time.
    for (body, trace, refused) in [
        (
            "( A ? x >-> C ! x >-> STOP ) [>> ( B ? y >-> p [A, B, C] () )",
            vec![a(1), ("B", int(0)), a(2)],
            c(1),
        ),
        (
            "HIDE [ H :: Int ] IN ( A ? x >-> H ! x ) |[ H ]| ( H ? y >-> C ! y >-> p [A, B, C] () ) NI",
            vec![a(1), c(1), a(2)],
            c(1),
        ),
        (
            "( A ? x >-> EXIT ! x ) >>> ACCEPT ? y IN C ! y >-> p [A, B, C] () NI",
            vec![a(1), c(1), a(2)],
            c(1),
        ),
        ("HIDE [ H ] IN H >-> A ? x >-> p [A, B, C] () NI", vec![a(1), a(1), a(2)], c(1)),
        ("( A ? x >-> STOP ) ||| ( B ? y >-> p [A, B, C] () )", vec![a(1), ("B", int(0)), a(1)], c(1)),
    ] {
        let text = format!("PROCDEF p [ A, B, C :: Int ] () ::= {body} ENDDEF");
        let text = model(&text, "p [A, B, C] ()");
        let (sources, loaded) = load_text("m.txs", &text);
        let findings = render(&sources, &loaded.diagnostics);
        // The last one leaves a process behind whenever it comes back, so it is unfolded up to a limit.
        assert_eq!(body.contains("|||"), findings.contains("is unfolded only partly"), "{findings}");
        let model = loaded.model.unwrap_or_else(|| panic!("{findings}"));
        assert!(can(&model, &trace) && !can(&model, &[&trace[..], &[refused]].concat()), "{text}");
    }
    let (sources, loaded) = load_text("m.txs", &model(server, "server [A, C] ()"));
    let findings = render(&sources, &loaded.diagnostics);
    assert!(findings.contains("this call creates a process again and again"), "{findings}");
    let call = sources.slice(loaded.diagnostics[0].span);
    assert_eq!(call, "server [A, C] ()", "{findings}");
}

#[test]
fn a_mapper_stands_between_the_model_and_the_system() {
    let text = "CHANDEF C ::= Plus, Minus :: Int; Result :: Int; Sin :: String # Int; Sout :: Int ENDDEF
        PROCDEF adder [ Plus, Minus, Result :: Int ] (sum :: Int) ::=
            Plus ? x >-> Result ! sum + x >-> adder [Plus, Minus, Result] (sum + x)
         ## Minus ? x >-> Result ! sum - x >-> adder [Plus, Minus, Result] (sum - x) ENDDEF
        MODELDEF Adder ::= CHAN IN Plus, Minus CHAN OUT Result BEHAVIOUR adder [Plus, Minus, Result] (0) ENDDEF
        PROCDEF map [ Plus, Minus, Result :: Int; Sin :: String # Int; Sout :: Int ] () ::=
            Plus ? x | Sin ! \"Plus\" ? y [[ x == y ]] >-> map [Plus, Minus, Result, Sin, Sout] ()
         ## Minus ? x | Sin ! \"Minus\" ? y [[ x == y ]] >-> map [Plus, Minus, Result, Sin, Sout] ()
         ## Sout ? r | Result ? s [[ r == s ]] >-> map [Plus, Minus, Result, Sin, Sout] () ENDDEF
        MAPPERDEF Map ::= CHAN IN Plus, Minus, Sout CHAN OUT Result, Sin
            SYNC { Plus | Sin }, { Minus | Sin }, { Sout | Result }
            BEHAVIOUR map [Plus, Minus, Result, Sin, Sout] () ENDDEF
        PURPDEF Goals ::= CHAN IN Plus, Minus CHAN OUT Result GOAL one ::= Plus ! 1 >-> HIT ENDDEF";
    let load = |overrides: &[(&str, &str)]| {
        let overrides = overrides.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect();
        load_with("m.txs", text, &LoadOptions::with_overrides(overrides))
    };
    let (_, plain) = load(&[]);
    let plain = plain.model.expect("a model");
    assert!(can(&plain, &[("Plus", int(3)), ("Result", int(3))]) && plain.sts.goals.len() == 1);
    let (sources, mapped) = load(&[("MAPPER", "Map")]);
    let mapped = mapped.model.unwrap_or_else(|| panic!("{}", render(&sources, &mapped.diagnostics)));
    let names: Vec<(&str, GateKind)> = mapped
        .sts
        .gates
        .iter()
        .filter(|gate| gate.kind != GateKind::Internal)
        .map(|gate| (&*gate.name, gate.kind))
        .collect();
    assert_eq!(names, [("Sin", GateKind::Input), ("Sout", GateKind::Output)]);
    let ask = |what: &str, n| ("Sin", vec![Value::str(what), Value::int(n)]);
    assert!(can(&mapped, &[ask("Plus", 3), ("Sout", int(3)), ask("Minus", 1), ("Sout", int(2))]));
    assert!(!can(&mapped, &[ask("Plus", 3), ("Sout", int(4))]) && !can(&mapped, &[ask("Times", 3)]));
    let (_, none) = load(&[("MAPPER", "None")]);
    assert_eq!(none.diagnostics[0].code, Code::TxsModel);
    // `SYNC` of a mapper lists its communications, also those with the model, which are hidden.
    for (listed, says) in [
        ("{ Plus | Sin }, { Minus | Sin }, { Result | Sout }", None),
        ("{ Plus | Sin }, { Minus | Sin }, { Sout }", Some("`SYNC` does not list `Result_Sout`")),
        ("{ Plus | Sin }, { Sout | Result }", Some("`SYNC` does not list `Minus_Sin`")),
        ("{ Plus | Sin }, { Minus | Go }, { Sout | Result }", Some("the model has no channel `Go`")),
    ] {
        let text = text.replace("{ Plus | Sin }, { Minus | Sin }, { Sout | Result }", listed);
        let overrides =
            LoadOptions::with_overrides(vec![("MAPPER".into(), "Map".into())].into_iter().collect());
        let (sources, loaded) = load_with("m.txs", &text, &overrides);
        let findings = render(&sources, &loaded.diagnostics);
        assert_eq!(loaded.model.is_some(), says.is_none(), "{listed}\n{findings}");
        assert!(says.is_none_or(|says| findings.contains(says)), "{listed}\n{findings}");
    }
}

#[test]
fn hidden_numbers_are_taken_with_the_job_and_given_back_with_its_result() {
    let model = corpus_model("numbers");
    let (job, result) = (
        |n, v| ("Job", vec![Value::int(n), Value::int(v)]),
        |n, v| ("Result", vec![Value::int(n), Value::int(v)]),
    );
    let (last, bye) = (|n| ("Last", int(n)), |n| ("Bye", int(n)));
    assert!(can(&model, &[job(1, 5), job(2, 6), result(2, 12), result(1, 10), job(1, 0)]));
    assert!(!can(&model, &[job(1, 5), job(1, 6)]), "the number is taken");
    assert!(!can(&model, &[job(4, 5)]) && !can(&model, &[job(1, 5), result(2, 10)]));
    assert!(can(&model, &[job(1, 5), last(7), bye(8), result(1, 10)]));
    assert!(can(&model, &[last(7), last(8), bye(9), bye(8)]) && !can(&model, &[last(7), bye(7)]));
    assert!(!can(&model, &[last(7), last(8), job(1, 1)]), "both have ended");
}

#[test]
fn an_exit_may_be_part_of_a_communication() {
    for (behaviour, channel, value, after) in [
        ("( A ? x | EXIT ! 5 ) >>> ACCEPT ? y IN C ! y >-> STOP NI", "A", 1, 5),
        ("( EXIT ! 5 | A ? x | ISTEP [[ x == 1 ]] ) >>> ACCEPT ? y IN C ! y >-> STOP NI", "A", 1, 5),
        // Both sides end at once, and each says something.
        (
            "( ( A ? x | EXIT ! 5 ) ||| ( B ? x >-> EXIT ? y :: Int ) ) >>> ACCEPT ? z IN C ! z >-> STOP NI",
            "B",
            1,
            -1,
        ),
        // Two exits with values of their own, in one step.
        (
            "( ( A ? x | EXIT ! 5 ) >>> ACCEPT ? y IN C ! y >-> STOP NI ) |[ A ]| \
             ( ( A ? x | EXIT ! 6 ) >>> ACCEPT ? y IN D ! y >-> STOP NI )",
            "A",
            1,
            5,
        ),
        ("A ? x | ISTEP >-> ISTEP >-> C ! 5 >-> STOP", "A", 1, 5),
    ] {
        for text in [behaviour.to_owned(), format!("D ! 0 >-> ( {behaviour} )")] {
            let start: &[(&str, Vec<Value>)] = if text == behaviour { &[] } else { &[("D", int(0))] };
            let model = loaded_model(&joint("", &text));
            let can = |more: &[(&str, Vec<Value>)]| can(&model, &[start, more].concat());
            let first = (channel, int(value));
            assert!(can(std::slice::from_ref(&first)), "{text}");
            if after >= 0 {
                assert!(can(&[first.clone(), ("C", int(after))]), "{text}");
            } else {
                assert!(can(&[first.clone(), ("A", int(3)), ("C", int(5))]), "{text}");
                assert!(!can(&[("A", int(3))]), "the other side does not end yet: {text}");
            }
            assert!(!can(&[first, ("C", int(6))]), "{text}");
        }
    }
    let both = "( ( A ? x | EXIT ! 5 ) >>> ACCEPT ? y IN C ! y >-> STOP NI ) |[ A ]| \
        ( ( A ? x | EXIT ! 6 ) >>> ACCEPT ? y IN D ! y >-> STOP NI )";
    assert!(can(&loaded_model(&joint("", both)), &[("A", int(1)), ("D", int(6)), ("C", int(5))]));
}

#[test]
fn functions_of_one_name_are_told_by_the_sorts_of_values() {
    // Fields and constructors of one name, values of values, and functions that call themselves, each with its own name
    // shared.
    let text = |value: &str| {
        format!(
            "TYPEDEF Word ::= None | Word {{ value :: Int }} ENDDEF
             TYPEDEF Note ::= None | Note {{ value :: Word; more :: Note }} ENDDEF
             TYPEDEF Truths ::= NoTruths | Truths {{ value :: Bool; more :: Truths }} ENDDEF
             FUNCDEF size (n :: Note) :: Int ::= IF isNone(n) THEN 0 ELSE 1 + size(more(n)) FI ENDDEF
             FUNCDEF size (t :: Truths) :: Int ::= IF isNoTruths(t) THEN 0 ELSE 1 + size(more(t)) FI ENDDEF
             FUNCDEF first (n :: Note) :: Bool ::= value(value(n)) == 1 ENDDEF
             FUNCDEF first (t :: Truths) :: Bool ::= value(t) ENDDEF
             CHANDEF C ::= A, B, C, D :: Int ENDDEF
             MODELDEF M ::= CHAN IN A CHAN OUT C BEHAVIOUR A ? a >-> C ! {value} >-> STOP ENDDEF"
        )
    };
    for (value, is) in [
        ("size(Note(Word(a), Note(None, None)))", 2),
        ("size(Truths(True, NoTruths))", 1),
        ("IF first(Note(Word(a), None)) THEN 1 ELSE 0 FI", 1),
        ("IF first(Truths(a == 2, NoTruths)) THEN 1 ELSE 0 FI", 0),
        ("IF None == Word(a) THEN 1 ELSE 0 FI", 0),
        ("IF Word(a) <> None THEN 1 ELSE 0 FI", 1),
        ("size(IF a == 1 THEN None ELSE Note(None, None) FI)", 0),
        ("LET n = Note(None, None) IN size(n) NI", 1),
        ("value(value(LET n = Note(Word(a), None) IN n NI)) + 4", 5),
    ] {
        let model = loaded_model(&text(value));
        assert!(can(&model, &[("A", int(1)), ("C", int(is))]), "{value}");
        assert!(!can(&model, &[("A", int(1)), ("C", int(is + 1))]), "{value}");
    }
    for (value, says) in [
        ("IF None == None THEN 1 ELSE 0 FI", "it is unclear which `None` is meant here"),
        ("size(a)", "there is no function `size(Int)`"),
        ("size(None) + size(b)", "no variable, constant or constructor `b`"),
    ] {
        let (sources, loaded) = load_text("m.txs", &text(value));
        let findings = render(&sources, &loaded.diagnostics);
        assert!(loaded.model.is_none() && findings.contains(says), "{findings}");
        assert_eq!(loaded.diagnostics.len(), 1, "{findings}");
    }
}

#[test]
fn processes_of_one_name_are_told_by_their_channels_and_parameters() {
    let text = |call: &str| {
        format!(
            "CHANDEF Chans ::= A, B :: Int; C, D :: Int; E :: Int # Int ENDDEF
             PROCDEF p [ X, Y :: Int ] (n :: Int) ::= X ? x >-> Y ! n >-> p [X, Y] (n + 1) ENDDEF
             PROCDEF p [ X, Y :: Int ] (b :: Bool) ::= X ? x >-> p [X, Y] (IF b THEN 10 ELSE 20 FI) ENDDEF
             PROCDEF p [ X :: Int; Y :: Int # Int ] (n :: Int) ::= X ? x >-> Y ! x ! n >-> STOP ENDDEF
             STAUTDEF p [ X, Y :: Int ] () ::= STATE s VAR n :: Int INIT s {{ n := 7 }}
                 TRANS s -> X ? x {{ n := n + x }} -> s s -> Y ! n -> s ENDDEF
             MODELDEF M ::= CHAN IN A, B CHAN OUT C, D, E BEHAVIOUR {call} ENDDEF"
        )
    };
    let both = |a: i64, b: i64| vec![Value::int(a), Value::int(b)];
    for (call, trace) in [
        ("p [A, C] (1)", vec![("A", int(0)), ("C", int(1)), ("A", int(0)), ("C", int(2))]),
        ("p [A, C] (1 > 2)", vec![("A", int(0)), ("A", int(0)), ("C", int(20))]),
        ("p [A, E] (3)", vec![("A", int(0)), ("E", both(0, 3))]),
        ("p [A, C] ()", vec![("A", int(1)), ("C", int(8)), ("C", int(8))]),
        ("stdi_p [A, C] ()", vec![("A", int(1)), ("C", int(8)), ("C", int(8))]),
    ] {
        assert!(can(&loaded_model(&text(call)), &trace), "{call}");
    }
    for (call, says) in [
        ("p [A, C] (\"x\")", "no process `p` has these channels and parameters"),
        ("p [A] ()", "no process `p` has these channels and parameters"),
        ("p [A, X] (1)", "it is unclear which process `p` is meant here"),
        ("stdi_q [A, C] ()", "there is no process `stdi_q`"),
    ] {
        let (sources, loaded) = load_text("m.txs", &text(call));
        let findings = render(&sources, &loaded.diagnostics);
        assert!(loaded.model.is_none() && findings.contains(says), "{findings}");
    }
    let twice = "PROCDEF stdi_p [ A :: Int ] () ::= STOP ENDDEF
        STAUTDEF p [ A :: Int ] () ::= STATE s INIT s ENDDEF";
    let (_, loaded) = load_text("m.txs", &format!("{twice} {}", behaving("STOP")));
    assert!(loaded.diagnostics.iter().any(|finding| finding.code == Code::DuplicateName));
}

/// A text with an automaton of `n_states` states, and a transition on each line; and lines with other definitions.
fn large_text(n_states: usize, n_channels: usize, n_edges: usize, n_others: usize) -> String {
    let list = |name: &str, n: usize| (0..n).map(|at| format!("{name}{at}")).collect::<Vec<_>>().join(", ");
    let (ins, outs) = (list("I", n_channels), list("O", n_channels));
    let mut text = format!(
        "CHANDEF C ::= {ins}, {outs}; Go :: Int ENDDEF\n\
         MODELDEF M ::= CHAN IN {ins}, Go CHAN OUT {outs} BEHAVIOUR big [{ins}, {outs}] () ||| p0 [Go] (0) ENDDEF\n"
    );
    for at in 0..n_others {
        let before = at.saturating_sub(1);
        let value = if at == 0 { "1".into() } else { format!("c{before} + 1") };
        writeln!(text, "CONSTDEF c{at} :: Int ::= {value} ENDDEF").expect("text");
        writeln!(text, "FUNCDEF f (x :: T{at}) :: Int ::= n{at}(x) + c{at} ENDDEF").expect("text");
        writeln!(text, "TYPEDEF T{at} ::= T{at} {{ n{at} :: Int }} ENDDEF").expect("text");
        let next = (at + 1) % n_others;
        let body = format!("Go ! f(T{at}(n)) >-> p{next} [Go] (n)");
        writeln!(text, "PROCDEF p{at} [ Go :: Int ] (n :: Int) ::= {body} ENDDEF").expect("text");
    }
    writeln!(
        text,
        "STAUTDEF big [ {ins}, {outs} ] () ::=\nSTATE {}\nVAR v :: Int\nINIT s0",
        list("s", n_states)
    )
    .expect("text");
    writeln!(text, "TRANS").expect("text");
    for at in 0..n_edges {
        // Backwards, so that what holds at the start needs the whole length to get to the end.
        let (from, to) = (n_states - 1 - at % n_states, (n_states - at % n_states) % n_states);
        let channel = format!("{}{}", if at % 2 == 0 { "I" } else { "O" }, at / 7 % n_channels);
        let set = if from == 0 { "{ v := 1 }" } else { "{ v := v + 1 }" };
        writeln!(text, "  s{from} -> {channel} {set} -> s{to}").expect("text");
    }
    text + "ENDDEF\n"
}

/// With 1,000 states and 330 channels on 85,000 lines, as in the largest public file, this is a matter of seconds.
#[test]
fn large_files_are_read() {
    let (n_states, n_channels, n_edges, n_others) =
        if is_full_run() { (1_000, 165, 80_000, 1_200) } else { (100, 20, 2_000, 100) };
    let text = large_text(n_states, n_channels, n_edges, n_others);
    assert!(text.lines().count() > n_edges + 4 * n_others);
    let model = loaded_model(&text);
    assert_eq!(model.sts.switches.len(), n_edges + n_others);
    let places = |part: usize| {
        model.sts.composition.as_ref().expect("parts").parts.iter().nth(part).map(|it| it.places.len())
    };
    assert_eq!((places(0), places(1)), (Some(n_states), Some(n_others)));
}

/// Reading and unfolding a file makes terms in proportion to its length: four times the file, at most 4.2 times the
/// terms, states and transitions. Anything that looked at all others again for each of them would make sixteen times as
/// many.
#[test]
fn the_work_for_a_file_grows_with_its_length() {
    let sizes = |scale: usize| {
        let model = loaded_model(&large_text(25 * scale, 5 * scale, 500 * scale, 25 * scale));
        [model.pool.len(), model.sts.switches.len(), model.sts.gates.len(), model.sts.vars.len()]
    };
    let (small, large) = (sizes(2), sizes(8));
    for (small, large) in small.into_iter().zip(large) {
        assert!(10 * large <= 42 * small + 100, "{small} and {large}");
    }
}

#[test]
fn a_function_that_calls_a_circle_is_not_in_it() {
    let text = "FUNCDEF f (x :: Int) :: Int ::= g(x) ENDDEF\n\
                FUNCDEF g (x :: Int) :: Int ::= h(x) ENDDEF\n\
                FUNCDEF h (x :: Int) :: Int ::= g(x) ENDDEF\n\
                PROCDEF p [ In, Out :: Int ] () ::= In ? x >-> Out ! f(x) >-> p [In, Out] () ENDDEF\n\
                CHANDEF C ::= In, Out :: Int ENDDEF\n\
                MODELDEF M ::= CHAN IN In CHAN OUT Out BEHAVIOUR p [In, Out] () ENDDEF\n";
    let (sources, loaded) = load_text("circle.txs", text);
    let findings = render(&sources, &loaded.diagnostics);
    let is_told = |name: &str| findings.contains(&format!("`{name}` calls itself by way of other functions"));
    assert!(loaded.model.is_none() && is_told("g") && is_told("h") && !is_told("f"), "{findings}");
    assert_eq!(loaded.diagnostics.iter().filter(|it| it.is_error()).count(), 2, "{findings}");
}

/// A model that is spread over texts, read as one.
fn load_joined(texts: &[&str]) -> (Sources, LoadedText) {
    let mut sources = Sources::new();
    let files: Vec<FileId> =
        texts.iter().enumerate().map(|(at, text)| sources.add(format!("f{at}.txs"), *text)).collect();
    files[1..].iter().for_each(|&other| sources.join(files[0], other));
    let loaded = ioxide_lang::load(&sources, files[0], &LoadOptions::default());
    (sources, loaded)
}

#[test]
fn several_files_are_read_as_one() {
    let model = "MODELDEF M ::= CHAN IN In CHAN OUT Out BEHAVIOUR echo [In, Out] () ENDDEF";
    let shared = "CHANDEF C ::= In, Out :: Int ENDDEF
        PROCDEF echo [In, Out :: Int] () ::= In ? x >-> Out ! more(x) >-> echo [In, Out] () ENDDEF";
    let more = "FUNCDEF more (x :: Int) :: Int ::= x + 1 ENDDEF";
    for order in [[model, shared, more], [shared, more, model], [more, model, shared]] {
        let (sources, loaded) = load_joined(&order);
        let model = loaded.model.unwrap_or_else(|| panic!("{}", render(&sources, &loaded.diagnostics)));
        assert!(can(&model, &[("In", int(1)), ("Out", int(2))]));
    }
    // A finding is in the file it is about.
    let (sources, loaded) = load_joined(&[model, shared, "FUNCDEF more (x :: Int) :: Int ::=\n y ENDDEF"]);
    let findings = render(&sources, &loaded.diagnostics);
    assert!(
        loaded.model.is_none() && sources.file(loaded.diagnostics[0].span.file).name == "f2.txs",
        "{findings}"
    );
}

#[test]
fn names_of_files_are_joined_with_plus() {
    let paths = ioxide_lang::joined_paths;
    assert_eq!(paths("a.txs"), ["a.txs"]);
    assert_eq!(paths("a.txs+b.txs+c.txs"), ["a.txs", "b.txs", "c.txs"]);
    assert_eq!(paths("c++/a+b.txs+d.txs"), ["c++/a+b.txs", "d.txs"]);
    for one in ["a.txs+b.iox", "a.txs+", "a.iox+b.txs", "a+b", ""] {
        assert_eq!(paths(one), [one]);
    }
}
