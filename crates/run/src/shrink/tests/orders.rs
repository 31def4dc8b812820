//! Systems that may answer in several ways: a repetition that went another way does not count.

use std::sync::atomic::AtomicBool;

use ioxide_smt::brute::BruteSolver;
use ioxide_symex::Ctx;

use ioxide_wire::adapter::{Adapter, ArrivedOutput, Observation, SentInput};

use super::*;

/// A question is answered by either of two messages.
const EITHER: &str = "model Either { input ASK output A output B output WRONG
    state idle { on ASK -> asked }
    state asked { emit A -> idle emit B -> idle } }";

/// Answers the first question by A, or B in the runs that `goes_other_way` names; the second one wrongly after A, by A
/// after B.
struct EitherSystem {
    model: Model,
    goes_other_way: fn(u32) -> bool,
    runs: u32,
    asked: u32,
    says: Option<Label>,
}

impl Adapter for EitherSystem {
    fn reset(&mut self) -> Result<(), AdapterError> {
        self.runs += 1;
        (self.asked, self.says) = (0, None);
        Ok(())
    }

    fn send(&mut self, _input: &Label) -> Result<SentInput, AdapterError> {
        self.asked += 1;
        let answer = match ((self.goes_other_way)(self.runs), self.asked) {
            (true, 1) => "B",
            (false, 2) => "WRONG",
            _ => "A",
        };
        self.says = Some(message(&self.model, answer, &[]));
        Ok(SentInput::default())
    }

    fn poll(&mut self) -> Result<Option<ArrivedOutput>, AdapterError> {
        Ok(None)
    }

    fn observe(&mut self, _patience: Duration) -> Result<Observation, AdapterError> {
        Ok(self.says.take().map(ArrivedOutput::from).into())
    }

    fn knows_silence(&self) -> bool {
        true
    }
}

/// Returns the repetitions of a failing run on a system that goes another way in some runs.
fn repeat_failure(goes_other_way: fn(u32) -> bool) -> RerunResult {
    let spec = model(EITHER);
    let (mut own, mut solver) = (spec.clone(), BruteSolver::new());
    let mut cx = Ctx::new(&mut own, &mut solver);
    let mut adapter = EitherSystem { model: spec.clone(), goes_other_way, runs: 0, asked: 0, says: None };
    let stop = AtomicBool::new(false);
    let mut bench = RunSetup { cx: &mut cx, adapter: &mut adapter, stop: &stop };
    let ask = || [PlannedMove::Send(message(&spec, "ASK", &[]).into()), PlannedMove::Observe];
    let plan: Vec<PlannedMove> = ask().into_iter().chain(ask()).collect();
    let config = RunConfig::default();
    let first = run_again(&mut bench, &config, &plan, Unmentioned::Stop).expect("it runs");
    let sign = FailureSign::of(&first).expect("it fails");
    repeat(&mut bench, &config, &first.trace, sign, 3)
}

/// Defect: a run in which the system answered otherwise, as it may, counted as one in which the failure did not come
/// back.
#[test]
fn a_repetition_that_went_another_way_is_made_again() {
    let again = repeat_failure(|run| run % 2 == 0);
    assert_eq!((again.failed, again.of, again.unmade), (3, 3, None));
}

#[test]
fn repetitions_that_always_went_another_way_are_not_counted() {
    let again = repeat_failure(|run| run > 1);
    assert_eq!((again.failed, again.of, again.unmade), (0, 0, Some(UnmadeReason::OtherWay)));
}

#[test]
fn candidates_that_are_tried_at_once_give_the_same_smaller_run() {
    let (spec, sut) = (model(METER), faulty("limit < 50 && count >= limit && opened > 0"));
    let one = shrunk_with(&spec, &sut, 0);
    assert!(one.minimal && one.trace.len() == 4, "{one:?}");
    for helpers in [1, 3] {
        assert_eq!(shrunk_with(&spec, &sut, helpers), one, "{helpers} helpers");
    }
}

/// Returns the smallest failing run from a long one, with this many copies of the system beside the own one.
fn shrunk_with(spec: &Model, sut: &Model, helpers: usize) -> ShrunkRun {
    let copies = IdleSystems::default();
    let busy = copies.begin_work();
    let names = ["open", "step", "close", "step", "open", "step", "step", "close", "open", "step", "check"];
    let inputs = names.iter().map(|name| message(spec, name, &[]));
    let limit = message(spec, "limit", &[4]);
    let sends = std::iter::once(limit).chain(inputs).map(|label| PlannedMove::Send(label.into()));
    let plan: Vec<PlannedMove> = sends.chain([PlannedMove::Observe]).collect();
    let config = RunConfig::default();
    std::thread::scope(|scope| {
        for _ in 0..helpers {
            scope.spawn(|| on_bench(spec, sut, 1, |bench| copies.help(bench)));
        }
        let smaller = on_bench(spec, sut, 1, |bench| {
            let first = run_again(bench, &config, &plan, Unmentioned::Stop).expect("it runs");
            let sign = FailureSign::of(&first).expect("it fails");
            let again = repeat(bench, &config, &first.trace, sign, 2);
            let confirmed = again.confirmed(&first.trace).expect("it failed again");
            // All of them are there before the search begins.
            while copies.n_free() <= helpers {
                std::thread::yield_now();
            }
            shrink(bench, &config, &confirmed, &ShrinkConfig::default(), Some(&copies), &mut |_| ())
        });
        drop(busy);
        smaller
    })
}
