//! Tests of [`ioxide_testgen::tester::suite`].

use std::sync::Arc;

use ioxide_lang::{LoadOptions, load};
use ioxide_model::label::Label;
use ioxide_model::source::Sources;
use ioxide_model::sts::GateKind;
use ioxide_model::trace::Trace;
use ioxide_smt::brute::BruteSolver;
use ioxide_symex::{Ctx, Monitor};
use ioxide_testgen::tester::replay::plan_of;
use ioxide_testgen::tester::suite::{AnswerWait, LabelTests, SuiteProgress, SuiteTester};
use ioxide_testgen::tester::{Tester, TesterMove, TesterStop};

/// `a` is answered by `x` and `y`, `b` by nothing, `c` only in the second state.
const MODEL: &str = "
model M { input a input b input c output x output y output z
    state one { on a -> first  on b -> one }
    state first { emit x -> second }
    state second { emit y -> two }
    state two { on a -> two  on b -> two  on c -> last }
    state last { emit z -> one } }";

/// Runs every test against a system that does what the model allows, with outputs that come unasked if `quicker`.
fn traces(tester: &mut SuiteTester, text: &str, quicker: bool) -> Vec<String> {
    let mut sources = Sources::default();
    let file = sources.add("test.iox", text);
    let mut model = load(&sources, file, &LoadOptions::default()).model.unwrap();
    let mut solver = BruteSolver::new();
    let mut cx = Ctx::new(&mut model, &mut solver);
    let mut found = Vec::new();
    while !tester.is_done() {
        tester.start(0);
        let (mut monitor, mut trace) = (Monitor::new(&mut cx), Trace::default());
        loop {
            let label = match tester.next(&mut cx, &monitor, &trace) {
                TesterMove::Stimulate(label) if !quicker => label,
                TesterMove::Stimulate(label) | TesterMove::StimulateAfter(_, label) => {
                    said(&mut cx, &monitor).unwrap_or(label)
                }
                TesterMove::Observe | TesterMove::ObserveFor(_) => {
                    said(&mut cx, &monitor).unwrap_or(Label::Quiescence)
                }
                TesterMove::Stop(stop) => {
                    assert!(matches!(stop, TesterStop::GoalMet(_)), "{stop:?}");
                    break;
                }
            };
            monitor.observe(&mut cx, &label).unwrap();
            trace.labels.push(label);
        }
        let labels: Vec<String> = trace.labels.iter().map(|label| label.show(cx.pool, cx.sts)).collect();
        found.push(labels.join(" "));
    }
    found
}

/// Returns an output that the model allows next, if there is one.
fn said(cx: &mut Ctx<'_>, monitor: &Monitor) -> Option<Label> {
    let outputs = cx.sts.gates.iter_enumerated().filter(|(_, gate)| gate.kind == GateKind::Output);
    let labels: Vec<Label> = outputs.map(|(gate, _)| Label::Output(gate, Vec::new())).collect();
    labels.into_iter().find(|label| monitor.accepts(cx, label))
}

fn model(text: &str) -> ioxide_model::sts::Model {
    let mut sources = Sources::default();
    let file = sources.add("test.iox", text);
    load(&sources, file, &LoadOptions::default()).model.unwrap()
}

fn words(words: &[&str]) -> Arc<LabelTests> {
    let sts = model(MODEL).sts;
    let mut tests = LabelTests::default();
    for word in words {
        let label = |name: char| Label::Input(sts.gate_named(&name.to_string()).unwrap(), Vec::new());
        tests.push_word(word.chars().map(label));
    }
    Arc::new(tests)
}

#[test]
fn an_input_follows_when_the_answer_is_complete() {
    let mut tester = SuiteTester::new(words(&["aca", "b", ""]), AnswerWait::Quiescence, 1);
    let expected = ["?a !x !y δ ?c !z δ ?a !x !y δ", "?b δ", ""];
    let found = traces(&mut tester, MODEL, false);
    assert_eq!(found[..2], expected[..2]);
    assert_eq!(found[2], "δ", "an empty word looks once");
    assert_eq!(tester.progress(), SuiteProgress { finished: 3, left_out: 0 });
}

#[test]
fn a_machine_that_answers_once_is_not_waited_for_but_at_the_end() {
    let once = MODEL.replace("state second { emit y -> two }", "state second { on a -> two  on c -> last }");
    let mut tester = SuiteTester::new(words(&["ac", "bb"]), AnswerWait::Output, 1);
    assert_eq!(traces(&mut tester, &once, false), ["?a !x ?c !z δ", "?b δ ?b δ"]);
}

#[test]
fn inputs_the_model_does_not_mention_are_left_out() {
    let mut tester = SuiteTester::new(words(&["ccb", "c"]), AnswerWait::Quiescence, 1);
    assert_eq!(traces(&mut tester, MODEL, false), ["δ ?b δ", "δ"]);
    assert_eq!(tester.progress(), SuiteProgress { finished: 2, left_out: 3 });
}

#[test]
fn outputs_that_come_before_the_next_input_are_no_answer_to_it() {
    let mut tester = SuiteTester::new(words(&["aa"]), AnswerWait::Output, 1);
    assert_eq!(traces(&mut tester, MODEL, true), ["?a !x !y ?a δ"]);
}

#[test]
fn a_suite_is_repeated_and_shared() {
    let suite = words(&["a", "b", "ab"]);
    let run = |tester: SuiteTester| traces(&mut { tester }, MODEL, false).len();
    let tester = SuiteTester::new(suite, AnswerWait::Quiescence, 3);
    assert_eq!(tester.runs(), 9);
    assert_eq!(run(tester.clone()), 9);
    let shares: Vec<usize> = (0..4).map(|worker| run(shared(&tester, worker, 4))).collect();
    assert_eq!(shares, [3, 2, 2, 2]);
    let mut goals = Vec::new();
    let mut second = shared(&tester, 1, 2);
    while !second.is_done() {
        second.start(0);
        goals.push(second.goal().unwrap());
    }
    assert_eq!(goals, ["test 2", "test 1", "test 3", "test 2"]);
}

#[test]
fn a_plan_says_itself_where_to_look() {
    let sts = model(MODEL).sts;
    let label = |name| Label::message(&sts, sts.gate_named(name).unwrap(), Vec::new()).unwrap();
    let trace: Trace = [label("a"), label("x"), label("y"), label("c")].into_iter().collect();
    let mut tests = LabelTests::default();
    tests.push_plan(plan_of(&sts, &trace));
    let mut tester = SuiteTester::new(Arc::new(tests), AnswerWait::Output, 1);
    assert_eq!(traces(&mut tester, MODEL, false), ["?a !x !y ?c !z"]);
}

#[test]
fn what_the_model_says_first_is_awaited() {
    let text = MODEL.replace("state one {", "state hello { emit z -> one } state one {");
    for wait in [AnswerWait::Output, AnswerWait::Quiescence] {
        let mut tester = SuiteTester::new(words(&["b"]), wait, 1);
        let quiet = if wait == AnswerWait::Quiescence { " δ" } else { "" };
        assert_eq!(traces(&mut tester, &text, false), [format!("!z{quiet} ?b δ")]);
    }
}

fn shared(tester: &SuiteTester, worker: usize, jobs: usize) -> SuiteTester {
    let mut own = tester.clone();
    own.share(worker, jobs);
    own
}
