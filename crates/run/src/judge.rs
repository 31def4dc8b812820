//! The monitor on a recorded trace: what was seen elsewhere, judged here.
//!
//! A trace is a record of ours, or plain JSON lines, one label each:
//! `{"label": "coin", "args": {"n": 3}}` or `{"silence": true}`. The direction of a message
//! is the one the model gives it; further members of a line are ignored. For a timed model a line may say
//! when it was, in seconds: `"time": 1.5` since the start, or `"after": 0.5` since the line before. A line with
//! nothing but a time says that nothing came up to then.

use std::ops::ControlFlow;
use std::sync::Arc;

use serde_json::Value as Json;
use thiserror::Error;

use ioxide_model::label::Label;
use ioxide_model::number::Rational;
use ioxide_model::relation::ConformanceRelation;
use ioxide_model::sts::{GateKind, Model, Sts};
use ioxide_model::trace::Trace;
use ioxide_record::event::{ConnectionRecord, Explanation, FindingRecord, RouteRecord};
use ioxide_record::json;
use ioxide_record::line::cut;
use ioxide_record::value::{CodecError, WireMessage, label_from_json};
use ioxide_symex::{AllowedLabel, Ctx, Forbidden, Monitor, Tolerance};
use ioxide_wire::adapter::several::wiring;

use crate::explain::{explanation, timed_finding};
use crate::objective::orders::{self, LabelOrigin};
use crate::objective::{Objective, ObjectiveWatch};
use crate::records::read_way;
use crate::run::knowledge::unknown_reason;
use crate::suite::SuiteLabel;

/// The judgement of the monitor about a trace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JudgedTrace {
    /// The number of labels judged.
    pub steps: usize,
    /// The explanation why a label is forbidden.
    pub forbidden: Option<Explanation>,
    /// The position of the forbidden label, from 0: the last one judged, or one before it that nothing explains.
    pub forbidden_at: Option<usize>,
    /// The finding in the words of timed testing, in a timed model.
    pub finding: Option<FindingRecord>,
    /// True if the trace had left the objective before the forbidden label: it is no failure.
    pub is_outside: bool,
    /// The first input the specification does not mention: it says nothing from there on.
    pub unspecified: Option<usize>,
    /// The first step after which nothing is known, and why; what came before it is allowed.
    pub unknown: Option<(usize, String)>,
    /// The number of states that the specification may be in at the end.
    pub belief: Option<usize>,
    /// The number of questions that the solver left open: states were kept, or the trace was taken to be outside the
    /// objective.
    pub doubts: usize,
}

/// The rules by which a trace is judged.
#[derive(Clone, Debug, Default)]
pub struct JudgeConfig<'o> {
    /// The traces after which observations are judged; all of them if `None`.
    pub objective: Option<&'o Objective>,
    /// The tolerance of its instants.
    pub tolerance: Tolerance,
    /// The conformance relation that is judged by.
    pub relation: ConformanceRelation,
    /// The meaning of the position of an input in the trace.
    pub inputs: Inputs,
    /// The way that each label came, where the trace says so.
    pub ways: Vec<Option<RouteRecord>>,
    /// The connections of a system that has several.
    pub connections: Vec<ConnectionRecord>,
    /// True if the judgement ends where the specification allows everything: nothing is forbidden from there on, and
    /// the orders of what is under way only become more.
    pub ends_when_open: bool,
}

/// The meaning of the position of inputs in a trace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Inputs {
    /// The system took them at this position.
    #[default]
    Taken,
    /// They were sent at this position, and taken then or later.
    Sent,
}

/// Judges `trace` up to its first forbidden label.
pub fn judge(cx: &mut Ctx<'_>, trace: &Trace, config: &JudgeConfig<'_>) -> JudgedTrace {
    judge_watching(cx, trace, config, &mut |_, _, _| ControlFlow::Continue(()))
}

/// Judges `trace` as [`judge`] does, and calls `watch_monitor` with the monitor before each label and the position of
/// the label, until that says to break.
pub fn judge_watching(
    cx: &mut Ctx<'_>,
    trace: &Trace,
    config: &JudgeConfig<'_>,
    watch_monitor: &mut dyn FnMut(&mut Ctx<'_>, &Monitor, usize) -> ControlFlow<()>,
) -> JudgedTrace {
    let monitor = Monitor::with_tolerance(cx, config.tolerance.clone()).with_relation(config.relation);
    judge_onwards(cx, trace, config, (monitor, 0), watch_monitor)
}

/// Judges `trace` as [`judge_watching`] does, from the label at position `from` on, with the monitor that a judgement
/// had there: the labels before it were allowed. Only for configurations without an objective.
pub fn judge_onwards(
    cx: &mut Ctx<'_>,
    trace: &Trace,
    config: &JudgeConfig<'_>,
    (mut monitor, from): (Monitor, usize),
    watch_monitor: &mut dyn FnMut(&mut Ctx<'_>, &Monitor, usize) -> ControlFlow<()>,
) -> JudgedTrace {
    debug_assert!(from == 0 || config.objective.is_none(), "an objective is followed from the start");
    // The monitor may come from a judgement by another model, whose switches have other numbers.
    if !config.connections.is_empty() {
        monitor = monitor.with_wiring(Some(Arc::new(wiring(cx.pool, cx.sts, &config.connections))));
    }
    let mut judging = TraceJudging {
        trace,
        config,
        monitor,
        objective: ObjectiveWatch::with_tolerance(config.tolerance.clone()),
        judged: JudgedTrace { steps: trace.len(), ..JudgedTrace::default() },
        marks: Vec::with_capacity(trace.len()),
    };
    for (at, label) in trace.labels.iter().enumerate().skip(from) {
        if judging.judge_label(cx, at, label, watch_monitor).is_break() {
            break;
        }
    }
    judging.finish(cx)
}

/// The judgement of a trace, label by label.
struct TraceJudging<'t, 'o> {
    trace: &'t Trace,
    config: &'t JudgeConfig<'o>,
    monitor: Monitor,
    objective: ObjectiveWatch,
    judged: JudgedTrace,
    /// The number of each label in the monitor, if it may have overtaken others.
    marks: Vec<u64>,
}

impl TraceJudging<'_, '_> {
    /// Judges the label at position `at`; a break if the judgement ends with it, or before it.
    fn judge_label(
        &mut self,
        cx: &mut Ctx<'_>,
        at: usize,
        label: &Label,
        watch_monitor: &mut dyn FnMut(&mut Ctx<'_>, &Monitor, usize) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        self.marks.resize(at, self.monitor.last_label_number());
        if let Some(halted) = cx.halt_reason() {
            self.judged.unknown.get_or_insert((at + 1, halted.to_string()));
            return self.end_before(at);
        }
        if self.config.ends_when_open && self.monitor.is_open() {
            self.judged.unspecified.get_or_insert(at);
            return self.end_before(at);
        }
        // In a timed model the objective is watched label by label. In an untimed one labels may have crossed, so
        // it is asked once, at the failure, over all orders.
        if let Some(objective) = self.config.objective.filter(|_| cx.sts.is_timed()) {
            self.judged.is_outside = !self.objective.is_inside(cx, objective, self.monitor.belief());
            self.objective.advance(cx, objective, label);
        }
        // Up to a message it is only the time of that message.
        if let (Label::Delay(time), Some(next)) = (label, self.trace.labels.get(at + 1))
            && is_seen(cx.sts, next)
        {
            self.monitor.advance_time(cx, time);
            return ControlFlow::Continue(());
        }
        if watch_monitor(cx, &self.monitor, at).is_break() {
            return self.end_before(at);
        }
        self.observe(cx, at, label)
    }

    fn end_before(&mut self, at: usize) -> ControlFlow<()> {
        self.judged.steps = at;
        ControlFlow::Break(())
    }

    /// Lets the monitor judge the label at position `at`.
    fn observe(&mut self, cx: &mut Ctx<'_>, at: usize, label: &Label) -> ControlFlow<()> {
        let way = self.config.ways.get(at).copied().flatten();
        match observe_label(cx, &mut self.monitor, label, self.config.inputs, way) {
            Ok(AllowedLabel::Allowed) => (),
            Ok(AllowedLabel::Unspecified) => {
                self.judged.unspecified = self.judged.unspecified.or(Some(at + 1));
            }
            Ok(AllowedLabel::Unknown) => {
                let why = self.monitor.lost_states().map(|lost| lost.to_string()).unwrap_or_default();
                self.judged.unknown.get_or_insert((at + 1, why));
            }
            Err(forbidden) => {
                self.judged.forbid(cx, &forbidden, self.trace, at, &self.marks);
                return ControlFlow::Break(());
            }
        }
        // A state that was kept in doubt may be what allows the rest.
        if self.monitor.count_doubts() > 0 {
            let open = format!("the solver left {} questions open", self.monitor.count_doubts());
            let why = unknown_reason(cx.sts, open);
            self.judged.unknown.get_or_insert((at + 1, why));
        }
        ControlFlow::Continue(())
    }

    /// Returns the judgement after the last label.
    fn finish(mut self, cx: &mut Ctx<'_>) -> JudgedTrace {
        self.marks.resize(self.judged.steps, self.monitor.last_label_number());
        let is_undecided = self.judged.forbidden.is_none() && self.judged.unknown.is_none();
        if is_undecided && self.monitor.is_unexplained() {
            self.judged.give_up_held(cx, &mut self.monitor, self.trace, &self.marks);
        }
        self.judge_objective(cx);
        self.judged.belief = self.monitor.count_states();
        self.judged.doubts = self.monitor.count_doubts() + self.objective.doubts();
        self.judged
    }

    /// Decides whether a failure is outside of the objective.
    fn judge_objective(&mut self, cx: &mut Ctx<'_>) {
        let is_failure = self.judged.forbidden.is_some();
        if let (Some(objective), true, false) = (self.config.objective, is_failure, cx.sts.is_timed()) {
            // Without the forbidden label itself: the objective is about what came before.
            let inside = is_inside(cx, objective, self.trace, self.judged.steps - 1, self.config);
            self.objective.doubt(usize::from(inside.is_none()));
            // In doubt it is outside, so that nothing is called a failure without a proof; the doubt is counted.
            self.judged.is_outside = !inside.unwrap_or(false);
        }
        self.judged.is_outside &= is_failure;
    }
}

/// Returns the explanation of the failure that `trace` ends with: a forbidden label, or a breakdown; `None` if the
/// monitor forbids nothing in it.
pub fn find_forbidden(cx: &mut Ctx<'_>, trace: &Trace, config: &JudgeConfig<'_>) -> Option<Forbidden> {
    let mut monitor = Monitor::with_tolerance(cx, config.tolerance.clone()).with_relation(config.relation);
    if !config.connections.is_empty() {
        monitor = monitor.with_wiring(Some(Arc::new(wiring(cx.pool, cx.sts, &config.connections))));
    }
    for (at, label) in trace.labels.iter().enumerate() {
        // Up to a message it is only the time of that message.
        if let (Label::Delay(time), Some(next)) = (label, trace.labels.get(at + 1))
            && is_seen(cx.sts, next)
        {
            monitor.advance_time(cx, time);
            continue;
        }
        match observe_label(cx, &mut monitor, label, config.inputs, None) {
            Ok(AllowedLabel::Unknown) => return None,
            Ok(AllowedLabel::Allowed | AllowedLabel::Unspecified) => (),
            Err(forbidden) => return Some(*forbidden),
        }
    }
    trace.breakdown.map(|_| monitor.expected_outputs(cx))
}

impl JudgedTrace {
    /// Notes that the trace up to position `last` is forbidden; `marks` are the numbers of its labels in the monitor.
    fn forbid(&mut self, cx: &mut Ctx<'_>, forbidden: &Forbidden, trace: &Trace, last: usize, marks: &[u64]) {
        if cx.leaves_out_explanations() {
            self.forbidden = Some(Explanation::default());
        } else {
            let seen: Trace = trace.labels[..=last].iter().cloned().collect();
            self.finding = timed_finding(cx, forbidden, &seen);
            self.forbidden = Some(explanation(cx, forbidden));
        }
        // A label that takes no number has that of the one before it.
        let held = forbidden.held.and_then(|mark| marks.iter().position(|it| *it == mark));
        self.forbidden_at = Some(held.unwrap_or(last));
        self.steps = last + 1;
    }

    /// Decides about a trace at whose end a message is not explained. Where it was recorded that its time ran out it is
    /// forbidden; otherwise the message that explains it may have come later.
    fn give_up_held(&mut self, cx: &mut Ctx<'_>, monitor: &mut Monitor, trace: &Trace, marks: &[u64]) {
        let blamed = trace.forbidden_at.and_then(|at| marks.get(at));
        if let Some(Err(forbidden)) = blamed.map(|mark| monitor.expire_held(cx, *mark)) {
            self.forbid(cx, &forbidden, trace, self.steps - 1, marks);
        } else if monitor.is_unexplained() {
            let why = "a message can be explained only by a message that the trace does not contain";
            self.unknown = Some((self.steps, why.into()));
        }
    }
}

/// Returns whether the first `n` labels are in the objective, whichever way they crossed; `None` if that is not known.
fn is_inside(
    cx: &mut Ctx<'_>,
    objective: &Objective,
    trace: &Trace,
    n: usize,
    config: &JudgeConfig<'_>,
) -> Option<bool> {
    let how = |(at, label): (usize, &Label)| {
        let way = config.ways.get(at).copied().flatten();
        let happened = match (is_seen(cx.sts, label), config.inputs, way, label) {
            (false, Inputs::Sent, way, Label::Input(..)) => {
                LabelOrigin::Sent { lane: way.map_or(0, |way| way.lane), confirmed: None }
            }
            (true, _, Some(way), _) => LabelOrigin::Came(read_way(way)),
            _ => LabelOrigin::Now,
        };
        (label.clone(), happened)
    };
    let labels: Vec<(Label, LabelOrigin)> = trace.labels[..n].iter().enumerate().map(how).collect();
    orders::is_inside(cx, objective, &labels, config.relation)
}

/// Moves the monitor on.
fn observe_label(
    cx: &mut Ctx<'_>,
    monitor: &mut Monitor,
    label: &Label,
    inputs: Inputs,
    way: Option<RouteRecord>,
) -> Result<AllowedLabel, Box<Forbidden>> {
    match (label, inputs, way) {
        (Label::Input(..), Inputs::Sent, way) if !is_seen(cx.sts, label) => {
            monitor.record_sent(cx, label, way.map_or(0, |way| way.lane));
            Ok(if monitor.is_open() { AllowedLabel::Unspecified } else { AllowedLabel::Allowed })
        }
        (_, _, Some(way)) if is_seen(cx.sts, label) => monitor.observe_arrival(cx, label, read_way(way)),
        (Label::Output(gate, _), ..) if cx.sts.gates[*gate].tells_the_end() => {
            let observed = monitor.observe(cx, label)?;
            // Whatever was under way when it went may never have been taken.
            monitor.close_lanes(cx, |_| true);
            Ok(observed)
        }
        _ => monitor.observe(cx, label),
    }
}

/// Returns whether `label` is a message that the tester did not send: an output, or an observed input.
fn is_seen(sts: &Sts, label: &Label) -> bool {
    match label {
        Label::Output(..) => true,
        Label::Input(gate, _) => sts.gates[*gate].kind == GateKind::Observed,
        Label::Quiescence | Label::Delay(_) => false,
    }
}

/// A line of a trace that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("line {line}: {reason}")]
pub struct UnreadableLine {
    /// Its number, from 1.
    pub line: usize,
    /// The problem with the line.
    pub reason: UnreadableReason,
}

/// The problem with a line of a trace.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum UnreadableReason {
    /// It is not JSON, or JSON of another shape.
    #[error("{0}")]
    Json(String),
    /// The model has no such message.
    #[error(transparent)]
    Message(#[from] CodecError),
    /// It has both a message and silence.
    #[error("a message and silence in one line")]
    MessageAndSilence,
    /// It has neither a message, nor silence, nor a time.
    #[error("neither `label` nor `silence`")]
    Nothing,
    /// It has two times, `time` and `after`.
    #[error("both `time` and `after`")]
    TimeTwice,
    /// Its time is before that of the line before it.
    #[error("time goes back: `time` is {time}, and it was {before} before")]
    TimeGoesBack {
        /// The time as the line has it.
        time: String,
        /// The time of the line before.
        before: Rational,
    },
    /// The delay since the line before is negative.
    #[error("a negative delay: `after` is {0}")]
    NegativeDelay(String),
    /// The value of a key is no time.
    #[error("`{name}` is {found}; write a time in seconds")]
    NoTime {
        /// The key.
        name: &'static str,
        /// The value found, shortened if long.
        found: String,
    },
}

/// Reads plain lines one after the other, those of a trace file and those of a test in a suite.
pub(crate) struct TraceLineReader<'m> {
    model: &'m Model,
    /// Seconds since the start.
    now: Rational,
    labels: Vec<Label>,
}

impl<'m> TraceLineReader<'m> {
    /// Returns a reader of lines about `model`.
    pub(crate) fn new(model: &'m Model) -> Self {
        Self { model, now: Rational::ZERO, labels: Vec::new() }
    }

    /// Returns the labels of all lines read.
    pub(crate) fn into_trace(self) -> Trace {
        self.labels.into_iter().collect()
    }

    /// Reads the next line.
    pub(crate) fn read_line(&mut self, line: SuiteLabel) -> Result<(), UnreadableReason> {
        let is_timed = self.model.sts.is_timed();
        let has_time = is_timed && (line.time.is_some() || line.after.is_some());
        if has_time {
            let wait = self.delay_before(line.time.as_ref(), line.after.as_ref())?;
            self.now = &self.now + &wait;
            // No time is no label: a silence has a duration.
            if !wait.is_zero() {
                self.labels.push(Label::Delay(wait));
            }
        }
        self.labels.push(match (line.label, line.quiescence) {
            (None, true) => Label::Quiescence,
            (Some(label), false) => {
                let message = WireMessage { label, args: line.args };
                label_from_json(self.model, &message, |_| true)?
            }
            (Some(_), true) => return Err(UnreadableReason::MessageAndSilence),
            (None, false) if has_time => return Ok(()),
            (None, false) => return Err(UnreadableReason::Nothing),
        });
        Ok(())
    }

    /// Returns the delay since the line before, in seconds; zero if the line has no time.
    fn delay_before(&self, time: Option<&Json>, after: Option<&Json>) -> Result<Rational, UnreadableReason> {
        match (time, after) {
            (Some(time), None) => {
                let wait = seconds_of("time", time)? - &self.now;
                if wait.is_negative() {
                    let (time, before) = (time.to_string(), self.now.clone());
                    Err(UnreadableReason::TimeGoesBack { time, before })
                } else {
                    Ok(wait)
                }
            }
            (None, Some(after)) => match seconds_of("after", after)? {
                wait if wait.is_negative() => Err(UnreadableReason::NegativeDelay(after.to_string())),
                wait => Ok(wait),
            },
            (Some(_), Some(_)) => Err(UnreadableReason::TimeTwice),
            (None, None) => Ok(Rational::ZERO),
        }
    }
}

/// A time in seconds: a number, or a text that writes one.
fn seconds_of(name: &'static str, json: &Json) -> Result<Rational, UnreadableReason> {
    let text = match json {
        Json::Number(number) => number.to_string(),
        Json::String(text) => text.trim().trim_end_matches('s').to_owned(),
        _ => String::new(),
    };
    text.parse().map_err(|_| UnreadableReason::NoTime { name, found: cut(&json.to_string(), 40) })
}

/// The trace that plain JSON lines write; empty lines are skipped.
///
/// # Errors
/// If a line is no label, or the model does not know it.
pub fn plain_trace(model: &Model, text: &str) -> Result<Trace, UnreadableLine> {
    let mut reader = TraceLineReader::new(model);
    for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let bad = |reason| UnreadableLine { line: at + 1, reason };
        let line: SuiteLabel =
            json::read(line).map_err(|error| bad(UnreadableReason::Json(error.to_string())))?;
        reader.read_line(line).map_err(bad)?;
    }
    Ok(reader.into_trace())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::{VENDING, model, with_cx};

    fn judge_text(text: &str) -> JudgedTrace {
        let trace = plain_trace(&model(VENDING), text).unwrap();
        with_cx(model(VENDING), |mut cx| judge(&mut cx, &trace, &JudgeConfig::default()))
    }

    #[test]
    fn an_allowed_trace_passes() {
        let text = "{\"quiescence\": true}\n{\"label\": \"coin\", \"args\": {\"n\": 5}, \"time\": 3}\n\n\
            {\"label\": \"change\", \"args\": {\"n\": 3}}\n{\"label\": \"tea\"}\n";
        let found = judge_text(text);
        assert_eq!((found.steps, found.forbidden, found.unspecified, found.belief), (4, None, None, Some(1)));
    }

    #[test]
    fn the_first_forbidden_label_is_explained() {
        let text = "{\"label\": \"coin\", \"args\": {\"n\": 5}}\n{\"label\": \"change\", \"args\": {\"n\": 4}}\n\
            {\"label\": \"tea\"}\n";
        let found = judge_text(text);
        assert_eq!(found.steps, 2);
        let told = found.forbidden.unwrap();
        assert_eq!(
            (told.observed.as_str(), told.allowed[0].label.as_str()),
            ("!change(n: 4)", "!change(n: 3)")
        );
    }

    #[test]
    fn silence_where_something_must_come_is_forbidden() {
        let found = judge_text("{\"label\": \"coin\", \"args\": {\"n\": 1}}\n{\"silence\": true}");
        assert!(found.forbidden.is_some());
    }

    #[test]
    fn after_an_input_nobody_mentions_everything_is_allowed() {
        let found = judge_text("{\"label\": \"coin\", \"args\": {\"n\": 50}}\n{\"label\": \"tea\"}");
        assert_eq!((found.unspecified, found.forbidden, found.belief), (Some(1), None, None));
    }

    #[test]
    fn lines_that_are_no_labels_are_named() {
        let problem = |text: &str| plain_trace(&model(VENDING), text).unwrap_err().to_string();
        insta::assert_snapshot!(problem("{}"), @"line 1: neither `label` nor `silence`");
        let both = "\n{\"label\": \"tea\", \"quiescence\": true}";
        insta::assert_snapshot!(problem(both), @"line 2: a message and silence in one line");
        assert!(problem("hello").starts_with("line 1: expected value"));
        assert!(problem("{\"label\": \"soup\"}").contains("soup"));
    }
}
