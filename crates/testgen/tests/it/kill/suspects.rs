//! Tests of [`ioxide_testgen::kill::suspects`].

use ioxide_lang::{LoadOptions, load};
use ioxide_model::label::Label;
use ioxide_model::source::Sources;
use ioxide_model::sts::Model;
use ioxide_model::trace::Trace;
use ioxide_smt::solver::NoSolver;
use ioxide_smt::stack::{SolverConfig, build_stack};
use ioxide_symex::{Ctx, Monitor};
use ioxide_testgen::kill::suspects::Suspects;
use ioxide_testgen::mutate::{MutationOperator, mutants};

fn model(text: &str) -> Model {
    let mut sources = Sources::default();
    let file = sources.add("test.iox", text);
    let loaded = load(&sources, file, &LoadOptions::default());
    loaded.model.unwrap_or_else(|| panic!("{:#?}", loaded.diagnostics))
}

/// A system that counts to `n` before it says that it is late.
fn slow(n: u32) -> Model {
    model(&format!(
        "model Slow {{ input go output late output ok var n: int = 0
            state idle {{ on go -> busy }}
            state busy {{
                count: internal when n < {n} {{ n = n + 1 }} -> busy
                done: emit late when n == {n} -> idle
                fine: emit ok -> idle
            }} }}"
    ))
}

/// The mutants of `model` that leave out a switch, by its label, which are ruled out after `messages`.
fn ruled_out(model: &mut Model, messages: &[&str]) -> Vec<String> {
    let mut all = mutants(model, &[MutationOperator::Delete]);
    all.retain(|mutant| mutant.id.starts_with("done") || mutant.id.starts_with("fine"));
    let label = |name: &&str| Label::message(&model.sts, model.sts.gate_named(name)?, Vec::new());
    let trace: Trace = messages.iter().map(|name| label(name).expect("a message")).collect();
    let mut suspects = Suspects::new(&model.sts, all.iter().enumerate());
    let mut solver = build_stack(&SolverConfig::default());
    let cx = &mut Ctx::new(model, &mut solver);
    let monitor = Monitor::new(cx);
    suspects.follow_trace(cx, &monitor, &trace.labels[..0].iter().cloned().collect());
    for at in 0..trace.len() {
        suspects.follow_trace(cx, &monitor, &trace.labels[..=at].iter().cloned().collect());
    }
    let out = (0..all.len()).filter(|&at| !suspects.is_open(at));
    out.map(|at| all[at].id.clone()).collect()
}

#[test]
fn a_suspect_is_ruled_out_by_what_it_cannot_show() {
    assert_eq!(ruled_out(&mut slow(9_000), &["go", "late"]), ["done-delete-1"]);
    assert_eq!(ruled_out(&mut slow(9_000), &["go", "ok"]), ["fine-delete-1"]);
}

/// Defect: states that were not looked for could not show it.
#[test]
fn a_suspect_with_too_many_states_is_not_ruled_out() {
    assert!(ruled_out(&mut slow(12_000), &["go", "late"]).is_empty());
}

/// Defect: where nobody knew whether a suspect may be silent, its silence was called impossible.
#[test]
fn a_suspect_whose_silence_is_not_decided_is_not_ruled_out() {
    let mut model = model(
        "model Odd { input go output told(x: int) output ok
            state idle { on go -> busy }
            state busy { tell: emit told when x * x * x == 7 + x -> idle  other: on go -> busy } }",
    );
    let all = mutants(&mut model, &[MutationOperator::Target]);
    let go = Label::message(&model.sts, model.sts.gate_named("go").expect("an input"), Vec::new());
    let trace: Trace = go.into_iter().chain([Label::Quiescence]).collect();
    let mut suspects = Suspects::new(&model.sts, all.iter().enumerate());
    let mut solver = NoSolver;
    let cx = &mut Ctx::new(&mut model, &mut solver);
    let monitor = Monitor::new(cx);
    suspects.follow_trace(cx, &monitor, &trace);
    assert_eq!(suspects.ruled_out(), (0, all.len()));
}

/// Defect: a suspect that may say something before an input was ruled out, though the input may have been taken later.
#[test]
fn a_suspect_may_have_taken_an_input_late() {
    let mut model = model(
        "model Talker { input go output x output y
            state idle { say: emit x -> idle  ask: on go -> busy }
            state busy { tell: emit y -> idle  more: emit x -> busy } }",
    );
    let mut all = mutants(&mut model, &[MutationOperator::Delete]);
    all.retain(|mutant| mutant.id.starts_with("more"));
    let label = |name| Label::message(&model.sts, model.sts.gate_named(name).expect("a gate"), Vec::new());
    let [go, x, y] = ["go", "x", "y"].map(|name| label(name).expect("visible"));
    let suspects = Suspects::new(&model.sts, all.iter().enumerate());
    let mut solver = build_stack(&SolverConfig::default());
    let cx = &mut Ctx::new(&mut model, &mut solver);
    // After `go` the mutant does not say `x`, but the system may have said that before it took `go`.
    let written = |cx: &mut Ctx<'_>, seen: &[&Label]| {
        let (mut after, mut suspects, mut history) = (Monitor::new(cx), suspects.clone(), Trace::default());
        suspects.follow_trace(cx, &after, &history);
        after.record_sent(cx, &go, 0);
        history.labels.push(go.clone());
        suspects.follow_trace(cx, &after, &history);
        for &label in seen {
            after.observe(cx, label).expect("allowed");
            history.labels.push(label.clone());
            suspects.follow_trace(cx, &after, &history);
        }
        suspects.ruled_out().0
    };
    assert_eq!(written(cx, &[&x]), 0);
    assert_eq!(written(cx, &[&x, &y]), 0);
    assert_eq!(written(cx, &[&y, &x]), 0, "`x` is allowed again");
    // It is known that `go` was taken first.
    let (mut after, mut suspects, mut history) = (Monitor::new(cx), suspects.clone(), Trace::default());
    for label in [&go, &x] {
        suspects.follow_trace(cx, &after, &history);
        after.observe(cx, label).expect("allowed");
        history.labels.push(label.clone());
    }
    suspects.follow_trace(cx, &after, &history);
    assert_eq!(suspects.ruled_out(), (1, 1));
}

/// One unconfirmed input too many made every later label prove nothing.
#[test]
fn a_suspect_is_ruled_out_whatever_the_order_of_two_inputs() {
    let mut model = model(
        "model Two { input go output x output y
            state idle { say: emit x -> idle  ask: on go -> busy }
            state busy { tell: emit y -> idle  again: on go -> busy } }",
    );
    let mut all = mutants(&mut model, &[MutationOperator::Delete]);
    all.retain(|mutant| mutant.id.starts_with("tell") || mutant.id.starts_with("say"));
    let label = |name| Label::message(&model.sts, model.sts.gate_named(name).expect("a gate"), Vec::new());
    let [go, x, y] = ["go", "x", "y"].map(|name| label(name).expect("visible"));
    let start = Suspects::new(&model.sts, all.iter().enumerate());
    let mut solver = build_stack(&SolverConfig::default());
    let cx = &mut Ctx::new(&mut model, &mut solver);
    let mut ruled_out = |seen: &Label| {
        let (mut monitor, mut suspects, mut trace) = (Monitor::new(cx), start.clone(), Trace::default());
        suspects.follow_trace(cx, &monitor, &trace);
        for _ in 0..2 {
            monitor.record_sent(cx, &go, 0);
            trace.labels.push(go.clone());
            suspects.follow_trace(cx, &monitor, &trace);
        }
        monitor.observe(cx, seen).expect("allowed");
        trace.labels.push(seen.clone());
        suspects.follow_trace(cx, &monitor, &trace);
        let out = (0..all.len()).filter(|&at| !suspects.is_open(at));
        out.map(|at| all[at].id.clone()).collect::<Vec<_>>()
    };
    assert_eq!(ruled_out(&y), ["tell-delete-1"]);
    assert_eq!(ruled_out(&x), ["say-delete-1"]);
}
