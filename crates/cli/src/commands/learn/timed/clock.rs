//! A live system with time, in virtual time where it offers that, else on the clock of this machine.

use std::time::{Duration, Instant};

use ioxide_explorer::learning::LearningMeter;
use ioxide_learn::timed::TimedSystem;
use ioxide_model::label::Label;
use ioxide_run::answers::AnswerError;
use ioxide_smt::halt::Halt;
use ioxide_wire::adapter::Adapter;

use crate::commands::fsm::live::LiveTestError;

/// A system behind an adapter, and its clock.
pub struct ClockedSystem<'a> {
    adapter: &'a mut dyn Adapter,
    /// The time limit and the interrupt, which end the session.
    halt: &'a Halt,
    /// The instant at which the run began, on the clock of this machine.
    started_at: Instant,
    /// The virtual time that has passed in the run.
    passed: Duration,
    /// The meter that counts resets and inputs for the page.
    meter: LearningMeter,
}

impl<'a> ClockedSystem<'a> {
    /// The system behind `adapter`.
    pub fn new(adapter: &'a mut dyn Adapter, halt: &'a Halt, meter: LearningMeter) -> Self {
        Self { adapter, halt, started_at: Instant::now(), passed: Duration::ZERO, meter }
    }
}

impl TimedSystem for ClockedSystem<'_> {
    type Error = LiveTestError;

    fn reset(&mut self) -> Result<(), LiveTestError> {
        self.adapter.reset()?;
        self.meter.count(1, 0);
        (self.started_at, self.passed) = (Instant::now(), Duration::ZERO);
        Ok(())
    }

    fn send(&mut self, input: &Label) -> Result<Vec<Label>, LiveTestError> {
        self.meter.count(0, 1);
        let sent = self.adapter.send(input)?;
        Ok(sent.earlier.into_iter().map(|output| output.label).collect())
    }

    fn next_output(&mut self, until: Duration) -> Result<Option<Label>, LiveTestError> {
        if let Some(halted) = self.halt.halt_reason() {
            return Err(AnswerError::Halted(halted).into());
        }
        if self.adapter.has_virtual_time() {
            let passed = self.adapter.advance(until)?;
            self.passed = passed.now;
            return Ok(passed.message.map(|output| output.label));
        }
        Ok(self.adapter.observe(until.saturating_sub(self.now()))?.label())
    }

    fn now(&self) -> Duration {
        if self.adapter.has_virtual_time() { self.passed } else { self.started_at.elapsed() }
    }

    fn count_wait(&mut self) {
        self.meter.count(0, 1);
    }
}
