//! Giving an input: confirmed by the system, or only written.

use std::io;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use ioxide_model::label::Label;
use ioxide_symex::{AllowedLabel, Arrival, SentId};
use ioxide_testgen::tester::TesterStop;
use ioxide_wire::adapter::{AdapterError, ArrivedOutput, InputReceipt, SentInput};

use super::{LoopEnd, LoopStep, RunLoop};
use crate::objective::orders::LabelOrigin;
use crate::records::record_input_way;

/// The number of inputs in a row that the protocol cannot write, after which the run ends as inconclusive. Chosen by
/// feel: a model and a protocol that fit so badly give no test.
const MAX_UNWRITTEN: u32 = 50;

/// The number of orders of crossing messages above which the run observes before it sends more. A quarter of the
/// orders that the monitor follows, so that the next messages seldom exceed them.
pub(super) const MAX_ORDERS: usize = 64;

impl RunLoop<'_, '_, '_> {
    /// Gives an input, unless the system was quicker: then the tester may think again.
    pub(super) fn stimulate(&mut self, label: &Label) -> io::Result<LoopStep> {
        if self.knowledge.is_gone {
            return Ok(ControlFlow::Break(LoopEnd::Stopped(TesterStop::Inconclusive(
                self.undelivered_reason(label),
            ))));
        }
        match self.setup.adapter.poll() {
            Ok(None) => (),
            Ok(Some(quicker)) => return self.judge_output(quicker),
            Err(error) => return self.handle_adapter_error(error),
        }
        if self.must_settle(label) {
            return self.wait_and_judge(Duration::ZERO);
        }
        let sent = match self.send(label) {
            Ok(sent) => sent,
            Err(error) => return self.unsent(label, error),
        };
        self.reporter.raw = sent.raw.clone();
        let is_confirmed = self.setup.adapter.receipt() == InputReceipt::Confirmed;
        if is_confirmed && sent.earlier.is_empty() {
            // It was taken, and nothing came meanwhile: there is one order, and nothing to weigh.
            let step = self.judge_label(label)?;
            self.pending.silences.record_input(label, sent.lane);
            self.timing.asked = Some(Instant::now());
            return Ok(step);
        }
        let at = self.knowledge.trace.len();
        let id = self.record_given(label, &sent)?;
        for output in sent.earlier {
            if !self.has_room() {
                break;
            }
            self.count_reply(&output);
            // It may have been said before the input was taken or after: an adapter may confirm late.
            let at = output.times();
            let ArrivedOutput { label, raw, is_first, .. } = output;
            self.reporter.raw = raw;
            self.count_latency(&label, at.begun, is_first);
            let step = self.judge_arrived(&label, Arrival::Direct, at)?;
            if step.is_break() {
                return Ok(step);
            }
        }
        if is_confirmed {
            self.knowledge.monitor.confirm_taken(id);
            let n = self.knowledge.happened.len();
            let given = self.knowledge.happened.get_mut(at).map(|it| &mut it.origin);
            if let Some(LabelOrigin::Sent { confirmed, .. }) = given {
                *confirmed = Some(n);
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Hands an input to the adapter; the time until it is taken counts as that of a reply.
    pub(super) fn send(&mut self, label: &Label) -> Result<SentInput, AdapterError> {
        let from = Instant::now();
        let sent = self.setup.adapter.send(label);
        self.timing.spent.add_wait(from, false);
        sent
    }

    /// Moves the monitor on by an input that was given and may still be under way.
    pub(super) fn record_given(&mut self, label: &Label, sent: &SentInput) -> io::Result<SentId> {
        let mut id = None;
        self.reporter.way = record_input_way(sent.lane);
        self.pending.is_under_way = true;
        // Whatever the monitor thinks of an input, it is never forbidden.
        let _ = self.judge_by(label, |after, cx| {
            id = Some(after.record_sent(cx, label, sent.lane));
            Ok(if after.is_open() { AllowedLabel::Unspecified } else { AllowedLabel::Allowed })
        })?;
        self.pending.is_under_way = false;
        self.pending.silences.record_input(label, sent.lane);
        self.timing.asked = Some(Instant::now());
        Ok(id.expect("the monitor was told"))
    }

    /// Returns whether the inputs under way must be settled before `label` is sent: there are too many of them, or in
    /// some order of them the specification does not mention the input, and nothing after it could be judged.
    fn must_settle(&mut self, label: &Label) -> bool {
        let under_way = self.knowledge.monitor.under_way();
        under_way >= self.config.max_under_way
            || under_way > 0 && self.knowledge.monitor.count_orders() > MAX_ORDERS
            || under_way > 0
                && !self.knowledge.monitor.is_open()
                && !self.knowledge.monitor.accepts(self.setup.cx, label)
            || self.is_too_early(label)
            || self.must_be_silent_before(label)
    }

    /// Returns whether `label` closes or opens a connection and the system was not silent just before: what is under
    /// way would be lost unseen, or the system may not have noticed the end of the last connection.
    fn must_be_silent_before(&self, label: &Label) -> bool {
        self.setup.adapter.needs_silence(label)
            && self.knowledge.trace.labels.last() != Some(&Label::Quiescence)
    }

    /// Returns whether `label` may reach a model behind a channel before it is ready for it, and waiting helps.
    fn is_too_early(&mut self, label: &Label) -> bool {
        let is_behind = self.setup.cx.sts.composition.as_ref().is_some_and(|parts| parts.open.is_some());
        is_behind
            && self.knowledge.trace.labels.last().is_some_and(|last| *last != Label::Quiescence)
            && !self.knowledge.monitor.accepts(self.setup.cx, label)
    }

    /// Handles an input whose receipt was not confirmed: unless it was refused, it is part of what happened (it may be
    /// what broke the system), so it is reported, and a replay gives it again.
    pub(super) fn unsent(&mut self, label: &Label, error: AdapterError) -> io::Result<LoopStep> {
        if let AdapterError::Unwritable(reason) = &error {
            return Ok(self.left_out(label, &reason.to_string()));
        }
        if !matches!(error, AdapterError::Refused(_)) {
            self.record_given(label, &SentInput::default())?;
        }
        self.handle_adapter_error(error)
    }

    /// Handles an input whose values the protocol of the system cannot write: the tester may choose another, up to
    /// [`MAX_UNWRITTEN`] times in a row.
    fn left_out(&mut self, label: &Label, reason: &str) -> LoopStep {
        self.pending.unwritten += 1;
        if self.pending.unwritten < MAX_UNWRITTEN {
            return ControlFlow::Continue(());
        }
        let input = label.show(self.setup.cx.pool, self.setup.cx.sts);
        ControlFlow::Break(LoopEnd::Stopped(TesterStop::Inconclusive(format!(
            "{input} cannot be written in this protocol: {reason}"
        ))))
    }

    fn undelivered_reason(&self, label: &Label) -> String {
        let label = label.show(self.setup.cx.pool, self.setup.cx.sts);
        format!("the system has ended, as the model allows; {label} cannot be sent any more")
    }
}
