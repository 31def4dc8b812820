//! Latencies: the time from an input to its first answer.

use std::thread::sleep;

use ioxide_wire::adapter::SentInput;

use super::*;
use crate::clock::MonotonicClock;
use crate::samples::message;
use ioxide_testgen::tester::TesterMove;

const PAUSE: Duration = Duration::from_millis(20);

/// A system that says these messages one after the other, each after a pause.
struct Slowly(Vec<Label>);

impl Adapter for Slowly {
    fn reset(&mut self) -> Result<(), AdapterError> {
        Ok(())
    }

    fn send(&mut self, _input: &Label) -> Result<SentInput, AdapterError> {
        Ok(SentInput::default())
    }

    fn poll(&mut self) -> Result<Option<ArrivedOutput>, AdapterError> {
        Ok(None)
    }

    fn observe(&mut self, _patience: Duration) -> Result<Observation, AdapterError> {
        sleep(PAUSE);
        Ok(if self.0.is_empty() { Observation::Quiet } else { Observation::Output(self.0.remove(0).into()) })
    }
}

/// A tester that makes these moves and stops.
struct Moves(Vec<TesterMove>);

impl Tester for Moves {
    fn start(&mut self, _seed: u64) {}

    fn next(&mut self, _cx: &mut Ctx<'_>, _monitor: &Monitor, _trace: &Trace) -> TesterMove {
        if self.0.is_empty() {
            return TesterMove::Stop(TesterStop::GoalMet("done".into()));
        }
        self.0.remove(0)
    }
}

/// Messages that another party gives the system meanwhile are no answer of the system.
#[test]
fn an_observed_input_is_no_answer() {
    let mut spec = model(
        "model M { input ask observed input tick output told
        state a { on ask -> b } state b { on tick -> c } state c { emit told -> a } }",
    );
    let [ask, tick, told] = ["ask", "tick", "told"].map(|gate| message(&spec, gate, &[]));
    let sts = spec.sts.clone();
    let mut solver = ioxide_smt::brute::BruteSolver::new();
    let mut cx = Ctx::new(&mut spec, &mut solver);
    let (stop, mut adapter) = (AtomicBool::new(false), Slowly(vec![tick, told]));
    let mut bench = RunSetup { cx: &mut cx, adapter: &mut adapter, stop: &stop };
    let (mut silent, mut clock) = (SilentReporter, MonotonicClock::start());
    sleep(Duration::from_millis(1));
    let sink = EventSink::new(&mut silent, &mut clock);
    let mut tester = Moves(vec![TesterMove::Stimulate(ask), TesterMove::Observe, TesterMove::Observe]);
    let (config, mut coverage) = (RunConfig::default(), Coverage::new(&sts));
    let finished = run(&mut bench, &mut tester, &config, RunId::default(), &mut coverage, &sink).unwrap();
    assert!(matches!(finished.end, RunEnd::Verdict(Verdict::Pass, _)), "{:?}", finished.end);
    let (_, histogram) = finished.latencies.gates().next().expect("`told` was waited for");
    assert!(histogram.longest() >= 2 * PAUSE, "{:?}", histogram.longest());
    assert_eq!(finished.latencies.total(), 1);
}
