//! On the clock of this machine: who is late, and who is not to blame.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use ioxide_model::label::Label;
use ioxide_model::number::Rational;
use ioxide_model::trace::Trace;
use ioxide_model::verdict::Verdict;
use ioxide_symex::{Ctx, Monitor, Tolerance};
use ioxide_testgen::tester::{Tester, TesterMove};

use crate::adapter::{Adapter, AdapterError, Observation};
use crate::clock::{StoppedClock, seconds};
use crate::coverage::Coverage;
use crate::reporter::{EventSink, SilentReporter};
use crate::run::{RunConfig, RunEnd, RunId, RunSetup, run};
use crate::samples::model;

/// A system that takes its time: before it is looked at, or before it confirms an input.
struct Slow {
    poll: Duration,
    send: Duration,
}

impl Adapter for Slow {
    fn reset(&mut self) -> Result<(), AdapterError> {
        Ok(())
    }

    fn send(&mut self, _input: &Label) -> Result<crate::adapter::SentInput, AdapterError> {
        std::thread::sleep(self.send);
        Ok(crate::adapter::SentInput::default())
    }

    fn poll(&mut self) -> Result<Option<crate::adapter::ArrivedOutput>, AdapterError> {
        std::thread::sleep(self.poll);
        Ok(None)
    }

    fn observe(&mut self, patience: Duration) -> Result<Observation, AdapterError> {
        std::thread::sleep(patience);
        Ok(Observation::Quiet)
    }
}

/// Sends `go` at once, always.
struct Now(Label);

impl Tester for Now {
    fn start(&mut self, _seed: u64) {}

    fn next(&mut self, _cx: &mut Ctx<'_>, _after: &Monitor, _history: &Trace) -> TesterMove {
        TesterMove::StimulateAfter(Rational::ZERO, self.0.clone())
    }
}

/// Returns the verdict and its reason of a run that wants to send within 10 ms, on the clock of this machine.
fn hurried(slow: Slow) -> (Verdict, String) {
    let text = "model M { input go output done clock w
        state a { on go when w <= 10ms -> b }
        state b { emit done when w >= 1s -> a } }";
    let mut spec = model(text);
    let go = crate::samples::message(&spec, "go", &[]);
    let sts = spec.sts.clone();
    let mut solver = ioxide_smt::brute::BruteSolver::new();
    let mut cx = Ctx::new(&mut spec, &mut solver);
    let (stop, mut adapter) = (AtomicBool::new(false), slow);
    let mut bench = RunSetup { cx: &mut cx, adapter: &mut adapter, stop: &stop };
    let mut coverage = Coverage::new(&sts);
    let (mut silent, mut clock) = (SilentReporter, StoppedClock);
    let teller = EventSink::new(&mut silent, &mut clock);
    let tolerance = Tolerance { latency: seconds(Duration::from_millis(5)), ..Tolerance::default() };
    let config = RunConfig { tolerance, max_steps: 20, ..RunConfig::default() };
    let finished = run(&mut bench, &mut Now(go), &config, RunId::default(), &mut coverage, &teller).unwrap();
    let RunEnd::Verdict(verdict, reason) = finished.end else { panic!("{:?}", finished.end) };
    (verdict, reason)
}

#[test]
fn a_tester_that_misses_its_instant_blames_nobody() {
    let (verdict, reason) = hurried(Slow { poll: Duration::from_millis(60), send: Duration::ZERO });
    assert_eq!(verdict, Verdict::Inconclusive);
    assert!(reason.contains("the tester was too late"), "{reason}");
}

#[test]
fn an_input_that_is_confirmed_too_late_ends_the_run_without_blame() {
    let (verdict, reason) = hurried(Slow { poll: Duration::ZERO, send: Duration::from_millis(60) });
    assert_eq!(verdict, Verdict::Inconclusive);
    assert!(reason.contains("stated latency") || reason.contains("too late"), "{reason}");
}
