//! On the clock of this machine: who is late, and who is not to blame.

use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use ioxide_model::label::Label;
use ioxide_model::number::Rational;
use ioxide_model::trace::Trace;
use ioxide_model::verdict::Verdict;
use ioxide_record::clock::{StoppedClock, seconds};
use ioxide_record::reporter::{EventSink, SilentReporter};
use ioxide_symex::{Ctx, Monitor, Tolerance};
use ioxide_testgen::tester::{Tester, TesterMove, TesterStop};
use ioxide_wire::adapter::{Adapter, AdapterError, ArrivedOutput, Observation};

use crate::clock::lag::LagMeter;
use crate::coverage::Coverage;
use crate::run::{LagEffect, RunConfig, RunEnd, RunId, RunSetup, run};
use crate::samples::{CountingClock, model};

/// A system that takes its time: before it is looked at, or before it confirms an input.
struct Slow {
    poll: Duration,
    send: Duration,
}

impl Adapter for Slow {
    fn reset(&mut self) -> Result<(), AdapterError> {
        Ok(())
    }

    fn send(&mut self, _input: &Label) -> Result<ioxide_wire::adapter::SentInput, AdapterError> {
        std::thread::sleep(self.send);
        Ok(ioxide_wire::adapter::SentInput::default())
    }

    fn poll(&mut self) -> Result<Option<ArrivedOutput>, AdapterError> {
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

    fn next(&mut self, _cx: &mut Ctx<'_>, _monitor: &Monitor, _trace: &Trace) -> TesterMove {
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
    let sink = EventSink::new(&mut silent, &mut clock);
    let tolerance = Tolerance { latency: seconds(Duration::from_millis(5)), ..Tolerance::default() };
    let config = RunConfig { tolerance, max_steps: 20, ..RunConfig::default() };
    let finished = run(&mut bench, &mut Now(go), &config, RunId::default(), &mut coverage, &sink).unwrap();
    let RunEnd::Verdict(verdict, reason) = finished.end else { panic!("{:?}", finished.end) };
    (verdict, reason)
}

#[test]
fn a_tester_that_misses_its_instant_blames_nobody() {
    let (verdict, reason) = hurried(Slow { poll: Duration::from_millis(60), send: Duration::ZERO });
    assert_eq!(verdict, Verdict::Inconclusive);
    assert!(reason.contains("the tester sent") && reason.contains("too late"), "{reason}");
}

#[test]
fn an_input_that_is_confirmed_too_late_ends_the_run_without_blame() {
    let (verdict, reason) = hurried(Slow { poll: Duration::ZERO, send: Duration::from_millis(60) });
    assert_eq!(verdict, Verdict::Inconclusive);
    assert!(reason.contains("stated latency") || reason.contains("too late"), "{reason}");
}

/// A system whose message is seen three seconds after it was reset, on a machine that lags.
struct SeenLate {
    message: Label,
    reset_at: Instant,
    lag: Duration,
    meter: LagMeter,
}

impl Adapter for SeenLate {
    fn reset(&mut self) -> Result<(), AdapterError> {
        self.reset_at = Instant::now();
        Ok(())
    }

    fn send(&mut self, _input: &Label) -> Result<ioxide_wire::adapter::SentInput, AdapterError> {
        Ok(ioxide_wire::adapter::SentInput::default())
    }

    fn poll(&mut self) -> Result<Option<ArrivedOutput>, AdapterError> {
        self.meter.add(std::mem::take(&mut self.lag));
        let at = Some(self.reset_at + Duration::from_secs(3));
        Ok(Some(ArrivedOutput { at, ..self.message.clone().into() }))
    }

    fn observe(&mut self, _patience: Duration) -> Result<Observation, AdapterError> {
        Ok(Observation::Quiet)
    }
}

/// Looks once.
struct LookOnce(bool);

impl Tester for LookOnce {
    fn start(&mut self, _seed: u64) {}

    fn next(&mut self, _cx: &mut Ctx<'_>, _monitor: &Monitor, _trace: &Trace) -> TesterMove {
        if std::mem::replace(&mut self.0, true) {
            TesterMove::Stop(TesterStop::GoalMet("seen".into()))
        } else {
            TesterMove::ObserveFor(Duration::from_secs(5))
        }
    }
}

#[test]
fn a_message_that_only_the_lag_of_the_machine_explains_is_inconclusive_and_others_are_failures() {
    let text = "model M { output done clock w state a { emit done when w <= 2s -> b } state b { } }";
    let ms = Duration::from_millis;
    // One second late: a tenth of a second is stated.
    for (lag, expected) in
        [(ms(0), Verdict::Fail), (ms(500), Verdict::Fail), (ms(1_500), Verdict::Inconclusive)]
    {
        let mut spec = model(text);
        let (message, sts) = (crate::samples::message(&spec, "done", &[]), spec.sts.clone());
        let mut solver = ioxide_smt::stack::build_stack(&ioxide_smt::stack::SolverConfig::default());
        let mut cx = Ctx::new(&mut spec, &mut solver);
        let meter = LagMeter::set_by_hand();
        let mut adapter = SeenLate { message, reset_at: Instant::now(), lag, meter: meter.clone() };
        let stop = AtomicBool::new(false);
        let mut bench = RunSetup { cx: &mut cx, adapter: &mut adapter, stop: &stop };
        let mut coverage = Coverage::new(&sts);
        let (mut silent, mut clock) = (SilentReporter, CountingClock::default());
        let sink = EventSink::new(&mut silent, &mut clock);
        let tolerance = Tolerance { latency: seconds(ms(100)), ..Tolerance::default() };
        let config = RunConfig { tolerance, lag: meter, ..RunConfig::default() };
        let finished =
            run(&mut bench, &mut LookOnce(false), &config, RunId::default(), &mut coverage, &sink).unwrap();
        let RunEnd::Verdict(verdict, reason) = finished.end else { panic!("{:?}", finished.end) };
        assert_eq!(verdict, expected, "{lag:?}: {reason}");
        let widened = if expected == Verdict::Inconclusive { lag } else { Duration::ZERO };
        assert_eq!(finished.lag, LagEffect { waits: Duration::ZERO, tolerance: widened });
    }
}
