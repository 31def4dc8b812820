//! A system that exits, disconnects, hangs, sends something unreadable or raises an exception.
//!
//! A model may allow the first two like outputs: one named `ended`, with a field `status: int` or none, and one named
//! `closed`, without fields. Where it does not, and nothing else is open, they are failures of kind `crash`; an input
//! that is not taken is one of kind `hang`, an answer that is not a message of the model one of kind `unreadable`. An
//! exception in the code of the system is allowed where `ended` is, else a failure of kind `exception`.
//!
//! *Promises.* Only a system that was there breaks down: one that cannot be started or reached is trouble, not a
//! failure. What the specification leaves open, or lies outside the objective, is none either.

use std::io;
use std::ops::ControlFlow;
use std::time::Instant;

use ioxide_model::label::Label;
use ioxide_model::number::Int;
use ioxide_model::trace::Breakdown;
use ioxide_model::value::Value;
use ioxide_model::verdict::Verdict;
use ioxide_record::event::{EventKind, Explanation, LabelRecord, StepRecord, VerdictRecord};
use ioxide_record::line::cut;
use ioxide_symex::{Arrival, Forbidden};
use ioxide_testgen::tester::TesterStop;
use ioxide_wire::adapter::AdapterError;

use super::{LoopEnd, LoopStep, MAX_RAW, RunEnd, RunLoop};
use crate::explain::{BreakdownDetail, breakdown_signature, explanation};

/// A breakdown that the specification does not allow.
pub(super) struct ForbiddenBreakdown {
    how: Breakdown,
    text: String,
    /// The calls that led to an exception; empty if there was none, or the system does not say.
    traceback: String,
    /// The labels expected instead.
    expected: Forbidden,
}

impl RunLoop<'_, '_, '_> {
    /// Handles an error after which the connection is of no more use: the system broke down, or there is trouble on the
    /// way to it.
    pub(super) fn handle_adapter_error(&mut self, error: AdapterError) -> io::Result<LoopStep> {
        let Some(how) = error.breakdown() else { return Ok(ControlFlow::Break(LoopEnd::Trouble(error))) };
        // Before it is asked what a late end would excuse, so that judging it cannot find it later than that.
        let at = Instant::now();
        if let Some(label) = self.sign_of_life_ending(how)
            && self.allows_end(&label)
        {
            self.knowledge.is_gone = !self.setup.adapter.can_reconnect();
            let step = self.judge_arrived(&label, Arrival::Direct, at.into());
            // Whatever was under way when it went may never have been taken.
            self.knowledge.monitor.close_lanes(self.setup.cx, |_| true);
            return step;
        }
        self.setup.adapter.note_breakdown();
        let text = error.to_string();
        let is_inside = self.is_inside_in_time() && self.is_inside(self.knowledge.trace.len());
        self.tell_breakdown(how, &text, &error)?;
        if self.knowledge.monitor.is_open() {
            let reason = format!("{text}; the model does not specify what happens here");
            return Ok(ControlFlow::Break(LoopEnd::Stopped(TesterStop::Inconclusive(reason))));
        }
        if !is_inside {
            return Ok(ControlFlow::Break(LoopEnd::Outside(format!("that {text}"))));
        }
        let expected = self.knowledge.monitor.expected_outputs(self.setup.cx);
        let traceback = match error {
            AdapterError::Exception { text, traceback } => {
                self.knowledge.exception = exception_type(&text);
                traceback
            }
            _ => String::new(),
        };
        Ok(ControlFlow::Break(LoopEnd::Broken(Box::new(ForbiddenBreakdown {
            how,
            text,
            traceback,
            expected,
        }))))
    }

    /// Returns whether the run ended so that the system may not respond any more: it was silent where it had to speak,
    /// or there was trouble in the middle of a message.
    pub(super) fn is_stuck(&self, ended: &LoopEnd) -> bool {
        match ended {
            LoopEnd::Forbidden(forbidden) => {
                let is_silence = matches!(forbidden.label, Label::Quiescence | Label::Delay(_));
                is_silence && self.timing.lag.is_some()
            }
            LoopEnd::Trouble(error) => matches!(
                error,
                AdapterError::Late { .. } | AdapterError::TooLarge { .. } | AdapterError::Protocol { .. }
            ),
            // A breakdown is noted where it is seen.
            LoopEnd::Broken(_) | LoopEnd::Stopped(_) | LoopEnd::Outside(_) | LoopEnd::Interrupted => false,
        }
    }

    /// Returns whether the specification allows this end, or would if a silence before it had been reported too early.
    fn allows_end(&mut self, label: &Label) -> bool {
        self.knowledge.monitor.clone().observe(self.setup.cx, label).is_ok()
            || self.is_late(label, Arrival::Direct)
    }

    /// Returns the output by which the model announces this end; `None` if the model has none.
    fn sign_of_life_ending(&mut self, breakdown: Breakdown) -> Option<Label> {
        let status = self.setup.adapter.exit_status().unwrap_or(-1);
        let names: &[&str] = match breakdown {
            Breakdown::Ended => &["ended", "closed"],
            Breakdown::Closed => &["closed"],
            Breakdown::Exception => &["ended"],
            Breakdown::Hung | Breakdown::Unreadable => &[],
        };
        names.iter().find_map(|name| {
            let gate = self.setup.cx.sts.gate_named(name)?;
            let declared = &self.setup.cx.sts.gates[gate];
            let status = declared.fields.iter().map(|_| Value::Int(Int::from(i64::from(status))));
            declared.tells_the_end().then(|| Label::Output(gate, status.collect()))
        })
    }

    /// Reports the breakdown as the last observation.
    fn tell_breakdown(&mut self, breakdown: Breakdown, text: &str, error: &AdapterError) -> io::Result<()> {
        self.tell_unsolicited()?;
        self.knowledge.trace.breakdown = Some(breakdown);
        self.reporter.steps += 1;
        let raw = match error {
            AdapterError::Unreadable { line, .. } => Some(cut(line, MAX_RAW)),
            _ => None,
        };
        // Between the lanes of a chart there is no room for what it said.
        let shown = if breakdown == Breakdown::Ended { text.to_owned() } else { breakdown.to_string() };
        let step = StepRecord {
            step: self.reporter.steps,
            label: LabelRecord::of_breakdown(breakdown, shown, raw),
            belief: self.knowledge.monitor.count_states(),
            switches: Vec::new(),
        };
        self.reporter.sink.tell(EventKind::Observation(step))?;
        Ok(())
    }

    /// Reports the verdict on a breakdown.
    pub(super) fn report_breakdown(&mut self, broken: &ForbiddenBreakdown) -> io::Result<RunEnd> {
        let expected = explanation(self.setup.cx, &broken.expected);
        let told = Explanation { observed: broken.text.clone(), why_not: Vec::new(), ..expected };
        let reason = format!("the model does not allow that {}", broken.text);
        let status = self.setup.adapter.exit_status();
        let exception = self.knowledge.exception.as_deref();
        let how = BreakdownDetail { how: broken.how, status, exception };
        self.knowledge.signature =
            Some(breakdown_signature(self.setup.cx, how, &self.knowledge.trace, &broken.expected));
        let told = VerdictRecord {
            kind: Some(broken.how.kind().into()),
            explanation: Some(told),
            signature: self.knowledge.signature.clone(),
            last_words: match &*broken.traceback {
                "" => self.setup.adapter.last_words(),
                traceback => traceback.to_owned(),
            },
            exchanges: self.setup.adapter.exchanges(),
            ..VerdictRecord::new(Verdict::Fail, reason.clone())
        };
        self.reporter.sink.tell(EventKind::Verdict(told))?;
        Ok(RunEnd::Verdict(Verdict::Fail, reason))
    }
}

/// Returns the name of the type of an exception, which its text begins with (`KeyError: 'x'`, `my.module.Failed`);
/// `None` if the text does not begin with a name.
fn exception_type(text: &str) -> Option<String> {
    let name = text.split(':').next()?.trim();
    let is_name = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
    let begins = name.chars().next().is_some_and(|c| c.is_alphabetic() || c == '_');
    (begins && name.chars().all(is_name)).then(|| name.to_owned())
}
