//! A monitor whose search for states is stopped: it says so, and forbids nothing from there on.

use ioxide_model::label::Label;
use ioxide_model::value::Value;
use ioxide_smt::halt::{AfterAsks, Halt, Halted};
use ioxide_smt::stack::{SolverConfig, build_stack};
use ioxide_symex::{AllowedLabel, Ctx, LostStates, Monitor};

use crate::systems::generator::loaded;

/// Returns a model that counts unseen from `start` on, up to `most`; a negative number is never sent.
fn counting(start: &str, most: &str) -> String {
    format!(
        "model Counting {{
    output at(n: int)
    var n: int{start}
    state counting {{
        count: internal when n >= 0{most} {{ n = n + 1 }}
        say: emit at(n: n) when n >= 0
    }}
}}"
    )
}

/// Returns what a monitor of the model lacks, its states, and its judgement of a negative number, where every question
/// whether to stop is answered with yes.
fn judge_stopped(text: &str) -> (Option<LostStates>, Option<usize>, Option<AllowedLabel>) {
    let mut model = loaded(text);
    let at = model.sts.gate_named("at").expect("declared");
    let mut solver = build_stack(&SolverConfig::default());
    let mut cx = Ctx::new(&mut model, &mut solver);
    cx.run_within(&Halt::new(AfterAsks::new(0)), |cx| {
        let mut monitor = Monitor::new(cx);
        let (lost, states) = (monitor.lost_states(), monitor.count_states());
        let judged = monitor.observe(cx, &Label::Output(at, vec![Value::int(-1)]));
        (lost, states, judged.ok())
    })
}

#[test]
fn a_stopped_search_for_states_forbids_nothing() {
    for start in [" = 0", ""] {
        let (lost, states, judged) = judge_stopped(&counting(start, ""));
        assert_eq!(lost, Some(LostStates::Stopped(Halted::Time)), "`{start}`");
        // It ends long before the limit of states.
        assert!(states.is_some_and(|states| states < 1_000), "`{start}`: {states:?}");
        assert_eq!(judged, Some(AllowedLabel::Unknown), "`{start}`");
    }
}

#[test]
fn a_short_search_does_not_depend_on_the_time() {
    let (lost, states, judged) = judge_stopped(&counting(" = 0", " && n < 9"));
    assert_eq!((lost, states, judged), (None, Some(10), None));
}
