//! The moves of a run in a timed model: a message has its instant, silence is a delay.

use std::io;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use ioxide_model::label::Label;
use ioxide_model::number::Rational;
use ioxide_record::clock::{duration, seconds};
use ioxide_symex::{Arrival, Tolerance};
use ioxide_testgen::tester::TesterStop;
use ioxide_wire::adapter::{AdapterError, ArrivedOutput, InputReceipt, VirtualDelay};

use super::pace::RunPace;
use super::send::MAX_ORDERS;
use super::{LoopEnd, LoopStep, MAX_LEFT, RunLoop, TracedLabel};
use crate::clock::lag::LagWatch;
use crate::judge::{Inputs, JudgeConfig, judge};
use crate::objective::orders::LabelOrigin;
use crate::records::{record_input_way, record_way};

impl RunLoop<'_, '_, '_> {
    /// Looks for a while, in a timed model.
    pub(super) fn observe_timed(&mut self, time: Duration) -> io::Result<LoopStep> {
        // While a message is unexplained, no longer than what explains it can still be under way.
        let time = if self.knowledge.monitor.is_unexplained() { time.min(self.settling()) } else { time };
        let until = self.timing.told_until.saturating_add(time);
        match self.pass_until(until) {
            Ok(VirtualDelay { now, message: Some(output) }) => self.seen_at(now, output),
            Ok(VirtualDelay { now, message: None }) => self.judge_silence(now),
            Err(error) => self.handle_adapter_error(error),
        }
    }

    /// Lets time pass up to `until` after the reset, or to the next message.
    fn pass_until(&mut self, until: Duration) -> Result<VirtualDelay, AdapterError> {
        let from = Instant::now();
        let passed = self.timing.pace.pass_until(self.setup.adapter, until);
        let is_silent = matches!(passed, Ok(VirtualDelay { message: None, .. }));
        self.timing.spent.add_wait(from, is_silent);
        passed
    }

    /// Returns the time after which everything that was sent has arrived; in virtual time that is the next instant.
    fn settling(&self) -> Duration {
        duration(&self.lag()).max(Duration::from_nanos(1))
    }

    /// Returns the time, in seconds, after which the end of a silence is certain; zero if time is not that of this
    /// machine.
    pub(super) fn lag(&self) -> Rational {
        let Tolerance { latency, resolution, .. } = &self.config.tolerance;
        match &self.timing.pace {
            RunPace::Wall(_) => (latency + resolution) * Rational::from(2),
            RunPace::Untimed | RunPace::Virtual(_) => Rational::ZERO,
        }
    }

    /// Judges the silence up to this instant.
    fn judge_silence(&mut self, now: Duration) -> io::Result<LoopStep> {
        let waited = now.saturating_sub(self.timing.told_until);
        self.timing.told_until = self.timing.told_until.max(now);
        if waited.is_zero() {
            Ok(ControlFlow::Continue(()))
        } else {
            self.judge_label(&Label::Delay(seconds(waited)))
        }
    }

    /// Judges a message that came at this instant.
    fn seen_at(&mut self, now: Duration, output: ArrivedOutput) -> io::Result<LoopStep> {
        self.count_reply(&output);
        self.reporter.raw = output.raw;
        self.judge_at(now, &output.label, output.way)
    }

    /// Judges a message together with its instant.
    fn judge_at(&mut self, now: Duration, label: &Label, arrival: Arrival) -> io::Result<LoopStep> {
        let waited = now.saturating_sub(self.timing.told_until);
        self.timing.told_until = self.timing.told_until.max(now);
        if !waited.is_zero() {
            let delay = Label::Delay(seconds(waited));
            self.advance_watch(&delay);
            self.knowledge.monitor.advance_time(self.setup.cx, &seconds(waited));
            self.tell_step(&delay, &[], None)?;
        }
        self.reporter.way = record_way(arrival);
        self.judge_by(label, |after, cx| after.observe_arrival(cx, label, arrival))
    }

    /// Waits for what explains the messages seen so far, if no order does; what is under way comes within the latency.
    pub(super) fn explain_in_time(&mut self) -> io::Result<LoopStep> {
        for _ in 0..MAX_LEFT {
            if self.knowledge.is_gone || !self.knowledge.monitor.is_unexplained() || !self.has_room() {
                break;
            }
            let step = self.observe_timed(self.settling())?;
            if step.is_break() {
                return Ok(step);
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Gives an input some time after the last label, unless the system was quicker.
    pub(super) fn stimulate_after(&mut self, wait: &Rational, label: &Label) -> io::Result<LoopStep> {
        let until = self.timing.told_until.saturating_add(duration(wait));
        match self.pass_until(until) {
            // The tester decided without knowing this message, so it decides again.
            Ok(VirtualDelay { now, message: Some(quicker) }) => return self.seen_at(now, quicker),
            Ok(VirtualDelay { now, message: None }) => {
                let step = self.judge_silence(now)?;
                if step.is_break() {
                    return Ok(step);
                }
            }
            Err(error) => return self.handle_adapter_error(error),
        }
        if self.knowledge.monitor.count_orders() > MAX_ORDERS || self.knowledge.monitor.is_unexplained() {
            // What is under way is settled first; the tester thinks again.
            return self.observe_timed(self.settling());
        }
        if !self.knowledge.monitor.accepts(self.setup.cx, label) {
            // It had to speak by now. Either what it sent is still on its way, or its silence is about to be a failure.
            if self.knowledge.monitor.is_overdue(self.setup.cx) {
                return self.observe_timed(self.settling());
            }
            return Ok(ControlFlow::Break(LoopEnd::Stopped(TesterStop::Inconclusive(
                self.too_late(until, label),
            ))));
        }
        self.send_in_time(label)
    }

    /// Sends an input of a timed model; it must be confirmed within the stated latency, where it is.
    fn send_in_time(&mut self, label: &Label) -> io::Result<LoopStep> {
        let sent = match self.send(label) {
            Ok(sent) => sent,
            Err(error) => return self.unsent(label, error),
        };
        // What the monitor makes of it takes time as well, but the system has it.
        let taken = seconds(self.timing.pace.now().saturating_sub(self.timing.told_until));
        self.reporter.raw = sent.raw.clone();
        let id = self.record_given(label, &sent)?;
        if matches!(self.timing.pace, RunPace::Wall(_)) && taken > self.config.tolerance.latency {
            return Ok(ControlFlow::Break(LoopEnd::Stopped(TesterStop::Inconclusive(
                self.too_slow(&taken, label),
            ))));
        }
        for output in sent.earlier {
            if !self.has_room() {
                break;
            }
            self.count_reply(&output);
            let ArrivedOutput { label, at, raw, .. } = output;
            let at = self.timing.pace.time_at(at);
            self.reporter.raw = raw;
            let step = self.judge_at(at, &label, Arrival::Direct)?;
            if step.is_break() {
                return Ok(step);
            }
        }
        if self.setup.adapter.receipt() == InputReceipt::Confirmed {
            self.knowledge.monitor.confirm_taken(id);
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Returns the reason why a forbidden observation is no failure, if the specification allows it as soon as the
    /// tolerance of instants is widened by the lag of this machine; `None` if it is forbidden then too, or time is not
    /// that of this machine.
    pub(super) fn excuse_by_lag(&mut self) -> Option<String> {
        let lag = self.timing.lag.as_ref().map(LagWatch::longest).filter(|lag| !lag.is_zero())?;
        let RunPace::Wall(_) = self.timing.pace else { return None };
        let stated = self.timing.tolerance.latency.clone();
        let tolerance = Tolerance { latency: &stated + &seconds(lag), ..self.timing.tolerance.clone() };
        let way = |traced: &TracedLabel| match &traced.origin {
            LabelOrigin::Now => None,
            LabelOrigin::Sent { lane, .. } => record_input_way(*lane),
            LabelOrigin::Came(arrival) => record_way(*arrival),
        };
        let inputs = match self.setup.adapter.receipt() {
            InputReceipt::Written => Inputs::Sent,
            InputReceipt::Confirmed => Inputs::Taken,
        };
        let config = JudgeConfig {
            objective: None,
            tolerance,
            relation: self.config.relation,
            inputs,
            ways: self.knowledge.happened.iter().map(way).collect(),
            connections: self.setup.adapter.connections(),
            ends_when_open: false,
        };
        // The whole trace is judged again: with other bounds on all instants, earlier states may have been possible,
        // too.
        if judge(self.setup.cx, &self.knowledge.trace, &config).forbidden.is_some() {
            return None;
        }
        self.timing.lag_effect.tolerance = self.timing.lag_effect.tolerance.max(lag);
        Some(format!(
            "the machine was busy, for up to {} ms: this is forbidden within the stated latency of {:.0} ms, \
             and allowed if the lag is added to it",
            lag.as_millis(),
            stated.to_f64() * 1000.0
        ))
    }

    fn too_late(&self, planned: Duration, label: &Label) -> String {
        let label = label.show(self.setup.cx.pool, self.setup.cx.sts);
        format!(
            "the tester sent {label} too late, at {:.3} s instead of {:.3} s: the model does not accept it any more",
            self.timing.told_until.as_secs_f64(),
            planned.as_secs_f64()
        )
    }

    fn too_slow(&self, taken: &Rational, label: &Label) -> String {
        let label = label.show(self.setup.cx.pool, self.setup.cx.sts);
        format!(
            "{label} took {:.0} ms to reach the system, longer than the stated latency of {:.0} ms: later \
             messages cannot be judged",
            taken.to_f64() * 1000.0,
            self.config.tolerance.latency.to_f64() * 1000.0
        )
    }
}

#[cfg(test)]
mod tests;
