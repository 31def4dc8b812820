//! One test run: the tester moves, the adapter acts, the monitor judges, events are reported.
//!
//! \[FTW05]'s on-the-fly algorithm. There is one loop for every kind of test; they differ in
//! the tester. An output that is already there comes before an input that is only meant to
//! be sent. An input is under way until the system confirms it, or all is silent: outputs that come meanwhile may
//! have been sent before it was taken, and only if the specification allows no order of them is it a failure.
//!
//! Silence is confirmed before it is a failure, and taken back if a message shows that it was called too early
//! (`silence`). A system that ends, hangs up, hangs or talks nonsense has broken down: that is a failure of its
//! own kind unless the model allows it (`breakdown`).
//!
//! In a timed model (\[BLLN23]) time is part of what is seen: a message comes with the delay before it, and silence is
//! a delay. Time is that of the system, if it lets itself be told how late it is, or of this machine, with a stated
//! tolerance. An input whose instant has passed before it was sent is not sent: the tester is too late.
//!
//! *Promises.* Fail comes from the monitor and from nothing else. Trouble on the way to the system
//! is an error of the run, never a verdict. Every label is told before the next move. A run after some step of
//! which nothing is known does not pass.

mod breakdown;
mod crossing;
pub(crate) mod knowledge;
mod pace;
mod pending;
mod reporting;
mod send;
mod silence;
mod timed;
mod timing;
mod wait;

use std::collections::BTreeSet;
use std::io;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use ioxide_model::label::Label;
use ioxide_model::number::Rational;
use ioxide_model::relation::ConformanceRelation;
use ioxide_model::sts::{GateId, GateKind, LocId, SwitchId};
use ioxide_model::trace::Trace;
use ioxide_model::verdict::Verdict;
use ioxide_record::clock::{duration, seconds};
use ioxide_record::event::{
    EventKind, FindingRecord, HttpExchange, LabelRecord, RunFinished, RunOutcome, RunStarted, StepRecord,
    SystemTrouble, UnsolicitedRecord, VerdictRecord,
};
use ioxide_record::reporter::EventSink;
use ioxide_symex::{AllowedLabel, Arrival, Belief, Ctx, Forbidden, Monitor, Tolerance, explaining_switches};
use ioxide_testgen::tester::{MethodFinding, Tester, TesterMove, TesterStop, labels_of_a_look};
use ioxide_wire::adapter::{
    Adapter, AdapterError, ArrivalTimes, ArrivedOutput, InputReceipt, UnsolicitedMessage,
};

use self::breakdown::ForbiddenBreakdown;
use self::knowledge::{RunKnowledge, TracedLabel};
use self::pace::RunPace;
use self::pending::PendingMessages;
use self::reporting::StepReporter;
use self::timing::RunTiming;
pub use self::wait::{FirstReplyWait, LagEffect};
use crate::clock::lag::LagMeter;
use crate::clock::latency::Latencies;
use crate::clock::patience::Patience;
use crate::clock::spent::TimeSpent;
use crate::coverage::{Coverage, EnoughCoverage};
use crate::evidence::EvidenceCollector;
use crate::explain::{explanation, signature, timed_finding};
use crate::objective::Objective;
use crate::objective::orders::{self, LabelOrigin};
use crate::records::{read_way, record_finding, record_tolerance, record_way};

/// The number of characters of a message on the wire that are reported. Chosen by feel, for a screen of a report.
const MAX_RAW: usize = 2_000;

/// The number of messages that are still judged if they had arrived when a run was stopped. Chosen by feel: more have
/// not arrived in the moment between a stop and the end.
const MAX_LEFT: usize = 64;

/// The nominal times of a move and of a silence, which testers are told where measured ones must not decide. A reply on
/// the same machine and the shortest silence differ about as much.
const NOMINAL_TIMES: (Duration, Duration) = (Duration::from_millis(1), Duration::from_millis(256));

/// The set-up of a run: everything it needs besides a tester.
pub struct RunSetup<'b, 'm> {
    /// The specification and a solver.
    pub cx: &'b mut Ctx<'m>,
    /// The system under test.
    pub adapter: &'b mut dyn Adapter,
    /// The flag that ends the run after its current step.
    pub stop: &'b AtomicBool,
}

/// The settings of a run.
#[derive(Clone, Debug)]
pub struct RunConfig {
    /// The time after which silence counts as quiescence.
    pub patience: Patience,
    /// The conformance relation that is judged by.
    pub relation: ConformanceRelation,
    /// The factor by which the run listens longer before quiescence is a failure.
    pub confirm: u32,
    /// The wait for the first reply of a system that was started or connected to.
    pub first_reply: FirstReplyWait,
    /// The meter of the lag of this machine.
    pub lag: LagMeter,
    /// Inputs that may be under way at once.
    pub max_under_way: usize,
    /// The traces after which observations are judged; all of them if `None`.
    pub objective: Option<Arc<Objective>>,
    /// The tolerance of instants on the clock of this machine; virtual time is exact.
    pub tolerance: Tolerance,
    /// The greatest number of labels of a run, whatever the tester wants.
    pub max_steps: usize,
    /// The coverage that ends the run as soon as it is reached.
    pub enough: Option<Arc<EnoughCoverage>>,
    /// The collector of the requests before switches that are to be explained; `None` if none are.
    pub evidence: Option<Arc<EvidenceCollector>>,
    /// The outputs that say nothing but that the system refused an input.
    pub refusals: BTreeSet<GateId>,
    /// The instant after which no further step is made: the run has no verdict then. `None` for no such instant.
    pub deadline: Option<Instant>,
    /// True if testers are told the measured times of their moves and of resets: the moves of a campaign depend on the
    /// speed of the system then.
    pub weighs_time: bool,
}

impl Default for RunConfig {
    /// A quiescence time of a fifth of a second, ten times that before quiescence is a failure, a latency of a tenth of
    /// a second, eight inputs under way, a million labels.
    fn default() -> Self {
        let patience = Patience::new(Duration::from_millis(200));
        let latency = seconds(Duration::from_millis(100));
        let tolerance = Tolerance { latency, ..Tolerance::default() };
        let relation = ConformanceRelation::default();
        let (confirm, max_under_way, max_steps) = (10, 8, 1_000_000);
        Self {
            patience,
            relation,
            confirm,
            first_reply: FirstReplyWait::default(),
            lag: LagMeter::default(),
            max_under_way,
            objective: None,
            tolerance,
            max_steps,
            enough: None,
            evidence: None,
            refusals: BTreeSet::new(),
            deadline: None,
            weighs_time: false,
        }
    }
}

impl RunConfig {
    /// Returns whether the deadline has passed.
    #[must_use]
    pub fn is_late(&self) -> bool {
        self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }
}

/// The identity of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RunId {
    /// Its number.
    pub run: u64,
    /// Its seed.
    pub seed: u64,
}

/// A run that is over.
#[derive(Clone, Debug)]
pub struct RunResult {
    /// The observed trace.
    pub trace: Trace,
    /// The end of the run.
    pub end: RunEnd,
    /// The number of questions that the solver left open.
    pub doubts: usize,
    /// The step from which on nothing is known, if there is one.
    pub unknown_from: Option<usize>,
    /// The signature of a failure: the same for failures of one kind.
    pub signature: Option<String>,
    /// The latencies of outputs, as far as the clock of the events shows.
    pub latencies: Latencies,
    /// The extension of its waits and tolerances because this machine was busy.
    pub lag: LagEffect,
    /// True if its events have times.
    pub has_times: bool,
    /// The use of its time.
    pub spent: TimeSpent,
    /// The name of the type of the exception that the system raised; `None` if it raised none, or one without a name.
    pub exception: Option<String>,
    /// The requests of a failing run by HTTP, with their answers.
    pub exchanges: Vec<HttpExchange>,
}

/// The end of a run: its verdict, or why it has none.
#[derive(Clone, Debug)]
pub enum RunEnd {
    /// The run has this verdict, for this reason.
    Verdict(Verdict, String),
    /// Trouble with the system or the way to it.
    Error(AdapterError),
    /// The run was stopped by request.
    Interrupted,
}

impl RunEnd {
    /// The kind of end.
    #[must_use]
    pub fn outcome(&self) -> RunOutcome {
        match self {
            Self::Verdict(verdict, _) => (*verdict).into(),
            Self::Error(_) => RunOutcome::Error,
            Self::Interrupted => RunOutcome::Interrupted,
        }
    }
}

/// Runs one test on a freshly reset system.
///
/// # Errors
/// If an event cannot be reported.
pub fn run(
    setup: &mut RunSetup<'_, '_>,
    tester: &mut dyn Tester,
    config: &RunConfig,
    id: RunId,
    coverage: &mut Coverage,
    sink: &EventSink<'_>,
) -> io::Result<RunResult> {
    tester.start(id.seed);
    coverage.begin_run();
    let goal = tester.goal().unwrap_or_default();
    let asked = Instant::now();
    // An error here is reported below, after the event that the run has begun: a run without a begin could not be
    // read.
    let trouble = setup.adapter.reset().err();
    let restarts = asked.elapsed();
    let pace = RunPace::start(setup.cx.sts.is_timed(), setup.adapter);
    // Where time does not pass by itself, or silence is certain, nothing has to be waited for.
    let is_measured = !setup.adapter.is_synchronous() && !matches!(pace, RunPace::Virtual(_));
    // Testers weigh looks by their price, and here looking is free.
    if !is_measured || setup.adapter.expects_silence() {
        tester.note_free_silence();
    }
    let lag = is_measured.then(|| config.lag.watch());
    let tolerance = tolerance_of_run(config, &pace, asked);
    let has_times = tell_start(setup, id, goal, &tolerance, sink)?;
    let monitor = Monitor::with_tolerance(setup.cx, tolerance.clone()).with_relation(config.relation);
    let monitor = monitor.with_wiring(setup.adapter.wiring()).with_paths();
    let mut walk = RunLoop {
        setup: RunSetup { cx: &mut *setup.cx, adapter: &mut *setup.adapter, stop: setup.stop },
        config,
        max_steps: tester.step_limit().unwrap_or(usize::MAX).min(config.max_steps),
        coverage,
        knowledge: RunKnowledge::new(monitor, config),
        timing: RunTiming::new(pace, tolerance, lag, has_times),
        reporter: StepReporter::new(sink),
        pending: PendingMessages::default(),
    };
    walk.timing.spent.restarts = restarts;
    let ended = match trouble {
        Some(error) => LoopEnd::Trouble(error),
        None => walk.run_loop(tester)?,
    };
    if walk.is_stuck(&ended) {
        walk.setup.adapter.note_breakdown();
    }
    // A method of testing may say more about a failure than the monitor.
    let finding = tester.finding(walk.setup.cx, &walk.knowledge.trace);
    let end = walk.judge_end(ended, finding.as_ref())?;
    let mut result = walk.finish(end, finding.as_ref(), id)?;
    result.spent = result.spent.filled_up_to(asked.elapsed());
    Ok(result)
}

/// Returns how far times may be off in a run whose start was asked for at `asked`.
fn tolerance_of_run(config: &RunConfig, pace: &RunPace, asked: Instant) -> Tolerance {
    match pace {
        // The system has started after it was asked to, however late that was heard.
        RunPace::Wall(wall) => {
            Tolerance { start: seconds(wall.time_since(asked)), ..config.tolerance.clone() }
        }
        RunPace::Untimed | RunPace::Virtual(_) => Tolerance::default(),
    }
}

/// Tells that a run has begun; returns whether events have times.
fn tell_start(
    setup: &RunSetup<'_, '_>,
    RunId { run, seed }: RunId,
    goal: String,
    tolerance: &Tolerance,
    sink: &EventSink<'_>,
) -> io::Result<bool> {
    let tolerance = (!tolerance.is_exact()).then(|| record_tolerance(tolerance));
    let unconfirmed = setup.adapter.receipt() == InputReceipt::Written;
    let connections = setup.adapter.connections();
    let started = RunStarted { run, seed, goal, tolerance, unconfirmed, connections };
    Ok(sink.tell(EventKind::RunStarted(started))? > 0)
}

/// A run under way: the system and the specification, and what is known, when, what was told and what is pending.
struct RunLoop<'w, 'm, 'r> {
    setup: RunSetup<'w, 'm>,
    config: &'w RunConfig,
    /// The greatest number of labels: that of the settings or of the tester.
    max_steps: usize,
    coverage: &'w mut Coverage,
    knowledge: RunKnowledge,
    timing: RunTiming,
    reporter: StepReporter<'w, 'r>,
    pending: PendingMessages,
}

/// The reason why the loop was left.
enum LoopEnd {
    Stopped(TesterStop),
    Forbidden(Box<Forbidden>),
    /// The system broke down, and the specification does not allow it.
    Broken(Box<ForbiddenBreakdown>),
    /// The specification forbids a label, after a trace that is outside the objective.
    Outside(String),
    Trouble(AdapterError),
    Interrupted,
}

/// The decision whether the loop goes on after a step, with the reason if it does not.
type LoopStep = ControlFlow<LoopEnd>;

impl RunLoop<'_, '_, '_> {
    fn run_loop(&mut self, tester: &mut dyn Tester) -> io::Result<LoopEnd> {
        loop {
            if self.setup.stop.load(Ordering::Relaxed) || self.config.is_late() {
                return Ok(LoopEnd::Interrupted);
            }
            if self.config.enough.as_ref().is_some_and(|enough| enough.is_met()) {
                return self.judge_rest(TesterStop::GoalMet("the expected message arrived".into()));
            }
            // The tester hears of a step before it decides about the next one.
            self.knowledge.explained.drain(..).for_each(|switches| tester.explained(&switches));
            let is_untimed = self.timing.is_untimed();
            let thinking = Instant::now();
            let trace = self.reporter.tester_trace(&self.knowledge.trace);
            let steps_before = trace.len();
            let next = tester.next(self.setup.cx, &self.knowledge.monitor, trace);
            self.timing.spent.tester += thinking.elapsed();
            let step = match next {
                TesterMove::Stop(stop) => return self.judge_rest(stop),
                // A tester that is done at the limit says itself how the run ends.
                _ if !self.has_room() => {
                    let reason = format!("the limit of {} steps was reached", self.max_steps);
                    return Ok(LoopEnd::Stopped(TesterStop::Inconclusive(reason)));
                }
                TesterMove::Stimulate(label) if is_untimed => self.stimulate(&label)?,
                TesterMove::Stimulate(label) => self.stimulate_after(&Rational::ZERO, &label)?,
                TesterMove::StimulateAfter(wait, label) => self.stimulate_after(&wait, &label)?,
                TesterMove::Observe if is_untimed => self.wait_and_judge(Duration::ZERO)?,
                TesterMove::Observe => {
                    let horizon = self.knowledge.monitor.time_horizon(self.setup.cx) + &self.lag();
                    self.observe_timed(duration(&horizon))?
                }
                TesterMove::ObserveFor(time) if is_untimed => self.wait_and_judge(time)?,
                TesterMove::ObserveFor(time) => self.observe_timed(time)?,
            };
            if let ControlFlow::Break(ended) = step {
                return Ok(ended);
            }
            self.tell_time(tester, thinking, steps_before);
        }
    }

    /// Tells the tester how long its move took, since `from`, when the run had `steps_before` steps.
    fn tell_time(&self, tester: &mut dyn Tester, from: Instant, steps_before: usize) {
        let trace = self.reporter.tester_trace(&self.knowledge.trace);
        let is_silent = trace.len() > steps_before && trace.ends_in_silence();
        let (of_move, of_silence) = NOMINAL_TIMES;
        let time = match (self.config.weighs_time, is_silent) {
            (true, _) => from.elapsed(),
            (false, true) => of_silence,
            (false, false) => of_move,
        };
        tester.note_move_time(time, is_silent);
    }

    /// Returns whether one more move fits into the limit of steps.
    fn has_room(&self) -> bool {
        self.knowledge.trace.len() + labels_of_a_look(self.setup.cx.sts) <= self.max_steps
    }

    /// Ends the run after judging the messages that have arrived already, up to [`MAX_LEFT`] and the limit of steps.
    fn judge_rest(&mut self, stop: TesterStop) -> io::Result<LoopEnd> {
        let is_untimed = self.timing.is_untimed();
        // Bounded, because a system that never stops sending would keep the run going.
        for _ in 0..MAX_LEFT {
            if !is_untimed || self.knowledge.is_gone || !self.has_room() {
                break;
            }
            let step = match self.setup.adapter.poll() {
                Ok(Some(output)) => self.judge_output(output)?,
                Ok(None) => break,
                Err(error) => self.handle_adapter_error(error)?,
            };
            if let ControlFlow::Break(ended) = step {
                return Ok(ended);
            }
        }
        let explained = if is_untimed { self.explain_held()? } else { self.explain_in_time()? };
        let stop = match stop {
            TesterStop::GoalMet(_) if self.knowledge.monitor.is_unexplained() && !self.has_room() => {
                TesterStop::Inconclusive(format!(
                    "the limit of {} steps was reached before a message was explained",
                    self.max_steps
                ))
            }
            stop => stop,
        };
        Ok(explained.break_value().unwrap_or(LoopEnd::Stopped(stop)))
    }

    /// Judges a message that was seen.
    fn judge_output(&mut self, output: ArrivedOutput) -> io::Result<LoopStep> {
        self.count_reply(&output);
        let at = output.times();
        let ArrivedOutput { label, raw, way, is_first, .. } = output;
        self.reporter.raw = raw;
        self.count_latency(&label, at.begun, is_first);
        self.reporter.way = record_way(way);
        // What had to be explained by now is decided first: the new message cannot explain it any more.
        match self.expire()? {
            ControlFlow::Continue(()) => self.judge_arrived(&label, way, at),
            ended @ ControlFlow::Break(_) => Ok(ended),
        }
    }

    /// Counts an output as a refusal or as another reply.
    fn count_reply(&mut self, output: &ArrivedOutput) {
        if let Label::Output(gate, _) = output.label {
            self.coverage.count_reply(output.is_refusal || self.config.refusals.contains(&gate));
        }
    }

    /// Returns the quiescence time in the current situation.
    fn patience(&self) -> Duration {
        self.config.patience.time_here(self.last_message(), self.locations())
    }

    /// Returns the time that silence must last several times before it is a failure in the current situation.
    fn confirming_patience(&self) -> Duration {
        self.config.patience.confirming_time(self.last_message(), self.locations())
    }

    /// Returns the last input or output, if there was one.
    fn last_message(&self) -> Option<&Label> {
        let is_message = |label: &&Label| matches!(label, Label::Input(..) | Label::Output(..));
        self.knowledge.trace.labels.iter().rev().find(is_message)
    }

    /// Returns the kind of the last input, if there was one.
    fn last_input(&self) -> Option<GateId> {
        self.knowledge.trace.labels.iter().rev().find_map(|label| match label {
            Label::Input(gate, _) => Some(*gate),
            Label::Output(..) | Label::Quiescence | Label::Delay(_) => None,
        })
    }

    /// Returns the locations that the monitor believes in.
    fn locations(&self) -> Vec<LocId> {
        match self.knowledge.monitor.belief() {
            Belief::Concrete(states) => states.iter().map(|state| state.loc).collect(),
            Belief::Symbolic(states) => states.iter().map(|state| state.loc).collect(),
            Belief::Unspecified => Vec::new(),
        }
    }

    /// Counts how long the first answer to an input took, which began at `began`; what comes unasked is no answer. A
    /// late first reply after a start says nothing about later answers.
    fn count_latency(&mut self, label: &Label, began: Instant, is_first: bool) {
        // What another party gives the system is no answer of the system: that is still to come.
        let Label::Output(gate, _) = label else { return };
        // Only the first answer to an input has a latency; the next ones follow it.
        let Some(asked) = self.timing.asked.take() else { return };
        if self.setup.adapter.is_synchronous() {
            return;
        }
        let taken = began.saturating_duration_since(asked);
        if is_first {
            self.config.patience.note_first_reply(taken);
        }
        if is_first && taken > self.patience() {
            return;
        }
        self.config.patience.record_answer(self.last_input(), taken);
        // Where events have no times, reports have none either.
        if self.timing.has_times {
            self.timing.latencies.add(*gate, taken, self.patience());
        }
    }

    /// Moves the monitor on by one label that just happened, and reports the step.
    fn judge_label(&mut self, label: &Label) -> io::Result<LoopStep> {
        self.judge_by(label, |after, cx| after.observe(cx, label))
    }

    /// Moves the monitor on by a message that came in this way at `at`, and reports the step.
    fn judge_arrived(&mut self, label: &Label, arrival: Arrival, at: ArrivalTimes) -> io::Result<LoopStep> {
        let step = self.judge_by(label, |after, cx| after.observe_arrival(cx, label, arrival))?;
        match step {
            ControlFlow::Break(LoopEnd::Forbidden(forbidden)) => {
                self.fail_or_retract(label, arrival, at.begun, forbidden)
            }
            step => {
                self.pending.silences.record_output(label, arrival);
                self.note_crossing(arrival, at.complete);
                Ok(step)
            }
        }
    }

    fn judge_by(
        &mut self,
        label: &Label,
        observe: impl FnOnce(&mut Monitor, &mut Ctx<'_>) -> Result<AllowedLabel, Box<Forbidden>>,
    ) -> io::Result<LoopStep> {
        // Before the monitor moves on: coverage and objective speak about the states that were possible until now.
        let switches = explaining_switches(self.setup.cx, self.knowledge.monitor.belief(), label);
        let is_inside = self.is_inside_in_time();
        self.advance_watch(label);
        self.coverage.count_label(self.setup.cx, self.knowledge.monitor.belief(), label, &switches);
        if let Some(evidence) = &self.config.evidence {
            evidence.note(&switches, || self.setup.adapter.exchanges());
        }
        let before = self.knowledge.monitor.last_label_number();
        let judged = observe(&mut self.knowledge.monitor, self.setup.cx);
        self.count_certain_items();
        let mark = self.knowledge.monitor.last_label_number();
        // Reported before the verdict, so that a record ends with the label that failed.
        self.tell_step(label, &switches, (mark > before).then_some(mark))?;
        if matches!(label, Label::Input(..) | Label::Output(..)) {
            self.knowledge.explained.push(switches);
        }
        self.knowledge.note_unknown(self.setup.cx.sts, judged.as_ref().ok(), self.reporter.steps);
        Ok(match judged {
            Ok(AllowedLabel::Allowed | AllowedLabel::Unspecified | AllowedLabel::Unknown) => {
                ControlFlow::Continue(())
            }
            // Without the label itself, which `tell_step` has just added.
            Err(forbidden) if is_inside && self.is_inside(self.knowledge.trace.len() - 1) => {
                ControlFlow::Break(LoopEnd::Forbidden(forbidden))
            }
            Err(_) => {
                let shown = label.show(self.setup.cx.pool, self.setup.cx.sts);
                ControlFlow::Break(LoopEnd::Outside(shown))
            }
        })
    }

    /// Counts what is known by now to lie on every explanation of the run; the last label may have told it of earlier
    /// ones.
    fn count_certain_items(&mut self) {
        let certain = self.knowledge.monitor.take_certain_items();
        self.coverage.count_certain(certain);
        if let Some(enough) = &self.config.enough {
            enough.remove_seen(&self.coverage.take_fresh());
        }
    }

    /// Reports the messages since the last step that the model does not see.
    fn tell_unsolicited(&mut self) -> io::Result<()> {
        for UnsolicitedMessage { text, answer, connection } in self.setup.adapter.take_unsolicited() {
            let told = UnsolicitedRecord { message: text, answer, connection };
            self.reporter.sink.tell(EventKind::Unsolicited(told))?;
        }
        Ok(())
    }

    /// Reports a step, which becomes part of the trace.
    fn tell_step(&mut self, label: &Label, switches: &[SwitchId], mark: Option<u64>) -> io::Result<()> {
        self.tell_unsolicited()?;
        self.reporter.steps += 1;
        self.knowledge.trace.labels.push(label.clone());
        self.knowledge.happened.push(TracedLabel {
            origin: self.label_origin(label),
            step: self.reporter.steps,
            mark,
        });
        self.reporter.add_label(label);
        self.pending.unwritten = 0;
        let sts = self.setup.cx.sts;
        let (raw, way) = self.reporter.take_wire(label);
        let step = StepRecord {
            step: self.reporter.steps,
            label: LabelRecord { raw, way, ..LabelRecord::new(self.setup.cx.pool, sts, label) },
            belief: self.knowledge.monitor.count_states(),
            switches: switches.iter().map(|&id| sts.switches[id].label.to_string()).collect(),
        };
        let is_ours = |gate: GateId| sts.gates[gate].kind == GateKind::Input;
        self.reporter.sink.tell(match label {
            Label::Input(gate, _) if is_ours(*gate) => EventKind::Stimulus(step),
            Label::Input(..) | Label::Output(..) | Label::Quiescence | Label::Delay(_) => {
                EventKind::Observation(step)
            }
        })?;
        Ok(())
    }

    /// Returns the origin of `label`, which is reported now.
    fn label_origin(&self, label: &Label) -> LabelOrigin {
        let is_given =
            matches!(label, Label::Input(gate, _) if self.setup.cx.sts.gates[*gate].kind == GateKind::Input);
        match (is_given, self.reporter.way) {
            (true, way) if self.pending.is_under_way => {
                LabelOrigin::Sent { lane: way.map_or(0, |way| way.lane), confirmed: None }
            }
            (false, Some(way)) => LabelOrigin::Came(read_way(way)),
            (_, _) => LabelOrigin::Now,
        }
    }

    /// Returns whether an observation after the first `n` labels is judged, whichever way they crossed; always true in
    /// a timed model, for which see [`is_inside_in_time`](Self::is_inside_in_time).
    fn is_inside(&mut self, n: usize) -> bool {
        let Some(objective) = self.config.objective.clone() else { return true };
        if !self.timing.is_untimed() {
            return true;
        }
        let labels = self
            .knowledge
            .trace
            .labels
            .iter()
            .cloned()
            .zip(self.knowledge.happened.iter().map(|it| it.origin));
        let labels: Vec<(Label, LabelOrigin)> = labels.take(n).collect();
        let inside = orders::is_inside(self.setup.cx, &objective, &labels, self.config.relation);
        self.knowledge.watch.doubt(usize::from(inside.is_none()));
        inside.unwrap_or(false)
    }

    /// Returns whether the next observation of a timed run is judged; always true in a run without time.
    fn is_inside_in_time(&mut self) -> bool {
        match &self.config.objective {
            Some(objective) if !self.timing.is_untimed() => {
                self.knowledge.watch.is_inside(self.setup.cx, objective, self.knowledge.monitor.belief())
            }
            _ => true,
        }
    }

    fn advance_watch(&mut self, label: &Label) {
        if let (Some(objective), false) = (&self.config.objective, self.timing.is_untimed()) {
            self.knowledge.watch.advance(self.setup.cx, objective, label);
        }
    }

    fn outside_objective(&self, seen: &str) -> String {
        let name = self.config.objective.as_ref().map_or("", |objective| &*objective.name);
        format!("the model does not allow {seen} here, but this is outside the objective `{name}`")
    }

    /// Ends the run with Fail, unless this machine was too busy to be sure.
    fn fail(&mut self, forbidden: &Forbidden, finding: Option<&MethodFinding>) -> io::Result<RunEnd> {
        if let Some(reason) = self.excuse_by_lag() {
            return Ok(RunEnd::Verdict(Verdict::Inconclusive, reason));
        }
        self.knowledge.trace.forbidden_at = self.knowledge.blamed_position(forbidden);
        let step = self
            .knowledge
            .trace
            .forbidden_at
            .and_then(|at| self.knowledge.happened.get(at))
            .map(|it| it.step);
        let explanation = explanation(self.setup.cx, forbidden);
        let judged = timed_finding(self.setup.cx, forbidden, &self.knowledge.trace);
        let finding = match (finding.map(record_finding), judged) {
            // The part of a guard that does not hold says more than the whole guard of an arc.
            (Some(guided), Some(FindingRecord { because: Some(part), .. })) => {
                Some(FindingRecord { because: Some(part), ..guided })
            }
            (guided, judged) => guided.or(judged),
        };
        let reason = match &forbidden.label {
            Label::Delay(_) => "the model does not allow a silence this long here".into(),
            Label::Quiescence => "the model does not allow silence here".into(),
            _ => format!("the model does not allow {} here", explanation.observed),
        };
        self.knowledge.signature = Some(signature(self.setup.cx, forbidden));
        let told = VerdictRecord {
            kind: Some("forbidden".into()),
            step: step.filter(|step| *step < self.reporter.steps),
            explanation: Some(explanation),
            signature: self.knowledge.signature.clone(),
            finding,
            last_words: self.setup.adapter.last_words(),
            exchanges: self.setup.adapter.exchanges(),
            ..VerdictRecord::new(Verdict::Fail, reason.clone())
        };
        self.reporter.sink.tell(EventKind::Verdict(told))?;
        Ok(RunEnd::Verdict(Verdict::Fail, reason))
    }

    /// Returns what the end of the loop says about the system.
    fn judge_end(&mut self, ended: LoopEnd, finding: Option<&MethodFinding>) -> io::Result<RunEnd> {
        Ok(match ended {
            LoopEnd::Stopped(TesterStop::GoalMet(reason)) => self.knowledge.pass_or_inconclusive(reason),
            LoopEnd::Stopped(TesterStop::GoalMissed(reason)) => {
                self.knowledge.is_goal_missed = true;
                RunEnd::Verdict(Verdict::Inconclusive, reason)
            }
            LoopEnd::Stopped(TesterStop::Inconclusive(reason)) => {
                RunEnd::Verdict(Verdict::Inconclusive, reason)
            }
            LoopEnd::Outside(seen) => RunEnd::Verdict(Verdict::Inconclusive, self.outside_objective(&seen)),
            LoopEnd::Forbidden(forbidden) => self.fail(&forbidden, finding)?,
            LoopEnd::Broken(broken) => self.report_breakdown(&broken)?,
            LoopEnd::Trouble(error) if error.is_interruption() => RunEnd::Interrupted,
            LoopEnd::Trouble(error) => RunEnd::Error(error),
            LoopEnd::Interrupted => RunEnd::Interrupted,
        })
    }

    /// Reports the end of the run and returns its result.
    fn finish(mut self, end: RunEnd, finding: Option<&MethodFinding>, id: RunId) -> io::Result<RunResult> {
        self.tell_unsolicited()?;
        let unknown_from = self.knowledge.unknown.as_ref().map(|(step, _)| *step);
        match &end {
            RunEnd::Verdict(Verdict::Fail, _) | RunEnd::Interrupted => (),
            RunEnd::Verdict(verdict, reason) => {
                let told = VerdictRecord {
                    unknown_from,
                    goal_missed: self.knowledge.is_goal_missed && *verdict == Verdict::Inconclusive,
                    finding: finding.map(record_finding),
                    ..VerdictRecord::new(*verdict, reason.clone())
                };
                self.reporter.sink.tell(EventKind::Verdict(told))?;
            }
            RunEnd::Error(error) => {
                let last_words = self.setup.adapter.last_words();
                self.reporter
                    .sink
                    .tell(EventKind::Trouble(SystemTrouble { error: error.to_string(), last_words }))?;
            }
        }
        let (outcome, steps, doubts) =
            (end.outcome(), self.knowledge.trace.n_steps(), self.knowledge.count_doubts());
        // Where events have no times, no two machines write different records.
        let (lag, has_times) = (self.timing.lag_effect, self.timing.has_times);
        let machine_lag = if has_times { lag.to_record() } else { None };
        self.count_certain_items();
        self.coverage.end_run(&self.knowledge.monitor.possible_items());
        let taken = self.coverage.taken_in_run(self.setup.cx.sts);
        let finished = RunFinished { run: id.run, outcome, steps, doubts, machine_lag, thinned: None, taken };
        self.reporter.sink.tell(EventKind::RunFinished(finished))?;
        let has_failed = matches!(end, RunEnd::Verdict(Verdict::Fail, _));
        let exchanges = if has_failed { self.setup.adapter.exchanges() } else { Vec::new() };
        let RunKnowledge { trace, signature, exception, .. } = self.knowledge;
        let RunTiming { latencies, spent, .. } = self.timing;
        Ok(RunResult {
            trace,
            end,
            doubts,
            unknown_from,
            signature,
            latencies,
            lag,
            has_times,
            spent,
            exception,
            exchanges,
        })
    }
}

#[cfg(test)]
mod tests;
