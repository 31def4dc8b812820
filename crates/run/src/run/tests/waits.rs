//! Waits for silence: the lag of this machine, and first replies. The system is a script, so nothing is really waited
//! for.

use ioxide_wire::adapter::SentInput;

use super::*;
use crate::clock::lag::LagMeter;
use crate::samples::{CountingClock, message};
use ioxide_testgen::tester::TesterMove;

const PATIENCE: Duration = Duration::from_millis(100);

const fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

/// The events at one look of the tester.
#[derive(Clone)]
enum Look {
    /// Nothing comes, and this machine lags so much.
    Quiet(Duration),
    /// The answer comes.
    Answer,
    /// The answer comes, and its stamp says that it took so long.
    LateAnswer(Duration),
}

/// A system that does what its script says, and is silent from then on.
struct Scripted {
    answer: Label,
    script: Vec<Look>,
    meter: LagMeter,
    /// The time limit of the first reply while none has come.
    limit: Option<Duration>,
    /// The waits that were asked for.
    waits: Vec<Duration>,
    is_broken: bool,
}

impl Adapter for Scripted {
    fn reset(&mut self) -> Result<(), AdapterError> {
        Ok(())
    }

    fn send(&mut self, _input: &Label) -> Result<SentInput, AdapterError> {
        Ok(SentInput::default())
    }

    fn poll(&mut self) -> Result<Option<ArrivedOutput>, AdapterError> {
        Ok(None)
    }

    fn observe(&mut self, patience: Duration) -> Result<Observation, AdapterError> {
        self.waits.push(patience);
        let look = if self.script.is_empty() { Look::Quiet(Duration::ZERO) } else { self.script.remove(0) };
        match look {
            Look::Quiet(lag) => {
                self.meter.add(lag);
                Ok(Observation::Quiet)
            }
            Look::Answer => {
                let is_first = self.limit.take().is_some();
                Ok(Observation::Output(ArrivedOutput { is_first, ..self.answer.clone().into() }))
            }
            Look::LateAnswer(latency) => {
                let at = Some(Instant::now() + latency);
                Ok(Observation::Output(ArrivedOutput { at, ..self.answer.clone().into() }))
            }
        }
    }

    fn first_reply_limit(&self) -> Option<Duration> {
        self.limit
    }

    fn note_breakdown(&mut self) {
        self.is_broken = true;
    }
}

/// A tester that asks once and looks once.
struct AskOnce(Vec<TesterMove>);

impl Tester for AskOnce {
    fn start(&mut self, _seed: u64) {}

    fn next(&mut self, _cx: &mut Ctx<'_>, _monitor: &Monitor, _trace: &Trace) -> TesterMove {
        if self.0.is_empty() {
            return TesterMove::Stop(TesterStop::GoalMet("done".into()));
        }
        self.0.remove(0)
    }
}

/// The end of a run and of the system it was with.
struct WaitRun {
    finished: RunResult,
    system: Scripted,
    patience: Patience,
    /// The input that was given, and another one.
    inputs: [Label; 2],
}

/// Asks a question that must be answered, and looks for the answer; silence is confirmed once.
fn ask(script: Vec<Look>, limit: Option<Duration>, first_reply: FirstReplyWait) -> WaitRun {
    let mut spec = model(
        "model M { input ask input other output told
        state a { on ask -> b on other -> b } state b { emit told -> a } }",
    );
    let [ask, other, answer] = ["ask", "other", "told"].map(|gate| message(&spec, gate, &[]));
    let inputs = [ask.clone(), other];
    let sts = spec.sts.clone();
    let mut solver = ioxide_smt::brute::BruteSolver::new();
    let mut cx = Ctx::new(&mut spec, &mut solver);
    let meter = LagMeter::set_by_hand();
    let mut system =
        Scripted { answer, script, meter: meter.clone(), limit, waits: Vec::new(), is_broken: false };
    let stop = AtomicBool::new(false);
    let mut bench = RunSetup { cx: &mut cx, adapter: &mut system, stop: &stop };
    let (mut silent, mut clock) = (SilentReporter, CountingClock::default());
    let sink = EventSink::new(&mut silent, &mut clock);
    let patience = Patience::new(PATIENCE);
    patience.note_first_reply(ms(70));
    let config =
        RunConfig { patience: patience.clone(), confirm: 2, lag: meter, first_reply, ..RunConfig::default() };
    let mut tester = AskOnce(vec![TesterMove::Stimulate(ask), TesterMove::Observe]);
    let mut coverage = Coverage::new(&sts);
    let finished = run(&mut bench, &mut tester, &config, RunId::default(), &mut coverage, &sink).unwrap();
    WaitRun { finished, system, patience, inputs }
}

fn verdict(run: &WaitRun) -> Verdict {
    let RunEnd::Verdict(verdict, _) = &run.finished.end else { panic!("{:?}", run.finished.end) };
    *verdict
}

#[test]
fn a_wait_is_extended_by_the_lag_during_it_and_that_is_told() {
    let run = ask(vec![Look::Quiet(ms(40)), Look::Quiet(ms(30)), Look::Answer], None, FirstReplyWait::Limit);
    assert_eq!(run.system.waits, [PATIENCE, ms(40), ms(30)]);
    assert_eq!(verdict(&run), Verdict::Pass);
    assert_eq!(run.finished.lag, LagEffect { waits: ms(70), tolerance: Duration::ZERO });
    assert_eq!(run.patience.raised_time(), None, "the system was not late");
}

#[test]
fn a_late_answer_raises_the_wait_after_its_kind_of_input_and_no_other_until_it_is_forgotten() {
    let run = ask(vec![Look::Quiet(Duration::ZERO), Look::LateAnswer(ms(900))], None, FirstReplyWait::Limit);
    assert_eq!(verdict(&run), Verdict::Pass);
    let [asked, other] = &run.inputs;
    let Label::Input(gate, _) = asked else { panic!("an input") };
    let time_after = |input: &Label| run.patience.time_here(Some(input), []);
    assert!(time_after(asked) >= ms(1_800), "{:?}", time_after(asked));
    assert_eq!(time_after(other), PATIENCE);
    for _ in 0..8 * 256 {
        run.patience.record_answer(Some(*gate), ms(1));
    }
    assert_eq!(time_after(asked), PATIENCE, "quick answers since");
}

#[test]
fn without_lag_no_wait_is_extended_and_silence_is_a_failure() {
    let run = ask(Vec::new(), None, FirstReplyWait::Limit);
    assert_eq!(run.system.waits, [PATIENCE, PATIENCE]);
    assert_eq!(verdict(&run), Verdict::Fail);
    assert_eq!(run.finished.lag, LagEffect::default());
    assert!(run.system.is_broken, "what is silent where it must speak may hang");
}

#[test]
fn silence_on_a_machine_that_lags_is_still_a_failure() {
    let looks = [ms(40), ms(0), ms(60), ms(0)].map(Look::Quiet).to_vec();
    let run = ask(looks, None, FirstReplyWait::Limit);
    assert_eq!(run.system.waits, [PATIENCE, ms(40), PATIENCE, ms(60)]);
    assert_eq!(verdict(&run), Verdict::Fail);
}

#[test]
fn a_machine_that_hardly_runs_the_tester_gives_no_verdict() {
    let run = ask(vec![Look::Quiet(ms(5_000)); 20], None, FirstReplyWait::Limit);
    assert_eq!(verdict(&run), Verdict::Inconclusive);
    let longest = run.system.waits.iter().sum::<Duration>();
    assert!(longest <= PATIENCE * 20, "no wait is extended without end: {longest:?}");
}

#[test]
fn a_first_reply_is_awaited_to_its_limit_and_raises_nothing() {
    let run = ask(vec![Look::Quiet(ms(0)), Look::Answer], Some(ms(60_000)), FirstReplyWait::Limit);
    assert_eq!(verdict(&run), Verdict::Pass);
    assert!(run.system.waits[1] > ms(30_000), "{:?}", run.system.waits);
    assert_eq!(run.patience.raised_time(), None);
    let silent = ask(Vec::new(), Some(ms(60_000)), FirstReplyWait::Limit);
    assert_eq!((verdict(&silent), silent.system.waits.len()), (Verdict::Fail, 2));
}

#[test]
fn a_repetition_awaits_a_first_reply_as_long_as_the_others_took() {
    // Four times 70 ms, all since the wait began; the script takes no time.
    let run = ask(vec![Look::Quiet(ms(0)), Look::Answer], Some(ms(60_000)), FirstReplyWait::Learnt);
    assert_eq!(verdict(&run), Verdict::Pass);
    assert!((PATIENCE..=ms(280)).contains(&run.system.waits[1]), "{:?}", run.system.waits);
}
