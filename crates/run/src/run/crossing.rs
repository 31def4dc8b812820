//! Messages of several connections, or of several open requests, that may have overtaken each other.
//!
//! A message that no order explains yet may be explained by one that is still under way. It is awaited like
//! anything else: until silence, or for as long as a message may show that a silence was none. Whatever came
//! longer ago has been overtaken by nothing.

use std::io;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use ioxide_symex::Arrival;

use super::{LoopEnd, LoopStep, MAX_LEFT, RunLoop};

/// A message that may have overtaken another.
#[derive(Clone, Copy, Debug)]
pub(super) struct CrossedMessage {
    /// The instant of its arrival.
    at: Instant,
    /// The lag of this machine in the run before it.
    lag: Duration,
    /// Its mark in the monitor.
    mark: u64,
}

impl RunLoop<'_, '_, '_> {
    /// Remembers when a message came that may have overtaken another.
    pub(super) fn note_crossing(&mut self, arrival: Arrival, at: Instant) {
        if matches!(arrival, Arrival::Crossing(_)) {
            self.pending.crossed.push_back(CrossedMessage {
                at,
                lag: self.timing.lag_so_far(),
                mark: self.knowledge.monitor.last_label_number(),
            });
        }
    }

    /// Settles messages that are old enough: everything that was sent before them must have arrived.
    pub(super) fn expire(&mut self) -> io::Result<LoopStep> {
        let window =
            self.confirming_patience().saturating_mul(self.config.confirm).max(self.first_reply_wait());
        let lag = self.timing.lag_so_far();
        let is_old = |crossed: &CrossedMessage| {
            crossed.at.elapsed() > window.saturating_add(lag.saturating_sub(crossed.lag))
        };
        let mut mark = None;
        while self.pending.crossed.front().is_some_and(is_old) {
            mark = self.pending.crossed.pop_front().map(|old| old.mark);
        }
        let Some(mark) = mark else { return Ok(ControlFlow::Continue(())) };
        Ok(match self.knowledge.monitor.expire_held(self.setup.cx, mark) {
            Ok(observed) => {
                self.knowledge.note_unknown(self.setup.cx.sts, Some(&observed), self.reporter.steps);
                ControlFlow::Continue(())
            }
            Err(forbidden) if self.is_inside(self.knowledge.trace.len()) => {
                ControlFlow::Break(LoopEnd::Forbidden(forbidden))
            }
            Err(forbidden) => ControlFlow::Break(LoopEnd::Outside(
                forbidden.label.show(self.setup.cx.pool, self.setup.cx.sts),
            )),
        })
    }

    /// Waits for what explains the messages seen so far, if no order does: until then nothing has passed.
    pub(super) fn explain_held(&mut self) -> io::Result<LoopStep> {
        for _ in 0..MAX_LEFT {
            if self.knowledge.is_gone || !self.knowledge.monitor.is_unexplained() || !self.has_room() {
                break;
            }
            let step = self.wait_and_judge(Duration::ZERO)?;
            if step.is_break() {
                return Ok(step);
            }
        }
        Ok(ControlFlow::Continue(()))
    }
}
