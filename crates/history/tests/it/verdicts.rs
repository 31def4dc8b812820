//! Small histories with verdicts that can be seen by looking.

use std::fs;

use super::models::{BAG, REGISTER, example, history, judge, label, model, read, root};
use ioxide_history::{
    Consistency, HistoryConfig, HistoryVerdict, LiveHistory, LiveVerdict, SearchLimits, StateSpace,
    UnknownCause, prove_sequential,
};
use ioxide_smt::stack::{SolverConfig, build_stack};
use ioxide_symex::Ctx;

fn config(consistency: Consistency) -> HistoryConfig {
    HistoryConfig { consistency, ..HistoryConfig::default() }
}

/// The core if there is no order, `None` if there is.
fn core(text: &str, lines: &str, consistency: Consistency) -> Option<Vec<usize>> {
    let model = model(text);
    match judge(&model, &history(&model, lines), &config(consistency)).verdict {
        HistoryVerdict::Consistent(_) => None,
        HistoryVerdict::Inconsistent(core) => Some(core.operations),
        other => panic!("{other:?}"),
    }
}

const STALE: &str =
    "a call write 1\na return written\nb call write 2\nb return written\nc call read\nc return value 1";

#[test]
fn a_stale_read_is_not_linearizable_but_sequential() {
    assert_eq!(core(REGISTER, STALE, Consistency::Linearizable), Some(vec![0, 1, 2]));
    assert_eq!(core(REGISTER, STALE, Consistency::Sequential), None);
}

#[test]
fn a_client_sees_its_own_write_under_both() {
    let lines = "a call write 1\na return written\na call read\na return value 0";
    assert_eq!(core(REGISTER, lines, Consistency::Linearizable), Some(vec![0, 1]));
    assert_eq!(core(REGISTER, lines, Consistency::Sequential), Some(vec![0, 1]));
}

#[test]
fn an_open_operation_may_take_effect_late_or_never_but_once() {
    let open = "a call write 1\na open\nb call read\nb return value 0\nb call read\nb return value 1\n";
    assert_eq!(core(REGISTER, open, Consistency::Linearizable), None);
    let never = "a call write 1\na open\nb call read\nb return value 0";
    assert_eq!(core(REGISTER, never, Consistency::Linearizable), None);
    let twice = format!("{open}b call write 2\nb return written\nb call read\nb return value 1");
    assert_eq!(core(REGISTER, &twice, Consistency::Linearizable), Some(vec![2, 3, 4]));
    let early = "b call read\nb return value 1\na call write 1\na open";
    assert_eq!(core(REGISTER, early, Consistency::Linearizable), Some(vec![0]));
}

#[test]
fn a_void_operation_has_no_effect() {
    let lines = "a call write 1\na void\nb call read\nb return value 1";
    assert_eq!(core(REGISTER, lines, Consistency::Linearizable), Some(vec![0]));
}

#[test]
fn choices_of_the_model_are_all_believed() {
    // Puts may be lost, and any item may be taken.
    let lines = "a call put 1\na return ok\na call put 2\na return ok\nb call take\nb return got 2\n\
                 b call take\nb return got 1";
    assert_eq!(core(BAG, lines, Consistency::Linearizable), None);
    let lost = "a call put 1\na return ok\nb call take\nb return empty";
    assert_eq!(core(BAG, lost, Consistency::Linearizable), None);
    let twice = "a call put 1\na return ok\nb call take\nb return got 1\nb call take\nb return got 1";
    assert_eq!(core(BAG, twice, Consistency::Linearizable), Some(vec![1, 2]));
    let taken = "a call put 1\na return ok\nc call take\nc open\nb call take\nb return got 1\nd call put 1\n\
                 d return ok\nb call take\nb return empty";
    assert_eq!(core(BAG, taken, Consistency::Linearizable), None);
}

#[test]
fn a_limit_says_unknown() {
    let model = model(REGISTER);
    let limits = SearchLimits { max_configurations: 1, ..SearchLimits::default() };
    let lines =
        "a call write 1\nb call write 2\na return written\nb return written\nc call read\nc return value 1";
    let judged =
        judge(&model, &history(&model, lines), &HistoryConfig { limits, ..HistoryConfig::default() });
    assert!(matches!(judged.verdict, HistoryVerdict::Unknown(UnknownCause::Configurations(1))), "{judged:?}");
}

#[test]
fn an_input_the_model_does_not_mention_leaves_everything_open() {
    let text = "model M { input a(n: 0..3) output x(n: 0..3) var k: 0..3 = 0
        state s { on a when n > 0 { k = n } -> t } state t { emit x(n: k) -> s } }";
    let model = model(text);
    let lines = "a call a 0\na return x 3\na call a 1\na return x 2";
    let judged = judge(&model, &history(&model, lines), &HistoryConfig::default());
    assert!(matches!(judged.verdict, HistoryVerdict::Unspecified(_)), "{judged:?}");
    let lines = "a call a 1\na return x 2\na call a 0\na return x 3";
    let judged = judge(&model, &history(&model, lines), &HistoryConfig::default());
    assert!(matches!(judged.verdict, HistoryVerdict::Inconsistent(_)), "{judged:?}");
}

#[test]
fn the_core_names_what_cannot_be_placed_and_what_would_have_been_allowed() {
    let register = example("register.iox");
    let text = fs::read_to_string(root().join("examples/histories/stale.edn")).unwrap();
    let history = read(&register, &text).unwrap();
    let HistoryVerdict::Inconsistent(core) = judge(&register, &history, &HistoryConfig::default()).verdict
    else {
        panic!("7 was overwritten");
    };
    let shown = |at: &usize| history.show_operation(&register.pool, &register.sts, *at);
    assert_eq!(
        core.operations.iter().map(shown).collect::<Vec<_>>(),
        [
            "client 0: ?write(v: 7) !written",
            "client 1: ?write(v: 5) !written",
            "client 0: ?read !value(v: some(7))"
        ]
    );
    assert_eq!(shown(&core.stuck), "client 0: ?read !value(v: some(7))");
    assert!(core.is_minimal && core.since.is_none());
    assert!(!core.allowed.is_empty());
    let late = fs::read_to_string(root().join("examples/histories/late.edn")).unwrap();
    let history = read(&register, &late).unwrap();
    assert!(matches!(
        judge(&register, &history, &HistoryConfig::default()).verdict,
        HistoryVerdict::Consistent(_)
    ));
}

#[test]
fn a_long_past_is_forgotten_at_a_cut() {
    let model = model(REGISTER);
    let mut lines = String::new();
    for n in 0..600 {
        let (v, w) = (n % 4, (n + 1) % 4);
        lines += &format!("a call write {v}\nb call write {w}\na return written\nb return written\n");
    }
    // The last two writes are of 3 and 0, at the same time.
    lines += "a call read\na return value 1";
    let HistoryVerdict::Inconsistent(core) =
        judge(&model, &history(&model, &lines), &HistoryConfig::default()).verdict
    else {
        panic!("there is no order");
    };
    assert_eq!((core.operations.as_slice(), core.since.map(|states| states.len())), (&[1200][..], Some(2)));
}

#[test]
fn live_histories_are_settled_at_cuts() {
    let mut model = model(REGISTER);
    let message = model.clone();
    let mut solver = build_stack(&SolverConfig::default());
    let mut cx = Ctx::new(&mut model, &mut solver);
    let sequential = prove_sequential(&mut cx).unwrap();
    let mut live = LiveHistory::new(StateSpace::new(&mut cx, &sequential));
    let limits = SearchLimits::default();
    let label = |name: &str, values: &[i64]| label(&message, name, values);
    live.call(0, label("write", &[1])).unwrap();
    live.call(1, label("write", &[2])).unwrap();
    assert_eq!(live.answer(0, label("written", &[]), &limits), Ok(LiveVerdict::Pending));
    assert_eq!(live.answer(1, label("written", &[]), &limits), Ok(LiveVerdict::Settled));
    assert_eq!(live.count_unsettled(), 0);
    live.call(0, label("read", &[])).unwrap();
    assert_eq!(live.answer(0, label("value", &[1]), &limits), Ok(LiveVerdict::Settled));
    live.call(0, label("read", &[])).unwrap();
    assert_eq!(live.answer(0, label("value", &[2]), &limits), Ok(LiveVerdict::Inconsistent));
    assert!(live.answer(7, label("written", &[]), &limits).is_err());
}
