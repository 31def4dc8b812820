//! Tests of [`ioxide_testgen::tester::game`].

use ioxide_lang::{LoadOptions, load};
use ioxide_model::label::Label;
use ioxide_model::source::Sources;
use ioxide_model::sts::Model;
use ioxide_model::trace::Trace;
use ioxide_smt::stack::{SolverConfig, build_stack};
use ioxide_symex::{Ctx, Monitor};
use ioxide_testgen::tester::Tester;
use ioxide_testgen::tester::game::{GameTally, GameTester};
use ioxide_testgen::tester::random::Interaction;

/// Returns the results of a run for the first goal of the model of `text`, after moves for it before and after each of
/// these messages.
fn tally(text: &str, messages: &[&str]) -> GameTally {
    let mut sources = Sources::default();
    let file = sources.add("test.iox", text);
    let loaded = load(&sources, file, &LoadOptions::default());
    let mut model: Model = loaded.model.unwrap_or_else(|| panic!("{:#?}", loaded.diagnostics));
    let goal = model.sts.goals[0].clone();
    let mut solver = build_stack(&SolverConfig::default());
    let cx = &mut Ctx::new(&mut model, &mut solver);
    let mut tester = GameTester::new(cx, &goal, Interaction::Fair).expect("it can be played for");
    tester.start(1);
    let (mut after, mut history) = (Monitor::new(cx), Trace::default());
    tester.next(cx, &after, &history);
    for name in messages {
        let label = Label::message(cx.sts, cx.sts.gate_named(name).expect("a gate"), Vec::new());
        let label = label.expect("visible");
        after.observe(cx, &label).expect("allowed");
        history.labels.push(label);
        // The last look, and the end.
        tester.next(cx, &after, &history);
        tester.next(cx, &after, &history);
    }
    tester.tally()
}

fn is_forced(text: &str) -> Option<bool> {
    tally(text, &[]).is_forced
}

/// Defect: a goal was called reached though the model may have left it by internal steps that were not followed.
#[test]
fn a_goal_is_reached_if_all_states_meet_it() {
    let far = |n: u32, exit: &str| {
        format!(
            "model Far {{ input go var n: int = 0 state start {{ on go -> won }}
                state won {{ internal when n < {n} {{ n = n + 1 }} -> won {exit} }}
                state lost {{ on go -> lost }} purpose win: reach won }}"
        )
    };
    let exit = |n: u32| format!("internal when n == {n} -> lost");
    assert_eq!(tally(&far(20, ""), &["go"]).reached, 1);
    assert_eq!(tally(&far(20, &exit(20)), &["go"]).reached, 0);
    assert_eq!(tally(&far(12_000, &exit(12_000)), &["go"]).reached, 0);
}

/// One of several doors is the right one; the model chooses it by the switches of `start`.
fn doors(start: &str) -> String {
    let door = |right: usize| {
        let other = 1 - right;
        format!("state d{right} {{ on b{right} -> won on b{other} -> lost }}")
    };
    format!(
        "model Doors {{ input b0 input b1 output o0 output o1 state start {{ {start} }} {} {}
            state won {{}} state lost {{}} purpose win: reach won }}",
        door(0),
        door(1)
    )
}

#[test]
fn a_goal_is_forced_if_the_right_move_is_known() {
    assert_eq!(is_forced(&doors("emit o0 -> d0 emit o1 -> d1")), Some(true));
}

/// Defect: a goal that is forced in every state was called forced, though nobody sees which of them it is.
#[test]
fn a_goal_is_not_forced_if_the_state_cannot_be_seen() {
    assert_eq!(is_forced(&doors("internal -> d0 internal -> d1")), Some(false));
    assert_eq!(is_forced(&doors("emit o0 -> d0 emit o0 -> d1")), Some(false));
}
