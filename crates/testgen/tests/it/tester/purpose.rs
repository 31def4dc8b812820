//! Every branch of \[BT19] Algorithm 1, on the adder of its Examples 4, 17 and 18.

use ioxide_lang::{LoadOptions, load};
use ioxide_model::goal::PathStep;
use ioxide_model::label::Label;
use ioxide_model::source::Sources;
use ioxide_model::trace::Trace;
use ioxide_model::value::Value;
use ioxide_smt::brute::BruteSolver;
use ioxide_smt::solver::{NoSolver, Solver};
use ioxide_symex::{Ctx, Monitor};
use ioxide_testgen::purpose::TestPurpose;
use ioxide_testgen::tester::purpose::PurposeGuided;
use ioxide_testgen::tester::{Tester, TesterMove, TesterStop};

const ADDER: &str = "
model Adder {
    input inX(p: int) output outX(p: int) output done
    var x: int = 0
    state idle {
        r0: on inX when 1 <= p <= 10 { x = x + p } -> busy
    }
    state busy {
        r1: emit outX(p: x) when x <= 15 -> idle
        r2: emit done when x > 15 -> stopped
    }
    state stopped {}
}";

/// Runs the tester along `path`; `say` answers look number n.
fn follow(
    text: &str,
    solver: &mut dyn Solver,
    path: &[&str],
    say: impl Fn(&mut Ctx<'_>, usize, &Trace) -> Label,
) -> (Trace, TesterStop) {
    let mut sources = Sources::default();
    let file = sources.add("test.iox", text);
    let mut model = load(&sources, file, &LoadOptions::default()).model.unwrap();
    let mut cx = Ctx::new(&mut model, solver);
    let step = |label: &&str| cx.sts.switch_named(label).map_or(PathStep::Quiet, PathStep::Take);
    let path: Vec<PathStep> = path.iter().map(step).collect();
    let purpose = TestPurpose::from_path(&mut cx, "test".into(), &path).unwrap();
    let mut tester = PurposeGuided::new(purpose, 1);
    tester.start(1);
    let (mut after, mut trace) = (Monitor::new(&mut cx), Trace::default());
    for looks in 0.. {
        let label = loop {
            match tester.next(&mut cx, &after, &trace) {
                TesterMove::Stimulate(label) | TesterMove::StimulateAfter(_, label) => {
                    assert!(after.accepts(&mut cx, &label));
                    after.observe(&mut cx, &label).unwrap();
                    trace.labels.push(label);
                }
                TesterMove::Observe | TesterMove::ObserveFor(_) => break say(&mut cx, looks, &trace),
                TesterMove::Stop(stop) => return (trace, stop),
            }
        };
        after.observe(&mut cx, &label).unwrap();
        trace.labels.push(label);
    }
    unreachable!("looks have no end")
}

/// Returns the answer of a correct adder after `trace`.
fn adder(cx: &mut Ctx<'_>, _: usize, trace: &Trace) -> Label {
    let total: i64 = trace.labels.iter().map(sent).sum();
    let gate = |name| cx.sts.gate_named(name).unwrap();
    match trace.labels.last() {
        Some(Label::Input(..)) if total > 15 => Label::Output(gate("done"), Vec::new()),
        Some(Label::Input(..)) => Label::Output(gate("outX"), vec![Value::int(total)]),
        _ => Label::Quiescence,
    }
}

fn sent(label: &Label) -> i64 {
    match label {
        Label::Input(_, values) => values[0].as_int().and_then(|n| n.to_i64()).unwrap(),
        Label::Output(..) | Label::Quiescence | Label::Delay(_) => 0,
    }
}

#[test]
fn values_are_chosen_so_that_the_rest_stays_possible() {
    let (trace, stop) = follow(ADDER, &mut BruteSolver::new(), &["r0", "r1", "r0", "r1", "r0", "r2"], adder);
    assert!(matches!(stop, TesterStop::GoalMet(_)), "{stop:?}");
    let sent: Vec<i64> = trace.labels.iter().map(sent).filter(|&n| n > 0).collect();
    assert!(sent[0] + sent[1] <= 15 && sent.iter().sum::<i64>() > 15, "{sent:?}");
    assert_eq!(trace.labels.last(), Some(&Label::Quiescence), "one more look after the last switch");
}

#[test]
fn where_the_solver_cannot_say_the_guard_alone_decides() {
    // Example 18: no solver sees that this path is impossible before a value is chosen.
    let (trace, stop) = follow(ADDER, &mut NoSolver, &["r0", "r2"], adder);
    assert!(trace.is_empty());
    assert!(
        matches!(&stop, TesterStop::Inconclusive(why) if why.contains("leave the path of the purpose")),
        "{stop:?}"
    );
    let (trace, stop) = follow(ADDER, &mut NoSolver, &["r0", "r1", "r0", "r1"], adder);
    assert!(matches!(stop, TesterStop::GoalMet(_) | TesterStop::Inconclusive(_)));
    assert!(!trace.is_empty(), "the guard of the first switch has solutions: {stop:?}");
}

const COIN: &str = "
model Coin {
    input toss output heads output tails output value(k: 0..3)
    var m: 0..3 = 0
    state idle { toss: on toss -> up  more: on toss when m == 3 -> idle }
    state up {
        heads: emit heads -> idle
        tails: emit tails -> idle
        value: emit value { m = k } -> idle
    }
}";

#[test]
fn another_output_leaves_the_path() {
    let say =
        |cx: &mut Ctx<'_>, _: usize, _: &Trace| Label::Output(cx.sts.gate_named("tails").unwrap(), vec![]);
    let (_, stop) = follow(COIN, &mut BruteSolver::new(), &["toss", "heads"], say);
    assert_eq!(stop, TesterStop::GoalMissed("got !tails, but the purpose expects `heads`".into()));
}

#[test]
fn a_value_that_makes_the_rest_impossible_ends_the_run() {
    let say = |n: i64| {
        move |cx: &mut Ctx<'_>, looks: usize, _: &Trace| match looks {
            0 => Label::Output(cx.sts.gate_named("value").unwrap(), vec![Value::int(n)]),
            _ => Label::Quiescence,
        }
    };
    let path = ["toss", "value", "more"];
    let (_, stop) = follow(COIN, &mut BruteSolver::new(), &path, say(2));
    assert_eq!(
        stop,
        TesterStop::GoalMissed("after !value(k: 2) the rest of the purpose is impossible".into())
    );
    let (trace, stop) = follow(COIN, &mut BruteSolver::new(), &path, say(3));
    assert!(matches!(stop, TesterStop::GoalMet(_)), "{stop:?}");
    assert_eq!(trace.len(), 4);
}

#[test]
fn silence_where_an_output_is_expected_leaves_the_path() {
    let text = "model M { input go output yes
        state s { go: on go -> u }
        state u { quiet: internal -> s  yes: emit yes -> s } }";
    let (_, stop) = follow(text, &mut BruteSolver::new(), &["go", "yes"], |_, _, _| Label::Quiescence);
    let expected = "the system was silent where the purpose expects `yes`";
    assert_eq!(stop, TesterStop::GoalMissed(expected.into()));
}
