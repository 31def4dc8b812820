//! The meaning of silence in timed models: what it rules out, and what it says.

use std::ops::ControlFlow;

use ioxide_model::label::Label;
use ioxide_model::sts::{GateKind, Model};
use ioxide_model::value::Value;
use ioxide_symex::{AllowedLabel, Ctx, Monitor, Tolerance};
use ioxide_testgen::conform::import::join;
use ioxide_testgen::conform::{ConformAnswer, ConformOptions, conform};

use crate::common::{named, seconds, solver};
use crate::timed::enumerated::Enumerated;

/// One input leads to two places. In the first the system has to speak within two seconds, and only there `z` may
/// follow another input.
const FORKED: &str = "model Forked { input a input b output y output z output q clock c
    state idle { loud: on b { reset c } -> due  mute: on b { reset c } -> free }
    state due { speak: emit y when c <= 2.0 -> over  in_due: on a -> after_due }
    state free { in_free: on a -> after_free }
    state after_due { emit z -> over }
    state after_free { emit q -> over }
    state over { } }";

/// The model without the transition of this name.
fn without(text: &str, name: &str) -> String {
    let at = text.find(&format!("{name}:")).expect("a transition");
    let end = at + text[at..].find("-> ").expect("a target") + 3;
    let end = end + text[end..].find(|c: char| !c.is_alphanumeric() && c != '_').expect("its end");
    format!("{}{}", &text[..at], &text[end..])
}

/// Reads `b 30 a z`: messages, and tenths of a second that pass between them.
fn labels(model: &Model, trace: &str) -> Vec<Label> {
    let label = |word: &str| match (word, word.parse()) {
        ("delta", _) => Label::Quiescence,
        (_, Ok(tenths)) => Label::Delay(seconds(tenths)),
        (name, Err(_)) => {
            let gate = model.sts.gate_named(name).expect("a message");
            Label::message(&model.sts, gate, Vec::<Value>::new()).expect("a message without fields")
        }
    };
    trace.split_whitespace().map(label).collect()
}

/// The judgement of each label, up to the first that is forbidden.
fn judge_labels(text: &str, trace: &str, tolerance: Tolerance) -> Vec<Result<AllowedLabel, Label>> {
    let mut model = named("model.iox", text);
    let labels = labels(&model, trace);
    let mut solver = solver();
    let mut cx = Ctx::new(&mut model, &mut solver);
    let mut monitor = Monitor::with_tolerance(&mut cx, tolerance);
    let mut found = Vec::new();
    for (at, label) in labels.iter().enumerate() {
        let is_seen = |label: &Label| match label {
            Label::Output(..) => true,
            Label::Input(gate, _) => cx.sts.gates[*gate].kind == GateKind::Observed,
            Label::Quiescence | Label::Delay(_) => false,
        };
        match (label, labels.get(at + 1)) {
            // Time that a message ends is judged together with it.
            (Label::Delay(time), Some(next)) if is_seen(next) => monitor.advance_time(&mut cx, time),
            _ => found.push(monitor.observe(&mut cx, label).map_err(|forbidden| forbidden.label.clone())),
        }
        if matches!(found.last(), Some(Err(_))) {
            break;
        }
    }
    found
}

fn is_allowed(text: &str, trace: &str) -> bool {
    judge_labels(text, trace, Tolerance::default()).iter().all(|label| *label == Ok(AllowedLabel::Allowed))
}

/// Compares imp with spec; with the witness.
fn compare(imp: &str, spec: &str) -> (ConformAnswer, String) {
    let mut spec = named("spec.iox", spec);
    let imp = join(&mut spec, &named("imp.iox", imp)).expect("the same messages");
    let mut solver = solver();
    let mut cx = Ctx::new(&mut spec, &mut solver);
    let watch = &mut |_: &_| ControlFlow::Continue(());
    let answer = conform(&mut cx, &imp, &ConformOptions::default(), watch).expect("the same messages").answer;
    let shown = match &answer {
        ConformAnswer::Fails(witness) => {
            let labels = witness.trace.labels.iter().map(|label| label.show(cx.pool, cx.sts).to_string());
            labels.collect::<Vec<_>>().join(" ")
        }
        _ => String::new(),
    };
    (answer, shown)
}

/// Defect: `b +3s a z` was allowed, though either branch alone forbids it.
#[test]
fn a_silence_rules_out_the_branch_that_had_to_speak() {
    assert!(is_allowed(FORKED, "b 30 a q"));
    assert!(!is_allowed(FORKED, "b 30 a z"));
    for branch in ["loud", "mute"] {
        assert!(!is_allowed(&without(FORKED, branch), "b 30 a z"), "without {branch}");
    }
    // Before the deadline, and at it, both branches are there.
    for wait in ["", "10", "20"] {
        assert!(is_allowed(FORKED, &format!("b {wait} a z")), "{wait}");
        assert!(is_allowed(FORKED, &format!("b {wait} a q")), "{wait}");
    }
    // In parts it is the same silence.
    assert!(!is_allowed(FORKED, "b 10 20 a z"));
    assert!(is_allowed(FORKED, "b 10 10 a z"));
}

#[test]
fn conform_and_enumeration_agree_on_what_a_silence_rules_out() {
    let model = named("model.iox", FORKED);
    let mut oracle = Enumerated::new(&model);
    let [b, a, z, q] = ["b", "a", "z", "q"].map(|name| labels(&model, name).remove(0));
    oracle.entry = oracle.after(0, &b);
    oracle.entry = oracle.after(30, &a);
    assert!(oracle.after(0, &z).is_empty() && !oracle.after(0, &q).is_empty());
    // A system that answers as only the branch would that had to speak.
    let late = FORKED.replace(
        "in_free: on a -> after_free",
        "in_free: on a when c > 2.5 -> after_due  in_time: on a when c <= 2.5 -> after_free",
    );
    let (answer, shown) = compare(&without(&late, "loud"), FORKED);
    assert!(matches!(answer, ConformAnswer::Fails(_)), "{answer:?}");
    assert!(shown.ends_with("!z") && shown.contains("?a"), "{shown}");
    for conforming in [FORKED.to_owned(), without(FORKED, "loud"), without(FORKED, "mute")] {
        let (answer, shown) = compare(&conforming, FORKED);
        assert!(matches!(answer, ConformAnswer::Conforms(_)), "{answer:?} {shown}");
    }
}

/// Defect: a message of somebody else after a silence that was too long counted as not mentioned, and opened
/// everything.
#[test]
fn a_silence_that_was_too_long_is_forbidden_whatever_ends_it() {
    let text = "model Due { input go input a observed input other output told clock c
        state idle { on go { reset c } -> due }
        state due { emit told when c <= 2.0 -> idle } state far { on a -> far on other -> far } }";
    for end in ["a", "other", "told"] {
        let found = judge_labels(text, &format!("go 30 {end}"), Tolerance::default());
        assert!(matches!(found.last(), Some(Err(_))), "{end}: {found:?}");
    }
    // It is the silence that is told, with its length.
    for end in ["a", "other"] {
        let found = judge_labels(text, &format!("go 30 {end}"), Tolerance::default());
        assert_eq!(found.last(), Some(&Err(Label::Delay(seconds(30)))), "{end}");
    }
    // Within the tolerance it is no failure yet; beyond it is one.
    let tolerance = || Tolerance { latency: seconds(5), ..Tolerance::default() };
    let found = judge_labels(text, "go 22 other", tolerance());
    assert!(found.iter().all(Result::is_ok), "{found:?}");
    let found = judge_labels(text, "go 40 other", tolerance());
    assert!(matches!(found.last(), Some(Err(_))), "{found:?}");
}

/// Defect: quiescence was asked of the places just after the last message, and an internal step may have left them.
#[test]
fn an_internal_step_may_enter_a_quiescent_place_while_time_passes() {
    let text = "model Tired { input go output told clock c
        state idle { on go { reset c } -> busy }
        state busy { internal when c >= 1.0 -> asleep  emit told when c >= 3.0 -> idle }
        state asleep { on go -> asleep } }";
    assert!(is_allowed(text, "go 20 delta go delta"));
    assert!(!is_allowed(text, "go 5 delta"), "it may still speak, and cannot sleep yet");
    assert!(!is_allowed(text, "go delta"));
    let (answer, shown) = compare(text, text);
    assert!(matches!(answer, ConformAnswer::Conforms(_)), "{answer:?} {shown}");
    // A system that falls asleep where the model has to be awake is distinguished from it by quiescence after a while.
    let awake =
        text.replace("internal when c >= 1.0 -> asleep", "internal when c >= 5.0 && c < 1.0 -> asleep");
    let (answer, shown) = compare(text, &awake);
    assert!(matches!(answer, ConformAnswer::Fails(_)), "{answer:?}");
    assert!(shown.ends_with('δ'), "{shown}");
}
