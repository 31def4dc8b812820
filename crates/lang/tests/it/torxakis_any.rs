//! TorXakis models with values that may be any, automata that start in any state, and processes without bound that
//! communicate on several channels at once.

use crate::common::torxakis::label;
use crate::common::{load_text, render};
use ioxide_model::code::Code;
use ioxide_model::concrete::{self, ConcreteState};
use ioxide_model::sts::Model;
use ioxide_model::valuation::Valuation;
use ioxide_model::value::Value;

/// A text with a process `p` over the channels `In` and `Out`, which is the behaviour of the model.
fn text_with(definitions: &str, behaviour: &str) -> String {
    format!(
        "CHANDEF C ::= In, Out :: Int ENDDEF\n{definitions}\n\
         MODELDEF M ::= CHAN IN In CHAN OUT Out BEHAVIOUR {behaviour} ENDDEF\n"
    )
}

#[track_caller]
fn loaded_model(text: &str) -> Model {
    let (sources, loaded) = load_text("m.txs", text);
    loaded.model.unwrap_or_else(|| panic!("{text}\n{}", render(&sources, &loaded.diagnostics)))
}

/// Returns the codes of the findings, which must be errors.
#[track_caller]
fn refusal(text: &str) -> Vec<Code> {
    let (sources, loaded) = load_text("m.txs", text);
    assert!(loaded.model.is_none(), "{text}\n{}", render(&sources, &loaded.diagnostics));
    loaded.diagnostics.iter().map(|finding| finding.code).collect()
}

/// Returns the initial states in which every unknown variable has one of these numbers.
fn initial_states(model: &Model, numbers: &[i64]) -> Vec<ConcreteState> {
    let mut all = vec![Valuation::new()];
    for var in &model.sts.vars {
        let values: Vec<Value> = match var.init {
            Some(init) => vec![model.pool.eval(init, &Valuation::new()).expect("a constant")],
            None => numbers.iter().map(|&n| Value::int(n)).collect(),
        };
        let with = |values: &[Value], before: &Valuation| -> Vec<Valuation> {
            let one = |value: &Value| {
                let mut after = before.clone();
                after.set(var.var, value.clone());
                after
            };
            values.iter().map(one).collect()
        };
        all = all.iter().flat_map(|before| with(&values, before)).collect();
    }
    all.into_iter().map(|values| ConcreteState { loc: model.sts.initial, values }).collect()
}

/// Returns whether the model allows these messages one after the other; unknown values are among 0 to 9.
fn allows(model: &Model, trace: &[(&str, &[i64])]) -> bool {
    let mut states = initial_states(model, &(0..10).collect::<Vec<i64>>());
    for (channel, values) in trace {
        let label = label(model, &((*channel).into(), values.to_vec()));
        let closed = concrete::tau_closure(&model.pool, &model.sts, states, 1_000).expect("evaluates").states;
        let next = closed.iter().flat_map(|state| {
            concrete::successors(&model.pool, &model.sts, state, &label).expect("evaluates")
        });
        states = next.map(|successor| successor.state).collect();
    }
    !states.is_empty()
}

fn n_unknown(model: &Model) -> usize {
    model.sts.vars.iter().filter(|var| var.init.is_none()).count()
}

#[test]
fn any_is_unknown_only_where_it_is_read() {
    // Received before it is read: nothing depends on it, at the start and later.
    let fills = "PROCDEF p [ In, Out :: Int ] (n, m :: Int) ::= \
                 In ? m >-> Out ! n + m >-> p [In, Out] (n, ANY) ENDDEF";
    let model = loaded_model(&text_with(fills, "p [In, Out] (2, ANY)"));
    assert_eq!(n_unknown(&model), 0);
    assert!(allows(&model, &[("In", &[3]), ("Out", &[5]), ("In", &[1]), ("Out", &[3])]));
    assert!(!allows(&model, &[("In", &[3]), ("Out", &[4])]));
    // Read: one value, which is not known, and stays the same.
    let says = "PROCDEF p [ In, Out :: Int ] (n :: Int) ::= \
                In ? x >-> Out ! n + x >-> p [In, Out] (n) ENDDEF";
    let model = loaded_model(&text_with(says, "p [In, Out] (ANY)"));
    assert_eq!(n_unknown(&model), 1);
    assert!(allows(&model, &[("In", &[3]), ("Out", &[7]), ("In", &[1]), ("Out", &[5])]));
    assert!(!allows(&model, &[("In", &[3]), ("Out", &[7]), ("In", &[1]), ("Out", &[6])]));
}

#[test]
fn any_that_is_sent_is_every_value() {
    let body = "PROCDEF p [ In, Out :: Int ] () ::= In ? x >-> Out ! ANY >-> p [In, Out] () ENDDEF";
    let model = loaded_model(&text_with(body, "p [In, Out] ()"));
    assert!((-3..4).all(|n| allows(&model, &[("In", &[1]), ("Out", &[n]), ("In", &[1]), ("Out", &[n * n])])));
}

#[test]
fn any_that_a_step_would_choose_is_refused() {
    let again = "PROCDEF p [ In, Out :: Int ] (n :: Int) ::= \
                 In ? x [[ x > n ]] >-> Out ! n >-> p [In, Out] (ANY) ENDDEF";
    assert_eq!(refusal(&text_with(again, "p [In, Out] (1)")), [Code::TxsNotRead]);
    let asked = "PROCDEF p [ In, Out :: Int ] () ::= In ? x [[ x == ANY ]] >-> p [In, Out] () ENDDEF";
    assert_eq!(refusal(&text_with(asked, "p [In, Out] ()")), [Code::TxsNotRead]);
    let counted = "PROCDEF p [ In, Out :: Int ] (n :: Int) ::= Out ! n >-> p [In, Out] (n) ENDDEF";
    assert_eq!(refusal(&text_with(counted, "p [In, Out] (ANY + 1)")), [Code::TxsNotRead]);
    let function = "FUNCDEF f (x :: Int) :: Int ::= x + ANY ENDDEF\n\
                    PROCDEF p [ In, Out :: Int ] () ::= In ? x >-> Out ! f(x) >-> p [In, Out] () ENDDEF";
    assert_eq!(refusal(&text_with(function, "p [In, Out] ()")), [Code::TxsNotRead]);
    let untyped = "PROCDEF p [ In, Out :: Int ] () ::= In ? x [[ ANY == ANY ]] >-> p [In, Out] () ENDDEF";
    assert_eq!(refusal(&text_with(untyped, "p [In, Out] ()")), [Code::CannotInfer]);
}

#[test]
fn a_goal_cannot_start_with_any() {
    let text = text_with(
        "PROCDEF p [ In, Out :: Int ] () ::= In ? x >-> Out ! x >-> p [In, Out] () ENDDEF\n\
         PROCDEF g [ In :: Int ] (n :: Int) HIT ::= In ? x [[ x == n ]] >-> HIT ENDDEF\n\
         PURPDEF P ::= CHAN IN In CHAN OUT GOAL a ::= g [In] (ANY) ENDDEF",
        "p [In, Out] ()",
    );
    assert_eq!(refusal(&text), [Code::TxsGoal]);
}

#[test]
fn a_variable_of_an_automaton_without_a_value_may_have_any() {
    let text = text_with(
        "STAUTDEF a [ In, Out :: Int ] () ::= STATE here, there VAR seen, other :: Int INIT here { other := 1 }\n\
         TRANS here -> In ? x [[ x > 0 ]] { seen := x } -> there\n\
               here -> In ? x [[ x <= 0 ]] -> there\n\
               there -> Out ! seen + other -> here\n\
         ENDDEF",
        "a [In, Out] ()",
    );
    let model = loaded_model(&text);
    assert_eq!(n_unknown(&model), 1);
    assert!(allows(&model, &[("In", &[3]), ("Out", &[4]), ("In", &[0]), ("Out", &[4])]));
    assert!(!allows(&model, &[("In", &[3]), ("Out", &[5])]));
    assert!(allows(&model, &[("In", &[0]), ("Out", &[8]), ("In", &[0]), ("Out", &[8])]));
    assert!(!allows(&model, &[("In", &[0]), ("Out", &[8]), ("In", &[0]), ("Out", &[7])]));
}

/// `std_a` takes the parameters, the number of a state, and the values of the variables.
#[test]
fn an_automaton_starts_in_the_state_of_a_number() {
    let automaton = "STAUTDEF a [ In, Out :: Int ] (step :: Int) ::=\n\
                     STATE asking STATE answering VAR sum :: Int INIT asking { sum := 0 }\n\
                     TRANS asking -> In ? x { sum := sum + x } -> answering\n\
                           answering -> Out ! sum { sum := sum + step } -> asking ENDDEF";
    let start = |call: &str| loaded_model(&text_with(automaton, call));
    for plain in ["a [In, Out] (5)", "stdi_a [In, Out] (5)", "std_a [In, Out] (5, 0, 0)"] {
        let model = start(plain);
        assert!(allows(&model, &[("In", &[1]), ("Out", &[1]), ("In", &[1]), ("Out", &[7])]), "{plain}");
        assert!(!allows(&model, &[("Out", &[0])]), "{plain}");
    }
    let later = start("std_a [In, Out] (5, 1, 7)");
    assert!(
        allows(&later, &[("Out", &[7]), ("In", &[1]), ("Out", &[13])]) && !allows(&later, &[("In", &[1])])
    );
    let nowhere = start("std_a [In, Out] (5, 2, 7)");
    assert!(!allows(&nowhere, &[("Out", &[7])]) && !allows(&nowhere, &[("In", &[1])]));
    let chosen = "PROCDEF p [ In, Out :: Int ] () ::= In ? at >-> std_a [In, Out] (5, at, 7) ENDDEF";
    let chosen = loaded_model(&text_with(&format!("{automaton}\n{chosen}"), "p [In, Out] ()"));
    assert!(
        allows(&chosen, &[("In", &[1]), ("Out", &[7])]) && allows(&chosen, &[("In", &[0]), ("In", &[2])])
    );
    assert!(
        !allows(&chosen, &[("In", &[1]), ("In", &[2])]) && !allows(&chosen, &[("In", &[4]), ("Out", &[7])])
    );
}

/// Processes without bound are unfolded also where several channels are used at once, seen or hidden.
#[test]
fn growing_processes_may_use_several_channels_at_once() {
    let text = "CHANDEF C ::= Order, Part, Ship, Bill :: Int ENDDEF
PROCDEF store [ Order, Give :: Int ] () ::= Order ? x >-> ( Give ! x ||| store [Order, Give] () ) ENDDEF
PROCDEF pack [ Take, Part, Ship, Bill :: Int ] () ::=
    Take ? x | Part ? y [[ x == y ]] >-> ( Ship ! x | Bill ! y + 1 ||| pack [Take, Part, Ship, Bill] () ) ENDDEF
MODELDEF M ::= CHAN IN Order, Part CHAN OUT Ship, Bill BEHAVIOUR
    HIDE [ H :: Int ] IN store [Order, H] () |[ H ]| pack [H, Part, Ship, Bill] () NI
ENDDEF";
    let (sources, loaded) = load_text("m.txs", text);
    let codes: Vec<Code> = loaded.diagnostics.iter().map(|finding| finding.code).collect();
    assert_eq!(codes, [Code::PartlyUnfolded], "{}", render(&sources, &loaded.diagnostics));
    let model = loaded.model.expect("no error");
    let order = |n: &'static [i64]| ("Order", n);
    let part = |n: &'static [i64]| ("Part", n);
    let shipped: &[i64] = &[6, 5];
    assert!(allows(&model, &[order(&[5]), part(&[5]), ("Bill_Ship", shipped)]));
    assert!(allows(&model, &[order(&[5]), order(&[6]), part(&[5]), ("Bill_Ship", shipped)]));
    assert!(!allows(&model, &[order(&[5]), part(&[6])]) && !allows(&model, &[part(&[5])]));
    assert!(!allows(&model, &[order(&[5]), part(&[5]), ("Ship", &[5])]));
    // Beyond the limits every message of the model is possible or not, also that on two channels.
    let unknown = model.sts.switches.iter().filter(|switch| {
        switch.source == switch.target && &*model.sts.locations[switch.source].name == "not unfolded"
    });
    let gates: Vec<&str> = unknown.map(|switch| &*model.sts.gates[switch.gate].name).collect();
    if model.sts.composition.is_none() {
        let mut gates = gates;
        gates.sort_unstable();
        assert_eq!(gates, ["Bill", "Bill_Ship", "Order", "Part", "Ship"]);
    }
}

/// Of many sides that offer to read or to write, all read or all write: other combinations are not built.
#[test]
fn sides_that_contradict_each_other_do_not_multiply() {
    let text = |n: usize| {
        let sides = vec!["cell [At] (0)"; n].join(" |[ At ]| ");
        format!(
            "TYPEDEF Access ::= Read {{ value :: Int }} | Write {{ new :: Int }} ENDDEF\n\
             CHANDEF C ::= Go; At :: Access ENDDEF\n\
             PROCDEF cell [ At :: Access ] (value :: Int) ::= At ! Read(value) >-> cell [At] (value)\n\
             ## At ? x [[ isWrite(x) ]] >-> cell [At] (new(x)) ENDDEF\n\
             MODELDEF M ::= CHAN IN Go CHAN OUT At BEHAVIOUR Go >-> ( {sides} ) ENDDEF"
        )
    };
    for n in 1..=12 {
        // One step to get there, and then one to read and one to write.
        assert_eq!(loaded_model(&text(n)).sts.switches.len(), 3, "{n} sides");
    }
}

/// A process whose sides do not both end does not end, so its heading declares no exit.
#[test]
fn side_by_side_both_must_end() {
    let sides = "PROCDEF p [ In, Out :: Int ] () ::= ( In ? x >-> EXIT ) |[ In ]| q [In, Out] () ENDDEF\n\
                 PROCDEF q [ In, Out :: Int ] () ::= In ? x >-> Out ! x >-> q [In, Out] () ENDDEF";
    let model = loaded_model(&text_with(sides, "p [In, Out] ()"));
    assert!(allows(&model, &[("In", &[1]), ("Out", &[1])]));
    assert!(!allows(&model, &[("In", &[1]), ("Out", &[1]), ("In", &[1])]));
    let both = sides.replace("q [In, Out] () ENDDEF\nPROCDEF", "( In ? x >-> EXIT ) ENDDEF\nPROCDEF");
    assert_eq!(refusal(&text_with(&both, "p [In, Out] ()")), [Code::BadExit]);
}

/// Texts have the escapes of Haskell.
#[test]
fn characters_have_names_and_numbers() {
    let text = |value: &str| {
        format!(
            "CHANDEF C ::= Out :: String ENDDEF\n\
             MODELDEF M ::= CHAN IN CHAN OUT Out BEHAVIOUR Out ! \"{value}\" ENDDEF"
        )
    };
    for (written, meant) in [
        ("a\\10\\&1", "a\n1"),
        ("\\x41\\o102\\67", "ABC"),
        ("\\SOH\\SO\\ESC[0m", "\u{1}\u{e}\u{1b}[0m"),
        ("\\a\\b\\f\\v\\t", "\u{7}\u{8}\u{c}\u{b}\t"),
        ("\\\"\\\\", "\"\\"),
    ] {
        let model = loaded_model(&text(written));
        let value = Value::str(meant);
        let gate = model.sts.gate_named("Out").expect("declared");
        let label = ioxide_model::label::Label::Output(gate, vec![value]);
        let start = concrete::initial_state(&model.pool, &model.sts).expect("known");
        let next = concrete::successors(&model.pool, &model.sts, &start, &label).expect("evaluates");
        assert_eq!(next.len(), 1, "{written}");
    }
    for wrong in ["\\x110000", "\\99999999999", "\\q", "\\^"] {
        assert_eq!(refusal(&text(wrong)), [Code::BadEscape], "{wrong}");
    }
}
